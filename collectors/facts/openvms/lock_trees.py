"""Who makes the locks: lock trees by their activity, queues for locks, listed locks, and the names of files.

A tree is a resource with all that is below it; one node masters it. Names of resources are kept as hexadecimal digits
in their own order (byte 1 first) and decoded by `collectors.facts.openvms.resource_names`.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from collectors.facts.base import ABSENT, Fact, Reading
from collectors.facts.openvms.processors import OfNode
from collectors.facts.openvms.resource_names import FileId, Resource, as_text, decode, stands

LOCK_ACTV = "a report of LOCK_ACTV.COM (KP_LOCKTOOLS), three times or more at the busiest time"
LCKQUE = "a report of LCKQUE.COM (KP_LOCKTOOLS), several times while processes wait"


@dataclass(frozen=True, kw_only=True)
class LockActivity(Fact):
    """One LOCK_ACTV report, or the records of one run of LCKACT: what it covers. Rates as in `LockTree`."""

    COLLECTED_BY: ClassVar[str] = LOCK_ACTV

    report: int = 1
    """The line of its file where it begins: by it a tree knows its report."""
    at: datetime | None = None
    nodes: tuple[str, ...] = ()
    """Nodes that counted in a tree at least."""
    failed: tuple[str, ...] = ()
    """Nodes whose collection failed: what they ask for is in no figure."""
    trees: int = 0
    total: Reading = ABSENT
    """Lock requests per second in all trees; overflowed where one of them is."""
    by_node: tuple[tuple[str, float], ...] = ()
    """Lock requests per second of each node in all trees."""
    kinds: tuple[tuple[str, float, float], ...] = ()
    """Kind of tree, how many, their lock requests per second."""
    whole: bool = True
    """Whether the report has its end."""


@dataclass(frozen=True, kw_only=True)
class LockTree(Fact):
    """One lock tree of a report: lock requests per second, smoothed over the last 8 to 15 s.

    The manager keeps 7/8 of the old figure and adds the new second; LOCK_ACTV divides by 8. Of a report the busiest
    trees are kept, the others are in the sums of `LockActivity`.
    """

    COLLECTED_BY: ClassVar[str] = LOCK_ACTV

    report: int = 1
    at: datetime | None = None
    name: str
    """The root resource's name: hexadecimal digits, byte 1 first."""
    total: Reading = ABSENT
    rates: tuple[tuple[str, Reading], ...] = ()
    """Node → what it asks for in the tree."""
    master: str | None = None
    """The node that masters it; `None` where no node is marked (its collection failed)."""

    @property
    def resource(self) -> Resource:
        """What the name says."""
        return decode(bytes.fromhex(self.name))

    @property
    def text(self) -> str:
        """The name in ASCII, `.` for what cannot be printed."""
        return as_text(bytes.fromhex(self.name))


@dataclass(frozen=True, kw_only=True)
class LockQueues(Fact):
    """One LCKQUE report: which nodes it covers. A node without queues need not be named in it."""

    COLLECTED_BY: ClassVar[str] = LCKQUE

    report: int = 1
    clock: str | None = None
    """`10:14`; it prints no date."""
    nodes: tuple[str, ...] = ()
    """Those that it names, with queues or without."""
    failed: tuple[str, ...] = ()
    queues: int = 0
    """Resources with waiters, those that have waits by design included."""
    whole: bool = True
    """Whether every resource in it was read, and it has its end, or is the .RPT file, which has none."""


@dataclass(frozen=True, kw_only=True)
class LockQueue(OfNode):
    """One resource that processes wait for, as one node lists it. Another node may list the same one: never add up."""

    COLLECTED_BY: ClassVar[str] = LCKQUE

    report: int = 1
    path: tuple[str, ...]
    """Names from the root down to the resource itself, hexadecimal, byte 1 first."""
    converting: Reading = ABSENT
    """Locks that wait to be converted."""
    waiting: Reading = ABSENT
    """New requests that wait."""
    file: str | None = None
    """The file of the root or of the resource, where the tool found its name."""

    @property
    def names(self) -> tuple[bytes, ...]:
        """The names as bytes."""
        return tuple(bytes.fromhex(one) for one in self.path)

    @property
    def resource(self) -> Resource:
        """What the last name says below the others."""
        *parents, own = self.names
        return decode(own, *parents)

    @property
    def root(self) -> Resource:
        """What the first name says."""
        return decode(self.names[0])

    @property
    def standing(self) -> bool:
        """Whether this wait is by design (dead-man locks)."""
        *parents, own = self.names
        return stands(own, *parents)


@dataclass(frozen=True, kw_only=True)
class ListedLocks(OfNode):
    """The locks of one name in SDA's SHOW LOCK/BRIEF, the state of one moment: numbers of locks and never a rate."""

    COLLECTED_BY: ClassVar[str] = "an SDA listing of SHOW LOCK/BRIEF (ANALYZE/SYSTEM)"

    text: str
    """The root's name in ASCII, 31 characters, `.` for what cannot be printed."""
    locks: int = 0
    """Locks of that name and of all below it, as far as the listing has their parents."""
    below: int = 0
    """Of them those below it."""
    buckets: int = 0
    """Of those the ones with a name of four bytes: below a file of RMS its buckets."""
    records: int = 0
    """The ones with a name of eight bytes: below a file of RMS its records."""
    waiting: int = 0
    converting: int = 0


@dataclass(frozen=True, kw_only=True)
class ListedKind(OfNode):
    """Granted locks of SDA's SHOW LOCK/BRIEF whose names begin alike, in one mode: numbers of locks of one moment."""

    COLLECTED_BY: ClassVar[str] = "an SDA listing of SHOW LOCK/BRIEF (ANALYZE/SYSTEM)"

    prefix: str
    """What their names begin with: `SESS_`."""
    mode: str
    """As granted: `NL`, `CR`, `EX` …"""
    locks: int = 0
    listed: int = 0
    """All locks of the listing, of whatever name."""
    processes: int = 0
    """How many processes have them."""
    pid: str = ""
    """The process that has most of them: eight hexadecimal digits."""
    pid_locks: int = 0
    """How many it has."""


@dataclass(frozen=True, kw_only=True)
class ListedQueue(OfNode):
    """A resource that somebody waits for in SDA's SHOW LOCK/BRIEF, as this node lists it: the state of one moment."""

    COLLECTED_BY: ClassVar[str] = "an SDA listing of SHOW LOCK/BRIEF (ANALYZE/SYSTEM)"

    root: str
    """The root's name in ASCII, as far as the listing has the parents."""
    text: str
    """Its own."""
    waiting: int = 0
    converting: int = 0
    holding: int = 0
    """Listed locks that are granted in another mode than NL: a lock of another node may not be in the listing."""
    holders: tuple[tuple[str, str], ...] = ()
    """Process (hexadecimal; zeros: the system) and granted mode of the first of them."""

    @property
    def standing(self) -> bool:
        """Whether this wait is by design (dead-man locks)."""
        root, own = (name.encode("ascii", "replace") for name in (self.root, self.text))
        return stands(root) or stands(own, root)


@dataclass(frozen=True, kw_only=True)
class RmsRecordLock(OfNode):
    """A lock on one record of an RMS file, with its process: a line of RMS_LOCKS, the state of one moment."""

    COLLECTED_BY: ClassVar[str] = "a listing of RMS_LOCKS (G. Fruth) of the RMS file whose records are locked"

    number: int
    sequence: int
    volume_number: int
    pid: str
    """Hexadecimal, 8 digits."""
    image: str
    """`ORDENT.EXE`."""
    mode: str
    """`EX`."""
    record: str
    """Record's file address (RFA), 16 hexadecimal digits, as LCKQUE prints it."""
    waiting: bool = False
    """Whether the listing says that the process waits for this lock (recalled); else it has it, or nothing is said."""

    @property
    def file(self) -> FileId:
        """The file's id."""
        return FileId(self.number, self.sequence, self.volume_number)


@dataclass(frozen=True, kw_only=True)
class FileName(Fact):
    """The name of a file by its id: a line of DIRECTORY/FILE_ID or /FULL, or the head of DUMP/HEADER."""

    COLLECTED_BY: ClassVar[str] = "a listing of DIRECTORY/FILE_ID of the disk that has the file"

    device: str
    """Device or logical name, in capitals, without its colon: `DKA200`, `DISK$USER`."""
    name: str
    """The whole name: `DKA200:[DATA]ORDERS.DAT;12`."""
    number: int
    sequence: int
    volume_number: int
    allocated_blocks: Reading = ABSENT
    """Of DIRECTORY/SIZE=ALL, /FULL and DUMP/HEADER: blocks of 512 bytes. The next three are of the last two alone."""
    extend_blocks: Reading = ABSENT
    """Blocks that are added each time the file is extended, 0 to 65,535; RMS decides where it is 0."""
    bucket_blocks: Reading = ABSENT
    """Blocks of a bucket; of an indexed file the largest of its areas."""
    global_buffers: Reading = ABSENT
    """Buffers that all who have the file open share; DIRECTORY/FULL of some releases prints none for 0."""
    files: Reading = ABSENT
    """Of a directory: the files in it, as the total of its own listing has them; as many at least."""

    @property
    def file(self) -> FileId:
        """The file's id."""
        return FileId(self.number, self.sequence, self.volume_number)


@dataclass(frozen=True, kw_only=True)
class DirectorySize(Fact):
    """How large a directory is that a listing has by its name alone, without the id: DIRECTORY/SIZE=ALL of its file."""

    COLLECTED_BY: ClassVar[str] = "a listing of DIRECTORY/SIZE=ALL/FILE_ID of the directory itself, as [000000]name.DIR"

    name: str
    """The whole name: `DISK$USER:[000000]OUTBOUND.DIR;1`."""
    allocated_blocks: Reading = ABSENT
    """Blocks of 512 bytes."""
    files: Reading = ABSENT
    """As in `FileName`."""


@dataclass(frozen=True, kw_only=True)
class IndexedFile(Fact):
    """An indexed file of RMS as FDL describes it, and what an analysis found in the tree of its primary key."""

    COLLECTED_BY: ClassVar[str] = "an FDL of the file, made by ANALYZE/RMS_FILE/FDL"

    name: str
    """As FDL has it; empty where it has none."""
    bucket_blocks: Reading = ABSENT
    """Of the area of its data, else of the file: blocks of 512 bytes, 1 to 63."""
    allocated_blocks: Reading = ABSENT
    extend_blocks: Reading = ABSENT
    record_bytes: Reading = ABSENT
    """The mean length of a data record, else that of a record of fixed length."""
    load_fill: Reading = ABSENT
    """Per cent of a data bucket that CONVERT fills."""
    data_fill: Reading = ABSENT
    """Per cent of the data buckets that is filled now; this and the next two are of an analysis alone."""
    depth: Reading = ABSENT
    """Levels of the index above the data."""
    records: Reading = ABSENT


@dataclass(frozen=True, kw_only=True)
class AlternateKey(Fact):
    """A key but the primary one of an indexed file of RMS, with what an analysis found in its tree."""

    COLLECTED_BY: ClassVar[str] = IndexedFile.COLLECTED_BY

    file: str
    """The name of the file, as FDL has it."""
    number: int
    """1 for the first alternate key."""
    name: str = ""
    bucket_blocks: Reading = ABSENT
    """Of the area of its data, else of the file."""
    values: Reading = ABSENT
    """Records of its data level (SIDRs): one for each value of the key."""
    duplicates: Reading = ABSENT
    """Records of the file with the same value beside the first, on average."""
    data_blocks: Reading = ABSENT
    """Blocks that its data level takes."""


@dataclass(frozen=True, kw_only=True)
class OpenFile(Fact):
    """A file that a process of one node has open at one moment."""

    COLLECTED_BY: ClassVar[str] = "a listing of SHOW DEVICE/FILES of the disk that has the files"

    device: str
    """In capitals, without its colon: `$1$DGA12`, `DISK$USER`."""
    name: str
    """`[DATA]ORDERS.DAT;12`, as printed behind the process."""
    pid: str
    """Eight hexadecimal digits; zeros for what the system itself has open."""
    process: str | None = None


@dataclass(frozen=True, kw_only=True)
class RmsDefaults(Fact):
    """What RMS takes on one node where neither a program nor a file says otherwise."""

    COLLECTED_BY: ClassVar[str] = "SHOW RMS_DEFAULT"

    scope: str
    """`process`, that of whoever listed it, or `system`."""
    extend_blocks: Reading = ABSENT
    """Blocks by which files are extended; 0: not set here."""
    query_lock: str | None = None
    """As printed: whether RMS asks the lock manager whether a record is locked."""
    contention_policy: str | None = None
    """As printed: which write-shared files get fairness, at the price of more locks."""


@dataclass(frozen=True, kw_only=True)
class Volume(Fact):
    """A mounted disk volume: how many blocks of 512 bytes its files get at a time."""

    COLLECTED_BY: ClassVar[str] = "a listing of SHOW DEVICE/FULL of the disk that has the files"

    device: str
    """In capitals, without its colon: `$1$DGA12`."""
    label: str
    cluster_blocks: Reading = ABSENT
    """The least that a file is given, 1 to 16,382."""
    extend_blocks: Reading = ABSENT
    """What a file is extended by where neither it nor its process has an extent of its own, 0 to 65,535."""
