"""When changes were made on a system, or seen in force by a capture: vertical marks in figures over its captures."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q
from django.utils import timezone

from advisor.audits.models import Capture
from advisor.findings.models import FindingEvent
from advisor.systems.services.history import own_time

MADE, SEEN = "made the change", "Change made. "
"""How the activity begins where a person made a change, and where a capture showed it."""
MOST = 50
"""Changes of one system, the newest."""


@dataclass(frozen=True)
class ChangeSeen:
    """One change."""

    at: datetime
    """When a person said so, or the capture's own time, which has no zone where its export has none."""
    words: str


def changes_of(system_id: int) -> list[ChangeSeen]:
    """The changes of a system, oldest first; one query, and one more where captures showed some."""
    told = FindingEvent.objects.filter(tracked__system=system_id, kind="state")
    told = told.filter(Q(text__startswith=MADE) | Q(text__startswith=SEEN, by=None)).order_by("-at", "-id")
    rows = list(told.values_list("at", "text", "tracked__title", "tracked__proof")[:MOST])
    times = _times(proof.get("after") for _, text, _, proof in rows if text.startswith(SEEN))
    found = []
    for at, text, title, proof in rows:
        seen = text.startswith(SEEN)
        when = times.get(proof.get("after") or 0, at) if seen else at
        found.append(ChangeSeen(when, f"{'change seen' if seen else 'change made'}: {title}"))
    return found[::-1]


def shown_at(event: FindingEvent, proof: dict[str, object]) -> datetime:
    """When it was what an entry of a finding's activity tells: of a change that a capture showed, that one's time."""
    if event.by_id is None and event.text.startswith(SEEN):
        after = proof.get("after")
        return _times([after]).get(after if isinstance(after, int) else 0, event.at)
    return event.at


def marks_for(
    series: Sequence[tuple[datetime, float | None]], changes: Iterable[ChangeSeen]
) -> list[tuple[datetime, str]]:
    """The changes as marks in a figure over captures, several of one moment as one.

    Where the captures have no zone, a time is by the clock of the site.
    """
    zoned = bool(series) and series[0][0].tzinfo is not None
    found: dict[datetime, list[ChangeSeen]] = {}
    for one in changes:
        found.setdefault(by_clock(one.at, zoned=zoned), []).append(one)
    return [(at, some[0].words if len(some) == 1 else _together(some)) for at, some in sorted(found.items())]


def _together(some: Sequence[ChangeSeen]) -> str:
    word = "made" if any(one.words.startswith("change made") for one in some) else "seen"
    titles = "; ".join(one.words.partition(": ")[2] for one in some)
    return f"{len(some)} changes {word}: {titles}"


def by_clock(at: datetime, *, zoned: bool) -> datetime:
    """A time as a series with or without zones has its own."""
    if at.tzinfo is None or zoned:
        return at
    return timezone.localtime(at).replace(tzinfo=None)


def _times(captures: Iterable[object]) -> dict[int, datetime]:
    """The own time of each capture, by its number."""
    numbers = {one for one in captures if isinstance(one, int)}
    if not numbers:
        return {}
    rows = Capture.objects.filter(pk__in=numbers).values_list("pk", "taken", "timed", "interval")
    return {pk: own_time(taken, timed, interval) for pk, taken, timed, interval in rows}
