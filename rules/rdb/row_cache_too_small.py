"""A row cache has too few slots for the rows that are searched in it.

Finds: row caches of whose searches many find nothing while the table has more rows than the cache has slots, or whose
rows are refused because the cache is full, by the screens of the row caches; with the slots of a header and the rows of
a table as they were counted or as RDB$CARDINALITY has them.

Why it matters: each search that finds nothing reads the row from its page, under a page lock, and puts it in, which
throws out another one: the cache costs memory and work, and saves little.

What to do: with the database closed, give the cache as many slots as the table has rows and will have, if the node has
the memory. A larger ROW LENGTH does not help.

When to ignore it: where a report reads a large table once a day, and the rows that are used all day long are found.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts, number_or
from collectors.facts.openvms import MemoryUse
from collectors.facts.rdb import LogicalArea, RowCache, StatisticRow
from rules.changes.quoting import comment
from rules.engine import percent, rule
from rules.finding import Clean, Evidence, Expectation, Finding, NotApplicable, Outcome, Severity, Unknown, capitalized
from rules.openvms._evidence.memory import FreeMemory, free_memory
from rules.rdb._evidence.counted import COUNTED_FACTS, rounded
from rules.rdb._evidence.databases import OneDatabase, databases
from rules.rdb._evidence.limits import least
from rules.rdb._evidence.prerequisites import MEGABYTE
from rules.rdb._evidence.row_caches import (
    BY_CACHE,
    FOUND,
    INSERTS,
    NOT_PUT_IN,
    SEARCHES,
    by_cache,
    cache_of,
    rows_for,
)
from rules.rdb._evidence.screens import Lines
from rules.rdb._evidence.statistics import LEAST_COUNTED

LINKS = (
    "https://uprrp2.uprrp.edu/help/sys$common/syshlp/rmudisplay72.hlb?key=Overview~Fields~Summary_Cache_Statistics_screen",
    "https://uprrp2.uprrp.edu/help/sys$common/syshlp/sql$help_old72.hlb?key=CREATE~CACHE~Arguments~CACHE_SIZE",
)
FULL = "cache full"
GROWTH, STEP = 1.1, 1_000
"""This project: slots beyond the rows of today, and what their number is rounded up to."""
COUNT = "an SQL count of the rows of {} (SELECT COUNT(*), READ ONLY) beside a listing of RDB$LOGICAL_AREAS"
HOW = (
    "with the database closed on all nodes, after a full backup: ALTER DATABASE FILENAME '{}' ALTER CACHE {} CACHE "
    "SIZE IS {} ROWS"
)
"""CACHE SIZE: SQL help, 7.2; that it stands in ALTER CACHE of ALTER DATABASE is recalled."""
BECAUSE = (
    "A search that finds nothing reads the row from its page under a page lock, and puts it into a cache that throws "
    "out another one for it. A larger ROW LENGTH does not help."
)
REFUSED = (
    "A search that finds nothing reads the row from its page under a page lock, and the cache is full, so the next "
    "search for it finds nothing either. A larger ROW LENGTH does not help."
)
RECALLED = "Recalled spelling: check with HELP ALTER DATABASE in SQL first; a clause that SQL refuses changes nothing."


@dataclass(frozen=True)
class Limits:
    """From where on too little is found. No vendor names a figure."""

    missed_percent: float = percent(
        20.0, "this project: one search in five finds nothing in the cache", low=1, of="cache searches"
    )
    full_percent: float = percent(
        10.0, "this project: after one search in ten the row is refused, as the cache is full", low=1, of="searches"
    )
    searches_per_second: float = least(50.0, "cache searches/s")


@rule(
    needs=(StatisticRow,),
    uses=(*COUNTED_FACTS, RowCache, LogicalArea, MemoryUse),
    links=LINKS,
    limits=Limits,
    sample=LEAST_COUNTED,
)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge the row caches of each database."""
    for one in databases(facts, (StatisticRow,)):
        named = [(name, each) for name, each in by_cache(facts, one) if each.total(SEARCHES)]
        if not named and (one.figure("active_row_caches") or one.caches):
            yield Unknown.without("what the searches of each row cache find", BY_CACHE, f"{one.subject}: it has caches")
        elif not named:
            yield NotApplicable(f"{one.subject}: no row cache is active in this export")
        for name, each in named:
            yield _of_cache(facts, one, limits, each, name)


def _of_cache(facts: Facts, one: OneDatabase, limits: Limits, each: Lines, cache: str) -> Outcome:
    searches, inserts = each.total(SEARCHES) or 0.0, each.total(INSERTS) or 0.0
    found, full = sum(each.total(label) or 0.0 for label in FOUND), each.total(FULL) or 0.0
    name, missed = comment(cache, 31), 100 * max(0.0, searches - found) / searches
    figures = f"{missed:.0f} % of {rounded(searches)} searches/s of row cache {name} find nothing"
    few = searches < limits.searches_per_second or missed < limits.missed_percent
    if few or 2 * (each.total(NOT_PUT_IN) or 0.0) >= max(inserts, 1.0):
        why = "its rows are too long for it (rdb/row_cache_rows_too_long)"
        said = f"limits {limits.missed_percent:g} % of {limits.searches_per_second:g}/s" if few else why
        return Clean(f"{one.subject}: {figures} ({said})")
    defined = cache_of(one, cache)
    slots = number_or(defined.slots, 0.0) if defined else 0.0
    tables = rows_for(facts, one, cache)
    rows = sum(number_or(table.rows, 0.0) for table in tables)
    refused = 100 * full >= limits.full_percent * searches
    if slots and rows and slots >= rows:
        return Clean(f"{one.subject}: {figures}, but it has {slots:,.0f} slots for {rows:,.0f} rows")
    if not refused and not (slots and rows):
        return Unknown.without("how many rows there are for the slots of a cache", COUNT.format(name), figures)
    size = math.ceil(rows * GROWTH / STEP) * STEP
    memory = size * number_or(defined.row_bytes, 0.0) / MEGABYTE if defined else 0.0
    has = f"has {slots:,.0f} slots for {rows:,.0f} rows" if slots and rows else "is full"
    return Finding(
        subject=f"{one.subject} {name}",
        severity=Severity.ADVICE,
        title=f"row cache {name} {has}, and {missed:.0f} % of its searches find nothing",
        seen=f"{rounded(searches - found)} of {rounded(searches)} searches/s of row cache {name} find nothing "
        f"({each.over})"
        + (f", and {rounded(full)} rows/s are not put in, as the cache is full" if full else "")
        + (f". It has {slots:,.0f} slots" if slots else "")
        + (f" for {rows:,.0f} rows." if slots and rows else "."),
        because=REFUSED if refused else BECAUSE,
        do=_do(one, name, size, memory, free_memory(facts)),
        unknown=RECALLED if rows else "",
        evidence=(
            Evidence("searches that find nothing", round(missed, 1), "%", each.source(SEARCHES), limits.missed_percent),
            Evidence("cache searches", round(searches, 1), "/s", each.source(SEARCHES), limits.searches_per_second),
            *((Evidence("rows refused, cache full", round(full, 1), "/s", each.source(FULL)),) if full else ()),
            *((Evidence("slots", slots, "rows", defined.source),) if defined and slots else ()),
            *(Evidence(f"rows of {comment(t.name, 31)}", number_or(t.rows, 0.0), "rows", t.source) for t in tables),
        ),
        explains=("rdb/page_locks_dominate",),
        expects=(Expectation("searches that find nothing (%)", round(missed, 1), "lower", "heuristic"),),
    )


def _do(one: OneDatabase, name: str, size: int, memory: float, free: FreeMemory | None) -> str:
    """How many slots, what they take at the least, and what is free."""
    how = HOW.format(one.subject if one.root else "<root file>", name, size or "<rows>")
    if not size:
        return f"Count the rows that row cache {name} is for, then, {how}, with a tenth more for growth."
    if not memory:
        return f"For all rows and a tenth more: {how}. The length of a row (SHOW CACHE) times the slots is its memory."
    need = f"Row cache {name} for all rows and a tenth more takes at least {memory:,.1f} MB"
    room = f" ({free.said})" if free else ""
    if free and memory > free.mb:
        return f"{need}, more than is free{room}: see which of its rows are used before anything is set."
    return f"{need}{room}. {capitalized(how)}."
