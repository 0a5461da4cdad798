"""Schedules are made, changed, paused, resumed, removed and run: checked, noted, and never beyond their team."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import time_machine
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from advisor.core.models import JournalEntry
from advisor.core.records import Refused
from advisor.schedules.models import Run, Schedule
from advisor.schedules.services import running, schedules
from advisor.schedules.services.schedules import ScheduleSpec
from advisor.systems.models import Group
from tests.advisor.people import People
from tests.advisor.schedules.scheduling import NOON, make_schedule, make_system, runs_of

pytestmark = pytest.mark.postgres

HOUR = timedelta(hours=1)
HOURLY = ScheduleSpec("hourly", every_minutes=60)


@pytest.fixture(autouse=True)
def places(settings: Settings, tmp_path: Path) -> Path:
    """A folder for drops, a collector `probe`."""
    settings.DROP_FOLDERS = [tmp_path / "drop"]
    settings.COLLECTORS_DIR = tmp_path / "collectors"
    (tmp_path / "drop" / "Claims" / "nightly").mkdir(parents=True)
    settings.COLLECTORS_DIR.mkdir(mode=0o700)
    probe = settings.COLLECTORS_DIR / "probe"
    probe.write_text("#!/bin/sh\n")
    probe.chmod(0o700)
    return tmp_path / "drop" / "Claims"


@pytest.fixture(autouse=True)
def noon() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(NOON + timedelta(seconds=40), tick=False) as clock:
        yield clock


def actions() -> list[tuple[str, str]]:
    return list(JournalEntry.objects.order_by("pk").values_list("action", "what"))


def test_a_schedule_is_made_due_from_its_next_time_on_and_noted(people: People, places: Path) -> None:
    made = schedules.make(people.team, HOURLY, people.owner)
    assert (made.next_due, made.by, made.folder) == (NOON + HOUR, people.owner, str(places))
    entry = JournalEntry.objects.get()
    assert (entry.action, entry.team, entry.who) == ("schedule made", people.team, "olga")
    assert entry.what == f"hourly: {places}, every hour"


def test_a_folder_below_the_teams_own_may_be_chosen(people: People, places: Path) -> None:
    made = schedules.make(people.team, replace(HOURLY, folder=str(places / "nightly")), people.owner)
    assert made.folder == str(places / "nightly")


def test_a_collector_is_for_a_system_or_a_group_and_has_no_folder(people: People, places: Path) -> None:
    system = make_system(people.team)
    wish = replace(HOURLY, source="collector", collector="probe", system=system, folder=str(places))
    made = schedules.make(people.team, wish, people.owner)
    assert (made.collector, made.folder, made.system) == ("probe", "", system)
    assert JournalEntry.objects.get().what == "hourly: collector probe for CLAIMS1, every hour"


@pytest.mark.parametrize(
    ("more", "field", "says"),
    [
        ({"name": " \x00\n "}, "name", "needs a name"),
        ({"name": "TAKEN"}, "name", "of this name"),
        ({"source": "ftp"}, "source", "drop folder or a collector"),
        ({"folder": "/etc"}, "folder", "folder"),
        ({"folder": "../Payroll"}, "folder", "folder"),
        ({"after": "burn"}, "after", "what becomes"),
        ({"settle_seconds": 0}, "settle_seconds", "1 to 3,600"),
        ({"settle_seconds": 4000}, "settle_seconds", "1 to 3,600"),
        ({"source": "collector", "collector": "probe"}, "system", "needs a system"),
        ({"every_minutes": 0}, "every_minutes", "1 to 525,600"),
        ({"every_minutes": None}, "cron", "five fields"),
        ({"every_minutes": None, "cron": "0 0 31 2 *"}, "cron", "that day never comes"),
        ({"zone": "Mars/Olympus"}, "zone", "no zone"),
        ({"blackouts": "daily 01:00-02:00\nnever"}, "blackouts", "line 2"),
        ({"blackouts": "daily 00:00-24:00"}, "blackouts", "no time to run"),
        (
            {"every_minutes": None, "cron": "30 1 * * *", "blackouts": "daily 01:00-02:00"},
            "blackouts",
            "no time to run",
        ),
    ],
)
def test_what_makes_no_sense_is_refused_beside_its_field(
    people: People, more: dict[str, Any], field: str, says: str
) -> None:
    make_schedule(people.team, "taken")
    with pytest.raises(Refused, match=says) as caught:
        schedules.make(people.team, replace(HOURLY, **more), people.owner)
    assert caught.value.field == field
    assert caught.value.line == (2 if says == "line 2" else None)
    assert Schedule.objects.count() == 1
    assert not JournalEntry.objects.exists()


def test_a_collector_there_is_not_or_that_is_for_another_product_is_refused(people: People) -> None:
    wish = replace(HOURLY, source="collector", collector="rm -rf", system=make_system(people.team))
    with pytest.raises(Refused, match="no collector of this name"):
        schedules.make(people.team, wish, people.owner)


def test_systems_and_groups_of_another_team_are_refused(people: People) -> None:
    theirs = make_system(people.other_team)
    group = Group.objects.create(team=people.other_team, name="theirs")
    for more in ({"system": theirs}, {"group": group}):
        with pytest.raises(Refused, match="another team"):
            schedules.make(people.team, replace(HOURLY, **more), people.administrator)
    own = Group.objects.create(team=people.team, name="own")
    both = replace(HOURLY, system=make_system(people.team), group=own)
    with pytest.raises(Refused, match="at once"):
        schedules.make(people.team, both, people.owner)


def test_what_is_typed_is_kept_in_one_line_each(people: People) -> None:
    wish = ScheduleSpec(
        "  nightly\r\nBcc: x ", cron=" 0  6 * *  mon ", zone=" Europe/Oslo ", blackouts="\n sat  1:00 – 2:00\n\n"
    )
    made = schedules.make(people.team, wish, people.owner)
    assert (made.name, made.cron, made.zone) == ("nightly Bcc: x", "0 6 * * mon", "Europe/Oslo")
    assert made.blackouts == "sat 1:00 - 2:00"
    assert made.next_due == datetime(2026, 5, 11, 4, tzinfo=UTC)


def test_a_change_of_times_counts_from_now_and_any_other_leaves_the_next_time_alone(
    people: People, noon: time_machine.Traveller
) -> None:
    made = schedules.make(people.team, HOURLY, people.owner)
    noon.shift(600)
    same = schedules.change(made, replace(HOURLY, name="every hour", after="move"), people.mate)
    assert (same.name, same.after, same.next_due) == ("every hour", "move", NOON + HOUR)
    faster = schedules.change(made, replace(HOURLY, name="every hour", after="move", every_minutes=5), people.mate)
    assert faster.next_due == NOON + timedelta(minutes=15)
    assert actions()[-1] == ("schedule changed", f"{schedules.told(faster)} (changed: every_minutes 60 to 5)")
    count = len(actions())
    schedules.change(made, replace(HOURLY, name="every hour", after="move", every_minutes=5), people.mate)
    assert len(actions()) == count, "nothing changed, nothing is noted"


def test_new_times_end_the_trouble_of_a_zone_the_world_gave_up(people: People) -> None:
    system = make_system(people.team)
    made = schedules.make(people.team, replace(HOURLY, system=system), people.owner)
    Schedule.objects.update(zone="Europe/Atlantis", cron="0 6 * * *", every_minutes=None)
    running.claim_due()
    made.refresh_from_db()
    assert (made.next_due, bool(made.troubled)) == (None, True)
    changed = schedules.change(made, replace(HOURLY, system=system), people.owner)
    assert (changed.next_due, changed.troubled, changed.trouble) == (NOON + HOUR, None, "")


def test_a_folder_an_administrator_chose_stays_when_somebody_changes_the_rest(people: People, places: Path) -> None:
    (places.parent / "shared").mkdir()
    wish = replace(HOURLY, folder=str(places.parent / "shared"))
    made = schedules.make(people.team, wish, people.administrator)
    assert schedules.change(made, replace(wish, every_minutes=5), people.owner).every_minutes == 5
    with pytest.raises(Refused):
        schedules.make(people.team, replace(wish, name="mine"), people.owner)


def test_what_waits_is_skipped_when_its_schedule_is_to_do_something_else(people: People, places: Path) -> None:
    made = schedules.make(people.team, HOURLY, people.owner)
    Run.objects.create(schedule=made, due=NOON)
    schedules.change(made, replace(HOURLY, folder=str(places), every_minutes=5), people.owner)
    assert runs_of(made) == [("waiting", "06 12:00", 0)]
    schedules.change(made, replace(HOURLY, folder=str(places / "nightly")), people.owner)
    assert runs_of(made) == [("skipped", "06 12:00", 0)]


def test_a_pause_holds_until_it_ends_and_nothing_is_caught_up(people: People, noon: time_machine.Traveller) -> None:
    made = schedules.make(people.team, HOURLY, people.owner)
    Run.objects.create(schedule=made, due=NOON)
    assert schedules.pause(made, people.mate)
    assert not schedules.pause(made, people.mate)
    made.refresh_from_db()
    assert (made.paused, made.next_due) == (NOON + timedelta(seconds=40), None)
    assert Run.objects.get().told == "the schedule was paused"
    noon.shift(5 * 3600)
    assert running.claim_due() == []
    assert schedules.resume(made, people.owner)
    assert not schedules.resume(made, people.owner)
    assert running.claim_due() == []
    made.refresh_from_db()
    assert (made.paused, made.next_due) == (None, NOON + 6 * HOUR)
    assert [action for action, _ in actions()] == ["schedule made", "schedule paused", "schedule resumed"]


def test_a_paused_schedule_that_is_changed_stays_paused(people: People) -> None:
    made = schedules.make(people.team, HOURLY, people.owner)
    schedules.pause(made, people.owner)
    assert schedules.change(made, replace(HOURLY, every_minutes=5), people.owner).next_due is None


def test_run_now_runs_also_while_paused_and_in_a_blackout(
    people: People, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    made = schedules.make(people.team, replace(HOURLY, blackouts="wed 11:00-13:00"), people.owner)
    schedules.pause(made, people.owner)
    with django_capture_on_commit_callbacks(execute=True):
        runs = schedules.run_now(made, people.mate)
    run = Run.objects.get()
    assert runs == [run]
    assert (run.state, run.why, run.by, run.told) == ("done", "now", people.mate, "nothing to take")
    assert actions()[-1] == ("run asked for", "hourly")


def test_run_now_starts_what_waits_already_instead_of_a_second_one(people: People) -> None:
    made = schedules.make(people.team, HOURLY, people.owner)
    waiting = Run.objects.create(schedule=made, due=NOON, tries=2, error="x", not_before=NOON + HOUR)
    assert schedules.run_now(made, people.owner) == [waiting]
    assert schedules.run_now(made, people.owner) == [waiting]
    waiting.refresh_from_db()
    assert (waiting.not_before, waiting.why) == (NOON + timedelta(seconds=40), "now")
    assert running.claim_due() == [], "it is in the queue already"


def test_run_now_of_a_group_is_a_run_a_system_and_refused_without_any(people: People) -> None:
    group = Group.objects.create(team=people.team, name="fleet")
    wish = replace(HOURLY, source="collector", collector="probe", group=group)
    made = schedules.make(people.team, wish, people.owner)
    with pytest.raises(Refused, match="no systems"):
        schedules.run_now(made, people.owner)
    group.systems.set([make_system(people.team, name) for name in ("A", "B")])
    assert [run.system and run.system.name for run in schedules.run_now(made, people.owner)] == ["A", "B"]


@pytest.mark.parametrize("act", [schedules.pause, schedules.resume, schedules.run_now])
def test_a_schedule_somebody_removed_meanwhile_is_refused_and_removed_twice_is_gone(
    people: People, act: Callable[..., object]
) -> None:
    made = schedules.make(people.team, HOURLY, people.owner)
    schedules.remove(made, people.mate)
    schedules.remove(made, people.owner)
    with pytest.raises(Refused, match="removed meanwhile"):
        act(made, people.owner)
    assert [action for action, _ in actions()] == ["schedule made", "schedule removed"]
