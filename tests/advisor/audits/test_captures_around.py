"""The head of the pages of a capture: the captures around it, its own address, what may be done with it."""

import re
from datetime import timedelta

import pytest

from advisor.audits.models import Audit, Capture
from advisor.audits.services.captures_around import MOST_NEAR, captures_around, taken
from advisor.audits.services.persistence import settle_system
from advisor.notifications.services.notify import before_of
from advisor.systems.services import history
from tests.advisor.keeping import keeps
from tests.advisor.people import AsUser, People, text_of
from tests.advisor.seen import words_of

shared = keeps("address_lock_storm")


def beside(audit: Audit, days: float, *, timed: bool = True) -> Audit:
    """An audited capture of the same system so many days later."""
    when = audit.capture.taken + timedelta(days=days)
    capture = Capture.objects.create(
        system=audit.system,
        taken=when,
        timed=timed,
        interval={"end": when.replace(tzinfo=None).isoformat()} if timed else {},
    )
    empty: dict[str, list[str]] = {"steps": [], "conflicts": []}
    made = Audit.objects.create(capture=capture, system=audit.system, rules_version="0", plan=empty)
    Capture.objects.filter(pk=capture.pk).update(audit=made)
    return made


def test_one_capture_has_none_around_it(people: People, storm_audit: Audit, as_user: AsUser) -> None:
    around = captures_around(storm_audit.capture)
    assert (around.position, around.count) == (1, 1)
    assert (around.previous, around.following, around.newest) == (None, None, None)
    page = text_of(as_user(people.owner), f"/audits/{storm_audit.pk}/")
    assert "captures-menu" not in page
    assert ">Compare</a>" not in page


def test_before_after_and_the_newest(people: People, storm_audit: Audit, as_user: AsUser) -> None:
    before, after, newest = (beside(storm_audit, days) for days in (-3, 1, 9))
    Capture.objects.create(system=storm_audit.system, taken=storm_audit.capture.taken + timedelta(days=20))
    around = captures_around(storm_audit.capture)
    assert (around.position, around.count) == (2, 4), "what was never audited is not counted"
    assert around.previous is not None
    assert around.following is not None
    assert around.newest is not None
    assert [one.audit for one in (around.previous, around.following, around.newest)] == [before.pk, after.pk, newest.pk]
    page = text_of(as_user(people.owner), f"/audits/{storm_audit.pk}/")
    assert "2026-02-11 10:40 2 of 4" in words_of(page)
    assert f'<a class="button newer" href="/audits/{newest.pk}/">2026-02-20 is newer →</a>' in page
    assert f'href="/audits/{after.pk}/" aria-label="Next capture, 2026-02-12 10:40"' in page
    assert f'href="/audits/{before.pk}/" aria-label="Previous capture, 2026-02-08 10:40"' in page
    pair = f"before={before.capture_id}&amp;after={storm_audit.capture_id}"
    assert f'href="/systems/{storm_audit.system_id}/compare/?{pair}">Compare</a>' in page
    assert "is newer" not in text_of(as_user(people.owner), f"/audits/{newest.pk}/")


@pytest.mark.parametrize("own", [True, False])
def test_nothing_is_called_newer_where_an_export_says_no_time(storm_audit: Audit, own: bool) -> None:
    if own:
        Capture.objects.filter(pk=storm_audit.capture_id).update(timed=False)
        storm_audit.capture.refresh_from_db()
    other = beside(storm_audit, 5, timed=own)
    around = captures_around(storm_audit.capture)
    beyond = around.following if own else around.previous  # what says no time comes before what does
    assert beyond is not None
    assert beyond.audit == other.pk
    assert around.newest is None


def test_captures_of_the_same_time_have_one_order_and_none_is_newer(storm_audit: Audit) -> None:
    twin = beside(storm_audit, 0)
    first, second = captures_around(storm_audit.capture), captures_around(twin.capture)
    assert (first.position, second.position) == (1, 2)
    assert first.newest is None
    assert second.previous is not None
    assert second.previous.audit == storm_audit.pk


def test_of_many_captures_the_nearest_are_listed(storm_audit: Audit) -> None:
    made = [beside(storm_audit, -day) for day in range(1, MOST_NEAR + 4)]
    around = captures_around(storm_audit.capture)
    assert [one.audit for one in around.earlier] == [one.pk for one in made[:MOST_NEAR]]
    assert around.count == len(made) + 1


@pytest.mark.parametrize(
    ("begin", "end", "said"),
    [
        ("2026-04-21T10:01:00", "2026-04-21T10:36:00", "2026-04-21 10:01 to 10:36"),
        ("2026-04-21T23:01:05", "2026-04-22T00:36:00", "2026-04-21 23:01:05 to 2026-04-22 00:36:00"),
        (None, "2026-04-21T10:36:00.350000", "2026-04-21 10:36"),
        ("2026-04-21T10:01:30", None, "2026-04-21 10:01:30"),
        ("2026-04-21T10:01:00", "2026-04-21T10:01:00", "2026-04-21 10:01"),
        (None, None, ""),
    ],
)
def test_when_it_was_taken_in_words(begin: str | None, end: str | None, said: str) -> None:
    assert taken(Capture(interval={"start": begin, "end": end})) == said


def test_the_address_of_exactly_this_audit_is_there_to_copy(
    people: People, storm_audit: Audit, as_user: AsUser
) -> None:
    page = text_of(as_user(people.owner), f"/audits/{storm_audit.pk}/")
    assert f'<code id="share-address">http://testserver/audits/{storm_audit.pk}/</code>' in page
    assert 'data-copy="share-address"' in page


@pytest.mark.parametrize("view", ["caches", "spinlocks", "what-if"])
def test_every_view_has_the_same_head_and_says_which_it_is(
    people: People, storm_audit: Audit, as_user: AsUser, view: str
) -> None:
    newest = beside(storm_audit, 9)
    page = text_of(as_user(people.owner), f"/audits/{storm_audit.pk}/{view}/")
    tabs = page.split('aria-label="Views of this capture"')[1].split("</nav>")[0]
    assert re.findall(r'href="([^"]*)" aria-current="page"', tabs) == [f"/audits/{storm_audit.pk}/{view}/"]
    assert f'href="/audits/{newest.pk}/">2026-02-20 is newer' in page
    assert page.count("<h1>") == 1


def test_only_who_works_for_the_team_is_offered_what_changes_something(
    people: People, storm_audit: Audit, as_user: AsUser
) -> None:
    address = f"/audits/{storm_audit.pk}/"
    for person, offered in ((people.mate, True), (people.colleague, False)):
        page = text_of(as_user(person), address)
        assert ("Add files" in page) is offered
        assert ("Audit again</button>" in page) is offered


def test_a_capture_without_a_time_is_never_the_newest_on_one_page_and_older_on_another(
    people: People, storm_audit: Audit, as_user: AsUser
) -> None:
    """One order everywhere: the head of an audit, the system's page, what is compared, the overview."""
    system = storm_audit.system
    listing = beside(storm_audit, 9, timed=False)
    settle_system(system)
    system.refresh_from_db()
    assert system.latest_id == storm_audit.pk
    around, of_listing = captures_around(storm_audit.capture), captures_around(listing.capture)
    assert (around.position, around.count) == (2, 2)
    assert around.newest is None
    assert around.previous is not None
    assert around.previous.audit == listing.pk
    assert of_listing.position == 1
    assert of_listing.following is not None
    assert of_listing.following.audit == storm_audit.pk
    page = text_of(as_user(people.owner), f"/systems/{system.pk}/")
    table = page[page.index('id="captures"') :]
    assert table.index(f'href="/audits/{storm_audit.pk}/"') < table.index(f'href="/audits/{listing.pk}/"')
    assert [one.audit for one in history.recent(system)] == [listing.pk, storm_audit.pk]
    items = as_user(people.owner).get(f"/api/systems/{system.pk}/captures").json()["items"]
    assert [one["audit"] for one in items] == [storm_audit.pk, listing.pk]
    assert before_of(storm_audit) == listing


def test_captures_of_the_same_time_are_told_apart(people: People, storm_audit: Audit, as_user: AsUser) -> None:
    first, second, third = beside(storm_audit, 1), beside(storm_audit, 1), beside(storm_audit, 1 + 5 / 86400)
    for one, files in ((first, ["config.txt", "before.txt"]), (second, ["config.txt", "after.txt"])):
        Capture.objects.filter(pk=one.capture_id).update(files=files)
    around = captures_around(storm_audit.capture)
    said = [one.when for one in around.later]
    assert said == ["2026-02-12 10:40, before.txt", "2026-02-12 10:40, after.txt", "2026-02-12 10:40:05"]
    assert around.when == "2026-02-11 10:40"
    Capture.objects.filter(pk=second.capture_id).update(files=["before.txt", "config.txt"])
    said = [one.when for one in captures_around(third.capture).earlier]
    assert said[:2] == [f"2026-02-12 10:40, capture {one.capture_id}" for one in (second, first)]
    page = text_of(as_user(people.owner), f"/systems/{storm_audit.system_id}/")
    for one in (first, second):
        assert f"2026-02-12 10:40, capture {one.capture_id}" in page
    assert "2026-02-12 10:40:05" in page
