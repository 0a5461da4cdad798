"""Page locks are most of the locking, and no row cache is in use.

Finds: page locks as a share of all lock operations (requested, promoted, demoted and released), or of the requests
that stall where these are many, where a database has no active row cache.

Why it matters: a row that is in a row cache is read and changed without its page. Row caches can eliminate a large
number of page locks (JCC Consulting's slides on the OpenVMS lock manager, 2014).

What to do: meet the prerequisites in their order (after-image journaling, fast commit, one cluster node, a reserved
slot), then cache the small tables that many processes use, and measure page locks again. Each step needs a full backup
first and the database closed, so do them together: the clause ROW CACHE IS ENABLED alone changes nothing until a cache
is added and assigned.

With fewer page locks it is advice only where all of these are met and many users read the same rows at once, which
Hot Row Information shows.

When to ignore it: where users attach from several nodes: row caches work on one alone, so never there. Where rows are
read once and not again, as in batch runs over large tables, and where the locks are few. With page level locking page
locks stand in for record locks and dominate by design, and a row cache needs row level locking (recalled). Where
processes take pages from each other over the disk page transfer via memory comes first. Fast commit lengthens recovery
after a failure.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from collectors.facts import Facts, known, number_or
from collectors.facts.rdb import Database, HotRow, LogicalArea, StatisticRow
from rules.changes.quoting import comment
from rules.engine import limit, rule
from rules.finding import Clean, Evidence, Expectation, Finding, NotApplicable, Outcome, Severity, Unknown, joined
from rules.rdb._evidence.counted import ASKED, COUNTED_FACTS, caveats, counted, on_node, part_of_own, quiet
from rules.rdb._evidence.databases import OneDatabase, belonging, databases
from rules.rdb._evidence.hot_pages import hot_page
from rules.rdb._evidence.limits import least
from rules.rdb._evidence.page_locks import (
    BY_DESIGN,
    PageLimits,
    Worth,
    explained_waits,
    figures_of,
    hot_by_page,
    limits_said,
    no_share,
    page_shares,
    page_stalls,
    part_evidence,
    passed_on,
    share_evidence,
    worth_of,
)
from rules.rdb._evidence.prerequisites import (
    Step,
    active_caches,
    changes_to,
    evidence_of,
    listed,
    memory,
    moved,
    never,
    not_by_page,
    steps_to,
    unmet,
    unsure,
)
from rules.rdb._evidence.shared_rows import shared_rows
from rules.rdb._evidence.statistics import LEAST_COUNTED, Share, Statistics
from rules.rdb._evidence.waits import DEADLOCKS, STALLS, TIMEOUTS, WAIT_FACTS, areas_of, total, waits_of

LINKS = ("https://docs.oracle.com/cd/F25597_01/document/products/rdb/720/E06178-01/sql_p080.htm",)
MOST = 3
"""Caches that are named."""
LEAST_SHARED = 4
"""This project: of fewer rows that are shared half may be chance."""
ROUNDED = 4
"""Bytes: ROW LENGTH is a multiple of it (SQL help, 7.2)."""
PAGES_FIRST = (
    "Nothing is set for it yet: first let pages pass via memory (rdb/page_transfer_via_disk), then measure page locks "
    "again; a row cache is for what is left."
)
ONE_PAGE_FIRST = (
    "Nothing is set for it yet: first see what lies on that page (rdb/blocking_asts_high), for a row cache does not "
    "part those who insert at the end of one index."
)
"""An inference: a node of an index is changed under one lock, in a cache as well."""
NO_WAIT = (
    "What is gained is the work of these locks, for hardly a wait for pages was seen: the next closing is soon enough."
)
CLOSED = "with the database closed and after a full backup"
ADD = "ADD CACHE for small tables used most (the application tells which) and assign it"
ADD_HERE = "ADD CACHE for the tables used most of that storage area and assign it"
ADD_SIZED = (
    "ADD CACHE {cache} CACHE SIZE IS {rows} ROWS ROW LENGTH IS {bytes} BYTES (at least {memory}), then "
    "ALTER STORAGE AREA {area} CACHE USING {cache}"
)
ADD_OF_TABLE = (
    "ADD CACHE {cache} CACHE SIZE IS {rows} ROWS, at least, for records of {bytes} bytes ({memory}): named as its "
    "table it is of that one"
)
MET = "The prerequisites that the export shows are met"
ASSIGN = "see that a table or area is assigned to each cache and that the node has the memory"


@dataclass(frozen=True)
class Limits(PageLimits):
    """`PageLimits`: from half of 500 lock operations a second on (this project). No vendor names a figure."""

    read_pages: float = least(1_000.0, "page locks/s, where what many read at once is known")
    readers: float = limit(
        10.0, "this project: so many users at once on one clean row are readers of a small table", unit="users"
    )


@rule(
    needs=(Database, StatisticRow),
    uses=(*COUNTED_FACTS, *WAIT_FACTS, HotRow),
    links=LINKS,
    limits=Limits,
    sample=LEAST_COUNTED,
)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge each database by the statistics of the node where page locks are most of its locking."""
    for one in databases(facts, (StatisticRow,)):
        yield from _judge(facts, one, limits)


def _judge(facts: Facts, one: OneDatabase, limits: Limits) -> Iterator[Outcome]:
    active = active_caches(one)
    if active:
        yield Clean(f"{one.subject}: active row caches: {active:g}{one.read_apart}")
        return
    found, refused = counted(facts, one)
    shares = page_shares(found)
    if not shares and refused:
        yield refused
        return
    if not shares:
        yield no_share(one.subject)
        return
    busy = [(s, e) for s, e in shares if s.whole >= limits.operations_per_second]
    share, of = next(((s, e) for s, e in shares if page_stalls(e, limits)), (busy or shares)[0])
    figures = figures_of(one, share)
    few = share.percent < limits.page_percent or share.whole < limits.operations_per_second
    if few and not page_stalls(of, limits):
        yield quiet(f"{figures} {limits_said(limits)}", of)
        return
    if one.by_page:
        yield NotApplicable(f"{figures}, {BY_DESIGN}")
        return
    if why := never(one):
        yield NotApplicable(f"{figures}, but a row cache is out of the question: {why}")
        return
    if hot := hot_by_page(one, waits_of(facts, one)):
        why = f"pages of {hot} are waited for most, which is locked by page: rdb/page_level_locking_waits comes first"
        yield NotApplicable(f"{figures}; {why}, for a row cache needs row level locking (recalled)")
        return
    if said := one.figure("active_row_caches"):
        why = "caches are there, and what they lack is in rdb/row_cache_prerequisites_unmet: none is to be added for it"
        yield NotApplicable(f"{figures}; the header counts {said:g} row caches as active: {why}")
        return
    if active is None and one.is_on("row_cache_enabled") is None:
        yield Unknown.without("whether a row cache is active", Database.COLLECTED_BY, figures)
        return
    yield _finding(facts, one, limits, share, of)
    if lacking := unsure(steps_to("row_cache", facts, one)):
        yield Unknown(tuple(lacking))


def _defined(one: OneDatabase) -> str:
    """The caches that are defined already, a sentence, or nothing."""
    if not one.caches:
        return ""
    sizes = [
        f"{comment(cache.name, 31)} ({cache.slots:,.0f} rows of {cache.row_bytes:,.0f} bytes, at least "
        f"{memory(cache.slots * cache.row_bytes)})"
        if known(cache.slots) and known(cache.row_bytes)
        else comment(cache.name, 31)
        for cache in one.caches[:MOST]
    ]
    more = f" and {len(one.caches) - MOST} more" if len(one.caches) > MOST else ""
    return f"Defined already: {', '.join(sizes)}{more}."


def _candidates(facts: Facts, one: OneDatabase) -> tuple[str, tuple[Evidence, ...], dict[str, str]]:
    """Where a cache would begin: the storage area whose pages are waited for (else read) most, and what lies in it.

    By the number before the page; without any, by that of the rows that are shared most. Of the tables there the
    length of a record and how many rows they have are known where they were listed, so the memory at the least. At
    last what the template of the cache can be filled with.
    """
    used = _most_used(facts, one)
    if used is None:
        return "", (), {}
    number, said, mostly, proof = used
    name = next((area.name for area in one.areas if known(area.number) and f"{area.number:.0f}" == number), "")
    listed_tables = list(belonging(facts.every(LogicalArea), one))
    tables = [
        _with_rows(table, listed_tables)
        for table in listed_tables
        if known(table.area_number) and f"{table.area_number:.0f}" == number and number_or(table.record_bytes, 0.0) > 0
    ][:MOST]
    holds = ", ".join(_holds(table) for table in tables)
    of = f"{comment(name, 31)} ({number})" if name else number
    lengths = tuple(
        Evidence(f"record of {comment(table.name, 31)}", number_or(table.record_bytes, 0.0), "bytes", table.source)
        for table in tables
    )
    fill = {"<area>": name} if name and mostly else {}
    if mostly and len(tables) == 1 and (name or number_or(tables[0].rows, 0.0) > 0):
        longest = number_or(tables[0].record_bytes, 0.0)
        fill |= {"<cache>": tables[0].name, "<bytes>": f"{-(-longest // ROUNDED) * ROUNDED:.0f}"}
        if number_or(tables[0].rows, 0.0) > 0:
            fill |= {"<rows>": f"{tables[0].rows:.0f}", "<number>": number}
    return f"{said.format(of)}{f'; in it are {holds}' if holds else ''}.", (proof, *lengths), fill


def _most_used(facts: Facts, one: OneDatabase) -> tuple[str, str, bool, Evidence] | None:
    """The number of a storage area, how much it is used with `{}` for its name, whether by half, and what shows it."""
    waits = waits_of(facts, one)
    pages = waits.most((*STALLS, TIMEOUTS[0], DEADLOCKS[0]), "page") or waits.of(("dbkey",), "page")
    if not waits.refused() and pages and (areas := areas_of(pages)):
        number, most = areas[0]
        what, of = "read" if pages[0].kind == "dbkey" else "waited for", total(pages)
        proof = Evidence(f"pages of area {number} {what}", most, "events", pages[0].source)
        return number, f"Pages of storage area {{}} are {what} most, {most:,} of {of:,}", 2 * most >= of, proof
    rows = shared_rows(facts, one)
    numbers = Counter(key.partition(":")[0] for key in rows)
    if len(rows) < LEAST_SHARED:
        return None
    number, most = numbers.most_common(1)[0]
    first = next(row for key, row in rows.items() if key.startswith(f"{number}:"))
    proof = Evidence(f"shared rows of area {number}", most, "", first.source)
    said = f"{most:,} of the {len(rows):,} rows that users share most lie in storage area {{}}"
    return number, said, 2 * most >= len(rows), proof


def _with_rows(table: LogicalArea, every: list[LogicalArea]) -> LogicalArea:
    """The table with how many rows were counted of it by name, where it has this one logical area."""
    named = [other for other in every if other.name.upper() == table.name.upper()]
    counted_rows = [other.rows for other in named if not known(other.area_number) and known(other.rows)]
    areas = {other.number for other in named if known(other.area_number)}
    return replace(table, rows=counted_rows[-1]) if counted_rows and len(areas) == 1 else table


def _holds(table: LogicalArea) -> str:
    """A table with the memory that its rows take at the least: all of them where they were counted, else 1,000."""
    each, rows = number_or(table.record_bytes, 0.0), number_or(table.rows, 1_000.0)
    return f"{comment(table.name, 31)} ({each:,.0f} bytes a record, {rows:,.0f} rows at least {memory(each * rows)})"


def _do(
    one: OneDatabase, missing: Sequence[Step], old: str | None, where: str, fill: Mapping[str, str] | None = None
) -> str:
    """All that has to be there for a row cache to do anything, in its order."""
    steps = [f"make in this order: {listed(missing)}"] if missing else []
    switch = [] if old == "ENABLED" else [f"set ROW CACHE {'from DISABLED ' if old else ''}to ENABLED"]
    sized = ADD_SIZED if fill and "<area>" in fill else ADD_OF_TABLE
    add = sized.format(**_sized(fill)) if fill and "<rows>" in fill else ADD_HERE if where else ADD
    steps += [ASSIGN, *switch] if one.caches else [" and ".join((*switch, add))]
    said = "; then ".join(steps)
    if missing:
        return f"W{CLOSED[1:]} {said}."
    return f"{MET}: {f'{CLOSED} ' if old != 'ENABLED' or not one.caches else ''}{said}."


def _first(fill: Mapping[str, str]) -> str:
    """`table ORDERS in ORDERS_AREA` (or `in storage area 12`), else `storage area ORDERS_AREA`."""
    area = comment(fill["<area>"], 31) if "<area>" in fill else f"storage area {fill['<number>']}"
    return f"table {comment(fill['<cache>'], 31)} in {area}" if "<cache>" in fill else f"storage area {area}"


def _sized(fill: Mapping[str, str]) -> dict[str, str]:
    """A cache of one table whose rows were counted, for `ADD_SIZED`."""
    rows, length = fill["<rows>"], fill["<bytes>"]
    return {
        "cache": comment(fill["<cache>"], 31),
        "area": comment(fill.get("<area>", ""), 31),
        "rows": rows,
        "bytes": length,
        "memory": memory(int(rows) * int(length)),
    }


def _read_by_many(facts: Facts, one: OneDatabase, limits: Limits, of: Statistics) -> Sequence[HotRow]:
    """Clean rows of one area, each with many users at once, where page locks are many; else none.

    Only where they are most of all rows that are shared, and no wait for a page says what to do.
    """
    waits, pages = waits_of(facts, one), of.rate(ASKED[0], "page")
    if (
        pages is None
        or pages.per_second < limits.read_pages
        or waits.most((*STALLS, TIMEOUTS[0], DEADLOCKS[0]), "page")
    ):
        return ()
    shared = [row for row in belonging(facts.every(HotRow), one) if known(row.users) and row.users > 1]
    read = [row for row in shared if row.dirty is False and number_or(row.users, 0.0) >= limits.readers]
    areas = Counter(row.dbkey.partition(":")[0] for row in read)
    number, most = areas.most_common(1)[0] if areas else ("", 0)
    if most < LEAST_SHARED or 2 * most < len(shared):
        return ()
    return [row for row in read if row.dbkey.partition(":")[0] == number]


def _why_nothing(missing: Sequence[Step], limits: Limits, worth: Worth) -> str:
    first = f"A row cache would first need {listed(missing)}." if missing else f"{MET}."
    return f"{worth.why_nothing(limits)} {first}"


def _finding(facts: Facts, one: OneDatabase, limits: Limits, share: Share, of: Statistics) -> Finding:
    steps = steps_to("row_cache", facts, one)
    missing = unmet(steps)
    by_page, row_level = not_by_page(one)
    part = part_of_own(facts, of, share.part)
    strong = part is not None and part.percent >= limits.node_percent
    enabled = one.is_on("row_cache_enabled")
    old = None if enabled is None else ("ENABLED" if enabled else "DISABLED")
    worth = worth_of(of, share, limits)
    where, candidates, fill = _candidates(facts, one)
    passes, page = passed_on(facts, one, of), hot_page(waits_of(facts, one))
    read = () if worth.acts or missing or unsure(steps) or row_level else _read_by_many(facts, one, limits, of)
    acts = bool(worth.acts or (read and fill)) and not passes and not page
    least_users = min((number_or(row.users, 0.0) for row in read), default=0.0)
    many = f"; {len(read)} of them were clean, with {least_users:.0f} users or more at once" if read and acts else ""
    changes = changes_to("row_cache", facts, one, old, "ENABLED", fill) if acts and not enabled else ()
    return Finding(
        subject=one.subject,
        severity=Severity.ADVICE if acts else Severity.NOTE,
        title=f"{worth.title(share, limits)}, and no row cache is active"
        + (f": {_first(fill)} first" if fill and acts else ""),
        seen=(
            f"{share.part:,.0f} of {share.whole:,.0f} {share.counted_as}/s{on_node(of)} ({of.over}) are page locks"
            + (f", {part.percent:.0f} % of what the node itself locks" if part is not None else "")
            + joined(f", and no row cache is active{f'; {worth.said}' if worth.said else ''}.", _defined(one))
        ),
        because=joined(
            "Row caches can eliminate a large number of page locks (JCC; no figure there).",
            by_page
            or (
                f"{passes}."
                if passes
                else f"{page.said}."
                if page
                else f"{where.removesuffix('.')}{many}."
                if many
                else where
            ),
        ),
        do=PAGES_FIRST
        if passes
        else ONE_PAGE_FIRST
        if page
        else joined(row_level, _do(one, missing, old, where, fill))
        if worth.acts or acts
        else _why_nothing(missing, limits, worth),
        unknown=joined(NO_WAIT if read and acts else "", moved(one), worth.untimed, caveats(one, of)),
        evidence=(
            *share_evidence(share, limits),
            *worth.evidence(limits),
            *part_evidence(part, limits),
            *evidence_of(missing),
            *candidates,
            *(
                Evidence(
                    f"users of row {comment(row.dbkey, 40)}",
                    number_or(row.users, 0.0),
                    "users",
                    row.source,
                    limits.readers,
                )
                for row in (read[:MOST] if acts else ())
            ),
        ),
        explains=(
            ("rdb/page_locks_dominate",)
            + (
                explained_waits(of, any(waits_of(facts, one).of((*STALLS, *TIMEOUTS))))
                if acts and not share.source.tentative
                else ()
            )
            + (("openvms/lock_manager_needs_own_cpu", "openvms/concurrency_past_peak") if strong else ())
        ),
        changes=changes,
        expects=(Expectation("page lock operations (/s)", round(share.part, 1), "lower", "heuristic"),),
        share=round(share.percent, 1),
    )
