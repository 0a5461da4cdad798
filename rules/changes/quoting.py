"""Names from an export are hostile until quoted. Either a name can be written safely, or the change is by hand."""

import re

UNSAFE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
"""Control, line-breaking and direction-turning characters: they can hide or add a line of a script."""

PLAIN_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_$#]{0,254}\Z")
OPENVMS_NAME = re.compile(r"[A-Z0-9_$]{1,31}\Z")


class Unquotable(ValueError):
    """A name that cannot be written into a script safely: to be applied by hand."""


def tsql_string(text: str) -> str:
    """Quote as a T-SQL string literal, quotes doubled. Raises `Unquotable` for characters that could break lines."""
    if UNSAFE.search(text) or not text or len(text) > 255:
        raise Unquotable(repr(text))
    return '"' + text.replace('"', '""') + '"'


def tsql_name(text: str) -> str:
    """Write an identifier: bare where plain, in brackets otherwise (ASE 12.5.1 and later). Raises `Unquotable`."""
    if PLAIN_IDENTIFIER.match(text):
        return text
    if UNSAFE.search(text) or not text or len(text) > 255 or "]" in text or "[" in text:
        raise Unquotable(repr(text))
    return f"[{text}]"


def openvms_name(text: str) -> str:
    """Write a device, node or parameter name for DCL. Raises `Unquotable` for anything but letters, digits, $ and _."""
    name = text.strip().rstrip(":").upper()
    if not OPENVMS_NAME.match(name):
        raise Unquotable(repr(text))
    return name


def comment(text: str, longest: int = 120) -> str:
    """Make text fit for one line of a comment: no control characters, no comment ends, cut at `longest`."""
    return UNSAFE.sub("?", text).replace("*/", "* /").replace("--", "- -")[:longest]
