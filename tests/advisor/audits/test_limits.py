"""A site and a system set limits of their own; the newest audits follow."""

from collections.abc import Callable

import pytest
from pytest_django import DjangoCaptureOnCommitCallbacks

from advisor.audits.models import Audit, LimitSetting
from advisor.audits.services.limits import (
    BadLimit,
    limits_of,
    set_limit,
    take_back_limit,
)
from advisor.audits.services.rulebook import judging, rulebook
from advisor.core.models import JournalEntry
from advisor.systems.models import System
from advisor.uploads.models import Upload
from tests.advisor.ase.servers import audited
from tests.advisor.keeping import keeps
from tests.advisor.people import AsUser, People, text_of

pytestmark = pytest.mark.postgres

shared = keeps("address_lock_storm")

CONTENTION = "ase/address_lock_spinlock_contended.contention_percent"
RULE = "ase/address_lock_spinlock_contended"


def fired(system: System) -> bool:
    system.refresh_from_db()
    assert system.latest is not None
    return any(key.startswith(RULE) for key in system.latest.findings_digest)


def test_a_limit_of_a_system_renews_its_newest_audit_and_going_back_does_too(
    people: People, storm: System, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    assert fired(storm)
    with django_capture_on_commit_callbacks(execute=True):
        set_limit(CONTENTION, 90, people.owner, system=storm, why="known, in migration")
    assert not fired(storm)
    assert storm.latest is not None
    assert (storm.latest.why, storm.latest.limits) == ("limits changed", {CONTENTION: 90})
    with django_capture_on_commit_callbacks(execute=True):
        assert take_back_limit(CONTENTION, people.owner, system=storm)
    assert fired(storm)
    assert Audit.objects.filter(system=storm).count() == 3, "earlier audits stay until retention takes them"
    assert [e.action for e in JournalEntry.objects.all()][:2] == ["limit taken back", "limit set"]


def test_a_systems_limit_goes_before_the_sites(people: People, storm: System) -> None:
    set_limit(CONTENTION, 40, people.administrator, system=None)
    assert limits_of(storm) == {CONTENTION: 40}
    set_limit(CONTENTION, 20, people.owner, system=storm)
    assert limits_of(storm) == {CONTENTION: 20}
    assert LimitSetting.objects.count() == 2


def test_a_limit_of_the_site_renews_every_system_of_the_product_and_no_other(
    people: People,
    storm: System,
    bring: Callable[..., Upload],
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    bring("quiet_two_node_day")
    before = dict(System.objects.values_list("name", "latest"))
    with django_capture_on_commit_callbacks(execute=True):
        set_limit(CONTENTION, 90, people.administrator, system=None)
    after = dict(System.objects.values_list("name", "latest"))
    assert {name for name in after if after[name] != before[name]} == {"CLAIMS1"}


def test_a_limit_of_a_database_renews_the_nodes_that_hold_databases_too(
    people: People, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    entry = next(one for one in rulebook("rdb") if one["limits"])
    limit = f"{entry['rule']}.{entry['limits'][0]['limit']}"
    node, server = (audited(people, [], name, product) for name, product in (("SKYE", "openvms"), ("CLAIMS", "ase")))
    with django_capture_on_commit_callbacks(execute=True):
        set_limit(limit, entry["limits"][0]["value"] + 1, people.administrator, system=None)
    newest = dict(System.objects.values_list("name", "latest"))
    assert newest["SKYE"] != node.pk
    assert newest["CLAIMS"] == server.pk


def test_a_node_may_have_limits_of_its_own_for_the_databases_on_it(people: People, as_user: AsUser) -> None:
    node = audited(people, [], "SKYE", "openvms").system
    assert "rdb/page_locks_dominate." in text_of(as_user(people.owner), f"/systems/{node.pk}/")
    server = audited(people, [], "CLAIMS", "ase").system
    assert "rdb/page_locks_dominate." not in text_of(as_user(people.owner), f"/systems/{server.pk}/")


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("ase/no_such.limit", 1, "no rule is called"),
        (CONTENTION, 101, "outside 0 to 100"),
        (f"{RULE}.x", 1, "are"),
        (f"{RULE}.lookups_per_second", float("inf"), "outside"),
        (f"{RULE}.lookups_per_second", float("nan"), "outside"),
        (f"{RULE}.target_ratio", 2.5, "no whole number"),
    ],
)
def test_a_limit_that_makes_no_sense_is_refused(people: People, name: str, value: float, says: str) -> None:
    with pytest.raises(BadLimit, match=says):
        set_limit(name, value, people.owner, system=None)
    assert not LimitSetting.objects.exists()


def test_every_limit_of_its_own_product_stands_on_its_page_for_who_may_set_them(
    people: People, storm: System, as_user: AsUser
) -> None:
    node = System.objects.create(team=people.team, product="openvms", name="NODE", key="NODE")
    for system, product in ((storm, "ase"), (node, "openvms"), (storm, "ase")):
        page = text_of(as_user(people.owner), f"/systems/{system.pk}/")
        rows = page.count('data-label="From"')
        assert rows == sum(len(rule["limits"]) for one in judging(product) for rule in rulebook(one)) > 10
        assert "&lt;tr" not in page
        assert 'data-label="From"' not in text_of(as_user(people.colleague), f"/systems/{system.pk}/")


def test_a_limit_that_no_rule_has_any_more_is_left_out(people: People, storm: System) -> None:
    LimitSetting.objects.create(system=storm, name="ase/gone_rule.limit", value=1)
    assert limits_of(storm) == {}
