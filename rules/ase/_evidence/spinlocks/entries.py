"""What each named spinlock of SAP ASE guards, what reduces its contention, and whether that is proven.

From knowledge/ase-waits-caches.md, section 6, and knowledge/ase-rules.md, section 5. A name that is only a name is said
to be that, and gets no remedy. What a rule of its own changes is not repeated: the entry says what it is for.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

VENDOR, PRACTICE, BY_NAME, NOBODY = "vendor", "practice", "by its name", "nobody"
"""Who says so, as the knowledge files grade it: a manual [V]; practitioners [P]; the name alone, or our own inference
[I]; no source at all [?], which is never claimed."""
ONLY_NAME = "no source says more than the name, so no remedy is given"


@dataclass(frozen=True)
class Entry:
    """One spinlock, or all whose names begin so."""

    guards: str
    """As the end of "it guards"."""
    guards_by: str = BY_NAME
    relief: str = ""
    """What relieves it, as a clause; empty: no source names anything."""
    relief_by: str = NOBODY

    @property
    def proven(self) -> bool:
        """Whether a manual says what reduces its contention."""
        return self.relief_by == VENDOR

    @property
    def guarded(self) -> str:
        """What it guards, as a sentence without its end, with who says so."""
        return {
            VENDOR: f"It guards {self.guards}",
            PRACTICE: f"It guards {self.guards}, practitioners say",
            BY_NAME: f"By its name it guards {self.guards}",
            NOBODY: f"What it guards is in no source: {self.guards}",
        }[self.guards_by]

    @property
    def helps(self) -> str:
        """What to try against its contention, as a sentence with who says so; empty where no source names anything."""
        said = {VENDOR: "the vendor says so", PRACTICE: "practitioners say so"}
        by = said.get(self.relief_by, "this project infers it, no source says so")
        return f"Try {self.relief}: {by}." if self.relief else ""

    @property
    def says(self) -> str:
        """What it guards and what reduces its contention, as one or two sentences with who says so."""
        guarded = self.guarded
        if not self.relief:
            return f"{guarded}: {ONLY_NAME}." if self.guards_by == BY_NAME else f"{guarded}, and no remedy is known."
        if self.relief_by == VENDOR:
            return f"{guarded}: {self.relief}."
        by = "practitioners say" if self.relief_by == PRACTICE else "this project infers; no source says so"
        return f"{guarded}. What may reduce its contention, as {by}: {self.relief}."


LISTED = Entry("only the name is listed", NOBODY)
TASKS = "queues of the threaded kernel, which idle engines look into"
ENTRIES: Mapping[str, Entry] = {
    # lock manager (rules of their own)
    "fglockspins": Entry(
        "the hash table of page and row locks", VENDOR, "a lower lock spinlock ratio, a larger hash table", VENDOR
    ),
    "addrlockspins": Entry(
        "the hash table of address locks, which index pages of allpages tables alone have",
        VENDOR,
        "a lower lock address spinlock ratio, and data-only locking for the hot tables",
        VENDOR,
    ),
    "tablockspins": Entry(
        "the hash table of table and partition locks",
        VENDOR,
        "a lower lock table spinlock ratio",
        VENDOR,
    ),
    # descriptors
    "Des Upd Spinlocks": Entry("object descriptors", VENDOR, "a lower open object spinlock ratio", VENDOR),
    "Ides Spinlocks": Entry("index descriptors", VENDOR, "a lower open index spinlock ratio", VENDOR),
    "Ides Chain Spinlocks": Entry(
        "the hash tables of index descriptors", VENDOR, "a lower open index hash spinlock ratio", VENDOR
    ),
    "Pdes Spinlocks": Entry("partition descriptors", VENDOR, "a lower partition spinlock ratio", VENDOR),
    "Pdes Chain Spinlocks": Entry("the hash tables of partition descriptors", PRACTICE),
    "Resource->rdesmgr_spin": Entry(
        "the keep counts of descriptors, all with one spinlock",
        PRACTICE,
        "enough descriptors, then hot objects bound by dbcc tune(des_bind), which is lost at a restart",
        PRACTICE,
    ),
    "DES Name Hash Bucket Spin": Entry("the hash of object names (16.0)"),
    # procedures, statements, plans
    "Resource->rproccache_spin": Entry(
        "the pool of procedure cache memory of all engines, for the statement cache too",
        PRACTICE,
        "a larger procedure cache, a larger engine local cache, fewer recompilations",
        PRACTICE,
    ),
    "Resource->rprocmgr_spin": Entry(
        "procedures and dynamic SQL moved into the procedure cache and out of it",
        PRACTICE,
        "a larger procedure cache, fewer recompilations",
        PRACTICE,
    ),
    "Resource->rpmctrl_spin": Entry("the accounting of the procedure cache's memory (since 15.7 ESD#1)", PRACTICE),
    "SSQLCACHE_SPIN": Entry("the statement cache", BY_NAME, "fewer different statements", PRACTICE),
    "Resource->rqueryplan_spin": Entry("query plans"),
    # log and transactions
    "User Log Cache Spinlocks": Entry(
        "user log caches, some with one spinlock", VENDOR, "a lower user log cache spinlock ratio", PRACTICE
    ),
    "Dbtable->dbt_xdesqueue_spin": Entry(
        "the transaction descriptors of one database",
        BY_NAME,
        "fewer, larger transactions, tables in more databases, fewer engines as a test (no parameter)",
        BY_NAME,
    ),
    "Dbtable->dbt_plcblock_queue_spin": Entry("the queue of log blocks of one database (16.0)"),
    "Dbtable->dbt_seqspin": Entry("a structure of one database"),
    "Dbtable->dbt_thresh_spin": Entry("the space thresholds of one database"),
    "Dbtable->dbt_defpipebufgpspin": Entry("a structure of one database"),
    "Dbt->dbt_repl_spin": Entry("replication of one database"),
    "Resource->rdbt_spin": Entry("the list of databases"),
    "Resource->rdbts_spin": Entry("the list of databases"),
    "XDES_HASH_BUCKET_SPINLOCK": Entry("the hash of transaction descriptors"),
    "XDES_SPIN": Entry("transaction descriptors"),
    # scheduler and kernel
    "Sched Q": Entry(TASKS, PRACTICE, "fewer engines", PRACTICE),
    "global sched": Entry(TASKS, PRACTICE, "fewer engines", PRACTICE),
    "syb_default_pool": Entry(TASKS, PRACTICE, "fewer engines", PRACTICE),
    "Deferred Queue": Entry(TASKS, PRACTICE, "fewer engines", PRACTICE),
    "Kernel->erunqspinlock": Entry("the run queue of one engine (up to 15.5)", PRACTICE, "fewer engines", PRACTICE),
    "Kernel->kprunqspinlock": Entry("the run queue of one engine", PRACTICE, "fewer engines", PRACTICE),
    "Kernel->kpsleepqspinlock": Entry("the queue of sleeping tasks"),
    "Kernel->kpprocspin": Entry("the table of processes"),
    "Kernel->kslistener_spinlock": Entry("the network listeners"),
    "Kernel->kaspinlock": Entry("a structure of the kernel"),
    "Kernel->kbmempools": Entry("the memory pools of the kernel"),
    "Networking_spinlock": Entry("the network"),
    # resources
    "Resource->rtmpdb_spin": Entry("the groups of temporary databases"),
    "Resource->rsysgam_spin": Entry("the global allocation map"),
    "Resource->rlocksemaphore_spin": Entry("the semaphores of locks"),
    "Resource->rlocksleeptask_spin": Entry("tasks that sleep for a lock"),
    "Resource->rlockobjpool_spin": Entry("the pool of lock structures"),
    "Resource->rlockpromotion_spin": Entry("the promotion of locks"),
    "Resource->rwaittask_spin": Entry("waiting tasks"),
    "Resource->rmda_spinlock": Entry("the monitoring itself", BY_NAME, "asking the server less often", BY_NAME),
    "Resource->rsqltext_spin": Entry(
        "the SQL text that monitoring keeps", BY_NAME, "asking the server less often", BY_NAME
    ),
    # others
    "SITEBUF_SPIN": LISTED,
    "ENCR_SPIN": LISTED,
    "COMP_SPIN": LISTED,
    "ASTC_SPIN": LISTED,
    "PTNCOND_SPIN": LISTED,
    "DATACHG_SPIN": LISTED,
}
"""By name, without the `[i]` of an array."""
CACHE = Entry(
    "the partitions of a data cache", VENDOR, "partitions, named caches, relaxed or lockless replacement", VENDOR
)

INDEXED = re.compile(r"\[(?:i|\d+)\]$")
"""What stands behind the name of one spinlock of an array."""


def entry_of(name: str) -> Entry | None:
    """The entry of one name, printed with `[i]`, with a number there or without; `None` where no source has it."""
    return ENTRIES.get(without_index(name))


def without_index(name: str) -> str:
    """The name of an array of spinlocks, of which one is printed `[i]` or with its number: `[0]`."""
    return INDEXED.sub("", name)
