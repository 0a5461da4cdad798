"""What each rule must say: `rules/<product>/examples/<rule>.yml`, named cases over plain facts.

A case: `facts`, optional `limits`, and exactly one of `fires`, `clean`, `unknown`, `untrusted`, `not_applicable`.
Under `fires` stands one entry per finding: `subject`, and any of `severity`, `title`, `says` (or one of its parts:
`seen`, `because`, `do`, `unknown`) and `never_says` (pieces), `changes` (target: [old, new]), `apply` (pieces of the
script), `undo`, `cautions`, `expects` (metric: [before, after]), `takes_effect`, `cost`, `evidence` (metric: value),
`held_against` (metric: limit), `cites` (metric: first line), `explains`, `urgent`, `once`, `weight`, `no_changes`,
`no_cost`, `no_expects`. Beside any of them `missing`: pieces of what to bring.
"""

import re
from collections.abc import Hashable
from copy import deepcopy
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest

from collectors.facts import Facts
from rules.changes.rdb_clauses import CLAUSES
from rules.engine import BadLimit, judge_one, rules
from rules.finding import Finding, Severity, Verdict
from tests import whole
from tests.facts_yml import build, load
from tests.varied import each, turning_points, uneven, varied

ROOT = Path(__file__).resolve().parent.parent
FILES = sorted((ROOT / "rules").glob("*/examples/*.yml"))
LOADED = {path: load(path) for path in FILES}
"""Once: a file of forty cases would else be parsed forty times."""
CASES = [(path, name) for path, cases in LOADED.items() for name in cases]
FIGURE = re.compile(r"\d[\d,.]*")
TURNED = 12
"""Exhibits of each rule of which every figure is turned: of all of them it would take half an hour."""
QUIET = {"clean": "clean", "unknown": "unknown", "untrusted": "untrusted", "not_applicable": "not-applicable"}


def rule_of(path: Path) -> str:
    """`rules/ase/examples/blocked_chain.yml` → `ase/blocked_chain`."""
    return f"{path.parents[1].name}/{path.stem}"


RULES = {one.id: one for one in rules()}


def judged(path: Path, case: dict[str, Any]) -> Verdict:
    rule_id = rule_of(path)
    one = RULES[rule_id]
    overrides = {f"{rule_id}.{name}": value for name, value in (case.get("limits") or {}).items()}
    return judge_one(one, Facts(tuple(build(item) for item in case["facts"])), overrides)


@cache
def verdict_of(path: Path, name: str) -> Verdict:
    """What is said of a case as it stands; once for all tests of it in this process."""
    return judged(path, deepcopy(LOADED[path][name]))


@pytest.mark.parametrize(("path", "name"), CASES, ids=[f"{rule_of(p)}: {n}" for p, n in CASES])
def test_rule_says_what_its_exhibit_claims(path: Path, name: str) -> None:
    case, verdict = LOADED[path][name], verdict_of(path, name)
    parts = [whole.parts_of(finding) for finding in verdict.findings]
    of_each = {part: [other.get(part) for other in parts] for one in parts for part in one}
    silence = {"verdict": (verdict.verdict, verdict.why, verdict.missing)}
    whole.check(f"rules/{rule_of(path)}", name, {**silence, **of_each})
    wanted = [key for key in ("fires", *QUIET) if key in case]
    assert len(wanted) == 1, "a case claims exactly one verdict"
    if wanted != ["fires"]:
        assert verdict.verdict == QUIET[wanted[0]], verdict
        said = verdict.why + " " + " ".join(f"{lack.fact} {lack.command}" for lack in verdict.missing)
        for piece in as_list(case[wanted[0]]):
            assert piece in said
    else:
        assert verdict.verdict == "fired", verdict
        assert [finding.subject for finding in verdict.findings] == [want["subject"] for want in case["fires"]]
        subjects = [finding.subject for finding in verdict.findings]
        assert len(set(subjects)) == len(subjects), "of two findings with one key an audit shows the first alone"
        for finding, want in zip(verdict.findings, case["fires"], strict=True):
            compare(finding, want)
    for piece in as_list(case.get("missing", [])):
        assert any(piece in f"{lack.fact} {lack.command}" for lack in verdict.missing), verdict.missing


@pytest.mark.parametrize("path", FILES, ids=map(rule_of, FILES))
def test_a_figure_exactly_at_its_limit_is_judged_as_accepted(path: Path) -> None:
    one = RULES[rule_of(path)]
    parts: dict[str, list[Any]] = {}
    for told, case in [(told, case) for told, case in LOADED[path].items() if "fires" in case]:
        own = {field.name: field.default for field in one.limit_fields} | (case.get("limits") or {})
        figures = [e for f in verdict_of(path, told).findings for e in f.evidence] if own.keys() - parts.keys() else []
        for name in own.keys() - parts.keys():
            at = next((e.value for e in figures if e.limit == own[name] and not isinstance(e.value, str)), None)
            if at is not None:
                more = at + 1 if isinstance(own[name], int) else 1.01 * at
                parts[name] = [_with_limit(path, case, name, limit) for limit in (at, more)]
    whole.check(f"limits/{path.parents[1].name}", path.stem, {name: parts[name] for name in sorted(parts)})


def _with_limit(path: Path, case: dict[str, Any], name: str, limit: float) -> list[str]:
    """What is said of a case where this limit is another."""
    try:
        verdict = judged(path, {**case, "limits": {**(case.get("limits") or {}), name: limit}})
    except BadLimit as no_limit:
        return [str(no_limit)]
    return [verdict.verdict, *(f"{one.severity.label}: {one.title}" for one in verdict.findings)]


def test_limits_and_values_that_clauses_take_have_the_accepted_bounds() -> None:
    for one in rules():
        fields = {field.name: [field.default, dict(field.metadata)] for field in one.limit_fields}
        whole.check("limits/bounds", one.id, fields)
    for name, clause in CLAUSES.items():
        whole.check("limits/clauses", name, whole.parts_of(clause))


@pytest.mark.parametrize("path", FILES, ids=map(rule_of, FILES))
def test_an_exhibit_that_lacks_a_fact_or_has_another_figure_breaks_no_rule(path: Path) -> None:
    for name in LOADED[path]:
        whole.check(f"varied/{rule_of(path)}", name, _varied(path, name, 0))


@pytest.mark.long
@pytest.mark.mutants
@pytest.mark.parametrize("path", FILES, ids=map(rule_of, FILES))
def test_an_exhibit_in_other_ways_is_judged_as_accepted(path: Path) -> None:
    for name in LOADED[path]:
        whole.check(f"varied_more/{rule_of(path)}", name, {"more": _varied(path, name, 1)})


def _varied(path: Path, name: str, number: int) -> dict[str, Any]:
    """What is said of a case whose facts are varied in one round."""
    case, parts = LOADED[path][name], {}
    others = {other: one["facts"] for other, one in LOADED[path].items() if other != name}
    for what, facts in varied(case["facts"], name, others, [number]).items():
        verdict = judged(path, {**case, "facts": facts})
        assert verdict.verdict != "broken", (name, verdict.why, facts)
        said = [whole.parts_of(finding) for finding in verdict.findings]
        parts[what] = [verdict.verdict, verdict.why, verdict.missing, said]
    return parts


@pytest.mark.long
@pytest.mark.mutants
@pytest.mark.parametrize("path", FILES, ids=map(rule_of, FILES))
def test_an_exhibit_that_differs_in_any_one_place_is_judged_as_accepted(path: Path) -> None:
    for name, case in LOADED[path].items():
        parts: dict[str, Any] = {}
        for what, facts in each(case["facts"]):
            verdict = judged(path, {**case, "facts": facts})
            assert verdict.verdict != "broken", (name, what, verdict.why)
            if verdict != verdict_of(path, name):
                said = [whole.parts_of(finding) for finding in verdict.findings]
                parts[what] = [verdict.verdict, verdict.why, verdict.missing, said]
        whole.check(f"each/{rule_of(path)}", name, {"each": parts})


@pytest.mark.long
@pytest.mark.mutants
@pytest.mark.parametrize("path", FILES, ids=map(rule_of, FILES))
def test_an_exhibit_turns_into_another_at_the_accepted_figures(path: Path) -> None:
    known: set[Hashable] = set()
    # by name, so that a case that is added changes few of them
    for name in sorted(LOADED[path], key=lambda one: blake2b(one.encode()).digest())[:TURNED]:
        case = LOADED[path][name]

        def without_figures(facts: Any, case: dict[str, Any] = case) -> tuple[Any, ...]:
            verdict = judged(path, {**case, "facts": facts})
            told = [f"{one.severity} {one.subject} {one.title} {one.says} {one.changes}" for one in verdict.findings]
            return (verdict.verdict, *(FIGURE.sub("", text) for text in told))

        points = turning_points(case["facts"], without_figures, known)
        whole.check(f"turning/{rule_of(path)}", name, {"points": points})


@pytest.mark.parametrize("path", FILES, ids=map(rule_of, FILES))
def test_figures_that_do_not_come_out_even_are_rounded_as_accepted(path: Path) -> None:
    for name, case in LOADED[path].items():
        verdict = judged(path, {**case, "facts": uneven(case["facts"], name)})
        assert verdict.verdict != "broken", (name, verdict.why)
        of_each = {f"finding{at}": whole.parts_of(finding) for at, finding in enumerate(verdict.findings)}
        whole.check(
            f"uneven/{rule_of(path)}", name, {"verdict": (verdict.verdict, verdict.why, verdict.missing), **of_each}
        )


BY_SHARE = {
    *(f"ase/{name}_spinlock_contended" for name in ("lock_hash", "object_manager", "user_log_cache")),
    *(f"ase/{name}" for name in ("allpages_table_contended", "data_cache_too_small", "log_io_size_unfit")),
    *("ase/reads_slow", "ase/run_queue_long"),
}
"""Rules that have another figure without a time, which is below its limit."""


@pytest.mark.parametrize("path", FILES, ids=map(rule_of, FILES))
def test_what_fires_by_a_rate_is_not_in_order_where_nothing_tells_how_long_it_took(path: Path) -> None:
    for name, case in LOADED[path].items():
        loud = [one for one in verdict_of(path, name).findings if one.severity is not Severity.NOTE]
        headless = [item for item in case["facts"] if "ase.SysmonSample" not in item]
        for facts in ([_timeless(item) for item in case["facts"]], headless):
            if loud and facts != case["facts"] and rule_of(path) not in BY_SHARE:
                assert judged(path, {**case, "facts": facts}).verdict != "clean", name


def _timeless(item: dict[str, Any]) -> dict[str, Any]:
    """The same fact where nothing tells how long its interval was."""
    lengths = {"seconds", "seconds_low", "seconds_high"}
    return {
        kind: {name: value for name, value in fields.items() if name not in lengths}
        if fields.get("over") == "interval"
        else fields
        for kind, fields in item.items()
    }


def test_of_every_exhibit_it_is_accepted_what_comes_out_whole() -> None:
    for path, cases in LOADED.items():
        assert set(cases) == whole.names(f"rules/{rule_of(path)}"), f"{path.name}: look, then `make accept`"


FLOORS = ("size of default data cache in force", "cache hits", "[LCK73]Busy %")
"""How figures begin of which less is what speaks."""


def decides(finding: Finding) -> bool:
    """Whether the figure that a short text puts beside the severity speaks for it, and is not one below its limit."""
    limited = [one for one in finding.evidence if one.limit is not None and not isinstance(one.value, str)]
    quiet = not limited or finding.severity is Severity.NOTE or limited[0].metric.startswith(FLOORS)
    return quiet or any(float(one.value) >= (one.limit or 0) for one in limited)


def compare(finding: Finding, want: dict[str, Any]) -> None:
    assert decides(finding)
    for part in ("title", "says", "seen", "because", "do", "unknown"):
        for piece in as_list(want.get(part, [])):
            assert piece in getattr(finding, part), part
    for piece in as_list(want.get("never_says", [])):
        assert piece not in finding.says
    if "severity" in want:
        assert finding.severity.label == want["severity"]
    if "cost" in want:
        assert finding.cost is not None
        assert [round(v, 2) for v in (finding.cost.processors, finding.cost.low, finding.cost.high)] == want["cost"]
    if "urgent" in want:
        assert finding.urgent is want["urgent"]
    if "once" in want:
        assert finding.once is want["once"]
    if "weight" in want:
        assert finding.weight == want["weight"]
    if want.get("no_expects"):
        assert not finding.expects
    if want.get("no_cost"):
        assert finding.cost is None
    changes = {change.target: [change.old, change.new] for change in finding.changes}
    for target, values in want.get("changes", {}).items():
        assert changes.get(target) == values, changes
    if want.get("no_changes"):
        assert not finding.changes
    for word, way in (("apply", "script"), ("undo", "way_back"), ("cautions", "cautions")):
        script = "\n".join(line for change in finding.changes for line in getattr(change, way))
        for piece in as_list(want.get(word, [])):
            assert piece in script, script
    for piece in as_list(want.get("conditions", [])):
        assert any(piece in change.condition for change in finding.changes), finding.changes
    if "takes_effect" in want:
        assert {change.takes_effect.value for change in finding.changes} == {want["takes_effect"]}
    expects = {e.metric: [e.before, e.after] for e in finding.expects}
    for metric, values in want.get("expects", {}).items():
        assert expects.get(metric) == values, expects
    evidence = {e.metric: e.value for e in finding.evidence}
    for metric, value in want.get("evidence", {}).items():
        assert (
            evidence.get(metric) == pytest.approx(value) if isinstance(value, float) else evidence.get(metric) == value
        )
    held_against = {e.metric: e.limit for e in finding.evidence}
    for metric, value in want.get("held_against", {}).items():
        assert held_against.get(metric) == value, held_against
    cited = {e.metric: e.source.first for e in finding.evidence}
    for metric, line in want.get("cites", {}).items():
        assert cited.get(metric) == line, cited
    for explained in want.get("explains", []):
        assert explained in finding.explains
    if want.get("explains") == []:
        assert not finding.explains


def as_list(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value)
