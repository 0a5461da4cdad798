"""Every page has its help, kept in one place: what the page answers and how it is read."""

import re
from collections.abc import Iterator
from typing import Any

from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from advisor.audits.models import Audit
from advisor.core.page_help import HELP, SHOWS
from advisor.systems.models import Group
from advisor.uploads.models import Upload
from tests.advisor.people import AsUser, People, text_of
from tests.test_wording import sentences

BUTTON = 'popovertarget="help"'
LONGEST = 600
NO_PAGE = {
    *(
        "audit-download",
        "compare-download",
        "openvms-cluster-csv",
        "openvms-cluster-scripts",
        "openvms-lock-trees-csv",
        "outbox-mail-file",
    ),
    *("letter-preview-html", "outbox-mail-html"),
}
"""Addresses of what is not here in this test, which hand over a file, or the body of a mail."""


def names(patterns: list[Any] | None = None) -> Iterator[tuple[str, str]]:
    """Every named address of the pages, with its route; the API has none."""
    for one in get_resolver().url_patterns if patterns is None else patterns:
        if isinstance(one, URLPattern) and one.name:
            yield one.name, str(one.pattern)
        elif isinstance(one, URLResolver) and not str(one.pattern).startswith("api/"):
            yield from names(one.url_patterns)


def test_each_help_is_of_an_address_and_has_one_to_six_sentences() -> None:
    known = {name for name, _ in names()}
    assert HELP.keys() | SHOWS.keys() <= known
    for name, text in HELP.items():
        assert len(text) <= LONGEST, name
        assert 1 <= len(sentences(text)) <= 6, name
        assert text.endswith("."), name
    assert set(SHOWS.values()) <= HELP.keys()


def test_every_address_that_shows_a_page_shows_its_help(people: People, storm_audit: Audit, as_user: AsUser) -> None:
    """Whatever answers with a page of our own has the button: a new page without help fails here."""
    adam = as_user(people.administrator)
    numbers = {
        "uploads": Upload.objects.get().pk,
        "audits": storm_audit.pk,
        "systems": storm_audit.system_id,
        "findings": storm_audit.system.tracked.first().pk,  # type: ignore[union-attr]
        "groups": Group.objects.create(team=people.team, name="Night").pk,
        "users": people.owner.pk,
        "teams": people.team.pk,
    }
    shown, without, unseen = set(), set(), set()
    for name, route in names():
        address = "/" + re.sub(r"<(\w+:)?\w+>", lambda found: "1" if found[1] == "int:" else "x", route).strip("^$")
        for kind, number in numbers.items():
            address = re.sub(rf"(^|/){kind}/1(?=/|$)", rf"\g<1>{kind}/{number}", address)
        address = address.replace("/rules/x/", "/rules/ase/address_lock_spinlock_contended/").replace("\\Z", "")
        answer = adam.get(address)
        page = answer.content.decode(errors="replace") if not answer.streaming else ""
        if answer.status_code == 404 and name not in HELP.keys() | NO_PAGE:
            unseen.add(name)
        if answer.status_code == 200 and '<main id="main"' in page and 'aria-label="Pages"' in page:
            shown.add(name)
            if BUTTON not in page:
                without.add(name)
    assert not without
    assert not unseen, "nothing of it is here: give it a help, or say that it shows no page"
    assert len(shown) > 30, shown


def test_the_help_is_that_of_the_page(people: People, as_user: AsUser) -> None:
    olga = as_user(people.owner)
    for name, address in (("overview", "/"), ("upload", "/upload/"), ("findings", "/findings/")):
        html = text_of(olga, address)
        assert f"<p>{HELP[name]}</p>" in html
        assert html.count('id="help"') == 1
    assert BUTTON not in olga.get("/nowhere/").content.decode()
    assert HELP["login"] in Client().get("/login/").content.decode()


def test_a_form_that_is_wrong_keeps_the_help_of_its_page(people: People, storm_audit: Audit, as_user: AsUser) -> None:
    answer = as_user(people.owner).post(f"/systems/{storm_audit.system_id}/notes/", {"text": ""})
    assert answer.status_code == 400
    assert HELP["system"].split("“")[0] in answer.content.decode()
