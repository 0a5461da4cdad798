"""Which lines start a report: the look for words never misses what the patterns would find."""

import random
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.kit import kinds, starting
from collectors.starts import Starts, alternatives, words_of

EXPORTS = Path(__file__).resolve().parent.parent / "exports"


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        (r"^ *Fast Path (?:preferred|CPUs)", {"fast path "}),
        (r"^\s*(?:Lock|Wait)\b", {"lock", "wait"}),
        (r"(?:a|b|cd)x{2,}", {"x"}),
        (r"\bCPU +[0-9]+", {"cpu"}),
        (r"^[0-9]+$", None),
        (r"(?:abc)?", None),
        (r"(?:abc|[0-9])", None),
        (r"abc*d", {"ab"}),
        (r"(?!never)seen", {"seen"}),
        (r"(?=.*both)[a-z]+", {"both"}),
        (r"(?i:MiXed)", {"mixed"}),
    ],
)
def test_every_match_contains_one_of_the_words(pattern: str, words: set[str] | None) -> None:
    assert words_of(pattern) == (None if words is None else frozenset(words))


@pytest.mark.parametrize(
    ("pattern", "parts"),
    [
        ("a|b", ["a", "b"]),
        ("(?:a|b)|c", ["(?:a|b)", "c"]),
        (r"a\|b|[|]|[]|]|[^]|]|\(|", [r"a\|b", "[|]", "[]|]", "[^]|]", r"\(", ""]),
        ("(a|(b|c))", ["(a|(b|c))"]),
        ("(?i:a|(b|c))", ["a", "(b|c)"]),
        ("(?:a)(?:b|c)", ["(?:a)(?:b|c)"]),
    ],
)
def test_a_pattern_is_parted_at_its_outermost_bars_alone(pattern: str, parts: list[str]) -> None:
    assert list(alternatives(pattern)) == parts


def plainly(line: str) -> list[str]:
    """What the patterns find without any look for words."""
    found = [kind.id for kind in kinds() if kind.begins is None and re.search(kind.starts.pattern, line, re.IGNORECASE)]
    return found if line.strip(" \t-=+|_*~") else []


def test_on_every_line_of_every_fixture_the_same_kinds_start_as_without_the_look_for_words() -> None:
    chance = random.Random(7)
    files = (path for path in sorted(EXPORTS.rglob("*")) if path.is_file() and path.suffix != ".yml")
    texts = (path.read_text("latin-1").splitlines() for path in files)
    lines = {line for text in texts for line in chance.sample(text, min(len(text), 25))}
    assert len(lines) > 2000
    started = 0
    for line in lines:
        assert [kind.id for kind in starting(line)] == plainly(line), line
        started += bool(plainly(line))
    assert started > 100


def test_the_first_line_of_a_kind_in_capitals_or_small_letters_is_found() -> None:
    for line in ("OPENVMS MONITOR UTILITY", "fast path preferred cpus on skye", "SP_SYSMON report", "locktime,A,B"):
        assert [kind.id for kind in starting(line)] == plainly(line)


@given(st.text(alphabet="CPUcpu İıſK0123456789:|Lockſ ", max_size=30))
def test_letters_of_other_scripts_hide_nothing(line: str) -> None:
    starts = Starts([("one", r"CPU [0-9]+|lock"), ("two", r"\bs\d")])
    expected = [
        name
        for name, pattern in (("one", r"CPU [0-9]+|lock"), ("two", r"\bs\d"))
        if re.search(pattern, line, re.IGNORECASE)
    ]
    assert starts.of(line) == expected
