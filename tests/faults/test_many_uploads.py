"""Very many uploads at once, some of them the same: each is answered, each is audited, each once."""

import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from tests.faults.conftest import Crew, Measured
from tests.faults.exports import sysmon
from tests.faults.plant import Plant
from tests.faults.truth import assert_all_is_true
from tests.servers import eventually

pytestmark = pytest.mark.long

THREADS = 100
ENVIRONMENT = {"CONNECTIONS_PER_ADDRESS": "300"}
"""All of them come from one address; what becomes of the one that is too many shows tests/faults/test_doorstep.py."""
SYSTEMS = 30


@pytest.fixture(scope="module", autouse=True)
def _service(plant: Plant, crew: Crew) -> None:
    plant.worker("worker", "celery", processes=2)
    plant.worker("courier", "clock,mail", processes=1)
    plant.beat()
    plant.web()
    plant.ready()


@pytest.mark.parametrize(("all_of_them", "different"), [(120, 100), pytest.param(500, 450, marks=pytest.mark.long)])
def test_brought_at_once(all_of_them: int, different: int, plant: Plant, measured: Measured) -> None:
    exports = [sysmon(f"MANY{different}X{number % SYSTEMS}", number // SYSTEMS) for number in range(different)]
    exports += exports[: all_of_them - different]
    had = {model: len(plant.rows(model, "pk")) for model in ("Upload", "Capture", "Audit", "System")}
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
    assert sum(answer.json()["new"] for answer in answers) == different
    uploads = {answer.json()["upload"] for answer in answers}
    assert len(uploads) == different
    eventually(lambda: plant.done(*uploads))
    measured(f"{all_of_them} uploads at once by {THREADS} threads: all answered", answered)
    measured("the same: the slowest answer", max(waits))
    measured("the same: all audited by a worker of two processes", time.monotonic() - start)
    new = {model: len(plant.rows(model, "pk")) - count for model, count in had.items()}
    assert new == {"Upload": different, "Capture": different, "Audit": different, "System": SYSTEMS}
    assert_all_is_true(plant)
