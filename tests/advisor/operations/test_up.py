"""What `manage.py up` starts: every queue has a worker for itself."""

import os
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path

import pytest
import redis
from django.core.management import CommandError
from pytest_django import Settings

from advisor.config.celery import app
from advisor.operations.management.commands import up
from advisor.operations.services.broker import server_command, server_program
from advisor.operations.services.embedded import Held, Process, only_one
from tests.servers import eventually


def started(workers: int = 3) -> dict[str, list[str]]:
    """The commands by the names of their processes."""
    found = up.Command().processes({"workers": workers, "listen": "127.0.0.1:1"})
    assert len({process.name for process in found}) == len(found)
    return {process.name: process.command for process in found}


def option(command: list[str], name: str) -> str:
    return command[command.index(name) + 1]


def served(command: list[str]) -> list[str]:
    return option(command, "-Q").split(",")


def test_every_queue_has_a_worker_that_serves_no_other(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """What hangs (a collector, a mail server, a receiver) must hold up none of the other five."""
    monkeypatch.setenv("BROKER_URL", "redis://127.0.0.1:1")
    commands = started()
    assert list(commands) == ["worker", "clock", "collector", "courier", "caller", "printer", "scheduler", "web"]
    workers = [command for command in commands.values() if "-Q" in command]
    assert all(len(served(command)) == 1 for command in workers)
    assert sorted(served(command)[0] for command in workers) == sorted(settings.CELERY_TASK_QUEUES)
    unchecked = [name for name, command in commands.items() if "--skip-checks" in command]
    assert unchecked == ["clock", "collector", "scheduler"], "those that make no link load no pages; the others do"
    assert option(commands["worker"], "-c") == "3"
    assert int(option(commands["courier"], "-c")) >= 2, "one may wait for a mail server while one writes the next mail"
    assert int(option(commands["caller"], "-c")) >= 2, "one may wait for a receiver while another one is told"


def test_every_task_that_waits_for_others_is_in_the_queue_of_its_kind() -> None:
    router = app.amqp.router
    queues: dict[str, set[str]] = {}
    for task in (name for name in app.tasks if name.startswith("advisor.")):
        queues.setdefault(router.route({}, task)["queue"].name, set()).add(task.rpartition(".")[2])
    assert queues == {
        "celery": {"read_upload", "audit_again", "clear_up", "prove", "backtest", "print_asked"},
        "runs": {"make_run", "try_source"},
        "clock": {"tick", "start_waiting"},
        "mail": {"notify", "notify_due", "send_mails"},
        "hooks": {"deliver"},
        "prints": {"print_pdf"},
    }


def test_no_two_workers_of_one_broker_have_a_name_in_common(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROKER_URL", "redis://127.0.0.1:1")
    names = [option(command, "-n") for command in started().values() if "-Q" in command]
    monkeypatch.setattr("os.getpid", lambda: 7)
    names += [option(command, "-n") for command in started().values() if "-Q" in command]
    assert len(set(names)) == 12
    assert all(name.endswith("@%h") for name in names)


def test_folders_of_our_own_are_made_and_those_elsewhere_left_to_the_operator(
    settings: Settings, tmp_path: Path
) -> None:
    settings.RUN_DIR = tmp_path / "run"
    settings.DROP_FOLDERS = [tmp_path / "run" / "drop", tmp_path / "mounted"]
    settings.COLLECTORS_DIR = tmp_path / "run" / "collectors"
    up.make_folders()
    up.make_folders()
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == ["collectors", "drop"]
    assert not (tmp_path / "mounted").exists()
    assert {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "run").iterdir()} == {0o700}


@pytest.mark.parametrize(
    ("listen", "given", "address"),
    [
        ("10.1.2.3:9000", "", "http://10.1.2.3:9000"),
        ("[fd00::7]:9000", "", "http://[fd00::7]:9000"),
        ("127.0.0.1:8000", "", "http://127.0.0.1:8000"),
        ("10.1.2.3:9000", "https://locks.example.org", "https://locks.example.org"),
    ],
)
def test_links_lead_to_where_the_service_listens_unless_an_address_is_given(
    monkeypatch: pytest.MonkeyPatch, listen: str, given: str, address: str
) -> None:
    monkeypatch.setenv("SITE_URL", given)
    monkeypatch.setenv("ALLOWED_HOSTS", "")
    up.address_in_settings(listen)
    say = "from advisor.config import settings; from urllib.parse import urlsplit as u; " + (
        "h = u(settings.SITE_URL).netloc.rpartition(':')[0] or u(settings.SITE_URL).netloc; "
        "print(settings.SITE_URL, h in settings.ALLOWED_HOSTS)"
    )
    told = subprocess.run([sys.executable, "-c", say], capture_output=True, text=True, check=True, env=os.environ)
    assert told.stdout.split() == [address, "True"]


def test_where_it_listens_everywhere_links_lead_to_the_name_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SITE_URL", "")
    monkeypatch.setenv("ALLOWED_HOSTS", "")
    monkeypatch.setattr(socket, "getfqdn", lambda: "localhost")
    monkeypatch.setattr(socket, "gethostname", lambda: "locks1")
    monkeypatch.setattr(up, "own_addresses", lambda: ["10.1.2.3"])
    up.address_in_settings("0.0.0.0:9000")
    assert os.environ["SITE_URL"] == "http://locks1:9000"
    assert set(os.environ["ALLOWED_HOSTS"].split(",")) == {"locks1", "10.1.2.3", "localhost", "127.0.0.1"}


@pytest.mark.parametrize("listen", ["9000", "here:there", "10.1.2.3:0", "fd00::7:9000"])
def test_what_is_no_address_to_listen_at_is_refused(listen: str) -> None:
    with pytest.raises(CommandError, match="write host:port"):
        up.address_in_settings(listen)


def test_all_processes_are_asked_to_end_before_any_is_waited_for_and_the_broker_last(tmp_path: Path) -> None:
    """The last one ends once the first was asked to: one after the other it would have to be killed."""
    ends = {
        "redis": "trap 'ls > seen; exit 0' TERM",
        "web": "trap 'touch asked; exit 0' TERM",
        "worker": "trap 'while ! [ -e asked ]; do sleep 0.05; done; touch done; exit 0' TERM",
    }
    processes = [
        Process(name, ["sh", "-c", f"cd {tmp_path}; {trap}; touch {name}.up; while :; do sleep 0.05; done"])
        for name, trap in ends.items()
    ]
    for process in processes:
        process.start()
    eventually(lambda: all((tmp_path / f"{name}.up").exists() for name in ends))
    up.stop_all(processes)
    assert [process.running and process.running.returncode for process in processes] == [0, 0, 0]
    assert {"asked", "done"} <= set((tmp_path / "seen").read_text().split())


def test_a_second_service_is_refused_while_one_runs(tmp_path: Path) -> None:
    with only_one(tmp_path), pytest.raises(Held, match=f"running already.*process {os.getpid()}"):
        only_one(tmp_path, patience=0)
    only_one(tmp_path, patience=0).close()


def test_a_service_is_refused_while_a_part_of_one_lives_whose_supervisor_has_ended(tmp_path: Path) -> None:
    """Where the system does not end it with its supervisor; two Redis would write to one append-only file."""
    lock = only_one(tmp_path)
    part = subprocess.Popen(["sleep", "100000"], pass_fds=[lock.fileno()])
    lock.seek(0)
    lock.truncate()
    ended = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
    lock.write(ended.stdout.decode())
    lock.close()
    try:
        with pytest.raises(Held, match=rf"supervisor has ended.*processes {part.pid}\)"):
            only_one(tmp_path, patience=0)
    finally:
        part.kill()
        part.wait()
    only_one(tmp_path, patience=0).close()


@contextmanager
def broker(run: Path) -> Iterator["redis.Redis[bytes]"]:
    """The private server of a folder, as `up` starts it."""
    process = subprocess.Popen(server_command(run))
    try:
        eventually((run / "redis.sock").exists)
        with redis.Redis(unix_socket_path=str(run / "redis.sock")) as client:
            yield client
    finally:
        process.kill()
        process.wait()


def test_a_machine_without_a_server_has_that_of_the_wheel(monkeypatch: pytest.MonkeyPatch) -> None:
    """It listens at its owner's socket alone and keeps what it was given, in a file that every version reads."""
    monkeypatch.setenv("PATH", "")
    with tempfile.TemporaryDirectory(prefix="lw-") as folder:
        run = Path(folder)
        assert sys.prefix in server_program() or "site-packages" in server_program()
        with broker(run) as client:
            client.rpush("celery", "one", "two")
            assert stat.S_IMODE((run / "redis.sock").stat().st_mode) == 0o600
            assert client.config_get("port") == {"port": "0"}
            client.bgrewriteaof()
            eventually(lambda: client.info("persistence")["aof_rewrite_in_progress"] == 0)
        with broker(run) as client:
            assert client.lrange("celery", 0, -1) == [b"one", b"two"]
        written = [path for path in run.rglob("*.aof*") if path.is_file()]
        assert written
        assert not any(path.read_bytes().startswith((b"REDIS", b"VALKEY")) for path in written), "no dump"


def test_the_servers_of_the_system_come_before_that_of_the_wheel(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in ("redis-server", "valkey-server"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
        assert server_program() == str(tmp_path / name)


def test_without_any_server_it_names_the_remedy_and_starts_nothing(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def absent(name: str) -> None:
        raise metadata.PackageNotFoundError(name)

    settings.RUN_DIR = tmp_path
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("BROKER_URL", raising=False)
    monkeypatch.setattr(metadata, "files", absent)
    with pytest.raises(CommandError, match=r"apt-get install redis-server.*BROKER_URL"):
        started()
    assert not list(tmp_path.iterdir())
