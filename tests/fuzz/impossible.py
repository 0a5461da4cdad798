"""What no finding may say, whatever was read: figures and values that cannot be."""

import math
import re
from collections.abc import Iterator

from rules.audit import Audit
from rules.finding import Change, Finding
from rules.plausibility import bounds_of, least_of

MOST = 2.0**64
"""Larger figures are of no counter: spins since a boot reach 10^18 in a year of many engines."""
ROUNDING = 0.06
NOT_FINITE = re.compile(r"\b(?:nan|inf)\b")
WORD = 2**32

Fault = tuple[str, str, str]
"""Rule, what is wrong, and the figure it is wrong with: without the number, to be compared with the undamaged."""


def impossible(audits: list[Audit]) -> dict[Fault, str]:
    """Every impossible figure of every finding, with the number."""
    found: dict[Fault, str] = {}
    for audit in audits:
        processors = bounds_of(audit.capture.facts).processors or audit.capture.system.processors
        for ranked in audit.findings:
            for what, name, value in of_finding(ranked.finding, processors):
                found[ranked.rule, what, name] = value
    return found


def of_finding(finding: Finding, processors: float | None) -> Iterator[tuple[str, str, str]]:
    """What is wrong with one finding: what, with which figure, and its number."""
    for one in finding.evidence:
        if isinstance(one.value, str):
            continue
        said = f"{one.value:g} {one.unit}"
        if not math.isfinite(one.value) or abs(one.value) > MOST:
            yield "not finite", one.metric, said
        elif one.value < least_of(one.metric):
            yield "below zero", one.metric, said
        elif one.unit == "%" and one.value > 100 + ROUNDING:
            yield "above 100 %", one.metric, said
        elif one.unit.startswith("% of") and processors and one.value > 100 * processors + ROUNDING:
            yield "above all CPUs", one.metric, said
    if finding.cost:
        for name in ("processors", "low", "high"):
            value = getattr(finding.cost, name)
            if not math.isfinite(value) or value < 0 or (processors and value > processors * 1.01):
                yield "cost", name, f"{value:g} of {processors}"
    for change in finding.changes:
        yield from _of_change(change)
    if word := NOT_FINITE.search(finding.says):
        yield "says", word[0], finding.says[:200]


def _of_change(change: Change) -> Iterator[tuple[str, str, str]]:
    for name in ("old", "new"):
        value = getattr(change, name)
        least = least_of(change.target)
        if isinstance(value, int | float) and (not math.isfinite(value) or value < least or value >= WORD - 10):
            yield f"change {name}", change.key.split(":")[0], f"{change.target}: {value:g}"
