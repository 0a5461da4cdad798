"""What each reader must read: `tests/exports/<product>/<report>/x.txt` beside `x.yml`.

The yml says, all optional: `facts` (each must be found, with just these fields looked at), `counts` (how many of a
kind), `none` (kinds that must not come out), `problems` (a piece of each, in order), `leftovers` (line ranges;
none unless said), `sources` (other reports found in the same file). An export that is no text is built from what the
yml says under `recording`, see `tests.recordings`.
"""

from collections import Counter
from pathlib import Path

import pytest

from collectors.intake import open_all
from collectors.read import read_all
from tests.facts_yml import load, matches
from tests.recordings import build
from tests.whole import check_inputs, names

HERE = Path(__file__).parent / "exports"
CASES = sorted(HERE.glob("*/*/*.yml"))


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


def test_of_every_export_it_is_accepted_what_is_read_of_it() -> None:
    accepted = {
        f"{path.stem}/{name}"
        for path in HERE.parent.glob("accepted/exports/*.txt")
        for name in names(f"exports/{path.stem}")
    }
    assert {str(case.relative_to(HERE).with_suffix("")) for case in CASES} == accepted, "look, then `make accept`"
