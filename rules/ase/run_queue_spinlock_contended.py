"""The spinlocks of the engines' run queues are contended.

Finds: the run queue spinlocks (`Kernel->erunqspinlock` up to 15.5, `Kernel->kprunqspinlock`) contended by 10 % or by
their spins, and queues of the threaded kernel (`Sched Q` and its kin) with 10 % of their grabs waiting.

Why it matters: each engine has a queue of tasks that may run, with a spinlock of its own. Engines without work look
into the queues of the others. Where they meet there often, more engines are online than the work can use.

What to do: no parameter spreads these spinlocks, there is one for each engine already. Measure with fewer engines: the
more so where spins per wait are above 200 and commits fall while the engines are busy (ase/engines_past_peak). Never
add engines for it.

When to ignore it: where commits per second grow with the load. Very many spins on `Sched Q` with a low share of waits
are normal; a benchmark in good order showed tens of thousands for each wait. So the queues are judged by their share
alone.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from collectors.facts import Facts
from collectors.facts.ase import MonSpinlockActivity
from rules.ase._evidence.server import ENGINE_FACTS, unknown_of
from rules.ase._evidence.spinlocks.figures import Figure, figure_of
from rules.ase._evidence.spinlocks.monitored import (
    RUN_QUEUE,
    RUN_QUEUE_OLD,
    SCHEDULER,
    names_read,
)
from rules.ase._evidence.spinlocks.named import Advice, Dear, quiet_of, speak
from rules.ase._evidence.spinlocks.names import plain_name
from rules.engine import limit, rule
from rules.finding import Clean, Outcome, joined

LINKS = (
    "https://wiki.scn.sap.com/wiki/display/SYBASE/Spinlocks+and+CPU+usage+in+SAP+ASE",
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc31644.1600/doc/html/san1371158567770.html",
)
ONE_EACH = "Each engine has one such queue already: no parameter spreads them, and more engines spin more."
FEWER = "Measure the same work with fewer engines; add none."
NEVER_BY_SPINS = 101.0
"""Per cent of all spins: the queues of the threaded kernel are not judged by them."""


@dataclass(frozen=True)
class Limits(Dear):
    """From which figures on the rule speaks."""

    spins_per_wait: float = limit(
        200.0, "practice: above 100-200 fewer engines (DbxTune); alone it speaks too often", low=1, unit="spins"
    )


@rule(needs=(), uses=(*ENGINE_FACTS, MonSpinlockActivity), links=LINKS, limits=Limits)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge each queue that the table shows."""
    queues = (RUN_QUEUE_OLD, RUN_QUEUE, *SCHEDULER)
    names = sorted({plain_name(name) for name in names_read(facts)})
    seen = [name for name in names if name in queues]
    if not names:
        yield unknown_of(facts, MonSpinlockActivity)
    elif not seen:
        yield Clean("monSpinlockActivity shows no spinlock of a run queue")
    for name in seen:
        figure = figure_of(facts, name, name, "run queue", sysmon=False)
        if not isinstance(figure, Figure):
            yield figure
            continue
        dear = replace(limits, spins_share_percent=NEVER_BY_SPINS) if name in SCHEDULER else limits
        yield quiet_of(facts, dear, figure) or speak(
            facts, dear, figure, subject=name, advice=Advice(ONE_EACH, joined(FEWER, _each_wait(limits, figure)))
        )


def _each_wait(limits: Limits, figure: Figure) -> str:
    """Say what many spins for each wait are a sign of, and that alone they are none."""
    each = figure.lock.spins_per_wait if figure.lock else None
    if each is None or each <= limits.spins_per_wait:
        return ""
    return (
        f"{each:,.0f} spins for each wait (practitioners look from {limits.spins_per_wait:g} on) are a sign of too "
        "many engines only where commits fall too (ase/engines_past_peak)."
    )
