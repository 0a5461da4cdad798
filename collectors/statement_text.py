"""The text of a statement without the values in it: what users typed is no business of an audit.

What is left says which tables a statement names, and how. In the text that the server keeps, values stand where it does
not replace them itself (`enable literal autoparam`).
"""

import re
from collections.abc import Iterator

PLACE = "?"
"""Stands where a value stood."""
LONGEST = 4000
"""Characters of a statement that are kept."""
CUT = " [cut]"
_SKIPPED = r"/\*.*?(?:\*/|\Z)|--[^\r\n]*"
_QUOTED = r"'(?:[^']|'')*(?:'|\Z)|\"(?:[^\"]|\"\")*(?:\"|\Z)"
_NAME = r"\[[^\]]*\]|[^\W\d][\w#@$]*|[#@][\w#@$]*"
_NUMBER = r"0[xX][0-9A-Fa-f]*|[$£¥€]?[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?|[$£¥€]?\.[0-9]+(?:[eE][+-]?[0-9]+)?"
TOKEN = re.compile(
    rf"(?P<skipped>{_SKIPPED})|(?P<quoted>{_QUOTED})|(?P<name>{_NAME})|(?P<number>{_NUMBER})|(?P<other>\s+|.)",
    re.DOTALL,
)
BEFORE_A_TABLE = frozenset(("from", "join", "update", "into", "delete", "insert", "table", "."))
"""Behind these a text in double quotes is a name; elsewhere it may be a value (with `quoted_identifier` off, it is)."""

BEFORE_A_LEVEL, LEVELS = frozenset(("level", "isolation")), frozenset("0123")
"""An isolation level is no value: `set transaction isolation level 3`, `at isolation 1`."""


def on_one_line(text: str) -> str:
    """The statement with blanks and ends of lines as one blank, cut where it is very long."""
    flat = " ".join(text[: 4 * LONGEST].split())
    return flat if len(flat) <= LONGEST else flat[:LONGEST] + CUT


def without_literals(text: str) -> str:
    """The statement with `?` for each string, number and binary value, and without its comments.

    A text that is cut in the middle of a string ends there.
    """
    out: list[str] = []
    before = ""
    for found in TOKEN.finditer(text):
        kind, piece = found.lastgroup, found[0]
        if kind == "skipped":
            out.append(" ")
            continue
        named = piece[0] == '"' and len(piece) > 1 and piece[-1] == '"' and before in BEFORE_A_TABLE
        named = named or (piece[0] == '"' and text[found.end() : found.end() + 1] == ".")
        value = kind == "number" and not (before in BEFORE_A_LEVEL and piece in LEVELS)
        out.append(PLACE if value or (kind == "quoted" and not named) else piece)
        if not piece.isspace():
            before = piece.lower()
    return "".join(out)


def pieces(text: str) -> Iterator[str]:
    """What stands between the commas of a list, behind the bracket that opens it and up to the one that closes it."""
    depth, begin = 0, 0
    for at, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if depth < 0 or (sign == "," and not depth):
            yield text[begin:at].strip()
            begin = at + 1
        if depth < 0:
            return
