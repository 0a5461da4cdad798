"""A renewed audit of one node keeps its links to the other nodes of its cluster, and they keep theirs to it."""

from collections.abc import Callable

import pytest
from pytest_django import DjangoCaptureOnCommitCallbacks

from advisor.audits.models import Audit, Capture
from advisor.audits.services.contract import audit_json, upload_json
from advisor.audits.services.limits import set_limit
from advisor.audits.services.renewal import audit_again, want_audit
from advisor.uploads.models import Upload
from tests.advisor.people import People

SLOW, REMOTE = "openvms/lock_master_on_slow_node:SKYE", "openvms/locks_mastered_remotely:ORKNEY"
BUSY = "openvms/locks_mastered_remotely.operations_per_second"


def node(name: str) -> Capture:
    return Capture.objects.select_related("audit").get(system__name=name)


def explained(name: str) -> dict[str, list[str]]:
    """What each finding of a node's current audit explains."""
    audit = node(name).audit
    assert audit is not None
    return {finding.key: finding.data["explains"] for finding in audit.findings.all()}


@pytest.fixture
def cluster(bring: Callable[..., Upload]) -> Upload:
    return bring("two_nodes_slow_master")


def test_a_node_that_is_audited_again_keeps_its_links_to_the_others(cluster: Upload) -> None:
    first = explained("SKYE")
    assert REMOTE in first[SLOW], "the story has a cause on the slow master"
    assert audit_again(node("SKYE").pk) is not None
    assert Audit.objects.filter(system__name="SKYE").count() == 2
    assert explained("SKYE") == first


def test_it_keeps_them_where_only_its_facts_are_left(
    cluster: Upload, people: People, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    cluster.files.all().delete()
    with django_capture_on_commit_callbacks(execute=True):
        want_audit(node("SKYE"), people.owner)
    assert REMOTE in explained("SKYE")[SLOW]


def test_the_links_of_the_others_follow_its_findings(
    cluster: Upload, people: People, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        set_limit(BUSY, 1e9, people.owner, system=node("ORKNEY").system)
    assert REMOTE not in explained("ORKNEY")
    assert all(REMOTE not in keys for keys in explained("SKYE").values()), "no link leads to what is not found any more"
    assert [audit.why for audit in Audit.objects.order_by("pk")][2:] == ["limits changed", "another node changed"]
    assert not Capture.objects.exclude(audit_wanted=None)


def test_a_renewal_that_finds_the_same_asks_no_other_node_for_one(
    cluster: Upload, people: People, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        want_audit(node("ORKNEY"), people.owner)
    assert Audit.objects.filter(system__name="SKYE").count() == 1


def test_the_cluster_is_kept_with_each_node_and_stays_one_when_a_node_is_audited_again(cluster: Upload) -> None:
    first = upload_json(cluster)
    (one,) = first["clusters"]
    assert one["nodes"] == ["ORKNEY", "SKYE"]
    assert one["account"][0]["capacity"] == 10.0
    made = audit_again(node("SKYE").pk)
    assert made is not None
    assert upload_json(cluster)["clusters"] == first["clusters"]
    (alone,) = audit_json(made)["clusters"]
    assert (alone["name"], alone["captures"]) == ("ORKNEY, SKYE", [0])
    assert audit_json(made)["captures"][0]["cluster"] == "ORKNEY, SKYE"


def test_a_cluster_is_told_as_its_newest_audit_has_it(
    cluster: Upload, people: People, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    (before,) = upload_json(cluster)["clusters"]
    with django_capture_on_commit_callbacks(execute=True):
        set_limit("openvms/lock_master_on_slow_node.served_percent", 99, people.owner, system=node("SKYE").system)
    (after,) = upload_json(cluster)["clusters"]
    assert before["plan"]["steps"]
    assert not after["plan"]["steps"], "nothing is to be done for a master that is not slow"
