"""Which tables of SAP ASE to take to a data-only lock scheme, where exports name them.

Three exports name tables: sp_object_stats (requests and waits), monOpenObjectActivity (the same, by index) and the
listing of lock schemes, without which nothing may be altered. Address locks are taken on index pages of allpages
tables only, so while they contend, those with the most index traffic are the cause even if the table's own locks are
not waited for.
"""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass

from collectors.facts import Facts, Reading, Source, known, number_or
from collectors.facts.ase import (
    IndexKeys,
    IndexSize,
    LockRequests,
    MonCachedObject,
    MonOpenObjectActivity,
    ObjectLockContention,
    TableScheme,
    WithoutIndexes,
)
from rules.ase._evidence.objects.indexes import indexes_of, without_indexes
from rules.ase._evidence.objects.seen import (
    SYSTEM_NAMES,
    activity,
    schemes,
    sizes,
    table_key,
)
from rules.ase._evidence.waits.tables import Waiting
from rules.changes.ase_table import SYSTEM_DATABASES, NotConvertible, Pages, alter_lock_scheme
from rules.changes.quoting import bare_table, comment
from rules.finding import Change, Evidence

USES = (
    MonOpenObjectActivity, ObjectLockContention, TableScheme, IndexSize, MonCachedObject, LockRequests, IndexKeys,
    WithoutIndexes,
)  # fmt: skip
CATALOGUE = "datapages to datarows changes the catalogue only, a matter of seconds, without a copy or a dump"
COPY = "an exclusive lock, a copy of the table{0} and a full dump afterwards"
ROOM = " (at least {0:,.0f} MB free, `select into/bulkcopy/pllsort` on)"
LATER = ", and on to datarows in seconds if 15 % of the requests still wait"
MOST_BOOKED = 50.0
"""This project: per cent of the lock waits of allpages tables, from which on a table is named for them."""
SAID = 2
"""Tables that a sentence names."""
ALLPAGES, DATAPAGES, DATAROWS = "allpages", "datapages", "datarows"
INSERTS_PERCENT = 90.0
"""Inserts among the changes of a heap, per cent, from which on its waits are taken to be at its last page (this
project: updates and deletes lock pages anywhere in it; no source gives a share)."""
WITH_LAST_PAGES_PERCENT = 50.0
"""The same where last pages of heaps are shown to be waited for (this project: at least half)."""


@dataclass(frozen=True)
class Bounds:
    """From which figures on a table is named."""

    contention_percent: float
    waits_per_second: float
    index_share_percent: float
    least_waits: float
    """Waits of one table, where nothing says over how long, under which a share of them is of little."""
    pages_quiet: bool = False
    """Whether sp_sysmon shows fewer waits for page locks in the whole server than one table must have."""


@dataclass(frozen=True)
class Table:
    """One table, why it is named, and where to take it."""

    scheme: TableScheme
    to: str
    why: str
    value: float
    unit: str
    source: Source
    limit: float
    weight: float
    """For the order: waits, or index traffic."""
    of_interval: bool = True
    """Whether that was counted between two moments, and not since the server started."""
    waits: bool = True
    """Whether its own locks are waited for; else only the address locks of its indexes are many."""
    little: str = ""
    """Why its share is of little, as the end of a sentence: then nothing is to be altered."""

    @property
    def name(self) -> str:
        """`database.owner.table`, as far as the listing says."""
        return f"{self.scheme.database or '?'}.{self.scheme.owner or ''}.{self.scheme.table}"

    def change(self, facts: Facts) -> Change | None:
        """The change; `None` where the listing names no database, or the table must not be altered."""
        if not self.scheme.database or not self.scheme.owner:
            return None
        try:
            return alter_lock_scheme(
                database=self.scheme.database,
                owner=self.scheme.owner,
                table=self.scheme.table,
                old=self.scheme.scheme,
                new=self.to,
                object_id=self.scheme.object_id,
                pages=pages_of(facts, self.scheme),
            )
        except NotConvertible:
            return None


def pages_of(facts: Facts, scheme: TableScheme) -> Pages:
    """What the table takes now, by the listing of sizes, else by monCachedObject, else by sp_spaceused.

    sp_spaceused names no database as a rule: it counts where only one table has the name, and it says the data alone.
    """
    listed, key = sizes(facts).of, table_key(scheme)
    found = {index: kb for (table, index), kb in listed.items() if table == key}
    if not found:
        alike = {table for table, _ in listed if _same_table(table, scheme)}
        namesakes = {
            table_key(one)
            for one in schemes(facts).values()
            if one.table.lower() == scheme.table.lower() and one.database
        }
        others = [one for one in facts.every(IndexSize) if one.owner and scheme.owner and one.owner != scheme.owner]
        another = any(one.table.lower() == scheme.table.lower() for one in others)
        if len(alike) == 1 and len(namesakes | {key}) == 1 and not another:
            return Pages(sum(kb for (table, index), kb in listed.items() if table in alike and index <= 1) or None)
        return Pages()
    data = [kb for index, kb in found.items() if index <= 1]
    indexes = [kb for index, kb in found.items() if index > 1]
    return Pages(sum(data) if data else None, sum(indexes))


def _same_table(key: Hashable, scheme: TableScheme) -> bool:
    """Whether a size belongs to this table by its names alone, in whatever case and with or without the database."""
    if not isinstance(key, tuple) or not isinstance(key[1], str):
        return False
    database, table = key[0], str(key[1])
    same = database is None or str(database).lower() == (scheme.database or "").lower()
    return same and table.lower() == scheme.table.lower()


def by_most_waits(facts: Facts, most: Waiting, last_pages: bool, limit_percent: float) -> Table | None:
    """The table whose page locks most tasks wait for, whatever share of its own requests they are; else `None`."""
    scheme = schemes(facts).get(table_key(most.row))
    if scheme is None or not (to := _next(scheme, insert_point=_insert_point(facts, scheme, last_pages))):
        return None
    of = f" of its {most.requests:,.0f} lock requests" if most.requests >= most.waits else ""
    why = f"{most.waits:,.0f}{of} waited, {most.share:.0f} % of all lock waits of tables"
    return Table(scheme, to, why, round(most.share, 1), "%", most.row.source, limit_percent, most.share)


def no_allpages_tables(facts: Facts) -> TableScheme | None:
    """Any row of a listing of lock schemes that shows no user table with allpages; else `None`."""
    listed = [one for one in schemes(facts).values() if not _set_apart(one)]
    return listed[0] if listed and all(one.scheme != ALLPAGES for one in listed) else None


@dataclass(frozen=True)
class OnlyHeap:
    """The one user table with allpages of all that are listed, which can be a heap."""

    scheme: TableScheme
    size_kb: float | None

    @property
    def name(self) -> str:
        """The table, as it may stand in a text."""
        return comment(f"{self.scheme.database or ''}{'..' if self.scheme.database else ''}{self.scheme.table}")

    @property
    def step(self) -> str:
        """What to do, with what it costs."""
        size = f"{self.size_kb / 1024:,.0f} MB of data" if self.size_kb is not None else "all of it (sp_spaceused)"
        return (
            f"Take {self.name}, the only allpages table listed, to datarows (`alter table "
            f"{bare_table(self.scheme.table)} lock datarows`): it copies {size}, needs as much free space, stops the "
            "table meanwhile and asks for a full dump. Where that is too long, let the inserts go to a new datarows "
            "table."
        )


def only_heap(facts: Facts) -> OnlyHeap | None:
    """That table; `None` where several are listed, or the one has a clustered index, which is no heap."""
    found = [one for one in schemes(facts).values() if one.scheme == ALLPAGES and not _set_apart(one)]
    if len(found) != 1 or found[0].clustered:
        return None
    table = found[0].table.lower()
    kb = [one.size_kb for one in facts.every(IndexSize) if one.table.lower() == table and one.index_id == 0]
    size = kb[-1] if kb else None
    return OnlyHeap(found[0], size if size is not None and known(size) else None)


def named_tables(
    facts: Facts, bounds: Bounds, *, address_locks: bool, last_pages: bool = False, heap_waits: float = 0.0
) -> list[Table]:
    """The tables to be taken to another scheme, the worst first; each once.

    `last_pages`: whether the last pages of heaps are waited for in this server; `heap_waits`: how often, where that is
    a large part of the requests for them.
    """
    listed = schemes(facts)
    found: dict[Hashable, Table] = {}
    by_stats = _by_object_stats(facts, listed, bounds, last_pages)
    waited = [*by_stats, *_by_monitoring(facts, listed, bounds, last_pages)]
    for table in waited:
        if not table.little:
            found.setdefault(table_key(table.scheme), table)
    if address_locks:
        for table in _by_index_traffic(facts, listed, bounds):
            found.setdefault(table_key(table.scheme), table)
    for table in (*waited, *_by_last_pages(facts, listed, heap_waits)):
        if table_key(table.scheme) not in found or found[table_key(table.scheme)].little:
            found[table_key(table.scheme)] = table
    return sorted(found.values(), key=lambda one: (-one.weight, one.name))


def conversions(facts: Facts, tables: list[Table]) -> str:
    """The conversions as a sentence: a copy of an allpages table, the catalogue alone of a datapages table."""
    if not tables:
        return ""
    named = ", ".join(f"{one.name} to {one.to}" for one in tables[:SAID])
    named += f" and {len(tables) - SAID} more" if len(tables) > SAID else ""
    room = pages_of(facts, tables[0].scheme).needed_mb if len(tables) == 1 and not tables[0].change(facts) else None
    needs = (
        [COPY.format(ROOM.format(room) if room else "")]
        if any(one.scheme.scheme == "allpages" for one in tables)
        else []
    )
    needs += [CATALOGUE] if any(one.scheme.scheme != "allpages" for one in tables) else []
    on = LATER if any(one.to == "datapages" for one in tables) else ""
    times = ", one at a time" if len(tables) > 1 else ""
    return f"Convert {named}{times} at a quiet time: {'; '.join(needs)}{on}."


def _set_apart(scheme: TableScheme) -> bool:
    database = (scheme.database or "").lower()
    system = scheme.system or scheme.table.lower() in SYSTEM_NAMES
    return system or database in SYSTEM_DATABASES or "tempdb" in database


def _next(scheme: TableScheme, insert_point: bool) -> str | None:
    """The vendor's route: allpages to datapages, datapages to datarows; a heap all inserts go to, to datarows."""
    if _set_apart(scheme) or scheme.scheme not in (ALLPAGES, DATAPAGES):
        return None
    return DATAROWS if insert_point or scheme.scheme == DATAPAGES else DATAPAGES


def _by_object_stats(
    facts: Facts, listed: dict[Hashable, TableScheme], bounds: Bounds, last_pages: bool
) -> Iterator[Table]:
    worst: dict[Hashable, ObjectLockContention] = {}
    for row in facts.every(ObjectLockContention):
        key: Hashable = (row.database, row.table)
        if known(row.contention_percent) and row.contention_percent <= 100:
            before = worst.get(key)
            if before is None or _weight(row, bounds) > _weight(before, bounds):
                worst[key] = row
    for key, row in worst.items():
        scheme = listed.get(key) or _as_printed(row)
        percent = row.contention_percent
        if scheme is None or not known(percent) or percent < bounds.contention_percent:
            continue
        to = _next(scheme, insert_point=_insert_point(facts, scheme, last_pages))
        if to:
            kind = f" of type {row.lock_type}" if row.lock_type else ""
            why = f"{percent:.1f} % of its lock requests{kind} waited (sp_object_stats)"
            yield Table(
                scheme,
                to,
                why,
                percent,
                "%",
                row.source,
                bounds.contention_percent,
                percent,
                little=_little(bounds, row.waited, of_pages="ROW" not in (row.lock_type or "").upper()),
            )


def _by_last_pages(facts: Facts, listed: dict[Hashable, TableScheme], heap_waits: float) -> Iterator[Table]:
    """The heap that most waits for last pages of heaps are of, whatever share of its own requests they are.

    By the waits of sp_object_stats: of one table, and never more than the server counts of all of them in double.
    """
    for row in facts.every(ObjectLockContention):
        scheme = listed.get((row.database, row.table))
        if scheme is None or scheme.scheme != ALLPAGES or _clustered(facts, scheme) is not False or _set_apart(scheme):
            continue
        if not known(row.waited) or (row.lock_type or "").upper() != "EX_PAGE" or not heap_waits:
            continue
        if heap_waits / 2 <= row.waited <= 2 * heap_waits and _insert_point(facts, scheme, last_pages=True):
            why = f"{row.waited:,.0f} waits for EX_PAGE, beside {heap_waits:,.0f} for last pages of all heaps"
            yield Table(
                scheme, DATAROWS, why, row.waited, "", row.source, heap_waits / 2, 100 * row.waited / heap_waits
            )


def _little(bounds: Bounds, waits: Reading, *, of_pages: bool = False) -> str:
    """Why a share of the requests is of little, where no export says over how long they were counted."""
    if known(waits) and waits < bounds.least_waits:
        return f"{waits:,.0f} waits are few (limit {bounds.least_waits:,.0f})"
    if of_pages and bounds.pages_quiet:
        return f"sp_sysmon shows fewer than {bounds.waits_per_second:g} waits for page locks a second in the server"
    return ""


def _weight(row: ObjectLockContention, bounds: Bounds) -> tuple[bool, bool, float, float]:
    """By what the worst lock type of a table is chosen: 40 % of 2 waits never hide 30 % of thousands.

    Of types that are all over the limit the one with most waits is what tasks wait for, whatever its share.
    """
    few, percent = known(row.waited) and row.waited < bounds.least_waits, number_or(row.contention_percent, 0.0)
    return not few, percent >= bounds.contention_percent, number_or(row.waited, 0.0), percent


def _as_printed(row: ObjectLockContention) -> TableScheme | None:
    """sp_object_stats prints the lock scheme itself."""
    if row.scheme is None:
        return None
    return TableScheme(
        source=row.source, database=row.database, owner=row.owner, table=row.table, scheme=row.scheme.lower()
    )


def _by_monitoring(
    facts: Facts, listed: dict[Hashable, TableScheme], bounds: Bounds, last_pages: bool
) -> Iterator[Table]:
    sums: dict[Hashable, tuple[float, float, MonOpenObjectActivity]] = {}
    for row in activity(facts):
        if known(row.lock_waits) and known(row.lock_requests):
            waits, requests, _ = sums.get(table_key(row), (0.0, 0.0, row))
            sums[table_key(row)] = (waits + row.lock_waits, requests + row.lock_requests, row)
    for key, (waits, requests, row) in sums.items():
        scheme = listed.get(key)
        if scheme is None or not requests or waits > requests:
            continue
        percent = 100.0 * waits / requests
        seldom = row.seconds is not None and waits < bounds.waits_per_second * row.seconds
        to = _next(scheme, insert_point=_insert_point(facts, scheme, last_pages))
        if to and percent >= bounds.contention_percent and not seldom:
            why = f"{waits:,.0f} of its {requests:,.0f} lock requests waited"
            yield Table(
                scheme,
                to,
                why,
                round(percent, 1),
                "%",
                row.source,
                bounds.contention_percent,
                percent,
                row.of_interval,
                little=_little(bounds, waits) if row.seconds is None else "",
            )


def _by_index_traffic(facts: Facts, listed: dict[Hashable, TableScheme], bounds: Bounds) -> Iterator[Table]:
    """Allpages tables by pages asked of their indexes, where address locks are; those of index 1 hold its data, too.

    Those next to none of whose locks are waited for are left out, where the waits of the tables are as many; the one
    that most of these are booked to is named by them, as its own locks are waited for, whatever the ratio.
    """
    waited = _booked_waits(facts, listed)
    reads: dict[Hashable, tuple[float, MonOpenObjectActivity]] = {}
    for row in activity(facts):
        scheme = listed.get(table_key(row))
        if scheme is None or scheme.scheme != ALLPAGES or _set_apart(scheme):
            continue
        if 1 <= row.index_id < 255 and known(row.logical_reads):
            before, _ = reads.get(table_key(row), (0.0, row))
            reads[table_key(row)] = (before + row.logical_reads, row)
    everything = sum(count for count, _ in reads.values())
    for key, (count, row) in reads.items():
        share = 100.0 * count / everything if everything else 0.0
        scheme = listed[key]
        # it is not named for waits for its pages, so no last page is known to be wanted: the vendor's first step
        to = _next(scheme, insert_point=False)
        if waited and 100.0 * waited.get(key, 0.0) < bounds.index_share_percent * sum(waited.values()):
            continue
        if to and waited and 100.0 * waited.get(key, 0.0) >= MOST_BOOKED * sum(waited.values()):
            own, whole = waited[key], sum(waited.values())
            part, why = 100.0 * own / whole, f"{own:,.0f} of {whole:,.0f} lock waits of allpages tables are its own"
            yield Table(scheme, to, why, round(part, 1), "%", row.source, MOST_BOOKED, part, row.of_interval)
        elif to and share >= bounds.index_share_percent:
            why = f"{share:.0f} % of the pages read through indexes of allpages tables"
            yield Table(
                scheme,
                to,
                why,
                round(share, 1),
                "%",
                row.source,
                bounds.index_share_percent,
                share / 100,
                row.of_interval,
                waits=False,
            )


def _booked_waits(facts: Facts, listed: dict[Hashable, TableScheme]) -> dict[Hashable, float]:
    """Lock waits of each allpages table in the interval; none where fewer are booked than wait for address locks.

    This project: half as many as sp_sysmon counts waits for address locks; else those are not among them.
    """
    found: dict[Hashable, float] = {}
    for row in activity(facts):
        scheme = listed.get(table_key(row))
        if scheme and scheme.scheme == ALLPAGES and row.of_interval and known(row.lock_waits):
            found[table_key(row)] = found.get(table_key(row), 0.0) + row.lock_waits
    latest = {one.lock_type: one.waited for one in facts.every(LockRequests) if one.lock_type.endswith("Address")}
    address = sum(count for count in latest.values() if known(count))
    return found if address and 2 * sum(found.values()) >= address else {}


def booked_most(facts: Facts) -> tuple[str, Evidence] | None:
    """The allpages table that most of the lock waits of such tables are booked to, with its share; `None` without."""
    listed = schemes(facts)
    waited = {key: count for key, count in _booked_waits(facts, listed).items() if not _set_apart(listed[key])}
    if not waited or not (whole := sum(waited.values())):
        return None
    key = max(waited, key=lambda one: waited[one])
    share = 100.0 * waited[key] / whole
    if share < MOST_BOOKED:
        return None
    scheme = listed[key]
    row = next(one for one in reversed(activity(facts)) if table_key(one) == key)
    name = comment(f"{scheme.database or '?'}.{scheme.owner or ''}.{scheme.table}", 60)
    said = Evidence(f"share of {name} in the lock waits of allpages tables", round(share, 1), "%", row.source)
    return name, said


def _clustered(facts: Facts, scheme: TableScheme) -> bool | None:
    """Whether it has a clustered index, by its bits, else by sp_helpindex; `None`: not known.

    That names no database, nor does sp_help, so it counts where no other table that is listed has the name.
    """
    if scheme.clustered is not None:
        return scheme.clustered
    name = scheme.table.lower()
    homes = {one.database for one in facts.every(ObjectLockContention) if (one.table or "").lower() == name}
    homes |= {one.database for one in schemes(facts).values() if one.table.lower() == name}
    if len(homes - {None}) > 1:
        return None
    listed = indexes_of(facts, name)
    if listed:
        return any(one.clustered for one in listed)
    return False if without_indexes(facts, name) else None


def _insert_point(facts: Facts, scheme: TableScheme, last_pages: bool) -> bool:
    """Whether a heap whose locks wait is waited for at its last page, where all inserts go.

    `last_pages`: that the last pages of heaps are waited for, which counts of its own that are no inserts rule out.
    Where that is not shown, nearly all of its changes must be inserts: datapages is the smaller step, and the next one
    from there is a matter of seconds.
    """
    if _clustered(facts, scheme) is not False:
        return False
    rows = [row for row in activity(facts) if table_key(row) == table_key(scheme) and row.index_id == 0]
    inserted = sum(row.rows_inserted for row in rows if known(row.rows_inserted))
    changes = [row.rows_changed for row in rows if row.rows_changed is not None]
    if not changes:
        return last_pages
    least = WITH_LAST_PAGES_PERCENT if last_pages else INSERTS_PERCENT
    return inserted > 0 and 100 * inserted >= least * sum(changes)
