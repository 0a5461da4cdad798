"""The lockless data cache of 16.0 SP02 as the alternative to partitions and relaxed LRU: in words alone.

It is a type of cache, behind the licensed `enable mem scale`; relaxed LRU is its precondition (message 17326), it
cannot be the default data cache (5875, 19981), a log-only cache or an in-memory one (16762), and a cache with strict
LRU has to be deleted and made anew (16765). The word that sp_cacheconfig takes for it is in no source that was read,
so no script is written (knowledge/releases-2026.md, 1.1).
"""

from collectors.facts import Facts, known
from collectors.facts.ase import MonDataCache, NamedCache
from rules.ase._evidence.caches.figures import kind_of, unknown_kind
from rules.ase._evidence.caches.fit import GROWTH, fit_of
from rules.ase._evidence.caches.monitored import only_filled
from rules.ase._evidence.caches.temporary import serves_tempdb
from rules.ase._evidence.server import setting_of
from rules.changes.quoting import comment

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


MET = (
    "Make {} anew as a lockless data cache (its conditions are met: enable mem scale 1, {}{}, "
    "{:,.0f} MB bound to {:,.0f}): unbind all, delete it, make it with relaxed LRU, bind again; no restart, undone "
    "alike (messages 16764, 16765). Judge it by CASWaits of monDataCache; how sp_cacheconfig spells the type is not "
    "known here."
)


def mem_scale_on(facts: Facts) -> bool:
    """Whether the server runs with the licensed option that has lockless data caches."""
    switch = setting_of(facts, SWITCH)
    return switch is not None and switch.run_number == 1


def lockless_instead(facts: Facts, named: NamedCache | None) -> str:
    """Name the lockless data cache where the server has it and this cache may be one; nothing elsewhere."""
    return INSTEAD if _may_be(facts, named) else ""


def read_nothing(facts: Facts, named: NamedCache | None) -> bool:
    """Whether a cache with relaxed LRU read nothing from disk between two snapshots, so that it replaces nothing."""
    if named is None or not named.relaxed or named.pending:
        return False
    rows = [one for one in facts.every(MonDataCache) if one.name == named.name and one.believed and one.of_interval]
    return bool(rows) and bool(rows[-1].seconds) and rows[-1].misses == 0


def lockless_as_met(facts: Facts, named: NamedCache | None) -> str:
    """Ask for a lockless data cache where the exports show that this one meets all conditions; nothing elsewhere.

    No page read between two snapshots, and all that is bound to it, known by size, fits: into one with strict LRU with
    a fifth to grow, as nothing shows yet that it lives with relaxed LRU. Updates are no reason against it (practice).
    """
    if named is None or not _may_be(facts, named) or named.relaxed is None or named.pending:
        return ""
    rows = [one for one in facts.every(MonDataCache) if one.name == named.name and one.believed]
    counted = [one for one in rows if one.of_interval] or [one for one in rows if only_filled(facts, one)]
    fit = fit_of(facts, named.name)
    if not counted or not counted[-1].seconds or fit is None or not known(named.run_size_mb):
        return ""
    reads = counted[-1].of_interval and counted[-1].misses != 0
    if reads or fit.bound_mb * (1.0 if named.relaxed else GROWTH) > named.run_size_mb:
        return ""
    policy, seconds = "relaxed LRU, " if named.relaxed else "", counted[-1].seconds
    read = f"no read from disk in {seconds:,.0f} s"
    if not counted[-1].of_interval:
        read = f"no page read twice in {seconds / 3600:,.0f} hours"
    return MET.format(comment(named.name, 30), policy, read, fit.bound_mb, named.run_size_mb)


def _may_be(facts: Facts, named: NamedCache | None) -> bool:
    """Whether the server has lockless data caches and this cache may be one."""
    if not mem_scale_on(facts) or named is None or named.is_default or named.instance is not None:
        return False
    unfit = kind_of(named) in ("log", "in-memory", "lockless") or unknown_kind(named)
    return not (unfit or serves_tempdb(facts, named.name, named))
