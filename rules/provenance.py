"""Where a figure of evidence comes from: printed in the lines it cites, or computed, and from what.

A reader keeps what stands in its lines; a difference of two snapshots, a mean over the rows of a day and whatever a
rule works out stand in no line. The page shows the lines, so it has to say which is which.
"""

import dataclasses
from collections.abc import Hashable, Mapping, Sequence
from functools import cache
from typing import Any, cast

from collectors.facts import Fact, Facts, Source
from collectors.facts.openvms import (
    ClusterMember,
    DistributedLockRates,
    LockRates,
    MonitorSample,
    ProcessorModes,
    T4File,
)
from rules.finding import Evidence, Finding


@dataclasses.dataclass(frozen=True)
class AtPlace:
    """What was read, by where it stands."""

    facts: Mapping[tuple[str, int, int], Sequence[Fact]]
    """By file, first and last line."""
    by_row: frozenset[str]
    """Files with a line for each sample (T4, a recording): a mean of theirs is computed. MONITOR prints its own."""
    sessions: frozenset[str]
    """Captured sessions of MONITOR: which of their displays prints a mean, or none, the lines cited do not tell."""


def facts_by_place(facts: Facts) -> AtPlace:
    """Every fact by file, first and last line; of a member of a cluster by each of the places it was read at."""
    found: dict[tuple[str, int, int], list[Fact]] = {}
    for rows in facts.by_type.values():
        for fact in rows:
            for source in _sources(fact):
                found.setdefault((source.file, source.first, source.last), []).append(fact)
    monitored = [one for one in facts.by_type.get(MonitorSample, ()) if isinstance(one, MonitorSample)]
    recorded = {one.source.file for one in monitored if one.kind == "recording"}
    return AtPlace(
        facts=found,
        by_row=frozenset(recorded | {one.source.file for one in facts.by_type.get(T4File, ())}),
        sessions=frozenset(one.source.file for one in monitored if one.kind == "display" and (one.samples or 0) > 1),
    )


def _sources(fact: Fact) -> set[Source]:
    others = (
        (getattr(fact, field.name) for field in dataclasses.fields(fact) if field.name.endswith("_source"))
        if isinstance(fact, ClusterMember)
        else ()
    )
    return {fact.source, *(one for one in others if isinstance(one, Source))}


def with_provenance(finding: Finding, at_place: AtPlace) -> Finding:
    """The finding, each figure marked with what it was computed from, unless the rule said so or it was read."""
    return dataclasses.replace(finding, evidence=tuple(_marked(one, at_place) for one in finding.evidence))


def _marked(one: Evidence, at_place: AtPlace) -> Evidence:
    if one.computed or not one.source.file or isinstance(one.value, str):
        return one
    here = at_place.facts.get((one.source.file, one.source.first, one.source.last), ())
    held: list[tuple[Fact, str]] = [(fact, name) for fact in here if (name := _field_of(fact, one))]
    # mean and percentile of a day without much change are one figure: what the metric is called decides
    first = held[0] if held else (None, "")
    of, field = next((pair for pair in held if _statistic(*pair) in one.metric), first)
    earlier = next((place for fact in ([of] if of else here) if (place := getattr(fact, "earlier", None))), None)
    if isinstance(earlier, Source):
        before = str(earlier).removeprefix(f"{one.source.file}:")
        where = f"line {before}" if earlier.file == one.source.file and "-" not in before else str(earlier)
        return dataclasses.replace(one, computed=f"from this line and {where}")
    if getattr(of, "over", None) == "interval":
        return dataclasses.replace(one, computed="from this and the write of the screen before it")
    return dataclasses.replace(one, computed=_operation(of, field, one.source, at_place))


def _operation(of: Fact | None, field: str, source: Source, at_place: AtPlace) -> str:
    """How the figure was made of its lines; empty where it is printed in them."""
    rows = source.last - source.first + 1
    these = "from these lines" if rows > 1 else "from this line"
    if of is None or field in DERIVED.get(type(of), ()):
        return these
    statistic = _statistic(of, field)
    over = OVER_ROWS.get(statistic, "") if rows > 1 and source.file in at_place.by_row else ""
    if field in SUMS.get(type(of), ()):
        return f"as the sum of three figures, each the {over} of {rows} lines" if over else "as a sum"
    if over:
        return f"as the {over} of {rows} lines"
    unsure = source.file in at_place.sessions or isinstance(of, ClusterMember)
    return these if rows > 1 and unsure and statistic in OVER_ROWS else ""


OVER_ROWS = {"mean": "mean", "p95": "95th percentile"}
OPERATIONS = ("local_per_second", "incoming_per_second", "outgoing_per_second")
SUMS: Mapping[type[Fact], Sequence[str]] = {
    LockRates: ("operations_per_second",),
    DistributedLockRates: OPERATIONS,
    ClusterMember: ("operations_per_second", *OPERATIONS),
}
"""Figures that are added up of three others: of new, converted and dequeued locks."""
DERIVED: Mapping[type[Fact], Sequence[str]] = {ProcessorModes: ("cpus",), ClusterMember: ("cpus", "busy_percent")}
"""Made of the modes, or of the number of columns."""


def _statistic(fact: Fact, field: str) -> str:
    """`mean`, `p95` …: of what a column of T4 was over the day, its fields tell."""
    if field in OVER_ROWS or isinstance(fact, ClusterMember):
        return field if field in OVER_ROWS else "mean"
    return str(getattr(fact, "statistic", None))


def _field_of(fact: Fact, shown: Evidence) -> str:
    """Which of a fact's figures is shown; empty where none is.

    0 and 1 are too common to tell: only shares, rates and weights count for these, and facts whose name is said.
    """
    wanted, telling = float(shown.value), shown.value not in (0, 1)
    for field in _figures_of(cast(Hashable, type(fact))):
        value = getattr(fact, field)
        if not isinstance(value, int | float) or isinstance(value, bool) or not _same(wanted, float(value)):
            continue
        if _statistic(fact, field) == "p95" and "p95" not in shown.metric:
            continue
        if telling or field.endswith(("_percent", "_per_second", "_weight")) or _named_in(shown.metric, fact):
            return field
    return ""


@cache
def _figures_of(kind: Any) -> tuple[str, ...]:
    """The fields of a fact that may be figures, and the sums of them."""
    return (*(field.name for field in dataclasses.fields(kind)), *SUMS.get(kind, ()))


def _named_in(metric: str, fact: Fact) -> bool:
    """Whether a metric is called after the fact."""
    names = (getattr(fact, name, None) for name in ("name", "device", "service"))
    return any(isinstance(name, str) and len(name) > 2 and name in metric for name in names)


def _same(shown: float, read: float) -> bool:
    """Whether a figure is what was read, to the digits it is shown with."""
    if shown == read:
        return True
    near = abs(shown - read) <= 0.5  # as far as rounding to a whole number goes, and quicker to tell
    return near and any(round(read, digits) == shown for digits in (0, 1, 2, 3))
