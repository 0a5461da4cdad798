"""What each node does of the work on a database that several have open: the one that does next to nothing, and where.

And which node uses which storage areas, by a log or a screen of each: what decides whether to partition.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from collectors.facts import Facts, Source, known
from collectors.facts.rdb import AreaIo, AttachedProcess, WaitGroup
from rules.changes.quoting import comment
from rules.finding import Evidence, enumerated
from rules.openvms._evidence.cluster import members_of, own_name
from rules.openvms._evidence.node_speeds import compare_nodes
from rules.openvms._evidence.room import Room, room_of
from rules.rdb._evidence.attached import RECOVERY, SERVER, called, image_of
from rules.rdb._evidence.counted import of_each_node, rounded
from rules.rdb._evidence.databases import OneDatabase, Sighting, belonging
from rules.rdb._evidence.sharing import Remote
from rules.rdb._evidence.statistics import Statistics
from rules.rdb._evidence.waits import areas_of, total, waits_of

MINOR_PERCENT = 5.0
"""This project: a node with a twentieth of the transactions or less is one that the others could do without."""
DISTINCT_PERCENT = 80.0
"""This project: from four waits (or reads) in five in areas that one node has most of, the areas have main users."""
LEAST_WAITS = 10
"""This project: fewer waits, or reads, in the log of a node do not tell which areas it uses."""
LEAST_IO = 5.0
"""This project: I/O operations a second; a node with fewer hardly uses the database."""
IO, ONE_FILE = "File IO Overview", "File IO Statistics"
LOGGED = (("stall", "waits for pages"), ("dbkey", "reads of pages"))
"""Logs that tell of pages, and what of: waits are what locks cost, every page that is read is locked as well."""
FEW_PERCENT = 10.0
"""This project: a node with a tenth of the users or less is one whose users can be moved before anything is set."""
NAMED = 4
"""Processes and areas that are named in a sentence."""


@dataclass(frozen=True)
class Minor:
    """The node that does next to nothing of the work, and the one that does most."""

    node: str
    main: str
    per_second: float
    """Transactions of the minor node."""
    of: float
    """Of all nodes."""
    operations: float | None
    """Lock operations per second of the minor node; `None`: not in the export."""
    of_operations: float | None
    """Of all nodes."""
    people: str
    """Its processes by name, else how many users it has; empty where neither is in the export."""
    source: Source

    @property
    def percent(self) -> float:
        """Of all transactions."""
        return 100 * self.per_second / self.of

    @property
    def each(self) -> float | None:
        """Lock operations of one of its transactions."""
        return self.operations / self.per_second if self.operations is not None and self.per_second else None

    @property
    def operations_are_few(self) -> bool:
        """Whether it has as few of the locks as of the transactions."""
        few, whole = self.operations, self.of_operations
        return few is not None and whole is not None and 100 * few <= MINOR_PERCENT * whole

    @property
    def who(self) -> str:
        """`AUDIT_2 and MGMT_1 with AUDIT.EXE of ELGIN`, or what ELGIN does."""
        return f"{self.people} of {self.node}" if self.people else f"the work of {self.node}"

    @property
    def said(self) -> str:
        """A sentence."""
        many = f", of {rounded(self.each)} lock operations each" if self.each else ""
        return (
            f"{self.node} does {rounded(self.percent)} % of the transactions ({rounded(self.per_second)} of "
            f"{rounded(self.of)}/s{many}), {self.main} most."
        )

    @property
    def evidence(self) -> Evidence:
        """Its share, held against the limit."""
        what = f"transactions on {self.node}"
        return Evidence(what, round(self.percent, 1), "% of all", self.source, MINOR_PERCENT)


def room_on(facts: Facts, one: OneDatabase, node: str) -> Room:
    """Whether a node has free processors for the work of the others that use the database."""
    return room_of(members_of(facts), node, comes_from=[use.node for use in one.in_use])


def meeting_place(facts: Facts, one: OneDatabase) -> Room:
    """The same of the node that has most of them, where all work on it may meet; of all that no export tells of."""
    rooms = [room_on(facts, one, use.node) for use in one.in_use]
    best = min(rooms, key=lambda room: (bool(room.full), bool(room.unread), bool(room.tight)))
    return room_of((), *(name for room in rooms for name in room.unread)) if best.unread else best


def to_move(facts: Facts, one: OneDatabase, remote: Remote) -> tuple[Sighting, Sighting] | None:
    """Of two nodes the one that sends most requests away and has no more users, and the other.

    `None` where the other is slower, or has no free processors.
    """
    name = (remote.node or own_name(facts) or "").upper()
    here = next((use for use in one.in_use if use.node.upper() == name), None)
    others = [use for use in one.in_use if use != here]
    if here is None or len(others) != 1 or not here.users or not others[0].users or here.users > others[0].users:
        return None
    if room_on(facts, one, others[0].node).full:
        return None
    order = compare_nodes(facts, others[0].node, here.node)
    return None if order is not None and order.sign < 0 else (here, others[0])


def few_to_move(facts: Facts, one: OneDatabase, remote: Remote) -> tuple[Sighting, Sighting] | None:
    """The same where they are so few that moving them comes before any setting of the database."""
    found = to_move(facts, one, remote)
    if found is None:
        return None
    few, many = (use.users or 0.0 for use in found)
    return found if 100 * few <= FEW_PERCENT * (few + many) else None


def minor_of(facts: Facts, one: OneDatabase, found: Iterable[Statistics]) -> Minor | None:
    """The node with so few transactions, of two or more with users and screens of their own each; else nothing."""
    pairs = of_each_node([each for each in found if each.node and not each.merged], lambda each: each.transactions)
    users = {use.node.upper(): use for use in one.in_use}
    done = {each.node.upper(): (rate, each) for rate, each in pairs if each.node and each.node.upper() in users}
    if len(done) < 2 or len(done) < len(users):
        return None
    ranked = sorted(done, key=lambda node: done[node][0].per_second)
    rate, each = done[ranked[0]]
    whole = sum(other.per_second for other, _ in done.values())
    if not whole or 100 * rate.per_second > MINOR_PERCENT * whole:
        return None
    node, main = (comment(users[name].node, 31) for name in (ranked[0], ranked[-1]))
    people = _people(facts, one, ranked[0], users[ranked[0]].users)
    totals = [other.operations() for _, other in done.values()]
    locks = None if None in totals else sum(filter(None, totals))
    return Minor(node, main, rate.per_second, whole, each.operations(), locks, people, rate.source)


def users_of(facts: Facts, one: OneDatabase, use: Sighting) -> str:
    """`STAT_EXPORT (24C00A1D) of HUSUM` where one process is all that is listed there, else `the 7 users of HUSUM`."""
    node, many = comment(use.node, 31), use.users or 0.0
    own = list(_listed(facts, one, use.node.upper()).values())
    if many == len(own) == 1:
        return f"{called(own[0])} of {node}"
    return f"the {many:,.0f} user{'' if many == 1 else 's'} of {node}"


def _listed(facts: Facts, one: OneDatabase, node: str) -> dict[str, AttachedProcess]:
    """The processes of a node by PID, without those of Rdb itself."""
    return {
        process.pid: process
        for process in belonging(facts.every(AttachedProcess), one)
        if (process.node or "").upper() == node
        and process.process
        and not (RECOVERY.search(process.image or "") or SERVER.search(process.image or ""))
    }


def _people(facts: Facts, one: OneDatabase, node: str, users: float | None) -> str:
    listed = _listed(facts, one, node)
    names = list(dict.fromkeys(comment(process.process or "", 20) for process in listed.values()))
    if not names:
        return f"the {users:,.0f} users" if users else ""
    images = {image_of(listed, pid) for pid in listed}
    image = next(iter(images)) if len(images) == 1 else ""
    using = f" with {image}" if image else ""
    more = [f"{len(names) - NAMED} more"] if len(names) > NAMED else []
    return f"{enumerated([*names[:NAMED], *more])}{using}"


@dataclass(frozen=True)
class Areas:
    """Which node uses which storage areas most, by logs of one kind, or screens, from the nodes."""

    of_node: tuple[tuple[str, tuple[str, ...]], ...]
    percent: float
    """Of all that is logged, those of the area's main node."""
    logged: int
    """Waits for pages, or reads of them; of the screens I/O operations a second."""
    kind: str
    """`stall` or `dbkey`, or the title of the screens."""
    what: str
    """`waits for pages`, or reads of them."""
    source: Source

    @property
    def distinct(self) -> bool:
        """Whether the areas have main users, of more than one node."""
        return self.percent >= DISTINCT_PERCENT and len(self.of_node) > 1

    @property
    def said(self) -> str:
        """`SOUTH_DATA and SOUTH_IDX by BANFF, …`, for a sentence."""
        return "; ".join(f"{', '.join(names[:NAMED])} by {node}" for node, names in self.of_node)

    @property
    def written(self) -> int:
        """How many areas have a main user."""
        return sum(len(names) for _, names in self.of_node)

    @property
    def by(self) -> str:
        """`By the stall logs of the nodes`, to begin a sentence."""
        screens = f"screens {self.kind}"
        if self.kind == ONE_FILE:
            screens += f" of {self.written} storage areas (others were not written)"
        return f"By the {screens if self.kind in (IO, ONE_FILE) else f'{self.kind} logs'} of the nodes"

    @property
    def evidence(self) -> Evidence:
        """Held against the limit."""
        what = f"{self.what} of an area from its main node"
        return Evidence(what, round(self.percent, 1), f"% of {self.logged:,}", self.source, DISTINCT_PERCENT)


def areas_by_node(facts: Facts, one: OneDatabase) -> Areas | None:
    """The main user of each storage area that logs name; `None` without a log, or a screen, of each node with users.

    A log names no node: the name of its file has to, as one word of it (`stalls_banff.log`). Logs of waits come before
    those of reads, these before screens of I/O, and no two are ever held against each other: pages that a node has in
    its buffers are locked without any I/O.
    """
    nodes = {use.node.upper(): comment(use.node, 31) for use in one.in_use}
    waits = waits_of(facts, one)
    if waits.refused():
        return None
    found = (_by_logs(waits.of((kind,), "page"), nodes, one.area_names, kind, what) for kind, what in LOGGED)
    return next(filter(None, found), None) or _by_io(facts, one, nodes)


def _by_io(facts: Facts, one: OneDatabase, nodes: Mapping[str, str]) -> Areas | None:
    """By the newest screen of each node; none where a node has no such screen, or next to no I/O.

    Of screens with one area each those areas alone that every node has one of: what was not written is not unused.
    """
    rates: dict[str, dict[str, float]] = {}
    source: Source | None = None
    kind = ""
    for area in belonging(facts.every(AreaIo), one):
        if (name := (area.node or "").upper()) in nodes and known(area.per_second):
            rates.setdefault(name, {})[area.area] = area.per_second
            source, kind = source or area.source, kind or area.screen
    if kind == ONE_FILE:
        both = set.intersection(*map(set, rates.values()))
        rates = {name: {area: own[area] for area in own if area in both} for name, own in rates.items()}
    if source is None or len(rates) < max(2, len(nodes)) or min(sum(own.values()) for own in rates.values()) < LEAST_IO:
        return None
    return _areas(rates, nodes, kind, "I/O operations/s", source)


def _areas(
    counts: Mapping[str, Mapping[str, float]], nodes: Mapping[str, str], kind: str, what: str, source: Source
) -> Areas:
    """Each area with the node whose own it is, and how much of all is of main nodes, of what each has of each area."""
    mains: dict[str, list[str]] = {}
    main, whole = 0.0, 0.0
    for area in dict.fromkeys(area for own in counts.values() for area in own):
        of_area = {name: own.get(area, 0.0) for name, own in counts.items()}
        best = max(of_area, key=lambda name: of_area[name])
        if 100 * of_area[best] >= DISTINCT_PERCENT * sum(of_area.values()):  # else it is no node's own
            mains.setdefault(best, []).append(comment(area, 31))
        main, whole = main + of_area[best], whole + sum(of_area.values())
    of_node = tuple((nodes[name], tuple(names)) for name, names in sorted(mains.items()))
    return Areas(of_node, 100 * main / whole if whole else 0.0, round(whole), kind, what, source)


def _by_logs(
    groups: Sequence[WaitGroup], nodes: Mapping[str, str], called: Mapping[str, str], kind: str, what: str
) -> Areas | None:
    per_node: dict[str, dict[str, int]] = {}
    for name in nodes:
        own = [group for group in groups if _names(group.source.file, nodes) == name]
        if total(own) < LEAST_WAITS:
            return None
        per_node[name] = dict(areas_of(own))
    if len(per_node) < 2:
        return None
    by_name = {
        name: {called.get(area, f"area {area}"): float(found[area]) for area in sorted(found, key=int)}
        for name, found in per_node.items()
    }
    return _areas(by_name, nodes, kind, what, groups[0].source)


def _names(file: str, nodes: Iterable[str]) -> str | None:
    """The one node that a file is called after."""
    words = set(re.split(r"[^A-Z0-9$]+", file.upper().replace("\\", "/").rsplit("/", 1)[-1]))
    found = words & set(nodes)
    return found.pop() if len(found) == 1 else None
