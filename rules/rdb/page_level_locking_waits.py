"""A storage area that is locked by page has lock waits.

Finds: storage areas with page level locking while processes wait for page locks, by the stall time of page locks, or
while the logs of stalls, timeouts and deadlocks name pages of such an area most.

Why it matters: with page level locking a page stands for all its rows, and its lock is held until the transaction
commits or rolls back. The vendor tells of higher contention for pages and an increased potential for deadlocks (help on
CREATE STORAGE AREA, LOCKING level).

What to do: set LOCKING IS ROW LEVEL for that storage area, and count the waits and the lock requests again: each row
takes a lock of its own then.

When to ignore it: where transactions are short, touch several rows of a page and hardly wait: then page level locking
saves lock operations. It is never in force in RDB$SYSTEM or the default storage area.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from collectors.facts import Facts, known
from collectors.facts.rdb import EventLog, StatisticRow, StorageArea, WaitGroup
from rules.changes.quoting import comment
from rules.changes.rdb_database import alter
from rules.engine import limit, percent, rule
from rules.finding import Clean, Evidence, Expectation, Finding, MissingInput, Outcome, Severity, Unknown, joined
from rules.rdb._evidence.counted import (
    COUNTED_FACTS,
    STALL_TIME,
    TypeWaits,
    caveats,
    counted,
    explained,
    of_each_node,
    on_node,
    quiet,
    rounded,
    stalled_of,
    waits_for,
)
from rules.rdb._evidence.databases import OneDatabase, databases
from rules.rdb._evidence.limits import PageStallLimits
from rules.rdb._evidence.page_locks import page_stalls
from rules.rdb._evidence.prerequisites import place_of
from rules.rdb._evidence.statistics import LEAST_COUNTED, Statistics
from rules.rdb._evidence.waits import DEADLOCKS, STALLS, TIMEOUTS, WAIT_FACTS, Waits, areas_of, hottest, total, waits_of

LINKS = (
    "https://uprrp2.uprrp.edu/help/sys$common/syshlp/sql$help72.hlb?key=CREATE~STORAGE_AREA~Arguments~LOCKING_level",
)
HELD = (
    "With page level locking the lock of a page stands for all its rows and is held until the transaction ends; the "
    "vendor names more contention for pages and more deadlocks as its price."
)
PRICE = ("Each row takes a lock of its own then: count lock requests and waits before and after.",)
BLASTED = frozenset({"rdb/blocking_asts_high"})
"""Of what is explained: holders that give up page locks, where these pages are most of what is waited for."""
COUNT = MissingInput("whether processes wait for page locks", StatisticRow.COLLECTED_BY)
WHICH = MissingInput("which storage area the pages are of that have lock waits", WaitGroup.COLLECTED_BY)
NUMBER = MissingInput("the number of that storage area", StorageArea.COLLECTED_BY)
SHOWN = MissingInput("whether a storage area is locked by page", StorageArea.COLLECTED_BY)


@dataclass(frozen=True)
class Limits(PageStallLimits):
    """From where on the waits for pages matter."""

    waiting: float = limit(1.0, "this project: at any moment one process or more waits for a page", unit="processes")
    events: int = limit(
        5, "this project: fewer waits, timeouts and deadlocks of pages in a log are chance", low=1, unit="events"
    )
    area_percent: float = percent(
        50.0, "this project: from here on its pages have more of them than all others together", low=1, of="page waits"
    )
    main_percent: float = percent(
        50.0, "this project: from here on page locks are most of what is waited for", low=1, of="the stall time"
    )


@dataclass(frozen=True)
class _Seen:
    """What shows that pages are waited for."""

    waits: TypeWaits | None
    each: Statistics | None
    logged: int
    """Logged waits, timeouts and deadlocks for pages of the area."""
    of: int
    """Of all pages."""


@rule(
    needs=(),
    uses=(*COUNTED_FACTS, *WAIT_FACTS),
    links=LINKS,
    limits=Limits,
    sample=LEAST_COUNTED,
)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge each database."""
    found = databases(facts, (StatisticRow, WaitGroup, EventLog))
    if not found:
        yield Unknown.of(StorageArea, StatisticRow)
    for one in found:
        yield from _judge(facts, one, limits)


def _judge(facts: Facts, one: OneDatabase, limits: Limits) -> Iterator[Outcome]:
    waits = waits_of(facts, one)
    if why := waits.refused():
        yield why
        return
    found, refused = counted(facts, one)
    nodes = of_each_node(found, lambda each: waits_for(each, "page"))
    most, each = max(nodes, key=lambda pair: pair[0].processes, default=(None, None))
    pages = waits.most((*STALLS, TIMEOUTS[0], DEADLOCKS[0]), "page")
    many = most is not None and most.processes >= limits.waiting
    by_page = [area for area in one.areas if area.page_level_locking]
    if not one.areas or all(area.page_level_locking is None for area in one.areas):
        stalls = next((found for found, _ in of_each_node(found, lambda each: page_stalls(each, limits))), None)
        if many or stalls or total(pages) >= limits.events:
            said = stalls.said if stalls and not many else "pages have lock waits"
            yield Unknown((SHOWN,), f"{one.subject}: {said}; how their areas are locked is not known")
        elif not one.is_on("page_level_locking"):
            counts = [stalled for each in found if (stalled := stalled_of(each, "page"))]
            few = (
                f"{rounded(max(count.per_second for count in counts))} requests/s for pages stall"
                if counts
                else "hardly a page has lock waits"
                if nodes or pages
                else "no wait for a page is, either"
            )
            yield Clean(f"{one.subject}: page level locking is in no export, and {few}")
        return
    if not by_page:
        yield Clean(f"{one.subject}: no storage area that was listed is locked by page")
        return
    if not nodes and not pages:
        yield refused or Unknown((COUNT,), f"{one.subject}: {len(by_page)} storage areas are locked by page")
        return
    by_number = dict(areas_of(pages))
    known_ones = [area for area in by_page if known(area.number)]
    worst = max(known_ones or by_page, key=lambda area: by_number.get(_number(area), 0))
    logged = by_number.get(_number(worst), 0)
    named = logged >= limits.events and 100 * logged >= limits.area_percent * total(pages)
    only = not known_ones and len(by_page) == 1
    seen = _Seen(most if many else None, each, logged, total(pages))
    if named or (many and (only or not pages)):
        yield _finding(facts, one, limits, worst, waits, seen, named=named)
        if not named:
            which = NUMBER if areas_of(pages) else WHICH
            yield Unknown((which,), f"{one.subject}: whether these are the pages with lock waits is not in the export")
        return
    if many and not known_ones:
        yield Unknown(
            (WHICH,), f"{one.subject}: {len(by_page)} storage areas are locked by page, without their numbers"
        )
        return
    said = f"{one.subject}: {len(by_page)} storage areas are locked by page, and their pages have hardly any lock waits"
    said += f" (limits {limits.waiting:g} process, {limits.events} logged, {limits.area_percent:g} % of the logged)"
    yield quiet(said, each) if each else Clean(said)


def _number(area: StorageArea) -> str:
    return f"{area.number:.0f}" if known(area.number) else ""


def _first_see(name: str, pages: Sequence[WaitGroup]) -> str:
    """What tells that the pages are of the area whose number is not known, a sentence."""
    if not (numbers := areas_of(pages)):
        return f"First see by a stall log that the pages are of {name}."
    number, count = numbers[0]
    return (
        f"First see by RMU/DUMP/HEADER that {name} is storage area {number}: {count:,} of {total(pages):,} waits for "
        "pages are for its pages."
    )


def _finding(
    facts: Facts, one: OneDatabase, limits: Limits, area: StorageArea, waits: Waits, seen: _Seen, *, named: bool
) -> Finding:
    name = comment(area.name, 31)
    kinds = (*STALLS, TIMEOUTS[0], DEADLOCKS[0])
    own = [group for group in waits.most(kinds, "page") if group.resource.partition(":")[0].strip() == _number(area)]
    waiting = (
        f"{rounded(seen.waits.processes)} processes wait for page locks at any moment"
        f"{on_node(seen.each) if seen.each else ''}{seen.waits.said}"
        if seen.waits
        else ""
    )
    logged = f"{seen.logged:,} of {seen.of:,} logged waits for pages are for its pages ({hottest(own[:1])})"
    deadlocks = waits.of(DEADLOCKS[:1])
    dead = total(g for g in deadlocks if g.resource.partition(":")[0].strip() == _number(area))
    mostly = dead * 100 >= limits.main_percent * total(deadlocks) > 0
    died = f"{dead:,} of {total(deadlocks):,} logged deadlocks are" if mostly else ""
    if died:
        logged = f"{logged}; {died}"
    said = "; ".join(filter(None, (waiting, logged if named else "")))
    return Finding(
        subject=one.subject,
        severity=Severity.WARNING if named and seen.waits else Severity.ADVICE,
        title=f"storage area {name} is locked by page, and its pages have {'deadlocks' if mostly else 'lock waits'}"
        if named
        else f"storage area {name} is locked by page, and pages have lock waits",
        seen=f"{name} has page level locking; {said}.",
        because=HELD,
        do=joined(
            "" if named else _first_see(name, waits.most(kinds, "page")),
            f"Set LOCKING IS ROW LEVEL for storage area {name} with the database closed and after a full backup; each "
            "row takes a lock of its own then.",
        ),
        unknown=caveats(one, seen.each),
        evidence=(
            Evidence(f"locking of {name}", "page level", "", area.source),
            *(
                (
                    Evidence(
                        "processes that wait for page locks",
                        round(seen.waits.processes, 2),
                        "",
                        seen.waits.source,
                        limits.waiting,
                    ),
                )
                if seen.waits
                else ()
            ),
            *(
                (Evidence(f"logged for pages of {name}", seen.logged, "events", own[0].source, limits.events),)
                if named
                else ()
            ),
        ),
        explains=(
            *(("rdb/lock_stalls_long", "rdb/page_locks_dominate") if _most_time(seen.each, limits) else ()),
            *(("rdb/deadlocks_hidden",) if mostly else ()),
            *(
                BLASTED.intersection(explained(seen.each, ("page",), limits.main_percent))
                if named and seen.each
                else ()
            ),
        ),
        changes=(alter("area_locking", place_of(facts, one), "PAGE", "ROW", area=area.name, cautions=PRICE),)
        if named
        else (),
        expects=(
            Expectation("processes that wait for page locks", round(seen.waits.processes, 2), "lower", "heuristic")
            if seen.waits
            else Expectation(f"logged for pages of {name}", seen.logged, "fewer", "heuristic"),
        ),
    )


def _most_time(each: Statistics | None, limits: Limits) -> bool:
    """Whether most of the time that is waited for locks is waited for pages."""
    here, whole = (each.rate(STALL_TIME, "page"), each.rate(STALL_TIME, "total")) if each else (None, None)
    return bool(here and whole and whole.per_second and 100 * here.per_second >= limits.main_percent * whole.per_second)
