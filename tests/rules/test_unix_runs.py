"""Measured variants of record locking: the published table reproduces, and its verdicts are those of its authors."""

import dataclasses

import pytest

from collectors.facts import Facts, Source, known
from collectors.facts.unix import CpuFrequency, FrequencyBoost, LockingRun
from rules.changes.unix_cpufreq import fix_clock
from rules.engine import judge_one, rules
from rules.finding import Finding
from rules.unix._evidence.clock import (
    Clock,
    Tolerance,
    clock_of,
    moved,
    ranges_of,
)
from rules.unix._evidence.runs import (
    Cell,
    Pair,
    calls_of,
    more_percent,
    pairs,
)
from tests.rules.unix_published import FIGURE_20_8, TITLE, by_processes, published, rows

RULES = {one.id: one for one in rules() if one.product == "unix"}


def said(rule: str, facts: Facts) -> tuple[str, tuple[Finding, ...]]:
    verdict = judge_one(RULES[rule], facts, {})
    return verdict.verdict, verdict.findings


def of_processes(step: str) -> list[Pair]:
    return [pair for pair in pairs(published()) if pair.step == step and pair.title == TITLE]


def test_all_sixteen_differences_of_clock_and_of_system_time_are_the_printed_ones() -> None:
    clock = [round(more_percent(*both)) for pair in of_processes("grain") if (both := pair.both("clock_seconds"))]
    system = [
        round(more_percent(both[1], both[0]))
        for pair in of_processes("mandatory")
        if (both := pair.both("system_seconds"))
    ]
    printed = rows(FIGURE_20_8)
    assert clock == [row[7] for row in printed]
    assert system == [row[11] for row in printed]


@pytest.mark.parametrize(("done", "same"), [((1000, 990), True), ((990, 1000), True), ((1000, 989), False)])
def test_runs_whose_operations_differ_by_a_hundredth_did_the_same_work(done: tuple[int, int], *, same: bool) -> None:
    pair = of_processes("grain")[0]
    before, after = (
        Cell(tuple(dataclasses.replace(run, operations=many) for run in cell.runs))
        for cell, many in zip((pair.before, pair.after), done, strict=True)
    )
    assert dataclasses.replace(pair, before=before, after=after).same_work is same


def test_processors_kept_busy_rise_from_one_to_less_than_two_and_with_fine_locks_to_almost_three() -> None:
    first, *_, last = (both for pair in of_processes("grain") if (both := pair.both("processors_used")))
    assert [round(value, 2) for value in (*first, *last)] == [0.98, 0.98, 1.84, 2.69]
    most = max(both[0] for pair in of_processes("grain") if (both := pair.both("processors_used")))
    assert round(most, 2) == 1.85


def test_calls_of_fcntl_add_up_to_the_published_totals() -> None:
    (one,) = calls_of(published())
    assert (one.coarse, one.fine, round(one.more_percent)) == (87_858, 115_520, 31)


def test_clock_time_decides_on_finer_ranges_and_system_time_on_mandatory_locks() -> None:
    decides = {
        (pair.step, one.key)
        for step in ("grain", "mandatory")
        for pair in of_processes(step)
        for one in pair.metrics
        if one.decides
    }
    assert decides == {("grain", "unix.clock"), ("mandatory", "unix.system")}
    four = of_processes("grain")[3]
    assert (four.name, four.unit_of_work) == ("coarse → fine, 4 processes", "run of 4 processes")
    verdicts = {one.key: (one.before, one.after, one.better) for one in four.metrics}
    assert verdicts["unix.clock"] == (5.59, 4.07, True)
    assert verdicts["unix.system"] == (6.17, 8.15, False)
    assert verdicts["unix.user"] == (2.38, 2.83, None)


def test_one_process_shows_no_effect_of_finer_ranges() -> None:
    one = of_processes("grain")[0]
    assert {m.key: m.moved for m in one.metrics} == dict.fromkeys(
        ("unix.clock", "unix.system", "unix.user", "unix.cpu", "unix.processors_used"), False
    )


def test_the_published_table_recommends_fine_advisory_locks() -> None:
    verdict, (finding,) = said("unix/coarse_record_locks", published())
    assert verdict == "fired"
    assert finding.title == "Coarse locking takes 30 to 71 % more clock time than fine from 2 processes on"
    assert "(8 to 16) about 32 %. With one process the difference is +0 %." in finding.says
    assert "coarse keeps 1.84 processors busy, fine 2.69." in finding.says
    assert "System time rises by 10 % with 16 processes; " in finding.says
    assert "87,858 calls of fcntl with coarse locks, 115,520 with fine ones (+31 %" in finding.says
    assert finding.evidence[0].source == Source("apue.txt", 2, 2)
    verdict, findings = said("unix/mandatory_locking_costs", published())
    assert verdict == "fired"
    assert {one.subject: one.title for one in findings}[TITLE] == (
        "Mandatory locks take 20 to 76 % more system time than advisory ones"
    )
    assert "APUE figure 20.7" in {one.subject for one in findings}


def test_user_times_of_the_published_table_say_that_the_clock_stood_still() -> None:
    assert said("unix/clock_frequency_moved", published())[0] == "clean"
    moving = (CpuFrequency(cpu=0, governor="powersave"), FrequencyBoost(name="no_turbo", on=True))
    assert said("unix/clock_frequency_moved", Facts((*published(), *moving)))[0] == "clean"


def lowered(runs: list[LockingRun]) -> Facts:
    """The same table, as if coarse locking had been measured at half the clock, as in the authors' first test."""
    return Facts(tuple(_slower(run) if run.variant == "coarse" and run.processes > 1 else run for run in runs))


def _slower(run: LockingRun) -> LockingRun:
    assert known(run.user_seconds)
    assert known(run.clock_seconds)
    return dataclasses.replace(run, user_seconds=2 * run.user_seconds, clock_seconds=1.3 * run.clock_seconds)


def test_almost_twice_the_user_time_makes_every_comparison_of_these_variants_untrusted() -> None:
    facts = lowered(by_processes())
    verdict, (finding, *_) = said("unix/clock_frequency_moved", facts)
    assert verdict == "fired"
    assert finding.severity.label == "advice"
    assert "though they run the same code" in finding.says
    assert said("unix/coarse_record_locks", facts) == ("untrusted", ())
    assert said("unix/mandatory_locking_costs", facts)[0] == "fired"  # of advisory and mandatory it says nothing


def run(variant: str, user: float, **more: float) -> LockingRun:
    values = {"system_seconds": 3.0, "clock_seconds": 4.0 if variant == "coarse" else 3.0, **more}
    return LockingRun(title="lab", variant=variant, processes=4, user_seconds=user, **values)  # type: ignore[arg-type]


def pair_of(coarse: LockingRun, fine: LockingRun) -> Pair:
    (found,) = pairs(Facts((coarse, fine)))
    return found


@pytest.mark.parametrize(
    ("coarse", "fine", "clock", "suspected"),
    [
        (run("coarse", 2.0), run("fine", 2.0), Clock(), False),
        (run("coarse", 2.9), run("fine", 2.0), Clock(), False),
        (run("coarse", 3.0), run("fine", 2.0), Clock(), True),
        (run("coarse", 2.0), run("fine", 3.0), Clock(), True),
        (run("coarse", 2.6), run("fine", 2.0), Clock((CpuFrequency(cpu=0, governor="schedutil"),)), True),
        (run("coarse", 2.6), run("fine", 2.0), Clock((CpuFrequency(cpu=0, governor="performance"),)), False),
        (run("coarse", 2.6), run("fine", 2.0), Clock(boosts=(FrequencyBoost(name="boost", on=True),)), True),
        (run("coarse", 2.0), run("fine", 2.6), Clock((CpuFrequency(cpu=0, governor="schedutil"),)), False),
        (run("coarse", 3.9, frequency_mhz=2400), run("fine", 2.0, frequency_mhz=2410), Clock(), False),
        (run("coarse", 2.0, frequency_mhz=1400), run("fine", 2.0, frequency_mhz=2410), Clock(), True),
        (run("coarse", 0.05), run("fine", 0.01), Clock(), False),
    ],
)
def test_the_clock_is_suspected_where_it_shows(
    coarse: LockingRun, fine: LockingRun, clock: Clock, suspected: bool
) -> None:
    assert bool(moved(pair_of(coarse, fine), clock, Tolerance())) is suspected


def test_repeated_runs_are_one_cell_with_the_noise_between_them() -> None:
    coarse = [run("coarse", 2.0, clock_seconds=value) for value in (3.9, 4.0, 4.1)]
    fine = [run("fine", 2.0, clock_seconds=value) for value in (2.9, 3.0, 3.1)]
    (found,) = pairs(Facts((*coarse, *fine)))
    assert found.both("clock_seconds") == pytest.approx((4.0, 3.0))
    (clock,) = (one for one in found.metrics if one.key == "unix.clock")
    assert clock.noise is not None
    assert clock.noise.low == pytest.approx(2.9 / 4.1)
    assert clock.better is True


def test_a_figure_that_one_run_lacks_is_no_mean_of_the_others() -> None:
    (found,) = pairs(Facts((run("coarse", 2.0, calls=100.0), run("coarse", 2.0), run("fine", 2.0, calls=50.0))))
    assert found.both("calls") is None


def test_variants_of_two_tables_or_files_are_never_paired() -> None:
    fine = run("fine", 2.0)
    other = dataclasses.replace(fine, title="another")
    elsewhere = dataclasses.replace(fine, source=Source("b.csv", 1, 1))
    assert pairs(Facts((run("coarse", 2.0), other, elsewhere))) == ()


def test_what_was_read_comes_back_governor_by_governor() -> None:
    clock = clock_of(
        Facts(
            (
                *(CpuFrequency(cpu=cpu, governor="schedutil") for cpu in (0, 1, 2, 5)),
                CpuFrequency(cpu=3, governor="performance"),
                CpuFrequency(cpu=4, governor="ondemand"),
                FrequencyBoost(name="no_turbo", on=True),
                FrequencyBoost(name="boost", on=False),
            )
        )
    )
    changes = fix_clock(clock)
    assert [one.undo[0] for one in changes] == [
        "cpupower -c 0-2,5 frequency-set -g schedutil",
        "cpupower -c 4 frequency-set -g ondemand",
        "echo 0 > /sys/devices/system/cpu/intel_pstate/no_turbo",
    ]
    assert "cpupower -c 0-2,5 frequency-set -g performance" in changes[0].apply
    assert "echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo" in changes[2].apply


@pytest.mark.parametrize("name", ["$(reboot)", "ondemand; id", "a\nb", "", "-g", "Ä"])
def test_a_governor_that_is_no_name_is_never_put_into_a_command(name: str) -> None:
    (change,) = fix_clock(Clock((CpuFrequency(cpu=0, governor=name),)))
    assert change.takes_effect.value == "advice"
    assert all(line.startswith("#") for line in (*change.script, *change.way_back))
    assert not any("\n" in line for line in (*change.script, *change.way_back))


def test_a_processor_that_cannot_be_is_never_put_into_a_command() -> None:
    (change,) = fix_clock(Clock((CpuFrequency(cpu=10**9, governor="ondemand"),)))
    assert change.takes_effect.value == "advice"


def test_without_a_governor_in_the_export_nothing_is_set() -> None:
    (change,) = fix_clock(Clock())
    assert change.takes_effect.value == "advice"
    assert all(line.startswith(("#", "grep ")) for line in (*change.script, *change.way_back))


def test_a_fixed_clock_needs_no_change() -> None:
    fixed = CpuFrequency(cpu=0, governor="powersave", minimum_khz=2_400_000.0, maximum_khz=2_400_000.0)
    assert fix_clock(Clock((fixed,))) == ()
    assert ranges_of((3, 1, 2, 7)) == "1-3,7"


def test_files_of_one_processor_that_come_one_by_one_are_one_reading() -> None:
    where = [Source(f"cpu0/cpufreq/{name}", 1, 1) for name in ("scaling_governor", "scaling_cur_freq", "again")]
    clock = clock_of(
        Facts(
            (
                CpuFrequency(source=where[0], cpu=0, governor="schedutil"),
                CpuFrequency(source=where[1], cpu=0, current_khz=2_400_000.0),
                FrequencyBoost(name="boost", on=True),
                FrequencyBoost(name="boost", on=None),
            )
        )
    )
    (one,) = clock.processors
    assert (one.governor, one.current_khz, one.source) == ("schedutil", 2_400_000.0, where[0])
    assert [switch.on for switch in clock.boosts] == [True]
    later = clock_of(Facts((*clock.processors, CpuFrequency(source=where[2], cpu=0, governor="performance"))))
    assert [(one.governor, one.current_khz, one.source) for one in later.processors] == [
        ("performance", 2_400_000.0, where[2])
    ]


@pytest.mark.parametrize(("seconds", "better"), [((0.0002, 0.0066), None), ((0.2, 6.6), "low")])
def test_seconds_too_short_to_be_told_apart_have_no_better_side(
    seconds: tuple[float, float], better: str | None
) -> None:
    runs = [
        LockingRun(title="t", variant=variant, processes=2, system_seconds=system, clock_seconds=4.0)
        for variant, system in zip(("coarse", "fine"), seconds, strict=True)
    ]
    (pair,) = pairs(Facts(tuple(runs)))
    assert {one.key: one.direction for one in pair.metrics}["unix.system"] == better
