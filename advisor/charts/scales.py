"""From figures and times to places: round axes, calendar ticks, and thinning that keeps the peaks."""

import math
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby

from advisor.charts.words import tick_labels

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
EARLIEST = (datetime.min.replace(tzinfo=UTC) - EPOCH).total_seconds()
LATEST = (datetime.max.replace(tzinfo=UTC, microsecond=0) - EPOCH).total_seconds()
FAR = 1e290
"""Farther from zero a figure is drawn at this place (its words stay true), so that no difference overflows."""
FLAT = 1e-12
"""Figures closer than this share of their size are one height: floats cannot tell ticks between them apart."""
MINUTE, HOUR, DAY = 60, 3600, 86400
STEPS = (1, 2, 5, 10, 15, 30, *(n * MINUTE for n in (1, 2, 5, 10, 15, 30)), *(n * HOUR for n in (1, 2, 3, 6, 12)))
DAYS = (DAY, 2 * DAY, 7 * DAY, 14 * DAY)
MONTHS = (1, 2, 3, 6, *(12 * n * 10**e for e in range(4) for n in (1, 2, 5)))
MONDAY = 4 * DAY
"""The epoch was a Thursday; weeks are counted from the Monday after it."""
NAMES = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")

Point = tuple[float, float | None]


def number(value: float | None) -> float | None:
    """Give a finite float, or None for none, NaN, an infinity, or an integer no float can hold."""
    if value is None:
        return None
    try:
        made = float(value)
    except OverflowError:
        return None
    return made if math.isfinite(made) else None


def near(value: float) -> float:
    """Bring a figure to where differences and ratios stay finite."""
    return max(-FAR, min(FAR, value))


def is_flat(low: float, high: float) -> bool:
    """Whether two figures, the lower first, are too close to be drawn apart."""
    return high - low <= max(FLAT * max(abs(low), abs(high)), 1 / FAR)


@dataclass(frozen=True)
class Axis:
    """An axis from its first round tick to its last; `at` gives the share of the way, 0 to 1."""

    ticks: list[float]
    labels: list[str]

    def at(self, value: float) -> float:
        """Give the place of a figure, 0 at the first tick, 1 at the last, never outside."""
        low, high = self.ticks[0], self.ticks[-1]
        return max(0.0, min(1.0, (near(value) - low) / (high - low)))


def axis(figures: Sequence[float], *, from_zero: bool = False) -> Axis:
    """Lay 3 to 5 ticks, 1, 2 or 5 times a power of ten apart, around all figures (and zero, if it is not far off).

    Nothing but zeroes gets a zero; no figures at all get no figure on the axis.
    """
    low, high = near(min(figures, default=0.0)), near(max(figures, default=0.0))
    if from_zero or is_flat(low, high) or 0 < low <= high / 2 or low / 2 <= high < 0:
        low, high = min(low, 0.0), max(high, 0.0)
    if is_flat(low, high):
        return Axis([0.0, 1.0], ["0", ""] if figures else ["", ""])
    exponent = math.floor(math.log10(high - low)) - 2
    while True:
        for multiple in (1, 2, 5):
            step = float(f"{multiple}e{exponent}")
            first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
            if last - first <= 4:
                ticks = [float(f"{n * multiple}e{exponent}") for n in range(first, max(last, first + 2) + 1)]
                return Axis(ticks, tick_labels(ticks, exponent))
        exponent += 1


def seconds(when: datetime) -> float:
    """Give seconds since 1970; a time without a zone counts as UTC."""
    if when.utcoffset() is None:
        when = when.replace(tzinfo=UTC)
    return max(EARLIEST, min(LATEST, (when - EPOCH).total_seconds()))


def moment(at: float) -> str:
    """Write seconds since 1970 as `2025-03-03 14:05`, with seconds where there are any."""
    when = EPOCH + timedelta(seconds=at)
    return when.strftime("%Y-%m-%d %H:%M:%S").zfill(19).removesuffix(":00")


@dataclass(frozen=True)
class TimeAxis:
    """Times from the first to the last point; ticks are (seconds, upper line, lower line)."""

    low: float
    high: float
    ticks: list[tuple[float, str, str]]

    def at(self, when: float) -> float:
        """Give the share of the way from the first time to the last; the middle where there is but one time."""
        if self.high <= self.low:
            return 0.5
        return max(0.0, min(1.0, (when - self.low) / (self.high - self.low)))


def time_axis(times: Sequence[float], most: int) -> TimeAxis:
    """Lay at most `most` (2 or more) ticks on the calendar's round seconds, hours, Mondays, months or years."""
    low, high = min(times, default=0.0), max(times, default=0.0)
    ticks = _marks(low, high, most) if high > low else []
    if len(ticks) < 2 and times:
        ticks = [(at, *_fine(at)) for at in sorted({low, high})]
    shown, before = [], ""
    for at, upper, lower in ticks:
        shown.append((at, upper, "" if lower == before else lower))
        before = lower
    return TimeAxis(low, high, shown)


def _marks(low: float, high: float, most: int) -> list[tuple[float, str, str]]:
    for step in (*STEPS, *DAYS):
        if (high - low) / step <= most:
            shift = MONDAY if step % (7 * DAY) == 0 else 0
            first = math.ceil((low - shift) / step)
            places = [n * step + shift for n in range(first, math.floor((high - shift) / step) + 1)]
            if len(places) <= most:
                return [(at, *_coarse(at, step)) for at in places]
    for months in MONTHS:
        if (high - low) / (months * 28 * DAY) <= 4 * most and len(found := list(_months(low, high, months))) <= most:
            return found
    return []


def _coarse(at: float, step: int) -> tuple[str, str]:
    when = EPOCH + timedelta(seconds=at)
    if step >= DAY:
        return f"{NAMES[when.month - 1]} {when.day}", f"{when.year}"
    return f"{when:%H:%M:%S}" if step < MINUTE else f"{when:%H:%M}", _date(when)


def _fine(at: float) -> tuple[str, str]:
    when = EPOCH + timedelta(seconds=at)
    if not when.microsecond:
        return f"{when:%H:%M:%S}" if when.second else f"{when:%H:%M}", _date(when)
    return f"{when:%H:%M:%S}.{when.microsecond // 1000:03}", _date(when)


def _date(when: datetime) -> str:
    return f"{when.year:04}-{when.month:02}-{when.day:02}"


def _months(low: float, high: float, step: int) -> Iterator[tuple[float, str, str]]:
    begin, end = (EPOCH + timedelta(seconds=at) for at in (low, high))
    for n in range(-(-(begin.year * 12 + begin.month - 1) // step) * step, end.year * 12 + end.month, step):
        year, month = divmod(n, 12)
        at = (datetime(max(year, 1), month + 1, 1, tzinfo=UTC) - EPOCH).total_seconds()
        if low <= at <= high:
            yield (at, NAMES[month], f"{year}") if step < 12 else (at, f"{year}", "")


def thin(points: list[Point], per: float = 2.0) -> list[Point]:
    """Keep the lowest and the highest point of every `per` px, in order of x; no peak is lost.

    A gap wholly inside one such strip cannot be seen and is closed; any other stays.
    """
    kept: list[Point] = []
    for _, strip in groupby(points, key=lambda point: point[0] // per):
        here = list(strip)
        known = [(y, n) for n, (_, y) in enumerate(here) if y is not None]
        if here[0][1] is None or not known:
            kept.append((here[0][0], None))
        if known:
            ends = {min(known)[1], max(known)[1]}
            kept += [here[n] for n in sorted(ends)]
            if here[-1][1] is None:
                kept.append((here[-1][0], None))
    return kept


def even(values: Sequence[float | None]) -> tuple[list[float | None], list[float]]:
    """Give `number` of every value, brought near, and those that are figures; fast where all of them plainly are."""
    given = [value for value in values if value is not None]
    try:
        if given and math.isfinite(sum(given)) and min(given) >= -FAR and max(given) <= FAR:
            return list(values), given
    except OverflowError:
        pass  # an integer no float can hold
    figures = [number(value) for value in values]
    return [None if v is None else near(v) for v in figures], [v for v in figures if v is not None]


def thin_even(values: list[float | None], strips: int) -> list[Point]:
    """Do as `thin` for evenly spaced values: (index, value), at most two figures in each of so many strips."""
    size = -(-len(values) // strips)
    if size <= 2:
        return list(enumerate(values))
    kept: list[Point] = []
    for start in range(0, len(values), size):
        strip = values[start : start + size]
        known = [value for value in strip if value is not None]
        if strip[0] is None:
            kept.append((start, None))
        if known:
            ends = {strip.index(min(known)), strip.index(max(known))}
            kept += [(start + n, strip[n]) for n in sorted(ends)]
            if strip[-1] is None:
                kept.append((start + size, None))
    return kept


def runs(points: list[Point]) -> list[list[tuple[float, float]]]:
    """Cut a line at its gaps."""
    made: list[list[tuple[float, float]]] = [[]]
    for x, y in points:
        if y is not None:
            made[-1].append((x, y))
        elif made[-1]:
            made.append([])
    return [run for run in made if run]


def spaced(places: Sequence[tuple[float, float]], apart: float, start: float) -> list[tuple[float, float]]:
    """Pick points about `apart` px from each other, the first at `start` px or later (x ascending)."""
    xs, picked, at = [x for x, _ in places], [], start
    while (n := bisect_left(xs, at)) < len(xs):
        picked.append(places[n])
        at = xs[n] + apart
    return picked
