"""Sessions of SAP ASE that keep shared locks of what they have read, and whether they make the others wait.

`sp_lock` says it: context `Range` or `Inf key` is of isolation level 3, and a cursor keeps the row it stands on. A read
at level 1 takes no shared lock of a whole table (vendor). It takes those of pages or rows and lets go of them: such a
lock counts where the batch of its session reads the table at level 2 or 3, where its session holds many of them at
once, or where it runs nothing.
"""

import re
from dataclasses import dataclass

from collectors.facts import Facts
from collectors.facts.ase import HeldLock
from rules.ase._evidence.objects.statements import COMMENT, tables_in
from rules.ase._evidence.waits.chains import (
    IDLE_CLIENT,
    batch_of,
    blocked_tasks,
    chains_of,
    head_process,
    kind_of_lock,
    of_last_file,
    processes_tell,
    table_of_lock,
)
from rules.ase._evidence.waits.tables import locks_table, waiting_tables

RANGE = re.compile(r"\b(?:Range|Inf key)\b", re.I)
SHARED = frozenset(("shared page", "shared row"))
NO_READ = re.compile(r"\b(?:lock\s+table|create\b.{0,80}?\bindex|dbcc|reorg)\b", re.I | re.S)
"""What locks a whole table shared, at whatever isolation level: in a batch, or as the command of a process."""
LEVELS = {"2": 2, "repeatable read": 2, "3": 3, "serializable": 3}
LEVEL = re.compile(
    r"\b(?:at\s+isolation|set\s+transaction\s+isolation\s+level)\s+"
    r"(read\s+uncommitted|read\s+committed|repeatable\s+read|serializable|[0-3])",
    re.I,
)
HOLDLOCK, NOHOLDLOCK = re.compile(r"\bholdlock\b", re.I), re.compile(r"\bnoholdlock\b", re.I)
QUOTED = re.compile(r"'(?:[^']|'')*'?|\"[^\"]*\"?")
MANY = 20
"""This project: a read at level 1 lets go of a row or page once it has read it (vendor), so that its session holds one,
or a few with a cursor; as many at once are of level 2 or 3."""
MOST_PERCENT = 50.0
"""This project: of the tasks that are blocked at the moment, the part from which on the reads are the cause."""


@dataclass(frozen=True)
class Readers:
    """Kept reads that most of the blocked tasks stand behind, on the table with most lock waits."""

    first: HeldLock
    """Of the session with most tasks behind it."""
    says: str
    """How much of what is blocked stands behind them, as a clause."""


def clause_in(text: str) -> str:
    """The clause of a statement or batch that asks for an isolation level, as written there; empty without one."""
    plain = QUOTED.sub(" ", COMMENT.sub(" ", text))
    found = LEVEL.search(plain) or HOLDLOCK.search(plain)
    return " ".join(found[0].split()) if found else ""


def level_in(text: str) -> int | None:
    """The isolation level that a clause of a statement or batch asks for; `None`: none says so."""
    plain = QUOTED.sub(" ", COMMENT.sub(" ", text))
    if clause := LEVEL.search(plain):
        return LEVELS.get(" ".join(clause[1].lower().split()), 1)
    if HOLDLOCK.search(plain):
        return 3
    return 1 if NOHOLDLOCK.search(plain) else None


def kept_reads(facts: Facts) -> list[HeldLock]:
    """Read locks that somebody waits for and that are kept, by what the export says of them; each holder once.

    The one with most tasks behind it comes first.
    """
    behind = _behind(facts)
    found = {
        lock.spid: lock
        for lock in reversed(facts.every(HeldLock))
        if lock.blocking
        and not lock.waiting
        and lock.spid is not None
        and lock.lock_type.lower().startswith("sh")
        and (
            RANGE.search(lock.context or "")
            or lock.cursor
            or is_shared_table(facts, lock)
            or _kept(facts, lock, behind)
        )
    }
    listed = list(reversed(found.values()))
    return sorted(listed, key=lambda one: -behind.get(one.spid or 0, 0))


def is_shared_table(facts: Facts, lock: HeldLock) -> bool:
    """Whether this is the shared lock of a whole table, taken by reads as far as the export shows what its holder does.

    Making an index takes one, too, and `lock table`: no isolation level changes that.
    """
    if kind_of_lock(lock) != "shared table":
        return False
    process = head_process(facts, lock.spid or 0)
    return not NO_READ.search(f"{batch_of(facts, lock.spid or 0)} {(process.command if process else None) or ''}")


def reads_at_high_level(facts: Facts, lock: HeldLock) -> int | None:
    """The level (2 or 3) at which the batch of the holder reads the locked table; `None` where it does not say so."""
    text, table = batch_of(facts, lock.spid or 0), table_of_lock(facts, lock)
    level = level_in(text)
    if level is None or level < 2 or table is None or table not in {name for _, name in tables_in(text)}:
        return None
    return level


def _kept(facts: Facts, lock: HeldLock, behind: dict[int, int]) -> bool:
    """Whether the shared lock of a page or row outlives its read: its session runs nothing while others wait for it."""
    if kind_of_lock(lock) not in SHARED:
        return False
    process = head_process(facts, lock.spid or 0)
    idle = process is not None and process.spid in behind and (process.command or "").upper() == IDLE_CLIENT
    return idle or reads_at_high_level(facts, lock) is not None or held_at_once(facts, lock) >= MANY


def held_at_once(facts: Facts, lock: HeldLock) -> int:
    """How many shared locks of rows or pages of this table its session holds at the moment."""
    table = (lock.object_id or lock.object_name, lock.database or lock.db_id)
    return sum(
        one.spid == lock.spid
        and not one.waiting
        and kind_of_lock(one) in SHARED
        and (one.object_id or one.object_name, one.database or one.db_id) == table
        for one in of_last_file(facts.every(HeldLock))
    )


def _behind(facts: Facts) -> dict[int, int]:
    """How many tasks stand behind each head of a chain."""
    return {chain.head: len(chain.blocked) for chain in chains_of(blocked_tasks(facts))[0]}


def readers_of(facts: Facts) -> Readers | None:
    """Whose reads the lock waits come from; `None` where most of the blocked tasks wait for others, or elsewhere.

    Without a table that the interval's waits are booked to, one moment says nothing of them.
    """
    tables = waiting_tables(facts)
    held = [one for one in kept_reads(facts) if tables and locks_table(one, tables[0].row)]
    behind, blocked = _behind(facts), len(blocked_tasks(facts))
    waiting = sum(behind.get(one.spid or 0, 0) for one in held)
    if held and not blocked and not processes_tell(facts):  # nothing says who waits: the locks that block are left
        waiting = len(held)
        blocked = len({one.spid for one in facts.every(HeldLock) if one.blocking and not one.waiting})
        says = f"{waiting} of {blocked} sessions whose locks others wait for {'is' if waiting == 1 else 'are'} such"
    else:
        says = f"{waiting} of {blocked} blocked tasks stand behind it"
    if not waiting or 100.0 * waiting < MOST_PERCENT * blocked:
        return None
    return Readers(held[0], says)
