"""The log of a database shares devices with its data.

Finds: databases of users of which a piece of a device holds data and log (`sp_helpdb <database>`, `sysusages`).

Why it matters: where data and log share a device each log record is flushed by itself, and no larger user log cache
helps (vendor). Reads and writes of data also wait in one queue with the writes that every commit waits for.

What to do: give the log a device of its own: `alter database … log on …`, then `sp_logdevice`. Where sp_sysmon was
collected, ase/log_flushed_early says how many flushes it makes.

How loud it is: a note, because nothing in a list of pieces says that anybody waits.

When to ignore it: small databases, those of tests, and those that are restored whole from a dump. The server's own
databases and temporary ones are so by design, and are left out.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts
from collectors.facts.ase import DatabaseFragment
from rules.ase._evidence.log.mixed import MIXED_FACTS, mixed_evidence, mixed_logs, separate_first
from rules.ase._evidence.server import subject_of
from rules.changes.quoting import comment
from rules.engine import rule
from rules.finding import Clean, Finding, Outcome, Severity

LINKS = (
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc31644.1600/doc/html/san1371158775450.html",
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc00842.1570/html/spsysmon/spsysmon124.htm",
)
FLUSHED = (
    "Each log record of such a database is flushed by itself (vendor), and commits wait in one queue with reads and "
    "writes of data."
)
UNKNOWN = "Whether anybody waits for it, a list of pieces does not tell: sp_sysmon and two readings of monSysWaits do."


@dataclass(frozen=True)
class Limits:
    """There is nothing to judge by: a piece holds both, or it does not."""


@rule(needs=(DatabaseFragment,), uses=MIXED_FACTS, links=LINKS, limits=Limits, sample=None)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Name the databases."""
    mixed = mixed_logs(facts)
    if not mixed:
        listed = len({one.database or one.db_id for one in facts.every(DatabaseFragment)})
        yield Clean(f"{listed} databases listed: no log of a user's database shares a device with data")
        return
    of = f"{len(mixed):,} databases" if len(mixed) > 1 else comment(next(iter(mixed)))
    yield Finding(
        subject=subject_of(facts),
        severity=Severity.NOTE,
        title=f"Data and log of {of} share a device",
        seen=f"A piece of a device holds data and log of {of}.",
        because=FLUSHED,
        do=separate_first(mixed),
        unknown=UNKNOWN,
        evidence=tuple(mixed_evidence(mixed)),
    )
