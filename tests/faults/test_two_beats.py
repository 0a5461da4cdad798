"""Two schedulers and two workers for their tasks: whatever is due is run once."""

import pytest

from tests.faults.conftest import Crew
from tests.faults.exports import sysmon
from tests.faults.plant import Plant
from tests.faults.truth import assert_all_is_true
from tests.longer import first_of
from tests.servers import eventually

pytestmark = pytest.mark.long

SYSTEMS, ROUNDS = 15, 3


@pytest.fixture(scope="module", autouse=True)
def _service(plant: Plant, crew: Crew) -> None:
    plant.program("printer", f'sed "s/NOBODY1/$1/" {plant.folder}/export.txt')
    for number in range(SYSTEMS):
        system = plant.ask("system", team=crew.team, name=f"TWICE{number}")
        named = {"name": f"hourly {number}", "source": "collector", "collector": "printer", "every_minutes": 60}
        plant.ask("schedule", team=crew.team, user=crew.user, system=system, **named)
    plant.beat("beat1")
    plant.beat("beat2")
    plant.worker("worker", "celery,runs", processes=2)
    plant.worker("courier", "clock,mail", processes=2)
    plant.web()
    plant.ready()


@first_of(1, "number", range(1, ROUNDS + 1))
def test_each_due_run_is_made_once(number: int, plant: Plant) -> None:
    (plant.folder / "export.txt").write_bytes(sysmon("NOBODY1", number))
    runs = len(plant.rows("Run", "pk")) + SYSTEMS
    plant.ask("due_now")
    eventually(lambda: len(plant.rows("Run", "pk", state="done")) >= runs)
    eventually(lambda: len(plant.rows("Upload", "pk", state="done")) >= runs)
    ticks = [plant.part(name).said.count("(advisor.operations.tasks.tick)") for name in ("beat1", "beat2")]
    eventually(
        lambda: all(
            plant.part(name).said.count("(advisor.operations.tasks.tick)") > had + 1
            for name, had in zip(("beat1", "beat2"), ticks, strict=True)
        )
    )
    assert plant.rows("Run", "state", "tries") == [["done", 1]] * runs
    assert plant.rows("Upload", "tries", "origin") == [[1, "schedule"]] * runs
    assert len(plant.rows("Capture", "pk")) == len(plant.rows("Audit", "pk")) == runs
    assert_all_is_true(plant)
