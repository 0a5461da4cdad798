"""Groups hold systems of their team, under names of their own, and stay while something needs them."""

import pytest

from advisor.core.models import JournalEntry
from advisor.core.records import Refused
from advisor.notifications.models import Recipient
from advisor.systems.models import Group
from advisor.systems.services import groups
from tests.advisor.people import People
from tests.advisor.schedules.scheduling import make_schedule, make_system

pytestmark = pytest.mark.postgres


def test_a_group_is_made_changed_and_removed_and_each_is_noted(people: People) -> None:
    first, second = make_system(people.team, "ALPHA"), make_system(people.team, "BETA")
    made = groups.make(people.team, " the\nfleet ", [first], people.owner)
    groups.change(made, "fleet", [first, second], people.mate)
    assert set(Group.objects.get().systems.all()) == {first, second}
    groups.remove(made, people.owner)
    assert not Group.objects.exists()
    entries = JournalEntry.objects.order_by("pk").values_list("who", "action", "what")
    assert list(entries) == [
        ("olga", "group made", "the fleet: ALPHA"),
        ("mats", "group changed", "the fleet to fleet: ALPHA, BETA"),
        ("olga", "group removed", "fleet"),
    ]


def test_names_are_free_in_another_team_and_taken_in_the_same(people: People) -> None:
    groups.make(people.team, "fleet", [], people.owner)
    groups.make(people.other_team, "fleet", [], people.stranger)
    with pytest.raises(Refused, match="of this name"):
        groups.make(people.team, "FLEET", [], people.owner)
    with pytest.raises(Refused, match="needs a name"):
        groups.make(people.team, "\t\n", [], people.owner)


def test_systems_of_another_team_are_refused(people: People) -> None:
    with pytest.raises(Refused, match="own team"):
        groups.make(people.team, "fleet", [make_system(people.other_team)], people.administrator)
    assert not Group.objects.exists()


def test_a_group_that_is_used_is_not_removed_and_not_emptied(people: People) -> None:
    system = make_system(people.team)
    made = groups.make(people.team, "fleet", [system], people.owner)
    schedule = make_schedule(people.team, group=made)
    recipient = Recipient.objects.create(team=people.team, address="a@example.org")
    recipient.groups.set([made])
    for act in (lambda: groups.remove(made, people.owner), lambda: groups.change(made, "fleet", [], people.owner)):
        with pytest.raises(Refused, match="the schedule hourly, the recipient a@"):
            act()
    schedule.delete()
    with pytest.raises(Refused, match="recipient a@"):
        groups.remove(made, people.owner)
    recipient.delete()
    groups.change(made, "fleet", [], people.owner)
    groups.remove(made, people.owner)


def test_a_group_somebody_removed_meanwhile_is_refused(people: People) -> None:
    made = groups.make(people.team, "fleet", [], people.owner)
    groups.remove(made, people.owner)
    with pytest.raises(Refused, match="removed meanwhile"):
        groups.change(made, "fleet", [], people.owner)
