"""The contract's JSON: `audit/1`, `read/1`, `rules/1`. Once released it only grows."""

import dataclasses
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from advisor.audits.report.plain import plain
from collectors.facts import Fact, Missing
from collectors.read import Input
from rules.account import Account, Amount, Open
from rules.audit import Audit
from rules.conflict import Conflict
from rules.finding import Change, Evidence, Verdict
from rules.plan import Plan
from rules.ranking import Ranked
from rules.summary import Summary

if TYPE_CHECKING:
    from rules.cluster import ClusterAudit
    from rules.openvms._evidence.after_move import Range, Rates
    from rules.openvms._evidence.decision import Decision

ALL_CLEAR = {"Nothing to do": "Nothing found", "Nothing to do so far": "Nothing found so far"}
"""How a verdict begins by which nothing is to be done, and how where parts of the files could not be read."""


def audit_data(inputs: Sequence[Input], audits: Sequence[Audit]) -> dict[str, Any]:
    """All of one run."""
    read = [input_data(one) for one in inputs]
    clusters = [{**one, "summary": no_all_clear(one["summary"], read)} for one in clusters_data(audits)]
    of_each = [next((one for one in clusters if at in one["captures"]), None) for at in range(len(audits))]
    return run_data(read, [_but_unread(capture_data(one), one, read) for one in audits], of_each)


def _but_unread(data: dict[str, Any], one: Audit, read: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """A capture whose verdict tells of what could not be read in its own files, and in those nothing was read from."""
    files = {fact.source.file for fact in one.capture.facts}
    own = [each for each in read if each["file"] in files or not each["facts"]]
    return {**data, "summary": no_all_clear(data["summary"], own)}


def run_data(
    inputs: Sequence[Mapping[str, Any]],
    captures: Sequence[Mapping[str, Any]],
    clusters: Sequence[Mapping[str, Any] | None],
) -> dict[str, Any]:
    """`audit/1` of what it consists of. `clusters`: of each capture the cluster that it is a node of, if any.

    Clusters are the same where name and start are. Those of one name, as of several days, have the time in it, too.
    """
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for at, one in enumerate(clusters):
        if one:
            same = found.setdefault((one["name"], one["start"] or ""), {**one, "captures": []})
            same["captures"].append(at)
    names = Counter(name for name, _ in found)
    for (name, start), one in found.items():
        if names[name] > 1:
            one["name"] = f"{name}, {start[:19].replace('T', ' ') or 'no time'}"
    named = {at: one["name"] for one in found.values() for at in one["captures"]}
    return {
        "contract": "audit/1",
        "inputs": list(inputs),
        "captures": [{**capture, "cluster": named.get(at)} for at, capture in enumerate(captures)],
        "clusters": list(found.values()),
    }


def _not_understood(inputs: Sequence[Mapping[str, Any]]) -> str:
    """How much of the files no reader understood: `3 places in 2 files and 1 whole file`; empty where all was read."""
    whole = {one["file"] for one in inputs if one["report"] is None}
    parts = {one["file"] for one in inputs if one["leftovers"]} - whole
    places = sum(len(one["leftovers"]) for one in inputs if one["file"] in parts)
    said = [f"{_many(places, 'place')} in {_many(len(parts), 'file')}"] if parts else []
    return " and ".join([*said, *([_many(len(whole), "whole file")] if whole else [])])


def _many(number: int, what: str) -> str:
    """`1 file`, `3 files`: the filter of the templates does the same, but this command loads none of them."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def no_all_clear(summary: dict[str, Any], inputs: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """A summary whose verdict sounds no all-clear where some of these inputs could not be read.

    What decides may stand in these places, so that nothing was found holds for the rest alone.
    """
    first, colon, rest = str(summary["verdict"]).partition(": ")
    if not colon or first not in ALL_CLEAR or not (unread := _not_understood(list(inputs))):
        return summary
    return {**summary, "verdict": f"{ALL_CLEAR[first]} in what was understood ({unread} could not be read): {rest}"}


def clusters_data(audits: Sequence[Audit]) -> list[dict[str, Any]]:
    """The clusters among the captures; most runs have none, and then nothing is loaded for them."""
    if len(audits) < 2:
        return []
    from rules.cluster import clusters_of

    return [_cluster_data(one, audits) for one in clusters_of(audits)]


def _cluster_data(one: "ClusterAudit", audits: Sequence[Audit]) -> dict[str, Any]:
    """The nodes of a cluster together. `captures`: their places among the captures."""
    starts = [start for at in one.members if (start := audits[at].capture.interval.start)]
    return {
        "name": one.name,
        "nodes": list(one.nodes),
        "captures": sorted(one.members),
        "start": plain(min(starts)) if len(starts) == len(one.members) else None,
        "account": [account_data(account) for account in one.accounts],
        "plan": _with_titles(plan_data(one.plan), one.titles),
        "summary": summary_data(one.summary),
        "remarks": list(one.remarks),
        "placement": _placement(one.decision),
    }


def _with_titles(plan: dict[str, Any], titles: Sequence[Sequence[str]]) -> dict[str, Any]:
    """The plan of a cluster with what each step changes, in words: its findings stand in several captures."""
    steps = [{**step, "titles": list(told)} for step, told in zip(plan["steps"], titles, strict=True)]
    return {**plan, "steps": steps}


def _placement(decision: "Decision") -> dict[str, Any]:
    """Who is to master the locks, and what that means for each node; rates are least and most, per second."""
    from rules.openvms._evidence.decision import bring

    def both(one: "Range | None") -> list[Any] | None:
        return None if one is None else [plain(round(value, 1)) for value in one]

    def bounds(one: "tuple[float, float | None] | None") -> list[Any] | None:
        return None if one is None else [None if value is None else plain(round(value, 1)) for value in one]

    def rates(one: "Rates | None") -> dict[str, Any] | None:
        if one is None:
            return None
        return {"local": both(one.local), "outgoing": both(one.outgoing), "incoming": both(one.incoming)}

    return {
        "decided": decision.kind.value,
        "says": decision.says,
        "master": decision.master,
        "target": decision.target,
        "lock_manager": decision.lock_manager,
        "tables": decision.tables,
        "work": decision.work,
        "nodes": [
            {
                "node": one.node,
                "machine": one.machine,
                "rank": one.rank,
                "brought": one.brought,
                "today": rates(one.today),
                "after": rates(one.after),
                "synch_percent": plain(one.synch_percent),
                "dedicated": one.dedicated,
                "manager_percent": plain(one.manager_percent),
                "one_cpu_percent": both(one.one_cpu),
                "one_cpu_percent_after": both(one.one_cpu_after),
                "lock_us": plain(one.latency_us),
                "lock_us_after": plain(one.latency_after_us),
                "kernel_percent": plain(one.spent.kernel_today) if one.spent else None,
                "synch_percent_after": bounds(one.spent.synch) if one.spent else None,
                "kernel_percent_after": both(one.spent.kernel) if one.spent else None,
                "after_basis": one.spent.basis if one.spent else "",
            }
            for one in decision.lines
        ],
        "choices": [
            {
                "master": one.master,
                "which": one.which,
                "crossing": both(one.crossing),
                "waiting": None if one.waiting is None else [plain(round(value, 3)) for value in one.waiting],
                "nodes": [{"node": node, **(rates(each) or {})} for node, each in one.rates.items()],
            }
            for one in decision.choices
        ],
        "missing": [{"fact": one.fact, "command": one.command} for one in bring(decision)],
    }


def read_data(inputs: Sequence[Input]) -> dict[str, Any]:
    """What was understood."""
    return {
        "contract": "read/1",
        "inputs": [input_data(one) for one in inputs],
        "facts": [fact_data(fact) for one in inputs for fact in one.facts],
    }


def input_data(one: Input) -> dict[str, Any]:
    """One report found in one file."""
    return {
        "file": one.file,
        "report": one.report,
        "facts": len(one.facts),
        "problems": list(one.problems),
        "leftovers": [{"lines": [run.first, run.last], "text": run.text} for run in one.leftovers],
    }


def fact_data(fact: Fact) -> dict[str, Any]:
    """One fact. A figure that is no number is null, and `not_numbers` says which of the three reasons."""
    fields = [field.name for field in dataclasses.fields(fact) if field.name != "source" and field.repr]
    data: dict[str, Any] = {
        "fact": fact.fact_name(),
        "file": fact.source.file,
        "lines": [fact.source.first, fact.source.last],
    }
    for name in fields:
        data[name] = plain(getattr(fact, name))
    states = {
        name: getattr(fact, name).name.lower()
        for name in fields
        if isinstance(getattr(fact, name), Missing) and getattr(fact, name) is not Missing.ABSENT
    }
    if states:
        data["not_numbers"] = states
    return data


def capture_data(one: Audit) -> dict[str, Any]:
    """One system over one interval."""
    system, interval = one.capture.system, one.capture.interval
    return {
        "system": plain(system),
        "interval": plain(interval),
        "summary": summary_data(one.summary),
        "account": [account_data(account) for account in one.accounts],
        "verdicts": [verdict_data(verdict) for verdict in one.verdicts],
        "findings": [finding_data(ranked) for ranked in one.findings],
        "models": _models(one),
        "comparisons": _comparisons(one),
        "plan": plan_data(one.plan),
    }


def plan_data(plan: Plan) -> dict[str, Any]:
    """What to do, in order; and what excludes what."""
    return {
        "steps": [
            {
                "takes_effect": step.takes_effect.value,
                "node": step.node,
                "change_keys": list(step.change_keys),
                "apply": step.apply,
                "undo": step.undo,
                "when": step.when,
                "risk": {"level": step.risk.level, "why": step.risk.why},
                "needs": list(step.needs),
                "alternatives": list(step.alternatives),
                "after": step.after,
                "outage": {"pages": step.copied_pages, "seconds_low": None, "seconds_high": None}
                if step.when == "outage"
                else None,
            }
            for step in plan.steps
        ],
        "conflicts": [{"change_keys": list(c.change_keys), "why": c.why} for c in plan.conflicts],
    }


def summary_data(summary: Summary) -> dict[str, Any]:
    """What a DBA reads first."""
    return {
        "verdict": summary.verdict,
        "do": [
            {
                "step": one.step,
                "title": one.title,
                "target": one.target,
                "from": plain(one.before),
                "to": plain(one.after),
                "when": one.when,
                "effect": one.effect,
                "undo": one.undo,
                "finding": one.finding,
                "risk": one.risk,
                "after_step": one.after_step,
            }
            for one in summary.do
        ],
        "collect": [{"command": one.command, "settles": list(one.settles)} for one in summary.collect],
    }


def account_data(account: Account) -> dict[str, Any]:
    """Where the capacity of a capture went, in one currency."""
    work = account.work_range
    return {
        "currency": account.currency,
        "span": account.span,
        "run": account.run or None,
        "test": account.test,
        "capacity": plain(account.capacity),
        "idle": plain(account.idle),
        "work": plain(account.work),
        "work_low": plain(work.low) if work else None,
        "work_high": plain(work.high) if work else None,
        "lost": [
            {
                "to": loss.to,
                "seen_in": loss.seen_in,
                "part_of": loss.part_of,
                "what": loss.what,
                **_amount(loss.amount),
                "file": loss.source.file,
                "lines": [loss.source.first, loss.source.last],
            }
            for loss in account.lost
        ],
        "unexplained": _open(account.unexplained),
        "undivided": _open(account.undivided),
        "remarks": list(account.remarks),
        "conflict": _conflict(account.conflict),
    }


def _conflict(one: Conflict | None) -> dict[str, Any] | None:
    """Two exports that disagree; the remarks of the account say it in words."""
    if one is None:
        return None
    used, other = (
        {
            "by": told.by,
            "percent": told.percent,
            "file": told.source.file,
            "lines": [told.source.first, told.source.last],
        }
        for told in (one.used, one.other)
    )
    return {"what": one.what, "used": used, "other": other, "why": one.why}


def _open(one: Open | None) -> dict[str, Any] | None:
    return {**_amount(one.amount), "why": one.why, "collect": one.collect, "bound": one.bound} if one else None


def _amount(amount: Amount) -> dict[str, float | None]:
    return {"amount": amount.value, "low": amount.low, "high": amount.high}


def _models(one: Audit) -> list[dict[str, Any]]:
    """The models fitted to load series; most captures have none, and then nothing is loaded for them."""
    if not one.models:
        return []
    from advisor.audits.report.series import model_data

    return [model_data(model, one.models) for model in one.models]


def _comparisons(one: Audit) -> list[dict[str, Any]]:
    """The comparisons of what the capture holds; most hold none, and then nothing is loaded for them."""
    if not one.comparisons:
        return []
    from advisor.audits.report.comparison import comparison_data

    return [comparison_data(found) for found in one.comparisons]


def verdict_data(verdict: Verdict) -> dict[str, Any]:
    """What one rule concluded."""
    return {
        "rule": verdict.rule,
        "verdict": verdict.verdict,
        "why": verdict.why,
        "missing": [{"fact": lack.fact, "bring": lack.command} for lack in verdict.missing],
    }


def finding_data(ranked: Ranked) -> dict[str, Any]:
    """One finding."""
    finding = ranked.finding
    return {
        "key": ranked.key,
        "rule": ranked.rule,
        "subject": finding.subject,
        "severity": finding.severity.label,
        "title": finding.title,
        "says": finding.says,
        "seen": finding.seen,
        "because": finding.because,
        "do": finding.do,
        "unknown": finding.unknown,
        "evidence": [evidence_data(item) for item in finding.evidence],
        "cost": plain(finding.cost),
        "explains": list(ranked.explains),
        "changes": [change_data(change) for change in finding.changes],
        "expects": [
            {"metric": e.metric, "from": plain(e.before), "to": plain(e.after), "basis": e.basis}
            for e in finding.expects
        ],
        "sources": list(ranked.sources),
    }


def evidence_data(item: Evidence) -> dict[str, Any]:
    """One figure with its place."""
    return {
        "metric": item.metric,
        "value": plain(item.value),
        "unit": item.unit,
        "limit": plain(item.limit),
        "computed": item.computed or None,
        "file": item.source.file,
        "lines": [item.source.first, item.source.last],
    }


def change_data(change: Change) -> dict[str, Any]:
    """One change with its two scripts."""
    return {
        "key": change.key,
        "target": change.target,
        "from": plain(change.old),
        "to": plain(change.new),
        "apply": list(change.script),
        "undo": list(change.way_back),
        "takes_effect": change.takes_effect.value,
        "cautions": list(change.cautions),
    }
