"""What `manage.py up` starts: every queue has a worker, and reading has one for itself."""

import stat
from pathlib import Path

import pytest
from pytest_django import Settings

from advisor.management.commands import up


def started(workers: int = 3) -> dict[str, list[str]]:
    """The commands by the names of their processes."""
    found = up.Command().processes({"workers": workers, "listen": "127.0.0.1:1"})
    assert len({process.name for process in found}) == len(found)
    return {process.name: process.command for process in found}


def option(command: list[str], name: str) -> str:
    return command[command.index(name) + 1]


def test_every_queue_has_a_worker_and_what_audits_serves_no_other(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BROKER_URL", "redis://127.0.0.1:1")
    commands = started()
    assert list(commands) == ["worker", "courier", "scheduler", "web"]
    served = {name: option(commands[name], "-Q").split(",") for name in ("worker", "courier")}
    assert served["worker"] == ["celery"]
    assert sorted(served["worker"] + served["courier"]) == sorted(settings.CELERY_TASK_QUEUES)
    assert option(commands["worker"], "-c") == "3"
    assert int(option(commands["courier"], "-c")) >= 2, "one may wait for a mail server while the clock goes on"


def test_no_two_workers_of_one_broker_have_a_name_in_common(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROKER_URL", "redis://127.0.0.1:1")
    names = [option(started()[name], "-n") for name in ("worker", "courier")]
    monkeypatch.setattr("os.getpid", lambda: 7)
    names += [option(started()[name], "-n") for name in ("worker", "courier")]
    assert len(set(names)) == 4
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
