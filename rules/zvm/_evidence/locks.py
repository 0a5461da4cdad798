"""What is known of CP's spin locks by name: what each guards, and nothing that no source says.

Names: monitor record D0 R23 (MRSYTLCK), knowledge/zvm-unix-scalability.md a4. Remedies were published for three of
them alone, by release: `releases.py`.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from rules.zvm._evidence.releases import (
    DSVLOCK,
    HCPTRQLK,
    NOTHING,
    REDUCE,
    SCHEDULER,
    SRMSLOCK,
    Release,
    newer,
    redesigned,
    upgrade,
)


@dataclass(frozen=True)
class Known:
    """One lock: what it guards, and what one should know before reading its figures."""

    guards: str
    remark: str = ""


BY_NAME = {
    SRMSLOCK: Known("the scheduler's lists"),
    HCPTRQLK: Known("the queue of timer requests (TRQBK)"),
    DSVLOCK: Known("the dispatch vectors"),
    "SRMALOCK": Known("the scheduler's adjunct list"),
    "SRMATDLK": Known(
        "the update of two of the scheduler's times (SRMATOD, SRMATOD2)",
        f"It is not the scheduler lock, which is {SRMSLOCK}: what reduces that does nothing here.",
    ),
    "HCPDSVTL": Known("the topology of the dispatch vectors"),
    "HCPPGDPL": Known("page allocation"),
    "HCPPGDSL": Known("spool allocation"),
    "HCPPGDTL": Known("T-disk allocation"),
    "HCPPGDAL": Known("the list of CP volumes"),
    "HCPPGDML": Known("exposures and system MLOADs"),
    "RSAAVLLK": Known("the list of available frames below 2 GB"),
    "RSA2GLCK": Known("the list of available frames above 2 GB"),
    "RSAAVCLK": Known("the list of contiguous frames below 2 GB"),
    "RSA2GCLK": Known("the list of contiguous frames above 2 GB"),
    "RSACALLK": Known("the global list of cleared frames"),
    "RSANOQLK": Known("the queue of frames without an owner"),
    "RSASXQLK": Known("the SXSPM queue"),
    "FSDVMLK": Known("CP's free storage"),
    "RCCSFQL": Known("the queue of save frames"),
    "HCPRCCSL": Known("the list of symbolic locks"),
    "HCPRCCMA": Known("the switch to the master processor"),
    "SYSDATLK": Known("the system's date and time of day"),
    "DCTLLOK": Known("the control of the directory"),
    "NSUIMGLK": Known("image libraries (SNTBK)"),
    "NSUNLSLK": Known("national language files (SNTBK)"),
    "HCPTMFLK": Known("HCPTIMER"),
    "BUTDLKEY": Known("HCPBUTDL"),
}
GONE = {"RSAAVLLK": Release(7, 1)}
"""Locks that a release no longer has."""

FRAMES = "RSA"
"""How the locks of CP's lists of frames begin: none of the release notes and APARs that were read is of them."""
CASE = (
    "no release or APAR is known to reduce it, so collect storage and paging data of the same interval and open a case "
    "with IBM"
)

FEWER = "Where the load does not need all logical processors (FCX144), take some offline and compare the same hour."
"""IBM's performance report on z/VM 6.2 names too many logical processors as what makes any spin lock dearer."""


def known_of(lock: str, release: Release | None, service: Mapping[str, bool] = NOTHING) -> tuple[str, str, str]:
    """What a lock guards, a sentence on how to read its figures, and one on what reduces them; empty: not known."""
    found = BY_NAME.get(lock)
    if found is None:
        unknown = f"No source at hand says what {lock[:16]} guards or what reduces it, so nothing is advised for it."
        return "", "", unknown
    parts = [found.remark] if found.remark else []
    gone = GONE.get(lock)
    if gone is not None and release is not None and release >= gone:
        parts.append(f"z/VM {gone} no longer lists this lock and the page names {release}: hold one against the other.")
    if lock == SRMSLOCK and redesigned(release):
        parts.append("On this release the row is an aggregate of the processors' own locks.")
    do = "No remedy is published for it but less of what takes it"
    do = f"{do}; {CASE}." if lock.startswith(FRAMES) else f"{do}. {FEWER}"
    if lock in SCHEDULER and release is not None:
        rows = [one for one in newer(release, lock, service) if one.locks]
        do = upgrade(rows, release, service) if rows else REDUCE
    elif lock in SCHEDULER:
        do = "What reduces it depends on the release: see zvm/scheduler_lock_contended."
    return found.guards, " ".join(parts), do
