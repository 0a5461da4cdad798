"""The run sheet: one page for the change window, from the plan and its changes alone."""

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from markupsafe import escape

from advisor.audits.models import Audit
from advisor.audits.report.render import render
from advisor.audits.report.run_sheet import run_sheet
from advisor.audits.services.contract import audit_json
from advisor.config.page_jinja import age as stated_age
from advisor.uploads.models import Upload
from tests.advisor.keeping import keeps
from tests.advisor.notifications.mail.letter_parts import HOSTILE
from tests.advisor.people import STORIES, AsUser, People, text_of
from tests.advisor.seen import words_of

shared = keeps("address_lock_storm")

ROOT = Path(__file__).resolve().parents[3]
Bring = Callable[..., Upload]


def test_each_step_has_its_risk_who_to_tell_its_check_and_its_undo(
    people: People, storm_audit: Audit, as_user: AsUser
) -> None:
    client = as_user(people.colleague)
    address = f"/audits/{storm_audit.pk}/run-sheet/"
    assert f'href="{address}"' in text_of(client, f"/audits/{storm_audit.pk}/")
    page = text_of(client, address)
    words = words_of(page)
    order = ["Before", "Step 1, now", "Step 2, next restart", "Afterwards"]
    assert sorted(order, key=words.index) == order
    assert "lock address spinlock ratio is 100" in words.split("Step 1", 1)[0]
    assert "If a value differs, stop:" in words
    second = words.split("Step 2, next restart", 1)[1]
    assert second.startswith(" lock address spinlock ratio 100 → 5 ")
    assert "Risk medium : the server is restarted" in second
    assert "everybody who works with the server: their sessions end" in second
    assert "lock address spinlock ratio 5, by the check in the script" in second
    assert "number of address lock hash table spinlocks: 11 → 207 (arithmetic)" in second
    assert "Undo back to 100, next restart" in second
    assert "everybody" not in words.split("Step 2", 1)[0], "what takes effect at once ends no session"
    assert f'href="/audits/{storm_audit.pk}/#step2"' in page
    assert f'href="/audits/{storm_audit.pk}/#step2u">the undo script' in page
    audit = text_of(client, f"/audits/{storm_audit.pk}/")
    assert 'id="step2u"' in audit
    age = stated_age(storm_audit.capture.taken)
    assert f"; its age: {age}; audit {storm_audit.pk}" in words
    assert f"age of the capture: {age}" in words_of(audit)


def test_an_opened_finding_leads_to_the_form_that_accepts_it(
    people: People, storm_audit: Audit, as_user: AsUser
) -> None:
    row = storm_audit.system.tracked.get(number=0)
    link = f'href="/findings/{row.pk}/#until">Accept until a day'
    page = text_of(as_user(people.owner), f"/audits/{storm_audit.pk}/")
    assert 0 < page.index(link) < page.index('id="f0c1a"'), "before its script"
    assert link not in text_of(as_user(people.colleague), f"/audits/{storm_audit.pk}/")
    own = text_of(as_user(people.owner), f"/findings/{row.pk}/")
    assert 'href="#until"' in own
    assert 'id="until"' in own
    upload = storm_audit.capture.upload
    assert upload is not None
    assert f'href="/audits/{storm_audit.pk}/#collect"' in text_of(as_user(people.owner), f"/uploads/{upload.pk}/")
    assert 'id="collect"' in page


def test_it_is_not_for_strangers(people: People, storm_audit: Audit, as_user: AsUser) -> None:
    address = f"/audits/{storm_audit.pk}/run-sheet/"
    assert as_user(people.stranger).get(address).status_code == 404
    assert as_user(people.owner).get("/audits/999999/run-sheet/").status_code == 404


@pytest.mark.usefixtures("nothing_brought")
def test_a_caution_is_said_once_and_what_runs_nothing_is_for_another_day(bring: Bring) -> None:
    bring("payroll_page_locks")
    (capture,) = audit_json(Audit.objects.get(), inputs=False)["captures"]
    sheet = run_sheet(capture)
    cautions = [caution for one in sheet.steps for caution in one.cautions]
    assert len(cautions) == len(set(cautions)) > 2
    assert [one.step.when for one in sheet.steps] == ["reboot"]
    assert [step.when for step in sheet.later] == ["investigate"]
    assert sheet.now == ("RESHASHTBL is 8,192",), "what is not changed in the window need not be looked at"


def test_a_value_that_no_export_shows_is_said_so_and_conflicts_come_first(storm_audit: Audit) -> None:
    (capture,) = audit_json(storm_audit, inputs=False)["captures"]
    capture["plan"]["conflicts"] = [{"change_keys": ["x"], "why": "two values for one setting"}]
    for finding in capture["findings"]:
        for change in finding["changes"]:
            change["from"] = None
    sheet = run_sheet(capture)
    assert sheet.decide == ("two values for one setting",)
    assert "lock address spinlock ratio: not in the exports" in sheet.now


def test_names_stay_text(people: People, storm_audit: Audit, as_user: AsUser) -> None:
    for one in storm_audit.findings.all():
        for change in one.data["changes"]:
            change.update(target=HOSTILE, cautions=[HOSTILE])
        one.save()
    page = text_of(as_user(people.owner), f"/audits/{storm_audit.pk}/run-sheet/")
    assert "<script>alert" not in page
    assert str(escape(HOSTILE[:20])) in page
    text = render("run_sheet", audit_json(storm_audit), "txt")
    assert not re.search("[\x00-\x09\x0b-\x1f\u202a-\u202e]", text)


@pytest.mark.parametrize(
    ("story", "says"),
    [
        ("address_lock_storm", "RUN SHEET: CLAIMS1"),
        ("healthy_ledger_server", "No plan: there is nothing to change."),
    ],
)
def test_the_command_prints_it_as_text(story: str, says: str) -> None:
    done = subprocess.run(
        [sys.executable, "manage.py", "audit", *map(str, (STORIES / story).glob("*.txt")), "--run-sheet"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == (1 if "CLAIMS1" in says else 0), "the exit status is that of the audit"
    assert says in done.stdout
    assert all(len(line) <= 80 for line in done.stdout.splitlines())
    assert len(done.stdout.splitlines()) <= 70, "one page"
    if "CLAIMS1" in says:
        assert (
            "\n    check [ ] lock address spinlock ratio 5, by the check in the script\n          [ ] in" in done.stdout
        )
        assert "    tell  [ ] everybody who works with the server: their sessions end\n" in done.stdout
