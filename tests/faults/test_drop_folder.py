"""Workers that die while they take in a drop folder: every file is taken, each once."""

import os
import signal
import time

import pytest

from tests.faults.conftest import Crew, Measured
from tests.faults.exports import sysmon
from tests.faults.plant import PATIENCE, Plant, eventually
from tests.faults.truth import assert_all_is_true, words_of

FILES = 200
MOMENTS = ("begun", "taken")
"""When the worker is killed: it has begun to look; the files are an upload, and are being moved away."""


@pytest.fixture(scope="module", autouse=True)
def _service(plant: Plant, crew: Crew) -> None:
    plant.worker("worker", "celery,runs", processes=1)
    plant.worker("courier", "clock,mail", processes=1)
    plant.beat()
    plant.web()
    plant.ready()


@pytest.mark.parametrize("moment", MOMENTS)
def test_killed_while_it_takes_in_a_folder(moment: str, plant: Plant, crew: Crew, measured: Measured) -> None:
    folder = plant.folder / "drop" / "Claims" / moment
    folder.mkdir(parents=True)
    for number in range(FILES):
        (folder / f"sysmon{number}.txt").write_bytes(sysmon(moment.upper(), number))
    wish = {"name": moment, "folder": str(folder), "after": "move", "settle_seconds": 1, "every_minutes": 60}
    schedule = plant.ask("schedule", team=crew.team, user=crew.user, **wish)
    # the first look sees the files, the second one takes them
    (run,) = plant.ask("run_now", schedule=schedule, user=crew.user)
    eventually(lambda: plant.rows("DropFile", "pk", schedule=schedule))
    until = time.monotonic() + PATIENCE
    (pid,) = plant.part("worker").children()
    if moment == "begun":
        eventually(lambda: plant.rows("Run", "pk", pk=run, state="running"))
    else:
        while not (folder / "taken").exists():  # at once: all are moved within milliseconds
            assert time.monotonic() < until
    os.kill(pid, signal.SIGKILL)
    killed = time.monotonic()
    assert len(list(folder.glob("*.txt"))) > 0
    eventually(lambda: plant.rows("Run", "pk", pk=run, state="done"))
    eventually(lambda: plant.rows("Upload", "pk", run=run, state="done"))
    measured(
        f"a worker killed while it takes in {FILES} dropped files ({moment}): all audited", time.monotonic() - killed
    )
    assert len(list(folder.glob("taken/*"))) == FILES
    assert not list(folder.glob("*.txt"))
    assert len(plant.rows("DropFile", "pk", schedule=schedule, taken__isnull=False)) == FILES
    (upload,) = plant.rows("Upload", "pk", run=run)
    assert (
        len(plant.rows("UploadFile", "pk", upload=upload)) == len(plant.rows("Capture", "pk", upload=upload)) == FILES
    )
    assert f"{FILES} files taken" in words_of(plant, f"/schedules/{schedule}/")
    assert_all_is_true(plant)
