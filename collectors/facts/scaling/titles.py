"""What the title of a load series says was on or off while it ran: `night batch, without DLM`."""

import re

DLM = r"DLM|dedicated lock manager"
THREADS = r"(?:hyper|co-?)?threads|hyperthreading|SMT"
SWITCHED = re.compile(
    rf"[\s,;:(-]*\b(?:(?P<word>with|without|no) (?:an? |the )?(?P<what>[A-Za-z][^,;()]{{0,60}})"
    rf"|(?P<dlm>{DLM}) (?P<state>on|off)|(?P<threads>{THREADS}) (?P<run>on|off)(?=\s*(?:[,;:()]|$)))\b\)?",
    re.IGNORECASE,
)
DATES = re.compile(
    r"[\s,;:(]*\b(?:\d{1,2}-[A-Z]{3}-\d{4}|\d{4}-\d{2}-\d{2}|\d{1,2}\.\d{1,2}\.\d{4})"
    r"(?: \d{1,2}:\d{2}(?::\d{2})?)?\b\)?",
    re.IGNORECASE,
)
"""When the runs were made: two series of one machine are never of one time."""
CPUS = re.compile(r"[\s,;:(]*\b\d{1,4}[ -](?:cpus?|processors?)\b\)?", re.IGNORECASE)
"""What OpenVMS took for CPUs, which threads bring with them; cores stay what they are."""
LONGEST = 200
"""Characters of a title that are looked at."""


def parted(title: str) -> tuple[str, re.Match[str] | None]:
    """The title without what was on or off, the last that it names, and where that stands; `None`: it names nothing.

    Without what differs between two runs of such a pair anyway, too: their dates and, with threads, the CPUs.
    """
    flat = " ".join(title[:LONGEST].split())
    *_, switch = (None, *SWITCHED.finditer(flat))
    if switch is None:
        return flat, None
    rest = DATES.sub("", f"{flat[: switch.start()]} {flat[switch.end() :]}")
    return (CPUS.sub("", rest) if of_threads(switch) else rest).strip(), switch


def of_threads(switch: re.Match[str]) -> bool:
    """Whether it is the threads of the cores that were on or off."""
    return bool(switch["threads"] or (switch["what"] and re.fullmatch(THREADS, switch["what"].strip(), re.IGNORECASE)))
