"""The methods of dataclasses, compiled once and not at each start.

`dataclasses` writes the source of each method of each class and compiles it whenever the class is made: 1,650 pieces
for one audit of SAP ASE, half of the time of all its imports (this project, measured around `exec`). Here the
compiled code is kept beside the bytecode, by its whole source: the same source gives the same code in the same Python,
so nothing kept can be out of date. Only a program that starts for one audit uses it, not the service.
"""

import atexit
import dataclasses
import marshal
import sys
import tempfile
from contextlib import suppress
from importlib.util import MAGIC_NUMBER, cache_from_source
from pathlib import Path
from types import CodeType
from typing import Any

MOST = 20_000
"""Pieces kept (this project). With more, those of the last start alone are kept."""


def keep_methods() -> None:
    """From here on, dataclasses are made of kept code where there is some; what is new is kept at the end."""
    try:
        place = Path(cache_from_source(__file__)).with_suffix(".methods")
    except NotImplementedError:  # Python keeps no bytecode here
        return
    kept, used = _kept(place), dict[str, CodeType]()
    known = len(kept)

    def compiled(source: str, *names: Any) -> None:
        code = kept.get(source)
        if code is None:
            code = kept[source] = compile(source, "<string>", "exec")
        used[source] = code
        exec(code, *names)  # noqa: S102 - what `dataclasses` does with its own source

    def keep() -> None:
        if len(kept) > known and not sys.dont_write_bytecode:
            _keep(place, kept if len(kept) <= MOST else used)

    dataclasses.exec = compiled  # type: ignore[attr-defined]  # it looks there before among the built-in functions
    atexit.register(keep)


def _kept(place: Path) -> dict[str, CodeType]:
    """What an earlier start kept; nothing where there is none of this Python, or it is damaged."""
    with suppress(OSError, EOFError, ValueError, TypeError):
        content = place.read_bytes()
        if content.startswith(MAGIC_NUMBER):
            return dict(marshal.loads(content[len(MAGIC_NUMBER) :]))  # noqa: S302 - trusted as a .pyc is
    return {}


def _keep(place: Path, kept: dict[str, CodeType]) -> None:
    """Write it whole or not at all: another program may read it at this moment."""
    with suppress(OSError):
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=place.parent, delete=False) as file:
            file.write(MAGIC_NUMBER + marshal.dumps(kept))
        Path(file.name).replace(place)
