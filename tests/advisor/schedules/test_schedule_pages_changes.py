"""Making and changing schedules and groups on their pages."""

from pathlib import Path

import pytest
from django.test import Client
from pytest_django import Settings

from advisor.accounts.models import Team
from advisor.core.models import JournalEntry
from advisor.schedules.models import Run, Schedule
from advisor.systems.models import Group, System
from tests.advisor.people import AsUser, People, text_of
from tests.advisor.schedules.scheduled import make_schedule
from tests.advisor.schedules.scheduling import Probe
from tests.advisor.seen import unknown_system, words_of

FORM = {
    "name": "nightly",
    "what": "exports",
    "source": "folder",
    "folder": "",
    "settle_seconds": "90",
    "after": "move",
    "collector": "",
    "when": "cron",
    "every_minutes": "60",
    "cron": "0 6 * * mon-fri",
    "zone": "Europe/Oslo",
    "blackouts": "sat,sun 22:00-04:00",
}


@pytest.fixture(autouse=True)
def _folders(settings: Settings, tmp_path: Path) -> None:
    settings.DROP_FOLDERS = [tmp_path]


@pytest.fixture
def system(people: People) -> System:
    return unknown_system(people)


def sent(client: Client, address: str, **other: str) -> str:
    """What the page answers to a form that is not taken."""
    answer = client.post(address, {**FORM, **other})
    assert answer.status_code == 400, answer.content
    return answer.content.decode()


def test_a_schedule_is_made_with_all_that_was_said(people: People, as_user: AsUser, tmp_path: Path) -> None:
    answer = as_user(people.owner).post("/schedules/new/", FORM, follow=True)
    made = Schedule.objects.get()
    assert answer.redirect_chain == [(f"/schedules/{made.pk}/", 302)]
    assert (made.team, made.by, made.name) == (people.team, people.owner, "nightly")
    assert (made.folder, made.settle_seconds, made.after) == (str(tmp_path / "Claims"), 90, "move")
    assert (made.every_minutes, made.cron, made.zone) == (None, "0 6 * * mon-fri", "Europe/Oslo")
    assert made.next_due is not None
    assert JournalEntry.objects.filter(action="schedule made", user=people.owner, team=people.team).exists()
    page = words_of(answer.content.decode())
    assert "nightly is made." in page
    assert "sat,sun 22:00-04:00" in page


def test_a_schedule_may_be_for_a_system_or_a_group_of_the_team_alone(
    people: People, system: System, as_user: AsUser
) -> None:
    group = Group.objects.create(team=people.team, name="the south")
    foreign = System.objects.create(team=people.other_team, product="ase", name="PAY1", key="PAY1")
    owner = as_user(people.owner)
    assert "PAY1" not in text_of(owner, "/schedules/new/")
    for number, what in enumerate((f"system:{system.pk}", f"group:{group.pk}")):
        owner.post("/schedules/new/", {**FORM, "name": f"n{number}", "what": what})
    assert Schedule.objects.get(name="n0").system == system
    assert Schedule.objects.get(name="n1").group == group
    assert "Select a valid choice" in sent(owner, "/schedules/new/", what=f"system:{foreign.pk}")
    assert "Select a valid choice" in sent(owner, "/schedules/new/", what="system:x")
    assert Schedule.objects.count() == 2


@pytest.mark.parametrize(
    ("other", "field", "said"),
    [
        ({"name": " "}, "name", "required"),
        ({"cron": "61 6 * * *"}, "cron", "Cron does not understand"),
        ({"cron": "0 0 31 2 *"}, "cron", "That day never comes"),
        ({"cron": ""}, "cron", "Write five fields"),
        ({"when": "every", "every_minutes": ""}, "every_minutes", "after how many minutes"),
        ({"when": "every", "every_minutes": "0"}, "every_minutes", "greater than or equal to 1"),
        ({"zone": "Mars/Base"}, "zone", "valid choice"),
        ({"blackouts": "daily 01:00-02:00\nnever"}, "blackouts", "Line 2: "),
        ({"settle_seconds": "0"}, "settle_seconds", "greater than or equal to 1"),
        ({"folder": "/etc"}, "folder", "or a folder below it"),
        ({"folder": "../Payroll"}, "folder", "or a folder below it"),
        ({"source": "collector", "collector": "nothing"}, "collector", "valid choice"),
    ],
)
def test_what_is_wrong_is_said_beside_its_field_and_nothing_is_made(
    people: People, as_user: AsUser, other: dict[str, str], field: str, said: str
) -> None:
    page = sent(as_user(people.owner), "/schedules/new/", **other)
    assert said in page
    at = page.index('class="errorlist"')
    assert f'id="id_{field}_error"' in page[at : at + 60], page[at : at + 200]
    assert "Not kept: 1 field needs another look." in page
    assert not Schedule.objects.exists()


def test_a_schedule_is_changed_and_shows_what_it_has(people: People, system: System, as_user: AsUser) -> None:
    schedule = make_schedule(people, system=system, blackouts="daily 01:00-02:00", zone="Europe/Oslo")
    owner, address = as_user(people.owner), f"/schedules/{schedule.pk}/change/"
    page = text_of(owner, address)
    assert f'value="system:{system.pk}" selected' in page
    assert "daily 01:00-02:00" in page
    assert 'value="Europe/Oslo" selected' in page
    answer = owner.post(address, {**FORM, "when": "every", "every_minutes": "30", "folder": "/x/claims"})
    assert answer.status_code == 302, answer.content
    schedule.refresh_from_db()
    assert (schedule.system, schedule.every_minutes, schedule.cron) == (None, 30, "")
    assert schedule.folder == "/x/claims", "the folder it had stays allowed"


def test_a_program_that_is_no_collector_is_told_with_what_to_do(
    people: People, as_user: AsUser, probe: Probe, settings: Settings
) -> None:
    probe("echo nothing")
    (settings.COLLECTORS_DIR / "probe").chmod(0o777)
    assert "chmod go-w" in text_of(as_user(people.owner), "/schedules/new/")


def test_the_next_times_are_shown_before_anything_is_kept(people: People, as_user: AsUser) -> None:
    owner = as_user(people.owner)
    answer = owner.post("/schedules/new/", {**FORM, "name": "", "do": "times"})
    page = answer.content.decode()
    assert answer.status_code == 200
    assert page.count("06:00 CE") == 5
    assert "errorlist" not in page
    assert not Schedule.objects.exists()


def test_the_next_times_follow_what_is_typed(people: People, as_user: AsUser) -> None:
    reader = as_user(people.colleague)
    address = "/schedules/times/?when=cron&zone=Europe/Oslo"
    assert text_of(reader, f"{address}&cron=0 6 * * mon-fri").count("06:00 CE") == 5
    weekend = f"{address}&cron=0 6 * * *&blackouts=mon-fri 00:00-24:00"
    assert "Mon" not in text_of(reader, weekend)
    assert "Sat" in text_of(reader, weekend)
    assert "Line 1" in text_of(reader, f"{address}&cron=0 6 * * *&blackouts=sometimes")
    assert "Cron has five fields" in text_of(reader, f"{address}&cron=%22%3E%3Cscript%3E")
    assert "There is no zone" in text_of(reader, "/schedules/times/?when=every&every_minutes=5&zone=%3Cb%3E")
    for minutes in ("", "-1", "9" * 40, "1e9", "٣"):
        assert "errorlist" in text_of(reader, f"/schedules/times/?when=every&zone=UTC&every_minutes={minutes}")


def test_somebody_in_several_teams_chooses_one_first(people: People, as_user: AsUser) -> None:
    adam = as_user(people.administrator)
    page = text_of(adam, "/schedules/new/")
    assert "Claims" in page
    assert "Payroll" in page
    assert 'name="cron"' not in page
    adam.post(f"/schedules/new/?team={people.other_team.pk}", FORM)
    assert Schedule.objects.get().team == people.other_team
    owner = as_user(people.owner)
    for team in (people.other_team.pk, "999999", "x", "9" * 40):
        assert owner.get(f"/schedules/new/?team={team}").status_code == 404, team
        assert owner.get(f"/groups/new/?team={team}").status_code == 404, team


def test_who_is_in_no_team_is_told_so(people: People, as_user: AsUser) -> None:
    people.owner.teams.clear()
    assert "You are in no team yet" in text_of(as_user(people.owner), "/schedules/new/")


def test_it_is_run_now_paused_resumed_and_deleted(people: People, as_user: AsUser, tmp_path: Path) -> None:
    (tmp_path / "Claims").mkdir()
    schedule = make_schedule(people, folder=str(tmp_path / "Claims"))
    owner, address = as_user(people.owner), f"/schedules/{schedule.pk}/"
    assert "is paused" in words_of(owner.post(f"{address}pause/", follow=True).content.decode())
    schedule.refresh_from_db()
    assert schedule.paused is not None
    assert schedule.next_due is None
    assert "nightly runs now" in words_of(owner.post(f"{address}run/", follow=True).content.decode())
    assert Run.objects.get().why == "now"
    assert f"asked for by {people.owner}" in words_of(text_of(owner, address))
    owner.post(f"{address}resume/")
    schedule.refresh_from_db()
    assert schedule.next_due is not None
    assert not schedule.paused
    assert owner.post(f"{address}delete/").status_code == 302
    assert not Schedule.objects.exists()


def test_the_page_asks_before_it_runs_in_a_blackout(people: People, as_user: AsUser) -> None:
    schedule = make_schedule(people)
    owner, address = as_user(people.owner), f"/schedules/{schedule.pk}/"
    assert "all the same" not in text_of(owner, address)
    Schedule.objects.update(blackouts="daily 00:00-24:00")
    page = text_of(owner, address)
    assert 'data-confirm="It is within the blackout window daily 00:00-24:00. Run nightly all the same?"' in page
    assert "What is due is skipped" in page


def test_a_group_is_made_changed_and_deleted(people: People, system: System, as_user: AsUser) -> None:
    owner = as_user(people.owner)
    owner.post("/groups/new/", {"name": "the south", "systems": [system.pk]})
    group = Group.objects.get()
    assert (group.team, list(group.systems.all())) == (people.team, [system])
    assert "the south" in text_of(as_user(people.colleague), "/groups/")
    owner.post(f"/groups/{group.pk}/", {"name": "the north"})
    group.refresh_from_db()
    assert (group.name, group.systems.count()) == ("the north", 0)
    assert owner.post(f"/groups/{group.pk}/delete/").status_code == 302
    assert not Group.objects.exists()


def test_a_group_that_is_used_is_not_deleted(people: People, system: System, as_user: AsUser) -> None:
    group = Group.objects.create(team=people.team, name="the south")
    make_schedule(people, group=group)
    owner = as_user(people.owner)
    assert "Only a group that no schedule" in text_of(owner, f"/groups/{group.pk}/")
    said = words_of(owner.post(f"/groups/{group.pk}/delete/", follow=True).content.decode())
    assert "Not deleted: the group is used by" in said
    assert Group.objects.exists()


def test_a_group_holds_systems_of_its_team_and_is_its_teams_to_change(
    people: People, system: System, as_user: AsUser
) -> None:
    foreign = System.objects.create(team=people.other_team, product="ase", name="PAY1", key="PAY1")
    group = Group.objects.create(team=people.team, name="the south")
    owner = as_user(people.owner)
    answer = owner.post(f"/groups/{group.pk}/", {"name": "the south", "systems": [foreign.pk]})
    assert answer.status_code == 400
    assert not group.systems.exists()
    assert as_user(people.stranger).get(f"/groups/{group.pk}/").status_code == 404
    assert as_user(people.stranger).post(f"/groups/{group.pk}/delete/").status_code == 404
    reader = as_user(people.colleague)
    assert "Keep" not in text_of(reader, f"/groups/{group.pk}/")
    assert reader.post(f"/groups/{group.pk}/", {"name": "x"}).status_code == 403
    assert reader.post(f"/groups/{group.pk}/delete/").status_code == 403
    assert reader.get("/groups/new/").status_code == 403
    assert Team.objects.count() == 2
