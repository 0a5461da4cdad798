"""The newest part of the error log of SAP ASE: a log goes on for years, and what was mended long ago is no finding."""

from datetime import datetime, timedelta

from collectors.facts import Fact, Facts
from collectors.facts.ase import ErrorLog, LogEvent

DAY = timedelta(days=1)
LOG_FACTS: tuple[type[Fact], ...] = (ErrorLog, LogEvent)


def newest_line(facts: Facts) -> datetime | None:
    """The time of the newest line of any log that was brought; `None` without a log."""
    return max((log.last for log in facts.also(ErrorLog).every(ErrorLog)), default=None)


def events_of(facts: Facts, age: timedelta) -> list[LogEvent]:
    """Messages of the last time of the log, up to this old, in the order of the logs."""
    newest = newest_line(facts)
    return [one for one in facts.every(LogEvent) if newest and one.last > newest - age]
