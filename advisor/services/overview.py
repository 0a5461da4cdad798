"""What the overview shows: every system with its worst finding, and what changed since the last visit."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from django.db.models import F, OuterRef, Q, QuerySet, Subquery
from django.utils import timezone
from markupsafe import Markup

from advisor.charts.svg import sparkline
from advisor.models import Audit, System, Upload, User
from advisor.services.access import systems_of, uploads_of

VISIT = timedelta(minutes=30)
"""After so long away the next look is a new visit (this project's figure)."""
HEAVY = ("latest__verdicts", "latest__laws", "latest__plan", "latest__limits", "latest__problems")
HEAVY_CAPTURE = ("latest__capture__figures", "latest__capture__files", "latest__capture__interval")


@dataclass
class Difference:
    """What two audits' findings differ by, as keys."""

    new: list[str] = field(default_factory=list)
    worse: list[str] = field(default_factory=list)
    better: list[str] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    still: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.new or self.worse or self.better or self.gone)

    def __str__(self) -> str:
        return ", ".join(f"{len(keys)} {word}" for word, keys in vars(self).items() if keys and word != "still")


def difference(before: dict[str, int], after: dict[str, int]) -> Difference:
    """Compare two audits by their findings' keys and severities."""
    found = Difference()
    for key, level in after.items():
        old = before.get(key)
        word = "new" if old is None else "worse" if level > old else "better" if level < old else "still"
        getattr(found, word).append(key)
    found.gone = [key for key in before if key not in after]
    return found


@dataclass
class Row:
    """One system on the overview."""

    system: System
    audit: Audit | None
    overdue: bool
    changed: Difference | None
    trend: tuple[float | None, ...]
    trend_of: str

    @property
    def line(self) -> Markup | None:
        """The trend as a line the size of a word; none of a single capture."""
        return _line(self.trend, self.trend_of) if len(self.trend) > 1 else None

    @property
    def not_judged(self) -> int:
        """How many rules could not say anything: facts missing, figures not to be believed, broken."""
        counts = self.audit.counts if self.audit else {}
        return sum(counts.get(word, 0) for word in ("unknown", "untrusted", "broken"))


@dataclass
class Asked:
    """What the overview was asked to show."""

    text: str = ""
    severity: int = 0
    product: str = ""
    only: str = ""
    """`changed`, `overdue` or nothing."""


def begin_visit(user: User, now: datetime | None = None) -> datetime | None:
    """Note that somebody looks; returns the end of the visit before this one, `None` for the first."""
    now = now or timezone.now()
    if user.visited is not None and now - user.visited > VISIT:
        user.visited_before = user.visited
    user.visited = now
    User.objects.filter(pk=user.pk).update(visited=user.visited, visited_before=user.visited_before)
    return user.visited_before


def listed(user: User, asked: Asked) -> QuerySet[System]:
    """The systems asked for, worst first."""
    found = systems_of(user).select_related("team", "latest__capture").defer(*HEAVY, *HEAVY_CAPTURE)
    if asked.text:
        words = asked.text.split()[:8]
        for word in words:
            found = found.filter(
                Q(name__icontains=word)
                | Q(team__name__icontains=word)
                | Q(version__icontains=word)
                | Q(latest__headline__icontains=word)
            )
    if asked.severity:
        found = found.filter(latest__worst__gte=asked.severity)
    if asked.product:
        found = found.filter(product=asked.product)
    return found.order_by(
        F("latest__worst").desc(nulls_last=True), F("latest__processors_lost").desc(nulls_last=True), "name"
    )


def rows(systems: list[System], since: datetime | None, now: datetime | None = None) -> list[Row]:
    """Make the rows: each with what changed since then, and whether it is overdue."""
    now = now or timezone.now()
    before = _digests_at(systems, since)
    return [
        Row(
            system,
            system.latest,
            is_overdue(system, now),
            difference(before[system.pk] or {}, system.latest.findings_digest)
            if system.pk in before and system.latest
            else None,
            *_trend(system.trend),
        )
        for system in systems
    ]


def is_overdue(system: System, now: datetime) -> bool:
    """Whether a capture was expected by now and none has come."""
    if system.expected_hours is None:
        return False
    last = system.latest.capture.taken if system.latest else system.created
    return now - last > timedelta(hours=system.expected_hours)


def _digests_at(systems: list[System], since: datetime | None) -> dict[int, dict[str, int] | None]:
    """The findings as they stood then, of the systems audited since; `None` for a system not known then."""
    fresh = [s.pk for s in systems if since and s.latest and s.latest.at > since]
    if not fresh:
        return {}
    then = Audit.objects.filter(system=OuterRef("pk"), at__lte=since).order_by("-at").values("findings_digest")[:1]
    return dict(System.objects.filter(pk__in=fresh).annotate(then=Subquery(then)).values_list("pk", "then"))


def _trend(points: list[list[Any]]) -> tuple[tuple[float | None, ...], str]:
    """The line of a system: processors lost where any capture could tell, else the severity."""
    if any(point[1] is not None for point in points):
        return tuple(point[1] for point in points), "processors lost"
    return tuple(float(point[2]) for point in points), "worst severity, 0 to 4"


@lru_cache(maxsize=5000)
def _line(trend: tuple[float | None, ...], of: str) -> Markup:
    """Draw it; kept, because it changes with the next capture only."""
    return sparkline(trend, title=f"{of} of the last {len(trend)} captures")


def summary(user: User, now: datetime | None = None) -> dict[str, Any]:
    """The line above the table: how many systems of which severity, overdue, and uploads not read yet."""
    now = now or timezone.now()
    states = systems_of(user).values_list("latest__worst", "latest__capture__taken", "expected_hours", "created")
    worst: Counter[int] = Counter()
    overdue = 0
    for level, taken, hours, created in states:
        worst[level or 0] += 1
        overdue += hours is not None and now - (taken or created) > timedelta(hours=hours)
    uploads = uploads_of(user)
    return {
        "systems": sum(worst.values()),
        "worst": worst,
        "overdue": overdue,
        "reading": uploads.filter(state__in=(Upload.State.WAITING, Upload.State.READING)).count(),
        "failed": uploads.filter(state=Upload.State.FAILED).count(),
    }
