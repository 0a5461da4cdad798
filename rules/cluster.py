"""The account, the plan and the summary of a cluster, made of those of its nodes.

Nodes are of one cluster, and of one time, where the exports say so (`rules.openvms._evidence.cluster_links`). What
their processors lost is added up, each loss booked to what causes it on any of the nodes; their changes become one
plan, so that two nodes that ask for the same thing ask once, and two that ask for opposite things are a conflict.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from rules.account import (
    BUSIEST,
    MEAN,
    PROCESSORS,
    SMALLEST,
    WAITING_TASKS,
    Account,
    Amount,
    Loss,
    Open,
    roots_of,
    summed,
)
from rules.audit import Audit, asked_elsewhere, changes_of, lost_shares, of_critical, opening_with
from rules.changes.quoting import comment
from rules.finding import Change, Effect, Severity, Verdict, enumerated, rounded
from rules.openvms._evidence.cluster import members_of, unbrought
from rules.openvms._evidence.cluster_links import CROSSING, SLOW, clusters_among
from rules.openvms._evidence.decision import Decision, Kind
from rules.openvms._evidence.settled import Told
from rules.openvms._evidence.side_by_side import shown
from rules.plan import Plan, make_plan, runs_of
from rules.ranking import Ranked, rank, reasons_of
from rules.summary import MOST_COLLECT, Summary, ToCollect, summarized

WEIGHTS = ("LOCKDIRWT on ", "LOCKRMWT on ")
"""How the titles of changes begin that make a node the master of trees."""
OF_A_NODE = "openvms."
"""Beginning of the keys of changes that concern one node; those of a database concern all that have it open."""
ON = " on "
"""Between a key that names no node and the node whose change it is."""
TELLS_NODE = re.compile(r" on \S{1,31}\Z")
"""At the end of a thing that is of one node: what it lost in a database that several have open."""
UNJUDGED = ("unknown", "untrusted", "broken")
WHAT = {
    (PROCESSORS, MEAN): "where the processors went",
    (PROCESSORS, BUSIEST): "where the processors went in the busiest half hour",
    (WAITING_TASKS, MEAN): "how many processes waited",
    (WAITING_TASKS, BUSIEST): "how many processes waited in the busiest half hour",
}


@dataclass(frozen=True)
class ClusterAudit:
    """What the audits of the nodes of one cluster say together."""

    nodes: tuple[str, ...]
    """Names of those that were audited together, in order."""
    members: tuple[int, ...]
    """Their places among the audits."""
    accounts: tuple[Account, ...]
    plan: Plan
    summary: Summary
    remarks: tuple[str, ...]
    """Which accounts the cluster does not have, and why."""
    decision: Decision
    """Who is to master the locks, and what goes with it."""
    titles: tuple[tuple[str, ...], ...]
    """Of each step of the plan what it changes: `LOCKDIRWT on ORKNEY 1 → 5`."""

    @property
    def name(self) -> str:
        """No export gives a cluster a name: those of its nodes."""
        return ", ".join(self.nodes)


def clusters_of(audits: Sequence[Audit]) -> tuple[ClusterAudit, ...]:
    """The clusters among audits that `rules.audit.linked_across` has linked."""
    return tuple(_cluster(audits, members) for members in clusters_among([one.capture for one in audits]))


def _cluster(audits: Sequence[Audit], members: Sequence[int]) -> ClusterAudit:
    places = sorted(members, key=lambda at: audits[at].capture.system.name.upper())
    nodes = {comment(audits[at].capture.system.name, 31): audits[at] for at in places}
    on = _collected_on(nodes)
    # a finding on one node may cause one on another: both stand in one list, each told by its node
    told = _merged([_on_node(ranked, name) for name, one in nodes.items() for ranked in one.findings])
    accounts, remarks = _accounts(nodes, told, on)
    findings = rank(told, lost_shares(accounts))
    decision, carried_out = shown({name: _told(one) for name, one in nodes.items()})
    asked = _in_turn(changes_of(findings), decision, nodes)
    # nodes boot in their turn, whatever their boots are for
    graver = of_critical(findings) - {one.key for one in asked if one.takes_effect is Effect.REBOOT}
    plan = make_plan(asked, reasons=reasons_of(findings), graver=graver)
    decision = replace(decision, by_tree=_weights(plan, asked)) if decision.kind is Kind.EVEN else decision
    verdicts = _verdicts(nodes, on)
    summary = _by_node(summarized(findings, verdicts, plan, [_nodeless(one, nodes) for one in accounts]), nodes)
    # where the plan is carried out, a node's finding points to this one; else several nodes may ask for the same
    told_once = {
        (one.step, one.title): one
        for one in reversed(summary.do)
        if one.step or not carried_out or not one.finding.startswith(f"{CROSSING}:")
    }
    summary = replace(
        summary,
        do=tuple(reversed(told_once.values())),
        collect=tuple(_to_collect(decision, verdicts, summary.collect))[:MOST_COLLECT],
    )
    # a node that was measured alone is none of these, and its plan may run something on them
    if not any(one.finding.severity > Severity.NOTE for one in findings) and (here := asked_elsewhere(audits, *nodes)):
        summary = opening_with(summary, here)
    return ClusterAudit(
        tuple(nodes),
        tuple(places),
        accounts,
        _with_own_keys(plan, nodes),
        summary,
        (*remarks, *_not_brought(nodes, [comment(one.capture.system.name, 31) for one in audits])),
        decision,
        _titles(plan, asked),
    )


# --- account ---------------------------------------------------------------------------------------------------------


def _accounts(
    nodes: Mapping[str, Audit], findings: Sequence[Ranked], on: Callable[[str], str]
) -> tuple[tuple[Account, ...], tuple[str, ...]]:
    """The accounts that all nodes have, added up, and why there are no others."""
    roots = roots_of(findings)
    kinds = dict.fromkeys(
        (one.currency, one.span) for audit in nodes.values() for one in audit.accounts if not one.test
    )
    made: list[Account] = []
    remarks: list[str] = []
    for currency, span in kinds:
        each = {
            name: [one for one in audit.accounts if (one.currency, one.span) == (currency, span) and not one.test]
            for name, audit in nodes.items()
        }
        # what several nodes did in one database is measured in the capture of one, each part with its node
        each = {name: of_node for name, of_node in each.items() if of_node or not _told_elsewhere(name, each)}
        if why := _why_not(nodes, each, span):
            remarks.append(f"No account of the cluster says {WHAT[currency, span]}: {why}.")
        else:
            made.append(
                _joined({name: of_node[0] for name, of_node in each.items()}, roots, on, _of_other_times(nodes, span))
            )
    return tuple(made), tuple(remarks)


def _told_elsewhere(name: str, each: Mapping[str, Sequence[Account]]) -> bool:
    """Whether the account of another node says what a node lost: `locks of PAYROLL.RDB on SKYE`."""
    return any(part.what.endswith(f"{ON}{name}") for of in each.values() for account in of for part in account.lost)


def _why_not(nodes: Mapping[str, Audit], each: Mapping[str, Sequence[Account]], span: str) -> str:
    """Why accounts of the nodes are not added up; empty where they are."""
    without = [name for name, of_node in each.items() if not of_node]
    if without:
        means = span == BUSIEST and all(any(one.span == MEAN for one in nodes[name].accounts) for name in without)
        return f"{'no half hour is whole' if means else 'it is not measured'} on {enumerated(without)}"
    if several := [name for name, of_node in each.items() if len(of_node) > 1]:
        return f"there are several accounts of it on {enumerated(several)}"
    if len({of_node[0].capacity is None for of_node in each.values()}) > 1:
        return "the capacity of some nodes is not known"
    times = _times(nodes)
    if times is None:
        return "the exports do not show that the nodes were measured at the same time"
    late, early = max(start for start, _ in times), min(end for _, end in times)
    moments = any(start == end for start, end in times)  # screens that the collectors found near enough
    if late >= early and not moments:
        return "the nodes were measured at different times"
    if span == BUSIEST and len({of_node[0].remarks for of_node in each.values()}) > 1:
        return "it is of another time on each node"
    return ""


def _joined(
    each: Mapping[str, Account], roots: Mapping[str, str], on: Callable[[str], str], times: tuple[str, ...]
) -> Account:
    """Accounts of several nodes as one. What adds up to the capacity of each adds up to that of all."""
    first = next(iter(each.values()))
    idle = [one.idle for one in each.values() if one.idle is not None]
    capacity = [one.capacity for one in each.values() if one.capacity is not None]
    same = first.span == BUSIEST  # the remark that tells its time
    remarks = first.remarks if same else tuple(f"{name}: {said}" for name, one in each.items() for said in one.remarks)
    return Account(
        currency=first.currency,
        span=first.span,
        capacity=sum(capacity) if capacity else None,
        idle=sum(idle) if idle else None,
        lost=_losses(each, roots, on),
        unexplained=_open({name: one.unexplained for name, one in each.items()}, on),
        undivided=_open({name: one.undivided for name, one in each.items()}, on),
        remarks=(*times, *remarks),
    )


def _losses(each: Mapping[str, Account], roots: Mapping[str, str], on: Callable[[str], str]) -> tuple[Loss, ...]:
    """What went to each cause on all nodes; what no finding speaks of stays with its node."""
    by_cause: dict[tuple[str | None, str], list[tuple[str, Loss]]] = {}
    for name, account in each.items():
        for loss in account.lost:
            root = None if loss.to is None else roots.get(loss.to, loss.to)
            by_cause.setdefault((root, "" if root else _on(loss.what, [name])), []).append((name, loss))
    found = []
    for (root, _), parts in by_cause.items():
        losses = [one for _, one in parts]
        seen = {one.seen_in for one in losses}
        found.append(
            replace(
                losses[0],
                to=root,
                what=_whats([(name, one.what) for name, one in parts]),
                amount=summed(one.amount for one in losses),
                seen_in=losses[0].seen_in if len(seen) == 1 else None,
                collect=next((on(one.collect) for one in losses if one.collect), ""),
            )
        )
    return tuple(sorted(found, key=lambda one: (-one.amount.booked, -one.amount.high, one.to or "", one.what)))


def _open(each: Mapping[str, Open | None], on: Callable[[str], str]) -> Open | None:
    """What is open on all nodes; what would tell most of it is to be collected."""
    parts = [(name, one) for name, one in each.items() if one is not None]
    if not parts:
        return None
    largest = max(parts, key=lambda part: part[1].amount.booked)[1]
    amount: Amount = summed(one.amount for _, one in parts)
    return Open(amount, _whats([(name, one.why) for name, one in parts]), on(largest.collect))


def _whats(parts: Sequence[tuple[str, str]]) -> str:
    """Things of nodes in words, each thing once with its nodes: `MP synch on ORKNEY and SKYE`."""
    nodes: dict[str, list[str]] = {}
    for name, what in parts:
        nodes.setdefault(what, []).append(name)
    return ", ".join(_on(what, names) for what, names in nodes.items())


def _on(what: str, names: Sequence[str]) -> str:
    """A thing with its nodes, where it does not tell one itself."""
    return what if TELLS_NODE.search(what) else f"{what} on {enumerated(names)}"


def _times(nodes: Mapping[str, Audit]) -> list[tuple[datetime, datetime]] | None:
    """Start and end of each node's capture; `None` where one has none, or some tell their zone and some do not."""
    intervals = [one.capture.interval for one in nodes.values()]
    times = [(one.start, one.end) for one in intervals if one.start is not None and one.end is not None]
    zoned = {time.utcoffset() is None for both in times for time in both}
    return times if len(times) == len(nodes) and len(zoned) == 1 else None


def _of_other_times(nodes: Mapping[str, Audit], span: str) -> tuple[str, ...]:
    """That means of different intervals were added up, where they were; of seconds apart nothing is said."""
    said = [f"{start:%H:%M} to {end:%H:%M}" for start, end in _times(nodes) or ()]
    if span == BUSIEST or len(set(said)) < 2:
        return ()
    each = [f"{name} {one}" for name, one in zip(nodes, said, strict=True)]
    return (f"The mean of each node is that of its own interval: {', '.join(each)}.",)


def _not_brought(nodes: Mapping[str, Audit], every: Sequence[str]) -> Iterator[str]:
    """Members that the account leaves out, as no exports of theirs were audited with these.

    `every`: the names of all systems of the audit; of one of them there are listings, or figures of another time.
    """
    facts = next(iter(nodes.values())).capture.facts
    members = members_of(facts)
    audited = {one.capture.system.name.upper() for one in nodes.values()}
    absent = [one.name for one in members if one.name.upper() not in audited]
    absent += [one.name for one in unbrought(facts, members)]
    names = [comment(name, 31) for name in absent]
    own = {one.upper() for one in every}
    if alone := [name for name in names if name.upper() in own]:
        yield f"Left out, as no rates of this time came with it; it has a plan of its own: {enumerated(alone)}."
    if absent := [name for name in names if name.upper() not in own]:
        yield f"Left out, as no exports of it were audited with these: {enumerated(absent)}."


# --- plan ------------------------------------------------------------------------------------------------------------


IN_TURN = (
    "$! one node at a time: the next only when SHOW CLUSTER has this one as MEMBER again. While it is away",
    "$! the others must keep quorum: the VOTES of those that stay, and of a quorum disk (MCR SYSGEN SHOW VOTES,",
    "$! SHOW QDSKVOTES), reach (EXPECTED_VOTES + 2) / 2, rounded down; else every node waits for it",
)


def _in_turn(asked: Sequence[Change], decision: Decision, nodes: Mapping[str, Audit]) -> list[Change]:
    """The changes with reboots in the order of the nodes: first who is to be master, last who is today.

    So the trees go to their new master when the old one leaves, and not twice. What needs no reboot stays in order.
    """
    order = [one for one in nodes if one not in (decision.master, decision.target)]
    turn = {name: place for place, name in enumerate((decision.target or "", *order, decision.master or ""))}
    told = [
        replace(one, opening=(*one.opening[:1], *IN_TURN, *one.opening[1:]))
        if one.takes_effect is Effect.REBOOT
        else one
        for one in asked
    ]
    return sorted(told, key=lambda one: turn.get(one.node, 0) if one.takes_effect is Effect.REBOOT else -1)


def _titles(plan: Plan, asked: Sequence[Change]) -> tuple[tuple[str, ...], ...]:
    titles: dict[str, str] = {}
    for one in asked:
        was = "" if one.old is None else f"{rounded(one.old)} → "
        titles.setdefault(one.key, one.target if one.new is None else f"{one.target} {was}{rounded(one.new)}")
    return tuple(tuple(titles[key] for key in step.change_keys) for step in plan.steps)


def _weights(plan: Plan, asked: Sequence[Change]) -> str:
    """The weights that the plan sets, which make a node the master whatever is decided of all trees."""
    steps = zip(plan.steps, _titles(plan, asked), strict=True)
    made = (title for step, titles in steps if step.takes_effect is not Effect.ADVICE for title in titles)
    return " and ".join(title for title in made if title.startswith(WEIGHTS))


def _told(one: Audit) -> Told:
    return Told(one.capture, one.verdicts, runs_of(one.plan))


def _on_node(ranked: Ranked, name: str) -> Ranked:
    """A finding as the cluster has it: told by its node, with changes that say where they are made."""
    own = {
        one.key: f"{one.key}{ON}{name}"
        for one in ranked.finding.changes
        if not one.node and one.key.startswith(OF_A_NODE) and name.upper() not in one.key.upper().split(":")
    }
    title = ranked.finding.title
    return replace(
        ranked,
        finding=replace(
            ranked.finding,
            title=title if title.startswith(name) else f"{name}: {title}",
            changes=tuple(_for_node(change, name, own) for change in ranked.finding.changes),
        ),
    )


def _for_node(change: Change, name: str, own: Mapping[str, str]) -> Change:
    """A change with its node. `own`: keys that tell no node → the same with it, as each node may have its own."""
    node = change.node or name
    opening, undo_opening = change.opening, change.undo_opening
    if change.node:  # `rules.audit.elsewhere` told the node that asks where it is to be run
        opening, undo_opening = opening[1:], undo_opening[1:]
    here = (f"$! ===== FOR NODE {node}: log in on {node} first =====",)
    told = change.key.startswith(OF_A_NODE) and not change.node
    return replace(
        change,
        key=own.get(change.key, change.key),
        node=node,
        target=f"{change.target} on {node}" if told else change.target,
        opening=(*here, *opening),
        undo_opening=(*here, *undo_opening),
        needs=tuple(own.get(key, key) for key in change.needs),
        after=tuple(own.get(key, key) for key in change.after),
        before=tuple(own.get(key, key) for key in change.before),
        yields_to=tuple(own.get(key, key) for key in change.yields_to),
    )


def _with_own_keys(plan: Plan, nodes: Iterable[str]) -> Plan:
    """The plan with the keys that the findings of the nodes have; a step says of which node."""
    endings = [f"{ON}{name}" for name in nodes]

    def own(key: str) -> str:
        ending = next((one for one in endings if key.startswith(OF_A_NODE) and key.endswith(one)), "")
        return key.removesuffix(ending)

    def keys(several: Sequence[str]) -> tuple[str, ...]:
        return tuple(map(own, several))

    return replace(
        plan,
        steps=tuple(
            replace(
                one,
                change_keys=keys(one.change_keys),
                needs=keys(one.needs),
                alternatives=keys(one.alternatives),
            )
            for one in plan.steps
        ),
        conflicts=tuple(replace(one, change_keys=keys(one.change_keys)) for one in plan.conflicts),
    )


def _merged(findings: Sequence[Ranked]) -> list[Ranked]:
    """The findings, one of a database that several nodes have open once: as loud as the loudest, with all changes."""
    by_key: dict[str, Ranked] = {}
    for ranked in findings:
        if (same := by_key.get(ranked.key)) is None:
            by_key[ranked.key] = ranked
            continue
        first, second = sorted((same, ranked), key=lambda one: -one.finding.severity)
        changes = (*first.finding.changes, *second.finding.changes)
        explains = tuple(dict.fromkeys((*first.explains, *second.explains)))
        by_key[ranked.key] = replace(first, finding=replace(first.finding, changes=changes), explains=explains)
    return list(by_key.values())


# --- summary ---------------------------------------------------------------------------------------------------------


def _to_collect(decision: Decision, verdicts: Sequence[Verdict], others: Sequence[ToCollect]) -> Iterator[ToCollect]:
    """What is to be collected: first what leaves open who is to be master, where that is open."""
    first = decision.missing[0].command if decision.kind is Kind.OPEN and decision.missing else ""
    same = [one for one in others if first and one.command.startswith(first)]
    if first:
        settles = (one.rule for one in verdicts if first in [lack.command for lack in one.missing])
        yield from same or [ToCollect(first, tuple(dict.fromkeys((SLOW, *settles))))]
    yield from (one for one in others if one not in same)


def _nodeless(account: Account, nodes: Mapping[str, Audit]) -> Account:
    """The account for a sentence about all nodes: what is lost without where, as the largest part is not the whole."""

    def plain(what: str) -> str:
        head, on, tail = what.rpartition(ON)
        named = tail.replace(" and ", ", ").split(", ")
        return head if on and all(one in nodes for one in named) else what

    open_ = account.unexplained
    return replace(
        account,
        lost=tuple(replace(one, what=plain(one.what)) for one in account.lost),
        unexplained=replace(open_, why=plain(open_.why)) if open_ else None,
    )


def _by_node(summary: Summary, nodes: Mapping[str, Audit]) -> Summary:
    """The summary with what each node loses, where its verdict says what all do."""
    gone = {
        name: account.gone
        for name, audit in nodes.items()
        for account in audit.accounts
        if (account.currency, account.span) == (PROCESSORS, MEAN) and account.gone >= SMALLEST
    }
    if " are lost in " not in summary.verdict or not gone:
        return summary
    each = ", ".join(f"{name} {amount:.2f}" for name, amount in sorted(gone.items(), key=lambda one: -one[1]))
    return replace(summary, verdict=f"{summary.verdict.removesuffix('.')}; by node: {each}.")


def _collected_on(nodes: Mapping[str, Audit]) -> Callable[[str], str]:
    """Gives a command to collect with the nodes that lack its output: a comment of DCL, unless it names one already."""
    lacking: dict[str, dict[str, None]] = {}
    for name, audit in nodes.items():
        for account in audit.accounts:
            for part in (account.unexplained, account.undivided):
                if part and part.collect:
                    lacking.setdefault(part.collect, {})[name] = None
            for loss in account.lost:
                if loss.collect:
                    lacking.setdefault(loss.collect, {})[name] = None
        for verdict in audit.verdicts:
            for lack in verdict.missing:
                lacking.setdefault(lack.command, {})[name] = None

    def said(command: str) -> str:
        where = list(lacking.get(command, ()))
        if not where or any(name in command for name in nodes):
            return command
        return f"{command} ! on {'every node' if len(where) == len(nodes) > 2 else enumerated(where)}"

    return said


def _verdicts(nodes: Mapping[str, Audit], on: Callable[[str], str]) -> list[Verdict]:
    """What each rule concluded of the cluster: nothing yet while it could not judge one of the nodes."""
    by_rule: dict[str, list[Verdict]] = {}
    for audit in nodes.values():
        for verdict in audit.verdicts:
            by_rule.setdefault(verdict.rule, []).append(verdict)
    made = []
    for told in by_rule.values():
        words = Counter(one.verdict for one in told)
        word = next(word for word in (*UNJUDGED, "fired", "clean", "not-applicable") if words[word])
        first = next(one for one in told if one.verdict == word)
        missing = dict.fromkeys(replace(lack, command=on(lack.command)) for one in told for lack in one.missing)
        made.append(replace(first, missing=tuple(missing)))
    return made
