"""A figure of one of MONITOR's classes, whichever export has it: a column of T4, or a line of MONITOR itself.

T4 makes its columns `[MON.…]` of a recording of MONITOR, so both have the same figures under two names. Labels of the
lines: OpenVMS System Management Utilities Reference Manual, MONITOR FCP, FILE_SYSTEM_CACHE, IO and PAGE.
"""

from dataclasses import dataclass

from collectors.facts import Facts, Source, known
from collectors.facts.openvms import MonitorItem, SystemRates, T4Column

CLASS_FACTS = (MonitorItem, T4Column)
"""What a rule that uses this module has to declare."""
LINES = {
    ("MON.FCP", "FCP Cpu"): ("FCP", "CPU Tick Rate"),
    ("MON.FCP", "FCP Disk space allocations"): ("FCP", "Allocation Rate"),
    ("MON.FCP", "FCP Files created"): ("FCP", "Create Rate"),
    ("MON.FCP", "FCP Files opened"): ("FCP", "File Open Rate"),
    ("MON.FCP", "FCP Filename lookups"): ("FCP", "File Lookup Rate"),
    ("MON.FCP", "FCP erases"): ("FCP", "Erase Rate"),
    ("MON.FCP", "FCP waits"): ("FCP", "Volume Lock Wait Rate"),
    ("MON.IO", "File Open Rate"): ("IO", "File Open Rate"),
    ("MON.IO", "In Swaps"): ("IO", "Inswap Rate"),
    ("MON.STAT", "Compute"): ("STATES", "Compute"),
    ("MON.PAGE", "Page Read I/O"): ("PAGE", "Page Read I/O Rate"),
    ("MON.PAGE", "Page faults"): ("PAGE", "Page Fault Rate"),
    ("MON.PAGE", "Demand-zero faults"): ("PAGE", "Demand Zero Fault Rate"),
    ("MON.PAGE", "Free List Faults"): ("PAGE", "Free List Fault Rate"),
    ("MON.PAGE", "Modified List faults"): ("PAGE", "Modified List Fault Rate"),
    ("MON.PAGE", "Free List Size"): ("PAGE", "Free List Size"),
}
"""T4's group and column: MONITOR's class and line."""
MONITOR_PAGE = 'MONITOR PAGE/NODISPLAY/SUMMARY=PAGE.SUM/INTERVAL=60/ENDING="+1:00:00"'
ALSO = {"Allocation Rate": "Disk Allocation Rate", "Create Rate": "File Create Rate"}
"""Lines of MONITOR FCP that some listings call by their longer names (recalled)."""
CACHES = {"Dir FCB": "Dir FCB", "Dir data": "Dir Data", "File Header": "File Hdr"}
"""T4's name of a cache of the file system: MONITOR's."""


@dataclass(frozen=True)
class Mean:
    """A mean over all that was measured."""

    value: float
    source: Source


def mean_of(facts: Facts, group: str, name: str) -> Mean | None:
    """The mean of a column of T4, or of the line of MONITOR that is the same; `None` where neither has a figure."""
    columns = (one for one in facts.every(T4Column) if (one.group, one.name.lower()) == (group, name.lower()))
    column = next(columns, None)
    if column:
        return _mean(column)
    if (group, name) not in LINES:
        return None
    class_name, item = LINES[group, name]
    return _line(facts, class_name, item) or (_line(facts, class_name, ALSO[item]) if item in ALSO else None)


def page_faults(facts: Facts) -> Mean | None:
    """Page faults per second, of whichever display has them. Declares `SystemRates` beside `CLASS_FACTS`."""
    rates = facts.latest(SystemRates, statistic="mean")
    if rates and known(rates.page_fault_per_second):
        return Mean(rates.page_fault_per_second, rates.source)
    return mean_of(facts, "MON.PAGE", "Page faults")


def cache_hits(facts: Facts, cache: str) -> tuple[float, Mean] | None:
    """Hits of one of the file system's caches in per cent of its attempts, and the attempts per second."""
    attempts, hits = (mean_of(facts, "MON.FLSC", f"{cache} cache {what}") for what in ("attempts", "hits"))
    if attempts and hits:
        return (100 * hits.value / attempts.value, attempts) if attempts.value > 0 else None
    attempts, percent = (
        _line(facts, "FILE_SYSTEM_CACHE", f"{CACHES[cache]} ({what})") for what in ("Attempt Rate", "Hit %")
    )
    return (percent.value, attempts) if attempts and percent else None


def _line(facts: Facts, class_name: str, item: str) -> Mean | None:
    lines = (
        one for one in facts.every(MonitorItem) if one.class_name == class_name and one.item.lower() == item.lower()
    )
    line = next(lines, None)
    return _mean(line) if line else None


def _mean(one: T4Column | MonitorItem) -> Mean | None:
    return Mean(one.mean, one.source) if known(one.mean) and one.mean >= 0 else None
