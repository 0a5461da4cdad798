"""The guard of the engine: what is impossible is told as untrusted with its line, whatever rule said it."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from collectors.facts import Facts, Source
from collectors.facts.ase import LockHashtable, SysmonSample
from collectors.facts.openvms import ProcessorModes
from rules.engine import Rule, judge_one
from rules.finding import Change, Cost, Effect, Evidence, Expectation, Finding, Outcome, RefusedValue, Severity
from rules.plausibility import Kind, kind_of

HERE = Source("export.txt", 7, 7)
EIGHT_CPUS = ProcessorModes(statistic="mean", cpus=8.0, source=HERE)
TEN_MINUTES = SysmonSample(seconds=600.0, source=HERE)
ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Limits:
    pass


def said(*findings: Finding, facts: tuple[Any, ...] = (EIGHT_CPUS, TEN_MINUTES)) -> Any:
    def check(_: Facts, __: Any) -> Iterator[Outcome]:
        yield from findings

    made = Rule("ase/made_up", "Title.", (), (LockHashtable,), (), Limits, check)
    return judge_one(made, Facts(facts), {})


def found(value: float = 1.0, unit: str = "", **more: Any) -> Finding:
    evidence = (Evidence("figure", value, unit, HERE),)
    return Finding("S", more.pop("severity", Severity.WARNING), "title", "says", evidence, **more)


def test_a_cost_that_cannot_be_is_told_with_its_place_where_there_is_one() -> None:
    cost = Cost(9.0, 9.0, 9.0)
    with_place = said(found(cost=cost))
    without = said(
        Finding("S", Severity.WARNING, "title", "says", (Evidence("figure", 1.0, "", Source("", 0, 0)),), cost=cost)
    )
    assert with_place.why.startswith("S: a cost of 9 processors, and there are 8 (export.txt:7): it cannot be")
    assert without.why.startswith("S: a cost of 9 processors, and there are 8: it cannot be")


def test_a_parameter_may_be_as_low_as_it_is_taken() -> None:
    def given(value: float) -> Finding:
        return Finding("S", Severity.NOTE, "title", "says", (Evidence("PE1", value, "", HERE),))

    assert said(given(-1.0)).verdict == "fired"
    assert said(given(-2.0)).verdict == "untrusted"


@pytest.mark.parametrize(
    ("value", "unit"),
    [
        (100.4, "%"),
        (100.9, "% of lock operations"),
        (800.0, "% of one CPU"),
        (8.0, "CPUs"),
        (490_199.0, "lock operations per second"),
        (5e8, "/s"),
        (599.0, "s"),
        (4e6, "ms, all tasks together"),
        (4_294_960_000.0, ""),
        (351.0, "% per hour"),
        (-12.0, "% more"),
        (0.0, "%"),
    ],
)
def test_what_can_be_is_given_out(value: float, unit: str) -> None:
    assert said(found(value, unit)).verdict == "fired"


@pytest.mark.parametrize(
    ("value", "unit", "why"),
    [
        (147.0, "%", "above 100 %"),
        (252.2, "% of the time", "above 100 %"),
        (-0.5, "%", "below zero"),
        (-7.0, "", "below zero"),
        (900.0, "% of one CPU", "more than 8 processors have"),
        (8.2, "CPUs", "more than 8 processors are"),
        (9e8, "/s", "more than 8 processors can do"),
        (83e12, "operations per second", "more than 8 processors can do"),
        (700.0, "s", "longer than the 600 s"),
        (700_000.0, "ms", "longer than the 600 s"),
        (float("nan"), "", "no figure"),
        (float("inf"), "", "no figure"),
        (4_294_967_290.0, "", "just below 2^32"),
        (18_446_744_073_709_551_000.0, "waits", "just below 2^64"),
        (2.4e15, "MHz", "that any processor has"),
    ],
)
def test_what_cannot_be_is_untrusted_with_figure_and_line(value: float, unit: str, why: str) -> None:
    verdict = said(found(value, unit))
    assert verdict.verdict == "untrusted"
    assert why in verdict.why
    assert "export.txt:7" in verdict.why
    assert not verdict.findings


def test_a_cost_above_the_processors_is_untrusted_and_a_range_above_them_is_cut() -> None:
    assert "a cost of 9 processors, and there are 8" in said(found(cost=Cost(9, 9, 9))).why
    (finding,) = said(found(cost=Cost(7, 6, 11))).findings
    assert finding.cost == Cost(7, 6, 8)


def test_without_any_number_of_processors_no_machine_has_five_thousand() -> None:
    assert said(found(cost=Cost(5000, 5000, 5000)), facts=()).verdict == "untrusted"
    assert said(found(cost=Cost(60, 60, 60)), facts=()).verdict == "fired"


def test_an_expectation_that_is_no_figure_is_untrusted() -> None:
    assert said(found(expects=(Expectation("chain", 3.0, float("inf"), "arithmetic"),))).verdict == "untrusted"


@pytest.mark.parametrize(
    ("key", "value", "verdict"),
    [
        ("openvms.sysgen:NODE:RESHASHTBL", 4_294_967_290.0, "untrusted"),
        ("ase.restart:lock spinlock ratio", -1.0, "untrusted"),
        ("ase.restart:some parameter nobody here knows", 4_294_967_290.0, "untrusted"),
        ("ase.restart:some parameter nobody here knows", 7.0, "fired"),
        ("ase.config:global cache partition number", 3.0, "untrusted"),
        ("ase.config:lock address spinlock ratio", 5.0, "fired"),
        ("openvms.sysgen:RESHASHTBL", 33_554_432.0, "untrusted"),
        ("openvms.sysgen:PE1", -1.0, "fired"),
        ("rdb.database:some clause", float("nan"), "untrusted"),
    ],
)
def test_a_value_that_the_system_would_refuse_is_never_given_out(key: str, value: float, verdict: str) -> None:
    change = Change(key, key, 1.0, value, ("set",), ("back",), Effect.RESTART)
    assert said(found(changes=(change,))).verdict == verdict


def test_a_value_in_force_that_cannot_be_is_no_way_back_and_one_under_the_minimum_is() -> None:
    for old, verdict in ((-1.0, "untrusted"), (4_294_967_290.0, "untrusted"), (512.0, "fired")):
        change = Change("ase.config:lock hashtable size", "size", old, 4096.0, ("set",), ("back",), Effect.RESTART)
        assert said(found(changes=(change,))).verdict == verdict


def test_a_value_refused_while_the_rule_works_it_out_keeps_what_the_rule_said_before() -> None:
    def check(_: Facts, __: Any) -> Iterator[Outcome]:
        yield found()
        raise RefusedValue("number of open objects 2.5e+15: 100 to 2147483647")

    verdict = judge_one(Rule("ase/made_up", "Title.", (), (), (), Limits, check), Facts(()), {})
    assert verdict.verdict == "fired"
    assert "2.5e+15" in verdict.why


@pytest.mark.parametrize(
    ("cost", "severity", "loud"),
    [
        (Cost(1.1, 1.0, 1.2), Severity.WARNING, Severity.CRITICAL),
        (Cost(1.0, 0.9, 1.1), Severity.WARNING, Severity.WARNING),
        (Cost(1.0, 0.9, 1.1), Severity.CRITICAL, Severity.CRITICAL),
        (Cost(1.0, 0.9, 1.1), Severity.ADVICE, Severity.ADVICE),
        (Cost(0.4, 0.3, 0.5), Severity.CRITICAL, Severity.WARNING),
        (Cost(0.1, 0.1, 0.2), Severity.CRITICAL, Severity.ADVICE),
        (Cost(0.004, 0.0, 0.009), Severity.CRITICAL, Severity.NOTE),
        (Cost(0.5, 0.01, 2.0), Severity.WARNING, Severity.WARNING),
        (Cost(1.0, 0.9, 1.1, of_capture=False), Severity.WARNING, Severity.WARNING),
        (Cost(1.0, 0.9, 1.1), Severity.NOTE, Severity.NOTE),
    ],
    ids=[
        "a tenth lost",
        "a tenth, less than one processor",
        "the rule says so itself",
        "the rule advises",
        "4 % lost",
        "1 % lost",
        "not measurable",
        "a wide range",
        "of a test run",
        "the rule doubts it",
    ],
)
def test_what_is_lost_decides_how_loud(cost: Cost, severity: Severity, loud: Severity) -> None:
    (finding,) = said(found(cost=cost, severity=severity)).findings
    assert finding.severity is loud


def test_every_unit_written_in_a_rule_is_one_that_the_guard_bounds_or_a_plain_amount() -> None:
    """A new unit is looked at once: is it a share, a rate, a time of one task? Then it must be read as that."""
    plain = {unit for unit in _units() if kind_of(unit) is Kind.AMOUNT}
    assert plain <= AMOUNTS, f"say what these measure (rules/plausibility.py), or list them here: {plain - AMOUNTS}"


def _units() -> Iterator[str]:
    for path in (ROOT / "rules").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Evidence":
                unit = node.args[2] if len(node.args) > 2 else None
                if isinstance(unit, ast.Constant) and isinstance(unit.value, str):
                    yield unit.value


AMOUNTS = {
    *("", "MB", "KB", "pages", "×", "times", "% more", "% per hour", "nodes", "users", "waiters", "locks", "resources"),
    *("entries", "resources per bucket", "km (upper bound)", "databases", "areas", "deadlocks", "events", "stalls"),
    *("rows", "tasks", "processes", "spins", "engines", "s so far", "s, begun before", "s of all tasks"),
    *("calls", "MHz", "points", "buckets", "pairs", "bytes", "hours", "days"),
    *("blocks", "pagelets", "buffers", "journals"),
}
