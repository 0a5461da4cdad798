"""Collect from an ASE: into a folder, or into one zip that `audit` reads; or only look what could be asked."""

import io
import json
import os
import re
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

from collectors import manifest
from collectors.live.ase.collect_request import LENGTH, STOP, CollectRequest, seconds_of
from collectors.live.ase.connection import Connection, parse
from collectors.live.ase.process import run
from collectors.live.ase.questions import questions
from collectors.live.identity import Identity
from collectors.live.registry import CollectorFailed, Target

AROUND = 600.0
"""Seconds that everything but the waiting may take, where nobody says how many."""
TO_PACK = 10.0
"""Seconds of the whole time, at most, that are left for the rest when the last question is given up."""
FIXED = ("login", "server", "snapshot", "sample", "engines", "lock_wait")
"""Questions without whose answers the others say nothing."""
SOONEST = 1.0
"""Seconds from sample to sample, at least: counters of waits are whole seconds."""
LEAST, MOST = 1.0, 3600.0
"""Seconds between the snapshots. 30 to 600 are usual: shorter is noise, longer hides the peak."""
SIZES = re.compile(r"tables-[0-9]+\.txt")
"""The files with sizes and lock schemes of every table of a database."""
KEPT = "entries.json"
CLOSER = "take them closer together (--seconds; of a data source: Change, Seconds between the two snapshots)"
ZIP_TIME = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True)
class Collected:
    """What was collected."""

    manifest: Mapping[str, Any]

    @property
    def server(self) -> str:
        """The name of the server, as it says."""
        return str(self.manifest["server"])

    @property
    def files(self) -> list[Mapping[str, Any]]:
        """What was written, file by file."""
        return list(self.manifest["files"])

    @property
    def name(self) -> str:
        """A file name made of server and time: `HARBOUR-20261121-101500.zip`."""
        server = re.sub(r"[^A-Za-z0-9_-]+", "-", self.server).strip("-")[:60] or "server"
        time = re.sub(r"[^0-9T]", "", str(self.manifest["started"])[:19]).replace("T", "-")
        return f"{server}-{time}.zip"


@dataclass(frozen=True)
class Tried:
    """What a login could ask of a server."""

    server: str
    release: str
    """`16.0`"""
    version: str
    """`@@version`"""
    roles: tuple[str, ...]
    switches: tuple[tuple[str, str], ...]
    """Configuration parameters of monitoring: `on` or `off`."""
    missing: tuple[tuple[str, str], ...]
    """What is missing, and the statement that gives it."""
    problems: tuple[str, ...]
    """What the login may and should not, and what could not be found out."""


def order_of(
    seconds: float = 60.0,
    sysmon: str = "",
    without: Iterable[str] = (),
    question_seconds: float = 0.0,
    every: float = 0.0,
) -> CollectRequest:
    """Make an order. Raises `CollectorFailed` for what cannot be.

    `every`: seconds from sample to sample between the two snapshots, which are `seconds` apart; 0: no samples.
    """
    if not LEAST <= seconds <= MOST:
        raise CollectorFailed(f"{seconds:g} s between two snapshots", f"give {LEAST:g} to {MOST:,.0f} seconds")
    if sysmon and (not LENGTH.fullmatch(sysmon) or not 0 < seconds_of(sysmon) <= MOST):
        raise CollectorFailed(f"a sample of {sysmon[:20]!r}", "give HH:MM:SS, at most one hour: 00:01:00")
    if every and not SOONEST <= every <= seconds / 2:
        raise CollectorFailed(
            f"a sample every {every:g} s for {seconds:g} s", f"give {SOONEST:g} s or more, and time for two samples"
        )
    if every and sysmon:
        raise CollectorFailed("samples and sp_sysmon at once", "one connection does one after the other: ask for one")
    if bad := [name for name in without if name not in leavable()]:
        do = f"it is one of {', '.join(leavable())}"
        raise CollectorFailed(f"there is no question {bad[0][:60]!r} to leave out", do)
    checked_time(question_seconds)
    return CollectRequest(
        seconds=seconds,
        sysmon=sysmon,
        every=every,
        without=tuple(without),
        least_question_seconds=question_seconds,
    )


def checked_time(question_seconds: float) -> float:
    """How long a question has at least; 0: as long as it has. Raises `CollectorFailed`."""
    if not 0.0 <= question_seconds <= MOST:
        raise CollectorFailed(f"{question_seconds:g} s for one question", f"give up to {MOST:,.0f} seconds")
    return question_seconds


def leavable() -> list[str]:
    """The questions that can be left out: all but those without which nothing can be said."""
    return [one.name for one in questions() if one.name not in FIXED]


def collect(
    connection: Connection,
    folder: Path,
    order: CollectRequest,
    *,
    limit: float | None = None,
    most_bytes: int = 256 << 20,
    on_progress: Callable[[str], None] = lambda doing: None,
    admit: Callable[[Identity], None] = lambda found: None,
    sizes: Path | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> Collected:
    """Write exports and their manifest into the empty `folder`, within `limit` seconds. Raises `CollectorFailed`.

    What was answered is kept, also where the server falls silent later: then the manifest is not `complete`, and names
    what is missing. `hear` is told what is being done, `admit` who answers. `sizes`: a zip (`sizes_of`) with the
    answers about every table from an earlier time, which stand in for those that are not asked. `stop`: whether the
    samples are to end now; the last snapshot is taken then.
    """
    waiting = max(order.seconds, seconds_of(order.sysmon))
    limit = waiting + AROUND if limit is None else limit
    if waiting >= limit:
        says = f"the snapshots are to lie {waiting:,.0f} s apart, and all of it may take {limit:,.0f} s"
        raise CollectorFailed(says, CLOSER)
    order = replace(order, total_seconds=max(1.0, limit - min(TO_PACK, limit / 5)))
    result = run(connection, order, folder, limit, most_bytes, on_progress, write=True, admit=admit, stop=stop)
    (folder / STOP).unlink(missing_ok=True)  # it is no answer
    data = _manifest(result, order, folder)
    if sizes and result["files"]:
        data["files"] += _put_beside(sizes, folder)
    if not data["files"]:
        why = "; ".join(f"{one['question']}: {one['why']}" for one in data["left_out"][:3])
        raise CollectorFailed(
            f"{connection.where} answered none of the questions ({why})", "see what the login may read: ask by hand"
        )
    (folder / manifest.NAME).write_bytes(manifest.written(data))
    return Collected(data)


def sizes_of(path: Path) -> bytes:
    """The answers about every table that a collection asked itself, as a zip of its own; empty: there are none."""
    out = io.BytesIO()
    with zipfile.ZipFile(path) as archive:
        said = manifest.read(archive.read(manifest.NAME))
        entries = [one for one in said.entries if SIZES.fullmatch(str(one["file"]))] if said else []
        if not said or not entries or any("asked" in one for one in entries):
            return b""
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as kept:
            asked = said.data.get("started")
            kept.writestr(zipfile.ZipInfo(KEPT, ZIP_TIME), json.dumps([{**one, "asked": asked} for one in entries]))
            for one in entries:
                kept.writestr(zipfile.ZipInfo(str(one["file"]), ZIP_TIME), archive.read(str(one["file"])))
    return out.getvalue()


def _put_beside(sizes: Path, folder: Path) -> list[dict[str, Any]]:
    """Put the answers of an earlier time into a folder; what its manifest says of them."""
    with zipfile.ZipFile(sizes) as archive:
        entries: list[dict[str, Any]] = json.loads(archive.read(KEPT))
        for one in entries:
            (folder / str(one["file"])).write_bytes(archive.read(str(one["file"])))
    return entries


def collect_zip(connection: Connection, folder: Path, order: CollectRequest, **more: Any) -> Path:
    """Collect into one zip in `folder`, named by server and time; give its path. Raises `CollectorFailed`."""
    with tempfile.TemporaryDirectory(prefix="lockwright-", dir=folder) as place:
        collected = collect(connection, Path(place), order, **more)
        path = folder / collected.name
        pack(Path(place), path)
    return path


def pack(folder: Path, path: Path) -> None:
    """Put what the manifest of a folder names into a zip, in order of name, itself first; a driver may leave more.

    Its owner alone may read it: it holds names of logins, tables and databases, and the text of statements.
    """
    files = [folder / name for name in (manifest.NAME, *sorted(manifest.of_folder(folder)))]
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as stream:
        try:
            _write_zip(files, stream)
        except BaseException:  # a full disk, or somebody had enough: half a zip is no use to anybody
            path.unlink(missing_ok=True)
            raise


def _write_zip(files: Iterable[Path], stream: IO[bytes]) -> None:
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in files:
            member = zipfile.ZipInfo(file.name, ZIP_TIME)
            member.compress_type, member.external_attr = zipfile.ZIP_DEFLATED, 0o600 << 16
            with file.open("rb") as text, archive.open(member, "w") as out:
                while piece := text.read(manifest.PIECE):
                    out.write(piece)


def try_it(options: Mapping[str, str], seconds: float = 60.0) -> Tried:
    """Log in, and look what could be asked; nothing is written. Raises `CollectorFailed`.

    `options` are those of a `Target`: `connection`, `password`.
    """
    connection, order = _from_options(options)
    order = replace(order, login_seconds=seconds / 2, question_seconds=seconds / 2)
    with tempfile.TemporaryDirectory(prefix="lockwright-") as place:
        result = run(connection, order, Path(place), seconds, 1 << 20, lambda doing: None, write=False)
    found = re.search(r"[0-9]{2}\.[0-9]{1,2}", result["version"])
    return Tried(
        server=result["server"],
        release=found[0] if found else "",
        version=result["version"],
        roles=tuple(result["roles"]),
        switches=tuple((name, "on" if on else "off") for name, on in result["switches"].items()),
        missing=tuple((one["what"], one["how"]) for one in result["missing"]),
        problems=(
            *(f"{one['what']}: {one['how']}" for one in result["warnings"]),
            *(f"{one['question']}: {one['why']}" for one in result["left_out"]),
        ),
    )


@dataclass(frozen=True)
class Ase:
    """SAP ASE, asked over ODBC, as a collector.

    Options of its target: `connection` (an ODBC connection string without the password, or `ase://user@host:port/`),
    `password`, `seconds` (between the snapshots, 60), `sysmon` (`HH:MM:SS`; empty: none), `without` (names of questions
    that are left out, with commas between), `question_seconds` (each question has at least so long), `sizes` (a zip
    of `sizes_of`: its answers stand in for those about every
    table, which are not asked), `first_word` (seconds for the login and for who the server is).
    """

    name: str = "ase"
    title: str = "SAP ASE, asked directly"
    products: tuple[str, ...] = ("ase",)

    def collect(self, target: Target, folder: Path, seconds: float) -> None:
        """Write one zip into `folder`. Raises `CollectorFailed`."""
        connection, order = _from_options(target.options)
        sizes = Path(target.options["sizes"]) if target.options.get("sizes") else None
        order = replace(order, sizes=sizes is None)
        if said := target.options.get("first_word"):
            order = replace(order, login_seconds=float(said), first_word_seconds=float(said))
        more: dict[str, Any] = {"limit": seconds, "most_bytes": target.most_bytes, "admit": target.admit}
        collect_zip(connection, folder, order, sizes=sizes, **more)


def _from_options(options: Mapping[str, str]) -> tuple[Connection, CollectRequest]:
    if not options.get("connection"):
        raise CollectorFailed("it is not said which server to ask", "give the system a data source")
    try:
        seconds = float(options.get("seconds") or 60.0)
    except ValueError:
        raise CollectorFailed("the seconds between two snapshots are no number", "give 60") from None
    connection = parse(options["connection"], options.get("password", ""))
    without = [name for one in options.get("without", "").split(",") if (name := one.strip())]
    question_seconds = float(options.get("question_seconds") or 0.0)
    return connection, order_of(seconds, options.get("sysmon", ""), without, question_seconds)


def _manifest(result: Mapping[str, Any], order: CollectRequest, folder: Path) -> dict[str, Any]:
    """What is written into `manifest.json`; no login, no address, no password."""
    files = [
        {
            **one,
            "bytes": (folder / one["file"]).stat().st_size,
            "sha256": manifest.of_file(folder / one["file"]),
        }
        for one in result["files"]
    ]
    return {
        "format": manifest.FORMAT,
        "product": "ase",
        "server": result["server"],
        "version": result["version"],
        "engines": result["engines"],
        "started": result["started"],
        "ended": result["ended"],
        "seconds": order.seconds,
        "snapshots": result["snapshots"],
        "every": order.every or None,
        "samples": result.get("samples", 0),
        "complete": not any(one["do"] for one in result["left_out"]),
        "files": files,
        "warnings": result["warnings"],
        "missing": result["missing"],
        "left_out": result["left_out"],
    }
