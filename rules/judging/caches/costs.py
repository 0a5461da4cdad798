"""What the waits for a data cache's spinlock can cost where no export has their spins: a bound by their number."""

from collectors.facts import Facts, known
from rules.judging.server import busy_of
from rules.judging.spinlocks.cas import CAS_GRABS
from rules.judging.spinlocks.figures import Figure
from rules.judging.spinlocks.spin_severity import CACHE_TURNS, NOTHING_PERCENT, at_most_share


def costs_nothing(facts: Facts, figure: Figure) -> str:
    """That so few waits cost nothing measurable, as a sentence; empty where they may, or where that is not known.

    One figure for all partitions counts the waits of the hottest too, so the bound holds for them together. Nothing is
    said of averages since boot, nor of a lockless cache, whose waits are no turns of this loop.
    """
    engines, _ = busy_of(facts, interval=figure.of_interval)
    most = figure.most_per_second if known(figure.most_per_second) else figure.per_second
    counted = known(most) and known(figure.contention) and not figure.since_boot
    if not engines or not counted or figure.uses.startswith(CAS_GRABS):
        return ""
    assert known(most)  # noqa: S101 - said by `counted`
    assert known(figure.contention)  # noqa: S101 - likewise
    waits = most * figure.contention / 100.0
    percent = at_most_share(waits, engines)
    if percent >= NOTHING_PERCENT:
        return ""
    return (
        f"That is {waits:,.0f} waits per second: at up to {CACHE_TURNS:g} turns of 100 ns each (this project's bound; "
        f"134 were measured at a hot partition) at most {percent:.2f} % of the engines' time, under "
        f"{NOTHING_PERCENT:g} %: nothing measurable is lost, and no restart is worth it."
    )
