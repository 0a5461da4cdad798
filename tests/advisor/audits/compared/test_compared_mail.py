"""What a report says of before and after, and of a load series: short, escaped, and nothing where nothing is known."""

import re
from pathlib import Path

import pytest
from pytest_django import DjangoCaptureOnCommitCallbacks

from advisor.audits.models import Audit, Capture, CaptureFacts
from advisor.audits.services import comparing
from advisor.notifications.mail.message import MOST_BYTES, size
from advisor.notifications.mail.report import report_message
from advisor.systems.models import System
from advisor.uploads.services.uploads import Brought, ingest
from tests.advisor.ase.servers import audited, load_series
from tests.advisor.audits.compared.states import asked, bring, captures
from tests.advisor.notifications.mail.letter_parts import HOSTILE, parts, recipient_of
from tests.advisor.people import People

RULE = "-" * 72


@pytest.fixture
def two(people: People, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks) -> list[Capture]:
    with django_capture_on_commit_callbacks(execute=True):
        bring(people, range(1), spread=False)
        bring(people, range(1, 2), spread=True)
    return captures()


def of(capture: Capture) -> Audit:
    return Audit.objects.select_related("system__team", "capture__upload").get(capture=capture)


def section(text: str, title: str) -> str:
    """The lines under a heading of the text part."""
    return text.split(f"\n{title}\n{RULE}\n", 1)[1].split(f"\n{RULE}\n", 1)[0]


def test_a_report_tells_the_verdict_what_decides_what_is_gone_and_where_all_stands(
    people: People, two: list[Capture]
) -> None:
    made = report_message(recipient_of(people), of(two[1]), of(two[0]))
    found = parts(made)
    address = f"/systems/{two[0].system_id}/compare/?{asked(two[:1], two[1:])}"
    told = section(found.text, "BEFORE AND AFTER")
    assert "It got better, per committed transaction." in told
    assert "74.31 -> 53.08, ratio 0.714 (no noise measured): better" in " ".join(told.split())
    assert "Gone: Address lock hash table spinlocks 52.3 % contended" in " ".join(told.split())
    assert address in told
    assert "It got better, per committed transaction." in found.html
    assert address.replace("&", "&amp;") in found.html
    assert not found.too_long
    assert size(made) < MOST_BYTES


def test_what_is_gone_below_the_recipients_level_is_not_told(people: People, two: list[Capture]) -> None:
    Audit.objects.filter(capture=two[0]).update(findings_digest={"ase/address_lock_spinlock_contended:CLAIMS1": 1})
    found = parts(report_message(recipient_of(people), of(two[1]), of(two[0])))
    assert "BEFORE AND AFTER" in found.text
    assert "Gone:" not in found.text


def test_nothing_is_said_where_there_is_nothing_to_compare_with(people: People, two: list[Capture]) -> None:
    told = recipient_of(people)
    for before in (None, of(two[1])):
        assert "BEFORE AND AFTER" not in parts(report_message(told, of(two[1]), before)).text
    CaptureFacts.objects.filter(capture=two[0]).update(data=b"damaged")
    assert "BEFORE AND AFTER" not in parts(report_message(told, of(two[1]), of(two[0]))).text


def test_two_that_cannot_be_compared_are_not_told_as_if_they_could(people: People) -> None:
    first, second = (audited(people, [load_series(100.0, 190.0)], name="RUNS") for _ in range(2))
    Capture.objects.filter(pk=first.capture_id).update(processors=1)
    bare = audited(people, [], name="RUNS")
    assert "BEFORE AND AFTER" not in parts(report_message(recipient_of(people), bare, second)).text


def test_a_broken_comparison_costs_no_report(
    people: People, two: list[Capture], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def breaks(*sides: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("advisor.audits.services.comparing.compare", breaks)
    comparing._kept.clear()
    found = parts(report_message(recipient_of(people), of(two[1]), of(two[0])))
    assert "BEFORE AND AFTER" not in found.text
    assert "WHAT CHANGED SINCE" in found.text
    assert "could not be compared" in caplog.text


def test_names_are_text_in_both_parts(people: People, two: list[Capture]) -> None:
    System.objects.filter(pk=two[0].system_id).update(name=HOSTILE[:100])
    found = parts(report_message(recipient_of(people), of(two[1]), of(two[0])))
    assert "<script>" not in found.html
    assert "\r\nBcc:" not in found.text


def test_a_load_series_comes_with_its_fit_and_its_peak(people: People) -> None:
    rates = [round(100 * 2**n / (1 + 0.02 * (2**n - 1) + 0.0005 * 2**n * (2**n - 1)), 1) for n in range(7)]
    audit = audited(people, [load_series(*rates)], name="RUNS", product="scaling")
    found = parts(report_message(recipient_of(people), audit, None))
    told = " ".join(section(found.text, "LOAD SERIES").split())
    assert re.match(r"runs: Universal Scalability Law, contention 0\.0(2|19)\d*, coherency 0\.000[45]\d*, ", told)
    assert re.search(r"; peak 1,\d{3} at 44\.\d+ engines", told), told
    assert "Load series</h2>" in found.html
    assert not found.pictures, "the picture stands on the page"


def test_a_table_that_holds_both_sides_is_told_in_words(
    people: People, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    path = Path(__file__).parents[4] / "advisor" / "examples" / "audits" / "scheduler_lock_two_releases" / "runs.txt"
    with path.open("rb") as stream, django_capture_on_commit_callbacks(execute=True):
        ingest([Brought(path.name, stream)], people.team, people.owner)
    audit = Audit.objects.select_related("system__team", "capture__upload").get()
    assert len(audit.comparisons) == 3
    audit.comparisons[0]["before"]["label"] = HOSTILE
    found = parts(report_message(recipient_of(people), audit, None))
    told = " ".join(section(found.text, "BEFORE AND AFTER IN ONE TABLE").split())
    assert "no gain in CP time per transaction" in told
    assert "still bound by CP locks" in told
    assert "Before and after in one table" in found.html
    assert "<script" not in found.html
    assert not found.too_long
