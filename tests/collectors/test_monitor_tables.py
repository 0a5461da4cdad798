"""Monitoring tables: the same rows in every layout, endless ones, files without headings, and damage."""

import io
from datetime import datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collectors.facts import Fact
from collectors.facts.ase import (
    MonDataCache,
    MonOpenObjectActivity,
    MonProcess,
    MonProcessSQLText,
    MonSpinlockActivity,
    MonSysWaits,
    MonTable,
    Snapshot,
)
from collectors.facts.base import ABSENT, NOWHERE
from collectors.read import Input, read_stream
from collectors.reports.ase.monitor_tables.clock import read_clock
from collectors.reports.ase.monitor_tables.gathering import MOST_OF_ONE_NAME
from collectors.reports.ase.monitor_tables.snapshots import Moment
from tests.collectors.printing import Row, bcp, box, isql, separated

SPINLOCKS: Row = ("SpinlockName", "Grabs", "Spins", "Waits", "OwnerPID", "LastOwnerPID", "Contention", "InstanceID")
WAITS: Row = ("WaitEventID", "WaitTime", "Waits")


def read(text: str, name: str = "x.txt") -> list[Input]:
    return read_stream(name, io.BytesIO(text.encode()))


def facts(text: str, name: str = "x.txt") -> list[Fact]:
    (found,) = read(text, name)
    assert found.report == "ase/monitor_tables"
    assert not found.problems
    return found.facts


def bare(text: str, name: str = "x.txt") -> list[tuple[object, ...]]:
    rows = [fact for fact in facts(text, name) if isinstance(fact, MonSpinlockActivity)]
    return [(row.name, row.instance, row.grabs, row.spins, row.waits, row.contention_percent) for row in rows]


NAMES = st.text(alphabet="abcXYZ_->[]<'\" ;,.", min_size=1, max_size=30).filter(
    lambda name: name.strip() == name and any(map(str.isalpha, name)) and "  " not in name
)
COUNTS = st.one_of(st.integers(0, 10**17).map(str), st.just("NULL"))


@st.composite
def spinlock_rows(draw: st.DrawFn) -> list[Row]:
    rows: list[Row] = []
    for _ in range(draw(st.integers(1, 6))):
        grabs, waits = draw(st.integers(1, 10**12)), draw(st.integers(0, 10**9))
        waits = min(grabs, waits)
        rows.append((draw(NAMES), str(grabs), draw(COUNTS), str(waits), "0", "-7", f"{100 * waits / grabs:.6f}", "0"))
    return rows


@settings(max_examples=60, deadline=None)
@given(spinlock_rows())
def test_the_same_rows_are_read_from_every_layout(rows: list[Row]) -> None:
    plain = [row for row in rows if '"' not in row[0]]
    want = bare(isql(SPINLOCKS, rows))
    assert len(want) == len(rows)
    assert bare(isql(SPINLOCKS, rows, 80)) == want
    assert bare(separated(SPINLOCKS, rows)) == want
    assert bare(separated(SPINLOCKS, rows, ";"), "x.csv") == want
    assert bare(separated(SPINLOCKS, rows, ",").replace("\n", "\r\n"), "x.csv") == want
    assert bare(box(SPINLOCKS, rows)) == want
    if plain:
        assert bare(bcp(plain), "monSpinlockActivity.bcp") == bare(isql(SPINLOCKS, plain))


def test_a_headless_file_in_an_archive_is_known_by_its_name() -> None:
    row = ("fglockspins", "10", "0", "0", "0", "0", "0.000000", "0")
    assert bare(bcp([row]), "all.zip/later/ALDER_monspinlockactivity_3.out#2") == [
        ("fglockspins", 0, 10.0, 0.0, 0.0, 0.0)
    ]
    idle = ("Resource->rproccache", "0", "0", "0", "0", "0", "0.000000", "0")
    assert len(bare(bcp([row, idle]), "monSpinlockActivity.bcp")) == 2, "a spinlock that nobody took has a row as well"
    (unnamed,) = read(bcp([row]), "all.zip/monSpinlockActivity/rows.bcp")
    assert unnamed.report is None


def test_a_contention_that_is_not_waits_over_grabs_betrays_another_order() -> None:
    (found,) = read(bcp([("fglockspins", "100", "0", "50", "0", "0", "3.000000", "0")]), "monSpinlockActivity.bcp")
    assert not found.facts
    assert "fit no release's monSpinlockActivity" in found.problems[0]
    assert found.leftovers


def test_the_name_of_a_server_is_a_name_in_a_column_of_its_own() -> None:
    when = "Nov 26 2026 10:15:00.000AM"
    said, _ = read_clock(["", "time", "note", ""], ["ALDER", when, "nightly", "the master of all"])
    assert said is not None
    assert said.server == "ALDER"


def test_a_file_named_for_a_table_may_have_a_title_and_a_heading() -> None:
    text = "Spinlocks of\tALDER, Monday\n" + isql(SPINLOCKS, [("fglockspins", "10", "0", "0", "0", "0", "0.0", "0")])
    (found,) = read(text, "monSpinlockActivity.txt")
    assert not found.problems
    assert any(isinstance(fact, MonSpinlockActivity) for fact in found.facts)


def test_spinlocks_of_one_name_beyond_a_thousand_are_one_sum() -> None:
    rows = [("fglockspins", "5", "2", "1", "0", "0", "20.000000", "0")] * (3 * MOST_OF_ONE_NAME + 7)
    many = facts(isql(SPINLOCKS, [*rows, ("addrlockspins", "1", "0", "0", "0", "0", "0.0", "0")]))
    (one, other) = [fact for fact in many if isinstance(fact, MonSpinlockActivity)]
    assert (one.rows, one.grabs, one.spins, one.waits) == (len(rows), 5.0 * len(rows), 2.0 * len(rows), len(rows))
    assert one.contention_percent is ABSENT
    assert (other.name, other.rows) == ("addrlockspins", 1)
    assert one.source.last - one.source.first == len(rows) - 1
    kept = facts(isql(SPINLOCKS, rows[:MOST_OF_ONE_NAME]))
    assert sum(isinstance(fact, MonSpinlockActivity) for fact in kept) == MOST_OF_ONE_NAME


def test_a_hundred_thousand_rows_of_sysmonitors_become_one_unsigned_sum() -> None:
    size = 100_000
    lines = ["group_name\tfield_name\tfield_id\tvalue"]
    for group, value in (("spinlock_p", -1), ("spinlock_w", 3), ("spinlock_s", 2)):
        lines += [f"{group}\tfglockspins\t{at}\t{value}" for at in range(size)]
    (one,) = [fact for fact in facts("\n".join(lines)) if isinstance(fact, MonSpinlockActivity)]
    assert (one.rows, one.wide) == (size, False)
    assert (one.grabs, one.waits, one.spins) == (size * (2.0**32 - 1), 3.0 * size, 2.0 * size)


def test_two_tables_asked_a_few_seconds_apart_are_one_snapshot_and_later_ones_are_not() -> None:
    text = ""
    for time in ("10:15:00", "10:15:08", "10:17:00", "10:17:08"):
        columns = ("WaitEventID", "WaitTime", "Waits") if time.endswith("0") else ("Requests", "Loads", "Writes")
        text += isql(("SampleTime",), [(f"2026-11-21 {time}",)]) + isql(columns, [("150", "1", "2")])
    taken = [fact.taken for fact in facts(text) if isinstance(fact, Snapshot)]
    assert taken == [datetime(2026, 11, 21, 10, 15), datetime(2026, 11, 21, 10, 17)]  # noqa: DTZ001


def test_a_wrapped_time_belongs_to_no_leftover() -> None:
    when = "Nov 21 2026 10:15:12:123AM"
    text = isql(("ServerName", "SampleTime", "BootTime"), [("ALDER".ljust(30), when, when)], 80)
    (found,) = read("A report of mine\n" + text + isql(WAITS, [("150", "1", "2")]))
    (snapshot,) = [fact for fact in found.facts if isinstance(fact, Snapshot)]
    assert (snapshot.server, snapshot.source.first, snapshot.source.last) == ("ALDER", 6, 7)
    assert [(run.first, run.text) for run in found.leftovers] == [(1, "A report of mine")]


def test_a_time_that_ended_one_snapshot_is_not_that_of_the_next() -> None:
    def asked(time: str) -> str:
        return isql(("",), [(f"Nov 21 2026 {time}",)])

    text = asked("10:15AM") + isql(WAITS, [("150", "1", "2")]) + asked("10:16AM") + asked("10:20AM")
    taken = [fact.taken for fact in facts(text + isql(WAITS, [("150", "1", "3")])) if isinstance(fact, Snapshot)]
    assert [one.minute for one in taken if one] == [15, 20]


def test_a_figure_cut_at_the_end_of_the_file_is_told() -> None:
    whole = isql(WAITS, [("150", "1", "1234567"), ("151", "2", "7654321")])
    cut = whole[: whole.index("7654321") + 4]
    (found,) = read(cut)
    assert "may be cut" in found.problems[0]
    (found,) = read(whole[: whole.index("7654321") + 7])
    assert not found.problems


def test_a_thousand_strange_lines_end_the_tables_and_the_numbers_go_on() -> None:
    table = isql(WAITS, [("150", "1", "2")])
    found = read(table + "what is this\n" * 1500 + table)
    assert [one.report for one in found] == ["ase/monitor_tables"] * 2
    assert [fact.number for one in found for fact in one.facts if isinstance(fact, Snapshot)] == [1, 2]


def test_half_a_heading_above_a_table_is_not_lost() -> None:
    (found,) = read("select Waits from master..monSysWaits\nLogicalReads of yesterday\n\nno table here\n")
    assert not found.facts
    assert found.leftovers


@pytest.mark.parametrize("figure", ["12 345 678", "12,345,678", "12.345.678", "12345678.00", "12'345'678"])
def test_a_counter_is_whole_whatever_parts_its_thousands(figure: str) -> None:
    (one,) = [fact for fact in facts(separated(WAITS, [("150", figure, "1")], "|")) if isinstance(fact, MonSysWaits)]
    assert one.wait_seconds == 12345678.0


@pytest.mark.parametrize("figure", ["1.5E+09", "12a", "0x1F", "1.5", "NaN", "9" * 30])
def test_what_is_no_counter_costs_its_row_and_is_told(figure: str) -> None:
    (found,) = read(separated(WAITS, [("150", figure, "1"), ("151", "7", "1")], ";"))
    assert [fact.event for fact in found.facts if isinstance(fact, MonSysWaits)] == [151]
    assert "not read in monSysWaits" in found.problems[0]


def test_zero_null_overflow_and_no_column_stay_four() -> None:
    text = isql(("CacheName", "CacheSearches", "Stalls", "PhysicalReads"), [("a", "0", "NULL", "***")])
    (one,) = [fact for fact in facts(text) if isinstance(fact, MonDataCache)]
    assert one.searches == 0.0
    assert (one.stalls.name, one.physical_reads.name, one.apf_reads.name) == ("ABSENT", "OVERFLOW", "ABSENT")  # type: ignore[union-attr]
    (table,) = [fact for fact in facts(text) if isinstance(fact, MonTable)]
    assert not table.all_zero


@pytest.mark.parametrize("width", [200, 24])
def test_repeated_headings_of_isql_begin_no_snapshot(width: int) -> None:
    lines = isql(WAITS, [("150", "1", "2"), ("151", "1", "2")], width).split("\n")
    parts = 1 if width == 200 else 2
    text = "\n".join([*lines[: 3 * parts], *lines[: 2 * parts], *lines[3 * parts :]])
    found = facts(text)
    assert [fact.event for fact in found if isinstance(fact, MonSysWaits)] == [150, 151]
    assert sum(isinstance(fact, Snapshot) for fact in found) == 1


COLUMNS = st.sampled_from(
    ["SpinlockName", "Grabs", "CacheName", "CacheSearches", "SampleTime", "DBName", "IndexID", "LockWaits", "x", ""]
)
CELLS = st.one_of(
    st.sampled_from(["NULL", "***", "1", "Nov 21 2026 10:15AM", '"', "03/04/2026 1:00", "-"]), st.text(max_size=9)
)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_no_table_of_any_shape_breaks_the_reader(data: st.DataObject) -> None:
    text = ""
    for _ in range(data.draw(st.integers(1, 3))):
        columns = data.draw(st.lists(COLUMNS, min_size=1, max_size=6))
        rows = data.draw(st.lists(st.lists(CELLS, min_size=len(columns), max_size=len(columns)), max_size=4))
        rows = [[cell.replace("\n", " ") for cell in row] for row in rows]
        layout = data.draw(st.sampled_from([isql, box, separated, lambda names, cells: isql(names, cells, 20)]))
        text += layout(columns, rows)
    cut = data.draw(st.integers(0, len(text)))
    for name in ("x.txt", "monDataCache.bcp"):
        for one in read_stream(name, io.BytesIO(text[:cut].encode("utf-8", "replace"))):
            assert all(fact.source is not NOWHERE for fact in one.facts)


def test_objects_without_their_index_say_nothing_of_scans() -> None:
    (found,) = read(isql(("DBName", "ObjectName", "UsedCount", "LockWaits"), [("salesdb", "lines", "7", "9")]))
    (one,) = [fact for fact in found.facts if isinstance(fact, MonOpenObjectActivity)]
    assert (one.used_count, one.lock_waits) == (ABSENT, 9.0)


def test_what_an_answer_does_not_say_stays_as_it_was() -> None:
    booted, cleared, taken = (datetime(2026, 3, day) for day in (1, 2, 3))  # noqa: DTZ001  # the export has no zone
    learned = Moment()
    learned.learn(Moment(server="ALDER", taken=taken, booted=booted, cleared=cleared))
    learned.learn(Moment())
    assert (learned.server, learned.taken, learned.booted, learned.cleared) == ("ALDER", taken, booted, cleared)


JOINED = ("SPID", "KPID", "DBName", "WaitEventID", "SecondsWaiting", "LineNumber", "SQLText")


def test_a_join_of_sessions_and_their_texts_gives_the_facts_of_both() -> None:
    rows = [("31", "7", "toll", "41", "0", "1", "insert trip"), ("31", "7", "toll", "41", "0", "2", "values (@a)")]
    found = facts(isql(JOINED, [*rows, ("44", "8", "toll", "150", "9", "1", "exec p_close")]))
    texts = [(one.spid, one.text) for one in found if isinstance(one, MonProcessSQLText)]
    waits = [(one.spid, one.wait_event, one.seconds_waiting) for one in found if isinstance(one, MonProcess)]
    assert texts == [(31, "insert trip"), (31, "values (@a)"), (44, "exec p_close")]
    assert waits == [(31, 41, 0.0), (44, 150, 9.0)]


def test_texts_without_a_wait_say_nothing_of_sessions() -> None:
    found = facts(isql(("SPID", "DBName", "SequenceInLine", "SQLText"), [("31", "toll", "1", "insert trip")]))
    assert [type(one) for one in found if isinstance(one, MonProcess | MonProcessSQLText)] == [MonProcessSQLText]
