"""What a person concludes from a comparison: proven, did not help, got worse.

Captures prove a change by themselves where it is seen in force, or was noted as made (`proof`). This is for the rest:
a change that no export tells of, captures chosen by hand, several on a side. The same rules judge, and where the two
sides cannot be compared nothing is concluded, whoever asks.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from django.http import HttpRequest
from django.utils.http import urlencode

from advisor.accounts.models import User
from advisor.audits.models import Finding
from advisor.audits.services.comparing import Sides, compared
from advisor.core.records import Refused
from advisor.findings.models import TrackedFinding
from advisor.findings.services.proof import NOT_IN_FORCE, Fate, Outcome, came_of, nothing_known
from advisor.findings.services.states import LONGEST_WHY, acted
from advisor.findings.services.tracking import put
from advisor.uploads.services.uploads import clean_text
from rules.compare.compare import NOT_COMPARABLE

State, Presence = TrackedFinding.State, TrackedFinding.Presence
AS_TOLD = "as-told"
"""Each finding gets the state that the figures tell."""
CONCLUSIONS = {
    AS_TOLD: "What the figures tell",
    State.PROVEN.value: State.PROVEN.label,
    State.NO_EFFECT.value: State.NO_EFFECT.label,
    State.WORSE.value: State.WORSE.label,
}


@dataclass(frozen=True)
class Concluded:
    """What was noted."""

    count: int
    left: tuple[str, ...]
    """Findings of which the figures tell nothing, each with why."""


def conclude(
    by: User, sides: Sides, findings: Iterable[int], word: str, why: str = "", *, request: HttpRequest | None = None
) -> Concluded:
    """Give findings of this system the state that the comparison of these sides tells, or the one a person names.

    Who names another state than the figures tell says why. Raises `Refused`, also `Refused` where the stored
    facts are damaged.
    """
    data = compared(sides).data
    if data["verdict"] == NOT_COMPARABLE:
        raise Refused(f"These two cannot be compared, so nothing follows from them. {data['why']}")
    why = clean_text(why, LONGEST_WHY)
    done, left = [], []
    with acted(by, findings, "finding concluded", why, request) as act:
        olds, news = (_by_key(side, act.rows) for side in (sides.before, sides.after))
        for row in act.rows:
            old = olds.get(row.key)
            if row.system_id != sides.system.pk or old is None:
                left.append(f"{row.title}: the captures before do not show it")
                continue
            outcome = _told(old, news.get(row.key), data, sides)
            state = outcome.state if word == AS_TOLD else word
            if not state:
                left.append(f"{row.title}: {outcome.why}")
                continue
            if state != outcome.state and not why:
                told = State(outcome.state).label.lower() if outcome.state else "not known"
                raise Refused(f"{row.title}: by the figures it is {told}. Say why you conclude something else.")
            put(row, state)
            row.state_by, row.state_why = by, (why or outcome.why)[:LONGEST_WHY]
            row.before_id, row.proof, row.to_judge = outcome.before, asdict(outcome) | {"state": state}, False
            act.tell(row, "state", f"concluded from captures: {State(state).label.lower()}\n{row.state_why}")
            done.append(row)
        act.rows[:] = done
    return Concluded(len(done), tuple(left))


def _by_key(side: Iterable[Any], rows: Iterable[TrackedFinding]) -> dict[str, Finding]:
    """The findings of a side's captures by their key; of several captures the last that has it."""
    audits = [one.audit_id for one in side]
    found = Finding.objects.filter(audit__in=audits, key__in=[row.key for row in rows])
    return {one.key: one for one in found.order_by("audit__capture__taken")}


def _told(old: Finding, new: Finding | None, data: Mapping[str, Any], sides: Sides) -> Outcome:
    """What the figures tell of one finding."""
    if old.key in data["findings"]["not_judged"]:
        fate = Fate(Presence.NOT_JUDGED, None)
    elif old.key in data["findings"]["gone"]:
        fate = Fate(Presence.GONE, None)
    else:
        fate = Fate(Presence.STANDING, new)
    before, after = ([one.pk for one in side] for side in (sides.before, sides.after))
    query = urlencode({"before": before, "after": after}, doseq=True)
    known = replace(nothing_known(old, before[-1], after[-1]), query=query)
    outcome = came_of(old, fate, data, known)
    return replace(outcome, why=f"Not in force: {outcome.why}") if outcome.verdict == NOT_IN_FORCE else outcome
