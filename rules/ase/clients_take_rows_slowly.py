"""Tasks wait until clients take what is sent to them.

Finds: tasks that wait for the network to send (wait event 251 of monSysWaits), as an average number over the interval,
beside those that wait for anything else or run.

Why it matters: a client that is slow to take its rows, or a large result, makes such waits (vendor: Monitoring Tables).
They are no contention, are left out of the account, and no setting of locks, caches or engines shortens them. Users
feel them all the same. A network thread of the server that has no time left makes them too (ase/io_thread_saturated).

What to do: see which programs and results they are: fewer rows and columns, a program that fetches all rows without a
pause, a larger packet size for large results.

When to ignore it: nearly always, so it is a note: a program that shows a page of rows at a time waits so by design.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts
from collectors.facts.ase import MonSysWaits
from rules.ase._evidence.server import subject_of
from rules.ase._evidence.waits.events import NETWORK_SEND
from rules.ase._evidence.waits.tasks import WAIT_FACTS, Waited, tasks_by_event, waited_for
from rules.ase._evidence.waits.verdict import SHARE_PERCENT, TASKS, TASKS_ORIGIN
from rules.engine import limit, percent, rule
from rules.finding import Clean, Evidence, Finding, Outcome, Severity, Unknown

LINKS = (
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc00848.1570/html/monitor_tables/CHDEHBAG.htm",
)
WHAT = "clients to take what is sent"
SLOW = (
    "A client that is slow to take its rows, or a large result, makes such waits (vendor), unless a network thread of "
    "the server has no time left (ase/io_thread_saturated). They are no contention, and the account leaves them out."
)
FASTER = (
    "See which programs and results they are: fewer rows and columns, a program that fetches all rows without a pause, "
    "or a larger packet size for large results."
)
WHOSE = "Whose they are is in monProcessWaits, by SPID, for event 251."


@dataclass(frozen=True)
class Limits:
    """How many must wait to be worth a note."""

    tasks: float = limit(TASKS, TASKS_ORIGIN, unit="tasks")
    share_percent: float = percent(
        SHARE_PERCENT, "this project: one in ten of the tasks that wait, these included, or run"
    )


@rule(needs=(), uses=WAIT_FACTS, links=LINKS, limits=Limits)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge by the time that tasks waited."""
    others = waited_for(facts, WHAT, frozenset((NETWORK_SEND,)))
    if others is None:
        yield Unknown.of(MonSysWaits)
        return
    if not isinstance(others, Waited):
        yield others
        return
    sending = next((one for one in tasks_by_event(facts) if one.event == NETWORK_SEND), None)
    if sending is None or sending.unsure:
        why = f"{sending.waits:,.0f} waits, and {sending.unsure}" if sending else "no such wait is counted"
        yield Clean(f"{WHAT} (event {NETWORK_SEND}): {why}")
        return
    beside = others.waiting + (others.running or 0.0)
    share = 100.0 * sending.tasks / (sending.tasks + beside) if sending.tasks else 0.0
    if sending.tasks < limits.tasks or share < limits.share_percent:
        most = f"limits {limits.tasks:g} task and {limits.share_percent:g} %"
        yield Clean(f"{sending.tasks:.1f} tasks on average waited for {WHAT}, {share:.0f} % ({most})")
        return
    mean = sending.mean_milliseconds
    each = f" of {mean:,.1f} ms each" if mean is not None else ""
    yield Finding(
        subject=subject_of(facts),
        severity=Severity.NOTE,
        title=f"{sending.tasks:.1f} tasks on average wait for {WHAT}",
        seen=f"{sending.tasks:.1f} tasks on average waited for {WHAT} (event {NETWORK_SEND}), in {sending.waits:,.0f} "
        f"waits{each}, beside {beside:.1f} that waited for anything else or ran.",
        because=SLOW,
        do=FASTER,
        unknown=WHOSE,
        evidence=(
            Evidence(f"tasks waiting for {WHAT}", round(sending.tasks, 2), "tasks", sending.source, limits.tasks),
            Evidence("share of them among all that waited or ran", round(share, 1), "%", sending.source),
            *((Evidence(f"mean wait for {WHAT}", round(mean, 1), "ms", sending.source),) if mean is not None else ()),
        ),
    )
