"""What rules take from lock statistics: those that can be believed, of each node the best, per transaction and node.

Averages since a reset long ago say nothing of the busy hour: `quiet` then asks for two writes instead of calling it
clean, and `averaged` says so in a finding.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from math import inf
from typing import TypeVar

from collectors.facts import OVERFLOW, Facts, Reading, Source, known
from collectors.facts.openvms import ClusterMember, DistributedLockRates, LockRates, MonitorSample, T4File
from collectors.facts.rdb import StatisticRow
from rules.changes.quoting import comment
from rules.finding import Clean, Evidence, MissingInput, NotApplicable, Outcome, Span, Unknown, Untrusted
from rules.laws.rounding import plain
from rules.rdb._evidence.databases import DATABASE_FACTS, OneDatabase
from rules.rdb._evidence.sharing import SHARING_FACTS, SUSTAINED
from rules.rdb._evidence.statistics import APART, STATISTICS_FACTS, Rate, Statistics, attached, statistics_of, trusted

T = TypeVar("T")

COUNTED_FACTS = (*DATABASE_FACTS, *STATISTICS_FACTS, *SHARING_FACTS)
"""What a rule that judges counted rates of a database has to declare."""
DAY = 86_400.0
LONG = DAY
"""An average over more than this holds nights with the busy hours (this project)."""
BUSY = MissingInput("the busy hour by itself, not the average since a reset", StatisticRow.COLLECTED_BY)
ATTACHED = MissingInput("whether there were users", "RMU/SHOW USERS ! and the root file, on the same node")
CUT = "the screens of RMU/SHOW STATISTICS are cut, so give it /ROWS=n and /COLUMNS=n (7.2.5 and later)"
ASKED = ("locks requested", "locks promoted")
"""What can meet a conflict: a blocking AST, a stall or a deadlock is of one of these."""
STALLED = ("requests stalled", "promotions stalled")
DEADLOCKED = ("request deadlocks", "promotion deadlocks")
BLASTS = "blocking asts"
STALL_TIME = "stall time x100"
HUNDREDTHS = 100
AT_MOST = 110.0
"""Per cent of the node's own lock operations: a database beyond that was measured at another time (this project)."""


TIMES_THE_NODE = 10.0
"""This project: beyond an order of magnitude no rounding and no neighbouring minute explains it."""


def counted(facts: Facts, one: OneDatabase) -> tuple[list[Statistics], Outcome | None]:
    """The statistics that can be judged, intervals first; and, where there are none, why (`None`: none were collected).

    A screen full of zeros is no statistic, also where the export does not tell whether anybody was attached. Nor are
    screens that are cut, where nothing of the locks is left: what would be judged is there, and cannot be read.
    """
    believed, refused = trusted(statistics_of(facts, one), one)
    against = [_contradicted(facts, one, each) for each in believed]
    found = [each for each, said in zip(believed, against, strict=True) if said is None]
    refused = refused or next((said for said in against if said), None)
    good = [each for each in found if not each.all_zero]
    if any(kind for each in good for kind, _ in each.rates) or refused:
        return good, refused
    zero = [each for each in found if each.all_zero]
    if zero and all(attached(each, one) == 0 for each in zero):
        return good, NotApplicable(f"{one.subject}: every lock counter is zero, and nobody was attached")
    if zero:
        why = f"{one.subject}: every lock counter is zero: nothing was locked, or statistics are disabled"
        return good, Unknown((ATTACHED,), why)
    if any(window.lines_cut for window in one.windows):
        return good, Untrusted(f"{one.subject}: {CUT}")
    return good, None


def _contradicted(facts: Facts, one: OneDatabase, each: Statistics) -> Untrusted | None:
    """Say where a database asks for many times the locks that its whole node did at any moment of the same capture.

    The whole cannot be less than its part: one of the two is misread, or of another node. Only what T4 or MONITOR
    measured over half the time of the screens or more counts; a node's rate below 1/s counts as 1/s.
    """
    operations, asked = each.operations(), each.rate(ASKED[0], "total")
    if operations is None or asked is None or each.merged:
        return None
    files = _over_the_same_time(facts, one, each, asked)
    rates = [
        (total, rate)
        for rate in facts.every(LockRates)
        if rate.source.file in files
        and not _foreign(rate.node, each.node)
        and (total := rate.operations_per_second) is not None
    ]
    most, node = max(rates, key=lambda pair: pair[0], default=(None, None))
    if most is None or node is None or operations <= TIMES_THE_NODE * max(most, 1.0):
        return None
    return Untrusted(
        f"{operations:,.0f} lock operations/s of the database ({asked.source}), but its node has {most:,.0f}/s at most "
        f"({node.source}): both cannot be true of one node and time, so nothing is concluded from these screens. "
        "Collect both anew over the same minutes"
    )


def _over_the_same_time(facts: Facts, one: OneDatabase, each: Statistics, row: Rate) -> set[str]:
    """The files of T4 and MONITOR that cover half the time of a screen, or more."""
    times = [window.at for window in one.windows if window.screen == row.screen and window.over == each.over]
    end = max((at for at in times if at), default=None)
    if end is None or not row.seconds:
        return set()
    start = end - timedelta(seconds=row.seconds)
    samples: list[T4File | MonitorSample] = [*facts.every(T4File), *facts.every(MonitorSample)]
    return {
        sample.source.file
        for sample in samples
        if sample.start
        and sample.end
        and 2 * (min(end, sample.end) - max(start, sample.start)).total_seconds() >= row.seconds
    }


def of_each_node(found: Iterable[Statistics], read: Callable[[Statistics], T | None]) -> list[tuple[T, Statistics]]:
    """Of each node the first figure that `read` finds: of an interval where there is one, else since the reset."""
    best: dict[tuple[str, bool], tuple[T, Statistics]] = {}
    for each in found:
        if figure := read(each):
            best.setdefault(((each.node or "").upper(), bool(each.merged)), (figure, each))
    return list(best.values())


def averaged(each: Statistics) -> str:
    """A sentence on averages of a long time, or nothing."""
    if each.over == "interval" or each.seconds is None or each.seconds < LONG:
        return ""
    return (
        f"These are averages of the {each.seconds / DAY:,.1f} days since the last reset: the busy hour may be higher, "
        "so collect two writes of the same screens, some minutes apart."
    )


def caveats(one: OneDatabase, each: Statistics | None) -> str:
    """A sentence on averages, or on a header of another time than the figures, or nothing."""
    said, dates = averaged(each) if each else "", one.another_time
    if not dates:
        return said
    start = f"{said.removesuffix('.')}; header" if said else "Header"
    return f"{start} and figures are of different times ({dates}): read both again first."


def by_node(facts: Facts, one: OneDatabase, found: Iterable[Statistics]) -> str:
    """`ALFA 33,400 lock operations/s of the database, 211 users; BRAVO …`: what each node does; or nothing.

    Of the database where two nodes or more have screens of their own; else of all that the nodes lock.
    """
    own = of_each_node(found, Statistics.operations)
    rates = {each.node.upper(): total for total, each in own if each.node and not each.merged}
    users = {seen.node.upper(): seen.users for seen in one.sightings}
    what = "of the database"
    if len(rates) < 2:
        what = "in all"
        members = [member for member in facts.every(ClusterMember) if member.name.upper() in users]
        rates = {member.name.upper(): total for member in members if (total := _asked_by(member)) is not None}
    if len(rates) < 2:
        return ""
    named = sorted(rates.items(), key=lambda pair: (-pair[1], pair[0]))
    said = [
        f"{comment(name, 31)} {total:,.0f}/s" + (f" by {count:,.0f} users" if (count := users.get(name)) else "")
        for name, total in named
    ]
    return f"Lock operations {what} by node: {', '.join(said)}."


def _asked_by(member: ClusterMember) -> float | None:
    """Lock operations per second that a node asks for itself."""
    local, outgoing = member.local_per_second, member.outgoing_per_second
    return local + outgoing if known(local) and known(outgoing) and min(local, outgoing) >= 0 else None


def rounded(value: float) -> str:
    """For a sentence: at most three significant digits, two below 1. The evidence has the figure as read."""
    if abs(value) < 1:
        return plain(value, 2)
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    said = f"{value:,.{digits}f}"
    return said.rstrip("0").rstrip(".") if digits else said


def quiet(why: str, each: Statistics) -> Outcome:
    """Below the limits: clean, unless the average of a long time hides the busy hour."""
    said = averaged(each)
    return Unknown((BUSY,), f"{why}. {said}") if said else in_order(why, each)


def in_order(why: str, each: Statistics) -> Clean:
    """Below the limits, as far as the screens were counted long enough, which the engine decides."""
    return Clean(why, span=None if each.seconds is None else Span(each.seconds, StatisticRow.COLLECTED_BY))


def on_node(each: Statistics) -> str:
    """` on ORKNEY`, ` on all nodes of the merged screens`, or empty."""
    if each.merged:
        return " on the nodes of the merged screens" + (f", written on {each.node}" if each.node else "")
    return f" on {each.node}" if each.node else ""


def rows_of(each: Statistics, items: Sequence[str], lock_type: str = "total") -> list[Rate]:
    """Those of some rows of a lock type that were read."""
    return [rate for item in items if (rate := each.rate(item, lock_type))]


def per_transaction(each: Statistics, rates: Sequence[Rate]) -> float | None:
    """What a transaction has of some rows together; `None` where transactions were not counted over the same span.

    By division where Summary IO is there: the screens print one decimal. Else as printed.
    """
    done = each.transactions
    if not rates:
        return None
    if done and done.per_second > 0 and all(_same_span(rate, done) for rate in rates):
        return sum(rate.per_second for rate in rates) / done.per_second
    printed = [rate.per_transaction for rate in rates if rate.per_transaction is not None]
    return sum(printed) if len(printed) == len(rates) else None


def _same_span(one: Rate, other: Rate) -> bool:
    if not one.seconds or not other.seconds:
        return True
    return max(one.seconds, other.seconds) <= APART * min(one.seconds, other.seconds)


@dataclass(frozen=True)
class Stalled:
    """Requests and promotions of one lock type that had to wait."""

    per_second: float
    percent: float | None
    """Of those of all lock types; `None`: not in the export."""
    source: Source


def shown(metric: str, one: Rate | Stalled | None, limit: float | None = None) -> tuple[Evidence, ...]:
    """A rate as proof, with one decimal, as the screens print it; nothing where it was not read."""
    return (Evidence(metric, round(one.per_second, 1), "/s", one.source, limit),) if one else ()


def stalled_of(each: Statistics, lock_type: str = "total", beside: Sequence[str] = ()) -> Stalled | None:
    """What waited of one lock type; `None` where no such row was read.

    `beside`: types to add it up with: of rows that not all of them have none is counted.
    """
    items = [item for item in STALLED if all(each.rate(item, kind) for kind in (lock_type, *beside))]
    rates = rows_of(each, items, lock_type)
    if not rates:
        return None
    here, whole = sum(rate.per_second for rate in rates), rows_of(each, items)
    total = sum(rate.per_second for rate in whole)
    percent = min(100.0, 100 * here / total) if total and len(whole) == len(rates) else None
    return Stalled(here, percent, max(rates, key=lambda rate: rate.per_second).source)


TIMES = MissingInput(
    "how long requests that stall wait",
    "a write (key W) of the RMU/SHOW STATISTICS screen Summary Locking Statistics, or of Locking (stall time x100)",
)


def untimed(one: OneDatabase, found: Iterable[Statistics]) -> Unknown | None:
    """That requests stall on the node where most do, for which lock type, and that only their time was not written."""
    counts = [(stalled, each) for each in found if not each.rate(STALL_TIME, "total") and (stalled := stalled_of(each))]
    stalled, each = max(counts, key=lambda pair: pair[0].per_second, default=(None, None))
    if stalled is None or each is None or not stalled.per_second:
        return None
    parts = [(part.percent, kind) for kind in each.lock_types if (part := stalled_of(each, kind)) and part.percent]
    percent, kind = max(parts, default=(0.0, ""))
    most = f", {percent:.0f} % of them for {kind} locks" if kind else ""
    why = f"{rounded(stalled.per_second)} lock requests/s stall{on_node(each)}{most}; for how long is not in the export"
    return Unknown((TIMES,), f"{one.subject}: {why}")


def explained(each: Statistics, kinds: Sequence[str], main_percent: float) -> tuple[str, ...]:
    """The rules of blocking ASTs and of stalls, where most of either are for these lock types.

    Where blocking ASTs were counted in all alone, by what stalls: a request that stalls disturbs a holder (inferred).
    """
    blasts = sum(rate.per_second for kind in kinds if (rate := each.rate(BLASTS, kind)))
    whole = each.rate(BLASTS, "total")
    stalls = part_of_stalls(each, kinds) >= main_percent
    if whole and stalls and not any(item == BLASTS and kind != "total" for kind, item in each.rates):
        blasts = sum(found.per_second for kind in kinds if (found := stalled_of(each, kind)))
    most = whole and whole.per_second and 100 * blasts / whole.per_second >= main_percent
    return (("rdb/blocking_asts_high",) if most else ()) + (("rdb/lock_stalls_long",) if stalls else ())


def part_of_stalls(each: Statistics, kinds: Sequence[str]) -> float:
    """What these lock types are of all stalls, %: of the time, where that of each was counted, else of the requests.

    0 where neither was read. Of many short stalls and few long ones the long ones are what people wait for.
    """
    time, whole = [each.rate(STALL_TIME, kind) for kind in kinds], each.rate(STALL_TIME, "total")
    counted_ones = [rate.per_second for rate in time if rate]
    if whole and whole.per_second and len(counted_ones) == len(kinds):
        return 100 * sum(counted_ones) / whole.per_second
    return sum(one.percent for kind in kinds if (one := stalled_of(each, kind)) and one.percent is not None)


@dataclass(frozen=True)
class AskedBack:
    """Blocking ASTs of a lock type as per cent of its locks requested and promoted; bounds where not all was read."""

    least: float
    most: float
    """Infinite where the requests of this lock type were not read."""
    rate: Rate
    asked: float | None
    """Requested and promoted, per second; `None`: only one of the two was read of this lock type."""

    @property
    def exact(self) -> bool:
        """Whether both locks requested and promoted were read."""
        return self.asked is not None

    @property
    def said(self) -> str:
        """`30.3 %`, `22 to 34 %` or `at most 34 %`, for a sentence."""
        if self.exact:
            return f"{rounded(self.least)} %"
        if self.most == inf:
            return f"at least {rounded(self.least)} %"
        return f"{rounded(self.least)} to {rounded(self.most)} %" if self.least else f"at most {rounded(self.most)} %"

    def evidence(self, metric: str, limit: float) -> Evidence:
        """The share held against a limit: its lower bound where only bounds are known."""
        name = metric if self.exact else f"{metric}, at least"
        return Evidence(name, round(self.least, 1), "%", self.rate.source, limit)


PROMOTED = MissingInput(
    "locks promoted by lock type",
    "a write (key W) of the RMU/SHOW STATISTICS screen Locking (locks promoted), or of the lock type's own, as "
    "Locking (record locks), right after the others",
)


def asked_back(each: Statistics, lock_type: str = "total") -> AskedBack | None:
    """What of a lock type its holders were asked to give up; `None` where blocking ASTs or requests were not read.

    A lock type has no more promotions than all have that are not known to be of others: that bounds its share where
    Locking (locks promoted) was not written. Zero requests are no share.
    """
    blasts, requested = each.rate(BLASTS, lock_type), each.rate(ASKED[0], lock_type)
    if blasts is None or requested is None:
        return None
    whole = each.operations(lock_type, ASKED)
    if whole is not None:
        part = 100 * blasts.per_second / whole if whole else 0.0
        return AskedBack(part, part, blasts, whole) if whole else None
    if not requested.per_second:
        return None
    promoted = each.rate(ASKED[1], "total")
    others = sum(rate.per_second for kind in each.lock_types if (rate := each.rate(ASKED[1], kind)))
    most = 100 * blasts.per_second / requested.per_second
    if promoted is None or lock_type == "total":
        return AskedBack(0.0, most, blasts, None)
    bound = requested.per_second + max(0.0, promoted.per_second - others)
    return AskedBack(100 * blasts.per_second / bound, most, blasts, None)


WAITING = 0.1
"""This project: where less than a tenth of a process waits on average, the waits cost nothing worth a change."""
ONE_WAITS = 1.0
"""This project: where a process waits at any moment, waits cost enough, however many requests they are of."""


SEARCHED_AFTER = 10.0
"""Seconds a request waits before a deadlock is searched for: the default of DEADLOCK_WAIT."""
BY_SEARCHES_PERCENT = 25.0
"""This project: where deadlocks alone keep a quarter of those that wait, they come first; others queue behind these."""


def by_deadlocks(each: Statistics, lock_type: str = "total", after: float = SEARCHED_AFTER) -> float | None:
    """How many processes deadlocks alone keep waiting on average, where that is a good part of all that wait.

    Inferred: the deadlocks in a second times DEADLOCK_WAIT (`after`, seconds). `None`: not counted, or a small part.
    """
    ended = after * sum(rate.per_second for rate in rows_of(each, DEADLOCKED, lock_type))
    crowd = waiting_of(each, lock_type)
    waiting = crowd.per_second / HUNDREDTHS if crowd else 0.0
    return min(ended, waiting) if waiting and 100 * ended >= BY_SEARCHES_PERCENT * waiting else None


def waiting_of(each: Statistics, lock_type: str = "total") -> Rate | None:
    """The row of the time that was waited, where it has any: ÷ 100 the processes that wait on average."""
    time = each.rate(STALL_TIME, lock_type)
    return time if time is not None and time.per_second > 0 else None


@dataclass(frozen=True)
class TypeWaits:
    """How many processes wait for locks of one type on average."""

    processes: float
    source: Source
    by: str = ""
    """From what it was inferred, for a sentence; empty: it was counted."""

    @property
    def said(self) -> str:
        """`49 processes wait for page locks` goes on behind the number; with how it is known."""
        return f" (inferred from {self.by})" if self.by else ""


def waits_for(each: Statistics, lock_type: str) -> TypeWaits | None:
    """Processes that wait for locks of one type on average; `None` where no screen tells, nor lets it be inferred.

    Counted where the type's own stall time was written. Else the time of all, divided by what stalled of each type or,
    where that was not written either, by the blocking ASTs, which the vendor calls an indication of contention: both
    are inferences, for a stall of one type may take longer than one of another.
    """
    own, whole = each.rate(STALL_TIME, lock_type), each.rate(STALL_TIME, "total")
    if own is not None:
        return TypeWaits(own.per_second / HUNDREDTHS, own.source)
    if whole is None:
        return None
    stalled = stalled_of(each, lock_type)
    if stalled and stalled.percent is not None:
        part, by, source = stalled.percent, "their part of the requests that stall", stalled.source
    else:
        blasts, every = each.rate(BLASTS, lock_type), each.rate(BLASTS, "total")
        if blasts is None or every is None or not every.per_second:
            return None
        part, by, source = 100 * blasts.per_second / every.per_second, "their part of the blocking ASTs", blasts.source
    return TypeWaits(min(part, 100.0) / 100 * whole.per_second / HUNDREDTHS, source, by)


def waits_matter(each: Statistics, stalled: float | None, least: float, lock_type: str = "total") -> bool:
    """Whether waits cost anything: by how long they take together where that was counted, else by how many there are.

    Of one lock type it is inferred where only the time of all was written: a part of next to nothing is nothing.

    `stalled`: requests that stall, per second or for each hundred transactions; `least`: from how many on they count
    where their time is not known.
    """
    time = waiting_of(each, lock_type)
    if time is not None and time.per_second / HUNDREDTHS < WAITING:
        return False
    if time is None and stalled and (crowd := waits_for(each, lock_type)) and crowd.processes < WAITING:
        return False
    if stalled is None:
        return time is not None and time.per_second / HUNDREDTHS >= ONE_WAITS
    return stalled >= least


@dataclass(frozen=True)
class Mean:
    """The mean stall of one lock type on one node."""

    seconds: float
    lock_type: str
    waiting: float
    """Processes that wait on average: seconds of stalls per second."""
    count: float | None
    """Requests and promotions that stalled over the span."""
    source: Source
    each: Statistics
    at_most: bool = False
    """Whether promotions that stalled were not read, so that `seconds` is too high by their part."""


def mean_stall(each: Statistics, lock_type: str = "total", *, at_most: bool = False) -> Mean | None:
    """Stall time ÷ requests and promotions that stalled; `None` where one of the three rows was not read.

    `at_most`: requests alone will do, as how many wait at any moment is told by the time alone.
    """
    items = STALLED[:1] if at_most else STALLED
    time, stalled = each.rate(STALL_TIME, lock_type), rows_of(each, items, lock_type)
    if time is None or len(stalled) < len(items):
        return None
    counts = [rate.count for rate in stalled if rate.count is not None]
    count = sum(counts) if len(counts) == len(stalled) else None
    if count and time.count is not None:
        seconds = time.count / HUNDREDTHS / count
    else:
        rate = sum(one.per_second for one in stalled)
        if not rate and time.per_second:
            return None  # rounded to 0.0: what time was waited is not known of how many
        seconds = time.per_second / HUNDREDTHS / rate if rate else 0.0
    return Mean(seconds, lock_type, time.per_second / HUNDREDTHS, count, time.source, each, at_most)


def one_type(each: Statistics) -> Mean | None:
    """That of the lock type that most wait for, where the time of all locks was not written: so many wait at least."""
    if each.rate(STALL_TIME, "total"):
        return None
    found = [mean for kind in each.lock_types if (mean := mean_stall(each, kind))]
    return max(found, key=lambda mean: mean.waiting, default=None)


def mostly_idle(mean: Mean) -> str:
    """The resource that most of the time was waited for, where no tuning helps; else empty."""
    for kind, lock_type in (("freeze", "freeze"), ("quiet", "quiet point")):
        part = mean_stall(mean.each, lock_type)
        if part and part.waiting >= mean.waiting / 2:
            return kind
    return ""


@dataclass(frozen=True)
class Part:
    """What lock operations of a database are of all that its node asks for itself."""

    percent: float
    whole: float
    """The node's own lock operations per second: what other nodes ask it for is taken off."""
    source: Source


def part_of_own(facts: Facts, each: Statistics, operations: float) -> Part | None:
    """The part of so many lock operations per second; `None` where it cannot be told.

    It cannot of merged screens, of another node, of averages of days, or where the part exceeds the whole.
    """
    if each.merged or averaged(each):
        return None
    for name in SUSTAINED:
        rates = facts.latest(LockRates, statistic=name)
        if rates is None or (total := rates.operations_per_second) is None or _foreign(rates.node, each.node):
            continue
        served = facts.latest(DistributedLockRates, statistic=name)
        if served and any(value is OVERFLOW for value in _incoming(served)):
            return None
        own = total - ((served.incoming_per_second or 0.0) if served and served.node == rates.node else 0.0)
        percent = 100 * operations / own if own > 0 else AT_MOST + 1
        return Part(min(percent, 100.0), own, rates.source) if percent <= AT_MOST else None
    return None


def _incoming(served: DistributedLockRates) -> tuple[Reading, ...]:
    return served.enq_incoming, served.convert_incoming, served.deq_incoming


def _foreign(one: str | None, other: str | None) -> bool:
    return one is not None and other is not None and one.upper() != other.upper()
