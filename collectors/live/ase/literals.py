"""Take the values out of the text of statements: what users typed is no business of an audit.

What is left says which tables a statement names, and how. In the text that the server keeps, values stand where it does
not replace them itself (`enable literal autoparam`). Nothing of them is written, not to a temporary file either.
"""

import re
from collections.abc import Sequence

from collectors.live.printing import Part, ResultSet

TEXT = "SQLText"
"""The column that `monCachedStatement` is asked to give the text in (`questions.sql`)."""
PLACE = "?"
"""Stands where a value stood."""
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
        out.append(PLACE if kind == "number" or (kind == "quoted" and not named) else piece)
        if not piece.isspace():
            before = piece.lower()
    return "".join(out)


def masked(parts: Sequence[Part]) -> list[Part]:
    """An answer with the text of statements in it rid of values; any other as it is."""
    return [_masked(part) if isinstance(part, ResultSet) and TEXT in part.columns else part for part in parts]


def _masked(one: ResultSet) -> ResultSet:
    at = one.columns.index(TEXT)
    rows = [(*row[:at], _text(row[at]), *row[at + 1 :]) for row in one.rows]
    return ResultSet(one.columns, rows)


def _text(value: object) -> object:
    return value if value is None else without_literals(str(value))
