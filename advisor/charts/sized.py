"""A picture drawn for several widths, of which a page shows the one that fits: no text of it is ever scaled."""

from collections.abc import Callable

from markupsafe import Markup

WIDTHS = {
    "at-wide": 1316,
    "at-large": 1156,
    "at-middle": 940,
    "at-small": 780,
    "at-half": 620,
    "at-narrow": 322,
}
"""px of a picture, by the class under which the style sheet shows it: the widest that fits its place. A panel of a page
of 1,440 px, of one of 1,280, of smaller screens, half of a page (or paper), a telephone."""


def sized(draw: Callable[[int], Markup], *, halves: bool = False) -> Markup:
    """Draw it for each width. `halves`: it never has more than half of a wide page."""
    widths = {name: width for name, width in WIDTHS.items() if not (halves and name == "at-wide")}
    kind = "sized halves" if halves else "sized"
    drawn = "".join(f'<div class="{name}">{draw(width)}</div>' for name, width in widths.items())
    return Markup(f'<div class="{kind}">{drawn}</div>')  # noqa: S704 - finished pictures and our own words
