"""Users of several nodes attach to one database through the cluster.

Finds: a database that users of several nodes have open at one time, while most lock requests of the node that was
measured are served by another node.

Why it matters: every lock of such a user is a message to another node. Through Rdb remote access the user's requests
are sent as SQL instead and all locks are local where the database is; in a cluster that can often improve throughput
(JCC Consulting's slides on the OpenVMS lock manager, 2014).

What to do: let the users of this node attach through Rdb remote access to the node that masters the locks, for one
application first, and measure both nodes and the network before and after.

When to ignore it: where the network is slow or full, where programs fetch many rows one at a time, and on one node.
Never where the node that masters the locks is the slower one: no work is sent there.
Where one node does next to nothing of the work, rdb/database_open_on_many_nodes says who is to attach elsewhere.
Where the storage areas have distinct main users, partitioned lock trees are tried first: they need no other attach.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts
from collectors.facts.rdb import AreaIo, AttachedProcess, DatabaseUse
from rules.changes.quoting import comment
from rules.engine import percent, rule
from rules.finding import Clean, Evidence, Expectation, Finding, NotApplicable, Outcome, Severity, Unknown, joined
from rules.laws.hardware import Order
from rules.openvms._evidence.cluster import CLUSTER_FACTS, own_name
from rules.openvms._evidence.node_speeds import compare_nodes
from rules.rdb._evidence.counted import COUNTED_FACTS
from rules.rdb._evidence.databases import OneDatabase, databases, node_names
from rules.rdb._evidence.limits import LeastLimits
from rules.rdb._evidence.sharing import DLOCK, Remote, is_main, not_shown, open_elsewhere, remote_of, users_unknown
from rules.rdb._evidence.statistics import LEAST_COUNTED, statistics_of, trusted
from rules.rdb._evidence.waits import WAIT_FACTS
from rules.rdb._evidence.work_by_node import areas_by_node, few_to_move, minor_of

TRY = (
    "Attach one application through Rdb remote access, and measure both nodes and the network before and after: no "
    "setting of the database changes."
)
SLOWER = (
    "Whether the node that masters the locks is the slower one is not in the export, and no work is to be sent to a "
    "slower one: a LOCKTIME run on both tells."
)
LINKS = ("https://wiki.vmssoftware.com/LOCKRMWT",)


@dataclass(frozen=True)
class Limits(LeastLimits):
    """From where on another way to attach is worth trying."""

    leaving_percent: float = percent(
        50.0, "this project: half of this node's own requests leave it", low=1, of="own requests"
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
    if one.one_instance or open_elsewhere(facts, one) is False:
        yield NotApplicable(f"{one.subject} is open on one node")
        return
    remote = remote_of(facts, one, limits.operations_per_second, lambda found: found.leaving)
    if len(one.in_use) < 2:
        if isinstance(remote, Remote) and remote.leaving < limits.leaving_percent:
            yield Clean(
                f"{one.subject}: {remote.leaving:.0f} % of the node's own lock requests are served by another node "
                f"(limit {limits.leaving_percent:g} %)"
            )
            return
        why = f"{one.subject}: {users_unknown(one)}"
        yield Unknown((not_shown(facts, one)[0],), why)
        return
    names = node_names(one.in_use)
    if not isinstance(remote, Remote):
        yield Unknown((DLOCK,), f"{one.subject} is in use on {names}") if isinstance(remote, Unknown) else remote
        return
    figures = f"{remote.leaving:.0f} % of {remote.where}'s own lock requests are served by another node"
    if remote.leaving < limits.leaving_percent or remote.total < limits.operations_per_second:
        yield Clean(
            f"{one.subject} is in use on {names}, and {figures}, of {remote.total:,.0f} lock operations/s (limits "
            f"{limits.leaving_percent:g} % of {limits.operations_per_second:,.0f}/s)"
        )
        return
    statistics, _ = trusted(statistics_of(facts, one), one)
    if not is_main(facts, one, statistics, remote):
        yield Unknown(
            (DLOCK,), f"{one.subject}: {figures}, but the locks of {remote.where} are mostly not of this database"
        )
        return
    areas = areas_by_node(facts, one)
    if areas and areas.distinct and one.is_on("lock_partitioning") is False:
        yield NotApplicable(
            f"{one.subject}: {figures}, and each node has storage areas of its own: rdb/lock_tree_unpartitioned judges"
        )
        return
    if minor := minor_of(facts, one, statistics):
        yield NotApplicable(
            f"{one.subject}: {figures}, and {minor.node} does next to nothing of the work: who is to attach elsewhere "
            "is in rdb/database_open_on_many_nodes"
        )
        return
    if not areas and few_to_move(facts, one, remote):
        yield NotApplicable(f"{one.subject}: {figures}; who is to move is in rdb/database_open_on_many_nodes")
        return
    other, order = _master(facts, one)
    if order is not None and order.sign < 0:
        yield NotApplicable(
            f"{one.subject}: {figures}, and {other} is the slower one ({order.basis}): no work is sent there; whether "
            "its trees should move, openvms/lock_master_on_slow_node judges"
        )
        return
    yield _finding(one, limits, remote, names, figures, known_faster=order is not None)


def _master(facts: Facts, one: OneDatabase) -> tuple[str, Order | None]:
    """The one other node that has it in use, and how fast that is against this one; `None`: not known."""
    own = own_name(facts)
    others = [use.node for use in one.in_use if own and use.node.upper() != own.upper()]
    if own is None or len(others) != 1:
        return "", None
    return comment(others[0], 31), compare_nodes(facts, others[0], own)


def _finding(
    one: OneDatabase, limits: Limits, remote: Remote, names: str, figures: str, *, known_faster: bool
) -> Finding:
    leaving = round(remote.leaving, 1)
    first = (
        "Lock partitioning is disabled: where the storage areas have distinct main users, try that first."
        if one.is_on("lock_partitioning") is False
        else ""
    )
    return Finding(
        subject=one.subject,
        severity=Severity.ADVICE,
        title=f"{leaving:.0f} % of {remote.where}'s lock requests leave it: Rdb remote access may be cheaper",
        seen=f"Users of {names} are in it at one time, and {figures}.",
        because=(
            "Through Rdb remote access their locks are taken where the database is, and SQL goes over the network "
            "instead. It can often improve throughput in a cluster (JCC), and the network becomes the limit."
        ),
        do=joined(first, TRY),
        unknown="" if known_faster else SLOWER,
        evidence=(
            *(Evidence(f"open on {node_names([use])}", "yes", "", use.source) for use in one.in_use),
            Evidence("own requests served elsewhere", leaving, "%", remote.source, limits.leaving_percent),
            Evidence(
                *(f"lock operations of {remote.where}", round(remote.total, 1), "/s"),
                *(remote.source, limits.operations_per_second),
            ),
        ),
        expects=(Expectation("own lock requests served elsewhere (%)", leaving, "lower", "heuristic"),),
    )
