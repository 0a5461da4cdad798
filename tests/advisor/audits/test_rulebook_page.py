"""The rule book shows each rule whole: its text, limits with origin, and where it fires here."""

import re
from collections.abc import Callable

import pytest
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries, DjangoCaptureOnCommitCallbacks

from advisor.audits.models import Audit, Capture, LimitSetting
from advisor.audits.services.examples import examples
from advisor.audits.services.rulebook import rulebook
from advisor.core.models import JournalEntry
from advisor.systems.models import System
from advisor.systems.services.history import fired_now
from advisor.uploads.models import Upload
from tests.advisor.audits.rule_pages import LIMIT, RULE, of_rule, words_of
from tests.advisor.keeping import keeps
from tests.advisor.people import AsUser, People
from tests.longer import one_of_each

shared = keeps("address_lock_storm")

EVERY = [entry["rule"] for entry in rulebook()]


def squeezed(text: str) -> str:
    """Without blanks, back-quotes (they become code) and capitals (a part begins with one)."""
    return "".join(text.replace("`", "").lower().split())


# The contents


def test_the_contents_list_every_rule_with_its_title(people: People, as_user: AsUser) -> None:
    page = as_user(people.colleague).get(reverse("rulebook")).content.decode()
    for entry in rulebook():
        assert f'href="{of_rule(entry["rule"])}"' in page
    assert "SAP ASE" in page
    assert "OpenVMS" in page


def test_a_search_keeps_the_rules_that_hold_every_word(people: People, as_user: AsUser) -> None:
    client = as_user(people.colleague)
    page = client.get(reverse("rulebook"), {"q": "ADDRESS spinlock"}).content.decode()
    assert f'href="{of_rule()}"' in page
    assert "openvms/" not in page
    assert "No rule speaks of that." in words_of(client, reverse("rulebook") + "?q=%3Cscript%3Eqq")


def test_how_often_a_rule_fires_counts_only_what_this_person_sees(
    people: People, as_user: AsUser, storm: System
) -> None:
    System.objects.create(team=people.team, product="ase", name="FRESH", key="FRESH")  # never audited: not counted
    assert fired_now(people.owner)[0][RULE][0].pk == storm.pk
    assert fired_now(people.owner)[1] == {"ase": 1}
    assert fired_now(people.stranger) == ({}, {})
    assert "1 system of 1" in words_of(as_user(people.colleague), reverse("rulebook"))
    mine, theirs = (words_of(as_user(user), of_rule()) for user in (people.colleague, people.stranger))
    assert "In the newest audit of 1 of 1 system" in mine
    assert "CLAIMS1" in mine
    assert "fires at no system here" in theirs
    assert "CLAIMS1" not in theirs


@pytest.mark.usefixtures("nothing_brought")
def test_a_rule_for_databases_counts_the_nodes_that_they_may_be_open_on(
    people: People, bring: Callable[..., Upload], as_user: AsUser
) -> None:
    bring("payroll_page_locks")
    page = words_of(as_user(people.colleague), of_rule("rdb/page_locks_dominate"))
    assert "In the newest audit of 1 of 1 system of Oracle Rdb or OpenVMS that you see" in page


def test_it_counts_the_newest_audit_and_no_earlier_one(people: People, storm: System, storm_audit: Audit) -> None:
    capture = Capture.objects.create(system=storm, taken=storm_audit.at)
    later = Audit.objects.create(capture=capture, system=storm, rules_version="x", findings_digest={})
    System.objects.filter(pk=storm.pk).update(latest=later)
    assert fired_now(people.owner) == ({}, {"ase": 1})


def test_the_contents_cost_the_same_queries_however_many_systems_there_are(
    people: People, as_user: AsUser, storm: System, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for n in range(40):
        System.objects.create(team=people.team, product="ase", name=f"S{n}", key=f"S{n}", latest=storm.latest)
    client = as_user(people.colleague)
    with django_assert_max_num_queries(6):  # of them one for the findings in the navigation
        client.get(reverse("rulebook"))
    with django_assert_max_num_queries(7):
        assert "41 of 41 systems" in words_of(client, of_rule())


# A rule


ENTRIES = {entry["rule"]: entry for entry in rulebook()}


def kind_of(rule: str) -> tuple[str | bool, ...]:
    """Its product, how it asks, and whether it has limits and quotes documents: what its page branches on."""
    entry = ENTRIES[rule]
    asked = entry["asks"]
    return rule.partition("/")[0], asked["how"], bool(asked["also"]), bool(entry["limits"]), bool(entry["sources"])


@one_of_each(kind_of, "rule", EVERY)
def test_every_rule_has_a_page_with_its_text_limits_sources_and_examples(
    people: People, as_user: AsUser, rule: str
) -> None:
    (entry,) = (entry for entry in rulebook() if entry["rule"] == rule)
    page = as_user(people.colleague).get(of_rule(rule)).content.decode()
    for link in entry["sources"]:
        assert f'<a href="{link.replace("&", "&amp;")}" rel="noreferrer">' in page
    words = " ".join(re.sub(r"<[^>]*>", " ", page).split()).replace("&#39;", "'").replace("&#34;", '"')
    words = words.replace("&gt;", ">").replace("&lt;", "<").replace("&amp;", "&")
    for part in ("title", "finds", "why", "do", "ignore"):
        assert squeezed(entry[part]) in squeezed(words)
    for one in entry["limits"]:
        assert one["origin"] in words
    shown = examples(rule)
    assert len(shown) >= 3
    assert not [one for one in shown if one.problem]
    for one in shown:
        assert one.title in words
    assert {"fired", "clean", "unknown"} <= {one.verdict["verdict"] for one in shown if one.verdict}


@pytest.mark.parametrize(
    "address",
    [
        "/rules/ase/no_such_rule/",
        "/rules/ase/",
        "/rules/ase/address_lock/",
        "/rules/../../etc/passwd/",
        "/rules/%2e%2e/%2e%2e/rules/ase/examples/address_lock_spinlock_contended/",
        f"/rules/{RULE}//",
    ],
)
def test_what_is_no_rule_does_not_exist(people: People, as_user: AsUser, address: str) -> None:
    client = as_user(people.administrator)
    assert client.get(address).status_code == 404
    assert client.post(f"{address}limits/", {"name": LIMIT, "value": "5"}).status_code == 404
    assert not LimitSetting.objects.exists()


# The site's limits


def test_an_administrator_sets_a_limit_of_the_site_and_takes_it_back(
    people: People,
    as_user: AsUser,
    storm: System,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    client = as_user(people.administrator)
    address = reverse("rule-limit", kwargs={"rule_id": RULE})
    with django_capture_on_commit_callbacks(execute=True):
        answer = client.post(address, {"name": LIMIT, "value": "99.5", "why": "ours <b>differ</b>"})
    assert answer["Location"] == of_rule()
    one = LimitSetting.objects.get()
    assert (one.system, one.name, one.value, one.by) == (None, LIMIT, 99.5, people.administrator)
    for user in (people.administrator, people.colleague):
        words = words_of(as_user(user), of_rule())
        assert "99.5 % by adam" in words
        assert "ours &lt;b&gt;differ&lt;/b&gt;" in words
    storm.refresh_from_db()
    assert storm.latest is not None
    assert storm.latest.limits == {LIMIT: 99.5}
    with django_capture_on_commit_callbacks(execute=True):
        client.post(address, {"take_back": LIMIT})
    assert not LimitSetting.objects.exists()
    storm.refresh_from_db()
    assert storm.latest.limits == {}
    assert [e.action for e in JournalEntry.objects.filter(user=people.administrator, action__startswith="limit")] == [
        "limit taken back",
        "limit set",
    ]


def test_only_an_administrator_may_set_a_limit_of_the_site(people: People, as_user: AsUser) -> None:
    LimitSetting.objects.create(name=LIMIT, value=7)
    address = reverse("rule-limit", kwargs={"rule_id": RULE})
    for user in (people.owner, people.colleague, people.stranger):
        client = as_user(user)
        assert address not in client.get(of_rule()).content.decode()
        assert client.post(address, {"name": LIMIT, "value": "5"}).status_code == 403
        assert client.post(address, {"take_back": LIMIT}).status_code == 403
    assert LimitSetting.objects.get().value == 7
    assert address in as_user(people.administrator).get(of_rule()).content.decode()


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        (LIMIT, "101", "outside 0 to 100"),
        (LIMIT, "a lot", "Enter a number."),
        ("ase/data_cache_spinlock_contended.contention_percent", "5", "None of these rules has such a limit."),
    ],
)
def test_a_limit_of_the_site_that_cannot_be_is_an_error_of_the_form(
    people: People, as_user: AsUser, name: str, value: str, said: str
) -> None:
    address = reverse("rule-limit", kwargs={"rule_id": RULE})
    answer = as_user(people.administrator).post(address, {"name": name, "value": value})
    assert answer.status_code == 400
    assert said in answer.content.decode()
    assert not LimitSetting.objects.exists()


def test_another_rule_s_limit_is_not_taken_back_here(people: People, as_user: AsUser) -> None:
    other = "ase/data_cache_spinlock_contended.contention_percent"
    LimitSetting.objects.create(name=other, value=7)
    address = reverse("rule-limit", kwargs={"rule_id": RULE})
    assert as_user(people.administrator).post(address, {"take_back": other}).status_code == 400
    assert LimitSetting.objects.filter(name=other).exists()
