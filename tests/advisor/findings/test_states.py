"""What people decide about findings: who may, what it takes, what is written, and when an acceptance ends."""

from collections.abc import Callable
from datetime import date, timedelta

import pytest
import time_machine
from django.core.exceptions import PermissionDenied
from django.utils import timezone

from advisor.accounts.models import User
from advisor.core.models import JournalEntry
from advisor.core.records import Refused
from advisor.findings.models import FindingEvent, TrackedFinding
from advisor.findings.services import states
from advisor.operations.tasks import start_waiting
from advisor.systems.models import System
from tests.advisor.findings.claims import followed, told
from tests.advisor.keeping import keeps
from tests.advisor.people import People

pytestmark = pytest.mark.postgres

shared = keeps("address_lock_storm")


def in_days(days: int) -> date:
    return timezone.localdate() + timedelta(days=days)


def test_a_finding_is_accepted_until_a_day_with_its_reason(people: People, storm: System) -> None:
    row = followed()
    assert states.accept(people.owner, [row.pk], in_days(30), "  the batch ends\r\nthen ", 0.5) == 1
    row = followed()
    assert (row.state, row.state_until, row.state_why, row.state_by) == (
        "accepted",
        in_days(30),
        "the batch ends then",
        people.owner,
    )
    assert (row.state_value, row.state_severity, row.back_if) == (52.3, 4, 0.5)
    event = row.events.get(kind="state")
    assert (event.who, event.value) == ("olga", 52.3)
    assert event.text == f"accepted it until {in_days(30)}, back if worse by 50 %\nthe batch ends then"
    entry = JournalEntry.objects.get(action="finding accepted")
    assert (entry.who, entry.system) == ("olga", storm)
    assert entry.what == f"{row.title}: until {in_days(30)}: the batch ends then"


@pytest.mark.parametrize(
    ("days", "why", "back_if", "said"),
    [
        (30, " \u200b ", 0.25, "Say why"),
        (0, "because", 0.25, "a day in the future"),
        (-1, "because", 0.25, "a day in the future"),
        (None, "because", 0.25, "a day in the future"),
        (30, "because", -0.1, "0 to 10"),
        (30, "because", float("nan"), "0 to 10"),
    ],
)
def test_an_acceptance_needs_a_reason_and_a_day_in_the_future(
    people: People, storm: System, days: int | None, why: str, back_if: float, said: str
) -> None:
    until = None if days is None else in_days(days)
    with pytest.raises(Refused, match=said):
        states.accept(people.owner, [followed().pk], until, why, back_if)
    assert followed().state == "open"


def test_many_are_decided_at_once_and_told_once_in_the_journal(people: People, storm: System) -> None:
    everything = list(TrackedFinding.objects.values_list("pk", flat=True))
    assert states.plan(people.owner, everything, "CHG-4471") == len(everything) > 3
    assert set(TrackedFinding.objects.values_list("state", "state_why")) == {("planned", "CHG-4471")}
    assert FindingEvent.objects.filter(kind="state").count() == len(everything)
    entry = JournalEntry.objects.get(action="finding planned")
    assert entry.what.startswith(f"{len(everything)} findings, ")


def test_who_may_not_see_it_changes_nothing_and_who_reads_is_refused(people: People, storm: System) -> None:
    row = followed()
    acts: list[Callable[[User], int]] = [
        lambda who: states.accept(who, [row.pk], in_days(1), "because"),
        lambda who: states.plan(who, [row.pk]),
        lambda who: states.change_made(who, [row.pk]),
        lambda who: states.reopen(who, [row.pk]),
        lambda who: states.assign(who, [row.pk], None),
        lambda who: states.comment(who, [row.pk], "hello"),
    ]
    for act in acts:
        assert act(people.stranger) == 0
        with pytest.raises(PermissionDenied):
            act(people.colleague)
    assert followed().state == "open"
    assert told(row) == [("seen", "")]
    assert not JournalEntry.objects.filter(action__startswith="finding").exists()
    for act in acts:
        assert act(people.administrator) == act(people.mate) == 1


def test_a_change_is_held_against_the_newest_capture_of_that_moment(people: People, storm: System) -> None:
    assert storm.latest is not None
    states.change_made(people.owner, [followed().pk], "CHG-4471, Sunday")
    row = followed()
    assert (row.state, row.before_id, row.state_by) == ("change-made", storm.latest.capture_id, people.owner)
    assert told(row)[-1] == ("state", "made the change\nCHG-4471, Sunday")
    states.reopen(people.owner, [row.pk])
    row = followed()
    assert (row.state, row.before, row.state_why) == ("open", None, "")


def test_a_finding_is_given_to_who_may_work_for_the_team(people: People, storm: System) -> None:
    row = followed()
    states.assign(people.owner, [row.pk], people.mate)
    assert followed().owner == people.mate
    assert told(row)[-1] == ("owner", "assigned it to mats")
    for nobody in (people.colleague, people.stranger):
        with pytest.raises(Refused, match="may not work for the team Claims"):
            states.assign(people.owner, [row.pk], nobody)
    assert list(states.owners_for(people.team)) == [people.administrator, people.mate, people.owner]
    states.assign(people.mate, [row.pk], None)
    assert followed().owner is None


def test_a_comment_is_kept_as_it_was_written(people: People, storm: System) -> None:
    row = followed()
    states.comment(people.owner, [row.pk], " <b>asked for</b>\r\nSunday 06:00 ")
    assert told(row)[-1] == ("comment", "<b>asked for</b>\nSunday 06:00")
    with pytest.raises(Refused, match="Write something"):
        states.comment(people.owner, [row.pk], " \n ")
    with pytest.raises(Refused, match="2,000"):
        states.comment(people.owner, [row.pk], "x" * 2001)
    assert followed().state_since == row.state_since


def test_an_acceptance_ends_by_itself_after_its_last_day(people: People, storm: System) -> None:
    row = followed()
    states.accept(people.owner, [row.pk], in_days(2), "because")
    start_waiting()
    assert followed().state == "accepted"
    with time_machine.travel(timezone.now() + timedelta(days=2)):
        start_waiting()
        assert followed().state == "accepted", "its last day counts"
    with time_machine.travel(timezone.now() + timedelta(days=3)):
        assert not TrackedFinding.objects.filter(states.accepted_now()).exists(), "before any sweep"
        start_waiting()
        start_waiting()
    row = followed()
    assert (row.state, row.state_by, row.state_until) == ("open", None, None)
    assert told(row)[-1] == ("state", f"Open again: accepted until {in_days(2)}: that day has passed")
    assert [kind for kind, _ in told(row)].count("state") == 2
