"""The decision over the nodes of a cluster in the text, the HTML and the JSON of an audit: one plan in all of them."""

from dataclasses import replace
from typing import Any

import pytest

from advisor.audits.report.data import audit_data
from advisor.audits.report.placement import placement_of
from advisor.audits.report.render import render
from advisor.audits.services.auditing import run_audit
from rules.openvms._evidence.decision import Decision, Kind
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
    local, asks, serves, synch, one_cpu, _, kernel = lewis.after
    assert one_cpu == "1 to 7.5"
    assert local.startswith("0 to ")
    assert " to " in asks
    assert (serves, synch) == ("0", "0.4 to 68"), "what spins there for LCKMGR by the trace goes with the operations"
    assert kernel == "10 to 298"
    harris = next(row for row in found.rows if row.node == "HARRIS")
    assert harris.after[3].startswith("at least ")
    assert "MONITOR MODES on HARRIS and LEWIS" in found.notes[1]


def test_each_choice_of_a_master_stands_beside_the_others(data: dict[str, Any]) -> None:
    found = placement_of(data["clusters"][0])
    assert found is not None
    assert [(one.master, one.which) for one in found.choices] == [
        ("HARRIS", "as decided"),
        ("LEWIS", "as today"),
        ("UIST", "the next best"),
    ]
    assert [len(one.nodes) for one in found.choices] == [3, 3, 3]
    text = render("audit", data, "txt")
    assert "as master" in text
    assert "the next best" in text


def test_an_audit_from_before_the_choices_is_shown_as_it_was(data: dict[str, Any]) -> None:
    cluster = data["clusters"][0]
    new = ("kernel_percent", "synch_percent_after", "kernel_percent_after", "after_basis")
    nodes = [{key: one[key] for key in one if key not in new} for one in cluster["placement"]["nodes"]]
    old = {key: cluster["placement"][key] for key in cluster["placement"] if key not in ("choices", "tables")}
    found = placement_of({**cluster, "placement": {**old, "nodes": nodes}})
    assert found is not None
    assert (found.choices, found.choice_lines) == ((), [])
    assert found.rows[0].after[3] == "not known"


def test_an_audit_without_a_decision_shows_none() -> None:
    assert placement_of({}) is None


def test_what_a_single_tree_tells_is_not_called_unknown() -> None:
    decided = {"decided": "open", "master": None, "target": None, "says": "open", "lock_manager": "", "work": ""}
    cluster: dict[str, Any] = {"placement": {**decided, "nodes": [], "missing": []}, "plan": {"steps": []}}
    found = placement_of(cluster)
    assert found is not None
    assert found.title == "Where the locks belong: not known"
    cluster["plan"]["steps"] = [{"change_keys": ["openvms.sysgen:AVIOR:LOCKDIRWT"]}]
    found = placement_of(cluster)
    assert found is not None
    assert found.title == "Where the locks belong: tree by tree, see the plan"


def test_a_weight_of_the_plan_and_the_decision_over_all_trees_do_not_contradict_each_other() -> None:
    even = Decision(Kind.EVEN, "41 % cross, SWANA serves 60 % of them", "so the trees stay on SWANA.", "SWANA")
    assert even.says == "No node is preferred as lock master: so the trees stay on SWANA."
    given = replace(even, by_tree="LOCKDIRWT on STROMO 1 → 3")
    assert "stay on SWANA" not in given.says
    assert given.says.endswith("get one by the plan: LOCKDIRWT on STROMO 1 → 3.")
