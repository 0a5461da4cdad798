"""Releases of z/VM, and what each did for CP's spin locks: what an upgrade can be advised for.

Table a5 of knowledge/zvm-unix-scalability.md. Of most rows nothing measured was published; no gain is promised.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from collectors.facts import Facts, Source
from collectors.facts.zvm import PerfkitPage, ServiceStatus
from rules.finding import MissingInput

SRMSLOCK, HCPTRQLK, DSVLOCK = "SRMSLOCK", "HCPTRQLK", "DSVLOCK"
SCHEDULER = (SRMSLOCK, HCPTRQLK, DSVLOCK)
"""The scheduler lock and the two that were parted from it."""
NOTHING: Mapping[str, bool] = MappingProxyType({})
REDESIGN = "VM65988"
"""The APAR after which the figures of `SRMSLOCK` are others: an aggregate, with waits that were not counted before."""
RELEASE = re.compile(
    r"\s*(?:z/VM\s{1,4})?(?:V(?:ersion\s{1,4})?)?(\d{1,2})(?:\.|\s{1,4}Release\s{1,4})(\d{1,2})(?:\.(\d{1,2}))?(?![\d.])",
    re.I,
)
ASK = MissingInput("release of z/VM", "QUERY CPLEVEL")


@dataclass(frozen=True, order=True)
class Release:
    """`6.4.0`: version, release, modification."""

    version: int
    release: int
    modification: int = 0

    def __str__(self) -> str:
        """As reports print it: `4.4.0`, `7.1.0`."""
        return f"{self.version}.{self.release}.{self.modification}"


def parsed(printed: str | None) -> Release | None:
    """`4.4.0`, `z/VM 7.1`, `Version 6 Release 4.0`; `None` for anything else."""
    found = RELEASE.match((printed or "")[:60])
    return Release(int(found[1]), int(found[2]), int(found[3] or 0)) if found else None


def release_of(facts: Facts) -> tuple[Release, Source] | None:
    """The release that the pages name, of the latest that does; `None` where none does or they differ."""
    named = [(release, page.source) for page in facts.every(PerfkitPage) if (release := parsed(page.release))]
    return named[-1] if len({release for release, _ in named}) == 1 else None


@dataclass(frozen=True)
class Improvement:
    """What a release, or service on one before it, did for spin locks."""

    since: Release
    """The first release that has it in its base."""
    change: str
    locks: tuple[str, ...] = ()
    """Which it reduces; empty: any, by what many processors do to each other."""
    service: str = ""
    """How to get it on earlier releases, where that is."""
    service_on: tuple[Release, ...] = ()
    measured: str = ""
    """What was published of its effect; empty: nothing."""

    def helps(self, lock: str) -> bool:
        """Whether it reduces this lock."""
        return not self.locks or lock in self.locks

    @property
    def says(self) -> str:
        """As a clause, with how to get it earlier."""
        where = f"{self.since} ({self.service})" if self.service else f"{self.since}"
        return f"{where}: {self.change}{f' [{self.measured}]' if self.measured else ''}"


ALL = (
    Improvement(
        Release(4, 4),
        "timer requests left the scheduler lock for a lock of their own, HCPTRQLK",
        (SRMSLOCK,),
        measured="CP ms per transaction 23.1 → 3.03 on 9 processors, 54.1 → 47.0 on 16, 3.23 → 3.13 on 3",
    ),
    Improvement(
        Release(5, 3),
        "the scheduler lock can be held shared, and each processor's dispatch vector has its own lock",
        (SRMSLOCK,),
        measured="19 % more throughput than 5.2 on 24 processors",
    ),
    Improvement(
        Release(6, 2),
        "a processor that spins finds out who holds the lock and yields to it",
        service="APAR VM64927 on 5.4 and 6.1",
        service_on=(Release(5, 4), Release(6, 1)),
    ),
    Improvement(Release(6, 3), "HiperDispatch: work runs on no more processors than it needs"),
    Improvement(
        Release(6, 4),
        "fewer exclusive holds of the scheduler lock, and SRMSLOCK alone in its cache lines",
        (SRMSLOCK,),
        service="z/VM for z13 and APAR VM65696, service to 6.3",
        service_on=(Release(6, 3),),
    ),
    Improvement(
        Release(7, 1),
        "the shared-exclusive spin locks were redesigned",
        SCHEDULER,
        service=f"APAR {REDESIGN} on 6.4, with VM65943 and VM65942",
        service_on=(Release(6, 4),),
    ),
    Improvement(
        Release(7, 1),
        "processors are unparked more sparingly, which costs PR/SM less",
        service="APAR VM66063 on 6.4",
        service_on=(Release(6, 4),),
    ),
)
"""Oldest first. That 6.4 has in its base what was service to 6.3 follows from the order of releases."""


APAR = re.compile(r"\bVM\d{5}\b")
OF_CP = "CP"


def service_of(facts: Facts) -> dict[str, bool]:
    """Whether each APAR that was asked for is applied to CP, by its number."""
    return {one.apar: one.applied for one in facts.every(ServiceStatus) if one.component == OF_CP}


def applied(one: Improvement, service: Mapping[str, bool]) -> bool | None:
    """Whether the service that brings it is applied; `None`: nobody asked."""
    found = APAR.search(one.service)
    return service.get(found[0]) if found else None


def ask_service(one: Improvement) -> MissingInput:
    """What tells whether it is on a release that can have it as service."""
    number = APAR.search(one.service)
    how = f" (SERVICE CP STATUS {number[0]})" if number else ""
    return MissingInput(
        "service applied to CP", f"the list of service applied to CP{how}: is this in it: {one.service}"
    )


def newer(release: Release, lock: str, service: Mapping[str, bool] = NOTHING) -> tuple[Improvement, ...]:
    """What later releases did for this lock, the oldest first; without what is applied as `service`."""
    later = (one for one in ALL if one.since > release and one.helps(lock))
    return tuple(one for one in later if not (release in one.service_on and applied(one, service)))


MOST_MEASURED = 3
"""Improvements that are listed with what was published of their effect."""


def listed(rows: Sequence[Improvement]) -> str:
    """What several did, as clauses; of few with what was measured. How to get them earlier is in `upgrade`."""
    few = len(rows) <= MOST_MEASURED
    return "; ".join(f"{one.since}: {one.change}{f' [{one.measured}]' if one.measured and few else ''}" for one in rows)


REDUCE = "Reduce what takes the lock: timer requests of idle guests, and processors that the load does not need."
"""Where every improvement that is known is in the release already."""


def upgrade(rows: Sequence[Improvement], release: Release | None = None, service: Mapping[str, bool] = NOTHING) -> str:
    """The step to take, as a sentence: service that this release can have, else the first release that has one.

    `service`: what is known to be applied, or not.
    """
    newest = f"{rows[-1].since.version}.{rows[-1].since.release}"
    has = f"{newest} has {'them all' if len(rows) > 1 else 'it'}"
    row = next((one for one in reversed(rows) if release in one.service_on), None)
    if release and row and (own := row.service):
        between = next((one.service for one in reversed(rows) if one.service_on and release < one.service_on[0]), "")
        later = f" (the last change comes as {between}, too)" if between else ""
        if applied(row, service) is False:
            return f"Apply {own}: it is not applied; where it runs on this machine, {has}{later}."
        return f"See first whether {own}, is applied, and apply it if not; where it runs on this machine, {has}{later}."
    first = rows[0].since
    if f"{first.version}.{first.release}" == newest:
        too = f"; {rows[0].service} has it, too" if rows[0].service else ""
        return f"Take z/VM {first} or a later release, as far as this type of machine runs it{too}."
    return f"Take z/VM {first} or the newest later release that this type of machine runs: {has}."


def redesigned(release: Release | None) -> bool | None:
    """Whether the locks of `SCHEDULER` are those of `REDESIGN`; `None` where service decides or nothing is known."""
    if release is None or Release(6, 4) <= release < Release(7, 1):
        return None
    return release >= Release(7, 1)


NOT_COMPARABLE = (
    f"Spin figures of SRMSLOCK from before and after {REDESIGN} are not comparable, as the row became an aggregate "
    "with waits that were not counted before: judge by CP time per transaction or system overhead."
)


def comparable(one: Release | None, other: Release | None) -> bool | None:
    """Whether spin figures of the two releases mean the same; `None` where it is not known."""
    first, second = redesigned(one), redesigned(other)
    return None if first is None or second is None else first == second
