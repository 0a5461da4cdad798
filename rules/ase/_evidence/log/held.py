"""Whose log is full now, and what holds it: a session's transaction, or replication (`master..syslogshold`).

A dump frees the log up to its oldest open transaction or its replication truncation point, whichever is older, and
nothing behind it (vendor: System Administration Guide 2, 16.0; Replication Server Troubleshooting Guide 15.7.1). So the
oldest row of a database says what has to end first.
"""

import re
from dataclasses import dataclass
from datetime import timedelta

from collectors.facts import Fact, Facts, Source, known
from collectors.facts.ase import (
    ErrorLog,
    LogEvent,
    LogHolder,
    MonOpenDatabases,
    MonProcess,
    RepAgentProcess,
    Snapshot,
    TruncationPoint,
)
from rules.ase._evidence.objects.seen import databases
from rules.ase._evidence.objects.statements import quoted
from rules.ase._evidence.waits.chains import IDLE_CLIENT, filled, head_process, of_last_file, process_rows, say_client
from rules.ase._evidence.waits.error_log import DAY, events_of
from rules.ase._evidence.waits.events import LOG_SPACE
from rules.changes.quoting import comment
from rules.finding import Evidence, MissingInput

HELD_FACTS: tuple[type[Fact], ...] = (
    LogHolder, MonOpenDatabases, MonProcess, ErrorLog, LogEvent, Snapshot, RepAgentProcess, TruncationPoint,
)  # fmt: skip
"""What a rule declares that asks for it."""
HOLDER = MissingInput("what holds the log, behind which nothing is freed", LogHolder.COLLECTED_BY)
SUSPENDED = "log suspend"
"""Of `sp_who` and `sysprocesses`: asleep at the last-chance threshold of a log."""
IDLE = (
    "First let the owner of SPID {spid}{client} commit or roll back, else kill {spid} (undoing its work can take as "
    "long): a dump frees nothing from its transaction on. Then dump the transaction log of {0}; for room until then: "
    "alter database {0} log on <device>."
)
ASLEEP = (
    "Dump the transaction log of {0}, which frees what is older than the transaction of SPID {spid}{client}. Where "
    "that is not enough, give it room (alter database {0} log on <device>), or have that transaction ended: it sleeps "
    "for space itself."
)
FREED_NOTHING = (
    "Give the log of {0} room (alter database {0} log on <device>), or have the transaction of SPID {spid}{client} "
    "ended, which sleeps for space itself: a dump could not truncate the log. Then dump it."
)
OLDEST_FIRST = (
    "Look in master..syslogshold for the oldest transaction or truncation point of {0} and have it ended or sent "
    "first: another dump frees nothing before (room until then: alter database {0} log on <device>). Then dump it."
)
YOUNG = timedelta(minutes=10)
"""This project: what began so shortly before the reading holds little of a log, which fills over hours."""
RECENT = (
    "Dump the transaction log of {0}: what holds it began only at {since}, and what is older is freed. For later: a "
    "larger log, dumps more often, or a threshold procedure that dumps it."
)
AT_WORK = (
    "First see when SPID {spid}{client} will be done, as a dump frees nothing from its transaction on; for room until "
    "then: alter database {0} log on <device>. Then dump the transaction log of {0}; kill {spid} only if undoing its "
    "work, which can take as long, costs less."
)
REPLICATED = (
    "{start}; dump the log when its truncation point has moved (room until then: alter database {0} log on "
    "<device>). Do not have it ignored (dbcc settrunc): the replicate would lack what was not sent."
)
ENDED = "Mend what ended the RepAgent of {0} ({why}) and start it: sp_start_rep_agent {0}"
NUMBER = re.compile(r"\AMsg \d{1,9}\.\s{1,9}")
LONGEST_ERROR = 70
"""Characters of what Replication Server said that are shown."""
MAY_RUN = "See if the RepAgent runs (sp_help_rep_agent {0}), and start it if not: sp_start_rep_agent {0}"


@dataclass(frozen=True)
class FullLog:
    """One database whose log is full at the moment of the export."""

    database: str
    sleeping: float | None
    """Tasks that sleep for space in it; `None`: not in the export."""
    source: Source
    how: str
    """What shows it, as the beginning of a sentence."""
    dumped: bool = False
    working: int | None = None
    """Sessions of clients with a command, these among them, by a listing that is whole; `None`: there is none."""


@dataclass(frozen=True)
class Held:
    """What holds a log, and what is to be done first."""

    who: str
    """In a few words."""
    says: str
    """One sentence."""
    do: str
    evidence: Evidence


def full_logs(facts: Facts) -> list[FullLog]:
    """Every database whose log is full now, by its state or by those who sleep for it."""
    rows = {(one.instance, one.database): one for one in facts.every(MonOpenDatabases)}.values()
    processes = facts.once(MonProcess, _listed)
    asleep: dict[str, list[MonProcess]] = {}
    for row in processes:
        if _sleeps(row):
            asleep.setdefault(row.database or "", []).append(row)
    telling = any(row.wait_event is not None or row.status for row in processes)
    found: dict[str, FullLog] = {}
    for one in rows:
        if _number(one.log_full) > 0 or _number(one.suspended) > 0:
            here = asleep.get(one.database, [])
            counted = float(len(here)) if telling and (here or not asleep.get("")) else None
            sleeping = one.suspended if known(one.suspended) else counted
            how = "When monOpenDatabases was read"
            found[one.database] = FullLog(one.database, sleeping, one.source, how, _number(one.backup) > 0)
    working = _at_work(processes)
    told = {one.database for one in events_of(facts, DAY) if one.kind == LogEvent.LOG_FULL and one.database}
    if asleep.keys() == {""} and not found and len(told) == 1:  # whose log it is, the error log says
        asleep = dict.fromkeys(told, asleep[""])
    for name, tasks in asleep.items():
        if name and name not in found:
            how = f"By the state of {len(tasks)} {'session' if len(tasks) == 1 else 'sessions'}"
            found[name] = FullLog(name, float(len(tasks)), tasks[0].source, how, working=working)
    return list(found.values())


def _listed(facts: Facts) -> list[MonProcess]:
    """The processes of the moment; of the whole listing, where what says more of some leaves out who sleeps.

    A listing of less than half as many sessions (this project) was asked for some of them. Where it has one of those
    that sleep by the other, it is of another moment, or they woke up since.
    """
    rows = process_rows(facts)
    here = {row.spid for row in rows}
    other = [row for row in facts.every(MonProcess) if rows and row.source.file != rows[-1].source.file]
    whole = of_last_file([row for row in other if _sleeps(row)])
    whole = [row for row in other if whole and row.source.file == whole[-1].source.file]
    asleep = {row.spid for row in whole if _sleeps(row)}
    return whole if asleep and not asleep & here and 2 * len(here) < len(whole) else rows


def _holder(facts: Facts, spid: int) -> MonProcess | None:
    """The row of a session that holds a log, by the listing that shows who sleeps for it and by what says more."""
    other = head_process(facts, spid)
    row = next((row for row in facts.once(MonProcess, _listed) if row.spid == spid), None)
    return filled(row, other) if row and other and row.kpid in (None, other.kpid) else row or other


def _at_work(rows: list[MonProcess]) -> int | None:
    """Sessions of clients that have a command; `None` where only those that sleep for a log were chosen."""
    if all(map(_sleeps, rows)) or not all(row.command for row in rows):
        return None
    return sum(row.login is not None and (row.command or "").upper() != IDLE_CLIENT for row in rows)


def refused_dump(facts: Facts, database: str) -> LogEvent | None:
    """The newest message that a dump could not truncate this log, since it was told full; else `None`."""
    told = [one for one in events_of(facts, DAY) if one.database == database]
    since = max((one.first for one in told if one.kind == LogEvent.LOG_FULL), default=None)
    refused = [one for one in told if one.kind == LogEvent.NOT_TRUNCATED and (since is None or one.last >= since)]
    return max(refused, key=lambda one: one.last, default=None)


def say_refused(refused: LogEvent | None) -> str:
    """That a dump freed nothing, as a sentence; empty where none says so."""
    return f"By the error log a dump at {refused.last:%Y-%m-%d %H:%M} could not truncate it." if refused else ""


def refused_evidence(refused: LogEvent | None) -> tuple[Evidence, ...]:
    """The dump that freed nothing, as a figure."""
    if refused is None:
        return ()
    return (Evidence("a dump could not truncate the log", f"{refused.last:%Y-%m-%d %H:%M}", "", refused.source),)


def _sleeps(row: MonProcess) -> bool:
    """Whether a session sleeps for space in a log."""
    return row.wait_event in LOG_SPACE or (row.status or "").lower() == SUSPENDED


def _number(reading: object) -> float:
    return reading if isinstance(reading, float) else 0.0


def held(facts: Facts, database: str) -> Held | None:
    """What holds the log of this database; `None` where no row of `syslogshold` is known to be of it."""
    rows = of_last_file(facts.every(LogHolder))
    own = [(row.started, at) for at, row in enumerate(rows) if row.started and _name(facts, row, rows) == database]
    if not own:
        return None
    started, at = min(own)
    oldest = rows[at]
    name, since, who = comment(database), f"{started:%Y-%m-%d %H:%M}", "replication"
    refused = refused_dump(facts, database)
    if oldest.replicates:
        ended = rep_agent_ended(facts, database)
        stands = [one for one in facts.every(RepAgentProcess) if one.database == database]
        stopped = bool(stands) and all(one.status == RepAgentProcess.NOT_RUNNING for one in stands)
        start = (ENDED if ended or stopped else MAY_RUN).format(name, why=why_ended(ended))
        error = say_error(ended) if ended else ""
        says = (
            f"The oldest that holds it is the truncation point of replication, of {since}"
            + (f", whose RepAgent ended{error}" if error else ", whose RepAgent does not run" if stopped else "")
            + ": a dump frees nothing of it."
        )
        do = REPLICATED.format(name, start=start)
    else:
        process, who = _holder(facts, oldest.spid or 0), f"SPID {oldest.spid}"
        idle = process is not None and (process.command or "").upper() == IDLE_CLIENT
        sleeps = process is not None and _sleeps(process)
        says = f"The oldest that holds it is the transaction of {who}, open since {since}" + (
            ", whose client sends no command." if idle else "."
        )
        how = IDLE if idle else FREED_NOTHING if sleeps and refused else ASLEEP if sleeps else AT_WORK
        do = how.format(name, spid=oldest.spid, client=say_client(process))
    taken = max((one.taken.replace(tzinfo=None) for one in facts.every(Snapshot) if one.taken), default=None)
    if taken and timedelta() <= taken - started < YOUNG and not (refused and refused.last >= started):
        who, do = "", RECENT.format(name, since=since)
    return Held(who, says, do, Evidence(f"oldest that holds the log of {name}", since, "", oldest.source))


def say_error(ended: LogEvent) -> str:
    """By what Replication Server told the RepAgent it ended, as the rest of a clause; empty where that is not known."""
    return f" by {error}" if (error := _error(ended)) else ""


def why_ended(ended: LogEvent | None) -> str:
    """Why a RepAgent ended, in brackets: what Replication Server said of it, or where to look."""
    return _error(ended) if ended and ended.error else "error log"


def _error(ended: LogEvent) -> str:
    """The first sentence of what Replication Server told the RepAgent before it ended, quoted; else empty."""
    error = NUMBER.sub("", ended.error or "").split(". ")[0]
    return quoted(error.removesuffix("."), LONGEST_ERROR) if error else ""


def rep_agent_ended(facts: Facts, database: str) -> LogEvent | None:
    """The message that the RepAgent of this database ended, where no newer one says that it was started."""
    kinds = (LogEvent.AGENT_ENDED, LogEvent.AGENT_STARTED)
    told_of_agent = [one for one in facts.every(LogEvent) if one.database == database and one.kind in kinds]
    newest = max(told_of_agent, key=lambda one: one.last, default=None)
    return newest if newest and newest.kind == LogEvent.AGENT_ENDED else None


def _name(facts: Facts, row: LogHolder, rows: list[LogHolder]) -> str | None:
    """The database of a row: by its name, by its number, or as that in which all who hold a transaction there work."""
    if row.database:
        return row.database
    points = {one.db_id: one.database for one in facts.every(TruncationPoint)}
    listed = points | {one.db_id: one.database for one in facts.every(MonOpenDatabases)} | databases(facts)
    if row.db_id in listed:
        return listed[row.db_id]
    found = [_holder(facts, one.spid) for one in rows if one.db_id == row.db_id and one.spid]
    names = {one.database for one in found if one and one.database}
    return next(iter(names)) if len(names) == 1 else None
