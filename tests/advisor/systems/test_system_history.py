"""A system's findings and settings over time: since when they stand, what is gone, what changed."""

from datetime import timedelta

import pytest

from advisor.systems.models import System
from advisor.systems.services import history
from advisor.systems.services.settings_history import MOST_SNAPSHOTS, settings_over_time
from tests.advisor.people import AsUser, People
from tests.advisor.seen import CONTENDED, LOUD, START, see, text_of, unknown_system, words_of

pytestmark = pytest.mark.postgres


@pytest.fixture
def system(people: People) -> System:
    """A system of the owner's team that nothing is known of yet."""
    return unknown_system(people)


def at(hours: int) -> str:
    return f"{START + timedelta(hours=hours):%Y-%m-%d %H:%M}"


# Findings over time


def test_a_finding_that_stands_tells_since_when_and_how_often(system: System) -> None:
    see(system, 0)
    see(system, 1, {CONTENDED: 3})
    see(system, 2, verdict="unknown")
    see(system, 3, {CONTENDED: 4})
    see(system, 4, {CONTENDED: 2})
    (row,) = history.findings(history.recent(system)).rows
    assert row.states == ("not found", 3, "not judged", 4, 2)
    assert (row.stands, row.gone, row.worst, row.times, row.judged) == (True, None, 4, 3, 4)
    assert (row.since.when, row.last.when) == (at(1), at(4))
    assert row.title == "title of ase/address_lock_spinlock_contended at 4"


def test_a_finding_that_was_looked_for_and_not_found_is_gone_since_that_capture(system: System) -> None:
    for hour, digest in enumerate(({CONTENDED: 3}, {}, {CONTENDED: 2}, {}, {})):
        see(system, hour, digest)
    (row,) = history.findings(history.recent(system)).rows
    assert not row.stands
    assert row.gone is not None
    assert (row.since.when, row.last.when, row.gone.when) == (at(2), at(2), at(3))


@pytest.mark.parametrize("verdict", ["unknown", "untrusted", "broken"])
def test_a_finding_nobody_could_judge_again_is_not_gone(
    people: People, as_user: AsUser, system: System, verdict: str
) -> None:
    see(system, 0, {CONTENDED: 3})
    see(system, 1, verdict=verdict)
    (row,) = history.findings(history.recent(system)).rows
    assert row.stands
    assert "not judged in the newest capture" in words_of(text_of(as_user(people.colleague), system))


def test_a_finding_about_one_object_is_gone_though_its_rule_fires_at_another(system: System) -> None:
    other = CONTENDED.replace("PROD1", "PROD2")
    see(system, 0, {CONTENDED: 3})
    see(system, 1, {other: 3})
    rows = {row.subject: row for row in history.findings(history.recent(system)).rows}
    assert rows["PROD1"].gone is not None
    assert rows["PROD2"].stands


def test_what_stands_comes_before_what_is_gone(people: People, as_user: AsUser, system: System) -> None:
    see(system, 0, {LOUD: 4})
    see(system, 1, {CONTENDED: 1})
    assert [row.key for row in history.findings(history.recent(system)).rows] == [CONTENDED, LOUD]
    words = words_of(text_of(as_user(people.colleague), system))
    assert f"gone in {at(1)} {at(0)} or earlier" not in words  # these are all captures: nothing is earlier
    assert f"gone in {at(1)}" in words


def test_a_finding_older_than_the_captures_looked_at_stands_since_then_or_earlier(
    people: People, as_user: AsUser, system: System
) -> None:
    for hour in range(history.MOST_AUDITS + 1):
        see(system, hour, {CONTENDED: 3})
    assert f"{at(1)} or earlier" in words_of(text_of(as_user(people.colleague), system))


# Settings over time


def changes(system: System) -> list[tuple[str, object, object]]:
    return [(one.name, one.old, one.new) for one in settings_over_time(history.recent(system)).changes]


def test_a_changed_setting_tells_from_what_to_what_and_between_which_captures(system: System) -> None:
    see(system, 0, settings={"ratio": 100.0, "other": 1.0})
    see(system, 1, settings={"ratio": 100.0, "other": 1.0})
    see(system, 2, settings={"ratio": 5.0, "other": 1.0})
    (one,) = settings_over_time(history.recent(system)).changes
    assert (one.name, one.old, one.new, one.before.when, one.at.when) == ("ratio", 100.0, 5.0, at(1), at(2))


def test_a_setting_that_a_capture_does_not_hold_has_not_changed(system: System) -> None:
    see(system, 0, settings={"ratio": 100.0})
    see(system, 1, settings={"other": 1.0})
    see(system, 2)
    see(system, 3, settings={"ratio": 100.0})
    assert changes(system) == []
    see(system, 4, settings={"other": 2.0})
    see(system, 5, settings={"ratio": 5.0})
    assert changes(system) == [("ratio", 100.0, 5.0), ("other", 1.0, 2.0)]
    assert settings_over_time(history.recent(system)).current["other"][1].when == at(4)


def test_a_setting_printed_as_asterisks_has_not_changed(system: System) -> None:
    see(system, 0, settings={"ratio": 100.0})
    see(system, 1, settings={"ratio": "printed as asterisks: too wide for its column"})
    see(system, 2, settings={"ratio": 100.0})
    assert changes(system) == []


def test_what_waits_for_a_restart_is_a_change_of_what_is_configured(system: System) -> None:
    see(system, 0, settings={"ratio": 100.0})
    see(system, 1, settings={"ratio": 100.0, "ratio (configured)": 5.0})
    see(system, 2, settings={"ratio": 5.0})
    see(system, 3, settings={"ratio": 5.0, "ratio (configured)": 9.0})
    assert changes(system) == [
        ("ratio (configured)", 5.0, 9.0),
        ("ratio", 100.0, 5.0),
        ("ratio (configured)", 100.0, 5.0),
    ]


def test_what_waits_is_forgotten_once_a_list_has_the_setting_and_nothing_waits(system: System) -> None:
    waits = {"ratio": 100.0, "ratio (configured)": 5.0}
    for hour, settings in enumerate(({"ratio": 100.0}, waits, {"ratio": 100.0})):
        see(system, hour, settings=settings)
    assert list(settings_over_time(history.recent(system)).current) == ["ratio"]
    see(system, 3, settings=waits)
    assert changes(system) == [("ratio (configured)", 100.0, 5.0)] * 2


def test_only_so_many_lists_of_settings_are_compared_and_the_page_says_so(
    people: People, as_user: AsUser, system: System
) -> None:
    for hour in range(MOST_SNAPSHOTS + 5):
        see(system, hour, settings={"ratio": float(hour)})
    course = settings_over_time(history.recent(system))
    assert (course.lists, course.complete, len(course.changes)) == (MOST_SNAPSHOTS, False, MOST_SNAPSHOTS - 1)
    assert course.changes[0].new == MOST_SNAPSHOTS + 4
    assert "older ones are not compared" in words_of(text_of(as_user(people.colleague), system))


def test_the_settings_can_be_filtered(people: People, as_user: AsUser, system: System) -> None:
    see(system, 0, settings={"lock address spinlock ratio": 100.0, "max memory": 5.0})
    words = words_of(text_of(as_user(people.colleague), system, "?setting=SPINLOCK+lock"))
    assert "lock address spinlock ratio" in words
    assert "max memory" not in words
