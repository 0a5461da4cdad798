"""A collector that hangs in C code: only the hard limit ends it, the next system is collected from, and it is said."""

import os
import signal
import time

import pytest

from tests.faults.conftest import Crew, Measured
from tests.faults.exports import sysmon
from tests.faults.plant import TASK_SECONDS, Plant
from tests.faults.truth import assert_all_is_true, words_of
from tests.servers import eventually

pytestmark = pytest.mark.long

LIMIT = 20
"""Seconds: the hard limit of what this module asks for itself, the runs; whoever puts a task into the queue sets it."""
ENVIRONMENT = {"TASK_SECONDS": str(LIMIT)}
USUAL = {"TASK_SECONDS": str(TASK_SECONDS)}


@pytest.fixture(scope="module", autouse=True)
def _service(plant: Plant, crew: Crew) -> None:
    plant.program("printer", f'sed "s/NOBODY1/$1/" {plant.folder}/export.txt')
    (plant.folder / "export.txt").write_bytes(sysmon("NOBODY1"))
    plant.worker("worker", "celery", processes=1, **USUAL)
    plant.worker("collector", "runs", processes=1)
    plant.worker("courier", "clock,mail", processes=1, **USUAL)
    plant.beat(**USUAL)
    plant.web(**USUAL)
    plant.ready()


def test_the_next_system_is_collected_from_and_the_other_one_is_said(
    plant: Plant, crew: Crew, measured: Measured
) -> None:
    runs = {}
    for name, collector in (("STUCK", "hangs"), ("NEXT", "printer")):
        system = plant.ask("system", team=crew.team, name=name)
        wish = {"name": name, "source": "collector", "collector": collector, "every_minutes": 60}
        schedule = plant.ask("schedule", team=crew.team, user=crew.user, system=system, **wish)
        (runs[name],) = plant.ask("run_now", schedule=schedule, user=crew.user)
        eventually(lambda: plant.rows("Run", "pk", state="running"))
    limit_is_kept_by = plant.part("collector").pid
    os.kill(limit_is_kept_by, signal.SIGSTOP)  # so that it hangs until the upload is audited, however long that takes
    upload = plant.bring(sysmon("MEANWHILE"))
    eventually(lambda: plant.done(upload), "the only collector hangs, and an upload is audited")
    assert plant.rows("Run", "state", pk=runs["STUCK"]) == ["running"]
    os.kill(limit_is_kept_by, signal.SIGCONT)
    begun = time.monotonic()
    # that this is its last try spares waiting for the hard limit twice more
    plant.ask("change", model="Run", where={"pk": runs["STUCK"]}, values={"tries": 3})
    eventually(lambda: plant.rows("Run", "pk", pk=runs["NEXT"], state="done"))
    measured(
        f"a collector hangs in C code (TASK_SECONDS={LIMIT}): the next system is collected from",
        time.monotonic() - begun,
    )
    assert f"Hard time limit ({LIMIT}s) exceeded" in plant.part("collector").said
    eventually(lambda: plant.rows("Upload", "pk", run=runs["NEXT"], state="done"))
    eventually(lambda: plant.rows("Run", "pk", pk=runs["STUCK"], state="failed"))
    assert not plant.rows("Upload", "pk", run=runs["STUCK"])
    assert "ended 3 workers" in plant.one("System", "trouble", name="STUCK")
    assert "not audited since" in words_of(plant, "/?q=STUCK")
    assert "not audited since" not in words_of(plant, "/?q=NEXT")
    assert_all_is_true(plant)


def test_what_it_left_on_the_disk_goes_with_the_next_task(plant: Plant) -> None:
    upload = plant.bring(sysmon("LATER"))
    eventually(lambda: plant.done(upload))
    eventually(lambda: not list((plant.folder / "spool").iterdir()))
