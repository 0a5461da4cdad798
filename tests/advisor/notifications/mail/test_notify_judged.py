"""What is told of an audit that could not judge all, of the first one, and of a capture that is judged anew."""

import re

from advisor.audits.models import Audit
from advisor.notifications.models import Mail, Recipient, Told
from advisor.notifications.services import notify
from advisor.systems.models import System
from tests.advisor.keeping import keeps
from tests.advisor.notifications.mail.hearing import (
    another_capture,
    audited_again,
    content,
    hearer,
    kinds,
    mails,
    text_of,
    was,
)
from tests.advisor.people import People
from tests.advisor.seen import LIMIT

shared = keeps("address_lock_storm")

RULE = "ase/address_lock_spinlock_contended"
COLLECTED_BY = "sp_sysmon '00:10:00'"


def blind(audit: Audit, *, told: bool = True) -> Audit:
    """A further capture in which the rule of the worst finding could not judge; `told`: its summary says so first."""
    made = another_capture(audit)
    if any(key.startswith(RULE) for key in made.findings_digest):
        was(made, address_lock_spinlock_contended=None)
    made.findings.filter(rule=RULE).delete()
    others = [one for one in made.verdicts if one["rule"] != RULE]
    verdict = {
        "rule": RULE,
        "verdict": "unknown",
        "why": "",
        "missing": [{"fact": "x", "why": "", "bring": COLLECTED_BY}],
    }
    collect = [{"command": COLLECTED_BY, "settles": [RULE]}]
    summary = {**made.summary, "collect": [*(collect if told else ()), *made.summary["collect"]][:3]}
    Audit.objects.filter(pk=made.pk).update(unjudged=[RULE], verdicts=[*others, verdict], summary=summary)
    return Audit.objects.get(pk=made.pk)


def test_what_is_not_judged_any_more_is_told_once_and_once_it_is_judged_again(
    people: People, storm: System, storm_audit: Audit
) -> None:
    hearer(people)
    first = blind(storm_audit, told=False)
    notify.notify(storm.pk)
    (mail,) = mails()
    assert (mail.kind, mail.audit) == ("report", first)
    assert "(1 no longer judged)" in mail.subject
    assert COLLECTED_BY in text_of(mail)
    assert Told.objects.get().mailed == first
    second = blind(first)
    notify.notify(storm.pk)
    assert len(mails()) == 1
    another_capture(second)
    notify.notify(storm.pk)
    assert len(mails()) == 2
    assert "(1 judged again)" in mails()[-1].subject


def test_what_is_not_judged_below_the_level_is_no_report(people: People, storm: System, storm_audit: Audit) -> None:
    was(storm_audit, address_lock_spinlock_contended=2)
    hearer(people, heartbeat=True)
    blind(storm_audit)
    notify.notify(storm.pk)
    (mail,) = mails()
    assert mail.kind == "heartbeat"
    assert "no change from warning on; below it 1 no longer judged" in mail.subject


def test_no_heartbeat_says_that_nothing_changed_where_not_all_was_judged(
    people: People, storm: System, storm_audit: Audit
) -> None:
    hearer(people, heartbeat=True)
    first = blind(storm_audit)
    notify.notify(storm.pk)
    blind(first)
    notify.notify(storm.pk)
    assert kinds() == ["report", "heartbeat"]
    mail = mails()[-1]
    html = content(mail).get_body(("html",))
    assert html is not None
    for said in (mail.subject, text_of(mail), " ".join(html.get_content().split())):
        assert "nothing changed" not in said.lower().replace("a line when nothing changed", "")
        assert "Nothing was found" not in said
        assert "no change where it could be judged" in said
    assert re.search(r"[0-9]+ could not be judged", text_of(mail))
    assert COLLECTED_BY in text_of(mail)


def test_a_heartbeat_of_an_audit_that_judged_nothing_says_so(people: People, storm: System) -> None:
    hearer(people, heartbeat=True)
    Audit.objects.update(findings_digest={}, worst=0)
    made = another_capture(Audit.objects.get())
    verdicts = [{**one, "verdict": "unknown"} for one in made.verdicts]
    Audit.objects.filter(pk=made.pk).update(findings_digest={}, counts={}, worst=0, verdicts=verdicts)
    notify.notify(storm.pk)
    assert mails()[-1].subject.startswith("CLAIMS1: nothing could be judged, 0 rules judged, ")
    assert "Nothing was found" not in text_of(mails()[-1])
    assert "since the capture" not in text_of(mails()[-1])


def test_a_capture_that_is_judged_anew_is_no_heartbeat_unless_limits_changed_something(
    people: People, storm: System, storm_audit: Audit
) -> None:
    hearer(people, heartbeat=True)
    audited_again(storm)
    notify.notify(storm.pk)
    assert kinds() == []
    limited = audited_again(storm)
    was(limited, address_lock_spinlock_contended=None)
    Audit.objects.filter(pk=limited.pk).update(limits={LIMIT: 99.5}, why="limits changed")
    notify.notify(storm.pk)
    (mail,) = mails()
    assert mail.kind == "heartbeat"
    assert mail.subject.startswith("CLAIMS1: 1 by another limit, ")
    assert "The same capture as reported before, judged again (limits changed)." in text_of(mail)


def test_the_heartbeat_of_the_first_audit_calls_it_the_first(people: People, storm: System, storm_audit: Audit) -> None:
    one = hearer(people, heartbeat=True, severity=4)
    Told.objects.all().delete()
    Recipient.objects.update(created=storm.created)
    Audit.objects.filter(pk=storm_audit.pk).update(findings_digest={}, worst=0)
    notify.notify(storm.pk)
    (mail,) = Mail.objects.filter(recipient=one)
    assert mail.subject.startswith("CLAIMS1: first audit, ")
    assert "nothing changed" not in text_of(mail).replace("a line when nothing changed", "")
