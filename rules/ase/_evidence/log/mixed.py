"""Databases whose log shares pieces of devices with data: each of their log records is flushed by itself.

By `sysusages` of master: a piece with the log segment and any other (vendor: System Administration Guide 2, 16.0, "The
sysusages Table": 3 is data, 4 log, 7 both). The server's own databases and temporary ones are so by design.
"""

from collectors.facts import Fact, Facts, Source
from collectors.facts.ase import DatabaseFragment
from rules.ase._evidence.caches.temporary import TEMPORARY_FACTS, perhaps_temporary
from rules.changes.ase_binding import why_not_database
from rules.changes.quoting import comment, is_plain
from rules.finding import Evidence

MIXED_FACTS: tuple[type[Fact], ...] = (DatabaseFragment, *TEMPORARY_FACTS)
"""What a rule declares that asks for it."""
OWN = ("model", "sybsecurity", "dbccdb")
"""Databases of the server and its tools beside those that nothing is bound of."""
SEPARATE = (
    'First give the log of {} devices of its own (`disk init`, `alter database {} log on <device> = "<size>"`, then '
    "`sp_logdevice {}, <device>` in single-user mode): till then each log record is flushed by itself, and no larger "
    "user log cache helps."
)
NAMED = 3


def mixed_logs(facts: Facts) -> dict[str, Source]:
    """The databases of users with mixed data and log, each with the line that shows it."""
    rows = [row for row in facts.every(DatabaseFragment) if row.mixed and row.database]
    temporary = perhaps_temporary(facts)
    return {
        row.database: row.source
        for row in rows
        if row.database
        and row.database not in temporary
        and not why_not_database(row.database)
        and row.database.lower() not in OWN
    }


def say_mixed(mixed: dict[str, Source]) -> str:
    """The databases, for a title or a sentence."""
    names = [comment(name) for name in sorted(mixed)]
    return ", ".join(names[:NAMED]) + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")


def separate_first(mixed: dict[str, Source]) -> str:
    """What comes before anything else about their user log caches, as a sentence."""
    only = next(iter(mixed)) if len(mixed) == 1 else ""
    bare = only if is_plain(only) else "<database>"
    return SEPARATE.format(say_mixed(mixed), bare, bare)


def mixed_evidence(mixed: dict[str, Source]) -> list[Evidence]:
    """Each database with its line."""
    return [
        Evidence(f"data and log of {comment(name)} share a device", "yes", "", mixed[name])
        for name in sorted(mixed)[:NAMED]
    ]
