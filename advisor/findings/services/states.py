"""What people decide about findings: accept until a day, plan, say that the change was made, reopen, assign, comment.

Each verb takes the person and the numbers (`TrackedFinding.pk`) of one finding or many. What the person may not see is
left out, as if it were not there; where one is of a team that they may not work for, nothing is done
(`PermissionDenied`). Each is written into the activity of the finding and, once a system, into the journal. A verb
gives how many it changed.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Case, F, Q, QuerySet, Value, When
from django.http import HttpRequest
from django.utils import timezone

from advisor.accounts.models import Role, Team, User
from advisor.audits.models import Finding
from advisor.core import journal
from advisor.core.access import may_work_for, tracked_of
from advisor.core.records import Refused
from advisor.findings.models import FindingEvent, SystemCounts, TrackedFinding
from advisor.findings.services import tracking
from advisor.systems.models import System
from advisor.uploads.services.uploads import clean_text

State = TrackedFinding.State
MOST_AT_ONCE = 1000
"""Findings that one act may be about (this project's figure)."""
LONGEST_WHY, LONGEST_COMMENT = 500, 2000
MOST_BACK_IF = 10.0
"""Worse by ten times: beyond it a finding would not come back for its figure at all."""
MADE = "made the change"
"""How the activity begins where a person said so."""
DECIDED = ("state", "state_since", "state_by", "state_until", "state_why", "state_value", "state_severity")
WRITTEN = (*DECIDED, "back_if", "before", "proof", "to_judge")


def accepted_now() -> Q:
    """The findings that are accepted today: the sweep of the minute may not have ended an acceptance yet."""
    return Q(state=State.ACCEPTED) & (Q(state_until=None) | Q(state_until__gte=timezone.localdate()))


def state_now() -> Case:
    """The state of findings for a query: what is accepted until a day that has passed is open."""
    over = When(state=State.ACCEPTED, state_until__lt=timezone.localdate(), then=Value(State.OPEN.value))
    return Case(over, default=F("state"))


def accept(
    by: User,
    findings: Iterable[int],
    until: date | None,
    why: str,
    back_if: float = 0.25,
    *,
    request: HttpRequest | None = None,
) -> int:
    """Accept findings until the end of a day, by the site's clock, for a reason. Raises `Refused`.

    They are open again when that day has passed, or when a figure is worse by more than the share `back_if`.
    """
    why = clean_text(why, LONGEST_WHY)
    if not why:
        raise Refused("Say why it is accepted: the reason stands beside the finding.")
    if until is None or until <= timezone.localdate():
        raise Refused("Choose a day in the future until which it is accepted.")
    if not 0 <= back_if <= MOST_BACK_IF:  # as false for what is no number
        raise Refused(f"Give the share by which it may get worse as 0 to {MOST_BACK_IF:g}: 0.25 is a quarter.")
    with acted(by, findings, "finding accepted", f"until {until}: {why}", request) as act:
        for row in act.rows:
            _put(row, State.ACCEPTED, by, why)
            row.state_until, row.back_if = until, back_if
            act.tell(row, "state", f"accepted it until {until}, back if worse by {100 * back_if:.4g} %\n{why}")
    return len(act.rows)


def plan(by: User, findings: Iterable[int], why: str = "", *, request: HttpRequest | None = None) -> int:
    """Note that the change is planned; `why` may name the change order or the day."""
    return _decide(by, findings, State.PLANNED, "planned the change", "finding planned", why, request)


def change_made(by: User, findings: Iterable[int], why: str = "", *, request: HttpRequest | None = None) -> int:
    """Note that the change was made just now: captures that begin later are held against the last that shows it."""
    return _decide(by, findings, State.CHANGE_MADE, MADE, "finding change made", why, request)


def reopen(by: User, findings: Iterable[int], why: str = "", *, request: HttpRequest | None = None) -> int:
    """Have findings open again."""
    return _decide(by, findings, State.OPEN, "opened it again", "finding reopened", why, request)


def assign(by: User, findings: Iterable[int], owner: User | None, *, request: HttpRequest | None = None) -> int:
    """Give findings to a person, or to nobody. Raises `Refused` where that person may not work for the team."""
    to = owner.username if owner else "nobody"
    with acted(by, findings, "finding assigned", f"to {to}", request, ("owner",)) as act:
        if owner is not None:
            for team in {row.system.team for row in act.rows}:
                if not (owner.is_active and may_work_for(owner, team)):
                    raise Refused(f"{owner.username} may not work for the team {team}: choose somebody who may.")
        for row in act.rows:
            row.owner = owner
            act.tell(row, "owner", f"assigned it to {to}")
    return len(act.rows)


def comment(by: User, findings: Iterable[int], text: str, *, request: HttpRequest | None = None) -> int:
    """Write a comment; line ends become plain ones. Raises `Refused` where it is empty or too long."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").strip()
    if not text:
        raise Refused("Write something.")
    if len(text) > LONGEST_COMMENT:
        raise Refused(f"A comment has at most {LONGEST_COMMENT:,} characters.")
    with acted(by, findings, "finding commented", "", request, ()) as act:
        for row in act.rows:
            act.tell(row, "comment", text)
    return len(act.rows)


def owners_for(team: Team) -> QuerySet[User]:
    """The people a finding of this team may be given to."""
    may = Q(role=Role.ADMINISTRATOR) | Q(role=Role.DBA, teams=team)
    return User.objects.filter(may, is_active=True).distinct().order_by("username")


def end_acceptances() -> int:
    """Open what was accepted until a day that has passed; gives how many. Every minute, by the scheduler."""
    SystemCounts.recount_lapsed()
    over = TrackedFinding.objects.filter(state=State.ACCEPTED, state_until__lt=timezone.localdate())
    if not over.exists():
        return 0
    with transaction.atomic():
        rows = list(over.select_for_update().order_by("pk")[:MOST_AT_ONCE])
        events = [tracking.reopened(row, f"accepted until {row.state_until}: that day has passed") for row in rows]
        TrackedFinding.objects.bulk_update(rows, DECIDED, batch_size=100)
        FindingEvent.objects.bulk_create(events)
    return len(rows)


def _decide(
    by: User,
    findings: Iterable[int],
    state: str,
    said: str,
    action: str,
    why: str,
    request: HttpRequest | None,
) -> int:
    """Give findings a state."""
    why = clean_text(why, LONGEST_WHY)
    with acted(by, findings, action, why, request) as act:
        shown = Finding.objects.filter(pk__in=[row.finding_id for row in act.rows if row.finding_id])
        captures = dict(shown.values_list("pk", "audit__capture")) if state == State.CHANGE_MADE else {}
        for row in act.rows:
            _put(row, state, by, why)
            row.before_id = captures.get(row.finding_id or 0)
            act.tell(row, "state", f"{said}\n{why}" if why else said)
    return len(act.rows)


def _put(row: TrackedFinding, state: str, by: User, why: str) -> None:
    tracking.put(row, state)
    row.state_by, row.state_why = by, why
    row.before, row.proof, row.to_judge = None, {}, False


@dataclass
class Act:
    """One act of a person about findings."""

    by: User
    rows: list[TrackedFinding]
    events: list[FindingEvent] = field(default_factory=list)

    def tell(self, row: TrackedFinding, kind: str, text: str) -> None:
        """Add an entry to the activity of one."""
        self.events.append(
            FindingEvent(tracked=row, by=self.by, who=self.by.username, kind=kind, text=text, value=row.value)
        )


@contextmanager
def acted(
    by: User,
    findings: Iterable[int],
    action: str,
    what: str,
    request: HttpRequest | None,
    written: Iterable[str] = WRITTEN,
) -> Iterator[Act]:
    """Hold the findings, let the caller change them, and write rows, activity and journal in one transaction."""
    numbers = list(dict.fromkeys(findings))
    if len(numbers) > MOST_AT_ONCE:
        raise Refused(f"More than {MOST_AT_ONCE:,} findings at once: choose fewer.")
    with transaction.atomic():
        held = tracked_of(by).filter(pk__in=numbers).select_for_update(of=("self",)).order_by("pk")
        act = Act(by, list(held.select_related("system__team")))
        if not all(may_work_for(by, team) for team in {row.system.team for row in act.rows}):
            raise PermissionDenied("Your role reads. Ask an administrator for the role of a DBA.")
        yield act
        if written and act.rows:
            TrackedFinding.objects.bulk_update(act.rows, written, batch_size=100)
        FindingEvent.objects.bulk_create(act.events)
        by_system: dict[System, list[str]] = {}
        for row in act.rows:
            by_system.setdefault(row.system, []).append(row.title)
        for system, titles in by_system.items():
            told = titles[0] if len(titles) == 1 else f"{len(titles)} findings, {titles[0]}"
            journal.note(by, action, f"{told}{f': {what}' if what else ''}", system=system, request=request)
