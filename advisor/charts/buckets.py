"""A figure over the size of a hash table: buckets on a logarithmic axis, the size now and the one asked for marked."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from advisor.charts.frame import Frame
from advisor.charts.pen import Sheet
from advisor.charts.scales import Axis, axis, number
from advisor.charts.words import breadth, clean, figure

LEAST = 1e-4
"""Smaller figures are drawn at this place on a logarithmic axis (zero has none)."""
HIGHEST = 1e12
HEIGHT = 220


@dataclass(frozen=True)
class Mark:
    """A point that is named: `now`, `asked for`."""

    name: str
    buckets: int
    value: float


def over_buckets(
    points: Sequence[tuple[int, float]],
    *,
    title: str,
    unit: str,
    marks: Sequence[Mark] = (),
    edge: int | None = None,
    edge_said: str = "",
    logarithmic: bool = False,
    width: int = 480,
) -> Markup:
    """Draw `points` (buckets from 1 on, a figure from 0 on); `edge`: a size with a dashed line and its words.

    `logarithmic` is for the figures; buckets always are. `width` is px. Points without a finite figure are left out.
    """
    shown = sorted((n, made) for n, value in points if n >= 1 and (made := number(value)) is not None and made >= 0)
    named = [mark for mark in marks if mark.buckets >= 1 and number(mark.value) is not None and mark.value >= 0]
    sheet, unit = Sheet(width, HEIGHT), clean(unit)
    if not shown:
        sheet.text("no figures", 0, 20)
        return sheet.done(title, "No figures.")
    sizes = [n for n, _ in shown] + [mark.buckets for mark in named]
    x = _doublings(min(sizes), max(sizes))
    values = [value for _, value in shown] + [mark.value for mark in named]
    y = _decades(values) if logarithmic else axis(values, from_zero=True)
    frame = Frame(sheet, y, 34.0, unit, None)
    frame.figures(x, "buckets, logarithmic")

    def place(buckets: float, value: float) -> tuple[float, float]:
        height = math.log10(min(HIGHEST, max(LEAST, value))) if logarithmic else value
        return frame.x(x.at(math.log2(buckets))), frame.y(y.at(height))

    if edge is not None and min(sizes) <= edge <= max(sizes):
        at, _ = place(edge, 1.0)
        sheet.rule("limit", at, frame.top - 6, at, frame.foot)
        sheet.text(edge_said, at, 12, "middle", room=width)
    sheet.line([place(n, value) for n, value in shown])
    for n, value in shown:
        sheet.mark(*place(n, value), 1, "circle", f"{n:,} buckets: {figure(round(value, 4), unit)}", radius=2)
    for n, mark in enumerate(named[:2]):
        left, top = place(mark.buckets, mark.value)
        words = f"{clean(mark.name)}: {figure(float(f'{mark.value:.3g}'), unit if len(unit) < 3 else '')}"
        sheet.mark(left, top, 2 + n, ("diamond", "square")[n], words, radius=4)
        start = max(frame.left + 4, min(left + 8, width - breadth(words)))
        sheet.text(words, start, max(26.0, top - 7))
    return sheet.done(title, _said(shown, named, unit))


def _doublings(low: int, high: int) -> Axis:
    """Powers of two from below the least to above the largest: both ends, and between them each with room for words."""
    first, last = math.floor(math.log2(low)), math.ceil(math.log2(high))
    last = max(last, first + 1)
    step = 4 if last - first <= 16 else 8
    powers = [first, *(power for power in range(first + step, last) if (last - power) % step == 0), last]
    return Axis([float(power) for power in powers], [f"{2**power:,}" for power in powers])


def _decades(values: Sequence[float]) -> Axis:
    first = math.floor(math.log10(min(HIGHEST, max(LEAST, min(values)))))
    last = math.ceil(math.log10(min(HIGHEST, max(LEAST, max(values)))))
    last = max(last, first + 1)
    step = max(1, -(-(last - first) // 5))
    powers = list(range(first, last + step, step))
    return Axis([float(power) for power in powers], [figure(10.0**power) for power in powers])


def _said(shown: Sequence[tuple[int, float]], named: Sequence[Mark], unit: str) -> str:
    """The line in words: its ends, and what is named."""
    ends = [shown[0], shown[-1]]
    told = [f"{n:,} buckets: {figure(float(f'{value:.3g}'), unit)}." for n, value in ends]
    told += [
        f"{clean(mark.name)}: {mark.buckets:,} buckets, {figure(float(f'{mark.value:.3g}'), unit)}." for mark in named
    ]
    return " ".join(told)
