"""Row caches are enabled, but what they need is missing.

Finds: a database whose row caches are enabled or defined while none is active, and the prerequisites that the header
shows to be missing: after-image journaling, fast commit, one cluster node, a reserved slot. And a row cache to which no
storage area is assigned and after which no table or index is named, as areas, caches and logical areas are listed.

Why it matters: Rdb accepts the setting and goes on without row caches. Whoever enabled them believes they are in use,
and measures page locks that they were meant to take away.

What to do: make what is missing in its order, with the database closed and after a full backup; assign the storage area
whose pages are waited for most to a cache without one (ALTER STORAGE AREA … CACHE USING …, SQL help 7.2). Or
disable row caches where users attach from several nodes, for there they can never become active.

When to ignore it: where row caches were switched off on purpose for a time. `WARNING:` lines alone are no finding: a
header prints them for every database that was never meant to have a row cache.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts, known, number_or
from collectors.facts.rdb import Database, LogicalArea, RowCache, StorageArea
from rules.changes.quoting import comment
from rules.engine import rule
from rules.finding import Clean, Evidence, Finding, NotApplicable, Outcome, Severity, Unknown, Untrusted, joined
from rules.rdb._evidence.databases import DATABASE_FACTS, OneDatabase, Read, belonging, databases
from rules.rdb._evidence.prerequisites import (
    Step,
    changes_of,
    evidence_of,
    listed,
    moved,
    never,
    not_by_page,
    steps_to,
    unmet,
    unsure,
    warned,
)
from rules.rdb._evidence.sharing import SHARING_FACTS
from rules.rdb._evidence.waits import STALLS, TIMEOUTS, WAIT_FACTS, areas_of, waits_of

LINKS = (
    "https://docs.oracle.com/cd/F25597_01/document/products/rdb/720/E06178-01/sql_p080.htm",
    "https://docs.oracle.com/cd/F25597_01/document/products/rdb/720/E06178-01/sql_p076.htm",
)
MOST = 3
"""Storage areas or tables that are named."""
UNLISTED = "Whether an area that SHOW STORAGE AREA was not asked for uses it: SHOW STORAGE AREA and its name tells."


@dataclass(frozen=True)
class Limits:
    """There is nothing to judge by: a prerequisite is met or it is not."""


@rule(needs=(Database,), uses=(*DATABASE_FACTS, *SHARING_FACTS, *WAIT_FACTS, LogicalArea), links=LINKS, limits=Limits)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge each database."""
    for one in databases(facts):
        yield from _judge(facts, one)


def _judge(facts: Facts, one: OneDatabase) -> Iterator[Outcome]:
    enabled, active = one.read("row_cache_enabled"), one.figure("active_row_caches")
    wanted = enabled if enabled and enabled.value else None
    if wanted is None and one.caches:
        wanted = Read(True, one.caches[0].source)
    if wanted is None and active:
        wanted = one.read("active_row_caches")
    if wanted is None:
        if enabled is None and active is None:
            yield Unknown.without("whether row caches are enabled", Database.COLLECTED_BY, one.subject)
            return
        yield NotApplicable(f"{one.subject}: row caches are not enabled and none is defined")
        return
    steps = steps_to("row_cache", facts, one)
    missing, lacking = unmet(steps), unsure(steps)
    impossible = "" if one.one_instance else never(one)
    if active and not (missing and warned(one)) and not impossible:
        if missing:
            yield Untrusted(
                f"{one.subject}: active row caches: {active:g}, yet the export shows {listed(missing)}, and one "
                "excludes the other: collect a new header, dumped while the database is open"
            )
            return
        idle = list(_unassigned(facts, one))
        yield from idle or (Clean(f"{one.subject}: active row caches: {active:g}{one.read_apart}"),)
        return
    if missing or impossible:
        yield _finding(facts, one, missing, wanted, impossible)
    elif not lacking:
        yield Clean(f"{one.subject}: all prerequisites are met ({listed(steps)})")
    if lacking:
        yield Unknown(tuple(lacking))


def _finding(facts: Facts, one: OneDatabase, missing: list[Step], wanted: Read, impossible: str) -> Finding:
    active = one.figure("active_row_caches")
    by_page, row_level = ("", "") if impossible else not_by_page(one)
    lacking = f"Missing: {listed(missing)}." if missing else ""
    none = (
        f"the header counts {active:g} as active, which seems to mean defined, as it does of storage areas"
        if active
        else "none is active"
    )
    if impossible:
        because = f"None can become active as things are: {impossible}."
        do = "Disable them, or let all users attach on one node first."
    else:
        because = "Rdb accepts the setting and goes on without row caches until all of these are there."
        do = "Make what is missing in this order, with the database closed and after a full backup"
        do += (
            ", or disable row caches."
            if one.caches or active
            else (
                " and together with a cache to add (ADD CACHE, by table or area), or disable row caches: no cache is "
                "defined, so the database is not to be closed for these alone."
            )
        )
    return Finding(
        subject=one.subject,
        severity=Severity.ADVICE,
        title=(
            f"row caches are wanted, but {' and '.join(step.label for step in missing)} "
            f"{'is' if len(missing) == 1 else 'are'} missing"
            if missing
            else "row caches are wanted where none can be active"
        ),
        seen=joined(f"Row caches are enabled or defined and {none}.", lacking),
        because=joined(because, by_page),
        do=joined(do, row_level),
        unknown=moved(one),
        evidence=(Evidence("row caches wanted", "yes", "", wanted.source), *evidence_of(missing)),
        changes=() if impossible else changes_of("row_cache", facts, one),
    )


def _unassigned(facts: Facts, one: OneDatabase) -> Iterator[Finding]:
    """Row caches that no listed storage area is assigned to, where no table or index has their name.

    Only where some area is listed as one without a cache and logical areas are listed, too: else it is not told.
    """
    tables = list(belonging(facts.every(LogicalArea), one))
    free = [area for area in one.areas if area.row_cache == ""]
    used = {name.upper() for name in (*(area.row_cache or "" for area in one.areas), *(t.name for t in tables))}
    for cache in one.caches if free and tables else ():
        if cache.name.upper() in used:
            continue
        name, area = comment(cache.name, 31), _hottest(facts, one, free)
        here = [t for t in tables if area and known(area.number) and t.area_number == area.number]
        where = comment(area.name, 31) if area else "<area>"
        yield Finding(
            subject=f"{one.subject} {name}",
            severity=Severity.ADVICE,
            title=f"row cache {name} is assigned to no storage area and has the name of no table: it holds no row",
            seen=f"Listed as without a row cache: storage area{'s' * (len(free) > 1)} "
            f"{', '.join(comment(each.name, 31) for each in free[:MOST])}. No table or index is listed as {name}.",
            because="ADD CACHE assigns a cache to nothing but a table or index of exactly its name; CACHE USING of a "
            "storage area does the rest.",
            do=joined(
                f"{_when(cache, here)}with the database closed and after a full backup: ALTER DATABASE FILENAME "
                f"'{comment(one.root, 255) if one.root else '<root file>'}' ALTER STORAGE AREA {where} "
                f"CACHE USING {name} (back: NO ROW CACHE).",
                "" if area else "Take the area whose rows are used most, if they fit.",
            ),
            unknown=UNLISTED if any(each.row_cache is None for each in one.areas) else "",
            evidence=(
                Evidence("row cache", name, "", cache.source),
                *(Evidence(f"row cache of {comment(each.name, 31)}", "none", "", each.source) for each in free[:MOST]),
            ),
            explains=("rdb/page_locks_dominate",),
        )


def _hottest(facts: Facts, one: OneDatabase, free: list[StorageArea]) -> StorageArea | None:
    """The one of these areas whose pages are waited for most, where that is known of all areas."""
    waits = waits_of(facts, one)
    pages = waits.most((*STALLS, TIMEOUTS[0]), "page")
    if waits.refused() or not pages or not (areas := areas_of(pages)):
        return None
    return next((area for area in free if known(area.number) and f"{area.number:.0f}" == areas[0][0]), None)


def _when(cache: RowCache, here: list[LogicalArea]) -> str:
    """What has to be known before an area is assigned to it: whether its rows fit, by their number and length."""
    rows = f" are at most {cache.slots:,.0f}" if known(cache.slots) else " fit"
    longest = max((number_or(table.record_bytes, 0.0) for table in here), default=0.0)
    if not here or not known(cache.row_bytes):
        return f"When the rows there{rows} and no longer than ROW LENGTH, "
    names = ", ".join(comment(table.name, 31) for table in here[:MOST])
    if longest > cache.row_bytes:
        return (
            f"When ROW LENGTH is at least {longest:,.0f} (now {cache.row_bytes:,.0f}) and the rows of {names}{rows}, "
        )
    return f"When the rows of {names} ({longest:,.0f} of {cache.row_bytes:,.0f} bytes){rows}, "
