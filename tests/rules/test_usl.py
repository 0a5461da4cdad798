"""The Universal Scalability Law against published coefficients, to the digits they are printed with.

Data and coefficients: R package `usl` (github.com/cran/usl: tests/*.Rout.save, inst/doc/usl.pdf) for raytracer,
specsdm91 and the synthetic series; codahale/usl4j ModelTest.java and codahale/usl README for Cisco (from Schwartz,
Practical Scalability Analysis); JCC Consulting's slides for the BL870c. Its oracledb (360 rows) is not here.
"""

import math
import random

import pytest

from collectors.facts import Facts
from collectors.facts.scaling import LoadPoint, LoadSeries
from rules.engine import judge_one, rules
from rules.finding import Severity
from rules.laws.fitting import fit
from rules.laws.usl import law, model_of

RAYTRACER = (
    (1, 20),
    (4, 78),
    (8, 130),
    (12, 170),
    (16, 190),
    (20, 200),
    (24, 210),
    (28, 230),
    (32, 260),
    (48, 280),
    (64, 310),
)
SPECSDM91 = ((1, 64.9), (18, 995.9), (36, 1652.4), (72, 1853.2), (108, 1828.9), (144, 1775.0), (216, 1702.2))
SYNTHETIC = ((1, 1), (2, 1.8868), (4, 3.0769), (6, 3.5294), (8, 3.5398), (10, 3.3557))
CISCO = tuple(
    enumerate(
        (
            *(955.16, 1878.91, 2688.01, 3548.68, 4315.54, 5130.43, 5931.37, 6531.08, 7219.8, 7867.61, 8278.71),
            *(8646.7, 9047.84, 9426.55, 9645.37, 9897.24, 10097.6, 10240.5, 10532.39, 10798.52, 11151.43, 11518.63),
            *(11806, 12089.37, 12075.41, 12177.29, 12211.41, 12158.93, 12155.27, 12118.04, 12140.4, 12074.39),
        ),
        start=1,
    )
)
BL870C = tuple(enumerate((371_357, 490_199, 416_167, 344_880, 343_183, 341_316), start=1))

Points = tuple[tuple[float, float], ...]


def series(points: Points) -> LoadSeries:
    made = tuple(LoadPoint(load=load, rate=rate) for load, rate in points)
    return LoadSeries(title="t", load_name="processes", rate_name="throughput", points=made)


def missed(points: Points, alpha: float, beta: float, gamma: float) -> float:
    return sum((law(alpha, beta, gamma, load) - rate) ** 2 for load, rate in points)


@pytest.mark.parametrize(
    ("points", "alpha", "beta", "gamma"),
    [
        (RAYTRACER, "0.057771", "0.000000", "21.848843"),
        (RAYTRACER[:6], "0.02444", "0.00163", "20.85605"),
        (RAYTRACER[:5], "0.0279", "0.00146", "21.059"),
        (SPECSDM91, "0.0277285", "0.0001044", "89.9952"),
        (SYNTHETIC, "0.02", "0.02", "1.00"),
        (BL870C, "0.3726", "0.1546", "383190"),
    ],
    ids=["raytracer", "raytracer 1-6", "raytracer 1-5", "specsdm91", "synthetic", "BL870c"],
)
def test_published_coefficients_come_out_to_the_last_printed_digit(
    points: Points, alpha: str, beta: str, gamma: str
) -> None:
    found = fit(*zip(*points, strict=True))[:3]
    for value, printed in zip(found, (alpha, beta, gamma), strict=True):
        digits = len(printed.partition(".")[2])
        assert f"{value:.{digits}f}" == printed


@pytest.mark.parametrize(
    ("points", "published"),
    [
        (CISCO, (0.02671591, 7.690945e-4, 995.6486)),
        (tuple((load, round(rate)) for load, rate in SPECSDM91), (0.0277299, 0.000104343, 89.9878)),
    ],
    ids=["cisco", "specsdm91 rounded"],
)
def test_the_coefficients_of_another_program_within_its_own_tolerance_and_never_a_worse_fit(
    points: Points, published: tuple[float, float, float]
) -> None:
    found = fit(*zip(*points, strict=True))[:3]
    assert found == pytest.approx(published, rel=2e-4)  # its README promises 0.02 %
    assert missed(points, *found) <= missed(points, *published)


@pytest.mark.parametrize(
    ("points", "errors"),
    [
        (RAYTRACER, ("0.013293", "0.000118", "2.196165")),
        (SPECSDM91, ("0.0091217", "0.0000199", "14.2135")),
    ],
    ids=["raytracer, on the bound", "specsdm91"],
)
def test_published_standard_errors_come_out(points: Points, errors: tuple[str, ...]) -> None:
    found = model_of(series(points)).errors
    assert found is not None
    for value, printed in zip(found, errors, strict=True):
        digits = len(printed.partition(".")[2])
        assert f"{value:.{digits}f}" == printed


def test_published_confidence_intervals_of_six_rows_come_out() -> None:
    model = model_of(series(RAYTRACER[:6]))
    assert model.errors is not None
    wide = 2.01505  # the package's factor here: Student's t at 0.95 with 5 degrees of freedom
    ends = [
        f"{value + side * wide * error:.{digits}f}"
        for value, error, digits in zip((model.alpha, model.beta, model.gamma), model.errors, (5, 5, 3), strict=True)
        for side in (-1, 1)
    ]
    assert ends == ["0.00754", "0.04135", "0.00110", "0.00215", "19.267", "22.445"]


def test_an_optimum_on_the_bound_has_no_coherency_and_no_peak() -> None:
    model = model_of(series(RAYTRACER))
    assert model.beta == 0
    assert model.peak_load is None
    assert model.peak_rate is None
    assert [f"{model.rate(load):.1f}" for load in (96, 128)] == ["323.3", "335.5"]
    assert model.shape == "Amdahl"


@pytest.mark.parametrize(
    ("points", "limit", "optimum", "there", "residual_error"),
    [(RAYTRACER, "378", "17.3", "195", "9.34"), (SPECSDM91, "3246", "36.1", "1542", "82.85")],
    ids=["raytracer", "specsdm91"],
)
def test_published_limits_optimal_loads_and_residual_standard_errors_come_out(
    points: Points, limit: str, optimum: str, there: str, residual_error: str
) -> None:
    model = model_of(series(points))
    found = f"{model.limit:.0f} {model.optimal_load:.1f} {model.rate(model.optimal_load or 0):.0f}"
    assert found == f"{limit} {optimum} {there}"
    assert f"{model.residual_error:.2f}" == residual_error


def test_published_limit_and_optimum_of_specsdm91_have_their_last_digits() -> None:
    model = model_of(series(SPECSDM91))
    assert f"{model.limit:.1f} {model.optimal_load:.2f}" == "3245.6 36.06"


def test_the_published_maximum_of_the_rounded_series_comes_out() -> None:
    model = model_of(series(tuple((load, round(rate)) for load, rate in SPECSDM91)))
    assert math.floor(model.peak_load or 0) == 96
    assert model.rate(96) == pytest.approx(1883.76, abs=0.01)


def test_published_peaks_come_out() -> None:
    spec, cisco, synthetic = (model_of(series(points)) for points in (SPECSDM91, CISCO, SYNTHETIC))
    assert f"{spec.peak_load:.2f} {spec.peak_rate:.0f}" == "96.52 1884"
    assert f"{synthetic.peak_load:.1f}" == "7.0"
    assert f"{cisco.peak_load:.2f}" == "35.57"
    assert [model.shape for model in (spec, cisco, synthetic)] == ["retrograde"] * 3
    assert f"{cisco.rate(35):.2f}" == "12341.75"
    assert (cisco.rate(1), cisco.rate(20)) == pytest.approx((995.649, 11063.634), abs=0.01)


def test_published_residuals_come_out() -> None:
    assert model_of(series(SPECSDM91)).residuals == pytest.approx(
        [-25.10, -81.66, 111.09, 3.05, -49.99, -46.60, 56.00], abs=0.006
    )


def test_a_poor_fit_says_so_and_is_not_usable() -> None:
    model = model_of(series(BL870C))
    assert not model.usable
    assert model.why_not is not None
    assert "0.748" in model.why_not
    assert f"{model.peak_load:.2f}" == "2.01"


def test_five_loads_fit_but_are_not_trusted() -> None:
    model = model_of(series(RAYTRACER[:5]))
    assert not model.usable
    assert model.why_not == "5 different loads: fewer than 6"
    assert model.r2 > 0.99


def test_repeated_runs_at_one_load_do_not_count_as_loads() -> None:
    model = model_of(series((*RAYTRACER[:5], *RAYTRACER[:5])))
    assert not model.usable


@pytest.mark.parametrize(
    "points",
    [
        (),
        ((1, 20),),
        ((1, 20), (2, 40)),
        ((0, 20), (2, 40), (3, 50)),
        ((1, 0), (2, 0), (3, 0)),
        ((1, 20), (2, -40), (3, 50)),
        ((1, 20), (2, float("nan")), (3, 50)),
        ((1, 20), (float("inf"), 40), (3, 50)),
    ],
)
def test_what_no_law_can_be_fitted_to_is_refused_with_a_reason(points: Points) -> None:
    model = model_of(series(points))
    assert not model.usable
    assert model.why_not
    assert (model.peak_load, model.errors) == (None, None)
    assert (model.alpha, model.beta, model.gamma, model.r2) == (0.0, 0.0, 0.0, 0.0)


def test_rates_that_never_vary_explain_nothing() -> None:
    assert not model_of(series(tuple((load, 50.0) for load in range(1, 9)))).usable


@pytest.mark.parametrize("highest", [8, 64, 1_000, 20_000])
@pytest.mark.parametrize("alpha", [0.0, 0.003, 0.3])
def test_a_peak_is_found_at_any_scale_of_load(highest: int, alpha: float) -> None:
    """An absolute bound on β would lose the peak of a series over thousands of users."""
    beta = (1 - alpha) / (0.6 * highest) ** 2
    loads = [max(1, round(highest * share)) for share in (0.01, 0.15, 0.3, 0.45, 0.6, 0.75, 0.9, 1.0)]
    model = model_of(series(tuple((load, law(alpha, beta, 7e4, load)) for load in sorted(set(loads)))))
    assert model.peak_load == pytest.approx(0.6 * highest, rel=1e-4)
    assert (model.alpha, model.beta) == pytest.approx((alpha, beta), rel=1e-3, abs=1e-9)


def test_contention_alone_gives_no_peak_at_any_scale() -> None:
    for highest in (8, 1_000, 20_000):
        loads = sorted({max(1, highest * step // 8) for step in range(9)})
        assert model_of(series(tuple((load, law(0.4, 0, 9.0, load)) for load in loads))).peak_load is None


def test_rates_below_one_are_rates_like_any_other() -> None:
    small = model_of(series(tuple((load, rate / 1e6) for load, rate in SPECSDM91)))
    large = model_of(series(SPECSDM91))
    assert small.usable
    assert (small.alpha, small.beta, small.gamma * 1e6) == pytest.approx((large.alpha, large.beta, large.gamma))


def test_throughput_that_falls_from_the_first_load_on_peaks_there_and_stays_within_the_bounds() -> None:
    model = model_of(series(tuple((load, 100.0 / load**1.5) for load in range(1, 9))))
    assert 0 <= model.alpha <= 1
    assert 0 <= model.beta <= 1
    assert model.peak_load == 1.0


def test_a_rate_that_every_load_shares_has_contention_alone() -> None:
    alpha, beta, gamma, _ = fit(range(1, 9), [50.0] * 8)
    assert (alpha, beta, gamma) == pytest.approx((1, 0, 50))


def test_three_loads_give_a_law_without_errors_that_is_not_trusted() -> None:
    model = model_of(series(RAYTRACER[:3]))
    assert (model.errors, model.usable, model.why_not) == (None, False, "3 different loads: fewer than 6")
    assert model.r2 > 0.999


@pytest.mark.parametrize("loads", [(1, 2, 3, 4, 5, 6), (1, 2, 4, 8, 16, 32), (1, 2, 4, 8, 12, 16, 24, 32)])
@pytest.mark.parametrize(
    "alpha", [0.1, pytest.param(0.02, marks=pytest.mark.long), pytest.param(0.3, marks=pytest.mark.long)]
)
def test_noise_on_a_law_without_a_peak_makes_no_finding_above_a_note(loads: tuple[int, ...], alpha: float) -> None:
    (one,) = [one for one in rules() if one.id == "scaling/throughput_retrograde"]
    loud = 0
    for seed in range(100):
        noise = random.Random(seed)
        points = tuple(
            LoadPoint(load=load, rate=law(alpha, 0, 100, load) * (1 + 0.04 * noise.gauss(0, 1))) for load in loads
        )
        series = LoadSeries(title="t", load_name="engines", rate_name="throughput", points=points)
        found = judge_one(one, Facts((series,)), {}).findings
        loud += any(finding.severity > Severity.NOTE for finding in found)
    assert loud <= 5


@pytest.mark.parametrize(("share", "kept"), [(5e-6, False), (2e-5, True)])
def test_a_coefficient_is_zero_below_a_millionth_of_what_else_slows_the_highest_load(share: float, kept: bool) -> None:
    """Queueing makes ten of one there, so that this share of one is less, or more, than a millionth of the whole."""
    loads = (1, 2, 4, 8, 16, 24, 32)
    alpha, beta = 9 / 31, share / (32 * 31)
    found = fit(loads, [100 * n / (1 + alpha * (n - 1) + beta * n * (n - 1)) for n in loads])
    assert found[0] == pytest.approx(alpha)
    assert (found[1] > 0) is kept
