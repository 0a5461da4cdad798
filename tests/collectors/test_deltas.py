"""What was counted between two snapshots: the true number, or none."""

import datetime as dt
from dataclasses import dataclass
from typing import Any

import pytest

from collectors.facts import ABSENT, OVERFLOW, Reading, Source
from collectors.facts.ase import (
    MonDataCache,
    MonEngine,
    MonOpenObjectActivity,
    MonSpinlockActivity,
    Snapshot,
)
from collectors.facts.codec import dump, load
from collectors.facts.counted import Counted
from collectors.intervals.deltas import Differences, Length, differences, length_between, rises_and_falls
from tests.collectors.moments import AGO, BOOT, NOON, at, snapshot


@dataclass(frozen=True)
class Case:
    """One counter of 32 bits of one cache, half a minute apart; the server ran since the day before."""

    name: str
    before: Reading
    after: Reading
    certificate: str
    counted: Reading
    booted: tuple[dt.datetime | None, dt.datetime | None] = (BOOT, BOOT)
    cleared: tuple[dt.datetime | None, dt.datetime | None] = (BOOT, BOOT)
    server: str = "LARCH"


UNKNOWN = (None, None)
HALF, WHOLE = 2**31, 2**32

CASES = [
    Case("it rose", 1_000, 1_600, "ok", 600.0),
    Case("it stood still", 1_000, 1_000, "ok", 0.0),
    Case("it rose, and nobody knows of restarts", 1_000, 1_600, "ok", 600.0, UNKNOWN, UNKNOWN),
    Case("to 0 after 2^31", HALF - 100, 50, "wrapped", 150.0),
    Case("to 0 after 2^32", WHOLE - 100, 50, "wrapped", 150.0),
    Case("printed negative from 2^31 on", HALF - 100, -HALF + 50, "wrapped", 150.0),
    Case("negative before and after", -500, -200, "ok", 300.0),
    Case("from negative to positive", -100, 50, "wrapped", 150.0),
    Case("printed negative, and nobody knows of restarts", HALF - 9, -HALF + 1, "wrapped", 10.0, UNKNOWN, UNKNOWN),
    Case("beyond 2^32: wider in this release", WHOLE + 5, WHOLE * 3, "ok", float(WHOLE * 2 - 5)),
    Case("fell from too low to have gone round", 1_000, 5, "reset", ABSENT),
    Case("more than half a minute can bring", 5, -HALF, "ambiguous", ABSENT),
    Case("fell from high, and nobody knows of restarts", HALF - 100, 50, "ambiguous", ABSENT, UNKNOWN, UNKNOWN),
    Case("fell from high, the clear date not known", HALF - 100, 50, "ambiguous", ABSENT, cleared=UNKNOWN),
    Case("restarted between", 1_000, 1_600, "reset", ABSENT, (BOOT, at(10))),
    Case("boot time differs by what the clock is off", 1_000, 1_600, "ok", 600.0, (BOOT, BOOT + dt.timedelta(0, 3))),
    Case("restarted between, boot time in the later one alone", 1_000, 1_600, "reset", ABSENT, (None, at(10))),
    Case("booted long before, known of the later one alone", 1_000, 1_600, "ok", 600.0, (None, BOOT)),
    Case("cleared between", 1_000, 1_600, "reset", ABSENT, cleared=(BOOT, at(10))),
    Case("clear date printed without seconds", 1_000, 1_600, "ok", 600.0, cleared=(BOOT, BOOT.replace(second=0))),
    Case("another server", 1_000, 1_600, "other instance", ABSENT, server="BIRCH"),
    Case("more than half a round", 0, HALF // 2 + 1, "ambiguous", ABSENT),
    Case("went round faster than half a minute allows", HALF - 20_000_000, 5, "ambiguous", ABSENT),
    Case("no figure before", ABSENT, 1_600, "ok", ABSENT),
    Case("too wide after", 1_000, OVERFLOW, "ok", OVERFLOW),
    Case("too wide after a restart", 1_000, OVERFLOW, "reset", OVERFLOW, (BOOT, at(10))),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_one_counter(case: Case) -> None:
    earlier = snapshot(0, server="larch", booted=case.booted[0], cleared=case.cleared[0])
    later = snapshot(30, server=case.server, booted=case.booted[1], cleared=case.cleared[1])
    row = one(earlier, later, MonDataCache(name="c", searches=case.before), MonDataCache(name="c", searches=case.after))
    assert isinstance(row, MonDataCache)
    assert (row.certificate, row.searches, row.over, row.seconds) == (case.certificate, case.counted, "interval", 30.0)


def one(earlier: Snapshot, later: Snapshot, before: Counted, after: Counted) -> Counted:
    (row,) = differences(earlier, later, [before], [after]).rows
    return row


def between(before: list[Counted], after: list[Counted], seconds: float | None = 30) -> Differences:
    if seconds is None:
        return differences(Snapshot(number=1), Snapshot(number=2), before, after)
    return differences(snapshot(0), snapshot(seconds), before, after)


def cache(name: str = "c", **figures: Any) -> MonDataCache:
    return MonDataCache(name=name, **figures)


def lock(grabs: float, slot: int | None = None, **more: Any) -> MonSpinlockActivity:
    return MonSpinlockActivity(name="bufspin x", slot=slot, grabs=grabs, spins=2 * grabs, waits=0.0, **more)


def table(index: int, reads: float, since: dt.datetime | None = None) -> MonOpenObjectActivity:
    return MonOpenObjectActivity(db_id=5, object_id=index, object_name="t", logical_reads=reads, cached_since=since)


def test_a_row_keeps_its_place_its_states_and_the_place_of_the_earlier_row() -> None:
    before = cache(searches=1.0, size_kb=10.0, source=Source("a", 3, 3))
    (row,) = between([before], [cache(searches=5.0, size_kb=20.0, source=Source("b", 4, 4))]).rows
    assert row == cache(
        searches=4.0,
        size_kb=20.0,
        source=Source("b", 4, 4),
        over="interval",
        seconds=30.0,
        certificate="ok",
        earlier=Source("a", 3, 3),
    )


def test_one_doubtful_counter_makes_the_row_doubtful_and_is_left_out() -> None:
    (row,) = between([cache(searches=9.0, stalls=5.0)], [cache(searches=3.0, stalls=7.0)]).rows
    assert isinstance(row, MonDataCache)
    assert (row.certificate, row.believed, row.searches, row.stalls) == ("reset", False, ABSENT, 2.0)


def test_without_dates_one_counter_that_fell_speaks_against_all() -> None:
    before, after = [lock(900.0, 0), lock(100.0, 1)], [lock(30.0, 0), lock(150.0, 1)]
    assert [row.certificate for row in between([*before], [*after], None).rows] == ["reset", "reset"]
    assert [row.certificate for row in between([*before], [*after]).rows] == ["reset", "ok"]


def test_a_counter_of_64_bits_never_goes_round() -> None:
    assert [row.certificate for row in between([lock(2.0**31 - 5)], [lock(5.0)]).rows] == ["reset"]
    (row,) = between([lock(2.0**40)], [lock(2.0**41)]).rows
    assert (row.certificate, getattr(row, "grabs", None)) == ("ok", 2.0**40)


def test_the_spinlocks_of_sysmonitors_have_32_bits_with_a_sign() -> None:
    old, new = lock(-1000.0, wide=False), lock(-600.0, wide=False)
    (row,) = between([old], [new]).rows
    assert isinstance(row, MonSpinlockActivity)
    assert (row.certificate, row.grabs) == ("ok", 400.0)
    sums = [lock(value, wide=False) for value in (2.0**31 - 10, -20.0)]  # a row that changes its sign, one that wraps
    (row,) = between([*sums], [lock(-(2.0**31) + 5, wide=False), lock(30.0, wide=False)]).rows
    assert isinstance(row, MonSpinlockActivity)
    assert (row.rows, row.grabs, row.slot) == (2, 65.0, None)


def test_the_spinlocks_of_sysmonitors_never_go_round_at_half_their_range() -> None:
    (row,) = between([lock(2.0**31 - 1_000, wide=False)], [lock(5.0, wide=False)], 600).rows
    assert (row.certificate, getattr(row, "grabs", None)) == ("reset", ABSENT)


def test_rows_of_one_spinlock_without_a_slot_are_added_up_in_any_order() -> None:
    (row,) = between([lock(10.0), lock(500.0)], [lock(520.0), lock(11.0)]).rows
    assert isinstance(row, MonSpinlockActivity)
    assert (row.certificate, row.rows, row.grabs, row.spins) == ("ok", 2, 21.0, 42.0)


def test_rows_of_one_spinlock_that_differ_in_number_are_ambiguous() -> None:
    (row,) = between([lock(10.0), lock(500.0)], [lock(520.0)]).rows
    assert (row.certificate, getattr(row, "grabs", None)) == ("ambiguous", ABSENT)


def test_a_slot_that_only_one_export_has_tells_nothing_apart() -> None:
    (row,) = between([lock(10.0, 0), lock(500.0, 1)], [lock(520.0), lock(11.0)]).rows
    assert isinstance(row, MonSpinlockActivity)
    assert (row.rows, row.grabs) == (2, 21.0)


def test_rows_of_another_table_that_nothing_tells_apart_are_ambiguous() -> None:
    found = between([table(1, 5.0), table(1, 7.0), table(2, 1.0)], [table(1, 8.0), table(1, 9.0), table(2, 4.0)])
    assert [row.certificate for row in found.rows] == ["ambiguous", "ambiguous", "ok"]


def test_rows_of_another_instance_are_not_subtracted() -> None:
    (row,) = between([lock(10.0, instance=1)], [lock(90.0, instance=2)]).rows
    assert (row.certificate, getattr(row, "grabs", None)) == ("other instance", ABSENT)


def test_an_engine_that_was_started_anew_counts_anew() -> None:
    def engine(number: int, started: dt.datetime, user: float) -> MonEngine:
        return MonEngine(engine=number, started=started, user_seconds=user)

    found = between([engine(0, BOOT, 5.0), engine(1, BOOT, 5.0)], [engine(0, BOOT, 9.0), engine(1, at(10), 6.0)])
    assert [row.certificate for row in found.rows] == ["ok", "reset"]


def test_a_descriptor_that_was_used_again_counts_anew_and_is_held_against_no_other() -> None:
    found = between([table(1, 50.0, BOOT), table(2, 5.0, BOOT)], [table(1, 60.0, at(5)), table(2, 6.0, BOOT)], 60)
    assert [row.certificate for row in found.rows] == ["reset", "ok"]
    found = between([table(1, 50.0), table(2, 5.0), table(3, 5.0)], [table(1, 6.0), table(2, 6.0), table(3, 6.0)], None)
    assert [row.certificate for row in found.rows] == ["reset", "ok", "ok"]


def test_an_object_that_came_between_counted_from_nothing() -> None:
    new, old, unknown = table(2, 7.0, at(5)), table(3, 7.0, BOOT), table(4, 7.0)
    found = between([table(1, 1.0, BOOT)], [table(1, 4.0, BOOT), new, old, unknown])
    assert [(getattr(row, "object_id", 0), getattr(row, "logical_reads", 0)) for row in found.rows] == [
        (1, 3.0),
        (2, 7),
    ]
    assert [row.certificate for row in found.rows] == ["ok", "ok"]
    assert [getattr(row, "object_id", 0) for row in found.alone] == [3, 4]
    assert {row.over for row in found.alone} == {"since boot"}
    assert {row.seconds for row in found.alone} == {(AGO + 30.0)}


def test_rows_that_vanished_are_counted_and_are_no_zeros() -> None:
    found = between([table(1, 1.0), table(2, 5.0), table(3, 5.0)], [table(3, 6.0)])
    assert (found.vanished, len(found.rows), found.alone) == (2, 1, ())


def test_an_interval_in_which_a_slow_row_could_have_gone_round_unseen_is_ambiguous() -> None:
    hour = [cache("a", searches=5.0), cache("b", searches=5.0)]
    assert {
        row.certificate for row in between([*hour], [cache("a", searches=9.0), cache("b", searches=7.0)], 3600).rows
    } == {"ok"}
    day = between([*hour], [cache("a", searches=9.0), cache("b", searches=7.0)], 86_400)
    assert {row.certificate for row in day.rows} == {"ambiguous"}
    engines = between([MonEngine(engine=0, user_seconds=5.0)], [MonEngine(engine=0, user_seconds=9.0)], 86_400)
    assert {row.certificate for row in engines.rows} == {"ok"}


def test_the_busiest_row_of_a_column_says_how_fast_the_others_may_be() -> None:
    before = [cache("a", searches=0.0, stalls=1.0), cache("b", searches=5.0, stalls=1.0)]
    after = [cache("a", searches=2.0**30, stalls=2.0), cache("b", searches=7.0, stalls=4.0)]
    found = between([*before], [*after], None)
    assert [(row.certificate, getattr(row, "stalls", None)) for row in found.rows] == [
        ("ambiguous", 1.0),
        ("ambiguous", 3.0),
    ]


def test_what_was_counted_since_boot_says_how_fast_the_server_is() -> None:
    booted = NOON - dt.timedelta(minutes=10)
    earlier, later = (snapshot(seconds, booted=booted, cleared=booted) for seconds in (0, 3600))
    row = one(earlier, later, cache(searches=2.0e9), cache(searches=2.1e9))
    assert row.certificate == "ambiguous"


def length(seconds: float, **fields: bool) -> Length | None:
    """How far a snapshot at noon and one so many seconds later lie apart."""
    noon = NOON.replace(second=0)
    earlier, later = (
        Snapshot(number=1, taken=noon + dt.timedelta(seconds=after), **fields)  # type: ignore[arg-type]
        for after in (0, seconds)
    )
    return length_between(earlier, later)


def test_times_without_seconds_are_a_minute_nearer_or_farther_than_they_look() -> None:
    assert length(300) == Length(300.0, 240.0, 360.0)
    assert length(60) == Length(60.0, 0.0, 120.0)
    assert length(61) == Length(61.0)
    assert length(300, taken_in_full=True) == Length(300.0), "on the minute, but printed with its seconds"
    assert length(0) is None


def test_a_rate_is_made_where_the_minute_is_a_tenth_of_the_time_at_most() -> None:
    lengths = [length(seconds) for seconds in (540, 600, 61)]
    assert [one.sure for one in lengths if one] == [None, 600.0, 61.0]


def test_rows_of_an_interval_say_how_short_and_how_long_it_may_have_been() -> None:
    noon = NOON.replace(second=0)
    for minutes, seconds in ((5, None), (20, 1200.0)):
        earlier, later = (Snapshot(number=1, taken=at) for at in (noon, noon + dt.timedelta(minutes=minutes)))
        (row,) = differences(earlier, later, [lock(5.0, 1)], [lock(9.0, 1)]).rows
        assert (row.seconds, row.seconds_low, row.seconds_high) == (seconds, minutes * 60 - 60, minutes * 60 + 60)


def test_differences_are_stored_with_their_certificate() -> None:
    rows = between([lock(5.0, 1), lock(9.0, 2)], [lock(7.0, 1), lock(3.0, 2)]).rows
    restored, lost = load(dump([row for row in rows if isinstance(row, MonSpinlockActivity)]))
    assert restored == list[object](rows)
    assert not lost
    assert [getattr(row, "certificate", None) for row in restored] == ["ok", "reset"]


def test_counters_cleared_while_a_snapshot_was_read_are_not_believed_whatever_the_dates_say() -> None:
    before = [lock(900.0, 0), lock(500.0, 1), lock(400.0, 2)]
    after = [lock(950.0, 0), lock(5.0, 1), lock(9.0, 2)]
    found = between([*before], [*after])
    assert [(row.certificate, row.believed) for row in found.rows] == [("reset", False)] * 3
    assert found.fell


def test_spinlocks_whose_slots_were_given_out_anew_are_not_subtracted_from_each_other() -> None:
    before = [lock(900.0, 7), lock(500.0, 8), lock(400.0, 9)]
    after = [lock(910.0, 8), lock(505.0, 9), lock(407.0, 10)]
    found = between([*before], [*after])
    assert [(row.certificate, row.grabs) for row in found.rows if isinstance(row, MonSpinlockActivity)] == [
        ("ambiguous", ABSENT),
        ("ambiguous", ABSENT),
    ]
    more = between([*before], [*before, lock(3.0, 10)])
    assert [row.certificate for row in more.rows] == ["ok"] * 3, "one that came and none that went: nothing moved"


def test_no_time_passed_between_a_later_time_and_an_earlier_one() -> None:
    assert length_between(snapshot(60), snapshot(0)) is None


def test_a_table_that_one_snapshot_lacks_tells_no_order() -> None:
    rows = [MonDataCache(name="default data cache", cache_id=0, searches=5.0)]
    assert rises_and_falls([], rows) == rises_and_falls(rows, []) == (0, 0)
