"""What the pages show of a stored ASE capture, worked out once (`advisor.core.page_cache`)."""

from dataclasses import dataclass, replace

from advisor.ase.services.blocking import Blocking, blocking_of
from advisor.ase.services.caches import CacheMap, cache_map
from advisor.ase.services.sampled import Sampled, sampled_of
from advisor.ase.services.spinlocks import Spinlocks, spinlocks_of
from advisor.ase.services.statements import Statements, statements_of
from advisor.ase.services.waits import Waits, waits_of
from advisor.audits.models import Capture
from advisor.audits.services.persistence import restore
from advisor.core.page_cache import kept
from collectors.facts import Fact, Facts
from collectors.facts.ase import (
    CacheActivity,
    CachePool,
    ConfigParameter,
    EngineBusy,
    LockHashtable,
    LockSummary,
    MemoryHeadroom,
    MetadataCache,
    MetadataSpinlock,
    MonCachePool,
    MonDataCache,
    MonEngine,
    MonSpinlockActivity,
    MonThread,
    NamedCache,
    Server,
    SysmonSample,
)
from rules.ase._evidence.caches.contents import Contents, contents_of

MOST_HELD = 200
"""Objects kept of what is in the caches: the most searched."""
SMALL: tuple[type[Fact], ...] = (
    *(Server, ConfigParameter, EngineBusy, MonEngine, MonThread, LockHashtable, LockSummary, MetadataCache),
    *(MetadataSpinlock, MonSpinlockActivity, NamedCache, CachePool, MonDataCache, MonCachePool, CacheActivity),
    *(SysmonSample, MemoryHeadroom),
)
"""Kinds of facts that the what-if asks for, none of which grows with the tables of the databases."""


@dataclass(frozen=True)
class Views:
    """What the pages show of one capture."""

    caches: CacheMap
    spinlocks: Spinlocks
    waits: Waits
    blocking: Blocking
    statements: Statements
    sampled: Sampled
    facts: Facts
    """Those of `SMALL`."""
    contents: object
    """`Contents` with the most searched objects, or why there are none."""
    problems: tuple[str, ...]
    """What of the stored facts could not be restored."""


@kept
def views_of(capture: Capture) -> Views:
    """What is shown of this capture. Who may see it was asked before."""
    found, problems = restore(capture)
    facts = found.facts
    contents = contents_of(facts)
    caches = cache_map(facts, contents)
    if isinstance(contents, Contents):
        contents = replace(contents, held=contents.held[:MOST_HELD])
    small = Facts(tuple(fact for fact in facts if type(fact) in SMALL))
    return Views(
        caches=caches,
        spinlocks=spinlocks_of(facts),
        waits=waits_of(facts),
        blocking=blocking_of(facts),
        statements=statements_of(facts),
        sampled=sampled_of(facts),
        facts=small,
        contents=contents,
        problems=tuple(problems),
    )
