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
