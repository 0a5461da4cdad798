"""How many engines of SAP ASE a statement of the statement cache keeps at work.

`AvgCpuTime` times the executions of one second: milliseconds of processor time a second, and a thousand of them are one
engine. The mean is one since the statement was cached, so it is believed of what ran for a while and ran last in the
interval, if no script counted the time of the interval itself; and what is more than all engines worked is of another
time.
"""

from dataclasses import dataclass
from datetime import datetime

from collectors.facts import Facts, known
from collectors.facts.ase import MonCachedStatement, Snapshot
from rules.ase._evidence.server import busy_of

LEAST_SECONDS = 300.0
"""This project: a statement that was cached for a shorter time has no rate that would last."""


@dataclass(frozen=True)
class Worked:
    """What the executions of one statement took of the engines."""

    statement: MonCachedStatement
    per_second: float
    """Executions."""
    milliseconds: float
    """Of processor time, each."""
    busy: float
    """Engines at work, by all statements together."""
    by_scans: bool = False
    """Whether its executions were not counted in the interval, but the scans of the table that it reads whole."""

    @property
    def engines(self) -> float:
        """Engines that it keeps at work, on average."""
        return self.per_second * self.milliseconds / 1000.0

    @property
    def percent(self) -> float:
        """Share of what the engines worked."""
        return 100.0 * self.engines / self.busy

    @property
    def says(self) -> str:
        """Its figures, as a clause."""
        each = f"{self.per_second:,.1f} a second of {self.milliseconds:,.0f} ms of CPU each"
        each += " (as often as its table is scanned)" if self.by_scans else ""
        return f"{each} keep {self.engines:.1f} of the {self.busy:.1f} busy engines at work"


def worked(facts: Facts, row: MonCachedStatement) -> Worked | None:
    """What a statement took of the engines' work; `None` where that is not known, or cannot be."""
    number, busy = busy_of(facts, interval=True)
    seconds = _seconds(facts, row)
    each, ran = row.cpu_each, row.executions
    if not number or not busy or not seconds or not known(each) or not known(ran) or min(each, ran) <= 0:
        return None
    found = Worked(row, ran / seconds, each, number * busy / 100.0)
    return found if found.percent <= 100.0 else None


def _seconds(facts: Facts, row: MonCachedStatement) -> float | None:
    """The time that its executions were counted in."""
    if row.of_interval:
        return row.seconds if row.believed else None
    if not row.cached or not row.last_used:
        return None
    began = [one.previous for one in facts.every(Snapshot) if one.previous]
    seconds = (_plain(row.last_used) - _plain(row.cached)).total_seconds()
    ran = not began or _plain(row.last_used) >= _plain(min(began))
    return seconds if ran and seconds >= LEAST_SECONDS else None


def _plain(time: datetime) -> datetime:
    """Without a zone, as exports of one server mix times with and without."""
    return time.replace(tzinfo=None)
