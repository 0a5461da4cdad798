"""Made rows hold together as the service's own do."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from advisor.accounts.models import Team, User
from advisor.audits.models import Audit, Capture, Finding
from advisor.audits.services.persistence import LEVEL, settle_system
from advisor.audits.services.renewal import audit_again
from advisor.operations.seeding.captures import Amount, seed
from advisor.systems.models import SettingsSnapshot, System
from advisor.uploads.models import Blob, Input, Upload

SYSTEMS, CAPTURES, FINDINGS = 4, 260, 3119


@pytest.fixture
def made(db: None) -> Counter[str]:
    """Four systems with 65 captures each, about twelve findings a capture."""
    return seed(Amount(SYSTEMS, CAPTURES, FINDINGS))


def shape(value: Any) -> Any:
    """The names inside some JSON, without the values and without what is a name itself."""
    if isinstance(value, dict):
        return {name: shape(inner) for name, inner in value.items()}
    return [shape(value[0])] if isinstance(value, list) and value else type(value).__name__


def test_exactly_as_much_is_made_as_was_asked_for_and_all_of_it_is_marked(made: Counter[str]) -> None:
    assert (System.objects.count(), Capture.objects.count(), Audit.objects.count()) == (SYSTEMS, CAPTURES, CAPTURES)
    assert Finding.objects.count() == FINDINGS == made["findings"]
    assert Upload.objects.filter(state="done").exclude(bytes_dropped=None).count() == CAPTURES
    assert SettingsSnapshot.objects.count() == made["settings snapshots"] > SYSTEMS
    assert set(System.objects.values_list("product", flat=True)) == {"ase", "openvms"}
    names = [*System.objects.values_list("name", flat=True), *Team.objects.values_list("name", flat=True)]
    assert all(name.startswith("SEED") for name in names), names
    assert all(name.startswith("seed") for name in User.objects.values_list("username", flat=True))
    assert not Blob.objects.exists()
    assert not Finding.objects.filter(key__contains="CLAIMS1").exists(), "nothing is left of learning"
    assert User.objects.count() > SYSTEMS
    assert not any(user.has_usable_password() for user in User.objects.all()), "nobody who was seeded can log in"


@pytest.mark.parametrize(("captures", "findings"), [(CAPTURES, FINDINGS), (100, 610), (20, 0)])
def test_an_audit_holds_together_however_many_findings_it_has(db: None, captures: int, findings: int) -> None:
    seed(Amount(SYSTEMS, captures, findings))
    audits = Audit.objects.select_related("capture").prefetch_related("findings")
    assert len(audits) == captures
    for audit in audits:
        hold_together(audit, list(audit.findings.all()))
    with_plan = sum(bool(audit.plan["steps"]) for audit in audits)
    assert with_plan < captures
    assert bool(with_plan) == bool(findings)


def hold_together(audit: Audit, findings: list[Finding]) -> None:
    """What follows from the findings of an audit is in its other fields."""
    data = [finding.data for finding in findings]
    keys = [one["key"] for one in data]
    fired = {one["rule"] for one in data}
    assert [finding.number for finding in findings] == list(range(len(findings)))
    assert len(set(keys)) == len(keys)
    assert audit.findings_digest == {one["key"]: LEVEL[one["severity"]] for one in data}
    assert {verdict["rule"] for verdict in audit.verdicts if verdict["verdict"] == "fired"} == fired
    assert sum(audit.counts.values()) == len(audit.verdicts) + len(findings)
    assert audit.counts.get("fired", 0) == len(fired)
    assert audit.worst == max((finding.severity for finding in findings), default=0)
    if findings:
        assert audit.headline == findings[audit.headline_number].title
        assert findings[audit.headline_number].severity == audit.worst
    explained = {key for one in data for key in one["explains"]}
    assert explained <= set(keys)
    changes = {change["key"] for one in data for change in one["changes"]}
    planned = {key for step in audit.plan["steps"] for key in step["change_keys"]}
    assert planned <= changes
    assert bool(planned) == bool(changes)
    costs = [one["cost"]["processors"] for one in data if one["cost"] and one["key"] not in explained]
    assert audit.processors_lost == (pytest.approx(sum(costs)) if costs else None)
    assert audit.capture.audit_id == audit.pk


def test_a_finding_says_the_same_figure_in_its_evidence_and_in_its_columns(made: Counter[str]) -> None:
    for finding in Finding.objects.all():
        data = finding.data
        assert (finding.key, finding.rule, finding.subject) == (data["key"], data["rule"], data["subject"])
        assert data["key"] == f"{data['rule']}:{data['subject']}"
        assert finding.value in [item["value"] for item in data["evidence"]]
        assert not any(
            item["unit"].startswith("%") and item["value"] > 100 for item in data["evidence"] if item["limit"]
        )
    dear = Finding.objects.filter(rule="ase/address_lock_spinlock_contended", subject__startswith="SEED")
    assert dear.exists()
    for finding in dear:
        assert f"{finding.value:g} %" in finding.title


def test_the_overview_of_a_made_system_is_what_the_service_makes_of_it(made: Counter[str]) -> None:
    for system in System.objects.all():
        before = (system.latest_id, system.trend, system.version, system.platform, system.processors)
        newest = system.captures.first()
        assert newest is not None
        assert system.latest_id == newest.audit_id
        assert len(system.trend) == 40
        settle_system(system)
        system.refresh_from_db()
        assert (system.latest_id, system.trend, system.version, system.platform, system.processors) == before


def test_made_rows_have_the_shape_of_what_the_service_stores(bring: Callable[..., Upload]) -> None:
    real = bring("address_lock_storm").captures.get()
    seed(Amount(1, 24, 480), add=True)
    system = System.objects.get(key__startswith="SEED")
    (audit, *_) = [a for a in Audit.objects.filter(system=system) if a.plan["steps"]]
    assert real.audit is not None
    assert shape(audit.plan) == shape(real.audit.plan)
    assert shape(audit.verdicts) == shape(real.audit.verdicts)
    theirs = {finding.rule: shape(finding.data) for finding in real.audit.findings.all()}
    assert {f.rule: shape(f.data) for f in audit.findings.filter(subject=system.name)} == theirs
    assert shape(audit.capture.figures) == shape(real.figures)
    assert audit.capture.interval.keys() == real.interval.keys()
    assert audit.capture.settings is not None
    assert real.settings is not None
    assert audit.capture.settings.values.keys() == real.settings.values.keys()
    assert real.upload is not None
    assert [*Input.objects.filter(upload=audit.capture.upload).values_list("file", "report", "leftovers")] == [
        *Input.objects.filter(upload=real.upload).values_list("file", "report", "leftovers")
    ]


def test_a_made_capture_can_be_audited_again(made: Counter[str]) -> None:
    system = System.objects.filter(product="ase").first()
    assert system is not None
    assert system.latest is not None
    audit = audit_again(system.latest.capture_id)
    assert audit is not None
    assert audit.problems == []
    assert audit.findings.filter(subject=system.name).exists()


def test_a_database_that_holds_systems_is_seeded_only_when_told_to_add(made: Counter[str]) -> None:
    amount = {"systems": 2, "captures": 4, "findings": 8}
    with pytest.raises(CommandError, match="--add"):
        call_command("seed", **amount)
    assert System.objects.count() == SYSTEMS
    call_command("seed", **amount, add=True)
    assert sorted(System.objects.values_list("name", flat=True)) == [f"SEED{n:04d}" for n in range(1, SYSTEMS + 3)]


@pytest.mark.parametrize("amount", [(0, 0, 0), (5, 4, 0), (1, 1, 201), (1, 1, -1)])
def test_an_amount_that_cannot_be_is_refused(db: None, amount: tuple[int, int, int]) -> None:
    names = ("systems", "captures", "findings")
    with pytest.raises(CommandError, match="seed"):
        call_command("seed", **dict(zip(names, amount, strict=True)))
    assert not Team.objects.exists()
