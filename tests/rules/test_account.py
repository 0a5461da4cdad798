"""The account: every part has a cause or none, parts add up to the capacity, and nothing is counted twice."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from collectors.facts import Facts, Source
from collectors.facts.openvms import DedicatedLockManager, ProcessorModes
from rules.account import (
    BUSIEST,
    MEAN,
    PROCESSORS,
    UNDIVIDED,
    WAITING_TASKS,
    Account,
    Amount,
    Measured,
    Open,
    Pool,
    divided,
)
from rules.audit import accounts_of
from rules.finding import Cost, Finding, Severity
from rules.openvms._evidence.account import measured
from rules.plan import Plan
from rules.ranking import Ranked, linked
from rules.summary import summarized
from tests.stories import HERE, STORIES, audits_of

HERE_IT_STANDS = Source("t4.csv", 8, 43)
NEEDS, HOT, TABLE = (
    "openvms/lock_manager_needs_own_cpu",
    "openvms/spinlock_hot",
    "openvms/resource_hash_table_undersized",
)


def found(rule: str, subject: str = "NODE", cost: float | None = None, **further: Any) -> Ranked:
    exact = None if cost is None else Cost(cost, cost, cost)
    made = Finding(subject, Severity.WARNING, rule, "It is so.", (), exact)
    return Ranked(rule, replace(made, **further))


def account(*findings: Ranked, lost: float = 3.0) -> Account:
    pool = Pool("MP synch", Amount.exactly(lost), HERE_IT_STANDS, (NEEDS,), (HOT,), "a spinlock trace")
    return divided(Measured(PROCESSORS, MEAN, 8.0, 2.0, (pool,)), linked(list(findings)))


def test_what_no_finding_explains_has_no_cause_and_says_what_to_collect() -> None:
    made = account()
    assert made.lost == ()
    assert made.unexplained == Open(Amount.exactly(3.0), "MP synch", "a spinlock trace")
    assert made.work == pytest.approx(3.0)


def test_a_loss_goes_to_what_causes_it_and_not_to_its_effect() -> None:
    made = account(found(NEEDS, cost=3.0), found(TABLE, explains=(NEEDS,)))
    assert [(one.to, one.amount.value) for one in made.lost] == [(f"{TABLE}:NODE", 3.0)]
    assert made.unexplained is None


def test_a_note_causes_nothing_graver() -> None:
    made = account(found(NEEDS, cost=3.0), found(TABLE, explains=(NEEDS,), severity=Severity.NOTE))
    assert [one.to for one in made.lost] == [f"{NEEDS}:NODE"]


def test_two_findings_that_explain_each_other_do_not_run_in_a_circle() -> None:
    made = account(found(NEEDS, cost=3.0, explains=(TABLE,)), found(TABLE, explains=(NEEDS,)))
    assert len(made.lost) == 1


def test_a_trace_divides_what_was_lost_and_leaves_the_rest_without_a_cause() -> None:
    one, other = found(HOT, "NODE spinlock LCKMGR", 1.5), found(HOT, "NODE spinlock SCHED", 0.5)
    made = account(one, other, found(NEEDS, cost=3.0))
    assert {loss.to: loss.amount.value for loss in made.lost} == {
        one.key: pytest.approx(1.5),
        other.key: pytest.approx(0.5),
    }
    assert made.lost[0].what == "MP synch, LCKMGR"
    assert made.unexplained is not None
    assert made.unexplained.amount.value == pytest.approx(1.0)


def test_two_parts_of_one_cause_are_named_both_and_no_single_finding_measures_them() -> None:
    one, other = found(HOT, "NODE spinlock LCKMGR", 1.5), found(HOT, "NODE spinlock SCHED", 0.5)
    (loss,) = account(one, other, found(TABLE, explains=(HOT,))).lost
    assert (loss.to, loss.seen_in) == (f"{TABLE}:NODE", None)
    assert loss.amount.value == pytest.approx(2.0)
    assert loss.what == "MP synch, LCKMGR and SCHED"


def test_parts_that_are_more_than_the_whole_are_no_more_than_the_whole() -> None:
    made = account(found(HOT, "NODE spinlock LCKMGR", 2.5), found(HOT, "NODE spinlock SCHED", 2.5))
    assert made.gone == pytest.approx(3.0)
    assert made.unexplained is None


def test_what_a_test_run_cost_is_no_part_of_the_capture() -> None:
    hot = found(HOT, "NODE spinlock LCKMGR")
    hot = replace(hot, finding=replace(hot.finding, cost=Cost(2.0, 2.0, 2.0, of_capture=False)))
    assert account(hot).lost == ()


def test_an_upper_end_alone_is_no_amount() -> None:
    pool = Pool("spins of one lock, at most", Amount(None, 0.0, 1.2), HERE_IT_STANDS, (NEEDS,))
    made = divided(Measured(PROCESSORS, MEAN, 8.0, 2.0, (pool,)), linked([found(NEEDS)]))
    assert (made.lost[0].to, made.lost[0].amount.value, made.lost[0].amount.high) == (f"{NEEDS}:NODE", None, 1.2)
    assert made.gone == 0.0
    assert made.lost[0].part_of is None, "nothing undivided that it could be part of"


def test_what_is_known_at_most_is_part_of_what_is_undivided_and_not_taken_out_of_work_twice() -> None:
    """Of 8 engines 2 idle, spins took 1.5 at most, 1.2 of them for one lock: 4.5 work at least, 6 at most."""
    pool = Pool("spins of one lock", Amount(None, 0.0, 1.2), HERE_IT_STANDS, (NEEDS,))
    lost = Pool("MP synch", Amount.exactly(0.5), HERE_IT_STANDS, (TABLE,))
    spins = Open(Amount(1.5, 0.0, 1.5), "spins", "a lower load")
    made = divided(Measured(PROCESSORS, MEAN, 8.0, 2.0, (pool, lost), spins), linked([found(NEEDS), found(TABLE)]))
    assert [(one.what, one.part_of) for one in made.lost] == [("MP synch", None), ("spins of one lock", UNDIVIDED)]
    assert made.work == pytest.approx(4.0)
    assert made.work_range is not None
    assert made.work_range.low == pytest.approx(4.0)
    assert made.work_range.high == pytest.approx(5.5)


def test_work_is_a_figure_where_everything_taken_out_of_it_is_one() -> None:
    made = account()
    assert made.work_range == Amount(3.0, 3.0, 3.0)
    assert replace(made, capacity=None).work_range is None


def test_work_may_be_less_than_one_processor() -> None:
    made = divided(Measured(PROCESSORS, MEAN, 1.0, 0.5, ()), [])
    assert made.work_range == Amount.exactly(0.5)


@pytest.mark.parametrize("story", STORIES, ids=[story.name for story in STORIES])
def test_the_parts_of_each_account_add_up_to_its_capacity(story: Path) -> None:
    for audit in audits_of(story):
        keys = {one.key for one in audit.findings}
        for one in audit.accounts:
            assert all(loss.to is None or loss.to in keys for loss in one.lost)
            assert all(amount.low <= amount.high + 1e-9 for amount in (loss.amount for loss in one.lost))
            if one.capacity is None:
                continue
            parts = (one.idle or 0.0) + (one.work or 0.0) + one.gone
            parts += one.undivided.amount.booked if one.undivided else 0.0
            assert parts == pytest.approx(one.capacity)
            most = sum(loss.amount.high for loss in one.lost) + (
                one.unexplained.amount.high if one.unexplained else 0.0
            )
            assert most <= one.capacity + 1e-6
            within = sum(loss.amount.high for loss in one.lost if loss.part_of)
            assert within <= (one.undivided.amount.high if one.undivided else 0.0) + 1e-9
            assert one.work_range is not None
            assert 0 <= one.work_range.low <= one.work_range.high <= one.capacity - (one.idle or 0.0) + 1e-9


def of(story: str, currency: str = PROCESSORS, span: str = MEAN) -> Account:
    (audit, *_) = audits_of(HERE / story)
    return next(one for one in audit.accounts if (one.currency, one.span) == (currency, span))


def test_the_node_of_long_chains_loses_to_its_hash_table_what_the_modes_show() -> None:
    """LEWIS: 8 CPUs, MP synch 264 % of one CPU in the mean of T4; chains of 19 explain what LCKMGR is spun for."""
    made = of("payroll_page_locks")
    assert made.capacity == 8
    assert [(one.to, round(one.amount.booked, 2)) for one in made.lost] == [(f"{TABLE}:LEWIS", 2.64)]
    assert made.idle == pytest.approx(0.88, abs=0.005)
    assert made.work == pytest.approx(4.48, abs=0.005)


def test_one_bad_hour_is_no_loss_of_the_day_and_one_of_its_busiest_half_hour() -> None:
    assert of("one_bad_hour_in_a_quiet_day").lost == ()
    (loss,) = of("one_bad_hour_in_a_quiet_day", span=BUSIEST).lost
    assert loss.to == "openvms/concurrency_past_peak:KINLOC"
    assert loss.amount.booked > 3


def test_without_spins_the_busy_time_of_engines_is_not_divided() -> None:
    made = of("address_lock_storm")
    assert made.lost == ()
    assert made.undivided is not None
    assert made.undivided.amount.value == pytest.approx(22.29, abs=0.01)
    assert "monSpinlockActivity" in made.undivided.collect


def test_spins_that_can_have_cost_nothing_are_said_to_be_nothing() -> None:
    made = of("healthy_monitored_server")
    assert made.undivided is None
    assert any("nothing measurable" in remark for remark in made.remarks)


def test_tasks_wait_for_latches_as_many_as_were_planted() -> None:
    """BIRCH5: 2,400 s of event 41 in 300 s are eight tasks."""
    made = of("inserts_meet_at_one_page", WAITING_TASKS)
    assert made.lost[0].to == "ase/latch_contended:BIRCH5"
    assert made.lost[0].amount.value == pytest.approx(8.0)


def test_each_step_of_the_chain_takes_what_the_spins_can_cost_at_most_further_down() -> None:
    """Source document 001: what the lock hash took the caches cannot take any more."""
    most = [
        sum(loss.amount.high for loss in of(story).lost)
        for story in ("vlh_1_address_locks", "vlh_2_descriptors", "vlh_4_hot_tables", "vlh_5_one_scan")
    ]
    assert all(before > after for before, after in pairwise(most))


def test_an_account_is_made_of_the_findings_it_is_given() -> None:
    (audit,) = audits_of(HERE / "lock_bound_node")
    (mean, _) = accounts_of(audit.capture, [])
    assert mean.lost == ()
    assert mean.unexplained is not None
    assert mean.unexplained.amount.value == pytest.approx(3.75, abs=0.01)


def polling(*findings: Ranked) -> Account:
    pools = (
        Pool("MP synch", Amount.exactly(0.1), HERE_IT_STANDS, (NEEDS,), (HOT,), "a spinlock trace"),
        Pool(
            "CPU 7, polling", Amount.exactly(0.9), HERE_IT_STANDS, ("openvms/lock_manager_idle",), as_work="It polls."
        ),
    )
    return divided(Measured(PROCESSORS, MEAN, 8.0, 2.0, pools), linked(list(findings)))


def test_a_lock_manager_that_earns_its_cpu_loses_none_of_it_and_one_that_does_not_loses_it() -> None:
    earns = polling()
    assert (earns.gone, earns.remarks) == (0.1, ("It polls.",))
    assert earns.work == pytest.approx(5.9)
    idle = polling(found("openvms/lock_manager_idle", cost=0.9))
    assert (idle.gone, idle.remarks) == (1.0, ())
    assert idle.work == pytest.approx(5.0)


@pytest.mark.parametrize(("busy", "waits"), [(96.0, 5.2), (55.0, None), (0.0, None)])
def test_kernel_mode_is_not_called_work_where_callers_wait_for_a_full_lock_manager(
    busy: float, waits: float | None
) -> None:
    """12 CPUs of which 6.2 are in kernel mode, one of them the lock manager's own."""
    modes = ProcessorModes(
        statistic="mean",
        interrupt_percent=30.0,
        mp_synch_percent=40.0,
        kernel_percent=620.0,
        exec_percent=50.0,
        super_percent=0.0,
        user_percent=240.0,
        idle_percent=220.0,
        cpus=12.0,
    )
    (made,) = measured(Facts((modes, DedicatedLockManager(statistic="mean", busy_percent=busy))))
    assert (made.undivided and made.undivided.amount.value) == (waits and pytest.approx(waits))


def test_the_verdict_has_the_figures_of_the_bar() -> None:
    idle = found("openvms/lock_manager_idle", cost=0.9)
    said = summarized(linked([idle]), (), Plan(()), (polling(idle),)).verdict
    assert said == "1.00 of 8 CPUs (12 %) are lost, 0.90 of them in CPU 7, polling."
