"""The overview: sorted by its columns, with the states of findings and what changed since yesterday."""

import re
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from django.utils import timezone

from advisor.audits.models import Audit, Capture
from advisor.findings.models import FindingEvent, TrackedFinding
from advisor.findings.services.listing import Filter, listed
from advisor.systems.models import System
from advisor.systems.views import overview as views
from tests.advisor.findings.followed import followed
from tests.advisor.people import AsUser, People, text_of

pytestmark = pytest.mark.postgres
State, Presence = TrackedFinding.State, TrackedFinding.Presence


def made(people: People, name: str, *, days: int = 0, trend: list[Any] | None = None, **columns: Any) -> System:
    """A system with an audit."""
    system = System.objects.create(team=people.team, product="ase", name=name, key=name, trend=trend or [])
    capture = Capture.objects.create(system=system, taken=timezone.now() - timedelta(days=days))
    system.latest = Audit.objects.create(system=system, capture=capture, headline="h", **columns)
    system.save()
    return system


@pytest.fixture
def fleet(people: People) -> list[System]:
    a = made(
        people,
        "A",
        days=2,
        worst=2,
        processors_lost=0.1,
        capacity=4,
        unjudged=["r"],
        trend=[["t", 3.0, 2], ["t", 1.0, 2]],
    )
    b = made(
        people,
        "B",
        days=1,
        worst=4,
        processors_lost=2.0,
        capacity=4,
        unjudged=["r", "s"],
        trend=[["t", 1.0, 2], ["t", None, 2], ["t", 1.5, 4]],
    )
    c = made(people, "C", days=3, worst=3, trend=[["t", None, 1], ["t", None, 3]])
    d = System.objects.create(team=people.team, product="rdb", name="D", key="D")
    followed(a)
    followed(b)
    followed(b)
    followed(c, state=State.ACCEPTED)
    return [a, b, c, d]


def names_in(page: str) -> str:
    return "".join(re.findall(r'<a href="/systems/\d+/"><b>([^<]*)</b>', page))


def row_of(page: str, name: str) -> str:
    (found,) = [row for row in page.split("<tr data-row>")[1:] if f"<b>{name}</b>" in row]
    return found


@pytest.mark.parametrize(
    ("sort", "up", "down"),
    [
        ("system", "ABCD", "DCBA"),
        ("lost", "ABCD", "BACD"),
        ("worst", "CABD", "BACD"),
        ("trend", "ABCD", "BACD"),
        ("findings", "CDAB", "BACD"),
        ("captured", "CABD", "BACD"),
        ("unjudged", "CABD", "BACD"),
    ],
)
def test_every_column_sorts_both_ways(
    people: People, fleet: list[System], as_user: AsUser, sort: str, up: str, down: str
) -> None:
    """What has no figure comes last both ways."""
    olga = as_user(people.owner)
    page = text_of(olga, f"/?sort={sort}")
    assert names_in(page) == up
    assert page.count('aria-sort="ascending"') == 1
    page = text_of(olga, f"/?sort=-{sort}")
    assert names_in(page) == down
    assert page.count('aria-sort="descending"') == 1


def test_a_sorted_list_comes_in_pages_and_keeps_its_filter(
    people: People, fleet: list[System], as_user: AsUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(views, "A_PAGE", 2)
    olga = as_user(people.owner)
    for sort, order in (("findings", "CDAB"), ("-system", "DCBA")):
        pages = [text_of(olga, f"/?sort={sort}&page={number}") for number in (1, 2)]
        assert "".join(map(names_in, pages)) == order
        assert f"sort={sort}&amp;page=2" in pages[0]
    assert names_in(text_of(olga, "/?sort=-findings&product=ase&severity=warning")) == "B"
    System.objects.update(expected_hours=1)
    assert names_in(text_of(olga, "/?sort=-trend&only=overdue")) == "BA"


def test_the_worst_finding_filters_exactly(people: People, fleet: list[System], as_user: AsUser) -> None:
    olga = as_user(people.owner)
    assert names_in(text_of(olga, "/?worst=critical")) == "B"
    assert names_in(text_of(olga, "/?worst=warning")) == "", "that of C is accepted"
    assert names_in(text_of(olga, "/?severity=warning")) == "B"
    assert 'href="?worst=critical">1 critical</a>' in text_of(olga, "/")
    assert "1 with accepted findings alone" in text_of(olga, "/")
    assert names_in(text_of(olga, "/?worst=huge&sort=pk&only=x&severity=y")) == "BACD"


def test_counts_of_states_lead_to_these_findings(people: People, fleet: list[System], as_user: AsUser) -> None:
    b = fleet[1]
    followed(b, state=State.CHANGE_MADE)
    followed(b, presence=Presence.GONE)
    page = text_of(as_user(people.owner), "/")
    links = re.findall(r'<a class="state [\w-]+" href="([^"]*)">(\d+) ([^<]*)</a>', row_of(page, "B"))
    assert [(int(count), words) for _, count, words in links] == [(2, "open"), (1, "waiting for proof")]
    for address, count, _ in links:
        listing = text_of(as_user(people.owner), address.replace("&amp;", "&"))
        assert listing.count("<tr data-row>") == int(count)
    assert "1 accepted" in row_of(page, "C")
    assert "1 open" not in row_of(page, "C"), "an accepted finding is counted as accepted"


def test_the_trend_says_by_how_much(people: People, fleet: list[System], as_user: AsUser) -> None:
    page = text_of(as_user(people.owner), "/")
    assert 'class="good" title="processors lost, the last capture against the first of these">-2.00' in row_of(
        page, "A"
    )
    assert re.search(r">\+0\.50 (?:engines|CPUs)</span>", row_of(page, "B"))
    assert "severity</span>" in row_of(page, "C"), "nothing measured: the line is of the severity, without a change"
    System.objects.filter(name="A").update(trend=[["t", 3.0, 2]])
    assert "one capture" in row_of(text_of(as_user(people.owner), "/"), "A")


def test_since_yesterday_counts_what_its_links_show(people: People, fleet: list[System], as_user: AsUser) -> None:
    now, old = timezone.now(), timezone.now() - timedelta(days=3)
    a, b, *_ = fleet
    followed(a, "new", first_seen=now)
    followed(b, "new", first_seen=now)
    followed(b, "new and gone", first_seen=now, presence=Presence.GONE)
    back = followed(b, "again", state_since=now)
    FindingEvent.objects.create(tracked=back, kind="state", text="Open again: the figure rose")
    FindingEvent.objects.create(tracked=followed(b), at=old, kind="state", text="Open again: the figure rose")
    followed(a, "proven", state=State.PROVEN, state_since=now, presence=Presence.GONE)
    followed(a, "proven before", state=State.PROVEN, state_since=old)
    System.objects.filter(pk=a.pk).update(expected_hours=1)
    theirs = System.objects.create(team=people.other_team, product="ase", name="PAY", key="PAY")
    followed(theirs, "theirs", first_seen=now)
    page = text_of(as_user(people.owner), "/")
    strip = re.findall(r'<li><a href="([^"]*)"><span>([^<]*)</span>\s*<b[^>]*>(\d+)</b>', page)
    assert [(words, int(count)) for _, words, count in strip] == [
        ("New findings since yesterday", 2),
        ("Got worse, or open again", 1),
        ("Changes judged", 1),
        ("Overdue captures", 1),
    ]
    for address, words, count in strip[:3]:
        assert address.startswith("/findings/?changed=")
        asked = Filter.read({"changed": address.split("=")[1]})
        assert listed(people.owner, asked).count() == int(count), words
    assert "A 1, B 1" in unescape(re.sub(r"<[^>]*>", "", page)).replace("\xa0", " ")
    assert "1 proven" in page
    assert names_in(text_of(as_user(people.owner), "/?only=overdue")) == "A"
