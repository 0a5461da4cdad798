"""How letters are written: 72 columns of plain text, HTML that needs nothing from elsewhere, and no trust in names."""

import re
from collections.abc import Callable

import pytest
from django.core.mail import EmailMultiAlternatives
from django.utils import timezone

from advisor.audits.models import Audit
from advisor.core.yml import load
from advisor.notifications.mail.digest import digest_message
from advisor.notifications.mail.heartbeat import heartbeat_message
from advisor.notifications.mail.message import (
    cut,
    cut_subject,
    fold,
    fold_query,
    one_line,
    quote,
)
from advisor.notifications.mail.not_audited import not_audited_message
from advisor.notifications.mail.report import report_message
from advisor.notifications.models import Recipient
from advisor.schedules.services.failures import Missing
from advisor.systems.models import System
from advisor.uploads.models import Upload
from tests.advisor.keeping import keeps
from tests.advisor.notifications.mail.letter_parts import HOSTILE, Parts, parts, recipient_of
from tests.advisor.people import STORIES, People
from tests.longer import one_of_each

shared = keeps("address_lock_storm")

WHY, DO = "run 3 of nightly: /srv/drop cannot be read: no such directory", "Mount it again, then run the schedule now"


def every_kind(told: Recipient, system: System) -> list[EmailMultiAlternatives]:
    """One letter of each kind about a system."""
    assert system.latest is not None
    since = timezone.now()
    return [
        report_message(told, system.latest, None, after_trouble="It was not audited since 2026-02-09 10:40."),
        report_message(told, system.latest, system.latest),
        heartbeat_message(told, system.latest, system.latest),
        not_audited_message(told, Missing(system, None, since, WHY, DO)),
        not_audited_message(told, [Missing(system, None, since, WHY, DO)] * 3),
        digest_message(told, since),
    ]


def products_of(story: str) -> frozenset[str]:
    """The products that it has findings of."""
    return frozenset(rule.partition("/")[0] for rule in load(STORIES / story / "story.yml").get("fires") or ())


@pytest.mark.usefixtures("nothing_brought")
@one_of_each(products_of, "story", sorted(path.parent.name for path in STORIES.glob("*/story.yml")))
def test_no_line_is_longer_than_72_columns(story: str, bring: Callable[..., Upload], people: People) -> None:
    bring(story)
    told = recipient_of(people, severity=1)
    for system in System.objects.exclude(latest=None).select_related("latest"):
        for one in every_kind(told, system):
            commands = [lack["bring"] for verdict in system.latest.verdicts for lack in verdict["missing"]]  # type: ignore[union-attr]  # has one
            found = parts(one)
            assert [line for line in found.too_long if line.strip() not in commands] == []
            assert "format" not in found.mail["Content-Type"].params


def test_no_advice_is_cut_before_its_condition(storm: System, people: People) -> None:
    assert storm.latest is not None
    storm.latest.summary["do"][0]["title"] = "add an engine " * 60 + "only if `lscpu` shows an idle core"
    found = parts(report_message(recipient_of(people, severity=1), storm.latest, None))
    assert re.search(r"add an engine only if <code[^>]*>lscpu</code> shows an idle core", found.html)
    assert "only if `lscpu` shows an idle core" in " ".join(found.text.split())


def test_a_text_of_ours_is_ascii(storm: System, people: People) -> None:
    for one in every_kind(recipient_of(people, severity=1), storm):
        assert parts(one).text.isascii()


@pytest.fixture
def hostile(storm_audit: Audit, people: People) -> list[Parts]:
    """Every letter about a system whose names are an attack."""
    System.objects.filter(pk=storm_audit.system_id).update(name=HOSTILE)
    audit = Audit.objects.get(pk=storm_audit.pk)
    lost = {"to": None, "what": HOSTILE, "amount": 2.0, "low": 2.0, "high": 2.0, "file": HOSTILE, "lines": [1, 1]}
    account = [{**audit.account[0], "lost": [lost], "undivided": {**audit.account[0]["undivided"], "why": HOSTILE}}]
    do = [{**audit.summary["do"][0], "title": HOSTILE + "w" * 300, "effect": HOSTILE, "undo": HOSTILE}]
    collect = [{"command": HOSTILE, "settles": [HOSTILE]}]
    summary = {"verdict": HOSTILE + "w" * 300, "do": do, "collect": collect}
    plan = {**audit.plan, "conflicts": [{"change_keys": ["x"], "why": HOSTILE}]}
    Audit.objects.filter(pk=audit.pk).update(headline=HOSTILE + "w" * 300, account=account, summary=summary, plan=plan)
    for finding in audit.findings.all():
        finding.title = HOSTILE + "w" * 300
        data = finding.data
        data["subject"] = data["title"] = data["says"] = HOSTILE
        for change in data["changes"]:
            change.update(target=HOSTILE, cautions=[HOSTILE])
        for evidence in data["evidence"]:
            evidence.update(metric=HOSTILE, unit="</td>", file=HOSTILE, excerpt=[HOSTILE, "\x1b[2J"])
        finding.save()
    return [parts(one) for one in every_kind(recipient_of(people), System.objects.get(pk=storm_audit.system_id))]


def test_a_name_adds_no_header_and_no_recipient(hostile: list[Parts]) -> None:
    for found in hostile:
        assert found.mail["Bcc"] is None
        assert found.mail["To"] == "ops@example.org"
        assert all(value.isprintable() for value in map(str, found.mail.values()))


def test_a_name_stays_text_in_the_html(hostile: list[Parts]) -> None:
    for found in hostile:
        assert "<script" not in found.html
        assert not re.search(r"\son\w+\s*=", re.sub(r"<style.*?</style>", "", found.html, flags=re.DOTALL))
        assert found.html.count("<table") == found.html.count("</table>")


def test_nothing_in_a_letter_steers_a_terminal_or_turns_text(hostile: list[Parts]) -> None:
    for found in hostile:
        for text in (found.text, found.html, *(one.decode() for one in found.files.values())):
            assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\u202a-\u202e\u2066-\u2069]", text)


def test_a_word_of_300_letters_is_broken_in_the_text(hostile: list[Parts]) -> None:
    for found in hostile:
        assert found.too_long == []


def test_the_file_of_a_script_has_a_name_that_any_system_takes(hostile: list[Parts]) -> None:
    for found in hostile:
        assert all(re.fullmatch(r"[A-Za-z0-9-]+\.(sql|com\.txt)", name) for name in found.files)


def test_the_html_needs_nothing_from_elsewhere(storm: System, people: People) -> None:
    for one in every_kind(recipient_of(people), storm):
        html = parts(one).html
        assert all(source.startswith("cid:") for source in re.findall(r'src="([^"]*)"', html))
        assert not re.search(r"<(link|script|iframe|object|form|svg)\b|url\(|@import", html)


def test_the_html_is_made_for_outlook_and_for_the_dark(storm: System, people: People) -> None:
    for one in every_kind(recipient_of(people), storm):
        html = parts(one).html
        assert "<!--[if mso]><table" in html
        assert "prefers-color-scheme: dark" in html
        assert not re.search(r"display:\s*(flex|grid)|background-image|position:", html)
        assert re.search(r'<h1 style="[^"]*font-size: ?20px', html), "styles stand in the elements"
        assert all('alt="' in image and 'width="' in image for image in re.findall(r"<img [^>]*>", html))


def test_every_letter_has_the_links_out_of_it(storm: System, people: People) -> None:
    told = recipient_of(people)
    for one in every_kind(told, storm):
        found = parts(one)
        link = found.mail["List-Unsubscribe"].strip().strip("<>")
        assert link in found.lines
        assert f'href="{link}"' in found.html


def test_a_subject_is_cut_at_a_word() -> None:
    assert cut("a" * 78, 78) == "a" * 78
    assert cut("CLAIMS1: 3 critical; worst: Address lock hash table", 40) == "CLAIMS1: 3 critical; worst: Address..."
    assert cut("x" * 90, 20) == "x" * 17 + "..."


@pytest.mark.parametrize(
    ("whole", "shown"),
    [
        (
            "CLAIMS1: 3 critical, 1 warning (3 worse, 1 by another limit); worst: Object descriptor spinlocks",
            "CLAIMS1: 3 critical, 1 warning (3 worse, 1 by another limit)...",
        ),
        (
            "DBA, 2026-11-26: 39 systems, 9 critical, 13 warning, 6 advice, 4 note, 1 without a finding",
            "DBA, 2026-11-26: 39 systems, 9 critical, 13 warning, 6 advice, 4 note...",
        ),
        ("CLAIMS1: 3 critical; worst: Address lock hash", "CLAIMS1: 3 critical; worst: Address lock hash"),
    ],
)
def test_a_subject_ends_in_no_word_that_tells_nothing(whole: str, shown: str) -> None:
    assert cut_subject(whole) == shown


def test_a_number_and_its_sign_stay_on_one_line() -> None:
    assert fold("x" * 68 + " 11 % of it") == "x" * 68 + "\n11 % of it"


def test_a_paragraph_of_text_has_ascii_for_our_own_signs() -> None:
    assert fold("100 → 5 … “so”") == '100 -> 5 ... "so"'


def test_a_quoted_line_gives_up_its_gaps_before_its_words() -> None:
    line = "    Spinlock Contention               n/a           n/a         n/a      52.3 %"
    assert quote(line, 80) == line.strip()
    assert quote(line, 50) == "Spinlock Contention  n/a  n/a  n/a  52.3 %"
    assert quote(line, 20) == "Spinlock Contenti..."


def test_one_line_is_one_line() -> None:
    assert one_line(HOSTILE) == '"><script>alert(1)</script> Bcc: x@y.example gnp.exe'


def test_a_query_to_bring_goes_on_over_lines_and_is_never_broken_within_quotes() -> None:
    name = "'a cache of many words whose name is longer than one whole line of a mail may ever be'"
    query = f"select CacheName, PhysicalWrites from master..monDataCache where CacheName = {name} /* twice */"
    folded = fold_query(query, 4)
    assert name in folded
    assert " ".join(folded.split()) == query
    assert len(folded.split("\n")) > 2
    assert fold_query("sp_helpcache -- a remark", 4) == "sp_helpcache -- a remark"
