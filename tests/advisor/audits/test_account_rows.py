"""The account as rows: both ends where they lie apart, headings that fit the number, findings by their number."""

from typing import Any

import pytest

from advisor.audits.report.account import heading, loss, rows, shown
from advisor.audits.report.data import audit_data
from advisor.audits.report.render import render
from tests.stories import HERE, audits_of


def account(lost: float = 2.0, low: float = 2.0, capacity: float = 10.0, **further: Any) -> dict[str, Any]:
    one = {"to": "a:B", "what": "spinning", "amount": lost, "low": low, "high": lost, "file": "f", "lines": [1, 1]}
    made = {"currency": "processors", "span": "mean", "capacity": capacity, "idle": 1.0, "work": 7.0}
    return {**made, "lost": [one], "unexplained": None, "undivided": None, "remarks": [], **further}


@pytest.mark.parametrize(("low", "figure"), [(2.0, "2.00"), (1.7, "2.00"), (0.2, "0.20 to 2.00")])
def test_both_ends_are_said_where_they_lie_apart(low: float, figure: str) -> None:
    (row,) = [one for one in rows(account(low=low), {}) if one.part == "lost"]
    assert row.figure == figure


def test_the_subject_of_a_mail_tells_both_ends_too() -> None:
    assert loss([account(low=2.0)], "zvm") == "2.00 of 10 CPUs (20 %) lost"
    assert loss([account(low=0.2)], "zvm") == "0.2 to 2 of 10 CPUs (2 to 20 %) lost"


def test_the_low_end_of_what_is_part_of_the_undivided_is_not_lost_beside_it() -> None:
    """One engine lost of ten, 0.5 at least; spins took 0.9 to 1.1 more, which only a bound of all spins has."""
    part = {"to": "a:C", "what": "spins", "amount": None, "low": 0.9, "high": 1.1, "part_of": "undivided"}
    one = account(lost=1.0, low=0.5)
    one["lost"].append({**part, "file": "f", "lines": [1, 1]})
    assert loss([one], "ase") == "0.5 to 1 of 10 engines (5 to 10 %) lost"


def test_one_processor_is_no_plural() -> None:
    assert heading(account(capacity=1.0), "openvms") == "Where the CPU goes, on average"
    assert heading(account(capacity=1.0), "ase") == "Where the engine goes, on average"
    assert heading(account(capacity=8.0), "ase") == "Where 8 engines go, on average"


def test_an_account_that_says_nothing_is_not_shown() -> None:
    empty = {**account(), "currency": "waiting_tasks", "capacity": None, "idle": None, "work": None, "lost": []}
    assert shown([empty, account()]) == [account()]


@pytest.mark.parametrize("kind", ["audit", "audit_full"])
def test_a_cause_on_another_node_is_named_by_its_number_there(kind: str) -> None:
    text = render(kind, audit_data([], audits_of(HERE / "two_nodes_slow_master")), "txt")
    assert "xplained by finding 1 of SKYE" in text
    assert "openvms/lock_master_on_slow_node:SKYE" not in text
