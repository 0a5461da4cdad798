"""Who blocks whom in one capture, and the deadlocks it tells of: as trees and rings, with statements rid of values.

Rows are of one moment, that of the last file that has any. A statement of the capture may hold what a user typed, so it
is shown without its values (`collectors.statement_text`), whatever the export holds.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from collectors.facts import Facts, known
from collectors.facts.ase import HeldLock, MonProcess, MonState
from collectors.statement_text import without_literals
from rules.ase._evidence.objects.statements import one_line
from rules.ase._evidence.waits.chains import (
    IDLE_CLIENT,
    Blocked,
    batch_of,
    blocked_tasks,
    chains_of,
    head_process,
    waiting_without_holder,
)
from rules.ase._evidence.waits.deadlocks import Ring, about, rings_of, say_edge

MOST_CHAINS, MOST_TASKS, MOST_RINGS = 20, 200, 20
LONGEST = 300
"""Characters of a statement that are shown."""
DEEPEST = 40
"""Levels of a tree that are shown; tasks that wait behind more are counted alone."""


@dataclass(frozen=True)
class Task:
    """One task of a chain, with those that wait for it."""

    spid: int
    login: str
    application: str
    host: str
    command: str
    transaction: str
    idle: bool
    """Whether its client has sent nothing since: its transaction is open, and it does nothing."""
    seconds: float | None
    """How long it has waited; of the head how long its client has sent nothing. `None`: not in the export."""
    waits_for: str
    """Lock and table."""
    matched: str
    statement: str
    """Without values; empty where it was not brought."""
    locks: int
    """Locks that it holds, by the listing; 0 where none was brought."""
    behind: tuple["Task", ...]
    """The longest wait first; none where they are too deep in the tree."""
    all_behind: int
    """Tasks that wait for it, directly or not."""

    @property
    def longest(self) -> float | None:
        """The longest wait behind it, seconds; `None` where none has a time."""
        own = [one.seconds for one in self.behind if one.seconds is not None]
        deeper = [longest for one in self.behind if (longest := one.longest) is not None]
        return max((*own, *deeper), default=None)


@dataclass(frozen=True)
class Shown:
    """One deadlock."""

    number: int
    resolved: str
    """When it was ended, as the export has it; empty where it does not say."""
    waits: tuple[str, ...]
    """Who waited for whose lock, in the order of the ring."""
    victim: int | None


@dataclass(frozen=True)
class Blocking:
    """Everything about who blocks whom."""

    chains: tuple[Task, ...]
    """The heads, those with most tasks behind them first."""
    more_chains: int
    blocked: int
    circle: tuple[int, ...]
    """SPIDs that wait for each other at this moment."""
    orphans: int
    """Locks that are waited for while nothing says who holds them."""
    rings: tuple[Shown, ...]
    more_rings: int
    about: tuple[str, ...]
    """The tables that most of the deadlocks are about."""
    about_count: int
    waiting_too_long: float | None
    """Tasks that wait longer than the server's threshold, by monState; `None`: not in the export."""
    threshold: float | None
    bring: tuple[str, ...]

    @property
    def anything(self) -> bool:
        """Whether there is something to show."""
        return bool(self.chains or self.circle or self.orphans or self.rings or self.waiting_too_long)


def blocking_of(facts: Facts) -> Blocking:
    """Gather it."""
    blocked = blocked_tasks(facts)
    chains, circle = chains_of(blocked)
    by_holder: dict[int, list[Blocked]] = {}
    for one in blocked:
        by_holder.setdefault(one.by, []).append(one)
    held: dict[int, int] = {}
    for lock in facts.every(HeldLock):
        if lock.spid is not None and lock.waiting is False:
            held[lock.spid] = held.get(lock.spid, 0) + 1
    heads, left = [], MOST_TASKS
    for chain in chains[:MOST_CHAINS]:
        if left <= 0:
            break
        heads.append(_task(facts, chain.head, None, by_holder, held, DEEPEST))
        left -= len(chain.blocked)
    rings = rings_of(facts)
    tables, many = about(rings)
    states = [row for row in facts.every(MonState) if known(row.lock_waits)]
    state = states[-1] if states else None
    return Blocking(
        chains=tuple(heads),
        more_chains=len(chains) - len(heads),
        blocked=len(blocked),
        circle=tuple(one.spid for one in circle),
        orphans=len(waiting_without_holder(facts)) if facts.every(HeldLock) else 0,
        rings=tuple(map(_ring, rings[:MOST_RINGS])),
        more_rings=max(0, len(rings) - MOST_RINGS),
        about=tables,
        about_count=many,
        waiting_too_long=state.lock_waits if state and known(state.lock_waits) else None,
        threshold=state.lock_wait_threshold if state and known(state.lock_wait_threshold) else None,
        bring=() if facts.every(MonProcess) else (MonProcess.COLLECTED_BY, HeldLock.COLLECTED_BY),
    )


def _task(
    facts: Facts,
    spid: int,
    waits: Blocked | None,
    by_holder: dict[int, list[Blocked]],
    held: dict[int, int],
    deeper: int,
) -> Task:
    row = head_process(facts, spid)
    since = row.seconds_waiting if row and known(row.seconds_waiting) and row.seconds_waiting >= 0 else None
    behind: Iterable[Blocked] = by_holder.get(spid, ()) if deeper else ()
    idle = bool(row and (row.command or "").upper() == IDLE_CLIENT)
    return Task(
        spid=spid,
        login=(row.login if row else None) or "",
        application=(row.application if row else None) or "",
        host=(row.host if row else None) or "",
        command=(row.command if row else None) or "",
        transaction=(row.transaction if row else None) or "",
        idle=idle,
        seconds=waits.seconds if waits else since if idle else None,
        waits_for=waits.what if waits else "",
        matched=waits.matched if waits else "",
        statement=masked(batch_of(facts, spid)),
        locks=held.get(spid, 0),
        behind=tuple(
            _task(facts, one.spid, one, by_holder, held, deeper - 1)
            for one in sorted(behind, key=lambda one: -(one.seconds or 0.0))
        ),
        all_behind=_count(spid, by_holder),
    )


def _count(spid: int, by_holder: dict[int, list[Blocked]]) -> int:
    """How many tasks wait for this one, directly or not."""
    found, left = 0, [spid]
    while left:
        behind = by_holder.get(left.pop(), [])
        found += len(behind)
        left += (one.spid for one in behind)
    return found


def masked(text: str) -> str:
    """A statement without the values that somebody typed into it, on one line; cut with a mark."""
    flat, is_cut = one_line(without_literals(text), LONGEST)
    return f"{flat} …" if is_cut else flat


def _ring(ring: Ring) -> Shown:
    when = f"{ring.resolved:%Y-%m-%d %H:%M:%S}" if ring.resolved else ""
    return Shown(ring.number, when, tuple(map(say_edge, ring.edges)), ring.victim)
