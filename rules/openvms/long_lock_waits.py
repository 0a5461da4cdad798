"""Lock requests wait for seconds, and no deadlock is the reason.

Finds: deadlock searches per second (MONITOR LOCK, T4) of which next to none finds a deadlock, together with
DEADLOCK_WAIT. A search starts for a request that has waited that long. So searches without a deadlock, times
DEADLOCK_WAIT, are the least number of requests that wait at any moment: waits that ended sooner come on top. Hours in
which many wait although the mean of the capture hides them are judged by their own figures. Where DEADLOCK_WAIT is not
in the export, how many wait is an assumption: the searches are named, and the number is asked for.

Why it matters: MP synch and the lock rates of such a node look in order, since a process that waits costs no CPU. Many
searches and few finds mean long waits, not deadlocks (CA Performance Management for OpenVMS, on lock counts). A real
two-node day had 0.0001 searches per second.

What to do: find who holds the locks while processes wait for them. LCKQUE.COM lists resources with waiters and their
parents; SDA's SHOW RESOURCE shows both queues; for Rdb RMU/SHOW LOCKS/MODE=CULPRIT names the
process. Where SHOW LOCK/BRIEF has the holder of the longest queue, that one is named. Then look at what the holder does
meanwhile: a transaction open over a dialogue, a job that locks a whole table. A DEADLOCK_WAIT below its default makes
more searches, and no wait shorter.

When to ignore it: where processes wait for a lock by design, as a signal from another one (dead-man locks of system
services wait for ever, but start few searches), or set a shorter wait for their own searches (possible from V8.3 on).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from collectors.facts import ABSENT, OVERFLOW, Facts, known
from collectors.facts.openvms import LockRates
from rules.engine import limit, percent, rule
from rules.finding import (
    Clean,
    Evidence,
    Expectation,
    Finding,
    Outcome,
    Severity,
    Unknown,
    Untrusted,
    joined,
)
from rules.laws.rounding import plain
from rules.openvms._evidence.deadlock_wait import (
    COLLECTED_BY,
    DEFAULT,
    LONGEST,
    NAME,
    SEARCHES,
    STATISTICS,
    no_cure,
    unreal,
)
from rules.openvms._evidence.lock_queues import (
    CULPRIT,
    HOLDER_FACTS,
    QUEUE_FACTS,
    Waits,
    file_of,
    find_holder,
    held_by,
    look_at,
    waiters,
    waits_of,
    what_of,
    whose,
)
from rules.openvms._evidence.node import (
    NODE_FACTS,
    in_prose,
    parameter_of,
    pending_clause,
    pending_clauses,
    sentence,
    subject_of,
)
from rules.openvms._evidence.peaks import PEAK_FACTS, SUSTAINED, Hours, worst

LINKS = ("https://wiki.vmssoftware.com/DEADLOCK_WAIT",)
WAITING = "requests waiting at any moment, at least"
CURVES = ("deadlock searches", "deadlocks found")
WAITERS = (
    "a listing of LCKQUE.COM (KP_LOCKTOOLS), or of SDA's SHOW RESOURCE (ANALYZE/SYSTEM), "
    "made while processes wait for them"
)

TOLD = 1.0
"""Per cent of the searches, this project: where so many find a deadlock, nobody says that no deadlock is the reason."""


@dataclass(frozen=True)
class Limits:
    """How many requests wait at any moment."""

    waiting: float = limit(
        3.0,
        "this project: at 10 s a real two-node day without trouble had 0.001",
        unit="requests waiting at any moment",
    )
    many_waiting: float = limit(
        30.0, "this project: a warning from ten times the first limit on", unit="requests waiting at any moment"
    )
    found_percent: float = percent(
        10.0, "this project: from here on deadlocks are a part of the cause and are named first"
    )


@rule(needs=(LockRates,), uses=(*NODE_FACTS, *PEAK_FACTS, *QUEUE_FACTS, *HOLDER_FACTS), links=LINKS, limits=Limits)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge the searches that found nothing by how long each of them was waited for."""
    listed = [one for name in STATISTICS if (one := facts.latest(LockRates, statistic=name))]
    rates = next((one for one in listed if getattr(one, SEARCHES) is OVERFLOW or known(getattr(one, SEARCHES))), None)
    if rates is None:
        yield Unknown((COLLECTED_BY,))
        return
    if wrong := unreal(rates):
        yield wrong
        return
    searches, finds = rates.deadlock_search_per_second, rates.deadlock_find_per_second
    if not known(searches) or not known(finds):
        yield Unknown((COLLECTED_BY,), "deadlock searches alone do not tell long waits from deadlocks")
        return
    setting = parameter_of(facts, NAME, 0, LONGEST)
    if isinstance(setting, Untrusted):
        yield setting
        return
    assumed = not isinstance(setting, tuple)
    seconds = setting[0] if isinstance(setting, tuple) else DEFAULT
    of = f"{NAME} {seconds:g} s" + (", its default: not in the export" if assumed else "")
    figures = _figures(searches, finds, of)
    if seconds == 0:
        yield Unknown.without("who waits for locks", WAITERS, f"{figures}: at 0 nothing is searched")
        return
    waiting = (searches - finds) * seconds
    if waiting < limits.many_waiting and (bad := _hidden(facts, limits, waiting, seconds)):
        found = (*bad[1], (bad[1][0] - bad[1][1]) * seconds)
        yield _finding(facts, rates, found, of, limits, bad[0], assumed=assumed)
    elif waiting < limits.waiting:
        many = f"{'with it about' if assumed else 'at least'} {plain(waiting, 2)}"
        least = f"{many} requests wait at any moment, limit {limits.waiting:g}"
        yield Clean(f"{figures}: {least}{pending_clause(facts, NAME)}", (rates.source,))
        return
    else:
        yield _finding(facts, rates, (searches, finds, waiting), of, limits, assumed=assumed)
    if isinstance(setting, Unknown):
        yield setting


def _figures(searches: float, finds: float, of: str) -> str:
    return f"{plain(searches, 3)} deadlock searches/s, {plain(finds, 3)} found ({of})"


def _hidden(facts: Facts, limits: Limits, waiting: float, seconds: float) -> tuple[Hours, tuple[float, float]] | None:
    """Hours in which more requests wait than the mean shows, with their searches and finds per second."""
    least = limits.waiting if waiting < limits.waiting else limits.many_waiting

    def wait(figures: Sequence[float]) -> float | None:
        searches, finds = figures
        return searches if finds >= 0 and (searches - finds) * seconds >= least else None

    found = worst(facts, CURVES, SUSTAINED, wait)
    return (found[0], (found[1][0], found[1][1])) if found else None


def _in_file(facts: Facts, queue: Waits) -> str:
    file = file_of(facts, queue)
    return f" ({file})" if file else ""


def _finding(
    facts: Facts,
    rates: LockRates,
    found: tuple[float, float, float],
    of: str,
    limits: Limits,
    hours: Hours | None = None,
    *,
    assumed: bool,
) -> Finding:
    """Of the capture's mean, or of `hours` alone; `assumed`: DEADLOCK_WAIT is not known, so how many wait is not."""
    searches, finds, waiting = found
    queue = next(iter(waits_of(facts)), None)
    listed = held_by(facts, queue) if queue else None
    locked = f"a lock of {file_of(facts, queue) or what_of(queue.head)}" if queue else ""
    look = look_at(facts, listed, locked) if listed else ""
    many = listed.waits if listed and listed.record else waiters(queue.head) if queue else 0
    if look and listed and many >= limits.waiting:
        # the rule on queues has the same queue and says what to do about its holder: once is enough
        look = (
            f"First do what openvms/processes_wait_for_locks says of {locked}, {whose(facts, listed)}; "
            "then see whether requests still wait."
        )
    held = f"; {many:,.0f} for {locked}, {whose(facts, listed)}" if (queue and listed and look) else ""
    source, computed = (hours.source, hours.counted) if hours else (rates.source, "")
    figures = f"{f'{hours.when}: ' if hours else ''}{_figures(searches, finds, of)}"
    waited = ABSENT if hours else rates.enq_waited_per_second
    when, apart = (f"{hours.when} at least", hours.apart.removesuffix(".")) if hours else ("At least", "")
    part = ""
    if known(waited) and waited >= searches:
        share = 100 * searches / waited
        part = f"of {in_prose(waited)} requests/s that had to wait, {plain(share, 2)} % waited that long"
    dead = ""
    if 100 * finds >= limits.found_percent * searches:
        dead = (
            f"{100 * finds / searches:.0f} % of the searches do find a deadlock: look first for programs that lock in "
            "different orders."
        )
    few = 100 * finds / searches
    reason = f"and {few:.0f} % of the searches find a deadlock" if few >= TOLD else "and no deadlock is the reason"
    most = f"{when} {plain(waiting, 3)} lock requests wait at any moment"
    follows = (
        f"A search starts for a request that has waited {NAME} seconds: that many without a deadlock mean at least "
        f"{plain(waiting, 3)} requests waiting at any moment (fewer where processes set a shorter wait of their "
        "own, from V8.3 on)."
    )
    if assumed:
        most = (
            f"{f'{hours.when} lock' if hours else 'Lock'} requests wait long, {plain(searches, 3)} deadlock searches/s"
        )
        follows = (
            f"A search starts for a request that has waited {NAME} seconds, and how many is not in the export: by its "
            f"default of {DEFAULT:g} s about {plain(waiting, 3)} wait at any moment, by 1 s a tenth of that."
        )
    return Finding(
        subject=subject_of(facts),
        severity=Severity.WARNING if waiting >= limits.many_waiting and not assumed else Severity.ADVICE,
        title=f"{most}, " + ("beside those whose search finds a deadlock" if dead else reason) + held,
        seen=joined(f"{figures}.", sentence(apart, part, pending_clauses(facts, NAME))),
        because=joined(follows, dead),
        do=look
        or joined(
            find_holder(facts, queue) if queue else f"Find who holds the locks by {WAITERS}; {CULPRIT}.",
            no_cure(facts),
        ),
        unknown=joined(
            f"LCKQUE lists the longest queue for {what_of(queue.head)}{_in_file(facts, queue)}: "
            f"{waiters(queue.head):,.0f} wait."
            if queue
            else "",
            f"The holder is that of {listed.listing}, at that moment."
            if look and listed
            else "Who holds the locks is not in these figures; locks that system services wait for by design show in "
            "the listings, too.",
        ),
        evidence=(
            Evidence("deadlock searches", round(searches, 6), "/s", source, computed=computed),
            Evidence("deadlocks found", round(finds, 6), "/s", source, computed=computed),
            *((Evidence("requests forced to wait", waited, "/s", rates.source),) if known(waited) else ()),
            *((Evidence(WAITING, round(waiting, 1), "", source, limits.waiting),) if not assumed else ()),
            *((Evidence("longest queue of LCKQUE", waiters(queue.head), "", queue.head.source),) if queue else ()),
        ),
        expects=(Expectation("deadlock searches (/s)", searches, "lower", "heuristic"),),
    )
