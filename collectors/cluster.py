"""The other nodes of a cluster: what each did while one capture was taken.

Nodes are of one cluster where an export says so: SHOW CLUSTER of one names the other, its SCS figures do, or one file
speaks of both; or where arithmetic does: what the nodes ask of others is what they serve for others, to a few per cent.
Rates of several nodes are never added: a remote operation is counted on both of its nodes.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from collectors.facts import ABSENT, Capture, Facts, Interval, Reading, Source, known
from collectors.facts.openvms import (
    ClusterMember,
    ClusterNode,
    DedicatedLockManager,
    DistributedLockRates,
    KernelService,
    LockLatency,
    LockRates,
    MonitorItem,
    Node,
    ProcessorModes,
    RemasterRates,
    SysgenParameter,
    T4Column,
)
from collectors.facts.openvms.locking import total
from collectors.facts.rdb import Database, NodeDatabases
from collectors.facts.rdb.names import root_key
from collectors.intervals.overlap import shared_part

F = TypeVar("F", DistributedLockRates, LockRates, ProcessorModes, RemasterRates)

PARAMETERS = ("LOCKDIRWT", "LOCKRMWT", "PE1")
AGREE = 0.05
"""This project: asked and served remote operations agree to 5 % where no node is missing. Clocks and sample ends differ
by seconds."""
LEAST_REMOTE = 10.0
"""Remote operations per second from which their agreement says anything."""


def with_members(captures: Sequence[Capture]) -> list[Capture]:
    """The same captures; those of nodes of one cluster, of one time, each with a `ClusterMember` for every node."""
    found = list(captures)
    nodes = [at for at, one in enumerate(found) if one.system.product == "openvms"]
    for together in _clusters([found[at] for at in nodes]):
        members = [nodes[at] for at in together]
        complete, listed = _complete([found[at] for at in members]), _listed([found[at] for at in members])
        weights = _weights([found[at] for at in nodes if at not in members], listed)
        monitors = [seen for at in members for seen in found[at].facts.every(NodeDatabases) if seen.complete]
        for at in members:
            told = [_member(found[other], listed, monitors, own=other == at, complete=complete) for other in members]
            one = found[at]
            found[at] = replace(one, facts=Facts((*one.facts.items, *weights, *told)))
    return [replace(one, facts=Facts((*one.facts.items, *_named_elsewhere(one, found)))) for one in found]


def _named_elsewhere(capture: Capture, captures: Sequence[Capture]) -> list[ClusterNode]:
    """What SHOW CLUSTER of another node prints of this one, where no export of its own names its machine.

    Rates belong to a time, the machine to the node: so it is known for captures of another day, too.
    """
    facts, name = capture.facts, capture.system.name.upper()
    known_here = any(node.hardware for node in facts.every(Node)) or facts.every(ClusterMember)
    if known_here or any(node.name.upper() == name for node in facts.every(ClusterNode)):
        return []
    others = [one for one in captures if one is not capture and one.system.product == capture.system.product]
    seen = [node for one in others for node in one.facts.every(ClusterNode) if node.name.upper() == name]
    named = {node.hardware: node for node in seen if node.hardware}
    return list(named.values()) if len(named) == 1 else []


def _clusters(captures: Sequence[Capture]) -> Iterator[list[int]]:
    """Which captures are of one cluster and one time: at least two nodes, each once."""
    left = list(range(len(captures)))
    while left:
        first = left.pop(0)
        together = [first]
        while (found := _next(captures, together, left)) is not None:
            together.append(found)
            left.remove(found)
        if len(together) == 1:
            others = [at for at in left if captures[at].system.name != captures[first].system.name]
            same = [at for at in others if _same_time(captures[first].interval, captures[at].interval)]
            whole = [first, *same]
            if len(whole) > 1 and len({captures[at].system.name for at in whole}) == len(whole):
                together = whole if _complete([captures[at] for at in whole]) else together
        left = [at for at in left if at not in together]
        if len(together) > 1:
            yield together


def _next(captures: Sequence[Capture], together: Sequence[int], left: Sequence[int]) -> int | None:
    """A capture that belongs to these, by an export of any of them: the last that joined may name one passed before."""
    for other in left:
        name = captures[other].system.name.upper()
        new = all(captures[at].system.name.upper() != name for at in together)
        same_time = all(_same_time(captures[at].interval, captures[other].interval) for at in together)
        if new and same_time and any(_linked(captures[at], captures[other]) for at in together):
            return other
    return None


def _same_time(one: Interval, other: Interval) -> bool:
    """Whether they are of one time; listings without a time go with each other."""
    if one.start is None or other.start is None:
        return one.start is None and other.start is None
    return shared_part(one, other) > 0.5


def _linked(one: Capture, other: Capture) -> bool:
    """Whether an export of one names the other as a node of its cluster, or one file gives the rates of both."""
    if _files(one) & _files(other):
        return True
    return other.system.name.upper() in _named_by(one) or one.system.name.upper() in _named_by(other)


def _files(capture: Capture) -> set[str]:
    """Files that say of which node each figure is: those of a whole cluster."""
    return {fact.source.file for fact in capture.facts.every(DistributedLockRates) if fact.node}


def _named_by(capture: Capture) -> set[str]:
    """Nodes that the exports of one node name as members of its cluster."""
    facts = capture.facts
    named = {fact.name for fact in facts.every(ClusterNode)}
    named |= {fact.partner for fact in facts.every(MonitorItem) if fact.partner}
    named |= {name for fact in facts.every(LockLatency) for name in (fact.from_node, fact.master)}
    named |= {fact.name.rpartition(" ")[2] for fact in facts.every(T4Column) if fact.group == "MON.SCS"}
    return {name.upper() for name in named}


def _complete(captures: Sequence[Capture]) -> bool | None:
    """Whether what these nodes ask of others and what they serve for others agree: then none is missing."""
    rates = [_mean(one.facts, DistributedLockRates) for one in captures]
    asked = [one.outgoing_per_second if one else None for one in rates]
    served = [one.incoming_per_second if one else None for one in rates]
    out = [rate for rate in asked if rate is not None]
    into = [rate for rate in served if rate is not None]
    if len(out) < len(captures) or len(into) < len(captures) or max(sum(out), sum(into)) < LEAST_REMOTE:
        return None
    return abs(sum(out) - sum(into)) <= AGREE * max(sum(out), sum(into))


def _mean(facts: Facts, kind: type[F]) -> F | None:
    """The sustained figures: the mean, else those of the last interval that MONITOR showed."""
    return facts.latest(kind, statistic="mean") or facts.latest(kind, statistic="current")


def _listed(captures: Sequence[Capture]) -> dict[str, ClusterNode]:
    """What SHOW CLUSTER of any of these nodes prints of each, by its name in capitals."""
    return {node.name.upper(): node for one in captures for node in one.facts.every(ClusterNode)}


def _weights(captures: Sequence[Capture], listed: dict[str, ClusterNode]) -> list[ClusterNode]:
    """The nodes of the cluster of which nothing but listings was collected, with the LOCKDIRWT that they print.

    A listing has no time, so such a node is no member with rates; but its weight counts among the others.
    """
    found: list[ClusterNode] = []
    for one in captures:
        node, weight = listed.get(one.system.name.upper()), _parameter(one.facts, "LOCKDIRWT")
        source = _read_in(one.facts, "LOCKDIRWT")
        if node and source and known(weight) and one.interval.start is None:
            found.append(replace(node, source=source, lock_directory_weight=weight))
    return found


def _member(
    capture: Capture,
    listed: dict[str, ClusterNode],
    monitors: Sequence[NodeDatabases],
    *,
    own: bool,
    complete: bool | None,
) -> ClusterMember:
    facts, system = capture.facts, capture.system
    seen = listed.get(system.name.upper())
    rates, locks = _mean(facts, DistributedLockRates), _mean(facts, LockRates)
    modes, moved = _mean(facts, ProcessorModes), _mean(facts, RemasterRates)
    nodes = facts.every(Node)
    named = next((node for node in reversed(nodes) if node.hardware), None) or (
        seen if seen and seen.hardware else None
    )
    version = next((node.version for node in reversed(nodes) if node.version), None)
    seen_open = [one for one in monitors if one.node.upper() == system.name.upper() and _within(one, capture.interval)]
    headers = [one for one in facts.every(Database) if one.database and one.lock_partitioning]
    set_in = [one.source for one in facts.every(SysgenParameter) if one.name in PARAMETERS and one.runs]
    return ClusterMember(
        source=_source((rates, locks, modes), nodes),
        name=system.name,
        own=own,
        hardware=named.hardware if named else None,
        hardware_source=named.source if named else None,
        version=version or (seen.software if seen else None),
        parameters_source=set_in[-1] if set_in else None,
        directory_weight_source=_read_in(facts, "LOCKDIRWT"),
        remaster_weight_source=_read_in(facts, "LOCKRMWT"),
        cpus=modes.cpus if modes else ABSENT,
        busy_percent=_busy(modes) if modes else ABSENT,
        busy_source=modes.source if modes else None,
        operations_per_second=_reading(locks.operations_per_second if locks else None),
        local_per_second=_reading(rates.local_per_second if rates else None),
        incoming_per_second=_reading(rates.incoming_per_second if rates else None),
        outgoing_per_second=_reading(rates.outgoing_per_second if rates else None),
        mp_synch_percent=modes.mp_synch_percent if modes else ABSENT,
        moved_out_per_second=moved.moved_out if moved else ABSENT,
        moved_in_per_second=moved.moved_in if moved else ABSENT,
        lock_directory_weight=_parameter(facts, "LOCKDIRWT"),
        lock_remaster_weight=_parameter(facts, "LOCKRMWT"),
        pending_directory_weight=_pending(facts, "LOCKDIRWT"),
        pending_directory_weight_source=_read_in(facts, "LOCKDIRWT", pending=True),
        pending_remaster_weight=_pending(facts, "LOCKRMWT"),
        pending_remaster_weight_source=_read_in(facts, "LOCKRMWT", pending=True),
        pe1=_parameter(facts, "PE1"),
        dedicated=_dedicated(facts),
        databases=tuple(sorted({root_key(root) for root in seen_open[-1].databases})) if seen_open else (),
        databases_listed=bool(seen_open),
        databases_partitioned=tuple(sorted({root_key(one.database) for one in headers if one.database})),
        start=capture.interval.start,
        end=capture.interval.end,
        complete=complete,
    )


def _within(listed: NodeDatabases, interval: Interval) -> bool:
    """Whether what a monitor listed is of the time of the rates."""
    return bool(listed.at and interval.start and interval.end and interval.start <= listed.at <= interval.end)


def _source(rates: Iterable[DistributedLockRates | LockRates | ProcessorModes | None], nodes: Sequence[Node]) -> Source:
    """Where the figures of a node were read."""
    return next((fact.source for fact in (*rates, *reversed(nodes)) if fact is not None), Source("", 0, 0))


def _reading(value: float | None) -> Reading:
    return ABSENT if value is None else value


def _busy(modes: ProcessorModes) -> Reading:
    """All modes but idle, per cent of all CPUs; of a display without all of them by its idle time."""
    if not known(modes.cpus) or modes.cpus < 1:
        return ABSENT
    parts = (modes.interrupt_percent, modes.mp_synch_percent, modes.kernel_percent, modes.exec_percent)
    used = total(*parts, modes.super_percent, modes.user_percent)
    if used is None and known(modes.idle_percent):
        used = 100 * modes.cpus - modes.idle_percent
    return min(100.0, used / modes.cpus) if used is not None and used >= 0 else ABSENT


def _parameter(facts: Facts, name: str) -> Reading:
    """A parameter of this node's listings of what runs, where they agree on it."""
    values = {fact.current for fact in facts.every(SysgenParameter) if fact.name == name and fact.runs}
    value = values.pop() if len(values) == 1 else ABSENT
    return value if known(value) else ABSENT


def _pending(facts: Facts, name: str) -> Reading:
    """What the next boot of this node takes, where its listing of CURRENT was brought."""
    listed = [fact.current for fact in facts.every(SysgenParameter) if fact.name == name and fact.in_use == "current"]
    return listed[-1] if listed and known(listed[-1]) else ABSENT


def _read_in(facts: Facts, name: str, pending: bool = False) -> Source | None:
    """Where a parameter of this node was read last: the value that runs, or the one of the next boot."""
    listed = [fact for fact in reversed(facts.every(SysgenParameter)) if fact.name == name]
    return next((one.source for one in listed if (one.in_use == "current" if pending else one.runs)), None)


def _dedicated(facts: Facts) -> bool | None:
    """Whether the lock manager has a CPU of its own: SHOW FASTPATH names it, or T4's LCK73 columns show work."""
    if any("lock manager" in service.service.lower() for service in facts.every(KernelService)):
        return True
    said = [one.on for one in facts.every(DedicatedLockManager) if one.on is not None]
    return any(said) if said else None
