"""What RMU/SHOW STATISTICS counted of one database on one node: by lock type and item, over one span of time.

Sub-rows (stalled, timed out, …) are subsets of the row above and are never added to it. What VMS counts as lock
operations (new, converted, dequeued) is here requested + promoted + demoted + released. Screens of several nodes are
kept apart: none covers the others. Rates per second are means over the span of the screen.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from collectors.facts import OVERFLOW, Facts, Reading, Source, known
from collectors.facts.rdb import StatisticRow, StatisticsWindow
from rules.finding import Untrusted, enumerated
from rules.rdb._evidence.databases import OneDatabase, belonging
from rules.sample import LeastSample

STATISTICS_FACTS = (StatisticRow, StatisticsWindow)
"""What a rule that uses this module has to declare, beside those of `databases`."""
OPERATIONS = ("locks requested", "locks promoted", "locks demoted", "locks released")
"""Their sum is comparable with the new, converted and dequeued locks of MONITOR LOCK."""
SUBSETS = {
    "locks requested": ("requests not queued", "requests stalled", "request timeouts", "request deadlocks"),
    "locks promoted": ("promotions not queued", "promotions stalled", "promotion timeouts", "promotion deadlocks"),
    "requests stalled": ("request deadlocks",),
    "promotions stalled": ("promotion deadlocks",),
}
"""Rows that are part of another: a part that exceeds its whole was misread or never belonged to it."""
ROUNDING = 0.1
"""Rates are printed with one decimal."""
COARSE = 10.0
"""Below this a rate of one decimal is off by up to half a per cent and more: its count and time tell it better."""
LEAST_COUNTED = LeastSample(300.0, 1, "this project: too short to close a database for")
"""The least that the screens have to cover before a rule says more than a note: a reset may be seconds ago.

No minimum is published."""
APART = 2.0
"""Screens whose spans differ by more than this factor are not held against each other."""


@dataclass(frozen=True)
class Rate:
    """One row: its mean rate over the span of its screen."""

    per_second: float
    per_transaction: float | None
    count: float | None
    source: Source
    seconds: float | None
    """The span: since the last reset, or between two writes. `None`: not in the export."""
    screen: str


@dataclass(frozen=True)
class Share:
    """What one lock type is of the whole."""

    percent: float
    part: float
    """Lock operations per second of the lock type."""
    whole: float
    """Lock operations per second of all lock types together."""
    items: tuple[str, ...]
    """The operations that both screens have, and that were therefore added up."""
    source: Source
    """The screen of the lock type."""

    @property
    def counted_as(self) -> str:
        """What was counted: `lock operations` where all four items were, else their names, for a sentence."""
        return counted_as(self.items)


@dataclass(frozen=True)
class Statistics:
    """The screens of one database on one node over one kind of span."""

    node: str | None
    over: str
    """`interval`: the difference of two writes; `since reset`."""
    merged: bool | None
    """Whether they are of several nodes; `None`: the screens do not tell."""
    rates: Mapping[tuple[str | None, str], Rate]
    damaged: tuple[str, ...] = ()
    """What cannot be a rate, in words."""

    def rate(self, item: str, lock_type: str | None = None) -> Rate | None:
        """One row, `None` where it was not read. `lock_type` is `None` for screens that are not about locks."""
        return self.rates.get((lock_type, item))

    def operations(self, lock_type: str = "total", items: Sequence[str] = OPERATIONS) -> float | None:
        """Lock operations per second; `None` where one of the items was not read: a part would pass for the whole."""
        found = [self.rates.get((lock_type, item)) for item in items]
        read = [rate.per_second for rate in found if rate is not None]
        return sum(read) if read and len(read) == len(found) else None

    def share(self, lock_type: str, beside: Sequence[str] = ()) -> Share | None:
        """What a lock type is of all lock operations, by the items that both have; `None` where none is common.

        `locks requested` must be among them: releases alone are no measure of work. `beside`: types whose screens must
        have the items, too, so that shares can be added up.
        """
        kinds = ("total", lock_type, *beside)
        items = tuple(one for one in OPERATIONS if all(self.rate(one, kind) for kind in kinds))
        part, whole = self.operations(lock_type, items), self.operations("total", items)
        asked = self.rate(OPERATIONS[0], lock_type)
        if asked is None or OPERATIONS[0] not in items or part is None or not whole:
            return None
        return Share(100 * part / whole, part, whole, items, asked.source)

    @property
    def lock_types(self) -> list[str]:
        """The lock types with a row of their own, the total left out."""
        return sorted({kind for kind, _ in self.rates if kind and kind != "total"})

    @property
    def seconds(self) -> float | None:
        """The shortest span of the lock screens; `None`: not in the export."""
        spans = [rate.seconds for (kind, _), rate in self.rates.items() if kind and rate.seconds]
        return min(spans) if spans else None

    @property
    def transactions(self) -> Rate | None:
        """Commits and rollbacks per second (Summary IO)."""
        return self.rate("transactions")

    @property
    def all_zero(self) -> bool:
        """Whether every lock row is zero: nothing was locked, or nothing was counted."""
        locks = [rate for (kind, _), rate in self.rates.items() if kind]
        return bool(locks) and not any(rate.per_second or rate.count for rate in locks)

    def refused(self, one: OneDatabase) -> Untrusted | None:
        """Say why these figures cannot be believed, or `None`."""
        if self.damaged:
            return Untrusted(f"{self.damaged[0]}: write the screen again after a reset")
        if self.all_zero and (said := working(self, one)):
            return Untrusted(f"every lock counter is zero, yet {said}: is statistics collection disabled?")
        return self._too_large() or self._far_apart()

    def _too_large(self) -> Untrusted | None:
        """A part that exceeds its whole."""
        for (kind, item), whole in self.rates.items():
            for name in SUBSETS.get(item, ()):
                part = self.rates.get((kind, name))
                if part and kind and part.screen == whole.screen and _exceeds(part, whole):
                    return Untrusted(
                        f"{name} ({part.per_second:,.1f}/s) are part of {item} ({whole.per_second:,.1f}/s) and cannot "
                        f"exceed them ({whole.screen})"
                    )
        for kind in self.lock_types:
            share = self.share(kind)
            if share and share.part > 1.05 * share.whole + ROUNDING:
                return Untrusted(
                    f"{kind} locks ({share.part:,.1f}/s) exceed all locks ({share.whole:,.1f}/s): the screens are not "
                    "of one and the same time; write them one right after the other"
                )
        return None

    def _far_apart(self) -> Untrusted | None:
        """Screens of quite different spans, of which no share can be told."""
        total = self.rate(OPERATIONS[0], "total")
        for kind in self.lock_types:
            rate = self.rate(OPERATIONS[0], kind)
            if not (total and rate and total.seconds and rate.seconds):
                continue
            if max(total.seconds, rate.seconds) > APART * min(total.seconds, rate.seconds):
                return Untrusted(
                    f"{total.screen} covers {total.seconds:,.0f} s and {rate.screen} {rate.seconds:,.0f} s: write them "
                    "one right after the other"
                )
        return None


def counted_as(items: Sequence[str]) -> str:
    """`lock operations`, or `locks requested and promoted` where demotions and releases were not written.

    Both are sums, and one report may have either: a reader must not take one for the other.
    """
    if len(items) == len(OPERATIONS):
        return "lock operations"
    return enumerated([item.removeprefix("locks ") if number else item for number, item in enumerate(items)])


def statistics_of(facts: Facts, one: OneDatabase) -> list[Statistics]:
    """The statistics of one database, one per node and span: intervals first, the busiest first among those."""
    rows = list(belonging(facts.every(StatisticRow), one))
    windows = one.windows
    groups: dict[tuple[str, str, bool], list[tuple[StatisticRow, StatisticsWindow | None]]] = {}
    for row in rows:
        window = _window(row, windows)
        merged = bool(window and window.merged)
        groups.setdefault(((row.node or "").upper(), row.over, merged), []).append((row, window))
    made = _not_merged([_statistics(pairs) for pairs in groups.values()])
    return sorted(made, key=lambda found: (found.over != "interval", -(found.operations() or 0.0)))


def _not_merged(found: list[Statistics]) -> list[Statistics]:
    """The same, without the mark of merged screens where these count less than another node alone does.

    What the first number behind the node's name means is recalled (see the reader): were it the number of nodes, a sum
    over several could not be less than one of them. Then it is the number of the node.
    """
    alone = {(one.node or "").upper(): total for one in found if not one.merged and (total := one.operations())}
    return [
        replace(one, merged=False)
        if one.merged
        and (total := one.operations()) is not None
        and any(total < other for node, other in alone.items() if node and node != (one.node or "").upper())
        else one
        for one in found
    ]


def trusted(found: Iterable[Statistics], one: OneDatabase) -> tuple[list[Statistics], Untrusted | None]:
    """Those that can be believed, and why the first of the others cannot."""
    good, why = [], None
    for statistics in found:
        refused = statistics.refused(one)
        if refused is None:
            good.append(statistics)
        why = why or refused
    return good, why


def working(found: Statistics, one: OneDatabase) -> str | None:
    """What shows that the database is at work, in words; `None` where nothing does."""
    done = found.transactions
    if done and (done.per_second or done.count):
        return f"there are {done.per_second:,.1f} transactions/s"
    users = attached(found, one)
    if not users:
        return None
    return "1 user is attached" if users == 1 else f"{users:,.0f} users are attached"


def attached(found: Statistics, one: OneDatabase) -> float | None:
    """The users where the screens were taken, without the servers of Rdb itself; `None`: not in the export.

    Screens are of one node alone: what another one has proves nothing. Nobody on one of several nodes is not nobody.
    """
    anywhere = found.node is None or found.merged
    here = [seen for seen in one.sightings if anywhere or seen.node.upper() == (found.node or "").upper()]
    listed = [seen.users for seen in here if seen.users is not None]
    users = sum(listed) if listed else None
    if anywhere and not users:
        users = max((each for use in one.uses if use.cluster_wide and (each := use.attached)), default=users)
    return None if found.merged and not users else users


def _window(row: StatisticRow, windows: Sequence[StatisticsWindow]) -> StatisticsWindow | None:
    """The screen a row stands on: of its file the last one that begins above it, else any of that title and span."""
    alike = [
        one
        for one in windows
        if one.screen == row.screen and one.over == row.over and (one.node or "").upper() == (row.node or "").upper()
    ]
    same_file = [one for one in alike if one.source.file == row.source.file and one.source.first <= row.source.first]
    return max(same_file, key=lambda one: one.source.first) if same_file else (alike[-1] if alike else None)


def _statistics(pairs: Sequence[tuple[StatisticRow, StatisticsWindow | None]]) -> Statistics:
    """Of each row the newest screen that has it; screens of one lock type before those of one item."""
    timed = all(window and window.at for _, window in pairs)
    order = sorted(pairs, key=lambda pair: pair[1].at) if timed else pairs  # type: ignore[union-attr,arg-type,return-value]
    newest = {_page(row, window): window for row, window in order}
    current = [(row, window) for row, window in order if window is newest[_page(row, window)]]
    current.sort(key=lambda pair: _of_one_item(pair[0]), reverse=True)
    rates: dict[tuple[str | None, str], Rate] = {}
    damaged: list[str] = []
    for row, window in current:
        seconds = window.elapsed_seconds if window else None
        rate = _rate(row, seconds)
        if isinstance(rate, Rate):
            rates[row.lock_type, row.item] = rate
        elif rate:
            damaged.append(rate)
    first = current[0][0]
    merged = [window.merged for _, window in current if window and window.merged is not None]
    return Statistics(first.node, first.over, any(merged) if merged else None, rates, tuple(damaged))


def _page(row: StatisticRow, window: StatisticsWindow | None) -> tuple[str, Reading | None]:
    """A page of a screen: each is written by itself."""
    return row.screen, window.page if window else None


def _of_one_item(row: StatisticRow) -> bool:
    """Whether the screen has one item of all lock types, `Locking (prom deadlocks)`, not all items of one type."""
    inside = row.screen.partition("(")[2].lower().removeprefix("buffer/")
    return bool(inside) and (row.lock_type == "total" or not inside.startswith(row.lock_type or ""))


def _rate(row: StatisticRow, seconds: float | None) -> Rate | str | None:
    """The mean rate of a row; in words why there is none that can be, or `None` where none was printed."""
    mean, count = row.mean_per_second, row.count if known(row.count) else None
    if known(mean):
        value = float(mean)
        if value < COARSE and count is not None and seconds and abs(count / seconds - value) <= ROUNDING / 2:
            value = count / seconds
    elif count is not None and seconds:
        value = count / seconds
    else:
        return f"{row.label} ({row.screen}): asterisks" if mean is OVERFLOW else None
    if not 0 <= value < float("inf") or (count is not None and count < 0):
        return f"{row.label} ({row.screen}): {value:g}/s is no rate"
    each = row.per_transaction if known(row.per_transaction) else None
    return Rate(value, each, count, row.source, seconds, row.screen)


def _exceeds(part: Rate, whole: Rate) -> bool:
    if part.count is not None and whole.count is not None:
        return part.count > whole.count
    return part.per_second > whole.per_second + ROUNDING
