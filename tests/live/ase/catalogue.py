"""Rows of the catalogue: databases, objects, indexes, users, configuration and caches."""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.live.ase.world import World

SCHEME_BITS = {"allpages": 8_192, "datapages": 16_384, "datarows": 32_768}
"""What `sysobjects.sysstat2` says of the lock scheme; nothing of it means allpages too."""
CLUSTERED = 131_072
"""The bit of `sysstat2` for a clustered or placement index."""
OFFLINE = 16
"""The bit of `sysdatabases.status2` for a database that is offline."""
CACHES_PARENT = 19
"""The parent that `sysconfigures` gives to named caches."""
FIRST_CONFIGURATION = 101
TEXT_INDEX = 255


def databases(world: "World") -> Iterator[Mapping[str, Any]]:
    """One row for each database."""
    for row in world.databases:
        offline = world.faults.has("offline-database", row["name"])
        yield {
            **row,
            "suid": 1,
            "status": 12,
            "status2": OFFLINE if offline else 0,
            "status3": 0,
            "crdate": world.booted,
        }


def fragments(world: "World") -> Iterator[Mapping[str, Any]]:
    """Two rows for each database of users, data and log apart; one for each of the server's own, as it is installed."""
    for row in world.databases:
        apart = 4 <= row["dbid"] < 31_513
        for place, segments in enumerate((3, 4) if apart else (7,)):
            yield {"dbid": row["dbid"], "segmap": segments, "lstart": place * 51_200, "size": 51_200, "vdevno": place}


def objects(world: "World", database: str) -> Iterator[Mapping[str, Any]]:
    """The tables of a database, its system tables first."""
    for row in tables_of(world, database):
        bits = SCHEME_BITS[row["Scheme"]] | (CLUSTERED if row["Clustered"] else 0)
        yield {
            "name": row["Name"],
            "id": row["ID"],
            "uid": 1,
            "type": "S" if row["Database"] == "*" else "U",
            "userstat": 0,
            "sysstat": 3,
            "sysstat2": bits,
            "crdate": world.booted,
        }


def tables_of(world: "World", database: str) -> list[Mapping[str, Any]]:
    """The data of a database's tables. What stands under `*` is in each."""
    return sorted((one for one in world.objects if one["Database"] in (database, "*")), key=lambda one: int(one["ID"]))


def indexes_of(row: Mapping[str, Any]) -> Iterator[tuple[int, str, int]]:
    """The rows that a table has in sysindexes: index id, name and kilobytes.

    0 is the data, but of an allpages table with a clustered index, whose data are 1.
    """
    name, kb = row["Name"], row["DataKB"]
    clustered = bool(row["Clustered"])
    if clustered and row["Scheme"] == "allpages":
        yield 1, f"{name[:20]}_clu", kb
    else:
        yield 0, name, kb
        if clustered:
            yield 2, f"{name[:20]}_plc", kb // 40
    first = 3 if clustered and row["Scheme"] != "allpages" else 2
    sizes = [] if row["IndexKB"] is None else str(row["IndexKB"]).split()
    for at, size in enumerate(sizes):
        yield first + at, f"{name[:20]}_i{at + 1}", int(size)


def indexes(world: "World", database: str) -> Iterator[Mapping[str, Any]]:
    """The rows of sysindexes of a database."""
    for row in tables_of(world, database):
        for indid, name, _ in indexes_of(row):
            yield {
                "name": name,
                "id": row["ID"],
                "indid": indid,
                "keycnt": 1 if indid else 0,
                "status": 0,
                "status2": 0,
            }


def users(world: "World", database: str) -> Iterator[Mapping[str, Any]]:
    """The users of a database."""
    yield {"suid": 1, "uid": 1, "gid": 0, "name": "dbo"}
    yield {"suid": -2, "uid": 2, "gid": 0, "name": "guest"}
    yield {"suid": -1, "uid": 0, "gid": 0, "name": "public"}


def configured(world: "World") -> Iterator[Mapping[str, Any]]:
    """The rows of sysconfigures: what is configured, and under the caches' parent the named caches."""
    for at, row in enumerate(world.configuration):
        text = row["Config"] if isinstance(row["Config"], str) else None
        yield {
            "config": FIRST_CONFIGURATION + at,
            "name": row["Name"],
            "comment": row["Name"],
            "value": 0 if text else row["Config"],
            "value2": text,
            "status": 0,
            "parent": 1,
        }
    for cache in world.caches:
        kilobytes = round(cache["ConfigMB"] * 1024)
        name = cache["CacheName"]
        yield {"config": CACHES_PARENT, "name": name, "comment": name, "value": kilobytes, "parent": CACHES_PARENT}


def current(world: "World") -> Iterator[Mapping[str, Any]]:
    """The rows of syscurconfigs: what runs."""
    for at, row in enumerate(world.configuration):
        text = row["Run"] if isinstance(row["Run"], str) else None
        yield {
            "config": FIRST_CONFIGURATION + at,
            "comment": row["Name"],
            "value": 0 if text else row["Run"],
            "value2": text,
            "defvalue": str(row["Default"]),
            "memory_used": str(row["Memory"]),
            "minimum_value": row["Min"],
            "maximum_value": row["Max"],
            "type": row["Type"],
            "unit": row["Unit"],
        }


def cache_info(world: "World") -> Iterator[Mapping[str, Any]]:
    """The rows of syscacheinfo. Sizes are megabytes, the overhead too."""
    for cache in world.caches:
        yield {
            "cache_name": cache["CacheName"],
            "cache_status": cache["Status"],
            "cache_type": cache["Type"],
            "config_size": cache["ConfigMB"],
            "run_size": cache["RunMB"],
            "config_replacement": cache["ConfigReplacement"],
            "run_replacement": cache["Replacement"],
            "config_partitions": cache["ConfigPartitions"],
            "run_partitions": cache["Partitions"],
            "overhead": round(cache["OverheadKB"] / 1024, 2),
            "cacheid": cache["CacheID"],
            "instanceid": 0,
            "scope": "Global",
        }


def pool_info(world: "World") -> Iterator[Mapping[str, Any]]:
    """The rows of syspoolinfo. Sizes are megabytes; the wash is text, in kilobytes."""
    ids = {cache["CacheName"]: cache["CacheID"] for cache in world.caches}
    for pool in world.pools:
        yield {
            "cache_name": pool["CacheName"],
            "io_size": str(pool["KB"]),
            "config_size": pool["ConfigMB"],
            "run_size": pool["RunMB"],
            "apf_percent": pool["APFPercentage"],
            "wash_size": str(pool["WashKB"]),
            "cacheid": ids[pool["CacheName"]],
            "instanceid": 0,
            "scope": "Global",
        }


def engines(world: "World") -> Iterator[Mapping[str, Any]]:
    """The rows of sysengines."""
    for engine in range(world.release.engines):
        yield {"engine": engine, "osprocid": 4_242, "status": "online", "affinitied": 0, "starttime": world.booted}


MAKERS: Mapping[str, Callable[["World"], Iterator[Mapping[str, Any]]]] = {
    "sysdatabases": databases,
    "sysusages": fragments,
    "sysconfigures": configured,
    "syscurconfigs": current,
    "syscacheinfo": cache_info,
    "syspoolinfo": pool_info,
    "sysengines": engines,
}
IN_A_DATABASE: Mapping[str, Callable[["World", str], Iterator[Mapping[str, Any]]]] = {
    "sysobjects": objects,
    "sysindexes": indexes,
    "sysusers": users,
}
