"""Rates over the values of one parameter: sizes of a table, bytes of a value block, off and on.

The values stand at equal distances, in rising order, whatever lies between them: sizes are powers of two, and a switch
has no distance. Every run is a point; a thin line joins the means and says nothing of what lies between two values.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from advisor.charts.pen import COLOURS, DASHES, MARKS
from advisor.charts.plotted import Plot, PlotLine, from_zero, name_ends
from advisor.charts.words import clean, figure

MOST_LABELS = 8
"""Values written below the plot; of more every second, third, … one."""


@dataclass(frozen=True)
class ParameterLine:
    """One combination of the other settings: value and rate of every run."""

    name: str
    points: Sequence[tuple[float, float]]

    @property
    def means(self) -> list[tuple[float, float]]:
        """Value and mean rate, in rising order of the value."""
        by_value: dict[float, list[float]] = {}
        for value, rate in self.points:
            by_value.setdefault(value, []).append(rate)
        return [(value, sum(rates) / len(rates)) for value, rates in sorted(by_value.items())]


def parameter_chart(
    lines: Sequence[ParameterLine], labels: dict[float, str], *, x_name: str, y_name: str, title: str, height: int = 220
) -> Markup:
    """Draw up to six lines. `labels`: how each value is written. `height` 60 px at least; else ValueError."""
    if len(lines) > len(COLOURS) or height < 60:
        raise ValueError(f"{len(lines)} lines in {height} px: six is the most that can be told apart, 60 px the least")
    values = sorted({value for line in lines for value, _ in line.points})
    place = {value: float(at) for at, value in enumerate(values)}
    rates = from_zero([rate * 1.02 for line in lines for _, rate in line.points])
    plot = Plot(-0.5, max(0.5, len(values) - 0.5), rates, height)
    plot.grid(clean(y_name))
    step = -(-len(values) // MOST_LABELS)
    plot.ticks(((place[value], labels[value], "") for value in values[::step]), clean(x_name))
    named = [PlotLine(clean(line.name), [(place[value], mean) for value, mean in line.means]) for line in lines]
    plot.lines([(line.points, n, DASHES[n - 1], " c-thin") for n, line in enumerate(named, 1)])
    for n, line in enumerate(lines, 1):
        for value, rate in line.points:
            plot.dot(place[value], rate, n, MARKS[n - 1], radius=3)
    if len(lines) > 1:
        name_ends(plot, named)
    else:
        plot.bare = True
    told = " ".join(
        f"{clean(line.name)}: {', '.join(f'{figure(mean)} at {labels[value]}' for value, mean in line.means)}."
        for line in lines
    )
    return plot.done(title, told or "No figures.", None)
