"""Snapshots find their tables, their order and their partner, in whatever files they stand."""

import datetime as dt

from collectors.facts import Fact, Source
from collectors.facts.ase import (
    Deadlock,
    HeldLock,
    MonCachedObject,
    MonDataCache,
    MonEngine,
    MonOpenObjectActivity,
    MonSpinlockActivity,
    MonState,
    MonTable,
    Snapshot,
)
from collectors.facts.counted import Counted
from collectors.intervals.snapshots import sort_out
from collectors.read import Input
from tests.collectors.moments import AGO, BOOT, at, snapshot


def given(file: str, *facts: Fact) -> Input:
    return Input(file, "ase/monitor_tables", list(facts), given=file)


def lock(grabs: float, name: str = "fglockspins") -> MonSpinlockActivity:
    return MonSpinlockActivity(name=name, grabs=grabs, spins=grabs, waits=0.0)


def cache(searches: float) -> MonDataCache:
    return MonDataCache(name="c", searches=searches)


def untimed(number: int = 1) -> Snapshot:
    return Snapshot(number=number)


def counted(found: list[Input]) -> list[list[tuple[str, float | None, str | None, object]]]:
    """Of each input its rows of counters: table, seconds, certificate, first counter."""
    return [
        [
            (type(fact).__name__, fact.seconds, fact.certificate, getattr(fact, next(iter(fact.COUNTERS))))
            for fact in one.facts
            if isinstance(fact, Counted)
        ]
        for one in found
    ]


LOCK = ("MonSpinlockActivity", 60.0, "ok", 40.0)
CACHE = ("MonDataCache", 60.0, "ok", 7.0)


def test_two_snapshots_of_one_file_are_one_interval() -> None:
    one = given("a.txt", snapshot(0), lock(10.0), cache(1.0), snapshot(60, 2), lock(50.0), cache(8.0))
    found, left = sort_out([one])
    assert (counted(found), left) == ([[LOCK, CACHE]], [])
    (pair,) = [fact for fact in found[0].facts if isinstance(fact, Snapshot)]
    assert (pair.previous, pair.taken, pair.server) == (at(0), at(60), "LARCH")
    assert pair.earlier is not None


def test_two_files_are_subtracted_in_the_order_of_their_times() -> None:
    later, earlier = given("a.txt", snapshot(60), lock(50.0)), given("b.txt", snapshot(0), lock(10.0))
    assert counted(sort_out([later, earlier])[0]) == counted(sort_out([earlier, later])[0]) == [[LOCK]]


def test_the_tables_of_one_moment_may_stand_in_a_file_each_and_be_read_some_seconds_apart() -> None:
    files = [
        given("s/lock1.txt", snapshot(0), lock(10.0)),
        given("s/lock2.txt", snapshot(60), lock(50.0)),
        given("s/cache1.txt", snapshot(4), cache(1.0)),
        given("s/cache2.txt", snapshot(64), cache(8.0)),
    ]
    assert counted(sort_out(files)[0]) == [[LOCK, CACHE]]


def test_files_without_times_are_paired_by_table_and_ordered_by_their_counters() -> None:
    without = [(name, None, certificate, count) for name, _, certificate, count in (LOCK, CACHE)]
    files = [
        given("after/lock.txt", untimed(), lock(50.0)),
        given("after/cache.txt", untimed(), cache(8.0)),
        given("before/cache.txt", untimed(), cache(1.0)),
        given("before/lock.txt", untimed(), lock(10.0)),
    ]
    assert [sorted(rows) for rows in counted(sort_out(files)[0])] == [sorted(without)]
    assert [sorted(rows) for rows in counted(sort_out(files[::-1])[0])] == [sorted(without)]


def test_files_without_times_go_with_those_of_their_own_folder() -> None:
    files = [
        given("x/lock.txt", untimed(), lock(10.0)),
        given("y/lock.txt", untimed(), lock(50.0)),
        given("y/cache.txt", untimed(), cache(8.0)),
        given("x/cache.txt", untimed(), cache(1.0)),
    ]
    assert [[row[3] for row in rows] for rows in counted(sort_out(files)[0])] == [[40.0, 7.0]]


def test_within_one_file_the_later_snapshot_is_the_later_one_even_if_all_counters_fell() -> None:
    found, _ = sort_out([given("a.txt", untimed(), lock(50.0), untimed(2), lock(10.0))])
    assert [row[2] for row in counted(found)[0]] == ["reset"]


def test_without_times_boot_times_tell_the_order_too() -> None:
    old = given("b.txt", Snapshot(number=1, booted=BOOT), lock(50.0))
    new = given("a.txt", Snapshot(number=1, booted=at(0)), lock(10.0))
    (found,) = sort_out([new, old])[0]
    assert [row[2] for row in counted([found])[0]] == ["reset"]
    assert [fact.booted for fact in found.facts if isinstance(fact, Snapshot)] == [at(0)]


def test_tables_of_two_servers_are_never_one_moment() -> None:
    one = given("a.txt", Snapshot(number=1, server="LARCH", taken=at(0), booted=BOOT), lock(1.0))
    other = given("b.txt", Snapshot(number=1, server="BIRCH", taken=at(0)), cache(1.0))
    _, left = sort_out([one, other])
    assert [row[0][1] for row in counted(left)] == [AGO, None]


def test_the_order_of_unsigned_counters_is_told_beyond_the_sign() -> None:
    rows = [MonSpinlockActivity(name="n", grabs=grabs, wide=False) for grabs in (2.0**31 - 5, -(2.0**31) + 5)]
    files = [given("b.txt", untimed(), rows[1]), given("a.txt", untimed(), rows[0])]
    assert [row[2:] for row in counted(sort_out(files)[0])[0]] == [("wrapped", 10.0)]


def test_where_nothing_tells_the_order_there_are_no_differences_and_a_problem_says_so() -> None:
    files = [
        given("a.txt", untimed(), lock(50.0), lock(1.0, "x")),
        given("b.txt", untimed(), lock(10.0), lock(3.0, "x")),
    ]
    found, left = sort_out(files)
    assert (found, [one.file for one in left]) == ([], ["b.txt"])
    assert counted(left) == [[("MonSpinlockActivity", None, None, 10.0), ("MonSpinlockActivity", None, None, 3.0)]]
    assert "a.txt" in files[1].problems[0]
    assert "getdate()" in files[1].problems[0]


def test_a_snapshot_brought_twice_is_read_once() -> None:
    files = [given(name, snapshot(0), lock(10.0)) for name in ("a.txt", "b.txt")]
    found, left = sort_out(files)
    assert (found, len(left)) == ([], 1)
    assert "a.txt" in files[1].problems[0]


def test_one_snapshot_stays_totals_since_the_boot_or_the_clear() -> None:
    found, (one,) = sort_out([given("a.txt", snapshot(0), lock(10.0))])
    assert not found
    assert counted([one]) == [[("MonSpinlockActivity", AGO, None, 10.0)]]
    _, (one,) = sort_out([given("a.txt", snapshot(0, cleared=at(-300)), lock(10.0))])
    assert counted([one])[0][0][1] == 300.0
    _, (one,) = sort_out([given("a.txt", untimed(), lock(10.0))])
    assert counted([one])[0][0][1] is None


def test_each_of_three_snapshots_is_held_against_the_one_before() -> None:
    one = given("a.txt", snapshot(0), lock(10.0), snapshot(60, 2), lock(50.0), snapshot(180, 3), lock(51.0))
    assert counted(sort_out([one])[0]) == [[LOCK], [("MonSpinlockActivity", 120.0, "ok", 1.0)]]


def test_two_captures_with_a_restart_between_them_make_no_third() -> None:
    restarted = {"booted": at(3_000), "cleared": at(3_000)}
    then = [snapshot(0), lock(10.0), snapshot(600, 2), lock(50.0)]
    now = [snapshot(9_000, 3, **restarted), lock(5.0), snapshot(9_600, 4, **restarted), lock(7.0)]  # type: ignore[arg-type]
    found, left = sort_out([given("then.txt", *then), given("now.txt", *now)])
    assert (counted(found), left) == (
        [[("MonSpinlockActivity", 600.0, "ok", 40.0)], [("MonSpinlockActivity", 600.0, "ok", 2.0)]],
        [],
    )
    (across,), _ = sort_out([given("then.txt", *then[:2]), given("now.txt", *now[:2])])
    assert counted([across])[0][0][2] == "reset"  # nothing else was given: then it is said


def test_the_dates_of_mon_state_count_for_the_tables_of_other_files() -> None:
    def state(started: dt.datetime) -> MonState:
        return MonState(started=started, counters_cleared=BOOT, deadlocks=1.0)

    def taken(seconds: int) -> Snapshot:
        return Snapshot(number=1, taken=at(seconds))

    files = [
        given("lock1.txt", taken(0), lock(10.0)),
        given("state1.txt", taken(1), state(BOOT)),
        given("lock2.txt", taken(60), lock(50.0)),
        given("state2.txt", taken(61), state(at(30))),
    ]
    assert {row[2] for row in counted(sort_out(files)[0])[0]} == {"reset"}


def test_a_restart_that_one_table_shows_speaks_against_the_others_where_dates_are_missing() -> None:
    facts = [untimed(), lock(50.0), cache(1.0), untimed(2), lock(10.0), cache(8.0)]
    assert [row[2] for row in counted(sort_out([given("a.txt", *facts)])[0])[0]] == ["reset", "reset"]


def test_of_the_states_the_later_snapshot_counts_and_the_earlier_where_it_alone_has_them() -> None:
    old, new = HeldLock(spid=1, lock_type="x"), HeldLock(spid=2, lock_type="x")
    cached = MonCachedObject(cache="c", object_name="t")
    engine = MonEngine(engine=0, user_seconds=5.0)
    one = given("a.txt", snapshot(0), lock(1.0), old, cached, engine, snapshot(60, 2), lock(2.0), new)
    facts = sort_out([one])[0][0].facts
    assert [fact for fact in facts if isinstance(fact, HeldLock)] == [new]
    assert [fact for fact in facts if isinstance(fact, MonCachedObject)] == [cached]
    assert [(fact.over, fact.seconds) for fact in facts if isinstance(fact, MonEngine)] == [("since boot", AGO)]
    one = given("a.txt", snapshot(0), lock(1.0), old, snapshot(60, 2), lock(2.0), MonTable(table="monLocks", rows=0))
    assert not [fact for fact in sort_out([one])[0][0].facts if isinstance(fact, HeldLock)]


def test_deadlocks_that_the_earlier_snapshot_took_from_the_pipe_are_kept() -> None:
    first, second = Deadlock(deadlock_id=1), Deadlock(deadlock_id=2)
    one = given("a.txt", snapshot(0), lock(1.0), first, snapshot(60, 2), lock(2.0), second)
    assert [fact for fact in sort_out([one])[0][0].facts if isinstance(fact, Deadlock)] == [first, second]


def test_what_vanished_is_counted_by_table() -> None:
    def object_(number: int, reads: float) -> MonOpenObjectActivity:
        return MonOpenObjectActivity(db_id=4, object_id=number, logical_reads=reads)

    tables = [MonTable(table="monOpenObjectActivity", rows=2), MonTable(table="monSpinlockActivity", rows=1)]
    before = [snapshot(0), object_(1, 5.0), object_(2, 5.0), lock(1.0), *tables]
    after = [snapshot(60, 2), object_(2, 5.0), lock(2.0), *tables]
    facts = sort_out([given("a.txt", *before, *after)])[0][0].facts
    assert [fact.vanished for fact in facts if isinstance(fact, Snapshot)] == [1]
    assert [(fact.vanished, fact.all_zero) for fact in facts if isinstance(fact, MonTable)] == [(1, True), (0, False)]


def test_what_stands_before_the_first_snapshot_stays_where_it_was() -> None:
    table = MonTable(table="monState", rows=0)
    found, left = sort_out([given("a.txt", table, snapshot(0), lock(10.0), snapshot(60, 2), lock(50.0))])
    assert counted(found) == [[LOCK]]
    assert [one.facts for one in left] == [[table]]


def test_inputs_without_snapshots_are_left_as_they_are() -> None:
    one = given("a.txt", HeldLock(lock_type="x", source=Source("a.txt", 1, 1)))
    found, left = sort_out([one])
    assert not found
    assert left[0] is one


def test_snapshots_of_two_servers_say_nothing_of_each_other() -> None:
    files = [given("a.txt", snapshot(0), lock(10.0)), given("b.txt", snapshot(60, server="BIRCH"), lock(50.0))]
    assert {row[2] for row in counted(sort_out(files)[0])[0]} == {"other instance"}


def test_a_clock_set_back_between_two_snapshots_of_a_file_gives_counts_and_no_rates() -> None:
    one = given("a.txt", snapshot(60), lock(10.0), snapshot(0, 2), lock(50.0), snapshot(120, 3), lock(57.0))
    found, left = sort_out([one])
    assert counted(found) == [[("MonSpinlockActivity", None, "ok", 40.0)], [("MonSpinlockActivity", 120.0, "ok", 7.0)]]
    assert left == []
    assert one.problems == [
        "the clock went back since the snapshot of a.txt: how long it took is not known, so there are no rates"
    ]


def test_snapshots_put_into_a_file_the_later_one_first_are_ordered_by_their_times() -> None:
    one = given("a.txt", snapshot(60), lock(50.0), snapshot(0, 2), lock(10.0))
    found, _ = sort_out([one])
    assert counted(found) == [[LOCK]]
    assert one.problems == []


def test_a_server_that_only_the_first_snapshot_names_is_that_of_the_interval() -> None:
    second = Snapshot(number=2, taken=at(60))
    found, _ = sort_out([given("a.txt", snapshot(0), lock(10.0), second, lock(50.0))])
    (pair,) = [fact for fact in found[0].facts if isinstance(fact, Snapshot)]
    assert (pair.server, pair.taken) == ("LARCH", at(60))
