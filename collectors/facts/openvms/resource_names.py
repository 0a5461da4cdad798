"""Names of lock resources, decoded byte by byte.

Positions are those of LOCK_ACTV.COM and LCKQUE.COM (KP_LOCKTOOLS, OpenVMS Freeware), read in their source: byte 1 is
the leftmost character. SDA and these tools print a name in hexadecimal with its last byte first, so such digits are
read from the right. Only names whose bytes are known are decoded; those of Oracle Rdb are documented nowhere, so they
stay hexadecimal digits and text like those of any application.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

LONGEST = 32
"""Bytes of a name in the dumps of SDA and of the tools."""
PRINTED = re.compile(r"(?:[0-9A-F]{2}){1,32}")

RMS_FILE, RMS_BUCKET, RMS_RECORD, RMS_GLOBAL = "RMS file", "RMS bucket", "RMS record", "RMS global buffer section"
VOLUME, FILE_SERIAL, FILE_ACCESS = "volume allocation", "file serialisation", "file access"
SYSTEM_ID = "system"
QUEUE_MANAGER, APPLICATION, UNREADABLE = "queue manager", "application", "unreadable"
XQP_KINDS = (VOLUME, FILE_ACCESS, FILE_SERIAL)
"""What the file system (XQP) locks."""

PREFIXES = (
    (b"QMAN$", QUEUE_MANAGER),
    (b"CLU$NETACP_", "DECnet cluster alias"),
    (b"AUDRSV$", "audit server"),
    (b"IOGEN$_", "device configuration"),
    (b"VCC$v", "file cache"),
    (b"CACHE$cm", "file cache"),
    (b"PSCDNS_", "DECdns"),
    (b"DTI$SYSTEM$", "distributed transactions"),
)
"""Prefixes of names that belong to a component of the system; what follows is not decoded."""
STANDING_ROOTS = (b"VCC$v", b"CACHE$cm", b"IOGEN$_", b"AUDRSV$", b"PSCDNS_", b"QMAN$MSR_", b"CLU$NETACP_")
"""Roots that somebody waits on by design, for ever: LCKQUE.COM leaves them out."""
STANDING_CHILDREN = (b"QMAN$JBC_ALIVE_01", b"IDL_")


@dataclass(frozen=True)
class FileId:
    """A file of a volume: number, sequence number (`None` where the name has none) and relative volume number."""

    number: int
    sequence: int | None
    volume_number: int

    def __str__(self) -> str:
        """Print as DIRECTORY/FILE_ID does: `(184815,2,0)`; a sequence number that is not known is a `*`."""
        return f"({self.number},{'*' if self.sequence is None else self.sequence},{self.volume_number})"


@dataclass(frozen=True)
class Resource:
    """What a name says."""

    kind: str
    volume: str | None = None
    """Volume label; in names of RMS the device lock name, which mostly is the label."""
    file: FileId | None = None
    block: int | None = None
    """Virtual block number where a bucket begins."""
    record: str | None = None
    """Record's file address (RFA), hexadecimal as the tools print it."""
    system_id: int | None = None
    """SCSSYSTEMID, its low 16 bits."""
    prefix: str = ""
    """Of an application's name: the printable characters it begins with."""

    @property
    def decnet(self) -> str | None:
        """The system's DECnet address, `1.23`: area and number are 6 and 10 bits of its id."""
        return None if self.system_id is None else f"{self.system_id // 1024}.{self.system_id % 1024}"


def from_printed(digits: str) -> bytes | None:
    """The bytes of a name printed last byte first, as SDA, LCKACT and LCKQUE do; `None` for anything else."""
    text = digits.strip().upper()
    return bytes.fromhex(text)[::-1] if PRINTED.fullmatch(text) else None


def as_printed(name: bytes) -> str:
    """The hexadecimal digits that the tools print for a name."""
    return name[::-1].hex().upper()


def as_text(name: bytes) -> str:
    """A name in ASCII, `.` for every byte that cannot be printed, as the tools show it."""
    return "".join(chr(byte) if 32 <= byte < 127 else "." for byte in name)


@lru_cache(maxsize=4096)
def decode(name: bytes, *parents: bytes) -> Resource:
    """What a name is of; `parents` are the names above it, the root first. Never raises."""
    if parents:
        return _child(name, parents)
    if name.startswith(b"RMS$") and len(name) >= 12:
        return _rms(name, RMS_FILE)
    if name.startswith(b"F11B$v") and len(name) >= 7:
        return Resource(VOLUME, volume=_label(name[6:18]))
    if name.startswith(b"F11B$a") and len(name) >= 22:
        number = int.from_bytes(name[18:21], "little")
        return Resource(FILE_ACCESS, volume=_label(name[6:18]), file=FileId(number, None, name[21]))
    if name.startswith(b"SYS$SYS_ID") and len(name) >= 12:
        return Resource(SYSTEM_ID, system_id=int.from_bytes(name[10:12], "little"))
    if name.startswith(b"$DSA") and name.endswith(b"_$WATCHR"):
        return Resource("volume shadowing")
    known = next((kind for prefix, kind in PREFIXES if name.startswith(prefix)), None)
    return Resource(known) if known else _unknown(name)


def stands(name: bytes, *parents: bytes) -> bool:
    """Whether somebody waits on it for ever by design (dead-man locks), as LCKQUE.COM's filter has it."""
    path = (*parents, name)
    root = path[0]
    if root.startswith(STANDING_ROOTS) or (root.startswith(b"$DSA") and root.endswith(b"_$WATCHR")):
        return True
    return len(path) > 1 and path[1].startswith(STANDING_CHILDREN)


def _child(name: bytes, parents: tuple[bytes, ...]) -> Resource:
    """A name below others: its bytes mean what its root says, which is known one level below the root alone."""
    root = parents[0]
    volume = decode(root).volume
    if len(parents) == 1 and root.startswith(b"RMS$"):
        if len(name) == 4:
            return Resource(RMS_BUCKET, volume, decode(root).file, block=int.from_bytes(name, "little"))
        if len(name) == 8:
            return Resource(RMS_RECORD, volume, decode(root).file, record=as_printed(name))
    if len(parents) == 1 and root.startswith(b"F11B$v") and name.startswith(b"F11B$s") and len(name) >= 10:
        return Resource(FILE_SERIAL, volume, FileId(int.from_bytes(name[6:9], "little"), None, name[9]))
    if len(parents) == 1 and root.startswith(b"SYS$SYS_ID") and name.startswith(b"RMS$") and len(name) >= 12:
        return _rms(name, RMS_GLOBAL)
    known = next((kind for prefix, kind in PREFIXES if root.startswith(prefix)), None)
    return Resource(known) if known else _unknown(name)


def _rms(name: bytes, kind: str) -> Resource:
    """`RMS$`, file number's low word, sequence number, volume number, file number's high byte, one byte, device."""
    number = name[9] << 16 | int.from_bytes(name[4:6], "little")
    return Resource(kind, _label(name[11:23]), FileId(number, int.from_bytes(name[6:8], "little"), name[8]))


def _label(name: bytes) -> str | None:
    """A label, blank padded; `None` where it cannot be one."""
    text = as_text(name.rstrip(b" \0"))
    return text or None


PREFIX = re.compile(r"[A-Za-z$_][A-Za-z0-9$_-]{2,}")
"""Three characters at least: of fewer it is chance that they can be printed (this project)."""


def _unknown(name: bytes) -> Resource:
    found = PREFIX.match(as_text(name))
    return Resource(APPLICATION, prefix=found[0]) if found else Resource(UNREADABLE)
