"""Exports of one system come together, and never those of two.

Over 600 lines: each rule of what belongs together is held against those beside it, with the same few exports.
"""

import datetime as dt
from dataclasses import replace

import pytest

from collectors.capture import captures
from collectors.facts import Capture, Fact, Source
from collectors.facts.ase import (
    CachePool,
    ConfigParameter,
    EngineBusy,
    ErrorLog,
    LogEvent,
    LogHolder,
    MonProcess,
    NamedCache,
    Server,
    SysmonSample,
)
from collectors.facts.openvms import (
    ClusterMember,
    ClusterNode,
    Cpu,
    FastpathDevice,
    FileName,
    KernelService,
    LockDatabase,
    MemoryUse,
    ModparamsLine,
    MonitorSample,
    Node,
    RmsRecordLock,
    SysgenParameter,
    T4File,
)
from collectors.facts.rdb import DatabaseUse, SeenOnNode, StatisticsWindow
from collectors.facts.scaling import LoadPoint, LoadSeries, ParameterSeries
from collectors.facts.unix import RecordLock, RecordLockTable
from collectors.facts.zvm import PerfkitPage, PerformanceRun
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


def full_log(*, database: str = "trade", asleep: str = "trade", opened: int = 9, folder: str = "in") -> list[Input]:
    """An error log that calls the log of one database full, and a listing in which a session sleeps for one."""
    told = LogEvent(kind=LogEvent.LOG_FULL, database=database, first=at(10), last=at(10), count=3)
    log = given("in/errorlog_T1", "ase/errorlog", ErrorLog(first=at(8), last=at(11)), told, folder="in")
    sleeps = MonProcess(spid=31, status="log suspend", database=asleep)
    opens = LogHolder(db_id=9, spid=0, started=at(opened))
    file = f"{folder}/now.txt"
    return [
        log,
        given(file, "ase/sp_who", sleeps, folder=folder),
        given(file, "ase/syslogshold", opens, folder=folder),
    ]


def test_an_error_log_and_a_listing_that_show_one_full_log_at_one_time_are_of_one_server_and_say_so() -> None:
    exports = full_log()
    (one,) = captures(exports)
    assert len(one.facts.items) == len(("log", "event", "session", "holder"))
    (said,) = [problem for export in exports for problem in export.problems]
    assert "the one that now.txt is of: both say that the log of trade is full" in said


@pytest.mark.parametrize(
    "exports",
    [
        full_log(asleep="ledger"),
        full_log(database="ledger"),
        [*full_log()[:2], given("in/now.txt", "ase/syslogshold", LogHolder(db_id=9, started=at(9).replace(year=2025)))],
        full_log()[:2],
        full_log(folder="other"),
        [*full_log(), given("in/b.txt", "ase/sp_configure", CONFIG, folder="in")],
        [*full_log(), given("in/b.txt", "ase/version", Server(name="T2", version="15.7"), folder="in")],
    ],
    ids=["nobody sleeps", "another database", "a year apart", "no time", "another folder", "a third file", "a server"],
)
def test_an_error_log_is_not_put_to_a_listing_that_may_be_of_another_server(exports: list[Input]) -> None:
    captures(exports)
    assert not [said for export in exports for said in export.problems if "both say" in said]


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


@pytest.mark.parametrize(
    ("titles", "names"),
    [
        (("ORKNEY ES45 - 4 cores, without DLM", "ORKNEY ES45 - 4 cores, with DLM"), ["ORKNEY ES45 - 4 cores"]),
        (("ORKNEY ES45 - 4 cores (with threads)",), ["ORKNEY ES45 - 4 cores (with threads)"]),
        (("ORKNEY ES45, without DLM", "SKYE ES45, with DLM"), ["ORKNEY ES45, without DLM", "SKYE ES45, with DLM"]),
    ],
    ids=["one machine", "one run", "two machines"],
)
def test_runs_of_one_machine_with_and_without_something_are_of_one_system(
    titles: tuple[str, ...], names: list[str]
) -> None:
    points = (LoadPoint(load=1.0, rate=10.0), LoadPoint(load=2.0, rate=15.0))
    made = [LoadSeries(title=title, load_name="processes", rate_name="locks", points=points) for title in titles]
    found = captures([given(f"{at}.txt", "scaling/load_series", one) for at, one in enumerate(made)])
    assert [one.system.name for one in found] == names


def test_a_load_series_over_engines_joins_the_one_sap_ase_it_came_with() -> None:
    points = (LoadPoint(load=1.0, rate=10.0), LoadPoint(load=2.0, rate=19.0))
    engines = LoadSeries(title="order entry", load_name="engines", rate_name="commits", points=points)
    (one,) = captures(
        [sysmon("in/a.txt", "PROD1", 9, "in"), given("in/l.csv", "scaling/load_series", engines, folder="in")]
    )
    assert (one.system.name, one.facts.every(LoadSeries)) == ("PROD1", [engines])


def test_between_two_servers_and_over_anything_but_engines_it_stays_by_itself() -> None:
    series = {
        name: LoadSeries(title=name, load_name=name, rate_name="commits", points=()) for name in ("engines", "users")
    }
    one, other = sysmon("in/a.txt", "PROD1", 9, "in"), sysmon("in/b.txt", "PROD2", 9, "in")
    runs = {name: given("in/l.csv", "scaling/load_series", found, folder="in") for name, found in series.items()}
    assert [found.system.name for found in captures([one, other, runs["engines"]])] == ["PROD1", "PROD2", "engines"]
    assert [found.system.name for found in captures([one, runs["users"]])] == ["PROD1", "users"]


def test_runs_whose_title_has_the_name_of_the_one_node_beside_them_are_of_that_node() -> None:
    points = (LoadPoint(load=1.0, rate=10.0), LoadPoint(load=2.0, rate=15.0))

    def found(title: str, folder: str, *nodes: str) -> list[str]:
        runs = LoadSeries(title=title, load_name="processes", rate_name="locks", product="openvms", points=points)
        sizes = ParameterSeries(title=title, parameter="RESHASHTBL", rate_name="locks", points=())
        files = [
            given(f"{folder}/{at}.csv", "scaling/load_series", one, folder=folder)
            for at, one in enumerate((runs, sizes))
        ]
        named = [given(f"in/{name}.txt", "openvms/show_fastpath", Node(name=name), folder="in") for name in nodes]
        return [one.system.name for one in captures([*named, *files]) if one.facts.every(LoadSeries)]

    assert found("TARN rx4640 - 4 cores, without DLM", "in", "TARN", "FELL") == ["TARN"]
    assert found("rx4640 (1500 MHz), tarn", "in", "TARN") == ["TARN"]
    assert found("TARNS rx4640", "in", "TARN") == ["TARNS rx4640"], "another node's"
    assert found("TARN against FELL", "in", "TARN", "FELL") == ["TARN against FELL"], "of both, so of neither"
    assert found("TARN rx4640", "elsewhere", "TARN") == ["TARN rx4640"], "another folder: it may be another TARN"


@pytest.mark.parametrize(
    ("file", "title", "joins"),
    [
        ("load_tarn.txt", "HP rx7640 (1.60GHz/12.0MB) - 8 cores", True),
        ("load_tarn.txt", "HP rx4640 (1.10GHz/4.0MB) - 4 cores", False),
        ("load_tarn.txt", "SKYE - 8 cores", False),
        ("load_tarn_skye.txt", "HP rx7640 (1.60GHz/12.0MB) - 8 cores", False),
        ("load.txt", "HP rx7640 (1.60GHz/12.0MB) - 8 cores", False),
    ],
    ids=["called after it", "another machine", "another node's", "called after two", "called after none"],
)
def test_a_run_in_a_file_that_is_called_after_a_node_beside_it_is_of_that_node(
    file: str, title: str, *, joins: bool
) -> None:
    nodes = [
        given(f"{name}.lis", "openvms/cpu", Node(name=name, hardware="HP rx7640 (1.60GHz/12.0MB)"))
        for name in ("TARN", "SKYE")
    ]
    run = LoadSeries(title=title, load_name="processes", rate_name="locks", points=())
    found = captures([*nodes, given(file, "scaling/load_series", run)])
    assert [bool(one.facts.every(LoadSeries)) for one in found if one.system.name == "TARN"] == [joins]


@pytest.mark.parametrize(
    ("titles", "joins"),
    [
        (["HP rx7640 (1.60GHz/12.0MB) - 8 cores"], True),
        (["HP rx7640 (1.60GHz/12.0MB) - 8 cores", "HP rx4640 (1.10GHz/4.0MB)"], False),
        (["rx7640"], False),
    ],
)
def test_runs_over_a_parameter_on_such_a_machine_go_to_the_only_node_on_one(titles: list[str], *, joins: bool) -> None:
    runs = [ParameterSeries(title=title, parameter="RESHASHTBL", rate_name="locks", points=()) for title in titles]
    test = given("runs.csv", "scaling/parameter_series", *runs)
    hardware = "HP rx7640 (1.60GHz/12.0MB)"
    one = given("one.lis", "openvms/cpu", Node(name="TARN", hardware=hardware))
    other = given("other.lis", "openvms/cpu", Node(name="SKYE", hardware=hardware))
    alone = captures([one, test])
    assert [len(found.facts.every(ParameterSeries)) for found in alone if found.system.name == "TARN"] == [joins]
    assert all(
        not found.facts.every(ParameterSeries)
        for found in captures([one, other, test])
        if found.system.name in ("TARN", "SKYE")
    )


@pytest.mark.parametrize(("titles", "joins"), [(["without DLM", "with DLM"], True), (["without DLM"], False)])
def test_runs_that_are_held_against_each_other_go_to_the_only_node_on_such_a_machine(
    titles: list[str], *, joins: bool
) -> None:
    hardware = "HP rx7640 (1.60GHz/12.0MB)"
    runs = [
        LoadSeries(title=f"{hardware} - 8 cores, {title}", load_name="processes", rate_name="locks", points=())
        for title in titles
    ]
    test = given("runs.txt", "scaling/load_series", *runs)
    one = given("one.lis", "openvms/cpu", Node(name="TARN", hardware=hardware))
    found = captures([one, test])
    assert [bool(each.facts.every(LoadSeries)) for each in found if each.system.name == "TARN"] == [joins]


def test_facts_keep_their_source() -> None:
    device = FastpathDevice(device="EWA0", cpu=1, source=Source("f.txt", 3, 3))
    (one,) = captures([given("f.txt", "openvms/show_fastpath", Node(name="N"), device)])
    assert str(one.facts.every(FastpathDevice)[0].source) == "f.txt:3"


def test_a_session_that_went_from_node_to_node_is_split() -> None:
    facts = [Node(name="A"), FastpathDevice(device="EWA0", cpu=1, node="A"), Node(name="B")]
    facts.append(FastpathDevice(device="EWA0", cpu=5, node="b"))
    found = captures([given("s.txt", "openvms/show_fastpath", *facts)])
    assert [(one.system.name, one.facts.every(FastpathDevice)[0].cpu) for one in found] == [("A", 1), ("B", 5)]


LINE = ModparamsLine(name="DEADLOCK_WAIT", prefix="", value=2.0)


def test_a_modparams_file_between_nodes_is_held_against_each_of_them_and_says_so() -> None:
    nodes = [given(f"in/{name}.txt", "openvms/show_fastpath", Node(name=name), folder="in") for name in ("A", "B")]
    file = given("in/MODPARAMS.DAT", "openvms/modparams", LINE, folder="in")
    apart = given("else/MODPARAMS.DAT", "openvms/modparams", LINE, folder="else")
    found = captures([*nodes, file, apart])
    assert [(one.system.name, len(one.facts.every(ModparamsLine))) for one in found] == [
        ("A", 1),
        ("B", 1),
        ("MODPARAMS", 1),
    ]
    assert "each of those beside it (A, B)" in file.problems[0]
    assert "judged by itself" in apart.problems[0]


def test_a_listing_of_record_locks_is_given_to_each_node_that_it_names() -> None:
    nodes = [given(f"in/{name}.txt", "openvms/show_fastpath", Node(name=name), folder="in") for name in "ABC"]
    lock = RmsRecordLock(
        node="A", number=7, sequence=1, volume_number=0, pid="20400A17", image="X.EXE", mode="EX", record="0" * 16
    )
    found = captures([*nodes, given("in/rms.txt", "openvms/rms_locks", lock, replace(lock, node="B"), folder="in")])
    assert [(one.system.name, len(one.facts.every(RmsRecordLock))) for one in found] == [("A", 2), ("B", 2), ("C", 0)]


def config(file: str, value: float, *more: Fact, folder: str | None = None) -> Input:
    one = ConfigParameter(name="number of engines at startup", config_value=value, run_value=value)
    return given(file, "ase/sp_configure", CONFIG, one, *more, folder=folder)


def engines_in(capture: Capture) -> list[object]:
    found = capture.facts.every(ConfigParameter)
    return [one.run_value for one in found if one.name == "number of engines at startup"]


def test_of_a_folder_per_day_each_sample_has_the_listing_of_its_own_day() -> None:
    days = range(1, 6)
    inputs = [sysmon(f"week.zip/{day}/sysmon.txt", "PROD1", day, "week.zip") for day in days]
    inputs += [config(f"week.zip/{day}/config.txt", float(day), folder="week.zip") for day in days]
    found = captures(inputs)
    assert [(one.interval.start, engines_in(one)) for one in found] == [(at(day), [float(day)]) for day in days]
    assert not [problem for one in inputs for problem in one.problems]


def test_a_listing_in_a_sample_s_own_file_belongs_to_it_alone() -> None:
    inputs = [sysmon("in/a.txt", "P", 9), config("in/a.txt", 4.0), sysmon("in/b.txt", "P", 10)]
    assert [engines_in(one) for one in captures(inputs)] == [[4.0], []]


def test_one_listing_beside_several_samples_belongs_to_all_of_them_and_one_of_no_folder_as_well() -> None:
    samples = [sysmon("a.txt", "P", 9), sysmon("b.txt", "P", 10)]
    assert [engines_in(one) for one in captures([*samples, config("c.txt", 4.0)])] == [[4.0], [4.0]]
    assert [engines_in(one) for one in captures([*samples, config("elsewhere/c.txt", 4.0)])] == [[4.0], [4.0]]


def test_listings_of_one_folder_that_disagree_are_not_judged_by_and_say_so() -> None:
    monday, tuesday = config("monday.txt", 4.0), config("tuesday.txt", 5.0)
    (one,) = captures([sysmon("a.txt", "P", 9), monday, tuesday])
    assert engines_in(one) == []
    assert one.facts.every(ConfigParameter) == [CONFIG, CONFIG]  # what they agree on stays
    for listing, other in ((monday, "tuesday.txt"), (tuesday, "monday.txt")):
        (problem,) = listing.problems
        assert other in problem
        assert "number of engines at startup" in problem
        assert "lock address" not in problem


def test_listings_that_disagree_are_told_once_however_many_samples_there_are() -> None:
    listings = [config("m.txt", 4.0), config("t.txt", 5.0)]
    found = captures([*(sysmon(f"{hour}.txt", "P", hour) for hour in range(1, 9)), *listings])
    assert [engines_in(one) for one in found] == [[]] * 8
    assert [len(one.problems) for one in listings] == [1, 1]


def test_listings_without_any_sample_that_disagree_are_not_judged_by_either() -> None:
    found = captures([config("1/c.txt", 4.0), config("2/c.txt", 5.0)], "P")
    assert [engines_in(one) for one in found] == [[]]


def test_within_one_file_without_a_sample_the_later_listing_is_the_newer_one() -> None:
    (one,) = captures([config("session.txt", 4.0), config("session.txt", 5.0)], "P")
    last = one.facts.latest(ConfigParameter, name="number of engines at startup")
    assert last is not None
    assert last.run_value == 5.0


def test_within_one_file_with_a_sample_listings_that_disagree_are_left_out() -> None:
    (one,) = captures([config("s.txt", 4.0), sysmon("s.txt", "P", 9), config("s.txt", 5.0)])
    assert engines_in(one) == []


def test_of_a_near_and_a_far_listing_that_disagree_the_near_one_counts_and_the_far_one_says_so() -> None:
    far = config("archive/c.txt", 9.0)
    found = captures([sysmon("1/a.txt", "P", 9), config("1/c.txt", 4.0), sysmon("2/a.txt", "P", 10), far])
    assert [engines_in(one) for one in found] == [[4.0], [9.0]]
    assert "1/c.txt" in far.problems[0]


def test_caches_that_disagree_are_left_out_with_all_their_pools() -> None:
    def caches(file: str, *pools: float) -> Input:
        facts = [CachePool(cache="c", io_size_kb=size, run_size_mb=10.0) for size in pools]
        return given(file, "ase/sp_cacheconfig", NamedCache(name="c", run_size_mb=20.0), *facts)

    (one,) = captures([sysmon("a.txt", "P", 9), caches("x.txt", 2.0), caches("y.txt", 2.0, 16.0)])
    assert not one.facts.every(NamedCache)
    assert not one.facts.every(CachePool)
    (one,) = captures([sysmon("a.txt", "P", 9), caches("x.txt", 2.0, 16.0), caches("y.txt", 16.0, 2.0)])
    assert one.facts.every(CachePool)


def test_displays_that_disagree_about_one_device_leave_no_display_but_keep_the_node_s_name() -> None:
    def display(file: str, cpu: int, cpus: float) -> Input:
        manager = KernelService(service="OpenVMS Lock Manager", cpu=3)
        facts = [Node(name="N", active_cpus=cpus), FastpathDevice(device="EWA0", cpu=cpu), manager]
        return given(file, "openvms/show_fastpath", *facts)

    (one,) = captures([display("a.txt", 1, 8.0), display("b.txt", 5, 7.0)])
    assert one.facts.items == (Node(name="N"), Node(name="N"))
    assert one.system.processors is None


def test_displays_of_single_cpus_complete_each_other_and_their_processes_may_differ() -> None:
    first = given("a.txt", "openvms/show_cpu", Node(name="N"), Cpu(number=1, full=True, cothread=5.0, process="A"))
    again = Cpu(number=1, full=True, cothread=5.0, process="B")
    more = given("b.txt", "openvms/show_cpu", Node(name="N"), Cpu(number=5, full=True, cothread=1.0), again)
    (one,) = captures([first, more])
    assert len(one.facts.every(Cpu)) == 3
    stopped = given("c.txt", "openvms/show_cpu", Node(name="N"), Cpu(number=1, full=True))
    (one,) = captures([first, more, stopped])
    assert not one.facts.every(Cpu)


def test_a_value_that_one_listing_does_not_print_is_no_disagreement() -> None:
    brief = given("b.txt", "ase/sp_configure", ConfigParameter(name="number of engines at startup", run_value=4.0))
    (one,) = captures([sysmon("a.txt", "P", 9), config("c.txt", 4.0), brief])
    assert engines_in(one) == [4.0, 4.0]


def test_the_system_chosen_for_a_file_comes_before_the_name_for_all() -> None:
    inputs = [config("c.txt", 4.0), config("d.txt", 5.0), config("e.txt", 6.0)]
    found = captures(inputs, "P", {"c.txt": "Q", "d.txt": "q"})
    assert [(one.system.name, engines_in(one)) for one in found] == [("Q", []), ("P", [6.0])]
    assert [(one.system.name, len(one.facts.items)) for one in captures(inputs, names={"c.txt": "Q"})] == [("Q", 3)]


def test_the_system_chosen_for_a_file_is_one_that_another_export_names() -> None:
    samples = [sysmon("in/a.txt", "PROD1", 9, "in"), sysmon("in/b.txt", "PROD2", 9, "in")]
    listing = config("in/c.txt", 4.0, folder="in")
    found = captures([*samples, listing], names={"in/c.txt": "prod2", "in/a.txt": "PROD2"})
    assert [(one.system.name, engines_in(one)) for one in found] == [("PROD1", []), ("PROD2", [4.0])]
    assert not listing.problems


def test_what_is_called_by_a_chosen_name_keeps_it_beside_a_name_for_all() -> None:
    inputs = [sysmon("a.txt", "PROD1", 9), config("x/c.txt", 4.0)]
    found = captures(inputs, "MINE", {"x/c.txt": "OTHER"})
    assert [(one.system.name, engines_in(one)) for one in found] == [("MINE", []), ("OTHER", [4.0])]
    found = captures(inputs, "MINE", {"x/c.txt": "mine"})
    assert [(one.system.name, engines_in(one)) for one in found] == [("MINE", [4.0])]


def listings(*files: str) -> list[Input]:
    return [
        given(file, "unix/proc_locks", RecordLockTable(report="/proc/locks", locks=2, waiters=1), folder="in")
        for file in files
    ]


def lock(pid: int, path: str | None = None, inode: int | None = None) -> RecordLock:
    return RecordLock(
        kind="POSIX", mode="WRITE", mandatory=False, pid=pid, device=None, inode=inode, start=0, end=None, path=path
    )


@pytest.mark.parametrize(("others", "systems"), [((7, 8), 1), ((7, 9), 2)])
def test_listings_of_both_kinds_are_of_one_host_where_two_processes_are_in_both(
    others: tuple[int, int], systems: int
) -> None:
    table = RecordLockTable(report="/proc/locks", locks=2, waiters=1)
    proc = given("in/proc.txt", "unix/proc_locks", table, lock(7), lock(8), folder="in")
    named = given("in/ls.txt", "unix/lslocks", table, *(lock(pid, "/srv/pay.db") for pid in others), folder="in")
    assert len(captures([proc, named])) == systems
    assert "sample of the one that proc.txt is of" in "".join(named.problems) or systems == 2


@pytest.mark.parametrize(("inode", "systems"), [(4711, 1), (815, 2)])
def test_three_listings_are_of_one_host_where_two_processes_lock_the_same_file_in_each(
    inode: int, systems: int
) -> None:
    """Of another file the same numbers of processes may be of another host."""
    table = RecordLockTable(report="/proc/locks", locks=2, waiters=1)
    first, second = (
        given(file, "unix/proc_locks", table, lock(7, inode=of), lock(8, inode=of), folder="in")
        for file, of in (("in/before.txt", 4711), ("in/after_5s.txt", inode))
    )
    named = given("in/names.txt", "unix/lslocks", table, lock(7, "/srv/pay.db", 4711), lock(8, inode=4711), folder="in")
    found = captures([first, second, named])
    assert len(found) == systems
    assert ["sample of the one that before.txt is of" in "".join(one.problems) for one in (second, named)] == [
        systems == 1,
        True,
    ]


@pytest.mark.parametrize(
    "files", [("in/locks1.txt", "in/locks2.txt", "in/locks3.txt"), ("in/locks.txt", "in/locks-10.15.txt")]
)
def test_listings_called_alike_but_for_a_number_are_samples_of_one_host_and_say_so(files: tuple[str, ...]) -> None:
    inputs = listings(*files)
    (one,) = captures(inputs)
    assert one.system.name == "locks"
    assert len(one.facts.every(RecordLockTable)) == len(files)
    for found in inputs:
        assert len(found.problems) == 1
        assert "folder of their own" in found.problems[0]


@pytest.mark.parametrize(
    "files",
    [
        ("in/a/locks1.txt", "in/b/locks2.txt"),
        ("in/web1_locks.txt", "in/web2_locks.txt"),
        ("in/locks_web1.txt", "in/locks_web2.txt"),
        ("in/web1.txt", "in/web2.txt"),
        ("in/locks.txt", "in/locks (1).txt"),
    ],
    ids=str,
)
def test_listings_that_may_be_of_two_hosts_or_copies_are_judged_apart_and_say_so(files: tuple[str, ...]) -> None:
    inputs = listings(*files)
    assert len(captures(inputs)) == len(files)
    assert all("--name" in found.problems[0] for found in inputs)


def test_two_hosts_with_several_listings_each_are_two_systems() -> None:
    found = captures(listings("in/x_locks1.txt", "in/y_locks1.txt", "in/x_locks2.txt", "in/y_locks2.txt"))
    assert [(one.system.name, len(one.facts.every(RecordLockTable))) for one in found] == [
        ("x_locks", 2),
        ("y_locks", 2),
    ]


def screen(file: str, minute: int, *classes: str, node: str = "ORKNEY", last: int | None = None) -> Input:
    start = at(10) + dt.timedelta(minutes=minute)
    end = at(10) + dt.timedelta(minutes=last) if last is not None else start
    sample = MonitorSample(node=node, kind="display", classes=classes, start=start, end=end)
    return given(file, "openvms/monitor", Node(name=node), sample, folder="d")


def test_screens_of_different_classes_minutes_apart_are_one_picture_and_it_is_said() -> None:
    inputs = [screen("d/a.lis", 0, "LOCK"), screen("d/b.lis", 7, "MODES")]
    (one,) = captures(inputs)
    assert (one.interval.start, one.interval.end) == (at(10), at(10) + dt.timedelta(minutes=7))
    for given_ in inputs:
        assert "LOCK of 10:00 and MODES of 10:07 are judged together" in given_.problems[0]


def test_screens_stay_apart_where_a_class_is_shown_again_or_they_last_or_lie_too_far_apart() -> None:
    series = [screen(f"d/{minute}.lis", minute, name) for minute, name in ((0, "LOCK"), (5, "MODES"), (9, "LOCK"))]
    far = [screen("d/a.lis", 0, "LOCK"), screen("d/b.lis", 11, "MODES")]
    session = [screen("d/a.lis", 0, "LOCK"), screen("d/b.lis", 2, "MODES", last=8)]
    for inputs, count in ((series, 3), (far, 2), (session, 2)):
        assert len(captures(inputs)) == count
        assert not any(one.problems for one in inputs)
    twice = [
        screen(f"d/{at_}.lis", at_, name) for at_, name in ((0, "LOCK"), (7, "MODES"), (60, "LOCK"), (66, "MODES"))
    ]
    assert len(captures(twice)) == 2


def of_rmu(file: str, minute: int, node: str = "ORKNEY") -> Input:
    written = at(10) + dt.timedelta(minutes=minute)
    window = StatisticsWindow(
        database="D:[A]B.RDB;1", screen="File IO Overview", at=written, elapsed_seconds=1800.0, node=node
    )
    return given(file, "rdb/statistics", Node(name=node), window, folder="d")


def test_a_screen_of_monitor_minutes_after_those_of_rmu_is_judged_with_them_and_it_is_said() -> None:
    inputs = [of_rmu("d/io.scr", 0), screen("d/dlock.lis", 6, "DLOCK")]
    (one,) = captures(inputs)
    assert one.facts.every(StatisticsWindow)
    assert one.facts.every(MonitorSample)
    assert "DLOCK of 10:06 and the screens of RMU of 10:00 are judged together" in inputs[1].problems[0]
    for apart in (
        [of_rmu("d/io.scr", 0), screen("d/dlock.lis", 11, "DLOCK")],
        [of_rmu("d/io.scr", 0), screen("d/a.lis", 3, "DLOCK"), screen("d/b.lis", 8, "DLOCK")],
        [of_rmu("d/io.scr", 0), screen("d/dlock.lis", 2, "DLOCK", last=9)],
    ):
        assert len(captures(apart)) == len(apart)


def test_a_capture_is_told_on_which_other_nodes_another_time_shows_its_database() -> None:
    found = captures([of_rmu("d/a.scr", 0), of_rmu("d/b.scr", 0, "SKYE"), of_rmu("d/c.scr", 300)])
    assert [[one.node for one in capture.facts.every(SeenOnNode)] for capture in found] == [[], ["SKYE"]]
    again = captures([of_rmu("d/a.scr", 0), of_rmu("d/c.scr", 300)])
    assert not any(capture.facts.every(SeenOnNode) for capture in again)


def test_screens_of_two_nodes_minutes_apart_are_of_one_cluster() -> None:
    def of(node: str, *minutes: int) -> list[Input]:
        linked = ClusterNode(name="SKYE" if node == "ORKNEY" else "ORKNEY")
        shown = [screen(f"d/{node}{minute}.lis", minute, "DLOCK", node=node) for minute in minutes]
        return [*shown, given(f"d/{node}.lis", "openvms/show_cluster", Node(name=node), linked, folder="d")]

    for skye, members in (((3,), 2), ((11,), 0), ((3, 60), 0)):
        found = captures([*of("ORKNEY", 0), *of("SKYE", *skye)])
        assert [len(one.facts.every(ClusterMember)) for one in found][:1] == [members]
    users = DatabaseUse(database="D:[A]B.RDB;1", node="SKYE", active_users=9)
    window = StatisticsWindow(database="D:[A]B.RDB;1", screen="Locking", at=at(12), elapsed_seconds=1800.0, node="SKYE")
    of_rdb = given("d/rdb.scr", "rdb/statistics", Node(name="SKYE"), users, window, folder="d")
    found = captures([*of("ORKNEY", 0), *of("SKYE", 3), of_rdb])
    assert sorted(len(one.facts.every(ClusterMember)) for one in found) == [0, 2, 2]


@pytest.mark.parametrize(
    ("released", "beside", "systems"),
    [
        ("5.2.0", "runs", 1),
        ("5.3.0", "runs", 2),
        ("5.2.0", "others", 2),
    ],
)
def test_the_release_that_runs_joins_runs_of_that_release_in_its_folder(
    released: str, beside: str, systems: int
) -> None:
    level = given("runs/level.txt", "zvm/cp_level", PerfkitPage(report="CPLEVEL", release="5.2.0"), folder="x")
    runs = [PerformanceRun(run=name, release=released, processors=8.0) for name in ("R1", "R2")]
    table = given(f"{beside}/table.txt", "zvm/performance_runs", *runs, folder="x")
    assert len(captures([level, table])) == systems


def test_the_release_that_runs_joins_no_runs_of_two_releases() -> None:
    level = given("runs/level.txt", "zvm/cp_level", PerfkitPage(report="CPLEVEL", release="5.2.0"), folder="x")
    runs = [PerformanceRun(run=name, release=name, processors=8.0) for name in ("5.2.0", "5.3.0")]
    assert len(captures([level, given("runs/table.txt", "zvm/performance_runs", *runs, folder="x")])) == 2


def test_attributes_of_files_beside_a_screen_count_for_screens_of_other_files_without_such_a_listing() -> None:
    def listing(file: str, blocks: float) -> Input:
        name = FileName(
            device="DATA", name="DATA:[A]LOG.IDX;1", number=7, sequence=1, volume_number=0, extend_blocks=blocks
        )
        return given(file, "openvms/file_ids", name, folder="d")

    def extents(*inputs: Input) -> dict[object, list[object]]:
        found = captures(inputs)
        return {
            one.interval.start: [file.extend_blocks for file in one.facts.every(FileName)]
            for one in found
            if one.interval.start
        }

    first, second = screen("d/a.lis", 0, "FCP"), screen("d/b.lis", 40, "FCP")
    later = at(10) + dt.timedelta(minutes=40)
    assert extents(first, second, listing("d/b.lis", 3.0)) == {at(10): [3.0], later: [3.0]}
    both = extents(first, second, listing("d/a.lis", 5.0), listing("d/b.lis", 3.0))
    assert both == {at(10): [5.0], later: [3.0]}
    elsewhere = extents(screen("e/a.lis", 0, "FCP"), second, listing("d/b.lis", 3.0))
    assert elsewhere == {at(10): [], later: [3.0]}


def test_memory_listed_beside_a_sample_counts_for_one_of_another_kind_of_that_day_without_such_a_listing() -> None:
    def free(*inputs: Input) -> dict[object, list[object]]:
        found = captures(inputs)
        return {
            one.interval.start: [memory.figure("Free") for memory in one.facts.every(MemoryUse)]
            for one in found
            if one.interval.start
        }

    def listing(file: str, pages: float) -> Input:
        main = MemoryUse(group="Physical Memory Usage", name="Main Memory", unit="pages", figures=(("Free", pages),))
        return given(file, "openvms/show_memory", main, folder="d")

    first, second = replace(screen("d/a.lis", 0, "FCP"), report="openvms/t4"), screen("d/b.lis", 40, "FCP")
    later = at(10) + dt.timedelta(minutes=40)
    assert free(first, second, listing("d/b.lis", 3.0)) == {at(10): [3.0], later: [3.0]}
    both = free(first, second, listing("d/a.lis", 5.0), listing("d/b.lis", 3.0))
    assert both == {at(10): [5.0], later: [3.0]}
    alike = free(screen("d/a.lis", 0, "FCP"), second, listing("d/b.lis", 3.0))
    assert alike == {at(10): [], later: [3.0]}
