"""Events of one log, grouped while they are read: by resource and mode, within bounds."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from heapq import nlargest

from collectors.facts.base import ABSENT, Source
from collectors.facts.rdb import WaitGroup

MOST_GROUPS = 1000
"""Groups handed over, the most frequent first (this project)."""
MOST_HELD = 100_000
"""Groups held while reading; then the rarer half is given up, so a log of any length fits (this project)."""
MOST_PROCESSES = 4096
MOST_NAMED = 8
"""PIDs of one group that are handed over, for a rule to name (this project's figure)."""
"""Processes told apart in one group: Rdb has at most 2,032 users, more is damage."""
DISORDER = 60.0
"""Seconds that a time may fall back without a midnight: processes are not written in the order of their waits."""
DAY = 86_400.0

Key = tuple[str, str, str | None]
"""Kind of resource, resource, mode."""


@dataclass
class Group:
    """What was counted of one resource in one mode."""

    first_line: int
    last_line: int
    lines: int = 0
    missed: int = 0
    pids: set[str] = field(default_factory=set)
    measured: int = 0
    total: float = 0.0
    longest: float = 0.0
    first: float | None = None
    last: float | None = None
    """Seconds since the first midnight of the log; from first to last."""


@dataclass
class Groups:
    """All groups of one log."""

    held: dict[Key, Group] = field(default_factory=dict)
    given_up: int = 0
    """Groups that were given up on the way; one that came again is counted again."""

    def add(self, key: Key, number: int, pid: str, *, missed: int = 0, length: float | None = None) -> Group:
        """Count one event of line `number`; `length` is how long it waited, in seconds."""
        group = self.held.get(key)
        if group is None:
            if len(self.held) >= MOST_HELD:
                self._give_up()
            group = self.held[key] = Group(number, number)
        group.last_line = number
        group.lines += 1
        group.missed += missed
        if len(group.pids) < MOST_PROCESSES:
            group.pids.add(pid)
        if length is not None:
            group.measured += 1
            group.total += length
            group.longest = max(group.longest, length)
        return group

    def _give_up(self) -> None:
        kept = dict(nlargest(MOST_HELD // 2, self.held.items(), key=_frequency))
        self.given_up += len(self.held) - len(kept)
        self.held = kept

    @property
    def left_out(self) -> int:
        """How many groups are not handed over."""
        return self.given_up + max(0, len(self.held) - MOST_GROUPS)

    def facts(
        self, file: str, kind: str, database: str | None, node: str | None, day: datetime | None, *, unsure: bool
    ) -> Iterator[WaitGroup]:
        """The most frequent groups; `day` is the first midnight, where a date is known."""
        for (resource_kind, resource, mode), group in nlargest(MOST_GROUPS, self.held.items(), key=_frequency):
            yield WaitGroup(
                source=Source(file, group.first_line, group.last_line, unsure),
                database=database,
                node=node,
                kind=kind,
                resource_kind=resource_kind,
                resource=resource,
                mode=mode,
                logged=group.lines,
                missed=group.missed,
                processes=len(group.pids),
                pids=tuple(sorted(group.pids)[:MOST_NAMED]),
                longest_seconds=group.longest if group.measured else ABSENT,
                seconds=round(group.total, 2) if group.measured == group.lines else ABSENT,
                first=_at(day, group.first),
                last=_at(day, group.last),
            )


def _frequency(item: tuple[Key, Group]) -> int:
    return item[1].lines + item[1].missed


def _at(day: datetime | None, seconds: float | None) -> datetime | None:
    return None if day is None or seconds is None else day + timedelta(seconds=seconds)


@dataclass
class Clock:
    """Times of day, one after the other, as seconds since the first midnight: the log prints no date."""

    days: int = 0
    last: float | None = None

    def read(self, time: float) -> float:
        """Take the next time of day, in seconds. A fall back of a minute or more is a midnight."""
        if self.last is not None:
            fell = self.last - time
            if fell >= DISORDER:
                self.days += 1
            elif self.days and -fell > DAY - DISORDER:
                return (self.days - 1) * DAY + time  # just before the midnight that the line above had passed
        self.last = time
        return self.days * DAY + time
