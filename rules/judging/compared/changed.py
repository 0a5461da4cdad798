"""What else differs: settings, advised changes that are in force now, findings that came and went."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from collectors.facts import Facts
from collectors.facts.ase import TableScheme
from rules.finding import Change
from rules.judging.compared.sides import Side
from rules.settings import settings_of

if TYPE_CHECKING:
    from rules.audit import Audit

PREFIXES = {"ase.config": "sp_configure: ", "openvms.sysgen": "SYSGEN: ", "ase.table": ""}
"""Beginning of a change's key → beginning of the setting it changes."""
UNJUDGED = ("unknown", "untrusted", "broken")
MOST_SETTINGS = 200
"""Differences that are listed: beyond that it is another machine."""


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
    """Settings that both sides tell, where they differ; what one side does not tell is no difference."""
    first, second = settings_of(before.facts), settings_of(after.facts)
    both = (name for name in second if name in first and first[name] != second[name])
    return tuple(Setting(name, first[name], second[name]) for name in both)[:MOST_SETTINGS]


def advised(audits: "Iterable[Audit]", later: "Iterable[Audit]", after: Side) -> tuple[Advised, ...]:
    """Each change that was advised before, once, and whether it is in force after; what is advised again is not."""
    now = settings_of(after.facts) | _schemes(after.facts)
    changes = {change.key: change for one in audits for found in one.findings for change in found.finding.changes}
    again = {change.key for one in later for found in one.findings for change in found.finding.changes}
    return tuple(
        Advised(one.target, one.old, one.new, False if one.key in again else _applied(one, now))
        for one in changes.values()
    )


def _schemes(facts: Facts) -> dict[str, str | float]:
    """The lock schemes of tables, under the keys of the changes of them."""
    return {f"{one.database}.{one.owner}.{one.table}:lock scheme": one.scheme for one in facts.every(TableScheme)}


def _applied(change: Change, now: dict[str, str | float]) -> bool | None:
    kind, _, name = change.key.partition(":")
    name = name.rpartition(":")[2] if kind == "openvms.sysgen" else name  # behind the name of its node
    value = now.get(f"{PREFIXES[kind]}{name}") if kind in PREFIXES else None
    if value is None or change.new is None:
        return None
    if kind == "ase.table":  # datapages or datarows: whichever of the two it became, the advice was taken
        return _plain(value) != _plain(change.old or "")
    return _plain(value) == _plain(change.new)


def _plain(value: str | float) -> str:
    return f"{float(value):g}" if re.fullmatch(r"-?\d+(?:\.\d+)?", str(value)) else str(value).strip().lower()


def came_and_went(before: "Sequence[Audit]", after: "Sequence[Audit]") -> CameAndWent:
    """Hold the findings of two sides against each other; of several captures all findings count."""
    old = list(dict.fromkeys(one.key for audit in before for one in audit.findings))
    new = list(dict.fromkeys(one.key for audit in after for one in audit.findings))
    missing, fresh = [key for key in old if key not in new], [key for key in new if key not in old]
    silent, silent_before = _silent(after), _silent(before)
    return CameAndWent(
        gone=tuple(key for key in missing if _rule(key) not in silent),
        new=tuple(key for key in fresh if _rule(key) not in silent_before),
        still=tuple(key for key in new if key in old),
        not_judged=tuple(key for key in missing if _rule(key) in silent),
        not_judged_before=tuple(key for key in fresh if _rule(key) in silent_before),
    )


def _rule(key: str) -> str:
    return key.split(":", 1)[0]


def _silent(audits: "Sequence[Audit]") -> set[str]:
    """The rules that no audit of a side could judge."""
    judged = {verdict.rule for audit in audits for verdict in audit.verdicts if verdict.verdict not in UNJUDGED}
    return {verdict.rule for audit in audits for verdict in audit.verdicts} - judged
