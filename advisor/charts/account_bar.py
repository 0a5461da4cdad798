"""The account as a bar the size of a few words, for a line of a list: no label, no axis; its title says every part."""

from collections.abc import Sequence

from markupsafe import Markup

from advisor.charts.account import HATCHED, Part, shades, spread
from advisor.charts.pen import Sheet, document
from advisor.charts.scales import near, number
from advisor.charts.words import clean


def small_bar(
    parts: Sequence[Part], *, capacity: float | None, title: str, width: int = 150, height: int = 10
) -> Markup:
    """Draw the parts in their order, in the colours of `advisor.charts.account`.

    `capacity` is the length of the bar; `None`, or too little: that of all parts. `width` 20 and `height` 6 at least
    (ValueError).
    """
    if width < 20 or height < 6:
        raise ValueError(f"{width} x {height} px is too small for this chart; 20 x 6 is the least")
    amounts = [near(max(0.0, number(one.amount) or 0.0)) for one in parts]
    whole = max(sum(amounts), near(max(0.0, number(capacity) or 0.0)))
    said = "; ".join(f"{clean(one.figure)} {clean(one.label)}" for one in parts)
    if not whole:
        return document(width, height, title, "No figures.", "")
    sheet = Sheet(width, height)
    for one, shade, (x, wide) in zip(parts, shades(parts), spread(amounts, whole, width), strict=True):
        if wide:
            sheet.part(one.kind, shade, x, 0, wide, height, hatched=one.kind in HATCHED)
    return sheet.done(f"{clean(title)}: {said}", f"{said}.")
