"""A file that no reader takes is told which report it is nearest to by its words: never a wrong one, none for prose."""

import io
import zipfile
from collections import Counter
from pathlib import Path

import pytest

from collectors.intake import open_all
from collectors.read import read_all, read_stream
from collectors.registry import starting_on
from collectors.vocabulary import nearest

ROOT = Path(__file__).resolve().parents[2]
EXPORTS = sorted(
    one for one in (ROOT / "advisor" / "examples" / "audits").glob("*/*") if one.suffix in (".txt", ".csv", ".sum")
)


def problem_of(data: bytes) -> str:
    (found,) = read_stream("x", io.BytesIO(data))
    assert not found.facts
    (problem,) = found.problems
    return problem


def without_its_heading(path: Path) -> tuple[list[str], set[str]]:
    """The lines of an export on which no report begins, and the reports that begin on the others."""
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()[:400]
    begun = starting_on(lines)
    return [line for at, line in enumerate(lines) if at not in begun], {one.id for of in begun.values() for one in of}


def test_no_example_without_its_heading_is_taken_for_another_report() -> None:
    told: Counter[bool] = Counter()
    for path in EXPORTS:
        lines, reports = without_its_heading(path)
        said = nearest(lines)
        told[bool(said)] += 1
        if said:
            assert said.split("nearest to ")[1].split(" ")[0] in reports, (path, said)
    assert told[True] > 40, "many are known by their words"


def test_a_sysmon_report_without_its_header_says_what_it_looks_like_and_the_command() -> None:
    text = (ROOT / "advisor/examples/audits/address_lock_storm/sysmon.txt").read_text()
    headless = [line for at, line in enumerate(text.splitlines()) if at not in starting_on(text.splitlines())]
    problem = problem_of("\n".join(headless).encode())
    assert problem.startswith("no export that Lockwright knows")
    assert "it is nearest to ase/sp_sysmon (sp_sysmon: the server's own performance report)" in problem
    assert 'collect it whole, with sp_sysmon "00:10:00"' in problem


@pytest.mark.parametrize(
    "path", ["README.md", "docs/dba/collecting.md", "docs/dba/pages.md", "Makefile", "advisor/core/views.py", "LICENSE"]
)
def test_prose_and_programs_look_like_no_report(path: str) -> None:
    file = ROOT / path
    if file.is_file():
        assert nearest(file.read_text(encoding="utf-8").splitlines()[:400]) == ""


def test_nothing_is_nearest_to_nothing() -> None:
    assert nearest([]) == nearest(["1 2 3", ""]) == nearest(["spinlock"]) == ""


def test_what_begins_like_a_report_is_told_how_that_one_is_made() -> None:
    problem = problem_of((ROOT / "tests/exports/rdb/wait_logs/about_the_log.txt").read_bytes())
    assert problem.startswith("begins like rdb/wait_logs, but is not laid out so")
    assert "RMU/SHOW STATISTICS" in problem


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n", "a PDF; upload the listing itself as plain text"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(500), "a document of Office"),
        (b"\x89PNG\r\n\x1a\n" + bytes(100), "a picture (PNG)"),
        (b"Rar!\x1a\x07\x01\x00" + bytes(100), "a RAR archive; unpack it"),
        (b"\x7fELF\x02\x01\x01" + bytes(100), "a program; upload the text export"),
        (b"7z\xbc\xaf\x27\x1c" + bytes(100), "an archive"),
        (b" \n\t\n", "empty: nothing but blanks"),
        (b"", "empty"),
        (b"\0" * 600, "nothing but NUL bytes"),
    ],
)
def test_what_is_no_text_says_what_it_is_and_what_to_bring(data: bytes, said: str) -> None:
    assert said in problem_of(data)


def test_a_workbook_is_told_as_one_and_not_by_its_parts(tmp_path: Path) -> None:
    path = tmp_path / "caches.xlsx"
    with zipfile.ZipFile(path, "w") as book:
        book.writestr("[Content_Types].xml", "<Types/>")
        book.writestr("xl/workbook.xml", "<workbook/>")
    (found,) = read_all(open_all([str(path)], io.BytesIO()))
    assert found.report is None
    assert found.problems == [
        "a document of Office (.xlsx, .docx): save the sheet as CSV, or a text as plain text, and upload that"
    ]
