"""The collecting process: reads its order from standard input, writes the listing into the folder it runs in.

What it prints, and why it is a process of its own: see `collectors.live.ase.child`.
"""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from collectors.live.ase.child import answer, tell
from collectors.live.ase.connection import Connection
from collectors.live.ase.order import WITHOUT
from collectors.live.rdb.questions import Order

LESS = f"{WITHOUT}, and see that it is an Oracle Rdb database"


def main() -> None:
    """Do what was ordered."""
    answer(_asked, LESS)


def _asked(connection: Connection, order: dict[str, Any]) -> dict[str, Any]:
    from collectors.live.ase.asking import now
    from collectors.live.rdb.asking import Round  # imports pyodbc, which may not be there

    started = now()
    said = Order(**{**order["order"], "without": tuple(order["order"]["without"])})
    result = Round(connection, said, Path.cwd(), tell, write=order["write"]).ask()
    return {**asdict(result), "started": started, "ended": now()}


if __name__ == "__main__":
    main()
