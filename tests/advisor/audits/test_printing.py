"""The PDF of an audit is made once, after the audit or when it is asked for, and goes with what it shows."""

import hashlib
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import connection  # noqa: F401 - `needs_rows` looks at it
from django.db.models import F
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from advisor.accounts.models import User
from advisor.audits.models import Audit, Finding, Printed
from advisor.audits.report import pdf, render
from advisor.audits.report.pdf import NoPdf
from advisor.audits.services import printing
from advisor.audits.services.contract import audit_json
from advisor.audits.tasks import print_pdf
from advisor.core.job_queue import leased
from advisor.core.models import Lease
from advisor.operations.services import retention
from advisor.systems.models import System
from advisor.uploads.models import Upload
from tests.advisor.notifications.mail.hearing import another_capture, audited_again
from tests.advisor.notifications.mail.test_notify_workers import together
from tests.advisor.people import AsUser, People, bring_story, make_people

MADE = list[str]
ONCE = ["rendered", "printed"]
needs_rows = pytest.mark.skipif("connection.vendor == 'sqlite'", reason="the test's SQLite is in memory, one writer")


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> MADE:
    """What was rendered and printed, by the functions that do so; PDFs are kept.

    Of a report only its digest is printed, in a hundredth of the time: `test_report_files` looks at the whole.
    """
    found: MADE = []

    def renders(*given: object, **more: object) -> str:
        found.append("rendered")
        return str(render.render(*given, **more))  # type: ignore[arg-type]

    def prints(html: str) -> bytes:
        found.append("printed")
        return pdf.pdf(f"<p>{hashlib.sha256(html.encode()).hexdigest()}")

    monkeypatch.setattr("advisor.audits.services.printing.render", renders)
    monkeypatch.setattr("advisor.audits.services.printing.pdf", prints)
    settings.PDF_MB = 200
    return found


def address_of(system: System) -> str:
    return f"/audits/{system.latest_id}/x.pdf"


def asked(audit: Audit) -> bytes:
    """The PDF as a page hands it over."""
    return printing.pdf_of(audit, audit_json(audit))


def test_asked_again_nothing_is_rendered_anew(
    people: People, storm: System, as_user: AsUser, made: MADE, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("advisor.audits.services.printing.pdf", pdf.pdf)
    address = address_of(storm)
    first = as_user(people.owner).get(address).content
    assert first.startswith(b"%PDF")
    assert len(first) > 50_000
    assert made == ["rendered"]
    monkeypatch.delattr("advisor.audits.services.printing.pdf")
    assert as_user(people.owner).get(address).content == first
    assert made == ["rendered"]


def test_it_is_there_before_somebody_asks(
    people: People, made: MADE, bring: Callable[..., Upload], as_user: AsUser
) -> None:
    bring("address_lock_storm")
    assert made == ONCE
    system = System.objects.get(name="CLAIMS1")
    assert as_user(people.owner).get(address_of(system)).content == bytes(Printed.objects.get().data)
    assert made == ONCE


def test_an_audit_made_again_has_its_own_before_somebody_asks(
    storm: System, made: MADE, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        newest = audited_again(storm)
    assert made == ONCE
    assert Printed.objects.get().audit == newest


def test_none_is_made_ahead_of_an_example_or_where_none_is_kept(
    made: MADE, bring: Callable[..., Upload], settings: Settings
) -> None:
    bring("address_lock_storm", origin="example")
    settings.PDF_MB = 0
    bring("lock_bound_node")
    assert made == []


def test_one_that_is_not_the_newest_any_more_is_not_made_ahead(storm_audit: Audit, made: MADE) -> None:
    newest = audited_again(storm_audit.system)
    print_pdf(storm_audit.pk)
    print_pdf(10**9)
    assert made == []
    print_pdf(newest.pk)
    print_pdf(newest.pk)
    assert made == ONCE


def test_what_shows_something_else_is_made_anew(people: People, storm: System, as_user: AsUser, made: MADE) -> None:
    address = address_of(storm)
    as_user(people.owner).get(address)
    System.objects.update(name="RENAMED")
    as_user(people.owner).get(address)
    assert made == ONCE * 2
    assert Printed.objects.count() == 1


def test_it_is_made_anew_when_an_earlier_capture_that_a_plot_shows_has_changed(storm_audit: Audit, made: MADE) -> None:
    newest = another_capture(storm_audit)
    first = asked(newest)
    assert asked(newest) == first
    assert made == ONCE
    earlier = Finding.objects.filter(audit=storm_audit).exclude(value=None).order_by("number")[0]
    Finding.objects.filter(pk=earlier.pk).update(value=F("value") * 0.5)
    assert asked(newest) != first
    assert made == ONCE * 2
    storm_audit.capture.delete()
    asked(newest)
    assert made == ONCE * 3


def test_another_program_makes_its_own(storm_audit: Audit, made: MADE, monkeypatch: pytest.MonkeyPatch) -> None:
    asked(storm_audit)
    monkeypatch.setattr("advisor.audits.services.printing.reports_version", lambda: "another one")
    asked(storm_audit)
    assert made == ONCE * 2


def test_while_another_process_makes_it_a_request_waits_and_hands_over_the_same(
    storm_audit: Audit, made: MADE, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = asked(storm_audit)
    kept = Printed.objects.values().get()
    Printed.objects.all().delete()
    waited = []

    def the_other_one_is_through(seconds: float) -> None:
        waited.append(seconds)
        if len(waited) == 3:
            Printed.objects.create(**kept)

    monkeypatch.setattr("time.sleep", the_other_one_is_through)
    with leased(f"pdf {storm_audit.pk}") as ours:
        assert ours
        assert asked(storm_audit) == expected
    assert len(waited) == 3
    assert made == ONCE


def test_who_has_waited_long_enough_makes_it(storm_audit: Audit, made: MADE, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(printing, "PATIENCE", 0.3)
    with leased(f"pdf {storm_audit.pk}"):
        assert asked(storm_audit).startswith(b"%PDF")
    assert made == ONCE
    assert not Lease.objects.exists()


@pytest.mark.postgres
@needs_rows
def test_two_requests_at_once_make_it_once(
    transactional_db: None, made: MADE, settings: Settings, as_user: AsUser
) -> None:
    people = make_people()
    settings.PDF_MB = 0
    bring_story("address_lock_storm", people.team, people.owner)
    settings.PDF_MB = 200
    answers: list[tuple[int, bytes]] = []

    def ask(client: Client) -> None:
        answer = client.get(address_of(System.objects.get(name="CLAIMS1")))
        answers.append((answer.status_code, answer.content))

    browsers = [as_user(user) for user in User.objects.filter(pk__in=[people.owner.pk, people.mate.pk])]
    together(*[lambda browser=browser: ask(browser) for browser in browsers])
    assert made == ONCE
    assert [status for status, _ in answers] == [200, 200]
    assert answers[0] == answers[1]


def test_the_oldest_go_where_all_are_more_than_is_kept(
    storm_audit: Audit, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    newest = another_capture(storm_audit)
    settings.PDF_MB = 1
    monkeypatch.setattr("advisor.audits.services.printing.pdf", lambda html: b"%PDF" + bytes(400_000))
    asked(storm_audit)
    asked(newest)
    assert Printed.objects.count() == 2
    monkeypatch.setattr("advisor.audits.services.printing.pdf", lambda html: b"%PDF" + bytes(700_000))
    third = another_capture(newest)
    asked(third)
    assert [kept.audit for kept in Printed.objects.all()] == [third]
    settings.PDF_MB = 0
    asked(newest)
    assert [kept.audit for kept in Printed.objects.all()] == [third]


def test_it_is_kept_from_others_and_goes_with_its_audit(
    people: People, storm: System, as_user: AsUser, made: MADE
) -> None:
    address = address_of(storm)
    as_user(people.owner).get(address)
    assert as_user(people.stranger).get(address).status_code == 404
    Audit.objects.all().delete()
    assert not Printed.objects.exists()


def test_one_that_was_made_while_its_audit_was_deleted_is_not_kept(storm_audit: Audit, made: MADE) -> None:
    data = audit_json(storm_audit)
    Audit.objects.filter(pk=storm_audit.pk).delete()
    assert printing.pdf_of(storm_audit, data).startswith(b"%PDF")
    assert not Printed.objects.exists()
    Printed.objects.create(audit_id=storm_audit.pk, made_of="x", data=b"")
    assert retention.clear_up().pdfs == 1


def test_it_goes_after_a_month(people: People, storm: System, as_user: AsUser, made: MADE) -> None:
    as_user(people.owner).get(address_of(storm))
    retention.clear_up(timezone.now() + timedelta(days=29))
    assert Printed.objects.exists()
    assert retention.clear_up(timezone.now() + timedelta(days=31)).pdfs == 1
    assert not Printed.objects.exists()


def test_without_pango_nothing_is_kept(
    people: People, storm: System, as_user: AsUser, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(html: str) -> bytes:
        raise NoPdf("PDF needs Pango")

    settings.PDF_MB = 200
    monkeypatch.setattr("advisor.audits.services.printing.pdf", none)
    assert as_user(people.owner).get(address_of(storm)).status_code == 503
    assert storm.latest_id
    print_pdf(storm.latest_id)
    assert not Printed.objects.exists()
    assert not Lease.objects.exists()
