"""The form of a group asks for its systems at once, however many they are."""

from django.db import connection
from django.test.utils import CaptureQueriesContext

from advisor.schedules.forms import GroupForm
from advisor.systems.services import groups
from tests.advisor.people import People
from tests.advisor.schedules.scheduling import make_system


def test_a_group_of_many_systems_is_stored_with_as_many_queries_as_one_of_few(people: People) -> None:
    counts = []
    for number in range(12):
        make_system(people.team, f"S{number}")
        if number in (1, 11):
            chosen = [str(pk) for pk in people.team.systems.values_list("pk", flat=True)]
            with CaptureQueriesContext(connection) as asked:
                form = GroupForm({"name": f"of {number}", "systems": chosen}, team=people.team)
                assert form.is_valid()
                groups.make(people.team, form.cleaned_data["name"], form.cleaned_data["systems"], people.owner)
                assert form.as_p()
            counts.append(len(asked))
    assert counts[0] == counts[1]
