"""What a recipient of mail may wish for, checked, and in words."""

from dataclasses import dataclass, fields
from typing import Any
from zoneinfo import available_timezones

from advisor.models import Recipient
from advisor.services.uploads import clean_text

DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
LEVELS = {1: "note", 2: "advice", 3: "warning", 4: "critical"}


class Refused(ValueError):
    """What is not done, and why, for the person who asked."""


@dataclass(frozen=True)
class Wishes:
    """What a recipient wants to get; the columns of `Recipient` say what each means."""

    reports: bool = True
    severity: int = 3
    everything: bool = False
    heartbeat: bool = False
    scripts: bool = True
    not_audited: bool = True
    digest: bool = False
    days: tuple[int, ...] = tuple(range(7))
    zone: str = "UTC"
    digest_day: int = 0
    digest_hour: int = 7


WORDS = {
    "reports": "reports",
    "severity": "from",
    "everything": "a report after every audit",
    "heartbeat": "nothing changed",
    "scripts": "scripts",
    "not_audited": "not audited",
    "digest": "weekly digest",
    "days": "days",
    "zone": "time zone",
    "digest_day": "digest on",
    "digest_hour": "digest at",
}


def wishes_of(recipient: Recipient) -> Wishes:
    """Give what a recipient gets now."""
    values = {field.name: getattr(recipient, field.name) for field in fields(Wishes)}
    return Wishes(**{**values, "days": tuple(sorted(recipient.days))})


def check(wishes: Wishes) -> None:
    """Raise `Refused` for what cannot be wished for."""
    if not (wishes.reports or wishes.not_audited or wishes.digest):
        raise Refused("Choose something to be sent: reports, the week, or when a system is not audited.")
    if wishes.heartbeat and not wishes.reports:
        raise Refused("“Nothing changed” is sent in place of a report: choose reports, too.")
    if not wishes.days or not set(wishes.days) <= set(range(7)):
        raise Refused("Choose at least one day of the week.")
    if wishes.zone not in available_timezones():
        raise Refused(f"There is no time zone {clean_text(wishes.zone, 60)}: write one like Europe/Oslo.")
    if wishes.severity not in LEVELS or wishes.digest_day not in range(7) or wishes.digest_hour not in range(24):
        raise Refused("That level, day or hour does not exist.")


def in_words(wishes: Wishes) -> str:
    """What is wanted, on one line: `reports of changes from warning on, with scripts; not audited`."""
    said = []
    if wishes.reports:
        what = "after every audit" if wishes.everything else "of changes"
        scripts = ", with scripts" if wishes.scripts else ""
        said.append(f"reports {what} from {LEVELS[wishes.severity]} on{scripts}")
    if wishes.heartbeat:
        said.append("nothing changed")
    if wishes.not_audited:
        said.append("not audited")
    if wishes.digest:
        said.append(f"the week on {DAYS[wishes.digest_day]} at {wishes.digest_hour:02}:00 ({wishes.zone})")
    if len(wishes.days) < len(DAYS) and (wishes.reports or wishes.not_audited):
        said.append(f"on {', '.join(DAYS[day] for day in wishes.days)} ({wishes.zone})")
    return "; ".join(said)


def changed(before: Wishes, after: Wishes) -> list[str]:
    """What of it changed, in words."""
    said = []
    for name, word in WORDS.items():
        old, new = getattr(before, name), getattr(after, name)
        if old != new:
            said.append(f"{word} {_shown(name, old)} to {_shown(name, new)}")
    return said


def _shown(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if name == "severity":
        return LEVELS[value]
    if name == "digest_day":
        return DAYS[value]
    return ",".join(DAYS[day] for day in value) if name == "days" else str(value)
