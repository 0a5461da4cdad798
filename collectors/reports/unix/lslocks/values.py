"""One lock from its cells, or nothing where they are not those of a lock."""

import re
from collections.abc import Mapping

from collectors.facts.base import ABSENT, Reading, Source
from collectors.facts.unix import RecordLock

WHOLE = re.compile(r"-?[0-9]{1,20}")
DEVICE = re.compile(r"[0-9]{1,8}:[0-9]{1,8}")
KIND = re.compile(r"POSIX|FLOCK|OFDLCK|LEASE|DELEG|ACCESS|UNKNOWN", re.IGNORECASE)
MODE = re.compile(r"(?P<mode>READ|WRITE|RW|NONE|UNLCK)(?P<waits>\*?)", re.IGNORECASE)
SIZE = re.compile(r"(?P<number>[0-9]{1,18}(?:[.,][0-9]{1,3})?)(?P<unit>[BKMGTPE]?)i?B?")
UNITS = "BKMGTPE"
LONGEST = 4096
"""Characters of a path that are kept, the most that Linux takes."""
LONGEST_COMMAND = 64


def lock_of(cells: Mapping[str, str], source: Source) -> RecordLock | None:
    """Make one lock; `None` where a cell that every lock has is missing or is not what its heading says."""
    kind, mode = KIND.fullmatch(cells.get("TYPE", "")), MODE.fullmatch(cells.get("MODE", ""))
    pid, start, end = (_whole(cells.get(name, "")) for name in ("PID", "START", "END"))
    flag = cells.get("M", "0").lower()
    sized = cells.get("SIZE", "")
    if not (kind and mode) or pid is None or start is None or end is None or start < 0 or end < 0:
        return None
    if flag not in ("0", "1", "false", "true") or (sized and not SIZE.fullmatch(sized)):
        return None
    inode, device = cells.get("INODE", ""), cells.get("MAJ:MIN", "")
    if (inode and _whole(inode) is None) or (device and not DEVICE.fullmatch(device)):
        return None
    blocker = cells.get("BLOCKER", "")
    if blocker and _whole(blocker) is None:
        return None
    if 0 < end < start:
        return None
    return RecordLock(
        source=source,
        kind=kind[0].upper(),
        mode=mode["mode"].upper(),
        mandatory=flag in ("1", "true"),
        pid=pid,
        device=device or None,
        inode=_whole(inode),
        start=start,
        end=end or None,
        end_sure=bool(end or start) or kind[0].upper() not in ("POSIX", "OFDLCK", "ACCESS"),
        waits=bool(mode["waits"]),
        blocker=_whole(blocker) if mode["waits"] else None,
        command=cells.get("COMMAND", "")[:LONGEST_COMMAND] or None,
        path=cells.get("PATH", "")[:LONGEST] or None,
        size_bytes=_bytes(sized),
    )


def _whole(text: str) -> int | None:
    return int(text) if WHOLE.fullmatch(text) else None


def _bytes(text: str) -> Reading:
    """`4.9K` → 5017.6: as rounded as it was printed."""
    found = SIZE.fullmatch(text)
    if not found:
        return ABSENT
    return float(found["number"].replace(",", ".")) * 1024.0 ** UNITS.index(found["unit"] or "B")
