"""What a load series without a dedicated lock manager lets one expect of it: arithmetic on one machine's figures.

On JCC Consulting's BL870c (slides of 2014) a lone process took 1.97 µs of kernel time per lock operation, so one CPU
that does nothing else could serve 508,700 a second; with the dedicated lock manager 499,842 were measured, where six
processes without it did 341,316. Checked on that machine alone, and documented for Alpha and Integrity alone.
"""

from dataclasses import dataclass

from collectors.facts.scaling import LoadSeries
from rules.laws.hardware import hardware_of
from rules.laws.machines import machine_of
from rules.laws.modes import spinning_share
from rules.laws.series import Step, TimeSeries

SPINNING_PERCENT = 50.0
"""This project: from this share of the busy time in MP synch at the highest load on the lock manager may be why."""
FALLEN_TO = 0.8
"""This project: of the peak's rate; a lesser fall is not worth a CPU."""
LOCKS = "lock_operations_per_second"


@dataclass(frozen=True)
class Dedicated:
    """What a CPU of its own for the lock manager may hold under overload."""

    kernel_usec: float
    """Kernel time of one lock operation where a process is alone, µs."""
    alone: Step
    share: float
    """MP synch at the highest load, % of the busy time."""
    left: Step
    """The highest load."""

    @property
    def ceiling(self) -> float:
        """Operations per second that one CPU can serve."""
        return 1e6 / self.kernel_usec


def dedicated(series: LoadSeries, course: TimeSeries) -> Dedicated | None:
    """What may be expected; `None` where the curve does not look so, a dedicated one is on, or a figure is missing."""
    found = _reckoned(series, course)
    return found if found and found.ceiling > found.left.rate else None


def too_slow(series: LoadSeries, course: TimeSeries) -> Dedicated | None:
    """The same where one CPU serves no more than is left without it, so that it promises nothing; else `None`."""
    found = _reckoned(series, course)
    return found if found and found.ceiling <= found.left.rate else None


def _reckoned(series: LoadSeries, course: TimeSeries) -> Dedicated | None:
    machine, hardware = machine_of(series.title), hardware_of(series.title)
    if series.derived or series.rate_name != LOCKS or (machine.what == "dlm" and machine.on):
        return None
    if hardware is not None and hardware.family == "x86-64":
        return None
    peak, last, first = course.peak, course.last, course.first
    if first.load != 1 or not series.cores or peak.load >= series.cores or last.rate > FALLEN_TO * peak.rate:
        return None
    kernel, share = mean_of(first, "kernel_percent"), _spinning(last)
    if kernel is None or kernel <= 0 or first.rate <= 0 or share is None or share < SPINNING_PERCENT:
        return None
    return Dedicated(kernel * 1e4 / first.rate, first, share, last)


def mean_of(step: Step, name: str) -> float | None:
    """A further column over the runs of one load; `None` where a run does not tell it."""
    values = [value for run in step.runs if (value := run.other(name)) is not None and value >= 0]
    return sum(values) / len(values) if values and len(values) == len(step.runs) else None


def _spinning(step: Step) -> float | None:
    shares = [share for run in step.runs if (share := spinning_share(run)) is not None]
    return sum(shares) / len(shares) if shares and len(shares) == len(step.runs) else None
