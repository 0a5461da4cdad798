"""What became of a finding's change on the other systems that a person may see."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Count, QuerySet

from advisor.accounts.models import User
from advisor.core.access import tracked_of
from advisor.findings.models import TrackedFinding
from advisor.systems.models import System

State = TrackedFinding.State
AFTER_A_CHANGE = (State.CHANGE_MADE, State.PROVEN, State.NO_EFFECT, State.WORSE)
MOST_WAITING = 5
"""Systems that are named where the same change waits for proof; the rest are counted."""


@dataclass(frozen=True)
class Elsewhere:
    """One rule's change on the other systems."""

    rule: str
    waits: tuple[TrackedFinding, ...]
    """Findings of the systems where it waits for proof, at most `MOST_WAITING`."""
    waiting: int
    made: int
    """Systems where it was made, those included; one where it came out in two ways is counted for each."""
    proven: int


def others_of(user: User, row: TrackedFinding) -> QuerySet[TrackedFinding]:
    """The same rule's findings on other systems of this person: what stands, or has been worked on."""
    others = tracked_of(user).filter(rule=row.rule).exclude(system=row.system_id)
    gone_by_itself = {"presence": TrackedFinding.Presence.GONE, "state": State.OPEN}
    return others.exclude(**gone_by_itself).select_related("system").order_by("-severity", "-value", "pk")


def tried(user: User, rule: str) -> dict[str, int]:
    """On how many systems the rule's change is in each of the states after a change."""
    states = tracked_of(user).filter(rule=rule, state__in=AFTER_A_CHANGE).order_by().values_list("state")
    return dict(states.annotate(Count("system", distinct=True)))


def made_elsewhere(user: User, system: System, rules: Iterable[str]) -> list[Elsewhere]:
    """The same for several rules, without this system; nothing of a rule whose change was made nowhere else."""
    rows = tracked_of(user).filter(rule__in=set(rules), state__in=AFTER_A_CHANGE).exclude(system=system.pk)
    counts = rows.order_by().values_list("rule", "state").annotate(systems=Count("system", distinct=True))
    told: dict[str, Counter[str]] = {}
    for rule, state, systems in counts:
        told.setdefault(rule, Counter())[state] = systems
    waits: dict[str, dict[int, TrackedFinding]] = {}
    waiting = (
        rows.filter(state=State.CHANGE_MADE, rule__in=told).select_related("system").order_by("-state_since", "pk")
    )
    for row in waiting[: MOST_WAITING * 20]:
        waits.setdefault(row.rule, {}).setdefault(row.system_id, row)
    return [
        Elsewhere(
            rule,
            tuple(waits.get(rule, {}).values())[:MOST_WAITING],
            by_state[State.CHANGE_MADE],
            made=sum(by_state.values()),
            proven=by_state[State.PROVEN],
        )
        for rule, by_state in sorted(told.items())
    ]
