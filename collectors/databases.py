"""Oracle Rdb databases: how they are told apart, and on which node of the same exports one is open.

A database is known by its root file. Two of one name in two directories are two databases, so a name without a
directory stands for the one root file of that name there is, or for itself. A database that is open on one node that
came with it is judged together with that node: its lock statistics and the node's lock rates are one story.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from collectors.facts import Fact, known
from collectors.facts.rdb import Database, DatabaseUse, NodeDatabases, OfDatabase, StatisticRow, StatisticsWindow
from collectors.facts.rdb.names import is_whole, root_key, short_name
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


def under_one_name(inputs: Sequence[Input], beside: Callable[[Input, Input], bool]) -> list[Input]:
    """The inputs with each database under the name that its root file has for itself.

    A header prints that name and the one it was called by: a logical name that other exports may print. It tells so for
    what came `beside` it, and where no two headers there mean different files by it.
    """
    told = [
        (one, root_key(fact.called), fact.database)
        for one in inputs
        for fact in one.facts
        if isinstance(fact, Database) and fact.called and fact.database
    ]
    return [_renamed(one, [(key, root) for of, key, root in told if of is one or beside(of, one)]) for one in inputs]


def _renamed(one: Input, told: Sequence[tuple[str, str]]) -> Input:
    names = {key: root for key, root in told if len({root_key(other) for same, other in told if same == key}) == 1}
    if not any(root_key(name) in names for fact in one.facts for name in _names_of(fact)):
        return one
    return replace(one, facts=[_by_root(fact, names) for fact in one.facts])


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


def whole_for(key: str, keys: Iterable[str]) -> str:
    """The one key with a directory that a name without one stands for, or the key itself."""
    if is_whole(key):
        return key
    found = {other for other in keys if is_whole(other) and short_name(other) == short_name(key)}
    return found.pop() if len(found) == 1 else key


def nodes_of(facts: Iterable[Fact]) -> list[str]:
    """The nodes that facts of a database speak of, in capitals; those with statistics first."""
    counted = [fact.node.upper() for fact in facts if isinstance(fact, StatisticRow | StatisticsWindow) and fact.node]
    others = [fact.node.upper() for fact in facts if isinstance(fact, OfDatabase) and fact.node]
    return list(dict.fromkeys([*counted, *others]))


def node_for(database: Grouped, nodes: Sequence[Grouped], beside: Sequence[Grouped]) -> Grouped | None:
    """The node whose capture a database belongs to, or `None` where more than one could be meant.

    That is the node its statistics were taken on; without statistics the only node it names, or, where it names none,
    the only node there is beside it. Of several the one where most users have it open, then where most locks are
    requested: what the others do comes with it, by their names (`collectors.cluster`).
    """
    facts = [fact for one in database.inputs for fact in one.facts]
    named = nodes_of(facts)
    counted = nodes_of(fact for fact in facts if isinstance(fact, StatisticRow | StatisticsWindow))
    if not named:
        return beside[0] if len(beside) == len(nodes) == 1 else None
    wanted = counted or named
    found = [node for node in nodes if node.name.upper() in wanted]
    work = {name: (_users(facts, name), _requested(facts, name)) for name in (node.name.upper() for node in found)}
    return max(found, key=lambda node: work[node.name.upper()], default=None)


def _requested(facts: Iterable[Fact], node: str) -> float:
    """Locks requested per second on a node, by the busiest of its screens; none where no screen counts them."""
    rows = (fact for fact in facts if isinstance(fact, StatisticRow) and fact.item == "locks requested")
    rates = [row.mean_per_second for row in rows if row.lock_type == "total" and (row.node or "").upper() == node]
    return max((rate for rate in rates if known(rate)), default=0.0)


def _users(facts: Iterable[Fact], node: str) -> float:
    """How many users the monitor of a node listed last, Rdb's own servers left out; none where it does not say."""
    listed = [one.attached for one in facts if isinstance(one, DatabaseUse) and (one.node or "").upper() == node]
    return next((users for users in reversed(listed) if users is not None), 0.0)
