"""Findings are followed over the captures of a system: real exports, read and audited, in a real database."""

from collections.abc import Callable
from datetime import UTC, date, datetime

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django import DjangoCaptureOnCommitCallbacks

from advisor.audits.models import Audit, Capture
from advisor.audits.services.renewal import audit_again
from advisor.findings.models import FindingEvent, TrackedFinding
from advisor.findings.services import tracking
from advisor.operations.tasks import start_waiting
from advisor.systems.models import System
from advisor.systems.services.systems import forget_system, rename_system
from advisor.uploads.models import Upload
from advisor.uploads.services.uploads import read_again
from tests.advisor.findings.claims import ADDRESS, first_day, followed, told
from tests.advisor.keeping import keeps
from tests.advisor.people import People

pytestmark = pytest.mark.postgres

shared = keeps(first_day)
Day = Callable[..., Upload]


@pytest.mark.django_db
def test_an_audit_follows_each_of_its_findings_with_its_figure_and_its_step() -> None:
    system = System.objects.get()
    assert system.latest is not None
    rows = {row.key: row for row in TrackedFinding.objects.all()}
    assert set(rows) == set(system.latest.findings_digest)
    row = followed()
    assert (row.value, row.unit, row.limit, row.severity) == (52.3, "%", 10.0, 4)
    assert (row.when, followed("ase/object_descriptor_spinlock_contended").when) == ("restart", "now")
    assert followed("ase/release_before_16").when == ""
    assert row.finding == system.latest.findings.get(rule=ADDRESS)
    assert row.first_seen == row.last_seen == Capture.objects.get().taken == datetime(2026, 2, 11, 10, 40, tzinfo=UTC)
    assert (row.seen, row.state, row.presence, told(row)) == (1, "open", "standing", [("seen", "")])


@pytest.mark.usefixtures("nothing_brought")
def test_a_processor_is_counted_once_with_what_causes_its_loss(bring: Callable[..., Upload]) -> None:
    bring("lock_bound_node")
    rows = {row.rule: row for row in TrackedFinding.objects.filter(presence="standing")}
    cause = rows.pop("openvms/resource_hash_table_undersized")
    assert (round(cause.processors or 0, 2), cause.counted_elsewhere) == (3.75, False)
    elsewhere = {rule for rule, row in rows.items() if row.counted_elsewhere}
    assert elsewhere == {"openvms/lock_manager_needs_own_cpu", "openvms/concurrency_past_peak"}
    assert [row.processors for row in rows.values()] == [None] * len(rows)


def test_what_is_found_again_counts_its_captures_and_has_the_newest_figure(day: Day) -> None:
    day(12, ("52.3 %", "61.7 %"))
    row = followed()
    assert (row.seen, row.value, row.first_seen.day, row.last_seen.day) == (2, 61.7, 11, 12)
    assert told(row) == [("seen", "")]


def test_what_a_capture_could_judge_and_did_not_find_is_gone_and_may_come_back(day: Day) -> None:
    day(12, ("52.3 %", " 2.1 %"))
    row = followed()
    assert (row.presence, row.seen, row.value, row.last_seen.day) == ("gone", 1, 52.3, 11)
    day(13)
    row = followed()
    assert (row.presence, row.seen, row.last_seen.day) == ("standing", 2, 13)
    assert [kind for kind, _ in told(row)] == ["seen", "gone", "back"]


def test_what_a_capture_could_not_judge_is_not_gone(day: Day) -> None:
    day(12, ("52.3 %", "***** "))
    row = followed()
    assert (row.presence, row.value, [kind for kind, _ in told(row)]) == ("not-judged", 52.3, ["seen"])


@pytest.mark.usefixtures("nothing_brought")
def test_a_capture_that_is_brought_late_overwrites_nothing_newer(day: Day) -> None:
    day(12, ("52.3 %", "61.7 %"))
    day(11)
    row = followed()
    assert (row.value, row.last_seen.day) == (61.7, 12)
    assert (row.seen, row.first_seen.day) == (2, 11)
    day(10, spread=True)
    assert followed().presence == "standing"


def test_to_audit_the_same_capture_again_counts_it_once(people: People) -> None:
    audit_again(Capture.objects.get().pk, people.owner)
    row = followed()
    assert (row.seen, Audit.objects.count(), told(row)) == (1, 2, [("seen", "")])
    assert row.finding is not None
    assert row.finding.audit == Capture.objects.get().audit


def test_an_upload_that_is_read_again_keeps_what_was_decided(
    people: People, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    upload = Upload.objects.get()
    TrackedFinding.objects.update(state="planned", owner=people.mate)
    with django_capture_on_commit_callbacks(execute=True):
        read_again(upload, people.owner)
    row = followed()
    assert (row.state, row.owner, row.seen) == ("planned", people.mate, 1)
    assert row.finding is not None


def test_an_audit_costs_seven_statements_more_where_nothing_came_or_went(day: Day) -> None:
    day(12)
    system = System.objects.get()
    with CaptureQueriesContext(
        connection,
    ) as asked:
        tracking.track(system)
    said = [one["sql"] for one in asked if not one["sql"].startswith(("BEGIN", "COMMIT", "SAVEPOINT", "RELEASE"))]
    assert len(said) <= 7, said


@pytest.mark.parametrize(
    ("value", "then", "limit", "severities", "worse"),
    [
        (65.5, 52.3, 10.0, (4, 4), True),
        (65.3, 52.3, 10.0, (4, 4), False),  # a quarter more is 65.375
        (40.0, 52.3, 10.0, (4, 4), False),
        (60.0, 90.0, 95.0, (3, 3), True),  # a hit ratio: below its limit, less is worse
        (99.0, 90.0, 95.0, (3, 3), False),
        (None, 52.3, 10.0, (4, 3), True),  # no figure: the severity tells
        (None, 52.3, 10.0, (3, 3), False),
        (80.0, 52.3, None, (3, 3), False),  # no limit: nobody knows which way is worse
    ],
)
def test_worse_is_farther_beyond_the_limit(
    value: float | None, then: float, limit: float | None, severities: tuple[int, int], worse: bool
) -> None:
    row = TrackedFinding(
        value=value, state_value=then, limit=limit, unit="%", severity=severities[0], state_severity=severities[1]
    )
    assert bool(tracking.worse_by(row)) is worse


def accept(until: date) -> None:
    row = followed()
    tracking.put(row, "accepted")
    row.state_until, row.state_why = until, "claims batch ends then"
    row.save()


def test_an_acceptance_ends_where_the_figure_is_worse_by_a_quarter(day: Day) -> None:
    accept(date(2999, 3, 1))
    day(12, ("52.3 %", "65.0 %"))
    assert followed().state == "accepted"
    day(13, ("52.3 %", "66.0 %"))
    row = followed()
    assert (row.state, row.state_until, row.state_why) == ("open", None, "")
    assert told(row)[-1] == ("state", "Open again: the figure rose from 52.3 to 66 % while accepted")


def test_an_acceptance_that_is_over_ends_with_the_next_audit_too(day: Day) -> None:
    accept(date(2026, 3, 1))
    day(12)
    row = followed()
    assert (row.state, told(row)[-1][1]) == ("open", "Open again: accepted until 2026-03-01: that day has passed")


def test_what_was_there_before_an_upgrade_is_followed_by_the_sweep(day: Day) -> None:
    day(12)
    TrackedFinding.objects.all().delete()
    start_waiting()
    assert (followed().seen, followed().first_seen.day) == (2, 11)
    assert not tracking.behind().exists()
    assert tracking.catch_up() == 0


def test_the_sweep_sees_what_an_old_worker_audited(day: Day) -> None:
    day(12, ("52.3 %", "61.7 %"))
    newest = Capture.objects.order_by("taken").last()
    assert newest is not None
    TrackedFinding.objects.update(value=52.3, finding=None)
    assert tracking.catch_up() == 1
    assert followed().value == 61.7


def test_a_renamed_system_keeps_what_was_decided(day: Day, people: People) -> None:
    TrackedFinding.objects.update(state="planned")
    rename_system(System.objects.get(), "LEDGER7", people.owner)
    day(12, ("CLAIMS1", "LEDGER7"))  # the server has the new name, too
    assert followed().seen == 1
    assert followed().key == f"{ADDRESS}:LEDGER7"
    assert set(TrackedFinding.objects.values_list("state", flat=True)) == {"planned"}
    assert FindingEvent.objects.filter(kind="gone").count() == 0


def test_a_merged_system_keeps_what_was_decided_of_both(day: Day, people: People) -> None:
    odd = System.objects.get()
    rename_system(odd, "ODD1", people.owner)
    TrackedFinding.objects.filter(rule=ADDRESS).update(state="planned", owner=people.mate)
    FindingEvent.objects.create(
        tracked=followed(), by=people.owner, who="olga", kind="comment", text="window asked for"
    )
    odd.refresh_from_db()
    odd.former = []
    odd.save()
    day(12)
    other = System.objects.get(name="CLAIMS1")
    rename_system(System.objects.get(name="ODD1"), "CLAIMS1", people.owner, merge=True)
    row = followed()
    assert (row.system, row.state, row.owner, row.key, row.seen) == (
        other,
        "planned",
        people.mate,
        f"{ADDRESS}:CLAIMS1",
        2,
    )
    assert "window asked for" in [text for _, text in told(row)]
    assert System.objects.count() == 1


def test_a_forgotten_system_is_forgotten_with_its_findings(people: People) -> None:
    forget_system(System.objects.get(), "CLAIMS1", people.owner)
    assert not TrackedFinding.objects.exists()
    assert not FindingEvent.objects.exists()
