"""The machine's clock is set back by hours under the running service: nothing waits for the old time to come again.

Every process of the service has its wall clock moved while it runs (`clock/sitecustomize.py`).
"""

import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.faults.conftest import Crew, Measured
from tests.faults.exports import sysmon
from tests.faults.plant import ALL, Plant
from tests.faults.truth import assert_all_is_true
from tests.servers import eventually

pytestmark = pytest.mark.long

HOURS = 3
TICK = "(advisor.operations.tasks.tick)"


def set_to(clock: Path, seconds: float) -> None:
    """Move the service's clock; in one step, because every process reads the file at any time."""
    new = clock.with_suffix(".new")
    new.write_text(f"{seconds:+.0f}")
    new.replace(clock)


@pytest.fixture(scope="module")
def clock(plant: Plant) -> Path:
    """What the service's clocks read: `+0`, `-10800`."""
    file = plant.folder / "clock"
    set_to(file, 0)
    plant.environment |= {"CLOCK": str(file), "PYTHONPATH": str(Path(__file__).parent / "clock")}
    return file


@pytest.fixture(scope="module", autouse=True)
def _service(plant: Plant, clock: Path, crew: Crew) -> None:
    plant.program("printer", f'sed "s/NOBODY1/$1/" {plant.folder}/export.txt')
    (plant.folder / "export.txt").write_bytes(sysmon("NOBODY1"))
    plant.worker("worker", ALL)
    plant.beat()
    plant.web()
    plant.ready()


def ticks(plant: Plant) -> int:
    return plant.part("beat").said.count(TICK)


def now(plant: Plant) -> datetime:
    return datetime.fromisoformat(plant.ask("now"))


def due(plant: Plant, schedule: int) -> datetime:
    return datetime.fromisoformat(plant.one("Schedule", "next_due", pk=schedule))


def test_three_hours_back(plant: Plant, clock: Path, crew: Crew, measured: Measured) -> None:
    system = plant.ask("system", team=crew.team, name="CLOCKED")
    named = {"name": "hourly", "source": "collector", "collector": "printer", "every_minutes": 60}
    hourly = plant.ask("schedule", team=crew.team, user=crew.user, system=system, **named)
    before = plant.bring(sysmon("BEFORE"))
    had = ticks(plant)
    eventually(lambda: plant.done(before) and ticks(plant) > had + 1)
    set_to(clock, -HOURS * 3600)
    set_back = time.monotonic()
    had = ticks(plant)
    eventually(lambda: datetime.now(UTC) - now(plant) > timedelta(hours=HOURS, minutes=-1))
    eventually(lambda: ticks(plant) > had + 3)
    measured(f"clock set back by {HOURS} h: the scheduler goes on", time.monotonic() - set_back)
    eventually(lambda: due(plant, hourly) < now(plant) + timedelta(minutes=61))
    after = plant.bring(sysmon("AFTER"))
    eventually(lambda: plant.done(after))
    measured("the same: an upload brought after it is audited", time.monotonic() - set_back)
    plant.ask("due_now", pk=hourly)
    eventually(lambda: plant.rows("Upload", "pk", state="done", run__schedule=hourly))
    assert plant.rows("Run", "state", "tries", schedule=hourly) == [["done", 1]]
    assert_all_is_true(plant)


def test_back_before_a_time_that_was_run_already(plant: Plant, clock: Path, crew: Crew) -> None:
    """It comes a second time by the clock, and is not run a second time."""
    noon = (now(plant) + timedelta(minutes=2)).replace(second=0, microsecond=0)
    system = plant.ask("system", team=crew.team, name="MINUTE")
    named = {"name": "by the clock", "source": "collector", "collector": "printer"}
    planned = plant.ask(
        "schedule", team=crew.team, user=crew.user, system=system, cron=f"{noon.minute} {noon.hour} * * *", **named
    )
    for _ in range(2):
        set_to(clock, (noon - timedelta(minutes=30) - datetime.now(UTC)).total_seconds())
        eventually(lambda: due(plant, planned) == noon)
        set_to(clock, (noon - datetime.now(UTC)).total_seconds())
        eventually(lambda: due(plant, planned) > noon)
    had = ticks(plant)
    eventually(lambda: ticks(plant) > had + 1)
    assert len(plant.rows("Run", "pk", schedule=planned)) == 1
    assert_all_is_true(plant)
