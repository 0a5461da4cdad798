"""Who answers by an ODBC connection of any driver, asked by SQLGetInfo. Nothing is collected this way.

The driver runs in a process of its own, which is ended when the time is over: one that hangs in a login hangs for ever.
The connection string with its password goes to it by a pipe, never by its arguments or environment.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from collectors.live.ase.connection import scrub
from collectors.live.ase.process import PASSED_ON
from collectors.live.kit import CollectorFailed
from collectors.live.processes import TimedOut, end_left_behind, marked, watch

CHILD = Path(__file__).with_name("odbc_child.py")
MOST_SAID = 20_000
"""Bytes that are read of what the process tells."""
MOST_BYTES = 1 << 20
LONGEST = 500
NO_COLLECTING = (
    "Figures of Oracle Rdb come from RMU and from the operating system, which no ODBC driver gives: nothing is "
    "collected by this connection. Have a program fetch them, or put the listings into a drop folder."
)
NO_DRIVER = ("IM002", "IM003", "01000")
"""States of the driver manager: there is no such driver or data source, or its library cannot be loaded."""


@dataclass(frozen=True)
class Tried:
    """Who answered."""

    server: str = ""
    release: str = ""
    driver: str = ""
    roles: tuple[str, ...] = ()
    switches: tuple[tuple[str, str], ...] = ()
    missing: tuple[tuple[str, str], ...] = ()
    problems: tuple[str, ...] = field(default=(NO_COLLECTING,))


def try_it(options: Mapping[str, str], seconds: float) -> Tried:
    """Connect and ask who is there; `options` holds `connection` and `password`. Raises `CollectorFailed`."""
    password = options.get("password", "")
    connection = options["connection"].rstrip(";")
    if password:
        connection += ";PWD={" + password.replace("}", "}}") + "}"
    told = _answer({"connection": f"{connection};", "seconds": max(1, round(seconds / 2))}, seconds)
    if "state" in told:
        raise _failed(told["state"], scrub(told.get("text", ""), password, _password_in(connection)))
    release = " ".join(one for one in (told.get("product", ""), told.get("release", "")) if one)
    server = " ".join(dict.fromkeys(one for one in (told.get("server", ""), told.get("database", "")) if one))
    driver = " ".join(one for one in (told.get("driver", ""), told.get("driver_version", "")) if one)
    return Tried(server=server, release=release, driver=driver)


def _answer(order: Mapping[str, object], seconds: float) -> dict[str, str]:
    """What the process told. Raises `CollectorFailed`."""
    end_left_behind()
    with (
        tempfile.TemporaryDirectory() as folder,
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as err,
    ):
        command = [sys.executable, "-I", str(CHILD)]
        environment = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        with marked(command, Path(folder), environment, MOST_BYTES, out, err, stdin=subprocess.PIPE) as running:
            assert running.stdin is not None  # noqa: S101 - it was asked for
            with suppress(BrokenPipeError), running.stdin as pipe:  # one that ended at once says so itself
                pipe.write(json.dumps(order).encode())
            try:
                status = watch(running, seconds, lambda: None)
            except TimedOut:
                do = "see whether the server answers, and whether host and port are right"
                raise CollectorFailed(f"no answer within {seconds:,.0f} s", do) from None
        return _read(out, status)


def _read(out: IO[bytes], status: int) -> dict[str, str]:
    out.seek(0)
    try:
        told = json.loads(out.read(MOST_SAID))
    except ValueError:
        how = f"with status {status}" if status >= 0 else f"by signal {-status}"
        do = "see whether the driver is installed whole, and of one make with the driver manager"
        raise CollectorFailed(f"the process with the driver ended {how} and told nothing", do) from None
    return {str(name): "".join(c if c.isprintable() else " " for c in str(value)) for name, value in told.items()}


def _password_in(connection: str) -> str:
    """The password that stands in a connection string itself; empty where none does."""
    found = re.search(r"(?i)(?:\A|;)\s*(?:pwd|password)\s*=\s*(?:\{((?:[^}]|\}\})*)\}|([^;{]*))", connection)
    return (found[1] or found[2] or "").replace("}}", "}").strip() if found else ""


def _failed(state: str, text: str) -> CollectorFailed:
    said = text[:LONGEST]
    if state in NO_DRIVER:
        do = "install the driver and name it as odbcinst.ini does, or the data source as odbc.ini does"
        return CollectorFailed(f"the driver cannot be used ({said})", do)
    if state.startswith("28") or state == "42000":
        return CollectorFailed(f"the login is refused ({said})", "look at user and password")
    return CollectorFailed(f"no connection ({said})", "look at host and port, and whether the server runs")
