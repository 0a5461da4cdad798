"""The account as one bar: where the capacity of a capture went, part beside part, with what each part is.

Work is plain, what is lost has a plain colour for each cause, what is waited for without a finding a quiet one; what is
lost without a shown cause and what cannot be told apart are hatched, idle is grey. Labels stand above their parts;
where one is too narrow for its label, a legend below has them all: no colour is needed to read it. Other classes than
those of `svg`, for a style sheet:

    c-work, c-lost, c-other, c-unexplained, c-undivided, c-idle    the parts: fill
    c-hatch    the lines across two of them: stroke                c-on    a figure on a part of plain colour: fill
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from advisor.charts.pen import Sheet
from advisor.charts.scales import near, number
from advisor.charts.words import LINE, breadth, clean, figure, wrapped

HATCHED = ("unexplained", "undivided")
KINDS = ("work", "lost", "other", *HATCHED, "idle")
"""`other`: waited for, and no finding speaks of it."""
LABELS, BAR, AXIS, ROW = 18.0, 30.0, 20.0, 17.0
"""Height of the labels above, the bar, its axis, and a line of the legend, px."""
SWATCH = 12.0
LEAST_TICK = 60.0
"""px between two ticks of the axis."""
LEAST_PART = 1.0
"""px of a part, or nobody would see it."""


@dataclass(frozen=True)
class Part:
    """One part of an account."""

    kind: str
    """One of `KINDS`."""
    label: str
    amount: float | None
    """Processors or tasks; `None` where only an upper end is known: it has its words and no length."""
    figure: str
    """The amount as people read it."""


def account_bar(
    parts: Sequence[Part],
    *,
    capacity: float | None,
    unit: str,
    title: str,
    width: int = 720,
    legend: bool = True,
) -> Markup:
    """Draw the parts in their order. `capacity` is the length of the bar; `None`, or too little: that of all parts.

    Without `legend` a bar whose labels have no room has none: a table beside it says what its parts are (`swatches`).
    `width` 240 at least (ValueError).
    """
    if width < 240:
        raise ValueError(f"{width} px is too small for this chart; 240 is the least")
    amounts = [_amount(one) for one in parts]
    whole = max(sum(amounts), near(max(0.0, number(capacity) or 0.0)))
    if not whole:
        sheet = Sheet(width, 20)
        sheet.text("no figures", width / 2, 14, "middle")
        return sheet.done(title, "No figures.")
    places = list(spread(amounts, whole, width))
    direct = all(
        breadth(_said(one)) <= wide - 4 for one, (_, wide) in zip(parts, places, strict=True) if one.amount is not None
    ) and all(one.amount is not None for one in parts)
    listed = legend and not direct
    top = LABELS if direct else 2.0
    height = top + BAR + AXIS + (_legend_height(parts, width) + 4 if listed else 0)
    sheet = Sheet(width, round(height))
    for one, shade, (x, wide) in zip(parts, shades(parts), places, strict=True):
        if not wide:
            continue
        sheet.part(one.kind, shade, x, top, wide, BAR, hatched=one.kind in HATCHED)
        if direct:
            sheet.text(_said(one), x, top - 6, room=wide)
        if one.kind not in HATCHED and breadth(one.figure) <= wide - 12:
            sheet.text(one.figure, x + 6, top + BAR / 2 + 4, on=one.kind != "idle")
    _axis(sheet, top + BAR, whole, unit)
    if listed:
        _legend(sheet, parts, top + BAR + AXIS + 4)
    said = "; ".join(f"{clean(one.figure)} {clean(one.label)}" for one in parts)
    return sheet.done(f"{clean(title)}: {said}", f"{said}.")


def swatches(parts: Sequence[Part]) -> list[Markup]:
    """For each part a small box as the bar has it, for a table; it says nothing by itself."""
    made = []
    for one, shade in zip(parts, shades(parts), strict=True):
        sheet = Sheet(round(SWATCH), round(SWATCH))
        sheet.part(one.kind, shade, 0, 0, SWATCH, SWATCH, hatched=one.kind in HATCHED)
        made.append(sheet.ornament())
    return made


def _amount(one: Part) -> float:
    return near(max(0.0, number(one.amount) or 0.0))


def spread(amounts: Sequence[float], whole: float, width: int) -> Iterator[tuple[float, float]]:
    """Left edge and breadth of each part, px; nothing is drawn beyond the right edge."""
    x = 0.0
    for amount in amounts:
        wide = min(max(width * (amount / whole), LEAST_PART if amount else 0.0), width - x)
        yield x, max(0.0, wide)
        x += max(0.0, wide)


def shades(parts: Sequence[Part]) -> Iterator[int]:
    """The place of each part among those of its kind, from 0 on."""
    seen: Counter[str] = Counter()
    for one in parts:
        yield seen[one.kind]
        seen[one.kind] += 1


def _said(one: Part) -> str:
    """A label above a part: with its figure where the part is hatched, as none can be read on that."""
    return f"{one.figure} {one.label}" if one.kind in HATCHED else one.label


def _axis(sheet: Sheet, y: float, whole: float, unit: str) -> None:
    """Ticks 1, 2 or 5 times a power of ten apart; at the right end the whole with its unit."""
    end = f"{figure(float(f'{whole:.4g}'))} {clean(unit)}".strip()
    step, most = round_step(whole, max(1, int(sheet.width / LEAST_TICK))), sheet.width - breadth(end) - 8
    for n in range(int(whole / step) + 1):
        x = sheet.width * (n * step / whole)
        name = figure(float(f"{n * step:.6g}"))
        if x + breadth(name) / 2 > most:
            break
        sheet.rule("axis", min(x, sheet.width), y, min(x, sheet.width), y + 4)
        sheet.text(name, x, y + 15, "middle" if n else "start")
    sheet.rule("axis", sheet.width, y, sheet.width, y + 4)
    sheet.text(end, sheet.width, y + 15, "end", room=sheet.width - 20)


def round_step(whole: float, most: int) -> float:
    """The least step of which at most `most` go into the whole."""
    exponent = int(f"{whole:e}".partition("e")[2]) - 2
    while True:
        for multiple in (1, 2, 5):
            step = float(f"{multiple}e{exponent}")
            if step > 0 and whole / step <= most:
                return step
        exponent += 1


def _legend_height(parts: Sequence[Part], width: float) -> float:
    """Of all lines of the legend, px."""
    room = width - _label_at(parts, width)
    return sum(ROW + LINE * (max(1, len(wrapped(clean(one.label), room))) - 1) for one in parts)


def _label_at(parts: Sequence[Part], width: float) -> float:
    """Where the labels of the legend begin, px: behind the box and the longest figure."""
    return SWATCH + 16 + min(max(breadth(one.figure) for one in parts), width / 3)


def _legend(sheet: Sheet, parts: Sequence[Part], y: float) -> None:
    """A row for each part: its box, its figure, its label in as many lines as it needs."""
    start = _label_at(parts, sheet.width)
    for one, shade in zip(parts, shades(parts), strict=True):
        sheet.part(one.kind, shade, 0, y, SWATCH, SWATCH, hatched=one.kind in HATCHED)
        sheet.text(one.figure, start - 8, y + 10, "end", room=start - SWATCH - 16)
        y += ROW + max(0.0, sheet.lines(one.label, start, y + 10, sheet.width - start) - LINE)
