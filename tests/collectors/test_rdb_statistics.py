"""Screens, logs and lists of RMU/SHOW STATISTICS beyond what the exports show: proof, intervals, clocks, bounds."""

import io
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from collectors.facts import ABSENT, OVERFLOW, Source
from collectors.facts.rdb import EventLog, StatisticRow, StatisticsWindow, WaitGroup
from collectors.intervals.rdb import Write, difference, sort_out, with_intervals
from collectors.read import Input, read_stream
from collectors.registry import starting
from collectors.reports.rdb.wait_logs import waits
from tests.yardstick import no_longer_than

EXPORTS = Path(__file__).parent.parent / "exports" / "rdb"
AT = datetime.fromisoformat("2023-03-14 09:00")
HEADER = """\
Node: LEWIS (1/1/4)     Oracle Rdb V7.2-530 Perf. Monitor 14-MAR-2023 09:30:00.00
Rate: 3.00 Seconds    {title}   Elapsed: 00:{minutes}:00.00
Page: 1 of 1     DISK$LG:[LEDGER]LEDGER.RDB;1      Mode: Online
statistic......... rate.per.second............. total....... average......
name.............. max..... cur..... avg....... count....... per.trans....
"""
PROVING = "locks requested  1,900 1,000 1,500.0 1,350,000 10.0\nlocks promoted   900   700   600.0   540000  4.0\n"


def read(text: str, name: str = "RMU.SCR") -> list[Input]:
    return read_stream(name, io.BytesIO(text.encode()))


def rows(found: Sequence[Input]) -> list[StatisticRow]:
    return [fact for one in found for fact in one.facts if isinstance(fact, StatisticRow)]


def screen(title: str, body: str, minutes: int = 15) -> str:
    return HEADER.format(title=title, minutes=minutes) + body


def test_figures_that_fit_prove_the_columns_of_all_screens_of_the_file() -> None:
    (found,) = read(
        screen("Locking (page locks)", "locks requested 1 0 0.0 4 0.0\n") + screen("Locking (area)", PROVING)
    )
    assert not found.problems
    assert not any(row.source.tentative for row in rows([found]))
    assert rows([found])[1].count == 1_350_000


def test_a_blank_of_the_root_file_s_name_stays_and_a_break_of_the_line_does_not() -> None:
    odd = "DISK$O:[Prod^.Data]O'Neil^ Ledger.RDB;12"
    for printed in (odd, odd.replace("Data]", "Data]\n")):
        text = screen("Locking (area)", PROVING).replace("DISK$LG:[LEDGER]LEDGER.RDB;1", printed)
        assert {row.database for row in rows(read(text))} == {odd}


def test_too_few_or_too_small_figures_leave_the_columns_tentative() -> None:
    for body in (PROVING.split("\n")[0], "locks requested 9 8 4.0 3600 1.0\nlocks promoted 5 1 4.0 3600 1.0"):
        (found,) = read(screen("Locking (page locks)", body + "\n"))
        assert all(row.source.tentative for row in rows([found])) == (body.count("\n") == 0)


def test_a_maximum_below_the_current_rate_contradicts_the_columns() -> None:
    (found,) = read(screen("Locking (page locks)", PROVING + "locks demoted 3 40 2.0 1800 1.0\n"))
    assert all(row.source.tentative for row in rows([found]))
    assert "line 8: total, elapsed time and rates do not fit together" in found.problems[0]


def test_the_heading_tells_the_order_of_the_columns() -> None:
    text = screen(
        "Locking (page locks)", "locks requested  1000 1900 1500.0 1350000 10.0\nlocks promoted 7 900 600.0 540000 4\n"
    )
    (found,) = read(text.replace("max..... cur.....", "cur..... max....."))
    assert not found.problems
    assert rows([found])[0].maximum_per_second == 1900


def test_a_screen_of_zeros_is_told_of_even_where_nobody_is_seen_at_work() -> None:
    (found,) = read(screen("Locking (locks requested)", "total locks 0 0 0.0 0 0.0\narea locks 0 0 0.0 0 0.0\n"))
    assert "is all zero: statistics disabled?" in found.problems[-1]
    (found,) = read(screen("Locking (rqst deadlocks)", "total locks 0 0 0.0 0 0.0\n"))
    assert not any("disabled" in problem for problem in found.problems)


def test_transactions_without_a_lock_are_told_of() -> None:
    busy = screen("Summary IO Statistics", "transactions 9 3 4.0 3600 1.0\n")
    (found,) = read(screen("Locking (page locks)", "locks requested 0 0 0.0 0 0.0\n") + busy)
    assert "all zero with 3,600 transactions: statistics disabled?" in found.problems[-1]


def test_a_screen_without_the_known_columns_is_left_as_text() -> None:
    body = "Tx.Seconds Count 5 6 7 8 9\n0-<1 seconds 12 11 10 9 8\n"
    text = screen("Transaction Duration", body).replace("statistic....", "x").replace("max.....", "y")
    (found,) = read(text.replace("cur", "").replace("avg", ""))
    assert not rows([found])
    assert found.leftovers[-1].last == 7


def test_the_process_overview_without_its_heading_is_tentative() -> None:
    row = "2040A21D:1 812340 401220 3 4120\n"
    for head, tentative in (("Process.ID Lock.Rqsts prom.Rqsts Deadlocks Blasted\n", False), ("", True)):
        (found,) = read(screen("Process Lock Overview", head + row))
        assert found.facts[-1].source.tentative == tentative


def test_two_rounds_of_screens_give_one_input_of_differences() -> None:
    path = EXPORTS / "statistics" / "two_rounds.txt"
    found = read_stream("RMU.SCR", io.BytesIO(path.read_bytes()))
    ((interval,), left) = sort_out(found)
    assert not left
    assert [fact.screen for fact in interval.facts if isinstance(fact, StatisticsWindow)] == [
        "Summary Locking Statistics",
        "Locking (page locks)",
        "Summary IO Statistics",
    ]
    window = interval.facts[0]
    assert isinstance(window, StatisticsWindow)
    assert (window.over, window.elapsed_seconds, window.start) == (
        "interval",
        900,
        datetime.fromisoformat("2023-03-14 09:30"),
    )
    total = rows([interval])[0]
    assert (total.count, total.maximum_per_second, total.current_per_second) == (7_700_100, ABSENT, ABSENT)
    assert total.mean_per_second == pytest.approx(7_700_100 / 900)
    assert total.per_transaction == pytest.approx(7_700_100 / 35_580)
    assert total.over == "interval"
    assert total.source.first == 74
    assert with_intervals(found) == [interval]


def write(count: float, elapsed: float, at: datetime | None = AT, **changes: object) -> Write:
    plain = StatisticsWindow(screen="Locking (page locks)", at=at, elapsed_seconds=elapsed, database="A.RDB;1")
    window = replace(plain, **changes)  # type: ignore[arg-type]
    row = StatisticRow(screen=window.screen, item="locks requested", label="", lock_type="page", count=count)
    return Write(window, (row,))


def later(seconds: float) -> datetime:
    return AT + timedelta(seconds=seconds)


def test_a_total_that_fell_or_a_clock_that_disagrees_is_a_reset() -> None:
    assert difference(write(500, 600), write(400, 900, later(300))).reset
    assert difference(write(500, 600), write(900, 700, later(3600))).reset
    assert not difference(write(500, 600, mode="Replay"), write(900, 700, later(3600), mode="Replay")).reset
    assert difference(write(500, 600), write(900, 900, later(300))).write


def test_a_clock_that_one_screen_does_not_show_disagrees_with_none() -> None:
    assert not difference(write(500, 600), write(900, 700, None)).reset
    assert not difference(write(500, 600, None), write(900, 700)).reset


def test_without_elapsed_time_or_within_one_round_there_is_no_interval_and_no_complaint() -> None:
    for other in (write(900, 630, later(30)), write(500, 600)):
        assert difference(write(500, 600), other) == difference(write(500, 600), write(500, 600))
    no_time = write(900, 0, elapsed_seconds=None)
    assert difference(write(500, 600), no_time).write is None


def test_an_overflow_stays_one_and_without_transactions_nothing_is_said_of_them() -> None:
    wide = write(0, 900, later(300))
    wide = Write(wide.window, (replace(wide.rows[0], count=OVERFLOW, source=Source("b", 1, 1, True)),))
    made = difference(write(500, 600), wide).write
    assert made
    assert (made.rows[0].count, made.rows[0].mean_per_second) == (OVERFLOW, OVERFLOW)
    assert made.rows[0].source.tentative
    made = difference(write(500, 600), write(800, 900, later(300))).write
    assert made
    assert (made.rows[0].mean_per_second, made.rows[0].per_transaction) == (1.0, ABSENT)


def inputs(*writes: Write) -> list[Input]:
    return [Input(f"{at}.SCR", "rdb/statistics", [one.window, *one.rows]) for at, one in enumerate(writes)]


def test_a_reset_is_told_and_both_totals_stay() -> None:
    found = inputs(write(900, 900, later(300)), write(500, 600))
    found[0].facts, found[1].facts = found[1].facts, found[0].facts
    assert not sort_out(found)[1]
    found = inputs(write(900, 600), write(500, 100, later(300)))
    intervals, left = sort_out(found)
    assert (intervals, left) == ([], found)
    assert "reset between this write of `Locking (page locks)` and that of 0.SCR" in found[1].problems[0]


def test_other_nodes_databases_and_pages_are_never_subtracted() -> None:
    for other in ({"node": "SKYE"}, {"database": "B.RDB;1"}, {"page": 2.0}, {"merged": True}):
        assert not sort_out(inputs(write(500, 600), write(900, 900, later(300), **other)))[0]
    assert sort_out(inputs(write(500, 600), write(900, 900, later(300), database="a.rdb;2")))[0]


def test_three_writes_give_two_intervals_apart() -> None:
    found = inputs(write(500, 600), write(900, 900, later(300)), write(1000, 1200, later(600)))
    intervals, left = sort_out(found)
    assert [row.count for row in rows(intervals)] == [400, 100]
    assert len(intervals) == 2
    assert not left


def test_a_write_that_was_brought_twice_counts_once() -> None:
    found = inputs(write(500, 600), write(500, 600), write(900, 900, later(300)))
    intervals, left = sort_out(found)
    assert [row.count for row in rows(intervals)] == [400]
    assert not left


def test_intervals_of_other_times_are_inputs_of_their_own() -> None:
    other = {"screen": "Locking (record locks)"}
    morning = [write(500, 600), write(900, 900, later(300))]
    noon = [write(500, 9600, later(9000), **other), write(900, 9900, later(9300), **other)]
    assert len(sort_out(inputs(*morning, *noon))[0]) == 2


def log(
    *events: str,
    head: str = "RMU Show Statistics utility: Lock Timeout Log\nDatabase: L.RDB\n14-MAR-2023 23:00:00.00\n",
) -> str:
    return head + "\n".join(events) + "\n"


def test_lines_and_missed_events_are_counted_by_resource() -> None:
    event = "2040A21D:1 23:30:00.00 - waiting for page 5:751 (PR)"
    (found,) = read(log(event, event + " [12 missed]", event.replace("5:751", "5:752")))
    whole, most, least = found.facts
    assert isinstance(whole, EventLog)
    assert isinstance(most, WaitGroup)
    assert isinstance(least, WaitGroup)
    assert (whole.logged, whole.missed) == (3, 12)
    assert (most.resource, most.logged, most.missed, most.processes) == ("5:751", 2, 12, 1)
    assert least.logged == 1


def test_a_log_that_begins_after_midnight_is_of_the_next_day_and_one_of_before_is_not() -> None:
    (found,) = read(log("2040A21D:1 00:10:00.00 - waiting for page 5:751 (PR)"))
    assert isinstance(found.facts[0], EventLog)
    assert found.facts[0].start == datetime.fromisoformat("2023-03-15 00:10")
    (found,) = read(log("2040A21D:1 22:10:00.00 - waiting for page 5:751 (PR)"))
    assert isinstance(found.facts[0], EventLog)
    assert found.facts[0].start == datetime.fromisoformat("2023-03-14 22:10")


@pytest.mark.parametrize(
    ("times", "days"),
    [([100, 41], 0), ([100, 40], 1), ([86_390, 5, 86_395, 9], 1), ([86_390, 5, 50], 1), ([50, 40, 30, 20], 0)],
)
def test_a_fall_back_of_a_minute_is_a_midnight_and_a_shorter_one_disorder(times: list[float], days: int) -> None:
    clock = waits.Clock()
    read_as = [clock.read(one) for one in times]
    assert clock.days == days
    assert max(read_as) - min(read_as) < waits.DAY


def test_the_name_of_the_file_tells_which_log_it_is() -> None:
    event = "2040A21D:1 09:30:00.00 - waiting for page 5:751 (PR)\n"
    for name, kind in (("DEADLOCK.LOG", "deadlock"), ("pay_timeouts.log", "lock timeout")):
        (found,) = read("A title of its own\nDISK$A:[B]LEDGER.RDB;1\n14-MAR-2023 09:00:00.00\n" + event, name)
        assert isinstance(found.facts[0], EventLog)
        assert (found.facts[0].kind, found.facts[0].database) == (kind, "DISK$A:[B]LEDGER.RDB;1")
    (found,) = read("Stalls of the year\nfour of them\n" + "no more\n" * 20, "stall.log")
    assert not found.facts


def test_groups_stay_bounded_and_what_is_frequent_survives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waits, "MOST_HELD", 10)
    monkeypatch.setattr(waits, "MOST_GROUPS", 3)
    groups = waits.Groups()
    for number in range(100):
        groups.add(("page", "5:1", None), number, "A")
        groups.add(("page", f"6:{number}", None), number, "B")
    found = list(groups.facts("x", "dbkey", None, None, None, unsure=False))
    assert found[0].logged == 100
    assert len(found) == 3
    assert groups.left_out == 98
    assert len(groups.held) <= 10


def test_a_page_that_did_not_change_is_not_read_again() -> None:
    text = log(
        "2040A21D:1 51:3:1 1:1 1:2 1:3 1:4",
        "2040A21D:1 51:3:1 1:1 1:9 1:3 1:4",
        "2040A21D:2 51:3:1 1:1 1:2 1:3 1:4",
        head="RMU Show Statistics utility: Dbkey Log\nDatabase: L.RDB\n14-MAR-2023 23:00:00.00\nProcess\n",
    )
    (found,) = read(text)
    page = next(one for one in found.facts if isinstance(one, WaitGroup) and one.resource_kind == "page")
    assert (page.resource, page.logged, page.processes) == ("51:3", 2, 1)


@pytest.mark.long
def test_no_line_takes_long_to_be_found_not_to_begin_anything() -> None:
    lines = (
        "Node: X " + "Oracle Rdb " * 2_000,
        "a," * 10_000,
        "locks requested,rqsts stalled," + "x," * 10_000,
        "Rate: 1 Seconds" + " " * 20_000,
        "2040A21D:1 09:00:00.00 " + "waiting" * 3_000,
        "RMU Show Statistics " + "lo" * 10_000,
    )
    starting("once, so that the patterns are made")
    with no_longer_than(2):
        for line in lines:
            starting(line)
            read(screen("Stall Messages", line + "\n") + log(line))


def test_a_paste_with_a_blank_line_behind_each_keeps_the_database_of_its_screens() -> None:
    text = (EXPORTS / "statistics" / "wrapped_header_and_cut_row.txt").read_text(encoding="utf-8")
    plain, parted = rows(read(text)), rows(read(text.replace("\n", "\n\n")))
    assert {row.database for row in parted} == {row.database for row in plain} != {None}
