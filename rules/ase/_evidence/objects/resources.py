"""Resources of SAP ASE that are configured by number and can run out, as `sp_monitorconfig` counts them."""

from math import ceil

from collectors.facts import Facts, known
from collectors.facts.ase import ConfigParameter, ResourceUsage
from rules.changes.ase_config import configure, more_memory, waiting_number
from rules.finding import Change

LOCKS = "number of locks"
USED_PERCENT = 90.0
"""Practice: DbxTune warns where as much of the locks or of the user connections is in use."""
PRINTED = 25
"""Characters of a name that the server prints."""


def usages_of(facts: Facts, name: str) -> list[ResourceUsage]:
    """The newest line of each instance for one resource, whose name the server may have cut."""
    rows = [one for one in facts.every(ResourceUsage) if one.name.lower()[:PRINTED] == name[:PRINTED]]
    return list({one.instance: one for one in rows}.values())


def used_percent(facts: Facts, name: str) -> float | None:
    """How much of a resource was in use at most, per cent, of the instance with most; `None` where it is not known."""
    found = []
    for one in usages_of(facts, name):
        if known(one.active) and known(one.free) and one.active + one.free > 0:
            most = max(one.active, one.max_used if known(one.max_used) else 0.0)
            found.append(100.0 * most / (one.active + one.free))
    return max(found, default=None)


def more_locks(setting: ConfigParameter | None, running: float, most: float) -> Change | None:
    """Twice the locks that were in use at most; `None` where as many are configured already.

    All rules that ask for more locks ask for this number, so that a plan holds it once.
    """
    new = ceil(2 * most / 1000) * 1000
    wanted = waiting_number(setting)
    if wanted is not None and wanted >= new:
        return None
    memory_mb, caution = more_memory(setting, running, new)
    sized = (
        f"At most {most:,.0f} of {running:,.0f} were in use: twice that is a first size (this project's); "
        "datarows takes one for each row, so watch Max_Used afterwards."
    )
    return configure(LOCKS, running, new, cautions=(sized, caution), memory_mb=memory_mb, configured=wanted)
