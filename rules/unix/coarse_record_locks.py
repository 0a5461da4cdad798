"""Processes wait for locks on whole files instead of records.

Finds: in listings of locks (`/proc/locks`, `lslocks`) processes that wait for a lock from the first byte to the end of
a file, or for ranges of one that is locked as a whole (advice where seven or more wait in each of one or two listings,
a warning where one process keeps it so in listing after listing, also where it keeps no more than a range and the same
requests for parts of it stand); many that wait for one record (the locks are fine already: a note, and a warning in
listing after listing) or for one byte, which may stand for the whole file, or for what `lslocks` does not tell from a
whole file (advice, whichever it is, where seven or more wait in each of one or two listings); in measured variants of
a program how much clock time coarse locking takes more than fine.

Why it matters: a lock on the whole file makes all who use it wait for each other, whichever record they want. Measured
for a database program on four cores, coarse locking took 71 % more clock time than fine with 2 processes and about 30 %
more with 6 to 16; with one process there was no difference. Fine locking needed 31 % more calls of fcntl, and its
system time was higher all the same, from 3 processes on (Stevens and Rago, APUE 20.9).

What to do: lock the bytes of the records that are read and written, not the file; with flock, which knows no ranges,
change every program that uses the file to fcntl ranges. Expect clock time to fall and system time to rise. One listing
is one moment: collect several before a program is changed.

When to ignore it: lock files, whose lock is a mutex; programs that need the whole file at once (a backup, a
reorganisation); waiters for ranges, which are record locks at work unless the same ones stand; one process alone; where
fine locking measured no better; where user times or clocks of the runs differ, for then the runs are not comparable.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from collectors.facts import Facts
from collectors.facts.unix import LockingCalls, LockingRun, RecordLock, RecordLockTable
from rules.engine import limit, rule
from rules.finding import Clean, Evidence, Expectation, Finding, MissingInput, Outcome, Severity, Unknown, capitalized
from rules.unix._evidence import clock
from rules.unix._evidence.gains import judge_runs
from rules.unix._evidence.queues import QUEUE_FACTS, Queue, in_turn, named, owners, queues

LINKS = (
    "https://man7.org/linux/man-pages/man5/proc_locks.5.html",
    "https://man7.org/linux/man-pages/man2/F_SETLK.2const.html",
    "https://man7.org/linux/man-pages/man2/flock.2.html",
)
SEVERAL = MissingInput(
    "several listings",
    "several listings, as `for i in 1 2 3 4 5 6; do cat /proc/locks; sleep 10; done` prints them under load",
)
NOTHING_TO_DIVIDE = "If the file only stands for something (a lock file, a mutex), there is nothing to divide."
MOST_FILES = 20
"""Files with a finding of their own: those with the longest queues."""
FIRST_BYTE = MissingInput(
    "whether it is the whole file or its first byte (lslocks prints 0 for both)",
    "the output of `cat /proc/locks` while processes wait",
)
ONE_BYTE = (
    "A lock of one byte stands for something else: a record, a list, or all of the file. All of them want that one, "
    "whichever record they use."
)
ZERO = "lslocks prints 0 for the end of the file and for its first byte."
PUBLISHED = (
    Expectation(
        "clock time, that of coarse locking being 100 (2 to 16 processes on four cores)",
        100,
        "58 to 77",
        "published",
    ),
    Expectation("calls of fcntl, those of coarse locking being 100", 100, 131, "published"),
)


@dataclass(frozen=True)
class Limits:
    """How long a queue is worth a word, and how much time finer locking has to save."""

    waiters: int = limit(
        2, "this project: one waiter is what locks are for; two wait for each other, too", low=1, unit="waiters"
    )
    listings: int = limit(
        3, "this project: seen in most of so many listings it is no chance", low=2, high=1000, unit="listings"
    )
    record_waiters: int = limit(
        5, "this project: fewer that wait for one record are record locks at work", low=2, unit="waiters"
    )
    crowd: int = limit(
        7,
        "this project: behind a lock that is held half of the time, fewer than one moment in a hundred has so many",
        low=2,
        unit="waiters",
    )
    clock_percent: float = limit(
        10.0,
        "this project: twice what runs of one test repeat to; 30 to 71 in APUE 20.9, from 2 processes on",
        low=1,
        unit="% of the clock time of fine locking",
    )


@rule(needs=(), uses=(*QUEUE_FACTS, *clock.CLOCK_FACTS, LockingCalls), links=LINKS, limits=Limits)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge the listings, then the measured variants."""
    tables = facts.every(RecordLockTable)
    if tables:
        yield from _listings(facts, tables, limits)
    if facts.every(LockingRun):
        yield from judge_runs(facts, limits.clock_percent)
    elif not tables:
        yield Unknown.of(RecordLockTable, LockingRun)


def _listings(facts: Facts, tables: Sequence[RecordLockTable], limits: Limits) -> Iterator[Outcome]:
    found = sorted(queues(facts).values(), key=lambda several: -max(len(one.waiters) for one in several))
    if sum(one.waiters for one in tables) == 0:
        yield Clean(f"{_of(tables)}: at most {max(one.locks for one in tables):,} locks held, no process waits")
        return
    if not found:
        yield Clean(f"{_of(tables)}: what waits are no record locks")
    outcomes = [_judge(several, tables, limits) for several in found[:MOST_FILES]]
    yield from outcomes
    if any(isinstance(one, Finding) and one.unknown.startswith(ZERO) for one in outcomes):
        yield Unknown((FIRST_BYTE,))
    if len(found) > MOST_FILES:
        yield Clean(f"{len(found) - MOST_FILES:,} more files with shorter queues")
    if any(isinstance(one, Finding) for one in outcomes) and len(tables) < limits.listings:
        yield Unknown((SEVERAL,))


def _judge(several: Sequence[Queue], tables: Sequence[RecordLockTable], limits: Limits) -> Outcome:
    worst = max(several, key=lambda one: (len(one.whole), len(one.waiters)))
    name, count = named(tuple(lock for one in several for lock in one.locks)), len(worst.whole)
    if any(one.mutex for one in several):
        return Clean(f"{name}: a lock file, {len(worst.waiters)} wait for it: a mutex has no parts")
    if not count:
        return _ranged(several, tables, name, limits)
    seen = sum(len(one.whole) >= limits.waiters for one in several)
    if len(worst.unsure) == count:
        if count < limits.record_waiters:
            return Unknown((FIRST_BYTE,), f"{name}: {count} wait for the whole file or for its first byte")
        return _unsure(worst, seen, tables, name, limits)
    if count < limits.waiters:
        return Clean(f"{name}: {count} waits for the whole file (limit {limits.waiters}): that is what locks are for")
    often = "" if len(tables) == 1 else f"; in {seen} of {len(tables)} listings {limits.waiters} or more wait"
    do = (
        "use fcntl ranges in every program that uses this file, for flock locks whole files and nothing smaller"
        if worst.flock
        else "lock the bytes of the records that are read and written instead"
    )
    few = "Each listing shows one moment, so collect several before a program is changed; then "
    do = f"{few}{do}." if len(tables) < limits.listings else f"{capitalized(do)}."
    held = worst.holders(worst.whole)
    turns = in_turn([one.holders(one.whole) for one in several if len(one.whole) >= limits.waiters])
    by = turns or (owners(held[:1]) if len(held) == 1 else "")
    return Finding(
        subject=f"{name} (flock)" if worst.flock else name,
        severity=_severity(worst, count, seen, len(tables), limits),
        title=f"{count} wait for {'flock on' if worst.flock else 'a lock on all of'} {name}"
        + (f", held by {by}" if by else ""),
        seen=(
            f"{count} of {len(worst.waiters)} waiters want the whole file, from its first byte to its end: "
            f"{owners(worst.whole)}. {_held(held, turns)}{often}."
        ),
        because=(
            "A lock on the whole file makes all who use it wait for each other, whichever record they want. With finer "
            "locks expect clock time to fall and system time to rise, as they take more calls."
        ),
        do=f"{do} {NOTHING_TO_DIVIDE}",
        unknown="How long they wait no listing tells.",
        evidence=(
            Evidence("waiters for the whole file", count, "waiters", worst.whole[0].source, limits.waiters),
            *(Evidence("held by", owners((one,)), "", one.source) for one in held[:4]),
            Evidence("listings with such a queue", seen, f"of {len(tables)}", worst.table.source),
        ),
        expects=PUBLISHED,
        weight=float(count),
    )


def _unsure(worst: Queue, seen: int, tables: Sequence[RecordLockTable], name: str, limits: Limits) -> Finding:
    """Many that wait for the whole file or for its first byte: who holds it is told whichever it is."""
    held, count = worst.holders(worst.whole), len(worst.whole)
    lone = owners(held) if len({one.pid for one in held}) == 1 else ""
    return Finding(
        subject=name,
        severity=min(Severity.ADVICE, _severity(worst, count, seen, len(tables), limits)),
        title=f"{count} wait for {name}{f', held by {lone}' if lone else ''}",
        seen=f"{owners(worst.whole)} wait for the whole file or for its first byte. {_held(held)}.",
        because="All of them wait for one lock, whichever record they want.",
        do=(
            f"Look again with `cat /proc/locks`, twice some seconds apart: if they still wait, see what "
            f"{lone or 'the holder'} does while it holds this lock. Where its range ends in EOF, lock the bytes of the "
            "records instead of the file (more calls of fcntl)."
            if len(tables) < limits.listings
            else f"See what {lone or 'the holder'} does while it holds this lock. If `cat /proc/locks` shows a range "
            "that ends in EOF, lock the bytes of the records instead of the file."
        ),
        unknown=f"{ZERO} How long they wait no listing tells.",
        evidence=(
            Evidence("waiters for one lock", count, "waiters", worst.whole[0].source, limits.record_waiters),
            *(Evidence("held by", owners((one,)), "", one.source) for one in held[:4]),
            Evidence("listings with such a queue", seen, f"of {len(tables)}", worst.table.source),
        ),
        weight=float(count),
    )


def _severity(worst: Queue, count: int, seen: int, listings: int, limits: Limits) -> Severity:
    """A note for a rare queue or fewer listings than are needed: a moment tells nothing of what is lost.

    So long a queue in each of the few that were brought is worth a look all the same: advice.
    """
    if listings < limits.listings and seen == listings and count >= limits.crowd:
        return Severity.ADVICE
    if listings < limits.listings or 2 * seen < listings:
        return Severity.NOTE
    return Severity.ADVICE if worst.flock else Severity.WARNING


def _lasting(seen: int, listings: int, limits: Limits) -> bool:
    """Whether a queue is in as many listings as are needed, and in half of those that were brought."""
    return seen >= limits.listings and 2 * seen >= listings


def _ranged(several: Sequence[Queue], tables: Sequence[RecordLockTable], name: str, limits: Limits) -> Outcome:
    """Waiters for ranges: record locks at work, unless one has the whole file, or many wait for one record."""
    worst = max(several, key=lambda one: len(one.behind_whole))
    behind = worst.behind_whole
    if len(behind) < limits.waiters:
        unsure = max(several, key=lambda one: len(one.behind_unsure)).behind_unsure
        if len(unsure) >= limits.waiters:
            why = f"{name}: {len(unsure)} wait for ranges behind a lock on the whole file or on its first byte"
            return Unknown((FIRST_BYTE,), why)
        hot, standing = max(several, key=lambda one: len(one.hottest_range)), _standing(several, tables, name, limits)
        if len(hot.hottest_range) >= limits.record_waiters:
            record = _one_record(hot, several, tables, name, limits)
            return record if record.severity is Severity.WARNING else standing or record
        if standing:
            return standing
        waiting = max(len(one.waiters) for one in several)
        return Clean(
            f"{name}: {waiting} {'waits' if waiting == 1 else 'wait'} for ranges of it, not for the whole file"
        )
    held = worst.holders(behind)
    over = [one for one in several if len(one.behind_whole) >= limits.waiters]
    same = _holds_in_all([one.holders(one.behind_whole) for one in over])
    often_seen = _lasting(len(over), len(tables), limits)
    lasts, again = often_seen and bool(same), often_seen and not same
    who = owners(same or held)
    few = len(over) == len(tables) < limits.listings
    many = few and bool(same) and min(len(one.behind_whole) for one in over) >= limits.crowd
    often = f" So it is in {len(over)} of {len(tables)} listings" if len(tables) > 1 else ""
    turns = "" if same or not often else ", with another holder"
    return Finding(
        subject=name,
        severity=Severity.WARNING if lasts else Severity.ADVICE if again or many else Severity.NOTE,
        title=(
            f"{who} keeps all of {name} locked: {len(behind)} that lock ranges wait"
            if lasts
            else f"{len(behind)} that lock ranges of {name} wait for one that locks all of it"
            + (f": {who}" if len({one.pid for one in held}) == 1 and not again else "")
        ),
        seen=(
            f"{owners(behind)} wait for ranges of the file, which {who} has locked from its first byte to its "
            f"end.{often}{turns}{'.' * bool(often)}"
        ),
        because=(
            "All of them wait for one lock, whichever record they want. A reorganisation may need that; a backup can "
            "read a snapshot instead, and a program that changes records can lock those alone."
        ),
        do=(
            f"See what {who} does{_ps(same)}, and let it end: those that wait lock ranges already. Later run it "
            "outside the hours of service, or have it lock in portions, range by range."
            if lasts
            else f"See which program locks all of {name} in turn, here {who}{_ps(held)}: where it changes records, "
            "have it lock the bytes of these alone (fcntl, F_SETLKW with start and length), as those that wait do."
            if again
            else f"See what {who} does{_ps(same)}, and list the locks again some seconds later: if it still holds this "
            "one, let it end. Later let it read a snapshot or a copy of the file, where it only reads, or run it "
            "outside the hours of service."
            if many
            else "See whether it lasts: one listing is one moment."
            if len(tables) == 1
            else "See whether it lasts, in listings some seconds apart: each is one moment."
        ),
        unknown="How long they wait no listing tells." if lasts or again or many else "",
        evidence=(
            Evidence("waiters behind it", len(behind), "waiters", behind[0].source, limits.waiters),
            *(Evidence("held by", owners((one,)), "", one.source) for one in held[:4]),
            *((Evidence("listings with that holder", len(over), f"of {len(tables)}", worst.table.source),) * lasts),
        ),
        weight=float(len(behind)) if lasts else None,
    )


def _holds_in_all(held: Sequence[tuple[RecordLock, ...]]) -> tuple[RecordLock, ...]:
    """The one process that is among the holders of each listing, with its command where one names it."""
    pids = set.intersection(*({lock.pid for lock in locks} for locks in held)) - {-1} if held else set()
    locks = [lock for several in held for lock in several if lock.pid in pids]
    return (max(locks, key=lambda lock: bool(lock.command)),) if len(pids) == 1 else ()


def _ps(same: Sequence[RecordLock]) -> str:
    """The command that shows the one process that holds, in brackets."""
    return f" (`ps -o pid,etime,args -p {same[0].pid}`)" if same and same[0].pid > 0 else ""


def _one_record(
    hot: Queue, several: Sequence[Queue], tables: Sequence[RecordLockTable], name: str, limits: Limits
) -> Finding:
    """Many wait for one record: the locks are fine already, and one of them is held while others want it."""
    waiting = hot.hottest_range
    first, count = waiting[0], len(waiting)
    one_byte = first.end == first.start and not first.whole_file and first.end_sure
    to = f"to {first.end:,}" if first.end is not None else "to the end"
    span = f"byte {first.start:,}" if one_byte else f"bytes {first.start:,} {to}"
    over = [
        (queue, those)
        for queue in several
        if len(those := queue.waiting_for(first.start, first.end)) >= limits.record_waiters
    ]
    held, seen = hot.holders(waiting), len(over)
    same = _holds_in_all([queue.holders(those) for queue, those in over])
    lasts = _lasting(seen, len(tables), limits)
    who, record = owners(same or held[:1]), f"{span} of {name}"
    turns = "" if same or not lasts else in_turn([queue.holders(those) for queue, those in over])
    whose = who if same else "the program of these" if turns else "the holder"
    severity = Severity.WARNING if lasts else min(Severity.ADVICE, _severity(hot, count, seen, len(tables), limits))
    title = f"{'' if one_byte else 'not coarse: '}{count} wait for one {'byte' if one_byte else 'record'} of {name}" + (
        f", held by {who}" if len(held) == 1 else ""
    )
    if severity is Severity.ADVICE:
        title = f"{count} wait for {record}"
    if lasts:
        title = f"{who} keeps {record} locked: {count} wait" if same else f"{count} wait for {record} again and again"
        title += f", held by {turns}" if turns else ""
    return Finding(
        subject=name,
        severity=severity,
        title=title,
        seen=(
            f"{owners(waiting)} wait for {span}. {_held(held, turns)}; seen in {seen} of "
            f"{len(tables)} {_listings_of(tables)}."
        ),
        because=ONE_BYTE if one_byte else "Finer locks change nothing here: all of them want one record.",
        do=_of_byte(who if same or len(held) == 1 else "", same or held, lasts=lasts, turns=bool(turns))
        if one_byte
        else (
            f"See what {whose} does{_ps(same)} while it holds {span}, and "
            "let it unlock them before it waits for anything else. Where they are a counter or the head of a list, "
            "allot numbers in blocks or divide the list, so that fewer need the same record."
        ),
        unknown="How long they wait no listing tells." if severity > Severity.NOTE else "",
        evidence=(
            Evidence("waiters for one record", count, "waiters", first.source, limits.record_waiters),
            *(Evidence("held by", owners((one,)), "", one.source) for one in held[:4]),
            Evidence("listings with such a queue", seen, f"of {len(tables)}", hot.table.source),
        ),
        weight=float(count),
    )


def _of_byte(who: str, held: Sequence[RecordLock], *, lasts: bool, turns: bool) -> str:
    """What to do about a byte that many lock: what it stands for decides, and whether one process keeps it."""
    see = f"see what {who} does{_ps(held)}" if who else "see what the holder does"
    return (
        "Where it stands for the whole file, lock the bytes of the record instead (fcntl, F_SETLKW with start and "
        "length); for a counter or the head of a list, allot numbers in blocks or divide the list. "
        + (
            "Another process holds it in each listing, so none of them is to blame."
            if turns
            else f"In listing after listing it is held: {see} meanwhile."
            if lasts
            else f"List the locks again some seconds later: if the same process still holds it, {see}; else none of "
            "them is to blame."
        )
    )


def _standing(several: Sequence[Queue], tables: Sequence[RecordLockTable], name: str, limits: Limits) -> Finding | None:
    """One process keeps a range, and the same requests for parts of it stand in listing after listing."""
    found = []
    for pid in {lock.pid for one in several for lock in one.held} - {-1}:
        behind = [(one, those) for one in several if len(those := one.behind(pid)) >= limits.waiters]
        asked = [{(one.pid, one.start, one.end) for one in those} for _, those in behind]
        if _lasting(len(behind), len(tables), limits) and len(set.intersection(*asked)) >= limits.waiters:
            found.append((len(set.intersection(*asked)), -pid, behind))
    if not found:
        return None
    stood, negative, behind = max(found, key=lambda one: one[:2])
    worst, waiting = max(behind, key=lambda pair: len(pair[1]))
    holders = [lock for lock in worst.holders(waiting) if lock.pid == -negative]
    who, counts = owners(tuple(holders[:1])), sorted(len(those) for _, those in behind)
    first, last = min(one.start for one in holders), max((one.end or one.start) for one in holders)
    to = "to the end" if any(one.end is None for one in holders) else f"to {last:,}"
    often = f"{len(behind)} of {len(tables)} listings"
    return Finding(
        subject=name,
        severity=Severity.WARNING,
        title=f"{who} keeps bytes {first:,} {to} of {name} locked: {counts[-1]} wait in {often}",
        seen=(
            f"{owners(waiting, 6)} wait for parts of bytes {first:,} {to}, held by {who} in {often}, "
            f"{counts[0]} to {counts[-1]} at a time; {stood} of these requests are in all {len(behind)}."
        ),
        because="One process keeps its range while others wait, so this is no queue that moves.",
        do=(
            f"See what {who} does{_ps(holders)} and what it waits for, a terminal, a pipe or a network; let it go on "
            "or end it. Then have it lock only around the change of each record, and read its input before."
        ),
        unknown="How long they wait no listing tells, nor whether it is the same lock all the time.",
        evidence=(
            Evidence("waiters behind it", counts[-1], "waiters", waiting[0].source, limits.waiters),
            Evidence("held by", who, "", holders[0].source),
            Evidence("listings with that holder", len(behind), f"of {len(tables)}", worst.table.source),
        ),
        weight=float(counts[-1]),
    )


def _held(held: Sequence[RecordLock], turns: str = "") -> str:
    """Who holds the lock; of `turns`, where another process does in each listing."""
    if turns:
        return f"The lock is held by {turns}"
    return f"The lock is held by {owners(tuple(held))}" if held else "Who holds it the listing does not show"


def _of(tables: Sequence[RecordLockTable]) -> str:
    return "One listing" if len(tables) == 1 else f"{len(tables)} listings"


def _listings_of(tables: Sequence[RecordLockTable]) -> str:
    return "listing" if len(tables) == 1 else "listings"
