"""What the head of a chain of blocked tasks does where its locks are no matter of a transaction alone.

A maintenance command locks a whole table by design, so there is no statement to make shorter. `reorg rebuild` gives the
pages back that it has allocated when it is rolled back; from 16.0 it may run `with online`, which needs a unique index,
locks the table for a moment at its beginning and its end, and is meant for a low load (vendor: dc31644.1600
car1396997745184). `reorg reclaim_space`, `compact` and `forwarded_rows` take `resume` and `time`, for tables with
datarows or datapages locking (vendor: dc36272.1600 san1393051052682).

A client that does not take its rows keeps its session in the middle of a statement: wait event 251, `send sleep`.
"""

import re

from collectors.facts.ase import MonProcess
from rules.ase._evidence.waits.events import NETWORK_SEND

MAINTAINS = re.compile(
    r"\s*(?P<what>reorg\s+\w{1,30}|create\s+(?:unique\s+)?(?:(?:non)?clustered\s+)?index|alter\s+table|truncate\s+table"
    r"|update\s+(?:(?:index|all|table)\s+)?statistics|dbcc(?:\s+\w{1,30})?)\b",
    re.IGNORECASE,
)
REBUILD = "REORG REBUILD"
STOPS = "SPID {0} finish, or stop it (`kill {1}`), which gives up its copy and leaves the table as it was. "
WINDOW = (
    "From then on run it when nobody works{0}; `reorg reclaim_space` with `resume, time = <minutes>` (datarows, "
    "datapages) shuts out less."
)
ONLINE = ", or from 16.0 `with online` (unique index, low load)"
QUIET = "From then on run {0} when nobody works."
SENDS = "SPID {0} waits until its client takes what is sent{1}, and keeps its locks meanwhile."
TAKES = "the owner of SPID {0} take the rows at once, or cancel the statement. "
FETCH = "its program should fetch all rows at once{0}."


def maintenance_of(head: MonProcess | None, text: str) -> str:
    """The maintenance command that the head runs, in capitals, by its batch, else its command; empty: it runs none."""
    found = MAINTAINS.match(text or (head.command if head else None) or "")
    return " ".join(found["what"].upper().split()) if found else ""


def lasting(command: str, before_online: bool | None) -> str:
    """How the same maintenance shuts out fewer the next time, as a sentence; `before_online`: the release is older."""
    if command == REBUILD:
        return WINDOW.format("" if before_online else ONLINE)
    return QUIET.format(command)


def sends(head: MonProcess | None) -> bool:
    """Whether the head waits until its client takes what is sent to it."""
    return head is not None and (head.wait_event == NETWORK_SEND or (head.status or "").lower() == "send sleep")
