"""A capture is expected from when something last came on, by its own clock or by ours, alike wherever it is said."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from advisor.accounts.services.tokens import make_token
from advisor.audits.models import Capture
from advisor.operations.services.metrics import REGISTRY
from advisor.schedules.services import failures
from advisor.systems.models import System
from advisor.systems.services import overview
from advisor.uploads.models import Upload
from tests.advisor.people import AsUser, People, text_of

pytestmark = pytest.mark.postgres


@pytest.mark.parametrize(
    ("taken", "brought", "late"),
    [(40, 1, False), (1, 40, False), (40, 26, True), (26, 40, True), (40, None, True), (1, None, False)],
)
def test_a_slow_clock_or_a_late_carrier_is_no_silence_anywhere(
    people: People, storm: System, as_user: AsUser, taken: int, brought: int | None, late: bool
) -> None:
    now = timezone.now()
    System.objects.update(expected_hours=24)
    Capture.objects.update(taken=now - timedelta(hours=taken), **({} if brought else {"upload": None}))
    Upload.objects.update(at=now - timedelta(hours=brought or 1))
    client = as_user(people.colleague)
    assert ("CLAIMS1" in text_of(client, "/?only=overdue")) == late
    assert overview.summary(people.owner)["overdue"] == late
    assert ("overdue</span>" in text_of(client, f"/systems/{storm.pk}/")) == late
    _, secret = make_token(people.owner, "script", ["read"], None)
    told = Client(headers={"authorization": f"Bearer {secret}"}).get("/api/systems").json()
    assert told["items"][0]["overdue"] == late, told
    assert REGISTRY.get_sample_value("lockwright_systems_overdue") == late
    assert [one.system for one in failures.not_audited(people.team)] == ([storm] if late else [])


def test_the_overview_asks_no_more_for_a_system_more(people: People, storm: System, as_user: AsUser) -> None:
    System.objects.update(expected_hours=24)
    client = as_user(people.owner)
    text_of(client, "/")
    with CaptureQueriesContext(connection) as few:
        text_of(client, "/?only=overdue")
    assert storm.latest is not None
    for number in range(5):
        System.objects.create(
            team=people.team, product="ase", name=f"S{number}", key=f"S{number}", expected_hours=1, latest=storm.latest
        )
    with CaptureQueriesContext(connection) as many:
        text_of(client, "/?only=overdue")
    assert len(many) == len(few)
