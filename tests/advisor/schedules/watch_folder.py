"""A drop folder of a team, and looks into it at times of our choosing."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import time_machine
from pytest_django import Settings

from advisor.accounts.models import Team
from advisor.schedules.models import DropFile, Run, Schedule
from advisor.schedules.services.watch_folder.files import Seen, opened
from advisor.schedules.services.watch_folder.intake import Looked, look
from advisor.uploads.models import Upload

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
NOBODY = 65534


@dataclass
class Drop:
    """A schedule over a folder, and the clock it lives by."""

    folder: Path
    schedule: Schedule
    now: datetime = NOON
    run: Run | None = field(default=None)

    def look(self, seconds: float = 0.0, **more: Any) -> Looked:
        """Look as a new run, so much later than the last time."""
        self.now += timedelta(seconds=seconds)
        with time_machine.travel(self.now, tick=False):
            self.run = Run.objects.create(schedule=self.schedule, due=self.now, why=Run.Why.NOW, **more)
            looked = look(Schedule.objects.get(pk=self.schedule.pk), self.run)
        Schedule.objects.filter(pk=self.schedule.pk).update(looked=self.now)
        return looked

    def settle(self) -> Looked:
        """Look twice, so far apart that all there is has settled."""
        self.look()
        return self.look(60)

    def put(self, name: str, text: str | bytes) -> Path:
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def row(self, path: str) -> DropFile:
        return DropFile.objects.get(schedule=self.schedule, path=path)


def make_drop(team: Team, folder: Path, **more: Any) -> Drop:
    folder.mkdir(parents=True, exist_ok=True)
    name = more.pop("name", "night")
    made = Schedule.objects.create(team=team, name=name, folder=str(folder), every_minutes=60, **more)
    return Drop(folder, made)


def seen(drop: Drop, name: str) -> Seen:
    """A file as a look that lists it now sees it."""
    with opened(str(drop.folder)) as folder:
        return next(one for one in folder.listed()[0] if one.name == name)


def names_in(upload: Upload) -> list[str]:
    return [file.name for file in upload.files.all()]


def drop_files() -> list[tuple[str, bool, str]]:
    """Every file that is known: its path, whether it was taken, why not."""
    return [(row.path, row.taken is not None, row.refused) for row in DropFile.objects.all()]


@contextmanager
def a_place_for_all(settings: Settings) -> Iterator[Path]:
    """A place for drop folders that anybody may read, which pytest's own folders are not."""
    with TemporaryDirectory(prefix="drop-") as made:
        place = Path(made)
        place.chmod(0o755)
        settings.DROP_FOLDERS, settings.SPOOL_DIR = [place], place / "no spool"
        yield place


@contextmanager
def as_nobody() -> Iterator[None]:
    """Do without the rights of root, whom nothing is forbidden."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)
