"""Which folders a team's schedules may look into."""

from pathlib import Path

import pytest
from django.core.checks import run_checks
from pytest_django import Settings

from advisor.accounts.models import Team
from advisor.accounts.services import people as people_service
from advisor.core.records import Refused
from advisor.schedules.models import Schedule
from advisor.schedules.services.watch_folder.files import Unreadable
from advisor.schedules.services.watch_folder.intake import NotAllowed, allowed, own_folder
from advisor.uploads.models import Upload
from tests.advisor.people import People
from tests.advisor.schedules.watch_folder import make_drop, names_in


@pytest.fixture
def roots(settings: Settings, tmp_path: Path) -> list[Path]:
    places = [tmp_path / "drop", tmp_path / "sftp"]
    for place in places:
        place.mkdir()
    settings.DROP_FOLDERS = places
    return places


def test_a_team_has_a_folder_of_its_own(people: People, roots: list[Path]) -> None:
    assert own_folder(people.team) == roots[0] / "Claims"
    assert allowed(str(roots[0] / "Claims"), people.owner, people.team) == roots[0] / "Claims"
    assert allowed(f" {roots[1]}/Claims/night/ ", people.owner, people.team) == roots[1] / "Claims" / "night"


def test_a_path_that_is_not_absolute_lies_in_the_folder_of_the_team(people: People, roots: list[Path]) -> None:
    assert allowed("night", people.owner, people.team) == roots[0] / "Claims" / "night"
    assert allowed(".", people.owner, people.team) == roots[0] / "Claims"
    assert allowed("night/../day", people.administrator, people.other_team) == roots[0] / "Payroll" / "day"


@pytest.mark.parametrize(
    "typed", ["/etc", "/", "../Payroll", "..", "../Claims2", "../../sftp/Payroll", "night/../../Payroll", "../claims"]
)
def test_a_dba_stays_within_the_folder_of_the_team(people: People, roots: list[Path], typed: str) -> None:
    with pytest.raises(NotAllowed) as refused:
        allowed(typed, people.owner, people.team)
    places = f"{roots[0]}/Claims or {roots[1]}/Claims"
    assert str(refused.value) == f"choose {places} or a folder below it; an administrator may choose another one"


def test_a_dba_does_not_choose_the_folder_of_another_team(people: People, roots: list[Path]) -> None:
    with pytest.raises(NotAllowed, match="an administrator may choose another one"):
        allowed(str(roots[0] / "Claims"), people.stranger, people.other_team)
    with pytest.raises(NotAllowed, match=r"Claims/night is for another team: choose .*/Payroll, or a folder no team"):
        allowed(str(roots[0] / "Claims" / "night"), people.administrator, people.other_team)


def test_a_dba_does_not_choose_a_folder_that_a_schedule_of_another_team_looks_into(
    people: People, roots: list[Path]
) -> None:
    make_drop(people.other_team, roots[1] / "claims" / "night")
    with pytest.raises(NotAllowed, match="a schedule of another team looks into Claims: have an administrator choose"):
        allowed("day", people.owner, people.team)
    assert allowed("day", people.administrator, people.team) == roots[0] / "Claims" / "day"
    assert allowed("day", people.stranger, people.other_team) == roots[0] / "Payroll" / "day"


def test_a_link_counts_as_where_it_leads(people: People, roots: list[Path]) -> None:
    (roots[0] / "Claims").mkdir()
    (roots[0] / "Claims" / "out").symlink_to("/etc")
    (roots[0] / "Claims" / "in").symlink_to(roots[1] / "Claims")
    with pytest.raises(NotAllowed, match="choose "):
        allowed("out", people.owner, people.team)
    with pytest.raises(NotAllowed, match="/etc may be no drop folder"):
        allowed("out", people.administrator, people.team)
    assert allowed("in", people.owner, people.team) == roots[1] / "Claims"


def test_an_administrator_chooses_any_folder_below_the_roots_and_no_other(people: People, roots: list[Path]) -> None:
    assert allowed(str(roots[1]), people.administrator, people.team) == roots[1]
    with pytest.raises(NotAllowed) as refused:
        allowed("/etc", people.administrator, people.team)
    assert str(refused.value) == (
        f"/etc may be no drop folder: choose one below {roots[0]}, {roots[1]}, or add it to DROP_FOLDERS"
    )


@pytest.mark.parametrize("typed", ["", "  ", "a\0b", "a\nb", "\u202eb", "a\ud800"])
def test_what_is_no_path_is_refused_with_an_example(people: People, roots: list[Path], typed: str) -> None:
    with pytest.raises(NotAllowed, match=r"say which folder: a path, such as .*/Claims"):
        allowed(typed, people.owner, people.team)


def test_a_path_too_long_to_remember_is_refused(people: People, roots: list[Path]) -> None:
    for person in (people.owner, people.administrator):
        with pytest.raises(NotAllowed, match="more than 500 characters"):
            allowed("x/" * 300, person, people.team)


def test_of_teams_that_would_share_a_folder_only_an_administrator_chooses_it(people: People, roots: list[Path]) -> None:
    Team.objects.create(name="CLAIMS ")
    with pytest.raises(NotAllowed, match="Claims would be the folder of another team, too: have an administrator"):
        allowed(".", people.owner, people.team)
    assert allowed(".", people.administrator, people.team) == roots[0] / "Claims"


def test_the_folder_of_a_team_is_made_where_nobody_else_would(
    people: People, settings: Settings, roots: list[Path], tmp_path: Path
) -> None:
    allowed(".", people.owner, people.team)
    assert not list(roots[0].iterdir())
    settings.RUN_DIR = tmp_path
    allowed("night", people.owner, people.team)
    assert not list(roots[0].iterdir())
    allowed(".", people.owner, people.team)
    assert (roots[0] / "Claims").is_dir()


def test_a_team_that_is_renamed_does_not_read_the_folder_of_the_next_team_of_its_name(
    people: People, roots: list[Path]
) -> None:
    drop = make_drop(people.team, roots[0] / "Claims")
    people_service.rename_team(people.team, "Insurance", people.administrator)
    drop.put("before.txt", "figures of ours")
    assert drop.settle().taken == 1, "a new name alone changes nothing"
    Team.objects.create(name="Claims")  # as it was possible once
    drop.put("after.txt", "figures of theirs")
    for _ in range(2):
        with pytest.raises(Unreadable) as refused:
            drop.look(60)
    assert refused.value.says == f"{roots[0]}/Claims is the folder of another team by now"
    assert refused.value.do == "choose another folder for the schedule, and have this team's exports put there"
    assert Upload.objects.count() == 1


def test_a_look_into_all_folders_passes_over_those_of_other_teams(people: People, roots: list[Path]) -> None:
    drop = make_drop(people.team, roots[0])
    for folder in ("Claims", "Payroll", "PAYROLL", "CLAIMS1"):
        drop.put(f"{folder}/config.txt", f"of {folder}")
    looked = drop.settle()
    assert (looked.taken, looked.refused) == (2, [])
    assert sorted(drop.schedule.files.values_list("path", flat=True)) == ["CLAIMS1/config.txt", "Claims/config.txt"]


@pytest.mark.parametrize("name", ["CLAIMS", "Claims!", "-claims"])
def test_a_team_gets_no_name_whose_drop_folder_is_that_of_another_team(people: People, name: str) -> None:
    Team.objects.filter(pk=people.team.pk).update(name="Claims ")
    text = "Its drop folder would be that of team Claims , too: choose a name that differs"
    with pytest.raises(Refused, match=text):
        people_service.add_team(name, people.administrator)
    with pytest.raises(Refused, match=text):
        people_service.rename_team(people.other_team, name, people.administrator)
    people_service.rename_team(people.team, name, people.administrator)


@pytest.mark.parametrize("folder", ["Motor", "motor/night"])
def test_a_team_gets_no_name_into_whose_drop_folder_another_team_looks(
    people: People, roots: list[Path], folder: str
) -> None:
    made = make_drop(people.team, roots[1] / folder).schedule
    text = (
        f"Schedule night of team Claims looks into {roots[1]}/{folder}, which would be its drop folder: choose another"
    )
    with pytest.raises(Refused, match=text):
        people_service.add_team("Motor", people.administrator)
    with pytest.raises(Refused, match=text):
        people_service.rename_team(people.other_team, "Motor", people.administrator)
    people_service.rename_team(people.team, "Motor", people.administrator)
    people_service.rename_team(people.team, "Claims", people.administrator)
    Schedule.objects.filter(pk=made.pk).update(source="collector")
    assert people_service.add_team("Motor", people.administrator).name == "Motor"


@pytest.mark.parametrize(("place", "text"), [(".", "holds them"), ("run", "lies"), ("run/spool", "lies")])
def test_the_files_of_the_service_are_no_drop_folder(
    people: People, settings: Settings, tmp_path: Path, place: str, text: str
) -> None:
    settings.DROP_FOLDERS, settings.RUN_DIR = [tmp_path], tmp_path / "run"
    drop = make_drop(people.team, tmp_path / place)
    with pytest.raises(NotAllowed, match=f"{text}.*: choose another one"):
        allowed(str(drop.folder), people.administrator, people.team)
    with pytest.raises(Unreadable, match="lies among the files of the service itself, or holds them"):
        drop.look()


def test_the_drop_folder_of_the_service_is_one_unless_it_leads_back_to_its_files(
    people: People, settings: Settings, tmp_path: Path
) -> None:
    settings.RUN_DIR = tmp_path / "run"
    settings.DROP_FOLDERS = [settings.RUN_DIR / "drop"]
    drop = make_drop(people.team, settings.RUN_DIR / "drop" / "Claims")
    assert allowed(".", people.owner, people.team) == drop.folder
    drop.put("sysmon.txt", "figures")
    assert [names_in(upload) for upload in drop.settle().uploads] == [["sysmon.txt"]]
    (settings.RUN_DIR / "drop").rename(settings.RUN_DIR / "moved")
    (settings.RUN_DIR / "drop").symlink_to(settings.RUN_DIR / "moved")
    with pytest.raises(Unreadable, match="lies among the files of the service itself"):
        drop.look(60)


@pytest.mark.parametrize(
    ("root", "good"), [("", False), ("run", False), ("run/spool", False), ("run/drop", True), ("drop", True)]
)
def test_drop_folders_among_the_files_of_the_service_stop_the_start(
    settings: Settings, tmp_path: Path, root: str, good: bool
) -> None:
    settings.RUN_DIR, settings.DROP_FOLDERS = tmp_path / "run", [tmp_path / root]
    found = [str(message) for message in run_checks(tags=["security"]) if message.id == "advisor.E002"]
    assert bool(found) is not good
    assert all(f"{tmp_path / root} is no place for drop folders" in text for text in found)
