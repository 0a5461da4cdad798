"""Data caches and their pools as result sets (`syscacheinfo`, `syspoolinfo`, `syscachepoolinfo` of master, 15.7+).

The desktop tool decides how figures look; here blanks part thousands, a comma the decimals (ase-formats.md 3.3 [R])::

    |cache_name|cache_status|cache_type|config_size|run_size|config_replacement|run_replacement|…|overhead|…|scope |
    |hot_cache |Active      |Mixed     |      2 400|   2 400|Strict LRU        |Strict LRU     |…|   96,37|…|Global|

    |cache_name|io_size|config_size|run_size|apf_percent|wash_size|cacheid|instanceid|scope |
    |hot_cache |8      |      2 400|   2 400|         10|61440    |      1|         0|Global|

Also read: isql (wrapped or not), CSV and TSV. Sizes are megabytes, `io_size` and `wash_size` kilobytes, unless a unit
is printed. `syscachepoolinfo` joins both tables (`cache_config_size`, `pool_config_size`, …): it gives each cache once.
A column that was not selected is absent; the same row in a second result set says nothing new and is not repeated.
"""

import re
from collections.abc import Iterator
from functools import partial

from collectors.facts.ase import CachePool, NamedCache
from collectors.facts.base import known
from collectors.layouts.figures import decimal_comma, number, reading, size
from collectors.layouts.tables import Row, Table
from collectors.registry import NotThisReport, Report, report
from collectors.tables import Listing, Unrepeated

HEADING = re.compile(
    r"\bcache_name\W+(?:cache_status|cache_type"
    r"|(?:cache_|pool_)?(?:io_size|wash_size|apf_percent|overhead|config_[a-z]+|run_[a-z]+))\b",
    re.IGNORECASE,
)
START = HEADING
STOP = re.compile(rf"\W{{0,40}}(?:{HEADING.pattern})", re.IGNORECASE)
REMARK = re.compile(r"\s*(?:Rows [0-9]{1,12}|#{3,}|##\s?(?:select|sp_)\b.*)\s*$", re.IGNORECASE)
WORDS = ("cachename", "cachestatus", "cachetype", "scope")
REMEDY = "export it again in full (isql -w 1000)"


@report(starts=START, provides=(NamedCache, CachePool))
def read(report: Report) -> Iterator[NamedCache | CachePool]:
    """Yield one fact per cache and per pool."""
    tables = 0
    new = Unrepeated[NamedCache | CachePool]()
    for heading, table in BY_SIGN[False].tables(report):
        tables += 1
        comma = decimal_comma(cell for row in table.rows for name, cell in row.cells.items() if name not in WORDS)
        yield from BY_SIGN[comma].facts(report, table, heading, new)
    if not tables:
        raise NotThisReport


def _facts(row: Row, table: Table, *, comma: bool) -> Iterator[NamedCache | CachePool | str]:
    if not row.whole or not row.get("cache_name"):
        return
    pools = table.has("io_size") or table.has("pool_io_size")
    if not pools or table.has("cache_run_size") or table.has("cache_status"):
        yield _cache(row, comma=comma)
    if pools:
        pool = _pool(row, comma=comma)
        yield pool or f"the I/O size of this pool is no figure, so it was not read: {REMEDY}"


def _cache(row: Row, *, comma: bool) -> NamedCache:
    """The part of a row that describes a cache."""
    return NamedCache(
        name=row.get("cache_name"),
        status=_words(row.get("cache_status")),
        kind=_words(row.get("cache_type")),
        config_size_mb=size(row.get("cache_config_size", "config_size"), "m", comma=comma),
        run_size_mb=size(row.get("cache_run_size", "run_size"), "m", comma=comma),
        config_replacement=_words(row.get("cache_config_replacement", "config_replacement")),
        run_replacement=_words(row.get("cache_run_replacement", "run_replacement")),
        config_partitions=reading(row.get("cache_config_partitions", "config_partitions"), comma=comma),
        run_partitions=reading(row.get("cache_run_partitions", "run_partitions"), comma=comma),
        overhead_mb=size(row.get("cache_overhead", "overhead"), "m", comma=comma),
        instance=_instance(row),
    )


def _pool(row: Row, *, comma: bool) -> CachePool | None:
    """The part of a row that describes a pool."""
    io_size = size(row.get("pool_io_size", "io_size"), "k", comma=comma)
    if not known(io_size):
        return None
    return CachePool(
        cache=row.get("cache_name"),
        io_size_kb=io_size,
        wash_size_kb=size(row.get("pool_wash_size", "wash_size"), "k", comma=comma),
        config_size_mb=size(row.get("pool_config_size", "config_size"), "m", comma=comma),
        run_size_mb=size(row.get("pool_run_size", "run_size"), "m", comma=comma),
        apf_percent=reading(row.get("pool_apf_percent", "apf_percent"), comma=comma),
        instance=_instance(row),
    )


def _words(text: str) -> str | None:
    return text if text and text.upper() != "NULL" else None


def _instance(row: Row) -> int | None:
    """The instance a row is limited to: on one server, and for a cache of all instances, there is none."""
    found = number(row.get("instanceid"))
    return int(found) if found and row.get("scope").lower() != "global" else None


BY_SIGN: dict[bool, Listing[NamedCache | CachePool]] = {
    comma: Listing(
        heading=HEADING,
        row=partial(_facts, comma=comma),
        stop=STOP,
        remarks=REMARK,
        ours=lambda table: table.has("cache_name"),
        remedy=REMEDY,
    )
    for comma in (False, True)
}
"""By whether figures have a decimal comma, which the whole of a table tells."""
