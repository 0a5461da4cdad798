"""What is to move out of a contended data cache of SAP ASE, temporary databases or logs: how much of it there is.

Its share of the searches, what of it is in memory, and what five minutes write of a log.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from collectors.facts import Facts, known
from collectors.facts.ase import BindingList, CacheBinding, LogIoSize, LogWrites, MonCachedObject, SysmonSample
from rules.ase._evidence.caches.bindings import only_default
from rules.ase._evidence.caches.contents import Contents, Held
from rules.ase._evidence.caches.figures import seconds_of
from rules.ase._evidence.caches.hot import contention_of
from rules.ase._evidence.caches.temporary import perhaps_temporary, temporary_databases
from rules.ase._evidence.objects.seen import activity
from rules.ase._evidence.server import page_kb
from rules.ase._evidence.spinlocks.figures import Figure
from rules.changes.ase_binding import why_not_database
from rules.changes.ase_cache import DEFAULT_CACHE

SHARE_PERCENT = 10.0
LOG = "syslogs"
MINUTES = 5.0
"""Log that is read again (vendor: the manual's example takes 125 pages a minute for five minutes)."""


@dataclass(frozen=True)
class Moving:
    """What is to move out of one contended cache."""

    figure: Figure
    contents: Contents
    held: tuple[Held, ...]
    """Most searched first."""

    @property
    def home(self) -> str:
        """The contended cache."""
        return self.figure.label

    @property
    def reads(self) -> float:
        """Searches that move."""
        return sum(one.reads for one in self.held)

    @property
    def share(self) -> float:
        """Their share of the cache's searches, 0 to 1."""
        return self.contents.inside(self.home, self.reads)

    @property
    def databases(self) -> list[str]:
        """Whose they are, most searched first."""
        return list(dict.fromkeys(one.database for one in self.held))

    def by_database(self) -> dict[str, float]:
        """Share of the cache's searches by database, 0 to 1."""
        return {
            name: self.contents.inside(self.home, sum(one.reads for one in self.held if one.database == name))
            for name in self.databases
        }


def share_after(moving: Moving, before: Moving | None) -> float:
    """Share of what moves in the searches that stay once what leaves before it has left, 0 to 1."""
    stays = 1.0 - (before.share if before else 0.0)
    return moving.share / stays if stays > 0 else 0.0


def enough(moving: Moving, goal: float) -> bool:
    """Whether the cache it leaves should be under the limit without it."""
    return 100 * moving.share >= SHARE_PERCENT and contention_of(moving.figure) * (1 - moving.share) < goal


def temporaries_of(facts: Facts, figure: Figure, contents: Contents) -> Moving:
    """What of temporary databases is in a cache: those that an export shows to be such, not by a name alone."""
    databases = temporary_databases(facts)
    held = (one for one in contents.held if one.cache == figure.label and one.database in databases and one.reads)
    return Moving(figure, contents, tuple(held))


def logs_of(facts: Facts, figure: Figure, contents: Contents) -> Moving:
    """The logs in a cache that are not bound: not those of temporary databases or of the server's own."""
    temporary = perhaps_temporary(facts)
    held = (one for one in contents.held if one.cache == figure.label and one.table.lower() == LOG and not one.bound)
    return Moving(
        figure,
        contents,
        tuple(
            one for one in held if one.reads and one.database not in temporary and not why_not_database(one.database)
        ),
    )


def told_bindings(facts: Facts) -> bool:
    """Whether the exports say what is bound, were it nothing."""
    return bool(facts.every(BindingList) or facts.every(CacheBinding)) or only_default(facts)


def told_temporary(facts: Facts, databases: Sequence[str]) -> bool:
    """The same of temporary databases: what is bound to another cache has no page in the default data cache."""
    seen = [(one.database, one.cache) for one in facts.every(MonCachedObject) if one.database in databases]
    unbound = {database for database, _ in seen} == set(databases) and all(cache == DEFAULT_CACHE for _, cache in seen)
    return told_bindings(facts) or (bool(seen) and unbound)


def cached_mb(facts: Facts, moving: Moving, *, logs: bool) -> float | None:
    """What of it is in memory now, by monCachedObject, MB; `None` where nothing of it was seen.

    Of temporary databases that is all of each, whether or not searches were counted for an object: a database is bound
    as a whole, and a temporary table that one snapshot lacks has no counts.
    """
    tables = {(one.database, one.table) for one in moving.held}
    databases = set() if logs else set(moving.databases)
    rows = facts.every(MonCachedObject)
    mine = [one for one in rows if one.database in databases or (one.database, one.object_name) in tables]
    sizes = [one.cached_kb for one in mine if known(one.cached_kb)]
    return sum(sizes) / 1024 if sizes else None


def log_io_kb(facts: Facts, databases: Sequence[str]) -> float | None:
    """The log I/O size of these databases by `sp_logiosize`; `None` where one did not tell, or they differ."""
    told = {one.database: one.kilobytes for one in facts.every(LogIoSize)}
    sizes = {told.get(name) for name in databases}
    return sizes.pop() if len(sizes) == 1 else None


def log_mb(facts: Facts, moving: Moving, seen: float | None) -> float | None:
    """The larger of what of the logs is in memory (`seen`) and what five minutes write; `None` where neither is known.

    Where pages were not counted, each write is at least one.
    """
    page, databases = page_kb(facts), set(moving.databases)
    rows = [row for row in activity(facts) if row.database in databases and (row.object_name or "").lower() == LOG]
    pages = [(row.pages_written if known(row.pages_written) else row.physical_writes, row.seconds) for row in rows]
    written = [count / seconds for count, seconds in pages if known(count) and seconds]
    found = [] if seen is None else [seen]
    if page and len(written) == len(rows) and written:
        found.append(sum(written) * 60 * MINUTES * page / 1024)
    elif page and not found and (allocated := log_pages(facts)):
        found.append(allocated * 60 * MINUTES * page / 1024)
    return max(found, default=None)


def log_pages(facts: Facts) -> float | None:
    """Log pages a second that sp_sysmon counts as allocated in all databases: no single one can have had more."""
    one, seconds = facts.also(LogWrites).latest(LogWrites), seconds_of(facts.also(SysmonSample))
    return one.pages / seconds if one and seconds and known(one.pages) else None
