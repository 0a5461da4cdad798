"""The captures of a system around one of them: what the head of its pages leads to."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet

from advisor.audits.models import Capture
from advisor.systems.services.history import own_time, when

MOST_NEAR = 6
"""Captures listed on each side; the page of the system has all of them."""
FIELDS = ("pk", "taken", "timed", "interval", "audit_id")


@dataclass(frozen=True)
class Neighbour:
    """A capture of the same system that was audited."""

    capture: int
    audit: int
    """Its current audit."""
    when: str
    """As the export has it, or when it was uploaded, which is said."""


@dataclass(frozen=True)
class Around:
    """The audited captures of a system around one."""

    when: str
    """That one's own time, as of a neighbour."""
    earlier: Sequence[Neighbour]
    """At most `MOST_NEAR`, the newest first."""
    later: Sequence[Neighbour]
    """At most `MOST_NEAR`, the oldest first."""
    position: int
    """Its place in time, from 1."""
    count: int
    """Of the captures that were audited, with this one."""
    newest: Neighbour | None
    """The newest, where the exports' own times of both say that it was taken after this one."""

    @property
    def previous(self) -> Neighbour | None:
        """The one before it."""
        return self.earlier[0] if self.earlier else None

    @property
    def following(self) -> Neighbour | None:
        """The one after it."""
        return self.later[0] if self.later else None


def captures_around(capture: Capture) -> Around:
    """Look around, in five queries however many captures there are."""
    audited = Capture.objects.filter(system=capture.system_id).exclude(audit=None)
    beside = Q(taken=capture.taken)
    earlier = audited.filter(Q(taken__lt=capture.taken) | beside & Q(pk__lt=capture.pk))
    later = audited.filter(Q(taken__gt=capture.taken) | beside & Q(pk__gt=capture.pk))
    before, after = earlier.count(), later.count()
    newest = later.filter(timed=True, taken__gt=capture.taken) if capture.timed else later.none()
    return Around(
        when=when(own_time(capture.taken, capture.timed, capture.interval), capture.timed),
        earlier=_listed(earlier.order_by("-taken", "-pk"), MOST_NEAR),
        later=_listed(later.order_by("taken", "pk"), MOST_NEAR),
        position=before + 1,
        count=before + after + 1,
        newest=next(iter(_listed(newest.order_by("-taken", "-pk"), 1)), None),
    )


def taken(capture: Capture) -> str:
    """When it was taken, for a head: `2026-04-21 10:01 to 10:36`; empty where the exports say no time.

    Seconds are said where either time has any.
    """
    begin, end = (_moment(capture.interval, name) for name in ("start", "end"))
    if all(one.endswith(":00") for one in (begin, end) if one):
        begin, end = begin[:16], end[:16]
    if not begin or not end or begin == end:
        return begin or end
    return f"{begin} to {end[11:] if end[:10] == begin[:10] else end}"


def _moment(interval: dict[str, Any], name: str) -> str:
    return str(interval.get(name) or "").replace("T", " ")[:19]


def _listed(captures: "QuerySet[Capture]", most: int) -> list[Neighbour]:
    return [
        Neighbour(pk, audit, when(own_time(taken, timed, interval), timed))
        for pk, taken, timed, interval, audit in captures.values_list(*FIELDS)[:most]
        if audit is not None
    ]
