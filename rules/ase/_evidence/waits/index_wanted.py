"""A statement of SAP ASE that waits for locks because it reads a table to find a row or two, and the index it wants.

A scan for changes asks for a lock at every row or page on its way, and waits at each that another session holds; so a
few such statements keep each other waiting, however short their transactions are. It is known by three figures of the
same interval: how many pages one execution reads, how many rows it changes, and how often a plan reached the table
without an index (`UsedCount` or `Scans` of index 0, `rules.ase._evidence.objects.scans`). The columns are those that
the text compares with a value; which of them choose few rows is in no export, so they are named and never ranked.
"""

import re
from dataclasses import dataclass

from collectors.facts import Facts, known
from collectors.facts.ase import MonCachedStatement, MonOpenObjectActivity
from collectors.statement_text import without_literals
from rules.ase._evidence.objects.indexes import beginning_with, indexes_of
from rules.ase._evidence.objects.scans import LEAST_PAGES, scans_of
from rules.ase._evidence.objects.seen import activity, table_key
from rules.ase._evidence.objects.statements import shown, tables_in
from rules.changes.quoting import is_plain

PAGES_A_ROW = 100.0
"""This project: pages read for each row that is found or changed, from which a statement looks for its rows."""
EACH_SCANS = 0.8
"""This project: uses of the table without an index for each execution, from which the statement is what scans it."""
WAITS_PERCENT = 30.0
"""This project: of the lock waits of all statements on the table since they were cached, that a scanning one has."""
MOST_COLUMNS = 3
"""This project: columns of an index that are named."""
FILTER = re.compile(r"\bwhere\b(?P<where>.*?)(?:\border\s+by\b(?P<order>.*))?\Z", re.IGNORECASE | re.DOTALL)
CHANGES = re.compile(r"\A\s*(?:update|delete)\b", re.IGNORECASE)
UNCLEAR = re.compile(r"\b(?:or|select|union|group)\b", re.IGNORECASE)
EQUALS = re.compile(r"(?<![\w@#$.(])(?:[A-Za-z_][\w#$]*\.)?(?P<column>[A-Za-z_][\w#$]*)\s*=\s*(?:\?|@)")
READS = re.compile(r"\A\s*select\b", re.IGNORECASE)
RANGE = re.compile(
    r"(?<![\w@#$.(])(?:[A-Za-z_][\w#$]*\.)?(?P<column>[A-Za-z_][\w#$]*)\s*(?:[<>]=?\s*|between\s+)(?:\?|@)",
    re.IGNORECASE,
)
WRAPPED = re.compile(
    r"\b(?P<function>upper|lower|ltrim|rtrim|str|abs|reverse|char_length|year|month)\s*\(\s*(?:[A-Za-z_][\w#$]*\.)?"
    r"(?P<column>[A-Za-z_][\w#$]*)\s*\)\s*=\s*(?:\?|@)",
    re.IGNORECASE,
)
"""A column inside a function of the server that gives the same for the same value, compared with a value."""
SORTED = re.compile(r"\s*(?:[A-Za-z_][\w#$]*\.)?(?P<column>[A-Za-z_][\w#$]*)(?:\s+asc)?\s*\Z", re.IGNORECASE)

INDEX = (
    "Give SSQLID {0} ({1}) an index: `create index <name> on {2} ({3})`, from its database, while nobody changes the "
    "table (or `with online`, from 15.7 SP100: no log dump is taken then until the database is dumped)."
)
INDEX_UNSAID = (
    "Give SSQLID {0} ({1}) an index on the columns by which it looks for its rows of {2}, made while nobody changes "
    "the table (or `with online`, from 15.7 SP100: no log dump is taken then until the database is dumped)."
)


@dataclass(frozen=True)
class IndexWanted:
    """A statement that scans a table, and the columns by which it looks for its rows."""

    statement: MonCachedStatement
    pages: float
    """That one execution reads."""
    scans: float | None
    """How often a plan reached the table without an index in the interval; `None`: not counted."""
    columns: tuple[str, ...]
    """None where its text does not say them plainly."""


def pages_each(row: MonCachedStatement) -> float | None:
    """Logical reads of one execution: of the interval where they are counted, else since it was cached."""
    if known(row.total_logical_reads) and known(row.executions) and row.executions > 0:
        return row.total_logical_reads / row.executions
    return row.mean_logical_reads if known(row.mean_logical_reads) else None


def columns_of(text: str) -> tuple[str, ...]:
    """The columns that a statement on one table compares with a value, then those it sorts by, as an index has them.

    Where it is a `select` that sorts by none, the first of a range ends them: an index reads on there.
    Empty where the text has another table, `or`, a query inside, or names that need quotes; also where it is cut there.
    """
    plain = without_literals(text)
    found = FILTER.search(plain)
    if not found or len(tables_in(text)) != 1 or UNCLEAR.search(found["where"]):
        return ()
    columns = [one["column"] for one in EQUALS.finditer(found["where"])]
    for piece in (found["order"] or "").split(",") if columns else ():
        by = SORTED.match(piece)
        if not by:
            break
        columns.append(by["column"])
    between = RANGE.search(found["where"]) if columns and not found["order"] and READS.match(text) else None
    columns = list(dict.fromkeys([*columns, *([between["column"]] if between else [])]))[:MOST_COLUMNS]
    return tuple(columns) if all(map(is_plain, columns)) else ()


def index_step(statement: MonCachedStatement, table: str, place: str, columns: tuple[str, ...]) -> str:
    """The index to make for a statement, as a sentence. `place`: its table with the database."""
    said = INDEX if columns and is_plain(table) else INDEX_UNSAID
    on = table if said == INDEX else place
    return said.format(statement.statement, shown(statement.text or "", 80), on, ", ".join(columns))


@dataclass(frozen=True)
class Wrapped:
    """A column that a statement compares inside a function, so that an index by the bare column is of no use."""

    function: str
    column: str

    @property
    def expression(self) -> str:
        """As a function-based index has it: the words of the statement (vendor: Commands 16.0, san1393050928803)."""
        return f"{self.function}({self.column})"


def wrapped_column(text: str) -> Wrapped | None:
    """The first such column of a statement on one table; `None` where it has none, or is not plain."""
    plain = without_literals(text)
    found = FILTER.search(plain)
    if not found or len(tables_in(text)) != 1 or UNCLEAR.search(found["where"]):
        return None
    one = WRAPPED.search(found["where"])
    return Wrapped(one["function"], one["column"]) if one and is_plain(one["column"]) else None


def index_wanted(
    facts: Facts, table: MonOpenObjectActivity, waits: float, statements: list[MonCachedStatement]
) -> IndexWanted | None:
    """The statement with most of the lock waits of a table, if it scans it; `None` where none is shown to.

    Where its waits were not collected, one that changes rows of the table and makes half of the reads of its data.
    `waits`: of the table in the interval. `statements`: those that name it and may have waited.
    """
    rows = [row for row in activity(facts) if row.of_interval and table_key(row) == table_key(table)]
    data = [row for row in rows if row.index_id == 0 and (known(row.scans) or known(row.used_count))]
    scans = sum(scans_of(row) for row in data) if data else None
    read = sum(row.logical_reads for row in data if known(row.logical_reads))
    for row in statements:
        pages, ran, waited = pages_each(row), row.executions, row.lock_waits
        if pages is None or not known(ran) or not row.of_interval or (known(waited) and 2 * waited < waits):
            continue
        if not known(waited) and not (read and CHANGES.match(row.text or "") and 2 * pages * ran >= read):
            continue
        changed = sum(count for one in rows for count in (one.rows_updated, one.rows_deleted) if known(count))
        if pages < LEAST_PAGES or pages * ran < PAGES_A_ROW * changed:
            continue
        if scans is None or scans >= EACH_SCANS * ran > 0:
            return IndexWanted(row, pages, scans, columns_of(row.text or ""))
    return _by_means(facts, table, scans or 0.0, read, statements)


def _by_means(
    facts: Facts, table: MonOpenObjectActivity, scans: float, read: float, statements: list[MonCachedStatement]
) -> IndexWanted | None:
    """The change that since it was cached scanned many rows for each it changed, where one snapshot alone lists it.

    Scans of so many pages must make half of the reads of the interval, and no index begin with a column it compares.
    """
    waited = {one.statement: one.lock_waits for one in statements if known(one.lock_waits)}
    for row in statements:
        pages, seen, changed = pages_each(row), row.mean_scan_rows, row.mean_write_rows
        if not known(changed):  # no fewer rows qualify than are changed
            changed = row.mean_read_rows
        if row.of_interval or not CHANGES.match(row.text or "") or not known(seen) or not known(changed):
            continue
        share = 100.0 * waited.get(row.statement, 0.0) / (sum(waited.values()) or 1.0)
        if pages is None or pages < LEAST_PAGES or not 0 < read <= 2 * pages * scans:
            continue
        if seen < PAGES_A_ROW * max(changed, 1.0) or share < WAITS_PERCENT:
            continue
        columns = columns_of(row.text or "")
        if not any(beginning_with(indexes_of(facts, table.object_name), one) for one in columns):
            return IndexWanted(row, pages, scans, columns)
    return None
