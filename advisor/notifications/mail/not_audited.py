"""The mail that systems are not audited any more: since when, why, and what to do."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from advisor.core.models import Site
from advisor.notifications.mail.message import (
    LONGEST_NAME,
    Enclosed,
    ReportMessage,
    address,
    cut,
    one_line,
    thread_of,
    write,
)
from advisor.notifications.mail.report import counted, taken_at
from advisor.notifications.models import Recipient
from advisor.schedules.models import Schedule
from advisor.schedules.services.failures import Missing
from advisor.systems.models import System

MOST_SILENT = 50
"""Told of in one mail."""


@dataclass(frozen=True)
class Last:
    """The last audit there was."""

    taken: str
    found: str
    """Findings by severity; empty for none."""
    address: str


@dataclass(frozen=True)
class Silent:
    """One system, or one schedule whose systems nobody knows, that brings no audit any more."""

    name: str
    kind: str
    """`system` or `schedule`."""
    since: datetime
    why: str
    do: str
    schedule: str
    """The schedule that failed; empty: none is known, or it is what is told of."""
    address: str
    last: Last | None
    upload: str = ""
    """The address of the upload that could not be read; empty: it is none that failed."""


def not_audited_message(recipient: Recipient, missing: Missing | Sequence[Missing]) -> ReportMessage:
    """Make the mail that a system, or what a schedule brings, is not audited any more; or several at once."""
    several = [missing] if isinstance(missing, Missing) else list(missing)
    silent = [_silent(one) for one in several[:MOST_SILENT]]
    alone, first = len(several) == 1, silent[0]
    about = several[0].system or several[0].schedule
    context = {
        "silent": silent,
        "more": len(several) - len(silent),
        "first": first,
        "alone": alone,
        "name": cut(one_line(first.name if alone else recipient.team.name, 120), LONGEST_NAME),
        "address": address("overview"),
    }
    headers = {"X-Lockwright-Kind": "not-audited"}
    if alone:
        headers[f"X-Lockwright-{first.kind.capitalize()}"] = first.name
    thread = thread_of(about, recipient) if about and alone else f"silent.{recipient.pk}"
    return write("not_audited", recipient, context, Site.get(), thread=thread, headers=headers, enclosed=Enclosed())


def _last(system: System | None) -> Last | None:
    """The last audit there was of a system."""
    if system is None or system.latest is None:
        return None
    audit = system.latest
    return Last(taken_at(audit.capture), counted(audit, 1), address("audit", audit.pk))


def _silent(missing: Missing) -> Silent:
    system, schedule = missing.system, missing.schedule
    return Silent(
        name=missing.name,
        kind="system" if system else "schedule",
        since=missing.since,
        why=missing.why,
        do=missing.do,
        schedule=schedule.name if schedule and system else "",
        address=_page(system, schedule),
        upload=address("upload-show", missing.upload) if missing.upload else "",
        last=_last(system),
    )


def _page(system: System | None, schedule: Schedule | None) -> str:
    if system:
        return address("system", system.pk)
    return address("schedule", schedule.pk) if schedule else address("overview")
