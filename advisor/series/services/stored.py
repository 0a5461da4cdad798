"""The load series of a stored capture, each with its law, fitted once (`advisor.core.page_cache`)."""

from dataclasses import dataclass

from advisor.audits.models import Capture
from advisor.audits.services.persistence import restore
from advisor.core.page_cache import kept
from advisor.series.services.fitted import Fitted, fitted
from collectors.facts.scaling import LoadSeries

MOST_SERIES = 24
"""Series of one capture that pages show; the CSV file of the audit has no more either, and it is said how many more
there are."""


@dataclass(frozen=True)
class Stored:
    """What is kept of one capture."""

    series: tuple[Fitted, ...]
    left_out: int
    """Series beyond the first `MOST_SERIES`."""
    problems: tuple[str, ...]
    """What of the stored facts could not be restored."""


@kept
def stored(capture: Capture) -> Stored:
    """The series of this capture. Who may see it was asked before."""
    found, problems = restore(capture)
    series = found.facts.every(LoadSeries)
    shown = tuple(fitted(number, one) for number, one in enumerate(series[:MOST_SERIES], 1))
    return Stored(shown, max(0, len(series) - MOST_SERIES), tuple(problems))
