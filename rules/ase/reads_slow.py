"""Tasks wait for pages to be read from disk.

Finds: tasks that wait for physical reads (wait events 29, 32, 124 and 125 of monSysWaits), as an average number over
the interval and as a share of the tasks that wait or run, with the mean time of a read. Where only sp_sysmon was
collected, task switches due to cache search misses, which have no time and are noted alone. Where neither was, as
advice, a device that mostly reads on demand and takes as long (monDeviceIO), with one request or more under way.

Why it matters: a task that waits for a read does no work and keeps its locks. What to do depends on the mean time.
Slow reads are a matter of the devices and of what lies below them; reads at a normal speed are many because statements
ask for many pages that no cache holds.

What to do: of slow reads, look below the device that monDeviceIO names, with the tools of the host, then spread a table
that is read by a key over more devices; where monDeviceIO was not collected, the one that most reads are of by
sp_sysmon is named, which counts and has no times.
Of many reads, look at the tables and statements that make them: a missing index, a scan, and then the memory that
their pages would take; a program that scans the table at that moment is named, with its statement. Prefetch that is too
eager shows as event 32.

How loud it is: as other waits where reads are slow. Where they are neither slow nor normal it is advice, and critical
only where a third of the tasks wait for them, more than there are engines, the commands of clients are short, and
sp_sysmon, where it was collected, does not count few task switches for them.

When to ignore it: a server whose work is to read much, as for reports or a load, waits for reads that are as fast as
they should be. That is said in a note and no more, but where one program scans the table and no index begins with what
its where clause asks for, or a cached statement scans it so every minute, or one statement makes nearly all reads by
scanning it for few rows, many times in the interval. Below one task on average nobody loses anything.
"""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from functools import partial

from collectors.facts import Facts, known
from collectors.facts.ase import MonCachedStatement, MonOpenObjectActivity, SegmentUse
from rules.ase._evidence.caches.large_io import LARGE_IO_FACTS, denied_large_io
from rules.ase._evidence.objects.costliest import COSTLIEST_FACTS, Costliest, costliest
from rules.ase._evidence.objects.indexes import beginning_with, index_evidence, indexes_of, say_indexes
from rules.ase._evidence.objects.reading_now import READING_FACTS, reading_now
from rules.ase._evidence.objects.scans import LEAST_PAGES, STATEMENT_PERCENT, WHOLE_TIMES, scans_of
from rules.ase._evidence.objects.seen import activity, name_of, table_key
from rules.ase._evidence.objects.statements import STATEMENT_FACTS, naming, with_statements
from rules.ase._evidence.objects.unserved import SCANS_PER_SECOND, unserved
from rules.ase._evidence.server import subject_of
from rules.ase._evidence.waits import devices
from rules.ase._evidence.waits.events import MAINTAINS, READS
from rules.ase._evidence.waits.index_wanted import PAGES_A_ROW, columns_of, pages_each, wrapped_column
from rules.ase._evidence.waits.switches import SWITCH_FACTS
from rules.ase._evidence.waits.tasks import WAIT_FACTS, command_time, tasks_by_event
from rules.ase._evidence.waits.verdict import (
    COMMAND_ORIGIN,
    COMMAND_SECONDS,
    TooLong,
    WaitLimits,
    judge_waits,
    unless_few,
)
from rules.changes.quoting import bare_table, comment, is_plain
from rules.engine import limit, percent, rule
from rules.finding import LONGEST_PART, Evidence, Finding, MissingInput, Outcome, Severity, Unknown, joined

LINKS = (
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc00848.1570/html/monitor_tables/CHDEHBAG.htm",
)
WHAT, CAUSE = "physical reads", "Cache Search Misses"
MEAN = f"mean wait for {WHAT}"
"""Of the figures of any wait the one that is held against what the vendor calls slow."""
NORMAL = "The vendor calls a read of 2 to 6 ms normal and one of more than 10 ms slow"
SLOW = f"{NORMAL}: the devices, or what lies below them, hold these tasks up."
FAST = f"{NORMAL}, so the devices are not what holds these tasks up: many pages are read that no cache holds."
BETWEEN = f"{NORMAL}; these lie between, so the devices and the statements are both to be looked at."
SCANNED = "The vendor calls a read of more than 10 ms slow, which these are not: the scans come first."
UNTIMED = "Each is a page that no cache held. Whether reads are slow or many is not in sp_sysmon."
DEVICES = "Look below {0} with the tools of the host: service time and queue of the disk, paths, the storage."
FEWER = "Fewer reads{0} come before more memory: {1}a cache that holds what is read again and again."
MOVE = (
    "Where that is not mended, move what lies on {0} to storage like that of {1}, or spread it; fewer reads, by an "
    "index or a cache, come after."
)
TIMES_SLOWER = 5.0
"""This project: times the mean time of the quickest device beside it, from which on the storage is the matter."""
SCANS, MAY_SCAN = "an index for the statement that scans, then ", "an index where a statement scans, then "
KEY_PAGES = 20.0
"""This project: pages of one execution up to which a statement looks its rows up by a key: the levels of an index and
the pages of a few rows."""
AHEAD_PERCENT = 10.0
"""This project: prefetched buffers of a table for its single reads, up to which scans are hardly what reads it."""
SPREAD = "SSQLID {0} reads {1} by a key ({2:,.0f} pages each), so no index helps; else spread it: {3}."
SEGMENT = "segment {0} lies on {1} alone (`sp_extendsegment {0}, {2}, <device>` serves new pages only)"
NO_SEGMENT = "see where it lies (`sp_helpsegment`); `sp_extendsegment` serves new pages only"
"""Vendor: a segment that is extended takes what is allocated from then on (Reference Manual: Procedures 16.0,
san1393052023338)."""
ONE = "First make {0} read less ({1}{2:.0f} % of the reads of the statements listed): an index for its where clause{3}."
AFTER = "Then look below the slowest device, with the tools of the host."
CACHE = "Then a cache that holds what is read again and again."
AT_WORKING_HOURS = (
    "First measure a working hour: {0:.1f} tasks of dump, load or dbcc run in these minutes, and the reads may be "
    "theirs."
)
ONE_PERCENT = 80.0
"""This project: a statement with so much of the reads of all that are listed comes before the devices."""
UNWRAPPED = ", or a condition without {0} on {1}"
LOOKS_BY = (
    "First `create index <name> on {5}({2})` in {6} for {0}{1} which scans it for few rows{4}. Make it outside "
    "working hours, as it locks the table, then `sp_recompile {5}`."
)
"""The same columns as a statement compares with a value; which of them find few rows is in no export."""
LOOKS = (
    "First give {0}{1} an index of {2} for its where clause{3}{4}. Make it outside working hours, as it locks the "
    "table, then `sp_recompile {5}`."
)
TEXT_OF = " (`sp_helptext {0}` shows it)"
LISTED_OF = "Listed are {0:,.0f} of {1:,.0f} scans of {2}: a pipe that is too small or read late loses rows."
RUNS = 10
"""This project: how often a statement must be listed in the interval to be no report, which is run now and then."""
LARGE = "{0}. An index for the statement that scans still comes before more memory."
"""Most denied first: one read of eight pages in place of eight."""
TABLES = MissingInput("which tables are read from disk", MonOpenObjectActivity.COLLECTED_BY)
TABLE_OF = {TABLES: "monOpenObjectActivity", devices.MISSING: "monDeviceIO", devices.MISSING_NOW: "monDeviceIO, twice"}
NAMED = 3
"""Tables that are named."""
LONG = ", by counters read once, of a time that is not known"
COUNTED = "PhysicalReads and APFReads, of its data and its indexes"


@dataclass(frozen=True)
class Read:
    """What was read from disk of one table, with all its indexes."""

    row: MonOpenObjectActivity
    """Of its data, where that was read; else of what was read most."""
    count: float
    """Single reads and prefetched buffers: large I/O that a scan asks for ahead is counted apart (vendor)."""
    percent: float
    """Of all that was read from disk."""
    summed: bool
    """Whether it is of several rows or columns."""
    within: str
    """Of what most, as the end of a clause; empty where its data alone was read."""

    @property
    def says(self) -> str:
        """The table with its share."""
        return f"{name_of(self.row)} ({self.percent:.0f} %{self.within})"

    @property
    def evidence(self) -> Evidence:
        """The count."""
        metric = f"physical reads of {name_of(self.row)}"
        return Evidence(metric, self.count, "", self.row.source, computed=COUNTED if self.summed else "")


@dataclass(frozen=True)
class Limits(WaitLimits):
    """`WaitLimits`, from what time on a read is slow, and which tables are named."""

    normal_milliseconds: float = limit(6.0, "vendor: 2 to 6 ms a read is normal (Monitoring Tables 15.7)", unit="ms")
    milliseconds: float = limit(10.0, "vendor: more than 10 ms a read is slow (Monitoring Tables 15.7)", unit="ms")
    command_seconds: float = limit(COMMAND_SECONDS, COMMAND_ORIGIN, unit="s")
    reads_percent: float = percent(10.0, "this project: a table with fewer of all physical reads is not named", low=1)


@rule(
    needs=(),
    uses=(
        *WAIT_FACTS,
        *SWITCH_FACTS,
        *STATEMENT_FACTS,
        MonOpenObjectActivity,
        SegmentUse,
        *devices.DEVICE_FACTS,
        *LARGE_IO_FACTS,
        *COSTLIEST_FACTS,
        *READING_FACTS,
    ),
    links=LINKS,
    limits=Limits,
)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge by the time that tasks waited; by task switches where no time was counted."""
    found = partial(_finding, facts, limits)
    by_device = partial(_by_device, facts, limits)
    yield from judge_waits(
        facts, limits, found, what=WHAT, events=READS, cause=CAUSE, when_unsure=(TABLES,), otherwise=by_device
    )


def _by_device(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Devices that take long to read, where no export says how many tasks wait: what is under way there is known."""
    slow = [one for one in devices.slow_readers(facts, limits.milliseconds) if one.under_way >= limits.tasks]
    if not slow:
        return
    names = devices.slowest(slow, limits.milliseconds)
    beside = devices.besides([*slow, *devices.devices_of(facts, writing=False)], limits.milliseconds).strip(",")
    tables = _tables(facts, limits.reads_percent)
    yield Finding(
        subject=subject_of(facts),
        severity=Severity.ADVICE,
        title=f"Slow device: {names}; {sum(one.under_way for one in slow):.1f} requests are under way on average",
        seen=joined(
            f"{slow[0].says} in {slow[0].row.seconds or 0.0:,.0f} s{f',{beside}' if beside else ''}.",
            f"Most physical reads are of {', '.join(one.says for one in tables)}." if tables else "",
        ),
        because=f"{NORMAL}, and who reads waits for it.",
        do=joined(DEVICES.format(names), FEWER.format("", MAY_SCAN)),
        unknown="How many tasks wait for reads, two snapshots of monSysWaits show (event 29).",
        evidence=tuple(
            figure
            for one in slow
            for figure in (
                replace(one.evidence, limit=limits.milliseconds),
                Evidence(
                    f"requests under way to {one.row.device}", round(one.under_way, 2), "", one.row.source, limits.tasks
                ),
            )
        ),
    )


def _finding(facts: Facts, limits: Limits, waits: TooLong) -> Iterator[Outcome]:
    mean = waits.mean_milliseconds
    slow = mean is not None and mean > limits.milliseconds
    between = mean is not None and limits.normal_milliseconds < mean <= limits.milliseconds
    readers = devices.read_devices(facts) if slow or between else []
    totals = devices.slow_for_long(facts, limits.milliseconds, TIMES_SLOWER) if slow and not readers else []
    readers = readers or totals
    normal = mean is not None and not (slow or between)
    counted = None if readers or normal else devices.counted_by_sysmon(facts, writing=False)
    tables = _tables(facts, limits.reads_percent)
    lacking_pool = max(denied_large_io(facts), key=lambda one: one.evidence.value, default=None)
    times = devices.MISSING_NOW if totals else devices.MISSING
    lacks = [*([] if tables else [TABLES]), *([times] if (slow or between) and (totals or not readers) else [])]
    where = devices.say_devices(readers, LONG if totals else "") or (counted.says if counted else "")
    if where and tables:
        where = f"{where.rstrip('.')}; most physical reads are of {tables[0].says}."
    elif tables:
        where = f"Most physical reads are of {', '.join(one.says for one in tables)}."
    table = tables[0].row if tables and tables[0].percent > devices.MOST_PERCENT else None
    most = name_of(table) if table else ""
    keyed = _by_key(facts, table, readers, limits.milliseconds) if table else ""
    fewer = FEWER.format(f" of {most}" if most else "", "" if keyed else _by_scans(table) if table else MAY_SCAN)
    if slow and not tables and (quick := devices.much_quicker(readers, limits.milliseconds, TIMES_SLOWER)):
        fewer = MOVE.format(comment(readers[0].row.device), quick)
    commands = command_time(facts)
    short = commands is not None and commands.seconds <= limits.command_seconds
    doubtful = waits.switches_percent is not None and waits.switches_percent < limits.switches_percent
    hurts = short and not doubtful and unless_few(facts, waits) is Severity.CRITICAL
    lost = Severity.CRITICAL if hurts else Severity.ADVICE
    device = devices.slowest(readers, limits.milliseconds)
    below = DEVICES.format(
        f"{device}{devices.besides(readers, limits.milliseconds)}" if device else "the slowest device"
    )
    top = costliest(facts, "physical_reads")
    one = top if top and top.percent >= ONE_PERCENT and not top.running and not (slow or lacking_pool) else None
    statement = _cached(facts, one) if one else None
    looks = table if one and table and _looks_for_few(facts, one, table, statement) else None
    now = reading_now(facts, table) if table and not (one or slow or lacking_pool) else None
    often = unserved(facts, table) if table and not (one or now or slow or lacking_pool) else None
    if often:
        where = f"Most physical reads are of {tables[0].says}, {often.says}."
    first = (
        now.says
        if now
        else _index_first(facts, one, looks, statement)
        if one and looks
        else ONE.format(one.name, f"{one.who}; " if one.who else "", one.percent, _unwrapped(statement))
        if one
        else ""
    )
    lacking = "; ".join(f"{one.fact} ({TABLE_OF[one]})" for one in lacks)
    kept = sum(one.tasks for one in tasks_by_event(facts) if one.event in MAINTAINS)
    theirs = waits.tasks is not None and kept >= waits.tasks and not (slow or between or one or now or often)
    advised = lacking_pool or looks or often or (now and now.lacks_index)
    finding = Finding(
        subject=subject_of(facts),
        severity=waits.severity if slow else lost if between else Severity.ADVICE if advised else Severity.NOTE,
        title=waits.title
        + (f" of {mean:,.1f} ms each" if mean is not None else "")
        + (f"; slow device: {device}" if device else "")
        + (
            f"; {one.name} scans {most}"
            if one and looks
            else f"; {one.percent:.0f} % of those listed by {one.program}"
            if one and one.program
            else ""
        )
        + (f"; {now.program.name} scans {most}" if now else "")
        + (f"; {often.name} scans {most}" if often else "")
        + (f"; {lacking_pool.short}" if lacking_pool else ""),
        seen=joined(waits.seen, where),
        because=UNTIMED if mean is None else SLOW if slow else SCANNED if often else BETWEEN if between else FAST,
        do=AT_WORKING_HOURS.format(kept)
        if theirs and not lacking_pool
        else first
        if looks
        else often.step
        if often
        else joined(first, AFTER if between else CACHE if now else fewer)
        if one or now
        else joined(fewer, AFTER)
        if between and not device and tables
        else joined(
            below if slow or between else "",
            LARGE.format(lacking_pool.says) if lacking_pool else keyed if keyed and slow else fewer,
        ),
        unknown=joined(
            waits.unknown,
            f"Not in the export: {lacking}." if lacking else "",
            _unlisted(one, looks) if one and looks else "",
        ),
        evidence=(
            *(replace(one, limit=limits.milliseconds) if one.metric == MEAN else one for one in waits.evidence),
            *((commands.evidence,) if between and commands else ()),
            *(replace(one.evidence, computed="by totals") if totals else one.evidence for one in readers),
            *((counted.evidence,) if counted else ()),
            *(one.evidence for one in tables),
            *((lacking_pool.evidence,) if lacking_pool else ()),
            *(now.evidence if now else ()),
            *(often.evidence if often else ()),
            *(index_evidence(indexes_of(facts, looks.object_name)) if looks else ()),
        ),
        changes=(lacking_pool.change,) if lacking_pool else (),
    )
    shown = with_statements(finding, facts, [(one.row.database, one.row.object_name) for one in tables])
    if top and (one or shown.because == finding.because):
        most = f"Most of the reads that are listed are of {top.says}."
        shown = replace(finding.adding(because=most), evidence=(*shown.evidence, *top.evidence(facts)))
    yield shown
    if lacks and finding.severity > Severity.NOTE:
        yield Unknown(tuple(lacks))


def _cached(facts: Facts, one: Costliest) -> MonCachedStatement | None:
    """The same statement in the statement cache, which has its text and the rows that it reads."""
    rows = [row for row in facts.every(MonCachedStatement) if row.believed and row.statement == one.statement]
    return rows[-1] if rows and one.statement else None


def _looks_for_few(
    facts: Facts, one: Costliest, table: MonOpenObjectActivity, statement: MonCachedStatement | None
) -> bool:
    """Whether each execution of a statement reads as much as a scan of this table does, often and for few rows.

    Not where an index begins with the first column that it compares: something else keeps that from being used.
    """
    scans = scans_of(table) if table.index_id == 0 else 0.0
    if one.executions < RUNS or scans < one.executions or one.rows is None or not known(table.logical_reads):
        return False
    columns = columns_of(statement.text or "") if statement else ()
    if columns and beginning_with(indexes_of(facts, table.object_name), columns[0]):
        return False
    rows = max(one.rows, statement.mean_read_rows if statement and known(statement.mean_read_rows) else 0.0)
    each, a_scan = (one.logical_reads or 0.0) / one.executions, table.logical_reads / scans
    if each < max(LEAST_PAGES, PAGES_A_ROW * rows):  # an aggregate returns one row, whatever it reads
        return False
    return a_scan <= WHOLE_TIMES * each <= WHOLE_TIMES**2 * a_scan


def _index_first(
    facts: Facts, one: Costliest, table: MonOpenObjectActivity, statement: MonCachedStatement | None
) -> str:
    """The index that such a statement asks for, as two sentences."""
    indexes, columns = indexes_of(facts, table.object_name), columns_of(statement.text or "") if statement else ()
    who, have = f", {one.who}," if one.who else "", f"; those it has are {say_indexes(indexes)}" if indexes else ""
    bare, home = bare_table(table.object_name or ""), comment(table.database or "", 60)
    middle = ", ".join(columns) or name_of(table)
    text = TEXT_OF.format(one.procedure) if one.procedure else ""
    for listed in (have, ""):
        form, by = (LOOKS_BY, who or ",") if columns else (LOOKS, who)
        said = form.format(one.name, by, middle, text, listed, bare, home)
        if len(said) <= LONGEST_PART:  # else the indexes that are there stand in the evidence alone
            break
    return said


def _by_key(facts: Facts, table: MonOpenObjectActivity, readers: list[devices.Device], milliseconds: float) -> str:
    """Where a table lies that is read by a key alone, as a sentence; empty where it is not shown to be."""
    rows = [row for row in naming(facts, [(table.database, table.object_name)]) if row.of_interval]
    pages = {row: each * row.executions for row in rows if (each := pages_each(row)) and known(row.executions)}
    top = max(pages, key=lambda row: pages[row], default=None)
    single, ahead = table.physical_reads, table.apf_reads
    if top is None or not (known(single) and known(ahead)) or 100.0 * ahead > AHEAD_PERCENT * single:
        return ""
    each = pages_each(top) or 0.0
    if each > KEY_PAGES or 100.0 * pages[top] < STATEMENT_PERCENT * single:
        return ""
    name = table.object_name or ""
    slow = {one.row.device for one in readers if one.mean_milliseconds > milliseconds}
    for one in facts.every(SegmentUse):
        plain = all(map(is_plain, (one.segment, table.database or "")))
        if name in one.tables and len(one.devices) == 1 and one.devices[0] in slow and plain:
            where = SEGMENT.format(one.segment, comment(one.devices[0]), table.database)
            break
    else:
        where = NO_SEGMENT
    return SPREAD.format(top.statement, name_of(table), each, where)


def _unwrapped(statement: MonCachedStatement | None) -> str:
    """What else would let a statement use an index, as the end of a clause; empty where its text has no function."""
    wrapped = wrapped_column(statement.text or "") if statement else None
    return UNWRAPPED.format(wrapped.function, wrapped.column) if wrapped else ""


def _unlisted(one: Costliest, table: MonOpenObjectActivity) -> str:
    """How many scans of the table were not listed, as a sentence; empty where most were."""
    scans = scans_of(table)
    lost = scans > WHOLE_TIMES * one.executions
    return LISTED_OF.format(one.executions, scans, name_of(table)) if lost else ""


def _by_scans(row: MonOpenObjectActivity) -> str:
    """The index that the reads of a table ask for, as the beginning of a clause; empty where it is hardly scanned."""
    if row.index_id == 0 and not (known(row.scans) or known(row.used_count)):
        return MAY_SCAN
    often = row.index_id == 0 and row.seconds and scans_of(row) >= SCANS_PER_SECOND * row.seconds
    short = known(row.logical_reads) and row.logical_reads < LEAST_PAGES * scans_of(row)
    return SCANS if often and not short else ""


def _tables(facts: Facts, least_percent: float) -> list[Read]:
    """The tables that took a large part of the reads from disk in the interval, each once with all its indexes."""
    counts: dict[Hashable, list[tuple[float, MonOpenObjectActivity]]] = {}
    for row in activity(facts):
        count = sum(part for part in (row.physical_reads, row.apf_reads) if known(part))
        if row.of_interval and count > 0:
            counts.setdefault(table_key(row), []).append((count, row))
    whole = sum(count for parts in counts.values() for count, _ in parts)
    found = []
    for parts in counts.values():
        count, most = sum(one for one, _ in parts), max(parts, key=lambda one: one[0])
        data = next((row for _, row in parts if row.index_id == 0), most[1])
        part = f"index {most[1].index_id}" if most[1].index_id else "data"
        within = f", most of its {part}" if len(parts) > 1 or most[1].index_id else ""
        summed = len(parts) > 1 or data.physical_reads != count
        found.append(Read(data, count, 100.0 * count / whole, summed, within))
    return sorted((one for one in found if one.percent >= least_percent), key=lambda one: -one.count)[:NAMED]
