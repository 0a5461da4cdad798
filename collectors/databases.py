"""Oracle Rdb databases: how they are told apart, and on which node of the same exports one is open.

A database is known by its root file. Two of one name in two directories are two databases, so a name without a
directory stands for the one root file of that name there is, or for itself. A database that is open on one node that
came with it is judged together with that node: its lock statistics and the node's lock rates are one story.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, Protocol, TypeVar

from collectors.facts import Fact, known
from collectors.facts.rdb import Database, DatabaseUse, NodeDatabases, OfDatabase, StatisticRow, StatisticsWindow
from collectors.facts.rdb.names import is_whole, root_key, short_name
from collectors.places import Neighbours
from collectors.read import Input


class Grouped(Protocol):
    """A group of exports as `collectors.grouping` has it."""

    product: str
    name: str
    inputs: list[Input]


def database_of(facts: Iterable[Fact]) -> str | None:
    """The root file that facts name first, as printed; of two spellings the whole one."""
    named = [fact.database for fact in facts if isinstance(fact, OfDatabase) and fact.database]
    return next((root for root in named if is_whole(root)), named[0] if named else None)


def parted_by_database(one: Input) -> list[Input]:
    """Split an input that speaks of several databases; a fact that names none goes with the one before it.

    What a node has open, and has not, is told of each of them.
    """
    keys = {root_key(fact.database) for fact in one.facts if isinstance(fact, OfDatabase) and fact.database}
    if len(keys) < 2:
        return [one]
    parts: dict[str, Input] = {}
    key = ""
    for fact in one.facts:
        key = root_key(fact.database) if isinstance(fact, OfDatabase) and fact.database else key
        part = parts.setdefault(key, Input(one.file, one.report, problems=one.problems, given=one.given))
        if not isinstance(fact, NodeDatabases):
            part.facts.append(fact)
    for part in parts.values():
        part.facts += [fact for fact in one.facts if isinstance(fact, NodeDatabases)]
    return list(parts.values())


def under_one_name(inputs: Sequence[Input], places: Callable[[Input], Iterable[Hashable]]) -> list[Input]:
    """The inputs with each database under the name that its root file has for itself.

    A header prints that name and the one it was called by: a logical name that other exports may print. It tells so for
    what came with it, which has one of its `places`, and where no two headers there mean different files by it.
    """
    told: dict[tuple[Hashable, str], _Called] = {}
    number = 0
    for one in inputs:
        for fact in one.facts:
            if isinstance(fact, Database) and fact.called and fact.database:
                number += 1
                for place in places(one):
                    called = told.setdefault((place, root_key(fact.called)), _Called())
                    called.keys.add(root_key(fact.database))
                    called.last = (number, fact.database)
    return [_renamed(one, list(places(one)), told) for one in inputs] if told else list(inputs)


@dataclass
class _Called:
    """What the headers of one place mean by one name."""

    keys: set[str] = field(default_factory=set)
    last: tuple[int, str] = (0, "")
    """The root file as the last of them prints it, with the number of that header."""


def _renamed(one: Input, places: Sequence[Hashable], told: Mapping[tuple[Hashable, str], _Called]) -> Input:
    names: dict[str, str] = {}
    for key in {root_key(name) for fact in one.facts for name in _names_of(fact)}:
        found = [told[place, key] for place in places if (place, key) in told]
        if len(set().union(*(called.keys for called in found))) == 1:
            names[key] = max(called.last for called in found)[1]
    return replace(one, facts=[_by_root(fact, names) for fact in one.facts]) if names else one


def _names_of(fact: Fact) -> tuple[str, ...]:
    if isinstance(fact, NodeDatabases):
        return fact.databases
    return (fact.database,) if isinstance(fact, OfDatabase) and fact.database else ()


def _by_root(fact: Fact, names: Mapping[str, str]) -> Fact:
    if isinstance(fact, NodeDatabases):
        return replace(fact, databases=tuple(names.get(root_key(root), root) for root in fact.databases))
    if isinstance(fact, OfDatabase) and fact.database:
        return replace(fact, database=names.get(root_key(fact.database), fact.database))
    return fact


def whole_names(keys: Iterable[str]) -> dict[str, str]:
    """For each name without a directory the one key with a directory that it stands for."""
    found: dict[str, set[str]] = {}
    for key in keys:
        if is_whole(key):
            found.setdefault(short_name(key), set()).add(key)
    return {name: whole.pop() for name, whole in found.items() if len(whole) == 1}


def nodes_of(facts: Iterable[Fact]) -> list[str]:
    """The nodes that facts of a database speak of, in capitals; those with statistics first."""
    counted = [fact.node.upper() for fact in facts if isinstance(fact, StatisticRow | StatisticsWindow) and fact.node]
    others = [fact.node.upper() for fact in facts if isinstance(fact, OfDatabase) and fact.node]
    return list(dict.fromkeys([*counted, *others]))


G = TypeVar("G", bound=Grouped)


class NodesByName(Generic[G]):
    """The OpenVMS nodes of the same exports."""

    def __init__(self, nodes: Sequence[G]) -> None:
        """Index them by name and by where their exports came from."""
        self.numbers = {node.name.upper(): number for number, node in enumerate(nodes)}
        self.nodes = nodes
        self.beside = Neighbours(nodes)

    def give(self, node: G, inputs: Iterable[Input]) -> None:
        """Judge these inputs with the node."""
        self.beside.add(node, inputs)

    def node_for(self, database: Grouped) -> G | None:
        """The node whose capture a database belongs to, or `None` where more than one could be meant.

        That is the node its statistics were taken on; without statistics the only node it names, or, where it names
        none, the only node there is, if it came beside it. Of several the one where most users have it open, then where
        most locks are requested: what the others do comes with it, by their names (`collectors.cluster`).
        """
        facts = [fact for one in database.inputs for fact in one.facts]
        named = nodes_of(facts)
        counted = nodes_of(fact for fact in facts if isinstance(fact, StatisticRow | StatisticsWindow))
        if not named:
            only = self.nodes[0] if len(self.nodes) == 1 else None
            return only if only is not None and self.beside.near(only, database.inputs) else None
        found = sorted(self.numbers[name] for name in counted or named if name in self.numbers)
        work = {number: self._work(facts, number) for number in found} if len(found) > 1 else {}
        number = max(found, key=lambda one: work.get(one, (0.0, 0.0)), default=None)
        return None if number is None else self.nodes[number]

    def _work(self, facts: Sequence[Fact], number: int) -> tuple[float, float]:
        name = self.nodes[number].name.upper()
        return _users(facts, name), _requested(facts, name)


def _requested(facts: Iterable[Fact], node: str) -> float:
    """Locks requested per second on a node, by the busiest of its screens; none where no screen counts them."""
    rows = (fact for fact in facts if isinstance(fact, StatisticRow) and fact.item == "locks requested")
    rates = [row.mean_per_second for row in rows if row.lock_type == "total" and (row.node or "").upper() == node]
    return max((rate for rate in rates if known(rate)), default=0.0)


def _users(facts: Iterable[Fact], node: str) -> float:
    """How many users the monitor of a node listed last, Rdb's own servers left out; none where it does not say."""
    listed = [one.attached for one in facts if isinstance(one, DatabaseUse) and (one.node or "").upper() == node]
    return next((users for users in reversed(listed) if users is not None), 0.0)
