"""Ask a server once, for the command line: where it is, its password, what came of it."""

from collections.abc import Callable, Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from collectors.live import ase, rdb
from collectors.live.registry import CollectorFailed

Connection = ase.Connection


class NotCollected(Exception):
    """Nothing was collected; says what is wrong and what to do."""


PRODUCTS = ("ase", "rdb")


PASSWORD = "LOCKWRIGHT_PASSWORD"  # noqa: S105 - the name of a variable
IN_CLEAR = (
    "a password stands in the connection, where every user of this machine sees it in the list of processes and the "
    "shell keeps it in its history: nothing was asked. Leave it out, and type it when it is asked for on a terminal, "
    f"or give it in the variable {PASSWORD}, or in a file of your own that {PASSWORD}_FILE names. Where others may "
    "have seen it, give the login another one"
)


def connection(text: str, password: str = "", product: str = "ase") -> Connection:
    """Read where to connect; who runs a command may name any driver. Raises `NotCollected`, of a password in it too."""
    parse = rdb.parse if product == "rdb" else ase.parse
    try:
        found = parse(text, paths=True)
        if found.password:
            raise NotCollected(IN_CLEAR)
        return parse(text, password, paths=True)
    except CollectorFailed as error:
        raise NotCollected(str(error)) from None


def collect(
    where: Connection,
    out: Path | None,
    seconds: float,
    sysmon: str,
    without: Iterable[str],
    on_progress: Callable[[str], None],
    product: str = "ase",
    *,
    question_seconds: float = 0.0,
    total_seconds: float | None = None,
    every: float = 0.0,
    stop: Callable[[], bool] = lambda: False,
) -> dict[str, Any]:
    """Collect into one zip, by default in the current folder; give `collect/1`. Raises `NotCollected`.

    Each question has at least `question_seconds`, all of it `total_seconds` (`None`: as the collector has it). `every`:
    seconds from sample to sample, 0 for none; `stop`: whether they are to end now.
    """
    if out and out.exists():
        raise NotCollected(f"{out} is there already: name another file")
    if out and not out.absolute().parent.is_dir():
        raise NotCollected(f"there is no folder {out.absolute().parent}: make it first")
    try:
        with TemporaryDirectory(prefix="lockwright-") as place:
            if product == "rdb":
                wanted = rdb.order_of(without, question_seconds)
                limit = rdb.LIMIT if total_seconds is None else total_seconds
                collected = rdb.collect(where, Path(place), wanted, limit=limit, on_progress=on_progress)
            else:
                order = ase.order_of(seconds, sysmon, without, question_seconds, every)
                more: dict[str, Any] = {"limit": total_seconds, "on_progress": on_progress, "stop": stop}
                collected = ase.collect(where, Path(place), order, **more)
            path = out or Path(collected.name)
            ase.pack(Path(place), path)
    except CollectorFailed as error:
        raise NotCollected(str(error)) from None
    except OSError as error:
        raise NotCollected(f"the zip cannot be written ({error.strerror}): name another file with --out") from None
    return {"contract": "collect/1", "file": str(path), **collected.manifest}


def questions(product: str = "ase") -> str:
    """What is asked, as a DBA may read it."""
    return rdb.questions_text() if product == "rdb" else ase.questions_text()
