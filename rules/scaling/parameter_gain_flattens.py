"""A larger value of a parameter gains nothing more that was measured.

Finds: a series of runs at one load over the values of one parameter (sizes of the resource hash table, bytes of value
blocks), and the smallest value whose rate lies within the noise of the best that was measured; or that value blocks
cost no more than noise.

Why it matters: too small a hash table makes every search walk a chain; beyond some size the chains are short, and a
larger table takes memory and gives nothing. JCC Consulting's slides on the OpenVMS lock manager (2014) show a large
loss at far too small sizes, and nothing certain about too large ones.

What to do: take the smallest value that does as much as the best, with room to grow. What lies between two measured
values, or beyond them, nobody knows: measure there.

When to ignore it: when the runs differed in more than the parameter, or had another load than production. It is a note
always: which value is in force, a series does not say; a listing of SYSGEN of the same node does.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from collectors.facts import Facts, known
from collectors.facts.openvms import Node, SysgenParameter
from collectors.facts.scaling import ParameterSeries
from rules.engine import limit, rule
from rules.finding import (
    Clean,
    Evidence,
    Finding,
    MissingInput,
    NotApplicable,
    Outcome,
    Severity,
    Unknown,
    Untrusted,
    capitalized,
)
from rules.laws.flattening import NOISE_PERCENT, Step, enough_of, steps_of
from rules.laws.rounding import plain
from rules.sources import JCC

LINKS = ("https://wiki.vmssoftware.com/LOCKIDTBL",)
LEAST_VALUES = 3
VALUE_BLOCKS = ("lvb bytes", "value block bytes")
"""What a series over the bytes of value blocks is called."""
MOST_SHOWN = 8
"""Values in a sentence; of more those that decide."""


@dataclass(frozen=True)
class Limits:
    """What is noise."""

    noise_percent: float = limit(
        NOISE_PERCENT, f"practice: runs repeat within a few per cent ({JCC})", low=1, high=50, unit="% of the best rate"
    )


@rule(needs=(), uses=(ParameterSeries,), links=LINKS, limits=Limits)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge every series over a parameter."""
    found = facts.every(ParameterSeries)
    if not found:
        yield NotApplicable("no series over a parameter was collected")
    for series in found:
        yield _judge(series, limits, _in_force(facts, series))


def _judge(series: ParameterSeries, limits: Limits, runs: float | None) -> Outcome:
    if any(not math.isfinite(point.value) or not math.isfinite(point.rate) for point in series.points):
        return Untrusted(f"{series.title}: a value or a rate is not a number")
    if any(point.value < 0 or point.rate < 0 for point in series.points):
        return Untrusted(f"{series.title}: a value or a rate is below zero")
    steps = steps_of(series)
    if len(steps) < LEAST_VALUES:
        more = MissingInput(
            f"runs at {LEAST_VALUES} values of {series.parameter} or more", ParameterSeries.COLLECTED_BY
        )
        return Unknown((more,), f"{series.title}: {len(steps)} different values of {series.parameter}")
    best = max(steps, key=lambda step: step.rate)
    if best.rate == 0:
        return Untrusted(f"{series.title}: no rate above zero")
    least = best.rate * (1 - limits.noise_percent / 100)
    if all(step.rate >= least for step in steps):
        if _is_value_blocks(series, steps):
            return _value_blocks(series, steps, best, limits)
        return Clean(
            f"{series.title}: from {series.parameter} {_said(steps[0].value)} to {_said(steps[-1].value)} the rate "
            f"differs by no more than {limits.noise_percent:g} %"
        )
    return _finding(series, steps, best, enough_of(steps, limits.noise_percent), limits, runs)


def _is_value_blocks(series: ParameterSeries, steps: list[Step]) -> bool:
    """Whether the series asks what value blocks cost: over their bytes, from a run without any."""
    return " ".join(series.parameter.lower().split("_")) in VALUE_BLOCKS and steps[0].value == 0


def _value_blocks(series: ParameterSeries, steps: list[Step], best: Step, limits: Limits) -> Finding:
    """They cost no more than noise: what was asked of the series, and its answer."""
    name, unit = series.parameter, series.rate_name.replace("_", " ")
    worst = min(steps, key=lambda step: step.rate)
    apart = 100 * (1 - worst.rate / best.rate)
    over = _rates(series, steps if len(steps) <= MOST_SHOWN else [steps[0], steps[-1]])
    return Finding(
        subject=series.title,
        severity=Severity.NOTE,
        title=f"Value blocks cost {plain(apart, 2)} % at most, less than runs repeat: not the cause",
        seen=f"{over}: {plain(apart, 2)} % apart at most.",
        because=(
            f"Runs repeat to {limits.noise_percent:g} % (practice), so this series proves no difference; in {JCC}, "
            "value blocks took 1 % and 64 bytes a further 0.5 %."
        ),
        do=(
            "Do not look for the cause of slow locks there: look at where locks are served, at MP synch and at the "
            "number of lock operations."
        ),
        unknown="What runs repeat to on this machine two runs of the same value would show.",
        evidence=(
            Evidence(f"highest rate, at {name} {_said(best.value)}", best.rate, unit, best.source),
            Evidence(f"lowest rate, at {name} {_said(worst.value)}", worst.rate, unit, worst.source),
            Evidence(
                "difference of the two", round(apart, 2), "%", worst.source, limits.noise_percent, computed="from both"
            ),
        ),
    )


def _rates(series: ParameterSeries, steps: list[Step]) -> str:
    unit = series.rate_name.replace("_", " ")
    rates = ", ".join(f"{_said(one.rate)} at {_said(one.value)}" for one in steps)
    return f"{capitalized(unit)} over {series.parameter}: {rates}"


def _in_force(facts: Facts, series: ParameterSeries) -> float | None:
    """The value of the parameter that runs on the node that the series is of; `None`: no listing shows it."""
    facts = facts.also(Node, SysgenParameter)
    named = {series.node.upper()} if series.node else set(re.split(r"[^\w$]+", series.title.upper()))
    if not any(one.name and one.name.upper() in named for one in facts.every(Node)):
        return None
    listed = [one for one in facts.every(SysgenParameter) if one.name == series.parameter.upper() and one.runs]
    values = {float(one.current) for one in listed if not isinstance(one.current, str) and known(one.current)}
    return values.pop() if len(values) == 1 else None


def _finding(
    series: ParameterSeries, steps: list[Step], best: Step, enough: Step, limits: Limits, runs: float | None
) -> Finding:
    name, unit = series.parameter, series.rate_name.replace("_", " ")
    low, last = steps[0], steps[-1]
    before = next((step for step, then in pairwise(steps) if then is enough), None)
    rises = enough is last
    shown = steps if len(steps) <= MOST_SHOWN else [step for step in steps if step in (low, before, enough, best, last)]
    between = ""
    if before is not None and not rises:
        between = f"between {_said(before.value)} and {_said(enough.value)} nothing was measured"
    if rises:
        because = f"The rate still rises at {_said(last.value)}, the largest value measured."
        do = "Measure a larger value before anything is set: whether it does more is not known."
    elif last.rate >= best.rate * (1 - limits.noise_percent / 100):
        because = (
            f"From {_said(enough.value)} on nothing is gained beyond {limits.noise_percent:g} %, up to "
            f"{_said(last.value)}, the largest value measured."
        )
        only = f"only one below {_said(enough.value)} leaves something to gain."
        do = f"See which value is in force: {only}" if runs is None else f"{_said(runs)} is in force: {only}"
    else:
        because = (
            f"{_said(enough.value)} does within {limits.noise_percent:g} % of the best, and {_said(last.value)}, the "
            f"largest, {100 * (1 - last.rate / best.rate):.0f} % less than the best."
        )
        do = f"Run {_said(enough.value)} and {_said(last.value)} again before a larger value is blamed."
    return Finding(
        subject=series.title,
        severity=Severity.NOTE,
        title=(
            f"{name}: the rate still rises at {_said(last.value)}, the largest measured"
            if rises
            else f"{name}: {_said(enough.value)} does as much as the best that was measured"
        ),
        seen=f"{_rates(series, shown)}{_loss(low, best)}.",
        because=because,
        do=do,
        unknown=(
            f"Beyond {_said(last.value)} nothing is known{f', and {between}' if between else ''}."
            + (" Which value is in force the series does not say." if runs is None else "")
        ),
        evidence=(
            Evidence(f"rate at {name} {_said(low.value)}, the smallest", low.rate, unit, low.source),
            Evidence(f"rate at {name} {_said(enough.value)}", enough.rate, unit, enough.source),
            Evidence(f"highest rate, at {name} {_said(best.value)}", best.rate, unit, best.source),
        ),
    )


def _loss(low: Step, best: Step) -> str:
    """What the smallest value costs, as a clause; empty where it does most."""
    return "" if low is best else f"; the smallest does {100 * (1 - low.rate / best.rate):.0f} % less than the best"


def _said(value: float) -> str:
    return f"{value:,.0f}" if value >= 1_000 or value == int(value) else plain(value, 4)
