"""The tables of SAP ASE whose rows are updated most, by two snapshots of `monOpenObjectActivity`.

sp_sysmon counts what updates bring about (rows forwarded, log caches unpinned) for the whole server and names no table:
these are the first to look at, not the proven ones.
"""

from collections.abc import Collection
from dataclasses import dataclass

from collectors.facts import Fact, Facts, known
from collectors.facts.ase import MonOpenObjectActivity, TableScheme
from rules.ase._evidence.objects.seen import activity, is_system, name_of, schemes, table_key
from rules.changes.ase_binding import is_tempdb
from rules.finding import Evidence

UPDATED_FACTS: tuple[type[Fact], ...] = (MonOpenObjectActivity, TableScheme)
LEAST_PERCENT, NAMED = 25.0, 2
"""This project: a table with fewer of the updates is not named as one to look at first; and how many are."""
DATA_ONLY = ("datarows", "datapages")


@dataclass(frozen=True)
class Updated:
    """One table with many of the rows updated."""

    row: MonOpenObjectActivity
    rows: float
    percent: float
    """Of the rows updated in all tables of these lock schemes."""

    @property
    def evidence(self) -> Evidence:
        """The count."""
        return Evidence(f"rows updated in {name_of(self.row)}", self.rows, "", self.row.source)


def updated_most(facts: Facts, locking: Collection[str] = DATA_ONLY) -> list[Updated]:
    """The tables with most of the rows updated in the interval, of these lock schemes or with one that is not listed.

    Nothing is set on tables of the server itself or of temporary databases, so none of these is named.
    """
    listed = schemes(facts)
    counts = [
        (row, row.rows_updated)
        for row in activity(facts)
        if row.of_interval and row.index_id <= 1 and known(row.rows_updated) and row.rows_updated > 0
        if (scheme := listed.get(table_key(row))) is None or scheme.scheme in locking
    ]
    whole = sum(count for _, count in counts)
    found = [Updated(row, count, 100.0 * count / whole) for row, count in counts if row.object_name]
    found = [one for one in found if one.percent >= LEAST_PERCENT and not is_system(one.row)]
    users = [one for one in found if not is_tempdb(one.row.database or "")]
    return sorted(users, key=lambda one: -one.rows)[:NAMED]


def say_updated(tables: list[Updated]) -> str:
    """The tables with their shares, for a sentence."""
    return " and ".join(f"{name_of(one.row)} ({one.percent:.0f} % of the rows updated)" for one in tables)
