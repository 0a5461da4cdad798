"""What else differs: settings, advised changes that are in force now, findings that came and went."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from collectors.facts import Facts
from collectors.facts.ase import Server, TableScheme
from rules.changes.openvms_sysgen import PARAMETERS
from rules.finding import Change
from rules.judging.compared.sides import Side
from rules.judging.openvms.node import node_name
from rules.settings import settings_of

if TYPE_CHECKING:
    from rules.audit import Audit

PREFIXES = {"ase.config": "sp_configure: ", "openvms.sysgen": "SYSGEN: ", "ase.table": ""}
"""Beginning of a change's key → beginning of the setting it changes."""
UNJUDGED = ("unknown", "untrusted", "broken")
UNNAMED = ("SERVER", "NODE")
"""What findings call a system that no export names."""


@dataclass(frozen=True)
class Setting:
    """One setting that both sides tell and that differs."""

    name: str
    before: str | float
    after: str | float


@dataclass(frozen=True)
class Advised:
    """One change that was advised before, and whether the after has its new value."""

    target: str
    old: float | str | None
    new: float | str | None
    applied: bool | None
    """`None`: no export of the after tells."""


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


def settings_that_differ(before: Side, after: Side) -> tuple[Setting, ...]:
    """The release and the settings that both sides tell, where they differ; what one does not tell is no difference."""
    first, second = settings_of(before.facts), settings_of(after.facts)
    releases = before.newest.system.version, after.newest.system.version
    found = [Setting(name, first[name], second[name]) for name in second if name in first]
    if releases[0] and releases[1]:
        found.insert(0, Setting("release", releases[0], releases[1]))
    return tuple(one for one in found if not _same(one.before, one.after))


def advised(audits: "Iterable[Audit]", later: "Iterable[Audit]", after: Side) -> tuple[Advised, ...]:
    """Each change that was advised before, once, and whether it is in force after.

    The setting itself tells, where it was brought. Else the advice of the after does: what it would change from the
    same value again is not in force, and what it would change from the value that was advised is.
    """
    now = settings_of(after.facts) | _schemes(after.facts)
    changes = {change.key: change for one in audits for found in one.findings for change in found.finding.changes}
    again = {change.key: change for one in later for found in one.findings for change in found.finding.changes}
    return tuple(
        Advised(one.target, one.old, one.new, _in_force(one, now, again.get(one.key))) for one in changes.values()
    )


def _in_force(change: Change, now: dict[str, str | float], again: Change | None) -> bool | None:
    told = _applied(change, now)
    if told is not None or again is None or change.old is None or again.old is None:
        return told
    if change.new is not None and _same(again.old, change.new):
        return True
    return False if _same(again.old, change.old) else None


def _schemes(facts: Facts) -> dict[str, str | float]:
    """The lock schemes of tables, under the keys of the changes of them."""
    return {f"{one.database}.{one.owner}.{one.table}:lock scheme": one.scheme for one in facts.every(TableScheme)}


def _applied(change: Change, now: dict[str, str | float]) -> bool | None:
    """Whether the setting has the advised value; `None` where it was not brought, or is of no kind known here."""
    kind, _, name = change.key.partition(":")
    if kind == "openvms.cpu":
        return _stopped(name.rpartition(":")[2], now)
    name = name.rpartition(":")[2] if kind == "openvms.sysgen" else name  # behind the name of its node
    value = now.get(f"{PREFIXES[kind]}{name}") if kind in PREFIXES else None
    if value is None or change.new is None:
        return None
    if kind == "ase.table" and change.old == "allpages":  # whichever of the two it became, the advice was taken
        return _plain(value) in ("datapages", "datarows")
    known = PARAMETERS.get(name) if kind == "openvms.sysgen" else None
    at_least = known is not None and known.computed  # a MIN_ line is a floor: AUTOGEN may go beyond it
    if at_least and isinstance(value, float) and isinstance(change.new, int | float):
        return value >= change.new
    return _same(value, change.new)


def _stopped(cpu: str, now: dict[str, str | float]) -> bool | None:
    state = now.get(f"CPU {cpu}: state")
    return None if state is None else str(state).strip().upper() != "RUN"


def _same(one: str | float, other: str | float) -> bool:
    """Whether two values are the same: as numbers where both are, else as words."""
    return _plain(one) == _plain(other)


def _plain(value: str | float) -> str | float:
    try:
        number = float(value)
    except ValueError:
        return str(value).strip().lower()
    return number if math.isfinite(number) else str(value).strip().lower()


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

    A rule that did not run at all (a database's, where no screens of it were brought) has judged nothing.
    """
    return {
        verdict.rule
        for audit in audits
        for verdict in audit.verdicts
        if verdict.verdict not in UNJUDGED and not (verdict.verdict == "fired" and verdict.missing)
    }
