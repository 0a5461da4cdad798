"""The API at work: systems, audits, findings, limits, rules, tokens."""

import io
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks

from advisor.accounts.models import Token, User
from advisor.accounts.services.tokens import make_token, scopes_for
from advisor.audits.api.shapes import AuditRun
from advisor.audits.models import Audit, Capture, LimitSetting
from advisor.audits.services.contract import audit_json
from advisor.audits.services.rulebook import rulebook
from advisor.config.api import description
from advisor.config.celery import app
from advisor.core.models import JournalEntry
from advisor.operations.tasks import start_waiting
from advisor.systems.models import System
from advisor.uploads.models import Upload
from tests.advisor.people import People

LIMIT = next(one for one in rulebook("ase") if one["limits"])
UNBOUNDED = next(
    f"{one['rule']}.{limit['limit']}" for one in rulebook("ase") for limit in one["limits"] if limit["high"] is None
)
NAME = f"{LIMIT['rule']}.{LIMIT['limits'][0]['limit']}"


class Script:
    """A script with a token of this person, of every scope their role reaches to."""

    def __init__(self, user: User) -> None:
        self.client = Client(
            headers={"authorization": f"Bearer {make_token(user, 'script', scopes_for(user), None)[1]}"}
        )

    def get(self, address: str) -> Any:
        return self.client.get(address)

    def send(self, method: str, address: str, **body: Any) -> Any:
        return getattr(self.client, method)(address, body, content_type="application/json")

    def bring(self, *files: bytes, query: str = "", **fields: str) -> Any:
        named = [io.BytesIO(data) for data in files]
        for number, stream in enumerate(named):
            stream.name = f"{number}.txt"
        return self.client.post(f"/api/uploads{query}", {"files": named, **fields})


STATE = {"state", "state_until", "state_why", "owner", "back_if", "followed"}
"""What the API's findings have besides the contract's."""


def without_state(finding: dict[str, Any]) -> dict[str, Any]:
    """A finding as the contract has it everywhere."""
    assert finding.keys() >= STATE
    return {name: value for name, value in finding.items() if name not in STATE}


@pytest.fixture
def script(people: People) -> Script:
    return Script(people.owner)


def test_systems_are_found_by_text_product_and_severity(
    script: Script, storm: System, bring: Callable[..., Upload]
) -> None:
    bring("quiet_two_node_day")
    every = script.get("/api/systems").json()
    assert every["count"] == len(every["items"]) == System.objects.count() >= 2

    def names(query: str) -> set[str]:
        return {item["name"] for item in script.get(f"/api/systems?{query}").json()["items"]}

    assert names("q=claims") == {item["name"] for item in every["items"]}  # the name of the team
    assert names("q=claims1") == {"CLAIMS1"}
    assert names("product=ase") == {"CLAIMS1"}
    assert names("severity=critical") == {"CLAIMS1"}
    assert names("severity=note") >= {"CLAIMS1"}
    some = script.get("/api/systems?limit=1&offset=1").json()
    assert some["count"] == every["count"]
    assert some["items"] == every["items"][1:2]
    for wrong in ("severity=loud", "limit=0", "limit=1000", "offset=-1"):
        assert script.get(f"/api/systems?{wrong}").status_code == 400


def test_a_system_tells_its_key_figures_oldest_first(script: Script, storm: System) -> None:
    newest = Capture.objects.get(system=storm)
    older = Capture.objects.create(
        system=storm,
        taken=newest.taken - timedelta(days=1),
        figures=[[key, label, unit, value + 1, better] for key, label, unit, value, better in newest.figures],
    )
    told = script.get(f"/api/systems/{storm.pk}").json()
    assert (told["name"], told["captures"], told["severity"]) == ("CLAIMS1", 2, "critical")
    assert len(told["figures"]) == len(newest.figures) > 3
    key, _, unit, value, _ = newest.figures[0]
    series = next(one for one in told["figures"] if one["key"] == key)
    assert series["unit"] == unit
    assert [point[1] for point in series["points"]] == [value + 1, value]
    latest = script.get(f"/api/systems/{storm.pk}?history=1").json()["figures"]
    assert all(len(one["points"]) == 1 for one in latest)
    rows = script.get(f"/api/systems/{storm.pk}/captures").json()
    assert [row["id"] for row in rows["items"]] == [newest.pk, older.pk]
    assert rows["items"][0]["audit"] == storm.latest_id
    assert rows["items"][0]["severity"] == "critical"
    assert rows["items"][1]["audit"] is None


def test_systems_and_captures_tell_what_the_account_sums_up_to(
    script: Script, bring: Callable[..., Upload], storm: System
) -> None:
    bring("two_nodes_slow_master")
    Audit.objects.filter(system=storm).update(processors_lost=None, waiting_tasks=2.6)
    rows = {row["name"]: row for row in script.get("/api/systems").json()["items"]}
    skye = rows["SKYE"]
    assert skye["processors_lost"] == pytest.approx(0.376, abs=0.001)
    assert skye["lost_share"] == pytest.approx(skye["processors_lost"] / 2)
    assert skye["waiting_tasks"] is None
    unmeasured = rows["CLAIMS1"]
    assert (unmeasured["processors_lost"], unmeasured["lost_share"]) == (None, None), "not measured is not zero"
    assert unmeasured["waiting_tasks"] == 2.6
    told = ("processors_lost", "lost_share", "waiting_tasks")
    (capture,) = script.get(f"/api/systems/{skye['id']}/captures").json()["items"]
    whole = script.get(f"/api/systems/{skye['id']}").json()
    assert [capture[name] for name in told] == [whole[name] for name in told] == [skye[name] for name in told]
    Audit.objects.update(processors_lost=0.0)
    assert script.get(f"/api/systems/{skye['id']}").json()["lost_share"] == 0.0


def test_a_list_of_systems_reads_no_account(script: Script, storm: System) -> None:
    with CaptureQueriesContext(connection) as queries:
        script.get("/api/systems")
        script.get(f"/api/systems/{storm.pk}/captures")
    said = str(queries.captured_queries)
    assert "processors_lost" in said
    for column in ("account", "summary", "cluster", "bar", "plan"):
        assert f'"audits_audit"."{column}"' not in said


@pytest.mark.parametrize("story", ["two_nodes_slow_master", "vlh_1_address_locks", "rdb_on_two_nodes_unpartitioned"])
def test_account_summary_and_cluster_are_as_the_api_describes_them(
    script: Script, bring: Callable[..., Upload], story: str
) -> None:
    bring(story)
    for audit in Audit.objects.all():
        told = script.get(f"/api/audits/{audit.pk}").json()
        (capture,) = told["captures"]
        assert capture["account"]
        assert capture["account"] == audit.account
        assert capture["summary"] == audit.summary
        shape = AuditRun.model_validate(told)
        assert shape.model_dump(mode="json", by_alias=True) == told
    described = description()["components"]["schemas"]
    assert {"from", "to"} <= set(described["ToDo"]["properties"])
    assert described["AuditedCapture"]["properties"]["account"]["items"]["$ref"].endswith("/Account")


def test_an_audit_is_the_contracts(script: Script, storm_audit: Audit) -> None:
    assert script.get(f"/api/audits/{storm_audit.pk}").json() == audit_json(storm_audit, states=True)
    told = audit_json(storm_audit, states=True)
    for capture in told["captures"]:
        capture["findings"] = [without_state(one) for one in capture["findings"]]
    assert told == audit_json(storm_audit)


def test_an_audit_is_made_again_by_the_one_who_asks(
    script: Script,
    storm_audit: Audit,
    people: People,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        answer = script.send("post", f"/api/audits/{storm_audit.pk}/again")
    assert answer.status_code == 202
    made = Audit.objects.exclude(pk=storm_audit.pk).get()
    assert (made.by, made.why, made.capture) == (people.owner, "asked for", storm_audit.capture)
    rows = script.get(answer.json()["location"]).json()["items"]
    assert {row["id"]: row["audit"] for row in rows} == {answer.json()["capture"]: made.pk}


@pytest.fixture
def no_broker(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A queue that does not answer: nothing listens at this socket."""
    before = app.conf.broker_url
    monkeypatch.setattr(app, "_pool", None)
    monkeypatch.setattr(app.amqp, "_producer_pool", None)
    app.conf.update(task_always_eager=False, broker_url="redis+socket:///no/such/redis.sock")
    yield
    app.conf.update(broker_url=before)


def test_what_is_asked_for_while_the_queue_is_away_is_started_by_the_next_sweep(
    script: Script,
    storm_audit: Audit,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
    no_broker: None,
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        assert script.send("post", f"/api/audits/{storm_audit.pk}/again").status_code == 202
    assert Audit.objects.count() == 1
    Capture.objects.update(audit_wanted=timezone.now() - timedelta(minutes=2))
    app.conf.task_always_eager = True
    start_waiting()
    assert Audit.objects.count() == 2
    assert Capture.objects.get().audit_wanted is None


def test_findings_are_filtered_by_system_rule_and_severity(
    script: Script, storm_audit: Audit, bring: Callable[..., Upload]
) -> None:
    bring("lock_bound_node")
    every = script.get("/api/findings?limit=200").json()
    mine = list(storm_audit.findings.order_by("number"))
    of_system = script.get(f"/api/findings?system={storm_audit.system_id}").json()
    assert [without_state(item["finding"]) for item in of_system["items"]] == [finding.data for finding in mine]
    assert every["count"] > of_system["count"] == len(mine)
    rule = mine[0].rule
    assert {item["finding"]["rule"] for item in script.get(f"/api/findings?rule={rule}").json()["items"]} == {rule}
    loud = script.get("/api/findings?severity=warning&limit=200").json()
    wanted = [item for item in every["items"] if item["finding"]["severity"] in ("warning", "critical")]
    assert loud["items"] == wanted
    assert 0 < loud["count"] < every["count"]
    assert script.get("/api/findings?limit=1&offset=2").json()["items"] == every["items"][2:3]
    assert script.get("/api/findings?system=99999999999999999999").status_code == 404


def test_findings_of_superseded_audits_are_told_on_demand(
    script: Script, storm_audit: Audit, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    before = script.get("/api/findings").json()
    with django_capture_on_commit_callbacks(execute=True):
        script.send("post", f"/api/audits/{storm_audit.pk}/again")
    now = script.get("/api/findings").json()
    assert now["count"] == before["count"]
    assert {item["audit"] for item in now["items"]} != {storm_audit.pk}
    assert script.get("/api/findings?current=false").json()["count"] == 2 * before["count"]


def test_a_limit_is_the_systems_else_the_sites_else_the_rules_own(
    storm: System, people: People, script: Script
) -> None:
    own = LIMIT["limits"][0]
    address = f"/api/systems/{storm.pk}/limits/{NAME}"
    first = script.get(address).json()
    assert (first["value"], first["set_for"], first["origin"]) == (own["value"], None, own["origin"])
    administrator = Script(people.administrator)
    site = administrator.send("put", f"/api/limits/{NAME}", value=own["value"] + 1, why="all are noisy")
    assert (site.status_code, site.json()["by"]) == (200, "adam")
    told = script.get(address).json()
    assert (told["value"], told["set_for"], told["why"]) == (own["value"] + 1, "site", "all are noisy")
    changed = script.send("put", address, value=own["value"] + 2, why="this one most").json()
    assert (changed["value"], changed["set_for"], changed["by"]) == (own["value"] + 2, "system", "olga")
    assert [one["name"] for one in script.get(f"/api/systems/{storm.pk}/limits").json()] == [NAME]
    assert [one["set_for"] for one in script.get("/api/limits").json()] == ["site"]
    assert script.client.delete(address).json()["set_for"] == "site"
    assert script.client.delete(address).status_code == 200  # twice is once
    assert administrator.client.delete(f"/api/limits/{NAME}").json()["set_for"] is None
    assert not LimitSetting.objects.exists()
    actions = JournalEntry.objects.filter(action__startswith="limit").order_by("id").values_list("who", "action")
    assert list(actions) == [
        ("adam", "limit set"),
        ("olga", "limit set"),
        ("olga", "limit taken back"),
        ("adam", "limit taken back"),
    ]


@pytest.mark.parametrize(
    "body", ['{"value": -1e9}', '{"value": NaN}', '{"value": Infinity}', '{"why": "x"}', "{", '{"value": "x"}']
)
def test_a_limit_out_of_range_is_refused(script: Script, storm: System, body: str) -> None:
    answer = script.client.put(f"/api/systems/{storm.pk}/limits/{UNBOUNDED}", body, content_type="application/json")
    assert answer.status_code == 400
    assert set(answer.json()) == {"error", "remedy"}
    assert not LimitSetting.objects.exists()


@pytest.mark.parametrize("name", ["ase/no_such_rule.x", f"{NAME}x", "x", ".", LIMIT["rule"]])
def test_a_limit_no_rule_has_is_not_here(script: Script, storm: System, name: str) -> None:
    assert script.get(f"/api/systems/{storm.pk}/limits/{name}").status_code == 404
    assert script.send("put", f"/api/systems/{storm.pk}/limits/{name}", value=1).status_code == 404


def test_the_rule_book_is_the_contracts(script: Script) -> None:
    assert script.get("/api/rules").json() == {"contract": "rules/1", "rules": rulebook()}
    assert script.get(f"/api/rules/{LIMIT['rule']}").json() == rulebook(LIMIT["rule"])[0]
    assert {one["rule"].split("/")[0] for one in script.get("/api/rules?product=ase").json()["rules"]} == {"ase"}
    assert script.get("/api/rules/ase").status_code == 404


def test_a_token_mints_none_that_can_or_lives_longer(people: People) -> None:
    until = timezone.now() + timedelta(days=3)
    _, secret = make_token(people.owner, "minter", ["tokens", "read"], until)
    client = Client(headers={"authorization": f"Bearer {secret}"})

    def mint(**body: Any) -> Any:
        return client.post("/api/tokens", {"name": "child", **body}, content_type="application/json")

    soon = (until - timedelta(days=1)).isoformat()
    assert mint(scopes=["upload"], expires=soon).status_code == 403
    assert mint(scopes=["read"]).status_code == 403
    assert mint(scopes=["read"], expires=(until + timedelta(days=1)).isoformat()).status_code == 403
    assert Token.objects.count() == 1
    made = mint(scopes=["read"], expires=soon)
    assert made.status_code == 201
    assert made["Cache-Control"] == "no-store"
    child = Client(headers={"authorization": f"Bearer {made.json()['secret']}"})
    assert child.get("/api/systems").status_code == 200
    rows = client.get("/api/tokens").json()
    assert {row["name"]: row["live"] for row in rows} == {"minter": True, "child": True}
    assert all("secret" not in row and "digest" not in row for row in rows)
    assert client.delete(f"/api/tokens/{made.json()['id']}").json()["live"] is False
    assert child.get("/api/systems").status_code == 401


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({"name": "", "scopes": ["read"]}, "needs a name"),
        ({"name": "x", "scopes": []}, "needs a scope"),
        ({"name": "x", "scopes": ["all"]}, "no scope all"),
        ({"name": "x", "scopes": ["read"], "expires": "2001-01-01T00:00:00"}, "expired"),
        ({"name": "x"}, "scopes"),
    ],
)
def test_a_token_without_sense_is_refused_with_a_remedy(
    people: People, as_user: Callable[[User], Client], body: dict[str, Any], says: str
) -> None:
    answer = as_user(people.owner).post("/api/tokens", body, content_type="application/json")
    assert answer.status_code == 400
    assert says in answer.json()["error"]
    assert answer.json()["remedy"]


def test_a_fault_of_ours_is_told_in_json_and_in_the_log(
    script: Script, storm: System, caplog: pytest.LogCaptureFixture
) -> None:
    Capture.objects.update(figures=["not a figure at all"])
    answer = script.get(f"/api/systems/{storm.pk}")
    assert answer.status_code == 500
    assert set(answer.json()) == {"error", "remedy"}
    assert any(record.exc_info for record in caplog.records)
