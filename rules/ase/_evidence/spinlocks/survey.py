"""All spinlock figures that were read, for the rules that ask whether any of them is contended."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from collectors.facts import ABSENT, Fact, Facts, known
from collectors.facts.ase import (
    CacheActivity,
    LockHashtable,
    LockSummary,
    MetadataSpinlock,
    MonDataCache,
    MonSpinlockActivity,
    NamedCache,
    SysmonSample,
)
from rules.ase._evidence.caches.figures import (
    kind_of,
    named_of,
    per_second,
    seconds_of,
)
from rules.ase._evidence.server import level_reached
from rules.ase._evidence.spinlocks.cas import cas_figure
from rules.ase._evidence.spinlocks.figures import Figure, figure_of, monitored
from rules.ase._evidence.spinlocks.gates import lock_uses
from rules.ase._evidence.spinlocks.monitored import (
    BUFFERS,
    OF_HASHTABLE,
    OF_METADATA,
    names_read,
    spinlocks_by_name,
)
from rules.ase._evidence.spinlocks.names import plain_name
from rules.ase._evidence.spinlocks.ratio import refused
from rules.ase._evidence.spinlocks.spin_severity import NOTHING_PERCENT, spin_bound
from rules.ase._evidence.spinlocks.waits import wait_bound
from rules.changes.ase_cache import DEFAULT_CACHE
from rules.finding import Outcome, Untrusted

LOCK_FACTS: tuple[type[Fact], ...] = (LockHashtable, LockSummary, MonSpinlockActivity)
CACHE_FACTS: tuple[type[Fact], ...] = (
    CacheActivity,
    MonSpinlockActivity,
    NamedCache,
    MonDataCache,
    SysmonSample,
)
"""What a rule declares that asks for the figures of data caches."""

SYSMON_SINCE = {"Object Manager": "15.0"}
"""From which release on sp_sysmon prints the row of a metadata spinlock, where not all do (knowledge/ase-formats.md,
1.8: 15.x): before it another sp_sysmon would not have it either."""


@dataclass(frozen=True)
class Survey:
    """What was seen, and which figures cannot be believed."""

    hot: tuple[Figure, ...]
    """Over their limit, with enough activity."""
    faint: tuple[tuple[Figure, str], ...]
    """Over their limit, but used too seldom, or with too few spins, to matter; and why."""
    untrusted: tuple[Untrusted, ...]
    seen: int

    @property
    def by_spins(self) -> tuple[Figure, ...]:
        """The hot ones, most spins first; those without spins after them, by their share."""
        return tuple(sorted(self.hot, key=lambda one: (-(one.weight or 0.0), -(one.share or 0.0))))


def lock_figure(facts: Facts, table: str) -> Figure | Outcome:
    """One of the three lock hash tables: `address`, `page and row` or `table`."""
    one = facts.latest(LockHashtable, table=table)
    printed = None
    if one:
        rate, uses, where = lock_uses(facts, one)
        printed = Figure(f"{table} lock hash table", table, one.contention_percent, one.source, rate, uses, where)
    return figure_of(facts, OF_HASHTABLE[table], f"{table} lock hash table", table, printed)


def metadata_figure(facts: Facts, name: str, label: str) -> Figure | Outcome:
    """One metadata spinlock, by the name before sp_sysmon's `Spinlock Contention`."""
    one = facts.latest(MetadataSpinlock, name=name)
    printed = Figure(label, "metadata", one.contention_percent, one.source) if one else None
    since = SYSMON_SINCE.get(name)
    prints = since is None or level_reached(facts, since) is not False
    return figure_of(facts, OF_METADATA[name], label, "metadata", printed, sysmon=prints)


def cache_figure(facts: Facts, name: str, label: str) -> Figure | Outcome:
    """One data cache: its spinlock is called as it is. A lockless one is judged by its CAS waits instead."""
    if _lockless(facts, name):
        return cas_figure(facts, name, label)
    one = facts.latest(CacheActivity, name=name)
    printed = None
    if one:
        rate = per_second(one.searches_per_second, one.searches, seconds_of(facts))
        searches = ABSENT if rate is None else rate
        printed = Figure(label, "cache", one.contention_percent, one.source, searches, "searches")
    return figure_of(facts, name, label, "cache", printed)


def _lockless(facts: Facts, name: str) -> bool:
    return kind_of(named_of(facts, name)) == "lockless"


def cache_names(facts: Facts) -> list[str]:
    """Data caches that any export names: those whose spinlock may be looked for."""
    active = [one.name for one in facts.every(CacheActivity)]
    named = [*(one.name for one in facts.every(NamedCache)), *(one.name for one in facts.every(MonDataCache))]
    locks = names_read(facts)
    behind = sorted(name.removeprefix(BUFFERS) for name in locks if name.startswith(BUFFERS))
    spun = [name for name in (*named, DEFAULT_CACHE, *behind) if name in locks or _lockless(facts, name)]
    return list(dict.fromkeys((*active, *spun)))


def lock_figures(facts: Facts) -> list[Figure | Outcome]:
    """The three lock hash tables."""
    return [lock_figure(facts, table) for table in OF_HASHTABLE]


def metadata_figures(facts: Facts) -> list[Figure | Outcome]:
    """The metadata spinlocks."""
    return [metadata_figure(facts, name, f"{name} metadata") for name in OF_METADATA]


def cache_figures(facts: Facts) -> list[Figure | Outcome]:
    """The data caches."""
    return [cache_figure(facts, name, f"cache {name}") for name in cache_names(facts)]


def other_figures(facts: Facts) -> list[Figure | Outcome]:
    """Every other spinlock that was counted between two snapshots: whatever spins keeps engines busy."""
    listed = {*OF_HASHTABLE.values(), *OF_METADATA.values(), *cache_names(facts)}
    locks = [one for name, one in spinlocks_by_name(facts).items() if plain_name(name) not in listed]
    return [monitored(one, one.name, "other") for one in locks if one.of_interval and one.percent is not None]


def all_figures(facts: Facts) -> list[Figure | Outcome]:
    """Every figure that may be held against engines that are busy: none of them since boot."""
    parts = (lock_figures(facts), metadata_figures(facts), cache_figures(facts), other_figures(facts))
    return [one for part in parts for one in part if not (isinstance(one, Figure) and one.since_boot)]


def survey(
    facts: Facts,
    figures: Iterable[Figure | Outcome],
    percents: Mapping[str, float],
    rates: Mapping[str, float],
    busy_percent: float,
) -> Survey:
    """Hold each figure against the limits of its family; the vendor's for metadata is "more than".

    `percents`: contention; `rates`: uses per second under which it does not matter.
    """
    hot: list[Figure] = []
    faint: list[tuple[Figure, str]] = []
    untrusted: list[Untrusted] = []
    seen = 0
    for figure in figures:
        if not isinstance(figure, Figure):
            if isinstance(figure, Untrusted):
                untrusted.append(figure)
            continue
        quiet: Outcome | None = refused(
            facts,
            figure.label,
            figure.contention,
            percents[figure.family],
            above=figure.family == "metadata",
            busy_percent=busy_percent,
            figure=figure,
        )
        seen += known(figure.contention)
        if isinstance(quiet, Untrusted):
            untrusted.append(quiet)
        elif quiet is None and (why := _faint(facts, figure, rates[figure.family])):
            faint.append((figure, why))
        elif quiet is None and figure.undated:
            untrusted.append(Untrusted(f"{figure.said}: {figure.aside}"))
        elif quiet is None:
            hot.append(figure)
    return Survey(tuple(hot), tuple(faint), tuple(untrusted), seen)


def _faint(facts: Facts, figure: Figure, per_second: float) -> str:
    """Why nothing can be lost to it: used too seldom, or its spins are too few; empty where something can."""
    few = figure.too_few(per_second)
    if few:
        return few
    bound = spin_bound(facts, figure.lock)
    waits = wait_bound(facts, figure) if bound is None else None
    if waits and waits.nothing:
        return f"its waits cannot have taken {NOTHING_PERCENT:g} % of the engines' time"
    if bound is None or not bound.nothing:
        return ""
    return f"its spins cannot have taken {NOTHING_PERCENT:g} % of the engines' time"
