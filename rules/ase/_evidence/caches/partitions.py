"""Into how many partitions a data cache of SAP ASE may be cut: by its engines, its release and the size of its pools.

Sources: System Administration Guide 2 (16.0), "Reducing spinlock contention with cache partitions"; System Procedures
(16.0), sp_cacheconfig and sp_poolconfig; that n partitions leave an n-th of the contention is the vendor's
expectation (Performance and Tuning: Basics 12.5.1) and practice.
"""

import math
from dataclasses import dataclass

from collectors.facts import Facts, known, number_or
from collectors.facts.ase import CachePool, ConfigParameter, NamedCache, Server
from collectors.facts.base import ABSENT
from rules.ase._evidence.caches.figures import (
    kind_of,
    least_pool_kb,
    named_of,
    pool_kb,
    pools_of,
    set_apart,
    too_small_for,
    unknown_kind,
)
from rules.ase._evidence.server import ENGINES_MISSING, engines_at_most, page_kb, setting_of
from rules.ase._evidence.spinlocks.monitored import spinlock_named
from rules.ase._evidence.spinlocks.uneven import uneven
from rules.changes.ase_cache import DEFAULT_CACHE, most_partitions, of_cache, set_partitions, show_cache
from rules.changes.ase_cache_back import take_back_partitions
from rules.changes.out_of_range import OutOfRange
from rules.finding import Change, Effect, Expectation, MissingInput, joined
from rules.laws.hashing import next_power_of_two
from rules.laws.rounding import plain

GLOBAL = "global cache partition number"
SEPARATE = (
    "What is left: bind the hottest tables and indexes to named caches of their own; where that is done, only fewer "
    "searches reduce the contention."
)

LOCKLESS = (
    "No partitions are proposed: no source says what they do to a lockless cache. Fewer searches reduce it, or a "
    "second cache for some of its objects."
)


@dataclass(frozen=True)
class Advice:
    """What to do about one cache, and where it is certain a change; else what to collect."""

    do: str
    change: Change | None = None
    expects: tuple[Expectation, ...] = ()
    missing: tuple[MissingInput, ...] = ()
    because: str = ""
    """What stands in the way of more, or makes it worse, as a sentence."""
    instead: str = ""
    """What helps where this alone does not, as a sentence."""


def advise(facts: Facts, cache: str, named: NamedCache | None, contention: float, goal: float) -> Advice:
    """What may be set, or why nothing is. `goal`: the contention, per cent, to get under in one restart."""
    show = show_cache(cache)
    run = named.run_partitions if named else None
    apart = set_apart(named) if named else None
    if named and unknown_kind(named):
        return Advice(f"It is {apart}: no change is proposed.")
    if kind_of(named) == "lockless":
        return Advice(LOCKLESS)
    if named and never_sized(named):
        runs = f", Run {named.run_size_mb:g} MB" if known(named.run_size_mb) else ""
        return Advice(
            f"Give it a size of its own first ({show} shows it, sp_cacheconfig with a size sets it), then measure "
            "again. No partitions are proposed before that.",
            because=f"Its size was never configured (Config 0.00{runs}).",
        )
    if named is None or not known(run) or run < 1:
        by_file = _by_file(facts, cache, named, contention, goal)
        return (
            by_file
            or _by_rows(facts, cache, named, contention, goal)
            or Advice(
                f"How many partitions it has is not in the export: {show} shows it.",
                missing=(MissingInput(f"partitions of {cache}", show),),
            )
        )
    configured = named.config_partitions
    if known(configured) and configured > run:
        return Advice(f"{configured:.0f} partitions are configured and wait for a restart: measure after it.")
    engines = engines_at_most(facts)
    worse = ""
    if known(configured) and 0 < configured < run:
        worse = f"{configured:.0f} partitions are configured in place of the {run:.0f} in force: "
        worse += "the next restart would make it worse."
    back = f"Take that back first, to keep the {run:.0f}." if worse else ""
    if apart:
        kept = f"It is {apart}: no change is proposed."
        return Advice(joined(back, kept), because=worse, instead="" if worse else SEPARATE)
    if engines is None:
        says = f"Partitions in force: {run:.0f}; the engines are not in the export, so no change is proposed."
        return Advice(joined(back, says), missing=(ENGINES_MISSING,), because=worse)
    if worse:
        return Advice(back, _taken_back(cache, number_or(configured, 0.0), run), because=worse)
    return _more(facts, cache, run, engines, contention, goal)


def _by_file(facts: Facts, cache: str, named: NamedCache | None, contention: float, goal: float) -> Advice | None:
    """More partitions by the configuration file alone: said and not scripted, as it tells neither what runs nor pools.

    `DEFAULT` there is the number of `global cache partition number`, which is 1 by default (vendor).
    """
    every, most = setting_of(facts, GLOBAL), setting_of(facts, "max online engines")
    if named is None or set_apart(named) or not known(named.config_size_mb) or known(named.run_size_mb):
        return None
    number = number_or(named.config_partitions, _number(every, 1.0))
    engines = engines_at_most(facts) or int(_number(most, 0.0))
    most_useful = min(legal_partitions(facts), next_power_of_two(max(1, engines)))
    if number < 1 or engines < 2 or most_useful <= number:
        return None
    wanted, show = enough_partitions(number, contention, goal, most_useful), show_cache(cache)
    parts = "1 partition" if number == 1 else f"{number:.0f} partitions"
    setting = of_cache("sp_cacheconfig {}, ", cache, "sp_cacheconfig of it, ") + f'"cache_partition={wanted:.0f}"'
    return Advice(
        f"Set `{setting}` for the next restart (about {contention * number / wanted:.1f} % expected), if {show} shows "
        f"{parts} in force and pools that are large enough.",
        missing=(MissingInput(f"partitions of {cache}", show),),
        because=f"By the configuration file it has {parts}, and up to {engines} engines.",
    )


def _by_rows(facts: Facts, cache: str, named: NamedCache | None, contention: float, goal: float) -> Advice | None:
    """More partitions by the rows of monSpinlockActivity alone, one for each partition: said and not scripted.

    Without the number of engines twice as many at most. Not where few rows have most waits: that is a hot page.
    """
    lock, engines = spinlock_named(facts, cache), engines_at_most(facts)
    slots = [row.slot for row in lock.rows if row.slot is not None and row.instance is None] if lock else []
    number = len(set(slots))
    if lock is None or not lock.of_interval or number < 2 or number != len(lock.rows) or (named and set_apart(named)):
        return None
    if next_power_of_two(number) != number or uneven(lock, goal):
        return None
    useful = 2 * number if engines is None else next_power_of_two(max(1, engines))
    most_useful = min(legal_partitions(facts), useful)
    if most_useful <= number:
        return None
    wanted, show = enough_partitions(number, contention, goal, most_useful), show_cache(cache)
    setting = of_cache("sp_cacheconfig {}, ", cache, "sp_cacheconfig of it, ") + f'"cache_partition={wanted:.0f}"'
    return Advice(
        f"Set `{setting}` for the next restart (about {contention * number / wanted:.1f} % expected), if {show} shows "
        f"{number} partitions in force and pools that are large enough.",
        missing=(MissingInput(f"partitions of {cache}", show),),
        because=f"monSpinlockActivity has {number} rows of it, one for each partition.",
    )


def _number(setting: ConfigParameter | None, default: float) -> float:
    """What is configured, 0 where no export has it; `DEFAULT` is what the vendor gives it."""
    value = setting.config_value if setting else ABSENT
    return default if value == "DEFAULT" else value if isinstance(value, float) else 0.0


def useful_partitions(facts: Facts, cache: str, run: float, engines: int, contention: float, goal: float) -> int:
    """How many partitions this rule asks for at most: as many as engines, rounded up to a power of two.

    Twice as many, up to those of the guides, where the cache is cut for its engines and over the limit all the same
    while monSpinlockActivity shows its partitions alike: the vendor's x/n knows no engines (a site of 20 ran 32), but
    past them a hot page that is not seen would be the likelier cause.
    """
    most = next_power_of_two(engines)
    lock = spinlock_named(facts, cache)
    alike = lock is not None and lock.of_interval and len(lock.rows) == run > 1 and not uneven(lock, goal)
    return min(2 * most, max(most, DOCUMENTED)) if alike and run >= most and contention >= goal else most


def proposed(facts: Facts, cache: str, contention: float, goal: float) -> tuple[float, float] | None:
    """How many partitions are proposed of a cache in one restart, and the contention expected of them.

    `None` where no such change is proposed.
    """
    advice = advise(facts, cache, named_of(facts, cache), contention, goal)
    if advice.change is None or advice.change.takes_effect is not Effect.RESTART or len(advice.expects) < 2:
        return None
    number, left = advice.expects[0].after, advice.expects[1].after
    return (
        None if isinstance(number, str) or isinstance(left, str) or number is None or left is None else (number, left)
    )


def enough_alone(facts: Facts, cache: str, contention: float, goal: float) -> tuple[float, float] | None:
    """The partitions that are proposed, where they should bring the cache under `goal` by themselves."""
    found = proposed(facts, cache, contention, goal)
    return found if found and found[1] < goal else None


def cut_for_engines(facts: Facts, cache: str) -> bool:
    """Whether it has a partition for each engine already, as the guides have it: then another lever leads."""
    named, engines = named_of(facts, cache), engines_at_most(facts)
    return named is not None and known(named.run_partitions) and engines is not None and named.run_partitions >= engines


INSTALLED_MB = 8.0
"""Of the default data cache, by the configuration file as installed (vendor)."""


def never_sized(named: NamedCache) -> bool:
    """Whether this is the default data cache with the size it was installed with: Config 0.00, never set by anybody.

    Vendor: 8 MB as installed, whatever memory the server has. It is to be sized before anything else of it is changed.
    """
    default = named.is_default or named.name == DEFAULT_CACHE
    return default and known(named.config_size_mb) and named.config_size_mb == 0


def as_installed(named: NamedCache) -> bool:
    """Whether the default data cache is configured to `INSTALLED_MB`, which somebody may have wanted."""
    return (named.is_default or named.name == DEFAULT_CACHE) and named.config_size_mb == INSTALLED_MB


def _more(facts: Facts, cache: str, run: float, engines: int, contention: float, goal: float) -> Advice:
    """More partitions, where release, engines and pools allow any."""
    show, least = show_cache(cache), next_power_of_two(run + 1)
    legal, useful = legal_partitions(facts), useful_partitions(facts, cache, run, engines, contention, goal)
    if least > min(legal, useful):
        why = f"with {engines} engines this rule goes no further" if least > useful else f"this release allows {legal}"
        return Advice(SEPARATE, because=f"Partitions in force: {run:.0f}; {why}.")
    pools, page = pools_of(facts, cache), page_kb(facts)
    if not pools or page is None or any(pool_kb(pool) is None for pool in pools):
        unsaid = "whether its pools can be cut further is not in the export"
        return Advice(
            f"Partitions in force: {run:.0f}; {unsaid}: {show} shows it.",
            missing=(MissingInput(f"pools of {cache}", show),),
        )
    small = too_small_for(pools, page, least)
    if small:
        why, enlarge = _enlarge(cache, small, page, least)
        return Advice(enlarge, because=f"Partitions in force: {run:.0f}; {why}.", instead=SEPARATE)
    most = min(legal, useful)
    wanted = enough_partitions(run, contention, goal, most)
    while most > least and too_small_for(pools, page, most):
        most //= 2
    limiting = too_small_for(pools, page, wanted)
    if limiting and contention * run / most >= goal > contention * run / wanted:
        why, enlarge = _enlarge(cache, limiting, page, wanted)
        left = f"{wanted} should leave less than {goal:g} % (about {contention * run / wanted:.1f} %)"
        return Advice(
            f"{enlarge} Then cut the cache into {wanted} in one restart: the {most} that fit now are not worth one.",
            because=f"Partitions in force: {run:.0f}; {left}, but {why}.",
        )
    return _cut(facts, cache, run, enough_partitions(run, contention, goal, most), contention, goal)


def _enlarge(cache: str, pool: CachePool, page: float, partitions: int) -> tuple[str, str]:
    """That a pool is too small for so many partitions, and what makes it large enough while the server runs."""
    size = f"its {pool.io_size_kb:g} KB pool has {(pool_kb(pool) or 0) / 1024:g} MB, too little for {partitions}"
    needed = math.ceil(least_pool_kb(page) * partitions / 1024)
    if not known(pool.io_size_kb) or pool.io_size_kb <= page:  # the pool that the others are taken from
        return size, f"Enlarge that pool first to {needed} MB, by a larger cache (sp_cacheconfig with a size; dynamic)."
    words = f'"{needed}M", "{pool.io_size_kb:g}K"'
    command = of_cache(f"sp_poolconfig {{}}, {words}", cache, "sp_poolconfig")
    return size, f"Enlarge that pool first to {needed} MB ({command}; dynamic, taken from the {page:g} KB pool)."


def legal_partitions(facts: Facts) -> int:
    """How many partitions this release allows; 64 where the release is not known."""
    versions = [server.version for server in facts.every(Server) if server.version]
    return most_partitions(versions[-1] if versions else None)


SPARE = 0.5
"""This project: of the limit, what may be left. A partition takes no memory, a second restart for more is dear."""
DOCUMENTED = 64
"""The most partitions that the vendor's guides name; more of them only to get under the limit itself."""


def enough_partitions(run: float, contention: float, goal: float, most: int) -> int:
    """The fewest partitions that should leave half of the goal, a power of two above `run`, at most `most`.

    Contention is taken to fall as the partitions grow (vendor: x becomes x/n), which is an estimate: the other half is
    for its error and for a busier hour. Past 64 they are only to get under the goal; `most` where even that is not
    enough.
    """
    new = next_power_of_two(run + 1)
    while new < most and (
        contention * run / new >= goal or (new < DOCUMENTED and contention * run / new > SPARE * goal)
    ):
        new *= 2
    return new


def _taken_back(cache: str, configured: float, running: float) -> Change | None:
    """Nothing where one of the figures cannot be a number of partitions."""
    try:
        return take_back_partitions(cache, configured, running)
    except OutOfRange:
        return None


def _cut(facts: Facts, cache: str, run: float, new: int, contention: float, goal: float) -> Advice:
    """So many partitions in one restart, and what is to be expected of them."""
    after = contention * run / new
    says = f"Cut the cache from {run:.0f} into {new} partitions in one restart: each doubling about halves contention, "
    if after <= SPARE * goal:
        says += f"so these should leave about {after:.1f} %. At most half of the limit is aimed at (this project), as "
        says += "partitions take no memory and a second restart is dear."
    elif after < goal:
        says += f"so these should leave less than {goal:g} % (about {after:.1f} %); more are not proposed."
    else:
        says += f"so even the most that engines, release and pools allow leave about {after:.1f} %."
    pools, page = pools_of(facts, cache), page_kb(facts) or 0.0
    mb, io_kb = min(((pool_kb(pool) or 0.0) / 1024 / new, pool.io_size_kb) for pool in pools)
    cautions = [
        f"Each of the {new} partitions has a spinlock and a smaller LRU chain of its own, with {plain(mb, 4)} MB of "
        f"the {io_kb:g} KB pool: watch the hit ratio afterwards."
    ]
    if not any(known(server.page_size_bytes) for server in facts.every(Server)):
        cautions.append(f"The logical page is taken as {page:g} KB, the smallest pool: select @@maxpagesize shows it.")
    if new > DOCUMENTED:
        cautions.append("More than 64 partitions need 16.0 SP02 or later (messages 18177 and 18611 name 256).")
    expects = (
        Expectation(f"partitions of {cache}", run, new, "arithmetic"),
        Expectation(f"spinlock contention of {cache}", contention, round(after, 1), "heuristic"),
    )
    change = set_partitions(cache, run, new, largest=legal_partitions(facts), cautions=tuple(cautions))
    return Advice(says, change, expects, instead="" if after < goal else SEPARATE)
