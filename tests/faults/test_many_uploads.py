"""Five hundred uploads at once, some of them the same: each is answered, each is audited, each once."""

import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from tests.faults.conftest import Crew, Measured
from tests.faults.exports import sysmon
from tests.faults.plant import Plant, eventually
from tests.faults.truth import assert_all_is_true

ALL, DIFFERENT = 500, 450
THREADS = 100
SYSTEMS = 30


@pytest.fixture(scope="module", autouse=True)
def _service(plant: Plant, crew: Crew) -> None:
    plant.worker("worker", "celery", processes=2)
    plant.worker("courier", "clock,mail", processes=1)
    plant.beat()
    plant.web()
    plant.ready()


def test_brought_at_once(plant: Plant, measured: Measured) -> None:
    exports = [sysmon(f"MANY{number % SYSTEMS}", number // SYSTEMS) for number in range(DIFFERENT)]
    exports += exports[: ALL - DIFFERENT]
    waits: list[float] = []

    def bring(content: bytes) -> httpx.Response:
        since = time.monotonic()
        answer = plant.http.post("/api/uploads", files={"files": ("sysmon.txt", content)})
        waits.append(time.monotonic() - since)
        return answer

    start = time.monotonic()
    with ThreadPoolExecutor(THREADS) as threads:
        answers = list(threads.map(bring, exports))
    answered = time.monotonic() - start
    assert {answer.status_code for answer in answers} == {202}
    assert sum(answer.json()["new"] for answer in answers) == DIFFERENT
    assert len({answer.json()["upload"] for answer in answers}) == DIFFERENT
    eventually(lambda: len(plant.rows("Upload", "pk", state="done")) == DIFFERENT)
    measured(f"{ALL} uploads at once by {THREADS} threads: all answered", answered)
    measured("the same: the slowest answer", max(waits))
    measured("the same: all audited by a worker of two processes", time.monotonic() - start)
    assert set(plant.rows("Upload", "tries")) == {1}
    assert len(plant.rows("Capture", "pk")) == len(plant.rows("Audit", "pk")) == DIFFERENT
    assert len(plant.rows("System", "pk")) == SYSTEMS
    assert_all_is_true(plant)
