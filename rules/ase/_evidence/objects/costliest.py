"""The statement of SAP ASE that took most of the processor, or of the reads from disk, where no text was collected.

`monSysStatement` lists statements that ended, by procedure and line or by SSQLID, with what each took; a line of a
procedure is named by its number, as the table has no names. Where it was not collected, or its pipe was empty,
`monProcessStatement` shows what ran at that moment. A plan (`sp_showplan`) belongs to a statement where a session that
ran it has it at the same line, or where it was asked for by its SSQLID. Who ran it says `monProcess`, of sessions that
are connected; and with which batch `monSysSQLText`, so that the name of a procedure is mostly there to be read.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from collectors.facts import Fact, Facts, Source, known
from collectors.facts.ase import (
    MonOpenObjectActivity,
    MonProcess,
    MonProcessStatement,
    MonSysSQLText,
    MonSysStatement,
    PlanAccess,
    Snapshot,
    SysmonSample,
)
from rules.ase._evidence.objects.plans import PLAN_FACTS, plan_evidence
from rules.ase._evidence.objects.scans import scans_of
from rules.ase._evidence.objects.seen import activity, databases, is_system, name_by_id, name_of
from rules.ase._evidence.objects.sessions import programs_of
from rules.ase._evidence.objects.statements import procedure_of, shown
from rules.changes.quoting import comment, is_plain
from rules.finding import Evidence

COSTLIEST_FACTS: tuple[type[Fact], ...] = (
    *(MonSysStatement, MonProcessStatement, MonProcess, MonSysSQLText, SysmonSample, Snapshot, *PLAN_FACTS),
    MonOpenObjectActivity,
)
BATCH = 60
"""Characters of a batch that are shown."""
LEAST_PERCENT = 25.0
"""This project: a statement that took less of what all that are listed took is not named as the one to tune first."""
ABOUT = 0.1
"""This project: how far scans and pages of a table may lie from the statement's, counted at not quite the same time."""
Figure = Literal["cpu_milliseconds", "physical_reads"]
Row = MonSysStatement | MonProcessStatement


@dataclass(frozen=True)
class Costliest:
    """One line of a procedure, or one statement of the statement cache, with what it took."""

    name: str
    """Fit to be shown: numbers, and a database as an export has it."""
    running: bool
    """Whether it was seen running, and not when it ended."""
    executions: int
    cpu_seconds: float | None
    logical_reads: float | None
    physical_reads: float | None
    scans: tuple[PlanAccess, ...]
    """The accesses of its plan that read a whole table."""
    source: Source
    percent: float
    """Its share of what all that are listed took."""
    program: str
    """Whose sessions ran it, quoted; empty: several programs, or not known."""
    batch: str
    """With which text, without its values, quoted; empty where none was collected."""
    procedure: str = ""
    """The name of its procedure as a command has it; empty where nothing names it."""
    rows: float | None = None
    """Rows that one execution of it found or changed at most; `None`: not counted."""
    statement: int | None = None
    """Its number in the statement cache (SSQLID); `None`: a line of a procedure."""
    table: MonOpenObjectActivity | None = None
    """The table of which the server counted as many scans, and as many pages, over the same time."""

    @property
    def who(self) -> str:
        """Who ran it and how, as a clause; empty where neither is known."""
        by = f"run by {self.program}" if self.program else ""
        how = f"{'as' if by else 'run as'} {self.batch}" if self.batch else ""
        return " ".join(filter(None, (by, how)))

    @property
    def says(self) -> str:
        """The statement with its figures, as a clause."""
        how_often = (
            "running at that moment"
            if self.running
            else f"{self.executions:,} execution{'s' if self.executions > 1 else ''}"
        )
        figures = [
            f"{self.cpu_seconds:,.0f} s of CPU" if self.cpu_seconds is not None else "",
            f"{self.logical_reads:,.0f} logical reads" if self.logical_reads is not None else "",
            f"{self.physical_reads:,.0f} reads from disk" if self.physical_reads else "",
        ]
        return f"{self.name} ({', '.join(filter(None, (how_often, *figures)))}){self.scanning}"

    @property
    def scanning(self) -> str:
        """The tables that its plan scans, as the end of a clause; by counters where no plan was collected."""
        tables = list(dict.fromkeys(one.table for one in self.scans))
        if not tables and self.table:
            return f", which scans {name_of(self.table)} by its counters"
        return f", which scans {' and '.join(tables[:2])}" if tables else ""

    @property
    def index(self) -> str:
        """That the table needs an index for it, to follow the statement's name; empty where the table is not known."""
        return f": an index of {name_of(self.table)} for its where clause" if self.table and not self.scans else ""

    def evidence(self, facts: Facts) -> Iterator[Evidence]:
        """Its figures with the first of its lines, and its plan."""
        of = f"{self.name} (sum of its rows)" if self.executions > 1 else self.name
        if self.cpu_seconds is not None:
            yield Evidence(f"CPU of {of}", round(self.cpu_seconds, 1), "s of all tasks", self.source)
        if self.logical_reads is not None:
            yield Evidence(f"logical reads of {of}", self.logical_reads, "pages", self.source)
        if self.physical_reads:
            yield Evidence(f"reads from disk of {of}", self.physical_reads, "pages", self.source)
        yield from plan_evidence(facts, self.scans)
        if self.table and not self.scans:
            yield Evidence(f"scans of {name_of(self.table)}", scans_of(self.table), "", self.table.source)


def costliest(facts: Facts, figure: Figure) -> Costliest | None:
    """The one that took most of it, where that is a large part of what all took; `None` where none did."""
    ended = _of_this_time(facts)
    running = {(row.instance, row.spid, row.kpid): row for row in facts.every(MonProcessStatement)}
    return _most(facts, ended, figure) or (None if ended else _most(facts, list(running.values()), figure))


def _of_this_time(facts: Facts) -> list[MonSysStatement]:
    """What ended in the time that was sampled: each reader of the pipe gets all since it read last."""
    rows = facts.every(MonSysStatement)
    times = [time for one in facts.every(SysmonSample) for time in (one.start, one.end)]
    times += [time for one in facts.every(Snapshot) for time in (one.previous, one.taken)]
    sampled: list[datetime] = sorted({time.replace(tzinfo=None) for time in times if time})
    if len(sampled) < 2 or not all(row.ended for row in rows):
        return rows
    return [row for row in rows if row.ended and sampled[0] <= row.ended.replace(tzinfo=None) <= sampled[-1]]


def _most(facts: Facts, rows: Sequence[Row], figure: Figure) -> Costliest | None:
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(_name(facts, row), []).append(row)
    taken = {name: _sum(group, figure) or 0.0 for name, group in groups.items()}
    name = max(filter(None, taken), key=lambda one: taken[one], default="")
    if not name or 100.0 * taken[name] < LEAST_PERCENT * sum(taken.values()) or not taken[name]:
        return None
    group, cpu = groups[name], _sum(groups[name], "cpu_milliseconds")
    times, reads = sum(_executions(row) for row in group), _sum(group, "logical_reads")
    return Costliest(
        name=name,
        running=isinstance(group[0], MonProcessStatement),
        executions=times,
        cpu_seconds=None if cpu is None else cpu / 1000,
        logical_reads=reads,
        physical_reads=_sum(group, "physical_reads"),
        scans=tuple(_scans(facts, group)),
        source=group[0].source,
        percent=100.0 * taken[name] / sum(taken.values()),
        program=_program(facts, group),
        batch=_batch(facts, group),
        procedure=_procedure(facts, group[0]),
        rows=_rows(group),
        statement=group[0].statement or None if isinstance(group[0], MonSysStatement) else None,
        table=_counted_for(facts, times, reads),
    )


def _counted_for(facts: Facts, times: int, reads: float | None) -> MonOpenObjectActivity | None:
    """The one table that was scanned about as often as the statement ran, with about as many pages read in it."""
    near = [
        row
        for row in activity(facts)
        if reads
        and row.of_interval
        and row.index_id == 0
        and not is_system(row)
        and known(row.logical_reads)
        and abs(row.logical_reads - reads) <= ABOUT * reads
        and abs(scans_of(row) - times) <= ABOUT * times
    ]
    return near[0] if len(near) == 1 else None


def _executions(row: Row) -> int:
    """One, but of a row that sums several."""
    counted = row.executions if isinstance(row, MonSysStatement) else None
    return int(counted) if counted is not None and known(counted) else 1


def _program(facts: Facts, group: Sequence[Row]) -> str:
    """The one program, with its login, whose sessions ran all of these."""
    ran = {(row.spid, row.kpid) for row in group}
    found = programs_of(facts, ran)
    return found[0].name if len(found) == 1 and set(found[0].sessions) == ran else ""


def _batch(facts: Facts, group: Sequence[Row]) -> str:
    """The text of the first of these batches that was captured."""
    ran = {(row.spid, row.kpid, row.batch) for row in group if row.batch is not None}
    pieces = [row for row in facts.every(MonSysSQLText) if (row.spid, row.kpid, row.batch) in ran and row.text]
    first = [row for row in pieces if (row.spid, row.batch) == (pieces[0].spid, pieces[0].batch)]
    text = "".join(row.text or "" for row in sorted(first, key=lambda row: row.sequence or 0))
    return shown(text, BATCH) if text else ""


def _name(facts: Facts, row: Row) -> str:
    """What a statement is called; empty of one that stands in no procedure and in no cache."""
    number = row.statement if isinstance(row, MonSysStatement) else None
    if number:
        return f"SSQLID {number}"
    if not (row.procedure_id or row.procedure) or row.line is None:
        return ""
    home = comment(row.database or databases(facts).get(row.db_id or 0) or "", 60)
    return f"line {row.line} of {procedure_of(facts, row)}{f' of {home}' if home else ''}"


def _procedure(facts: Facts, row: Row) -> str:
    name = row.procedure or name_by_id(facts, row.database, row.db_id, row.procedure_id)
    return name if name and is_plain(name) else ""


def _rows(group: Sequence[Row]) -> float | None:
    """The most that one of them found or changed; `None` where one is not counted, or it did not end yet."""
    read = [row.rows_affected for row in group if isinstance(row, MonSysStatement) and known(row.rows_affected)]
    return max(read) if read and len(read) == len(group) else None


def _scans(facts: Facts, group: Sequence[Row]) -> Iterator[PlanAccess]:
    """The table scans of the plans of these: of the sessions that ran it at that line, or by its SSQLID."""
    one = group[0]
    number = one.statement if isinstance(one, MonSysStatement) else None
    sessions = {row.spid for row in group if row.spid is not None}
    now = facts.every(MonProcessStatement)
    sessions |= {row.spid for row in now if (row.procedure_id, row.line) == (one.procedure_id, one.line)}
    for access in facts.every(PlanAccess):
        own = access.spid in sessions and access.line == one.line and not number
        if access.scanned and (own or (number and access.ssql_id == number)):
            yield access


def _sum(rows: Sequence[Row], figure: str) -> float | None:
    read = [value for row in rows if known(value := getattr(row, figure))]
    return float(sum(read)) if read else None
