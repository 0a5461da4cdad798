"""Users and teams: made, changed, let back in, and never the last administrator lost."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from axes.models import AccessAttempt
from django.conf import settings as django_settings
from django.contrib.auth.password_validation import validate_password
from django.contrib.sessions.models import Session
from django.db.models import QuerySet
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from advisor.models import JournalEntry, Role, System, Team, Token, User
from advisor.services import lock_outs
from advisor.services import people as services
from tests.advisor.people import PASSWORD, People

AsUser = Callable[[User], Client]
MIDDLEWARE = "advisor.web.must_change.MustChangeMiddleware"


def made_password(page: bytes) -> str:
    found = re.search(r'<pre id="made-password">([^<]+)</pre>', page.decode())
    assert found
    return found[1]


def log_in(name: str, password: str, client: Client | None = None) -> Client:
    client = client or Client()
    client.post(reverse("login"), {"username": name, "password": password})
    return client


def logged_in(client: Client) -> bool:
    return "_auth_user_id" in client.session


def as_typed(user: User, **other: object) -> dict[str, object]:
    """What the form of a person holds, with changes."""
    typed: dict[str, object] = {
        "role": user.role,
        "name": user.name,
        "email": user.email,
        "teams": list(user.teams.values_list("pk", flat=True)),
        "is_active": "on",
    }
    return {**typed, **other}


def deeds() -> QuerySet[JournalEntry]:
    """The journal without the logins that a test itself makes."""
    return JournalEntry.objects.exclude(action="login")


def test_a_made_password_is_readable_and_good_enough_for_the_sites_own_rules() -> None:
    made = {services.made_password() for _ in range(200)}
    assert len(made) == 200
    for password in made:
        assert len(password) == 16
        assert not set(password) & set("il1o0IO")
        validate_password(password)


def test_the_first_administrator_is_made_once_and_only_where_there_is_nobody(db: None) -> None:
    made = services.make_first_administrator()
    assert made is not None
    user, password = made
    assert (user.username, user.role, user.must_change_password) == ("admin", Role.ADMINISTRATOR, True)
    assert [team.name for team in user.teams.all()] == ["DBA"]
    assert User.objects.get().check_password(password)
    assert password not in "".join(JournalEntry.objects.values_list("what", flat=True))
    assert services.make_first_administrator() is None
    assert User.objects.count() == 1


def test_where_people_are_no_first_administrator_is_made(people: People) -> None:
    User.objects.filter(role=Role.ADMINISTRATOR).delete()
    assert services.make_first_administrator() is None
    assert not User.objects.filter(username="admin").exists()


def test_of_processes_that_start_together_one_makes_the_first_administrator(tmp_path: Path) -> None:
    env = {**os.environ, "RUN_DIR": str(tmp_path), "SECRET_KEY": "k" * 60, "DATABASE_URL": "", "DATABASE_URL_FILE": ""}
    env["DJANGO_SETTINGS_MODULE"] = "advisor.settings"
    where = django_settings.BASE_DIR
    subprocess.run([sys.executable, "manage.py", "migrate", "-v", "0"], env=env, cwd=where, check=True)
    script = (
        "import sys, django; django.setup(); from advisor.services.people import make_first_administrator as make;"
        "print('ready', flush=True); sys.stdin.readline(); print(make() is not None)"
    )
    command = [sys.executable, "-c", script]
    started = [
        subprocess.Popen(command, env=env, cwd=where, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for _ in range(4)
    ]
    for process in started:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
    for process in started:
        assert process.stdin
        process.stdin.write("go\n")
        process.stdin.flush()
    said = sorted(process.communicate(timeout=60)[0].strip() for process in started)
    assert said == ["False", "False", "False", "True"]


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
    with pytest.raises(services.Refused, match="last active administrator"):
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
    with pytest.raises(services.Refused, match="deactivates themselves"):
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


def test_who_is_locked_out_is_seen_and_let_in_whatever_case_was_typed(people: People, as_user: AsUser) -> None:
    for _ in range(5):
        log_in("OLGA", "wrong")
    log_in("sten", "wrong")
    client = as_user(people.administrator)
    text = client.get(reverse("administration")).content.decode()
    assert text.count("locked out until") == 1
    assert 'aria-label="Unlock olga"' in text
    assert not logged_in(log_in("OLGA", PASSWORD))
    assert client.post(reverse("administration-user-unlock", args=[people.owner.pk])).status_code == 302
    assert "locked out until" not in client.get(reverse("administration")).content.decode()
    assert AccessAttempt.objects.filter(username="sten").exists()
    assert logged_in(log_in("OLGA", PASSWORD))
    assert JournalEntry.objects.filter(action="unlocked", who="adam", what="olga").count() == 1


def test_a_lock_ends_when_the_failures_left_in_the_cooling_time_are_too_few(people: People, settings: Settings) -> None:
    settings.AXES_COOLOFF_TIME, settings.AXES_FAILURE_LIMIT = 0.25, 5
    now = timezone.now()

    def failed(minutes: float, count: int, address: str, agent: str, name: str = "olga") -> None:
        attempt = AccessAttempt.objects.create(
            username=name, ip_address=address, user_agent=agent, failures_since_start=count
        )
        AccessAttempt.objects.filter(pk=attempt.pk).update(attempt_time=now - timedelta(minutes=minutes))

    failed(4, 2, "10.0.0.1", "b")
    failed(2, 3, "10.0.0.2", "a")
    failed(16, 9, "10.0.0.1", "a", "carl")
    assert lock_outs.locked_out() == {}, "two here and three there lock neither; what is long ago locks nobody"
    failed(10, 3, "10.0.0.1", "a")
    assert lock_outs.locked_out() == {"olga": now + timedelta(minutes=5)}
    failed(14, 9, "10.0.0.3", "a")
    assert lock_outs.locked_out() == {"olga": now + timedelta(minutes=5)}
    failed(16, 9, "10.0.0.4", "a")
    assert lock_outs.locked_out() == {"olga": now + timedelta(minutes=5)}


def test_teams_are_added_renamed_and_deleted_when_they_own_nothing(people: People, as_user: AsUser) -> None:
    client = as_user(people.administrator)
    assert client.post(reverse("administration-team-add"), {"name": "  Night   shift "}).status_code == 302
    team = Team.objects.get(name="Night shift")
    page = reverse("administration-team", args=[team.pk])
    assert client.post(page, {"name": "Day shift"}).status_code == 302
    assert client.post(page, {"name": "day shift"}).status_code == 302, "its own name in another case"
    people.colleague.teams.add(team)
    assert client.post(reverse("administration-team-delete", args=[team.pk])).status_code == 302
    assert not Team.objects.filter(pk=team.pk).exists()
    assert User.objects.filter(pk=people.colleague.pk).exists()
    noted = list(deeds().order_by("pk").values_list("action", "what"))
    assert noted == [
        ("team added", "Night shift"),
        ("team renamed", "Night shift to Day shift"),
        ("team renamed", "Day shift to day shift"),
        ("team deleted", "day shift; its people: carl"),
    ]


@pytest.mark.parametrize("name", ["Claims", "claims", "", "   ", "x" * 81])
def test_a_team_name_that_is_taken_or_none_is_refused(name: str, people: People, as_user: AsUser) -> None:
    client = as_user(people.administrator)
    assert "errorlist" in client.post(reverse("administration-team-add"), {"name": name}).content.decode()
    page = reverse("administration-team", args=[people.other_team.pk])
    assert "errorlist" in client.post(page, {"name": name}).content.decode()
    assert set(Team.objects.values_list("name", flat=True)) == {"Claims", "Payroll"}


def test_a_team_that_owns_something_stays(people: People, storm: System, as_user: AsUser) -> None:
    client = as_user(people.administrator)
    page = reverse("administration-team-delete", args=[people.team.pk])
    assert "still has 1 systems and 1 uploads" in client.post(page, follow=True).content.decode()
    System.objects.all().delete()
    assert "still has 0 systems and 1 uploads" in client.post(page, follow=True).content.decode()
    assert Team.objects.filter(pk=people.team.pk).exists()
    assert "Delete the team" not in client.get(
        reverse("administration-team", args=[people.team.pk])
    ).content.decode().replace("Only a team without any can be deleted", "")


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
