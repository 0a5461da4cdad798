"""What is known of the names in `monSpinlockActivity`, and which rule a name belongs to.

Of many names no source says more than the name itself; then that is what is said (knowledge/ase-rules.md, section 5).
"""

from collections.abc import Collection

from rules.ase._evidence.spinlocks.entries import ONLY_NAME, Entry, entry_of, without_index
from rules.ase._evidence.spinlocks.monitored import (
    ADDRESS,
    BUFFERS,
    INDEX,
    INDEX_HASH,
    OBJECT,
    OBJECT_MANAGER,
    PAGE_ROW,
    PARTITION,
    PROCEDURE_CACHE,
    PROCEDURE_MANAGER,
    RUN_QUEUE,
    RUN_QUEUE_OLD,
    SCHEDULER,
    STATEMENT_CACHE,
    TABLE,
    USER_LOG_CACHE,
)

LOCKS = (PAGE_ROW, ADDRESS, TABLE)
BY_RATIO = {
    ADDRESS: ("ase/address_lock_spinlock_contended", "address locks"),
    PAGE_ROW: ("ase/lock_hash_spinlock_contended", "page and row locks"),
    TABLE: ("ase/table_lock_spinlock_contended", "table locks"),
    OBJECT: ("ase/object_descriptor_spinlock_contended", "object descriptors"),
    INDEX: ("ase/index_descriptor_spinlock_contended", "index descriptors"),
    INDEX_HASH: ("ase/index_hash_spinlock_contended", "the index hash tables"),
    PARTITION: ("ase/partition_descriptor_spinlock_contended", "partition descriptors"),
    USER_LOG_CACHE: ("ase/user_log_cache_spinlock_contended", "user log caches"),
}
"""Names a ratio spreads: the rule that asks for it, and what the spinlocks guard."""
METADATA = (OBJECT, INDEX, INDEX_HASH, PARTITION)
BY_NAME = {
    OBJECT_MANAGER: "ase/object_manager_spinlock_contended",
    PROCEDURE_CACHE: "ase/procedure_cache_spinlock_contended",
    PROCEDURE_MANAGER: "ase/procedure_cache_spinlock_contended",
    STATEMENT_CACHE: "ase/statement_cache_spinlock_contended",
    RUN_QUEUE_OLD: "ase/run_queue_spinlock_contended",
    RUN_QUEUE: "ase/run_queue_spinlock_contended",
}
"""Names with rules that judge them by spins as well."""
DATABASE = ("Dbtable->", "Dbt->", "Dbtable.")
DEVICES = (
    "kdaio_spinlock",
    "kdalloc_spinlock",
    "Disk Controller Manager",
    "Network Controller Manager",
    "Ct-Lib Controller Manager",
    "DiskController",
    "NetController",
    "CtlibController",
)
GROUPS = (("Resource->", "resources of the whole server"), ("Kernel->", "the kernel"))
"""How names are grouped by their beginning (DbxTune)."""
QUEUES = (
    "It is a queue of the threaded kernel that idle engines look into: very many spins with a low share of waits are "
    "normal for it, and no remedy is known or needed."
)


def plain_name(name: str) -> str:
    """The name without the `[i]`, or the number in brackets, that an array of spinlocks is printed with."""
    return without_index(name)


def with_relief(name: str, caches: Collection[str]) -> Entry | None:
    """The entry of a name that no rule judges and of which something is known to help; `None` where there is none."""
    entry, judged = entry_of(name), (*BY_NAME, *BY_RATIO, *SCHEDULER, *caches)
    return entry if entry and entry.relief and plain_name(name) not in judged else None


def meaning_of(name: str) -> str:
    """What the sources say of a name that no rule owns, as a sentence; that they say nothing, where they do not."""
    plain = plain_name(name)
    if plain in SCHEDULER:
        return QUEUES
    if entry := entry_of(plain):
        return entry.says
    if plain.startswith(BUFFERS):
        cache = plain.removeprefix(BUFFERS)
        guards = f"By its name it guards the buffer headers of the cache {cache}"
        return f"{guards}: what reduces contention there may reduce it here."
    if plain.startswith(DATABASE):
        return "It guards structures of one database; fewer concurrent small transactions are all that a source names."
    if plain in DEVICES:
        return f"By its name it belongs to device or network I/O: {ONLY_NAME}."
    for beginning, group in GROUPS:
        if plain.startswith(beginning):
            return f"By its beginning it guards {group}: {ONLY_NAME}."
    return "Nothing is known of this name, so no remedy is given: SAP's support can say what it guards."
