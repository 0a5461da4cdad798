"""A task's folder lives as long as its process: no clock decides it, and nobody else's is taken away."""

import subprocess
import sys
from pathlib import Path

import pytest
import time_machine
from pytest_django import Settings

from advisor.uploads.services.storing import ROOM, room

pytestmark = pytest.mark.postgres


@pytest.fixture
def spool(settings: Settings, tmp_path: Path) -> Path:
    settings.SPOOL_DIR = tmp_path
    return tmp_path


def test_a_room_is_empty_and_gone_afterwards(spool: Path) -> None:
    with room() as ours:
        assert ours.parent == spool
        assert not list(ours.iterdir())
        (ours / "0").write_text("x")
    assert not list(spool.iterdir())


DIES_IN_ITS_ROOM = """
import django, os, pathlib, signal, sys
django.setup()
from django.conf import settings
from advisor.uploads.services.storing import room
settings.SPOOL_DIR = pathlib.Path(sys.argv[1])
with room() as ours:
    (ours / "0").touch()
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_process_left_behind_goes(spool: Path) -> None:
    settings = {"DJANGO_SETTINGS_MODULE": "advisor.config.settings", "SECRET_KEY": "x"}
    done = subprocess.run([sys.executable, "-c", DIES_IN_ITS_ROOM, str(spool)], env=settings)
    assert done.returncode == -9
    (left,) = spool.glob(f"{ROOM}*")
    assert (left / "0").exists()
    with room():
        assert not left.exists()


def test_the_room_of_a_process_that_lives_stays_however_the_clock_is_set(spool: Path) -> None:
    with room() as theirs, time_machine.travel("2040-01-01", tick=False), room() as ours:
        assert theirs.exists()
        assert ours != theirs
