"""A database is open on several nodes, or may be although it is not.

Finds: the nodes that have a database open at one moment (RMU/SHOW SYSTEM of each, statistics of each), and the number
of nodes it is declared for. Speaks when users attach from several and much of the node's locking crosses the cluster;
and, softly, when one node alone has it open but it is declared for more, or when one of the nodes does next to nothing
of its work (transactions by the screens of each node).

Why it matters: performance is often better where a database is open on one node only; declared for one, Rdb leaves out
locks and root file I/O that only a cluster needs (JCC Consulting's slides on the OpenVMS lock manager, 2014). It is
also the first step to row caches and to page transfer via memory.

What to do: where several nodes use it, let the work meet on one of them, through Rdb remote access if need be; where
its one lock tree can be partitioned, see first whether each node has storage areas of its own; where one has few of
the users, move those first. Never
set NUMBER OF CLUSTER NODES 1 while users attach from several nodes. Where one node has it open for good, set it, with
the database closed and after a full backup.

When to ignore it: where several nodes must have it open at once, or another has to take over without anybody changing
the database first. A header's own node count proves nothing where users ÷ 50 gives it: 2,032 users print 41.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from collectors.facts import Facts
from collectors.facts.openvms import ClusterNode
from collectors.facts.rdb import AreaIo, AttachedProcess, DatabaseUse, NodeDatabases
from rules.changes.quoting import comment
from rules.engine import limit, percent, rule
from rules.finding import (
    Clean,
    Evidence,
    Expectation,
    Finding,
    NotApplicable,
    Outcome,
    Severity,
    Unknown,
    Untrusted,
    capitalized,
    joined,
    within,
)
from rules.openvms._evidence.cluster import CLUSTER_FACTS
from rules.openvms._evidence.node import sentence
from rules.openvms._evidence.room import FULL_PERCENT
from rules.rdb._evidence.counted import COUNTED_FACTS, by_node, counted, explained, rounded
from rules.rdb._evidence.databases import Nodes, OneDatabase, Sighting, databases, node_names
from rules.rdb._evidence.limits import BusyLimits, PageStallLimits, busy_locks
from rules.rdb._evidence.page_locks import PageStalls, page_stalls
from rules.rdb._evidence.prerequisites import CONFIGURED, change_nodes
from rules.rdb._evidence.root_file import RootIO, root_io
from rules.rdb._evidence.sharing import (
    DLOCK,
    NOT_THIS,
    ON_EACH_NODE,
    OTHERS,
    WHICH_NODES,
    Remote,
    SharedLimits,
    is_main,
    lesser_part,
    listed_when,
    little_of_the_cluster,
    nodes_without,
    not_shown,
    once_alone,
    open_elsewhere,
    remote_of,
    seen_when,
    several_nodes,
)
from rules.rdb._evidence.statistics import LEAST_COUNTED, Statistics, statistics_of, trusted
from rules.rdb._evidence.waits import WAIT_FACTS
from rules.rdb._evidence.work_by_node import (
    Minor,
    areas_by_node,
    few_to_move,
    meeting_place,
    minor_of,
    room_on,
    to_move,
    users_of,
)

LINKS = ("https://docs.oracle.com/cd/F25597_01/document/products/rdb/720/E06178-01/sql_p079.htm",)
MOVE = (
    "Move the work to one node with free CPUs for it, or let the others reach it through Rdb remote access, one "
    "application first (its network has limits of its own)."
)
BY_AREA = "If File IO Overview of each node shows areas of its own, take LOCK PARTITIONING, and no user moves; else {}"
CONFIRM = (
    "First write MONITOR DLOCK on each node: it tells how many of these locks cross the cluster. If many do, take LOCK "
    "PARTITIONING where each node works in storage areas of its own (File IO Overview), else let the work meet on one "
    "node with free CPUs for it, the others through Rdb remote access."
)
FULL = f"move no work for it: {{}} (this project sends none from {FULL_PERCENT:g} % on)."
STAY = "NUMBER OF CLUSTER NODES must stay as it is while users attach from several nodes."
FAILOVER = (
    "Where nobody can try out here how another node takes the database over after a failure, leave it as it is.",
)


@dataclass(frozen=True)
class Limits(SharedLimits, PageStallLimits, BusyLimits):
    """`SharedLimits`, from 20 % of 500 lock operations a second on, and when one node is worth it (this project)."""

    busy_pages: float = busy_locks("page")
    main_percent: float = percent(
        50.0, "this project: from here on most of what is asked back is pages, which one node can pass in memory", low=1
    )
    root_io_per_transaction: float = limit(
        2.0,
        "this project: declared for one node, Rdb leaves out most of them",
        unit="root file I/Os per transaction",
    )
    root_io_per_second: float = limit(
        100.0, "this project: fewer I/Os to one file are no load", unit="root file I/Os/s"
    )


@rule(
    needs=(),
    uses=(*COUNTED_FACTS, *CLUSTER_FACTS, *WAIT_FACTS, AttachedProcess, AreaIo),
    links=LINKS,
    limits=Limits,
    sample=LEAST_COUNTED,
)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge each database."""
    found = databases(facts)
    if not found:
        yield Unknown.of(DatabaseUse)
    for one in found:
        yield from _judge(facts, one, limits)


def _judge(facts: Facts, one: OneDatabase, limits: Limits) -> Iterator[Outcome]:
    if one.one_instance:
        yield Clean(f"{one.subject} is declared for one node or one instance")
        return
    if len(one.in_use) > 1:
        yield from _shared(facts, one, limits)
        return
    if len(one.sightings) > 1 and not one.together:
        yield Unknown((ON_EACH_NODE,), f"{one.subject} was seen on {seen_when(one.sightings)}: not at one time")
        return
    if len(one.sightings) > 1:
        names = node_names(one.sightings)
        yield Clean(f"{one.subject} is open on {names}, but users attach on {node_names(one.in_use) or 'none'} alone")
        return
    elsewhere, nodes = open_elsewhere(facts, one), one.nodes
    if elsewhere:
        yield Unknown((ON_EACH_NODE,), f"{one.subject}: {several_nodes(one)}; on which it is open is not known")
        return
    if elsewhere is None:
        lacking, said = not_shown(facts, one)
        if lacking is WHICH_NODES and not facts.every(ClusterNode) and nodes and nodes.configured is not None:
            found = _declared_for_more(facts, one, nodes, nodes.configured, limits)
            if found.severity is not Severity.NOTE:
                yield found
                return
        yield Unknown((lacking,), f"{one.subject}: {said}")
        return
    if nodes is None or nodes.configured is None:
        trap = nodes.trap if nodes else "the number of cluster nodes is not in the export"
        yield Unknown((CONFIGURED,), f"{one.subject} is open on one node; {trap}")
        return
    yield _declared_for_more(facts, one, nodes, nodes.configured, limits)


def _shared(facts: Facts, one: OneDatabase, limits: Limits) -> Iterator[Outcome]:
    """Users on several nodes: dear only where locks cross."""
    names, remote = node_names(one.in_use), remote_of(facts, one, limits.operations_per_second)
    statistics, _ = trusted(statistics_of(facts, one), one)
    areas = areas_by_node(facts, one)
    if areas and areas.distinct and one.is_on("lock_partitioning") is False:
        yield NotApplicable(
            f"{one.subject} is in use on {names}, each in storage areas of its own: rdb/lock_tree_unpartitioned judges"
        )
        return
    minor = minor_of(facts, one, statistics)
    crossing = remote if isinstance(remote, Remote) and not remote.is_little(limits) else None
    if minor and (crossing is None or not minor.each or minor.operations_are_few):
        yield _next_to_nothing(facts, one, minor, statistics, crossing, limits)
        return
    if not isinstance(remote, Remote):
        why = joined(
            f"{one.subject} is in use on {names}; what of its locking crosses the cluster is not in the export.",
            by_node(facts, one, statistics),
        )
        yield Unknown((DLOCK,), why) if isinstance(remote, Unknown) else remote
        stalls = _stalls(statistics, limits)
        if isinstance(remote, Unknown) and stalls and one.is_on("lock_partitioning") is False:
            yield _one_tree(one, stalls, limits)
        return
    if remote.is_little(limits):
        yield Clean(
            f"{one.subject} is in use on {names}, but only {remote.said} (limits {limits.remote_percent:g} % of "
            f"{limits.operations_per_second:,.0f}/s)"
        )
        return
    little = little_of_the_cluster(facts, one, limits)
    if little:
        yield Clean(f"{one.subject} is in use on {names}, but {little}")
        return
    main, lesser = is_main(facts, one, statistics, remote), lesser_part(facts, statistics, remote)
    loud = main and remote.leaving >= limits.leaving_percent
    seen = tuple(
        Evidence(f"open on {node_names([use])}", "no count" if use.users is None else use.users, "users", use.source)
        for use in one.in_use
    )
    few = None if minor or areas else few_to_move(facts, one, remote)
    there = None if minor else to_move(facts, one, remote)
    target = minor.main if minor else there[1].node if there else ""
    room = room_on(facts, one, target) if target else meeting_place(facts, one)
    move = _move(minor) if minor else _move_users(facts, one, there)
    if room.full:
        move = capitalized(FULL.format(room.busy))
    by_area = not (few or minor or areas) and one.is_on("lock_partitioning") is False
    by_area = by_area and one.figure("storage_areas") != 1
    if by_area:
        move = BY_AREA.format(within(move))  # nobody has to move for it
    yield Finding(
        subject=one.subject,
        severity=Severity.NOTE if lesser else Severity.WARNING if loud else Severity.ADVICE,
        title=f"{one.subject} is in use on {len(one.in_use)} nodes"
        f"{f', on one by {users_of(facts, one, few[0])} alone' if few else ''}, and locks cross the cluster",
        seen=joined(
            f"{names} have users in it at one time, and {remote.said}.",
            lesser or (minor.said if minor else by_node(facts, one, statistics)),
        ),
        because="Performance is often better with the database open on one node, where all its locks are local."
        + (" Declared for one, it can have page transfer via memory and row caches." if few else ""),
        do=_close(facts, one, few)
        if few and not lesser
        else f"{NOT_THIS.format(remote.where) if lesser else move} {STAY}",
        unknown=joined(
            "" if main or lesser else OTHERS.format(remote.where),
            "" if lesser or room.full else sentence(room.brief),
        ),
        evidence=(
            *seen,
            *remote.evidence(limits),
            *((minor.evidence,) if minor else ()),
            *(() if lesser else room.evidence),
        ),
        explains=("openvms/locks_mastered_remotely", "rdb/use_remote_access", "rdb/lock_tree_unpartitioned")
        if main
        else (),
        expects=() if lesser or (room.full and not by_area) else (remote.expects,),
    )


def _stalls(found: list[Statistics], limits: Limits) -> PageStalls | None:
    """Page locks that stall, of the first node where they are most of what stalls."""
    return next((stalls for each in found if (stalls := page_stalls(each, limits))), None)


def _one_tree(one: OneDatabase, stalls: PageStalls, limits: Limits) -> Finding:
    """Users on several nodes meet in one lock tree, and pages are waited for; what crosses is not in the export."""
    partitioning = one.read("lock_partitioning")
    return Finding(
        subject=one.subject,
        severity=Severity.ADVICE,
        title=f"{one.subject} is in use on {len(one.in_use)} nodes with one lock tree, and page locks stall",
        seen=f"{node_names(one.in_use)} have users in it at one time, and lock partitioning is off; {stalls.said}.",
        because="All locks of the database have one master, and every other node asks it for each. Between nodes a "
        "page that was changed goes over the disk.",
        do=CONFIRM,
        unknown=STAY,
        evidence=(
            *(
                Evidence(
                    f"open on {node_names([use])}", "no count" if use.users is None else use.users, "users", use.source
                )
                for use in one.in_use
            ),
            *((Evidence("lock partitioning", "disabled", "", partitioning.source),) if partitioning else ()),
            *stalls.evidence(limits),
        ),
        explains=("rdb/page_locks_dominate",),
        expects=(Expectation("stalled page locks (/s)", round(stalls.of.per_second, 1), "lower", "heuristic"),),
    )


def _move_users(facts: Facts, one: OneDatabase, found: tuple[Sighting, Sighting] | None) -> str:
    """Whose users are to move where, where one of two nodes sends most of its requests away and has the fewer users."""
    if found is None:
        return MOVE
    here, main = found
    users, there, them = users_of(facts, one, here), comment(main.node, 31), "it" if here.users == 1 else "them"
    return (
        f"If {there} has the room, move {users} there, or let {them} reach it through Rdb "
        "remote access, one application first (its network has limits of its own)."
    )


def _close(facts: Facts, one: OneDatabase, found: tuple[Sighting, Sighting]) -> str:
    """The way to one node, where so few have to move that it comes before any setting."""
    here, main = found
    node, there = comment(here.node, 31), comment(main.node, 31)
    them = "it" if here.users == 1 else "them"
    return (
        f"If {there} has the room and is no slower, move {users_of(facts, one, here)} there or let {them} use "
        f"Rdb remote access, one application first; then close it on {node}. NUMBER OF CLUSTER NODES stays as it is "
        f"until then; ask whether {node} takes over after a failure, and only if not set it to 1, closed and after a "
        "full backup."
    )


def _move(minor: Minor) -> str:
    return (
        f"Let {minor.who} run on {minor.main} (in a batch queue there, or through Rdb remote access), one job first; a "
        "program that only reads can be READ ONLY, which spares its locks of rows."
    )


def _next_to_nothing(
    facts: Facts, one: OneDatabase, minor: Minor, found: list[Statistics], remote: Remote | None, limits: Limits
) -> Outcome:
    """One node against the others: what it costs that the database is open there, for next to no work."""
    busiest = max((total for each in found if (total := each.operations()) is not None), default=0.0)
    pages = max(
        (rate for each in found if (rate := each.rate("locks requested", "page"))),
        key=lambda rate: rate.per_second,
        default=None,
    )
    acts = busiest >= limits.busy_operations or (pages is not None and pages.per_second >= limits.busy_pages)
    room = room_on(facts, one, minor.main)
    acts = acts and not room.full
    asked = (
        ()
        if pages is None
        else (Evidence("page locks requested", round(pages.per_second, 1), "/s", pages.source, limits.busy_pages),)
    )
    root = comment(one.root.partition(";")[0], 255) if one.root else "<root file>"
    close = (
        f"then close it on {minor.node}, try a failover, and only then, closed and after a full backup, ALTER DATABASE "
        f"FILENAME '{root}' NUMBER OF CLUSTER NODES 1"
    )
    passed = any("rdb/blocking_asts_high" in explained(each, ("page",), limits.main_percent) for each in found)
    return Finding(
        subject=one.subject,
        severity=Severity.ADVICE if acts else Severity.NOTE,
        title=f"{one.subject} is open on {minor.node} for {rounded(minor.percent)} % of the work",
        seen=joined(minor.said, f"{capitalized(remote.said)}." if remote else ""),
        because=(
            "Open on several nodes it keeps the locks and root file I/O that only a cluster needs, and neither row "
            "caches nor page transfer via memory can be used."
        ),
        do=(
            f"Let {minor.who} use it on {minor.main}, through Rdb remote access; {close} (before it users "
            f"of {minor.node} could not attach). Then PAGE TRANSFER VIA MEMORY and row caches can be used."
        )
        if acts
        else f"{capitalized(FULL.format(room.busy))} {STAY}"
        if room.full
        else f"Nothing is set here: with so few locks there is little to gain. {STAY}",
        unknown=joined(
            f"Whether {minor.node} must have it open for a failover is not in the export.",
            sentence(room.brief) if acts else "",
        ),
        evidence=(minor.evidence, *asked, *(remote.evidence(limits) if remote else ()), *room.evidence),
        explains=(
            *("openvms/locks_mastered_remotely", "rdb/use_remote_access", "rdb/page_locks_dominate"),
            *(("rdb/blocking_asts_high",) if passed else ()),  # pages that memory would pass on, on one node
        )
        if acts
        else (),
        expects=(Expectation("lock operations per transaction", None, "lower", "heuristic"),) if acts else (),
    )


def _declared_for_more(facts: Facts, one: OneDatabase, nodes: Nodes, configured: float, limits: Limits) -> Finding:
    """Open on one node alone, declared for more; of a cluster whose members no export lists, as far as nodes did."""
    statistics, refused = counted(facts, one)
    rates = [(total, each) for each in statistics if (total := each.operations()) is not None]
    busiest, of = max(rates, key=lambda pair: pair[0], default=(None, None))
    stalls = _stalls(statistics, limits)
    busy = (stalls is not None or (busiest is not None and busiest >= limits.busy_operations)) and refused is None
    asked = of.rate("locks requested", "total") if of else None
    requests = [row.per_second for each in statistics if (row := each.rate("locks requested", "total"))]
    pages = of.share("page") if of else None
    proven, least_pages = nodes_without(facts, one), 2 * limits.busy_pages  # each that is requested is released, too
    by_pages = pages is not None and pages.part >= least_pages
    root = next((io for each in statistics if (io := root_io(each)) and _much(io, limits)), None)
    decide = bool(proven) and (by_pages or root is not None) and not busy and refused is None
    members, do_not = open_elsewhere(facts, one) is False, "does not" if len(proven) == 1 else "do not"
    measured = f", it has {busiest:,.0f} lock operations/s" if busiest is not None else ""
    evidence = [Evidence("cluster nodes", configured, "nodes", nodes.source, 1)]
    if busiest is not None and asked is not None:
        rate = round(busiest, 1)
        evidence.append(Evidence("lock operations", rate, "/s", asked.source, limits.busy_operations))
    if root is not None and refused is None:
        source, each = root.rates[0].source, round(root.per_transaction, 2)
        evidence += (
            Evidence("root file I/Os per transaction", each, "", source, limits.root_io_per_transaction),
            Evidence("root file I/O", round(root.per_second, 1), "/s", source, limits.root_io_per_second),
        )
    if pages is not None and decide and by_pages:
        evidence.append(Evidence("page lock operations", round(pages.part, 1), "/s", pages.source, least_pages))
    evidence += stalls.evidence(limits) if stalls else ()
    evidence += [Evidence(f"open on {comment(listed.node, 31)}", "no", "", listed.source) for listed in proven]
    do = (
        "First make sure that no other node opens it at night or after a failure, nor has to at the same time; then "
        f"set NUMBER OF CLUSTER NODES from {configured:g} to 1 with the database closed and after a full backup."
    )
    if isinstance(refused, Untrusted):
        do = f"No script is written for it here: {refused.why}."
    elif decide:
        do = (
            f"Decide whether {_others(proven)} must be able to open it at night or after a failure: with NUMBER OF "
            f"CLUSTER NODES 1 an open there fails while it is open here. If not, set it from {configured:g} to 1 at "
            f"the next closing, after a full backup{'' if members else f', {once_alone(facts, one)}'}."
        )
    elif busiest is None and requests and not busy:
        do = (
            f"Nothing is set here: {max(requests):,.0f} locks are requested a second, and few waits for pages are seen."
        )
    elif busiest is None and not busy:
        do = "Nothing is set here: how much it locks is not in the exports of this capture."
    elif not busy:
        do = (
            f"Nothing is set here for its own sake: below {limits.busy_operations:,.0f} lock operations/s there is "
            "little to gain."
        )
    return Finding(
        subject=one.subject,
        severity=Severity.ADVICE if busy or decide else Severity.NOTE,
        title=f"{one.subject} is open on one node, but declared for {configured:g}",
        seen=f"{'No other node has' if members else f'{_others(proven)} {do_not} have'} it open"
        f"{listed_when(facts, one)}{measured}, and it is declared for {configured:g}"
        f"{f'; {stalls.said}' if stalls else ''}"
        f"{f'; each transaction takes {rounded(root.per_transaction)} I/Os to the root file' if root else ''}.",
        because=(
            "Rdb keeps the locks and the root file I/O that only a cluster needs; NUMBER OF CLUSTER NODES 1 leaves "
            "them out, and is needed for row caches and page transfer via memory."
        ),
        do=do,
        unknown="The export shows one moment, not whether another node opens it at night or after a failure"
        f"{'' if members else ', nor which other nodes the cluster has (SHOW CLUSTER)'}.",
        evidence=tuple(evidence),
        changes=(change_nodes(facts, one, FAILOVER),) if busy or decide else (),
        expects=(Expectation("lock operations per transaction", None, "lower", "heuristic"),),
    )


def _much(io: RootIO, limits: Limits) -> bool:
    """Whether its I/O to the root file, which a cluster needs, is a load."""
    return io.per_second >= limits.root_io_per_second and io.per_transaction >= limits.root_io_per_transaction


def _others(proven: Sequence[NodeDatabases]) -> str:
    """The nodes whose own listing does not have it: `SKYE and RUM`."""
    return " and ".join(comment(listed.node, 31) for listed in proven[:2]) + (" …" if len(proven) > 2 else "")
