"""The lockless data cache of 16.0 SP02 as the alternative to partitions and relaxed LRU: in words alone.

It is a type of cache, behind the licensed `enable mem scale`; relaxed LRU is its precondition (message 17326), it
cannot be the default data cache (5875, 19981), a log-only cache or an in-memory one (16762), and a cache with strict
LRU has to be deleted and made anew (16765). The word that sp_cacheconfig takes for it is in no source that was read,
so no script is written (knowledge/releases-2026.md, 1.1).
"""

from collectors.facts import Facts
from collectors.facts.ase import NamedCache
from rules.ase._evidence.caches.figures import kind_of, unknown_kind
from rules.ase._evidence.caches.temporary import serves_tempdb
from rules.ase._evidence.server import setting_of

SWITCH = "enable mem scale"
INSTEAD = (
    "As enable mem scale is on, a lockless data cache is the alternative if it holds all of its objects and replaces "
    "nothing (CASWaits of monDataCache tell its contention): it needs relaxed LRU, and one with strict LRU is to be "
    "made anew (messages 16765, 17326); how sp_cacheconfig spells that type is not known here."
)


NEW = (
    "As enable mem scale is on, a lockless data cache is the alternative to this relaxed one, if it holds all of its "
    "objects and replaces nothing; how sp_cacheconfig spells that type is not known here."
)


def mem_scale_on(facts: Facts) -> bool:
    """Whether the server runs with the licensed option that has lockless data caches."""
    switch = setting_of(facts, SWITCH)
    return switch is not None and switch.run_number == 1


def lockless_instead(facts: Facts, named: NamedCache | None) -> str:
    """Name the lockless data cache where the server has it and this cache may be one; nothing elsewhere."""
    if not mem_scale_on(facts) or named is None or named.is_default or named.instance is not None:
        return ""
    unfit = kind_of(named) in ("log", "in-memory", "lockless") or unknown_kind(named)
    return "" if unfit or serves_tempdb(facts, named.name, named) else INSTEAD
