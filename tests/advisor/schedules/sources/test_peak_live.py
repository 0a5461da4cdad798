"""The busiest hour by captures we collected ourselves; one schedule whose times cannot be told holds up no other."""

from datetime import timedelta

import pytest
import time_machine

from advisor.audits.models import Capture
from advisor.schedules.models import Schedule
from advisor.schedules.services import peak, schedules
from advisor.schedules.services.peak import busiest
from advisor.systems.models import System
from advisor.uploads.models import Upload
from tests.advisor.people import AsUser, People, text_of
from tests.advisor.schedules.scheduling import NOON
from tests.advisor.schedules.sources.asked import make_source
from tests.advisor.schedules.sources.test_peak import days, remember, wish


@pytest.fixture
def asked(people: People, system: System, noon: time_machine.Traveller) -> System:
    make_source(system, people.owner)
    return system


def test_what_is_collected_without_sysmon_counts_by_its_transactions_before_its_busy_engines() -> None:
    rows = [
        (
            system,
            at,
            seconds,
            [["ase.transactions", "", "/s", figure[3], "high"], ["ase.engine_busy", "", "%", 99.0, None]],
        )
        for system, at, seconds, (figure, _) in days(range(24), {11: 50.0})
    ]
    found = busiest(rows, "day", "UTC")
    assert (found.hour, found.measure) == (11, "transactions per second, as monState counts them")


def test_what_we_collected_counts_by_our_clock_and_not_by_that_of_a_server_in_another_zone(
    people: People, asked: System
) -> None:
    remember(asked, days(range(24), {14: 50.0}), NOON)
    for one in Capture.objects.all():
        live = Upload.objects.create(team=people.team, digest=f"{one.pk}", collected_from="front door", at=one.taken)
        Capture.objects.filter(pk=one.pk).update(upload=live, taken=one.taken + timedelta(hours=9))
    assert peak.look([asked.pk], "day", "UTC", NOON).hour == 14
    Upload.objects.update(collected_from="")
    assert peak.look([asked.pk], "day", "UTC", NOON).hour == 23, "what somebody brought has no other time"


def test_a_schedule_whose_zone_the_world_gave_up_holds_up_no_other(
    people: People, asked: System, noon: time_machine.Traveller
) -> None:
    bad = schedules.make(people.team, wish(asked), people.owner)
    good = schedules.make(people.team, wish(asked, name="good"), people.owner)
    Schedule.objects.filter(pk=bad.pk).update(zone="Mars/Olympus", peak_at=NOON - timedelta(days=9))
    remember(asked, days(range(24), {9: 50.0}), NOON)
    noon.shift(timedelta(days=1, minutes=1))
    assert peak.refresh() == 1
    good.refresh_from_db()
    assert good.cron == "15 9 * * *"
    bad.refresh_from_db()
    assert bad.peak_at
    assert bad.peak_at > NOON, "it is looked at again tomorrow, not each minute"


def test_a_clock_that_was_set_back_does_not_keep_the_history_from_being_looked_at(
    people: People, asked: System
) -> None:
    made = schedules.make(people.team, wish(asked), people.owner)
    Schedule.objects.update(peak_at=NOON + timedelta(days=30))
    remember(asked, days(range(24), {9: 50.0}), NOON)
    assert peak.refresh() == 1
    made.refresh_from_db()
    assert made.cron == "15 9 * * *"


def test_the_page_says_once_and_in_whole_sentences_what_the_history_does_not_show(
    people: People, asked: System, as_user: AsUser
) -> None:
    remember(asked, days([9], {}, 1), NOON)
    made = schedules.make(people.team, wish(asked), people.owner)
    page = text_of(as_user(people.owner), f"/schedules/{made.pk}/")
    assert page.count("is not known: 1 capture of the last 8 weeks says how busy it was") == 1
    assert "once it is made" not in page
