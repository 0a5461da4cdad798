"""What a monitoring system is told."""

import threading
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import connection, connections
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families
from pytest_django import DjangoDbBlocker, Settings

from advisor.accounts.models import User
from advisor.accounts.services.tokens import make_token
from advisor.audits.models import Audit, Capture
from advisor.core.models import Site
from advisor.core.version import VERSION, rules_version
from advisor.notifications.models import Delivery, Mail
from advisor.operations import tasks
from advisor.operations.services.metrics import REGISTRY, database_bytes
from advisor.operations.views.metrics import healthz
from advisor.schedules.models import Run, Schedule
from advisor.systems.models import System
from advisor.uploads.models import Upload
from tests.advisor.notifications.webhooks.receivers import delivery, hook_for
from tests.advisor.people import People, bring_story

pytestmark = pytest.mark.postgres

Scrape = Callable[[], dict[tuple[str, ...], float]]


@pytest.fixture
def scrape(people: People, as_user: Callable[[User], Client]) -> Scrape:
    """Every sample by its name and its labels' values, in order of the labels."""
    client = as_user(people.administrator)

    def now() -> dict[tuple[str, ...], float]:
        text = client.get("/metrics").content.decode()
        samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
        return {(s.name, *(s.labels[label] for label in sorted(s.labels))): s.value for s in samples}

    return now


def test_an_empty_site_tells_zeros(scrape: Scrape) -> None:
    told = scrape()
    assert told["lockwright_build_info", rules_version(), VERSION] == 1
    for name in ("systems", "captures", "audits", "systems_overdue", "verdicts_broken"):
        assert told[f"lockwright_{name}",] == 0
    assert told["lockwright_oldest_waiting_upload_seconds",] == 0
    assert told["lockwright_findings", "critical"] == 0
    assert told["lockwright_uploads", "waiting"] == 0


def test_the_figures_are_those_of_the_newest_audits(
    scrape: Scrape, storm: System, bring: Callable[..., Upload]
) -> None:
    bring("healthy_ledger_server")
    for old in Audit.objects.filter(pk__in=System.objects.values("latest")):
        old.pk = None
        old.counts = {"critical": 100, "broken": 100}
        old.save()
    told = scrape()
    latest = [system.latest for system in System.objects.all() if system.latest]
    assert told["lockwright_systems",] == 2
    assert told["lockwright_captures",] == Capture.objects.count() == 2
    assert told["lockwright_audits",] == 4
    for word in ("critical", "warning", "advice", "note"):
        found = [f for audit in latest for f in audit.findings.all() if f.data["severity"] == word]
        assert told["lockwright_findings", word] == len(found)
    assert told["lockwright_findings", "critical"] > 0
    assert told["lockwright_verdicts_broken",] == 0
    assert told["lockwright_uploads", "done"] == 2
    Audit.objects.filter(system=storm).update(counts={"broken": 2})
    assert scrape()["lockwright_verdicts_broken",] == 2


def test_a_scrape_looks_at_no_finding_and_asks_the_same_of_any_number(
    scrape: Scrape, storm: System, bring: Callable[..., Upload]
) -> None:
    scrape()
    with CaptureQueriesContext(
        connection,
    ) as few:
        scrape()
    bring("healthy_ledger_server")
    bring("lock_bound_node")
    with CaptureQueriesContext(connection) as many:
        scrape()
    assert len(many) == len(few)
    assert "systems_system" in str(many.captured_queries)
    assert "audits_finding" not in str(many.captured_queries)
    assert "verdicts" not in str(many.captured_queries)


def test_systems_are_overdue_once_a_capture_was_expected(scrape: Scrape, storm: System) -> None:
    assert storm.latest is not None
    assert scrape()["lockwright_systems_overdue",] == 0
    System.objects.update(expected_hours=24)
    Capture.objects.update(taken=timezone.now() - timedelta(hours=40))
    Upload.objects.update(at=timezone.now() - timedelta(hours=23))
    assert scrape()["lockwright_systems_overdue",] == 0
    Upload.objects.update(at=timezone.now() - timedelta(hours=25))
    assert scrape()["lockwright_systems_overdue",] == 1


def test_the_oldest_waiting_upload_tells_its_age_until_it_is_read(scrape: Scrape, people: People) -> None:
    upload = bring_story("address_lock_storm", people.team, people.owner)
    Upload.objects.update(at=timezone.now() - timedelta(seconds=300))
    told = scrape()
    assert 300 <= told["lockwright_oldest_waiting_upload_seconds",] < 330
    assert told["lockwright_uploads", "waiting"] == 1
    Upload.objects.filter(pk=upload.pk).update(state=Upload.State.DONE)
    assert scrape()["lockwright_oldest_waiting_upload_seconds",] == 0


def test_what_waits_by_itself_tells_its_number_and_its_age(scrape: Scrape, people: People) -> None:
    told = scrape()
    for many, one in (("runs", "run"), ("mails", "mail"), ("deliveries", "delivery")):
        assert told[f"lockwright_{many}", "waiting"] == told[f"lockwright_oldest_waiting_{one}_seconds",] == 0
    ago = timezone.now() - timedelta(seconds=300)
    schedule = Schedule.objects.create(team=people.team, name="hourly", every_minutes=60)
    Run.objects.create(schedule=schedule, due=ago, created=ago, not_before=timezone.now() + timedelta(hours=1))
    Mail.objects.create(key="a", message_id="<a@x>", message=b"", size=0, created=ago)
    Mail.objects.create(key="b", message_id="<b@x>", message=b"", size=0, state="failed")
    hook, _ = hook_for(people.team, people.owner, "http://127.0.0.1:1/")
    delivery(hook)
    Delivery.objects.update(created=ago)
    told = scrape()
    for many, one in (("runs", "run"), ("mails", "mail"), ("deliveries", "delivery")):
        assert told[f"lockwright_{many}", "waiting"] == 1
        assert 300 <= told[f"lockwright_oldest_waiting_{one}_seconds",] < 330
    assert told["lockwright_mails", "failed"] == 1
    hook.paused = ago
    hook.save()
    told = scrape()
    assert told["lockwright_deliveries", "waiting"] == 1
    assert told["lockwright_oldest_waiting_delivery_seconds",] == 0, "it is to wait"


def test_trouble_a_clock_that_stands_still_and_a_mail_server_that_is_away_are_told(
    scrape: Scrape, people: People, storm: System
) -> None:
    told = scrape()
    assert told["lockwright_systems_not_audited",] == told["lockwright_schedules_in_trouble",] == 0
    assert told["lockwright_mail_server_down",] == 0
    assert ("lockwright_last_tick_seconds",) not in told
    tasks.tick()
    tasks.tick()
    assert scrape()["lockwright_last_tick_seconds",] < 30
    now = timezone.now()
    System.objects.update(troubled=now)
    Schedule.objects.create(team=people.team, name="hourly", every_minutes=60, troubled=now)
    Site.objects.update_or_create(pk=1, defaults={"mail_down_since": now})
    told = scrape()
    assert told["lockwright_systems_not_audited",] == told["lockwright_schedules_in_trouble",] == 1
    assert told["lockwright_mail_server_down",] == 1


def test_the_size_of_the_database_is_told(scrape: Scrape) -> None:
    size = database_bytes()
    assert size is not None
    assert size > 10_000
    assert scrape()["lockwright_database_bytes",] >= size


def test_requests_are_timed_by_the_name_of_their_page(settings: Settings, scrape: Scrape) -> None:
    middleware = "advisor.operations.views.metrics.Measured"
    settings.MIDDLEWARE = [middleware, *(one for one in settings.MIDDLEWARE if one != middleware)]

    def counted(view: str, status: str) -> float:
        return REGISTRY.get_sample_value("lockwright_http_request_seconds_count", {"view": view, "status": status}) or 0

    before = counted("healthz", "200"), counted("api:systems", "401"), counted("none", "404")
    client = Client()
    client.get("/healthz")
    client.get("/api/systems")
    client.get("/no-such-page-1")
    client.get("/no-such-page-2")
    after = counted("healthz", "200"), counted("api:systems", "401"), counted("none", "404")
    assert [b - a for a, b in zip(before, after, strict=True)] == [1, 1, 2]
    assert scrape()["lockwright_http_request_seconds_count", "200", "healthz"] == after[0]


def test_a_token_for_the_figures_is_enough(people: People) -> None:
    _, secret = make_token(people.administrator, "prometheus", ["metrics"], None)
    answer = Client().get("/metrics", headers={"authorization": f"Bearer {secret}"})
    assert answer.status_code == 200
    assert answer["Content-Type"].startswith("text/plain; version=")
    assert Client().post("/metrics").status_code == 405


def test_anybody_may_ask_for_the_sign_of_life(db: None) -> None:
    answer = Client().get("/healthz")
    assert (answer.status_code, answer.content) == (200, b"ok\n")


def test_the_sign_of_life_is_missed_while_the_database_is_away(django_db_blocker: DjangoDbBlocker) -> None:
    told = []

    def ask() -> None:  # a thread has a connection of its own: this one leads nowhere
        mine = connections["default"]
        mine.settings_dict = {**mine.settings_dict, "NAME": "/no/such/folder/x", "HOST": "127.0.0.1", "PORT": "1"}
        with django_db_blocker.unblock():
            told.append(healthz(RequestFactory().get("/healthz")).status_code)

    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()
    assert told == [503]
