"""Figures of a comparison as people read them."""


def number(value: float | None) -> str:
    """At most four significant digits, thousands by comma; `-` for none."""
    if value is None:
        return "-"
    return f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.0f}"


def percent(ratio: float) -> str:
    """A ratio as a difference in per cent: 0.67 → `-33`; less than half a per cent is `0`, and all but gone `-99.6`."""
    change = 100 * (ratio - 1)
    if ratio > 0 and change < -99:
        return f"{max(change, -99.9):.1f}"
    return "0" if abs(change) < 0.5 else f"{change:+,.0f}"
