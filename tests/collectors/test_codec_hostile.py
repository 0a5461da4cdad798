"""No bytes break the loading of stored facts: they are refused, or cost only what they damage."""

import datetime as dt
import tracemalloc
import zlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.facts import Fact
from collectors.facts.codec import DEEPEST, DamagedFacts, dump, load
from collectors.facts.openvms import Cpu, Node
from collectors.facts.scaling import LoadPoint, LoadSeries
from tests.collectors.stored import OTHER, TABLE, altered, packed, plainly, same


def deep(levels: int) -> Any:
    column: Any = ["x"]
    for _ in range(levels):
        column = {"is": "t", "t": {"n": [1], "of": column}}
    return column


HEAD = {"lockwright facts": 1}
HOSTILE: dict[str, bytes] = {
    "nothing": b"",
    "no zlib": b"PK\x03\x04 not at all",
    "cut short": dump([TABLE])[:-5],
    "with a tail": dump([TABLE]) + b"x",
    "a flipped bit": bytes([*dump([TABLE])[:40], dump([TABLE])[40] ^ 4, *dump([TABLE])[41:]]),
    "no text": zlib.compress(b"\xff\xfe\xff"),
    "no JSON": zlib.compress(b"{"),
    "JSON too deep": zlib.compress(b"[" * 200_000),
    "a number too long": zlib.compress(b"9" * 100_000),
    "a list": packed([1]),
    "no heading": packed({"order": [], "kinds": []}),
    "no version": packed({"lockwright facts": True, "order": [], "kinds": []}),
    "a later version": packed({"lockwright facts": 2, "order": [], "kinds": []}),
    "no order": packed({**HEAD, "kinds": []}),
    "order of texts": packed({**HEAD, "order": ["0"], "kinds": [1]}),
    "order of booleans": packed({**HEAD, "order": [False], "kinds": [1]}),
    "order past the end": packed({**HEAD, "order": [0, 1], "kinds": [{}]}),
    "order before the start": packed({**HEAD, "order": [-1], "kinds": [{}]}),
}


@pytest.mark.parametrize("data", HOSTILE.values(), ids=HOSTILE)
def test_bytes_that_are_no_stored_facts_are_refused(data: bytes) -> None:
    with pytest.raises(DamagedFacts):
        load(data)


def test_a_bomb_is_not_unpacked() -> None:
    bomb = zlib.compress(b" " * (64 << 20), 1)
    tracemalloc.start()
    try:
        with pytest.raises(DamagedFacts, match="over 1,048,576 bytes"):
            load(bomb, most_bytes=1 << 20)
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "column",
    [
        {"is": "t", "t": {"n": [10**12], "of": []}},
        {"is": "t", "t": {"n": [10**12], "of": {"is": "a"}}},
        {"is": "t", "t": {"n": [-1], "of": []}},
        {"is": "t", "t": {"n": [2], "of": {"is": "tt", "t": {"n": [2, -1], "of": [1]}}}},
        {"is": "aa"},
        {"is": ""},
        {"is": "t", "t": {"n": [True], "of": [1]}},
        {"is": "t", "t": {"n": [0]}},
        {"is": "t"},
        {"is": "p"},
        {"is": "p", "p": [1, 2]},
        {"is": "d", "d": ["yesterday"]},
        {"is": "d", "d": [5]},
        {"is": "A", "A": {"kind": "ase.Server", "fields": {}}},
        {"is": "A", "A": {"kind": [], "fields": {}}},
        {"is": "A", "A": {"kind": "base.Source", "fields": []}},
        {"is": ["a"]},
        {},
        None,
        7,
        deep(150),
    ],
)
def test_a_hostile_column_costs_its_fact_and_nothing_else(column: Any) -> None:
    def change(content: Any) -> None:
        content["kinds"][0]["fields"]["lookups"] = column

    back, lost = load(altered([TABLE, OTHER], change))
    assert back == [OTHER]
    assert lost


def test_columns_within_columns_are_followed_only_so_far() -> None:
    def said(levels: int) -> str:
        def change(content: Any) -> None:
            content["kinds"][0]["fields"]["lookups"] = deep(levels)

        return load(altered([TABLE], change))[1][0]

    assert "not of the type" in said(DEEPEST)
    assert "damaged" in said(DEEPEST + 1)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["a", "p", "t", "d", "A"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["is", "a", "p", "t", "n", "of", "d", "A", "kind", "fields", "name"]), inner)
    ),
    max_leaves=12,
)


def places(content: Any) -> list[tuple[Any, Any]]:
    """Every place in stored facts where something else could stand."""
    found: list[tuple[Any, Any]] = []
    if isinstance(content, dict | list):
        for key, value in content.items() if isinstance(content, dict) else enumerate(content):
            found += [(content, key), *places(value)]
    return found


RICH: list[Fact] = [
    TABLE,
    OTHER,
    Node(name="A", at=dt.datetime(2026, 3, 2)),  # noqa: DTZ001 - exports have no zone
    Cpu(number=1, fastpath=("EWA0", "EWB0"), cothread=2),
    LoadSeries(title="x", load_name="n", rate_name="r", points=(LoadPoint(load=1, rate=2.5, others=(("mp", 1.0),)),)),
]


@given(st.integers(0, len(places(plainly(dump(RICH)))) - 1), JSON)
def test_whatever_stands_in_one_place_facts_come_back_or_bytes_are_refused(where: int, odd: Any) -> None:
    content = plainly(dump(RICH))
    parent, key = places(content)[where]
    parent[key] = odd
    try:
        back, lost = load(packed(content))
    except DamagedFacts:
        return
    assert all(isinstance(fact, Fact) for fact in back)
    assert len(back) <= len(content["order"])
    assert len(back) == len(content["order"]) or lost
    same(back)


@given(st.binary(max_size=200))
def test_any_bytes_are_refused_or_facts(data: bytes) -> None:
    for one in (data, zlib.compress(data)):
        with pytest.raises(DamagedFacts):
            load(one)
