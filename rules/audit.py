"""One audit: all verdicts over one capture, the findings in order, the fitted models, the plan."""

import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from collectors.facts import Capture, without_collection
from collectors.facts.scaling import LoadSeries
from collectors.facts.unix import LockingRun
from collectors.facts.zvm import PerformanceRun
from rules.account import MEAN, PROCESSORS, Account, Measured, divided
from rules.ase._evidence.caches.memory import free_memory
from rules.changes.quoting import comment
from rules.engine import CRITICAL_FROM, LOST, judge
from rules.finding import Change, Effect, Severity, Verdict, capitalized, joined, rounded, within
from rules.laws.usl import Model, model_of
from rules.plan import Plan, make_plan, runs_of
from rules.ranking import Ranked, causes_of, linked, rank, reasons_of
from rules.resets import one_alone
from rules.summary import MOST_COLLECT, NOTHING_SAID, TOLD_PROCESSORS, Summary, ToCollect, summarized
from rules.tentative import is_tentative

if TYPE_CHECKING:
    from rules.compare.comparison import Comparison


@dataclass(frozen=True)
class Audit:
    """What all rules said of one capture."""

    capture: Capture
    verdicts: tuple[Verdict, ...]
    findings: tuple[Ranked, ...]
    models: tuple[Model, ...]
    plan: Plan
    comparisons: "tuple[Comparison, ...]" = ()
    """Of tables that hold a before and an after."""
    accounts: tuple[Account, ...] = ()
    """Where the capacity went; none where the exports allow none."""
    summary: Summary = NOTHING_SAID


def audit(capture: Capture, overrides: Mapping[str, float] | None = None) -> Audit:
    """Run all rules of the capture's product. `overrides` are a site's limits by `rule_id.limit_name`."""
    with without_collection():
        return _audit(capture, overrides)


def _audit(capture: Capture, overrides: Mapping[str, float] | None) -> Audit:
    return _concluded(capture, judge(capture, overrides))


def _concluded(capture: Capture, verdicts: Sequence[Verdict]) -> Audit:
    """What the verdicts of all rules make together: findings in order, accounts, one plan, and the summary."""
    found = linked([Ranked(verdict.rule, finding) for verdict in verdicts for finding in verdict.findings])
    accounts = accounts_of(capture, found)
    loud = as_loud_as_explained(as_loud_as_lost(found, accounts))
    findings = peak_first(host_first(rank(loud, lost_shares(accounts))))
    models = tuple(model_of(series) for series in capture.facts.every(LoadSeries))
    free = free_memory(capture.facts)
    findings = elsewhere(findings, capture.system.name)
    planned = make_plan(changes_of(findings), free.mb if free else None)
    findings = with_pending(findings, {key for step in planned.steps for key in step.change_keys})
    plan = make_plan(changes_of(findings), free.mb if free else None, reasons_of(findings), of_critical(findings))
    findings = as_planned(findings, plan)
    unit = "engines" if capture.system.product == "ase" else "CPUs"
    why_open = one_alone(capture.facts) if capture.system.product == "ase" else ""
    summary = summarized(findings, verdicts, plan, accounts, unit, why_open)
    within = _compared_within(capture)
    return Audit(capture, tuple(verdicts), tuple(findings), models, plan, within, accounts, summary)


def accounts_of(capture: Capture, findings: Sequence[Ranked]) -> tuple[Account, ...]:
    """Where the capacity went, in each currency that the exports allow."""
    return tuple(divided(one, findings) for one in _measured(capture))


def _measured(capture: Capture) -> Iterator[Measured]:
    """What the products at hand measured; those of the others are not loaded."""
    from collectors.facts.rdb import OfDatabase

    products = [capture.system.product] if capture.system.product in ("ase", "openvms", "zvm") else []
    if any(issubclass(kind, OfDatabase) for kind in capture.facts.by_type):
        products.append("rdb")
    if capture.facts.every(LockingRun):
        products.append("unix")
    for product in products:
        yield from importlib.import_module(f"rules.{product}._evidence.account").measured(capture.facts)


def lost_shares(accounts: Sequence[Account]) -> dict[str, float]:
    """The largest share of a capacity, 0 to 1, that each finding lost, or measures as lost, on average, by key.

    Where only an upper end is known that counts: what may be the larger loss is not put behind a smaller one.
    """
    shares: dict[str, float] = {}
    for account in accounts:
        for loss in account.lost if account.span == MEAN and not account.test else ():
            most = loss.amount.high if loss.amount.value is None else loss.amount.value
            if account.currency == PROCESSORS and most < TOLD_PROCESSORS:
                continue
            share = account.share(most) or 0.0
            for key in filter(None, (loss.to, loss.seen_in)):
                shares[key] = max(shares.get(key, 0.0), share)
    return shares


def as_loud_as_lost(findings: Sequence[Ranked], accounts: Sequence[Account]) -> list[Ranked]:
    """The findings, a warning that most of the loss goes to as loud as that; of processors from one whole one on."""
    loud = set()
    for account in accounts:
        least = CRITICAL_FROM if account.currency == PROCESSORS else 0.0
        critical = LOST[0][0] if account.currency == PROCESSORS else ONE_IN_THREE
        for loss in account.lost if account.span == MEAN and not account.test else ():
            share = account.share(loss.amount.low)
            if loss.to and share is not None and share >= critical and loss.amount.low >= least:
                loud.add(loss.to)
    return [
        replace(one, finding=replace(one.finding, severity=Severity.CRITICAL))
        if one.key in loud
        and one.finding.severity is Severity.WARNING
        and (one.finding.cost is None or one.finding.cost.of_capture)
        else one
        for one in findings
    ]


def as_loud_as_explained(findings: Sequence[Ranked]) -> list[Ranked]:
    """The findings, advice at the root of a warning as a warning: what is to be done stands at the cause.

    Of products whose rules grade a wait and what it waits for by figures of one kind, and of OpenVMS, where the node
    that has the cause seldom has the symptom (`linked_across`). Not where either is of before the last start or rests
    on a layout that is recalled, and never critical: that a finding is by its own loss.
    """
    return _raised(findings, loud_among(findings))


def loud_among(findings: Iterable[Ranked]) -> set[str]:
    """The keys of the findings that are warnings, or more, of what goes on."""
    return {one.key for one in findings if one.finding.severity >= Severity.WARNING and not one.finding.ended}


def _raised(findings: Sequence[Ranked], loud: Set[str]) -> list[Ranked]:
    """The findings, advice at the root of one of these as a warning."""
    causes = [
        one
        for one in findings
        if one.rule.startswith(GRADED_ALIKE) and one.finding.severity is Severity.ADVICE
        if not one.finding.ended and not is_tentative(one.finding)
    ]
    while more := {one.key for one in causes if one.key not in loud and loud & set(_of_product(one))}:
        loud = loud | more  # a cause of a cause: each round goes up one step
    raised = {one.key for one in causes} & loud - causes_of((one.key, one.explains) for one in findings).keys()
    return [
        replace(one, finding=replace(one.finding, severity=Severity.WARNING)) if one.key in raised else one
        for one in findings
    ]


def _of_product(one: Ranked) -> Iterator[str]:
    """The findings that it explains, of its own product."""
    product = one.rule.partition("/")[0]
    return (key for key in one.explains if key.startswith(f"{product}/"))


GRADED_ALIKE = ("ase/", "rdb/", "openvms/")
"""Products whose rules grade causes and symptoms by figures of one kind, or whose symptoms say nothing to do."""
ONE_IN_THREE = 1 / 3
"""Of the tasks that wait or run, waiting for one thing: critical (this project, as the contract says)."""


def _compared_within(capture: Capture) -> "tuple[Comparison, ...]":
    """The comparisons of what one capture holds; few hold any, and then nothing is loaded for it."""
    if not any(capture.facts.every(kind) for kind in (LoadSeries, LockingRun, PerformanceRun)):
        return ()
    from rules.compare.within import comparisons_within

    return comparisons_within(capture)


def changes_of(findings: Sequence[Ranked]) -> list[Change]:
    """What all of them ask for, in their order."""
    return [change for ranked in findings for change in ranked.finding.changes]


def of_critical(findings: Sequence[Ranked]) -> frozenset[str]:
    """Keys of what critical findings ask for, and no lesser one alone."""
    grave = [one for one in findings if one.finding.severity is Severity.CRITICAL]
    return frozenset(change.key for change in changes_of(grave))


def elsewhere(findings: Sequence[Ranked], own: str) -> list[Ranked]:
    """The findings with what is to be run on another node of the cluster told as such: target and first script line."""

    def told(change: Change) -> Change:
        if change.node.upper() in ("", own.upper()):
            return replace(change, node="")
        there = (f"$! ===== FOR NODE {change.node}, NOT FOR {comment(own, 31)}: log in on {change.node} first =====",)
        return replace(
            change,
            target=f"{change.target} on {change.node}",
            opening=(*there, *change.opening),
            undo_opening=(*there, *change.undo_opening),
        )

    return _each_change(findings, told)


def _each_change(findings: Sequence[Ranked], told: Callable[[Change], Change]) -> list[Ranked]:
    return [
        replace(ranked, finding=replace(one, changes=tuple(told(change) for change in one.changes)))
        for ranked in findings
        for one in (ranked.finding,)
    ]


def as_planned(findings: Sequence[Ranked], plan: Plan) -> list[Ranked]:
    """The findings without the changes that the plan leaves out, each with the reason that the plan has.

    What the plan only outlines, because one finding does, no other finding offers as a script.
    """
    held = {key for step in plan.steps if step.takes_effect is Effect.ADVICE for key in step.change_keys}
    outlined = {one.key: one for one in changes_of(findings) if one.takes_effect is Effect.ADVICE and one.key in held}

    def planned(change: Change) -> Change:
        return replace(outlined[change.key], cautions=change.cautions) if change.key in outlined else change

    def settled(ranked: Ranked) -> Ranked:
        found = ranked.finding
        kept = tuple(change for change in found.changes if change.key not in plan.left_out)
        if kept == found.changes:
            return ranked
        why = dict.fromkeys(plan.left_out[change.key] for change in found.changes if change not in kept)
        told = f"Not now: {'; '.join(why)}."
        do = (
            joined(found.do, told)
            if kept
            else joined(told, found.do and f"Should it still be found after that: {found.do}")
        )
        return replace(ranked, finding=found.keeping(kept, do))

    return [settled(one) for one in _each_change(findings, planned)]


HOST = "ase/host_takes_processor"
HOST_FIRST = (
    "Not yet: the host gives the engines less than they were busy (ase/host_takes_processor), so this is measured on a "
    "machine that the server does not have. Settle that first and measure again; until then no script is given for it."
)


def host_first(findings: Sequence[Ranked]) -> list[Ranked]:
    """The findings, those the host's shortage of processors explains without their changes and the words on them.

    Held back with them is what would restart the server or stop a table only for the sake of what is explained. A note
    on the host, as of a sample that is too short, holds back nothing; what somebody has configured already stays too.
    """
    short = [one for one in findings if one.rule == HOST and one.finding.severity >= Severity.ADVICE]
    symptoms = {key for one in short for key in one.explains}

    def held(ranked: Ranked, change: Change) -> bool:
        stops = change.takes_effect in (Effect.RESTART, Effect.OFFLINE)
        return ranked.key in symptoms or (stops and not symptoms.isdisjoint(ranked.explains))

    def settled(ranked: Ranked) -> Ranked:
        found = ranked.finding
        kept = tuple(change for change in found.changes if not held(ranked, change))
        if kept == found.changes:
            return ranked
        do = joined(HOST_FIRST, "What is still listed as a change stops nobody." if kept else "")
        return replace(ranked, finding=found.keeping(kept, do))

    return [settled(one) for one in findings]


PEAK = "ase/engines_past_peak"


def peak_first(findings: Sequence[Ranked]) -> list[Ranked]:
    """The findings, what too many engines explain yielding to fewer of them: that is made at once and then measured.

    The captures with fewer engines show whether a restart is worth it; it is planned only if their figures do not.
    """
    first = {one.key: one for one in findings if one.rule == PEAK and one.finding.changes}
    keys: dict[str, tuple[str, ...]] = {}
    for cause in first.values():
        for key in cause.explains:
            keys[key] = (*keys.get(key, ()), *(change.key for change in cause.finding.changes))
    return [
        replace(
            one,
            finding=replace(
                one.finding,
                changes=tuple(
                    replace(change, yields_to=(*change.yields_to, *keys[one.key])) for change in one.finding.changes
                ),
            ),
        )
        if one.key in keys
        else one
        for one in findings
    ]


PENDING = ("ase.pending:", "ase.restart:")
"""Beginnings of the keys of changes that deal with what somebody has configured already."""


def with_pending(findings: Sequence[Ranked], planned: set[str]) -> list[Ranked]:
    """The findings, with one value for a setting that waits for a restart, and restarts that say what comes along.

    What the plan changes itself is not listed as pending beside it, with another value. `planned`: keys of the plan.
    """

    def listed(change: Change) -> bool:
        return not (change.key.startswith(PENDING) and planned & set(change.yields_to))

    along = tuple(one.comes_along for one in changes_of(findings) if one.comes_along and listed(one))

    def settled(change: Change) -> Change:
        restarts = along and change.takes_effect is Effect.RESTART
        return replace(change, cautions=(*change.cautions, *along)) if restarts else change

    return [
        replace(
            ranked, finding=replace(one, changes=tuple(settled(change) for change in one.changes if listed(change)))
        )
        for ranked in findings
        for one in (ranked.finding,)
    ]


def settled_across(audits: Sequence[Audit]) -> list[Audit]:
    """The audits with one decision over the nodes of each cluster: no node is told what another's plan makes moot."""
    from rules.openvms._evidence.settled import Told, settled

    found = settled([Told(one.capture, one.verdicts, runs_of(one.plan)) for one in audits])
    if not found:
        return list(audits)
    with without_collection():
        return [_concluded(one.capture, found[at]) if at in found else one for at, one in enumerate(audits)]


def linked_across(audits: Sequence[Audit], apart: Sequence[Capture] = ()) -> list[Audit]:
    """The audits of captures that came together: what a finding causes on other nodes of its cluster is linked, too.

    `apart`: those of nodes that may be of one cluster and were measured at different times.
    """
    if len(audits) < 2:
        return list(audits)
    return [_with_asked(one, audits) for one in _linked(audits, apart)]


def asked_elsewhere(audits: Sequence[Audit], *names: str) -> str:
    """What the plans of other nodes' audits run on these nodes, as a clause; empty where they run nothing there."""
    wanted, found = {name.upper() for name in names}, dict[str, dict[str, None]]()
    for one in audits:
        runs, own = runs_of(one.plan), one.capture.system.name
        for change in changes_of(one.findings):
            node = change.node.upper()
            if (
                change.key in runs
                and node in wanted
                and own.upper() not in wanted
                and change.key.startswith("openvms.")
            ):
                to = "" if change.new is None else f" {rounded(change.old)} → {rounded(change.new)}"
                found.setdefault(comment(own, 31), {})[f"{change.target}{to}"] = None
    return "; ".join(f"to do here by the plan of {own}: {', '.join(titles)}" for own, titles in found.items())


def _with_asked(one: Audit, audits: Sequence[Audit]) -> Audit:
    """The audit of a node without a finding above a note, opening with what the plan of another node runs on it."""
    system = one.capture.system
    if system.product != "openvms" or any(ranked.finding.severity > Severity.NOTE for ranked in one.findings):
        return one
    asked = asked_elsewhere(audits, system.name)
    return replace(one, summary=opening_with(one.summary, asked)) if asked else one


def opening_with(summary: Summary, asked: str) -> Summary:
    """The summary with that before its verdict."""
    verdict = f"{capitalized(asked)}; else: {within(summary.verdict)}"
    return replace(summary, verdict=verdict)


def _linked(audits: Sequence[Audit], apart: Sequence[Capture]) -> list[Audit]:
    """The audits with the links between their findings."""
    from rules.openvms._evidence.cluster_links import CROSSING, links_across

    audits = settled_across(audits)
    told = [(one.capture, [(ranked.rule, ranked.finding) for ranked in one.findings]) for one in audits]
    links = links_across(told)
    loud = [loud_among(one.findings) for one in audits]
    made = []
    for at, one in enumerate(audits):
        effects = [(ranked, links.get((at, ranked.key), ())) for ranked in one.findings]
        findings = [
            replace(ranked, explains=(*ranked.explains, *(key for _, key in there))) for ranked, there in effects
        ]
        waits = {key for _, there in effects for other, key in there if key in loud[other]}
        linked_up = _louder(replace(one, findings=tuple(findings)), _raised(findings, loud[at] | waits))
        if any(one.capture is other for other in apart):
            linked_up = replace(linked_up, summary=_same_hours(linked_up, apart, CROSSING))
        made.append(linked_up)
    return made


def _louder(one: Audit, findings: Sequence[Ranked]) -> Audit:
    """The audit with these findings, in order and summed up anew where one of them is louder than before."""
    if all(new.finding is old.finding for new, old in zip(findings, one.findings, strict=True)):
        return one
    ranked = rank(findings, lost_shares(one.accounts))
    return replace(one, findings=tuple(ranked), summary=summarized(ranked, one.verdicts, one.plan, one.accounts))


def _same_hours(one: Audit, apart: Sequence[Capture], rule: str) -> Summary:
    """The summary of a node whose locks cross to nodes that were measured at another time: that comes first."""
    if not any(ranked.rule == rule for ranked in one.findings):
        return one.summary
    nodes = " and ".join(dict.fromkeys(comment(capture.system.name, 31) for capture in apart))
    first = ToCollect(f"a T4 composite CSV of the same hours, and SHOW CLUSTER ! on {nodes}", (rule,))
    said = f"{one.summary.verdict.removesuffix('.')}; {nodes} were measured at different times: collect the same hours."
    return replace(one.summary, verdict=said, collect=(first, *one.summary.collect)[:MOST_COLLECT])
