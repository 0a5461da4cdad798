"""The day of a fleet on one page: what it loses, what changed, and its worst systems, also for a manager.

The rows are few however many systems there are; the rest is counted. Counts are links to the lists of the service.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from advisor.audits.models import Audit
from advisor.core.models import Site
from advisor.findings.models import TrackedFinding
from advisor.findings.services import fleet
from advisor.findings.services.pages import verdicts_now, with_open
from advisor.notifications.mail.digest import headline, names_of, rank, snoozed_words
from advisor.notifications.mail.message import (
    LEVELS,
    Enclosed,
    ReportMessage,
    address,
    cut,
    one_line,
    write,
)
from advisor.notifications.models import Recipient
from advisor.notifications.services import subscribers
from advisor.systems.services import overview

MOST_ROWS = 20
"""Systems with a row of their own: what fits on a page."""
DAY = timedelta(days=1)
UNREAD = sorted({*overview.HEAVY, "latest__account"} - {"latest__summary"})
"""What of the newest audits is not read: of the summary a row tells the verdict."""
STATES = {
    TrackedFinding.State.OPEN: "findings open",
    TrackedFinding.State.ACCEPTED: "findings accepted",
    TrackedFinding.State.CHANGE_MADE: "changes waiting for proof",
}
"""The states that are counted, in words."""
CHANGES = {"new": "new findings", "worse": "findings worse or open again", "judged": "changes judged"}


@dataclass(frozen=True)
class Count:
    """A figure, what it counts, and the page that lists it."""

    count: int
    words: str
    address: str


@dataclass(frozen=True)
class Line:
    """One system."""

    name: str
    address: str
    worst: int
    """Of its open findings: 0 none, 1 note … 4 critical."""
    accepted: int
    headline: str
    lost: float | None
    """Processors lost; None: not measured."""
    change: float | None
    """More or less than the audit before this time; None: no newer audit, or not measured both times."""
    audited: bool
    remark: str
    """That it is snoozed, overdue or not audited."""

    @property
    def state(self) -> str:
        """Its worst open severity in a word."""
        return "never" if not self.audited else "accepted" if self.accepted and not self.worst else LEVELS[self.worst]


@dataclass(frozen=True)
class Lost:
    """What the systems lose together, as far as it is measured."""

    lost: float
    capacity: float
    measured: int
    """Systems whose newest audit measured it."""
    systems: int
    change: float
    """Of those with a newer audit that were measured both times."""
    compared: int
    """How many those are."""


def daily_message(recipient: Recipient, now: datetime) -> ReportMessage:
    """Make the day of the systems a recipient is about, since their last one or, for the first, since a day."""
    since = recipient.daily_told or now - DAY
    systems = with_open(subscribers.about(recipient)).select_related("team", "latest__capture__upload")
    rows = overview.rows(list(systems.defer(*UNREAD, *overview.HEAVY_CAPTURE)), since, now)
    rows.sort(key=lambda row: (*rank(row), row.system.name))
    tracked = TrackedFinding.objects.filter(system__in=[row.system.pk for row in rows])
    overdue = sum(row.not_audited for row in rows)
    rest = rows[MOST_ROWS:]
    verdicts = verdicts_now(row.audit for row in rows[:MOST_ROWS] if row.audit)
    names = names_of(rows)
    context = {
        "team": cut(one_line(recipient.team.name, 80), 30),
        "since": since,
        "now": now,
        "systems": len(rows),
        "worst": overview.tally(rows).words,
        "lost": _lost(rows),
        "changes": _changes(fleet.changed_of(tracked, since)),
        "overdue": Count(overdue, "systems overdue or not audited", address("overview") + "?only=not_audited"),
        "states": _states(rows),
        "snoozed": snoozed_words(rows, names),
        "lines": [_line(row, names, verdicts) for row in rows[:MOST_ROWS]],
        "more": len(rest),
        "more_worst": overview.tally(rest).words,
        "address": address("overview"),
    }
    headers = {"X-Lockwright-Kind": "daily", "X-Lockwright-Team": recipient.team.name}
    thread = f"daily.{recipient.pk}"
    return write("daily", recipient, context, Site.get(), thread=thread, headers=headers, enclosed=Enclosed())


def _measured(audit: Audit | None) -> float | None:
    """What an audit lost of a capacity that it knows."""
    return audit.processors_lost if audit and audit.capacity else None


def _change(row: overview.Row) -> float | None:
    now, then = _measured(row.audit), _measured(row.before)
    return None if now is None or then is None else now - then


def _lost(rows: Sequence[overview.Row]) -> Lost:
    measured = [row.audit for row in rows if row.audit and _measured(row.audit) is not None]
    changes = [change for row in rows if (change := _change(row)) is not None]
    return Lost(
        sum(one.processors_lost or 0.0 for one in measured),
        sum(one.capacity or 0.0 for one in measured),
        len(measured),
        len(rows),
        sum(changes),
        len(changes),
    )


def _changes(found: Mapping[str, fleet.Changed]) -> list[Count]:
    return [
        Count(found[word].count, words, f"{address('findings')}?{found[word].query}") for word, words in CHANGES.items()
    ]


def _states(rows: Iterable[overview.Row]) -> list[Count]:
    """How many findings stand in the states that somebody has to know of."""
    together = sum((row.states for row in rows), Counter[str]())
    return [Count(together[state], words, f"{address('findings')}?state={state}") for state, words in STATES.items()]


def _line(row: overview.Row, names: Mapping[int, str], verdicts: Mapping[int, str]) -> Line:
    audit, system = row.audit, row.system
    if row.snoozed:
        remark = f"snoozed until {system.snoozed_until}"
    else:
        remark = "not audited" if system.troubled else "overdue" if row.overdue else ""
    return Line(
        name=names[system.pk],
        address=address("system", system.pk),
        worst=row.worst or 0,
        accepted=row.accepted,
        headline=headline(audit, verdicts) if audit else "",
        lost=audit.processors_lost if audit else None,
        change=_change(row),
        audited=audit is not None,
        remark=remark,
    )
