"""The collecting process: reads its order from standard input, writes the listing into the folder it runs in.

What it prints, and why it is a process of its own: see `collectors.live.ase.child`.
"""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from collectors.live.ase.child import answer, keep, tell
from collectors.live.ase.collect_request import WITHOUT
from collectors.live.ase.connection import Connection
from collectors.live.identity import Identity
from collectors.live.rdb.questions import FILE, CollectRequest

LESS = f"{WITHOUT}, and see that it is an Oracle Rdb database"


def main() -> None:
    """Do what was ordered."""
    answer(_asked, LESS)


def _asked(connection: Connection, order: dict[str, Any]) -> dict[str, Any]:
    from collectors.live.ase.queries import now
    from collectors.live.rdb.queries import Result, Round  # imports pyodbc, which may not be there

    started = now()

    def as_kept(result: Result) -> dict[str, Any]:
        who = asdict(Identity(result.named, result.version))
        files = [{"file": FILE, "questions": result.asked, "bytes": result.bytes}] if result.bytes else []
        return {**asdict(result), "identity": who, "files": files, "started": started, "ended": now()}

    said = CollectRequest(**{**order["order"], "without": tuple(order["order"]["without"])})
    one = Round(connection, said, Path.cwd(), tell, lambda result: keep(as_kept(result)), write=order["write"])
    return as_kept(one.ask())


if __name__ == "__main__":
    main()
