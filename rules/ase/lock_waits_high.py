"""Tasks wait for locks on rows, pages or tables.

Finds: tasks that wait for locks, as an average number over the interval (wait event 150 and the other lock events of
monSysWaits) and as a share of the tasks that wait or run; or, where only sp_sysmon was collected, task switches due to
logical lock contention. The table is named from monOpenObjectActivity, the kind of lock from sp_sysmon, the statement
from monCachedStatement, the sessions from monProcessWaits, where they were collected.

Why it matters: a task that waits for a lock does no work, and holds its own locks meanwhile. Engines, memory and
spinlock ratios do not shorten that queue. Each wait is booked when it ends, so a lock held through the whole interval
is not in these figures: see ase/blocked_chain.

What to do: shorten the transactions on the table that is named. No user input and no physical reads inside them, the
hot update last, an index that lets them lock fewer rows. A datapages table can be taken to datarows; allpages is a
matter of ase/allpages_table_contended. A row that hands out numbers is better an IDENTITY column. Where table locks are
waited for and lock promotions are counted, the promotion threshold of that table can be raised.

When to ignore it: below one task on average, or below one in ten of the tasks that wait or run. A load job that locks
a table on purpose makes such a figure at night. A `lock wait period` is no remedy: it turns waits into errors.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts, known
from collectors.facts.ase import LockEvents, MonOpenObjectActivity, MonSysWaits, TaskSwitches
from rules.finding import Clean, Evidence, Finding, Lacking, Outcome, Severity, Unknown, Untrusted
from rules.judging.objects.statements import STATEMENT_FACTS, with_statements
from rules.judging.server import subject_of
from rules.judging.waits import severity
from rules.judging.waits.events import LOCKS
from rules.judging.waits.switches import SWITCH_FACTS, Switches, switches_of
from rules.judging.waits.tables import (
    TABLE_FACTS,
    Waiting,
    lock_kinds,
    say_tables,
    table_evidence,
    waiting_sessions,
    waiting_tables,
)
from rules.judging.waits.tasks import WAIT_FACTS, Waited, waited_for
from rules.kit import limit, rule

LINKS = (
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc00848.1570/html/monitor_tables/CHDEHBAG.htm",
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc00938.1570/html/locking/X57275.htm",
)
CAUSE = "Logical Lock Contention"
WHAT = "locks"
SHORTER = (
    "Shorten the transactions that change it: no user input and no physical reads inside, the hot update last, an "
    "index that lets them lock fewer rows. No engine and no spinlock ratio shortens this queue."
)
BY_SCHEME = {
    "allpages": "It has allpages locking: ase/allpages_table_contended says what leaving it takes.",
    "datapages": (
        "It locks whole pages; from datapages `alter table <table> lock datarows` changes the catalogue alone, and "
        "takes more locks (number of locks)."
    ),
    "datarows": "It locks rows already, so no lock scheme helps further.",
}
SYSTEM = "It is a system or temporary table: nothing is to be set on it; look at what makes and drops objects."
PROMOTED = (
    'Table locks are waited for, and {0:,.0f} lock promotions were counted: `sp_setrowlockpromote "table", "<table>", '
    "<lwm>, <hwm>, <pct>` (from its database) raises the threshold of one table. Note the old values first."
)
TABLE_LOCKS = ("Exclusive Table", "Shared Table", "Exclusive Intent", "Shared Intent")
TABLES = Lacking("which tables have lock waits", MonOpenObjectActivity.BRING)


@dataclass(frozen=True)
class Limits:
    """How many must wait."""

    tasks: float = limit(severity.TASKS, severity.TASKS_ORIGIN, unit="tasks")
    share_percent: float = limit(severity.SHARE_PERCENT, severity.SHARE_ORIGIN, high=100, unit="%")
    critical_percent: float = limit(severity.CRITICAL_PERCENT, severity.CRITICAL_ORIGIN, high=100, unit="%")
    switches_percent: float = limit(severity.SWITCHES_PERCENT, severity.SWITCHES_ORIGIN, high=100, unit="%")
    loud_percent: float = limit(severity.SWITCHES_LOUD, severity.LOUD_ORIGIN, high=100, unit="%")
    waits_per_second: float = limit(severity.SWITCHES_PER_SECOND, severity.RATE_ORIGIN, unit="waits/s")


@rule(
    needs=(),
    uses=tuple(dict.fromkeys((*WAIT_FACTS, *SWITCH_FACTS, *TABLE_FACTS, *STATEMENT_FACTS, LockEvents))),
    links=LINKS,
    limits=Limits,
)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge by the time that tasks waited; by task switches where no time was counted."""
    waited, switches = waited_for(facts, WHAT, LOCKS), switches_of(facts, CAUSE)
    if isinstance(waited, Waited) and not waited.unsure:
        yield from _by_time(facts, limits, waited, switches if isinstance(switches, Switches) else None)
        return
    if isinstance(waited, Untrusted):
        yield waited
    if isinstance(switches, Untrusted):
        yield switches
    elif isinstance(switches, Switches):
        yield from _by_switches(facts, limits, switches, waited)
    elif isinstance(waited, Waited):
        lacking = Lacking("who waits now, and since when", "select * from master..monProcess")
        yield Unknown((lacking,), waited.says)
    elif isinstance(waited, Unknown):
        yield waited
    elif waited is None:
        yield Unknown.of(MonSysWaits, TaskSwitches)


def _by_time(facts: Facts, limits: Limits, waited: Waited, switches: Switches | None) -> Iterator[Outcome]:
    loud = severity.of_tasks(
        waited, tasks=limits.tasks, share_percent=limits.share_percent, critical_percent=limits.critical_percent
    )
    if loud is None:
        most = f"limits {limits.tasks:g} task and {limits.share_percent:g} %"
        yield Clean(f"{waited.says} in {waited.seconds:,.0f} s ({most}); a wait that still lasts is not counted")
        return
    evidence = waited.evidence(limits.tasks, limits.share_percent)
    if switches:
        evidence = (*evidence, switches.evidence(limits.switches_percent))
    mean = f", {waited.mean_milliseconds:,.1f} ms each" if waited.mean_milliseconds else ""
    says = f"{waited.says}, in {waited.waits:,.0f} waits{mean}."
    yield from _finding(facts, loud, f"{waited.tasks:.1f} tasks on average wait for locks", says, evidence)


def _by_switches(
    facts: Facts, limits: Limits, switches: Switches, waited: Waited | Untrusted | Unknown | None
) -> Iterator[Outcome]:
    loud = severity.of_switches(
        switches,
        switches_percent=limits.switches_percent,
        loud_percent=limits.loud_percent,
        waits_per_second=limits.waits_per_second,
    )
    beside = f"; {waited.says}" if isinstance(waited, Waited) else ""
    if loud is None:
        most = f"limits {limits.switches_percent:g} % and {limits.waits_per_second:g} a second"
        yield Clean(f"{switches.says} ({most}){beside}")
        return
    says = f"{switches.says}. How long they waited is not in sp_sysmon: monSysWaits has the time{beside}."
    title = f"{switches.percent:g} % of all task switches wait for locks"
    yield from _finding(facts, loud, title, says, (switches.evidence(limits.switches_percent),))


def _finding(facts: Facts, loud: Severity, title: str, says: str, evidence: tuple[Evidence, ...]) -> Iterator[Outcome]:
    tables, kinds = waiting_tables(facts), lock_kinds(facts)
    said = [says, say_tables(facts, tables)]
    if kinds:
        said.append(f"Locks with most waits: {', '.join(f'{kind} {count:,.0f}' for kind, count, _ in kinds)}.")
    said += _levers(facts, tables, [kind for kind, _, _ in kinds])
    finding = Finding(
        subject=subject_of(facts),
        severity=loud,
        title=title + (f", most for {tables[0].name}" if tables else ""),
        says=" ".join(one for one in said if one),
        evidence=(
            *evidence,
            *table_evidence(tables),
            *(Evidence(f"waits for locks of type {kind}", count, "", source) for kind, count, source in kinds),
            *waiting_sessions(facts),
        ),
    )
    named = [(one.row.database, one.row.object_name) for one in tables]
    yield with_statements(finding, facts, named, by_waits=True)
    if not tables:
        yield Unknown((TABLES,))


def _levers(facts: Facts, tables: list[Waiting], kinds: list[str]) -> Iterator[str]:
    """What relieves it, in words: for the first table, by what is known of it."""
    first = tables[0] if tables else None
    if first and first.system:
        yield SYSTEM
        return
    yield SHORTER
    if first and first.scheme:
        yield BY_SCHEME.get(first.scheme, "")
    counts = [
        one.count for one in facts.every(LockEvents) if one.event == "promotion" and not one.kind.startswith("Total")
    ]
    promoted = sum(count for count in counts if known(count))
    if kinds and kinds[0] in TABLE_LOCKS and promoted > 0:
        yield PROMOTED.format(promoted)
