"""Facts that another release stored: what cannot be restored is named, and the rest is kept."""

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

from collectors.facts import ABSENT
from collectors.facts.codec import load
from collectors.facts.scaling import LoadPoint, LoadSeries
from tests.collectors.stored import OTHER, TABLE, altered


def kind_is_gone(content: Any) -> None:
    content["kinds"][0]["kind"] = "ase.LockHashTableOfOld"


def field_is_gone(content: Any) -> None:
    content["kinds"][0]["fields"]["mean_wait"] = [1.0]


def held_field_is_gone(content: Any) -> None:
    content["kinds"][0]["fields"]["source"]["A"]["fields"]["column"] = [1]


def field_is_new(content: Any) -> None:
    del content["kinds"][0]["fields"]["table"]


def field_changed_its_type(content: Any) -> None:
    content["kinds"][0]["fields"]["contention_percent"] = ["12.5"]


def held_field_changed_its_type(content: Any) -> None:
    content["kinds"][0]["fields"]["source"]["A"]["fields"]["first"] = [True]


def held_class_is_gone(content: Any) -> None:
    content["kinds"][0]["fields"]["source"]["A"]["kind"] = "base.Origin"


def state_is_gone(content: Any) -> None:
    content["kinds"][0]["fields"]["chain_length"] = {"is": "z", "z": [1]}


def column_is_short(content: Any) -> None:
    content["kinds"][0]["fields"]["lookups"] = []


def column_is_nested(content: Any) -> None:
    content["kinds"][0]["fields"]["lookups"] = [[5]]


def truth_in_place_of_a_number(content: Any) -> None:
    content["kinds"][0]["fields"]["lookups"] = [True]


def time_in_place_of_a_number(content: Any) -> None:
    content["kinds"][0]["fields"]["lookups"] = {"is": "d", "d": ["2026-01-01"]}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (kind_is_gone, "ase.LockHashTableOfOld: no such fact in this release; left out (1)"),
        (field_is_new, "ase.LockHashtable.table: not in what was stored; ase.LockHashtable left out (1)"),
        (field_changed_its_type, "ase.LockHashtable.contention_percent: not of the type it has in this release"),
        (held_field_changed_its_type, "base.Source.first: not of the type it has in this release"),
        (held_class_is_gone, "ase.LockHashtable.source: not of the type"),
        (state_is_gone, "ase.LockHashtable.chain_length: "),
        (column_is_short, "ase.LockHashtable.lookups: damaged"),
        (column_is_nested, "ase.LockHashtable.lookups: not of the type"),
        (truth_in_place_of_a_number, "ase.LockHashtable.lookups: not of the type"),
        (time_in_place_of_a_number, "ase.LockHashtable.lookups: not of the type"),
    ],
)
def test_a_fact_that_cannot_be_restored_is_named_and_the_rest_is_kept(change: Callable[[Any], Any], said: str) -> None:
    back, lost = load(altered([TABLE, OTHER], change))
    assert back == [OTHER]
    assert lost[0].startswith(said)


@pytest.mark.parametrize(
    ("change", "said"),
    [(field_is_gone, "ase.LockHashtable.mean_wait: no such"), (held_field_is_gone, "base.Source.column: no such")],
)
def test_a_field_that_no_longer_exists_costs_its_value_only(change: Callable[[Any], Any], said: str) -> None:
    back, lost = load(altered([TABLE, OTHER], change))
    assert back == [TABLE, OTHER]
    (line,) = lost
    assert line.startswith(said)


def test_a_new_field_with_a_default_takes_its_default_without_a_word() -> None:
    def change(content: Any) -> None:
        del content["kinds"][0]["fields"]["lookups"]
        del content["kinds"][0]["fields"]["source"]["A"]["fields"]  # which has none

    def without_lookups(content: Any) -> None:
        del content["kinds"][0]["fields"]["lookups"]

    assert load(altered([TABLE], without_lookups)) == ([dataclasses.replace(TABLE, lookups=ABSENT)], [])
    assert load(altered([TABLE], change))[0] == []


def test_of_many_facts_only_the_bad_one_is_left_out() -> None:
    tables = [dataclasses.replace(TABLE, lookups=float(number)) for number in range(5)]

    def change(content: Any) -> None:
        content["kinds"][0]["fields"]["lookups"][2] = "many"

    back, lost = load(altered([*tables], change))
    assert back == [*tables[:2], *tables[3:]]
    assert lost == ["ase.LockHashtable.lookups: not of the type it has in this release; ase.LockHashtable left out (1)"]


def test_a_bad_point_of_a_series_costs_that_series() -> None:
    series = [
        LoadSeries(title=name, load_name="n", rate_name="r", points=(LoadPoint(load=1, rate=2),)) for name in "ab"
    ]

    def change(content: Any) -> None:
        content["kinds"][0]["fields"]["points"]["t"]["of"]["A"]["fields"]["rate"][0] = None

    back, lost = load(altered([*series], change))
    assert back == series[1:]
    assert [line.split(":")[0] for line in lost] == ["scaling.LoadPoint.rate", "scaling.LoadSeries.points"]


@pytest.mark.parametrize("cells", [[["mp"]], [["mp", 1.0, 2.0]], [["mp", 1.0], ["mp"]], [[]], [["mp", "1.0"]]])
def test_a_pair_that_is_no_pair_costs_its_series(cells: list[list[Any]]) -> None:
    def change(content: Any) -> None:
        inner = {"n": [len(cell) for cell in cells], "of": [value for cell in cells for value in cell]}
        others = {"is": "t", "t": {"n": [len(cells)], "of": {"is": "t" * len(cells), "t": inner}}}
        content["kinds"][0]["fields"]["points"]["t"]["of"]["A"]["fields"]["others"] = others

    series = LoadSeries(title="a", load_name="n", rate_name="r", points=(LoadPoint(load=1, rate=2),))
    back, lost = load(altered([series, OTHER], change))
    assert back == [OTHER]
    assert lost[0].startswith("scaling.LoadPoint.others: not of the type")


def test_names_that_were_stored_are_not_repeated_as_they_are_nor_without_end() -> None:
    def change(content: Any) -> None:
        content["kinds"][0]["fields"] |= {f"\x1b[2J<script>\u202e{number}" + "x" * 5000: [1] for number in range(500)}

    _, lost = load(altered([TABLE], change))
    assert len(lost) == 51
    assert lost[-1] == "and 450 more"
    assert all(line.isprintable() and line.isascii() and len(line) < 700 for line in lost)
