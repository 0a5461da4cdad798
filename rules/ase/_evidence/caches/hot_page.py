"""The small table whose pages explain what a few partitions of a data cache are grabbed more than the others.

A search of a page takes the spinlock of the partition it lies in (knowledge/ase-waits-caches.md, 4): a table on a page
or a few, which is read as often as the hot partition is grabbed more than the others, is what is hot in it. A table of
many pages is spread over all of them, however many rows go into it.
"""

from dataclasses import dataclass

from collectors.facts import Facts, known
from rules.ase._evidence.caches.contents import Contents, Held, contents_of
from rules.ase._evidence.objects.rebuild import NEEDS as REBUILD_NEEDS
from rules.ase._evidence.objects.seen import page_kb_of, schemes
from rules.ase._evidence.server import server_of
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
ONE_ROW = "If a single row is hot (a counter), only an IDENTITY column or numbers taken in blocks help."
DEFAULT_PAGE_KB = 2.0
"""The smallest page of a server: used where no export shows its own."""


@dataclass(frozen=True)
class HotPage:
    """A small table of one hot partition."""

    held: Held
    uses: float
    """Reads and changes of its data in the interval."""
    surplus: float | None
    """Grabs of the hot partitions above the mean of the others; `None` where no partitions are counted."""
    page_kb: float
    skew: Uneven | None = None
    """The partitions against the others."""

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


def hot_page(facts: Facts, skew: Uneven | None) -> HotPage | None:
    """The one small table that explains most of the surplus; `None` where none does, or more than one could."""
    contents = contents_of(facts) if skew else None
    if skew is None or not isinstance(contents, Contents):
        return None
    others = [row for row in skew.lock.rows if row not in skew.hot]
    mean = sum(row.grabs for row in others if known(row.grabs)) / len(others)
    grabs = sum(row.grabs for row in skew.hot if known(row.grabs))
    surplus = grabs - mean * len(skew.hot)
    if surplus <= 0:
        return None
    page_kb = page_kb_of(facts) or DEFAULT_PAGE_KB
    found = []
    for one in _small(contents, page_kb):
        if one.cache != skew.lock.name:
            continue
        uses = one.reads + (one.changed or 0.0)
        if EXPLAINED * surplus <= uses and one.reads <= MOST * grabs:
            found.append(HotPage(one, uses, surplus, page_kb, skew))
    return found[0] if len(found) == 1 else None


def crowded_page(facts: Facts, inserted: float, waits: float) -> HotPage | None:
    """The one small table with more changes on a page than `inserted`; for where no partitions are counted.

    A change of a row latches its page, an insert the one page at the end of its table: what the table with most inserts
    asks of that page is the measure. `waits`, for latches and a second: a page that is used less often than half of
    them is not where they wait. Allpages tables lock their pages and take no latches on them.
    """
    contents = contents_of(facts)
    if not isinstance(contents, Contents) or not contents.of_interval or not contents.seconds:
        return None
    page_kb, listed = page_kb_of(facts) or DEFAULT_PAGE_KB, schemes(facts)
    found = []
    for one in _small(contents, page_kb):
        scheme = listed.get((one.database, one.table))
        page = HotPage(one, one.reads + (one.changed or 0.0), None, page_kb)
        often = page.uses >= EXPLAINED * waits * contents.seconds
        if often and page.changed_a_page > inserted and scheme and scheme.scheme != "allpages":
            found.append(page)
    return found[0] if len(found) == 1 else None


def _small(contents: Contents, page_kb: float) -> list[Held]:
    """The data of user tables that fit on `LARGEST_PAGES` pages."""
    return [
        one
        for one in contents.held
        if not (one.index_id or one.system) and 0 < (one.size_mb or 0.0) * 1024.0 <= LARGEST_PAGES * page_kb
    ]


def spread_page(facts: Facts, hot: HotPage) -> str:
    """What takes the heat from that page, as two sentences, by the lock scheme of the table and the release."""
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
        only = "" if fixed else " (before 16.0 for columns of variable length alone, up to the longest row)"
        how = (
            f'`sp_chgattribute "{owned}", "exp_row_size", {size}`{only}, then `reorg rebuild {name}` '
            f"({REBUILD_NEEDS}); undo: 0 and reorg"
        )
    return f"Give each row of {hot.name} a page of its own: {how}. {ONE_ROW}"
