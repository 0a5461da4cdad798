"""The run sheet: one page for the change window, made of the plan and its changes alone.

It says what to look at before, how each step is made, checked and undone, and who is to be told. Scripts stand in the
plan; the sheet names them by the step.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from advisor.audits.report.plan import Changed, PlanStep, steps_of
from rules.changes.quoting import comment
from rules.finding import rounded

TELL = {
    "now": ("whoever is on call for it",),
    "restart": ("everybody who works with the server: their sessions end", "whoever watches it: an alarm is expected"),
    "reboot": (
        "everybody who works on the node: their sessions end",
        "who is in charge of the other nodes of its cluster",
        "whoever watches it: an alarm is expected",
    ),
    "outage": (
        "everybody who works with the table or database: it is not to be had meanwhile",
        "the owners of batch runs that meet the window",
        "whoever watches it: an alarm is expected",
    ),
    "investigate": (),
}
"""When a step is made → who is to be told before it."""


BACK = "SHOW CLUSTER lists {} as MEMBER again, before the next node is booted"
"""What is looked at after a reboot in a cluster."""


@dataclass(frozen=True)
class SheetStep:
    """One step as it is made in the window."""

    step: PlanStep
    checks: tuple[str, ...]
    """What is to be seen afterwards: each setting with its new value, then what the plan expects."""
    cautions: tuple[str, ...]
    """Of its changes; each once on a sheet."""
    tell: tuple[str, ...]
    left_out: tuple[str, ...] = ()
    """Changes of its script that are accepted, so not made."""
    file: str = ""
    """The file that its script is in, where each node has one of its own."""


@dataclass(frozen=True)
class RunSheet:
    """The page for one audit's plan."""

    system: str
    taken: str
    """When the capture ended that the plan was made of, as its export has it; empty where it does not say."""
    now: tuple[str, ...]
    """What must be as it was when the plan was made: each setting with the value the export showed."""
    decide: tuple[str, ...]
    """What a person has to decide before."""
    steps: tuple[SheetStep, ...]
    """What is run in the window."""
    later: tuple[PlanStep, ...]
    """Steps with nothing to run: for another day."""
    accepted: tuple[PlanStep, ...] = ()
    """Steps of which every change is accepted: they are not made."""
    scripts: str = ""
    """The file that its scripts are in; empty: `audit --full` prints them."""


def run_sheet(capture: Mapping[str, Any], others: Sequence[Mapping[str, Any]] = (), *, scripts: str = "") -> RunSheet:
    """Make the sheet of a capture of the JSON; `others` are findings of further nodes whose changes its plan holds.

    `scripts` is the file that the scripts are in, where they lie beside the sheet.
    """
    steps = steps_of(capture["plan"], capture["findings"], others)
    said: set[str] = set()
    made = []
    for step in (one for one in steps if one.runs and one.to_make):
        cautions = dict.fromkeys(caution for one in step.to_make for caution in one.cautions if caution not in said)
        said.update(cautions)
        left_out = tuple(f"{one.target} {one.mark}" for one in step.changes if one.accepted)
        made.append(SheetStep(step, _checks(step), tuple(cautions), TELL[step.when], left_out))
    changed = [one for step in made for one in step.step.to_make]
    interval = capture["interval"]
    return RunSheet(
        system=capture["system"]["name"],
        taken=str(interval.get("end") or interval.get("start") or ""),
        now=tuple(map(_now, changed)),
        decide=tuple(conflict["why"] for conflict in capture["plan"].get("conflicts", ())),
        steps=tuple(made),
        later=tuple(one for one in steps if not one.runs),
        accepted=tuple(one for one in steps if one.runs and not one.to_make),
        scripts=scripts,
    )


def cluster_sheet(
    cluster: Mapping[str, Any], captures: Sequence[Mapping[str, Any]], *, scripts: Mapping[str, str] | None = None
) -> RunSheet:
    """The sheet of a cluster: all its steps in their order, each with the node that it is typed on.

    `captures` are those of its nodes, as far as they are at hand; `scripts` the file of each node, by its name.
    """
    plan, findings = _by_node(cluster["plan"], captures)
    ends = [str(one["interval"].get("end") or one["interval"].get("start") or "") for one in captures]
    made = run_sheet(
        {
            "system": {"name": f"cluster of {cluster['name']}"},
            "interval": {"end": max(ends, default="")},
            "plan": plan,
            "findings": [],
        },
        findings,
    )
    steps = tuple(
        replace(
            one,
            checks=(*one.checks, *((BACK.format(one.step.node),) if one.step.when == "reboot" else ())),
            file=(scripts or {}).get(one.step.node, ""),
        )
        for one in made.steps
    )
    changed = [(one.step.node, change) for one in made.steps for change in one.step.to_make]
    return replace(made, steps=steps, now=tuple(_now(change, node) for node, change in changed))


def _by_node(
    plan: Mapping[str, Any], captures: Sequence[Mapping[str, Any]]
) -> tuple[Mapping[str, Any], list[Mapping[str, Any]]]:
    """The plan of a cluster and the findings of its nodes, where a key that names no node is that of one of them."""
    made = {(step.get("node") or "", key) for step in plan["steps"] for key in step["change_keys"]}
    own = made & {
        (comment(one["system"]["name"], 31), change["key"])
        for one in captures
        for finding in one["findings"]
        for change in finding["changes"]
    }

    def named(key: str, node: str) -> str:
        return f"{key} on {node}" if (node, key) in own else key

    steps = [
        {
            **step,
            **{
                part: [named(key, step.get("node") or "") for key in step.get(part, ())]
                for part in ("change_keys", "needs", "alternatives")
            },
        }
        for step in plan["steps"]
    ]
    findings: list[Mapping[str, Any]] = [
        {
            **finding,
            "changes": [
                {**change, "key": named(change["key"], comment(one["system"]["name"], 31))}
                for change in finding["changes"]
            ],
        }
        for one in captures
        for finding in one["findings"]
    ]
    return {**plan, "steps": steps}, findings


def _now(change: Changed, node: str = "") -> str:
    """What a setting must be before, with its node where it does not name it itself."""
    on = f" on {node}" if node and not change.target.endswith(f" on {node}") else ""
    if change.before is None:
        return f"{change.target}{on}: not in the exports"
    return f"{change.target}{on} is {rounded(change.before)}"


def sheets_of(data: Mapping[str, Any]) -> list[RunSheet]:
    """A sheet for each cluster, and for each capture outside of one, that has a plan."""
    captures = data["captures"]
    found = [
        cluster_sheet(one, [captures[at] for at in one["captures"]])
        for one in data.get("clusters", ())
        if one["plan"].get("steps") or one["plan"].get("conflicts")
    ]
    for one in captures:
        if one.get("cluster"):
            continue
        own = {finding["key"] for finding in one["findings"]}
        others = [finding for other in captures for finding in other["findings"] if finding["key"] not in own]
        if one["plan"].get("steps") or one["plan"].get("conflicts"):
            found.append(run_sheet(one, others))
    return found


def _checks(step: PlanStep) -> tuple[str, ...]:
    changed = (one for one in step.to_make if one.after is not None)
    settings = (f"{one.target} {rounded(one.after)}, by the check in the script" for one in changed)
    seen = (one for one in step.effects if not one.endswith("(published)"))  # of other machines: an order, no figure
    return (*settings, *(f"in the next capture: {one}" for one in seen))
