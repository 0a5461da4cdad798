"""How loud a wait is: by the share of tasks that wait for it; where no time is known, by the share of task switches."""

from rules.finding import Severity
from rules.judging.waits.switches import Switches
from rules.judging.waits.tasks import Waited

TASKS, SHARE_PERCENT, CRITICAL_PERCENT = 1.0, 10.0, 100.0 / 3
SWITCHES_PERCENT, SWITCHES_LOUD, SWITCHES_PER_SECOND = 10.0, 100.0 / 3, 10.0
TASKS_ORIGIN = "this project: less than one task waiting on average is no queue; no limit is published"
SHARE_ORIGIN = "this project: one in ten of the tasks that wait or run; no limit is published"
CRITICAL_ORIGIN = "this project: one in three of the tasks that wait or run"
SWITCHES_ORIGIN = "practice: one cause of a tenth of all task switches (rukav/Sysmon)"
RATE_ORIGIN = "this project: fewer waits are no bottleneck"
LOUD_ORIGIN = "this project: a third of all task switches; a switch is no time, so it is never critical"


def of_tasks(waited: Waited, *, tasks: float, share_percent: float, critical_percent: float) -> Severity | None:
    """How loud waiting tasks are; `None` below the limits. Of a share that is not sure advice at most is made."""
    if waited.unsure or waited.tasks < tasks or waited.percent < share_percent:
        return None
    if not waited.sure_share:
        return Severity.ADVICE
    return Severity.CRITICAL if waited.percent >= critical_percent else Severity.WARNING


def of_switches(
    switches: Switches, *, switches_percent: float, loud_percent: float, waits_per_second: float
) -> Severity | None:
    """How loud a cause of task switches is; `None` below the limits, or where its rate is not known."""
    if switches.percent < switches_percent or (switches.per_second or 0.0) < waits_per_second:
        return None
    return Severity.WARNING if switches.percent >= loud_percent else Severity.ADVICE
