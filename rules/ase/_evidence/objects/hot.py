"""The tables of SAP ASE that are used most, by `monOpenObjectActivity`: whose descriptors are worth binding.

Counted by `Operations`, where all rows lack that by `UsedCount`; the rows of a table and of its indexes are one table.
Rows of an interval go before totals since boot, and are never added to them.
"""

from dataclasses import dataclass

from collectors.facts import Facts, known
from collectors.facts.ase import MonOpenObjectActivity
from rules.ase._evidence.objects.seen import activity
from rules.ase._evidence.times import when
from rules.changes.ase_descriptor import bind_descriptor, bindable
from rules.finding import Change, Evidence

NAMED = 3
"""Tables that a sentence names."""


@dataclass(frozen=True)
class Hot:
    """One table with what was counted of it."""

    database: str
    db_id: int | None
    table: str
    count: float
    evidence: Evidence


@dataclass(frozen=True)
class Hottest:
    """The tables with the largest counts, and what the count is of."""

    tables: tuple[Hot, ...]
    all: float
    of_interval: bool
    counted: str
    covers: str
    """What time they were counted in, as the end of a sentence."""

    @property
    def says(self) -> str:
        """The first of them with their shares; the evidence has all."""
        shares = [f"{one.database}..{one.table} {100 * one.count / self.all:.0f} %" for one in self.tables]
        named = ", ".join(shares[:NAMED]) + (f" and {len(shares) - NAMED} more" if len(shares) > NAMED else "")
        covers = "" if self.of_interval else f" {self.covers} (an average)"
        return f"Most {self.counted}{covers}: {named}."

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """One figure for each table."""
        return tuple(one.evidence for one in self.tables)


def hottest(facts: Facts, most: int, least_percent: float) -> Hottest | None:
    """The tables with the most operations, each with at least `least_percent` of all; `None` where nothing says so."""
    newest = [row for row in activity(facts) if row.object_name and row.database]
    for field, counted in (("operations", "operations"), ("used_count", "uses in plans")):
        found = _counted(newest, field, counted)
        whole = sum(one.count for one in found)
        tables = sorted(found, key=lambda one: -one.count)[:most]
        tables = [one for one in tables if whole and 100 * one.count / whole >= least_percent]
        if tables:
            return Hottest(tuple(tables), whole, newest[0].of_interval, counted, when(newest[0]))
    return None


def bindings(hottest: Hottest) -> tuple[Change, ...]:
    """A change for each of them whose descriptor may be bound and whose database has a number in the export."""
    return tuple(
        bind_descriptor(database=one.database, db_id=one.db_id, table=one.table)
        for one in hottest.tables
        if one.db_id is not None and bindable(one.database, one.table)
    )


def _counted(rows: list[MonOpenObjectActivity], field: str, counted: str) -> list[Hot]:
    by_table: dict[tuple[str, str], list[MonOpenObjectActivity]] = {}
    for row in rows:
        count = getattr(row, field)
        if known(count) and count > 0:
            by_table.setdefault((row.database or "", row.object_name or ""), []).append(row)
    found = []
    for (database, table), of_table in by_table.items():
        count = sum(getattr(row, field) for row in of_table)
        most = max(of_table, key=lambda row: float(getattr(row, field)))
        evidence = Evidence(f"{database}..{table} {counted}", count, "", most.source)
        found.append(Hot(database, most.db_id, table, count, evidence))
    return found
