"""Exports of one folder that name no server are of one, but where anything in them tells two apart."""

import datetime as dt
from dataclasses import replace
from pathlib import PurePath

import pytest

from collectors.capture import captures
from collectors.facts import Fact
from collectors.facts.ase import ConfigParameter, MonSpinlockActivity, Server, Snapshot, SysmonSample
from collectors.facts.openvms import FileName, MemoryUse, SysgenParameter
from collectors.read import Input

NOON = dt.datetime(2026, 3, 2, 12)  # noqa: DTZ001 - exports have no zone


def given(file: str, report: str, *facts: Fact) -> Input:
    return Input(file, report, list(facts), given=str(PurePath(file).parent))


def spins(file: str, minute: float | None, count: float, *, reused: float = 9.0) -> Input:
    """One snapshot of two spinlocks; `reused`: what the second of them counts."""
    taken = None if minute is None else NOON + dt.timedelta(minutes=minute)
    rows = [
        MonSpinlockActivity(name=name, grabs=grabs, waits=0.0, spins=0.0)
        for name, grabs in (("fglockspins", count), ("tablockspins", reused))
    ]
    return given(file, "ase/monitor_tables", Snapshot(number=1, taken=taken, taken_in_full=True), *rows)


def settings(file: str, **values: float) -> Input:
    return given(file, "ase/sp_configure", *(ConfigParameter(name=name, run_value=of) for name, of in values.items()))


def report(file: str, minute: float, version: str = "16.0") -> Input:
    start = NOON + dt.timedelta(minutes=minute)
    sample = SysmonSample(start=start, end=start + dt.timedelta(minutes=10), seconds=600.0)
    return given(file, "ase/sp_sysmon", Server(version=version), sample)


def names(*inputs: Input) -> list[str]:
    return [one.system.name for one in captures(inputs)]


def pair() -> list[Input]:
    return [spins("north/spin_1.csv", 0, 100.0), spins("north/spin_2.csv", 10, 900.0)]


def test_snapshots_and_settings_of_one_folder_are_one_interval_with_its_settings_and_it_is_said_once() -> None:
    inputs = [*pair(), settings("north/sp_configure.txt", **{"lock spinlock ratio": 85.0})]
    (one,) = captures(inputs)
    assert one.system.name == "north"
    assert [row.grabs for row in one.facts.every(MonSpinlockActivity)] == [800.0, 0.0]
    assert one.facts.every(ConfigParameter)
    (said,) = [problem for each in inputs for problem in each.problems]
    assert said.startswith("no server's name was recognised in any of the 3 files of this folder")


@pytest.mark.parametrize(
    "apart",
    [
        pytest.param([spins("in/spin_north.csv", 0, 100.0), spins("in/spin_south.csv", 10, 900.0)], id="two names"),
        pytest.param([spins("in/spin_1.csv", 0, 100.0), spins("in/spin_2.csv", 0.4, 900.0)], id="at once"),
        pytest.param([spins("in/spin_1.csv", 0, 100.0), spins("in/spin_2.csv", 1500, 900.0)], id="a day later"),
        pytest.param([spins("in/spin_1.csv", 0, 900.0), spins("in/spin_2.csv", 10, 100.0)], id="counters fall"),
        pytest.param(
            [spins("in/spin_1.csv", None, 100.0, reused=9.0), spins("in/spin_2.csv", None, 900.0, reused=1.0)],
            id="without times: one rises, one falls",
        ),
        pytest.param(
            [settings("in/a.txt", **{"max memory": 9.0}), settings("in/b.txt", **{"max memory": 8.0})], id="two values"
        ),
        pytest.param(
            [settings("in/a.txt", **{"max memory": 9.0}), settings("in/b.txt", **{"max memory": 9.0})],
            id="one listing twice",
        ),
        pytest.param([report("in/a.txt", 0), report("in/b.txt", 20, "15.7")], id="two releases"),
        pytest.param([report("in/a.txt", 0), report("in/b.txt", 5)], id="reports of one time"),
        pytest.param([pair()[0], spins("south/spin_2.csv", 10, 900.0)], id="two folders"),
    ],
)
def test_what_may_be_of_two_servers_stays_apart(apart: list[Input]) -> None:
    assert names(*apart) == [PurePath(one.file).stem for one in apart]
    assert all("judged by itself" in one.problems[0] for one in apart)


def test_samples_without_times_join_where_their_counters_tell_which_is_the_earlier() -> None:
    samples = (
        spins("in/spin_before.csv", None, 900.0, reused=90.0),
        spins("in/spin_after.csv", None, 100.0, reused=9.0),
    )
    assert names(*samples) == ["in"]


def test_different_settings_of_two_listings_are_of_one_server() -> None:
    both = (settings("in/locks.txt", **{"number of locks": 9.0}), settings("in/memory.txt", **{"max memory": 8.0}))
    assert names(*both) == ["in"]


def test_nothing_is_joined_beside_servers_that_are_named() -> None:
    named = [given(f"north/{name}.txt", "ase/sp_sysmon", Server(name=name, version="16.0")) for name in ("P1", "P2")]
    assert names(*named, *pair()) == ["P1", "P2", "spin_1", "spin_2"]


def test_listings_of_a_node_without_its_name_are_of_one_where_each_is_there_once() -> None:
    setting = SysgenParameter(name="GBLPAGFIL", current=900.0)
    parameters = given("node/sysgen.txt", "openvms/sysgen", setting)
    memory = given("node/memory.txt", "openvms/show_memory", MemoryUse(group="g", name="n", unit="pages"))
    listed = given(
        "node/files.txt",
        "openvms/file_ids",
        FileName(device="D", name="D:[A]B.C;1", number=1, sequence=1, volume_number=0),
    )
    (one,) = captures([parameters, memory, listed])
    assert one.system.name == "node"
    assert parameters.problems[0].startswith("no node's name was recognised in any of the 3 listings")
    second = given("node/other.txt", "openvms/sysgen", replace(setting, current=800.0))
    assert len(captures([parameters, memory, listed, second])) == 4
