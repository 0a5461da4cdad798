"""What the title of a load series says was on or off while it ran: `night batch, without DLM`."""

import re

DLM = r"DLM|dedicated lock manager"
SWITCHED = re.compile(
    rf"[\s,;:(-]*\b(?:(?P<word>with|without|no) (?:an? |the )?(?P<what>[A-Za-z][^,;()]{{0,60}})"
    rf"|(?P<dlm>{DLM}) (?P<state>on|off))\b\)?",
    re.IGNORECASE,
)
LONGEST = 200
"""Characters of a title that are looked at."""


def parted(title: str) -> tuple[str, re.Match[str] | None]:
    """The title without what was on or off, the last that it names, and where that stands; `None`: it names nothing."""
    flat = " ".join(title[:LONGEST].split())
    *_, switch = (None, *SWITCHED.finditer(flat))
    return (f"{flat[: switch.start()]} {flat[switch.end() :]}".strip() if switch else flat), switch
