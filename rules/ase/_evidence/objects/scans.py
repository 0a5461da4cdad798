"""Which tables of SAP ASE are scanned so much that the scans are what their cache is searched for.

By `monOpenObjectActivity`: how often a plan read a table without an index, times its pages, and never more than all
its logical reads. Such a load no cache, binding or partition makes less: only other statements do.
"""

from dataclasses import dataclass, replace

from collectors.facts import Facts, known
from collectors.facts.ase import IndexSize, MonCachedObject, MonCachedStatement, MonOpenObjectActivity, NamedCache
from rules.ase._evidence.caches.contents import Contents, Held, contents_of
from rules.ase._evidence.objects.seen import (
    Sizes,
    activity,
    is_system,
    name_of,
    sizes,
    table_key,
)
from rules.ase._evidence.objects.statements import Used, by_text, cached, naming
from rules.ase._evidence.server import LARGEST_PAGE_KB, SMALLEST_PAGE_KB, page_kb
from rules.ase._evidence.spinlocks.monitored import spinlock_named
from rules.finding import MissingInput

WHOLE_TIMES = 2.0
"""This project: sizes are of another moment than the counts; twice the pages that were read are more than that."""
COUNTERS = ("monDataCache", "sp_sysmon")
"""What counts the searches of whole caches (`Contents.counted_by`)."""
SHARE_PERCENT, TABLE_PERCENT, LEAST_PAGES = 30.0, 5.0, 1000.0
"""This project: what `ase/table_scans_relink_cache` asks of all scans, of one table, and of its size in pages."""
STATEMENT_PERCENT = 50.0
"""This project: of a table's logical reads; a statement with less does not say how it is read."""
BESIDE = 1.02
"""This project: a mean is rounded, and is of all that the statement reads, as the pages of an index beside the scan; as
much more often than the statement ran may the table have been scanned."""
AS_SCANNED = "as often as the table was scanned"
"""When a statement ran whose executions were not counted between the snapshots, but the scans were."""
SIZES = MissingInput("sizes of the tables", IndexSize.COLLECTED_BY)
PAGE = MissingInput("logical page size", "select @@maxpagesize")
MOST_PAGES = 8.0
"""Vendor: pages that one read fetches at most, from a pool with the largest I/O size there is (System Administration
Guide 2)."""


@dataclass(frozen=True)
class Scanned:
    """What scans of one table asked of its cache."""

    row: MonOpenObjectActivity
    scans: float
    table_pages: float
    pages: float
    """Pages the scans read at most: scans × pages of the table, and never more than were read at all."""
    reads: float
    """All logical reads of the table."""

    @property
    def whole(self) -> bool:
        """Whether they can all have been scans of the whole table."""
        return self.scans * self.table_pages <= WHOLE_TIMES * self.reads

    @property
    def mean_pages(self) -> float:
        """Pages that one scan read on average, at most."""
        return min(self.table_pages, self.reads / self.scans)

    def says(self, everything: str) -> str:
        """Its figures, as a part of a sentence. `everything`: what they are a part of."""
        said = f"{name_of(self.row)}: {self.scans:,.0f} scans of {self.table_pages:,.0f} pages, at most "
        said += f"{self.pages:,.0f} of {everything}"
        if self.whole:
            return said
        return (
            f"{said}; of the whole table they would be {self.scans * self.table_pages:,.0f} pages, so they were not: "
            f"{self.mean_pages:,.0f} pages each on average, at most"
        )


@dataclass(frozen=True)
class Searches:
    """What the scans are held against."""

    number: float
    everything: str
    """What that is, with the number: `11,000,000 searches of all caches (monDataCache)`."""
    of_caches: bool
    """Whether the searches of the caches are in the export, and not only the logical reads of the listed objects."""


def searches_of(facts: Facts, listed: float) -> Searches:
    """The searches of all caches over the objects' time; where no export has them, what is listed was asked of them."""
    contents = contents_of(facts)
    if isinstance(contents, Contents) and contents.counted_by in COUNTERS and contents.total >= listed:
        number = contents.total
        return Searches(number, f"{number:,.0f} searches of all caches ({contents.counted_by})", of_caches=True)
    return Searches(listed, f"{listed:,.0f} logical reads of the listed objects", of_caches=False)


def _grabbed(facts: Facts) -> float:
    """Grabs of all caches' spinlocks over the objects' time, of which each search is one; 0 where not all are counted.

    They are more than the searches, as other work takes these spinlocks too: a share of them is the least it can be.
    """
    contents = contents_of(facts)
    if not isinstance(contents, Contents) or not contents.of_interval or not contents.seconds:
        return 0.0
    names = {*contents.searches, *(one.name for one in facts.every(NamedCache))}
    locks = [spinlock_named(facts, name) for name in names]
    counted = [one.rate(one.grabs) for one in locks if one and one.of_interval]
    rates = [rate for rate in counted if rate is not None]
    return sum(rates) * contents.seconds if len(rates) == len(names) else 0.0


def scans_of(row: MonOpenObjectActivity) -> float:
    """How often a plan read it without an index: 16.0 counts scans, earlier releases uses of index 0."""
    return row.scans if known(row.scans) else row.used_count if known(row.used_count) else 0.0


def share_of(part: float, whole: float) -> float:
    """Per cent."""
    return 100.0 * part / whole


def scanned(facts: Facts, row: MonOpenObjectActivity, known_sizes: Sizes, page: float | None) -> Scanned | None:
    """What its scans read at most; `None` where they cannot have been by its reads, or its size is not known.

    Where size or page is not known, a statement that names it can say how many pages each of its scans read.
    """
    kb = known_sizes.kb(row)
    if not known(row.logical_reads):
        return None
    if kb is None or not page:
        pages = pages_by_statement(facts, row)
    else:
        pages = None if _unread(facts, row, kb, page) else kb / page
    if pages is None:
        return None
    return Scanned(row, scans_of(row), pages, min(row.logical_reads, scans_of(row) * pages), row.logical_reads)


def reading_most(facts: Facts, row: MonOpenObjectActivity) -> Used | None:
    """The statement between the same snapshots that makes most reads of a table that its text names."""
    if not row.of_interval or not known(row.logical_reads) or row.logical_reads <= 0:
        return None
    found = [one for one in by_text(facts, [(row.database, row.object_name)]) if _of_interval(one) and one.executions]
    top = max(found, key=lambda one: one.reads or 0.0, default=None)
    if not found:
        return _by_mean(facts, row)
    return top if top and top.reads and share_of(top.reads, row.logical_reads) >= STATEMENT_PERCENT else None


def _by_mean(facts: Facts, row: MonOpenObjectActivity) -> Used | None:
    """The one cached statement whose mean reads, once for each scan of the table, are most of what was read of it.

    For a single snapshot of the statement cache: `None` where two may scan the table, or the product is more than all.
    """
    every = naming(facts, [(row.database, row.object_name)])
    scanning = [one for one in every if known(one.mean_logical_reads) and one.mean_logical_reads >= LEAST_PAGES]
    one = scanning[0] if len(scanning) == 1 else None
    if one is None or one.of_interval or not known(one.mean_logical_reads) or not known(row.logical_reads):
        return None
    scans = scans_of(row)
    if not known(one.executions) or scans > BESIDE * one.executions:
        return None
    runs = min(scans, one.executions)  # a few scans may be of others
    reads = runs * one.mean_logical_reads
    if reads > BESIDE * row.logical_reads:
        return None
    reads = min(reads, row.logical_reads)
    used = replace(cached(one, []), executions=runs, reads=reads, when=AS_SCANNED)
    return used if share_of(reads, row.logical_reads) >= STATEMENT_PERCENT else None


def _of_interval(used: Used) -> bool:
    return isinstance(used.fact, MonCachedStatement) and used.fact.of_interval


def pages_by_statement(facts: Facts, row: MonOpenObjectActivity) -> float | None:
    """Pages that one scan read, by the statement that makes most of its reads and ran about as often as it was scanned.

    `None` where none did: a table that is scanned inside a join is scanned more often than the statement runs.
    """
    top, scans = reading_most(facts, row), scans_of(row)
    if top is None or not top.executions or not top.reads or not known(row.logical_reads):
        return None
    if not top.executions <= WHOLE_TIMES * scans <= WHOLE_TIMES**2 * top.executions:
        return None
    return min(row.logical_reads / scans, top.reads / top.executions)


def _unread(facts: Facts, row: MonOpenObjectActivity, kb: float, page: float) -> bool:
    """Whether too little was read from disk for these scans: each reads anew what does not fit into the cache."""
    parts = [one for one in facts.every(MonCachedObject) if table_key(one) == table_key(row) and not one.index_id]
    cached = [one.cached_kb for one in parts if known(one.cached_kb)]
    if not cached or len(cached) < len(parts) or not known(row.physical_reads):
        return False
    reads = row.physical_reads + (row.apf_reads if known(row.apf_reads) else 0.0)
    return scans_of(row) * (kb - sum(cached)) / page > WHOLE_TIMES * MOST_PAGES * reads


def _worth(facts: Facts) -> tuple[list[MonOpenObjectActivity], Searches] | None:
    """The tables that are scanned and make much of the searches, and these; `None` where nothing was searched."""
    rows = activity(facts)
    listed = sum(row.logical_reads for row in rows if known(row.logical_reads))
    if listed <= 0:
        return None
    searches = searches_of(facts, listed)
    if not searches.of_caches and (grabs := _grabbed(facts)) >= listed:
        searches = Searches(grabs, f"{grabs:,.0f} grabs of all caches' spinlocks (monSpinlockActivity)", of_caches=True)
    read = [row for row in rows if row.index_id == 0 and scans_of(row) > 0 and not is_system(row)]
    worth = [
        row
        for row in read
        if known(row.logical_reads) and share_of(row.logical_reads, searches.number) >= TABLE_PERCENT
    ]
    return worth, searches


def _whole(facts: Facts, rows: list[MonOpenObjectActivity], page: float | None) -> list[Scanned]:
    """Those of these tables whose scans can all have been scans of the whole table, and not of a small one."""
    known_sizes = sizes(facts)
    found = [one for row in rows if (one := scanned(facts, row, known_sizes, page)) and one.whole]
    return [one for one in found if one.mean_pages >= LEAST_PAGES]


def scans_are_the_cause(facts: Facts) -> list[Scanned]:
    """The tables whose whole scans make most searches of all caches; none where only a part of these is listed."""
    worth, page = _worth(facts), page_kb(facts)
    if worth is None:
        return []
    rows, searches = worth
    found = _whole(facts, rows, page)
    share = share_of(sum(one.pages for one in found), searches.number)
    return found if searches.of_caches and share >= SHARE_PERCENT else []


def scanned_of(facts: Facts, held: list[Held]) -> list[Scanned]:
    """Those of these objects, which are of one cache, whose tables are the cause.

    Where the searches of all caches are not in the export, by the grabs of this cache's own spinlock, of which each
    page scanned is one: scans of more pages than it was grabbed for were not in this cache alone.
    """
    mine = {(one.database, one.table) for one in held}
    if found := scans_are_the_cause(facts):
        return [one for one in found if (one.row.database, one.row.object_name) in mine]
    contents, worth = contents_of(facts), _worth(facts)
    lock = spinlock_named(facts, held[0].cache) if held else None
    rate = lock.rate(lock.grabs) if lock and lock.of_interval else None
    if (
        worth is None
        or worth[1].of_caches
        or not isinstance(contents, Contents)
        or not contents.of_interval
        or not rate
    ):
        return []
    grabs, whole = rate * (contents.seconds or 0.0), _whole(facts, worth[0], page_kb(facts))
    here = [one for one in whole if (one.row.database, one.row.object_name) in mine]
    return here if SHARE_PERCENT / 100 * grabs <= sum(one.pages for one in here) <= grabs else []


@dataclass(frozen=True)
class Unjudged:
    """Tables whose scans may make most searches of all caches, which cannot be told from what was collected."""

    rows: tuple[MonOpenObjectActivity, ...]
    missing: tuple[MissingInput, ...]

    @property
    def names(self) -> str:
        """The tables, as a part of a sentence."""
        more = f" and {len(self.rows) - NAMED} more" if len(self.rows) > NAMED else ""
        return ", ".join(name_of(row) for row in self.rows[:NAMED]) + more

    @property
    def lacks(self) -> str:
        """What is missing, as a part of a sentence."""
        return " and ".join(f"the {one.fact}" for one in self.missing)


NAMED = 3
"""Tables that a sentence names."""


def scans_unjudged(facts: Facts, held: list[Held]) -> Unjudged | None:
    """The scans that may be why these objects are searched, by the counts alone; `None` where they cannot be.

    They can be where the size of the table or of the page is missing, and each scan can have been of so many pages and
    all of them together of so many searches as `scans_are_the_cause` asks for, were they as large as they can be.
    """
    worth, page, known_sizes = _worth(facts), page_kb(facts), sizes(facts)
    if worth is None or not worth[1].of_caches:
        return None
    rows, searches = worth
    judged = _whole(facts, rows, page)
    sure = {id(one.row) for one in judged}
    most = {
        row: pages
        for row in rows
        if id(row) not in sure and (pages := _at_most(row, known_sizes.kb(row), page)) is not None
    }
    share = share_of(sum(most.values()) + sum(one.pages for one in judged), searches.number)
    mine = {(one.database, one.table) for one in held}
    named = tuple(sorted((row for row in most if (row.database, row.object_name) in mine), key=lambda row: -most[row]))
    if share < SHARE_PERCENT or not named or scans_are_the_cause(facts):
        return None
    unsized = any(known_sizes.kb(row) is None for row in named)
    return Unjudged(named, (*((SIZES,) if unsized else ()), *(() if page else (PAGE,))))


def _at_most(row: MonOpenObjectActivity, kb: float | None, page: float | None) -> float | None:
    """Pages that its scans read at most where size or page is missing; `None` where they can be judged or are small."""
    if not known(row.logical_reads) or (kb is not None and page):
        return None
    reads, scans = row.logical_reads, scans_of(row)
    if kb is not None and scans * kb / LARGEST_PAGE_KB > WHOLE_TIMES * reads:
        return None  # whatever the page, they were not scans of the whole table
    pages = reads if kb is None else min(reads, scans * kb / SMALLEST_PAGE_KB)
    return pages if pages / scans >= LEAST_PAGES else None
