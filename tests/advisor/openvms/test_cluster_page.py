"""The cluster of a capture: who asks, who serves, which node is missing, what a lock takes, another master."""

import csv
import io
import re
import zipfile
from collections.abc import Callable
from dataclasses import replace
from datetime import date

import pytest
from pytest_django import DjangoCaptureOnCommitCallbacks

from advisor.audits.models import Audit
from advisor.charts.cluster import MOST_NODES, NodeBox, cluster_map
from advisor.findings.models import TrackedFinding
from advisor.openvms.services import cluster_plan
from advisor.openvms.services.cluster import (
    RULES,
    ClusterView,
    agreement,
    cluster_view,
    masters,
    picture,
)
from advisor.openvms.services.latencies import matrix_of
from advisor.uploads.models import Upload
from collectors.facts import ABSENT, OVERFLOW, Fact, Facts, Source
from collectors.facts.openvms import ClusterMember, ClusterNode, DistributedLockRates, LockLatency
from tests.advisor.ase.servers import audited
from tests.advisor.charts.pictures import HOSTILE, by_class, said, texts
from tests.advisor.charts.pictures import picture as parsed
from tests.advisor.openvms.two_nodes import brought, exports
from tests.advisor.people import AsUser, People, text_of
from tests.advisor.seen import words_of
from tests.stories import HERE

STORY = HERE / "three_nodes_one_decision"


def member(name: str, local: float, into: float, out: float, **more: object) -> ClusterMember:
    """A node with its lock operations per second."""
    fields = {"operations_per_second": local + into + out, "complete": True, **more}
    return ClusterMember(
        source=Source(f"{name}.csv", 5, 9),
        name=name,
        local_per_second=local,
        incoming_per_second=into,
        outgoing_per_second=out,
        **fields,  # type: ignore[arg-type]
    )


def two(**more: object) -> list[Fact]:
    """ORKNEY, of the capture, serves SKYE."""
    return [member("ORKNEY", 600.0, 300.0, 100.0, own=True, **more), member("SKYE", 100.0, 100.0, 300.0, **more)]


def view_of(facts: list[Fact]) -> ClusterView:
    return cluster_view(Facts(tuple(facts)), "ORKNEY")


def lock(asks: str, master: str, microseconds: float) -> LockLatency:
    return LockLatency(source=Source("locktime.csv", 2, 2), from_node=asks, master=master, microseconds=microseconds)


SPEEDS = [lock("ORKNEY", "ORKNEY", 4.0), lock("SKYE", "SKYE", 8.0), lock("SKYE", "ORKNEY", 200.0)]


def test_the_cluster_does_its_local_and_outgoing_operations_and_never_the_sum_of_all_nodes() -> None:
    view = view_of(two())
    assert view.sums is not None
    assert view.sums.total == 600 + 100 + 100 + 300
    assert view.sums.master.name == "ORKNEY"
    assert [row.elsewhere_percent for row in view.rows] == pytest.approx([100 / 7, 75.0])


@pytest.mark.parametrize(
    ("complete", "words"),
    [(True, "no node that locks is missing"), (False, "a node is missing, or"), (None, "too few to tell")],
)
def test_whether_a_node_is_missing_is_said_with_both_sums(complete: bool | None, words: str) -> None:
    told = agreement(view_of(two(complete=complete)))
    assert words in told
    assert "ask 400/s of others and serve 400/s for others" in told


def test_a_rate_that_was_not_read_leaves_no_sum_and_is_named() -> None:
    for value, words in (
        (ABSENT, "outgoing of SKYE is not in the export"),
        (OVERFLOW, "outgoing of SKYE is asterisks"),
    ):
        view = view_of([two()[0], replace(member("SKYE", 1.0, 1.0, 1.0), outgoing_per_second=value)])
        assert view.sums is None
        assert words in agreement(view)
        assert view.rows[1].elsewhere_percent is None
        assert "not known" in texts(parsed(picture(view)))


def test_a_node_that_asks_for_nothing_has_no_share_elsewhere() -> None:
    assert view_of([member("ORKNEY", 0.0, 0.0, 0.0, own=True), two()[1]]).rows[0].elsewhere_percent is None


def test_a_node_that_the_exports_name_and_nobody_brought_is_missing_by_name() -> None:
    listed = [
        ClusterNode(source=Source("cluster.txt", 9, 9), name=name, hardware="HP rx1620", status="MEMBER")
        for name in ("BARRA", "skye", "ORKNEY")
    ]
    view = view_of([*two(complete=None), *listed, lock("SKYE", "LEWIS", 300.0)])
    assert [(one.name, one.where) for one in view.absent] == [("BARRA", "cluster.txt:9"), ("LEWIS", "locktime.csv:2")]
    assert [row.hardware for row in view.rows] == ["HP rx1620", "HP rx1620"], "the listing fills what was not printed"
    drawn = parsed(picture(view))
    assert "exports not uploaded" in texts(drawn)
    assert "BARRA: exports not uploaded." in said(drawn)


def test_each_node_as_master_has_the_share_of_the_published_run_of_its_rank() -> None:
    facts = [*two(), *SPEEDS]
    answer = masters(Facts(tuple(facts)), view_of(facts), "skye")
    assert [(line.node, line.percent) for line in answer.lines] == [("ORKNEY", 85.0), ("SKYE", 57.0)]
    assert answer.asked == "SKYE"
    assert answer.move is not None
    assert answer.move.stays, "no tree is sent away from the node that works most in it"
    to_it = masters(Facts(tuple(facts)), view_of(facts), "orkney").move
    assert to_it is not None
    assert "LOCKDIRWT" in to_it.says


def test_who_crosses_without_a_node_that_was_not_brought_needs_no_run_of_three() -> None:
    facts = [*two(), *SPEEDS, ClusterNode(name="BARRA")]
    assert [line.percent for line in masters(Facts(tuple(facts)), view_of(facts), "").lines] == [85.0, 57.0]
    facts = [*two(complete=None), *SPEEDS, ClusterNode(name="BARRA")]
    assert [line.percent for line in masters(Facts(tuple(facts)), view_of(facts), "").lines] == [None] * 3


def test_of_four_nodes_nothing_was_published_and_nothing_is_said() -> None:
    facts = [*two(), member("BARRA", 9.0, 5.0, 5.0), member("LEWIS", 9.0, 5.0, 5.0), *SPEEDS]
    lines = masters(Facts(tuple(facts)), view_of(facts), "").lines
    assert [line.percent for line in lines] == [None] * 4
    assert {line.basis for line in lines} == {"no run with 4 nodes was published"}


def test_a_node_nobody_knows_is_refused_as_master() -> None:
    answer = masters(Facts(tuple(two())), view_of(two()), "STAFFA")
    assert (answer.asked, answer.move) == ("", None)
    assert answer.refused == "No node STAFFA is known in this capture."


def test_a_remote_lock_is_told_in_local_ones_of_the_asking_node_and_as_a_distance_at_most() -> None:
    matrix = matrix_of(Facts((*SPEEDS, lock("ORKNEY", "SKYE", 250.0))))
    assert matrix is not None
    assert [cell.times if cell else None for _, cells in matrix.rows for cell in cells] == [None, 62.5, 25.0, None]
    (pair,) = matrix.pairs
    assert (pair.asks, pair.master, pair.microseconds, pair.times) == ("ORKNEY", "SKYE", 250.0, 62.5)
    assert pair.most == 4000.0
    assert pair.kilometres == pytest.approx(20.0), "200 µs, the shorter way, there and back at 2e8 m/s"


def test_a_matrix_with_a_lock_of_no_time_is_shown_and_not_reckoned_with() -> None:
    matrix = matrix_of(Facts((*SPEEDS, lock("ORKNEY", "SKYE", 0.0))))
    assert matrix is not None
    assert "no latency" in matrix.doubt
    assert not matrix.pairs
    assert all(cell is None or cell.times is None for _, cells in matrix.rows for cell in cells)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_node_is_text_and_nothing_else(name: str) -> None:
    made = cluster_map([NodeBox(name, name, (1.0, None, 2.0)), NodeBox(name, name, brought=False)], title=name)
    assert "<script>" not in made
    parsed(made)


def test_the_bars_of_all_nodes_have_one_scale_and_nodes_beyond_the_picture_are_counted() -> None:
    boxes = [NodeBox("A", "", (50.0, 100.0, 0.0)), *(NodeBox(f"N{n}", "", (25.0, 0.0, 0.0)) for n in range(MOST_NODES))]
    drawn = parsed(cluster_map(boxes, title="x"))
    bars = [float(bar.get("width", "")) for bar in by_class(drawn, "c-bar")]
    assert bars[0] == pytest.approx(bars[1] / 2, abs=0.2)
    assert bars[2] == pytest.approx(bars[1] / 4, abs=0.2), "another node, the same scale"
    assert len(bars) == 2 + MOST_NODES - 1, "0 has no bar"
    assert "and 1 more nodes in the table" in texts(drawn)
    with pytest.raises(ValueError, match="300"):
        cluster_map([], title="x", width=200)


@pytest.fixture
def audit(people: People, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks) -> Audit:
    with django_capture_on_commit_callbacks(execute=True):
        brought(people, exports(rows=4))
    return Audit.objects.get(system__name="ORKNEY")


def test_two_nodes_brought_together_stand_side_by_side(audit: Audit, people: People, as_user: AsUser) -> None:
    page = text_of(as_user(people.colleague), f"/audits/{audit.pk}/cluster/?sort=outgoing&master=SKYE")
    assert "The two are within 10 % of each other, so no node that locks is missing" in page
    assert "ORKNEY: " in page
    table = page.split('id="table"', 1)[1]
    assert re.findall(r'<tr data-row><th scope="row">(\w+)', table)[:2] == ["SKYE", "ORKNEY"], "the most outgoing first"
    assert "BARRA (HP rx1620)" in page
    assert "212 (53 ×)" in page
    assert '<td class="n" data-label="One process, /s at most">4,717</td>' in page
    assert "25 km are 93" in page
    assert "1.25e-3 s" not in page, "the slide's misprint is told with the rule, not on the page"
    assert "85" in page
    assert "LOCKDIRWT" in page
    assert "left out: what crosses the cluster adds up without" in page
    assert 'href="?sort=-outgoing&amp;master=SKYE#table"' in page, "sorting keeps what was asked"


def test_the_page_says_what_the_rules_said_and_each_finding_leads_back_to_the_page(
    audit: Audit, people: People, as_user: AsUser
) -> None:
    client = as_user(people.colleague)
    page, findings = text_of(client, f"/audits/{audit.pk}/cluster/"), text_of(client, f"/audits/{audit.pk}/")
    for rule in RULES:
        assert f'href="/rules/{rule}/"' in page
    one = audit.findings.filter(rule__in=RULES).first()
    assert one is not None
    assert f'href="/audits/{audit.pk}/#f{one.number}"' in page
    assert f'Shown on <a href="/audits/{audit.pk}/cluster/">Cluster</a>' in findings


def test_the_csv_has_every_node_and_says_which_figures_are_none(audit: Audit, people: People, as_user: AsUser) -> None:
    answer = as_user(people.colleague).get(f"/audits/{audit.pk}/cluster/cluster.csv")
    assert answer.status_code == 200
    rows = list(csv.DictReader(io.StringIO(answer.content.decode())))
    assert [(row["node"], row["exports"]) for row in rows] == [
        ("ORKNEY", "this capture"),
        ("SKYE", "brought"),
        ("BARRA", "not uploaded"),
    ]
    assert rows[0]["lock directory weight"] == "1.0"
    assert rows[1]["lock directory weight"] == ""
    assert "lock directory weight: not in the export" in rows[1]["not numbers"]
    assert rows[2]["incoming per second"] == ""


def test_a_capture_of_one_node_says_what_to_bring(
    people: People, bring: Callable[..., Upload], as_user: AsUser
) -> None:
    bring("quiet_two_node_day")
    page = text_of(as_user(people.colleague), f"/audits/{Audit.objects.get().pk}/cluster/")
    assert "a T4 composite CSV of every node of the cluster, all of the same day" in page
    assert "SHOW CLUSTER" in page
    assert "<figure" not in page
    assert "Another master" not in page


def test_a_capture_without_any_rate_claims_none(people: People, as_user: AsUser) -> None:
    hostile = "</td><script>alert(1)</script>"
    facts: list[Fact] = [
        ClusterNode(name=hostile, hardware=hostile, status="BRK_NEW"),
        DistributedLockRates(statistic="mean", enq_local=OVERFLOW),
        lock(hostile.upper(), "ORKNEY", -3.0),
    ]
    made = audited(people, facts, "ORKNEY", "openvms")
    page = text_of(as_user(people.colleague), f"/audits/{made.pk}/cluster/")
    assert "<script>alert" not in page
    assert "did -/s local" in page
    assert "Not believed" in page


def test_a_stranger_finds_no_cluster_and_another_product_has_none(
    audit: Audit, people: People, as_user: AsUser
) -> None:
    for view in ("cluster/", "cluster/cluster.csv", "cluster/scripts.zip", "day/"):
        assert as_user(people.stranger).get(f"/audits/{audit.pk}/{view}").status_code == 404
    other = audited(people, [], "CLAIMS", "ase")
    assert as_user(people.colleague).get(f"/audits/{other.pk}/cluster/").status_code == 404


def test_the_page_has_the_decision_and_the_one_plan_of_all_nodes(
    as_user: AsUser, people: People, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    files = {one.name: one.read_text("utf-8") for one in STORY.iterdir() if one.suffix in (".csv", ".txt")}
    with django_capture_on_commit_callbacks(execute=True):
        brought(people, files)
    for node in ("HARRIS", "LEWIS", "UIST"):
        page = text_of(as_user(people.colleague), f"/audits/{Audit.objects.get(system__name=node).pk}/cluster/")
        assert "Where the locks belong: on HARRIS, not on LEWIS" in page
        assert "LOCKDIRWT on HARRIS 1 → 3" in page
        assert "RESHASHTBL on UIST 4,096 → 32,768" in page
        assert "FOR NODE HARRIS: log in on HARRIS first" in page
        assert "Each as master, side by side" in page
        assert "Step 1, next reboot, node HARRIS" in words_of(page)


def test_the_scripts_of_each_node_are_files_of_their_own_in_the_order_of_the_boots(
    as_user: AsUser, people: People, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    files = {one.name: one.read_text("utf-8") for one in STORY.iterdir() if one.suffix in (".csv", ".txt")}
    with django_capture_on_commit_callbacks(execute=True):
        brought(people, files)
    audit = Audit.objects.get(system__name="LEWIS")
    answer = as_user(people.colleague).get(f"/audits/{audit.pk}/cluster/scripts.zip")
    with zipfile.ZipFile(io.BytesIO(answer.content)) as book:
        texts = {name: book.read(name).decode() for name in book.namelist()}
    assert list(texts) == [
        "run-sheet.txt",
        *(f"{name}-{which}.com.txt" for name in ("1-HARRIS", "2-UIST") for which in ("apply", "undo")),
    ]
    first, second = texts["1-HARRIS-apply.com.txt"], texts["2-UIST-apply.com.txt"]
    assert "LOCKDIRWT = 3" in first
    assert "RESHASHTBL" not in first.replace("Lockwright", "")
    assert "$! ===== Step 2 of 3: on node UIST, by its own file =====" in first
    assert "MIN_RESHASHTBL = 32768" in second
    assert "LOCKDIRWT" not in second
    for text in (first, second):
        before_the_first_step = text.split("===== Step", 1)[0].splitlines()
        runs = [line for line in before_the_first_step if line and not line.startswith("$!")]
        assert runs == ["$ EXIT"], "run as a whole it ends before its first step"
    assert "SET LOCKDIRWT 1" in texts["1-HARRIS-undo.com.txt"]
    sheet = texts["run-sheet.txt"]
    assert "RUN SHEET: cluster of HARRIS, LEWIS, UIST" in sheet
    assert sheet.index("node HARRIS") < sheet.index("node UIST")
    assert "LOCKDIRWT on HARRIS is 1" in sheet
    assert "in 1-HARRIS-apply.com.txt" in sheet
    assert "SHOW CLUSTER lists HARRIS as MEMBER again" in " ".join(sheet.split())
    assert "back to 1, next reboot" in sheet


def test_what_is_accepted_on_one_node_is_left_out_of_the_sheet_of_all(
    as_user: AsUser, people: People, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    files = {one.name: one.read_text("utf-8") for one in STORY.iterdir() if one.suffix in (".csv", ".txt")}
    with django_capture_on_commit_callbacks(execute=True):
        brought(people, files)
    row = TrackedFinding.objects.get(system__name="UIST", key__startswith="openvms/resource_hash_table_undersized")
    row.state, row.state_until = TrackedFinding.State.ACCEPTED, date(2099, 1, 31)
    row.save()
    audit = Audit.objects.get(system__name="HARRIS")
    sheet = cluster_plan.sheet(audit)
    assert [one.step.node for one in sheet.steps] == ["HARRIS"]
    assert [one.node for one in sheet.accepted] == ["UIST"]
    with zipfile.ZipFile(io.BytesIO(cluster_plan.archive(audit))) as book:
        assert "accepted until 2099-01-31, not to be run" in book.read("2-UIST-apply.com.txt").decode()


def test_an_audit_outside_of_a_cluster_has_no_scripts_of_one(people: People, as_user: AsUser) -> None:
    alone = audited(people, [member("ORKNEY", 1.0, 1.0, 1.0, own=True)], "ORKNEY", "openvms")
    assert as_user(people.colleague).get(f"/audits/{alone.pk}/cluster/scripts.zip").status_code == 404
