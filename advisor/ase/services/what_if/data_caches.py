"""What more partitions, another size or a new named cache would do, by the collision law of the binding plan."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from advisor.ase.services.caches import CacheMap, Shown
from advisor.ase.services.what_if.answers import (
    ARITHMETIC,
    HEURISTIC,
    NONE,
    Answer,
    Judgement,
    Line,
    contention_line,
)
from advisor.ase.services.what_if.settings import ONLINE, RESTART
from advisor.charts.words import figure
from collectors.facts import Facts
from collectors.facts.ase import IndexSize, NamedCache, Server
from rules.ase._evidence.caches.contents import Contents, Held
from rules.ase._evidence.caches.figures import (
    POOL_KB,
    POOL_PAGES,
    named_of,
    pool_kb,
    pools_of,
    set_apart,
    too_small_for,
)
from rules.ase._evidence.caches.fit import GROWTH, suits_relaxed
from rules.ase._evidence.caches.memory import Overhead, overhead_of
from rules.ase._evidence.caches.partitions import useful_partitions
from rules.ase._evidence.server import busy_of, page_kb
from rules.ase._evidence.spinlocks.gates import CACHE_PERCENT
from rules.changes.ase_binding import LOCKS, OUTAGE, why_not
from rules.changes.ase_cache import cache_key, most_partitions
from rules.laws.binding import cache_size_mb, collisions

CUT = "ase/data_cache_spinlock_contended"
HOT, SYSTEM = "ase/hot_table_in_default_cache", "ase/system_tables_in_default_cache"
BETWEEN = "overhead is read between the vendor's three points: sp_helpcache with the size shows the server's own"
BETWEEN_OWN = "as this server answered sp_helpcache, or by the share it answered"
LARGEST_MB = 64 * 1024 * 1024
"""Sizes above 64 TB are taken for a slip of the hand."""
SHOW = NamedCache.COLLECTED_BY


@dataclass(frozen=True)
class Asked:
    """What is asked of data caches."""

    cuts: Mapping[str, int] = field(default_factory=dict)
    """Partitions by name of the cache."""
    moved: tuple[str, ...] = ()
    """Names of objects for one new cache."""
    new_mb: int | None = None
    """Its size; `None`: as large as the binding plan would make it."""
    new_partitions: int = 1


def largest_partitions(facts: Facts) -> int:
    """How many partitions this release takes."""
    version = [server.version for server in facts.every(Server) if server.version]
    return most_partitions(version[-1] if version else None)


def illegal(facts: Facts, partitions: int) -> str:
    """Why the server takes no such number of partitions, or nothing."""
    legal = largest_partitions(facts)
    if 1 <= partitions <= legal and not partitions & (partitions - 1):
        return ""
    return f"The server takes powers of two from 1 to {legal}."


def cut_answer(facts: Facts, one: Shown, new: int, judged: Judgement) -> Answer:
    """What so many partitions of a cache would do."""
    now = one.partitions
    key = cache_key(one.name, "cache_partition")
    answer = Answer(
        f"{one.name}: partitions",
        f"{'not in the export' if now is None else f'{now:,}'} → {new:,}",
        said=judged.said(CUT, key, one.name),
    )
    refused = illegal(facts, new)
    named, page = named_of(facts, one.name), page_kb(facts)
    apart = set_apart(named) if named else None
    pools = pools_of(facts, one.name)
    if not refused and apart:
        refused = f"It is {apart}: nothing is said of it."
    small = too_small_for(pools, page, new) if pools and page is not None and not refused else None
    if not refused and small and new > (now or 0):
        least = max(POOL_KB, POOL_PAGES * (page or 0.0))
        refused = (
            f"Its {small.io_size_kb:g} KB pool has {figure((pool_kb(small) or 0) / 1024, 'MB')}, too little for {new:,}"
            f": the server wants {least:g} KB of each pool in each partition (messages 10652 and 10832)."
        )
    if refused:
        return replace(answer, refused=refused)
    cannot, bring = [], []
    if now is None:
        cannot.append("The partitions in force are not in the export.")
        bring.append(SHOW)
    if not pools or page is None:
        cannot.append("Whether its pools can be cut so far is not in the export.")
        bring.append(SHOW)
    engines, _ = busy_of(facts)
    remarks = []
    most = (
        useful_partitions(facts, one.name, now or 0, engines, one.load.percent or 0.0, CACHE_PERCENT)
        if engines
        else new
    )
    if new > most:
        remarks.append(f"With {engines} engines the rules go no further than {most} partitions.")
    remarks.append("One hot page or table lies in one partition whatever their number.")
    remarks += [f"Pending: {what}." for what in one.pending]
    lines = [Line("partitions, each with a spinlock", now, new, "", ARITHMETIC, "as asked")]
    if now is not None:
        lines.append(contention_line("grabs that wait", one.load.percent, now, new, one.load.said))
        if one.load.hottest is not None:
            why = "which pages share the hottest partition is in no export, so nothing is said of it alone"
            lines.append(Line("hottest partition", round(one.load.hottest, 2), None, "%", NONE, why))
    return replace(
        answer,
        lines=tuple(lines),
        effect=RESTART,
        memory_mb=0.0,
        memory_said="Takes no memory of its own that is known.",
        remarks=tuple(remarks),
        cannot=tuple(cannot),
        bring=tuple(dict.fromkeys(bring)),
    )


def size_answer(facts: Facts, one: Shown, new: int, partitions: int | None) -> Answer:
    """What another size of a cache would take; `partitions`: asked for with it."""
    now = one.size_mb
    in_force = "not in the export" if now is None else figure(round(now, 1), "MB")
    answer = Answer(f"{one.name}: size", f"{in_force} → {new:,} MB")
    cut = partitions or one.partitions
    refused = _too_large_or_small(facts, new, cut or 1)
    named = named_of(facts, one.name)
    if named and set_apart(named):
        refused = f"It is {set_apart(named)}: nothing is said of it."
    if refused:
        return replace(answer, refused=refused)
    lines = [Line("size", now, new, "MB", ARITHMETIC, "as asked")]
    taken = None
    if now is not None:
        overhead = overhead_of(facts)
        before, after = overhead.mb(now), overhead.mb(new)
        taken = new - now + after - before
        lines.append(Line("overhead", round(before, 2), round(after, 2), "MB", HEURISTIC, _between(overhead, now, new)))
    hits = "how many more pages would be found in it no law says: measure the hits after the change"
    lines.append(Line("searches that find their page", None, None, "%", NONE, hits))
    lines.append(Line("grabs that wait", one.load.percent, None, "%", NONE, "size alone adds no spinlock"))
    smaller = now is not None and new < now
    remarks = (
        ["A smaller cache takes effect at the next restart, and every pool has to fit into it."] if smaller else []
    )
    remarks += [f"Pending: {what}." for what in one.pending]
    return replace(
        answer,
        lines=tuple(lines),
        effect=RESTART if smaller else ONLINE,
        memory_mb=taken,
        memory_said="Size and overhead together.",
        remarks=tuple(remarks),
        cannot=("The size in force is not in the export.",) if now is None else (),
        bring=(SHOW,) if now is None else (),
    )


def _too_large_or_small(facts: Facts, size_mb: int, partitions: int) -> str:
    least = max(POOL_KB, POOL_PAGES * (page_kb(facts) or 2.0)) / 1024
    if not 1 <= size_mb <= LARGEST_MB:
        return f"A size from 1 to {LARGEST_MB:,} MB is wanted."
    if size_mb < partitions * least:
        return f"{partitions:,} partitions need {partitions * least:g} MB at least ({least * 1024:g} KB each)."
    return ""


def new_answer(facts: Facts, contents: Contents, asked: Asked, judged: Judgement) -> Answer:
    """What a new cache for the chosen objects would take and hold."""
    chosen = [one for one in contents.held if one.name in asked.moved]
    names = ", ".join(one.name for one in chosen[:4]) + (f" and {len(chosen) - 4} more" if len(chosen) > 4 else "")
    answer = Answer("A new named cache", names)
    refused = illegal(facts, asked.new_partitions) or "; ".join(
        f"{one.name}: {reason}" for one in chosen if (reason := why_not(one.database, one.table))
    )
    unsized = [one for one in chosen if one.size_mb is None]
    contents_mb = GROWTH * sum(one.size_mb or 0.0 for one in chosen)
    least = max(POOL_KB, POOL_PAGES * (page_kb(facts) or 2.0)) / 1024
    size = asked.new_mb
    if size is None and not unsized:
        size = cache_size_mb(contents_mb, asked.new_partitions, least)
    if not refused and size is not None:
        refused = _too_large_or_small(facts, size, asked.new_partitions)
    if refused:
        return replace(answer, refused=refused)
    rule = SYSTEM if all(one.system for one in chosen) else HOT
    key = f"ase.bind:{chosen[0].name}" if not chosen[0].system else f"ase.bind:{chosen[0].database}:system tables"
    relaxed, why = suits_relaxed(tuple(chosen), contents.seconds)
    remarks = [f"Suits {'relaxed' if relaxed else 'strict'} LRU: {why}."]
    if any(one.system for one in chosen):
        remarks.append(OUTAGE)
    if any(not one.system for one in chosen):
        remarks.append(LOCKS)
    if any(one.bound for one in chosen):
        remarks.append("Some of it is bound to a cache already: that binding would be replaced.")
    return replace(
        answer,
        lines=tuple(
            _new_lines(
                overhead_of(facts), contents, chosen, size, None if unsized else contents_mb, asked.new_partitions
            )
        ),
        effect=ONLINE,
        memory_mb=None if size is None else size + overhead_of(facts).mb(size),
        memory_said="Size and overhead together.",
        remarks=tuple(remarks),
        cannot=("How large some of it is is not in the export.",) if unsized else (),
        bring=(IndexSize.COLLECTED_BY,) if unsized else (),
        said=judged.said(rule, key),
    )


def _between(overhead: Overhead, *sizes_mb: float) -> str:
    """Where the overhead of caches of these sizes is read from."""
    return BETWEEN_OWN if all(overhead.own(size) for size in sizes_mb) else BETWEEN


def _new_lines(
    overhead: Overhead,
    contents: Contents,
    chosen: list[Held],
    size: int | None,
    contents_mb: float | None,
    partitions: int,
) -> Iterator[Line]:
    share = 100 * contents.share(sum(one.reads for one in chosen))
    yield Line(
        "share of all searches", None, round(share, 2), "%", ARITHMETIC, f"{contents.counted_by}, {contents.when}"
    )
    if contents_mb is not None:
        grown = f"sizes in the export and {100 * (GROWTH - 1):.0f} % to grow"
        yield Line("what it would hold", None, round(contents_mb, 1), "MB", ARITHMETIC, grown)
    if size is None:
        yield Line("size", None, None, "MB", NONE, "type a size, or upload the sizes of the objects")
    else:
        fits = contents_mb is None or size >= contents_mb
        yield Line("size", None, size, "MB", ARITHMETIC, "holds it whole" if fits else "does not hold it whole")
        yield Line("overhead", None, round(overhead.mb(size), 2), "MB", HEURISTIC, _between(overhead, size))
    yield Line("partitions, each with a spinlock", None, partitions, "", ARITHMETIC, "as asked")
    why = "what waits there nobody has measured"
    yield Line("grabs that wait", None, None, "%", NONE, why)


def together(shown: CacheMap, contents: object, asked: Asked) -> Answer:
    """How often two searches would meet at a cache spinlock, over all caches, with everything that is asked."""
    what = Answer("All data caches together", "now → with all that is asked")
    caches = {one.name: one for one in shown.caches}
    unknown = [one.name for one in shown.caches if one.partitions is None or one.searches_share is None]
    if unknown or shown.left_out or not caches:
        why = (
            f"searches or partitions of {', '.join(unknown[:3])} are not in the export"
            if unknown
            else "too many caches"
        )
        return replace(what, cannot=(f"How often two searches meet cannot be said: {why}.",), bring=shown.bring)
    before = {name: one.searches_share or 0.0 for name, one in caches.items()}
    after = dict(before)
    moved: float = 0.0
    for one in contents.held if isinstance(contents, Contents) else ():
        if one.name in asked.moved and one.cache in after:
            share = min(after[one.cache], contents.share(one.reads)) if isinstance(contents, Contents) else 0.0
            after[one.cache] -= share
            moved += share
    cut = {name: one.partitions or 1 for name, one in caches.items()}
    loads = [(share, asked.cuts.get(name, cut[name])) for name, share in after.items()]
    loads += [(moved, asked.new_partitions)] if moved else []
    now, then = collisions((share, cut[name]) for name, share in before.items()), collisions(loads)
    chance = "chance that two searches at one moment want the same cache spinlock"
    how = "sum of (share of searches)² by partitions, searches spread evenly over the partitions of a cache"
    lines = [Line(chance, float(f"{100 * now:.4g}"), float(f"{100 * then:.4g}"), "%", ARITHMETIC, how)]
    if now > 0:
        waits = "waits grow with the square of a spinlock's rate, which is what that chance adds up"
        lines.append(
            Line("waits at all cache spinlocks", 100.0, round(100 * then / now, 1), "% of now", HEURISTIC, waits)
        )
    for name, share in after.items():
        if share != before[name]:
            figures = round(100 * before[name], 2), round(100 * share, 2)
            lines.append(Line(f"share of all searches in {name}", *figures, "%", ARITHMETIC, "less what moves"))
    return replace(what, lines=tuple(lines))
