"""Teams: added, renamed, and deleted only when they own nothing."""

import pytest
from django.urls import reverse

from advisor.accounts.models import Team, User
from advisor.systems.models import System
from tests.advisor.operations.administering import deeds
from tests.advisor.people import AsUser, People


def test_teams_are_added_renamed_and_deleted_when_they_own_nothing(people: People, as_user: AsUser) -> None:
    client = as_user(people.administrator)
    assert client.post(reverse("administration-team-add"), {"name": "  Night   shift "}).status_code == 302
    team = Team.objects.get(name="Night shift")
    page = reverse("administration-team", args=[team.pk])
    assert client.post(page, {"name": "Day shift"}).status_code == 302
    assert client.post(page, {"name": "day shift"}).status_code == 302, "its own name in another case"
    people.colleague.teams.add(team)
    assert client.post(reverse("administration-team-delete", args=[team.pk])).status_code == 302
    assert not Team.objects.filter(pk=team.pk).exists()
    assert User.objects.filter(pk=people.colleague.pk).exists()
    noted = list(deeds().order_by("pk").values_list("action", "what"))
    assert noted == [
        ("team added", "Night shift"),
        ("team renamed", "Night shift to Day shift"),
        ("team renamed", "Day shift to day shift"),
        ("team deleted", "day shift; its people: carl"),
    ]


@pytest.mark.parametrize("name", ["Claims", "claims", "", "   ", "x" * 81])
def test_a_team_name_that_is_taken_or_none_is_refused(name: str, people: People, as_user: AsUser) -> None:
    client = as_user(people.administrator)
    assert "errorlist" in client.post(reverse("administration-team-add"), {"name": name}).content.decode()
    page = reverse("administration-team", args=[people.other_team.pk])
    assert "errorlist" in client.post(page, {"name": name}).content.decode()
    assert set(Team.objects.values_list("name", flat=True)) == {"Claims", "Payroll"}


def test_a_team_that_owns_something_stays(people: People, storm: System, as_user: AsUser) -> None:
    client = as_user(people.administrator)
    page = reverse("administration-team-delete", args=[people.team.pk])
    assert "still has 1 system, 1 upload" in client.post(page, follow=True).content.decode()
    System.objects.all().delete()
    assert "still has 1 upload" in client.post(page, follow=True).content.decode()
    assert Team.objects.filter(pk=people.team.pk).exists()
    assert "Delete the team" not in client.get(
        reverse("administration-team", args=[people.team.pk])
    ).content.decode().replace("Only a team without any can be deleted", "")
