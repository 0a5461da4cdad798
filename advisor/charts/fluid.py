"""Pictures of pages alone, as wide as their place: lengths in per cent and text in px, so no text is ever scaled.

They have no `viewBox`; the style sheet gives their height. Mail and PDF have `advisor.charts.account` and `svg`.
"""

from collections.abc import Iterator, Sequence

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
BEYOND_MIDDLE = 55.0
"""Per cent: a tick farther right has its name on its left."""


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
    words, anchor, aside = f"limit {figure(limit, '%' if unit == '%' else '')}", "start", 4
    if tick > BEYOND_MIDDLE:
        anchor, aside = "end", -4
    times = f"{figure(float(f'{multiple:.3g}'))}×"
    body = [
        '<rect class="track" y="2" width="100%" height="8" rx="2"/>',
        f'<rect class="value" y="2" width="{100 * multiple / most:.2f}%" height="8" rx="2"/>',
        f'<line class="tick" x1="{tick:.2f}%" x2="{tick:.2f}%" y1="0" y2="12"/>',
        f'<text class="limit" x="{tick:.2f}%" dx="{aside}" y="23" text-anchor="{anchor}">{escape(clean(words))}</text>',
        f'<text x="100%" y="23" text-anchor="end">{times}</text>',
    ]
    return _document(f"{clean(title)}: {times.rstrip('×')} times the {clean(held)}", "scale", body)


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


def _axis(whole: float, unit: str) -> Iterator[str]:
    """Ticks 1, 2 or 5 times a power of ten apart; at the right end the whole with its unit."""
    end = f"{figure(float(f'{whole:.4g}'))} {clean(unit)}".strip()
    room = 100 * (1 - (breadth(end, 12) + 16) / LEAST_WIDE)
    step = round_step(whole, MOST_TICKS)
    for n in range(int(whole / step) + 1):
        x = 100 * n * step / whole
        if x <= room:
            words = figure(float(f"{n * step:.6g}"))
            anchor = ' text-anchor="middle"' if n else ""
            yield f'<line class="c-axis" x1="{x:.2f}%" x2="{x:.2f}%" y1="{BAR}" y2="{BAR + 4}"/>'
            yield f'<text x="{x:.2f}%" y="{BAR + 17}"{anchor}>{words}</text>'
    yield f'<text x="100%" y="{BAR + 17}" text-anchor="end">{escape(end)}</text>'


def _document(title: str, kind: str, body: Sequence[str]) -> Markup:
    name = escape(title)
    made = f'<svg class="{kind}" role="img" aria-label="{name}"><title>{name}</title>{"".join(body)}</svg>'
    return Markup(made)  # noqa: S704 - every text passes through escape(), the rest is figures and our own words
