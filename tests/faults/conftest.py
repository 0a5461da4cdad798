"""Real processes: one PostgreSQL for all, a broker and a database of its own for each module."""

import fcntl
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests import servers
from tests.faults.plant import Plant, planted
from tests.servers import ROOT, Postgres, Redis, postgres_server, redis

Measured = Callable[[str, float], None]
PLANTS: list[Plant] = []
"""Those that stand at this moment."""


@dataclass
class Crew:
    """A team with its DBA."""

    team: int
    user: int
    token: str
    session: str


COLLECT = """
import django
django.setup()
from advisor.operations.management.commands.up import collect_static
collect_static()
"""


@pytest.fixture(scope="session", autouse=True)
def _slower_polling() -> Iterator[None]:
    """Look ten times a second at what comes by and by: each look is a question to a process and a database."""
    before, servers.LOOK = servers.LOOK, 0.1
    yield
    servers.LOOK = before


@pytest.fixture(scope="session")
def static(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run folder with the static files alone, which are collected and compressed once for all that run beside us."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "static-files"
    folder.mkdir(exist_ok=True)
    with (folder.parent / "static-files.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "static.stamp").exists():
            environment = {**os.environ, "RUN_DIR": f"{folder}", "SECRET_KEY": "static"}
            environment["DJANGO_SETTINGS_MODULE"] = "advisor.config.settings"
            subprocess.run([sys.executable, "-c", COLLECT], cwd=ROOT, env=environment, check=True)
    return folder


@pytest.fixture(scope="session")
def database() -> Iterator[Postgres]:
    """A PostgreSQL with the migrated database `whole`, which each module copies."""
    # whose client was killed does not stay at what it was doing, waiting at a gate, say
    settings = ["client_connection_check_interval=100"]
    with postgres_server(settings=settings) as server, tempfile.TemporaryDirectory(prefix="lw-") as folder:
        with planted(Path(folder), server.make("whole"), "redis://127.0.0.1:1/0") as plant:
            plant.ask("migrate")
        yield server


@pytest.fixture(scope="module")
def broker() -> Iterator[Redis]:
    """A Redis of its own for the module."""
    with redis() as server:
        yield server


@pytest.fixture(scope="module")
def plant(request: pytest.FixtureRequest, database: Postgres, broker: Redis) -> Iterator[Plant]:
    """An empty service of the module's own, of which nothing runs yet."""
    more: dict[str, str] = getattr(request.module, "ENVIRONMENT", {})
    name = request.module.__name__.rpartition(".")[-1]
    with (
        tempfile.TemporaryDirectory(prefix="lw-") as folder,
        planted(Path(folder), database.make(name, "whole"), broker.address, **more) as plant,
    ):
        PLANTS.append(plant)
        yield plant
        PLANTS.remove(plant)


@pytest.fixture(scope="module")
def crew(plant: Plant) -> Crew:
    """The team Claims and its DBA, whose token every request of the module carries."""
    found = Crew(**plant.ask("people", team="Claims"))
    plant.http.headers["Authorization"] = f"Bearer {found.token}"
    plant.browser.cookies["sessionid"] = found.session
    plant.ask("beat_every", seconds=1)
    return found


@pytest.fixture
def measured(request: pytest.FixtureRequest) -> Measured:
    """Note how many seconds something took; the table stands at the end of the run."""
    return lambda what, seconds: request.node.user_properties.append(("measured", [what, seconds]))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what was measured, and what could not be tried on this machine."""
    for report in (*terminalreporter.stats.get("passed", []), *terminalreporter.stats.get("failed", [])):
        for what, seconds in (figure for name, figure in report.user_properties if name == "measured"):
            if report.when == "call":
                terminalreporter.write_line(f"| {what} | {seconds:.1f} s |")
    skipped = [report for report in terminalreporter.stats.get("skipped", []) if "tests/faults/" in report.nodeid]
    for file, why in sorted({(report.fspath, report.longrepr[2]) for report in skipped}):
        terminalreporter.write_line(f"NOT TRIED: {file}: {why.removeprefix('Skipped: ')}")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[Any]:
    """Where a test fails, show what the processes said."""
    outcome: Any = yield
    report = outcome.get_result()
    if report.failed:
        report.sections += [("the processes said", plant.told()) for plant in PLANTS]
