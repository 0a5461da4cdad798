"""What is not audited although it should be is a finding of its own on the overview."""

from datetime import timedelta

from django.utils import timezone

from advisor.systems.models import System
from tests.advisor.people import AsUser, People, text_of
from tests.advisor.schedules.scheduled import make_schedule
from tests.advisor.seen import unknown_system, words_of

WHY = "run 12 of nightly: the collector ended with status 2\nlook at its log"
SAID = "Run 12 of nightly: the collector ended with status 2. Look at its log."


def test_a_system_says_since_when_it_is_not_audited_and_why(people: People, storm: System, as_user: AsUser) -> None:
    client = as_user(people.colleague)
    assert "not audited since" not in text_of(client, "/")
    since = timezone.now() - timedelta(hours=30)
    System.objects.update(troubled=since, trouble=WHY)
    page = text_of(client, "/")
    assert f"not audited since {timezone.localtime(since):%Y-%m-%d %H:%M}" in page
    assert f'href="/systems/{storm.pk}/#schedules" title="{WHY}"' in page
    assert ">1 not audited</a>" in page
    told = words_of(text_of(client, f"/systems/{storm.pk}/"))
    assert SAID in told


def test_only_what_is_not_audited_can_be_shown(people: People, storm: System, as_user: AsUser) -> None:
    other = unknown_system(people)
    late = System.objects.create(team=people.team, product="ase", name="LATE1", key="LATE1", expected_hours=1)
    System.objects.filter(pk=late.pk).update(created=timezone.now() - timedelta(hours=2))
    System.objects.filter(pk=other.pk).update(troubled=timezone.now(), trouble=WHY)
    page = text_of(as_user(people.colleague), "/?only=not_audited")
    assert "PROD1" in page
    assert "LATE1" in page, "overdue is not audited either"
    assert "CLAIMS1" not in page.replace("address", "")
    assert ">2 not audited</a>" in page
    assert ">1 overdue</a>" in page


def test_a_schedule_without_a_system_stands_above_the_table(people: People, storm: System, as_user: AsUser) -> None:
    schedule = make_schedule(people, troubled=timezone.now(), trouble="its folder is away\nmount it")
    page = text_of(as_user(people.colleague), "/")
    assert f'<a href="/schedules/{schedule.pk}/">nightly</a>' in page
    assert "Its folder is away. Mount it." in page
    assert page.index("Its folder is away") < page.index("<table")
    assert "nightly" not in text_of(as_user(people.stranger), "/")


def test_of_very_many_schedules_the_first_are_named(people: People, storm: System, as_user: AsUser) -> None:
    for number in range(30):
        make_schedule(people, f"n{number}", troubled=timezone.now(), trouble="its folder is away.")
    page = text_of(as_user(people.colleague), "/")
    assert page.count("Its folder is away.") == 10
    assert "/schedules/?only=trouble" in page
