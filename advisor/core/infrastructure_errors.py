"""What fails outside of Lockwright: the database is away or damaged, a disk is full; and what whoever asks is told."""

import errno
from dataclasses import dataclass
from typing import Any

from django.db import DatabaseError, InterfaceError, OperationalError, ProgrammingError, connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
DISK_FULL = "53100"
"""PostgreSQL's SQLSTATE."""


@dataclass(frozen=True)
class Outside:
    """An answer: its HTTP status, what happened, what to do."""

    status: int
    says: str
    do: str


AWAY = Outside(503, "The database does not answer; nothing was taken or changed.", "Send the same again in a minute.")
NO_ROOM = Outside(
    507,
    "A disk of the service is full; nothing was taken or changed.",
    "Tell an administrator, and send the same again when there is room.",
)
DAMAGED = Outside(
    503,
    "The database file is damaged; nothing was taken or changed.",
    "Tell an administrator: the service is to be stopped and a backup restored.",
)
BROKEN_FILE = ("file is not a database", "malformed")
"""SQLite's words for a file that is none, or not whole (SQLITE_NOTADB, SQLITE_CORRUPT)."""
NO_TABLE = ("no such table", "no such column")


def outside(error: BaseException | None) -> Outside | None:
    """What to answer where the error is none of ours; `None` where it is a mistake."""
    if isinstance(error, OSError) and error.errno in FULL:
        return NO_ROOM
    if isinstance(error, DatabaseError) and any(said in str(error) for said in BROKEN_FILE):
        return DAMAGED
    if not isinstance(error, OperationalError | InterfaceError):
        return None
    full = getattr(error.__cause__, "sqlstate", "") == DISK_FULL or "disk is full" in str(error)
    return NO_ROOM if full else AWAY


WAITS = ("fsync", "full_page_writes", "synchronous_commit")
"""Settings of PostgreSQL without which what was committed may be gone after a power cut."""


def not_waited_for(alias: str) -> list[str]:
    """Which of `WAITS` are off for our user in this database; none where it is no PostgreSQL."""
    if connections[alias].vendor != "postgresql":
        return []
    with connections[alias].cursor() as cursor:
        cursor.execute("SELECT name FROM pg_settings WHERE setting = 'off' AND name = ANY(%s)", [list(WAITS)])
        return sorted(name for (name,) in cursor)


LINE = {"tcp_keepalives_idle": 10, "tcp_keepalives_interval": 5, "tcp_keepalives_count": 3, "tcp_user_timeout": 25_000}
"""How PostgreSQL looks whether we are there: seconds, seconds, times, milliseconds (this project's figures)."""


SESSION = {**LINE, "jit": "off"}
"""Settings of each session. Compiling a query of the overview took 90 of its 170 ms (1,000,000 findings): no page gains
by it."""


def listen() -> None:
    """Hear of connections that were opened."""
    connection_created.connect(set_session, dispatch_uid="session set")


def set_session(connection: BaseDatabaseWrapper, **more: Any) -> None:
    """Have PostgreSQL end our session within half a minute of our machine's death, and compile no query.

    By itself it would keep the locks of a transaction for two hours, and another machine could not take the work over.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            settings = ", ".join(f"set_config('{name}', '{value}', false)" for name, value in SESSION.items())
            cursor.execute(f"SELECT {settings}")


def in_a_sentence(error: DatabaseError | InterfaceError) -> str | None:
    """What to tell an operator at the command line in place of a traceback; `None` where it is a mistake of ours."""
    place, said = connection.settings_dict["NAME"], " ".join(str(error).split())
    if connection.vendor == "sqlite":
        if outside(error) is DAMAGED:
            remedy = "stop the service and restore a backup (manage.py restore FILE --replace)"
            return f"the database file {place} is damaged ({said}): {remedy}, or move the file away to begin anew"
        if "unable to open" in said or "readonly" in said:
            return f"the database file {place} cannot be used ({said}): look at who owns it, its folder and the disk"
        if "disk I/O error" in said or "disk is full" in said:
            return f"the disk of the database file {place} fails ({said}): look at its room and at the system's journal"
        if "is locked" in said:
            return f"the database file {place} is in use by another process: stop that, or try again"
    undefined = isinstance(error, ProgrammingError) and "does not exist" in said
    if undefined or any(words in said for words in NO_TABLE):
        return f"the database has no tables of this version ({said}): run manage.py migrate"
    if isinstance(error, OperationalError | InterfaceError):
        return f"the database does not answer ({said[:300]}): look at DATABASE_URL and at the server"
    return None
