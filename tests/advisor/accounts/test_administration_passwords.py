"""Made passwords: readable, shown once, and changed before anything else."""

import pytest
from django.contrib.auth.password_validation import validate_password
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from advisor.accounts.models import User
from advisor.accounts.services import people as services
from advisor.core.models import JournalEntry
from tests.advisor.operations.administering import log_in, logged_in, made_password
from tests.advisor.people import PASSWORD, AsUser, People

MIDDLEWARE = "advisor.accounts.middleware.MustChangeMiddleware"


def test_a_made_password_is_readable_and_good_enough_for_the_sites_own_rules() -> None:
    made = {services.made_password() for _ in range(200)}
    assert len(made) == 200
    for password in made:
        assert len(password) == 16
        assert not set(password) & set("il1o0IO")
        validate_password(password)


def test_a_new_password_is_shown_once_ends_sessions_and_must_be_changed(people: People, as_user: AsUser) -> None:
    her = as_user(people.owner)
    page = reverse("administration-user-password", args=[people.owner.pk])
    assert as_user(people.administrator).get(page).status_code == 405
    answer = as_user(people.administrator).post(page)
    password = made_password(answer.content)
    assert "no-store" in answer["Cache-Control"]
    assert her.get(reverse("password")).status_code == 302
    assert not logged_in(log_in("olga", PASSWORD))
    assert logged_in(log_in("olga", password))
    assert User.objects.get(pk=people.owner.pk).must_change_password
    entry = JournalEntry.objects.get(action="password set")
    assert (entry.who, entry.what) == ("adam", "olga")


def test_ones_own_password_is_changed_on_its_own_page(people: People, as_user: AsUser) -> None:
    client = as_user(people.administrator)
    answer = client.post(reverse("administration-user-password", args=[people.administrator.pk]), follow=True)
    assert "Change your own password on its page." in answer.content.decode()
    assert User.objects.get(pk=people.administrator.pk).check_password(PASSWORD)


@pytest.fixture
def guarded(settings: Settings) -> None:
    """The middleware in its place, whether or not the settings have it yet."""
    if MIDDLEWARE not in settings.MIDDLEWARE:
        settings.MIDDLEWARE = [*settings.MIDDLEWARE, MIDDLEWARE]


@pytest.mark.usefixtures("guarded")
def test_who_has_a_made_password_is_sent_to_change_it_from_every_page_but_logout(
    people: People, as_user: AsUser
) -> None:
    User.objects.filter(pk=people.administrator.pk).update(must_change_password=True)
    adam = User.objects.get(pk=people.administrator.pk)
    client = as_user(adam)
    for page in (reverse("administration"), reverse("upload"), reverse("administration-journal-csv")):
        for answer in (client.get(page), client.post(page)):
            assert (answer.status_code, answer["Location"]) == (302, reverse("password"))
    answer = client.get(reverse("administration"), headers={"HX-Request": "true"})
    assert answer["HX-Redirect"] == reverse("password")
    assert client.get(reverse("administration"), headers={"Authorization": "Bearer x"}).status_code == 302
    assert client.get(reverse("password")).status_code == 200
    new = "a longer one of my own"
    typed = {"old_password": PASSWORD, "new_password1": new, "new_password2": new}
    assert client.post(reverse("password"), typed).status_code == 302
    assert client.get(reverse("administration")).status_code == 200


@pytest.mark.usefixtures("guarded")
def test_who_has_a_made_password_may_log_out_and_others_are_left_alone(people: People, as_user: AsUser) -> None:
    User.objects.filter(pk=people.owner.pk).update(must_change_password=True)
    client = as_user(User.objects.get(pk=people.owner.pk))
    client.post(reverse("logout"))
    assert not logged_in(client)
    assert as_user(people.administrator).get(reverse("administration")).status_code == 200
    assert Client().get(reverse("login")).status_code == 200
