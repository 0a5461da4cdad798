"""A data cache of SAP ASE that misses much, and how much larger the memory that is free would make it.

It is made as large as what is bound to it, where the sizes of all that are there. Else no export shows how large it has
to be, so a first step is a part of what is free, and the misses of the busiest hour tell whether it goes on.
"""

from dataclasses import dataclass
from math import ceil, floor
from typing import NamedTuple

from collectors.facts import Facts, known
from collectors.facts.ase import CacheActivity, NamedCache
from rules.ase._evidence.caches.figures import seconds_of
from rules.ase._evidence.caches.fit import GROWTH, bound_at_most
from rules.ase._evidence.caches.memory import FreeMemory, overhead_of
from rules.changes.ase_cache import grow_cache
from rules.engine import limit, percent
from rules.finding import Change, Evidence, Severity

STEP, FIRST_STEP = (
    0.5,
    "Half of the {0:,.0f} MB that are free, as a first step (this project's): what is left is for later.",
)
ALL_BOUND = "What is bound to it has {0:,.0f} MB at most; a fifth to grow is beside it (this project's)."
MACHINE = "The machine must have the memory that max memory promises, or it begins to page."
READ_ONCE = "What is read once, as by a load, misses in a cache of any size: look at the misses again afterwards."


@dataclass(frozen=True)
class MissLimits:
    """From how many misses on a small cache costs something."""

    hit_percent: float = percent(90.0, "practice: fewer hits are too few (rukav/Sysmon)", low=1)
    misses_per_second: float = limit(
        1000.0, "this project: with fewer misses a second it is advice", low=1, unit="misses/s"
    )


class Larger(NamedTuple):
    """A change that makes a cache larger, and whether all that is bound to it fits then."""

    change: Change
    holds_all: bool


def larger(
    facts: Facts, named: NamedCache, size_mb: float, free: FreeMemory | None, *, least: float = 2.0
) -> Larger | None:
    """As large as all that is bound to it, where that is known and free; else half of the free memory in addition.

    `None` where nothing tells what is free. `least`: how many times as large that has to make it, above 1.
    """
    if free is None:
        return None
    bound = None if named.is_default else bound_at_most(facts, named.name)
    whole = ceil(GROWTH * (bound or 0.0) / 10) * 10.0
    fits = whole >= size_mb * least and _takes(facts, size_mb, whole) <= free.mb
    if not fits and free.mb * STEP < size_mb * (least - 1):
        return None
    new = whole if fits else floor((size_mb + free.mb * STEP) / 10) * 10.0
    overhead = overhead_of(facts).more(size_mb, new)
    if new <= size_mb or _takes(facts, size_mb, new) > free.mb:
        return None
    cautions = (ALL_BOUND.format(bound) if fits else FIRST_STEP.format(free.mb), MACHINE, READ_ONCE)
    return Larger(grow_cache(named.name, size_mb, new, overhead_mb=overhead, cautions=cautions), fits)


def _takes(facts: Facts, size_mb: float, new: float) -> float:
    """What a larger size takes of free memory, its overhead included."""
    return new - size_mb + overhead_of(facts).more(size_mb, new)


def misses(facts: Facts, limits: MissLimits, seen: CacheActivity | None) -> tuple[Severity, str, tuple[Evidence, ...]]:
    """How loud it is by what is missed; a note where no export says, or nearly nothing is."""
    hits = seen.hit_percent if seen else None
    if seen is None or hits is None or not known(seen.searches) or not known(seen.hits):
        return Severity.NOTE, "", ()
    missed = seen.searches - seen.hits
    rate = missed / seconds if (seconds := seconds_of(facts)) else None
    evidence: tuple[Evidence, ...] = (
        Evidence(f"hits of {seen.name}", round(hits, 1), "%", seen.source, limits.hit_percent),
    )
    said = f" {hits:.3g} % of its searches find their page"
    if rate is not None:
        said += f", {rate:,.0f} a second do not"
        evidence = (
            *evidence,
            Evidence(f"misses of {seen.name}", round(rate, 1), "/s", seen.source, limits.misses_per_second),
        )
    if hits >= limits.hit_percent:
        return Severity.NOTE, f"{said}.", evidence
    loud = rate is not None and rate >= limits.misses_per_second
    return Severity.WARNING if loud else Severity.ADVICE, f"{said}.", evidence
