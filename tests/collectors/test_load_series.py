"""Load series: the real tables, what must be refused, and whatever damage a file may have."""

import io
import math
import random
import textwrap
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collectors.facts.scaling import LoadSeries
from collectors.read import Input, read_stream
from collectors.registry import starting
from collectors.reports.scaling import load_series
from collectors.reports.scaling.load_series.titles import title_of
from tests.collectors.test_openvms_dcl import mutated

FIXTURES = Path(__file__).parent.parent / "exports" / "scaling" / "load_series"
CASES = sorted(path for path in FIXTURES.iterdir() if path.suffix != ".yml")


def read_text(text: str, name: str = "export.csv") -> list[Input]:
    return read_stream(name, io.BytesIO(text.encode()))


def series_of(path: Path) -> LoadSeries:
    with path.open("rb") as stream:
        (found,) = read_stream(str(path), stream)
    assert (found.report, found.problems, found.leftovers) == ("scaling/load_series", [], [])
    (series,) = found.facts
    assert isinstance(series, LoadSeries)
    return series


def test_real_lock_rates_by_processes(real_exports: Path) -> None:
    series = series_of(real_exports / "scaling" / "jcc_bl870c_lock_rate.txt")
    assert (series.title, series.cores, series.product) == ("HP BL870c (1.59GHz/9.0MB) - 4 cores", 4, "openvms")
    assert len(series.points) == 6
    assert (series.peak.load, series.peak.rate, series.peak.line) == (2, 490199, 7)
    assert series.peak.other("mp_synch_percent") == 40
    assert series.last.other("deq_per_second") == 85113
    assert series.source_of(series.peak).first == 7


def test_real_throughput_by_processors(real_exports: Path) -> None:
    series = series_of(real_exports / "scaling" / "usl_raytracer.csv")
    assert (series.title, series.load_name, series.rate_name) == ("usl_raytracer", "processors", "throughput")
    assert len(series.points) == 11
    assert (series.first.rate, series.last.load, series.last.rate, series.product) == (20, 64, 310, None)


@pytest.mark.long
def test_no_other_real_export_begins_a_load_series(real_exports: Path) -> None:
    own = {"jcc_bl870c_lock_rate.txt", "usl_raytracer.csv"}
    for path in sorted(real_exports.rglob("*.*")):
        if path.name in own or path.suffix == ".md":
            continue
        for line in path.read_text("latin-1").split("\n"):
            assert "scaling/load_series" not in {kind.id for kind in starting(line)}, (path, line[:99])


def test_table_with_split_digits_is_refused(real_exports: Path) -> None:
    path = real_exports / "unix" / "unix_apue3_fig20_8_ocr.txt"
    with path.open("rb") as stream:
        (found,) = read_stream(str(path), stream)
    assert found.report != "scaling/load_series"
    assert not found.facts


@pytest.mark.parametrize(
    "line",
    [
        "NODE_1,  T4EXTR Version: , File Format Type: 1, Analyzer node: NODE_1, Monitor Comment: HP ",
        "[MON]Sample Time,[MON.SYST]Process Count,[MON.LOCK]New ENQ rate,[MON.SCS]Msg sent to NODE_2",
        "User Sys Clock User Sys Clock Percent",
        "Engine Utilization (Tick %)   User Busy   System Busy    I/O Busy        Idle",
        "                                  per sec      per xact       count  % of total",
        "  Users see the throughput fall.",
        "Only 7 cores remain for application",
        "with the load, the rate, and the threads",
        "number of user connections",
    ],
)
def test_these_lines_begin_no_load_series(line: str) -> None:
    assert "scaling/load_series" not in {kind.id for kind in starting(line)}


@pytest.mark.parametrize(
    ("heading", "load", "rate"),
    [
        ("# users\tTransactions/s", "users", "transactions_per_second"),
        ("Active users    Transactions per second   CPU %", "active_users", "transactions_per_second"),
        ("engines xacts/sec", "engines", "xacts_per_second"),
        ('"Concurrent users","Throughput"', "concurrent_users", "throughput"),
        ("throughput,threads", "threads", "throughput"),
        ("time,CPUs,TPS,response", "cpus", "tps"),
        ("N,Throughput", "n", "throughput"),
        ("concurrency;operations_per_second", "concurrency", "operations_per_second"),
        ("load,deq rate,lock operations per second", "load", "lock_operations_per_second"),
        ("user,tps", "user", "tps"),
        ("processes,errors/s,throughput", "processes", "throughput"),
    ],
)
def test_headings_are_known_in_many_spellings(heading: str, load: str, rate: str) -> None:
    delimiter = next((sign for sign in "\t,;" if sign in heading), " ")
    width = 3 if "CPU %" in heading else len(heading.split(delimiter))
    rows = [delimiter.join([str(at)] * width) for at in (1, 2)]
    (found,) = read_text("\n".join([heading, *rows]))
    (series,) = found.facts
    assert isinstance(series, LoadSeries)
    assert (series.load_name, series.rate_name, len(series.points)) == (load, rate, 2)


@pytest.mark.parametrize(
    ("file", "title"),
    [
        ("/a/b/night run.csv", "night run"),
        ("up.zip/x/day1.csv.gz", "day1"),
        (r"C:\x\y.tsv", "y"),
        ("-", "standard input"),
        ("rate", "rate"),
    ],
)
def test_title_is_the_file_name(file: str, title: str) -> None:
    (found,) = read_text("users,tps\n1,2\n2,3\n", file)
    (series,) = found.facts
    assert isinstance(series, LoadSeries)
    assert series.title == title


def test_sample_of_the_docstring_is_read_without_leftovers() -> None:
    assert load_series.__doc__
    (found,) = read_text(textwrap.dedent(load_series.__doc__.split("Sample::\n")[1].split("\n\nThe second")[0]))
    (series,) = found.facts
    assert isinstance(series, LoadSeries)
    assert (series.cores, len(series.points), found.problems, found.leftovers) == (2, 2, [], [])
    second = load_series.__doc__.split("or blanks::\n")[1].split("\n\nThe modes")[0]
    (found,) = read_text(textwrap.dedent(second).strip())
    (series,) = found.facts
    assert isinstance(series, LoadSeries)
    assert [point.rate for point in series.points] == [118.5, 702.25]


def test_digits_of_other_scripts_and_endless_ones_are_no_figures() -> None:
    (found,) = read_text(f"users,tps\n1,٣\n2,{'9' * 5000}\n3,1e999\n4,10\n5,nan\n6,inf\n7,12\n")
    (series,) = found.facts
    assert isinstance(series, LoadSeries)
    assert [point.load for point in series.points] == [4, 7]
    assert len(found.problems) == 5


@settings(deadline=None, max_examples=300)
@given(path=st.sampled_from(CASES), seed=st.integers(0, 2**32))
def test_damage_gives_facts_problems_or_leftovers_and_never_an_error(path: Path, seed: int) -> None:
    for found in read_text(mutated(path.read_text(), random.Random(seed))):
        for series in found.facts:
            if isinstance(series, LoadSeries):
                assert len(series.points) > 1
                assert all(math.isfinite(point.rate) and point.load > 0 for point in series.points)
                assert list(series.points) == sorted(series.points, key=lambda point: point.load)


@pytest.mark.long
def test_a_line_of_a_million_cells_heads_no_load_series() -> None:
    """It took minutes, once: each cell was looked for among all before it."""
    line = "users,throughput," + ",".join(["a"] * 200_000)
    found = read_stream("x.csv", io.BytesIO(f"{line}\n1,2\n".encode()))
    assert not any(one.facts for one in found)


def test_a_cell_that_names_a_clock_many_times_over_heads_no_load_series() -> None:
    """Each clock of each cell could be the one that counts: tried one by one, they took for ever."""
    line = "processes" + ("," + "5 MHz" * 15) * 19 + ",end"
    assert not any(one.facts for one in read_text(f"{line}\n1,2\n"))


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ("AlphaServer ES40, 666 MHz, 4 CPUs", ("AlphaServer ES40, 666 MHz, 4 CPUs", 4, 666)),
        ("# HP BL870c (1.59GHz/9.0MB)", ("HP BL870c (1.59GHz/9.0MB)", None, 1590)),
        ("rx4640 - 8 cores", ("rx4640 - 8 cores", 8, None)),
        ("rx4640 - 8 processors", ("rx4640 - 8 processors", 8, None)),
        ("4-CPU ES40 at 500MHz", ("4-CPU ES40 at 500MHz", 4, 500)),
        ("500 MHz × 666 MHz", ("500 MHz × 666 MHz", None, None)),
        ("0 MHz", None),
        ("99999 GHz", None),
        ("Only 7 cores remain for application", None),
        ("the processors of this system", None),
        ("x" * 150 + " 500 MHz", None),
    ],
)
def test_a_title_gives_processors_or_their_clock(line: str, title: tuple[str, int | None, float | None] | None) -> None:
    found = title_of(line)
    assert (found and (found.text, found.cores, found.clock_mhz)) == title
