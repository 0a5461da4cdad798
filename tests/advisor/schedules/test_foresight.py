"""What is looked ahead for, or counted afterwards, costs little, and nothing while the database is held."""

import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest
import time_machine
from django.db import connection
from django.http import HttpResponse
from django.test import RequestFactory
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.core.views import Asked
from advisor.schedules.models import Run, Schedule
from advisor.schedules.services import due_schedules, timing
from advisor.schedules.services.blackouts import Joined, blacked_out, windows
from advisor.schedules.views import changing
from tests.advisor.people import People
from tests.advisor.schedules.scheduling import NOON, make_schedule, runs_of
from tests.servers import PATIENCE

pytestmark = pytest.mark.postgres

LINES = (
    "daily 01:00-02:30", "daily 02:30-03:10", "daily 02:10-02:12", "sat,sun 22:00-04:00", "mon-fri 00:00-24:00",
    "sun 00:00-24:00", "2026-10-25 02:20 - 2026-10-25 02:40", "2026-03-28 23:00 - 2026-03-30 01:00",
)  # fmt: skip


def _noting(asked: list[object], real: Callable[..., Any]) -> Callable[..., Any]:
    def noted(*of: Any) -> Any:
        asked.append(of)
        return real(*of)

    return noted


@settings(deadline=None, max_examples=300)
@given(
    lines=st.lists(st.sampled_from(LINES), max_size=4, unique=True),
    minutes=st.integers(0, 60 * 72),
    day=st.sampled_from([datetime(2026, 3, 28, tzinfo=UTC), datetime(2026, 10, 24, tzinfo=UTC)]),
)
def test_windows_taken_together_hold_the_times_that_one_of_them_holds(
    lines: list[str], minutes: int, day: datetime
) -> None:
    found = windows("\n".join(lines), "Europe/Oslo")
    at = day + timedelta(minutes=minutes, seconds=11)
    until = Joined(found).until(at)
    assert (until is not None) == (blacked_out(found, at) is not None)
    if until:
        assert blacked_out(found, until - timedelta(seconds=1))
        assert not blacked_out(found, until), "those that follow at once are passed over together"


def test_windows_that_leave_nothing_are_seen_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    after = timing.next_after
    monkeypatch.setattr(timing, "next_after", _noting(asked, after))
    shut = windows("mon-fri 00:00-24:00\n" * 40 + "sat,sun 00:00-24:00", "Europe/Oslo")
    assert timing.preview(timing.Times(every_minutes=1), shut, NOON) == []
    assert len(asked) == 1


def test_a_preview_gives_up_after_as_many_blackouts_as_are_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    after = timing.next_after
    monkeypatch.setattr(timing, "next_after", _noting(asked, after))
    wall = windows("mon-sat 22:00-24:00", "UTC")
    assert len(timing.preview(timing.Times(cron="0 23 * * *"), wall, NOON, 1000)) == timing.MOST_JUMPS // 6
    assert len(asked) < timing.MOST_JUMPS * 1.3


def test_what_was_missed_is_counted_before_the_database_is_held(
    people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    schedule = make_schedule(people.team, every_minutes=1, blackouts="daily 01:00-02:00")
    depth, held = len(connection.savepoint_ids), set[int]()

    def watched(real: Callable[..., Any]) -> Callable[..., Any]:
        def asked(*of: Any) -> Any:
            held.add(len(connection.savepoint_ids) - depth)
            return real(*of)

        return asked

    for name in ("dues", "next_after", "blacked_out"):
        monkeypatch.setattr(timing, name, watched(getattr(timing, name)))
    with time_machine.travel(NOON + timedelta(days=2), tick=False):
        due_schedules.claim()
    assert Run.objects.get(schedule=schedule).missed > 100
    assert held == {0}


def test_what_was_counted_of_a_schedule_that_is_changed_meanwhile_does_not_count(people: People) -> None:
    schedule = make_schedule(people.team)
    now = NOON + timedelta(seconds=3)
    planned = due_schedules._plan(due_schedules._due(now), now)
    Schedule.objects.update(blackouts="daily 11:00-13:00")
    due_schedules._claim(planned, now)
    assert runs_of(schedule) == []
    with time_machine.travel(now, tick=False):
        due_schedules.claim()
    assert runs_of(schedule) == [("skipped", "06 12:00", 0)]


def test_next_times_are_looked_ahead_for_a_few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    inside, leave = threading.Semaphore(0), threading.Event()

    def slow(_: object) -> tuple[list[datetime], str]:
        inside.release()
        leave.wait(PATIENCE)
        return [], ""

    monkeypatch.setattr(changing, "_next", slow)
    monkeypatch.setattr(changing, "page", lambda *_: HttpResponse("made"))
    request = cast(Asked, RequestFactory().get("/"))
    threads = [threading.Thread(target=changing.times, args=(request,)) for _ in range(changing.AT_A_TIME)]
    for thread in threads:
        thread.start()
    for _ in threads:
        assert inside.acquire(timeout=PATIENCE)
    assert changing.times(request).status_code == 503
    leave.set()
    for thread in threads:
        thread.join()
    assert changing.times(request).status_code == 200
