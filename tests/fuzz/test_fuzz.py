"""A few hundred mutants of every run; `python -m tests.fuzz` tries thousands. What fails names its source and seed."""

import io
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.audits.services.auditing import run_audit
from collectors.facts import Source
from collectors.faults import OURS
from collectors.read import read_stream
from rules.finding import Change, Cost, Effect, Evidence, Finding, Severity
from tests.fuzz.damage import WAYS
from tests.fuzz.impossible import of_finding
from tests.fuzz.mutants import EXPORTS, Origin, foreign, origins
from tests.longer import first_of

SEEDS = 2
"""Of each source."""


@first_of(1, "seed", range(SEEDS))
@pytest.mark.parametrize("origin", origins(), ids=lambda origin: origin.name)
def test_a_mutant_of_every_source_breaks_nothing(origin: Origin, seed: int) -> None:
    assert not origin.faults(seed)


def test_a_mutant_is_made_again_from_its_seed() -> None:
    origin = Origin(EXPORTS[0])
    assert origin.mutant(7) == origin.mutant(7)
    assert len({str(origin.mutant(seed)) for seed in range(20)}) > 10


def test_every_way_of_damage_damages() -> None:
    text = ("one  1,234.5 2.5  7\n" + "two  20 30  8 ".ljust(90, ".") + "\nthree  40 50  9\n") * 3
    for way in WAYS:
        assert any(way(text.split("\n"), random.Random(seed)) != text.split("\n") for seed in range(20)), way.__name__


def test_what_cannot_be_is_seen() -> None:
    where = Source("x", 1, 1)
    evidence = (
        Evidence("contention", 994.3, "%", where),
        Evidence("of one CPU", 300.0, "% of one CPU", where),
        Evidence("too much", 900.0, "% of one CPU", where),
        Evidence("spins", float("inf"), "/s", where),
        Evidence("waits", -1.0, "", where),
        Evidence("fine", 12.0, "%", where),
    )
    change = Change("k:x", "x", 1.0, -1.0, (), (), Effect.ADVICE)
    found = Finding("x", Severity.NOTE, "x", "spun nan times", evidence, Cost(12.0, 1.0, 2.0), changes=(change,))
    said = [(what, name) for what, name, _ in of_finding(found, 8)]
    assert said == [
        ("above 100 %", "contention"),
        ("above all CPUs", "too much"),
        ("not finite", "spins"),
        ("below zero", "waits"),
        ("cost", "processors"),
        ("change new", "k"),
        ("says", "nan"),
    ]


def survive(text: str) -> None:
    """Read and audit what is no export at all, or many."""
    inputs = read_stream("fuzz.txt", io.BytesIO(text.encode("utf-8", "replace")))
    assert inputs
    assert not [said for one in inputs for said in one.problems if OURS in said]
    assert not [one for audit in run_audit(inputs, {}) for one in audit.verdicts if one.verdict == "broken"]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(foreign()), max_size=60), st.sampled_from(["\n", "\r\n"]))
def test_lines_of_all_exports_in_any_order(lines: list[str], end: str) -> None:
    survive(end.join(lines))


@settings(max_examples=100, deadline=None)
@given(st.lists(st.one_of(st.sampled_from(foreign()), st.text(max_size=80)), max_size=20))
def test_text_of_any_kind_between_lines_of_exports(lines: list[str]) -> None:
    survive("\n".join(lines))
