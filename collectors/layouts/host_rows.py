"""What the commands about the processors of a host have in common (`mpstat`, `vmstat`, `top`)."""

from collectors.facts.base import ABSENT, Reading
from collectors.layouts.figures import number

CUT = "this row is cut short, or one of its figures cannot be one: export it again"


def mean(figures: list[float]) -> Reading:
    """The mean of what the rows say; absent without any."""
    return round(sum(figures) / len(figures), 2) if figures else ABSENT


def percent(text: str) -> float | None:
    """A share of 0 to 100, with a point or a comma; `None` where it cannot be one."""
    found = number(text.replace(",", "."))
    return found if found is not None and 0 <= found <= 100 else None
