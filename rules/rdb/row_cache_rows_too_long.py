"""Rows are too long for their row cache.

Finds: searches of a row cache that find the row too big for its slot, or after which it is not put in for that, as a
share of all searches, by the screens of the row caches (else by their summary), with the length of a slot where a
header has it. Without those screens: a slot that
is shorter than the longest record of what the cache is for, by the information tables and the storage areas.

Why it matters: such a row keeps a slot of the cache and is read from its page all the same, so the cache takes memory
and saves nothing (Oracle Rdb, help on the screen Summary Cache Statistics). A row longer than ROW LENGTH is not cached.

What to do: with the database closed, give the cache the ROW LENGTH of the longest row (RMU help 7.2, Set Row_Cache,
Slot_Size). A larger CACHE SIZE does not help.

When to ignore it: where few of a table's rows are long and those are hardly read.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import ABSENT, Facts, Reading, known, number_or
from collectors.facts.rdb import LogicalArea, RowCache, StatisticRow
from rules.changes.quoting import comment
from rules.engine import percent, rule
from rules.finding import (
    Clean,
    Evidence,
    Expectation,
    Finding,
    NotApplicable,
    Outcome,
    Severity,
    Unknown,
    Untrusted,
)
from rules.rdb._evidence.counted import COUNTED_FACTS, rounded
from rules.rdb._evidence.databases import OneDatabase, belonging, databases
from rules.rdb._evidence.limits import least
from rules.rdb._evidence.prerequisites import MEGABYTE
from rules.rdb._evidence.row_caches import (
    BY_CACHE,
    FOUND,
    INSERTS,
    NOT_PUT_IN,
    SEARCHES,
    TOO_BIG,
    by_cache,
    of_caches,
    tables_of,
)
from rules.rdb._evidence.screens import Lines
from rules.rdb._evidence.statistics import LEAST_COUNTED

LINKS = (
    "https://uprrp2.uprrp.edu/help/sys$common/syshlp/rmudisplay72.hlb?key=Overview~Fields~Summary_Cache_Statistics_screen",
    "https://uprrp2.uprrp.edu/help/sys$common/syshlp/sql$help_old72.hlb?key=CREATE~CACHE~Arguments~ROW_LENGTH",
)
BECAUSE = (
    "Such a row keeps a slot of the cache, but is read from its page each time: the cache takes memory and saves "
    "nothing there. A larger CACHE SIZE does not help."
)
NOT_CACHED = (
    "A row longer than ROW LENGTH is not cached at all, so the cache takes memory and saves nothing there. A larger "
    "CACHE SIZE does not help."
)
LONGER = (
    "with the database closed on all nodes, after a full backup: RMU/SET ROW_CACHE/ALTER=(NAME={0},SLOT_SIZE={1}) and "
    "the root file (that is ROW LENGTH IS {1} BYTES)"
)
"""Vendor: RMU help (7.2), Set Row_Cache, Alter; its usage notes ask for exclusive access."""
ROUNDED = 4
"""Bytes: ROW LENGTH is a multiple of it (SQL help, 7.2)."""
PACKED = (
    "Whether the rows are stored compressed, so shorter than RDB$RECORD_LENGTH: "
    "RMU/DUMP/ROW_CACHE/NODATA/CACHE_NAME={} and the root file marks rows that "
    "are too long (T) and has their length (ACTLEN)."
)


@dataclass(frozen=True)
class Limits:
    """From where on too many rows do not fit. No vendor names a figure."""

    too_big_percent: float = percent(
        10.0, "this project: one search in ten finds a row that does not fit", low=0.1, of="cache searches"
    )
    searches_per_second: float = least(50.0, "cache searches/s")


@rule(
    needs=(StatisticRow,),
    uses=(*COUNTED_FACTS, RowCache, LogicalArea),
    links=LINKS,
    limits=Limits,
    sample=LEAST_COUNTED,
)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge the row caches of each database."""
    for one in databases(facts, (StatisticRow,)):
        yield from _judge(facts, one, limits)


def _judge(facts: Facts, one: OneDatabase, limits: Limits) -> Iterator[Outcome]:
    found = [
        each
        for each in of_caches(facts, one)
        if each.total(SEARCHES) and (each.total(TOO_BIG) is not None or each.total(NOT_PUT_IN) is not None)
    ]
    if not found and (short := list(_short(facts, one))):
        yield from short
        return
    if not found:
        if one.figure("active_row_caches") or one.caches:
            yield Unknown.without(
                "how often a row is too long for its cache", BY_CACHE, f"{one.subject}: it has caches"
            )
        else:
            yield NotApplicable(f"{one.subject}: no row cache is active in this export")
        return
    by_name: list[tuple[str | None, Lines]] = [(name, each) for name, each in by_cache(facts, one) if each in found]
    fired = set()
    for name, each in by_name or [(None, each) for each in found]:
        outcome = _of_screen(facts, one, limits, each, name)
        if isinstance(outcome, Finding) and outcome.subject in fired:
            continue
        if isinstance(outcome, Finding):
            fired.add(outcome.subject)
        yield outcome
        if isinstance(outcome, Finding) and not by_name:
            yield Unknown.without("which row cache it is", BY_CACHE, f"{one.subject}: the summary is of all together")


def _of_screen(facts: Facts, one: OneDatabase, limits: Limits, each: Lines, name: str | None) -> Outcome:
    searches, too_big = each.total(SEARCHES) or 0.0, each.total(TOO_BIG) or 0.0
    found = too_big + sum(each.total(label) or 0.0 for label in FOUND)
    if found > 1.05 * searches + 0.2:
        return Untrusted(f"{each.title}: more rows found than searched for; write the screen again")
    share = 100 * too_big / searches
    what = f"row cache {comment(name, 31)}" if name else "all row caches together"
    figures = f"{rounded(too_big)} of {rounded(searches)} searches/s of {what} find a row that is too long for it"
    inserts, refused = each.total(INSERTS) or 0.0, each.total(NOT_PUT_IN) or 0.0
    kept_out = 100 * refused / searches
    if share < limits.too_big_percent <= kept_out and searches >= limits.searches_per_second:
        if refused > max(inserts, 1.05 * (searches - found) + 0.2):
            return Untrusted(f"{each.title}: more rows are too long to be put in than searches find nothing")
        return _kept_out(facts, one, limits, each, name)
    if share < limits.too_big_percent or searches < limits.searches_per_second:
        said = f"(limits {limits.too_big_percent:g} % of {limits.searches_per_second:g}/s)"
        return Clean(f"{one.subject}: {figures} {said}")
    cache = next((c for c in one.caches if name and c.name.upper() == name.upper()), None)
    length = cache.row_bytes if cache else ABSENT
    slot = f"; its slots have {length:,.0f} bytes" if known(length) else ""
    of_them = f", and {100 * refused / inserts:.0f} % of the rows to be put in are too long" if inserts else ""
    put_in = of_them if 0 < refused <= inserts else ""  # more than there are is no share of them
    return Finding(
        subject=f"{one.subject} {comment(name, 31)}" if name else one.subject,
        severity=Severity.ADVICE,
        title=f"{min(share, 100):.0f} % of the searches of {what} find a row that is too long for it",
        seen=f"{figures} ({each.over}){put_in}{slot}.",
        because=BECAUSE,
        do=_do(facts, one, name, length),
        unknown=_by_length(facts, one, name, length),
        evidence=(
            Evidence(
                "searches that find a row too long", round(share, 1), "%", each.source(TOO_BIG), limits.too_big_percent
            ),
            Evidence("cache searches", round(searches, 1), "/s", each.source(SEARCHES), limits.searches_per_second),
            *((Evidence("length of a slot", length, "bytes", cache.source),) if cache and known(length) else ()),
        ),
        expects=(Expectation("searches that find a row too long (%)", round(share, 1), "lower", "heuristic"),),
    )


def _do(facts: Facts, one: OneDatabase, name: str | None, slot: Reading) -> str:
    """How the cache gets room for its rows, as far as their length is known."""
    if not name:
        return f"See on the screen of each row cache which one it is, then, {LONGER.format('<cache>', 'n')}."
    if longest := _longest(facts, one, name):
        return _longer(one, name, longest[0])
    if alone := _alone(facts, one, slot):
        return _longer(one, name, alone)
    return f"Find the longest row {_cached(one, name)} (n bytes), then {LONGER.format(comment(name, 31), 'n')}."


def _alone(facts: Facts, one: OneDatabase, slot: Reading) -> LogicalArea | None:
    """The only table that is listed with records too long for these slots; `None` for none, and for several."""
    if not known(slot):
        return None
    listed = belonging(facts.every(LogicalArea), one)
    longer = {table.name: table for table in listed if number_or(table.record_bytes, 0.0) > slot}
    return next(iter(longer.values())) if len(longer) == 1 else None


def _by_length(facts: Facts, one: OneDatabase, name: str | None, slot: Reading) -> str:
    """What is not sure where a table is taken for that of the cache by the length of its records."""
    if not name or _longest(facts, one, name) or not (alone := _alone(facts, one, slot)):
        return ""
    table = comment(alone.name, 31)
    return (
        f"That the cache is for {table} is likely alone: of the tables listed only its records are too long for it. "
        f"{PACKED.format(comment(name, 31))}"
    )


def _kept_out(facts: Facts, one: OneDatabase, limits: Limits, each: Lines, name: str | None) -> Finding:
    """Rows that were searched, read from their pages and not put in: what the screen counts as `row too big`.

    Where more are refused than are put in, `insert cache` counts those that were put in alone: then they are a share of
    the searches, as each was searched for first.
    """
    searches, inserts = each.total(SEARCHES) or 0.0, each.total(INSERTS) or 0.0
    refused, what = each.total(NOT_PUT_IN) or 0.0, f"row cache {comment(name, 31)}" if name else "all row caches"
    cache = next((c for c in one.caches if name and c.name.upper() == name.upper() and known(c.row_bytes)), None)
    slot = f"; its slots have {number_or(cache.row_bytes, 0.0):,.0f} bytes" if cache else ""
    too_long = f"{rounded(refused)} of {rounded(inserts)} rows/s to be put into {what} are too long"
    title = f"{100 * refused / (inserts or 1):.0f} % of the rows to be put into {what} are too long for it"
    if refused > inserts:
        too_long = (
            f"{rounded(refused)} rows/s are not put into {what}, as they are too long, and {rounded(inserts)} are"
        )
        title = f"after {100 * refused / searches:.0f} % of the searches of {what} the row is too long to be put in"
    return Finding(
        subject=f"{one.subject} {comment(name, 31)}" if name else one.subject,
        severity=Severity.ADVICE,
        title=title,
        seen=f"{too_long}, at {rounded(searches)} searches/s ({each.over}){slot}.",
        because=NOT_CACHED,
        do=_do(facts, one, name, cache.row_bytes if cache else ABSENT),
        unknown=_by_length(facts, one, name, cache.row_bytes if cache else ABSENT),
        evidence=(
            Evidence(
                "rows too long to be put in, of the searches",
                round(100 * refused / searches, 1),
                "%",
                each.source(NOT_PUT_IN),
                limits.too_big_percent,
            ),
            Evidence("cache searches", round(searches, 1), "/s", each.source(SEARCHES), limits.searches_per_second),
            *((Evidence("length of a slot", number_or(cache.row_bytes, 0.0), "bytes", cache.source),) if cache else ()),
        ),
        explains=("rdb/page_locks_dominate",),
        expects=(Expectation("rows too long to be put in (/s)", round(refused, 1), "lower", "heuristic"),),
    )


def _cached(one: OneDatabase, name: str) -> str:
    """`in storage area RATES`, where the header says which areas go to that cache."""
    areas = [comment(area.name, 31) for area in one.areas if (area.row_cache or "").upper() == name.upper()]
    if not areas:
        return f"that {comment(name, 31)} is for"
    more = f" and {len(areas) - 1} more" if len(areas) > 1 else ""
    return f"in storage area {areas[0]}{more}"


def _longer(one: OneDatabase, name: str, table: LogicalArea) -> str:
    """The command that makes room for the records of a table, and the memory that all slots take then at the least."""
    length = number_or(table.record_bytes, 0.0)
    slot = -(-length // ROUNDED) * ROUNDED
    slots = next((number_or(c.slots, 0.0) for c in one.caches if c.name.upper() == name.upper()), 0.0)
    memory = f" Its {slots:,.0f} slots then take at least {slots * slot / MEGABYTE:,.1f} MB." if slots else ""
    return (
        f"For records of up to {length:,.0f} bytes ({comment(table.name, 31)}), "
        f"{LONGER.format(comment(name, 31), f'{slot:.0f}')}.{memory}"
    )


def _longest(facts: Facts, one: OneDatabase, name: str) -> list[LogicalArea]:
    """What the cache is for, the longest records first: by its name, and by the areas that are assigned to it."""
    tables = [table for table in tables_of(facts, one, name) if number_or(table.record_bytes, 0.0) > 0]
    return sorted(tables, key=lambda table: -number_or(table.record_bytes, 0.0))


def _short(facts: Facts, one: OneDatabase) -> Iterator[Finding]:
    """Row caches whose slots are shorter than the records they are for, as both are listed."""
    for cache in one.caches:
        slot = number_or(cache.row_bytes, 0.0)
        tables = [t for t in _longest(facts, one, cache.name) if number_or(t.record_bytes, 0.0) > slot > 0]
        if not tables:
            continue
        name, length = comment(cache.name, 31), number_or(tables[0].record_bytes, 0.0)
        yield Finding(
            subject=f"{one.subject} {name}",
            severity=Severity.ADVICE,
            title=f"row cache {name} takes rows of up to {slot:,.0f} bytes, and those of "
            f"{comment(tables[0].name, 31)} have up to {length:,.0f}",
            seen=f"The slots of row cache {name} have {slot:,.0f} bytes. RDB$LOGICAL_AREAS has records of "
            f"{length:,.0f} bytes for {comment(tables[0].name, 31)}.",
            because=NOT_CACHED,
            do=_longer(one, cache.name, tables[0]),
            unknown=PACKED.format(name),
            evidence=(
                Evidence("length of a slot", slot, "bytes", cache.source),
                Evidence(f"record of {comment(tables[0].name, 31)}", length, "bytes", tables[0].source),
            ),
            explains=("rdb/page_locks_dominate",),
        )
