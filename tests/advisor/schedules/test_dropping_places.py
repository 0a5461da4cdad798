"""Which folders a team's schedules may look into."""

from pathlib import Path

import pytest
from pytest_django import Settings

from advisor.models import Team
from advisor.services.scheduling.dropping import NotAllowed, allowed, own_folder
from tests.advisor.people import People


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
    assert allowed(str(roots[0] / "Claims"), people.administrator, people.other_team) == roots[0] / "Claims"


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
