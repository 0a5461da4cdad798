"""Tables with the allpages lock scheme have lock waits.

Finds: page locks, last pages of heaps or address locks that tasks wait for (or contention for the address lock hash
table), on a server where a real share of the changed rows lives in allpages tables; or task switches due to address
locks alone, which only index pages of allpages tables take. sp_sysmon names no table; where sp_object_stats or
monOpenObjectActivity and a listing of lock schemes are there, the tables are named; and whatever share of its own
requests it is, the table that half of all lock waits are booked to, while tasks wait for page locks.

Why it matters: an allpages table locks whole pages, and its index pages too: one row's change blocks its neighbours,
inserts into a heap queue for its last page, and index pages cost address locks, which no setting avoids. Datarows and
datapages tables take no address locks at all ("ASE 16 & Managing VLDB's with VLH", Jeff Tallman 2014).

What to do: find the tables with sp_object_stats and a listing of lock schemes. The vendor's route: allpages with 15 %
or more contention to datapages, and if 15 % stay, on to datarows, which is then a matter of seconds; a heap whose last
page has lock waits straight to datarows, below 15 % too where a twentieth of the requests for last pages of heaps wait
and most of these waits are of that one heap. A table whose own locks are waited for is converted before the ratio is
lowered, which shortens none of these waits, unless it is critical. Where only the spinlocks of the address locks
contend, the ratio goes first (ase/address_lock_spinlock_contended), and a table is converted only if the contention
stays; where their spins cannot have cost a measurable part of the engines' time no table is named for them. The script
for one table has a dump and a check of the table before it, the room it needs where its size was read, the database
option, a check and a dump after it; cautions name row width, the outage of the table, more locks, and latches to watch.

When to ignore it: where few rows are changed in allpages tables, or next to nothing waits. Page locks are also taken by
datapages tables, and worktables in tempdb are allpages heaps nobody can alter. Never convert a system table. A table
that is read by ranges of its clustered index, or is small and rarely changed, is better off as it is.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from collectors.facts import Facts, known
from collectors.facts.ase import (
    LockRequests,
    MonOpenObjectActivity,
    ObjectLockContention,
    ResourceUsage,
    RowsChanged,
    SysmonSample,
    TableScheme,
    TaskSwitches,
)
from rules.ase._evidence.caches.figures import seconds_of
from rules.ase._evidence.caches.memory import MEMORY_FACTS, too_little
from rules.ase._evidence.objects.allpages import (
    INSERTS_PERCENT,
    SAID,
    USES,
    Bounds,
    Table,
    by_most_waits,
    conversions,
    named_tables,
    no_allpages_tables,
    only_heap,
)
from rules.ase._evidence.objects.lock_waits import (
    Share,
    Waits,
    allpages_share,
    waits_of,
)
from rules.ase._evidence.objects.resources import LOCKS, more_locks
from rules.ase._evidence.objects.seen import name_evidence, table_key
from rules.ase._evidence.objects.statements import STATEMENT_FACTS, with_statements
from rules.ase._evidence.server import ENGINE_FACTS, setting_of, subject_of
from rules.ase._evidence.spinlocks.figures import Figure
from rules.ase._evidence.spinlocks.gates import BUSY_PERCENT, LOCK_PERCENT, LOOKUPS
from rules.ase._evidence.spinlocks.ratio import refused
from rules.ase._evidence.spinlocks.spin_severity import spin_bound
from rules.ase._evidence.spinlocks.survey import LOCK_FACTS, lock_figure
from rules.ase._evidence.waits.address_switches import by_switches
from rules.ase._evidence.waits.chains import CHAIN_FACTS
from rules.ase._evidence.waits.events import LOCKS as LOCK_EVENTS
from rules.ase._evidence.waits.hot_rows import HOT_ROW_FACTS, hot_row
from rules.ase._evidence.waits.kept_reads import readers_of
from rules.ase._evidence.waits.latches import WATCH_FACTS, latches_before, row_locks_caution
from rules.ase._evidence.waits.tables import TABLE_FACTS, lock_kinds, waiting_tables
from rules.ase._evidence.waits.tasks import Waited, waited_for
from rules.ase._evidence.waits.verdict import TaskLimits, of_tasks
from rules.changes.ase_table import lock_scheme_template
from rules.engine import limit, percent, rule
from rules.finding import (
    Change,
    Clean,
    Evidence,
    Expectation,
    Finding,
    MissingInput,
    Outcome,
    Severity,
    Unknown,
    Untrusted,
    capitalized,
    joined,
    within,
)
from rules.sources import TALLMAN

LINKS = (
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc36272.1600/doc/html/san1393050904099.html",
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc00938.1570/html/locking/X12029.htm",
)
PAGES, HEAPS, ADDRESSES = "page locks", "last pages of heaps", "address locks"
GROUPS = {
    PAGES: ("Exclusive Page", "Update Page", "Shared Page"),
    HEAPS: ("Last Page Locks on Heaps",),
    ADDRESSES: ("Exclusive Address", "Shared Address"),
}
NAMES = (
    MissingInput("which tables wait", 'sp_object_stats "00:10:00"'),
    MissingInput(
        "lock schemes of the tables",
        "select db_name(), user_name(uid), name, lockscheme(id) from sysobjects where type = 'U'",
    ),
    MissingInput(
        "lock waits of each table",
        "select DBName, ObjectName, IndexID, LockRequests, LockWaits from master..monOpenObjectActivity "
        "where LockWaits > 0 order by LockWaits desc "
        "/* needs sp_configure: enable monitoring, per object statistics active, object lockwait timing */",
    ),
)
TO_DATAROWS = (
    "Take the heap whose last page has lock waits to datarows at once (`alter table <table> lock datarows`: it is "
    "copied, and asks for a full dump); sp_object_stats finds it, an allpages table without a clustered index."
)
TO_DATAPAGES = "Take a table with 15 % contention to datapages, and if 15 % stay, on to datarows."
NAMED = 5
"""Tables that get a script, as each is an outage of its own."""
RATIO, LOWEST = "lock address spinlock ratio", 5.0
"""The parameter that comes before any conversion, and the value down to which it is practice to lower it."""
SOONER = (
    f"A lower {RATIO} helps sooner and comes first; a data-only lock scheme, which has no address locks at all, only "
    "where the contention stays."
)
NO_LOWER = (
    f"{RATIO} is {{0:.0f}}, the lowest there is: what is left against address locks is a data-only lock scheme, which "
    "has none at all."
)
AFTER = f"Then lower {RATIO}, if the address locks still contend: it shortens no wait for page locks"
RATIO_FIRST = f" before it is {LOWEST:.0f} or lower and the contention stays"
NOTHING_LOST = "its spins cannot have taken a measurable part of the engines' time, and no table is altered for that"
HASH = "address lock hash table contention"
HASH_FIRST = 30.0
"""%, from which on ase/address_lock_spinlock_contended is critical: then the ratio goes first."""
WHOLE_PAGES = "Page locks cover all rows of a page, so a change of one row blocks its neighbours."
INDEX_PAGES = "The index pages of an allpages table take address locks, which no setting avoids."
HEAP = (
    "sp_object_stats proposes datapages for any allpages table, but inserts queue for the last page of a heap, which "
    "datapages locks as a whole, too."
)
HEAP_COUNTED = (
    f"A heap of whose changes {INSERTS_PERCENT:g} % or more are inserts (this project; half where last pages of heaps "
    "wait) queues for its last page, which datapages locks as a whole, too."
)
AVERAGED = (
    "The tables are named by totals, an average over all their time: two snapshots at the busiest hour would show "
    "whether they are still the ones."
)
UNNAMED = "sp_sysmon names no table: sp_object_stats, the lock schemes and monOpenObjectActivity do."
NONE_NAMED = (
    "No table of monOpenObjectActivity is named, as none has 15 % of its own lock requests waiting or half of all lock "
    "waits in page locks."
)
TOO_PAGES = "Page locks are taken by datapages tables too: only the lock schemes tell."
NO_SCRIPT = "Where the listing names no owner or database, no script is given."


@dataclass(frozen=True)
class Limits:
    """How many must wait, and how much must be changed in allpages tables."""

    waited_percent: float = percent(
        1.0,
        "this project: the vendor's 15 % (sp_object_stats) is of one table, which drowns among the locks of a server",
    )
    waits_per_second: float = limit(1.0, "this project: fewer waits are no bottleneck", unit="waits/s")
    loud_percent: float = percent(5.0, "this project: one request in twenty waits")
    switches_percent: float = percent(10.0, "practice: one cause of a tenth of all task switches (rukav/Sysmon)")
    hash_percent: float = percent(LOCK_PERCENT, f"practice: 10 % starts the search ({TALLMAN})")
    lookups_per_second: float = limit(
        LOOKUPS["address"], "this project: below this the per cent is of almost nothing", unit="lookups/s"
    )
    busy_percent: float = percent(
        BUSY_PERCENT, "this project: of idler engines contention of the hash table says nothing"
    )
    allpages_percent: float = percent(
        5.0, "this project: with fewer changed rows in allpages tables they are not the cause"
    )
    table_percent: float = percent(
        15.0, "vendor: 15 % of a table's lock requests (sp_object_stats, Locking 15.7)", low=1
    )
    most_percent: float = percent(
        50.0, "this project: half of all lock waits, while tasks wait for locks (ase/lock_waits_high)", low=1
    )
    index_percent: float = percent(
        10.0, "this project: smaller parts of the index traffic are not worth an outage", low=1
    )

    locks_percent: float = percent(80.0, "this project: with fewer left free, locks for single rows may run out", low=1)
    table_waits: float = limit(
        600.0,
        "this project: one wait a second over the ten minutes that sp_object_stats is asked for; it prints no interval",
        unit="waits",
    )

    def bounds(self, *, pages_quiet: bool) -> Bounds:
        """What names a table."""
        return Bounds(self.table_percent, self.waits_per_second, self.index_percent, self.table_waits, pages_quiet)


@rule(
    needs=(),
    uses=(
        LockRequests,
        RowsChanged,
        TaskSwitches,
        SysmonSample,
        ResourceUsage,
        *MEMORY_FACTS,
        *USES,
        *LOCK_FACTS,
        *ENGINE_FACTS,
        *STATEMENT_FACTS,
        *WATCH_FACTS,
        *TABLE_FACTS,
        *HOT_ROW_FACTS,
        *CHAIN_FACTS,
    ),
    links=LINKS,
    limits=Limits,
)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge the server by sp_sysmon, and name the tables where other exports do."""
    groups = [waits_of(facts, what, types) for what, types in GROUPS.items()]
    refusals = [group for group in groups if isinstance(group, Untrusted)]
    read = [group for group in groups if isinstance(group, Waits)]
    waiting = [group for group in read if _many(facts, limits, group)]
    hints = list(_hints(facts, limits))
    address = bool(hints) or any(group.what == ADDRESSES for group in waiting)
    heaps = [group for group in waiting if group.what == HEAPS]
    many = sum(group.waited for group in heaps if group.percent >= limits.loud_percent)
    bounds = limits.bounds(pages_quiet=_pages_quiet(facts, limits, read))
    seen = named_tables(facts, bounds, address_locks=address, last_pages=bool(heaps), heap_waits=many)
    most = _most_waited(facts, limits, heaps=bool(heaps))
    if most and all(table_key(one.scheme) != table_key(most.scheme) or one.little for one in seen):
        seen = [most, *(one for one in seen if table_key(one.scheme) != table_key(most.scheme))]
    named = [one for one in seen if not one.little]
    share = allpages_share(facts)
    yield from refusals
    if named:
        tables = [(one.scheme.database, one.scheme.table) for one in named[:NAMED]]
        finding = _by_name(facts, limits, waiting, hints, named)
        if most and any(table_key(one.scheme) == table_key(most.scheme) for one in named):
            finding = replace(finding, explains=(*finding.explains, "ase/lock_waits_high"))
        yield with_statements(finding, facts, tables, by_waits=True)
    elif seen and not waiting and not hints:
        yield _little(facts, seen)
    elif not waiting and not hints:
        yield from _nothing_waits(facts, limits, read, refusals, complete=None not in groups)
    elif none := no_allpages_tables(facts):
        said = ", ".join(
            [f"{group.percent:.1f} % of {group.what} waited" for group in waiting] or ["address locks wait"]
        )
        yield Clean(f"{said}, but the listing of lock schemes ({none.source}) has no user table with allpages")
    elif share is None:
        if told := by_switches(facts, limits.switches_percent, NAMES):
            yield told
        yield Unknown((*Unknown.of(RowsChanged).missing, *NAMES))
    elif isinstance(share, Untrusted):
        yield share
    elif share.percent < limits.allpages_percent or not share.changed:
        only = f"only {share.percent:.1f} % of {share.changed:.0f} changed rows are in allpages tables"
        why = "datapages tables take page locks too, and readers of allpages indexes address locks"
        yield Clean(f"{_said(waiting)}, but {only} (limit {limits.allpages_percent:g} %): {why}")
    else:
        known_by_name = _tables_known(facts)
        yield _finding(facts, limits, waiting, hints, share, NONE_NAMED if known_by_name else UNNAMED)
        if not known_by_name:
            yield Unknown(NAMES)


def _tables_known(facts: Facts) -> bool:
    """Whether lock waits by table, of the interval, and the lock schemes are in the export."""
    return bool(facts.every(TableScheme)) and any(
        one.of_interval and known(one.lock_waits) for one in facts.every(MonOpenObjectActivity)
    )


def _most_waited(facts: Facts, limits: Limits, *, heaps: bool) -> Table | None:
    """The table whose page locks most of the waiting tasks wait for; `None` where another cause is nearer.

    That is a single row that everybody changes, or a reader that keeps its locks: no lock scheme ends either. Without
    the types of the locks from sp_sysmon nothing says that pages are waited for.
    """
    waited, tables, kinds = waited_for(facts, "locks", LOCK_EVENTS), waiting_tables(facts), lock_kinds(facts)
    if not isinstance(waited, Waited) or not tables or tables[0].system or not kinds:
        return None
    first, pages = tables[0], sum(count for kind, count, _ in kinds if kind.endswith(" Page"))
    loud = of_tasks(waited, TaskLimits())
    if loud is None or first.share < limits.most_percent or 2 * first.waits < waited.waits:
        return None
    if 2 * pages < sum(count for _, count, _ in kinds) or readers_of(facts) or hot_row(facts, [first.row]):
        return None
    return by_most_waits(facts, first, heaps, limits.most_percent)


def _pages_quiet(facts: Facts, limits: Limits, read: list[Waits]) -> bool:
    """Whether sp_sysmon shows the page locks of the whole server, and next to nobody waits for one."""
    seconds, found = seconds_of(facts), [group for group in read if group.what in (PAGES, HEAPS)]
    waited = sum(group.waited for group in found)
    return len(found) == len((PAGES, HEAPS)) and bool(seconds) and waited / (seconds or 1.0) < limits.waits_per_second


def _little(facts: Facts, tables: list[Table]) -> Finding:
    """Tables with a large share of few waits: said, and nothing altered."""
    told = "; ".join(f"{one.name}: {one.why}, but {one.little}" for one in tables[:SAID])
    told += f"; and {len(tables) - SAID} more" if len(tables) > SAID else ""
    return Finding(
        subject=subject_of(facts),
        severity=Severity.NOTE,
        title=f"A large share of few lock requests waits: {tables[0].name}",
        seen=f"{told}.",
        do="Convert nothing for this: it is not worth the outage of a table, so no script is given.",
        unknown="How many wait in a second: two snapshots of monOpenObjectActivity at the busiest hour show it.",
        evidence=tuple(
            Evidence(f"{one.name}: {one.why}", one.value, one.unit, one.source, one.limit) for one in tables[:NAMED]
        ),
    )


def _said(waiting: list[Waits]) -> str:
    return ", ".join(f"{group.percent:.1f} % of {group.what} waited" for group in waiting) or "address locks wait"


def _nothing_waits(
    facts: Facts, limits: Limits, read: list[Waits], refusals: list[Untrusted], *, complete: bool
) -> Iterator[Outcome]:
    """Say what was looked at, or what is missing to look at anything."""
    if refusals:
        return
    figure = lock_figure(facts, "address")
    if facts.every(LockRequests) and not complete:
        yield Unknown.without("the whole Lock Management section", LockRequests.COLLECTED_BY)
    elif read:
        said = ", ".join(f"{group.waited:.0f} of {group.total:.0f} {group.what} waited" for group in read)
        yield Clean(f"{said} (limits {limits.waited_percent:g} % and {limits.waits_per_second:g} per second)")
    elif isinstance(figure, Figure):
        few = figure.too_few(limits.lookups_per_second)
        why = f"but {few}" if few else f"limits {limits.hash_percent:g} %, engines {limits.busy_percent:g} % busy"
        bound = spin_bound(facts, figure.lock)
        why = f"but {NOTHING_LOST}" if bound and bound.nothing and not few else why
        yield Clean(f"{figure.said}, {why}; and no table has lock waits")
    elif isinstance(figure, Untrusted):
        yield figure
    else:
        yield Unknown.of(LockRequests)


def _many(facts: Facts, limits: Limits, group: Waits) -> bool:
    seconds = seconds_of(facts)
    enough = not seconds or group.waited / seconds >= limits.waits_per_second
    return group.waited > 0 and group.percent >= limits.waited_percent and enough


def _hints(facts: Facts, limits: Limits) -> Iterator[Evidence]:
    """Contention for address locks that other sections show."""
    switches = facts.latest(TaskSwitches, cause="Address Lock Contention")
    part = switches.percent if switches else None
    if switches and known(part) and limits.switches_percent <= part <= 100:
        unit = "% of task switches"
        yield Evidence("address lock contention", part, unit, switches.source, limits.switches_percent)
    figure = lock_figure(facts, "address")
    if not isinstance(figure, Figure) or figure.too_few(limits.lookups_per_second):
        return
    quiet = refused(facts, figure.label, figure.contention, limits.hash_percent, busy_percent=limits.busy_percent)
    if not quiet and known(figure.contention) and not _costs_nothing(facts, figure):
        yield Evidence(HASH, figure.contention, "%", figure.source, limits.hash_percent)


def _costs_nothing(facts: Facts, figure: Figure) -> bool:
    """Whether nothing measurable is lost to the spinlocks, or a restart between the snapshots is not ruled out.

    The rule of the spinlock itself gives no more than a note then, and no table is altered for it.
    """
    bound = spin_bound(facts, figure.lock)
    return figure.undated or (bound is not None and bound.nothing)


def _by_name(facts: Facts, limits: Limits, waiting: list[Waits], hints: list[Evidence], named: list[Table]) -> Finding:
    """The tables themselves, each with its script."""
    evidence = [
        Evidence(f"{group.what} that waited", round(group.percent, 1), "%", group.source, limits.waited_percent)
        for group in waiting
    ] + hints
    tables = named[:NAMED]
    listed = "; ".join(f"{one.name} ({one.scheme.scheme}): {one.why}" for one in tables[:SAID])
    more = f"; {len(named) - SAID} more are over the limits" if len(named) > SAID else ""
    more += f", {len(named) - NAMED} of them to be looked at again after these" if len(named) > NAMED else ""
    address = bool(hints) or any(group.what == ADDRESSES for group in waiting)
    averaged = not any(one.of_interval for one in tables)
    spinning = any(one.metric == HASH for one in hints)
    worst = any(one.metric == HASH and isinstance(one.value, float) and one.value >= HASH_FIRST for one in hints)
    later = [one for one in tables if not one.waits and spinning and _ratio_first(facts, waiting)]
    changes = [
        _beside_ratio(change, one, worst) if spinning else change
        for one in tables
        if one not in later and (change := one.change(facts))
    ]
    more_locks = _more_locks(facts, limits) if any(change.new == "datarows" for change in changes) else None
    if scans := row_locks_caution(facts):
        changes = [replace(one, cautions=(*one.cautions, scans)) if one.new == "datarows" else one for one in changes]
    nameless = len(changes) + len(later) < len(tables)
    short = too_little(facts, LOCKS, more_locks.memory_mb) if more_locks else ""
    steps = conversions(facts, [one for one in tables if one not in later])
    ratio = _ratio_later(facts, later) if spinning and not worst and any(one.waits for one in tables) else ""
    do = joined(_first(facts, spinning and not ratio, later, more_locks, ratio), steps, "" if more_locks else ratio)
    if more_locks and short:
        changes = [change for change in changes if change.new != "datarows"]
        do = joined(
            f"{LOCKS} comes first: nearly all were in use, and {more_locks.new:,.0f} would be a first size.", short
        )
    elif more_locks:
        changes = [_after_locks(change, more_locks) if change.new == "datarows" else change for change in changes]
        changes.insert(0, more_locks)
    heap = any(one.to == "datarows" and one.scheme.scheme == "allpages" for one in tables)
    if heap:
        because = HEAP if facts.every(ObjectLockContention) else HEAP_COUNTED
    else:
        paths = {group.what for group in waiting} == {ADDRESSES}
        because = WHOLE_PAGES if any(one.waits for one in tables) and not paths else INDEX_PAGES
    locks = setting_of(facts, "number of locks")
    evidence += [Evidence(f"{one.name}: {one.why}", one.value, one.unit, one.source, one.limit) for one in tables]
    evidence += [Evidence(f"{one.name}: lock scheme", one.scheme.scheme, "", one.scheme.source) for one in tables]
    evidence += name_evidence(facts, [one.scheme.database for one in tables])
    if locks and locks.run_number is not None:
        evidence.append(Evidence("number of locks", locks.run_number, "", locks.source))
    if any(one.scheme.scheme == "allpages" for one in tables):
        evidence += latches_before(facts)
    first = tables[0]
    by_hand = first.waits and not any(one is not more_locks for one in changes)  # the ratio must not stand for it
    many = f"{len(tables)} tables" if len(tables) > 1 else first.name
    allpages = [one for one in tables if one.scheme.scheme == "allpages"]
    return Finding(
        subject=subject_of(facts),
        severity=Severity.ADVICE if averaged else Severity.WARNING,
        title=f"{many} should leave {'allpages' if allpages else 'datapages'} locking: {first.why}"
        if len(tables) == 1
        else f"{many} should leave {'allpages' if allpages else 'datapages'} locking, first {first.name}",
        seen=f"{listed}{more}.",
        because=because,
        do=do,
        unknown=joined(AVERAGED if averaged else "", NO_SCRIPT if nameless else ""),
        evidence=tuple(evidence),
        explains=("ase/address_lock_spinlock_contended",) if address and not by_hand else (),
        changes=tuple(changes),
        expects=(Expectation("address locks of a converted table", None, 0, "published"),) if address else (),
    )


def _sooner(facts: Facts) -> str:
    """Whether the ratio comes before any conversion: where it cannot be lowered, no more."""
    setting = setting_of(facts, RATIO)
    running = setting.run_number if setting else None
    return NO_LOWER.format(running) if running is not None and running <= 1 else SOONER


def _beside_ratio(change: Change, table: Table, worst: bool) -> Change:
    """A conversion beside the ratio: before it where the table's own locks are waited for, else only if it is not made.

    The ratio spreads the spinlocks of the address locks: it shortens no wait for a page lock, and what is converted
    takes no address locks any more. `worst`: those spinlocks are what is critical; a restart is cheaper than a copy.
    """
    ratio = (f"ase.config:{RATIO}",)
    return replace(change, before=ratio) if table.waits and not worst else replace(change, yields_to=ratio)


def _ratio_later(facts: Facts, later: list[Table]) -> str:
    """That the ratio comes after the conversions, as a sentence; empty where it cannot be lowered."""
    setting = setting_of(facts, RATIO)
    running = setting.run_number if setting else None
    if running is not None and running <= 1:
        return ""
    return f"{AFTER}{_without_script(later)}."


def _without_script(later: list[Table]) -> str:
    """That these tables get no script before the ratio was lowered, as the end of a sentence."""
    which = later[0].name if len(later) == 1 else f"the {len(later)} tables"
    return f"; no script for {which} named by index pages alone{RATIO_FIRST}" if later else ""


def _first(facts: Facts, spinning: bool, later: list[Table], more_locks: Change | None, ratio: str) -> str:
    """What comes before any conversion, as a sentence; empty where nothing does.

    `spinning`: whether the spinlocks of the address locks contend, which alone the ratio reduces, and nobody waits for
    the locks themselves. `later`: the tables that get no script before the ratio was lowered. `ratio`: what is said of
    the ratio where it comes after the conversions.
    """
    setting = setting_of(facts, RATIO)
    running = setting.run_number if setting else None
    lowest = running is not None and running <= 1
    if spinning and lowest and not more_locks:
        return NO_LOWER.format(running)
    steps = [f"lower {RATIO}"] if spinning and not lowest else []
    if more_locks:
        steps.append(f"raise {LOCKS}, as nearly all were in use and an operation that finds none fails")
    end = f"; {within(ratio)[:-1]}" if ratio else _without_script(later)
    return f"First {', and '.join(steps)}{end}." if steps else ""


def _more_locks(facts: Facts, limits: Limits) -> Change | None:
    """Twice the locks that were in use at most, where few were free; `None` elsewhere."""
    setting, usage = setting_of(facts, LOCKS), facts.latest(ResourceUsage, name=LOCKS)
    running = setting.run_number if setting else None
    used = [one for one in (usage.active, usage.max_used) if known(one)] if usage else []
    if not running or not used or 100.0 * max(used) < limits.locks_percent * running or max(used) > running:
        return None
    return more_locks(setting, running, max(used))


def _after_locks(change: Change, locks: Change) -> Change:
    """A conversion to row locks that waits for more locks."""
    return replace(change, needs=(*change.needs, locks.key), after=(*change.after, locks.key))


def _ratio_first(facts: Facts, waiting: list[Waits]) -> bool:
    """Whether only the spinlocks of the address locks contend, and their ratio may still be lowered."""
    if any(group.what == ADDRESSES for group in waiting):
        return False
    setting = setting_of(facts, RATIO)
    running = setting.run_number if setting else None
    return running is None or running > LOWEST


def _finding(
    facts: Facts, limits: Limits, waiting: list[Waits], hints: list[Evidence], share: Share, unnamed: str
) -> Finding:
    evidence = [
        Evidence(f"{group.what} that waited", round(group.percent, 1), "%", group.source, limits.waited_percent)
        for group in waiting
    ] + hints
    first = max(evidence[: len(waiting)], key=lambda one: one.value, default=evidence[0])
    said = "; ".join(f"{seen.metric}: {seen.value:g} {seen.unit}" for seen in evidence)
    pages_alone = not hints and [group.what for group in waiting] == [PAGES]
    heaps = any(group.what == HEAPS for group in waiting)
    address = bool(hints) or any(group.what == ADDRESSES for group in waiting)
    evidence.append(
        Evidence("changed rows in allpages tables", round(share.percent, 1), "%", share.source, limits.allpages_percent)
    )
    locks = setting_of(facts, "number of locks")
    if locks and locks.run_number is not None:
        evidence.append(Evidence("number of locks", locks.run_number, "", locks.source))
    evidence += latches_before(facts)
    loud = bool(hints) or any(group.percent >= limits.loud_percent for group in waiting)
    many = any(group.what == HEAPS and group.percent >= limits.loud_percent for group in waiting)
    heap = only_heap(facts) if many and unnamed == UNNAMED else None
    return Finding(
        subject=subject_of(facts),
        severity=Severity.WARNING if loud else Severity.ADVICE,
        title=f"Tasks wait for allpages tables: {first.metric} {first.value:g} {first.unit}"
        + (f"; the only one listed is {heap.name}" if heap else ""),
        seen=f"{capitalized(said)}; {share.percent:.3g} % of the changed rows are in allpages tables.",
        because=HEAP if heaps else INDEX_PAGES if address else WHOLE_PAGES,
        do=joined(
            _sooner(facts) if any(one.metric == HASH for one in hints) else "",
            heap.step if heap else TO_DATAROWS if heaps else TO_DATAPAGES,
        ),
        unknown=joined(unnamed, TOO_PAGES if pages_alone else ""),
        evidence=tuple(evidence),
        explains=(
            *(("ase/address_lock_spinlock_contended",) if address else ()),
            *(("ase/lock_waits_high",) if _mostly_heaps(facts, waiting) else ()),
        ),
        changes=_routes(heaps),
        expects=(Expectation("address locks of a converted table", None, 0, "published"),) if address else (),
    )


def _mostly_heaps(facts: Facts, waiting: list[Waits]) -> bool:
    """Whether half of all lock waits that sp_sysmon counts are for last pages of heaps, which no index shortens."""
    every = sum(count for _, count, _ in lock_kinds(facts))
    return 2 * sum(group.waited for group in waiting if group.what == HEAPS) >= every > 0


def _routes(heaps: bool) -> tuple[Change, ...]:
    """Templates: no export named a table, so nothing here can be run."""
    if heaps:
        return (lock_scheme_template("allpages", "datarows"),)
    later = ("Only where 15 % of a table's requests still wait with datapages.",)
    return (lock_scheme_template("allpages", "datapages"), lock_scheme_template("datapages", "datarows", later))
