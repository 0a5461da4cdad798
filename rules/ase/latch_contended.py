"""Tasks wait for latches on index, allocation or OAM pages.

Finds: tasks that wait for latches (wait event 41 of monSysWaits), as an average number over the interval and as a share
of the tasks that wait or run; or, where only sp_sysmon was collected, task switches due to latch contention.

Why it matters: tables with datapages or datarows locking take latches instead of locks on index pages, and everything
takes them on allocation pages. A latch is held for one step only, so a queue means that many tasks want the same page:
the end of an index with ascending keys, or the allocation pages of a table that grows fast. No table counts latches.

What to do: where one partition of a cache is hot and a table of few pages explains its grabs, or is changed as often as
latches are waited for, that table is named (`rules/ase/_evidence/caches/hot_page.py`); where one partition is hot and a
table of unknown size has far more rows changed than go into any, its size is asked for first; else find the one that
takes most of the inserts, by its count of rows or else by what the sessions that wait at the moment insert into.
Spread the keys over the index (another order of its columns, another key); fewer rows on a page;
greedy page allocation for a user table whose pages are being allocated fast by four engines or more: `dbcc
tune(des_greedyalloc, <dbid>, <table>, "on")`, off again with "off", gone after a restart, to be tested first: whether
pages are allocated to it fast, sp_spaceused twice shows.
That comes first where a page of the table holds a row or two, as nearly each insert takes a new page then.
A table without an index gets several ends by round-robin partitions instead, and no word on keys.
A fill factor frees no room at the end of an index with ascending keys, where all the new rows go. Where single waits
are long, look at the lock hash chains and at blocking I/O calls first. Where a table was taken from allpages to
datapages or datarows lately, hold the figure against that of before: latches are what it takes in place of address
locks. From 16.0 SP02 on, with the MemScale licence, there are latch-free indexes (enable LFB index): a project of its
own, no setting to try.

When to ignore it: below one task on average, or below one in ten of the tasks that wait or run: a busy healthy server
shows a few hundred short latch waits a second. Nothing is ever set on a system table, or in master or tempdb: where
most inserts go into a temporary table it is named, and only what fills it can be made less.
"""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from functools import partial

from collectors.facts import Facts, known
from collectors.facts.ase import (
    IndexKeys,
    IndexSize,
    LockHashtable,
    MonOpenObjectActivity,
    MonProcess,
    MonProcessSQLText,
    TableScheme,
    TaskSwitches,
)
from rules.ase._evidence.caches.hot import HOT_FACTS
from rules.ase._evidence.caches.hot_page import HotPage, crowded_page, hot_page, spread_page
from rules.ase._evidence.objects.indexes import index_evidence, indexes_of, say_indexes
from rules.ase._evidence.objects.open_partitions import PARTITION_FACTS, partition_evidence
from rules.ase._evidence.objects.rebuild import NEEDS as REBUILD_NEEDS
from rules.ase._evidence.objects.seen import (
    activity,
    is_system,
    name_of,
    schemes,
    sizes,
    table_key,
)
from rules.ase._evidence.server import (
    engines_of,
    page_kb_of,
    server_of,
    setting_of,
    subject_of,
)
from rules.ase._evidence.spinlocks.gates import CACHE_PERCENT
from rules.ase._evidence.spinlocks.monitored import spinlock_named
from rules.ase._evidence.spinlocks.survey import CACHE_FACTS, cache_names
from rules.ase._evidence.spinlocks.uneven import uneven_caches
from rules.ase._evidence.waits.events import LATCHES
from rules.ase._evidence.waits.inserted import CLOCK, LEFT_OUT, InsertingNow, inserting_now, most_temporary
from rules.ase._evidence.waits.latches import CHAIN, LONG_MS, chains_behind
from rules.ase._evidence.waits.switches import SWITCH_FACTS
from rules.ase._evidence.waits.tasks import WAIT_FACTS
from rules.ase._evidence.waits.verdict import TooLong, WaitLimits, judge_waits
from rules.changes.ase_descriptor import bindable
from rules.changes.quoting import PLAIN_IDENTIFIER, bare_table, comment, is_plain
from rules.engine import percent, rule
from rules.finding import LONGEST_PART, Evidence, Finding, MissingInput, Outcome, Unknown, joined

LINKS = (
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc00842.1570/html/spsysmon/spsysmon67.htm",
    "https://blogs.sap.com/2016/05/19/latch-free-b-treesmore-than-you-wanted-to-know/",
)
CAUSE = "Latch Contention"
ALLPAGES = "allpages"
WHY = "A latch is held for one step only, so a queue means that many tasks want the same page"
PLACES = ": the end of an index with ascending keys, or the allocation pages of a table that grows fast"
LONG = "Where single waits are long, look at ase/lock_hash_chains_long and at I/O calls that block first."
LONG_SHORT_CHAINS = "As single waits are long and lock hash chains are short, look at I/O calls that block first."
CHAINS_TITLE = "; they are long, and so are the lock chains ({0:g} locks)"
CHAINS = (
    f"Single waits of {LONG_MS:g} ms and more are no matter of one hot page: the vendor names the lock hash table "
    "first, whose chains hold {0:g} locks."
)
CHAINS_DO = (
    "Raise lock hashtable size first, as ase/lock_hash_chains_long says, look for I/O calls that block, and measure "
    "the latches again{0}."
)
CHAINS_THEN = "; {0}, which takes most inserts, comes after that"
ONE_PAGE = (
    "It fits the spinlocks of {0}: {1}, and latch requests for one page show as contention of one partition (vendor), "
    "so this comes before any more partitions."
)
CANDIDATES = "Most rows are inserted into {0}: look there first."
CAUGHT = "At the moment of the export {0} of {1} sessions that wait for a latch insert into {2}: look there first."
CAUGHT_TITLE = "; {0} of {1} sessions that wait insert into {2}"
SPREAD = (
    "Spread the inserts into {0} over its index pages, where a key rises with each insert: another column order or key"
    "{1}{2}."
)
TURN = (
    "If {0} rises with each insert, give {1} of {2} another order: `create {4}index {1} on {3}({5})` in its place "
    "(outage; undo: the order of now){6}."
)
FIND = (
    "First find the table: monOpenObjectActivity twice (rows inserted and updated), `select name, lockscheme(id) from "
    'sysobjects where type = "U"`, and which tables left allpages lately. A table that is filled then wants another '
    "column order of an index whose key rises, or greedy page allocation; a small one that is updated, fewer rows a "
    "page."
)
"""Where no table is known: nothing is set on a guess."""
FAR_MORE = 5.0
"""This project: rows changed in a table for each that went into another, from which on its size is asked for first."""
CHANGED = "Most rows are changed in {0} ({1:,.0f}; {2:,.0f} are inserted into {3}): look there first."
CHANGED_TITLE = "; most rows are changed in {0}"
ITS_SIZE = (
    "Run `sp_spaceused {0}` in its database first: if {1} is on a page or a few, give each row its own by exp_row_size "
    "and reorg rebuild, or take numbers in blocks. If it is large, the inserts into {2} come next."
)
RISES = " (look first at its index {0})"
"""A unique key of one column is what numbers that rise stand in."""
NOT_SAID = "; these exports do not say of which table"
ENDS = ", or (inferred) hash partitions with local indexes"
IDENTITY = "identity"
RISES_BY_TYPE = frozenset(("datetime", "smalldatetime", "bigdatetime", "date", "timestamp", IDENTITY, LEFT_OUT, CLOCK))
"""Types of columns that rise with each insert where they hold its time or its number; a birthday does not."""
LAST_PAGE = (
    "{0} at the last page of index {1} of {2}: let another column lead it{3}, drop it if nothing reads by it, or "
    "insert from fewer sessions."
)
RISES_IF = "If {0} ({1}) rises with each insert, all meet"
RISES_SURELY = {
    IDENTITY: "As {0} is an identity column, all inserts meet",
    CLOCK: "As every insert puts the time into {0}, all meet",
}
TYPES = "`sp_help {0}` shows which of its indexes begins with a time or a row number: that one rises."
NONE_RISES = "No index of {0} begins with a time or an identity column (sp_help), so ask who fills it which key rises."
SEVERAL_RISE = "Start with {1}: they begin with a time or an identity column (sp_help), which rises."
NO_ROWS = "Fewer rows a page of the table (exp_row_size) do not help there."
FEWER_ROWS = (
    'For data pages, fewer rows each help: `sp_chgattribute "{0}", "exp_row_size", <n>`{1}, then `reorg '
    "rebuild {0}` ({2}); undo: 0 and reorg."
)
TEMPORARY = "Most rows are inserted into {0} ({1:.0f} %), a table of a temporary database: look there first."
LESS = (
    "Set nothing on {0}: have the sessions that fill it insert fewer rows, make its indexes after the rows are in, or "
    "spread them over several temporary databases."
)
OF_CATALOG = (
    "Set nothing on {0}, a system table of a temporary database: make and drop fewer temporary tables, or spread the "
    'sessions over several temporary databases (`create temporary database`, then `sp_tempdb "add"`).'
)
LEAST_GROWTH = 10.0
"""This project: rows a second that a table grows by, below which its allocation pages are not what tasks meet at."""
LEAST_ENGINES = 4
"""Vendor: greedy allocation is rarely useful below."""
GREEDY_TOO = "If it also grows fast without partitions (sp_spaceused twice, sp_helpartition), test `{0}`."
GREEDY = '{0}, `{1}` spreads its allocation pages until a restart ("off" undoes it); test it first.'
FEW_A_PAGE = 2.0
"""This project: rows a page, up to which at least every other insert takes a new page and so the allocation page."""
BY_SIZE = "from its rows, the size of its data and of a page"
TAKES_PAGES = (
    'First `{0}`, to be tested ("off" undoes it, a restart too: repeat it then): a page of {1} holds {2:g} row{3}, so '
    "{4} insert takes a new one."
)
RISING = (
    "If tasks still wait then, see whether a key of its indexes ({0}) rises with each insert: only such an index wants "
    "another column order."
)
HEAP_PLACES = ": the allocation pages of a table that grows fast, or the page that new rows go to"
ENDS_OF_HEAP = (
    "{0} has no index: {1}`alter table {2} partition {3}` gives inserts several ends (this project: one for each "
    "engine; undo: `unpartition`)."
)
"""Vendor: it adds empty round-robin partitions, and `unpartition` takes a table without indexes (Reference Manual:
Commands 16.0, san1393050900943); of a data-only-locked heap it adds places to insert (Performance and Tuning 12.5,
X96377)."""
ENDS_ENGINES = 2
"""One engine runs one insert at a time."""
LOB_INDEX = 255
"""Vendor: not an index of rows, but the chain of text and image columns."""
HAS = " (it has {0})"
GROWS, IF_IT_GROWS = "As {0} grows by {1:,.0f} rows a second", "If {0} also grows fast (sp_spaceused twice)"
VARIABLE, FIXED_TOO = " for rows of variable length", " (from 16.0 of fixed length too)"
BY_TABLE = "No column is known to count latches by table"
NO_TABLE = "Of which table these pages are, nothing that was collected tells"
TABLES = (
    MissingInput("which tables take most inserts and updates", MonOpenObjectActivity.COLLECTED_BY),
    MissingInput("lock schemes", TableScheme.COLLECTED_BY),
)
LATCH_FREE_SWITCH = "enable LFB index"
LATCH_FREE_ON = f"; {LATCH_FREE_SWITCH} is on already, but works for the indexes alone that were made latch-free"
LICENSED = "enable mem scale"
LATCH_FREE = f"; {LICENSED} is on, so latch-free indexes ({LATCH_FREE_SWITCH}, dynamic) are another way, to be tested"

Inserted = tuple[MonOpenObjectActivity, float, float]
"""A table with the rows inserted into it and their share of all, per cent."""


Changed = tuple[MonOpenObjectActivity, float]
"""A table with the rows changed in it."""


@dataclass(frozen=True)
class Greedy:
    """Greedy page allocation for a table."""

    grows: str
    """Why, as the beginning of a sentence."""
    command: str


@dataclass(frozen=True)
class Limits(WaitLimits):
    """`WaitLimits`, from one task on average on (this project), and which tables are named."""

    inserts_percent: float = percent(20.0, "this project: a table with fewer of all inserts is no candidate", low=1)


@rule(
    needs=(),
    uses=(
        *WAIT_FACTS,
        *SWITCH_FACTS,
        *CACHE_FACTS,
        *HOT_FACTS,
        *PARTITION_FACTS,
        IndexKeys,
        IndexSize,
        LockHashtable,
        MonOpenObjectActivity,
        MonProcess,
        MonProcessSQLText,
        TableScheme,
    ),
    links=LINKS,
    limits=Limits,
)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge by the time that tasks waited; by task switches where no time was counted."""
    unsure = Unknown.of(TaskSwitches).missing
    found = partial(_finding, facts, limits)
    yield from judge_waits(facts, limits, found, what="latches", events=LATCHES, cause=CAUSE, when_unsure=unsure)


def _finding(facts: Facts, limits: Limits, waits: TooLong) -> Iterator[Outcome]:
    tables = _inserted(facts, limits.inserts_percent)
    temporary = most_temporary(facts, limits.inserts_percent)
    named = ", ".join(f"{name_of(row)} ({share:.0f} %)" for row, _, share in tables)
    new, now = _from_16(facts), None
    caches = cache_names(facts)
    hot = uneven_caches(facts, caches, CACHE_PERCENT, CACHE_PERCENT)
    page = _hot_page(facts, waits, caches, temporary or (tables[0] if tables else None))
    if page:  # the table that most rows go into is not the one whose page is hot
        tables, temporary = [], None
        hot = [page.skew] if page.skew else []
    chains = None if page or temporary else chains_behind(facts)
    most = _changed_most(facts, *tables[0][:2]) if hot and tables and not (temporary or chains) else None
    if not (tables or temporary or page or chains) and (now := _caught(facts)):
        tables = [(now.row, float(now.sessions), 100.0 * now.sessions / now.waiting)]
    greedy = None if hot or temporary else _greedy(facts, tables)
    taken = _rows_a_page(facts, tables[0][0]) if greedy else None
    on = _latch_free(facts) if new else ""
    length = chains.chain_length if chains and known(chains.chain_length) else 0.0
    locks = facts.latest(LockHashtable, table="page and row")
    short = bool(waits.mean_milliseconds and locks and known(locks.chain_length) and locks.chain_length <= CHAIN)
    fits = ONE_PAGE.format(comment(hot[0].lock.name), hot[0].says) if hot else ""
    yield Finding(
        subject=subject_of(facts),
        severity=waits.severity,
        title=waits.title
        + (
            CHAINS_TITLE.format(length)
            if chains
            else _of_page(page)
            if page
            else CHANGED_TITLE.format(comment(name_of(most[0])))
            if most
            else _most(tables, temporary, taken, now) + ("" if temporary or taken else _rising(facts, tables, now))
            if tables or temporary
            else NOT_SAID
        ),
        seen=joined(
            waits.seen,
            f"{page.explains}."
            if page
            else CHANGED.format(comment(name_of(most[0])), most[1], tables[0][1], comment(name_of(tables[0][0])))
            if most
            else CAUGHT.format(now.sessions, now.waiting, comment(name_of(now.row)))
            if now
            else _where(temporary) or (CANDIDATES.format(named) if tables else ""),
        ),
        because=CHAINS.format(length)
        if chains
        else joined(f"{WHY}.", fits)
        if fits
        else joined(
            f"{WHY}{HEAP_PLACES if tables and _without_index(facts, tables[0][0]) else PLACES}.",
            "" if (waits.mean_milliseconds or LONG_MS) < LONG_MS else LONG_SHORT_CHAINS if short else LONG,
        ),
        do=CHAINS_DO.format(CHAINS_THEN.format(comment(name_of(tables[0][0]))) if tables else "")
        if chains
        else spread_page(facts, page)
        if page
        else ITS_SIZE.format(
            bare_table(most[0].object_name or ""), comment(name_of(most[0])), comment(name_of(tables[0][0]))
        )
        if most
        else _do(facts, tables, temporary, greedy, taken, now),
        unknown=joined(waits.unknown, f"{BY_TABLE if page or tables or temporary else NO_TABLE}{on}."),
        evidence=(
            *waits.evidence,
            *((Evidence("average lock chain", length, "locks", chains.source, CHAIN),) if chains else ()),
            *(figure for one in hot for figure in one.evidence),
            *(page.evidence if page else ()),
            *((Evidence(f"rows changed in {name_of(most[0])}", most[1], "rows", most[0].source),) if most else ()),
            *_schemes(facts, tables),
            *(index_evidence(indexes_of(facts, tables[0][0].object_name)) if tables and not page else ()),
            *(
                Evidence(f"sessions that wait and insert into {name_of(row)}", count, "tasks", row.source)
                if now
                else Evidence(f"rows inserted into {name_of(row)}", count, "rows", row.source)
                for row, count, _ in tables
            ),
            *partition_evidence(
                facts,
                [(table_key(row), row.index_id, name_of(row)) for row, _, _ in tables],
                "rows_inserted",
                "rows inserted",
            ),
            *_inserts(temporary),
            *((taken,) if taken else ()),
        ),
        explains=("ase/data_cache_spinlock_contended",) if hot else (),
    )
    if not (page or tables or temporary or chains):
        yield Unknown(TABLES)


def _latch_free(facts: Facts) -> str:
    """What is to be said of latch-free indexes here, as the end of a clause; empty where they are not in force."""
    on = {name: one.run_number for name in (LATCH_FREE_SWITCH, LICENSED) if (one := setting_of(facts, name))}
    return LATCH_FREE_ON if on.get(LATCH_FREE_SWITCH) else LATCH_FREE if on.get(LICENSED) else ""


def _from_16(facts: Facts) -> bool:
    server = server_of(facts)
    return bool(server and server.before(16) is False)


def _has_partitions(facts: Facts) -> bool:
    """Whether this release divides tables by hash: it came with 15.0."""
    server = server_of(facts)
    return bool(server and server.before(15) is False)


def _hot_page(facts: Facts, waits: TooLong, caches: list[str], most: Inserted | None) -> HotPage | None:
    """The small table whose page is waited for: by the partitions of a cache, else by what is changed on a page."""
    skews = uneven_caches(facts, caches, CACHE_PERCENT, 0.0)  # latches are waited for, however little spins for them
    if page := next((found for one in skews if (found := hot_page(facts, one))), None):
        return page
    if not skews and any(lock and len(lock.rows) > 1 for lock in (spinlock_named(facts, name) for name in caches)):
        return None  # a hot page would show at one of the partitions
    if not waits.tasks or not waits.mean_milliseconds:
        return None
    return crowded_page(facts, most[1] if most else 0.0, waits.tasks * 1000.0 / waits.mean_milliseconds, skews)


def _of_page(page: HotPage) -> str:
    """The table of a hot page, for the title: by the partitions of its cache it is known, else it is the likeliest."""
    return f"; look first at {page.name}" if page.likeliest else f"; the page is of {page.name}"


def _do(
    facts: Facts,
    tables: list[Inserted],
    temporary: Inserted | None,
    greedy: Greedy | None,
    taken: Evidence | None,
    now: InsertingNow | None,
) -> str:
    """What lets tasks meet less, in two sentences: where each insert takes a page, no key of an index comes first."""
    if temporary:
        return (OF_CATALOG if is_system(temporary[0]) else LESS).format(comment(name_of(temporary[0])))
    if not tables:
        return FIND
    name, indexes, table = comment(name_of(tables[0][0])), _indexes(facts, tables, now), tables[0][0].object_name or ""
    ends = ENDS if greedy or now else ""
    if greedy and taken:
        single = taken.value == 1
        how = TAKES_PAGES.format(
            greedy.command, name, taken.value, "" if single else "s", "each" if single else "nearly each"
        )
        heap = _ends(facts, tables[0][0], "if tasks still wait, ")
        return joined(how, heap or RISING.format(say_indexes(indexes) if indexes else "sp_helpindex"))
    if heap := _ends(facts, tables[0][0], ""):
        return joined(heap, GREEDY.format(greedy.grows, greedy.command) if greedy else "")
    if (turned := _composite(indexes)) and is_plain(table):
        first, *others = turned.columns
        kind = f"{'unique ' if turned.unique else ''}{'clustered ' if turned.clustered else ''}"
        turn = partial(TURN.format, first, turned.index, name, table, kind, ", ".join((*others, first)))
        too = GREEDY_TOO.format(greedy.command) if greedy else ""
        whole = joined(turn(ends), too)
        return whole if len(whole) <= LONGEST_PART else joined(turn(""), too)
    if rises := _by_type(indexes):
        surely = RISES_SURELY.get(rises.first_type, RISES_IF)
        all_meet = surely.format(comment(rises.columns[0], 60), rises.first_type)
        last, ends = (all_meet, comment(rises.index, 60), name), ENDS if _has_partitions(facts) else ""
        too = GREEDY_TOO.format(greedy.command) if greedy else NO_ROWS
        whole = joined(LAST_PAGE.format(*last, ends), too)
        return whole if len(whole) <= LONGEST_PART else joined(LAST_PAGE.format(*last, ""), too)
    if greedy:
        then = GREEDY.format(greedy.grows, greedy.command)
    elif indexes:  # fewer rows a page spread the data alone, at the price of an outage
        rise = [one for one in indexes if one.first_type in RISES_BY_TYPE]
        then = SEVERAL_RISE if rise else NONE_RISES if all(one.first_type for one in indexes) else TYPES
        then = then.format(bare_table(table), " and ".join(comment(one.index, 60) for one in rise))
    else:
        then = FEWER_ROWS.format(bare_table(table), FIXED_TOO if _from_16(facts) else VARIABLE, REBUILD_NEEDS)
    own = HAS.format(say_indexes(indexes)) if indexes else ""
    if indexes and _has_partitions(facts):
        whole = joined(SPREAD.format(name, ENDS, own), then)
        ends = ENDS if len(whole) <= LONGEST_PART else ends
    return joined(SPREAD.format(name, ends, own), then)


def _without_index(facts: Facts, row: MonOpenObjectActivity) -> bool:
    """Whether a listing of sysindexes has the table and no index of it, and no index of it was used."""
    listed = [one for one in facts.every(IndexSize) if one.index_name and one.database == row.database]
    if not any(0 < one.index_id < LOB_INDEX for one in listed):
        return False  # a listing without indexes may have left them out
    mine = [one for one in listed if one.table == row.object_name]
    numbers = {one.index_id for one in mine} - {LOB_INDEX}
    used = {one.index_id for one in activity(facts) if table_key(one) == table_key(row)} - {LOB_INDEX}
    return numbers == {0} and used <= {0} and not indexes_of(facts, row.object_name)


def _ends(facts: Facts, row: MonOpenObjectActivity, when: str) -> str:
    """Several ends for a table without an index, as a sentence; `when`: after what. Empty where it has one."""
    engines, table = engines_of(facts).number, row.object_name or ""
    if not engines or engines < ENDS_ENGINES or not is_plain(table) or not _without_index(facts, row):
        return ""
    return ENDS_OF_HEAP.format(comment(name_of(row)), when, table, engines)


def _composite(indexes: list[IndexKeys]) -> IndexKeys | None:
    """The one index of a table, where it is of several columns, so that another of them can come first."""
    one = indexes[0] if len(indexes) == 1 else None
    if one is None or len(one.columns) < 2 or "desc" in one.keys.lower().replace(",", " ").split():
        return None
    return one if all(map(is_plain, (one.index, *one.columns))) else None


def _by_type(indexes: list[IndexKeys]) -> IndexKeys | None:
    """The one index that begins with a time or the number of a row; `None` where several do, or none is known to."""
    found = [one for one in indexes if one.first_type in RISES_BY_TYPE]
    return found[0] if len(found) == 1 else None


def _indexes(facts: Facts, tables: list[Inserted], now: InsertingNow | None) -> list[IndexKeys]:
    found = indexes_of(facts, tables[0][0].object_name) if tables else []
    return now.marked(found) if now else found


def _caught(facts: Facts) -> InsertingNow | None:
    """What the sessions that wait at the moment insert into, unless its lock scheme is known to be allpages."""
    now = inserting_now(facts)
    if now is None:
        return None
    name, listed = (now.row.object_name or "").lower(), schemes(facts)
    found = (
        [listed.get(table_key(now.row))]
        if now.row.database
        else [one for one in listed.values() if one.table.lower() == name]
    )
    return None if any(one and one.scheme == ALLPAGES for one in found) else now


def _rows_a_page(facts: Facts, row: MonOpenObjectActivity) -> Evidence | None:
    """How many rows a page of this table holds, where that is so few that inserts take new pages all the time."""
    page_kb = page_kb_of(facts)
    for one in facts.every(IndexSize):
        mine = one.table == row.object_name and one.database in (None, row.database) and one.index_id in (0, 1)
        if mine and page_kb and known(one.rows) and known(one.size_kb) and one.size_kb > 0:
            a_page = one.rows * page_kb / one.size_kb
            if 0 < a_page <= FEW_A_PAGE:
                return Evidence(f"rows a page of {name_of(row)}", round(a_page, 1), "", one.source, computed=BY_SIZE)
    return None


def _schemes(facts: Facts, tables: list[Inserted]) -> Iterator[Evidence]:
    """The lock scheme of each of these tables, where a listing has it: allpages takes no latches on index pages."""
    listed = schemes(facts)
    for row, _, _ in tables:
        if scheme := listed.get(table_key(row)):
            yield Evidence(f"lock scheme of {name_of(row)}", scheme.scheme, "", scheme.source)


def _greedy(facts: Facts, tables: list[Inserted]) -> Greedy | None:
    """Greedy allocation for the table with most inserts; `None` where a condition fails.

    By its rows inserted and deleted, where both were counted, it has to grow; how fast pages are allocated to it is in
    no export that is read, so no script is given. A name that is not plain is not written into a command.
    """
    engines = engines_of(facts).number
    row = tables[0][0] if tables else None
    if row is None or engines is None or engines < LEAST_ENGINES or table_key(row) not in schemes(facts):
        return None
    if not row.db_id or row.db_id < 1 or not PLAIN_IDENTIFIER.match(row.object_name or ""):
        return None
    deleted = row.rows_deleted if known(row.rows_deleted) else None
    more = (tables[0][1] - deleted) / row.seconds if deleted is not None and row.seconds else None
    if more is not None and more < LEAST_GROWTH:
        return None
    grows = IF_IT_GROWS.format(name_of(row)) if more is None else GROWS.format(name_of(row), more)
    return Greedy(grows, f'dbcc tune(des_greedyalloc, {row.db_id}, "{row.object_name}", "on")')


def _rising(facts: Facts, tables: list[Inserted], now: InsertingNow | None) -> str:
    """The index of the first table whose end is the likely page, in brackets: its only one, or unique of one column.

    Whether its numbers rise is in no export; empty where there are several such, or the indexes were not collected.
    """
    indexes = _indexes(facts, tables, now)
    single = [one for one in indexes if one.unique and len(one.columns) == 1]
    if by_type := _by_type(indexes):
        single = [by_type]
    if only := _composite(indexes):
        single = [only]
    return RISES.format(say_indexes(single)) if len(single) == 1 else ""


def _most(tables: list[Inserted], temporary: Inserted | None, taken: Evidence | None, now: InsertingNow | None) -> str:
    """The table that most rows go into, for the title, which claims no more: nothing counts latches by table."""
    if now:
        return CAUGHT_TITLE.format(now.sessions, now.waiting, comment(name_of(now.row)))
    first = temporary or (tables[0] if tables else None)
    few = f", {taken.value:g} to a page" if taken else ""
    return f"; most rows are inserted into {comment(name_of(first[0]))}{few}" if first else ""


def _where(temporary: Inserted | None) -> str:
    """That most rows go into this temporary table, as a sentence; empty where there is none."""
    return TEMPORARY.format(comment(name_of(temporary[0])), temporary[2]) if temporary else ""


def _inserts(temporary: Inserted | None) -> Iterator[Evidence]:
    """The rows that were inserted into this temporary table."""
    if temporary:
        yield Evidence(f"rows inserted into {name_of(temporary[0])}", temporary[1], "rows", temporary[0].source)


def _inserted(facts: Facts, least_percent: float) -> list[Inserted]:
    """User tables that took a large part of the rows inserted in the interval, with the count and its share."""
    counts: dict[Hashable, tuple[MonOpenObjectActivity, float]] = {}
    for row in activity(facts):
        if row.of_interval and row.index_id in (0, 1) and known(row.rows_inserted) and row.rows_inserted > 0:
            before = counts.get(table_key(row), (row, 0.0))[1]
            counts[table_key(row)] = (row, before + row.rows_inserted)
    whole = sum(count for _, count in counts.values())
    listed = schemes(facts)
    found = []
    for key, (row, count) in counts.items():
        scheme = listed.get(key)
        locked_by_pages = scheme is not None and scheme.scheme == ALLPAGES
        usable = bindable(row.database or "", row.object_name or "") and not is_system(row)
        if usable and not locked_by_pages and 100.0 * count / whole >= least_percent:
            found.append((row, count, 100.0 * count / whole))
    return sorted(found, key=lambda one: -one[1])


def _changed_most(facts: Facts, first: MonOpenObjectActivity, inserted: float) -> Changed | None:
    """A table of unknown size with far more rows changed than went into the first one: it may be a page or a few.

    `None` where its size is known: the rows of a large table are changed all over it, and those inserted are not.
    """
    counts: dict[Hashable, tuple[MonOpenObjectActivity, float]] = {}
    for row in activity(facts):
        if row.of_interval and row.index_id in (0, 1) and (many := row.rows_changed):
            counts[table_key(row)] = (row, counts.get(table_key(row), (row, 0.0))[1] + many)
    row, changed = max(counts.values(), key=lambda one: one[1], default=(first, 0.0))
    scheme = schemes(facts).get(table_key(row))
    if table_key(row) == table_key(first) or changed < FAR_MORE * inserted or (scheme and scheme.scheme == ALLPAGES):
        return None
    usable = bindable(row.database or "", row.object_name or "") and not is_system(row)
    return (row, changed) if usable and sizes(facts).kb(row) is None else None
