"""Tasks wait for the end of a transaction log.

Finds: requests for the log semaphore that had to wait, by their own share or as a share of all task switches; and the
same of the user log caches.

Why it matters: only one task at a time appends to the log of a database. Tasks that commit often, flush their user log
cache early, or wait for a slow log device queue there, and no number of engines shortens that queue. It is a semaphore:
tasks sleep, they do not spin.

What to do: look at why user log caches are flushed (Transaction Management in sp_sysmon): filled ones ask for a larger
`user log cache size`, many small transactions for fewer commits. Then the latency of the log device, a log cache of its
own, delayed commit where losing the last moment is allowed, and asynchronous log service with four engines or more.

When to ignore it: sp_sysmon adds up all databases, so one load job can make the figure. With few waits per second
nobody loses anything.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import OVERFLOW, Facts, known
from collectors.facts.ase import SemaphoreRequests, Server, SysmonSample, TaskSwitches
from rules.finding import Clean, Evidence, Finding, Outcome, Severity, Unknown, Untrusted
from rules.judging.caches.figures import seconds_of
from rules.judging.server import subject_of
from rules.kit import limit, rule

LINKS = (
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc00842.1570/html/spsysmon/X49666.htm",
    "https://github.com/rukav/Sysmon",
)
CAUSE = "Log Semaphore Contention"
FLUSHES = (
    "Transaction Management of the same sp_sysmon says why user log caches are flushed, monOpenDatabases which log."
)
NAMES = {"Log": "the log semaphore", "ULC": "the semaphores of the user log caches"}


@dataclass(frozen=True)
class Limits:
    """How many must wait."""

    waited_percent: float = limit(
        10.0, "practice: 10 % of log or ULC semaphore requests (rukav/Sysmon)", high=100, unit="%"
    )
    switches_percent: float = limit(
        10.0, "practice: one cause of a tenth of all task switches (rukav/Sysmon)", high=100, unit="%"
    )
    waits_per_second: float = limit(10.0, "this project: fewer waits are no bottleneck", unit="waits/s")
    loud_percent: float = limit(30.0, "this project: three times the practitioners' limit", high=100, unit="%")


@rule(needs=(), uses=(SemaphoreRequests, TaskSwitches, SysmonSample, Server), links=LINKS, limits=Limits)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge the log semaphore, then the user log caches."""
    switches = facts.latest(TaskSwitches, cause=CAUSE)
    requests = {name: one for name in NAMES if (one := facts.latest(SemaphoreRequests, name=name))}
    if switches is None and not requests:
        yield Unknown.of(SemaphoreRequests, TaskSwitches)
        return
    for name in NAMES:
        one = requests.get(name)
        if one or (name == "Log" and switches):
            yield _judge(facts, limits, name, one, switches if name == "Log" else None)


def _judge(
    facts: Facts, limits: Limits, name: str, one: SemaphoreRequests | None, switches: TaskSwitches | None
) -> Outcome:
    what, seconds = NAMES[name], seconds_of(facts)
    figures = [] if one is None else [one.granted, one.waited, one.total]
    figures += [] if switches is None else [switches.count, switches.percent]
    if OVERFLOW in figures or any(known(figure) and figure < 0 for figure in figures):
        return Untrusted(f"{what}: a count is negative or printed as asterisks")
    waited = one.waited if one and known(one.waited) else None
    share = 100.0 * waited / one.total if one and waited is not None and known(one.total) and one.total else None
    if share is not None and share > 100:
        return Untrusted(f"{what}: more waited than asked: a counter wrapped or was cleared")
    part = switches.percent if switches and known(switches.percent) else None
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
    over = (share or 0.0) >= limits.waited_percent or (part or 0.0) >= limits.switches_percent
    if not over or (rate is not None and rate < limits.waits_per_second):
        most = f"{limits.waited_percent:g} % of requests, {limits.switches_percent:g} % of switches"
        return Clean(f"{what}: {said} (limits {most}, {limits.waits_per_second:g} waits per second)")
    evidence = []
    if one and share is not None:
        evidence.append(
            Evidence(f"{what}, requests that waited", round(share, 1), "%", one.source, limits.waited_percent)
        )
    if switches and part is not None:
        evidence.append(Evidence(CAUSE.lower(), part, "% of task switches", switches.source, limits.switches_percent))
    source = evidence[0].source
    if rate is not None:
        evidence.append(Evidence(f"waits for {what}", round(rate, 1), "/s", source, limits.waits_per_second))
    commits = next((s for s in reversed(facts.every(SysmonSample)) if known(s.committed_xacts)), None)
    if commits and count is not None and known(commits.committed_xacts) and commits.committed_xacts > 0:
        each = round(count / commits.committed_xacts, 2)
        evidence.append(Evidence("waits for each committed transaction", each, "", commits.source))
    loud = max(share or 0.0, part or 0.0) >= limits.loud_percent
    return Finding(
        subject=f"{subject_of(facts)}: {what}",
        severity=Severity.WARNING if loud else Severity.ADVICE,
        title=f"Tasks wait for {what}: {said}",
        says=f"{said[0].upper()}{said[1:]}. Tasks sleep in this queue, so no spinlock ratio and no engine shortens it. "
        f"{FLUSHES}",
        evidence=tuple(evidence),
    )
