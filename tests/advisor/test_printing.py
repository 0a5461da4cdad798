"""The PDF of an audit is made once: asked for again it is handed over as it is, and goes with what it shows."""

from datetime import timedelta

import pytest
from django.utils import timezone

from advisor.models import Audit, Printed, System
from advisor.report import pdf, render
from advisor.report.pdf import NoPdf
from advisor.services import retention
from tests.advisor.people import AsUser, People

MADE = list[str]


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> MADE:
    """What was rendered and printed, by the functions that do so."""
    found: MADE = []

    def renders(*given: object, **more: object) -> str:
        found.append("rendered")
        return str(render.render(*given, **more))  # type: ignore[arg-type]

    def prints(html: str) -> bytes:
        found.append("printed")
        return pdf.pdf(html)

    monkeypatch.setattr("advisor.web.audit.render", renders)
    monkeypatch.setattr("advisor.services.printing.pdf", prints)
    return found


def test_asked_again_nothing_is_rendered_anew(people: People, storm: System, as_user: AsUser, made: MADE) -> None:
    address = f"/audits/{storm.latest_id}/x.pdf"
    first = as_user(people.owner).get(address).content
    assert first.startswith(b"%PDF")
    assert made == ["rendered", "printed"]
    assert as_user(people.owner).get(address).content == first
    assert made == ["rendered", "printed"]


def test_what_shows_something_else_is_made_anew(people: People, storm: System, as_user: AsUser, made: MADE) -> None:
    address = f"/audits/{storm.latest_id}/x.pdf"
    as_user(people.owner).get(address)
    System.objects.update(name="RENAMED")
    as_user(people.owner).get(address)
    assert made == ["rendered", "printed"] * 2
    assert Printed.objects.count() == 1


def test_it_is_kept_from_others_and_goes_with_its_audit(people: People, storm: System, as_user: AsUser) -> None:
    address = f"/audits/{storm.latest_id}/x.pdf"
    as_user(people.owner).get(address)
    assert as_user(people.stranger).get(address).status_code == 404
    Audit.objects.all().delete()
    assert not Printed.objects.exists()


def test_it_goes_after_a_month(people: People, storm: System, as_user: AsUser) -> None:
    as_user(people.owner).get(f"/audits/{storm.latest_id}/x.pdf")
    retention.clear_up(timezone.now() + timedelta(days=29))
    assert Printed.objects.exists()
    assert retention.clear_up(timezone.now() + timedelta(days=31)).pdfs == 1
    assert not Printed.objects.exists()


def test_without_pango_nothing_is_kept(
    people: People, storm: System, as_user: AsUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(html: str) -> bytes:
        raise NoPdf("PDF needs Pango")

    monkeypatch.setattr("advisor.services.printing.pdf", none)
    assert as_user(people.owner).get(f"/audits/{storm.latest_id}/x.pdf").status_code == 503
    assert not Printed.objects.exists()
