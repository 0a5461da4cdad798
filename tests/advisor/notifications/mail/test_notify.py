"""What is told of an audit: changes, everything, or nothing; each audit once."""

from collections.abc import Callable

import pytest

from advisor.audits.models import Audit
from advisor.audits.services.limits import set_limit
from advisor.notifications.models import Mail, Recipient, Told
from advisor.notifications.services import notify
from advisor.systems.models import System
from advisor.uploads.models import Upload
from tests.advisor.keeping import keeps
from tests.advisor.notifications.mail.hearing import another_capture, audited_again, hearer, kinds, mails, text_of, was
from tests.advisor.people import People
from tests.advisor.seen import LIMIT, see

pytestmark = pytest.mark.postgres

shared = keeps("address_lock_storm")

Bring = Callable[..., Upload]


def tell(system: System) -> None:
    notify.notify(system.pk)


@pytest.mark.usefixtures("nothing_brought")
def test_the_first_audit_of_a_system_is_reported_to_who_waits_for_its_findings(people: People, bring: Bring) -> None:
    hearer(people)
    bring("address_lock_storm")
    (mail,) = mails()
    system = System.objects.get(name="CLAIMS1")
    assert (mail.kind, mail.to, mail.system, mail.audit) == ("report", "olga@example.org", system, system.latest)
    assert "CLAIMS1" in mail.subject


@pytest.mark.usefixtures("nothing_brought")
def test_a_first_audit_without_a_finding_is_no_report_but_a_heartbeat_where_one_is_wanted(
    people: People, bring: Bring
) -> None:
    hearer(people)
    hearer(people, "mats@example.org", heartbeat=True)
    bring("healthy_ledger_server")
    assert [(mail.to, mail.kind) for mail in mails()] == [("mats@example.org", "heartbeat")]


def test_a_mail_is_never_put_in_twice_for_one_audit(people: People, storm: System) -> None:
    hearer(people, everything=True)
    audited_again(storm)
    for _ in range(3):
        tell(storm)
        notify.notify_due()
    assert kinds() == ["report"]


def test_the_same_findings_again_are_told_only_to_who_wants_everything(
    people: People, storm: System, storm_audit: Audit
) -> None:
    hearer(people, "changes@example.org")
    hearer(people, "all@example.org", everything=True)
    hearer(people, "beat@example.org", heartbeat=True)
    another_capture(storm_audit)
    tell(storm)
    assert {mail.to: mail.kind for mail in mails()} == {"all@example.org": "report", "beat@example.org": "heartbeat"}


@pytest.mark.parametrize(
    ("before", "after", "level", "reported"),
    [
        (None, 4, 3, True),
        (None, 4, 4, True),
        (2, 4, 4, True),
        (4, 2, 4, True),
        (4, 4, 1, False),
        (None, 2, 3, False),
        (1, 2, 3, False),
        (2, 3, 3, True),
    ],
)
def test_a_change_counts_where_it_reaches_the_level_before_or_after(
    people: People, storm: System, storm_audit: Audit, before: int | None, after: int, level: int, reported: bool
) -> None:
    hearer(people, severity=level)
    was(storm_audit, address_lock_spinlock_contended=before)
    was(audited_again(storm), address_lock_spinlock_contended=after)
    tell(storm)
    assert kinds() == (["report"] if reported else [])


def test_what_is_gone_is_a_change(people: People, storm: System, storm_audit: Audit) -> None:
    hearer(people)
    was(audited_again(storm), address_lock_spinlock_contended=None)
    tell(storm)
    assert kinds() == ["report"]


def test_what_another_limit_finds_is_no_change_but_what_changes_under_it_is(
    people: People, storm: System, storm_audit: Audit
) -> None:
    hearer(people)
    was(storm_audit, address_lock_spinlock_contended=None)
    set_limit(LIMIT, 99.5, people.owner, system=storm)
    found = f"{LIMIT.rpartition('.')[0]}:CLAIMS1"
    assert found not in audited_again(storm).findings_digest
    tell(storm)
    assert kinds() == []
    last = audited_again(storm)
    Audit.objects.filter(pk=last.pk).update(findings_digest={**last.findings_digest, found: 4})
    tell(storm)
    assert kinds() == ["report"]


def test_what_is_worth_no_mail_moves_nothing_the_next_is_told_against_the_same_audit(
    people: People, storm: System, storm_audit: Audit
) -> None:
    hearer(people)
    was(audited_again(storm), release_before_16=1)
    tell(storm)
    assert Told.objects.get().mailed == storm_audit
    audited_again(storm)
    tell(storm)
    assert kinds() == []


def test_the_audit_that_was_mailed_is_what_the_next_is_told_against(
    people: People, storm: System, storm_audit: Audit
) -> None:
    hearer(people)
    worse = audited_again(storm)
    was(storm_audit, allpages_table_contended=None)
    tell(storm)
    assert Told.objects.get().mailed == worse
    tell(storm)
    audited_again(storm)
    tell(storm)
    assert kinds() == ["report"]


def test_where_the_audit_that_was_told_has_gone_the_capture_before_is_what_counts(
    people: People, storm: System, storm_audit: Audit
) -> None:
    hearer(people)
    earlier = see(storm, 0, storm_audit.findings_digest)
    System.objects.filter(pk=storm.pk).update(latest=storm_audit)
    Told.objects.update(audit=None, mailed=None)  # its upload was read again
    audited_again(storm)
    tell(storm)
    assert kinds() == []
    Told.objects.update(audit=None, mailed=None)
    was(earlier, address_lock_spinlock_contended=None)
    audited_again(storm)
    tell(storm)
    assert kinds() == ["report"]


def test_a_system_that_has_gone_is_no_error(people: People) -> None:
    notify.notify(4711)
    assert not Mail.objects.exists()


def test_a_report_says_that_the_system_is_audited_again_to_who_heard_that_it_was_not(
    people: People, storm: System
) -> None:
    told, not_told = hearer(people), hearer(people, "mats@example.org")
    key = f"not-audited:{told.pk}:system {storm.pk}:2026-01-05T06:00:00+00:00"
    Mail.objects.create(
        key=key, kind="not_audited", team=people.team, recipient=told, system=storm, to=told.address,
        subject="x", message_id="x", message=b"", size=0,
    )  # fmt: skip
    audited_again(storm)
    tell(storm)
    (mail,) = mails()
    assert mail.recipient == told
    assert "not been audited since 2026-01-05 06:00" in text_of(mail)
    audited_again(storm)
    tell(storm)
    assert len(mails()) == 1
    assert not mails(recipient=not_told)


def test_a_letter_that_cannot_be_made_keeps_nobody_else_from_theirs(
    people: People, storm: System, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    broken = hearer(people, "a@example.org", everything=True)
    hearer(people, "b@example.org", everything=True)
    letter_of = notify.letter_of

    def fault(recipient: Recipient, told: Told | None, latest: Audit) -> notify.Notification | None:
        if recipient == broken:
            raise ValueError("a fault of ours")
        return letter_of(recipient, told, latest)

    monkeypatch.setattr(notify, "letter_of", fault)
    audited_again(storm)
    tell(storm)
    assert [mail.to for mail in mails()] == ["b@example.org"]
    assert "could not be reported" in caplog.text
    monkeypatch.undo()
    notify.notify_due()
    assert {mail.to for mail in mails()} == {"a@example.org", "b@example.org"}


def test_an_address_no_server_can_be_given_is_said_and_nobody_tries_it_again(people: People, storm: System) -> None:
    hearer(people, "b@example.org", everything=True)
    wrong = hearer(people, "a@example.org", everything=True)
    Recipient.objects.filter(pk=wrong.pk).update(address="a b@example.org")
    latest = audited_again(storm)
    tell(storm)
    wrong.refresh_from_db()
    assert [mail.to for mail in mails()] == ["b@example.org"]
    assert "a b@example.org" in wrong.refused
    assert wrong.refused_at
    assert Told.objects.get(recipient=wrong).audit == latest
