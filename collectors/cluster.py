"""The other nodes of a cluster: what each did while one capture was taken.

Nodes are of one cluster where an export says so: SHOW CLUSTER of one names the other, its SCS figures do, or one file
speaks of both; or where arithmetic does: what the nodes ask of others is what they serve for others, to a few per cent.
Rates of several nodes are never added: a remote operation is counted on both of its nodes.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from heapq import heappop, heappush
from itertools import chain
from typing import TypeVar

from collectors.facts import ABSENT, Capture, Fact, Facts, Interval, Reading, Source, known
from collectors.facts.openvms import (
    ClusterMember,
    ClusterNode,
    DedicatedLockManager,
    DistributedLockRates,
    KernelService,
    ListedMember,
    LockActivity,
    LockDatabase,
    LockLatency,
    LockRates,
    MonitorItem,
    MonitorSample,
    Node,
    ProcessorModes,
    RemasterRates,
    SysgenParameter,
    T4Column,
    latest_lines,
)
from collectors.facts.openvms.locking import total
from collectors.facts.rdb import Database, NodeDatabases
from collectors.facts.rdb.names import root_key
from collectors.intervals.overlap import TORN, shared_part

F = TypeVar("F", DistributedLockRates, LockRates, ProcessorModes, RemasterRates)

PARAMETERS = ("LOCKDIRWT", "LOCKRMWT", "PE1")
CREDIT_WAITS = "Send Credits waits to "
"""The columns of `[MON.SCS]` that tell how often a message to a node waited (knowledge: T4's other files)."""
AGREE = 0.10
"""This project: asked and served remote operations agree to 10 % where no node is missing. Each file is of its own
collector: samples begin and end apart, and some are missing. A node that asks for less than that is not noticed."""
APART = (
    "{0} is a node of the same cluster, but its figures are of another time ({1}): each node is judged by itself, and "
    "nothing is said of the cluster; collect both over the same hours"
)
MAYBE_APART = (
    "figures of another time than those of {0} ({1}), and locks cross a cluster on both: if it is the same one, "
    "nothing between them was compared; collect both over the same hours, and SHOW CLUSTER"
)
MOST_UNNAMED = 4
"""This project: of more nodes that no export links, an upload is of several clusters, and any two may be of two."""
LEAST_REMOTE = 10.0
"""Remote operations per second from which their agreement says anything."""


def with_members(captures: Sequence[Capture]) -> list[Capture]:
    """The same captures; those of nodes of one cluster, of one time, each with a `ClusterMember` for every node."""
    found = list(captures)
    nodes = [at for at, one in enumerate(found) if one.system.product == "openvms"]
    unmeasured = _unmeasured([found[at] for at in nodes])
    for together in _Clusters([found[at] for at in nodes]).every():
        members = [nodes[at] for at in together]
        nodes_of_it = [found[at] for at in members]
        complete, listed = _complete([_asked_and_served(one) for one in nodes_of_it]), _listed(nodes_of_it)
        weights = _weights(unmeasured, listed, {id(one) for one in nodes_of_it})
        monitors = [seen for one in nodes_of_it for seen in one.facts.every(NodeDatabases) if seen.complete]
        told = [_member(one, listed, monitors, complete) for one in nodes_of_it]
        for number, at in enumerate(members):
            own = replace(told[number], own=True)
            of_all = (*told[:number], own, *told[number + 1 :])
            found[at] = replace(found[at], facts=Facts((*found[at].facts.items, *weights, *of_all)))
    by_name: dict[str, list[Capture]] = {}
    for at in nodes:
        by_name.setdefault(found[at].system.name.upper(), []).append(found[at])
    place = {id(found[at]): at for at in nodes}
    for at in nodes:
        for one, listings in _by_listings(found[at], by_name):
            number = place[id(one)]
            found[number] = replace(found[number], facts=Facts((*found[number].facts.items, *listings)))
    seen = _seen_elsewhere(found)
    named = ((one, _named_elsewhere(one, at, seen)) for at, one in enumerate(found))
    return [replace(one, facts=Facts((*one.facts.items, *more))) if more else one for one, more in named]


def _by_listings(
    capture: Capture, by_name: Mapping[str, list[Capture]]
) -> Iterator[tuple[Capture, list[ListedMember]]]:
    """The node beside all others of its SHOW CLUSTER, where it alone was measured and they have listings alone.

    Without SHOW CLUSTER a report of LOCK_ACTV lists the nodes. Each of them is told of all, the measured one first.
    """
    listed = latest_lines(capture.facts.every(ClusterNode))
    own, members = capture.system.name.upper(), [capture]
    names = set(listed) or {name.upper() for one in capture.facts.every(LockActivity) for name, _ in one.by_node}
    if len(names) < 2 or own not in names or capture.interval.start is None or capture.facts.every(ClusterMember):
        return
    for name in sorted(names - {own}):
        theirs = by_name.get(name, [])
        if len(theirs) != 1 or theirs[0].interval.start is not None:
            return
        members += theirs
    told = [_member(one, listed, (), None) for one in members]
    for number, one in enumerate(members):
        yield one, [ListedMember(**{**vars(other), "own": other is told[number]}) for other in told]


Seen = dict[tuple[str, str], list[tuple[int, ClusterNode]]]
"""By product and name in capitals what SHOW CLUSTER prints of a node, each with the place of its capture."""


def _seen_elsewhere(captures: Sequence[Capture]) -> Seen:
    """What SHOW CLUSTER of all captures prints."""
    found: Seen = {}
    for at, one in enumerate(captures):
        for node in one.facts.every(ClusterNode):
            found.setdefault((one.system.product, node.name.upper()), []).append((at, node))
    return found


def _named_elsewhere(capture: Capture, place: int, seen: Seen) -> list[Fact]:
    """What SHOW CLUSTER prints of this node, where no export of its own names its machine or its release.

    Rates belong to a time, the machine to the node: so it is known for captures of another day, too.
    """
    listed = seen.get((capture.system.product, capture.system.name.upper()), [])
    here = [node for at, node in listed if at == place]
    beside = not here and not capture.facts.every(ClusterMember)
    nodes, listed_here = capture.facts.every(Node), here or [node for _, node in listed]
    machines = {node.hardware: node for node in listed_here if node.hardware}
    releases = {node.software: node for node in listed_here if node.software}
    machine = next(iter(machines)) if len(machines) == 1 and not any(one.hardware for one in nodes) else None
    release = next(iter(releases)) if len(releases) == 1 and not any(one.version for one in nodes) else None
    found: list[Fact] = [machines[machine]] if beside and machine else []
    if machine or release:
        line = machines[machine] if machine else releases[release or ""]
        version = release.removeprefix("VMS ") if release else None
        found.append(Node(source=line.source, name=capture.system.name, hardware=machine, version=version))
    return found


class _Clusters:
    """Which captures are of one cluster and one time: at least two nodes, each once.

    What an export says of a node is looked up by name and file, so that the time goes with the number of captures.
    """

    def __init__(self, captures: Sequence[Capture]) -> None:
        """Index the captures by what links them."""
        self.captures = captures
        self.names = [one.system.name.upper() for one in captures]
        self.files, self.named = list(map(_files, captures)), list(map(_named_by, captures))
        self.rates = list(map(_asked_and_served, captures))
        intervals: dict[Interval, int] = {}
        self.interval = [intervals.setdefault(one.interval, len(intervals)) for one in captures]
        self.intervals = list(intervals)
        self.same: dict[tuple[int, int], bool] = {}
        monitored = [bool(one.interval.start and one.facts.every(MonitorSample)) for one in captures]
        timed = Counter(name for name, of_monitor in zip(self.names, monitored, strict=True) if of_monitor)
        self.single = [timed[name] == 1 and _of_screens(one) for name, one in zip(self.names, captures, strict=True)]
        self.of_name, self.naming, self.of_file = (dict[str, list[int]]() for _ in range(3))
        for at, name in enumerate(self.names):
            self.of_name.setdefault(name, []).append(at)
            for other in self.named[at]:
                self.naming.setdefault(other, []).append(at)
            for file in self.files[at]:
                self.of_file.setdefault(file, []).append(at)

    def every(self) -> Iterator[list[int]]:
        """Each cluster, as numbers of captures."""
        left = dict.fromkeys(range(len(self.captures)))
        while left:
            first = next(iter(left))
            del left[first]
            together = self._linked_to(first, left)
            if len(together) == 1:
                name = self.captures[first].system.name
                same = [at for at in left if self._same_time(first, at) and self.captures[at].system.name != name]
                whole = [first, *same]
                if len(whole) > 1 and len({self.captures[at].system.name for at in whole}) == len(whole):
                    together = whole if _complete([self.rates[at] for at in whole]) else together
            for at in together:
                left.pop(at, None)
            if len(together) > 1:
                yield together

    def _linked_to(self, first: int, left: Collection[int]) -> list[int]:
        """The captures that belong together by an export of any of them: of several the first of the list comes next.

        What cannot be of them, for its name or its time, cannot be of more of them either.
        """
        together, names, times = [first], {self.names[first]}, {self.interval[first]: first}
        waiting: list[int] = []
        looked_at = {first}
        self._add_links(first, left, waiting, looked_at)
        while waiting:
            other = heappop(waiting)
            if self.names[other] in names or not all(self._same_time(at, other) for at in times.values()):
                continue
            together.append(other)
            names.add(self.names[other])
            times.setdefault(self.interval[other], other)
            self._add_links(other, left, waiting, looked_at)
        return together

    def _add_links(self, at: int, left: Collection[int], waiting: list[int], looked_at: set[int]) -> None:
        """Put what an export of this capture, or one of theirs, links with it to what waits."""
        linked = [self.of_file[file] for file in self.files[at]]
        linked += [self.of_name[name] for name in self.named[at] if name in self.of_name]
        for other in chain(self.naming.get(self.names[at], ()), *linked):
            if other in left and other not in looked_at:
                looked_at.add(other)
                heappush(waiting, other)

    def _same_time(self, one: int, other: int) -> bool:
        """Whether two captures are of one time; each pair of times is looked at once."""
        times = self.interval[one], self.interval[other]
        if times not in self.same:
            self.same[times] = _same_time(self.intervals[times[0]], self.intervals[times[1]])
        return self.same[times] or (
            self.single[one] and self.single[other] and _near(*(self.intervals[at] for at in times))
        )


def _of_screens(capture: Capture) -> bool:
    """Whether it is screens of MONITOR of a moment, as a person takes them on one node after the other."""
    shown = capture.facts.every(MonitorSample)
    return bool(shown) and all(one.kind == "display" and one.start == one.end for one in shown)


def _near(one: Interval, other: Interval) -> bool:
    """Whether all of both is within minutes (`TORN`)."""
    times = [at for at in (one.start, one.end, other.start, other.end) if at]
    return bool(times) and max(times) - min(times) <= TORN


def _same_time(one: Interval, other: Interval) -> bool:
    """Whether they are of one time; listings without a time go with each other."""
    if one.start is None or other.start is None:
        return one.start is None and other.start is None
    return shared_part(one, other) > 0.5


def of_other_times(captures: Sequence[Capture]) -> Iterator[tuple[Capture, str]]:
    """Captures of nodes that exports name as members of one cluster, with no time in common: what to say, once each.

    Nodes that were joined with others (`with_members`) are held against those alone that were not. A few nodes whose
    locks cross a cluster that no export names may be of one, which is said as that.
    """
    by_name: dict[str, list[Capture]] = {}
    for one in captures:
        if one.system.product == "openvms" and one.interval.start is not None:
            by_name.setdefault(one.system.name.upper(), []).append(one)
    alone = {name for name, some in by_name.items() if not any(one.facts.every(ClusterMember) for one in some)}
    if not alone:
        return
    linked: dict[str, set[str]] = {name: set() for name in by_name}
    for name, some in by_name.items():
        for other in set[str]().union(*map(_named_by, some)) & by_name.keys() - {name}:
            if name in alone or other in alone:
                linked[name].add(other)
                linked[other].add(name)
    unnamed = [name for name in sorted(alone) if not linked[name]]
    few = 1 < len(unnamed) <= MOST_UNNAMED
    maybe = [name for name in unnamed if any(map(_crosses, by_name[name]))] if few else []
    for name, some in by_name.items():
        others = ((other, APART) for other in sorted(linked[name]))
        perhaps = ((other, MAYBE_APART) for other in maybe if name in maybe and other != name)
        for other, said in chain(others, perhaps):
            theirs = by_name[other]
            if not any(_same_time(one.interval, another.interval) for one in some for another in theirs):
                yield from ((one, said.format(other, _when(theirs[-1].interval))) for one in some)
                break


def _crosses(capture: Capture) -> bool:
    """Whether a node asks others for locks, or serves them, and no export names another member of its cluster."""
    rates = [one for one in _asked_and_served(capture) if one is not None]
    return sum(rates) >= LEAST_REMOTE and not _named_by(capture) - {capture.system.name.upper()}


def _when(interval: Interval) -> str:
    """`12-MAY-2026 10:01 to 10:40`; with the day of its end where that is another one."""
    start, end = interval.start, interval.end
    if start is None or end is None:
        return "unknown time"
    last = f"{end:%H:%M}" if end.date() == start.date() else f"{end:%d-%b-%Y %H:%M}"
    return f"{start:%d-%b-%Y %H:%M} to {last}".upper().replace(" TO ", " to ")


def _files(capture: Capture) -> set[str]:
    """Files that say of which node each figure is: those of a whole cluster."""
    return {fact.source.file for fact in capture.facts.every(DistributedLockRates) if fact.node}


def _named_by(capture: Capture) -> set[str]:
    """Nodes that the exports of one node name as members of its cluster."""
    facts = capture.facts
    named = {fact.name for fact in facts.every(ClusterNode)}
    named |= {fact.partner for fact in facts.every(MonitorItem) if fact.partner}
    named |= {name for fact in facts.every(LockLatency) for name in (fact.from_node, fact.master)}
    named |= {name for fact in facts.every(LockActivity) for name in (*fact.nodes, *fact.failed)}
    named |= {fact.name.rpartition(" ")[2] for fact in facts.every(T4Column) if fact.group == "MON.SCS"}
    return {name.upper() for name in named}


def _asked_and_served(capture: Capture) -> tuple[float | None, float | None]:
    """What a node asks of others and what it serves for others, per second."""
    rates = _mean(capture.facts, DistributedLockRates)
    return (rates.outgoing_per_second, rates.incoming_per_second) if rates else (None, None)


def _complete(rates: Sequence[tuple[float | None, float | None]]) -> bool | None:
    """Whether what nodes ask of others and what they serve for others agree: then none is missing."""
    out = [asked for asked, _ in rates if asked is not None]
    into = [served for _, served in rates if served is not None]
    if len(out) < len(rates) or len(into) < len(rates) or max(sum(out), sum(into)) < LEAST_REMOTE:
        return None
    return abs(sum(out) - sum(into)) <= AGREE * max(sum(out), sum(into))


def _mean(facts: Facts, kind: type[F]) -> F | None:
    """The sustained figures: the mean, else those of the last interval that MONITOR showed."""
    return facts.latest(kind, statistic="mean") or facts.latest(kind, statistic="current")


def _listed(captures: Sequence[Capture]) -> dict[str, ClusterNode]:
    """What SHOW CLUSTER of any of these nodes prints of each, by its name in capitals."""
    return latest_lines(node for one in captures for node in one.facts.every(ClusterNode))


def _unmeasured(captures: Sequence[Capture]) -> dict[str, list[tuple[int, Capture, Source, float]]]:
    """The nodes with listings alone, by name in capitals: their order, the LOCKDIRWT that they print, and where."""
    found: dict[str, list[tuple[int, Capture, Source, float]]] = {}
    for at, one in enumerate(captures):
        if one.interval.start is None:
            weight, source = _parameter(one.facts, "LOCKDIRWT"), _read_in(one.facts, "LOCKDIRWT")
            if source and known(weight):
                found.setdefault(one.system.name.upper(), []).append((at, one, source, weight))
    return found


def _weights(
    unmeasured: dict[str, list[tuple[int, Capture, Source, float]]],
    listed: dict[str, ClusterNode],
    own: Collection[int],
) -> list[ClusterNode]:
    """The nodes of the cluster of which nothing but listings was collected, with the LOCKDIRWT that they print.

    A listing has no time, so such a node is no member with rates; but its weight counts among the others. `own`: the
    captures of the cluster itself, by identity.
    """
    found = [
        (at, replace(node, source=source, lock_directory_weight=weight))
        for name, node in listed.items()
        for at, one, source, weight in unmeasured.get(name, ())
        if id(one) not in own
    ]
    return [node for _, node in sorted(found, key=lambda one: one[0])]


def _member(
    capture: Capture,
    listed: dict[str, ClusterNode],
    monitors: Sequence[NodeDatabases],
    complete: bool | None,
) -> ClusterMember:
    """What one node did, as the others of its cluster are told it."""
    facts, system = capture.facts, capture.system
    seen = listed.get(system.name.upper())
    rates, locks = _mean(facts, DistributedLockRates), _mean(facts, LockRates)
    modes, moved = _mean(facts, ProcessorModes), _mean(facts, RemasterRates)
    manager = facts.latest(DedicatedLockManager, statistic="mean")
    nodes = facts.every(Node)
    named = next((node for node in reversed(nodes) if node.hardware), None) or (
        seen if seen and seen.hardware else None
    )
    version = next((node.version for node in reversed(nodes) if node.version), None)
    seen_open = [one for one in monitors if one.node.upper() == system.name.upper() and _within(one, capture.interval)]
    headers = [one for one in facts.every(Database) if one.database and one.lock_partitioning]
    set_in = [one.source for one in facts.every(SysgenParameter) if one.name in PARAMETERS and one.runs]
    waits = [one for one in facts.every(T4Column) if one.group == "MON.SCS" and one.name.startswith(CREDIT_WAITS)]
    return ClusterMember(
        source=_source((rates, locks, modes), nodes),
        name=system.name,
        own=False,
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
        credit_waits=tuple((column.name.rpartition(" ")[2], column.mean) for column in waits if known(column.mean)),
        credit_waits_source=waits[0].source if waits else None,
        moved_out_per_second=moved.moved_out if moved else ABSENT,
        moved_in_per_second=moved.moved_in if moved else ABSENT,
        lock_directory_weight=_parameter(facts, "LOCKDIRWT"),
        lock_remaster_weight=_parameter(facts, "LOCKRMWT"),
        pending_directory_weight=_pending(facts, "LOCKDIRWT"),
        pending_directory_weight_source=_read_in(facts, "LOCKDIRWT", pending=True),
        pending_remaster_weight=_pending(facts, "LOCKRMWT"),
        pending_remaster_weight_source=_read_in(facts, "LOCKRMWT", pending=True),
        pe1=_parameter(facts, "PE1"),
        credits=_parameter(facts, "CLUSTER_CREDITS"),
        hash_table=_parameter(facts, "RESHASHTBL"),
        pending_hash_table=_pending(facts, "RESHASHTBL"),
        lock_id_table=_parameter(facts, "LOCKIDTBL"),
        pending_lock_id_table=_pending(facts, "LOCKIDTBL"),
        tables_source=_read_in(facts, "RESHASHTBL") or _read_in(facts, "LOCKIDTBL"),
        resources=_highest(facts, "resources")[0],
        locks=_highest(facts, "locks")[0],
        levels_source=_highest(facts, "resources")[1] or _highest(facts, "locks")[1],
        dedicated=_dedicated(facts),
        lock_manager_mode=_parameter(facts, "LCKMGR_MODE"),
        lock_manager_busy_percent=manager.busy_percent if manager else ABSENT,
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
    """What the next boot of this node takes, where its listing of CURRENT was collected."""
    listed = [fact.current for fact in facts.every(SysgenParameter) if fact.name == name and fact.in_use == "current"]
    return listed[-1] if listed and known(listed[-1]) else ABSENT


def _read_in(facts: Facts, name: str, pending: bool = False) -> Source | None:
    """Where a parameter of this node was read last: the value that runs, or the one of the next boot."""
    listed = [fact for fact in reversed(facts.every(SysgenParameter)) if fact.name == name]
    return next((one.source for one in listed if (one.in_use == "current" if pending else one.runs)), None)


def _highest(facts: Facts, field: str) -> tuple[Reading, Source | None]:
    """The highest level of `locks` or `resources` and where it was read; one that is no number counts as not read."""
    read = [(value, one.source) for one in facts.every(LockDatabase) if known(value := getattr(one, field))]
    return (
        max(read, key=lambda pair: pair[0]) if read and min(read, key=lambda pair: pair[0])[0] >= 0 else (ABSENT, None)
    )


def _dedicated(facts: Facts) -> bool | None:
    """Whether the lock manager has a CPU of its own: SHOW FASTPATH names it, or T4's LCK73 columns show work."""
    if any("lock manager" in service.service.lower() for service in facts.every(KernelService)):
        return True
    said = [one.on for one in facts.every(DedicatedLockManager) if one.on is not None]
    return any(said) if said else None
