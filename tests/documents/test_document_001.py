"""Document 001: the arithmetic of the blog, and which of its figures became limits."""

import re

import pytest

from collectors.facts import Facts
from collectors.facts.ase import (
    EngineBusy,
    IndexSize,
    LockHashtable,
    MonOpenObjectActivity,
    MonSpinlockActivity,
    Server,
)
from rules.engine import judge_one
from rules.laws.spinlocks import ADDRESS_LOCK_BUCKETS, spinlocks
from tests.documents.listed import entry, numbers_in, rule_of
from tests.test_story_vlh import LOUD, audit


def test_the_default_ratio_gives_ten_spinlocks_of_100_rows_and_one_of_31() -> None:
    printed = entry("001", "The documentation on lock address spinlock ratio").figures
    (rows,), (ratio,), (guards,), (ten, each), (last,) = (numbers_in(text) for text in printed[:5])
    assert rows == ADDRESS_LOCK_BUCKETS
    assert spinlocks(ADDRESS_LOCK_BUCKETS, ratio) == guards
    assert (ten, each) == (guards - 1, ratio)
    assert ADDRESS_LOCK_BUCKETS - ten * each == last


def test_a_ratio_of_1031_or_more_is_one_spinlock() -> None:
    assert [spinlocks(ADDRESS_LOCK_BUCKETS, ratio) for ratio in (1030, 1031, 1032, 10**6)] == [2, 1, 1, 1]


def test_a_ratio_of_5_gives_206_spinlocks_of_5_rows_and_one_of_the_last() -> None:
    (rows, ratio, quotient, guards), (full, each, last) = (
        [float(number) for number in re.findall(r"[0-9.]+", text)] for text in entry("001", "A ratio of 5").figures[:2]
    )
    assert ratio == each
    assert (rows, round(rows / each, 1)) == (ADDRESS_LOCK_BUCKETS, quotient)
    assert spinlocks(ADDRESS_LOCK_BUCKETS, each) == guards == full + last
    assert ADDRESS_LOCK_BUCKETS - full * each == 1
    assert rule_of("ase/address_lock_spinlock_contended").limits().target_ratio == each


def test_a_ratio_of_1_still_leaves_one_spinlock_for_all_that_meets_in_a_bucket() -> None:
    assert spinlocks(ADDRESS_LOCK_BUCKETS, 1) == ADDRESS_LOCK_BUCKETS


@pytest.mark.parametrize(("percent", "verdict"), [(2.0, "clean"), (5.0, "clean"), (50.0, "fired")])
def test_2_and_5_per_cent_after_the_ratio_are_in_order(percent: float, verdict: str) -> None:
    facts = Facts(
        (
            *(EngineBusy(engine=at, user_percent=90.0) for at in range(64)),
            LockHashtable(table="address", lookups_per_second=2000.0, contention_percent=percent),
        )
    )
    assert judge_one(rule_of("ase/address_lock_spinlock_contended"), facts, {}).verdict == verdict


def test_ten_per_cent_is_the_limit_of_the_lock_spinlocks_and_named_as_practice() -> None:
    (percent,) = numbers_in(entry("001", "10 % starts the search").figures[0])
    for rule, name in (
        ("ase/address_lock_spinlock_contended", "contention_percent"),
        ("ase/lock_hash_spinlock_contended", "contention_percent"),
        ("ase/table_lock_spinlock_contended", "contention_percent"),
        ("ase/object_descriptor_spinlock_contended", "critical_percent"),
        ("ase/engines_not_the_answer", "contention_percent"),
    ):
        found = {field.name: field for field in rule_of(rule).limit_fields}
        assert found[name].default == percent, (rule, sorted(found))
        assert found[name].metadata["origin"].startswith(f"practice: {percent:g} %"), rule


def test_one_spinlock_guards_a_descriptor_and_99_more() -> None:
    assert [spinlocks(descriptors, 100) for descriptors in (1, 100, 101)] == [1, 1, 2]


def test_100_000_relinkages_in_2_minutes_are_833_per_second() -> None:
    found = entry("001", "Relinkages of the system tables")
    count, minutes = numbers_in(found.figures[0])
    rate = count / (60 * minutes)
    assert f"{rate:.0f} per second, one in {1000 / rate:.1f} ms" in found.slip
    assert rule_of("ase/system_tables_in_default_cache").limits().searches_per_second == 1000.0


def test_a_scan_of_a_million_pages_is_a_million_searches() -> None:
    facts = Facts(
        (
            Server(name="FJORD1", page_size_bytes=4096.0),
            MonOpenObjectActivity(
                database="trade",
                object_name="fills",
                index_id=0,
                over="interval",
                certificate="ok",
                seconds=60.0,
                logical_reads=1_200_000.0,
                used_count=1.0,
            ),
            IndexSize(database="trade", table="fills", index_id=0, size_kb=4_000_000.0),
            *(
                MonSpinlockActivity(
                    name="default data cache",
                    slot=slot,
                    over="interval",
                    certificate="ok",
                    seconds=60.0,
                    grabs=9e6,
                    waits=1.2e6,
                    spins=8e7,
                )
                for slot in (1, 2)
            ),
        )
    )
    (finding,) = judge_one(rule_of("ase/table_scans_relink_cache"), facts, {}).findings
    assert {one.metric: one.value for one in finding.evidence}["pages scanned of trade..fills, at most"] == 1_000_000


def test_the_five_steps_of_the_story_are_those_whose_times_were_published() -> None:
    published = entry("001", "Execution times")
    seconds = [numbers_in(text)[0] * (1 if "second" in text else 60) for text in published.figures]
    assert seconds == [10, 300, 300, 180, 90, 60], "wanted, at first, then after each of four steps"
    steps = [loud[0] for loud in LOUD.values()]
    assert len(steps) == len(seconds) - 1, "four steps, and what is left is one scan"
    first = {"ase/allpages_table_contended", *published.used_by}
    assert set(steps[:4]) <= first
    assert steps[4] == "ase/table_scans_relink_cache"
    assert seconds[-1] / seconds[0] == 6, "still six times the 10 seconds it should take"


def test_no_limit_of_the_engine_rule_is_the_sweet_spot_of_the_comment() -> None:
    rule = rule_of("ase/engines_past_peak")
    assert {field.default for field in rule.limit_fields}.isdisjoint({12, 13, 14, 15, 24, 32})
    assert "there is no such number for all" in rule.text


def test_the_account_of_each_step_shows_what_the_change_before_gave_back() -> None:
    """Engines that spins can have taken at most, and tasks that waited for locks, capture by capture of the story."""
    spins: dict[str, list[float]] = {}
    waits = []
    for name in LOUD:
        processors, tasks = audit(name).accounts
        for what in ("addrlockspins", "Des Upd Spinlocks", "Ides Spinlocks"):
            spins.setdefault(what, []).append(sum(one.amount.high for one in processors.lost if what in one.what))
        waits.append(next(one.amount.booked for one in tasks.lost if one.what == "locks"))
    engines = {what: [round(one, 1) for one in most] for what, most in spins.items()}
    assert engines == {
        "addrlockspins": [19.7, 0, 0, 0, 0],
        "Des Upd Spinlocks": [0, 8.6, 0, 0, 0],  # as soon as the address locks let the engines get there
        "Ides Spinlocks": [0, 6.5, 0, 0, 0],
    }
    assert [round(one, 1) for one in waits] == [41.0, 1.1, 1.1, 1.1, 1.1]
