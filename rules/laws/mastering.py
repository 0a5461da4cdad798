"""What a cluster does by who is master of its lock trees: published runs, and nothing between them.

JCC Consulting's slides on the OpenVMS lock manager (2014): one process per node, each driving as hard as it can, all
locks below one parent and so with one master. The sum of all nodes as per cent of what the fastest node does alone.
Two or three nodes of unequal speed were run, so of four nodes, of equal ones or of unknown order there is no figure.
Nor is there one for a real machine where an emulator was master in the run, and the other way round.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from rules.sources import JCC

BL870C_OPERATIONS = 371_357.0
"""Lock operations per second of one process on a BL870c (1.59 GHz, 9 MB, no threads), the fastest node of the runs."""


@dataclass(frozen=True)
class Run:
    """One published run."""

    nodes: int
    rank: int
    """The master's: 1 is the fastest node."""
    master: str
    percent: float
    """All nodes together, of the fastest node's own rate."""
    emulator: bool = False
    """Whether the master was one."""


RUNS = (
    Run(2, 1, "BL870c (1.59 GHz)", 85.0),
    Run(2, 2, "rx4640 (1.10 GHz)", 57.0),
    Run(3, 1, "BL870c (1.59 GHz)", 84.0),
    Run(3, 2, "rx4640 (1.10 GHz)", 55.0),
    Run(3, 3, "an emulated ES40", 25.0, emulator=True),
)
UNEQUAL = "as fast as another node: the published runs had nodes of unequal speed"
UNEQUAL_OTHERS = "two of the others are equally fast: the published runs had nodes of unequal speed"


@dataclass(frozen=True)
class Candidate:
    """A node that could be master."""

    node: str
    rank: int | None = None
    """1 is the fastest; equal nodes have the same rank; `None`: not known."""
    rate_alone: float | None = None
    """Lock operations per second it does by itself, flat out, where a source gives it."""
    emulator: bool | None = None
    """Whether its machine is one by its name; `None`: its name tells neither, or is not known."""


@dataclass(frozen=True)
class WhatIf:
    """One line of the table: this node as master of the trees that all work on."""

    node: str
    percent: float | None
    """All nodes together, per cent of the fastest node's own rate; `None` where no run was published."""
    rate: float | None
    """The same in lock operations per second, where the fastest node's own rate is known."""
    basis: str
    """The published run, or why there is no figure."""


def what_if_masters(nodes: Sequence[Candidate]) -> tuple[WhatIf, ...]:
    """One line per node, in the order given: what it gives as master by the published runs, never between them."""
    ranks = [one.rank for one in nodes]
    fastest = [one.rate_alone for one in nodes if one.rank == 1]
    alone = fastest[0] if len(fastest) == 1 else None
    return tuple(_line(one, ranks, alone) for one in nodes)


def is_published(nodes: int) -> bool:
    """Whether a run of so many nodes was published."""
    return any(run.nodes == nodes for run in RUNS)


def _line(one: Candidate, ranks: list[int | None], alone: float | None) -> WhatIf:
    run = next((run for run in RUNS if (run.nodes, run.rank) == (len(ranks), one.rank)), None)
    if not is_published(len(ranks)):
        return WhatIf(one.node, None, None, f"no run with {len(ranks)} nodes was published")
    if one.rank is None:
        return WhatIf(one.node, None, None, "how fast it is beside the others is not known")
    if ranks.count(one.rank) > 1:
        return WhatIf(one.node, None, None, UNEQUAL)
    told = [rank for rank in ranks if rank is not None]
    if run is None or len(set(told)) < len(told):
        return WhatIf(one.node, None, None, UNEQUAL_OTHERS)
    if run.emulator and one.emulator is not True:
        machine = "a real machine" if one.emulator is False else "by its name real or not"
        return WhatIf(one.node, None, None, f"{machine}; the third master of the published runs was an emulator")
    if one.emulator and not run.emulator:
        return WhatIf(one.node, None, None, "an emulator; this master of the published runs was a real machine")
    basis = f"{run.nodes} nodes, master {run.master} ({JCC})"
    return WhatIf(one.node, run.percent, None if alone is None else alone * run.percent / 100, basis)
