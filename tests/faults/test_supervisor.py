"""`manage.py up` killed, and everything with it: nothing of it lives on, what was accepted is audited once."""

import os
import re
import shutil
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.faults.conftest import PLANTS
from tests.faults.embedded import FIRST, Embedded, embedded
from tests.faults.exports import sysmon
from tests.faults.truth import assert_all_is_true
from tests.servers import eventually, redis_program

UPLOADS = 5


@pytest.fixture(scope="module")
def service(static: Path) -> Iterator[Embedded]:
    """One that runs, with a team whose token every request carries."""
    with embedded(static) as plant:
        PLANTS.append(plant)
        plant.up()
        eventually(lambda: FIRST.search(plant.said()), "the first login is told")
        plant.first_said = plant.said()
        crew = plant.ask("people", team="Claims")
        plant.http.headers["Authorization"] = f"Bearer {crew['token']}"
        plant.browser.cookies["sessionid"] = crew["session"]
        plant.ask("beat_every", seconds=1)
        yield plant
        PLANTS.remove(plant)


def test_the_address_and_the_first_password_are_the_last_it_says(service: Embedded) -> None:
    *_, address, login = service.first_said.splitlines()
    assert address == f"Lockwright is at {service.address}/"
    assert FIRST.fullmatch(f"{login}\n")
    assert "superuser privileges" not in service.said()
    assert ("Running as root" in service.said()) == (os.geteuid() == 0)


def test_what_it_started_knows_the_address_it_listens_at(service: Embedded) -> None:
    worker = next(pid for pid, command in service.living().items() if "-Q mail" in command)
    environment = Path(f"/proc/{worker}/environ").read_bytes()
    assert f"SITE_URL={service.address}".encode() in environment.split(b"\0")


def test_a_killed_supervisor_takes_all_it_started_with_it(service: Embedded) -> None:
    """Also a program that a worker of its had started: nothing else would end that."""
    service.program("sleeper", "exec sleep 100000")
    with_program = service.ask("system", team=service.one("Team", "pk", name="Claims"), name="SLEEPS")
    by = {"team": service.one("Team", "pk", name="Claims"), "user": service.one("User", "pk", username="dba-claims")}
    wish = {"name": "sleeps", "source": "collector", "collector": "sleeper", "every_minutes": 525_600}
    schedule = service.ask("schedule", system=with_program, **by, **wish)
    service.ask("run_now", schedule=schedule, user=by["user"])
    eventually(lambda: any("sleep 1" in command for command in service.living().values()), "the program runs")
    living = service.living()
    for words in (Path(redis_program()).name, "-Q celery", "-Q runs", "beat", "waitress", "sleep 1"):
        assert any(words in command for command in living.values()), words
    os.kill(service.parts[-1].pid, signal.SIGKILL)
    service.parts[-1].process.wait()
    eventually(lambda: not service.living(), "everything has ended")
    service.ask("change", model="Schedule", where={}, values={"next_due": None})
    service.ask("change", model="Run", where={}, values={"state": "failed"})
    service.up()
    upload = service.bring(sysmon("AGAIN"))
    eventually(lambda: service.done(upload))
    assert_all_is_true(service)


def test_what_was_accepted_is_audited_once_when_all_was_killed_at_that_moment(service: Embedded) -> None:
    """As a power cut does, with all that the broker knew: whatever it had is gone, too."""
    up = service.parts[-1]
    os.kill(up.pid, signal.SIGSTOP)  # it starts nothing again
    for pid, command in service.living().items():
        if "celery" in command:
            os.kill(pid, signal.SIGKILL)  # none of it is read before the end
    uploads = [service.bring(sysmon(f"CUT{number}")) for number in range(UPLOADS)]
    for pid in {up.pid, *service.living()}:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    up.process.wait()
    eventually(lambda: not service.living(), "everything has ended")
    shutil.rmtree(service.folder / "appendonlydir", ignore_errors=True)
    (service.folder / "appendonly.aof").unlink(missing_ok=True)
    assert service.rows("Upload", "state", pk__in=uploads) == ["waiting"] * UPLOADS
    service.up()
    service.minutes_pass()
    eventually(lambda: service.done(*uploads))
    assert [len(service.rows("Capture", "pk", upload=upload)) for upload in uploads] == [1] * UPLOADS
    assert [len(service.rows("Audit", "pk", capture__upload=upload)) for upload in uploads] == [1] * UPLOADS
    assert_all_is_true(service)


def test_every_process_has_a_commit_wait_for_the_disk(service: Embedded) -> None:
    """What a power cut does to the disk no test can try: SQLite is asked whether it waits (2: FULL; 1 would not)."""
    assert service.ask("sqlite_settings") == {"journal_mode": "wal", "synchronous": 2}
    assert len(re.findall(r"First login", service.said())) == 1
