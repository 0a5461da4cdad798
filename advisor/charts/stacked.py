"""Figures that add up, over time: layers one upon the other, from zero (drawn by `advisor.charts.plotted`).

Each layer has a line at its top edge, in the dashes of its series, and its name at the right end beside its middle, so
no colour is needed to read it. The script of the pages has nothing to tell here: the height of an edge is no figure of
its layer. The figures stand in the description and in the table beside the picture.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from markupsafe import Markup

from advisor.charts.pen import COLOURS, DASHES
from advisor.charts.plotted import AREA, Plot, from_zero, legend, time_ticks
from advisor.charts.scales import number, seconds
from advisor.charts.words import clean, figure

REST, MOST_NAMED = "everything else", 5
"""The layer of what has none of its own, and how many names have one."""
LEAST_NAMED = 0.03
"""Share of the plot's height below which a layer has no name at its end: it is in the list of layers all the same."""


@dataclass(frozen=True)
class Layer:
    """One layer: a figure at each time, none below zero."""

    name: str
    points: Sequence[tuple[datetime, float]]


def stacked_chart(layers: Sequence[Layer], *, unit: str, title: str, height: int = 200) -> Markup:
    """Draw up to six layers over the same times, the first at the bottom; else ValueError."""
    if len(layers) > len(COLOURS):
        raise ValueError(f"{len(layers)} layers: six is the most that can be told apart")
    times = [seconds(at) for at, _ in layers[0].points] if layers else []
    if any([seconds(at) for at, _ in one.points] != times for one in layers):
        raise ValueError("the layers are of different times")
    edges: list[list[float]] = [[0.0] * len(times)]
    for one in layers:
        edges.append([low + max(0.0, number(v) or 0.0) for low, (_, v) in zip(edges[-1], one.points, strict=True)])
    plot = Plot(min(times, default=0.0), max(times, default=0.0), from_zero(edges[-1]), height)
    plot.grid(clean(unit))
    plot.ticks(time_ticks([[(at, 0.0) for at in times]]).ticks)
    _fill(plot, times, edges)
    plot.lines((list(zip(times, top, strict=True)), n, DASHES[n - 1], "") for n, top in enumerate(edges[1:], 1))
    said = []
    for n, (one, low, high) in enumerate(zip(layers, edges, edges[1:], strict=False), 1):
        if times and (high[-1] - low[-1]) >= LEAST_NAMED * plot.axis.ticks[-1]:
            plot.name(plot.y((low[-1] + high[-1]) / 2), clean(one.name) or "(no name)", f"n-{n}")
        values = [v for _, v in one.points]
        said.append(f"{clean(one.name)}: {figure(min(values))} to {figure(max(values))}, last {figure(values[-1])}.")
    return plot.done(title, " ".join(said) or "No figures.", None)


def stacked_by_name(points: Sequence[tuple[datetime, Mapping[str, float]]], *, unit: str, title: str) -> Markup:
    """Draw figures by name at each time, with the list of layers: those of most in all first, the others as `REST`.

    A name that a time does not have counts as nothing there.
    """
    totals: dict[str, float] = {}
    for _, figures in points:
        for name, value in figures.items():
            totals[name] = totals.get(name, 0.0) + value
    named = sorted((name for name in totals if name != REST), key=lambda name: (-totals[name], name))[:MOST_NAMED]
    layers = [Layer(name, [(at, figures.get(name, 0.0)) for at, figures in points]) for name in named]
    rest = [(at, sum(v for name, v in figures.items() if name not in named)) for at, figures in points]
    if any(v for _, v in rest):
        layers.append(Layer(REST, rest))
    return stacked_chart(layers, unit=unit, title=title) + legend([one.name for one in layers])


def _fill(plot: Plot, times: Sequence[float], edges: Sequence[Sequence[float]]) -> None:
    """The areas between the edges, in the stretched inner picture."""
    made = []
    for n, (low, high) in enumerate(pairwise(edges), 1):
        there = [f"{AREA * plot.x(at):.1f},{plot.y(v):.1f}" for at, v in zip(times, high, strict=True)]
        back = [f"{AREA * plot.x(at):.1f},{plot.y(v):.1f}" for at, v in zip(times, low, strict=True)]
        made.append(f'<polygon class="c-layer c-{n}" points="{" ".join((*there, *reversed(back)))}"/>')
    size = f'width="100%" height="{plot.foot + 2:.0f}" viewBox="0 0 {AREA:.0f} {plot.foot + 2:.0f}"'
    plot.parts.append(f'<svg class="c-area" {size} preserveAspectRatio="none">{"".join(made)}</svg>')
