"""The plans of several systems as one: the same change stands once, with every system that it is asked of below it.

Made of what is stored: the plan of each system's newest audit, as `advisor.audits.report.plan` puts it in words, and
the states of the findings that ask for it. A node of a cluster is a system. The number of statements does not depend
on how many systems there are.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from itertools import pairwise
from typing import Any

from django.db.models import F, Q

from advisor.accounts.models import User
from advisor.audits.models import Finding
from advisor.audits.report.plan import WHENS, Changed, PlanStep, steps_of
from advisor.audits.report.run_sheet import RunSheet, run_sheet
from advisor.findings.models import TrackedFinding
from advisor.findings.services.pages import with_state
from advisor.findings.services.selection import MOST_SYSTEMS, Selection, systems_in
from advisor.systems.models import System
from advisor.systems.services.history import own_time, when
from rules.finding import rounded
from rules.plan import LEVELS

State, Presence = TrackedFinding.State, TrackedFinding.Presence
FIRST, LAST = "To look into first", "To investigate"
AFTER = {"restart": "After the restart", "reboot": "After the reboot", "outage": "After the outage"}
"""What takes effect at once, but needs something of that moment."""
MOMENTS = (FIRST, *(words for when in WHENS if when != "investigate" for words in (WHENS[when], AFTER.get(when))), LAST)
"""In the order of a plan."""
READ = (
    *("name", "former", "product", "team__name", "snoozed_until", "latest__plan"),
    *("latest__capture__taken", "latest__capture__timed", "latest__capture__interval"),
)
"""Of a system and its newest audit: the verdicts, the account and the summary of five hundred would be far more."""
FOLLOWED = (
    *("system", "key", "title", "severity", "processors", "presence", "finding", "state", "state_since", "state_until"),
    *("state_why", "state_by__username", "owner__username", "back_if"),
)


class TooMany(ValueError):
    """More systems are asked for than one page holds; the message says how many it may be."""


@dataclass(eq=False)
class SystemPlan:
    """A system with the plan of its newest audit."""

    system: System
    cluster: tuple[str, ...]
    """The nodes of the cluster that it was audited in; empty where it was audited alone."""
    findings: list[dict[str, Any]]
    """Of its newest audit, in order, as far as a plan needs them."""
    steps: list[PlanStep]
    notes: list[str] = field(default_factory=list)
    """What to know before its scripts are run that only the plans of others show."""

    @property
    def audit(self) -> int | None:
        """The number of its newest audit."""
        return self.system.latest_id

    @property
    def plan(self) -> Mapping[str, Any]:
        """As the contract prints it; empty without an audit."""
        return self.system.latest.plan if self.system.latest else {}

    @property
    def conflicts(self) -> list[str]:
        """What a person has to decide, of this plan alone."""
        return [one["why"] for one in self.plan.get("conflicts", ())]

    @property
    def taken(self) -> str:
        """When the capture was taken, as its export has it; empty without one."""
        if self.system.latest is None:
            return ""
        capture = self.system.latest.capture
        return when(own_time(capture.taken, capture.timed, capture.interval), capture.timed)

    @property
    def runs(self) -> int:
        """Steps with something to run."""
        return sum(step.runs for step in self.steps)

    def sheet(self, scripts: str = "") -> RunSheet:
        """Its run sheet; `scripts`: the file that its scripts are in."""
        interval = self.system.latest.capture.interval if self.system.latest else {}
        capture = {
            "system": {"name": self.system.name},
            "interval": interval,
            "plan": self.plan,
            "findings": self.findings,
        }
        return run_sheet(capture, scripts=scripts)


@dataclass(eq=False)
class Asking:
    """A change, as the plan of one system asks for it."""

    shared: str
    """The key of the change, the same for the same change of every system."""
    of: SystemPlan
    step: PlanStep
    change: Changed
    node: str
    """The node that it is run on, where that is not the system itself."""
    followed: list[TrackedFinding]
    """The findings that ask for it."""
    same_as: str = ""
    """The system whose plan has the very same change on the same node or database: it is made once."""
    disputed: bool = False
    """Whether another plan asks for another value of it."""

    @property
    def value(self) -> str:
        """`100 → 5`; empty for what has no value."""
        if self.change.after is None:
            return ""
        was = "" if self.change.before is None else f"{rounded(self.change.before)} → "
        return f"{was}{rounded(self.change.after)}"

    @property
    def moment(self) -> str:
        """One of `MOMENTS`."""
        if self.step.runs:
            return AFTER[self.step.when] if self.step.after and self.step.when in AFTER else WHENS[self.step.when]
        return FIRST if any(one.runs for one in self.of.steps[self.step.number :]) else LAST

    @property
    def pick(self) -> str:
        """The numbers of its findings, for a form."""
        return ",".join(str(one.pk) for one in self.followed)


@dataclass(frozen=True)
class JointChange:
    """The same change on one system or many, at one moment."""

    target: str
    askings: list[Asking]

    @property
    def systems(self) -> int:
        """How many systems ask for it."""
        return len({one.of.system.pk for one in self.askings})

    @property
    def value(self) -> str:
        """The old and the new value, where they are the same on every system; else how many there are."""
        values = dict.fromkeys(one.value for one in self.askings)
        return next(iter(values)) if len(values) == 1 else f"{len(values)} different values"

    @property
    def risk(self) -> str:
        """The highest of all; empty where no audit says."""
        levels = [one.step.risk for one in self.askings if one.step.risk]
        return max(levels, key=LEVELS.index, default="")

    @property
    def states(self) -> Counter[str]:
        """How many findings that ask for it are in which state."""
        return Counter(one.state for one in self.followed)

    @property
    def followed(self) -> list[TrackedFinding]:
        """The findings that ask for it, each once."""
        return list({one.pk: one for asking in self.askings for one in asking.followed}.values())

    @property
    def pick(self) -> str:
        """The numbers of all its findings, for a form."""
        return ",".join(str(one.pk) for one in self.followed)


@dataclass(frozen=True)
class Moment:
    """All that is done at one moment."""

    words: str
    changes: list[JointChange]


@dataclass(frozen=True)
class Decision:
    """What a person decides before anything is made."""

    why: str
    systems: list[System]


@dataclass(frozen=True)
class JointPlan:
    """The plans of several systems as one."""

    systems: list[SystemPlan]
    moments: list[Moment]
    decisions: list[Decision]
    followed: list[TrackedFinding]
    """Findings of these systems that stand, or that somebody has dealt with."""

    @property
    def askings(self) -> list[Asking]:
        """All that is asked for, in the order of the plan."""
        return [one for moment in self.moments for change in moment.changes for one in change.askings]

    @property
    def planned(self) -> list[SystemPlan]:
        """The systems whose plan has a step."""
        return [one for one in self.systems if one.steps]


def joint_plan(user: User, selected: Selection) -> JointPlan:
    """Make it of the systems that this person may see. Raises `TooMany`."""
    found = systems_in(user, selected).select_related("team", "latest__capture").only(*READ)
    systems = list(found.annotate(nodes=F("latest__cluster__nodes"))[: MOST_SYSTEMS + 1])
    if len(systems) > MOST_SYSTEMS:
        raise TooMany(f"More than {MOST_SYSTEMS} systems are selected: choose fewer.")
    findings = _findings([one.latest_id for one in systems if one.latest_id])
    followed = _followed([one.pk for one in systems])
    by_key = {(one.system_id, one.key): one for one in followed}
    plans = [
        _plan_of(
            one,
            [with_state(of, by_key.get((one.pk, of["key"][:400]))) for of in findings.get(one.latest_id or 0, ())],
        )
        for one in systems
    ]
    names = names_of(systems)
    joint: dict[str, list[Asking]] = {}
    for one in plans:
        for step in one.steps:
            for change in step.changes:
                asking = _asking(one, step, change, names[one.system.pk], by_key)
                joint.setdefault(asking.shared, []).append(asking)
    decisions = _decisions(plans, joint)
    moments: dict[str, list[JointChange]] = {}
    for askings in joint.values():
        at: dict[str, list[Asking]] = {}
        for asking in askings:
            at.setdefault(asking.moment, []).append(asking)
        for words, of_moment in at.items():
            moments.setdefault(words, []).append(JointChange(of_moment[0].change.target, of_moment))
    return JointPlan(
        plans,
        [Moment(words, _in_order(moments[words])) for words in MOMENTS if words in moments],
        decisions,
        followed,
    )


def names_of(systems: Sequence[System]) -> dict[int, tuple[frozenset[str], frozenset[str]]]:
    """By the number of a system: its own names, and the names of all that a change of its plan may be run on.

    In capitals. Changes of OpenVMS name the node that they are run on, which may be another one of the cluster.
    """
    own = {one.pk: frozenset(name.upper() for name in (one.name, *one.former)) for one in systems}
    nodes: dict[tuple[int, str], set[str]] = {}
    for one in systems:
        nodes.setdefault((one.team_id, one.product), set()).update(own[one.pk])
    return {
        one.pk: (own[one.pk], frozenset(nodes[one.team_id, one.product]) if one.product == "openvms" else own[one.pk])
        for one in systems
    }


def shared_key(key: str, names: Iterable[str]) -> tuple[str, str]:
    """The key of a change without the node or server that it names, and that name; `names` are those, in capitals."""
    first, *parts = key.split(":")
    name = next((part for part in parts if part.upper() in names), "")
    kept = [part for part in parts if part != name] if name else parts
    return ":".join((first, *kept)), name


def shared_target(target: str, name: str) -> str:
    """What a change changes, without the node: `LOCKDIRWT on ORKNEY` is LOCKDIRWT."""
    return target.removesuffix(f" on {name}") if name else target


def _findings(audits: Sequence[int]) -> dict[int, list[dict[str, Any]]]:
    """By the number of an audit: its findings as far as a plan needs them; their evidence is not kept."""
    found: dict[int, list[dict[str, Any]]] = {}
    rows = Finding.objects.filter(audit__in=audits).order_by("audit_id", "number").values_list("audit_id", "data")
    for audit, data in rows:
        kept = {"key": data["key"], "changes": data.get("changes") or [], "expects": data.get("expects") or []}
        found.setdefault(audit, []).append(kept)
    return found


def _plan_of(system: System, findings: list[dict[str, Any]]) -> SystemPlan:
    plan = system.latest.plan if system.latest else {}
    nodes: list[str] = system.nodes or []  # type: ignore[attr-defined]  # annotated
    return SystemPlan(system, tuple(nodes), findings, steps_of(plan, findings))


def _followed(systems: Sequence[int]) -> list[TrackedFinding]:
    rows = TrackedFinding.objects.filter(system__in=systems).filter(
        ~Q(state=State.OPEN) | Q(presence=Presence.STANDING)
    )
    rows = rows.select_related("state_by", "owner").only(*FOLLOWED)
    return list(rows.annotate(outcome=F("proof__verdict")).order_by("system", "-severity", "number", "pk"))


def _asking(
    of: SystemPlan,
    step: PlanStep,
    change: Changed,
    names: tuple[frozenset[str], frozenset[str]],
    followed: Mapping[tuple[int, str], TrackedFinding],
) -> Asking:
    """What one plan asks for."""
    own, known = names
    key, name = shared_key(change.key, known | ({step.node.upper()} if step.node else set()))
    node = step.node if step.node and step.node.upper() not in own else ""
    keys = (of.findings[number - 1]["key"][:400] for number in change.findings)
    rows = [followed[of.system.pk, one] for one in dict.fromkeys(keys) if (of.system.pk, one) in followed]
    shown = replace(change, target=shared_target(change.target, node or name))
    return Asking(key, of, step, shown, node, rows)


def _decisions(plans: Sequence[SystemPlan], joint: Mapping[str, Sequence[Asking]]) -> list[Decision]:
    """What the plans themselves leave to a person, and what two of them ask for differently on one node or database.

    What they ask for alike is marked to be made once. Both is noted for the scripts of the systems.
    """
    found: dict[str, list[System]] = {}
    for one in plans:
        for why in one.conflicts:
            found.setdefault(why, []).append(one.system)
    for askings in joint.values():
        places: dict[tuple[Any, ...], list[Asking]] = {}
        for asking in askings:
            if place := _place(asking):
                places.setdefault(place, []).append(asking)
        for same in places.values():
            for asking in same[1:]:
                _held_together(same[0], asking, found)
    return [Decision(why, systems) for why, systems in found.items()]


def _held_together(first: Asking, other: Asking, found: dict[str, list[System]]) -> None:
    """Mark what two plans ask for on one node or in one database."""
    names = [first.of.system.name, other.of.system.name]
    what = other.change.target + (f" on {other.node or first.node}" if other.node or first.node else "")
    if first.change.after == other.change.after:
        other.same_as = names[0]
        why = f"{what}: the scripts of {names[0]} and {names[1]} both have it; run it once."
    else:
        first.disputed = other.disputed = True
        values = [f"{rounded(one.change.after)} by {one.of.system.name}" for one in (first, other)]
        why = f"{what}: asked to become {' and '.join(values)}"
        found[why] = [first.of.system, other.of.system]
        why = f"Decide first: {why}"
    for one in (first, other):
        one.of.notes.append(why)


def _place(asking: Asking) -> tuple[Any, ...]:
    """Where a change is made, where several plans may ask for it there: a node by its name, a database of a cluster."""
    product, system = asking.change.key.split(".", 1)[0], asking.of.system
    if product == "rdb" and asking.of.cluster:
        return (system.team_id, asking.of.cluster)
    if product == "openvms":
        return (system.team_id, (asking.node or system.name).upper())
    return ()


def _rank(change: JointChange) -> tuple[Any, ...]:
    """What is sorted by within a moment, as findings are: most processors lost, then severity; then most systems."""
    rows = change.followed
    lost = sum(one.processors or 0.0 for one in rows)
    return (-lost, -max((one.severity for one in rows), default=0), -change.systems, change.target)


def _in_order(changes: Sequence[JointChange]) -> list[JointChange]:
    """The changes of a moment, by `_rank`, but none before one that a system makes in an earlier step of its own plan.

    Where the plans of two systems ask for two changes the one and the other way round, there is no order that both
    have: then the first by rank is taken. The steps of each system are numbered in any case.
    """
    ranked = sorted(changes, key=_rank)
    steps: dict[int, dict[int, set[int]]] = {}
    for at, change in enumerate(ranked):
        for one in change.askings:
            steps.setdefault(one.of.system.pk, {}).setdefault(one.step.number, set()).add(at)
    after: dict[int, set[int]] = {at: set() for at in range(len(ranked))}
    for of_system in steps.values():
        numbers = sorted(of_system)
        for earlier, later in pairwise(numbers):
            for at in of_system[later]:
                after[at] |= of_system[earlier] - {at}
    follow: dict[int, set[int]] = {}
    for at, befores in after.items():
        for before in befores:
            follow.setdefault(before, set()).add(at)
    placed: list[int] = []
    left, free = set(after), [at for at, befores in after.items() if not befores]
    while left:
        at = heappop(free) if free else min(left)
        if at not in left:
            continue
        left.discard(at)
        placed.append(at)
        for later in follow.get(at, ()):
            after[later].discard(at)
            if later in left and not after[later]:
                heappush(free, later)
    return [ranked[at] for at in placed]
