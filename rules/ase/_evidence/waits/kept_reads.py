"""Sessions of SAP ASE that keep shared locks of what they have read, and whether they make the others wait.

`sp_lock` says it: context `Range` or `Inf key` is of isolation level 3, and a cursor keeps the row it stands on.
"""

import re
from dataclasses import dataclass

from collectors.facts import Facts
from collectors.facts.ase import HeldLock
from rules.ase._evidence.waits.chains import blocked_tasks, chains_of
from rules.ase._evidence.waits.tables import locks_table, waiting_tables

RANGE = re.compile(r"\b(?:Range|Inf key)\b", re.I)
MOST_PERCENT = 50.0
"""This project: of the tasks that are blocked at the moment, the part from which on the reads are the cause."""


@dataclass(frozen=True)
class Readers:
    """Kept reads that most of the blocked tasks stand behind, on the table with most lock waits."""

    first: HeldLock
    """Of the session with most tasks behind it."""
    behind: int
    blocked: int
    """All that are blocked at the moment."""


def kept_reads(facts: Facts) -> list[HeldLock]:
    """Read locks that somebody waits for and that are kept, by what `sp_lock` says of them; each holder once.

    The one with most tasks behind it comes first.
    """
    found = {
        lock.spid: lock
        for lock in reversed(facts.every(HeldLock))
        if lock.blocking
        and not lock.waiting
        and lock.spid is not None
        and lock.lock_type.lower().startswith("sh")
        and (RANGE.search(lock.context or "") or lock.cursor)
    }
    behind, listed = _behind(facts), list(reversed(found.values()))
    return sorted(listed, key=lambda one: -behind.get(one.spid or 0, 0))


def _behind(facts: Facts) -> dict[int, int]:
    """How many tasks stand behind each head of a chain."""
    return {chain.head: len(chain.blocked) for chain in chains_of(blocked_tasks(facts))[0]}


def readers_of(facts: Facts) -> Readers | None:
    """Whose reads the lock waits come from; `None` where most of the blocked tasks wait for others, or elsewhere.

    Without a table that the interval's waits are booked to, one moment says nothing of them.
    """
    tables = waiting_tables(facts)
    held = [one for one in kept_reads(facts) if tables and locks_table(one, tables[0].row)]
    behind = _behind(facts)
    waiting, blocked = sum(behind.get(one.spid or 0, 0) for one in held), len(blocked_tasks(facts))
    if not waiting or 100.0 * waiting < MOST_PERCENT * blocked:
        return None
    return Readers(held[0], waiting, blocked)
