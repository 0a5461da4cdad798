"""Into how many partitions a data cache of SAP ASE may be cut: by its engines, its release and the size of its pools.

Sources: System Administration Guide 2 (16.0), "Reducing spinlock contention with cache partitions"; System Procedures
(16.0), sp_cacheconfig and sp_poolconfig; that contention halves with each doubling is practice.
"""

from dataclasses import dataclass

from collectors.facts import Facts, known, number_or
from collectors.facts.ase import NamedCache, Server
from rules.changes.ase_cache import most_partitions, set_partitions, show_cache
from rules.changes.ase_cache_back import take_back_partitions
from rules.changes.ase_config import OutOfRange
from rules.finding import Change, Expectation, Lacking
from rules.judging.caches.figures import kind_of, page_kb, pool_kb, pools_of, set_apart, too_small_for
from rules.judging.server import ENGINES_MISSING, busy_of
from rules.laws.hashing import next_power_of_two

SEPARATE = (
    "Spread the load instead: bind the hottest tables and indexes to named caches of their own; of a cache whose hot "
    "objects are bound to it already, only fewer searches relieve the spinlock."
)


@dataclass(frozen=True)
class Advice:
    """What to do about one cache: a sentence, and where it is certain a change; else what to bring."""

    says: str
    change: Change | None = None
    expects: tuple[Expectation, ...] = ()
    missing: tuple[Lacking, ...] = ()


def advise(facts: Facts, cache: str, named: NamedCache | None, contention: float, goal: float) -> Advice:
    """What may be set, or why nothing is."""
    show = show_cache(cache)
    run = named.run_partitions if named else None
    if named is None or not known(run) or run < 1:
        return Advice(
            f"How many partitions it has is not in the export: {show} shows it.",
            missing=(Lacking(f"partitions of {cache}", show),),
        )
    configured = named.config_partitions
    if known(configured) and configured > run:
        return Advice(f"{configured:.0f} partitions are configured and wait for a restart: measure after it.")
    apart, (engines, _) = set_apart(named), busy_of(facts)
    worse = ""
    if known(configured) and 0 < configured < run:
        worse = f"{configured:.0f} partitions are configured in place of the {run:.0f} in force: "
        worse += "the next restart would make it worse. Take that back first. "
    if apart:
        return Advice(f"{worse}It is {apart}: no change is proposed. {SEPARATE}")
    if kind_of(named) == "lockless":
        return Advice(f"{worse}It is a lockless cache, of which no source says what partitions do: none are proposed.")
    if engines is None:
        says = f"{worse}Partitions in force: {run:.0f}; the engines are not in the export, so no change is proposed."
        return Advice(says, missing=(ENGINES_MISSING,))
    if worse:
        return Advice(worse.strip(), _taken_back(cache, number_or(configured, 0.0), run))
    new = next_power_of_two(run + 1)
    of_server = [server.version for server in facts.every(Server) if server.version]
    legal = most_partitions(of_server[-1] if of_server else None)
    useful = next_power_of_two(engines)
    if new > min(legal, useful):
        why = f"with {engines} engines this rule goes no further" if new > useful else f"this release allows {legal}"
        return Advice(f"Partitions in force: {run:.0f}, and {why}. {SEPARATE}")
    pools, page = pools_of(facts, cache), page_kb(facts)
    if not pools or page is None or any(pool_kb(pool) is None for pool in pools):
        unsaid = "whether its pools can be cut further is not in the export"
        return Advice(
            f"Partitions in force: {run:.0f}; {unsaid}: {show} shows it.", missing=(Lacking(f"pools of {cache}", show),)
        )
    small = too_small_for(pools, page, new)
    if small:
        size = f"its {small.io_size_kb:g} KB pool has {(pool_kb(small) or 0) / 1024:g} MB"
        return Advice(
            f"Partitions in force: {run:.0f}; {size}, too little for {new}: enlarge that pool first. {SEPARATE}"
        )
    return _doubling(facts, cache, run, new, contention, goal, legal)


def _taken_back(cache: str, configured: float, running: float) -> Change | None:
    """Nothing where one of the figures cannot be a number of partitions."""
    try:
        return take_back_partitions(cache, configured, running)
    except OutOfRange:
        return None


def _doubling(facts: Facts, cache: str, run: float, new: int, contention: float, goal: float, legal: int) -> Advice:
    """The next power of two, and what the rule of thumb says of going further in the same restart."""
    after = contention * run / new
    says = f"Cut it from {run:.0f} into {new} partitions; practitioners see contention about halved by each doubling."
    engines, _ = busy_of(facts)
    most, pools, page = min(legal, next_power_of_two(engines or 2)), pools_of(facts, cache), page_kb(facts) or 0.0
    while most > new and too_small_for(pools, page, most):
        most //= 2
    if after >= goal and most > new:
        says += (
            f" That alone would leave about {after:.0f} %: up to {most} partitions are possible in the same restart."
        )
    cautions = ["Each partition has its own smaller LRU chain: watch the hit ratio afterwards."]
    if not any(known(server.page_size_bytes) for server in facts.every(Server)):
        cautions.append(f"The logical page is taken as {page:g} KB, the smallest pool: select @@maxpagesize shows it.")
    if new > 64:
        cautions.append("More than 64 partitions was seen in the listing of one 16.0 SP02 server only.")
    expects = (
        Expectation(f"partitions of {cache}", run, new, "arithmetic"),
        Expectation(f"spinlock contention of {cache}", contention, round(after, 1), "heuristic"),
    )
    change = set_partitions(cache, run, new, largest=legal, cautions=tuple(cautions))
    return Advice(says, change, expects)
