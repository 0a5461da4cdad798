"""What the API writes of people, teams, recipients, webhooks, data sources, snoozes: as the pages do, secrets stay."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from advisor.accounts.models import Role, Team, Token, User
from advisor.accounts.services.tokens import make_token, scopes_for
from advisor.core.models import JournalEntry
from advisor.core.sealing import unseal
from advisor.notifications.models import Delivery, Recipient, Webhook
from advisor.notifications.services import recipients
from advisor.notifications.webhooks import signing
from advisor.schedules.models import DataSource
from advisor.schedules.sources import data_sources, keys
from advisor.systems.models import Group, System
from tests.advisor.notifications.mail.letter_parts import recipient_of
from tests.advisor.people import AsUser, People
from tests.advisor.schedules.sources.asked import KEY, SECRET

pytestmark = pytest.mark.postgres
HOOK = "https://192.0.2.7/services/T0SECRET?token=T0SECRET"
SERVER = {"name": "harbour", "host": "192.0.2.5", "port": 5000, "user": "reader", "password": SECRET}


@pytest.fixture
def system(people: People) -> System:
    return System.objects.create(team=people.team, product="ase", name="CLAIMS1", key="CLAIMS1")


@pytest.fixture
def theirs(people: People) -> System:
    return System.objects.create(team=people.other_team, product="ase", name="PAY", key="PAY")


@pytest.fixture(autouse=True)
def _key(settings: Settings) -> None:
    settings.SOURCE_KEYS = [KEY]


def ask(client: Client, method: str, address: str, body: Any = None, status: int = 200) -> Any:
    """Ask the API; gives its JSON."""
    sent = {"data": json.dumps(body), "content_type": "application/json"} if body is not None else {}
    answer = getattr(client, method)(f"/api{address}", **sent)
    assert answer.status_code == status, answer.content
    return answer.json()


def wrong(client: Client, method: str, address: str, body: Any) -> dict[str, Any]:
    """What is wrong with what was sent, by field."""
    answer = ask(client, method, address, body, 400)
    assert set(answer) == {"error", "remedy", "fields"}
    return dict(answer["fields"])


def journal() -> list[tuple[str, str, str]]:
    written = JournalEntry.objects.exclude(action="login").order_by("pk")
    return list(written.values_list("who", "action", "what"))


@pytest.fixture
def adam(people: People, as_user: AsUser) -> Client:
    return as_user(people.administrator)


@pytest.fixture
def olga(people: People, as_user: AsUser) -> Client:
    return as_user(people.owner)


# --- users and teams -------------------------------------------------------------------------------------------------


def test_a_user_is_added_changed_and_deactivated(people: People, adam: Client) -> None:
    new = {"username": "nina", "role": "viewer", "email": "nina@example.org", "teams": [people.team.pk]}
    made = ask(adam, "post", "/users", new, 201)
    user = User.objects.get(username="nina")
    assert user.check_password(made.pop("password"))
    assert made == {**new, "id": user.pk, "name": "", "active": True, "must_change_password": True}
    assert ask(adam, "get", f"/users/{user.pk}") == made, "no password comes back"
    both = [people.team.pk, people.other_team.pk]
    changed = ask(adam, "patch", f"/users/{user.pk}", {"role": "dba", "teams": both})
    assert changed == {**made, "role": "dba", "teams": both}, "what is not sent stays"
    for _ in range(2):
        assert ask(adam, "delete", f"/users/{user.pk}")["active"] is False
    assert User.objects.filter(pk=user.pk, is_active=False).exists(), "what they did names them"
    assert ask(adam, "patch", f"/users/{user.pk}", {"active": True})["active"] is True
    assert journal() == [
        ("adam", "user added", "nina: viewer, teams Claims"),
        ("adam", "role changed", "nina: role viewer to dba"),
        ("adam", "user changed", "nina: teams Claims to Claims, Payroll"),
        ("adam", "user deactivated", "nina: deactivated"),
        ("adam", "user activated", "nina: activated"),
    ]


def test_a_made_password_is_shown_once_and_never_to_oneself(people: People, adam: Client) -> None:
    answer = adam.post(f"/api/users/{people.owner.pk}/password")
    assert answer["Cache-Control"] == "no-store"
    people.owner.refresh_from_db()
    assert people.owner.check_password(answer.json()["password"])
    assert people.owner.must_change_password
    assert "own password" in ask(adam, "post", f"/users/{people.administrator.pk}/password", None, 400)["error"]
    assert "password" not in ask(adam, "get", f"/users/{people.owner.pk}")


@pytest.mark.parametrize(
    ("more", "field", "says"),
    [
        ({"username": "a b"}, "username", "Letters, digits"),
        ({"username": "OLGA"}, "username", "There is a user of this name"),
        ({"username": ""}, "username", "required"),
        ({"email": "nowhere"}, "email", "valid email"),
        ({"email": "a@b.example\r\nBcc: c@d.example"}, "email", "valid email"),
        ({"teams": [999_999]}, "teams", "Select a valid choice"),
    ],
)
def test_what_a_page_would_not_take_is_told_by_field(
    people: People, adam: Client, more: dict[str, Any], field: str, says: str
) -> None:
    count = User.objects.count()
    told = wrong(adam, "post", "/users", {"username": "nina", "role": "viewer", **more})
    assert list(told) == [field]
    assert says in told[field][0]
    assert User.objects.count() == count


@pytest.mark.parametrize(
    "body",
    [{"rol": "dba"}, {"role": "root"}, {"role": None}, {"teams": "all"}, {"teams": None}, {"is_superuser": True}],
)
def test_a_field_that_is_not_known_is_no_silence(people: People, adam: Client, body: dict[str, Any]) -> None:
    answer = ask(adam, "patch", f"/users/{people.owner.pk}", body, 400)
    assert next(iter(body)) in answer["error"]
    people.owner.refresh_from_db()
    assert people.owner.role == Role.DBA


def test_the_site_keeps_an_administrator_and_nobody_shuts_themselves_out(people: People, adam: Client) -> None:
    own = f"/users/{people.administrator.pk}"
    assert wrong(adam, "delete", own, None) == {"": ["Nobody deactivates themselves. Ask another administrator."]}
    assert "last active administrator" in wrong(adam, "patch", own, {"role": "viewer"})[""][0]
    people.administrator.refresh_from_db()
    assert (people.administrator.role, people.administrator.is_active) == (Role.ADMINISTRATOR, True)


def test_teams_are_added_renamed_and_deleted_while_they_own_nothing(
    people: People, adam: Client, system: System
) -> None:
    made = ask(adam, "post", "/teams", {"name": "  Night   shift "}, 201)
    assert made["name"] == "Night shift"
    assert ask(adam, "patch", f"/teams/{made['id']}", {"name": "Day shift"})["name"] == "Day shift"
    assert wrong(adam, "post", "/teams", {"name": "claims"}) == {"name": ["There is a team of this name."]}
    assert wrong(adam, "post", "/teams", {"name": " "}) == {"name": ["This field is required."]}
    assert "still has 1 system" in wrong(adam, "delete", f"/teams/{people.team.pk}", None)[""][0]
    ask(adam, "delete", f"/teams/{made['id']}")
    ask(adam, "delete", f"/teams/{made['id']}", None, 404)
    assert [(action, what) for _, action, what in journal()] == [
        ("team added", "Night shift"),
        ("team renamed", "Night shift to Day shift"),
        ("team deleted", "Day shift; its people: none"),
    ]


def test_a_dba_sees_the_own_teams_and_writes_none(people: People, olga: Client) -> None:
    assert [one["name"] for one in ask(olga, "get", "/teams")["items"]] == ["Claims"]
    for method, address, body in (
        ("get", "/users", None),
        ("patch", f"/users/{people.owner.pk}", {"role": "administrator"}),
        ("post", "/users", {"username": "x", "role": "administrator"}),
        ("post", f"/users/{people.administrator.pk}/password", None),
        ("post", "/teams", {"name": "mine"}),
        ("patch", f"/teams/{people.team.pk}", {"name": "mine"}),
        ("post", "/webhooks", {"name": "x", "url": HOOK}),
    ):
        ask(olga, method, address, body, 403)
    people.owner.refresh_from_db()
    assert people.owner.role == Role.DBA
    assert not journal()


def test_no_token_rises_above_its_scopes_or_its_user(people: People) -> None:
    def bearer(user: User, *scopes: str) -> Client:
        _, secret = make_token(user, " ".join(scopes), scopes, None)
        return Client(headers={"authorization": f"Bearer {secret}"})

    tokens = bearer(people.administrator, "tokens")
    ask(tokens, "post", "/tokens", {"name": "more", "scopes": ["administration"]}, 403)
    everything_else = [one for one in scopes_for(people.administrator) if one != "administration"]
    ask(bearer(people.administrator, *everything_else), "post", "/users", {"username": "x", "role": "viewer"}, 403)
    owner = bearer(people.owner, *scopes_for(people.owner))
    ask(owner, "post", "/tokens", {"name": "more", "scopes": ["administration"]}, 403)
    adams = bearer(people.administrator, "administration")
    User.objects.filter(pk=people.administrator.pk).update(role=Role.DBA)
    ask(adams, "post", "/users", {"username": "x", "role": "administrator"}, 403)
    assert not User.objects.filter(username="x").exists()
    assert not Token.objects.filter(name="more").exists()


# --- recipients ------------------------------------------------------------------------------------------------------


def test_a_recipient_is_added_changed_stopped_resumed_and_removed(people: People, olga: Client, system: System) -> None:
    group = Group.objects.create(team=people.team, name="night")
    made = ask(olga, "post", "/recipients", {"address": "ops@Example.ORG", "severity": "critical", "days": [4, 0]}, 201)
    same = Recipient()
    assert (made["address"], made["severity"], made["days"]) == ("ops@example.org", "critical", [0, 4])
    assert (made["reports"], made["digest"], made["scripts"]) == (same.reports, same.digest, same.scripts), "defaults"
    one = f"/recipients/{made['id']}"
    changed = ask(olga, "patch", one, {"digest": True, "systems": [system.pk], "groups": [group.pk]})
    assert changed == {**made, "digest": True, "systems": [system.pk], "groups": [group.pk]}
    assert Recipient.objects.get(pk=made["id"]).digest_due is not None, "planned, as by the page"
    for _ in range(2):
        assert ask(olga, "post", f"{one}/stop")["stopped_why"] == "stopped by olga"
    assert ask(olga, "post", f"{one}/resume")["stopped"] is None
    assert ask(olga, "delete", one)["address"] == "ops@example.org"
    ask(olga, "get", one, None, 404)
    told = [(action, what) for _, action, what in journal()]
    assert told == [
        ("recipient added", told[0][1]),
        ("recipient changed", told[1][1]),
        ("recipient stopped", "ops@example.org: stopped by olga"),
        ("recipient resumed", "ops@example.org"),
        ("recipient removed", "ops@example.org"),
    ]
    assert told[1][1] == ("ops@example.org: weekly digest no to yes; about CLAIMS1, group night (before: all systems)")


@pytest.mark.parametrize(
    ("body", "field", "says"),
    [
        ({"address": "nobody"}, "address", "valid email"),
        ({"address": "x@example.org\r\nBcc: y@example.org"}, "address", "valid email"),
        ({"zone": "Mars/Olympus"}, "zone", "valid choice"),
        ({"days": []}, "days", "required"),
        ({"reports": False, "not_audited": False}, "", "Choose something to be sent"),
        ({"groups": [1]}, "groups", "nothing to choose from"),
        ({"of_all": True}, "of_all", "nothing to choose from"),
    ],
)
def test_a_recipient_is_checked_as_on_its_page(
    people: People, olga: Client, body: dict[str, Any], field: str, says: str
) -> None:
    told = wrong(olga, "post", "/recipients", {"address": "x@example.org", **body})
    assert says in told[field][0]
    assert not Recipient.objects.exists()


def test_a_recipient_is_about_systems_of_its_team_alone(
    people: People, olga: Client, adam: Client, theirs: System
) -> None:
    one = recipient_of(people)
    for client in (olga, adam):
        assert "valid choice" in wrong(client, "patch", f"/recipients/{one.pk}", {"systems": [theirs.pk]})["systems"][0]
    assert not one.systems.exists()


def test_a_viewer_has_mail_sent_to_themselves_alone(people: People, as_user: AsUser) -> None:
    carl = as_user(people.colleague)
    other = recipient_of(people)
    assert "own address alone" in wrong(carl, "post", "/recipients", {"address": "x@example.org"})[""][0]
    made = ask(carl, "post", "/recipients", {"address": people.colleague.email}, 201)
    assert ask(carl, "patch", f"/recipients/{made['id']}", {"heartbeat": True})["heartbeat"] is True
    for method, address in (("patch", ""), ("delete", ""), ("post", "/stop"), ("post", "/resume")):
        ask(carl, method, f"/recipients/{other.pk}{address}", {} if method == "patch" else None, 403)
    assert ask(carl, "delete", f"/recipients/{made['id']}")["id"] == made["id"]


def test_who_is_left_alone_is_about_everything_only_when_it_is_said(
    people: People, olga: Client, system: System
) -> None:
    one = recipient_of(people)
    one.systems.add(system)
    system.delete()
    address = f"/recipients/{one.pk}"
    assert ask(olga, "get", address)["left_alone"] is True
    assert ask(olga, "patch", address, {"severity": "note"})["left_alone"] is True
    assert "about nothing any more" in wrong(olga, "post", f"{address}/resume", None)[""][0]
    assert ask(olga, "patch", address, {"of_all": True})["left_alone"] is False


def test_the_same_service_makes_it_for_page_and_api(
    people: People, olga: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The API writes by the services of the pages and has no way of its own."""
    called: list[User] = []

    def make(recipient: Recipient, by: User, **rest: Any) -> Recipient:
        called.append(by)
        return recipient_of(people)

    monkeypatch.setattr(recipients, "make", make)
    ask(olga, "post", "/recipients", {"address": "x@example.org"}, 201)
    assert called == [people.owner]


# --- webhooks --------------------------------------------------------------------------------------------------------


def test_a_webhook_is_added_changed_paused_renewed_and_deleted(people: People, adam: Client, system: System) -> None:
    made = ask(adam, "post", "/webhooks", {"name": "pager", "url": HOOK, "team": "Claims"}, 201)
    hook = Webhook.objects.get()
    assert made.pop("secret") == json.loads(unseal(hook.secret_sealed, signing.PURPOSE))["secret"]
    one = f"/webhooks/{hook.pk}"
    assert ask(adam, "get", one) == made
    assert made["leads_to"] == "https://192.0.2.7/services/…"
    assert made["severity"] == "note"
    changed = ask(adam, "patch", one, {"severity": None, "systems": [system.pk]})
    assert (changed["severity"], changed["systems"], changed["leads_to"]) == (None, [system.pk], made["leads_to"])
    hook.refresh_from_db()
    assert hook.url == HOOK, "what is not sent stays"
    for _ in range(2):
        assert ask(adam, "post", f"{one}/pause")["paused"] is not None
    assert "paused" in wrong(adam, "post", f"{one}/ping", None)[""][0]
    assert ask(adam, "post", f"{one}/resume")["paused"] is None
    sealed = hook.secret_sealed
    assert ask(adam, "post", f"{one}/secret")["secret"]
    hook.refresh_from_db()
    assert hook.secret_sealed != sealed
    number = ask(adam, "post", f"{one}/ping", None, 202)["delivery"]
    assert Delivery.objects.filter(number=number, webhook=hook).exists()
    ask(adam, "delete", one)
    ask(adam, "delete", one, None, 404)
    told = journal()
    assert [action for _, action, _ in told] == [
        *("webhook added", "webhook changed", "webhook paused", "webhook resumed", "webhook secret renewed"),
        *("webhook tried out", "webhook deleted"),
    ]
    assert told[1][2] == "pager: systems all to CLAIMS1; severity 1 to 0"
    assert "T0SECRET" not in str(told)
    assert "T0SECRET" not in json.dumps(ask(adam, "get", "/webhooks"))


@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/latest/meta-data/",
        "file:///etc/passwd",
        "https://user@/x",
        "ftp://example.org/x",
        "https://example.org/\r\nX: y",
        "",
    ],
)
def test_a_webhooks_address_is_guarded_as_on_its_page(people: People, adam: Client, url: str) -> None:
    told = wrong(adam, "post", "/webhooks", {"name": "x", "url": url, "team": "Claims"})
    assert told
    assert not Webhook.objects.exists()


def test_a_webhook_is_about_systems_of_its_team_alone(people: People, adam: Client, theirs: System) -> None:
    body = {"name": "x", "url": HOOK, "team": "Claims", "systems": [theirs.pk]}
    assert "valid choice" in wrong(adam, "post", "/webhooks", body)["systems"][0]
    ask(adam, "post", "/webhooks", {**body, "team": "Nowhere"}, 404)
    ask(adam, "post", "/webhooks", {"name": "x", "url": HOOK}, 400)


# --- data sources ----------------------------------------------------------------------------------------------------


def test_a_data_source_is_added_changed_and_removed_and_never_read_back(
    people: People, olga: Client, system: System
) -> None:
    made = ask(olga, "post", "/sources", {**SERVER, "system": system.pk}, 201)
    source = DataSource.objects.get()
    assert keys.unseal(source.password_sealed, data_sources.belongs_to(source)) == SECRET
    assert (made["leads_to"], made["has_password"], made["seconds"]) == ("192.0.2.5, port 5000", True, 60)
    one = f"/sources/{made['id']}"
    changed = ask(olga, "patch", one, {"seconds": 30, "name": "standby"})
    assert changed == {**made, "seconds": 30, "name": "standby"}
    source.refresh_from_db()
    assert (source.host, source.user, bool(source.password_sealed)) == ("192.0.2.5", "reader", True)
    moved = wrong(olga, "patch", one, {"host": "192.0.2.66"})
    assert "not sent where it was not typed for" in moved["password"][0].replace("It is not sent ", "not sent ")
    assert ask(olga, "patch", one, {"remove_password": True})["has_password"] is False
    told = json.dumps([made, changed, ask(olga, "get", "/sources"), ask(olga, "delete", one)])
    assert not any(secret in told for secret in (SECRET, "reader", source.password_sealed))
    assert DataSource.objects.count() == 0
    assert [(who, action, what) for who, action, what in journal()] == [
        ("olga", "data source added", "harbour of CLAIMS1: 192.0.2.5, port 5000"),
        (
            *("olga", "data source changed"),
            "standby of CLAIMS1: 192.0.2.5, port 5000 (changed: name harbour to standby, seconds 60 to 30)",
        ),
        ("olga", "data source changed", "standby of CLAIMS1: 192.0.2.5, port 5000 (changed: password removed)"),
        ("olga", "data source removed", "standby of CLAIMS1: 192.0.2.5, port 5000"),
    ]


def test_a_source_of_a_new_system_makes_it_and_where_it_leads_is_for_those_who_may_work(
    people: People, olga: Client, as_user: AsUser
) -> None:
    made = ask(olga, "post", "/sources", {**SERVER, "new_system": "HARBOUR", "product": "ase"}, 201)
    assert System.objects.get().name == made["system_name"] == "HARBOUR"
    (seen,) = ask(as_user(people.colleague), "get", "/sources")["items"]
    assert seen == {**made, "leads_to": None}
    assert ask(as_user(people.stranger), "get", "/sources") == {"count": 0, "items": []}


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"host": "169.254.169.254"}, "host"),
        ({"host": "a b"}, "host"),
        ({"host": ""}, "host"),
        ({"user": ""}, "user"),
        ({"password": "x};y"}, "password"),
        ({"seconds": 1}, "seconds"),
        ({"sysmon": "later"}, "sysmon"),
        ({"without": "nothing_like_it"}, "without"),
        ({"host": "", "odbc": "DRIVER={x};SERVER=y;COMMAND=rm"}, "odbc"),
    ],
)
def test_a_source_is_guarded_as_on_its_page(
    people: People, olga: Client, system: System, more: dict[str, Any], field: str
) -> None:
    body = {**SERVER, "system": system.pk, **more}
    told = wrong(olga, "post", "/sources", {name: value for name, value in body.items() if value is not None})
    assert field in told
    assert SECRET not in str(told)
    assert not DataSource.objects.exists()


def test_a_source_belongs_to_a_system_of_the_own_team(
    people: People, olga: Client, as_user: AsUser, system: System, theirs: System
) -> None:
    assert "system" in wrong(olga, "post", "/sources", {**SERVER, "system": theirs.pk})
    made = ask(olga, "post", "/sources", {**SERVER, "system": system.pk}, 201)
    for method in ("get", "patch", "delete"):
        ask(as_user(people.stranger), method, f"/sources/{made['id']}", {} if method == "patch" else None, 404)
    ask(as_user(people.colleague), "patch", f"/sources/{made['id']}", {"seconds": 30}, 403)


def test_a_password_of_the_wrong_type_is_not_repeated_in_the_answer(
    people: People, olga: Client, system: System
) -> None:
    answer = ask(olga, "post", "/sources", {**SERVER, "system": system.pk, "password": {"is": SECRET}}, 400)
    assert "password" in answer["error"]
    assert SECRET not in json.dumps(answer)


# --- snooze ----------------------------------------------------------------------------------------------------------


def test_a_system_is_snoozed_and_woken(people: People, olga: Client, system: System) -> None:
    address = f"/systems/{system.pk}/snooze"
    for _ in range(2):
        row = ask(olga, "put", address, {"until": "2999-01-31", "why": "upgrade"})
        assert (row["snoozed_until"], row["snoozed_why"]) == ("2999-01-31", "upgrade")
    ask(olga, "put", address, {"until": "2999-02-28", "why": "later"})
    for _ in range(2):
        assert ask(olga, "delete", address)["snoozed_until"] is None
    assert journal() == [
        ("olga", "system snoozed", "until 2999-01-31: upgrade"),
        ("olga", "system snoozed", "until 2999-02-28: later (before: until 2999-01-31: upgrade)"),
        ("olga", "snooze ended", "it was until 2999-02-28"),
    ]


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({"until": "2020-01-01", "why": "x"}, "Choose a day in the future"),
        ({"until": "2999-01-31", "why": " "}, "Say why"),
        ({"until": "soon", "why": "x"}, "until"),
        ({"until": "2999-01-31"}, "why"),
        ({"until": "2999-01-31", "why": "x" * 501}, "why"),
        ({"until": "2999-01-31", "why": "x", "by": "adam"}, "by"),
    ],
)
def test_a_snooze_without_a_day_or_a_reason_is_none(
    people: People, olga: Client, system: System, body: dict[str, Any], says: str
) -> None:
    assert says in ask(olga, "put", f"/systems/{system.pk}/snooze", body, 400)["error"]
    system.refresh_from_db()
    assert system.snoozed_until is None


def test_hostile_bodies_are_answered_and_change_nothing(
    people: People, adam: Client, system: System, as_user: Callable[[User], Client]
) -> None:
    before = (User.objects.count(), Team.objects.count())
    for address in ("/users", "/teams", "/recipients", "/webhooks", "/sources"):
        for body in (b"", b"[]", b"null", b"{", b'{"name": "\\ud800"}', b"\xff", b"[" * 5000):
            answer = adam.post(f"/api{address}", body, content_type="application/json")
            assert answer.status_code == 400, (address, body[:20], answer.content)
            assert set(answer.json()) >= {"error", "remedy"}
    assert (User.objects.count(), Team.objects.count()) == before
    assert not Webhook.objects.exists()
