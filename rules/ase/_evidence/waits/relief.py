"""What a wait event of SAP ASE means, and what reduces it: by number, and by row of sp_sysmon's task switches.

From the manuals (Monitoring Tables 15.7, sp_sysmon 15.7 and 12.5); what a practitioner says is marked "in practice",
our own conclusion "as concluded here" (knowledge/ase-waits-caches.md, 1.4 and 2). What no source explains has no entry.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Relief:
    """One event or cause."""

    means: str
    relieved_by: str = ""
    """Empty where nothing is to be done, or no source says what."""


DISK = Relief(
    "a physical read, as many as waits; 2 to 6 ms are normal, more than 10 ms a slow disk",
    "where they are many: fewer scans, or a larger cache; where they are long: a faster disk",
)
WRITING = Relief("a page that is being written is to be changed", "faster writes; a larger cache; fewer changers")
CHANGING = Relief(
    "other tasks change the same pages", "fewer changers of one page; more engines, where there are too few"
)
LOCK = Relief(
    "a lock of another transaction on a row, a page or a table",
    "shorter transactions, an index that locks fewer rows; see Blocking and ase/lock_waits_high",
)
STRUCTURE = Relief("a configured structure ran out", 'sp_monitorconfig "all" shows which one')
PLC = Relief(
    "blocks of the user log cache on their way to the log (16.0)",
    "no source says; by design as the log: fewer commits, a larger user log cache, a faster log device",
)
BY_EVENT = {
    29: DISK,
    30: Relief(
        "a writer waits while a task changes the page",
        "a larger cache, caches of their own, the wash marker, checkpoint and housekeeper; sequential keys",
    ),
    31: Relief("checkpoint, housekeeper or wash meets its own earlier write", "a faster disk; a larger cache"),
    32: Relief("asynchronous prefetch", "a missing index; a lower local APF limit, where prefetch is too eager"),
    33: Relief("many tasks read one page, or there are too few engines", "in practice also the spinlock of the cache"),
    34: Relief("many tasks write one page, or there are too few engines", "in practice also the spinlock of the cache"),
    35: Relief("many tasks on one page, or there are too few engines"),
    36: WRITING,
    37: CHANGING,
    38: CHANGING,
    41: Relief(
        "a latch on an index, allocation or OAM page of a data-only-locked table",
        "another key order, fewer rows on a page, greedy allocation; where they are long: shorter lock hash chains",
    ),
    46: Relief("a buffer at the end of the chain is still being written", "a larger cache or wash; faster writes"),
    47: Relief("a buffer at the end of the chain is still being read", "a larger cache or wash; faster reads"),
    51: Relief("its own earlier write", "the disk; page splits and index maintenance (in practice)"),
    52: WRITING,
    53: Relief(
        "a writer waits while a task changes the page",
        "a larger cache, caches of their own, the wash marker, checkpoint and housekeeper; sequential keys",
    ),
    54: Relief(
        "another task writes the last page of the log (in practice: the log semaphore)",
        "where they are many: a larger user log cache, fewer commits; where they are long: a faster log device",
    ),
    55: Relief("its own write of the last page of the log", "the log device; fewer commits"),
    70: Relief("the semaphore of a device", "only with disk mirroring, or few I/O structures"),
    83: Relief("the state of a descriptor changes", "number of open objects; fewer drops"),
    84: Relief("a checkpoint of a descriptor", "number of open objects; fewer drops"),
    124: Relief("another task reads that page already, mostly by large I/O", "the disk; plans that scan"),
    125: Relief("another task reads that page already", "the disk; plans that scan"),
    142: Relief("a remote server (CIS, site handler)"),
    143: Relief("a remote server (CIS, site handler)"),
    171: Relief("a remote server (CIS, site handler)"),
    **dict.fromkeys((150, 481, 493, 494, 495, 499, 500, 501, 700, 701), LOCK),
    **dict.fromkeys((157, 280, 298), STRUCTURE),
    214: Relief("its time slice was used up: work for the processor", "cheaper statements"),
    215: Relief(
        "it could run and finds no engine",
        "more engines where all are busy with work, less spinning where they spin: see ase/run_queue_long and "
        "ase/engines_not_the_answer",
    ),
    251: Relief("a client that is slow to take its rows", "a larger packet size; smaller results"),
    259: Relief("the last-chance threshold: the log is full", "a larger log, dumps more often"),
    856: Relief("the last-chance threshold of the row store's log", "a larger log, dumps more often"),
    266: Relief("workers of a parallel query", "balanced partitions; processor"),
    334: Relief("workers of a parallel query", "balanced partitions; processor"),
    271: Relief("room in the log while a user log cache is flushed", "a stall in the cache of the log (in practice)"),
    272: Relief("the lock on its user log cache", "what the holder waits for; user log cache spinlock ratio"),
    **dict.fromkeys((704, 705, 880, 900, 902), PLC),
}
"""By WaitEventID."""
BY_CAUSE = {
    "Voluntary Yields": Relief("it ran its time out: work, scans in memory (as concluded here)", "cheaper statements"),
    "Cache Search Misses": Relief("a physical read", "plans that scan; memory, and how caches are laid out"),
    "Exceeding I/O batch size": Relief("more writes at once than `i/o batch size`"),
    "System Disk Writes": Relief("page splits, index maintenance, checkpoints (as concluded here)"),
    "Logical Lock Contention": Relief("a lock on a row, a page or a table", "ase/lock_waits_high"),
    "Address Lock Contention": Relief(
        "an index page of an allpages table", "data-only locking (ase/allpages_table_contended)"
    ),
    "Latch Contention": Relief(
        "an index, OAM or allocation page; with allpages alone those of system tables and allocation pages",
        "ase/latch_contended",
    ),
    "Log Semaphore Contention": Relief("the end of the log", "ase/log_semaphore_contended"),
    "PLC Lock Contention": Relief("another task flushes this one's user log cache", "a larger user log cache"),
    "Group Commit Sleeps": Relief("somebody else writes the shared page of the log: many are no problem at high rates"),
    "Last Log Page Writes": Relief("its own write of the log", "the log device; a smaller log I/O size"),
    "Modify Conflicts": Relief("light protection of a page: some system tables, dirty reads"),
    "I/O Device Contention": Relief("a device, with mirroring or delayed I/O", "spread over more devices"),
    "Network Packet Received": Relief("a client that thinks: no contention"),
    "Network Packet Sent": Relief("a client that reads: no contention"),
    "Network services": Relief("no contention"),
    "Other Causes": Relief("the rest: nothing can be advised from it"),
}
"""By the row of `Task Context Switches Due To`."""
