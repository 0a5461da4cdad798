"""Global buffers for one file of RMS: whether they are worth a try, how many, and what they take.

No source names a number of buffers for a file. The one used here is that which OpenVMS itself takes where a file has
the DEFAULT option: GB_CACHEALLMAX blocks of it or GB_DEFPERCENT of it, whichever is more, divided by the largest bucket
(help text of GB_DEFPERCENT; documented for Alpha and Integrity). Where these parameters were not read, they are asked
for, and first as many buffers are tried as the file has buckets, as far as a part of GBLPAGFIL and of the free memory
has room for them; where GBLPAGFIL is not known either, a smaller number.
"""

from dataclasses import dataclass

from collectors.facts import Facts, known
from collectors.facts.openvms import FileName
from rules.changes.openvms_rms import BLOCK, MEMORY_PAGE, MOST_BUFFERS, global_buffers, size_of
from rules.changes.quoting import Unquotable, openvms_file
from rules.finding import Change, MissingInput
from rules.openvms._evidence.memory import free_memory, free_paging
from rules.openvms._evidence.node import in_prose, parameter_of
from rules.openvms._evidence.releases import Machine

LARGEST, PERCENT, ALLOWED = "GB_CACHEALLMAX", "GB_DEFPERCENT", "GBLPAGFIL"
LONGWORD = 2**32 - 1
SETTINGS = (ALLOWED, PERCENT, LARGEST)
FIRST = 2_000
"""Buffers, this project: to try with where the DEFAULT option's own number is not known."""
PART = 0.1
"""This project: what the buffers of one file take of the free memory at most, beside half of GBLPAGFIL; of GBLPAGFIL
where the free memory is not known."""
KEEPS = "try global buffers: RMS then keeps read-mode bucket locks between accesses"


@dataclass(frozen=True)
class Buffers:
    """What may be said of global buffers for one file."""

    do: str
    """A clause for where several write; whole sentences where there is `no_room`."""
    change: Change | None = None
    missing: tuple[MissingInput, ...] = ()
    """What would give a number."""
    no_room: str = ""
    """That the buffers it has by its attributes cannot be there, as a clause."""


def buffers_for(facts: Facts, file: FileName | None, machine: Machine) -> Buffers:
    """Global buffers for a file that several write; `file` is `None` where its name is not known for sure.

    Declares `NODE_FACTS`.
    """
    if undocumented := _undocumented(machine):
        return Buffers(
            f"global buffers may help: of {undocumented} it is documented nowhere that they save bucket locks"
        )
    if file is None:
        return Buffers(KEEPS)
    now = file.global_buffers if known(file.global_buffers) else None
    allowed = _setting(facts, ALLOWED)
    if now:
        return _has_some(now, file.bucket_blocks if known(file.bucket_blocks) else None, allowed)
    if known(file.allocated_blocks) and not known(file.bucket_blocks):
        return Buffers(f"{KEEPS}; of a sequential file one takes the multiblock count of the first stream to connect")
    lacks = [name for name in SETTINGS if _setting(facts, name) is None]
    asked = tuple(MissingInput(f"{name} in use", f"MCR SYSGEN SHOW {name}") for name in lacks)
    found = _count(facts, file)
    if found is None:
        listing = MissingInput("bucket size and global buffers of the file", listing_of(file.name))
        full = known(file.bucket_blocks) and known(file.allocated_blocks)
        return Buffers(KEEPS, missing=(*(() if full else (listing,)), *asked))
    count, bucket = found
    mb, pages = size_of(count, bucket)
    has = "as the file has none, " if now == 0 else ""
    if allowed is not None and pages > allowed:
        return Buffers(
            f"global buffers need room first: {count:,} of {bucket:.0f} blocks are {pages:,} pages, more than "
            f"GBLPAGFIL ({allowed:,.0f}) allows in all"
        )
    paging = free_paging(facts)
    if paging and paging.mb < mb:
        return Buffers(
            f"global buffers need room in the page file first: {count:,} of {bucket:.0f} blocks are {in_prose(mb)} "
            f"MiB, and there are {paging.said}"
        )
    return Buffers(
        f"{has}try {count:,} global buffers (SET FILE/GLOBAL_BUFFERS={count} while closed; {in_prose(mb)} MiB of "
        "GBLPAGFIL and page file): RMS then keeps read-mode bucket locks",
        global_buffers(file.name, now, count, bucket),
        asked,
    )


def _has_some(now: float, bucket: float | None, allowed: float | None) -> Buffers:
    """Of a file that has global buffers by its attributes: whether GBLPAGFIL lets them be there at all.

    Its unit is a page of memory here; where they are more than that many, they are more pagelets all the same.
    """
    if bucket is None or allowed is None:
        return Buffers(
            f"see with INSTALL LIST/GLOBAL whether its {now:,.0f} global buffers are there (sections RMS$ and 8 "
            "digits); more of them spare no record lock"
        )
    pages = size_of(now, bucket)[1]
    if pages <= allowed:
        return Buffers(
            f"look at its record locks: it has {now:,.0f} global buffers already, and more of them spare no record lock"
        )
    return Buffers(
        f"raise GBLPAGFIL (MCR SYSGEN, USE ACTIVE, SET GBLPAGFIL {allowed + pages:.0f}, WRITE ACTIVE: at once; "
        f"MIN_GBLPAGFIL in MODPARAMS.DAT), and the page file by {pages:,} pages. Then every program closes the file "
        "once; INSTALL LIST/GLOBAL shows its section (RMS$ and 8 digits).",
        no_room=(
            f"its {now:,.0f} global buffers of {bucket:.0f} blocks take {pages:,} pages, more than GBLPAGFIL "
            f"({allowed:,.0f}) allows in all: they cannot be there"
        ),
    )


def _undocumented(machine: Machine) -> str:
    """The machine or release for which read-mode bucket locks are documented nowhere; empty where they are."""
    if machine.family in ("VAX", "x86-64"):
        return machine.family
    return f"OpenVMS {machine.release.printed}" if machine.release and machine.release.before(7, 3) else ""


def _count(facts: Facts, file: FileName) -> tuple[int, float] | None:
    """How many buffers the DEFAULT option would give it, else as many as there is room for; and of how many blocks."""
    bucket, blocks = file.bucket_blocks, file.allocated_blocks
    percent, most = _setting(facts, PERCENT), _setting(facts, LARGEST)
    if not (known(bucket) and known(blocks)) or bucket <= 0:
        return None
    cached = min(_tried_first(facts, bucket) * bucket, blocks)
    if percent is not None and most is not None:
        cached = max(min(most, blocks), blocks * percent / 100)
    count = min(int(cached // bucket), MOST_BUFFERS)
    return (count, bucket) if count else None


def _tried_first(facts: Facts, bucket: float) -> float:
    """Buffers that GBLPAGFIL and the free memory have room for, and half of what a file may have, at most."""
    free, allowed = free_memory(facts), _setting(facts, ALLOWED)
    if allowed is None:
        return FIRST
    if free is None:
        return max(FIRST, min(PART * allowed * MEMORY_PAGE // (bucket * BLOCK), MOST_BUFFERS // 2))
    room = min(PART * free.mb * 2**20, allowed / 2 * MEMORY_PAGE)
    return min(room // (bucket * BLOCK), MOST_BUFFERS // 2)


def _setting(facts: Facts, name: str) -> float | None:
    """What runs of a parameter; `None` where the export does not say, or says what is none."""
    found = parameter_of(facts, name, 0, LONGWORD)
    return found[0] if isinstance(found, tuple) else None


def listing_of(file: str) -> str:
    """What prints a file's attributes: a command to paste only where its name can stand in one."""
    try:
        return f"DIRECTORY/FULL {openvms_file(file)}"
    except Unquotable:
        return "a listing of DIRECTORY/FULL of that file"
