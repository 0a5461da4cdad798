"""Workers note that they live; whose notes stop is dead, as far as anybody could have heard."""

import threading
from datetime import timedelta

import pytest
from django.db.models import F
from django.utils import timezone

from advisor.accounts.models import Team
from advisor.core import heartbeats, job_queue
from advisor.core.models import JournalEntry, Lease, Worker
from advisor.notifications.models import Mail
from advisor.operations import tasks
from advisor.schedules.models import Run, Schedule
from advisor.uploads.models import Upload

pytestmark = [pytest.mark.postgres, pytest.mark.django_db]

THEIRS = "another-boot:1/500.9"
CLAIM = "another-boot:1/77.5/500.9/task+0"
LONG = timedelta(seconds=36)


@pytest.fixture(autouse=True)
def ours(monkeypatch: pytest.MonkeyPatch) -> str:
    """This process stands for a worker that has reached the database for an hour."""
    monkeypatch.setattr(heartbeats, "_ours", "400.8")
    heartbeats.beat()
    name = f"{heartbeats.place()}/400.8"
    Worker.objects.update(since=F("since") - timedelta(hours=1))
    return name


@pytest.fixture
def run() -> Run:
    """Another machine's worker has it."""
    schedule = Schedule.objects.create(team=Team.objects.create(name="Claims"), name="nightly", every_minutes=60)
    run = Run.objects.create(schedule=schedule, due=timezone.now())
    assert job_queue.claim(Run.objects.all(), run.pk)
    Run.objects.update(claimant=CLAIM, claimed=F("claimed") - LONG)
    return run


def theirs(ago: timedelta) -> None:
    """They were heard of so long ago."""
    now = timezone.now()
    Worker.objects.create(name=THEIRS, host="vega", since=now - timedelta(hours=2), seen=now - ago)


def taken_back(run: Run) -> bool:
    job_queue.reset_lost(Run.objects.all())
    return Run.objects.get(pk=run.pk).state == "waiting"


def test_the_work_of_a_worker_that_notes_nothing_more_is_free(run: Run) -> None:
    theirs(LONG)
    assert taken_back(run)


def test_the_work_of_a_worker_that_was_heard_of_is_left_alone(run: Run) -> None:
    theirs(timedelta(seconds=34))
    assert not taken_back(run)


def test_who_claimed_a_moment_ago_lived_then(run: Run) -> None:
    theirs(timedelta(minutes=2))
    Run.objects.update(claimed=timezone.now())
    assert not taken_back(run)


@pytest.mark.parametrize("heard", [timedelta(minutes=2), timedelta(seconds=3)])
def test_a_claim_of_a_host_whose_clock_is_ahead_is_no_sign_of_death(run: Run, heard: timedelta) -> None:
    """Claims are noted by the clock of their host, heartbeats by that of the database."""
    theirs(heard)
    Run.objects.update(claimed=timezone.now() + timedelta(seconds=2))
    assert not taken_back(run)


def test_a_claim_from_before_the_clock_was_set_back_keeps_nobody_alive(run: Run) -> None:
    theirs(LONG)
    Run.objects.update(claimed=timezone.now() + timedelta(hours=3))
    assert taken_back(run)


def test_a_worker_that_noted_nothing_ever_has_as_long_from_its_claim(run: Run) -> None:
    assert taken_back(run)


def test_a_claim_of_the_version_before_names_no_worker_and_is_left_alone(run: Run) -> None:
    Run.objects.update(claimant="another-boot:1/77.5/task+0")
    assert not taken_back(run)


def test_nobody_is_dead_while_we_have_not_reached_the_database_for_long_enough_to_hear_of_him(
    run: Run, ours: str
) -> None:
    """The database was away for ten minutes: everybody notes again within seconds, we were first."""
    away = timedelta(minutes=10)
    theirs(away)
    Run.objects.update(claimed=F("claimed") - away)
    Worker.objects.filter(pk=ours).update(seen=F("seen") - away)
    assert not taken_back(run), "we have not noted anything yet ourselves"
    heartbeats.beat()
    assert not taken_back(run), "we have just begun to listen"
    Worker.objects.filter(pk=ours).update(since=F("since") - LONG)
    assert taken_back(run)


def test_who_is_back_first_after_a_short_outage_takes_nobody_for_dead_who_is_still_on_the_way(
    run: Run, ours: str
) -> None:
    """The database was away for 20 seconds; we are back at once, another one only after it has tried twice more."""
    theirs(LONG)
    Worker.objects.filter(pk=ours).update(seen=F("seen") - timedelta(seconds=20))
    heartbeats.beat()
    assert not taken_back(run)
    Worker.objects.filter(pk=ours).update(since=F("since") - LONG)
    assert taken_back(run)


def test_a_clock_that_was_set_back_makes_nobody_immortal_and_nobody_dead(run: Run, ours: str) -> None:
    theirs(-timedelta(hours=3))
    Worker.objects.filter(pk=ours).update(seen=F("seen") + timedelta(hours=3))
    Run.objects.update(claimed=F("claimed") - timedelta(minutes=10))
    assert not taken_back(run)
    heartbeats.beat()
    assert not taken_back(run)
    Worker.objects.filter(pk=ours).update(since=F("since") - LONG)
    assert taken_back(run)


def test_a_worker_that_goes_on_keeps_since_when_it_reaches_the_database(ours: str) -> None:
    since = Worker.objects.get(pk=ours).since
    heartbeats.beat()
    assert Worker.objects.get(pk=ours).since == since


def test_the_lease_of_a_dead_worker_is_free() -> None:
    theirs(LONG)
    then = timezone.now() - LONG
    Lease.objects.create(name="mail", claimant=CLAIM, claimed=then)
    with job_queue.leased("mail") as held:
        assert held
    Worker.objects.filter(pk=THEIRS).update(seen=timezone.now())
    Lease.objects.create(name="mail", claimant=CLAIM, claimed=then)
    with job_queue.leased("mail") as held:
        assert not held


def test_a_tick_gives_what_a_dead_worker_had_and_may_have_had_to_others_and_tells_once(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = set[tuple[str, int]]()
    for name in ("read_upload", "make_run"):
        monkeypatch.setattr(getattr(tasks, name), "delay", lambda pk, name=name: started.add((name, pk)))
    theirs(LONG)
    now = timezone.now()
    upload = Upload.objects.create(
        team=run.schedule.team, digest="1", state="reading", claimant=CLAIM, claimed=now - LONG
    )
    fresh = Upload.objects.create(team=run.schedule.team, digest="2", at=now, queued=now)
    other = Run.objects.create(schedule=run.schedule, due=now, not_before=now, queued=now)
    tasks.tick()
    assert started == {
        ("read_upload", upload.pk),
        ("read_upload", fresh.pk),
        ("make_run", run.pk),
        ("make_run", other.pk),
    }
    assert Upload.objects.get(pk=upload.pk).state == "waiting"
    (entry,) = JournalEntry.objects.filter(action="worker lost")
    assert entry.what == "vega: not heard of for 35 seconds, what it had is given to others"
    assert not Worker.objects.filter(pk=THEIRS).exists()
    started.clear()
    tasks.tick()
    assert not started
    assert JournalEntry.objects.filter(action="worker lost").count() == 1
    assert Mail.objects.count() == 0


def test_who_ended_in_order_is_not_looked_for(ours: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heartbeats, "_end", threading.Event())
    monkeypatch.setattr(heartbeats, "_thread", thread := threading.Thread(target=heartbeats._end.wait))
    thread.start()
    heartbeats.ended()
    assert not thread.is_alive()
    assert not Worker.objects.filter(pk=ours).exists()
