"""What an answer is made of: figures now and then, each with its basis, and what the audit says of the same thing."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from advisor.audits.models import Audit
from rules.laws.binding import collisions

ARITHMETIC, LAW, HEURISTIC, NONE = "arithmetic", "law", "heuristic", "none"
LONGEST = 12
"""Digits of a number that is asked with: no parameter takes more."""
EVENLY = "if the load spreads evenly over the spinlocks and stays what it is; one hot bucket or page is not spread"


@dataclass(frozen=True)
class Line:
    """One figure now and then; `None`: cannot be said, and `how` says why."""

    what: str
    now: float | None
    then: float | None
    unit: str
    basis: str
    """`arithmetic`, `law` (a fitted model), `heuristic`, or `none`: then there is no figure for then."""
    how: str


@dataclass(frozen=True)
class Said:
    """What the rules said of the same setting in this audit."""

    rule: str
    word: str
    """Their verdict; empty where the rule has not run."""
    why: str
    number: int | None = None
    """The place of the finding that holds the script, in the audit."""
    to: float | str | None = None
    """The value that script sets."""


@dataclass(frozen=True)
class Answer:
    """The answer to one question."""

    what: str
    asked: str
    """`100 → 5`."""
    refused: str = ""
    """Why the server would not take it; then there are no lines."""
    lines: tuple[Line, ...] = ()
    effect: str = ""
    memory_mb: float | None = None
    """Memory it takes (negative: gives back); `None` where that cannot be said."""
    memory_said: str = ""
    remarks: tuple[str, ...] = ()
    cannot: tuple[str, ...] = ()
    """What cannot be computed, and why."""
    bring: tuple[str, ...] = ()
    said: Said | None = None


class BadNumber(ValueError):
    """What was typed is no whole number; the message says so."""


def whole(typed: str) -> int | None:
    """The number that was typed, `None` for nothing. Raises `BadNumber`."""
    text = typed.strip().replace(",", "")
    if not text:
        return None
    if len(text) > LONGEST or not text.isascii() or not text.isdigit():
        raise BadNumber("a whole number of at most 12 digits is wanted")
    return int(text)


def contention_line(what: str, now: float | None, before: float, after: float, source: str) -> Line:
    """The share of grabs that wait, eased or worsened as the number of spinlocks moves: practice, no law.

    `before` and `after`: spinlocks, now and then. Waits for each grab grow with the rate of a spinlock. A share that
    would come to more than a third of the grabs is not printed: there the straight line has ended.
    """
    if now is None:
        return Line(what, None, None, "%", NONE, f"how contended it is now is not known: {source}")
    then = now * before / after
    if then > max(now, 100.0 / 3):
        return Line(what, now, None, "%", NONE, "higher than now, and no source says how much")
    return Line(what, now, round(then, 2), "%", HEURISTIC, f"{EVENLY}. Now: {source}")


def meeting_line(before: int, after: int) -> Line:
    """The chance that two searches at one moment want the same one of so many spinlocks."""
    now, then = 100 * collisions([(1.0, before)]), 100 * collisions([(1.0, after)])
    return Line(
        "chance that two uses at one moment want the same spinlock",
        float(f"{now:.4g}"),
        float(f"{then:.4g}"),
        "%",
        ARITHMETIC,
        "1 in as many as there are spinlocks, if uses spread evenly",
    )


@dataclass(frozen=True)
class Judgement:
    """What the audit holds, in a form that questions can be held against."""

    verdicts: Mapping[str, dict[str, Any]]
    changes: Mapping[str, tuple[int, Any, str]]
    """By key of a change: the finding's place, the new value, its rule."""
    findings: tuple[tuple[int, str, str], ...]
    """Place, rule and subject of each."""

    def said(self, rule: str, key: str, subject: str | None = None) -> Said:
        """The verdict of a rule, and the finding that holds the change of this key.

        Where none does: the rule's finding about `subject`, which then has no script for it.
        """
        verdict = self.verdicts.get(rule, {})
        number, to, of = self.changes.get(key, (None, None, rule))
        if of != rule:
            verdict = self.verdicts.get(of, {})
        if number is None and subject is not None:
            number = next((at for at, by, what in self.findings if by == rule and subject in ("", what)), None)
        why = str(verdict.get("why", ""))
        return Said(of, str(verdict.get("verdict", "")), why[:600] + ("…" if len(why) > 600 else ""), number, to)


def judgement_of(audit: Audit) -> Judgement:
    """Read it from the stored audit."""
    findings = list(audit.findings.only("number", "rule", "subject", "data", "audit"))
    changes: dict[str, tuple[int, Any, str]] = {}
    for one in findings:
        for change in one.data["changes"]:
            changes.setdefault(change["key"], (one.number, change["to"], one.rule))
    return Judgement(
        {one["rule"]: one for one in audit.verdicts},
        changes,
        tuple((one.number, one.rule, one.subject) for one in findings),
    )
