"""What is in a drop folder against what was there at the looks before: which files are new, and which have settled."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import TypeVar

from django.conf import settings
from django.db import transaction

from advisor.schedules.models import DropFile, Schedule
from advisor.schedules.services.watch_folder.files import Seen
from advisor.schedules.services.watch_folder.names import path_of
from collectors.intake import MEGABYTE

HOLD = 600.0
"""Seconds a file that still grows holds back the others of its folder (this project's figure)."""
SEEN_EVERY = timedelta(hours=12)
"""How exact `DropFile.seen` is: to write it at each look would cost more than the look."""
AT_A_TIME = 500
T = TypeVar("T")


@dataclass
class File:
    """A file of a drop folder, and what is known of it."""

    seen: Seen
    row: DropFile
    still: float | None
    """Seconds for which it is known to be as it is; `None`: this look is the first one to see it so."""
    refused: str
    """Why it is not taken as it is, as far as that shows from outside; empty: nothing is against it."""


@dataclass
class Compared:
    """The files of one folder, by what is to become of them."""

    files: list[File] = field(default_factory=list)
    ready: list[File] = field(default_factory=list)
    """To be taken now."""
    unsettled: list[File] = field(default_factory=list)
    wait_seconds: float | None = None
    """When something of it may have settled."""


def compare(schedule: Schedule, listed: Mapping[str, Sequence[Seen]], now: datetime) -> dict[str, Compared]:
    """Hold what is there, by folder, against what was seen before, and remember it.

    `File.refused` is told with `DropFile.refused` still the old one: what differs is news, `refuse` notes it.
    """
    paths = {path_of(folder, seen.name): (folder, seen) for folder, files in listed.items() for seen in files}
    mine = DropFile.objects.filter(schedule=schedule)
    rows = {row.path: row for some in _pieces(list(paths)) for row in mine.filter(path__in=some)}
    found = {folder: Compared() for folder in listed}
    new: list[DropFile] = []
    changed: list[DropFile] = []
    still: list[int] = []
    for path, (folder, seen) in paths.items():
        row = rows.get(path) or DropFile(schedule=schedule, path=path)
        file = _compared(seen, row, now)
        found[folder].files.append(file)
        if row.pk is None:
            new.append(row)
        elif file.still is None:
            changed.append(row)
        elif abs(now - row.seen) > SEEN_EVERY:
            still.append(row.pk)
    _remember(new, changed, still, now)
    for one in found.values():
        _sort(one, float(schedule.settle_seconds))
    return found


def refuse(file: File, why: str) -> bool:
    """Note why a file is not taken, or not moved; returns whether that is news."""
    if file.row.refused == why[:300]:
        return False
    file.row.refused = why[:300]
    DropFile.objects.filter(pk=file.row.pk).update(refused=file.row.refused)
    return True


def _compared(seen: Seen, row: DropFile, now: datetime) -> File:
    """A file that was first seen in the future was seen before the clock was set back: that tells nothing."""
    state = (seen.size, seen.mtime_ns, Decimal(seen.inode))
    same = row.pk is not None and (row.size, row.mtime_ns, row.inode) == state
    if not same:
        row.size, row.mtime_ns, row.inode = state
        row.taken, row.refused = None, ""
    if not same or (row.taken is None and row.since > now):
        row.since = row.seen = now
        return File(seen, row, None, _refused(seen))
    return File(seen, row, (now - row.since).total_seconds(), _refused(seen))


def _refused(seen: Seen) -> str:
    if seen.links > 1:  # a second name would let whoever may write here have us read a file of our own
        return "has several names (hard links): copy it here instead"
    if not seen.size:
        return "is empty: it is taken when something is in it"
    if seen.size > settings.UPLOAD_MB * MEGABYTE:
        much = f"{seen.size / MEGABYTE:,.0f} MB, at most {settings.UPLOAD_MB:,} MB are taken"
        return f"is too large ({much}): zip it, or split it"
    return ""


def _sort(one: Compared, settle: float) -> None:
    """Say which files of a folder are to be taken: none while others grow, but not for longer than `HOLD`."""
    waits = []
    held = 0.0
    for file in one.files:
        if file.row.taken or file.refused:
            continue
        left = settle if file.still is None else settle - file.still
        if file.still is None or left > 0:
            one.unsettled.append(file)
            waits.append(max(1.0, left))
        else:
            one.ready.append(file)
            if not file.row.refused:
                held = max(held, -left)
    if one.unsettled and one.ready and held < HOLD:
        one.ready = []
        waits.append(max(1.0, HOLD - held))
    one.wait_seconds = min(waits, default=None)


def _remember(new: Sequence[DropFile], changed: Sequence[DropFile], still: Sequence[int], now: datetime) -> None:
    """Write in short transactions: each row stands for itself."""
    for some in _pieces(new):
        DropFile.objects.bulk_create(some)
    for some in _pieces(changed):
        with transaction.atomic():
            DropFile.objects.bulk_update(some, ["size", "mtime_ns", "inode", "since", "seen", "taken", "refused"], 100)
    for pks in _pieces(still):
        DropFile.objects.filter(pk__in=pks).update(seen=now)


def _pieces(whole: Sequence[T]) -> Iterator[Sequence[T]]:
    return (whole[at : at + AT_A_TIME] for at in range(0, len(whole), AT_A_TIME))


def batches(files: Iterable[File]) -> Iterator[list[File]]:
    """As many files at a time as one upload takes."""
    some: list[File] = []
    left = settings.UPLOAD_MB * MEGABYTE
    for file in files:
        if some and (file.seen.size > left or len(some) == settings.UPLOAD_FILES):
            yield some
            some, left = [], settings.UPLOAD_MB * MEGABYTE
        some.append(file)
        left -= file.seen.size
    if some:
        yield some
