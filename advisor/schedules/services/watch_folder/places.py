"""Which folders may be drop folders: a page must not have us read just any file of the machine."""

import os
from contextlib import suppress
from pathlib import Path

from django.conf import settings
from django.db.models import QuerySet

from advisor.accounts.models import Team, User
from advisor.schedules.models import Schedule
from advisor.schedules.services.watch_folder.files import Unreadable
from advisor.schedules.services.watch_folder.names import told
from advisor.schedules.services.watch_folder.roots import is_private, part_of, roots
from advisor.uploads.services.uploads import file_part

LONGEST = 500
"""Characters of `Schedule.folder`."""


class NotAllowed(ValueError):
    """A folder that may not be a drop folder; the message says why and what to do."""


def own_folder(team: Team) -> Path:
    """The team's own folder below the first drop folder of the settings; it need not be there."""
    return roots()[0] / file_part(team.name)


def allowed(text: str, user: User, team: Team) -> Path:
    """The folder somebody typed, if a schedule of this team may look into it. Raises `NotAllowed`.

    What is not absolute lies below the team's own folder. It need not be there yet; the team's own one is made where
    it lies in `RUN_DIR`, as nobody else would make it.
    """
    text = text.strip()
    if not text or not text.isprintable():
        raise NotAllowed(f"say which folder: a path, such as {own_folder(team)}")
    folder = Path(os.path.realpath(own_folder(team) / text))
    if len(str(folder)) > LONGEST:
        raise NotAllowed(f"a path of more than {LONGEST} characters: choose a shorter one")
    if user.is_administrator:
        if not any(folder.is_relative_to(root) for root in roots()):
            shown = ", ".join(map(str, roots()))
            raise NotAllowed(f"{folder} may be no drop folder: choose one below {shown}, or add it to DROP_FOLDERS")
    else:
        part = file_part(team.name)
        if namesake(team.name, team):
            raise NotAllowed(f"{part} would be the folder of another team, too: have an administrator choose one")
        if not any(folder.is_relative_to(root / part) for root in roots()):
            shown = " or ".join(str(root / part) for root in roots())
            raise NotAllowed(f"choose {shown} or a folder below it; an administrator may choose another one")
        if looking_into(team.name, team):
            raise NotAllowed(f"a schedule of another team looks into {part}: have an administrator choose a folder")
    if is_private(folder):
        raise NotAllowed(f"{folder} lies among the files of the service itself, or holds them: choose another one")
    if part_of(folder).lower() in _of_others(team.pk):
        raise NotAllowed(f"{folder} is for another team: choose {own_folder(team)}, or a folder no team is named like")
    if folder == own_folder(team) and folder.is_relative_to(os.path.realpath(settings.RUN_DIR)):
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
    return folder


def checked(schedule: Schedule) -> frozenset[str]:
    """See that a schedule may look into its folder today: teams are renamed, settings change. Raises `Unreadable`.

    Returns what not to look into below it, in small letters: the folders of other teams.
    """
    folder, others = Path(schedule.folder), _of_others(schedule.team_id)
    if part_of(folder).lower() in others:
        do = "choose another folder for the schedule, and have this team's exports put there"
        raise Unreadable(f"{told(schedule.folder)} is the folder of another team by now", do)
    return frozenset(others) if folder in {*settings.DROP_FOLDERS, *roots()} else frozenset()


def namesake(name: str, but: Team | None = None) -> Team | None:
    """Another team whose drop folder would be that of a team of this name."""
    part = file_part(name).lower()
    return next((team for team in _others(but) if file_part(team.name).lower() == part), None)


def looking_into(name: str, but: Team | None = None) -> Schedule | None:
    """A schedule of another team that looks into what would be the drop folder of a team of this name."""
    part = file_part(name).lower()
    found = Schedule.objects.filter(source=Schedule.Source.FOLDER).exclude(team=but).select_related("team")
    return next((one for one in found if part_of(Path(one.folder)).lower() == part), None)


def _others(team: Team | None) -> QuerySet[Team]:
    return Team.objects.exclude(pk=team.pk) if team else Team.objects.all()


def _of_others(team_pk: int) -> set[str]:
    """What the folders of the other teams are called, in small letters; one that is this team's, too, is its own."""
    parts = {pk: file_part(name).lower() for pk, name in Team.objects.values_list("pk", "name")}
    return set(parts.values()) - {parts.get(team_pk)}
