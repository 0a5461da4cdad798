"""Here is a system, here is what is wrong with it: `advisor/examples/audits/<story>/`, exports beside `story.yml`.

`story.yml` is a person's claim: `story` (prose), `fires` (rule: subjects, or rule: {subject: severity}), `silent`
(rules that would be a false alarm here), `unknown` (rules that must ask for more), `untrusted` (rules whose figures
must not be believed), `quiet_above` (no finding louder than this severity), `says` (rule: words its findings must
hold), `explains` (rule: rules that its findings explain), `changes` (every change that is proposed, `target: old ->
new`; [] where none may be), `plan` (the changes of each step in their order, by the last part of their keys), `script`
(change: what the script of its step holds, in this order) and `problems` (what the readers must have said).
`verdicts.yml` is what the machine said of all rules when somebody last looked.
"""

from pathlib import Path

import pytest

from advisor.audits.services.auditing import run_audit
from rules.finding import Severity
from tests import whole
from tests.facts_yml import load
from tests.fuzz.mutants import Origin
from tests.stories import HERE, STORIES, changes_of, dump, inputs_of, verdicts_of

DAMAGES = 4


@pytest.mark.parametrize("story", STORIES, ids=[story.name for story in STORIES])
def test_story_is_kept(story: Path) -> None:
    claim, inputs = load(story / "story.yml"), inputs_of(story)
    audits = run_audit(inputs, {}, claim.get("name"))
    whole.check_inputs("stories/read", story.name, inputs)
    for at, audit in enumerate(audits, 1):
        whole.check("stories/said", f"{story.name} {at}", whole.parts_of(audit))
    fired: dict[str, dict[str, str]] = {}
    quiet: dict[str, set[str]] = {}
    for audit in audits:
        for verdict in audit.verdicts:
            assert verdict.verdict != "broken", verdict
            quiet.setdefault(verdict.verdict, set()).add(verdict.rule)
        for one in audit.findings:
            fired.setdefault(one.rule, {})[one.finding.subject] = one.finding.severity.label
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
    for rule, effects in claim.get("explains", {}).items():
        named = {key.partition(":")[0] for a in audits for r in a.findings if r.rule == rule for key in r.explains}
        assert set(effects) <= named, f"{rule} explains {sorted(named)}"
    steps = [step for audit in audits for step in audit.plan.steps]
    keys = [[key.rpartition(":")[2] for key in step.change_keys] for step in steps]
    if "plan" in claim:
        assert keys == claim["plan"]
    for change, lines in claim.get("script", {}).items():
        (script,) = [step.apply for step, named in zip(steps, keys, strict=True) if change in named]
        places = [script.find(line) for line in lines]
        assert places == sorted(place for place in places if place >= 0), (
            f"{change}: {dict(zip(lines, places, strict=True))}"
        )
    if "changes" in claim:
        assert sorted(changes_of(audits)) == sorted(claim["changes"])
    problems = " ".join(problem for one in inputs for problem in one.problems)
    assert not [words for words in claim.get("problems", []) if words not in problems], problems
    if "quiet_above" in claim:
        loudest = Severity[claim["quiet_above"].upper()]
        louder = [r.finding.title for audit in audits for r in audit.findings if r.finding.severity > loudest]
        assert not louder
    assert dump(verdicts_of(audits)) == (story / "verdicts.yml").read_text("utf-8"), "changed: look, then `make accept`"


@pytest.mark.long
@pytest.mark.mutants
@pytest.mark.parametrize("story", STORIES, ids=[story.name for story in STORIES])
def test_a_story_with_a_damaged_export_or_without_one_is_judged_as_accepted(story: Path) -> None:
    origin = Origin(story)
    said = {f"damage{seed}": origin.mutant(seed, ()) for seed in range(DAMAGES)}
    said |= {f"without{at}": _without(origin.files, name) for at, name in enumerate(sorted(origin.files)[:DAMAGES])}
    judged = {what: run_audit(origin.read(files), {}, origin.system) for what, files in said.items()}
    assert not [one for audits in judged.values() for a in audits for one in a.verdicts if one.verdict == "broken"]
    parts = {what: [whole.parts_of(audit) for audit in audits] for what, audits in judged.items()}
    whole.check("stories/damaged", story.name, parts)


def _without(files: dict[str, bytes], name: str) -> dict[str, bytes]:
    return {other: data for other, data in files.items() if other != name}


def test_there_are_stories() -> None:
    assert len(STORIES) >= 4
    assert all((story / "verdicts.yml").exists() for story in STORIES), HERE
