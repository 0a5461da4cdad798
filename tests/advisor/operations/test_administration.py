"""The administration is for administrators: its doors, its journal, its limits, retention and tokens."""

import csv
import io
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest
from django.db.models import QuerySet
from django.http import StreamingHttpResponse
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from advisor.accounts.models import Token, User
from advisor.audits.models import LimitSetting
from advisor.audits.services.limits import set_limit
from advisor.config.administration import urlpatterns
from advisor.config.celery import app
from advisor.core import journal
from advisor.core.csv_files import safe_cell
from advisor.core.models import JournalEntry, Site
from advisor.systems.models import System
from tests.advisor.people import People

pytestmark = pytest.mark.postgres

AsUser = Callable[[User], Client]
DOORS = [pattern.name for pattern in urlpatterns]
LIMIT = "ase/address_lock_spinlock_contended.contention_percent"


def address(name: str | None) -> str:
    """The address of a page; of the first thing where it is about one."""
    pattern = next(one for one in urlpatterns if one.name == name)
    return reverse(str(name), kwargs=dict.fromkeys(pattern.pattern.converters, 1))


def deeds() -> QuerySet[JournalEntry]:
    """The journal without the logins that a test itself makes."""
    return JournalEntry.objects.exclude(action="login")


@pytest.mark.parametrize("name", DOORS)
@pytest.mark.parametrize("method", ["get", "post"])
def test_no_door_opens_to_anyone_but_an_administrator(name: str, method: str, people: People, as_user: AsUser) -> None:
    for person in (people.owner, people.colleague, people.stranger):
        answer = getattr(as_user(person), method)(address(name))
        assert answer.status_code == 403
        assert "Only an administrator may do this." in answer.content.decode()
    answer = getattr(Client(), method)(address(name))
    assert answer.status_code == 302
    assert answer["Location"].startswith("/login/")
    assert not deeds().exists()


PAGES = [
    "administration",
    "administration-user-add",
    "administration-team-add",
    "administration-mail",
    "administration-webhooks",
    "administration-retention",
    "administration-limits",
    "administration-journal",
    "administration-tokens",
]


@pytest.mark.parametrize("name", PAGES)
def test_every_page_keeps_the_content_policy_and_labels_every_field(
    name: str, people: People, storm: System, as_user: AsUser
) -> None:
    set_limit(LIMIT, 7, people.administrator, system=storm, why="<script>alert(1)</script>")
    Token.objects.create(user=people.owner, name="<b>nightly</b>", digest="d", hint="lw_abc", scopes=["read"])
    answer = as_user(people.administrator).get(reverse(name))
    text = answer.content.decode()
    assert answer.status_code == 200
    assert 'aria-current="page"' in text.split('aria-label="Administration"')[1]
    assert not re.search(r"<style|\sstyle=|\son[a-z]+=|<script>|<b>", text)
    main = text.split("<main")[1]
    for field in re.findall(r'<(?:input|select|textarea)\b[^>]*\bid="([^"]+)"', main):
        assert f'for="{field}"' in main, field
    levels = [int(level) for level in re.findall(r"<h([1-6])", main)]
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_the_journal_is_filtered_by_person_action_system_text_and_days(
    people: People, storm: System, as_user: AsUser
) -> None:
    client = as_user(people.administrator)
    JournalEntry.objects.all().delete()
    old = journal.note(people.owner, "limit set", "x=1 100% _sure_", system=storm)
    new = journal.note(people.stranger, "login")
    JournalEntry.objects.filter(pk=old.pk).update(at=datetime(2024, 2, 29, 23, 59, tzinfo=UTC))
    JournalEntry.objects.filter(pk=new.pk).update(at=datetime(2024, 3, 1, 0, 0, tzinfo=UTC))

    def shown(**query: str) -> list[str]:
        text = client.get(reverse("administration-journal"), query).content.decode()
        return re.findall(r'<td data-label="Who">([^<]*)<', text)

    assert shown() == ["sten", "olga"]
    assert shown(who="OLG") == ["olga"]
    assert shown(action="login") == ["sten"]
    assert shown(system="claims") == ["olga"]
    assert shown(text="100% _") == ["olga"]
    assert shown(text="1000") == shown(text="a_e") == []
    assert shown(since="2024-03-01") == ["sten"]
    assert shown(until="2024-02-29") == ["olga"]
    assert shown(since="2024-02-29", until="2024-03-01") == ["sten", "olga"]


def test_the_days_of_the_journal_are_those_of_the_time_zone_of_the_site(
    people: People, as_user: AsUser, settings: Settings
) -> None:
    settings.TIME_ZONE = "Asia/Tokyo"
    client = as_user(people.administrator)
    JournalEntry.objects.all().delete()
    entry = journal.note(people.owner, "login")
    JournalEntry.objects.filter(pk=entry.pk).update(at=datetime(2024, 2, 29, 15, 0, tzinfo=UTC))
    query = {"since": "2024-03-01", "until": "2024-03-01"}
    assert "olga" in client.get(reverse("administration-journal"), query).content.decode().split("<table")[-1]


@pytest.mark.parametrize(
    "query",
    [{"since": "0001-01-01"}, {"until": "9999-12-31"}, {"since": "yesterday"}, {"text": "a\0b"}, {"action": "x"}],
)
def test_a_filter_that_makes_no_sense_is_named_and_no_csv_is_written(
    query: dict[str, str], people: People, as_user: AsUser
) -> None:
    client = as_user(people.administrator)
    assert "errorlist" in client.get(reverse("administration-journal"), query).content.decode()
    assert client.get(reverse("administration-journal-csv"), query).status_code == 400


def test_the_journal_has_pages_that_keep_the_filter(people: People, as_user: AsUser) -> None:
    for number in range(150):
        journal.note(people.owner, "upload", f"number {number}")
    text = as_user(people.administrator).get(reverse("administration-journal"), {"who": "olga"}).content.decode()
    assert "150 entries" in text
    assert "number 149<" in text
    assert "number 49<" not in text
    assert "who=olga&amp;page=2" in text


def test_the_csv_of_the_journal_is_the_filtered_journal_and_starts_no_formula(
    people: People, storm: System, as_user: AsUser
) -> None:
    JournalEntry.objects.all().delete()
    System.objects.filter(pk=storm.pk).update(name="=cmd|' /C calc'!A0")
    storm.refresh_from_db()
    journal.note(people.owner, "limit set", '@SUM(1) "quoted", with\nlines', system=storm)
    journal.note(people.stranger, "login")
    answer = as_user(people.administrator).get(reverse("administration-journal-csv"), {"who": "olga"})
    assert isinstance(answer, StreamingHttpResponse)
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    assert answer["Content-Disposition"].startswith('attachment; filename="lockwright-journal-')
    rows = list(csv.reader(io.StringIO(b"".join(answer).decode(), newline="")))
    assert rows[0] == ["time", "who", "action", "system", "team", "what", "address"]
    assert len(rows) == 2
    assert rows[1][1:] == [
        "olga", "limit set", "'=cmd|' /C calc'!A0", "Claims", "'@SUM(1) \"quoted\", with\nlines", ""
    ]  # fmt: skip
    assert datetime.fromisoformat(rows[1][0]).tzinfo is UTC


@pytest.mark.parametrize("first", ["=", "+", "-", "@", "\t", "\r", "\n", "＝"])
def test_a_cell_that_would_be_a_formula_gets_an_apostrophe(first: str) -> None:
    assert safe_cell(f"{first}1+1") == f"'{first}1+1"


@pytest.mark.parametrize("text", ["", "1=1", "a-b", " =1", "'=1", "name@host"])
def test_any_other_cell_stays_as_it_is(text: str) -> None:
    assert safe_cell(text) == text


def test_days_are_stored_noted_and_bounded(people: People, as_user: AsUser) -> None:
    client, page = as_user(people.administrator), reverse("administration-retention")
    days = {"keep_bytes_days": 0, "keep_captures_days": 30, "keep_old_audits_days": 90, "keep_runs_days": 14}
    days |= {"keep_journal_days": 36500}
    assert client.post(page, days).status_code == 302
    site = Site.get()
    assert {name: getattr(site, name) for name in days} == days
    entry = JournalEntry.objects.get(action="retention changed")
    assert (entry.who, entry.address) == ("adam", "127.0.0.1")
    assert "Captures and their audits, in days 30" in entry.what
    for wrong in (-1, 36501, "", "ten", "1.5"):
        answer = client.post(page, {**days, "keep_journal_days": wrong})
        assert answer.status_code == 200
        assert "errorlist" in answer.content.decode()
    assert Site.get().keep_journal_days == 36500


def test_storing_days_leaves_a_mail_server_alone_that_was_stored_meanwhile(
    people: People, as_user: AsUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    Site.get()
    stale = Site.get()
    Site.objects.update(mail_host="mail.example.org")
    monkeypatch.setattr(Site, "get", lambda: stale)
    days = {"keep_bytes_days": 1, "keep_captures_days": 1, "keep_old_audits_days": 1, "keep_runs_days": 1}
    days |= {"keep_journal_days": 1}
    as_user(people.administrator).post(reverse("administration-retention"), days)
    assert Site.objects.values_list("mail_host", "keep_bytes_days").get() == ("mail.example.org", 1)


def test_a_clearing_now_does_what_the_night_does_and_stands_on_the_page(
    people: People, as_user: AsUser, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    entry = journal.note(people.owner, "login")
    JournalEntry.objects.filter(pk=entry.pk).update(at=timezone.now() - timedelta(days=2000))
    client = as_user(people.administrator)
    assert "Nothing has been cleared up yet" in client.get(reverse("administration-retention")).content.decode()
    with django_capture_on_commit_callbacks(execute=True):
        answer = client.post(reverse("administration-clear-up"), follow=True)
    assert "The clearing is started." in answer.content.decode()
    assert not JournalEntry.objects.filter(pk=entry.pk).exists()
    assert "1 journal entries" in client.get(reverse("administration-retention")).content.decode()
    assert JournalEntry.objects.filter(action="clearing asked for", who="adam").count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_clearing_that_cannot_start_says_so(
    as_user: AsUser, people: People, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A real attempt, at a broker that is not there."""
    monkeypatch.setitem(app.conf, "task_always_eager", False)
    monkeypatch.setitem(app.conf, "broker_write_url", f"redis+socket://{tmp_path}/no-broker.sock")
    monkeypatch.setattr(app.amqp, "_producer_pool", None)
    answer = as_user(people.administrator).post(reverse("administration-clear-up"), follow=True)
    assert "Not started: the broker of the workers cannot be reached." in answer.content.decode()


def test_limits_stand_beside_the_rules_own_and_are_taken_back(people: People, storm: System, as_user: AsUser) -> None:
    set_limit(LIMIT, 7, people.owner, system=storm, why="a busy month")
    set_limit(LIMIT, 8, people.administrator, system=None)
    LimitSetting.objects.create(name="ase/gone.limit", value=1)
    client = as_user(people.administrator)
    text = client.get(reverse("administration-limits")).content.decode()
    rows = [re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", row)) for row in text.split("<tr data-row>")[1:]]
    assert len(rows) == 3
    of_system = next(row for row in rows if "CLAIMS1" in row)
    assert "a busy month" in of_system
    assert "olga" in of_system
    assert re.search(r"\b(vendor|practice|this project)", of_system)
    assert "No rule has this limit any more" in next(row for row in rows if "ase/gone" in row)
    mine = LimitSetting.objects.get(system=storm)
    assert client.post(reverse("administration-limit-take-back", args=[mine.pk])).status_code == 302
    assert not LimitSetting.objects.filter(system=storm).exists()
    assert LimitSetting.objects.filter(system=None, name=LIMIT).exists()
    entry = JournalEntry.objects.get(action="limit taken back")
    assert (entry.who, entry.system, entry.address) == ("adam", storm, "127.0.0.1")
    assert client.post(reverse("administration-limit-take-back", args=[mine.pk])).status_code == 404


def test_tokens_of_everybody_are_seen_without_secrets_and_revoked_once(people: People, as_user: AsUser) -> None:
    token = Token.objects.create(
        user=people.owner, name="nightly", digest="secret-digest", hint="lw_abc", scopes=["read"]
    )
    Token.objects.create(
        user=people.stranger, name="old", digest="e", hint="lw_old", expires=timezone.now() - timedelta(days=1)
    )
    client = as_user(people.administrator)
    text = client.get(reverse("administration-tokens")).content.decode()
    assert "lw_abc" in text
    assert "secret-digest" not in text
    assert text.count(">Revoke<") == 1
    for _ in range(2):
        assert client.post(reverse("administration-token-revoke", args=[token.pk])).status_code == 302
    token.refresh_from_db()
    assert not token.live
    entry = JournalEntry.objects.get(action="token revoked")
    assert entry.who == "adam"
    assert "nightly" in entry.what
    assert "olga" in entry.what
    assert ">Revoke<" not in client.get(reverse("administration-tokens")).content.decode()
