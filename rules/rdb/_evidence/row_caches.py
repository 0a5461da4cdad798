"""The screens of row caches, and what a cache is for: what the rules about row caches share."""

import re

from collectors.facts import Facts, known
from collectors.facts.rdb import LogicalArea, RowCache
from rules.rdb._evidence.databases import OneDatabase, belonging
from rules.rdb._evidence.screens import Lines, screens

OF_CACHES = re.compile(
    r"\bRow Cache\s{0,3}\((?P<name>[^()]{1,60})\)(?:\s{0,3}-\s{0,3}Cache\s{1,3}(?P<behind>[\w$]{1,31}))?"
    r"|\bSummary (?:Row )?Cache\b",
    re.IGNORECASE,
)
ORDER = re.compile(r"(?:un)?sorted\b", re.IGNORECASE)
"""In the brackets of a title, how the rows of a screen are sorted: no name of a cache."""
SEARCHES, TOO_BIG, FOUND = "cache searches", "found too big", ("found in workset", "found in cache")
INSERTS, NOT_PUT_IN = "insert cache", "row too big"
BY_CACHE = (
    "a write (key W) of the RMU/SHOW STATISTICS screen of each row cache (its lines cache searches and found too big), "
    "after minutes of typical load"
)


def of_caches(facts: Facts, one: OneDatabase) -> list[Lines]:
    """The screens of row caches, and the summary of all of them."""
    return screens(facts, one, OF_CACHES)


def name_of(each: Lines) -> str | None:
    """The cache that a screen is of; `None`: of all together, or of one that its title does not name."""
    named = OF_CACHES.search(each.title)
    if named is None or named["behind"]:
        return named["behind"] if named else None
    return named["name"].strip() if named["name"] and not ORDER.match(named["name"].strip()) else None


def by_cache(facts: Facts, one: OneDatabase) -> list[tuple[str, Lines]]:
    """The screens of which the cache is known: by their titles, else that of all caches together where there is one.

    A header that counts one active cache, and names one, says which the others are of.
    """
    found = of_caches(facts, one)
    named = [(name, each) for each in found if (name := name_of(each))]
    alone = one.caches[0].name if one.figure("active_row_caches") == 1 and len(one.caches) == 1 else None
    return named or [(alone, each) for each in found if alone]


def cache_of(one: OneDatabase, name: str | None) -> RowCache | None:
    """The definition of a cache, where a listing has it."""
    return next((cache for cache in one.caches if name and cache.name.upper() == name.upper()), None)


def tables_of(facts: Facts, one: OneDatabase, name: str) -> list[LogicalArea]:
    """What a cache is for: by its name, and by the storage areas that are assigned to it."""
    areas = {area.number for area in one.areas if (area.row_cache or "").upper() == name.upper()}
    return [
        table
        for table in belonging(facts.every(LogicalArea), one)
        if table.name.upper() == name.upper() or (known(table.area_number) and table.area_number in areas)
    ]


def rows_for(facts: Facts, one: OneDatabase, name: str) -> list[LogicalArea]:
    """How many rows a cache is for: of each of its tables the one fact that has them, else those of its areas."""
    of_cache = tables_of(facts, one, name)
    names = {table.name.upper() for table in of_cache} | {name.upper()}
    whole = {
        table.name.upper(): table
        for table in belonging(facts.every(LogicalArea), one)
        if table.name.upper() in names and known(table.rows) and not known(table.area_number)
    }
    parts = [table for table in of_cache if known(table.rows) and table.name.upper() not in whole]
    return [*whole.values(), *parts]
