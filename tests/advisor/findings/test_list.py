"""The list of findings over all systems: filters, their counts, sorting, pages, and who sees what."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from advisor.findings.models import FindingEvent, TrackedFinding
from advisor.findings.services.listing import Filter, counts, listed
from advisor.systems.models import Group, System
from tests.advisor.findings.followed import followed
from tests.advisor.people import AsUser, People, text_of

pytestmark = pytest.mark.postgres
State, Presence = TrackedFinding.State, TrackedFinding.Presence


@pytest.fixture
def system(people: People) -> System:
    return System.objects.create(team=people.team, product="ase", name="CLAIMS1", key="CLAIMS1", processors=8)


def titles(page: str) -> list[str]:
    """The findings in the order of the table."""
    return re.findall(r"<b>([^<]*)</b></a>", page)


def chips(page: str) -> dict[str, int]:
    """What each chip says, and how many it counts."""
    found = re.findall(r'<a class="chip"[^>]*>(.*?) <span class="count">([\d,]+)</span>', page)
    return {words: int(number.replace(",", "")) for words, number in found}


def test_open_findings_come_first_then_severity_then_what_is_lost_then_age(
    people: People, system: System, as_user: AsUser
) -> None:
    long_ago = timezone.now() - timedelta(days=90)
    followed(system, "accepted", severity=4, state=State.ACCEPTED)
    followed(system, "not measured", severity=3)
    followed(system, "not measured, older", severity=3, first_seen=long_ago)
    followed(system, "a little", severity=3, processors=0.0)
    followed(system, "much", severity=3, processors=4.0)
    followed(system, "gravest", severity=4)
    followed(system, "change made", severity=4, state=State.CHANGE_MADE)
    followed(system, "made worse", severity=2, state=State.WORSE)
    followed(system, "gone", severity=4, presence=Presence.GONE)
    assert titles(text_of(as_user(people.owner), "/findings/")) == [
        *("gravest", "much", "a little", "not measured, older", "not measured", "made worse"),
        *("change made", "accepted"),
    ]


def test_a_team_sees_its_own_alone_and_its_chips_count_no_others(
    people: People, system: System, as_user: AsUser
) -> None:
    followed(system, "ours")
    theirs = System.objects.create(team=people.other_team, product="ase", name="PAY", key="PAY")
    followed(theirs, "theirs")
    page = text_of(as_user(people.colleague), "/findings/")
    assert titles(page) == ["ours"]
    assert chips(page)["Any state"] == 1
    assert titles(text_of(as_user(people.colleague), f"/findings/?system={theirs.pk}")) == []
    assert sorted(titles(text_of(as_user(people.administrator), "/findings/"))) == ["ours", "theirs"]


def test_a_row_leads_to_its_finding_and_its_system(people: People, system: System, as_user: AsUser) -> None:
    one = followed(system, "plain")
    page = text_of(as_user(people.colleague), "/findings/")
    assert f'<a href="/findings/{one.pk}/"><b>plain</b></a>' in page
    assert f'<a href="/systems/{system.pk}/">CLAIMS1</a>' in page


def test_each_filter_narrows_the_list(people: People, system: System, as_user: AsUser) -> None:
    now = timezone.now()
    other = System.objects.create(team=people.team, product="rdb", name="LEWIS", key="LEWIS")
    group = Group.objects.create(team=people.team, name="night")
    group.systems.add(other)
    followed(system, "plain")
    followed(system, "critical", severity=4)
    followed(other, "of LEWIS")
    followed(system, "other rule", rule="ase/another_rule")
    followed(system, "accepted", state=State.ACCEPTED)
    followed(system, "of mats", owner=people.mate)
    followed(system, "of olga", owner=people.owner)
    followed(system, "online", when="now")
    followed(system, "no step", when="")
    followed(system, "gone", presence=Presence.GONE)
    followed(system, "proven and gone", presence=Presence.GONE, state=State.PROVEN, state_since=now)
    followed(system, "first seen today", first_seen=now)
    back = followed(system, "open again", state_since=now)
    FindingEvent.objects.create(tracked=back, kind="state", text="Open again: the figure rose")
    followed(system, "got worse", state=State.WORSE, state_since=now)
    followed(system, "decided today", state=State.PLANNED, state_since=now)
    olga = as_user(people.owner)

    def shown(query: str) -> set[str]:
        return set(titles(text_of(olga, f"/findings/?{query}")))

    assert shown("severity=critical") == {"critical"}
    assert shown("product=rdb") == shown(f"group={group.pk}") == shown(f"system={other.pk}") == {"of LEWIS"}
    assert shown("rule=ase/another_rule") == {"other rule"}
    assert shown("state=accepted") == {"accepted"}
    assert shown("owner=mine") == {"of olga"}
    assert shown(f"owner={people.mate.pk}") == {"of mats"}
    assert shown("owner=none") == shown("") - {"of mats", "of olga"}
    assert shown("when=now") == {"online"}
    assert shown("when=none") == {"no step"}
    assert shown("presence=gone") == {"gone", "proven and gone"}
    assert shown("state=proven") == {"proven and gone"}, "what a change cured is gone"
    assert shown("changed=new") == {"first seen today"}
    assert shown("changed=worse") == {"open again", "got worse"}
    assert shown("changed=judged") == {"got worse", "proven and gone"}
    assert shown("q=lewis") == shown("q=OF+lew") == {"of LEWIS"}
    assert shown("q=mats") == {"of mats"}
    assert shown("q=nowhere") == set()
    assert shown("severity=critical&state=accepted") == set()
    assert len(shown("presence=any")) == TrackedFinding.objects.count()


def test_nonsense_in_the_address_asks_for_nothing(people: People, system: System, as_user: AsUser) -> None:
    followed(system, "plain")
    nonsense = (
        "severity=huge&state=mad&when=never&presence=perhaps&changed=x&sort=pk&group=x&system=-1&owner=%27&page=9x"
    )
    assert titles(text_of(as_user(people.owner), f"/findings/?{nonsense}")) == ["plain"]
    assert titles(text_of(as_user(people.owner), f"/findings/?system={'9' * 40}&q={'x' * 5000}")) == []


def test_a_chip_counts_what_its_link_shows(people: People, system: System, as_user: AsUser) -> None:
    """Whatever else is chosen: each count is that of the list behind the link."""
    for number in range(60):
        followed(
            system,
            f"finding {number}",
            severity=1 + number % 4,
            state=State.values[number % 7],
            when=("now", "restart", "")[number % 3],
            presence=Presence.values[number % 5 % 3],
            owner=(None, people.owner, people.mate)[number % 11 % 3],
        )
    olga, checked = as_user(people.owner), 0
    choices = ("", "severity=warning", "state=proven", "state=open&owner=mine", "presence=any&when=none", "owner=none")
    for choice in (*choices, "presence=gone&severity=note", "changed=judged", "state=accepted&when=now&sort=-system"):
        page = text_of(olga, f"/findings/?{choice}")
        for link, number in re.findall(r'<a class="chip" href="\?([^"]*)"[^>]*>[^<]* <span class="count">(\d+)<', page):
            asked = Filter.read(dict(one.split("=") for one in link.replace("&amp;", "&").split("&") if one))
            current = f'href="?{link}" aria-current' in page
            if not current:  # a link back from a choice says how many the choice has
                assert listed(people.owner, asked).count() == int(number), (choice, link)
                checked += 1
        total = re.search(r'<p class="soft">(\d+) findings?', page)
        assert total
        assert (
            int(total[1])
            == listed(people.owner, Filter.read(dict(o.split("=") for o in choice.split("&") if o))).count()
        )
    assert checked > 60


@pytest.mark.parametrize(
    ("sort", "up", "down"),
    [
        ("severity", "badc", "cdab"),
        ("finding", "abcd", "dcba"),
        ("system", "dcab", "cabd"),
        ("lost", "adcb", "cdab"),
        ("when", "cabd", "dabc"),
        ("state", "abdc", "cdba"),
        ("owner", "bcda", "cdba"),
        ("seen", "acdb", "bdca"),
    ],
)
def test_every_column_sorts_both_ways_and_equals_by_what_is_worst(
    people: People, system: System, as_user: AsUser, sort: str, up: str, down: str
) -> None:
    """What has no figure, or no owner, comes last both ways."""
    other = System.objects.create(team=people.team, product="rdb", name="ABLE", key="ABLE")
    then = timezone.now() - timedelta(days=400)
    followed(system, "a", severity=2, processors=0.1, first_seen=then)
    followed(system, "b", severity=1, first_seen=timezone.now(), owner=people.mate, state=State.PLANNED)
    followed(system, "c", severity=4, processors=3.0, when="now", owner=people.owner, state=State.PROVEN)
    followed(other, "d", severity=3, processors=2.0, when="", state=State.ACCEPTED, owner=people.owner)
    olga = as_user(people.owner)
    page = text_of(olga, f"/findings/?sort={sort}")
    assert "".join(titles(page)) == up
    assert page.count("aria-sort=") == 1
    assert f'aria-sort="ascending"><a class="sort" href="?sort=-{sort}"' in page.replace('class="n" aria', "aria")
    page = text_of(olga, f"/findings/?sort=-{sort}")
    assert "".join(titles(page)) == down
    assert 'aria-sort="descending"' in page


def test_a_long_list_comes_in_pages_that_keep_the_filter(people: People, system: System, as_user: AsUser) -> None:
    for number in range(120):
        followed(system, f"finding {number:03}", severity=3)
    olga = as_user(people.owner)
    seen = [one for page in (1, 2, 3) for one in titles(text_of(olga, f"/findings/?severity=warning&page={page}"))]
    assert len(seen) == len(set(seen)) == 120
    page = text_of(olga, "/findings/?severity=warning&page=2")
    assert "51 to 100 of 120" in page
    assert "severity=warning&amp;page=3" in page


def test_the_list_reads_no_audit_and_asks_the_same_for_any_length(
    people: People, system: System, as_user: AsUser
) -> None:
    olga = as_user(people.owner)

    def asked() -> list[str]:
        with CaptureQueriesContext(connection) as queries:
            text_of(olga, "/findings/?q=finding")
        return [one["sql"] for one in queries]

    followed(system, "finding", owner=people.mate)
    asked()  # the first page of a process asks what later ones know
    one = asked()
    for number in range(40):
        followed(system, f"finding {number}", owner=people.mate)
    assert len(asked()) == len(one)
    assert not [sql for sql in one if "audits_" in sql]


def test_a_search_gets_the_list_alone(people: People, system: System, as_user: AsUser) -> None:
    followed(system, "plain")
    answer = as_user(people.owner).get("/findings/?q=plain", headers={"HX-Request": "true"})
    assert "<html" not in answer.content.decode()
    assert titles(answer.content.decode()) == ["plain"]


def test_hostile_text_stays_text(people: People, as_user: AsUser) -> None:
    bad = '"><script>alert(1)</script>'
    system = System.objects.create(team=people.team, product="ase", name=bad[:100], key="X")
    followed(system, bad, rule=bad)
    page = text_of(as_user(people.owner), f"/findings/?q={bad}&rule={bad}")
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page


def test_what_is_not_measured_is_no_zero(people: People, system: System, as_user: AsUser) -> None:
    followed(system, "unknown", processors=None)
    page = text_of(as_user(people.owner), "/findings/")
    assert "not measured</span>" in page
    assert "0.00" not in page
    followed(system, "none lost", processors=0.0)
    assert "<b>0.00</b> of 8" in text_of(as_user(people.owner), "/findings/")


def test_the_navigation_counts_what_is_open(people: People, system: System, as_user: AsUser) -> None:
    olga = as_user(people.owner)
    assert 'title="open findings"' not in text_of(olga, "/rules/")
    followed(system)
    followed(system)
    followed(system, state=State.ACCEPTED)
    followed(system, presence=Presence.GONE)
    assert '<span class="count" title="open findings">2</span>' in text_of(olga, "/rules/")
    assert 'title="open findings"' not in text_of(as_user(people.stranger), "/rules/")


def test_an_empty_list_says_what_to_do(people: People, system: System, as_user: AsUser) -> None:
    assert "No findings stand" in text_of(as_user(people.owner), "/findings/")
    followed(system)
    assert "No finding fits" in text_of(as_user(people.owner), "/findings/?q=nowhere")
    assert counts(people.owner, Filter(q="nowhere")).total == 0
