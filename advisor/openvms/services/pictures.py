"""What the charts of an OpenVMS capture draw: the CPU map as boxes, and the resource hash table over its size."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from markupsafe import Markup

from advisor.charts.buckets import Mark, over_buckets
from advisor.charts.cpus import CoreBox, CpuBox, cpu_map
from advisor.charts.sized import sized
from advisor.openvms.services.cpus import CpuMap, Shown
from advisor.openvms.services.hash_tables import Table
from advisor.openvms.services.what_if import Answer
from rules.laws.hashing import PROVEN

ALONE = {
    "not read": ("co-thread", "not read"),
    "none": ("no co-thread",),
    "displays disagree": ("displays", "disagree on", "its co-thread"),
}
"""What stands below a CPU that is drawn alone, by what is known of its co-thread."""


def drawn(shown: CpuMap, width: int = 480) -> Markup:
    """The picture, so many px wide."""
    return cpu_map([_core(core, shown) for core in shown.cores], title=f"CPUs of {shown.node}", width=width)


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


EDGE = f"{PROVEN:,}: gains beyond are unproven"


@dataclass(frozen=True)
class Pictures:
    """Both charts."""

    chains: Markup
    sharing: Markup


def pictures_of(answer: Answer) -> Pictures | None:
    """Draw them; `None` where no resources were typed or read."""
    if not answer.steps:
        return None
    chains = sized(
        partial(
            _over_buckets,
            answer,
            lambda one: one.chain,
            "Mean chain over buckets",
            "resources per bucket",
            decades=True,
        ),
        halves=True,
    )
    sharing = sized(
        partial(
            _over_buckets,
            answer,
            lambda one: one.sharing,
            "Names that share a bucket, over buckets",
            "%",
            decades=False,
        ),
        halves=True,
    )
    return Pictures(chains, sharing)


def _over_buckets(
    answer: Answer, figure: Callable[[Table], float], title: str, unit: str, width: int, *, decades: bool
) -> Markup:
    named = [("now", answer.now), ("asked for", answer.asked)]
    if answer.now and answer.asked and answer.now.buckets == answer.asked.buckets:
        named = [("now, and asked for", answer.now)]
    return over_buckets(
        [(one.buckets, figure(one)) for one in answer.steps],
        title=title,
        unit=unit,
        marks=[Mark(name, one.buckets, figure(one)) for name, one in named if one is not None],
        edge=PROVEN,
        edge_said=EDGE,
        logarithmic=decades,
        width=width,
    )
