"""The table of runs: Table 1 of the source document to the last ratio, and every swap that an identity can show."""

import io
from itertools import combinations
from pathlib import Path

import pytest

from collectors.facts.zvm import PerformanceRun
from collectors.read import read_stream
from collectors.registry import starting
from collectors.reports.zvm.performance_runs.table import MOST_RUNS
from tests.rules.zvm_published import FIELDS, PUBLISHED

FIXTURES = Path(__file__).parent.parent / "exports" / "zvm" / "performance_runs"
ROWS = [line.split(",") for line in (FIXTURES / "table_with_commas.csv").read_text().strip().split("\n")]
RATIOS = next(at for at, row in enumerate(ROWS) if row == ["Ratios"])
TABLE_1 = {run: figures for run, (_, _, figures) in PUBLISHED.items()}


def runs_of(text: str) -> list[PerformanceRun]:
    found = read_stream("runs.txt", io.BytesIO(text.encode()))
    return [fact for one in found for fact in one.facts if isinstance(fact, PerformanceRun)]


def wrong_in(rows: list[list[str]]) -> list[bool]:
    return [bool(run.wrong) for run in runs_of("\n".join(map(",".join, rows)))]


def test_table_1_of_the_source_document_is_read_to_its_last_ratio(real_exports: Path) -> None:
    (path,) = (real_exports.parent / "seeds").glob("004_*.txt")
    with path.open("rb") as stream:
        (found,) = read_stream(str(path), stream)
    assert (found.report, found.problems) == ("zvm/performance_runs", [])
    runs = [fact for fact in found.facts if isinstance(fact, PerformanceRun)]
    assert {run.run: tuple(getattr(run, name) for name in FIELDS) for run in runs} == TABLE_1
    assert [(run.release, run.processors) for run in runs] == [(r, n) for n in (3, 9, 16) for r in ("4.3.0", "4.4.0")]
    assert [run.base for run in runs] == [name for name in list(TABLE_1)[::2] for _ in range(2)]
    assert {run.title for run in runs} == {"Table 1. Reduced Scheduler Lock Contention: 3-Way, 9-Way, 16-Way LPAR"}
    assert not any(run.wrong for run in runs)
    for run in runs:
        base = TABLE_1[run.base or ""]
        exact = {name: getattr(run, name) / value for name, value in zip(FIELDS, base, strict=True)}
        assert dict(run.ratios) == pytest.approx(exact, abs=0.00151)  # within the digits of both
    spun = {run.run: round(run.spin_msec_per_tx or 0, 2) for run in runs}
    assert (spun["43UPP9"], spun["44UPP9"], spun["43S1UP16"], spun["44S1UP16"]) == (8.30, 0.18, 27.73, 15.26)
    assert not any(359 > left.last > 51 for left in found.leftovers)


def test_the_table_as_it_stands_is_right() -> None:
    assert wrong_in(ROWS) == [False] * 4


@pytest.mark.parametrize("at", range(3, RATIOS), ids=[row[0] for row in ROWS[3:RATIOS]])
def test_values_of_two_runs_that_changed_places_are_found(at: int) -> None:
    for one, other in combinations(range(1, 5), 2):
        rows = [list(row) for row in ROWS]
        rows[at][one], rows[at][other] = rows[at][other], rows[at][one]
        wrong = wrong_in(rows)
        assert wrong[one - 1], (one, other)
        assert wrong[other - 1], (one, other)


@pytest.mark.parametrize(
    ("one", "other"), [(8, 9), (8, 10), (9, 10), (5, 6), (5, 7), (3, 4), (11, 12)], ids=lambda at: ROWS[at][0]
)
def test_rows_that_changed_places_are_found(one: int, other: int) -> None:
    rows = [list(row) for row in ROWS]
    rows[one][1:], rows[other][1:] = rows[other][1:], rows[one][1:]
    assert all(wrong_in(rows))


@pytest.mark.parametrize("at", range(RATIOS + 1, len(ROWS)), ids=[row[0] for row in ROWS[RATIOS + 1 :]])
def test_a_ratio_with_another_digit_is_found(at: int) -> None:
    for column in (2, 4):
        rows = [list(row) for row in ROWS]
        rows[at][column] = f"{float(rows[at][column]) + 0.02:.3f}"
        assert wrong_in(rows)[column - 1]


def test_prose_that_names_the_terms_begins_no_table() -> None:
    for line in (
        "z/VM Version 6 Release 4.0, service level 1801 (64-bit)",
        "Tx/sec rose by a third, and Pct Spin Time fell.",
        "CP msec/Tx (h) is reduced by 87%.",
        "the Avg Spin Lock Rate (v)",
        "Run ID of the base: 64STK8",
        "Processors",
    ):
        assert not [kind.id for kind in starting(line) if kind.id == "zvm/performance_runs"], line


def test_a_run_without_an_id_is_called_by_its_column() -> None:
    text = "Tx/sec (n)  100.0  200.0\n# of CPUs   4   4\nPct Spin Time (v)  1.5  0.5\n"
    assert [(run.run, run.release, run.processors) for run in runs_of(text)] == [("1", None, 4), ("2", None, 4)]


def test_a_base_is_its_own_even_beside_a_run_like_it() -> None:
    rows = [[row[0], *row[1:3], row[1], *row[4:]] for row in ROWS[:RATIOS]]
    rows += [["Ratios"], ["Tx/sec (n)", "1.000", "1.193", "1.000", "2.304"]]
    rows[2][3] = "64STK8B"
    assert [run.base for run in runs_of("\n".join(map(",".join, rows)))] == ["64STK8", "64STK8", "64STK8B", "64STK8B"]


def test_runs_beyond_those_of_one_table_are_named() -> None:
    ids = [f"64RUN{number}" for number in range(MOST_RUNS + 3)]
    heads = "z/VM Version\n# of CPUs\nRun ID\n\n" + "\n\n".join(f"6.4.0\n8\n{one}" for one in ids)
    figures = "Tx/sec (n)\nITR (H)\n\n" + "\n\n".join("51.2\n60.1" for _ in ids)
    (found,) = read_stream("runs.txt", io.BytesIO(f"{heads}\n\n{figures}\n".encode()))
    assert any(f"{MOST_RUNS + 3} runs in one table" in problem for problem in found.problems)
