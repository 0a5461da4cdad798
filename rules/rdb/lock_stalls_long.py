"""Processes wait longer for a lock than the vendor calls long.

Finds: the longest waits for a lock in stall logs and screens, the mean stall of the statistics (stall time ÷ requests
that stalled), and how many waits ended in a timeout, by log or statistics; with who holds the lock, where RMU/SHOW
LOCKS tells, and who only passes a wait on. A short lock timeout interval keeps every wait short, so beside one a short
mean proves nothing. Several that have waited for minutes at one moment are a standstill: look at once.

Why it matters: Oracle's own Online Analysis calls a lock stall of 2 seconds long (RDM$BIND_STATS_MAX_LOCK_STALL) and
adds that this is an indication, not proof. A process that waits keeps its own locks, and others wait for those.

What to do: see who holds the lock with RMU/SHOW LOCKS/MODE=CULPRIT while processes wait for it, and what that
transaction does: commit sooner, ask no person for input inside it, find rows by an index. Do not just lengthen the lock
timeout interval: waits get longer, and the holder stays.

When to ignore it: waits for I/O are no lock stalls, and locks as `termination` have waits by design. Waits for
freeze, quiet point and AIJ switch-over come from failed processes, backups and full journals: no lock setting changes
them. One long wait in a day may be a person at a screen.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from collectors.facts import Facts, known
from collectors.facts.rdb import AttachedProcess, EventLog, HeldLock, HotRow, Journals, StatisticRow, WaitGroup
from rules.changes.quoting import comment
from rules.engine import limit, percent, rule
from rules.finding import Clean, Evidence, Expectation, Finding, MissingInput, Outcome, Severity, Unknown, joined
from rules.openvms._evidence.node import sentence
from rules.rdb._evidence.attached import attached_to, image_of
from rules.rdb._evidence.counted import (
    COUNTED_FACTS,
    DEADLOCKED,
    STALLED,
    Mean,
    averaged,
    by_deadlocks,
    counted,
    mean_stall,
    mostly_idle,
    of_each_node,
    on_node,
    one_type,
    quiet,
    rounded,
    rows_of,
    untimed,
)
from rules.rdb._evidence.databases import OneDatabase, databases
from rules.rdb._evidence.extents import of_extents
from rules.rdb._evidence.hot_pages import hot_page
from rules.rdb._evidence.listings import process_of
from rules.rdb._evidence.prerequisites import page_level
from rules.rdb._evidence.root_file import printed
from rules.rdb._evidence.shared_rows import (
    COUNTER,
    IN_ROW,
    SharedRow,
    ended_for,
    evidence_of_shared,
    longest_waits,
    of_row,
    passes_on,
    shared_by,
    shared_in,
    shared_of,
    shared_rows,
)
from rules.rdb._evidence.standstill import (
    KINDS,
    always,
    ended_again,
    halted_for,
    kind_of,
    on_the_whole,
    so_far,
    standstill,
    stopped,
)
from rules.rdb._evidence.standstill import longest as longest_of
from rules.rdb._evidence.statistics import LEAST_COUNTED, Statistics
from rules.rdb._evidence.turns import turns
from rules.rdb._evidence.waiting_types import (
    NOWHERE,
    by_hand,
    log_server,
    most_waited_for,
    of_mean,
    of_several,
    see_of,
    unserved,
)
from rules.rdb._evidence.waits import (
    BACKUP,
    HOLDER,
    STALLS,
    TIMEOUTS,
    WAIT_FACTS,
    Events,
    Queue,
    Waits,
    culprits,
    evidence_of,
    for_quiet_point,
    held_by,
    holds_up,
    hottest,
    is_row,
    logged_again,
    logged_share,
    main_of,
    named,
    of_holder,
    of_main,
    queues,
    sooner,
    total,
    waits_of,
    with_care,
)
from rules.rdb._evidence.ways_out import INTERVALS, LONGER, NO_INTERVAL, ONLY_LONGER, WANTED, now

LINKS = (
    "https://uprrp2.uprrp.edu/help/sys$common/syshlp/rmudisplay72.hlb?key=Overview~Screens~Locking_Analysis_Screen",
)
COLLECTED_BY = MissingInput(
    "how long processes wait for locks", f"{WaitGroup.COLLECTED_BY}, or the screen Stall Messages"
)
ENDED = ("request timeouts", "promotion timeouts")
COUNT = MissingInput("how many lock requests timed out", StatisticRow.COLLECTED_BY)
KEEPS = "A process that waits keeps its own locks, and others wait for those; Oracle calls a stall of {:g} s long."
CULPRIT = (
    "While processes wait for {}, RMU/SHOW LOCKS/MODE=CULPRIT tells who holds the lock (logs name the resource alone): "
    "let that transaction commit sooner."
)
OF_KIND = {
    "nowait": (
        "The NOWAIT lock is free when all others have given up what they carried over: no one holder is to blame, see "
        "rdb/carry_over_locks."
    ),
    "snapshot": (
        "A read-only transaction waits here until every read/write one that is active has ended (deferred snapshots): "
        "let the longest of those commit sooner, and see rdb/snapshots_block_readers."
    ),
}
"""Resources that many hold by design, so that RMU/SHOW LOCKS/MODE=CULPRIT names nobody to send away."""
REFUSED = (
    "A transaction that does not wait is in no RMU/SHOW LOCKS: what the log names tells which program changes it, and "
    "that one is to commit sooner."
)
CROSSED = (
    "Most of these waits end in a deadlock, where each holds what the other wants: see rdb/deadlocks_hidden, and not "
    "for one holder."
)
NOBODY = (*OF_KIND.values(), CROSSED)
"""Where no one holder is to be found, so none is asked for."""
BRIEF = "{}. Such a wait is over before anybody could ask who holds the lock, so the lock type decides."
SEE_NAMES = (
    "{}. Each wait is over before anybody could ask who holds the lock, but the screen Stall Messages, written a few "
    "times, names the {} that so many wait for."
)
TYPES = MissingInput(
    "which lock type they wait for",
    "a write (key W) of the RMU/SHOW STATISTICS screens Locking (rqsts stalled), (proms stalled) and (stall time x100)",
)
UNPARTITIONED = (
    "RMU/SHOW LOCKS listed nothing, which with partitioned lock trees proves nothing: ask again without a root file."
)
HOUR = 3600.0


@dataclass(frozen=True)
class Limits:
    """From when on a wait is long."""

    stall_seconds: float = limit(
        2.0, "vendor: lock stall of the Online Analysis screens, 2 seconds (RDM$BIND_STATS_MAX_LOCK_STALL)", unit="s"
    )
    still_seconds: float = limit(
        60.0, "this project: several that have waited for a minute at one moment are a standstill", unit="s"
    )
    one_seconds: float = limit(30.0, "this project: a wait of one process alone is a note below this", unit="s")
    processes: float = limit(1.0, "this project: at any moment one process or more waits", unit="processes")
    queue: int = limit(
        3, "this project: fewer behind one holder at one moment get a note alone", low=1, unit="processes"
    )
    little: float = limit(
        0.01, "this project: over a whole log a hundredth of a process waits, so nothing is lost", unit="processes"
    )
    waiting: float = limit(10.0, "this project: so many that wait at any moment are contention", unit="processes")
    stalled: float = limit(5.0, "this project: a mean of fewer stalls is chance", unit="stalled requests")
    main_percent: float = percent(
        50.0, "this project: from here on one resource has more stalls than all others together", low=1
    )
    timeouts: int = limit(5, "this project: fewer are chance", low=1, unit="timeouts")
    timeouts_per_hour: float = limit(1.0, "this project: a few in a day may be chance, too", unit="timeouts/h")
    cut_percent: float = percent(
        50.0,
        "this project: a mean stall from here on may be that of waits which the lock timeout interval ends",
        low=1,
        of="the lock timeout interval",
    )


@rule(
    needs=(),
    uses=(*COUNTED_FACTS, *WAIT_FACTS, AttachedProcess, HotRow),
    links=LINKS,
    limits=Limits,
    sample=LEAST_COUNTED,
)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge each database."""
    found = databases(facts, (StatisticRow, WaitGroup, EventLog, HeldLock, Journals))
    if not found:
        yield Unknown((COLLECTED_BY,))
    for one in found:
        yield from _judge(facts, one, limits)


def _judge(facts: Facts, one: OneDatabase, limits: Limits) -> Iterator[Outcome]:
    waits = waits_of(facts, one)
    if why := waits.refused():
        yield why
        return
    found, refused = counted(facts, one)
    means = [mean for mean, _ in of_each_node(found, mean_stall)]
    worst = max(means, key=lambda mean: mean.seconds, default=None)
    groups = [group for group in waits.of(STALLS) if not kind_of(group)]
    long = [g for g in groups if known(g.longest_seconds) and g.longest_seconds >= limits.stall_seconds]
    long.sort(key=lambda group: -longest_of(group))
    timeouts, of = _timeouts(waits, found, limits)
    many = timeouts is not None and _many(timeouts, limits)
    high = worst if worst and _is_long(worst, limits) else None
    crowds = means or [mean for mean, _ in of_each_node(found, lambda each: mean_stall(each, at_most=True))]
    crowds = crowds or [mean for mean, _ in of_each_node(found, one_type)]
    crowd = max(crowds, key=lambda mean: mean.waiting, default=None)
    enough = limits.processes if crowd and unserved(one, crowd, _main(waits, limits)) else limits.waiting
    high = high or (crowd if crowd and crowd.waiting >= enough else None)
    attached, lines = attached_to(facts, one), queues(waits.held)
    bounds = (limits.stall_seconds, limits.still_seconds, limits.queue)
    idle = [still for kind in KINDS if (still := standstill(one, waits, attached, kind, limits=bounds))]
    if high and (kind := mostly_idle(high)):
        idle, high = idle or [on_the_whole(one, high, kind, limits.stall_seconds)], None
    told = not (long or high or many) and any(for_quiet_point(line.holder.resource) for line in lines[:1])
    yield from (still for still in idle if not (told and still.subject == f"{one.subject} quiet"))
    rows = shared_rows(facts, one)
    if long or high or many:
        yield _finding(one, limits, waits, rows, attached, long, high, timeouts if many else None, of)
        if high and not long and not many and high.seconds < limits.stall_seconds:
            if not (_main(waits, limits) or most_waited_for(high)):
                yield Unknown((TYPES,), f"{one.subject}: {of_mean(high)}, for which lock type is not in the export")
        elif not culprits(waits.held) and _holder(one, waits, long, high, timeouts if many else None, "") not in NOBODY:
            yield Unknown((HOLDER,), f"{one.subject}: no log names who holds a lock")
        return
    if lines:
        yield _queue(one, limits, waits, rows, attached, lines, crowd)
    if not idle:
        yield _nothing(one, limits, waits, groups, worst, crowd, timeouts, refused or untimed(one, found))


def _timeouts(waits: Waits, found: list[Statistics], limits: Limits) -> tuple[Events | None, Statistics | None]:
    """The timeouts of the log, unless the screens alone have many of them: a log loses events or ends early.

    Of several nodes those of the one with most per hour, and its screens.
    """
    log = waits.events(TIMEOUTS)
    worst, of = max(
        of_each_node(found, _on_screens), key=lambda pair: pair[0].count / (pair[0].hours or 1), default=(None, None)
    )
    return (worst, of) if worst and (log is None or (_many(worst, limits) and not _many(log, limits))) else (log, None)


def _on_screens(each: Statistics, lock_type: str = "total") -> Events | None:
    """Requests and promotions that timed out; `None` where no row tells: a mean of 0.0/s may be 180 in an hour."""
    rates = rows_of(each, ENDED, lock_type)
    counts = [rate.count if rate.count is not None else rate.per_second * (rate.seconds or 0) or None for rate in rates]
    known_ones = [count for count in counts if count is not None]
    if not known_ones or len(known_ones) < len(rates):
        return None
    seconds = rates[0].seconds
    return Events(round(sum(known_ones)), 0, seconds / HOUR if seconds else None, False, rates[0].source)


def _many(timeouts: Events, limits: Limits) -> bool:
    rare = timeouts.hours is not None and timeouts.count / timeouts.hours < limits.timeouts_per_hour
    return timeouts.count >= limits.timeouts and not rare


def _is_long(mean: Mean, limits: Limits) -> bool:
    return mean.seconds >= limits.stall_seconds and (mean.count is None or mean.count >= limits.stalled)


def _finding(
    one: OneDatabase,
    limits: Limits,
    waits: Waits,
    rows: dict[str, SharedRow],
    attached: Mapping[str, AttachedProcess],
    long: list[WaitGroup],
    mean: Mean | None,
    timeouts: Events | None,
    of: Statistics | None,
) -> Finding:
    held, seen, because = culprits(waits.held), [], [KEEPS.format(limits.stall_seconds)]
    lines = [line for line in queues(waits.held) if line.behind >= limits.queue]
    most: tuple[WaitGroup, int] | None = None
    evidence: list[Evidence] = []
    main = _main(waits, limits) if mean else []
    if long:
        seen.append(longest_waits(long[: 1 if mean or timeouts else 3], rows))
        for group in long[:3]:
            name, lasts = f"longest wait for {named(group)}", round(longest_of(group), 2)
            evidence.append(Evidence(name, lasts, so_far(group), group.source, limits.stall_seconds))
    if mean:
        seen.append(of_mean(mean))
        if main:
            because.append(of_main(main, total(main), "logged stalls"))
            evidence += evidence_of(main[:1], "logged stalls for")
        evidence += (manual := by_hand(one, mean, main))
        crowd = limits.processes if manual or mean.seconds >= limits.stall_seconds else limits.waiting
        evidence += [
            Evidence(
                f"mean stall{', at most' * mean.at_most}",
                round(mean.seconds, 2),
                "s",
                mean.source,
                limits.stall_seconds,
            ),
            Evidence("processes that wait, on average", round(mean.waiting, 2), "", mean.source, crowd),
        ]
    if timeouts:
        ended = waits.most(TIMEOUTS)
        most = None if long else main_of(ended, limits.timeouts, limits.main_percent)
        if most:
            because.append(of_main([most[0]], most[1], "lock timeouts"))
            evidence += evidence_of_shared([most[0]], rows)
        seen.append(_of_timeouts(one, timeouts, hottest(ended, "timeouts"), of))
        if one.figure("lock_timeout_seconds") == 0:
            because.append(NO_INTERVAL)
        evidence.append(Evidence("lock timeouts", timeouts.count, "events", timeouts.source, limits.timeouts))
        evidence += evidence_of(ended, "lock timeouts for")
        seconds = one.read("lock_timeout_seconds")
        if seconds and known(seconds.value):
            evidence.append(Evidence("lock timeout interval", seconds.value, "s", seconds.source))
    evidence += evidence_of_shared([*long[:3], *main[:1]], rows)
    if held:
        evidence += [Evidence(f"{held_by([lock])}", lock.granted or "", "", lock.source) for lock in held[:3]]
    passes = most if most and mean and mean.seconds < limits.stall_seconds and shared_of(most[0], rows) else None
    wanted = [most[0]] if most and (shared_of(most[0], rows) or most[0].processes >= limits.queue) else []
    by_many = bool(wanted) and is_row(wanted[0]) and wanted[0].mode == "EX"
    # what passes from one to the next has no holder to be found: who holds it now is not to blame
    find = f"{ONLY_LONGER}." if passes else (WANTED if by_many else CULPRIT).format(named(most[0]) if most else "it")
    do = (
        joined(of_holder(held, lines, attached), now(waits, lines, limits.still_seconds))
        if held
        else UNPARTITIONED
        if waits.hidden
        else _holder(one, waits, long, mean, timeouts, find)
    )
    again = timeouts is not None and ended_again(waits, long, limits.queue, limits.main_percent)
    passed = passes_on(lines, mean, limits.queue, limits.still_seconds) and stopped(long, limits.still_seconds) == 0
    do = of_row(do, [] if held else long or wanted, lines, rows, again=again or by_many, passed=passed)
    if mean and not (held or long or timeouts) and mean.seconds < limits.stall_seconds:
        do = _brief(one, waits, mean, main)
    said = "; ".join(seen)
    longest, told = longest_of(long[0]) if long else None, () if lines else long or main
    return Finding(
        subject=one.subject,
        severity=Severity.WARNING if again else _severity(limits, long, mean, timeouts, logged_share(waits, long)),
        title=(NOWHERE if mean and not (long or most) and unserved(one, mean, main) else "")
        + "; ".join(
            [
                *([ended_for(*most, rows)] if most else []),
                *([] if most and not mean else [_title(limits, longest, mean, timeouts, told)]),
                *([holds_up(lines[0]) + shared_by(lines[0], rows)] if lines else []),
            ]
        ),
        seen=joined(
            sentence(said),
            f"RMU/SHOW LOCKS names who holds others up: {held_by(held)}{lines[0].passed_on if lines else ''}."
            if held
            else "",
        ),
        because=joined(*because[-2:]),
        do=joined(do, LONGER if timeouts and "MODE=CULPRIT tells" in do and COUNTER not in do else ""),
        unknown=joined(
            INTERVALS if timeouts else "", averaged(mean.each) if mean else averaged(of) if of and timeouts else ""
        ),
        evidence=tuple(evidence),
        expects=(
            Expectation("longest wait for a lock (s)", round(longest, 2), "lower", "heuristic")
            if longest is not None
            else Expectation("mean stall (s)", round(mean.seconds, 2), "lower", "heuristic")
            if mean
            else Expectation("lock timeouts", timeouts.count if timeouts else None, "fewer", "heuristic"),
        ),
        weight=longest if longest is not None else mean.seconds if mean else None,
        urgent=stopped(long, limits.still_seconds) >= limits.queue,
    )


def _holder(
    one: OneDatabase, waits: Waits, long: list[WaitGroup], mean: Mean | None, timeouts: Events | None, find: str
) -> str:
    """Why there is nobody to find who holds what is waited for, a sentence, or how to: `find`."""
    named_ones = long or (waits.most(TIMEOUTS) if timeouts else [])
    if named_ones and named_ones[0].resource_kind == "filid":
        return of_extents(one, waits)[1]
    if named_ones and (said := OF_KIND.get(named_ones[0].resource_kind)):
        return said
    if mean and not named_ones:
        ended = sum(rate.per_second for rate in rows_of(mean.each, DEADLOCKED))
        if 2 * ended >= sum(rate.per_second for rate in rows_of(mean.each, STALLED)) > 0:
            return CROSSED
    if timeouts and not long and not mean and one.figure("lock_timeout_seconds") == 0:
        return REFUSED
    return find


def _queue(
    one: OneDatabase,
    limits: Limits,
    waits: Waits,
    rows: dict[str, SharedRow],
    attached: Mapping[str, AttachedProcess],
    lines: list[Queue],
    crowd: Mean | None,
) -> Finding:
    """Who holds others up at one moment; for how long a screen of stalls or a stall log may tell."""
    worst = lines[0]
    holder, what, image = process_of(worst.holder), worst.holder.resource, image_of(attached, worst.holder.pid)
    it, mode = "them" if worst.more else "it", f" ({worst.holder.granted})" if worst.holder.granted else ""
    halted, lasts = halted_for(waits, what, limits.still_seconds, limits.queue)
    waiting = max(worst.behind, halted)  # the screen of stalls may have more than the display
    little = crowd is not None and crowd.waiting < limits.processes and not halted
    steady, row = always(what, crowd, limits.queue, limits.stall_seconds), shared_in(what, rows)
    lasts, idle = lasts or logged_again(waits, what) or steady, for_quiet_point(what)
    asks = next((f"; {process_of(one)} asks for a quiet point" for one in worst.waiting if one.requested == "EX"), "")
    loud = Severity.WARNING if halted or steady else Severity.ADVICE
    if worst.in_turn:
        return turns(one, waits, attached, worst, limits.queue, Severity.NOTE if little else loud)
    see = "" if row else f"{'S' if lasts else 's'}ee what its transaction does: "
    see += BACKUP if idle else IN_ROW if row else sooner(worst.holder, waits.held)
    return Finding(
        subject=f"{one.subject} {comment((worst.place or what).partition(' (of ')[0].partition(' (storage')[0], 60)}",
        severity=loud if waiting >= limits.queue and not little else Severity.NOTE,
        title=holds_up(worst, waiting) + (asks if idle else ""),
        seen=joined(
            f"{holder} holds {worst.what if worst.more else worst.what.partition(' (storage')[0]}{mode}, and "
            f"{worst.said}{worst.passed_on}.",
            f"Also: {held_by([line.holder for line in lines[1:]])}." if lines[1:] else "",
        ),
        because=lasts or "The display is of one moment, which may be over already; statistics do not name a holder.",
        do=with_care(
            joined(
                row.alone(comment(what, 100)) if row else "",
                f"{holder}{f' in {image}' if image else ''} holds {it}{':' if row else '.'} {see}"
                if lasts
                else f"{'' if row else 'Ask again in a minute. '}Where {holder} still holds {it}, {see}",
            ),
            worst if not idle and (lasts or worst.links) else None,
        ),
        evidence=(
            Evidence(f"processes that wait for {holder}", waiting, "", worst.holder.source, limits.queue),
            *(
                Evidence(
                    f"{process_of(lock)} waits for {comment(lock.resource, 60)}", lock.requested or "", "", lock.source
                )
                for lock in worst.waiting[:3]
            ),
        ),
        expects=(Expectation(f"processes that wait for {holder}", waiting, "fewer", "heuristic"),),
        urgent=bool(halted),
    )


def _brief(one: OneDatabase, waits: Waits, mean: Mean, main: list[WaitGroup]) -> str:
    """What to do about many short waits, a sentence or two."""
    if unserved(one, mean, main):
        return log_server(one)
    if (hot := hot_page(waits)) and not page_level(one):
        return hot.do(one)
    if main and is_row(main[0]):
        return (
            f"Change the row of {named(main[0])} last in the transaction and commit at once, or less often: most "
            f"logged stalls are for it, and no lock setting splits one row; {COUNTER}."
        )
    if main:
        see = see_of(one, main[0].resource_kind)
        return BRIEF.format(f"Most logged stalls are for {named(main[0])}{f': {see}' if see else ''}")
    if most := most_waited_for(mean):
        kind, found = most
        see = see_of(one, "deadlock" if by_deadlocks(mean.each, kind) else kind) or "see what asks for them"
        part = f"{rounded(found.processes)} wait for {printed(kind)} locks{found.said}"
        of = f"Of {rounded(mean.waiting)} that wait " if mean.lock_type == "total" else ""
        names = {"record": "rows", "page": "pages"}.get(kind, "") if not waits.of(STALLS) else ""
        return SEE_NAMES.format(f"{of}{part}: {see}", names) if names else BRIEF.format(f"{of}{part}: {see}")
    several = of_several(mean, lambda kind: see_of(one, kind))
    return several or BRIEF.format("Write the screens Locking (rqsts stalled), (proms stalled) and (stall time x100)")


def _severity(
    limits: Limits, long: list[WaitGroup], mean: Mean | None, timeouts: Events | None, share: float | None
) -> Severity:
    """A warning where somebody waits all the time, or several for minutes; one wait, or a few in a long log: a note."""
    if (mean and mean.waiting >= limits.processes) or stopped(long, limits.still_seconds) >= limits.queue:
        return Severity.WARNING
    if not mean and not timeouts and share is not None and share < limits.little:
        return Severity.ADVICE if any(longest_of(group) >= limits.one_seconds for group in long) else Severity.NOTE
    if mean or (timeouts and timeouts.hours) or len(long) > 1 or any(group.processes > 1 for group in long):
        return Severity.ADVICE
    return Severity.ADVICE if any(longest_of(group) >= limits.one_seconds for group in long) else Severity.NOTE


def _title(
    limits: Limits, longest: float | None, mean: Mean | None, timeouts: Events | None, long: Sequence[WaitGroup]
) -> str:
    if longest is not None:
        alone = len({(g.resource_kind, g.resource) for g in long}) == 1 and long[0].resource_kind in ("record", "page")
        return f"processes wait up to {longest:,.1f} s for {named(long[0], short=True) if alone else 'a lock'}"
    if mean and mean.seconds < limits.stall_seconds:
        if mean.lock_type != "total":
            return f"{mean.waiting:,.1f} processes wait for {printed(mean.lock_type)} locks at any moment"
        part = f", most logged stalls for {named(long[0], short=True)}" if long else ""
        part = f", {m[1].processes:,.1f} of them for {printed(m[0])} locks" if (m := most_waited_for(mean)) else part
        return f"{mean.waiting:,.1f} processes wait for locks at any moment{part}"
    if mean:
        return f"a stalled lock request takes {mean.seconds:,.1f} s on average"
    return f"{timeouts.count if timeouts else 0:,} lock requests timed out"


def _main(waits: Waits, limits: Limits) -> list[WaitGroup]:
    """All logged stalls for locks, that of the resource with most of them first; empty where none has most."""
    groups = [group for group in waits.most(STALLS) if not kind_of(group)]
    found = main_of(groups, 1, limits.main_percent)
    return groups if found and total(groups[:1]) >= limits.stalled else []


def _of_timeouts(one: OneDatabase, timeouts: Events, where: str, of: Statistics | None) -> str:
    """With the interval as the header has it."""
    seconds = one.figure("lock_timeout_seconds")
    types = [(kind, found.count) for kind in (of.lock_types if of else ()) if of and (found := _on_screens(of, kind))]
    types = sorted((pair for pair in types if pair[1]), key=lambda pair: -pair[1])[:3]
    where = where or ", ".join(f"{kind} locks {count:,} timeouts" for kind, count in types)
    named_ones = f", waited for: {where}" if where else ""
    after = f" after {seconds:,.0f} s each, as the database is set" if seconds else ""
    over = f"{on_node(of)} ({of.over})" if of else ""
    return f"{timeouts.said} lock requests timed out{over}{after}{named_ones}"


def _nothing(
    one: OneDatabase,
    limits: Limits,
    waits: Waits,
    groups: list[WaitGroup],
    worst: Mean | None,
    crowd: Mean | None,
    timeouts: Events | None,
    refused: Outcome | None,
) -> Outcome:
    """No wait is long: clean where lengths were read, else what would tell."""
    rare = (
        f", {timeouts.said} timeouts (limits {limits.timeouts} and {limits.timeouts_per_hour:g}/h)" if timeouts else ""
    )
    means = (
        f"a stalled request waits {worst.seconds:,.2f} s on average{on_node(worst.each)}, and {crowd.waiting:,.2f} "
        f"processes at any moment{on_node(crowd.each)} (limits {limits.stall_seconds:g} s, Oracle's, over "
        f"{limits.stalled:g} stalls, and {limits.waiting:g} processes, this project's)"
        if worst and crowd
        else ""
    )
    lengths = [longest_of(group) for group in groups if known(group.longest_seconds) and group.kind == "stall"]
    logs = [log for log in waits.logs if log.kind == "stall"]
    if left := sum(log.resources_left_out for log in logs):
        return Unknown(
            (COLLECTED_BY,), f"{one.subject}: {left:,} resources of the stall log were left out, the rarest ones"
        )
    if lengths or (logs and not groups):
        said = f"longest wait for a lock {max(lengths):,.2f} s" if lengths else "the stall log has no wait for a lock"
        said += f" (limit {limits.stall_seconds:g} s, Oracle's)" + (f"; {means}" if means else "")
        return Clean(f"{one.subject}: {said}{rare}")
    interval = one.figure("lock_timeout_seconds")
    if worst and interval and timeouts is None and 100 * worst.seconds >= limits.cut_percent * interval:
        why = f"{one.subject}: {means}, which proves little: a wait ends after {interval:g} s (lock timeout interval)"
        return Unknown((COUNT,), why)
    if worst:
        return quiet(f"{one.subject}: {means}{rare}", worst.each)
    if refused:
        return refused
    seen = ", ".join(named(group) for group in groups[:3] if not known(group.longest_seconds))
    moment = max((longest_of(group) for group in groups if known(group.longest_seconds)), default=None)
    blocked = held_by(culprits(waits.held))
    why = ""
    if seen:
        why = f": processes wait for {seen}, without a length"
    elif moment is not None:
        why = f": the longest of one moment took {moment:,.2f} s so far"
    elif blocked:
        why = f": {blocked}, for how long is not shown"
    return Unknown((COLLECTED_BY,), f"{one.subject}{why}{rare}")
