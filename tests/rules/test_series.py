"""Two load series side by side: at common loads, at one clock; and the modes of their rows."""

from dataclasses import replace

import pytest

from collectors.facts.scaling import LoadPoint, LoadSeries
from rules.laws.clock import at_one_clock, others_as_measured, scaled, slower_ones
from rules.laws.modes import modes_by_point, spinning
from rules.laws.series import TimeSeries, course_of, held_against


def made(title: str, *points: tuple[float, float], mhz: float | None = None) -> LoadSeries:
    runs = tuple(LoadPoint(load=load, rate=rate, line=at) for at, (load, rate) in enumerate(points, start=2))
    return LoadSeries(title=title, load_name="processes", rate_name="locks_per_second", points=runs, clock_mhz=mhz)


WITHOUT = made("rx4640 without", (1, 200), (2, 310), (4, 280), (6, 150), (6, 170))
WITH = made("rx4640 with", (1, 190), (2, 300), (4, 320), (6, 304), (8, 290))


def test_two_series_are_held_against_each_other_at_their_common_loads() -> None:
    found = held_against(WITHOUT, WITH)
    assert not isinstance(found, str)
    assert [(one.load, one.before.rate, one.after.rate) for one in found] == [
        (1, 200, 190),
        (2, 310, 300),
        (4, 280, 320),
        (6, 160, 304),
    ]
    assert [f"{one.ratio:.2f}" for one in found] == ["0.95", "0.97", "1.14", "1.90"]
    assert (found[0].before.source.first, found[0].after.source.first) == (2, 2)


@pytest.mark.parametrize(
    ("after", "why"),
    [
        (made("other", (3, 1), (5, 2)), "no load in common"),
        (replace(WITH, rate_name="tps"), "counts locks_per_second over processes, rx4640 with tps"),
        (replace(WITH, load_name="users"), "over users"),
        (made("bad", (1, -3), (2, 4)), "rates not below it"),
    ],
)
def test_series_that_cannot_be_compared_say_why(after: LoadSeries, why: str) -> None:
    found = held_against(WITHOUT, after)
    assert isinstance(found, str)
    assert why in found
    backwards = held_against(after, WITHOUT)
    assert isinstance(backwards, str)


def test_nothing_done_before_gives_no_ratio() -> None:
    found = held_against(made("a", (1, 0), (2, 5)), made("b", (1, 3), (2, 10)))
    assert not isinstance(found, str)
    assert [one.ratio for one in found] == [None, 2]


@pytest.mark.parametrize(
    ("points", "alone", "peak"),
    [
        (((1, 100), (2, 190), (3, 270), (4, 4294), (5, 400), (6, 450)), [4], 6),
        (((1, 100), (2, 150), (3, 170), (4, 250), (5, 160), (6, 148)), [4], 3),
        (((1, 100), (2, 190), (4, 380), (8, 4294)), [8], 4),
        (((1, 4294), (2, 190), (3, 270), (4, 330), (5, 400)), [1], 5),
    ],
    ids=["wrapped", "between", "last", "first"],
)
def test_what_stands_alone_above_its_neighbours_is_no_peak(
    points: tuple[tuple[float, float], ...], alone: list[float], peak: float
) -> None:
    course = course_of(made("a", *points))
    assert isinstance(course, TimeSeries)
    assert [step.load for step in course.alone] == alone
    assert course.peak.load == peak
    assert f"at {alone[0]} stands alone" in course.alone_said


@pytest.mark.parametrize(
    ("points", "peak"),
    [
        (((1, 371357), (2, 490199), (3, 416167), (4, 344880), (5, 343183), (6, 341316)), 2),
        (((1, 64.9), (18, 995.9), (36, 1652.4), (72, 1853.2), (108, 1828.9), (144, 1775), (216, 1702.2)), 72),
        (((1, 100), (2, 195), (3, 285), (4, 300), (5, 120), (6, 110)), 4),
        (((1, 100), (2, 150), (3, 170), (4, 250), (5, 245), (6, 148)), 4),
        (((1, 200), (2, 100), (3, 170), (4, 160)), 1),
        (((1, 40), (2, 60), (3, 68), (4, 70), (5, 90), (6, 110)), 6),
    ],
    ids=["JCC's BL870c", "SPEC SDM91", "a cliff", "borne out by the next", "falls from the first", "rises late"],
)
def test_a_peak_that_its_neighbours_allow_or_bear_out_stays(
    points: tuple[tuple[float, float], ...], peak: float
) -> None:
    course = course_of(made("a", *points))
    assert isinstance(course, TimeSeries)
    assert (course.alone, course.alone_said, course.peak.load) == ((), "", peak)


def test_captures_of_production_have_no_rate_that_stands_alone() -> None:
    """What was asked for decides it there, not the machine."""
    course = course_of(replace(made("a", (4, 100), (8, 900), (12, 300)), derived=True))
    assert isinstance(course, TimeSeries)
    assert (course.alone, course.peak.load) == ((), 8)
    twice = course_of(made("a", (1, 100), (2, 500), (2, 510), (3, 120)))
    assert isinstance(twice, TimeSeries)
    assert twice.alone == (), "two runs at one load bear each other out"


SLOW = made("ES40 500", (1, 100), (2, 180), (3, 240), mhz=500)
FAST = made("ES40 666", (1, 120), (2, 205), (4, 260), mhz=666)


def test_the_slower_clock_is_scaled_to_the_faster_one() -> None:
    at = scaled(SLOW, 666)
    assert [point.rate for point in at.points] == pytest.approx([133.2, 239.76, 319.68])
    assert (at.clock_mhz, at.title, SLOW.points[0].rate) == (666, "ES40 500, at 666 MHz", 100)
    for one, other in ((SLOW, FAST), (FAST, SLOW)):
        found = at_one_clock(one, other)
        assert not isinstance(found, str)
        assert (found.fast, found.slow, found.factor) == (FAST, SLOW, 666 / 500)
        assert [one.ratio for one in found.common] == pytest.approx([1.11, 1.16956], rel=1e-4)
        assert found.more_per_cycle is SLOW
        assert found.says == (
            "At one clock, ES40 500 × 1.332 (500 to 666 MHz) does 1.11 to 1.17 times what ES40 666 does at 2 common "
            "loads: ES40 500 does more with each cycle."
        )


@pytest.mark.parametrize(
    ("rates", "more"),
    [((160, 280), "ES40 666"), ((100, 250), None), ((131, 235), None), ((100, 100), "ES40 500")],
)
def test_who_does_more_with_each_cycle_must_do_so_at_every_load_beyond_noise(
    rates: tuple[float, float], more: str | None
) -> None:
    found = at_one_clock(SLOW, made("ES40 666", (1, rates[0]), (2, rates[1]), mhz=666))
    assert not isinstance(found, str)
    title = found.more_per_cycle.title if found.more_per_cycle else None
    assert title == more
    assert ("neither" in found.says) is (more is None)


def test_a_clock_that_is_not_known_or_is_the_same_scales_nothing() -> None:
    unknown = replace(SLOW, clock_mhz=None)
    assert at_one_clock(unknown, FAST) == "ES40 500: its clock is not in the export"
    assert at_one_clock(FAST, unknown) == "ES40 500: its clock is not in the export"
    assert at_one_clock(FAST, FAST) == "ES40 666 and ES40 666 have one clock"
    with pytest.raises(ValueError, match="a clock above zero"):
        scaled(unknown, 666)


@pytest.mark.parametrize(
    ("title", "why"),
    [
        ("BL870c (1.59GHz/9.0MB) - 4 cores", "do not show one model"),
        ("ES45 - 4 CPUs", "do not show one model"),
        ("some machine", "do not show one model"),
        ("CHARON-AXP ES40 on AMD Opteron 6174 2.2 GHz", "is an emulator by its name"),
        ("ES40 1590 with DLM", "differ in more than the clock"),
    ],
)
def test_no_clock_relates_two_models_an_emulator_or_two_settings(title: str, why: str) -> None:
    other = made(title, (1, 40), (2, 60), mhz=1590)
    for pair in ((SLOW, other), (other, SLOW)):
        found = at_one_clock(*pair)
        assert isinstance(found, str)
        assert why in found
    assert slower_ones(other, (SLOW, other)) == ()


def test_an_emulator_stands_beside_hardware_by_plain_ratio_and_the_published_one() -> None:
    emulator = made("CHARON-AXP ES40 on a host", (1, 48), (2, 88), mhz=2200)
    for among in ((SLOW, emulator), (emulator, SLOW)):
        (found,) = others_as_measured(among[0], among)
        assert [one.ratio for one in found.common] == pytest.approx([0.48, 0.4889], rel=1e-3)
        assert "does 0.48 to 0.49 times what ES40 500 does at 2 common loads" in found.says
        assert "about 40 % of a 666 MHz ES40" in found.says
        assert others_as_measured(among[1], among) == (), "each pair is told once"


def test_plain_ratios_stand_between_models_of_two_clocks_alone() -> None:
    other = made("rx2660 2 cores", (1, 150), (2, 270), mhz=1590)
    (found,) = others_as_measured(SLOW, (SLOW, other))
    assert "As measured, rx2660 2 cores does 1.50 times what ES40 500 does" in found.says
    assert "40 %" not in found.says
    assert others_as_measured(SLOW, (SLOW, FAST)) == (), "of one model the clock tells"
    assert others_as_measured(SLOW, (SLOW, replace(other, clock_mhz=None))) == (), "no clock, no machine told apart"
    assert others_as_measured(WITHOUT, (WITHOUT, WITH)) == (), "one machine in two states"
    between = (FAST, replace(other, clock_mhz=None), replace(SLOW, title="ES40 500 with DLM"))
    assert others_as_measured(SLOW, (SLOW, *between, other)) == (found,), "what says nothing ends no list"


def test_each_pair_is_told_once_with_the_faster_one() -> None:
    assert [one.slow for one in slower_ones(FAST, (SLOW, FAST, WITH))] == [SLOW]
    assert slower_ones(SLOW, (SLOW, FAST)) == ()


def moded(*rows: tuple[float, float, float | None]) -> LoadSeries:
    points = tuple(
        LoadPoint(load=load, rate=rate, others=() if synch is None else (("mp_synch_percent", synch), ("cpu", 3)))
        for load, rate, synch in rows
    )
    return LoadSeries(title="m", load_name="processes", rate_name="locks", points=points)


def test_mp_synch_is_told_at_the_peak_and_where_it_is_most_beyond() -> None:
    course = course_of(moded((1, 100, 0), (2, 200, 30), (2, 190, 50), (3, 150, 273), (4, 149, 272)))
    assert isinstance(course, TimeSeries)
    found = spinning(course)
    assert found is not None
    assert (found.at_peak, found.past, found.step.load) == (0.4, 2.73, 3)


@pytest.mark.parametrize(
    "rows",
    [
        ((1, 100, 0), (2, 200, None), (3, 150, 273)),
        ((1, 100, 0), (2, 200, 40), (3, 150, None)),
        ((1, 100, 0), (2, 200, 40), (3, 150, -3)),
        ((1, 100, 0), (2, 200, 40)),
    ],
)
def test_modes_that_are_missing_or_impossible_give_no_mp_synch(rows: tuple[tuple[float, float, float | None]]) -> None:
    course = course_of(moded(*rows))
    assert isinstance(course, TimeSeries)
    assert spinning(course) is None


def test_modes_stand_beside_the_points_and_other_columns_do_not() -> None:
    assert modes_by_point(moded((1, 100, 5), (2, 200, None))) == [{"mp_synch": 5}, {}]
    assert modes_by_point(moded((1, 100, None), (2, 200, None))) is None
