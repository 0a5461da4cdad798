"""What one spin takes on this server, fitted to several captures of it that were read together; or why it is not.

It narrows what the spins of a capture can have taken from a bound to a range, and nothing else: no finding is made of
it, louder by it, or advises anything for it. What the queues of the scheduler spin is counted neither here nor in the
account; where it rises with the other spins, and takes time, the cost of these is rather too high.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from collectors.facts import Facts
from collectors.facts.ase import SpinLoad
from rules.laws.rounding import plain
from rules.laws.spin_fit import LEAST_SPREAD, Fit, Load, fit
from rules.laws.spinlocks import SECONDS_PER_SPIN


def _nano(seconds: float) -> str:
    """Nanoseconds with two digits: `38`, `-160`, `100`."""
    return plain(1e9 * seconds, 2)


@dataclass(frozen=True)
class SiteCost:
    """Seconds per spin that the captures of one server show."""

    low: float
    high: float
    says: str
    """What it is and what it was made of, with its error, as a sentence."""
    brief: str
    """`12 to 35 ns each by 3 captures`."""


def site_cost(facts: Facts) -> SiteCost | str | None:
    """The cost of one spin; why the captures at hand do not give it; `None` where there are no others."""
    loads = facts.every(SpinLoad)
    own = next((one for one in loads if one.own), None)
    others = [one for one in loads if not one.own]
    if own is None or not others:
        return None
    alike = [one for one in others if not one.differs]
    if not alike:
        return others[0].differs
    used = [own, *alike]
    rates = [one.transactions / one.seconds for one in used]
    if min(rates) > (1 - LEAST_SPREAD) * max(rates):
        return f"they did {min(rates):,.0f} to {max(rates):,.0f} transactions a second, which differs too little"
    found = fit([_load(one) for one in used])
    if found is None:
        return "their spins per transaction differ too little"
    bound = min(SECONDS_PER_SPIN, *(one.busy_seconds / one.spins for one in used if one.spins > 0))
    if not 0 < found.seconds < bound or found.own <= 0:
        return (
            f"it would be {_nano(found.seconds)} ns, which is not between 0 and the {_nano(bound)} ns that it "
            "can be at most: a transaction was not the same work in each"
        )
    return _made(found, used, bound)


def _load(one: SpinLoad) -> Load:
    return Load(one.transactions, one.busy_seconds, one.busy_error, one.spins, one.transactions_error)


def _made(found: Fit, used: Sequence[SpinLoad], bound: float) -> SiteCost | str:
    low, high = max(0.0, found.low), min(bound, found.high)
    if low <= 0 and high >= bound:
        return f"its error is larger than the {_nano(bound)} ns that it can be at most"
    each = f"{_nano(low)} to {_nano(high)} ns"
    if found.loads == 2:
        error = (
            "two captures leave no degree of freedom, so the range is the rounding of their figures alone, and that a "
            "transaction was the same work in both is taken for granted"
        )
    else:
        error = "the range is that of least squares, 95 %, or of rounding, whichever is wider"
    times = ", ".join(f"{one.start:%d-%b %H:%M}" if one.start else "no time" for one in used[:4])
    more = f" and {len(used) - 4} more" if len(used) > 4 else ""
    return SiteCost(
        low,
        high,
        f"One spin took {each} on this server, by CPU time against spins per transaction of {found.loads} captures "
        f"({times}{more}); {error}.",
        f"{each} each by {found.loads} captures of this server",
    )
