"""The few figures of an account that lists show are those of the account, and never many."""

from collections.abc import Callable
from typing import Any

import pytest

from advisor.audits.models import Audit
from advisor.audits.report.account import rows
from advisor.audits.services.account_bar import MOST, OTHER, bar_of, capacity_of, waiting_tasks_of
from advisor.uploads.models import Upload

Account = dict[str, Any]


def lost(amount: float | None, to: str | None = None, what: str = "waits") -> dict[str, Any]:
    return {"to": to, "what": what, "amount": amount, "low": 0.0, "high": amount or 9.0, "file": "f", "lines": [1, 1]}


def account(currency: str = "processors", *losses: dict[str, Any], **further: Any) -> Account:
    made: Account = {"currency": currency, "span": "mean", "capacity": 8.0, "idle": 2.0, "work": 3.0}
    return {**made, "lost": list(losses), "unexplained": None, "undivided": None, "remarks": [], **further}


def test_the_parts_are_those_of_the_account_with_the_rule_that_each_loss_goes_to() -> None:
    open_ = {"amount": 0.5, "low": 0.5, "high": 0.5, "why": "MP synch", "collect": "a trace"}
    one = account("processors", lost(2.0, "a/b:S"), lost(0.5), unexplained=open_)
    assert bar_of([one], [{"key": "x/y:S"}, {"key": "a/b:S"}])["parts"] == [
        ["work", "work", 3.0, ""],
        ["lost", "waits (finding 2)", 2.0, "a/b"],
        ["lost", "waits", 0.5, ""],
        ["unexplained", "MP synch, cause not shown", 0.5, ""],
        ["idle", "idle", 2.0, ""],
    ]


def test_many_small_losses_are_kept_in_one_sum() -> None:
    parts = bar_of([account("processors", *(lost(0.1, f"a/r{n}:S") for n in range(MOST + 3)), work=4.9)], [])["parts"]
    assert [part[0] for part in parts] == ["work", *["lost"] * (MOST + 1), "idle"]
    assert parts[MOST + 1][1:] == ["other causes", pytest.approx(0.3), OTHER]
    assert sum(part[2] for part in parts) == pytest.approx(8.0)


def test_what_is_waited_for_is_kept_apart_from_what_runs() -> None:
    losses = [lost(float(n), None, f"event {n} {'x' * 200}") for n in range(1, MOST + 3)]
    one = account("waiting_tasks", *losses, capacity=None, idle=None)
    waits = bar_of([one], [])["waits"]
    assert len(waits) == MOST + 1
    assert waits[0][0].startswith("event 10")
    assert all(len(label) <= 80 for label, _ in waits)
    assert waits[-1] == (OTHER, 3.0)
    assert waiting_tasks_of([one]) == 55.0


def test_an_upper_end_is_no_amount() -> None:
    one = account("processors", lost(None, "a/b:S"))
    assert [part[0] for part in bar_of([one], [])["parts"]] == ["work", "idle"]


@pytest.mark.parametrize(
    "accounts",
    [[], [account(span="busiest")], [account(), account()]],
    ids=["none", "no mean", "one for each measured run"],
)
def test_without_one_account_of_the_mean_nothing_is_kept(accounts: list[Account]) -> None:
    assert bar_of(accounts, []) == {}
    assert capacity_of(accounts) is None
    assert waiting_tasks_of(accounts) is None


def test_tasks_that_nobody_counted_are_not_zero() -> None:
    assert waiting_tasks_of([account()]) is None
    assert waiting_tasks_of([account("waiting_tasks")]) == 0.0


@pytest.mark.django_db
def test_an_audit_keeps_them(bring: Callable[..., Upload]) -> None:
    bring("two_nodes_slow_master")
    skye = Audit.objects.get(system__name="SKYE")
    assert skye.capacity == 2.0
    assert skye.processors_lost == pytest.approx(0.376, abs=0.001)
    assert skye.waiting_tasks is None
    assert sum(part[2] for part in skye.bar["parts"]) == pytest.approx(2.0)
    assert [part[3] for part in skye.bar["parts"] if part[0] == "lost"] == ["openvms/lock_master_on_slow_node"]


@pytest.mark.django_db
def test_processes_that_wait_are_kept_where_they_are_counted(bring: Callable[..., Upload]) -> None:
    bring("rdb_on_two_nodes_unpartitioned")
    assert {one.system.name: one.waiting_tasks for one in Audit.objects.select_related("system")} == {
        "LEWIS": pytest.approx(2.6),
        "BARRA": None,
    }


def test_the_parts_of_what_is_undivided_stand_below_it_and_point_at_what_measures_them() -> None:
    spins = lost(None, "ase/allpages_table_contended:S", "spins of addrlockspins")
    spins |= {"seen_in": "ase/address_lock_spinlock_contended:S", "part_of": "undivided"}
    open_ = {"amount": 1.5, "low": 0.0, "high": 1.5, "why": "spinning", "collect": "", "bound": True}
    one = account(
        "processors", {**lost(0.5), "low": 0.5}, spins, undivided=open_, work=4.0, work_low=4.0, work_high=5.5
    )
    numbers = {"ase/allpages_table_contended:S": 1, "ase/address_lock_spinlock_contended:S": 2}
    found = rows(one, numbers)
    assert [(row.label, row.figure, row.within) for row in found] == [
        ("work", "4.00 to 5.50", None),
        ("waits", "0.50", None),
        ("spinning", "≤ 1.50", None),
        (
            "of these, spins of addrlockspins (finding 2, caused by finding 1)",
            "≤ 9.00",
            "undivided",
        ),
        ("idle", "2.00", None),
    ]
    assert found[3].seen_in == "ase/address_lock_spinlock_contended:S"
    assert found[3].finding == "ase/allpages_table_contended:S"


def test_an_account_that_was_stored_before_its_parts_had_places_is_shown_as_it_was() -> None:
    one = account("processors", {**lost(2.0, "a/b:S"), "seen_in": "c/d:S"})
    assert [row.label for row in rows(one, {"a/b:S": 1})] == ["work", "waits (finding 1)", "idle"]
    assert [row.label for row in rows(one, {"a/b:S": 1, "c/d:S": 3}, brief=True)][1] == "waits (finding 1)"


def test_work_is_a_plain_figure_where_both_ends_are_open() -> None:
    one = account("processors", work_low=2.5, work_high=3.5)
    assert rows(one, {})[0].label == "work"
