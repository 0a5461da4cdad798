"""Workers of several machines hear of each other by the database."""

import pytest

from tests.faults.conftest import Crew
from tests.faults.exports import sysmon
from tests.faults.plant import ALL, Plant
from tests.servers import eventually

pytestmark = pytest.mark.long


@pytest.fixture(scope="module", autouse=True)
def _service(plant: Plant, crew: Crew) -> None:
    plant.web()
    plant.ready()


def named(plant: Plant) -> set[int]:
    """The processes of the workers that are listened to."""
    return {int(name.partition("/")[2].partition(".")[0]) for name in plant.rows("Worker", "name")}


def test_a_worker_is_listened_to_until_it_ends_and_its_claims_name_it(plant: Plant) -> None:
    first, second = plant.worker("first", ALL), plant.worker("second", "runs")
    plant.ready()
    eventually(lambda: named(plant) == {first.pid, second.pid})
    upload = plant.bring(sysmon("NAMED"))
    eventually(lambda: plant.done(upload))
    place, process, worker, _ = plant.one("Upload", "claimant", pk=upload).split("/")
    assert int(process.partition(".")[0]) in first.children()
    assert int(worker.partition(".")[0]) == first.pid
    assert f"{place}/{worker}" in plant.rows("Worker", "name")
    second.stop()
    assert named(plant) == {first.pid}, "who ended in order is not waited for"
    first.kill()
    assert named(plant) == {first.pid}, "who was killed could not say so"
    third = plant.worker("third", ALL)
    beat = plant.beat()
    plant.ready()
    eventually(lambda: named(plant) == {third.pid})
    assert plant.rows("JournalEntry", "what", action="worker lost")
    beat.stop()
    third.stop()
    assert not named(plant)
