"""Record locks are most of the locking, and a transaction takes very many.

Finds: record locks as a share of all lock operations, and how many a transaction takes.

Why it matters: a read/write transaction locks the rows that it reads, and a scan without an index locks all rows of the
stream to stay serializable (Oracle Rdb, SQL help on START TRANSACTION). Each is work of the lock manager.

What to do: let reports run in SET TRANSACTION READ ONLY, which reads snapshots; give scans an index. A batch job that
changes most of a table may reserve it: RESERVING t FOR PROTECTED WRITE lets others only read it, EXCLUSIVE nobody (the
vendor's help); that fewer row locks are then taken is inferred. The way back is FOR SHARED WRITE.

Where RMU/SHOW LOCKS shows who holds rows that others want to change, and holds them for reading alone, those processes
are named. Nobody is told to reserve a table whose rows others wait for or ask back.

Where one process asks for nearly all of them, and the locks are very many or a transaction takes a table's worth, the
process is named, and for what changes rows the reserving comes first, or commits in portions.

Where transactions that change rows lock many on each page, and hardly a lock is asked back, page level locking of that
storage area is a candidate: it holds page locks to the end of the transaction, so for short ones alone.

When to ignore it: where a transaction has to change as many rows, and where the locks are few. Never reserve a table in
the hours in which others change it: they wait until the transaction ends. With deferred snapshots a read-only
transaction waits for all writers before it starts.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from collectors.facts import Facts, known
from collectors.facts.rdb import AttachedProcess, HeldLock, ProcessLocks, StatisticRow
from rules.changes.quoting import comment
from rules.engine import limit, percent, rule
from rules.finding import Evidence, Expectation, Finding, Outcome, Severity, Unknown, joined
from rules.rdb._evidence.attached import attached_to, called, image_of
from rules.rdb._evidence.counted import (
    ASKED,
    COUNTED_FACTS,
    asked_back,
    caveats,
    counted,
    of_each_node,
    on_node,
    per_transaction,
    quiet,
    rounded,
    rows_of,
)
from rules.rdb._evidence.databases import OneDatabase, belonging, databases
from rules.rdb._evidence.limits import BusyLimits
from rules.rdb._evidence.listings import process_of
from rules.rdb._evidence.statistics import LEAST_COUNTED, Share, Statistics
from rules.rdb._evidence.waits import (
    DEADLOCKS,
    MOST,
    STALLS,
    TIMEOUTS,
    WAIT_FACTS,
    Waits,
    culprits,
    evidence_of,
    held_by,
    hottest,
    waits_of,
)

LINKS = (
    "https://uprrp2.uprrp.edu/help/sys$common/syshlp/sql$help_old72.hlb?key=START_TRANSACTION~Arguments~READ_WRITE",
    "https://docs.oracle.com/cd/F25597_01/document/products/rdb/720/E06178-01/sql_p129.htm",
)
LOCKED = "A read/write transaction locks the rows it reads, and a scan without an index all rows it passes (vendor)."
OFF = "Adjustable lock granularity is off, so each row takes a lock of its own (rdb/record_granularity)."
DO = "Let reports run in SET TRANSACTION READ ONLY{snapshots}, and give scans an index."
RESERVE = (
    "A job that changes most of a table at a quiet time can reserve it: SET TRANSACTION READ WRITE RESERVING <table> "
    "FOR PROTECTED WRITE (others only read it; fewer row locks are inferred), and back: FOR SHARED WRITE."
)
OF_READERS = (
    "Let {names} run in SET TRANSACTION READ ONLY{snapshots}, if they change nothing: they hold rows for reading (PR) "
    "that others want to change{where}, and a read-only transaction locks no rows. Give their scans an index."
)
PAGE_LEVEL = (
    "Where the short transactions that change rows lock those of one page, a candidate is page level locking for that "
    "area, not RDB$SYSTEM: ALTER DATABASE FILENAME '{root}' ALTER STORAGE AREA <area> LOCKING IS PAGE LEVEL (back: ROW "
    "LEVEL), with the database closed. {found}"
)
"""Vendor: SQL help (7.2), ALTER DATABASE, LOCKING level."""
TO_THE_END = (
    "{0:g} record locks are asked for on each page lock, the transactions change rows, and hardly a lock is asked "
    "back. Page level locking takes one lock for the rows of a page, and holds it to the transaction's end (vendor)."
)
OF_ONE = (
    "See what {name} does{image}; if it changes these rows, SET TRANSACTION READ WRITE RESERVING <table> FOR EXCLUSIVE "
    "WRITE (all others wait for the table until it ends; PROTECTED WRITE lets them read), or commit in portions. If it "
    "only reads: SET TRANSACTION READ ONLY{snapshots}."
)
OF_ONE_WRITER = (
    "Let {name}{image} reserve what it changes, at a time when nobody else needs it: SET TRANSACTION READ WRITE "
    "RESERVING <each table it uses> FOR EXCLUSIVE WRITE (all others wait for them until it ends; PROTECTED WRITE lets "
    "them read), or let it commit in portions."
)
INFERRED = (
    "Which tables it works on is in no statistics; that fewer row locks are taken on a reserved table is inferred."
)
NO_AREA = "The application tells which area <area> is and how long its transactions are."
DEFERRED = " (snapshots are deferred: it then waits for all writers)"
DISABLED = " (snapshots are disabled: enable them first)"
CHANGED = ("record marked", "record stored", "record erased")
COLLECTED_BY = "record locks as a share of all locks, beside transactions"


@dataclass(frozen=True)
class Limits(BusyLimits):
    """From where on record locks are most of the locking, and that matters. No vendor names a figure."""

    record_percent: float = percent(
        50.0,
        "this project: record locks are more than all other locks together; no vendor names a limit",
        low=1,
        of="lock operations",
    )
    records_per_transaction: float = limit(
        100.0, "this project: a hundred row locks in a transaction are a scan", unit="record lock operations"
    )
    of_one_transaction: float = limit(
        100_000.0,
        "this project: so many row locks are a table's worth, kept to the end of the transaction in the lock database",
        low=100,
        unit="record lock operations",
    )
    of_one_percent: float = percent(
        90.0, "this project: with nearly all the locks of one process its transactions are those counted", low=50
    )
    rows_of_a_page: float = limit(
        10.0, "this project: with ten record locks on each page lock one lock of a page would save nine", unit="locks"
    )
    few_blasts_percent: float = percent(
        1.0,
        "this project: where one lock in a hundred is asked back, longer page locks hardly hurt",
        low=0.01,
        of="locks",
    )
    written: float = limit(
        10.0, "this project: transactions that write before-images so often change rows", unit="writes"
    )
    changed_percent: float = percent(
        10.0, "this project: where one row in ten that is locked is changed, it is no report", low=1, of="record locks"
    )


@rule(
    needs=(StatisticRow,),
    uses=(*COUNTED_FACTS, *WAIT_FACTS, ProcessLocks, AttachedProcess),
    links=LINKS,
    limits=Limits,
    sample=LEAST_COUNTED,
)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge each database by the node with most record locks."""
    for one in databases(facts, (StatisticRow,)):
        yield _judge(facts, one, limits)


def _judge(facts: Facts, one: OneDatabase, limits: Limits) -> Outcome:
    found, refused = counted(facts, one)
    shares = of_each_node(found, lambda each: each.share("record"))
    if not shares:
        return refused or Unknown.without(COLLECTED_BY, StatisticRow.COLLECTED_BY, one.subject)
    share, each = max(shares, key=lambda pair: pair[0].part)
    figures = f"{one.subject}: {share.percent:.0f} % of {share.whole:,.0f} {share.counted_as}/s are record locks"
    if share.percent < limits.record_percent or share.whole < limits.operations_per_second:
        return quiet(f"{figures} (limits {limits.record_percent:g} % of {limits.operations_per_second:,.0f}/s)", each)
    per = per_transaction(each, rows_of(each, share.items, "record"))
    if per is None:
        return Unknown.without(COLLECTED_BY, StatisticRow.COLLECTED_BY, f"{figures}; of how many transactions?")
    if per < limits.records_per_transaction:
        said = f"{figures}, {rounded(per)} for each transaction (limit {limits.records_per_transaction:g})"
        return quiet(said, each)
    return _finding(facts, one, limits, share, per, each)


def _finding(facts: Facts, one: OneDatabase, limits: Limits, share: Share, per: float, each: Statistics) -> Finding:
    waits = waits_of(facts, one)
    groups = [] if waits.refused() else waits.most((*STALLS, TIMEOUTS[0], DEADLOCKS[0]), "record")
    readers = [] if waits.refused() else _readers(waits)
    names = _names(readers)
    snapshots = {"deferred": DEFERRED, "disabled": DISABLED}.get((one.word("snapshot_mode") or "").lower(), "")
    busy = share.whole >= limits.busy_operations
    main = _of_one(facts, one, each, limits) if busy or per >= limits.of_one_transaction else None
    writes = _written(each, limits) if main else None
    rows = None if one.by_page or groups or main else _rows_of_a_page(each, limits)
    root = comment(one.root, 255) if one.root else "<root file>"
    return Finding(
        subject=one.subject,
        severity=Severity.ADVICE if busy or main else Severity.NOTE,
        title=(f"process {main.name} takes most: " if main else f"{names} hold rows to read them: " if readers else "")
        + f"record locks are {share.percent:.0f} % of the {share.counted_as}, {rounded(per)} a transaction",
        seen=joined(
            f"{share.part:,.0f} of {share.whole:,.0f} {share.counted_as}/s{on_node(each)} ({each.over}) are of "
            f"record locks, {rounded(per)} for each transaction.",
            f"Waited for most: {hottest(groups)}." if groups else "",
            f"RMU/SHOW LOCKS names who is in their way: {held_by(readers)}." if readers else "",
            f"Process {main.name} asked for {main.percent:.1f} % of all locks"
            + (f", and each transaction writes the RUJ {writes.value:g} times, so it changes rows." if writes else ".")
            if main
            else "",
        ),
        because=TO_THE_END.format(rows.value)
        if rows
        else joined(LOCKED, OFF if one.is_on("adjustable_locking") is False else ""),
        do=OF_ONE_WRITER.format(name=main.name, image=main.image)
        if main and writes
        else OF_ONE.format(name=main.name, image=main.image, snapshots=snapshots)
        if main
        else PAGE_LEVEL.format(root=root, found=NO_AREA)
        if rows
        else OF_READERS.format(names=names, snapshots=snapshots, where=_where(readers))
        if readers
        else joined(DO.format(snapshots=snapshots), "" if groups or _wanted(each, limits) else RESERVE),
        unknown=joined(
            INFERRED
            if main
            else ""
            if readers
            else "Which programs take them is in no statistics: the screen Process Lock Overview names processes.",
            caveats(one, each),
        ),
        evidence=(
            Evidence(
                "record locks", round(share.percent, 1), "% of lock operations", share.source, limits.record_percent
            ),
            Evidence(share.counted_as, round(share.whole, 1), "/s", share.source, limits.busy_operations),
            Evidence(
                "record lock operations per transaction",
                round(per, 1),
                "",
                share.source,
                limits.records_per_transaction,
            ),
            *((main.proof,) if main else ()),
            *((writes,) if writes else ()),
            *((rows,) if rows else ()),
            *(Evidence(held_by([lock]), "PR", "", lock.source) for lock in readers[:MOST]),
            *evidence_of(groups, "waits for"),
        ),
        explains=("rdb/lock_stalls_long",) if readers else (),
        expects=(Expectation("record lock operations per transaction", round(per, 1), "lower", "heuristic"),),
        share=round(share.percent, 1),
    )


def _readers(waits: Waits) -> list[HeldLock]:
    """The locks of rows that RMU/SHOW LOCKS has in the way of others, where all of them are held for reading (PR)."""
    rows = [lock for lock in culprits(waits.held) if lock.resource.strip().lower().startswith("record")]
    return rows if all(lock.granted == "PR" for lock in rows) else []


def _names(held: Sequence[HeldLock]) -> str:
    """`SALES_D (3A20C311) and SALES_M (3A20C340)`, each process once."""
    names = list({lock.pid: process_of(lock) for lock in held}.values())
    more = [f"{len(names) - MOST} more"] if len(names) > MOST else []
    *others, last = [*names[:MOST], *more] or [""]
    return f"{', '.join(others)} and {last}" if others else last


def _where(held: Sequence[HeldLock]) -> str:
    """` (storage area ORDERS, if 4 is one)`, where all rows are of one area that is known."""
    found = {lock.resource.partition(" (")[2] for lock in held}
    return f" ({comment(found.pop().removesuffix(')'), 100)})" if len(found) == 1 and "" not in found else ""


def _wanted(each: Statistics, limits: Limits) -> bool:
    """Whether others want the rows that are locked, so that a table that is reserved would hold them up."""
    back = asked_back(each, "record")
    return back is not None and back.most >= limits.few_blasts_percent


@dataclass(frozen=True)
class _Main:
    """The process that asks for nearly all locks."""

    name: str
    percent: float
    image: str
    proof: Evidence


def _of_one(facts: Facts, one: OneDatabase, each: Statistics, limits: Limits) -> _Main | None:
    """The process that asked for nearly all locks on the node, no server of Rdb; `None`: there is none."""
    listed = {
        (process.pid, process.stream): process
        for process in belonging(facts.every(ProcessLocks), one)
        if (process.node or "").upper() == (each.node or "").upper()
    }
    counts = {key: float(process.requested) for key, process in listed.items() if known(process.requested)}
    whole = sum(counts.values())
    if len(counts) < len(listed) or not whole:
        return None
    first = listed[max(counts, key=lambda key: counts[key])]
    percent = 100 * counts[first.pid, first.stream] / whole
    if first.server or percent < limits.of_one_percent:
        return None
    attached = attached_to(facts, one)
    known_as, image = attached.get(first.pid), image_of(attached, first.pid)
    name = called(known_as) if known_as and known_as.process else comment(first.pid, 20)
    proof = Evidence(
        f"locks requested, process {name}", round(percent, 1), "% of all listed", first.source, limits.of_one_percent
    )
    return _Main(name, percent, f" in {image}" if image else "", proof)


def _written(each: Statistics, limits: Limits) -> Evidence | None:
    """Writes of the RUJ, which keeps rows as they were before they are changed, for each transaction; `None`: few."""
    rate = each.rate("ruj writes")
    per = per_transaction(each, [rate]) if rate else None
    if rate is None or per is None or per < limits.written:
        return None
    return Evidence("RUJ writes per transaction", round(per, 1), "", rate.source, limits.written)


def _rows_of_a_page(each: Statistics, limits: Limits) -> Evidence | None:
    """Record locks for each page lock, where page level locking may save them; `None` where it would do harm or little.

    That is where many rows of a page are locked, by transactions that change rows (READ ONLY spares those of reports),
    and next to nobody asks for a row or page that another one has. Page locks held longer are asked back more often.
    """
    records, pages = each.rate(ASKED[0], "record"), each.rate(ASKED[0], "page")
    changed = [rate for item in CHANGED if (rate := each.rate(item))]
    if records is None or pages is None or not pages.per_second or not changed:
        return None
    backs = [asked_back(each, "record"), asked_back(each, "page")]
    if any(back is None or back.most >= limits.few_blasts_percent for back in backs):
        return None
    rows = records.per_second / pages.per_second
    least = limits.changed_percent / 100 * records.per_second
    if rows < limits.rows_of_a_page or sum(rate.per_second for rate in changed) < least:
        return None
    return Evidence("record locks on each page lock", round(rows, 1), "", records.source, limits.rows_of_a_page)
