"""Pictures of pages alone, as wide as their place: lengths in per cent and text in px, so no text is ever scaled.

They have no `viewBox`; the style sheet gives their height. Mail and PDF have `advisor.charts.account` and `svg`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from advisor.charts.account import HATCHED, Part, round_step, shades
from advisor.charts.pen import HATCH, HATCH_STEP, LOST, OTHER, PARTS
from advisor.charts.scales import near, number
from advisor.charts.words import breadth, clean, figure

LEAST_WIDE = 320.0
"""px that a picture is at least wide: what has room there is written."""
BAR = 30
"""Height of the bar of an account, px; below it stands its axis."""
LEAST_PART = 0.2
"""Per cent of a part, or nobody would see it."""
MOST_TICKS = 8
LANE, GAP = 14, 6
"""Height of one bar of a pair, and between the two, px."""
LEAST_SCALE = 190.0
"""px that a scale is at least wide: its two texts never meet there."""


def account_bar(parts: Sequence[Part], *, capacity: float | None, unit: str, title: str, name: str) -> Markup:
    """Draw the parts of an account in their order, with their figures and an axis; a table beside it names them.

    `capacity` is the length of the bar; `None`, or too little: that of all parts. `name` is unique in the page: the
    patterns of what is hatched are called after it. Empty where nothing has a length.
    """
    amounts = [near(max(0.0, number(one.amount) or 0.0)) for one in parts]
    whole = max(sum(amounts), near(max(0.0, number(capacity) or 0.0)))
    if not whole:
        return Markup()
    said = "; ".join(f"{clean(one.figure)} {clean(one.label)}" for one in parts)
    body = [*_patterns(parts, name)]
    at = 0.0
    for one, shade, amount in zip(parts, shades(parts), amounts, strict=True):
        if not amount:
            continue
        wide = min(max(100 * amount / whole, LEAST_PART), 100 - at)
        body += _part(one, shade, at, wide, name)
        at += wide
    body += _axis(whole, unit)
    return _document(f"{clean(title)}: {said}", "account-bar", body)


def limit_scale(value: float, limit: float, *, most: float, unit: str, title: str) -> Markup:
    """Draw a figure as a multiple of its limit, on a scale from zero to `most` multiples, with the limit as a tick.

    `limit` above 0 and `most` 1 at least; `value` 0 or more.
    """
    multiple = value / limit
    tick = 100 / most
    held = f"limit {figure(limit, unit)}"
    words = clean(f"limit {figure(limit, '%' if unit == '%' else '')}")
    times = f"{figure(float(f'{multiple:.3g}'))}×"
    at, room, own = LEAST_SCALE * tick / 100, breadth(words), breadth(times) + 6
    anchor, aside, spot = "start", 4, 'x="100%" y="23" text-anchor="end"'
    if at + aside + room + own > LEAST_SCALE:
        anchor, aside = "end", -4
        if at + own > LEAST_SCALE:
            spot = 'y="23"'
        if at + aside - room < (own if spot == 'y="23"' else 0):
            words = ""  # the title says it
    body = [
        '<rect class="track" y="2" width="100%" height="8" rx="2"/>',
        f'<rect class="value" y="2" width="{100 * multiple / most:.2f}%" height="8" rx="2"/>',
        f'<line class="tick" x1="{tick:.2f}%" x2="{tick:.2f}%" y1="0" y2="12"/>',
        f'<text class="limit" x="{tick:.2f}%" dx="{aside}" y="23" text-anchor="{anchor}">{escape(words)}</text>',
        f"<text {spot}>{times}</text>",
    ]
    return _document(f"{clean(title)}: {times.rstrip('×')} times the {clean(held)}", "scale", body)


@dataclass(frozen=True)
class Pair:
    """One figure before and after; neither is below zero."""

    name: str
    before: float
    after: float
    low: float | None
    high: float | None
    """Between which ratios after ÷ before the truth lies; `None`: no noise was measured."""
    kind: str
    """`better`, `worse`, or `same` where it is neither."""

    @property
    def most(self) -> float:
        """What its scale has to hold: both bars, and the upper end of the noise."""
        noise = number(self.before * self.high) if self.high is not None else None
        return max(0.0, *(near(number(one) or 0.0) for one in (self.before, self.after, noise)))


def pair_bars(pair: Pair, most: float) -> Markup:
    """Draw a figure before and, below it, after, from zero to `most`, which pairs of one unit share.

    The interval of the ratio is drawn on the bar of the after, as that many times the before. Empty without a length.
    """
    if not most:
        return Markup()

    def at(value: float) -> str:
        return f"{max(0.0, min(100.0, 100 * near(value) / most)):.2f}%"

    below = LANE + GAP
    body = [
        f'<rect class="before" width="{at(pair.before)}" height="{LANE}" rx="2"/>',
        f'<rect class="after {pair.kind}" y="{below}" width="{at(pair.after)}" height="{LANE}" rx="2"/>',
    ]
    if pair.low is not None and pair.high is not None:
        left, right, middle = at(pair.before * pair.low), at(pair.before * pair.high), below + LANE / 2
        body.append(f'<line class="noise" x1="{left}" x2="{right}" y1="{middle:g}" y2="{middle:g}"/>')
        body += (
            f'<line class="noise" x1="{x}" x2="{x}" y1="{middle - 4:g}" y2="{middle + 4:g}"/>' for x in (left, right)
        )
    body += _axis(most, "", below + LANE + 2)
    said = (
        f"{clean(pair.name)}: {figure(float(f'{pair.before:.4g}'))} before, {figure(float(f'{pair.after:.4g}'))} after"
    )
    return _document(said, "pair", body)


def share_bar(share: float, limit: float, title: str) -> Markup:
    """Draw a share from zero to one, with the limit it may not fall below as a tick; both 0 to 1."""
    low = " over" if share < limit else ""
    body = [
        '<rect class="track" y="3" width="100%" height="8" rx="2"/>',
        f'<rect class="value{low}" y="3" width="{100 * share:.2f}%" height="8" rx="2"/>',
        f'<line class="tick" x1="{100 * limit:.2f}%" x2="{100 * limit:.2f}%" y1="0" y2="14"/>',
    ]
    return _document(f"{clean(title)}: {share:.2f} of 1, limit {limit:g}", "scale share", body)


def part_bar(percent: float | None, title: str) -> Markup:
    """Draw a share of 100 % as a bar from zero, in a cell whose figure stands beside it; nothing for no figure."""
    share = number(percent)
    if share is None:
        return Markup()
    wide = max(0.0, min(100.0, share))
    body = [
        '<rect class="track" y="3" width="100%" height="8" rx="2"/>',
        f'<rect class="value" y="3" width="{wide:.2f}%" height="8" rx="2"/>',
    ]
    return _document(f"{clean(title)}: {figure(float(f'{share:.3g}'), '%')}", "scale share", body)


def _part(one: Part, shade: int, at: float, wide: float, name: str) -> Iterator[str]:
    colours = OTHER if one.kind == "other" else LOST
    ink = PARTS.get(one.kind) or f'fill="{colours[shade % len(colours)]}"'
    place = f'x="{at:.2f}%" width="{wide:.2f}%" height="{BAR}"'
    yield f'<rect class="c-{one.kind}" {ink} {place}/>'
    if one.kind in HATCHED:
        yield f'<rect fill="url(#{name}-{one.kind})" {place}/>'
    if at:
        yield f'<line class="gap" x1="{at:.2f}%" x2="{at:.2f}%" y1="0" y2="{BAR}"/>'
    if one.kind not in HATCHED and breadth(one.figure, 14) + 12 <= LEAST_WIDE * wide / 100:
        on = "" if one.kind == "idle" else " on"
        yield f'<text class="amount{on}" x="{at:.2f}%" dx="8" y="20">{escape(clean(one.figure))}</text>'


def _patterns(parts: Sequence[Part], name: str) -> Iterator[str]:
    for kind in HATCHED:
        if any(one.kind == kind for one in parts):
            size = f'width="{HATCH_STEP:g}" height="{HATCH_STEP:g}" patternUnits="userSpaceOnUse"'
            yield (
                f'<pattern id="{name}-{kind}" {size} patternTransform="rotate(45)">'
                f'<path d="M0,0V{HATCH_STEP:g}" {HATCH[kind]} stroke-width="3"/></pattern>'
            )


def _axis(whole: float, unit: str, top: float = BAR) -> Iterator[str]:
    """Ticks 1, 2 or 5 times a power of ten apart; at the right end the whole with its unit."""
    end = f"{figure(float(f'{whole:.4g}'))} {clean(unit)}".strip()
    room = 100 * (1 - (breadth(end, 12) + 16) / LEAST_WIDE)
    step = round_step(whole, MOST_TICKS)
    for n in range(int(whole / step) + 1):
        x = 100 * n * step / whole
        if x <= room:
            words = figure(float(f"{n * step:.6g}"))
            anchor = ' text-anchor="middle"' if n else ""
            yield f'<line class="c-axis" x1="{x:.2f}%" x2="{x:.2f}%" y1="{top:g}" y2="{top + 4:g}"/>'
            yield f'<text x="{x:.2f}%" y="{top + 17:g}"{anchor}>{words}</text>'
    yield f'<text x="100%" y="{top + 17:g}" text-anchor="end">{escape(end)}</text>'


def _document(title: str, kind: str, body: Sequence[str]) -> Markup:
    name = escape(title)
    made = f'<svg class="{kind}" role="img" aria-label="{name}"><title>{name}</title>{"".join(body)}</svg>'
    return Markup(made)  # noqa: S704 - every text passes through escape(), the rest is figures and our own words
