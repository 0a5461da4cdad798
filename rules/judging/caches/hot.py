"""Which data caches of SAP ASE are contended enough for a binding plan: the gates two rules share."""

from collections.abc import Iterator

from collectors.facts import Fact, Facts, known
from collectors.facts.ase import CacheActivity, MonSpinlockActivity
from rules.finding import Clean, Lacking, Outcome, Unknown, Untrusted
from rules.judging.caches.binding_plan import PLAN_FACTS, pending_of
from rules.judging.caches.contents import Contents, contents_of
from rules.judging.caches.figures import doubt
from rules.judging.server import ENGINE_FACTS, not_shown
from rules.judging.spinlocks.cas import CAS_GRABS
from rules.judging.spinlocks.figures import Figure, ways
from rules.judging.spinlocks.ratio import refused
from rules.judging.spinlocks.spin_severity import spin_bound
from rules.judging.spinlocks.survey import CACHE_FACTS, cache_figure, cache_names
from rules.judging.spinlocks.uneven import uneven
from rules.judging.spinlocks.waits import costs_nothing

HOT_FACTS: tuple[type[Fact], ...] = tuple(dict.fromkeys((*PLAN_FACTS, *ENGINE_FACTS, *CACHE_FACTS)))
"""All that the rules of the binding plan look at."""
HIDDEN = Lacking(
    "searches of the system tables: monOpenObjectActivity hides them",
    "dbcc traceon(3650), then two snapshots of master..monOpenObjectActivity, then dbcc traceoff(3650)",
)


def searched(
    facts: Facts,
    *,
    contention_percent: float,
    searches_per_second: float,
    busy_percent: float,
    spread: bool = False,
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
        why = next(_quiet(facts, name, figure, (contention_percent, searches_per_second, busy_percent)), None)
        if why is None and spread and (skew := uneven(figure.lock, contention_percent)):
            why = Clean(f"{figure.said}, but {skew.says}: one hot page or few, so no binding plan is made by shares")
        if why:
            quiet.append(why)
        else:
            hot.append(figure)
    if not hot:
        return [], None, quiet or [Unknown(ways("the data caches", spins=not not_shown(facts, MonSpinlockActivity)))]
    contents = contents_of(facts)
    return (hot, contents, quiet) if isinstance(contents, Contents) else (hot, None, [*quiet, contents])


def _quiet(facts: Facts, name: str, figure: Figure, limits: tuple[float, float, float]) -> Iterator[Outcome]:
    """Why nothing is to be done about a cache."""
    contention_percent, searches_per_second, busy_percent = limits
    refusal = refused(facts, name, figure.contention, contention_percent, busy_percent=busy_percent, figure=figure)
    if refusal:
        yield refusal
    if figure.uses.startswith(CAS_GRABS):
        yield Clean(f"{figure.said}; it is lockless, and the plan is made for spinlocks: no binding plan")
    printed = facts.latest(CacheActivity, name=name)
    if printed and figure.lock is None and (why := doubt(printed)):
        yield Untrusted(why)
    few = figure.too_few(searches_per_second)
    if few:
        yield Clean(f"{figure.said}, but {few}")
    bound = spin_bound(facts, figure.lock)
    if bound.nothing if bound else costs_nothing(facts, figure):
        says = bound.says if bound else costs_nothing(facts, figure)
        yield Clean(f"{figure.said}, but no binding plan is made for it. {says}")
    if figure.since_boot:
        interval = Lacking("contention between two snapshots, for a binding plan", MonSpinlockActivity.BRING)
        yield Unknown((interval,), f"{figure.said}: an average since boot hides the peak, so no binding plan is made")
    if figure.short:
        longer = Lacking("an interval long enough for a binding plan", MonSpinlockActivity.BRING)
        yield Unknown((longer,), f"{figure.said}: {figure.aside or 'too short for a binding plan'}")
    waiting = pending_of(facts, name)
    if waiting:
        yield Clean(f"{figure.said}; {waiting}")


def contention_of(figure: Figure) -> float:
    """The contention of a figure that was let through."""
    return figure.contention if known(figure.contention) else 0.0
