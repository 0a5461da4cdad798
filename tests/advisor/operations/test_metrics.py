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
from advisor.audits.services.account_bar import MOST, bar_of
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


def test_what_each_system_loses_is_told_by_the_rule_of_its_cause(scrape: Scrape, bring: Callable[..., Upload]) -> None:
    bring("two_nodes_slow_master")
    bring("rdb_on_two_nodes_unpartitioned")
    told = scrape()
    lost = {labels[1:]: value for labels, value in told.items() if labels[0] == "lockwright_system_lost_processors"}
    # labels are in the order of their names: rule, system
    assert lost == {
        ("", "ORKNEY"): pytest.approx(0.139, abs=0.001),
        ("openvms/lock_master_on_slow_node", "SKYE"): pytest.approx(0.376, abs=0.001),
        ("", "LEWIS"): pytest.approx(0.550, abs=0.001),
        ("", "BARRA"): pytest.approx(0.220, abs=0.001),
    }
    waits = {labels[1:]: value for labels, value in told.items() if labels[0] == "lockwright_system_waiting_tasks"}
    assert waits == {("LEWIS", "locks of DISK$LEDGER:[LEDGER]LEDGER.RDB on LEWIS"): pytest.approx(2.6)}


def test_nothing_lost_is_told_and_what_is_not_measured_is_missing(scrape: Scrape, storm: System) -> None:
    def told() -> dict[tuple[str, ...], float]:
        return {one: value for one, value in scrape().items() if one[0].startswith("lockwright_system_")}

    assert storm.latest is not None
    assert storm.latest.processors_lost is None, "sp_sysmon does not tell work and spinning apart"
    assert told() == {}
    work = {"parts": [["work", "work", 8.0, ""]], "waits": []}
    Audit.objects.update(processors_lost=0.0, waiting_tasks=0.0, bar=work)
    assert told() == {
        ("lockwright_system_lost_processors", "", "CLAIMS1"): 0.0,
        ("lockwright_system_waiting_tasks", "CLAIMS1", ""): 0.0,
    }


def test_hostile_names_are_labels_and_nothing_else(scrape: Scrape, storm: System) -> None:
    name = 'A"} 1\nlockwright_systems 99\n# \\'
    System.objects.update(name=name)
    what = 'locks "of" \\ \x1b[31m' + "x" * 300
    Audit.objects.update(
        waiting_tasks=1.0, bar={"parts": [["lost", what, 2.0, what]], "waits": [[what, 0.25], [what + "y", 0.75]]}
    )
    told = scrape()
    assert told["lockwright_systems",] == 1
    ((rule, system),) = [one[1:] for one in told if one[0] == "lockwright_system_lost_processors"]
    assert system.startswith('A"} 1')
    assert rule.startswith('locks "of" \\')
    assert len(rule) <= 80
    ((labels, tasks),) = [one for one in told.items() if one[0][0] == "lockwright_system_waiting_tasks"]
    assert tasks == 1.0, "what is the same after it was cut off is one series"
    assert not any("\x1b" in part or "\n" in part for part in labels)


def test_systems_of_one_name_are_told_apart(scrape: Scrape, people: People, storm: System) -> None:
    Audit.objects.update(processors_lost=1.0, bar={"parts": [["lost", "locks", 1.0, "ase/x"]]})
    other = System.objects.create(team=people.other_team, product="ase", name="CLAIMS1", key="CLAIMS1")
    other.latest = storm.latest
    other.save()
    told = {one[2]: value for one, value in scrape().items() if one[0] == "lockwright_system_lost_processors"}
    assert told == {"CLAIMS1 (ase, Claims)": 1.0, "CLAIMS1 (ase, Payroll)": 1.0}


def test_the_series_of_a_system_are_few_however_many_things_are_lost_to(scrape: Scrape, storm: System) -> None:
    lost = [
        {"to": f"a/r{n}:S", "what": "w", "amount": 0.1, "low": 0.1, "high": 0.1, "file": "f", "lines": [1, 1]}
        for n in range(100)
    ]
    common = {"span": "mean", "capacity": 20.0, "idle": 5.0, "work": 5.0, "remarks": []}
    accounts = [
        {"currency": currency, "lost": lost, "unexplained": None, "undivided": None, **common}
        for currency in ("processors", "waiting_tasks")
    ]
    Audit.objects.update(processors_lost=10.0, waiting_tasks=10.0, bar=bar_of(accounts, []))
    told = scrape()
    for name in ("lost_processors", "waiting_tasks"):
        series = [value for one, value in told.items() if one[0] == f"lockwright_system_{name}"]
        assert len(series) <= MOST + 1
        assert sum(series) == pytest.approx(10.0)


def test_systems_are_overdue_once_a_capture_was_expected(scrape: Scrape, storm: System) -> None:
    assert storm.latest is not None
    assert scrape()["lockwright_systems_overdue",] == 0
    System.objects.update(expected_hours=24)
    Capture.objects.update(taken=timezone.now() - timedelta(hours=40))
    Upload.objects.update(at=timezone.now() - timedelta(hours=23))
    assert scrape()["lockwright_systems_overdue",] == 0
    Upload.objects.update(at=timezone.now() - timedelta(hours=25))
    assert scrape()["lockwright_systems_overdue",] == 1
    assert scrape()["lockwright_systems_snoozed",] == 0
    System.objects.update(troubled=timezone.now(), trouble="run 1 of nightly: it failed\nlook at it")
    assert scrape()["lockwright_systems_not_audited",] == 1
    System.objects.update(snoozed_until=timezone.localdate())
    told = scrape()
    names = ("systems_overdue", "systems_not_audited", "systems_snoozed")
    assert [told[f"lockwright_{name}",] for name in names] == [0, 0, 1]


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
