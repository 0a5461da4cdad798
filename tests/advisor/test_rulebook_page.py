"""The rule book shows each rule whole: its text, limits with origin, worked examples, and where it fires here."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries, DjangoCaptureOnCommitCallbacks, Settings

from advisor.models import Audit, Capture, JournalEntry, LimitSetting, System, User
from advisor.services.exhibits import Example, examples, fact_class
from advisor.services.history import fired_now
from advisor.services.rulebook import rulebook
from tests.advisor.people import People

AsUser = Callable[[User], Client]
RULE = "ase/address_lock_spinlock_contended"
LIMIT = f"{RULE}.contention_percent"
EVERY = [entry["rule"] for entry in rulebook()]


@pytest.fixture
def exhibits(settings: Settings, tmp_path: Path) -> Iterator[Callable[[str], tuple[Example, ...]]]:
    """Another folder of exhibits, with this text as the one of `RULE`."""
    settings.BASE_DIR = tmp_path
    examples.cache_clear()

    def write(text: str) -> tuple[Example, ...]:
        path = tmp_path / "tests" / "findings" / f"{RULE}.yml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        examples.cache_clear()
        return examples(RULE)

    yield write
    examples.cache_clear()


def words_of(client: Client, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200
    return " ".join(re.sub(r"<[^>]*>", " ", answer.content.decode()).split())


def squeezed(text: str) -> str:
    """Without blanks, back-quotes (they become code) and capitals (a part begins with one)."""
    return "".join(text.replace("`", "").lower().split())


def of_rule(rule: str = RULE) -> str:
    return reverse("rule", kwargs={"rule_id": rule})


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
    with django_assert_max_num_queries(4):
        client.get(reverse("rulebook"))
    with django_assert_max_num_queries(5):
        assert "41 of 41 systems" in words_of(client, of_rule())


# A rule


@pytest.mark.parametrize("rule", EVERY)
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
        "/rules/%2e%2e/%2e%2e/tests/findings/ase/address_lock_spinlock_contended/",
        f"/rules/{RULE}//",
    ],
)
def test_what_is_no_rule_does_not_exist(people: People, as_user: AsUser, address: str) -> None:
    client = as_user(people.administrator)
    assert client.get(address).status_code == 404
    assert client.post(f"{address}limits/", {"name": LIMIT, "value": "5"}).status_code == 404
    assert not LimitSetting.objects.exists()


def test_examples_are_never_looked_for_where_an_address_says() -> None:
    assert examples("../audits/address_lock_storm/story") == ()
    assert examples("") == ()


# Its examples


def test_an_example_shows_the_facts_in_words_and_what_the_rule_says_of_them(
    exhibits: Callable[[str], tuple[Example, ...]],
) -> None:
    fired, clean, unknown, untrusted = exhibits("""
half of the grabs wait:
  limits: {contention_percent: 40}
  facts:
    - ase.LockHashtable: {table: address, lookups_per_second: 2000.0, contention_percent: 52.0}
nothing waits:
  facts:
    - ase.LockHashtable: {table: address, lookups_per_second: 2000.0, contention_percent: 0.0}
no facts:
  facts: []
asterisks:
  facts:
    - ase.LockHashtable: {table: address, lookups_per_second: 2000.0, contention_percent: overflow}
""")
    assert fired.limits == (("contention_percent", "40"),)
    assert fired.facts[0].fact == "ase.LockHashtable"
    assert fired.facts[0].figures == (("table", "address"), ("lookups", "2,000 /s"), ("contention", "52 %"))
    assert [finding["severity"] for finding in fired.findings] == ["warning"]
    assert fired.findings[0]["evidence"][0]["limit"] == 40
    assert clean.verdict is not None
    assert (clean.verdict["verdict"], clean.findings) == ("clean", ())
    assert clean.facts[0].figures[-1] == ("contention", "0 %")
    assert unknown.verdict is not None
    assert unknown.verdict["verdict"] == "unknown"
    assert "sp_sysmon" in unknown.verdict["missing"][0]["bring"]
    assert untrusted.verdict is not None
    assert untrusted.verdict["verdict"] == "untrusted"
    assert untrusted.facts[0].figures[-1] == ("contention percent", "printed as asterisks: too wide for its column")


@pytest.mark.parametrize(
    "text",
    [
        "{: not yml",
        "[a, list]",
        "",
        "just words",
        "one: {facts: [ase.NoSuchFact: {}]}",
        "one: {facts: [os.system: {command: x}]}",
        "one: {facts: [nowhere: 1]}",
        "one: {facts: [ase.LockHashtable: {no_such_field: 1}]}",
        "one: {facts: 7}",
        "one: nothing",
        "one: {}",
        "one: {facts: [{a: 1, b: 2}]}",
        "one: {facts: [], limits: [a]}",
        "one: {facts: [ase.LockHashtable: {table: address, lines: [1, 2]}]}",
        "one: {facts: [scaling.LoadSeries: {points: [{rate: 1}]}]}",
    ],
)
def test_a_damaged_exhibit_says_so_and_the_page_stands(
    people: People, as_user: AsUser, exhibits: Callable[[str], tuple[Example, ...]], text: str
) -> None:
    (one,) = exhibits(text)
    assert one.problem
    assert "cannot be shown" in words_of(as_user(people.colleague), of_rule())


def test_a_case_makes_facts_and_nothing_else() -> None:
    assert fact_class("ase.LockHashtable").fact_name() == "ase.LockHashtable"
    with pytest.raises(TypeError, match="no kind of fact"):
        fact_class("scaling.LoadPoint")


def test_one_damaged_case_leaves_the_others(exhibits: Callable[[str], tuple[Example, ...]]) -> None:
    good, bad = exhibits("good: {facts: []}\nbad: {facts: [ase.Nothing: {}]}")
    assert not good.problem
    assert bad.problem


def test_a_figure_of_the_wrong_kind_makes_the_rule_broken_and_not_the_page(
    people: People, as_user: AsUser, exhibits: Callable[[str], tuple[Example, ...]]
) -> None:
    (one,) = exhibits("one: {facts: [ase.LockHashtable: {table: address, contention_percent: [1, {a: b}]}]}")
    assert one.verdict is None or one.verdict["verdict"] in ("broken", "untrusted", "unknown")
    assert words_of(as_user(people.colleague), of_rule())


def test_hostile_text_of_an_exhibit_stays_text(
    people: People, as_user: AsUser, exhibits: Callable[[str], tuple[Example, ...]]
) -> None:
    evil = "<script>alert(1)</script>"
    exhibits(f"'{evil}': {{facts: [ase.LockHashtable: {{table: '{evil}'}}]}}")
    assert "<script>alert" not in as_user(people.colleague).get(of_rule()).content.decode()


def test_without_the_folder_of_exhibits_the_page_says_that_there_are_none(
    people: People, as_user: AsUser, settings: Settings, tmp_path: Path
) -> None:
    settings.BASE_DIR = tmp_path
    examples.cache_clear()
    assert "The examples of the rules are not installed here." in words_of(as_user(people.colleague), of_rule())
    examples.cache_clear()


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
