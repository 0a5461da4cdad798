"""Recipients: who may have mail sent to whom, what is refused, and that every change is noted."""

from typing import Any

import pytest

from advisor.core.models import JournalEntry
from advisor.core.records import Refused
from advisor.notifications.models import Mail, Recipient, Told
from advisor.notifications.services import notify, recipients
from advisor.notifications.services.preferences import in_words
from advisor.systems.models import System
from advisor.systems.services.systems import rename_system
from tests.advisor.notifications.mail.hearing import audited_again, hearer, mails
from tests.advisor.operations.administering import deeds
from tests.advisor.people import People

pytestmark = pytest.mark.postgres


def test_a_recipient_is_made_with_whose_address_it_is_and_noted(people: People) -> None:
    one = hearer(people, "Mats@EXAMPLE.org", severity=4)
    assert (one.address, one.user, one.by) == ("Mats@example.org", people.mate, people.owner)
    entry = deeds().get()
    assert (entry.who, entry.action, entry.team) == ("olga", "recipient added", people.team)
    assert "Mats@example.org: all systems; reports of changes from critical on" in entry.what


def test_an_address_that_nobody_here_has_is_taken_as_it_is(people: People) -> None:
    assert hearer(people, "dba-list@example.org").user is None
    assert hearer(people, "sten@example.org").user is None  # somebody of another team


@pytest.mark.parametrize(
    "address",
    [
        "",
        "nobody",
        "a@b",
        "a@b.org\r\nBcc: c@d.org",
        "a@b.org,c@d.org",
        "<a@b.org>",
        "Olga <a@b.org>",
        "ø@b.org",
        "a b@c",
    ],
)
def test_what_is_no_address_is_refused(people: People, address: str) -> None:
    with pytest.raises(Refused):
        hearer(people, address)
    assert not Recipient.objects.exists()


def test_an_address_gets_the_mail_of_a_team_once_whatever_its_letters(people: People) -> None:
    hearer(people, "olga@example.org")
    with pytest.raises(Refused, match="already"):
        hearer(people, "OLGA@example.org")


@pytest.mark.parametrize(
    ("wishes", "why"),
    [
        ({"reports": False, "not_audited": False}, "Choose something"),
        ({"reports": False, "heartbeat": True}, "in place of a report"),
        ({"days": []}, "at least one day"),
        ({"days": [7]}, "at least one day"),
        ({"zone": "Mars/Olympus"}, "no time zone"),
        ({"severity": 0}, "does not exist"),
        ({"digest": True, "digest_hour": 24}, "does not exist"),
    ],
)
def test_wishes_that_cannot_be_are_refused(people: People, wishes: dict[str, Any], why: str) -> None:
    with pytest.raises(Refused, match=why):
        hearer(people, "a@example.org", **wishes)
    one = hearer(people)
    for name, value in wishes.items():
        setattr(one, name, value)
    with pytest.raises(Refused, match=why):
        recipients.change(one, people.owner)


def test_a_viewer_has_mail_sent_to_their_own_address_alone(people: People) -> None:
    with pytest.raises(Refused, match=r"carl@example\.org"):
        recipients.make(Recipient(team=people.team, address="other@example.org"), people.colleague)
    with pytest.raises(Refused):
        recipients.make(Recipient(team=people.other_team, address="carl@example.org"), people.colleague)
    own = recipients.make(Recipient(team=people.team, address="carl@example.org"), people.colleague)
    assert recipients.may_change(people.colleague, own)
    assert not recipients.may_change(people.colleague, hearer(people))
    assert recipients.may_change(people.mate, own)
    assert not recipients.may_change(people.stranger, own)


def test_what_is_another_team_s_cannot_be_chosen(people: People) -> None:
    theirs = System.objects.create(team=people.other_team, product="ase", name="PAY", key="PAY")
    with pytest.raises(Refused, match="no such system"):
        hearer(people, systems=[theirs])
    assert not Recipient.objects.exists()
    one = hearer(people)
    with pytest.raises(Refused):
        recipients.change(one, people.owner, systems=[], groups=[people.other_team.groups.create(name="x")])


def test_a_change_is_noted_in_words_and_none_is_not(people: People) -> None:
    one = hearer(people)
    one.severity, one.days = 4, [1, 0]
    said = recipients.change(one, people.owner)
    assert said == ["from warning to critical", "days Mon,Tue,Wed,Thu,Fri,Sat,Sun to Mon,Tue"]
    one.refresh_from_db()
    assert (one.severity, one.days) == (4, [0, 1])
    assert recipients.change(one, None) == []
    assert list(deeds().values_list("action", flat=True)) == ["recipient changed", "recipient added"]


def test_a_link_s_change_is_noted_as_such(people: People) -> None:
    one = hearer(people)
    one.severity = 2
    recipients.change(one, None)
    entry = deeds().first()
    assert entry
    assert (entry.who, entry.team) == ("lockwright", people.team)
    assert "by the link in a mail" in entry.what


def test_what_waits_for_a_recipient_who_is_stopped_or_removed_is_not_sent(people: People, storm: System) -> None:
    stopped, removed = (
        hearer(people, "a@example.org", everything=True),
        hearer(people, "b@example.org", everything=True),
    )
    audited_again(storm)
    notify.notify(storm.pk)
    assert recipients.stop(stopped, people.owner)
    assert not recipients.stop(stopped, people.owner)
    recipients.remove(removed, people.owner)
    assert {(mail.to, mail.state) for mail in mails()} == {("a@example.org", "skipped"), ("b@example.org", "skipped")}
    assert "stopped by olga" in mails(to="a@example.org")[0].error
    assert not Told.objects.filter(recipient_id=removed.pk).exists()


def test_who_was_about_a_system_that_is_forgotten_is_not_about_everything_then(people: People, storm: System) -> None:
    other = System.objects.create(team=people.team, product="ase", name="OTHER", key="OTHER")
    group = people.team.groups.create(name="few")
    group.systems.add(other)
    alone, both = (
        hearer(people, "a@example.org", systems=[other]),
        hearer(people, "b@example.org", systems=[other, storm]),
    )
    grouped = hearer(people, "c@example.org", groups=[group])
    other.delete()
    for one in (alone, both, grouped):
        one.refresh_from_db()
    assert alone.stopped
    assert alone.stopped_why == "the last it was about, OTHER, is gone"
    assert both.stopped is None
    assert grouped.stopped is None
    group.delete()
    grouped.refresh_from_db()
    assert grouped.stopped


def test_who_was_about_a_system_that_is_merged_is_about_the_one_it_became(people: People, storm: System) -> None:
    other = System.objects.create(team=people.team, product="ase", name="OTHER", key="OTHER")
    one = hearer(people, systems=[other], everything=True)
    rename_system(other, "CLAIMS1", people.owner, merge=True)
    notify.notify_due()
    one.refresh_from_db()
    assert one.stopped is None
    assert list(one.systems.all()) == [storm]
    assert not Mail.objects.exists()
    audited_again(storm)
    notify.notify_due()
    assert [mail.to for mail in mails()] == ["olga@example.org"]


def test_a_group_that_is_empty_is_no_group_of_everything(people: People, storm: System) -> None:
    hearer(people, groups=[people.team.groups.create(name="empty")], everything=True)
    audited_again(storm)
    notify.notify(storm.pk)
    notify.notify_due()
    assert not Mail.objects.exists()


def test_every_change_stands_in_the_journal_of_the_team(people: People) -> None:
    one = hearer(people)
    recipients.stop(one, people.mate)
    recipients.resume(one, people.mate)
    assert not recipients.resume(one, people.mate)
    recipients.stop(one, None)
    recipients.remove(one, people.administrator)
    found = JournalEntry.objects.filter(team=people.team).order_by("pk").values_list("who", "action")
    assert list(found) == [
        ("olga", "recipient added"),
        ("mats", "recipient stopped"),
        ("mats", "recipient resumed"),
        ("lockwright", "recipient stopped"),
        ("adam", "recipient removed"),
    ]


def test_wishes_in_words() -> None:
    assert in_words(Recipient()) == "reports of changes from warning on, with scripts; when a system is not audited"
    all_of_it = Recipient(everything=True, heartbeat=True, scripts=False, digest=True, days=[0, 4], zone="Europe/Oslo")
    assert in_words(all_of_it) == (
        "reports after every audit from warning on; nothing changed; when a system is not audited; "
        "the week on Mon at 07:00 (Europe/Oslo); on Mon, Fri (Europe/Oslo)"
    )
