"""Findings as work for scripts: their states beside the audits, and what changes them."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client
from django.utils import timezone

from advisor.accounts.models import User
from advisor.accounts.services.tokens import make_token
from advisor.audits.services.contract import audit_json
from advisor.findings.models import TrackedFinding
from advisor.findings.services import states
from advisor.operations.services.metrics import REGISTRY
from advisor.systems.models import System
from tests.advisor.findings.claims import ADDRESS, followed
from tests.advisor.keeping import keeps
from tests.advisor.people import People

pytestmark = pytest.mark.postgres

shared = keeps("address_lock_storm")
Script = Callable[..., Any]
TOMORROW = timezone.localdate() + timedelta(days=1)


@pytest.fixture
def script(people: People) -> Script:
    """A script of the owner's, with a token for findings."""
    client = Client(headers={"authorization": f"Bearer {make_token(people.owner, 'x', ['read', 'findings'], None)[1]}"})

    def send(address: str, **body: Any) -> Any:
        if not body:
            return client.get(address)
        return client.post(address, body, content_type="application/json")

    return send


def finding_of(told: Any) -> Any:
    return next(one for one in told["captures"][0]["findings"] if one["rule"] == ADDRESS)


def test_findings_of_an_audit_carry_the_state_that_people_gave_them(
    people: People, storm: System, script: Script
) -> None:
    assert storm.latest is not None
    row = followed()
    states.accept(people.owner, [row.pk], TOMORROW, "the batch ends", 0.5)
    states.assign(people.owner, [row.pk], people.mate)
    expected = {
        "state": "accepted",
        "state_until": TOMORROW.isoformat(),
        "state_why": "the batch ends",
        "owner": "mats",
        "back_if": 0.5,
        "followed": row.pk,
    }
    for told in (
        finding_of(script(f"/api/audits/{storm.latest.pk}").json()),
        finding_of(script(f"/api/uploads/{storm.latest.capture.upload_id}/audit").json()),
        script(f"/api/findings?rule={ADDRESS}").json()["items"][0]["finding"],
    ):
        assert {name: told[name] for name in expected} == expected
    assert "state" not in finding_of(audit_json(storm.latest)), "of the service's API alone"


def test_a_script_accepts_plans_makes_and_opens(people: People, storm: System, script: Script) -> None:
    row = followed()
    address = f"/api/findings/{row.pk}/state"
    told = script(address, state="accepted", until=TOMORROW.isoformat(), why="the batch ends").json()
    assert (told["state"], told["state_until"], told["back_if"]) == ("accepted", TOMORROW.isoformat(), 0.25)
    assert told["events"][0]["who"] == "olga"
    for state in ("planned", "change-made", "open"):
        assert script(address, state=state, why="CHG-4471").json()["state"] == state == followed().state
    whole = script(f"/api/findings/{row.pk}").json()
    assert (whole["key"], whole["value"], whole["seen"], whole["severity"]) == (row.key, 52.3, 1, "critical")
    assert [one["kind"] for one in whole["events"]].count("state") == 4


@pytest.mark.parametrize(
    ("what", "body", "said"),
    [
        ("state", {"state": "accepted", "why": "x"}, "a day in the future"),
        ("state", {"state": "accepted", "until": "2020-01-01", "why": "x"}, "a day in the future"),
        ("state", {"state": "accepted", "until": TOMORROW.isoformat()}, "Say why"),
        ("state", {"state": "accepted", "until": TOMORROW.isoformat(), "why": "x", "back_if": 11}, "back_if"),
        ("state", {"state": "proven"}, "state"),
        ("owner", {"owner": "sten"}, "Nobody of that name may work"),
        ("owner", {"owner": "carl"}, "Nobody of that name may work"),
        ("comments", {"text": " \n"}, "Write something"),
        ("comments", {"text": "x" * 2001}, "text"),
    ],
)
def test_what_cannot_be_is_refused_with_its_reason(
    storm: System, script: Script, what: str, body: dict[str, Any], said: str
) -> None:
    answer = script(f"/api/findings/{followed().pk}/{what}", **body)
    assert answer.status_code == 400
    assert said in answer.content.decode()
    assert (followed().state, followed().events.count()) == ("open", 1)


def test_a_script_assigns_and_comments(people: People, storm: System, script: Script) -> None:
    address = f"/api/findings/{followed().pk}"
    assert script(f"{address}/owner", owner="mats").json()["owner"] == "mats"
    assert script(f"{address}/owner", owner=None).json()["owner"] is None
    assert script(f"{address}/comments", text="asked for").json()["events"][0]["text"] == "asked for"


def test_states_are_counted_for_the_monitoring(people: People, storm: System) -> None:
    def count(state: str) -> float | None:
        return REGISTRY.get_sample_value("lockwright_findings_by_state", {"state": state})

    everything = TrackedFinding.objects.count()
    states.accept(people.owner, [followed().pk], TOMORROW, "the batch ends")
    assert (count("open"), count("accepted"), count("proven")) == (everything - 1, 1, 0)
    with time_machine.travel(timezone.now() + timedelta(days=3)):  # before any sweep
        assert (count("open"), count("accepted")) == (everything, 0)
    TrackedFinding.objects.filter(rule=ADDRESS).update(state="open", presence="gone")
    assert (count("open"), count("accepted")) == (everything - 1, 0)


def test_another_team_is_not_there(people: People, storm: System, as_user: Callable[[User], Client]) -> None:
    for user, status in ((people.stranger, 404), (people.colleague, 200)):
        assert as_user(user).get(f"/api/findings/{followed().pk}").status_code == status
