"""Take what appears in a drop folder: settled files only, each state of its content once.

A look lists the folder and its direct subfolders and holds what it sees against what the looks before have seen. A file
that is as it was for `settle_seconds`, by two looks at least, is taken: all such files of one folder as one upload, so
that listings join the figures they came with. A subfolder named like a system of the team speaks for that system.
"""

import errno
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from django.conf import settings
from django.utils import timezone

from advisor.schedules.models import DropFile, Run, Schedule
from advisor.schedules.services.watch_folder.files import (
    Folder,
    Refused,
    Seen,
    Unreadable,
    away,
    opened,
    user,
)
from advisor.schedules.services.watch_folder.names import told
from advisor.schedules.services.watch_folder.places import (
    NotAllowed,
    allowed,
    checked,
    own_folder,
)
from advisor.schedules.services.watch_folder.seen import (
    Compared,
    File,
    batches,
    compare,
    refuse,
)
from advisor.systems.models import System
from advisor.uploads.models import Upload, UploadFile
from advisor.uploads.services.storing import room
from advisor.uploads.services.uploads import (
    Brought,
    clean_text,
    file_part,
    ingest,
)
from collectors.intake import shown

__all__ = ["Looked", "NotAllowed", "Unreadable", "allowed", "look", "own_folder"]

PATIENCE = 3600.0
"""Seconds a run waits for files that keep changing, beside the time they take to settle, and at most between two looks;
the next run looks again (this project's figure)."""
MOST_SEEN = 50_000
"""Files of a drop folder that are looked at, the newest ones: about 4 s and 75 MB (this project's figure)."""


@dataclass
class Looked:
    """What came of one look."""

    taken: int = 0
    """Files that were taken."""
    uploads: list[Upload] = field(default_factory=list)
    """What they went into. One whose `run` is another one was there before: these very files had been brought."""
    refused: list[str] = field(default_factory=list)
    """Which files are not taken and why; what is known of a file is told by one look alone."""
    wait_seconds: float | None = None
    """When to look again, as something has not settled or was left for want of time; `None`: when it is due."""

    def wait(self, seconds: float | None) -> None:
        """Look again in so many seconds, or sooner."""
        if seconds is not None:
            self.wait_seconds = min(seconds, PATIENCE, seconds if self.wait_seconds is None else self.wait_seconds)


class _Overtaken(Exception):
    """Another worker has taken these files."""


def look(schedule: Schedule, run: Run) -> Looked:
    """Look into the folder of a schedule once, and take what has settled. Raises `Unreadable`.

    A worker may die at any point: an upload and the note that its files are taken are one transaction.
    """
    one = _Look(schedule, run)
    with opened(schedule.folder) as root:
        one.take_all(root)
    one.bound_waiting()
    return one.looked


class _Look:
    def __init__(self, schedule: Schedule, run: Run) -> None:
        self.schedule, self.run, self.looked = schedule, run, Looked()
        self.of_others = checked(schedule)
        self.now = timezone.now()
        self.until = time.monotonic() + settings.TASK_SECONDS / 2
        self.unsettled: list[File] = []
        self.more = False
        """Whether there are more files than one look looks at."""

    @property
    def _moves(self) -> bool:
        return self.schedule.after == Schedule.After.MOVE

    def take_all(self, root: Folder) -> None:
        for folder, found in compare(self.schedule, self._listed(root), self.now).items():
            for file in found.files:
                if file.refused and not file.row.taken:
                    self._refuse(file, file.refused)
            self.looked.wait(found.wait_seconds)
            self.unsettled += found.unsettled
            self._take_of(root, folder, found)
        if self.more and self._moves and self.looked.taken:
            self.looked.wait(1.0)

    def bound_waiting(self) -> None:
        """Wait neither for what changes for ever, nor where the schedule is due before.

        A run that is late at its first look, for a blackout, say, is not impatient.
        """
        wait, due, before = self.looked.wait_seconds, self.schedule.next_due, self.schedule.looked
        if wait is None:
            return
        first = before is None or before < self.run.created
        patience = PATIENCE + self.schedule.settle_seconds
        if not first and abs((self.now - self.run.created).total_seconds()) > patience:
            self.looked.wait_seconds = None
            still = f"{self.schedule.settle_seconds:,} s"
            for file in self.unsettled:
                self.looked.refused.append(f"{file.row.path} keeps changing: it is taken when it has not for {still}")
        elif due and 0 < (due - self.now).total_seconds() <= wait:
            self.looked.wait_seconds = None

    def _listed(self, root: Folder) -> dict[str, list[Seen]]:
        """What is there, by folder. Raises `Unreadable`."""
        try:
            files, folders = root.listed()
        except OSError as error:
            raise away(error, root.name) from None
        found = {"": files}
        for name in (one for one in folders if one.lower() not in self.of_others):
            try:
                with root.below(name) as folder:
                    found[name] = folder.listed()[0]
            except OSError as error:
                self._pass_over(error, root, name)
        count = sum(map(len, found.values()))
        if count > MOST_SEEN:
            oldest = sorted((seen.mtime_ns for files in found.values() for seen in files), reverse=True)[MOST_SEEN - 1]
            found = {name: [seen for seen in files if seen.mtime_ns >= oldest] for name, files in found.items()}
            self.more = True
            much = f"{count:,} files, of which only the newest {MOST_SEEN:,} are looked at"
            self.looked.refused.append(f"{root.name} holds {much}: take away what was taken, or have it moved")
        return found

    def _pass_over(self, error: OSError, root: Folder, folder: str) -> None:
        """Go on without a subfolder that is gone, or a link by now, or not for us. Raises `Unreadable` for the rest."""
        name = f"{root.name}/{told(folder)}"
        if error.errno in (errno.EACCES, errno.EPERM):
            self.looked.refused.append(f"{name} cannot be read: let {user()} list it")
        elif error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
            raise away(error, name) from None

    def _take_of(self, root: Folder, folder: str, found: Compared) -> None:
        left = [file for file in found.files if file.row.taken and self._moves]
        if not found.ready and not left:
            return
        with ExitStack() as opened_folders:
            try:
                place = opened_folders.enter_context(root.below(folder))
            except OSError as error:
                self._pass_over(error, root, folder)
                return
            self._move(place, left)
            for some in batches(found.ready):
                self._take(place, folder, some)

    def _take(self, place: Folder, folder: str, files: Iterable[File]) -> None:
        """Take files of one folder as one upload; what was taken before, as it is, is not taken again."""
        with room() as ours:
            brought: list[tuple[File, Path]] = []
            same: list[File] = []
            for number, file in enumerate(files):
                if time.monotonic() > self.until:
                    self.looked.wait(1.0)
                    break
                copy = ours / f"{number}"
                digest = self._copy(place, file, copy)
                if digest is None:
                    continue
                before = file.row.upload_id
                if before and UploadFile.objects.filter(upload=before, blob=digest).exists():
                    copy.unlink()
                    same.append(file)
                else:
                    brought.append((file, copy))
            if brought:
                self._bring(folder, brought)
        with suppress(_Overtaken):
            _note(same)
        self._move(place, [file for file, _ in brought] + same)

    def _copy(self, place: Folder, file: File, target: Path) -> str | None:
        """Copy a file and return its digest; `None`: not now."""
        try:
            with target.open("wb", buffering=0) as stream:
                digest = place.copy(file.seen, stream)
        except Refused as error:
            self._refuse(file, str(error))
            return None
        if digest is None:  # gone, or being written again: the next look tells
            self.looked.wait(float(self.schedule.settle_seconds) or 1.0)
        return digest

    def _bring(self, folder: str, brought: list[tuple[File, Path]]) -> None:
        """Remember an upload, and that its files are taken."""
        files = [file for file, _ in brought]
        try:
            upload = ingest(
                _open_all(brought),
                self.schedule.team,
                None,
                system_name=self._system_of(folder),
                origin="schedule",
                run=self.run,
                also=lambda upload: _note(files, upload),
            ).upload
        except _Overtaken:
            return
        self.looked.uploads.append(upload)
        self.looked.taken += len(files)

    def _move(self, place: Folder, files: Iterable[File]) -> None:
        """Move what was taken, also what a worker that died could not."""
        if not self._moves:
            return
        for file in files:
            why = place.move(file.seen)
            if why:
                self._refuse(file, why)
            elif file.row.refused:
                refuse(file, "")

    def _refuse(self, file: File, why: str) -> None:
        if refuse(file, why):
            self.looked.refused.append(f"{file.row.path} {why}")

    def _system_of(self, folder: str) -> str:
        """The system that exports of a folder belong to which name none themselves; empty: nobody said."""
        if self.schedule.system:
            return self.schedule.system.name
        return self._systems.get(clean_text(folder, 120).upper(), "") if folder else ""

    @cached_property
    def _systems(self) -> dict[str, str]:
        """The names of the team's systems, by what a folder of theirs may be called: by a name it had, too.

        The least exact comes first, and gives way to what is more so; what two systems may be called means none.
        """
        rows = System.objects.filter(team=self.schedule.team_id).values_list("name", "former").order_by("name")
        had = [(old, name) for name, former in rows for old in former]
        found: dict[str, str] = {}
        for some in (had, [(name, name) for name, _ in rows]):
            for called in (file_part, str):
                meant = {(called(known).upper(), name.upper()): name for known, name in some}
                many = Counter(key for key, _ in meant)
                found |= {key: name for (key, _), name in meant.items() if many[key] == 1}
        return found


def _open_all(brought: Iterable[tuple[File, Path]]) -> Iterator[Brought]:
    for file, path in brought:
        with path.open("rb") as stream:
            yield Brought(shown(file.seen.name), stream)


def _note(files: Sequence[File], upload: Upload | None = None) -> None:
    """Note that files are taken: into an upload, or into the one that they were taken into before."""
    more = {"upload": upload} if upload else {}
    rows = DropFile.objects.filter(pk__in=[file.row.pk for file in files], taken=None)
    if rows.update(taken=timezone.now(), refused="", **more) != len(files):
        raise _Overtaken
    for file in files:
        file.row.refused = ""
