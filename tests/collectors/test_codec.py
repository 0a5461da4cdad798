"""What is stored comes back: every fact, every state of a figure, every verdict."""

import dataclasses
import datetime as dt
import importlib
import pkgutil
import sys
from pathlib import Path
from typing import Any, get_type_hints

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import collectors.facts
from advisor.uploads.services.reading import captures_of, read_exports
from collectors.facts import ABSENT, NOT_MEASURED, OVERFLOW, Capture, Fact, Facts, Missing, Reading
from collectors.facts.ase import CacheActivity, ConfigParameter, SysmonRow, SysmonSection
from collectors.facts.ase.sysmon import LazyRows
from collectors.facts.codec import STATES, DamagedFacts, TooManyFacts, dump, load
from collectors.facts.openvms import Cpu, Node
from collectors.facts.shapes import kinds, shapes
from collectors.packed import unpack
from rules.audit import audit
from tests.collectors.stored import OTHER, TABLE, same
from tests.stories import STORIES

ROOT = Path(__file__).resolve().parents[2]
EXPORTS = sorted(
    path
    for room in ("tests/exports", "advisor/examples/audits")
    for path in (ROOT / room).rglob("*")
    if path.is_file() and path.suffix != ".yml"
)
NO_INPUT: Any = None


def every_kind() -> list[type[Fact]]:
    """Found without the codec's own list: every subclass of `Fact` there is under `collectors.facts`.

    `dataclass(slots=True)` makes a second class; the first one lives on until the cycle collector finds it.
    """
    for module in pkgutil.walk_packages(collectors.facts.__path__, "collectors.facts."):
        importlib.import_module(module.name)
    found, look = [], [Fact]
    while look:
        subclasses = look.pop().__subclasses__()
        look += subclasses
        ours = [kind for kind in subclasses if kind.__module__.startswith("collectors.facts.") and kind.COLLECTED_BY]
        found += [kind for kind in ours if vars(sys.modules[kind.__module__])[kind.__name__] is kind]
    return sorted(found, key=lambda kind: kind.fact_name())


def facts_in(paths: list[Path]) -> list[Fact]:
    return [fact for one in read_exports([str(path) for path in paths], NO_INPUT) for fact in one.facts]


@pytest.mark.parametrize("path", EXPORTS, ids=[str(path.relative_to(ROOT)) for path in EXPORTS])
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
    hints = get_type_hints(kind)
    return st.builds(kind, **{field.name: values_of(hints[field.name]) for field in dataclasses.fields(kind)})


@pytest.mark.parametrize("examples", [6, pytest.param(100, marks=pytest.mark.long)])
@pytest.mark.parametrize("kind", every_kind(), ids=lambda kind: kind.fact_name())
def test_every_kind_of_fact_is_stored_and_loaded_by_its_name(kind: type[Fact], examples: int) -> None:
    assert kinds()[kind.fact_name()] is kind

    @settings(max_examples=examples)
    @given(st.lists(instances(kind), min_size=1, max_size=3))
    def stored(facts: list[Fact]) -> None:
        same(facts)

    stored()


def test_there_are_facts_of_every_product_and_no_two_of_one_name() -> None:
    every = every_kind()
    assert len({kind.fact_name() for kind in every}) == len(every) >= 39
    assert {kind.fact_name().split(".")[0] for kind in every} == {"ase", "openvms", "rdb", "scaling", "unix", "zvm"}


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
    size = len(unpack(data, 1 << 20))
    assert load(dump([TABLE], most_bytes=size), most_bytes=size) == ([TABLE], [])
    with pytest.raises(TooManyFacts, match="1 facts are"):
        dump([TABLE], most_bytes=size - 1)
    with pytest.raises(DamagedFacts, match="refused"):
        load(data, most_bytes=size - 1)


def test_every_field_of_every_fact_has_a_shape() -> None:
    for kind in list[type](every_kind()):
        assert list(shapes(kind)) == [field.name for field in dataclasses.fields(kind)]
