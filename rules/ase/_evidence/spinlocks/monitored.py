"""The spinlocks of SAP ASE as `monSpinlockActivity` counts them: by name, with spins, and which of it to believe.

One name may have several rows: a cache's partitions, an engine's queue. A name's figure is the sum of its rows, and
its hottest row is kept beside it, because a hot partition hides in a sum. Where there are rows of an interval those
since boot are not looked at: two kinds of figures are never mixed.

Rank by spins, not by per cent: 40 % of 100 grabs is nothing, 4 % of 100,000 may be an engine's time (SAP wiki,
"Spinlocks and CPU usage in SAP ASE"). What one spin costs depends on the processor and is in no source, so no cost in
processors is made of it.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from collectors.facts import NOT_MEASURED, Facts, Source, known
from collectors.facts.ase import MonSpinlockActivity
from collectors.facts.ase.monitoring import QUEUES
from rules.ase._evidence.server import all_slots
from rules.ase._evidence.spinlocks.entries import without_index
from rules.ase._evidence.times import (
    IN_FULL,
    Span,
    caveat,
    span_of,
    when,
)
from rules.finding import Evidence, Untrusted
from rules.resets import RESET

ADDRESS, PAGE_ROW, TABLE = "addrlockspins", "fglockspins", "tablockspins"
OBJECT, INDEX, INDEX_HASH = "Des Upd Spinlocks", "Ides Spinlocks", "Ides Chain Spinlocks"
PARTITION, PARTITION_HASH = "Pdes Spinlocks", "Pdes Chain Spinlocks"
OBJECT_MANAGER = "Resource->rdesmgr_spin"
USER_LOG_CACHE = "User Log Cache Spinlocks"
PROCEDURE_CACHE, PROCEDURE_MANAGER = "Resource->rproccache_spin", "Resource->rprocmgr_spin"
STATEMENT_CACHE = "SSQLCACHE_SPIN"
RUN_QUEUE_OLD, RUN_QUEUE = "Kernel->erunqspinlock", "Kernel->kprunqspinlock"
SCHEDULER = QUEUES
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


def in_words(count: float) -> str:
    """A count for reading, rounded to three digits from a hundred thousand on: `23.7 billion`; the evidence has all."""
    for size, word in ((1e12, "trillion"), (1e9, "billion"), (1e6, "million")):
        if count >= size:
            return f"{count / size:.3g} {word}"
    return f"{count:,.0f}" if count < 100_000 else f"{round(count, -3):,.0f}"


def share_in_words(percent: float) -> str:
    """A per cent for reading: three digits, two where it is less than one; the evidence has all."""
    return f"{percent:.3g}" if percent >= 1 else f"{percent:.2g}"


@dataclass(frozen=True)
class Spinlock:
    """All rows of one name."""

    name: str
    rows: tuple[MonSpinlockActivity, ...]
    all_spins: float
    """Of every spinlock of the table: what this one's are held against."""
    cut: bool = False
    """Whether the list is seen to lack rows, so that these are not all."""

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
    def of_all(self) -> str:
        """What its share of the spins is one of."""
        return "of the spins listed" if self.cut else "of all spins"

    @property
    def spins_per_wait(self) -> float | None:
        """Turns of the loop for each wait; `None` without waits."""
        return self.spins / self.waits if self.waits else None

    @cached_property
    def _used(self) -> list[MonSpinlockActivity]:
        """Rows with at least a tenth of the grabs of the mean row: 4 waits of 10 grabs would be no hot partition."""
        mean = self.grabs / len(self.rows)
        return [row for row in self.rows if known(row.grabs) and 10.0 * row.grabs >= mean]

    @property
    def hottest(self) -> MonSpinlockActivity:
        """The row with the highest share of waits, of those that are used."""
        return max(self._used, key=lambda row: row.waited_percent or 0.0)

    @property
    def coldest(self) -> MonSpinlockActivity:
        """The row with the lowest share of waits, of those that are used."""
        return min(self._used, key=lambda row: row.waited_percent or 0.0)

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
    def span(self) -> Span | None:
        """Between which lengths that time lies, where rates can be made of it."""
        return span_of(self.rows[0])

    def rates(self, count: float) -> Span | None:
        """The least and the most it can be per second: the same where the times are printed with their seconds."""
        return (count / self.span[1], count / self.span[0]) if self.span else None

    def per_engine(self, engines: int | None) -> float | None:
        """Spins per second and engine, at least; `None` without times or engines."""
        rates = self.rates(self.spins)
        return rates[0] / engines if rates and engines else None

    def open_per_engine(self, engines: int | None, bound: float) -> str:
        """Say that the times leave open on which side of a limit its spins per second and engine are; else nothing."""
        rates = self.rates(self.spins)
        if not (rates and engines and rates[0] / engines < bound <= rates[1] / engines):
            return ""
        least, most = rates[0] / engines, rates[1] / engines
        return f"{least:,.0f} to {most:,.0f} spins a second and engine, limit {bound:,.0f}: {IN_FULL}"

    @property
    def when(self) -> str:
        """What time the counts cover, as the end of a sentence."""
        return when(self.rows[0])

    @property
    def caveat(self) -> str:
        """What must be said beside a figure of that time, as a sentence; nothing where it is known."""
        return caveat(self.rows[0])

    @property
    def counted(self) -> str:
        """Spins, their share, spins for each wait, and its hottest row, as a sentence; nothing without their column."""
        if not any(known(row.spins) for row in self.rows):
            return ""
        said = f"{self.name} spun {in_words(self.spins)} times {self.when}"
        share = self.spins_share
        said += f", {share:.0f} % {self.of_all}" if share and share >= 9.5 else ""
        said += f", {share:.2g} % {self.of_all}" if share is not None and share < 9.5 else ""
        said += f", {in_words(self.spins_per_wait)} for each wait" if self.spins_per_wait is not None else ""
        hot = self.hottest.waited_percent
        if len(self.rows) > 1 and hot is not None:
            said += f"; the hottest of its {len(self.rows)} rows is {share_in_words(hot)} % contended"
        return f"{said}."

    @property
    def counted_waits(self) -> str:
        """The same with the share of its grabs that waited."""
        return f"{self.counted.rstrip('.')}; {share_in_words(self.percent or 0.0)} % of its grabs had to wait."

    @property
    def source(self) -> Source:
        """Where its hottest row stands."""
        return self.hottest.source

    def evidence(self, percent_limit: float | None = None) -> Iterator[Evidence]:
        """Its figures, as proof: contention, spins and their share, and partitions where there are several rows."""
        if self.percent is not None:
            yield Evidence(f"{self.name} contention", round(self.percent, 2), "%", self.source, percent_limit)
        yield from self.cost_evidence(percent_limit)

    def cost_evidence(self, percent_limit: float | None = None) -> Iterator[Evidence]:
        """The same without the contention of all its rows together."""
        yield Evidence(f"{self.name} spins", self.spins, "", self.source)
        if self.spins_share is not None:
            yield Evidence(f"{self.name} share {self.of_all}", round(self.spins_share, 1), "%", self.source)
        hot, cold = self.hottest.waited_percent, self.coldest.waited_percent
        if len(self.rows) > 1 and hot is not None and cold is not None:
            yield Evidence(f"hottest of {len(self.rows)} rows", round(hot, 2), "%", self.hottest.source, percent_limit)
            yield Evidence(f"coldest of {len(self.rows)} rows", round(cold, 2), "%", self.coldest.source)


def spinlocks_by_name(facts: Facts) -> Mapping[str, Spinlock]:
    """Every spinlock whose counts can be believed, by name; empty where the table was not collected."""
    return facts.once(MonSpinlockActivity, _by_name)


def _by_name(facts: Facts) -> Mapping[str, Spinlock]:
    rows = [row for row in _rows(facts) if row.believed and known(row.grabs) and not _impossible(row)]
    everything = sum(row.spins for row in rows if known(row.spins))
    found: dict[str, list[MonSpinlockActivity]] = {}
    for row in rows:
        found.setdefault(row.name, []).append(row)
    cut = not all_slots(rows)
    return {name: Spinlock(name, tuple(of_name), everything, cut) for name, of_name in found.items()}


def _by_plain_name(facts: Facts) -> Mapping[str, Spinlock]:
    """The spinlocks of arrays; all that are listed of one array are one, as the slots of a cache are."""
    found: dict[str, list[Spinlock]] = {}
    for name, lock in spinlocks_by_name(facts).items():
        if (plain := without_index(name)) != name:
            found.setdefault(plain, []).append(lock)
    return {
        name: of_array[0]
        if len(of_array) == 1
        else replace(of_array[0], name=name, rows=tuple(row for one in of_array for row in one.rows))
        for name, of_array in found.items()
    }


def dearest(facts: Facts) -> Spinlock | None:
    """The spinlock with the most spins of an interval, the scheduler's queues left out."""
    locks = [one for one in spinlocks_by_name(facts).values() if one.of_interval and one.name not in SCHEDULER]
    return max(locks, key=lambda one: one.spins, default=None)


def names_read(facts: Facts) -> set[str]:
    """Every name the table shows, whether or not its counts can be believed."""
    return {row.name for row in _rows(facts)}


def spinlock_named(facts: Facts, name: str) -> Spinlock | None:
    """One spinlock; a name printed with `[i]`, or with its number in an array, counts as the same."""
    return spinlocks_by_name(facts).get(name) or facts.once(MonSpinlockActivity, _by_plain_name).get(name)


def not_believed(facts: Facts, name: str) -> Untrusted | None:
    """Say so where the rows of this name are there and none of them can be believed."""
    rows = _named(facts, name)
    if not rows or any(row.believed and not _impossible(row) for row in rows):
        return None
    return Untrusted(f"{name}: {say_doubt('negative' if _impossible(row) else row.certificate for row in rows)}")


def all_in_doubt(facts: Facts) -> Untrusted | None:
    """Say so where the table was collected for an interval and not one of its rows can be believed."""
    rows = [row for row in _rows(facts) if row.grabs is not NOT_MEASURED]
    if not rows or any(row.believed and not _impossible(row) for row in rows):
        return None
    doubts = ("negative" if _impossible(row) else row.certificate for row in rows)
    return Untrusted(f"monSpinlockActivity: {say_doubt(doubts)}")


def not_measured(facts: Facts, name: str) -> bool:
    """Whether the rows of this name are there and hold nothing, because the switch is off."""
    rows = _named(facts, name)
    return bool(rows) and all(row.grabs is NOT_MEASURED for row in rows)


def _named(facts: Facts, name: str) -> list[MonSpinlockActivity]:
    return [row for row in _rows(facts) if name in (row.name, without_index(row.name))]


def _impossible(row: MonSpinlockActivity) -> bool:
    """Whether a count is below zero, or there are more waits than grabs."""
    counts = [count for count in (row.grabs, row.waits, row.spins) if known(count)]
    return any(count < 0 for count in counts) or (known(row.waits) and known(row.grabs) and row.waits > row.grabs)


WHY_NOT = {
    "reset": RESET,
    "other instance": "the two snapshots are of different servers or instances",
    "ambiguous": "a counter may have wrapped more than once, or rows cannot be told apart: take them closer together",
    "negative": "a count is negative, or more waits than grabs are counted: a counter wrapped or was cleared",
}


def say_doubt(certificates: Iterable[str | None]) -> str:
    """Say why counters cannot be believed."""
    said = [WHY_NOT.get(one or "", one or "") for one in certificates]
    return "; ".join(dict.fromkeys(filter(None, said)))


def _rows(facts: Facts) -> list[MonSpinlockActivity]:
    """Rows of an interval, else those since boot; of two readings of the same row the later."""
    rows = facts.every(MonSpinlockActivity)
    rows = [row for row in rows if row.of_interval] or rows
    found: dict[tuple[int | None, str], dict[tuple[int | None, int], MonSpinlockActivity]] = {}
    for row in rows:
        of_name = found.setdefault((row.instance, row.name), {})
        if row.slot is None and not row.nth:
            of_name.clear()  # another reading begins: rows that nothing tells apart are of one reading together
        of_name[row.slot, row.nth] = row
    return [row for of_name in found.values() for row in of_name.values()]
