"""Links in mails: they open one recipient, as long as nobody shuts them."""

import pytest
from django.urls import reverse
from pytest_django import Settings

from advisor.notifications.mail import links
from advisor.notifications.models import Recipient
from tests.advisor.notifications.mail.posting import recipient_of
from tests.advisor.people import People


def token_in(address: str) -> str:
    return address.partition("/mail/for/")[2].partition("/")[0]


def test_a_link_leads_to_its_recipient_on_this_site(people: People, settings: Settings) -> None:
    settings.SITE_URL = "https://lockwright.example.org"
    olga, mats = recipient_of(people), recipient_of(people, "mats@example.org")
    address = links.settings(olga)
    assert address == "https://lockwright.example.org" + reverse("letter-settings", args=[token_in(address)])
    assert links.unsubscribe(olga) == f"{address}unsubscribe/"
    assert links.recipient_of(token_in(address)) == olga
    assert links.recipient_of(token_in(links.settings(mats))) == mats
    assert len(address) <= 72


def test_a_link_needs_no_quoting_in_any_mail(people: People) -> None:
    token = links.token(recipient_of(people))
    assert token.replace(".", "").replace("-", "").replace("_", "").isalnum()
    assert token.isascii()


def test_a_changed_link_opens_nothing(people: People) -> None:
    olga, mats = recipient_of(people), recipient_of(people, "mats@example.org")
    token = links.token(olga)
    number, _, signature = token.partition(".")
    for wrong in (
        f"{mats.pk}.{signature}",
        number,
        f"{number}.",
        f"{token}x",
        token[:-1],
        token.swapcase(),
        f".{token}",
    ):
        assert links.recipient_of(wrong) is None, wrong


@pytest.mark.parametrize("token", ["", ".", "x.y", "-1.x", "٣.x", "1" * 400 + ".x", f"{2**63}.x", "1.\ud800", "1.\0"])
def test_what_was_never_a_link_opens_nothing(token: str, people: People) -> None:
    assert links.recipient_of(token) is None


def test_a_new_nonce_or_a_removed_recipient_shuts_the_links(people: People) -> None:
    olga = recipient_of(people)
    token = links.token(olga)
    olga.nonce = "another"
    olga.save()
    assert links.recipient_of(token) is None
    token = links.token(olga)
    olga.delete()
    assert links.recipient_of(token) is None


def test_links_outlive_a_change_of_the_secret_key_as_long_as_the_old_one_is_known(
    people: People, settings: Settings
) -> None:
    olga = recipient_of(people)
    token = links.token(olga)
    old, settings.SECRET_KEY = settings.SECRET_KEY, "a new key, long enough for every check of it 0123456789 0123456789"
    assert links.recipient_of(token) is None
    settings.SECRET_KEY_FALLBACKS = [old]
    assert links.recipient_of(token) == olga
    assert links.token(olga) != token


def test_every_recipient_has_a_nonce_of_its_own(people: People) -> None:
    nonces = {recipient_of(people, f"dba{n}@example.org").nonce for n in range(5)}
    assert len(nonces) == 5
    assert all(len(nonce) >= 24 for nonce in nonces)
    assert Recipient.objects.count() == 5
