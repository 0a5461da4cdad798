"""The shapes of the scalability law: capped at the processors, linear, Amdahl; and when none of them may be used."""

from dataclasses import replace

import pytest

from collectors.facts.scaling import LoadPoint, LoadSeries
from rules.laws.usl import harm_from, law, model_of
from rules.laws.work import uneven_work
from tests.rules.test_usl import BL870C, CISCO, RAYTRACER, Points, series

JCC_USER = (27, 39, 32, 28, 30, 30)
"""User mode of the BL870c's six runs, % of one CPU."""

APUE = (
    (1, 0.14, 0.35, 0.50),
    (2, 0.60, 1.43, 1.88),
    (3, 0.97, 2.67, 3.18),
    (4, 2.38, 6.17, 5.59),
    (5, 3.72, 10.17, 8.37),
    (6, 5.02, 14.52, 11.52),
    (7, 7.00, 20.16, 15.84),
    (8, 9.12, 26.20, 20.31),
    (9, 11.60, 33.91, 25.64),
    (10, 14.28, 42.24, 31.35),
    (11, 17.37, 51.12, 37.50),
    (12, 20.70, 60.48, 44.24),
    (13, 25.13, 70.67, 51.96),
    (14, 28.40, 82.23, 59.88),
    (15, 32.23, 94.26, 68.30),
    (16, 37.24, 107.87, 78.67),
)
"""Advanced Programming in the UNIX Environment, 3rd edition, figure 20.8, coarse locking: processes, user, system and
clock seconds."""


def machine(points: Points, cores: int | None = None, name: str = "processes") -> LoadSeries:
    made = tuple(LoadPoint(load=load, rate=rate) for load, rate in points)
    return LoadSeries(title="m", load_name=name, rate_name="throughput", points=made, cores=cores)


def with_user(points: Points, user: tuple[float, ...]) -> LoadSeries:
    made = tuple(
        LoadPoint(load=load, rate=rate, others=(("user_percent", used),))
        for (load, rate), used in zip(points, user, strict=True)
    )
    return LoadSeries(title="m", load_name="processes", rate_name="throughput", points=made)


def apue(last: int) -> LoadSeries:
    points = tuple(
        LoadPoint(load=load, rate=load / clock, others=(("user_seconds", user), ("clock_seconds", clock)))
        for load, user, _, clock in APUE[:last]
    )
    return LoadSeries(title="record locking", load_name="processes", rate_name="runs_per_second", points=points)


def test_the_bl870c_is_capped_at_its_four_cores() -> None:
    model = model_of(machine(BL870C, cores=4))
    assert (model.law, model.cap, model.usable, model.shape) == ("usl-capped", 4, True, "retrograde")
    assert f"{model.alpha:.2f} {model.beta:.2f} {model.gamma:.0f}" == "0.00 0.28 376459"
    assert f"{model.r2:.3f} {model.peak_load:.2f} {model.best_load}" == "0.993 1.88 2"
    assert model.rate(4) == model.rate(6) == model.rate(100) < model.rate(3)
    assert model.first is not None
    assert (f"{model.first.r2:.3f}", model.first.usable, model.first.law) == ("0.748", False, "usl")
    assert model.remarks[0] == (
        "The law did not fit (R² 0.748); with its load capped at the 4 processors it does (R² 0.993)."
    )
    assert harm_from(model) == 2


@pytest.mark.parametrize("cores", [None, 6, 8, 3, 2])
def test_no_cap_without_known_processors_nor_where_it_changes_nothing_nor_with_too_few_loads_below_it(
    cores: int | None,
) -> None:
    model = model_of(machine(BL870C, cores=cores))
    assert (model.law, model.cap, model.first, model.usable) == ("usl", None, None, False)


def test_a_law_that_fits_is_not_capped() -> None:
    model = model_of(machine(CISCO, cores=16))
    assert (model.law, model.usable) == ("usl", True)


def test_a_capped_law_that_fits_no_better_is_not_taken() -> None:
    points = ((1, 100), (2, 30), (3, 160), (4, 40), (5, 150), (6, 35))
    model = model_of(machine(points, cores=4))
    assert (model.law, model.usable, model.first) == ("usl", False, None)
    assert model.why_not
    assert "capped at the 4 processors it fits poorly, too (R²" in model.why_not
    uncapped = model_of(machine(points, cores=6))
    assert uncapped.why_not
    assert "capped" not in uncapped.why_not


def test_a_capped_law_whose_peak_lies_at_the_cap_never_falls() -> None:
    points = tuple((load, law(0, 0, 100, load, 8)) for load in (1, 2, 3, 4, 5, 6, 7, 8, 40, 160))
    model = model_of(machine(points, cores=8))
    assert (model.law, model.peak_load, harm_from(model)) == ("usl-capped", None, None)
    assert model.rate(160) == pytest.approx(800)
    assert model.shape == "linear"


def test_a_peak_beyond_the_cap_is_none_for_the_rate_stays_where_it_is_there() -> None:
    capped = replace(model_of(machine(BL870C, cores=4)), alpha=0.05, beta=0.001)
    assert (capped.peak_load, capped.peak_rate, capped.best_load) == (None, None, None)
    assert f"{replace(capped, cap=None).peak_load:.1f}" == "30.8"


def test_three_loads_under_the_cap_prove_no_capped_law() -> None:
    points = tuple((load, law(0, 0.3, 100, load, 3)) for load in (1, 2, 3, 6, 12, 24))
    assert model_of(machine(points, cores=3)).law == "usl"
    assert model_of(machine(((2.5, law(0, 0.3, 100, 2.5)), *points), cores=3)).law == "usl-capped"


@pytest.mark.parametrize(
    ("alpha", "beta", "shape"), [(0.0, 0.0, "linear"), (0.1, 0.0, "Amdahl"), (0.1, 0.01, "retrograde")]
)
def test_shapes_are_named(alpha: float, beta: float, shape: str) -> None:
    model = model_of(series(tuple((load, law(alpha, beta, 50, load)) for load in range(1, 9))))
    assert (model.shape, model.usable, model.limit is None) == (shape, True, alpha == 0)


def test_too_few_loads_are_named_before_anything_else() -> None:
    assert model_of(series(((3, 416.73), (9, 270.11), (16, 248.63)))).why_not == "3 different loads: fewer than 6"


def test_what_is_not_fitted_has_no_shape() -> None:
    assert model_of(series(((1, 20), (2, 40)))).shape is None


def test_rates_that_would_need_more_than_full_contention_are_refused() -> None:
    """The search stops at α = 1; as published of the APUE table."""
    points = tuple((load, rate / clock) for load, _, _, clock in APUE for rate in (load,))
    model = model_of(series(points))
    assert model.alpha == pytest.approx(1)
    assert not model.usable


def test_a_coefficient_on_its_bound_is_named_where_the_fit_is_good() -> None:
    model = model_of(series(tuple((load, 100 / load**1.2) for load in range(1, 9))))
    assert model.r2 > 0.9
    assert model.why_not is not None
    assert "α lies on its bound" in model.why_not


def test_user_time_that_rises_with_the_load_is_other_work() -> None:
    said = uneven_work(apue(16))
    assert said is not None
    assert "at least 16." in said
    assert "lowest at 1, highest at 16 processes" in said
    model = model_of(apue(16))
    assert (model.usable, model.why_not) == (False, said)
    assert harm_from(model) is None


def test_the_bl870cs_runs_did_the_same_work() -> None:
    used = with_user(BL870C, JCC_USER)
    per_unit = [user / rate for user, (_, rate) in zip(JCC_USER, BL870C, strict=True)]
    assert f"{max(per_unit) / min(per_unit):.2f}" == "1.21"
    assert uneven_work(used) is None


@pytest.mark.parametrize(("user", "uneven"), [((1, 2, 2, 3, 3, 3), False), ((20, 43, 60, 80, 100, 230), True)])
def test_rounding_alone_makes_no_other_work(user: tuple[float, ...], *, uneven: bool) -> None:
    points = tuple((load, 100.0 * load) for load in range(1, 7))
    assert (uneven_work(with_user(points, user)) is not None) is uneven


@pytest.mark.parametrize(("converts", "uneven"), [((5000.0, 9000.0, 7000.0), False), ((5000.0, 9000.0, 6000.0), True)])
def test_a_lock_test_of_one_mix_does_the_same_work_whatever_it_takes_of_a_shared_core(
    converts: tuple[float, ...], *, uneven: bool
) -> None:
    """Rates 10,000, 18,000 and 14,000 with a quarter of enqueues; user time per operation rises 2.4-fold."""
    points = tuple(
        LoadPoint(
            load=load,
            rate=rate,
            others=(
                ("new_enq_per_second", rate / 4),
                ("converted_enq_per_second", converted),
                ("user_percent", user),
            ),
        )
        for load, rate, converted, user in zip(
            (1, 2, 4), (10_000.0, 18_000.0, 14_000.0), converts, (20, 43, 68), strict=True
        )
    )
    series = LoadSeries(title="m", load_name="processes", rate_name="lock_operations_per_second", points=points)
    assert (uneven_work(series) is not None) is uneven


def test_user_time_without_the_clock_time_of_its_run_tells_nothing() -> None:
    points = tuple(LoadPoint(load=n, rate=10.0 * n, others=(("user_seconds", n**2),)) for n in range(1, 9))
    assert uneven_work(LoadSeries(title="m", load_name="processes", rate_name="tps", points=points)) is None


def test_emulation_time_per_transaction_tells_too() -> None:
    points = tuple(LoadPoint(load=n, rate=10.0, others=(("emul_msec_per_tx", float(n)),)) for n in (3, 9, 16))
    said = uneven_work(LoadSeries(title="m", load_name="processors", rate_name="tps", points=points))
    assert said is not None
    assert "5.3-fold" in said


def test_a_peak_beyond_the_measured_range_is_said_to_be_there() -> None:
    points = tuple((load, law(0.02, 0.0004, 10, load)) for load in (1, 2, 4, 8, 16, 32))
    model = model_of(series(points))
    assert model.usable
    assert model.peak_load is not None
    assert model.peak_load > 32
    assert "beyond the highest load measured, 32" in model.remarks[0]
    assert harm_from(model) is None


def test_without_a_usable_law_harm_begins_at_the_measured_peak() -> None:
    fall = ((3, 400.0), (9, 270.0), (16, 250.0))
    assert harm_from(model_of(series(fall))) == 3
    assert harm_from(model_of(series(((3, 250.0), (9, 270.0), (16, 262.0))))) is None
    assert harm_from(model_of(series(RAYTRACER))) is None
    overlapping = ((3, 400.0), (3, 200.0), (9, 270.0), (16, 150.0), (16, 250.0))
    assert harm_from(model_of(series(overlapping))) is None


@pytest.mark.parametrize(("busy", "harm"), [((90.0, 95.0, 96.0), 3), ((90.0, 95.0, 40.0), None), ((None,) * 3, None)])
def test_captures_of_production_show_harm_only_where_the_machine_was_busy(
    busy: tuple[float | None, ...], harm: float | None
) -> None:
    points = tuple(
        LoadPoint(load=load, rate=rate, others=() if share is None else (("busy_percent", share),))
        for (load, rate), share in zip(((3, 400.0), (9, 270.0), (16, 250.0)), busy, strict=True)
    )
    made = LoadSeries(title="m", load_name="engines", rate_name="commits", points=points, derived=True)
    assert harm_from(model_of(made)) == harm


def test_rates_that_level_off_do_no_harm_though_the_law_bends_down() -> None:
    model = model_of(series(tuple((n, 100.0 * min(n, 4)) for n in range(1, 13))))
    assert (model.usable, model.proven, model.levels_off) == (True, True, True)
    assert model.peak_load is not None
    assert model.peak_load < 12
    assert harm_from(model) is None
    assert "no fall beyond noise was measured" in " ".join(model.remarks)


def test_of_few_loads_one_low_run_shows_no_harm_and_two_do() -> None:
    rising = ((1, 100.0), (2, 180.0), (4, 255.0))
    assert harm_from(model_of(series((*rising, (8, 190.0))))) is None
    assert harm_from(model_of(series((*rising, (8, 190.0), (8, 194.0))))) == 4
    assert harm_from(model_of(series((*rising, (8, 215.0), (16, 175.0))))) == 4


def test_two_loads_show_no_harm() -> None:
    assert harm_from(model_of(series(((1, 100.0), (2, 50.0))))) is None
