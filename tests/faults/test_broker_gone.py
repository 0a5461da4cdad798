"""Redis killed and started again: what was queued, what was being done, and what was collected meanwhile."""

import re
import time
from collections import Counter

import pytest

from advisor.uploads.services.process_upload import FEW
from tests.faults.conftest import Crew, Measured
from tests.faults.exports import many, sysmon
from tests.faults.gate import JUDGED, gate
from tests.faults.plant import ALL, Part, Plant
from tests.faults.truth import assert_all_is_true
from tests.servers import Redis, eventually

SAMPLES = FEW // 2 + 1
"""More than is kept in a single transaction: a smaller upload may be through before its judging is noted, and no gate
stops it."""
PROCESSES = 4


@pytest.fixture(scope="module", autouse=True)
def _service(plant: Plant, crew: Crew) -> None:
    plant.web()
    plant.beat()
    plant.worker("worker", ALL, processes=PROCESSES)
    plant.ready()


def claims(plant: Plant, uploads: list[int]) -> list[list[str]]:
    """Who took each of the uploads, and when."""
    return plant.rows("Upload", "claimant", "claimed", pk__in=uploads)


def said_of(worker: Part, what: str) -> Counter[str]:
    """How often a worker said something of each reading: `received`, `succeeded`."""
    return Counter(re.findall(rf"read_upload\[(\S+)\] {what}", worker.said))


def unfinished(worker: Part) -> set[str]:
    """The readings that a worker has received and not ended.

    A sweep may have sent a second message for what an earlier test brought; it may come as late as it likes.
    """
    return set(said_of(worker, "received")) - set(said_of(worker, "succeeded"))


def test_killed_with_tasks_queued_and_some_at_work(plant: Plant, broker: Redis, measured: Measured) -> None:
    worker = plant.parts[-1]
    with gate(plant, JUDGED) as closed:
        uploads = [plant.bring(many(f"UPLOAD{number}", SAMPLES)) for number in range(PROCESSES + 5)]
        closed.wait_for(PROCESSES)
        at_work = plant.rows("Upload", "pk", pk__in=uploads, state="reading")
        before = claims(plant, at_work)
        broker.kill()
        since = time.monotonic()
        brought = [plant.bring(sysmon(f"BROUGHT{number}")) for number in range(2)]
        measured("Redis is away: an upload by the API is answered", (time.monotonic() - since) / 2)
        eventually(lambda: "Cannot connect to redis" in worker.said)
        assert closed.waiting() == PROCESSES
    back = time.monotonic()
    broker.up()
    plant.minutes_pass()
    eventually(lambda: plant.done(*uploads, *brought))
    measured(
        f"Redis killed and back, {PROCESSES} uploads at work, 5 queued, 2 brought meanwhile: all audited",
        time.monotonic() - back,
    )
    assert claims(plant, at_work) == before, "what was at work was finished by whom it was begun"
    counts = [len(plant.rows("Capture", "pk", upload=upload)) for upload in (*uploads, *brought)]
    assert counts == [*[SAMPLES] * len(uploads), 1, 1]
    assert_all_is_true(plant)


def test_a_line_to_redis_that_breaks_does_no_work_twice(plant: Plant, broker: Redis) -> None:
    """The worker gives the messages of what it is at back to Redis then, and gets them once more while it is at it."""
    worker = plant.parts[-1]
    with gate(plant, JUDGED) as closed:
        had = set(said_of(worker, "received"))
        uploads = [plant.bring(many(f"BROKEN{number}", SAMPLES)) for number in range(2)]
        closed.wait_for(2)
        before = claims(plant, uploads)
        eventually(lambda: len(unfinished(worker) - had) == 2, "second messages of what is through are turned away")
        readings = unfinished(worker) - had
        broken = 0.0

        def given_back() -> bool:
            """Whether both came once more; a client that was not reading just then only dials again."""
            nonlocal broken
            if all(said_of(worker, "received")[one] > 1 for one in readings):
                return True
            if time.monotonic() > broken + 5:
                broker.tell("CLIENT KILL TYPE normal")
                broken = time.monotonic()
            return False

        eventually(given_back)
        eventually(
            lambda: all(said_of(worker, "succeeded")[one] >= 1 for one in readings) or claims(plant, uploads) != before,
            "what came once more is turned away",
        )
        assert claims(plant, uploads) == before
        assert plant.rows("Upload", "state", pk__in=uploads) == ["reading", "reading"]
    eventually(lambda: plant.done(*uploads))
    assert claims(plant, uploads) == before
    assert [len(plant.rows("Capture", "pk", upload=upload)) for upload in uploads] == [SAMPLES] * 2
    assert_all_is_true(plant)
