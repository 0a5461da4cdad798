"""The order of findings, and which of them causes which."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from rules.engine import REGISTER
from rules.finding import Finding


@dataclass(frozen=True)
class Ranked:
    """One finding with the rule that made it, and the keys of the findings it explains."""

    rule: str
    finding: Finding
    explains: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """Rule and object: what an audit is compared by, and what a person mutes."""
        return f"{self.rule}:{self.finding.subject}"

    @property
    def sources(self) -> tuple[str, ...]:
        """The rule's links."""
        return REGISTER[self.rule].links


RDB = "rdb/"
"""Beginning of the rules whose findings are each of one database."""


def linked(found: list[Ranked]) -> list[Ranked]:
    """The findings in order, each with the keys of those that it explains; `explains` of a rule names rules."""
    by_rule: dict[str, list[Ranked]] = {}
    for ranked in found:
        by_rule.setdefault(ranked.rule, []).append(ranked)
    return rank([Ranked(one.rule, one.finding, _explained(one, by_rule)) for one in found])


def rank(found: Sequence[Ranked], lost: Mapping[str, float] | None = None) -> list[Ranked]:
    """Order findings: most capacity lost first, then severity, weight, multiple of the limit; effect after cause.

    `lost`: the account's share of the capacity by key of a finding, 0 to 1; without it what each finding itself costs
    counts. Spinlocks weigh what they spun; those without spins come after them by their share of waits.
    """
    sorted_ = sorted(found, key=lambda one: _rank(one, lost))
    ordered: list[Ranked] = []
    by_key = {ranked.key: ranked for ranked in sorted_}
    causes = causes_of((ranked.key, ranked.explains) for ranked in sorted_)
    placed: set[str] = set()

    def place(ranked: Ranked, above: frozenset[str]) -> None:
        """Put the causes first; a circle of explanations is cut where it closes."""
        if ranked.key in placed:
            return
        for cause in causes.get(ranked.key, ()):
            if cause not in above:
                place(by_key[cause], above | {ranked.key})
        if ranked.key not in placed:
            placed.add(ranked.key)
            ordered.append(ranked)

    for ranked in sorted_:
        place(ranked, frozenset({ranked.key}))
    return ordered


def causes_of(explains: Iterable[tuple[str, Iterable[str]]]) -> dict[str, list[str]]:
    """Key of a finding → keys of those that explain it, in their order; `explains`: of each what it explains."""
    causes: dict[str, list[str]] = {}
    for cause, explained in explains:
        for key in explained:
            if key != cause:
                causes.setdefault(key, []).append(cause)
    return causes


def first_cause(key: str, causes: Mapping[str, Sequence[str]], counted: Collection[str] = ()) -> str:
    """What causes a finding first of all; itself where nothing does. Of several causes the first one counts.

    The way up ends at one of `counted`, and a circle of explanations where it closes.
    """
    seen = {key}
    while key not in counted and (above := causes.get(key)) and above[0] not in seen:
        key = above[0]
        seen.add(key)
    return key


def reasons_of(findings: Iterable[Ranked]) -> dict[tuple[str, float | str | None], str]:
    """Key of a change and the value asked for → the title of the first finding that asks for it."""
    found: dict[tuple[str, float | str | None], str] = {}
    for ranked in findings:
        for change in ranked.finding.changes:
            found.setdefault((change.key, change.new), ranked.finding.title)
    return found


def _explained(one: Ranked, by_rule: Mapping[str, list[Ranked]]) -> tuple[str, ...]:
    """The keys of what a finding explains: of a rule all findings, of `rule:ending` those whose subject ends so.

    Within Oracle Rdb those of the same database alone: what one does to its locks makes nobody wait in another.
    """
    found: dict[str, None] = {}
    for name in one.finding.explains:
        rule, _, ending = name.partition(":")
        inside = one.rule.startswith(RDB) and rule.startswith(RDB)
        told = [other for other in by_rule.get(rule, ()) if one.finding.may_cause(other.finding)]
        found |= {
            other.key: None
            for other in told
            if other.key != one.key and (_of_same(one.finding, other.finding) if inside else other.key.endswith(ending))
        }
    return tuple(found)


def _of_same(cause: Finding, effect: Finding) -> bool:
    """Whether two findings are of one database; what causes may be of a node (`… on ORKNEY`) or a cache of it."""
    return cause.subject == effect.subject or cause.subject.startswith(f"{effect.subject} ")


def _rank(ranked: Ranked, lost: Mapping[str, float] | None) -> tuple[float, int, float, float, float, str]:
    """What a finding is sorted by; the least comes first."""
    found = ranked.finding
    cost = found.cost.processors if found.cost else 0.0
    capacity = cost if lost is None else lost.get(ranked.key, 0.0)
    weight = -math.inf if found.weight is None else found.weight
    return (-capacity, -found.severity, -weight, -_multiple(found), -(found.share or 0.0), ranked.key)


def _multiple(found: Finding) -> float:
    """How many times its limit the first figure is that was held against one; 0 where none was."""
    held = (one for one in found.evidence if one.limit and not isinstance(one.value, str))
    first = next(held, None)
    return float(first.value) / first.limit if first and first.limit else 0.0
