"""Whose a series of runs is that came with exports of systems: by engines, a node's name, or its machine's."""

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import TypeGuard

from collectors.facts import Fact
from collectors.facts.openvms import Node
from collectors.facts.scaling import LoadSeries, ParameterSeries
from collectors.group import Group
from collectors.nodes_beside import CALLED
from collectors.places import Neighbours

WORD = re.compile(r"[A-Z0-9$_]+")
"""A word of a title, as long as a name of a node can be."""


def adopt_series(groups: dict[tuple[str, str], Group]) -> None:
    """Give a load series over engines to the one SAP ASE that came with it: only ASE has engines."""
    servers = [group for group in groups.values() if group.product == "ase" and group.named]
    if len(servers) != 1:
        return
    beside = Neighbours(servers)
    for key, group in list(groups.items()):
        if group.product != "scaling":
            continue
        series = [fact for one in group.inputs for fact in one.facts if isinstance(fact, LoadSeries)]
        over_engines = bool(series) and all(one.load_name.lower().startswith("engine") for one in series)
        if over_engines and beside.near(servers[0], group.inputs):
            beside.add(servers[0], groups.pop(key).inputs)


def join_own_series(groups: dict[tuple[str, str], Group]) -> None:
    """Give series of runs to the one node beside them whose name their title has: `FINDHO rx6600 - 8 cores`.

    Runs of a test on the node itself say what published ones leave open. Not where the title has the names of
    several. A file that is called after one of them, `LOCKLOAD_FINDHO.TXT`, is of that one where its titles name no
    node and no other machine. Series over the values of a parameter, or several that are held against each other,
    whose titles name no node, go to the only one on such a machine.
    """
    nodes = [group for group in groups.values() if group.product == "openvms" and not _series_alone(group)]
    beside = Neighbours(nodes)
    by_name = {group.name.upper(): group for group in nodes if group.named}
    for key, group in list(groups.items()):
        if group.product not in ("openvms", "scaling") or group.chosen or not _series_alone(group):
            continue
        titles = [
            set(WORD.findall(fact.title.upper())) for one in group.inputs for fact in one.facts if _is_series(fact)
        ]
        called = [by_name[name] for name in set.intersection(*titles) & by_name.keys()]
        if not called and not set.union(*titles) & by_name.keys():
            called = _called_after(group, by_name) or _of_model(group, nodes)
        if len(called) == 1 and beside.near(called[0], group.inputs):
            beside.add(called[0], groups.pop(key).inputs)


def _called_after(group: Group, by_name: Mapping[str, Group]) -> list[Group]:
    """The one node that all files of these runs are called after; none where their titles have another machine."""
    words = [set(re.split(r"[^A-Z0-9$]+", PurePath(one.file).stem.upper())) for one in group.inputs]
    here = set.intersection(*words) & by_name.keys()
    series = [fact for one in group.inputs for fact in one.facts if _is_series(fact)]
    if len(here) != 1 or any(fact.node for fact in series):
        return []
    node = by_name[here.pop()]
    machines = _machines(node)
    titled = all(any(machine in fact.title.upper() for machine in machines) for fact in series)
    if machines and not titled:
        return []
    for one in group.inputs:
        one.problems.append(CALLED.format(node.name))
    return [node]


def _machines(node: Group) -> set[str]:
    """What its exports call its machine, in capitals."""
    every = (fact for one in node.inputs for fact in one.facts)
    return {fact.hardware.upper() for fact in every if isinstance(fact, Node) and fact.hardware}


def _of_model(group: Group, nodes: Sequence[Group]) -> list[Group]:
    """The nodes whose machine the titles of a test begin with, as a node itself prints its name.

    A single series over the load is no test of a setting: it may be what was published of such a machine.
    """
    series = [fact for one in group.inputs for fact in one.facts if _is_series(fact) and not fact.node]
    several = len(series) > 1 or any(isinstance(fact, ParameterSeries) for fact in series)
    if not several or len(series) < sum(len(one.facts) for one in group.inputs):
        return []
    titles = [fact.title.upper() for fact in series]
    found = []
    for node in nodes:
        machines = _machines(node)
        if any(len(machine.split()) > 1 and all(title.startswith(machine) for title in titles) for machine in machines):
            found.append(node)
    return found


def _is_series(fact: Fact) -> TypeGuard[LoadSeries | ParameterSeries]:
    return isinstance(fact, LoadSeries | ParameterSeries)


def _series_alone(group: Group) -> bool:
    """Whether it has nothing but runs of a test."""
    return all(one.facts and all(map(_is_series, one.facts)) for one in group.inputs)
