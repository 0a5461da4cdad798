"""What the rules said in an audit: their verdict, and where their findings stand on its page."""

from collections.abc import Sequence
from dataclasses import dataclass

from advisor.audits.models import Audit

LONGEST = 400
"""Characters of a reason that a view prints; the page of the audit has it whole."""


@dataclass(frozen=True)
class RuleVerdicts:
    """One rule in one audit."""

    rule: str
    word: str
    """Its verdict; empty where the rule has not run."""
    why: str
    """Its reason; where it only lacks exports, which."""
    findings: tuple[tuple[int, str], ...]
    """Place in the audit and title of each of its findings."""
    sets: float | None = None
    """What its first change sets, where that is a number."""


def rule_verdicts_of(audit: Audit, rules: Sequence[str]) -> list[RuleVerdicts]:
    """What each of these rules said, in their order."""
    verdicts = {one["rule"]: one for one in audit.verdicts}
    found = list(audit.findings.filter(rule__in=rules).order_by("number"))
    said = []
    for rule in rules:
        own = [one for one in found if one.rule == rule]
        verdict = verdicts.get(rule, {})
        why = str(verdict.get("why", ""))
        if not why and (lacking := dict.fromkeys(lack["bring"] for lack in verdict.get("missing", ()))):
            why = f"wants {'; '.join(lacking)}"
        changes = [change["to"] for one in own for change in one.data["changes"]]
        first = changes[0] if changes else None
        said.append(
            RuleVerdicts(
                rule,
                str(verdict.get("verdict", "")),
                why[:LONGEST] + ("…" if len(why) > LONGEST else ""),
                tuple((one.number, one.data["title"]) for one in own),
                float(first) if isinstance(first, int | float) else None,
            )
        )
    return said
