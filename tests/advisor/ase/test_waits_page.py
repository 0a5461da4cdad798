"""The waits of a capture: what tasks waited for, what is left out, and what is not to be turned into tasks."""

import csv
import io

import pytest

from advisor.ase.services.waits import over_time, waits_of
from advisor.audits.models import Audit, Capture
from advisor.charts.stacked import REST
from collectors.facts import ABSENT, OVERFLOW, Fact, Facts
from collectors.facts.ase import (
    MonEngine,
    MonProcessWaits,
    MonState,
    MonSysWaits,
    SysmonRow,
    SysmonSample,
    SysmonSection,
    TaskSwitches,
)
from tests.advisor.ase.servers import audited, setting
from tests.advisor.people import AsUser, People, text_of


def waited(event: int, waits: float, seconds: float, text: str = "", **more: object) -> MonSysWaits:
    """One event over five minutes."""
    fields = {"over": "interval", "seconds": 300.0, "certificate": "ok", "description": text, **more}
    return MonSysWaits(event=event, waits=waits, wait_seconds=seconds, **fields)  # type: ignore[arg-type]


def server() -> list[Fact]:
    """Seven tasks wait for locks and ten for an engine, 300 for their clients; one event has no time."""
    return [
        MonEngine(
            engine=0,
            status="online",
            over="interval",
            seconds=300.0,
            certificate="ok",
            user_seconds=240.0,
            system_seconds=30.0,
            idle_seconds=30.0,
        ),
        MonState(connections=320.0, over="interval", seconds=300.0, certificate="ok"),
        waited(150, 84_000, 2100, "waiting for a lock"),
        waited(215, 900_000, 3000, "waiting on run queue after sleep"),
        waited(250, 500_000, 90_000, "waiting for input from the network"),
        waited(61, 300, 3000, "hk: pause for some time"),
        waited(29, 90_000, 0, "waiting for regular buffer read to complete"),
        waited(19, 4, 1200, "xact coord: pause during idle loop"),
        MonProcessWaits(
            spid=44,
            event=150,
            over="interval",
            seconds=300.0,
            certificate="ok",
            waits=9000.0,
            wait_milliseconds=280_000.0,
        ),
        MonProcessWaits(
            spid=45, event=150, over="interval", seconds=300.0, certificate="ok", waits=1.0, wait_milliseconds=700_000.0
        ),
        SysmonSample(seconds=300.0),
        TaskSwitches(cause="Logical Lock Contention", count=84_000.0, percent=20.0),
        TaskSwitches(cause="Voluntary Yields", count=336_000.0, percent=80.0),
    ]


def test_tasks_are_seconds_by_seconds_and_idle_ones_are_left_out() -> None:
    found = waits_of(Facts(tuple(server())))
    assert [(one.number, one.tasks) for one in found.events] == [(215, 10.0), (150, 7.0), (29, None)]
    assert found.waiting == 17.0
    assert found.running == pytest.approx(0.9)
    assert (found.thinking, found.connections) == (300.0, 320.0)
    assert {one.number: one.why for one in found.left_out} == {
        19: "idle or background",
        61: "idle or background",
        250: "a client that thinks",
    }
    assert found.by_engines
    assert found.events[1].percent == pytest.approx(41.2, abs=0.1)
    assert found.events[1].mean_milliseconds == 25.0


def test_time_that_is_not_booked_is_no_zero() -> None:
    reads = waits_of(Facts(tuple(server()))).events[-1]
    assert "not booked" in reads.unsure
    assert (reads.tasks, reads.mean_milliseconds, reads.per_second) == (None, None, 300.0)
    assert "slow disk" in reads.means


def test_of_sessions_what_fits_into_the_interval() -> None:
    assert [(one.spid, one.seconds) for one in waits_of(Facts(tuple(server()))).sessions] == [(44, 280.0)]


def test_switches_of_sysmon_stand_apart_and_what_cannot_be_has_its_reason() -> None:
    yields, locks = waits_of(Facts(tuple(server()))).causes
    assert (yields.name, yields.percent, yields.per_second) == ("Voluntary Yields", 80.0, 1120.0)
    assert (locks.percent, locks.why) == (20.0, "")
    packets = TaskSwitches(cause="Network Packet Received", count=0.0, percent=0.0)
    services = TaskSwitches(cause="Network services", count=0.0, percent=0.0)
    whole = waits_of(Facts((*server(), packets, services))).causes
    held = {one.name: one.held_percent for one in whole}
    assert held["Logical Lock Contention"] == 100.0
    assert held["Voluntary Yields"] is None, "nothing held these up"
    wrapped = TaskSwitches(cause="Latch Contention", count=-4.0, percent=20.0)
    (latches,) = waits_of(Facts((wrapped,))).causes
    assert latches.percent is None
    assert "impossible" in latches.why


def test_what_background_tasks_did_is_shown_and_judged_by_nothing(people: People, as_user: AsUser) -> None:
    washes = SysmonRow(271, ("Buffer Cache Washes", "Clean"), 6.8, 40.5, 810.0, 82.4)
    unread = SysmonRow(272, ("Buffer Cache Washes", "Dirty"), ABSENT, ABSENT, OVERFLOW, ABSENT)
    section = SysmonSection(title="Housekeeper Task Activity", rows=(washes, unread))
    found = [*server(), section, SysmonSection(title="Task Management", rows=(washes,))]
    (shown,) = waits_of(Facts(tuple(found))).background
    assert (shown.name, shown.per_second, shown.count) == ("Buffer Cache Washes, Clean", 6.8, 810.0)
    audit = audited(people, found)
    page = text_of(as_user(people.colleague), f"/audits/{audit.pk}/waits/")
    assert "Buffer Cache Washes, Clean" in page
    assert "Shown only" in page
    without = text_of(as_user(people.colleague), f"/audits/{audited(people, server()).pk}/waits/")
    assert "Background tasks" not in without


@pytest.mark.parametrize(
    ("facts", "says"),
    [
        ([], "No wait events are in the exports"),
        ([MonSysWaits(event=150, waits=5e6, wait_seconds=9e6)], "was read once"),
        ([waited(150, 5, 9), waited(250, 5, 9, certificate="reset")], "Some events alone"),
        ([waited(150, 5, 9, certificate="reset"), waited(250, 9, 9)], "Not believed"),
    ],
)
def test_without_an_interval_it_says_why(facts: list[Fact], says: str) -> None:
    found = waits_of(Facts(tuple(facts)))
    assert not found.events
    assert says in found.why_none


def test_the_page_shows_them_and_hands_over_the_figures(people: People, as_user: AsUser) -> None:
    audit = audited(people, server())
    page = text_of(as_user(people.colleague), f"/audits/{audit.pk}/waits/")
    for piece in ("time not booked", "What tasks waited for", "idle and background events", "Why tasks gave up", "7.0"):
        assert piece in page, piece
    assert f"/audits/{audit.pk}/waits/" in text_of(as_user(people.colleague), f"/audits/{audit.pk}/")
    answer = as_user(people.colleague).get(f"/audits/{audit.pk}/waits/waits.csv")
    rows = list(csv.DictReader(io.StringIO(answer.content.decode())))
    assert [(one["event"], one["tasks waiting"]) for one in rows[:3]] == [("215", "10.0"), ("150", "7.0"), ("29", "")]
    assert {one["group"] for one in rows[3:]} == {"left out"}


def test_hostile_texts_stay_text(people: People, as_user: AsUser) -> None:
    facts = [*server(), waited(902, 900, 900, '<script>alert(1)</script>" onload="')]
    page = text_of(as_user(people.colleague), f"/audits/{audited(people, facts).pk}/waits/")
    assert "<script>alert" not in page
    assert '" onload="' not in page


def test_there_is_no_tab_where_nothing_is_to_be_shown(people: People, as_user: AsUser) -> None:
    audit = audited(people, [setting("number of locks", 5e4)])
    page = text_of(as_user(people.colleague), f"/audits/{audit.pk}/")
    assert "/waits/" not in page
    assert "/blocking/" not in page
    assert "monSysWaits" in text_of(as_user(people.colleague), f"/audits/{audit.pk}/waits/")


def test_only_the_team_sees_it_and_only_of_an_ase(people: People, as_user: AsUser) -> None:
    audit = audited(people, server())
    node = audited(people, [setting("number of locks", 5e4)], "NODE", "openvms")
    for view in ("waits/", "waits/waits.csv", "blocking/"):
        assert as_user(people.stranger).get(f"/audits/{audit.pk}/{view}").status_code == 404
        assert as_user(people.colleague).get(f"/audits/{audit.pk}/{view}").status_code == 200
        assert as_user(people.owner).get(f"/audits/{node.pk}/{view}").status_code == 404


def test_captures_of_one_system_are_stacked_over_time(people: People, as_user: AsUser) -> None:
    first = audited(people, server())
    assert over_time(first)[1] == 1
    later = audited(people, [*server(), waited(902, 900, 900)])
    picture, captures = over_time(Audit.objects.select_related("capture").get(pk=later.pk))
    assert captures == Capture.objects.filter(system=first.system).count() == 2
    assert picture.count("<polygon") == 3
    assert REST not in picture
    assert "an engine (run queue): 10 to 10, last 10." in picture
    assert "the queue of log blocks (PLCBLOCK): 0 to 3, last 3." in picture
    assert "<polygon" in text_of(as_user(people.colleague), f"/audits/{later.pk}/waits/")
    assert "<polygon" not in text_of(as_user(people.colleague), f"/audits/{first.pk}/waits/")
