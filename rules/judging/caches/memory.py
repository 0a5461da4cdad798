"""What memory of SAP ASE is free for new caches: `max memory` less `total logical memory`."""

from dataclasses import dataclass

from collectors.facts import Facts, Source, known
from collectors.facts.ase import ConfigParameter, MemoryHeadroom
from rules.finding import Lacking

MEMORY_FACTS = (MemoryHeadroom, ConfigParameter)
MEMORY_MISSING = Lacking("memory that is free for reconfiguration", MemoryHeadroom.BRING)
PAGE_KB = 2.0
"""Unit of both parameters: `memory pages(2k)`, whatever the server's logical page."""


@dataclass(frozen=True)
class FreeMemory:
    """Megabytes, never below 0, and where they stand."""

    mb: float
    source: Source


def free_memory(facts: Facts) -> FreeMemory | None:
    """As `sp_configure "memory"` says it, else the difference of the two settings in force; `None` without either.

    A `max memory` that waits for nothing is dynamic: the run value counts.
    """
    said = facts.every(MemoryHeadroom)
    if said:
        return FreeMemory(max(0.0, said[-1].available_kb / 1024), said[-1].source)
    most = facts.latest(ConfigParameter, name="max memory")
    used = facts.latest(ConfigParameter, name="total logical memory")
    if most is None or used is None or not known(most.run_value) or not known(used.run_value):
        return None
    return FreeMemory(max(0.0, (most.run_value - used.run_value) * PAGE_KB / 1024), most.source)
