"""What a person concludes from two captures on the page of before and after."""

from collections.abc import Callable

import pytest
from django.urls import reverse

from advisor.core.models import JournalEntry
from advisor.findings.models import TrackedFinding
from advisor.findings.services import states
from advisor.systems.models import System
from advisor.uploads.models import Upload
from tests.advisor.audits.compared.states import asked, captures
from tests.advisor.findings.claims import ADDRESS, first_day, followed, told
from tests.advisor.keeping import keeps
from tests.advisor.people import AsUser, People, text_of
from tests.advisor.seen import words_of

pytestmark = pytest.mark.postgres

shared = keeps(first_day)
Day = Callable[..., Upload]
QUIET = ("lock address spinlock ratio", "lock hash spinlock ratio ")
"""The listing does not tell the setting: no export says that the change was made."""
HELPED = (("52.3 %", " 2.1 %"), QUIET)
HOSTILE = "<b>CHG</b> 4471"


def sent(state: str, why: str = "", *picked: TrackedFinding) -> dict[str, object]:
    before, after = captures()[-2:]
    return {
        "state": state,
        "why": why,
        "before": [before.pk],
        "after": [after.pk],
        "pick": [one.pk for one in picked or (followed(),)],
    }


def address(name: str = "compare-conclude") -> str:
    return reverse(name, args=[System.objects.get(name="CLAIMS1").pk])


def said_after(as_user: AsUser, people: People, given: dict[str, object]) -> str:
    """What the page says after the form was sent."""
    client = as_user(people.owner)
    answer = client.post(address(), given, follow=True)
    assert answer.status_code == 200
    return words_of(answer.content.decode())


def test_what_no_export_tells_of_is_concluded_from_the_page_with_the_figures_beside(
    people: People, day: Day, as_user: AsUser
) -> None:
    day(12, *HELPED, xacts=431.0)
    assert (followed().state, followed().presence) == ("open", "gone")
    page = text_of(as_user(people.owner), f"{address('compare')}?{asked(captures()[:1], captures()[1:])}")
    assert f'name="pick" value="{followed().pk}" form="conclude"' in page
    assert "Select findings to note below" in page.partition('form="conclude"')[0], "said before the boxes"
    assert "Noted at 1 finding." in said_after(as_user, people, sent("as-told", HOSTILE))
    row = followed()
    assert (row.state, row.state_by, row.state_why) == ("proven", people.owner, HOSTILE)
    assert (row.proof["was"], row.proof["now"], row.proof["verdict"]) == (52.3, 2.1, "improved")
    assert told(row)[-1] == ("state", f"concluded from captures: proven\n{HOSTILE}")
    assert JournalEntry.objects.get(action="finding concluded").what.endswith(HOSTILE)
    shown = text_of(as_user(people.colleague), reverse("finding", args=[row.pk]))
    assert "&lt;b&gt;CHG" in shown
    assert "<b>CHG" not in shown
    assert row.proof["query"].replace("&", "&amp;") in shown
    worker = text_of(as_user(people.owner), reverse("finding", args=[row.pk]))
    assert '<a class="button main" href="#proof">See the proof</a>' in worker
    assert "<button>I made the change</button>" in worker, "no longer the first button"


def test_what_is_still_found_did_not_help_and_somebody_who_says_otherwise_says_why(
    people: People, day: Day, as_user: AsUser
) -> None:
    day(12, QUIET)
    assert "by the figures it is did not help. Say why" in said_after(as_user, people, sent("proven"))
    assert followed().state == "open"
    said_after(as_user, people, sent("proven", "the batch was moved"))
    assert (followed().state, followed().proof["state"]) == ("proven", "proven")
    said_after(as_user, people, sent("as-told"))
    assert followed().state == "no-effect"


def test_nothing_is_concluded_where_the_two_cannot_be_compared_or_the_change_is_not_made(
    people: People, day: Day, as_user: AsUser
) -> None:
    night = ((" 10:30:00", " 22:30:00"), (" 10:40:00", " 22:40:00"))
    day(12, *HELPED, *night, xacts=431.0)
    assert "These two cannot be compared" in said_after(as_user, people, sent("proven", "I say so"))
    page = text_of(as_user(people.owner), f"{address('compare')}?{asked(captures()[:1], captures()[1:])}")
    assert 'id="conclude"' not in page
    day(13)
    before, _, after = captures()
    given = {**sent("as-told"), "before": [before.pk], "after": [after.pk]}
    assert "Nothing follows for" in said_after(as_user, people, given)
    assert followed().state == "open"


def test_who_may_not_work_concludes_nothing_and_a_stranger_finds_nothing(
    people: People, day: Day, as_user: AsUser
) -> None:
    day(12, *HELPED, xacts=431.0)
    given = sent("as-told")
    assert as_user(people.colleague).post(address(), given).status_code == 403
    assert as_user(people.stranger).post(address(), given).status_code in (403, 404)
    page = text_of(as_user(people.colleague), f"{address('compare')}?{asked(captures()[:1], captures()[1:])}")
    assert 'id="conclude"' not in page
    assert followed().state == "open"
    assert "Tick the findings first." in said_after(as_user, people, {**given, "pick": []})
    assert as_user(people.owner).post(address(), {**given, "before": [10**9]}).status_code == 404


def test_the_page_tells_where_the_same_advice_was_followed(people: People, day: Day, as_user: AsUser) -> None:
    other = System.objects.create(name="CLAIMS2", product="ase", team=people.team)
    mine = followed()
    fields = {"subject": "CLAIMS2", "title": mine.title, "severity": 3, "first_seen": mine.first_seen}
    twin = TrackedFinding.objects.create(
        system=other, key=f"{ADDRESS}:CLAIMS2", rule=ADDRESS, last_seen=mine.last_seen, **fields
    )
    states.change_made(people.owner, [twin.pk], "")
    day(12, spread=True, xacts=431.0)
    words = words_of(text_of(as_user(people.owner), f"{address('compare')}?{asked(captures()[:1], captures()[1:])}"))
    assert "waits for proof on CLAIMS2 ; of 1 other system where it was followed, proven on 0." in words
    assert "CLAIMS2" not in words_of(text_of(as_user(people.stranger), reverse("findings")))
