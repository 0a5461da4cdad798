"""Lock-outs: who is locked out is seen and let back in, and a lock ends by itself."""

from datetime import timedelta

import pytest
from axes.models import AccessAttempt
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from advisor.accounts.services import lock_outs
from advisor.core.models import JournalEntry
from tests.advisor.operations.administering import log_in, logged_in
from tests.advisor.people import PASSWORD, AsUser, People

pytestmark = pytest.mark.postgres


def test_who_is_locked_out_is_seen_and_let_in_whatever_case_was_typed(people: People, as_user: AsUser) -> None:
    for _ in range(5):
        log_in("OLGA", "wrong")
    log_in("sten", "wrong")
    client = as_user(people.administrator)
    text = client.get(reverse("administration")).content.decode()
    assert text.count("locked out until") == 1
    assert 'aria-label="Unlock olga"' in text
    assert not logged_in(log_in("OLGA", PASSWORD))
    assert client.post(reverse("administration-user-unlock", args=[people.owner.pk])).status_code == 302
    assert "locked out until" not in client.get(reverse("administration")).content.decode()
    assert AccessAttempt.objects.filter(username="sten").exists()
    assert logged_in(log_in("OLGA", PASSWORD))
    assert JournalEntry.objects.filter(action="unlocked", who="adam", what="olga").count() == 1


def test_a_lock_ends_when_the_failures_left_in_the_cooling_time_are_too_few(people: People, settings: Settings) -> None:
    settings.AXES_COOLOFF_TIME, settings.AXES_FAILURE_LIMIT = 0.25, 5
    now = timezone.now()

    def failed(minutes: float, count: int, address: str, agent: str, name: str = "olga") -> None:
        attempt = AccessAttempt.objects.create(
            username=name, ip_address=address, user_agent=agent, failures_since_start=count
        )
        AccessAttempt.objects.filter(pk=attempt.pk).update(attempt_time=now - timedelta(minutes=minutes))

    failed(4, 2, "10.0.0.1", "b")
    failed(2, 3, "10.0.0.2", "a")
    failed(16, 9, "10.0.0.1", "a", "carl")
    assert lock_outs.locked_out() == {}, "two here and three there lock neither; what is long ago locks nobody"
    failed(10, 3, "10.0.0.1", "a")
    assert lock_outs.locked_out() == {"olga": now + timedelta(minutes=5)}
    failed(14, 9, "10.0.0.3", "a")
    assert lock_outs.locked_out() == {"olga": now + timedelta(minutes=5)}
    failed(16, 9, "10.0.0.4", "a")
    assert lock_outs.locked_out() == {"olga": now + timedelta(minutes=5)}
