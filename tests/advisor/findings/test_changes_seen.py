"""Changes as vertical marks in figures over captures: made by a person then, seen at the time of the capture."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest
import time_machine

from advisor.findings.services import states
from advisor.findings.services.changes_seen import ChangeSeen, changes_of, marks_for
from advisor.systems.models import System
from advisor.uploads.models import Upload
from tests.advisor.findings.claims import followed
from tests.advisor.people import AsUser, People, text_of

SERIES = [(datetime(2026, 2, 11), 1.0), (datetime(2026, 2, 13), 2.0)]  # noqa: DTZ001 - exports have no zone


def test_a_change_that_a_capture_shows_stands_at_the_time_of_that_capture(
    people: People, day: Callable[..., Upload], as_user: AsUser
) -> None:
    day(11)
    day(12, spread=True, xacts=431.0)
    row = followed()
    (one,) = changes_of(row.system_id)
    assert one.words == f"change seen: {row.title}"
    assert f"{one.at:%Y-%m-%d %H:%M}" == "2026-02-12 10:40", "not the moment at which it was audited"
    system = System.objects.get()
    page = text_of(as_user(people.colleague), f"/systems/{system.pk}/")
    assert page.count('class="c-event c-at"') >= 1
    assert "change seen" in page
    assert 'class="c-event c-at"' in text_of(as_user(people.colleague), f"/findings/{row.pk}/")


def test_a_change_that_somebody_made_stands_at_that_time_by_the_clock_of_the_captures(
    people: People, day: Callable[..., Upload]
) -> None:
    day(11)
    with time_machine.travel(datetime(2026, 2, 11, 12, 0, tzinfo=UTC)):
        states.change_made(people.owner, [followed().pk], "CHG-4471")
        states.plan(people.owner, [followed().pk])
    (one,) = changes_of(followed().system_id)
    assert one.words.startswith("change made: ")
    ((at, _),) = marks_for(SERIES, [one])
    assert at.tzinfo is None
    ((zoned, _),) = marks_for([(datetime(2026, 2, 11, tzinfo=UTC), 1.0)], [one])
    assert zoned == one.at


def test_several_changes_of_one_moment_are_one_mark_that_names_them_all() -> None:
    at = datetime(2026, 2, 12, tzinfo=UTC)
    seen = [ChangeSeen(at, "change seen: a"), ChangeSeen(at, "change seen: b")]
    assert [word for _, word in marks_for(SERIES, seen)] == ["2 changes seen: a; b"]
    assert [word for _, word in marks_for(SERIES, [*seen, ChangeSeen(at, "change made: c")])] == [
        "3 changes made: a; b; c"
    ]
    assert marks_for(SERIES, []) == []


@pytest.mark.django_db
def test_of_a_system_that_nobody_changed_there_is_none() -> None:
    assert changes_of(0) == []
