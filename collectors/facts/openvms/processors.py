"""A node, its processors, and what runs on which of them."""

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from collectors.facts.base import ABSENT, Fact, Reading

T4 = "a T4 composite CSV of a busy day (T4$SYS:T4$CONFIG.COM collects it)"


@dataclass(frozen=True, kw_only=True)
class OfNode(Fact):
    """What is true of one node. An export of several nodes names the node in each fact; else `None` may stand."""

    node: str | None = None


@dataclass(frozen=True, kw_only=True)
class Node(Fact):
    """An OpenVMS node."""

    COLLECTED_BY: ClassVar[str] = "SHOW FASTPATH"

    name: str
    hardware: str | None = None
    """`HP BL870c (1.59GHz/9.0MB)`, as printed but for runs of blanks."""
    version: str | None = None
    """`V8.4`."""
    active_cpus: Reading = ABSENT
    memory_mb: Reading = ABSENT
    at: datetime | None = None
    """When the display was made, where it says so; the node's own clock, without a zone."""
    uptime_seconds: Reading = ABSENT
    """Since the last boot, where the display says so (SHOW SYSTEM, a MONITOR recording)."""


@dataclass(frozen=True, kw_only=True)
class FastpathDevice(Fact):
    """A port whose I/O completes on one preferred CPU."""

    COLLECTED_BY: ClassVar[str] = "SHOW FASTPATH"

    device: str
    """`EWA0`, without the colon and underscore that some displays put round it."""
    cpu: int
    node: str | None = None
    """Whose device, where the display names the node."""
    placed_on: int | None = None
    """The CPU that a line with SET DEVICE/PREFERRED_CPUS below the display gives it, as of a startup file."""


@dataclass(frozen=True, kw_only=True)
class KernelService(Fact):
    """TCP/IP (its packet processing engine) or the lock manager, on the CPU it runs on now."""

    COLLECTED_BY: ClassVar[str] = "SHOW FASTPATH"

    service: str
    """`OpenVMS TCP/IP` or `OpenVMS Lock Manager`, as printed."""
    cpu: int
    node: str | None = None


@dataclass(frozen=True, kw_only=True)
class Cpu(Fact):
    """One CPU as SHOW CPU prints it."""

    COLLECTED_BY: ClassVar[str] = "SHOW CPU/FULL"

    number: int
    state: str | None = None
    """`RUN`, or another word where it is stopped; `INACTIVE` where a display only lists it outside the active set."""
    cothread: Reading = ABSENT
    """The CPU id of the sibling on the same core (`Cothd`). Absent from a full display: no co-threads."""
    full: bool = False
    """Whether this was a /FULL display: only then does a missing `Cothd` line mean anything."""
    process: str | None = None
    pid: str | None = None
    primary: bool | None = None
    node: str | None = None
    """Whose CPU, where the display names the node."""
    fastpath: tuple[str, ...] = ()
    """Ports whose I/O completes here, where the full display lists them (seen on Alpha)."""
    rad: int | None = None
    """Resource affinity domain, where the capabilities of the full display name one (seen on Alpha)."""
    excluded: str = ""
    """Why it is not simply started, by the sets of the display or its features: `hard excluded`, `no autostart` …"""

    @property
    def running(self) -> bool:
        """Whether this CPU takes part; a state that was not printed counts as running."""
        return self.state is None or self.state.upper() == "RUN"


@dataclass(frozen=True, kw_only=True)
class CpuRemark(OfNode):
    """What a person wrote of CPUs that were stopped on purpose and are to stay so."""

    COLLECTED_BY: ClassVar[str] = 'an extract of OPERATOR.LOG: SEARCH SYS$MANAGER:OPERATOR.LOG "STOP/CPU"/WINDOW=3'

    cpus: tuple[int, ...]
    text: str
    """One line, cut where it is long."""
    by: str | None = None
    """The user of the operator's message; `None`: a comment that nobody signed."""
    at: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class ProcessorModes(OfNode):
    """Time in processor modes, all CPUs together: per cent of one CPU, so 200 is two CPUs' worth."""

    COLLECTED_BY: ClassVar[str] = T4

    statistic: str
    """`mean`, `p95` (each figure's own 95th percentile), `at lock peak` or `at mp synch peak` (one sample); of
    MONITOR displays also `current` (the last interval), `minimum` and `maximum` (each figure's own)."""
    interrupt_percent: Reading = ABSENT
    mp_synch_percent: Reading = ABSENT
    kernel_percent: Reading = ABSENT
    exec_percent: Reading = ABSENT
    super_percent: Reading = ABSENT
    user_percent: Reading = ABSENT
    idle_percent: Reading = ABSENT
    cpus: Reading = ABSENT
    """Active CPUs: the sum of the modes ÷ 100, or the number of per-CPU column groups."""


@dataclass(frozen=True, kw_only=True)
class CpuModes(OfNode):
    """Time in processor modes of one CPU, per cent."""

    COLLECTED_BY: ClassVar[str] = T4

    statistic: str
    cpu: int
    interrupt_percent: Reading = ABSENT
    mp_synch_percent: Reading = ABSENT
    kernel_percent: Reading = ABSENT
    user_percent: Reading = ABSENT
    idle_percent: Reading = ABSENT


@dataclass(frozen=True, kw_only=True)
class SysgenParameter(Fact):
    """One system parameter of SYSGEN, SYSMAN or SYSBOOT."""

    COLLECTED_BY: ClassVar[str] = "MCR SYSGEN SHOW /ALL"

    name: str
    current: Reading | str = ABSENT
    default: Reading | str = ABSENT
    minimum: Reading | str = ABSENT
    maximum: Reading | str = ABSENT
    """`-1` in this column means unlimited."""
    unit: str | None = None
    """Possibly cut to ten characters."""
    dynamic: bool = False
    node: str | None = None
    """Where SYSMAN named the node, or sessions of SYSGEN on several nodes stand in one file."""
    in_use: str | None = None
    """Whose values the listing shows: `active` (what runs), `current` (what the next boot takes), `default`, the name
    of a parameter file, or `work area` (set, and written nowhere). `None`: no line says so; SYSGEN and SYSMAN begin
    with the active values, so it is taken for them."""

    @property
    def runs(self) -> bool:
        """Whether this is the value that runs, as far as the listing says."""
        return self.in_use in (None, "active")
