"""What the pages show of a stored capture, worked out once and kept for the next request.

Unpacking the facts of a large capture takes longer than a page may. What is kept is small and the same for everybody
who may see the capture; it is found by a digest of the packed facts, so a capture that comes after another one under
its number is never taken for it.
"""

import hashlib
import threading
from collections import OrderedDict
from dataclasses import dataclass, replace

from advisor.models import Capture
from advisor.services.ase.caches import CacheMap, cache_map
from advisor.services.ase.spinlocks import Spinlocks, spinlocks_of
from advisor.services.remembering import restore
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
from rules.judging.caches.contents import Contents, contents_of

KEPT = 24
"""Captures whose pages are kept ready in each process: some megabytes at the most."""
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
    """What three pages show of one capture."""

    caches: CacheMap
    spinlocks: Spinlocks
    facts: Facts
    """Those of `SMALL`."""
    contents: object
    """`Contents` with the most searched objects, or why there are none."""
    problems: tuple[str, ...]
    """What of the stored facts could not be restored."""


_kept: "OrderedDict[bytes, Views]" = OrderedDict()
_lock = threading.Lock()


def views_of(capture: Capture) -> Views:
    """What is shown of this capture. Who may see it was asked before."""
    key = hashlib.sha256(bytes(capture.packed.data)).digest()
    with _lock:
        found = _kept.get(key)
        if found is not None:
            _kept.move_to_end(key)
            return found
    made = _made(capture)
    with _lock:
        _kept[key] = made
        while len(_kept) > KEPT:
            _kept.popitem(last=False)
    return made


def _made(capture: Capture) -> Views:
    found, problems = restore(capture)
    facts = found.facts
    contents = contents_of(facts)
    caches = cache_map(facts, contents)
    if isinstance(contents, Contents):
        contents = replace(contents, held=contents.held[:MOST_HELD])
    small = Facts(tuple(fact for fact in facts if type(fact) in SMALL))
    return Views(caches, spinlocks_of(facts), small, contents, tuple(problems))
