"""The changes that `make mutants` makes to rules and readers, and the switch that puts one of them in place."""

import importlib
import runpy
from pathlib import Path

import pytest

from tests.mutants import SWITCH, Source

SOURCE = '''"""A docstring that says 3 < 4."""

LIMIT = 5


def over(values: list[int], names: set[str]) -> bool:
    for value in values:
        if value < LIMIT and "spared" not in names:
            continue
        return value - 1 > LIMIT
    return f"{len(values) + 1}" == "none"
'''
CHANGES = {
    ("5", "4"),
    ("5", "6"),
    ("5", "10"),
    ("value < LIMIT", "value <= LIMIT"),
    ('"spared" not in names', '"spared" in names'),
    ('value < LIMIT and "spared" not in names', 'value < LIMIT or "spared" not in names'),
    ('value < LIMIT and "spared" not in names', "True"),
    ('value < LIMIT and "spared" not in names', "False"),
    ("continue", "break"),
    ("value - 1 > LIMIT", "value - 1 >= LIMIT"),
    ("value - 1 > LIMIT", "not (value - 1 > LIMIT)"),
    ("value - 1", "value + 1"),
    ("1", "0"),
    ("1", "2"),
    ('f"{len(values) + 1}" == "none"', 'f"{len(values) + 1}" != "none"'),
    ('f"{len(values) + 1}" == "none"', 'not (f"{len(values) + 1}" == "none")'),
}


def test_every_change_is_found_and_texts_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "judged.py").write_text(SOURCE, "utf-8")
    found = [one for place in Source(str(tmp_path / "judged.py")).sites() for one in place]
    assert {(SOURCE[one.start : one.end], one.new) for one in found} == CHANGES


@pytest.mark.parametrize(("old", "new", "changed"), [("5", "10", [False, False]), ("continue", "break", [False, True])])
def test_a_change_is_there_while_it_is_switched_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str, changed: list[bool]
) -> None:
    (tmp_path / "judged.py").write_text(SOURCE, "utf-8")
    (tmp_path / "mutants_switch.py").write_text(SWITCH, "utf-8")
    source = Source(str(tmp_path / "judged.py"))
    (one,) = [
        one for place in source.sites() for one in place if (source.text(one.start, one.end), one.new) == (old, new)
    ]
    (tmp_path / "judged.py").write_bytes(source.with_switches({7: one}, {8}))
    monkeypatch.syspath_prepend(tmp_path)
    switch = importlib.import_module("mutants_switch")
    given = ([4, 8], {"one"}), ([8], {"one"})
    for number, expected in ((0, [True, True]), (7, changed)):
        monkeypatch.setattr(switch, "on", number)
        assert [runpy.run_path(str(tmp_path / "judged.py"))["over"](*each) for each in given] == expected
