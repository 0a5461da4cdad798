"""Exports from before a change, and from after it: folders `before` and `after` beside `story.yml`.

Those of `advisor/examples/comparisons/` are among the examples that `make run` brings, those of
`tests/comparisons/stories/` are not.

`story.yml` is a person's claim, read from the files as `manage.py compare` reads them: `story` (prose), `verdict`,
`unit` (of work), `decides` (key: ratio), `within` (keys that are in the noise), and of these what matters: `interval`
(key: [low, high] of its ratio, roughly), `score`, `why` (words of the reason), `bring` (words), `gone`, `new`, `still`
(findings), `changes` (target of what was advised: in force or not), `differs` (setting: [before, after]).
"""

from pathlib import Path

import pytest

from advisor.audits.services.pairing import sides
from advisor.uploads.services.reading import captures_of, read_exports
from collectors.facts import Capture
from rules.compare.compare import Comparison, compare
from tests import whole
from tests.facts_yml import load

TESTS = Path(__file__).resolve().parent
ROOMS = (TESTS / "comparisons" / "stories", TESTS.parent / "advisor" / "examples" / "comparisons")
STORIES = sorted((path.parent for room in ROOMS for path in room.glob("*/story.yml")), key=lambda story: story.name)


@pytest.mark.parametrize("story", STORIES, ids=[story.name for story in STORIES])
def test_story_of_before_and_after_is_kept(story: Path) -> None:
    claim = load(story / "story.yml")
    before, after, _ = sides(_captures(story / "before"), _captures(story / "after"), None)
    found = compare(before, after)
    whole.check("comparisons/stories", story.name, whole.parts_of(found))
    metrics = {one.key: one for one in found.metrics}
    assert found.verdict == claim["verdict"], found.why
    assert found.unit_of_work == claim["unit"]
    assert {one.key: one.ratio for one in found.metrics if one.decides} == {
        key: pytest.approx(ratio, rel=0.005) for key, ratio in claim["decides"].items()
    }
    for key in claim.get("within", []):
        assert metrics[key].better is None, metrics[key]
    for key, ends in claim.get("interval", {}).items():
        noise = metrics[key].noise
        assert noise is not None
        assert (noise.low, noise.high) == pytest.approx(ends, abs=0.02)
    if "score" in claim:
        assert found.score == pytest.approx(claim["score"], abs=0.005)
    for words, said in (("why", found.why), ("bring", " ".join(found.bring))):
        assert not [word for word in claim.get(words, []) if word not in said], said
    _check_changes(found, claim)


def _check_changes(found: Comparison, claim: dict[str, object]) -> None:
    findings = {"gone": found.findings.gone, "new": found.findings.new, "still": found.findings.still}
    assert {word: sorted(keys) for word, keys in findings.items() if keys} == {
        word: sorted(claim[word])  # type: ignore[call-overload]  # of a .yml
        for word in findings
        if word in claim
    }
    assert {one.target: one.applied for one in found.changes} == claim.get("changes", {})
    assert {one.name: [one.before, one.after] for one in found.settings} == claim.get("differs", {})


def _captures(folder: Path) -> list[Capture]:
    inputs = read_exports([str(folder)], None)  # type: ignore[arg-type]  # no standard input here
    assert not [problem for one in inputs for problem in one.problems]
    return captures_of(inputs, None)


def test_there_are_stories_of_several_products() -> None:
    assert len({story.name.partition("_")[0] for story in STORIES}) >= 4, ROOMS
