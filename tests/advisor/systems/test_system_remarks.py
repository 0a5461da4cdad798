"""The system page takes what a DBA says of a system: its limits, notes, and when a capture is expected."""

import pytest
from django.urls import reverse
from pytest_django import DjangoCaptureOnCommitCallbacks

from advisor.audits.models import Audit, LimitSetting
from advisor.core.models import JournalEntry
from advisor.systems.models import Note, System
from tests.advisor.people import AsUser, People
from tests.advisor.seen import LIMIT, text_of, unknown_system, words_of


@pytest.fixture
def system(people: People) -> System:
    """A system of the owner's team that nothing is known of yet."""
    return unknown_system(people)


# Limits


def test_a_limit_is_set_for_the_system_and_its_newest_capture_is_audited_by_it(
    people: People,
    as_user: AsUser,
    storm: System,
    storm_audit: Audit,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    data = {"name": LIMIT, "value": "99.5", "why": "it has always been so"}
    client = as_user(people.mate)
    with django_capture_on_commit_callbacks(execute=True):
        answer = client.post(reverse("system-limit", args=[storm.pk]), data, follow=True)
    words = words_of(answer.content.decode())
    assert f"{LIMIT} is 99.5 now. The newest capture is being audited again" in words
    assert "99.5 % by mats" in words
    assert "it has always been so" in words
    storm.refresh_from_db()
    assert storm.latest is not None
    assert storm.latest != storm_audit
    assert storm.latest.limits == {LIMIT: 99.5}
    assert any(LIMIT.rpartition(".")[0] in key for key in storm_audit.findings_digest)
    assert not any(LIMIT.rpartition(".")[0] in key for key in storm.latest.findings_digest)
    with django_capture_on_commit_callbacks(execute=True):
        client.post(reverse("system-limit", args=[storm.pk]), {"take_back": LIMIT})
    assert not LimitSetting.objects.exists()
    storm.refresh_from_db()
    assert storm.latest.limits == {}
    assert list(JournalEntry.objects.filter(system=storm).values_list("action", flat=True))[:2] == [
        "limit taken back",
        "limit set",
    ]


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        (LIMIT, "101", "outside 0 to 100"),
        (LIMIT, "nan", "Enter a number."),
        (LIMIT, "inf", "Enter a number."),
        (LIMIT, "", "This field is required."),
        ("ase/no_such_rule.x", "1", "None of these rules has such a limit."),
        ("openvms/lock_manager_idle.few_cpus", "3", "None of these rules has such a limit."),
        ("scaling/throughput_retrograde.least_loads", "7.5", "This limit is a whole number."),
    ],
)
def test_a_limit_that_cannot_be_is_an_error_of_the_form_and_what_was_typed_stays(
    people: People, as_user: AsUser, storm: System, name: str, value: str, said: str
) -> None:
    data = {"name": name, "value": value, "why": "because of that"}
    answer = as_user(people.owner).post(reverse("system-limit", args=[storm.pk]), data)
    assert answer.status_code == 400
    page = answer.content.decode()
    assert said in words_of(page)
    assert 'value="because of that"' in page
    assert not LimitSetting.objects.exists()


def test_the_site_s_limit_stands_beside_the_system_s_own_which_counts(
    people: People, as_user: AsUser, system: System
) -> None:
    LimitSetting.objects.create(name=LIMIT, value=20, by=people.administrator, why="all of them")
    LimitSetting.objects.create(name="openvms/lock_manager_idle.busy_percent", value=9)
    words = words_of(text_of(as_user(people.owner), system))
    assert "10 % 20 % by adam" in words
    assert "(the system's own counts)" not in words.replace("&#39;", "'")
    assert "9 % by" not in words
    LimitSetting.objects.create(system=system, name=LIMIT, value=30, by=people.owner)
    words = words_of(text_of(as_user(people.owner), system)).replace("&#39;", "'")
    assert "20 % (the system's own counts) by adam" in words
    assert "30 % by olga" in words


def test_a_limit_that_no_rule_has_any_more_can_still_be_taken_back(
    people: People, as_user: AsUser, system: System
) -> None:
    LimitSetting.objects.create(system=system, name="ase/gone.x", value=1)
    client = as_user(people.owner)
    assert "it does nothing" in words_of(text_of(client, system))
    client.post(reverse("system-limit", args=[system.pk]), {"take_back": "ase/gone.x"})
    assert not LimitSetting.objects.exists()


# Notes, and when a capture is expected


def test_a_note_is_kept_as_it_was_typed(people: People, as_user: AsUser, system: System) -> None:
    client = as_user(people.mate)
    client.post(reverse("system-note", args=[system.pk]), {"text": "first <b>line</b>\r\nsecond line\r\n"})
    note = Note.objects.get()
    assert (note.text, note.by) == ("first <b>line</b>\nsecond line", people.mate)
    assert '<pre class="wrap">first &lt;b&gt;line&lt;/b&gt;\nsecond line</pre>' in text_of(client, system)
    assert JournalEntry.objects.get(system=system).action == "note added"


@pytest.mark.parametrize("text", ["", "   ", "x" * 4001, "a\x00b"])
def test_a_note_that_is_empty_too_long_or_no_text_is_not_taken(
    people: People, as_user: AsUser, system: System, text: str
) -> None:
    answer = as_user(people.mate).post(reverse("system-note", args=[system.pk]), {"text": text})
    assert answer.status_code == 400
    assert 'id="text-error"' in answer.content.decode()
    assert not Note.objects.exists()


def test_what_is_expected_is_set_changed_and_taken_away(people: People, as_user: AsUser, system: System) -> None:
    client = as_user(people.owner)
    for typed, kept in (("24", 24), ("", None)):
        client.post(reverse("system-expected", args=[system.pk]), {"hours": typed})
        assert System.objects.get().expected_hours == kept
    for typed in ("0", "-1", "9000", "soon"):
        answer = client.post(reverse("system-expected", args=[system.pk]), {"hours": typed})
        assert answer.status_code == 400
        assert 'id="hours-error"' in answer.content.decode()
    assert System.objects.get().expected_hours is None
    assert JournalEntry.objects.filter(system=system, action="capture expected").count() == 2
