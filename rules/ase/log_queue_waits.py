"""Tasks wait for the queue of log blocks of 16.0 (PLCBLOCK).

Finds: tasks that wait under the events 704, 705, 880, 900 and 902 of monSysWaits, whose texts name a PLCBLOCK, as an
average number over the interval and as a share of the tasks that wait or run.

Why it matters: with `user log cache queue size` above 0, 16.0 cuts a user log cache into blocks of a page and queues
them for the log (vendor: New Features 16.0, made for datarows tables that many update). A task that has to wait there
waits for the log, as at the log semaphore before.

What to do: what reduces these waits is in no source that was read. By the design it is what reduces the work on the
log: fewer and larger transactions, a larger user log cache where it is flushed because it is full, a faster log device.
So this is advice at most, and nothing is scripted.

When to ignore it: a published TPC-C run on 16.0 SP04 had nine tasks there, 5 % of those that waited, and ran well.
sp_sysmon's row `PLCBLOCK flush` counts switches and no time, and no text describes it: nothing is judged by it.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts
from collectors.facts.ase import MonSysWaits
from rules.ase._evidence.log.levers import LEVER_FACTS, LogLimits, levers
from rules.ase._evidence.log.mixed import mixed_evidence, mixed_logs
from rules.ase._evidence.server import setting_of, subject_of
from rules.ase._evidence.waits.tasks import Waited, waited_for
from rules.ase._evidence.waits.verdict import SHARE_ORIGIN, SHARE_PERCENT, TASKS, TASKS_ORIGIN, of_tasks
from rules.engine import limit, percent, rule
from rules.finding import Clean, Evidence, Finding, Outcome, Severity, Unknown

LINKS = ("https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc00641.1600/doc/html/mas1371753995745.html",)
EVENTS = frozenset((704, 705, 880, 900, 902))
WHAT, QUEUE = "the queue of log blocks (PLCBLOCK)", "user log cache queue size"
BECAUSE = "By its design a task in that queue waits for the end of the log, as others do at the log semaphore."
UNKNOWN = (
    "What reduces these waits is in no source that was read, and no text describes PLCBLOCK: that it is what reduces "
    "the work on the log is this project's inference from the design."
)


@dataclass(frozen=True)
class Limits(LogLimits):
    """`LogLimits`, and how many must wait."""

    tasks: float = limit(TASKS, TASKS_ORIGIN, unit="tasks")
    share_percent: float = percent(SHARE_PERCENT, SHARE_ORIGIN)


@rule(needs=(), uses=LEVER_FACTS, links=LINKS, limits=Limits)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge by the time that tasks waited."""
    waited = waited_for(facts, WHAT, EVENTS)
    if waited is None:
        yield Unknown.of(MonSysWaits)
        return
    if not isinstance(waited, Waited):
        yield waited
        return
    loud = of_tasks(waited, tasks=limits.tasks, share_percent=limits.share_percent, critical_percent=100.0)
    if loud is None:
        yield Clean(f"{waited.says} (limits {limits.tasks:g} task and {limits.share_percent:g} %)")
        return
    queue = setting_of(facts, QUEUE)
    size = queue.run_number if queue else None
    mean = f", {waited.mean_milliseconds:,.1f} ms each" if waited.mean_milliseconds else ""
    yield Finding(
        subject=subject_of(facts),
        severity=Severity.ADVICE,
        title=f"{waited.tasks:.1f} tasks on average wait for {WHAT}",
        seen=f"{waited.says}, in {waited.waits:,.0f} waits{mean}.",
        because=BECAUSE,
        do=levers(facts, limits),
        unknown=UNKNOWN,
        evidence=(
            *waited.evidence(limits.tasks, limits.share_percent),
            *mixed_evidence(mixed_logs(facts)),
            *((Evidence(QUEUE, size, "", queue.source),) if queue and size is not None else ()),
        ),
        explains=("ase/log_semaphore_contended",),
    )
