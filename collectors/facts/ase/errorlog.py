"""What the error log of SAP ASE says: the time it covers, and messages that tell of contention or of its end."""

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from collectors.facts.base import Fact


@dataclass(frozen=True, kw_only=True)
class ErrorLog(Fact):
    """One error log as a whole: nothing in it is not the same as no log."""

    COLLECTED_BY: ClassVar[str] = "an error log of the server, whole or the end of it"

    first: datetime
    last: datetime
    """The newest line: whether the log goes on elsewhere is not in it."""
    started: datetime | None = None
    """When engine 0 came online last; `None`: before this log begins."""
    engines: int | None = None
    """Engines that came online since then; `None` where no start is in it."""


@dataclass(frozen=True, kw_only=True)
class LogEvent(Fact):
    """Messages of one kind within one hour of the clock; a message may be repeated as long as its cause lasts.

    It stands at the line of the newest of them.
    """

    COLLECTED_BY: ClassVar[str] = ErrorLog.COLLECTED_BY
    LOCKS, LOG_FULL, SEGMENT_FULL = "out of locks", "log full", "segment full"
    PROCEDURES, CONNECTIONS = "out of procedure cache", "out of user connections"
    STACK, DEADLOCK = "stack trace", "deadlock"
    NOT_TRUNCATED = "dump that freed no log"
    AGENT_ENDED, AGENT_STARTED = "RepAgent ended", "RepAgent started"

    kind: str
    database: str | None = None
    """Of a full log, a dump that could not truncate it, another full segment, or a RepAgent."""
    first: datetime
    last: datetime
    count: int
    error: str | None = None
    """What Replication Server told the RepAgent before it ended last."""
