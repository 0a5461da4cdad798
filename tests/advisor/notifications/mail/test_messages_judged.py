"""What a report calls new, no longer judged, judged again, first, or the same capture."""

from advisor.audits.models import Audit
from advisor.notifications.mail.report import report_message
from advisor.notifications.models import Recipient
from tests.advisor.notifications.mail import test_messages
from tests.advisor.notifications.mail.letter_parts import parts
from tests.advisor.notifications.mail.test_messages import CLEAN, after, of_two_days

told, two_days = test_messages.told, test_messages.two_days


def test_the_subject_never_takes_what_was_not_judged_for_healthy(told: Recipient, two_days: list[Audit]) -> None:
    key = next(key for key in two_days[0].findings_digest if "index_descriptor" in key)
    two_days[0].findings_digest = {key: 4}
    silent = Audit(capture=two_days[1].capture, system=two_days[1].system, unjudged=[key.split(":")[0]])
    silent.verdicts = [CLEAN, {**CLEAN, "rule": key.split(":")[0], "verdict": "unknown"}]
    silent.save()
    subject = report_message(told, silent, two_days[0]).subject
    assert subject == "CLAIMS1: 1 no longer judged; no findings from warning on, 1 rule judged, 1 not"
    silent.verdicts = silent.verdicts[1:]
    found = report_message(told, silent, silent)
    assert found.subject == "CLAIMS1: nothing could be judged"
    assert "Nothing changed" not in parts(found).text + parts(found).html


def test_what_was_not_judged_before_is_judged_again_and_not_new(told: Recipient, two_days: list[Audit]) -> None:
    first, second = two_days
    new = next(key for key in second.findings_digest if "object_descriptor" in key)
    first.unjudged.append(new.split(":")[0])
    letter = report_message(told, second, first)
    assert "(1 gone, 1 judged again)" in letter.subject
    found = parts(letter)
    assert after(found.text, "judged again") == ["CRITICAL: Object descriptor spinlocks 34.6 % contended"]
    assert "1. CRITICAL, judged again: Object descriptor" in found.text
    assert "\nnew:\n" not in found.text


def test_where_all_stands_as_before_nothing_changed(told: Recipient, two_days: list[Audit]) -> None:
    first, second = two_days
    assert "Nothing changed" not in of_two_days(told, two_days).text
    first.findings_digest = second.findings_digest
    found = of_two_days(told, two_days)
    assert "Nothing changed.\nstill:\n" in found.text
    assert "Nothing changed." in found.html


def test_a_first_audit_is_called_so(told: Recipient, two_days: list[Audit]) -> None:
    first, second = two_days
    letter = report_message(told, first, None)
    assert "(first audit); worst: " in letter.subject
    for text in (parts(letter).text, parts(letter).html):
        assert "This is the first audit of this system: nothing to compare with yet." in text
    letter = report_message(told, second, None)
    assert "first audit" not in letter.subject + parts(letter).text + parts(letter).html


def test_a_capture_judged_anew_is_called_the_same(told: Recipient, two_days: list[Audit]) -> None:
    second = two_days[1]
    anew = Audit.objects.create(capture=second.capture, system=second.system, why="limits changed")
    found = parts(report_message(told, anew, second))
    for text in (found.text, found.html):
        assert "The same capture as reported before, judged again (limits changed)." in text
    assert "WHAT CHANGED SINCE IT WAS JUDGED BEFORE" in found.text
    assert "same capture" not in of_two_days(told, two_days).text
