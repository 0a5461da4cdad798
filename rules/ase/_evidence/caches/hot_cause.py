"""What a few hot partitions of a data cache of SAP ASE are grabbed for, and what spreads a hot page.

A page always lies in one partition, so neither more of them nor another cache spread it: fewer rows on it do.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from collectors.facts import Facts
from rules.ase._evidence.caches.contents import Held
from rules.ase._evidence.caches.hot_page import (
    EXPLAINED,
    HotPage,
    ReadAsOften,
    hot_page,
    read_as_often,
    spread_page,
    surplus_of,
)
from rules.ase._evidence.objects.rebuild import NEEDS as REBUILD_NEEDS
from rules.ase._evidence.objects.seen import schemes
from rules.ase._evidence.spinlocks.uneven import Uneven
from rules.finding import Evidence

FEWER_ROWS = f"Have fewer rows on a page of {{}} by {{}}, then reorg rebuild ({REBUILD_NEEDS})."
BY_SCHEME = {
    "allpages": "max_rows_per_page, as it has allpages locking",
    "datapages": "exp_row_size (rows of a fixed length from 16.0 on)",
    "datarows": "exp_row_size (rows of a fixed length from 16.0 on)",
}
"""What limits the rows of a page, by the lock scheme of the table (vendor)."""
BY_EITHER = "exp_row_size (data-only locking; fixed rows from 16.0) or max_rows_per_page (allpages)"
ITS_TABLE = "the table it is of (by its use in monOpenObjectActivity)"
MOST_CHANGES = 0.5
"""This project: the table with at least half of all changed rows in the cache is named for the hot page."""
DENSER = 5.0
"""This project: reads and changes on a page of a table, against those of any other, from which on it is named."""


@dataclass(frozen=True)
class Cause:
    """What a few hot partitions are grabbed for, as far as it shows: one page, else a table that is read as often."""

    page: HotPage | None
    read: ReadAsOften | None

    @classmethod
    def of(cls, facts: Facts, skew: Uneven) -> "Cause":
        """Look for the page first."""
        page = hot_page(facts, skew)
        return cls(page, None if page else read_as_often(facts, skew))

    @property
    def explains(self) -> str:
        """Why the partition is grabbed, as a sentence; empty where neither shows."""
        return f"{self.page.explains}." if self.page else self.read.explains if self.read else ""

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """The figures of it."""
        return self.page.evidence if self.page else self.read.evidence if self.read else ()


def fewer_rows(facts: Facts, held: Sequence[Held], skew: Uneven, page: HotPage | None) -> str:
    """What spreads a hot page: of the table that explains the hot partition, else of the one that takes the changes.

    `held`: what lies in the cache, as far as an export says it.
    """
    if page:
        return spread_page(facts, page, searched=True)
    changed = sorted((one for one in held if not one.system and one.changed), key=lambda one: -one.index_id)
    data = list({(one.database, one.owner or "", one.table): one for one in changed}.values())  # the data, if listed
    sized = all(one.size_mb and not one.index_id for one in data)
    most, why = _densest(data) if sized else _most_changed(data)
    uses = most.reads + (most.changed or 0.0) if most else 0.0
    if most is None or uses < EXPLAINED * surplus_of(skew)[0]:
        return FEWER_ROWS.format(ITS_TABLE, BY_EITHER)
    scheme = schemes(facts).get((most.database, most.table))
    way = BY_SCHEME.get(scheme.scheme, BY_EITHER) if scheme else BY_EITHER
    return FEWER_ROWS.format(f"{most.database}.{most.owner or ''}.{most.table} ({why})", way)


def _most_changed(held: list[Held]) -> tuple[Held | None, str]:
    """The table with most of the rows changed, where not all sizes are known."""
    most, whole = max(held, key=lambda one: one.changed or 0.0, default=None), sum(one.changed or 0.0 for one in held)
    share = (most.changed or 0.0) / whole if most else 0.0
    return (most, f"{100 * share:.0f} % of the rows changed in it") if share >= MOST_CHANGES else (None, "")


def _densest(held: list[Held]) -> tuple[Held | None, str]:
    """The table whose pages are used most, each: a large table that is changed much may have no page that is hot."""
    ranked = sorted(held, key=lambda one: -_uses_of_mb(one))
    times = _uses_of_mb(ranked[0]) / _uses_of_mb(ranked[1]) if len(ranked) > 1 else DENSER
    if not ranked or times < DENSER:
        return None, ""
    return ranked[0], "a candidate, by reads and changes on a page"


def _uses_of_mb(held: Held) -> float:
    """Reads and changes of a megabyte of its data."""
    return (held.reads + (held.changed or 0.0)) / (held.size_mb or 1.0)
