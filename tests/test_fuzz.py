"""Damaged, cut, spliced and mixed exports: readers give facts, problems and leftovers, rules give verdicts; no more.

The layouts are those of `tests/exports`; every mutation is drawn from a seed, so a failure can be repeated.
"""

import io
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.services.auditing import run_audit
from collectors.read import Input, read_stream

HERE = Path(__file__).parent / "exports"
FIXTURES = sorted(path for path in HERE.glob("*/*/*") if path.suffix not in (".yml", ".zip", ".gz"))
LINES = sorted({line for path in FIXTURES for line in path.read_bytes().decode("latin-1").split("\n")[:60]})
SEEDS = 12
ODD = [
    "*****",
    "n/a",
    "-7",
    "9" * 400,
    "١٢٣",
    "\x1b[2J",
    "\t",
    "1e308",
    "NaN",
    "'; drop table x --",
    "%",
    "\u202e",
    "0x1F",
]


def mutate(text: str, chance: random.Random) -> str:
    """Delete, double, cut, swap, overwrite and splice."""
    lines = text.split("\n")
    for _ in range(chance.randint(1, 12)):
        at = chance.randrange(len(lines))
        line = lines[at]
        cut = chance.randint(0, len(line))
        action = chance.randrange(8)
        if action == 0 and len(lines) > 1:
            del lines[at]
        elif action == 1:
            lines.insert(at, line)
        elif action == 2:
            lines[at] = line[:cut]
        elif action == 3:
            lines[at] = line[:cut] + chance.choice(ODD) + line[cut + chance.randint(0, 6) :]
        elif action == 4:
            other = chance.randrange(len(lines))
            lines[at], lines[other] = lines[other], lines[at]
        elif action == 5:
            lines.insert(at, chance.choice(LINES))
        elif action == 6:
            lines[at] = " ".join(line.split())
        else:
            lines = lines[: max(1, at)]
    return "\n".join(lines)


def survive(data: bytes) -> list[Input]:
    """Read and audit; nothing may raise and no rule may break."""
    inputs = read_stream("fuzz.txt", io.BytesIO(data))
    assert inputs
    for one in inputs:
        for fact in one.facts:
            assert 0 <= fact.source.first <= fact.source.last <= data.count(b"\n") + data.count(b"\r") + 1
    for audit in run_audit(inputs, {}):
        broken = [verdict for verdict in audit.verdicts if verdict.verdict == "broken"]
        assert not broken
    return inputs


@pytest.mark.parametrize("fixture", FIXTURES, ids=[str(path.relative_to(HERE)) for path in FIXTURES])
def test_a_mutated_export_never_breaks_anything(fixture: Path) -> None:
    text = fixture.read_bytes().decode("latin-1")
    for seed in range(SEEDS):
        survive(mutate(text, random.Random(f"{fixture.name}{seed}")).encode("utf-8", "replace"))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(LINES), max_size=60), st.sampled_from(["\n", "\r\n"]))
def test_lines_of_all_exports_in_any_order(lines: list[str], end: str) -> None:
    survive(end.join(lines).encode("utf-8"))


@settings(max_examples=100, deadline=None)
@given(st.lists(st.one_of(st.sampled_from(LINES or [""]), st.text(max_size=80)), max_size=20))
def test_text_of_any_kind_between_lines_of_exports(lines: list[str]) -> None:
    survive("\n".join(lines).encode("utf-8", "replace"))
