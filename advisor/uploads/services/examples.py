"""The examples that come with the program: brought as any exports are, kept apart from all others, removed again."""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction
from django.http import HttpRequest

from advisor.accounts.models import Team, User
from advisor.core import journal
from advisor.core.access import may_work_for, teams_of
from advisor.systems.models import Group, System
from advisor.uploads.models import Upload
from advisor.uploads.services.storing import drop_unused
from advisor.uploads.services.uploads import Brought, ingest

ORIGIN = "example"
GROUP = "Examples"
"""What the group of their systems is called."""


def bring_examples(team: Team, by: User, *, request: HttpRequest | None = None) -> int:
    """Bring the example exports as uploads of a team; returns how many are new.

    Each of `advisor/examples/audits` is one, and each side of `advisor/examples/comparisons`: before, then after.
    """
    return sum(_bring(folder, team, by, request) for folder in folders())


def gather(upload: Upload, systems: Iterable[int]) -> None:
    """Put the systems of an example into the group of them, which is made where there is none; of the others none."""
    if upload.origin != ORIGIN:
        return
    found = System.objects.filter(pk__in=list(systems), example=True)
    if found:
        Group.objects.get_or_create(team=upload.team, name=GROUP)[0].systems.add(*found)


def teams_for(user: User) -> list[Team]:
    """The teams that a person may bring the examples for."""
    return [team for team in teams_of(user) if may_work_for(user, team)]


def offered(user: User) -> dict[str, Any]:
    """What an offer of the examples says: for which teams, how many there are, how many these teams have already."""
    teams = teams_for(user)
    return {"example_teams": teams, "examples": brought(teams), "example_count": len(list(folders()))}


def brought(teams: Iterable[Team]) -> dict[str, int]:
    """Of the examples these teams have: `uploads`, how many of them are `waiting` to be read, and `systems`."""
    uploads = Upload.objects.filter(team__in=list(teams), origin=ORIGIN)
    states = list(uploads.values_list("state", flat=True))
    return {
        "uploads": len(states),
        "waiting": sum(state in (Upload.State.WAITING, Upload.State.READING) for state in states),
        "systems": System.objects.filter(team__in=list(teams), example=True).count(),
    }


def remove_examples(team: Team, by: User, *, request: HttpRequest | None = None) -> int:
    """Remove the examples of a team: systems with all there is of them, uploads, and their group if it is empty.

    Returns how many systems went. One that is being read is dropped by its worker. What a person merged into a system
    of an example is no example.
    """
    with transaction.atomic():
        systems = System.objects.select_for_update().filter(team=team, example=True).order_by("pk")
        gone = len(systems)
        uploads = Upload.objects.filter(team=team, origin=ORIGIN)
        if not gone and not uploads.exists():
            return 0
        journal.note(by, "examples removed", f"{gone:,} systems", team=team, request=request)
        for system in systems:
            system.delete()
        uploads.delete()
        group = Group.objects.filter(team=team, name=GROUP, systems=None)
        group.filter(schedules=None, recipients=None, webhooks=None).delete()
    drop_unused()
    return gone


def folders() -> Iterator[Path]:
    """The folders of exports that are brought as one upload each."""
    yield from (story.parent for story in sorted((settings.EXAMPLES / "audits").glob("*/story.yml")))
    for story in sorted((settings.EXAMPLES / "comparisons").glob("*/story.yml")):
        yield from (story.parent / "before", story.parent / "after")


def _bring(folder: Path, team: Team, by: User, request: HttpRequest | None) -> int:
    """Take in the files of one folder; returns how many uploads that made: one, or none where they are there."""
    with ExitStack() as stack:
        paths = sorted(path for path in folder.iterdir() if path.suffix in (".txt", ".csv", ".json"))
        files = [Brought(path.name, stack.enter_context(path.open("rb"))) for path in paths]
        return ingest(files, team, by, origin=ORIGIN, request=request).new
