"""Which tables of SAP ASE have lock waits, and what kinds of locks are waited for, as far as exports name them."""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field

from collectors.facts import Fact, Facts, Source, known
from collectors.facts.ase import (
    HeldLock,
    IndexSize,
    LockRequests,
    MonOpenObjectActivity,
    MonProcessWaits,
    TableScheme,
)
from rules.ase._evidence.objects.seen import (
    activity,
    is_system,
    name_of,
    schemes,
    table_key,
)
from rules.ase._evidence.waits.chains import of_last_file
from rules.ase._evidence.waits.events import LOCKS
from rules.finding import Evidence

TABLE_FACTS: tuple[type[Fact], ...] = (MonOpenObjectActivity, TableScheme, IndexSize, LockRequests, MonProcessWaits)
NAMED = 3
SAID = 2
"""Tables that the sentence names; the evidence has them all."""
LEAST_PERCENT = 5.0
"""This project: tables with a smaller part of the waits are not named."""
LEAST_WAITING = 2
"""This project: one lock that is waited for is a moment's chance."""
LAST_PAGES = "Last Page Locks on Heaps"
"""Counted among the page locks, too."""


@dataclass
class Waiting:
    """One table with its lock waits."""

    row: MonOpenObjectActivity
    waits: float = 0.0
    requests: float = 0.0
    by_index: dict[int, float] = field(default_factory=dict)
    share: float = 0.0
    """Of the lock waits of all tables, per cent."""
    scheme: str | None = None
    kind: str = ""
    """The lock type that most of them are for (`EX_ROW`), where sp_object_stats counts them and no export by index."""

    @property
    def name(self) -> str:
        """`database.owner.table`, as far as exports say it."""
        return name_of(self.row)

    @property
    def system(self) -> bool:
        """Whether it is the server's own, or temporary: nothing is to be changed about it."""
        return is_system(self.row) or "tempdb" in (self.row.database or "").lower()


def waiting_tables(facts: Facts) -> list[Waiting]:
    """Tables by lock waits of the interval, most first; none where only totals since the start were collected."""
    found: dict[Hashable, Waiting] = {}
    for row in activity(facts):
        waits, requests = row.lock_waits, row.lock_requests
        if not row.of_interval or not known(waits) or waits <= 0:
            continue
        one = found.setdefault(table_key(row), Waiting(row))
        one.waits += waits
        one.requests += requests if known(requests) else 0.0
        if waits >= max(one.by_index.values(), default=0.0):
            one.row = row
        one.by_index[row.index_id] = one.by_index.get(row.index_id, 0.0) + waits
    whole = sum(one.waits for one in found.values())
    listed = schemes(facts)
    for key, one in found.items():
        one.share = 100.0 * one.waits / whole
        scheme = listed.get(key)
        one.scheme = scheme.scheme if scheme else None
    ranked = sorted(found.values(), key=lambda one: (-one.waits, one.name))
    return [one for one in ranked if one.share >= LEAST_PERCENT][:NAMED]


def locks_table(lock: HeldLock, row: MonOpenObjectActivity) -> bool:
    """Whether a lock is one on this table, by number or name."""
    same = lock.database == row.database or (lock.db_id is not None and lock.db_id == row.db_id)
    by_number = lock.object_id is not None and lock.object_id == row.object_id
    return same and (by_number or (lock.object_name is not None and lock.object_name == row.object_name))


@dataclass(frozen=True)
class PageLocked:
    """A table that locks rows, while most of those who wait for locks on it wait for one on a whole page."""

    lock: HeldLock | None
    """The first that is waited for; `None`: sp_sysmon counts them, and no export shows the locks of a moment."""
    number: float
    """Locks on pages that are waited for at that moment, or waits for such locks in the sample of sp_sysmon."""
    gap: TableScheme | None
    """Where the numbers of its IDENTITY column are taken one by one; `None`: they are not, or nobody listed it."""
    listed: bool
    """Whether `identity_gap` was collected."""
    source: Source


def page_locked(facts: Facts, table: Waiting) -> PageLocked | None:
    """The page locks of a table that locks rows, where they are most of what is waited for on it.

    By the locks of a moment where these show tasks that wait for it, else by the counts of sp_sysmon.
    """
    if table.scheme != "datarows" or table.system:
        return None
    named = [one for one in facts.every(TableScheme) if one.table == table.row.object_name]
    listed = [one for one in named if known(one.identity_gap)]
    gap = next((one for one in listed if one.identity_gap == 1), None)
    waiting = [one for one in of_last_file(facts.every(HeldLock)) if one.waiting and locks_table(one, table.row)]
    if len(waiting) < LEAST_WAITING:
        return _pages_counted(facts, table, gap, listed=bool(listed))
    pages = [one for one in waiting if one.level == "page"]
    if len(pages) < LEAST_WAITING or 2 * len(pages) <= len(waiting):
        return None
    return PageLocked(pages[0], len(pages), gap, bool(listed), pages[0].source)


def _pages_counted(facts: Facts, table: Waiting, gap: TableScheme | None, *, listed: bool) -> PageLocked | None:
    """The same by sp_sysmon, which counts all tables together.

    With a share of all waits for this table and a share of them for pages, the waits for its pages are at least the sum
    of both less the whole: most of all waits must be.
    """
    counted = _waits_by_kind(facts)
    pages = {kind: one for kind, one in counted.items() if kind.endswith(" Page")}
    whole, waits = (sum(count for count, _ in found.values()) for found in (counted, pages))
    if not waits or table.share + 100.0 * waits / whole - 100.0 <= 50.0:
        return None
    return PageLocked(None, waits, gap, listed, max(pages.values(), key=lambda one: one[0])[1])


def say_tables(facts: Facts, tables: list[Waiting], kinds: list[tuple[str, float, Source]]) -> str:
    """Name the first of them, where most of the waits of each are, and the type of lock that is waited for most."""
    named = "; ".join(_say_table(facts, one) for one in tables[:SAID])
    kind = f"; by type most are for {kinds[0][0]} {kinds[0][1]:,.0f}" if kinds else ""
    return f"Lock waits by table: {named}{kind}."


def _say_table(facts: Facts, one: Waiting) -> str:
    index = max(one.by_index, key=lambda number: one.by_index[number], default=0)
    where = one.kind or (f"index {_index_name(facts, one, index)}" if index else "its data")
    scheme = f", {one.scheme}" if one.scheme else ""
    return f"{one.name}{scheme}: {one.waits:,.0f} waits, {one.share:.0f} % of those booked to tables, most for {where}"


def _index_name(facts: Facts, one: Waiting, index: int) -> str:
    names = {(table_key(size), size.index_id): size.index_name for size in facts.every(IndexSize)}
    return names.get((table_key(one.row), index)) or str(index)


def table_evidence(tables: list[Waiting]) -> Iterator[Evidence]:
    """The waits of each, with its line."""
    for one in tables:
        yield Evidence(f"lock waits of {one.name}", one.waits, "", one.row.source)


def _waits_by_kind(facts: Facts) -> dict[str, tuple[float, Source]]:
    """How often each type of lock was waited for by sp_sysmon, with its line."""
    latest = {one.lock_type: one for one in facts.every(LockRequests) if one.lock_type != LAST_PAGES}
    return {kind: (one.waited, one.source) for kind, one in latest.items() if known(one.waited)}


def lock_kinds(facts: Facts) -> list[tuple[str, float, Source]]:
    """The types of locks that sp_sysmon counts most waits for, each with its count; most first."""
    found = [(kind, float(count), source) for kind, (count, source) in _waits_by_kind(facts).items() if count > 0]
    return sorted(found, key=lambda one: -one[1])[:NAMED]


def mostly_address(facts: Facts) -> bool:
    """Whether more than half of the lock waits that sp_sysmon counts are for address locks."""
    waits = {kind: count for kind, (count, _) in _waits_by_kind(facts).items()}
    address = sum(count for kind, count in waits.items() if kind.endswith("Address"))
    return 2 * address > sum(waits.values())


def waiting_sessions(facts: Facts) -> Iterator[Evidence]:
    """The sessions that waited longest for locks in the interval, by `monProcessWaits`."""
    rows = [row for row in facts.every(MonProcessWaits) if row.of_interval and row.believed and row.event in LOCKS]
    fits: list[tuple[float, MonProcessWaits]] = []
    for row in rows:
        time = row.wait_milliseconds
        if row.seconds and known(time) and 0 < time <= 1000 * row.seconds:  # one task: more is of the time before
            fits.append((time / 1000, row))
    for seconds, row in sorted(fits, key=lambda one: -one[0])[:NAMED]:
        yield Evidence(f"SPID {row.spid} waited for locks", round(seconds, 1), "s", row.source)
