"""The small table whose pages explain what a few partitions of a data cache are grabbed more than the others.

A search of a page takes the spinlock of the partition it lies in (knowledge/ase-waits-caches.md, 4): a table on a page
or a few, which is read as often as the hot partition is grabbed more than the others, is what is hot in it. A table of
many pages is spread over all of them, however many rows go into it.
"""

from dataclasses import dataclass, replace

from collectors.facts import Facts, known
from rules.ase._evidence.caches.contents import Contents, Held, contents_of
from rules.ase._evidence.objects.rebuild import NEEDS as REBUILD_NEEDS
from rules.ase._evidence.objects.seen import schemes
from rules.ase._evidence.server import page_kb, server_of
from rules.ase._evidence.spinlocks.uneven import Uneven
from rules.changes.quoting import PLAIN_IDENTIFIER, comment, is_plain
from rules.finding import Evidence

EXPLAINED = 0.5
"""This project: the part of the surplus grabs, or of the waits for latches, that reads and changes of the table must
come to, to be named."""
MOST = 1.25
"""This project: of all grabs of the hot partitions; what is read more often cannot lie in them alone, as each read is
a grab at least. A quarter is left for the time between the two tables of a snapshot."""
LARGEST_PAGES = 8
"""This project: the largest table that is taken for one hot page, an extent; a larger one lies in many partitions."""
CROWDED_PAGES = 64
"""This project: the largest table whose rows are taken to be crowded, eight extents; a change is rarely alone there."""
ONE_ROW = "For one hot row (a counter) only an IDENTITY column or numbers in blocks help."
OWN_CACHE = "Or bind it and its indexes to a small relaxed LRU cache ({0:,.0f} reads a change)."
"""Vendor: relaxed LRU suits what is rarely changed and never replaced, as all of so small a table is there."""
READ_MOSTLY = 100.0
"""This project: reads for each change from which on a table is rarely changed."""
NEAR = 0.1
"""This project: how far the reads of a table whose size is not known may be from the surplus grabs to be taken for
what is hot: the hot page is read, and each read is a grab, so they are nearly as many."""
DEFAULT_PAGE_KB = 2.0
"""The smallest page of a server: used where no export shows its own."""


@dataclass(frozen=True)
class HotPage:
    """A small table of one hot partition."""

    held: Held
    uses: float
    """Reads and changes of its data in the interval."""
    surplus: float | None
    """Grabs of the hot partitions above the mean of the others; `None` where its reads do not explain them."""
    page_kb: float
    skew: Uneven | None = None
    """The partitions against the others; `None` where they are not counted."""
    waits: float | None = None
    """Waits for latches in the interval; `None` where its changes on a page are more than the inserts of any table."""
    inserted: float = 0.0
    """Rows that went into the table with most inserts."""

    @property
    def likeliest(self) -> bool:
        """Whether it is the first to look at, and not shown by the partitions to be the one."""
        return self.surplus is None

    @property
    def reads_a_change(self) -> float | None:
        """Reads for each row changed, where they are so many that it is hardly changed; else `None`."""
        changed = self.held.changed
        return self.held.reads / changed if changed and self.held.reads >= READ_MOSTLY * changed else None

    @property
    def pages(self) -> float:
        """How many pages it has."""
        return max(1.0, round((self.held.size_mb or 0.0) * 1024.0 / self.page_kb))

    @property
    def changed_a_page(self) -> float:
        """Rows changed on each of its pages in the interval, were they changed evenly."""
        return (self.held.changed or 0.0) / self.pages

    @property
    def name(self) -> str:
        """`database.owner.table`, safe in a text."""
        return comment(self.held.name)

    @property
    def explains(self) -> str:
        """The two counts, as a clause."""
        of_pages = f"{self.name} ({self.pages:,.0f} page{'' if self.pages == 1 else 's'})"
        if self.waits is not None:
            return (
                f"{of_pages} has {self.held.changed or 0.0:,.0f} changes in the interval, {self.changed_a_page:,.0f} "
                f"on each page; latches were waited for more often than rows were inserted into any table "
                f"({self.inserted:,.0f})"
            )
        if self.surplus is None:
            return (
                f"{of_pages} has {self.changed_a_page:,.0f} changes on a page, more than rows were inserted into any "
                "table"
            )
        return (
            f"{of_pages} has {self.uses:,.0f} reads and "
            f"changes, the hot partition {self.surplus:,.0f} grabs more than the mean of the others"
        )

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """The two counts."""
        return (
            Evidence(f"reads and changes of {self.name}", self.uses, "", self.held.source),
            Evidence(f"size of {self.name}", self.held.size_mb or 0.0, "MB", self.held.size_source or self.held.source),
        )


@dataclass(frozen=True)
class ReadAsOften:
    """The one table that is read as often as the hot partitions are grabbed more than the others."""

    held: Held
    surplus: float

    @property
    def name(self) -> str:
        """`database.owner.table`, safe in a text."""
        return comment(self.held.name)

    @property
    def explains(self) -> str:
        """The two counts, as a sentence."""
        return (
            f"{self.name} has {self.held.reads:,.0f} reads, as many as the {self.surplus:,.0f} grabs that the hot "
            "partition has more than the mean of the others."
        )

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """The reads."""
        return (Evidence(f"reads of {self.name}", self.held.reads, "", self.held.source),)


def surplus_of(skew: Uneven) -> tuple[float, float]:
    """Grabs of the hot partitions above the mean of the others, and all of their grabs."""
    others = [row for row in skew.lock.rows if row not in skew.hot]
    mean = sum(row.grabs for row in others if known(row.grabs)) / len(others)
    grabs = sum(row.grabs for row in skew.hot if known(row.grabs))
    return grabs - mean * len(skew.hot), grabs


def read_as_often(facts: Facts, skew: Uneven | None) -> ReadAsOften | None:
    """The one table that is read as often, of whatever size is not known; `None` where none is, or anything else is."""
    contents = contents_of(facts) if skew else None
    if skew is None or not isinstance(contents, Contents):
        return None
    (surplus, _), kb = surplus_of(skew), page_kb(facts) or DEFAULT_PAGE_KB
    near = [
        one
        for one in contents.held
        if one.cache == skew.lock.name
        and abs(one.reads - surplus) <= NEAR * surplus
        and (one.size_mb or 0.0) * 1024.0 <= LARGEST_PAGES * kb
    ]
    alone = len(near) == 1 and not (near[0].index_id or near[0].system)
    return ReadAsOften(near[0], surplus) if alone else None


def hot_page(facts: Facts, skew: Uneven | None) -> HotPage | None:
    """The one small table that explains most of the surplus; `None` where none does, or more than one could."""
    contents = contents_of(facts) if skew else None
    if skew is None or not isinstance(contents, Contents):
        return None
    surplus, grabs = surplus_of(skew)
    if surplus <= 0:
        return None
    kb = page_kb(facts) or DEFAULT_PAGE_KB
    found = []
    for one in _small(contents, kb, LARGEST_PAGES):
        if one.cache != skew.lock.name:
            continue
        uses = one.reads + (one.changed or 0.0)
        if EXPLAINED * surplus <= uses and one.reads <= MOST * grabs:
            found.append(HotPage(one, uses, surplus, kb, skew))
    return found[0] if len(found) == 1 else None


def crowded_page(facts: Facts, inserted: float, waits: float, skews: list[Uneven] | None = None) -> HotPage | None:
    """The one small table whose pages are changed too often; for where no partition is explained by a table's reads.

    A change of a row latches its page, an insert the one page at the end of its table: a table with more changes on a
    page than `inserted`, the most rows that went into any, is busier. So is one that is changed as often as latches
    were waited for, where no table took so many rows: an insert waits for the end of its table once. `waits`, for
    latches and a second: a page that is used less often than half of them is not where they wait. `skews`: of the
    caches whose partitions are counted, one of which must be its own. Allpages tables take no latches on their pages.
    """
    contents = contents_of(facts)
    if not isinstance(contents, Contents) or not contents.of_interval or not contents.seconds:
        return None
    kb, listed = page_kb(facts) or DEFAULT_PAGE_KB, schemes(facts)
    own, waited, found = {one.lock.name: one for one in skews or []}, waits * contents.seconds, []
    for one in _small(contents, kb, CROWDED_PAGES):
        scheme, changed = listed.get((one.database, one.table)), one.changed or 0.0
        page = HotPage(one, one.reads + changed, None, kb, own.get(one.cache), inserted=inserted)
        if not scheme or scheme.scheme == "allpages" or (own and not page.skew) or page.uses < EXPLAINED * waited:
            continue
        if page.changed_a_page > inserted and page.pages <= LARGEST_PAGES:
            found.append(page)
        elif inserted < waited <= changed:
            found.append(replace(page, waits=waited))
    return found[0] if len(found) == 1 else None


def _small(contents: Contents, page_kb: float, pages: float) -> list[Held]:
    """The data of user tables that fit on so many pages."""
    return [
        one
        for one in contents.held
        if not (one.index_id or one.system) and 0 < (one.size_mb or 0.0) * 1024.0 <= pages * page_kb
    ]


def spread_page(facts: Facts, hot: HotPage, *, searched: bool = False) -> str:
    """What takes the heat from that page, as two sentences, by the lock scheme of the table and the release.

    `searched`: whether it is searched for too often, which a cache can ease, and not latched.
    """
    table, owner, server = hot.held.table, hot.held.owner or "", server_of(facts)
    plain = is_plain(table) and (not owner or PLAIN_IDENTIFIER.match(owner))
    name = table if plain else "<table>"
    owned = f"{owner}.{table}" if plain and owner else name
    scheme = schemes(facts).get((hot.held.database, table))
    if scheme and scheme.scheme == "allpages":
        how = f'`sp_chgattribute "{owned}", "max_rows_per_page", 1`, then make its clustered index anew; undo: 0'
    else:
        fixed = bool(server and server.before(16) is False)
        size = f"{hot.page_kb * 1024:.0f}" if fixed else "<bytes>"
        only = "" if fixed else " (before 16.0 for rows of variable length alone)"
        how = (
            f'`sp_chgattribute "{owned}", "exp_row_size", {size}`{only}, then `reorg rebuild {name}` '
            f"({REBUILD_NEEDS}); undo: 0 and reorg"
        )
    where = f"`use {hot.held.database}`, " if PLAIN_IDENTIFIER.match(hot.held.database) else ""
    return f"Give each row of {hot.name} a page of its own: {where}{how}. {_beside(hot, searched=searched)}"


def _beside(hot: HotPage, *, searched: bool) -> str:
    """What else there is: a counter is changed as often as it is read; what is read alone may have its own cache."""
    reads = hot.reads_a_change if searched else None
    return OWN_CACHE.format(reads) if reads else ONE_ROW
