"""Stories: whole sets of exports, what a person claims of them, and what the machine says of every rule."""

from pathlib import Path
from typing import Any

import yaml

from advisor.services.auditing import run_audit
from advisor.services.reading import read_exports
from rules.audit import Audit
from tests.facts_yml import load

HERE = Path(__file__).parent / "audits"
STORIES = sorted(path.parent for path in HERE.glob("*/story.yml"))
MACHINE = "# What the machine says about every rule. Never edited by hand: `make accept` rewrites it.\n"


def audits_of(story: Path) -> list[Audit]:
    """Audit the exports of a story."""
    names = sorted(str(p) for p in story.rglob("*") if p.is_file() and p.name not in ("story.yml", "verdicts.yml"))
    inputs = read_exports(names, None)  # type: ignore[arg-type]  # no standard input here
    return run_audit(inputs, {}, load(story / "story.yml").get("name"))


def changes_of(audits: list[Audit]) -> list[str]:
    """Every change of every finding, as `target: old -> new`."""
    changes = [change for audit in audits for ranked in audit.findings for change in ranked.finding.changes]
    return [f"{change.target}: {change.old} -> {change.new}" for change in changes]


def verdicts_of(audits: list[Audit]) -> dict[str, Any]:
    """Every verdict by system and start, with subjects, severities and changes where a rule fired."""
    said: dict[str, Any] = {}
    for audit in audits:
        start = audit.capture.interval.start
        key = audit.capture.system.name + (f" {start.isoformat(sep=' ')}" if start else "")
        said[key] = {
            verdict.rule: verdict.verdict
            if not verdict.findings
            else {
                finding.subject: [finding.severity.label, finding.title]
                + [f"{change.target}: {change.old} -> {change.new}" for change in finding.changes]
                for finding in verdict.findings
            }
            for verdict in audit.verdicts
        }
    return said


def dump(said: dict[str, Any]) -> str:
    """Write the machine's verdicts as yml."""
    return MACHINE + yaml.safe_dump(said, sort_keys=True, allow_unicode=True, width=120)
