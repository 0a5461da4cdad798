"""The cached statement of SAP ASE that most of the engines' work is, and the table that it scans.

By `monCachedStatement`, of which two snapshots count the executions of an interval. Where one alone was collected, a
statement that reads the whole of a table is taken to have run as often as that was scanned (`monOpenObjectActivity`).
"""

from dataclasses import dataclass

from collectors.facts import Fact, Facts, known
from collectors.facts.ase import CachePool, IndexKeys, MonCachedStatement, MonOpenObjectActivity
from rules.ase._evidence.caches.contents import CONTENT_FACTS
from rules.ase._evidence.objects.costliest import LEAST_PERCENT
from rules.ase._evidence.objects.indexes import beginning_with, indexes_of
from rules.ase._evidence.objects.scans import LEAST_PAGES, WHOLE_TIMES, Scanned, scanned, scans_of
from rules.ase._evidence.objects.seen import activity, is_system, name_of, sizes
from rules.ase._evidence.objects.statement_cpu import Worked, worked
from rules.ase._evidence.objects.statements import STATEMENT_FACTS, naming, shown, tables_in
from rules.ase._evidence.server import busy_of, page_kb
from rules.ase._evidence.waits.index_wanted import columns_of, pages_each
from rules.changes.quoting import bare_table, comment
from rules.finding import Evidence

CACHED_FACTS: tuple[type[Fact], ...] = (*CONTENT_FACTS, *STATEMENT_FACTS, CachePool, IndexKeys)
LOOKED_AT = 5
"""Tables, by the pages that their scans read, whose statements are looked for."""
TEXT = 80
"""Characters of the statement that are shown."""


@dataclass(frozen=True)
class CachedCostliest:
    """One statement of the statement cache with what it took, and the table it scans where that is shown."""

    worked: Worked
    table: MonOpenObjectActivity | None = None
    columns: tuple[str, ...] = ()
    """By which an index is wanted; none where its text does not say it plainly, or an index begins so."""
    unserved: bool = False
    """Whether its one table was scanned, however large it is, and no index is listed that begins with a column by which
    it looks for its rows."""

    @property
    def name(self) -> str:
        """`SSQLID 1711200144`."""
        return f"SSQLID {self.worked.statement.statement}"

    @property
    def share(self) -> str:
        """Of the engines' work; at most, where others may have scanned the table, too."""
        return f"{'up to ' if self.worked.by_scans else ''}{self.worked.percent:.0f} %"

    @property
    def title(self) -> str:
        """What a title adds."""
        scans = f" scans {name_of(self.table)}," if self.table else " takes"
        return f"; {self.name}{scans} {self.share} of their work"

    @property
    def says(self) -> str:
        """The statement with its text and figures, as a clause."""
        text, pages = self.worked.statement.text, pages_each(self.worked.statement)
        scans = f"; it scans {name_of(self.table)}, {pages:,.0f} pages each time" if self.table and pages else ""
        scans += " (taken to run as often as that is scanned)" if self.worked.by_scans else ""
        return (
            f"{self.name}{f' ({shown(text, TEXT)})' if text else ''} takes {self.share} of what the "
            f"engines worked, {self.worked.per_second:,.1f} a second of {self.worked.milliseconds:,.0f} ms each{scans}"
        )

    @property
    def step(self) -> str:
        """What to do first, as a sentence."""
        if self.table and self.columns:
            on = f"{bare_table(self.table.object_name or '')} ({', '.join(self.columns)})"
            where = comment(self.table.database or "?", 60)
            return f"First give {self.name} an index: `create index <name> on {on}`, in {where}."
        if self.table:
            return (
                f"First tune {self.name}: an index of {name_of(self.table)} for its where clause, or a narrower query."
            )
        row = self.worked.statement
        found, columns = tables_in(row.text or ""), columns_of(row.text or "")
        pages = pages_each(row)
        if len(found) == 1 and columns and self.unserved and pages is not None and pages >= LEAST_PAGES:
            ((database, table),) = found
            on, home = f"{bare_table(table or '')} ({', '.join(columns)})", database or row.database
            where = f", in {comment(home, 60)}" if home else ""
            return (
                f"First look at the plan of {self.name}, which reads {pages:,.0f} pages each time, and give it an "
                f"index where none begins so (sp_helpindex): `create index <name> on {on}`{where}."
            )
        return f"First tune {self.name}: its plan, an index for its where clause, or fewer executions."

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """Its share of the work, with its text."""
        row = self.worked.statement
        text = (Evidence(f"text of statement {row.statement}", shown(row.text), "", row.source),) if row.text else ()
        what = f"share of statement {row.statement} in the engines' work"
        scans = f"scans of {name_of(self.table)}" if self.table else ""
        counted = (Evidence(scans, scans_of(self.table), "", self.table.source),) if self.table else ()
        return (Evidence(what, round(self.worked.percent, 1), "%", row.source, LEAST_PERCENT), *text, *counted)


def costliest_cached(facts: Facts) -> CachedCostliest | None:
    """The one that took most, if that is a large part of the engines' work; `None` where none is shown to."""
    page, known_sizes = page_kb(facts), sizes(facts)
    rows = [one for one in activity(facts) if one.index_id == 0 and scans_of(one) > 0 and not is_system(one)]
    tables = [table for row in rows if (table := scanned(facts, row, known_sizes, page))]
    tables = [table for table in tables if table.whole and table.mean_pages >= LEAST_PAGES]
    found = []
    for table in sorted(tables, key=lambda one: -one.pages)[:LOOKED_AT]:
        if top := scanning_most(facts, table):
            columns = columns_of(top.statement.text or "")
            if columns and beginning_with(indexes_of(facts, table.row.object_name), columns[0]):
                columns = ()  # something else keeps it from being used
            found.append(CachedCostliest(top, table.row, columns))
    listed = {(row.instance, row.statement, row.cached): row for row in facts.every(MonCachedStatement)}
    found += [
        CachedCostliest(one, unserved=_unserved(facts, row))
        for row in listed.values()
        if row.believed and (one := worked(facts, row))
    ]
    most = max(found, key=lambda one: (one.worked.engines, one.table is not None), default=None)
    return most if most and most.worked.percent >= LEAST_PERCENT else None


def _unserved(facts: Facts, row: MonCachedStatement) -> bool:
    names, columns = tables_in(row.text or ""), columns_of(row.text or "")
    scanned_ones = {
        (one.object_name or "").lower() for one in activity(facts) if one.index_id == 0 and scans_of(one) > 0
    }
    served = any(beginning_with(indexes_of(facts, name), column) for _, name in names for column in columns)
    return not served and any((name or "").lower() in scanned_ones for _, name in names)


def scanning_most(facts: Facts, table: Scanned) -> Worked | None:
    """The statement whose scans of this table are most of the engines' work; `None` where none is known to scan it."""
    named = naming(facts, [(table.row.database, table.row.object_name)])
    rows = [row for row in named if _scans(row, table)]
    counted = [one for row in rows if (one := worked(facts, row))]
    if not counted and len(rows) == 1 and (one := _as_often(facts, rows[0], table)):
        return one
    return max(counted, key=lambda one: one.engines, default=None)


def _scans(row: MonCachedStatement, table: Scanned) -> bool:
    """Whether an execution reads about what a scan of the table does."""
    pages = pages_each(row)
    return pages is not None and pages * WHOLE_TIMES >= table.mean_pages


def _as_often(facts: Facts, row: MonCachedStatement, table: Scanned) -> Worked | None:
    """The one statement that reads so much of the table, as if it had run once for each of its scans."""
    number, busy = busy_of(facts, interval=True)
    each, seconds, pages = row.mean_cpu_milliseconds, table.row.seconds, pages_each(row)
    if row.of_interval or not table.row.of_interval or not seconds or not number or not busy:
        return None
    if not known(each) or each <= 0 or pages is None or pages > WHOLE_TIMES * table.mean_pages:
        return None
    found = Worked(row, table.scans / seconds, each, number * busy / 100.0, by_scans=True)
    return found if found.percent <= 100.0 else None
