"""Several systems at once: renamed by a table or a pattern, merged with a preview, deleted by their count."""

from collections.abc import Callable, Sequence
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from advisor.audits.models import Capture, LimitSetting
from advisor.core.models import JournalEntry
from advisor.core.records import Refused
from advisor.findings.services import states
from advisor.notifications.models import Recipient
from advisor.systems.models import Group, Note, System
from advisor.systems.services import bulk
from advisor.uploads.models import Upload
from tests.advisor.people import AsUser, People, text_of
from tests.advisor.schedules.scheduling import make_system
from tests.advisor.seen import CONTENDED, see, words_of

pytestmark = pytest.mark.postgres

LIMIT = "ase/address_lock_spinlock_contended.contention_percent"


@pytest.fixture
def three(people: People) -> list[System]:
    """Three systems of the owner's team."""
    return [make_system(people.team, name) for name in ("OLD-A", "OLD-B", "C")]


def names() -> list[str]:
    return list(System.objects.order_by("name").values_list("name", flat=True))


def query(systems: Sequence[System], **more: object) -> str:
    return "?" + "&".join(
        [*(f"system={one.pk}" for one in systems), *(f"{key}={value}" for key, value in more.items())]
    )


def post(client: Client, systems: Sequence[System], do: str, **more: object) -> str:
    data = {f"was-{one.pk}": one.name for one in systems} | more
    answer = client.post("/systems/change/", {"system": [one.pk for one in systems], "do": do, **data}, follow=True)
    return answer.content.decode()


def test_a_pattern_proposes_names_and_the_table_gives_them(
    people: People, three: list[System], as_user: AsUser
) -> None:
    olga = as_user(people.owner)
    html = text_of(olga, "/systems/change/" + query(three, find="old-", put="NEW-"))
    for name in ("NEW-A", "NEW-B"):
        assert f'value="{name}"' in html
    assert html.count('<span class="state new">proposed</span>') == 2
    given = {f"name-{one.pk}": name for one, name in zip(three, ("NEW-A", "NEW-B", "C"), strict=True)}
    assert "2 systems are renamed." in post(olga, three, "rename", **given)
    assert names() == ["C", "NEW-A", "NEW-B"]
    assert System.objects.get(name="NEW-A").former == ["OLD-A"]
    assert JournalEntry.objects.filter(action="system renamed").count() == 2


def test_a_pattern_that_makes_two_names_one_says_so_before_it_is_done(
    people: People, three: list[System], as_user: AsUser
) -> None:
    html = text_of(as_user(people.owner), "/systems/change/" + query(three[:2], find="OLD-A", put="OLD-B"))
    assert "two of these systems would have this name: merge them" in html
    make_system(people.team, "SPARE")
    html = text_of(as_user(people.owner), "/systems/change/" + query(three[:2], find="OLD-A", put="spare"))
    assert "another system has this name: choose it as well, and merge them" in html
    make_system(people.other_team, "ELSEWHERE")
    html = text_of(as_user(people.owner), "/systems/change/" + query(three[:2], find="OLD-A", put="ELSEWHERE"))
    assert "another system" not in html, "that of another team is no other one"


def test_all_are_renamed_or_none(people: People, three: list[System]) -> None:
    one, two, last = three
    with pytest.raises(Refused, match="OLD-B to C: two of these systems would have this name"):
        bulk.rename_several(three, {one.pk: "X", two.pk: "C"}, people.owner)
    assert names() == ["C", "OLD-A", "OLD-B"]
    assert bulk.rename_several(three, {one.pk: "OLD-B", two.pk: "C", last.pk: "D"}, people.owner) == 3
    assert [System.objects.get(pk=of.pk).name for of in three] == ["OLD-B", "C", "D"]
    now = list(System.objects.filter(pk__in=[one.pk, two.pk]))
    with pytest.raises(Refused, match="C and OLD-B would swap names"):
        bulk.rename_several(now, {one.pk: "C", two.pk: "OLD-B"}, people.owner)


def test_a_pattern_leaves_what_it_does_not_hold() -> None:
    systems = [System(pk=1, name="prod-PROD"), System(pk=2, name="İprod"), System(pk=3, name="x")]
    assert bulk.by_pattern(systems, "prod", "T") == {1: "T-T", 2: "İT"}
    assert bulk.by_pattern(systems, " ", "T") == {}


def test_merging_tells_what_is_joined_and_what_counts_then_does_it(
    people: People, three: list[System], as_user: AsUser
) -> None:
    one, two, into = three
    for hour, system in enumerate((one, two, into)):
        see(system, hour, {CONTENDED: 3})
    for system, value in ((one, 5.0), (into, 9.0)):
        LimitSetting.objects.create(system=system, name=LIMIT, value=value)
    Note.objects.create(system=two, text="of B")
    Group.objects.create(team=people.team, name="Night").systems.add(one)
    Recipient.objects.create(team=people.team, address="dba@example.org").systems.add(two)
    olga = as_user(people.owner)
    html = text_of(olga, "/systems/change/" + query(three, into=into.pk))
    told = words_of(html)
    assert "OLD-A, OLD-B would become C, which takes over: 2 captures 1 note" in told
    assert "group: Night" in told
    assert "recipient of mail: dba@example.org" in told
    assert "exports that say OLD-A, OLD-B are of C from then on" in told
    assert f"limit {LIMIT}: 5 of OLD-A goes, 9 of C counts" in told
    assert Capture.objects.filter(system=into).count() == 1, "to look is not to merge"
    assert "2 merged into C." in post(olga, three, "merge", into=into.pk)
    stays = System.objects.get()
    assert (stays.pk, stays.name, set(stays.former)) == (into.pk, "C", {"C", "OLD-A", "OLD-B"})
    assert stays.captures.count() == 3
    assert stays.limits.get().value == 9.0
    assert stays.notes.get().text == "of B"
    assert [group.name for group in stays.groups.all()] == ["Night"]
    assert [str(one) for one in stays.recipients.all()] == ["dba@example.org"]
    assert JournalEntry.objects.filter(action="systems merged", system=stays).count() == 2


def test_of_a_finding_that_both_have_it_says_which_decision_counts(
    people: People, storm: System, bring: Callable[..., Upload]
) -> None:
    bring("address_lock_storm", system_name="OTHER")
    other = System.objects.get(name="OTHER")
    rule = "ase/address_lock_spinlock_contended"
    earlier, later = storm.tracked.get(rule=rule), other.tracked.get(rule=rule)
    states.plan(people.owner, [earlier.pk])
    states.accept(people.owner, [later.pk], timezone.localdate() + timedelta(days=9), "known")
    (conflict,) = bulk.merging([storm, other], storm).conflicts
    assert conflict.endswith("planned goes, accepted of OTHER counts")
    bulk.merge_several([storm, other], storm.pk, people.owner)
    assert storm.tracked.get(rule=rule).state == "accepted"


def test_only_what_may_be_one_system_is_merged(people: People, three: list[System], as_user: AsUser) -> None:
    node = System.objects.create(team=people.team, product="openvms", name="NODE", key="NODE")
    with pytest.raises(Refused, match="one team and one product"):
        bulk.merge_several([three[0], node], node.pk, people.owner)
    with pytest.raises(Refused, match="two systems or more"):
        bulk.merge_several(three[:1], three[0].pk, people.owner)
    with pytest.raises(Refused, match="choose which of the systems stays"):
        bulk.merge_several(three[:2], three[2].pk, people.owner)
    html = text_of(as_user(people.owner), "/systems/change/" + query([three[0], node]))
    assert "Only systems of one team and one product can be one system." in html
    assert len(names()) == 4


def test_several_are_deleted_by_their_count(people: People, three: list[System], as_user: AsUser) -> None:
    olga = as_user(people.owner)
    assert "type 2 to delete these 2 systems" in post(olga, three[:2], "delete", count="1")
    assert len(names()) == 3
    assert "2 systems are deleted." in post(olga, three[:2], "delete", count=" 2 ")
    assert names() == ["C"]
    assert JournalEntry.objects.filter(action="system forgotten").count() == 2


def test_what_somebody_else_changed_meanwhile_is_left(people: People, three: list[System], as_user: AsUser) -> None:
    System.objects.filter(pk=three[0].pk).update(name="RENAMED", key="RENAMED")
    olga = as_user(people.owner)
    for do, more in (("rename", {}), ("merge", {"into": three[1].pk}), ("delete", {"count": 3})):
        assert "have been merged or deleted meanwhile" in post(olga, three, do, **more)
    with pytest.raises(Refused, match="meanwhile"):
        bulk.delete_several(three, "3", people.owner)
    three[2].delete()
    assert "meanwhile" in post(olga, [three[1], three[2]], "delete", count=2)
    assert names() == ["OLD-B", "RENAMED"]


def test_only_who_may_change_one_changes_several(people: People, three: list[System], as_user: AsUser) -> None:
    assert as_user(people.colleague).get("/systems/change/" + query(three)).status_code == 403
    assert as_user(people.colleague).post("/systems/change/", {}).status_code == 403
    assert 'formaction="/systems/change/"' not in text_of(as_user(people.colleague), "/")
    assert 'formaction="/systems/change/"' in text_of(as_user(people.owner), "/")
    sten = as_user(people.stranger)
    html = text_of(sten, "/systems/change/" + query(three))
    assert "No system is chosen that you may change" in html
    assert "OLD-A" not in html
    post(sten, three, "delete", count=3)
    post(sten, three, "merge", into=three[0].pk)
    assert len(names()) == 3
    mine = make_system(people.other_team, "MINE")
    post(sten, [mine, *three], "delete", count=4)
    assert len(names()) == 4, "not even their own, where others were asked for with it"


def test_no_number_breaks_the_page(people: People, three: list[System], as_user: AsUser) -> None:
    olga = as_user(people.owner)
    for odd in (
        "?system=x",
        "?system=99999999999999999999",
        "?system=",
        "",
        query(three, into="x"),
        query(three, into=-1),
    ):
        assert olga.get(f"/systems/change/{odd}").status_code == 200
    many = "?" + "&".join(f"system={number}" for number in range(1, bulk.MOST + 2))
    assert "200 systems can be changed at once" in olga.get(f"/systems/change/{many}", follow=True).content.decode()
    for data in ({}, {"do": "x", "system": three[0].pk}, {"do": "merge", "system": three[0].pk, "into": "9" * 40}):
        assert olga.post("/systems/change/", data).status_code == 302
