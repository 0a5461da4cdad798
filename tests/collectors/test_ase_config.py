"""The readers of ASE's configuration against real exports, against foreign lines, and against damage."""

import io
import random
from dataclasses import fields
from pathlib import Path

import pytest

from collectors.facts.ase import CachePool, ConfigParameter, NamedCache, Server
from collectors.facts.base import ABSENT, Missing, known
from collectors.read import Input, read_stream
from collectors.registry import starting

HERE = Path(__file__).parent.parent / "exports" / "ase"
OURS = ("sp_cacheconfig", "sp_configure", "syscacheinfo", "version")


def read(path: Path) -> list[Input]:
    with path.open("rb") as stream:
        return read_stream(path.name, stream)


@pytest.mark.parametrize(
    "line",
    [
        "Parameter Name            Current    Default     Min.     Max.     Unit  Dynamic",
        "Server Version:        Adaptive Server Enterprise/16.0 SP03 PL09/EBF 28722 SMP/ ",
        "\tServer Version:        Adaptive Server Enterprise/15.7/EBF 20369 SMP SP61 /P/x",
        "      Sybase Adaptive Server Enterprise System Performance Report",
        "  Cache: default data cache",
        "Cache Name         Config Size   Run Size   Overhead",
        "Cache Name           Entity Name                Type               Index Name                    Status",
        "Name                      Num_free    Num_active  Pct_act Max_Used    Reuse_cnt",
        "CacheID,RelaxedReplacement,BufferPools,CacheSearches,PhysicalReads,CacheName",
        " Minimum Value   Maximum Value   Default Value   Current Value   Memory Used   Unit             Type",
        "|Parameter Name|Default Value|Description|",
        "Group: Users",
    ],
)
def test_lines_of_other_reports_do_not_start_ours(line: str) -> None:
    assert not [kind.id for kind in starting(line) if kind.id in {f"ase/{name}" for name in OURS}]


def test_real_listing_of_15_7(real_exports: Path) -> None:
    found = read(real_exports / "ase" / "sp_cacheconfig_15.7_sp104.txt")
    version, caches, memory, options, procedures = found
    (server,) = version.facts
    assert isinstance(server, Server)
    assert (server.release, server.name, version.leftovers) == ((15, 7), None, [])
    named = {fact.name: fact for fact in caches.facts if isinstance(fact, NamedCache)}
    pools = [fact for fact in caches.facts if isinstance(fact, CachePool)]
    assert list(named) == ["default data cache", "log_cache", "tempdb_cache"]
    assert [cache.relaxed for cache in named.values()] == [False, True, True]
    for cache in named.values():
        assert cache.run_size_mb == sum(pool.run_size_mb for pool in pools if pool.cache == cache.name)  # type: ignore[misc]  # all are numbers here
        assert (cache.run_partitions, cache.pending) == (4.0, False)
    assert all(fact.run_value == fact.config_value for fact in options.facts if isinstance(fact, ConfigParameter))
    assert (len(options.facts), caches.problems, options.problems) == (2, [], [])
    ranges = [fact for one in (memory, procedures) for fact in one.facts if isinstance(fact, ConfigParameter)]
    assert [fact.name for fact in ranges] == ["max memory", "procedure cache size"]
    assert all(known(fact.minimum) and fact.minimum == fact.default_value for fact in ranges)
    assert [one.leftovers for one in found] == [[]] * 5


def test_real_listing_of_16_0(real_exports: Path) -> None:
    (found,) = read(real_exports / "ase" / "sp_cacheconfig_16.0_default.txt")
    cache, pool = found.facts
    assert isinstance(cache, NamedCache)
    assert isinstance(pool, CachePool)
    assert (cache.config_size_mb, cache.pending) == (0.0, False)
    assert known(cache.run_size_mb)
    assert pool.run_size_mb == cache.run_size_mb > 0
    assert known(pool.wash_size_kb)
    assert 0 < pool.wash_size_kb / 1024 < cache.run_size_mb
    assert (found.problems, found.leftovers) == ([], [])


def test_real_configuration_listings(real_exports: Path) -> None:
    (ratios,) = read(real_exports / "ase" / "sp_configure_spinlock_group.txt")
    assert len(ratios.facts) == 8
    assert {fact.unit for fact in ratios.facts if isinstance(fact, ConfigParameter)} == {"ratio"}
    (waiting,) = read(real_exports / "ase" / "sp_configure_pending_restart.txt")
    (fact,) = waiting.facts
    assert isinstance(fact, ConfigParameter)
    assert (fact.name, fact.run_value) == ("engine local cache percent", fact.default_value)
    assert (fact.kind, fact.unit, fact.pending) == ("static", "percent", True)
    assert not any(found.problems or found.leftovers for found in (ratios, waiting))


def test_no_other_real_export_is_taken(real_exports: Path) -> None:
    ours = {f"ase/{name}" for name in OURS}
    taken = {
        path.name
        for path in real_exports.rglob("*")
        if path.is_file() and ours & {found.report for found in read(path)} and path.suffix in (".txt", ".csv", ".lis")
    }
    assert taken == {path.name for path in (real_exports / "ase").glob("sp_c*.txt")}


DIRT = [
    "|",
    "+--+",
    "--",
    "\t",
    "  ",
    ",",
    ";",
    '"',
    "*",
    "9" * 5000,
    "\u0663",
    "<td>",
    "</tr>",
    "Cache:",
    " Kb",
    "=====",
    "1>",
]


def damaged(lines: list[str], chance: random.Random) -> list[str]:
    lines = list(lines)
    for _ in range(chance.randint(1, 5)):
        at = chance.randrange(len(lines))
        line = lines[at]
        cut = chance.randint(0, len(line))
        what = chance.randrange(6)
        if what == 0 and len(lines) > 1:
            del lines[at]
        elif what == 1:
            lines.insert(at, chance.choice(lines))
        else:
            lines[at] = [
                line[:cut],
                line[cut:],
                line[:cut] + chance.choice(DIRT) + line[cut:],
                line[:cut] + line[cut + 3 :],
            ][what - 2]
    return lines


@pytest.mark.parametrize("report", OURS)
def test_damage_gives_facts_problems_and_leftovers_and_nothing_else(report: str) -> None:
    chance = random.Random(report)
    texts = [
        path.read_text(encoding="utf-8").split("\n")
        for path in sorted((HERE / report).glob("*"))
        if path.suffix != ".yml"
    ]
    for _ in range(200):
        lines = damaged(chance.choice(texts), chance)
        for found in read_stream("x", io.BytesIO("\n".join(lines).encode())):
            for fact in found.facts:
                assert 1 <= fact.source.first <= fact.source.last <= len(lines)
                for value in (getattr(fact, one.name) for one in fields(fact)):
                    assert not isinstance(value, float) or abs(value) < 1e25


def test_default_stands_for_the_default_value() -> None:
    parameter = ConfigParameter(name="x", default_value=10.0, config_value="DEFAULT", run_value=12.0)
    assert parameter.pending
    assert not ConfigParameter(name="x", config_value="DEFAULT", run_value=12.0).pending
    assert ConfigParameter(name="x", config_value=ABSENT, run_value=1.0).run_number == 1.0
    assert all(not NamedCache(name="x", run_size_mb=5.0, config_size_mb=size).pending for size in (0.0, 5.0, *Missing))
