"""Wait events of SAP ASE by number: what a task waits for, and which events are no wait of work.

Keyed by number alone: names change between releases, and class 9 (internal system event) mixes idle daemons with
latches and the caches of the log. Sources and grades: knowledge/ase-waits-caches.md, 1.2 to 1.4.
"""

from dataclasses import dataclass

from rules.account import MAINTENANCE

LOCKS = frozenset((150, 481, 493, 494, 495, 499, 500, 501, 700, 701))
"""Row, page, table, address and partition locks, of this node and of others; the 16.0 sample read uses 150 alone."""
LATCHES = frozenset((41,))
RUN_QUEUE = frozenset((214, 215))
"""Ready to run and waiting for an engine."""
READS = frozenset((29, 32, 124, 125))
"""Physical reads: one's own, by prefetch, and those that another task has begun."""
DATA_WRITES = frozenset((31, 36, 51, 52))
"""A data page is being written: by this task, or by another one while this one wants to change it."""
FREE_BUFFERS = frozenset((46, 47))
"""A buffer at the end of the cache's chain is still being written or read."""
OWN_LOG_WRITES = frozenset((55,))
LOG_WRITES = frozenset((54,)) | OWN_LOG_WRITES
"""The last page of the log: written by another task, or by this one."""
LOG_SPACE = frozenset((259, 856))
"""Asleep at the last-chance threshold of a log that is full, 856 of the IMRS log."""
ULC_LOCKS = frozenset((272,))
"""Waits for the lock on a user log cache (by the text of the event)."""
LOG_BLOCKS = frozenset((704, 705, 880, 900, 902))
"""The queue of log blocks of 16.0 (their texts name a PLCBLOCK)."""
NETWORK_READ, NETWORK_SEND = 250, 251
NETWORK = frozenset((NETWORK_READ, NETWORK_SEND))
"""A client that thinks, or is slow to take its rows."""
IDLE = frozenset(
    (
        *(19, 57, 60, 61, 66, 104, 169, 178, 179, 221, 222, 247, 260, 261, 262, 263, 307, 308, 497, 578, 645, 646),
        *(779, 780, 861, 913),
        *range(285, 291),
        *range(677, 698),
        *range(728, 732),
        *range(888, 891),
        *range(892, 896),
        *range(904, 911),
        *range(914, 928),
    )
)
"""Daemons and helpers with nothing to do."""
HOOKS = frozenset(
    (*range(11, 19), 45, 64, 213, *range(235, 247), 269, 270, 273, 274, 275, 278, 281, 651, 652, 653, 778)
)
"""Tests, recovery and the ending of tasks: never spoken of."""


@dataclass(frozen=True)
class Group:
    """Wait events of one kind: what a task waits for, and which rules' findings such waits are caused by."""

    what: str
    events: frozenset[int]
    causes: tuple[str, ...] = ()
    collect: str = ""
    """What tells more of them; empty where the name says it."""


MAINTAINS = frozenset((85, 91, 197, *range(200, 208), 879, *range(881, 887)))
"""Dump, load and dbcc (knowledge/ase-waits-caches.md, 1.3)."""
GROUPS = (
    Group("locks", LOCKS, ("ase/lock_waits_high",)),
    Group("latches", LATCHES, ("ase/latch_contended",)),
    Group("an engine (run queue)", RUN_QUEUE, ("ase/run_queue_long", "ase/host_takes_processor")),
    Group("physical reads", READS, ("ase/reads_slow",)),
    Group("writes of data pages", DATA_WRITES | {30, 37, 38, 53}, ("ase/data_writes_slow",)),
    Group("a free buffer", FREE_BUFFERS, ("ase/cache_stalls",)),
    Group("reading or changing one page", frozenset((33, 34, 35)), ()),
    Group("the queue of log blocks (PLCBLOCK)", LOG_BLOCKS, ("ase/log_queue_waits",)),
    Group("space in a log that is full", LOG_SPACE, ("ase/log_full_now",)),
    Group(
        "the log",
        LOG_WRITES | frozenset((271, 272, 708, 753, 929)),
        ("ase/log_semaphore_contended", "ase/log_writes_slow"),
    ),
    Group("internal structures", frozenset((83, 84, 157, 280, 298)), ("ase/resource_used_up",)),
    Group(f"{MAINTENANCE} (dump, load, dbcc)", MAINTAINS),
    Group("parallel sorts and queries", frozenset((209, 210, 334))),
)
"""Groups of knowledge/ase-waits-caches.md, 1.4; the grouping is this project's."""


def at_work(event: int) -> bool:
    """Whether a task that waits for this event has work to do."""
    return event not in IDLE and event not in HOOKS and event not in NETWORK
