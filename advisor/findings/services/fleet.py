"""What the overview says of followed findings: what is new, got worse, or was judged."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime

from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from advisor.accounts.models import User
from advisor.core.access import tracked_of
from advisor.findings.models import TrackedFinding
from advisor.findings.services.listing import ANY, CHANGED, RECENT, Filter, changed_since

State, Presence = TrackedFinding.State, TrackedFinding.Presence


@dataclass
class Changed:
    """What changed since yesterday, of one kind."""

    query: str
    """Of the address in the list of findings."""
    count: int = 0
    systems: Counter[str] = field(default_factory=Counter)
    """Names of systems, and how many of each."""
    states: Counter[str] = field(default_factory=Counter)


def since_yesterday(user: User, now: datetime | None = None) -> dict[str, Changed]:
    """What is new, got worse or was judged since yesterday: as many as the list behind the link shows."""
    return changed_of(tracked_of(user), (now or timezone.now()) - RECENT)


def changed_of(tracked: QuerySet[TrackedFinding], since: datetime) -> dict[str, Changed]:
    """What of these findings is new, got worse or was judged since then, with the address of the list of each.

    By one query: the conditions of the three lists, and a count of each. What is on one of them has one of two times
    since then, each with an index; by all conditions together PostgreSQL would read all that stands.
    """
    asked = {word: Filter(changed=word) for word in CHANGED}
    wanted = {word: changed_since(word, since) & _present(one) for word, one in asked.items()}
    counts = {word: Count("pk", filter=condition) for word, condition in wanted.items()}
    recent = Q(first_seen__gte=since) | Q(state_since__gte=since)
    grouped = tracked.filter(recent).order_by().values("system__name", "state").annotate(**counts)
    found = {word: Changed(one.query()) for word, one in asked.items()}
    for row in grouped:
        for word, one in found.items():
            one.count += row[word]
            one.systems[row["system__name"]] += row[word]
            one.states[row["state"]] += row[word]
    for one in found.values():
        one.systems = +one.systems  # without those of which it is none
    return found


def _present(asked: Filter) -> Q:
    return Q() if asked.presences == ANY else Q(presence=asked.presences)
