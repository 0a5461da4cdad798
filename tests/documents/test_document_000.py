"""Document 000: the figures of the slides that no other test reproduces."""

import pytest

from collectors.facts import Facts
from collectors.facts.scaling import LoadPoint, LoadSeries
from rules.account import divided
from rules.engine import judge_one, rules
from rules.laws.distance import LOCAL_MICROSECONDS, round_trip_locks
from rules.laws.mastering import BL870C_OPERATIONS, RUNS
from rules.laws.settings import SETTINGS
from rules.openvms._evidence.account import measured
from rules.openvms.concurrency_past_peak import Limits
from rules.ranking import Ranked
from tests.documents.listed import document, entry, numbers_in

ROWS = [[float(cell.replace(",", "")) for cell in row.split()] for row in entry("000", "Sample Dataset").figures[1:]]
"""Processes; idle, MP synch, kernel, exec, super, user, total; new, converted, released; operations per second."""
NOISE = Limits().noise_percent


def series() -> LoadSeries:
    points = tuple(
        LoadPoint(
            load=row[0],
            rate=row[11],
            line=at,
            others=(
                ("idle_percent", row[1]),
                ("mp_synch_percent", row[2]),
                ("kernel_percent", row[3]),
                ("exec_percent", row[4]),
                ("super_percent", row[5]),
                ("user_percent", row[6]),
            ),
        )
        for at, row in enumerate(ROWS, start=1)
    )
    return LoadSeries(
        title="HP BL870c",
        load_name="processes",
        rate_name="lock_operations_per_second",
        points=points,
        product="openvms",
        cores=4,
    )


def test_every_row_of_the_sample_dataset_is_new_plus_converted_plus_released_locks() -> None:
    assert [row[0] for row in ROWS] == [1, 2, 3, 4, 5, 6]
    for row in ROWS:
        assert sum(row[8:11]) == row[11]
        assert sum(row[1:7]) == row[7]
        assert row[7] == pytest.approx(400, abs=4)


def test_the_sample_dataset_has_one_new_lock_and_one_release_for_two_conversions() -> None:
    for row in ROWS:
        assert row[9] / row[8] == pytest.approx(2.0, rel=0.01)
        assert row[10] / row[8] == pytest.approx(1.0, rel=0.01)


def test_most_work_is_done_after_a_little_mp_synch() -> None:
    (rule,) = [one for one in rules() if one.id == "openvms/concurrency_past_peak"]
    (finding,) = judge_one(rule, Facts((series(),)), {}).findings
    for piece in ("peaks at 2 processes with 490,000", "falls to 341,000 at 6", "20 % of the busy time at the peak"):
        assert piece in finding.says
    assert [one.value for one in finding.evidence[:2]] == [490_199, 341_316]
    assert round(series().peak.rate, -4) == 490_000
    assert series().peak.other("mp_synch_percent") == 40


def test_the_account_of_each_run_has_its_row_of_the_sample_dataset() -> None:
    """Printed in per cent of one CPU; MP synch of the runs beyond the peak goes to the load that was driven harder."""
    facts = Facts((series(),))
    (rule,) = [one for one in rules() if one.id == "openvms/concurrency_past_peak"]
    found = [Ranked(rule.id, one) for one in judge_one(rule, facts, {}).findings]
    accounts = [divided(one, found) for one in measured(facts)]
    assert [one.run for one in accounts] == ["run of 1 process", *(f"run of {n} processes" for n in range(2, 7))]
    for one, row in zip(accounts, ROWS, strict=True):
        assert (one.capacity, one.test) == (4.0, True)
        assert one.idle == pytest.approx(row[1] / 100)
        assert one.gone == pytest.approx(row[2] / 100)
        assert one.work == pytest.approx(4 - (row[1] + row[2]) / 100)
        assert one.work == pytest.approx(sum(row[3:7]) / 100, abs=0.0401), "as far as the row adds up to four CPUs"
    to = [[loss.to for loss in one.lost] for one in accounts]
    assert to == [[], [], *[["openvms/concurrency_past_peak:HP BL870c"]] * 4]
    assert accounts[1].unexplained is not None
    assert accounts[1].unexplained.amount.value == pytest.approx(0.40), "a little MP synch at the peak"


def test_one_process_can_do_at_most_the_reciprocal_of_its_lock_time() -> None:
    assert 1e6 / LOCAL_MICROSECONDS == pytest.approx(series().first.rate) == BL870C_OPERATIONS
    assert f"{LOCAL_MICROSECONDS:.1f}" == "2.7"
    slower, faster = (float(text.split("*")[0]) for text in entry("000", "Comparisons").figures[2:])
    assert faster == round(LOCAL_MICROSECONDS, 1)
    assert round(1e6 / slower, -3) == 256_000, "with co-threads and a dedicated lock manager"


def test_a_lock_over_25_kilometres_takes_about_a_hundred_times_as_long() -> None:
    assert 1 + round_trip_locks(25_000) == pytest.approx(100, rel=0.1)


def test_value_blocks_cost_less_than_runs_differ_by() -> None:
    any_block, larger = (numbers_in(text)[0] for text in entry("000", "Conclusions from LVB Data").figures)
    both = 100 * (1 - (1 - any_block / 100) * (1 - larger / 100))
    assert both < NOISE
    (rule,) = [one for one in rules() if one.id == "openvms/value_block_not_the_cause"]
    pieces = (f"took {any_block:g} % of the highest lock rate", f"another {larger:g} %")
    assert all(piece in rule.text for piece in pieces)


def test_what_a_master_gives_is_what_the_two_results_print() -> None:
    two, three = entry("000", "Results from Pandora and Jason"), entry("000", "Results from Three Nodes")
    printed = {2: [numbers_in(text)[0] for text in two.figures], 3: [numbers_in(text)[0] for text in three.figures]}
    for nodes, percents in printed.items():
        assert [run.percent for run in RUNS if run.nodes == nodes] == percents, "by rank of the master"


def test_the_chart_of_value_blocks_is_of_other_runs_than_the_sample_dataset() -> None:
    axis = entry("000", "Effect of Using Lock Value Block BL870").figures[0]
    end = max(float(mark.split()[0].replace(",", "")) for mark in axis.split(", "))
    assert end == 300_000
    assert min(point.rate for point in series().points) > end


def test_with_the_co_thread_stopped_the_peak_is_that_of_the_unthreaded_machine() -> None:
    stopped, unthreaded = (numbers_in(text)[0] for text in entry("000", "Comparisons").figures[:2])
    assert 100 * (stopped / series().peak.rate - 1) == pytest.approx(1.97, abs=0.01)
    assert 100 * (stopped / series().peak.rate - 1) < NOISE
    assert round(series().peak.rate, -4) == unthreaded
    texts = {one.id: one.text for one in rules()}
    assert "499,842 per second, as much as the same machine did without" in texts["openvms/lock_manager_cpu_shared"]
    assert "3.9 µs" in texts["openvms/cothreads_hurt"]


def test_the_runs_that_stand_beside_those_of_others_are_as_printed() -> None:
    """Every rate and every figure of a published run stands in the entry that it names."""
    runs = document("000").runs
    assert {setting for run in runs for setting in run.settings} == {*SETTINGS}
    for run in runs:
        printed = {number for text in entry("000", run.place).figures for number in numbers_in(text)}
        assert {rate for _, rate in run.points} <= printed
        told = [number for text in run.told for number in numbers_in(text)]
        assert set(told) <= printed | {64.0}, run.place
    (drawn,) = [run for run in runs if run.points]
    assert [load for load, _ in drawn.points] == [1, 2, 3, 4, 5, 6]
