"""PostgreSQL stopped and started again: what was being read, what was queued, and what the service says meanwhile."""

import time

import pytest

from tests.faults.conftest import Crew, Measured
from tests.faults.exports import many, sysmon
from tests.faults.gate import KEEPING, SAMPLES, gate
from tests.faults.plant import ALL, Plant
from tests.faults.truth import assert_all_is_true
from tests.servers import Postgres, eventually


@pytest.fixture(scope="module", autouse=True)
def _service(plant: Plant, crew: Crew) -> None:
    plant.web()
    plant.beat()
    plant.worker("worker", ALL)
    plant.ready()


def test_stopped_in_the_middle_of_an_audit_and_started_again(
    plant: Plant, database: Postgres, measured: Measured
) -> None:
    worker = plant.parts[-1]
    with gate(plant, KEEPING) as closed:
        at_work = [plant.bring(many(f"ATWORK{number}", SAMPLES)) for number in range(2)]
        closed.wait_for(2)
        queued = [plant.bring(sysmon(f"QUEUED{number}")) for number in range(3)]
        database.away()
    try:
        assert plant.http.get("/healthz").status_code == 503
        refused = plant.http.post("/api/uploads", files={"files": ("sysmon.txt", sysmon("REFUSED"))})
        assert refused.status_code == 503
        assert "does not answer" in refused.json()["error"]
        page = plant.browser.get("/")
        assert page.status_code == 503
        assert "does not answer" in page.text
        eventually(lambda: "retry: Retry in" in worker.said, "the worker has noticed, too")
    finally:
        database.up()
    back = time.monotonic()
    eventually(plant.answers)
    measured("PostgreSQL stopped and back: pages answer", time.monotonic() - back)
    eventually(lambda: plant.done(*at_work, *queued))
    measured("the same, 2 uploads at work and 3 queued: all audited", time.monotonic() - back)
    assert [len(plant.rows("Capture", "pk", upload=upload)) for upload in at_work] == [SAMPLES, SAMPLES]
    assert not [part.name for part in plant.parts if part.process.poll() is not None]
    assert_all_is_true(plant)
