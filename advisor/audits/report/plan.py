"""The plan as rows for a table and for a run sheet: one way to put a step in words, for page, paper, mail and text.

It works from the JSON shape alone (`captures[].plan` and `findings`), so that stored audits are shown by it, too.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rules.finding import Effect, rounded
from rules.plan import WHEN
from rules.summary import UNDO

WHENS = {
    "now": "Now",
    "restart": "Next restart",
    "reboot": "Next reboot",
    "outage": "In an outage",
    "investigate": "To investigate",
}
MOST_EFFECTS = 2
"""Expectations of one finding that a row names; the finding has all."""


@dataclass(frozen=True)
class Changed:
    """One change of a step."""

    key: str
    target: str
    """What it changes."""
    before: float | str | None
    after: float | str | None
    undo: str
    """In a line; empty where it is not known."""
    cautions: tuple[str, ...] = ()
    findings: tuple[int, ...] = ()
    """The numbers of the findings of this capture that ask for it."""

    @property
    def title(self) -> str:
        """`RESHASHTBL 8,192 → 262,144`."""
        if self.after is None:
            return self.target
        was = "" if self.before is None else f"{rounded(self.before)} → "
        return f"{self.target} {was}{rounded(self.after)}"


@dataclass(frozen=True)
class PlanStep:
    """All that takes effect at one moment."""

    number: int
    when: str
    """One of `WHENS`."""
    takes_effect: str
    """As the contract prints it."""
    node: str
    """The cluster node to run it on; empty where that is the system itself."""
    changes: tuple[Changed, ...]
    risk: str
    """`low`, `medium`, `high`; empty in audits before version 0.9.0."""
    risk_why: str
    effects: tuple[str, ...]
    """What to expect, each with its basis. What one finding expects stands at its last step: all of them bring it."""
    needs: tuple[str, ...]
    """What must have been changed before."""
    instead_of: tuple[str, ...]
    """What is left out because of this step: to be changed only where it is not enough."""
    after: int | None
    """Number of the step that comes before it, where this one takes effect at once and that one does not."""
    copied_pages: float | None
    """Of an outage; `None` where no export shows it."""
    apply: str
    undo: str

    @property
    def due(self) -> str:
        """When it is made, in words."""
        return f"After step {self.after}" if self.after else WHENS[self.when]

    @property
    def runs(self) -> bool:
        """Whether there is anything to run."""
        return self.takes_effect != "advice"

    @property
    def undo_lines(self) -> tuple[str, ...]:
        """How each change is undone, in a line; said once where it is the same for all."""
        lines = [one.undo for one in self.changes if one.undo]
        if len(set(lines)) < 2:
            return tuple(lines[:1])
        return tuple(f"{one.target}: {one.undo}" for one in self.changes if one.undo)


def steps_of(
    plan: Mapping[str, Any], findings: Sequence[Mapping[str, Any]], others: Sequence[Mapping[str, Any]] = ()
) -> list[PlanStep]:
    """The steps of a plan in its order; `findings` of its capture in their order, `others` of further nodes."""
    asked: dict[str, list[tuple[int, Mapping[str, Any], Mapping[str, Any]]]] = {}
    for number, finding in [*enumerate(findings, 1), *((0, one) for one in others)]:
        for change in finding["changes"]:
            asked.setdefault(change["key"], []).append((number, finding, change))
    targets = {key: found[0][2]["target"] for key, found in asked.items()}
    last = {
        asked[key][0][1]["key"]: number
        for number, step in enumerate(plan.get("steps", ()), 1)
        for key in step["change_keys"]
        if asked.get(key) and step["takes_effect"] != Effect.ADVICE.value
    }
    promised: set[str] = set()
    made = []
    for number, step in enumerate(plan.get("steps", ()), 1):
        effect = Effect(step["takes_effect"])
        effects = []
        for key in step["change_keys"]:
            for _, finding, _ in asked.get(key, ())[:1]:
                if finding["key"] not in promised and last.get(finding["key"], number) == number:
                    promised.add(finding["key"])
                    effects += _effects(finding["expects"])
        risk = step.get("risk") or {"level": "", "why": ""}
        made.append(
            PlanStep(
                number=number,
                when=step.get("when") or WHEN[effect],
                takes_effect=effect.value,
                node=step.get("node") or "",
                changes=tuple(_changed(key, asked.get(key, ()), effect) for key in step["change_keys"]),
                risk=risk["level"],
                risk_why=risk["why"],
                effects=tuple(effects),
                needs=tuple(targets.get(key) or _last(key) for key in step.get("needs", ())),
                instead_of=tuple(targets.get(key) or _last(key) for key in step.get("alternatives", ())),
                after=step.get("after"),
                copied_pages=(step.get("outage") or {}).get("pages"),
                apply=step["apply"],
                undo=step["undo"],
            )
        )
    return made


def due(one: Mapping[str, Any]) -> str:
    """When a thing to do of the summary is done, in words; empty where no step does it."""
    if not one["step"]:
        return ""
    if one.get("after_step"):
        return f"After step {one['after_step']}"
    return "Decide" if one["when"] == "investigate" else WHENS[one["when"]]


def _changed(key: str, asked: Sequence[tuple[int, Any, Mapping[str, Any]]], effect: Effect) -> Changed:
    if not asked:
        return Changed(key, _last(key), None, None, "")
    change = asked[0][2]
    was = "taken back" if change["from"] is None else f"back to {rounded(change['from'])}"
    cautions = dict.fromkeys(caution for _, _, one in asked for caution in one["cautions"])
    numbers = tuple(number for number, _, _ in asked if number)
    undo = UNDO[effect].format(was)
    return Changed(key, change["target"], change["from"], change["to"], undo, tuple(cautions), numbers)


def _last(key: str) -> str:
    """What a change is called whose finding is not here, or no longer asks for it: the end of its key."""
    return key.rpartition(":")[2] or key


def _effects(expects: Iterable[Mapping[str, Any]]) -> list[str]:
    """What a finding expects, where it says what will be seen."""
    said = []
    for one in expects:
        if one["to"] is not None:
            was = "" if one["from"] is None else f"{rounded(one['from'])} → "
            said.append(f"{one['metric']}: {was}{rounded(one['to'])} ({one['basis']})")
    return said[:MOST_EFFECTS]
