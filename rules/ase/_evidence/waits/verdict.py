"""Tasks that wait, by the time they waited, else by task switches: what the rules of waits share.

No limit is published for either: all of them are this project's or come from practice.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from collectors.facts import Facts
from collectors.facts.ase import MonSysWaits, TaskSwitches
from rules.ase._evidence.server import engines_of
from rules.ase._evidence.times import without_head
from rules.ase._evidence.waits.switches import Switches, switches_of
from rules.ase._evidence.waits.tasks import Waited, waited_for, waited_since_start
from rules.engine import limit, percent
from rules.finding import Clean, Evidence, MissingInput, Outcome, Severity, Unknown, Untrusted

TASKS, SHARE_PERCENT, CRITICAL_PERCENT = 1.0, 10.0, 100.0 / 3
SWITCHES_PERCENT, SWITCHES_LOUD, SWITCHES_PER_SECOND = 10.0, 100.0 / 3, 10.0
TASKS_ORIGIN = "this project: less than one task waiting on average is no queue; no limit is published"
SHARE_ORIGIN = "this project: one in ten of the tasks that wait or run; no limit is published"
CRITICAL_ORIGIN = "this project: one in three of the tasks that wait or run"
SWITCHES_ORIGIN = "practice: one cause of a tenth of all task switches (rukav/Sysmon)"
RATE_ORIGIN = "this project: fewer waits are no bottleneck"
LOUD_ORIGIN = "this project: a third of all task switches; a switch is no time, so it is never critical"
HELD_PERCENT, HELD_PER_SECOND = 100.0 / 3, 100.0
HELD_ORIGIN = "this project: a third of the task switches that something held up"
HELD_RATE_ORIGIN = "this project: at 10 ms each, from as many on one task waits on average"
NOT_COUNTED = 64
"""This project: tasks that may run or wait beside those counted, where not all are; few servers have more engines."""
COMMAND_SECONDS = 1.0
COMMAND_ORIGIN = "this project: commands that take longer on average are those of reports and batches"


@dataclass(frozen=True)
class TaskLimits:
    """How many must wait, by the time that they waited."""

    tasks: float = limit(TASKS, TASKS_ORIGIN, unit="tasks")
    share_percent: float = percent(SHARE_PERCENT, SHARE_ORIGIN)
    critical_percent: float = percent(CRITICAL_PERCENT, CRITICAL_ORIGIN)


@dataclass(frozen=True)
class WaitLimits(TaskLimits):
    """The same, by task switches too: those of each of its rules, which may add their own."""

    switches_percent: float = percent(SWITCHES_PERCENT, SWITCHES_ORIGIN)
    loud_percent: float = percent(SWITCHES_LOUD, LOUD_ORIGIN)
    waits_per_second: float = limit(SWITCHES_PER_SECOND, RATE_ORIGIN, unit="waits/s")


@dataclass(frozen=True)
class LockWaitLimits(WaitLimits):
    """The same for locks: also by their share of the task switches that something held up.

    A server that mostly serves clients has few switches for locks among all, however many of its tasks wait. Reads, and
    writes of the log, are most of what holds up a healthy server, so there is no such limit for them.
    """

    held_percent: float = percent(HELD_PERCENT, HELD_ORIGIN)
    held_per_second: float = limit(HELD_PER_SECOND, HELD_RATE_ORIGIN, unit="waits/s")


def of_tasks(waited: Waited, limits: TaskLimits) -> Severity | None:
    """How loud waiting tasks are; `None` below the limits.

    Where not all tasks are counted that wait or run, it is loud only if `NOT_COUNTED` more would leave the share large
    enough: else advice.
    """
    if waited.unsure or waited.tasks < limits.tasks or waited.percent < limits.share_percent:
        return None
    share = at_least_percent(waited)
    if share < limits.share_percent:
        return Severity.ADVICE
    return Severity.CRITICAL if share >= limits.critical_percent else Severity.WARNING


def at_least_percent(waited: Waited) -> float:
    """Share of the tasks that wait or run, with `NOT_COUNTED` more of them where not all were counted."""
    if waited.sure_share or not waited.tasks:
        return waited.percent
    return 100.0 * waited.tasks / (waited.waiting + (waited.running or 0.0) + NOT_COUNTED)


def not_counted(waited: Waited, loud: Severity) -> str:
    """Why it is loud though not all tasks were counted, as a sentence; empty where they were, or it is not."""
    if waited.sure_share or loud <= Severity.ADVICE:
        return ""
    missing = "Not all wait events were collected" if not waited.complete else "How many engines work is not known"
    share = at_least_percent(waited)
    return f"{missing}: even if {NOT_COUNTED} more tasks ran or waited, these would be {share:.0f} % of all."


@dataclass(frozen=True)
class TooLong:
    """That tasks wait too long, and how loud that is to be said: the beginning of a finding."""

    severity: Severity
    title: str
    seen: str
    """What is seen, as a sentence."""
    evidence: tuple[Evidence, ...]
    unknown: str = ""
    """What the figures leave open, as a sentence."""
    mean_milliseconds: float | None = None
    """Mean length of a wait; `None` where only task switches were counted."""
    tasks: float | None = None
    """How many wait on average; `None` where only task switches were counted."""
    switches_percent: float | None = None
    """Share of the task switches that sp_sysmon counts for the same; `None` where it was not collected."""


def unless_few(facts: Facts, waits: TooLong) -> Severity:
    """How loud waits are that a single load makes too: advice at most where fewer tasks wait than engines are online.

    Also where no export counts either.
    """
    engines = engines_of(facts).number
    few = waits.tasks is None or engines is None or waits.tasks < engines
    return min(waits.severity, Severity.ADVICE) if few else waits.severity


def judge_waits(
    facts: Facts,
    limits: WaitLimits,
    found: Callable[[TooLong], Iterable[Outcome]],
    *,
    what: str,
    events: frozenset[int],
    cause: str = "",
    besides: str = "",
    when_unsure: tuple[MissingInput, ...],
    otherwise: Callable[[], Iterable[Outcome]] = tuple,
) -> Iterator[Outcome]:
    """Judge by the time that tasks waited; by task switches where no time was counted.

    `found`: what a rule says where they wait too long. `what`: they wait for, in `monSysWaits` under `events`, in
    sp_sysmon under `cause` (empty: it has no such row).
    `besides`: what a quiet outcome adds of the time. `when_unsure`: what to collect where waits were counted without
    their time. `otherwise`: what a rule says besides where nothing of that was counted.
    """
    counted = False
    for said in _judged(facts, limits, what, events, cause, besides, when_unsure):
        for one in found(said) if isinstance(said, TooLong) else (said,):
            counted = counted or not isinstance(one, Unknown)
            yield one
    if not counted:
        yield from otherwise()


def waits_too_long(
    facts: Facts, limits: WaitLimits, *, what: str, events: frozenset[int], cause: str = ""
) -> TooLong | None:
    """The same as a fact about the interval, for a rule that has another proof of its own; `None` where they do not."""
    judged = _judged(facts, limits, what, events, cause, "", ())
    return next((one for one in judged if isinstance(one, TooLong)), None)


def _judged(
    facts: Facts,
    limits: WaitLimits,
    what: str,
    events: frozenset[int],
    cause: str,
    besides: str,
    when_unsure: tuple[MissingInput, ...],
) -> Iterator[Outcome | TooLong]:
    waited = waited_for(facts, what, events)
    switches = switches_of(facts, cause) if cause else None
    if isinstance(waited, Waited) and not waited.unsure:
        yield _by_time(limits, waited, switches if isinstance(switches, Switches) else None, besides)
        return
    if isinstance(waited, Untrusted):
        yield waited
    if isinstance(switches, Untrusted):
        yield switches
    elif isinstance(switches, Switches):
        yield _by_switches(limits, switches, what, f"; {waited.says}" if isinstance(waited, Waited) else "")
    elif isinstance(waited, Waited):
        yield Unknown(when_unsure, waited.says)
    elif isinstance(waited, Unknown):
        since_start = waited_since_start(facts, what, events)
        averaged = _by_average(limits, since_start) if since_start else None
        yield averaged or waited
    elif waited is None:
        yield Unknown.of(*((MonSysWaits, TaskSwitches) if cause else (MonSysWaits,)))


def _by_time(limits: WaitLimits, waited: Waited, switches: Switches | None, besides: str) -> Outcome | TooLong:
    loud = of_tasks(waited, limits)
    if loud is None:
        most = f"limits {limits.tasks:g} task and {limits.share_percent:g} %"
        return Clean(f"{waited.says} in {waited.seconds:,.0f} s ({most}){besides}")
    evidence = waited.evidence(limits.tasks, limits.share_percent)
    if switches:
        evidence = (*evidence, switches.evidence(limits.switches_percent))
    mean = f", {waited.mean_milliseconds:,.1f} ms each" if waited.mean_milliseconds else ""
    title = f"{waited.tasks:.1f} tasks on average wait for {waited.what}"
    seen = f"{waited.says}, in {waited.waits:,.0f} waits{mean}."
    by_switches = switches.percent if switches else None
    unknown = not_counted(waited, loud)
    return TooLong(loud, title, seen, evidence, unknown, waited.mean_milliseconds, waited.tasks, by_switches)


def _by_average(limits: WaitLimits, waited: Waited) -> TooLong | None:
    """Advice at most: the average of day and night is over the limits, so the busiest hour is."""
    if of_tasks(waited, limits) is None:
        return None
    title = f"{waited.tasks:.1f} tasks on average wait for {waited.what}, nights and all"
    seen = f"{waited.says}, over the {waited.seconds / 3600:,.0f} hours since the start: the busiest hour is above it."
    evidence = waited.evidence(limits.tasks, limits.share_percent)
    return TooLong(Severity.ADVICE, title, seen, evidence, tasks=waited.tasks)


def _by_switches(limits: WaitLimits, switches: Switches, what: str, beside: str) -> Outcome | TooLong:
    own = limits if isinstance(limits, LockWaitLimits) else None
    rate, held = switches.per_second or 0.0, switches.held_percent or 0.0
    if switches.per_second is None and (
        switches.percent >= limits.switches_percent or (own and held >= own.held_percent)
    ):
        return without_head(f"{switches.says}{beside}")
    evidence = switches.evidence(limits.switches_percent)
    loud = Severity.WARNING if switches.percent >= limits.loud_percent else Severity.ADVICE
    title = f"{switches.percent:g} % of all task switches wait for {what}"
    if switches.percent < limits.switches_percent or rate < limits.waits_per_second:
        if own is None or held < own.held_percent or rate < own.held_per_second:
            most = f"limits {limits.switches_percent:g} % and {limits.waits_per_second:g} a second"
            return Clean(f"{switches.says} ({most}){beside}")
        loud, title = Severity.ADVICE, f"{held:.0f} % of the task switches that something held up wait for {what}"
        evidence = switches.held_evidence(own.held_percent)
    unknown = f"How long they waited is not in sp_sysmon: monSysWaits has the time{beside}."
    return TooLong(loud, title, f"{switches.says}.", (evidence,), unknown)
