"""What else differs: settings, advised changes that are in force now, findings that came and went."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from collectors.facts.ase import Server
from rules.compare.in_force import (
    OF_A_CACHE,
    InForce,
    State,
    in_force,
    state_of,
    touched,
)
from rules.compare.sides import Side
from rules.compare.words import same
from rules.finding import Change
from rules.openvms._evidence.node import node_name
from rules.settings import BINDING

if TYPE_CHECKING:
    from rules.audit import Audit

UNJUDGED = ("unknown", "untrusted", "broken")
UNNAMED = ("SERVER", "NODE")
"""What findings call a system that no export names."""


@dataclass(frozen=True)
class Setting:
    """One setting that differs."""

    name: str
    before: str | float | None
    """`None`: the listing of this side has no such cache, or no such binding."""
    after: str | float | None
    advised: str | None = None
    """The key of the finding that advised it before."""


@dataclass(frozen=True)
class Advised:
    """One change that was advised before, and whether the after has its new value."""

    target: str
    old: float | str | None
    new: float | str | None
    applied: bool | None
    """`None`: no export of the after tells."""
    now: float | str | None = None
    """What is there instead, where the advice was taken in another form, or not."""
    finding: str | None = None


@dataclass(frozen=True)
class CameAndWent:
    """The findings of both sides by key."""

    gone: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    still: tuple[str, ...] = ()
    not_judged: tuple[str, ...] = ()
    """Stood before; in the after their rules could not judge."""
    not_judged_before: tuple[str, ...] = ()
    """Stand in the after, but their rules could not judge before: whether they are new, nobody can tell."""


def settings_that_differ(before: Side, after: Side, audits: "Iterable[Audit]" = ()) -> tuple[Setting, ...]:
    """The release and the settings that both sides tell, where they differ, and caches and bindings of one side alone.

    What one side does not tell is no difference, but where it lists all of its kind. `audits` are those of the before.
    """
    first, second = state_of(before.facts), state_of(after.facts)
    advice = _advice(audits, second)
    releases = before.newest.system.version, after.newest.system.version
    found = [Setting("release", *releases)] if releases[0] and releases[1] else []
    for name in (*second.settings, *(name for name in first.settings if name not in second.settings)):
        both = name in first.settings and name in second.settings
        if both or _of_one_side(name, first, second):
            old, new = first.settings.get(name), second.settings.get(name)
            found.append(Setting(name, old, new, advice.get(name)))
    return tuple(one for one in found if not _same(one.before, one.after))


def _of_one_side(name: str, first: State, second: State) -> bool:
    """Whether a setting that one side has means that the other does not: a cache, its pool, or a binding."""
    has, lacks = (first, second) if name in first.settings else (second, first)
    if name.startswith(BINDING):
        return lacks.lists(name)
    alone = has.caches - lacks.caches - lacks.running
    for cache in alone if lacks.lists(name) else ():
        if name in {f"cache {cache}: {what}" for what in OF_A_CACHE}:
            return True
    shared = (f"cache {cache}, " for cache in has.caches & lacks.caches)
    pools = next((pool for pool in shared if name.startswith(pool)), None)
    return (
        pools is not None and name.endswith("pool: size, MB") and any(one.startswith(pools) for one in lacks.settings)
    )


def _same(one: str | float | None, other: str | float | None) -> bool:
    return one == other if one is None or other is None else same(one, other)


def _advice(audits: "Iterable[Audit]", now: State) -> dict[str, str]:
    """Setting → the finding whose advice sets it; and of caches those that now hold what was to be bound elsewhere."""
    found: dict[str, str] = {}
    for audit in audits:
        for ranked in audit.findings:
            for change in ranked.finding.changes:
                for name in touched(change, now.settings):
                    found.setdefault(name, ranked.key)
                    home = now.settings.get(name) if name.startswith(BINDING) else None
                    for what in OF_A_CACHE if home is not None and home != change.old else ():
                        found.setdefault(f"cache {home}: {what}", ranked.key)
    return found


def advised(audits: "Iterable[Audit]", later: "Iterable[Audit]", before: Side, after: Side) -> tuple[Advised, ...]:
    """Each change that was advised before, once, and whether it is in force after.

    The setting itself tells, where it was collected. Else the advice of the after does: what it would change from the
    same value again is not in force, and what it would change from the value that was advised is.
    """
    was, now = state_of(before.facts), state_of(after.facts)
    changes = {
        one.key: (one, found.key) for audit in audits for found in audit.findings for one in found.finding.changes
    }
    again = {change.key: change for one in later for found in one.findings for change in found.finding.changes}
    told = []
    for change, finding in changes.values():
        binds = [other for other, _ in changes.values() if change.key in other.needs]
        became = _again(change, in_force(change, was, now, binds), again.get(change.key))
        told.append(Advised(change.target, change.old, change.new, became.applied, became.now, finding))
    return tuple(told)


def _again(change: Change, became: InForce, again: Change | None) -> InForce:
    if became.applied is not None or again is None or change.old is None or again.old is None:
        return became
    if change.new is not None and same(again.old, change.new):
        return InForce(True)
    return InForce(False) if same(again.old, change.old) else became


def came_and_went(before: "Sequence[Audit]", after: "Sequence[Audit]", names: Iterable[str] = ()) -> CameAndWent:
    """Hold the findings of two sides against each other; of several captures all findings count.

    `names` are what the sides call the system: a finding on the system itself is the same one under any of them.
    """
    names = {*(name.upper() for name in names), *UNNAMED}
    old = {_known(one.key, names): one.key for audit in before for one in audit.findings}
    new = {_known(one.key, names): one.key for audit in after for one in audit.findings}
    missing, fresh = [known for known in old if known not in new], [known for known in new if known not in old]
    judged, judged_before = _judged(after), _judged(before)
    return CameAndWent(
        gone=tuple(old[known] for known in missing if _rule(known) in judged),
        new=tuple(new[known] for known in fresh if _rule(known) in judged_before),
        still=tuple(new[known] for known in new if known in old),
        not_judged=tuple(old[known] for known in missing if _rule(known) not in judged),
        not_judged_before=tuple(new[known] for known in fresh if _rule(known) not in judged_before),
    )


def names_of(side: Side) -> set[str]:
    """What the user and the exports call the system of a side."""
    named = {one.system.name for one in side.captures}
    for one in side.captures:
        named |= {server.name for server in one.facts.every(Server) if server.name}
        named |= {node} if (node := node_name(one.facts)) else set()
    return named


def _known(key: str, names: set[str]) -> str:
    """The key, the system's own name left out where the finding is on the system itself."""
    rule, _, subject = key.partition(":")
    return f"{rule}:" if subject.upper() in names else key


def _rule(key: str) -> str:
    return key.split(":", 1)[0]


def _judged(audits: "Sequence[Audit]") -> set[str]:
    """The rules that an audit of a side could judge, of every object: with nothing missing.

    A rule that did not run at all (a database's, where no screens of it were collected) has judged nothing.
    """
    return {
        verdict.rule
        for audit in audits
        for verdict in audit.verdicts
        if verdict.verdict not in UNJUDGED and not (verdict.verdict == "fired" and verdict.missing)
    }
