"""The page of a finding: what it shows, who sees it, and that its forms do what they say."""

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks

from advisor.audits.models import Finding
from advisor.audits.services.limits import set_limit
from advisor.findings.models import TrackedFinding
from advisor.systems.models import System
from advisor.uploads.models import Upload
from tests.advisor.audits.rule_pages import LIMIT
from tests.advisor.findings.claims import first_day, followed
from tests.advisor.keeping import keeps
from tests.advisor.people import AsUser, People, text_of
from tests.advisor.seen import words_of

shared = keeps(first_day)

TOMORROW = timezone.localdate() + timedelta(days=1)
HOSTILE = '<script>alert("1")</script>'


def address(row: TrackedFinding, what: str = "") -> str:
    return reverse(f"finding{what}", args=[row.pk])


def test_each_finding_of_an_audit_leads_to_its_page(people: People, storm: System, as_user: AsUser) -> None:
    assert storm.latest is not None
    text = text_of(as_user(people.colleague), reverse("audit", args=[storm.latest.pk]))
    for row in TrackedFinding.objects.all():
        assert f'href="{address(row)}"' in text


def test_the_page_tells_what_it_is_with_its_figures_and_its_changes(
    people: People, storm: System, as_user: AsUser
) -> None:
    row = followed()
    text = text_of(as_user(people.colleague), address(row))
    words = words_of(text)
    assert row.title in words
    assert "seen in 1 of 1 capture since 2026-02-11 10:40" in words
    assert "address lock hash table spinlock contention 52.3 %" in words
    assert "Spinlock Contention n/a n/a n/a 52.3 %" in words
    assert "5.2×" in text
    assert "Change: lock address spinlock ratio, 100 → 5" in words
    assert "Next restart. Risk medium" in words
    assert "Copy undo" in words
    allpages, engines = followed("ase/allpages_table_contended"), followed("ase/engines_not_the_answer")
    assert f'Explained by <a href="{address(allpages)}">' in text
    assert f'Explains <a href="{address(engines)}">' in text
    assert 'aria-label="What explains what"' in text


def test_without_a_proof_the_first_button_notes_the_change(people: People, storm: System, as_user: AsUser) -> None:
    row, olga = followed(), as_user(people.owner)
    text = text_of(olga, address(row))
    assert '<button class="main">I made the change</button>' in text
    assert "See the proof" not in text
    assert "no owner" in words_of(text)


def test_who_may_not_work_sees_no_forms_and_a_stranger_sees_nothing(
    people: People, storm: System, as_user: AsUser
) -> None:
    row = followed()
    text = text_of(as_user(people.colleague), address(row))
    assert "finding-" not in text
    assert re.findall(r'\saction="([^"]*)"', text) == [reverse("logout")]
    for what in ("-state", "-owner", "-comment"):
        assert as_user(people.colleague).post(address(row, what), {"verb": "plan", "text": "x"}).status_code == 403
        assert as_user(people.stranger).post(address(row, what), {"verb": "plan", "text": "x"}).status_code == 404
        assert as_user(people.owner).get(address(row, what)).status_code == 405
    assert as_user(people.stranger).get(address(row)).status_code == 404
    assert followed().state == "open"
    assert row.events.count() == 1


def test_it_is_accepted_by_a_form_and_the_reason_stands_on_its_page_and_on_the_audit(
    people: People, storm: System, as_user: AsUser
) -> None:
    row, olga = followed(), as_user(people.owner)
    sent = {"verb": "accept", "until": TOMORROW.isoformat(), "why": HOSTILE, "back_if": "50"}
    assert olga.post(address(row, "-state"), sent).status_code == 302
    row = followed()
    assert (row.state, row.state_until, row.back_if) == ("accepted", TOMORROW, 0.5)
    assert storm.latest is not None
    for page in (address(row), reverse("audit", args=[storm.latest.pk])):
        text = text_of(olga, page)
        assert "&lt;script&gt;alert" in text
        assert HOSTILE not in text
    words = words_of(text_of(olga, address(row)))
    assert f"accepted it until {TOMORROW}, back if worse by 50 %" in words
    assert "when the figure is above 78.45 % (50 % worse than 52.3)" in words, "the value at which it comes back"


def test_what_a_form_refuses_stands_in_it_with_what_was_typed(people: People, storm: System, as_user: AsUser) -> None:
    row, olga = followed(), as_user(people.owner)
    answer = olga.post(address(row, "-state"), {"verb": "accept", "until": "2020-01-01", "why": "batch"})
    text = answer.content.decode()
    assert answer.status_code == 400
    assert "Choose a day in the future" in text
    assert 'value="2020-01-01"' in text
    assert ">batch</textarea>" in text
    answer = olga.post(address(row, "-state"), {"verb": "accept", "until": TOMORROW.isoformat(), "why": ""})
    assert "Say why it is accepted" in answer.content.decode()
    assert "Write something." in olga.post(address(row, "-comment"), {"text": " "}).content.decode()
    assert olga.post(address(row, "-state"), {"verb": "drop"}).status_code == 404
    assert followed().state == "open"


@pytest.mark.parametrize(("verb", "state"), [("plan", "planned"), ("made", "change-made"), ("reopen", "open")])
def test_other_states_are_noted_with_or_without_a_word(
    people: People, storm: System, as_user: AsUser, verb: str, state: str
) -> None:
    row, olga = followed(), as_user(people.owner)
    assert olga.post(address(row, "-state"), {"verb": verb, "why": "CHG-4471"}).status_code == 302
    assert (followed().state, followed().state_why) == (state, "CHG-4471")
    assert olga.post(address(row, "-state"), {"verb": verb}).status_code == 302
    assert followed().state_why == ""


def test_it_is_assigned_and_commented(people: People, storm: System, as_user: AsUser) -> None:
    row, olga = followed(), as_user(people.owner)
    assert olga.post(address(row, "-owner"), {"owner": people.mate.pk}).status_code == 302
    assert olga.post(address(row, "-owner"), {"owner": people.stranger.pk}).status_code == 404
    assert followed().owner == people.mate
    assert olga.post(address(row, "-comment"), {"text": f"{HOSTILE}\nsecond line"}).status_code == 302
    text = text_of(olga, address(row))
    assert "&lt;script&gt;alert(&#34;1&#34;)&lt;/script&gt;\nsecond line" in text
    assert "assigned it to mats" in words_of(text)


def test_its_course_runs_over_the_captures_with_what_was_decided(
    people: People, day: Callable[..., Upload], as_user: AsUser
) -> None:
    day(12, ("52.3 %", "61.7 %"))
    row = followed()
    row.events.create(
        kind="state", text="accepted it until 2026-03-01, back\nwhy", at=row.first_seen + timedelta(hours=9)
    )
    text = text_of(as_user(people.owner), address(row))
    assert "2 figures: first 52.3 %, last 61.7 %" in text
    assert 'class="c-event c-at"' in text
    assert ">accepted</text>" in text


def test_what_is_gone_or_whose_audit_is_gone_is_still_told(
    people: People, day: Callable[..., Upload], as_user: AsUser
) -> None:
    day(12, spread=True)
    row, olga = followed(), as_user(people.owner)
    assert "did not find it. What follows is of the last capture that shows it, 2026-02-11" in words_of(
        text_of(olga, address(row))
    )
    Finding.objects.filter(rule=row.rule).delete()
    assert "The audit that found it is not kept any more." in text_of(olga, address(row))


def test_other_systems_with_the_same_finding_are_those_one_may_see(
    people: People, day: Callable[..., Upload], as_user: AsUser
) -> None:
    day(11, ("CLAIMS1", "CLAIMS2"))
    day(11, ("CLAIMS1", "SECRET7"))
    System.objects.filter(name="SECRET7").update(team=people.other_team)
    TrackedFinding.objects.filter(system__name="CLAIMS2").update(state="proven")
    row = TrackedFinding.objects.get(system__name="CLAIMS1", rule=followed_rule())
    words = words_of(text_of(as_user(people.owner), address(row)))
    assert "CLAIMS2 critical, 52.3 % Proven" in words
    assert "its change was made on 1 system, proven on 1" in words
    assert "SECRET7" not in words


def followed_rule() -> str:
    return "ase/address_lock_spinlock_contended"


def test_every_name_of_an_export_is_text(people: People, storm: System, as_user: AsUser) -> None:
    row = followed()
    assert row.finding is not None
    data = row.finding.data
    data["seen"] = data["because"] = data["evidence"][0]["metric"] = data["evidence"][0]["excerpt"][0] = HOSTILE
    data["changes"][0]["target"] = data["changes"][0]["apply"][0] = data["changes"][0]["cautions"][0] = HOSTILE
    data["expects"][0]["metric"] = data["evidence"][0]["file"] = HOSTILE
    row.finding.title = row.title = row.subject = row.metric = row.unit = HOSTILE
    row.finding.save()
    row.save()
    assert HOSTILE not in text_of(as_user(people.owner), address(row))


@pytest.mark.postgres
def test_a_finding_that_goes_by_a_limit_of_ones_own_says_so(
    people: People, storm: System, as_user: AsUser, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        set_limit(LIMIT, 90, people.owner, system=storm)
    words = words_of(text_of(as_user(people.colleague), reverse("finding", args=[followed().pk])))
    assert "could judge it and did not find it; it was judged by limits of your own, see below." in words
