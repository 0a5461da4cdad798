"""The peak of a capture in MP synchronisation: what its highest sample costs, and the hours a mean or a p95 hides.

A 95th percentile of a day leaves out 72 minutes, a mean spreads one bad hour over 24. The curve of the day tells.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from collectors.facts import Facts, known
from collectors.facts.openvms import Curve, LockRates, ProcessorModes
from rules.finding import Evidence, Lacking

READS = (Curve, LockRates, ProcessorModes)
"""What a rule that uses this module has to declare."""
PEAKS = ("at mp synch peak", "maximum")
"""The sample with most MP synch of T4, else the highest sample of MONITOR: the mode's own, so true of one moment."""
AT = "%d-%b %H:%M"


def peak_cost(facts: Facts) -> tuple[str, tuple[Evidence, ...]]:
    """What MP synch cost in its highest sample, as a sentence that begins with a blank, and its evidence; or nothing.

    A figure that no CPUs could have is left out: it is for the rule to refuse.
    """
    found = [(synch, one) for one in facts.every(ProcessorModes) if (synch := _peak(one)) is not None]
    if not found:
        return "", ()
    synch, modes = max(found, key=lambda pair: pair[0])
    time = next((one.time for one in facts.every(LockRates) if one.time and one.source == modes.source), None)
    when = f" ({time.strftime(AT).upper()})" if time and modes.statistic == PEAKS[0] else ""
    of = f" of {modes.cpus:.0f}" if known(modes.cpus) else ""
    said = f" At its peak, one sample{when}, it cost {synch / 100:.1f}{of} CPUs."
    return said, (Evidence(f"MP synch ({modes.statistic})", synch, "% of one CPU", modes.source),)


def _peak(modes: ProcessorModes) -> float | None:
    synch = modes.mp_synch_percent
    if modes.statistic not in PEAKS or not known(synch):
        return None
    return synch if 0 <= synch <= (102 * modes.cpus if known(modes.cpus) else float("inf")) else None


@dataclass(frozen=True)
class Stretch:
    """A time without a gap in which MP synch was over something in every step of the day's curve."""

    start: datetime
    minutes: float
    synch: float
    """Mean MP synch of it, per cent of one CPU."""

    @property
    def said(self) -> str:
        """`from 14-MAR 10:05 to 11:00 MP synch was 290 % of one CPU`, for a sentence."""
        end = self.start + timedelta(minutes=self.minutes)
        until = end.strftime("%H:%M" if end.date() == self.start.date() else AT).upper()
        return f"from {self.start.strftime(AT).upper()} to {until} MP synch was {self.synch:.0f} % of one CPU"

    @property
    def lacking(self) -> Lacking:
        """What to bring to have it judged."""
        return Lacking("MP synch and lock operations of the busy hours alone", f"a T4 composite CSV {self.hours} alone")

    @property
    def hours(self) -> str:
        """Which hours, for the command to bring."""
        end = self.start + timedelta(minutes=self.minutes)
        return f"of {self.start.strftime(AT).upper()} to {end.strftime(AT).upper()}"


def longest(
    facts: Facts, cpus: float, least_minutes: float, over: Callable[[float, float, float | None], bool]
) -> Stretch | None:
    """The longest time in which `over(mp synch, busy, lock operations)` held in every step, if any is long enough.

    Modes in per cent of one CPU, operations per second (`None`: no curve of them). Steps that the export left out, and
    figures that `cpus` CPUs cannot have, end a stretch.
    """
    found = [one for curve in facts.every(Curve) if curve.name == "mp synch" for one in _runs(facts, curve, cpus, over)]
    best = max(found, key=lambda one: one.minutes, default=None)
    return best if best and best.minutes >= least_minutes else None


def _runs(
    facts: Facts, curve: Curve, cpus: float, over: Callable[[float, float, float | None], bool]
) -> Iterator[Stretch]:
    beside = {
        one.name: one.means
        for one in facts.every(Curve)
        if one.source.file == curve.source.file and (one.start, one.step_seconds) == (curve.start, curve.step_seconds)
    }
    idle, operations = beside.get("idle", ()), beside.get("lock operations", ())
    run: list[float] = []
    for step in range(len(curve.means) + 1):
        synch = curve.means[step] if step < len(curve.means) else None
        rest = idle[step] if step < len(idle) else None
        rate = operations[step] if step < len(operations) else None
        if (
            known(synch)
            and known(rest)
            and 0 <= synch <= 102 * cpus
            and over(synch, max(0.0, 100 * cpus - rest), rate if known(rate) else None)
        ):
            run.append(synch)
        elif run:
            begin = curve.start + timedelta(seconds=(step - len(run)) * curve.step_seconds)
            yield Stretch(begin, len(run) * curve.step_seconds / 60, sum(run) / len(run))
            run = []
