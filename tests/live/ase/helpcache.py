"""sp_cacheconfig, sp_poolconfig without a size, and sp_helpcache."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tests.live.ase import errors
from tests.live.tds.session import Client
from tests.live.tds.tokens import Event, Rows, Status, printed
from tests.live.tds.types import Column

if TYPE_CHECKING:
    from tests.live.ase.world import World

RULE = "=" * 74
OVERHEAD_SHARE = 0.0732
"""What sp_helpcache says a new cache costs beyond its size (knowledge/ase-formats.md, 3.4)."""
POOL_COLUMNS = [
    Column("IO Size", "char", size=8),
    Column("Wash Size", "char", size=13),
    Column("Config Size", "char", size=12),
    Column("Run Size", "char", size=12),
    Column("APF Percent", "char", size=11),
]


def cacheconfig(world: "World", client: Client, given: Sequence[str]) -> Iterator[Event]:
    """sp_cacheconfig: all caches, or one. Anything that would change one is refused."""
    if len(given) > 1:
        raise errors.no_role("sa_role")
    found = [one for one in world.caches if not given or one["CacheName"] == given[0]]
    if not found:
        raise errors.Failed(
            18_135, 16, f"The specified named cache '{given[0]}' does not exist.", procedure="sp_cacheconfig"
        )
    yield Rows(
        [
            Column("Cache Name", "varchar", size=max(len(one["CacheName"]) for one in found)),
            Column("Status", "varchar", size=8),
            Column("Type", "varchar", size=max(8, *(len(one["Type"]) for one in found))),
            Column("Config Value", "char", size=14),
            Column("Run Value", "char", size=12),
        ],
        [
            [one["CacheName"], one["Status"], one["Type"], f"{one['ConfigMB']:11.2f} Mb", f"{one['RunMB']:9.2f} Mb"]
            for one in found
        ],
    )
    total = [sum(one[name] for one in found) for name in ("ConfigMB", "RunMB")]
    yield printed(" " * 36 + "------------ ------------\n")
    yield printed(" " * 28 + f"Total   {total[0]:9.2f} Mb {total[1]:9.2f} Mb\n")
    for one in found:
        yield from _block(world, one)
    yield Status(0)


def _block(world: "World", cache: Mapping[str, Any]) -> Iterator[Event]:
    """The block of one cache: printed lines, and its pools as a result."""
    yield printed(RULE + "\n")
    yield printed(f"Cache: {cache['CacheName']},   Status: {cache['Status']},   Type: {cache['Type']}\n")
    yield printed(f"      Config Size: {cache['ConfigMB']:.2f} Mb,   Run Size: {cache['RunMB']:.2f} Mb\n")
    config, run = cache["ConfigReplacement"], cache["Replacement"]
    yield printed(f"      Config Replacement: {config},   Run Replacement: {run}\n")
    partitions = (cache["ConfigPartitions"], cache["Partitions"])
    yield printed(f"      Config Partition:  {partitions[0]:11d},   Run Partition:  {partitions[1]:11d}\n")
    yield Rows(
        POOL_COLUMNS,
        [
            [
                f"{pool['KB']:5d} Kb",
                f"{pool['WashKB']:10d} Kb",
                f"{pool['ConfigMB']:9.2f} Mb",
                f"{pool['RunMB']:9.2f} Mb",
                f"{pool['APFPercentage']:6d}",
            ]
            for pool in world.pools
            if pool["CacheName"] == cache["CacheName"]
        ],
    )


def helpcache(world: "World", client: Client, given: Sequence[str]) -> Iterator[Event]:
    """sp_helpcache: caches, what memory is left for them, and the bindings."""
    if given and given[0][-1:] in "KMGPkmgp" and given[0][:-1].replace(".", "").isdigit():
        size = float(given[0][:-1])
        yield printed(
            f"{size * OVERHEAD_SHARE:.2f}Mb of overhead memory will be needed to manage a cache of size {given[0]}\n"
        )
        yield Status(0)
        return
    wanted = given[0] if given else None
    yield Rows(
        [
            Column("Cache Name", "varchar", size=30),
            Column("Config Size", "char", size=14),
            Column("Run Size", "char", size=14),
            Column("Overhead", "char", size=14),
        ],
        [
            [
                one["CacheName"],
                *(f"{size:.2f} Mb" for size in (one["ConfigMB"], one["RunMB"], one["OverheadKB"] / 1_024)),
            ]
            for one in world.caches
            if wanted in (None, one["CacheName"])
        ],
    )
    named = sum(one["ConfigMB"] for one in world.caches)
    yield printed(" \n")
    yield printed("Memory Available For      Memory Configured\n")
    yield printed("Named Caches              To Named Caches\n")
    yield printed("--------------------       ----------------\n")
    yield printed(f"{sum(one['RunMB'] for one in world.caches):13.2f} Mb          {named:10.2f} Mb\n")
    yield printed(" \n")
    yield printed("------------------ Cache Binding Information: ------------------\n")
    yield printed(" \n")
    yield Rows(
        [
            Column("Cache Name", "varchar", size=30),
            Column("Entity Name", "varchar", size=317),
            Column("Type", "varchar", size=12),
            Column("Index Name", "varchar", size=255),
            Column("Status", "char", size=6),
        ],
        [
            [one["CacheName"], one["Entity"], one["Type"], one["Index"], one["Status"]]
            for one in world.bindings
            if wanted in (None, one["CacheName"])
        ],
    )
    yield Status(0)
