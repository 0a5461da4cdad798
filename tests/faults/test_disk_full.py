"""A disk that is full while exports are collected: the answer says so, nothing is half-stored, the service goes on."""

import random
import resource
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from tests.faults.conftest import Crew
from tests.faults.exports import many, sysmon
from tests.faults.plant import ALL, Plant
from tests.faults.truth import assert_all_is_true, words_of
from tests.servers import Postgres, eventually

MEGABYTE = 1 << 20
LARGE = random.Random(4).randbytes(12 * MEGABYTE)


@pytest.fixture(scope="module", autouse=True)
def _service(plant: Plant, crew: Crew) -> None:
    plant.worker("worker", ALL, processes=1)
    plant.beat()
    plant.web()
    plant.ready()


@contextmanager
def no_room_for_files(pid: int) -> Iterator[None]:
    """No file of this process can grow beyond a megabyte: to it that is a full disk (`EFBIG`), for anybody to set."""
    soft, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (MEGABYTE, hard))
    try:
        yield
    finally:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (soft, hard))


def nothing_was_kept(plant: Plant, before: int) -> None:
    assert len(plant.rows("Upload", "pk")) == before
    assert_all_is_true(plant)


def test_the_disk_of_the_web_server(plant: Plant) -> None:
    before = len(plant.rows("Upload", "pk"))
    with no_room_for_files(plant.part("web").pid):
        answer = plant.http.post("/api/uploads", files={"files": ("large.txt", LARGE)})
        assert answer.status_code == 507
        assert "disk of the service is full" in answer.json()["error"]
        page = plant.browser.post("/upload/", files={"files": ("large.txt", LARGE)}, headers={"Accept": "text/html"})
        assert page.status_code == 507
        assert page.text.startswith("A disk of the service is full")
        small = plant.bring(sysmon("SMALL"))
    eventually(lambda: plant.done(small))
    nothing_was_kept(plant, before + 1)


def test_the_disk_on_which_a_worker_unpacks(plant: Plant) -> None:
    """It is tried until there is room, however often that takes; the page says what it waits for."""
    (pid,) = plant.part("worker").children()
    with no_room_for_files(pid):
        upload = plant.bring(many("UNPACKED", 60))
        for _ in range(2):
            eventually(lambda: "File too large" in words_of(plant, f"/uploads/{upload}/"))
            plant.ask("change", model="Upload", where={"pk": upload}, values={"tries": 2, "error": ""})
            eventually(lambda: plant.one("Upload", "error", pk=upload))
        assert plant.one("Upload", "state", pk=upload) != "failed"
    eventually(lambda: plant.done(upload))
    nothing_was_kept(plant, len(plant.rows("Upload", "pk")))


@contextmanager
def small_disk(place: Path, megabytes: int) -> Iterator[None]:
    """A disk of its own under `place`, which only root may put there."""
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", place], capture_output=True)
    if mounted.returncode:
        pytest.skip("only root puts a small disk there")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", place], check=True)


def test_the_disk_on_which_a_form_is_unpacked(plant: Plant) -> None:
    """It holds the request once, not twice."""
    before = len(plant.rows("Upload", "pk"))
    with small_disk(plant.folder / "small", 16):
        plant.part("web").kill()
        plant.web(TMPDIR=str(plant.folder / "small"))
        plant.ready()
        answer = plant.http.post("/api/uploads", files={"files": ("large.txt", LARGE)})
        assert answer.status_code == 507
        assert "disk of the service is full" in answer.json()["error"]
        assert plant.http.post("/api/uploads", files={"files": ("less.txt", LARGE[: 3 * MEGABYTE])}).status_code == 202
        plant.part("web").kill()
    plant.web()
    plant.ready()
    nothing_was_kept(plant, before + 1)


def test_the_disk_of_the_database(plant: Plant, database: Postgres) -> None:
    before = len(plant.rows("Upload", "pk"))
    eventually(lambda: not plant.rows("Upload", "pk", state__in=("waiting", "reading")))
    with tempfile.TemporaryDirectory(prefix="lw-") as folder, small_disk(Path(folder) / "small", 8):
        Path(folder).chmod(0o755)  # the database runs as another user
        database.own(Path(folder) / "small")
        with psycopg.connect(plant.environment["DATABASE_URL"], autocommit=True) as connection:
            connection.execute(f"CREATE TABLESPACE small LOCATION '{folder}/small'")
            connection.execute("ALTER TABLE uploads_blobchunk SET TABLESPACE small")
            answer = plant.http.post("/api/uploads", files={"files": ("large.txt", LARGE)})
            assert answer.status_code == 507
            assert "disk of the service is full" in answer.json()["error"]
            connection.execute("ALTER TABLE uploads_blobchunk SET TABLESPACE pg_default")
            connection.execute("DROP TABLESPACE small")
    upload = plant.bring(sysmon("ROOM"))
    eventually(lambda: plant.done(upload))
    nothing_was_kept(plant, before + 1)
