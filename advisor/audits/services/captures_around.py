"""The captures of a system around one of them: what the head of its pages leads to."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from advisor.audits.models import NEWEST_FIRST, OLDEST_FIRST, Capture
from advisor.systems.services.history import when_each

MOST_NEAR = 6
"""Captures listed on each side; the page of the system has all of them."""
FIELDS = ("taken", "timed", "interval", "audit", "files", "system")


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
    earlier, later = audited.filter(capture.earlier()), audited.filter(capture.later())
    before, after = earlier.count(), later.count()
    known = later.filter(taken__gt=capture.taken) if capture.timed else later.none()
    near = [
        list(some.only(*FIELDS)[:MOST_NEAR])
        for some in (earlier.order_by(*NEWEST_FIRST), later.order_by(*OLDEST_FIRST))
    ]
    newest = list(known.order_by(*NEWEST_FIRST).only(*FIELDS)[:1])
    named = when_each({one.pk: one for one in (*near[0], *near[1], *newest, capture)}.values())

    def listed(captures: Iterable[Capture]) -> list[Neighbour]:
        return [Neighbour(one.pk, one.audit_id, named[one.pk]) for one in captures if one.audit_id is not None]

    return Around(
        when=named[capture.pk],
        earlier=listed(near[0]),
        later=listed(near[1]),
        position=before + 1,
        count=before + after + 1,
        newest=next(iter(listed(newest)), None),
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
