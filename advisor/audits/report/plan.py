"""The plan as rows for a table and for a run sheet: one way to put a step in words, for page, paper, mail and text.

It works from the JSON shape alone (`captures[].plan` and `findings`), so that stored audits are shown by it, too.
"""

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rules.changes.quoting import comment
from rules.finding import Effect, rounded
from rules.plan import MARKS, SQL_MARK, WHEN
from rules.summary import way_back

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
    accepted: str = ""
    """The day until which every finding that asks for it is accepted, the first of several; empty where one is not."""

    @property
    def title(self) -> str:
        """`RESHASHTBL 8,192 → 262,144`, with the mark of one that is accepted."""
        accepted = f" {self.mark}" if self.accepted else ""
        if self.after is None:
            return f"{self.target}{accepted}"
        was = "" if self.before is None else f"{rounded(self.before)} → "
        return f"{self.target} {was}{rounded(self.after)}{accepted}"

    @property
    def mark(self) -> str:
        """`(accepted until 2027-03-01)`; empty for what is not accepted."""
        return f"(accepted until {self.accepted})" if self.accepted else ""


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
    def to_make(self) -> tuple[Changed, ...]:
        """Its changes without those that are accepted."""
        return tuple(one for one in self.changes if not one.accepted)

    @property
    def undo_lines(self) -> tuple[str, ...]:
        """How the changes are undone: in a line each, and in one line what many of one kind share."""
        made = [one for one in self.to_make or self.changes if one.undo]
        if len({one.undo for one in made}) < 2:
            return tuple(one.undo for one in made[:1])
        alike: dict[tuple[str, str], list[str]] = {}
        for one in made:
            alike.setdefault((one.target.rpartition(": ")[2], one.undo), []).append(one.target)
        return tuple(
            f"{targets[0] if len(targets) == 1 else f'{kind} ({len(targets)} times)'}: {undo}"
            for (kind, undo), targets in alike.items()
        )


def steps_of(
    plan: Mapping[str, Any], findings: Sequence[Mapping[str, Any]], others: Sequence[Mapping[str, Any]] = ()
) -> list[PlanStep]:
    """The steps of a plan in its order; `findings` of its capture in their order, `others` of further nodes.

    Where the findings say their states, what is accepted is marked, its script too, and promises nothing.
    """
    asked = _asked(findings, others)
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
                if _accepted_until(asked[key]):
                    continue
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
                apply=_apply(step, asked),
                undo=step["undo"],
            )
        )
    return made


def with_accepted(
    plan: Mapping[str, Any], findings: Sequence[Mapping[str, Any]], others: Sequence[Mapping[str, Any]] = ()
) -> Mapping[str, Any]:
    """A plan whose scripts are marked as those of `steps_of` are; the findings say their states."""
    asked = _asked(findings, others)
    return {**plan, "steps": [{**step, "apply": _apply(step, asked)} for step in plan.get("steps", ())]}


Asked = Mapping[str, Sequence[tuple[int, Mapping[str, Any], Mapping[str, Any]]]]
"""Key of a change → who asks for it: the number of the finding (0: of another node), the finding, the change."""


def _asked(findings: Sequence[Mapping[str, Any]], others: Sequence[Mapping[str, Any]] = ()) -> Asked:
    asked: dict[str, list[tuple[int, Mapping[str, Any], Mapping[str, Any]]]] = {}
    for number, finding in [*enumerate(findings, 1), *((0, one) for one in others)]:
        for change in finding["changes"]:
            asked.setdefault(change["key"], []).append((number, finding, change))
    return asked


def _accepted_until(asked: Sequence[tuple[int, Mapping[str, Any], Any]]) -> str:
    """The first day until which all that ask for a change are accepted; empty where one of them is not."""
    if any(finding.get("state") != "accepted" for _, finding, _ in asked):
        return ""
    return min((str(finding["state_until"]) for _, finding, _ in asked), default="")


def _apply(step: Mapping[str, Any], asked: Asked) -> str:
    """The script of a step. What is accepted is named at its head.

    A file of SQL is run as a whole, so there the lines of such a change are made comments. Those of DCL and of a shell
    end before their first step and are pasted by hand.
    """
    text = str(step["apply"])
    head: list[str] = []
    for key in step["change_keys"]:
        until = _accepted_until(asked.get(key, ()))
        if not until:
            continue
        mark = MARKS.get(key.partition(".")[0], SQL_MARK)
        change = asked[key][0][2]
        said = f"accepted until {until}, not to be run: {comment(change['target'], longest=200)}"
        head += [f"{mark}{line}" for line in textwrap.wrap(said, 64, break_on_hyphens=False)]
        lines = "\n".join(change["apply"])
        if mark == SQL_MARK and step["takes_effect"] != Effect.ADVICE.value and lines and lines in text:
            text = text.replace(lines, "\n".join(f"{SQL_MARK}{line}" for line in change["apply"]), 1)
    return "\n".join([*head, text])


def do_marked(
    do: Iterable[Mapping[str, Any]], steps: Sequence[PlanStep], findings: Iterable[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """What to do of a summary, with the mark of what is accepted behind its title; `findings` say their states.

    What a step of the plan does has the mark of that change: another finding may ask for it as well.
    """
    until = {one["key"]: str(one["state_until"]) for one in findings if one.get("state") == "accepted"}
    marked = []
    for one in do:
        changes = steps[one["step"] - 1].changes if one["step"] and one["step"] <= len(steps) else ()
        mark = next((change.mark for change in changes if change.target == one["target"]), None)
        if mark is None and one["finding"] in until:
            mark = f"(accepted until {until[one['finding']]})"
        marked.append({**one, "title": f"{one['title']} {mark}" if mark else one["title"]})
    return marked


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
    cautions = dict.fromkeys(caution for _, _, one in asked for caution in one["cautions"])
    numbers = tuple(number for number, _, _ in asked if number)
    undo = way_back(effect, change["undo"], change["from"])
    accepted = _accepted_until(asked)
    return Changed(key, change["target"], change["from"], change["to"], undo, tuple(cautions), numbers, accepted)


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
