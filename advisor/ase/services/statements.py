"""Who does the work in one capture: statements, what runs at the moment of the export, and programs.

Nothing ties a statement to a table: the tables of a cached statement are those that its text names, which is inference
and said so. What runs now is tied by `monProcessObject`, which shows the tables of running statements alone. Text may
hold what users typed: it is shown without values unless somebody asks for them, who may see the export anyway.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from collectors.facts import Facts, Reading, known
from collectors.facts.ase import (
    MonCachedStatement,
    MonProcess,
    MonProcessActivity,
    MonProcessObject,
    MonProcessStatement,
    MonSysStatement,
    PlanAccess,
)
from collectors.statement_text import without_literals
from rules.ase._evidence.objects.plans import owner_of, say_access, table_of
from rules.ase._evidence.objects.seen import databases, place_of
from rules.ase._evidence.objects.sessions import Session
from rules.ase._evidence.objects.statements import one_line, tables_in

MOST, MOST_RUNNING, MOST_PROGRAMS, MOST_PLANS = 500, 100, 100, 100
"""Rows that are shown: those with the most reads."""
LONGEST = 1000
"""Characters of a statement that are kept."""
TABLES = 8
"""Tables that are named beside one row."""


@dataclass(frozen=True)
class Statement:
    """One statement, or one line of a procedure. `None`: not in the export."""

    name: str
    """`SSQLID 1207799001`, or `procedure 77, line 12`."""
    text: str
    """As it was brought, cut; empty: it was not."""
    tables: tuple[str, ...]
    """Those that its text names."""
    executions: float | None
    reads: float | None
    physical: float | None
    each_ms: float | None
    """Mean elapsed time of one execution, milliseconds."""
    lock_waits: float | None
    lock_wait_ms: float | None
    when: str

    @property
    def masked(self) -> str:
        """Its text without values and comments, on one line."""
        return line_of(without_literals(self.text))

    @property
    def whole(self) -> str:
        """Its text as it was brought, on one line."""
        return line_of(self.text)


@dataclass(frozen=True)
class Running:
    """The statement of one session at the moment of the export."""

    spid: int
    program: str
    where: str
    reads: float | None
    physical: float | None
    cpu_ms: float | None
    wait_ms: float | None
    tables: tuple[str, ...]
    """Those that `monProcessObject` shows it reading."""


@dataclass(frozen=True)
class ProgramWork:
    """The sessions of one program and login, added up."""

    name: str
    login: str
    sessions: int
    reads: float | None
    cpu_ms: float | None
    wait_ms: float | None
    commits: float | None
    log_full: float | None
    """Flushes of their user log caches because they were full."""
    tables: tuple[str, ...]
    """Those that `monProcessObject` shows their running statements reading."""


@dataclass(frozen=True)
class Plan:
    """How one statement reaches one table, by a plan that was brought."""

    owner: str
    """`SPID 45`, `SSQLID 1207799001`, or that nothing tells."""
    table: str
    how: str


@dataclass(frozen=True)
class Statements:
    """Everything about who does the work."""

    statements: tuple[Statement, ...]
    left_out: int
    running: tuple[Running, ...]
    programs: tuple[ProgramWork, ...]
    plans: tuple[Plan, ...]
    of_interval: bool
    """Whether the figures of the programs are between two snapshots, and not since each login."""
    bring: tuple[str, ...]

    @property
    def with_text(self) -> bool:
        """Whether the text of any statement was brought."""
        return any(one.text for one in self.statements)


def statements_of(facts: Facts) -> Statements:
    """Gather it."""
    found = sorted((*_cached(facts), *_ended(facts)), key=lambda one: (-(one.reads or 0.0), one.name))
    work = [row for row in facts.every(MonProcessActivity) if row.believed]
    work = [row for row in work if row.of_interval] or work
    tables = _tables_now(facts)
    bring = [kind.COLLECTED_BY for kind in (MonCachedStatement, MonProcessActivity) if not facts.every(kind)]
    return Statements(
        statements=tuple(found[:MOST]),
        left_out=max(0, len(found) - MOST),
        running=tuple(_running(facts, tables)),
        programs=tuple(_programs(facts, work, tables)),
        plans=tuple(_plans(facts)),
        of_interval=any(row.of_interval for row in work),
        bring=tuple(bring),
    )


def line_of(text: str) -> str:
    """Text of a client on one line, with nothing hidden in it."""
    flat, is_cut = one_line(text, LONGEST)
    return f"{flat} [cut]" if is_cut else flat


def _cached(facts: Facts) -> Iterable[Statement]:
    homes = databases(facts)
    latest = {(row.instance, row.statement, row.cached): row for row in facts.every(MonCachedStatement)}
    for row in latest.values():
        if not row.believed:
            continue
        home = row.database or homes.get(row.db_id or 0) or ""
        names = sorted({f"{database or home}..{name}" for database, name in tables_in(row.text or "")})
        executions = _of(row.executions)
        physical = _of(row.total_physical_reads)
        if physical is None and not row.of_interval and executions is not None and known(row.mean_physical_reads):
            physical = executions * row.mean_physical_reads
        yield Statement(
            name=f"SSQLID {row.statement}",
            text=(row.text or "")[: 2 * LONGEST],
            tables=tuple(names[:TABLES]),
            executions=executions,
            reads=row.logical_reads,
            physical=physical,
            each_ms=_of(row.mean_elapsed_milliseconds),
            lock_waits=_of(row.lock_waits),
            lock_wait_ms=_of(row.lock_wait_milliseconds),
            when="between the snapshots" if row.of_interval else "since it was cached",
        )


def _ended(facts: Facts) -> Iterable[Statement]:
    """Statements that ended and are not in the statement cache: lines of procedures, batches."""
    cached = {row.statement for row in facts.every(MonCachedStatement)}
    groups: dict[str, list[MonSysStatement]] = {}
    for row in facts.every(MonSysStatement):
        if row.statement and row.statement in cached:
            continue
        name = f"SSQLID {row.statement}" if row.statement else f"procedure {row.procedure_id}, line {row.line or 0}"
        groups.setdefault(name if row.statement or row.procedure_id else "batches", []).append(row)
    for name, rows in groups.items():
        yield Statement(
            name=name,
            text="",
            tables=(),
            executions=float(len(rows)),
            reads=_sum(row.logical_reads for row in rows),
            physical=_sum(row.physical_reads for row in rows),
            each_ms=None,
            lock_waits=None,
            lock_wait_ms=None,
            when="ended, in monSysStatement",
        )


def _running(facts: Facts, tables: dict[Session, tuple[str, ...]]) -> Sequence[Running]:
    who = {(row.spid, row.kpid): row for row in facts.every(MonProcess)}
    found = [
        Running(
            spid=row.spid,
            program=_called(who.get((row.spid, row.kpid))),
            where=f"procedure {row.procedure_id}, line {row.line or 0}"
            if row.procedure_id
            else f"line {row.line or 0}",
            reads=_of(row.logical_reads),
            physical=_of(row.physical_reads),
            cpu_ms=_of(row.cpu_milliseconds),
            wait_ms=_of(row.wait_milliseconds),
            tables=tables.get((row.spid, row.kpid), ()),
        )
        for row in {(row.spid, row.kpid): row for row in facts.every(MonProcessStatement)}.values()
    ]
    return sorted(found, key=lambda one: (-(one.reads or 0.0), one.spid))[:MOST_RUNNING]


def _programs(
    facts: Facts, work: Sequence[MonProcessActivity], tables: dict[Session, tuple[str, ...]]
) -> Sequence[ProgramWork]:
    """By program and login; sessions that `monProcess` does not know have neither."""
    who: dict[Session, MonProcess] = {(row.spid, row.kpid): row for row in facts.every(MonProcess)}
    done: dict[Session, MonProcessActivity] = {(row.spid, row.kpid): row for row in work}
    groups: dict[tuple[str, str], list[Session]] = {}
    for session in dict.fromkeys((*done, *tables)):
        process = who.get(session)
        groups.setdefault((_called(process), line_of(process.login or "") if process else ""), []).append(session)
    found = []
    for (name, login), sessions in groups.items():
        rows = [done[one] for one in sessions if one in done]
        found.append(
            ProgramWork(
                name=name,
                login=login,
                sessions=len(sessions),
                reads=_sum(row.logical_reads for row in rows),
                cpu_ms=_sum(row.cpu_milliseconds for row in rows),
                wait_ms=_sum(row.wait_milliseconds for row in rows),
                commits=_sum(row.commits for row in rows),
                log_full=_sum(row.ulc_flushes_full for row in rows),
                tables=tuple(dict.fromkeys(table for one in sessions for table in tables.get(one, ())))[:TABLES],
            )
        )
    return sorted(found, key=lambda one: (-(one.reads or 0.0), one.name))[:MOST_PROGRAMS]


def _plans(facts: Facts) -> Iterable[Plan]:
    """Every table of every plan, scans first."""
    for one in sorted(facts.every(PlanAccess), key=lambda one: not one.scanned)[:MOST_PLANS]:
        yield Plan(owner_of(one), line_of(table_of(facts, one)), line_of(say_access(one)))


def _tables_now(facts: Facts) -> dict[Session, tuple[str, ...]]:
    """The tables that the running statement of each session reads, most reads first."""
    reads: dict[Session, dict[str, float]] = {}
    for row in facts.every(MonProcessObject):
        database, table = place_of(facts, row)
        if table:
            of_session = reads.setdefault((row.spid, row.kpid), {})
            name = line_of(f"{database or ''}..{table}")
            of_session[name] = of_session.get(name, 0.0) + (_of(row.logical_reads) or 0.0)
    return {
        session: tuple(sorted(of_session, key=lambda name: (-of_session[name], name))[:TABLES])
        for session, of_session in reads.items()
    }


def _called(process: MonProcess | None) -> str:
    return line_of(process.application or "") if process else ""


def _of(reading: Reading) -> float | None:
    return reading if known(reading) else None


def _sum(readings: Iterable[Reading]) -> float | None:
    """The sum of those that are known; `None` where none is."""
    read = [one for one in readings if known(one)]
    return sum(read) if read else None
