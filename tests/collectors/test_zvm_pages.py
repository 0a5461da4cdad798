"""Pages of Performance Toolkit: the vendor's own page, long logs, what begins a page, and what proves one."""

import io
from pathlib import Path

import pytest

from collectors.capture import captures
from collectors.facts.base import ABSENT, OVERFLOW
from collectors.facts.zvm import PerfkitPage, SpinLock
from collectors.layouts import perfkit, spin_locks
from collectors.layouts.perfkit_table import figure, half_digit
from collectors.read import Input, read_stream
from collectors.registry import starting

FIXTURES = Path(__file__).parent.parent / "exports"
READERS = {
    "FCX102": "zvm/system",
    "FCX144": "zvm/proclog",
    "FCX225": "zvm/syssumlg",
    "FCX239": "zvm/procsum",
    "FCX265": "zvm/locklog",
    "FCX326": "zvm/lockact",
}
GOOD = (FIXTURES / "zvm" / "locklog" / "mean_over_midnight.txt").read_text()


def read_text(text: str) -> list[Input]:
    return read_stream("page.txt", io.BytesIO(text.encode()))


def locks(text: str) -> list[SpinLock]:
    return [fact for one in read_text(text) for fact in one.facts if isinstance(fact, SpinLock)]


def test_the_vendors_page_is_read_whole_and_its_cut_row_told(real_exports: Path) -> None:
    path = real_exports / "zvm" / "fcx265_locklog.txt"
    with path.open("rb") as stream:
        (found,) = read_stream(str(path), stream)
    page, *rows = found.facts
    assert isinstance(page, PerfkitPage)
    assert (page.system, page.start, page.end, page.seconds) == ("2817-36D85", "00:00:30", "07:33:30", 27_180)
    assert [fact.lock for fact in rows if isinstance(fact, SpinLock)].count("RSACALLK") == 1
    (lock,) = [fact for fact in rows if isinstance(fact, SpinLock) and fact.lock == "RSACALLK"]
    assert (lock.collisions_per_second, lock.average_spin_usec, lock.cads_per_second) == (0.1, 0.249, 0.1)
    assert (lock.exclusive_cads_per_second, lock.shared_cads_per_second) == (0, 0)
    total = rows[-1]
    assert isinstance(total, SpinLock)
    assert (total.lock, total.total, total.spin_percent, total.cads_per_second) == ("Total", True, 0, ABSENT)
    assert len(rows) == 13
    assert found.problems == ["line 19: >>Total>: the page breaks off after 3 figures: save the page again whole"]
    assert not found.leftovers
    assert not any(fact.source.tentative for fact in found.facts)


@pytest.mark.parametrize("number", READERS)
def test_each_page_begins_with_its_own_heading_alone(number: str) -> None:
    screen = f"  {number}      CPU 3906  SER 0B7F2  Interval 09:00:00 - 10:00:00    Perf. Monitor"
    printed = f"1{number}  Run 2026/03/04 10:12:40         NAME                          Page   48"
    assert [kind.id for kind in starting(screen)] == [kind.id for kind in starting(printed)] == [READERS[number]]
    for line in (f"{number} LOCKLOG shows it", f"see {number}  CPU 3906", f"the report {number}", number):
        assert not starting(line), line


@pytest.mark.parametrize("number", READERS)
def test_the_sample_of_a_manual_is_no_measurement(number: str) -> None:
    heading = f"  {number}      CPU nnnn  SER nnnnn  Interval HH:MM:SS - HH:MM:SS    Perf. Monitor"
    (found,) = read_text("\n".join([heading, *GOOD.split("\n")[1:]]))
    assert (found.report, found.facts) == (READERS[number], [])
    (problem,) = found.problems
    assert f"a sample layout of {number} from a manual" in problem


def test_no_line_of_another_product_begins_a_page_or_a_table_of_runs() -> None:
    for path in sorted(FIXTURES.glob("*/*/*")):
        if path.parts[-3] == "zvm" or path.suffix in (".yml", ".zip", ".gz"):
            continue
        for line in path.read_bytes().decode("latin-1").split("\n"):
            if "FCX" in line.upper() or "z/vm" in line.lower() or "/tx" in line.lower() or "tx/" in line.lower():
                assert not [kind.id for kind in starting(line) if kind.id.startswith("zvm/")], (path, line)


def test_a_long_log_keeps_the_mean_the_totals_and_each_lock_at_its_worst() -> None:
    head, row = GOOD.split("\n")[:6], "  {0} {1:9}  {2:>5.1f}  10.000 {3:>5.3f}    .0"
    head[3] = "                       <----- Combined -------->"
    head[4:6] = [line[:48] for line in head[4:6]]
    head[2] = ""
    names = ["SRMSLOCK", "HCPTRQLK", "DSVLOCK", ">>Total>"]
    body = [row.format(">>Mean>>", name, 50, 0.05) for name in names]
    for minute in range(900):
        for name in names:
            rate = 100 + minute % 450 if name != ">>Total>" else 900
            body.append(row.format(f"{minute // 60:02}:{minute % 60:02}:30", name, rate, rate * 1e-3))
    found = locks("\n".join([*head, *body]) + "\n")
    assert len(found) == 4 + 900 + 3
    worst = {fact.lock: fact.statistic for fact in found if fact.statistic != "mean" and not fact.total}
    assert worst == dict.fromkeys(names[:3], "07:29:30")
    assert not found[0].source.tentative


def test_a_page_longer_than_any_is_cut_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(perfkit, "MOST_LINES", 9)
    first, *_ = read_text(GOOD)
    assert len(first.facts) == 4
    assert "a page of over 9 lines" in first.problems[0]


def test_totals_beyond_the_bound_are_kept_at_their_worst_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spin_locks, "MOST_TOTALS", 1)
    text = (FIXTURES / "zvm" / "locklog" / "by_time.txt").read_text()
    totals = [fact.statistic for fact in locks(text) if fact.total]
    assert totals == ["mean", "09:01:00", "09:02:00"]


def test_tentative_pages_mark_their_sources_and_proved_ones_do_not() -> None:
    def unsure(case: str) -> set[bool]:
        text = (FIXTURES / "zvm" / f"{case}.txt").read_text()
        return {fact.source.tentative for one in read_text(text) for fact in one.facts}

    proved = ("locklog/older_page_proved", "lockact/three_groups_proved", "system/counters_two_to_a_line")
    recalled = ["locklog/older_page_idle", "lockact/idle_is_tentative", "lockact/swapped_and_cut"]
    recalled += ["locklog/per_cent_of_one_of_eight", "syssumlg/mean_and_busiest_interval", "proclog/two_processors"]
    assert [unsure(case) for case in proved] == [{False}] * len(proved)
    assert [unsure(case) for case in (*recalled, "procsum/rates_in_columns")] == [{True}] * (len(recalled) + 1)


@pytest.mark.parametrize(("begin", "end", "seconds"), [("09:00:00", "09:00:00", ABSENT), ("23:59:30", "00:00:30", 60)])
def test_an_interval_may_pass_midnight_but_has_a_length(begin: str, end: str, seconds: object) -> None:
    text = GOOD.replace("23:30:00 - 00:30:00", f"{begin} - {end}")
    (page,) = [fact for one in read_text(text) for fact in one.facts if isinstance(fact, PerfkitPage)]
    assert page.seconds == seconds


def test_the_release_of_query_cplevel_joins_the_page_above_below_or_in_a_file_of_its_own() -> None:
    level = "q cplevel\nz/VM Version 6 Release 4.0, service level 1801 (64-bit)\nGenerated at 2018-04-10 15:12:31 EDT\n"
    level += "IPL at 2018-06-01 09:00:12 EDT\nReady; T=0.01/0.01 09:14:22\n"
    for text in (f"{level}\n{GOOD}", f"{GOOD}\n{level}"):
        (capture,) = captures(read_text(text))
        assert capture.system.version == "6.4.0"
    apart = [
        *read_stream("here/level.txt", io.BytesIO(level.encode())),
        *read_stream("here/a", io.BytesIO(GOOD.encode())),
    ]
    assert [one.report for one in apart] == ["zvm/cp_level", "zvm/locklog"]
    (capture,) = captures(apart)
    assert capture.system.version == "6.4.0"
    assert not any(one.leftovers for one in read_text(f"{level}\n{GOOD}"))
    (found,) = read_text(f"{GOOD}\nwe had z/VM V6.3.0 before\n")
    assert not [page for page in found.facts if isinstance(page, PerfkitPage) and page.release]


@pytest.mark.parametrize(
    ("token", "value", "half"), [(".249", 0.249, 0.0005), ("12", 12.0, 0.5), ("1.2k", 1200.0, 50.0), ("3M", 3e6, 5e5)]
)
def test_figures_have_no_zero_before_the_point_and_may_be_thousands(token: str, value: float, half: float) -> None:
    assert figure(token) == value
    assert half_digit(token) == pytest.approx(half)


def test_what_is_no_figure_is_none() -> None:
    assert [figure(token) for token in ("---", "....", "x", "", "1,5")] == [ABSENT] * 5
    assert figure("****") is OVERFLOW
