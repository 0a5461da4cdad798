"""A SAP ASE of our own invention over TDS 5.0, for tests: `python -m tests.live --release 16.0`.

It reads the password of its login from the first line of standard input, prints its port on standard output and
serves until it is ended, or until standard input is closed.
"""

import argparse
import os
import sys
import threading
from pathlib import Path

from tests.live.ase.answering import Ase
from tests.live.ase.clock import Clock
from tests.live.ase.faults import KNOWN, Faults
from tests.live.ase.release import SERVERS, load
from tests.live.ase.world import World
from tests.live.login import USER
from tests.live.record import Record
from tests.live.tds import server


def main() -> None:
    """Serve until ended."""
    words = argparse.ArgumentParser(
        prog="python -m tests.live",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="faults:\n" + "\n".join(f"  {name}: {does}" for name, does in KNOWN.items()),
    )
    words.add_argument("--release", choices=sorted(SERVERS), default="16.0")
    words.add_argument("--port", type=int, default=0, help="0: a free one")
    words.add_argument("--user", default=USER)
    words.add_argument("--pace", type=float, default=1.0, help="seconds of the server in one of ours")
    words.add_argument("--still", action="store_true", help="counters stand still between two questions for the time")
    words.add_argument("--record", type=Path, help="file for what clients send, one JSON object a line")
    words.add_argument("--fault", action="append", default=[], metavar="NAME[=VALUE]")
    asked = words.parse_args()
    password = sys.stdin.readline().removesuffix("\n")
    world = World(load(asked.release), Clock(asked.pace, still=asked.still), Faults(asked.fault))
    listener = server.listen(asked.port)
    ase = Ase(world, asked.user, password, Record(asked.record))
    sys.stdout.write(f"{listener.getsockname()[1]}\n")
    sys.stdout.flush()
    threading.Thread(target=_end_with_input, daemon=True).start()
    server.serve(listener, ase)


def _end_with_input() -> None:
    """End with who started us: no server may outlive its test."""
    while sys.stdin.read(1):
        pass
    os._exit(0)


if __name__ == "__main__":
    main()
