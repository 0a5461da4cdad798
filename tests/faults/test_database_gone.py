"""PostgreSQL stopped and started again: what was being read, what was queued, and what the service says meanwhile."""

import time

import pytest

from tests.faults.conftest import Crew, Measured
from tests.faults.exports import many, sysmon
from tests.faults.plant import ALL, Plant, eventually
from tests.faults.truth import assert_all_is_true
from tests.servers import Postgres

LONG = 120
AWAY = 3.0
"""Seconds."""


@pytest.fixture(scope="module", autouse=True)
def _service(plant: Plant, crew: Crew) -> None:
    plant.web()
    plant.beat()
    plant.worker("worker", ALL)
    plant.ready()


def test_stopped_in_the_middle_of_an_audit_and_started_again(
    plant: Plant, database: Postgres, measured: Measured
) -> None:
    at_work = [plant.bring(many(f"ATWORK{number}", LONG)) for number in range(2)]
    queued = [plant.bring(sysmon(f"QUEUED{number}")) for number in range(3)]
    eventually(lambda: plant.rows("Capture", "pk", upload=at_work[0]))
    database.away()
    gone = time.monotonic()
    try:
        assert plant.http.get("/healthz").status_code == 503
        refused = plant.http.post("/api/uploads", files={"files": ("sysmon.txt", sysmon("REFUSED"))})
        assert refused.status_code == 503
        assert "does not answer" in refused.json()["error"]
        page = plant.browser.get("/")
        assert page.status_code == 503
        assert "does not answer" in page.text
        while time.monotonic() - gone < AWAY:
            time.sleep(0.05)
    finally:
        database.up()
    back = time.monotonic()
    eventually(plant.answers)
    measured("PostgreSQL stopped and back after 3 s: pages answer", time.monotonic() - back)
    eventually(lambda: plant.done(*at_work, *queued))
    measured("the same, 2 uploads at work and 3 queued: all audited", time.monotonic() - back)
    assert [len(plant.rows("Capture", "pk", upload=upload)) for upload in at_work] == [LONG, LONG]
    assert not [part.name for part in plant.parts if part.process.poll() is not None]
    assert_all_is_true(plant)
