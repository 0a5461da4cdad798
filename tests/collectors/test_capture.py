"""Exports of one system come together, and never those of two."""

import datetime as dt

from collectors.capture import captures
from collectors.facts import Fact, Source
from collectors.facts.ase import ConfigParameter, EngineBusy, Server, SysmonSample
from collectors.facts.openvms import FastpathDevice, LockDatabase, Node, SysgenParameter, T4File
from collectors.facts.scaling import LoadPoint, LoadSeries
from collectors.read import Input


def given(file: str, report: str, *facts: Fact, folder: str | None = None) -> Input:
    return Input(file, report, list(facts), given=folder or file)


def at(hour: int) -> dt.datetime:
    return dt.datetime(2026, 3, 2, hour)  # noqa: DTZ001 - exports have no zone


def sysmon(file: str, name: str | None, hour: int | None, folder: str | None = None) -> Input:
    start = at(hour) if hour is not None else None
    end = start + dt.timedelta(minutes=10) if start else None
    facts: list[Fact] = [SysmonSample(start=start, end=end, seconds=600.0), EngineBusy(engine=0), EngineBusy(engine=1)]
    return given(file, "ase/sp_sysmon", Server(name=name, version="15.7"), *facts, folder=folder)


CONFIG = ConfigParameter(name="lock address spinlock ratio", config_value=5.0, run_value=5.0)


def test_a_listing_without_a_name_joins_the_one_server_on_the_same_command_line() -> None:
    (one,) = captures([sysmon("a.txt", "PROD1", 9), given("elsewhere/c.txt", "ase/sp_configure", CONFIG)])
    assert one.system.name == "PROD1"
    assert one.facts.every(ConfigParameter) == [CONFIG]
    assert one.system.processors == 2
    assert (one.interval.start, one.interval.seconds) == (at(9), 600.0)


def test_a_listing_between_two_servers_belongs_to_neither_and_says_so() -> None:
    listing = given("in/c.txt", "ase/sp_configure", CONFIG, folder="in")
    found = captures([sysmon("in/a.txt", "PROD1", 9, "in"), sysmon("in/b.txt", "PROD2", 9, "in"), listing])
    assert [one.system.name for one in found] == ["PROD1", "PROD2", "c"]
    assert not found[0].facts.every(ConfigParameter)
    assert "--name" in listing.problems[0]


def test_a_folder_per_server_keeps_each_listing_with_its_server() -> None:
    found = captures(
        [
            sysmon("in/p1/a.txt", "PROD1", 9, "in"),
            given("in/p1/c.txt", "ase/sp_configure", CONFIG, folder="in"),
            sysmon("in/p2/a.txt", "PROD2", 9, "in"),
        ]
    )
    assert [(one.system.name, len(one.facts.every(ConfigParameter))) for one in found] == [("PROD1", 1), ("PROD2", 0)]


def test_files_named_on_one_command_line_go_by_folder_first() -> None:
    found = captures(
        [
            sysmon("p1/a.txt", "PROD1", 9),
            given("p1/c.txt", "ase/sp_configure", CONFIG),
            sysmon("p2/a.txt", "PROD2", 9),
            given("p2/c.txt", "ase/sp_configure", CONFIG),
        ]
    )
    assert [(one.system.name, len(one.facts.every(ConfigParameter))) for one in found] == [("PROD1", 1), ("PROD2", 1)]


def test_nameless_exports_of_one_folder_are_not_guessed_to_be_one_server() -> None:
    found = captures(
        [
            given("in/a.txt", "ase/sp_configure", CONFIG, folder="in"),
            given("in/b.txt", "ase/sp_configure", CONFIG, folder="in"),
        ]
    )
    assert [one.system.name for one in found] == ["a", "b"]


def test_the_name_the_user_gives_brings_nameless_exports_together() -> None:
    found = captures(
        [
            given("in/a.txt", "ase/sp_configure", CONFIG, folder="in"),
            given("in/b.txt", "ase/sp_sysmon", SysmonSample(seconds=60.0), folder="in"),
        ],
        "PROD9",
    )
    assert [(one.system.name, len(one.facts.items)) for one in found] == [("PROD9", 2)]


def test_two_reports_of_one_file_belong_together() -> None:
    (one,) = captures(
        [given("a.txt", "ase/sp_configure", CONFIG), given("a.txt", "ase/version", Server(version="16.0"))]
    )
    assert one.system.version == "16.0"


def test_each_sample_is_a_capture_and_the_configuration_belongs_to_all() -> None:
    found = captures(
        [sysmon("a.txt", "PROD1", 9), sysmon("b.txt", "PROD1", 10), given("c.txt", "ase/sp_configure", CONFIG)]
    )
    assert [one.interval.start for one in found] == [at(9), at(10)]
    assert all(one.facts.every(ConfigParameter) for one in found)


def test_the_files_of_one_t4_day_are_one_capture() -> None:
    def t4(file: str, kind: str, *more: Fact) -> Input:
        span = T4File(kind=kind, rows=10, start=at(0), end=at(23))
        return given(file, "openvms/t4", Node(name="ALPHA1"), span, *more)

    locks = LockDatabase(statistic="mean", locks=5.0)
    sysgen = given("s.txt", "openvms/sysgen", SysgenParameter(name="RESHASHTBL", current=1024.0))
    (one,) = captures([t4("c.csv", "composite", locks), t4("d.csv", "disk"), sysgen])
    assert one.system.product == "openvms"
    assert one.facts.every(LockDatabase)
    assert one.facts.every(SysgenParameter)


def test_products_never_mix() -> None:
    found = captures(
        [sysmon("a.txt", "ONE", 9), given("f.txt", "openvms/show_fastpath", Node(name="ONE", active_cpus=8.0))]
    )
    assert [(one.system.product, one.system.processors) for one in found] == [("ase", 2), ("openvms", 8)]


def test_a_load_series_is_a_system_of_its_own() -> None:
    points = (LoadPoint(load=1.0, rate=10.0), LoadPoint(load=2.0, rate=15.0))
    series = LoadSeries(title="bench", load_name="users", rate_name="throughput", points=points)
    (one,) = captures([given("x.csv", "scaling/load_series", series)])
    assert (one.system.name, one.system.product) == ("bench", "scaling")


def test_facts_keep_their_source() -> None:
    device = FastpathDevice(device="EWA0", cpu=1, source=Source("f.txt", 3, 3))
    (one,) = captures([given("f.txt", "openvms/show_fastpath", Node(name="N"), device)])
    assert str(one.facts.every(FastpathDevice)[0].source) == "f.txt:3"


def test_a_session_that_went_from_node_to_node_is_split() -> None:
    facts = [Node(name="A"), FastpathDevice(device="EWA0", cpu=1, node="A"), Node(name="B")]
    facts.append(FastpathDevice(device="EWA0", cpu=5, node="b"))
    found = captures([given("s.txt", "openvms/show_fastpath", *facts)])
    assert [(one.system.name, one.facts.every(FastpathDevice)[0].cpu) for one in found] == [("A", 1), ("B", 5)]
