"""What holds for every answer: pages are not kept by anybody, and a file tells the page that it has come."""

from django.test import Client

from advisor.core.private_pages import HANDED_OVER
from tests.advisor.people import AsUser, People


def test_a_file_leaves_a_cookie_for_the_script_that_waits_for_it_and_a_page_does_not(
    people: People, as_user: AsUser
) -> None:
    browser: Client = as_user(people.owner)
    page = browser.get("/findings/")
    assert page["Cache-Control"] == "private, no-store"
    assert HANDED_OVER not in page.cookies
    cookie = browser.get("/findings/findings.csv").cookies[HANDED_OVER]
    assert (cookie.value, cookie["max-age"], cookie["samesite"]) == ("1", 30, "Lax")
    assert not cookie["secure"]
    assert browser.get("/findings/findings.csv", secure=True).cookies[HANDED_OVER]["secure"]
