"""Who holds how many locks on SAP ASE, and of which table.

By monProcessActivity (a number for each session), by a question that counts locks (`SessionLocks`), else by the locks
as they are listed (`sp_lock`, monLocks). Each is of one moment.

From the locks that others hold follows what a lock promotion threshold may be: one for the whole server makes table
locks of all that is above it, and one for a table is set above what others hold there, as far as a tenth of the locks
allows. A statement below it commits its piece before anything is promoted.
"""

from dataclasses import dataclass, replace
from math import ceil

from collectors.facts import Facts, Source, known
from collectors.facts.ase import HeldLock, MonProcess, MonProcessActivity, SessionLocks
from rules.ase._evidence.waits.chains import database_of_lock, of_last_file, place_of_lock, table_of_lock
from rules.ase._evidence.waits.promotion import DEFAULT_HWM, FIRST_STEP, MARGIN, ROOM

MOST_PERCENT = 50.0
"""This project: the table that half of a session's locks are on is the one its job works on."""


@dataclass(frozen=True)
class Held:
    """Locks that one session holds on one table, or on all tables together where they are not told apart."""

    spid: int
    locks: float
    source: Source
    database: str = ""
    table: str = ""
    place: str = ""
    """Database and table as they are shown; empty where the table has no name."""


def held_by(facts: Facts) -> list[Held]:
    """What each session holds on each table, by the counts or the listing of locks; empty where there is neither."""
    counted = _counted(facts)
    if counted:
        return [
            Held(
                one.spid,
                one.locks,
                one.source,
                one.database or "",
                one.table or "",
                ("" if not one.table else f"{one.database}..{one.table}" if one.database else one.table),
            )
            for one in counted
            if known(one.locks)
        ]
    found: dict[tuple[int, str], list[HeldLock]] = {}
    for lock in of_last_file(facts.every(HeldLock)):
        if lock.spid is not None and not lock.waiting:
            found.setdefault((lock.spid, place_of_lock(facts, lock)), []).append(lock)
    return [
        Held(
            spid,
            float(len(locks)),
            locks[0].source,
            database_of_lock(facts, locks[0]) or "",
            table_of_lock(facts, locks[0]) or "",
            place if table_of_lock(facts, locks[0]) else "",
        )
        for (spid, place), locks in found.items()
    ]


def _counted(facts: Facts) -> list[SessionLocks]:
    """The newest count of each kind, each lock once: totals of a session beside counts of its tables are left out."""
    rows = of_last_file(facts.every(SessionLocks))
    latest = {(one.spid, one.database, one.table, one.lock_type): one for one in rows}.values()
    told = {one.spid for one in latest if one.table}
    return [one for one in latest if one.table or one.spid not in told]


def by_session(facts: Facts) -> dict[int, Held]:
    """What each session holds in all, by monProcessActivity where it has it."""
    latest = {(row.instance, row.spid, row.kpid): row for row in facts.every(MonProcessActivity)}
    active = [Held(row.spid, row.locks_held, row.source) for row in latest.values() if known(row.locks_held)]
    found: dict[int, Held] = {}
    for one in active or held_by(facts):
        before = found.get(one.spid)
        found[one.spid] = replace(before, locks=before.locks + one.locks) if before else one
    return found


def table_of(facts: Facts, spid: int) -> Held | None:
    """The table that most of the locks of this session are on; `None` where no export shows it."""
    own = [one for one in held_by(facts) if one.spid == spid]
    tables: dict[tuple[str, str], Held] = {}
    for one in own:
        before = tables.get((one.database, one.table))
        tables[one.database, one.table] = replace(before, locks=before.locks + one.locks) if before else one
    most = max(tables.values(), key=lambda one: one.locks, default=None)
    if most is None or not most.table or 100.0 * most.locks < MOST_PERCENT * sum(one.locks for one in own):
        return None
    return most


def others_above(facts: Facts, spid: int, locks: float = DEFAULT_HWM) -> int:
    """How many other sessions hold more locks than this."""
    return sum(one.locks > locks for one in by_session(facts).values() if one.spid != spid)


def client_of(facts: Facts, spid: int) -> MonProcess | None:
    """Who the session is, as the counts of its locks say it."""
    row = next((one for one in facts.every(SessionLocks) if one.spid == spid and (one.login or one.application)), None)
    return MonProcess(spid=spid, login=row.login, application=row.application, source=row.source) if row else None


def threshold(facts: Facts, spid: int, table: Held | None, there: float) -> tuple[int, str]:
    """A lock promotion HWM for the table of this session, and why so much, as a clause.

    `there`: locks that are configured.
    """
    rest = [one.locks for one in held_by(facts) if table and one.spid != spid and one.place == table.place]
    above, most = ceil(max(rest, default=0.0) * MARGIN / 100) * 100, int(there // ROOM)
    first = FIRST_STEP * DEFAULT_HWM
    if max(above, first) > most:
        return max(most, DEFAULT_HWM), "a tenth of all locks"
    if above > first:
        return above, "a fifth above what another session holds there"
    return first, f"{FIRST_STEP} times the default, this project's first step"
