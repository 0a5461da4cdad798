"""What a link asks for is noted once a minute: whoever has one must not fill the journal."""

from datetime import timedelta

import time_machine
from django.utils import timezone

from advisor.core.models import JournalEntry
from advisor.notifications.services import recipients
from tests.advisor.notifications.mail.hearing import hearer
from tests.advisor.people import People


def noted(action: str) -> int:
    return JournalEntry.objects.filter(action=action).count()


def test_a_link_s_changes_are_noted_once_a_minute_for_each_recipient(people: People) -> None:
    one, other = hearer(people), hearer(people, "olga@example.org.uk")
    for severity in (1, 2, 4):
        one.severity = severity
        assert recipients.change(one, None)
    assert noted("recipient changed") == 1
    other.severity = 2
    assert recipients.change(other, None)
    assert noted("recipient changed") == 2
    with time_machine.travel(timezone.now() + timedelta(seconds=61)):
        one.severity = 1
        recipients.change(one, None)
    assert noted("recipient changed") == 3


def test_to_stop_and_resume_by_a_link_over_and_over_is_noted_once_each(people: People) -> None:
    one = hearer(people)
    for _ in range(3):
        assert recipients.stop(one, None)
        assert recipients.resume(one, None)
    assert (noted("recipient stopped"), noted("recipient resumed")) == (1, 1)


def test_what_somebody_logged_in_does_and_the_service_itself_is_noted_each_time(people: People) -> None:
    one = hearer(people)
    for severity in (1, 2, 4):
        one.severity = severity
        recipients.change(one, people.owner)
    for _ in range(2):
        recipients.stop(one, None, "the last it was about, OTHER, is gone")
        recipients.resume(one, people.owner)
    assert noted("recipient changed") == 3
    assert noted("recipient stopped") == 2
    assert noted("recipient resumed") == 2
