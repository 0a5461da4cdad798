"""The data caches of one capture, each with what the exports say of it: size, partitions, load, spinlock, contents."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from advisor.charts.words import figure
from collectors.facts import Fact, Facts, Missing, Reading, known
from collectors.facts.ase import (
    BindingList,
    CacheActivity,
    CacheBinding,
    MonDataCache,
    MonSpinlockActivity,
    NamedCache,
    SysmonSample,
)
from rules.ase._evidence.caches.contents import Contents, Held, partitions_of
from rules.ase._evidence.caches.figures import (
    doubt,
    latest_caches,
    named_of,
    pool_kb,
    pools_of,
)
from rules.ase._evidence.caches.memory import Overhead, overhead_of
from rules.ase._evidence.server import subject_of
from rules.ase._evidence.spinlocks.figures import Figure
from rules.ase._evidence.spinlocks.monitored import Spinlock, not_believed, spinlocks_by_name
from rules.ase._evidence.spinlocks.survey import cache_figure, cache_names
from rules.finding import Clean, Unknown, Untrusted

MOST_CACHES = 60
"""Caches of one server that are looked at: the largest. More than thirty was never seen; a page has to end."""
RESIDENTS = 5
"""Objects named for each cache."""
NOT_THERE = "not in the export"


@dataclass(frozen=True)
class Resident:
    """A table's data or an index in a cache."""

    name: str
    inside: float
    """Share of the cache's searches, 0 to 1."""
    of_all: float
    """Share of all searches, 0 to 1."""
    bound: bool
    """Whether it is bound itself."""
    size_mb: float | None


@dataclass(frozen=True)
class Load:
    """What the spinlock of a cache costs."""

    percent: float | None
    """Share of the grabs that waited, all partitions together; `None` where no figure can be believed."""
    said: str
    """Where that comes from and what time it covers; or why there is none."""
    spins_share: float | None = None
    """Of all spins of all spinlocks, per cent; `None` where no spins were counted."""
    cells: tuple[float | None, ...] = ()
    """Share of waits of each partition, per cent, in the order of the export; empty: one figure for all of them."""
    hottest: float | None = None
    coldest: float | None = None
    spins: float | None = None
    """Over the time that was counted; `None` where no spins were."""


@dataclass(frozen=True)
class Shown:
    """One data cache. Sizes are megabytes; `None`: not in the export."""

    name: str
    kind: str
    size_mb: float | None
    partitions: int | None
    replacement: str | None
    """In force: `strict LRU` or `relaxed LRU`."""
    pending: tuple[str, ...]
    """What is configured otherwise and waits for a restart, in words."""
    pools: tuple[str, ...]
    load: Load
    searches_share: float | None
    """Share of all searches, 0 to 1."""
    bound: tuple[str, ...]
    """What is bound to it, the first few by name."""
    bound_count: int
    residents: tuple[Resident, ...]
    held: int
    """Objects with searches that live in it."""


@dataclass(frozen=True)
class CacheMap:
    """All caches, largest first."""

    server: str
    caches: tuple[Shown, ...]
    left_out: int
    """Smaller caches that are not shown."""
    when: str
    """What time the searches cover and who counted them; empty where no searches are known."""
    bring: tuple[str, ...]
    """Commands whose output would fill the gaps."""
    remarks: tuple[str, ...]
    """Why something that was brought is not shown."""
    overhead: Overhead = field(default_factory=Overhead)
    """What a cache takes beside its size on this server."""


def cache_map(facts: Facts, contents: object) -> CacheMap:
    """Gather it; `contents` is what `contents_of` said of the same facts."""
    names = _names(facts)
    sizes = {name: size_of(facts, name) or 0.0 for name in names}
    ordered = sorted(names, key=lambda name: (-sizes[name], name))
    shares, when = searches_of(facts, contents)
    found = contents if isinstance(contents, Contents) else None
    locks, alone = spinlocks_by_name(facts), _alone(facts)
    inside: dict[str, list[Held]] = {}
    for held in found.held if found else ():
        inside.setdefault(held.cache, []).append(held)
    bindings: dict[str, dict[str, None]] = {}
    for one in facts.every(CacheBinding):
        if one.valid is not False:
            bindings.setdefault(one.cache, {})[_bound_name(one)] = None
    caches = tuple(
        _shown(
            facts,
            name,
            alone.get(name, Facts()),
            locks.get(name) or locks.get(f"{name}[i]"),
            shares.get(name),
            found,
            inside.get(name, []),
            list(bindings.get(name, ())),
        )
        for name in ordered[:MOST_CACHES]
    )
    bring, remarks = _gaps(facts, caches, contents)
    return CacheMap(
        subject_of(facts), caches, max(0, len(ordered) - MOST_CACHES), when, bring, remarks, overhead_of(facts)
    )


def size_of(facts: Facts, name: str) -> float | None:
    """Run size of a cache, MB."""
    named = named_of(facts, name)
    return _number(named.run_size_mb) if named else None


def searches_of(facts: Facts, contents: object) -> tuple[dict[str, float], str]:
    """Each cache's share of all searches (0 to 1), and what that was counted over; nothing where one is not known."""
    if isinstance(contents, Contents) and contents.total:
        shares = {name: contents.share(count) for name, count in contents.searches.items()}
        return shares, f"{contents.counted_by}, {contents.when}"
    active = latest_caches(facts)
    counts = {one.name: one.searches for one in active if doubt(one) is None}
    when = "sp_sysmon, in its sample" if facts.every(CacheActivity) else "monDataCache, between two snapshots"
    if not active:
        rows = {one.name: one for one in facts.every(MonDataCache) if one.believed}
        counts, when = {one.name: one.searches for one in rows.values()}, "monDataCache, since boot"
    read = {name: count for name, count in counts.items() if known(count) and count >= 0}
    total = sum(read.values())
    if not total or len(read) < max(len(counts), len(active)):
        return {}, ""
    return {name: count / total for name, count in read.items()}, when


def _names(facts: Facts) -> list[str]:
    listed = [one.name for one in facts.every(NamedCache)] + [one.name for one in facts.every(MonDataCache)]
    return list(dict.fromkeys((*listed, *cache_names(facts))))


def _number(reading: Reading | None) -> float | None:
    """The figure, if it is one that a size or a share can have."""
    return reading if known(reading) and reading >= 0 else None


def _bound_name(one: CacheBinding) -> str:
    if one.table is None:
        return f"{one.database} (the database)"
    return f"{one.database}.{one.owner or ''}.{one.table}" + (f".{one.index}" if one.index else "")


def _shown(
    facts: Facts,
    name: str,
    alone: Facts,
    lock: Spinlock | None,
    share: float | None,
    contents: Contents | None,
    inside: list[Held],
    bound: list[str],
) -> Shown:
    named = named_of(facts, name)
    count = partitions_of(facts, name)
    return Shown(
        name=name,
        kind=", ".join(part for part in (named.kind, named.status) if part) if named else "",
        size_mb=_number(named.run_size_mb) if named else None,
        partitions=int(count) if count is not None else None,
        replacement=named.run_replacement if named else None,
        pending=tuple(_pending(named)) if named else (),
        pools=tuple(_pools(facts, name)),
        load=_load(alone, name, lock),
        searches_share=share,
        bound=tuple(bound[:RESIDENTS]),
        bound_count=len(bound),
        residents=tuple(
            Resident(one.name, contents.inside(name, one.reads), contents.share(one.reads), one.bound, one.size_mb)
            for one in (inside[:RESIDENTS] if contents else ())
            if contents and one.reads
        ),
        held=sum(1 for one in inside if one.reads),
    )


def _pending(named: NamedCache) -> Iterable[str]:
    """Each setting of which another value is configured than runs."""
    for what, config, run, unit in (
        ("size", named.config_size_mb or None, named.run_size_mb, " MB"),
        ("partitions", named.config_partitions, named.run_partitions, ""),
    ):
        if known(config) and known(run) and config != run:
            yield f"{what} {run:g}{unit}, {config:g}{unit} after the next restart"
    wanted, running = named.config_replacement, named.run_replacement
    if wanted is not None and running is not None and wanted.lower() != running.lower():
        yield f"replacement {running}, {wanted} after the next restart"


def _pools(facts: Facts, name: str) -> Iterable[str]:
    for pool in pools_of(facts, name):
        kb = pool_kb(pool)
        yield f"{pool.io_size_kb:g} KB: " + (
            "size not in the export" if kb is None else figure(round(kb / 1024, 1), "MB")
        )


def _alone(facts: Facts) -> dict[str, Facts]:
    """For each cache's name what tells its contention, or each figure would walk through all spinlocks again.

    Where there are rows of an interval those since boot are not looked at, whichever name they are of.
    """
    rows = facts.every(MonSpinlockActivity)
    rows = [row for row in rows if row.of_interval] or rows
    found: dict[str, list[Fact]] = {}
    for row in rows:
        found.setdefault(row.name.removesuffix("[i]"), []).append(row)
    for printed in facts.every(CacheActivity):
        found.setdefault(printed.name, []).append(printed)
    samples = facts.every(SysmonSample)
    return {name: Facts((*of_name, *samples)) for name, of_name in found.items()}


def _load(alone: Facts, name: str, lock: Spinlock | None) -> Load:
    figure = cache_figure(alone, name, name)
    if not isinstance(figure, Figure):
        return Load(None, _why(figure))
    percent = _number(figure.contention)
    if known(figure.contention) and not 0 <= figure.contention <= 100:
        return Load(None, f"{figure.contention:g} % cannot be a share of grabs")
    if percent is None:
        return Load(
            None, f"sp_sysmon: {figure.contention.value}" if isinstance(figure.contention, Missing) else NOT_THERE
        )
    if figure.lock is None:
        doubtful = not_believed(alone, name)
        aside = f"; monSpinlockActivity cannot be believed: {doubtful.why}" if doubtful else ""
        return Load(percent, f"sp_sysmon, one figure for all partitions{aside}")
    several, all_spins = len(figure.lock.rows) > 1, lock.spins_share if lock else None
    lock = figure.lock
    return Load(
        percent,
        f"monSpinlockActivity {lock.when}" + ("" if several else ", one figure for all partitions"),
        all_spins,
        tuple(row.waited_percent for row in lock.rows) if several else (),
        lock.hottest.waited_percent if several and lock.grabs else None,
        lock.coldest.waited_percent if several and lock.grabs else None,
        lock.spins,
    )


def _why(outcome: object) -> str:
    if isinstance(outcome, Untrusted):
        return f"cannot be believed: {outcome.why}"
    if isinstance(outcome, Clean):
        return outcome.why
    if isinstance(outcome, Unknown) and outcome.why:
        return outcome.why
    return NOT_THERE


def _gaps(facts: Facts, caches: tuple[Shown, ...], contents: object) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What to bring for what is not there, and why something that was brought is not shown."""
    bring: dict[str, None] = {}
    remarks: list[str] = []
    if not caches or any(one.size_mb is None or one.partitions is None or not one.pools for one in caches):
        bring[NamedCache.COLLECTED_BY] = None
    if not facts.every(MonDataCache) and not facts.every(CacheActivity):
        bring[MonDataCache.COLLECTED_BY] = None
    if any(one.load.said == NOT_THERE for one in caches):
        bring[MonSpinlockActivity.COLLECTED_BY] = None
    if isinstance(contents, Unknown):
        bring.update(dict.fromkeys(lack.command for lack in contents.missing))
    elif isinstance(contents, Untrusted | Clean):
        remarks.append(f"What is in the caches is not shown. {contents.why}.")
    if not facts.every(CacheBinding) and not facts.every(BindingList):
        bring[CacheBinding.COLLECTED_BY] = None
    return tuple(bring), tuple(remarks)
