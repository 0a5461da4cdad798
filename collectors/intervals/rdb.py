"""Two writes of one screen of RMU/SHOW STATISTICS → what was counted between them.

The averages of a screen run since the last reset, or since the database was opened: after days they say nothing of the
busy hour. Two writes with the time that each covers do. A total that fell, or a clock that says otherwise than the
elapsed times, is a reset between them: then no difference is made, and both stay what they are.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from collectors.facts import ABSENT, Fact, Missing, Reading, Source, known
from collectors.facts.rdb import StatisticRow, StatisticsWindow
from collectors.facts.rdb.names import root_key
from collectors.read import Input

LEAST_SECONDS = 60.0
"""A shorter time between two writes is the same round of writing, not an interval (this project)."""
MOST_OF_ROUND = 50
"""Writes of one screen looked back over: more within a minute is no round of a person (this project)."""
CLOCKS_APART, CLOCKS_SHARE = 5.0, 0.01
"""Seconds, or share of the time between, that clock and elapsed times may differ by (this project)."""
RESET = "reset between this write of `{}` and {}: no difference was made, each counts since its own reset"
TRANSACTIONS = "transactions"


@dataclass(frozen=True)
class Write:
    """One screen as written."""

    window: StatisticsWindow
    rows: tuple[StatisticRow, ...]

    @property
    def key(self) -> tuple[object, ...]:
        """What writes of the same screen have in common; without a database they are of one file."""
        window = self.window
        database = root_key(window.database) if window.database else f"\0{window.source.file}"
        return (database, (window.node or "").upper(), window.merged, window.screen.lower(), window.page)


@dataclass(frozen=True)
class Difference:
    """What was counted between two writes; `write` is `None` where nothing can be said."""

    write: Write | None = None
    reset: bool = False


@dataclass(frozen=True)
class _Placed:
    """A write, and where it was read."""

    input: Input
    write: Write
    at: int
    """Its place among all writes."""

    @property
    def order(self) -> tuple[float, float, int]:
        """By the clock; without one by the time covered, then by place."""
        window = self.write.window
        clock = (window.at - window.at.min).total_seconds() if window.at else 0.0
        return clock, window.elapsed_seconds or 0.0, self.at


def difference(earlier: Write, later: Write, transactions_per_second: float | None = None) -> Difference:
    """Subtract two writes of one screen: counts are differences, rates are counts ÷ elapsed seconds between them.

    Maximum and current rate are not known of the time between. Per transaction is said where the rate of transactions
    of the same time is given (of Summary IO, written beside) and above 0.
    """
    seconds = _seconds(earlier.window, later.window)
    if seconds is None:
        return Difference()
    before = {(row.item, row.lock_type): row for row in earlier.rows}
    pairs = [(before[key], row) for row in later.rows if (key := (row.item, row.lock_type)) in before]
    fell = any(known(old.count) and known(new.count) and new.count < old.count for old, new in pairs)
    if fell or _clock_disagrees(earlier.window, later.window, seconds):
        return Difference(reset=True)
    if seconds < LEAST_SECONDS or all(new.count is ABSENT for _, new in pairs):
        return Difference()
    window = replace(
        later.window,
        source=_of_both(earlier.window.source, later.window.source),
        elapsed_seconds=seconds,
        over="interval",
    )
    rows = tuple(_row(old, new, seconds, transactions_per_second) for old, new in pairs)
    return Difference(Write(window, rows))


def sort_out(inputs: Sequence[Input]) -> tuple[list[Input], list[Input]]:
    """Make the intervals of all screens that were written more than once; returns them, and what is left.

    An interval is an input of its own, with all screens of one round of writing; the writes it was made of are no
    longer among what is left, nor is a write that was collected twice.
    """
    found = ((one, write) for one in inputs for write in _writes(one))
    writes = [_Placed(one, write, at) for at, (one, write) in enumerate(found)]
    series: dict[tuple[object, ...], list[_Placed]] = {}
    for placed in sorted(writes, key=lambda one: one.order):
        series.setdefault(placed.write.key, []).append(placed)
    once = [_once(one) for one in series.values()]
    pairs = [pair for one in once for pair in _pairs(one)]
    kept = {id(placed.write.window) for one in once for placed in one}
    used = {id(placed.write.window) for pair in pairs for placed in pair}
    used |= {id(placed.write.window) for placed in writes} - kept
    intervals = [_interval(chosen) for chosen in _rounds(pairs)]
    return intervals, [one for whole in inputs if (one := _without(whole, used)).facts or not whole.facts]


def with_intervals(inputs: Sequence[Input]) -> list[Input]:
    """The inputs with differences in place of the totals they were made of; the intervals come last."""
    intervals, left = sort_out(inputs)
    return left + intervals


def _writes(one: Input) -> Iterator[Write]:
    """The screens of an input: a window, and the rows of it that follow."""
    window: StatisticsWindow | None = None
    rows: list[StatisticRow] = []
    for fact in one.facts:
        if isinstance(fact, StatisticsWindow):
            if window is not None and rows:
                yield Write(window, tuple(rows))
            window, rows = (fact if fact.over == "since reset" else None), []
        elif isinstance(fact, StatisticRow) and window is not None and fact.screen == window.screen:
            rows.append(fact)
    if window is not None and rows:
        yield Write(window, tuple(rows))


def _seconds(earlier: StatisticsWindow, later: StatisticsWindow) -> float | None:
    if earlier.elapsed_seconds is None or later.elapsed_seconds is None:
        return None
    return later.elapsed_seconds - earlier.elapsed_seconds


def _clock_disagrees(earlier: StatisticsWindow, later: StatisticsWindow, seconds: float) -> bool:
    """Whether the clock went on by another time than the statistics: then they were reset meanwhile."""
    if earlier.at is None or later.at is None or "Replay" in (earlier.mode, later.mode):
        return False
    passed = (later.at - earlier.at).total_seconds()
    return abs(passed - seconds) > max(CLOCKS_APART, CLOCKS_SHARE * abs(passed))


def _row(old: StatisticRow, new: StatisticRow, seconds: float, transactions_per_second: float | None) -> StatisticRow:
    count = _subtract(old.count, new.count)
    rate: Reading = count / seconds if known(count) else count
    each: Reading = rate / transactions_per_second if known(rate) and transactions_per_second else ABSENT
    return replace(
        new,
        source=_of_both(old.source, new.source),
        maximum_per_second=ABSENT,
        current_per_second=ABSENT,
        mean_per_second=rate,
        count=count,
        per_transaction=each,
        over="interval",
    )


def _subtract(old: Reading, new: Reading) -> Reading:
    for one in (new, old):
        if isinstance(one, Missing):
            return one
    return new - old if known(new) and known(old) else ABSENT


def _of_both(old: Source, new: Source) -> Source:
    """Where the later one stands; tentative if one of them is."""
    return replace(new, tentative=new.tentative or old.tentative)


def _once(series: Sequence[_Placed]) -> list[_Placed]:
    """The writes without those that were collected twice: the same figures of the same moment."""
    kept: list[_Placed] = []
    for one in series:
        last = kept[-1].write.window if kept else None
        now = one.write.window
        same = last and (last.at, last.elapsed_seconds) == (now.at, now.elapsed_seconds) and last.at
        if not same or [row.count for row in kept[-1].write.rows] != [row.count for row in one.write.rows]:
            kept.append(one)
    return kept


def _pairs(series: Sequence[_Placed]) -> Iterator[tuple[_Placed, _Placed]]:
    """Each write with the one before it that is not of the same round; says so where a reset lies between."""
    for at, later in enumerate(series):
        for earlier in reversed(series[max(0, at - MOST_OF_ROUND) : at]):
            found = difference(earlier.write, later.write)
            if found.write is not None:
                yield earlier, later
            if found.reset:
                file = earlier.input.file
                which = "the one before it" if file == later.input.file else f"that of {file}"
                said = RESET.format(later.write.window.screen, which)
                if said not in later.input.problems:
                    later.input.problems.append(said)
            if found.write is not None or found.reset:
                break


def _rounds(pairs: Sequence[tuple[_Placed, _Placed]]) -> list[list[tuple[_Placed, _Placed]]]:
    """Bring together the intervals of one round of writing: of one database and node, each screen once.

    Only the last rounds of a database are looked at, so that a month of writes takes no more than its share.
    """
    rounds: list[list[tuple[_Placed, _Placed]]] = []
    last: dict[tuple[object, ...], deque[list[tuple[_Placed, _Placed]]]] = {}
    for pair in sorted(pairs, key=lambda one: one[1].order):
        near = last.setdefault(pair[1].write.key[:3], deque(maxlen=MOST_OF_ROUND))
        chosen = next((one for one in reversed(near) if _joins(pair, one)), None)
        if chosen is None:
            rounds.append([pair])
            near.append(rounds[-1])
        else:
            chosen.append(pair)
    return rounds


def _joins(pair: tuple[_Placed, _Placed], chosen: Sequence[tuple[_Placed, _Placed]]) -> bool:
    earlier, later = pair
    first = chosen[0][1]
    if any(later.write.key == one.write.key for _, one in chosen):
        return False
    length = _seconds(earlier.write.window, later.write.window) or 0.0
    return later.order[0] - first.order[0] < length


def _interval(chosen: Sequence[tuple[_Placed, _Placed]]) -> Input:
    """The differences of one round; the rate of transactions is that of Summary IO among them."""
    made = [difference(earlier.write, later.write).write for earlier, later in chosen]
    rates = [row.mean_per_second for one in made if one for row in one.rows if row.item == TRANSACTIONS]
    rate = next((one for one in rates if known(one) and one > 0), None)
    facts: list[Fact] = []
    for earlier, later in chosen:
        if found := difference(earlier.write, later.write, rate).write:
            facts += [found.window, *found.rows]
    return replace(chosen[0][1].input, facts=facts)


def _without(one: Input, used: set[int]) -> Input:
    """An input without the writes that intervals were made of; its problems stay shared."""
    kept: list[Fact] = []
    out = False
    for fact in one.facts:
        if isinstance(fact, StatisticsWindow):
            out = id(fact) in used
        if not (out and isinstance(fact, StatisticsWindow | StatisticRow)):
            kept.append(fact)
    return one if len(kept) == len(one.facts) else replace(one, facts=kept)
