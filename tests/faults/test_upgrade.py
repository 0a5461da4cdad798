"""An upgrade under load: uploads come all the time, and each is audited and mailed once, by whichever version.

There is one version here, so the next one is made of it (`next_version.py`).
"""

import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx
import psycopg
import pytest

from tests.faults.conftest import PLANTS, Crew
from tests.faults.embedded import embedded
from tests.faults.exports import many, sysmon
from tests.faults.next_version import NEW, OLD, next_version
from tests.faults.plant import ALL, Plant, planted
from tests.faults.postbox import Postbox
from tests.servers import PATIENCE, Postgres, eventually, redis

pytestmark = pytest.mark.long

AHEAD = "this process is older than the database and must not write to it"
BEHIND = "the database is older than this process"
IN_FLIGHT = 6
"""So many uploads at most wait for their audit: the load goes on as long as the test, and is never ahead of it."""


@pytest.fixture
def postbox() -> Iterator[Postbox]:
    box = Postbox()
    box.open()
    yield box
    box.close()


@pytest.fixture
def service(database: Postgres, postbox: Postbox, request: pytest.FixtureRequest) -> Iterator[Plant]:
    """A service of the test's own, of which nothing runs: its database will be of another version afterwards."""
    name = "".join(letter for letter in request.node.name if letter.isalnum())[:60]
    with (
        redis() as broker,
        tempfile.TemporaryDirectory(prefix="lw-") as folder,
        planted(Path(folder), database.make(name, "whole"), broker.address) as plant,
    ):
        PLANTS.append(plant)
        staff(plant, postbox)
        yield plant
        PLANTS.remove(plant)


def staff(plant: Plant, postbox: Postbox) -> None:
    """Have somebody who brings, and gets mail about each system."""
    crew = Crew(**plant.ask("people", team="Claims"))
    plant.http.headers["Authorization"] = f"Bearer {crew.token}"
    plant.ask("mail_server", port=postbox.port)
    plant.ask("recipient", team=crew.team, user=crew.user, address="dba@example.org")
    plant.ask("beat_every", seconds=1)


@contextmanager
def load(plant: Plant) -> Iterator[list[int]]:
    """Have uploads brought all the time; gives the list of those that were accepted, which grows.

    What is not accepted (the web server is away, or refuses) is sent again until it is.
    """
    accepted: list[int] = []
    over = threading.Event()
    http = httpx.Client(base_url=plant.address, timeout=PATIENCE, headers=plant.http.headers, trust_env=False)

    def sent(content: bytes) -> int | None:
        try:
            answer = http.post("/api/uploads", files={"files": ("sysmon.txt", content)})
        except httpx.HTTPError:
            return None
        assert answer.status_code in (200, 202, 503), answer.text
        return None if answer.status_code == 503 else int(answer.json()["upload"])

    def in_time() -> bool:
        try:
            answer = http.get(f"/api/uploads/{accepted[-IN_FLIGHT]}") if len(accepted) >= IN_FLIGHT else None
        except httpx.HTTPError:
            return False
        return answer is None or (answer.status_code == 200 and answer.json()["state"] == "done")

    def bring() -> None:
        while not over.is_set():
            content = sysmon(f"LOAD{len(accepted)}")
            while (upload := sent(content)) is None and not over.wait(0.1):
                pass
            if upload is not None:
                accepted.append(upload)
            while not in_time() and not over.wait(0.1):
                pass
            over.wait(0.1)

    with ThreadPoolExecutor(1) as pool, http:
        bringing = pool.submit(bring)
        try:
            yield accepted
        finally:
            over.set()
        bringing.result()


def migrate(plant: Plant, tree: Path) -> None:
    """Migrate by the code of this tree. PostgreSQL may choose it as the victim of a deadlock: then once more."""
    command = [sys.executable, "manage.py", "migrate", "--verbosity", "0"]

    def migrated() -> bool:
        done = subprocess.run(command, cwd=tree, env=plant.environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0 or "deadlock" in done.stderr, done.stderr
        return done.returncode == 0

    eventually(migrated)


def audited_by(plant: Plant, processes: Sequence[int], uploads: Sequence[int]) -> list[int]:
    """Those of the uploads that one of these processes has audited."""
    done = plant.rows("Upload", "pk", "claimant", pk__in=uploads, state="done")
    return [pk for pk, claimant in done if int(claimant.split("/")[1].split(".")[0]) in processes]


def written_by(plant: Plant, table: str, uploads: Sequence[int]) -> set[str]:
    """Which versions wrote the rows of a table that belong to these uploads."""
    of = {
        "upload": "SELECT made_by FROM uploads_upload WHERE id = ANY(%s)",
        "capture": "SELECT made_by FROM audits_capture WHERE upload_id = ANY(%s)",
        "audit": "SELECT a.made_by FROM audits_audit a JOIN audits_capture c ON c.id = a.capture_id "
        "WHERE c.upload_id = ANY(%s)",
    }
    with psycopg.connect(plant.environment["DATABASE_URL"]) as connection:
        return {str(found) for (found,) in connection.execute(of[table], [list(uploads)])}


def health(plant: Plant) -> tuple[int, str]:
    """What the web server says of itself; 0: it is not there."""
    try:
        answer = plant.http.get("/healthz")
    except httpx.HTTPError:
        return 0, ""
    return answer.status_code, answer.text


def swap_web(plant: Plant) -> None:
    """End the web server, and start that of the tree the plant is at now."""
    plant.part("web").stop()
    plant.web()
    plant.ready()


def assert_each_once(plant: Plant, postbox: Postbox, uploads: Sequence[int]) -> None:
    """Whatever was accepted is audited once and told once, and nothing else is there."""
    plant.minutes_pass()
    assert plant.rows("Upload", "pk") == sorted(uploads)
    eventually(lambda: plant.done(*uploads), "all that was accepted is audited")
    captures = plant.rows("Capture", "pk", "upload", "system")
    assert {upload for _, upload, _ in captures} == set(uploads)
    assert sorted(plant.rows("Audit", "capture")) == sorted(capture for capture, _, _ in captures)
    assert not {what: found for what, found in plant.ask("truth").items() if found}
    systems = plant.rows("System", "pk")
    eventually(lambda: len(plant.rows("Mail", "pk", state="done")) >= len(systems), "all mails are sent")
    assert sorted(plant.rows("Mail", "system")) == sorted(systems)
    assert set(postbox.times().values()) == {1}
    assert len(postbox.mails) == len(systems)


def test_workers_of_both_versions_beside_each_other(service: Plant, postbox: Postbox, tmp_path: Path) -> None:
    plant, tree = service, next_version(tmp_path)
    old = plant.worker("old", ALL)
    plant.web()
    plant.beat()
    plant.ready()
    by_old = old.children()
    with load(plant) as accepted:
        eventually(lambda: plant.rows("Mail", "pk", state="done"))
        migrate(plant, tree)
        alone = len(accepted) + 1  # the first one that was sent afterwards
        eventually(lambda: audited_by(plant, by_old, accepted[alone:]), "the old worker goes on")
        plant.tree = tree
        new = plant.worker("new", ALL)
        plant.ready()
        beside = len(accepted) + 1
        eventually(lambda: audited_by(plant, new.children(), accepted[beside:]), "the new worker works")
        eventually(lambda: audited_by(plant, by_old, accepted[beside:]), "and so does the old one")
        old.stop()
        assert old.process.returncode == 0
        swap_web(plant)
        plant.part("beat").stop()
        plant.beat("next-beat")
        swapped = len(accepted) + 1
        eventually(lambda: audited_by(plant, new.children(), accepted[swapped:]), "the new version works alone")
    assert_each_once(plant, postbox, accepted)
    after = audited_by(plant, by_old, accepted[alone:])
    assert [written_by(plant, table, after) for table in ("upload", "capture", "audit")] == [{OLD}] * 3
    after = audited_by(plant, new.children(), accepted[swapped:])
    assert [written_by(plant, table, after) for table in ("upload", "capture", "audit")] == [{NEW}] * 3


def test_the_old_version_stops_where_the_migration_says_so(service: Plant, postbox: Postbox, tmp_path: Path) -> None:
    plant, tree = service, next_version(tmp_path, stops_older=True)
    old = plant.worker("old", ALL)
    plant.web()
    plant.beat()
    plant.ready()
    by_old = old.children()
    with load(plant) as accepted:
        eventually(lambda: plant.rows("Mail", "pk", state="done"))
        large = list[int]()
        with ThreadPoolExecutor(1) as pool:
            migrating = pool.submit(migrate, plant, tree)
            while not migrating.done():  # whenever it is through, work waits
                if len(plant.rows("Upload", "pk", pk__in=large, state="waiting")) < IN_FLIGHT:
                    content = many(f"LARGE{len(large)}", 20)
                    answer = plant.http.post("/api/uploads", files={"files": ("sysmon.txt", content)})
                    large += [answer.json()["upload"]] if answer.status_code == 202 else []
            migrating.result()
        eventually(lambda: old.process.poll() is not None, "the old worker ends")
        assert AHEAD in old.said
        eventually(lambda: AHEAD in health(plant)[1])
        assert health(plant)[0] == 503
        refused = plant.http.post("/api/uploads", files={"files": ("sysmon.txt", sysmon("REFUSED"))})
        assert (refused.status_code, AHEAD in refused.json()["error"]) == (503, True)
        assert refused.json()["remedy"] == "Stop it and start the new version."
        again = plant.worker("again", ALL)
        eventually(lambda: AHEAD in again.said, "an old worker that is started once more waits")
        left = [*plant.rows("Upload", "pk", state="waiting"), *plant.rows("Upload", "pk", state="reading")]
        assert set(left) & set(large)
        plant.tree = tree
        new = plant.worker("new", ALL)
        eventually(lambda: new.ready(), "the new worker is ready")
        plant.part("web").stop()
        plant.web()
        swapped = len(accepted) + 1
        eventually(lambda: audited_by(plant, new.children(), accepted[swapped:]), "the new version takes uploads")
    assert not again.ready()
    assert_each_once(plant, postbox, [*accepted, *large])
    assert sorted(audited_by(plant, new.children(), left)) == sorted(left)
    assert not audited_by(plant, by_old, accepted[swapped:])


def test_the_new_version_waits_for_its_migration(service: Plant, postbox: Postbox, tmp_path: Path) -> None:
    plant, tree = service, next_version(tmp_path)
    plant.tree = tree
    plant.web()
    new = plant.worker("new", ALL)
    beat = plant.beat()
    eventually(lambda: BEHIND in health(plant)[1])
    assert health(plant)[0] == 503
    refused = plant.http.post("/api/uploads", files={"files": ("sysmon.txt", sysmon("REFUSED"))})
    assert (refused.status_code, refused.json()["remedy"]) == (503, "Run manage.py migrate with the new version.")
    for part in (new, beat):
        eventually(lambda part=part: BEHIND in part.said)  # type: ignore[misc]
    assert not new.ready()
    migrate(plant, tree)
    plant.ready()
    upload = plant.bring(sysmon("AFTERWARDS"))
    eventually(lambda: plant.done(upload))
    assert_each_once(plant, postbox, [upload])


def test_sqlite_by_manage_up(postbox: Postbox, tmp_path: Path, static: Path) -> None:
    tree = next_version(tmp_path)
    with embedded(static) as plant:
        PLANTS.append(plant)
        try:
            plant.up()
            staff(plant, postbox)
            with load(plant) as accepted:
                eventually(lambda: plant.rows("Mail", "pk", state="done"))
                plant.part("up").stop()
                before = len(accepted)
                plant.tree = tree
                plant.up()
                eventually(lambda: plant.rows("Upload", "pk", pk__in=accepted[before + 1 :], state="done"))
            assert_each_once(plant, postbox, accepted)
        finally:
            PLANTS.remove(plant)
