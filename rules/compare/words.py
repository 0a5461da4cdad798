"""Figures of a comparison as people read them, and whether two values of a setting are the same."""

import math

from rules.laws.rounding import plain


def number(value: float | None) -> str:
    """At most four significant digits, thousands by comma; `-` for none."""
    if value is None:
        return "-"
    return plain(value, 4) if abs(value) < 1000 else f"{value:,.0f}"


def same(one: str | float, other: str | float) -> bool:
    """Whether two values of a setting are the same: as numbers where both are, else as words."""
    return worded(one) == worded(other)


def worded(value: str | float) -> str | float:
    """A value as a number, where it is one, else in small letters."""
    try:
        found = float(value)
    except ValueError:
        return str(value).strip().lower()
    return found if math.isfinite(found) else str(value).strip().lower()


def percent(ratio: float) -> str:
    """A ratio as a difference in per cent: 0.67 → `-33`; less than half a per cent is `0`, and all but gone `-99.6`."""
    change = 100 * (ratio - 1)
    if ratio > 0 and change < -99:
        return f"{max(change, -99.9):.1f}"
    return "0" if abs(change) < 0.5 else f"{change:+,.0f}"
