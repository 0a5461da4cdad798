"""Points in time as ASE and the tools around it print them: `Nov 21 2026 10:15:12:123AM`, `2026-11-21 10:15:12.123`.

ASE parts the milliseconds by a colon, the day is padded by a blank (ase-formats.md 3.7 [R]). ISO with a blank or a T,
and `21.11.2026 10:15:12`, come from tools. No export names a zone, so the times have none; an offset of an ISO time is
read over, because all times of one export have the same. `03/04/2026` may be March or April: it is not guessed.
"""

import re
from datetime import datetime

MONTHS = {
    name: number
    for number, name in enumerate(
        ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), start=1
    )
}
CLOCK = (
    r"(?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2})(?:[:.,](?P<fraction>[0-9]{1,9}))?)?"
    r"\s?(?P<half>[AP]M)?"
)
NAMED = rf"(?P<month>[A-Z][a-z]{{2}})\s{{1,2}}(?P<day>[0-9]{{1,2}}),?\s{{1,2}}(?P<year>[0-9]{{4}})\s{{1,2}}{CLOCK}"
ISO = (
    rf"(?P<year>[0-9]{{4}})[-/](?P<month>[0-9]{{2}})[-/](?P<day>[0-9]{{2}})(?:T|\s{{1,2}}){CLOCK}"
    r"(?:Z|\s?[-+][0-9]{2}:?[0-9]{2})?"
)
POINTS = rf"(?P<day>[0-9]{{1,2}})\.(?P<month>[0-9]{{1,2}})\.(?P<year>[0-9]{{4}}),?\s{{1,2}}{CLOCK}"
SLASHES = rf"(?P<day>[0-9]{{1,2}})/(?P<month>[0-9]{{1,2}})/(?P<year>[0-9]{{4}}),?\s{{1,2}}{CLOCK}"
FORMS = tuple(re.compile(form, re.IGNORECASE) for form in (NAMED, ISO, POINTS, SLASHES))
ANY = re.sub(r"\?P<[a-z]+>", "?:", "|".join(f"(?:{form})" for form in (NAMED, ISO, POINTS, SLASHES)))
"""Any of them, to be built into another pattern; it has no groups."""
LONGEST = 40


def moment(text: str) -> datetime | None:
    """Read a date with its time of day; `None` for anything else, and for an order of day and month that is a guess."""
    text = text.strip()
    found = _match(text)
    if found is None or (found.re is FORMS[3] and _either(found)):
        return None
    said = found.groupdict()
    month = MONTHS.get(said["month"].lower()) if said["month"][0].isalpha() else int(said["month"])
    day = int(said["day"])
    if found.re is FORMS[3] and month and month > 12:
        day, month = month, day
    hour = int(said["hour"])
    if said["half"]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if said["half"].upper() == "PM" else 0)
    fraction = int((said["fraction"] or "0").ljust(6, "0")[:6])
    try:
        return datetime(  # noqa: DTZ001 - the export has no zone
            int(said["year"]), month or 0, day, hour, int(said["minute"]), int(said["second"] or 0), fraction
        )
    except ValueError:
        return None


def has_seconds(text: str) -> bool:
    """Whether a point in time is printed with its seconds."""
    found = _match(text.strip())
    return found is not None and found["second"] is not None


def ambiguous(text: str) -> bool:
    """Whether this is a point in time of which nobody can tell day and month."""
    found = _match(text.strip())
    return found is not None and found.re is FORMS[3] and _either(found)


def _match(text: str) -> re.Match[str] | None:
    if len(text) > LONGEST:
        return None
    return next((found for form in FORMS if (found := form.fullmatch(text))), None)


def _either(found: re.Match[str]) -> bool:
    """Whether day and month could change places and give another date."""
    day, month = int(found["day"]), int(found["month"])
    return day <= 12 and month <= 12 and day != month
