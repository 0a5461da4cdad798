"""Names from an export are hostile until quoted. Either a name can be written safely, or the change is by hand."""

import re
from unicodedata import category

INVISIBLE = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))
"""Unicode categories that control, break lines, turn the direction or do not show: they can hide or add a line."""

PLAIN_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_$#]{0,254}\Z")
OPENVMS_NAME = re.compile(r"[A-Z0-9_$]{1,31}\Z")


class Unquotable(ValueError):
    """A name that cannot be written into a script safely: to be applied by hand."""


def _unsafe(text: str) -> bool:
    return any(category(char) in INVISIBLE for char in text)


def tsql_string(text: str) -> str:
    """Quote an argument of a system procedure, as the manuals print it. Raises `Unquotable` for what breaks lines."""
    return _quoted(text, '"')


def tsql_literal(text: str) -> str:
    """Quote a string in an expression: double quotes would be a name under `set quoted_identifier on`."""
    return _quoted(text, "'")


def _quoted(text: str, quote: str) -> str:
    if _unsafe(text) or not text or len(text) > 255:
        raise Unquotable(repr(text))
    return quote + text.replace(quote, quote * 2) + quote


def tsql_name(text: str) -> str:
    """Write an identifier: bare where plain, in brackets otherwise (ASE 12.5.1 and later). Raises `Unquotable`."""
    if PLAIN_IDENTIFIER.match(text):
        return text
    if _unsafe(text) or not text or len(text) > 255 or "]" in text or "[" in text:
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
    return (
        "".join("?" if category(char) in INVISIBLE else char for char in text)
        .replace("*/", "* /")
        .replace("--", "- -")[:longest]
    )
