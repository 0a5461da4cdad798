"""What `manage.py up` starts: every queue has a worker for itself."""

import stat
from pathlib import Path

import pytest
from pytest_django import Settings

from advisor.celery import app
from advisor.management.commands import up


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
    """What hangs (a collector, a mail server, a receiver) must hold up none of the other four."""
    monkeypatch.setenv("BROKER_URL", "redis://127.0.0.1:1")
    commands = started()
    assert list(commands) == ["worker", "clock", "collector", "courier", "caller", "scheduler", "web"]
    workers = [command for command in commands.values() if "-Q" in command]
    assert all(len(served(command)) == 1 for command in workers)
    assert sorted(served(command)[0] for command in workers) == sorted(settings.CELERY_TASK_QUEUES)
    assert option(commands["worker"], "-c") == "3"
    assert int(option(commands["courier"], "-c")) >= 2, "one may wait for a mail server while one writes the next mail"
    assert int(option(commands["caller"], "-c")) >= 2, "one may wait for a receiver while another one is told"


def test_every_task_that_waits_for_others_is_in_the_queue_of_its_kind() -> None:
    router = app.amqp.router
    queues: dict[str, set[str]] = {}
    for task in (name for name in app.tasks if name.startswith("advisor.tasks.")):
        queues.setdefault(router.route({}, task)["queue"].name, set()).add(task.rpartition(".")[2])
    assert queues == {
        "celery": {"read_upload", "audit_again", "clear_up"},
        "runs": {"make_run", "try_source"},
        "clock": {"tick", "start_waiting"},
        "mail": {"tell", "tell_due", "send_mails"},
        "hooks": {"deliver"},
    }


def test_no_two_workers_of_one_broker_have_a_name_in_common(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROKER_URL", "redis://127.0.0.1:1")
    names = [option(command, "-n") for command in started().values() if "-Q" in command]
    monkeypatch.setattr("os.getpid", lambda: 7)
    names += [option(command, "-n") for command in started().values() if "-Q" in command]
    assert len(set(names)) == 10
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
