"""Text and figures as they stand in a chart: cleaned, measured, clipped, never trusted."""

import math
import re
from functools import lru_cache
from unicodedata import combining, east_asian_width

from advisor.core.jinja import unit_of

FONT_SIZE = 12
LINE = 14.0
"""px from one line of a text to the next."""
MOST_LINES = 5
"""Lines that one text of a picture has at the most: names of an export may be long."""
LONGEST = 500
"""A title from an export may be a megabyte; a picture's name need not."""

BREAK = re.compile(r"(?<!\d)\s+|\s+(?!\S{1,3}(?:\s|$))")
"""Where a text may be broken: at blanks, but not between a figure and its unit."""
WIDE = frozenset("mwMW@%&")
NARROW = frozenset("iljtfrI.,:;'|!()[] ")


def clean(text: str) -> str:
    """Keep what can be shown: controls, direction marks and what XML forbids go, white space becomes a blank."""
    text = text[: 2 * LONGEST]
    if not text.isprintable():
        text = "".join(c if c.isprintable() else " " if c.isspace() else "" for c in text)
    return " ".join(text.split())[:LONGEST]


def breadth(text: str, size: float = FONT_SIZE) -> float:
    """Estimate a text's width in px, rather too wide than too narrow (measured against DejaVu Sans, a wide face)."""
    return size * sum(map(_em, text))


@lru_cache(maxsize=1000)
def _em(char: str) -> float:
    if not char.isascii():
        return 0.0 if combining(char) else 1.2 if east_asian_width(char) in "WF" else 1.0
    if char in NARROW:
        return 0.42
    if char in WIDE:
        return 1.0
    return 0.78 if char.isupper() else 0.64


def clip(text: str, room: float, size: float = FONT_SIZE) -> str:
    """Cut a text in its middle until it fits `room` px: names differ at the end as often as at the start."""
    if breadth(text, size) <= room:
        return text
    keep = min(len(text) - 1, int(2 * room / size))
    while keep > 0:
        cut = text[: (keep + 1) // 2] + "…" + (text[-(keep // 2) :] if keep > 1 else "")
        if breadth(cut, size) <= room:
            return cut
        keep -= 1
    return ""


def wrapped(text: str, room: float, most: int = MOST_LINES, *, hard: bool = True) -> list[str]:
    """Break a text into lines of `room` px as `BREAK` says, a longer word behind its punctuation or where room ends.

    Of more than `most` lines the last one is cut in its middle, as by `clip`. Without `hard` a piece that nothing may
    break stays whole: a line is then wider than its room.
    """
    lines: list[str] = []
    for word in filter(None, BREAK.split(text.strip())):
        joined = f"{lines[-1]} {word}" if lines else word
        if lines and breadth(joined) <= room:
            lines[-1] = joined
            continue
        lines.append("")
        for piece in _pieces(word, room, hard=hard):
            if lines[-1] and breadth(lines[-1] + piece) > room:
                lines.append("")
            lines[-1] += piece
    if len(lines) > most:
        lines = [*lines[: most - 1], clip(" ".join(lines[most - 1 :]), room)]
    return lines


def _pieces(word: str, room: float, *, hard: bool) -> list[str]:
    """What a word may be broken into: behind punctuation, and single characters where that is too wide still."""
    if breadth(word) <= room:
        return [word]
    pieces = re.findall(r"[^\W_]+[\W_]*|[\W_]+", word)
    return [part for one in pieces for part in (one if hard and breadth(one) > room else (one,))]


def figure(value: float, unit: str = "") -> str:
    """Write a finite figure, with its unit: thousands by comma, three decimals at most, far ones by powers of ten."""
    size = abs(value)
    if size >= 1e15 or 0 < size < 0.01:
        words = f"{value:.4g}"
    elif value == int(value):
        words = f"{int(value):,}"
    else:
        words = f"{value:,.{3 if size < 1000 else 1}f}".rstrip("0").rstrip(".")
    return f"{words} {unit_of(unit, value)}" if unit else words


def fitting(value: float, unit: str, room: float) -> str:
    """Write a figure into `room` px: first the unit is cut, then the digits are rounded; a figure is never cut."""
    whole = figure(value, unit)
    if breadth(whole) <= room:
        return whole
    bare = next((one for one in (figure(value), f"{value:.3g}") if breadth(one) <= room), f"{value:.1g}")
    cut = clip(unit, room - breadth(f"{bare} "))
    return f"{bare} {cut}" if len(cut) > 3 else bare


def tick_labels(ticks: list[float], exponent: int) -> list[str]:
    """Write an axis's ticks, 1, 2 or 5 times ten to `exponent` apart, with the decimals the step needs."""
    largest = max(map(abs, ticks))
    if largest >= 1e15 or exponent < -6:
        digits = min(15, max(0, math.floor(math.log10(largest)) - exponent))
        return [f"{tick:.{digits}e}" if tick else "0" for tick in ticks]
    return [f"{tick + 0.0:,.{max(0, -exponent)}f}" for tick in ticks]


def extremes(known: list[float], absent: int, unit: str = "") -> str:
    """Say in words what a line shows: first, last, lowest, highest, and how many points had no figure."""
    if not known:
        return "No figures."
    first, last, low, high = (figure(v, unit) for v in (known[0], known[-1], min(known), max(known)))
    words = f"{len(known):,} figures: first {first}, last {last}, lowest {low}, highest {high}."
    if len(known) == 1:
        words = f"One figure: {first}."
    return f"{words} {absent:,} without a figure." if absent else words
