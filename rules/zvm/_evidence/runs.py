"""A performance report's table of runs: which runs are before and after, and what may be concluded of each pair.

The deciding figure is CP's time per transaction. A rate or a share of time says nothing of work by itself: in Table 1
of the z/VM 4.4.0 report ("Scheduler Lock Improvement") the spin rate on 16 processors is lower than on 9, where
contention is less.
"""

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from collectors.facts import NOWHERE, OVERFLOW, Facts, Reading, known
from collectors.facts.zvm import PerformanceRun, SpinLock
from rules.finding import Cost
from rules.laws.rounding import plain
from rules.laws.spin_cost import (
    INSTRUMENTS_PERCENT,
    adds_up,
    keeps_identity,
    processors_lost,
    share_percent,
    spin_msec_per_transaction,
    spin_percent,
)
from rules.zvm._evidence.releases import (
    NOT_COMPARABLE,
    Release,
    comparable,
    parsed,
)

UNIT_OF_WORK = "transaction"
REPEAT_PERCENT = 5.0
"""Practice: regression runs of two releases of z/VM vary by less than 5 % (IBM, z/VM 6.2 performance report)."""
LARGE_PERCENT = 50.0
"""This project: half of CP's time per transaction gone is a large gain."""
BOUND_PERCENT = 10.0
"""This project: from this share of CP's time on, spinning still limits it."""
ROUNDING = (0.5, 0.0005, 0.005)
"""Half a unit of the last digit of rate, time and per cent as such tables print them."""
FIGURES = tuple(field.name for field in dataclasses.fields(PerformanceRun) if field.type in (Reading, "Reading"))


@dataclass(frozen=True)
class Pair:
    """Two runs on the same number of processors."""

    base: PerformanceRun
    run: PerformanceRun

    @property
    def processors(self) -> float:
        """Of both."""
        return self.run.processors if known(self.run.processors) else 0.0

    @property
    def doubt(self) -> str:
        """Why one of the two cannot be believed; empty where both can."""
        return "; ".join(f"run {one.run}: {why}" for one in (self.base, self.run) if (why := doubt(one)))


class Metric(NamedTuple):
    """One figure of both runs. What ends in `_per_tx` is per unit of work already."""

    key: str
    label: str
    unit: str
    before: float
    after: float
    better: Literal["low", "high"] | None
    decides: bool


def doubt(run: PerformanceRun) -> str:
    """Why a run's figures cannot be believed; empty where they can."""
    if run.wrong:
        return "; ".join(run.wrong)
    for name in FIGURES:
        value: Reading = getattr(run, name)
        if value is OVERFLOW:
            return f"{name.replace('_', ' ')} printed as asterisks"
        if known(value) and not 0 <= value < float("inf"):
            return f"{name.replace('_', ' ')} {value:g} is none"
    if known(run.processors) and run.processors < 1:
        return f"{run.processors:g} processors are none"
    rate, usec, percent = run.spin_rate, run.spin_time_usec, run.spin_percent
    if known(rate) and known(usec) and known(percent) and not keeps_identity(rate, usec, percent, rounding=ROUNDING):
        return f"{rate:g} spins/s of {usec:g} µs are {spin_percent(rate, usec):.3f} % and not {percent:g} %"
    if known(percent) and percent > 100:
        return f"{percent:g} % of the time is more than there is"
    total, cp, emulation = run.total_msec_per_tx, run.cp_msec_per_tx, run.emul_msec_per_tx
    if known(total) and known(cp) and known(emulation) and not adds_up(total, cp, emulation):
        return f"{cp:g} and {emulation:g} ms per transaction are not {total:g}"
    spun = spun_msec(run)
    if spun is not None and known(cp) and spun > cp * (1 + INSTRUMENTS_PERCENT / 100):
        return f"{plain(spun, 3)} ms spent spinning are more than all of CP's {cp:g} ms per transaction"
    return ""


def run_of_pages(facts: Facts) -> tuple[PerformanceRun, SpinLock] | None:
    """The run that a page of locks is of, with the row that shows it: as many spins, of as long a time.

    Such a run's other figures are the page's, too, and the page names the lock that the table does not. `None` where
    no run is, or more than one. Declares `PerformanceRun` and `SpinLock`.
    """
    found = {
        run.run: (run, row)
        for run in distinct(facts.every(PerformanceRun))
        for row in facts.every(SpinLock)
        if row.statistic == "mean" and not doubt(run)
        if _alike(run.spin_rate, row.collisions_per_second) and _alike(run.spin_percent, row.spin_percent)
    }
    return next(iter(found.values())) if len(found) == 1 else None


def _alike(one: Reading, other: Reading) -> bool:
    return known(one) and known(other) and abs(other) > 0 and abs(one - other) * 100 <= REPEAT_PERCENT * abs(other)


def spun_percent(run: PerformanceRun) -> float | None:
    """Share of the mean processor's time that was spent spinning; rate × time where no share is printed."""
    if known(run.spin_percent):
        return run.spin_percent
    rate, usec = run.spin_rate, run.spin_time_usec
    return spin_percent(rate, usec) if known(rate) and known(usec) else None


def spun_msec(run: PerformanceRun) -> float | None:
    """CPU time spent spinning per transaction, ms."""
    percent, cpus, rate = spun_percent(run), run.processors, run.transactions_per_second
    if percent is None or not known(cpus) or not known(rate) or rate <= 0:
        return None
    return spin_msec_per_transaction(cpus, percent, rate)


def spun_share(run: PerformanceRun) -> float | None:
    """How much of CP's time per transaction was spent spinning, %."""
    spun, cp = spun_msec(run), run.cp_msec_per_tx
    return share_percent(spun, cp) if spun is not None and known(cp) and cp > 0 else None


def cost_of(run: PerformanceRun) -> Cost | None:
    """Processors' worth of spinning; the range is what two instruments of one run differ by."""
    percent = spun_percent(run)
    if percent is None or not known(run.processors):
        return None
    lost = processors_lost(run.processors, percent)
    return Cost(lost, lost * (1 - INSTRUMENTS_PERCENT / 100), lost * (1 + INSTRUMENTS_PERCENT / 100), of_capture=False)


def pairs(runs: Sequence[PerformanceRun]) -> tuple[Pair, ...]:
    """Each run with its base on the same number of processors, in the order printed.

    The base is the run that the printed ratios are against; where none are printed, the one of the oldest release.
    Runs of one table alone are paired, and a table that was collected twice counts once.
    """
    once = distinct(runs)
    bases = ((run, _base_of(run, [one for one in once if _beside(one, run)])) for run in once)
    return tuple(Pair(base, run) for run, base in bases if base is not None)


def distinct(runs: Sequence[PerformanceRun]) -> list[PerformanceRun]:
    """Each run once, as it was read first: a table may be collected twice."""
    found: dict[PerformanceRun, PerformanceRun] = {}
    for run in runs:
        found.setdefault(dataclasses.replace(run, source=NOWHERE), run)
    return list(found.values())


def across(before: Sequence[PerformanceRun], after: Sequence[PerformanceRun]) -> tuple[Pair, ...]:
    """The runs of two captures on the same number of processors, where each has one."""
    found = []
    for run in after:
        others = [one for one in before if one.processors == run.processors]
        if len(others) == 1 and sum(one.processors == run.processors for one in after) == 1:
            found.append(Pair(others[0], run))
    return tuple(found)


def _beside(one: PerformanceRun, run: PerformanceRun) -> bool:
    same = one.source.file == run.source.file and one.title == run.title
    return same and one is not run and known(run.processors) and one.processors == run.processors


def _base_of(run: PerformanceRun, others: Sequence[PerformanceRun]) -> PerformanceRun | None:
    if run.base is not None:
        return None if run.base == run.run else next((one for one in others if one.run == run.base), None)
    mine = parsed(run.release)
    dated = [(release, one) for one in others if one.base in (None, one.run) and (release := parsed(one.release))]
    older = [(release, one) for release, one in dated if mine is not None and release < mine]
    return min(older, key=lambda pair: pair[0])[1] if older else None


def metrics(pair: Pair) -> tuple[Metric, ...]:
    """Every figure that both runs have, work first; CP's time per transaction decides."""
    return tuple(_metrics(pair))


def _metrics(pair: Pair) -> Iterator[Metric]:
    named: tuple[tuple[str, str, str, Literal["low", "high"] | None], ...] = (
        ("cp_msec_per_tx", "CP time per transaction", "ms", "low"),
        ("total_msec_per_tx", "CPU time per transaction", "ms", "low"),
        ("emul_msec_per_tx", "guests' own time per transaction", "ms", None),
        ("spin_msec_per_tx", "time spent spinning per transaction", "ms", "low"),
        ("spin_share_of_cp_percent", "share of CP's time spent spinning", "%", "low"),
        ("transactions_per_second", "transactions", "/s", "high"),
        ("sie_per_second", "SIE instructions", "/s", None),
        ("spin_rate", "spins, mean of the processors", "/s", "low"),
        ("spin_time_usec", "mean time of one spin", "µs", "low"),
        ("spin_percent", "time spent spinning, mean of the processors", "%", "low"),
        ("total_util_percent", "processors busy, mean", "%", None),
        ("system_util_percent", "system overhead, mean of the processors", "%", None),
    )
    for key, label, unit, better in named:
        before, after = (_figure(one, key) for one in (pair.base, pair.run))
        if before is not None and after is not None:
            yield Metric(key, label, unit, before, after, better, decides=key == "cp_msec_per_tx")


def _figure(run: PerformanceRun, key: str) -> float | None:
    made = {"spin_msec_per_tx": spun_msec, "spin_share_of_cp_percent": spun_share, "spin_percent": spun_percent}
    if key in made:
        return made[key](run)
    value = getattr(run, key)
    return value if known(value) else None


def conclusion(pair: Pair) -> str:
    """What may be concluded, in plain words: by CP's time per transaction, and whether spinning still limits it."""
    cpus = f"{pair.processors:g} processors, {pair.base.run} → {pair.run.run}"
    if pair.doubt:
        return f"{cpus}: nothing can be concluded, for {pair.doubt}"
    figures = {one.key: one for one in metrics(pair)}
    cp = figures.get("cp_msec_per_tx")
    if cp is None or not cp.before:
        return f"{cpus}: CP's time per transaction is not in the table, so nothing is concluded"
    moved = 100 * (cp.after / cp.before - 1)
    times = f"{cp.before:g} → {cp.after:g} ms, {moved:+.0f} %"
    if abs(moved) <= REPEAT_PERCENT:
        said = f"no gain in CP time per transaction ({times}; runs repeat within {REPEAT_PERCENT:g} %)"
    elif moved > 0:
        said = f"worse: CP takes more time per transaction ({times})"
    else:
        said = (
            f"{'a large gain' if -moved >= LARGE_PERCENT else 'better'}: CP takes less time per transaction ({times})"
        )
    parts = [f"{cpus}: {said}", *_beside_it(figures, moved)]
    if comparable(_release(pair.base), _release(pair.run)) is False:
        parts.append(NOT_COMPARABLE.rstrip("."))
    return "; ".join(parts)


def _beside_it(figures: dict[str, Metric], moved: float) -> Iterator[str]:
    """What the other figures add: work done, what became of spinning, whether it still limits CP."""
    done = figures.get("transactions_per_second")
    if done and done.before and abs(done.after / done.before - 1) > REPEAT_PERCENT / 100:
        yield f"transactions per second × {done.after / done.before:.3f}"
    spins = [figures[key] for key in ("spin_rate", "spin_percent") if key in figures and figures[key].before]
    fell = [100 * (1 - one.after / one.before) for one in spins]
    if abs(moved) <= REPEAT_PERCENT and len(fell) == 2 and min(fell) > REPEAT_PERCENT:
        yield f"although requests spin {fell[0]:.1f} % less often and {fell[1]:.1f} % less time is spent spinning"
    spun, part, cp = (figures.get(key) for key in ("spin_msec_per_tx", "spin_share_of_cp_percent", "cp_msec_per_tx"))
    if spun and part and cp:
        yield f"spinning {_msec(spun.before)} of {_msec(cp.before)} → {_msec(spun.after)} of {_msec(cp.after)} CP ms"
        if part.after >= BOUND_PERCENT:
            yield f"still bound by CP locks: {part.after:.0f} % of CP's time is spent spinning"
        elif part.before < BOUND_PERCENT:
            yield f"CP locks were no problem before, either: {part.before:.0f} % of CP's time"


def _msec(value: float) -> str:
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def _release(run: PerformanceRun) -> Release | None:
    return parsed(run.release)
