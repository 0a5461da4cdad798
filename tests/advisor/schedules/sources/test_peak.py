"""The busiest hour that the history shows: from enough captures over enough hours, else an interval and why."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client

from advisor.accounts.services.tokens import make_token
from advisor.audits.models import Capture
from advisor.core.models import JournalEntry
from advisor.core.records import Refused
from advisor.schedules.models import Schedule
from advisor.schedules.services import peak, schedules
from advisor.schedules.services.peak import busiest
from advisor.schedules.services.schedules import ScheduleSpec
from advisor.systems.models import System
from tests.advisor.people import AsUser, People, text_of
from tests.advisor.schedules.scheduling import NOON, make_system
from tests.advisor.schedules.sources.asked import make_source

pytestmark = pytest.mark.postgres

MONDAY = datetime(2026, 5, 4, tzinfo=UTC)
Row = tuple[int, datetime, float, list[list[Any]]]


def row(at: datetime, load: float, system: int = 1, key: str = "ase.xacts", seconds: float = 600) -> Row:
    return system, at, seconds, [[key, "", "/s", load, "high"], ["ase.other", "", "", 1e9, None]]


def days(hours: Iterable[int], load: dict[int, float], count: int = 3) -> list[Row]:
    """A capture at half past each hour of some days: 10 a second, or what `load` says."""
    return [
        row(MONDAY + timedelta(days=day, hours=hour, minutes=30), load.get(hour, 10.0))
        for day in range(count)
        for hour in hours
    ]


def test_the_hour_with_the_highest_usual_load_is_the_busiest() -> None:
    rows = days(range(24), {14: 50.0, 9: 40.0})
    rows[3] = row(MONDAY + timedelta(hours=3, minutes=30), 10_000.0)  # one single night
    found = busiest(rows, "day", "UTC")
    assert (found.hour, found.weekday, found.captures, found.hours, found.counted) == (14, None, 72, 24, 24)
    assert (found.cron, found.measure) == ("15 14 * * *", "committed transactions per second")


def test_the_hour_is_that_of_the_zone_and_of_the_middle_of_the_capture() -> None:
    rows = days(range(24), {14: 50.0})
    assert busiest(rows, "day", "Europe/Oslo").hour == 16
    late = [row(at + timedelta(minutes=32), load) for _, at, _, ((_, _, _, load, _), _) in rows]
    assert busiest(late, "day", "UTC").hour == 14, "it ends at two minutes past three, its middle lies before"


def test_a_busy_system_does_not_drown_another_one() -> None:
    quiet = [row(MONDAY + timedelta(days=d, hours=h), 1.0 + 9 * (h == 5), 2) for d in range(3) for h in range(24)]
    loud = [row(MONDAY + timedelta(days=d, hours=h), 900.0 + h, 1) for d in range(3) for h in range(24)]
    assert busiest([*quiet, *loud], "day", "UTC").hour == 4, "its middle lies five minutes before five"


def test_a_node_is_busy_by_its_lock_operations() -> None:
    rows = [
        row(at, load, key="openvms.lock_operations") for _, at, _, ((_, _, _, load, _), _) in days(range(24), {7: 99.0})
    ]
    found = busiest(rows, "day", "UTC")
    assert (found.hour, found.measure) == (7, "lock operations per second")


def test_the_measure_that_most_captures_have_counts() -> None:
    rows = [row(at, load, key="ase.lock_requests") for _, at, _, ((_, _, _, load, _), _) in days(range(24), {7: 99.0})]
    rows += days(range(2), {1: 50.0})
    found = busiest(rows, "day", "UTC")
    assert (found.hour, found.measure) == (7, "lock requests per second")


@pytest.mark.parametrize(
    ("rows", "captures", "hours", "counted"),
    [
        ([], 0, 0, 0),
        (days(range(24), {}, 1)[:23], 23, 23, 0),
        (days(range(7), {}, 10), 70, 7, 7),
        (days(range(24), {}, 1), 24, 24, 0),
    ],
    ids=["none", "too few", "too close together", "each hour once"],
)
def test_too_little_history_says_nothing(rows: list[Row], captures: int, hours: int, counted: int) -> None:
    found = busiest(rows, "day", "UTC")
    assert (found.hour, found.cron) == (None, "")
    assert (found.captures, found.hours, found.counted) == (captures, hours, counted)
    assert found.why == "it takes 24 captures, and 8 hours of the day with 2 of them or more"


def test_captures_over_a_whole_day_and_without_a_length_tell_no_hour() -> None:
    rows = days(range(24), {})
    long = [(system, at, 86_400.0, figures) for system, at, _, figures in rows]
    without = [(system, at, None, figures) for system, at, _, figures in rows]
    assert busiest([*long, *without], "day", "UTC").captures == 0


def test_the_busiest_hour_of_the_week_is_one_of_168() -> None:
    rows = [
        row(MONDAY + timedelta(days=day, hours=hour, minutes=30), 90.0 if (day % 7, hour) == (4, 17) else 10.0)
        for day in range(14)
        for hour in range(24)
    ]
    found = busiest(rows, "week", "UTC")
    assert (found.hour, found.weekday, found.cron, found.counted) == (17, 4, "15 17 * * fri", 168)


def remember(system: System, rows: list[Row], now: datetime) -> None:
    """Keep rows as captures, the newest a day before `now`."""
    shift = now - timedelta(days=1) - max(at for _, at, _, _ in rows)
    whole = timedelta(days=round(shift / timedelta(days=1)))
    Capture.objects.bulk_create(
        Capture(system=system, taken=at + whole, seconds=seconds, figures=figures) for _, at, seconds, figures in rows
    )


def wish(system: System, **more: object) -> ScheduleSpec:
    values = {"name": "peak", "source": "collector", "system": system, "collector": "ase", "every_minutes": 120}
    return ScheduleSpec(**{**values, "peak": "day", **more})  # type: ignore[arg-type]


@pytest.fixture
def asked(people: People, system: System, noon: time_machine.Traveller) -> System:
    make_source(system, people.owner)
    return system


def test_a_schedule_goes_by_the_hour_the_history_shows_and_says_from_what(
    people: People, asked: System, as_user: AsUser
) -> None:
    remember(asked, days(range(8, 20), {14: 50.0}), NOON)
    made = schedules.make(people.team, wish(asked), people.owner)
    assert (made.cron, made.every_minutes, made.peak_otherwise) == ("15 14 * * *", None, 120)
    assert f"{made.next_due:%d %H:%M}" == "06 14:15"
    page = text_of(as_user(people.owner), f"/schedules/{made.pk}/")
    assert (
        "The busiest hour of the day is 14:00 to 15:00 (UTC) by committed transactions per second: 36 captures of the "
        "last 8 weeks, in 12 of the 24 hours of the day; of the other 12 hours the history says too little."
    ) in page
    assert JournalEntry.objects.get(action="schedule made").what.endswith("(the busiest hour of the day)")


def test_a_schedule_without_a_history_goes_by_its_interval_and_says_why(
    people: People, asked: System, as_user: AsUser
) -> None:
    made = schedules.make(people.team, wish(asked), people.owner)
    assert (made.cron, made.every_minutes) == ("", 120)
    page = text_of(as_user(people.owner), f"/schedules/{made.pk}/")
    assert "The busiest hour of the day is not known: no capture of the last 8 weeks says how busy it was" in page
    assert "Until then every 2 hours." in page


def test_the_history_is_looked_at_anew_each_day(people: People, asked: System, noon: time_machine.Traveller) -> None:
    made = schedules.make(people.team, wish(asked), people.owner)
    remember(asked, days(range(24), {9: 50.0}), NOON)
    assert peak.refresh() == 0, "it was looked at just now"
    noon.shift(timedelta(days=1, minutes=1))
    assert peak.refresh() == 1
    made.refresh_from_db()
    assert (made.cron, made.every_minutes) == ("15 9 * * *", None)
    assert f"{made.next_due:%d %H:%M}" == "08 09:15"
    assert "09:00 to 10:00" in JournalEntry.objects.get(action="peak hour moved").what
    assert peak.refresh() == 0
    Capture.objects.all().delete()
    noon.shift(timedelta(days=2))
    assert peak.refresh() == 1
    made.refresh_from_db()
    assert (made.cron, made.every_minutes) == ("", 120)


def test_old_captures_and_those_of_other_systems_do_not_count(people: People, asked: System) -> None:
    remember(asked, days(range(24), {}), NOON - timedelta(weeks=9))
    remember(make_system(people.team, "OTHER"), days(range(24), {}), NOON)
    assert peak.look([asked.pk], "day", "UTC", NOON).captures == 0


def test_a_peak_hour_in_a_blackout_is_not_gone_by(people: People, asked: System) -> None:
    remember(asked, days(range(24), {14: 50.0}), NOON)
    made = schedules.make(people.team, wish(asked, blackouts="daily 13:00-16:00"), people.owner)
    assert (made.cron, made.every_minutes) == ("", 120)
    assert "it lies in the blackout windows" in peak.told(made)


def test_a_drop_folder_has_no_peak_hour_and_a_peak_needs_an_interval(people: People, asked: System) -> None:
    with pytest.raises(Refused, match="the busiest hour is for collectors") as refused:
        schedules.make(people.team, ScheduleSpec("a", every_minutes=60, peak="day"), people.owner)
    assert refused.value.field == "peak"
    with pytest.raises(Refused, match="say the interval it goes by"):
        schedules.make(people.team, wish(asked, every_minutes=None), people.owner)


def test_a_schedule_that_is_changed_to_fixed_times_forgets_the_peak(people: People, asked: System) -> None:
    remember(asked, days(range(24), {14: 50.0}), NOON)
    made = schedules.make(people.team, wish(asked), people.owner)
    same = schedules.change(made, wish(asked), people.owner)
    assert not JournalEntry.objects.filter(action="schedule changed").exists()
    now = schedules.change(same, wish(asked, peak="", every_minutes=None, cron="0 6 * * *"), people.owner)
    assert (now.peak, now.cron, now.peak_found, now.peak_otherwise, now.peak_at) == ("", "0 6 * * *", {}, None, None)


def test_the_form_makes_and_changes_a_schedule_at_the_peak(people: People, asked: System, as_user: AsUser) -> None:
    olga = as_user(people.owner)
    given = {
        **{"name": "peak", "what": f"system:{asked.pk}", "source": "collector", "collector": "ase"},
        **{"when": "week", "every_minutes": "180", "zone": "UTC", "after": "leave"},
    }
    assert olga.post("/schedules/new/", given).status_code == 302
    made = Schedule.objects.get()
    assert (made.peak, made.every_minutes, made.peak_otherwise) == ("week", 180, 180)
    page = text_of(olga, f"/schedules/{made.pk}/change/")
    assert 'value="week" required id="id_when_3" checked' in page or 'value="week"' in page.split("checked")[-2][-200:]
    assert 'value="180"' in page
    assert olga.post("/schedules/new/", {**given, "name": "b", "every_minutes": ""}).status_code == 400
    times = olga.get("/schedules/times/", {"when": "day", "every_minutes": "60", "zone": "UTC"}).content.decode()
    assert "At the busiest hour of the day" in times


def test_a_script_that_sends_back_what_it_got_leaves_the_peak_as_it_is(people: People, asked: System) -> None:
    remember(asked, days(range(24), {14: 50.0}), NOON)
    made = schedules.make(people.team, wish(asked), people.owner)
    _, secret = make_token(people.owner, "script", ["read", "schedules"], None)
    script = Client(headers={"Authorization": f"Bearer {secret}"})
    told = script.get(f"/api/schedules/{made.pk}").json()
    assert (told["peak"], told["cron"], told["every_minutes"]) == ("day", "15 14 * * *", None)
    answer = script.put(f"/api/schedules/{made.pk}", told, content_type="application/json")
    assert answer.status_code == 200, answer.content
    made.refresh_from_db()
    assert (made.peak, made.cron, made.peak_otherwise) == ("day", "15 14 * * *", 120)
