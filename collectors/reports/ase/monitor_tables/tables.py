"""What a monitoring table is: how its heading is told from others, and which column gives which field."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from typing import Any

from collectors.facts.base import Fact
from collectors.facts.counted import Counted
from collectors.layouts.tables import key
from collectors.reports.ase.monitor_tables import cells

Read = Callable[[str], Any]
Column = tuple[str, Read]
"""The field of the fact, and what makes its value of a cell."""


@dataclass(frozen=True)
class MonitorTable:
    """One table. Columns are written as `key` writes them: small letters alone."""

    name: str
    fact: type[Fact]
    columns: Mapping[str, Column]
    """Of two columns for one field the later one counts, if it says something."""
    marks: tuple[frozenset[str], ...]
    """Columns that together make it this table and no other."""
    never: frozenset[str] = frozenset()
    """Columns of another table that has such marks too."""
    unless_asked: frozenset[str] = frozenset()
    """Of these, columns that do not matter where the query names this table and not the other."""
    orders: tuple[tuple[str, ...], ...] = ()
    """All columns as the releases order them, for files without a heading (ase-formats.md 2.2, [D])."""
    besides: tuple[str, ...] = ()
    """What a row must say beside the fields of the fact that have no default."""
    joined: "tuple[Joined, ...]" = ()
    settle: Callable[[list[Fact], Collection[str]], list[Fact]] | None = None
    """Takes from the facts of a part what the columns together do not say."""
    counters: tuple[str, ...] = field(init=False)
    needed: frozenset[str] = field(init=False)
    """Fields without which there is no fact."""

    def __post_init__(self) -> None:
        """Derive from the fact what must be there and what counts."""
        counted = self.fact.COUNTERS if issubclass(self.fact, Counted) else {}
        object.__setattr__(self, "counters", tuple(counted))
        must = {one.name for one in fields(self.fact) if one.default is MISSING and one.default_factory is MISSING}
        object.__setattr__(self, "needed", frozenset((*must, *self.besides)))

    def covers(self, columns: Sequence[str], other: "MonitorTable") -> bool:
        """Whether this table, too, has all of these columns that the other has, and none that it never has."""
        have = set(columns)
        return not have & self.never and have & other.columns.keys() <= self.columns.keys()

    def plan(self, columns: Sequence[str]) -> list[tuple[int, str, Read]]:
        """Which cells are wanted: place, field and reader, in the order of `columns` of this table's declaration."""
        places = {name: place for place, name in reversed(list(enumerate(columns)))}
        for called, name in CALLED.items():
            if called in places and called not in self.columns:
                places.setdefault(name, places[called])
        return [(places[name], *column) for name, column in self.columns.items() if name in places]


@dataclass(frozen=True)
class Joined:
    """A table that questions join another one with: its facts are given, too, where a row has one of `its_own`."""

    table: MonitorTable
    its_own: frozenset[str]


CALLED = {
    "tablename": "objectname", "tabname": "objectname", "objname": "objectname",
    "databasename": "dbname", "database": "dbname",
}  # fmt: skip
"""What a question may call `object_name(ObjectID, DBID)` and `db_name(DBID)`, which are the columns of these names."""


def marks(*sets: str) -> tuple[frozenset[str], ...]:
    """`marks("cachesearches", "cachename stalls")`: one set of columns each."""
    return tuple(frozenset(one.split()) for one in sets)


def counts(**named: str) -> dict[str, Column]:
    """Columns that are counters or sizes: `field="column"`."""
    return {column: (name, cells.count) for name, column in named.items()}


def order(text: str) -> tuple[str, ...]:
    """An order of columns, written as the server spells them."""
    return tuple(key(name) for name in text.split())


def identify(columns: Collection[str], tables: Sequence[MonitorTable], asked: Sequence[str]) -> MonitorTable | None:
    """Which table has this heading; `asked` are the tables that the query above it names, in small letters.

    A query that names other tables alone is believed: columns of a table not read here may bear the same names.
    """
    have = set(columns)
    allowed = [one for one in tables if not asked or one.name.lower() in asked]
    for one in allowed:
        if not have & one.never and any(mark <= have for mark in one.marks):
            return one
    for one in allowed if asked else ():
        if not have & (one.never - one.unless_asked) and have & set(one.columns):
            return one
    return None
