"""Which table of SAP ASE the lock promotions are of, by counts alone: sp_sysmon names none.

Three counts have to agree. Most lock waits of the sample are for table locks, or for intent locks, which only table
locks hold up. One table has most of the lock waits that are booked to tables, and as many rows of it were changed as so
many promotions need. And a statement changes more rows of it at once than the HWM, and ran at least about as often as
locks were promoted. Where no tables are listed the statement has to have run about as often, or where no statement is
known the table has to be there. That it is this table is this project's conclusion.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Fact, Facts, Source, known
from collectors.facts.ase import LockRequests, MonCachedStatement, SysmonSample, TableScheme
from rules.ase._evidence.objects.seen import activity, databases, schemes, table_key
from rules.ase._evidence.objects.statements import shown, tables_in
from rules.ase._evidence.waits.promotion import KIND_OF, promoted, promotions, thresholds_of
from rules.ase._evidence.waits.tables import TABLE_FACTS, Waiting, waiting_tables
from rules.changes.ase_promotion import PROCEDURES

PROMOTED_TABLE_FACTS: tuple[type[Fact], ...] = (
    *TABLE_FACTS,
    LockRequests,
    MonCachedStatement,
    SysmonSample,
    TableScheme,
)
ALTERS = re.compile(r"\A\s*(?:update|delete)\b", re.IGNORECASE)
"""What locks rows by a scan, so that their locks can be promoted."""
MOST_PERCENT = 50.0
"""This project: the table must have more of the lock waits of all tables."""
AS_OFTEN = 0.8
"""This project: executions for each promotion, as the two are counted over moments that differ a little."""


@dataclass(frozen=True)
class TableLocks:
    """The lock waits of a sample of sp_sysmon that are for whole tables."""

    waits: float
    all_waits: float
    seconds: float
    source: Source


@dataclass(frozen=True)
class Promoted:
    """The table, and the statement that most likely has its locks promoted."""

    scheme: TableScheme
    """Of what the export says; its scheme may be concluded from the kind of locks that are promoted."""
    table: Waiting | None
    statement: MonCachedStatement | None
    rows: float
    """That one execution of it changes; 0: no statement is known."""

    @property
    def name(self) -> str:
        """The table, as it is written."""
        return f"{self.scheme.database or '?'}.{self.scheme.owner or ''}.{self.scheme.table}"

    @property
    def text(self) -> str:
        """The statement, quoted."""
        return shown(self.statement.text or "", 60) if self.statement else ""


def table_locks(facts: Facts) -> TableLocks | None:
    """Waits for table and intent locks, where most lock waits of the sample are for them; else `None`."""
    latest = {one.lock_type: one for one in facts.every(LockRequests) if known(one.waited)}
    own = [one for kind, one in latest.items() if kind.endswith((" Intent", " Table"))]
    waits, whole = (sum(one.waited for one in rows if known(one.waited)) for rows in (own, latest.values()))
    seconds = next((one.seconds for one in reversed(facts.every(SysmonSample)) if one.seconds), None)
    if not own or not seconds or 2 * waits <= whole:
        return None
    return TableLocks(waits, whole, seconds, max(own, key=lambda one: one.waited if known(one.waited) else 0.0).source)


def promoted_table(facts: Facts, many: float, kind: str) -> Promoted | None:
    """The table whose locks of this kind (`row`, `page`) were promoted as many times; `None` where counts disagree."""
    now = thresholds_of(facts, kind)
    if now is None:
        return None
    first = next(iter(waiting_tables(facts)), None)
    if first and (first.system or first.share <= MOST_PERCENT or _changed(facts, first) < many * now.hwm):
        return None
    listed = schemes(facts).get(table_key(first.row)) if first else None
    if listed and KIND_OF.get(listed.scheme) != kind:
        return None
    large = [
        one for one in _large(facts, now.hwm) if AS_OFTEN * many <= one.runs and (first or one.runs * AS_OFTEN <= many)
    ]
    large = [one for one in large if first is None or one.table == _names(first)]
    tables = {one.table for one in large}
    if len(tables) != 1 and first is None:
        return None
    best = max(large, key=lambda one: (-abs(one.runs - many), one.rows), default=None)
    if first and first.row.object_name:
        place = (first.row.database, first.row.owner, first.row.object_name, first.row.source)
    elif best:
        place = (best.database, None, best.written, best.fact.source)
    else:
        return None
    scheme = listed or TableScheme(
        source=place[3],
        database=place[0],
        owner=place[1],
        table=place[2],
        scheme="datarows" if kind == "row" else "datapages",
    )
    return Promoted(scheme, first, best.fact if best else None, best.rows if best else 0.0)


def by_counts(facts: Facts) -> TableScheme | None:
    """The first table, where no listing has it and a statement fits most promotions of the sample; else `None`."""
    every = promoted(promotions(facts))
    kind = next((one for one in PROCEDURES if 2 * promoted(promotions(facts, one)) > every), "")
    found = promoted_table(facts, promoted(promotions(facts, kind)), kind) if kind and table_locks(facts) else None
    return found.scheme if found and found.table and found.statement else None


@dataclass(frozen=True)
class _Large:
    fact: MonCachedStatement
    database: str | None
    written: str
    rows: float
    runs: float

    @property
    def table(self) -> tuple[str, str]:
        return (self.database or "").lower(), self.written.lower()


def _names(table: Waiting) -> tuple[str, str]:
    return (table.row.database or "").lower(), (table.row.object_name or "").lower()


def _large(facts: Facts, hwm: int) -> Iterator[_Large]:
    """Statements that change more rows of their one table at once than the HWM."""
    names = databases(facts)
    for row in {(one.instance, one.statement, one.cached): one for one in facts.every(MonCachedStatement)}.values():
        rows = [one for one in (row.mean_write_rows, row.max_write_rows) if known(one)]
        found = tables_in(row.text or "")
        if not row.believed or not ALTERS.match(row.text or "") or len(found) != 1 or not known(row.executions):
            continue
        ((database, table),) = found
        if rows and max(rows) > hwm and table:
            yield _Large(row, database or row.database or names.get(row.db_id or 0), table, rows[0], row.executions)


def _changed(facts: Facts, table: Waiting) -> float:
    """Rows of it that were changed in the interval; endless where no export counts them."""
    rows = [one for one in activity(facts) if table_key(one) == table_key(table.row) and one.rows_changed is not None]
    return sum(one.rows_changed or 0.0 for one in rows) if rows else float("inf")
