"""The settings watched over time keep their names, and what waits for a restart has its own."""

from typing import Any

from collectors.facts import OVERFLOW, Facts, Missing
from collectors.facts.ase import CachePool, ConfigParameter, NamedCache, Server
from collectors.facts.openvms import Cpu, FastpathDevice, KernelService, Node, SysgenParameter
from rules.figures import settings_of


def test_a_setting_has_what_runs_and_under_another_name_what_waits() -> None:
    settings = settings_of(
        Facts(
            (
                ConfigParameter(name="number of locks", config_value=9000, run_value=5000),
                ConfigParameter(name="max memory", config_value=7.0, run_value=7.0),
                ConfigParameter(name="by default", default_value=3.0, config_value="DEFAULT", run_value=3.0),
                ConfigParameter(name="sort order", config_value="bin_iso_1", run_value="bin_iso_1", instance="i1"),
                ConfigParameter(name="too wide", run_value=OVERFLOW),
                ConfigParameter(name="not printed"),
            )
        )
    )
    assert settings == {
        "sp_configure: number of locks": 5000.0,
        "sp_configure: number of locks (configured)": 9000.0,
        "sp_configure: max memory": 7.0,
        "sp_configure: by default": 3.0,
        "sp_configure: sort order [i1]": "bin_iso_1",
        "sp_configure: too wide": Missing.OVERFLOW.value,
    }
    assert {type(value) for value in settings.values()} == {float, str}


def test_a_cache_has_size_replacement_partitions_and_pools() -> None:
    sizes: dict[str, Any] = {"config_size_mb": 0.0, "run_size_mb": 60.0}
    cache = NamedCache(name="c", kind="Mixed", config_replacement="relaxed LRU", run_replacement="strict LRU", **sizes)
    parts = NamedCache(name="d", config_partitions=8, run_partitions=4, config_replacement="STRICT lru", instance=2)
    spelt = NamedCache(name="e", config_replacement="Strict LRU", run_replacement="strict LRU")
    pool = CachePool(cache="c", io_size_kb=16.0, wash_size_kb=512, config_size_mb=20, run_size_mb=10)
    assert settings_of(Facts((Server(page_size_bytes=4096), cache, parts, spelt, pool))) == {
        "server: page size, bytes": 4096.0,
        "cache c: type": "Mixed",
        "cache c: size, MB": 60.0,
        "cache c: replacement": "strict LRU",
        "cache c: replacement (configured)": "relaxed LRU",
        "cache d [2]: replacement (configured)": "STRICT lru",
        "cache d [2]: partitions": 4.0,
        "cache d [2]: partitions (configured)": 8.0,
        "cache e: replacement": "strict LRU",
        "cache c, 16 KB pool: size, MB": 10.0,
        "cache c, 16 KB pool: size, MB (configured)": 20.0,
        "cache c, 16 KB pool: wash, KB": 512.0,
    }


def test_of_two_listings_the_later_one_counts_with_nothing_left_of_the_first() -> None:
    waiting = ConfigParameter(name="number of locks", config_value=9000, run_value=5000)
    restarted = ConfigParameter(name="number of locks", config_value=9000, run_value=9000)
    assert settings_of(Facts((waiting, restarted))) == {"sp_configure: number of locks": 9000.0}


def test_a_node_has_its_parameters_its_processors_and_the_cpu_of_its_lock_manager() -> None:
    found = settings_of(
        Facts(
            (
                Node(name="ORKNEY", active_cpus=8.0),
                SysgenParameter(name="RESHASHTBL", current=65536.0, default=64.0, node="ORKNEY"),
                SysgenParameter(name="SCSNODE", current="ORKNEY"),
                SysgenParameter(name="PE1"),
                KernelService(service="OpenVMS Lock Manager", cpu=6),
                KernelService(service="OpenVMS TCP/IP", cpu=4),
                FastpathDevice(device="EWA0", cpu=1),
                Cpu(number=2, state="RUN", cothread=6.0),
            )
        )
    )
    assert found == {
        "node: active CPUs": 8.0,
        "SYSGEN: RESHASHTBL": 65536.0,
        "SYSGEN: SCSNODE": "ORKNEY",
        "lock manager: CPU": 6.0,
        "OpenVMS TCP/IP: CPU": 4.0,
        "fast path EWA0: CPU": 1.0,
        "CPU 2: state": "RUN",
        "CPU 2: co-thread": 6.0,
    }


def test_parameters_of_several_nodes_do_not_overwrite_each_other() -> None:
    nodes = [SysgenParameter(name="LOCKDIRWT", current=value, node=node) for value, node in ((1, "A"), (2, "B"))]
    assert settings_of(Facts(tuple(nodes))) == {"SYSGEN: LOCKDIRWT [A]": 1.0, "SYSGEN: LOCKDIRWT [B]": 2.0}
