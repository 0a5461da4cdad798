"""Who gets what from every endpoint: the owner, a colleague who reads, a stranger, an administrator, and nobody."""

import io
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client
from pytest_django import DjangoDbBlocker

from advisor.accounts.models import Team, Token, User
from advisor.accounts.services.tokens import make_token, scopes_for
from advisor.audits.models import LimitSetting
from advisor.audits.services.rulebook import rulebook
from advisor.config.api import description
from advisor.findings.models import TrackedFinding
from advisor.notifications.models import Webhook
from advisor.notifications.webhooks import setup
from advisor.schedules.sources import data_sources
from advisor.schedules.sources.data_sources import SourceSpec
from advisor.systems.models import Group, System
from tests.advisor.keeping import as_tests_have_it, kept
from tests.advisor.notifications.mail.letter_parts import recipient_of
from tests.advisor.people import STORIES, People, bring_story, make_people
from tests.advisor.schedules.scheduled import make_schedule

LIMIT = next(f"{one['rule']}.{one['limits'][0]['limit']}" for one in rulebook("ase") if one["limits"])
RULE = LIMIT.rpartition(".")[0]
VALUE = next(one["limits"][0]["value"] for one in rulebook(RULE))
READERS = (200, 200, 404, 200)
WORKERS = (200, 403, 404, 200)
ALL = (200, 200, 200, 200)
ADMINISTRATORS = (403, 403, 403, 200)
TAKEN = (201, 403, 404, 400)
"""The owner has made one of that name before the administrator asks."""
GONE = (200, 403, 404, 404)
"""After the owner there is nothing left to delete."""

SOURCE = {"name": "new", "new_system": "HARBOUR", "product": "ase", "host": "192.0.2.5", "port": 5000, "user": "reader"}

# method, address, body; then what the owner, the colleague, the stranger and the administrator get
ENDPOINTS: list[tuple[str, str, Any, tuple[int, int, int, int]]] = [
    ("post", "/api/uploads", "files", (202, 403, 404, 202)),
    ("get", "/api/uploads/{upload_id}", None, READERS),
    ("get", "/api/uploads/{upload_id}/audit", None, READERS),
    ("get", "/api/systems", None, ALL),
    ("get", "/api/systems/{system_id}", None, READERS),
    ("get", "/api/systems/{system_id}/captures", None, READERS),
    ("get", "/api/systems/{system_id}/compare", None, (400, 400, 404, 400)),  # it has one capture
    ("get", "/api/audits/{audit_id}", None, READERS),
    ("post", "/api/audits/{audit_id}/again", None, (202, 403, 404, 202)),
    ("get", "/api/findings", None, ALL),
    ("get", "/api/findings/{finding_id}", None, READERS),
    ("post", "/api/findings/{finding_id}/state", {"state": "planned"}, WORKERS),
    ("post", "/api/findings/{finding_id}/owner", {"owner": None}, WORKERS),
    ("post", "/api/findings/{finding_id}/comments", {"text": "asked for"}, WORKERS),
    ("get", "/api/systems/{system_id}/limits", None, READERS),
    ("get", "/api/systems/{system_id}/limits/{name}", None, READERS),
    ("put", "/api/systems/{system_id}/limits/{name}", {"value": VALUE}, WORKERS),
    ("delete", "/api/systems/{system_id}/limits/{name}", None, WORKERS),
    ("get", "/api/limits", None, ALL),
    ("get", "/api/limits/{name}", None, ALL),
    ("put", "/api/limits/{name}", {"value": VALUE}, ADMINISTRATORS),
    ("delete", "/api/limits/{name}", None, ADMINISTRATORS),
    ("get", "/api/schedules", None, ALL),
    ("post", "/api/schedules", {"name": "new", "every_minutes": 5, "team": "Claims"}, TAKEN),
    ("get", "/api/schedules/{schedule_id}", None, READERS),
    ("put", "/api/schedules/{schedule_id}", {"name": "nightly", "every_minutes": 5}, WORKERS),
    ("delete", "/api/schedules/{schedule_id}", None, GONE),
    ("post", "/api/schedules/{schedule_id}/run", None, (202, 403, 404, 202)),
    ("post", "/api/schedules/{schedule_id}/pause", None, WORKERS),
    ("post", "/api/schedules/{schedule_id}/resume", None, WORKERS),
    ("get", "/api/schedules/{schedule_id}/runs", None, READERS),
    ("get", "/api/groups", None, ALL),
    ("post", "/api/groups", {"name": "new", "team": "Claims"}, TAKEN),
    ("get", "/api/groups/{group_id}", None, READERS),
    ("put", "/api/groups/{group_id}", {"name": "the south"}, WORKERS),
    ("delete", "/api/groups/{group_id}", None, GONE),
    ("put", "/api/systems/{system_id}/snooze", {"until": "2999-01-31", "why": "upgrade"}, WORKERS),
    ("delete", "/api/systems/{system_id}/snooze", None, WORKERS),
    ("get", "/api/sources", None, ALL),
    ("post", "/api/sources", {**SOURCE, "team": "Claims"}, TAKEN),
    ("get", "/api/sources/{source_id}", None, READERS),
    ("patch", "/api/sources/{source_id}", {"seconds": 30}, WORKERS),
    ("delete", "/api/sources/{source_id}", None, GONE),
    ("get", "/api/recipients", None, ALL),
    ("post", "/api/recipients", {"address": "new@example.org", "team": "Claims"}, (201, 400, 404, 400)),
    ("get", "/api/recipients/{recipient_id}", None, READERS),
    ("patch", "/api/recipients/{recipient_id}", {"severity": "critical"}, WORKERS),
    ("delete", "/api/recipients/{recipient_id}", None, (200, 404, 404, 404)),
    ("post", "/api/recipients/{recipient_id}/stop", None, WORKERS),
    ("post", "/api/recipients/{recipient_id}/resume", None, WORKERS),
    ("get", "/api/webhooks", None, ADMINISTRATORS),
    ("post", "/api/webhooks", {"name": "n", "url": "https://192.0.2.7/x", "team": "Claims"}, (403, 403, 403, 201)),
    ("get", "/api/webhooks/{webhook_id}", None, ADMINISTRATORS),
    ("patch", "/api/webhooks/{webhook_id}", {"only_changes": True}, ADMINISTRATORS),
    ("delete", "/api/webhooks/{webhook_id}", None, ADMINISTRATORS),
    ("post", "/api/webhooks/{webhook_id}/pause", None, ADMINISTRATORS),
    ("post", "/api/webhooks/{webhook_id}/resume", None, ADMINISTRATORS),
    ("post", "/api/webhooks/{webhook_id}/secret", None, ADMINISTRATORS),
    ("post", "/api/webhooks/{webhook_id}/ping", None, (403, 403, 403, 202)),
    ("get", "/api/users", None, ADMINISTRATORS),
    ("post", "/api/users", {"username": "nina", "role": "viewer"}, (403, 403, 403, 201)),
    ("get", "/api/users/{user_id}", None, ADMINISTRATORS),
    ("patch", "/api/users/{user_id}", {"name": "Carl"}, ADMINISTRATORS),
    ("delete", "/api/users/{user_id}", None, ADMINISTRATORS),
    ("post", "/api/users/{user_id}/password", None, ADMINISTRATORS),
    ("post", "/api/users/{user_id}/unlock", None, ADMINISTRATORS),
    ("get", "/api/teams", None, ALL),
    ("post", "/api/teams", {"name": "Third"}, (403, 403, 403, 201)),
    ("patch", "/api/teams/{team_id}", {"name": "Empty"}, ADMINISTRATORS),
    ("delete", "/api/teams/{team_id}", None, ADMINISTRATORS),
    ("get", "/api/rules", None, ALL),
    ("get", "/api/rules/{rule_id}", None, ALL),
    ("get", "/api/tokens", None, ALL),
    ("post", "/api/tokens", {"name": "new", "scopes": ["read"]}, (201, 201, 201, 201)),
    ("delete", "/api/tokens/{token_id}", None, (200, 404, 404, 404)),
    ("get", "/api/openapi.json", None, ALL),
    ("get", "/metrics", None, ADMINISTRATORS),
]
NAMES = [f"{method} {address}" for method, address, _, _ in ENDPOINTS]


@dataclass(frozen=True)
class Site:
    """A system of the owner, with an upload, an audit and a token."""

    people: People
    ids: dict[str, Any]

    def ask(self, client: Client, method: str, address: str, body: Any, **headers: str) -> HttpResponse:
        where = address.format(**self.ids)
        if body == "files":
            data = {"files": io.BytesIO((STORIES / "healthy_ledger_server" / "sysmon.txt").read_bytes())}
            return client.post(where, {**data, "team": self.people.team.name}, headers=headers)  # type: ignore[return-value]
        sent = {"data": body, "content_type": "application/json"} if body is not None else {}
        return getattr(client, method)(where, headers=headers, **sent)  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def made(django_db_setup: None, django_db_blocker: DjangoDbBlocker, static_root: Path) -> Iterator[Site]:
    """Made once for all tests of this module: a story is read and judged for it."""
    with as_tests_have_it(static_root), kept(django_db_blocker) as at_commit:
        people = make_people()
        with at_commit.captureOnCommitCallbacks(execute=True):
            bring_story("address_lock_storm", people.team, people.owner)
        yield make_site(people, System.objects.get(name="CLAIMS1"))


@pytest.fixture
def site(db: None, made: Site) -> Site:
    return deepcopy(made)


def make_site(people: People, storm: System) -> Site:
    assert storm.latest is not None
    token, _ = make_token(people.owner, "the owner's", ["read"], None)
    hook = Webhook(team=people.team, name="one", url="https://192.0.2.7/x")
    setup.make(hook, people.administrator)
    ids = {
        "system_id": storm.pk,
        "upload_id": storm.latest.capture.upload_id,
        "audit_id": storm.latest_id,
        "token_id": token.pk,
        "finding_id": TrackedFinding.objects.order_by("pk")[0].pk,
        "name": LIMIT,
        "rule_id": RULE,
        "schedule_id": make_schedule(people).pk,
        "group_id": Group.objects.create(team=people.team, name="the south").pk,
        "source_id": data_sources.make(storm, SourceSpec("one", host="192.0.2.9", port=1, user="x"), people.owner).pk,
        "recipient_id": recipient_of(people).pk,
        "webhook_id": hook.pk,
        "user_id": User.objects.create_user("spare", "x", role="viewer").pk,
        "team_id": Team.objects.create(name="Nobody").pk,
    }
    return Site(people, ids)


def four(people: People) -> tuple[User, User, User, User]:
    return people.owner, people.colleague, people.stranger, people.administrator


def test_every_endpoint_is_in_this_table(db: None) -> None:
    paths = description()["paths"]
    documented = {f"{method} {path}" for path, methods in paths.items() for method in methods}
    assert documented == set(NAMES) - {"get /api/openapi.json", "get /metrics"}


@pytest.mark.parametrize(("method", "address", "body", "expected"), ENDPOINTS, ids=NAMES)
def test_a_session_opens_what_the_role_and_the_teams_allow(
    site: Site, as_user: Callable[[User], Client], method: str, address: str, body: Any, expected: tuple[int, ...]
) -> None:
    for user, status in zip(four(site.people), expected, strict=True):
        answer = site.ask(as_user(user), method, address, body)
        assert answer.status_code == status, (user.username, answer.content)
        if status >= 400:
            assert set(answer.json()) >= {"error", "remedy"}  # type: ignore[attr-defined]


@pytest.mark.parametrize(("method", "address", "body", "expected"), ENDPOINTS, ids=NAMES)
def test_a_token_opens_no_more_than_its_user(
    site: Site, method: str, address: str, body: Any, expected: tuple[int, ...]
) -> None:
    for user, status in zip(four(site.people), expected, strict=True):
        _, secret = make_token(user, "of the test", scopes_for(user), None)
        if address.startswith("/api/tokens") and not user.may_work:
            status = 403  # of a reader's own tokens the page alone is in charge
        answer = site.ask(Client(), method, address, body, authorization=f"Bearer {secret}")
        assert answer.status_code == status, (user.username, answer.content)


@pytest.mark.parametrize(("method", "address", "body", "expected"), ENDPOINTS, ids=NAMES)
def test_nobody_gets_nothing_and_is_told_in_json(
    site: Site, method: str, address: str, body: Any, expected: tuple[int, ...]
) -> None:
    for headers in ({}, {"authorization": "Bearer lw_wrong"}, {"authorization": "Basic b2xnYTp4"}):
        answer = site.ask(Client(enforce_csrf_checks=True), method, address, body, **headers)
        assert answer.status_code == 401
        assert set(answer.json()) == {"error", "remedy"}  # type: ignore[attr-defined]
        assert answer["WWW-Authenticate"].startswith("Bearer")


@pytest.mark.parametrize(("method", "address", "body", "expected"), ENDPOINTS, ids=NAMES)
def test_a_token_needs_the_scope(site: Site, method: str, address: str, body: Any, expected: tuple[int, ...]) -> None:
    user = site.people.administrator
    if (method, address) == ("post", "/api/tokens"):
        body = {**body, "scopes": ["tokens"]}  # none that the asking one lacks
    for scope in scopes_for(user):
        _, secret = make_token(user, scope, [scope], None)
        answer = site.ask(Client(), method, address, body, authorization=f"Bearer {secret}")
        needed = scope_of(method, address)
        assert (answer.status_code == 403) == (needed not in (None, scope)), (scope, answer.content)


OF_A_ROOM = {
    **dict.fromkeys(("schedules", "groups"), "schedules"),
    **{"sources": "sources", "recipients": "mail", "teams": "administration"},
}


def scope_of(method: str, address: str) -> str | None:
    if address.startswith("/api/tokens"):
        return "tokens"
    if address == "/metrics":
        return "metrics"
    if address == "/api/openapi.json":
        return None
    if address.startswith("/api/findings/"):
        return "read" if method == "get" else "findings"
    if address.startswith(("/api/users", "/api/webhooks")):
        return "administration"
    if scope := OF_A_ROOM.get(address.split("/")[2]):
        return "read" if method == "get" else scope
    if address.endswith("/snooze"):
        return "systems"
    if method in ("put", "delete"):
        return "limits"
    return "upload" if method == "post" else "read"


def test_a_session_changes_nothing_without_the_csrf_token(site: Site) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(site.people.owner, backend="django.contrib.auth.backends.ModelBackend")
    for method, address, body, expected in ENDPOINTS:
        answer = site.ask(client, method, address, body)
        assert (answer.status_code == 403) == (method != "get" or expected[0] == 403), (method, address)
    assert not LimitSetting.objects.exists()
    assert Token.objects.count() == 1
    page = client.get("/account/")
    csrf = str(page.cookies["csrftoken"].value)
    put = next(row for row in ENDPOINTS if row[:2] == ("put", "/api/systems/{system_id}/limits/{name}"))
    client.cookies["csrftoken"] = csrf
    assert site.ask(client, *put[:3], **{"x-csrftoken": csrf}).status_code == 200


def test_a_wrong_token_never_falls_back_to_the_session(site: Site, as_user: Callable[[User], Client]) -> None:
    answer = as_user(site.people.owner).get("/api/systems", headers={"authorization": "Bearer lw_wrong"})
    assert answer.status_code == 401


def test_lists_hold_the_own_teams_alone(site: Site, as_user: Callable[[User], Client]) -> None:
    for address in ("/api/systems", "/api/findings", "/api/findings?current=false"):
        counts = [as_user(user).get(address).json()["count"] for user in four(site.people)]
        assert counts[0] == counts[1] == counts[3] > 0
        assert counts[2] == 0
    owners = [token["name"] for token in as_user(site.people.owner).get("/api/tokens").json()]
    assert owners == ["the owner's"]
    assert as_user(site.people.administrator).get("/api/tokens").json() == []


def test_findings_of_another_teams_system_are_not_here(site: Site, as_user: Callable[[User], Client]) -> None:
    address = f"/api/findings?system={site.ids['system_id']}"
    assert [as_user(user).get(address).status_code for user in four(site.people)] == list(READERS)


def test_a_wrong_address_or_method_is_told_in_json(db: None) -> None:
    nowhere = Client().get("/api/nowhere")
    assert (nowhere.status_code, set(nowhere.json())) == (404, {"error", "remedy"})
    wrong = Client().patch("/api/systems")
    assert (wrong.status_code, wrong["Allow"]) == (405, "GET")
    assert set(wrong.json()) == {"error", "remedy"}
