"""The information tables of Oracle Rdb, listed by SQL: what is set for a database, its storage areas and row caches.

Sample::

    SQL> SELECT RDB$AREA_ID, RDB$FLAGS, RDB$CACHE_ID, RDB$AREA_FILE, RDB$AREA_NAME FROM RDB$STORAGE_AREAS;
     RDB$AREA_ID     RDB$FLAGS   RDB$CACHE_ID
       RDB$AREA_FILE
       RDB$AREA_NAME
               3          4347              0
       DISK$LEDGER:[LEDGER]POSTINGS.RDA;1
       POSTINGS
    1 row selected

Three layouts: interactive SQL (`listing`), a table with dashes or a box as other clients and `manage.py collect` print
it, and separated values. Which table it is says the SELECT above it, else the columns. Columns are taken by name;
one that is not known is said once, and its values are not used.

RDB$STORAGE_AREAS, RDB$LOGICAL_AREAS and RDB$CACHES have the columns of the vendor's help. Those of the others were
never seen: what is understood of their names is tentative. No counters, no waits stand in any of them (rdb-rules.md 4
[V]).

SELECT COUNT(*) FROM a table, with its one figure below, is read beside a listing of RDB$LOGICAL_AREAS; where a table
was not counted, RDB$CARDINALITY of RDB$RELATIONS is taken for its rows (an estimate that Rdb keeps).

InterBase and Firebird have tables called RDB$ too; none of theirs has these names.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from collectors.facts.base import ABSENT, Reading, known
from collectors.facts.rdb import Database, DatabaseUse, LogicalArea, RowCache, StorageArea
from collectors.layouts import tables
from collectors.layouts.rdb_counts import counted
from collectors.layouts.tables import Row, Table
from collectors.registry import NotThisReport, Report, reading, report
from collectors.reports.rdb.information_tables import columns, listing

NAMES = "|".join(sorted(columns.TABLES, key=len, reverse=True))
TELLING = "|".join(sorted({*columns.FIRST, *(name for names in columns.TELLING.values() for name in names)}))
START = re.compile(
    rf"\bFROM\s+\"?RDB\$(?:{NAMES})\"?\s*(?:;|$|\bWHERE\b|\bORDER\b|\bLIMIT\b)"
    r"|\bSELECT\b.{0,200}\bRDB\$FILE_NAME\b.{0,200}\bFROM\s+\"?RDB\$DATABASE\"?\s*(?:;|$)"
    rf"|^[\s|\"]{{0,8}}RDB\$\w{{1,60}}\b.{{0,2000}}\bRDB\$(?:{TELLING})\b"
    rf"|^[\s|\"]{{0,8}}RDB\$(?:{TELLING})\b"
    r"|\bRDB\$CARDINALITY\b.{0,200}\bFROM\s+\"?RDB\$RELATIONS\b"
    r"|^[\s|\"]{0,8}RDB\$RELATION_NAME\b[\s|\"]{1,200}RDB\$CARDINALITY\b",
    re.IGNORECASE,
)
SELECT = re.compile(
    rf".{{0,300}}\bFROM\s+\"?RDB\$(?P<table>{NAMES}|DATABASE)\"?\s*(?:;|$|\bWHERE\b|\bORDER\b|\bLIMIT\b)", re.IGNORECASE
)
FRAME = re.compile(
    r"\s*[0-9]{1,9} rows? selected\b.*|\s*\([0-9]{1,9} rows? affected\)\s*"
    r"|\s*(?:SQL|cont)>.{0,300}|\s*(?:attach|set transaction|rollback|commit|select|from)\b.{0,300}",
    re.IGNORECASE,
)
ATTACH = re.compile(
    r"\s{0,20}(?:SQL>\s{0,20})?(?:attach|connect\s{1,9}to|disconnect|declare\s{1,9}(?:\w{1,60}\s{1,9})?alias)\b",
    re.IGNORECASE,
)
FILE_NAMED = re.compile(r"\bfilename\s{1,9}['\"]?(?P<root>[^\s'\";]{1,255})", re.IGNORECASE)
COLUMN = re.compile(r"[\s|\"]{0,8}RDB\$\w", re.IGNORECASE)
MOST_ROWS = 5_000
"""Rows of one table that become facts (this project's figure); databases have some hundreds of storage areas."""
TENTATIVE = "columns of RDB$DATABASE_ROOT, _JOURNAL and _USERS were understood by their names: hold them against RMU"
MOST_NAMED = 12


_Fact = Database | StorageArea | LogicalArea | RowCache | DatabaseUse


@dataclass
class _Found:
    """All tables of one listing, by name; the last one of a name counts."""

    tables: dict[str, Table] = field(default_factory=dict)
    root: str | None = None
    attached: str | None = None
    """What the session attached to: a root file, or a logical name of one."""
    rows: dict[str, float] = field(default_factory=dict)
    """Rows by table, as counted."""


@report(starts=START, provides=(Database, StorageArea, LogicalArea, RowCache, DatabaseUse))
def read(report: Report) -> Iterator[_Fact]:
    """Yield storage areas and row caches, then the database and its users."""
    every = [found for found in _walk(report) if found.tables]
    if not every:
        raise NotThisReport
    for found in every:
        if len(every) > 1:  # what is listed of one database says nothing of the next
            found.root = found.root or found.attached
        yield from _listed(report, found)


def _listed(report: Report, found: _Found) -> Iterator[_Fact]:
    caches = dict(_caches(report, found))
    yield from caches.values()
    areas = list(_areas(report, found, caches))
    yield from areas
    yield from _logical_areas(report, found)
    if columns.AREAS in found.tables:
        _unused(report, found.tables[columns.AREAS], ("AREA_ID", "FLAGS", "CACHE_ID", "AREA_NAME"), everything=True)
    yield from _database(report, found, areas)


def _walk(report: Report) -> list[_Found]:
    """Find every table and claim its lines; another set of tables for each database attached to."""
    found, said, index = _above(report), None, 0
    every = [found]
    while index < len(report.lines):
        line = report.lines[index]
        if ATTACH.match(line[:600]):
            found = _Found(attached=_file_named(line))
            every.append(found)
            report.claim(index)
        elif select := SELECT.match(line[:600]):
            said = select["table"].upper()
            report.claim(index)
        elif COLUMN.match(line) or (said and tables.BORDER.match(line)):
            table = _cut(report.lines, index)
            name = said or columns.table_of(list(table.columns))
            if name and any(bare.startswith("RDB$") for bare in map(str.upper, table.columns)):
                index = _keep(report, found, name, table)
                said = None
                continue
        elif rows := counted(report.lines, index):
            of, value, last = rows
            found.rows[of] = value
            report.claim(index, last)
            index = last
        elif FRAME.fullmatch(line[:600]):
            report.claim(index)
        index += 1
    return every


def _above(report: Report) -> _Found:
    """What stands above the first table: the last ATTACH, and rows that were counted since."""
    lines = list(report.before)
    at = next((index for index in reversed(range(len(lines))) if ATTACH.match(lines[index][:600])), None)
    found = _Found(attached=None if at is None else _file_named(lines[at]))
    for index in range(at or 0, len(lines)):
        if rows := counted(lines, index):
            found.rows[rows[0]] = rows[1]
            at = index if at is None else at
    if at is not None:
        report.above = len(lines) - at
    return found


def _file_named(line: str) -> str | None:
    found = FILE_NAMED.search(line[:600])
    return found["root"] if found else None


def _cut(lines: Sequence[str], at: int) -> Table:
    """Read the table that begins here, in whichever layout."""
    if not listing.is_heading(lines[at]):
        return tables.cut(lines, at)
    after = at + 1
    while after < len(lines) and after - at < listing.MOST_PARTS and listing.is_heading(lines[after]):
        after += 1
    if after < len(lines) and tables.is_dashes(lines[after]):
        return tables.cut(lines, at)
    return listing.cut(lines, at, len(lines))


def _keep(report: Report, found: _Found, name: str, table: Table) -> int:
    """Keep a table and claim what was read of it; gives the index of the line after it."""
    for index in table.frame:
        report.claim(index)
    for row in table.rows:
        if row.whole or row.cells:
            report.claim(row.first, row.last)
        if not row.whole:
            says = "a row of RDB$" + name + " that does not stand in its columns was not read whole"
            report.problem(f"{says}: list it with SET LINE LENGTH 512, or as separated values", row.first)
    if len(table.rows) > MOST_ROWS:
        report.problem(f"only the first {MOST_ROWS:,} of {len(table.rows):,} rows of RDB${name} were used", table.last)
    found.tables[name] = table
    if name == columns.FILE:
        found.root = next((text for row in table.rows if (text := row.get("RDB$FILE_NAME"))), None)
    return table.last + 1


def _rows(found: _Found, name: str) -> list[Row]:
    table = found.tables.get(name)
    return [row for row in table.rows[:MOST_ROWS] if row.cells] if table else []


def _caches(report: Report, found: _Found) -> Iterator[tuple[str, RowCache]]:
    """Row caches by their number (by their name where there is none)."""
    for row in _rows(found, columns.CACHES):
        if name := row.get("RDB$CACHE_NAME"):
            cache = RowCache(
                source=report.source(row.first, row.last),
                database=found.root,
                name=name,
                slots=reading(row.get("RDB$CACHE_SIZE")),
                row_bytes=reading(row.get("RDB$ROW_LENGTH")),
            )
            yield row.get("RDB$CACHE_ID") or name, cache


def _areas(report: Report, found: _Found, caches: dict[str, RowCache]) -> Iterator[StorageArea]:
    """Live storage areas; snapshot areas are known by their bit."""
    for row in _rows(found, columns.AREAS):
        flags = _flags(row.get("RDB$FLAGS"))
        name = row.get("RDB$AREA_NAME")
        if not name or (flags is not None and flags & columns.SNAPSHOT_BIT):
            continue
        cache = None
        if flags is not None and flags & columns.ROW_CACHE_BIT:
            number = row.get("RDB$CACHE_ID")
            cache = caches[number].name if number in caches else f"number {number}" if number else None
        yield StorageArea(
            source=report.source(row.first, row.last),
            database=found.root,
            name=name,
            number=reading(row.get("RDB$AREA_ID")),
            page_level_locking=None if flags is None else bool(flags & columns.PAGE_LEVEL_BIT),
            row_cache=cache,
        )


def _logical_areas(report: Report, found: _Found) -> Iterator[LogicalArea]:
    """Tables and indexes, without those of the system, each with the storage area it lies in."""
    listed = _rows(found, columns.LOGICAL)
    areas = Counter(row.get("RDB$LOGICAL_AREA_NAME").upper() for row in listed)
    for row in _rows(found, columns.RELATIONS):
        name, rows = row.get("RDB$RELATION_NAME"), reading(row.get("RDB$CARDINALITY"))
        if (
            name
            and known(rows)
            and rows >= 0
            and not name.upper().startswith("RDB$")
            and name.upper() not in found.rows
        ):
            yield LogicalArea(source=report.source(row.first, row.last), database=found.root, name=name, rows=rows)
    for row in listed:
        name = row.get("RDB$LOGICAL_AREA_NAME")
        if name and not name.upper().startswith("RDB$"):
            yield LogicalArea(
                source=report.source(row.first, row.last),
                database=found.root,
                name=name,
                number=reading(row.get("RDB$LOGICAL_AREA_ID")),
                area_number=reading(row.get("RDB$AREA_ID")),
                record_bytes=reading(row.get("RDB$RECORD_LENGTH")),
                rows=found.rows.get(name.upper(), ABSENT) if areas[name.upper()] == 1 else ABSENT,
            )


def _flags(text: str) -> int | None:
    value = reading(text)
    return int(value) if known(value) and value.is_integer() and 0 <= value < 1 << 32 else None


def _database(report: Report, found: _Found, areas: list[StorageArea]) -> Iterator[Database | DatabaseUse]:
    """The attributes; tentative where a name of a column was only understood."""
    values: dict[str, Any] = {}
    places: list[Row] = []
    for name in (columns.ROOT, columns.JOURNAL):
        if not (rows := _rows(found, name)):
            continue
        more, unused = _fields(rows[0], found.tables[name].columns)
        values = more | values
        places += [rows[0]] if more else []
        _unused(report, found.tables[name], tuple(set(map(columns.bare, found.tables[name].columns)) - set(unused)))
    users = _rows(found, columns.USERS)
    if values or users:
        report.tentative(TENTATIVE)
    places += _rows(found, columns.FILE)[:1]
    if areas and _is_whole(found.tables[columns.AREAS]):
        values["storage_areas"] = float(len(areas))
        places += _rows(found, columns.AREAS)
    if places and (values or found.root):
        first, last = min(row.first for row in places), max(row.last for row in places)
        yield Database(source=report.source(first, last), database=found.root, **values)
    if users:
        yield from _users(report, found, users)


def _is_whole(table: Table) -> bool:
    """Whether each row was read, so that they may be counted."""
    return len(table.rows) <= MOST_ROWS and all(row.whole for row in table.rows)


def _users(report: Report, found: _Found, rows: list[Row]) -> Iterator[DatabaseUse]:
    """One fact per node where a column names it, else one for all rows: whether they are of all nodes is not known."""
    name = next((one for one in found.tables[columns.USERS].columns if "NODE_NAME" in columns.bare(one)), "")
    nodes: dict[str, list[Row]] = {}
    for row in rows:
        nodes.setdefault(row.get(name).upper() if name else "", []).append(row)
    for node, own in nodes.items():
        where = report.source(own[0].first, own[-1].last)
        users = float(len(own))
        yield DatabaseUse(source=where, database=found.root, node=node or None, active_users=users)


def _fields(row: Row, names: Sequence[str]) -> tuple[dict[str, Any], list[str]]:
    """What one row of the root or the journal says, by field; and the columns that were not understood."""
    said: dict[str, Any] = {}
    unused = []
    for name in names:
        meant, text = columns.field_of(columns.bare(name)), row.get(name)
        value: Reading | bool | None = None
        if meant:
            value = columns.switch(text) if meant[1] == "switch" else reading(text)
        if meant and value is not None and value is not ABSENT:
            said.setdefault(meant[0], value)
        else:
            unused.append(columns.bare(name))
    return said, unused


def _unused(report: Report, table: Table, used: Sequence[str], *, everything: bool = False) -> None:
    """Say which columns were not used; `everything`: only where one that is wanted is missing."""
    names = [columns.bare(name) for name in table.columns]
    if everything:
        if missing := [name for name in used if name not in names]:
            says = f"no column {', '.join('RDB$' + name for name in missing)}: list it with SELECT *"
            report.problem(says, table.frame[0] if table.frame else None)
        return
    if left := [name for name in names if name not in used]:
        more = f" and {len(left) - MOST_NAMED} more" if len(left) > MOST_NAMED else ""
        listed = ", ".join(f"RDB${name}" for name in left[:MOST_NAMED])
        report.problem(f"not used: {listed}{more}", table.frame[0] if table.frame else None)
