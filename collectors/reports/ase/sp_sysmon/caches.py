"""Data Cache Management (ase-formats.md 1.10 [R][S]): one run of blocks for each named cache.

An idle cache prints its total twice and its turnover on the heading's own line::

    Cache: tempdb_cache
        Cache Searches
          Total Cache Searches            0.0           0.0           0       n/a
      -------------------------  ------------  ------------  ----------
        Total Cache Searches              0.0           0.0           0

        Pool Turnover                     0.0           0.0           0       n/a

        Buffer Wash Behavior
          Statistics Not Available - No Buffers Entered Wash Section Yet

There hits, misses and grabs are zero; the wash is not measured. In a block that is cut they are absent.
`Found in Wash` is left out where there were no hits. The one spinlock figure stands for all partitions of the cache.
"""

import re
from bisect import bisect
from collections.abc import Iterator, Sequence

from collectors.facts.ase.sysmon import CacheActivity
from collectors.facts.ase.sysmon_detail import CachePoolActivity
from collectors.facts.base import ABSENT, NOT_MEASURED, Reading
from collectors.reports.ase.sp_sysmon.forms import (
    COUNT,
    PER_SECOND,
    PERCENT,
    Cell,
    Derived,
    Form,
    added,
    left_out,
    total,
)
from collectors.reports.ase.sp_sysmon.page import TWO_LINE_LABEL, Advised, Block, Page, Section, advice_text

CACHE = "Cache: "
POOL = re.compile(r"([0-9]{1,5}) ?Kb Pool", re.IGNORECASE)
GRAB = "LRU Buffer Grab"
NO_ROOM = "Pool < Prefetch Size"
DENIED = (NO_ROOM, " ".join((*TWO_LINE_LABEL, "Buffer Pool")))


def caches(section: Section) -> Iterator[Form]:
    """Every cache and every pool that was in use."""
    starts = [place for place, block in enumerate(section.blocks) if block.label.startswith(CACHE)]
    places = [one.at for one in section.advice]
    for start, end in zip(starts, [*starts[1:], len(section.blocks)], strict=False):
        first = bisect(places, section.blocks[start].at)
        last = bisect(places, section.blocks[end].at) if end < len(section.blocks) else len(places)
        cache = _Cache(section.blocks[start:end])
        yield cache.activity(section.advice[first:last])
        yield from cache.pools()


class _Cache:
    """The blocks of one cache."""

    def __init__(self, blocks: Sequence[Block]) -> None:
        self.blocks = blocks
        self.name = blocks[0].label.removeprefix(CACHE).strip()
        self.rows = {label: at for block in blocks for label, at in block.rows.items()}
        self.notes = {block.label: block.note for block in blocks if block.note}

    def activity(self, advice: Sequence[Advised]) -> Form:
        """Everything of one cache as one fact."""
        row = self.rows.get
        searches = Cell(row("Total Cache Searches"), COUNT)
        hits = left_out(row("Cache Hits"), searches)
        turnover = row("Total Cache Turnover", row("Pool Turnover"))
        large = Cell(row("Total Large I/O Requests"), COUNT)
        given = {"name": self.name, **self._not_measured()}
        return Form(
            CacheActivity,
            self.blocks[0].at,
            max(at for block in self.blocks for at in (block.at, *block.rows.values())),
            given,
            {
                "contention_percent": (row("Spinlock Contention"), PERCENT),
                "utilization_percent": (row("Utilization"), PERCENT),
                "searches": (row("Total Cache Searches"), COUNT),
                "searches_per_second": (row("Total Cache Searches"), PER_SECOND),
                "grabbed": (turnover, COUNT),
                "grabbed_per_second": (turnover, PER_SECOND),
                "washed_dirty": (row("Buffers Washed Dirty"), COUNT),
                "passed_clean": (row("Buffers Passed Clean"), COUNT),
                "cached_lru": (row("Cached (LRU) Buffers"), COUNT),
                "discarded_mru": (row("Discarded (MRU) Buffers"), COUNT),
                "found_in_elc": (row("ELC"), COUNT),
                "hits_without_spinlock": (row("w/o spinlockheld"), COUNT),
                "large_io_requests": (row("Total Large I/O Requests"), COUNT),
            },
            {
                "hits": hits,
                "misses": left_out(row("Cache Misses"), searches),
                "found_in_wash": left_out(row("Found in Wash"), hits),
                "grabbed_dirty": self._pooled("Grabbed Dirty", Cell(turnover, COUNT)),
                "large_io_denied": added([left_out(row(label), large) for label in DENIED]),
                "large_io_without_room": left_out(row(NO_ROOM), large),
                "advice": lambda page: tuple(advice_text(page, one) for one in advice),
            },
        )

    def _not_measured(self) -> dict[str, Reading]:
        """The fields in whose place the report says that there are no statistics."""
        fields = {
            "Buffer Wash Behavior": ("washed_dirty", "passed_clean"),
            "Cache Strategy": ("cached_lru", "discarded_mru"),
        }
        said = [heading for heading, note in self.notes.items() if note == "Statistics Not Available"]
        return {field: NOT_MEASURED for heading in said for field in fields.get(heading, ())}

    def _pooled(self, label: str, turnover: Derived) -> Derived:
        """The sum of a row over the pools; absent unless every pool was seen, that is: their grabs are all grabs."""
        pools = [block.rows for block in self.blocks if POOL.fullmatch(block.label) and GRAB in block.rows]

        def read(page: Page) -> Reading:
            whole = turnover(page)
            if whole == 0:
                return 0.0
            seen = total([page.figure(rows[GRAB], COUNT) for rows in pools])
            return total([page.figure(rows.get(label), COUNT) for rows in pools]) if pools and seen == whole else ABSENT

        return read

    def pools(self) -> Iterator[Form]:
        """One fact for each pool: what it grabbed and, if it is large, what became of the pages."""
        found: dict[float, dict[str, int]] = {}
        for block in self.blocks:
            if match := POOL.fullmatch(block.label):
                rows = {label: at for label, at in block.rows.items() if label in FIELDS}
                found.setdefault(float(match[1]), {}).update(rows)
        for size, rows in found.items():
            if rows:
                given = {"cache": self.name, "io_size_kb": size}
                cells = {FIELDS[label]: (at, COUNT) for label, at in rows.items()}
                yield Form(CachePoolActivity, min(rows.values()), max(rows.values()), given, cells)


FIELDS = {
    GRAB: "grabbed",
    "Grabbed Dirty": "grabbed_dirty",
    "Pages Cached": "pages_cached",
    "Pages Used": "pages_used",
}
