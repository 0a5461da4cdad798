"""Spin locks on pages of Performance Toolkit: which are spun for, for how much of the time, what that is in processors.

A row's per cent is either the mean of the processors or the sum in per cent of one processor: no source at hand says
which, and on 16 processors that is a factor of 16. Other figures of the capture decide it where they can; where they
cannot, a cost is the range of both.
"""

import enum
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import fmean, median

from collectors.facts import OVERFLOW, Facts, Source, known
from collectors.facts.zvm import PerfkitPage, SpinLock
from rules.finding import Cost
from rules.laws.spin_cost import keeps_identity, processors_lost, spin_percent
from rules.zvm._evidence.machine import MEAN, MOST_PERCENT, Machine

ROUNDING = (0.05, 0.0005, 0.05)
"""Half a unit of the last digit that a page prints; older layouts print the per cent with one decimal."""
MEANS_PERCENT = 5.0
"""This project: how far a mean of shares may lie from the product of two means."""
MOST_DOUBTS = 10
"""Rows named: a log of a day has more than a thousand."""
PARTS = 2.0
"""This project: how far all spinning for a lock may exceed that for exclusive and that for shared use together; pages
print rates that do not add up exactly, never by such a factor."""
STRETCH_MINUTES = 30.0
"""This project: as long as hours that a mean hides have to last on OpenVMS where nobody counted their samples."""
NEXT = 1.5
"""This project: an interval that ends later than so many usual ones after the last leaves a gap, so it is not next."""
DAY = 86_400
"""Seconds: a log names no day, so what ends earlier than the interval before it ended past midnight."""
CLOSE = 0.2
"""How near two figures must lie to be of one scale; between the two scales lies a factor of the processors."""


class Scale(enum.Enum):
    """What 100 % are."""

    MEAN = "all processors"
    SUM = "one processor"


@dataclass(frozen=True)
class Spin:
    """One lock, or all of them together: the mean of the interval, else its worst part."""

    fact: SpinLock
    percent: float
    computed: bool
    """Whether the per cent is rate × time, because none is printed."""

    @property
    def lock(self) -> str:
        """As printed; `all spin locks` for the total."""
        return "all spin locks" if self.fact.total else self.fact.lock

    @property
    def moment(self) -> bool:
        """Whether it is one interval of the log and not the mean."""
        return self.fact.statistic != MEAN

    @property
    def unit(self) -> str:
        """Of its per cent: more than all of the time can only be the sum over the processors."""
        return "% of one processor" if self.percent > 100 else "% of the time"

    @property
    def said(self) -> str:
        """Name and figures, for a list."""
        rate = self.fact.collisions_per_second
        spins = f" ({rate:,.1f} spins/s)" if known(rate) else ""
        return f"{self.lock} {self.percent:.3f} %{spins}"


@dataclass(frozen=True)
class Spins:
    """All that pages say of spin locks: most expensive first, by time and never by rate."""

    locks: tuple[Spin, ...]
    total: Spin | None
    doubts: tuple[str, ...]
    """Rows that cannot be believed, and why."""


LOCKS_ALIKE, LONG_USEC, ALIKE = 4, 100.0, 2.0
"""This project: so many locks that are each spun for so long, over no more than this ratio, have one cause in common.
A lock of CP is held for microseconds (the pages of exports that are in order), and which lock it is makes no difference
where PR/SM does not dispatch the processor that holds it (vendor: z/VM 6.2, on partitions with many logical CPUs)."""


def alike_of(spins: Spins) -> str:
    """That all locks are spun for about as long, as a clause; empty where they differ, or it is short."""
    read = [(one.fact.average_spin_usec, one.fact.collisions_per_second) for one in spins.locks]
    times = [usec for usec, rate in read if known(usec) and known(rate) and rate >= 1]
    if len(times) < LOCKS_ALIKE or min(times) < LONG_USEC or max(times) > ALIKE * min(times):
        return ""
    some = f"all {len(times)} locks that are wanted once a second or more"
    return f"{some} are spun for {min(times):,.0f} to {max(times):,.0f} µs"


def spins_of(facts: Facts) -> Spins:
    """Every lock by its latest mean; where there is none, by the interval of the log in which most was spun.

    Declares `SpinLock`.
    """
    found: dict[str, Spin] = {}
    doubts: list[str] = []
    for row in facts.every(SpinLock):
        if why := _wrong(row):
            doubts.append(f"{'all spin locks' if row.total else row.lock[:16]} ({row.statistic}): {why}")
            continue
        spin = _spin(row)
        if spin is not None and _goes_before(spin, found.get(spin.lock)):
            found[spin.lock] = spin
    locks = sorted((one for one in found.values() if not one.fact.total), key=_dearest)
    if len(doubts) > MOST_DOUBTS:
        doubts[MOST_DOUBTS:] = [f"{len(doubts) - MOST_DOUBTS} more rows that cannot be believed"]
    return Spins(tuple(locks), next((one for one in found.values() if one.fact.total), None), tuple(doubts))


def _dearest(spin: Spin) -> tuple[float, float, str]:
    """By time; where the printed share rounds to the same, by rate × time."""
    rate, usec = spin.fact.collisions_per_second, spin.fact.average_spin_usec
    return -spin.percent, -spin_percent(rate, usec) if known(rate) and known(usec) else 0.0, spin.lock


def _goes_before(spin: Spin, other: Spin | None) -> bool:
    if other is None or not spin.moment:
        return True
    return other.moment and spin.percent >= other.percent


def _spin(row: SpinLock) -> Spin | None:
    rate, usec = row.collisions_per_second, row.average_spin_usec
    if known(row.spin_percent):
        return Spin(row, row.spin_percent, computed=False)
    return Spin(row, spin_percent(rate, usec), computed=True) if known(rate) and known(usec) else None


def _wrong(row: SpinLock) -> str:
    """Why a row cannot be believed; empty where it can."""
    rate, usec, percent = row.collisions_per_second, row.average_spin_usec, row.spin_percent
    for what, value in (("spins per second", rate), ("mean spin", usec), ("share of time", percent)):
        if value is OVERFLOW:
            return f"{what} printed as asterisks"
        if known(value) and not 0 <= value < float("inf"):
            return f"{what} {value:g} is none"
    parts = (row.exclusive_spin_percent, row.shared_spin_percent)
    summed = sum(part for part in parts if known(part))
    if known(percent) and all(known(part) for part in parts) and percent > PARTS * summed + 1:
        return (
            f"{percent:g} % of the time is spun, yet {summed:g} % for exclusive and shared use together: a figure is "
            "damaged"
        )
    if not (known(rate) and known(usec) and known(percent)):
        return ""
    if keeps_identity(rate, usec, percent, rounding=ROUNDING, within=MEANS_PERCENT):
        return ""
    return (
        f"{rate:g} spins/s of {usec:g} µs are {spin_percent(rate, usec):.3f} % of the time and not {percent:g} %: a "
        "column is in the wrong place"
    )


@dataclass(frozen=True)
class Stretch:
    """Intervals of a log, one after the other, in each of which all locks together were over something."""

    rows: tuple[Spin, ...]
    minutes: float
    locks: tuple[Spin, ...]
    """Locks whose worst interval is one of these, most expensive first."""

    @property
    def percent(self) -> float:
        """Mean of the intervals, as the page scales it."""
        return fmean(row.percent for row in self.rows)

    @property
    def when(self) -> str:
        """As the page names its intervals, by their ends."""
        first, last = self.rows[0].fact.statistic, self.rows[-1].fact.statistic
        ended = f"the {len(self.rows)} intervals that ended from {first} to {last}"
        return (
            f"in {ended if len(self.rows) > 1 else f'the interval that ended at {last}'} ({self.minutes:.0f} minutes)"
        )

    @property
    def source(self) -> Source:
        """From the first of its rows to the last."""
        return replace(self.rows[0].fact.source, last=self.rows[-1].fact.source.last)


def busiest(facts: Facts, over: Callable[[float], bool], minutes: float) -> Stretch | None:
    """The longest time in which the per cent of all locks together was over something, if it lasted so many minutes.

    Declares `SpinLock` and `PerfkitPage`.
    """
    read = [spin for row in facts.every(SpinLock) if row.statistic != MEAN and not _wrong(row) if (spin := _spin(row))]
    found = [one for file in {spin.fact.source.file for spin in read} for one in _stretches(facts, file, read, over)]
    best = max(found, key=lambda one: (one.minutes, one.percent), default=None)
    return best if best and best.minutes >= minutes else None


def _stretches(facts: Facts, file: str, read: Sequence[Spin], over: Callable[[float], bool]) -> Iterator[Stretch]:
    mine = [spin for spin in read if spin.fact.source.file == file]
    rows = sorted((spin for spin in mine if spin.fact.total), key=lambda spin: spin.fact.source.first)
    begun = [page.start for page in facts.every(PerfkitPage) if page.source.file == file and page.start]
    ends = [_seconds(spin.fact.statistic) for spin in rows]
    steps = [(after - before) % DAY for before, after in pairwise(ends)]
    if not steps and begun and ends:
        steps = [(ends[0] - _seconds(begun[0])) % DAY]
    if not steps:
        return
    step, run = median(steps), list[Spin]()
    for at, spin in enumerate(rows):
        if run and (not over(spin.percent) or (ends[at] - ends[at - 1]) % DAY > NEXT * step):
            yield _stretch(run, mine, step)
            run = []
        if over(spin.percent):
            run.append(spin)
    if run:
        yield _stretch(run, mine, step)


def _stretch(run: Sequence[Spin], mine: Sequence[Spin], step: float) -> Stretch:
    times = {spin.fact.statistic for spin in run}
    locks = sorted((spin for spin in mine if not spin.fact.total and spin.fact.statistic in times), key=_dearest)
    return Stretch(tuple(run), len(run) * step / 60, tuple(locks))


def _seconds(time: str) -> int:
    """`HH:MM:SS` of a page as seconds of the day."""
    parts = [int(part) for part in time.split(":") if part.isdigit()]
    return sum(part * unit for part, unit in zip(parts, (3600, 60, 1), strict=False))


def scale_of(spins: Spins, machine: Machine) -> Scale | None:
    """What the per cent are of, where the capture proves it: judged by the total, else by the most expensive lock."""
    spin = spins.total or next(iter(spins.locks), None)
    if spin is None or not spin.percent:
        return None
    cp = machine.cp.value if machine.cp else None
    if spin.percent > MOST_PERCENT:
        return Scale.SUM
    if spin.moment:
        return None
    if cp is not None and spin.percent > (1 + CLOSE) * cp + 0.5:
        return Scale.SUM
    if not machine.processors or machine.processors < 2 or machine.spinning is None:
        return None
    if abs(machine.spinning.value - spin.percent) <= CLOSE * spin.percent:
        return Scale.MEAN
    summed = spin.percent / machine.processors
    return Scale.SUM if abs(machine.spinning.value - summed) <= CLOSE * summed else None


def cost_of(percent: float, machine: Machine, scale: Scale | None) -> Cost | None:
    """Processors' worth of spinning; `None` where the number of processors is needed and not known."""
    if scale is Scale.SUM:
        return Cost(percent / 100, percent / 100, percent / 100)
    if machine.processors is None:
        return None
    lost = processors_lost(machine.processors, percent)
    return Cost(lost, lost if scale is Scale.MEAN else min(lost, percent / 100), lost)


def of_all(percent: float, machine: Machine, scale: Scale | None) -> tuple[float, float]:
    """The least and the most that a row's per cent can be of all processors' time."""
    summed = percent / machine.processors if machine.processors else None
    least = percent if scale is Scale.MEAN else summed or 0.0
    return least, summed if scale is Scale.SUM and summed is not None else min(percent, 100.0)
