"""Names in drop folders, which may be any bytes, as text."""

import hashlib
import os
import unicodedata

LONGEST = 1000
"""Characters of `DropFile.path`."""


def told(name: str) -> str:
    """A name as text that is safe to store and show, and unlike that of any other: what is no plain text is escaped."""
    raw = os.fsencode(name).decode("utf-8", "surrogateescape")
    if raw.isascii() and raw.isprintable() and "\\" not in raw:
        return raw
    return "".join(map(_escaped, raw))


def path_of(folder: str, name: str) -> str:
    """What `DropFile.path` calls a file: its name below the schedule's folder, as `told` writes it."""
    path = "/".join(told(part) for part in (folder, name) if part)
    if len(path) <= LONGEST:
        return path
    return f"{path[: LONGEST - 20]}~{hashlib.sha256(path.encode()).hexdigest()[:16]}"


def _escaped(one: str) -> str:
    code = ord(one)
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    if one == "\\":
        return "\\\\"
    if one != " " and unicodedata.category(one)[0] in "CZ":
        return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
    return one
