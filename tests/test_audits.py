"""Here is a system, here is what is wrong with it: `tests/audits/<story>/`, exports beside `story.yml`.

`story.yml` is a person's claim: `story` (prose), `fires` (rule: subjects, or rule: {subject: severity}), `silent`
(rules that would be a false alarm here), `unknown` (rules that must ask for more), `untrusted` (rules whose figures
must not be believed), `quiet_above` (no finding louder than this severity), `says` (rule: words its findings must hold)
and `changes` (every change that is proposed, `target: old -> new`; [] where none may be). `verdicts.yml` is what the
machine said of all rules when somebody last looked.
"""

from pathlib import Path

import pytest

from rules.finding import Severity
from tests.facts_yml import load
from tests.stories import HERE, STORIES, audits_of, changes_of, dump, verdicts_of


@pytest.mark.parametrize("story", STORIES, ids=[story.name for story in STORIES])
def test_story_is_kept(story: Path) -> None:
    claim = load(story / "story.yml")
    audits = audits_of(story)
    fired: dict[str, dict[str, str]] = {}
    quiet: dict[str, set[str]] = {}
    for audit in audits:
        for verdict in audit.verdicts:
            assert verdict.verdict != "broken", verdict
            quiet.setdefault(verdict.verdict, set()).add(verdict.rule)
            for finding in verdict.findings:
                fired.setdefault(verdict.rule, {})[finding.subject] = finding.severity.label
    for rule, subjects in claim.get("fires", {}).items():
        assert rule in fired, f"{rule} did not fire"
        assert sorted(fired[rule]) == sorted(subjects)
        if isinstance(subjects, dict):
            assert fired[rule] == subjects
    for rule in claim.get("silent", []):
        assert rule not in fired, f"{rule} would be a false alarm: {fired[rule]}"
    for kind in ("unknown", "untrusted"):
        assert set(claim.get(kind, [])) <= quiet.get(kind, set()), f"not {kind}"
    for rule, words in claim.get("says", {}).items():
        told = " ".join(r.finding.title + " " + r.finding.says for a in audits for r in a.findings if r.rule == rule)
        assert not [word for word in words if word not in told], f"{rule}: {told}"
    if "changes" in claim:
        assert sorted(changes_of(audits)) == sorted(claim["changes"])
    if "quiet_above" in claim:
        loudest = Severity[claim["quiet_above"].upper()]
        louder = [r.finding.title for audit in audits for r in audit.findings if r.finding.severity > loudest]
        assert not louder
    assert dump(verdicts_of(audits)) == (story / "verdicts.yml").read_text("utf-8"), "changed: look, then `make accept`"


def test_there_are_stories() -> None:
    assert len(STORIES) >= 4
    assert all((story / "verdicts.yml").exists() for story in STORIES), HERE
