"""What is stored comes back: every fact, every state of a figure, every verdict; and no bytes break the loading."""

import dataclasses
import datetime as dt
import importlib
import json
import pkgutil
import tracemalloc
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_type_hints

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import collectors.facts
from advisor.services.reading import captures_of, read_exports
from collectors.facts import ABSENT, NOT_MEASURED, OVERFLOW, Capture, Fact, Facts, Missing, Reading, Source
from collectors.facts.ase import CacheActivity, ConfigParameter, LockHashtable, Server, SysmonRow, SysmonSection
from collectors.facts.ase.sysmon import LazyRows
from collectors.facts.codec import DEEPEST, STATES, DamagedFacts, TooManyFacts, dump, load
from collectors.facts.openvms import Cpu, Node
from collectors.facts.scaling import LoadPoint, LoadSeries
from collectors.facts.shapes import kinds, shapes
from rules.audit import audit
from tests.stories import STORIES

HERE = Path(__file__).parent.parent
EXPORTS = sorted(
    path
    for room in ("exports", "audits")
    for path in (HERE / room).rglob("*")
    if path.is_file() and path.suffix != ".yml"
)
NO_INPUT: Any = None
TABLE = LockHashtable(source=Source("a.txt", 3, 7), table="address", lookups=5, contention_percent=12.5)
OTHER = Server(source=Source("a.txt", 1, 1), name="PROD1", version="16.0")


def every_kind() -> list[type[Fact]]:
    """Found without the codec's own list: every subclass of `Fact` there is under `collectors.facts`."""
    for module in pkgutil.walk_packages(collectors.facts.__path__, "collectors.facts."):
        importlib.import_module(module.name)
    found, look = [], [Fact]
    while look:
        subclasses = look.pop().__subclasses__()
        look += subclasses
        found += [kind for kind in subclasses if kind.__module__.startswith("collectors.facts.")]
    return sorted(found, key=lambda kind: kind.fact_name())


def facts_in(paths: list[Path]) -> list[Fact]:
    return [fact for one in read_exports([str(path) for path in paths], NO_INPUT) for fact in one.facts]


def plainly(data: bytes) -> Any:
    return json.loads(zlib.decompress(data))


def packed(content: Any) -> bytes:
    return zlib.compress(json.dumps(content).encode())


def altered(facts: list[Fact], change: Callable[[Any], Any]) -> bytes:
    """Stored facts, as if another release had stored them."""
    content = plainly(dump(facts))
    change(content)
    return packed(content)


def same(facts: list[Fact]) -> None:
    back, lost = load(dump(facts))
    assert lost == []
    assert repr(back) == repr(facts)  # tells 5 from 5.0, and finds a NaN equal to itself
    assert [type(fact) for fact in back] == [type(fact) for fact in facts]


@pytest.mark.parametrize("path", EXPORTS, ids=[str(path.relative_to(HERE)) for path in EXPORTS])
def test_every_fact_of_an_export_comes_back_as_it_was(path: Path) -> None:
    facts = facts_in([path])
    same(facts)
    assert load(dump(facts))[0] == facts


def test_the_facts_of_all_exports_together_come_back_in_their_order() -> None:
    facts = facts_in(EXPORTS)
    assert len({type(fact) for fact in facts}) > 35
    assert sum(len(fact.rows) for fact in facts if isinstance(fact, SysmonSection)) > 1000
    same(facts)


def test_real_exports_come_back_and_are_judged_alike(real_exports: Path) -> None:
    inputs = read_exports([str(real_exports)], NO_INPUT)
    same([fact for one in inputs for fact in one.facts])
    for capture in captures_of(inputs):
        judged_alike(capture)


@pytest.mark.parametrize("story", STORIES, ids=[story.name for story in STORIES])
def test_restored_facts_are_judged_like_the_facts_that_were_read(story: Path) -> None:
    paths = sorted(str(path) for path in story.rglob("*") if path.is_file() and path.suffix != ".yml")
    captures = captures_of(read_exports(paths, NO_INPUT))
    assert captures
    for capture in captures:
        judged_alike(capture)


def judged_alike(capture: Capture) -> None:
    back, lost = load(dump(capture.facts))
    assert lost == []
    first, again = audit(capture), audit(Capture(capture.system, capture.interval, Facts(tuple(back))))
    assert first.verdicts
    assert not [verdict for verdict in again.verdicts if verdict.verdict == "broken"]
    for part in ("verdicts", "findings", "models", "plan"):
        assert repr(getattr(again, part)) == repr(getattr(first, part))


ZONES = st.none() | st.integers(-1439, 1439).map(lambda minutes: dt.timezone(dt.timedelta(minutes=minutes)))
TIMES = st.datetimes(timezones=ZONES)
ODD_TEXT = st.sampled_from(
    ["ABSENT", "a", "not in the export", "OVERFLOW", "NaN", "5", "", "\udc80", "\ud83d\ude00", "\0", "😀"]
)
FLOATS = st.floats() | st.integers(-(2**70), 2**70)
LEAVES: dict[Any, st.SearchStrategy[Any]] = {
    float: FLOATS,
    int: st.integers(-(2**70), 2**70),
    str: st.text(max_size=20) | ODD_TEXT,
    bool: st.booleans(),
    type(None): st.none(),
    Missing: st.sampled_from(Missing),
    dt.datetime: TIMES,
}


def values_of(hint: Any) -> st.SearchStrategy[Any]:
    """Values of an annotation, by this test's own reading of it."""
    if hint in LEAVES:
        return LEAVES[hint]
    if hint is LazyRows:
        return st.lists(instances(SysmonRow), max_size=3).map(tuple)
    if dataclasses.is_dataclass(hint):
        return instances(hint)
    if getattr(hint, "__origin__", None) is tuple:
        first, *rest = hint.__args__
        many = rest == [...]
        return st.lists(values_of(first), max_size=3).map(tuple) if many else st.tuples(*map(values_of, hint.__args__))
    return st.one_of(*map(values_of, hint.__args__))


def instances(kind: Any) -> st.SearchStrategy[Any]:
    return st.builds(
        kind, **{field: values_of(hint) for field, hint in get_type_hints(kind).items() if field != "BRING"}
    )


@pytest.mark.parametrize("kind", every_kind(), ids=lambda kind: kind.fact_name())
def test_every_kind_of_fact_is_stored_and_loaded_by_its_name(kind: type[Fact]) -> None:
    assert kinds()[kind.fact_name()] is kind

    @given(st.lists(instances(kind), min_size=1, max_size=3))
    def stored(facts: list[Fact]) -> None:
        same(facts)

    stored()


def test_there_are_facts_of_every_product_and_no_two_of_one_name() -> None:
    every = every_kind()
    assert len({kind.fact_name() for kind in every}) == len(every) >= 39
    assert {kind.fact_name().split(".")[0] for kind in every} == {"ase", "openvms", "scaling"}


@given(st.lists(st.sampled_from([TABLE, OTHER, Cpu(number=1, fastpath=("EWA0", "EWB0")), Node(name="A")]), max_size=9))
@example([])
def test_facts_of_different_kinds_keep_their_order(facts: list[Fact]) -> None:
    same(facts)


def test_absent_overflow_not_measured_and_zero_stay_four_things() -> None:
    readings: list[Reading] = [ABSENT, OVERFLOW, NOT_MEASURED, 0, 0.0, -0.0, 5, 5.0, 1e308, float("inf")]
    back, _ = load(dump(CacheActivity(name="c", washed_dirty=reading) for reading in readings))
    assert [repr(fact.washed_dirty) for fact in back if isinstance(fact, CacheActivity)] == [repr(r) for r in readings]
    assert set(STATES.values()) == set(Missing)


def test_a_text_that_reads_like_a_state_stays_a_text() -> None:
    values: list[Reading | str] = ["ABSENT", ABSENT, "a", "not in the export", OVERFLOW, "OVERFLOW", 1.0, "1.0"]
    back, _ = load(dump(ConfigParameter(name="x", run_value=value) for value in values))
    assert [fact.run_value for fact in back if isinstance(fact, ConfigParameter)] == values


def test_times_keep_their_offset_or_none_and_their_microseconds() -> None:
    zone = dt.timezone(dt.timedelta(hours=5, minutes=45))
    times = [dt.datetime(2026, 3, 2, 9, 0, 0, 7), dt.datetime(2026, 3, 2, 9, tzinfo=zone), None]  # noqa: DTZ001
    back, _ = load(dump(Node(name="A", at=time) for time in times))
    assert [fact.at for fact in back if isinstance(fact, Node)] == times
    assert [fact.at.utcoffset() for fact in back if isinstance(fact, Node) and fact.at] == [None, zone.utcoffset(None)]


def test_rows_are_equal_afterwards_and_were_not_kept_for_it() -> None:
    made = []

    def rows() -> tuple[SysmonRow, ...]:
        made.append(1)
        return (SysmonRow(4, ("Engine 0",), 1.0, ABSENT, 7, OVERFLOW, (("User Busy", 12.5), ("Idle", ABSENT))),)

    lazy: Any = rows
    section = SysmonSection(title="Kernel Utilization", rows=lazy)
    (back,), lost = load(dump([section]))
    assert lost == []
    assert section.__dict__["rows"] is rows
    assert isinstance(back, SysmonSection)
    assert back.rows == rows()
    assert back == section


def test_equal_facts_give_equal_bytes() -> None:
    assert dump([TABLE, OTHER]) == dump([dataclasses.replace(TABLE), OTHER])


def test_a_fact_from_elsewhere_and_a_value_of_no_known_type_are_refused() -> None:
    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Own(Fact):
        pass

    odd: Any = {1}
    with pytest.raises(TypeError, match="cannot be stored"):
        dump([Own()])
    with pytest.raises(TypeError, match="cannot hold a set"):
        dump([dataclasses.replace(TABLE, table=odd)])


def test_more_than_is_allowed_is_neither_stored_nor_loaded() -> None:
    data = dump([TABLE])
    size = len(zlib.decompress(data))
    assert load(dump([TABLE], most_bytes=size), most_bytes=size) == ([TABLE], [])
    with pytest.raises(TooManyFacts, match="1 facts are"):
        dump([TABLE], most_bytes=size - 1)
    with pytest.raises(DamagedFacts, match="refused"):
        load(data, most_bytes=size - 1)


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


def test_every_field_of_every_fact_has_a_shape() -> None:
    for kind in list[type](every_kind()):
        assert list(shapes(kind)) == [field.name for field in dataclasses.fields(kind)]
