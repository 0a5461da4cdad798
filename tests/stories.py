"""Stories: whole sets of exports, what a person claims of them, and what the machine says of every rule.

A `.yml` with the key `recording` stands for a MONITOR recording, which is binary: `tests.recordings` builds it.
"""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml

from advisor.audits.services.auditing import run_audit
from advisor.uploads.services.reading import read_exports
from collectors.read import Input
from rules.audit import Audit
from tests.facts_yml import load
from tests.recordings import build

HERE = Path(__file__).resolve().parent.parent / "advisor" / "examples" / "audits"
STORIES = sorted(path.parent for path in HERE.glob("*/story.yml"))
MACHINE = "# What the machine says about every rule. Never edited by hand: `make accept` rewrites it.\n"


def audits_of(story: Path) -> list[Audit]:
    """Audit the exports of a story."""
    return run_audit(inputs_of(story), {}, load(story / "story.yml").get("name"))


def inputs_of(story: Path) -> list[Input]:
    """Read the exports of a story."""
    paths = sorted(
        path for path in story.rglob("*") if path.is_file() and path.name not in ("story.yml", "verdicts.yml")
    )
    with TemporaryDirectory() as folder:
        names = [str(_recorded(path, Path(folder)) if path.suffix == ".yml" else path) for path in paths]
        return read_exports(names, None)  # type: ignore[arg-type]  # no standard input here


def _recorded(path: Path, folder: Path) -> Path:
    """The recording that a `.yml` describes, built."""
    said = load(path)["recording"]
    built = folder / str(said.get("name", f"{path.stem.upper()}.DAT"))
    built.write_bytes(build(said))
    return built


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
            verdict.rule: {
                finding.subject: [finding.severity.label, finding.title]
                + [f"{change.target}: {change.old} -> {change.new}" for change in finding.changes]
                for finding in (one.finding for one in audit.findings if one.rule == verdict.rule)
            }
            or verdict.verdict
            for verdict in audit.verdicts
        }
    return said


def dump(said: dict[str, Any]) -> str:
    """Write the machine's verdicts as yml."""
    return MACHINE + yaml.safe_dump(said, sort_keys=True, allow_unicode=True, width=120)
