"""The list as CSV and as Excel: what the page shows, and nothing that a spreadsheet would run."""

import csv
import io
import re
import zipfile
from xml.etree import ElementTree

import pytest

from advisor.findings.models import TrackedFinding
from advisor.findings.services import export
from advisor.systems.models import System
from tests.advisor.findings.followed import followed
from tests.advisor.people import AsUser, People, text_of

pytestmark = pytest.mark.postgres
MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


@pytest.fixture
def system(people: People) -> System:
    return System.objects.create(team=people.team, product="ase", name="CLAIMS1", key="CLAIMS1", processors=8)


def rows_of_csv(as_user: AsUser, people: People, query: str = "") -> list[dict[str, str]]:
    answer = as_user(people.colleague).get(f"/findings/findings.csv?{query}")
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    assert re.search(r'attachment; filename="lockwright-findings-[\d-]+\.csv"', answer["Content-Disposition"])
    return list(csv.DictReader(io.StringIO(answer.getvalue().decode())))


def sheet_of(answer: bytes) -> list[list[str]]:
    """The cells of a workbook's only sheet as texts; empty cells are left out."""
    book = zipfile.ZipFile(io.BytesIO(answer))
    texts = ElementTree.fromstring(book.read("xl/sharedStrings.xml"))
    shared = ["".join(part.text or "" for part in one.iter(f"{MAIN}t")) for one in texts]
    sheet = ElementTree.fromstring(book.read("xl/worksheets/sheet1.xml"))
    assert not list(sheet.iter(f"{MAIN}f")), "no formula"
    assert not list(sheet.iter(f"{MAIN}hyperlink")), "no link"
    found = []
    for row in sheet.iter(f"{MAIN}row"):
        cells = [(cell.get("t"), cell.findtext(f"{MAIN}v") or "") for cell in row]
        found.append([shared[int(value)] if kind == "s" else value for kind, value in cells])
    return found


def test_csv_holds_what_the_filter_shows_in_its_order(people: People, system: System, as_user: AsUser) -> None:
    followed(system, "lesser", severity=2)
    followed(system, "worst", severity=4, processors=2.5, metric="contention", value=52.3, unit="%", limit=10.0)
    followed(system, "gone", presence=TrackedFinding.Presence.GONE)
    theirs = System.objects.create(team=people.other_team, product="ase", name="PAY", key="PAY")
    followed(theirs, "theirs")
    rows = rows_of_csv(as_user, people)
    assert [one["finding"] for one in rows] == ["worst", "lesser"]
    worst, lesser = rows
    assert (worst["severity"], worst["system"], worst["team"], worst["CPUs lost"]) == (
        "critical",
        "CLAIMS1",
        "Claims",
        "2.5",
    )
    assert (worst["value"], worst["unit"], worst["limit"]) == ("52.3", "%", "10.0")
    assert lesser["CPUs lost"] == "", "not measured is no zero"
    assert [one["finding"] for one in rows_of_csv(as_user, people, "severity=advice")] == ["lesser"]


def test_the_longest_list_is_read_a_chunk_at_a_time(
    people: People, system: System, as_user: AsUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export, "A_CHUNK", 2)
    for number in range(7):
        followed(system, f"finding {number}")
    assert len(rows_of_csv(as_user, people)) == 7


@pytest.mark.parametrize("bad", ["=HYPERLINK(0)", "+1", "-1+1", "@sum", "＝1", "\t=1"])
def test_no_cell_is_a_formula(people: People, system: System, as_user: AsUser, bad: str) -> None:
    followed(system, bad, subject=bad, state_why=bad)
    (row,) = rows_of_csv(as_user, people)
    assert row["finding"] == row["subject"] == row["why"] == f"'{bad}"
    answer = as_user(people.colleague).get("/findings/findings.xlsx")
    assert sheet_of(answer.content)[1].count(f"'{bad}") == 3


def test_excel_holds_numbers_as_numbers_and_a_row_a_finding(people: People, system: System, as_user: AsUser) -> None:
    followed(system, "worst", severity=4, processors=2.5, value=52.3, limit=-1.0, owner=people.mate)
    followed(system, "http://example.org/", severity=1)
    answer = as_user(people.colleague).get("/findings/findings.xlsx")
    assert answer["Content-Type"] == "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    heads, worst, link = sheet_of(answer.content)
    assert heads == list(export.COLUMNS)
    assert worst[:3] == ["critical", "worst", "CLAIMS1"]
    assert {"2.5", "52.3", "-1", "mats"} <= set(worst)
    assert link[1] == "http://example.org/"


def test_an_empty_list_is_a_file_with_its_columns(people: People, system: System, as_user: AsUser) -> None:
    assert rows_of_csv(as_user, people) == []
    assert sheet_of(as_user(people.colleague).get("/findings/findings.xlsx").content) == [list(export.COLUMNS)]


def test_what_is_too_long_for_excel_is_told(
    people: People, system: System, as_user: AsUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export, "MOST_IN_EXCEL", 1)
    followed(system, "one", severity=3)
    followed(system, "two", severity=3)
    answer = as_user(people.owner).get("/findings/findings.xlsx?severity=warning", follow=True)
    assert answer.redirect_chain == [("/findings/?severity=warning", 302)]
    assert "2 findings are too many for Excel (1)" in answer.content.decode()


def test_the_page_offers_files_of_the_same_filter(people: People, system: System, as_user: AsUser) -> None:
    page = text_of(as_user(people.owner), "/findings/?severity=warning&sort=-lost")
    assert "/findings/findings.csv?severity=warning&amp;sort=-lost" in page
    assert "/findings/findings.xlsx?severity=warning&amp;sort=-lost" in page
