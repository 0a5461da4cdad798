"""Before and after on the page, as files and by API: any two captures of a system, and nobody else's."""

import csv
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries, DjangoCaptureOnCommitCallbacks

from advisor.audits.models import Audit, Capture, CaptureFacts
from advisor.audits.report.data import audit_data
from advisor.audits.services import comparing
from advisor.audits.services.auditing import run_audit
from advisor.audits.services.limits import set_limit
from advisor.findings.models import TrackedFinding
from advisor.uploads.services.reading import read_exports
from advisor.uploads.services.uploads import Brought, ingest
from rules.compare.words import percent
from tests.advisor.ase.servers import audited, contended
from tests.advisor.audits.compared.states import asked, bring, captures
from tests.advisor.keeping import keeps
from tests.advisor.people import AsUser, People, text_of

pytestmark = pytest.mark.postgres

EXPORTS = Path(__file__).resolve().parents[3] / "exports"
SCRIPT = "<script>alert(1)</script>"


@pytest.fixture(autouse=True)
def _nothing_kept() -> Iterator[None]:
    comparing._kept.clear()
    yield
    comparing._kept.clear()


shared = keeps(
    lambda people: bring(people, range(1), spread=False), lambda people: bring(people, range(1, 2), spread=True)
)


@pytest.fixture
def two(people: People) -> list[Capture]:
    """One capture as it was, one after the change."""
    return captures()


@pytest.fixture
def six(
    nothing_brought: None, people: People, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> list[Capture]:
    """Three of each."""
    with django_capture_on_commit_callbacks(execute=True):
        bring(people, range(3), spread=False)
        bring(people, range(3, 6), spread=True)
    return captures()


def address(capture: Capture, query: str = "", ending: str = "") -> str:
    return f"/systems/{capture.system_id}/compare/{ending}{'?' if query else ''}{query}"


def test_the_page_says_in_plain_words_first_that_it_helped_and_why(
    people: People, as_user: AsUser, two: list[Capture]
) -> None:
    page = text_of(as_user(people.colleague), address(two[0]))
    order = ("verdict", "drawn", "alike", "changes", "configuration", "findings", "figures", "sides")
    places = [page.index(f' id="{name}"') for name in order]
    assert places == sorted(places), "the answer first, every figure last"
    answer = page[places[0] : places[1]]
    assert "It got better: 29 % less CPU ms per committed transaction (no noise measured)</h2>" in answer
    assert "74.31 → 53.08 (-29 %)" in answer
    assert "No export shows its noise" in answer
    assert "CPU ms per committed transaction" in page
    changes, others, findings = page[places[3] : places[4]], page[places[4] : places[5]], page[places[5] : places[6]]
    assert "lock address spinlock ratio" in changes
    assert re.search(r'<a href="/findings/\d+/">Address lock hash table spinlocks 52.3 % contended</a>', changes), (
        "who advised it, by its title"
    )
    assert "ase/address_lock_spinlock_contended:" not in changes
    assert '<span class="tag good"></span>in force' in changes
    assert "lock address spinlock ratio" not in others, "what was advised is told once"
    gone = next(row for row in findings.split("<tr>") if "Address lock hash table spinlocks 52.3 % contended" in row)
    assert '<span class="tag good">Gone</span>' in gone
    followed = TrackedFinding.objects.get(key="ase/address_lock_spinlock_contended:CLAIMS1")
    assert f'href="/findings/{followed.pk}/"' in gone
    assert f'href="/audits/{two[0].audit_id}/#f' in gone, "what is gone stands in the audit before"


def test_what_decides_is_drawn_before_and_after_on_one_scale_from_zero(
    people: People, as_user: AsUser, two: list[Capture]
) -> None:
    page = text_of(as_user(people.colleague), address(two[0]))
    begin = page.index('<svg class="pair"')
    drawn = page[begin : page.index("</svg>", begin)]
    assert "engines busy, all together, CPU ms per committed transaction: 74.31 before, 53.08 after" in drawn
    assert 'class="before" width="100.00%"' in drawn
    assert f'class="after better" y="20" width="{100 * 53.08 / 74.31:.2f}%"' in drawn
    assert "viewBox" not in drawn, "or its text would be scaled"
    assert 'class="noise"' not in drawn, "none was measured"


def test_the_accounts_of_both_audits_stand_one_under_the_other_on_one_scale(
    people: People, as_user: AsUser, two: list[Capture]
) -> None:
    def account(lost: float) -> dict[str, Any]:
        given: dict[str, Any] = next(
            one for one in Audit.objects.get(capture=two[0]).account if one["currency"] == "processors"
        )
        loss = {"what": "spinning", "amount": lost, "low": lost, "high": lost, "to": None, "file": "x", "lines": [1, 2]}
        return {**given, "capacity": 8.0, "lost": [loss], "unexplained": None, "undivided": None}

    for one, lost in zip(two, (4.0, 0.5), strict=True):
        Audit.objects.filter(capture=one).update(account=[account(lost)])
    client = as_user(people.colleague)
    page = text_of(client, address(two[0]))
    assert page.count('<svg class="account-bar"') == 2
    assert page.index('aria-label="Before"') < page.index('aria-label="After"') < page.index(' id="alike"')
    assert "4.00 of 8 engines lost" in page[: page.index('aria-label="After"')]
    assert "0.50 of 8 engines lost" in page[page.index('aria-label="After"') :]
    assert "amounts as measured, not per unit of work" in page
    Audit.objects.filter(capture=two[1]).update(account=[])
    assert 'class="account-bar"' not in text_of(client, address(two[0])), "one side alone shows no change"


def test_by_default_it_is_the_newest_capture_and_the_one_before_it(
    people: People, as_user: AsUser, six: list[Capture]
) -> None:
    client = as_user(people.owner)
    assert client.get(address(six[0], ending="x.json")).json() == _json(client, six[4:5], six[5:])
    assert _json(client, [], six[1:2])["before"]["start"] == "2026-02-11T10:30:00"


def _json(client: Client, before: list[Capture], after: list[Capture]) -> dict[str, Any]:
    found: dict[str, Any] = client.get(address(after[0], asked(before, after), "x.json")).json()
    return found


def test_several_captures_on_a_side_tell_the_noise(people: People, as_user: AsUser, six: list[Capture]) -> None:
    found = _json(as_user(people.owner), six[:3], six[3:])
    (decides,) = (metric for metric in found["metrics"] if metric["decides"])
    assert decides["low"] < decides["ratio"] < decides["high"] < 1
    assert (found["before"]["captures"], found["verdict"]) == (3, "improved")
    page = text_of(as_user(people.owner), address(six[0], asked(six[:3], six[3:])))
    assert page.count(" checked") == 6
    assert page.count('<line class="noise"') == 3 * page.count('<svg class="pair"') > 0, (
        "the interval on the bar of the after, with its two ends"
    )
    sentence = page[page.index(' id="verdict">') :].split("</h2>")[0]
    assert sentence.endswith(f"(every pair of samples {percent(decides['low'])} to {percent(decides['high'])} %)")
    between = _json(as_user(people.owner), six[:1], six[1:3])
    assert between["verdict"] == "no-effect", "three days of the same state"


def test_what_is_too_unlike_gets_no_verdict_and_says_what_to_bring(
    people: People, as_user: AsUser, two: list[Capture]
) -> None:
    later = {**two[1].interval, "start": "2026-02-12T22:30:00", "end": "2026-02-12T22:40:00"}
    Capture.objects.filter(pk=two[1].pk).update(interval=later)
    page = text_of(as_user(people.owner), address(two[0]))
    assert "These two cannot be compared" in page
    assert "It got better" not in page
    assert page.index(' id="verdict"') < page.index(' id="bring"') < page.index(' id="alike"')
    assert '<svg class="pair"' not in page, "as read is not before and after"
    assert '<svg class="account-bar"' not in page
    assert '<span class="tag warning">No</span>' in page
    assert "a capture of the same hour and the same kind of day as the other side" in page
    assert '<span class="tag warning">too low</span>' in page


def test_another_teams_captures_do_not_exist(people: People, as_user: AsUser, two: list[Capture]) -> None:
    stranger = as_user(people.stranger)
    for ending in ("", "x.json", "x.csv"):
        assert stranger.get(address(two[0], asked(two[:1], two[1:]), ending)).status_code == 404
    assert stranger.get(f"/api/systems/{two[0].system_id}/compare").status_code == 404


def test_a_capture_of_another_system_and_what_is_no_number_do_not_exist(
    people: People, as_user: AsUser, two: list[Capture]
) -> None:
    other = audited(people, contended()).capture
    client = as_user(people.owner)
    for query in (f"before={other.pk}", "before=x", "after=-1", f"after={'9' * 40}", "before=¹"):
        assert client.get(address(two[0], query)).status_code == 404, query
    for number in (other.pk, -1, 0, 2**63, 10**40):
        for side in ("before", "after"):
            api = client.get(f"/api/systems/{two[0].system_id}/compare?{side}={number}")
            assert (api.status_code, api["Content-Type"]) == (404, "application/json"), (side, number)


def test_what_cannot_be_held_against_each_other_is_refused_in_words(
    people: People, as_user: AsUser, two: list[Capture]
) -> None:
    client = as_user(people.owner)
    same = client.get(address(two[0], asked(two[:1], two[:1])))
    assert (same.status_code, b"The same capture is on both sides" in same.content) == (400, True)
    assert b'type="checkbox"' in same.content, "others can be chosen at once"
    first = client.get(address(two[0], asked([], two[:1])))
    assert b"no capture before it" in first.content
    many = "&".join(f"before={n}" for n in range(1, comparing.MOST_A_SIDE + 2))
    assert b"choose fewer" in client.get(address(two[0], many)).content
    api = client.get(f"/api/systems/{two[0].system_id}/compare?{asked(two[:1], two[:1])}")
    assert (api.status_code, "other side" in api.json()["error"] or "both sides" in api.json()["error"]) == (400, True)


@pytest.mark.usefixtures("nothing_brought")
def test_one_capture_alone_has_a_page_that_says_what_is_missing(people: People, as_user: AsUser) -> None:
    capture = audited(people, contended()).capture
    page = text_of(as_user(people.owner), address(capture))
    assert "There is no capture before it" in page
    assert "It takes two captures of one system" in page


def test_facts_that_cannot_be_read_any_more_are_said_not_raised(
    people: People, as_user: AsUser, two: list[Capture]
) -> None:
    CaptureFacts.objects.filter(capture=two[0]).update(data=b"damaged")
    answer = as_user(people.owner).get(address(two[0]))
    assert b"stored facts of the capture of 2026-02-11 10:40 cannot be read" in answer.content, "which of the two"


def test_the_files_and_the_api_say_the_same(people: People, as_user: AsUser, two: list[Capture]) -> None:
    client, query = as_user(people.colleague), asked(two[:1], two[1:])
    found = json.loads(client.get(address(two[0], query, "x.json")).content)
    assert found["contract"] == "compare/1"
    assert client.get(f"/api/systems/{two[0].system_id}/compare?{query}").json() == found
    rows = list(csv.DictReader(io.StringIO(client.get(address(two[0], query, "x.csv")).content.decode())))
    assert [row["key"] for row in rows] == [metric["key"] for metric in found["metrics"]]
    assert rows[0]["decides"] == "yes"
    assert float(rows[0]["ratio"]) == found["metrics"][0]["ratio"]
    for form in ("txt", "html"):
        answer = client.get(address(two[0], query, f"x.{form}"))
        assert "sandbox" in answer["Content-Security-Policy"]
        assert "CPU ms per committed transaction" in answer.content.decode()
    assert client.get(address(two[0], query, "x.pdf")).status_code == 404


def test_it_is_made_once_and_anew_when_a_limit_or_the_facts_change(
    people: People, as_user: AsUser, two: list[Capture], django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    client = as_user(people.owner)
    client.get(address(two[0]))
    assert len(comparing._kept) == 1
    with django_assert_max_num_queries(20):
        client.get(address(two[0]))
    assert len(comparing._kept) == 1
    name = "ase/address_lock_spinlock_contended.contention_percent"
    set_limit(name, 90.0, people.owner, system=two[0].system)
    page = text_of(client, address(two[0]))
    assert len(comparing._kept) == 2
    assert "Address lock hash table spinlocks 52.3 % contended" not in page, "by this limit it never stood"


def test_who_comes_while_others_have_two_made_is_asked_to_come_again(
    people: People, as_user: AsUser, two: list[Capture]
) -> None:
    client = as_user(people.owner)
    comparing._kept.clear()  # what came of the change was looked at when the second capture came
    for _ in range(comparing.AT_A_TIME):
        comparing._rooms.acquire()
    try:
        assert client.get(address(two[0])).status_code == 503
        assert client.get(address(two[0], ending="x.txt"))["Retry-After"] == "5"
        assert client.get(f"/api/systems/{two[0].system_id}/compare").status_code == 503
    finally:
        for _ in range(comparing.AT_A_TIME):
            comparing._rooms.release()
    assert client.get(address(two[0])).status_code == 200


def test_the_audit_and_the_list_of_captures_lead_to_it(people: People, as_user: AsUser, two: list[Capture]) -> None:
    client, query = as_user(people.colleague), asked(two[:1], two[1:])
    audit = text_of(client, f"/audits/{two[1].audit_id}/")
    assert f'href="{address(two[0], query).replace("&", "&amp;")}"' in audit
    system = text_of(client, f"/systems/{two[0].system_id}/")
    assert f'<form method="get" id="compare" class="bar" action="{address(two[0])}">' in system
    for side, chosen in (("before", two[0]), ("after", two[1])):
        one = f'<input type="radio" form="compare" name="{side}" value="{chosen.pk}"'
        assert "checked" in system[system.index(one) : system.index(one) + 200].split(">")[0]


def test_names_of_an_export_are_text_wherever_they_stand(people: People, as_user: AsUser, two: list[Capture]) -> None:
    system = two[0].system
    system.name = SCRIPT
    system.save()
    for one in two:
        Capture.objects.filter(pk=one.pk).update(version=SCRIPT, platform="=cmd|' /C calc'!A0")
    client = as_user(people.owner)
    for ending in ("", "x.html"):
        assert SCRIPT not in text_of(client, address(two[0], ending=ending))
    assert client.get(address(two[0], ending="x.csv")).status_code == 200


def test_a_comparison_of_one_file_is_kept_with_its_audit_and_shown(
    people: People, as_user: AsUser, two: list[Capture]
) -> None:
    client = as_user(people.owner)
    found = client.get(address(two[0], ending="x.json")).json()
    found |= {"file": "runs.txt", "lines": [3, 40]}
    found["before"]["label"], found["after"]["label"] = f"z/VM 4.3 {SCRIPT}", "z/VM 4.4"
    Audit.objects.filter(capture=two[1]).update(comparisons=[found])
    page = text_of(client, f"/audits/{two[1].audit_id}/")
    section = page[page.index('id="before-and-after"') : page.index('id="not-judged"')]
    assert "z/VM 4.3 &lt;script&gt;" in section
    assert "z/VM 4.4: it got better" in section
    assert "runs.txt:3-40" in section
    assert "<svg" in section
    assert SCRIPT not in page
    api = client.get(f"/api/audits/{two[1].audit_id}").json()
    assert api["captures"][0]["comparisons"] == [found]
    text = text_of(client, f"/audits/{two[1].audit_id}/x.txt")
    assert "BEFORE AND AFTER" in text
    assert " *  engines busy, all together, CPU ms per committed transaction: 74.31 ->" in text
    html = text_of(client, f"/audits/{two[1].audit_id}/x.html")
    assert "z/VM 4.4: improved, per committed transaction" in html
    assert "Ratios after ÷ before" in html
    assert SCRIPT not in html
    for metric in found["metrics"]:
        del metric["direction"]  # as an earlier release stored it
    Audit.objects.filter(capture=two[1]).update(comparisons=[found])
    assert "z/VM 4.4: it got better" in text_of(client, f"/audits/{two[1].audit_id}/")
    assert client.get(f"/audits/{two[1].audit_id}/x.pdf").content.startswith(b"%PDF")


@pytest.mark.usefixtures("nothing_brought")
def test_a_table_that_holds_both_sides_is_stored_as_it_was_audited(
    people: People, as_user: AsUser, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    file = EXPORTS / "unix" / "locking_runs" / "textbook.txt"
    with django_capture_on_commit_callbacks(execute=True):
        upload = ingest([Brought(file.name, io.BytesIO(file.read_bytes()))], people.team, people.owner).upload
    (audit,) = Audit.objects.filter(capture__upload=upload)
    inputs = read_exports([str(file)], io.BytesIO())
    (told,) = json.loads(json.dumps(audit_data(inputs, run_audit(inputs, {}))))["captures"]
    assert [one["verdict"] for one in audit.comparisons] == [one["verdict"] for one in told["comparisons"]]
    assert [one["metrics"] for one in audit.comparisons] == [one["metrics"] for one in told["comparisons"]]
    assert len(audit.comparisons) == 6
    page = text_of(as_user(people.owner), f"/audits/{audit.pk}/")
    assert page.count("coarse → fine") >= 3
    assert page.count('<div class="sized">') == 6


def test_a_figure_that_is_one_of_work_already_is_not_written_twice_and_remarks_are_shown(
    people: People, as_user: AsUser, two: list[Capture]
) -> None:
    """Of z/VM the report itself gives `CP msec/Tx`: 3.231 ms, which are ms per transaction."""
    client = as_user(people.owner)
    client.get(address(two[0]))
    key, made = next(iter(comparing._kept.items()))
    figure, *others = made.data["metrics"]
    told = {**figure, "metric": "CP time", "unit": "ms", "per_work_unit": "ms per transaction"}
    told |= {"before": 3.231, "after": 3.133, "per_work_before": 3.231, "per_work_after": 3.133}
    data = {**made.data, "metrics": [told, *others], "remarks": [f"The two sides overlap in time. {SCRIPT}"]}
    comparing._kept[key] = comparing.Compared(data, made.problems)
    whole = text_of(client, address(two[0]))
    page = whole[whole.index(' id="figures"') :]
    begin = page.index('class="said">CP time')
    row = page[begin : page.index("</tr>", begin)]
    assert page.count("<b>3.231</b>") == row.count("3.231") == 1
    assert "<br><b>ms per transaction</b>" in row
    assert "CP time, ms " not in row
    assert "The two sides overlap in time. &lt;script&gt;" in whole
    assert SCRIPT not in whole
