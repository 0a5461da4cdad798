"""What goes on in the servers of `tests.live`: counters that grow, wrap, start anew; reports that the readers read."""

import io
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

import pyodbc
import pytest

from collectors.facts import ABSENT, ase
from collectors.read import Input, read_stream
from tests.live.ase.clock import Clock
from tests.live.ase.faults import Faults
from tests.live.ase.release import load
from tests.live.ase.world import World
from tests.live.queries import ask, connected, one, rows
from tests.live.running import serving

FAST = 60.0


class At(Clock):
    """A clock that stands where it is put."""

    def __init__(self, seconds: float = 0.0) -> None:
        super().__init__()
        self.at = seconds

    @property
    def seconds(self) -> float:
        return self.at


def world_at(seconds: float, *faults: str, release: str = "15.7") -> World:
    return World(load(release), At(seconds), Faults(faults))


def table(world: World, name: str) -> list[dict[str, Any]]:
    columns = [made.column.name for made in world.columns[name]]
    return [dict(zip(columns, row, strict=True)) for row in world.rows("master", name)]


def row(world: World, name: str, **where: object) -> dict[str, Any]:
    (found,) = [one for one in table(world, name) if all(one[key] == value for key, value in where.items())]
    return found


@contextmanager
def a_fast_server(release: str = "15.7") -> Iterator[pyodbc.Connection]:
    with serving(release=release, pace=FAST) as server, connected(server) as connection:
        yield connection


def test_counters_grow_with_the_time_that_the_server_shows() -> None:
    counted: list[float] = []
    shown: list[datetime] = []
    with a_fast_server() as connection:
        for _ in range(2):
            shown.append(one(connection, "getdate()"))
            (found,) = rows(connection, "select CacheSearches from master..monDataCache where CacheID = 0")
            counted.append(found["CacheSearches"])
            shown.append(one(connection, "getdate()"))
            time.sleep(0.5)
    grown, (first, second, third, last) = counted[1] - counted[0], shown
    assert third - second >= timedelta(seconds=0.5 * FAST)
    assert third - second <= timedelta(seconds=(grown + 1) / 118_000)
    assert timedelta(seconds=(grown - 1) / 118_000) <= last - first


def test_what_the_server_waits_it_waits_by_its_own_clock() -> None:
    with a_fast_server() as connection:
        before = one(connection, "getdate()")
        ask(connection, "waitfor delay '00:00:30'")
        assert one(connection, "getdate()") - before >= timedelta(seconds=30)


def test_the_same_moment_has_the_same_rows_in_each_run() -> None:
    for name in world_at(0).columns:
        if name not in ("sysobjects", "sysindexes", "sysusers"):
            assert world_at(100).rows("master", name) == world_at(100).rows("master", name)


def test_an_int_counter_passes_two_to_the_31_and_starts_at_zero() -> None:
    values = [row(world_at(at, "wrap=100"), "monDataCache", CacheID=0)["CacheSearches"] for at in (99, 101)]
    assert values[0] == pytest.approx(2**31 - 118_000, abs=2)
    assert values[1] == pytest.approx(118_000, abs=2)


def test_a_signed_counter_is_negative_before_it_passes_two_to_the_32() -> None:
    values = [row(world_at(at, "wrap-signed=100"), "monDataCache", CacheID=0)["CacheSearches"] for at in (99, 101)]
    assert values[0] == pytest.approx(-118_000, abs=2)
    assert values[1] == pytest.approx(118_000, abs=2)


@pytest.mark.parametrize("release", ["15.7", "16.0"])
def test_no_counter_of_32_bits_wraps_in_the_first_half_hour_unless_told_to(release: str) -> None:
    for name in ("monDataCache", "monCachePool", "monOpenObjectActivity", "monProcedureCache", "monEngine"):
        early, late = (world_at(at, release=release) for at in (0, 1_800))
        for before, after in zip(table(early, name), table(late, name), strict=True):
            for made in early.columns[name]:
                if made.counts:
                    assert 0 <= before[made.column.name] <= after[made.column.name], (name, made.column.name)


def test_an_int_counter_that_nobody_watched_for_a_day_is_still_an_int() -> None:
    found = row(world_at(86_400), "monDataCache", CacheID=0)["CacheSearches"]
    assert found == pytest.approx(118_000 * (86_400 + 7_200) % 2**31, abs=2)


def test_a_restart_moves_the_boot_and_starts_every_counter_anew() -> None:
    before, after = world_at(9, "restarted=10"), world_at(12, "restarted=10")
    assert after.booted - before.booted == timedelta(seconds=7_210)
    assert row(after, "monState")["StartDate"] == after.booted
    for name in ("Grabs", "Waits"):
        spins = [sum(one[name] for one in table(world, "monSpinlockActivity")) for world in (before, after)]
        assert spins[1] < spins[0] / 1_000


def test_clearing_resets_what_sp_sysmon_resets_and_leaves_the_rest() -> None:
    before, after = world_at(9, "cleared=10"), world_at(12, "cleared=10")
    assert row(after, "monState")["CountersCleared"] > row(before, "monState")["CountersCleared"]
    assert row(after, "monState")["StartDate"] == before.booted
    assert row(after, "monDataCache", CacheID=0)["CacheSearches"] == pytest.approx(2 * 118_000, abs=2)
    grabs = [sum(one["Grabs"] for one in table(world, "monSpinlockActivity")) for world in (before, after)]
    assert grabs[1] > grabs[0]


def test_a_row_that_vanished_comes_back_with_new_counts_and_a_new_date() -> None:
    hottest = {"ObjectName": "order_line", "IndexID": 1}
    first = row(world_at(9, "vanish=10"), "monOpenObjectActivity", **hottest)
    assert not [
        one for one in table(world_at(15, "vanish=10"), "monOpenObjectActivity") if one["ObjectName"] == "order_line"
    ]
    back = row(world_at(21, "vanish=10"), "monOpenObjectActivity", **hottest)
    assert back["ObjectCacheDate"] > first["ObjectCacheDate"]
    assert back["LogicalReads"] == pytest.approx(41_000, abs=2)


@pytest.mark.parametrize(("release", "engines"), [("15.7", 12), ("16.0", 8)])
def test_a_second_of_an_engine_is_a_second(release: str, engines: int) -> None:
    found = table(world_at(0, release=release), "monEngine")
    assert len(found) == engines
    for one_engine in found:
        parts = ("UserCPUTime", "SystemCPUTime", "IOCPUTime", "IdleCPUTime")
        assert sum(one_engine[name] for name in parts) == pytest.approx(7_200, abs=4)
        assert one_engine["CPUTime"] == pytest.approx(one_engine["UserCPUTime"] + one_engine["SystemCPUTime"], abs=1)


def test_the_address_lock_spinlocks_of_the_older_server_are_the_contended_ones() -> None:
    found = table(world_at(0), "monSpinlockActivity")
    address = [one for one in found if one["SpinlockName"] == "addrlockspins"]
    assert [one["SpinlockSlotID"] for one in address] == list(range(11))
    assert 100 * sum(one["Waits"] for one in address) / sum(one["Grabs"] for one in address) == pytest.approx(52, abs=5)


def test_the_spinlocks_of_the_newer_server_are_dear_at_a_low_share() -> None:
    found = table(world_at(0, release="16.0"), "monSpinlockActivity")
    spins: dict[str, int] = {}
    for one_row in found:
        spins[one_row["SpinlockName"]] = spins.get(one_row["SpinlockName"], 0) + one_row["Spins"]
    assert max(spins, key=lambda name: spins[name]) == "fglockspins"
    lock = [one for one in found if one["SpinlockName"] == "fglockspins"]
    assert 100 * sum(one["Waits"] for one in lock) / sum(one["Grabs"] for one in lock) < 3


def read(connection: pyodbc.Connection, batch: str, file: str) -> Input:
    """Read what a batch printed, as a client that keeps the messages writes it to a file."""
    lines = [part for kind, part in ask(connection, batch) if kind == "message"]
    (found,) = read_stream(file, io.BytesIO("".join(lines).encode()))
    return found


@pytest.mark.parametrize(("release", "address"), [("15.7", 52.1), ("16.0", 0.2)])
def test_sp_sysmon_prints_a_report_that_the_reader_reads_whole(release: str, address: float) -> None:
    with a_fast_server(release) as connection:
        before = one(connection, "getdate()")
        found = read(connection, "sp_sysmon '00:01:00', noclear", "sysmon.txt")
        assert one(connection, "getdate()") - before >= timedelta(seconds=60)
    assert found.problems == []
    assert found.leftovers == []
    hashes = [fact for fact in found.facts if isinstance(fact, ase.LockHashtable)]
    assert {fact.table: fact.contention_percent for fact in hashes}["address"] == address
    polls = {fact.controller: fact.events_per_poll for fact in found.facts if isinstance(fact, ase.ControllerActivity)}
    assert polls == {"CtlibController": ABSENT, "DiskController": 0.023}
