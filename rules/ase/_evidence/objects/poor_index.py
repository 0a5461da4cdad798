"""A statement of SAP ASE that reads a table through an index that finds it few of the rows that it reads.

Such an index begins with a column that many rows share, and each of them costs a page or two. `UsedCount` of the table
itself says nothing of it, as the plan did use an index. It is known by three figures of the statement cache, pages,
rows found and executions of a second, which are held against what was read of the table and of all caches between the
snapshots: the means are those since it was cached, and where they were of another time they do not agree.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts, known
from collectors.facts.ase import MonCachedStatement, MonOpenObjectActivity
from rules.ase._evidence.objects.scans import (
    LEAST_PAGES,
    SHARE_PERCENT,
    STATEMENT_PERCENT,
    WHOLE_TIMES,
    Searches,
    scans_of,
    share_of,
)
from rules.ase._evidence.objects.seen import activity, is_system, table_key
from rules.ase._evidence.objects.statement_cpu import Worked, worked
from rules.ase._evidence.objects.statements import by_text
from rules.ase._evidence.waits.index_wanted import PAGES_A_ROW, pages_each


@dataclass(frozen=True)
class PoorIndex:
    """A statement with what one execution reads and finds, and the table."""

    worked: Worked
    row: MonOpenObjectActivity
    """Of the table itself."""
    pages: float
    """That one execution reads."""
    found: float
    """Rows that one execution finds."""
    share: float
    """What it reads of all searches of the caches, per cent."""

    @property
    def statement(self) -> MonCachedStatement:
        """The statement."""
        return self.worked.statement

    @property
    def says(self) -> str:
        """The statement with its figures, as a clause."""
        return (
            f"SSQLID {self.statement.statement} reads {self.pages:,.0f} pages to find {self.found:,.0f} rows, "
            f"{self.worked.per_second:,.1f} times a second"
        )


def poor_index(facts: Facts, searches: Searches) -> PoorIndex | None:
    """The statement that makes the largest part of all searches so; `None` where none makes a large one."""
    if not searches.of_caches:
        return None
    tables: dict[object, list[MonOpenObjectActivity]] = {}
    for row in activity(facts):
        if row.of_interval and row.seconds and not is_system(row):
            tables.setdefault(table_key(row), []).append(row)
    found = [one for rows in tables.values() for one in _of_table(facts, rows, searches)]
    return max(found, key=lambda one: one.share, default=None)


def _of_table(facts: Facts, rows: list[MonOpenObjectActivity], searches: Searches) -> Iterator[PoorIndex]:
    """Those of one table, given with its indexes."""
    data = next((one for one in rows if one.index_id == 0), None)
    read = sum(one.logical_reads for one in rows if known(one.logical_reads))
    if data is None or not data.seconds or share_of(read, searches.number) < SHARE_PERCENT:
        return
    for used in by_text(facts, [(data.database, data.object_name)]):
        one = worked(facts, used.fact) if isinstance(used.fact, MonCachedStatement) else None
        pages, rows_found = (pages_each(one.statement), one.statement.mean_read_rows) if one else (None, None)
        if one is None or pages is None or rows_found is None or not known(rows_found):
            continue
        ran = one.per_second * data.seconds
        mine = ran * pages
        if pages < max(LEAST_PAGES, PAGES_A_ROW * rows_found) or scans_of(data) * WHOLE_TIMES >= ran:
            continue
        if STATEMENT_PERCENT <= share_of(mine, read) <= 100.0 and share_of(mine, searches.number) >= SHARE_PERCENT:
            yield PoorIndex(one, data, pages, rows_found, share_of(mine, searches.number))
