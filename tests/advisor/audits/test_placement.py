"""The decision over the nodes of a cluster in the text, the HTML and the JSON of an audit: one plan in all of them."""

from typing import Any

import pytest

from advisor.audits.report.data import audit_data
from advisor.audits.report.placement import placement_of
from advisor.audits.report.render import render
from advisor.audits.services.auditing import run_audit
from tests.stories import HERE, inputs_of

STORY = HERE / "three_nodes_one_decision"


@pytest.fixture(scope="module")
def data() -> dict[str, Any]:
    inputs = inputs_of(STORY)
    return audit_data(inputs, run_audit(inputs, {}, None))


def test_the_json_has_the_decision_and_the_titles_of_each_step(data: dict[str, Any]) -> None:
    (cluster,) = data["clusters"]
    placement = cluster["placement"]
    assert (placement["decided"], placement["master"], placement["target"]) == ("moves", "LEWIS", "HARRIS")
    assert [one["node"] for one in placement["nodes"]] == ["HARRIS", "LEWIS", "UIST"]
    assert cluster["plan"]["steps"][0]["titles"] == ["LOCKDIRWT on HARRIS 1 → 3"]
    assert all(len(step["titles"]) == len(step["change_keys"]) for step in cluster["plan"]["steps"])


def test_the_text_has_one_plan_for_all_nodes(data: dict[str, Any]) -> None:
    text = render("audit", data, "txt")
    assert "Where the locks belong: on HARRIS, not on LEWIS" in text
    assert text.count("What to do: see the plan of the cluster, above") == 3
    assert text.count(" 1  Next reboot: LOCKDIRWT on HARRIS 1 → 3") == 1
    assert text.count("LCKMGR_MODE") == 1, "the template for HARRIS alone"
    assert max(len(line) for line in text.splitlines() if "today" in line or "after  " in line) <= 80


def test_the_full_text_has_each_script_once(data: dict[str, Any]) -> None:
    text = render("audit_full", data, "txt")
    assert text.count("    $! ===== FOR NODE HARRIS: log in on HARRIS first =====") == 4, (
        "to apply and to undo the weight, and the template"
    )
    assert text.count("THE PLAN FOR THE CLUSTER OF HARRIS, LEWIS, UIST") == 1
    assert "THE PLAN FOR LEWIS" not in text


def test_the_html_has_the_same_decision(data: dict[str, Any]) -> None:
    text = render("audit", data, "html")
    assert "<h3>Where the locks belong: on HARRIS, not on LEWIS</h3>" in text
    assert "Plan of the cluster" in text


def test_a_range_and_what_is_not_known_are_told_apart(data: dict[str, Any]) -> None:
    found = placement_of(data["clusters"][0])
    assert found is not None
    lewis = next(row for row in found.rows if row.node == "LEWIS")
    local, asks, serves, synch, one_cpu, _ = lewis.after
    assert one_cpu == "1 to 7.5"
    assert local.startswith("0 to ")
    assert " to " in asks
    assert (serves, synch) == ("0", "not known")
    assert "MONITOR MODES on HARRIS and LEWIS" in found.notes[1]


def test_an_audit_without_a_decision_shows_none() -> None:
    assert placement_of({}) is None
