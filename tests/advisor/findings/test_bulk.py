"""Acting on many findings of the list at once."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from advisor.core.models import JournalEntry
from advisor.findings.models import TrackedFinding
from advisor.systems.models import System
from tests.advisor.findings.followed import followed
from tests.advisor.people import AsUser, People, text_of

pytestmark = pytest.mark.postgres
State = TrackedFinding.State


@pytest.fixture
def three(people: People) -> list[TrackedFinding]:
    one = System.objects.create(team=people.team, product="ase", name="CLAIMS1", key="CLAIMS1")
    two = System.objects.create(team=people.team, product="rdb", name="LEWIS", key="LEWIS")
    return [followed(one, "first"), followed(two, "second"), followed(two, "third")]


def act(as_user: AsUser, user: Any, rows: list[TrackedFinding], **given: Any) -> str:
    """Act on the first two findings; gives the page one comes back to."""
    posted = {"pick": [one.pk for one in rows[:2]], "query": "severity=warning&sort=-lost", **given}
    answer = as_user(user).post("/findings/act/", posted, follow=True)
    assert answer.redirect_chain == [("/findings/?severity=warning&sort=-lost", 302)]
    return answer.content.decode()


def states(rows: list[TrackedFinding]) -> list[str]:
    for one in rows:
        one.refresh_from_db()
    return [one.state for one in rows]


@pytest.mark.parametrize(
    ("do", "state", "says"),
    [
        ("plan", State.PLANNED, "2 findings planned."),
        ("change-made", State.CHANGE_MADE, "2 findings waiting for proof."),
        ("reopen", State.OPEN, "2 findings open again."),
    ],
)
def test_a_state_is_set_for_all_that_are_ticked(
    people: People, three: list[TrackedFinding], as_user: AsUser, do: str, state: str, says: str
) -> None:
    TrackedFinding.objects.update(state=State.ACCEPTED)
    assert says in act(as_user, people.owner, three, do=do, why="next window")
    assert states(three) == [state, state, State.ACCEPTED]
    assert [one.state_by for one in three] == [people.owner, people.owner, None]
    assert JournalEntry.objects.filter(user=people.owner, action__startswith="finding").count() == 2, "once a system"


def test_accepting_takes_a_day_and_a_reason(people: People, three: list[TrackedFinding], as_user: AsUser) -> None:
    day = timezone.localdate() + timedelta(days=30)
    assert "Say why" in act(as_user, people.owner, three, do="accept", until=day.isoformat())
    assert "Choose a day in the future" in act(as_user, people.owner, three, do="accept", why="x", until="2020-01-01")
    assert "until: Enter a valid date" in act(as_user, people.owner, three, do="accept", why="x", until="soon")
    assert states(three) == [State.OPEN] * 3
    page = act(as_user, people.owner, three, do="accept", why="the upgrade is near", until=day.isoformat())
    assert "2 findings accepted." in page
    assert f"Accepted until {day.isoformat()}" in page
    assert states(three) == [State.ACCEPTED, State.ACCEPTED, State.OPEN]


def test_findings_are_assigned_to_somebody_who_may_work_for_them(
    people: People, three: list[TrackedFinding], as_user: AsUser
) -> None:
    assert "2 findings assigned to mats." in act(as_user, people.owner, three, do="assign", owner=people.mate.pk)
    assert "may not work for" in act(as_user, people.owner, three, do="assign", owner=people.stranger.pk)
    states(three)
    assert [one.owner for one in three] == [people.mate, people.mate, None]
    assert "2 findings assigned to nobody." in act(as_user, people.owner, three, do="assign", owner="")
    states(three)
    assert [one.owner for one in three] == [None] * 3
    page = text_of(as_user(people.owner), "/findings/")
    offered = page[page.index('id="act-owner"') :].split("</select>")[0]
    assert [name in offered for name in ("olga", "mats", "adam", "carl", "sten")] == [True, True, True, False, False]


def test_nothing_ticked_and_nonsense_do_nothing(people: People, three: list[TrackedFinding], as_user: AsUser) -> None:
    assert "Tick the findings first" in act(as_user, people.owner, three, do="plan", pick=["x", "-1", "²", "9" * 30])
    assert "Nothing was done" in act(as_user, people.owner, three, do="delete")
    assert states(three) == [State.OPEN] * 3
    assert as_user(people.owner).get("/findings/act/").status_code == 405


def test_a_viewer_and_a_stranger_change_nothing(people: People, three: list[TrackedFinding], as_user: AsUser) -> None:
    posted = {"pick": [one.pk for one in three], "do": "plan"}
    assert as_user(people.colleague).post("/findings/act/", posted).status_code == 403
    assert 'name="pick"' not in text_of(as_user(people.colleague), "/findings/")
    answer = as_user(people.stranger).post("/findings/act/", posted, follow=True)
    assert "0 findings planned" in answer.content.decode()
    assert states(three) == [State.OPEN] * 3


def test_the_way_back_is_a_filter_of_the_list_alone(
    people: People, three: list[TrackedFinding], as_user: AsUser
) -> None:
    posted = {"pick": [three[0].pk], "do": "plan", "query": "//example.org/?state=planned&next=//example.org"}
    answer = as_user(people.owner).post("/findings/act/", posted)
    assert answer["Location"] == "/findings/?"
