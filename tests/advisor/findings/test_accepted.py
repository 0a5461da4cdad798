"""Accepted findings are counted as accepted, with their reason in view, and start no mail until they are open again."""

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta

import pytest
import time_machine
from django.urls import reverse
from django.utils import timezone

from advisor.audits.models import Audit
from advisor.findings.models import TrackedFinding
from advisor.findings.services import states
from advisor.notifications.mail.daily import daily_message
from advisor.notifications.mail.digest import digest_message
from advisor.notifications.models import Recipient
from advisor.notifications.services import notify
from advisor.notifications.webhooks import deliveries
from advisor.systems.models import System
from advisor.uploads.models import Upload
from tests.advisor.findings.claims import first_day, followed
from tests.advisor.keeping import keeps
from tests.advisor.notifications.mail.hearing import content, hearer, mails, text_of
from tests.advisor.notifications.mail.letter_parts import parts
from tests.advisor.notifications.webhooks.receivers import hook_for
from tests.advisor.people import AsUser, People
from tests.advisor.people import text_of as page_of
from tests.advisor.seen import words_of

pytestmark = pytest.mark.postgres

shared = keeps(first_day)
Day = Callable[..., Upload]
LATER = date(2999, 1, 31)


def accept_everything(people: People) -> None:
    states.accept(people.owner, TrackedFinding.objects.values_list("pk", flat=True), LATER, "the batch ends <then>")


def test_what_is_accepted_starts_no_mail_while_it_goes_and_comes(people: People, day: Day) -> None:
    hearer(people)
    accept_everything(people)
    day(12, ("52.3 %", " 2.1 %"))
    assert followed().presence == "gone"
    day(13)
    assert followed().presence == "standing"
    assert mails() == []


def test_one_that_is_open_again_is_told_once(people: People, day: Day) -> None:
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


def test_the_overview_goes_by_the_worst_that_is_open(people: People, storm: System, as_user: AsUser) -> None:
    carl = as_user(people.colleague)
    loud = TrackedFinding.objects.filter(severity=4)
    states.accept(people.owner, loud.values_list("pk", flat=True), LATER, "the batch ends")
    text = page_of(carl, "/")
    assert "1 system: 1 warning" in words_of(text)
    assert 'href="?worst=critical"' not in text
    assert f"?system={storm.pk}&amp;state=accepted" in text
    assert "3 accepted" in words_of(text)
    for asked in ("worst", "severity"):
        assert page_of(carl, f"/?{asked}=critical").count("<tr data-row>") == 0, asked
        assert page_of(carl, f"/?{asked}=warning").count("<tr data-row>") == 1, asked
    with time_machine.travel(datetime(2999, 2, 2, tzinfo=UTC), tick=False):  # the day is over, and nothing was written
        text = page_of(as_user(people.mate), "/?worst=critical")
        assert text.count("<tr data-row>") == 1
        assert "1 system: 1 critical" in words_of(text)
        assert "accepted" not in words_of(text)


def test_a_system_with_accepted_findings_alone_is_not_in_order(people: People, storm: System, as_user: AsUser) -> None:
    many = TrackedFinding.objects.filter(system=storm).count()
    accept_everything(people)
    Audit.objects.update(unjudged=[])
    text = words_of(page_of(as_user(people.colleague), "/"))
    assert "1 system: 1 with accepted findings alone" in text
    assert "none open:" in text
    assert f"{many} accepted" in text
    assert "without a finding" not in text
    told = Recipient.objects.create(team=people.team, address="ops@example.org")
    for message in (daily_message(told, timezone.now()), digest_message(told, timezone.now())):
        said = parts(message).text
        assert "1 with accepted findings alone" in said
        assert "critical" not in said.split("SYSTEM")[0]


def test_systems_are_sorted_by_what_is_open(people: People, storm: System, as_user: AsUser) -> None:
    Audit.objects.update(processors_lost=None, capacity=None)
    other = System.objects.create(team=people.team, product="ase", name="OTHER", key="OTHER")
    assert storm.latest_id
    audit = Audit.objects.get(pk=storm.latest_id)
    audit.pk, audit.system, audit.worst = None, other, 3
    audit.save()
    System.objects.filter(pk=other.pk).update(latest=audit)

    def first() -> str:
        rows = page_of(as_user(people.colleague), "/").partition("<tr data-row>")[2]
        return "OTHER" if 0 <= rows.find("OTHER") < rows.find("CLAIMS1") else "CLAIMS1"

    assert first() == "CLAIMS1"
    loud = TrackedFinding.objects.filter(severity__gte=3)
    states.accept(people.owner, loud.values_list("pk", flat=True), LATER, "the batch ends")
    assert first() == "OTHER"


def test_the_api_gives_the_worst_that_is_open(people: People, storm: System, as_user: AsUser) -> None:
    loud = TrackedFinding.objects.filter(severity=4).values_list("pk", flat=True)
    states.accept(people.owner, loud, LATER, "the batch ends")
    olga = as_user(people.owner)
    (row,) = olga.get("/api/systems").json()["items"]
    assert row["severity"] == "warning"
    assert row["accepted"] == {"critical": 3}
    assert olga.get("/api/systems?severity=critical").json()["count"] == 0
    assert olga.get("/api/systems?severity=warning").json()["count"] == 1


def test_a_webhook_hears_of_what_is_open(people: People, storm: System) -> None:
    hook, _ = hook_for(people.team, people.owner, "http://127.0.0.1:1/", severity=4)
    every, _ = hook_for(people.team, people.owner, "http://127.0.0.1:1/", name="every", severity=0)
    loud = TrackedFinding.objects.filter(severity=4).values_list("pk", flat=True)
    states.accept(people.owner, loud, LATER, "the batch ends")
    assert storm.latest is not None
    again = Audit.objects.get(pk=storm.latest.pk)
    again.pk = None
    again.save()
    deliveries.audited(again)
    assert [one.deliveries.count() for one in (hook, every)] == [0, 1]
    states.reopen(people.owner, loud)
    deliveries.audited(again)
    assert hook.deliveries.count() == 1
