"""What the columns of an answer show, by the query that is printed above it: its select list and its where clause.

A query calls a column what it likes (`waits_s = sum(w.WaitTime)`), and leaves out of the rows what it asks for itself
(`where SPID = 118`). Both are known where the query stands above the rows.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

from collectors.layouts.tables import key

LONGEST = 4000
"""Characters of a query that are looked at."""
LEXEME = re.compile(
    r"(?P<comment>/\*.*?\*/|--[^\n]*)|(?P<text>'[^']*'|\"[^\"]*\")|(?P<word>[\w@#$]+(?:\s*\.\s*[\w@#$]*)*)|(?P<sign>\S)",
    re.DOTALL,
)
ENDS = frozenset(
    (
        *("from", "into", "where", "group", "order", "having", "union", "select", "go", "compute", "at", "for", "if"),
        *("set", "waitfor", "declare", "print", "exec", "use", "drop", "insert", "update", "delete", "begin", "end"),
    )
)
"""Words that end a select list: what belongs to the query, and what begins another statement."""
ALL = ("sign", "*")
LEADS = frozenset(("distinct", "all", "top"))
WRAPPED = frozenset(("convert", "isnull", "rtrim", "ltrim", "sum"))
"""Functions whose answer is the column inside: `convert` has the type in front of it."""
ITSELF = {
    "getdate": "getdate", "current_bigdatetime": "getdate", "current_datetime": "getdate",
    "show_cached_text": "showcachedtext", "show_cached_text_long": "showcachedtext",
}  # fmt: skip
"""Functions whose answer is known by what they are, as `key` writes it."""
CUTS = frozenset(("substring", "left"))
"""What these leave of a text is not its column's value, but a part of what one of the functions above shows."""
NAMES_OF = {"object_name": "objectname", "db_name": "dbname"}
"""What a function shows; which object it is tells the column inside."""
OF_OBJECT = frozenset(("objectid", "id"))
Words = Sequence[tuple[str, str]]
"""Words, texts and signs of a query, each with its kind."""


@dataclass(frozen=True)
class Query:
    """What one query says of the columns of its answer; names as `key` writes them."""

    shows: dict[str, str]
    """By what the query calls a column: the column that it is, or the variable of the server or function."""
    nameless: tuple[tuple[str, ...], ...]
    """Of each select list what the columns show that it gives no name, in their order: isql prints blanks there."""
    fixed: dict[str, str]
    """Columns that have one value in all rows, by the where clause of a query of one table."""


@lru_cache(maxsize=16)
def query_of(text: str) -> Query:
    """Look at a query, be it cut: what cannot be told is left out. Snapshots repeat it, so the last ones are kept."""
    words = [
        (str(found.lastgroup), re.sub(r"\s", "", found[0]) if found.lastgroup == "word" else found[0])
        for found in LEXEME.finditer(text[:LONGEST])
        if found.lastgroup != "comment"
    ]
    lists = [[_named(item) for item in items if item[-1] != ALL] for items in _select_lists(words)]
    shown_as: dict[str, set[str]] = {}
    for name, shown in chain.from_iterable(lists):
        shown_as.setdefault(name, set()).add(shown)
    return Query(
        {name: min(shown) for name, shown in shown_as.items() if name and len(shown) == 1 and not shown & {"", name}},
        tuple(dict.fromkeys(tuple(shown for name, shown in one if not name) for one in lists)),
        _fixed(words),
    )


def _select_lists(words: Words) -> Iterator[list[Words]]:
    """The items of every select list that is not one of a subquery."""
    found: list[Words] = []
    depth = 0
    item: list[tuple[str, str]] | None = None
    for place, (kind, word) in enumerate(words):
        depth += (word == "(") - (word == ")")
        low = word.lower() if kind == "word" else word
        if depth or word == ")":
            if item is not None:
                item.append((kind, word))
        elif low in ENDS or low == ",":
            if item:
                found.append(item)
            if low != "," and found:
                yield found
                found = []
            item = [] if low == "select" or (low == "," and item is not None) else None
        elif item is not None and not (not item and (low in LEADS or words[place - 1][1].lower() == "top")):
            item.append((kind, word))
    if item:
        found.append(item)
    if found:
        yield found


def _named(item: Words) -> tuple[str, str]:
    """What an item is called, and the column that it shows; empty where it has no name or shows something else.

    A column alone is called by its own name, but a variable of the server has none.
    """
    if len(item) > 2 and item[1] == ("sign", "="):
        return key(item[0][1].strip("'\"")), _shown(item[2:])
    name, rest = item[-1], item[:-1]
    if rest and rest[-1][1].lower() == "as":
        rest = rest[:-1]
    if len(rest) == 0 or name[0] == "sign" or (rest[-1][0] == "sign" and rest[-1][1] != ")"):
        shown = _shown(item)
        return shown if name[0] == "word" and not shown.startswith("@@") else "", shown
    return key(name[1].strip("'\"")), _shown(rest)


def _shown(words: Words) -> str:
    """The column that an expression shows, as `key` writes it; empty where it is more than one column's value."""
    if len(words) == 1 and words[0][0] == "word" and not words[0][1].isdecimal():
        alone = words[0][1].rpartition(".")[2]
        return alone.lower() if alone.startswith("@@") else key(alone)
    if len(words) == 3 and words[1] == ("sign", "-") and words[0][0] == words[2][0] == "word":
        columns = {key(one[1].rpartition(".")[2]) for one in (words[0], words[2])}
        return columns.pop() if len(columns) == 1 else ""  # two copies of a table, one minus the other
    if len(words) < 3 or words[1][1] != "(" or words[-1][1] != ")" or not _is_one_call(words):
        return ""
    called, arguments = words[0][1].lower(), list(_arguments(words[2:-1]))
    if called in ITSELF:
        return ITSELF[called]
    if called in NAMES_OF:
        of = _shown(arguments[0])
        return NAMES_OF[called] if called == "db_name" or of in OF_OBJECT else ""
    if called in CUTS and (of := _shown(arguments[0])) in ITSELF.values():
        return of
    if called not in WRAPPED:
        return ""
    place = 1 if called == "convert" else 0
    return _shown(arguments[place]) if len(arguments) > place else ""


def _is_one_call(words: Words) -> bool:
    """Whether the parenthesis that opens at the second word is closed by the last."""
    depth = 0
    for _, word in words[1:-1]:
        depth += (word == "(") - (word == ")")
        if depth == 0:
            return False
    return True


def _arguments(words: Words) -> Iterator[Words]:
    depth = 0
    one: list[tuple[str, str]] = []
    for kind, word in words:
        depth += (word == "(") - (word == ")")
        if word == "," and depth == 0:
            yield one
            one = []
        else:
            one.append((kind, word))
    yield one


def _fixed(words: Words) -> dict[str, str]:
    """Columns that the where clause of the last query holds at one value; none where it asks more than one table."""
    low = [word.lower() if kind == "word" else word for kind, word in words]
    if low.count("select") != 1 or low.count("from") != 1 or low.count("where") != 1:
        return {}
    asks, where = low.index("from"), low.index("where")
    if (
        not asks < where
        or any(one in (",", "join", "(") for one in low[asks:where])
        or {"or", "not"} & set(low[where:])
    ):
        return {}
    found: dict[str, str] = {}
    for place in range(where + 1, len(words) - 2):
        before, column, sign, value = low[place - 1], *words[place : place + 3]
        plain = value[0] == "text" or value[1].isdecimal()
        after = low[place + 3] if place + 3 < len(low) else ""
        if before in ("where", "and") and sign[1] == "=" and column[0] == "word" and plain and not _goes_on(after):
            found[key(column[1].rpartition(".")[2])] = value[1].strip("'\"")
    return found


def _goes_on(after: str) -> bool:
    """Whether a value is part of an expression."""
    return after in ("+", "-", "*", "/", "(")
