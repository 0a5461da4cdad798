"""Collect from an Oracle Rdb database: into a folder, or into one zip that `audit` reads; or only look who answers."""

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from collectors import manifest
from collectors.live.ase import connection as odbc
from collectors.live.ase.collecting import Collected, pack
from collectors.live.ase.connection import Connection
from collectors.live.ase.process import Asker, run
from collectors.live.identity import Identity
from collectors.live.rdb.questions import FILE, QUESTIONS, CollectRequest, order_of
from collectors.live.registry import CollectorFailed, Target

LIMIT = 300.0
"""Seconds all of it may take, where nobody says how many."""
ASKER = Asker("collectors.live.rdb.child", "an Oracle Rdb database")
SETTINGS_ALONE = (
    "The information tables say what is set. Locks, waits and rates come from RMU/SHOW STATISTICS, which no ODBC "
    "driver gives: have a program fetch them, or put the listings into a drop folder."
)


@dataclass(frozen=True)
class Tried:
    """Who answered, and which tables."""

    server: str
    release: str
    driver: str
    roles: tuple[str, ...] = ()
    switches: tuple[tuple[str, str], ...] = ()
    missing: tuple[tuple[str, str], ...] = ()
    """What was not answered, and what to do about it."""
    problems: tuple[str, ...] = ()


def collect(
    connection: Connection,
    folder: Path,
    order: CollectRequest,
    *,
    limit: float = LIMIT,
    most_bytes: int = 64 << 20,
    on_progress: Callable[[str], None] = lambda doing: None,
    admit: Callable[[Identity], None] = lambda found: None,
) -> Collected:
    """Write the listing and its manifest into the empty `folder`, within `limit` seconds. Raises `CollectorFailed`.

    `hear` is told what is being done, `admit` who answers.
    """
    result = run(connection, order, folder, limit, most_bytes, on_progress, write=True, asker=ASKER, admit=admit)
    if not result["asked"]:
        why = "; ".join(f"{one['question']}: {one['why']}" for one in result["left_out"][:2])
        do = result["left_out"][-1]["do"] if result["left_out"] else ""
        raise CollectorFailed(
            f"{connection.where} answered none of the questions ({why})",
            do or "have fewer of them left out (--without; of a data source: Change, Questions left out)",
        )
    data = _manifest(result, folder)
    (folder / manifest.NAME).write_bytes(manifest.written(data))
    return Collected(data)


def try_it(options: Mapping[str, str], seconds: float = 60.0) -> Tried:
    """Log in and ask every table; nothing is written. Raises `CollectorFailed`.

    `options` are those of a `Target`: `connection`, `password`.
    """
    connection = _from_options(options)
    order = replace(CollectRequest(), login_seconds=seconds / 3, question_seconds=seconds / 3)
    with tempfile.TemporaryDirectory(prefix="lockwright-") as place:
        result = run(connection, order, Path(place), seconds, 1 << 20, lambda doing: None, write=False, asker=ASKER)
    return Tried(
        server=_named(result),
        release=result["version"],
        driver=result["driver"],
        missing=tuple((f"{one['question']}: {one['why']}", one["do"]) for one in result["left_out"]),
        problems=(SETTINGS_ALONE,),
    )


@dataclass(frozen=True)
class Rdb:
    """Oracle Rdb, asked over ODBC, as a collector.

    Options of its target: `connection` (an ODBC connection string without the password), `password`, `without` (names
    of questions that are left out, with commas between), `question_seconds` (each question has at least so long).
    """

    name: str = "rdb"
    title: str = "Oracle Rdb, asked directly"
    products: tuple[str, ...] = ("rdb",)

    def collect(self, target: Target, folder: Path, seconds: float) -> None:
        """Write one zip into `folder`. Raises `CollectorFailed`."""
        connection = _from_options(target.options)
        with tempfile.TemporaryDirectory(prefix="lockwright-", dir=folder) as place:
            without = [name for one in target.options.get("without", "").split(",") if (name := one.strip())]
            order = order_of(without, float(target.options.get("question_seconds") or 0.0))
            most = target.most_bytes
            done = collect(connection, Path(place), order, limit=seconds, most_bytes=most, admit=target.admit)
            pack(Path(place), folder / done.name)


def _from_options(options: Mapping[str, str]) -> Connection:
    if not options.get("connection"):
        raise CollectorFailed("it is not said which database to ask", FORMS)
    return parse(options["connection"], options.get("password", ""))


def _named(result: Mapping[str, Any]) -> str:
    """What the database is called: its root file, or the name the driver gives."""
    return str(result["root"] or result["server"] or "rdb")


def _manifest(result: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """What is written into `manifest.json`; no login, no address, no password."""
    path = folder / FILE
    file = {
        "file": FILE,
        "questions": result["asked"],
        "rows": result["rows"],
        "seconds": result["seconds"],
        "bounded": result["bounded"],
        "bytes": path.stat().st_size,
        "sha256": manifest.of_file(path),
    }
    return {
        "format": manifest.FORMAT,
        "product": "rdb",
        "server": _named(result),
        "version": result["version"],
        "started": result["started"],
        "ended": result["ended"],
        "tables": len(QUESTIONS),
        "complete": not any(one["do"] for one in result["left_out"]),
        "files": [file],
        "missing": [],
        "left_out": result["left_out"],
    }


FORMS = "give an ODBC connection string: DSN=name;UID=user (odbc.ini), or DRIVER={name};… as its driver wants it"


def parse(text: str, password: str = "", *, paths: bool = False) -> Connection:
    """Read a connection. Raises `CollectorFailed`.

    `password` counts where the text has none; `paths`: as `collectors.live.ase.connection.parse` has it.
    """
    if "://" in text.partition(";")[0].partition("=")[0]:
        raise CollectorFailed("an Oracle Rdb database is reached by ODBC alone", FORMS)
    found = odbc.parse(text, password, paths=paths)
    if found.freetds:  # it is also what `parse` adds where no driver is named
        raise CollectorFailed("no driver for Oracle Rdb is named (FreeTDS speaks to SAP ASE)", FORMS)
    return found
