"""Three people: the owner of a system, a colleague of the same team who may only read, a stranger of another team.

Beside them a second DBA of the owner's team and an administrator. Tests of access are told with these.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.test import Client

from advisor.accounts.models import Role, Team, User
from advisor.uploads.models import Upload
from advisor.uploads.services.uploads import Brought, ingest

AsUser = Callable[[User], Client]
PASSWORD = "correct horse battery"
STORIES = Path(__file__).resolve().parents[2] / "advisor" / "examples" / "audits"


@dataclass(frozen=True)
class People:
    """Who is there."""

    team: Team
    other_team: Team
    owner: User
    mate: User
    colleague: User
    stranger: User
    administrator: User


def make_people() -> People:
    team, other = Team.objects.create(name="Claims"), Team.objects.create(name="Payroll")

    def person(name: str, role: Role, *teams: Team) -> User:
        user = User.objects.create_user(name, PASSWORD, role=role, email=f"{name}@example.org")
        user.teams.set(teams)
        return user

    return People(
        team,
        other,
        owner=person("olga", Role.DBA, team),
        mate=person("mats", Role.DBA, team),
        colleague=person("carl", Role.VIEWER, team),
        stranger=person("sten", Role.DBA, other),
        administrator=person("adam", Role.ADMINISTRATOR),
    )


def bring_story(story: str, team: Team, by: User | None, **more: Any) -> Upload:
    """Bring the exports of an example as an upload (it is read when the transaction is through)."""
    paths = sorted(p for p in (STORIES / story).iterdir() if p.suffix != ".yml")
    streams = [path.open("rb") for path in paths]
    try:
        return ingest(
            [Brought(path.name, stream) for path, stream in zip(paths, streams, strict=True)], team, by, **more
        ).upload
    finally:
        for stream in streams:
            stream.close()


def text_of(client: Client, address: str) -> str:
    """The page at an address, which must be there."""
    answer = client.get(address)
    assert answer.status_code == 200, answer.content[:300]
    return answer.content.decode()
