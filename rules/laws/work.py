"""Whether the runs of a load series did the same work: user-mode time per unit of work, load by load.

What a program does for itself in user mode costs the same at every load; queueing for what is shared shows elsewhere
(MP synchronization, kernel, idle time). Six runs of JCC Consulting's BL870c lie within a factor of 1.21. The table of
Advanced Programming in the UNIX Environment (3rd edition, figure 20.8) rises 16-fold from 1 process to 16, because hash
chains grow with the database: a law fitted to it would speak of the chains.

Runs of a lock test count the work itself: where enqueues and converts make the same part of all operations at every
load, the work is the same, whatever a unit of it takes of a core that two co-threads share.
"""

from collectors.facts.scaling import LoadPoint, LoadSeries

MOST = 1.5
"""This project: user time per unit of work that differs by more than this factor is other work."""
USER = ("user_seconds", "user_s", "user")
CLOCK = ("clock_seconds", "clock_s", "clock", "elapsed_seconds", "elapsed_s", "elapsed", "seconds")
MIX = ("new_enq_per_second", "converted_enq_per_second")
ALIKE = 0.01
"""This project: so far two runs of one lock test are apart in these parts; enqueues and dequeues may be, too."""
PER_UNIT = "emul_msec_per_tx"
"""What the guests of z/VM did themselves, printed per transaction."""


def uneven_work(series: LoadSeries) -> str | None:
    """Say that the runs did different work; `None` where they did not, or where the columns do not tell.

    Figures count as printed: 3 % may be 2.5 to 3.5, so that rounding alone never makes two runs different.
    """
    if _same_mix(series):
        return None
    low = high = None
    for point in series.points:
        used = _used(point)
        if used is None:
            continue
        low = used if low is None or used[1] < low[1] else low
        high = used if high is None or used[0] > high[0] else high
    if low is None or high is None or low[1] <= 0 or high[0] <= MOST * low[1]:
        return None
    return (
        f"work per unit is not constant: user-mode time per unit of work differs at least {high[0] / low[1]:.1f}-fold "
        f"(lowest at {low[2]:g}, highest at {high[2]:g} {series.load_name}), so the rates count different work"
    )


def _same_mix(series: LoadSeries) -> bool:
    """Whether every run tells its enqueues and converts, and each is the same part of its operations at every load."""
    for name in MIX:
        parts = [
            None if (count := point.other(name)) is None else count / point.rate
            for point in series.points
            if point.rate > 0
        ]
        told = [part for part in parts if part is not None]
        if not told or len(told) < len(parts) or max(told) - min(told) > ALIKE:
            return False
    return True


def _used(point: LoadPoint) -> tuple[float, float, float] | None:
    """User time per unit of work: the least and the most the printed figures allow, and the load."""
    if point.rate <= 0:
        return None
    if (percent := point.other("user_percent")) is not None and percent > 0:
        low, high = _printed(percent, 0.5)
        return low / point.rate, high / point.rate, point.load
    seconds, clock = _first(point, USER), _first(point, CLOCK)
    if seconds is not None and clock is not None and seconds > 0 and clock > 0:
        low, high = _printed(seconds, 0.005)
        return low / (point.rate * clock), high / (point.rate * clock), point.load
    if (each := point.other(PER_UNIT)) is not None and each > 0:
        return each, each, point.load
    return None


def _printed(value: float, half: float) -> tuple[float, float]:
    """The range a printed figure stands for: per cent are often whole, seconds have two decimals."""
    return max(0.0, value - half), value + half


def _first(point: LoadPoint, names: tuple[str, ...]) -> float | None:
    return next((value for name in names if (value := point.other(name)) is not None), None)
