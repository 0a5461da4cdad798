"""User log caches are flushed because they are full.

Finds: more than a fifth of the flushes of user log caches by Full ULC (sp_sysmon, Transaction Management), at a rate
that counts.

Why it matters: each task collects its log records in a cache of its own and appends them to the transaction log in one
go. A cache that fills up before its transaction ends is flushed early, so the task asks for the end of the log, the one
place where all tasks of a database meet, more often than once a transaction. Of minimally logged changes a full cache
also costs the minimal logging.

What to do: a larger `user log cache size`, as large as nine of ten commits need by `monProcessActivity`; where that was
not collected, twice the size, or four times where a transaction fills two by the flushes of sp_sysmon, as a first step
of this project. The vendor's rule is not to make it larger than what a transaction writes. It is static, and each
configured user connection and worker process has one, so the memory is said. It is scripted only where tasks wait for
the log, as each flush that comes too early is one request more for its semaphore: a tenth of these requests tells it
(practice), and where most flushes are of full caches also a tenth of all task switches that is a large part of those
that something held up. Below that it would be a restart for nothing that anybody feels, so the size is said for one
that is due anyway: as advice where full caches make most flushes and some requests wait, else as a note. Where the data
and log of a database share a device (`sysusages`), the log comes onto devices of its own first.

When to ignore it: a few large transactions, as of a load, fill any cache. Flushes by end of transaction are as they
should be. sp_sysmon does not tell flushes of temporary databases apart, whose log caches have a size of their own
(`session tempdb log cache size`; sites use 16 to 64 KB): so no size for it is scripted.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from collectors.facts import Facts, known
from collectors.facts.ase import MonProcessActivity, UserLogCacheFlushes
from rules.ase._evidence.caches.memory import free_evidence
from rules.ase._evidence.log.cache_size import SIZE_FACTS, Larger, larger
from rules.ase._evidence.log.committers import MOST
from rules.ase._evidence.log.flushes import FLUSH_FACTS, FULL, Flushes, FlushLimits, LogWaited, flushes_of, log_waited
from rules.ase._evidence.log.levers import FULL_ORIGIN, FULL_PERCENT
from rules.ase._evidence.log.mixed import MIXED_FACTS, mixed_evidence, mixed_logs, separate_first
from rules.ase._evidence.objects.sessions import Session, programs_of, say_spids
from rules.ase._evidence.server import level_reached, subject_of
from rules.ase._evidence.waits.events import LOG_WRITES
from rules.ase._evidence.waits.switches import SWITCH_FACTS, Switches, switches_of
from rules.ase._evidence.waits.tasks import WAIT_FACTS, Waited, waited_for
from rules.ase._evidence.waits.verdict import HELD_ORIGIN, HELD_PERCENT, TASKS, TASKS_ORIGIN
from rules.engine import limit, percent, rule
from rules.finding import Clean, Finding, MissingInput, Outcome, Severity, Unknown, joined

LINKS = (
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc00842.1570/html/spsysmon/spsysmon124.htm",
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc31644.1600/doc/html/san1371158585271.html",
)
EARLY = (
    "A cache that fills up before its transaction ends asks for the end of the log more often than once a transaction."
)
MINIMALLY = "{0:.0f} % of all flushes are of minimally logged changes in full caches, which lose that logging (vendor)."
WAITED = "and {0:.1f} % of the requests for the log had to wait, so fewer flushes would be felt"
HELD = "and {0:.0f} % of the task switches that something held up wait for the log, so fewer flushes would be felt"
SEMAPHORE = "Log Semaphore Contention"
QUIET = (
    "Where a restart is due for another reason, a larger user log cache size is a step; by itself it is worth no "
    "restart."
)
QUIET_STEP = (
    "Where a restart is due for another reason, raise the user log cache size with it from {0:,.0f} to {1:,.0f} bytes "
    "({2:,.1f} MB more; {0:,.0f} is the way back): by itself it is worth no restart."
)
UNKNOWN = (
    "Whether a few large transactions fill them is not in these exports: two snapshots of monProcessActivity have what "
    "each session writes."
)
FILLERS = (
    "Since their logins {0:.0f} % of the flushes of {1}, SPID {2}, were of full caches, {3:.0f} % of all such that are "
    "listed; what a transaction writes two snapshots of monProcessActivity show."
)
"""By a single listing."""
TEMPORARY = (
    "sp_sysmon does not tell flushes of temporary databases apart: their log caches have a size of their own, session "
    "tempdb log cache size (static; sites use 16 to 64 KB)."
)
BYTES_MISSING = MissingInput("how many bytes a transaction writes to its log cache", MonProcessActivity.COLLECTED_BY)


@dataclass(frozen=True)
class Limits(FlushLimits):
    """`FlushLimits`, and from which share on caches fill up too early."""

    full_percent: float = percent(FULL_PERCENT, FULL_ORIGIN)
    log_waited_percent: float = percent(
        10.0,
        "practice: 10 % of the requests for the log (rukav/Sysmon); nothing says the vendor's tests had full caches",
    )
    log_waits_per_second: float = limit(10.0, "this project: fewer waits are no bottleneck", unit="waits/s")
    most_percent: float = percent(50.0, "this project: full caches make most of the requests for the log from here on")
    switches_percent: float = percent(10.0, "practice: one cause of a tenth of all task switches (rukav/Sysmon)")
    held_percent: float = percent(HELD_PERCENT, HELD_ORIGIN)
    tasks: float = limit(TASKS, TASKS_ORIGIN, unit="tasks")


@rule(
    needs=(UserLogCacheFlushes,),
    uses=(*FLUSH_FACTS, *SIZE_FACTS, *MIXED_FACTS, *SWITCH_FACTS, *WAIT_FACTS),
    links=LINKS,
    limits=Limits,
)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Hold the flushes by Full ULC against all flushes."""
    flushes = flushes_of(facts)
    if not isinstance(flushes, Flushes):
        yield flushes
        return
    full = flushes.by(FULL)
    if not full or not all(known(row.count) for row in full):
        yield Unknown.of(UserLogCacheFlushes)
        return
    share, rate = flushes.percent(full), flushes.rate(full)
    said = f"{share:.1f} % of the flushes of user log caches are by Full ULC" + (
        f", {rate:,.1f} a second" if rate is not None else ""
    )
    if share <= limits.full_percent or (rate is not None and rate < limits.per_second):
        yield Clean(f"{said} (limits {limits.full_percent:g} % and {limits.per_second:g} a second)")
        return
    yield from _finding(facts, limits, flushes, full)


def _felt(waited: LogWaited, limits: Limits, seconds: float | None) -> bool:
    """Whether so many requests for the log wait that fewer flushes would be felt; `seconds`: length of the sample."""
    return waited.percent >= limits.log_waited_percent and not _few(waited, limits, seconds)


def _few(waited: LogWaited, limits: Limits, seconds: float | None) -> bool:
    """Whether too few requests for the log wait to matter."""
    many = known(waited.row.waited) and waited.row.waited >= limits.log_waits_per_second * (seconds or 0.0)
    return bool(seconds) and not many


def _held_up(facts: Facts, limits: Limits, share: float) -> Switches | None:
    """The task switches for the log, where full caches make most flushes and these waits are what holds tasks up."""
    switches = switches_of(facts, SEMAPHORE)
    if share < limits.most_percent or not isinstance(switches, Switches) or switches.held_percent is None:
        return None
    log = waited_for(facts, "writes of the last log page", LOG_WRITES)
    if isinstance(log, Waited) and not log.unsure and log.tasks < limits.tasks:
        return None  # the time that was counted says more than how often tasks sleep
    few = switches.per_second is None or switches.per_second < limits.log_waits_per_second
    large = switches.percent >= limits.switches_percent and switches.held_percent >= limits.held_percent
    return switches if large and not few else None


def _fillers(facts: Facts) -> str:
    """Whose sessions flushed most of the full caches, by a single listing that names them; empty where none does."""
    rows: dict[Session, MonProcessActivity] = {
        (row.spid, row.kpid): row for row in facts.every(MonProcessActivity) if not row.of_interval
    }
    found = programs_of(facts, list(rows), who={key: row for key, row in rows.items() if row.application or row.login})
    full = {key: float(row.ulc_flushes_full) for key, row in rows.items() if known(row.ulc_flushes_full)}
    most = max(found, key=lambda one: sum(full.get(key, 0.0) for key in one.sessions), default=None)
    if most is None:
        return ""
    own, whole = sum(full.get(key, 0.0) for key in most.sessions), sum(full.values())
    flushes = sum(count for key in most.sessions if known(count := rows[key].ulc_flushes))
    if not 0 < own <= flushes or own < MOST * whole:
        return ""
    return FILLERS.format(100 * own / flushes, most.name, say_spids(most.sessions), 100 * own / whole)


def _quiet(size: Larger) -> Larger:
    """The same size in words alone, where nobody waits for the log: no restart is asked for it."""
    change = size.change
    if change is None or isinstance(change.old, str) or isinstance(change.new, str) or not change.old or not change.new:
        return replace(size, do=size.do if size.stays else QUIET, change=None, missing=False)
    return replace(size, do=QUIET_STEP.format(change.old, change.new, change.memory_mb), change=None, missing=False)


def _finding(
    facts: Facts, limits: Limits, flushes: Flushes, full: tuple[UserLogCacheFlushes, ...]
) -> Iterator[Outcome]:
    share, rate = flushes.percent(full), flushes.rate(full)
    waited, mixed = log_waited(facts), mixed_logs(facts)
    by_share = waited is not None and _felt(waited, limits, flushes.seconds)
    held = None if by_share else _held_up(facts, limits, share)
    felt = by_share or held is not None
    size = Larger(do=separate_first(mixed)) if mixed else larger(facts)
    if not felt and not mixed:
        size = _quiet(size)
    some = waited is not None and share >= limits.most_percent and not _few(waited, limits, flushes.seconds)
    minimal = flushes.percent(flushes.by(FULL, minimal=True))
    tells_apart = level_reached(facts, "15.0.2") is not False and minimal >= limits.full_percent
    yield Finding(
        subject=subject_of(facts),
        severity=Severity.ADVICE if felt or some else Severity.NOTE,
        title=f"{share:.0f} % of the flushes of user log caches come too early: the cache was full",
        seen=f"{share:.1f} % of the flushes are by Full ULC"
        + (f", {rate:,.0f} a second" if rate is not None else "")
        + (
            f", {HELD.format(held.held_percent)}."
            if held
            else f", {WAITED.format(waited.percent)}."
            if felt and waited
            else "."
        ),
        because=joined(EARLY, MINIMALLY.format(minimal) if minimal >= limits.full_percent else ""),
        do=size.do,
        unknown=joined((_fillers(facts) or UNKNOWN) if size.missing else "", TEMPORARY if tells_apart else ""),
        evidence=(
            *flushes.evidence("by Full ULC", full, limits.full_percent, limits.per_second),
            *((waited.evidence,) if waited else ()),
            *((held.held_evidence(limits.held_percent),) if held else ()),
            *size.evidence,
            *mixed_evidence(mixed),
            *(free_evidence(facts) if felt and not mixed and size.change is None else ()),
        ),
        changes=(size.change,) if size.change else (),
        explains=("ase/log_semaphore_contended",) if felt else (),
    )
    if size.missing:
        yield Unknown((BYTES_MISSING,))
