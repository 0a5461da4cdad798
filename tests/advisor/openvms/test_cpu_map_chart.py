"""The CPU map as a picture: well-formed whatever stands in the export, every core there, readable without colour."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.charts.cpus import LEAST_WIDE, MOST_CPUS, CoreBox, CpuBox, cpu_map
from tests.advisor.charts.pictures import HOSTILE, by_class, maybe, names, picture, polylines, said, texts

cpus = st.builds(
    CpuBox,
    number=st.integers(0, 9999),
    state=names,
    names=st.lists(names, max_size=9).map(tuple),
    modes=st.one_of(st.just(()), st.lists(maybe, max_size=6).map(tuple)),
    outlined=st.booleans(),
    moving=st.lists(names, max_size=2).map(tuple),
)
cores = st.builds(
    CoreBox,
    cpus=st.lists(cpus, min_size=1, max_size=2).map(tuple),
    notes=st.lists(names, max_size=2).map(tuple),
    conflict=st.booleans(),
)


@given(drawn=st.lists(cores, max_size=6), title=names, width=st.integers(LEAST_WIDE, 900))
def test_any_map_is_well_formed_and_inside(drawn: list[CoreBox], title: str, width: int) -> None:
    picture(cpu_map(drawn, title=title, width=width))


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_device_is_text_and_nothing_else(name: str) -> None:
    made = cpu_map([CoreBox((CpuBox(0, name, (name, "b"), moving=(name,)),), (name,))], title=name)
    assert "<script>" not in made
    assert 'onload="' not in made
    picture(made)


def test_two_cpus_of_a_core_stand_in_one_box_and_a_single_one_in_half_of_it() -> None:
    pair = picture(cpu_map([CoreBox((CpuBox(1, "running"), CpuBox(5, "running")))], title="x"))
    single = picture(cpu_map([CoreBox((CpuBox(1, "running"),), ("co-thread", "not read"))], title="x"))

    def wide(root: object) -> float:
        lines = by_class(root, "c-axis")  # type: ignore[arg-type]
        return max(float(e.get("x2", "")) for e in lines) - min(float(e.get("x1", "")) for e in lines)

    assert wide(pair) > 2 * wide(single) > 0
    assert {"CPU 1", "CPU 5", "running"} <= set(texts(pair))
    assert {"co-thread", "not read"} <= set(texts(single))


def test_the_place_of_the_lock_manager_is_outlined_twice_and_the_mark_is_explained() -> None:
    root = picture(cpu_map([CoreBox((CpuBox(1, "running", outlined=True), CpuBox(5, "running")))], title="x"))
    assert len(polylines(root)) == 2
    assert "double outline: place of the lock manager" in texts(root)
    bare = picture(cpu_map([CoreBox((CpuBox(1, "running"),))], title="x"))
    assert not polylines(bare)
    assert not [one for one in texts(bare) if "outline" in one]


def test_what_has_to_move_has_an_arrow_stands_first_and_is_said() -> None:
    root = picture(cpu_map([CoreBox((CpuBox(1, "running", ("TCP/IP", "EIA0", "EIB0"), moving=("EIB0",)),))], title="x"))
    lines = texts(root)
    assert [one for one in lines if one.startswith("→ EIB0")]
    assert "→ has to move first" in lines
    assert "EIB0 has to move first" in said(root)


def test_a_conflict_has_a_dashed_box_and_words() -> None:
    core = CoreBox((CpuBox(1, "running"), CpuBox(5, "running")), ("conflict: CPU 1 runs beside it",), conflict=True)
    root = picture(cpu_map([core], title="x"))
    assert len(by_class(root, "c-limit")) == 4
    assert "conflict: CPU 1 runs beside it" in texts(root)
    assert "conflict: CPU 1 runs beside it" in said(root)


def test_modes_are_columns_as_high_as_the_figure_and_a_missing_one_is_crossed_not_empty() -> None:
    root = picture(cpu_map([CoreBox((CpuBox(3, "running", modes=(100.0, 50.0, 0.0, None, 25.0)),))], title="x"))
    grounds, bars = by_class(root, "c-track"), by_class(root, "c-bar")
    full = float(grounds[0].get("height", ""))
    assert [round(float(bar.get("height", "")) / full, 2) for bar in bars] == [1.0, 0.5, 0.25]
    assert len(grounds) == 4, "zero has a ground without a bar, no figure a cross"
    crossing = [e for e in by_class(root, "c-axis") if e.get("x1") != e.get("x2") and e.get("y1") != e.get("y2")]
    assert len(crossing) == 2
    assert "MP synch 100 %, kernel 50 %, user 0 %, interrupt no figure, idle 25 %" in said(root)


def test_sixty_four_cpus_are_all_drawn_and_more_are_counted() -> None:
    pairs = [CoreBox((CpuBox(n, "running", (f"EI{n}",)), CpuBox(n + 32, "running"))) for n in range(32)]
    shown = texts(picture(cpu_map(pairs, title="x")))
    assert [f"CPU {n}" for n in range(MOST_CPUS) if f"CPU {n}" not in shown] == []
    more = texts(picture(cpu_map([*pairs, CoreBox((CpuBox(64, "running"),))], title="x")))
    assert "and 1 more CPUs in the table" in more
    assert "CPU 64" not in more


def test_many_devices_are_counted_where_they_have_no_room() -> None:
    root = picture(cpu_map([CoreBox((CpuBox(0, "running", tuple(f"DEVICE{n:02}" for n in range(20))),))], title="x"))
    shown = texts(root)
    left = int(next(one for one in shown if one.endswith(" more")).split()[1])
    assert left == 20 - sum(one.count("DEVICE") for one in shown)


def test_too_narrow_a_picture_is_refused() -> None:
    with pytest.raises(ValueError, match="300"):
        cpu_map([], title="x", width=200)
