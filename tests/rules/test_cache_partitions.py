"""How far a cache may be cut: by engines, by release, by the size of its pools."""

import pytest

from collectors.facts import Facts
from collectors.facts.ase import CachePool, EngineBusy, NamedCache, Server
from rules.ase._evidence.caches.partitions import Advice, advise, legal_partitions


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
    ("engines", "run", "new"), [(2, 1, 2), (3, 2, 4), (12, 4, 8), (12, 8, 16), (64, 32, 64), (20, 3, 8)]
)
def test_the_next_power_of_two_up_to_the_engines_rounded_up(engines: int, run: int, new: int) -> None:
    change = advice(engines, run, 10.0).change
    assert change is not None
    assert (change.old, change.new) == (run, new)


@pytest.mark.parametrize(("engines", "run"), [(2, 2), (3, 4), (12, 16), (64, 64)])
def test_the_rule_goes_no_further_than_the_engines(engines: int, run: int) -> None:
    found = advice(engines, run, 50.0)
    assert found.change is None
    assert f"with {engines} engines this rule goes no further" in found.because
    assert "named caches of their own" in found.do


def test_an_old_release_ends_at_64_and_a_new_one_does_not() -> None:
    assert "this release allows 64" in advice(100, 64, 50.0, version="16.0 SP01 PL02").because
    change = advice(200, 64, 39.0, version="16.0 SP02 PL02").change
    assert change is not None
    assert change.new == 256
    assert any("More than 64" in caution for caution in change.cautions)
    small = advice(100, 32, 15.0, version="16.0 SP02 PL02").change  # 7.5 % is enough for no more than the guides name
    assert small is not None
    assert small.new == 64
    assert not any("More than 64" in caution for caution in small.cautions)


@pytest.mark.parametrize("version", ["", "15.7/EBF 22301 SMP SP121", "16.0 GA PL05", "damaged"])
def test_a_release_that_is_old_or_not_known_is_never_asked_for_more_than_64(version: str) -> None:
    change = advice(200, 4, 90.0, version=version).change
    assert change is not None
    assert change.new == 64
    assert "this release allows 64" in advice(200, 64, 90.0, version=version).because


@pytest.mark.parametrize(
    ("engines", "contention", "new", "says"),
    [
        (40, 28.4, 8, "about 3.5 %. At most half of the limit is aimed at (this project)"),
        (12, 40.0, 8, "about 5.0 %. At most half of the limit is aimed at (this project)"),
        (12, 19.9, 4, "about 5.0 %"),  # 2 would leave 9.9 %, just under the limit
        (12, 10.0, 2, "about 5.0 %"),  # half of the limit is enough
        (4, 28.4, 4, "less than 10 % (about 7.1 %); more are not proposed"),
        (2, 90.0, 2, "even the most that engines, release and pools allow leave about 45.0 %"),
    ],
)
def test_the_fewest_that_are_enough_in_one_restart(engines: int, contention: float, new: int, says: str) -> None:
    found = advice(engines, 1, contention)
    assert found.change is not None
    assert found.change.new == new
    assert says in found.do
    assert ("named caches of their own" in found.instead) == (contention / new >= 10)


def test_the_release_is_that_of_the_last_export_that_names_one() -> None:
    newer, nameless = Server(version="16.0 SP02"), Server(name="FJORD1")
    assert legal_partitions(Facts((newer, nameless))) == 256
    assert legal_partitions(Facts((newer, Server(version="15.7")))) == 64
    assert legal_partitions(Facts((nameless,))) == 64


@pytest.mark.parametrize(("pool_mb", "new"), [(4.0, 8), (100.0, 16)])
def test_a_pool_that_is_large_enough_lets_it_be_cut_into_what_is_needed(pool_mb: float, new: int) -> None:
    change = advice(12, 1, 60.0, pool_mb=pool_mb).change
    assert change is not None
    assert change.new == new


@pytest.mark.parametrize("pool_mb", [2.0, 3.9])
def test_no_restart_is_asked_for_fewer_than_are_needed_because_a_pool_is_too_small(pool_mb: float) -> None:
    found = advice(12, 1, 60.0, pool_mb=pool_mb)
    assert found.change is None
    assert f"its 2 KB pool has {pool_mb:g} MB, too little for 16." in found.because
    assert "Enlarge that pool first" in found.do


def test_contention_is_expected_to_halve_by_rule_of_thumb() -> None:
    first, second = advice(12, 4, 30.1).expects
    assert (first.before, first.after, first.basis) == (4, 16, "arithmetic")
    assert (second.before, second.after, second.basis) == (30.1, 7.5, "heuristic")


def test_the_caution_names_what_each_partition_has_of_its_smallest_pool() -> None:
    change = advice(12, 1, 40.0, pool_mb=64.0).change
    assert change is not None
    assert any("Each of the 8 partitions" in one and "8 MB of the 2 KB pool" in one for one in change.cautions)


def test_a_known_page_needs_no_caution() -> None:
    change = advice(12, 4, 30.0).change
    assert change is not None
    assert not any("logical page" in caution for caution in change.cautions)


def test_a_large_part_of_the_pool_is_printed_in_full() -> None:
    change = advice(12, 1, 40.0, pool_mb=102_400.0).change
    assert change is not None
    assert any("with 12,800 MB of the 2 KB pool" in one for one in change.cautions)
