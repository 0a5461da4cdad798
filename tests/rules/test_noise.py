"""How far two samples of the same work differ by chance."""

import random

import pytest

from rules.laws.noise import Sample, noise_of, per_work
from tests.longer import first_of


def _samples(mean: float, spread: float, count: int, seed: int) -> list[Sample]:
    chance = random.Random(seed)
    return [Sample(chance.gauss(mean, spread), 1.0) for _ in range(count)]


def test_two_draws_of_one_population_are_within_the_noise_in_about_nineteen_of_twenty() -> None:
    within = 0
    for seed in range(60):
        noise = noise_of(_samples(10, 2, 30, 2 * seed), _samples(10, 2, 30, 2 * seed + 1))
        assert noise is not None
        within += not noise.outside
    assert 50 <= within <= 60


@first_of(1, "count", [5, 8])
def test_the_interval_of_few_samples_is_as_wide_as_it_says(count: int) -> None:
    outside = 0
    for seed in range(200):
        noise = noise_of(_samples(10, 2, count, 2 * seed), _samples(10, 2, count, 2 * seed + 1))
        assert noise is not None
        outside += noise.outside
    assert outside <= 18  # one in twenty is 10; a plain percentile interval is outside in about 30


def test_of_two_samples_on_each_side_chance_lets_every_pair_agree() -> None:
    for first, second, chance in ((2, 2, 1 / 3), (3, 3, 1 / 10), (4, 4, 1 / 35), (2, 8, 2 / 45)):
        noise = noise_of([Sample(2, 1)] * first, [Sample(1, 1)] * second)
        assert noise
        assert noise.chance == pytest.approx(chance)
        assert noise.proves is (chance < 0.05)


def test_samples_before_that_had_none_of_it_leave_the_upper_end_open() -> None:
    for count in (2, 6):
        before = [Sample(0.0, 1.0) if number % 2 else Sample(10.0, 1.0) for number in range(count)]
        noise = noise_of(before, [Sample(2.0, 1.0)] * count)
        assert noise
        assert not noise.outside
        assert not noise.bounded


def test_what_cannot_be_a_sample_is_none() -> None:
    odd = [Sample(float("nan"), 1.0), Sample(-5.0, 1.0), Sample(1.0, float("inf")), Sample(1.0, 0.0)]
    assert noise_of([*odd, Sample(2, 1)], [Sample(1, 1)] * 4) is None


def test_a_third_less_is_seen_through_the_same_spread() -> None:
    noise = noise_of(_samples(10, 2, 30, 1), _samples(6.7, 2, 30, 2))
    assert noise is not None
    assert noise.how == "bootstrap"
    assert noise.outside
    assert noise.low < 0.67 < noise.high < 0.85


def test_neighbours_in_time_that_are_alike_make_the_interval_wider() -> None:
    wave = [5.0 + 4.0 * (step // 12 % 2) for step in range(48)]
    shuffled = random.Random(3).sample(wave, len(wave))
    flat = [Sample(7.0, 1.0)] * 48
    slow, fast = (noise_of([Sample(value, 1.0) for value in one], flat) for one in (wave, shuffled))
    assert slow
    assert fast
    assert slow.high - slow.low > 1.3 * (fast.high - fast.low)


def test_of_a_few_samples_every_pair_has_to_agree() -> None:
    agree = noise_of([Sample(10, 1), Sample(12, 1)], [Sample(8, 1), Sample(9, 1), Sample(7, 1)])
    differ = noise_of([Sample(10, 1), Sample(12, 1)], [Sample(8, 1), Sample(11, 1)])
    assert agree
    assert differ
    assert agree.how == "every pair"
    assert (agree.low, agree.high) == pytest.approx((7 / 12, 0.9))
    assert agree.outside
    assert not differ.outside


def test_one_sample_tells_nothing_of_its_noise() -> None:
    assert noise_of([Sample(10, 1)], _samples(5, 1, 20, 1)) is None
    assert noise_of(_samples(5, 1, 20, 1), [Sample(10, 1)]) is None


def test_nothing_to_divide_by_is_no_ratio() -> None:
    nothing = [Sample(0.0, 1.0)] * 6
    assert noise_of(nothing, _samples(5, 1, 6, 1)) is None
    assert per_work([Sample(3.0, 0.0)]) is None


def test_a_sample_weighs_by_the_work_it_did() -> None:
    assert per_work([Sample(10.0, 1.0), Sample(10.0, 9.0)]) == 2.0
