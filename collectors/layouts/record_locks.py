"""Listings of record locks, however long: what is kept of them, and who stands in the way of whom."""

from collections.abc import Iterator
from dataclasses import replace

from collectors.facts import Fact
from collectors.facts.base import Source
from collectors.facts.unix import RecordLock, RecordLockTable

MOST_HELD = 100_000
"""Locks of one listing that are looked at together, and as many waiters; those beyond are counted (this project)."""
MOST_IDLE = 5000
"""Locks that nobody waits for that become facts; a busy file server has thousands of them (this project)."""


class Listing:
    """The locks of one moment. Waiters and those they wait for are kept before any other."""

    def __init__(self, report: str, source: Source, *, shows_blockers: bool) -> None:
        """Begin a listing of this report at this line."""
        self.report, self.source, self.shows_blockers = report, source, shows_blockers
        self.kept: list[RecordLock] = []
        self.locks = self.waiters = 0
        self.last = source.last

    def add(self, lock: RecordLock) -> None:
        """Take one lock."""
        self.locks += not lock.waits
        self.waiters += lock.waits
        self.last = lock.source.last
        if len(self.kept) < (2 * MOST_HELD if lock.waits else MOST_HELD):
            self.kept.append(lock)

    def facts(self) -> Iterator[Fact]:
        """The listing, then its locks, in their order."""
        numbers = {lock.number for lock in self.kept if lock.waits and lock.number is not None}
        blockers = {(lock.blocker, lock.file_key) for lock in self.kept if lock.blocker is not None}
        idle, told = 0, list[RecordLock]()
        for lock in self.kept:
            if not (lock.waits or lock.number in numbers or (lock.pid, lock.file_key) in blockers):
                idle += 1
                if idle > MOST_IDLE:
                    continue
            told.append(lock)
        yield RecordLockTable(
            source=replace(self.source, last=self.last),
            report=self.report,
            locks=self.locks,
            waiters=self.waiters,
            shows_blockers=self.shows_blockers,
            not_kept=self.locks + self.waiters - len(told),
        )
        yield from told
