"""What captures show of a change: that it is in force, and what came of it, with what was promised beside.

Both are judged by `rules.compare`, of the last capture before the change against the newest one: whether a setting has
the advised value or another that does the same, and whether the work of both was alike. Where it was not, nothing is
claimed: the finding stays "change made", and says what to bring. It takes the facts of two captures, so a task does it.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from advisor.audits.models import Capture, Finding
from advisor.audits.report.compared import force_of
from advisor.audits.services.comparing import compared, sides_of
from advisor.core.records import Refused
from advisor.findings.models import FindingEvent, TrackedFinding
from advisor.findings.services import tracking
from advisor.systems.models import System
from advisor.systems.services.history import own_time, when
from rules.compare.compare import IMPROVED, MIXED, NOT_COMPARABLE, WORSE
from rules.compare.metrics import UNSAMPLED_PERCENT
from rules.finding import rounded

State, Presence = TrackedFinding.State, TrackedFinding.Presence
NOT_IN_FORCE, NOT_JUDGED = "not-in-force", "not-judged"
"""Outcomes beside the verdicts of a comparison."""
A_SWEEP = 25
"""Systems whose task is started again by one sweep (this project's figure)."""


@dataclass(frozen=True)
class Outcome:
    """What came of a change, as `TrackedFinding.proof` keeps it."""

    verdict: str
    """The comparison's, or `not-in-force`, `not-judged`."""
    why: str
    before: int
    after: int
    """Captures."""
    state: str = ""
    """The state that follows from it; empty: nothing is claimed."""
    metric: str = ""
    unit: str = ""
    was: float | None = None
    now: float | None = None
    """The finding's figure before, and after where that capture tells."""
    promise: list[dict[str, Any]] = field(default_factory=list)
    """What was expected, as the contract prints it, with `came`: the same figure after; null: the capture has none."""
    settings: list[str] = field(default_factory=list)
    """Each change, and whether it is in force."""
    bring: list[str] = field(default_factory=list)
    """What would let it be judged."""
    query: str = ""
    """The comparison as the address names it, where a person concluded from one; empty: `before` with `after`."""


def waiting() -> QuerySet[System]:
    """Systems whose newest capture has still to be looked at."""
    return System.objects.filter(tracked__to_judge=True).distinct().order_by("pk")


def left() -> list[int]:
    """Systems whose task may be lost; every minute. One that comes twice finds nothing left to do."""
    return list(waiting().values_list("pk", flat=True)[:A_SWEEP])


def prove(system_id: int) -> int:
    """Look at the newest capture of a system; gives how many findings were looked at."""
    system = System.objects.filter(pk=system_id).select_related("latest__capture").first()
    rows = TrackedFinding.objects.filter(system=system_id, to_judge=True).select_related("before").order_by("pk")
    looked = 0
    for row in rows:
        newest = system.latest.capture if system and system.latest else None
        outcome = _judged(row, newest) if newest and row.before and newest.pk != row.before_id else None
        with transaction.atomic():
            # somebody may have decided meanwhile, or a newer capture may have come: then this one says nothing
            same = TrackedFinding.objects.select_for_update(of=("self",)).filter(
                pk=row.pk, to_judge=True, state=row.state
            )
            held = same.filter(before=row.before_id, system__latest=system.latest_id if system else None).first()
            if held is not None:
                _settle(held, outcome, newest)
                looked += 1
    return looked


def _settle(row: TrackedFinding, outcome: Outcome | None, newest: Capture | None) -> None:
    """Write what came of it into the row and its activity."""
    events = []
    row.to_judge = False
    if row.state != State.CHANGE_MADE:
        if outcome is None or outcome.verdict == NOT_IN_FORCE or newest is None:
            row.before = None
            row.save(update_fields=["to_judge", "before"])
            return
        tracking.put(row, State.CHANGE_MADE)
        row.state_why = f"The capture of {_when(newest)} shows it: {'; '.join(outcome.settings)}"[:500]
        events.append(FindingEvent(tracked=row, kind="state", text=f"Change made. {row.state_why}"))
    if outcome is not None:
        told_before = row.proof.get("verdict")
        row.proof = asdict(outcome)
        if outcome.state:
            tracking.put(row, outcome.state)
            row.state_why = outcome.why[:500]
            name = State(outcome.state).label
            events.append(
                FindingEvent(tracked=row, kind="state", text=f"{name}: {outcome.why}"[:2000], value=outcome.now)
            )
        elif outcome.verdict != told_before:
            events.append(FindingEvent(tracked=row, kind="state", text=f"Not proven yet: {outcome.why}"[:2000]))
    row.save()
    FindingEvent.objects.bulk_create(events)


def _judged(row: TrackedFinding, newest: Capture) -> Outcome | None:
    """Judge the newest capture against the one before the change; `None`: it says nothing of the change."""
    before = row.before
    old = Finding.objects.filter(audit=before.audit_id or 0, key=row.key).first() if before else None
    if before is None or old is None:
        return None
    nothing = nothing_known(old, before.pk, newest.pk)
    try:
        data = compared(sides_of(row.system, [before.pk], [newest.pk])).data
    except (Refused, Capture.DoesNotExist) as error:
        said = str(error) or "The facts of these captures are not kept."
        return replace(nothing, why=said) if row.state == State.CHANGE_MADE else None
    if settings_of(old, data)[1] is None and (row.state != State.CHANGE_MADE or _begun(newest) < row.state_since):
        return None  # no export tells, and it was not taken after somebody said so
    fate = Fate(row.presence, row.finding if row.presence == Presence.STANDING else None)
    return came_of(old, fate, data, nothing)


def nothing_known(old: Finding, before: int, after: int) -> Outcome:
    """What is known of an outcome before anything is judged: the captures, and the figure before."""
    return Outcome(NOT_COMPARABLE, "", before, after, metric=old.metric, unit=old.unit, was=old.value)


@dataclass(frozen=True)
class Fate:
    """What a capture after the change says of the finding."""

    presence: str
    finding: Finding | None
    """As that capture has it; `None` where it is not standing."""


def came_of(old: Finding, fate: Fate, data: Mapping[str, Any], known: Outcome) -> Outcome:
    """What came of a change by a comparison (`compare/1`), beside what is `known` of the outcome already."""
    settings, in_force = settings_of(old, data)
    if in_force is False:
        return replace(known, settings=settings, verdict=NOT_IN_FORCE, why=f"{'; '.join(settings)}.")
    now = _now(old, fate, data)
    verdict, why = data["verdict"], data["why"]
    promise = [{**one, "came": _came(one["metric"], fate, data)} for one in old.data["expects"]]
    base = replace(known, settings=settings, now=now, promise=promise, bring=data["bring"])
    if verdict == NOT_COMPARABLE:
        return replace(base, why=why)
    if fate.presence == Presence.NOT_JUDGED:
        return replace(base, verdict=NOT_JUDGED, why="The newest capture could not judge this finding.")
    state, said = _state(old, fate, now, verdict)
    return replace(base, verdict=verdict, why=f"{said} {why}", state=state)


def _of_the_finding(own: Sequence[Mapping[str, Any]], changes: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """What a comparison says of the finding's own changes, of those that there is something to run for."""
    runs = {(one["target"], str(one["to"])) for one in own if one["takes_effect"] != "advice" and one["to"] is not None}
    return [one for one in changes if (one["target"], str(one["to"])) in runs]


def settings_of(old: Finding, data: Mapping[str, Any]) -> tuple[list[str], bool | None]:
    """The finding's changes in words, and whether they are in force; `None`: no export of the after tells."""
    mine = _of_the_finding(old.data["changes"], data["changes"])
    said = [f"{one['target']} {rounded(one['from'])} → {rounded(one['to'])}, {force_of(one)}" for one in mine]
    applied = [one["applied"] for one in mine if one["applied"] is not None]
    return said, all(applied) if applied else None


def _begun(capture: Capture) -> datetime:
    """When a capture began: what it shows is of later."""
    return capture.taken - timedelta(seconds=capture.seconds or 0)


def _now(old: Finding, fate: Fate, data: Mapping[str, Any]) -> float | None:
    """The finding's figure in the capture after, if that tells."""
    if fate.presence == Presence.NOT_JUDGED:
        return None
    if fate.finding is not None and (fate.finding.metric, fate.finding.unit) == (old.metric, old.unit):
        return fate.finding.value
    return _figure_of(old.metric, data)


def _state(old: Finding, fate: Fate, now: float | None, verdict: str) -> tuple[str, str]:
    """The state that follows, and why in a sentence; no state where the figures point both ways.

    A figure of one sample on a side is called another one from 20 % on, as in any comparison.
    """
    gone = fate.presence == Presence.GONE
    better = gone or _moved(old, now, better=True)
    worse = not gone and _moved(old, now, better=False)
    figure = f"{old.metric} {rounded(old.value)} → {rounded(now)} {old.unit}".rstrip() if now is not None else ""
    said = f"{'Gone' if gone else 'Still found'}{f': {figure}' if figure else ''}."
    if verdict == WORSE or worse:
        return State.WORSE, said
    if better:
        return ("" if verdict == MIXED else State.PROVEN), said
    if now is None and verdict == IMPROVED:
        return State.PROVEN, said
    if now is None and verdict == MIXED:
        return "", said
    return State.NO_EFFECT, said  # whatever else got better: it was not what this change promised


def _moved(old: Finding, now: float | None, *, better: bool) -> bool:
    """Whether the figure moved toward its limit, or away from it, by more than one sample's noise."""
    was, limit = old.value, old.limit
    if was is None or now is None or limit is None or was == limit:
        return False
    step = abs(was) * UNSAMPLED_PERCENT / 100
    down = (was > limit) is better
    return now < was - step if down else now > was + step


def _came(metric: str, fate: Fate, data: Mapping[str, Any]) -> float | None:
    """What became of an expected figure: from the finding as it is then, else from the comparison's figures."""
    if fate.finding is not None:
        for one in fate.finding.data["evidence"]:
            if _plain(one["metric"]) == _plain(metric) and isinstance(one["value"], int | float):
                return float(one["value"])
    return _figure_of(metric, data)


def _figure_of(metric: str, data: Mapping[str, Any]) -> float | None:
    found = (one["after"] for one in data["metrics"] if _plain(one["metric"]) == _plain(metric))
    return next(found, None)


def _plain(name: str) -> str:
    """A name of a figure without its punctuation: findings and comparisons put it differently."""
    return " ".join(re.findall(r"[a-z0-9]+", name.lower()))


def _when(capture: Capture) -> str:
    return when(own_time(capture.taken, capture.timed, capture.interval), capture.timed)
