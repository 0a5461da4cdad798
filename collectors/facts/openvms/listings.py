"""What DCL commands and AUTOGEN print of one node."""

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from collectors.facts.base import ABSENT, Fact, Reading
from collectors.facts.openvms.processors import OfNode


@dataclass(frozen=True, kw_only=True)
class Process(OfNode):
    """One process of SHOW SYSTEM."""

    COLLECTED_BY: ClassVar[str] = "SHOW SYSTEM"

    pid: str
    name: str
    state: str
    """`HIB`, `LEF`, `CUR`, `COM` …, without the number of the CPU."""
    cpu: int | None = None
    """Of a current process on a multiprocessor: the CPU it runs on."""
    priority: Reading = ABSENT
    io: Reading = ABSENT
    cpu_seconds: Reading = ABSENT
    page_faults: Reading = ABSENT
    pages: Reading = ABSENT
    kind: str | None = None
    """The letter at the end of the line: `N` network, `B` batch, `S` subprocess, `M` multithreaded."""


@dataclass(frozen=True, kw_only=True)
class MemoryUse(OfNode):
    """One line of SHOW MEMORY. The unit is that of the group's heading: pages of unknown size, slots or bytes."""

    COLLECTED_BY: ClassVar[str] = "SHOW MEMORY"

    group: str
    """`Physical Memory Usage`."""
    name: str
    """`Main Memory`, `Nonpaged Dynamic Memory`, a page file …"""
    unit: str
    """`pages`, `slots`, `bytes`."""
    figures: tuple[tuple[str, Reading], ...] = ()
    """Heading of the column → figure: (`Total`, 262144.0), (`Free`, …)."""
    size_mb: Reading = ABSENT
    """`Main Memory (24.00GB)`: 24576."""

    def figure(self, heading: str) -> Reading:
        """One column by its heading, without regard to case."""
        return next((value for name, value in self.figures if name.lower() == heading.lower()), ABSENT)


@dataclass(frozen=True, kw_only=True)
class GlobalSection(OfNode):
    """One global section of INSTALL LIST/GLOBAL that lies in the page file (DZRO), so in what GBLPAGFIL allows."""

    COLLECTED_BY: ClassVar[str] = "INSTALL LIST/GLOBAL"

    name: str
    """RMS$ and 8 digits: global buffers of a file."""
    pagelets: Reading = ABSENT
    """Of 512 bytes."""
    references: Reading = ABSENT


@dataclass(frozen=True, kw_only=True)
class ModparamsLine(OfNode):
    """One line of MODPARAMS.DAT: what AUTOGEN is told of a parameter. What runs, it does not say."""

    COLLECTED_BY: ClassVar[str] = "TYPE SYS$SYSTEM:MODPARAMS.DAT"

    name: str
    """The parameter, without the prefix."""
    prefix: str
    """`MIN_`, `MAX_`, `ADD_`, or empty: the line fixes the value."""
    value: Reading = ABSENT
    """A number; absent where the line has a text or a list of CPUs."""


@dataclass(frozen=True, kw_only=True)
class AutogenFeedback(OfNode):
    """What AGEN$PARAMS.REPORT says of one parameter."""

    COLLECTED_BY: ClassVar[str] = "TYPE SYS$SYSTEM:AGEN$PARAMS.REPORT"

    parameter: str
    old: Reading | str = ABSENT
    new: Reading | str = ABSENT
    levels: tuple[tuple[str, Reading], ...] = ()
    """Feedback lines as printed: (`Current number of locks`, 84700.0)."""
    override: str | None = None
    """`MIN_RESHASHTBL = 65536` or the like, where the report says that MODPARAMS.DAT overrides the computed value."""
    calculated: Reading = ABSENT
    """What AUTOGEN calculated, where the report says that something else became of it."""
    hard_coded: Reading = ABSENT
    """The value that a line `NAME = value` of MODPARAMS.DAT fixes, where the report says so."""


@dataclass(frozen=True, kw_only=True)
class AutogenRun(OfNode):
    """One AUTOGEN report: when, and how good its feedback is."""

    COLLECTED_BY: ClassVar[str] = "TYPE SYS$SYSTEM:AGEN$PARAMS.REPORT"

    at: datetime | None = None
    feedback_at: datetime | None = None
    uptime_hours: Reading = ABSENT
    """Hours of uptime the feedback covers: less than 24 is not worth using (the report warns)."""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class UserQuota(Fact):
    """Working sets of one user of SYSUAF, in pagelets of 512 bytes, and its locks, as processes get them at login."""

    COLLECTED_BY: ClassVar[str] = "a listing of SHOW in AUTHORIZE of the user whose processes fault most"

    user: str
    ws_default: Reading = ABSENT
    ws_quota: Reading = ABSENT
    """What a process may have even where memory is short (WSQUOTA)."""
    ws_extent: Reading = ABSENT
    """What it may have where memory is free (WSEXTENT)."""
    enqueue_limit: Reading = ABSENT
    """Locks that a process may own with its subprocesses (ENQLM); from V7.1 on 32,767 stands for no limit."""
