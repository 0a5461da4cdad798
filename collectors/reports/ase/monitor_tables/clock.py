"""The time above the tables: `select getdate()`, alone or with `@@servername` and `@@boottime`, in any order."""

import re
from collections.abc import Sequence
from datetime import datetime

from collectors.layouts.dates import ANY, ambiguous, has_seconds, moment
from collectors.layouts.tables import key
from collectors.reports.ase.monitor_tables.cells import words
from collectors.reports.ase.monitor_tables.snapshots import Moment
from collectors.reports.ase.monitor_tables.subtracted import ENDS

TAKEN = (
    "sampletime", "sessionsampletime", "cmsampletime", "sampledate", "collecttime", "collectiontime", "collectdate",
    "snapshottime", "snapshotdate", "snaptime", "capturetime", "timestamp", "ts", "getdate", "currenttime", "now",
    "sampledat", "takenat", "capturedat", "collectedat", "measuredat", "snapshotat", "snapat", "polledat", *ENDS,
)  # fmt: skip
"""What tools and scripts call the time of a sample. Of several in one table the first of these counts."""
BOOTED = ("boottime", "boot", "bootdate", "booted", "serverstart", "serverstarttime", "startdate", "starttime")
CLEARED = ("counterscleared", "counterclear")
SAMPLE = "samplenumber"
"""What `collect --every` calls the number of a sample between two snapshots."""
SERVER = ("servername", "server", "srv", "srvname")
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_$#@.-]{0,29}")
"""30 characters are what `@@servername` holds."""
SAMPLE_NUMBER = re.compile(r"[0-9]{1,6}")
MOST_COLUMNS = 6

_TIMES = (
    "(?:session|cm)?_?sample_?(?:time|date)|collect(?:ion)?_?(?:time|date)|snap(?:shot)?_?(?:time|date|at)|capture_?time"
    "|(?:sampled|taken|captured|collected|measured|polled)_?at"
)
_OTHERS = "sample_?number|server(?:_?name)?|srv_?name|boot_?(?:time|date)|counters_?cleared"
HEADING = (
    rf"^(?=.{{0,400}}\b(?:{_TIMES})\b)[\W_]{{0,400}}(?:\b(?:{_TIMES}|{_OTHERS}|version|edition|product)\b[\W_]{{0,400}})"
    r"{1,6}$"
)
"""A line of nothing but such names, one of them a time."""
ALONE = rf"^(?=[^:]{{0,200}}:)\s{{0,80}}+[\"'|]?+\s{{0,40}}+(?:{ANY})\s{{0,40}}[\"'|]?\s{{0,80}}$"
"""A line of nothing but a date with its time."""
DATE_ALONE = re.compile(ALONE, re.IGNORECASE)
NAMED = re.compile(
    rf"\s{{0,10}}[\"']?(?:(?:sample|snapshot|snap)?_?(?:time|date)|timestamp|ts)[\"']?\s{{0,4}}[;,|\t=]\s{{0,4}}[\"']?(?P<time>{ANY})[\"']?\s{{0,10}}",
    re.IGNORECASE,
)
"""A line of nothing but a time and what it is called: `TIME;Apr 22 2026 10:00:00AM`."""
QUESTION = (
    r"^(?!.{0,60}(?:\binsert\b|(?<!@)@\w{1,30}\s{0,9}=))"
    r".{0,80}\bselect\b(?!.{0,400}@@version).{0,400}\bgetdate\s{0,3}\(\s{0,3}\)"
)
"""No row is printed where the time is inserted, or goes into a variable, as in the text of a procedure."""


DOUBT = "day and month of the time cannot be told apart, so it was not read: use another format"
_HEADING = re.compile(HEADING, re.IGNORECASE)


def is_heading(text: str, heads: Sequence[str]) -> bool:
    """Whether a line above the row that says the time is part of its heading: `heads`, blank, or names a time."""
    return not text or text in heads or _HEADING.match(text) is not None


def may_be_clock(columns: Sequence[str]) -> bool:
    """Whether a result set with these columns may say the time."""
    if len(columns) > MOST_COLUMNS:
        return False
    known = {*TAKEN, *BOOTED, *CLEARED, *SERVER, SAMPLE, ""}
    return len(columns) == 1 or all(key(column) in known for column in columns)


def read_clock(columns: Sequence[str], cells: Sequence[str]) -> tuple[Moment | None, bool]:
    """Read its row: what it says, if it says a time; and whether a time was left out because it is ambiguous."""
    found = Moment()
    unnamed: list[tuple[datetime, bool]] = []
    doubt = False
    for column, cell in zip(map(key, columns), map(str.strip, cells), strict=False):
        if column == SAMPLE:
            found.sample = int(cell) if SAMPLE_NUMBER.fullmatch(cell) else None
            continue
        when = moment(cell)
        if when is None:
            doubt = doubt or ambiguous(cell)
            name = words(cell)
            if name and NAME.fullmatch(name) and (column in SERVER or not column):
                found.server = name
        elif column in BOOTED:
            found.booted = when
        elif column in CLEARED:
            found.cleared = when
        else:
            unnamed.append((when, has_seconds(cell)))
    if unnamed:  # of two without a name the later one is the present
        found.taken, found.in_full = max(unnamed)
        if len(unnamed) > 1:
            found.booted = found.booted or min(unnamed)[0]
    told = found.taken or found.booted or found.cleared
    return (found if told else None), doubt
