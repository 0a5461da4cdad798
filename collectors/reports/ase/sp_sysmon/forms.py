"""Forms: which fields of which fact are read from which lines of a section.

The reports of one server have the same lines over and over; only the figures differ. So what a section says is worked
out once, as a list of forms, and then filled in for every section that has the same lines::

    Form(LockHashtable, first=12, last=14, given={"table": "address"},
         cells={"lookups": (12, COUNT), "contention_percent": (14, PERCENT)})

A form knows no figure. What depends on one (zero where the total is zero) is `derived` from the page it is filled for.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from collectors.facts.base import ABSENT, Fact, Reading, Source, known
from collectors.reports.ase.sp_sysmon.page import Page

PER_SECOND, COUNT, PERCENT = 0, 2, 3
"""Columns of the layout."""
Derived = Callable[[Page], Any]


class Form:
    """One fact without its figures."""

    __slots__ = ("cells", "derived", "fact", "first", "given", "last", "names")

    def __init__(
        self,
        fact: type[Fact],
        first: int,
        last: int,
        given: Mapping[str, Any] | None = None,
        cells: Mapping[str, tuple[int | None, int]] | None = None,
        derived: Mapping[str, Derived] | None = None,
    ) -> None:
        """Take the lines the fact is read from, fields that are known already, and where the figures stand.

        A figure goes before what is given for the same field.
        """
        self.fact, self.first, self.last = fact, first, last
        there = {name: (at, column) for name, (at, column) in (cells or {}).items() if at is not None}
        self.derived: list[tuple[str, Derived]] = []
        for name, read in (derived or {}).items():
            if isinstance(read, Cell) and read.at is not None:
                there[name] = (read.at, read.column)
            else:
                self.derived.append((name, read))
        self.names, self.cells = tuple(there), tuple(there.values())
        self.given = _defaults(fact) | dict(given or {})


class Forms:
    """The forms of one section, with all their figures in one row."""

    def __init__(self, forms: Sequence[Form]) -> None:
        """Lay the figures of all forms end to end."""
        self.cells = [cell for form in forms for cell in form.cells]
        self.forms = forms

    def fill(self, page: Page) -> list[Fact]:
        """Make the facts of one section."""
        figure = iter(self._figures(page)).__next__
        file, before, new = page.file, page.first, object.__new__
        facts = []
        for form in self.forms:
            fact = new(form.fact)  # a frozen dataclass's own __init__ would take a fifth of the time of reading
            values = fact.__dict__
            values.update(form.given)
            for name in form.names:
                values[name] = figure()
            for name, read in form.derived:
                values[name] = read(page)
            values["source"] = Source(file, before + form.first, before + form.last)
            facts.append(fact)
        return facts

    def _figures(self, page: Page) -> list[Reading]:
        lines, items = page.lines, page.items
        try:  # nearly always every one is a number
            return [float(lines[at][items[at].figures[column]]) for at, column in self.cells]  # type: ignore[attr-defined]
        except (TypeError, IndexError):  # one is missing, or a row has fewer columns than its place should have
            return [page.figure(at, column) for at, column in self.cells]


def _defaults(fact: type[Fact]) -> dict[str, Any]:
    return {one.name: one.default for one in dataclasses.fields(fact)}


class Cell:
    """One figure, where a form may take what is derived, too; absent without a row."""

    __slots__ = ("at", "column")

    def __init__(self, at: int | None, column: int) -> None:
        """Take the index of the row."""
        self.at, self.column = at, column

    def __call__(self, page: Page) -> Reading:
        """Read it."""
        return page.figure(self.at, self.column)


def left_out(at: int | None, whole: Derived) -> Derived:
    """Read the count of a row that is left out where the whole is zero; absent if it is missing otherwise."""
    if at is not None:
        return Cell(at, COUNT)
    return lambda page: 0.0 if whole(page) == 0 else ABSENT


def added(parts: Sequence[Derived]) -> Derived:
    """Add figures up; if one is no number, the sum is none either, for the same reason."""
    return lambda page: total([part(page) for part in parts])


def total(parts: Sequence[Reading]) -> Reading:
    """Add readings up; if one is no number, the sum is none either, for the same reason."""
    missing = [part for part in parts if not known(part)]
    return missing[0] if missing else round(float(sum(part for part in parts if known(part))), 6)
