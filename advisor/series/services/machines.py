"""Several machines in one picture: series of this capture and of others that count the same, also at one clock.

Nothing is interpolated: figures stand side by side at the loads that were measured on both.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup

from advisor.charts.loads import compared_loads
from advisor.charts.plotted import legend
from advisor.core.jinja import one_of
from advisor.series.services.fitted import Fitted
from collectors.facts.scaling import LoadSeries
from rules.laws.clock import at_one_clock, not_scaled, others_as_measured
from rules.laws.series import held_against

MOST = 6
"""Series in one picture: as many as marks and dashes tell apart."""
MOST_ROWS = 100
"""Loads in the table."""
LONGEST = 80
"""Characters of a machine's name."""


@dataclass(frozen=True)
class Offered:
    """A series that may stand in the picture, and whose it is."""

    one: Fitted
    owner: str = ""
    """The system of another capture; empty for this one's."""
    audit: int | None = None


@dataclass(frozen=True)
class Machine:
    """A series in the picture."""

    name: str
    one: Fitted
    audit: int | None
    factor: float = 1.0
    """Highest clock ÷ own clock where rates are scaled."""

    @property
    def named(self) -> LoadSeries:
        """The series by the name it has in the picture."""
        return replace(self.one.series, title=self.name)


@dataclass(frozen=True)
class Row:
    """One load: the mean rate of each machine and its ratio to the first one's, `None` where it was not measured."""

    load: float
    rates: tuple[float | None, ...]
    ratios: tuple[float | None, ...]


@dataclass(frozen=True)
class Comparison:
    """The machines side by side."""

    machines: tuple[Machine, ...]
    """The first is what the others are held against."""
    refused: tuple[str, ...]
    """Why others do not stand in the picture."""
    mhz: float | None
    """The clock all rates are scaled to; `None`: as measured."""
    unscaled: str | None
    """Why rates cannot be scaled by clock; `None` where they can."""
    rows: tuple[Row, ...]
    more_rows: int
    per_cycle: tuple[str, ...]
    """What the first's clock says of each other machine of its model; of any other the plain ratio. Sentences."""

    @property
    def picture(self) -> Markup:
        """All of them."""
        first = self.machines[0].one
        lines = [one.one.line(one.name, one.factor) for one in self.machines]
        title = f"{first.rate_name} of {', '.join(one.name for one in self.machines)}"
        title += "" if self.mhz is None else f", scaled to {self.mhz:g} MHz"
        return compared_loads(lines, x_name=first.load_name, y_name=first.rate_name, title=title)

    @property
    def legend(self) -> Markup:
        """The names of the machines as the picture tells them apart, for narrow screens."""
        return legend([one.name for one in self.machines], shapes=True)


def compare(base: Fitted, others: Sequence[Offered], *, scaled: bool = False) -> Comparison:
    """Hold series against `base`; those that count something else, or are beyond the sixth, are named and left out."""
    refused: list[str] = []
    machines = [Machine(_named(Offered(base), []), base, None)]
    for offered in others:
        name = _named(offered, [one.name for one in machines])
        why = _against(base, offered.one, name)
        if why is None and len(machines) == MOST:
            why = f"{name}: {MOST} series is the most that one picture shows"
        if why is not None:
            refused.append(why)
        else:
            machines.append(Machine(name, offered.one, offered.audit))
    unscaled = _unscaled(machines)
    mhz = None
    if scaled and unscaled is None:
        mhz = max(one.one.series.clock_mhz or 0.0 for one in machines)
        machines = [replace(one, factor=mhz / (one.one.series.clock_mhz or mhz)) for one in machines]
    rows = _rows(machines)
    first = machines[0].named
    clocks = [at_one_clock(first, one.named) for one in machines[1:] if unscaled is None]
    measured = [said for one in machines[1:] for said in others_as_measured(first, (first, one.named))]
    return Comparison(
        tuple(machines),
        tuple(refused),
        mhz,
        unscaled,
        tuple(rows[:MOST_ROWS]),
        max(0, len(rows) - MOST_ROWS),
        (*(one.says for one in clocks if not isinstance(one, str)), *(one.says for one in measured)),
    )


def _named(offered: Offered, taken: Sequence[str]) -> str:
    """`ORKNEY: HP rx2660 - 2 cores`; with a number where another one is called so."""
    title = offered.one.series.title
    name = title if title.upper().startswith(offered.owner.upper()) else f"{offered.owner}: {title}"
    name = name if len(name) <= LONGEST else f"{name[: LONGEST - 13]}…{name[-12:]}"
    same = sum(one == name or one.startswith(f"{name} (") for one in taken)
    return f"{name} ({same + 1})" if same else name


def _against(base: Fitted, other: Fitted, name: str) -> str | None:
    """Why one series cannot stand beside another."""
    one, two = base.series, other.series
    if (one.load_name, one.rate_name) != (two.load_name, two.rate_name):
        counted, of_base = (f"{each.rate_name} by {one_of(each.load_name)}" for each in (other, base))
        return f"{name}: counts {counted}, and {base.series.title} {of_base}"
    if other.refused:
        return f"{name}: {other.refused}"
    return None


def _unscaled(machines: Sequence[Machine]) -> str | None:
    if len(machines) < 2:
        return "there is nothing to scale to"
    without = [one.name for one in machines if not one.one.series.clock_mhz or one.one.series.clock_mhz < 0]
    if without:
        return f"the clock of {', '.join(without)} is not in the export"
    if len({one.one.series.clock_mhz for one in machines}) == 1:
        return "all of them have one clock"
    first = machines[0].named
    return next((why for one in machines[1:] if (why := not_scaled(first, one.named))), None)


def _rows(machines: Sequence[Machine]) -> list[Row]:
    """Every load at which the first machine and another one were measured."""
    first = machines[0]
    rates: list[dict[float, float]] = [{} for _ in machines]
    for n, machine in enumerate(machines[1:], 1):
        common = held_against(first.one.series, machine.one.series)
        for at in () if isinstance(common, str) else common:
            rates[0][at.load] = at.before.rate * first.factor
            rates[n][at.load] = at.after.rate * machine.factor
    rows = []
    for load, own in sorted(rates[0].items()):
        at_load = tuple(held.get(load) for held in rates)
        rows.append(Row(load, at_load, tuple(rate / own if rate is not None and own > 0 else None for rate in at_load)))
    return rows
