"""Any number of workers tell each audit once, and none tells an older one after a newer."""

from collections.abc import Callable
from datetime import datetime, timedelta
from threading import Barrier, Thread

import pytest
from django.db import connection
from django.utils import timezone

from advisor.audits.models import Audit
from advisor.notifications.models import Recipient, Told
from advisor.notifications.services import notify, overdue_alerts, weekly_digest
from advisor.systems.models import System
from advisor.uploads.models import Upload
from tests.advisor.notifications.mail.hearing import audited_again, hearer, kinds, mails
from tests.advisor.people import People, bring_story, make_people
from tests.servers import PATIENCE

pytestmark = pytest.mark.postgres

WORKERS = 4
needs_rows = pytest.mark.skipif("connection.vendor == 'sqlite'", reason="the test's SQLite is in memory, one writer")


@pytest.fixture
def committed(transactional_db: None) -> tuple[People, System]:
    """People and a system that other connections see, too."""
    people = make_people()
    bring_story("address_lock_storm", people.team, people.owner)
    return people, System.objects.get(name="CLAIMS1")


def together(*works: Callable[[], None]) -> None:
    """Have each done by a thread of its own, all at the same moment."""
    ready = Barrier(len(works))
    done: list[Callable[[], None]] = []

    def run(work: Callable[[], None]) -> None:
        try:
            ready.wait(PATIENCE)
            work()
            done.append(work)
        finally:
            connection.close()

    threads = [Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert len(done) == len(works)


@needs_rows
@pytest.mark.parametrize("known", [True, False])
def test_workers_at_the_same_moment_tell_each_recipient_once(committed: tuple[People, System], known: bool) -> None:
    people, system = committed
    for name in ("a", "b", "c"):
        hearer(people, f"{name}@example.org", everything=True)
    audited_again(system)
    if not known:
        Told.objects.all().delete()
    together(*[lambda: notify.notify(system.pk)] * WORKERS, *[notify.notify_due] * WORKERS)
    assert sorted(mail.to for mail in mails()) == ["a@example.org", "b@example.org", "c@example.org"]
    assert set(Told.objects.values_list("audit", "mailed")) == {(system.latest_id, system.latest_id)}


@needs_rows
def test_the_week_and_a_lost_system_are_told_once_by_many_workers(committed: tuple[People, System]) -> None:
    people, system = committed
    hearer(people, digest=True)
    Recipient.objects.update(digest_due=system.created)
    System.objects.update(expected_hours=1)
    Upload.objects.update(at=system.created - timedelta(days=1))
    together(*[sweep_alone] * WORKERS)
    assert sorted(kinds()) == ["digest", "not_audited"]


def sweep_alone() -> None:
    """A sweep that knows of no other one, as after a lease that was lost."""
    weekly_digest.tell_weeks(timezone.now())
    overdue_alerts.tell_silent(timezone.now())


def test_a_worker_that_was_overtaken_looks_again_and_tells_the_newest(
    people: People, storm: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While it makes the letter for one audit, another worker tells of the next one."""
    hearer(people, everything=True)
    audited_again(storm)
    letter_of = notify.letter_of
    overtaken: list[Audit] = []

    def slow(recipient: Recipient, told: Told | None, latest: Audit) -> notify.Notification | None:
        if not overtaken:
            overtaken.append(latest)
            audited_again(storm)
            notify.notify(storm.pk)
        return letter_of(recipient, told, latest)

    monkeypatch.setattr(notify, "letter_of", slow)
    notify.notify(storm.pk)
    storm.refresh_from_db()
    assert overtaken[0] != storm.latest
    assert [mail.audit for mail in mails()] == [storm.latest]
    assert Told.objects.get().audit == storm.latest


def test_one_sweep_at_a_time(people: People, storm: System, monkeypatch: pytest.MonkeyPatch) -> None:
    hearer(people, everything=True)
    audited_again(storm)
    seen = []
    tell_weeks = weekly_digest.tell_weeks

    def again(now: datetime) -> None:
        seen.append(now)
        if len(seen) == 1:
            notify.notify_due()  # a second scheduler's
        tell_weeks(now)

    monkeypatch.setattr(weekly_digest, "tell_weeks", again)
    notify.notify_due()
    assert len(seen) == 1
    assert kinds() == ["report"]
