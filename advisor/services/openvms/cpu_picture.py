"""The CPU map as boxes for the chart."""

from markupsafe import Markup

from advisor.charts.cpus import CoreBox, CpuBox, cpu_map
from advisor.services.openvms.cpus import CpuMap, Shown

ALONE = {
    "not read": ("co-thread", "not read"),
    "none": ("no co-thread",),
    "displays disagree": ("displays", "disagree on", "its co-thread"),
}
"""What stands below a CPU that is drawn alone, by what is known of its co-thread."""


def drawn(shown: CpuMap) -> Markup:
    """The picture."""
    return cpu_map([_core(core, shown) for core in shown.cores], title=f"CPUs of {shown.node}")


def _core(core: tuple[Shown, ...], shown: CpuMap) -> CoreBox:
    numbers = tuple(one.number for one in core)
    clash = shown.conflict is not None and set(shown.conflict) == set(numbers)
    notes = ALONE.get(core[0].mate_said, ("co-thread", core[0].mate_said)) if len(core) == 1 else ()
    if clash and shown.conflict:
        notes = (f"conflict: CPU {shown.conflict[1]} runs beside it",)
    return CoreBox(tuple(_cpu(one, shown) for one in core), notes, clash)


def _cpu(one: Shown, shown: CpuMap) -> CpuBox:
    return CpuBox(
        number=one.number,
        state=one.state,
        names=(*one.services, *one.devices),
        modes=one.figures,
        outlined=one.number == shown.chosen,
        moving=one.moving,
    )
