"""Tasks wait for locks on rows, pages or tables.

Finds: tasks that wait for locks, as an average number over the interval (wait event 150 and the other lock events of
monSysWaits) and as a share of the tasks that wait or run; or, where only sp_sysmon was collected, task switches due to
logical lock contention, of all or of those that something held up. Waits that ended within the interval and lasted much
longer are no such number; they are told where each took more than a minute. The table is named from
monOpenObjectActivity, else from sp_object_stats (whose time also tells how many wait for a datarows table, where
monSysWaits does not), the kind of lock from sp_sysmon, the statement from monCachedStatement, the sessions from
monProcessWaits, where they were collected.

Why it matters: a task that waits for a lock does no work, and holds its own locks meanwhile. Engines, memory and
spinlock ratios do not shorten that queue. Each wait is booked when it ends, so a lock held through the whole interval
is not in these figures: see ase/blocked_chain.

What to do: shorten the transactions on the table that is named. No user input and no physical reads inside them, the
hot update last, an index that lets them lock fewer rows. Where the statement that waits reads the whole table for a
row or two, that index comes first: a scan waits at each lock on its way. `create index` without `with online` (15.7
SP100 on) takes a shared lock on the table, so nobody changes it meanwhile; after one `with online` no transaction log
is dumped until the database was (vendor, dc32300.1600 mas1344011548857). Where there is such an index already, the
plan tells why it is not used. Where readers keep the locks, these come first (ase/reads_hold_locks). A datapages table
can be taken to datarows; allpages is a matter of ase/allpages_table_contended. A row that hands out numbers is changed
in a transaction of its own, or last; better is an IDENTITY column in the table that takes them, whose `identity_gap`
takes numbers in blocks from memory; a gap of 1 writes a page for each row, and a restart burns the rest of a block.
Where tasks wait for locks on pages of a table that locks rows, that gap comes first (sp_help lists it).
Where tasks wait for table locks and lock promotions are counted, the promotion threshold of that table is raised, as
far as the locks that are free allow it and above the rows of the largest statement that is known; never while nearly
all locks are in use, or while the spinlocks of the lock hash table contend, which ask for fewer locks: smaller batches
are what is left then. Where most of the promotions are of shared locks, the session that reads at level 3 comes first.
Readers that wait for writers can skip locked rows (`readpast`), where the question allows that; the workers of a queue
should: the vendor made it for them. It works at isolation level 1 on tables that lock rows or pages of data only.

When to ignore it: below one task on average, or below one in ten of the tasks that wait or run. A load job that locks
a table on purpose makes such a figure at night. A `lock wait period` is no remedy by itself: it turns a wait into
message 12205 and rolls the transaction back, so the application has to repeat it.
"""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from functools import partial

from collectors.facts import Facts, known
from collectors.facts.ase import (
    ConfigParameter,
    HeldLock,
    IndexKeys,
    LockEvents,
    MonOpenObjectActivity,
    ObjectLockContention,
    WithoutIndexes,
)
from rules.ase._evidence.objects.open_partitions import PARTITION_FACTS, partition_evidence
from rules.ase._evidence.objects.seen import name_evidence, schemes, table_key
from rules.ase._evidence.objects.statements import STATEMENT_FACTS, with_statements
from rules.ase._evidence.server import subject_of
from rules.ase._evidence.spinlocks.figures import Figure
from rules.ase._evidence.spinlocks.gates import LOCK_PERCENT
from rules.ase._evidence.spinlocks.survey import LOCK_FACTS, lock_figure
from rules.ase._evidence.waits.chains import CHAIN_FACTS, say_lock
from rules.ase._evidence.waits.ended_long import WHILE_IT_LASTS, ended_long
from rules.ase._evidence.waits.events import LOCKS
from rules.ase._evidence.waits.hot_rows import (
    HOT_ROW_FACTS,
    HotRow,
    hot_row,
    hot_row_steps,
    waiting_statements,
    work_queue,
)
from rules.ase._evidence.waits.index_wanted import PAGES_A_ROW, IndexWanted, index_step, index_wanted, pages_each
from rules.ase._evidence.waits.inserted import most_temporary
from rules.ase._evidence.waits.kept_reads import readers_of
from rules.ase._evidence.waits.object_stats import FEW_ROWS_WANTED, booked_tables, few_rows, row_waits
from rules.ase._evidence.waits.promoted_table import PROMOTED_TABLE_FACTS, by_counts
from rules.ase._evidence.waits.promotion import (
    FREE_LOCKS,
    KIND_OF,
    PROMOTION_FACTS,
    Raise,
    call_steps,
    promoted,
    promotions,
    raised,
    table_lock_holder,
    taken,
)
from rules.ase._evidence.waits.scan_waits import scan_waits
from rules.ase._evidence.waits.scheme_step import scheme_step
from rules.ase._evidence.waits.switched_off import find_table, not_measured, switched_off
from rules.ase._evidence.waits.switches import SWITCH_FACTS, switches_of
from rules.ase._evidence.waits.tables import (
    PageLocked,
    Waiting,
    lock_kinds,
    mostly_address,
    page_locked,
    say_tables,
    table_evidence,
    waiting_sessions,
    waiting_tables,
)
from rules.ase._evidence.waits.tasks import WAIT_FACTS, Waited, waited_for
from rules.ase._evidence.waits.timeouts import PERIOD, ending_period, total_ended
from rules.ase._evidence.waits.verdict import LockWaitLimits, TooLong, judge_waits
from rules.changes.ase_promotion import PROCEDURES
from rules.changes.quoting import bare_table
from rules.engine import limit, rule
from rules.finding import Evidence, Finding, MissingInput, Outcome, Unknown, Untrusted, capitalized, joined

LINKS = (
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc00848.1570/html/monitor_tables/CHDEHBAG.htm",
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc00938.1570/html/locking/X57275.htm",
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc32300.1570/html/sqlug/X35885.htm",
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc32300.1570/html/sqlug/X21972.htm",
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc00641.1570100/doc/html/mas1344011548857.html",
)
CAUSE = "Logical Lock Contention"
BOOKED = 100
"""This project: where fewer than one of so many waits is booked to a table, the tables do not say where tasks wait."""
SPREAD_PERCENT = 30.0
"""This project: where no table has as much of the lock waits, none is named as the one that most tasks wait for."""
BLOCKED = "Each waits until another transaction ends: no engine and no spinlock ratio shortens this queue."
SHORTER = (
    "Shorten the transactions that change {0}: no user input and no physical reads inside, the hot update last{1}."
)
BY_INDEX = ", an index that lets them lock fewer rows"
"""Left out where the statement that waits most is known to find its rows on a few pages."""
NO_SCHEME = "No lock scheme helps against the table lock of SPID {0}{1}."
WHOLE_TABLES = (
    "Whole tables are locked and no lock promotion is counted, so no lock scheme helps: look for `lock table` and for "
    "what locks a table as a whole, as making an index does."
)
READERS = (
    "First let go of the reads: SPID {0} keeps {1} after it has read, and {2}. At "
    "isolation level 1 it keeps none; only where what it read must not change before its commit is a shorter "
    "transaction what is left."
)
"""In place of shorter transactions that change the table: who waits changes it, who holds it reads."""
SYSTEM = "Set nothing on {0}, a system or temporary table: look at what makes and drops objects."
ONE_MORE = (
    "Set nothing on {0}: give the sessions one more temporary database, `create temporary database tempdb2 on <device> "
    '= "<size>"`, then `sp_tempdb "add", "tempdb2", "default"` (`"remove"` undoes it; new sessions take turns). Fewer '
    "temporary tables made and dropped help as well."
)
"""Vendor: System Procedures 16.0, sp_tempdb; the default group is used in turns, a session keeps what it was given."""
MOST = 50.0
"""This project: per cent of all rows inserted, from which on they say who waits for latches."""
TEMPORARY = (
    "Set nothing on {0}, a table of a temporary database: make and drop fewer temporary tables, or spread the sessions "
    "over several temporary databases."
)
ADDRESS = (
    "Most of these waits are for address locks, on index pages of allpages tables: one blocks all who take that path "
    "through the index."
)
NO_ADDRESS = "Tables with a data-only lock scheme (datapages, datarows) take no address locks."
"""In place of what shortens waits for rows, pages and tables."""
PROMOTED = (
    "Against {0:,.0f} lock promotions to table locks, "
    '`{1} "table", "<table>", <lwm>, <hwm>, <pct>` (from its database; note the old values first) raises the '
    "threshold of one table."
)
PROMOTED_EITHER = (
    "{0:,.0f} lock promotions: note the old thresholds of the table, then raise them from its database by {1} "
    '(datarows) or {2} (others) `"table", "<table>", <lwm>, <hwm>, <pct>`.'
)
PROMOTED_READS = (
    "{0:,.0f} of {1:,.0f} lock promotions are of reads, and none at isolation level 1 keeps so many locks: first find "
    "who holds Sh_table on {2} (sp_lock at a busy moment), and let its statement read at level 1 if its owner allows "
    "that. A threshold above the rows it reads comes after that."
)
BATCHES = "Change fewer {0}in one statement (smaller batches) against {1:,.0f} lock promotions: {2}."
PROMOTED_ABOVE = (
    'Against {0:,.0f} lock promotions, `{1} "table", "<table>", <lwm>, <hwm>, <pct>` (from its database; note the old '
    "values first) with an HWM above the {2:,.0f} rows of SSQLID {3}."
)
WHOLE_TABLE = (
    "SSQLID {0} changes {1:,.0f} rows at once{4}, over the {3} lock promotion HWM ({2:,}): it asks for the whole table"
)
WHOLE_TABLE_PERHAPS = (
    "SSQLID {0} changes up to {1:,.0f} rows at once, the {3} lock promotion HWM is {2:,}: "
    "it may ask for the whole table"
)
WHOLE_TABLE_LINE = (
    "{0} changes up to {1:,.0f} rows at once, over the {3} lock promotion HWM ({2:,}): if they are of this table, it "
    "asks for the whole table (this project's conclusion: no export names it)"
)
HOLDS = "SPID {0} holds the exclusive table lock at the moment of the export"
RAISED = (
    "Raise the lock promotion threshold of {0} to {2} as the script says, against {1:,.0f} promotions to table locks."
)
RAISED_SERVER = (
    "Set {3} of the server back to the vendor's default of {2} ({4} now), against {1:,.0f} promotions to table locks."
)
"""The server's own is what was lowered, so no one table is."""
FEWER = (
    "{0:,.0f} lock promotions to table locks were counted, but the spinlocks of the lock hash table contend, too "
    "({1:g} %): raise no threshold, which would take more locks."
)
QUEUE = (
    "If {0} is a queue whose rows any worker may take ({1}), let the workers skip what others hold: `readpast` after "
    "the table name in their select, update and delete, at isolation level 1{2}.{3}"
)
QUEUE_INDEX = " It reads {0:,.0f} pages to find one: try an index on ({1})."
SCANS = "SSQLID {0} reads {1:,.0f} pages each time{2}: a scan waits at each lock on its way."
SKIPS = {
    "datarows": "",
    "datapages": " (whole pages are skipped until `alter table {0} lock datarows`)",
    "allpages": " (ignored until `alter table {0} lock datarows`, which copies the table)",
}
"""By lock scheme; vendor, dc36272.1600 (san1393051088792): ignored on an allpages table."""
SKIPS_PERHAPS = " (it is ignored on an allpages table)"
ALLPAGES_SAYS = "Take those to datapages whose index pages are waited for: each is copied, and asks for a full dump."
GAVE_UP = (
    "{0} ended with message 12205{1}, so the application has to repeat the work: another period shortens no wait "
    "behind the same holder."
)
GAP = (
    'Take the numbers of {0} in blocks: `sp_chgattribute "{1}", "identity_gap", 1000`, from its database, in place of '
    "identity_gap 1. A restart then burns what is left of a block."
)
"""Vendor, as the next two: Transact-SQL Users Guide 15.7, "Reducing the identity number gap" (dc32300.1570 X21972)."""
GAP_WRITES = (
    "With identity_gap 1 the server writes the new number with each row, which brings page lock contention (vendor): "
    "{0} of a table that locks rows."
)
GAP_PERHAPS = (
    "Look at identity_gap in `sp_help {1}`: with 1 the server writes the new number with each row, which brings page "
    'lock contention (vendor), and `sp_chgattribute "{1}", "identity_gap", 1000` takes numbers in blocks.'
)
NO_GAP = "Find what {2} of {0} is, by `dbcc page`, before anything is changed: its identity_gap is not 1."
NO_PAGE = "the page that is waited for (monLocks at a busy moment)"
PAGES_WAIT = "{0} of a table that locks rows, so neither its rows nor its scheme are the cause."
PAGES_COUNTED = "by sp_sysmon {0:,.0f} waits are for pages, most of them"
TABLE_LOCKS = ("Exclusive Table", "Shared Table", "Exclusive Intent", "Shared Intent")
TABLES = MissingInput("which tables have lock waits", MonOpenObjectActivity.COLLECTED_BY)
OBJECTS = MissingInput("which tables have lock waits", ObjectLockContention.COLLECTED_BY)


@dataclass(frozen=True)
class Limits(LockWaitLimits):
    """`LockWaitLimits`: from one task on average and a tenth of the tasks that wait or run on (this project)."""

    ended_seconds: float = limit(60.0, "practice: one blocker for more than 60 s (DbxTune's alarm)", unit="s")


@rule(
    needs=(),
    uses=(
        *WAIT_FACTS,
        *SWITCH_FACTS,
        *PROMOTED_TABLE_FACTS,
        *STATEMENT_FACTS,
        *PROMOTION_FACTS,
        *HOT_ROW_FACTS,
        *LOCK_FACTS,
        *PARTITION_FACTS,
        *CHAIN_FACTS,
        ObjectLockContention,
        ConfigParameter,
        IndexKeys,
        WithoutIndexes,
    ),
    links=LINKS,
    limits=Limits,
)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge by the time that tasks waited; by task switches where no time was counted."""
    waited = waited_for(facts, "locks", LOCKS)
    if isinstance(waited, Waited) and waited.began_before and waited.mean_seconds >= limits.ended_seconds:
        yield ended_long(subject_of(facts), waited, limits.ended_seconds)
    if not isinstance(waited, Waited | Untrusted) and (stats := row_waits(facts, limits)):
        yield from _finding(facts, stats)
        return
    uncounted = not isinstance(waited, Waited | Untrusted) and switches_of(facts, CAUSE) is None
    if uncounted and (scanning := scan_waits(facts)):
        yield scanning
    yield from judge_waits(
        facts,
        limits,
        partial(_finding, facts),
        what="locks",
        events=LOCKS,
        cause=CAUSE,
        besides="; a wait that still lasts is not counted",
        when_unsure=WHILE_IT_LASTS,
    )


def _finding(facts: Facts, waits: TooLong) -> Iterator[Outcome]:
    tables, kinds = waiting_tables(facts) or booked_tables(facts), lock_kinds(facts)
    few = _too_few(facts, tables)
    tables = [] if few else tables
    spread = bool(tables) and tables[0].share < SPREAD_PERCENT
    main = [] if spread else tables
    named = ", ".join(f"{kind} {count:,.0f}" for kind, count, _ in kinds)
    by_kind = f"Locks with most waits: {named}." if kinds else ""
    names = [kind for kind, _, _ in kinds]
    readers = readers_of(facts) if main else None
    paged = page_locked(facts, main[0]) if main else None
    by_stats = few_rows(facts) if main and main[0].kind and not any(waiting_statements(facts, main[0].row)) else None
    hot = None if paged else hot_row(facts, [one.row for one in main if not one.system]) or by_stats
    queue = work_queue(facts, main[0].row) if main and not main[0].system and not hot and not paged else None
    wanted = None if hot or queue or paged else _index_wanted(facts, main)
    raising = _raising(facts, main, names)
    change = raising.change if raising else None
    holder = _holder(facts, main) if not names or names[0] in TABLE_LOCKS else None
    ended = _ended(facts)
    culprit = wanted or hot or queue
    by = f" (SSQLID {culprit.statement.statement})" if culprit and culprit.statement else ""
    by = f" ({hot.held.fact.procedure})" if hot and hot.held else by
    big = raising.promoter if raising else None
    by = f" (SSQLID {big.statement} locks it whole)" if big and big.counted and not culprit else by
    by = (
        f" ({promoted(promotions(facts, raising.kind)):,.0f} promotions to table locks)"
        if raising and big and big.line and not culprit
        else by
    )
    by = " (identity_gap 1)" if paged and paged.gap else by
    where = f", most for {main[0].name}{by}" if main else ", spread over many tables" if spread else ""
    finding = Finding(
        subject=subject_of(facts),
        severity=waits.severity,
        title=waits.title
        + where
        + (f"; {change.target} of the server is {change.old:.0f}" if change and raising and raising.whole else "")
        + (f"; {_waits(ended)} ended with message 12205" if ended else ""),
        seen=joined(waits.seen, say_tables(facts, tables, kinds) if tables else by_kind),
        because=joined(
            ""
            if main and main[0].system
            else (_scans(wanted) if wanted else "")
            or _why(raising, holder)
            or (f"{hot.held.says}: all others wait meanwhile." if hot and hot.held else "")
            or (FEW_ROWS_WANTED if hot and hot is by_stats else "")
            or (_why_pages(paged) if paged else "")
            or (ADDRESS if mostly_address(facts) else BLOCKED),
            GAVE_UP.format(_waits(ended), _after(facts)) if ended else "",
        ),
        do=READERS.format(readers.first.spid, say_lock(facts, readers.first), readers.says)
        if readers
        else _gap(main[0], paged)
        if paged
        else joined(*_levers(facts, main, names, hot, queue, wanted, raising, holder)),
        unknown=joined(not_measured(facts) if not tables else "", waits.unknown, few),
        evidence=(
            *waits.evidence,
            *table_evidence(tables),
            *name_evidence(facts, [one.row.database for one in tables]),
            *partition_evidence(facts, _where(tables), "lock_waits", "lock waits"),
            *(Evidence(f"waits for locks of type {kind}", count, "", source) for kind, count, source in kinds),
            *waiting_sessions(facts),
            *_timeouts(facts),
            *(
                (Evidence("locks on pages waited for at that moment", paged.number, "", paged.source),)
                if paged and paged.lock
                else ()
            ),
            *((hot.held.evidence,) if hot and hot.held else ()),
            *((Evidence("identity_gap", 1, "", paged.gap.source),) if paged and paged.gap else ()),
            *(raising.evidence if raising else ()),
            *((Evidence("exclusive table lock held by", f"SPID {holder.spid}", "", holder.source),) if holder else ()),
        ),
        changes=(change,) if change and not readers else (),
        explains=("ase/latch_contended",) if main and _of_catalog(main[0]) and most_temporary(facts, MOST) else (),
    )
    used = [(one.row.database, one.row.object_name) for one in tables]
    first = culprit.statement.statement if culprit and culprit.statement else big.statement or None if big else None
    yield with_statements(finding, facts, used, by_waits=True, first=first)
    if not tables and not few:
        off = [MissingInput(f"`{one}` on", f'sp_configure "{one}", 1') for one in switched_off(facts)]
        yield Unknown((*off, TABLES, OBJECTS, *(WHILE_IT_LASTS[:1] if off else ())))
    elif raising and raising.missing:
        yield Unknown(raising.missing)


def _too_few(facts: Facts, tables: list[Waiting]) -> str:
    """That too few of all waits are booked to tables to say where tasks wait, as a sentence; else empty."""
    waited = waited_for(facts, "locks", LOCKS)
    booked = sum(one.waits for one in tables)
    if not tables or not isinstance(waited, Waited) or waited.unsure or booked * BOOKED >= waited.waits:
        return ""
    by = "sp_object_stats" if tables[0].kind else "monOpenObjectActivity"
    return (
        f"{by} books {booked:,.0f} of {waited.waits:,.0f} lock waits to tables, so it does not say "
        "which of them tasks wait for."
    )


def _index_wanted(facts: Facts, tables: list[Waiting]) -> IndexWanted | None:
    """The statement that waits because it scans the first table."""
    first = tables[0] if tables else None
    if first is None or first.system:
        return None
    return index_wanted(facts, first.row, first.waits, list(waiting_statements(facts, first.row)))


def _scans(wanted: IndexWanted) -> str:
    """That it scans, with its figures."""
    used = f" (the table is used {wanted.scans:,.0f} times without an index)" if wanted.scans is not None else ""
    return SCANS.format(wanted.statement.statement, wanted.pages, used)


def _page(paged: PageLocked) -> str:
    page = paged.lock.page if paged.lock else None
    return f"page {page:.0f}" if known(page) else "page ?" if paged.lock else NO_PAGE


def _why_pages(paged: PageLocked) -> str:
    """Why tasks wait for a page of a table that locks rows, as far as it is known."""
    many = f"{paged.number:.0f} tasks wait for {_page(paged)}" if paged.lock else PAGES_COUNTED.format(paged.number)
    said = (GAP_WRITES if paged.gap else PAGES_WAIT).format(many)
    return capitalized(said)


def _gap(table: Waiting, paged: PageLocked) -> str:
    """What to do about it."""
    name = table.row.object_name or ""
    how = GAP if paged.gap else NO_GAP if paged.listed else GAP_PERHAPS
    return how.format(table.name, bare_table(name), _page(paged))


def _where(tables: list[Waiting]) -> list[tuple[Hashable, int, str]]:
    """The index of each table that most of its waits are for."""
    return [(table_key(one.row), one.row.index_id, one.name) for one in tables]


def _raising(facts: Facts, tables: list[Waiting], kinds: list[str]) -> Raise | None:
    """A higher promotion threshold for the first table, where table locks are waited for and promotions counted."""
    if not tables or tables[0].system or not (kinds and kinds[0] in TABLE_LOCKS) or _hash_contended(facts) is not None:
        return None
    scheme = schemes(facts).get(table_key(tables[0].row)) or by_counts(facts)
    kind = KIND_OF.get(scheme.scheme) if scheme else None
    if kind and _promoted_by_reads(promotions(facts, kind)):
        return None
    if scheme is None or kind is None or not promotions(facts, kind):
        return None
    return raised(facts, scheme)


def _holder(facts: Facts, tables: list[Waiting]) -> HeldLock | None:
    """Who holds the whole of the first table at the moment of the export."""
    scheme = schemes(facts).get(table_key(tables[0].row)) if tables else None
    return table_lock_holder(facts, scheme) if scheme else None


def _why(raising: Raise | None, holder: HeldLock | None) -> str:
    """Which statement asks for the whole table, and which session has it, as far as the export shows; else empty."""
    said = [HOLDS.format(holder.spid)] if holder else []
    big, hwm = (raising.promoter, raising.hwm) if raising else (None, None)
    if raising and big and big.line and hwm is not None:
        said.insert(0, WHOLE_TABLE_LINE.format(big.line, big.rows, hwm, raising.kind))
    elif raising and big and hwm is not None:
        said.insert(
            0,
            (WHOLE_TABLE if big.counted else WHOLE_TABLE_PERHAPS).format(
                big.statement, big.rows, hwm, raising.kind, " on average" if big.mean else ""
            ),
        )
    return f"{'; '.join(said)}." if said else ""


def _hash_contended(facts: Facts) -> float | None:
    """Contention of the spinlocks of the lock hash table where it is over its limit, per cent."""
    figure = lock_figure(facts, "page and row")
    percent = figure.contention if isinstance(figure, Figure) else None
    return percent if percent is not None and known(percent) and percent >= LOCK_PERCENT else None


def _ended(facts: Facts) -> LockEvents | None:
    """The lock waits of the interval that ended with message 12205; `None` where none did, or none were counted."""
    total = total_ended(facts)
    return total if total and known(total.count) and total.count > 0 else None


def _waits(ended: LockEvents) -> str:
    count = ended.count if known(ended.count) else 0.0
    return "1 wait" if count == 1 else f"{count:,.0f} waits"


def _after(facts: Facts) -> str:
    """By what period they ended; a session may have set one of its own."""
    setting = ending_period(facts)
    return f" (lock wait period {setting.run_number:,.0f} s, or that of the session)" if setting else ""


def _timeouts(facts: Facts) -> Iterator[Evidence]:
    """Waits that ended with message 12205, and the setting that ended them."""
    ended, setting = _ended(facts), ending_period(facts)
    if ended and known(ended.count):
        yield Evidence("lock timeouts (message 12205)", ended.count, "", ended.source)
    if setting and setting.run_number is not None:
        yield Evidence(PERIOD, setting.run_number, "s", setting.source)


def _of_catalog(first: Waiting) -> bool:
    """Whether it is a system table of a temporary database: all who make and drop temporary tables meet there."""
    return "tempdb" in (first.row.database or "").lower() and (first.row.object_name or "").lower().startswith("sys")


def _levers(
    facts: Facts,
    tables: list[Waiting],
    kinds: list[str],
    hot: HotRow | None,
    queue: HotRow | None,
    wanted: IndexWanted | None,
    raising: Raise | None,
    holder: HeldLock | None,
) -> Iterator[str]:
    """What shortens the waits, in words: for the first table, by what is known of it."""
    first = tables[0] if tables else None
    if first and first.system:
        of_tempdb = "tempdb" in (first.row.database or "").lower()
        yield (ONE_MORE if _of_catalog(first) else TEMPORARY if of_tempdb else SYSTEM).format(first.name)
        return
    if mostly_address(facts) and (first is None or first.scheme in (None, "allpages")):
        yield NO_ADDRESS
        yield scheme_step(facts, first) if first and first.scheme else ALLPAGES_SAYS
        return
    if hot:
        table = next((one for one in tables if f"{one.row.database}..{one.row.object_name}" == hot.name), None)
        yield from hot_row_steps(facts, hot, table.row if table else None, (table.scheme if table else None) or "")
        return
    if first and queue:
        name = bare_table(queue.table)
        pages, columns = queue.index or (0.0, ())
        more = QUEUE_INDEX.format(pages, ", ".join(columns)) if columns else ""
        yield QUEUE.format(queue.name, queue.says, SKIPS.get(first.scheme or "", SKIPS_PERHAPS).format(name), more)
        return
    if first and wanted:
        yield index_step(wanted.statement, first.row.object_name or "", first.name, wanted.columns)
        return
    kind = KIND_OF.get(first.scheme or "", "") if first else ""  # a table of the other kind made the others
    counted = promotions(facts, kind)
    if kinds and kinds[0] in TABLE_LOCKS and (reads := _promoted_by_reads(counted)):
        yield PROMOTED_READS.format(reads, promoted(counted), first.name if first else "a table")
        return
    if first and raising and raising.call and not raising.change and set(raising.missing) <= {FREE_LOCKS}:
        yield from call_steps(raising, promoted(counted), first.name)
        return
    no_table = not first and not waiting_tables(facts) and not facts.every(ObjectLockContention)
    index = "" if first and _found_at_once(facts, first) else BY_INDEX
    yield find_table(facts) if no_table else SHORTER.format(first.name if first else "what is waited for", index)
    count, contended = promoted(counted), _hash_contended(facts)
    if first and raising and raising.change:
        said = RAISED_SERVER if raising.whole else RAISED
        yield said.format(first.name, count, raising.change.new, raising.change.target, raising.change.old)
    elif kinds and kinds[0] in TABLE_LOCKS and count > 0 and contended is not None:
        yield FEWER.format(count, contended)
    elif raising and raising.batches:
        rows = f"rows than {raising.hwm:,} " if raising.hwm else "rows "
        yield BATCHES.format(rows, count, raising.batches)
    elif kinds and kinds[0] in TABLE_LOCKS and count > 0:
        big = raising.promoter if raising else None
        known_kinds = [kind] if kind else [one for one in PROCEDURES if promotions(facts, one)]
        names = [PROCEDURES[one] for one in known_kinds or PROCEDURES]
        if raising and big and big.statement:
            yield PROMOTED_ABOVE.format(count, PROCEDURES[raising.kind], big.rows, big.statement)
        else:
            yield (PROMOTED if len(names) == 1 else PROMOTED_EITHER).format(count, *names)
    elif holder:
        how = taken(facts, holder)
        yield NO_SCHEME.format(holder.spid, f", {how.says}" if how else "")
    elif kinds and kinds[0] in TABLE_LOCKS and _none_promoted(facts):
        yield WHOLE_TABLES
    elif first and first.scheme:
        yield scheme_step(facts, first)


def _found_at_once(facts: Facts, table: Waiting) -> bool:
    """Whether the statement with most of the lock waits of a table reads a few pages each time."""
    rows = [(row.lock_waits, pages_each(row)) for row in waiting_statements(facts, table.row) if known(row.lock_waits)]
    _, pages = max(rows, key=lambda one: one[0], default=(0.0, None))
    return pages is not None and pages < PAGES_A_ROW


def _promoted_by_reads(rows: list[LockEvents]) -> float:
    """How many of these lock promotions are of shared locks, where these are most of them; else 0."""
    reads = promoted([one for one in rows if one.kind.lower().startswith("sh-")])
    return reads if 2 * reads > promoted(rows) else 0.0


def _none_promoted(facts: Facts) -> bool:
    """Whether sp_sysmon prints its lock promotions, and counts none."""
    counts = [one.count for one in facts.every(LockEvents) if one.event == "promotion"]
    return bool(counts) and all(known(count) and count == 0 for count in counts)
