"""The sp_sysmon reader: what a yml cannot say."""

import io
import random
from pathlib import Path
from typing import TypeVar

import pytest

import collectors.reports.ase.sp_sysmon as reader
from collectors.facts import ABSENT, NOT_MEASURED, Fact, Missing, number_or
from collectors.facts.ase import (
    CacheActivity,
    DeviceActivity,
    EngineBusy,
    LockRequests,
    LockSummary,
    MetadataCache,
    Server,
    SysmonAdvice,
    SysmonRow,
    SysmonSample,
    SysmonSection,
    TaskSwitches,
)
from collectors.read import Input, read_stream
from collectors.registry import starting
from collectors.reports.ase.sp_sysmon import SpSysmon, lines

CASES = Path(__file__).parent.parent / "exports" / "ase" / "sp_sysmon"
WHOLE = ("160_threaded_two_pools", "150_process_three_engines")
HEADER = "      Sybase Adaptive Server Enterprise System Performance Report\n"
ROW = "    Granted                           0.9           5.2         103     100.0 %\n"


F = TypeVar("F", bound=Fact)


def text_of(name: str) -> str:
    return (CASES / f"{name}.txt").read_text(encoding="utf-8")


def read(text: str) -> list[Input]:
    return read_stream("export.txt", io.BytesIO(text.encode()))


def facts_of(inputs: list[Input], kind: type[F]) -> list[F]:
    return [fact for one in inputs for fact in one.facts if isinstance(fact, kind)]


def rows_of(inputs: list[Input], title: str) -> tuple[SysmonRow, ...]:
    (section,) = [
        fact for one in inputs for fact in one.facts if isinstance(fact, SysmonSection) and fact.title == title
    ]
    return section.rows


@pytest.fixture
def real(real_exports: Path) -> Path:
    return real_exports / "ase"


def test_the_idle_server_reads_as_printed(real: Path) -> None:
    (one,) = read((real / "sp_sysmon_16.0_sp02_idle.txt").read_text())
    assert (one.problems, one.leftovers) == ([], [])
    (objects,) = [fact for fact in facts_of([one], MetadataCache) if fact.kind == "object"]
    assert (objects.active, objects.free, objects.reuse_succeeded) == (499, 1, 4702)
    (summary,) = facts_of([one], LockSummary)
    assert (summary.requests, summary.waited) == (4441, 0)
    locks = facts_of([one], LockRequests)
    assert len(locks) == 20
    assert sum(number_or(fact.total, 0) for fact in locks) == 4441 + 8946  # the last page locks too
    assert len(facts_of([one], TaskSwitches)) == 23
    assert len(facts_of([one], SysmonSection)) == 21
    (cache,) = facts_of([one], CacheActivity)
    assert (cache.washed_dirty, cache.passed_clean, cache.grabbed) == (306, 260, 163)


def test_twelve_engines_and_three_caches(real: Path) -> None:
    (one,) = read((real / "sp_sysmon_15.0.3_12_engines.txt").read_text())
    assert one.leftovers == []
    assert len(one.problems) == 1
    assert "End of Report" in one.problems[0]
    engines = facts_of([one], EngineBusy)
    assert [fact.engine for fact in engines] == list(range(12))
    assert (engines[7].user_percent, engines[7].io_percent) == (2.5, 46.3)
    caches = {fact.name: fact for fact in facts_of([one], CacheActivity)}
    assert set(caches) == {"dbcc_cache", "default data cache", "tempdb_cache"}
    assert caches["default data cache"].large_io_denied == 888 + 25266
    assert caches["default data cache"].large_io_without_room == 888
    assert caches["default data cache"].washed_dirty is NOT_MEASURED
    assert caches["tempdb_cache"].hits == 0
    assert [fact.device for fact in facts_of([one], DeviceActivity)] == [f"data_0{n}" for n in range(1, 5)]
    (server,) = facts_of([one], Server)
    assert (server.name, server.version) == ("Test", "15.0.3/EBF 16548 ESD#1/P/Sun_")


def test_a_fragment_with_tabs_and_a_short_sample(real: Path) -> None:
    (one,) = read((real / "sp_sysmon_15.7_sp110_fragment.txt").read_text())
    assert one.leftovers == []
    assert [problem.split()[0] for problem in one.problems] == ["truncated:", "sampled", "Sample"]
    engines = facts_of([one], EngineBusy)
    assert len(engines) == 6
    assert engines[3].busy_percent == 9.5  # 86 % "I/O Busy" is idle time
    assert len(rows_of([one], "Disk I/O Management")) == 7


def test_the_manuals_example_is_read_though_it_does_not_add_up(real: Path) -> None:
    (one,) = read((real / "sp_sysmon_12.5_locks_collapsed.txt").read_text())
    assert one.leftovers == []
    assert "Exclusive Table, Shared Table" in one.problems[1]
    page = {fact.lock_type: fact for fact in facts_of([one], LockRequests)}["Update Page"]
    assert (page.granted, page.waited, page.total, page.waited_percent) == (21553, 224, 21777, 1.0)


@pytest.mark.long
def test_only_sysmons_own_lines_start_it_and_they_start_nothing_else(real_exports: Path) -> None:
    for path in sorted(real_exports.rglob("*.*")):
        for line in path.read_text(encoding="latin-1").splitlines():
            ids = {kind.id for kind in starting(line)}
            assert ids <= {reader.ID} if "sp_sysmon" in path.name else reader.ID not in ids, (path, line)


@pytest.mark.parametrize("name", WHOLE)
def test_every_row_is_kept_with_its_line_and_headings(name: str) -> None:
    text = text_of(name)
    inputs = read(text)
    numbers = [row.line for section in facts_of(inputs, SysmonSection) for row in section.rows]
    assert len(numbers) == len(set(numbers))
    printed = [
        number
        for number, line in enumerate(text.splitlines(), 1)
        if len(line.split()) > 2 and all(word in "n/a%" or word[-1].isdigit() for word in line.split()[-3:])
    ]
    title = {number for number in printed if number < 15}
    advice = {number for number in printed if "i.e." in text.splitlines()[number - 1]}
    assert set(printed) - title - advice <= set(numbers)


def test_rows_say_what_stands_above_them() -> None:
    inputs = read(text_of(WHOLE[0]))
    caches = {row.path[1:]: row for row in rows_of(inputs, "Data Cache Management") if "default" in row.path[0]}
    joined = ("Large I/O Usage", "Large I/Os Denied due to", "Pages Requested Reside in Another Buffer Pool")
    assert caches[joined].percent != ABSENT
    assert ("Pool Turnover", "16 Kb Pool", "LRU Buffer Grab", "Grabbed Dirty") in caches
    assert ("Cache Searches", "Cache Hits", "Found in Wash") in caches
    assert ("Dirty Read Behavior", "Page Requests") in caches
    kernel = {row.path: row for row in rows_of(inputs, "Kernel Utilization")}
    engine = kernel[("Engine Utilization (Tick %)", "ThreadPool : web_pool", "Engine 3")]
    assert dict(engine.cells)["User Busy"] == 60.4
    assert engine.count is ABSENT
    assert kernel[("Average Runnable Tasks", "ThreadPool : web_pool", "Engine 2")].cells[0] == ("1 min", 1.0)
    buckets = rows_of(inputs, "Bucketpool Activity")
    assert [dict(row.cells)["BucketSize"] for row in buckets[:3]] == [32, 64, 96]
    seconds = [row for row in rows_of(inputs, "Recovery Management") if row.cells]
    assert [row.cells for row in seconds] == [(("seconds", 0.125),), (("seconds", 0.0),)]
    devices = [row.path for row in rows_of(inputs, "Disk I/O Management") if row.path[0] == "data_01"]
    assert devices == [
        ("data_01", *rest) for rest in (("Reads", "APF"), ("Reads", "Non-APF"), ("Writes",), ("Total I/Os",))
    ]


def test_a_row_without_a_label_stands_under_its_heading() -> None:
    rows = rows_of(read(text_of("157_one_engine_reset_too_short")), "Data Cache Management")
    (row,) = [row for row in rows if row.path[-1] == "Large I/O Usage"]
    assert (row.per_second, row.count, row.percent) == (0, 0, ABSENT)


def test_rows_are_made_when_somebody_asks() -> None:
    section = facts_of(read(text_of(WHOLE[0])), SysmonSection)[0]
    assert callable(vars(section)["rows"])
    assert section.rows is section.rows
    assert isinstance(vars(section)["rows"], tuple)


@pytest.mark.parametrize("name", WHOLE)
def test_facts_are_what_their_constructors_would_make(name: str) -> None:
    for one in read(text_of(name)):
        for fact in one.facts:
            if not isinstance(fact, SysmonSection):
                assert type(fact)(**vars(fact)) == fact
                assert all(
                    isinstance(value, float | int | str | tuple | Missing | None) or name in TIMES
                    for name, value in vars(fact).items()
                )


TIMES = ("source", "start", "end", "counters_cleared")


@pytest.mark.parametrize("many", [1, 2, 7, 500])
def test_it_does_not_matter_how_lines_come(many: int) -> None:
    text = text_of("160_two_reports_isql_crlf").replace("\r\n", "\n")
    whole = [fact for one in read(text) for fact in one.facts if not isinstance(fact, SysmonSection)]
    pieces: list[Fact] = []
    fed, number, waiting = None, 1, text.split("\n")
    while waiting:
        if fed is None:
            if not starting(waiting[0]):
                number, waiting = number + 1, waiting[1:]
                continue
            fed = SpSysmon("export.txt", [])
        taken = fed.feed(number, waiting[:many])
        ended, number, waiting = taken < len(waiting[:many]), number + taken, waiting[taken:]
        if ended or not waiting:
            pieces += fed.close().facts
            fed = None
    assert [fact for fact in pieces if not isinstance(fact, SysmonSection)] == whole


def test_another_export_after_a_cut_report_is_handed_back(monkeypatch: pytest.MonkeyPatch) -> None:
    class Other:
        id = "ase/other"

    monkeypatch.setattr(reader, "starting", lambda line: [Other()] if line.startswith("Some other export") else [])
    reader._asked.cache_clear()
    block = (HEADER + "Lock Management\n---------------\n" + ROW + "Some other export\nwith more\n").split("\n")
    fed = SpSysmon("export.txt", [])
    assert fed.feed(1, block) == 4
    assert isinstance(fed.close().facts[0], SysmonSample)
    reader._asked.cache_clear()


def without(name: str, *gone: str) -> list[Input]:
    """Read a fixture without the last lines that say just this."""
    kept = text_of(name).split("\n")
    for line in gone:
        del kept[max(at for at, text in enumerate(kept) if text.strip() == line)]
    return read("\n".join(kept))


def test_rows_whose_heading_is_lost_are_nobody_elses() -> None:
    inputs = without(WHOLE[0], "Shared Page")
    locks = {fact.lock_type: fact for fact in facts_of(inputs, LockRequests)}
    assert "Shared Page" not in locks
    assert (locks["Update Page"].granted, locks["Update Page"].waited, locks["Update Page"].total) == (0, 0, 0)
    assert [problem.split(":")[0] for problem in inputs[0].problems] == ["Lock Detail", "Lock Detail"]


def test_dirty_grabs_are_unknown_where_a_pool_is_lost() -> None:
    inputs = without(WHOLE[0], "16 Kb Pool")
    cache = {fact.name: fact for fact in facts_of(inputs, CacheActivity)}["log_cache"]
    assert (cache.grabbed_dirty, cache.grabbed == 0) == (ABSENT, False)
    assert "log_cache: the grabs of its pools" in inputs[0].problems[0]


def test_caches_that_do_not_add_up_to_their_summary_are_told_with_both_figures() -> None:
    whole = text_of(WHOLE[0])
    assert not read(whole)[0].problems
    assert whole.index("2057029") == whole.rindex("2057029"), "the summary's searches"
    (told,) = read(whole.replace("2057029", "2057036"))[0].problems
    assert told.startswith("Data caches: searches add up to 2057029, not to 2057036 as the summary says")


def test_lock_types_below_the_deadlocks_are_no_requests() -> None:
    below = "  Deadlocks by Lock Type          per sec      per xact       count  % of total\n  Exclusive Page\n" + ROW
    assert facts_of(read(HEADER + "Lock Management\n---------------\n" + below), LockRequests) == []


def test_names_that_differ_in_a_digit_are_told_apart() -> None:
    for digit in "23":
        inputs = read(text_of(WHOLE[0]).replace("tempdb cache 2", f"tempdb cache {digit}"))
        assert f"tempdb cache {digit}" in {fact.name for fact in facts_of(inputs, CacheActivity)}
    engines = [
        facts_of(read(text_of(WHOLE[0]).replace("Engine 3", f"Engine {n}")), EngineBusy)[-1].engine for n in (3, 7)
    ]
    assert engines == [3, 7]


def test_prose_with_a_title_in_it_is_no_report() -> None:
    inputs = read("Dear all,\nLock Management\nis what we looked at\nyesterday.\n")
    assert [fact for one in inputs for fact in one.facts] == []
    left = {line for one in inputs for run in one.leftovers for line in range(run.first, run.last + 1)}
    assert left >= {2, 3}


def test_figures_far_below_a_title_in_prose_are_not_of_its_section() -> None:
    inputs = read("Lock Management\n" + "is what we looked at for a while.\n" * 9 + ROW)
    assert not [fact for one in inputs for fact in one.facts]


def test_a_report_without_end_is_read_in_bounded_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "MOST_LINES", 1000)
    one = read(HEADER + "Lock Management\n---------------\n" + ROW * 3000)[0]
    assert "longer than any report" in one.problems[0]
    assert len(one.facts) == 2  # the sample and the section


def test_shapes_are_remembered_in_bounded_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "MOST_SHAPES", 50)
    monkeypatch.setattr(lines, "_known", {})
    names = "".join(f"  {'x' * n}{'y' * (n % 7)} z\n" for n in range(300))
    read(HEADER + "Lock Management\n---------------\n" + names)
    assert len(lines._known) <= 50
    assert all(len(shape) <= lines.LONGEST_SHAPE for shape in lines._known)


def known_by(fact: Fact) -> tuple[object, ...]:
    names = ("engine", "thread", "io_size_kb")
    return type(fact), *(v for field, v in vars(fact).items() if isinstance(v, str) or field in names)


@pytest.mark.parametrize("name", WHOLE)
def test_a_cut_report_never_says_what_the_whole_one_does_not(name: str) -> None:
    """Cut anywhere, in the middle of lines too: every figure is the printed one, or absent. Nothing becomes zero."""
    text = text_of(name)
    whole = {known_by(fact): vars(fact) for one in read(text) for fact in one.facts}
    for cut in range(3000, len(text), 1009):
        for fact in (fact for one in read(text[:cut]) for fact in one.facts):
            if isinstance(fact, Server | SysmonSample | SysmonSection | SysmonAdvice):
                continue
            for field, value in vars(fact).items():
                if field not in ("source", "advice"):
                    assert value is ABSENT or value == whole[known_by(fact)][field], (cut, fact, field)


def test_damage_makes_no_exception_and_no_line_outside_the_file() -> None:
    rnd = random.Random(20210302)
    texts = [path.read_text(encoding="utf-8") for path in sorted(CASES.glob("*.txt"))]
    signs = "0123456789.%*-= \t/n\u0663\u00a0"
    for _ in range(120):
        export = rnd.choice(texts).split("\n")
        for _ in range(rnd.randint(1, 40)):
            at = rnd.randrange(len(export))
            line = export[at]
            place = rnd.randrange(len(line) + 1)
            export[at : at + 1] = rnd.choice(
                [
                    [],
                    [line, line],
                    [line[:place]],
                    [line[:place] + rnd.choice(signs) * rnd.choice([1, 1, 60]) + line[place + 1 :]],
                    [line[:place] + rnd.choice(export)[place:]],
                    rnd.choice(texts).split("\n")[rnd.randrange(40) :][:25],
                    [" ".join(line.split())],
                ]
            ) or [""]
        for one in read("\n".join(export)):
            for fact in one.facts:
                assert 1 <= fact.source.first <= fact.source.last <= len(export)
                if isinstance(fact, SysmonSection):
                    assert all(row.path and fact.source.first <= row.line <= fact.source.last for row in fact.rows)
            assert all(1 <= run.first <= run.last <= len(export) for run in one.leftovers)
