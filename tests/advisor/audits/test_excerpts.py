"""What is quoted of an export is where the figure was read; rather nothing than another line with the same digits."""

import io
from pathlib import Path
from typing import Any

import pytest

from advisor.audits.report.data import audit_data
from advisor.audits.services.auditing import run_audit
from advisor.audits.services.excerpts import add_excerpts
from advisor.uploads.services.reading import read_exports
from tests.conftest import REAL
from tests.stories import HERE as STORIES


def quoted(file: Path, metric: str, value: Any, first: int, last: int) -> list[str]:
    """Quote one piece of evidence of this file."""
    item = {"metric": metric, "value": value, "unit": "", "limit": None, "file": str(file), "lines": [first, last]}
    add_excerpts({"captures": [{"findings": [{"evidence": [item]}]}]})
    found: list[str] = item["excerpt"]
    return [line.strip() for line in found]


def of_story(*files: Path) -> dict[str, tuple[Any, list[str]]]:
    """Audit these files; every metric with its value and what is quoted for it."""
    inputs = read_exports([str(file) for file in files], io.BytesIO())
    data = audit_data(inputs, run_audit(inputs, {}))
    add_excerpts(data)
    evidence = [e for one in data["captures"] for finding in one["findings"] for e in finding["evidence"]]
    return {e["metric"]: (e["value"], e["excerpt"]) for e in reversed(evidence)}


def shared(name: str) -> Path:
    """Find an export of the shared collection, which is not part of the repository."""
    if not (REAL / name).is_file():
        pytest.skip("no ../shared/exports here")
    return REAL / name


CPU6 = """\
CPU 6    State: RUN                CPUDB: 891CEB00     Handle: 000063D0
         Owner: 000004C8         Current: 000004C8     Partition 0
        ChgCnt:         2          State: Present, Reassignable
         Cothd:         {}
"""


def written(folder: Path, text: str) -> Path:
    (folder / "export.txt").write_text(text)
    return folder / "export.txt"


def test_a_count_of_changes_is_not_quoted_for_a_co_thread(tmp_path: Path) -> None:
    file = shared("openvms/show_cpu_6_full.txt")
    lines = file.read_text().splitlines()
    assert any("ChgCnt:         2" in line for line in lines)
    assert quoted(file, "co-thread of CPU 6", 2.0, 1, len(lines)) == []
    assert quoted(written(tmp_path, CPU6.format(7)), "co-thread of CPU 6", 2.0, 1, 4) == []
    assert quoted(written(tmp_path, CPU6.format(2)), "co-thread of CPU 6 (Cothd)", 2.0, 1, 4) == []
    assert quoted(written(tmp_path, CPU6.format(7)), "co-thread of CPU 6 (Cothd)", 7.0, 1, 4) == ["Cothd:         7"]


def test_a_row_of_t4_is_never_quoted() -> None:
    story = STORIES / "lock_bound_node"
    found = of_story(*sorted(file for file in story.iterdir() if file.suffix != ".yml"))
    assert not any(",10:" in line for line in found["CPUs"][1])
    assert found["lock operations (at mp synch peak)"] == (371734.16, [])
    assert found["RESHASHTBL"][1]
    (t4,) = story.glob("*.csv")
    assert quoted(t4, "CPUs", 12.0, 8, 67) == []
    assert quoted(t4, "Mp Synch", 425.72, 9, 9) == []


def test_the_most_that_were_ever_used_is_not_quoted_for_how_many_there_are() -> None:
    found = of_story(shared("ase/sp_sysmon_16.0_sp02_idle.txt"))
    assert found["open objects there are"] == (500.0, [])
    (most,) = found["open objects in use at most since the start"][1]
    assert "Max Ever Used" in most


def test_of_a_longer_place_the_line_with_the_figure_and_a_word_of_its_name_is_quoted() -> None:
    story = STORIES / "address_lock_storm"
    found = of_story(*sorted(file for file in story.iterdir() if file.suffix != ".yml"))
    value, (line,) = found["address lock hash table spinlock contention"]
    assert value == 52.3
    assert line.split() == ["Spinlock", "Contention", "n/a", "n/a", "n/a", "52.3", "%"]
    assert found["changed rows in allpages tables"] == (88.8, [])
    assert found["mean engine busy"] == (92.9, [])  # engine 0 alone stands in its place


@pytest.mark.parametrize(
    "line",
    [
        "Grabs at 12:00:12.12",
        "Grabs since Feb 12, 2026",
        "Grabs since 12 Feb 2026",
        "Grabs on 12-FEB-2026 or 2026-02-12 or 12/02/2026",
        "Grabs of release 12",
        "Grabs of version 12 and ESD#12 or EBF 12",
        "Grabs of 12.5.4/EBF and V12",
        "Grabs 112 121 12.1 1,212 12,000 0x12 12KB 12-34",
        "Grabs 0012",
    ],
)
def test_digits_inside_something_else_are_not_the_figure(tmp_path: Path, line: str) -> None:
    file = written(tmp_path, f"heading\n{line}\nmore\nand more\n")
    assert quoted(file, "grabs", 12.0, 1, 4) == []


@pytest.mark.parametrize("line", ["Grabs 12", "a grab: (12)", "grabs 12.0 %", "GRABS  12%", "Grabs\t12;"])
def test_the_figure_as_a_word_of_its_own_is_found_whatever_stands_around_it(tmp_path: Path, line: str) -> None:
    file = written(tmp_path, f"heading\n{line}\nmore\nand more\n")
    assert quoted(file, "grabs", 12.0, 1, 4) == [line.expandtabs()]
    assert quoted(file, "grabs, mean", 12.0, 1, 4) == []
    assert quoted(file, "grabs (p95)", 12.0, 1, 4) == []
    assert quoted(file, "entries", 12.0, 1, 4) == []
    assert quoted(file, "grabs", "12", 1, 4) == []
    again = written(tmp_path, f"heading\n{line}\nmore\nother 12\n")
    assert quoted(again, "grabs", 12.0, 1, 4) == []


def test_a_short_place_is_quoted_whole_and_plurals_are_one_word_with_their_singular(tmp_path: Path) -> None:
    file = written(tmp_path, "one\ntwo\nEntry 1,234.5\nfour\n")
    assert quoted(file, "anything", 7.0, 1, 3) == ["one", "two", "Entry 1,234.5"]
    assert quoted(file, "entries", 1234.5, 1, 4) == ["Entry 1,234.5"]
