"""The clauses of ALTER DATABASE that touch locking: spelling, range, whether users may stay in, and what to beware of.

Names, ranges and defaults: knowledge/rdb-rules.md, section 2. The whole spelling of most is recalled: where only the
name of a clause is in a vendor's text, its cautions say so.
"""

from dataclasses import dataclass

ON_OFF = ("ENABLED", "DISABLED")
SPELLING = "Recalled spelling: check with HELP ALTER DATABASE in SQL first. A clause that SQL refuses changes nothing."
CLOSED = "That the database has to be closed for this is recalled, not confirmed: closing it is the safe way."
OPEN = "That users may stay in for this is recalled: if SQL answers that the database is in use, do it with it closed."


@dataclass(frozen=True)
class Clause:
    """One clause of ALTER DATABASE."""

    label: str
    """How people call it, and the change's target."""
    sql: str
    """With `{value}`, and `{area}` where it is of one storage area."""
    look: str
    """Words of the header's line, for SEARCH."""
    words: tuple[str, ...] = ()
    low: int = 0
    high: int = 0
    """The range of a number, where there are no words."""
    online: bool = False
    cautions: tuple[str, ...] = (SPELLING, CLOSED)
    template: str = ""
    """Why it is never more than a template: what has to be there or decided first."""
    more: tuple[str, ...] = ()
    """What a template has below the clause: the rest of the statement, and what goes with it."""
    back: str = ""
    """The clause, with `{value}`, that takes it back where that is not `sql`, which then is the half of a statement."""


RECOVERY = (
    "Fast commit lengthens recovery: after a failure all work since the last checkpoint is done again from the AIJ."
)
CHECKPOINTS = (
    "Decide on a checkpoint interval with it (CHECKPOINT TIMED EVERY n SECONDS or CHECKPOINT INTERVAL IS n BLOCKS in "
    "the same brackets): without one a recovery does all of a process since its attach again (SQL help)."
)
MEMORY = (
    "It takes memory: buffers times users (with global buffers the number of the node) times the size of a buffer. See "
    "with SHOW MEMORY that the node has it; the highest number is a bound of this project. A process with "
    "RDM$BIND_BUFFERS has a number of its own."
)
NEXT_OPEN = (
    "It counts from the next open of the database on (vendor). To try it first: RMU/OPEN/GLOBAL_BUFFERS=(TOTAL=n,"
    "USER_LIMIT=m) at an open, for that open alone."
)
"""Vendor: SQL help (7.2) on NUMBER IS and USER LIMIT IS, RMU help (7.2) on Open, Global_Buffers."""
CLAUSES = {
    "cluster_nodes": Clause(
        *("NUMBER OF CLUSTER NODES", "NUMBER OF CLUSTER NODES {value}", "node count"),
        low=1,
        high=96,
        cautions=(
            CLOSED,
            "Row caches and page transfer via memory need it closed, too: where one of them is advised, decide on it "
            "first and make both in one closing.",
            "With 1 no other node can open it while one has it open: batch jobs, backups and servers that attach on "
            "another node fail. Where another node takes over after a failure, try that before relying on it.",
        ),
    ),
    "open_mode": Clause(
        *("OPEN", "OPEN IS {value}", "open mode"),
        words=("AUTOMATIC", "MANUAL"),
        cautions=("MANUAL takes effect when all users have detached; then RMU/OPEN has to be in the startup.",),
    ),
    "lock_partitioning": Clause(
        *("LOCK PARTITIONING", "LOCK PARTITIONING IS {value}", "partitioning"),
        words=ON_OFF,
        cautions=(
            SPELLING,
            CLOSED,
            "RMU/SHOW LOCKS of the database then no longer lists locks of areas, pages and records.",
        ),
    ),
    "adjustable_locking": Clause(
        *("ADJUSTABLE LOCK GRANULARITY", "ADJUSTABLE LOCK GRANULARITY IS {value}", "adjustable record"),
        words=ON_OFF,
        online=True,
        cautions=(OPEN,),
    ),
    "carry_over_locks": Clause(
        *("CARRY OVER LOCKS", "CARRY OVER LOCKS ARE {value}", "carry"), words=ON_OFF, online=True, cautions=()
    ),
    "lock_timeout": Clause(
        *("LOCK TIMEOUT INTERVAL", "LOCK TIMEOUT INTERVAL IS {value} SECONDS", "timeout"),
        low=0,
        high=65_000,
        online=True,
        cautions=(OPEN, "Its highest value is a bound of this project, not of a vendor."),
    ),
    "journal": Clause(
        *("JOURNAL", "JOURNAL IS {value}", "journaling"),
        words=ON_OFF,
        template="an after-image journal has to be added first, on a disk of its own (RMU/SET AFTER_JOURNAL/ADD="
        "(NAME=<name>,FILE=<file>) and the root file): without one it fails with %RDMS-F-NOAIJENB. Name and size of "
        "the journal, and its backup, are for the DBA to decide",
    ),
    "fast_commit": Clause(
        *("FAST COMMIT", "JOURNAL IS ENABLED (FAST COMMIT IS {value}", "fast commit"),
        words=ON_OFF,
        cautions=(SPELLING, CLOSED, RECOVERY, CHECKPOINTS, "Without an AIJ file it fails with %RDMS-F-NOAIJENB."),
        template="when a checkpoint interval has been chosen, by how long a recovery may take",
        more=("     (CHECKPOINT TIMED EVERY <seconds> SECONDS));",),
        back="JOURNAL IS ENABLED (FAST COMMIT IS {value})",
    ),
    "commit_to_journal": Clause(
        "COMMIT TO JOURNAL OPTIMIZATION",
        "JOURNAL IS ENABLED (FAST COMMIT IS ENABLED ({value}))",
        "commit to",
        words=ON_OFF,
    ),
    "commit_with_checkpoint": Clause(
        "COMMIT TO JOURNAL OPTIMIZATION",
        "JOURNAL IS ENABLED (FAST COMMIT IS ENABLED (CHECKPOINT TIMED EVERY <seconds> SECONDS, {value}))",
        "commit to",
        words=ON_OFF,
        cautions=(
            *(SPELLING, CLOSED, RECOVERY, CHECKPOINTS),
            "The way back leaves fast commit on; where it was off: JOURNAL IS ENABLED (FAST COMMIT IS DISABLED).",
        ),
        template="when a checkpoint interval has been chosen, by how long a recovery may take",
        back="JOURNAL IS ENABLED (FAST COMMIT IS ENABLED ({value}))",
    ),
    "transaction_interval": Clause(
        "TRANSACTION INTERVAL",
        "JOURNAL IS ENABLED (FAST COMMIT IS ENABLED (TRANSACTION INTERVAL IS {value}))",
        "interval",
        low=8,
        high=1_024,
    ),
    "checkpoint_interval": Clause(
        "CHECKPOINT INTERVAL",
        "JOURNAL IS ENABLED (FAST COMMIT IS ENABLED (CHECKPOINT INTERVAL IS {value} BLOCKS))",
        "checkpointing",
        low=1,
        high=100_000_000,
        cautions=(
            *(SPELLING, CLOSED, RECOVERY),
            "See in a new RMU/DUMP/HEADER that commit to journal and its transaction interval are as before; the "
            "highest number is a bound of this project.",
        ),
        template="when a recovery may take as long as it takes to do so many blocks of the journal again",
    ),
    "prestarted_transactions": Clause(
        *("PRESTARTED TRANSACTIONS", "PRESTARTED TRANSACTIONS ARE {value}", "prestarted"),
        words=ON_OFF,
        cautions=(
            SPELLING,
            CLOSED,
            "A clause PRESTARTED TRANSACTIONS of ATTACH or DECLARE ALIAS comes before the logical name "
            "RDMS$BIND_PRESTART_TXN, and that before this setting of the database: look for both first.",
            "It may be off because servers stay attached for long and the snapshot file grew. Then the time-out has to "
            "be there: without one (NO TIMEOUT is the default) an idle process holds its prestarted transaction.",
        ),
        template="when it is known why it is off, and after how long an idle process is to give its prestarted "
        "transaction up",
        more=("     (WAIT <seconds> SECONDS FOR TIMEOUT);",),
    ),
    "global_buffers": Clause(
        *("GLOBAL BUFFERS", "GLOBAL BUFFERS ARE {value}", "global buffers"),
        words=ON_OFF,
        cautions=(
            SPELLING,
            CLOSED,
            "NUMBER IS and USER LIMIT IS decide how much memory is taken: set them from the buffers that the users of "
            "one node have together now, and check that the node has that memory. NUMBER acts at the next open.",
        ),
    ),
    "buffers": Clause(
        *("NUMBER OF BUFFERS", "NUMBER OF BUFFERS IS {value}", "user buffer count"),
        low=2,
        high=524_288,
        cautions=(SPELLING, CLOSED, MEMORY),
    ),
    "global_buffer_count": Clause(
        *("GLOBAL BUFFERS NUMBER", "GLOBAL BUFFERS ARE ENABLED (NUMBER IS {value})", "global buffer count"),
        low=5,
        high=1_048_576,
        cautions=(SPELLING, NEXT_OPEN, MEMORY),
    ),
    "user_limit": Clause(
        *("GLOBAL BUFFERS USER LIMIT", "GLOBAL BUFFERS ARE ENABLED (USER LIMIT IS {value})", "per user"),
        low=5,
        high=1_048_576,
        cautions=(SPELLING, NEXT_OPEN, MEMORY),
    ),
    "page_transfer": Clause(
        "PAGE TRANSFER",
        "GLOBAL BUFFERS ARE ENABLED (PAGE TRANSFER VIA {value})",
        "page transfer",
        words=("MEMORY", "DISK"),
    ),
    "cache_slots": Clause(
        *("RESERVE CACHE SLOTS", "RESERVE {value} CACHE SLOTS", "reserved row cache"),
        low=1,
        high=1_024,
        cautions=(
            SPELLING,
            CLOSED,
            "A statement of its own: with ADD or DROP in the same one it fails with RDMS-E-CONFRESERVE. Slots are not "
            "given back; the highest number is a bound of this project.",
        ),
    ),
    "row_cache": Clause(
        *("ROW CACHE", "ROW CACHE IS {value}", "row cache"),
        words=ON_OFF,
        cautions=(
            SPELLING,
            CLOSED,
            "It has no effect until a cache is added and assigned: ADD CACHE, by table or area.",
        ),
    ),
    "new_row_cache": Clause(
        *("ROW CACHE", "ROW CACHE IS {value}", "row cache"),
        words=ON_OFF,
        cautions=(
            SPELLING,
            CLOSED,
            "CACHE SIZE is from how many rows the table has (default 1,000): the cache takes at least rows times bytes "
            "of memory, see that the node has it. A row longer than ROW LENGTH (a multiple of 4, at most 65,535) is "
            "not cached at all.",
            "After a node fails the cache starts empty unless it is checkpointed to its backing file: HELP ADD CACHE, "
            "CHECKPOINT.",
        ),
        template="when it is known which table or index to cache and how many rows it has: the clause alone changes "
        "nothing, so the database is not to be closed for it",
        more=(
            "     ADD CACHE <cache> CACHE SIZE IS <rows> ROWS ROW LENGTH IS <bytes> BYTES",
            "     NUMBER OF RESERVED ROWS IS <reserved> SHARED MEMORY IS PROCESS;",
            "   with the exact name of the table or index for <cache> it is of that one, and ROW LENGTH is left out;",
            "   else assign it to a storage area (way back: NO ROW CACHE):",
            "   ALTER DATABASE FILENAME '{root}'",
            "     ALTER STORAGE AREA <area> CACHE USING <cache>;",
            " INCOMPLETE where something stands in <>. ROWS: of the table (SELECT COUNT(*), READ ONLY), BYTES: of its",
            " longest, so it takes at least ROWS x BYTES bytes of memory; what each takes beside that is not known.",
        ),
    ),
    "snapshot": Clause(
        *("SNAPSHOT", "SNAPSHOT IS ENABLED {value}", "snapshot"), words=("IMMEDIATE", "DEFERRED"), cautions=(CLOSED,)
    ),
    "area_locking": Clause(
        *("LOCKING", "ALTER STORAGE AREA {area} LOCKING IS {value} LEVEL", "level"),
        words=("ROW", "PAGE"),
        cautions=(SPELLING, CLOSED, "PAGE holds page locks to the end of the transaction."),
    ),
}
