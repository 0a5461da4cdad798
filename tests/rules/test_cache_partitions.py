"""How far a cache may be cut: by engines, by release, by the size of its pools."""

import pytest

from collectors.facts import Facts
from collectors.facts.ase import CachePool, EngineBusy, NamedCache, Server
from rules.judging.caches.partitions import Advice, advise


def advice(engines: int, run: float, contention: float, *, pool_mb: float = 100_000.0, version: str = "15.7") -> Advice:
    named = NamedCache(name="c", run_size_mb=pool_mb, run_partitions=run, config_partitions=run)
    facts = Facts(
        (
            *(EngineBusy(engine=number, user_percent=90.0) for number in range(engines)),
            Server(version=version, page_size_bytes=2048.0),
            named,
            CachePool(cache="c", io_size_kb=2, run_size_mb=pool_mb),
        )
    )
    return advise(facts, "c", named, contention, 10.0)


@pytest.mark.parametrize(
    ("engines", "run", "new"), [(2, 1, 2), (3, 2, 4), (12, 4, 8), (12, 8, 16), (64, 32, 64), (20, 3, 4)]
)
def test_the_next_power_of_two_up_to_the_engines_rounded_up(engines: int, run: int, new: int) -> None:
    change = advice(engines, run, 12.0).change
    assert change is not None
    assert (change.old, change.new) == (run, new)


@pytest.mark.parametrize(("engines", "run"), [(2, 2), (3, 4), (12, 16), (64, 64)])
def test_the_rule_goes_no_further_than_the_engines(engines: int, run: int) -> None:
    found = advice(engines, run, 50.0)
    assert found.change is None
    assert f"with {engines} engines this rule goes no further" in found.says
    assert "named caches of their own" in found.says


def test_an_old_release_ends_at_64_and_a_new_one_does_not() -> None:
    assert "this release allows 64" in advice(100, 64, 50.0, version="16.0 SP01 PL02").says
    change = advice(100, 64, 50.0, version="16.0 SP02 PL02").change
    assert change is not None
    assert change.new == 128
    assert any("More than 64" in caution for caution in change.cautions)
    small = advice(100, 32, 50.0, version="16.0 SP02 PL02").change
    assert small is not None
    assert not any("More than 64" in caution for caution in small.cautions)


def test_further_doublings_are_named_only_where_one_is_not_enough() -> None:
    assert "up to 16 partitions" in advice(12, 1, 40.0).says
    assert "about 20 %" in advice(12, 1, 40.0).says
    assert "up to" not in advice(12, 1, 19.0).says
    assert "up to" in advice(12, 1, 20.0).says
    assert "up to" not in advice(2, 1, 90.0).says


def test_further_doublings_stop_where_the_pool_gets_too_small() -> None:
    assert "up to 4 partitions" in advice(12, 1, 40.0, pool_mb=2.0).says
    assert "up to 4 partitions" in advice(12, 1, 40.0, pool_mb=3.9).says
    assert "up to 8 partitions" in advice(12, 1, 40.0, pool_mb=4.0).says


def test_contention_is_expected_to_halve_by_rule_of_thumb() -> None:
    first, second = advice(12, 4, 30.1).expects
    assert (first.before, first.after, first.basis) == (4, 8, "arithmetic")
    assert (second.before, second.after, second.basis) == (30.1, 15.1, "heuristic")


def test_a_known_page_needs_no_caution() -> None:
    change = advice(12, 4, 30.0).change
    assert change is not None
    assert not any("logical page" in caution for caution in change.cautions)
