"""What the overview shows: every system with its worst finding, and what changed since the last visit."""

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from django.db import OperationalError
from django.db.models import (
    BooleanField,
    Case,
    Count,
    DateTimeField,
    DurationField,
    ExpressionWrapper,
    F,
    FloatField,
    Min,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Sum,
    Value,
    When,
)
from django.db.models.expressions import OrderBy
from django.db.models.functions import Coalesce, Greatest
from django.utils import timezone
from markupsafe import Markup

from advisor.accounts.models import User
from advisor.audits.models import Audit
from advisor.audits.report.account import heading
from advisor.charts.account import Part
from advisor.charts.account_bar import small_bar
from advisor.charts.svg import sparkline
from advisor.core.access import schedules_of, systems_of, uploads_of
from advisor.core.jinja import SEVERITY as SEVERITIES
from advisor.core.sorting import Sortable
from advisor.findings.services.pages import as_counted, with_open, worst_standing
from advisor.schedules.models import Schedule
from advisor.systems.models import System
from advisor.uploads.models import Upload
from rules.summary import TOLD_SHARE

VISIT = timedelta(minutes=30)
"""After so long away the next look is a new visit (this project's figure)."""
NOTED = timedelta(minutes=1)
"""How often a look is written down: each would be a write for a page that only reads (this project's figure)."""
SEVERITY = "worst severity"
HEAVY = tuple(
    f"latest__{name}"
    for name in ("verdicts", "laws", "comparisons", "plan", "account", "summary", "cluster", "bar", "problems")
)
HEAVY_CAPTURE = (
    *("latest__capture__figures", "latest__capture__files", "latest__capture__interval"),
    *("latest__capture__upload__error", "latest__capture__upload__system_names"),
)


COMPARED = ("findings_digest", "unjudged", "limits")
"""What of an audit a comparison looks at."""
ACCOUNT = ("capacity", "waiting_tasks", "bar")
"""What of an audit the picture of its account takes; the account itself is far larger."""
SHOWN = (
    *("product", "name", "team__name", "troubled", "trouble", "trend", "expected_hours", "created", "snoozed_until"),
    "example",
    *(f"latest__{name}" for name in ("worst", "headline", "headline_number", "processors_lost", "counts", "shown")),
    *(f"latest__{name}" for name in (*COMPARED, *ACCOUNT)),
    *("latest__capture__taken", "latest__capture__timed", "latest__capture__upload__at"),
)
"""What of a system and its newest audit a row shows: a page has thirty of them."""


@dataclass
class Difference:
    """What two audits' findings differ by, as keys."""

    new: list[str] = field(default_factory=list)
    worse: list[str] = field(default_factory=list)
    better: list[str] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    limits: list[str] = field(default_factory=list)
    """Differ, but so do the limits they were judged by: nothing is said of the server."""
    still: list[str] = field(default_factory=list)
    not_judged: list[str] = field(default_factory=list)
    """Stood before; now their rules could not judge."""

    def __bool__(self) -> bool:
        return any((self.new, self.worse, self.better, self.gone, self.limits, self.not_judged))

    def __str__(self) -> str:
        words = {"limits": "by another limit", "not_judged": "no longer judged"}
        found = ((words.get(word, word), keys) for word, keys in vars(self).items() if word != "still")
        return ", ".join(f"{len(keys)} {word}" for word, keys in found if keys)


def difference(before: Audit, after: Audit) -> Difference:
    """Compare two audits by their findings' keys and severities."""
    found = Difference()
    old, new = before.findings_digest, after.findings_digest
    for key in dict.fromkeys((*new, *old)):
        word = _word(old.get(key), new.get(key))
        rule = key.split(":", 1)[0]
        if word == "gone" and rule in after.unjudged:
            word = "not_judged"
        elif word != "still" and _limits(before, rule) != _limits(after, rule):
            word = "limits"
        getattr(found, word).append(key)
    return found


def _word(old: int | None, new: int | None) -> str:
    if old is None or new is None:
        return "new" if old is None else "gone"
    return "worse" if new > old else "better" if new < old else "still"


def _limits(audit: Audit, rule: str) -> dict[str, float]:
    """The limits of a rule that an audit had in place of its own."""
    return {name: value for name, value in audit.limits.items() if name.startswith(f"{rule}.")}


@dataclass
class Tally:
    """How many systems are how ill, by their worst open finding."""

    worst: Counter[int] = field(default_factory=Counter)
    """Of those with an open finding, by its severity 1 to 4."""
    calm: int = 0
    """Without a finding, and every rule could judge."""
    accepted: int = 0
    """With accepted findings alone: nothing is open, and that is not in order."""
    not_all_judged: int = 0
    """Without a finding, where rules could not judge."""
    never: int = 0
    """Never audited."""

    def add(self, worst: int | None, accepted: int, *, not_judged: bool, systems: int = 1) -> None:
        """Count systems: their worst open severity, `None` where never audited, and whether findings are accepted."""
        if worst is None:
            self.never += systems
        elif worst:
            self.worst[worst] += systems
        elif accepted:
            self.accepted += systems
        elif not_judged:
            self.not_all_judged += systems
        else:
            self.calm += systems

    @property
    def systems(self) -> int:
        """All of them."""
        return sum(self.worst.values()) + self.calm + self.accepted + self.not_all_judged + self.never

    @property
    def quiet(self) -> list[tuple[int, str]]:
        """How many have no open finding, in words; of none nothing is said."""
        said = (
            (self.calm, "without a finding"),
            (self.accepted, "with accepted findings alone"),
            (self.not_all_judged, "with nothing found, not all judged"),
            (self.never, "never audited"),
        )
        return [(count, words) for count, words in said if count]

    @property
    def loud(self) -> list[str]:
        """Those with an open finding in words, the worst first: `3 critical`, …"""
        return [f"{self.worst[level]:,} {SEVERITIES[level]}" for level in (4, 3, 2, 1) if self.worst[level]]

    @property
    def words(self) -> str:
        """All of them: `3 critical, 12 without a finding`."""
        return ", ".join([*self.loud, *(f"{count:,} {words}" for count, words in self.quiet)])


def tally(rows: Iterable["Row"]) -> Tally:
    """Count these rows."""
    found = Tally()
    for row in rows:
        found.add(row.worst, row.accepted, not_judged=bool(row.audit and row.audit.unjudged))
    return found


@dataclass
class Row:
    """One system on the overview; `system` comes of `with_open`."""

    system: System
    audit: Audit | None
    overdue: bool
    changed: Difference | None
    new: bool
    """Whether it was first seen since the last visit."""
    trend: tuple[float | None, ...]
    trend_of: str
    before: Audit | None = None
    """The audit it was shown with then, where it shows another one now: with what a comparison looks at, and what was
    lost."""

    @property
    def worst(self) -> int | None:
        """The severity of its worst open finding, 0 where none is open; `None`: it was never audited."""
        return self.system.worst_open  # type: ignore[attr-defined,no-any-return]  # annotated

    @property
    def accepted(self) -> int:
        """Its findings that are accepted."""
        return self.system.accepted  # type: ignore[attr-defined,no-any-return]  # annotated

    @property
    def states(self) -> Counter[str]:
        """How many findings of its newest capture are in which state."""
        return Counter(self.system.states or {})  # type: ignore[attr-defined]  # annotated

    @property
    def not_audited(self) -> bool:
        """Whether it should have been audited by now: what brings its exports failed for good, or none came."""
        return (self.system.troubled is not None and not self.snoozed) or self.overdue

    @property
    def snoozed(self) -> bool:
        """Whether it is snoozed today."""
        return self.system.snoozed

    @property
    def line(self) -> Markup | None:
        """The trend as a line the size of a word; none of a single capture."""
        return _line(self.trend, self.trend_of) if len(self.trend) > 1 else None

    @property
    def change(self) -> float | None:
        """Processors lost more than in the first capture of the trend; `None` where no two captures tell."""
        return _change(self.trend) if self.trend_of != SEVERITY else None

    @property
    def bar(self) -> Markup | None:
        """The account of the newest audit as a bar the size of a word; none where no export tells of it."""
        return bar(self.audit, self.system.product) if self.audit else None


COLUMNS = ("system", "lost", "worst", "trend", "findings", "captured", "unjudged")
"""What the table sorts by."""


@dataclass(frozen=True)
class Asked(Sortable):
    """What the overview was asked to show, as the address holds it."""

    DESCENDING = ("lost", "worst", "trend", "findings", "unjudged")

    q: str = ""
    severity: str = ""
    """This one and worse."""
    worst: str = ""
    """Systems whose worst open finding is of this severity."""
    product: str = ""
    only: str = ""
    """`changed`, `not_audited`, `overdue`, `snoozed` or nothing."""
    sort: str = ""
    """One of `COLUMNS`, `-` before it for the highest first; empty: most of the capacity lost, then the worst."""


def begin_visit(user: User, now: datetime | None = None) -> datetime | None:
    """Note that somebody looks; returns the end of the visit before this one, `None` for the first."""
    now = now or timezone.now()
    if user.visited is not None and timedelta() <= now - user.visited < NOTED:
        return user.visited_before
    if user.visited is not None and now - user.visited > VISIT:
        user.visited_before = user.visited
    user.visited = now
    with suppress(OperationalError):  # SQLite, while something large is written: to look is not to wait for a note
        User.objects.filter(pk=user.pk).update(visited=user.visited, visited_before=user.visited_before)
    return user.visited_before


def listed(user: User, asked: Asked) -> QuerySet[System]:
    """The systems asked for: most of their capacity lost first, then by severity.

    A loss of less than makes a warning moves none before a graver finding whose cost nobody measured. The query is for
    their numbers: what their rows show is read of a page alone (`shown`).
    """
    found = with_open(systems_of(user))
    if asked.q:
        words = asked.q.split()[:8]
        for word in words:
            found = found.filter(
                Q(name__icontains=word)
                | Q(team__name__icontains=word)
                | Q(version__icontains=word)
                | Q(latest__headline__icontains=word)
            )
    if asked.severity:
        found = found.filter(Q(worst_open__gte=SEVERITIES.index(asked.severity)))
    if asked.worst:
        found = found.filter(Q(worst_open=SEVERITIES.index(asked.worst)))
    if asked.product:
        found = found.filter(product=asked.product)
    lost, capacity = F("latest__processors_lost"), F("latest__capacity")
    share = Case(When(latest__capacity__gt=0, then=lost / capacity), output_field=FloatField())
    told = Case(When(share__gte=TOLD_SHARE, then=F("share")), default=0.0, output_field=FloatField())
    most: list[Any] = [
        told.desc(),
        F("worst_open").desc(nulls_last=True),
        F("share").desc(nulls_last=True),
        lost.desc(nulls_last=True),
        *("name", "pk"),
    ]
    columns: dict[str, list[Any]] = {
        "system": [F("name")],
        "lost": [F("share"), lost],
        "worst": [F("worst_open")],
        "findings": [Coalesce("finding_counts__open", 0)],
        "captured": [F("latest__capture__taken")],
    }
    chosen = [OrderBy(one, descending=asked.descending, nulls_last=True) for one in columns.get(asked.column, ())]
    return found.annotate(share=share).order_by(*chosen, *most)


def shown(numbers: Sequence[int]) -> list[System]:
    """The systems of these numbers (of `listed`), in this order, with `worst_finding` and all that `rows` needs."""
    found = as_counted(System.objects.all()).annotate(worst_finding=worst_standing())
    systems = found.select_related("team", "latest__capture__upload").only(*SHOWN).in_bulk(list(numbers))
    return [systems[pk] for pk in numbers if pk in systems]


def in_order(found: QuerySet[System], asked: Asked) -> list[int]:
    """The numbers of the systems of `listed`: all, as asking for them costs no more than asking how many there are.

    Sorted by a column that is worked out, not stored, where that is asked; what has no figure comes last both ways.
    """
    if asked.column not in ("trend", "unjudged"):
        return list(found.values_list("pk", flat=True))
    figures: list[tuple[int, float | None]] = []
    if asked.column == "trend":
        for pk, trend in found.values_list("pk", "trend"):
            points, of = _trend(trend)
            figures.append((pk, None if of == SEVERITY else _change(points)))
    else:
        for pk, unjudged in found.values_list("pk", "latest__unjudged"):
            figures.append((pk, None if unjudged is None else len(unjudged)))
    sign = -1.0 if asked.descending else 1.0
    figures.sort(key=lambda one: (one[1] is None, sign * (one[1] or 0.0)))
    return [pk for pk, _ in figures]


def rows(systems: list[System], since: datetime | None, now: datetime | None = None) -> list[Row]:
    """Make the rows of systems of `with_open`: each with what changed since then, and whether it is overdue."""
    now = now or timezone.now()
    before = _audits_at(systems, since)
    return [
        Row(
            system,
            system.latest,
            is_overdue(system, now),
            difference(then, system.latest) if (then := before.get(system.pk)) and system.latest else None,
            since is not None and system.created > since,
            *_trend(system.trend),
            before=then,
        )
        for system in systems
    ]


def is_overdue(system: System, now: datetime) -> bool:
    """Whether a capture was expected by now and none has come; of a snoozed system none is expected."""
    if system.expected_hours is None or system.snoozed:
        return False
    return now - heard(system) > timedelta(hours=system.expected_hours)


def heard(system: System) -> datetime:
    """When something last came of a system, from which the next capture is expected; needs `latest.capture.upload`.

    The later of the capture's own time and when it was brought: a server whose clock is behind, or exports that are
    carried late, are no silence.
    """
    if system.latest is None:
        return system.created
    capture = system.latest.capture
    return max(capture.taken, capture.upload.at) if capture.upload else capture.taken


HEARD = Case(
    When(latest=None, then=F("created")),
    default=Greatest("latest__capture__taken", Coalesce("latest__capture__upload__at", "latest__capture__taken")),
)
"""`heard`, for a query of systems."""


def _overdue(now: datetime) -> Q:
    """`is_overdue` of systems that are not snoozed, for a query that has `heard`: a thousand times are not read."""
    hours = ExpressionWrapper(F("expected_hours") * timedelta(hours=1), DurationField())
    return Q(expected_hours__isnull=False) & Q(heard__lt=ExpressionWrapper(Value(now) - hours, DateTimeField()))


def without_system(user: User) -> QuerySet[Schedule]:
    """Schedules that bring nothing although they should, where nobody can say which systems lack their audits."""
    troubled = schedules_of(user).exclude(troubled=None).select_related("team")
    return troubled.only("name", "troubled", "trouble", "team__name").order_by("troubled", "name")


def _audits_at(systems: list[System], since: datetime | None) -> dict[int, Audit]:
    """The audit each system was shown with then, of the systems that show another one now."""
    fresh = [s.pk for s in systems if since and s.latest and s.latest.shown and s.latest.shown > since]
    if not fresh:
        return {}
    then = Audit.objects.filter(system=OuterRef("pk"), shown__lte=since).order_by("-shown").values("pk")[:1]
    shown = dict(System.objects.filter(pk__in=fresh).annotate(then=Subquery(then)).values_list("pk", "then"))
    audits = Audit.objects.only(*COMPARED, "processors_lost", "capacity").in_bulk([pk for pk in shown.values() if pk])
    return {system: audits[pk] for system, pk in shown.items() if pk in audits}


def _trend(points: list[list[Any]]) -> tuple[tuple[float | None, ...], str]:
    """The line of a system: processors lost where any capture could tell, else the severity."""
    if any(point[1] is not None for point in points):
        return tuple(point[1] for point in points), "processors lost"
    return tuple(float(point[2]) for point in points), SEVERITY


def _change(points: Sequence[float | None]) -> float | None:
    """By how much the last figure differs from the first; `None` where there are not two."""
    known = [one for one in points if one is not None]
    return known[-1] - known[0] if len(known) > 1 else None


def bar(audit: Audit, product: str) -> Markup | None:
    """The account of an audit as a bar the size of a word; none where no export tells of it."""
    parts = audit.bar.get("parts")
    return _bar(tuple(map(tuple, parts)), audit.capacity, product) if parts else None


@lru_cache(maxsize=5000)
def _bar(parts: tuple[tuple[str, str, float, str], ...], capacity: float | None, product: str) -> Markup:
    """Draw it; kept, as `_line` is."""
    account = {"currency": "processors", "span": "mean", "capacity": capacity or 0.0}
    drawn = [
        Part("other" if (kind, rule) == ("lost", "") else kind, label, amount, f"{amount:,.2f}")
        for kind, label, amount, rule in parts
    ]
    return small_bar(drawn, capacity=capacity, title=heading(account, product))


@lru_cache(maxsize=5000)
def _line(trend: tuple[float | None, ...], of: str) -> Markup:
    """Draw it from zero; kept, because it changes with the next capture only. Severities share one scale."""
    span = (0.0, 4.0) if of == SEVERITY else (0.0, 0.0)
    title = f"{of} of the last {len(trend)} captures"
    return sparkline(
        trend, title=f"{title}, 0 (nothing) to 4 (critical)" if of == SEVERITY else title, span=span, width=80
    )


def summary(user: User, now: datetime | None = None) -> dict[str, Any]:
    """The line above the table: how many systems of which severity, not audited, and uploads not read yet.

    `tally` are the systems by their worst open finding; `not_audited` counts what is overdue as well.
    What is `snoozed` is neither overdue nor not audited; its findings and what it loses are counted as ever.
    `accepted` counts findings.
    `lost` of `capacity` are the processors of the `measured` systems together.
    """
    now = now or timezone.now()
    found = Tally()
    total: Counter[str] = Counter()
    awake = Q(snoozed_until=None) | Q(snoozed_until__lt=timezone.localdate(now))  # as `System.snoozed` has it
    late, measured = awake & _overdue(now), Q(latest__processors_lost__isnull=False, latest__capacity__gt=0)
    told = {
        "alike": Count("pk"),
        "accepted_findings": Sum("accepted"),
        "examples": Count("pk", filter=Q(example=True)),
        "snoozed": Count("pk", filter=~awake),
        "overdue": Count("pk", filter=late),
        "not_audited": Count("pk", filter=late | (awake & Q(troubled__isnull=False))),
        "measured": Count("pk", filter=measured),
        "lost": Sum("latest__processors_lost", filter=measured),
        "capacity": Sum("latest__capacity", filter=measured),
    }
    of_kind = {
        "quiet": ExpressionWrapper(Q(accepted__gt=0), BooleanField()),
        "blind": ExpressionWrapper(~Q(latest__unjudged=[]), BooleanField()),
    }
    systems = with_open(systems_of(user)).annotate(heard=HEARD, **of_kind).order_by()
    for row in systems.values("worst_open", *of_kind).annotate(**told):
        alike, accepted = row.pop("alike"), row.pop("accepted_findings")
        found.add(row.pop("worst_open"), row.pop("quiet"), not_judged=bool(row.pop("blind")), systems=alike)
        total.update(accepted=accepted, **{name: value or 0 for name, value in row.items()})
    uploads = uploads_of(user)
    return {
        "systems": found.systems,
        "tally": found,
        **{name: total[name] for name in ("accepted", *told) if name not in ("alike", "accepted_findings")},
        **uploads.filter(state__in=(Upload.State.WAITING, Upload.State.READING)).aggregate(
            reading=Count("pk"), reading_since=Min("claimed", filter=Q(state=Upload.State.READING))
        ),
        **uploads.filter(Q(state=Upload.State.FAILED) | Q(unnamed__gt=0)).aggregate(
            failed=Count("pk", filter=Q(state=Upload.State.FAILED)), unnamed=Count("pk", filter=Q(unnamed__gt=0))
        ),
    }
