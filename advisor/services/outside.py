"""What fails outside of Lockwright: the database is away, a disk is full. Whoever asks is told that, and what to do."""

import errno
from dataclasses import dataclass

from django.db import InterfaceError, OperationalError

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


def outside(error: BaseException | None) -> Outside | None:
    """What to answer where the error is none of ours; `None` where it is a mistake."""
    if isinstance(error, OSError) and error.errno in FULL:
        return NO_ROOM
    if not isinstance(error, OperationalError | InterfaceError):
        return None
    full = getattr(error.__cause__, "sqlstate", "") == DISK_FULL or "disk is full" in str(error)
    return NO_ROOM if full else AWAY
