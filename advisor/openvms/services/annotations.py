"""Which findings have a place on the curves of a day: a moment that they quote, a limit in a picture's unit."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from advisor.audits.models import Audit
from advisor.charts.curves import Bound, Mark
from advisor.charts.words import figure
from advisor.openvms.services.time_series import (
    ALL,
    INCOMING,
    LOCAL,
    OUTGOING,
    SHARE,
    SHARE_UNIT,
    Day,
)
from collectors.facts import Facts, known
from collectors.facts.openvms import LockRates

MOST_FINDINGS = 40
"""Findings that get a number, the dearest first."""
OF_ALL = ("(mean)", "(p95)")
"""Statistics of a whole export: no moment."""


@dataclass(frozen=True)
class Picture:
    """One chart of the page."""

    key: str
    title: str
    unit: str
    curves: tuple[str, ...]
    metrics: tuple[tuple[str, str, str], ...]
    """How the metric of an evidence begins that is this picture's, its unit, and its curve."""


PICTURES = (
    Picture(
        "locks",
        "Lock operations",
        "/s",
        (ALL, LOCAL, INCOMING, OUTGOING),
        (("lock operations", "/s", ALL), ("served for other", "/s", INCOMING)),
    ),
    Picture(
        "modes",
        "Processor modes",
        "% of one CPU",
        ("mp synch", "kernel", "user", "interrupt", "idle"),
        (("MP synch", "% of one CPU", "mp synch"),),
    ),
    Picture("share", "Remote share", SHARE_UNIT, (SHARE,), ((SHARE, SHARE_UNIT, SHARE),)),
    Picture(
        "tables",
        "Locks and resources",
        "locks, resources",
        ("locks", "resources"),
        (("locks at the peak", "locks", "locks"), ("resources at the peak", "resources", "resources")),
    ),
    Picture(
        "dedicated",
        "CPU of the lock manager",
        "%",
        ("dedicated cpu busy",),
        (("[LCK73]Busy %", "%", "dedicated cpu busy"),),
    ),
)


@dataclass
class Noted:
    """A finding with its number on the pictures."""

    mark: int
    number: int
    """The place of the finding in the audit."""
    severity: str
    title: str
    lines: list[str] = field(default_factory=list)
    """Where it is marked, in words."""


@dataclass
class Annotations:
    """All that is laid over the curves."""

    noted: list[Noted] = field(default_factory=list)
    others: list[tuple[int, str]] = field(default_factory=list)
    """Findings without a place: number and title."""
    marks: dict[str, list[Mark]] = field(default_factory=dict)
    """By the key of the picture."""
    bounds: dict[str, list[Bound]] = field(default_factory=dict)


def annotations_of(audit: Audit, facts: Facts, day: Day, drawn: Sequence[Picture]) -> Annotations:
    """Find the places of this audit's findings on the pictures that are drawn of a day."""
    found, moments = Annotations(), _moments(facts)
    for finding in audit.findings.order_by("number").only("number", "severity", "title", "data", "audit"):
        places = list(_places(finding.data["evidence"], moments, day, drawn))
        if not places or len(found.noted) >= MOST_FINDINGS:
            found.others.append((finding.number, finding.title))
            continue
        one = Noted(len(found.noted) + 1, finding.number, finding.data["severity"], finding.title)
        for place in places:
            _put(found, one, place, day)
        found.noted.append(one)
    return found


@dataclass(frozen=True)
class Place:
    """One evidence on one picture: at a moment, at its limit, or both."""

    picture: Picture
    said: str
    step: int | None
    at: datetime | None
    value: float | None
    limit: float | None


def _moments(facts: Facts) -> dict[tuple[str, int], datetime]:
    """When the samples were taken that are quoted as a whole: those at the peaks."""
    return {
        (one.source.file, one.source.first): one.time
        for one in facts.every(LockRates)
        if one.time is not None and one.source.first == one.source.last
    }


def _places(
    evidence: Sequence[Mapping[str, Any]],
    moments: Mapping[tuple[str, int], datetime],
    day: Day,
    drawn: Sequence[Picture],
) -> Iterator[Place]:
    """Where these figures are on the pictures; a moment that no picture has the figure of stands on the first one."""
    found, elsewhere = [], None
    for item in evidence:
        at = moments.get((item["file"], item["lines"][0])) if item["lines"][0] == item["lines"][1] else None
        at = at if item["file"] == day.file and at is not None and day.step_of(at) is not None else None
        value = item["value"] if isinstance(item["value"], int | float) else None
        said = f"{item['metric']} {item['value'] if value is None else figure(value, item['unit'])}"
        for picture in drawn:
            curve = next((c for start, unit, c in picture.metrics if _is(item, start, unit)), None)
            if curve is None:
                continue
            step = day.step_of(at) if at else _highest(item, day, curve)
            if step is not None or item["limit"] is not None:
                found.append(Place(picture, said, step, at, value, item["limit"]))
            break
        else:
            if at is not None and drawn and elsewhere is None:
                elsewhere = Place(drawn[0], said, day.step_of(at), at, None, None)
    yield from found or ([elsewhere] if elsewhere else [])


def _is(item: Mapping[str, Any], start: str, unit: str) -> bool:
    return bool(item["unit"] == unit and item["metric"].startswith(start))


def _highest(item: Mapping[str, Any], day: Day, name: str) -> int | None:
    """The step of a curve's highest sample, where the evidence quotes just that sample of the same export."""
    curve, value = day.curve(name), item["value"]
    if curve is None or item["file"] != day.file or any(word in item["metric"] for word in OF_ALL):
        return None
    peaks = [(peak, -n) for n, peak in enumerate(curve.peaks) if known(peak)]
    if not peaks or not isinstance(value, int | float) or min(peaks)[0] == max(peaks)[0]:
        return None
    top, at = max(peaks)
    return -at if abs(top - value) <= 0.06 else None  # evidence is rounded to a tenth, a curve to a thousandth


def _put(found: Annotations, one: Noted, place: Place, day: Day) -> None:
    """Lay one place over its picture, and say it in the list."""
    key, told = place.picture.key, [place.said]
    if place.step is not None:
        at = day.middle(place.step)
        told.append(f"in the sample of {str(place.at)[:19]}" if place.at else "the highest sample")
        marks = found.marks.setdefault(key, [])
        if not any(mark.number == one.mark and mark.at == at for mark in marks):
            marks.append(Mark(one.mark, at, place.value))
    if place.limit is not None:
        told.append(f"limit {figure(place.limit)}")
        bounds = found.bounds.setdefault(key, [])
        same = next((n for n, bound in enumerate(bounds) if bound.value == place.limit), None)
        if same is None:
            bounds.append(Bound("limit", place.limit, (one.mark,)))
        elif one.mark not in bounds[same].numbers:
            bounds[same] = Bound("limit", place.limit, (*bounds[same].numbers, one.mark))
    one.lines.append(f"{place.picture.title}: {', '.join(told)}")
