"""The series of a stored capture: over the load, each with its law, and over a parameter; made once and kept."""

from dataclasses import dataclass

from advisor.audits.models import Capture
from advisor.audits.services.persistence import restore
from advisor.core.page_cache import kept
from advisor.series.services.fitted import Fitted, fitted
from advisor.series.services.settings import Family, OverParameter, families, over_parameters
from collectors.facts.scaling import LoadSeries, ParameterSeries

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
    families: tuple[Family, ...] = ()
    """Series that differ in one setting alone."""
    parameters: tuple[OverParameter, ...] = ()
    """Series over a parameter."""


@kept
def stored(capture: Capture) -> Stored:
    """The series of this capture. Who may see it was asked before."""
    found, problems = restore(capture)
    series = found.facts.every(LoadSeries)
    shown = tuple(fitted(number, one) for number, one in enumerate(series[:MOST_SERIES], 1))
    groups = families(shown)
    over = over_parameters(found.facts.every(ParameterSeries), groups)
    return Stored(shown, max(0, len(series) - MOST_SERIES), tuple(problems), groups, over)
