"""What listings of a folder tell of OpenVMS nodes beside them: whose a listing is, and who does what with a file."""

import re
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from pathlib import PurePath

from collectors.facts import Fact
from collectors.facts.openvms import (
    ClusterNode,
    LockActivity,
    LockLatency,
    LockQueue,
    LockQueues,
    MonitorItem,
    RmsRecordLock,
    SysgenParameter,
)
from collectors.group import Group, Groups, product_of
from collectors.places import Neighbours, folder_of
from collectors.read import Input

CALLED = (
    "names no node, so it is taken for one of {0}, which its file is called after and another file here names: if it "
    "is of another, put it into a folder of its own"
)


def nodes_named(fact: Fact) -> tuple[str, ...]:
    """The nodes that a fact of a whole cluster speaks of."""
    if isinstance(fact, LockLatency):
        return (fact.from_node, fact.master)
    if isinstance(fact, LockActivity):
        return (*fact.nodes, *fact.failed)
    if isinstance(fact, LockQueue | RmsRecordLock):
        return (fact.node,) if fact.node else ()
    return (*fact.nodes, *fact.failed) if isinstance(fact, LockQueues) else ()


def prompted(one: Input) -> set[str]:
    """The nodes that an export puts on its settings: by a prompt, where nothing else in it names one."""
    return {node for fact in one.facts if (node := _on(fact))}


def _on(fact: Fact) -> str | None:
    """The node that a setting is put on."""
    return fact.node if isinstance(fact, SysgenParameter) else None


def called_after_nodes(nameless: Sequence[Input], groups: Groups) -> list[Input]:
    """Give each listing without a node to the one that its file is called after; returns those that are left.

    `SYSGEN_ORKNEY.TXT` is of ORKNEY where exports of its folder name that node and others: a word of a file's name
    alone may be anything. Where they name one node alone, or another part of the same file names it, it is that one's
    anyway, and nothing is to be said. Nor of settings below `SET PROMPT`, or below words above listings whose calls
    were cut off, where an export of the folder names that node.
    """
    known: dict[Hashable, set[str]] = {}
    inputs = [
        (one, {group.name.upper()}) for group in groups.values() if group.product == "openvms" for one in group.inputs
    ]
    inputs += [(one, {name.upper() for fact in one.facts for name in _told(fact)}) for one in nameless]
    for one, names in inputs:
        for place in folder_of(one):
            known.setdefault(place, set()).update(names)
    left, named = [], {one.file for one, names in inputs[: len(inputs) - len(nameless)] if names}
    for one in nameless:
        words = set(re.split(r"[^A-Z0-9$]+", PurePath(one.file).stem.upper()))
        beside = set().union(*(known.get(place, set()) for place in folder_of(one)))
        named_here = prompted(one)
        if (prompts := named_here & beside) and not any(map(_told, one.facts)):
            alone = len(named_here) == 1
            for name in sorted(prompts):
                part = one if alone else replace(one, facts=[fact for fact in one.facts if _on(fact) == name])
                groups.setdefault(("openvms", name), Group("openvms", name, True)).inputs.append(part)
            if not alone and (rest := [fact for fact in one.facts if _on(fact) not in prompts]):
                left.append(replace(one, facts=rest))
            continue
        here = words & beside
        sure = product_of(one) == "openvms" and one.file not in named and len(beside) > 1 and len(here) == 1
        if not sure or any(map(_told, one.facts)):
            left.append(one)
            continue
        (name,) = here
        one.problems.append(CALLED.format(name))
        groups.setdefault(("openvms", name), Group("openvms", name, True)).inputs.append(one)
    return left


def _told(fact: Fact) -> Iterable[str]:
    return (fact.name,) if isinstance(fact, ClusterNode) else nodes_named(fact)


def share_calls(nodes: Neighbours[Group], groups: Sequence[Group]) -> None:
    """Tell each node for which LOCK_ACTV lists a cluster's locks what the others there do with a file (MONITOR RMS)."""
    told = [
        (group, replace(one, facts=[*calls]))
        for group in groups
        for one in group.inputs
        if (calls := [fact for fact in one.facts if isinstance(fact, MonitorItem) and fact.class_name[:4] == "RMS "])
    ]
    for group in groups if told else ():
        listed = [fact for one in group.inputs for fact in one.facts if isinstance(fact, LockActivity)]
        asking = {name.upper() for fact in listed for name in fact.nodes}
        for owner, counted in told:
            if owner is not group and owner.name.upper() in asking and nodes.near(group, [counted]):
                nodes.add(group, [counted])
