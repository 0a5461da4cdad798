"""The spinlocks of SAP ASE as `monSpinlockActivity` counts them: by name, with spins, and which of it to believe.

One name may have several rows: a cache's partitions, an engine's queue. A name's figure is the sum of its rows, and
its hottest row is kept beside it, because a hot partition hides in a sum. Where there are rows of an interval those
since boot are not looked at: two kinds of figures are never mixed.

Rank by spins, not by per cent: 40 % of 100 grabs is nothing, 4 % of 100,000 may be an engine's time (SAP wiki,
"Spinlocks and CPU usage in SAP ASE"). What one spin costs depends on the processor and is in no source, so no cost in
processors is made of it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from collectors.facts import Facts, Source, known
from collectors.facts.ase import MonSpinlockActivity
from rules.finding import Evidence, Untrusted

ADDRESS, PAGE_ROW, TABLE = "addrlockspins", "fglockspins", "tablockspins"
OBJECT, INDEX, INDEX_HASH = "Des Upd Spinlocks", "Ides Spinlocks", "Ides Chain Spinlocks"
PARTITION, PARTITION_HASH = "Pdes Spinlocks", "Pdes Chain Spinlocks"
OBJECT_MANAGER = "Resource->rdesmgr_spin"
OF_HASHTABLE = {"address": ADDRESS, "page and row": PAGE_ROW, "table": TABLE}
"""By `LockHashtable.table`."""
OF_METADATA = {
    "Object Manager": OBJECT_MANAGER,
    "Object": OBJECT,
    "Index": INDEX,
    "Index Hash": INDEX_HASH,
    "Partition": PARTITION,
    "Partition Hash": PARTITION_HASH,
}
"""By `MetadataSpinlock.name`."""
BUFFERS = "bufspin "
"""Before the name of a cache: the spinlocks of its buffer headers (16.0)."""


@dataclass(frozen=True)
class Spinlock:
    """All rows of one name."""

    name: str
    rows: tuple[MonSpinlockActivity, ...]
    all_spins: float
    """Of every spinlock of the table: what this one's are held against."""

    def _sum(self, field: str) -> float:
        return sum(value for row in self.rows if known(value := getattr(row, field)))

    @cached_property
    def grabs(self) -> float:
        """Attempts, those that waited included."""
        return self._sum("grabs")

    @cached_property
    def waits(self) -> float:
        """Grabs that waited."""
        return self._sum("waits")

    @cached_property
    def spins(self) -> float:
        """Turns of the waiting loop."""
        return self._sum("spins")

    @property
    def percent(self) -> float | None:
        """Share of the grabs that waited; `None` without grabs."""
        return 100.0 * self.waits / self.grabs if self.grabs else None

    @property
    def spins_share(self) -> float | None:
        """Share of all spins of all spinlocks, per cent; `None` where nothing spun at all."""
        return 100.0 * self.spins / self.all_spins if self.all_spins else None

    @property
    def hottest(self) -> MonSpinlockActivity:
        """The row with the highest share of waits."""
        return max(self.rows, key=lambda row: row.waited_percent or 0.0)

    @property
    def coldest(self) -> MonSpinlockActivity:
        """The row with the lowest share of waits."""
        return min(self.rows, key=lambda row: row.waited_percent or 0.0)

    @property
    def of_interval(self) -> bool:
        """Whether the counts are of an interval, and not since boot."""
        return self.rows[0].of_interval

    @property
    def seconds(self) -> float | None:
        """Length of the interval, or since boot; `None` where the export has no times."""
        return self.rows[0].seconds

    def rate(self, count: float) -> float | None:
        """A count per second; `None` where the export has no times."""
        return count / self.seconds if self.seconds else None

    @property
    def when(self) -> str:
        """What time the counts cover, as the end of a sentence."""
        if not self.of_interval:
            return "since the server started or its counters were cleared"
        return f"in {self.seconds:,.0f} s" if self.seconds else "between two snapshots without times"

    @property
    def source(self) -> Source:
        """Where its hottest row stands."""
        return self.hottest.source

    def evidence(self, percent_limit: float | None = None) -> Iterator[Evidence]:
        """Its figures, as proof: contention, spins and their share, and partitions where there are several rows."""
        if self.percent is not None:
            yield Evidence(f"{self.name} contention", round(self.percent, 2), "%", self.source, percent_limit)
        yield Evidence(f"{self.name} spins", self.spins, "", self.source)
        if self.spins_share is not None:
            yield Evidence(f"{self.name} share of all spins", round(self.spins_share, 1), "%", self.source)
        hot, cold = self.hottest.waited_percent, self.coldest.waited_percent
        if len(self.rows) > 1 and hot is not None and cold is not None:
            yield Evidence(f"hottest of {len(self.rows)} rows", round(hot, 2), "%", self.hottest.source, percent_limit)
            yield Evidence(f"coldest of {len(self.rows)} rows", round(cold, 2), "%", self.coldest.source)


def spinlocks_by_name(facts: Facts) -> dict[str, Spinlock]:
    """Every spinlock whose counts can be believed, by name; empty where the table was not brought."""
    rows = [row for row in _rows(facts) if row.believed and known(row.grabs)]
    everything = sum(row.spins for row in rows if known(row.spins))
    found: dict[str, list[MonSpinlockActivity]] = {}
    for row in rows:
        found.setdefault(row.name, []).append(row)
    return {name: Spinlock(name, tuple(of_name), everything) for name, of_name in found.items()}


def spinlock_named(facts: Facts, name: str) -> Spinlock | None:
    """One spinlock; a name printed with `[i]` behind it counts as the same."""
    locks = spinlocks_by_name(facts)
    return locks.get(name) or locks.get(f"{name}[i]")


def not_believed(facts: Facts, name: str) -> Untrusted | None:
    """Say so where the rows of this name are there and none of them can be believed."""
    rows = [row for row in _rows(facts) if row.name in (name, f"{name}[i]")]
    if not rows or any(row.believed for row in rows):
        return None
    return Untrusted(f"{name}: {say_doubt(row.certificate for row in rows)}")


WHY_NOT = {
    "reset": "the server was restarted or its counters were cleared between the snapshots",
    "other instance": "the two snapshots are of different servers or instances",
    "ambiguous": "a counter may have wrapped more than once, or rows cannot be told apart: take them closer together",
}


def say_doubt(certificates: Iterable[str | None]) -> str:
    """Say why counters cannot be believed."""
    said = [WHY_NOT.get(one or "", one or "") for one in certificates]
    return "; ".join(dict.fromkeys(filter(None, said)))


def _rows(facts: Facts) -> list[MonSpinlockActivity]:
    """Rows of an interval, else those since boot; of two readings of the same row the later."""
    rows = facts.every(MonSpinlockActivity)
    rows = [row for row in rows if row.of_interval] or rows
    return list({(row.instance, row.name, row.slot, row.rows): row for row in rows}.values())
