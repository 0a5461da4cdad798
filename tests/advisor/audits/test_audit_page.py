"""The page of an audit: proof, scripts, cause and symptom, what could not be judged; and the same as files."""

import io
import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pypdf
import pytest
from markupsafe import escape
from pytest_django import DjangoCaptureOnCommitCallbacks

from advisor.audits.models import Audit, Capture, Finding
from advisor.audits.report.pdf import pdf
from advisor.audits.services.audit_page import Node, page_of
from advisor.core.models import JournalEntry
from advisor.systems.models import System
from advisor.uploads.models import Upload
from advisor.uploads.services.uploads import Brought, ingest
from tests.advisor.keeping import keeps
from tests.advisor.notifications.mail.letter_parts import bring_storms
from tests.advisor.people import STORIES, AsUser, People, text_of
from tests.advisor.seen import words_of

shared = keeps("address_lock_storm")

HOSTILE = '"><script>alert(1)</script>'


def test_a_finding_stands_with_its_lines_its_script_and_its_undo(
    people: People, storm_audit: Audit, as_user: AsUser
) -> None:
    page = text_of(as_user(people.colleague), f"/audits/{storm_audit.pk}/")
    assert "sp_configure &#34;lock address spinlock ratio&#34;, 5" in page
    assert "sp_configure &#34;lock address spinlock ratio&#34;, 100" in page
    assert "Spinlock Contention               n/a" in page, "the very line of the export"
    assert "11 → 207" in page
    assert "at the next restart of the database server" in page
    assert 'aria-label="address lock hash table spinlock contention' in page, "the plot"


def test_symptoms_are_folded_under_their_cause(storm_audit: Audit) -> None:
    shown = page_of(storm_audit)
    assert len(shown.roots) < storm_audit.findings.count()
    below = [symptom for root in shown.roots for symptom in root.symptoms]
    assert below
    seen: list[str] = []

    def walk(nodes: list[object]) -> None:
        for node in nodes:
            seen.append(node.finding.key)  # type: ignore[attr-defined]
            walk(node.symptoms)  # type: ignore[attr-defined]

    walk(list(shown.roots))
    assert sorted(seen) == sorted(f.key for f in storm_audit.findings.all()), "each finding once, none lost"


def test_findings_that_explain_each_other_in_a_ring_are_all_shown(storm_audit: Audit) -> None:
    findings = list(storm_audit.findings.all())[:2]
    for one, other in ((findings[0], findings[1]), (findings[1], findings[0])):
        one.data["explains"] = [other.key]
        one.save()
    Finding.objects.exclude(pk__in=[one.pk for one in findings]).delete()
    (root,) = page_of(storm_audit).roots
    (symptom,) = root.symptoms
    assert {root.finding.key, symptom.finding.key} == {one.key for one in findings}


def test_the_lines_of_the_export_are_shown_with_those_around_them(
    people: People, storm_audit: Audit, as_user: AsUser
) -> None:
    upload = Upload.objects.get()
    page = text_of(as_user(people.colleague), f"/uploads/{upload.pk}/lines/?file=config.txt&first=5&last=5")
    assert "<mark> lock address spinlock ratio" in page
    assert page.count("<mark>") == 1
    assert as_user(people.stranger).get(f"/uploads/{upload.pk}/lines/?file=config.txt").status_code == 404
    assert "no such lines" in text_of(as_user(people.owner), f"/uploads/{upload.pk}/lines/?file=/etc/passwd")


@pytest.mark.parametrize("form", ["txt", "json", "html", "pdf"])
def test_it_comes_as_a_file_with_a_safe_name_and_not_to_strangers(
    people: People, storm_audit: Audit, as_user: AsUser, form: str
) -> None:
    System.objects.update(name='CLA"IMS\r\n1/../x')
    address = f"/audits/{storm_audit.pk}/report.{form}"
    answer = as_user(people.colleague).get(address)
    assert answer.status_code == 200
    assert answer["Content-Disposition"] == f'attachment; filename="lockwright-CLA-IMS-1----x-20260211-1040.{form}"'
    assert as_user(people.stranger).get(address).status_code == 404
    if form == "json":
        data = json.loads(answer.content)
        assert data["contract"] == "audit/1"
        assert len(data["captures"][0]["findings"]) == storm_audit.findings.count()
    elif form == "pdf":
        text = "".join(page.extract_text() for page in pypdf.PdfReader(io.BytesIO(answer.content)).pages)
        assert "52.3 %" in text
    else:
        assert b"52.3 %" in answer.content


def test_a_report_as_pdf_asks_for_nothing_outside_it() -> None:
    asked: list[str] = []

    class Door:
        def __init__(self) -> None:
            import socket
            import threading

            self.socket = socket.create_server(("127.0.0.1", 0))
            self.port = self.socket.getsockname()[1]
            self.socket.settimeout(0.5)
            self.thread = threading.Thread(target=self.listen)
            self.thread.start()

        def listen(self) -> None:
            try:
                line, _ = self.socket.accept()
                asked.append("somebody came")
                line.close()
            except TimeoutError:
                pass

    door = Door()
    address = f"http://127.0.0.1:{door.port}/x"
    made = pdf(f'<link rel="stylesheet" href="{address}.css"><img src="{address}.png"><p>text</p>')
    door.thread.join()
    door.socket.close()
    assert made.startswith(b"%PDF")
    assert not asked


@pytest.mark.usefixtures("nothing_brought")
def test_a_hostile_name_is_text_everywhere(
    people: People,
    as_user: AsUser,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    export = (STORIES / "address_lock_storm" / "sysmon.txt").read_text().replace("CLAIMS1", HOSTILE[:25])
    with django_capture_on_commit_callbacks(execute=True):
        ingest([Brought(f"{HOSTILE}.txt", io.BytesIO(export.encode()))], people.team, people.owner)
    olga = as_user(people.owner)
    audit = Audit.objects.get()
    upload = Upload.objects.get()
    for address in ("/", f"/audits/{audit.pk}/", f"/uploads/{upload.pk}/", f"/systems/{audit.system_id}/", "/uploads/"):
        page = text_of(olga, address)
        assert "<script>alert" not in page, address
    for form in ("html", "pdf", "txt"):
        answer = olga.get(f"/audits/{audit.pk}/report.{form}")
        assert answer.status_code == 200
        assert form == "txt" or b"<script>alert" not in answer.content


def test_only_who_works_for_the_team_audits_again(
    people: People,
    storm_audit: Audit,
    as_user: AsUser,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    address = f"/audits/{storm_audit.pk}/again/"
    assert as_user(people.colleague).post(address).status_code == 403
    assert as_user(people.stranger).post(address).status_code == 404
    with django_capture_on_commit_callbacks(execute=True):
        assert as_user(people.mate).post(address).status_code == 302
    assert Audit.objects.count() == 2
    assert Capture.objects.get().audit != storm_audit
    assert JournalEntry.objects.filter(action="audit again", user=people.mate).exists()
    assert "earlier audit of this capture" in text_of(as_user(people.owner), f"/audits/{storm_audit.pk}/")


def section_of(page: str, begin: str, end: str) -> str:
    """What a reader sees of a page between two of its ids."""
    return words_of("<" + page.split(f'id="{begin}"', 1)[1].split(f'id="{end}"', 1)[0] + ">")


@pytest.mark.usefixtures("nothing_brought")
def test_it_opens_with_the_verdict_the_account_the_plan_and_what_to_collect(
    people: People, bring: Callable[..., Upload], as_user: AsUser
) -> None:
    bring("payroll_page_locks")
    audit = Audit.objects.get()
    page = text_of(as_user(people.owner), f"/audits/{audit.pk}/")
    order = [page.index(f'id="{one}"') for one in ("verdict", "account1", "account2", "plan", "findings", "collect")]
    assert order == sorted(order)
    assert audit.summary["verdict"].startswith("2.64 of 8 CPUs (33 %) are lost")
    lead, _, rest = audit.summary["verdict"].partition("; ")
    assert f"{lead} ; {rest}" in words_of(page), "the whole of it, its first part large"
    assert 'aria-label="Where 8 CPUs go, on average: 4.48 work; 2.64 MP synchronization' in page
    account = section_of(page, "account1", "account2")
    assert "LCKMGR (finding 4, caused by finding 1) 2.64 33 % T4_LEWIS_21APR2026_1001_1036_comp.csv:8-43" in account
    assert "Of the work 0.11 CPUs are interrupt state." in account
    assert "first=8&amp;last=43" in page, "the place is a link to the lines"
    assert "(finding 7, caused by finding 2) 14.00 rmu_show_statistics.txt:110" in section_of(page, "account2", "plan")


def test_the_plan_is_a_table_and_its_scripts_are_copied_apart(
    people: People, storm_audit: Audit, as_user: AsUser
) -> None:
    page = text_of(as_user(people.owner), f"/audits/{storm_audit.pk}/")
    step = section_of(page, "step2", "findings")
    assert "Next restart 2 lock address spinlock ratio 100 → 5" in step
    assert "medium the server is restarted" in step
    assert "number of address lock hash table spinlocks: 11 → 207 (arithmetic)" in step
    assert "back to 100, next restart" in step
    scripts = page.split('id="step2"', 1)[1]
    for end, way in (("a", "apply"), ("u", "undo")):
        assert f'<pre id="step2{end}" tabindex="0" aria-label="{way} step 2">' in scripts
        assert f'data-copy="step2{end}">Copy {way}</button>' in scripts


def test_what_no_setting_does_stands_below_the_plan(people: People, storm_audit: Audit, as_user: AsUser) -> None:
    todo = {**storm_audit.summary["do"][0], "step": None, "title": HOSTILE, "effect": "shorter waits", "undo": ""}
    storm_audit.summary["do"] = [todo]
    storm_audit.plan = {"steps": [], "conflicts": []}
    storm_audit.save()
    page = text_of(as_user(people.owner), f"/audits/{storm_audit.pk}/")
    assert f"What no setting does:</p><ul><li><b>{escape(HOSTILE)}</b>" in page
    assert 'id="step1"' not in page
    assert "Run sheet" not in page


def test_at_most_three_things_to_collect_each_with_a_button(
    people: People, storm_audit: Audit, as_user: AsUser
) -> None:
    page = text_of(as_user(people.owner), f"/audits/{storm_audit.pk}/")
    wanted = storm_audit.summary["collect"]
    assert len(wanted) == 3
    for number, one in enumerate(wanted, 1):
        assert f'<code id="collect{number}">{escape(one["command"])}</code>' in page
        assert f'data-copy="collect{number}"' in page
    assert "settles" in section_of(page, "collect", "in-order")


@pytest.mark.usefixtures("nothing_brought")
def test_a_finding_explained_by_another_says_where_it_is_counted(
    people: People, bring: Callable[..., Upload], as_user: AsUser
) -> None:
    bring("payroll_page_locks")
    audit = Audit.objects.get()
    page = text_of(as_user(people.owner), f"/audits/{audit.pk}/")
    shown = page_of(audit)
    hash_table = "openvms/resource_hash_table_undersized:LEWIS"
    lckmgr = "openvms/spinlock_hot:LEWIS spinlock LCKMGR"
    assert shown.cost[hash_table] == "2.64 CPUs lost"
    assert lckmgr not in shown.cost, "what it spins for is booked to its cause"
    assert shown.counted_in[lckmgr] == shown.numbers[hash_table] == 1
    assert f'id="f{shown.numbers[lckmgr] - 1}"' in page
    assert '<span class="nowrap">counted in 1</span>' in page


def test_the_four_parts_of_a_text_stand_apart(people: People, storm_audit: Audit, as_user: AsUser) -> None:
    one = storm_audit.findings.first()
    assert one is not None
    one.data |= {"seen": "Seen it.", "because": "That is why.", "do": HOSTILE, "unknown": "Nobody knows."}
    one.save()
    page = text_of(as_user(people.owner), f"/audits/{storm_audit.pk}/")
    said = words_of(page)
    assert "Seen it. Because That is why. Do " in said
    assert "Not known Nobody knows." in said
    assert HOSTILE not in page
    assert str(escape(HOSTILE)) in page


def test_an_audit_of_before_has_no_summary_and_is_still_shown(
    people: People, storm_audit: Audit, as_user: AsUser
) -> None:
    for one in storm_audit.findings.all():
        for part in ("seen", "because", "do", "unknown"):
            del one.data[part]
        one.save()
    old = ("takes_effect", "change_keys", "apply", "undo")
    storm_audit.plan["steps"] = [{name: step[name] for name in old} for step in storm_audit.plan["steps"]]
    storm_audit.account, storm_audit.summary, storm_audit.processors_lost = [], {}, None
    storm_audit.save()
    page = text_of(as_user(people.owner), f"/audits/{storm_audit.pk}/")
    assert 'id="verdict"' not in page
    assert "Processors lost not measured" in words_of(page)
    first = storm_audit.findings.first()
    assert first is not None
    assert str(escape(first.data["says"])) in page
    assert "Next restart 2 lock address spinlock ratio 100 → 5" in words_of(page)


@pytest.mark.usefixtures("nothing_brought")
def test_of_many_accounts_those_that_lost_most_are_open(
    people: People, bring: Callable[..., Upload], as_user: AsUser
) -> None:
    bring("scheduler_lock_two_releases")
    audit = Audit.objects.get()
    assert len(audit.account) == 6
    page = text_of(as_user(people.owner), f"/audits/{audit.pk}/")
    assert page.count('<figure class="account"') == 6
    assert "4 more accounts" in words_of(page)


def test_an_audit_by_other_rules_says_so(people: People, storm_audit: Audit, as_user: AsUser) -> None:
    Audit.objects.update(rules_version="0.1.0+00000000")
    assert "Judged by earlier rules" in text_of(as_user(people.owner), f"/audits/{storm_audit.pk}/")


@pytest.mark.usefixtures("nothing_brought")
def test_a_load_series_is_drawn_with_its_fitted_law(
    people: People, bring: Callable[..., Upload], as_user: AsUser
) -> None:
    bring("more_engines_less_work")
    page = text_of(as_user(people.owner), f"/audits/{Audit.objects.get().pk}/")
    assert "Universal Scalability Law" in page
    assert "measured rates and the fitted law" in page


def capture_before(audit: Audit, days: int, **columns: Any) -> None:
    """An earlier capture in which the finding of this audit stood with other figures."""
    now = audit.capture
    interval = {**now.interval, "end": (now.taken - timedelta(days=days)).replace(tzinfo=None).isoformat()}
    capture = Capture.objects.create(system=audit.system, taken=now.taken - timedelta(days=days), interval=interval)
    made = Audit.objects.create(capture=capture, system=audit.system, rules_version="0")
    Capture.objects.filter(pk=capture.pk).update(audit=made)
    key = "ase/address_lock_spinlock_contended:CLAIMS1"
    finding = audit.findings.get(key=key)
    fields = {"metric": finding.metric, "unit": finding.unit, "value": 20.0, **columns}
    Finding.objects.create(
        audit=made, system=audit.system, number=0, key=key, rule=finding.rule, severity=3, data={}, **fields
    )


def plot_of(audit: Audit) -> str:
    def every(nodes: list[Node]) -> Iterator[Node]:
        for node in nodes:
            yield node
            yield from every(node.symptoms)

    key = "ase/address_lock_spinlock_contended:CLAIMS1"
    (node,) = [node for node in every(page_of(audit).roots) if node.finding.key == key]
    return str(node.plot)


def test_a_finding_that_stood_before_is_plotted_over_the_captures_in_the_exports_own_time(storm_audit: Audit) -> None:
    assert "from " not in plot_of(storm_audit)
    capture_before(storm_audit, 1)
    plot = plot_of(storm_audit)
    assert "20" in plot
    assert "52.3" in plot
    assert "UTC" not in plot, "the export names no zone"


def test_another_figure_of_the_same_finding_is_never_drawn_into_its_line(storm_audit: Audit) -> None:
    alone = plot_of(storm_audit)
    capture_before(storm_audit, 1, metric="something else", value=77.0)
    capture_before(storm_audit, 2, unit="/s", value=77.0)
    assert plot_of(storm_audit) == alone


@pytest.mark.usefixtures("nothing_brought")
def test_what_was_held_against_no_limit_is_not_plotted(
    people: People, bring: Callable[..., Upload], as_user: AsUser
) -> None:
    bring("lock_manager_on_a_busy_core")
    audit = Audit.objects.get()
    names = [f for f in audit.findings.all() if all(e["limit"] is None for e in f.data["evidence"])]
    assert names
    assert all(finding.value is None for finding in names)


def test_a_law_that_is_not_used_is_not_drawn(storm_audit: Audit) -> None:
    law = {"law": "usl", "alpha": 0.3, "beta": 0.1, "gamma": 9.0, "r2": 0.7, "peak_load": 3.0, "peak_rate": 20.0}
    law |= {"file": "x", "why_not": "poor fit", "load_name": "users", "rate_name": "rate", "points": [[1, 9], [2, 12]]}
    for usable, drawn in ((True, "the fitted law"), (False, "measured rates")):
        storm_audit.laws = [{**law, "usable": usable}]
        ((_, plot),) = page_of(storm_audit).laws
        assert plot is not None
        assert drawn in plot
        assert ("the fitted law" in plot) is usable


@pytest.mark.usefixtures("nothing_brought")
def test_what_many_changes_share_is_said_once_among_their_undo(bring: Callable[..., Upload]) -> None:
    bring("caches_with_free_memory")
    (audit,) = Audit.objects.all()
    first = page_of(audit).plan[0]
    new, bound = (
        [one for one in first.changes if one.target.endswith(kind)] for kind in (": new cache", ": cache binding")
    )
    assert len(new) > 1
    assert len(bound) > 1
    assert first.undo_lines == (
        f"new cache ({len(new)} times): taken back, at once",
        f"cache binding ({len(bound)} times): back to default data cache, at once",
    )


@pytest.mark.usefixtures("nothing_brought")
def test_what_is_gone_since_the_capture_before_is_said_in_its_own_words(
    people: People, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks, as_user: AsUser
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        bring_storms(people, [{"34.6 %": " 1.6 %"}, {"31.1 %": " 1.1 %"}])
    first, second = Audit.objects.order_by("capture__taken")
    (gone,) = page_of(second).titles.values()
    assert gone in set(first.findings.values_list("title", flat=True))
    told = words_of(text_of(as_user(people.colleague), f"/audits/{second.pk}/")).partition("Gone since")[2]
    assert told.startswith(f" the capture before: {gone} .")
