"""Workers that die while they take in a drop folder: every file is taken, each once."""

import os
import signal
import time

import pytest

from tests.faults.conftest import Crew, Measured
from tests.faults.exports import sysmon
from tests.faults.gate import DROPPED, gate
from tests.faults.plant import Plant
from tests.faults.truth import assert_all_is_true, words_of
from tests.longer import first_of
from tests.servers import eventually

FILES = 60
MOMENTS = ("begun", "taken")
"""When the worker is killed: the files are becoming an upload; they are one, and are being moved away."""


@pytest.fixture(scope="module", autouse=True)
def _service(plant: Plant, crew: Crew) -> None:
    plant.worker("worker", "celery,runs", processes=1)
    plant.worker("courier", "clock,mail", processes=1)
    plant.beat()
    plant.web()
    plant.ready()


@first_of(1, "moment", MOMENTS)
def test_killed_while_it_takes_in_a_folder(moment: str, plant: Plant, crew: Crew, measured: Measured) -> None:
    folder = plant.folder / "drop" / "Claims" / moment
    folder.mkdir(parents=True)
    for number in range(FILES):
        (folder / f"sysmon{number}.txt").write_bytes(sysmon(moment.upper(), number))
    wish = {"name": moment, "folder": str(folder), "after": "move", "settle_seconds": 1, "every_minutes": 60}
    schedule = plant.ask("schedule", team=crew.team, user=crew.user, **wish)
    (pid,) = plant.part("worker").children()
    if moment == "begun":
        with gate(plant, DROPPED) as closed:
            (run,) = plant.ask("run_now", schedule=schedule, user=crew.user)
            closed.wait_for(1)
            os.kill(pid, signal.SIGKILL)
        assert len(list(folder.glob("*.txt"))) == FILES
    else:
        held = plant.folder / "hold"
        held.write_text(f"sysmon{FILES // 2}.txt")
        (run,) = plant.ask("run_now", schedule=schedule, user=crew.user)
        eventually((plant.folder / "held").exists)
        os.kill(pid, signal.SIGKILL)
        held.unlink()
        assert (folder / f"sysmon{FILES // 2}.txt").exists()
        assert plant.rows("Upload", "pk", run=run)
    killed = time.monotonic()
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
