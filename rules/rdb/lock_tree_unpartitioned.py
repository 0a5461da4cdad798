"""One lock tree for a database that several nodes have open.

Finds: a database with lock partitioning disabled that users of several nodes have open at one time, while much of the
node's locking crosses the cluster.

Why it matters: without partitioning all locks of a database are one tree with one master, and every other node asks it
for each lock. Partitioned, each storage area has a tree of its own, mastered where it is used most (Oracle Rdb SQL
Reference Manual; JCC Consulting's slides on the OpenVMS lock manager, 2014).

What to do: see which storage areas are used from which node (a stall log of each names those it waits in, a dbkey log
those it reads, the screen File IO Overview what it reads and writes of each); where they have distinct main users,
enable lock partitioning, with the database closed on all nodes and after a full backup. Or open the database on one
node only.

When to ignore it: on one node, where all locks are local and nothing is gained; for single-file databases; and where
all nodes work on the same areas, or one does nearly all of the work: their trees have to be somewhere. It also costs
sight: RMU/SHOW LOCKS of the database no longer lists locks of areas, pages and records.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts
from collectors.facts.rdb import AreaIo, AttachedProcess, Database
from rules.changes.quoting import comment
from rules.changes.rdb_database import alter
from rules.engine import rule
from rules.finding import Clean, Evidence, Finding, NotApplicable, Outcome, Severity, Unknown, joined
from rules.openvms._evidence.cluster import CLUSTER_FACTS
from rules.rdb._evidence.counted import COUNTED_FACTS
from rules.rdb._evidence.databases import OneDatabase, databases, node_names
from rules.rdb._evidence.prerequisites import place_of
from rules.rdb._evidence.sharing import (
    DLOCK,
    NOT_THIS,
    OTHERS,
    Remote,
    SharedLimits,
    is_main,
    lesser_part,
    little_of_the_cluster,
    not_shown,
    open_elsewhere,
    remote_of,
    users_unknown,
)
from rules.rdb._evidence.statistics import LEAST_COUNTED, statistics_of, trusted
from rules.rdb._evidence.waits import WAIT_FACTS
from rules.rdb._evidence.work_by_node import IO, ONE_FILE, Areas, areas_by_node, few_to_move, meeting_place, minor_of

LINKS = ("https://docs.oracle.com/cd/F25597_01/document/products/rdb/720/E06178-01/sql_p061.htm",)
WHEN = (
    "when it is known that the storage areas have distinct main users: a stall or dbkey log of the same minutes from "
    "each node, with the node in the name of its file, or the screen File IO Overview of each tells"
)
PARTITION = (
    "Where the storage areas have distinct main users set LOCK PARTITIONING from DISABLED to ENABLED, with the "
    "database closed on all nodes and after a full backup; else {}."
)
MEET = "let the work meet on one node with free CPUs for it"
USED = "Which node uses which storage area most is not known without a stall or dbkey log of each node."
OWN = (
    "Set LOCK PARTITIONING from DISABLED to ENABLED, with the database closed on all nodes and after a full backup. "
    "RMU/SHOW LOCKS of the database then no longer lists locks of areas, pages and records."
)
BY_IO = "Pages that a node has in its buffers are locked without any I/O."
BY_LOG = "Which log is of which node is read from the names of the files."
DISTINCT = (
    "Only where the storage areas have distinct main users: an area that all nodes use stays remote for all but one.",
)


@dataclass(frozen=True)
class Limits(SharedLimits):
    """`SharedLimits`: from 20 % of 500 lock operations a second on (this project) it is worth closing a database."""


@rule(
    needs=(Database,),
    uses=(*COUNTED_FACTS, *CLUSTER_FACTS, *WAIT_FACTS, AttachedProcess, AreaIo),
    links=LINKS,
    limits=Limits,
    sample=LEAST_COUNTED,
)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge each database."""
    for one in databases(facts):
        yield from _judge(facts, one, limits)


def _judge(facts: Facts, one: OneDatabase, limits: Limits) -> Iterator[Outcome]:
    partitioned = one.read("lock_partitioning")
    if partitioned is None:
        yield Unknown.without("lock partitioning", Database.COLLECTED_BY, f"{one.subject}: not in the export")
        return
    if partitioned.value:
        yield Clean(f"{one.subject}: lock partitioning is enabled{one.read_apart}")
        return
    areas = one.figure("storage_areas") or float(len(one.areas))
    if areas == 1:
        yield NotApplicable(f"{one.subject} has one storage area: there is nothing to partition")
        return
    elsewhere = open_elsewhere(facts, one)
    if one.one_instance or elsewhere is False:
        yield Clean(f"{one.subject}: one lock tree, and one node that uses it: all its locks are local")
        return
    remote = remote_of(facts, one, limits.operations_per_second)
    if len(one.in_use) < 2:
        if isinstance(remote, Remote) and remote.percent < limits.remote_percent:
            yield Clean(f"{one.subject}: one lock tree, but only {remote.said} (limit {limits.remote_percent:g} %)")
            return
        why = f"{one.subject}: not partitioned; {users_unknown(one)}"
        yield Unknown((not_shown(facts, one)[0],), why)
        return
    names = node_names(one.in_use)
    if not isinstance(remote, Remote):
        why = f"{one.subject} is in use on {names}, not partitioned"
        yield Unknown((DLOCK,), why) if isinstance(remote, Unknown) else remote
        return
    if remote.is_little(limits):
        yield Clean(
            f"{one.subject} is in use on {names} with one lock tree, but only {remote.said} (limits "
            f"{limits.remote_percent:g} % of {limits.operations_per_second:,.0f}/s)"
        )
        return
    if little := little_of_the_cluster(facts, one, limits):
        yield Clean(f"{one.subject} is in use on {names} with one lock tree, but {little}")
        return
    statistics, _ = trusted(statistics_of(facts, one), one)
    by_log = areas_by_node(facts, one)
    known_users = by_log is not None and by_log.distinct
    if not known_users and (minor := minor_of(facts, one, statistics)):
        yield NotApplicable(
            f"{one.subject}: {minor.said} Its work is better moved there (rdb/database_open_on_many_nodes) than its "
            "areas partitioned"
        )
        return
    if not by_log and (few := few_to_move(facts, one, remote)):
        yield NotApplicable(
            f"{one.subject}: {few[0].users:,.0f} users on {comment(few[0].node, 31)} against {few[1].users:,.0f}: "
            "moving them comes first (rdb/database_open_on_many_nodes)"
        )
        return
    main, lesser = is_main(facts, one, statistics, remote), lesser_part(facts, statistics, remote)
    loud = main and remote.leaving >= limits.leaving_percent
    mains = f"{by_log.by} the storage areas have main users: {by_log.said}." if by_log else ""
    change = alter(
        *("lock_partitioning", place_of(facts, one), "DISABLED", "ENABLED"),
        cautions=() if known_users else DISTINCT,
        when="" if known_users else WHEN,
    )
    yield Finding(
        subject=one.subject,
        severity=Severity.NOTE if lesser else Severity.WARNING if loud else Severity.ADVICE,
        title=f"{one.subject} has one lock tree for {len(one.in_use)} nodes"
        + (", each with storage areas of its own" if known_users else ""),
        seen=joined(
            f"{names} have users in it at one time, lock partitioning is disabled, and {remote.said}.",
            lesser or (mains if known_users else ""),
        ),
        because=(
            "All locks of the database have one master, and every other node asks it for each. Partitioned, each "
            "storage area is mastered where it is used most."
        ),
        do=NOT_THIS.format(remote.where) if lesser else OWN if known_users else _partition(facts, one),
        unknown=joined(
            _not_seen(by_log, areas) if by_log and known_users else USED,
            "" if main or lesser else OTHERS.format(remote.where),
        ),
        evidence=(
            Evidence("lock partitioning", "disabled", "", partitioned.source),
            *(Evidence(f"open on {node_names([use])}", "yes", "", use.source) for use in one.in_use),
            *remote.evidence(limits),
            *((by_log.evidence,) if by_log else ()),
        ),
        explains=("openvms/locks_mastered_remotely",) if main else (),
        changes=() if lesser else (change,),
        expects=() if lesser else (remote.expects,),
    )


def _partition(facts: Facts, one: OneDatabase) -> str:
    """What to do where the main users of the areas are not known; no node without free processors gets more work."""
    room = meeting_place(facts, one)
    return PARTITION.format(f"leave it as it is, for {room.busy}" if room.full else MEET)


def _not_seen(found: Areas, areas: float) -> str:
    """What the logs or screens leave open."""
    if found.kind != ONE_FILE:
        return BY_IO if found.kind == IO else BY_LOG
    others = f"the other {areas - found.written:,.0f} of {areas:,.0f}" if areas > found.written else "other areas"
    return f"Who uses {others} is not in the export: File IO Overview of each node shows all."
