"""SHOW SYSTEM, SHOW MEMORY, SHOW CLUSTER, AUTOGEN, LOCKTIME, the cluster's lock table: real ones and damaged ones."""

import importlib
import io
import random
import textwrap
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collectors.capture import captures
from collectors.facts.base import Fact, known
from collectors.facts.openvms import AutogenFeedback, LockDatabase, LockLatency, MemoryUse, Node, Process
from collectors.read import Input, read_stream
from collectors.registry import Report, kinds, starting
from tests.yardstick import no_longer_than

EXPORTS = Path(__file__).parent.parent / "exports"
REPORTS = ("show_system", "show_memory", "show_cluster", "autogen", "locktime", "cluster_locks")
IDS = {f"openvms/{name}" for name in REPORTS}
CASES = [path for name in REPORTS for path in sorted((EXPORTS / "openvms" / name).glob("*.*")) if path.suffix != ".yml"]
STARTS = {
    "show_system": "OpenVMS V8.4  on node ORKNEY    3-FEB-2021 09:14:22.07   Uptime  12 03:04:05\n"
    "20200401 SWAPPER         HIB     16        0   0 00:00:09.24         0      0",
    "show_memory": "Physical Memory Usage (pages):     Total        Free      In Use    Modified\n"
    "  Main Memory (64.00MB)             8192        4096        4000          96",
    "show_cluster": "View of Cluster from system ID 1 node: ORKNEY\n|  NODE  |  STATUS |",
    "autogen": " AUTOGEN Parameter Calculation Report on node: ORKNEY\nLOCKIDTBL parameter information:",
    "locktime": "LOCKTIME,ORKNEY,SKYE\nORKNEY,1,2\nSKYE,2,1",
    "cluster_locks": "Node,Local ENQ/CVT/DEQ,Incoming,Outgoing,LOCKDIRWT\nORKNEY,1/1/1,2/2/2,2/2/2,0",
}


def read_text(text: str, file: str = "export.txt") -> list[Input]:
    return read_stream(file, io.BytesIO(text.encode()))


def kind_of(name: str) -> Callable[[Report], Iterable[Fact]]:
    (kind,) = [kind for kind in kinds() if kind.id == f"openvms/{name}"]
    assert kind.read
    return kind.read


def facts_of(path: Path) -> list[Fact]:
    with path.open("rb") as stream:
        (found,) = read_stream(str(path), stream)
    assert (found.problems, found.leftovers) == ([], [])
    return found.facts


def test_real_process_listing(real_exports: Path) -> None:
    node, *processes = facts_of(real_exports / "openvms" / "show_system_vax73.txt")
    assert isinstance(node, Node)
    assert (node.name, node.version, node.uptime_seconds) == ("VAX1", "V7.3", 7379)
    assert len(processes) == 20
    last = processes[-1]
    assert isinstance(last, Process)
    assert (last.name, last.state, last.cpu, last.priority, last.io) == ("SYSTEM", "CUR", None, 7, 238)
    assert (last.cpu_seconds, last.page_faults, last.pages) == (0.29, 5843, 393)
    assert sum(one.kind == "N" for one in processes if isinstance(one, Process)) == 2


def test_real_memory_display(real_exports: Path) -> None:
    uses = [
        fact for fact in facts_of(real_exports / "openvms" / "show_memory_vax73.txt") if isinstance(fact, MemoryUse)
    ]
    assert len(uses) == 8
    assert (uses[0].name, uses[0].size_mb, uses[0].figure("in use")) == ("Main Memory", 128, 42527)
    assert {one.unit for one in uses} == {"pages", "slots", "bytes"}
    for one in uses:
        total, free, used = (one.figure(heading) for heading in ("Total", "Free", "In Use"))
        if known(total) and known(free) and known(used):
            rest = one.figure("Modified")
            assert free + used + (rest if known(rest) else 0) == total


@pytest.mark.long
def test_no_other_export_begins_one_of_these_reports(real_exports: Path) -> None:
    own = {"show_system_vax73.txt", "show_memory_vax73.txt"}
    others = [path for path in real_exports.rglob("*.*") if path.name not in own and path.suffix != ".md"]
    others += [path for path in EXPORTS.rglob("*.*") if path.suffix in (".txt", ".csv") and path not in CASES]
    for path in others:
        for line in path.read_text("latin-1").split("\n"):
            assert not {kind.id for kind in starting(line)} & IDS, (path, line[:99])


def test_no_other_reader_takes_a_line_of_these_reports() -> None:
    for path in CASES:
        for line in path.read_text("latin-1").split("\n"):
            assert {kind.id for kind in starting(line)} <= {f"openvms/{path.parent.name}"}, (path, line[:99])


@pytest.mark.parametrize("name", REPORTS)
def test_sample_of_the_docstring_is_read_without_leftovers(name: str) -> None:
    doc = importlib.import_module(kind_of(name).__module__).__doc__
    assert doc
    after = doc.split("Sample::\n")[1].split("\n")
    end = next(at for at, line in enumerate(after) if line and not line.startswith("    "))
    (found,) = read_text(textwrap.dedent("\n".join(after[:end])))
    assert found.report == f"openvms/{name}"
    assert found.facts
    assert found.leftovers == []
    assert [
        problem for problem in found.problems if not (name == "autogen" and problem.startswith("tentative: "))
    ] == []


@pytest.mark.parametrize("turned", [False, True])
def test_a_load_series_and_a_latency_matrix_in_one_file_stay_what_they_are(turned: bool) -> None:
    parts = ["users,locks per second\n1,100\n2,180\n4,300\n", "LOCKTIME,ORKNEY,SKYE\nORKNEY,4,210\nSKYE,211,4\n"]
    found = read_text("\n".join(reversed(parts) if turned else parts))
    assert sorted(one.report or "" for one in found) == ["openvms/locktime", "scaling/load_series"]
    assert all(one.facts for one in found)


def test_a_table_of_loads_that_begins_like_a_latency_matrix_is_left_to_the_load_series() -> None:
    (found,) = read_text("latency,users,tps\n4.1,1,100\n4.3,2,190\n5.8,4,350\n")
    assert found.report == "scaling/load_series"


def test_memory_joins_the_node_of_its_file_and_names_none_itself() -> None:
    found = read_text(f"{STARTS['show_system']}\n\n{STARTS['show_memory']}\n")
    assert [one.report for one in found] == ["openvms/show_system", "openvms/show_memory"]
    (capture,) = captures(found)
    assert capture.system.name == "ORKNEY"
    assert [use.size_mb for use in capture.facts.every(MemoryUse)] == [64]
    assert not [fact for fact in found[1].facts if isinstance(fact, Node)]


def test_everything_of_autogen_is_tentative_and_no_value_passes_for_the_one_in_force() -> None:
    (found,) = read_text(
        f"{STARTS['autogen']}\n   Old value was 48000, New value is 101640\n   Peak number of locks: 84700\n"
    )
    assert all(fact.source.tentative for fact in found.facts)
    assert {type(fact).__name__ for fact in found.facts} == {"Node", "AutogenRun", "AutogenFeedback", "LockDatabase"}
    (level,) = [fact for fact in found.facts if isinstance(fact, LockDatabase)]
    assert (level.statistic, level.locks, level.node) == ("peak", 84700, "ORKNEY")


@pytest.mark.parametrize(
    ("heading", "sure"),
    [
        ("LOCKTIME from/master us", True),
        ("LOCKTIME us", False),
        ("LOCKTIME from/master", False),
    ],
)
def test_a_matrix_is_believed_only_with_unit_and_direction(heading: str, sure: bool) -> None:
    (found,) = read_text(f"{heading},ORKNEY,SKYE\nORKNEY,4,210\nSKYE,211,4\n")
    latencies = [fact for fact in found.facts if isinstance(fact, LockLatency)]
    assert {fact.source.tentative for fact in latencies} == {not sure}
    assert [fact.microseconds for fact in latencies] == [4, 210, 211, 4]


@pytest.mark.parametrize("name", REPORTS)
def test_no_line_however_odd_takes_a_reader_more_than_linear_time(name: str) -> None:
    """A hang guard, not a measurement: a quadratic pattern would need minutes for these lines."""
    odd = [
        unit * 100_000
        for unit in (" ", "1 ", "a ", "| ", "x", "-", "*", "1,", "A:", "/1", "20200401 ", "(1) ", ' "', "New value ")
    ]
    lines = [*STARTS[name].split("\n"), *odd, *(f"20200401 {line}" for line in odd), *(f"  A{line}" for line in odd)]
    with no_longer_than(30):
        assert list(kind_of(name)(Report("export.txt", 1, lines)))


def mutated(text: str, rng: random.Random) -> str:
    """Delete, double, cut and splice lines and characters."""
    lines = text.split("\n")
    for _ in range(rng.randint(1, 6)):
        at, other = rng.randrange(len(lines)), rng.randrange(len(lines))
        where = rng.randint(0, len(lines[at]))
        what = rng.randrange(6)
        if what == 0 and len(lines) > 1:
            del lines[at]
        elif what == 1:
            lines.insert(other, lines[at])
        elif what == 2:
            lines[at] = lines[at][:where]
        elif what == 3:
            lines[at] = lines[at][:where] + lines[other][rng.randint(0, len(lines[other])) :]
        elif what == 4:
            lines[at] = lines[at][:where] + rng.choice('0*"|-,:;$()/\t٣é ') + lines[at][where:]
        else:
            lines[at] = lines[at][:where] + lines[at][where + 1 :]
    return "\n".join(lines)


@settings(deadline=None, max_examples=200)
@given(path=st.sampled_from(CASES), seed=st.integers(0, 2**32))
def test_damage_gives_facts_problems_or_leftovers_and_never_an_error(path: Path, seed: int) -> None:
    for found in read_text(mutated(path.read_text(), random.Random(seed))):
        for fact in found.facts:
            assert 1 <= fact.source.first <= fact.source.last
            if isinstance(fact, LockLatency) and known(fact.microseconds):
                assert fact.microseconds >= 0
            if isinstance(fact, AutogenFeedback):
                assert len(fact.override or "") <= 200


@pytest.mark.parametrize("end", ["   \n", "\n\n"])
def test_a_row_broken_within_a_figure_is_put_together_though_a_mail_padded_or_parted_its_lines(end: str) -> None:
    text = (EXPORTS / "openvms" / "show_system" / "wrapped_within_a_figure.txt").read_text(encoding="utf-8")
    (found,) = read_text(text.replace("\n", end))
    assert [fact.pages for fact in found.facts if isinstance(fact, Process)] == [20512.0, 662.0]
