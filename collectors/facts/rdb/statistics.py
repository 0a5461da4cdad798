"""What RMU/SHOW STATISTICS counts. A screen covers the node it was taken on, unless it was merged over the cluster."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import ClassVar

from collectors.facts.base import ABSENT, Reading
from collectors.facts.rdb.database import OfDatabase

SCREENS = (
    "a write (key W) of the RMU/SHOW STATISTICS screens Summary Locking Statistics, Locking (one lock type) and "
    "Summary IO, each after minutes of typical load, twice (uncut: /ROWS=n/COLUMNS=n)"
)


@dataclass(frozen=True, kw_only=True)
class StatisticsWindow(OfDatabase):
    """One screen as written: when, over how long, of which nodes."""

    COLLECTED_BY: ClassVar[str] = SCREENS

    screen: str
    """The title: `Summary Locking Statistics`, `Locking (page locks)`."""
    release: str | None = None
    at: datetime | None = None
    elapsed_seconds: float | None = None
    """Since the last reset, or since the monitor opened the database."""
    rate_seconds: Reading = ABSENT
    mode: str | None = None
    """`Online`, `Record`, `Replay`."""
    merged: bool | None = None
    """Whether the figures are of several nodes (/CLUSTER); `None`: the screen does not tell."""
    page: Reading = ABSENT
    """Of a screen of several pages, each a window of its own."""
    lines_cut: int = 0
    """Lines that were left out, as figures were cut off at their end."""
    over: str = "since reset"
    """`since reset`, or `interval`: the difference of two writes of one screen."""

    @property
    def start(self) -> datetime | None:
        """From when on was counted; `None` where the screen does not tell."""
        if self.at is None or self.elapsed_seconds is None:
            return None
        return self.at - timedelta(seconds=self.elapsed_seconds)


@dataclass(frozen=True, kw_only=True)
class StatisticRow(OfDatabase):
    """One line of a statistics screen. Sub-rows are subsets of the row above: never add them to it.

    `lock_type` is one of LOCK_TYPES for locking screens (a type not known here: its name in small letters), else
    `None`; `item` one of ITEMS for the lines known here, else the label in small letters, behind that of the row above
    where it is a sub-row (`record fetched: fragmented`). Rates are per second.
    """

    COLLECTED_BY: ClassVar[str] = SCREENS

    screen: str
    item: str
    label: str
    """As printed."""
    lock_type: str | None = None
    maximum_per_second: Reading = ABSENT
    current_per_second: Reading = ABSENT
    mean_per_second: Reading = ABSENT
    count: Reading = ABSENT
    per_transaction: Reading = ABSENT
    over: str = "since reset"
    """As in `StatisticsWindow`."""


LOCK_TYPES = (
    "total",
    "area",
    "page",
    "record",
    "seqblk",
    "filid",
    "tsnblk",
    "rtupb",
    "active",
    "membit",
    "aij",
    "snapshot",
    "freeze",
    "quiet point",
    "logical area",
    "nowait",
    "client",
)
"""`total`: the Summary Locking Statistics screen, or the `total locks` line of the screens by field."""

LOCK_ITEMS = (
    "locks requested",
    "requests not queued",
    "requests stalled",
    "request timeouts",
    "request deadlocks",
    "locks promoted",
    "promotions not queued",
    "promotions stalled",
    "promotion timeouts",
    "promotion deadlocks",
    "locks demoted",
    "locks released",
    "blocking asts",
    "stall time x100",
    "invalid lock block",
)
IO_ITEMS = (
    "transactions",
    "verb successes",
    "verb failures",
    "data reads",
    "data writes",
    "synch data reads",
    "synch data writes",
    "asynch data reads",
    "asynch data writes",
    "ruj reads",
    "ruj writes",
    "aij reads",
    "aij writes",
    "root reads",
    "root writes",
)
ITEMS = (*LOCK_ITEMS, *IO_ITEMS)


@dataclass(frozen=True, kw_only=True)
class ProcessLocks(OfDatabase):
    """One process of the Process Lock Overview."""

    COLLECTED_BY: ClassVar[str] = SCREENS

    pid: str
    stream: str | None = None
    """`**`: over 99."""
    requested: Reading = ABSENT
    promoted: Reading = ABSENT
    deadlocks: Reading = ABSENT
    """Promotion deadlocks."""
    blasted: Reading = ABSENT
    server: bool | None = None


@dataclass(frozen=True, kw_only=True)
class HotRow(OfDatabase):
    """One row of Hot Row Information: a slot of a row cache that many use."""

    COLLECTED_BY: ClassVar[str] = "a write (key W) of the RMU/SHOW STATISTICS screen Hot Row Information"

    dbkey: str
    """`area:page:line`."""
    cache: str | None = None
    """The row cache, where the screen names it."""
    users: Reading = ABSENT
    dirty: bool | None = None
    overflowed: bool | None = None


@dataclass(frozen=True, kw_only=True)
class AreaIo(OfDatabase):
    """What one node reads and writes of one storage area, by the screen File IO Overview or File IO Statistics."""

    COLLECTED_BY: ClassVar[str] = "a write (key W) of the RMU/SHOW STATISTICS screen File IO Overview (total I/O)"

    area: str
    per_second: Reading = ABSENT
    """I/O operations, synchronous and asynchronous, since the last reset; absent where the screen has no time."""
    screen: str = "File IO Overview"


@dataclass(frozen=True, kw_only=True)
class Journals(OfDatabase):
    """After-image journals by the screen AIJ Journal Information: the state of all, and how many of them are full.

    Or as RMU/SHOW AFTER_JOURNAL sets them up: how many there are and may be.
    """

    COLLECTED_BY: ClassVar[str] = "a write (key W) of the RMU/SHOW STATISTICS screen AIJ Journal Information"

    at: datetime | None = None
    state: str | None = None
    """Of journaling, in the heading: `Suspended` while no journal is left to switch to (recalled)."""
    shutdown_minutes: Reading = ABSENT
    """Until Oracle shuts the database down, where a switch-over is in progress; else what is set (RMU help, 7.2)."""
    backup_server: str | None = None
    """`ABS`, the server that backs full journals up by itself: `Running`, `Disabled`."""
    backups: str | None = None
    """`MANUAL` or `AUTOMATIC`."""
    reserved: Reading = ABSENT
    """Journals that there may be: others can be added while the database is open (RMU help, 7.2)."""
    listed: int = 0
    full: int = 0
    """Those whose status is `Full`, and the latest one where its last block but one in a hundred is written."""

    @property
    def suspended(self) -> bool:
        """Whether the heading says that there is no journal to switch to."""
        return (self.state or "").lower().startswith("suspend")


@dataclass(frozen=True, kw_only=True)
class BufferHits(OfDatabase):
    """The share of page fetches that find their page in a buffer, by the screen Buffer Analysis."""

    COLLECTED_BY: ClassVar[str] = (
        "a write (key W) of the RMU/SHOW STATISTICS screen Buffer Analysis, after minutes of typical load"
    )

    at: datetime | None = None
    local_percent: Reading = ABSENT
    """In local buffers or the AS pool; Oracle calls less than 75 % worth a look (RMU help, 7.2)."""
    global_percent: Reading = ABSENT
    """In the pool of global buffers; there it is 85 %."""
