"""Where drop folders may lie at all, by the settings of today: below `DROP_FOLDERS`, never where our own files are."""

import os
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings

OPEN = "drop"
"""The one folder in `RUN_DIR` that is for exports; beside it lie the database, the key and the collectors."""


def roots() -> list[Path]:
    """The folders of `DROP_FOLDERS`, where links lead to."""
    return [Path(os.path.realpath(root)) for root in settings.DROP_FOLDERS]


def bases(folder: Path) -> Iterator[Path]:
    """Those of `DROP_FOLDERS` that a folder lies below or is, as its path writes them or where links lead to."""
    if ".." in folder.parts:
        return
    for root in settings.DROP_FOLDERS:
        for base in (root, Path(os.path.realpath(root))):
            if folder.is_relative_to(base):
                yield base


def part_of(folder: Path) -> str:
    """What a folder's first step below `DROP_FOLDERS` is called: a team's own folder; empty where there is none."""
    below = [folder.relative_to(base).parts for base in bases(folder)]
    return min(filter(None, below), key=len, default=("",))[0]


def is_private(folder: Path) -> bool:
    """Whether a folder, its links resolved, lies in `RUN_DIR`, but not in `RUN_DIR/drop`, or holds it."""
    run = Path(os.path.realpath(settings.RUN_DIR))
    return run.is_relative_to(folder) or (folder.is_relative_to(run) and not folder.is_relative_to(run / OPEN))


def misplaced() -> list[Path]:
    """Those of `DROP_FOLDERS` below which our own files lie, or which lie among them."""
    return [root for root in settings.DROP_FOLDERS if is_private(Path(os.path.realpath(root)))]
