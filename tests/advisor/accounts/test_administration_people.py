"""Users: made, changed, deactivated, and never the last administrator lost."""

import pytest
from django.contrib.sessions.models import Session
from django.urls import reverse

from advisor.accounts.models import Role, Token, User
from advisor.accounts.services import people as services
from advisor.core.models import JournalEntry
from advisor.core.records import Refused
from tests.advisor.operations.administering import as_typed, deeds, log_in, logged_in, made_password
from tests.advisor.people import PASSWORD, AsUser, People


def test_a_new_person_gets_a_password_shown_once_and_must_change_it(people: People, as_user: AsUser) -> None:
    client = as_user(people.administrator)
    typed = {
        "username": "nina",
        "name": "Nina <b>",
        "email": "nina@example.org",
        "role": "dba",
        "teams": [people.team.pk],
    }
    answer = client.post(reverse("administration-user-add"), typed)
    password = made_password(answer.content)
    assert "no-store" in answer["Cache-Control"]
    nina = User.objects.get(username="nina")
    assert (nina.role, nina.email, nina.must_change_password) == ("dba", "nina@example.org", True)
    assert list(nina.teams.all()) == [people.team]
    assert logged_in(log_in("nina", password))
    entry = JournalEntry.objects.get(action="user added")
    assert (entry.who, entry.what, entry.address) == ("adam", "nina: dba, teams Claims", "127.0.0.1")
    listing = client.get(reverse("administration")).content.decode()
    assert "Nina &lt;b&gt;" in listing
    assert password not in listing
    assert password not in "".join(str(session.get_decoded()) for session in Session.objects.all())


@pytest.mark.parametrize("name", ["olga", "Olga", "two words", "", "x" * 61, "a\nb"])
def test_a_name_that_is_taken_in_any_case_or_malformed_is_refused(name: str, people: People, as_user: AsUser) -> None:
    before = User.objects.count()
    answer = as_user(people.administrator).post(
        reverse("administration-user-add"), {"username": name, "role": "viewer"}
    )
    assert "errorlist" in answer.content.decode()
    assert User.objects.count() == before


def test_every_change_of_a_person_is_noted(people: People, as_user: AsUser) -> None:
    typed = as_typed(people.colleague, role="dba", name="Carl C", email="c@example.org", teams=[people.other_team.pk])
    answer = as_user(people.administrator).post(reverse("administration-user", args=[people.colleague.pk]), typed)
    assert answer.status_code == 302
    carl = User.objects.get(pk=people.colleague.pk)
    assert (carl.role, carl.name, carl.email) == ("dba", "Carl C", "c@example.org")
    assert list(carl.teams.all()) == [people.other_team]
    noted = set(deeds().filter(who="adam").values_list("action", "what"))
    assert noted == {
        ("role changed", "carl: role viewer to dba"),
        ("user changed", "carl: full name none to Carl C"),
        ("user changed", "carl: e-mail carl@example.org to c@example.org"),
        ("user changed", "carl: teams Claims to Payroll"),
    }


def test_storing_without_a_change_notes_nothing(people: People, as_user: AsUser) -> None:
    page = reverse("administration-user", args=[people.owner.pk])
    assert as_user(people.administrator).post(page, as_typed(people.owner)).status_code == 302
    assert not deeds().exists()


def test_the_last_active_administrator_keeps_the_role_and_stays_active(people: People, as_user: AsUser) -> None:
    adam = people.administrator
    page = reverse("administration-user", args=[adam.pk])
    client = as_user(adam)
    assert "last active administrator" in client.post(page, as_typed(adam, role="dba")).content.decode()
    retired = User.objects.create_user("rosa", PASSWORD, role=Role.ADMINISTRATOR, is_active=False)
    assert "last active administrator" in client.post(page, as_typed(adam, role="dba")).content.decode()
    assert User.objects.get(pk=adam.pk).is_administrator
    with pytest.raises(Refused, match="last active administrator"):
        services.change_user(adam, retired, role=Role.ADMINISTRATOR, name="", email="", teams=[], active=False)
    User.objects.filter(pk=retired.pk).update(is_active=True)
    assert client.post(page, as_typed(adam, role="dba")).status_code == 302
    assert not User.objects.get(pk=adam.pk).is_administrator
    assert client.get(reverse("administration")).status_code == 403


def test_nobody_deactivates_themselves(people: People, as_user: AsUser) -> None:
    User.objects.create_user("rosa", PASSWORD, role=Role.ADMINISTRATOR)
    adam = people.administrator
    client, page = as_user(adam), reverse("administration-user", args=[adam.pk])
    assert "is_active" not in client.get(page).content.decode()
    typed = as_typed(adam)
    del typed["is_active"]
    client.post(page, typed)
    assert User.objects.get(pk=adam.pk).is_active
    with pytest.raises(Refused, match="deactivates themselves"):
        services.change_user(adam, adam, role=adam.role, name="", email="", teams=[], active=False)


def test_deactivating_ends_sessions_and_tokens_and_coming_back_does_not_reopen_the_session(
    people: People, as_user: AsUser
) -> None:
    olga, token = people.owner, Token.objects.create(user=people.owner, name="n", digest="d", hint="lw_")
    her, his = as_user(olga), as_user(people.mate)
    client, page = as_user(people.administrator), reverse("administration-user", args=[olga.pk])
    assert her.get(reverse("password")).status_code == 200
    typed = as_typed(olga)
    del typed["is_active"]
    client.post(page, typed)
    assert not Token.objects.get(pk=token.pk).live
    assert her.get(reverse("password")).status_code == 302
    assert not logged_in(log_in("olga", PASSWORD))
    client.post(page, as_typed(olga))
    assert her.get(reverse("password")).status_code == 302
    assert his.get(reverse("password")).status_code == 200
    assert logged_in(log_in("olga", PASSWORD))
    actions = deeds().filter(who="adam").values_list("action", flat=True)
    assert sorted(actions) == ["user activated", "user deactivated"]


def test_a_session_of_somebody_inactive_opens_nothing_even_while_it_exists(people: People, as_user: AsUser) -> None:
    client = as_user(people.owner)
    User.objects.filter(pk=people.owner.pk).update(is_active=False)
    assert client.get(reverse("password")).status_code == 302
