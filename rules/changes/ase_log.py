"""Log I/O size of one database of SAP ASE: `sp_logiosize`, and the pool that it needs. Dynamic.

Where the size in force was not collected, the script looks it up, and the change itself is a comment for a person to
decide. Sources: knowledge/ase-waits-caches.md, 5.3; System Procedures
(16.0), sp_logiosize.
"""

from rules.changes.ase_cache import by_hand
from rules.changes.quoting import Unquotable, batches, comment, tsql_name
from rules.finding import Change, Effect

FORMS = {True: "twice the size that is shown", False: "half the size that is shown"}


def log_io_size(database: str, *, larger: bool, pools: str) -> Change:
    """Look up the log I/O size of a database, and say how to change it. `pools`: the cache's pools, in words."""
    key, target = f"ase.log:{comment(database)}:io size", f"{comment(database)}: log I/O size"
    asked = FORMS[larger]
    try:
        name = tsql_name(database)
    except Unquotable:
        return by_hand(key, target, None, asked)
    return Change(
        key=key,
        target=target,
        old=None,
        new=asked,
        apply=(
            *batches(f"use {name}", "-- the log I/O size in force: note it", "sp_logiosize"),
            f"-- then, with {asked} in KB for <size>, where the log's cache has a pool of it ({comment(pools)}):",
            '--   sp_logiosize "<size>"',
        ),
        undo=(f"-- in {comment(database)}, with the size noted before:", '--   sp_logiosize "<size>"'),
        takes_effect=Effect.ADVICE,
        cautions=("A size for which the cache has no pool is not used: make the pool first (sp_poolconfig).",),
    )


def set_log_io_size(database: str, old_kb: float, new_kb: float) -> Change:
    """Set the log I/O size of a database whose size in force is known, in kilobytes: dynamic both ways."""
    key, target = f"ase.log:{comment(database)}:io size", f"{comment(database)}: log I/O size"
    try:
        name = tsql_name(database)
    except Unquotable:
        return by_hand(key, target, f"{old_kb:g} KB", f"{new_kb:g} KB")
    return Change(
        key=key,
        target=target,
        old=f"{old_kb:g} KB",
        new=f"{new_kb:g} KB",
        apply=batches(f"use {name}", f'sp_logiosize "{new_kb:g}"'),
        undo=batches(f"use {name}", f'sp_logiosize "{old_kb:g}"'),
        takes_effect=Effect.ONLINE,
        cautions=("A size for which the cache has no pool is not used: see that the pool is there (sp_cacheconfig).",),
    )
