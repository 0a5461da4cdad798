"""The newest part of the error log of SAP ASE: a log goes on for years, and what was mended long ago is no finding."""

from datetime import datetime, timedelta

from collectors.facts import Fact, Facts
from collectors.facts.ase import ErrorLog, LogEvent, MonSysWaits, Snapshot, SysmonSample

DAY = timedelta(days=1)
LOG_FACTS: tuple[type[Fact], ...] = (ErrorLog, LogEvent)


def newest_line(facts: Facts) -> datetime | None:
    """The time of the newest line of any log that was collected; `None` without a log."""
    return max((log.last for log in facts.also(ErrorLog).every(ErrorLog)), default=None)


def recent(facts: Facts, age: timedelta) -> datetime | None:
    """From when on a message is not older than this: before the newest line, or the sample beside an older log."""
    newest = newest_line(facts)
    if newest is None:
        return None
    seen = facts.also(SysmonSample, Snapshot)
    ends = (one.end for one in seen.every(SysmonSample)), (one.taken for one in seen.every(Snapshot))
    return max([newest, *(end.replace(tzinfo=None) for times in ends for end in times if end)]) - age


def events_of(facts: Facts, age: timedelta) -> list[LogEvent]:
    """Messages up to this old, in the order of the logs."""
    since = recent(facts, age)
    return [one for one in facts.every(LogEvent) if since and one.last > since]


def logs_full(facts: Facts) -> list[str]:
    """Databases whose log was full by messages of the minutes whose waits monSysWaits counts, or of later ones."""
    seen = facts.also(Snapshot, MonSysWaits, LogEvent)
    taken = max((one.taken for one in seen.every(Snapshot) if one.taken), default=None)
    seconds = max((one.seconds or 0.0 for one in seen.every(MonSysWaits) if one.of_interval), default=0.0)
    if taken is None or not seconds:
        return []
    since = taken.replace(tzinfo=None) - timedelta(seconds=seconds)
    told = (one for one in seen.every(LogEvent) if one.kind == LogEvent.LOG_FULL and one.last >= since)
    return list(dict.fromkeys(one.database for one in told if one.database))
