"""Points in time as servers and tools print them."""

import pytest

from collectors.layouts.dates import ambiguous, moment


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("Nov 21 2026 10:15AM", "2026-11-21 10:15:00"),
        ("Nov 21 2026 10:15:12:123AM", "2026-11-21 10:15:12.123000"),
        ("Dec  9 2025 12:54:22:070AM", "2025-12-09 00:54:22.070000"),
        ("Dec  9 2025 12:54:22:070PM", "2025-12-09 12:54:22.070000"),
        ("Mar  5 2024  1:11:12:000PM", "2024-03-05 13:11:12"),
        ("2026-11-21 10:15:12.123", "2026-11-21 10:15:12.123000"),
        ("2026-11-21T10:15:12Z", "2026-11-21 10:15:12"),
        ("2026/11/21 10:15:12.1234567", "2026-11-21 10:15:12.123456"),
        ("21.11.2026 10:15:12", "2026-11-21 10:15:12"),
        ("25/12/2026 10:15", "2026-12-25 10:15:00"),
        ("12/25/2026 10:15", "2026-12-25 10:15:00"),
        ("04/04/2026 10:15", "2026-04-04 10:15:00"),
    ],
)
def test_a_time_is_read(text: str, iso: str) -> None:
    assert str(moment(text)) == iso
    assert not ambiguous(text)


@pytest.mark.parametrize(
    "text",
    ["", "NULL", "Nov 31 2026 10:15AM", "Foo 21 2026 10:15AM", "Nov 21 2026", "Nov 21 2026 13:15PM", "0:15", "1" * 99],
)
def test_what_is_no_time_is_none(text: str) -> None:
    assert moment(text) is None
    assert not ambiguous(text)


def test_day_and_month_are_not_guessed() -> None:
    assert moment("03/04/2026 10:15:12") is None
    assert ambiguous("03/04/2026 10:15:12")
