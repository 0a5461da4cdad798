"""A backup taken under load and restored elsewhere: what was accepted before is there, and audited once."""

import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.faults.conftest import PLANTS, Crew
from tests.faults.embedded import embedded
from tests.faults.exports import sysmon
from tests.faults.plant import ALL, Plant, planted
from tests.faults.truth import assert_all_is_true
from tests.servers import ROOT, Postgres, Redis, eventually

pytestmark = pytest.mark.long

BEFORE, MOST = 8, 45


def manage(plant: Plant, *words: str) -> "subprocess.CompletedProcess[str]":
    """Run a command where an operator runs it."""
    command = [sys.executable, "manage.py", *words]
    return subprocess.run(command, cwd=ROOT, env=plant.environment, capture_output=True, text=True, check=False)


@contextmanager
def load(plant: Plant) -> Iterator[list[int]]:
    """Have uploads brought all the time; gives the list of those that were accepted, which grows."""
    accepted: list[int] = []
    over = threading.Event()

    def bring() -> None:
        while not over.is_set():
            if len(accepted) < MOST:  # what one page shows
                accepted.append(plant.bring(sysmon(f"LOAD{len(accepted)}")))
            over.wait(0.5)

    brings = threading.Thread(target=bring)
    brings.start()
    try:
        yield accepted
    finally:
        over.set()
        brings.join()


def backed_up_under_load(plant: Plant, file: Path) -> list[int]:
    """Take a backup while uploads are collected; gives those that were accepted before it began."""
    with load(plant) as accepted:
        eventually(lambda: len(accepted) >= BEFORE)
        before = list(accepted)
        done = manage(plant, "backup", str(file))
        while_at_it = len(accepted)
    assert done.returncode == 0, done.stderr
    assert while_at_it >= len(before)
    return before


def assert_all_is_there(plant: Plant, uploads: list[int], start: Callable[[], object]) -> None:
    """In the restored service: each is there at once, and audited once when it has run."""
    assert plant.rows("Upload", "pk", pk__in=uploads) == sorted(uploads)
    plant.ask("beat_every", seconds=1)
    start()
    plant.minutes_pass()
    everything = plant.rows("Upload", "pk")
    eventually(lambda: plant.done(*everything), "all that was restored is audited")
    for upload in uploads:
        captures = plant.rows("Capture", "pk", upload=upload)
        assert len(captures) == 1
        assert len(plant.rows("Audit", "pk", capture__in=captures)) == 1
    assert_all_is_true(plant)


def same_visitor(plant: Plant, other: Plant) -> None:
    """The token and the session of the one are those of the other, as both are in the backup."""
    other.http.headers["Authorization"] = plant.http.headers["Authorization"]
    other.browser.cookies["sessionid"] = plant.browser.cookies["sessionid"]


def test_sqlite_with_the_keys_of_the_service(static: Path) -> None:
    with (
        embedded(static) as plant,
        embedded(static) as other,
        tempfile.TemporaryDirectory(prefix="lw-") as folder,
    ):
        PLANTS.extend((plant, other))
        try:
            plant.up()
            crew = Crew(**plant.ask("people", team="Claims"))
            plant.http.headers["Authorization"] = f"Bearer {crew.token}"
            plant.browser.cookies["sessionid"] = crew.session
            file = Path(folder) / "backup.zip"
            uploads = backed_up_under_load(plant, file)
            refused = manage(plant, "restore", str(file), "--replace")
            assert (refused.returncode, "running already" in refused.stderr) == (1, True), refused.stderr
            done = manage(other, "restore", str(file))
            assert done.returncode == 0, done.stderr
            same_visitor(plant, other)
            assert_all_is_there(other, uploads, other.up)
            assert "First login" not in other.said()
        finally:
            PLANTS.remove(plant)
            PLANTS.remove(other)


def test_postgresql_elsewhere_and_over_a_service_that_was_used(
    plant: Plant, crew: Crew, database: Postgres, broker: Redis
) -> None:
    plant.web()
    plant.beat()
    plant.worker("worker", ALL)
    plant.ready()
    with (
        tempfile.TemporaryDirectory(prefix="lw-") as folder,
        tempfile.TemporaryDirectory(prefix="lw-") as home,
        planted(Path(home), database.make("elsewhere"), f"{broker.address[:-1]}1") as other,
    ):
        PLANTS.append(other)
        try:
            file = Path(folder) / "backup.zip"
            uploads = backed_up_under_load(plant, file)
            refused = manage(plant, "restore", str(file), "--replace")
            assert (refused.returncode, "stop" in refused.stderr) == (1, True), refused.stderr
            done = manage(other, "restore", str(file))
            assert done.returncode == 0, done.stderr
            same_visitor(plant, other)
            next_upload = max(plant.rows("Upload", "pk"))

            def start() -> None:
                other.web()
                other.beat("other-beat")
                other.worker("other", ALL)
                other.ready()

            assert_all_is_there(other, uploads, start)
            assert other.bring(sysmon("AFTERWARDS")) <= next_upload + 2, "numbers go on where they were"
            for part in other.parts:
                part.kill()
            if other.shell:
                other.shell.communicate(timeout=60)
                other.shell = None
            again = manage(other, "restore", str(file))
            assert (again.returncode, "--replace" in again.stderr) == (1, True), again.stderr
            eventually(
                lambda: manage(other, "restore", str(file), "--replace").returncode == 0, "its sessions have gone"
            )
            assert other.rows("Upload", "pk", pk__in=uploads) == sorted(uploads)
            assert not other.rows("System", "pk", name="AFTERWARDS")
        finally:
            PLANTS.remove(other)
