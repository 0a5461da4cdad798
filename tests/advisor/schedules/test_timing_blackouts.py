"""Blackouts: lines that say when nothing runs, over midnight and over daylight saving."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.schedules.services.blackouts import (
    MOST_WINDOWS,
    BadTime,
    blacked_out,
    windows,
)

OSLO = "Europe/Oslo"


def shut(text: str, at: str, zone: str = OSLO, fold: int = 0) -> bool:
    wall = datetime.fromisoformat(at).replace(tzinfo=ZoneInfo(zone), fold=fold)
    return blacked_out(windows(text, zone), wall.astimezone(UTC)) is not None


@pytest.mark.parametrize(
    ("at", "held"),
    [
        ("2026-05-02 21:59:59", False),  # a Saturday
        ("2026-05-02 22:00", True),
        ("2026-05-03 03:59:59", True),
        ("2026-05-03 04:00", False),
        ("2026-05-03 22:00", True),
        ("2026-05-04 03:00", True),
        ("2026-05-04 22:00", False),
        ("2026-05-02 03:00", False),
    ],
)
def test_a_window_over_midnight_belongs_to_the_day_it_begins_on(at: str, held: bool) -> None:
    assert shut("sat,sun 22:00-04:00", at) is held


@pytest.mark.parametrize(
    ("line", "at", "held"),
    [
        ("daily 01:00-02:30", "2026-05-06 01:15", True),
        ("mon-fri 08:00-18:00", "2026-05-08 17:59", True),
        ("mon-fri 08:00-18:00", "2026-05-09 12:00", False),
        ("fri-mon 08:00-18:00", "2026-05-10 12:00", True),
        ("fri-mon 08:00-18:00", "2026-05-12 12:00", False),
        ("Saturday 00:00 – 24:00", "2026-05-09 23:59:59", True),
        ("Saturday 00:00-24:00", "2026-05-10 00:00", False),
        ("mon, wed 1:00-2:00", "2026-05-06 01:30", True),
        ("2026-12-24 00:00 - 2026-12-27 00:00", "2026-12-26 23:59:59", True),
        ("2026-12-24 00:00 - 2026-12-27 00:00", "2026-12-27 00:00", False),
        ("2026-12-24T18:00 - 2026-12-24T20:00", "2026-12-24 19:00", True),
    ],
)
def test_lines_mean_what_they_say(line: str, at: str, held: bool) -> None:
    assert shut(line, at) is held


def test_in_autumn_a_window_holds_until_its_end_has_come_for_the_second_time() -> None:
    for at, fold in (("02:15", 0), ("02:45", 0), ("02:15", 1)):
        assert shut("daily 01:00-02:30", f"2026-10-25 {at}", fold=fold), (at, fold)
    assert not shut("daily 01:00-02:30", "2026-10-25 02:30", fold=1)


def test_in_spring_a_window_that_begins_in_the_hour_left_out_begins_when_the_clock_has_gone_on() -> None:
    assert not shut("daily 02:15-04:00", "2026-03-29 01:59:59")
    assert shut("daily 02:15-04:00", "2026-03-29 03:00")
    assert shut("daily 01:00-02:30", "2026-03-29 01:59:59")
    assert not shut("daily 01:00-02:30", "2026-03-29 03:00"), "its end is when 02:30 would have been"


def test_a_window_goes_by_the_clock_of_its_zone() -> None:
    at = datetime(2026, 5, 6, 23, 30, tzinfo=UTC)
    assert blacked_out(windows("thu 01:00-02:00", OSLO), at)
    assert not blacked_out(windows("thu 01:00-02:00", "UTC"), at)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("sometimes", "is no window: write for instance sat,sun 22:00-04:00"),
        ("sat 22-04", "is no window"),
        ("22:00-04:00", "is no window"),
        ("sat,sn 22:00-04:00", "'sn' is no day"),
        ("mon-wed-fri 22:00-04:00", "is no day"),
        ("sat 25:00-26:00", "25:00 is no time of the day"),
        ("sat 10:60-11:00", "10:60 is no time of the day"),
        ("sat 10:00-10:00", "the whole day is 00:00-24:00"),
        ("sat 24:00-10:00", "has no length"),
        ("2026-02-30 00:00 - 2026-03-01 00:00", "is no day of the calendar"),
        ("2026-03-02 00:00 - 2026-03-01 00:00", "ends before it begins"),
        ("9999-12-31 00:00 - 9999-12-31 23:00", "not between 2000 and 2200"),
    ],
)
def test_a_bad_line_is_refused_with_its_number_and_what_to_write(line: str, says: str) -> None:
    with pytest.raises(BadTime, match=says) as caught:
        windows(f"daily 01:00-02:00\n\n{line}\n", OSLO)
    assert (caught.value.field, caught.value.line) == ("blackouts", 3)
    assert str(caught.value).startswith("line 3: ")


def test_there_are_not_more_windows_than_anybody_reads() -> None:
    assert len(windows("daily 01:00-02:00\n" * MOST_WINDOWS, OSLO)) == MOST_WINDOWS
    with pytest.raises(BadTime, match="join some of them"):
        windows("daily 01:00-02:00\n" * (MOST_WINDOWS + 1), OSLO)


@given(st.text(max_size=60))
def test_whatever_is_typed_is_read_or_refused(text: str) -> None:
    for line in (text, f"sat {text}", f"2026-{text}"):
        try:
            found = windows(line, OSLO)
        except BadTime:
            continue
        for window in found:
            window.until(datetime(2026, 5, 6, tzinfo=UTC))
