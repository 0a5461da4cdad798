"""Which folders may be drop folders: a page must not have us read just any file of the machine."""

import os
from contextlib import suppress
from pathlib import Path

from django.conf import settings

from advisor.models import Team, User
from advisor.services.uploads import file_part

LONGEST = 500
"""Characters of `Schedule.folder`."""


class NotAllowed(ValueError):
    """A folder that may not be a drop folder; the message says why and what to do."""


def own_folder(team: Team) -> Path:
    """The team's own folder below the first drop folder of the settings; it need not be there."""
    return Path(os.path.realpath(settings.DROP_FOLDERS[0])) / file_part(team.name)


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
    roots = [Path(os.path.realpath(root)) for root in settings.DROP_FOLDERS]
    if user.is_administrator:
        if not any(folder.is_relative_to(root) for root in roots):
            shown = ", ".join(map(str, roots))
            raise NotAllowed(f"{folder} may be no drop folder: choose one below {shown}, or add it to DROP_FOLDERS")
    else:
        part = file_part(team.name)
        alike = [other for other in Team.objects.exclude(pk=team.pk) if file_part(other.name).lower() == part.lower()]
        if alike:
            raise NotAllowed(f"{part} would be the folder of another team, too: have an administrator choose one")
        if not any(folder.is_relative_to(root / part) for root in roots):
            shown = " or ".join(str(root / part) for root in roots)
            raise NotAllowed(f"choose {shown} or a folder below it; an administrator may choose another one")
    if folder == own_folder(team) and folder.is_relative_to(os.path.realpath(settings.RUN_DIR)):
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
    return folder
