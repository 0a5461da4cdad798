"""Which data caches of SAP ASE are contended enough for a binding plan: the gates two rules share."""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Fact, Facts, Reading, known
from collectors.facts.ase import CacheActivity, MonSpinlockActivity
from rules.ase._evidence.caches.binding_plan import PLAN_FACTS, pending_of
from rules.ase._evidence.caches.contents import Contents, contents_of
from rules.ase._evidence.caches.figures import doubt, named_of
from rules.ase._evidence.caches.partitions import never_sized
from rules.ase._evidence.objects.statements import STATEMENT_FACTS
from rules.ase._evidence.server import ENGINE_FACTS, not_shown
from rules.ase._evidence.spinlocks.cas import CAS_GRABS
from rules.ase._evidence.spinlocks.figures import Figure, ways
from rules.ase._evidence.spinlocks.gates import BUSY_ORIGIN, BUSY_PERCENT, CACHE_PERCENT, CACHE_SEARCHES
from rules.ase._evidence.spinlocks.ratio import refused
from rules.ase._evidence.spinlocks.spin_severity import spin_bound
from rules.ase._evidence.spinlocks.survey import CACHE_FACTS, cache_figure, cache_names
from rules.ase._evidence.spinlocks.uneven import uneven
from rules.ase._evidence.spinlocks.waits import costs_nothing
from rules.engine import limit, percent
from rules.finding import Clean, MissingInput, Outcome, Unknown, Untrusted

HOT_FACTS: tuple[type[Fact], ...] = tuple(dict.fromkeys((*PLAN_FACTS, *ENGINE_FACTS, *CACHE_FACTS, *STATEMENT_FACTS)))
"""All that the rules of the binding plan look at."""
HIDDEN = MissingInput(
    "searches of the system tables: monOpenObjectActivity hides them",
    "dbcc traceon(3650), then two snapshots of master..monOpenObjectActivity, then dbcc traceoff(3650)",
)


@dataclass(frozen=True)
class CacheLimits:
    """From which figures on a rule speaks of a data cache: those of each of them, which may add their own."""

    contention_percent: float = percent(
        CACHE_PERCENT, "vendor: over 10 % more partitions or named caches (System Administration Guide 2)"
    )
    searches_per_second: float = limit(
        CACHE_SEARCHES, "this project: below this the per cent is of almost nothing", unit="searches/s"
    )
    busy_percent: float = percent(BUSY_PERCENT, BUSY_ORIGIN)


def searched(
    facts: Facts, limits: CacheLimits, *, spread: bool = False
) -> tuple[list[Figure], Contents | None, list[Outcome]]:
    """The caches over the limits with what all caches hold, and what is to be said of the others.

    `spread`: leave out caches of which a few partitions cause the contention: a plan by shares of searches takes them
    for evenly spread. The label of a figure is the cache's name. Without contents there is nothing to look into: no
    cache is contended, or the counts by object cannot be used.
    """
    hot: list[Figure] = []
    quiet: list[Outcome] = []
    for name in cache_names(facts):
        figure = cache_figure(facts, name, name)
        if not isinstance(figure, Figure):
            quiet.append(figure)
            continue
        why = next(_quiet(facts, name, figure, limits), None)
        if why is None and spread and (skew := uneven(figure.lock, limits.contention_percent)):
            why = Clean(f"{figure.said}, but {skew.says}: one hot page or few, so no binding plan is made by shares")
        if why:
            quiet.append(why)
        else:
            hot.append(figure)
    if not hot:
        return [], None, quiet or [Unknown(ways("the data caches", spins=not not_shown(facts, MonSpinlockActivity)))]
    contents = contents_of(facts)
    return (hot, contents, quiet) if isinstance(contents, Contents) else (hot, None, [*quiet, contents])


def _quiet(facts: Facts, name: str, figure: Figure, limits: CacheLimits) -> Iterator[Outcome]:
    """Why nothing is to be done about a cache."""
    over, busy = limits.contention_percent, limits.busy_percent
    refusal = refused(facts, name, judged_by(figure, over), over, busy_percent=busy, figure=figure)
    if refusal:
        yield refusal
    if figure.uses.startswith(CAS_GRABS):
        yield Clean(f"{figure.said}; it is lockless, and the plan is made for spinlocks: no binding plan")
    printed = facts.latest(CacheActivity, name=name)
    if printed and figure.lock is None and (why := doubt(printed)):
        yield Untrusted(why)
    few = figure.too_few(limits.searches_per_second)
    if few:
        yield Clean(f"{figure.said}, but {few}")
    if figure.light_average:
        interval = MissingInput(
            "contention between two snapshots, for a binding plan", MonSpinlockActivity.COLLECTED_BY
        )
        yield Unknown((interval,), f"{figure.said}: an average since boot hides the peak, so no binding plan is made")
    bound = spin_bound(facts, figure.lock)
    if bound.nothing if bound else costs_nothing(facts, figure):
        says = bound.says if bound else costs_nothing(facts, figure)
        yield Clean(f"{figure.said}, but no binding plan is made for it. {says}")
    if figure.short:
        longer = MissingInput("an interval long enough for a binding plan", MonSpinlockActivity.COLLECTED_BY)
        yield Unknown((longer,), f"{figure.said}: {figure.aside or 'too short for a binding plan'}")
    named = named_of(facts, name)
    if named and never_sized(named):
        yield Clean(
            f"{figure.said}; its size was never configured: see ase/default_data_cache_unsized, no binding plan"
        )
    waiting = pending_of(facts, name)
    if waiting:
        yield Clean(f"{figure.said}; {waiting}")


def judged_by(figure: Figure, goal_percent: float) -> Reading:
    """The contention of a cache that is held against the limit: of all its partitions, or of the hottest of them.

    Each partition has a spinlock of its own, so one over the limit is enough where the others are much like it: all of
    them are searched for the same then. A few hot ones among cool ones are another thing (`uneven`).
    """
    rows = figure.lock.rows if figure.lock and figure.of_interval else ()
    if not known(figure.contention) or figure.contention >= goal_percent or len(rows) < 2:
        return figure.contention
    hot = figure.lock.hottest.waited_percent if figure.lock else None
    if hot is None or hot < goal_percent or uneven(figure.lock, goal_percent):
        return figure.contention
    return round(hot, 2)


def contention_of(figure: Figure) -> float:
    """The contention of a figure that was let through."""
    return figure.contention if known(figure.contention) else 0.0
