"""Tables whose query subtracted two copies itself are intervals, and never totals."""

from io import BytesIO

import pytest

from collectors.capture import captures
from collectors.facts.ase import (
    MonCachedObject,
    MonDeviceIO,
    MonOpenObjectActivity,
    MonSpinlockActivity,
    MonSysWaits,
    Server,
    Snapshot,
)
from collectors.layouts.dates import moment
from collectors.read import Input, read_stream
from collectors.reports.ase.monitor_tables.subtracted import by_file, by_query, by_title, length_of

WAITS = """1> select @@servername, getdate()
2> go

 ------------------------------ --------------------------
 WEIR1                          Feb 11 2026  9:20:00:310AM

-- delta 09:10:00 - 09:20:00, 600 s
1> select w.WaitEventID, Waits = w2.Waits - w.Waits, WaitTime = w2.WaitTime - w.WaitTime from #w1 w, #w2 w2
2> go
 WaitEventID Waits       WaitTime
 ----------- ----------- -----------
          54       30120         900
"""
DEVICES = """SampleStart,SampleEnd,LogicalName,PhysicalName,Reads,APFReads,Writes,IOTime
2026-02-11 09:10:00,2026-02-11 09:20:00,weir_log01,/dev/weir/log01,20,0,30140,602800
"""
TOTALS = """SampleTime,LogicalName,PhysicalName,Reads,APFReads,Writes,IOTime
2026-02-11 {0},weir_log01,/dev/weir/log01,20,0,{1},602800
"""


def read(name: str, text: str) -> list[Input]:
    inputs = list(read_stream(f"in/{name}", BytesIO(text.encode())))
    for one in inputs:
        one.given = "in"
    return inputs


def test_the_differences_of_two_files_are_one_capture_of_their_time() -> None:
    (one,) = captures([*read("waits.txt", WAITS), *read("devices.csv", DEVICES)])
    assert one.interval is not None
    assert [(row.waits, row.seconds) for row in one.facts.every(MonSysWaits)] == [(30120.0, 600.0)]
    assert [(row.writes, row.seconds) for row in one.facts.every(MonDeviceIO)] == [(30140.0, 600.0)]


def test_each_interval_of_one_file_keeps_its_own_length() -> None:
    first, row = DEVICES.splitlines()
    later = row.replace("09:20:00", "09:25:00").replace("09:10:00", "09:20:00")
    (found,) = read("devices.csv", f"{first}\n{row}\n{later}\n")
    assert [fact.seconds for fact in found.facts if isinstance(fact, MonDeviceIO)] == [600.0, 300.0]


def test_differences_beside_two_snapshots_of_another_table_stay_what_they_are() -> None:
    snapshots = [read(f"io_{at}.csv", TOTALS.format(time, writes)) for at, time, writes in PAIR]
    (one,) = captures([*read("waits.txt", WAITS), *snapshots[0], *snapshots[1]])
    assert [(row.waits, row.over) for row in one.facts.every(MonSysWaits)] == [(30120.0, "interval")]
    assert [(row.writes, row.seconds) for row in one.facts.every(MonDeviceIO)] == [(800.0, 600.0)]


IN_MEMORY = """CacheName,DBName,CachedKB,LogicalReads,PhysicalReads
default data cache,stock,8192,5000,20
default data cache,depot,4096,900,10
"""


def test_what_is_in_memory_joined_with_its_reads_gives_both() -> None:
    (found,) = read("by_database_difference_1400_1410.csv", IN_MEMORY)
    cached = [(one.database, one.cached_kb) for one in found.facts if isinstance(one, MonCachedObject)]
    reads = [
        (one.database, one.logical_reads, one.seconds) for one in found.facts if isinstance(one, MonOpenObjectActivity)
    ]
    assert cached == [("stock", 8192.0), ("depot", 4096.0)]
    assert reads == [("stock", 5000.0, 600.0), ("depot", 900.0, 600.0)]
    (alone,) = read("cached.csv", "CacheName,DBName,CachedKB\ndefault data cache,stock,8192\n")
    assert not any(isinstance(one, MonOpenObjectActivity) for one in alone.facts)


PAIR = ((1, "09:10:00", 100), (2, "09:20:00", 900))


@pytest.mark.parametrize(
    ("line", "seconds"),
    [
        ("-- delta 09:10:00 - 09:20:00, 600 s", 600.0),
        ("-- delta 23:55:00 - 00:05:00", 600.0),
        ("## 09:10 to 09:20", 600.0),
        ("/* 300 seconds */", 300.0),
        ("-- delta 09:10:00 - 09:20:00, 60 s", None),
        ("-- difference 09:10:00 / 09:20:00", 600.0),
        ("-- monOpenObjectActivity, difference 09:20 - 09:10", 600.0),
        ("-- load window 30 sessions", None),
        ("-- difference of two snapshots, 5 min apart", 300.0),
        ("-- delta 11:55AM to 12:05PM", 600.0),
        ("-- delta 12:55 - 1:05 PM", 600.0),
        ("-- difference Mar  2 2023 09:10:00 to 09:20:00 (dbid 6)", 600.0),
        ("-- difference Mar  2 2023 23:55:00 to Mar  3 2023 00:05:00", 600.0),
        ("-- difference 2023-03-02 09:10:00 to 2023-03-03 09:20:00", 87000.0),
        ("-- difference 02/03/2023 09:10:00 to 03/03/2023 09:20:00", None),
        ("-- snapshot 1: Mar  2 2023 09:10:00   snapshot 2: Mar  2 2023 09:20:00   (600 seconds)", 600.0),
        ("-- snapshot 1: 09:10:00, snapshot 2: 09:20:00", 600.0),
        ("-- snapshot 1: Mar  2 2023 09:10:00   snapshot 2: Mar  2 2023 09:20:00   (300 seconds)", None),
        ("09:10:00 - 09:20:00, 600 s", None),
    ],
)
def test_a_title_tells_how_long_it_was_unless_it_contradicts_itself(line: str, seconds: float | None) -> None:
    assert length_of(line) == seconds


def test_a_query_subtracts_only_one_column_of_two_copies() -> None:
    assert by_query("select Waits = b.Waits - a.Waits")
    assert by_query("select SPID, BytesSent from #net_delta")
    assert by_query("from tempdb..spin_delta order by Spins desc")
    assert by_query("from desk..spins_diff")
    assert not by_query("from delta..stock")
    assert not by_query("select Free = d.size - d.used")
    assert not by_query("select Waits from master..monSysWaits")


def test_the_end_of_a_name_tells_of_differences_and_its_beginning_does_not() -> None:
    assert by_file("in/monDeviceIO_delta.csv")
    found = by_file("in/monProcessActivity_300s_delta.txt")
    assert found
    assert found.seconds == 300.0
    found = by_file("in/monEngine_diff600.csv")
    assert found
    assert found.seconds == 600.0
    found = by_file("in/by_database_difference_2355_0005.csv")
    assert found
    assert found.seconds == 600.0
    found = by_file("in/monEngine_diff_2018_2019.csv")
    assert found
    assert found.seconds is None, "eight in the evening, or two years"
    assert not by_file("in/monEngine_diff_1475_1485.csv"), "no times of day"
    assert not by_file("in/monEngine_diff2.csv"), "the second one, or of two seconds"
    assert not by_file("in/monEngine_diff1430.csv"), "a time of day, or half an hour of seconds"
    assert not by_file("in/DELTA_monDeviceIO.csv")
    assert not by_file("delta/monDeviceIO.csv")


COPIES = """{0}1> select @@version
2> go
 Adaptive Server Enterprise/15.7/EBF 23288 SMP SP104 /P/Linux/ase157sp101/3449/64-bit/FBO/Mon Jul 28 18:27:57 2014

1> select a.SpinlockName, Grabs=sum(b.Grabs-a.Grabs), Spins=sum(b.Spins-a.Spins), Waits=sum(b.Waits-a.Waits)
2> from tempdb..s1 a, tempdb..s2 b where a.SpinlockName=b.SpinlockName group by a.SpinlockName
3> go
 SpinlockName                   Grabs            Spins            Waits
 ------------------------------ ---------------- ---------------- ----------------
 reed_cache                             12004118          8244941           985311
"""
TIMES = "-- snapshot 1: Mar  2 2023 09:10:00   snapshot 2: Mar  2 2023 09:20:00   ({0} seconds)\n"


@pytest.mark.parametrize(
    ("above", "seconds", "previous"),
    [
        (TIMES.format(600), 600.0, "2023-03-02 09:10:00"),
        ("-- SITE_A  monSpinlockActivity, difference\n" + TIMES.format(600), 600.0, "2023-03-02 09:10:00"),
        (TIMES.format(1800), None, None),
        ("", None, None),
    ],
)
def test_times_of_two_snapshots_above_another_report_are_those_of_the_differences_below(
    above: str, seconds: float | None, previous: str | None
) -> None:
    found = read("spins.txt", COPIES.format(above))
    facts = [fact for one in found for fact in one.facts]
    assert [row.seconds for row in facts if isinstance(row, MonSpinlockActivity)] == [seconds]
    assert [one.previous for one in facts if isinstance(one, Snapshot)] == [moment(previous) if previous else None]
    assert any(isinstance(one, Server) for one in facts)


def test_a_title_of_differences_may_tell_its_times_on_the_next_line() -> None:
    rows = "SpinlockName,Grabs,Spins,Waits\nreed_cache,12004118,8244941,985311\n"
    for title, over in (
        ("-- monSpinlockActivity, difference\n", "interval"),
        ("-- monSpinlockActivity\n", "since boot"),
    ):
        (found,) = read("spins.txt", title + TIMES.format(600) + rows)
        assert [row.over for row in found.facts if isinstance(row, MonSpinlockActivity)] == [over]


@pytest.mark.parametrize(
    "title",
    [
        "1> -- difference of two snapshots 09:10 / 09:20",
        "-- monSysWaits (seconds), delta 600 s",
        "-- monSysWaits SITE_A, difference Mar  2 2023 09:10:00 to 09:20:00 (dbid 6)",
        "-- SITE_A monSysWaits: delta 10 min",
        "-- monSysWaits joined with monWaitEventInfo, difference 09:10 to 09:20, longest first",
    ],
)
def test_a_title_that_begins_so_says_that_the_rows_are_differences(title: str) -> None:
    text = WAITS.replace("-- delta 09:10:00 - 09:20:00, 600 s", title).replace(
        "Waits = w2.Waits - w.Waits, WaitTime = w2.WaitTime - w.WaitTime from #w1 w, #w2 w2",
        "* from sitedb..waits order by WaitTime desc",
    )
    text = text.replace("1> select w", "2> select w") if title.startswith("1>") else text
    assert by_title(title)
    (found,) = read("waits.txt", text)
    assert [(row.over, row.seconds) for row in found.facts if isinstance(row, MonSysWaits)] == [("interval", 600.0)]


@pytest.mark.parametrize(
    "title",
    [
        "-- first of two snapshots, the difference over 600 s follows",
        "-- difference is to be made by hand after 600 s",
        "-- monSysWaits 09:10 - 09:20",
        "-- monSysWaits without difference 09:10 - 09:20",
        "-- difference of two snapshots",
    ],
)
def test_a_title_that_only_speaks_of_differences_leaves_totals_totals(title: str) -> None:
    assert not by_title(title)


def test_a_title_is_of_the_rows_below_it_and_not_of_the_next_batch() -> None:
    titled = WAITS.replace("delta 09:10", "difference 09:10")
    totals = "1> select * from master..monSysWaits\n2> go\n" + WAITS[WAITS.index(" WaitEventID") :]
    (found,) = read("waits.txt", f"{titled}\n{totals}")
    assert [row.over for row in found.facts if isinstance(row, MonSysWaits)] == ["interval", "since boot"]


def test_differences_that_bear_their_times_are_of_these_alone_and_never_of_another_day() -> None:
    inputs: list[Input] = []
    rows = WAITS.partition("-- delta 09:10:00 - 09:20:00, 600 s")[2]
    for day, waits in (("09", 30120), ("16", 41000)):
        times = f"snapshot 1: Mar {day} 2026 09:10:00   snapshot 2: Mar {day} 2026 09:20:00   (600 seconds)"
        inputs += read(f"waits_{day}.txt", f"-- difference\n-- {times}{rows.replace('30120', str(waits))}")
    found = [(f"{one.interval.start}", [row.waits for row in one.facts.every(MonSysWaits)]) for one in captures(inputs)]
    assert sorted(found) == [("2026-03-09 09:10:00", [30120.0]), ("2026-03-16 09:10:00", [41000.0])]
