"""A picture drawn for several widths, of which a page shows the one that fits: no text of it is ever scaled."""

from collections.abc import Callable

from markupsafe import Markup

WIDTHS = {"at-wide": 1316, "at-middle": 940, "at-half": 620, "at-narrow": 322}
"""px of a picture, by the class under which the style sheet shows it: a panel of the page's full width, one of a screen
of 1,040 px, half of the page (or paper), a telephone."""


def sized(draw: Callable[[int], Markup], *, halves: bool = False) -> Markup:
    """Draw it for each width. `halves`: two such pictures stand side by side where the page is wide."""
    widths = {name: width for name, width in WIDTHS.items() if not (halves and name == "at-wide")}
    kind = "sized halves" if halves else "sized"
    drawn = "".join(f'<div class="{name}">{draw(width)}</div>' for name, width in widths.items())
    return Markup(f'<div class="{kind}">{drawn}</div>')  # noqa: S704 - finished pictures and our own words
