"""The figures of a T4 file, summed up chunk by chunk. Imports numpy and orjson: import it when the first row comes.

Speed: a whole chunk of rows is one JSON array to orjson; only cells that are no JSON are looked at one by one.
Inside the arrays NaN marks a cell that is absent and infinity one that was printed as asterisks.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import orjson
from numpy.typing import NDArray

from collectors.facts.base import ABSENT, NOT_MEASURED, OVERFLOW, Missing, Reading, known
from collectors.layouts.curves import Curves
from collectors.registry import reading
from collectors.reports.openvms.t4.names import Row
from collectors.reports.openvms.t4.wraps import Bounds, Marks, gone_round

Floats = NDArray[np.float64]

HIGHEST = 1e15
"""No counter per second and no level of a node comes near; figures beyond are damage."""
MOST_KEPT = 2048
"""Rows kept for the 95th percentile: a day of minutes has 1,440."""
MOST_CELLS = 4_000_000
"""Cells of kept rows, 32 MB: files of more than 1,953 columns keep fewer rows."""
MOST_WRAPS_NAMED = 5
MOST_GAPS = 20
"""The longest times without samples that are kept."""
LONGEST_FIGURE = 40
ODD_CELL = re.compile(r"(?<![^,])(?![ \t]*-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,20})?[ \t]*(?:,|\Z))[^,]*")
"""A cell that is no plain figure."""
MARKS: dict[Missing, float] = {ABSENT: -1e300, OVERFLOW: 1e300, NOT_MEASURED: -1e300}


def cell(text: str) -> Reading:
    """Read one cell of a damaged or an odd row."""
    text = text.strip()
    if len(text) > LONGEST_FIGURE or not text.isascii():
        return ABSENT
    value = reading(text)
    return value if not known(value) or abs(value) < HIGHEST else ABSENT


def matrix(rows: Sequence[Row], width: int) -> Floats:
    """Turn rows of `width` cells into numbers."""
    text = ",".join(row.cells for row in rows)
    shape = (len(rows), width)
    if not any(odd in text for odd in 'tf"[{'):  # what begins JSON that is no number
        try:
            return np.fromiter(orjson.loads(f"[{text}]"), np.float64, len(rows) * width).reshape(shape)
        except (ValueError, TypeError):  # TypeError: null
            pass
    values = np.fromiter(orjson.loads(f"[{ODD_CELL.sub(mended, text)}]"), np.float64, len(rows) * width)
    values[values == MARKS[ABSENT]] = math.nan
    values[values == MARKS[OVERFLOW]] = math.inf
    return values.reshape(shape)


def mended(odd: re.Match[str]) -> str:
    """Write a cell that may be no JSON as a number, or as the mark of what it is instead."""
    value = cell(odd[0])
    return repr(MARKS[value] if isinstance(value, Missing) else value)


class Thinned:
    """Every k-th row: when there is no more room, every second kept row goes and k doubles."""

    def __init__(self, width: int) -> None:
        """Keep rows of `width` figures."""
        self.most = max(64, min(MOST_KEPT, MOST_CELLS // (width + 1)) // 2 * 2)
        self.rows: Floats = np.empty((self.most, width + 1))
        self.used, self.every, self.seen = 0, 1, 0

    def add(self, values: Floats, gaps: Floats) -> None:
        """Take rows and, for each, the seconds since the row before."""
        at = -self.seen % self.every
        while at < len(values):
            if self.used == self.most:
                self.rows[: self.most // 2] = self.rows[::2].copy()
                self.used //= 2
                self.every *= 2  # `most` is even: the row at hand is a multiple of this, too
            chosen = values[at :: self.every][: self.most - self.used]
            end = self.used + len(chosen)
            self.rows[self.used : end, 1:] = chosen
            self.rows[self.used : end, 0] = gaps[at :: self.every][: len(chosen)]
            self.used = end
            at += len(chosen) * self.every
        self.seen += len(values)

    def gap(self) -> float | None:
        """The median of the seconds between two rows."""
        gaps = self.rows[: self.used, 0]
        gaps = gaps[np.isfinite(gaps)]
        return round(float(np.median(gaps)), 2) if gaps.size else None

    def p95(self) -> Floats:
        """The 95th percentile of each column (linear between samples); NaN where a column has no figure."""
        kept = self.rows[: self.used, 1:]
        whole = np.isfinite(kept).all(axis=0)
        if self.used and whole.all():
            return np.percentile(kept, 95, axis=0)
        result = np.full(kept.shape[1], math.nan)
        if self.used:
            result[whole] = np.percentile(kept[:, whole], 95, axis=0)
        for column in np.flatnonzero(~whole):
            figures = kept[np.isfinite(kept[:, column]), column]
            if figures.size:
                result[column] = np.percentile(figures, 95)
        return result


@dataclass(frozen=True)
class Gap:
    """Two samples that lie far apart, and their levels."""

    seconds: float
    start: int
    end: int
    """Centiseconds since 1-JAN-0001, of the samples before and after."""
    line: int
    levels: tuple[tuple[float, float], ...]
    """Of each column of levels before and after; NaN where there is no figure."""


@dataclass
class Moment:
    """The one row in which the sum of these columns was highest."""

    columns: list[int]
    height: float = -math.inf
    row: Row | None = None
    left_out: frozenset[int] = frozenset()
    """Cells of the row that no counter gave."""

    def look(self, values: Floats, rows: Sequence[Row], wrong: Marks | None) -> None:
        """See whether one of these rows is higher. A missing cell is no height."""
        heights = values[:, self.columns].sum(axis=1)
        best = int(heights.argmax())
        if heights[best] > self.height:
            self.height, self.row = float(heights[best]), rows[best]
            self.left_out = frozenset() if wrong is None else frozenset(np.flatnonzero(wrong[best]).tolist())

    def cells(self) -> list[str]:
        """Give the row's cells as text: the four states stay four."""
        cells = self.row.cells.split(",") if self.row else []
        return ["" if at in self.left_out else text for at, text in enumerate(cells)]


class Figures:
    """Count, sum, lowest, highest and its row, for each column; the kept rows; the rows at the peaks."""

    def __init__(
        self,
        width: int,
        moments: dict[str, list[int]],
        drawn: Sequence[list[int]] = (),
        bounds: Bounds | None = None,
        levels: Sequence[int] = (),
    ) -> None:
        """Sum up rows of `width` cells; `moments` and `drawn`: columns to add up, for peak rows and for curves.

        `levels`: columns whose figures on both sides of a gap are kept.
        """
        self.levels = list(levels)
        self.levels_before: Floats = np.full(len(self.levels), math.nan)
        self.gaps: list[Gap] = []
        """The longest ones; what the usual gap is, only all rows tell."""
        self.width = width
        self.bounds = bounds
        self.wrapped: list[tuple[int, int, float]] = []
        """Line, column and figure of the first cells that no counter gave."""
        self.wrapped_count = 0
        self.before: Floats | None = None
        self.rows = 0
        self.first: Row | None = None
        self.last: Row | None = None
        self.count = np.zeros(width, dtype=np.int64)
        self.sum: Floats = np.zeros(width)
        self.low: Floats = np.full(width, math.inf)
        self.high: Floats = np.full(width, -math.inf)
        self.peak_line = np.zeros(width, dtype=np.int64)
        self.peak_time = np.zeros(width, dtype=np.int64)
        self.overflown = np.zeros(width, dtype=np.bool_)
        self.kept = Thinned(width)
        self.drawn = drawn
        self.curves = Curves(len(drawn))
        self.moments = {name: Moment(columns) for name, columns in moments.items()}

    def add(self, rows: Sequence[Row], following: Row | None = None) -> None:
        """Take a chunk of rows; `following`: the row after them, where there is one."""
        values = matrix(rows, self.width)
        times = np.array([self.last.time if self.last else rows[0].time, *(row.time for row in rows)])
        gaps = np.diff(times) / 100
        wrong = self._leave_out(values, gaps, rows, following)
        lows = highs = addends = values
        lost = ~(np.abs(values) < HIGHEST)
        self.count += len(rows)
        if lost.any():
            self.overflown |= np.isposinf(values).any(axis=0)
            self.count -= lost.sum(axis=0)
            values = np.where(lost, math.nan, values)
            lows, highs = np.where(lost, math.inf, values), np.where(lost, -math.inf, values)
            addends = np.where(lost, 0.0, values)
        self.sum += addends.sum(axis=0)
        np.minimum(self.low, lows.min(axis=0), out=self.low)
        self._raise(highs, rows)
        for moment in self.moments.values():
            moment.look(highs, rows, wrong)
        self._note_gaps(values, gaps, rows)
        if not self.first:
            self.first, gaps[0] = rows[0], math.nan
        self.kept.add(values, gaps)
        if self.drawn:
            sums = np.column_stack([values[:, at].sum(axis=1) for at in self.drawn])
            self.curves.add(times[1:] / 100, sums, [row.line for row in rows])
        self.rows += len(rows)
        self.last = rows[-1]

    def _note_gaps(self, values: Floats, gaps: Floats, rows: Sequence[Row]) -> None:
        """Keep the longest gaps before these rows, with the levels on both sides."""
        levels = np.vstack([self.levels_before, values[:, self.levels]])
        self.levels_before = levels[-1]
        least = self.gaps[-1].seconds if len(self.gaps) == MOST_GAPS else 0.0
        longest = np.argsort(gaps)[::-1][:MOST_GAPS]
        found = [
            Gap(
                float(gaps[at]),
                rows[at].time - round(float(gaps[at]) * 100),
                rows[at].time,
                rows[at].line,
                tuple(zip(levels[at].tolist(), levels[at + 1].tolist(), strict=True)),
            )
            for at in longest
            if gaps[at] > least
        ]
        self.gaps = sorted((*self.gaps, *found), key=lambda one: -one.seconds)[:MOST_GAPS]

    def _leave_out(self, values: Floats, gaps: Floats, rows: Sequence[Row], following: Row | None) -> Marks | None:
        """Make the cells NaN that no counter gave, and remember them."""
        if self.bounds is None:
            return None
        after = matrix([following], self.width)[0] if following else None
        # a pause before a row is no part of what it covers: the shorter of the two gaps beside it is
        later = np.append(gaps[1:], (following.time - rows[-1].time) / 100 if following else math.nan)
        covered = np.fmin(np.where(gaps > 0, gaps, math.nan), np.where(later > 0, later, math.nan))
        wrong = gone_round(values, covered, self.before, after, self.bounds)
        self.before = values[-1].copy()
        if wrong is not None:
            at = np.argwhere(wrong)
            self.wrapped_count += len(at)
            room = MOST_WRAPS_NAMED - len(self.wrapped)
            self.wrapped += [(rows[i].line, int(column), float(values[i, column])) for i, column in at[: max(0, room)]]
            values[wrong] = math.nan
        return wrong

    def _raise(self, highs: Floats, rows: Sequence[Row]) -> None:
        """Note new peaks: the first row that has them."""
        tops = highs.max(axis=0)
        risen = np.flatnonzero(tops > self.high)
        if not risen.size:
            return
        at = highs[:, risen].argmax(axis=0)
        self.high[risen] = tops[risen]
        self.peak_line[risen] = np.array([row.line for row in rows])[at]
        self.peak_time[risen] = np.array([row.time for row in rows])[at]

    def no_delta(self, row: Row, rates: list[int]) -> bool:
        """Whether the last row has rates that are all 0 for want of an interval, where rates had been above 0."""
        if not rates or (self.rows and not (self.high[rates] > 0).any()):
            return False
        return bool((matrix([row], self.width)[0, rates] == 0).all())
