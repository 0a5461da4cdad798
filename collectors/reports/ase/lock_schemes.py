"""Lock schemes of tables, and sizes of their indexes (a query of the system tables, or `sp_help <table>`).

Any result with a table's name and `lockscheme(id)` or `sysstat2` (ase-formats.md 3.5); with `IndexID` and `SizeKB`
each row is an index too::

     DBName OwnerName ObjectName ObjectID    LockScheme IndexID IndexName SizeKB
     ------ --------- ---------- ----------- ---------- ------- --------- -----------
     orders dbo       item         624002223 datarows         0 item           812416
     orders dbo       item         624002223 datarows         2 item_pk         96256

Without a column for it, the database is that of which an echoed question asks (`from orders..sysobjects`).
And from the text of `sp_help`, which names no database::

     Name Owner Object_type Object_status Create_date
     ---- ----- ----------- ------------- -------------------
     item dbo   user table   -- none --   Mar 12 2024  2:05PM
    …
    Lock scheme Datarows

     exp_row_size reservepagegap fillfactor max_rows_per_page identity_gap
     ------------ -------------- ---------- ----------------- ------------
                0              0          0                 0            0

* `sysstat2` is a signed number of 32 bits: of the bits in 57344, 0 or 8192 is allpages, 16384 datapages, 32768
  datarows; 131072 says that the table has a clustered or placement index. Its other bits mean other things, so it is
  masked and never compared. A listing of it without lockscheme and without type takes every row for a table.
* Views and procedures have no scheme (`not a table`, NULL): passed over. So is a row whose `type` is no table's.
* A system table is one of type `S`; where no type is listed, one with the name of a system table.
* `sp_help` prints the table with `identity_gap` below the scheme; above it is read, too. So are the indexes that it
  lists above the scheme, with their columns, and the type of the first one, or that there is none.
* An allpages table whose index 0 is listed is a heap, one whose index 1 is has a clustered index: `sysindexes` holds
  one of the two for it. Of the other schemes these numbers do not tell.
* Columns of rows and data pages (`row_count`, `data_pages`, under such headings as `rows`, `pages`) are read, too.
* `select name, lockscheme(id)` prints its second column without a heading: the echoed question says
  which it is.
* A column that the question calls `scheme` alone counts where its rows hold lock schemes.
* Beside `forwrowcnt` (a query of `systabstats`) each row counts the rows of its table as well.
* A scheme that `lockscheme` and `sysstat2` give differently is a problem; the word counts.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from collectors.facts import ABSENT
from collectors.facts.ase import IndexKeys, IndexSize, TableRows, TableScheme, WithoutIndexes
from collectors.layouts.ase_catalog import SCHEMES, clustered_of, database_asked, is_system, scheme_of
from collectors.layouts.ase_indexes import INDEXES_LISTED, index_of
from collectors.layouts.ase_table_rows import counted
from collectors.layouts.figures import decimal_comma, number, size
from collectors.layouts.tables import ECHOED, MOST_PARTS, Row, Table, cut
from collectors.registry import NotThisReport, Report, report

NAMES = ("ObjectName", "TableName", "Object_name", "Table", "Object", "Name")
SCHEME = ("LockScheme", "LockingScheme", "Scheme")
DATABASE = ("DBName", "Database", "Database_name", "Db")
OWNER = ("OwnerName", "Owner", "User_name", "UserName")
IDS = ("ObjectID", "Object_id", "TableID", "ID")
ROWS = ("Rows", "Rows_", "RowCount", "Row_count", "NumRows", "Num_rows")
PAGES = ("Pages", "Pages_", "DataPages", "Data_pages")
INDEX = ("IndexID", "Index_id", "indid")
KIND = ("Type", "ObjectType", "Object_type")
HEADING = re.compile(
    r"\b(?:object_?name|table_?name|name|table|object)\b.{0,400}\b(?:lock(?:ing)?_?scheme\b(?!=\w)|sysstat2\b)"
    r"|\block(?:ing)?_?scheme\b.{0,80}\b(?:object_?name|table_?name|name)\b",
    re.IGNORECASE,
)
"""No section of sp_object_stats, which heads a table with `Object Name: orders..item (…, lockscheme=Datapages)`."""
HELP = re.compile(r"^\W{0,9}Name[\s|]{1,300}Owner[\s|]{1,300}(?:Type|Object_type)\b", re.IGNORECASE)
PRINTED = re.compile(r"^\W{0,9}Lock scheme\s{1,9}(Allpages|Datapages|Datarows)\s*$", re.IGNORECASE)
SHORT = re.compile(
    r"^[\s|]{0,9}(?:object_?name|table_?name|name|table|object)(?:[\s|]{1,300}\w{1,30}){0,6}"
    r"[\s|]{1,300}scheme(?:[\s|]{1,300}\w{1,30}){0,8}[\s|]{0,300}$",
    re.IGNORECASE,
)
"""`scheme` alone is a lock scheme where the rows say so."""
START = re.compile(f"{HEADING.pattern}|{SHORT.pattern}|{HELP.pattern}|{PRINTED.pattern}", re.IGNORECASE)
ASKED = re.compile(r".{0,2000}\(", re.IGNORECASE)
"""A question that is echoed calls functions; no column is called so."""
COLUMNS = re.compile(r"^\W{0,9}Column_name[\s|]{1,300}Type\b", re.IGNORECASE)
NO_INDEX = re.compile(r"\W{0,9}Object does not have any indexes\b", re.IGNORECASE)
ATTRIBUTES = re.compile(r"\W{0,9}(?:exp_row_size|concurrency_opt_threshold)\b", re.IGNORECASE)
NOT_APPLICABLE = re.compile(r"\s*The attribute '\w{1,40}' is not applicable\b", re.IGNORECASE)
STOP = re.compile(
    rf"{PRINTED.pattern}|\s*Object has the following indexes\b|\s*go\s*$|\s*Name\s+Owner\s+(?:Type|Object_type)\b",
    re.IGNORECASE,
)
HEADING_LINES = 2 * MOST_PARTS
"""A heading and its dashes: a sentence that begins like one is not read to the end of the file for it."""
QUESTION = re.compile(
    r"\bselect\s{1,9}(?P<items>[^;]{1,300}?)\s{1,9}from\s{1,9}(?:[\w#$]{0,255}\.){0,2}sysobjects\b", re.IGNORECASE
)
BETWEEN = re.compile(r",(?![^(]*\))")
NO_NAME = re.compile(r"lockscheme\s*\([^)]*\)", re.IGNORECASE)
BELOW = 12
"""Lines from a question down to the heading of its answer, with those of other questions of the batch."""
REMEDY = "export it again in full (isql -w 1000)"


@report(starts=START, provides=(TableScheme, IndexSize, IndexKeys, TableRows, WithoutIndexes))
def read(report: Report) -> Iterator[TableScheme | IndexSize | IndexKeys | TableRows | WithoutIndexes]:
    """Yield one fact per table, and one per index where sizes are listed, or columns by `sp_help`."""
    tables = 0
    helped: Row | None = None
    said: list[TableScheme] = []
    gap: float | None = None
    types: dict[str, str] = {}
    since = index = 0
    while index < len(report.lines):
        line = report.lines[index]
        if printed := PRINTED.match(line):
            tables += 1
            yield from said
            said = _numbered(_printed(report, index, since, helped, printed[1].lower()), gap)
            helped = gap = None
        elif HELP.match(line):
            table = cut(report.lines, index, stop=STOP)
            helped = table.rows[0] if len(table.rows) == 1 else None
            since, gap, types = index, None, {}
            index = max(table.last, index)
        elif helped and COLUMNS.match(line):
            table = cut(report.lines, index, stop=STOP)
            types = {row.get("Column_name").lower(): _type(row) for row in table.rows if row.whole}
            index = max(table.last, index)
        elif helped and INDEXES_LISTED.search(line):
            table = cut(report.lines, index, stop=STOP)
            yield from _indexes(report, table, _name(helped), types)
            index = max(table.last, index)
        elif helped and NO_INDEX.match(line):
            yield WithoutIndexes(source=report.source(index), table=_name(helped))
        elif (HEADING.search(line) or SHORT.match(line)) and not ASKED.match(line) and not ECHOED.match(line):
            table = cut(report.lines, index, min(index + HEADING_LINES, len(report.lines)), STOP)
            short = SHORT.match(line) and not any(row.get("Scheme").lower() in SCHEMES for row in table.rows)
            if not short and any(table.has(name) for name in (*SCHEME, "sysstat2")):
                table = cut(report.lines, index, stop=STOP)
                tables += 1
                yield from _listed(report, table, index)
                index = max(table.last, index)
        elif found_question := QUESTION.search(line):
            answered = list(_answered(report, index, found_question["items"]))
            tables += bool(answered)
            yield from answered
        elif ATTRIBUTES.match(line):
            table = cut(report.lines, index, stop=STOP)
            report.claim(index, table.last)
            found = number(table.rows[0].get("identity_gap")) if len(table.rows) == 1 else None
            if helped:  # its lock scheme is still to come
                gap = gap if found is None else found
            else:
                said = _numbered(said, found)
            index = max(table.last, index)
        elif NOT_APPLICABLE.match(line):
            report.claim(index)
        index += 1
    yield from said
    if not tables:
        raise NotThisReport


def _answered(report: Report, question: int, items: str) -> Iterator[TableScheme]:
    """The rows of a question whose `lockscheme(id)` has no heading; none where its answer does not stand below it."""
    asked = [one.strip() for one in BETWEEN.split(items)]
    at = next((place for place, one in enumerate(asked) if NO_NAME.fullmatch(one)), None)
    name = next((place for place, one in enumerate(asked) if one.lower() == "name"), None)
    lines = report.lines
    for rule in range(question + 2, min(question + BELOW, len(lines))) if None not in (at, name) else ():
        spans = [found.span() for found in re.finditer("-+", lines[rule])]
        if lines[rule].strip(" -") or len(spans) != len(asked) or lines[rule - 1].split()[:1] != ["name"]:
            continue
        report.claim(rule - 1, rule)
        for row in range(rule + 1, len(lines)):
            cells = [lines[row][start:end].strip() for start, end in spans]
            if name is None or at is None or not cells[name] or cells[at].lower() not in SCHEMES:
                return
            report.claim(row)
            yield TableScheme(
                source=report.source(row),
                database=database_asked(lines, rule - 1),
                table=cells[name],
                scheme=cells[at].lower(),
                system=is_system(cells[name]),
            )
        return


def _numbered(said: Iterable[TableScheme], gap: float | None) -> list[TableScheme]:
    """The same with the gap that `sp_help` prints below or above the scheme."""
    return [one if gap is None else replace(one, identity_gap=gap) for one in said]


def _name(helped: Row) -> str:
    return helped.get("Name") or next(iter(helped.text.split()), "")


def _type(row: Row) -> str:
    return "identity" if row.get("Identity") == "1" else row.get("Type").lower()


def _indexes(report: Report, table: Table, name: str, types: Mapping[str, str]) -> Iterator[IndexKeys]:
    """The indexes that `sp_help` lists; its lines are claimed with the lock scheme below them."""
    for row in table.rows:
        where = report.source(row.first, row.last)
        for one in index_of(row, table):
            yield replace(one, table=name or None, first_type=types.get("".join(one.columns[:1]), ""), source=where)


def _printed(report: Report, index: int, since: int, helped: Row | None, scheme: str) -> Iterator[TableScheme]:
    """The scheme that `sp_help` prints; what it prints above of columns and keys was understood and is not needed."""
    report.claim(index)
    name = _name(helped) if helped else ""
    if helped is None or not name:
        report.problem("nothing tells whose lock scheme this is: export sp_help from its first line on", index)
        return
    report.claim(since, index)
    kind = helped.get("Type", "Object_type").lower() or helped.text.lower()
    yield TableScheme(
        source=report.source(helped.first, index),
        owner=helped.get("Owner") or None,
        table=name,
        scheme=scheme,
        system="system table" in kind or (not helped.cells and is_system(name)),
    )


def _listed(report: Report, table: Table, heading: int) -> Iterator[TableScheme | IndexSize | TableRows]:
    for index in table.frame:
        report.claim(index)
    if not table.rows:
        report.problem(f"a heading without rows below it: {REMEDY}", heading)
    asked = database_asked(report.lines, heading)
    comma = decimal_comma(row.get("SizeKB", "Size_KB") for row in table.rows)
    schemes: dict[tuple[str | None, str | None, str, int | None], TableScheme] = {}
    sizes: list[IndexSize] = []
    indexes: dict[tuple[str | None, str | None, str, int | None], set[float | None]] = {}
    for row in table.rows:
        report.claim(row.first, row.last)
        name = row.get(*NAMES)
        if not name or not (row.whole or row.get(*SCHEME)):
            report.problem(f"this row is cut short or damaged and was not read: {REMEDY}", row.first)
            continue
        kind = row.get(*KIND).upper()
        if kind and kind not in ("U", "S", "USER TABLE", "SYSTEM TABLE"):
            continue
        fact = _scheme(report, row, name, kind)
        if fact is None:
            continue
        fact = fact if fact.database else replace(fact, database=asked)
        key = (fact.database, fact.owner, fact.table, fact.object_id)
        schemes.setdefault(key, fact)
        indexes.setdefault(key, set()).add(number(row.get(*INDEX)))
        sizes += _size(report, row, fact, comma=comma)
        if table.has("forwrowcnt"):
            found = (one for one in counted(row, table) if isinstance(one, TableRows))
            yield from (replace(one, source=fact.source) for one in found)
    for key, fact in schemes.items():
        yield replace(fact, clustered=_clustered(fact, indexes[key]))
    yield from sizes


def _clustered(fact: TableScheme, indexes: set[float | None]) -> bool | None:
    """Whether a table has a clustered index, by its bits, else by the numbers of the indexes listed of it."""
    if fact.clustered is not None or fact.scheme != "allpages":
        return fact.clustered
    return None if (0 in indexes) is (1 in indexes) else 1 in indexes


def _scheme(report: Report, row: Row, name: str, kind: str) -> TableScheme | None:
    """What a row says of its table; `None` for what is no table."""
    word, bits = row.get(*SCHEME).lower(), number(row.get("sysstat2"))
    by_bits = scheme_of(int(bits)) if bits is not None else None
    if word and word not in SCHEMES:
        if word not in ("not a table", "null"):
            report.problem(f"`{word[:40]}` is no lock scheme: not read", row.first)
        return None
    if word and by_bits and word != by_bits:
        told = f"lockscheme says {word} and sysstat2 {by_bits}: the word was taken"
        report.problem(told, row.first)
    scheme = word or by_bits
    if scheme is None:
        report.problem(f"no lock scheme can be read of `{name[:80]}`: {REMEDY}", row.first)
        return None
    object_id = number(row.get(*IDS))
    return TableScheme(
        source=report.source(row.first, row.last),
        database=_word(row.get(*DATABASE)),
        owner=_word(row.get(*OWNER)),
        table=name,
        object_id=None if object_id is None else int(object_id),
        scheme=scheme,
        system=kind.startswith("S") if kind else is_system(name),
        rows=ABSENT if (rows := number(row.get(*ROWS))) is None else rows,
        pages=ABSENT if (pages := number(row.get(*PAGES))) is None or number(row.get(*INDEX)) else pages,
        clustered=None if bits is None else clustered_of(int(bits)),
    )


def _size(report: Report, row: Row, of: TableScheme, *, comma: bool) -> Iterator[IndexSize]:
    """The size of the index a row lists; none where it lists no index."""
    index_id = number(row.get(*INDEX))
    if index_id is None:
        return
    yield IndexSize(
        source=report.source(row.first, row.last),
        database=of.database,
        owner=of.owner,
        table=of.table,
        object_id=of.object_id,
        index_id=int(index_id),
        index_name=_word(row.get("IndexName", "Index_name")),
        size_kb=size(row.get("SizeKB", "Size_KB"), "k", comma=comma),
        system=of.system,
    )


def _word(text: str) -> str | None:
    return text if text and text.upper() != "NULL" else None
