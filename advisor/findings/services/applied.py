"""What was applied where: every change that the findings of several systems ask for or asked for, by state.

A change has the states of the findings that ask for it. Findings that are gone count as well where somebody dealt with
them: their changes are those of the last audit that found them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils import timezone

from advisor.findings.models import FindingEvent, TrackedFinding
from advisor.findings.services.joint_plan import JointPlan, names_of, shared_key, shared_target
from advisor.findings.services.proof import NOT_IN_FORCE
from advisor.findings.services.states import MADE
from advisor.systems.models import System

State, Presence = TrackedFinding.State, TrackedFinding.Presence
NOT_KEPT = "change no longer kept"
"""Of a finding whose audits retention has taken."""
AFTER_A_CHANGE = (State.CHANGE_MADE, State.PROVEN, State.NO_EFFECT, State.WORSE)


@dataclass(frozen=True)
class Seen:
    """A change on one system, by one finding that asks for it."""

    system: System
    row: TrackedFinding
    said: str
    """When and by whom; empty for what is open."""


@dataclass(frozen=True)
class Applied:
    """A change, and the systems by the state that it has there."""

    target: str
    cells: dict[str, list[Seen]] = field(default_factory=dict)
    """By the state."""

    @property
    def systems(self) -> int:
        """How many systems it is told of."""
        return len({one.system.pk for cell in self.cells.values() for one in cell})


def applied(plan: JointPlan) -> list[Applied]:
    """The rows of the matrix: what the plan asks for in its order, then what has gone; two statements."""
    systems = {one.system.pk: one.system for one in plan.systems}
    names = names_of(list(systems.values()))
    planned = {(one.of.system.pk, one.change.key): (one.shared, one.change.target) for one in plan.askings}
    changes = _changes(plan)
    makers = _makers(plan.followed)
    rows: dict[str, Applied] = {}
    for one in plan.followed:
        seen = Seen(systems[one.system_id], one, _said(one, makers.get(one.pk)))
        for key, target in changes.get((one.system_id, one.key)) or _not_kept(one):
            shared, name = shared_key(key, names[one.system_id][1])
            shared, target = planned.get((one.system_id, key)) or (shared, shared_target(target, name))
            cell = rows.setdefault(shared, Applied(target)).cells.setdefault(one.state, [])
            if not cell or cell[-1].row.pk != one.pk:  # two changes of one finding may be the same one
                cell.append(seen)
    place = {shared: at for at, shared in enumerate(dict.fromkeys(one.shared for one in plan.askings))}
    ordered = sorted(rows.items(), key=lambda row: (place.get(row[0], len(place)), row[1].target))
    for _, row in ordered:
        for cell in row.cells.values():
            cell.sort(key=lambda seen: (seen.system.name, seen.system.pk))
    return [row for _, row in ordered]


def _not_kept(row: TrackedFinding) -> list[tuple[str, str]]:
    """In place of the changes of a finding that somebody dealt with and whose audits are gone."""
    kept = row.state == State.OPEN or row.finding_id is not None
    return [] if kept else [(row.rule, f"{row.rule}: {NOT_KEPT}")]


def _changes(plan: JointPlan) -> dict[tuple[int, str], list[tuple[str, str]]]:
    """By system and key of a finding: key and target of each change that it asks for, or did when last found."""
    found: dict[tuple[int, str], list[tuple[str, str]]] = {}
    for one in plan.systems:
        for finding in one.findings:
            found[one.system.pk, finding["key"][:400]] = _told(finding["changes"])
    gone = [one.pk for one in plan.followed if one.finding_id and (one.system_id, one.key) not in found]
    columns = ("system_id", "key", "finding__data")
    for system, key, data in TrackedFinding.objects.filter(pk__in=gone).order_by().values_list(*columns):
        found[system, key] = _told((data or {}).get("changes") or ())
    return found


def _told(changes: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    return [(one["key"], one["target"]) for one in changes]


def _makers(followed: Sequence[TrackedFinding]) -> dict[int, str]:
    """By the number of a finding: who said last that its change was made, and when."""
    made = [one.pk for one in followed if one.state in AFTER_A_CHANGE]
    events = FindingEvent.objects.filter(tracked__in=made, kind="state", text__startswith=MADE)
    told = events.order_by("at", "pk").values_list("tracked", "who", "at")
    return {tracked: f"made by {who} {timezone.localdate(at)}" for tracked, who, at in told}


def _said(row: TrackedFinding, made: str | None) -> str:
    """When it came to its state, and by whom."""
    day = timezone.localdate(row.state_since)
    if row.state == State.OPEN:
        return ""
    if row.state == State.ACCEPTED:
        return f"until {row.state_until}"
    if row.state == State.PLANNED:
        return f"by {row.state_by.username} {day}" if row.state_by else f"{day}"
    if row.state != State.CHANGE_MADE:
        return f"{day}; {made or 'seen in force'}"
    said = made if row.state_by and made else f"seen in force {day}"
    if row.outcome == NOT_IN_FORCE:  # type: ignore[attr-defined]  # annotated
        return f"{said}; not in force in the newest capture"
    return said
