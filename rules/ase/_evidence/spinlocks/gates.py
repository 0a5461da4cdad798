"""The gates of the spinlock figures of SAP ASE: the same for each spinlock's own rule and for rules that ask of all.

The per cent says that somebody waited; how busy the engines are and how often the spinlock is used say whether that
costs anything. "Engines not busy: not an issue" is practice (SAP wiki, Spinlocks and CPU usage in SAP ASE); where
"busy" begins is this project's.
"""

from collectors.facts import ABSENT, Facts, Reading, Source, known
from collectors.facts.ase import LockHashtable, LockSummary
from rules.sources import TALLMAN

BUSY_PERCENT = 20.0
"""Mean busy share of the engines under which nothing is gained."""
BUSY_ORIGIN = "this project: engines idler than this gain nothing"
CRITICAL_ORIGIN = (
    f"practice: 30-40 % of the descriptor spinlocks was 'still suffering mightily' ({TALLMAN}); this "
    "project uses it here"
)
LOCK_PERCENT, CACHE_PERCENT = 10.0, 10.0
METADATA_PERCENT = 3.0
"""Contention has to lie above it, not on it."""
LOOKUPS = {"address": 100.0, "page and row": 1000.0, "table": 100.0}
"""Lookups per second, by lock hash table, under which a per cent is of almost nothing."""
METADATA_GRABS = 1000.0
"""Grabs per second of a metadata spinlock under which a per cent is of almost nothing; sp_sysmon prints none."""
CACHE_SEARCHES = 1000.0
"""The same for the searches of a data cache."""
CRITICAL_USES = 10.0
"""Where no spins are known: times the rate from which a per cent counts at all; under that it is never critical. 40 %
of 100 grabs is harmless (SAP wiki)."""
HASHTABLE_SMALLEST, HASHTABLE_LARGEST = 2048, 1_048_576
"""Buckets of the page and row lock hash table: the vendor's least, and the most the rules ask for without a person."""
SPINS_SHARE = 10.0
"""Share of all spins, per cent, from which on one spinlock is among the dear ones."""
SPINS_PER_ENGINE = 100_000.0
"""Spins per second and engine: at up to 100 ns a turn fewer cannot be 1 % of an engine's time."""
SPINS_ORIGIN = "this project: at up to 100 ns a turn of the loop, fewer cannot be 1 % of an engine"
SHARE_ORIGIN = "this project: a tenth of all spins; the source says only to rank by spins (SAP wiki)"


def lock_uses(facts: Facts, table: LockHashtable) -> tuple[Reading, str, Source]:
    """How often a lock hash table is used per second, what that counts, and where it stands.

    16.0 prints 0 lookups of the table locks whatever happens there: then the lock requests of all kinds are taken.
    """
    lookups = table.lookups_per_second
    if table.table != "table" or (known(lookups) and lookups):
        return lookups, "lookups", table.source
    summary = facts.latest(LockSummary)
    asked = "lock requests of all kinds"
    return (summary.requests_per_second, asked, summary.source) if summary else (ABSENT, asked, table.source)
