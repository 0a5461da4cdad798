"""A large table as columns: its rows are facts whose fields are filled in when one of them is first asked for.

A monitoring table may have 200,000 rows in each of two snapshots, and few of them are ever looked at. A figure takes 8
bytes in an array, any other value a reference to one object that equal values share. `Columns.rows()` gives facts that
know their table and their place in it; the first field that is read fills in the others. Where a row stands in its file
is made each time it is asked for.
"""

from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields, replace
from math import inf, isfinite, nan
from typing import Any, Generic, Self, TypeVar

from collectors.facts.base import ABSENT, NOT_MEASURED, OVERFLOW, Missing, Reading, Source

T = TypeVar("T", bound="TableRow")

CODES: Mapping[Missing, float] = {ABSENT: nan, OVERFLOW: inf, NOT_MEASURED: -inf}
"""What stands in an array for a figure that is missing: no report prints a figure that is not finite."""
PLACES = ("source", "earlier")
"""Fields that tell where a row was read."""


def coded(reading: Reading) -> float:
    """A reading as it stands in an array."""
    return CODES[reading] if isinstance(reading, Missing) else reading


def decoded(number: float) -> Reading:
    """The reading that stands in an array as this number."""
    if isfinite(number):
        return number
    return OVERFLOW if number == inf else NOT_MEASURED if number == -inf else ABSENT


class TableRow:
    """A fact that may be a row of `Columns`. Its class is a dataclass with slots: an empty one is not filled in yet."""

    __slots__ = ("_at", "_table")

    _at: int
    _table: "Columns[Any]"

    def __getattr__(self, name: str) -> Any:
        """Fill in the row, and give the field. Raises `AttributeError` for what is no field."""
        if name in PLACES:
            return self._table.place(name, self._at)
        if name not in getattr(type(self), "__dataclass_fields__", ()):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        self._table.fill(self, self._at)
        return object.__getattribute__(self, name)

    def shared(self, name: str) -> object:
        """A field that has one value in all rows of its table, without filling in the row for it."""
        table = getattr(self, "_table", None)
        return table.same[name] if table is not None and name in table.same else getattr(self, name)

    def placed(self, source: Source, **fields: Any) -> Self:
        """Give the same statement, read elsewhere: it has slots, and no dictionary to copy as other facts have."""
        return replace(self, source=source, **fields)  # type: ignore[type-var]  # a dataclass, as every fact is


class Columns(Generic[T]):
    """The rows of one table, column by column; a field without a column has one value in all rows."""

    def __init__(
        self,
        kind: type[T],
        size: int,
        figures: Mapping[str, "array[float]"],
        others: Mapping[str, Sequence[object]],
        same: Mapping[str, object],
        places: Mapping[str, Callable[[int], Source | None]],
    ) -> None:
        """`places`: what gives `source`, and `earlier` where rows have one, of a row; `same`: one value for all."""
        self.kind, self.size, self.figures, self.others, self.places = kind, size, figures, others, places
        self.same = {**_defaults(kind), **same}
        taken = {*figures, *others, *places}
        self._figures = [(_setter(kind, name), column) for name, column in figures.items()]
        self._others = [(_setter(kind, name), column) for name, column in others.items()]
        self._same = [
            (_setter(kind, name), value) for name, value in self.same.items() if name not in taken | {*PLACES}
        ]

    def rows(self) -> list[T]:
        """The rows, in order, not filled in."""
        new, put_at, put_table = self.kind.__new__, _setter(TableRow, "_at"), _setter(TableRow, "_table")
        found = [new(self.kind) for _ in range(self.size)]
        for at, row in enumerate(found):
            put_at(row, at)
            put_table(row, self)
        return found

    def place(self, name: str, at: int) -> Source | None:
        """Where a row stands, or stood in the earlier snapshot; `None` where it did not."""
        give = self.places.get(name)
        return give(at) if give else None

    def fill(self, row: T, at: int) -> None:
        """Fill in every field but the places."""
        for put, column in self._figures:
            number = column[at]
            put(row, number if isfinite(number) else decoded(number))
        for put, values in self._others:
            put(row, values[at])
        for put, value in self._same:
            put(row, value)


class Picked(Generic[T]):
    """Some rows of one class, one field of all of them at a time: those of one table are not filled in for it."""

    def __init__(self, rows: Sequence[T]) -> None:
        """Take rows; at least one."""
        self.rows = rows
        table = getattr(rows[0], "_table", None)
        self.table = table if table and all(getattr(row, "_table", None) is table for row in rows) else None
        self.at = array("q", [row._at for row in rows] if self.table else ())
        self.whole = self.table is not None and self.at == array("q", range(self.table.size))

    def values(self, name: str) -> Sequence[object]:
        """A field of each row."""
        if self.table is None or name in self.table.places:
            return [getattr(row, name) for row in self.rows]
        if name in self.table.others:
            return self._of(self.table.others[name])
        if name in self.table.figures:
            return list(map(decoded, self.figures(name)))
        return [self.table.same.get(name)] * len(self.rows)

    def figures(self, name: str) -> "array[float]":
        """A reading of each row, as arrays have it."""
        if self.table is not None and name in self.table.figures:
            column = self.table.figures[name]
            return column if self.whole else array("d", map(column.__getitem__, self.at))
        if self.table is not None and name in self.table.same:
            return array("d", [coded(self.table.same[name])]) * len(self.rows)
        return array("d", map(coded, self.values(name)))  # type: ignore[arg-type]  # readings

    def again(
        self,
        figures: "Mapping[str, array[float]]",
        others: Mapping[str, Sequence[object]],
        same: Mapping[str, object],
        earlier: Callable[[int], Source | None] | None = None,
    ) -> list[T]:
        """The same rows with other values in some fields: a column each, or one value for all."""
        rows = self.rows
        kind: Any = type(rows[0])
        new = {*figures, *others, *same, *PLACES}
        if self.table is None:
            kept = {one.name: self.values(one.name) for one in fields(kind) if one.name not in new}
            readings, alike = {}, {}
        else:
            kept = {name: self._of(values) for name, values in self.table.others.items() if name not in new}
            readings = {name: self.figures(name) for name in self.table.figures if name not in new}
            alike = {name: value for name, value in self.table.same.items() if name not in new}
        places: dict[str, Callable[[int], Source | None]] = {"source": lambda at: rows[at].source}
        places |= {"earlier": earlier} if earlier else {}
        table = Columns(kind, len(rows), {**readings, **figures}, {**kept, **others}, {**alike, **same}, places)
        return table.rows()

    def _of(self, column: Sequence[object]) -> Sequence[object]:
        return column if self.whole else list(map(column.__getitem__, self.at))


def _setter(kind: type, name: str) -> Callable[[object, object], None]:
    """What writes the field of a frozen dataclass with slots."""
    return getattr(kind, name).__set__  # type: ignore[no-any-return]


def _defaults(kind: type) -> dict[str, object]:
    return {one.name: one.default for one in fields(kind) if one.default is not MISSING}
