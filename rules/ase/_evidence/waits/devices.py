"""How long the devices of SAP ASE take for a request, by two readings of `monDeviceIO`.

Its IOTime is of reads and writes together, so a device is told to be slow only for what it mostly does.
"""

from dataclasses import dataclass

from collectors.facts import Facts, known
from collectors.facts.ase import MonDeviceIO
from rules.changes.quoting import comment
from rules.finding import Evidence, MissingInput

MISSING = MissingInput("how long the devices take", MonDeviceIO.COLLECTED_BY)
NAMED = 3
"""Devices that are named."""
FEW = 10.0
"""This project: requests in the interval below which a mean says nothing of a device."""


@dataclass(frozen=True)
class Device:
    """One device over the interval."""

    row: MonDeviceIO
    requests: float
    writes: float
    mean_milliseconds: float

    @property
    def says(self) -> str:
        """Its name with its figures."""
        kind = "mostly writes" if self.writes > self.requests / 2 else "mostly reads"
        return f"{comment(self.row.device)} {self.mean_milliseconds:,.1f} ms each ({self.requests:,.0f}, {kind})"

    @property
    def evidence(self) -> Evidence:
        """Its mean time."""
        return Evidence(
            f"mean time of a request to {self.row.device}", round(self.mean_milliseconds, 1), "ms", self.row.source
        )


def devices_of(facts: Facts, *, writing: bool) -> list[Device]:
    """The devices that mostly write, or mostly read, and that took most of the time; the longest time first."""
    found = []
    for row in {(one.instance, one.device): one for one in facts.every(MonDeviceIO) if one.of_interval}.values():
        requests, mean = row.requests, row.mean_milliseconds
        if not row.believed or requests is None or mean is None or requests < FEW or mean < 0:
            continue
        writes = row.writes if known(row.writes) else 0.0
        if (writes > requests / 2) is writing:
            found.append(Device(row, requests, writes, mean))
    return sorted(found, key=lambda one: -one.requests * one.mean_milliseconds)[:NAMED]


def say_devices(devices: list[Device]) -> str:
    """As a sentence; empty without devices."""
    return f"Devices by time taken: {'; '.join(one.says for one in devices)}." if devices else ""
