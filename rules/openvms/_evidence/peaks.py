"""The peak of a capture in MP synchronization: what its highest sample costs, and the hours a mean or a p95 hides.

A 95th percentile of a day leaves out 72 minutes, a mean spreads one bad hour over 24. The curve of the day tells: what
lasted long enough there is judged by its own figures, as if those hours had been collected alone.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from collectors.facts import ABSENT, Facts, Reading, Source, known
from collectors.facts.openvms import Curve, LockRates, MonitorSample, ProcessorModes
from rules.finding import Cost, Evidence, within
from rules.openvms._evidence.sampling import LEAST_MINUTES, LEAST_SAMPLES

PEAK_FACTS = (Curve, LockRates, MonitorSample, ProcessorModes)
"""What a rule that uses this module has to declare."""
PEAKS = ("at mp synch peak", "maximum")
"""The sample with most MP synch of T4, else the highest sample of MONITOR: the mode's own, so true of one moment."""
AT = "%d-%b %H:%M"


def peak_cost(facts: Facts) -> tuple[str, tuple[Evidence, ...]]:
    """What MP synch cost in its highest sample, as a clause, and its evidence; or nothing.

    A figure that no CPUs could have is left out: it is for the rule to refuse.
    """
    found = [(synch, one) for one in facts.every(ProcessorModes) if (synch := _peak(one)) is not None]
    if not found:
        return "", ()
    synch, modes = max(found, key=lambda pair: pair[0])
    time = next((one.time for one in facts.every(LockRates) if one.time and one.source == modes.source), None)
    when = f" ({time.strftime(AT).upper()})" if time and modes.statistic == PEAKS[0] else ""
    of = f" of {modes.cpus:.0f}" if known(modes.cpus) else ""
    said = f"at its peak, one sample{when}, it cost {synch / 100:.1f}{of} CPUs"
    return said, (Evidence(f"MP synch ({modes.statistic})", synch, "% of one CPU", modes.source),)


def _peak(modes: ProcessorModes) -> float | None:
    synch = modes.mp_synch_percent
    if modes.statistic not in PEAKS or not known(synch):
        return None
    return synch if 0 <= synch <= (102 * modes.cpus if known(modes.cpus) else float("inf")) else None


@dataclass(frozen=True, kw_only=True)
class Hours:
    """A time without a gap in which a figure was over something in every step of the day's curve."""

    start: datetime
    minutes: float
    source: Source
    """Its lines, where they are known; else those of the whole file."""
    samples: int | None
    """How many; `None` where nothing tells."""

    @property
    def when(self) -> str:
        """`From 14-MAR 10:05 to 11:00`, the beginning of a sentence."""
        end = self.start + timedelta(minutes=self.minutes)
        until = end.strftime("%H:%M" if end.date() == self.start.date() else AT).upper()
        return f"From {self.start.strftime(AT).upper()} to {until}"

    @property
    def then(self) -> str:
        """The same within a sentence."""
        return within(self.when)

    @property
    def counted(self) -> str:
        """How its figures were computed, for evidence."""
        return f"as the mean of {self.samples} samples" if self.samples else "as the mean of these hours"

    def proof(self, metric: str, value: float, unit: str, limit: float | None = None) -> Evidence:
        """One of its figures, held against a limit."""
        return Evidence(metric, round(value, 1), unit, self.source, limit, self.counted)

    @property
    def apart(self) -> str:
        """That its figures are of these hours alone, as a sentence."""
        return f"These are the figures of {self.minutes:.0f} minutes, not of the capture's mean."


@dataclass(frozen=True, kw_only=True)
class Stretch(Hours):
    """Such a time of MP synch."""

    synch: float
    """Mean MP synch of it, per cent of one CPU."""
    busy: float
    """Mean busy time of it, per cent of one CPU."""
    operations: float | None
    """Mean lock operations per second of it; `None` where a step has none."""
    cpus: float

    @property
    def evidence(self) -> Evidence:
        """What it lost."""
        return self.proof(f"MP synch ({self.then})", self.synch, "% of one CPU")

    @property
    def brief(self) -> str:
        """Its own figures where it is too short for a finding, as a clause that begins with a comma."""
        rate = "" if self.operations is None else f" at {self.operations:,.0f} lock operations/s"
        return (
            f", but for {self.minutes:.0f} minutes, too short for a finding: {self.then} MP synch was "
            f"{self.synch:.0f} % of one CPU{rate} (where the work of that time matters, measure it alone)"
        )

    @property
    def cost(self) -> Cost:
        """What it lost while it lasted: not what the capture lost on average."""
        lost = self.synch / 100
        return Cost(lost, lost, lost, of_capture=False)


@dataclass(frozen=True)
class Length:
    """How long a stretch has to last: samples and minutes together, or minutes alone where nobody counted samples."""

    samples: int
    sampled_minutes: float
    minutes: float

    def reached(self, one: Hours) -> bool:
        """Whether a stretch lasted so long."""
        if one.samples is None:
            return one.minutes >= self.minutes
        return one.samples >= self.samples and one.minutes >= self.sampled_minutes


SUSTAINED = Length(LEAST_SAMPLES, LEAST_MINUTES, 30.0)
"""This project: hours that count although a day's figure hides them; half an hour where nobody counted samples."""
ANY = Length(0, 0.0, 0.0)
"""However short: to be told of, not to be judged by."""


def longest(
    facts: Facts, cpus: float, least: Length, over: Callable[[float, float, float | None], bool]
) -> Stretch | None:
    """The longest time in which `over(mp synch, busy, lock operations)` held in every step, if any is long enough.

    Modes in per cent of one CPU, operations per second (`None`: no curve of them). Steps that the export left out, and
    figures that `cpus` CPUs cannot have, end a stretch.
    """
    found = [one for curve in facts.every(Curve) if curve.name == "mp synch" for one in _runs(facts, curve, cpus, over)]
    best = max(found, key=lambda one: one.minutes, default=None)
    return best if best and least.reached(best) else None


def busiest(facts: Facts, cpus: float) -> Stretch | None:
    """The busiest half hour without a gap, of a curve that is at least twice as long: else it is the capture itself."""
    found: list[Stretch] = []
    for curve in facts.every(Curve):
        steps = max(1, math.ceil(60 * SUSTAINED.minutes / curve.step_seconds)) if curve.name == "mp synch" else 0
        if not steps or len(curve.means) < 2 * steps:
            continue
        beside = {name: one.means for name, one in _beside(facts, curve).items()}
        run = [_step(curve, beside, cpus, at) for at in range(len(curve.means))]
        whole = [at for at in range(len(run) - steps + 1) if None not in run[at : at + steps]]
        busy = {at: sum(step[1] for step in run[at : at + steps] if step) for at in whole}
        if busy:
            first = max(busy, key=lambda at: (busy[at], -at))
            found.append(_stretch(facts, curve, cpus, first, [step for step in run[first : first + steps] if step]))
    return max((one for one in found if SUSTAINED.reached(one)), key=lambda one: one.busy, default=None)


def brief(facts: Facts, cpus: float | None, over: Callable[[float, float, float | None], bool]) -> str:
    """The longest such time where none is long enough, to stand behind a figure in order; empty where there is none."""
    found = longest(facts, cpus, ANY, over) if cpus is not None else None
    return found.brief if found else ""


Step = tuple[float, float, float | None]
"""MP synch, busy, lock operations."""


def _runs(
    facts: Facts, curve: Curve, cpus: float, over: Callable[[float, float, float | None], bool]
) -> Iterator[Stretch]:
    beside = {name: one.means for name, one in _beside(facts, curve).items()}
    run: list[Step] = []
    for at in range(len(curve.means) + 1):
        step = _step(curve, beside, cpus, at)
        if step is not None and over(*step):
            run.append(step)
        elif run:
            yield _stretch(facts, curve, cpus, at - len(run), run)
            run = []


def _step(curve: Curve, beside: Mapping[str, Sequence[Reading]], cpus: float, at: int) -> Step | None:
    """One step; `None` where it lacks MP synch or how busy it was: T4 has the idle time, a recording the busy one."""

    def figure(name: str) -> Reading:
        means = beside.get(name, ())
        return means[at] if at < len(means) else ABSENT

    synch, idle, busy, rate = (figure(name) for name in (curve.name, "idle", "busy", "lock operations"))
    used = max(0.0, 100 * cpus - idle) if known(idle) else busy
    if not known(synch) or not known(used) or not 0 <= synch <= 102 * cpus:
        return None
    return synch, used, rate if known(rate) else None


def _stretch(facts: Facts, curve: Curve, cpus: float, first: int, run: Sequence[Step]) -> Stretch:
    rates = [rate for _, _, rate in run if rate is not None]
    hours = _hours(facts, curve, curve.line_offsets, first, len(run))
    return Stretch(
        start=hours.start,
        minutes=hours.minutes,
        synch=sum(synch for synch, _, _ in run) / len(run),
        busy=sum(busy for _, busy, _ in run) / len(run),
        operations=sum(rates) / len(rates) if len(rates) == len(run) else None,
        cpus=cpus,
        source=hours.source,
        samples=hours.samples,
    )


def _hours(facts: Facts, curve: Curve, line_offsets: Sequence[int], first: int, steps: int) -> Hours:
    minutes = steps * curve.step_seconds / 60
    source, samples = curve.source, _samples_in(facts, curve, minutes)
    if begins := [curve.source.first + offset if offset >= 0 else None for offset in line_offsets[first:]]:
        after = next((line for line in begins[steps:] if line is not None), curve.source.last + 1)
        begin = begins[0] if begins[0] is not None else curve.source.first
        source = replace(curve.source, first=begin, last=after - 1)
        samples = after - begin
    start = curve.start + timedelta(seconds=first * curve.step_seconds)
    return Hours(start=start, minutes=minutes, source=source, samples=samples)


def worst(
    facts: Facts, names: Sequence[str], least: Length, over: Callable[[Sequence[float]], float | None]
) -> tuple[Hours, tuple[float, ...]] | None:
    """The hours with most of what `over` gives of the named curves (`None`: not over), and the mean of each curve.

    A step that lacks one of the figures ends such hours.
    """
    found: list[tuple[float, Hours, tuple[float, ...]]] = []
    for curve in facts.every(Curve):
        if curve.name != names[0]:
            continue
        beside = _beside(facts, curve)
        figures = [beside[name].means for name in names if name in beside]
        lines = beside["mp synch"].line_offsets if "mp synch" in beside else ()
        run: list[tuple[float, list[float]]] = []
        for at in range(len(curve.means) + 1):
            step = [value for one in figures if at < len(one) and known(value := one[at])]
            much = over(step) if len(step) == len(names) else None
            if much is not None:
                run.append((much, step))
            elif run:
                hours = _hours(facts, curve, lines, at - len(run), len(run))
                means = tuple(sum(column) / len(run) for column in zip(*(one for _, one in run), strict=True))
                if least.reached(hours):
                    found.append((sum(much for much, _ in run) * curve.step_seconds, hours, means))
                run = []
    best = max(found, key=lambda one: one[0], default=None)
    return best[1:] if best else None


def _beside(facts: Facts, curve: Curve) -> dict[str, Curve]:
    """The curves of one file with the same steps, by name."""
    return {
        one.name: one
        for one in facts.every(Curve)
        if one.source.file == curve.source.file and (one.start, one.step_seconds) == (curve.start, curve.step_seconds)
    }


def _samples_in(facts: Facts, curve: Curve, minutes: float) -> int | None:
    """How many samples a recording has in so many minutes, by its interval; `None` where it does not tell."""
    for one in facts.every(MonitorSample):
        if one.source.file == curve.source.file and one.interval_seconds:
            return round(60 * minutes / one.interval_seconds)
    return None
