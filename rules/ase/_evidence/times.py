"""What time the counters of SAP ASE's monitoring tables cover, in words, and how sure a rate of them is.

Four things are told apart: an interval of known length; one whose length is known within a minute, because both times
were printed without seconds; one of unknown length; and totals, of which the export may or may not say since when.
"""

from collectors.facts.ase import SysmonSample
from collectors.facts.counted import Counted
from rules.finding import MissingInput, Unknown

MOST_UNSURE = 0.5
"""This project: an interval known to half of its length either way still tells whether a rate is far from a limit;
two minutes, printed to the minute, are one to three."""
IN_FULL = "print times with their seconds, by select convert(char(26), getdate(), 109) SampleTime"
UNDATED = (
    "The two snapshots have no times, so neither their distance nor a restart between them is known (put select "
    "@@servername ServerName, convert(char(26), getdate(), 109) SampleTime, convert(char(26), @@boottime, 109) "
    "BootTime in front of each)."
)
TO_THE_MINUTE = (
    "The times of the two snapshots are printed to the minute, so they are {low:,.0f} to {high:,.0f} s apart "
    f"({IN_FULL})."
)
SINCE_BOOT = "An average since boot hides the peak and the quiet: two snapshots at the busiest hour would decide."
NO_TIME = (
    "These are totals, and no time in the export says what they are totals of: two snapshots at the busiest hour, each "
    "with its time, would decide."
)
DAY = 86_400.0
"""This project, seconds: totals over less may be those of one busy hour, or lack the one that matters. Over a day or
more nights are in their average: the busiest hour is above it, and none is excused by it."""
SAMPLE = MissingInput("how long the sample took (the head of the report)", SysmonSample.COLLECTED_BY)
Span = tuple[float, float]
"""Least and most seconds."""


def span_of(row: Counted) -> Span | None:
    """Between which lengths an interval or the time of totals lies; `None` where no rate can be made of it."""
    low, high = row.seconds_low, row.seconds_high
    if low is None or high is None:
        return (row.seconds, row.seconds) if row.seconds else None
    middle = (low + high) / 2.0
    return (low, high) if 0 < low <= high and high - middle <= MOST_UNSURE * middle else None


def when(row: Counted) -> str:
    """What time the counts cover, as the end of a sentence."""
    if not row.of_interval:
        return (
            "since the server started or its counters were cleared"
            if row.seconds
            else "in totals of which the export does not say since when"
        )
    if row.seconds_low is not None and row.seconds_high is not None:
        return f"in {row.seconds_low:,.0f} to {row.seconds_high:,.0f} s"
    return f"in {row.seconds:,.0f} s" if row.seconds else "between two snapshots without times"


def caveat(row: Counted) -> str:
    """What must be said beside figures of this time, as a sentence; nothing of an interval of known length."""
    if not row.of_interval:
        return SINCE_BOOT if row.seconds else NO_TIME
    if row.seconds_low is not None and row.seconds_high is not None:
        return TO_THE_MINUTE.format(low=row.seconds_low, high=row.seconds_high)
    return "" if row.seconds else UNDATED


def without_head(said: str) -> Unknown:
    """That what sp_sysmon counted has no rate, where its head with the time is not in the export; `said`: the rest."""
    return Unknown((SAMPLE,), f"{said}; how many a second is not in the export")
