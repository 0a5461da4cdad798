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
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from collectors.facts.ase import CachePool, NamedCache
from collectors.facts.base import ABSENT, NOWHERE, known
from collectors.layouts.figures import SIZE, reading, size
from collectors.layouts.known_lines import known_lines
from collectors.layouts.tables import Row, cut
from collectors.registry import Report, report
from collectors.tables import DAMAGED, Unrepeated, claim

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
PLAIN_POOL = re.compile(
    r"\s*([0-9]{1,5}) Kb\s+([0-9]{1,18}) Kb\s+([0-9]{1,15}\.[0-9]{2}) Mb\s+([0-9]{1,15}\.[0-9]{2}) Mb\s+([0-9]{1,3})\s*"
)
"""A pool's row as servers print it, which is the most frequent line; `POOL` is what else one may look like."""
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
DAMAGED_POOL = f"this pool's row is cut short or damaged and was not read: {REMEDY}"
POOL_FIELDS = ("io_size_kb", "wash_size_kb", "config_size_mb", "run_size_mb", "apf_percent")
NO_CACHE, NO_POOL = NamedCache(name=""), CachePool(cache="", io_size_kb=0)
"""Others are made of it: see `placed`."""
NEAR = 0.01
"""Pools make up their cache but for rounding."""


@dataclass
class _Cache:
    """What summary and block say of one cache."""

    name: str
    first: int
    last: int
    said: dict[str, Any]
    """Fields of its fact."""
    pools: list[tuple[int, CachePool]] = field(default_factory=list)
    """With the index of each."""
    block: int | None = None
    """Index of the last line of its block; `None` while only the summary named it."""
    damaged: bool = False
    """Whether one of its pools was not read, so that their sum says nothing."""

    def reaches(self, index: int) -> None:
        """Let the block, and the source of the cache, reach to this line."""
        self.block = index
        self.last = max(self.last, index)


class _Line(NamedTuple):
    """What a line outside the summary says; nothing where it belongs to no listing."""

    summary: bool = False
    cache: tuple[str, str, str] | None = None
    """Name, status and type, with which a block begins."""
    pool: tuple[dict[str, Any], str] | None = None
    """Fields of a pool, and what is wrong with its row; there is none where its I/O size is no figure."""
    frame: bool = False
    said: tuple[tuple[str, Any], ...] = ()
    """Fields of the cache whose block it is in."""


@report(starts=START, provides=(NamedCache, CachePool))
def read(report: Report) -> Iterator[NamedCache | CachePool]:
    """Yield one fact per cache, each followed by its pools; of listings that say the same, the first."""
    reading = _Reading(report)
    reading.all_lines()
    new = Unrepeated[NamedCache | CachePool]()
    for listing in reading.listings:
        _check(report, listing)
        for cache in listing.values():
            if new(fact := NO_CACHE.placed(NOWHERE, name=cache.name, **cache.said)):
                yield fact.placed(report.source(cache.first, cache.last))
            for index, pool in cache.pools:
                if new(pool):
                    yield pool.placed(report.source(index))


class _Reading:
    """Walks over the lines; a summary, or a block of a cache that has one already, begins another listing."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self.listings: list[dict[str, _Cache]] = []
        self.cache: _Cache | None = None
        self.lost_pools = False
        backwards = range(len(report.lines) - 1, -1, -1)
        self.final = next((index for index in backwards if report.lines[index].strip()), 0)

    def all_lines(self) -> None:
        index, lines = 0, self.report.lines
        while index < len(lines):
            line = _line(lines[index])
            if line.summary:
                index = self.summary(index)
            elif line.cache:
                self.block(index, *line.cache)
            elif line.pool:
                self.pool(index, *line.pool)
            elif line.frame:
                self.report.claim(index)
            elif self.cache and line.said:
                self.report.claim(index)
                self.cache.said.update(line.said)
                if index == self.final:  # nothing follows: it may be half of what was printed
                    self.cache.said.update(CUT.get(line.said[-1][0], {}))
                self.cache.reaches(index)
            index += 1

    def summary(self, index: int) -> int:
        """Read the summary table that begins here; return its last line."""
        self.listings.append({})
        self.cache = None
        table = cut(self.report.lines, index, stop=STOP)
        claim(self.report, table)
        for row in table.rows:
            if (summed := row.made.get(_summed)) is None:
                summed = row.made[_summed] = _summed(row)
            name, said = summed
            if said:
                self.listings[-1].setdefault(name, _Cache(name, row.first, row.last, said.copy()))
            else:
                self.report.problem(f"{DAMAGED}: {REMEDY}", row.first)
        if table.last >= self.final and table.layout == "isql":
            self.report.problem(f"the summary ends before its Total line: {REMEDY}", table.last)
        return max(table.last, index)

    def block(self, index: int, name: str, status: str, kind: str) -> None:
        """Begin the block of one cache."""
        self.report.claim(index)
        if not self.listings or ((before := self.listings[-1].get(name)) and before.block is not None):
            self.listings.append({})
        self.cache = self.listings[-1].setdefault(name, _Cache(name, index, index, {}))
        self.cache.said.update(status=status or None, kind=kind or self.cache.said.get("kind"))
        self.cache.reaches(index)

    def pool(self, index: int, pool: dict[str, Any], wrong: str) -> None:
        """Take one pool."""
        if not self.cache:
            if not self.lost_pools:
                self.report.problem(
                    f"pools without the `Cache:` line above them: export the messages too, {REMEDY}", index
                )
            self.lost_pools = True
            return
        self.report.claim(index)
        if wrong:
            self.report.problem(wrong, index)
        self.cache.damaged |= wrong == DAMAGED_POOL
        if pool:
            self.cache.pools.append((index, NO_POOL.placed(NOWHERE, cache=self.cache.name, **pool)))


CUT: dict[str, dict[str, Any]] = {
    "run_replacement": {"run_replacement": None},
    "run_partitions": {"run_partitions": ABSENT},
}
"""What is not known where the last line of an export says it."""


@known_lines
def _line(line: str) -> _Line:
    """What a line says. What each pattern asks for is looked for first: most lines have none of it."""
    if plain := PLAIN_POOL.fullmatch(line):
        return _Line(pool=(dict(zip(POOL_FIELDS, map(float, plain.groups()), strict=True)), ""))
    low = line.lower()
    cache = CACHE.match(line) if "cache:" in low else None
    if "cache" in low and SUMMARY.search(line):
        return _Line(summary=True)
    if cache:
        return _Line(cache=(cache["name"].strip(), cache["status"].strip(), cache["kind"].strip()))
    if "config" in low and (said := _attributes(line)):
        return _Line(said=said)
    total = "total" in low and TOTAL.match(line)
    if "kb" in low and POOL.match(line) and not total:
        return _Line(pool=_pool(line))
    return _Line(frame=bool(total) or any(frame.match(line) for frame in (POOLS, FRAME, RULE_OFF)))


def _attributes(line: str) -> tuple[tuple[str, Any], ...]:
    """Fields of a cache, as a line of its block gives them."""
    if SIZES.match(line) and len(sizes := SIZE.findall(line)) == 2:
        return ("config_size_mb", size(sizes[0], "m")), ("run_size_mb", size(sizes[1], "m"))
    if found := REPLACEMENT.match(line):
        return ("config_replacement", found[1].strip() or None), ("run_replacement", found[2].strip() or None)
    if found := PARTITIONS.match(line):
        return ("config_partitions", reading(found[1])), ("run_partitions", reading(found[2]))
    return ()


def _pool(line: str) -> tuple[dict[str, Any], str]:
    """The fields of one pool, of four sizes with their units and the APF per cent; and what is wrong with its row."""
    found = list(SIZE.finditer(line))
    if len(found) != 4:
        return {}, DAMAGED_POOL
    io_size, wash, config, run = (one[0] for one in found)
    apf = reading(line[found[-1].end() :].strip(" \t|,;\"'"))
    wrong = f"this pool's row ends before its APF per cent: {REMEDY}" if apf is ABSENT else ""
    io_size_kb = size(io_size, "k")
    if not known(io_size_kb):
        return {}, wrong
    sizes = {"wash_size_kb": size(wash, "k"), "config_size_mb": size(config, "m"), "run_size_mb": size(run, "m")}
    return {"io_size_kb": io_size_kb, **sizes, "apf_percent": apf}, wrong


def _summed(row: Row) -> tuple[str, dict[str, Any]]:
    """Name and fields of a row of the summary; by status and units where its values stand beside their columns."""
    name, status, kind = row.get("Cache Name"), row.get("Status"), row.get("Type")
    sizes = [row.get("Config Value"), row.get("Run Value")]
    if not (name and status and row.whole and all(SIZE.fullmatch(one) for one in sizes)):
        sizes = SIZE.findall(row.text)
        found = NAMED.match(row.text[: row.text.find(sizes[0])].strip() + " ") if len(sizes) == 2 else None
        if not found:
            return "", {}
        name, status, kind = (found[part].strip() for part in ("name", "status", "kind"))
    config, run = (size(one, "m") for one in sizes)
    return name, {"status": status, "kind": kind or None, "config_size_mb": config, "run_size_mb": run}


def _check(report: Report, listing: dict[str, _Cache]) -> None:
    """Say what is missing in a listing."""
    blocks = [(cache, cache.block) for cache in listing.values() if cache.block is not None]
    for cache, last in blocks:
        name, run = cache.name, cache.said.get("run_size_mb", ABSENT)
        if cache.damaged:
            continue
        if run is ABSENT or (not cache.pools and (cache.said.get("status") or "").lower() == "active"):
            report.problem(
                f"the block of cache `{name}` is not complete, its size or its pools are missing: {REMEDY}", last
            )
        elif cache.pools and known(run):
            pools = [pool.run_size_mb for _, pool in cache.pools]
            together = sum(pool for pool in pools if known(pool))
            if all(known(pool) for pool in pools) and together < run * (1 - NEAR) - 0.1:
                what = f"its pools make up {together:g} Mb of {run:g} Mb, so rows are missing"
                report.problem(f"the block of cache `{name}`: {what}; {REMEDY}", last)
    without = [cache.name for cache in listing.values() if cache.block is None]
    if blocks and without:
        report.problem(f"no block for {', '.join(f'`{name}`' for name in without[:5])}: the listing is cut; {REMEDY}")
