"""The log I/O size does not fit how the log is written.

Finds: a busy log whose log I/O size its cache has no pool of, and large I/Os denied to that cache for it. And one
(sp_sysmon, Transaction Management) of which each page is written more than once, by `Avg # Writes per Log Page`:
slightly above 1, or well above it. Of a log with few commits: writes larger than the vendor's 4K beside tasks that
sleep until somebody fills and writes the page (`Group Commit Sleeps`), where a commit logs less than half of such a
write.

Why it matters: a page of the log that is not full when a transaction ends is written again with the next one. The log
I/O size decides how many pages go in one write, and a task that waits for it holds its locks meanwhile.

What to do: by the vendor a larger log I/O size where the log writes much and the figure is slightly above 1, a smaller
one where it is well above 1. `sp_logiosize` in the database shows the size in force (4K unless somebody set it) and
sets it; it is dynamic, and the cache of the log needs a pool of that size: where the size in force was printed, twice
that is advised with its commands, and the pool first if there is none. Where there is none of the size in force, that
comes before everything. A size below the vendor's 4K, for want of a pool in a cache of logs alone, is made 4K however
near 1 the figure is, where a tenth of the requests for the log waits, or its writes are a third of what holds tasks up:
both commands are dynamic. The report adds up all databases: which one writes most of the log is known where
monOpenObjectActivity shows syslogs (trace flag 3650); else the one database of users is named whose log has a cache of
its own, or whose size was asked for.

When to ignore it: where nobody waits for the log; then it is a note. So is a smaller size whose present one was not
printed: where it is one page of the server, there is nothing smaller. Where the cache of the log has pages of one
size alone, as a busy server with short transactions may well have, nothing is said of one. Below 1 several pages go in
one write, as they should. Where the two rows above it do not give the printed average, nothing is said.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import OVERFLOW, Facts, known
from collectors.facts.ase import (
    BindingList,
    CacheBinding,
    CachePool,
    LogIoSize,
    LogWrites,
    MonCachePool,
    MonOpenObjectActivity,
    NamedCache,
    SemaphoreRequests,
    Server,
    SysmonSample,
)
from rules.ase._evidence.caches.figures import kind_of, named_of, pool_kb, pools_of
from rules.ase._evidence.log.flushes import LOG_WAITED_PERCENT, log_waited
from rules.ase._evidence.log.levers import WELL_ABOVE, fast_device, only_pool
from rules.ase._evidence.log.unserved import POOL_SHARE, UNSERVED_FACTS, Unserved, cache_of_log, unserved
from rules.ase._evidence.log.waiting import only_log
from rules.ase._evidence.objects.seen import activity
from rules.ase._evidence.server import page_kb, subject_of
from rules.ase._evidence.waits.events import LOG_WRITES
from rules.ase._evidence.waits.switches import SWITCH_FACTS, Switches, switches_of
from rules.ase._evidence.waits.tasks import WAIT_FACTS, Waited, waited_for
from rules.ase._evidence.waits.verdict import (
    RATE_ORIGIN,
    SHARE_ORIGIN,
    SHARE_PERCENT,
    SWITCHES_ORIGIN,
    SWITCHES_PER_SECOND,
    SWITCHES_PERCENT,
    TASKS,
    TASKS_ORIGIN,
)
from rules.changes.ase_binding import why_not_database
from rules.changes.ase_cache import add_pool
from rules.changes.ase_log import log_io_size, set_log_io_size
from rules.changes.quoting import comment
from rules.engine import limit, percent, rule
from rules.finding import Change, Clean, Evidence, Finding, Outcome, Severity, Unknown, Untrusted, capitalized, joined

LINKS = (
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc00842.1570/html/spsysmon/X94488.htm",
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc00842.1570/html/spsysmon/X87661.htm",
)
APART = 0.1
"""This project: how far the printed average may be from what its rows give, as a share of it."""
NO_DATABASE = (
    "Which database it is, is not in these exports: monOpenDatabases or two snapshots of monOpenObjectActivity with "
    "trace flag 3650 on show it."
)
ONLY = (
    "That {0} writes most of the log is not in these exports, only that its log alone was set apart or asked for: "
    "monOpenDatabases shows it."
)
MOST_PAGES = 8.0
"""Vendor: the largest I/O is eight logical pages."""
DEFAULT_KB = 4.0
"""Vendor: the log I/O size of a database where nobody set another, and its cache has the pool."""
FILLED = 0.5
"""This project: a commit that logs less than half of what one write takes does not fill it."""
LAST_PAGE = "Last Log Page Writes"
SLEEPS = "Group Commit Sleeps"
SMALLEST = "The size in force is not in these exports: where it is one page of the server, there is no smaller one."


@dataclass(frozen=True)
class Limits:
    """How busy the log must be, and how often a page must be written."""

    writes_per_second: float = limit(100.0, "this project: the vendor says a high rate and gives none", unit="/s")
    above_one: float = limit(1.05, "this project: what is slightly above 1 (vendor), beyond rounding", low=1.0)
    slightly: float = limit(1.5, "this project: up to where it is slightly above 1 (vendor)", low=1.0)
    well: float = limit(WELL_ABOVE, "this project: from where it is well above 1 (vendor)", low=1.0)
    log_waited_percent: float = percent(
        LOG_WAITED_PERCENT,
        "vendor: its tests kept very high rates with 20 to 30 % waiting for the log semaphore (sp_sysmon guide 15.0.2)",
    )
    default_waited_percent: float = percent(
        10.0,
        "this project: half of the vendor's 20 %, where the size is below its default and the cure needs no restart",
    )
    default_held_percent: float = percent(
        100.0 / 3, "this project: a third of the task switches that something held up, where the cure needs no restart"
    )
    low_commits: float = limit(
        200.0,
        "this project: at a low rate a smaller size helps against group commit sleeps (vendor, no figure)",
        unit="/s",
    )
    sleeps_percent: float = percent(SWITCHES_PERCENT, SWITCHES_ORIGIN)
    sleeps_per_second: float = limit(SWITCHES_PER_SECOND, RATE_ORIGIN, unit="waits/s")
    tasks: float = limit(TASKS, TASKS_ORIGIN, unit="tasks")
    share_percent: float = percent(SHARE_PERCENT, SHARE_ORIGIN)


@rule(
    needs=(LogWrites,),
    uses=(
        *(LogWrites, SysmonSample, SemaphoreRequests, MonOpenObjectActivity, CacheBinding, BindingList, NamedCache),
        *(CachePool, MonCachePool, LogIoSize, Server, *WAIT_FACTS, *SWITCH_FACTS, *UNSERVED_FACTS),
    ),
    links=LINKS,
    limits=Limits,
)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Hold the writes of each page against 1."""
    row = facts.every(LogWrites)[-1]
    figures = (row.count, row.pages, row.per_page, row.per_second)
    if OVERFLOW in figures or any(known(figure) and figure < 0 for figure in figures):
        yield Untrusted("writes of the log: a figure is negative or printed as asterisks")
        return
    if not known(row.count) or not known(row.pages) or not known(row.per_second):
        yield Unknown.of(LogWrites)
        return
    if not row.pages:
        yield Clean("no page of a log was allocated in the sample")
        return
    each = row.count / row.pages
    if known(row.per_page) and abs(row.per_page - each) > APART * max(row.per_page, each):
        yield Untrusted(f"{row.count:,.0f} writes of {row.pages:,.0f} pages are {each:.2f} each, not {row.per_page:g}")
        return
    said = f"{each:.2f} writes for each page of the log, {row.per_second:,.1f} writes a second"
    if row.per_second >= limits.writes_per_second and (lacking := unserved(facts)):
        yield _without_pool(facts, limits, lacking, said)
        return
    below = each <= limits.slightly and _below_default(facts, limits)
    if each >= limits.well and (sleeps := _sleeps(facts, limits, row.pages)):
        yield _finding(facts, limits, row, each, said, sleeps=sleeps)
    elif limits.writes_per_second <= row.per_second and each <= limits.above_one and below:
        yield _finding(facts, limits, row, each, said, below=below)
    elif row.per_second < limits.writes_per_second or each <= limits.above_one:
        most = f"limits {limits.above_one:g} and {limits.writes_per_second:g} a second"
        yield Clean(f"{said} ({most})")
    elif each > limits.slightly and (only := only_pool(facts)):
        yield Clean(f"{said}: {only}, so there is no smaller log I/O size to try")
    elif limits.slightly < each < limits.well:
        yield Clean(f"{said}: neither slightly nor well above 1, so no direction is known")
    else:
        yield _finding(facts, limits, row, each, said, below=below)


def _without_pool(facts: Facts, limits: Limits, lacking: Unserved, said: str) -> Finding:
    """The size in force is not used: advice where tasks wait for the log, however fast its device is."""
    felt, evidence = _felt(facts, limits, whatever_device=True)
    return Finding(
        subject=subject_of(facts),
        severity=Severity.ADVICE if felt else Severity.NOTE,
        title=lacking.title,
        seen=joined(lacking.seen, f"{capitalized(said)}."),
        because="A log I/O size of which its cache has no pool is not used: more writes than asked for.",
        do=lacking.do,
        evidence=(*lacking.evidence, *evidence),
        changes=(lacking.change,) if felt else (),
    )


def _finding(
    facts: Facts,
    limits: Limits,
    row: LogWrites,
    each: float,
    said: str,
    *,
    sleeps: "Sleeps | None" = None,
    below: bool = False,
) -> Finding:
    larger = each <= limits.slightly
    rate = row.per_second if known(row.per_second) else 0.0
    felt, evidence = _felt(facts, limits)
    felt = felt or below or sleeps is not None
    database = _busiest(facts)
    only = None if database else only_log(facts)
    name = database[0] if database else only
    cache, pools = _pools(facts, name) if name else ("", "")
    size = "larger" if larger else "smaller"
    resized = (_doubled if larger else _smaller)(facts, name, cache) if name else None
    if resized:
        changes: tuple[Change, ...] = resized.changes
        do = resized.says
    else:
        change = log_io_size(name, larger=larger, pools=pools) if name and felt else None
        changes = (change,) if change else ()
        where = comment(name) if name else "the database that writes most of the log"
        how = f"its log is in {cache}: {pools}" if name else "the cache of its log needs a pool of that size"
        do = f"Look at the log I/O size of {where} (sp_logiosize, in the database) and try a {size} one: sp_logiosize "
        do += f'"<KB>", dynamic; {how}.'
    return Finding(
        subject=subject_of(facts),
        severity=Severity.ADVICE if felt and (larger or resized) else Severity.NOTE,
        title=(
            "The log is written a page at a time for want of a pool: a larger log I/O size is to be tried"
            if below
            else f"Each page of the log is written {each:.2f} times: a {size} log I/O size is to be tried"
        )
        + (f" in {comment(name)}, {resized.change.new} in place of {resized.change.old}" if resized and name else ""),
        seen=joined(f"{said}{resized.seen if resized else ''}.", sleeps.says if sleeps else ""),
        because="Vendor: the log I/O size is 4K wherever its cache has a pool of that; without one each page of the "
        "log is a write of its own."
        if below
        else "A page that is not full when a transaction ends is written again with the next one; "
        + (
            "slightly above one write a page more pages go in one larger write."
            if larger
            else "well above one write a page a large write carries pages that are not full."
        ),
        do=do,
        unknown=joined(
            "" if larger or resized else SMALLEST,
            "" if database else ONLY.format(comment(only)) if only else NO_DATABASE,
        ),
        evidence=(
            Evidence(
                "writes for each page of the log",
                round(each, 2),
                "",
                row.source,
                limits.well if sleeps else None if below else limits.above_one,
            ),
            Evidence("writes of the log", rate, "/s", row.source, None if sleeps else limits.writes_per_second),
            *evidence,
            *((sleeps.evidence,) if sleeps else ()),
            *((resized.evidence,) if resized else ()),
        ),
        changes=changes if felt else (),
        explains=("ase/log_semaphore_contended",) if resized and larger and felt else (),
    )


@dataclass(frozen=True)
class Resized:
    """Another log I/O size than the one in force, of which the cache of the log has a pool or gets one."""

    says: str
    seen: str
    changes: tuple[Change, ...]
    evidence: Evidence

    @property
    def change(self) -> Change:
        """That of the size itself, after any pool."""
        return self.changes[-1]


@dataclass(frozen=True)
class Sleeps:
    """That few commits sleep until somebody writes the page, beside writes larger than what one of them logs."""

    says: str
    evidence: Evidence


def _doubled(facts: Facts, database: str, cache: str) -> Resized | None:
    """The larger size in exact words, where the size in force was printed and the pools of the cache are known."""
    said, pools = facts.latest(LogIoSize, database=database), pools_of(facts, cache)
    kilobytes = {pool.io_size_kb: (pool_kb(pool) or 0.0) / 1024 for pool in pools}
    if (
        said is None
        or not pools
        or said.kilobytes not in kilobytes
        or said.kilobytes * 2 > MOST_PAGES * pools[0].io_size_kb
    ):
        return None
    new = said.kilobytes * 2
    made: tuple[Change, ...] = ()
    first = ""
    if new not in kilobytes:
        whole, mb = kilobytes[pools[0].io_size_kb], int(kilobytes[pools[0].io_size_kb] * POOL_SHARE)
        if kind_of(named_of(facts, cache)) != "log" or mb < 1:
            return None  # of a cache that holds more than a log, how much may go is for a person to say
        made = (add_pool(cache, new, mb, whole),)
        first = f'Give {cache} a pool for it first: sp_poolconfig "{cache}", "{mb}M", "{new:g}K"; then, '
    order = f'n {comment(database)}, sp_logiosize "{new:g}"'
    return Resized(
        f"{first}i{order}. Both are dynamic: measure again." if first else f"I{order}, dynamic: measure again.",
        f"; the log of {comment(database)} goes in writes of {said.kilobytes:g} KB at most, from {cache}",
        (*made, set_log_io_size(database, said.kilobytes, new)),
        Evidence(f"log I/O size of {comment(database)}", said.kilobytes, "KB", said.source),
    )


def _below_default(facts: Facts, limits: Limits) -> bool:
    """Whether the one log is written in less than the vendor's default for want of a pool, and tasks wait for it."""
    name, waited = (_busiest(facts) or (only_log(facts), 0.0))[0], log_waited(facts)
    said = facts.latest(LogIoSize, database=name) if name else None
    queued = waited is not None and waited.percent >= limits.default_waited_percent
    if name is None or said is None or not (queued or _held_up(facts, limits)):
        return False
    resized = _doubled(facts, name, cache_of_log(facts, name)) if said.kilobytes < DEFAULT_KB else None
    return resized is not None and len(resized.changes) > 1


def _held_up(facts: Facts, limits: Limits) -> bool:
    """Whether writes of the last log page are the most of what holds tasks up, by the task switches."""
    switches = switches_of(facts, LAST_PAGE)
    if not isinstance(switches, Switches) or switches.held_percent is None or switches.per_second is None:
        return False
    return switches.held_percent >= limits.default_held_percent and switches.per_second >= limits.writes_per_second


def _smaller(facts: Facts, database: str, cache: str) -> Resized | None:
    """The vendor's default in place of a larger size that is in force, else one page; both of pools that are there."""
    said, pools = facts.latest(LogIoSize, database=database), [one.io_size_kb for one in pools_of(facts, cache)]
    if said is None or said.kilobytes not in pools or said.kilobytes <= max(DEFAULT_KB, pools[0]):
        return None
    new = DEFAULT_KB if DEFAULT_KB in pools else pools[0]
    return Resized(
        f'In {comment(database)}, sp_logiosize "{new:g}", dynamic; {cache} has the pool. Measure again.',
        f"; the log of {comment(database)} goes in writes of {said.kilobytes:g} KB at most, from {cache}",
        (set_log_io_size(database, said.kilobytes, new),),
        Evidence(f"log I/O size of {comment(database)}", said.kilobytes, "KB", said.source),
    )


def _sleeps(facts: Facts, limits: Limits, pages: float) -> Sleeps | None:
    """Group commit sleeps where commits are few and small beside the size in force, and a smaller one can be named."""
    name = (_busiest(facts) or (only_log(facts), 0.0))[0]
    said = facts.latest(LogIoSize, database=name) if name else None
    page, sample = page_kb(facts), facts.latest(SysmonSample)
    slept = switches_of(facts, SLEEPS)
    if said is None or name is None or page is None or sample is None or not isinstance(slept, Switches):
        return None
    commits = sample.committed_xacts
    if not known(commits) or commits <= 0 or not sample.seconds or not _smaller(facts, name, _pools(facts, name)[0]):
        return None
    rate, logged = commits / sample.seconds, pages * page / commits
    few = rate < limits.low_commits and logged < FILLED * said.kilobytes
    often = slept.percent >= limits.sleeps_percent and (slept.per_second or 0.0) >= limits.sleeps_per_second
    if not few or not often:
        return None
    return Sleeps(
        f"{rate:,.0f} commits a second log {logged:.1f} KB each; "
        f"{SLEEPS} are {slept.percent:g} % of all task switches.",
        slept.evidence(limits.sleeps_percent),
    )


def _felt(facts: Facts, limits: Limits, *, whatever_device: bool = False) -> tuple[bool, list[Evidence]]:
    """Whether tasks wait for the log, with the figures that say so; not for writes that could hardly be faster."""
    semaphore, log = log_waited(facts), waited_for(facts, "writes of the last log page", LOG_WRITES)
    felt = semaphore is not None and semaphore.percent >= limits.log_waited_percent
    evidence = [semaphore.evidence] if semaphore else []
    if isinstance(log, Waited) and not log.unsure:
        slow = whatever_device or not fast_device(facts)
        felt = felt or (slow and log.tasks >= limits.tasks and log.percent >= limits.share_percent)
        evidence += log.evidence(limits.tasks, limits.share_percent)
    return felt, evidence


def _busiest(facts: Facts) -> tuple[str, float] | None:
    """The database of users whose log was written most, where system tables were counted."""
    written: dict[str, float] = {}
    for one in activity(facts):
        if (
            (one.object_name or "").lower() == "syslogs"
            and one.database
            and known(one.pages_written)
            and one.of_interval
        ):
            written[one.database] = written.get(one.database, 0.0) + one.pages_written
    users = [(name, pages) for name, pages in written.items() if pages > 0 and not why_not_database(name)]
    return max(users, key=lambda one: one[1], default=None)


def _pools(facts: Facts, database: str) -> tuple[str, str]:
    """The cache of a database's log, and its pools in words."""
    cache = cache_of_log(facts, database)
    sizes = ", ".join(f"{pool.io_size_kb:g}K" for pool in pools_of(facts, cache))
    return cache, f"pools of {sizes}" if sizes else "its pools are not in the export"
