"""What stands in front: the file header, system information, times. Recalled layouts, so they are looked for.

Recalled (openvms-formats.md b.4): type byte, flags longword, beginning and ending quadword, interval longword, 16
bytes, record count longword, `MON` and five digits, comment of 60 bytes and its length. The ident is found wherever it
is, and the two times by being times.
"""

import re
import struct
from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta

FILE_HEADER, SYSTEM, TRANSITION, RMS_FILE, CUSTOMER = 128, 129, 130, 131, 192
CLASSES = {
    0: "PROCESSES",
    1: "STATES",
    2: "MODES",
    3: "PAGE",
    4: "IO",
    5: "FCP",
    6: "POOL",
    7: "LOCK",
    8: "DECNET",
    11: "FILE_SYSTEM_CACHE",
    12: "DISK",
    14: "DLOCK",
    15: "SCS",
    17: "SYSTEM",
    19: "CLUSTER",
    20: "RMS",
    21: "MSCP_SERVER",
    22: "TRANSACTION",
    23: "VECTOR",
    25: "TIMER",
    26: "RLOCK",
}
"""Types by class: MODES, LOCK and MSCP_SERVER confirmed, the others recalled (openvms-formats.md b.1)."""

TICKS = 10_000_000
"""Of 100 ns in one second."""
EPOCH = datetime(1858, 11, 17)  # noqa: DTZ001  # no zone: the node's own clock
EARLIEST, LATEST = ((datetime(year, 1, 1) - EPOCH) // timedelta(seconds=1) * TICKS for year in (1985, 2100))  # noqa: DTZ001
"""MONITOR did not record before, and nobody after."""
IDENT = re.compile(rb"MON[0-9]{5}")
NAME = re.compile(rb"[A-Z][A-Z0-9$_]{0,14}")
NAME_FIELD = 15
"""Bytes behind the count of a counted node name."""
BOOT_AT = (1, 2, 3, 4, 8)
"""Where the boot time may stand: behind the type byte and none, one or more flags."""
LONGEST_INTERVAL = 86_400 * 31
LONGEST_COMMENT = 60


def quadword(data: bytes, at: int) -> int:
    """A VMS time: units of 100 ns since 17-NOV-1858, or 0 where it is no time that a recording can have."""
    if len(data) < at + 8:
        return 0
    (value,) = struct.unpack_from("<Q", data, at)
    return value if EARLIEST <= value < LATEST else 0


def moment(ticks: int) -> datetime:
    """Units of 100 ns since 17-NOV-1858, in the bounds of `quadword` → a time without a zone."""
    return EPOCH + timedelta(microseconds=ticks // 10)


@dataclass(frozen=True)
class Header:
    """The file header, as far as it makes sense. Times in units of 100 ns, 0: none there."""

    begin: int = 0
    end: int = 0
    interval: int | None = None
    """Seconds."""
    ident: str = ""
    comment: str | None = None


def header_of(data: bytes) -> Header:
    """Read the file header record."""
    found = IDENT.search(data)
    if not found:
        return Header()
    at = found.start()
    begin_at = next((place for place in (5, *range(1, at - 7)) if place <= at - 8 and quadword(data, place)), None)
    begin = end = 0
    interval = None
    if begin_at is not None:
        begin, end = quadword(data, begin_at), quadword(data, begin_at + 8)
        (seconds,) = struct.unpack_from("<I", data, begin_at + 16) if len(data) >= begin_at + 20 else (0,)
        interval = seconds if 0 < seconds <= LONGEST_INTERVAL else None
    return Header(begin, end if end >= begin else 0, interval, found[0].decode(), _comment(data, found.end()))


def _comment(data: bytes, at: int) -> str | None:
    """Sixty bytes behind the ident and how many of them count; nothing where that is no text."""
    field = data[at : at + LONGEST_COMMENT]
    length = int.from_bytes(data[at + LONGEST_COMMENT : at + LONGEST_COMMENT + 2], "little")
    text = field[:length].decode("latin-1").strip(" \0")
    return text if 0 < length <= LONGEST_COMMENT and text.isprintable() and text else None


@dataclass(frozen=True)
class SystemInformation:
    """Of the node: when it booted (units of 100 ns, 0: not found) and its name."""

    booted: int = 0
    node: str | None = None


def system_of(data: bytes) -> SystemInformation:
    """Read a system information record: the boot time by being one, the node's name by being a counted name.

    Of several counted names the longest is taken: one letter may be anything.
    """
    booted = next((time for at in BOOT_AT if (time := quadword(data, at))), 0)
    names: list[str] = []
    for at in range(9, min(len(data) - 1, 64)):
        field = data[at + 1 : at + 1 + NAME_FIELD]
        count = data[at]
        if 1 <= count <= NAME_FIELD and NAME.fullmatch(field[:count]) and not field[count:].strip(b" \0"):
            names.append(field[:count].decode())
    return SystemInformation(booted, max(names, key=len, default=None))


def named(kinds: "Counter[int]") -> str:
    """Say how many records of which types: `120 of class 3 (PAGE)`."""
    called = {kind: f"class {kind}" + (f" ({CLASSES[kind]})" if kind in CLASSES else "") for kind in kinds}
    parts = [f"{count:,} of {called[kind] if kind < FILE_HEADER else f'type {kind}'}" for kind, count in kinds.items()]
    return ", ".join(parts)
