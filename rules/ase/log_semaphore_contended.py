"""Tasks wait for the end of a transaction log.

Finds: requests for the log semaphore that had to wait, by their own share or as a share of all task switches; and the
same of the user log caches.

Why it matters: only one task at a time appends to the log of a database. Tasks that commit often, flush their user log
cache early, or wait for a slow log device queue there, and no number of engines shortens that queue. It is a semaphore:
tasks sleep, they do not spin.

What to do: where each of many transactions changes a row or two, put many changes into one: each commit writes the
last page of the log anew. Else look at why user log caches are flushed (Transaction Management in sp_sysmon): filled
ones ask for a larger `user log cache size`, many small transactions for fewer commits. Then the latency of the log
device, a log cache of its own, and delayed commit where losing the last moment is allowed. Asynchronous log service is
named only where the server takes it: four engines or more, and on 16.0 and later only with a `user log cache queue
size` of 0 (message 17198). It comes first before 16.0, where the log is very contended and its device is fast, and
neither small transactions nor full user log caches explain that. Who waits for the log is named by monProcess.

How loud it is: by the share of requests that waited; where the tasks that wait for writes of the log are counted, by
them as well, as for locks and latches: critical from one in three of the tasks that wait or run.

When to ignore it: the vendor's own tests ran at very high rates with 20 to 30 % of the requests waiting, so less is in
order whatever its part of the task switches: that part says how often tasks sleep for it, not how many requests do.
sp_sysmon adds up all databases, so one load job can make the figure; monOpenDatabases (AppendLogRequests and
AppendLogWaits, two readings) names the database, and alone it is judged by each. With few waits per second nobody loses
anything.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import OVERFLOW, Facts, known
from collectors.facts.ase import MonOpenDatabases, SemaphoreRequests, SysmonSample, TaskSwitches, UserLogCacheFlushes
from rules.ase._evidence.caches.figures import seconds_of
from rules.ase._evidence.log.committers import committers, small_commits
from rules.ase._evidence.log.databases import Appended, appended, most_of
from rules.ase._evidence.log.flushes import FULL, UNPIN, UNPIN_BECAUSE, Flushes, against_unpin, flushes_of, mostly_unpin
from rules.ase._evidence.log.levers import (
    LEVER_FACTS,
    WELL_ABOVE,
    LogLimits,
    delayed,
    fast_device,
    left,
    levers,
    of_log,
    own_evidence,
    say_device,
    whose_evidence,
    writes_each,
)
from rules.ase._evidence.log.mixed import mixed_evidence, mixed_logs
from rules.ase._evidence.log.waiting import log_of
from rules.ase._evidence.server import (
    ENGINE_FACTS,
    engines_of,
    level_reached,
    setting_of,
    subject_of,
)
from rules.ase._evidence.waits import verdict
from rules.ase._evidence.waits.events import LOG_WRITES, ULC_LOCKS
from rules.ase._evidence.waits.tasks import Waited, waited_for
from rules.changes.quoting import is_plain
from rules.engine import limit, percent, rule
from rules.finding import Clean, Evidence, Finding, Outcome, Severity, Unknown, Untrusted, capitalized, joined, within

LINKS = (
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc00842.1570/html/spsysmon/X49666.htm",
    "https://github.com/rukav/Sysmon",
)
CAUSE = "Log Semaphore Contention"
SLEEPS = "Tasks sleep in this queue, so no spinlock ratio and no engine shortens it."
FLUSHES = (
    "First see why user log caches are flushed (Transaction Management of sp_sysmon) and which log it is "
    "(monOpenDatabases)."
)
FLUSHED = "First see which log it is (monOpenDatabases), and what ase/log_flushed_early says of why they are flushed."
UNPINNED = "{0:.0f} % of their flushes are by Unpin, the largest of those that come early: {1}"
ULC_LEVERS = (
    "Then see what the holder waits for (event 272 in monSysWaits), and where many flushes are by Unpin, put fewer "
    "rows on each page, because two transactions change one page; practice lowers user log cache spinlock ratio."
)
QUEUE, MESSAGE = "user log cache queue size", "message 17198"
ALS = (
    "Whether asynchronous log service helps (sp_dboption, its owner decides) is not shown: the log device must have "
    "time to spare, and switching it off again needs the database without users."
)
SERVICE = (
    'Try asynchronous log service: in master `sp_dboption {0}, "async log service", true`; `use {0}`, '
    "`checkpoint` (undo: false, without users)."
)
"""Vendor: Performance and Tuning Basics, 15.7 (CJACFAC1): a very contended log whose device is not saturated."""
TOO_FEW = "Asynchronous log service is no choice: it takes {0} engines or more (vendor), and {1} are online."
NOT_YET = (
    "Asynchronous log service (sp_dboption) would be taken, but is not advised: it is for a very contended log, and "
    "tests of the vendor ran well with up to {0:g} % waiting."
)
WRITES = "writes of the last log page"
NAMES = {"Log": "the log semaphore", "ULC": "the semaphores of the user log caches"}


@dataclass(frozen=True)
class Limits(LogLimits, verdict.TaskLimits):
    """`LogLimits` and `TaskLimits`, and how many requests must wait."""

    waited_percent: float = percent(
        20.0,
        "vendor: its tests kept very high rates with 20 to 30 % waiting (sp_sysmon guide 15.0.2); practice says 10 %",
    )
    ulc_waited_percent: float = percent(10.0, "practice: 10 % of ULC semaphore requests (rukav/Sysmon)")
    switches_percent: float = percent(10.0, "practice: one cause of a tenth of all task switches (rukav/Sysmon)")
    waits_per_second: float = limit(10.0, "this project: fewer waits are no bottleneck", unit="waits/s")
    loud_percent: float = percent(30.0, "vendor: more than its own tests ran well with (sp_sysmon guide 15.0.2)")
    als_engines: int = limit(
        4, "vendor: asynchronous log service takes four engines or more (Reference Manual: Procedures)", low=1
    )


@rule(
    needs=(),
    uses=(SemaphoreRequests, TaskSwitches, SysmonSample, MonOpenDatabases, *ENGINE_FACTS, *LEVER_FACTS),
    links=LINKS,
    limits=Limits,
)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge the log semaphore, then the user log caches."""
    switches = facts.latest(TaskSwitches, cause=CAUSE)
    requests = {name: one for name in NAMES if (one := facts.latest(SemaphoreRequests, name=name))}
    databases = [] if switches or "Log" in requests else appended(facts)
    if switches is None and not requests and not databases:
        yield Unknown.of(SemaphoreRequests, TaskSwitches)
        return
    for database in databases:
        yield _judge(facts, limits, "Log", _as_requests(database), None, database)
    for name in NAMES:
        one = requests.get(name)
        if one or (name == "Log" and switches):
            yield _judge(facts, limits, name, one, switches if name == "Log" else None)


def _judge(
    facts: Facts,
    limits: Limits,
    name: str,
    one: SemaphoreRequests | None,
    switches: TaskSwitches | None,
    database: Appended | None = None,
) -> Outcome:
    what, seconds = NAMES[name], seconds_of(facts)
    if database:
        what, seconds = f"{what} of {database.name}", database.row.seconds
    figures = [] if one is None else [one.granted, one.waited, one.total]
    figures += [] if switches is None else [switches.count, switches.percent]
    if OVERFLOW in figures or any(known(figure) and figure < 0 for figure in figures):
        return Untrusted(f"{what}: a count is negative or printed as asterisks")
    waited = one.waited if one and known(one.waited) else None
    share = 100.0 * waited / one.total if one and waited is not None and known(one.total) and one.total else None
    if share is not None and share > 100:
        return Untrusted(f"{what}: more waited than asked: a counter wrapped or was cleared")
    part = switches.percent if switches and known(switches.percent) else None
    if part is not None and part > 100:
        return Untrusted(
            f"{what}: {part:g} % of all task switches cannot be: a column was misread or a counter wrapped"
        )
    if share is None and part is None:
        empty = one is not None and one.total == 0
        return Clean(f"{what}: not asked for in the sample") if empty else Unknown.of(SemaphoreRequests)
    count = waited if waited is not None else switches.count if switches and known(switches.count) else None
    rate = count / seconds if count is not None and seconds else None
    said = ", ".join(
        text
        for text in (
            f"{share:.1f} % of its requests waited" if share is not None else "",
            f"{part:g} % of all task switches" if part is not None else "",
            f"{rate:,.1f} waits per second" if rate is not None else "",
        )
        if text
    )
    least = limits.waited_percent if name == "Log" else limits.ulc_waited_percent
    over = share >= least if share is not None else (part or 0.0) >= limits.switches_percent
    if not over or (rate is not None and rate < limits.waits_per_second):
        most = f"{least:g} % of requests, {limits.switches_percent:g} % of switches where these are not printed"
        return Clean(f"{what}: {said} (limits {most}, {limits.waits_per_second:g} waits per second)")
    evidence = []
    if one and share is not None:
        evidence.append(Evidence(f"{what}, requests that waited", round(share, 1), "%", one.source, least))
    if switches and part is not None:
        evidence.append(Evidence(CAUSE.lower(), part, "% of task switches", switches.source, limits.switches_percent))
    source = evidence[0].source
    if rate is not None:
        evidence.append(Evidence(f"waits for {what}", round(rate, 1), "/s", source, limits.waits_per_second))
    commits = next((s for s in reversed(facts.every(SysmonSample)) if known(s.committed_xacts)), None)
    if commits and count is not None and known(commits.committed_xacts) and commits.committed_xacts > 0:
        each = round(count / commits.committed_xacts, 2)
        evidence.append(Evidence("waits for each committed transaction", each, "", commits.source))
    log = waited_for(facts, WRITES, LOG_WRITES) if name == "Log" else None
    writes = ""
    if isinstance(log, Waited) and not log.unsure and log.waits:
        each_ms = f", {log.mean_milliseconds:,.1f} ms each" if log.mean_milliseconds else ""
        writes = f"{log.says} (wait events 54 and 55){each_ms}{say_device(facts, limits.milliseconds)}."
        evidence += [*log.evidence(limits.tasks, limits.share_percent), *own_evidence(facts, limits.milliseconds)]
    locks = waited_for(facts, "locks on user log caches", ULC_LOCKS) if name == "ULC" else None
    if isinstance(locks, Waited) and not locks.unsure and locks.waits:
        evidence += locks.evidence(limits.tasks, limits.share_percent)
        writes = f"{locks.says} (wait event 272)."
    whose = None if database or name != "Log" else most_of(facts)
    if name == "Log" and not database:
        evidence += whose_evidence(facts)
    if name == "Log":
        evidence += mixed_evidence(mixed_logs(facts))
    unpin = mostly_unpin(facts) if name == "ULC" else None
    if unpin is not None:
        source = next(row.source for row in reversed(facts.every(UserLogCacheFlushes)) if row.reason == UNPIN)
        evidence.append(Evidence("flushes of user log caches by Unpin", round(unpin, 1), "%", source))
        evidence += against_unpin(facts)[1]
    small, who = (small_commits(facts), committers(facts)) if name == "Log" else (None, None)
    evidence += [small.evidence] if small else []
    each_page = writes_each(facts) if small else None
    rewritten = f"; each page of the log is written {each_page:.1f} times" if (each_page or 0.0) >= WELL_ABOVE else ""
    loud = (share or 0.0) >= limits.loud_percent
    service = _service(facts, limits, database) if name == "Log" and loud else ""
    by_share = Severity.WARNING if loud else Severity.ADVICE
    timed = log if name == "Log" else locks
    by_tasks = verdict.of_tasks(timed, limits) if isinstance(timed, Waited) else None
    return Finding(
        subject=f"{subject_of(facts)}: {what}",
        severity=max(by_share, by_tasks or by_share),
        title=f"Tasks wait for {what}: {said}"
        + (f"; {small.says}{f', most by {who.program.name}' if who else ''}" if small else "")
        + (of_log(facts) if name == "Log" and not database else ""),
        seen=joined(
            f"{capitalized(what)}: {said}{rewritten}.",
            whose.says if whose else writes if name == "ULC" else "",
        ),
        because=joined(SLEEPS, writes if name == "Log" else "")
        if unpin is None
        else UNPINNED.format(unpin, within(UNPIN_BECAUSE)),
        do=(
            joined(service, f"Then, in this order: {left(facts, limits)}{delayed(facts)}.")
            if service
            else levers(facts, limits)
        )
        if name == "Log"
        else against_unpin(facts)[0]
        if unpin is not None
        else _ulc_levers(facts),
        unknown=_asynchronous(facts, limits, loud=loud) if name == "Log" and not service else "",
        evidence=tuple(evidence),
        explains=("ase/log_io_size_unfit",) if rewritten else (),
    )


def _ulc_levers(facts: Facts) -> str:
    """What to look at, without the report that is there."""
    return joined(FLUSHED if isinstance(flushes_of(facts), Flushes) else FLUSHES, ULC_LEVERS)


def _as_requests(one: Appended) -> SemaphoreRequests:
    """What sp_sysmon prints of all databases together, of one."""
    return SemaphoreRequests(
        name="Log", granted=one.requests - one.waits, waited=one.waits, total=one.requests, source=one.row.source
    )


def _service(facts: Facts, limits: Limits, database: Appended | None) -> str:
    """Asynchronous log service as the first thing to try, where all that the vendor asks for is shown; else empty.

    Before 16.0 alone, with as many engines, a very contended log, and a device that has time to spare; and where
    neither the size of transactions nor that of user log caches nor data on the log's device is the cause.
    """
    engines, flushes = engines_of(facts).number, flushes_of(facts)
    if level_reached(facts, "16.0") is not False or engines is None or engines < limits.als_engines:
        return ""
    full = isinstance(flushes, Flushes) and flushes.percent(flushes.by(FULL)) > limits.full_percent
    if not fast_device(facts) or full or small_commits(facts) or committers(facts) or mixed_logs(facts):
        return ""
    whose, inferred = most_of(facts), log_of(facts)
    named = database.row.database if database else whose.first.row.database if whose else ""
    named = named or (inferred.database if inferred else "")
    return SERVICE.format(named if named and is_plain(named) else "<db>")


def _asynchronous(facts: Facts, limits: Limits, *, loud: bool) -> str:
    """Name asynchronous log service where this server takes it, or why not; nothing where that is not known.

    `loud`: more of the requests wait than in the vendor's own tests.
    """
    engines, new = engines_of(facts).number, level_reached(facts, "16.0")
    if engines is None or new is None:
        return ""
    if engines < limits.als_engines:
        return TOO_FEW.format(limits.als_engines, engines)
    queue = setting_of(facts, QUEUE) if new else None
    size = 0.0 if not new else queue.run_number if queue else None
    if size is None:
        return ""
    if size:
        return f"Asynchronous log service is refused here: {QUEUE} is {size:.0f} ({MESSAGE})."
    return ALS if loud else NOT_YET.format(limits.loud_percent)
