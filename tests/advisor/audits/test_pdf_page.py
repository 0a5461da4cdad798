"""While a PDF is made its page says so, follows by itself, and hands it over when it is there."""

import pytest
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from advisor.audits.models import Audit, Capture, Printed
from advisor.audits.report.pdf import NoPdf
from advisor.audits.services import printing
from advisor.core.job_queue import leased
from tests.advisor.keeping import keeps
from tests.advisor.people import AsUser, People, text_of

shared = keeps("address_lock_storm")

PART = {"HX-Request": "true"}


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> list[str]:
    """PDFs are kept, and made of a word: which HTML they were made of is noted."""
    found: list[str] = []

    def prints(html: str) -> bytes:
        found.append(html)
        return b"%PDF of a word"

    monkeypatch.setattr("advisor.audits.services.printing.pdf", prints)
    settings.PDF_MB = 200
    return found


def test_the_page_says_that_it_is_made_and_then_hands_it_over(
    people: People,
    storm_audit: Audit,
    as_user: AsUser,
    quick: list[str],
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    olga, address = as_user(people.colleague), f"/audits/{storm_audit.pk}/pdf/"
    assert f'<a href="{address}">PDF</a>' in text_of(olga, f"/audits/{storm_audit.pk}/")
    with django_capture_on_commit_callbacks() as wanted:
        html = text_of(olga, address)
    assert "The PDF is being made." in html
    assert f'hx-get="{address}" hx-trigger="every 1s"' in html
    assert not quick, "the request makes nothing itself"
    with django_capture_on_commit_callbacks() as again:
        part = olga.get(address, headers=PART).content.decode()
    assert "The PDF is being made." in part
    assert not again, "who waits asks once"
    for task in wanted:
        task()
    assert len(quick) == 1
    part = olga.get(address, headers=PART).content.decode()
    assert "data-ready" in part
    assert "hx-get" not in part
    answer = olga.get(address, follow=True)
    assert answer.content == b"%PDF of a word"
    assert answer["Content-Disposition"].startswith("attachment")
    assert len(quick) == 1


def test_another_process_that_makes_it_is_left_alone(storm_audit: Audit, quick: list[str]) -> None:
    with leased(f"pdf {storm_audit.pk}"):
        printing.print_asked(storm_audit.pk)
    printing.print_asked(10**9)
    assert not quick
    printing.print_asked(storm_audit.pk)
    printing.print_asked(storm_audit.pk)
    assert len(quick) == Printed.objects.count() == 1


def test_where_none_are_kept_it_is_made_while_it_is_handed_over(
    people: People, storm_audit: Audit, as_user: AsUser, quick: list[str], settings: Settings
) -> None:
    settings.PDF_MB = 0
    answer = as_user(people.owner).get(f"/audits/{storm_audit.pk}/pdf/")
    assert answer.status_code == 302
    assert answer["Location"].endswith(".pdf")


def test_a_machine_that_makes_none_says_what_to_install(
    people: People, storm_audit: Audit, as_user: AsUser, quick: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing() -> None:
        raise NoPdf("PDF needs Pango")

    monkeypatch.setattr("advisor.audits.views.audit.check", missing)
    answer = as_user(people.owner).get(f"/audits/{storm_audit.pk}/pdf/")
    assert answer.status_code == 503
    assert "PDF needs Pango" in answer.content.decode()


def test_the_page_of_a_system_follows_an_audit_that_is_made_again(
    people: People, storm_audit: Audit, as_user: AsUser
) -> None:
    olga, system = as_user(people.owner), storm_audit.system_id
    follows = f'hx-get="/systems/{system}/renewing/"'
    assert follows not in text_of(olga, f"/systems/{system}/")
    Capture.objects.update(audit_wanted="2026-01-01T00:00Z")
    assert follows in text_of(olga, f"/systems/{system}/")
    assert "1 capture is being audited again." in text_of(olga, f"/systems/{system}/renewing/")
    assert as_user(people.stranger).get(f"/systems/{system}/renewing/").status_code == 404
    Capture.objects.update(audit_wanted=None)
    last = text_of(olga, f"/systems/{system}/renewing/")
    assert "Audited again." in last
    assert "hx-get" not in last
