"""The curves of a capture, gathered: one set for each export, its remote share, and means by the hour."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from collectors.facts import Facts, Reading, known
from collectors.facts.openvms import Curve

ALL, LOCAL, INCOMING, OUTGOING = "lock operations", "local", "incoming", "outgoing"
SHARE, SHARE_UNIT = "incoming and outgoing", "% of lock operations"
MOST_SETS = 40
"""Exports of which the day can be chosen: a month of days and some."""
MOST_ROWS = 300
"""Rows of the table of means."""
MINUTE, HOUR, SHORT, MINUTES = 60.0, 3600.0, 3 * 3600.0, 600.0
"""Seconds: means are of an hour, of a capture shorter than three hours of ten minutes."""

Points = tuple[tuple[datetime, float | None], ...]


@dataclass(frozen=True)
class Day:
    """The curves of one export."""

    file: str
    start: datetime
    step_seconds: float
    curves: tuple[Curve, ...]

    @property
    def steps(self) -> int:
        """How many steps the longest curve has."""
        return max(len(one.means) for one in self.curves)

    @property
    def end(self) -> datetime:
        """Where the last step ends."""
        return self.start + timedelta(seconds=self.steps * self.step_seconds)

    def curve(self, name: str) -> Curve | None:
        """The curve of this name."""
        return next((one for one in self.curves if one.name == name), None)

    def middle(self, step: int) -> datetime:
        """The moment at which a step is drawn."""
        return self.start + timedelta(seconds=(step + 0.5) * self.step_seconds)

    def clock(self, step: int) -> str:
        """When a step begins, in words: to the second where steps are shorter than a minute."""
        begins = self.start + timedelta(seconds=step * self.step_seconds)
        return begins.isoformat(sep=" ", timespec="seconds" if self.step_seconds < MINUTE else "minutes")

    def step_of(self, at: datetime) -> int | None:
        """The step a moment is in, or `None` outside this day."""
        if (at.tzinfo is None) is not (self.start.tzinfo is None):
            return None
        step = math.floor((at - self.start).total_seconds() / self.step_seconds)
        return step if 0 <= step < self.steps else None

    def points(self, readings: Sequence[Reading]) -> Points:
        """Readings with their moments; what is no number is a gap."""
        return tuple((self.middle(n), value if known(value) else None) for n, value in enumerate(readings))


def days_of(facts: Facts) -> list[Day]:
    """One for each export that has curves, the latest first. Of a name that comes twice in one the later counts."""
    found: dict[tuple[str, datetime, float], dict[str, Curve]] = {}
    for one in facts.every(Curve):
        if one.means and one.step_seconds > 0 and _in_time(one):
            found.setdefault((one.source.file, one.start, one.step_seconds), {})[one.name] = one
    days = [Day(file, start, step, tuple(curves.values())) for (file, start, step), curves in found.items()]
    days.sort(key=lambda day: (day.start.isoformat(), len(day.curves), day.file), reverse=True)
    return days[:MOST_SETS]


def _in_time(one: Curve) -> bool:
    """Whether the calendar holds all of it, with a day to spare for its table."""
    try:
        return one.start + timedelta(days=1, seconds=len(one.means) * one.step_seconds) > one.start
    except OverflowError:
        return False


def remote_share(day: Day) -> list[float | None]:
    """Incoming and outgoing of local, incoming and outgoing, per cent, step by step.

    `None` where one of them is not known, no rate, or nothing was locked: a share of nothing is not 0.
    """
    parts = [day.curve(name) for name in (LOCAL, INCOMING, OUTGOING)]
    if None in parts:
        return []
    shares: list[float | None] = []
    for local, into, out in zip(*(one.means for one in parts if one), strict=False):
        if not known(local) or not known(into) or not known(out) or min(local, into, out) < 0:
            shares.append(None)
        else:
            total = local + into + out
            shares.append(100 * (into + out) / total if total > 0 else None)
    return shares


@dataclass(frozen=True)
class Means:
    """The same figures as a table, for those who cannot see pictures."""

    columns: tuple[tuple[str, str], ...]
    """Names and units."""
    rows: tuple[tuple[datetime, tuple[float | None, ...]], ...]
    """From when, and the mean of the steps that begin in it; `None` where none has a figure."""
    every_seconds: float


def means_of(day: Day) -> Means:
    """Means of equal times of the clock; the share is that of the means, not the mean of shares."""
    span = day.steps * day.step_seconds
    every = max(HOUR if span > SHORT else MINUTES, day.step_seconds)
    midnight = day.start.replace(hour=0, minute=0, second=0, microsecond=0)
    into = [(day.start + timedelta(seconds=n * day.step_seconds) - midnight).total_seconds() for n in range(day.steps)]
    slots = [math.floor(at / every) for at in into]
    rows = []
    for slot in dict.fromkeys(slots):
        steps = [n for n, of in enumerate(slots) if of == slot]
        row = [_mean(one.means, steps) for one in day.curves]
        rows.append((midnight + timedelta(seconds=slot * every), (*row, *_shared(day, row))))
    columns = [(one.name, one.unit) for one in day.curves]
    if rows and len(rows[0][1]) > len(columns):
        columns.append((SHARE, SHARE_UNIT))
    return Means(tuple(columns), tuple(rows[:MOST_ROWS]), every)


def _mean(readings: Sequence[Reading], steps: Sequence[int]) -> float | None:
    figures = [value for n in steps if n < len(readings) and known(value := readings[n])]
    return sum(figures) / len(figures) if figures else None


def _shared(day: Day, row: Sequence[float | None]) -> Iterator[float | None]:
    """The remote share of one row, where the curves for it are there."""
    by_name = {one.name: value for one, value in zip(day.curves, row, strict=True)}
    if not {LOCAL, INCOMING, OUTGOING} <= by_name.keys():
        return
    local, into, out = by_name[LOCAL], by_name[INCOMING], by_name[OUTGOING]
    total = None if local is None or into is None or out is None else local + into + out
    yield None if not total or into is None or out is None else 100 * (into + out) / total
