"""Rdb databases: told apart by root file, judged with the node they are open on."""

import datetime as dt
from dataclasses import replace

import pytest

from collectors.capture import captures
from collectors.facts import Fact, Source
from collectors.facts.openvms import LockRates, MonitorSample, Node, SysgenParameter, T4File
from collectors.facts.rdb import (
    Database,
    DatabaseUse,
    EventLog,
    HeldLock,
    NodeDatabases,
    StatisticRow,
    StatisticsWindow,
)
from collectors.facts.rdb.names import may_be_one, root_key, short_name
from collectors.read import Input
from tests.yardstick import no_longer_than

ROOT = "DISK$DB:[PAY]PAYROLL.RDB;1"


def at(hour: int, minute: int = 0) -> dt.datetime:
    return dt.datetime(2026, 3, 2, hour, minute)  # noqa: DTZ001 - exports have no zone


def given(file: str, report: str, *facts: Fact) -> Input:
    return Input(f"in/{file}", report, list(facts), given="in")


def node(name: str) -> Input:
    covers = T4File(source=Source(f"in/{name}.csv", 1, 9), kind="composite", start=at(0, 1), end=at(23, 59))
    return given(f"{name}.csv", "openvms/t4", Node(name=name), covers, LockRates(statistic="mean"))


def screen(written: dt.datetime, elapsed: float, on: str | None = "ORKNEY", root: str = ROOT) -> Input:
    window = StatisticsWindow(database=root, node=on, screen="Summary IO", at=written, elapsed_seconds=elapsed)
    row = StatisticRow(
        database=root, node=on, screen="Summary IO", item="transactions", label="transactions", count=3 * elapsed
    )
    return given(f"scr{written:%H%M}.txt", "rdb/statistics", window, row)


HEADER = given("header.txt", "rdb/dump_header", Database(database=ROOT, release="V7.2-501"))


@pytest.mark.parametrize(
    ("root", "name", "key"),
    [
        (ROOT, "PAYROLL", "DISK$DB:[PAY]PAYROLL.RDB"),
        ("disk:[a.b]Payroll.rdb", "PAYROLL", "DISK:[A.B]PAYROLL.RDB"),
        ("PAYROLL", "PAYROLL", "PAYROLL"),
        ("DISK:<A>ODD NAME.RDB;-1", "ODD NAME", "DISK:<A>ODD NAME.RDB"),
        ("x:[y]", "x:[y]", "X:[Y]"),
        ("disk:[a.b]payroll", "PAYROLL", "DISK:[A.B]PAYROLL.RDB"),
        ("DISK:[A]PAYROLL;2", "PAYROLL", "DISK:[A]PAYROLL.RDB"),
        ("DISK:[A]PAYROLL.OLD", "PAYROLL", "DISK:[A]PAYROLL.OLD"),
        ("PAY_ROOT:PAYROLL", "PAYROLL", "PAY_ROOT:PAYROLL"),
    ],
)
def test_a_database_is_called_by_its_file_and_known_by_its_place(root: str, name: str, key: str) -> None:
    assert (short_name(root), root_key(root)) == (name, key)


def test_a_database_alone_is_a_system_of_its_own() -> None:
    (one,) = captures([HEADER, screen(at(10), 600)])
    assert (one.system.name, one.system.product, one.system.version) == ("PAYROLL", "rdb", "V7.2-501")
    assert (one.interval.start, one.interval.end) == (at(9, 50), at(10))


LOGICAL = "PAY_ROOT:[PAY]PAYROLL.RDB;1"
CALLED = given("called.txt", "rdb/dump_header", Database(database=ROOT, called=LOGICAL))


def test_a_header_with_two_names_makes_one_database_of_what_prints_either() -> None:
    open_there = NodeDatabases(node="ORKNEY", databases=(LOGICAL,), complete=True)
    listed = given("use.txt", "rdb/show_system", DatabaseUse(database=ROOT, node="ORKNEY"), open_there)
    (one,) = captures([CALLED, screen(at(10), 600, root=LOGICAL), listed])
    assert {fact.database for fact in one.facts.every(StatisticsWindow)} == {ROOT}
    assert one.facts.every(NodeDatabases)[0].databases == (ROOT,)


def test_a_logical_name_of_two_root_files_or_of_another_folder_proves_nothing() -> None:
    elsewhere = Input("other/called.txt", "rdb/dump_header", CALLED.facts, given="other")
    second = Database(database="DISK$NEW:[PAY]PAYROLL.RDB;1", called=LOGICAL)
    for headers in ([elsewhere], [CALLED, given("second.txt", "rdb/dump_header", second)]):
        found = captures([*headers, screen(at(10), 600, root=LOGICAL)])
        assert len(found) == len(headers) + 1


@pytest.mark.parametrize(
    ("root", "said"),
    [
        ("$1$DGA12:[PAY]PAYROLL.RDB;1", True),
        ("PAY_ROOT:[PAY]PAYROLL.RDB;1", True),
        ("DISK$DB:[TEST]PAYROLL.RDB;1", False),
        ("DISK$DB:[PAY]PAYROLL.RDB;7", False),
    ],
)
def test_two_names_of_a_disk_that_nothing_joins_are_named(root: str, said: bool) -> None:
    header, written = given("header.txt", "rdb/dump_header", Database(database=ROOT)), screen(at(10), 600, root=root)
    captures([header, written])
    for one in (header, written):
        assert any("may be one database under two names" in why for why in one.problems) is said


def test_two_devices_are_two_disks() -> None:
    assert not may_be_one("$1$DGA12:[PAY]PAYROLL.RDB", "$1$DGA13:[PAY]PAYROLL.RDB")
    assert not may_be_one("DKA100:[PAY]PAYROLL.RDB", "NODEA$DKB200:[PAY]PAYROLL.RDB")
    assert may_be_one("DISK$DGA12:[PAY]PAYROLL.RDB", "DSA7:[PAY]PAYROLL.RDB")


def test_a_root_file_that_a_command_names_without_its_type_is_the_one_that_the_header_prints() -> None:
    locks = given(
        "locks.txt",
        "rdb/show_locks",
        HeldLock(database="DISK$DB:[PAY]PAYROLL", resource="record 5:1:1", role="blocker", pid="20400A07"),
    )
    (one,) = captures([HEADER, locks])
    assert (one.system.name, len(one.facts.every(HeldLock))) == ("PAYROLL", 1)
    other = given(
        "locks.txt",
        "rdb/show_locks",
        HeldLock(database="DISK$DB:[TEST]PAYROLL", resource="record 5:1:1", role="blocker", pid="20400A07"),
    )
    assert len(captures([HEADER, other])) == len(("header", "locks of another"))


def test_two_databases_of_one_name_in_two_places_stay_two() -> None:
    test = given("test.txt", "rdb/dump_header", Database(database="DISK$DB:[TEST]PAYROLL.RDB;3"))
    found = captures([HEADER, test])
    assert [one.system.name for one in found] == ["DISK$DB:[PAY]PAYROLL.RDB", "DISK$DB:[TEST]PAYROLL.RDB"]


def test_a_name_without_a_place_is_the_one_database_of_that_name() -> None:
    (one,) = captures([HEADER, given("use.txt", "rdb/show_system", DatabaseUse(database="payroll"))])
    assert len(one.facts.every(DatabaseUse)) == len(one.facts.every(Database)) == 1


def test_a_database_is_judged_with_the_node_its_statistics_were_taken_on() -> None:
    found = captures([node("ORKNEY"), node("SKYE"), HEADER, screen(at(10), 600, on="SKYE")])
    assert [(one.system.name, len(one.facts.every(Database))) for one in found] == [("ORKNEY", 0), ("SKYE", 1)]


def test_a_database_without_statistics_is_judged_with_the_node_of_most_users() -> None:
    uses = [
        DatabaseUse(database=ROOT, node=name, active_users=users) for name, users in (("ORKNEY", 4.0), ("SKYE", 60.0))
    ]
    found = captures([node("ORKNEY"), node("SKYE"), HEADER, given("use.txt", "rdb/show_system", *uses)])
    assert [(one.system.name, len(one.facts.every(DatabaseUse))) for one in found] == [("ORKNEY", 0), ("SKYE", 2)]


def test_of_statistics_of_two_nodes_a_database_is_judged_with_the_one_of_most_users() -> None:
    uses = [DatabaseUse(database=ROOT, node="ORKNEY", active_users=9.0, servers=8)]
    uses += [DatabaseUse(database=ROOT, node="SKYE", active_users=3.0)]
    screens = [screen(at(10), 600), screen(at(10, 1), 600, on="SKYE")]
    found = captures([node("ORKNEY"), node("SKYE"), *screens, given("use.txt", "rdb/show_system", *uses)])
    assert [(one.system.name, len(one.facts.every(StatisticsWindow))) for one in found] == [("ORKNEY", 0), ("SKYE", 2)]


def test_of_statistics_of_two_nodes_without_users_it_is_the_one_of_most_lock_requests() -> None:
    screens = [screen(at(10), 600), screen(at(10, 1), 600, on="SKYE")]
    for one, on, rate in zip(screens, ("ORKNEY", "SKYE"), (40.0, 900.0), strict=True):
        row = StatisticRow(screen="S", item="locks requested", label="", node=on, lock_type="total", database=ROOT)
        one.facts.append(replace(row, mean_per_second=rate))
    found = captures([node("ORKNEY"), node("SKYE"), *screens])
    assert [(one.system.name, len(one.facts.every(StatisticsWindow))) for one in found] == [("ORKNEY", 0), ("SKYE", 2)]


def test_a_header_that_names_no_node_joins_the_only_node_there_is() -> None:
    (one,) = captures([node("ORKNEY"), HEADER])
    assert (one.system.product, len(one.facts.every(Database))) == ("openvms", 1)


SYSGEN = given("sysgen.txt", "openvms/sysgen", SysgenParameter(name="LOCKIDTBL", current=9000.0))


def test_a_listing_without_a_node_is_of_the_one_that_the_screens_beside_it_name() -> None:
    memory = given("memory.txt", "openvms/show_memory", SysgenParameter(name="RESHASHTBL", current=4096.0))
    sysgen, memory = replace(SYSGEN, problems=[]), replace(memory, problems=[])
    (one,) = captures([HEADER, screen(at(10), 900), sysgen, memory])
    assert (one.system.product, one.system.name) == ("openvms", "ORKNEY")
    for found in (sysgen, memory):
        (said,) = found.problems
        assert said.startswith("names no node, so it is taken for one of ORKNEY")


def test_two_listings_in_one_file_without_a_node_are_of_it_too() -> None:
    memory = given("sysgen.txt", "openvms/show_memory", SysgenParameter(name="RESHASHTBL", current=4096.0))
    first, second = replace(memory, problems=[]), replace(SYSGEN, problems=[])
    (one,) = captures([HEADER, screen(at(10), 900), first, second])
    assert (one.system.product, one.system.name) == ("openvms", "ORKNEY")
    assert len([*first.problems, *second.problems]) == 1


def test_a_listing_without_a_node_beside_two_nodes_stays_alone() -> None:
    found = captures([screen(at(10), 900), screen(at(10), 900, "SKYE"), replace(SYSGEN, problems=[])])
    assert {(one.system.product, one.system.name) for one in found} == {("rdb", "PAYROLL"), ("openvms", "sysgen")}


def test_a_header_between_two_nodes_joins_neither() -> None:
    found = captures([node("ORKNEY"), node("SKYE"), HEADER])
    assert [one.system.name for one in found] == ["ORKNEY", "SKYE", "PAYROLL"]


def test_one_listing_of_many_databases_gives_each_its_part() -> None:
    uses = [DatabaseUse(database=f"DISK:[D]{name}.RDB", node="BARRA") for name in ("STOCK", "LEDGER")]
    found = captures([given("sys.txt", "rdb/show_system", *uses)])
    assert [(one.system.name, len(one.facts.every(DatabaseUse))) for one in found] == [("STOCK", 1), ("LEDGER", 1)]


def test_that_a_node_has_nothing_open_is_told_to_every_database_beside_it() -> None:
    none = given("skye.txt", "rdb/show_system", NodeDatabases(node="SKYE", complete=True))
    stock = given("stock.txt", "rdb/dump_header", Database(database="DISK:[D]STOCK.RDB"))
    found = captures([HEADER, stock, none])
    assert [(one.system.name, len(one.facts.every(NodeDatabases))) for one in found] == [("PAYROLL", 1), ("STOCK", 1)]
    elsewhere = Input("out/skye.txt", "rdb/show_system", list(none.facts), given="out")
    found = captures([HEADER, elsewhere])
    assert [len(one.facts.every(NodeDatabases)) for one in found] == [0, 1]


def test_that_a_node_has_nothing_open_is_told_to_that_node_where_no_database_came() -> None:
    none = given("skye.txt", "rdb/show_system", NodeDatabases(node="SKYE", complete=True))
    found = captures([node("ORKNEY"), node("SKYE"), none])
    assert [(one.system.name, len(one.facts.every(NodeDatabases))) for one in found] == [("ORKNEY", 0), ("SKYE", 1)]


def test_what_another_node_has_open_is_told_to_the_database_that_it_does_not_have() -> None:
    both = [DatabaseUse(database=f"DISK:[D]{name}.RDB", node="BARRA") for name in ("STOCK", "LEDGER")]
    roots = tuple(one.database for one in both if one.database)
    here = given("barra.txt", "rdb/show_system", *both, NodeDatabases(node="BARRA", databases=roots, complete=True))
    one = NodeDatabases(node="SKYE", databases=roots[:1], complete=True)
    there = given("skye.txt", "rdb/show_system", DatabaseUse(database=roots[0], node="SKYE"), one)
    found = captures([here, there])
    listed = {one.system.name: [fact.node for fact in one.facts.every(NodeDatabases)] for one in found}
    assert listed == {"STOCK": ["BARRA", "SKYE"], "LEDGER": ["BARRA", "SKYE"]}


def test_screens_of_one_time_are_one_capture_and_those_of_another_are_not() -> None:
    found = captures([screen(at(10), 600), screen(at(10, 2), 600), screen(at(15), 600)])
    assert [len(one.facts.every(StatisticsWindow)) for one in found] == [2, 1]


def test_statistics_since_a_reset_days_ago_go_to_the_day_on_which_they_were_written() -> None:
    days = [
        given(f"d{day}.csv", "openvms/t4", Node(name="ORKNEY"), T4File(start=start, end=start + dt.timedelta(hours=23)))
        for day in (1, 2)
        for start in [dt.datetime(2026, 3, day)]  # noqa: DTZ001 - exports have no zone
    ]
    found = captures([*days, screen(at(10), 9 * 86_400.0)])
    assert [len(one.facts.every(StatisticsWindow)) for one in found] == [0, 1]


def test_a_display_of_one_moment_and_a_log_belong_to_the_day_around_them() -> None:
    display = given(
        "mon.txt", "openvms/monitor", Node(name="ORKNEY"), MonitorSample(kind="display", start=at(9), end=at(9))
    )
    log = given(
        "stall.log", "rdb/wait_logs", EventLog(database=ROOT, node="ORKNEY", kind="stall", start=at(9), end=at(11))
    )
    (one,) = captures([node("ORKNEY"), display, log])
    assert one.facts.every(MonitorSample)
    assert one.facts.every(EventLog)
    assert one.interval.start == at(0, 1)


def test_a_log_that_was_opened_while_the_screens_were_written_belongs_to_them() -> None:
    def log(opened: dt.datetime, last: dt.datetime) -> Input:
        first = opened + dt.timedelta(minutes=1)
        told = EventLog(database=ROOT, kind="lock timeout", created=opened, start=first, end=last)
        return given("timeout.log", "rdb/wait_logs", told)

    screens = screen(at(10), 3600.0)
    (one,) = captures([screens, log(at(9, 59), at(10, 10))])
    assert (one.interval.start, one.interval.end) == (at(9), at(10, 10))
    assert len(captures([screens, log(at(10, 1), at(10, 10))])) == 2, "opened later"
    assert len(captures([screens, log(at(9, 59), at(18))])) == 2, "mostly of other hours"


def summary(first: dt.datetime, last: dt.datetime) -> Input:
    covers = MonitorSample(node="ORKNEY", kind="summary", start=first, end=last)
    return given(f"{last:%d%H}.sum", "openvms/monitor", Node(name="ORKNEY"), covers, LockRates(statistic="mean"))


def test_summaries_of_a_week_and_of_its_days_stay_apart_in_any_order() -> None:
    midnight = at(0)
    days = [summary(midnight + dt.timedelta(days=n), midnight + dt.timedelta(days=n + 1)) for n in range(3)]
    week = summary(midnight - dt.timedelta(days=4), midnight + dt.timedelta(days=3))
    for order in ([*days, week], [week, *reversed(days)]):
        assert [len(one.facts.every(MonitorSample)) for one in captures(order)] == [1, 1, 1, 1]


def test_a_summary_of_a_month_is_not_judged_with_the_t4_of_one_of_its_days() -> None:
    found = captures([node("ORKNEY"), summary(at(0) - dt.timedelta(days=20), at(0) + dt.timedelta(days=10))])
    assert [(len(one.facts.every(T4File)), len(one.facts.every(MonitorSample))) for one in found] == [(1, 0), (0, 1)]
    (both,) = captures([node("ORKNEY"), summary(at(8), at(18))])
    assert both.facts.every(MonitorSample)


def test_thousands_of_writes_of_a_screen_take_no_time() -> None:
    writes = [screen(at(0) + dt.timedelta(minutes=2 * n), 1000.0 + 120 * n) for n in range(2500)]
    with no_longer_than(4):  # under a second; it was half a minute
        assert len(captures(writes)) == 2499


def test_two_writes_of_one_screen_become_what_was_counted_between_them() -> None:
    def written(minute: int, count: float) -> Input:
        window = StatisticsWindow(
            database=ROOT, node="ORKNEY", screen="Summary IO", at=at(10, minute), elapsed_seconds=90_000.0 + 60 * minute
        )
        row = StatisticRow(
            database=ROOT, node="ORKNEY", screen="Summary IO", item="transactions", label="transactions", count=count
        )
        return given(f"io{minute}.txt", "rdb/statistics", window, row)

    (one,) = captures([written(0, 1_000_000), written(10, 1_003_000)])
    (row,) = one.facts.every(StatisticRow)
    assert (row.over, row.count, row.mean_per_second) == ("interval", 3000, 5.0)
    assert (one.interval.start, one.interval.end) == (at(10), at(10, 10))


def test_a_short_display_never_hides_the_mean_of_the_day_around_it() -> None:
    day = node("ORKNEY")
    day.facts.append(LockRates(statistic="mean", new_enq_per_second=100.0))
    short, shorter = (
        given(
            f"{name}.txt",
            "openvms/monitor",
            Node(name="ORKNEY"),
            MonitorSample(kind="display", start=at(9), end=at(9, minutes)),
            LockRates(statistic="mean", new_enq_per_second=rate),
        )
        for name, minutes, rate in (("hour", 59, 7.0), ("minute", 1, 9.0))
    )
    (one,) = captures([day, short, shorter])
    assert [rates.new_enq_per_second for rates in one.facts.every(LockRates)][:2] == [9.0, 7.0]
    latest = one.facts.latest(LockRates, statistic="mean")
    assert latest is not None
    assert latest.new_enq_per_second == 100.0
