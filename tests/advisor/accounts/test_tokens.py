"""Tokens: made once, shown once, kept as a digest, and never stronger than their user."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from advisor.accounts.models import Role, Token, User
from advisor.accounts.services.tokens import (
    SCOPES,
    BadToken,
    find_token,
    granted,
    make_token,
    revoke,
    scopes_for,
)
from advisor.core.models import JournalEntry
from tests.advisor.people import People


def test_a_token_is_found_by_its_secret_which_is_kept_nowhere(people: People) -> None:
    token, secret = make_token(people.owner, "nightly", ["upload", "read"], None)
    assert secret.startswith("lw_")
    assert len(secret) == 43
    assert find_token(secret) == token
    assert token.scopes == ["read", "upload"]
    assert token.hint == secret[:9]
    kept = "".join(str(value) for row in Token.objects.values() for value in row.values())
    kept += "".join(entry.what for entry in JournalEntry.objects.all())
    assert secret not in kept
    assert secret[12:] not in kept


@pytest.mark.parametrize("wrong", ["", "lw_", "lw_x", "ö", "\udcff", "x" * 100_000, "' or 1=1 --"])
def test_a_wrong_secret_finds_nothing(people: People, wrong: str) -> None:
    make_token(people.owner, "nightly", ["read"], None)
    assert find_token(wrong) is None


def test_an_expired_a_revoked_and_a_leavers_token_open_nothing(people: People) -> None:
    expired, expired_secret = make_token(people.owner, "a", ["read"], timezone.now() + timedelta(hours=1))
    Token.objects.filter(pk=expired.pk).update(expires=timezone.now() - timedelta(seconds=1))
    revoked, revoked_secret = make_token(people.owner, "b", ["read"], None)
    _, leavers_secret = make_token(people.mate, "c", ["read"], None)
    assert find_token(revoked_secret)
    assert revoke(revoked, people.owner)
    assert not revoke(revoked, people.owner)
    User.objects.filter(pk=people.mate.pk).update(is_active=False)
    assert [find_token(secret) for secret in (expired_secret, revoked_secret, leavers_secret)] == [None, None, None]


def test_the_use_of_a_token_is_noted_at_most_once_a_minute(
    people: People, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    token, secret = make_token(people.owner, "nightly", ["read"], None)
    assert token.used is None
    find_token(secret)
    token.refresh_from_db()
    first = token.used
    assert first is not None
    with django_assert_num_queries(1):
        find_token(secret)
    token.refresh_from_db()
    assert token.used == first
    Token.objects.update(used=first - timedelta(seconds=61))
    find_token(secret)
    token.refresh_from_db()
    assert token.used is not None
    assert token.used >= first


def test_a_role_bounds_the_scopes(people: People) -> None:
    assert scopes_for(people.colleague) == ("read", "mail"), "mail to their own address, as on the page"
    assert set(SCOPES) - set(scopes_for(people.owner)) == {"metrics", "administration"}
    assert set(scopes_for(people.administrator)) == set(SCOPES)
    for scope in ("upload", "limits", "tokens", "metrics", "sources", "systems", "administration"):
        with pytest.raises(BadToken, match="does not reach"):
            make_token(people.colleague, "x", ["read", scope], None)
    for scope in ("metrics", "administration"):
        with pytest.raises(BadToken, match=f"does not reach to {scope}"):
            make_token(people.owner, "x", [scope], None)
    assert not Token.objects.exists()


def test_a_token_weakens_with_the_role_of_its_user(people: People) -> None:
    token, secret = make_token(people.administrator, "x", list(SCOPES), None)
    assert granted(token) == set(SCOPES)
    User.objects.filter(pk=people.administrator.pk).update(role=Role.VIEWER)
    found = find_token(secret)
    assert found
    assert granted(found) == {"read", "mail"}, "what a viewer may"


@pytest.mark.parametrize(
    ("name", "scopes", "hours", "why"),
    [
        ("\u202e \x00", ["read"], None, "needs a name"),
        ("x", [], None, "needs a scope"),
        ("x", ["read", "everything"], None, "no scope everything"),
        ("x", ["read"], -1, "expired already"),
    ],
)
def test_a_token_without_sense_is_not_made(
    people: People, name: str, scopes: list[str], hours: int | None, why: str
) -> None:
    expires = timezone.now() + timedelta(hours=hours) if hours else None
    with pytest.raises(BadToken, match=why):
        make_token(people.owner, name, scopes, expires)


def test_a_name_belongs_to_one_live_token_of_a_person(people: People) -> None:
    token, _ = make_token(people.owner, "nightly", ["read"], None)
    with pytest.raises(BadToken, match="of this name"):
        make_token(people.owner, " nightly ", ["read"], None)
    make_token(people.mate, "nightly", ["read"], None)
    revoke(token, people.owner)
    make_token(people.owner, "nightly", ["read"], None)


def test_making_and_revoking_are_in_the_journal(people: People) -> None:
    token, _ = make_token(people.owner, "nightly", ["read", "upload"], None)
    revoke(token, people.administrator)
    told = [(entry.who, entry.action, entry.what) for entry in JournalEntry.objects.order_by("id")]
    assert told == [
        ("olga", "token made", f"nightly ({token.hint}…): read, upload"),
        ("adam", "token revoked", f"nightly ({token.hint}…) of olga"),
    ]


def test_the_account_page_shows_a_secret_once_and_a_form_sent_twice_makes_one_token(
    people: People, as_user: Callable[[User], Client]
) -> None:
    client = as_user(people.owner)
    form = {"name": "nightly", "scopes": ["read", "upload"], "days": "90"}
    made = client.post("/account/", form)
    token = Token.objects.get()
    assert made.status_code == 200
    assert made["Cache-Control"].count("no-store")
    secret = next(word for word in made.content.decode().replace("<", ">").split(">") if word.startswith("lw_"))
    assert find_token(secret) == token
    assert token.expires is not None
    assert timedelta(days=89) < token.expires - timezone.now() <= timedelta(days=90)
    again = client.post("/account/", form)
    assert again.status_code == 400
    assert "of this name" in again.content.decode()
    assert Token.objects.count() == 1
    after = client.get("/account/").content.decode()
    assert secret not in after + again.content.decode()
    assert "nightly" in after
    assert token.hint in after


def test_the_account_page_offers_what_the_role_reaches_to(people: People, as_user: Callable[[User], Client]) -> None:
    offered = {
        user.username: {
            scope for scope in SCOPES if f'value="{scope}"' in as_user(user).get("/account/").content.decode()
        }
        for user in (people.colleague, people.owner, people.administrator)
    }
    of_a_dba = set(SCOPES) - {"metrics", "administration"}
    assert offered == {"carl": {"read", "mail"}, "olga": of_a_dba, "adam": set(SCOPES)}
    refused = as_user(people.colleague).post("/account/", {"name": "x", "scopes": ["upload"], "days": ""})
    assert refused.status_code == 400
    assert not Token.objects.exists()


def test_a_token_is_revoked_by_its_owner_alone(people: People, as_user: Callable[[User], Client]) -> None:
    token, secret = make_token(people.owner, "nightly", ["read"], None)
    address = f"/account/tokens/{token.pk}/revoke/"
    for user in (people.colleague, people.stranger, people.administrator):
        assert as_user(user).post(address).status_code == 404
    assert as_user(people.owner).get(address).status_code == 405
    assert find_token(secret)
    assert as_user(people.owner).post(address).status_code == 302
    assert find_token(secret) is None
    assert "revoked" in as_user(people.owner).get("/account/").content.decode()


def test_a_hostile_name_of_a_token_is_text(people: People, as_user: Callable[[User], Client]) -> None:
    name = '"><script>alert(1)</script>'
    client = as_user(people.owner)
    made = client.post("/account/", {"name": name, "scopes": ["read"], "days": ""}).content.decode()
    assert Token.objects.get().name == name
    for page in (made, client.get("/account/").content.decode()):
        assert "<script>alert" not in page
        assert "&lt;script&gt;alert(1)" in page


def test_nobody_sees_the_account_page_without_a_login(db: None) -> None:
    assert Client().get("/account/").status_code == 302
