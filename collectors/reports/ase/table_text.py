"""The indexes of tables by the statements that made them: a script, or what `ddlgen` writes.

As they were made::

    create table pulse (
        pulse_no bigint identity,
        sensor   int         not null,
        seen_at  bigdatetime not null
    ) lock datarows
    go
    create unique index pulse_in on pulse (pulse_no)
    go

* A statement ends at `go`. What a script says may have been changed since, so no lock scheme is taken from it.
* Of `create table` the types of the columns are read, and the keys that it declares: `primary key` and `unique` are
  indexes, named where the script names them.
* Without a lock scheme of SAP ASE anywhere in it, or without `go`, a text may be of another product and is left alone.
* Only statements that begin their lines are taken, so a table that a procedure makes for itself is none of them.
"""

import re
from collections.abc import Iterator
from itertools import takewhile

from collectors.facts.ase import IndexKeys
from collectors.registry import NotThisReport, Report, report
from collectors.statement_text import pieces

WORD = r"(?:[\w#$]{1,255}|\"[\w#$]{1,255}\"|\[[\w#$]{1,255}\])"
NAME = rf"(?:{WORD}?\.){{0,2}}(?P<table>{WORD})"
INDEX = (
    rf"create\s{{1,9}}(?P<unique>unique\s{{1,9}})?(?P<kind>(?:non)?clustered\s{{1,9}})?index\s{{1,9}}(?P<index>{WORD})"
)
START = re.compile(
    rf"create\s{{1,9}}(?:table\s{{1,9}}{NAME}\s{{0,9}}(?:\(|$)|(?:unique\s|(?:non)?clustered\s|index\s))", re.IGNORECASE
)
TABLE = re.compile(rf"create\s{{1,9}}table\s{{1,9}}{NAME}\s{{0,99}}\(", re.IGNORECASE)
INDEXED = re.compile(rf"{INDEX}\s{{1,99}}on\s{{1,9}}{NAME}\s{{0,99}}\((?P<keys>[^()]{{1,4000}})\)", re.IGNORECASE)
GO = re.compile(r"\s*go\s*$", re.IGNORECASE)
ABOVE = re.compile(r"\s*(?:(?:use\s+[\w#$]+|go)?\s*$|--)", re.IGNORECASE)
OURS = re.compile(r"\block\s{1,9}(?:datarows|datapages|allpages)\b", re.IGNORECASE)
COLUMN = re.compile(rf"(?P<name>{WORD})\s+(?P<type>[a-z_]\w{{0,99}})", re.IGNORECASE)
KEY = re.compile(
    rf"(?:constraint\s+(?P<index>{WORD})\s+)?\b(?P<what>primary\s+key|unique)\b\s*(?P<kind>(?:non)?clustered)?\s*"
    r"(?:\((?P<keys>[^()]{1,4000})\))?",
    re.IGNORECASE,
)
BESIDE = re.compile(r"/\*.*?\*/|--[^\n]*|'[^']*'", re.DOTALL)
"""Comments and values."""
UNNAMED = "(unnamed key)"
QUOTES = re.compile(r"[\[\]\"]")


@report(starts=START, provides=(IndexKeys,))
def read(report: Report) -> Iterator[IndexKeys]:
    """Yield one fact per index or declared key."""
    ends = [at for at, line in enumerate(report.lines) if GO.match(line)]
    if not ends or not any(OURS.search(line) for line in report.lines):
        raise NotThisReport
    report.above = len(list(takewhile(ABOVE.match, reversed(report.before))))
    first, types = 0, dict[str, dict[str, str]]()
    for end in ends:
        text = BESIDE.sub(" ", "\n".join(report.lines[first:end]))
        found, source = list(_of_statements(text, types)), report.source(first, end)
        if found or TABLE.match(text.lstrip()):
            report.claim(first, end)
        for index, table, keys, unique, clustered in found:
            column = QUOTES.sub("", keys.split(",")[0].split()[0]).lower() if keys.strip(" ,") else ""
            yield IndexKeys(
                table=table,
                index=index,
                keys=" ".join(QUOTES.sub("", keys).split()),
                unique=unique,
                clustered=clustered,
                first_type=types.get(table.lower(), {}).get(column, ""),
                source=source,
            )
        first = end + 1


def _of_statements(text: str, types: dict[str, dict[str, str]]) -> Iterator[tuple[str, str, str, bool, bool]]:
    """Index, table, columns, unique and clustered of each index in one batch; the types of its columns are noted."""
    tables = list(TABLE.finditer(text))
    for made, after in zip(tables, [*(one.start() for one in tables[1:]), len(text)], strict=False):
        table = QUOTES.sub("", made["table"])
        of_table = types.setdefault(table.lower(), {})
        for piece in pieces(text[made.end() : after]):
            column, key = COLUMN.match(piece), KEY.search(piece)
            own = bool(KEY.match(piece))
            if column and not own:
                numbers = re.search(r"\bidentity\b", piece, re.IGNORECASE)
                of_table[QUOTES.sub("", column["name"]).lower()] = "identity" if numbers else column["type"].lower()
            keys = key["keys"] or (column["name"] if column and not own else "") if key else ""
            if key and keys:
                kind, primary = (key["kind"] or "").lower(), key["what"].lower().startswith("primary")
                name = QUOTES.sub("", key["index"]) if key["index"] else UNNAMED
                yield name, table, keys, True, kind == "clustered" or (primary and not kind)
    for made in INDEXED.finditer(text):
        index, table = QUOTES.sub("", made["index"]), QUOTES.sub("", made["table"])
        kind = (made["kind"] or "").strip().lower()
        yield index, table, made["keys"], bool(made["unique"]), kind == "clustered"
