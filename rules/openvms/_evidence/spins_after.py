"""What MP synch and kernel time of a node may be once its lock operations are more or fewer: bounds, and why those.

No export tells what a rate costs that was not measured. Two things bound it, both this project's inference and called
so wherever they are printed. What spins for one spinlock grows at least as fast as its use: with fewer operations it is
less by at least that proportion, with more it is more by at least that. And an operation costs the same kernel time
wherever it is served, and at most all of the kernel time is spent on them. Where a test was run on the very node, it
tells the cost of an operation and the MP synch at such a rate; its work is that of the test.
"""

from dataclasses import dataclass

from collectors.facts import Facts, known
from collectors.facts.openvms import ProcessorModes, SpinlockTrace
from rules.changes.quoting import comment
from rules.finding import MissingInput, joined
from rules.laws.dedicated import mean_of
from rules.laws.series import Step
from rules.openvms._evidence.after_move import Range, Rates
from rules.openvms._evidence.judged_spins import spins_of_capture
from rules.openvms._evidence.node import in_prose
from rules.openvms._evidence.own_runs import own_peak, own_runs
from rules.openvms._evidence.spinlocks import LCKMGR, share_of_spinning

Bounds = tuple[float, float | None]
"""The least and the most; the most is `None` where nothing bounds it."""
SAME = "Its lock operations stay as they are."
OWN_CPU = (
    "Its lock manager has a CPU of its own: who waits for it spins in kernel mode, and neither is computed from the "
    "rates of today."
)
UNTRACED = "No spinlock trace of this time tells how much of its MP synch is the lock manager's."


@dataclass(frozen=True)
class SpentAfter:
    """What a node spends in these two modes, per cent of one CPU."""

    kernel_today: float | None = None
    synch: Bounds | None = None
    """`None`: not computable."""
    kernel: Range | None = None
    basis: str = ""
    """By what evidence, or why not, as sentences; empty where nothing is known of the node."""
    missing: tuple[MissingInput, ...] = ()
    """What would tell it more closely, with its node."""


def spent_after(facts: Facts, node: str, today: Rates, after: Rates | None, *, dedicated: bool | None) -> SpentAfter:
    """Bound it for the node of these facts; `after` is `None` where its rates afterwards are not known."""
    modes = facts.latest(ProcessorModes, statistic="mean") or facts.latest(ProcessorModes, statistic="current")
    synch = modes.mp_synch_percent if modes else None
    kernel = modes.kernel_percent if modes else None
    kernel_now = kernel if known(kernel) and kernel >= 0 else None
    if after is None or today.all is None or after.all is None or not known(synch) or synch < 0 or not today.all[0]:
        return SpentAfter(kernel_now)
    if after == today:
        unchanged = None if kernel_now is None else (kernel_now, kernel_now)
        return SpentAfter(kernel_now, (synch, synch), unchanged, SAME)
    if dedicated:
        return SpentAfter(kernel_now, basis=OWN_CPU, missing=(_measured(node),))
    times = (after.all[0] / today.all[0], after.all[1] / today.all[0])
    part = share_of_spinning(facts, LCKMGR) if spins_of_capture(facts, modes).heat(facts) else None
    bounds = _synch(synch, None if part is None else part / 100, times)
    test, at = _at_rate(facts, after.all[1]) if bounds[1] is None else (None, None)
    if at is not None:
        bounds = (bounds[0], max(bounds[0], (1 - (part or 0) / 100) * synch + at))
    lone = _lone_kernel(facts)
    cpus = 100 * modes.cpus if modes and known(modes.cpus) else None
    traced = "" if part is None else f"{part:.0f} % of its MP synch spins for LCKMGR by the spinlock trace."
    tested = f"In a test of this node {in_prose(test.rate)} lock operations/s had so much MP synch." if test else ""
    alone = "" if lone is None else f"Kernel time by {in_prose(lone)} µs an operation, one process alone in its test."
    missing = () if part is not None else (_traced(node),)
    return SpentAfter(
        kernel_now,
        bounds,
        None if kernel_now is None else _kernel(kernel_now, times, _more(today, after, lone), cpus),
        joined(traced or UNTRACED, tested, alone),
        missing,
    )


def _synch(synch: float, part: float | None, times: Range) -> Bounds:
    """`part`: of it, the lock manager's, 0 to 1; `times`: operations afterwards by those of today."""
    low, high = times
    if part is None:
        return (synch if low >= 1 else 0.0), (synch if high <= 1 else None)
    rest, own = (1 - part) * synch, part * synch
    return rest + (own * low if low >= 1 else 0.0), (rest + own * high if high <= 1 else None)


def _kernel(kernel: float, times: Range, more: Range | None, cpus: float | None) -> Range:
    """Between as today and in proportion to the operations; within that by the cost of one, where a test tells it."""
    low, high = kernel * min(1.0, times[0]), kernel * max(1.0, times[1])
    if more is not None:
        low, high = (min(max(kernel + one, low), high) for one in more)
    return low, (high if cpus is None else max(low, min(high, cpus)))


def _more(today: Rates, after: Rates, lone: float | None) -> Range | None:
    """What the operations that come or go take of one CPU, per cent; negative where they go."""
    if lone is None or today.all is None or after.all is None:
        return None
    return (after.all[0] - today.all[0]) * lone / 1e4, (after.all[1] - today.all[0]) * lone / 1e4


def _at_rate(facts: Facts, rate: float) -> tuple[Step | None, float | None]:
    """The first load of the node's own test up to its peak that did so much, and its MP synch, % of one CPU."""
    run = own_peak(facts, with_it=False)
    steps = [one for one in run.course.steps if one.load <= run.peak.load and one.rate >= rate] if run else []
    first = min(steps, key=lambda one: one.load, default=None)
    value = mean_of(first, "mp_synch_percent") if first else None
    return (first, value) if value is not None else (None, None)


def _lone_kernel(facts: Facts) -> float | None:
    """Kernel time of one lock operation in the node's own test with one process, µs; the least of its tests."""
    found = [
        kernel * 1e4 / run.course.first.rate
        for run in own_runs(facts)
        if run.course.first.load == 1 and run.course.first.rate > 0 and run.told.get("dlm") != "on"
        if (kernel := mean_of(run.course.first, "kernel_percent")) is not None
    ]
    return min(found, default=None)


def _traced(node: str) -> MissingInput:
    name = comment(node, 31)
    return MissingInput(f"which spinlock MP synch of {name} is for", f"{SpinlockTrace.COLLECTED_BY} ! on {name}")


def _measured(node: str) -> MissingInput:
    name = comment(node, 31)
    return MissingInput(
        f"MP synch and kernel time of {name} after the move",
        f"{ProcessorModes.COLLECTED_BY} ! on {name}, after that step",
    )
