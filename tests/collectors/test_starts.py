"""Which lines start a report: the look for words never misses what the patterns would find."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.registry import kinds, starting, starting_on
from collectors.starts import FOLD, Starts, alternatives, words_of, worked_out
from tests.longer import first_of

EXPORTS = Path(__file__).resolve().parent.parent / "exports"
REAL = EXPORTS.parent.parent.parent / "shared" / "exports"
"""Not there in every clone."""
TEXTS = {".txt", ".csv", ".tsv", ".log", ".lis", ".html", ".out"}


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


@pytest.mark.parametrize(
    ("pattern", "firsts"),
    [
        (r"^ *Fast", " f"),
        (r"^(?=.*:)[\"'|]?+\s{1,40}(?:Jan|[0-9])", "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f \"'|"),
        (r"^(?:a|B+|(?:c)?d)", "abcd"),
        (r"^(?:#\d|[x-z])", "#xyz"),
        (r"^\d\d", "0"),
        (r"^(?:K\b|k)?7", "0k"),
        (r"^(?=ab)", None),
        (r"^(?:a|b?)", None),
        (r"^[^a]b", None),
        (r"^.b", None),
        ("^\u017fpin", None),
        ("^[a-\u017f]", None),
        (r"^(x?)\1y", None),
        ("cpu", None),
    ],
)
def test_a_line_that_begins_otherwise_needs_no_pattern(pattern: str, firsts: str | None) -> None:
    (found,) = worked_out(pattern)
    assert found.firsts == firsts
    if firsts is not None:
        may = {chr(code) for code in range(128) if re.match(pattern, chr(code) + "pin77 ab:", re.IGNORECASE)}
        assert {FOLD.decode("latin-1")[ord(one)] for one in may} <= set(firsts)


def plainly(line: str) -> list[str]:
    """What the patterns find without any look for words."""
    if not line.strip(" \t-=+|_*~"):
        return []
    return [kind.id for kind in kinds() if kind.begins is None and re.search(kind.starts.pattern, line, re.IGNORECASE)]


@first_of(1, "step", [12, 1])
def test_on_lines_of_every_fixture_the_same_kinds_start_as_without_the_look_for_words(step: int) -> None:
    files = [path for folder in (EXPORTS, REAL) for path in sorted(folder.rglob("*")) if path.suffix in TEXTS]
    lines = list(dict.fromkeys(line for path in files for line in path.read_text("latin-1").splitlines()))[::step]
    assert len(lines) > (8000 if REAL.is_dir() else 5000) / step
    found = starting_on(lines)
    expected = {index: names for index, line in enumerate(lines) if (names := plainly(line))}
    assert {index: [kind.id for kind in started] for index, started in found.items()} == expected
    assert len(expected) > 500 / step


def test_lines_searched_together_do_not_differ_from_lines_searched_alone() -> None:
    starts = Starts([("cpu", "CPU [0-9]+"), ("lock", "^lock"), ("date", "^[0-9]-[0-9]"), ("slip", "^[ſs]pin")])
    lines = ["", "cpu", "cpu 1 lock", "lock cpu 2", "\u017fpin İ lock", "", "1-2", "lo", "ck", "spin", "LOCK"]
    together = starts.of_lines(lines)
    assert together == {index: found for index, line in enumerate(lines) if (found := starts.of(line))}
    assert together == {2: ["cpu"], 3: ["cpu", "lock"], 4: ["slip"], 6: ["date"], 9: ["slip"], 10: ["lock"]}


def test_what_lines_of_one_shape_start_is_remembered_and_digits_count_where_the_pattern_tells_them_apart() -> None:
    starts = Starts(
        [("seven", "FCX17[0-9]"), ("any", "FCX[0-9]{3}"), ("dash", "^[0-4]-"), ("twice", r"twin ([0-9])\1")]
    )
    lines = ["FCX170", "fcx999 A", "FCX180", "fcx171 a", "4-", "5-", "twin 22", "twin 23", "x"]
    expected = {0: ["seven", "any"], 1: ["any"], 2: ["any"], 3: ["seven", "any"], 4: ["dash"], 6: ["twice"]}
    for _ in range(2):
        assert starts.of_lines(lines) == expected
        assert starts.of_lines([f"{line} \u017f" for line in lines[:2]]) == {0: ["seven", "any"], 1: ["any"]}
    assert {starts.of(f"FCX{number}")[0] for number in range(170, 180)} == {"seven"}


def test_shapes_are_forgotten_when_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("collectors.starts.MOST_SHAPES", 10)
    starts = Starts([("lock", "^lock")])
    lines = [letter * 3 for letter in "abcdefghijklmnop"] + ["lock", "lock " * 200]
    assert starts.of_lines(lines) == {16: ["lock"], 17: ["lock"]}
    starts.of_lines(["another"])
    assert len(starts.known) == 1
    assert starts.of_lines(lines) == {16: ["lock"], 17: ["lock"]}


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


def test_no_lines_start_nothing_in_a_process_that_has_seen_none() -> None:
    assert Starts([("listing", r"^Name +Value")]).of_lines([]) == {}
