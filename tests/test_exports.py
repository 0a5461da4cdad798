"""What each reader must read: `tests/exports/<product>/<report>/x.txt` beside `x.yml`.

The yml says, all optional: `facts` (each must be found, with just these fields looked at), `counts` (how many of a
kind), `none` (kinds that must not come out), `problems` (a piece of each, in order), `leftovers` (line ranges;
none unless said), `reports` (all that are found in the file, in order; else the one of its folder). An export that is
no text is built from what the yml says under `recording`, see `tests.recordings`.
"""

from collections import Counter
from collections.abc import Iterable
from io import BytesIO
from pathlib import Path
from random import Random
from typing import Any

import pytest

from collectors.faults import OURS
from collectors.intake import open_all
from collectors.read import read_all, read_stream
from tests.facts_yml import load, matches
from tests.fuzz.damage import damaged
from tests.recordings import build
from tests.whole import check, check_inputs, names

HERE = Path(__file__).parent / "exports"
CASES = sorted(HERE.glob("*/*/*.yml"))
SHORT = 100_000
"""Bytes of a text that is read so often."""
TEXTS = {
    case: path
    for case in CASES
    for path in case.parent.glob(case.stem + ".*")
    if path.suffix != ".yml" and path.stat().st_size < SHORT
}
DAMAGES = 6
"""Of each text; `tests.fuzz` tries more, and whether what comes out can be."""
MORE = range(DAMAGES, 60)
"""What `make test-all` tries besides."""


@pytest.mark.parametrize("case", CASES, ids=[str(case.relative_to(HERE).with_suffix("")) for case in CASES])
def test_export_is_read_as_its_yml_says(case: Path, tmp_path: Path) -> None:
    want = load(case)
    if "recording" in want:
        export = tmp_path / want["recording"].get("name", "MONITOR.DAT")
        export.write_bytes(build(want["recording"]))
    else:
        (export,) = [path for path in case.parent.glob(case.stem + ".*") if path.suffix != ".yml"]
    inputs = list(read_all(open_all([str(export)], None)))  # type: ignore[arg-type]  # no standard input here
    facts = [fact for found in inputs for fact in found.facts]
    check_inputs(f"exports/{case.parent.parent.name}", f"{case.parent.name}/{case.stem}", inputs)
    report = f"{case.parent.parent.name}/{case.parent.name}"
    assert [found.report for found in inputs] == want.get("reports", [report])
    for item in want.get("facts", []):
        same_kind = [fact for fact in facts if fact.fact_name() == item["fact"]]
        assert any(matches(fact, item) for fact in same_kind), f"not read: {item}\nbut: {same_kind}"
    counts = Counter(fact.fact_name() for fact in facts)
    assert {kind: counts[kind] for kind in want.get("counts", {})} == want.get("counts", {})
    for kind in want.get("none", []):
        assert not counts[kind], f"{kind} must not come out"
    problems = [problem for found in inputs for problem in found.problems]
    pieces = want.get("problems", [])
    assert len(problems) == len(pieces), problems
    for problem, piece in zip(problems, pieces, strict=True):
        assert piece in problem
    leftovers = [[run.first, run.last] for found in inputs for run in found.leftovers]
    assert leftovers == want.get("leftovers", []), [run for found in inputs for run in found.leftovers]


@pytest.mark.parametrize("case", TEXTS, ids=[str(case.relative_to(HERE).with_suffix("")) for case in TEXTS])
def test_a_damaged_export_is_read_as_accepted(case: Path) -> None:
    parts = {f"damage{way}": found for way, found in enumerate(_damaged(case, range(DAMAGES)))}
    check(f"damaged/{case.parent.parent.name}", f"{case.parent.name}/{case.stem}", parts)


@pytest.mark.long
@pytest.mark.mutants
@pytest.mark.parametrize("case", TEXTS, ids=[str(case.relative_to(HERE).with_suffix("")) for case in TEXTS])
def test_an_export_with_any_of_many_damages_is_read_as_accepted(case: Path) -> None:
    check(f"damaged_more/{case.parent.parent.name}", f"{case.parent.name}/{case.stem}", {"more": _damaged(case, MORE)})


def _damaged(case: Path, ways: Iterable[int]) -> list[Any]:
    """What is read of a text in each of the ways in which it is damaged."""
    text = TEXTS[case].read_bytes().decode("utf-8", "replace")
    found = []
    for way in ways:
        data = damaged(text, Random(f"{case.stem}:{way}")).encode("utf-8", "replace")
        inputs = list(read_stream(TEXTS[case].name, BytesIO(data)))
        assert not [problem for one in inputs for problem in one.problems if OURS in problem]
        found.append([(one.report, one.facts, one.problems, one.leftovers) for one in inputs])
    return found


def test_of_every_export_it_is_accepted_what_is_read_of_it() -> None:
    accepted = {
        f"{path.stem}/{name}"
        for path in HERE.parent.glob("accepted/exports/*.txt")
        for name in names(f"exports/{path.stem}")
    }
    assert {str(case.relative_to(HERE).with_suffix("")) for case in CASES} == accepted, "look, then `make accept`"
