"""The report a DBA gets after an audit."""

import html
import re
from collections.abc import Callable
from contextlib import closing

import pytest
from pytest_django import DjangoCaptureOnCommitCallbacks

from advisor.audits.models import Audit
from advisor.core.models import Site
from advisor.notifications.backends import OutboxBackend
from advisor.notifications.mail import message as mail_message
from advisor.notifications.mail.heartbeat import heartbeat_message
from advisor.notifications.mail.report import report_message
from advisor.notifications.models import Recipient
from advisor.systems.models import System
from advisor.uploads.models import Upload
from rules.titles import title_of
from tests.advisor.keeping import keeps
from tests.advisor.notifications.mail import mail_servers
from tests.advisor.notifications.mail.letter_parts import (
    HOSTILE,
    Parts,
    audits_of,
    bring_storms,
    parts,
    recipient_of,
    taken_apart,
    tree,
)
from tests.advisor.notifications.mail.mail_servers import Postbox, Serve
from tests.advisor.people import People

shared = keeps("address_lock_storm")

serve = mail_servers.serve

CALM_OBJECTS = {"34.6 %": " 1.6 %"}
CLEAN = {"rule": "ase/some_rule", "verdict": "clean", "why": "", "missing": []}
CALM_INDEXES = {"31.1 %": " 1.1 %"}
SUBJECT_OF_CHANGES = "CLAIMS1: 2 critical, 1 warning (1 new, 1 gone); worst: Object descriptor..."


@pytest.fixture
def told(people: People) -> Recipient:
    return recipient_of(people)


@pytest.fixture
def two_days(people: People, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks) -> list[Audit]:
    """Of CLAIMS1: on the first day all is calm about objects, on the second about indexes."""
    with django_capture_on_commit_callbacks(execute=True):
        bring_storms(people, [CALM_OBJECTS, CALM_INDEXES])
    return audits_of(System.objects.get(name="CLAIMS1"))


def after(text: str, word: str) -> list[str]:
    """The lines under `word:` in what changed."""
    lines = text.split(f"\n{word}:\n", 1)[1].splitlines()
    return [line.strip() for line in lines[: next(n for n, line in enumerate(lines) if not line.startswith("  "))]]


def of_two_days(told: Recipient, two_days: list[Audit]) -> Parts:
    return parts(report_message(told, two_days[1], two_days[0]))


def test_the_subject_says_system_count_and_worst(told: Recipient, storm_audit: Audit) -> None:
    subject = report_message(told, storm_audit, None).subject
    assert subject == "CLAIMS1: 3 critical, 1 warning (first audit); worst: Object descriptor..."
    assert len(subject) <= 78


@pytest.mark.usefixtures("nothing_brought")
def test_the_subject_of_changes_says_what_changed(told: Recipient, two_days: list[Audit]) -> None:
    assert report_message(told, two_days[1], two_days[0]).subject == SUBJECT_OF_CHANGES


@pytest.mark.usefixtures("nothing_brought")
def test_the_subject_says_when_nothing_is_left(told: Recipient, two_days: list[Audit]) -> None:
    calm = Audit.objects.create(capture=two_days[1].capture, system=two_days[1].system, verdicts=[CLEAN, CLEAN])
    found = report_message(told, calm, two_days[0])
    assert found.subject == "CLAIMS1: 3 gone; no findings from warning on, 2 rules judged"
    assert "CLAIMS1: no findings from warning on, 2 rules judged" in parts(found).text
    told.severity = 1
    assert "; no findings, 2 rules judged" in report_message(told, calm, two_days[0]).subject


@pytest.mark.usefixtures("nothing_brought")
def test_who_wants_everything_reads_the_counts_in_the_subject(people: People, two_days: list[Audit]) -> None:
    everything = recipient_of(people, everything=True)
    assert report_message(everything, two_days[1], two_days[0]).subject == SUBJECT_OF_CHANGES


def test_a_system_that_is_audited_again_says_so(told: Recipient, storm_audit: Audit) -> None:
    since = "It was not audited since 2026-02-09 10:40."
    found = report_message(told, storm_audit, None, after_trouble=since)
    assert found.subject.startswith("CLAIMS1: audited again; 3 critical, 1 warning; worst: ")
    again = parts(found)
    assert f"It is audited again. {since}" in again.text
    assert f"It is audited again. {since}" in again.html


@pytest.mark.usefixtures("nothing_brought")
def test_each_finding_stands_under_the_word_for_what_became_of_it(told: Recipient, two_days: list[Audit]) -> None:
    text = of_two_days(told, two_days).text
    assert after(text, "new") == ["CRITICAL: Object descriptor spinlocks 34.6 % contended"]
    assert after(text, "gone") == ["CRITICAL: Index descriptor spinlocks 31.1 % contended"]
    assert after(text, "still")[0] == "CRITICAL: Address lock hash table spinlocks 52.3 % contended"
    assert "WHAT CHANGED SINCE THE CAPTURE OF 2026-02-11 10:40" in text


@pytest.mark.usefixtures("nothing_brought")
def test_worse_and_better_say_what_it_was(told: Recipient, two_days: list[Audit]) -> None:
    first, second = two_days
    key = next(key for key in second.findings_digest if "object_descriptor" in key)
    first.findings_digest[key] = 3
    assert after(parts(report_message(told, second, first)).text, "worse") == [
        "CRITICAL: Object descriptor spinlocks 34.6 % contended (was warning)"
    ]


@pytest.mark.usefixtures("nothing_brought")
def test_what_another_limit_or_a_lacking_fact_did_is_no_change_of_the_server(
    told: Recipient, two_days: list[Audit]
) -> None:
    first, second = two_days
    gone = next(key for key in first.findings_digest if "index_descriptor" in key)
    new = next(key for key in second.findings_digest if "object_descriptor" in key)
    second.unjudged.append(gone.split(":")[0])
    second.limits[f"{new.split(':')[0]}.contended_percent"] = 4.0
    text = parts(report_message(told, second, first)).text
    assert after(text, "no longer judged") == ["CRITICAL: Index descriptor spinlocks 31.1 % contended"]
    assert after(text, "by another limit") == ["CRITICAL: Object descriptor spinlocks 34.6 % contended"]
    assert "\nnew:\n" not in text
    assert "\ngone:\n" not in text


@pytest.mark.usefixtures("nothing_brought")
def test_what_changed_below_the_level_is_not_told(people: People, two_days: list[Audit]) -> None:
    first, second = two_days
    lowest = min(second.findings_digest, key=lambda key: second.findings_digest[key])
    del first.findings_digest[lowest]
    assert second.findings_digest[lowest] < 3
    text = parts(report_message(recipient_of(people), second, first)).text
    assert after(text, "new") == ["CRITICAL: Object descriptor spinlocks 34.6 % contended"]


@pytest.mark.usefixtures("nothing_brought")
def test_findings_stand_in_the_order_and_under_the_numbers_of_the_page(told: Recipient, two_days: list[Audit]) -> None:
    titles = [line for line in of_two_days(told, two_days).lines if line[:2] in ("1.", "2.", "3.")]
    assert titles[0] == "1. CRITICAL, new: Object descriptor spinlocks 34.6 % contended"
    assert titles[1].startswith("2. WARNING: Tasks wait for allpages tables")
    assert titles[2] == "3. CRITICAL: Address lock hash table spinlocks 52.3 % contended"
    numbers = [one.number + 1 for one in two_days[1].findings.filter(severity__gte=3).order_by("number")]
    assert numbers == [1, 2, 3]


def test_findings_below_the_level_are_counted_and_not_told(told: Recipient, storm_audit: Audit) -> None:
    found = parts(report_message(told, storm_audit, None))
    advice = [one.title for one in storm_audit.findings.filter(severity__lt=3)]
    assert len(advice) == 2
    assert "2 findings below warning are on the page of the audit." in found.text
    assert not any(title[:40] in found.text or title in found.html for title in advice)


def test_three_findings_are_told_and_the_others_behind_a_link(people: People, storm_audit: Audit) -> None:
    found = parts(report_message(recipient_of(people, severity=1), storm_audit, None))
    told = [line for line in found.lines if re.match(r"\d+\. ", line)]
    assert [line[:3] for line in told] == ["1. ", "2. ", "3. "]
    link = f"http://127.0.0.1:8000/audits/{storm_audit.pk}/#findings"
    assert f"and 3 more from note on, here:\n{link}\n" in found.text
    assert f'<a href="{link}"' in found.html
    assert "and 3 more from note on" in found.html


def test_a_finding_tells_its_first_figure_with_the_limit(told: Recipient, storm_audit: Audit) -> None:
    found = parts(report_message(told, storm_audit, None))
    figure = "object descriptor spinlock contention 34.6 %, limit 3"
    assert f"1. CRITICAL: Object descriptor spinlocks 34.6 % contended\n   {figure}\n" in found.text
    assert figure in found.html
    assert 'sp_configure "' not in found.text, "scripts are attached, and stand on the page"


def test_what_to_do_says_step_change_effect_and_undo(told: Recipient, storm_audit: Audit) -> None:
    found = parts(report_message(told, storm_audit, None))
    words = " ".join(found.text.split())
    assert " 2 Next restart: lock address spinlock ratio 100 -> 5 number of address lock hash table spinlocks" in words
    assert ": 11 -> 207 (arithmetic); undo: back to 100, next restart" in words
    assert "lock address spinlock ratio 100 → 5" in found.html
    assert "Undo: back to 100, next restart" in found.html


@pytest.mark.usefixtures("nothing_brought")
def test_it_opens_with_the_verdict_and_the_account(told: Recipient, bring: Callable[..., Upload]) -> None:
    bring("payroll_page_locks")
    audit = Audit.objects.get()
    letter = report_message(told, audit, None)
    assert letter.subject == "LEWIS: 2.64 of 8 CPUs (33 %) lost (first audit); worst: 19.2 resources per..."
    found = parts(letter)
    assert found.text.startswith("LEWIS: 2.64 of 8 CPUs (33 %) are lost")
    assert " ".join(found.text.split()).startswith(f"LEWIS: {audit.summary['verdict']}")
    order = ["WHERE 8 CPUS GO, ON AVERAGE", "This is the first audit", "WHAT TO DO", "FINDINGS FROM", "WHAT TO COLLECT"]
    assert sorted(order, key=found.text.index) == order
    assert "\n     2.64  xxxxxxxx                  MP synchronization (spinlock wait)," in found.text
    assert "   2.64 CPUs lost; mean chain at the peak 19.2 resources per bucket," in found.text
    assert "   counted in 1; LCKMGR spin 238 % of one CPU, limit 10" in found.text
    alt = re.search(r'alt="(Where 8 CPUs go, on average: [^"]*)"', found.html)
    assert alt
    assert "2.64 MP synchronization (spinlock wait), LCKMGR (finding 4, caused by finding 1)" in alt[1]


@pytest.mark.usefixtures("nothing_brought")
def test_the_subject_is_one_safe_line_whatever_the_account_says(told: Recipient, bring: Callable[..., Upload]) -> None:
    bring("payroll_page_locks")
    audit = Audit.objects.get()
    audit.account[0]["lost"][0]["what"] = audit.summary["verdict"] = HOSTILE
    audit.headline = HOSTILE
    found = parts(report_message(told, audit, None))
    assert found.mail["Subject"] == "LEWIS: 2.64 of 8 CPUs (33 %) lost (first audit)..."
    assert len(found.mail["Subject"]) <= 78
    assert found.mail["Bcc"] is None
    assert "<script" not in found.html


def test_where_the_account_tells_nothing_the_subject_counts(told: Recipient, storm_audit: Audit) -> None:
    assert storm_audit.account[0]["undivided"]
    assert report_message(told, storm_audit, None).subject.startswith("CLAIMS1: 3 critical, 1 warning (first audit)")


def test_an_audit_of_before_is_told_without_account_and_verdict(told: Recipient, storm_audit: Audit) -> None:
    storm_audit.account, storm_audit.summary, storm_audit.processors_lost = [], {}, 1.5
    found = parts(report_message(told, storm_audit, None))
    assert found.text.startswith("CLAIMS1: 3 critical, 1 warning\n")
    assert "Processors lost: 1.5" in found.text
    assert not found.pictures
    assert "WHAT TO COLLECT NEXT" in found.text, "what the rules lack that could not judge"


def test_each_finding_has_a_link_to_it(told: Recipient, storm_audit: Audit) -> None:
    found = parts(report_message(told, storm_audit, None))
    for one in storm_audit.findings.filter(severity__gte=3).order_by("number")[:3]:
        link = f"http://127.0.0.1:8000/audits/{storm_audit.pk}/#f{one.number}"
        assert link in found.lines
        assert f'href="{link}"' in found.html


@pytest.mark.usefixtures("nothing_brought")
def test_what_to_collect_comes_with_the_command_and_what_it_settles(
    told: Recipient, bring: Callable[..., Upload]
) -> None:
    bring("lock_manager_on_a_busy_core")
    latest = System.objects.get(name="OSLO").latest
    assert latest is not None
    found = parts(report_message(told, latest, None))
    first = latest.summary["collect"][0]
    assert f"\n  {first['command'][:40]}" in found.text
    assert f"\n      settles: {title_of(first['settles'][0])[:40]}" in found.text
    assert first["settles"][0] not in found.text + found.html, "people know titles"
    assert first["command"] in html.unescape(found.html)
    silent = sum(verdict["verdict"] in ("unknown", "untrusted", "broken") for verdict in latest.verdicts)
    assert f"{silent} rules could not judge; " in found.text
    assert f"http://127.0.0.1:8000/audits/{latest.pk}/#not-judged" in found.lines


def test_a_report_counts_what_was_judged_and_in_order(told: Recipient, storm_audit: Audit) -> None:
    judged = sum(verdict["verdict"] in ("fired", "clean") for verdict in storm_audit.verdicts)
    in_order = sum(verdict["verdict"] == "clean" for verdict in storm_audit.verdicts)
    words = " ".join(parts(report_message(told, storm_audit, None)).text.split())
    assert f"{judged} rules judged, {in_order} of them found all in order." in words


def test_the_mail_says_how_it_comes_about_and_how_to_end_it(told: Recipient, storm_audit: Audit) -> None:
    found = parts(report_message(told, storm_audit, None))
    why = "ops@example.org is a recipient of the team Claims (every system): reports when something changed"
    assert why in " ".join(found.text.split())
    assert why in found.html
    unsubscribe = found.mail["List-Unsubscribe"].strip().strip("<>")
    assert unsubscribe in found.lines
    assert f'href="{unsubscribe}"' in found.html


def test_the_words_for_days_and_systems_are_those_chosen(people: People, storm: System) -> None:
    chosen = recipient_of(people, days=[0, 1, 2, 3, 4], everything=True, severity=4)
    chosen.systems.add(storm)
    assert mail_message.why(chosen).startswith(
        "ops@example.org is a recipient of the team Claims (CLAIMS1): reports after every audit, "
        "findings from critical on, Monday to Friday"
    )


@pytest.mark.usefixtures("nothing_brought")
def test_mails_about_one_system_are_one_thread_of_each_recipient(people: People, two_days: list[Audit]) -> None:
    told = recipient_of(people)
    first, second = (parts(report_message(told, one, None)).mail for one in two_days)
    quiet = parts(heartbeat_message(told, two_days[1], two_days[0])).mail
    assert first["References"] == second["References"] == quiet["References"] == first["In-Reply-To"]
    told.delete()
    assert parts(report_message(recipient_of(people), two_days[0], None)).mail["References"] != first["References"]


def test_no_machine_answers_and_every_mail_program_can_unsubscribe(told: Recipient, storm_audit: Audit) -> None:
    mail = parts(report_message(told, storm_audit, None)).mail
    assert mail["Auto-Submitted"] == "auto-generated"
    assert mail["Precedence"] == "bulk"
    assert mail["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert mail["List-Id"] == f"<team-{told.team_id}.lockwright.127.0.0.1>"
    assert mail["X-Lockwright-System"] == "CLAIMS1"


def test_pictures_lie_beside_the_html_and_files_beside_both(told: Recipient, two_days: list[Audit]) -> None:
    inner = ["multipart/alternative", "text/plain", "text/html"]
    found = of_two_days(told, two_days)
    pictures = ["image/png"] * len(found.pictures)
    assert len(found.pictures) == 1
    assert tree(found.mail) == ["multipart/mixed", ["multipart/related", inner, *pictures], "text/plain", "text/plain"]
    assert all(f'src="cid:{cid}"' in found.html for cid in found.pictures)
    told.scripts = False
    assert tree(of_two_days(told, two_days).mail) == ["multipart/related", inner, *pictures]
    assert tree(parts(heartbeat_message(told, two_days[1], two_days[0])).mail) == inner


def test_a_report_arrives_whole_through_a_real_server(told: Recipient, two_days: list[Audit], serve: Serve) -> None:
    box = Postbox()
    site = Site(mail_host="127.0.0.1", mail_port=serve(box), mail_from="advisor@example.org")
    letter = report_message(told, two_days[1], two_days[0])
    with closing(OutboxBackend(site)) as backend:
        backend.send_messages([letter])
    content = box.mails[0].content
    assert isinstance(content, bytes)
    arrived, made = taken_apart(content), parts(letter)
    assert (arrived.text, arrived.html) == (made.text, made.html)
    assert arrived.pictures == made.pictures
    assert arrived.files == made.files
    assert all(picture.startswith(b"\x89PNG") for picture in arrived.pictures.values())


def test_the_text_tells_in_words_what_the_pictures_show(told: Recipient, two_days: list[Audit]) -> None:
    found = of_two_days(told, two_days)
    assert "    22.29  ~~~~~~~~~~~~~~~~~~~~~~    busy with work and spinning, which\n" in found.text
    assert "     1.71  ..                        idle\n" in found.text
    assert "22.29 busy with work and spinning, which these exports cannot tell apart; 1.71 idle." in found.html


def test_a_mail_too_large_loses_its_pictures_first_then_its_files(
    told: Recipient, two_days: list[Audit], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = len(bytes(of_two_days(told, two_days).mail))
    monkeypatch.setattr(mail_message, "MOST_BYTES", whole - 1000)
    found = of_two_days(told, two_days)
    assert (len(found.pictures), len(found.files)) == (0, 2)
    assert "The pictures were left out: this mail would be too large." in found.text
    assert "cid:" not in found.html
    monkeypatch.setattr(mail_message, "MOST_BYTES", len(bytes(found.mail)) - 1000)
    found = of_two_days(told, two_days)
    assert (len(found.pictures), len(found.files)) == (0, 0)
    assert "Pictures and files were left out: this mail would be too large." in " ".join(found.text.split())
    assert f"/audits/{two_days[1].pk}/#plan" in found.text
