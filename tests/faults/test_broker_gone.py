"""Redis killed and started again: what was queued, what was being done, and what was brought meanwhile."""

import re
import time

import pytest

from tests.faults.conftest import Crew, Measured
from tests.faults.exports import many, sysmon
from tests.faults.plant import ALL, Part, Plant, eventually
from tests.faults.truth import assert_all_is_true
from tests.servers import Redis

ENVIRONMENT = {"TASK_SECONDS": "40"}
LONG = 250
"""Captures of an upload that is still being read when Redis is back."""
AWAY = 1.0
"""Seconds."""


@pytest.fixture(scope="module", autouse=True)
def _service(plant: Plant, crew: Crew) -> None:
    plant.web()
    plant.beat()
    plant.worker("worker", ALL, processes=4)
    plant.ready()


def at_work(plant: Plant, name: str) -> list[int]:
    """Two uploads that are being read."""
    uploads = [plant.bring(many(f"{name}{number}", LONG)) for number in range(2)]
    eventually(lambda: len(plant.rows("Upload", "pk", pk__in=uploads, state="reading")) == 2)
    return uploads


def received_twice(worker: Part) -> set[str]:
    """The readings a worker was given once more."""
    received = re.findall(r"read_upload\[(\S+)\] received", worker.said)
    return {task for task in received if received.count(task) > 1}


def each_was_done_once(plant: Plant, uploads: list[int]) -> None:
    assert plant.rows("Upload", "tries", pk__in=uploads) == [1] * len(uploads)
    counts = [len(plant.rows("Capture", "pk", upload=upload)) for upload in uploads]
    assert counts == [LONG, LONG, *[1] * (len(uploads) - 2)]
    assert_all_is_true(plant)


def test_killed_with_tasks_queued_and_some_at_work(plant: Plant, broker: Redis, measured: Measured) -> None:
    uploads = at_work(plant, "ATWORK")
    uploads += [plant.bring(sysmon(f"QUEUED{number}")) for number in range(5)]
    broker.kill()
    since = time.monotonic()
    uploads += [plant.bring(sysmon(f"BROUGHT{number}")) for number in range(2)]
    slowest = (time.monotonic() - since) / 2
    measured("Redis is away: an upload by the API is answered", slowest)
    assert slowest < 3
    while time.monotonic() - since < AWAY:
        time.sleep(0.05)
    assert not plant.done(uploads[0])
    broker.up()
    back = time.monotonic()
    plant.minutes_pass()
    eventually(lambda: plant.done(*uploads))
    measured(
        "Redis killed and back, 2 uploads at work, 5 queued, 2 brought meanwhile: all audited", time.monotonic() - back
    )
    each_was_done_once(plant, uploads)


def test_a_line_to_redis_that_breaks_does_no_work_twice(plant: Plant, broker: Redis) -> None:
    """The worker gives the messages of what it is at back to Redis then, and gets them once more while it is at it."""
    uploads = at_work(plant, "BROKEN")
    broker.tell("CLIENT KILL TYPE normal")
    eventually(lambda: len(received_twice(plant.parts[-1])) == 2)
    assert not plant.done(uploads[0])
    eventually(lambda: plant.done(*uploads))
    each_was_done_once(plant, uploads)
