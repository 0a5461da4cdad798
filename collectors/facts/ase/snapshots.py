"""What a snapshot of monitoring tables is: when it was taken, of which server, and which tables it has."""

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from collectors.facts.base import Fact, Source


def twice(table: str) -> str:
    """Write the query of a monitoring table, and that two answers are wanted."""
    clock = "select convert(char(26), getdate(), 109) SampleTime"
    remark = f"twice, with {clock} in front of each, a minute or more apart at the busiest hour"
    return f"select * from master..{table} /* {remark} */"  # noqa: S608 - names of this module alone


@dataclass(frozen=True, kw_only=True)
class Snapshot(Fact):
    """When the rows around it were read, and what tells whether two snapshots may be subtracted."""

    COLLECTED_BY: ClassVar[str] = (
        "select @@servername ServerName, convert(char(26), getdate(), 109) SampleTime, "
        "convert(char(26), @@boottime, 109) BootTime /* in front of each snapshot */"
    )

    number: int
    """Which snapshot of its file, counted from 1 in the order of the file."""
    sample: int | None = None
    """Of a sample between two snapshots its number (`collect --every`); `None`: a snapshot."""
    server: str | None = None
    taken: datetime | None = None
    taken_in_full: bool = False
    """Whether that time was printed with its seconds; `getdate()` alone prints whole minutes."""
    booted: datetime | None = None
    counters_cleared: datetime | None = None
    earlier: Source | None = None
    """In a capture of two snapshots: where the earlier one stands."""
    previous: datetime | None = None
    """In a capture of two snapshots: when the earlier one was taken."""
    seconds_low: float | None = None
    """In a capture of two snapshots: the least and the most seconds between them, where both times were printed to the
    minute; else `None`."""
    seconds_high: float | None = None
    vanished: int = 0
    """In a capture of two snapshots: rows of the earlier one that the later does not have, over all its tables. They
    are no zeros: a descriptor was used for another object, and what it counted is not known."""


@dataclass(frozen=True, kw_only=True)
class MonTable(Fact):
    """That a monitoring table was asked for, and how many rows it had: an empty one may only be switched off."""

    COLLECTED_BY: ClassVar[str] = "sp_configure -- the switches of the monitoring tables"

    table: str
    """As the server spells it: `monSpinlockActivity`."""
    rows: int
    all_zero: bool = False
    """Whether every counter of every row was 0; in a capture of two snapshots: whether none moved between them."""
    vanished: int = 0
    """As in `Snapshot`, of this table alone."""


@dataclass(frozen=True, kw_only=True)
class ServerStart(Fact):
    """That the server was started again after what this capture measured: made by `collectors.capture`."""

    COLLECTED_BY: ClassVar[str] = Snapshot.COLLECTED_BY
    NOT_JUDGED: ClassVar[str] = "read by rules.boots: settings of another start are not those in force"

    at: datetime
    """The last start that anything given with this capture tells of."""
    newer: datetime | None = None
    """When the first capture of the same server began that was taken since then; `None` where there is none."""
