"""When a node was booted last, and what of an export is of another boot.

SHOW SYSTEM tells time and uptime, so the boot. A boot may change every system parameter, the number of CPUs and what
runs on them: figures captured before it say nothing of the settings that run since, and a display made before it says
nothing of what runs now. What tells no time is taken as of now.
"""

from datetime import datetime, timedelta

from collectors.facts import Facts, Source, known
from collectors.facts.openvms import MonitorSample, Node, T4File

BOOT_FACTS = (Node, T4File, MonitorSample)
"""What a rule that uses this module has to declare."""
AT = "%d-%b-%Y %H:%M"
MIXED = "a mean is of before and after it, and settings of now are not joined to it; collect again without a boot in it"


def last_boot(facts: Facts) -> datetime | None:
    """The latest boot that a display tells of, by the node's own clock; `None` where none tells the uptime."""
    boots = [
        one.at - timedelta(seconds=one.uptime_seconds)
        for one in facts.every(Node)
        if one.at and known(one.uptime_seconds) and one.uptime_seconds >= 0
    ]
    return max(boots, default=None)


def booted_within(facts: Facts) -> str:
    """That a boot lies inside the time of a capture, as a clause; empty where nothing tells so.

    The uptime tells it, or, where none was read, a hole with far fewer processes and locks behind it.
    """
    boot = last_boot(facts)
    spans = [(one.start, one.end) for one in facts.every(T4File)]
    spans += [(one.start, one.end) for one in facts.every(MonitorSample)]
    for start, end in spans:
        if boot and start and end and start < boot < end:
            return f"{_span(start, end)} run over the boot at {boot.strftime(AT).upper()}"
    for file in facts.every(T4File) if boot is None else ():
        for hole in file.holes:
            if hole.like_a_boot and file.start and file.end:
                when = f"{hole.start:%H:%M} and {hole.end:%H:%M}"
                return f"{_span(file.start, file.end)} run over what looks like a boot between {when}"
    return ""


def _span(start: datetime, end: datetime) -> str:
    return f"the figures of {start.strftime(AT).upper()} to {end:%H:%M}"


def booted_since(facts: Facts) -> str:
    """That the node was booted after all that was captured or inside it, as a clause; empty where nothing tells so."""
    if within := booted_within(facts):
        return f"{within}: {MIXED}"
    boot, end = last_boot(facts), end_of_capture(facts)
    if boot is None or end is None or boot <= end:
        return ""
    return (
        f"the figures end at {end.strftime(AT).upper()} and are of before the boot at {boot.strftime(AT).upper()}: "
        "what was set then is not in the export, and settings of now are not joined to them; measure again"
    )


def outdated(facts: Facts, source: Source) -> bool:
    """Whether a line is of a display made before the last boot."""
    boot, at = last_boot(facts), shown_at(facts, source)
    return boot is not None and at is not None and at < boot


def shown_at(facts: Facts, source: Source) -> datetime | None:
    """When the display was made that a fact stands in: the time in the heading above it."""
    above = [
        one
        for one in facts.every(Node)
        if one.at and one.source.file == source.file and one.source.first <= source.first
    ]
    return max(above, key=lambda one: one.source.first).at if above else None


def end_of_capture(facts: Facts) -> datetime | None:
    """When the last sample of T4 or MONITOR was taken."""
    ends = [one.end for one in facts.every(T4File)] + [one.end for one in facts.every(MonitorSample)]
    return max((end for end in ends if end), default=None)
