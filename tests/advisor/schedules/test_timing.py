"""When a schedule is due: intervals and cron, over daylight saving, counted when missed."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.schedules.services.timing import (
    MOST_COUNTED,
    BadTime,
    Times,
    check,
    dues,
    in_words,
    next_after,
    next_free,
    preview,
    windows,
)

OSLO = ZoneInfo("Europe/Oslo")
HOURLY = Times(every_minutes=60)


def oslo(text: str, fold: int = 0) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=OSLO, fold=fold).astimezone(UTC)


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def walls(cron: str, after: datetime, count: int, zone: str = "Europe/Oslo") -> list[str]:
    """The next times as the clock on the wall shows them."""
    return [f"{at:%m-%d %H:%M %Z}" for at in preview(Times(cron=cron, zone=zone), (), after, count)]


def test_an_interval_counts_from_its_last_due_time_and_does_not_drift() -> None:
    anchor = utc("2026-05-01 10:07:00")
    for late in (timedelta(0), timedelta(seconds=9), timedelta(minutes=59), timedelta(hours=5, seconds=3)):
        found = next_after(HOURLY, anchor + late, anchor)
        assert found is not None
        assert (found.minute, found.second) == (7, 0)
        assert timedelta(0) < found - (anchor + late) <= timedelta(hours=1)


def test_an_interval_counts_real_minutes_through_the_night_the_clock_changes() -> None:
    first = oslo("2026-10-25 01:30")
    found = preview(Times(every_minutes=60, zone="Europe/Oslo"), (), first, 3)
    assert [f"{at:%H:%M %Z}" for at in found] == ["02:30 CEST", "02:30 CET", "03:30 CET"]


def test_cron_goes_by_the_clock_on_the_wall_all_the_year() -> None:
    assert walls("0 6 * * mon", oslo("2026-03-20 12:00"), 2) == ["03-23 06:00 CET", "03-30 06:00 CEST"]
    assert walls("0 6 * * mon", oslo("2026-10-20 12:00"), 2) == ["10-26 06:00 CET", "11-02 06:00 CET"]


def test_in_spring_a_time_the_clock_leaves_out_comes_once_when_it_has_gone_on() -> None:
    assert walls("30 2 * * *", oslo("2026-03-28 12:00"), 2) == ["03-29 03:00 CEST", "03-30 02:30 CEST"]
    assert walls("15,45 2 * * *", oslo("2026-03-28 12:00"), 2) == ["03-29 03:00 CEST", "03-30 02:15 CEST"]
    assert walls("0 * * * *", oslo("2026-03-29 00:30"), 3) == [
        "03-29 01:00 CET",
        "03-29 03:00 CEST",
        "03-29 04:00 CEST",
    ]


def test_in_autumn_a_time_that_comes_twice_counts_once_and_every_hour_is_every_hour() -> None:
    assert walls("30 2 * * *", oslo("2026-10-24 12:00"), 2) == ["10-25 02:30 CEST", "10-26 02:30 CET"]
    assert walls("0 * * * *", oslo("2026-10-25 01:30"), 3) == ["10-25 02:00 CEST", "10-25 02:00 CET", "10-25 03:00 CET"]


def test_in_the_hour_that_comes_twice_no_time_of_the_past_comes_next() -> None:
    second = oslo("2026-10-25 02:05", fold=1)
    assert next_after(Times(cron="30 2 * * *", zone="Europe/Oslo"), second) == oslo("2026-10-26 02:30")


@settings(deadline=None, max_examples=150)
@given(
    cron=st.sampled_from(["*/7 * * * *", "0 * * * *", "30 2 * * *", "15,45 1-3 * * *", "0 3 * * sun", "5 */2 * * *"]),
    minutes=st.integers(0, 60 * 72),
    year=st.sampled_from(["2026-03-28 00:00", "2026-10-24 00:00"]),
)
def test_the_next_time_is_always_later_and_none_lies_between(cron: str, minutes: int, year: str) -> None:
    plan = Times(cron=cron, zone="Europe/Oslo")
    at = oslo(year) + timedelta(minutes=minutes, seconds=13)
    found = next_after(plan, at)
    assert found is not None
    assert found > at
    half = at + (found - at) / 2
    assert next_after(plan, half) == found
    assert next_after(plan, found - timedelta(microseconds=1)) == found


@pytest.mark.parametrize(
    ("plan", "field", "says"),
    [
        (Times(every_minutes=0), "every_minutes", "1 to 525,600 minutes"),
        (Times(every_minutes=525_601), "every_minutes", "1 to 525,600 minutes"),
        (Times(every_minutes=60, cron="0 6 * * *"), "cron", "choose one"),
        (Times(), "cron", "five fields"),
        (Times(cron="0 0 6 * * *"), "cron", "five fields"),
        (Times(cron="@daily"), "cron", "five fields"),
        (Times(cron="0 25 * * *"), "cron", "the hour"),
        (Times(cron="0 6 * * someday"), "cron", "day-of-week"),
        (Times(cron="0 2 31 2 *"), "cron", "that day never comes"),
        (Times(cron="0 0 32 2 *"), "cron", "day-of-month"),
        (Times(cron="0 0 31 feb,apr *"), "cron", "that day never comes"),
        (Times(cron="0 6 * * *", zone="Europe/Osloo"), "zone", "there is no zone"),
        (Times(cron="0 6 * * *", zone="../../etc/passwd"), "zone", "there is no zone"),
        (Times(cron="0 6 * * *", zone=""), "zone", "there is no zone"),
    ],
)
def test_a_time_that_makes_no_sense_is_refused_with_what_to_write(plan: Times, field: str, says: str) -> None:
    with pytest.raises(BadTime, match=says) as caught:
        check(plan)
    assert caught.value.field == field


def test_the_last_leap_day_comes_and_so_is_no_refusal() -> None:
    check(Times(cron="0 0 29 2 *"))
    assert next_after(Times(cron="0 0 29 2 *"), utc("2026-01-01")) == utc("2028-02-29")


@settings(deadline=None, max_examples=400)
@given(st.text(alphabet="0123456789*,-/#L WMONmon?@", max_size=30), st.text(max_size=12))
def test_whatever_is_typed_is_checked_or_refused(cron: str, zone: str) -> None:
    for plan in (Times(cron=cron), Times(cron="* " * 4 + cron), Times(cron="0 0 * * *", zone=zone)):
        try:
            check(plan)
        except BadTime:
            continue
        assert in_words(plan)
        assert next_after(plan, utc("2026-01-01")) is not None


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        (Times(every_minutes=1), "every minute"),
        (Times(every_minutes=5), "every 5 minutes"),
        (Times(cron="*/5 * * * *"), "every 5 minutes"),
        (Times(cron="0-59/5 * * * *"), "every 5 minutes"),
        (Times(cron="3,18,33,48 * * * *"), "every 15 minutes"),
        (Times(cron="* * * * *"), "every minute"),
        (Times(every_minutes=60), "every hour"),
        (Times(every_minutes=90), "every 90 minutes"),
        (Times(every_minutes=2880), "every 2 days"),
        (Times(every_minutes=10080), "every week"),
        (Times(cron="0 6 * * mon", zone="Europe/Oslo"), "At 06:00 on Monday (Europe/Oslo)"),
        (Times(cron="30 2 13 * fri"), "At 02:30 on the 13th day of month and on Friday (UTC)"),
    ],
)
def test_when_is_said_in_words(plan: Times, words: str) -> None:
    assert in_words(plan) == words


def test_times_missed_are_counted_and_the_newest_is_the_one_that_is_made_up() -> None:
    found = dues(HOURLY, (), utc("2026-05-01 09:00"), utc("2026-05-01 12:10"))
    assert (found.free, found.missed, found.shut) == (utc("2026-05-01 12:00"), 3, None)
    alone = dues(HOURLY, (), utc("2026-05-01 12:00"), utc("2026-05-01 12:00:05"))
    assert (alone.free, alone.missed) == (utc("2026-05-01 12:00"), 0)


def test_times_in_a_blackout_are_counted_apart() -> None:
    found = dues(HOURLY, windows("daily 10:00-11:30", "UTC"), utc("2026-05-01 09:00"), utc("2026-05-01 12:10"))
    assert (found.free, found.missed) == (utc("2026-05-01 12:00"), 1)
    assert (found.shut, found.shut_before) == (utc("2026-05-01 11:00"), 1)
    assert found.window is not None
    assert found.window.text == "daily 10:00-11:30"


@pytest.mark.parametrize("plan", [Times(every_minutes=1), Times(cron="* * * * *"), Times(cron="*/3 * * * *")])
@pytest.mark.parametrize("first", ["2025-05-01 12:00", "2026-04-28 12:00"])
def test_after_long_away_the_newest_time_is_found_and_as_many_are_counted_as_is_said(plan: Times, first: str) -> None:
    now = utc("2026-05-01 12:00:20")
    found = dues(plan, (), utc(first), now)
    assert found.free == utc("2026-05-01 12:00")
    assert found.missed == MOST_COUNTED


def test_one_time_more_than_are_counted_is_still_the_one_that_is_made_up() -> None:
    first = utc("2026-05-01 12:00")
    last = first + timedelta(hours=MOST_COUNTED + 1)
    assert dues(HOURLY, (), first, last).free == last


def test_the_first_time_outside_the_blackouts_is_found_and_one_that_never_comes_is_none() -> None:
    night = windows("daily 22:00-06:00", "UTC")
    assert next_free(Times(cron="0 * * * *"), night, utc("2026-05-01 21:30")) == utc("2026-05-02 06:00")
    assert next_free(Times(every_minutes=1), windows("daily 00:00-24:00", "UTC"), utc("2026-05-01")) is None
    assert next_free(Times(cron="0 23 * * *"), night, utc("2026-05-01")) is None
    weekend = windows("sat-sun 00:00-24:00", "UTC")
    assert next_free(Times(cron="0 3 * * *"), weekend, utc("2026-05-01 12:00")) == utc("2026-05-04 03:00")
