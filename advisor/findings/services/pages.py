"""What is followed of findings that audits have: their states beside them, and the way to their pages."""

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from django.db.models import (
    Case,
    Count,
    Exists,
    F,
    JSONField,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    When,
)
from django.db.models.functions import Coalesce, JSONObject

from advisor.audits.models import Audit, Capture, Finding
from advisor.core.jinja import SEVERITY
from advisor.findings.models import FindingEvent, SystemCounts, TrackedFinding
from advisor.findings.services.states import accepted_now
from advisor.findings.services.tracking import OPEN_AGAIN, lapsed
from advisor.systems.models import System
from advisor.uploads.models import Upload
from rules.summary import FIRST, counted

State, Presence = TrackedFinding.State, TrackedFinding.Presence


def pages_of(audit: Audit) -> dict[str, TrackedFinding]:
    """What is followed of the findings of an audit, by the finding's key; one query."""
    rows = TrackedFinding.objects.filter(system=audit.system_id, key__in=audit.findings.order_by().values("key"))
    return {row.key: row for row in rows.select_related("owner", "state_by")}


def accepted_of(system_id: int) -> list[TrackedFinding]:
    """The findings of a system that its newest capture shows and that are accepted today, worst first."""
    rows = TrackedFinding.objects.filter(system=system_id, state=State.ACCEPTED, presence=Presence.STANDING)
    return [row for row in rows if is_accepted(row)]


def accepted_counts(rows: QuerySet[TrackedFinding]) -> dict[int, dict[str, int]]:
    """How many of these findings the newest captures show and are accepted today, by severity, for each system.

    A system of which none is, is not there; one query.
    """
    standing = rows.filter(accepted_now(), presence=Presence.STANDING).order_by()
    found: dict[int, dict[str, int]] = {}
    for system, level, count in standing.values_list("system", "severity").annotate(Count("pk")):
        found.setdefault(system, {})[SEVERITY[level]] = count
    return found


def with_open(systems: QuerySet[System]) -> QuerySet[System]:
    """Systems with `worst_open`, `accepted` and `states`, as queries filter and sort by them.

    `worst_open` is the severity of the worst finding of the newest audit that is not accepted: 0 where none is open,
    null without an audit. `accepted` counts those that are; `states` how many are in which state, null for none.
    """
    SystemCounts.recount_lapsed()
    return as_counted(systems)


def as_counted(systems: QuerySet[System]) -> QuerySet[System]:
    """`with_open` for a page that has asked for it before: acceptances that end with the day are not looked for."""
    some = Q(finding_counts__accepted__gt=0)
    left = When(some & Q(latest__isnull=False), then=F("finding_counts__worst_open"))
    return systems.annotate(
        worst_open=Case(left, default=F("latest__worst")),
        accepted=Coalesce("finding_counts__accepted", 0),
        states=F("finding_counts__states"),
    )


def worst_now(system: str = "system", audit: str = "audit") -> Case:
    """The worst finding that any audit has and that is not accepted today, for a query: its `severity` and `title`.

    Null where all it has are accepted; severity 0 where it found nothing. Where nothing of the system is accepted it is
    what the audit kept, so that only the others are looked through. `system` and `audit` are where that query has the
    numbers; `audit` is "pk" for a query of audits.
    """
    accepted = TrackedFinding.objects.filter(accepted_now())
    others = Finding.objects.filter(audit=OuterRef(audit)).exclude(
        Exists(accepted.filter(system=OuterRef("system"), key=OuterRef("key")))
    )
    worst = others.order_by("-severity", "number").values(told=JSONObject(severity="severity", title="title"))[:1]
    own = "" if audit == "pk" else f"{audit}__"
    kept = JSONObject(severity=f"{own}worst", title=f"{own}headline")
    some = Exists(accepted.filter(system=OuterRef(system))) & Q(**{f"{own}worst__gt": 0})
    return Case(When(some, then=Subquery(worst)), default=kept, output_field=JSONField())


def worst_standing() -> Case:
    """The worst finding that the newest capture shows, for a query of systems: open ones before accepted ones.

    A dictionary of `pk`, `number` in its audit, `title`, `severity`, `accepted` and its first figure (`metric`,
    `value`, `unit`, `limit`); null where none stands. It is as `SystemCounts` has it.
    """
    columns = ("pk", "number", "title", "severity", "metric", "value", "unit", "limit")
    told = {name: f"finding_counts__worst__{name}" for name in columns}
    quiet = Case(When(finding_counts__worst_open=0, then=1), default=0)
    some = Q(finding_counts__worst__pk__isnull=False)  # the finding, not the number of one that is gone
    return Case(When(some, then=JSONObject(**told, accepted=quiet)), default=None, output_field=JSONField())


def last_change_judged(system: str) -> Subquery:
    """The change that a capture judged last, for a query of systems; `system` is where that has the system's number.

    A dictionary of the finding's `pk`, `title` and `state`; null where none was judged.
    """
    judged = TrackedFinding.objects.filter(
        system=OuterRef(system), state__in=(State.PROVEN, State.NO_EFFECT, State.WORSE)
    ).exclude(proof={})
    told = JSONObject(pk="pk", title="title", state="state")
    return Subquery(judged.order_by("-state_since", "pk").values(told=told)[:1], output_field=JSONField())


def some_accepted(system: str) -> Exists:
    """Whether `accepted_of` may find any, for a query of systems; `system` is where that has the system's number."""
    return Exists(
        TrackedFinding.objects.filter(system=OuterRef(system), state=State.ACCEPTED, presence=Presence.STANDING)
    )


def accepted_in(audit: Audit) -> dict[str, TrackedFinding]:
    """What is accepted today of the system of an audit, by the finding's key (as far as a row holds it).

    It need not be in this audit: what is gone stays accepted until its day.
    """
    rows = TrackedFinding.objects.filter(system=audit.system_id, state=State.ACCEPTED)
    return {row.key: row for row in rows if is_accepted(row)}


def is_accepted(row: TrackedFinding) -> bool:
    """Whether it is accepted today: the sweep of the minute may not have ended an acceptance yet."""
    return row.state == State.ACCEPTED and not lapsed(row)


def open_counts(audit: Audit, accepted: Iterable[str]) -> dict[str, int]:
    """How many findings of each severity an audit has besides those that are accepted."""
    levels = {key[:400]: level for key, level in audit.findings_digest.items()}
    less = Counter(SEVERITY[levels[key]] for key in accepted if key in levels)
    return {word: max(0, audit.counts.get(word, 0) - less[word]) for word in SEVERITY[1:]}


def severity_now(audit: Audit) -> int:
    """The severity of its worst finding that is not accepted today; 0: none is open."""
    counts = open_counts(audit, accepted_in(audit))
    return next((level for level in (4, 3, 2, 1) if counts[SEVERITY[level]]), 0)


def verdict_now(audit: Audit, accepted: Mapping[str, TrackedFinding]) -> str:
    """The verdict of an audit; where it counts findings, those that are accepted today are counted apart.

    It was written when the audit was made (`rules.summary`); what people decide comes later. `accepted`: by the
    finding's key, as `accepted_in` gives them; without any nothing is read.
    """
    verdict = str(audit.summary.get("verdict", ""))
    loud = SEVERITY[:1:-1]
    said = counted({word: audit.counts.get(word, 0) for word in loud})
    if not accepted or not said or not verdict.startswith(f"{said}; "):
        return verdict
    above = audit.findings.filter(severity__gte=SEVERITY.index("advice")).order_by("number")
    found = list(above.values_list("key", "severity", "title"))
    left = [(severity, title) for key, severity, title in found if key not in accepted]
    if len(left) == len(found):
        return verdict
    counts = Counter(SEVERITY[severity] for severity, _ in left)
    now = counted({word: counts[word] for word in loud} | {"accepted": len(found) - len(left)})
    rest = verdict.removeprefix(f"{said}; ").removeprefix(f"{FIRST}{found[0][2]}")
    return f"{now}{f'; {FIRST}{left[0][1]}' if left else ''}{rest}"


def verdicts_now(audits: Iterable[Audit]) -> dict[int, str]:
    """The verdict of each of these audits as `verdict_now` has it, by the audit's number."""
    some = list(audits)
    accepted: dict[int, dict[str, TrackedFinding]] = {}
    for row in TrackedFinding.objects.filter(accepted_now(), system__in={one.system_id for one in some}):
        accepted.setdefault(row.system_id, {})[row.key] = row
    return {one.pk: verdict_now(one, accepted.get(one.system_id, {})) for one in some}


def opened_again(system_id: int, since: datetime) -> dict[str, int]:
    """The findings that a capture or the calendar opened again since then and that stand, with their severity."""
    events = FindingEvent.objects.filter(tracked__system=system_id, kind="state", by=None, at__gt=since)
    rows = events.filter(
        text__startswith=OPEN_AGAIN,
        tracked__state=State.OPEN,
        tracked__presence=Presence.STANDING,
    )
    return dict(rows.order_by().values_list("tracked__key", "tracked__severity"))


def state_of(row: TrackedFinding) -> dict[str, Any]:
    """The state of a finding as the contract names it, in the service's data alone."""
    if row.state == State.ACCEPTED and lapsed(row):  # the sweep of the minute has not ended it yet
        ended = {"state": State.OPEN, "state_until": None, "state_why": ""}
        return {**ended, "owner": row.owner.username if row.owner else None, "back_if": row.back_if}
    return {
        "state": row.state,
        "state_until": row.state_until.isoformat() if row.state_until else None,
        "state_why": row.state_why,
        "owner": row.owner.username if row.owner else None,
        "back_if": row.back_if,
    }


def with_state(data: Mapping[str, Any], row: TrackedFinding | None) -> dict[str, Any]:
    """A finding as the contract prints it with its state of now, and as `followed` the number of its page.

    Whatever shows findings, plans, run sheets or scripts takes the state from here. `row`: what is followed of it.
    """
    return {**data, **(state_of(row) if row else {}), "followed": row.pk if row else None}


def with_states(findings: Iterable[Finding]) -> list[dict[str, Any]]:
    """These findings, each by `with_state`; two queries."""
    some = list(findings)
    rows = TrackedFinding.objects.filter(
        system__in={one.system_id for one in some}, key__in={one.key for one in some}
    ).select_related("owner")
    known = {(row.system_id, row.key): row for row in rows}
    return [with_state(one.data, known.get((one.system_id, one.key))) for one in some]


def cluster_audits(audit: Audit) -> list[Audit]:
    """The audit, and the current ones of the other nodes of its cluster: they came with the same upload.

    They are of the same cluster and time. Of each its cluster, its system and the interval of its capture are loaded.
    """
    if not audit.cluster:
        return [audit]
    uploads = Upload.objects.filter(Q(pk=audit.capture.upload_id) | Q(captures_again=audit.capture_id))
    captures = Capture.objects.filter(Q(upload__in=uploads) | Q(also_in__in=uploads)).exclude(audit=audit)
    others = Audit.objects.filter(pk__in=captures.values("audit")).select_related("capture", "system")
    found = others.only("cluster", "capture__interval", "system__name").order_by("pk")
    return [audit, *(one for one in found if _place_of(one) == _place_of(audit))]


def cluster_states(audit: Audit) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The findings of an audit by `with_state`, and those of the other nodes of its cluster: its plan is theirs."""
    own = list(audit.findings.order_by("number"))
    beside = Finding.objects.filter(audit__in=cluster_audits(audit)[1:]).order_by("audit", "number")
    found = with_states([*own, *beside])
    return found[: len(own)], found[len(own) :]


def _place_of(audit: Audit) -> tuple[Any, Any]:
    return audit.cluster.get("name"), audit.cluster.get("start")
