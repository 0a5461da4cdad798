"""The master of the lock trees is not the fastest node.

Finds: a cluster in which much of the locking crosses from node to node, and the node that serves most of it is slower
than another. Speed is what a local lock takes (LOCKTIME); without it what was published of two machines; else clock and
cache of machines of one family. It speaks in the capture of that master alone. Or a cluster whose next
boots would make it so: the weights that wait in CURRENT give a slower node the highest one (in that node's capture).

Why it matters: every node waits for the master, so its speed is that of all. In published runs two nodes did 85 % of
the fastest node's own rate with it as master and 57 % with the slower one; three did 84, 55 or 25 %, the last with an
emulator as master (JCC Consulting's slides on the OpenVMS lock manager, 2014).

What to do: where PE1 of the master is not 0, put that right first. Then give the fastest node the highest weight:
LOCKDIRWT from V8.3 on (a reboot), LOCKRMWT before (dynamic). The node must lock in those trees to win them. One whose
CPUs are busy already is sent no lock work: another one that is faster than the master is, or the change waits in
comments. An order of nodes cannot be set as a limit of this rule: where names of machines mislead, collect a LOCKTIME
run, which overrides them. Then measure the sum of local and outgoing operations.

Where no node is known to be faster, and the master has the trees by its weight while another node works more in them,
the weights are the cause: LOCKDIRWT goes down to that of the others, LOCKRMWT to its default of 5 on both sides (0 says
that a node wants no trees, so none is brought down to it), and the trees go to who uses them most.

A tree belongs to the node that works most in it: where the master's own local operations are more than what the faster
node asks it for, the rule has nothing to say.

When to ignore it: when the faster node is needed for something else, or when a name hides an emulator: those borrow the
names of the machines they stand for.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts
from collectors.facts.openvms.locking import total
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
    joined,
)
from rules.openvms._evidence.after_move import in_range
from rules.openvms._evidence.cluster import (
    CLUSTER_FACTS,
    Cluster,
    cluster_of,
    hardly_crosses,
    members_of,
    stakes_of,
)
from rules.openvms._evidence.decision import Decision, Kind, Worth, decide, figures_of, too_little
from rules.openvms._evidence.mastership import MEASURE, Move, turned
from rules.openvms._evidence.node import in_prose, sentence
from rules.openvms._evidence.node_speeds import speed_evidence, what_if, what_if_text
from rules.openvms._evidence.room import passed_over

LINKS = ("https://wiki.vmssoftware.com/LOCKDIRWT", "https://wiki.vmssoftware.com/LOCKRMWT")
CROSSES = "lock operations that cross (%)"


@dataclass(frozen=True)
class Limits:
    """From where on it matters who is master."""

    remote_percent: float = percent(
        20.0, "this project: a two-node cluster with 8 % in a real day had no trouble", of="operations"
    )
    loud_percent: float = percent(50.0, "this project: a warning from half of all lock operations on", of="operations")
    operations_per_second: float = limit(
        500.0, "this project: below this the cluster's total is too small to matter", unit="lock operations/s"
    )
    served_percent: float = percent(
        50.0, "this project: who serves half of what crosses is the master that counts", of="served"
    )


@rule(needs=(), uses=CLUSTER_FACTS, links=LINKS, limits=Limits)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Hold the node that serves most against the others, and the node that the next boots give mastership."""
    judged = list(_judged(facts, limits))
    if following := _following(facts, limits, judged):
        yield following
        judged = [one for one in judged if not isinstance(one, (Clean, NotApplicable))]
    yield from judged


def _judged(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    cluster = cluster_of(facts)
    if not isinstance(cluster, Cluster):
        yield (None if members_of(facts) else hardly_crosses(facts, limits.remote_percent)) or cluster
        return
    worth = Worth(limits.remote_percent, limits.operations_per_second, limits.served_percent)
    if why := too_little(cluster, worth):
        yield Clean(why)
    elif not cluster.master.own:
        yield NotApplicable(f"{figures_of(cluster)}: judged in the capture of {cluster.master.name}")
    else:
        yield from _decided(facts, cluster, limits, decide(facts, worth))


def _decided(facts: Facts, cluster: Cluster, limits: Limits, found: Decision) -> Iterator[Outcome]:
    """What the decision over all nodes makes of the one that serves most."""
    if found.refused:
        yield Untrusted(found.refused)
    elif found.kind is Kind.EVEN:
        yield Clean(found.why)
    elif found.kind in (Kind.STAYS, Kind.KEPT):  # no node is faster, whoever works most in the trees
        yield Clean(f"{found.figures}. {found.why}")
    elif found.kind is Kind.OPEN or found.move is None or found.target is None:
        yield Unknown(found.missing, found.why)
    elif found.order is None:
        yield _by_weight(cluster, limits, found, found.target, found.move)
        if found.why:
            yield Unknown((MEASURE,), found.why)
    else:
        yield _finding(facts, cluster, limits, found, found.target, found.move)
        if found.missing:
            yield Unknown(found.missing)


def _crossing(cluster: Cluster, limits: Limits) -> Evidence:
    percent = round(cluster.crossing_percent, 1)
    name = "lock operations that cross the cluster"
    return Evidence(name, percent, "%", cluster.master.source, limits.remote_percent)


def _expected(cluster: Cluster, found: Decision) -> tuple[Expectation, ...]:
    """What crosses afterwards, by the rates of these nodes where they are known: no share of other machines."""
    after, now = found.crossing_after, round(cluster.crossing_percent, 1)
    if after is None or not cluster.total:
        return (Expectation(CROSSES, now, "lower", "heuristic"),)
    shares = [100 * one / cluster.total for one in after]
    return (Expectation(CROSSES, now, in_range(shares), "arithmetic"),)


def _by_weight(cluster: Cluster, limits: Limits, found: Decision, node: str, move: Move) -> Finding:
    """The master has the trees by its weight alone, another node works more in them, and none is known as faster."""
    master = cluster.master
    stakes = stakes_of(cluster.members, master.name, node)
    if stakes is None:
        raise AssertionError("by_weight() has compared them")
    return Finding(
        subject=master.name,
        severity=Severity.ADVICE,
        title=move.title or f"{master.name} is master by its weight, and {node} works more in its trees",
        seen=(
            f"{found.figures}. {node} asks {master.name} for {in_prose(stakes[1])} lock operations/s, {master.name} "
            f"itself does {in_prose(stakes[0])}/s locally."
        ),
        because=sentence("a tree belongs to the node that works most in it", move.because),
        do=move.do,
        unknown=sentence(move.unknown),
        evidence=(
            _crossing(cluster, limits),
            Evidence(f"local of {master.name}", round(stakes[0], 1), "/s", master.source),
            *(
                Evidence(f"outgoing of {one.name}", round(cluster.of("outgoing")[one.name], 1), "/s", one.source)
                for one in cluster.members
            ),
            *move.evidence,
        ),
        # who uses the trees most would have them without the weight: before work is moved, or a database opened less
        explains=("openvms/locks_mastered_remotely", "rdb/database_open_on_many_nodes", "rdb/use_remote_access")
        if move.changes
        else ("openvms/locks_mastered_remotely",),
        changes=move.changes,
        expects=(Expectation(CROSSES, round(cluster.crossing_percent, 1), "lower", "heuristic"),) if move.runs else (),
    )


def _finding(facts: Facts, cluster: Cluster, limits: Limits, found: Decision, target: str, move: Move) -> Finding:
    master, names = cluster.master, [one.name for one in cluster.members]
    basis = found.order.basis if found.order else ""
    measured = basis.startswith("LOCKTIME")
    loud = measured and cluster.crossing_percent >= limits.loud_percent
    doubt = "" if measured else "who is faster is known by name alone: a LOCKTIME run overrides that"
    busy = passed_over(cluster.members, found.passed).strip(" .")
    return Finding(
        subject=master.name,
        severity=Severity.WARNING if loud else Severity.ADVICE,
        title=f"{master.name} is master for {cluster.served_percent:.0f} % of what crosses, and {target} is faster"
        + (", but busy" if move.held else ""),
        seen=f"{sentence(found.figures, cluster.agreement)} {sentence(f'{target} is faster ({basis})', busy)}",
        because=sentence("every node waits for the master, so it should be the fastest", move.because, doubt),
        do=move.do,
        unknown=joined(sentence(move.unknown), what_if_text(what_if(facts, names))),
        evidence=(
            Evidence("the cluster's lock operations, incoming left out", round(cluster.total, 1), "/s", master.source),
            _crossing(cluster, limits),
            Evidence(
                f"of them served by {master.name}",
                round(cluster.served_percent, 1),
                "%",
                master.source,
                limits.served_percent,
            ),
            *(
                Evidence(f"outgoing of {one.name}", round(cluster.of("outgoing")[one.name], 1), "/s", one.source)
                for one in cluster.members
            ),
            *speed_evidence(facts, (master.name, target)),
            *move.evidence,
        ),
        explains=("openvms/locks_mastered_remotely",),
        changes=(*move.changes, *found.lock_manager_changes),
        expects=_expected(cluster, found) if not move.held else (),
    )


def _following(facts: Facts, limits: Limits, judged: list[Outcome]) -> Finding | None:
    """The next boots give a slower node the highest weight: what waits in CURRENT is put back."""
    members = members_of(facts)
    turn = turned(facts, members)
    asked = [total(one.local_per_second, one.outgoing_per_second) for one in members]
    rates = [rate for rate in asked if rate is not None]
    if turn is None or any(isinstance(one, (Finding, Untrusted)) for one in judged):
        return None
    if sum(rates) < limits.operations_per_second or not any(one.own and one.name == turn.then for one in members):
        return None
    return Finding(
        subject=turn.then,
        severity=Severity.ADVICE,
        title=f"The next boots make {turn.then} master instead of {turn.now}, which is faster",
        seen=(
            f"{turn.parameter} is pending in CURRENT ({turn.says}): once these nodes have booted, {turn.then} has the "
            f"highest weight, today {turn.now} has it."
        ),
        because=f"{turn.now} is faster ({turn.basis}), and every node waits for the master.",
        do=(
            "Before the next boot put the weights that run now into CURRENT and into MODPARAMS.DAT of these nodes, or "
            "find out who set them. No reboot is needed for that."
        ),
        evidence=(*turn.evidence, *speed_evidence(facts, (turn.now, turn.then))),
        changes=turn.changes,
    )
