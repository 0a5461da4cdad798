"""Workers that die in the middle of an audit: nothing is lost, nothing double."""

import os
import signal
import time
from collections.abc import Callable

import pytest

from tests.faults.conftest import Crew, Measured
from tests.faults.exports import many, sysmon
from tests.faults.plant import ALL, Plant, eventually
from tests.faults.truth import assert_all_is_true, words_of

SAMPLES = 120
"""An upload that keeps a worker busy for a few seconds."""
STAGES: dict[str, Callable[[Plant, int], object]] = {
    "reading": lambda plant, upload: plant.rows("Upload", "pk", pk=upload, state="reading"),
    "judging": lambda plant, upload: plant.rows("Upload", "pk", pk=upload, captures_judged__gt=0),
    "keeping": lambda plant, upload: plant.rows("Capture", "pk", upload=upload),
}


@pytest.fixture(scope="module", autouse=True)
def _service(plant: Plant, crew: Crew) -> None:
    plant.web()
    plant.beat()
    plant.worker("worker", ALL)
    plant.ready()


def reader(plant: Plant, upload: int) -> int:
    """The process that reads an upload at this moment."""
    claimant = plant.one("Upload", "claimant", pk=upload)
    return int(claimant.split("/")[1].split(".")[0])


@pytest.mark.parametrize("stage", STAGES)
def test_a_process_killed_while_it_is(stage: str, plant: Plant, measured: Measured) -> None:
    upload = plant.bring(many(f"CHILD{stage.upper()}", SAMPLES))
    eventually(lambda: STAGES[stage](plant, upload))
    pid = reader(plant, upload)
    assert pid in plant.parts[-1].children()
    os.kill(pid, signal.SIGKILL)
    killed = time.monotonic()
    eventually(lambda: plant.done(upload))
    measured(
        f"a worker's process killed while {stage} an upload of {SAMPLES} captures: it is audited",
        time.monotonic() - killed,
    )
    assert plant.one("Upload", "tries", pk=upload) == 2
    assert len(plant.rows("Capture", "pk", upload=upload)) == SAMPLES
    assert_all_is_true(plant)


def test_a_worker_killed_with_all_its_processes_leaves_its_work_to_the_next_one(
    plant: Plant, measured: Measured
) -> None:
    uploads = [plant.bring(many(f"WHOLE{number}", SAMPLES)) for number in range(3)]
    eventually(lambda: plant.rows("Upload", "pk", pk__in=uploads, captures_judged__gt=0))
    plant.part("worker").kill()
    assert not plant.done(*uploads)
    plant.worker("next", ALL)
    plant.ready()
    ready = time.monotonic()
    eventually(lambda: plant.done(*uploads))
    measured(
        f"a whole worker killed with 3 uploads of {SAMPLES} captures: the next worker has audited them",
        time.monotonic() - ready,
    )
    assert set(plant.rows("Upload", "tries", pk__in=uploads)) == {1, 2}
    for upload in uploads:
        assert len(plant.rows("Capture", "pk", upload=upload)) == SAMPLES
    assert_all_is_true(plant)


def test_an_upload_that_ends_every_worker_is_given_up_and_says_so(plant: Plant) -> None:
    upload = plant.bring(many("KILLER", SAMPLES))
    for tries in (1, 2, 3):
        eventually(lambda tries=tries: plant.rows("Upload", "pk", pk=upload, state="reading", tries=tries))  # type: ignore[misc]
        os.kill(reader(plant, upload), signal.SIGKILL)
    eventually(lambda: plant.rows("Upload", "pk", pk=upload, state="failed"))
    assert "it is not tried again" in words_of(plant, f"/uploads/{upload}/")
    small = plant.bring(sysmon("AFTERWARDS"))
    eventually(lambda: plant.done(small))
    assert_all_is_true(plant)
