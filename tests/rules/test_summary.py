"""The summary: what a DBA reads first says nothing that the account, the findings and the plan do not."""

from pathlib import Path

import pytest

from advisor.audits.report.data import audit_data
from advisor.audits.report.render import render
from advisor.audits.services.excerpts import add_excerpts
from rules.summary import MOST_COLLECT, MOST_DO
from tests.stories import HERE, STORIES, audits_of, inputs_of

LONGEST_TEXT = 120
"""Lines of the text of one story, as the step asks."""


def verdict_of(story: str) -> str:
    return audits_of(HERE / story)[0].summary.verdict


@pytest.mark.parametrize("story", STORIES, ids=[story.name for story in STORIES])
def test_what_is_to_be_done_stands_in_the_plan_in_its_order(story: Path) -> None:
    for audit in audits_of(story):
        steps = [one.step for one in audit.summary.do]
        made = [number for number, one in zip(steps, audit.summary.do, strict=True) if one.when != "investigate"]
        assert made == sorted(made)
        assert len(steps) <= MOST_DO
        assert len(audit.summary.collect) <= MOST_COLLECT
        keys = {one.key for one in audit.findings}
        targets = {change.target for one in audit.findings for change in one.finding.changes}
        for one in audit.summary.do:
            assert audit.plan.steps[one.step - 1].when == one.when
            assert one.finding in keys
            assert one.target in targets
        assert audit.summary.verdict.endswith(".")
        assert "\n" not in audit.summary.verdict


@pytest.mark.parametrize("story", STORIES, ids=[story.name for story in STORIES])
def test_the_text_of_an_audit_is_short(story: Path) -> None:
    data = audit_data(inputs_of(story), audits_of(story))
    add_excerpts(data)
    assert len(render("audit", data, "txt").splitlines()) <= LONGEST_TEXT
    assert len(render("audit_full", data, "txt").splitlines()) > len(data["captures"])


def test_a_loss_opens_with_what_it_is_lost_to() -> None:
    said = verdict_of("lock_bound_node")
    assert said.startswith("3.75 of 12 CPUs (31 %) are lost, to this: 22.7 resources per bucket")


def test_a_loss_without_a_cause_says_so_and_asks_for_a_trace() -> None:
    lewis = next(
        one for one in audits_of(HERE / "rdb_on_two_nodes_unpartitioned") if one.capture.system.name == "LEWIS"
    )
    assert "these exports do not show to what" in lewis.summary.verdict
    assert lewis.summary.collect[0].command.startswith("a spinlock trace")


def test_waiting_tasks_open_it_where_one_in_ten_waits_for_one_thing() -> None:
    assert verdict_of("row_held_by_a_client_that_thinks") == "10.4 of 16.7 tasks that wait or run wait for locks."


def test_where_nothing_is_measured_it_says_what_is_not_known() -> None:
    said = verdict_of("address_lock_storm")
    assert said.startswith("3 critical, 1 warning, 2 advice; first: ")
    assert "not measured" in said
    assert "22.3 of 24 engines" in said


@pytest.mark.parametrize("story", ["healthy_ledger_server", "healthy_monitored_server", "healthy_rdb_node"])
def test_a_healthy_system_has_nothing_to_do(story: str) -> None:
    (audit, *_) = audits_of(HERE / story)
    assert audit.summary.verdict.startswith("Nothing to do: ")
    assert not audit.summary.do


def test_a_system_of_which_most_is_not_judged_is_not_called_healthy() -> None:
    for name in ("untrusted_restarted", "untrusted_counters_cleared"):
        assert verdict_of(name).startswith("Not known yet: 33 of 36 rules could not judge")


def test_a_template_that_names_no_table_is_no_step() -> None:
    (audit,) = audits_of(HERE / "address_lock_storm")
    keys = {key for step in audit.plan.steps for key in step.change_keys}
    assert audit.plan.templates == (
        "ase.table:template:allpages to datapages",
        "ase.table:template:datapages to datarows",
    )
    assert keys.isdisjoint(audit.plan.templates)
    offered = {change.key for one in audit.findings for change in one.finding.changes}
    assert set(audit.plan.templates) <= offered, "a note of its finding all the same"


def test_what_waits_for_a_step_is_its_alternative() -> None:
    (audit,) = audits_of(HERE / "vlh_1_address_locks")
    (step,) = audit.plan.steps
    assert (step.when, step.risk.level) == ("restart", "medium")
    assert step.alternatives == ("ase.table:rating.dbo.batch_step:lock scheme",)
