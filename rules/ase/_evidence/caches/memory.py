"""What memory of SAP ASE is free for new caches and settings: `max memory` less `total logical memory`.

And what a cache takes beside its size: as this server answered `sp_helpcache "500M"`, else between the vendor's points.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil

from collectors.facts import Fact, Facts, Source, known
from collectors.facts.ase import CacheOverhead, ConfigParameter, HostMemory, MemoryHeadroom, ResourceUsage
from rules.finding import Evidence, MissingInput
from rules.laws.binding import OVERHEAD_POINTS, REACH, overhead_mb, overhead_points

MEMORY_FACTS: tuple[type[Fact], ...] = (MemoryHeadroom, ConfigParameter, HostMemory)
OVERHEAD_FACTS = (CacheOverhead,)
"""What a rule that uses `Overhead` has to declare besides."""
MEMORY_MISSING = MissingInput("memory that is free for reconfiguration", MemoryHeadroom.COLLECTED_BY)
PAGE_KB = 2.0
"""Unit of both parameters: `memory pages(2k)`, whatever the server's logical page."""


@dataclass(frozen=True)
class FreeMemory:
    """Megabytes, never below 0, and where they stand."""

    mb: float
    source: Source
    host: "Host | None" = None
    """What the host has beside it, where `free` was brought."""


def free_memory(facts: Facts) -> FreeMemory | None:
    """As `sp_configure "memory"` says it, else the difference of the two settings in force; `None` without any.

    A `max memory` that waits for nothing is dynamic: the run value counts. Where neither was asked for, what
    `sp_monitorconfig` has free of it: the vendor's example adds up to the 33,792 pages of 2 KB that were the default of
    12.5 (System Procedures). Scripts look at `sp_configure "memory"` before they take any.
    """
    said, host = facts.every(MemoryHeadroom), host_of(facts)
    if said:
        return FreeMemory(max(0.0, said[-1].available_kb / 1024), said[-1].source, host)
    most = facts.latest(ConfigParameter, name="max memory")
    used = facts.latest(ConfigParameter, name="total logical memory")
    if most is None or used is None or not known(most.run_value) or not known(used.run_value):
        left = facts.also(ResourceUsage).latest(ResourceUsage, name="max memory")
        if left is None or not known(left.free):
            return None
        return FreeMemory(max(0.0, left.free * PAGE_KB / 1024), left.source, host)
    return FreeMemory(max(0.0, (most.run_value - used.run_value) * PAGE_KB / 1024), most.source, host)


HOST_KEEPS_PERCENT = 2.0
"""Of the memory of a host, what is left available for itself (this project: never its last megabyte)."""


@dataclass(frozen=True)
class Host:
    """What programs of the host can still take, and what of it is left to the host, megabytes."""

    available_mb: float
    keeps_mb: float

    def has(self, needed_mb: float) -> bool:
        """Whether so much more could be given to the server."""
        return needed_mb <= self.available_mb - self.keeps_mb

    def said(self, needed_mb: float) -> str:
        """What is available, with what is left to the host where that decides it."""
        kept = f", where {self.keeps_mb:,.0f} are to be left" if self.available_mb >= needed_mb > 0 else ""
        return f"{self.available_mb:,.0f} MB available by free{kept if not self.has(needed_mb) else ''}"


def host_of(facts: Facts) -> Host | None:
    """By `free` of Linux; `None` where none was brought."""
    host = facts.latest(HostMemory)
    if host is None or not known(host.available_mb):
        return None
    return Host(host.available_mb, host.total_mb * HOST_KEEPS_PERCENT / 100 if known(host.total_mb) else 0.0)


def raise_max_memory(host: Host | None, needed_mb: float) -> str:
    """That `max memory` is to be raised by so much, as a clause; by what the host has, where that was read."""
    if host is None:
        return "raise max memory if the machine has it"
    if not host.has(needed_mb):
        return f"give the host more memory (it has {host.said(needed_mb)})"
    return f"raise max memory (the host has {host.said(needed_mb)})"


@dataclass(frozen=True)
class Overhead:
    """What a cache takes beside its size: the answers of this server, and points to read between."""

    measured: tuple[CacheOverhead, ...] = ()
    points: tuple[tuple[float, float], ...] = OVERHEAD_POINTS

    def mb(self, size_mb: float) -> float:
        """Megabytes that a cache of so many megabytes takes beside them."""
        return overhead_mb(size_mb, self.points)

    def more(self, old_mb: float, new_mb: float) -> float:
        """Megabytes more that a cache of `new_mb` takes beside them than one of `old_mb`."""
        return self.mb(new_mb) - self.mb(old_mb)

    def own(self, size_mb: float) -> bool:
        """Whether the server's own answers say it: between two of them, or within double and half of one."""
        sizes = [one.size_mb for one in self.measured]
        return bool(sizes) and min(sizes) / REACH <= size_mb <= max(sizes) * REACH

    def evidence(self, sizes_mb: tuple[float, ...]) -> Iterator[Evidence]:
        """The answers of the server, where they are used for one of these sizes."""
        if any(self.own(size) for size in sizes_mb):
            for one in self.measured:
                metric = f"overhead of a cache of {one.size_mb:,.4g} MB (sp_helpcache)"
                yield Evidence(metric, round(one.overhead_mb, 2), "MB", one.source)


def overhead_of(facts: Facts) -> Overhead:
    """What `sp_helpcache` said of each size it was asked for, the last answer of each; none that cannot be."""
    asked = {one.size_mb: one for one in facts.every(CacheOverhead) if 0 < one.overhead_mb < one.size_mb}
    measured = tuple(asked[size] for size in sorted(asked))
    return Overhead(measured, overhead_points({one.size_mb: one.overhead_mb for one in measured}))


@dataclass(frozen=True)
class Room:
    """Memory for one new cache, by the one account of all that an audit advises. Megabytes."""

    left_mb: float
    """Free and not given to another cache before."""
    free_mb: float
    before: tuple[str, ...] = ()
    """What was given memory before, in the order of effect."""
    fits: bool = True
    why: str = ""
    """Why the default data cache gives none, as the end of a sentence."""
    host: Host | None = None

    @property
    def left(self) -> str:
        """What is left, in words."""
        if not self.before:
            return f"{self.free_mb:,.0f} MB are free"
        return f"{self.left_mb:,.0f} of {self.free_mb:,.0f} MB are left after {', '.join(self.before)}"


LEAST_MB = 1.0
"""This project: with less free nothing is enlarged of which no source says what it takes."""


def free_evidence(facts: Facts) -> tuple[Evidence, ...]:
    """What is free as a figure, for a finding that says `too_little`."""
    free = free_memory(facts)
    return (Evidence("memory that is free", round(free.mb, 2), "MB", free.source),) if free else ()


def too_little(facts: Facts, setting: str, memory_mb: float) -> str:
    """Why a larger setting does not fit and what comes before it, as a sentence; empty where it fits or none tells.

    `memory_mb`: what it takes beyond now; 0 where that is not known.
    """
    free = free_memory(facts)
    if free is None or (memory_mb <= free.mb if memory_mb > 0 else free.mb >= LEAST_MB):
        return ""
    lacks, host = max(LEAST_MB, memory_mb - free.mb), free.host
    needed = f"about {memory_mb:,.2f} MB more" if memory_mb > 0 else "memory (the amount is not documented)"
    pages = f" by at least {ceil((memory_mb - free.mb) * 1024 / PAGE_KB):,} pages of 2 KB" if memory_mb > 0 else ""
    return (
        f"It takes {needed}, and {free.mb:,.2f} MB are free for reconfiguration, so the server would "
        f"refuse it: raise max memory first{pages} (dynamic), "
        + ("if the machine has the memory." if host is None else f"for which the host has {host.said(lacks)}.")
    )
