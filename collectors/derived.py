"""What follows from the source files alone is worked out once and kept beside their bytecode, as Python keeps that.

It counts as long as the same files are there, each with the size and the time of change that it had (what Python asks
of a `.pyc`, too): a file that is added, changed or taken away has it worked out anew. It is kept in `__pycache__`, or
under `PYTHONPYCACHEPREFIX`, for each version of Python; where nothing can be written there, or Python was told to write
no bytecode, nothing is kept.
"""

import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any


def derived(name: str, package: str, make: Callable[[], Any]) -> Any:
    """What `make` gives, a value that JSON can hold, from all source files under the folder `package`."""
    sources = list(_sources(package))
    with suppress(NotImplementedError, OSError, ValueError, TypeError, KeyError):  # absent or damaged
        kept = json.loads(_place(name, package).read_bytes())
        if kept["sources"] == sources:
            return kept["value"]
    value = make()
    if not sys.dont_write_bytecode:
        with suppress(NotImplementedError, OSError):
            _keep(_place(name, package), {"sources": sources, "value": value})
    return value


def _place(name: str, package: str) -> Path:
    """The file that keeps it. Raises `NotImplementedError` where Python keeps no bytecode."""
    return Path(cache_from_source(os.path.join(package, f"{name}.py"))).with_suffix(".json")  # noqa: PTH118 - a word


def _sources(folder: str) -> Iterator[list[Any]]:
    """Path, time of change in ns and size in bytes of each source file, in order of their paths.

    By `os.scandir`: a `Path` for each of 200 files would take longer than all the rest.
    """
    with os.scandir(folder) as found:
        entries = sorted(found, key=lambda entry: entry.name)
    for entry in entries:
        if entry.name.endswith(".py"):
            state = entry.stat()
            yield [entry.path, state.st_mtime_ns, state.st_size]
        elif entry.is_dir() and entry.name != "__pycache__":
            yield from _sources(entry.path)


def _keep(place: Path, content: dict[str, Any]) -> None:
    """Write it whole or not at all: another process may read it at this moment. Raises `OSError`."""
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=place.parent, delete=False, encoding="utf-8") as file:
        try:
            json.dump(content, file)
            file.close()
            Path(file.name).replace(place)
        except OSError:
            Path(file.name).unlink(missing_ok=True)
            raise
