"""Where a figure of evidence comes from: printed in the lines it cites, or computed, and from what.

A reader keeps what stands in its lines; a difference of two snapshots, a mean over the rows of a day and whatever a
rule works out stand in no line. The page shows the lines, so it has to say which is which.
"""

import dataclasses
from collections.abc import Iterator

from collectors.facts import Fact, Facts, Source
from collectors.facts.openvms import ClusterMember
from rules.finding import Evidence, Finding

AtPlace = dict[tuple[str, int, int], list[Fact]]


def facts_by_place(facts: Facts) -> AtPlace:
    """Every fact by file, first and last line."""
    found: AtPlace = {}
    for rows in facts.by_type.values():
        for fact in rows:
            found.setdefault((fact.source.file, fact.source.first, fact.source.last), []).append(fact)
    return found


def with_provenance(finding: Finding, at_place: AtPlace) -> Finding:
    """The finding, each figure marked with what it was computed from, unless the rule said so or it was read."""
    return dataclasses.replace(finding, evidence=tuple(_marked(one, at_place) for one in finding.evidence))


def _marked(one: Evidence, at_place: AtPlace) -> Evidence:
    if one.computed or not one.source.file or isinstance(one.value, str):
        return one
    here = at_place.get((one.source.file, one.source.first, one.source.last), [])
    of = next((fact for fact in here if any(_same(one.value, value) for value in _numbers(fact, one.value))), None)
    earlier = next((place for fact in ([of] if of else here) if (place := getattr(fact, "earlier", None))), None)
    if isinstance(earlier, Source):
        before = str(earlier).removeprefix(f"{one.source.file}:")
        where = f"line {before}" if earlier.file == one.source.file and "-" not in before else str(earlier)
        return dataclasses.replace(one, computed=f"from this line and {where}")
    if getattr(of, "over", None) == "interval":
        return dataclasses.replace(one, computed="from this and the write of the screen before it")
    statistic = "mean" if isinstance(of, ClusterMember) else getattr(of, "statistic", None)
    if of is not None and not (statistic in OVER_ROWS and one.source.last > one.source.first):
        return one
    rows = one.source.last - one.source.first + 1
    over = f"as the {OVER_ROWS[statistic]} of {rows} lines" if statistic in OVER_ROWS else ""
    return dataclasses.replace(one, computed=over or ("from these lines" if rows > 1 else "from this line"))


OVER_ROWS = {"mean": "mean", "p95": "95th percentile", "average": "mean"}


def _numbers(fact: Fact, shown: float) -> Iterator[float]:
    """The figures of a fact; 0 and 1 are too common to tell, so only shares and rates count for these."""
    for field in dataclasses.fields(fact):
        value = getattr(fact, field.name)
        telling = shown not in (0, 1) or field.name.endswith(("_percent", "_per_second"))
        if telling and isinstance(value, int | float) and not isinstance(value, bool):
            yield float(value)


def _same(shown: float, read: float) -> bool:
    """Whether a figure is what was read, to the digits it is shown with."""
    return shown == read or any(round(read, digits) == shown for digits in (0, 1, 2, 3))
