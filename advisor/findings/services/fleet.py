"""What the overview says of followed findings: how many of each system are in which state, and what is new."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from advisor.accounts.models import User
from advisor.core.access import tracked_of
from advisor.findings.models import TrackedFinding
from advisor.findings.services.listing import ANY, CHANGED, RECENT, Filter, changed_since
from advisor.findings.services.states import accepted_now, state_now

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


def states_of(systems: Iterable[int]) -> dict[int, Counter[str]]:
    """How many findings of each of these systems stand in which state, by one grouped query."""
    found: dict[int, Counter[str]] = defaultdict(Counter)
    standing = TrackedFinding.objects.filter(system__in=list(systems), presence=Presence.STANDING)
    grouped = standing.order_by().annotate(now=state_now()).values_list("system", "now").annotate(Count("pk"))
    for system, state, count in grouped:
        found[system][state] = count
    return found


def by_open_findings(user: User) -> dict[int, int]:
    """How many findings stand open, by the number of the system; a system without any is not there."""
    standing = tracked_of(user).filter(presence=Presence.STANDING, state__in=(State.OPEN, State.ACCEPTED))
    still_open = standing.exclude(accepted_now())
    return dict(still_open.order_by().values_list("system").annotate(Count("pk")))


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
