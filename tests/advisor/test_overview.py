"""The first page: every system with its worst finding, and what changed since the last visit."""

from collections.abc import Callable
from datetime import timedelta

from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, DjangoCaptureOnCommitCallbacks

from advisor.models import Audit, System, Upload, User
from advisor.services import overview
from advisor.services.limits import set_limit
from tests.advisor.people import AsUser, People, text_of


def test_a_system_stands_with_its_worst_finding_and_what_was_not_judged(
    people: People, storm: System, as_user: AsUser
) -> None:
    page = text_of(as_user(people.colleague), "/")
    assert storm.latest is not None
    assert "CLAIMS1" in page
    assert storm.latest.headline in page
    assert f"/audits/{storm.latest.pk}/#f{storm.latest.headline_number}" in page
    assert storm.latest.worst == 4


def test_a_stranger_sees_nothing_of_it(people: People, storm: System, as_user: AsUser) -> None:
    page = text_of(as_user(people.stranger), "/")
    assert "CLAIMS1" not in page
    assert "No systems yet" in page


def test_an_administrator_sees_every_team(people: People, storm: System, as_user: AsUser) -> None:
    assert "CLAIMS1" in text_of(as_user(people.administrator), "/")


def test_search_looks_at_names_and_findings(
    people: People, storm: System, bring: Callable[..., Upload], as_user: AsUser
) -> None:
    bring("quiet_two_node_day")
    olga = as_user(people.owner)
    assert "CLAIMS1" in text_of(olga, "/?q=address+lock")
    assert "TROMSO" not in text_of(olga, "/?q=claims1")
    assert "No system fits" in text_of(olga, "/?q=nowhere")
    assert "TROMSO" not in text_of(olga, "/?severity=warning")
    assert "TROMSO" in text_of(olga, "/?product=openvms")


def test_a_query_of_the_filter_gets_the_table_alone(people: People, storm: System, as_user: AsUser) -> None:
    answer = as_user(people.owner).get("/?q=claims", headers={"HX-Request": "true"})
    assert "<html" not in answer.content.decode()
    assert "CLAIMS1" in answer.content.decode()


def test_what_changed_since_the_last_visit_is_said(
    people: People,
    storm: System,
    as_user: AsUser,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    User.objects.filter(pk=people.owner.pk).update(visited=timezone.now() - timedelta(hours=5))
    Audit.objects.update(at=timezone.now() - timedelta(hours=9))
    with django_capture_on_commit_callbacks(execute=True):
        limit = "ase/address_lock_spinlock_contended.contention_percent"
        set_limit(limit, 90, people.owner, system=storm)
    olga = as_user(people.owner)
    assert "1 gone" in text_of(olga, "/")
    assert "1 gone" in text_of(olga, "/?only=changed"), "a second look within the visit still says so"
    assert "1 gone" not in text_of(as_user(people.mate), "/"), "a first visit has nothing to compare with"


def test_a_system_without_its_expected_capture_is_overdue(people: People, storm: System, as_user: AsUser) -> None:
    assert "overdue</span>" not in text_of(as_user(people.owner), "/")
    System.objects.update(expected_hours=1)
    page = text_of(as_user(people.owner), "/?only=overdue")
    assert "CLAIMS1" in page
    assert "overdue</span>" in page


def test_findings_are_compared_by_key_and_severity() -> None:
    found = overview.difference({"a": 2, "b": 2, "c": 3, "d": 1}, {"a": 3, "b": 1, "d": 1, "e": 4})
    assert (found.new, found.worse, found.better, found.gone, found.still) == (["e"], ["a"], ["b"], ["c"], ["d"])
    assert str(found) == "1 new, 1 worse, 1 better, 1 gone"
    assert not overview.difference({"a": 1}, {"a": 1})


def test_more_systems_take_no_more_queries(
    people: People, storm: System, as_user: AsUser, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(30):
        System.objects.create(
            team=people.team, product="ase", name=f"S{number}", key=f"S{number}", latest=storm.latest, trend=storm.trend
        )
    User.objects.filter(pk=people.owner.pk).update(visited=timezone.now() - timedelta(days=2))
    olga = as_user(people.owner)
    with django_assert_max_num_queries(13):
        text_of(olga, "/")
