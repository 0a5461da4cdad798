"""How a wait that stands ends now, and what a lock timeout interval does to it.

Nobody is told to stop a process: its recovery would freeze all others (rdb-rules.md on the freeze lock), and no source
names that as a way out of a lock.
"""

from collections.abc import Sequence

from rules.rdb._evidence.listings import process_of
from rules.rdb._evidence.standstill import halted_for
from rules.rdb._evidence.waits import Queue, Waits, changes_many

NO_INTERVAL = (
    "The database has no interval of its own (0 is none), so they are of transactions that set one or do not wait at "
    "all (NOWAIT): those are refused at once, which no setting of the database changes."
)
"""Vendor: SQL help on LOCK TIMEOUT INTERVAL."""
ONLY_LONGER = "A longer lock timeout interval only makes the waits longer"
WANTED = f"{ONLY_LONGER}; RMU/SHOW LOCKS/MODE=CULPRIT, while processes wait for {{}}, tells whether one holds it long."
LONGER = f"{ONLY_LONGER}: see to the holder first."
INTERVALS = (
    "A logical name (RDM$BIND_LOCK_TIMEOUT_INTERVAL) or SET TRANSACTION WAIT may set another interval, and the manuals "
    "disagree on which of them counts."
)


def now(waits: Waits, lines: Sequence[Queue], still: float) -> str:
    """How the first of these queues ends now, a sentence; empty where no screen shows that it stands.

    Empty, too, for one that is known to change many rows, as a rollback would take as long as its work did, and for a
    reader, which is told to end already (`sooner`). What others changed no screen tells, so it is said of them.
    `still`: seconds from which on those who wait stand still.
    """
    if not lines or lines[0].in_turn or not halted_for(waits, lines[0].holder.resource, still, 1)[0]:
        return ""
    holder = lines[0].holder
    if changes_many(waits.held, holder.pid) or holder.granted == "PR":
        return ""
    return f"Now have {process_of(holder)} commit or roll back; a rollback takes as long as the changes it undoes."
