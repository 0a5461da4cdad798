"""The processors of the host that a server runs on."""

from dataclasses import dataclass
from typing import ClassVar

from collectors.facts.base import ABSENT, Fact, Reading, known


@dataclass(frozen=True, kw_only=True)
class HostProcessors(Fact):
    """What `lscpu` counts: logical CPUs, and the cores that they are threads of."""

    COLLECTED_BY: ClassVar[str] = "an lscpu of the host, run in its shell"

    cpus: Reading = ABSENT
    """Logical CPUs that are online."""
    threads_per_core: Reading = ABSENT
    model: str | None = None
    hypervisor: str | None = None
    """Where the host is a virtual machine: whose cores they are only the host below it knows."""

    @property
    def cores(self) -> float | None:
        """Logical CPUs without the further threads of each core; `None` where one of the two is not known."""
        if not known(self.cpus) or not known(self.threads_per_core) or self.threads_per_core < 1:
            return None
        return self.cpus / self.threads_per_core


@dataclass(frozen=True, kw_only=True)
class HostLoad(Fact):
    """What the processors of the host did on average, by `mpstat`, `sar -u`, `vmstat` or `top -b`.

    Of several intervals the mean; where the command counts its first one from the boot of the host, without that.
    """

    COLLECTED_BY: ClassVar[str] = "an mpstat -P ALL 60 5 of the host, in its shell, at the busiest hour"

    command: str
    """The command that printed it."""
    idle_percent: Reading = ABSENT
    """Of all logical CPUs together, 0 to 100; waiting for disks is idle, too."""
    steal_percent: Reading = ABSENT
    """Linux alone: when a CPU had work, and the hypervisor gave it to others."""
    cpus: Reading = ABSENT
    """Logical CPUs that the figures are of."""
    swap_kb_per_second: Reading = ABSENT
    """Into memory from the swap space and out to it, by Linux and AIX; others print it with what files page."""
    since_boot: bool = False
    """Whether it is the average since the boot of the host, which says nothing of an hour."""


@dataclass(frozen=True, kw_only=True)
class LoadAverage(Fact):
    """Tasks that run or want a processor on average, by `uptime`; on Linux with those that wait for disks, too."""

    COLLECTED_BY: ClassVar[str] = "an uptime of the host, in its shell, at the busiest hour"

    last_minute: Reading = ABSENT
    last_five: Reading = ABSENT
    last_fifteen: Reading = ABSENT

    @property
    def most(self) -> float | None:
        """The highest of the three; `None` where one of them is not known."""
        averages = [one for one in (self.last_minute, self.last_five, self.last_fifteen) if known(one)]
        return max(averages) if len(averages) == 3 else None


@dataclass(frozen=True, kw_only=True)
class HostMemory(Fact):
    """The memory of the host by `free` of Linux, megabytes."""

    COLLECTED_BY: ClassVar[str] = "a free -m of the host, in its shell, at the busiest hour"

    total_mb: Reading = ABSENT
    available_mb: Reading = ABSENT
    """What programs can still take; by releases without that column what is free without buffers and cache, at most."""


@dataclass(frozen=True, kw_only=True)
class PartitionLoad(Fact):
    """What a partition of AIX that shares processors used of them on average, by `lparstat`, in processors."""

    COLLECTED_BY: ClassVar[str] = "an lparstat 60 5 of the host, in its shell, at the busiest hour"

    capped: bool
    """Whether it never gets more than it is entitled to."""
    entitled: Reading = ABSENT
    used: Reading = ABSENT
