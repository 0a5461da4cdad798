"""The inputs that came out wrong in version 0.6.0 (`../shared/cases`, where it is there) against `cases/claims.yml`.

The project's own fixtures hold the same principles with figures of their own (rules/*/examples, advisor/examples);
these are the very files, so that none of them is ever told wrong again.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from advisor.audits.report.data import audit_data
from advisor.audits.services.auditing import run_audit
from advisor.uploads.services.reading import read_exports
from rules.finding import Severity
from tests.facts_yml import load
from tests.test_findings import as_list

CASES = Path(__file__).parents[2] / "shared" / "cases"
CLAIMS: dict[str, dict[str, Any]] = load(Path(__file__).parent / "cases" / "claims.yml")
LOUD = {severity.label: severity for severity in Severity}


@pytest.mark.skipif(not CASES.is_dir(), reason="the shared cases are not beside this checkout")
@pytest.mark.parametrize("name", CLAIMS)
def test_what_came_out_wrong_comes_out_right(name: str) -> None:
    claim, inputs = CLAIMS[name], read_exports([str(CASES / name)], None)  # type: ignore[arg-type]  # no standard input
    audits = run_audit(inputs, {}, None)
    data = audit_data(inputs, audits)
    found = [one for capture in data["captures"] for one in capture["findings"]]
    fired: dict[str, list[str]] = {}
    for one in found:
        fired.setdefault(one["rule"], []).append(one["severity"])
    verdicts = {one["rule"]: one["verdict"] for capture in data["captures"] for one in capture["verdicts"]}
    assert "broken" not in verdicts.values(), [v for v in verdicts if verdicts[v] == "broken"]
    for rule in claim.get("fires", []):
        assert rule in fired, sorted(fired)
    for rule, severity in claim.get("as_loud_as", {}).items():
        assert max(LOUD[one] for one in fired.get(rule, ["note"])) >= LOUD[severity], fired
    for rule, severity in claim.get("at_most", {}).items():
        assert max(LOUD[one] for one in fired.get(rule, ["note"])) <= LOUD[severity], fired
    if "loudest" in claim:
        assert max((LOUD[one["severity"]] for one in found), default=Severity.NOTE) <= LOUD[claim["loudest"]], fired
    assert not set(claim.get("silent", [])) & set(fired), fired
    for rule, verdict in claim.get("verdict", {}).items():
        assert verdicts[rule] == verdict
    said = "\n".join(f"{one['title']}\n{one['says']}" for one in found)
    if "first_says" in claim:
        assert claim["first_says"] in found[0]["title"], [one["title"] for one in found]
    changes = [f"{c['target']}: {plain(c['from'])} -> {plain(c['to'])}|" for one in found for c in one["changes"]]
    scripts = "\n".join(line for one in found for c in one["changes"] for line in (*c["apply"], *c["undo"]))
    for piece in as_list(claim.get("changes", [])):
        assert any(piece in change for change in changes), changes
    if claim.get("no_changes") is True:
        assert not changes
    else:
        for piece in as_list(claim.get("no_changes", [])):
            assert not [change for change in changes if piece in change]
    for piece in as_list(claim.get("says", [])):
        assert piece in said
    figures = [(figure["metric"], figure["value"]) for one in found for figure in one["evidence"]]
    for piece in as_list(claim.get("never_says", [])):
        assert piece not in said.replace(name.rpartition("/")[2], "") + scripts + str(figures)
    for piece in as_list(claim.get("scripts", [])):
        assert piece in scripts, scripts
    problems = " ".join(problem for one in inputs for problem in one.problems)
    for piece in as_list(claim.get("problems", [])):
        assert piece in problems
    for piece in as_list(claim.get("no_problems", [])):
        assert piece not in problems
    for piece in as_list(claim.get("anywhere", [])):
        assert piece in json.dumps(data, ensure_ascii=False)


def plain(value: Any) -> str:
    return f"{value:g}" if isinstance(value, int | float) else str(value)
