"""Who waits for locks of SAP ASE, by group of lock types, and how many of the changed rows are in allpages tables.

sp_sysmon prints a total beside granted and waited; where they do not add up the report is damaged. A row left out
below a type means zero; a type that is not printed at all was cut off.
"""

from dataclasses import dataclass

from collectors.facts import ABSENT, OVERFLOW, Facts, Source, known, number_or
from collectors.facts.ase import LockRequests, RowsChanged
from rules.finding import Untrusted

OPERATIONS = ("Inserts", "Updates", "Deletes")


@dataclass(frozen=True)
class Waits:
    """Requests of one group of lock types, and how many of them waited."""

    what: str
    waited: float
    total: float
    source: Source

    @property
    def percent(self) -> float:
        """Share that waited."""
        return 100.0 * self.waited / self.total if self.total else 0.0


@dataclass(frozen=True)
class Share:
    """Changed rows, and those of them in allpages tables."""

    allpages: float
    changed: float
    source: Source

    @property
    def percent(self) -> float:
        """Share in allpages tables."""
        return 100.0 * self.allpages / self.changed if self.changed else 0.0


def waits_of(facts: Facts, what: str, types: tuple[str, ...]) -> Waits | Untrusted | None:
    """Add up one group; `None` where not every type of it was printed to its end."""
    found = [lock for lock_type in types if (lock := facts.latest(LockRequests, lock_type=lock_type))]
    if len(found) < len(types):
        return None
    if any(lock.waited is ABSENT and lock.total is ABSENT for lock in found):
        return None
    waited = total = 0.0
    for lock in found:
        if OVERFLOW in (lock.granted, lock.waited, lock.total):
            return Untrusted(f"{lock.lock_type}: a count is printed as asterisks")
        granted, late = number_or(lock.granted, 0.0), number_or(lock.waited, 0.0)
        both = number_or(lock.total, granted + late)
        if min(granted, late, both) < 0:
            return Untrusted(f"{lock.lock_type}: a negative count: a counter wrapped or was cleared")
        if late > both or (known(lock.granted) and abs(both - granted - late) > 1):
            return Untrusted(f"{lock.lock_type}: {granted:.0f} granted and {late:.0f} waited are not {both:.0f}")
        waited, total = waited + late, total + both
    return Waits(what, waited, total, span([lock.source for lock in found]))


def allpages_share(facts: Facts) -> Share | Untrusted | None:
    """Share of the changed rows that live in allpages tables; `None` where no change was printed."""
    ways = {(r.operation, r.way, r.logging): r for r in facts.every(RowsChanged) if r.operation in OPERATIONS}
    rows = list(ways.values())
    if not rows:
        return None
    if any(row.count is OVERFLOW or number_or(row.count, 0.0) < 0 for row in rows):
        return Untrusted("rows changed: a count is negative or printed as asterisks")
    allpages = sum(number_or(row.count, 0.0) for row in rows if row.allpages)
    return Share(allpages, sum(number_or(row.count, 0.0) for row in rows), span([row.source for row in rows]))


def span(sources: list[Source]) -> Source:
    """From the first line to the last, of the file the last is in."""
    same = [source for source in sources if source.file == sources[-1].file]
    return Source(same[-1].file, min(source.first for source in same), max(source.last for source in same))
