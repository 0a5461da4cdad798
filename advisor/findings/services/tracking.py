"""Keep the findings of a system up to date with its newest audit: what stands, what is gone, what came back.

Called where a system's newest audit is settled, in the same transaction. What people decided is never touched here,
but for what the newest capture itself decides: an acceptance whose figure got worse, a proof that no longer holds.
What takes the facts of captures, whether a change was made and what came of it, `findings.services.proof` looks at.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.db import transaction
from django.db.models import Count, Exists, F, JSONField, Min, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import JSONObject
from django.utils import timezone

from advisor.audits.models import Audit, Capture, Finding
from advisor.audits.report.account import booked
from advisor.audits.services.account_bar import mean_of
from advisor.core.job_queue import start
from advisor.findings.models import FindingEvent, TrackedFinding
from advisor.systems.models import System
from rules.plan import WHEN

State, Presence = TrackedFinding.State, TrackedFinding.Presence
UNNAMED = ("SERVER", "NODE")
"""What findings call a system that no export names."""
JUDGED = ("fired", "clean")
"""Verdicts of a rule that looked: a finding of it that is not there has gone. By any other it was not judged."""
RUNS = {effect.value: when for effect, when in WHEN.items() if when != "investigate"}
"""When a change takes effect → when it is made, of those that there is something to run for."""
OF_A_FINDING = ("title", "severity", "number", "processors", "metric", "value", "unit", "limit")
"""Columns of `audits.Finding`."""
OF_A_STATE = ("state", "state_since", "state_by", "state_until", "state_why", "state_value", "state_severity")
SEEN = ("finding", "presence", *OF_A_FINDING, "counted_elsewhere", "when", "first_seen", "last_seen", "seen")
WRITTEN = (*SEEN, *OF_A_STATE, "before", "to_judge")
"""Columns that an audit may change."""
OPEN_AGAIN = "Open again"
"""How the activity begins of what a capture or the calendar opened again."""
A_SWEEP = 25
"""Systems that one sweep catches up with (this project's figure): some hundredths of a second each."""


@dataclass(frozen=True)
class Newest:
    """The newest audit of a system, as far as its findings are followed."""

    capture: Capture
    verdicts: dict[str, str]
    steps: dict[str, str]
    """Key of a change → when its step of the plan is made."""
    findings: dict[str, dict[str, Any]]
    """By their key: columns, `data`, and of the captures that show it `count` and `first`."""


def track(system: System) -> None:
    """Bring the followed findings of a system up to date with its newest audit (`System.latest`).

    Seven statements, three of them for the counts of the system, and an eighth where a finding came, went, or is open
    again. Of captures that are brought late nothing is taken over but since when and how often a finding was seen.
    """
    with transaction.atomic(savepoint=False):
        newest = _newest(system)
        # with the settings of the last capture that shows each: where they are others now, its change may be made
        last = ("finding__audit__capture",)
        held = system.tracked.select_for_update(of=("self",)).select_related(*last).defer(*_heavy(*last)).order_by("pk")
        rows = {one.key: one for one in held}
        if newest is None:
            if rows:
                system.tracked.update(presence=Presence.NOT_JUDGED)
            return
        for row in rows.values():
            _look_at(row, newest.capture)
        if newest.findings.keys() - rows.keys():
            _follow_names(system, rows, newest.findings)
        changed: list[TrackedFinding] = []
        events: list[FindingEvent] = []
        for row, event in _taken_over(system, newest, rows):
            changed.append(row)
            events += [event] if event else []
        for row in changed:
            row.pk = None  # known by system and key: the insert becomes an update, and says which row it is
        TrackedFinding.objects.bulk_create(
            changed, update_conflicts=True, unique_fields=["system", "key"], update_fields=WRITTEN
        )
        for event in events:
            event.tracked_id = event.tracked.pk
        if events:
            FindingEvent.objects.bulk_create(events)
        if any(row.to_judge for row in rows.values()):
            start("findings.prove", system.pk)


def _heavy(path: str) -> Iterator[str]:
    """What is not read of the finding and the audit that a row leads to."""
    yield "finding__data"
    kept = ("id", "capture")
    yield from (f"finding__audit__{one.name}" for one in Audit._meta.concrete_fields if one.name not in kept)
    kept = ("id", "settings")
    yield from (f"{path}__{one.name}" for one in Capture._meta.concrete_fields if one.name not in kept)


def _look_at(row: TrackedFinding, newest: Capture) -> None:
    """Ask for a look at the newest capture (`findings.services.proof`), where it may show what became of a change.

    That is after a change was made; and where this capture has other settings than the last one that shows the finding,
    if the finding has anything to run. Settings that stayed the same cannot hold what was advised since.
    """
    if row.state == State.CHANGE_MADE:
        row.to_judge = row.before_id not in (None, newest.pk) and row.proof.get("after") != newest.pk
        return
    row.to_judge = False
    shown = row.finding.audit.capture if row.finding else None
    if row.state == State.PROVEN or not row.when or shown is None or newest.settings_id is None:
        return
    if shown.pk != newest.pk and shown.settings_id != newest.settings_id and row.presence != Presence.GONE:
        row.before_id, row.to_judge = shown.pk, True


def _newest(system: System) -> Newest | None:
    """What the newest audit says, in two statements; `None` where there is none."""
    latest = System.objects.filter(pk=system.pk).values("latest")
    audits = Audit.objects.filter(pk__in=latest).select_related("capture")
    audit = audits.only("verdicts", "plan", "account", "capture__taken", "capture__settings").first()
    if audit is None:
        return None
    # by the current audit of each capture: earlier ones of it are kept for a while
    shown = Finding.objects.filter(system=system.pk, key=OuterRef("key"), audit=F("audit__capture__audit"))
    told = JSONObject(count=Count("pk"), first=Min("audit__capture__taken"))
    seen = Subquery(shown.order_by().values("key").annotate(told=told).values("told"), output_field=JSONField())
    found = Finding.objects.filter(audit=audit.pk).annotate(seen=seen).order_by("number")
    findings: dict[str, dict[str, Any]] = {}
    for one in found.values("pk", "key", "rule", "subject", *OF_A_FINDING, "data", "seen"):
        findings.setdefault(one["key"], one)
    _count_once(audit, findings)
    steps = {key: step["when"] for step in audit.plan.get("steps", ())[::-1] for key in _keys_made(step)}
    return Newest(audit.capture, {one["rule"]: one["verdict"] for one in audit.verdicts}, steps, findings)


def _count_once(audit: Audit, findings: dict[str, dict[str, Any]]) -> None:
    """Give each finding the processors that the account books to it; what it books to a cause is counted there."""
    account = mean_of(audit.account, "processors")
    lost = {key[:400]: amount for key, amount in booked(account).items()} if account else {}
    for key, one in findings.items():
        one["counted_elsewhere"] = bool(lost) and key not in lost and one["processors"] is not None
        one["processors"] = lost.get(key) if lost else one["processors"]


def _keys_made(step: dict[str, Any]) -> Iterable[str]:
    """The changes of a step that there is something to run for; `when` is known from version 0.9.0 on."""
    return step["change_keys"] if step.get("when", "investigate") != "investigate" else ()


def _taken_over(
    system: System, newest: Newest, rows: dict[str, TrackedFinding]
) -> Iterator[tuple[TrackedFinding, FindingEvent | None]]:
    """Every row that the newest audit changes, each with what is told of it, if anything is."""
    taken = newest.capture.taken
    for key, finding in newest.findings.items():
        row = rows.get(key)
        was = row.presence if row else None
        if row is None:
            row = TrackedFinding(system=system, key=key, rule=finding["rule"], subject=finding["subject"])
        same_figure = (row.metric, row.unit) == (finding["metric"], finding["unit"])
        for name in (*OF_A_FINDING, "counted_elsewhere"):
            setattr(row, name, finding[name])
        row.finding_id, row.presence, row.last_seen = finding["pk"], Presence.STANDING, taken
        row.seen, row.first_seen = _seen(finding["seen"], taken)
        row.when = next(
            (newest.steps[one["key"]] for one in finding["data"].get("changes") or () if one["key"] in newest.steps), ""
        )
        if not same_figure:
            row.state_value = None  # of another figure: what is worse is told by the severity from now on
        if was is None:
            yield row, FindingEvent(tracked=row, kind="seen", at=row.first_seen, value=row.value)
        elif why := reopens(row):
            yield row, reopened(row, why)
        else:
            back = was == Presence.GONE
            yield row, FindingEvent(tracked=row, kind="back", at=taken, value=row.value) if back else None
    for key, row in rows.items():
        if key in newest.findings:
            continue
        if row.presence == Presence.GONE:  # and stays so until it is seen again
            if row.to_judge:
                yield row, None
            continue
        if newest.verdicts.get(row.rule) in JUDGED:
            row.presence = Presence.GONE
            yield row, FindingEvent(tracked=row, kind="gone", at=taken)
        elif row.presence == Presence.STANDING or row.to_judge:
            row.presence = Presence.NOT_JUDGED
            yield row, None


def _seen(told: dict[str, Any] | None, taken: datetime) -> tuple[int, datetime]:
    """In how many captures a finding is, and when the first of them was taken (SQLite tells times without a zone)."""
    if not told:  # between two audits of a capture
        return 1, taken
    first = datetime.fromisoformat(told["first"])
    return told["count"], first if first.tzinfo else first.replace(tzinfo=UTC)


def reopens(row: TrackedFinding) -> str:
    """Why a standing finding that was accepted or proven is open again; empty: it is not."""
    if row.state == State.ACCEPTED:
        if lapsed(row):
            return f"accepted until {row.state_until}: that day has passed"
        return f"{worse_by(row)} while accepted" if worse_by(row) else ""
    return f"{worse_by(row)} after it was proven" if row.state == State.PROVEN and worse_by(row) else ""


def lapsed(row: TrackedFinding) -> bool:
    """Whether the last day of an acceptance has passed, by the site's clock."""
    return row.state_until is not None and row.state_until < timezone.localdate()


def worse_by(row: TrackedFinding) -> str:
    """In words, by how much a finding is worse than when it got its state; empty: not by more than `back_if`.

    Worse is farther beyond its limit. A figure below its limit got there by falling: a hit ratio. Where no figure of
    that time is known, or no limit, a higher severity is worse.
    """
    value, then, limit = row.value, row.state_value, row.limit
    if value is None or then is None or limit is None or then == limit:
        if row.state_severity is not None and row.severity > row.state_severity:
            return "it was seen again" if not row.state_severity else "its severity rose"
        return ""
    step = abs(then) * row.back_if
    far, way = (value > then + step, "rose") if then > limit else (value < then - step, "fell")
    return f"the figure {way} from {then:.4g} to {value:.4g} {row.unit}".rstrip() if far else ""


def put(row: TrackedFinding, state: str, *, at: datetime | None = None) -> None:
    """Give a row a state and note what it was like then; who, why and until when are the caller's to say."""
    row.state, row.state_since = state, at or timezone.now()
    row.state_by, row.state_until, row.state_why = None, None, ""
    gone = row.presence == Presence.GONE
    row.state_value, row.state_severity = (None, 0) if gone else (row.value, row.severity)


def reopened(row: TrackedFinding, why: str) -> FindingEvent:
    """Have a row open again without anybody's doing; gives what is told of it. Nothing is written."""
    put(row, State.OPEN)
    return FindingEvent(tracked=row, kind="state", text=f"{OPEN_AGAIN}: {why}"[:2000], value=row.value)


def _follow_names(system: System, rows: dict[str, TrackedFinding], findings: dict[str, dict[str, Any]]) -> None:
    """Find what is known under another name of the system: a finding on the system itself is named after it."""
    names = {name.upper() for name in (system.name, *system.former, *UNNAMED)}
    free = {known: row for key, row in rows.items() if key not in findings and (known := _known(row, names))}
    for key, one in findings.items():
        subject = one["subject"]
        row = free.pop(one["rule"], None) if key not in rows and subject.upper() in names else None
        if row is not None:
            del rows[row.key]
            row.key, row.subject = key, subject
            TrackedFinding.objects.filter(pk=row.pk).update(key=key, subject=subject)
            rows[key] = row


def _known(row: TrackedFinding, names: set[str]) -> str:
    """The rule of a finding on the system itself; empty for one on anything else."""
    return row.rule if row.subject.upper() in names else ""


def merge(system: System, other: System) -> None:
    """Have `other` take over what is followed of `system`; of one that both have, what people decided later counts."""
    for row, same in side_by_side(system, other):
        if same is None:
            TrackedFinding.objects.filter(pk=row.pk).update(system=other)
            continue
        if decided_later(row, same):
            TrackedFinding.objects.filter(pk=same.pk).update(
                **{name: getattr(row, name) for name in OF_A_STATE}, back_if=row.back_if
            )
        if same.owner_id is None and row.owner_id is not None:
            TrackedFinding.objects.filter(pk=same.pk).update(owner=row.owner_id)
        row.events.update(tracked=same)
        row.delete()


def side_by_side(system: System, other: System) -> Iterator[tuple[TrackedFinding, TrackedFinding | None]]:
    """Each finding that is followed of `system`, with the one of `other` that is the same; `None`: there is none."""
    names = {name.upper() for one in (system, other) for name in (one.name, *one.former)} | {*UNNAMED}
    known = {_identity(row, names): row for row in other.tracked.all()}
    for row in system.tracked.all():
        yield row, known.get(_identity(row, names))


def decided_later(row: TrackedFinding, same: TrackedFinding) -> bool:
    """Whether what people decided about `row` counts where both become one; what nobody decided about never does."""
    return (row.state != State.OPEN, row.state_since) > (same.state != State.OPEN, same.state_since)


def _identity(row: TrackedFinding, names: set[str]) -> str:
    return _known(row, names) or row.key


def behind() -> QuerySet[System]:
    """Systems whose followed findings are not those of their newest audit: of before an upgrade, of an old worker."""
    rows = TrackedFinding.objects.filter(system=OuterRef("pk"))
    without = Q(latest__worst__gt=0) & ~Exists(rows.filter(finding__audit=OuterRef("latest")))
    over = Q(latest__worst=0) & Exists(rows.filter(presence=Presence.STANDING))
    return System.objects.exclude(latest=None).filter(without | over).order_by("pk")


def catch_up() -> int:
    """Follow the findings of some systems that are behind; gives how many. Every minute, until none is left."""
    systems = list(behind().only("name", "former")[:A_SWEEP])
    for system in systems:
        track(system)
    return len(systems)
