"""A limit is tried on stored captures at its finding, saved only after it was shown, and undone by one step."""

import re
from collections.abc import Callable, Iterator
from copy import deepcopy
from datetime import timedelta
from pathlib import Path

import pytest
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks, DjangoDbBlocker

from advisor.accounts.models import User
from advisor.audits.models import Audit, Backtest, Capture, CaptureFacts, Finding, LimitSetting
from advisor.audits.services import backtest
from advisor.audits.services.limits import set_limit
from advisor.core.models import JournalEntry
from advisor.core.records import Refused
from advisor.operations.services.retention import clear_up
from advisor.systems.models import System
from advisor.uploads.models import Upload
from tests.advisor.audits.rule_pages import LIMIT, RULE
from tests.advisor.findings.claims import bring_day, followed
from tests.advisor.keeping import as_tests_have_it, kept
from tests.advisor.people import AsUser, People, make_people, text_of
from tests.advisor.seen import words_of

pytestmark = pytest.mark.postgres

Commit = DjangoCaptureOnCommitCallbacks


@pytest.fixture(scope="module")
def made(django_db_setup: None, django_db_blocker: DjangoDbBlocker, static_root: Path) -> Iterator[People]:
    """CLAIMS1 with three captures: 52.3 % contended on two days, 2.1 % on the last; judged once for this module."""
    with as_tests_have_it(static_root), kept(django_db_blocker) as at_commit:
        people = make_people()
        for number in (10, 11, 12):
            with at_commit.captureOnCommitCallbacks(execute=True):
                upload = bring_day(people, number, spread=number == 12, xacts=307.0)
            upload.refresh_from_db()
            assert upload.state == Upload.State.DONE, upload.error
        yield people


@pytest.fixture
def people(db: None, made: People) -> People:
    return deepcopy(made)


@pytest.fixture
def claims(people: People) -> System:
    return System.objects.get(name="CLAIMS1")


def tried(commit: Commit, by: User, value: float, system: System | None, name: str = LIMIT) -> Backtest:
    with commit(execute=True):
        row = backtest.begin(by, name, value, system=system, why="known")
    row.refresh_from_db()
    assert row.state == Backtest.State.DONE, row.error
    return row


def counts(row: Backtest) -> dict[str, int]:
    return {key: value for key, value in row.result.items() if key != "listed" and value}


def journal(action: str) -> list[str]:
    return list(JournalEntry.objects.filter(action=action).order_by("pk").values_list("what", flat=True))


def test_a_higher_limit_tells_which_captures_would_stop_and_judges_by_the_rule_itself(
    people: People, claims: System, django_capture_on_commit_callbacks: Commit
) -> None:
    row = tried(django_capture_on_commit_callbacks, people.owner, 60, claims)
    assert (row.there, row.tried, row.old, row.was_set) == (3, 3, 10, False)
    assert counts(row) == {"stops": 2, "changed": 2, "quiet": 1}
    newest_first = list(claims.captures.order_by("-taken").values_list("pk", flat=True))
    severities = [Finding.objects.get(audit__capture=pk, rule=RULE).severity for pk in newest_first[1:]]
    assert [(one[0], one[3], one[4]) for one in row.result["listed"]] == [
        (newest_first[1], severities[0], 0),
        (newest_first[2], severities[1], 0),
    ]
    assert "52.3 %" in row.result["listed"][0][2]
    assert not LimitSetting.objects.exists()
    assert Audit.objects.count() == 3, "a trial audits nothing"


def test_a_lower_limit_tells_what_would_fire_and_what_stays(
    people: People, claims: System, django_capture_on_commit_callbacks: Commit
) -> None:
    row = tried(django_capture_on_commit_callbacks, people.owner, 1, claims)
    assert counts(row) == {"fires": 1, "stays": 2, "changed": 1}
    (one,) = row.result["listed"]
    assert one[3] == 0
    assert one[4] > 0
    assert "2.1 %" in one[2]


def test_a_severity_that_changes_is_told_as_such(
    people: People, claims: System, django_capture_on_commit_callbacks: Commit
) -> None:
    row = tried(django_capture_on_commit_callbacks, people.owner, 60, claims, f"{RULE}.critical_percent")
    assert counts(row) == {"other_severity": 2, "changed": 2, "quiet": 1}
    assert {tuple(one[3:]) for one in row.result["listed"]} == {(4, 3)}


def test_it_is_saved_as_shown_with_old_and_new_value_and_undone_by_one_step(
    people: People, claims: System, as_user: AsUser, django_capture_on_commit_callbacks: Commit
) -> None:
    row = followed()
    client = as_user(people.owner)
    with django_capture_on_commit_callbacks(execute=True):
        begun = client.post(
            reverse("finding-limit", args=[row.pk]), {"name": LIMIT, "value": "60", "scope": "system", "why": "<b>x"}
        )
    one = Backtest.objects.get()
    assert begun["Location"] == reverse("backtest", args=[one.pk])
    assert not LimitSetting.objects.exists(), "nothing is set before it was shown"
    words = words_of(text_of(client, begun["Location"]))
    assert "2 captures of 3 would change" in words
    assert "3 captures were tried, newest first. In 1 nothing is found by either limit." in words
    assert "&lt;b&gt;x" in text_of(client, begun["Location"])
    with django_capture_on_commit_callbacks(execute=True):
        answer = client.post(reverse("backtest-save", args=[one.pk]), {"value": "99"}, follow=True)
    setting = LimitSetting.objects.get()
    assert (setting.name, setting.value, setting.system, setting.by) == (LIMIT, 60, claims, people.owner)
    assert f"{LIMIT} is 60 now, 10 before." in words_of(answer.content.decode())
    assert journal("limit set") == [f"{LIMIT} from 10 to 60: <b>x"]
    page = text_of(client, reverse("finding", args=[row.pk]))
    assert "60 % for CLAIMS1, by olga" in words_of(page)
    assert f'action="{reverse("backtest-undo", args=[one.pk])}"' in page
    with django_capture_on_commit_callbacks(execute=True):
        answer = client.post(reverse("backtest-undo", args=[one.pk]), follow=True)
    assert f"Undone: {LIMIT} is 10 again." in words_of(answer.content.decode())
    assert not LimitSetting.objects.exists()
    assert journal("limit taken back") == [f"{LIMIT} from 60 back to 10"]
    assert reverse("backtest-undo", args=[one.pk]) not in text_of(client, reverse("finding", args=[row.pk]))


def test_undo_brings_the_value_back_that_the_system_had(
    people: People, claims: System, django_capture_on_commit_callbacks: Commit
) -> None:
    set_limit(LIMIT, 20, people.owner, system=claims)
    row = tried(django_capture_on_commit_callbacks, people.owner, 60, claims)
    assert (row.old, row.was_set) == (20, True)
    backtest.save(row, people.owner)
    backtest.undo(row, people.mate)
    assert LimitSetting.objects.get().value == 20
    assert journal("limit set")[1:] == [f"{LIMIT} from 20 to 60: known", f"{LIMIT} from 60 to 20: undone"]


def test_what_was_shown_and_is_not_so_any_more_is_not_saved(
    people: People, claims: System, django_capture_on_commit_callbacks: Commit
) -> None:
    row = tried(django_capture_on_commit_callbacks, people.owner, 60, claims)
    set_limit(LIMIT, 30, people.mate, system=claims)
    with pytest.raises(Refused, match="changed meanwhile, to 30"):
        backtest.save(row, people.owner)
    other = tried(django_capture_on_commit_callbacks, people.owner, 61, claims)
    Backtest.objects.filter(pk=other.pk).update(rules_version="of another day")
    with pytest.raises(Refused, match="rules are others"):
        backtest.save(other, people.owner)
    unready = backtest.begin(people.owner, LIMIT, 62, system=claims)
    with pytest.raises(Refused, match="not been tried yet"):
        backtest.save(unready, people.owner)
    assert LimitSetting.objects.get().value == 30


def test_a_saved_value_that_somebody_changed_since_is_not_undone(
    people: People, claims: System, django_capture_on_commit_callbacks: Commit
) -> None:
    row = tried(django_capture_on_commit_callbacks, people.owner, 60, claims)
    backtest.save(row, people.owner)
    with pytest.raises(Refused, match="saved already"):
        backtest.save(row, people.owner)
    for value in (70, 60):  # also where it is set to the same value once more: that is somebody's decision
        set_limit(LIMIT, value, people.mate, system=claims)
        with pytest.raises(Refused, match="nothing to undo"):
            backtest.undo(row, people.owner)
    assert LimitSetting.objects.get().value == 60


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        (LIMIT, "101", "101 is outside 0 to 100: this limit may be from 0 to 100 %."),
        (LIMIT, "a lot", "Enter a number."),
        (LIMIT, "10", f"{LIMIT} is 10 already: type another value."),
        (f"{RULE}.lookups_per_second", "-1", "-1 is below 0: this limit may be 0 /s or more."),
        (f"{RULE}.target_ratio", "2.5", "This limit is a whole number."),
        ("ase/data_cache_spinlock_contended.contention_percent", "5", "None of these rules has such a limit."),
    ],
)
def test_a_value_that_cannot_be_is_refused_with_a_sentence(
    people: People, claims: System, as_user: AsUser, name: str, value: str, said: str
) -> None:
    answer = as_user(people.owner).post(reverse("finding-limit", args=[followed().pk]), {"name": name, "value": value})
    assert answer.status_code == 400
    page = answer.content.decode()
    assert said in words_of(page)
    assert re.search(rf'name="value"[^>]* value="{value}"', page), "what was typed stays"
    assert not Backtest.objects.exists()


def test_a_limit_for_every_system_is_tried_on_all_that_have_none_of_their_own(
    people: People,
    claims: System,
    bring: Callable[..., Upload],
    as_user: AsUser,
    django_capture_on_commit_callbacks: Commit,
) -> None:
    bring("quiet_two_node_day")  # OpenVMS: the rule is not for it
    bring("healthy_ledger_server")
    row = tried(django_capture_on_commit_callbacks, people.administrator, 60, None)
    products = Capture.objects.filter(system__product="ase")
    assert (row.there, row.tried) == (products.count(), products.count())
    assert counts(row)["stops"] == 2
    set_limit(LIMIT, 15, people.owner, system=claims)
    again = tried(django_capture_on_commit_callbacks, people.administrator, 60, None)
    assert again.there == products.exclude(system=claims).count()
    assert "stops" not in counts(again)
    client = as_user(people.administrator)
    with django_capture_on_commit_callbacks(execute=True):
        client.post(reverse("backtest-save", args=[again.pk]))
    assert LimitSetting.objects.get(system=None).value == 60
    assert "every system that has none of its own" in words_of(text_of(client, reverse("backtest", args=[again.pk])))
    with django_capture_on_commit_callbacks(execute=True):
        client.post(reverse("backtest-undo", args=[again.pk]))
    assert not LimitSetting.objects.filter(system=None).exists()


def test_who_reads_sees_no_form_and_whom_it_does_not_concern_sees_nothing(
    people: People, claims: System, as_user: AsUser, django_capture_on_commit_callbacks: Commit
) -> None:
    row, address = followed(), reverse("finding-limit", args=[followed().pk])
    typed = {"name": LIMIT, "value": "60"}
    assert address not in text_of(as_user(people.colleague), reverse("finding", args=[row.pk]))
    assert as_user(people.colleague).post(address, typed).status_code == 403
    assert as_user(people.stranger).post(address, typed).status_code == 404
    assert as_user(people.owner).post(address, {**typed, "scope": "site"}).status_code == 403
    assert not Backtest.objects.exists()
    of_system = tried(django_capture_on_commit_callbacks, people.owner, 60, claims)
    of_site = tried(django_capture_on_commit_callbacks, people.administrator, 60, None)
    for one, reads in ((of_system, 200), (of_site, 404)):
        page = as_user(people.colleague).get(reverse("backtest", args=[one.pk]))
        assert page.status_code == reads
        assert b"backtest" not in page.content
        assert f"/limits/tried/{one.pk}/".encode() not in page.content
        assert as_user(people.stranger).get(reverse("backtest", args=[one.pk])).status_code == 404
    for verb in ("backtest-save", "backtest-undo"):
        assert as_user(people.colleague).post(reverse(verb, args=[of_system.pk])).status_code == 403
        assert as_user(people.stranger).post(reverse(verb, args=[of_system.pk])).status_code == 404
        assert as_user(people.owner).post(reverse(verb, args=[of_site.pk])).status_code == 404
        assert as_user(people.owner).get(reverse(verb, args=[of_system.pk])).status_code == 405
    assert not LimitSetting.objects.exists()


def test_it_is_bounded_and_says_how_many_were_not_tried(
    people: People,
    claims: System,
    as_user: AsUser,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: Commit,
) -> None:
    monkeypatch.setattr(backtest, "MOST_CAPTURES", 2)
    monkeypatch.setattr(backtest, "MOST_LISTED", 0)
    row = tried(django_capture_on_commit_callbacks, people.owner, 60, claims)
    assert (row.there, row.tried, row.result["stops"], row.result["listed"]) == (3, 2, 1, [])
    words = words_of(text_of(as_user(people.owner), reverse("backtest", args=[row.pk])))
    assert "2 captures were tried, newest first; 1 older one was not." in words
    monkeypatch.setattr(backtest, "MOST_SECONDS", -1.0)
    late = tried(django_capture_on_commit_callbacks, people.owner, 61, claims)
    assert (late.there, late.tried, counts(late)) == (3, 0, {})


def test_the_page_follows_while_it_runs_and_a_lost_task_is_started_again(
    people: People, claims: System, as_user: AsUser
) -> None:
    row = backtest.begin(people.owner, LIMIT, 60, system=claims)
    page = text_of(as_user(people.owner), reverse("backtest", args=[row.pk]))
    assert "It waits for a worker." in words_of(page)
    assert "hx-get" in page
    assert "Set the limit to" not in page
    Backtest.objects.filter(pk=row.pk).update(state="running", tried=1, claimed=timezone.now(), claimant="elsewhere")
    assert "1 of 3 captures tried." in words_of(text_of(as_user(people.owner), reverse("backtest", args=[row.pk])))
    Backtest.objects.filter(pk=row.pk).update(claimed=timezone.now() - timedelta(days=1))
    assert backtest.left() == [row.pk]
    backtest.run(row.pk)
    row.refresh_from_db()
    assert row.state == Backtest.State.DONE
    backtest.run(row.pk)  # a second task finds nothing to do
    assert Backtest.objects.get().tries == row.tries


def test_a_person_has_a_few_trials_at_a_time(people: People, claims: System) -> None:
    for value in range(backtest.MOST_OPEN):
        backtest.begin(people.owner, LIMIT, 60 + value, system=claims)
    with pytest.raises(Refused, match="not done yet"):
        backtest.begin(people.owner, LIMIT, 90, system=claims)
    backtest.begin(people.mate, LIMIT, 90, system=claims)


def test_facts_that_cannot_be_read_are_counted_and_end_nothing(
    people: People, claims: System, django_capture_on_commit_callbacks: Commit
) -> None:
    newest = claims.captures.order_by("-taken")[0]
    CaptureFacts.objects.filter(capture=newest).update(data=b"nonsense")
    row = tried(django_capture_on_commit_callbacks, people.owner, 60, claims)
    assert counts(row) == {"stops": 2, "changed": 2, "damaged": 1}


def test_the_page_of_an_audit_has_the_form_at_each_finding_for_who_may_set_limits(
    people: People, claims: System, as_user: AsUser
) -> None:
    address = reverse("audit", args=[Audit.objects.filter(findings__rule=RULE).latest("pk").pk])
    action = f'action="{reverse("finding-limit", args=[followed().pk])}"'
    assert text_of(as_user(people.owner), address).count(action) == 1
    assert action not in text_of(as_user(people.colleague), address)


def test_a_system_and_the_site_may_try_a_limit_from_their_own_forms(
    people: People, claims: System, as_user: AsUser, django_capture_on_commit_callbacks: Commit
) -> None:
    typed = {"name": LIMIT, "value": "60", "try": "1"}
    for user, address in (
        (people.owner, reverse("system-limit", args=[claims.pk])),
        (people.administrator, reverse("rule-limit", kwargs={"rule_id": RULE})),
    ):
        with django_capture_on_commit_callbacks(execute=True):
            answer = as_user(user).post(address, typed)
        assert answer["Location"] == reverse("backtest", args=[Backtest.objects.latest("pk").pk])
        assert as_user(user).post(address, {**typed, "value": "101"}).status_code == 400
    assert list(Backtest.objects.order_by("pk").values_list("system", "there")) == [(claims.pk, 3), (None, 3)]
    assert not LimitSetting.objects.exists()


def test_retention_takes_old_trials(people: People, claims: System, django_capture_on_commit_callbacks: Commit) -> None:
    row = tried(django_capture_on_commit_callbacks, people.owner, 60, claims)
    Backtest.objects.filter(pk=row.pk).update(finished=timezone.now() - timedelta(days=91))
    assert clear_up().trials_of_limits == 1
    assert not Backtest.objects.exists()
