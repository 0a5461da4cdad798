"""What Performance Toolkit and performance reports say of a z/VM system: spin locks of CP, processors, runs.

Rates are per second of elapsed time; per cent of time is an average over the processors, so 25 on 16 processors is four
processors' worth. `statistic` is `mean` (the whole interval) or the time of day at which an interval of the log ended.
"""

from dataclasses import dataclass
from typing import ClassVar

from collectors.facts.base import ABSENT, Fact, Reading, known

PERFKIT = "a Performance Toolkit page {0}, saved as text"
DISPATCHER_9C = "Diagnose X'9C' by HCPDSP"
"""The `SystemCounter` that APAR VM65988 speaks of, on FCX239: how often the dispatcher gave its processor away."""
TABLE = "a performance report's table of runs: Tx/sec, CP msec/Tx, Avg Spin Lock Rate, Pct Spin Time"


@dataclass(frozen=True, kw_only=True)
class PerfkitPage(Fact):
    """One page of Performance Toolkit: whose it is and what time it covers."""

    COLLECTED_BY: ClassVar[str] = PERFKIT.format("FCX265 (LOCKLOG)")

    report: str
    """`FCX265`."""
    machine: str | None = None
    """Machine type, `2817`."""
    serial: str | None = None
    start: str | None = None
    """`HH:MM:SS` as printed: the page gives no date."""
    end: str | None = None
    seconds: Reading = ABSENT
    release: str | None = None
    """Of z/VM, where the page or its heading names one: `6.4.0`, `7.1`."""
    processors: Reading = ABSENT
    date: str | None = None
    """`2026-03-04`, the day it begins: printed reports name it, screens do not."""

    @property
    def system(self) -> str | None:
        """`2817-36D85`: what a page calls the system it is of."""
        return f"{self.machine}-{self.serial}" if self.machine and self.serial else None


@dataclass(frozen=True, kw_only=True)
class SpinLock(Fact):
    """One lock of CP, or all of them: how often a request had to spin, and for how long."""

    COLLECTED_BY: ClassVar[str] = PERFKIT.format("FCX265 (LOCKLOG) or FCX326 (LOCKACT)")

    lock: str
    """`SRMSLOCK`, or `Total` for all locks."""
    statistic: str = "mean"
    total: bool = False
    collisions_per_second: Reading = ABSENT
    average_spin_usec: Reading = ABSENT
    spin_percent: Reading = ABSENT
    cads_per_second: Reading = ABSENT
    exclusive_collisions_per_second: Reading = ABSENT
    exclusive_average_spin_usec: Reading = ABSENT
    exclusive_spin_percent: Reading = ABSENT
    exclusive_cads_per_second: Reading = ABSENT
    shared_collisions_per_second: Reading = ABSENT
    shared_average_spin_usec: Reading = ABSENT
    shared_spin_percent: Reading = ABSENT
    shared_cads_per_second: Reading = ABSENT


@dataclass(frozen=True, kw_only=True)
class ServiceStatus(Fact):
    """Whether a fix is applied to a component of z/VM, as its service tools say."""

    COLLECTED_BY: ClassVar[str] = "a list of service applied to CP, by SERVICE CP STATUS and the number of the APAR"

    apar: str
    """`VM65988`."""
    component: str
    """`CP`."""
    applied: bool


@dataclass(frozen=True, kw_only=True)
class SystemCounter(Fact):
    """One counter of CP: FCX102 (SYSTEM), or one that FCX239 (PROCSUM) names."""

    COLLECTED_BY: ClassVar[str] = PERFKIT.format("FCX102 (SYSTEM)")

    name: str
    count: Reading = ABSENT
    per_second: Reading = ABSENT


@dataclass(frozen=True, kw_only=True)
class ProcessorLoad(Fact):
    """How busy one processor was (FCX144, FCX239), or the mean of all of them (FCX225: `cpu` is `None`)."""

    COLLECTED_BY: ClassVar[str] = PERFKIT.format("FCX225 (SYSSUMLG)")

    cpu: int | None = None
    kind: str | None = None
    """`CP`, `IFL`, …, where printed."""
    statistic: str = "mean"
    busy_percent: Reading = ABSENT
    """Of one processor; of all together their mean."""
    cp_percent: Reading = ABSENT
    """CP's own work for users and for the system."""
    emulation_percent: Reading = ABSENT
    """The guests' own work."""
    system_percent: Reading = ABSENT
    """CP's work that belongs to no guest: system overhead."""
    spin_percent: Reading = ABSENT
    diagnose_9c_per_second: Reading = ABSENT
    diagnose_44_per_second: Reading = ABSENT
    tv_ratio: Reading = ABSENT
    """Total time ÷ emulation time: 1 is no overhead."""
    users: Reading = ABSENT
    """Logged on."""
    processors: Reading = ABSENT
    """How many were online, on a row of the mean."""


@dataclass(frozen=True, kw_only=True)
class GuestTimers(Fact):
    """How many Linux guests a list has, and of how many the kernel ticks: one list of one moment."""

    COLLECTED_BY: ClassVar[str] = "a list of the idle Linux guests: uname -r and cat /proc/sys/kernel/hz_timer of each"

    guests: Reading = ABSENT
    ticking: Reading = ABSENT
    """With hz_timer 1: a timer interrupt every 10 ms even when idle."""
    on_demand: Reading = ABSENT
    """With hz_timer 0."""


@dataclass(frozen=True, kw_only=True)
class PerformanceRun(Fact):
    """One measured run: a column of a performance report's vertical table."""

    COLLECTED_BY: ClassVar[str] = TABLE

    run: str
    """Run ID, `44UPP9`; where none is printed, the column's number."""
    title: str | None = None
    """What the table is called, where it says so."""
    release: str | None = None
    """`4.4.0`."""
    processors: Reading = ABSENT
    transactions_per_second: Reading = ABSENT
    sie_per_second: Reading = ABSENT
    total_msec_per_tx: Reading = ABSENT
    """CPU time per transaction, all processors."""
    cp_msec_per_tx: Reading = ABSENT
    emul_msec_per_tx: Reading = ABSENT
    spin_rate: Reading = ABSENT
    """Times per second that a request had to spin, an average per processor."""
    spin_time_usec: Reading = ABSENT
    """Mean time of one spin, µs."""
    spin_percent: Reading = ABSENT
    """Time spent spinning, % of a processor, mean over the processors."""
    total_util_percent: Reading = ABSENT
    """Mean utilisation of a processor."""
    system_util_percent: Reading = ABSENT
    ratios: tuple[tuple[str, float], ...] = ()
    """As printed below the table: field of this class → this run ÷ its base run."""
    base: str | None = None
    """The run that the printed ratios are against; its own for a base run, `None` where no ratio is printed."""
    wrong: tuple[str, ...] = ()
    """Identities that the printed figures do not keep, each in words; rules do not believe such a run."""

    @property
    def spin_msec_per_tx(self) -> float | None:
        """CPU time spent spinning per transaction, ms: processors × Pct Spin Time × 10 ÷ transactions per second."""
        cpus, spin, rate = self.processors, self.spin_percent, self.transactions_per_second
        if not (known(cpus) and known(spin) and known(rate)) or rate <= 0:
            return None
        return cpus * spin * 10 / rate

    @property
    def spin_share_of_cp_percent(self) -> float | None:
        """How much of CP's time per transaction went into spinning."""
        spun, cp = self.spin_msec_per_tx, self.cp_msec_per_tx
        return 100 * spun / cp if spun is not None and known(cp) and cp > 0 else None


__all__ = ["GuestTimers", "PerfkitPage", "PerformanceRun", "ProcessorLoad", "SpinLock", "SystemCounter"]
