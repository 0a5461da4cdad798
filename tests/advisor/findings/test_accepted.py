"""Accepted findings are counted as accepted, with their reason in view, and start no mail until they are open again."""

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta

import pytest
import time_machine
from django.urls import reverse
from django.utils import timezone

from advisor.findings.models import TrackedFinding
from advisor.findings.services import states
from advisor.notifications.services import notify
from advisor.systems.models import System
from advisor.uploads.models import Upload
from tests.advisor.findings.claims import followed
from tests.advisor.notifications.mail.hearing import content, hearer, mails, text_of
from tests.advisor.people import AsUser, People
from tests.advisor.people import text_of as page_of
from tests.advisor.seen import words_of

pytestmark = pytest.mark.postgres
Day = Callable[..., Upload]
LATER = date(2999, 1, 31)


def accept_everything(people: People) -> None:
    states.accept(people.owner, TrackedFinding.objects.values_list("pk", flat=True), LATER, "the batch ends <then>")


def test_what_is_accepted_starts_no_mail_while_it_goes_and_comes(people: People, day: Day) -> None:
    day(11)
    hearer(people)
    accept_everything(people)
    day(12, ("52.3 %", " 2.1 %"))
    assert followed().presence == "gone"
    day(13)
    assert followed().presence == "standing"
    assert mails() == []


def test_one_that_is_open_again_is_told_once(people: People, day: Day) -> None:
    day(11)
    hearer(people)
    day(12)
    sent = len(mails())
    accept_everything(people)
    day(13, ("52.3 %", "70.1 %"))
    mail = mails()[-1]
    assert len(mails()) == sent + 1
    others = TrackedFinding.objects.filter(severity__gte=3).count() - 1
    assert f"1 critical, {others} accepted" in mail.subject + text_of(mail)
    day(14, ("52.3 %", "70.1 %"))
    notify.notify(System.objects.get().pk)
    assert len(mails()) == sent + 1


def test_one_whose_day_has_passed_is_told_with_the_next_audit(people: People, day: Day) -> None:
    day(11)
    hearer(people)
    day(12)
    sent = len(mails())
    states.accept(people.owner, [followed().pk], timezone.localdate() + timedelta(days=1), "the batch ends")
    day(13)
    assert len(mails()) == sent
    with time_machine.travel(timezone.now() + timedelta(days=2)):
        states.end_acceptances()
        day(14)
    assert len(mails()) == sent + 1


def test_a_mail_lists_it_as_accepted_with_its_reason_behind_what_is_open(people: People, day: Day) -> None:
    day(11)
    hearer(people, everything=True)
    row = followed("ase/object_descriptor_spinlock_contended")
    assert row.number == 0, "the first of the audit"
    states.accept(people.owner, [row.pk], LATER, "the batch ends <then>")
    day(12)
    mail = mails()[-1]
    text = text_of(mail)
    assert "2 critical, 1 warning, 1 accepted" in mail.subject + text
    findings = " ".join(text[text.index("FINDINGS FROM") :].split())
    assert f"Accepted: {row.title}, until 2999-01-31: the batch ends <then>" in findings
    assert findings.index("2. CRITICAL") < findings.index("Accepted: ")
    assert "1. CRITICAL" not in findings
    page = next(part.get_content() for part in content(mail).walk() if part.get_content_type() == "text/html")
    assert "the batch ends &lt;then&gt;" in page


def test_pages_count_it_as_accepted(people: People, storm: System, as_user: AsUser) -> None:
    assert storm.latest is not None
    carl = as_user(people.colleague)
    address = reverse("audit", args=[storm.latest.pk])
    assert "3 critical, 1 warning, 2 advice ·" in words_of(page_of(carl, address))
    states.accept(people.owner, [followed().pk], LATER, "the batch ends <then>")
    text = page_of(carl, address)
    assert "2 critical, 1 warning, 2 advice, 1 accepted ·" in words_of(text)
    assert "Accepted until 2999-01-31: the batch ends &lt;then&gt;" in text
    text = page_of(carl, reverse("system", args=[storm.pk]))
    assert "until 2999-01-31: the batch ends &lt;then&gt;" in text
    with time_machine.travel(datetime(2999, 2, 2, tzinfo=UTC), tick=False):
        assert states.end_acceptances() == 1
