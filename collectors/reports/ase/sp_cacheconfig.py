"""Data caches and their pools, as text (`sp_cacheconfig`, `sp_poolconfig <cache>`).

A summary, then a block for each cache (widths differ between 12.5, 15.7 and 16.0; boxes in JDBC tools)::

     Cache Name         Status   Type     Config Value   Run Value
     ------------------ -------- -------- -------------- ------------
     default data cache Active   Default    6144.00 Mb     6144.00 Mb
                                        ------------ ------------
                                Total     6144.0 Mb    6144.0 Mb
    ==========================================================================
    Cache: default data cache,   Status: Active,   Type: Default
          Config Size: 6144.00 Mb,   Run Size: 6144.00 Mb
          Config Replacement: strict LRU,   Run Replacement: strict LRU
          Config Partition:            2,   Run Partition:            2
     IO Size  Wash Size     Config Size  Run Size     APF Percent
     -------- ------------- ------------ ------------ -----------
         2 Kb     122880 Kb   5120.00 Mb   5120.00 Mb     10
        16 Kb     122880 Kb   1024.00 Mb   1024.00 Mb     10

* Summary and block say the same of one cache: one fact, the block's figures win, its source spans both.
* A configured size of 0.00 Mb means "not configured, the run size counts" (ase-formats.md 3.3); it stays 0.
* Values are told by their units, not by their place: in the 16.0 layout they stand beside their columns.
* The totals are sums of the rows and no facts, be they printed, commented out or remarked on.
* Absent: a listing of the summary alone has no replacement, partitions or pools. A block that ends before its pools, a
  cache of the summary without block where others have one, or pools that do not make up the cache, is a cut listing.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from collectors.facts.ase import CachePool, NamedCache
from collectors.facts.base import ABSENT, NOWHERE, Reading, known
from collectors.kit import Report, report
from collectors.layouts.figures import SIZE, reading, size
from collectors.layouts.tables import Row, cut

SUMMARY = re.compile(r"\bCache Name\W{1,80}Status\W{1,80}Type\b", re.IGNORECASE)
CACHE = re.compile(
    r"\W{0,40}Cache:(?P<name>.{1,255}),\s{0,20}Status:(?P<status>.{0,60}),\s{0,20}Type:(?P<kind>.{0,200})",
    re.IGNORECASE,
)
START = re.compile(rf"{SUMMARY.pattern}|^{CACHE.pattern}", re.IGNORECASE)
SIZES = re.compile(r"\W{0,40}Config Size:.{0,80}Run Size:", re.IGNORECASE)
REPLACEMENT = re.compile(r"\W{0,40}Config Replacement:([^,]{1,80}),\s{0,40}Run Replacement:(.{1,80})", re.IGNORECASE)
PARTITIONS = re.compile(r"\W{0,40}Config Partition:([^,]{1,80}),\s{0,40}Run Partition:(.{1,80})", re.IGNORECASE)
POOLS = re.compile(r"\W{0,40}IO Size\W{1,80}Wash Size\W{1,80}Config Size\b", re.IGNORECASE)
POOL = re.compile(r"\W{0,40}[0-9]{1,5}\s{0,20}Kb\b", re.IGNORECASE)
TOTAL = re.compile(r"\W{0,200}Total\W.{0,200}[0-9*]\s{0,20}[KMGT]b\b.{0,200}$", re.IGNORECASE)
"""The sums of the rows, also behind a comment's mark (`#`, `--`, `/*`) or with a remark behind them."""
RULE_OFF = re.compile(r"\s{0,40}(?:#|//|/\*)[\s\-=]{0,200}(?:\*/)?\s*$")
"""The dashes above the totals, commented out with them."""
NAMED = re.compile(
    r"(?P<name>.{1,255})\s(?P<status>Active|Pend/Act|Act/Del|Pend/Del)\b(?P<kind>.{0,200})", re.IGNORECASE
)
"""A row of the summary up to its sizes. The last such word is the status: a cache may be called `Active`."""
FRAME = re.compile(
    r"\s*(?:Rows [0-9]{1,12}\s*$|#{3,}\s*$|##\s?(?:sp_|select)"
    r"|The change is completed\.|.{0,80}\b(?:need not be rebooted|take effect\.\s*$))",
    re.IGNORECASE,
)
STOP = re.compile(rf"{TOTAL.pattern}|{RULE_OFF.pattern}|{CACHE.pattern}|\W{{0,40}}(?:{SUMMARY.pattern})", re.IGNORECASE)
REMEDY = "export the listing again in full"
NEAR = 0.01
"""Pools make up their cache but for rounding."""


@dataclass
class _Cache:
    """What summary and block say of one cache."""

    fact: NamedCache
    pools: list[CachePool] = field(default_factory=list)
    block: int | None = None
    """Index of the last line of its block; `None` while only the summary named it."""
    damaged: bool = False
    """Whether one of its pools was not read, so that their sum says nothing."""


@report(starts=START, provides=(NamedCache, CachePool))
def read(report: Report) -> Iterator[NamedCache | CachePool]:
    """Yield one fact per cache, each followed by its pools; of listings that say the same, the first."""
    reading = _Reading(report)
    reading.all_lines()
    seen: set[NamedCache | CachePool] = set()
    for listing in reading.listings:
        _check(report, listing)
        for cache in listing.values():
            facts: list[NamedCache | CachePool] = [cache.fact, *cache.pools]
            for fact in facts:
                if (bare := replace(fact, source=NOWHERE)) not in seen:
                    seen.add(bare)
                    yield fact


class _Reading:
    """Walks over the lines; a summary, or a block of a cache that has one already, begins another listing."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self.listings: list[dict[str, _Cache]] = []
        self.cache: _Cache | None = None
        self.lost_pools = False
        self.final = max((index for index, line in enumerate(report.lines) if line.strip()), default=0)

    def all_lines(self) -> None:
        index = 0
        while index < len(self.report.lines):
            index = self.line(index, self.report.lines[index]) + 1

    def line(self, index: int, line: str) -> int:
        """Read what begins on this line; return its last line."""
        if SUMMARY.search(line):
            return self.summary(index)
        if found := CACHE.match(line):
            self.block(index, found)
        elif POOL.match(line) and not TOTAL.match(line):
            self.pool(index, line)
        elif any(frame.match(line) for frame in (POOLS, TOTAL, FRAME, RULE_OFF)):
            self.report.claim(index)
        elif self.cache:
            self.attribute(index, line, self.cache)
        return index

    def summary(self, index: int) -> int:
        """Read the summary table that begins here."""
        self.listings.append({})
        self.cache = None
        table = cut(self.report.lines, index, stop=STOP)
        for at in (*table.frame, *(at for row in table.rows for at in range(row.first, row.last + 1))):
            self.report.claim(at)
        for row in table.rows:
            fact = _summed(row, self.report)
            if fact:
                self.listings[-1].setdefault(fact.name, _Cache(fact))
            else:
                self.report.problem(f"this row is cut short or damaged and was not read: {REMEDY}", row.first)
        if table.last >= self.final and table.layout == "isql":
            self.report.problem(f"the summary ends before its Total line: {REMEDY}", table.last)
        return max(table.last, index)

    def block(self, index: int, found: re.Match[str]) -> None:
        """Begin the block of one cache."""
        name, status, kind = (found[part].strip() for part in ("name", "status", "kind"))
        if not self.listings or ((before := self.listings[-1].get(name)) and before.block is not None):
            self.listings.append({})
        cache = self.listings[-1].setdefault(name, _Cache(NamedCache(source=self.report.source(index), name=name)))
        cache.fact = replace(cache.fact, status=status or None, kind=kind or cache.fact.kind)
        self.cache = cache
        self.reaches(index, cache)

    def reaches(self, index: int, cache: _Cache) -> None:
        """Let the block, and the source of the cache, reach to this line."""
        self.report.claim(index)
        cache.block = index
        last = self.report.source(index).last
        cache.fact = replace(cache.fact, source=replace(cache.fact.source, last=max(cache.fact.source.last, last)))

    def attribute(self, index: int, line: str, cache: _Cache) -> None:
        """Read a line of the block."""
        if SIZES.match(line) and len(sizes := SIZE.findall(line)) == 2:
            cache.fact = replace(cache.fact, config_size_mb=size(sizes[0], "m"), run_size_mb=size(sizes[1], "m"))
        elif found := REPLACEMENT.match(line):
            run = None if index == self.final else found[2].strip()  # nothing follows: it may be half a word
            cache.fact = replace(cache.fact, config_replacement=found[1].strip() or None, run_replacement=run or None)
        elif found := PARTITIONS.match(line):
            partitions: Reading = ABSENT if index == self.final else reading(found[2])
            cache.fact = replace(cache.fact, config_partitions=reading(found[1]), run_partitions=partitions)
        else:
            return
        self.reaches(index, cache)

    def pool(self, index: int, line: str) -> None:
        """Read one pool: four sizes with their units, then the APF per cent."""
        if not self.cache:
            if not self.lost_pools:
                self.report.problem(
                    f"pools without the `Cache:` line above them: export the messages too, {REMEDY}", index
                )
            self.lost_pools = True
            return
        self.report.claim(index)
        found = list(SIZE.finditer(line))
        if len(found) != 4:
            self.report.problem(f"this pool's row is cut short or damaged and was not read: {REMEDY}", index)
            self.cache.damaged = True
            return
        io_size, wash, config, run = (one[0] for one in found)
        apf = reading(line[found[-1].end() :].strip(" \t|,;\"'"))
        if apf is ABSENT:
            self.report.problem(f"this pool's row ends before its APF per cent: {REMEDY}", index)
        io_size_kb = size(io_size, "k")
        if known(io_size_kb):
            self.cache.pools.append(
                CachePool(
                    source=self.report.source(index),
                    cache=self.cache.fact.name,
                    io_size_kb=io_size_kb,
                    wash_size_kb=size(wash, "k"),
                    config_size_mb=size(config, "m"),
                    run_size_mb=size(run, "m"),
                    apf_percent=apf,
                )
            )


def _summed(row: Row, report: Report) -> NamedCache | None:
    """Read a row of the summary; where its values stand beside their columns, by the status and the two units."""
    name, status, kind = row.get("Cache Name"), row.get("Status"), row.get("Type")
    sizes = [row.get("Config Value"), row.get("Run Value")]
    if not (name and status and row.whole and all(SIZE.fullmatch(one) for one in sizes)):
        sizes = SIZE.findall(row.text)
        found = NAMED.match(row.text[: row.text.find(sizes[0])].strip() + " ") if len(sizes) == 2 else None
        if not found:
            return None
        name, status, kind = (found[part].strip() for part in ("name", "status", "kind"))
    return NamedCache(
        source=report.source(row.first, row.last),
        name=name,
        status=status,
        kind=kind or None,
        config_size_mb=size(sizes[0], "m"),
        run_size_mb=size(sizes[1], "m"),
    )


def _check(report: Report, listing: dict[str, _Cache]) -> None:
    """Say what is missing in a listing."""
    blocks = [(cache, cache.block) for cache in listing.values() if cache.block is not None]
    for cache, last in blocks:
        name, run = cache.fact.name, cache.fact.run_size_mb
        if cache.damaged:
            continue
        if run is ABSENT or (not cache.pools and (cache.fact.status or "").lower() == "active"):
            report.problem(
                f"the block of cache `{name}` is not complete, its size or its pools are missing: {REMEDY}", last
            )
        elif cache.pools and known(run):
            pools = [pool.run_size_mb for pool in cache.pools]
            together = sum(pool for pool in pools if known(pool))
            if all(known(pool) for pool in pools) and together < run * (1 - NEAR) - 0.1:
                what = f"its pools make up {together:g} Mb of {run:g} Mb, so rows are missing"
                report.problem(f"the block of cache `{name}`: {what}; {REMEDY}", last)
    without = [cache.fact.name for cache in listing.values() if cache.block is None]
    if blocks and without:
        report.problem(f"no block for {', '.join(f'`{name}`' for name in without[:5])}: the listing is cut; {REMEDY}")
