"""What a cell of a monitoring table holds, by the type of its column; `Doubt` where it holds something else."""

import re
from datetime import datetime

from collectors.facts.base import ABSENT, OVERFLOW, Reading
from collectors.layouts.dates import moment
from collectors.layouts.figures import BLANK_GROUPS, BLANKS, number
from collectors.statement_text import on_one_line

GROUPS = re.compile(r"[-+]?[0-9]{1,3}(?:[.,][0-9]{3}){1,5}")
"""Thousands parted by points or commas. A counter is a whole number: `1.234` is 1,234 whatever the locale."""
ONE_GROUP = re.compile(r"[0-9]{1,3}[.,][0-9]{3}")
WHOLE = re.compile(r"[-+]?[0-9]{1,18}(?:[.,]0{1,6})?")
NO_BLANKS = {ord(blank): None for blank in BLANKS}
LARGEST_ID = 2**63
KILO = 1024


class Doubt(ValueError):
    """A cell holds what its column cannot: the row was cut, or its values stand under the wrong heading."""


def count(cell: str) -> Reading:
    """A counter or a size: a whole number, with thousands parted as any locale does."""
    cell = cell.strip()
    if cell.isascii() and cell.isdecimal() and len(cell) <= 18:
        return float(cell)
    if not cell or cell == "NULL" or cell.upper() in ("NULL", "N/A", "(NULL)", "<NULL>"):
        return ABSENT
    if not cell.strip("*"):
        return OVERFLOW
    if BLANK_GROUPS.fullmatch(cell):
        cell = cell.translate(NO_BLANKS)
    if GROUPS.fullmatch(cell):
        return float(cell.replace(".", "").replace(",", ""))
    if WHOLE.fullmatch(cell):
        return float(cell.replace(",", "."))
    raise Doubt


def percent(cell: str) -> Reading:
    """A percentage: a comma in it is a decimal comma, because there are no thousands of per cent."""
    cell = cell.strip().removesuffix("%").rstrip()
    if not cell or cell.upper() in ("NULL", "N/A", "(NULL)", "<NULL>", "NAN"):
        return ABSENT
    if not cell.strip("*"):
        return OVERFLOW
    found = number(cell.replace(",", ".") if "." not in cell else cell)
    if found is None:
        raise Doubt
    return found


def whole(cell: str) -> int | None:
    """An identifier; `None` for NULL."""
    read = count(cell)
    if not isinstance(read, float):
        return None
    if abs(read) >= LARGEST_ID or read != int(read):
        raise Doubt
    return int(read)


def words(cell: str) -> str | None:
    """A text; `None` for NULL and for nothing."""
    cell = cell.strip()
    return None if not cell or cell in ("NULL", "(NULL)", "<NULL>") else cell


def text(cell: str) -> str | None:
    """Text of a statement on one line, blanks as one, cut where it is very long; `None` for NULL and for nothing."""
    said = words(cell)
    return None if said is None else on_one_line(said)


def small(cell: str) -> str | None:
    """A text in small letters."""
    said = words(cell)
    return said.lower() if said else None


def time(cell: str) -> datetime | None:
    """A point in time; `None` for NULL, and for one that would have to be guessed."""
    return moment(cell)


def yes(cell: str) -> bool | None:
    """A switch that is 0 or 1."""
    read = whole(cell)
    return None if read is None else bool(read)


def relaxed(cell: str) -> bool | None:
    """`strict LRU` or `relaxed LRU`."""
    said = (words(cell) or "").lower()
    return "relaxed" in said if "relaxed" in said or "strict" in said else None


def kilobytes(cell: str) -> float:
    """Bytes, as kilobytes; it must be there."""
    read = count(cell)
    if not isinstance(read, float) or read <= 0:
        raise Doubt
    return read / KILO


def megabytes(cell: str) -> Reading:
    """Megabytes, as kilobytes; of `1.234` nobody knows whether it is 1 or 1,234, so it says nothing."""
    if ONE_GROUP.fullmatch(cell.strip()):
        return ABSENT
    try:
        read = count(cell)
    except Doubt:
        read = percent(cell)
    return read * KILO if isinstance(read, float) else read


def waiting(cell: str) -> bool | None:
    """`Granted` or `Requested`, as recalled; `None` for other words."""
    said = (words(cell) or "").lower()
    return {"granted": False, "requested": True, "waiting": True, "blocked": True}.get(said)


def blocking(cell: str) -> bool | None:
    """`Blocking`, `Blocked` or nothing, as recalled: whether somebody waits for this lock."""
    said = (words(cell) or "").lower()
    return "blocking" in said if said else None
