"""Which program reads a table of SAP ASE at one moment, with its statement and the columns it looks for its rows by.

`monProcessObject` ties the running statement of a session to a table, `monProcessSQLText` has its text and `monProcess`
says whose session it is. Only who makes nearly all of the reads seen at that moment is named, and only where it reads
the table itself and no index of it.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Fact, Facts, Reading, known
from collectors.facts.ase import (
    IndexKeys,
    MonCachedStatement,
    MonOpenObjectActivity,
    MonProcess,
    MonProcessObject,
    MonProcessSQLText,
)
from rules.ase._evidence.objects.indexes import beginning_with, index_evidence, indexes_of, say_indexes
from rules.ase._evidence.objects.seen import name_of, place_of
from rules.ase._evidence.objects.sessions import Program, programs, say_spids
from rules.ase._evidence.objects.statements import shown, tables_in
from rules.ase._evidence.waits.index_wanted import PAGES_A_ROW, columns_of, pages_each
from rules.changes.quoting import bare_table
from rules.finding import Evidence

READING_FACTS: tuple[type[Fact], ...] = (
    *(IndexKeys, MonCachedStatement, MonProcess, MonProcessObject, MonProcessSQLText),
)
"""What a rule declares that asks for it."""
MOST_PERCENT = 80.0
"""This project: of the reads that are seen at the moment, from which on one table and one program make them."""
BATCH = 90
"""Characters of the statement that are shown."""

LONGEST = 300
"""Characters of what to do from which on the indexes that are there stand in the evidence alone."""


@dataclass(frozen=True)
class ReadingNow:
    """Sessions of one program that scan one table."""

    program: Program
    table: MonOpenObjectActivity
    text: str
    """Of one of them, quoted and without its values; empty: not collected."""
    columns: tuple[str, ...]
    """That the text compares with a value; empty where it does not say them plainly."""
    indexes: tuple[IndexKeys, ...]
    """Of a table of this name; empty: not collected."""
    few: MonCachedStatement | None = None
    """The cached statement on this table alone that reads most, where it reads many pages for each row it finds."""

    @property
    def lacks_index(self) -> bool:
        """Whether its indexes were collected and none begins with the first of these columns.

        Without them: whether the statement finds few rows in very many pages, which no index of its columns would.
        """
        listed = list(self.indexes)
        if self.columns and listed:
            return beginning_with(listed, self.columns[0]) is None
        return bool(self.columns) and self.few is not None

    @property
    def says(self) -> str:
        """What to do about it, as one or two sentences."""
        spids = say_spids(self.program.sessions)
        who = f"{self.program.name}, SPID {spids}{f', running {self.text}' if self.text else ''}"
        table = bare_table(self.table.object_name or "")
        have = f"; those it has are {say_indexes(list(self.indexes))}" if self.indexes else ""
        index = (
            f"`create index <name> on {table}({', '.join(self.columns)})`, if that finds few rows{have}"
            if self.columns
            else f"an index for the where clause{have}"
        )
        said = f"First an index for {who}: {index}."
        return said if len(said) <= LONGEST else said.replace(have, "")

    @property
    def evidence(self) -> Iterator[Evidence]:
        """What its sessions read by then, and the indexes."""
        if self.program.reads is not None:
            metric = f"logical reads of {name_of(self.table)} by {self.program.name}, running now"
            yield Evidence(metric, self.program.reads, "pages", self.program.source)
        if self.few and (pages := pages_each(self.few)) and known(self.few.mean_read_rows):
            name, source = f"of one execution of statement {self.few.statement}", self.few.source
            yield Evidence(f"logical reads {name}", round(pages), "pages", source)
            yield Evidence(f"rows found {name}", self.few.mean_read_rows, "rows", source)
        yield from index_evidence(list(self.indexes))


def reading_now(facts: Facts, table: MonOpenObjectActivity) -> ReadingNow | None:
    """The program whose sessions scan this table and make nearly all reads of that moment; `None` where none does."""
    place = (table.database, table.object_name)
    latest = {(one.spid, one.kpid, place_of(facts, one), one.index_id): one for one in facts.every(MonProcessObject)}
    whole = sum(_count(one.logical_reads) for one in latest.values())
    mine = [one for (_, _, where, index), one in latest.items() if where == place and index <= 1]
    first = next(iter(programs(facts, [place])), None)
    if not whole or first is None or not (first.application or first.login):
        return None
    scanned = sum(_count(one.logical_reads) for one in mine if (one.spid, one.kpid) in first.sessions)
    if 100.0 * scanned < MOST_PERCENT * whole:
        return None
    text = _text(facts, first, table.object_name or "")
    indexes = tuple(indexes_of(facts, table.object_name))
    few = _for_few(facts, table.object_name or "")
    columns = columns_of(text or (few.text or "" if few else ""))
    return ReadingNow(first, table, shown(text, BATCH) if text else "", columns, indexes, few)


def _for_few(facts: Facts, table: str) -> MonCachedStatement | None:
    """The cached statement on this table alone that reads most; `None` where it is not known to find few rows."""
    rows = [one for one in facts.every(MonCachedStatement) if one.believed and pages_each(one) and _on(one, table)]
    most = max(rows, key=lambda one: (pages_each(one) or 0.0) * _count(one.executions), default=None)
    if most is None or not known(most.mean_read_rows):
        return None
    return most if (pages_each(most) or 0.0) >= PAGES_A_ROW * max(1.0, most.mean_read_rows) else None


def _on(row: MonCachedStatement, table: str) -> bool:
    return [(name or "").lower() for _, name in tables_in(row.text or "")] == [table.lower()]


def _text(facts: Facts, program: Program, table: str) -> str:
    """The batch of one of its sessions that names the table; empty where none was collected."""
    batches: dict[tuple[object, ...], dict[tuple[int, int], str]] = {}
    for row in facts.every(MonProcessSQLText):
        if (row.spid, row.kpid) in program.sessions and row.text:
            pieces = batches.setdefault((row.spid, row.kpid, row.batch), {})
            pieces[(row.line or 0, row.sequence or 0)] = row.text
    for pieces in batches.values():
        text = "".join(pieces[key] for key in sorted(pieces))
        if any((name or "").lower() == table.lower() for _, name in tables_in(text)):
            return text
    return ""


def _count(figure: Reading) -> float:
    return figure if known(figure) else 0.0
