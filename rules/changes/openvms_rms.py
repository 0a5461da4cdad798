"""Global buffers of one file of RMS (SET FILE/GLOBAL_BUFFERS), and query locks of a system (SET RMS_DEFAULT).

The count is an attribute of the file: every program that opens it shares so many buffers. Each costs the largest bucket
of the file, out of GBLPAGFIL and the page file (help text of GBLPAGFIL). Query locks are no attribute of a file: the
system's default holds for files opened afterwards and is lost at a boot (DCL help, SET RMS_DEFAULT/QUERY_LOCK).
Not in a source, practice: that the count is changed while no program has the file open, and read when it is opened.
"""

from math import ceil

from rules.changes.openvms_cpu import STARTUP, decision
from rules.changes.openvms_sysgen import UNSHOWN
from rules.changes.out_of_range import OutOfRange
from rules.changes.quoting import Unquotable, comment, openvms_file
from rules.finding import Change, Effect, Risk

BLOCK = 512
"""Bytes of a disk block."""
MEMORY_PAGE = 8192
"""Bytes of a page of memory on Alpha and Integrity."""
MOST_BUFFERS = 32_767
"""What a file may have whatever its organization (help text of GB_DEFPERCENT; indexed files may have more)."""
CLOSED_ONCE = Risk("medium", "every program closes the file once; the buffers come out of the page file")


def size_of(buffers: float, bucket_blocks: float) -> tuple[float, int]:
    """MiB and pages of memory that so many buffers take."""
    size = buffers * bucket_blocks * BLOCK
    return size / 2**20, ceil(size / MEMORY_PAGE)


def global_buffers(file: str, old: float | None, new: int, bucket_blocks: float) -> Change:
    """Give a file global buffers. `old` is the count in the export, `None` where none was shown.

    Raises `OutOfRange` for a count that no file takes or that it has already. A name that cannot be written safely
    makes a change to be applied by hand.
    """
    if not 1 <= new <= MOST_BUFFERS or new == old:
        raise OutOfRange(f"{new} global buffers: 1 to {MOST_BUFFERS}, and another number than now")
    mb, pages = size_of(new, bucket_blocks)
    back = f"{old:.0f}" if old is not None else UNSHOWN
    try:
        name = openvms_file(file)
    except Unquotable:
        return Change(
            key=f"openvms.rms:by hand:{comment(file, 60)}",
            target="global buffers",
            old=old,
            new=new,
            apply=(f"$! by hand: {new} global buffers for {comment(file, 60)}",),
            undo=(f"$! by hand: its global buffers back to {back}",),
            takes_effect=Effect.ADVICE,
            memory_mb=mb,
        )
    disk = name.partition(":")[0]
    look = (f"$ DIRECTORY/FULL {name}",)
    return Change(
        key=f"openvms.rms:{name}",
        target=f"global buffers of {name}",
        old=old,
        new=new,
        risk=CLOSED_ONCE,
        apply=(
            f"$! the count now (Global buffer count); {'the export showed ' + back if old is not None else 'note it'}",
            *look,
            f"$! who has it open: on every node of the cluster, SHOW DEVICE/FILES {disk}:",
            "$! room: what GBLPAGFIL allows, and what global page-file sections take of it (RMS$ and 8 digits)",
            "$ MCR SYSGEN SHOW GBLPAGFIL",
            "$ INSTALL LIST/GLOBAL",
            *decision(
                f"$ SET FILE/GLOBAL_BUFFERS={new} {name}",
                "any program on any node has the file open",
                f"GBLPAGFIL or the page file has no room for {pages:,} pages of {MEMORY_PAGE:,} bytes more, on each "
                "node that opens the file",
            ),
            f"$! check that the count is {new}; then start the programs, which take it when they open the file",
            *look,
        ),
        undo=(
            f"$! while no program has the file open: back to {back}",
            f"$ SET FILE/GLOBAL_BUFFERS={back} {name}" if old is not None else f"$! SET FILE/GLOBAL_BUFFERS={back}",
            *look,
        ),
        takes_effect=Effect.OFFLINE,
        cautions=(
            f"Each node that opens the file needs {mb:,.1f} MiB ({pages:,} pages) of GBLPAGFIL and of the page file: "
            "where they do not suffice, opening it fails.",
            "Check: setting it while the file is closed everywhere is practice, not from a manual. Needs write access "
            "to the file.",
        ),
        memory_mb=mb,
    )


def open_for_input(file: str, programs: str) -> Change:
    """Have programs that only read a file open it for input alone: a template, as it is a change of the programs.

    `programs` as they may be printed; empty where no listing names them. Source: knowledge/openvms-rdb-more.md, W10
    (practice): a stream that is opened for update locks each record that it reads.
    """
    name = comment(file, 80)
    who = programs or "the programs that only read it"
    return Change(
        key=f"openvms.rms:input:{name}",
        target=f"access of {who} to {name}",
        old="update" if programs else None,
        new="input alone",
        apply=(
            f"$! {name}: which of its programs never write to it? An OPEN without ACCESS is one for update:",
            "$!   BASIC: ACCESS READ, with a USEROPEN that clears MSE; COBOL: OPEN INPUT",
            "$!   then link that program, and start it anew; measure with LOCK_ACTV",
        ),
        undo=(f"$! the programs of {name}: back to the image that opens it for update",),
        takes_effect=Effect.ADVICE,
        condition="where the program never writes to the file; ask who develops it",
    )


def query_locks() -> Change:
    """Let RMS ask the lock manager no longer whether a record is locked: a template, as the programs must be known.

    Source: DCL help, SET RMS_DEFAULT/QUERY_LOCK; OpenVMS V7.3 New Features 5.12, which asks to look for programs that
    depend on the alternate success codes.
    """
    line = "$!   SET RMS_DEFAULT/QUERY_LOCK="
    return Change(
        key="openvms.rms:QUERY_LOCK",
        target="QUERY_LOCK of RMS",
        old="ENABLE (default)",
        new="DISABLE",
        apply=(
            "$! only for readers with NLK and RRL (lock nothing, read what is locked). Look, then try one process:",
            "$ SHOW RMS_DEFAULT",
            f"{line}DISABLE",
            f"$! where it helps, for the whole system until its next boot; for good, the same line in {STARTUP}:",
            f"{line}DISABLE/SYSTEM",
            "$! files opened afterwards take it",
        ),
        undo=(
            f"{line}SYSTEM_DEFAULT",
            f"{line}ENABLE/SYSTEM",
            f"$! and the line out of {STARTUP} again",
        ),
        takes_effect=Effect.ADVICE,
        condition="when its readers use NLK with RRL: it spares others nothing",
        cautions=(
            "Not where a program depends on RMS$_OK_RLK or RMS$_OK_RRL: these codes are no longer returned (V7.3 New "
            "Features, 5.12).",
        ),
    )
