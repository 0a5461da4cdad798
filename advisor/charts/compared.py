"""Before and after: for each figure the ratio after ÷ before as a dot with its interval, around 1.

The axis is logarithmic, so half and twice stand equally far from 1, and 1 is in the middle whatever was measured. A
disc is a figure that decides, a diamond one that does not; what the ratio is, and which side would be better, stands
beside it in words, so no colour is needed to read it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from advisor.charts.pen import Sheet
from advisor.charts.scales import number
from advisor.charts.words import LINE, breadth, clean, figure

MOST_ROWS = 12
"""Figures in one picture; the table has the others."""
LANE, GAP = 14.0, 8.0
"""Height of the lane below a name, and between two figures, px."""
SHARE = 0.44
"""Of the width: the lane; the words beside it have the rest."""
INSET = 10.0
"""Between the ends of the lane and those of its axis, px: room for a mark on either end."""
REACHES = (1.25, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0, 100.0, 1000.0)
"""How many times more or less the axis may show; a ratio beyond the last is drawn at its end and said."""
TICKS = {1.25: (1.25,), 1.5: (1.5,), 30.0: (5.0, 30.0), 100.0: (10.0, 100.0), 1000.0: (30.0, 1000.0)}
"""Figures written above 1 (below it their inverses); of other reaches the reach alone."""


@dataclass(frozen=True)
class Ratio:
    """One figure before and after."""

    name: str
    ratio: float | None
    """After ÷ before; `None`: there is none, and `words` say why."""
    low: float | None
    high: float | None
    """Between which ratios the truth lies, `None` where nothing is known of the noise."""
    words: str
    """What it comes to: `better`, `within the noise`."""
    side: str = ""
    """Which side is the better one: `less is better`; empty where neither is."""
    decides: bool = False


def ratio_chart(ratios: Sequence[Ratio], *, title: str, width: int = 480) -> Markup:
    """Draw them, those that decide first and else in their order.

    At most twelve are drawn, of the others it is said how many. `width` 240 at least (ValueError).
    """
    if width < 240:
        raise ValueError(f"{width} px is too small for this chart; 240 is the least")
    drawn = sorted(ratios, key=lambda one: not one.decides)[:MOST_ROWS]
    reach = _reach(drawn)
    more = len(ratios) - len(drawn)
    sheet = Sheet(width, 0)
    y = sheet.lines("disc: decides; diamond: beside it; bar: interval of the ratio", 0, 11, width) + 6
    for one in drawn:
        y = _row(sheet, one, y, reach)
    _axis(sheet, y, reach)
    if more:
        sheet.text(f"and {more:,} more in the table", 0, y + 3 * LINE + 4)
    sheet.height = math.ceil(y + 2 * LINE + 8 + (LINE if more else 0))
    said = " ".join(_said(one) for one in drawn) or "No figures."
    return sheet.done(title, f"Ratio after ÷ before on a logarithmic axis around 1. {said}")


def ratio_words(ratio: float | None, low: float | None = None, high: float | None = None) -> str:
    """A ratio with its interval, three digits each: `0.62 (0.58 to 0.67)`; `no ratio` where there is none."""
    shown, least, most = number(ratio), number(low), number(high)
    if shown is None:
        return "no ratio"
    interval = "" if least is None or most is None else f" ({_digits(least)} to {_digits(most)})"
    return f"{_digits(shown)}{interval}"


def _digits(value: float) -> str:
    """Three digits; nearest to 1 four, so that 1.004 is not 1."""
    rounded = f"{value:.{4 if 0.9 < value < 1.1 else 3}g}"
    return rounded if abs(value) < 1000 else figure(float(rounded))


def _row(sheet: Sheet, one: Ratio, y: float, reach: float) -> float:
    """Draw one figure from `y` downwards; gives where the next one begins."""
    name = clean(one.name) or "(no name)"
    y += sheet.lines(f"{name} ({one.side})" if one.side else name, 0, y + LINE - 3, sheet.width)
    lane, middle = y + LANE / 2, _x(sheet, 1.0, reach)
    sheet.rule("grid", 0, lane, sheet.width * SHARE, lane)
    sheet.rule("axis", middle, lane - LANE / 2, middle, lane + LANE / 2)
    words = f"{ratio_words(one.ratio, one.low, one.high)}, {one.words}" if one.words else ratio_words(one.ratio)
    y += max(LANE, sheet.lines(words, sheet.width * SHARE + 8, lane + 4, sheet.width * (1 - SHARE) - 8)) + GAP
    ratio, low, high = number(one.ratio), number(one.low), number(one.high)
    if ratio is None:
        return y
    if low is not None and high is not None:
        sheet.whisker(_x(sheet, min(low, high), reach), _x(sheet, max(low, high), reach), lane)
    tip = f"{name}: {words}"
    if one.decides:
        sheet.mark(_x(sheet, ratio, reach), lane, 1, "circle", tip, radius=4)
    else:
        sheet.mark(_x(sheet, ratio, reach), lane, 5, "diamond", tip)
    return y


def _reach(drawn: Sequence[Ratio]) -> float:
    """The least reach that holds every ratio and every interval, or the largest there is."""
    known = [value for one in drawn for given in (one.ratio, one.low, one.high) if (value := number(given)) is not None]
    far = max((max(value, 1 / value) for value in known if value > 0), default=1.0)
    return next((reach for reach in REACHES if reach >= far), REACHES[-1])


def _x(sheet: Sheet, ratio: float, reach: float) -> float:
    """The place of a ratio: 1 in the middle, zero and all beyond the reach at an end."""
    share = math.log(ratio) / math.log(reach) if ratio > 0 else -1.0
    half = sheet.width * SHARE / 2
    return half + max(-1.0, min(1.0, share)) * (half - INSET)


def _axis(sheet: Sheet, y: float, reach: float) -> None:
    sheet.rule("axis", 0, y, sheet.width * SHARE, y)
    ticks = TICKS.get(reach, (reach,))
    for ratio in (1.0, *ticks, *(1 / tick for tick in ticks)):
        x = _x(sheet, ratio, reach)
        sheet.rule("axis", x, y, x, y + 4)
        sheet.text(figure(float(f"{ratio:.2g}")) if ratio < 1 else figure(ratio), x, y + LINE + 2, "middle")
    fits = breadth("more than before") <= sheet.width * SHARE / 2
    less, more = ("less than before", "more than before") if fits else ("less", "more")
    sheet.text(less, 0, y + 2 * LINE + 2)
    sheet.text(more, sheet.width * SHARE, y + 2 * LINE + 2, "end")


def _said(one: Ratio) -> str:
    """One figure in words."""
    name, side = clean(one.name) or "(no name)", f", {clean(one.side)}" if one.side else ""
    words = f", {clean(one.words)}" if one.words else ""
    decides = " Decides." if one.decides else ""
    return f"{name}: {ratio_words(one.ratio, one.low, one.high)}{words}{side}.{decides}"
