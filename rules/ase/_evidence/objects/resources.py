"""Resources of SAP ASE that are configured by number and can run out, as `sp_monitorconfig` counts them."""

from math import ceil

from collectors.facts import Facts
from collectors.facts.ase import ConfigParameter, ResourceUsage
from rules.changes.ase_config import configure, more_memory, waiting_number
from rules.finding import Change

LOCKS = "number of locks"
PRINTED = 25
"""Characters of a name that the server prints."""


def usages_of(facts: Facts, name: str) -> list[ResourceUsage]:
    """The newest line of each instance for one resource, whose name the server may have cut."""
    rows = [one for one in facts.every(ResourceUsage) if one.name.lower()[:PRINTED] == name[:PRINTED]]
    return list({one.instance: one for one in rows}.values())


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
