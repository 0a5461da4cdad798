"""Take the values out of the text of statements that is collected: what users typed is no business of an audit.

Nothing of them is written, not to a temporary file either.
"""

from collections.abc import Sequence

from collectors.live.printing import Part, ResultSet
from collectors.statement_text import without_literals

TEXT = "SQLText"
"""The column that `monCachedStatement` is asked to give the text in (`questions.sql`)."""


def masked(parts: Sequence[Part]) -> list[Part]:
    """An answer with the text of statements in it rid of values; any other as it is."""
    return [_masked(part) if isinstance(part, ResultSet) and TEXT in part.columns else part for part in parts]


def _masked(one: ResultSet) -> ResultSet:
    at = one.columns.index(TEXT)
    rows = [(*row[:at], _text(row[at]), *row[at + 1 :]) for row in one.rows]
    return ResultSet(one.columns, rows)


def _text(value: object) -> object:
    return value if value is None else without_literals(str(value))
