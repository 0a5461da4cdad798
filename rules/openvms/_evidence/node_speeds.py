"""Which node of a cluster is the fastest, and what each would give as lock master by the published runs.

Speed, best evidence first: what a local lock takes (LOCKTIME), a published comparison of two machines, clock and cache
within one family. Where none of them orders two nodes, neither does this project.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence

from collectors.facts import Facts
from rules.finding import Evidence
from rules.laws.hardware import Order, compare, hardware_of
from rules.laws.mastering import RUNS, Candidate, WhatIf, is_published, what_if_masters
from rules.laws.rounding import plain
from rules.openvms._evidence.cluster import hardware_names, latencies_of, local_cells, one_process
from rules.openvms._evidence.node import in_prose, node_name
from rules.openvms._evidence.own_runs import own_alone

REPEATS = 1.25
"""Practice: runs repeat within a few per cent (JCC Consulting's slides, 2014); this project: of nodes closer than a
quarter none is the faster, and moving mastership from one to the other can cost a reboot for nothing."""


def compare_nodes(facts: Facts, one: str, other: str) -> Order | None:
    """Which of two nodes is faster at lock operations, or `None` where nothing tells."""
    one, other = one.upper(), other.upper()
    cells = latencies_of(facts)
    if isinstance(cells, dict) and (one, one) in cells and (other, other) in cells:
        first, second = cells[one, one][0], cells[other, other][0]
        basis = f"LOCKTIME: a local lock takes {plain(first, 3)} µs on {one}, {plain(second, 3)} µs on {other}"
        if max(first, second) <= REPEATS * min(first, second):
            return Order(0, basis)
        return Order(1 if first < second else -1, basis)
    names = hardware_names(facts)
    return compare(hardware_of(names.get(one, ("",))[0]), hardware_of(names.get(other, ("",))[0]))


def ranks_of(facts: Facts, names: Sequence[str]) -> dict[str, int | None]:
    """1 for the fastest; equal nodes share a rank; `None` where a node cannot be held against every other."""
    return {name: 1 + ahead if held else None for name, (ahead, held) in _ahead(facts, names).items()}


def unbeaten(facts: Facts, names: Sequence[str]) -> set[str]:
    """Those of these nodes than which none of the others is known to be faster."""
    return {name for name, (ahead, _) in _ahead(facts, names).items() if not ahead}


def _ahead(facts: Facts, names: Sequence[str]) -> dict[str, tuple[int, bool]]:
    """How many of these nodes are faster than each, and whether it can be held against every one of them."""
    cells, machines = latencies_of(facts), hardware_names(facts)
    local = {name: us for name, (us, _) in local_cells(cells, names).items()} if isinstance(cells, dict) else {}
    clearly = sorted(REPEATS * local[name.upper()] for name in names if name.upper() in local)
    """What is above the local lock of a node by this much takes clearly longer than it."""
    called = {name: machines.get(name.upper(), ("",))[0] for name in names}
    every = Counter(called.values())
    untimed = Counter(called[name] for name in names if name.upper() not in local)

    def counted(name: str) -> tuple[int, bool]:
        """Nodes with a local lock in LOCKTIME by that, all others by their machines."""
        own = local.get(name.upper())
        ahead, held = bisect_left(clearly, own) if own is not None else 0, True
        for machine, many in (every if own is None else untimed).items():
            others = many - (own is None and machine == called[name])
            order = compare(hardware_of(called[name]), hardware_of(machine))
            held = held and not (others and order is None)
            ahead += others if order is not None and order.sign < 0 else 0
        return ahead, held

    return {name: counted(name) for name in names}


def what_if(facts: Facts, names: Sequence[str]) -> tuple[WhatIf, ...]:
    """What each node gives as lock master by the published runs: a line per node, with or without a figure.

    How fast the fastest is alone a test of this node tells, else what was published of its model.
    """
    machines = hardware_names(facts)
    rates = {name: hardware_of(machines.get(name.upper(), ("",))[0]) for name in names}
    # of so many nodes no run was published: who is faster than whom of hundreds of them is not asked
    ranks = ranks_of(facts, names) if is_published(len(names)) else {}
    own, node = own_alone(facts), (node_name(facts) or "").upper()
    alone = {node: 1e6 / own} if own else {}
    return what_if_masters(
        [
            Candidate(
                name,
                ranks.get(name),
                alone.get(name.upper()) or (one.operations_alone if one else None),
                one.emulator if one else None,
            )
            for name in names
            for one in (rates[name],)
        ]
    )


def what_if_text(lines: Sequence[WhatIf]) -> str:
    """The table as one sentence; empty where no line has a figure."""
    told = [
        f"{one.node} {one.percent:.0f} %" + (f" ({in_prose(one.rate)}/s)" if one.rate is not None else "")
        for one in lines
        if one.percent is not None
    ]
    if not told:
        return ""
    emulated = any(run.emulator and run.percent == one.percent for run in RUNS for one in lines)
    return (
        f"Published runs of locking alone, by master: {', '.join(told)} of the fastest node's own rate"
        f"{' (an emulator in that run, too)' if emulated else ''}; take the order, not the figures."
    )


def speed_evidence(facts: Facts, names: Sequence[str]) -> tuple[Evidence, ...]:
    """What tells the speed of these nodes: local locks where LOCKTIME has them, and the names of their machines."""
    cells = latencies_of(facts)
    local = local_cells(cells, names) if isinstance(cells, dict) else {}
    told = [Evidence(f"local lock on {name}", round(us, 3), "µs", source) for name, (us, source) in local.items()]
    told += one_process(cells, names) if isinstance(cells, dict) else ()
    machines = hardware_names(facts)
    told += [
        Evidence(f"machine of {name}", machines[name.upper()][0], "", machines[name.upper()][1])
        for name in names
        if name.upper() in machines
    ]
    return tuple(told)
