"""Real servers for tests and benchmarks: on free loopback ports, in temporary folders, gone afterwards.

A test that wants PostgreSQL or the web server starts one here, as a process of its own, and stops it again.
"""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, TypeVar

import psycopg

from advisor.operations.services.broker import server_program

ROOT = Path(__file__).resolve().parent.parent
HOST = "127.0.0.1"
DEBIAN_HOMES = Path("/usr/lib/postgresql")
"""Debian keeps the server's programs here, in a folder per major version, and not on the path."""
SERVER_USER = "postgres"
PATIENCE = 5 * 60.0
"""Seconds after which a test gives up waiting: only what never comes takes so long, on the slowest machine."""
KINDLY_SECONDS = 60
"""So long a server that is asked to end has for it; then it is ended."""
FASTER_AND_UNSAFE = ("fsync=off", "synchronous_commit=off", "full_page_writes=off")
"""What a test loses when the machine loses power, it makes again."""


LOOK = 0.02
"""Seconds between two looks."""
T = TypeVar("T")


class CannotStart(RuntimeError):
    """A server is not installed or did not come up; the message says what to do, or what the server said."""


def eventually(look: Callable[[], T], what: str = "") -> T:
    """Wait until `look` gives something that counts, and give it; what it last gave is told where it never does."""
    until = time.monotonic() + PATIENCE
    while not (found := look()):
        if time.monotonic() > until:
            raise AssertionError(f"not within {PATIENCE:.0f} s: {what or look.__name__}: {found!r}")
        time.sleep(LOOK)
    return found


def free_port() -> int:
    """Give a TCP port of the loopback interface that nobody listens on at this moment."""
    with socket.socket() as one:
        one.bind((HOST, 0))
        return int(one.getsockname()[1])


def postgres_program(name: str) -> str:
    """Find `initdb` or `postgres`, of the newest version installed. Raises `CannotStart`."""
    homes = [home for home in DEBIAN_HOMES.glob("*/bin") if (home / name).exists() and home.parent.name.isdigit()]
    if homes:
        return str(max(homes, key=lambda home: int(home.parent.name)) / name)
    if found := shutil.which(name):
        return found
    raise CannotStart(
        f"there is no {name} under {DEBIAN_HOMES} or on the path: "
        "install PostgreSQL (Debian: apt-get install --no-install-recommends postgresql)"
    )


class Server:
    """A server that can be ended, killed and started again on the same files and the same address."""

    def __init__(self, name: str, address: str, command: Sequence[str], log: Path, **running: Any) -> None:
        """Take the command; `running` is for `Popen`. Nothing starts yet."""
        self.name, self.address, self.command, self.log, self.running = name, address, command, log, running
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, ready: Callable[[], bool]) -> None:
        """Start it and wait until it is ready. Raises `CannotStart`."""
        with self.log.open("a+b") as log:
            self.process = subprocess.Popen(self.command, stdout=log, stderr=log, **self.running)
            _until(ready, self.process, log, self.name)

    def stop(self, kindly: signal.Signals = signal.SIGTERM, at_once: signal.Signals = signal.SIGKILL) -> None:
        """End it, if it runs: kindly, and at once where it does not."""
        if self.process is not None and self.process.poll() is None:
            _end(self.process, kindly, at_once)

    def kill(self) -> None:
        """End it as a machine that runs out of memory does, at once."""
        assert self.process
        self.process.kill()
        self.process.wait(PATIENCE)


class Postgres(Server):
    """A private PostgreSQL; `address` is without the name of a database."""

    def up(self) -> None:
        """Start it and wait until it answers. Raises `CannotStart`."""
        self.start(lambda: _connects(f"{self.address}/postgres"))

    def away(self) -> None:
        """As pg_ctl -m fast: sessions are ended, the rest is written; where that takes too long, at once."""
        self.stop(signal.SIGINT, signal.SIGQUIT)

    def own(self, place: Path) -> None:
        """Give a folder to the user it runs as."""
        if user := self.running.get("user"):
            shutil.chown(place, user)

    def make(self, database: str, template: str = "template1") -> str:
        """Make a database, as a copy of another one that nobody uses, and give its DATABASE_URL."""
        with psycopg.connect(f"{self.address}/postgres", autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{database}" TEMPLATE "{template}"')
        return f"{self.address}/{database}"


@contextmanager
def postgres_server(
    *, settings: Sequence[str] = (), before: Sequence[str] = (), network: str = ""
) -> Iterator[Postgres]:
    """Run a private PostgreSQL that can be stopped and started again. Raises `CannotStart`.

    `settings` are more of its settings (`shared_buffers=1GB`); `before` goes before its command (`taskset -c 0,1`).
    `network` (`10.77.0.0/24`): it serves this network, on a host that `before` leads to, as a user that is not root.
    Its `address` is then that of its Unix socket, which a test reaches whatever becomes of the network.
    """
    initdb, server = postgres_program("initdb"), postgres_program("postgres")
    with tempfile.TemporaryDirectory(prefix="lockwright-postgres-", ignore_cleanup_errors=True) as folder:
        home, port, user = Path(folder), free_port(), _unprivileged()
        if user:  # initdb refuses root, and its data must belong to who runs it
            shutil.chown(home, user, pwd.getpwnam(user).pw_gid)
        running: dict[str, Any] = {"cwd": home, "user": user, "extra_groups": [] if user else None}
        account = ["-U", SERVER_USER, "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync"]
        made = subprocess.run(
            [initdb, "-D", "data", *account], **running, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        if made.returncode:
            raise CannotStart(f"initdb failed: {made.stdout}")
        where = HOST
        if network:
            with (home / "data" / "pg_hba.conf").open("a") as rules:
                rules.write(f"host all all {network} trust\n")
            running, where = {"cwd": home}, str(home).replace("/", "%2F")
        given = [f"port={port}", f"listen_addresses={HOST}", f"unix_socket_directories={home}", *FASTER_AND_UNSAFE]
        options = [word for one in (*given, *settings) for word in ("-c", one)]
        command = [*before, server, "-D", str(home / "data"), *options]
        found = Postgres("PostgreSQL", f"postgresql://{SERVER_USER}@{where}:{port}", command, home / "log", **running)
        try:
            found.up()
            yield found
        finally:
            found.away()


@contextmanager
def postgres(*, settings: Sequence[str] = (), before: Sequence[str] = ()) -> Iterator[str]:
    """Run a private PostgreSQL and yield the DATABASE_URL of an empty database in it. Raises `CannotStart`.

    `settings` and `before` are those of `postgres_server`.
    """
    with postgres_server(settings=settings, before=before) as server:
        yield server.make("lockwright")


class Redis(Server):
    """A private Redis that keeps every write as the embedded one does; `address` is the BROKER_URL."""

    path: Path | None = None
    """Of its Unix socket, where it is to be reached by that."""

    def up(self) -> None:
        """Start it and wait until it has read its file and answers. Raises `CannotStart`."""
        self.start(self.answers)

    def answers(self) -> bool:
        """Whether it takes commands."""
        try:
            return self.tell("PING").startswith("+PONG")
        except OSError:
            return False

    def tell(self, words: str) -> str:
        """Give it a command and return the first line of its answer. Raises `OSError`."""
        with self.line() as line:
            line.sendall(f"{words}\r\n".encode())
            return line.recv(1000).decode().partition("\r")[0]

    def line(self) -> socket.socket:
        """A connection: to its Unix socket where it stands on another host. Raises `OSError`."""
        if self.path is None:
            port = int(self.address.rsplit(":", 1)[-1].partition("/")[0])
            return socket.create_connection((HOST, port), 1)
        line = socket.socket(socket.AF_UNIX)
        line.settimeout(1)
        try:
            line.connect(str(self.path))
        except OSError:
            line.close()
            raise
        return line


@contextmanager
def redis(*, before: Sequence[str] = (), host: str = HOST) -> Iterator[Redis]:
    """Run a private Redis on the loopback (the program that the product takes) and yield it.

    Raises `CannotStart`; `before` goes before its command. `host` is the address of another host that `before` leads
    to; the tests' own process then reaches it by a Unix socket.
    """
    with tempfile.TemporaryDirectory(prefix="lockwright-redis-") as folder:
        home, port = Path(folder), free_port()
        command = [*before, redis_program(), "--bind", host, "--port", str(port), "--dir", str(home)]
        command += ["--appendonly", "yes", "--save", "", "--maxmemory-policy", "noeviction"]
        found = Redis("Redis", f"redis://{host}:{port}/0", command, home / "log")
        if host != HOST:
            found.path = home / "socket"
            found.command = [*command, "--unixsocket", str(found.path), "--protected-mode", "no"]
        try:
            found.up()
            yield found
        finally:
            found.stop()


def redis_program() -> str:
    """Find the server that the product takes. Raises `CannotStart`."""
    try:
        return server_program()
    except FileNotFoundError as error:
        raise CannotStart(str(error)) from None


@contextmanager
def waitress(
    environment: Mapping[str, str],
    application: str = "advisor.config.wsgi:application",
    *,
    threads: int = 8,
    before: Sequence[str] = (),
    program: str = "waitress",
) -> Iterator[str]:
    """Serve `application` by waitress in a process of its own and yield its address, without a slash at the end.

    `environment` is added to ours, with SITE_URL as the address; `before` goes before the command. `program` is the
    module that serves. Raises `CannotStart`.
    """
    port = free_port()
    address = f"http://{HOST}:{port}"
    command = [
        *before,
        sys.executable,
        "-m",
        program,
        f"--listen={HOST}:{port}",
        f"--threads={threads}",
        application,
    ]
    with tempfile.TemporaryFile("w+b") as log:
        process = subprocess.Popen(
            command, cwd=ROOT, env={**os.environ, "SITE_URL": address, **environment}, stdout=log, stderr=log
        )
        try:
            _until(lambda: any(_answers(address + path) for path in ("/healthz", "/login/")), process, log, "waitress")
            yield address
        finally:
            _end(process, signal.SIGTERM, signal.SIGKILL)


def manage(*words: str, environment: Mapping[str, str]) -> str:
    """Run `manage.py` in a process of its own and give what it printed. Raises `CannotStart` where it fails."""
    done = subprocess.run(
        [sys.executable, "manage.py", *words],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise CannotStart(f"manage.py {' '.join(words)} ended with {done.returncode}: {done.stderr or done.stdout}")
    return done.stdout


def _unprivileged() -> str | None:
    """The user to run PostgreSQL as where we are root; `None` where we may run it ourselves."""
    if os.geteuid() != 0:
        return None
    try:
        return pwd.getpwnam(SERVER_USER).pw_name
    except KeyError:
        raise CannotStart(f"PostgreSQL does not run as root, and there is no user {SERVER_USER}") from None


def _connects(address: str) -> bool:
    """Whether a database takes connections."""
    try:
        psycopg.connect(address, connect_timeout=5).close()
    except psycopg.OperationalError:
        return False
    return True


def _answers(address: str) -> bool:
    """Whether a page comes; one that is not there (404) or wants something else is an answer, an error is none."""
    try:
        with urllib.request.urlopen(address, timeout=10) as answer:
            return int(answer.status) < 400
    except urllib.error.HTTPError as error:
        return error.code < 500 and error.code != 404
    except OSError:
        return False


def _until(ready: Callable[[], bool], process: "subprocess.Popen[bytes]", log: IO[bytes], name: str) -> None:
    """Wait until it is ready. Raises `CannotStart` with what it said where it ends first or takes too long."""
    last = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < last:
        if ready():
            return
        time.sleep(0.05)
    log.seek(0)
    said = log.read()[-4000:].decode("utf-8", "replace")
    state = f"ended with {process.returncode}" if process.poll() is not None else f"is not up after {PATIENCE:.0f} s"
    raise CannotStart(f"{name} {state}: {said}")


def _end(process: "subprocess.Popen[bytes]", kindly: signal.Signals, at_once: signal.Signals) -> None:
    """Have a process end, and wait for it."""
    process.send_signal(kindly)
    try:
        process.wait(KINDLY_SECONDS)
    except subprocess.TimeoutExpired:
        process.send_signal(at_once)
        process.wait(PATIENCE)
