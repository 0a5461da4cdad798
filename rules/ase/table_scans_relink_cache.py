"""Table scans make most of a cache's searches.

Finds: tables whose scans account for a large share of all pages asked of the caches, while the spinlock of their cache
is contended, with real searches, more than one engine and engines at work.

Why it matters: each page a scan reads is one search, and under strict LRU one relinkage from the LRU to the MRU end
under the cache's spinlock: a scan of a million pages is a million relinkages ("ASE 16 & Managing VLDB's with VLH",
Jeff Tallman 2014). All other tasks of the cache wait for it. Partitions, named caches and relaxed replacement only
spread that load; they do not make it less.

An index whose first column many rows share costs the same: found, too, is the statement that makes a large part of all
searches by reading a hundred pages and more for each row that it finds.

What to do: find the statements that scan these tables (the one that makes most of the reads is named) and give them an
index, a narrower query, or statistics that let the optimiser see the index there is. Nothing is configured. After that,
look at the cache again. Where no size was collected, a statement that ran about as often as the table was scanned says
how many pages a scan reads.

When to ignore it: a small table is read by scanning on purpose, and a nightly report may scan what it likes while
nobody waits. The number of scans is that of plans that used the table without an index, so it is at most right: where
that many scans of the whole table would be twice the pages that were read of it at all, they were not of the whole
table, and it is advice to look at the statements. Where nobody waits it is a note that names the statement, and only
where a plan shows it, or its scans make nearly all searches of a server at work. It is a warning where the CPU time of
that statement is a large part of what busy engines do, tasks wait for an engine, and the clients' commands are not
those of reports, which take longer than a second on average. Where tasks wait for physical reads, such commands are
short and its scans make half of the reads, it is advice. So it is where nobody waits, but engines are busy, nearly all
that is read are the scans of one statement, and it runs once a second and more, as no report does. A statement with a
poor index is a note as well, advice where engines are busy and tasks wait for one, and a warning where its CPU time is
such a part. Where it is the statement that most of the engines' work is, the queue for the engines is explained by it.
The share is of the searches of all caches (monDataCache, else sp_sysmon); of the listed objects alone, which may be a
part of the server's, it is advice too.

Over 600 lines: one finding with what makes it loud by the spinlock, the engines, the reads or the work.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from collectors.facts import Facts, known
from collectors.facts.ase import (
    CachePool,
    IndexKeys,
    MonCachedStatement,
    MonDataCache,
    MonOpenObjectActivity,
    MonSpinlockActivity,
    Snapshot,
)
from rules.ase._evidence.caches.contents import CONTENT_FACTS, Contents, contents_of
from rules.ase._evidence.objects.costliest_cached import costliest_cached, scanning_most
from rules.ase._evidence.objects.indexes import beginning_with, index_evidence, indexes_of, say_indexes
from rules.ase._evidence.objects.plans import owner_of, plans_of
from rules.ase._evidence.objects.poor_index import PoorIndex, poor_index
from rules.ase._evidence.objects.scans import (
    AS_SCANNED,
    LEAST_PAGES,
    PAGE,
    SHARE_PERCENT,
    SIZES,
    TABLE_PERCENT,
    Scanned,
    Searches,
    reading_most,
    scanned,
    scans_of,
    searches_of,
    share_of,
)
from rules.ase._evidence.objects.seen import (
    activity,
    doubts,
    is_system,
    name_evidence,
    name_of,
    sizes,
)
from rules.ase._evidence.objects.statement_cpu import Worked
from rules.ase._evidence.objects.statements import STATEMENT_FACTS, Used, by_text, shown, with_statements
from rules.ase._evidence.server import ENGINE_FACTS, busy_of, level_reached, page_kb, subject_of
from rules.ase._evidence.spinlocks.cas import CAS_GRABS
from rules.ase._evidence.spinlocks.figures import Figure
from rules.ase._evidence.spinlocks.gates import (
    BUSY_ORIGIN,
    BUSY_PERCENT,
    CACHE_PERCENT,
    CACHE_SEARCHES,
)
from rules.ase._evidence.spinlocks.monitored import say_doubt
from rules.ase._evidence.spinlocks.ratio import refused
from rules.ase._evidence.spinlocks.spin_severity import spin_bound
from rules.ase._evidence.spinlocks.survey import CACHE_FACTS, cache_figure
from rules.ase._evidence.spinlocks.waits import costs_nothing
from rules.ase._evidence.times import when as covers
from rules.ase._evidence.waits.events import READS, RUN_QUEUE
from rules.ase._evidence.waits.index_wanted import columns_of, wrapped_column
from rules.ase._evidence.waits.tasks import WAIT_FACTS, Waited, command_time, waited_for
from rules.ase._evidence.waits.verdict import COMMAND_ORIGIN, COMMAND_SECONDS, SHARE_ORIGIN, TaskLimits, of_tasks
from rules.ase._evidence.waits.verdict import SHARE_PERCENT as WAITING_PERCENT
from rules.changes.quoting import bare_table
from rules.engine import limit, percent, rule
from rules.finding import (
    Clean,
    Evidence,
    Finding,
    MissingInput,
    Outcome,
    Severity,
    Unknown,
    Untrusted,
    capitalized,
    joined,
)
from rules.sources import TALLMAN

LINKS = (
    "https://blogs.sap.com/2014/07/16/ase-16-managing-vldb-s-with-vlh-very-large-hardware/",
    "https://wiki.scn.sap.com/wiki/display/SYBASE/Spinlocks+and+CPU+usage+in+SAP+ASE",
)
SHOWN = 60
"""Characters of a statement that the step shows; its whole text stands among the figures."""
NAMED, SAID = 5, 2
"""Tables that the evidence names, and that the sentence does."""
RELINKED = "Each page scanned is one relinkage under a cache spinlock, for which the others wait."
FIX = (
    "Fix the statements that scan {0} (monCachedStatement shows them by its logical reads), by an index, a narrower "
    "query or statistics: no setting makes this less."
)
LOOK = (
    "Before anything is changed, look by their logical reads whether the statements scan much, or read by index and "
    "are only counted so."
)
BEGIN = "Begin with {0}, whose plan scans {1}. Look at the others by their logical reads before anything is changed."
BY_PLAN = "Begin with {0}, whose plan scans {1}: an index, a narrower query or statistics; no setting makes this less."
BY_STATEMENT = (
    "Begin with {0}, which makes most reads of {1}: an index for its where clause, a narrower query or statistics. No "
    "partition or binding makes this less."
)
LISTED = (
    "How many searches the caches had is not in the export; where the list of objects is only a part of the server's, "
    "the share is smaller."
)
CREATE = "create index"
BY_INDEX = (
    "Begin with {0}, {1}: create index <name> on {2}({3}), if its where clause finds few rows by that{4}. No partition "
    "or binding makes this less."
)
STATEMENTS = (
    "Which statements these are: monSysStatement and monCachedStatement show them by LogicalReads (with their pipes "
    "and enable stmt cache monitoring on)."
)


SPINLOCKS = MissingInput("contention of the caches' spinlocks", MonSpinlockActivity.COLLECTED_BY)
NO_SPINLOCK = "No cache spinlock suffers, but"
UNMEASURED = "Whether a cache spinlock suffers was not measured, but"
"""How the reason of a finding by engines begins."""
UNCOUNTED = "Whether others wait for it at a cache spinlock was not measured; engines read its pages."
QUEUES = (
    "{0:.1f} tasks wait for an engine, and engines are {1:.0f} % busy: {2:.0f} % of what is searched is these scans."
)
WORKS = "{0} {1}, and {2:.1f} tasks wait for an engine."
KEEPS = "{0} engines are {1:.0f} % busy, and SSQLID {2} makes {3:.0f} % of the reads of {4}."
READ = "{0} scans what the cache does not hold: the reads are not slow, they are many."
INDEX = (
    "Give {0}, {1}, an index: create index <name> on {2}({3}), if its where clause finds few rows by that{4}. No "
    "setting makes this less."
)
UNLISTED = " and no index begins with it (sp_helpindex)"
NONE_BEGINS = "; those it has are {0}"
UNWRAP = "Have {0}, {1}, compare {2} itself: {3}() on a column keeps its indexes from use{4}. {5}"
BY_FUNCTION = "Or index the same words: `create index <name> on {0}({1})`, from 15.0 (undo: drop index)."
NO_SETTING = "No setting makes this less."
NARROW = "Tune {0}, {1}: an index for its where clause, a narrower query or statistics. No setting makes this less."


@dataclass(frozen=True)
class Limits(TaskLimits):
    """From which share on scans are the cause; those of tasks that wait are `queue`."""

    share_percent: float = percent(
        SHARE_PERCENT, "this project: with less, the rest of the work is the larger part", low=1
    )
    waiting_percent: float = percent(WAITING_PERCENT, SHARE_ORIGIN)
    nearly_all_percent: float = percent(
        80.0, "this project: so much of the work of a known statement is worth a note, even if nobody waits", low=1
    )
    most_percent: float = percent(50.0, "this project: half of all searches is most of the engines' reading", low=1)
    table_percent: float = percent(TABLE_PERCENT, "this project: smaller parts are not named", low=0.1)
    contention_percent: float = percent(CACHE_PERCENT, f"practice: 10 % starts the search ({TALLMAN})")
    searches_per_second: float = limit(
        CACHE_SEARCHES, "this project: with fewer searches of the cache nobody waits long", unit="searches/s"
    )
    busy_percent: float = percent(BUSY_PERCENT, BUSY_ORIGIN)
    reads_percent: float = percent(
        50.0, "this project: with half of the physical reads its scans are what most tasks wait for", low=1
    )
    cpu_percent: float = percent(
        SHARE_PERCENT, "this project: so large a part of the engines' work is worth an index", low=1
    )
    work_percent: float = percent(70.0, "this project: idler engines serve the others as fast as ever")
    runs_per_second: float = limit(
        1.0, "this project: no report is run once a second; what is looks for something", unit="executions/s"
    )
    command_seconds: float = limit(COMMAND_SECONDS, COMMAND_ORIGIN, unit="s")
    pages: float = limit(LEAST_PAGES, "this project: a smaller table is cheaper to scan than to look up", unit="pages")

    @property
    def queue(self) -> TaskLimits:
        """How many tasks must wait for an engine, or for what scans read: `share_percent` is of the searches."""
        return TaskLimits(self.tasks, self.waiting_percent, self.critical_percent)


@rule(
    needs=(MonOpenObjectActivity,),
    uses=(*CONTENT_FACTS, CachePool, *CACHE_FACTS, *ENGINE_FACTS, *STATEMENT_FACTS, *WAIT_FACTS, Snapshot, IndexKeys),
    links=LINKS,
    limits=Limits,
)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Hold the scans against everything that was read, and both against the caches' spinlocks."""
    rows = activity(facts)
    if not rows:
        yield Untrusted(f"monOpenObjectActivity: {say_doubt(doubts(facts))}")
        return
    listed = sum(row.logical_reads for row in rows if known(row.logical_reads))
    if listed <= 0:
        yield Clean("no page was asked of the caches in the sample")
        return
    searches = searches_of(facts, listed)
    reads = searches.number
    page, known_sizes = page_kb(facts), sizes(facts)
    scanning = [row for row in rows if row.index_id == 0 and scans_of(row) > 0 and not is_system(row)]
    worth = [
        row
        for row in scanning
        if known(row.logical_reads) and share_of(row.logical_reads, reads) >= limits.table_percent
    ]
    judged = [one for row in worth if (one := scanned(facts, row, known_sizes, page))]
    sure = {id(one.row) for one in judged}
    unsized = [row for row in worth if known_sizes.kb(row) is None and id(row) not in sure]
    found = [one for one in judged if one.mean_pages >= limits.pages]
    share = share_of(sum(one.pages for one in found), reads)
    poor = poor_index(facts, searches) if share < limits.share_percent else None
    if poor:
        yield _poor_index(facts, limits, poor, searches)
    elif share < limits.share_percent and (unsized or (worth and not page and len(judged) < len(worth))):
        names = ", ".join(name_of(row) for row in (unsized or worth)[:NAMED])
        lacking = (SIZES,) if unsized else (PAGE,)
        yield Unknown(lacking, f"scanned, but how many pages that is needs their size: {names}")
    elif not worth:
        yield Clean(f"no table that is scanned makes {limits.table_percent:g} % of {searches.everything}")
    elif share < limits.share_percent:
        yield Clean(f"scans make {share:.0f} % of {searches.everything} (limit {limits.share_percent:g} %)")
    else:
        for said in _held_against_caches(facts, limits, found, searches, share):
            yield said
            if isinstance(said, Finding) and not searches.of_caches:
                what = "searches of the caches, which the scans are a share of"
                yield Unknown.without(what, MonDataCache.COLLECTED_BY)


def _caches(facts: Facts, tables: list[Scanned]) -> list[str]:
    """The caches that the scanned tables are in."""
    contents = contents_of(facts)
    if not isinstance(contents, Contents):
        return []
    scanned = {(one.row.database, one.row.object_name) for one in tables}
    held = [one for one in contents.held if (one.database, one.table) in scanned and not one.index_id]
    return list(dict.fromkeys(one.cache for one in held))


def _held_against_caches(
    facts: Facts, limits: Limits, found: list[Scanned], searches: Searches, share: float
) -> Iterator[Outcome]:
    tables = sorted(found, key=lambda one: -one.pages)
    names = ", ".join(name_of(one.row) for one in tables[:NAMED])
    said = f"scans make up to {share:.0f} % of {searches.everything} ({names})"
    caches = _caches(facts, tables)
    figures = [figure for name in caches if isinstance(figure := cache_figure(facts, name, f"cache {name}"), Figure)]
    read = [figure for figure in figures if known(figure.contention) and 0 <= figure.contention <= 100]
    quiet = {one.label: why for one in read if (why := _quiet(facts, limits, one))}
    hot = [one for one in read if one.label not in quiet]
    by_engines = None if hot else _by_engines(facts, limits, tables[0], searches)
    if not hot and by_engines is None:
        first = [(tables[0].row.database, tables[0].row.object_name)]
        plans, (_, busy) = plans_of(facts, first), busy_of(facts)
        work = share >= limits.nearly_all_percent and (busy is None or busy >= limits.busy_percent)
        shown_to_scan = bool(plans and plans[0].scanned) or (work and any(by_text(facts, first)))
        if not shown_to_scan and _costliest(facts, limits, tables[0]) is None:
            if read:
                yield Clean(f"{said}, but nobody waits for it: {'; '.join(quiet.values())}")
            else:
                yield Unknown((SPINLOCKS,), f"{said}; whether their cache suffers is not in the export")
            return
    evidence = [
        Evidence(f"{one.label} contention", one.contention, "%", one.source, limits.contention_percent)
        for one in hot
        if known(one.contention)
    ]
    evidence += name_evidence(facts, [one.row.database for one in tables[:NAMED]])
    named = [(one.row.database, one.row.object_name) for one in tables[:NAMED]]
    finding = _finding(facts, limits, tables, evidence, searches, share)
    if hot and CREATE in finding.do:
        listed = index_evidence(indexes_of(facts, tables[0].row.object_name))
        finding = replace(finding, evidence=(*finding.evidence, *listed))
    if not hot:
        waits = UNCOUNTED
        if quiet:
            waits = (
                f"Nobody waits for it at a cache spinlock ({next(iter(quiet.values()))}), but engines read its pages."
            )
        finding = replace(finding, severity=Severity.NOTE, because=waits, explains=())
        but = NO_SPINLOCK if read else UNMEASURED
        finding = (
            _by_cpu(facts, limits, finding, tables[0], but) or _by_reads(facts, limits, finding, tables[0]) or finding
        )
        if finding.severity is Severity.NOTE and share >= limits.nearly_all_percent:
            finding = _by_work(facts, limits, finding, tables[0], but) or finding
        if by_engines and finding.severity < by_engines.severity:
            finding = by_engines.of(finding)
    yield with_statements(finding, facts, named, otherwise=STATEMENTS)
    if not read:
        yield Unknown((SPINLOCKS,), f"{said}; whether their cache suffers, too, is not in the export")


@dataclass(frozen=True)
class Engines:
    """Tasks that wait for engines which mostly read the pages of scans."""

    severity: Severity
    queue: Waited
    evidence: tuple[Evidence, ...]
    share: float
    busy: float
    explains: tuple[str, ...]

    def of(self, finding: Finding) -> Finding:
        """The same finding, by what waits for engines."""
        return replace(
            finding,
            severity=self.severity,
            title=f"{finding.title}; {self.queue.tasks:.1f} tasks wait for an engine",
            because=QUEUES.format(self.queue.tasks, self.busy, self.share),
            evidence=(*self.evidence, *finding.evidence),
            explains=self.explains,
            share=None,
        )


def _by_engines(facts: Facts, limits: Limits, first: Scanned, searches: Searches) -> Engines | None:
    """That tasks wait for engines which are busy, while whole scans make most of what is searched; by no statement."""
    queue, (number, busy) = waited_for(facts, "an engine", RUN_QUEUE), busy_of(facts, interval=True)
    if not isinstance(queue, Waited) or not number or busy is None or busy < limits.work_percent:
        return None
    loud, commands, part = of_tasks(queue, limits.queue), command_time(facts), share_of(first.pages, searches.number)
    if loud is None or not searches.of_caches or not first.whole or not first.row.of_interval:
        return None
    if part < limits.most_percent or (commands and commands.seconds > limits.command_seconds):
        return None
    if scanning_most(facts, first):
        return None  # its processor time is known, and decides
    evidence = (
        Evidence("mean engine busy", round(busy, 1), "%", queue.running_source, limits.work_percent),
        *queue.evidence(limits.tasks, limits.waiting_percent),
    )
    explains = () if costliest_cached(facts) else ("ase/run_queue_long",)
    return Engines(min(loud, Severity.WARNING), queue, evidence, part, busy, explains)


def _poor_index(facts: Facts, limits: Limits, poor: PoorIndex, searches: Searches) -> Finding:
    """What reads through an index that finds few of the rows that it reads; how loud, by the tasks that wait."""
    queue, (_, busy) = waited_for(facts, "an engine", RUN_QUEUE), busy_of(facts, interval=True)
    waits = queue if isinstance(queue, Waited) and busy is not None and busy >= limits.work_percent else None
    commands, loud = command_time(facts), of_tasks(waits, limits.queue) if waits else None
    if commands and commands.seconds > limits.command_seconds:
        loud = None
    most = Severity.WARNING if poor.worked.percent >= limits.cpu_percent else Severity.ADVICE
    name, number, text = name_of(poor.row), poor.statement.statement, poor.statement.text or ""
    do, indexes = _index_for(facts, poor.statement, _took(poor.worked), poor.row)
    return Finding(
        subject=subject_of(facts),
        severity=min(loud, most) if loud else Severity.NOTE,
        title=f"SSQLID {number} makes {poor.share:.0f} % of all cache searches: {poor.pages:,.0f} pages of {name} for "
        f"{poor.found:,.0f} rows",
        seen=f"{poor.says}: {poor.share:.0f} % of {searches.everything}; {poor.worked.says}.",
        because=joined(
            f"The plan reaches {name} through an index, which finds it few of the rows that it reads.",
            f"{waits.tasks:.1f} tasks wait for an engine." if waits and loud else "",
        ),
        do=do,
        evidence=(
            Evidence(f"text of statement {number}", shown(text), "", poor.statement.source),
            Evidence(f"pages each execution of statement {number} reads", poor.pages, "pages", poor.statement.source),
            Evidence(f"rows each execution of statement {number} finds", poor.found, "", poor.statement.source),
            Evidence(
                f"share of statement {number} in all cache searches",
                round(poor.share, 1),
                "%",
                poor.statement.source,
                limits.share_percent,
            ),
            *(waits.evidence(limits.tasks, limits.waiting_percent) if waits else ()),
            *index_evidence(indexes),
        ),
        explains=_queued_by(facts, poor.statement) if loud and most is Severity.WARNING else (),
        share=poor.share,
    )


def _by_cpu(facts: Facts, limits: Limits, finding: Finding, first: Scanned, but: str) -> Finding | None:
    """The finding where a statement that scans the first table is much of what engines do that others wait for."""
    queue, (number, busy) = waited_for(facts, "an engine", RUN_QUEUE), busy_of(facts, interval=True)
    if not isinstance(queue, Waited) or not number or busy is None or busy < limits.work_percent or not first.whole:
        return None
    loud, commands = of_tasks(queue, limits.queue), command_time(facts)
    if commands and commands.seconds > limits.command_seconds:
        return None
    top = _costliest(facts, limits, first)
    if loud is None or top is None:
        return None
    name, row = name_of(first.row), top.statement
    do, indexes = _index_for(facts, row, _took(top), first.row)
    cpu = f"CPU of statement {row.statement} (executions x AvgCpuTime)"
    return replace(
        finding,
        severity=min(loud, Severity.WARNING),
        title=f"Scans of {name} keep {top.engines:.1f} of {top.busy:.1f} busy engines at work",
        because=WORKS.format(but, f"SSQLID {row.statement}, {top.says}", queue.tasks),
        do=do,
        evidence=(
            Evidence(cpu, round(top.engines, 2), "engines", row.source),
            Evidence(
                f"share of statement {row.statement} in the engines' work",
                round(top.percent, 1),
                "%",
                row.source,
                limits.cpu_percent,
            ),
            Evidence("mean engine busy", round(busy, 1), "%", queue.running_source, limits.work_percent),
            *queue.evidence(limits.tasks, limits.waiting_percent),
            *finding.evidence,
            *index_evidence(indexes),
        ),
        explains=_queued_by(facts, row),
        share=min(top.percent, 100.0),
    )


def _by_reads(facts: Facts, limits: Limits, finding: Finding, first: Scanned) -> Finding | None:
    """The finding where tasks wait for physical reads, and one statement's scans of the first table make most of them.

    The reads may be as fast as they should be: there are too many of them.
    """
    waits, commands, row = waited_for(facts, "physical reads", READS), command_time(facts, at_most=True), first.row
    read = [one.physical_reads for one in activity(facts) if one.of_interval and known(one.physical_reads)]
    if not isinstance(waits, Waited) or not known(row.physical_reads) or not row.of_interval or not first.whole:
        return None
    if not commands or commands.seconds > limits.command_seconds or of_tasks(waits, limits.queue) is None:
        return None
    share, top = share_of(row.physical_reads, sum(read)), reading_most(facts, row)
    if share < limits.reads_percent or top is None or not isinstance(top.fact, MonCachedStatement):
        return None
    do, indexes = _index_for(facts, top.fact, f"{_times(top)} pages", row)
    return replace(
        finding,
        severity=Severity.ADVICE,
        title=f"Scans of {name_of(row)} make {share:.0f} % of the physical reads that {waits.tasks:.1f} tasks wait for",
        because=READ.format(f"SSQLID {top.number}"),
        do=do,
        evidence=(
            *waits.evidence(limits.tasks, limits.waiting_percent),
            Evidence(f"physical reads of {name_of(row)}", row.physical_reads, "", row.source),
            Evidence(
                f"share of {name_of(row)} in physical reads", round(share, 1), "%", row.source, limits.reads_percent
            ),
            commands.evidence,
            *finding.evidence,
            *index_evidence(indexes),
        ),
        explains=("ase/reads_slow",),
        share=None,
    )


def _by_work(facts: Facts, limits: Limits, finding: Finding, first: Scanned, but: str) -> Finding | None:
    """The finding where busy engines mostly do the scans of one statement, which runs too often to be a report."""
    (number, busy), commands, row = busy_of(facts, interval=True), command_time(facts), first.row
    top = reading_most(facts, row)
    if not number or busy is None or busy < limits.work_percent or not first.whole or not row.seconds or top is None:
        return None
    if commands and commands.seconds > limits.command_seconds:
        return None
    often = (top.executions or 0.0) / row.seconds
    if often < limits.runs_per_second or not isinstance(top.fact, MonCachedStatement) or not known(row.logical_reads):
        return None
    part = min(100.0, share_of(top.reads or 0.0, row.logical_reads))
    do, indexes = _index_for(facts, top.fact, f"{_times(top)} pages", row)
    return replace(
        finding,
        severity=Severity.ADVICE,
        title=f"{finding.title}; SSQLID {top.number} scans it {often:,.0f} times a second",
        because=KEEPS.format(but, busy, top.number, part, name_of(row)),
        do=do,
        evidence=(
            Evidence(
                f"executions of statement {top.number}", round(often, 1), "/s", row.source, limits.runs_per_second
            ),
            *finding.evidence,
            *index_evidence(indexes),
        ),
    )


def _costliest(facts: Facts, limits: Limits, first: Scanned) -> Worked | None:
    """The statement that scans this table and is much of what the engines do; `None` where none is."""
    top = scanning_most(facts, first)
    return top if top and top.percent >= limits.cpu_percent else None


def _queued_by(facts: Facts, statement: MonCachedStatement) -> tuple[str, ...]:
    """The queue for engines as explained, where this is the statement that its rule names: one step, told once."""
    most = costliest_cached(facts)
    return ("ase/run_queue_long",) if most and most.worked.statement.statement == statement.statement else ()


def _index_for(
    facts: Facts, statement: MonCachedStatement, ran: str, table: MonOpenObjectActivity
) -> tuple[str, list[IndexKeys]]:
    """What to do about a statement that reads much of a table, with the indexes that are listed; `ran`: its work."""
    columns, indexes = columns_of(statement.text or ""), indexes_of(facts, table.object_name)
    what = f"SSQLID {statement.statement}"
    if wrapped := wrapped_column(statement.text or ""):
        on = BY_FUNCTION.format(bare_table(table.object_name or ""), wrapped.expression)
        ours = f" ({say_indexes(indexes)})" if indexes else ""
        by = on if level_reached(facts, "15.0") else NO_SETTING
        return UNWRAP.format(what, ran, wrapped.column, wrapped.function, ours, by), indexes
    if columns and beginning_with(indexes, columns[0]):
        columns = ()  # an index by it is there, and something else keeps it from being used
    others = NONE_BEGINS.format(say_indexes(indexes)) if indexes else UNLISTED
    if columns:
        return INDEX.format(what, ran, name_of(table), ", ".join(columns), others), indexes
    return NARROW.format(what, ran), indexes


def _took(top: Worked) -> str:
    """What the executions of a statement took of processors."""
    return f"{top.per_second:,.0f} times a second {top.milliseconds:,.0f} ms of CPU"


def _quiet(facts: Facts, limits: Limits, figure: Figure) -> str:
    """Why nobody loses anything at the spinlock of a cache; nothing where somebody does."""
    over, busy = limits.contention_percent, limits.busy_percent
    refusal = refused(facts, figure.label, figure.contention, over, busy_percent=busy, figure=figure)
    if isinstance(refusal, Clean):
        return refusal.why
    few = figure.too_few(limits.searches_per_second)
    if few:
        return f"{figure.said}, but {few}"
    bound = None if figure.uses.startswith(CAS_GRABS) else spin_bound(facts, figure.lock)
    nothing = bound.says if bound and bound.nothing else "" if bound else costs_nothing(facts, figure)
    return f"{figure.said}. {nothing}" if nothing else ""


def _finding(
    facts: Facts, limits: Limits, tables: list[Scanned], hot: list[Evidence], searches: Searches, share: float
) -> Finding:
    first = tables[0]
    when = "between the snapshots" if first.row.of_interval else covers(first.row)
    named = "; ".join(one.says(searches.everything) for one in tables[:SAID])
    more = f"; and {len(tables) - SAID} more" if len(tables) > SAID else ""
    whole = share_of(sum(one.pages for one in tables if one.whole), searches.number) >= limits.share_percent
    evidence = [
        Evidence(
            f"share of {'cache searches' if searches.of_caches else 'logical reads'} made by scans, at most",
            round(share, 1),
            "%",
            first.row.source,
            limits.share_percent,
        )
    ]
    for one in tables[:NAMED]:
        pages = f"pages scanned of {name_of(one.row)}, at most"
        evidence.append(Evidence(pages, round(one.pages), "pages", one.row.source))
        if known(one.row.apf_reads) and one.row.apf_reads > 0:
            evidence.append(Evidence(f"prefetched reads of {name_of(one.row)}", one.row.apf_reads, "", one.row.source))
    loud = whole and searches.of_caches and first.row.of_interval and first.row.seconds
    part = "all cache searches" if searches.of_caches else "the logical reads of the listed objects"
    return Finding(
        subject=subject_of(facts),
        severity=Severity.WARNING if loud else Severity.ADVICE,
        title=f"Scans of {name_of(first.row)} make up to {share_of(first.pages, searches.number):.0f} % of {part}",
        seen=f"{capitalized(when)}: {named}{more}.",
        because=RELINKED,
        do=_what_to_do(facts, first, whole=whole),
        unknown="" if searches.of_caches else LISTED,
        evidence=(*evidence, *hot),
        explains=("ase/data_cache_spinlock_contended", "ase/hot_table_in_default_cache") if whole else (),
    )


def _what_to_do(facts: Facts, first: Scanned, *, whole: bool) -> str:
    """By the plan of a statement that scans the first table, where one was collected."""
    plans = plans_of(facts, [(first.row.database, first.row.object_name)])
    top = reading_most(facts, first.row) if whole else None
    nobodys = bool(plans) and plans[0].ssql_id is None and plans[0].spid is None
    if not plans or not plans[0].scanned or (top and nobodys):
        if not whole:
            return LOOK
        if top is None:
            return FIX.format(name_of(first.row))
        return _by_index(facts, first, top) or BY_STATEMENT.format(_ran(top), name_of(first.row))
    return (BY_PLAN if whole else BEGIN).format(owner_of(plans[0]), name_of(first.row))


def _by_index(facts: Facts, first: Scanned, top: Used) -> str:
    """The index that the statement which scans asks for; empty where its text does not say, or one begins so."""
    fact = top.fact
    text = fact.text if isinstance(fact, MonCachedStatement) and fact.text else ""
    columns, indexes = columns_of(text), indexes_of(facts, first.row.object_name)
    if not columns or wrapped_column(text) or beginning_with(indexes, columns[0]):
        return ""
    others = NONE_BEGINS.format(say_indexes(indexes)) if indexes else UNLISTED
    what = f"{shown(text, SHOWN)} (SSQLID {top.number})"
    return BY_INDEX.format(what, _times(top) + " pages", name_of(first.row), ", ".join(columns), others)


def _ran(top: Used) -> str:
    """A statement with how often it ran, and what each of its runs read."""
    return f"{top.what}, {_times(top)} pages"


def _times(top: Used) -> str:
    each = f"{top.reads / top.executions:,.0f}" if top.reads and top.executions else "?"
    return f"{top.executions or 0:,.0f} times{f' ({AS_SCANNED})' if top.when == AS_SCANNED else ''} {each}"
