"""Filters of the list that a person keeps."""

import pytest

from advisor.core.records import Refused
from advisor.findings.models import SavedView
from advisor.findings.services import listing
from tests.advisor.people import AsUser, People, text_of

pytestmark = pytest.mark.postgres


def test_a_view_is_kept_for_its_person_and_opens_its_filter(people: People, as_user: AsUser) -> None:
    olga = as_user(people.owner)
    given = {"name": " criticals\u202e of mine ", "query": "severity=critical&owner=mine&page=4&other=x&sort=-lost"}
    answer = olga.post("/findings/views/", given, follow=True)
    assert answer.redirect_chain == [("/findings/?severity=critical&owner=mine&sort=-lost", 302)]
    page = answer.content.decode()
    kept = SavedView.objects.get()
    assert kept.query == "severity=critical&owner=mine&sort=-lost", "what no filter knows is not kept, nor the page"
    assert "\u202e" not in kept.name
    assert f'href="?severity=critical&amp;owner=mine&amp;sort=-lost" aria-current="true">{kept.name}</a>' in page
    assert kept.name not in text_of(as_user(people.mate), "/findings/")


def test_a_viewer_keeps_views_too_and_one_name_is_one_view(people: People, as_user: AsUser) -> None:
    carl = as_user(people.colleague)
    carl.post("/findings/views/", {"name": "mine", "query": "owner=mine"})
    carl.post("/findings/views/", {"name": "mine", "query": "state=accepted"})
    assert [(one.user, one.query) for one in SavedView.objects.all()] == [(people.colleague, "state=accepted")]


@pytest.mark.parametrize(
    ("given", "says"),
    [({"name": "  "}, "Give the view a name"), ({"name": "x", "query": f"rule={'%C3%A9' * 199}"}, "too long")],
)
def test_what_cannot_be_kept_is_told(people: People, as_user: AsUser, given: dict[str, str], says: str) -> None:
    answer = as_user(people.owner).post("/findings/views/", given, follow=True)
    assert says in answer.content.decode()
    assert not SavedView.objects.exists()


def test_a_person_has_so_many_views(people: People, as_user: AsUser) -> None:
    for number in range(listing.MOST_VIEWS):
        listing.keep(people.owner, f"view {number}", "")
    with pytest.raises(Refused):
        listing.keep(people.owner, "one more", "")
    assert listing.keep(people.owner, "view 3", "state=open").query == "state=open", "one of them may change"
    assert listing.keep(people.mate, "one more", "")


def test_nobody_removes_the_view_of_another_one(people: People, as_user: AsUser) -> None:
    view = listing.keep(people.owner, "mine", "state=open")
    assert as_user(people.mate).post(f"/findings/views/{view.pk}/remove/").status_code == 404
    assert as_user(people.owner).get(f"/findings/views/{view.pk}/remove/").status_code == 405
    answer = as_user(people.owner).post(f"/findings/views/{view.pk}/remove/")
    assert answer["Location"] == "/findings/?state=open"
    assert not SavedView.objects.exists()
