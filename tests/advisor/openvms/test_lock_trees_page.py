"""Who makes the locks: the page of a cluster's lock trees, its map, and when there is a tab for it."""

import csv
import io

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from advisor.charts.treemap import MOST_TILES, Tile, treemap
from advisor.openvms.services.lock_trees import lock_trees_view
from collectors.facts import OVERFLOW, Fact, Facts, Source
from collectors.facts.openvms import (
    FileName,
    ListedLocks,
    LockActivity,
    LockQueue,
    LockQueues,
    LockRates,
    LockTree,
    Node,
)
from tests.advisor.ase.servers import audited
from tests.advisor.charts.pictures import HOSTILE, by_class, maybe, names, said, tall, texts, wide
from tests.advisor.charts.pictures import picture as parsed
from tests.advisor.people import AsUser, People, text_of

ORDERS = "524D5324EFD10200000200444154412020202020202020"
"""`RMS$`, the file (184815,2,0) on the volume DATA."""
QUEUE_MANAGER = "514D414E244D53525F51"


def report(number: int, total: float, *trees: tuple[str, float, str | None], **more: object) -> list[Fact]:
    """A report of ORKNEY and SKYE, with these trees: name, requests per second, master."""
    where = Source("actv.txt", 10 * number, 10 * number + 9)
    fields = {"nodes": ("ORKNEY", "SKYE"), "by_node": (("ORKNEY", total), ("SKYE", 0.0)), **more}
    return [
        LockActivity(source=where, report=number, trees=len(trees), total=total, **fields),  # type: ignore[arg-type]
        *(
            LockTree(source=where, report=number, name=name, total=rate, rates=(("ORKNEY", rate),), master=master)
            for name, rate, master in trees
        ),
    ]


TWO: list[Fact] = [
    Node(name="ORKNEY"),
    *report(1, 3000.0, (ORDERS, 2000.0, "ORKNEY"), (QUEUE_MANAGER, 1000.0, "SKYE")),
    *report(2, 5000.0, (ORDERS, 4000.0, "ORKNEY"), failed=("BARRA",)),
]


def test_of_several_reports_the_one_with_most_requests_is_shown_unless_another_is_asked_for() -> None:
    facts = Facts(tuple(TWO))
    assert [lock_trees_view(facts, at).shown for at in (None, 0, 1, 7, -1)] == [1, 0, 1, 1, 1]
    row = lock_trees_view(facts).rows[0]
    assert (row.percent, row.seen, row.what) == (80.0, 2, "RMS file (184815,2,0) on DATA")
    named = FileName(device="DISK$DATA", name="DISK$DATA:[A]B.DAT;1", number=184815, sequence=2, volume_number=0)
    assert lock_trees_view(Facts((*TWO, named))).rows[0].what == "DISK$DATA:[A]B.DAT;1"


def test_a_report_with_asterisks_is_counted_and_not_drawn() -> None:
    view = lock_trees_view(Facts(tuple(report(1, OVERFLOW, (ORDERS, OVERFLOW, None)))))  # type: ignore[arg-type]
    assert (view.overflowed, view.pictures, view.anything) == (1, (), True)


@example(
    tiles=[Tile("", 24766298.0), Tile("", 1.0), Tile("", 2.2e-311)], title="", width=240, height=140
)  # its area times the side is no number above zero any more
@given(
    tiles=st.lists(st.builds(Tile, name=names, value=maybe, group=names), max_size=60),
    title=names,
    width=wide,
    height=tall,
)
def test_any_treemap_is_well_formed_and_inside(tiles: list[Tile], title: str, width: int, height: int) -> None:
    parsed(treemap(tiles, title=title, unit="/s", width=width, height=height))


def test_areas_are_shares_and_masters_are_colours() -> None:
    tiles = [Tile("A", 60.0, "master ORKNEY"), Tile("B", 30.0, "master SKYE"), Tile("C", 10.0)]
    drawn = parsed(treemap(tiles, title="t", unit="/s", width=400, height=318))
    boxes = [one for one in by_class(drawn, "c-tile") if len(one)]
    areas = [float(one.get("width", "")) * float(one.get("height", "")) for one in boxes]
    assert [round(area / sum(areas), 1) for area in areas] == [0.6, 0.3, 0.1]
    assert [one.get("class", "").split()[1] for one in boxes] == ["c-1", "c-2", "c-5"]
    assert "master SKYE" in texts(drawn)
    assert "A 60 /s, master ORKNEY" in said(drawn)


def test_tiles_beyond_the_picture_are_one_that_says_how_many() -> None:
    drawn = parsed(treemap([Tile(f"T{n}", 1.0) for n in range(MOST_TILES + 5)], title="t", unit="/s", width=900))
    assert len([one for one in by_class(drawn, "c-tile") if len(one)]) == MOST_TILES
    assert "6 more" in texts(drawn)
    with pytest.raises(ValueError, match="240"):
        treemap([], title="t", unit="/s", width=200)


def test_the_page_shows_trees_masters_who_asks_and_who_waits(people: People, as_user: AsUser) -> None:
    facts: list[Fact] = [
        *TWO,
        LockQueues(source=Source("q.rpt", 1, 9), queues=2),
        LockQueue(source=Source("q.rpt", 2, 4), node="ORKNEY", path=(ORDERS, "21040000"), waiting=7.0, converting=0.0),
        LockQueue(source=Source("q.rpt", 5, 6), node="ORKNEY", path=(QUEUE_MANAGER,), waiting=1.0, converting=0.0),
        ListedLocks(source=Source("sda.txt", 5, 6), text="RMS$........DATA", locks=1234, below=1200),
    ]
    made = audited(people, facts, "ORKNEY", "openvms")
    client = as_user(people.colleague)
    page = text_of(client, f"/audits/{made.pk}/lock-trees/")
    assert "RMS file (184815,2,0) on DATA" in page
    assert "Collection failed on BARRA" in page
    assert "SKYE counted nothing in any tree" in page
    assert "the bucket at VBN 1,057 of (184815,2,0) on DATA" in page
    assert "1 queue for locks that have waits by design left out" in page
    assert "1,234" in page
    assert "queue manager" not in page, "it is in the other report"
    assert "queue manager" in text_of(client, f"/audits/{made.pk}/lock-trees/?report=1&sort=requests")
    assert "RMS file" in text_of(client, f"/audits/{made.pk}/lock-trees/?report=²")
    audit_page = text_of(client, f"/audits/{made.pk}/")
    assert f'href="/audits/{made.pk}/lock-trees/">Lock trees</a>' in audit_page
    assert f'Shown on <a href="/audits/{made.pk}/lock-trees/">Lock trees</a>' in audit_page
    answer = client.get(f"/audits/{made.pk}/lock-trees/lock-trees.csv")
    rows = list(csv.DictReader(io.StringIO(answer.content.decode())))
    assert [(row["report"], row["file id"], row["requests per second"], row["node"]) for row in rows] == [
        ("1", "(184815,2,0)", "2000.0", "ORKNEY"),
        ("1", "", "1000.0", "ORKNEY"),
        ("2", "(184815,2,0)", "4000.0", "ORKNEY"),
    ]


def test_without_reports_there_is_no_tab_and_the_page_says_what_to_bring(people: People, as_user: AsUser) -> None:
    few = LockRates(statistic="mean", new_enq_per_second=1.0, converted_enq_per_second=1.0, deq_per_second=1.0)
    quiet = LockRates(statistic="mean", deadlock_search_per_second=0.0)
    client = as_user(people.colleague)
    for name, facts in (("ORKNEY", []), ("SKYE", [few]), ("BARRA", [few, quiet])):
        made = audited(people, [Node(name=name), *facts], name, "openvms")
        assert "lock-trees" not in text_of(client, f"/audits/{made.pk}/cluster/")
        page = text_of(client, f"/audits/{made.pk}/lock-trees/")
        assert "No report in this capture tells who makes the locks" in page
        assert "LOCK_ACTV.COM (KP_LOCKTOOLS)" in page
        assert "<figure" not in page


@pytest.mark.parametrize("hostile", HOSTILE)
def test_what_stands_in_an_export_is_text_and_nothing_else(people: People, as_user: AsUser, hostile: str) -> None:
    hostile = hostile.encode("utf-8", "replace").decode()  # no reader gives half a character
    name = hostile.encode()[:32].hex().upper()
    tree = LockTree(name=name, total=9.0, rates=((hostile, 9.0),), master=hostile)
    facts: list[Fact] = [
        LockActivity(trees=1, total=9.0, nodes=(hostile,), by_node=((hostile, 9.0),), failed=(hostile,)),
        tree,
        LockQueue(node=hostile, path=(name,), waiting=5.0, file=hostile),
        LockQueues(queues=1, failed=(hostile,)),
        ListedLocks(text=hostile, locks=1),
    ]
    made = audited(people, facts, "ORKNEY", "openvms")
    client = as_user(people.colleague)
    assert "<script>alert" not in text_of(client, f"/audits/{made.pk}/lock-trees/")
    assert client.get(f"/audits/{made.pk}/lock-trees/lock-trees.csv").status_code == 200


def test_a_stranger_finds_no_lock_trees(people: People, as_user: AsUser) -> None:
    made = audited(people, TWO, "ORKNEY", "openvms")
    other = audited(people, [], "CLAIMS", "ase")
    for view in ("lock-trees/", "lock-trees/lock-trees.csv"):
        assert as_user(people.stranger).get(f"/audits/{made.pk}/{view}").status_code == 404
        assert as_user(people.colleague).get(f"/audits/{other.pk}/{view}").status_code == 404
