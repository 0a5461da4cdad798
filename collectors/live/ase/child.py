"""The collecting process: reads its order from standard input, writes exports into the folder it runs in.

It is a process of its own because a login that is never answered hangs in the driver, where nothing but the end of the
process helps. It prints lines of JSON: `{"doing": …, "within": seconds}` before each step, and at the end `{"result":
…}` or `{"failed": …}`. What it is to log in with comes by standard input, so that no list of processes shows it.
"""

import errno
import json
import resource
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from collectors.live.ase.collect_request import WITHOUT, CollectRequest
from collectors.live.ase.connection import Connection
from collectors.live.identity import Identity, Silent
from collectors.live.registry import CollectorFailed

NO_ODBC = "apt-get install unixodbc tdsodbc (or what this system calls them)"

LESS = f"{WITHOUT}, and see that it is an SAP ASE"
ROOM = "make room on the disk with the temporary folder (TMPDIR), and see that it may be written to"
MOST_MEMORY = 2 << 30
"""Bytes this process may take: 200,000 rows of the widest monitoring table are a tenth of that (this project)."""


def main() -> None:
    """Do what was ordered."""
    answer(lambda connection, order: _asked(connection, order), LESS)


def answer(asked: Callable[[Connection, dict[str, Any]], dict[str, Any]], less: str) -> None:
    """Read the order, have it `asked`, and tell the result or why there is none; `less`: what to do about too much."""
    order: dict[str, Any] = json.load(sys.stdin)
    _bound_memory()
    connection = Connection(tuple((name, value) for name, value in order["parts"]), order["password"])
    try:
        result = asked(connection, order)
    except ImportError as error:
        says = f"this machine cannot speak ODBC: {connection.scrub(str(error))}"
        _tell(failed={"says": says, "do": NO_ODBC})
    except CollectorFailed as error:
        silent = isinstance(error, Silent)
        _tell(failed={"says": connection.scrub(error.says), "do": error.do, "again": error.again, "silent": silent})
    except MemoryError:
        _tell(failed={"says": f"{connection.where} answered with more than {MOST_MEMORY >> 30} GB", "do": less})
    except OSError as error:
        _tell(
            failed={
                "says": f"the answers cannot be written ({error.strerror})",
                "do": less if error.errno == errno.EFBIG else ROOM,
            }
        )
    else:
        _tell(result=result)


def tell(doing: str, within: float) -> None:
    """Say what is done next, and within how many seconds it is done or something is wrong."""
    _tell(doing=doing, within=within)


def keep(so_far: dict[str, Any]) -> None:
    """Say what there is so far: it is kept, should this process not come to its end."""
    _tell(kept=so_far)


def _asked(connection: Connection, order: dict[str, Any]) -> dict[str, Any]:
    from collectors.live.ase.queries import Result, Round, now  # imports pyodbc, which may not be there

    started = now()

    def as_kept(result: Result) -> dict[str, Any]:
        files = [asdict(written) for written in result.files.values()]
        who = asdict(Identity(result.server, result.version, result.engines))
        return {**asdict(result), "identity": who, "files": files, "started": started, "ended": now()}

    said = CollectRequest(**{**order["order"], "without": tuple(order["order"]["without"])})
    one = Round(connection, said, Path.cwd(), tell, lambda result: keep(as_kept(result)))
    result = one.collect() if order["write"] else one.look()
    return {**as_kept(result), "ended": now()}


def _bound_memory() -> None:
    """Have a server that answers without end run into our bound and not into the memory of this machine."""
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    most = MOST_MEMORY if hard == resource.RLIM_INFINITY else min(MOST_MEMORY, hard)
    resource.setrlimit(resource.RLIMIT_AS, (most, hard))


def _tell(**what: Any) -> None:
    print(json.dumps(what), flush=True)  # noqa: T201 - its standard output is a pipe to who started it


if __name__ == "__main__":
    main()
