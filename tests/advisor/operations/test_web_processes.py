"""The web server as `up` starts it: several processes over one port, which count, bound and end as one."""

import os
import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest
from waitress.adjustments import Adjustments
from waitress.server import BaseWSGIServer

from advisor.operations.management.commands.up import WEB_SERVER
from advisor.operations.web_server.waitress_prefork import FOLDER, WAIT, Held, bound, share
from tests.servers import HOST, ROOT, eventually, manage, waitress

ENOUGH = 200
"""Requests after which a process that took none would take none at all."""
TOKEN = (
    "from advisor.accounts.models import Role, User; from advisor.accounts.services.tokens import make_token; "
    "print('token', make_token(User.objects.create_user('m', role=Role.ADMINISTRATOR), 'm', ['metrics'], None)[1])"
)
COUNTED = re.compile(r'lockwright_http_request_seconds_count\{status="200",view="healthz"\} (\S+)')


def children(pid: int) -> list[int]:
    found = [one.read_text().split() for one in Path(f"/proc/{pid}/task").glob("*/children")]
    return sorted(int(child) for some in found for child in some)


def serving(address: str) -> int:
    """The process that was started to serve there: the parent of those that do."""
    port = address.rpartition(":")[2]
    for place in Path("/proc").glob("[0-9]*"):
        try:
            words = (place / "cmdline").read_bytes().decode().split("\0")
        except OSError:
            continue
        if f"--listen={HOST}:{port}" in words and children(int(place.name)):
            return int(place.name)
    raise AssertionError(f"nobody serves {address}")


def ask(address: str, path: str, **headers: str) -> str:
    with urllib.request.urlopen(urllib.request.Request(address + path, headers=headers)) as answer:
        return str(answer.read().decode())


def test_two_processes_serve_one_port_count_together_and_end_together(
    tmp_path: Path, migrated: Callable[[Path], None]
) -> None:
    environment = {"RUN_DIR": str(tmp_path), "SECRET_KEY": "of this test", "WEB_PROCESSES": "2", "WEB_THREADS": "8"}
    migrated(tmp_path)
    token = manage("shell", "-c", TOKEN, environment=environment).partition("token ")[2].strip()
    with waitress(environment, program=WEB_SERVER) as address:
        first = serving(address)
        serve = children(first)
        assert len(serve) == 2
        before = COUNTED.search(ask(address, "/metrics", Authorization=f"Bearer {token}"))
        for _ in range(ENOUGH):
            ask(address, "/healthz")
        for _ in range(4):  # whoever answers tells of all
            now = COUNTED.search(ask(address, "/metrics", Authorization=f"Bearer {token}"))
            assert now
            assert float(now[1]) - float(before[1] if before else 0) == ENOUGH
        folders = list(Path("/dev/shm").glob(f"{FOLDER}{first}-*"))
        os.kill(first, signal.SIGKILL)
        eventually(lambda: not any(Path(f"/proc/{pid}/fd").is_dir() and fds(pid) for pid in serve), "all have ended")
        with pytest.raises((urllib.error.URLError, ConnectionResetError)):
            ask(address, "/healthz")
    with waitress(environment, program=WEB_SERVER) as address:
        assert not [place for place in folders if place.exists()], "what a killed one left goes with the next"
        mine = serving(address)
    assert not list(Path("/dev/shm").glob(f"{FOLDER}{mine}-*"))


def fds(pid: int) -> bool:
    """Whether a process still has anything open: one that has ended and was not waited for has not."""
    try:
        return any(Path(f"/proc/{pid}/fd").iterdir())
    except OSError:
        return False


SERVE = """
import os, sys, time
from advisor.operations.web_server import waitress_prefork as prefork
prefork.STEADY = float(sys.argv[1])
def work(place):
    assert place == 0
    with open(sys.argv[2], "a") as told:
        told.write(f"{os.getpid()}\\n")
    if len(open(sys.argv[2]).readlines()) > 2:
        time.sleep(1_000_000)
sys.exit(prefork.serve(1, work))
"""


@pytest.mark.parametrize(("steady", "again"), [(0.0, True), (1e6, False)], ids=["a steady one", "one that cannot work"])
def test_a_process_that_ends_is_replaced_unless_it_would_end_again(steady: float, again: bool, tmp_path: Path) -> None:
    told = tmp_path / "told"
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "advisor.config.settings"}
    command = [sys.executable, "-c", SERVE, str(steady), str(told)]
    with subprocess.Popen(command, cwd=ROOT, env=environment) as process:
        if again:
            eventually(lambda: told.exists() and len(told.read_text().split()) == 3, "the third one works")
            process.terminate()
        process.wait()
    assert process.returncode == (-signal.SIGTERM if again else 1)
    assert len(set(told.read_text().split())) == (3 if again else 1)


class Server:
    """As much of the server as decides who takes a connection."""

    def __init__(self, held: int) -> None:
        self.active_channels = dict.fromkeys(range(held))


def test_who_holds_more_connections_leaves_the_next_to_who_holds_fewer(monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []
    took: list[Server] = []
    monkeypatch.setattr(BaseWSGIServer, "readable", lambda server: True)
    monkeypatch.setattr(BaseWSGIServer, "handle_accept", took.append)
    monkeypatch.setattr("advisor.operations.web_server.waitress_prefork.time.sleep", waited.append)
    held = Held(2)
    held.even_out(1)
    few, many = Server(3), Server(4)
    held.counts[0] = 3
    for server in (few, many):
        assert BaseWSGIServer.readable(server)
        assert list(held.counts) == [3, len(server.active_channels)]
        BaseWSGIServer.handle_accept(server)
    assert took == [few, many]
    assert waited == [WAIT]


def test_bounds_are_shared_and_none_stays_none() -> None:
    assert [share(*one) for one in ((16, 2), (100, 3), (1, 2), (0, 2))] == [8, 34, 1, 0]


def test_a_port_that_another_program_has_is_not_taken() -> None:
    with socket.socket() as other:
        other.bind((HOST, 0))
        other.listen()
        with pytest.raises(OSError, match="in use"):
            bound(Adjustments(listen=f"{HOST}:{other.getsockname()[1]}"))
