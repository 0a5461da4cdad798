"""What causes what across the nodes of one cluster: a finding in one node's capture that explains another node's.

`explains` of a finding names rules of its own capture. But who waits is seldom where the cause is: the slow master has
the cause and the fast node the symptom; a database that is open on two nodes is seen on one, its locks cross on both.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime

from collectors.facts import Capture
from collectors.facts.openvms import ClusterMember
from rules.finding import Finding

CROSSING = "openvms/locks_mastered_remotely"
SLOW, HELD = "openvms/lock_master_on_slow_node", "openvms/remastering_switched_off"
MASTERS = (SLOW, HELD, "openvms/emulated_lock_master")
"""Of the node that serves: they explain why the locks of the nodes that ask it take so long."""
TREE = "openvms/lock_tree_dominates"
OPENED = ("rdb/database_open_on_many_nodes", "rdb/lock_tree_unpartitioned", "openvms/lock_trees_move_too_often", TREE)
"""Where they explain what crosses on their own node, they explain it on the others of that database or tree."""
SPINNING = (
    "openvms/spinlock_hot",
    "openvms/lock_manager_needs_own_cpu",
    "openvms/concurrency_past_peak",
    "openvms/spinning_unexplained",
)
"""What a master pays with for the locks that others ask it for."""

Told = tuple[str, Finding]
"""The rule and what it found."""
Key = tuple[int, str]
"""Number of the capture, and `rule:subject`."""


def links_across(found: Sequence[tuple[Capture, Sequence[Told]]]) -> dict[Key, tuple[Key, ...]]:
    """Which findings of one capture explain findings of another capture of its cluster: cause to effects.

    Captures are of one cluster and one time where each has a `ClusterMember` of the other.
    """
    links: dict[Key, tuple[Key, ...]] = {}
    together = _together([capture for capture, _ in found])
    owners = [own.name.upper() if (own := _own(capture)) else "" for capture, _ in found]
    for at, (capture, told) in enumerate(found):
        near = [other for other in together.get(_members(capture), ()) if owners[other] != owners[at]] if told else []
        for rule, finding in told:
            effects = [key for other in near for key in _effects(rule, finding, found, at, other)]
            if effects:
                links[at, _key((rule, finding))] = tuple(effects)
    return links


def _effects(
    rule: str, finding: Finding, found: Sequence[tuple[Capture, Sequence[Told]]], at: int, other: int
) -> list[Key]:
    """The findings of capture `other` that this finding of capture `at` explains."""
    one, two = _own(found[at][0]), _own(found[other][0])
    if one is None or two is None:
        return []
    # remastering that is off, and keeps no tree away from anybody
    held = rule == HELD and not {SLOW, CROSSING} & {name.split(":")[0] for name in finding.explains}
    masters = rule in MASTERS and not held and _asks(two)
    opened = rule in OPENED and CROSSING in finding.explains
    wanted: tuple[str, ...] = ()
    if masters or opened:
        # the weight of a node before what is said of a database that the others have open as well
        wanted = (CROSSING, *(name for name in OPENED if masters and name in finding.explains))
    elif rule == CROSSING and _asks(one) and not _asks(two):
        wanted = tuple(name for name in SPINNING if _serves(two))
    return [(other, _key(told)) for told in found[other][1] if told[0] in wanted and finding.may_cause(told[1])]


def _key(told: Told) -> str:
    return f"{told[0]}:{told[1].subject}"


def _own(capture: Capture) -> ClusterMember | None:
    return next((one for one in capture.facts.every(ClusterMember) if one.own), None)


def of_one_cluster(one: Capture, other: Capture) -> bool:
    """Whether each has the other as a member, of the very interval: one upload may hold several days of each node."""
    told: list[Mapping[bool, set[tuple[str, datetime | None, datetime | None]]]] = []
    for capture in (one, other):
        members = capture.facts.every(ClusterMember)
        told.append({own: {(m.name.upper(), m.start, m.end) for m in members if m.own is own} for own in (True, False)})
    return bool(told[0][True] & told[1][False]) and bool(told[1][True] & told[0][False])


def clusters_among(captures: Sequence[Capture]) -> list[list[int]]:
    """The captures of each cluster and time, as places, two of different nodes at least.

    By the same evidence as `of_one_cluster`: all captures of one cluster and time have the same members, of the same
    intervals. Of several captures of one node the first counts.
    """
    groups = []
    for places in _together(captures).values():
        first: dict[str, int] = {}
        for at in places:
            own = _own(captures[at])
            first.setdefault(own.name.upper() if own else "", at)
        groups.append(list(first.values()))
    return [one for one in groups if len(one) > 1]


Members = frozenset[tuple[str, datetime | None, datetime | None]]


def _members(capture: Capture) -> Members:
    return frozenset((one.name.upper(), one.start, one.end) for one in capture.facts.every(ClusterMember))


def _together(captures: Sequence[Capture]) -> dict[Members, list[int]]:
    """The captures by their members, each looked at once: those without a node of their own are of no cluster."""
    together: dict[Members, list[int]] = {}
    for at, capture in enumerate(captures):
        if _own(capture) is not None:
            together.setdefault(_members(capture), []).append(at)
    return together


def _rates(member: ClusterMember) -> tuple[float, float, float]:
    parts = (member.local_per_second, member.incoming_per_second, member.outgoing_per_second)
    local, incoming, outgoing = (part if isinstance(part, float | int) else 0.0 for part in parts)
    return local, incoming, outgoing


def _asks(member: ClusterMember) -> bool:
    """Whether it asks others for more than it serves them."""
    _, incoming, outgoing = _rates(member)
    return outgoing > incoming


def _serves(member: ClusterMember) -> bool:
    """Whether it works mostly for others: half of its lock operations at least (this project)."""
    local, incoming, outgoing = _rates(member)
    return incoming > 0 and incoming >= local + outgoing
