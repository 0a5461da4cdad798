"""The week of a fleet, "nothing changed", and "not audited"."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from pytest_django import DjangoAssertNumQueries, DjangoCaptureOnCommitCallbacks

from advisor.audits.models import Audit, Capture
from advisor.notifications.mail.digest import digest_message
from advisor.notifications.mail.heartbeat import heartbeat_message
from advisor.notifications.mail.not_audited import not_audited_message
from advisor.notifications.mail.report import report_message
from advisor.notifications.models import Recipient
from advisor.schedules.models import Schedule
from advisor.schedules.services.failures import Missing
from advisor.systems.models import System
from advisor.uploads.models import Upload
from tests.advisor.notifications.mail.hearing import another_capture
from tests.advisor.notifications.mail.letter_parts import audits_of, bring_storms, parts, recipient_of
from tests.advisor.people import People

NOW = datetime(2026, 2, 16, 7, tzinfo=UTC)
WHY, DO = "run 3 of nightly: /srv/drop cannot be read: no such directory", "Mount it again, then run the schedule now"


@pytest.fixture
def told(people: People) -> Recipient:
    return recipient_of(people, digest=True)


def fleet(people: People, count: int) -> list[System]:
    """Systems with an audit each, the worst of every fourth one critical, of the others lower."""
    long_ago = NOW - timedelta(days=30)
    systems = [
        System(team=people.team, product="ase", name=f"SYS{n:04}", key=f"SYS{n:04}", created=long_ago)
        for n in range(count)
    ]
    System.objects.bulk_create(systems)
    captures = [Capture(system=one, taken=NOW - timedelta(hours=1)) for one in systems]
    Capture.objects.bulk_create(captures)
    audits = [
        Audit(capture=one, system=one.system, worst=4 - n % 4, headline=f"Finding of {one.system}: " + "words " * 20)
        for n, one in enumerate(captures)
    ]
    Audit.objects.bulk_create(audits)
    for system, audit in zip(systems, audits, strict=True):
        system.latest = audit
        system.trend = [[f"2026-02-{day:02}", day % 7 + audit.worst, audit.worst] for day in range(1, 29)]
    System.objects.bulk_update(systems, ["latest", "trend"])
    return systems


def rows_of(text: str) -> list[str]:
    """The lines of the table."""
    return [line for line in lines_of(text) if not line.startswith("  ")]


def lines_of(text: str) -> list[str]:
    """The lines of the table, with the second line of each system that has one."""
    table = text.split("CAPTURED\n", 1)[1].split("\n", 1)[1]
    return table.split("\n\n")[0].split("\nand ")[0].splitlines()


def test_a_digest_has_a_line_a_system_the_worst_first(people: People, told: Recipient) -> None:
    fleet(people, 6)
    found = parts(digest_message(told, NOW))
    rows = rows_of(found.text)
    assert [row[:7] for row in rows] == ["SYS0000", "SYS0004", "SYS0001", "SYS0005", "SYS0002", "SYS0003"]
    assert rows[0].split()[:2] == ["SYS0000", "critical"]
    assert all(len(row) <= 72 for row in rows)
    places = [found.html.index(f">{row[:7]}<") for row in rows]
    assert places == sorted(places)


def test_its_head_counts(people: People, told: Recipient) -> None:
    fleet(people, 6)
    letter = digest_message(told, NOW)
    assert letter.subject == "Claims: 6 systems, 2 critical, 2 warning, 1 advice, 1 note"
    assert "6 systems: 2 critical, 2 warning, 1 advice, 1 note." in parts(letter).text


def test_what_was_never_audited_is_not_counted_as_healthy(people: People, told: Recipient) -> None:
    System.objects.create(team=people.team, product="ase", name="NEW1", key="NEW1")
    found = parts(digest_message(told, NOW))
    assert "1 system: 1 never audited." in found.text
    assert rows_of(found.text)[0].split()[:2] == ["NEW1", "never"]
    assert "never audited" in found.html
    assert "no findings" not in found.html


def test_nothing_found_is_no_praise_where_rules_could_not_judge(people: People, told: Recipient) -> None:
    fleet(people, 1)
    Audit.objects.update(worst=0, headline="", unjudged=["ase/some_rule"])
    found = parts(digest_message(told, NOW))
    assert "1 rule could not judge" in found.html
    assert "no findings" not in found.html
    assert "1 system: 1 with nothing found, not all judged." in found.text
    assert "1 with nothing found, not all judged." in found.html
    assert found.mail["Subject"] == "Claims: 1 system, nothing found, not all judged"
    Audit.objects.update(unjudged=[])
    found = parts(digest_message(told, NOW))
    assert "no findings" in found.html
    assert "1 system: 1 without a finding." in found.text


def test_less_is_no_improvement_where_rules_could_not_judge(people: People, told: Recipient) -> None:
    fleet(people, 1)
    System.objects.update(trend=[["2026-02-01", 4.0, 4], ["2026-02-02", 1.0, 1]])
    assert " down " in rows_of(parts(digest_message(told, NOW)).text)[0]
    Audit.objects.update(unjudged=["ase/some_rule"])
    found = parts(digest_message(told, NOW))
    assert " down " not in rows_of(found.text)[0]
    assert ": down" not in found.html
    System.objects.update(trend=[["2026-02-01", 1.0, 1], ["2026-02-02", 4.0, 4]])
    assert " up " in rows_of(parts(digest_message(told, NOW)).text)[0]


def test_the_text_names_the_worst_finding_and_what_was_not_judged(people: People, told: Recipient) -> None:
    fleet(people, 1)
    Audit.objects.update(unjudged=["ase/some_rule", "ase/another"])
    second = lines_of(parts(digest_message(told, NOW)).text)[1]
    assert second.startswith("  not judged 2; Finding of SYS0000: words")
    assert len(second) <= 72
    Audit.objects.update(unjudged=[], headline="", worst=0)
    assert len(lines_of(parts(digest_message(told, NOW)).text)) == 1


def test_what_changed_stands_whole_in_the_text(people: People, told: Recipient) -> None:
    system = fleet(people, 1)[0]
    before: dict[str, int] = {}
    after: dict[str, int] = {}
    for n in range(10):
        before |= {f"r/gone:{n}": 4, f"r/worse:{n}": 3, f"r/better:{n}": 4, f"r/blind:{n}": 4, f"r/limits:{n}": 4}
        after |= {f"r/new:{n}": 4, f"r/worse:{n}": 4, f"r/better:{n}": 3}
    then = Audit.objects.create(
        capture=Capture.objects.get(), system=system, findings_digest=before, shown=NOW - timedelta(days=9)
    )
    Audit.objects.exclude(pk=then.pk).update(
        findings_digest=after, unjudged=["r/blind"], limits={"r/limits.percent": 5}, shown=NOW
    )
    told.digest_told = NOW - timedelta(days=7)
    found = parts(digest_message(told, NOW + timedelta(minutes=1)))
    assert "  changed +10 ^10 v10 -10 ~10 ?10; not judged 1; Finding of" in lines_of(found.text)[1]
    assert "Changed: + new, ^ worse, v better, - gone, ~ by another limit, ? no longer judged" in " ".join(
        found.text.split()
    )
    assert found.too_long == []


def test_a_system_that_is_new_is_not_counted_as_changed(people: People, told: Recipient) -> None:
    fleet(people, 3)
    System.objects.filter(name="SYS0001").update(created=NOW - timedelta(days=1))
    letter = digest_message(told, NOW)
    assert letter.subject.startswith("Claims: 3 systems, 1 new, 1 critical")
    assert "0 changed in this time, 1 new." in parts(letter).text
    assert "0 changed in this time, 1 new." in parts(letter).html


def test_the_day_of_a_line_is_called_that_of_the_capture(people: People, told: Recipient) -> None:
    fleet(people, 1)
    found = parts(digest_message(told, NOW))
    assert "last audit" not in (found.html + found.text).lower()
    assert "captured 2026-02-16" in found.html


def test_what_is_not_audited_stands_on_top(people: People, told: Recipient) -> None:
    last = fleet(people, 4)[-1]
    System.objects.filter(pk=last.pk).update(troubled=NOW - timedelta(days=2), trouble=f"{WHY}\n{DO}")
    letter = digest_message(told, NOW)
    found = parts(letter)
    assert "1 not audited" in letter.subject
    assert f"{last.name}: since 2026-02-14 07:00; {WHY}" in " ".join(found.text.split())
    assert rows_of(found.text)[0].startswith(last.name)
    assert "Not audited since 2026-02-14 07:00" in found.html


def test_a_digest_is_about_the_systems_its_recipient_chose(people: People, told: Recipient) -> None:
    first, *_ = fleet(people, 3)
    told.systems.add(first)
    found = parts(digest_message(told, NOW))
    assert len(rows_of(found.text)) == 1
    assert "SYS0001" not in found.text + found.html


def test_it_tells_what_changed_since_the_last_one(
    people: People, told: Recipient, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        bring_storms(people, [{"34.6 %": " 1.6 %"}, {"31.1 %": " 1.1 %"}])
    first, second = audits_of(System.objects.get(name="CLAIMS1"))
    Audit.objects.filter(pk=first.pk).update(shown=NOW - timedelta(days=9))
    Audit.objects.filter(pk=second.pk).update(shown=NOW)
    System.objects.update(created=NOW - timedelta(days=30))
    told.digest_told = NOW - timedelta(days=7)
    found = parts(digest_message(told, NOW + timedelta(minutes=1)))
    assert "+1 -1" in rows_of(found.text)[0]
    assert "1 new, 1 gone" in found.html


def test_a_trend_is_a_picture_and_a_word(people: People, told: Recipient) -> None:
    fleet(people, 2)
    found = parts(digest_message(told, NOW))
    assert len(found.pictures) == 2
    assert " down " in rows_of(found.text)[0]
    assert 'alt="28 figures: first' in found.html


def test_a_thousand_systems_are_cut_at_three_hundred_and_stay_small(people: People, told: Recipient) -> None:
    fleet(people, 1000)
    letter = digest_message(told, NOW)
    found = parts(letter)
    assert len(rows_of(found.text)) == 300
    assert "and 700 more on the overview" in found.text
    assert "and 700 more on the overview" in found.html
    assert letter.subject.startswith("Claims: 1,000 systems, 250 critical")
    assert len(bytes(found.mail)) < 500_000
    assert found.pictures


def test_a_digest_asks_the_database_as_often_for_many_systems_as_for_few(
    people: People, told: Recipient, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    fleet(people, 60)
    with django_assert_max_num_queries(30):
        digest_message(told, NOW)


def test_nothing_changed_tells_what_was_judged_and_what_stands(people: People, storm_audit: Audit) -> None:
    newer = another_capture(storm_audit)
    for audit in (storm_audit, newer):
        audit.verdicts = [one for one in audit.verdicts if one["verdict"] != "unknown"]
        audit.summary["collect"] = []
        audit.save()
    letter = heartbeat_message(recipient_of(people), newer, storm_audit)
    judged = sum(verdict["verdict"] in ("fired", "clean") for verdict in storm_audit.verdicts)
    assert letter.subject == f"CLAIMS1: nothing changed, {judged} rules judged, 0 not; still 3 critical, 1 warning"
    found = parts(letter)
    assert "CLAIMS1: nothing changed since the capture of 2026-02-11 10:40." in found.text
    assert "Still standing: 3 critical, 1 warning, 2 advice; first: Object\ndescriptor" in found.text
    assert "Still standing: 3 critical, 1 warning, 2 advice; first: Object descriptor" in found.html
    assert len(found.lines) < 30
    newer.summary = {}
    Recipient.objects.all().delete()
    before = parts(heartbeat_message(recipient_of(people), newer, storm_audit)).text
    assert "2 advice; worst: Object\ndescriptor" in before, "an audit of before has no verdict"


def test_nothing_changed_is_not_said_where_a_figure_of_the_account_did(
    people: People, bring: Callable[..., Upload]
) -> None:
    bring("payroll_page_locks")
    audit = Audit.objects.get()
    newer = another_capture(audit)
    newer.account[0]["lost"][0]["amount"] += 0.5
    told = recipient_of(people)
    for message in (heartbeat_message, report_message):
        found = parts(message(told, newer, audit))
        for said in (found.mail["Subject"], found.text, found.html):
            assert "othing changed" not in said
    assert "No finding changed; figures did.\nprocessors lost: 2.64 of 8 CPUs -> 3.14 of 8 CPUs\n" in found.text
    assert "No finding changed; figures did." in found.html
    assert "<b>3.14 of 8 CPUs</b>" in found.html
    same = parts(report_message(told, another_capture(audit), audit))
    assert "Nothing changed." in same.text
    assert "processors lost:" not in same.text


def test_a_digest_tells_the_verdict_of_a_system(people: People, told: Recipient) -> None:
    fleet(people, 1)
    Audit.objects.update(summary={"verdict": "2.64 of 8 CPUs (33 %) are lost.", "do": [], "collect": []})
    found = parts(digest_message(told, NOW))
    assert lines_of(found.text)[1] == "  2.64 of 8 CPUs (33 %) are lost."
    assert "2.64 of 8 CPUs (33 %) are lost." in found.html
    assert "Finding of" not in found.html


def test_nothing_changed_of_a_healthy_system_tells_its_last_finding(people: People, storm_audit: Audit) -> None:
    calm = another_capture(storm_audit)
    calm.verdicts = [{**one, "verdict": "clean"} for one in storm_audit.verdicts]
    calm.worst, calm.counts, calm.findings_digest = 0, {}, {}
    calm.findings.all().delete()
    calm.save()
    told = recipient_of(people)
    found = parts(heartbeat_message(told, calm, storm_audit))
    assert "Nothing was found. Last finding: " in found.text
    assert "(2026-02-11 10:40)" in found.text
    storm_audit.findings.all().delete()
    assert "Nothing was found, now or before." in parts(heartbeat_message(told, calm, calm)).text
    calm.verdicts[0]["verdict"] = "unknown"
    found = parts(heartbeat_message(told, calm, calm))
    assert "Nothing was found" not in found.text + found.html
    assert "no change where it could be judged" in found.mail["Subject"]


def test_not_audited_tells_since_when_why_and_what_to_do(people: People, storm: System) -> None:
    letter = not_audited_message(recipient_of(people), Missing(storm, None, NOW, WHY, DO))
    assert letter.subject.startswith("CLAIMS1: not audited since 2026-02-16 07:00; run 3 of nightly: ")
    found = parts(letter)
    for said in (f"Why: {WHY}", f"Do: {DO}", "The last audit was of the capture of 2026-02-11 10:40: 3 critical"):
        assert said in " ".join(found.text.split())
    assert WHY in found.html
    assert DO in found.html
    assert f"http://127.0.0.1:8000/systems/{storm.pk}/" in found.lines


def test_a_schedule_whose_systems_nobody_knows_is_told_of_too(people: People) -> None:
    schedule = Schedule.objects.create(team=people.team, name="Nightly drop", every_minutes=60)
    found = parts(not_audited_message(recipient_of(people), Missing(None, schedule, NOW, WHY, DO)))
    assert found.mail["Subject"].startswith("Nightly drop: not audited since")
    assert f"http://127.0.0.1:8000/schedules/{schedule.pk}/" in found.lines
    assert "never audited" not in found.text


def test_many_systems_at_once_are_one_mail(people: People) -> None:
    missing = [Missing(one, None, NOW, WHY, DO) for one in fleet(people, 60)]
    letter = not_audited_message(recipient_of(people), missing)
    assert letter.subject == "Claims: 60 not audited any more; the first: SYS0000"
    found = parts(letter)
    assert found.text.count("not audited since") == 50
    assert "and 10 more on the overview" in found.text
    assert "and 10 more on the overview" in found.html
