"""Main memory is short: processes are swapped in all the time.

Finds: processes swapped in every second (MONITOR IO, `[MON.IO]` of T4) while next to nothing is on the free list; and
what was set aside of main memory at boot, first of all for the file cache (SHOW MEMORY, memory reservations).

Why it matters: a process that was swapped out does nothing until it is read in, and another one goes out for it. The
extended file cache gives memory back when programs need it, the vendor says (VCC_MAX_CACHE), but never what the
reserved memory registry holds for it as VCC$MIN_CACHE_SIZE.

What to do: where a good part of memory is reserved for the file cache, take the reservation out or make it smaller: by
SYSMAN, then AUTOGEN, which counts reservations, and a reboot, as the registry is read at boot. Else see which processes
have the pages. More memory only where what has it is needed; larger working sets never, as they take it from others.

When to ignore it: in-swaps of a capture that is of a start or a shift change alone.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts, known
from collectors.facts.openvms import MemoryUse, SystemRates
from rules.engine import limit, percent, rule
from rules.finding import (
    Change,
    Clean,
    Effect,
    Evidence,
    Expectation,
    Finding,
    NotApplicable,
    Outcome,
    Severity,
    Unknown,
    joined,
)
from rules.openvms._evidence.memory import main_memory
from rules.openvms._evidence.monitor_classes import CLASS_FACTS, MONITOR_PAGE, mean_of
from rules.openvms._evidence.node import NODE_FACTS, in_prose, subject_of

LINKS = ("https://wiki.vmssoftware.com/VCC_MAX_CACHE",)
CACHE = "VCC$MIN_CACHE_SIZE"
OF_CACHE = {"in use": "in use", "read hit rate": "read hits"}
SYSMAN = "MCR SYSMAN RESERVED_MEMORY"


@dataclass(frozen=True)
class Limits:
    """When swapping is at work, and memory is short."""

    in_swaps: float = limit(
        1.0, "this project: no limit is published; nodes in order swap nothing in", low=0.01, unit="in-swaps/s"
    )
    free_percent: float = percent(1.0, "this project: what is free is used up in a moment", of="main memory")
    reserved_percent: float = percent(10.0, "this project: less gives back little", of="main memory")


@rule(needs=(), uses=(*CLASS_FACTS, *NODE_FACTS, MemoryUse, SystemRates), links=LINKS, limits=Limits)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Hold the in-swaps against the limit and the free list against main memory."""
    swaps, free = mean_of(facts, "MON.IO", "In Swaps"), mean_of(facts, "MON.PAGE", "Free List Size")
    if swaps is None:
        yield NotApplicable("in-swaps were not collected (MONITOR IO)")
        return
    said = f"{in_prose(swaps.value)} in-swaps/s"
    if swaps.value < limits.in_swaps:
        yield Clean(f"{said}, limit {limits.in_swaps:g}", (swaps.source,))
        return
    memory = main_memory(facts)
    if free is None or memory is None:
        lacks = "the free list", MONITOR_PAGE
        yield Unknown.without(*(lacks if free is None else ("main memory", MemoryUse.COLLECTED_BY)), said)
        return
    share = 100 * free.value / memory.pages
    said = f"{said}, {in_prose(free.value)} of {memory.pages:,.0f} pages of main memory on the free list"
    if share > limits.free_percent:
        yield Clean(f"{said}: memory is not short", (swaps.source, free.source))
        return
    evidence = [
        Evidence("in-swaps (mean)", round(swaps.value, 2), "/s", swaps.source, limits.in_swaps),
        Evidence("free list (mean)", round(free.value), "pages", free.source),
        Evidence("main memory", memory.mb, "MB", memory.source),
    ]
    rates, reads = facts.latest(SystemRates, statistic="mean"), mean_of(facts, "MON.PAGE", "Page Read I/O")
    from_disk = reads.value if reads else rates.page_read_io_per_second if rates else None
    read = ""
    if known(from_disk) and (source := reads.source if reads else rates.source if rates else None):
        evidence.append(Evidence("page read I/O (mean)", round(from_disk, 1), "/s", source))
        read = f"; {in_prose(from_disk)} page read I/Os a second fetch pages from disk"
    reserved = next((one for one in reversed(facts.every(MemoryUse)) if one.name.upper() == CACHE), None)
    pages = reserved.figure("Reserved") if reserved else None
    held = ""
    changes: tuple[Change, ...] = ()
    if reserved and known(pages) and memory.pages * limits.reserved_percent <= 100 * pages <= 100 * memory.pages:
        mb = pages * memory.mb / memory.pages
        held = (
            f"{mb:,.0f} of {memory.mb:,.0f} MB are reserved for the file cache ({CACHE}): it gives back what is beyond "
            "that when programs need it, and never this."
        )
        evidence.append(Evidence(f"reserved for {CACHE}", round(mb), "MB", reserved.source))
        evidence += _of_cache(facts)
        changes = (_without(round(mb)),)
    yield Finding(
        subject=subject_of(facts),
        severity=Severity.WARNING,
        title=f"Main memory is short: {in_prose(swaps.value)} processes a second are swapped in",
        seen=f"{said}{read}.",
        because=joined("A process that is swapped out does nothing until it is read in.", held),
        do=f"Take the reservation out, or make it smaller ({SYSMAN} REMOVE or MODIFY {CACHE}), then AUTOGEN and a "
        "reboot; measure again before memory is bought. VCC_MAX_CACHE alone changes nothing: it may not be below it."
        if changes
        else "See what has the memory: the processes with most pages (SHOW SYSTEM), reservations and the file cache "
        "(SHOW MEMORY). Larger working sets would take it from others.",
        unknown="How much the file cache needs its own hit rate tells (SHOW MEMORY/CACHE)." if changes else "",
        evidence=tuple(evidence),
        changes=changes,
        expects=(Expectation("in-swaps (/s)", round(swaps.value, 2), "lower", "heuristic"),),
    )


def _of_cache(facts: Facts) -> Iterator[Evidence]:
    """What the display says of the cache itself, where it came along."""
    for one in facts.every(MemoryUse):
        value = one.figure("Value")
        if one.group.lower() == "extended file cache" and one.name.lower() in OF_CACHE and known(value):
            unit = one.unit.replace("MBytes", "MB")
            yield Evidence(f"file cache, {OF_CACHE[one.name.lower()]}", value, unit, one.source)


def _without(mb: int) -> Change:
    """The reservation out of the registry, as a template: which qualifier it was added with SHOW tells."""
    return Change(
        key=f"openvms.reserved:{CACHE}",
        target=f"reservation {CACHE}",
        old=float(mb),
        new=0,
        apply=(
            f"$! {CACHE}: where the file cache does not earn it,",
            f"$!   {SYSMAN} SHOW {CACHE}",
            f"$!   {SYSMAN} REMOVE {CACHE} /NOGLOBAL_SECTION",
            "$!   (of a privileged application, which the cache is; /SYSGBL where SHOW lists it so), or a smaller one:",
            f"$!   {SYSMAN} MODIFY {CACHE} /SIZE=n /NOGLOBAL_SECTION   in megabytes",
            "$!   then AUTOGEN, which counts reservations, and a reboot: the registry is read at boot",
        ),
        undo=(f"$! {SYSMAN} ADD {CACHE} /ALLOCATE /SIZE={mb} /NOGLOBAL_SECTION; AUTOGEN and a reboot as well",),
        takes_effect=Effect.ADVICE,
        condition="where the hit rate of the file cache does not earn it; it takes a reboot",
    )
