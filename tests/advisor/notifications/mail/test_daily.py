"""The day of a fleet: when it is told, to whom, and what stands on its one page."""

import re
from datetime import UTC, date, datetime, timedelta

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext

from advisor.audits.models import Audit, Capture
from advisor.findings.models import TrackedFinding
from advisor.notifications.mail.daily import MOST_ROWS, daily_message
from advisor.notifications.mail.digest import digest_message
from advisor.notifications.models import Recipient
from advisor.notifications.services import notify, recipients, subscribers
from advisor.systems.models import System
from tests.advisor.notifications.mail.hearing import hearer, kinds, mails, text_of
from tests.advisor.notifications.mail.letter_parts import parts, recipient_of
from tests.advisor.people import People

NOW = datetime(2026, 2, 16, 7, tzinfo=UTC)
"""A Monday."""
State = TrackedFinding.State


@pytest.fixture
def told(people: People) -> Recipient:
    return recipient_of(people, daily=True)


def system_of(people: People, name: str, **more: object) -> System:
    return System.objects.create(
        team=people.team, product="ase", name=name, key=name, created=NOW - timedelta(days=30), **more
    )


def audited(system: System, lost: float | None, *, hours: int = 1, worst: int = 2, capacity: float = 8.0) -> Audit:
    """An audit of the system, shown so many hours before; the newest one is its latest."""
    at = NOW - timedelta(hours=hours)
    audit = Audit.objects.create(
        capture=Capture.objects.create(system=system, taken=at),
        system=system,
        shown=at,
        worst=worst,
        headline=f"Finding of {system.name}" if worst else "",
        processors_lost=lost,
        capacity=capacity,
    )
    System.objects.filter(pk=system.pk).update(latest=audit)
    return audit


def followed(system: System, key: str, **more: object) -> None:
    values = {"first_seen": NOW - timedelta(days=9), "state_since": NOW - timedelta(days=9), "severity": 3}
    TrackedFinding.objects.create(system=system, key=key, rule="ase/a", title=key, last_seen=NOW, **{**values, **more})


def text_of_day(told: Recipient) -> str:
    return parts(daily_message(told, NOW)).text


def words_of(text: str) -> str:
    return " ".join(text.split())


def test_it_is_told_once_a_day_on_the_chosen_days_at_the_chosen_hour(people: People) -> None:
    system_of(people, "A")
    friday = datetime(2026, 2, 13, 6, tzinfo=UTC)
    with time_machine.travel(friday, tick=False) as clock:
        hearer(people, reports=False, not_audited=False, daily=True, days=[0, 1, 2, 3, 4], zone="UTC", digest_hour=7)
        notify.notify_due()
        assert not mails()
        sent: list[str] = []
        for hours in range(1, 24 * 4):
            clock.move_to(friday + timedelta(hours=hours))
            for _ in range(2):
                notify.notify_due()
            if len(mails()) > len(sent):
                sent.append(f"{friday + timedelta(hours=hours):%a %H}")
    assert kinds() == ["daily"] * 2
    assert sent == ["Fri 07", "Mon 07"]
    assert "2026-02-13 07:00 to 2026-02-16 07:00" in text_of(mails()[1]), "the weekend is in the mail of Monday"


def test_a_late_one_is_caught_up_once(people: People) -> None:
    system_of(people, "A")
    with time_machine.travel(NOW - timedelta(hours=1), tick=False) as clock:
        one = hearer(people, daily=True, zone="UTC", digest_hour=7)
        clock.move_to(NOW + timedelta(days=3, hours=2))
        for _ in range(3):
            notify.notify_due()
    one.refresh_from_db()
    assert kinds(kind="daily") == ["daily"]
    assert one.daily_due == NOW + timedelta(days=4)


def test_other_days_or_hours_plan_it_anew_and_no_wish_plans_none(people: People) -> None:
    with time_machine.travel(NOW, tick=False):
        one = hearer(people, daily=True, zone="UTC", digest_hour=9)
        assert one.daily_due == datetime(2026, 2, 16, 9, tzinfo=UTC)
        for wish, due in (
            ({"digest_hour": 6}, datetime(2026, 2, 17, 6, tzinfo=UTC)),
            ({"days": [4]}, datetime(2026, 2, 20, 6, tzinfo=UTC)),
            ({"daily": False}, None),
            ({"daily": True}, datetime(2026, 2, 20, 6, tzinfo=UTC)),
        ):
            for name, value in wish.items():
                setattr(one, name, value)
            recipients.change(one, people.owner)
            one.refresh_from_db()
            assert one.daily_due == due, wish


def test_days_that_nobody_could_choose_end_no_search(people: People) -> None:
    assert subscribers.next_daily(Recipient(days=[], digest_hour=7), NOW) == NOW + timedelta(days=1)


def test_what_the_fleet_loses_and_how_that_changed_counts_what_was_measured_alone(
    people: People, told: Recipient
) -> None:
    grew, fell, same, new, blind = (system_of(people, name) for name in ("GREW", "FELL", "SAME", "NEW", "BLIND"))
    for system, before, now in ((grew, 1.0, 2.5), (fell, 2.0, 1.75)):
        audited(system, before, hours=50)
        audited(system, now)
    audited(same, 0.5, hours=50)
    audited(new, 1.0)
    audited(blind, 0.25, hours=50)
    audited(blind, None)
    system_of(people, "NEVER")
    words = words_of(text_of_day(told))
    assert "5.75 of 32 processors lost (18 %) on 4 systems; on 2 not measured." in words
    assert "Change in this time: +1.25 processors on the 2 systems with a newer audit, measured both times." in words
    rows = {row.split()[0]: row for row in text_of_day(told).splitlines() if row.startswith(("GREW", "SAME", "BLIND"))}
    assert rows["GREW"].split() == ["GREW", "advice", "2.50", "+1.50"]
    assert rows["SAME"].split() == ["SAME", "advice", "0.50", "-"]
    assert rows["BLIND"].split() == ["BLIND", "advice", "-", "-"]


def test_two_systems_of_one_name_are_told_apart_by_their_product(people: People, told: Recipient) -> None:
    for product in ("ase", "unix"):
        one = System.objects.create(team=people.team, product=product, name="SKYE", key="SKYE")
        audited(one, 1.0)
    audited(system_of(people, "ALONE"), 1.0)
    for message in (daily_message(told, NOW), digest_message(told, NOW)):
        mail = parts(message)
        for text in (words_of(mail.text), mail.html):
            assert text.count("SKYE (SAP ASE)") == text.count("SKYE (UNIX)") == 1
            assert "ALONE (" not in text


def test_nothing_measured_is_no_zero(people: People, told: Recipient) -> None:
    audited(system_of(people, "A"), None)
    text = text_of_day(told)
    assert "Capacity lost: not measured on any system." in text
    assert "0.00" not in text


def test_counts_are_of_the_recipients_systems_and_lead_to_the_lists(people: People, told: Recipient) -> None:
    ours, other = system_of(people, "OURS"), system_of(people, "OTHER")
    told.systems.set([ours])
    followed(ours, "new", first_seen=NOW - timedelta(hours=3))
    followed(other, "new of another", first_seen=NOW - timedelta(hours=3))
    followed(ours, "accepted", state=State.ACCEPTED)
    followed(ours, "made", state=State.CHANGE_MADE)
    followed(ours, "worse", state=State.WORSE, state_since=NOW - timedelta(hours=3))
    System.objects.filter(pk=ours.pk).update(expected_hours=24)
    letter = parts(daily_message(told, NOW))
    counts = re.findall(r"^ +(\d+) ([a-z ]+)\n(?: {8}(\S+)\n)?", letter.text, re.M)
    assert [(int(count), words) for count, words, _ in counts] == [
        (1, "new findings"),
        (1, "findings worse or open again"),
        (1, "changes judged"),
        (1, "findings open"),
        (1, "findings accepted"),
        (1, "changes waiting for proof"),
        (1, "systems overdue or not audited"),
    ]
    links = [link.partition("/findings/")[2] or link.rpartition("/")[2] for _, _, link in counts]
    assert links == [
        "?changed=new",
        "?changed=worse",
        "?changed=judged",
        "?state=open",
        "?state=accepted",
        "?state=change-made",
        "?only=not_audited",
    ]
    assert all(link in letter.html for _, _, link in counts)
    assert "OTHER" not in letter.text


def test_what_is_snoozed_is_named_and_not_overdue(people: People, told: Recipient) -> None:
    system = system_of(people, "REBUILT", expected_hours=1, snoozed_until=date(2026, 2, 20), snoozed_why="rebuilt")
    audited(system, 1.0, hours=90)
    with time_machine.travel(NOW, tick=False):
        text = text_of_day(told)
    assert "Snoozed: REBUILT until 2026-02-20." in text
    assert re.search(r"^REBUILT .* snoozed until 2026-02-20$", text, re.M)
    assert " 0 systems overdue or not audited" in text


def test_five_hundred_systems_fit_on_a_page_the_worst_first(people: People, told: Recipient) -> None:
    for number in range(5):
        audited(system_of(people, f"FEW{number}"), 1.0)
    daily_message(told, NOW)  # what is made or remembered once is
    with CaptureQueriesContext(connection) as few:
        daily_message(told, NOW)
    systems = System.objects.bulk_create(
        System(team=people.team, product="ase", name=f"<b>S{n:03}" + "x" * 90, key=f"S{n}", created=NOW)
        for n in range(495)
    )
    captures = Capture.objects.bulk_create(Capture(system=one, taken=NOW) for one in systems)
    audits = Audit.objects.bulk_create(
        Audit(
            capture=one,
            system=one.system,
            shown=NOW - timedelta(hours=1),
            worst=n % 5,
            headline="words " * 40,
            processors_lost=n / 7,
            capacity=1234,
        )
        for n, one in enumerate(captures)
    )
    for system, audit in zip(systems, audits, strict=True):
        system.latest = audit
    System.objects.bulk_update(systems, ["latest"])
    with CaptureQueriesContext(connection) as many:
        letter = parts(daily_message(told, NOW))
    assert len(many) == len(few)
    lines = letter.text.splitlines()
    assert all(len(line) <= 72 for line in lines if "://" not in line)
    rows = [line for line in lines if line.startswith("<b>S")]
    assert len(rows) == MOST_ROWS
    assert {row.split()[1] for row in rows} == {"critical"}
    lost = [float(row.split()[2].replace(",", "")) for row in rows]
    assert lost == sorted(lost, reverse=True)
    assert "and 480 others: 79 critical, 99 warning, 104 advice, 99 note, 99 without a finding." in words_of(
        letter.text
    )
    assert "500 systems: 99 critical" in words_of(letter.text)
    assert "<b>S" not in letter.html
    assert letter.html.count("/systems/") == MOST_ROWS
