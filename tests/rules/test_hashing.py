"""Random hashing, against counting by hand and against throwing names into buckets."""

import math
import random
from collections import Counter

import pytest

from rules.laws.hashing import longest_chain, mean_chain, mean_probes, next_power_of_two, share_colliding


def test_as_many_names_as_buckets_is_a_chain_of_one_in_the_mean_and_63_per_cent_collide() -> None:
    assert mean_chain(4_096, 4_096) == 1.0
    assert share_colliding(4_096, 4_096) == pytest.approx(1 - 1 / math.e)
    assert mean_probes(4_096, 4_096) == 1.5


def test_the_law_is_what_throwing_names_into_buckets_gives() -> None:
    names, buckets = 20_000, 8_192
    counts = [0] * buckets
    thrown = random.Random(7)
    for _ in range(names):
        counts[thrown.randrange(buckets)] += 1
    alone = sum(1 for count in counts if count == 1)
    probes = sum(count * (count + 1) / 2 for count in counts) / names
    assert share_colliding(names, buckets) == pytest.approx(1 - alone / names, abs=0.01)
    assert mean_probes(names, buckets) == pytest.approx(probes, rel=0.02)


def test_no_names_collide_with_nobody() -> None:
    assert (mean_chain(0, 64), share_colliding(0, 64), mean_probes(0, 64)) == (0.0, 0.0, 1.0)


@pytest.mark.parametrize(
    ("value", "power"),
    [(0, 1), (1, 1), (1.5, 2), (2, 2), (3, 4), (13_400, 16_384), (16_384, 16_384), (16_384.5, 32_768)],
)
def test_the_next_power_of_two_is_not_below_the_value(value: float, power: int) -> None:
    assert next_power_of_two(value) == power


def test_a_table_without_buckets_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one bucket"):
        mean_chain(10, 0)
    assert mean_chain(10, 1) == 10


def test_the_longest_chain_is_that_of_names_thrown_at_random() -> None:
    dice = random.Random(7)
    for names, buckets, times in ((1_000, 1_024, 60), (5_000, 1_024, 15), (300, 4_096, 300)):
        runs = [max(Counter(dice.randrange(buckets) for _ in range(names)).values()) for _ in range(times)]
        assert longest_chain(names, buckets) == pytest.approx(sum(runs) / len(runs), rel=0.06)
    assert longest_chain(0, 1_024) == 0.0
    assert longest_chain(1, 2**24) == pytest.approx(1.0, abs=0.4)
    assert longest_chain(10**9, 1_024) is None, "not worked out where it is as long as the mean"
