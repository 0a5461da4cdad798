"""What a load series over numbers of engines of SAP ASE says of engines more: from how many on they did harm."""

from dataclasses import dataclass

from collectors.facts import Facts
from collectors.facts.scaling import LoadSeries
from rules.finding import Evidence
from rules.laws.usl import harm_from, model_of


@dataclass(frozen=True)
class PastPeak:
    """A series of one test in which fewer engines than are online, or just as many, did most."""

    series: LoadSeries
    engines: float

    @property
    def says(self) -> str:
        """The same as a clause."""
        return f"{self.series.title} did most with {self.engines:g}, and less with more"

    @property
    def evidence(self) -> Evidence:
        """The number of engines that did most."""
        return Evidence("engines that did most in the series", self.engines, "engines", self.series.source)


def over_engines(facts: Facts) -> list[LoadSeries]:
    """The series whose load is the number of engines."""
    return [one for one in facts.every(LoadSeries) if one.load_name.lower().startswith("engine")]


def past_peak(facts: Facts, engines: int) -> PastPeak | None:
    """The series by which engines more would do harm; captures of production are no test, and say nothing here."""
    for series in over_engines(facts):
        best = None if series.derived else harm_from(model_of(series))
        if best is not None and best <= engines:
            return PastPeak(series, best)
    return None
