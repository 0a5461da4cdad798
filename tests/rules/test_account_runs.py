"""The accounts of measured runs: each has its name, and nothing is concluded from a test for the system."""

from dataclasses import replace
from typing import Any

import pytest

from advisor.audits.report import account as report
from advisor.audits.report.data import account_data
from collectors.facts import Capture, Facts, Interval, Source, System
from collectors.facts.openvms import AlignmentFaults, ProcessorModes
from collectors.facts.scaling import LoadPoint, LoadSeries
from collectors.facts.unix import CpuFrequency, LockingRun
from rules.account import PROCESSORS, WAITING_TASKS, Account, divided
from rules.audit import Audit, audit
from rules.engine import judge_one, rules
from rules.finding import Severity
from rules.openvms._evidence import account as openvms
from rules.ranking import Ranked
from rules.unix._evidence import account as unix
from tests.rules.unix_published import TITLE, by_processes
from tests.stories import HERE, audits_of

MODES = ((399, 0, 1), (199, 40, 161), (0, 273, 127), (0, 272, 128))
"""Idle, MP synch, kernel: per cent of one CPU of four, at 1, 2, 3 and 4 processes."""
RATES = (371_000, 490_000, 345_000, 341_000)


def series(*, modes: tuple[tuple[int, int, int], ...] = MODES, derived: bool = False, title: str = "T") -> LoadSeries:
    points = tuple(
        LoadPoint(
            load=load,
            rate=rate,
            line=load,
            others=(
                ("idle_percent", idle),
                ("mp_synch_percent", synch),
                ("kernel_percent", kernel),
                ("user_percent", 0),
            ),
        )
        for load, (rate, (idle, synch, kernel)) in enumerate(zip(RATES, modes, strict=True), 1)
    )
    return LoadSeries(
        source=Source("runs.txt", 1, 9),
        title=title,
        load_name="processes",
        rate_name="lock_operations_per_second",
        points=points,
        product="openvms",
        cores=4,
        derived=derived,
    )


def audited(product: str, *facts: LoadSeries | ProcessorModes | LockingRun | AlignmentFaults) -> Audit:
    return audit(Capture(System("NODE", product), Interval(), Facts(facts)))


def test_what_a_test_lost_makes_nothing_louder_and_no_verdict() -> None:
    """68 % of four CPUs spin in a run that somebody drove as hard as he could: no system loses that now."""
    made = audited("openvms", series())
    assert [round(one.gone, 2) for one in made.accounts] == [0.0, 0.4, 2.73, 2.72]
    first = made.findings[0]
    assert (first.rule, first.finding.severity) == ("openvms/concurrency_past_peak", Severity.WARNING)
    assert "lost in" not in made.summary.verdict
    accounts = [account_data(one) for one in made.accounts]
    assert report.loss(accounts, "openvms") == report.lost(accounts, "openvms") == ""
    assert report.costs(accounts, [{"key": first.key, "explains": [], "severity": "warning"}], "openvms") == ({}, {})


def test_what_is_booked_in_the_busiest_half_hour_alone_says_so() -> None:
    busy = {"currency": "processors", "span": "busiest", "lost": [{"to": "openvms/a:X", "amount": 3.36}]}
    mean: dict[str, Any] = {"currency": "processors", "span": "mean", "lost": []}
    findings = [{"key": "openvms/a:X", "explains": [], "severity": "warning"}]
    assert report.costs([mean, busy], findings, "openvms") == (
        {"openvms/a:X": "3.36 CPUs lost in the busiest half hour"},
        {},
    )
    mean["lost"] = [{"to": "openvms/a:X", "amount": 0.5}]
    assert report.costs([mean, busy], findings, "openvms") == ({"openvms/a:X": "0.50 CPUs lost"}, {})


def test_the_account_of_the_node_stands_beside_those_of_a_test_of_it() -> None:
    modes = ProcessorModes(
        statistic="mean", cpus=4.0, idle_percent=290.0, mp_synch_percent=10.0, kernel_percent=50.0, user_percent=50.0
    )
    made = audited("openvms", modes, series())
    assert [(one.run, one.test) for one in made.accounts][:2] == [("", False), ("run of 1 process", True)]
    accounts = [account_data(one) for one in made.accounts]
    assert report.lost(accounts, "openvms") == "0.10 of 4 CPUs"
    assert report.heading(accounts[0], "openvms") == "Where 4 CPUs go, on average"
    assert report.heading(accounts[2], "openvms") == "Where 4 CPUs go, run of 2 processes"


def test_a_run_whose_modes_do_not_add_up_to_its_cpus_has_no_account() -> None:
    (first, *_), short = MODES, (150, 40, 161)
    runs = [one.run for one in openvms.measured(Facts((series(modes=(first, short, *MODES[2:])),)))]
    assert runs == ["run of 1 process", "run of 3 processes", "run of 4 processes"]
    without = replace(series(), cores=None)
    assert openvms.measured(Facts((without,))) == ()


def test_captures_that_make_a_series_are_no_runs_of_a_test() -> None:
    assert openvms.measured(Facts((series(derived=True),))) == ()


def test_runs_of_two_series_are_told_by_their_titles() -> None:
    runs = [one.run for one in openvms.measured(Facts((series(title="with"), series(title="without"))))]
    assert len(set(runs)) == 8
    assert runs[4] == "run of 1 process, without"


def test_of_a_long_series_the_runs_at_the_highest_loads_have_accounts() -> None:
    point = series().points[-1]
    long = replace(series(), points=tuple(replace(point, load=load) for load in range(1, 31)))
    runs = [one.run for one in openvms.measured(Facts((long,)))]
    assert len(runs) == openvms.MOST_RUNS
    assert runs[-1] == "run of 30 processes"


def test_alignment_faults_are_said_as_a_rate_and_never_as_processors() -> None:
    modes = ProcessorModes(
        statistic="mean", cpus=4.0, idle_percent=290.0, mp_synch_percent=10.0, kernel_percent=50.0, user_percent=50.0
    )
    faults = AlignmentFaults(
        statistic="mean", kernel_per_second=31.0, exec_per_second=3.0, super_per_second=0.7, user_per_second=9_109.3
    )
    said = "Part of the work are 9,144 alignment faults/s (read); what one costs is not known."
    (plain,), (made,) = (openvms.measured(Facts(facts)) for facts in ((modes,), (modes, faults)))
    assert said in made.remarks
    assert (made.pools, made.idle, made.undivided) == (plain.pools, plain.idle, plain.undivided)
    (partly,) = openvms.measured(Facts((modes, AlignmentFaults(statistic="mean", user_per_second=12.0))))
    assert not any("alignment" in one for one in partly.remarks), "modes are missing: no rate of all"
    (peak,) = openvms.measured(Facts((modes, replace(faults, statistic="maximum"))))
    assert not any("alignment" in one for one in peak.remarks), "the highest second is none of the mean"


def test_a_measured_run_of_zvm_carries_its_name() -> None:
    (made,) = audits_of(HERE / "scheduler_lock_two_releases")
    assert [one.run for one in made.accounts][:2] == ["run 52LINX4", "run 53LINX4"]
    assert report.heading(account_data(made.accounts[4]), "zvm") == "Where 12 CPUs go, run 52LINX12"
    assert made.summary.verdict.startswith(
        "4.82 of 12 CPUs (40 %) are lost in spinning for locks of CP, run 52LINX12; 1.99 of 8 CPUs (25 %)"
    )


# --- UNIX ------------------------------------------------------------------------------------------------------------


def of_unix(*facts: LockingRun | LoadSeries | CpuFrequency) -> dict[tuple[str, str], Account]:
    """The accounts by run and currency, divided among the findings of the rules."""
    given = Facts(facts)
    found = [
        Ranked(one.id, finding)
        for one in rules()
        if one.product == "unix"
        for finding in judge_one(one, given, {}).findings
    ]
    return {(one.run, one.currency): divided(one, found) for one in unix.measured(given)}


def test_processes_of_the_published_table_wait_for_whole_files_what_ranges_save() -> None:
    """APUE figure 20.8, 16 processes: 78.67 s × 16 − 145.11 CPU s wait, with ranges 59.72 s × 16 − 160.37 CPU s."""
    made = of_unix(*by_processes())
    assert list(made) == [
        (f"{name} run of 16 processes", WAITING_TASKS) for name in ("coarse", "fine", "mandatory fine")
    ]
    coarse = made["coarse run of 16 processes", WAITING_TASKS]
    waited, less = 16 * 78.67 - 145.11, 16 * 59.72 - 160.37
    (loss,) = coarse.lost
    assert loss.to == f"unix/coarse_record_locks:{TITLE}"
    assert loss.amount.value == pytest.approx((waited - less) / 78.67)
    assert coarse.work == pytest.approx(145.11 / 78.67)
    assert coarse.unexplained is not None
    assert coarse.unexplained.amount.value == pytest.approx(less / 78.67)
    assert made["fine run of 16 processes", WAITING_TASKS].lost == ()


def test_without_the_number_of_processors_there_is_no_account_of_them() -> None:
    assert {currency for _, currency in of_unix(*by_processes())} == {WAITING_TASKS}


def machine(cores: int) -> LoadSeries:
    """What a table with `# processors:` gives beside its runs."""
    return replace(series(), source=Source("apue.txt", 1, 30), product="unix", cores=cores, points=series().points)


def test_of_processors_only_what_mandatory_locks_take_more_is_lost() -> None:
    """16 processes: 208.28 system seconds against 118.20 in 96.8 s; that fine ranges are faster is no loss of CPUs."""
    made = of_unix(machine(4), *by_processes())
    mandatory = made["mandatory fine run of 16 processes", PROCESSORS]
    (loss,) = mandatory.lost
    assert loss.to == f"unix/mandatory_locking_costs:{TITLE}"
    assert loss.amount.value == pytest.approx((208.28 - 118.20) / 96.8)
    assert mandatory.undivided is not None
    assert mandatory.undivided.amount.value == pytest.approx(4 - (44.11 + 208.28) / 96.8)
    coarse = made["coarse run of 16 processes", PROCESSORS]
    assert (coarse.lost, coarse.idle) == ((), None)
    assert coarse.work == pytest.approx(145.11 / 78.67)


def test_more_cpu_seconds_than_the_machine_has_are_no_account() -> None:
    assert ("fine run of 16 processes", PROCESSORS) not in of_unix(machine(2), *by_processes())


USER = 37.24
"""User seconds of the coarse run of 16 processes, as printed."""


def test_where_the_clock_may_have_moved_nothing_is_divided() -> None:
    governor = CpuFrequency(cpu=0, governor="powersave", minimum_khz=800_000.0, maximum_khz=3_000_000.0)
    slower = [replace(one, user_seconds=1.5 * USER) if one.variant == "coarse" else one for one in by_processes()]
    trusted = of_unix(*slower)["coarse run of 16 processes", WAITING_TASKS]
    assert trusted.lost, "without a governor that may move it, such user times are believed"
    coarse = of_unix(governor, *slower)["coarse run of 16 processes", WAITING_TASKS]
    assert coarse.lost == ()
    assert coarse.unexplained is not None


def test_one_process_waits_for_nobody() -> None:
    assert of_unix(*(one for one in by_processes() if one.processes == 1)) == {}


def test_locking_runs_of_a_test_make_no_verdict() -> None:
    made = audited("unix", *by_processes())
    assert {one.test for one in made.accounts} == {True}
    assert " wait for " not in made.summary.verdict
    accounts = [account_data(one) for one in made.accounts]
    assert report.heading(accounts[0], "unix") == "What 16.0 processes that wait or run do, coarse run of 16 processes"
    assert report.loss(accounts, "unix") == ""
