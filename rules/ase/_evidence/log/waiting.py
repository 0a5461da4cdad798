"""Who waits for the end of a transaction log at one moment, and whose log it is where no export counts by database.

`monProcess` shows the sessions of one moment with what they wait for: where several wait for the log, most of them of
one program, that program is the one to commit less often. Their database is the log's; else the one that nearly all
changed rows are of, as each change is a record of its log; else the one whose log alone is on the device that most
writes go to.
"""

from dataclasses import dataclass

from collectors.facts import Fact, Facts, known
from collectors.facts.ase import (
    CacheBinding,
    DatabaseFragment,
    LogIoSize,
    MonDeviceIO,
    MonOpenDatabases,
    MonOpenObjectActivity,
    MonProcess,
)
from rules.ase._evidence.log.databases import most_of
from rules.ase._evidence.objects.seen import activity
from rules.ase._evidence.objects.sessions import Program, programs_of, say_spids
from rules.ase._evidence.waits.events import LOG_BLOCKS, LOG_WRITES
from rules.changes.ase_binding import is_tempdb, why_not_database
from rules.changes.quoting import comment
from rules.finding import Evidence

WAITING_FACTS: tuple[type[Fact], ...] = (
    *(MonProcess, MonOpenObjectActivity, MonOpenDatabases, MonDeviceIO, DatabaseFragment),
)
"""What a rule declares that asks for it."""
LEAST, MOST_PERCENT = 3, 60.0
"""This project: sessions that must wait for a log at one moment, and the share of them that one program, or one
database, must have: one or two are chance. So much of all writes one device must have, too."""
CHANGED_PERCENT = 90.0
"""This project: a database with so many of all changed rows has nearly all records of logs, whatever is not counted."""


@dataclass(frozen=True)
class LogWaiters:
    """The program most of whose sessions wait for a log at one moment."""

    program: Program
    waiting: int
    """Sessions of all programs that wait for a log at that moment."""

    @property
    def says(self) -> str:
        """Who, with the sessions, as a clause."""
        return f"{self.program.name}, SPID {say_spids(self.program.sessions)}"

    @property
    def evidence(self) -> Evidence:
        """How many of its sessions."""
        metric = f"sessions of {self.program.name} waiting for a log at that moment"
        return Evidence(metric, len(self.program.sessions), f"of {self.waiting}", self.program.source)


@dataclass(frozen=True)
class LogOf:
    """A database whose log it is, by what is not a count of its log."""

    database: str
    """As an export has it: quoted where it is shown."""
    evidence: Evidence

    @property
    def name(self) -> str:
        """Of the database, as it may stand in a text."""
        return comment(self.database)


def log_waiters(facts: Facts) -> LogWaiters | None:
    """The program; `None` where too few wait at that moment, or no program has most of them."""
    rows = _waiting(facts)
    sessions = [(row.spid, row.kpid) for row in rows]
    first = next(iter(programs_of(facts, dict.fromkeys(sessions))), None)
    if len(rows) < LEAST or first is None or not (first.application or first.login):
        return None
    return LogWaiters(first, len(rows)) if 100.0 * len(first.sessions) >= MOST_PERCENT * len(rows) else None


def only_log(facts: Facts) -> str | None:
    """The one database of users whose log has a cache of its own, or else whose log I/O size was asked for."""
    seen = facts.also(CacheBinding, LogIoSize)
    bound = [one for one in seen.every(CacheBinding) if (one.table or "").lower() == "syslogs"]
    own = {one.database for one in bound if one.database and one.valid is not False}
    asked = {one.database for one in seen.every(LogIoSize)}
    users = [sorted(name for name in names if not why_not_database(name)) for names in (own, asked)]
    found = next((names for names in users if names), [])
    return found[0] if len(found) == 1 else None


def log_of(facts: Facts) -> LogOf | None:
    """Whose log tasks wait for, by the sessions that do or by the rows changed; `None` where it is counted, or unknown.

    A temporary database is never named: what it logs is not made durable.
    """
    return None if most_of(facts) else _by_sessions(facts) or _by_rows(facts) or _by_device(facts)


def _waiting(facts: Facts) -> list[MonProcess]:
    rows = {(row.instance, row.spid, row.kpid): row for row in facts.every(MonProcess)}
    return [row for row in rows.values() if row.wait_event in LOG_WRITES | LOG_BLOCKS]


def _by_sessions(facts: Facts) -> LogOf | None:
    rows = _waiting(facts)
    names = [row.database for row in rows if row.database]
    first = max(names, key=names.count, default="")
    if len(rows) < LEAST or not first or is_tempdb(first) or 100.0 * names.count(first) < MOST_PERCENT * len(rows):
        return None
    source = next(row.source for row in rows if row.database == first)
    metric = f"sessions in {comment(first)} waiting for a log at that moment"
    return LogOf(first, Evidence(metric, names.count(first), f"of {len(rows)}", source))


def _by_rows(facts: Facts) -> LogOf | None:
    changed: dict[str, float] = {}
    source = None
    for row in activity(facts):
        if not row.of_interval or row.index_id > 1 or not row.database or is_tempdb(row.database):
            continue
        counts = (row.rows_inserted, row.rows_updated, row.rows_deleted)
        changed[row.database] = changed.get(row.database, 0.0) + sum(one for one in counts if known(one) and one > 0)
        source = source or row.source
    whole, first = sum(changed.values()), max(changed, key=lambda name: changed[name], default="")
    if source is None or not whole or 100.0 * changed[first] < CHANGED_PERCENT * whole:
        return None
    metric = f"rows changed in tables of {comment(first)}"
    return LogOf(first, Evidence(metric, round(100.0 * changed[first] / whole, 1), "% of all", source))


def _by_device(facts: Facts) -> LogOf | None:
    """The one database whose log, and nothing else, lies on the device that most writes of the interval go to."""
    rows = {(one.instance, one.device): one for one in facts.every(MonDeviceIO) if one.of_interval and one.believed}
    writes = {row.device: row.writes for row in rows.values() if known(row.writes) and row.writes > 0}
    most, whole = max(writes, key=lambda name: writes[name], default=""), sum(writes.values())
    pieces = [one for one in facts.every(DatabaseFragment) if one.device == most and most]
    names = {one.database or "" for one in pieces if one.segments == DatabaseFragment.LOG}
    if len(names) != 1 or any(one.segments != DatabaseFragment.LOG for one in pieces):
        return None
    (first,) = names
    share = 100.0 * writes[most] / whole
    if not first or is_tempdb(first) or share < MOST_PERCENT:
        return None
    source = next(row.source for row in rows.values() if row.device == most)
    return LogOf(
        first, Evidence(f"writes to {comment(most)}, the log of {comment(first)}", round(share, 1), "% of all", source)
    )
