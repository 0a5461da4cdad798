"""The same system before and after: `tests/comparisons/<product>.yml`, or `<product>_<of what>.yml`.

Facts of both sides and what must be said.

Each case: `before` and `after` (facts; or a list of `{start, end, facts}` where a side has several captures or the
time matters), `verdict`, and of these what matters to the case: `score`, `unit` (of work), `decides` (key: ratio),
`better` and `worse` (keys), `within` (keys that are neither), `why` (words the reason holds), `not why`, `alike`
(part: similarity), `parts` (all of them), `gone`, `new`, `still`, `not judged`, `differs` (setting: [before, after]),
`changes` (target: in force or not), `normalised`. Systems may be given as `system: {name, platform, processors}` for
both, or in `after system` where they differ.
"""

from pathlib import Path
from typing import Any

import pytest

from collectors.facts import Capture, Facts, Interval, System
from rules.compare.compare import Comparison, compare
from tests import whole
from tests.facts_yml import build, load
from tests.varied import varied

HERE = Path(__file__).parent / "comparisons"
CASES = [
    pytest.param(path.stem, name, case, id=f"{path.stem}: {name}")
    for path in sorted(HERE.glob("*.yml"))
    for name, case in load(path).items()
]
ROUNDS = 4
"""In which the facts of a side are varied."""


@pytest.mark.parametrize(("file", "name", "case"), CASES)
def test_case_is_kept(file: str, name: str, case: dict[str, Any]) -> None:
    product = file.partition("_")[0]
    system = {"name": "ORKNEY", **case.get("system", {})}
    before = _side(product, case["before"], system)
    after = _side(product, case["after"], {**system, **case.get("after system", {})})
    found = compare(before, after)
    whole.check(f"comparisons/{file}", name, whole.parts_of(found))
    assert found.verdict == case["verdict"], found.why
    assert [one.capture for one in found.audits] == after
    _check_work(found, case)
    _check_changes(found, case)


@pytest.mark.long
@pytest.mark.mutants
@pytest.mark.parametrize(("file", "name", "case"), CASES)
def test_a_side_that_lacks_a_fact_or_has_another_figure_is_compared_as_accepted(
    file: str, name: str, case: dict[str, Any]
) -> None:
    whole.check(f"varied/comparisons/{file}", name, _varied(file, name, case))


def _varied(file: str, name: str, case: dict[str, Any]) -> dict[str, Any]:
    """What is said of a case whose first capture of either side differs in some rounds."""
    product = file.partition("_")[0]
    system = {"name": "ORKNEY", **case.get("system", {})}
    systems = {"before": system, "after": {**system, **case.get("after system", {})}}
    parts = {}
    for changed in systems:
        first, *others = _captures(case[changed])
        for what, facts in varied(first["facts"], f"{name} {changed}", rounds=range(ROUNDS)).items():
            sides = {**case, changed: [{**first, "facts": facts}, *others]}
            before, after = (_side(product, sides[side], systems[side]) for side in systems)
            found = compare(before, after)
            assert not [one for audit in found.audits for one in audit.verdicts if one.verdict == "broken"]
            parts[f"{changed}_{what}"] = whole.parts_of(found)
    return parts


def _captures(side: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return side if side and "facts" in side[0] else [{"facts": side}]


def _side(product: str, side: list[dict[str, Any]], system: dict[str, Any]) -> list[Capture]:
    return [_capture(product, one, system) for one in _captures(side)]


def _capture(product: str, one: dict[str, Any], system: dict[str, Any]) -> Capture:
    start, end = one.get("start"), one.get("end")
    seconds = (end - start).total_seconds() if start and end else None
    return Capture(
        System(product=product, **system), Interval(start, end, seconds), Facts(tuple(map(build, one["facts"])))
    )


def _check_work(found: Comparison, case: dict[str, Any]) -> None:
    by_key = {one.key: one for one in found.metrics}
    if "score" in case:
        assert found.score == pytest.approx(case["score"], abs=0.005)
    if "unit" in case:
        assert found.unit_of_work == case["unit"]
    if "decides" in case:
        assert {one.key: one.ratio for one in found.metrics if one.decides} == {
            key: ratio if ratio is None else pytest.approx(ratio, rel=0.005) for key, ratio in case["decides"].items()
        }
    for word, wanted in (("better", True), ("worse", False), ("within", None)):
        for key in case.get(word, []):
            assert by_key[key].better is wanted, f"{key}: {by_key[key]}"
    if "parts" in case:
        assert [one.part for one in found.parts] == case["parts"]
    for part, similarity in case.get("alike", {}).items():
        assert {one.part: one.similarity for one in found.parts}[part] == pytest.approx(similarity, abs=0.005)
    for words in case.get("why", []):
        assert words in found.why
    for words in case.get("bring", []):
        assert words in found.bring
    for words in case.get("not why", []):
        assert words not in found.why
    if "normalised" in case:
        assert (found.normalised or "").startswith(case["normalised"])


def _check_changes(found: Comparison, case: dict[str, Any]) -> None:
    for word, keys in (("gone", found.findings.gone), ("new", found.findings.new), ("still", found.findings.still)):
        if word in case:
            assert sorted(keys) == sorted(case[word])
    if "not judged" in case:
        assert sorted(found.findings.not_judged) == sorted(case["not judged"])
    if "differs" in case:
        assert {one.name: [one.before, one.after] for one in found.settings} == case["differs"]
    for target, applied in case.get("changes", {}).items():
        assert {one.target: one.applied for one in found.changes}[target] is applied
