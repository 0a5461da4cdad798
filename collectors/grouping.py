"""Which exports speak of one system: by the name they give, else by the company they came in.

An export that names its system belongs to that system. One that does not (a configuration listing, say) joins a named
system only where there is no doubt: exactly one system of its product came in the same folder or archive or on the
same command line, or the user gave a name. Otherwise it is judged by itself, file by file. Advice built from the
settings of one server and the figures of another would be worse than none. Files that name none are put together where
they show the same event at the same time, and those of SAP ASE where a folder has no others and nothing tells them
apart.
"""

import re
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import PurePath

from collectors.databases import NodesByName, database_of, nodes_of, parted_by_database, under_one_name, whole_names
from collectors.facts.ase import ErrorLog, LogEvent, LogHolder, MonProcess, Server, Snapshot
from collectors.facts.openvms import (
    AlternateKey,
    ClusterNode,
    DirectorySize,
    FileName,
    IndexedFile,
    LockActivity,
    LockLatency,
    LockQueue,
    LockQueues,
    LockTree,
    Node,
    OpenFile,
    RmsDefaults,
    RmsRecordLock,
    Volume,
)
from collectors.facts.rdb import Database, NodeDatabases
from collectors.facts.rdb.names import is_whole, may_be_one, path_of, root_key, short_name
from collectors.facts.scaling import LoadSeries, ParameterSeries
from collectors.facts.scaling.titles import parted
from collectors.facts.unix import LockingRun, RecordLock
from collectors.facts.zvm import PerfkitPage, PerformanceRun
from collectors.group import ALONE, Group, by_folder, no_more_alone, product_of
from collectors.hosts import hosts_apart
from collectors.nodes_beside import called_after_nodes, nodes_named, prompted, share_calls
from collectors.of_one_folder import join_folders, join_listings
from collectors.places import Neighbours, command_line_of, file_of, folder_of, places_of
from collectors.read import Input
from collectors.series_of import adopt_series, join_own_series

TWINS = (
    "{0} and {1} may be one database under two names of its disk: nothing here proves it, so they are judged apart; "
    "RMU/DUMP/HEADER with the name that the screens print shows both names"
)
CONFIG_FILE, ERROR_LOG = "ase/config_file", "ase/errorlog"
OTHER_NAME = "taken for the configuration of {0}, which came with it, though it is called {1}: see that it is of {0}"
"""A server calls its configuration file by its own name; nothing within says whose it is."""
OTHER_PROMPT = (
    "names no node but in SET PROMPT ({1}), so it is taken for one of {0}, the only node beside it: if {1} is another "
    "node, put it into a folder of its own"
)
LISTINGS = ("unix/proc_locks", "unix/lslocks")
"""Reports of one moment, to be repeated, that name no host."""
COMMON_PROCESSES = 2
"""This project: listings with fewer processes in common may be of two hosts."""
REPEATED = re.compile(r"(?P<name>.*locks?)[\d\s._:-]*", re.IGNORECASE | re.DOTALL)
"""`locks1`, `web1_locks-10.15.20`: a number or a time behind what the listing is called. A number anywhere else, as in
`locks_web1`, may be that of a host; `locks (1)` is what a browser calls a second copy."""
SAMPLE = (
    "names no host, so it is taken for a sample of the one that {0} is of, by name and folder: put listings of another "
    "host into a folder of their own"
)
SUSPENDED = "log suspend"
"""The state, in `sp_who` and `sysprocesses`, of a session that sleeps at the last-chance threshold of a log."""
NEAR = timedelta(days=1)
"""This project: how far the times of a listing may lie from those of an error log that tells of the same full log."""
SAME_LOG = (
    "names no server, so it is taken for the one that {0} is of: both say that the log of {1} is full, and their times "
    "agree. Put exports of another server into a folder of their own"
)
NAMING = frozenset((Server, Node, Snapshot, PerfkitPage, LoadSeries, ParameterSeries, LockingRun))
"""Facts that may tell of which system an export is; what tells of a database is an `OfDatabase`."""
OF_CLUSTERS = (
    LockLatency,
    LockActivity,
    LockTree,
    LockQueues,
    LockQueue,
    RmsRecordLock,
    FileName,
    DirectorySize,
    IndexedFile,
    AlternateKey,
    OpenFile,
    RmsDefaults,
    Volume,
)
"""Facts of a whole cluster: they are given to each of its nodes."""
OF_ONE_CLUSTER = (
    "openvms/lock_activity",
    "openvms/lock_queues",
    "openvms/rms_locks",
    "openvms/fdl",
    "openvms/file_ids",
    "openvms/open_files",
    "openvms/rms_defaults",
    "openvms/show_device",
)
"""Their reports: without exports of any node, those beside each other that name the same nodes are of one cluster."""
OF_ONLY_NODE = (
    "names no node, so it is taken for one of {0}, the only node that the exports of Rdb beside it name: if it is of "
    "another, put it into a folder of its own"
)
MODPARAMS = "openvms/modparams"
OF_ALL_NODES = (
    "names no node, so it is taken for a file that AUTOGEN includes on each of those beside it ({0}): put that of one "
    "node into a folder of its own"
)
OF_ONE_NODE_OF = (
    "names no node, so it is taken for one of {0}, the nodes that {1} beside it names: if it is of another system, put "
    "it into a folder of its own"
)
CP_LEVEL, RUNS = "zvm/cp_level", "zvm/performance_runs"
OF_SAME_RELEASE = (
    "names no system, so it is taken for that of the runs in {0}, which are of the same release: put that of another "
    "system into a folder of its own"
)
SETTINGS = "openvms/sysgen"
"""A bare SHOW of SYSGEN names no node unless it shows SCSNODE."""


def name_of(one: Input) -> str | None:
    """The system an export names, or `None`."""
    for fact in one.facts:
        if type(fact) not in NAMING:
            continue
        if isinstance(fact, Server | Node) and fact.name:
            return fact.name
        if isinstance(fact, Snapshot) and fact.server:
            return fact.server
        if isinstance(fact, PerfkitPage) and fact.system:
            return fact.system
        if isinstance(fact, LoadSeries | ParameterSeries):
            return fact.node or fact.title
        if isinstance(fact, LockingRun):
            return fact.title
    root = database_of(one.facts)
    return short_name(root) if root else None


def _without_switch(one: Input, own: str) -> str:
    """The name without what a load series was run `with` or `without`: one machine, whose runs are to be compared."""
    series = [fact for fact in one.facts if isinstance(fact, LoadSeries)]
    same, switch = parted(own)
    return same if switch and same and series and all(fact.node is None for fact in series) else own


def groups_of(inputs: Sequence[Input], name: str | None, names: Mapping[str, str]) -> list[Group]:
    """Sort inputs by system. `name` and `names` are the user's own words, see `collectors.capture.captures`."""
    groups: dict[tuple[str, str], Group] = {}
    nameless: list[Input] = []
    for one in (part for whole in under_one_name(inputs, places_of) for part in _by_node(whole)):
        own = name_of(one)
        if own is None:
            nameless.append(one)
            continue
        product = product_of(one)
        root = database_of(one.facts) if product == "rdb" else None
        same = _without_switch(one, own)
        key = root_key(root) if root else same.upper()
        group = groups.setdefault((product, key), Group(product, own, True))
        if same != own != group.name:
            group.name = same
        group.inputs.append(one)
    _join_short_names(groups)
    _name_twins([group for group in groups.values() if group.product == "rdb"])
    adopt_series(groups)
    join_own_series(groups)
    nameless = called_after_nodes(nameless, groups)
    databases = Neighbours([group for group in groups.values() if group.product == "rdb"])
    nodes = Neighbours([group for group in groups.values() if group.product == "openvms"])
    nameless = [one for one in nameless if not _shared_out(one, groups, databases, nodes)]
    _share_nodes(groups)
    share_calls(nodes, [group for group in groups.values() if group.product == "openvms"])
    left = [one for one in nameless if not _choose(one, groups, name, names.get(one.file, "").strip())]
    named = Named(groups, name, others=len({one.file for one in left}) > 1)
    for one in left:
        _place(one, groups, name, named)
    _join_samples(groups)
    _join_listings(groups)
    _join_error_log(groups)
    join_folders(groups)
    if not name:
        hosts_apart(groups)
    _join_clusters(groups)
    _join_settings(groups)
    _join_release(groups)
    _name_by_databases(groups)
    join_listings(groups)
    _adopt_databases(groups)
    if name and len({group.name for group in groups.values() if group.named and not group.chosen}) == 1:
        for group in groups.values():
            group.name = group.name if group.chosen else name
    return list(groups.values())


def _shared_out(
    one: Input, groups: dict[tuple[str, str], Group], databases: Neighbours[Group], nodes: Neighbours[Group]
) -> bool:
    """Give what speaks of several systems to each of them that there is; returns whether there was any.

    That is what a lock takes between two nodes, who asks for locks and waits for them in a cluster, and what a node has
    open: that it has none of these databases. Names of files and volumes go to every node beside them.
    """
    if one.facts and all(isinstance(fact, NodeDatabases) for fact in one.facts):
        if beside := databases.of([one]):
            for group in beside:
                databases.add(group, [one])
            return True
        names = {fact.node.upper() for fact in one.facts if isinstance(fact, NodeDatabases)}
        called = [groups["openvms", name] for name in sorted(names) if ("openvms", name) in groups]
        found = [group for group in called if nodes.near(group, [one])]
        for group in found:
            nodes.add(group, [one])
        return bool(found)
    if not one.facts or not all(isinstance(fact, OF_CLUSTERS) for fact in one.facts):
        return False
    named = {name.upper() for fact in one.facts for name in nodes_named(fact)}
    found = [groups["openvms", name] for name in sorted(named) if ("openvms", name) in groups]
    if not found and all(
        isinstance(fact, FileName | DirectorySize | IndexedFile | AlternateKey | OpenFile | RmsDefaults | Volume)
        for fact in one.facts
    ):
        found = list(nodes.of([one]))
    for group in found:
        nodes.add(group, [one])
    return bool(found)


def _share_nodes(groups: dict[tuple[str, str], Group]) -> None:
    """Tell each database what the nodes have open that a file beside it lists for others alone: not this one."""
    databases = [group for group in groups.values() if group.product == "rdb"]
    told = [
        (group, replace(one, facts=[fact for fact in one.facts if isinstance(fact, NodeDatabases)]))
        for group in databases
        for one in group.inputs
        if any(isinstance(fact, NodeDatabases) for fact in one.facts)
    ]
    beside = Neighbours(databases)
    known = {
        id(group): {one.file for one in group.inputs if any(isinstance(fact, NodeDatabases) for fact in one.facts)}
        for group in databases
    }
    for owner, listing in told:
        for group in beside.of([listing]):
            if group is not owner and listing.file not in known[id(group)]:
                beside.add(group, [listing])
                known[id(group)].add(listing.file)


def _join_short_names(groups: dict[tuple[str, str], Group]) -> None:
    """Put what calls a database by name alone to the one root file of that name; tell apart what is called alike."""
    databases = {key: group for (product, key), group in groups.items() if product == "rdb"}
    names = whole_names(databases)
    for key in list(databases):
        whole = key if is_whole(key) else names.get(short_name(key), key)
        if whole != key:
            databases[whole].inputs += groups.pop(("rdb", key)).inputs
            del databases[key]
    called = Counter(group.name for group in databases.values())
    for key, group in databases.items():
        group.name = key if called[group.name] > 1 else group.name


def _name_twins(databases: Sequence[Group]) -> None:
    """Say so where the header of one and the figures of another may be of one database under two names of its disk."""
    roots = [(group, root) for group in databases if (root := _root_of(group))]
    alike: dict[str, list[tuple[Group, str]]] = {}
    for group, root in roots:
        if not _has_header(group):
            alike.setdefault(path_of(root), []).append((group, root))
    for group, root in roots:
        if path_of(root) not in alike or not _has_header(group):
            continue
        places = {place for one in group.inputs for place in places_of(one)}
        for other, twin in alike[path_of(root)]:
            beside = any(place in places for one in other.inputs for place in places_of(one))
            if beside and may_be_one(root, twin):
                for one in (*group.inputs, *other.inputs):
                    one.problems.append(TWINS.format(root, twin))


def _has_header(group: Group) -> bool:
    return any(isinstance(fact, Database) for one in group.inputs for fact in one.facts)


def _root_of(group: Group) -> str | None:
    return database_of(fact for one in group.inputs for fact in one.facts)


def _name_by_databases(groups: dict[tuple[str, str], Group]) -> None:
    """Take listings of an OpenVMS node without its name for those of the one node that Rdb in the same folder names.

    Not where another node is named by any export of OpenVMS, or by several of Rdb: then nobody knows whose they are.
    """
    by_folder: dict[Hashable, set[str]] = {}
    for group in groups.values():
        names = {group.name.upper()} if group.product == "openvms" and group.named else set()
        for one in group.inputs:
            told = set(nodes_of(one.facts)) if group.product == "rdb" else names
            for place in folder_of(one):
                by_folder.setdefault(place, set()).update(told)
    for key, group in list(groups.items()):
        if group.product != "openvms" or group.named or len({one.file for one in group.inputs}) != 1:
            continue
        names = set().union(*(by_folder.get(place, set()) for place in folder_of(group.inputs[0])))
        facts = (fact for one in group.inputs for fact in one.facts)
        clustered = any(isinstance(fact, (*OF_CLUSTERS, ClusterNode)) for fact in facts)
        if len(names) != 1 or clustered:
            continue
        (name,) = names
        node = groups.setdefault(("openvms", name), Group("openvms", name, True))
        for one in groups.pop(key).inputs:  # a file of several listings is told once
            said = [said for said in one.problems if said != ALONE]
            one.problems = [*said, OF_ONLY_NODE.format(name)] if one is group.inputs[0] else said
            node.inputs.append(one)


def _adopt_databases(groups: dict[tuple[str, str], Group]) -> None:
    """Judge a database with the node that it is open on, where there is no doubt which one that is."""
    nodes = NodesByName([group for group in groups.values() if group.product == "openvms"])
    for key, group in list(groups.items()):
        if group.product == "rdb" and not group.chosen and (node := nodes.node_for(group)) is not None:
            nodes.give(node, groups.pop(key).inputs)


def _choose(one: Input, groups: dict[tuple[str, str], Group], name: str | None, chosen: str) -> bool:
    """Put an export where the user said; returns whether there was a choice for it."""
    if not chosen or (name and chosen.upper() == name.upper()):
        return False  # the name for all exports may be another one of a system that names itself
    product = product_of(one)
    group = groups.setdefault((product, chosen.upper()), Group(product, chosen, True))
    group.chosen = True
    group.inputs.append(one)
    return True


def _by_node(one: Input) -> list[Input]:
    """Split an input that speaks of several nodes (a session that went from node to node) or databases."""
    if product_of(one) == "rdb":
        return parted_by_database(one)
    nodes = {fact.name.upper() for fact in one.facts if isinstance(fact, Node)}
    nodes |= {fact.node.upper() for fact in one.facts if isinstance(fact, LoadSeries | ParameterSeries) and fact.node}
    if len(nodes) < 2:
        return [one]
    parts: dict[str, Input] = {}
    for fact in one.facts:
        node = fact.name if isinstance(fact, Node) else getattr(fact, "node", None)
        part = parts.setdefault(
            (node or "").upper(), Input(one.file, one.report, problems=one.problems, given=one.given)
        )
        part.facts.append(fact)
    return list(parts.values())


class Named:
    """The systems that name themselves, by product and by where their exports came from; nearest places first."""

    def __init__(self, groups: Mapping[tuple[str, str], Group], name: str | None, *, others: bool) -> None:
        """`name` is what the user calls the system; `others`: several files name no system."""
        self.others = others
        self.products: dict[str, list[Group]] = {}
        for group in groups.values():  # a choice for some files says nothing of the others: the name for all does
            if group.named and not (name and group.chosen):
                self.products.setdefault(group.product, []).append(group)
        self.indexed = {
            product: [Neighbours(found, places) for places in (file_of, folder_of, command_line_of)]
            for product, found in self.products.items()
        }

    def nearest(self, one: Input) -> Group | None:
        """The one system of its product that is nearer than any other; it gets the input."""
        for level in self.indexed.get(product_of(one), ()):
            several, only = level.only([one])
            if only is not None:
                self.give(only, one)
                return only
            if several:
                break  # more than one is as near as any: no guess
        return None

    def beside(self, one: Input) -> list[Group]:
        """All systems of its product in the same folder or on the same command line, where there are several."""
        for level in self.indexed.get(product_of(one), ()):
            if found := level.of([one]):
                return found
        return []

    def give(self, group: Group, one: Input) -> None:
        """Give an input to one of these systems."""
        group.inputs.append(one)
        for level in self.indexed[group.product]:
            level.index(group, [one])


def _place(one: Input, groups: dict[tuple[str, str], Group], name: str | None, named: Named) -> None:
    """Find the system of an export that names none."""
    product = product_of(one)
    if (nearest := named.nearest(one)) is not None:
        stem = PurePath(one.file).stem
        if one.report == CONFIG_FILE and stem.upper() != nearest.name.upper():
            one.problems.append(OTHER_NAME.format(nearest.name, stem))
        prompts = sorted(prompted(one))
        if prompts and prompts != [nearest.name.upper()]:
            one.problems.append(OTHER_PROMPT.format(nearest.name, " and ".join(prompts)))
        return
    if one.report == MODPARAMS and not name and (beside := named.beside(one)):
        one.problems.append(OF_ALL_NODES.format(", ".join(group.name for group in beside)))
        for group in beside:
            named.give(group, one)
        return
    same_product = named.products.get(product, [])
    if name and len(same_product) == 1:
        named.give(same_product[0], one)
        return
    if name:
        groups.setdefault((product, name.upper()), Group(product, name, False)).inputs.append(one)
        return
    group = groups.setdefault((product, f"\0{one.file}"), Group(product, PurePath(one.file).stem, False))
    if named.others or same_product:
        one.problems.append(ALONE)
    group.inputs.append(one)


def _join_samples(groups: dict[tuple[str, str], Group]) -> None:
    """Take listings of locks in one folder, called alike but for a number or a time behind, for samples of one host."""
    first: dict[tuple[str | None, PurePath, str], Group] = {}
    for key, group in list(groups.items()):
        path, report = PurePath(group.inputs[0].file), group.inputs[0].report
        called = REPEATED.fullmatch(path.stem)
        if group.named or not called or len(group.inputs) > 1 or report not in LISTINGS:
            continue
        sampled = first.setdefault((report, path.parent, called["name"].casefold()), group)
        if sampled is group:
            continue
        sampled.name = called["name"]
        sampled.inputs += groups.pop(key).inputs
    for group in first.values():
        if len(group.inputs) > 1:
            for one, other in zip(group.inputs, (*group.inputs[1:], group.inputs[0]), strict=True):
                one.problems = [said for said in one.problems if said != ALONE]
                one.problems.append(SAMPLE.format(PurePath(other.file).name))


def _join_listings(groups: dict[tuple[str, str], Group]) -> None:
    """Take listings in one folder for those of one host, where two processes or more are in both.

    Of more than one of each kind, as several hosts may have brought, the same processes must lock the same files.
    """
    by_folder: dict[PurePath, list[tuple[tuple[str, str], Group]]] = {}
    for key, group in groups.items():
        if not group.named and all(one.report in LISTINGS for one in group.inputs):
            by_folder.setdefault(PurePath(group.inputs[0].file).parent, []).append((key, group))
    for found in by_folder.values():
        one_each = len(found) == len(LISTINGS) == len({group.inputs[0].report for _, group in found})
        common = _pids if one_each else _on_files
        (_, group), *others = sorted(found, key=lambda pair: pair[1].inputs[0].report != LISTINGS[0])
        first = PurePath(group.inputs[0].file).name
        for key, other in others:
            if len(common(group) & common(other)) < COMMON_PROCESSES:
                continue
            no_more_alone((*group.inputs, *other.inputs))
            for one in other.inputs:
                one.problems.append(SAMPLE.format(first))
            group.inputs += groups.pop(key).inputs


def _join_error_log(groups: dict[tuple[str, str], Group]) -> None:
    """Put an error log to the listing in its folder that shows the same event: one log full, and about when.

    Not where any other export of SAP ASE came in that folder, or it names a server: then nobody knows whose it is.
    """
    for found in by_folder(groups, "ase").values():
        logs = [(key, group) for key, group in found if all(one.report == ERROR_LOG for one in group.inputs)]
        if len(found) != len(("log", "listing")) or len(logs) != 1 or any(group.named for _, group in found):
            continue
        ((key, log),) = logs
        (listing,) = (group for _, group in found if group is not log)
        if not (full := _full_in_both(log, listing)):
            continue
        listing.inputs += groups.pop(key).inputs
        no_more_alone(listing.inputs)
        other = next(one.file for one in listing.inputs if one not in log.inputs)
        log.inputs[0].problems.append(SAME_LOG.format(PurePath(other).name, full))


def _full_in_both(log: Group, listing: Group) -> str:
    """The database whose log is full by an error log, and in which sessions of a listing sleep for it; else empty."""
    told = [fact for one in log.inputs for fact in one.facts]
    spans = [(fact.first - NEAR, fact.last + NEAR) for fact in told if isinstance(fact, ErrorLog)]
    shown = [fact for one in listing.inputs for fact in one.facts]
    times = [fact.started for fact in shown if isinstance(fact, LogHolder) and fact.started]
    times += [fact.taken.replace(tzinfo=None) for fact in shown if isinstance(fact, Snapshot) and fact.taken]
    if not times or not all(any(first <= time <= last for first, last in spans) for time in times):
        return ""
    full = {fact.database for fact in told if isinstance(fact, LogEvent) and fact.kind == LogEvent.LOG_FULL}
    asleep = (one for one in shown if isinstance(one, MonProcess) and (one.status or "").lower() == SUSPENDED)
    return min((one.database for one in asleep if one.database and one.database in full), default="")


def _pids(group: Group) -> set[Hashable]:
    return {lock.pid for lock in _locks(group)}


def _on_files(group: Group) -> set[Hashable]:
    """The processes with the files that they lock, by device and inode."""
    return {(lock.pid, lock.device, lock.inode) for lock in _locks(group) if lock.inode is not None}


def _locks(group: Group) -> Iterator[RecordLock]:
    """The locks of processes; one of an open file description names none."""
    facts = (fact for one in group.inputs for fact in one.facts)
    return (fact for fact in facts if isinstance(fact, RecordLock) and fact.pid > 0)


def _join_clusters(groups: dict[tuple[str, str], Group]) -> None:
    """Put reports of one cluster's locks together of which no node has an export; names of files go with them."""
    together: list[tuple[Group, set[str], set[Hashable]]] = []
    files: list[tuple[tuple[str, str], Group]] = []
    for key, group in list(groups.items()):
        if group.named or any(one.report not in OF_ONE_CLUSTER for one in group.inputs):
            continue
        nodes = {name.upper() for one in group.inputs for fact in one.facts for name in nodes_named(fact)}
        if not nodes:
            files.append((key, group))
            continue
        places = {place for one in group.inputs for place in places_of(one)}
        first = next((of for of in together if of[1] & nodes and of[2] & places), None)
        if first is None:
            together.append((group, nodes, places))
        else:
            first[0].inputs += groups.pop(key).inputs
            first[1].update(nodes)
            first[2].update(places)
    for key, group in files:
        places = {place for one in group.inputs for place in places_of(one)}
        found = [of for of, _, near in together if near & places]
        if len(found) == 1:
            found[0].inputs += groups.pop(key).inputs
    for group, _, _ in together:
        if len(group.inputs) > 1:
            no_more_alone(group.inputs)


def _join_settings(groups: dict[tuple[str, str], Group]) -> None:
    """Take the one listing of SYSGEN without a node for one of the cluster whose locks are listed beside it.

    Not where any other export of OpenVMS lies there: then nobody knows whose it is.
    """
    for found in by_folder(groups, "openvms").values():
        settings = [(key, group) for key, group in found if all(one.report == SETTINGS for one in group.inputs)]
        if len(found) != len(("settings", "locks")) or len(settings) != 1 or any(group.named for _, group in found):
            continue
        ((key, own),) = settings
        (locks,) = (group for _, group in found if group is not own)
        nodes = sorted({name.upper() for one in locks.inputs for fact in one.facts for name in nodes_named(fact)})
        if not nodes or key not in groups or any(one.report not in OF_ONE_CLUSTER for one in locks.inputs):
            continue
        beside = PurePath(locks.inputs[0].file).name
        locks.inputs += groups.pop(key).inputs
        no_more_alone(locks.inputs)
        for one in own.inputs:
            one.problems.append(OF_ONE_NODE_OF.format(" and ".join(nodes), beside))


def _join_release(groups: dict[tuple[str, str], Group]) -> None:
    """Put the answer to QUERY CPLEVEL to the one table of runs in its folder, where all of these are of that release.

    It tells nothing else, so by itself it is no system of which anything could be judged.
    """
    for found in by_folder(groups, "zvm").values():
        levels = [key for key, group in found if all(one.report == CP_LEVEL for one in group.inputs)]
        if len(found) != len(("level", "runs")) or len(levels) != 1 or any(group.named for _, group in found):
            continue
        (runs,) = (group for key, group in found if key != levels[0])
        facts = [fact for one in runs.inputs for fact in one.facts]
        told = {fact.release for one in groups[levels[0]].inputs for fact in one.facts if isinstance(fact, PerfkitPage)}
        ran = {fact.release for fact in facts if isinstance(fact, PerformanceRun)}
        if len(told) != 1 or ran != told or any(one.report != RUNS for one in runs.inputs):
            continue
        level = groups.pop(levels[0]).inputs
        no_more_alone((*runs.inputs, *level))
        for one in level:
            one.problems.append(OF_SAME_RELEASE.format(PurePath(runs.inputs[0].file).name))
        runs.inputs += level
