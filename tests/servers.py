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
from typing import IO, Any

import psycopg

ROOT = Path(__file__).resolve().parent.parent
HOST = "127.0.0.1"
DEBIAN_HOMES = Path("/usr/lib/postgresql")
"""Debian keeps the server's programs here, in a folder per major version, and not on the path."""
SERVER_USER = "postgres"
START_SECONDS = 60
STOP_SECONDS = 60
FASTER_AND_UNSAFE = ("fsync=off", "synchronous_commit=off", "full_page_writes=off")
"""What a test loses when the machine loses power, it makes again."""


class CannotStart(RuntimeError):
    """A server is not installed or did not come up; the message says what to do, or what the server said."""


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


@contextmanager
def postgres(*, settings: Sequence[str] = (), before: Sequence[str] = ()) -> Iterator[str]:
    """Run a private PostgreSQL and yield the DATABASE_URL of an empty database in it.

    `settings` are more of its settings (`shared_buffers=1GB`); `before` goes before its command (`taskset -c 0,1`).
    Raises `CannotStart`.
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
        given = [f"port={port}", f"listen_addresses={HOST}", f"unix_socket_directories={home}", *FASTER_AND_UNSAFE]
        options = [word for one in (*given, *settings) for word in ("-c", one)]
        with (home / "log").open("w+b") as log:
            process = subprocess.Popen([*before, server, "-D", "data", *options], **running, stdout=log, stderr=log)
            try:
                address = f"postgresql://{SERVER_USER}@{HOST}:{port}"
                _until(lambda: _made_database(f"{address}/postgres"), process, log, "PostgreSQL")
                yield f"{address}/lockwright"
            finally:
                # as pg_ctl -m fast: sessions are ended, the rest is written; SIGQUIT ends it at once
                _end(process, signal.SIGINT, signal.SIGQUIT)


@contextmanager
def waitress(
    environment: Mapping[str, str],
    application: str = "advisor.wsgi:application",
    *,
    threads: int = 8,
    before: Sequence[str] = (),
) -> Iterator[str]:
    """Serve `application` by waitress in a process of its own and yield its address, without a slash at the end.

    `environment` is added to ours, with SITE_URL as the address; `before` goes before the command.
    Raises `CannotStart`.
    """
    port = free_port()
    address = f"http://{HOST}:{port}"
    command = [
        *before,
        sys.executable,
        "-m",
        "waitress",
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


def _made_database(address: str) -> bool:
    """Whether it answers; makes the database then."""
    try:
        with psycopg.connect(address, autocommit=True, connect_timeout=5) as connection:
            connection.execute("CREATE DATABASE lockwright")
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
    last = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < last:
        if ready():
            return
        time.sleep(0.05)
    log.seek(0)
    said = log.read()[-4000:].decode("utf-8", "replace")
    state = f"ended with {process.returncode}" if process.poll() is not None else f"is not up after {START_SECONDS} s"
    raise CannotStart(f"{name} {state}: {said}")


def _end(process: "subprocess.Popen[bytes]", kindly: signal.Signals, at_once: signal.Signals) -> None:
    """Have a process end, and wait for it."""
    process.send_signal(kindly)
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.send_signal(at_once)
        process.wait(STOP_SECONDS)
