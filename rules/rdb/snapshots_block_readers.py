"""Read-only transactions wait for writers because snapshots are deferred.

Finds: deferred snapshots together with read-only transactions that were seen to wait: snapshot locks in the logs and
screens of stalls, or stalled requests for snapshot locks in the statistics.

Why it matters: with deferred snapshots writers save I/O while no reader is active; in return a read-only transaction
that starts has to wait until all active read/write transactions have ended (Oracle Rdb, help on CHANGE DATABASE). One
long update then holds up every report.

What to do: end the long read/write transaction; if readers come all the time, go back to SNAPSHOT IS ENABLED IMMEDIATE,
with the database closed and after a full backup.

When to ignore it: where read-only transactions are rare and may wait, as with reports at night: deferred was chosen for
that. Deferred snapshots without a reader that waited are no finding.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter

from collectors.facts import Facts, known
from collectors.facts.rdb import Database, EventLog, WaitGroup
from rules.changes.rdb_database import alter
from rules.engine import limit, rule
from rules.finding import Clean, Evidence, Finding, NotApplicable, Outcome, Severity, Unknown, Untrusted, joined
from rules.rdb._evidence.counted import (
    COUNTED_FACTS,
    HUNDREDTHS,
    STALL_TIME,
    caveats,
    counted,
    of_each_node,
    quiet,
    rounded,
    stalled_of,
    waiting_of,
    waits_matter,
)
from rules.rdb._evidence.databases import OneDatabase, Read, belonging, databases
from rules.rdb._evidence.prerequisites import place_of
from rules.rdb._evidence.standstill import so_far
from rules.rdb._evidence.statistics import LEAST_COUNTED, Rate, Statistics
from rules.rdb._evidence.waits import STALLS, WAIT_FACTS, Waits, waits_of

LINKS = (
    "https://uprrp2.uprrp.edu/help/sys$common/syshlp/rdohelp72.hlb?key=CHANGE_DATABASE~Format~change-database-options2",
)
COST = (
    "Immediate snapshots cost every writer the I/O of a copy, reader or not: look at snapshot writes before and after.",
    "The snapshot files may have to grow: see that their disks have room.",
)

LONG = "Look for the long read/write transaction first and let it commit sooner."
IMMEDIATE = (
    "If readers come all the time, set SNAPSHOT from DEFERRED to IMMEDIATE with the database closed and after a full "
    "backup: they then start at once, and every writer pays snapshot I/O."
)
LITTLE = (
    "Nothing is set here, as so few waits are not worth closing the database: look for the long read/write transaction."
)
ON = "Commit to journal is on and, as recalled, needs snapshots deferred or disabled: find out before that."
JOURNAL = (
    "when it is known that commit to journal, which is on, can go without: as recalled, not confirmed, it needs "
    "snapshots deferred or disabled"
)


@dataclass(frozen=True)
class Limits:
    """How long readers must have waited."""

    stall_seconds: float = limit(
        2.0, "vendor: lock stall of the Online Analysis screens, 2 seconds (RDM$BIND_STATS_MAX_LOCK_STALL)", unit="s"
    )
    one_seconds: float = limit(
        30.0, "this project: fewer than five waits, all shorter, are a note; a rare one is, too", unit="s"
    )
    events: int = limit(
        5, "this project: fewer events without a length in one log are chance", low=1, unit="waits for a snapshot lock"
    )
    events_per_hour: float = limit(
        1.0, "this project: a few in a day are not worth closing the database", unit="waits/h"
    )
    stalled_per_second: float = limit(
        0.1, "this project: one start in ten seconds that stalls; no vendor names a limit", unit="stalled requests/s"
    )
    waiting: float = limit(1.0, "this project: at any moment one reader or more waits", unit="processes")
    main_percent: float = limit(
        50.0, "this project: most of what waits for locks waits for snapshots", high=100.0, unit="% of the stall time"
    )


@rule(needs=(Database,), uses=(*COUNTED_FACTS, *WAIT_FACTS), links=LINKS, limits=Limits, sample=LEAST_COUNTED)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge each database."""
    for one in databases(facts, (WaitGroup, EventLog)):
        yield from _judge(facts, one, limits)


def _judge(facts: Facts, one: OneDatabase, limits: Limits) -> Iterator[Outcome]:
    mode = one.read("snapshot_mode")
    if mode is None:
        yield Unknown.without("snapshot mode", Database.COLLECTED_BY, f"{one.subject}: not in the export")
        return
    word = str(mode.value).lower()
    if word == "disabled":
        yield NotApplicable(f"{one.subject}: snapshots are disabled: nobody waits for a snapshot")
        return
    if word != "deferred":
        yield Clean(f"{one.subject}: snapshots are {word}: readers wait for no writer{one.read_apart}")
        return
    waits = list(belonging(facts.every(WaitGroup), one))
    if damaged := [wait for wait in waits if known(wait.longest_seconds) and wait.longest_seconds < 0]:
        yield Untrusted(f"a wait of {damaged[0].longest_seconds:g} s for {damaged[0].resource_kind} is no length")
        return
    logs = list(belonging(facts.every(EventLog), one))
    stalled, refused = _stalled(facts, one)
    if isinstance(refused, Untrusted) or (refused and not waits and not logs):
        yield refused
        return
    waiting = _waiting(facts, one)
    if not waits and not logs and stalled is None and waiting is None:
        why = f"{one.subject}: snapshots are deferred; whether a reader waits is not in the export"
        yield Unknown.without("waits of read-only transactions", WaitGroup.COLLECTED_BY, why)
        return
    readers = [wait for wait in waits if wait.resource_kind == "snapshot"]
    often = stalled is not None and stalled[0].per_second >= limits.stalled_per_second
    long = waiting is not None and waiting[0].per_second / HUNDREDTHS >= limits.waiting
    if _many(readers, limits) or often or long:
        yield _finding(facts, one, limits, mode, (readers, stalled, waiting))
        return
    events = sum(wait.logged + wait.missed for wait in readers)
    rate = f", {stalled[0].per_second:g} stalled requests/s" if stalled else ""
    said = (
        f"{one.subject}: snapshots are deferred, and {events} waits for a snapshot lock were seen{rate} (limits "
        f"{limits.stall_seconds:g} s, {limits.events} without a length, {limits.stalled_per_second:g}/s)"
    )
    yield quiet(said, stalled[1]) if stalled and not logs else Clean(said)


def _stalled(facts: Facts, one: OneDatabase) -> tuple[tuple[Rate, Statistics] | None, Outcome | None]:
    """Stalled requests for snapshot locks, the highest of all nodes; else why there is no such figure, where told."""
    found, refused = counted(facts, one)
    rates = of_each_node(found, lambda each: each.rate("requests stalled", "snapshot"))
    return max(rates, key=lambda pair: pair[0].per_second, default=None), None if rates else refused


def _waiting(facts: Facts, one: OneDatabase) -> tuple[Rate, Statistics] | None:
    """The stall time of snapshot locks, the highest of all nodes: ÷ 100 the readers that wait at any moment."""
    times = of_each_node(counted(facts, one)[0], lambda each: waiting_of(each, "snapshot"))
    return max(times, key=lambda pair: pair[0].per_second, default=None)


def _many(readers: Sequence[WaitGroup], limits: Limits) -> bool:
    """Whether readers waited long, or often where no length was logged."""
    if any(known(wait.longest_seconds) and wait.longest_seconds >= limits.stall_seconds for wait in readers):
        return True
    return sum(wait.logged + wait.missed for wait in readers if not known(wait.longest_seconds)) >= limits.events


def _finding(
    facts: Facts,
    one: OneDatabase,
    limits: Limits,
    mode: Read,
    found: tuple[Sequence[WaitGroup], tuple[Rate, Statistics] | None, tuple[Rate, Statistics] | None],
) -> Finding:
    readers, (stalled, each), (waiting, of_time) = found[0], found[1] or (None, None), found[2] or (None, None)
    each = each or of_time
    events = sum(wait.logged + wait.missed for wait in readers)
    longest = max((wait.longest_seconds for wait in readers if known(wait.longest_seconds)), default=None)
    seen = [f"{events} waits for a snapshot lock were logged"] if events else []
    evidence = [Evidence("snapshot mode", "deferred", "", mode.source)]
    if readers:
        evidence.append(Evidence("waits for a snapshot lock", events, "events", readers[0].source, limits.events))
    if longest is not None:
        seen.append(f"the longest took {longest:,.1f} s")
        wait = next(wait for wait in readers if wait.longest_seconds == longest)
        name = "longest wait for a snapshot lock"
        evidence.append(Evidence(name, longest, so_far(wait), wait.source, limits.stall_seconds))
    if stalled is not None:
        seen.append(f"{rounded(stalled.per_second)} requests/s for snapshot locks stalled")
        rate = round(stalled.per_second, 2)
        evidence.append(Evidence("stalled snapshot locks", rate, "/s", stalled.source, limits.stalled_per_second))
    if waiting is not None and not (stalled or longest):
        behind = waiting.per_second / HUNDREDTHS
        seen.append(f"{rounded(behind)} processes wait for one at any moment")
        what = "processes that wait for a snapshot lock, on average"
        evidence.append(Evidence(what, round(behind, 2), "", waiting.source, limits.waiting))
    logged = waits_of(facts, one).events([wait.kind for wait in readers[:1]])
    rare = logged is not None and logged.hours is not None and events / logged.hours < limits.events_per_hour
    rate_of = stalled.per_second if stalled else None
    stalls = each is not None and waits_matter(each, rate_of, limits.stalled_per_second, "snapshot")
    long = longest is not None and longest >= limits.one_seconds
    costs = stalls or (not rare and (long or events >= limits.events))
    when = JOURNAL if one.is_on("commit_to_journal") else ""
    return Finding(
        subject=one.subject,
        severity=Severity.ADVICE if costs else Severity.NOTE,
        title="read-only transactions wait for read/write ones (deferred snapshots)",
        seen=f"Snapshots are deferred, and {', '.join(seen)}.",
        because=(
            "A read-only transaction that starts has to wait until all active read/write transactions have ended."
        ),
        do=f"{LONG} {IMMEDIATE}" if costs else LITTLE,
        unknown=joined(ON if costs and when else "", caveats(one, each)),
        evidence=tuple(evidence),
        explains=("rdb/lock_stalls_long",) if _most(waits_of(facts, one), each, limits) else (),
        changes=(alter("snapshot", place_of(facts, one), "DEFERRED", "IMMEDIATE", cautions=COST, when=when),)
        if costs
        else (),
    )


def _most(waits: Waits, each: Statistics | None, limits: Limits) -> bool:
    """Whether most of what waits for locks waits for snapshots: by stall time, else stalled requests, else the logs.

    Logs name a resource and how long it was waited for, so that of the longest wait decides. Tentative lines decide
    nothing.
    """
    if each is not None:
        here, whole = each.rate(STALL_TIME, "snapshot"), each.rate(STALL_TIME, "total")
        if here and whole and whole.per_second:
            return 100 * here.per_second >= limits.main_percent * whole.per_second and not here.source.tentative
        stalled = stalled_of(each, "snapshot")
        if stalled and stalled.percent is not None:
            return stalled.percent >= limits.main_percent and not stalled.source.tentative
    lasted = [(group.longest_seconds, group) for group in waits.of(STALLS) if known(group.longest_seconds)]
    _, longest = max(lasted, key=itemgetter(0), default=(0.0, None))
    return longest is not None and longest.resource_kind == "snapshot" and not longest.source.tentative
