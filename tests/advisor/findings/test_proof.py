"""From a change to its proof: by real captures, held against each other by the comparison that pages show, too."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.urls import reverse

from advisor.audits.services import comparing
from advisor.findings.models import TrackedFinding
from advisor.findings.services import proof, states
from advisor.operations.tasks import start_waiting
from advisor.systems.models import System
from advisor.uploads.models import Upload
from tests.advisor.audits.compared.states import ADVISED, SETTING
from tests.advisor.findings.claims import first_day, followed, told
from tests.advisor.keeping import keeps
from tests.advisor.people import AsUser, People, text_of
from tests.advisor.seen import words_of

pytestmark = pytest.mark.postgres

shared = keeps(first_day)
Day = Callable[..., Upload]
NOON = datetime(2026, 2, 11, 12, 0, tzinfo=UTC)
"""After the capture of 11 February, before that of the 12th."""
SET = (SETTING, ADVISED)
CONFIG = "lock address spinlock ratio"


def made_by_hand(people: People, at: datetime = NOON) -> None:
    with time_machine.travel(at):
        states.change_made(people.owner, [followed().pk], "CHG-4471")


def test_a_setting_in_force_is_seen_by_itself_and_the_promise_stands_beside_what_came(
    people: People, day: Day, as_user: AsUser
) -> None:
    day(12, spread=True, xacts=431.0)
    row = followed()
    assert (row.state, row.state_by, row.presence) == ("proven", None, "gone")
    (_, made), (_, proven) = [one for one in told(row) if one[0] == "state"]
    assert made == (
        "Change made. The capture of 2026-02-12 10:40 shows it: lock address spinlock ratio 100 → 5, in force"
    )
    assert proven.startswith(
        "Proven: Gone: address lock hash table spinlock contention 52.3 → 2.1 %. engines busy, all together, CPU ms per"
    )
    assert (row.proof["was"], row.proof["now"], row.proof["verdict"]) == (52.3, 2.1, "improved")
    assert [(one["metric"], one["to"], one["came"]) for one in row.proof["promise"]] == [
        ("number of address lock hash table spinlocks", 207, None),
        ("address lock hash table spinlock contention", 2.8, 2.1),
    ]
    untouched = followed("ase/object_descriptor_spinlock_contended")
    assert (untouched.state, untouched.proof, untouched.before, untouched.to_judge) == ("open", {}, None, False)
    own = text_of(as_user(people.owner), reverse("finding", args=[row.pk]))
    assert '<a class="button main" href="#proof">See the proof</a>' in own
    assert '<button class="main">I made the change</button>' not in own
    assert '<button class="main">I made the change</button>' in text_of(
        as_user(people.owner), reverse("finding", args=[untouched.pk])
    )
    text = text_of(as_user(people.colleague), reverse("finding", args=[row.pk]))
    assert "address lock hash table spinlock contention (heuristic) 52.3 2.8 2.1" in words_of(text)
    assert f"?before={row.proof['before']}&amp;after={row.proof['after']}" in text


def test_an_accepted_finding_whose_change_was_made_is_proven_too(people: People, day: Day) -> None:
    states.accept(people.owner, [followed().pk], datetime(2999, 1, 1, tzinfo=UTC).date(), "until the upgrade")
    day(12, spread=True, xacts=431.0)
    assert followed().state == "proven"


def test_what_somebody_made_and_no_export_tells_of_is_judged_by_a_capture_that_began_later(
    people: People, day: Day
) -> None:
    made_by_hand(people)
    quiet = (CONFIG, "lock hash spinlock ratio ")  # the listing does not have the setting
    day(12, ("52.3 %", " 2.1 %"), quiet, xacts=431.0)
    row = followed()
    assert (row.state, row.proof["settings"][0].partition(", ")[2]) == ("proven", "no export of the after tells")


def test_a_capture_that_was_taken_before_somebody_made_the_change_proves_nothing(people: People, day: Day) -> None:
    made_by_hand(people, NOON + timedelta(days=3))
    day(12, ("52.3 %", " 2.1 %"), (CONFIG, "lock hash spinlock ratio "), xacts=431.0)
    row = followed()
    assert (row.state, row.proof, row.to_judge) == ("change-made", {}, False)


def test_a_change_that_is_not_in_force_waits_and_says_so_once(people: People, day: Day) -> None:
    made_by_hand(people)
    day(12)
    day(13)
    row = followed()
    assert (row.state, row.proof["verdict"]) == ("change-made", "not-in-force")
    said = [text for kind, text in told(row) if kind == "state"][1:]
    assert said == ["Not proven yet: lock address spinlock ratio 100 → 5, not in force: 100."]
    day(14, spread=True, xacts=431.0)
    assert followed().state == "proven"


def test_nothing_is_proven_where_the_work_was_not_alike(people: People, day: Day, as_user: AsUser) -> None:
    day(12, (" 10:30:00", " 22:30:00"), (" 10:40:00", " 22:40:00"), spread=True, xacts=431.0)  # at night
    row = followed()
    assert (row.state, row.proof["verdict"], row.proof["state"]) == ("change-made", "not-comparable", "")
    assert [text for kind, text in told(row) if kind == "state"][1].startswith(
        "Not proven yet: The work was not comparable"
    )
    words = words_of(text_of(as_user(people.owner), reverse("finding", args=[row.pk])))
    assert "To judge it, collect a capture of the same hour and the same kind of day as the other side" in words
    day(13, spread=True, xacts=310.0)
    row = followed()
    assert (row.state, row.proof["verdict"]) == ("proven", "no-effect"), "its figure is what was promised"


def test_a_change_in_force_that_moved_nothing_had_no_effect(people: People, day: Day) -> None:
    day(12, SET)
    row = followed()
    assert (row.state, row.presence, row.proof["now"]) == ("no-effect", "standing", 52.3)
    assert told(row)[-1][1].startswith(
        "Did not help: Still found: address lock hash table spinlock contention 52.3 → 52.3 %. "
        "Nothing that decides moved"
    )


def test_a_change_in_force_after_which_it_is_worse_is_worse(people: People, day: Day) -> None:
    day(12, SET, ("52.3 %", "70.1 %"))
    assert (followed().state, followed().proof["now"]) == ("worse", 70.1)


def test_what_was_proven_is_open_again_when_it_is_found_again(people: People, day: Day) -> None:
    day(12, spread=True, xacts=431.0)
    day(13)
    row = followed()
    assert (row.state, row.presence) == ("open", "standing")
    assert told(row)[-1] == ("state", "Open again: it was seen again after it was proven")


def test_a_lost_task_is_made_up_for_and_one_that_comes_twice_changes_nothing(people: People, day: Day) -> None:
    day(12, spread=True, xacts=431.0)
    row = followed()
    events = row.events.count()
    assert proof.prove(row.system_id) == 0
    TrackedFinding.objects.filter(pk=row.pk).update(state="open", proof={}, to_judge=True)
    assert list(proof.waiting()) == [System.objects.get()]
    start_waiting()
    assert followed().state == "proven"
    assert followed().events.count() == events + 2
    assert not proof.waiting().exists()


def test_what_somebody_decides_meanwhile_counts(people: People, day: Day, monkeypatch: pytest.MonkeyPatch) -> None:
    day(12, spread=True, xacts=431.0)
    row = followed()
    TrackedFinding.objects.filter(pk=row.pk).update(state="open", proof={}, to_judge=True)
    judge = comparing.compared

    def slow(*asked: object) -> object:
        states.plan(people.owner, [row.pk], "wait for the window")
        return judge(*asked)  # type: ignore[arg-type]

    monkeypatch.setattr(proof, "compared", slow)
    assert proof.prove(row.system_id) == 0
    assert (followed().state, followed().proof) == ("planned", {})
