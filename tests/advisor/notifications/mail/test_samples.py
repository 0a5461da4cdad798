"""Test mails are few: nobody floods an address with them."""

from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from advisor.accounts.models import User
from advisor.core.records import Refused
from advisor.notifications.models import Mail, Recipient
from advisor.notifications.services import samples
from advisor.systems.models import System
from tests.advisor.notifications.mail.hearing import hearer
from tests.advisor.people import People


def ask(one: Recipient, by: User, times: int = 1, *, own: bool = False) -> None:
    for _ in range(times):
        samples.send(one, Mail.Kind.DIGEST, None, by, own=own)


def test_somebody_gets_ten_test_mails_sent_within_an_hour(people: People, storm: System) -> None:
    one, other = hearer(people), hearer(people, "list@example.org")
    ask(one, people.owner, 6)
    ask(other, people.owner, 4)
    with pytest.raises(Refused, match="You sent 10 test mails within the last hour"):
        ask(other, people.owner)
    ask(other, people.mate)
    with time_machine.travel(timezone.now() + timedelta(minutes=61)):
        ask(other, people.owner)


def test_an_address_gets_ten_test_mails_within_an_hour_whoever_asks(people: People, storm: System) -> None:
    one = hearer(people, "Olga@example.org")
    ask(one, people.owner, 5, own=True)
    ask(one, people.mate, 5)
    with pytest.raises(Refused, match=r"Olga@example\.org got 10 test mails"):
        ask(one, people.administrator)
    assert Mail.objects.filter(kind=Mail.Kind.TEST).count() == 10
    ask(one, people.administrator, own=True)
