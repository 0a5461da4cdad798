"""The system page tells what was seen of a system, to those of its team, at a bounded cost."""

import csv
import io
import re

import pytest
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from advisor.audits.models import (
    Audit,
    Capture,
    Finding,
    LimitSetting,
)
from advisor.systems.models import Note, System
from advisor.systems.services import history
from tests.advisor.keeping import keeps
from tests.advisor.people import AsUser, People
from tests.advisor.seen import CONTENDED, LIMIT, LOUD, START, see, text_of, unknown_system, words_of

shared = keeps("address_lock_storm")


@pytest.fixture
def system(people: People) -> System:
    """A system of the owner's team that nothing is known of yet."""
    return unknown_system(people)


# Who may


def test_everybody_of_the_team_reads_a_system_and_a_viewer_gets_no_forms(
    people: People, as_user: AsUser, storm: System
) -> None:
    for user in (people.owner, people.mate, people.colleague, people.administrator):
        page = text_of(as_user(user), storm)
        assert "CLAIMS1" in page
        assert (reverse("system-note", args=[storm.pk]) in page) == (user != people.colleague)
        assert (reverse("system-limit", args=[storm.pk]) in page) == (user != people.colleague)
        assert (reverse("system-expected", args=[storm.pk]) in page) == (user != people.colleague)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("system", None),
        ("system-figures", None),
        ("system-note", {"text": "hello"}),
        ("system-limit", {"name": LIMIT, "value": "5"}),
        ("system-expected", {"hours": "24"}),
    ],
)
def test_a_system_of_another_team_does_not_exist(
    people: People, as_user: AsUser, storm: System, name: str, data: dict[str, str] | None
) -> None:
    client = as_user(people.stranger)
    address = reverse(name, args=[storm.pk])
    answer = client.get(address) if data is None else client.post(address, data)
    assert answer.status_code == 404
    assert b"CLAIMS1" not in answer.content
    assert not Note.objects.exists()
    assert not LimitSetting.objects.exists()
    assert System.objects.get(pk=storm.pk).expected_hours is None


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("system-note", {"text": "hello"}),
        ("system-limit", {"name": LIMIT, "value": "5"}),
        ("system-limit", {"take_back": LIMIT}),
        ("system-expected", {"hours": "24"}),
    ],
)
def test_a_viewer_of_the_team_changes_nothing(
    people: People, as_user: AsUser, storm: System, name: str, data: dict[str, str]
) -> None:
    LimitSetting.objects.create(system=storm, name=LIMIT, value=7)
    assert as_user(people.colleague).post(reverse(name, args=[storm.pk]), data).status_code == 403
    assert not Note.objects.exists()
    assert LimitSetting.objects.get().value == 7
    assert System.objects.get(pk=storm.pk).expected_hours is None


def test_nothing_is_changed_by_following_a_link(people: People, as_user: AsUser, storm: System) -> None:
    client = as_user(people.owner)
    for name in ("system-note", "system-limit", "system-expected"):
        assert client.get(reverse(name, args=[storm.pk])).status_code == 405


# What stands on it


def test_the_head_names_the_worst_finding_and_links_to_its_audit(
    people: People, as_user: AsUser, storm: System, storm_audit: Audit
) -> None:
    page = text_of(as_user(people.colleague), storm)
    words = words_of(page)
    assert storm_audit.headline in words
    assert f"{reverse('audit', args=[storm_audit.pk])}#f{storm_audit.headline_number}" in page
    assert "SAP ASE" in words
    assert " ".join(storm.version.split()) in words
    assert f"Processors {storm.processors}" in words


def test_a_system_without_any_capture_has_a_page(people: People, as_user: AsUser, system: System) -> None:
    words = words_of(text_of(as_user(people.owner), system))
    assert "No capture yet" in words
    assert "Version not in the exports" in words
    assert "Last capture never" in words


def test_an_overdue_capture_is_said_and_a_timely_one_is_not(people: People, as_user: AsUser, system: System) -> None:
    late = int((timezone.now() - START).total_seconds() // 3600) - 30
    see(system, late)
    System.objects.update(expected_hours=24)
    assert "overdue" in text_of(as_user(people.owner), system)
    System.objects.update(expected_hours=48)
    assert "overdue" not in text_of(as_user(people.owner), system)


def test_each_figure_has_a_chart_with_its_newest_value_and_the_one_before(
    people: People, as_user: AsUser, system: System
) -> None:
    see(system, 0, figures={"a": 41.5, "b": 7})
    see(system, 1, figures={"a": 52.25})
    page = text_of(as_user(people.colleague), system)
    assert page.count('<svg class="plotted') == 1, "one figure alone is no course"
    words = words_of(page)
    assert "52.25 % before: 41.5 (lower is better)" in words
    assert "7 % in 2026-01-01 00:00, not in the newest capture" in words


def test_a_figure_that_a_capture_lacks_is_a_gap_and_never_a_zero(system: System) -> None:
    for hour, figures in enumerate(({"a": 1.0}, {}, {"a": 0.0})):
        see(system, hour, figures=figures)
    seen = history.recent(system)
    (one,) = history.courses(seen, history.figures(seen))
    assert [value for _, value in one.series] == [1.0, None, 0.0]
    assert (one.figure.newest, one.before) == (0.0, 1.0)
    assert one.series[0][0].tzinfo is None  # the export has no zone, so the axis claims none


def test_twelve_charts_stand_on_a_page_and_the_others_on_the_next(
    people: People, as_user: AsUser, system: System
) -> None:
    for hour in (0, 1):
        see(system, hour, figures={f"figure {n}": n for n in range(15)})
    client = as_user(people.colleague)
    assert text_of(client, system).count('<svg class="plotted') == 12
    assert "1 to 12 of 15 figures" in words_of(text_of(client, system))
    assert text_of(client, system, "?charts=2").count('<svg class="plotted') == 3


@pytest.mark.parametrize(("span", "many"), [("day", 2), ("week", 3), ("month", 4), ("all", 5), ("nonsense", 5)])
def test_the_span_reaches_back_from_the_newest_capture(
    people: People, as_user: AsUser, system: System, span: str, many: int
) -> None:
    for hour in (0, 24 * 60, 24 * 80, 24 * 84, 24 * 85):
        see(system, hour, figures={"a": hour})
    assert f"{many} captures" in words_of(text_of(as_user(people.colleague), system, f"?span={span}"))


def test_hostile_names_stay_text(people: People, as_user: AsUser, system: System) -> None:
    evil = "<script>alert(1)</script>"
    System.objects.update(name=evil, version=evil)
    audit = see(
        system,
        0,
        {f"ase/engines_not_the_answer:{evil}": 3},
        figures={evil: 1.0},
        settings={evil: evil},
    )
    see(system, 1, figures={evil: 2.0}, settings={evil: "<img src=x onerror=alert(1)>"})
    Finding.objects.update(title=evil)
    Audit.objects.update(headline=evil)
    Capture.objects.filter(pk=audit.capture_id).update(files=[evil])
    Note.objects.create(system=system, text=evil, by=people.owner)
    LimitSetting.objects.create(system=system, name="ase/<script>alert(1)</script>", value=1, why=evil)
    page = text_of(as_user(people.owner), system)
    assert "<script>alert" not in page
    assert "<img" not in page
    assert "style=" not in page.replace("font-style=", "")


# Captures


def test_captures_are_paged_and_one_of_other_rules_can_be_audited_again(
    people: People, as_user: AsUser, system: System
) -> None:
    old = see(system, 0, rules="0.1.0+0000")
    for hour in range(1, 26):
        see(system, hour)
    client = as_user(people.owner)
    again = reverse("audit-again", args=[old.pk])
    first = text_of(client, system)
    assert again not in first
    assert "1 to 25 of 26" in words_of(first)
    assert again in text_of(client, system, "?page=2")
    assert "audits/" in first
    assert "/again/" not in first  # those of today's rules have no such button
    assert again not in text_of(as_user(people.colleague), system, "?page=2")


# The file of figures


def test_the_file_holds_every_figure_of_every_capture_and_no_formula(
    people: People, as_user: AsUser, system: System
) -> None:
    System.objects.update(name='a"b;\r\nX-Evil: 1/../=c')
    see(system, 1, figures={"=HYPERLINK(1)": 2.5})
    see(system, 0, figures={"a": 0.0, "b": 41.5})
    answer = as_user(people.colleague).get(reverse("system-figures", args=[system.pk]))
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    assert re.fullmatch(r'attachment; filename="lockwright-[A-Za-z0-9-]+-figures\.csv"', answer["Content-Disposition"])
    rows = list(csv.reader(io.StringIO(b"".join(answer.streaming_content).decode())))  # type: ignore[attr-defined]
    assert rows == [
        ["taken", "time of", "figure", "label", "unit", "value", "better"],
        ["2026-01-01T00:00:00", "export", "a", "label of a", "%", "0.0", "low"],
        ["2026-01-01T00:00:00", "export", "b", "label of b", "%", "41.5", "low"],
        ["2026-01-01T01:00:00", "export", "'=HYPERLINK(1)", "label of =HYPERLINK(1)", "%", "2.5", "low"],
    ]


# How much it costs


def test_a_system_with_250_captures_costs_as_many_queries_as_one_with_few(
    people: People, as_user: AsUser, system: System, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for hour in range(250):
        see(
            system,
            hour,
            {CONTENDED: 3, LOUD: 2} if hour % 3 else {},
            figures={"a": hour, "b": 2 * hour},
            settings={"ratio": float(hour // 20)},
        )
    client = as_user(people.owner)
    with django_assert_max_num_queries(22):  # of them one for the navigation and one for the changes in the figures
        page = text_of(client, system)
    assert "1 to 25 of 250" in words_of(page)
    assert "the newest 200 of 250" in words_of(page)
