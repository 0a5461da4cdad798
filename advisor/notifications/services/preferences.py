"""What a recipient of mail may wish for, checked, and in words."""

from typing import Any
from zoneinfo import available_timezones

from advisor.core.records import Refused
from advisor.notifications.models import Recipient
from advisor.uploads.services.uploads import clean_text

DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
LEVELS = {1: "note", 2: "advice", 3: "warning", 4: "critical"}


WORDS = {
    "reports": "reports",
    "severity": "from",
    "everything": "a report after every audit",
    "heartbeat": "nothing changed",
    "scripts": "scripts",
    "not_audited": "not audited",
    "digest": "weekly digest",
    "daily": "daily fleet mail",
    "days": "days",
    "zone": "time zone",
    "digest_day": "digest on",
    "digest_hour": "digest at",
}
"""The columns of `Recipient` that say what somebody wants to get, and what each is called in the journal."""


def check(wishes: Recipient) -> None:
    """Raise `Refused` for what cannot be wished for."""
    if not (wishes.reports or wishes.not_audited or wishes.digest or wishes.daily):
        raise Refused("Choose something to be sent: reports, the week, the day, or when a system is not audited.")
    if wishes.heartbeat and not wishes.reports:
        raise Refused("“Nothing changed” is sent in place of a report: choose reports, too.")
    if not wishes.days or not set(wishes.days) <= set(range(7)):
        raise Refused("Choose at least one day of the week.")
    if wishes.zone not in available_timezones():
        raise Refused(f"There is no time zone {clean_text(wishes.zone, 60)}: write one like Europe/Oslo.")
    if wishes.severity not in LEVELS or wishes.digest_day not in range(7) or wishes.digest_hour not in range(24):
        raise Refused("That level, day or hour does not exist.")


def in_words(wishes: Recipient) -> str:
    """What is wanted, on one line: `reports of changes from warning on, with scripts; when a system is not audited`."""
    said = []
    if wishes.reports:
        what = "after every audit" if wishes.everything else "of changes"
        scripts = ", with scripts" if wishes.scripts else ""
        said.append(f"reports {what} from {LEVELS[wishes.severity]} on{scripts}")
    if wishes.heartbeat:
        said.append("nothing changed")
    if wishes.not_audited:
        said.append("when a system is not audited")
    if wishes.digest:
        said.append(f"the week on {DAYS[wishes.digest_day]} at {wishes.digest_hour:02}:00 ({wishes.zone})")
    if wishes.daily:
        said.append(f"the day at {wishes.digest_hour:02}:00 ({wishes.zone})")
    if len(wishes.days) < len(DAYS) and (wishes.reports or wishes.not_audited or wishes.daily):
        said.append(f"on {', '.join(DAYS[day] for day in sorted(wishes.days))} ({wishes.zone})")
    return "; ".join(said)


def wanted_words(wishes: Recipient) -> dict[str, str]:
    """Each thing that can be wished for, in words."""
    return {word: _shown(name, getattr(wishes, name)) for name, word in WORDS.items()}


def _shown(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if name == "severity":
        return LEVELS[value]
    if name == "digest_day":
        return DAYS[value]
    return ",".join(DAYS[day] for day in sorted(value)) if name == "days" else str(value)
