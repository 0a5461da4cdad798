"""The sections of an audit's page: findings as rows, evidence on one scale, the script, what is in order or not."""

import re
from collections.abc import Callable
from datetime import timedelta
from html import unescape
from typing import Any

import pytest

from advisor.audits.models import Audit, Capture
from advisor.audits.services.audit_page import collect_shown, page_of, trend_of
from advisor.findings.models import TrackedFinding
from advisor.notifications.mail.report import report_message
from advisor.uploads.models import Upload
from rules.engine import rules
from rules.missing import parts_lacking
from tests.advisor.keeping import keeps
from tests.advisor.notifications.mail.letter_parts import parts, recipient_of
from tests.advisor.people import AsUser, People, text_of
from tests.advisor.seen import words_of

shared = keeps("address_lock_storm")


def section(page: str, name: str) -> str:
    """One section of the page."""
    return page.split(f'<section id="{name}"', 1)[1].split("</section>", 1)[0]


def test_findings_are_closed_rows_in_the_order_of_the_audit(
    people: People, storm_audit: Audit, as_user: AsUser
) -> None:
    page = text_of(as_user(people.owner), f"/audits/{storm_audit.pk}/")
    rows = re.findall(r'<article class="finding row" id="f(\d+)" data-row>\s*<details>', page)
    assert [int(row) for row in rows] == list(range(storm_audit.findings.count()))
    assert "<details open" not in page


@pytest.mark.usefixtures("nothing_brought")
def test_a_cause_names_what_it_explains_and_that_names_its_causes(
    people: People, bring: Callable[..., Upload], as_user: AsUser
) -> None:
    bring("payroll_page_locks")
    audit = Audit.objects.get()
    shown = page_of(audit)
    hash_table, lckmgr = "openvms/resource_hash_table_undersized:LEWIS", "openvms/spinlock_hot:LEWIS spinlock LCKMGR"
    assert shown.numbers[lckmgr] in shown.effects_of(hash_table)
    assert shown.numbers[hash_table] in shown.causes_of(lckmgr)
    assert [node.finding.number for node in shown.nodes] == list(range(len(shown.findings)))
    page = words_of(text_of(as_user(people.owner), f"/audits/{audit.pk}/"))
    effects = ", ".join(str(one) for one in shown.effects_of(hash_table))
    assert f"LEWIS · explains {effects} " in page


def test_the_bars_of_a_finding_have_one_scale(storm_audit: Audit) -> None:
    finding = storm_audit.findings.first()
    assert finding is not None
    one = {**finding.data["evidence"][0], "unit": "%"}
    finding.data["evidence"] = [
        {**one, "metric": "ten times", "value": 100.0, "limit": 10.0},
        {**one, "metric": "half", "value": 5.0, "limit": 10.0},
        {**one, "metric": "no limit", "value": 5.0, "limit": None},
        {**one, "metric": "below zero", "value": -5.0, "limit": 10.0},
        {**one, "metric": "limit of zero", "value": 5.0, "limit": 0.0},
        {**one, "metric": "words", "value": "off", "limit": None},
    ]
    finding.save()
    node = next(one for one in page_of(storm_audit).nodes if one.finding.pk == finding.pk)
    pictures = {evidence["metric"]: picture for evidence, picture in node.evidence}
    assert {name for name, picture in pictures.items() if picture} == {"ten times", "half"}
    widths = {name: re.findall(r'class="value" y="2" width="([\d.]+)%', pictures[name] or "") for name in pictures}
    assert widths["ten times"] == ["90.91"]
    assert widths["half"] == ["4.55"], "a twentieth of the other, as the figures are"
    ticks = {re.findall(r'class="tick" x1="([\d.]+)%', pictures[name] or "")[0] for name in ("ten times", "half")}
    assert ticks == {"9.09"}
    assert "ten times: 10 times the limit 10 %" in (pictures["ten times"] or "")


def test_one_script_collects_what_is_lacking_and_says_what_that_takes(
    people: People, storm_audit: Audit, as_user: AsUser
) -> None:
    shown = collect_shown(storm_audit)
    assert shown is not None
    assert shown.script.startswith("-- Lockwright: collects from SAP ASE CLAIMS1 what an audit still lacks.")
    assert shown.said[0].startswith("Takes about 20 minutes")
    assert any(one.startswith("Changes nothing: it selects") for one in shown.said)
    page = section(text_of(as_user(people.owner), f"/audits/{storm_audit.pk}/"), "collect")
    assert "Takes about 20 minutes" in page
    assert 'data-copy="collect-script">Copy the script</button>' in page
    assert "select @@servername, @@version" in page


@pytest.mark.usefixtures("nothing_brought")
@pytest.mark.parametrize(
    ("story", "begins"),
    [("payroll_page_locks", "$! Lockwright"), ("spinning_for_timers", "/* Lockwright"), ("quiet_zvm_hour", None)],
)
def test_the_script_is_of_the_product_and_there_is_none_where_nothing_lacks(
    bring: Callable[..., Upload], story: str, begins: str | None
) -> None:
    bring(story)
    for audit in Audit.objects.all():
        shown = collect_shown(audit)
        if begins is None:
            assert shown is None
        else:
            assert shown is not None
            assert shown.script.startswith(begins)
            assert any("hanges nothing" in one for one in shown.said)


def test_a_rule_within_limits_of_its_own_is_not_called_in_order(
    people: People, storm_audit: Audit, as_user: AsUser
) -> None:
    clean = [one["rule"] for one in storm_audit.verdicts if one["verdict"] == "clean"]
    storm_audit.limits = {f"{clean[0]}.some_limit": 90.0}
    storm_audit.save()
    page = text_of(as_user(people.owner), f"/audits/{storm_audit.pk}/")
    assert clean[0] in section(page, "own-limits")
    assert clean[0] not in section(page, "in-order")
    assert clean[1] in section(page, "in-order")
    assert f"{len(clean) - 1} rules judged without a finding" in words_of(section(page, "in-order"))


def test_an_audit_by_no_own_limits_has_no_such_section(people: People, storm_audit: Audit, as_user: AsUser) -> None:
    assert 'id="own-limits"' not in text_of(as_user(people.owner), f"/audits/{storm_audit.pk}/")


def earlier(audit: Audit, days: int, **columns: Any) -> None:
    """An audited capture of the same system so many days before."""
    when = audit.capture.taken - timedelta(days=days)
    capture = Capture.objects.create(system=audit.system, taken=when, interval={"end": when.isoformat()[:19]})
    made = Audit.objects.create(capture=capture, system=audit.system, rules_version="0", **columns)
    Capture.objects.filter(pk=capture.pk).update(audit=made)


def test_the_trend_is_of_captures_whose_loss_was_measured(people: People, storm_audit: Audit, as_user: AsUser) -> None:
    storm_audit.processors_lost, storm_audit.capacity = 6.0, 24.0
    storm_audit.save()
    earlier(storm_audit, 3, processors_lost=None, capacity=24.0)
    earlier(storm_audit, 4, processors_lost=2.0, capacity=None)
    assert trend_of(storm_audit) is None, "a single measured capture is no trend"
    earlier(storm_audit, 5, processors_lost=12.0, capacity=24.0)
    trend = trend_of(storm_audit)
    assert trend is not None
    assert (trend.captures, trend.first, trend.since, trend.last) == (2, 0.5, "2026-02-06", 0.25)
    assert "Capacity lost over 2 captures, from 50 % to 25 %" in trend.line
    assert "50 % on 2026-02-06 → 25 %" in words_of(text_of(as_user(people.owner), f"/audits/{storm_audit.pk}/"))
    storm_audit.processors_lost = None
    assert trend_of(storm_audit) is None, "what was not measured has no end of a line"


def test_the_contents_count_what_the_sections_hold(people: People, storm_audit: Audit, as_user: AsUser) -> None:
    page = text_of(as_user(people.owner), f"/audits/{storm_audit.pk}/")
    contents = words_of(page.split('aria-label="Contents"')[1].split("</nav>")[0])
    shown = page_of(storm_audit)
    assert f"Plan {len(shown.plan)} Findings {len(shown.findings)}" in contents
    assert f"In order {len(shown.clean)} Not judged {len(shown.quiet)}" in contents
    for target in re.findall(r'href="#([a-z-]+)"', page.split('aria-label="Contents"')[1].split("</nav>")[0]):
        assert f'id="{target}"' in page
    assert f"Rules judged {storm_audit.rules_run - len(shown.quiet)} of {storm_audit.rules_run}" in words_of(page)


def test_what_is_asked_for_again_says_what_the_uploaded_one_lacks(
    people: People, storm_audit: Audit, as_user: AsUser
) -> None:
    """Its sp_sysmon was uploaded: the command alone would look as if nobody had read it."""
    shown = page_of(storm_audit)
    (command,) = (one for one in shown.lacks if one.startswith("sp_sysmon"))
    assert "the section Procedure Cache Management" in shown.lacks[command]
    text = words_of(text_of(as_user(people.colleague), f"/audits/{storm_audit.pk}/"))
    assert "What was uploaded of it lacks: " in text
    assert "; ".join(shown.lacks[command][:3]) in text
    assert not any(one.startswith("sp_cacheconfig") for one in shown.lacks), "nothing of it was uploaded"


@pytest.mark.usefixtures("nothing_brought")
def test_the_mail_says_it_as_well(people: People, bring: Callable[..., Upload]) -> None:
    bring("prices_locked_as_a_table")
    audit = Audit.objects.get()
    lacks = page_of(audit).lacks
    mail = parts(report_message(recipient_of(people, severity=1), audit, None))
    told = [one for one in lacks.values() if "; ".join(one[:3]) in " ".join(mail.text.split())]
    assert told, "the mail asks for some of it again"
    for part in told:
        for text in (" ".join(mail.text.split()), words_of(mail.html)):
            assert f"What was uploaded of it lacks: {'; '.join(part[:3])}" in text


def test_the_page_of_a_finding_says_what_would_tell_more_of_it(
    people: People, storm_audit: Audit, as_user: AsUser
) -> None:
    verdict = next(one for one in storm_audit.verdicts if one["verdict"] == "fired" and one["missing"])
    command = verdict["missing"][0]["bring"]
    row = TrackedFinding.objects.get(rule=verdict["rule"])

    def told() -> str:
        text = unescape(words_of(text_of(as_user(people.colleague), f"/findings/{row.pk}/")))
        return text[text.index("What would tell more of it:") :]

    assert all(one["bring"] in told() for one in verdict["missing"])
    assert "What was uploaded of it lacks" not in told(), "nothing of it was uploaded"
    verdict["missing"][0]["fact"] = f"ase.A: not in the output of {command} that was collected"
    storm_audit.save()
    assert "What was uploaded of it lacks: figures that these rules need." in told()


@pytest.mark.usefixtures("nothing_brought")
def test_no_page_and_no_mail_names_a_rule_by_its_id_in_a_sentence(
    people: People, bring: Callable[..., Upload], as_user: AsUser
) -> None:
    """LEWIS has texts that lead to other rules: pages lead to the finding or the rule by a link with its title."""
    bring("payroll_page_locks")
    ids = {one.id for one in rules()}
    audit = Audit.objects.get(system__name="LEWIS")
    stored = " ".join(one.data["says"] for one in audit.findings.all()) + str(audit.verdicts)
    assert re.search(r"[ (]openvms/[a-z_]+[ ,.)]", stored), "the story has such a text"
    carl = as_user(people.colleague)
    addresses = [f"/audits/{audit.pk}/", f"/audits/{audit.pk}/cpus/", f"/audits/{audit.pk}/cluster/"]
    addresses += [f"/findings/{row.pk}/" for row in TrackedFinding.objects.filter(system=audit.system)]
    for address in addresses:
        page = text_of(carl, address).partition("<main")[2]
        page = re.sub(r"<(code|pre|option|select)\b.*?</\1>", " ", page, flags=re.DOTALL)
        assert not set(re.findall(r"\b[a-z]+/[a-z_]+\b", words_of(page))) & ids, address
    found = audit.findings.get(rule="openvms/spinlock_hot")
    link = re.search(r'<a href="#f(\d+)">finding (\d+)</a>', text_of(carl, addresses[0]))
    assert link
    assert int(link[2]) == int(link[1]) + 1
    assert found.data["do"]
    mail = parts(report_message(recipient_of(people, severity=1), audit, None)).text
    assert not set(re.findall(r"\b[a-z]+/[a-z_]+\b", mail)) & ids


def test_a_table_without_rows_and_a_part_without_a_name_are_said() -> None:
    missing = [
        {"fact": "ase.A: monLocks was collected and has no rows", "bring": "select * from master..monLocks"},
        {"fact": "ase.B: not in the output of sp_lock that was collected", "bring": "sp_lock"},
        {"fact": "ase.C", "bring": "sp_who"},
    ]
    assert parts_lacking(missing) == {
        "select * from master..monLocks": ["rows"],
        "sp_lock": ["figures that these rules need"],
    }
