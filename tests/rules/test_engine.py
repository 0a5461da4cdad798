"""The loop around the rules: one verdict each, and a rule that fails does not stop the others."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest

from collectors.facts import Capture, Facts, Interval, Source, System, is_command
from collectors.facts.ase import LockHashtable, Server
from collectors.facts.scaling import LoadPoint, LoadSeries
from rules.engine import BadLimit, Rule, check_names, judge, judge_one, limit, limits_for, percent, rules
from rules.finding import (
    Change,
    Clean,
    Effect,
    Evidence,
    Finding,
    MissingInput,
    NotApplicable,
    Outcome,
    Severity,
    Unknown,
    Untrusted,
)
from tests.test_findings import CASES, verdict_of


@dataclass(frozen=True)
class Limits:
    percent: float = limit(10.0, "this project: for the test", high=100)
    count: int = limit(3, "this project: for the test", low=1)


def made(check: Callable[[Facts, Any], Iterable[Outcome]]) -> Rule:
    return Rule("ase/made_up", "Title.", (LockHashtable,), (), (), Limits, check)


TABLE = Facts((LockHashtable(table="address"),))


def says(*outcomes: Outcome) -> Rule:
    def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
        yield from outcomes

    return made(check)


def finding(subject: str = "X") -> Finding:
    return Finding(subject, Severity.WARNING, f"title of {subject}", "", ())


def test_without_the_needed_fact_the_verdict_is_unknown_and_says_what_to_bring() -> None:
    verdict = judge_one(says(Clean("fine")), Facts(), {})
    assert verdict.verdict == "unknown"
    assert verdict.missing == (MissingInput("ase.LockHashtable", LockHashtable.COLLECTED_BY),)


def test_a_rule_that_raises_is_broken() -> None:
    def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
        yield Clean("first")
        raise ZeroDivisionError("no grabs")

    assert judge_one(made(check), TABLE, {}).verdict == "broken"
    assert "no grabs" in judge_one(made(check), TABLE, {}).why


def test_a_rule_that_reads_an_undeclared_fact_is_broken() -> None:
    def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
        yield Clean(str(facts.every(Server)))

    assert "ase.Server" in judge_one(made(check), TABLE, {}).why


def test_a_rule_that_says_nothing_is_broken_not_clean() -> None:
    assert judge_one(says(), TABLE, {}).verdict == "broken"


@pytest.mark.parametrize(
    ("outcomes", "verdict"),
    [
        ((Clean("c"), finding(), Unknown(())), "fired"),
        ((Clean("c"), Untrusted("u"), Unknown(())), "untrusted"),
        ((Clean("c"), Unknown((), "no figure")), "unknown"),
        ((NotApplicable("n"), Clean("c")), "clean"),
        ((NotApplicable("n"),), "not-applicable"),
    ],
)
def test_of_several_objects_the_loudest_verdict_wins(outcomes: tuple[Outcome, ...], verdict: str) -> None:
    assert judge_one(says(*outcomes), TABLE, {}).verdict == verdict


def test_a_finding_keeps_what_is_missing_beside_it() -> None:
    lacking = MissingInput("ratio", "sp_configure")
    verdict = judge_one(says(finding("A"), finding("B"), Unknown((lacking,)), Unknown((lacking,))), TABLE, {})
    assert verdict.missing == (lacking,)
    assert verdict.why == "title of A; title of B"


def test_a_limit_that_is_a_share_goes_to_100_and_says_of_what() -> None:
    told = {"origin": "this project: for the test", "low": 1, "high": 100, "unit": "% of requests"}
    assert percent(10.0, "this project: for the test", low=1, of="requests").metadata == told
    assert percent(10.0, "this project: for the test").metadata["unit"] == "%"


def test_types_that_two_parts_of_a_rule_look_at_count_once() -> None:
    assert [one.id for one in rules() if len(set(one.uses)) < len(one.uses)] == []


def test_a_site_sets_a_limit_within_its_range() -> None:
    one = says(Clean("fine"))
    assert limits_for(one, {"ase/made_up.percent": 5.0, "ase/made_up.count": 7.0}) == Limits(5.0, 7)
    with pytest.raises(BadLimit, match="outside 0 to 100"):
        limits_for(one, {"ase/made_up.percent": 101.0})


@pytest.mark.parametrize(
    "name", ["nonsense", "ase/no_such_rule.percent", "ase/address_lock_spinlock_contended.nothing"]
)
def test_a_limit_that_does_not_exist_is_refused(name: str) -> None:
    with pytest.raises(BadLimit):
        check_names({name: 1.0})


def test_every_rule_of_the_product_gives_exactly_one_verdict() -> None:
    for product in ("ase", "openvms"):
        verdicts = judge(Capture(System("X", product), Interval(), Facts()))
        assert [verdict.rule for verdict in verdicts] == [one.id for one in rules() if one.product == product]


def test_the_rules_for_load_series_speak_where_there_is_one() -> None:
    points = tuple(LoadPoint(load=float(n), rate=10.0 * n) for n in range(1, 8))
    series = LoadSeries(title="t", load_name="users", rate_name="throughput", points=points)
    verdicts = judge(Capture(System("X", "openvms"), Interval(), Facts((series,))))
    assert {"openvms", "scaling"} == {verdict.rule.split("/")[0] for verdict in verdicts}


def test_what_any_rule_asks_for_is_a_command_or_begins_in_lower_case() -> None:
    asked = {lack.command for path, name in CASES for lack in verdict_of(path, name).missing}
    asked |= {kind.COLLECTED_BY for one in rules() for kind in (*one.needs, *one.uses)}
    assert len(asked) > 20
    for bring in asked:
        remark = re.split(r" -- | ! |/\*", bring)[0]
        if is_command(bring):  # nothing but the command stands outside of a remark
            assert not re.search(r"\b(?:with|of|at|and|a)\b", re.sub(r"'[^']*'|\"[^\"]*\"", "", remark)), bring
        else:
            assert bring[0].islower(), bring
            assert not bring.startswith(("sp_", "select ")), bring


def test_what_was_read_by_a_recalled_layout_is_never_advised_firmly() -> None:
    unsure, sure = Source("traces/spl.txt", 4, 9, tentative=True), Source("t4.csv", 1, 2)
    change = Change("k", "X", 1, 2, ("$ SET X",), ("$ SET Y",), Effect.ONLINE, cautions=("Look first.",))
    loud = Finding("X", Severity.CRITICAL, "t", "Says.", (Evidence("m", 1, "%", unsure),), changes=(change,))
    firm = replace(loud, subject="Y", evidence=(Evidence("m", 1, "%", sure, computed="from these lines"),))
    soft, kept = judge_one(says(loud, firm), TABLE, {}).findings
    assert soft.severity is Severity.ADVICE
    assert soft.says.startswith("Says. Read tentatively: the layout of traces/spl.txt")
    assert soft.changes[0].cautions[0].startswith("Read tentatively")
    assert soft.changes[0].cautions[1] == "Look first."
    assert kept == firm


def test_a_tentative_note_stays_a_note() -> None:
    note = replace(finding(), severity=Severity.NOTE, evidence=(Evidence("m", 1, "%", Source("f", 1, 1, True)),))
    assert judge_one(says(note), TABLE, {}).findings[0].severity is Severity.NOTE


def test_what_the_rule_says_without_the_tentative_facts_stands() -> None:
    sure, unsure = Source("show.txt", 1, 2), Source("trace.txt", 4, 9, tentative=True)
    both = Facts((LockHashtable(source=sure, table="address"), LockHashtable(source=unsure, table="fglock")))
    kept = Change("k", "X", 1, 2, ("$ SET X",), ("$ SET Y",), Effect.ONLINE)
    added = replace(kept, key="l")

    def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
        found = facts.every(LockHashtable)
        yield Finding(
            "X",
            Severity.WARNING,
            f"{len(found)} tables",
            "Says.",
            tuple(Evidence("m", 1, "%", one.source, computed="here") for one in found),
            changes=(kept, added)[: len(found)],
        )
        if unsure in [one.source for one in found]:
            yield Finding("Y", Severity.WARNING, "t", "Says.", (Evidence("m", 1, "%", unsure, computed="here"),))

    firm, alone = judge_one(made(check), both, {}).findings
    assert (firm.severity, firm.title) == (Severity.WARNING, "1 tables")
    assert "the layout of trace.txt:4-9 is recalled" in firm.says
    assert firm.changes[0] == kept
    assert firm.changes[1].cautions[0].startswith("Read tentatively")
    assert len(firm.evidence) == 2
    assert alone.severity is Severity.ADVICE


def test_a_tentative_figure_may_show_why_something_is_no_matter() -> None:
    sure, unsure = Source("show.txt", 1, 2), Source("trace.txt", 4, 9, tentative=True)
    both = Facts((LockHashtable(source=sure, table="address"), LockHashtable(source=unsure, table="fglock")))

    def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
        found = facts.every(LockHashtable)
        loud = Severity.NOTE if len(found) > 1 else Severity.CRITICAL
        proof = tuple(Evidence("m", 1, "%", one.source, computed="here") for one in found)
        yield Finding("X", loud, "t", "Says.", proof)

    assert judge_one(made(check), both, {}).findings[0].severity is Severity.NOTE
