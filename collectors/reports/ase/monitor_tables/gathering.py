"""Rows of one table in one snapshot → facts; rows of `sysmonitors` are put together first, endless ones are summed."""

import re
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, cast

from collectors.facts.ase import MonSpinlockActivity
from collectors.facts.base import ABSENT, Fact, Reading, Source
from collectors.facts.columns import Columns, TableRow, coded
from collectors.reports.ase.monitor_tables.blocks import FIGURES
from collectors.reports.ase.monitor_tables.spinlocks import JOINED, SPINLOCKS, SYSMONITORS
from collectors.reports.ase.monitor_tables.tables import MonitorTable, Read

MOST_OF_ONE_NAME = 1000
"""Rows of one spinlock kept apart; on Cluster Edition `fglockspins` has over 100,000 (ase-formats.md 2.2 [S])."""
MADE_UP = 0.98
"""Share of a sum from which on the rows beside it are all that it is made of (this project's figure: roundings)."""
GROUP = re.compile(r"spinlock_([pws])(?:_[0-9]{1,3})?", re.IGNORECASE)
FIELDS = {"p": "grabs", "w": "waits", "s": "spins"}
UNSIGNED = 2.0**32

Name = tuple[int | None, str]
Values = dict[str, Any]


def gatherer(table: MonitorTable, plan: Sequence[tuple[int, str, Read]]) -> "Gatherer":
    """Make what takes the rows of this table; `plan`: as the table's own gives it."""
    if table is SYSMONITORS:
        return Monitors(table, plan)
    return Spinlocks(table, plan) if table in (SPINLOCKS, JOINED) else Gatherer(table, plan)


class Gatherer:
    """Takes rows, gives facts in their order."""

    TAKES_BLOCKS = True

    def __init__(self, table: MonitorTable, plan: Sequence[tuple[int, str, Read]]) -> None:
        """Start empty."""
        self.table = table
        self.rows = 0
        self.counted = self.moved = False
        self.file, self.parts = "", 1
        self.lines = array("q")
        """The first line of each row."""
        self.figures = {name: array("d") for _, name, read in plan if read in FIGURES}
        self.others: dict[str, list[object]] = {name: [] for _, name, read in plan if read not in FIGURES}
        self.defaults = {one.name: one.default for one in fields(table.fact)}

    def add(self, values: Values, source: Source) -> None:
        """Take one row."""
        self.rows += 1
        if not self.moved:
            self._look({name: [coded(values.get(name, ABSENT))] for name in self.table.counters})
        self.file, self.parts = source.file, source.last - source.first
        self.lines.append(source.first)
        for name, figures in self.figures.items():
            figures.append(coded(values.get(name, ABSENT)))
        for name, others in self.others.items():
            others.append(values.get(name, self.defaults[name]))

    def add_block(
        self,
        file: str,
        first: int,
        rows: int,
        figures: Mapping[str, "array[float]"],
        others: Mapping[str, list[object]],
    ) -> None:
        """Take many rows, each of one line; of figures as `collectors.facts.columns` codes them."""
        if not self.moved:
            self._look(figures)
        self.file, self.parts = file, 0
        self.rows += rows
        self.lines.extend(range(first, first + rows))
        for name, column in figures.items():
            self.figures[name].extend(column)
        for name, values in others.items():
            default = self.defaults[name]
            self.others[name] += values if default is None else [default if one is None else one for one in values]

    def _look(self, figures: Mapping[str, Sequence[float]]) -> None:
        """Note whether there are counters, and whether one is not 0: an overflow is not, NULL says nothing."""
        for name in self.table.counters:
            for figure in figures.get(name, ()):
                if figure == figure:  # else there is none
                    self.counted = True
                    if figure:
                        self.moved = True
                        return

    @property
    def all_zero(self) -> bool:
        """Whether every counter of every row was 0."""
        return self.counted and not self.moved

    def finish(self) -> list[Fact]:
        """Hand over the facts."""
        file, lines, more = self.file, self.lines, self.parts
        places = {"source": lambda at: Source(file, lines[at], lines[at] + more)}
        kind = cast(type[TableRow], self.table.fact)
        return cast(list[Fact], Columns(kind, self.rows, self.figures, self.others, {}, places).rows())


SESSION = ("instance", "spid", "kpid")
OBJECT = ("instance", "database", "db_id", "owner", "object_name", "table", "object_id", "index_id")
"""What tells the rows of the other table of a join apart."""


class Beside:
    """The facts of the other table of a join: one of each session or object, whatever many rows the first has of it."""

    def __init__(self, table: MonitorTable, plan: Sequence[tuple[int, str, Read]]) -> None:
        """Start empty."""
        self.table, self.plan = table, plan
        self.found: dict[tuple[object, ...], Fact] = {}

    def add(self, values: Values, source: Source) -> None:
        """Take what one row says of this table."""
        if self.table.needed - {"source"} <= values.keys():
            whose = tuple(values.get(name) for name in (SESSION if "spid" in values else OBJECT))
            self.found.setdefault(whose, self.table.fact(source=source, **values))

    def finish(self) -> list[Fact]:
        """Hand over the facts of the part that ends here."""
        facts, self.found = list(self.found.values()), {}
        return facts


class Spinlocks(Gatherer):
    """Rows of spinlocks: those of one name without a slot are summed where they are too many to keep."""

    TAKES_BLOCKS = False

    def __init__(self, table: MonitorTable, plan: Sequence[tuple[int, str, Read]]) -> None:
        """Start empty."""
        super().__init__(table, plan)
        self.of_name: dict[Name, list[MonSpinlockActivity]] = {}
        self.wide = table is SPINLOCKS

    def add(self, values: Values, source: Source) -> None:
        """Take one row."""
        self.rows += 1
        if not self.moved:
            self._look({name: [coded(values.get(name, ABSENT))] for name in self.table.counters})
        fact = MonSpinlockActivity(source=source, wide=self.wide, **values)
        rows = self.of_name.setdefault((fact.instance, fact.name), [])
        if fact.slot is None and rows:
            fact = replace(fact, nth=rows[-1].nth + 1)
        rows.append(fact)
        if len(rows) > MOST_OF_ONE_NAME and (fact.slot is None or not self.wide):
            rows[:] = [_sum(rows)]

    def finish(self) -> list[Fact]:
        """Hand over the rows; of a name that has been summed, their sum."""
        found: list[Fact] = []
        for rows in self.of_name.values():
            if rows[0].rows > 1:
                rows = [_sum(rows)]
            elif not self.wide and len(rows) == 1:
                rows = [replace(rows[0], slot=None)]
            found.extend(_once(rows))
        return found


def _once(rows: list[MonSpinlockActivity]) -> list[MonSpinlockActivity]:
    """The rows of one name without those that are counted in another: a script may list slots and their sum.

    The slots stay where they make up the sum; where only some of them are listed it is the sum that is of all.
    """
    sums, slots = ([row for row in rows if (row.slot is None) is whole] for whole in (True, False))
    if len(sums) != 1 or not slots:
        return rows
    listed, whole = sum(row.grabs for row in slots if isinstance(row.grabs, float)), sums[0].grabs
    return slots if isinstance(whole, float) and listed >= MADE_UP * whole else sums


def _sum(rows: list[MonSpinlockActivity]) -> MonSpinlockActivity:
    """One fact for rows of one name; 32-bit counters are taken as unsigned, so that the sum means something."""

    def total(name: str) -> Reading:
        amount = 0.0
        for row in rows:
            value: Reading = getattr(row, name)
            if not isinstance(value, float):
                return value
            amount += value if row.wide or value >= 0 else value + UNSIGNED
        return amount

    last = rows[-1].source.last
    return MonSpinlockActivity(
        source=replace(rows[0].source, last=max(last, rows[0].source.last)),
        name=rows[0].name,
        instance=rows[0].instance,
        grabs=total("grabs"),
        spins=total("spins"),
        waits=total("waits"),
        rows=sum(row.rows for row in rows),
        wide=rows[0].wide,
    )


class Monitors(Gatherer):
    """Rows of `sysmonitors`: grabs, waits and spins stand in groups of their own and are joined by name and id."""

    TAKES_BLOCKS = False

    def __init__(self, table: MonitorTable, plan: Sequence[tuple[int, str, Read]]) -> None:
        """Start empty."""
        super().__init__(table, plan)
        self.of_name: dict[Name, dict[int, Values]] = {}
        self.sums: dict[Name, Values] = {}
        self.order: dict[tuple[str, Name], int] = {}

    def add(self, values: Values, source: Source) -> None:
        """Take one row; those of other groups are no spinlocks and are read over."""
        group = GROUP.fullmatch(values.pop("group"))
        if group is None:
            return
        self.rows += 1
        field, value = FIELDS[group[1].lower()], values.get("value", ABSENT)
        self.counted = self.counted or value is not ABSENT
        self.moved = self.moved or value not in (ABSENT, 0)
        name: Name = (values.get("instance"), values["name"])
        if name in self.sums:
            self._sum(name, field, value)
            return
        slot = values.get("slot")
        if slot is None:  # without the id only the order can tell which rows belong together
            slot = self.order[field, name] = self.order.get((field, name), -1) + 1
        slots = self.of_name.setdefault(name, {})
        row = slots.setdefault(slot, {"source": source})
        row[field] = value
        if len(slots) > MOST_OF_ONE_NAME:
            self.sums[name] = {"source": source}
            for one in self.of_name.pop(name).values():
                for known in FIELDS.values():
                    if known in one:
                        self._sum(name, known, one[known])

    def _sum(self, name: Name, field: str, value: Reading) -> None:
        total = self.sums[name]
        total[f"rows {field}"] = total.get(f"rows {field}", 0) + 1
        before = total.get(field, 0.0)
        if isinstance(value, float) and isinstance(before, float):
            total[field] = before + (value if value >= 0 else value + UNSIGNED)
        else:
            total[field] = value if isinstance(before, float) else before

    def finish(self) -> list[Fact]:
        """Hand over one fact per spinlock; the source is its first row."""
        found: list[Fact] = []
        for (instance, name), slots in self.of_name.items():
            for slot, row in slots.items():
                by_order = any((field, (instance, name)) in self.order for field in FIELDS.values())
                told = slot if len(slots) > 1 and not by_order else None
                nth = slot if by_order else 0
                found.append(MonSpinlockActivity(name=name, instance=instance, slot=told, nth=nth, wide=False, **row))
        for (instance, name), total in self.sums.items():
            rows = max(int(total.pop(f"rows {field}", 0)) for field in FIELDS.values())
            found.append(MonSpinlockActivity(name=name, instance=instance, rows=rows, wide=False, **total))
        return found
