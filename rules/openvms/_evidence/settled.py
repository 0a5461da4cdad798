"""What one decision over the nodes of a cluster changes in the findings of its nodes: none contradicts it.

A rule judges one node. Where the plan of the cluster makes another node the master, a CPU for the lock manager of the
old one, or one taken from the new one, would be set for locks that are not served there any more, or not yet; and what
crosses the cluster is told once, by the finding that moves the trees.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from collectors.facts import Capture
from collectors.facts.openvms import ClusterMember
from rules.changes.openvms_sysgen import parameter_key
from rules.changes.quoting import comment
from rules.finding import Change, Expectation, Finding, Verdict, joined
from rules.openvms._evidence.after_move import in_range
from rules.openvms._evidence.cluster_links import CROSSING, HELD, MASTERS, clusters_among
from rules.openvms._evidence.decision import HELD_BACK, WHATEVER, Decision, Kind, decide

IDLE = "openvms/lock_manager_idle"
OF_LOCK_MANAGER = (":LCKMGR_MODE", ":LCKMGR_CPUID")
OF_TABLES = (":RESHASHTBL", ":LOCKIDTBL")
TABLES = ("openvms/resource_hash_table_undersized", "openvms/lock_id_table_small")
LEAVING, REMOTE = "own lock requests served elsewhere (%)", "lock operations incoming and outgoing (%)"
"""What openvms/locks_mastered_remotely expects."""


@dataclass(frozen=True)
class Told:
    """One capture, what all rules said of it, and the keys of what its plan would run."""

    capture: Capture
    verdicts: Sequence[Verdict]
    runs: frozenset[str] = frozenset()


def decided(captures: Mapping[str, Told]) -> tuple[Decision, bool]:
    """The decision for the nodes of one cluster (name → capture), and whether the plan of the master carries it out.

    By the limits that were used: where the rule has spoken, it has held that enough crosses.
    """
    first = next(iter(captures.values()))
    usual = decide(first.capture.facts)
    master = captures.get(usual.master or "")
    if master is None:
        return usual, False
    speaks = [one for one in master.verdicts if one.rule in MASTERS and one.rule != HELD]
    spoke = any(one.findings for one in speaks)
    found = decide(master.capture.facts, WHATEVER) if spoke and usual.kind is Kind.EVEN else usual
    if found.kind is Kind.MOVES and not spoke:
        return replace(usual, kind=Kind.EVEN, why=f"{usual.figures}; by limits of your own that is in order"), False
    keys = {parameter_key("PE1", found.master), *(one.key for one in (found.move.changes if found.move else ()))}
    return found, found.goes and not keys.isdisjoint(master.runs)


def settled(nodes: Sequence[Told]) -> dict[int, tuple[Verdict, ...]]:
    """The verdicts of those captures, by place, in which the decision over its cluster changes a finding."""
    changed: dict[int, tuple[Verdict, ...]] = {}
    for places in clusters_among([one.capture for one in nodes]):
        named = {name_of(nodes[at].capture): at for at in places}
        found, carried_out = decided({name: nodes[at] for name, at in named.items()})
        if not carried_out or found.master is None or found.target is None:
            continue
        for name, at in named.items():
            verdicts = tuple(_settled(one, name, found) for one in nodes[at].verdicts)
            if any(one is not other for one, other in zip(verdicts, nodes[at].verdicts, strict=True)):
                changed[at] = verdicts
    return changed


def name_of(capture: Capture) -> str:
    """The name of the node of a capture, as the members of its cluster have it."""
    own = next((one.name for one in capture.facts.every(ClusterMember) if one.own), None)
    return own or capture.system.name


def _settled(verdict: Verdict, node: str, found: Decision) -> Verdict:
    name = comment(found.target or "", 31)
    plan = f"the cluster's plan {'first makes' if found.kind is Kind.MOVES else 'lets the trees go to'} {name}"
    asked = tuple(one for one in OF_TABLES if found.move and any(made.key.endswith(one) for made in found.move.changes))
    if verdict.rule == CROSSING:
        findings = tuple(_pointing(one, node, found) for one in verdict.findings)
    elif verdict.rule in HELD_BACK and node == found.master:
        why = f"{plan} the master; measure again after it" if found.kind is Kind.MOVES else f"{plan}; measure after it"
        findings = tuple(_without(one, _ending(one, OF_LOCK_MANAGER), f"Not now: {why}.") for one in verdict.findings)
    elif verdict.rule == IDLE and node == found.target:
        why = f"{plan} the master, which" if found.kind is Kind.MOVES else f"{plan}, which"
        why = f"Not now: {why.replace(' first', '')} may need that CPU; measure again after it."
        findings = tuple(_without(one, _ending(one, OF_LOCK_MANAGER), why) for one in verdict.findings)
    elif verdict.rule in TABLES and node == found.target and asked:
        why = f"Larger by the cluster's plan, in the boot that makes {name} the master: it counts the trees that come."
        findings = tuple(_without(one, _ending(one, asked), why) for one in verdict.findings)
    else:
        return verdict
    return verdict if findings == verdict.findings else replace(verdict, findings=findings)


def _ending(finding: Finding, names: tuple[str, ...]) -> frozenset[str]:
    """The keys of its changes of these parameters, whether or not they name the node."""
    return frozenset(one.key for one in finding.changes if one.key.endswith(names))


def _without(finding: Finding, keys: frozenset[str], said: str) -> Finding:
    """The finding without these changes, and without what is only made with one of them."""
    kept = [one for one in finding.changes if one.key not in keys]
    while any(lacking := [one for one in kept if _lacks(one, finding.changes, kept)]):
        kept = [one for one in kept if one not in lacking]
    if len(kept) == len(finding.changes):
        return finding
    return finding.keeping(tuple(kept), said)


def _lacks(one: Change, before: Sequence[Change], kept: Sequence[Change]) -> bool:
    gone = {change.key for change in before} - {change.key for change in kept}
    return not gone.isdisjoint(one.needs)


def _pointing(finding: Finding, node: str, found: Decision) -> Finding:
    """What crosses the cluster, with the one step that is to lower it in place of several.

    What it expects is arithmetic on the rates of these nodes; what other machines did is said, not expected.
    """
    target, master = comment(found.target or "", 31), comment(found.master or "", 31)
    makes = (
        f"makes {target} the lock master"
        if found.kind is Kind.MOVES
        else f"lets the trees go from {master} to {target}"
    )
    do = joined(
        f"The cluster's plan {makes} (finding of {master}); measure after that step.",
        "What still crosses then is work to run together on one node, or a database to be open on one alone.",
    )
    expects = tuple(_expected(one, node, found) for one in finding.expects if one.basis != "published")
    return replace(finding, do=do, expects=expects)


def _expected(one: Expectation, node: str, found: Decision) -> Expectation:
    """The shares of a node by its rates afterwards, where they are known.

    Not where weights are made equal: whose trees move then, their activity tells.
    """
    if found.kind is Kind.MOVES and found.order is None:
        return one
    rates = next((line.after for line in found.lines if line.node == node), None)
    if rates is None or rates.local is None or rates.outgoing is None or rates.incoming is None:
        return one
    own = rates.local[0] + rates.outgoing[1]
    leaving = [100 * out / own if own else 0.0 for out in rates.outgoing]
    if one.metric == LEAVING:
        return replace(one, after=in_range(leaving), basis="arithmetic")
    if one.metric == REMOTE and own:
        shares = [100 * (out + into) / (own + into) for out, into in zip(rates.outgoing, rates.incoming, strict=True)]
        return replace(one, after=in_range(shares), basis="arithmetic")
    return one
