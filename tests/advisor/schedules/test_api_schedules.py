"""Schedules, their runs and groups by the API: what a script can do with them, and what it is told."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from advisor.accounts.models import User
from advisor.accounts.services.tokens import make_token
from advisor.audits.models import Audit
from advisor.core.models import JournalEntry
from advisor.schedules.models import Run, Schedule
from advisor.systems.models import Group, System
from tests.advisor.people import AsUser, People
from tests.advisor.schedules.scheduled import mail_of, make_schedule, run_of, taken_by
from tests.advisor.seen import unknown_system

Ask = Callable[..., Any]
NEW = {"name": "nightly", "cron": "0 6 * * mon-fri", "zone": "Europe/Oslo", "blackouts": "sat,sun 22:00-04:00"}


@pytest.fixture(autouse=True)
def _folders(settings: Settings, tmp_path: Path) -> None:
    settings.DROP_FOLDERS = [tmp_path]


@pytest.fixture
def ask(people: People) -> Ask:
    """A script of the owner, with a token for schedules."""
    _, secret = make_token(people.owner, "script", ["read", "schedules"], None)

    def send(method: str, address: str, status: int, body: Any = None, **query: Any) -> Any:
        more = {"data": body, "content_type": "application/json"} if body is not None else {}
        headers = {"authorization": f"Bearer {secret}"}
        answer = getattr(Client(), method)(f"/api/{address}", headers=headers, query_params=query or None, **more)
        assert answer.status_code == status, answer.content
        return answer.json()

    return send


def test_a_schedule_is_made_seen_changed_and_deleted(people: People, ask: Ask, tmp_path: Path) -> None:
    made = ask("post", "schedules", 201, NEW)
    assert made["folder"] == str(tmp_path / "Claims")
    assert made["team"] == "Claims"
    assert made["by"] == people.owner.username
    assert (made["paused"], made["troubled"], made["trouble"]) == (None, None, "")
    assert "06:00" in made["when"]
    one = f"schedules/{made['id']}"
    assert ask("get", one, 200) == made
    assert ask("get", "schedules", 200) == {"count": 1, "items": [made]}
    wish = {key: made[key] for key in (*NEW, "folder", "settle_seconds", "after", "source")}
    changed = ask("put", one, 200, {**wish, "cron": "", "every_minutes": 15})
    assert (changed["every_minutes"], changed["cron"], changed["when"]) == (15, "", "every 15 minutes")
    assert ask("delete", one, 200)["id"] == made["id"]
    ask("get", one, 404)
    actions = list(JournalEntry.objects.filter(user=people.owner).order_by("pk").values_list("action", flat=True))
    assert actions[-3:] == ["schedule made", "schedule changed", "schedule removed"]


@pytest.mark.parametrize(
    ("other", "field", "said"),
    [
        ({"cron": "61 6 * * *"}, "cron", "cron does not understand"),
        ({"cron": "", "every_minutes": None}, "cron", "five fields"),
        ({"every_minutes": 5}, "cron", "an interval and cron at once"),
        ({"zone": "Mars/Base"}, "zone", "no zone"),
        ({"blackouts": "daily 01:00-02:00\nnever"}, "blackouts", "line 2"),
        ({"folder": "/etc"}, "folder", "a folder below it"),
        ({"system": 999_999}, "system", "no such system"),
        ({"group": 999_999}, "group", "no such group"),
        ({"source": "collector", "collector": "x"}, "system", "needs a system"),
        ({"name": "\u202e\x00"}, "name", "needs a name"),
    ],
)
def test_what_is_refused_says_why_where_and_what_to_do(ask: Ask, other: dict[str, Any], field: str, said: str) -> None:
    answer = ask("post", "schedules", 400, {**NEW, **other})
    assert said in answer["error"] + answer["remedy"]
    assert answer["field"] == field
    assert answer["remedy"]
    assert answer.get("line") == (2 if field == "blackouts" else None)
    assert not Schedule.objects.exists()


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"name": 5},
        {**NEW, "every_minutes": 0},
        {**NEW, "every_minutes": 10**30},
        {**NEW, "system": 10**30},
        {**NEW, "system": -1},
        {**NEW, "source": "anything"},
        {**NEW, "settle_seconds": 0},
        {**NEW, "blackouts": "x" * 4001},
    ],
)
def test_a_body_that_is_no_schedule_is_refused(ask: Ask, body: dict[str, Any]) -> None:
    assert set(ask("post", "schedules", 400, body)) == {"error", "remedy"}


def test_a_system_of_another_team_is_not_there(people: People, ask: Ask) -> None:
    foreign = System.objects.create(team=people.other_team, product="ase", name="PAY1", key="PAY1")
    for address, body in (
        ("schedules", {**NEW, "system": foreign.pk}),
        ("groups", {"name": "x", "systems": [foreign.pk]}),
    ):
        answer = ask("post", address, 400, body)
        assert "PAY1" not in str(answer)
    theirs = Schedule.objects.create(team=people.other_team, name="theirs", every_minutes=5)
    for method, address in (
        ("get", ""),
        ("put", ""),
        ("delete", ""),
        ("post", "/run"),
        ("post", "/pause"),
        ("get", "/runs"),
    ):
        ask(method, f"schedules/{theirs.pk}{address}", 404, NEW if method == "put" else None)
    assert ask("get", "schedules", 200)["count"] == 0


def test_a_team_is_named_by_who_is_in_several(people: People, as_user: AsUser) -> None:
    people.owner.teams.add(people.other_team)
    client = as_user(people.owner)
    for address, body in (("/api/schedules", NEW), ("/api/groups", {"name": "x"})):
        answer = client.post(address, body, content_type="application/json")
        assert answer.status_code == 400
        assert "Your teams: Claims, Payroll." in answer.json()["remedy"]
        made = client.post(address, {**body, "team": "payroll"}, content_type="application/json")
        assert made.json()["team"] == "Payroll"


def test_it_is_paused_resumed_and_run(people: People, ask: Ask, tmp_path: Path) -> None:
    (tmp_path / "Claims").mkdir()
    one = f"schedules/{ask('post', 'schedules', 201, NEW)['id']}"
    paused = ask("post", f"{one}/pause", 200)
    assert paused["paused"] is not None
    assert paused["next_due"] is None
    assert ask("post", f"{one}/pause", 200) == paused, "once more changes nothing"
    asked = ask("post", f"{one}/run", 202)
    assert asked["location"] == f"/api/{one}/runs"
    (run,) = ask("get", f"{one}/runs", 200)["items"]
    assert ([run["id"]], run["why"], run["by"]) == (asked["runs"], "now", people.owner.username)
    resumed = ask("post", f"{one}/resume", 200)
    assert (resumed["paused"], resumed["next_due"] is None) == (None, False)


def test_a_run_is_told_to_its_audits_and_mails(people: People, storm: System, storm_audit: Audit, ask: Ask) -> None:
    schedule = make_schedule(people, system=storm)
    run = run_of(schedule, told="1 file taken", missed=2, late_seconds=60)
    assert storm_audit.capture.upload is not None
    upload = taken_by(run, storm_audit.capture.upload)
    mail_of(storm_audit, "done")
    mail_of(storm_audit, "waiting")
    failed = run_of(schedule, Run.State.FAILED, ago=90, error="the folder is away: mount it")
    newest, older = ask("get", f"schedules/{schedule.pk}/runs", 200)["items"]
    assert (newest["id"], newest["stage"], newest["says"], newest["state"]) == (run.pk, "audited", "audited", "done")
    assert newest["uploads"] == [{"upload": upload.pk, "state": "done", "error": "", "audits": [storm_audit.pk]}]
    assert newest["mails"] == {"sent": 1, "waiting": 1, "failed": 0}
    assert (newest["told"], newest["missed"], newest["late_seconds"]) == ("1 file taken", 2, 60)
    assert (older["id"], older["stage"], older["error"]) == (failed.pk, "failed", "the folder is away: mount it")
    second = ask("get", f"schedules/{schedule.pk}/runs", 200, limit=1, offset=1)
    assert (second["count"], [row["id"] for row in second["items"]]) == (2, [failed.pk])


def test_those_with_trouble_can_be_listed(people: People, ask: Ask) -> None:
    make_schedule(people, "well")
    make_schedule(people, "ill", troubled=timezone.now() - timedelta(hours=1), trouble="its folder is away")
    (row,) = ask("get", "schedules", 200, troubled=True)["items"]
    assert (row["name"], row["trouble"]) == ("ill", "its folder is away")


def test_a_group_is_made_seen_changed_and_deleted_unless_it_is_used(people: People, ask: Ask) -> None:
    system = unknown_system(people)
    made = ask("post", "groups", 201, {"name": "the south", "systems": [system.pk, system.pk]})
    one = f"groups/{made['id']}"
    assert made == {"id": made["id"], "name": "the south", "team": "Claims", "systems": [system.pk]}
    assert ask("get", "groups", 200) == {"count": 1, "items": [made]}
    assert ask("get", one, 200) == made
    assert ask("put", one, 200, {"name": "the north", "systems": []})["name"] == "the north"
    schedule = make_schedule(people, group=Group.objects.get())
    refused = ask("delete", one, 400)
    assert "the group is used by" in refused["error"]
    schedule.delete()
    assert ask("delete", one, 200)["systems"] == []
    ask("get", one, 404)
    assert "needs a name" in ask("post", "groups", 400, {"name": " "})["error"]
    ask("post", "groups", 400, {"name": "x", "systems": [10**30]})


def test_a_token_without_the_scope_and_a_reader_change_nothing(people: People, as_user: AsUser) -> None:
    schedule = make_schedule(people)
    _, secret = make_token(people.owner, "reads", ["read", "upload", "limits"], None)
    headers = {"authorization": f"Bearer {secret}"}
    assert Client().get(f"/api/schedules/{schedule.pk}", headers=headers).status_code == 200
    answer = Client().post(f"/api/schedules/{schedule.pk}/pause", headers=headers)
    assert answer.status_code == 403
    assert "scope schedules" in answer.json()["error"]
    assert as_user(people.colleague).post(f"/api/schedules/{schedule.pk}/run").status_code == 403
    assert not Run.objects.exists()


def test_many_schedules_and_groups_take_no_more_queries(
    people: People, as_user: Callable[[User], Client], django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(30):
        group = Group.objects.create(team=people.team, name=f"g{number}")
        run_of(make_schedule(people, f"n{number}", group=group))
    client = as_user(people.owner)
    for address in ("/api/schedules", "/api/groups"):
        with django_assert_max_num_queries(7):
            assert client.get(address).json()["count"] == 30
