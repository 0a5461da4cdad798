"""The week of a fleet, a line a system, for somebody who need not know what a spinlock is."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from advisor.audits.models import Audit
from advisor.audits.report.render import PRODUCT_NAMES
from advisor.core.jinja import counted
from advisor.core.models import Site
from advisor.findings.services.pages import verdicts_now, with_open
from advisor.notifications.mail.message import (
    LEVELS,
    Enclosed,
    ReportMessage,
    address,
    cut,
    one_line,
    write,
)
from advisor.notifications.mail.pictures import draw
from advisor.notifications.models import Recipient
from advisor.notifications.services import subscribers
from advisor.schedules.services import failures
from advisor.schedules.services.failures import Missing
from advisor.systems.services import overview

ROOM = 18
"""Columns of what changed, in the text part."""
WEEK = timedelta(days=7)
MOST_LINES = 300
"""Systems in a digest; the page has them all."""
MOST_TRENDS = 60
"""Of them with a picture: those that come first."""
MOST_SNOOZED = 10
"""Snoozed systems that a mail names; the others are counted."""
SIGNS = {"new": "+", "worse": "^", "better": "v", "gone": "-", "limits": "~", "not_judged": "?"}
"""For the words of a difference, in the column of a digest."""


HEAVY = sorted({*overview.HEAVY, "latest__account"} - {"latest__summary"})
"""What of the newest audits is not read: of the summary a line tells the verdict."""


@dataclass(frozen=True)
class Line:
    """One system."""

    key: str
    """The name of its trend among the pictures."""
    name: str
    address: str
    worst: int
    """Of its open findings: 0 none, 1 note … 4 critical."""
    accepted: int
    """How many findings are."""
    headline: str
    changed: str
    """What changed since the last digest, in numbers; empty: nothing."""
    signs: str
    """The same as short as can be, `+1 ^1 -2`."""
    lost: float | None
    """Processors lost; None where nobody can tell."""
    taken: datetime | None
    """When its newest capture was taken; None: it was never audited."""
    unjudged: int
    """Rules that could not judge it."""
    trend: Sequence[float | None]
    trend_of: str
    """What the trend is of: `processors lost` or `worst severity`."""
    silent_since: datetime | None
    """Since when it is not audited although it should be."""
    why: str

    @property
    def state(self) -> str:
        """Its worst open severity in a word."""
        return "never" if self.taken is None else "accepted" if self.accepted and not self.worst else LEVELS[self.worst]

    @property
    def going(self) -> str:
        """Where its trend leads: the newest figure against the oldest known, `up`, `down`, `level` or nothing.

        Less is no improvement where rules could not judge: then it leads nowhere.
        """
        known = [value for value in self.trend if value is not None]
        if len(known) < 2:
            return ""
        if known[-1] < known[0]:
            return "" if self.unjudged else "down"
        return "up" if known[-1] > known[0] else "level"

    @property
    def more(self) -> str:
        """What the second line of the text says: changes that the column has no room for, not judged, the finding."""
        long = f"changed {self.signs}" if len(self.signs) > ROOM else ""
        blind = f"not judged {self.unjudged}" if self.unjudged else ""
        return "; ".join(part for part in (long, blind, self.headline) if part)


@dataclass(frozen=True)
class Contents:
    """What a digest tells."""

    since: datetime
    now: datetime
    lines: Sequence[Line]
    more: int
    """Systems that are on the page alone."""
    systems: int
    tally: overview.Tally
    """How many systems are how ill."""
    changed: int
    new: int
    """Systems first seen in this time; they count as changed no more."""
    silent: int
    schedules: Sequence[tuple[str, datetime, str]]
    """Schedules that bring nothing although they should, since when and why, where no system is known."""
    accepted: int
    """Findings that stand and are accepted: they are counted apart from what is open."""
    snoozed: str
    """Systems that are snoozed, in words; empty: none is."""
    address: str


def digest_message(recipient: Recipient, now: datetime) -> ReportMessage:
    """Make the week of the fleet: a line a system, those that are not audited first, then the worst."""
    since = recipient.digest_told or now - WEEK
    concerned = subscribers.about(recipient)
    known = set(concerned.values_list("pk", flat=True))
    missing = [one for one in failures.not_audited(recipient.team, now) if is_for(one, recipient, known)]
    silent = {one.system.pk: one for one in missing if one.system}
    systems = with_open(concerned).select_related("team", "latest__capture__upload")
    systems = systems.defer(*HEAVY, *overview.HEAVY_CAPTURE)
    rows = overview.rows(list(systems), since, now)
    rows.sort(key=lambda row: (row.system.pk not in silent, *rank(row), row.system.name))
    verdicts = verdicts_now(row.audit for row in rows[:MOST_LINES] if row.audit)
    names = names_of(rows)
    lines = [_line(row, names, silent.get(row.system.pk), verdicts) for row in rows[:MOST_LINES]]
    told = Contents(
        since=since,
        now=now,
        lines=lines,
        more=max(0, len(rows) - MOST_LINES),
        systems=len(rows),
        tally=overview.tally(rows),
        changed=sum(bool(row.changed) and not row.new for row in rows),
        new=sum(row.new for row in rows),
        silent=len(silent),
        schedules=[(one.schedule.name, one.since, one.why) for one in missing if one.schedule and not one.system],
        accepted=sum(row.accepted for row in rows),
        snoozed=snoozed_words(rows, names),
        address=address("overview"),
    )
    trends = [(line.key, row.line) for line, row in zip(lines, rows, strict=False)][:MOST_TRENDS]
    drawn = {key: draw(key, svg) for key, svg in trends if svg}
    enclosed = Enclosed({key: picture for key, picture in drawn.items() if picture})
    context = {
        "told": told,
        "team": cut(one_line(recipient.team.name, 80), 30),
        "counts": ", ".join(told.tally.loud),
        "nothing": _nothing(told),
        "room": ROOM,
    }
    thread = f"digest.{recipient.pk}"
    headers = {"X-Lockwright-Kind": "digest", "X-Lockwright-Team": recipient.team.name}
    return write("digest", recipient, context, Site.get(), thread=thread, headers=headers, enclosed=enclosed)


def names_of(rows: Iterable[overview.Row]) -> dict[int, str]:
    """What each system is called, by its number: with its product where several of one list have one name."""
    systems = [row.system for row in rows]
    shared = Counter(one.name for one in systems)
    return {
        one.pk: one.name if shared[one.name] == 1 else f"{one.name} ({PRODUCT_NAMES.get(one.product, one.product)})"
        for one in systems
    }


def snoozed_words(rows: Sequence[overview.Row], names: Mapping[int, str]) -> str:
    """Which systems are snoozed until when, the first to end first, on one line; empty: none is."""
    found = sorted((row.system.snoozed_until, names[row.system.pk]) for row in rows if row.snoozed)
    if not found:
        return ""
    named = [f"{cut(one_line(name, 120), 40)} until {until}" for until, name in found[:MOST_SNOOZED]]
    more = len(found) - len(named)
    return ", ".join(named) + (f" and {counted(more, 'other')}." if more else ".")


def _nothing(told: Contents) -> str:
    """What the subject says where no system has a finding."""
    if told.tally.never == told.systems:
        return "none audited"
    if told.tally.accepted:
        return "nothing open"
    return "nothing found, not all judged" if told.tally.not_all_judged else "no findings"


def is_for(missing: Missing, recipient: Recipient, known: set[int]) -> bool:
    """Whether this recipient is concerned; a schedule without a system concerns those who are told of every system."""
    if missing.system:
        return missing.system.pk in known
    return not subscribers.choosing().filter(pk=recipient.pk).exists()


def _signs(changed: overview.Difference) -> str:
    return " ".join(f"{sign}{len(keys)}" for word, sign in SIGNS.items() if (keys := getattr(changed, word)))


def rank(row: overview.Row) -> tuple[int, float]:
    """Sort by this: the worst open finding first, of equal ones what loses most; never audited ones last."""
    return (-(row.worst or 0), -(row.audit.processors_lost or 0.0)) if row.audit else (1, 0.0)


def headline(audit: Audit, verdicts: Mapping[int, str]) -> str:
    """The verdict of an audit that found something, or its worst finding where it has no verdict yet; else nothing.

    `verdicts`: those of today (`verdicts_now`).
    """
    return (verdicts.get(audit.pk) or audit.headline) if audit.headline else ""


def _line(row: overview.Row, names: Mapping[int, str], missing: Missing | None, verdicts: Mapping[int, str]) -> Line:
    audit = row.audit
    return Line(
        key=f"trend{row.system.pk}",
        name=names[row.system.pk],
        address=address("system", row.system.pk),
        worst=row.worst or 0,
        accepted=row.accepted,
        headline=headline(audit, verdicts) if audit else "",
        changed=str(row.changed) if row.changed else "new" if row.new else "",
        signs=_signs(row.changed) if row.changed else "new" if row.new else "",
        lost=audit.processors_lost if audit else None,
        taken=audit.capture.taken if audit else None,
        unjudged=len(audit.unjudged) if audit else 0,
        trend=row.trend,
        trend_of=row.trend_of,
        silent_since=missing.since if missing else None,
        why=missing.why if missing else "",
    )
