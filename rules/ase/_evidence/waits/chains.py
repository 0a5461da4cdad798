"""Who blocks whom on SAP ASE at the moment of the export, since when, and who stands at the head of each chain.

`monProcess` says it itself (BlockingSPID). Without it the locks do: `monLocks.BlockedBy` is the SPID of the holder up
to 15.7 and its LockID from 16.0, as the manuals say; `sp_lock` marks the lock that blocks, so the holder is who has
such a lock on the same row, page or table. Rows of one file are of one moment; those of several are not mixed. `sp_who`
has no times: `monProcess` and `sysprocesses` have them, and what the three say of one session is put together.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from typing import TypeVar

from collectors.facts import Fact, Facts, Source, known
from collectors.facts.ase import (
    HeldLock,
    LogHolder,
    MonOpenObjectActivity,
    MonProcess,
    MonProcessActivity,
    MonProcessLookup,
    MonProcessSQLText,
    MonSysSQLText,
    ObjectId,
    Server,
    Snapshot,
    TableScheme,
)
from collectors.facts.base import ABSENT
from rules.ase._evidence.objects.seen import databases, table_names
from rules.ase._evidence.objects.statements import quoted, tables_in
from rules.ase._evidence.server import server_of
from rules.ase._evidence.waits.events import LOCKS, at_work

CHAIN_FACTS: tuple[type[Fact], ...] = (
    HeldLock, MonProcess, MonProcessSQLText, MonSysSQLText, Server, Snapshot, TableScheme, MonOpenObjectActivity,
    LogHolder, ObjectId, MonProcessActivity, MonProcessLookup,
)  # fmt: skip
LOCK_ID_SINCE = (16, 0)
T = TypeVar("T", bound=Fact)
IDLE_CLIENT = "AWAITING COMMAND"
NAME = 30
"""Characters of a login, a program or a host that are shown; the vendor's own columns have no more."""
APART = 30.0
"""This project: seconds that two looks must lie apart to tell more than one: two tables of one moment do not."""
MODES = {"ex": "exclusive", "sh": "shared", "up": "update"}


@dataclass(frozen=True)
class Blocked:
    """One task that waits for another at this moment."""

    spid: int
    by: int
    seconds: float | None
    """`None` where the export does not say since when."""
    source: Source
    what: str = ""
    """Lock and table, where they were read."""
    matched: str = ""
    """How the holder was found, where the export leaves that open."""


@dataclass
class Chain:
    """A task that others wait for and that waits for nobody, and all who wait for it, directly or not."""

    head: int
    blocked: list[Blocked] = field(default_factory=list)

    @property
    def seconds(self) -> float | None:
        """The longest wait; `None` where no wait has a time."""
        return max((one.seconds for one in self.blocked if one.seconds is not None), default=None)

    @property
    def longest(self) -> Blocked:
        """Who waits longest; the first where nobody's time is known."""
        return max(self.blocked, key=lambda one: one.seconds or 0.0)


def blocked_tasks(facts: Facts) -> list[Blocked]:
    """Every task that is blocked, once.

    A listing of some sessions only hides none: who waits by the locks of the same file and is not listed counts, too.
    """
    processes = facts.once(MonProcess, process_rows)
    locks = of_last_file(facts.every(HeldLock))
    waiting = {lock.spid: lock for lock in locks if lock.waiting and lock.spid is not None}
    found: dict[int, Blocked] = {}
    for row in processes:
        if row.blocking_spid and row.blocking_spid > 0 and row.blocking_spid != row.spid:
            lock = waiting.get(row.spid)
            time = row.seconds_waiting if known(row.seconds_waiting) and row.seconds_waiting >= 0 else None
            if time is None and row.spid in found:  # sp_who below monProcess
                continue
            if time is None and lock and _holder(facts, lock, locks)[0] == row.blocking_spid:
                time = _lasted(lock)  # sp_who has no times, and the locks show it waiting for the same task
            what = say_lock(facts, lock) if lock else ""
            found[row.spid] = Blocked(row.spid, row.blocking_spid, time, row.source, what)
    listed = {row.spid for row in processes} if processes_tell(facts) else set()
    if listed and not (locks and locks[-1].source.file == processes[-1].source.file):  # of two moments, perhaps
        return list(found.values())
    for spid, lock in waiting.items():
        if spid in listed:  # what monProcess says of a session comes first, also that it waits for nobody
            continue
        by, matched = _holder(facts, lock, locks)
        if by is not None and by != spid:
            found[spid] = Blocked(spid, by, _lasted(lock), lock.source, say_lock(facts, lock), matched)
    return list(found.values())


def _lasted(lock: HeldLock) -> float | None:
    """Seconds that a lock is waited for; `None` where they are not printed."""
    return lock.wait_seconds if known(lock.wait_seconds) and lock.wait_seconds >= 0 else None


def waited_before(facts: Facts, task: Blocked) -> float | None:
    """How long this task had waited for the same at an earlier look, s; `None` where it was looked at once.

    Each look is a state, so a shorter wait of the same task for the same holder, or at the same place, is an earlier
    one. Of several the first.
    """
    if task.seconds is None:
        return None
    same = [one for one in facts.every(MonProcess) if (one.spid, one.blocking_spid) == (task.spid, task.by)]
    rows = [one for one in same if one.kpid == same[-1].kpid]
    locks = [one for one in facts.every(HeldLock) if one.spid == task.spid and one.waiting]
    places = {_place(one) for one in of_last_file(locks)} if locks else set()
    before = [
        *(one.seconds_waiting for one in rows if known(one.seconds_waiting)),
        *(one.wait_seconds for one in locks if known(one.wait_seconds) and _place(one) in places),
    ]
    return min((one for one in before if 0 <= one <= task.seconds - APART), default=None)


def of_last_file(rows: list[T]) -> list[T]:
    """The rows of the last file that has any: those of several are of several moments."""
    return [row for row in rows if row.source.file == rows[-1].source.file]


def process_rows(facts: Facts) -> list[MonProcess]:
    """The processes of the last file that says for what or since when they wait; of the last file, where none does."""
    rows = facts.every(MonProcess)
    full = [row for row in rows if row.wait_event is not None or known(row.seconds_waiting)]
    return _together([row for row in rows if row.source.file == (full or rows)[-1].source.file])


def _together(rows: list[MonProcess]) -> list[MonProcess]:
    """One row of each session where `sp_who`, `sysprocesses` and `monProcess` each say a part of it.

    Two rows of monProcess are two moments and stay two.
    """
    found: list[MonProcess] = []
    at: dict[int, int] = {}
    for row in rows:
        before = found[at[row.spid]] if row.spid in at else None
        parts = before is not None and None in (before.wait_event, row.wait_event)
        if before is None or not parts or len({before.kpid, row.kpid} - {None}) > 1:
            at[row.spid] = len(found)
            found.append(row)
        else:
            told = known(before.seconds_waiting) and not known(row.seconds_waiting)
            found[at[row.spid]] = filled(before, row) if told else filled(row, before)
    return found


def filled(row: MonProcess, other: MonProcess) -> MonProcess:
    """What this row says, and what only the other does."""
    lacking = {one.name for one in fields(row) if getattr(row, one.name) in (None, ABSENT)}
    return replace(row, **{name: getattr(other, name) for name in lacking})


def processes_tell(facts: Facts) -> bool:
    """Whether `monProcess` was collected with what says who blocks whom: NULL there may be a column left out."""
    rows = facts.once(MonProcess, process_rows)
    waits_known = all(row.wait_event is not None and row.wait_event not in LOCKS for row in rows)
    return bool(rows) and (waits_known or any(row.blocking_spid is not None for row in rows))


def waiting_without_holder(facts: Facts) -> list[HeldLock]:
    """Locks that are waited for while nothing says who holds them."""
    found = {one.spid for one in blocked_tasks(facts)}
    return [lock for lock in of_last_file(facts.every(HeldLock)) if lock.waiting and lock.spid not in found]


def _holder(facts: Facts, lock: HeldLock, locks: list[HeldLock]) -> tuple[int | None, str]:
    """The SPID that holds what this one waits for, and how it was found where that is open."""
    if lock.blocked_by:
        by_id = {one.spid for one in locks if one.lock_id == lock.blocked_by and one.spid not in (None, lock.spid)}
        by_spid = {one.spid for one in locks if one.spid == lock.blocked_by}
        server = server_of(facts)
        old = server.before(*LOCK_ID_SINCE) if server else None
        if old:
            return lock.blocked_by, ""
        if len(by_id) == 1 and (old is False or not by_spid or by_id == by_spid):
            return next(iter(by_id)), "" if old is False else "BlockedBy taken as LockID"
        if old is None and by_spid and not by_id:
            return lock.blocked_by, "BlockedBy taken as SPID"
    place = _place(lock)
    holders = [one for one in locks if one.blocking and not one.waiting and place and _place(one) == place]
    same = {one.spid for one in holders} - {None, lock.spid}
    return (next(iter(same)), "") if len(same) == 1 else (None, "")


def _place(lock: HeldLock) -> tuple[object, ...] | None:
    """What is locked; `None` where the export does not say enough to hold two locks against each other."""
    table = lock.object_name or lock.object_id
    if table is None:
        return None
    page = lock.page if known(lock.page) and lock.level in ("page", "row", "address") else None
    row = lock.row if known(lock.row) and lock.level == "row" else None
    return (lock.database or lock.db_id, table, lock.level, page, row)


def chains_of(blocked: list[Blocked]) -> tuple[list[Chain], list[Blocked]]:
    """The chains by their heads, those with most blocked tasks first; and the tasks that wait in a circle."""
    by = {one.spid: one for one in blocked}
    found: dict[int, Chain] = {}
    circle: list[Blocked] = []
    for one in blocked:
        seen, head = {one.spid}, one.by
        while head in by and head not in seen:
            seen.add(head)
            head = by[head].by
        if head in seen:
            circle.append(one)
        else:
            found.setdefault(head, Chain(head)).blocked.append(one)
    return sorted(found.values(), key=lambda one: (-len(one.blocked), -(one.seconds or 0.0), one.head)), circle


def head_process(facts: Facts, spid: int) -> MonProcess | None:
    """The row of the head of a chain; what it runs also by another file in which others stand behind it as well."""
    rows = facts.once(MonProcess, process_rows)
    found = next((row for row in reversed(rows) if row.spid == spid), None) or facts.latest(MonProcess, spid=spid)
    if found and found.application is None and (client := _client(facts, found)):
        found = replace(found, login=found.login or client.login, application=client.application)
    if found is None or found.command:
        return found
    every = facts.every(MonProcess)
    heads = {row.source.file for row in every if row.blocking_spid == spid}
    same = [
        row
        for row in every
        if row.spid == spid and row.command and row.source.file in heads and row.login == found.login is not None
    ]
    if not same:
        return found
    return replace(found, command=same[-1].command, status=found.status or same[-1].status, source=same[-1].source)


def _client(facts: Facts, head: MonProcess) -> MonProcessLookup | MonProcessActivity | None:
    """The newest row of another table that names the program of this session."""
    rows: list[MonProcessLookup | MonProcessActivity] = [
        *facts.every(MonProcessLookup),
        *facts.every(MonProcessActivity),
    ]
    same = [
        row
        for row in rows
        if row.spid == head.spid
        and row.application
        and len({row.kpid, head.kpid} - {None}) <= 1
        and len({row.login, head.login} - {None}) <= 1
    ]
    return same[-1] if same else None


def blocking_lock(facts: Facts, spid: int) -> HeldLock | None:
    """The lock of this session that others wait for, one of a whole table first; `None` where no export shows one."""
    held = [one for one in locks_that_block(facts) if one.spid == spid]
    return next((one for one in held if is_whole_table(one)), held[0] if held else None)


def kind_of_lock(lock: HeldLock) -> str:
    """Mode and level in one spelling, as `exclusive table` or `shared intent`, however the listing prints them.

    `sp_lock` says `Ex_table`. The manuals give `monLocks` the mode alone as LockType (exclusive, shared, update) and
    the level in LockLevel; listings also have both in the one, and `intent`, which is no lock of a whole table.
    """
    mode, *rest = re.split(r"[\s_]+", lock.lock_type.strip().lower())
    level = rest or ([lock.level] if lock.level else [])
    return " ".join((MODES.get(mode[:2], mode), *level))


def is_whole_table(lock: HeldLock) -> bool:
    """Whether this is the lock of a whole table, held, that shuts out whoever changes it: exclusive, or update."""
    return lock.waiting is False and kind_of_lock(lock) in ("exclusive table", "update table")


def open_since(facts: Facts, spid: int) -> datetime | None:
    """Since when this session has its oldest transaction open, by `syslogshold`; `None` where no row is of it."""
    rows = of_last_file(facts.every(LogHolder))
    return min((row.started for row in rows if row.spid == spid and row.started), default=None)


def batch_of(facts: Facts, spid: int) -> str:
    """The text of the batch that a process runs or ran last; nothing where it was not collected."""
    pieces = [row for row in facts.every(MonProcessSQLText) if row.spid == spid and row.text]
    newest = [row for row in pieces if row.batch == pieces[-1].batch]
    return " ".join(row.text or "" for row in sorted(newest, key=lambda row: (row.line or 0, row.sequence or 0)))


def last_batch(facts: Facts, head: MonProcess | None) -> str:
    """The text of the newest batch of this session that the pipe of texts was given; nothing where it was not."""
    if head is None:
        return ""
    rows = [row for row in facts.every(MonSysSQLText) if row.spid == head.spid and row.text]
    own = [row for row in rows if row.kpid == head.kpid or None in (row.kpid, head.kpid)]
    batch = max((row.batch for row in own if row.batch is not None), default=None)
    newest = [row for row in own if row.batch == batch]
    return " ".join(row.text or "" for row in sorted(newest, key=lambda row: row.sequence or 0))


def tasks_at_work(facts: Facts) -> int | None:
    """Tasks that wait or run at the moment, by `monProcess`; `None` where only blocked ones were chosen."""
    rows = facts.once(MonProcess, process_rows)
    if not rows or all(row.blocking_spid for row in rows) or any(row.wait_event is None for row in rows):
        return None
    return sum(at_work(row.wait_event or 0) for row in rows)


def sessions_listed(facts: Facts) -> int:
    """Sessions of clients that were listed at the moment, those that do nothing, too."""
    return sum(row.login is not None for row in facts.once(MonProcess, process_rows))


def locks_that_block(facts: Facts) -> list[HeldLock]:
    """Locks that are held and that others wait for, as `sp_lock` and `monLocks` mark them."""
    return [one for one in of_last_file(facts.every(HeldLock)) if one.blocking and not one.waiting]


def say_lock(facts: Facts, lock: HeldLock) -> str:
    """The lock and its table: by name, looked up by number where the export has none."""
    said = kind_of_lock(lock) if len(lock.lock_type.replace("_", " ").split()) == 1 else lock.lock_type
    return f"{said} on {place_of_lock(facts, lock)}"


def place_of_lock(facts: Facts, lock: HeldLock) -> str:
    """Database and table of a lock, as far as exports name them."""
    number = str(lock.object_id) if lock.object_id is not None else "a table not named"
    where = database_of_lock(facts, lock) or (f"db {lock.db_id}" if lock.db_id is not None else "")
    return f"{where + '..' if where else ''}{table_of_lock(facts, lock) or number}"


def table_of_lock(facts: Facts, lock: HeldLock) -> str | None:
    """The name of its table; `None` where no export has it."""
    return (
        lock.object_name
        or facts.once(MonOpenObjectActivity, _names).get((database_of_lock(facts, lock) or lock.db_id, lock.object_id))
        or _table_by_text(facts, lock)
    )


def _table_by_text(facts: Facts, lock: HeldLock) -> str | None:
    """The name that a listing without a database gives this number, where a batch names that table.

    The batch is that of its session, or of one whose lock of the same number others wait for.
    A number alone may be of a table in another database of the same age.
    """
    seen = facts.also(TableScheme, ObjectId)
    listed: list[TableScheme | ObjectId] = [*seen.every(TableScheme), *seen.every(ObjectId)]
    names = {
        one.table
        for one in listed
        if one.object_id is not None and one.object_id == lock.object_id and not one.database
    }
    if len(names) != 1:
        return None
    here = (None, lock.database or database_of_lock(facts, lock))
    holders = {
        one.spid
        for one in locks_that_block(facts)
        if (one.object_id, one.database, one.db_id) == (lock.object_id, lock.database, lock.db_id)
    }
    asked = {table for spid in {lock.spid, *holders} for table in tables_in(batch_of(facts, spid or 0))}
    return next((name for name in names if any((home, name) in asked for home in here)), None)


def database_of_lock(facts: Facts, lock: HeldLock) -> str | None:
    """The name of its database; `None` where no export has it.

    Also the one that its session uses, where the table's number is listed there: either alone may be of another; or the
    one that sessions use whose batch names a table locked in this database, and no database before it.
    """
    if named := lock.database or databases(facts).get(lock.db_id or 0):
        return named
    uses = {row.database for row in facts.once(MonProcess, process_rows) if row.spid == lock.spid and row.database}
    listed = next((one for one in sorted(uses) if (one, lock.object_id) in table_names(facts)), None)
    return listed or facts.once(HeldLock, _homes_by_text).get(lock.db_id or 0)


def _homes_by_text(facts: Facts) -> dict[int, str]:
    """Databases by number, of the batches of sessions with locks; none that two numbers or two names would have.

    A session that also used a table of that name in another database has locks in both, so that its name is of two.
    """
    uses = {row.spid: row.database for row in facts.once(MonProcess, process_rows) if row.database}
    found: set[tuple[int, str]] = set()
    for lock in of_last_file(facts.every(HeldLock)):
        home = uses.get(lock.spid or 0)
        if lock.db_id and home and lock.object_name and not lock.database:
            asked = {(of, (name or "").lower()) for of, name in tables_in(batch_of(facts, lock.spid or 0))}
            if (None, lock.object_name.lower()) in asked:
                found.add((lock.db_id, home))
    told = databases(facts)
    numbers, names = Counter(number for number, _ in found), Counter(name for _, name in found)
    return {
        number: name
        for number, name in found
        if numbers[number] == names[name] == 1 and number not in told and name not in told.values()
    }


def say_client(process: MonProcess | None) -> str:
    """Login, program and host of a session, quoted, to stand behind its SPID; empty where nothing is known."""
    named = [one for one in (process.login, process.application, process.host) if one] if process else []
    return f" ({', '.join(quoted(one, NAME) for one in named)})" if named else ""


def _names(facts: Facts) -> dict[tuple[object, int | None], str]:
    found: dict[tuple[object, int | None], str] = {}
    for row in facts.every(MonOpenObjectActivity):
        if row.object_name:
            found[(row.database, row.object_id)] = found[(row.db_id, row.object_id)] = row.object_name
    found.update({place: table for place, (_, table) in table_names(facts).items()})
    return found


def longest_possible(facts: Facts) -> float | None:
    """Seconds since the server started: nobody waits longer; `None` where the export does not say."""
    times: Iterator[float] = (
        (one.taken - one.booted).total_seconds() for one in facts.every(Snapshot) if one.taken and one.booted
    )
    return max(times, default=None)
