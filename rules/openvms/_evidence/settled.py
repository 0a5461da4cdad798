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
from rules.finding import Change, Finding, Verdict, joined
from rules.openvms._evidence.cluster_links import CROSSING, HELD, MASTERS, clusters_among
from rules.openvms._evidence.decision import HELD_BACK, WHATEVER, Decision, Kind, decide

IDLE = "openvms/lock_manager_idle"
OF_LOCK_MANAGER = (":LCKMGR_MODE", ":LCKMGR_CPUID")


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
    keys = {parameter_key("PE1", found.master), *(one.key for one in found.move.changes)} if found.move else set()
    return found, found.kind is Kind.MOVES and not keys.isdisjoint(master.runs)


def settled(nodes: Sequence[Told]) -> dict[int, tuple[Verdict, ...]]:
    """The verdicts of those captures, by place, in which the decision over its cluster changes a finding."""
    changed: dict[int, tuple[Verdict, ...]] = {}
    for places in clusters_among([one.capture for one in nodes]):
        named = {_name(nodes[at].capture): at for at in places}
        found, carried_out = decided({name: nodes[at] for name, at in named.items()})
        if not carried_out or found.master is None or found.target is None:
            continue
        for name, at in named.items():
            verdicts = tuple(_settled(one, name, found) for one in nodes[at].verdicts)
            if any(one is not other for one, other in zip(verdicts, nodes[at].verdicts, strict=True)):
                changed[at] = verdicts
    return changed


def _name(capture: Capture) -> str:
    own = next((one.name for one in capture.facts.every(ClusterMember) if one.own), None)
    return own or capture.system.name


def _settled(verdict: Verdict, node: str, found: Decision) -> Verdict:
    if verdict.rule == CROSSING:
        findings = tuple(_pointing(one, found) for one in verdict.findings)
    elif verdict.rule in HELD_BACK and node == found.master:
        why = f"the cluster's plan first makes {comment(found.target or '', 31)} the master; measure again after it"
        findings = tuple(_without(one, why) for one in verdict.findings)
    elif verdict.rule == IDLE and node == found.target:
        why = (
            f"the cluster's plan makes {comment(node, 31)} the master, which may need that CPU; measure again after it"
        )
        findings = tuple(_without(one, why) for one in verdict.findings)
    else:
        return verdict
    return verdict if findings == verdict.findings else replace(verdict, findings=findings)


def _without(finding: Finding, why: str) -> Finding:
    """The finding without what it would set of the lock manager, and without what is only made with that."""
    kept = [one for one in finding.changes if not one.key.endswith(OF_LOCK_MANAGER)]
    while any(lacking := [one for one in kept if _lacks(one, finding.changes, kept)]):
        kept = [one for one in kept if one not in lacking]
    if len(kept) == len(finding.changes):
        return finding
    return finding.keeping(tuple(kept), f"Not now: {why}.")


def _lacks(one: Change, before: Sequence[Change], kept: Sequence[Change]) -> bool:
    gone = {change.key for change in before} - {change.key for change in kept}
    return not gone.isdisjoint(one.needs)


def _pointing(finding: Finding, found: Decision) -> Finding:
    """What crosses the cluster, with the one step that is to lower it in place of several."""
    target, master = comment(found.target or "", 31), comment(found.master or "", 31)
    do = joined(
        f"The cluster's plan makes {target} the lock master (finding of {master}); measure after that step.",
        "What still crosses then is work to run together on one node, or a database to be open on one alone.",
    )
    return replace(finding, do=do)
