"""A data cache of SAP ASE: its partitions, its replacement strategy, and a new named cache.

Partitions and strategy are static: `sp_cacheconfig` writes them to the configuration file and the next restart takes
them. A new cache, more memory for one and bindings are dynamic. Sources: System Administration Guide 2 (16.0),
"Configuring Cache Replacement Policy", "Reducing spinlock contention with cache partitions"; System Procedures (16.0),
sp_cacheconfig (knowledge/ase-rules.md, sections 2 and 3.3).
"""

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from rules.changes.out_of_range import OutOfRange
from rules.changes.quoting import Unquotable, batches, comment, tsql_literal, tsql_string
from rules.finding import Change, Effect, Risk

DEFAULT_CACHE = "default data cache"
MORE_SPINS = (
    "Strict LRU relinks a page with each hit, under the spinlock of its partition: one site counted 34 % of its spins "
    "with relaxed LRU (blogs.sap.com 2016/05/16). Measure the cache's spinlock before and afterwards."
)
STRICT, RELAXED = "strict LRU", "relaxed LRU"
SERVICE_PACK = re.compile(r"(?P<major>\d\d)\.(?P<minor>\d+)(?:\.\d+)*(?:\s+SP0*(?P<pack>\d+))?")
WASH_SHARE, WASH_OF_MB = 0.2, 300.0
"""Vendor: the wash area as created is 20 % of a pool, of 300 MB at most (System Procedures 16.0, sp_poolconfig)."""
RESTART = (
    "Static: needs a restart. Keep a copy of the server's .cfg file; a server that does not start with the new one "
    "is started with the old one."
)


def most_partitions(version: str | None) -> int:
    """Partitions a cache may have: 64, and 256 from 16.0 SP02 on. An unreadable version is taken as an old one."""
    found = SERVICE_PACK.search(version or "")
    if found is None:
        return 64
    release = (int(found["major"]), int(found["minor"]), int(found["pack"] or 0))
    return 256 if release >= (16, 0, 2) else 64


def of_cache(command: str, cache: str, otherwise: str) -> str:
    """Put the quoted name in place of `{}`, or give the command for all caches where it cannot be written safely."""
    try:
        return command.format(tsql_string(cache))
    except Unquotable:
        return otherwise


def query_cache(query: str, cache: str, needs: str) -> str:
    """Narrow a query of a monitoring table to one cache, where its name can be written; say what the table needs."""
    with suppress(Unquotable):
        query = f"{query} where CacheName = {tsql_literal(cache)}"
    return f"{query} /* needs sp_configure: {needs} */"


def show_cache(cache: str) -> str:
    """Write the command that shows one cache."""
    return of_cache("sp_cacheconfig {}", cache, "sp_cacheconfig")


def set_partitions(cache: str, old: float, new: int, *, largest: int = 64, cautions: tuple[str, ...] = ()) -> Change:
    """Cut a cache into another number of partitions, each with a spinlock of its own.

    `old` is the number in force, read from the export. Raises `OutOfRange` for what the server would refuse.
    """
    if not 1 <= new <= largest <= 256 or new & (new - 1):
        raise OutOfRange(f"cache_partition {new}: a power of two from 1 to {largest}")
    return _restarting(
        cache,
        "cache_partition",
        (old, new),
        (f'"cache_partition={old:.0f}"', f'"cache_partition={new}"'),
        ("Config Partition and Run Partition", f"Run Partition is {new}"),
        (f'-- or "cache_partition=default", if the {old:.0f} came from global cache partition number',),
        cautions,
    )


def set_replacement(cache: str, old: str, new: str, *, cautions: tuple[str, ...] = ()) -> Change:
    """Change the replacement strategy in force, `strict LRU` or `relaxed LRU`.

    In no restart that changes the partitions: both act on one spinlock, and what is expected of either would not hold.
    Raises `OutOfRange` for another word, and for making the default data cache relaxed: nothing here ever prints that.
    """
    check_strategy(cache, old, new)
    change = _restarting(
        cache,
        "replacement",
        (old, new),
        (old.split()[0], new.split()[0]),
        ("Config Replacement and Run Replacement", f"Run Replacement is {new}"),
        (),
        (*cautions, *((MORE_SPINS,) if new == STRICT else ())),
    )
    return replace(change, after=(cache_key(cache, "cache_partition"),))


def relaxed_if_it_fits(cache: str) -> Change:
    """Say how relaxed LRU is set once it is known that all of the cache's objects fit: nothing that can be run."""
    change = set_replacement(cache, STRICT, RELAXED)
    first = "-- Only after it was seen that everything bound to it (sp_helpcache) fits into it:"
    return replace(
        change,
        apply=(first, *_commented(change.apply)),
        undo=_commented(change.undo),
        takes_effect=Effect.ADVICE,
        cautions=("Only when everything bound to it fits and is rarely updated.", *change.cautions),
    )


def create_cache(
    cache: str,
    size_mb: float,
    *,
    relaxed: bool = False,
    log_only: bool = False,
    partitions: int = 1,
    largest: int = 64,
    page_kb: float = 2.0,
    overhead_mb: float = 0.0,
    pools: Sequence[tuple[float, int]] = (),
    needs: tuple[str, ...] = (),
    cautions: tuple[str, ...] = (),
) -> Change:
    """Make a new named cache from free memory. Dynamic; `max memory` must have room for it and its overhead.

    `largest`: partitions this release allows. `overhead_mb`: what it takes beside its size, for the plan's count of
    memory. `pools`: for large I/O, I/O size in KB and megabytes; the rest stays the pool of the logical page. `needs`:
    what makes room for it. Raises `OutOfRange` for less than 1 MB, for odd partitions, or where a partition of a pool
    would be under 512 KB or 256 pages.
    """
    least = max(512.0, 256.0 * page_kb)
    odd = not 1 <= partitions <= largest <= 256 or bool(partitions & (partitions - 1))
    if size_mb < 1 or odd or size_mb * 1024 / partitions < least:
        raise OutOfRange(f"a cache of {size_mb:g} MB in {partitions} partitions")
    rest = size_mb - sum(mb for _, mb in pools)
    if small := [mb for mb in (rest, *(mb for _, mb in pools)) if mb * 1024 / partitions < least]:
        raise OutOfRange(f"a pool of {small[0]:g} MB in {partitions} partitions")
    key, target = cache_key(cache, "create"), f"{comment(cache)}: new cache"
    said = f"{size_mb:.0f} MB{f' in {partitions} partitions' if partitions > 1 else ''}"
    if (name := quoted_cache(cache)) is None:
        return by_hand(key, target, None, said)
    words = ["logonly" if log_only else "mixed", *(["relaxed"] if relaxed else [])]
    words += [f'"cache_partition={partitions}"'] if partitions > 1 else []
    return Change(
        key=key,
        target=target,
        old=None,
        new=said,
        apply=batches(
            "-- memory that is free, and the caches there are",
            'sp_configure "memory"',
            "sp_cacheconfig",
            f'sp_helpcache "{size_mb:.0f}M"',
            f'sp_cacheconfig {name}, "{size_mb:.0f}M", {", ".join(words)}',
            *(f'sp_poolconfig {name}, "{mb}M", "{io_kb:.0f}K"' for io_kb, mb in pools),
            "-- check that Status is Active and Run Size is what was asked for",
            f"sp_cacheconfig {name}",
        ),
        undo=batches(
            "-- nothing may be bound to it any more: sp_unbindcache_all unbinds the rest",
            f"sp_helpcache {name}",
            f'sp_cacheconfig {name}, "0"',
        ),
        takes_effect=Effect.ONLINE,
        cautions=(
            "Where memory is not free at once, the server gives what there is and the rest after a restart.",
            *cautions,
        ),
        memory_mb=size_mb + overhead_mb,
        needs=needs,
    )


def drop_cache(
    cache: str,
    size_mb: float,
    *,
    relaxed: bool,
    partitions: int,
    largest: int,
    page_kb: float,
    pools: Sequence[tuple[float, int]] = (),
    cautions: tuple[str, ...] = (),
) -> Change:
    """Delete a named cache to which nothing is bound, to give its memory to others: dynamic (vendor), as its way back.

    It is made anew as it was: see `create_cache`, also for what is raised. With a binding it stays until a restart.
    """
    anew = create_cache(
        cache, size_mb, relaxed=relaxed, partitions=partitions, largest=largest, page_kb=page_kb, pools=pools
    )
    if (name := quoted_cache(cache)) is None:
        return by_hand(cache_key(cache, "size"), f"{comment(cache)}: size", f"{_mb(size_mb)} MB", "0 MB")
    return Change(
        key=cache_key(cache, "size"),
        target=f"{comment(cache)}: size",
        old=f"{_mb(size_mb)} MB",
        new="0 MB",
        apply=batches(
            f"-- {comment(cache)}: as it is now; go on only where no binding to it is listed, as with one the server",
            "-- keeps it until the next restart",
            f"sp_cacheconfig {name}",
            f"sp_helpcache {name}",
            f'sp_cacheconfig {name}, "0"',
            "-- check that it is no longer listed, and that its memory is free",
            "sp_cacheconfig",
            'sp_configure "memory"',
        ),
        undo=batches("-- make room first: what was given its memory becomes smaller in a restart alone", *anew.apply),
        takes_effect=Effect.ONLINE,
        cautions=cautions,
        memory_mb=-size_mb,
        risk=Risk("medium", "takes effect at once; what gets its memory gives it back in a restart alone"),
    )


def grow_cache(
    cache: str, old_mb: float, new_mb: float, *, overhead_mb: float = 0.0, cautions: tuple[str, ...] = ()
) -> Change:
    """Make a cache larger from free memory: dynamic, the way back is not.

    `overhead_mb`: what it takes beside its size. Raises `OutOfRange` where it would not become larger.
    """
    if not 0 < old_mb < new_mb:
        raise OutOfRange(f"{cache} from {old_mb:g} to {new_mb:g} MB")
    key, target = cache_key(cache, "size"), f"{comment(cache)}: size"
    said = (f"{_mb(old_mb)} MB", f"{_mb(new_mb)} MB")
    if (name := quoted_cache(cache)) is None:
        return by_hand(key, target, *said)
    show = f"sp_cacheconfig {name}"
    return Change(
        key=key,
        target=target,
        old=said[0],
        new=said[1],
        apply=batches(
            "-- memory that is free, and the cache as it is now (note Config Size and Run Size)",
            'sp_configure "memory"',
            show,
            f'sp_cacheconfig {name}, "{_mb(new_mb)}M"',
            f"-- check that Run Size is {_mb(new_mb)} MB: what is not free at once comes with a restart",
            show,
        ),
        undo=batches(
            f'sp_cacheconfig {name}, "{_mb(old_mb)}M"',
            "-- a smaller size is static: restart the server, then check that Run Size is what it was",
            show,
        ),
        takes_effect=Effect.ONLINE,
        cautions=cautions,
        memory_mb=new_mb - old_mb + overhead_mb,
        risk=Risk("medium", "takes effect at once; the way back is static and needs a restart"),
    )


def add_pool(cache: str, io_kb: float, new_mb: int, from_mb: float, *, cautions: tuple[str, ...] = ()) -> Change:
    """Give a cache a pool for large I/O, from that of the logical page (`from_mb`): dynamic, and so is the way back.

    Raises `OutOfRange` where it would take all of that pool.
    """
    if not 1 <= new_mb < from_mb:
        raise OutOfRange(f"a pool of {new_mb} MB from {from_mb:g} MB")
    return _of_pool(
        cache,
        f"{io_kb:g}K pool",
        ("0 MB", f"{new_mb} MB"),
        (f'"{new_mb}M", "{io_kb:g}K"', f'"0", "{io_kb:g}K"'),
        (
            "its pools",
            "only clean, unused buffers move: check the Run Size of the new pool, and send it again for the rest",
        ),
        ("The pool of the logical page becomes as much smaller: watch its hits.", *cautions),
    )


def resize_pool(
    cache: str, io_kb: float, old_mb: float, new_mb: float, *, from_mb: float = 0.0, cautions: tuple[str, ...] = ()
) -> Change:
    """Make a pool for large I/O smaller, or larger by what the pool of the logical page (`from_mb`) gives. Dynamic.

    Raises `OutOfRange` where its size would not change, or it would take all of that pool.
    """
    if not 1 <= new_mb < old_mb + from_mb or new_mb == old_mb:
        raise OutOfRange(f"a pool from {old_mb:g} to {new_mb:g} MB")
    return _of_pool(
        cache,
        f"{io_kb:g}K pool",
        (f"{_mb(old_mb)} MB", f"{_mb(new_mb)} MB"),
        (f'"{_mb(new_mb)}M", "{io_kb:g}K"', f'"{_mb(old_mb)}M", "{io_kb:g}K"'),
        (
            "its pools",
            "only clean, unused buffers move: check the Run Size of the pools, and send it again for the rest",
        ),
        cautions,
    )


def default_wash_kb(pool_kb: float) -> float:
    """The wash area of a pool as created, kilobytes: a fifth of it, of 300 MB at most (vendor, sp_poolconfig)."""
    return WASH_SHARE * min(pool_kb, WASH_OF_MB * 1024)


def set_wash(cache: str, io_kb: float, old_kb: float, new_kb: float, pool_kb: float) -> Change:
    """Change the wash area of a pool: dynamic, and so is the way back. Kilobytes.

    Raises `OutOfRange` for what the server would refuse: under 10 buffers of the pool, or over 80 % of it.
    """
    if not 10 * io_kb <= new_kb <= 0.8 * pool_kb or new_kb == old_kb:
        raise OutOfRange(f"a wash area of {new_kb:g} KB in a pool of {pool_kb:g} KB")
    return _of_pool(
        cache,
        f"wash of the {io_kb:g}K pool",
        (f"{old_kb:.0f} KB", f"{new_kb:.0f} KB"),
        (f'"{io_kb:g}K", "wash={new_kb:.0f}K"', f'"{io_kb:g}K", "wash={old_kb:.0f}K"'),
        (f"note Wash Size of the {io_kb:g}K pool", f"check that Wash Size is {new_kb:.0f} Kb"),
        ("More buffers are written before they are reused: watch the writes of the devices.",),
    )


def _of_pool(
    cache: str,
    what: str,
    said: tuple[str, str],
    orders: tuple[str, str],
    notes: tuple[str, str],
    cautions: tuple[str, ...],
) -> Change:
    """Change a pool by `sp_poolconfig`, which is dynamic. `orders`: what follows the cache's name, and to undo it.

    `said`: the value before and after. `notes`: what to see in the list of the cache before, and after it.
    """
    key, target = cache_key(cache, what), f"{comment(cache)}: {what}"
    if (name := quoted_cache(cache)) is None:
        return by_hand(key, target, *said)
    show = f"sp_cacheconfig {name}"
    return Change(
        key=key,
        target=target,
        old=said[0],
        new=said[1],
        apply=batches(
            f"-- {comment(cache)}: as it is now ({notes[0]})",
            show,
            f"sp_poolconfig {name}, {orders[0]}",
            f"-- {notes[1]}",
            show,
        ),
        undo=batches(f"sp_poolconfig {name}, {orders[1]}", show),
        takes_effect=Effect.ONLINE,
        cautions=cautions,
    )


def shrink_cache(
    cache: str, old_mb: float, new_mb: float, pools: Sequence[tuple[float, float]], *, cautions: tuple[str, ...] = ()
) -> Change:
    """Make a cache smaller, to give its memory to new ones after the restart: static.

    `pools`: what each pool should have afterwards, I/O size in KB and megabytes, the logical page first. Which pool
    gives way is not documented, so the wanted sizes stand in the script as comments. Growing it back is dynamic.
    Raises `OutOfRange` where it would not become smaller, or where the pools are larger than the cache.
    """
    if not 0 < new_mb < old_mb or sum(mb for _, mb in pools) > new_mb + 0.5:
        raise OutOfRange(f"{cache} from {old_mb:g} to {new_mb:g} MB")
    key, target = cache_key(cache, "size"), f"{comment(cache)}: size"
    said = (f"{_mb(old_mb)} MB", f"{_mb(new_mb)} MB")
    if (name := quoted_cache(cache)) is None:
        return by_hand(key, target, *said)
    show = f"sp_cacheconfig {name}"
    wanted = ", ".join(f"{io_kb:g}K pool {_mb(mb)} MB" for io_kb, mb in pools)
    return Change(
        key=key,
        target=target,
        old=said[0],
        new=said[1],
        apply=batches(
            f"-- {comment(cache)}: as it is now (note Config Size, Run Size and the sizes of its pools)",
            show,
            f'sp_cacheconfig {name}, "{_mb(new_mb)}M"',
            f"-- wanted afterwards: {wanted}",
            "-- which pool gives way is not documented: look at the pool sizes of this cache in the .cfg file before",
            f"-- the restart; together they may not be larger than {_mb(new_mb)} MB",
            f"-- restart the server, then check that Run Size is {_mb(new_mb)} MB, and the pools",
            show,
            *(f'--   sp_poolconfig {name}, "{_mb(mb)}M", "{io_kb:g}K"' for io_kb, mb in pools[1:]),
        ),
        undo=batches(
            "-- first unbind what was bound to the caches made of this memory, and delete those caches",
            f'sp_cacheconfig {name}, "{_mb(old_mb)}M"',
            f"-- more memory is dynamic: check that Run Size is {_mb(old_mb)} MB; what is missing comes with a restart",
            show,
        ),
        takes_effect=Effect.RESTART,
        cautions=(*cautions, RESTART),
        memory_mb=new_mb - old_mb,
    )


def quoted_cache(cache: str) -> str | None:
    """Its name as a script has it; `None` for one that cannot be written safely."""
    with suppress(Unquotable):
        return tsql_string(cache)
    return None


def _mb(size: float) -> str:
    """Megabytes without needless decimals: sp_cacheconfig takes decimals with M."""
    return f"{size:.2f}".rstrip("0").rstrip(".")


def check_strategy(cache: str, old: str, new: str) -> None:
    """Raise `OutOfRange` for another word, and for making the default data cache relaxed."""
    if {old, new} != {STRICT, RELAXED}:
        raise OutOfRange(f"replacement {old!r} to {new!r}: {STRICT} or {RELAXED}")
    if new == RELAXED and cache == DEFAULT_CACHE:
        raise OutOfRange("the default data cache is not made relaxed")


def _restarting(
    cache: str,
    what: str,
    values: tuple[float | str, float | str],
    words: Sequence[str],
    look_at: tuple[str, str],
    after_undo: tuple[str, ...],
    cautions: tuple[str, ...],
) -> Change:
    key, target = cache_key(cache, what), f"{comment(cache)}: {what}"
    if (name := quoted_cache(cache)) is None:
        return by_hand(key, target, *values)
    show = f"sp_cacheconfig {name}"
    return Change(
        key=key,
        target=target,
        old=values[0],
        new=values[1],
        apply=batches(
            f"-- {comment(cache)}: as it is now (note {look_at[0]})",
            show,
            f"sp_cacheconfig {name}, {words[1]}",
            f"-- restart the server, then check that {look_at[1]}",
            show,
        ),
        undo=batches(f"sp_cacheconfig {name}, {words[0]}", *after_undo, show, "-- restart the server"),
        takes_effect=Effect.RESTART,
        cautions=(*cautions, RESTART),
    )


def _commented(lines: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(line if line.startswith("--") else f"--   {line}" for line in lines)


def cache_key(cache: str, what: str) -> str:
    """Name the setting of a cache: whatever changes it has this key."""
    return f"ase.cache:{comment(cache)}:{what}"


def by_hand(
    key: str, target: str, old: float | str | None, new: float | str | None, needs: tuple[str, ...] = ()
) -> Change:
    """The same change where a name cannot be written into a script: nothing to run."""
    return Change(
        key=key,
        target=target,
        old=old,
        new=new,
        apply=("-- A name here cannot be written safely into a script: make this change by hand.",),
        undo=("-- Made by hand: undo by hand, to the value noted before.",),
        takes_effect=Effect.ADVICE,
        cautions=("The name holds characters that could hide or add a line of a script. Look at it first.",),
        needs=needs,
    )
