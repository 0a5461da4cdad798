"""Two snapshots are timed as a sample is, and join the sample of the same time."""

from collectors.capture import captures, interval_of
from collectors.facts import Capture, Fact, Interval
from collectors.facts.ase import (
    ConfigParameter,
    EngineBusy,
    MonEngine,
    MonSpinlockActivity,
    MonState,
    Server,
    Snapshot,
    SysmonSample,
)
from collectors.grouping import name_of
from collectors.read import Input
from rules.ase._evidence.spinlocks.monitored import not_believed, spinlocks_by_name
from tests.collectors.moments import AGO, BOOT, at, snapshot


def lock(grabs: float) -> MonSpinlockActivity:
    return MonSpinlockActivity(name="fglockspins", grabs=grabs, spins=grabs, waits=1.0)


def tables(file: str, *facts: Fact) -> Input:
    return Input(file, "ase/monitor_tables", list(facts), given=file)


def pair(file: str, start: float, end: float) -> Input:
    return tables(file, snapshot(start), lock(10.0), snapshot(end, 2), lock(50.0))


def sysmon(file: str, start: float | None, end: float | None) -> Input:
    times = [None if one is None else at(one) for one in (start, end)]
    facts: list[Fact] = [Server(name="LARCH"), SysmonSample(start=times[0], end=times[1], seconds=600.0)]
    return Input(file, "ase/sp_sysmon", [*facts, EngineBusy(engine=0)], given=file)


def grabs(one: Capture) -> list[tuple[str, object]]:
    return [(row.over, row.grabs) for row in one.facts.every(MonSpinlockActivity)]


COUNTED = [("interval", 40.0)]


def test_two_snapshots_are_a_capture_of_the_time_between_them() -> None:
    (one,) = captures([pair("a.txt", 0, 600)])
    assert (one.system.name, one.system.product) == ("LARCH", "ase")
    assert one.interval == Interval(at(0), at(600), 600.0)
    assert grabs(one) == COUNTED


def test_a_snapshot_names_the_system_and_its_files_join() -> None:
    assert name_of(pair("a.txt", 0, 600)) == "LARCH"
    assert name_of(tables("a.txt", Snapshot(number=1), lock(1.0))) is None
    setting = Input("c.txt", "ase/sp_configure", [ConfigParameter(name="x", run_value=1.0)], given="c.txt")
    (one,) = captures([pair("a.txt", 0, 600), setting])
    assert one.facts.every(ConfigParameter)


def test_the_sample_that_was_taken_between_the_snapshots_is_of_the_same_capture() -> None:
    (one,) = captures([pair("a.txt", 0, 620), sysmon("s.txt", 10, 610)])
    assert grabs(one) == COUNTED
    assert one.interval == Interval(at(10), at(610), 600.0)


def test_samples_of_another_time_stay_captures_of_their_own() -> None:
    found = captures([pair("a.txt", 0, 600), sysmon("s.txt", 1260, 1860)])
    assert [(one.interval.start, grabs(one)) for one in found] == [(at(1260), []), (at(0), COUNTED)]


def test_sp_sysmon_minutes_before_or_after_the_only_two_snapshots_is_judged_with_them_and_that_is_said() -> None:
    for start in (400, 1140):
        given = [pair("a.txt", 0, 600), sysmon("s.txt", start, start + 600)]
        (one,) = captures(given)
        assert (one.interval.start, grabs(one)) == (at(start), COUNTED)
        assert all("are judged together, as taken one after the other" in " ".join(each.problems) for each in given)


def test_a_second_sample_a_start_between_or_a_long_mean_is_another_load_than_that_minutes_beside_it() -> None:
    def apart(*given: Input) -> bool:
        return len(captures(given)) > 1 and not any(each.problems for each in given)

    assert apart(pair("a.txt", 0, 600), sysmon("s.txt", 900, 1500), sysmon("t.txt", 1600, 2200))
    assert apart(pair("a.txt", 0, 7200), sysmon("s.txt", 7300, 7900))
    started = [Snapshot(number=n, taken=at(n * 600), booted=at(500)) for n in (1, 2)]
    assert apart(tables("a.txt", started[0], lock(10.0), started[1], lock(50.0)), sysmon("s.txt", -200, 400))


def test_to_each_sample_goes_the_one_interval_that_it_shares_most_with() -> None:
    three = tables("a.txt", snapshot(0), lock(10.0), snapshot(300, 2), lock(50.0), snapshot(610, 3), lock(51.0))
    found = captures([sysmon("s.txt", 5, 605), three])
    assert [(one.interval.start, grabs(one)) for one in found] == [
        (at(5), [("interval", 1.0)]),
        (at(0), COUNTED),
    ]


def test_an_interval_without_times_joins_the_only_sample_there_is() -> None:
    without = tables("a.txt", Snapshot(number=1), lock(10.0), Snapshot(number=2), lock(50.0))
    (one,) = captures([without, sysmon("s.txt", 0, 600)])
    assert grabs(one) == COUNTED
    found = captures([without, sysmon("s.txt", 0, 600), sysmon("t.txt", 900, 1500)])
    assert [grabs(one) for one in found] == [[], [], COUNTED]
    (one,) = captures([pair("a.txt", 0, 600), sysmon("s.txt", None, None)])
    assert grabs(one) == COUNTED


def test_one_snapshot_stands_beside_the_samples_as_a_listing_does() -> None:
    single = tables("a.txt", snapshot(0), lock(10.0))
    found = captures([single, sysmon("s.txt", 0, 600), sysmon("t.txt", 900, 1500)])
    assert [grabs(one) for one in found] == [[("since boot", 10.0)]] * 2
    assert {row.seconds for one in found for row in one.facts.every(MonSpinlockActivity)} == {AGO}
    (one,) = captures([single])
    assert (one.interval, grabs(one)) == (Interval(), [("since boot", 10.0)])
    assert interval_of(single.facts) is None


def test_engines_that_are_online_are_the_processors_where_no_report_counts_them() -> None:
    engines = [MonEngine(engine=number, status="online") for number in range(3)]
    facts = [snapshot(0), *engines, MonEngine(engine=3, status="offline")]
    (one,) = captures([tables("a.txt", *facts)])
    assert one.system.processors == 3
    (one,) = captures([tables("a.txt", *facts), sysmon("s.txt", 0, 600)])
    assert one.system.processors == 1


def test_rules_see_the_differences_and_why_some_are_not_believed() -> None:
    (one,) = captures([pair("a.txt", 0, 600)])
    spinlock = spinlocks_by_name(one.facts)["fglockspins"]
    assert (spinlock.grabs, spinlock.seconds, spinlock.of_interval) == (40.0, 600.0, True)
    restarted = tables("a.txt", snapshot(0), lock(10.0), snapshot(600, 2, booted=at(9)), lock(50.0))
    (one,) = captures([restarted])
    assert not spinlocks_by_name(one.facts)
    doubt = not_believed(one.facts, "fglockspins")
    assert doubt is not None
    assert "restarted" in str(doubt)


def test_a_configuration_file_called_like_another_server_is_taken_with_a_doubt() -> None:
    for file, doubted in (("d/LARCH.cfg", False), ("d/larch.003", False), ("d/BIRCH.cfg", True)):
        setting = Input(file, "ase/config_file", [ConfigParameter(name="x", run_value=1.0)], given="d")
        (one,) = captures([pair("d/a.txt", 0, 600), setting])
        assert one.facts.every(ConfigParameter)
        assert [problem.startswith("taken for the configuration of LARCH") for problem in setting.problems] == (
            [True] if doubted else []
        )


def test_a_start_that_only_one_of_two_dates_shows_is_a_start_all_the_same() -> None:
    state = MonState(started=BOOT)
    for first, second in ((BOOT, at(120)), (BOOT, BOOT)):
        later = (snapshot(300, 2, booted=second), state, lock(50.0))
        (one,) = captures([tables("a.txt", snapshot(0, booted=first), state, lock(10.0), *later)])
        (row,) = one.facts.every(MonSpinlockActivity)
        assert row.certificate == ("ok" if first == second else "reset")
    moved = (snapshot(300, 2), MonState(started=at(120)), lock(50.0))
    (one,) = captures([tables("a.txt", snapshot(0), state, lock(10.0), *moved)])
    assert [row.certificate for row in one.facts.every(MonSpinlockActivity)] == ["reset"]
