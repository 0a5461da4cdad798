"""Which team somebody means."""

from django.core.exceptions import PermissionDenied

from advisor.api.problems import Problem
from advisor.models import Team, User
from advisor.services.access import may_work_for, teams_of


def chosen_team(user: User, chosen: str) -> Team:
    """The team of this name or number, for somebody who may work for it; the only one where none was named.

    Raises `Problem`, `PermissionDenied`.
    """
    teams, word = list(teams_of(user)), chosen.strip().lower()
    found = [team for team in teams if not word or team.name.lower() == word]
    found = found or [team for team in teams if str(team.pk) == word]
    if word and not found:
        raise Problem(404, "There is no such team, or you are not in it.", _your(teams))
    if len(found) != 1:
        raise Problem(400, "Which team do the systems belong to?", f"Send the field `team`. {_your(teams)}")
    if not may_work_for(user, found[0]):
        raise PermissionDenied
    return found[0]


def _your(teams: list[Team]) -> str:
    return f"Your teams: {', '.join(team.name for team in teams)}." if teams else "You are in no team yet."
