"""What is bound to which data cache, as `sp_helpcache` lists it: an empty list says that nothing is bound.

A listing of one cache speaks of that cache alone. Where only bindings are there, and nothing says that they are all,
they are taken for all.
"""

from collectors.facts import Facts
from collectors.facts.ase import BindingList, CacheActivity, CacheBinding, NamedCache


def listed(facts: Facts, cache: str) -> bool:
    """Whether the exports say what is bound to this cache, were it nothing."""
    lists = facts.every(BindingList)
    if any(not one.caches or cache in one.caches for one in lists):
        return True
    bindings = facts.every(CacheBinding)
    return bool(bindings) and (not lists or any(one.cache == cache for one in bindings))


def all_listed(facts: Facts) -> bool:
    """Whether they say it of every named cache."""
    return all(listed(facts, one.name) for one in facts.every(NamedCache) if not one.is_default)


def bound_to(facts: Facts, cache: str) -> list[CacheBinding]:
    """The valid bindings of a cache, each once, in the order of the listing."""
    found = [one for one in facts.every(CacheBinding) if one.cache == cache and one.valid is not False]
    return list({(one.database, one.owner, one.table, one.index): one for one in found}.values())


def only_default(facts: Facts) -> bool:
    """Whether the server has the default data cache alone, so that nothing can be bound elsewhere.

    `sp_cacheconfig` may have been asked for one cache: that there is no other is said by `sp_sysmon`, which prints all.
    """
    named, default = facts.every(NamedCache), {one.name for one in facts.every(NamedCache) if one.is_default}
    printed = {one.name for one in facts.every(CacheActivity)}
    return bool(printed) and printed == default and all(one.is_default for one in named)
