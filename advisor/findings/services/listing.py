"""The findings of all systems as a list: which ones the address asks for, in which order, and how many of each kind.

The list reads `TrackedFinding` with its system and owner alone, never an audit: that is what keeps it fast on a site of
a million findings. All counts beside the filters come from one grouped query.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Case, Count, Exists, F, IntegerField, OuterRef, Q, QuerySet, Sum, Value, When
from django.db.models.expressions import OrderBy
from django.http import QueryDict
from django.utils import timezone

from advisor.accounts.models import User
from advisor.audits.report.plan import WHENS
from advisor.core.access import groups_of, systems_of, tracked_of
from advisor.core.jinja import SEVERITY
from advisor.core.records import Refused
from advisor.core.sorting import Sortable, both_ways
from advisor.findings.models import FindingEvent, SavedView, SystemCounts, TrackedFinding
from advisor.systems.models import System
from advisor.uploads.services.uploads import clean_text

State, Presence = TrackedFinding.State, TrackedFinding.Presence
STATE_RANK = {
    State.OPEN: 0,
    State.WORSE: 0,
    State.NO_EFFECT: 0,
    State.PLANNED: 1,
    State.CHANGE_MADE: 2,
    State.ACCEPTED: 3,
    State.PROVEN: 4,
}
"""What nobody has dealt with comes first. A change that made it worse or did not help leaves the finding to be dealt
with."""
STATE_WORDS = {
    one: str(one.label)
    for one in (
        *(State.OPEN, State.PLANNED, State.CHANGE_MADE, State.ACCEPTED),
        *(State.PROVEN, State.NO_EFFECT, State.WORSE),
    )
}
"""In the order of the chips."""
PRESENCE_WORDS = {
    Presence.STANDING: "shows it",
    Presence.GONE: "shows it is gone",
    Presence.NOT_JUDGED: "could not judge it",
    "any": "any of these",
}
NO_STEP = "none"
"""The word in the address for a finding without a step of the plan, or without an owner."""
WHEN_WORDS = {**WHENS, NO_STEP: "Nothing to run"}
ANY = "any"
SETTLED = (State.PROVEN,)
"""States whose findings are usually gone: asked for by these, the list does not hold itself to what stands."""
RECENT = timedelta(days=1)
"""What "since yesterday" goes back (as the overview has it)."""
CHANGED = {"new": "New since yesterday", "worse": "Worse since yesterday", "judged": "Judged since yesterday"}
REOPENED = "Open again"
"""How the activity begins of a finding that a capture opened again."""
SORTS = ("severity", "finding", "system", "lost", "when", "state", "owner", "seen")
MINE, NOBODY = "mine", NO_STEP
NUMBER = re.compile(r"[0-9]{1,15}")
WORDS = 8
"""So many words of a search are looked for."""


@dataclass(frozen=True)
class Filter(Sortable):
    """What the list is asked for, as the address holds it; an empty field asks for all."""

    DESCENDING = ("severity", "lost")

    q: str = ""
    severity: str = ""
    product: str = ""
    rule: str = ""
    state: str = ""
    owner: str = ""
    """The number of a user, `mine`, or `none`."""
    group: str = ""
    """The number of a group of systems."""
    system: str = ""
    """The number of a system."""
    when: str = ""
    """`now`, `restart`, … as the contract names it, or `none`."""
    presence: str = ""
    """`standing`, `gone`, `not-judged` or `any`; empty: what stands (of proven ones all)."""
    changed: str = ""
    """`new`, `worse` or `judged`: since yesterday."""
    sort: str = ""
    """A column of `SORTS`, with a minus before it for the highest first; empty: open first, then the worst."""

    @classmethod
    def read(cls, given: Mapping[str, str]) -> "Filter":
        """Read the address: a word that no filter knows asks for nothing."""
        known = {
            "severity": SEVERITY[1:],
            "state": State.values,
            "when": tuple(WHEN_WORDS),
            "presence": (*Presence.values, ANY),
            "changed": tuple(CHANGED),
            "sort": both_ways(SORTS),
        }
        read = {one.name: clean_text(given.get(one.name, ""), 200).strip() for one in fields(cls)}
        for name, words in known.items():
            read[name] = read[name] if read[name] in words else ""
        for name in ("group", "system", "owner"):
            if not NUMBER.fullmatch(read[name]) and (name != "owner" or read[name] not in (MINE, NOBODY)):
                read[name] = ""
        return cls(**read)

    @property
    def presences(self) -> str:
        """The presence that is asked for, also where the address does not say."""
        return self.presence or (ANY if self.state in SETTLED or self.changed == "judged" else Presence.STANDING)

    @property
    def narrowed(self) -> bool:
        """Whether it asks for less than the list shows by itself."""
        return any(value for name, value in vars(self).items() if name != "sort")


@dataclass
class Counts:
    """How many findings each choice of a filter would show, with all other filters as they are."""

    total: int = 0
    severity: Counter[str] = field(default_factory=Counter)
    state: Counter[str] = field(default_factory=Counter)
    any_state: int = 0
    when: Counter[str] = field(default_factory=Counter)
    owner: Counter[int | None] = field(default_factory=Counter)
    """By the number of the owner."""
    anybody: int = 0
    """Whoever owns them."""


def listed(user: User, asked: Filter, now: datetime | None = None) -> QuerySet[TrackedFinding]:
    """The findings that are asked for, of the systems this person may see, in the order asked for."""
    found = _without_choices(user, asked, now or timezone.now())
    if asked.severity:
        found = found.filter(severity=SEVERITY.index(asked.severity))
    if asked.state:
        found = found.filter(state=asked.state)
    if asked.when:
        found = found.filter(when="" if asked.when == NO_STEP else asked.when)
    if asked.presences != ANY:
        found = found.filter(presence=asked.presences)
    if asked.owner:
        found = found.filter(owner=_owner(user, asked.owner))
    return found.order_by(*_order(asked))


def rows(numbers: Sequence[int]) -> list[TrackedFinding]:
    """The findings of a page by their numbers, in that order, with their systems and owners."""
    found = TrackedFinding.objects.select_related("system", "owner").defer("proof").in_bulk(numbers)
    return [found[pk] for pk in numbers if pk in found]


def counts(user: User, asked: Filter, now: datetime | None = None) -> Counts:
    """Count what each choice would show, by one grouped query, which an index answers (`findings_counted`).

    A choice of a state is counted with the presence that its link asks for: of proven findings the gone ones, too.
    """
    found = _without_choices(user, asked, now or timezone.now())
    if asked.q or asked.changed:  # rows are looked through once in their own order, then counted by the index
        found = TrackedFinding.objects.filter(pk__in=found.values("pk"))
    unsaid = replace(asked, state="").presences
    if unsaid != ANY:
        found = found.filter(Q(presence=unsaid) | Q(state__in=SETTLED))
    every = Count("pk")
    standing = every if unsaid == ANY else Count("pk", filter=Q(presence=unsaid))
    grouped = (
        found.order_by().values_list("severity", "state", "when", "owner").annotate(every=every, standing=standing)
    )
    return _rolled_up(grouped, asked, _owner(user, asked.owner) if asked.owner else None)


def _rolled_up(
    grouped: Iterable[tuple[int, str, str, int | None, int, int]], asked: Filter, wanted: int | None
) -> Counts:
    """Add up the groups: a group counts for a choice where it fits all other filters."""
    found = Counts()
    for level, state, when, owner, every, standing in grouped:
        here = every if asked.presences == ANY else standing
        of_level = asked.severity in ("", SEVERITY[level])
        of_state = asked.state in ("", state)
        of_when = asked.when in ("", when or NO_STEP)
        of_owner = not asked.owner or owner == wanted
        if of_level and of_state and of_when:
            found.anybody += here
            found.owner[owner] += here
            found.total += here if of_owner else 0
        if of_state and of_when and of_owner:
            found.severity[SEVERITY[level]] += here
        if of_level and of_state and of_owner:
            found.when[when or NO_STEP] += here
        if of_level and of_when and of_owner:
            found.any_state += standing
            found.state[state] += every if replace(asked, state=state).presences == ANY else standing
    return found


def open_count(user: User) -> int:
    """How many findings stand open, for the navigation of every page."""
    counts = SystemCounts.objects.all()
    if not user.is_administrator:
        counts = counts.filter(system__team__in=user.teams.order_by().values("pk"))
    return int(counts.aggregate(open=Sum("open", default=0))["open"])


def rules_seen(user: User) -> list[str]:
    """The ids of the rules that any finding is of."""
    found = TrackedFinding.objects.filter(system__in=systems_of(user).values("pk"))
    return list(found.order_by("rule").values_list("rule", flat=True).distinct())


def _without_choices(user: User, asked: Filter, now: datetime) -> QuerySet[TrackedFinding]:
    """What is asked for, apart from the filters whose choices are counted."""
    found = tracked_of(user)
    if asked.system:
        found = found.filter(system=int(asked.system))
    if asked.group:
        group = groups_of(user).filter(pk=int(asked.group))
        found = found.filter(system__in=System.objects.filter(groups__in=group).values("pk"))
    if asked.rule:
        found = found.filter(rule=asked.rule)
    if asked.changed:
        found = found.filter(changed_since(asked.changed, now - RECENT))
    if asked.product:
        found = found.filter(system__in=System.objects.filter(product=asked.product).values("pk"))
    for word in asked.q.split()[:WORDS]:
        named = Q(name__icontains=word) | Q(team__name__icontains=word)
        people = User.objects.filter(Q(username__icontains=word) | Q(name__icontains=word))
        found = found.filter(
            Q(title__icontains=word)
            | Q(subject__icontains=word)
            | Q(rule__icontains=word)
            | Q(system__in=systems_of(user).filter(named).values("pk"))
            | Q(owner__in=people.values("pk"))
        )
    return found


def changed_since(word: str, since: datetime) -> Q:
    """What is new, worse or judged since then.

    New is what a capture taken since then was the first to show. Worse is what a change made worse, and what was
    settled and is open again. Judged is what a capture said of a change.
    """
    if word == "new":
        return Q(first_seen__gte=since)
    if word == "worse":
        again = FindingEvent.objects.filter(tracked=OuterRef("pk"), at__gte=since, kind="state")
        back = Q(Exists(again.filter(text__startswith=REOPENED)), state=State.OPEN)
        return Q(state_since__gte=since) & (Q(state=State.WORSE) | back)  # in this order, so that an index serves
    return Q(state__in=(State.PROVEN, State.NO_EFFECT, State.WORSE), state_since__gte=since)


def _owner(user: User, owner: str) -> int | None:
    """The number of the owner that is asked for; `None` for nobody."""
    if owner == NOBODY:
        return None
    return user.pk if owner == MINE else int(owner)


def _rank(column: str, ranks: Mapping[Any, int]) -> Case:
    """Number the words of a column, so that they sort by what they mean; others come last."""
    cases = [When(**{column: word}, then=Value(rank)) for word, rank in ranks.items()]
    return Case(*cases, default=Value(len(ranks)), output_field=IntegerField())


def _order(asked: Filter) -> list[Any]:
    """The order of the rows; equal ones by what is worst, and at last by their number, so that pages hold still."""
    worst: list[Any] = ["-severity", F("processors").desc(nulls_last=True), "first_seen", "pk"]
    if not asked.column:
        return [_rank("state", STATE_RANK).asc(), *worst]
    whens = {word: rank for rank, word in enumerate(WHENS)}
    column: Any = {
        "severity": F("severity"),
        "finding": F("title"),
        "system": F("system__name"),
        "lost": F("processors"),
        "when": _rank("when", whens),
        "state": _rank("state", {word: rank for rank, word in enumerate(STATE_WORDS)}),
        "owner": F("owner__username"),
        "seen": F("first_seen"),
    }[asked.column]
    return [OrderBy(column, descending=asked.descending, nulls_last=True), *worst]


MOST_VIEWS = 30
"""Of one person: they stand in one row of the page (this project's figure)."""
LONGEST_NAME, LONGEST_QUERY = 80, 1000


def keep(user: User, name: str, query: str) -> SavedView:
    """Keep a filter under a name; one of this name is replaced. Raises `Refused`."""
    name = clean_text(name, LONGEST_NAME).strip()
    if not name:
        raise Refused("Give the view a name.")
    others = user.saved_views.exclude(name=name)
    if others.count() >= MOST_VIEWS:
        raise Refused(f"You have {MOST_VIEWS} views: remove one first.")
    wanted = Filter.read(QueryDict(query[:5000]).dict()).query()
    if len(wanted) > LONGEST_QUERY:
        raise Refused("That filter is too long to be kept: search for fewer words.")
    return SavedView.objects.update_or_create(user=user, name=name, defaults={"query": wanted})[0]
