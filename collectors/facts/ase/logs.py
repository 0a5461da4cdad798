"""What holds the transaction logs of SAP ASE."""

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from collectors.facts.base import ABSENT, Fact, Reading


@dataclass(frozen=True, kw_only=True)
class LogHolder(Fact):
    """One row of `syslogshold`: behind it nothing of the log is freed, whoever dumps it."""

    COLLECTED_BY: ClassVar[str] = "select db_name(dbid) dbname, * from master..syslogshold"
    REPLICATION: ClassVar[str] = "$replication_truncation_point"
    """The name of the row that is no transaction: what Replication Server has not got yet."""

    db_id: int | None = None
    database: str | None = None
    """Where its name was selected, too."""
    spid: int | None = None
    """Whose transaction it is; 0: of Replication Server."""
    page: Reading = ABSENT
    started: datetime | None = None
    """When the transaction began, or the truncation point was set, by the clock of the server."""
    name: str | None = None

    @property
    def replicates(self) -> bool:
        """Whether this is the truncation point of Replication Server."""
        return (self.name or "").lower() == self.REPLICATION


@dataclass(frozen=True, kw_only=True)
class RepAgentProcess(Fact):
    """What the RepAgent of one database does, or one of its paths: it sends the log to Replication Server."""

    COLLECTED_BY: ClassVar[str] = "an sp_help_rep_agent of the replicated database, its process"
    NOT_RUNNING: ClassVar[str] = "not running"

    database: str
    status: str
    """As it is printed, in small letters."""


@dataclass(frozen=True, kw_only=True)
class TruncationPoint(Fact):
    """Up to where the log of one database was got by Replication Server: nothing behind it is freed while it counts."""

    COLLECTED_BY: ClassVar[str] = "a dbcc gettrunc in the replicated database"

    database: str
    db_id: int | None = None
    page: Reading = ABSENT
    valid: bool | None = None
    """Whether the server keeps the log for it; `None`: not printed."""


@dataclass(frozen=True, kw_only=True)
class LogIoSize(Fact):
    """The log I/O size of one database, in kilobytes, 2 to 128: how much of its log goes in one write at most."""

    COLLECTED_BY: ClassVar[str] = "sp_logiosize /* in the database whose log is written most */"

    database: str
    kilobytes: float
