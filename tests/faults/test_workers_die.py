"""Workers that die in the middle of an audit: nothing is lost, nothing double."""

import os
import signal
import time

import pytest

from tests.faults.conftest import Crew, Measured
from tests.faults.exports import many, sysmon
from tests.faults.gate import JUDGED, KEEPING, READING, SAMPLES, Place, gate
from tests.faults.plant import ALL, Part, Plant
from tests.faults.truth import assert_all_is_true, words_of
from tests.servers import eventually

STAGES = {"reading": READING, "judging": JUDGED, "keeping": KEEPING}


@pytest.fixture(scope="module", autouse=True)
def _service(plant: Plant, crew: Crew) -> None:
    plant.web()
    plant.beat()
    plant.worker("worker", ALL)
    plant.ready()


def reader(plant: Plant, upload: int) -> int:
    """The process that reads an upload, or has read it last; 0: none yet."""
    claimant = plant.one("Upload", "claimant", pk=upload)
    return int(claimant.split("/")[1].split(".")[0]) if claimant else 0


def assert_audited(plant: Plant, worker: Part, *uploads: int) -> None:
    """Each is audited whole and once, by a process of this worker that lives."""
    for upload in uploads:
        assert reader(plant, upload) in worker.children()
        assert len(plant.rows("Capture", "pk", upload=upload)) == SAMPLES
    assert_all_is_true(plant)


@pytest.mark.parametrize("stage", STAGES.values(), ids=STAGES)
def test_a_process_killed_while_it_is(
    stage: Place, plant: Plant, measured: Measured, request: pytest.FixtureRequest
) -> None:
    worker = plant.parts[-1]
    with gate(plant, stage) as closed:
        upload = plant.bring(many(f"CHILD{stage.number}", SAMPLES))
        closed.wait_for(1)
        pid = reader(plant, upload)
        assert pid in worker.children()
        os.kill(pid, signal.SIGKILL)
        killed = time.monotonic()
        eventually(lambda: pid not in worker.children())
    eventually(lambda: plant.done(upload))
    measured(
        f"a worker's process killed while {request.node.callspec.id} an upload of {SAMPLES} captures: it is audited",
        time.monotonic() - killed,
    )
    assert_audited(plant, worker, upload)


def test_a_worker_killed_with_all_its_processes_leaves_its_work_to_the_next_one(
    plant: Plant, measured: Measured
) -> None:
    with gate(plant, JUDGED) as closed:
        uploads = [plant.bring(many(f"WHOLE{number}", SAMPLES)) for number in range(3)]
        closed.wait_for(2)
        plant.parts[-1].kill()
        assert sorted(plant.rows("Upload", "state", pk__in=uploads)) == ["reading", "reading", "waiting"]
    after = plant.worker("next", ALL)
    plant.ready()
    ready = time.monotonic()
    plant.minutes_pass()
    eventually(lambda: plant.done(*uploads))
    measured(
        f"a whole worker killed with 3 uploads of {SAMPLES} captures: the next worker has audited them",
        time.monotonic() - ready,
    )
    assert_audited(plant, after, *uploads)


def test_an_upload_that_ends_every_worker_is_given_up_and_says_so(plant: Plant) -> None:
    killed = set[int]()
    with gate(plant, JUDGED) as closed:
        upload = plant.bring(many("KILLER", SAMPLES))
        for _ in range(3):
            eventually(lambda: reader(plant, upload) not in {0, *killed} and closed.waiting())
            killed.add(pid := reader(plant, upload))
            os.kill(pid, signal.SIGKILL)
        eventually(lambda: plant.rows("Upload", "pk", pk=upload, state="failed"))
    assert "it is not tried again" in words_of(plant, f"/uploads/{upload}/")
    small = plant.bring(sysmon("AFTERWARDS"))
    eventually(lambda: plant.done(small))
    assert_all_is_true(plant)
