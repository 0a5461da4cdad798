"""The head of a system's page: the worst finding's figure first, the age in view; what is empty is folded away."""

import re
from collections.abc import Callable
from datetime import date, timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from advisor.audits.models import Capture
from advisor.findings.models import TrackedFinding
from advisor.findings.services import states
from advisor.systems.models import System
from advisor.uploads.models import Upload
from tests.advisor.findings.claims import followed
from tests.advisor.keeping import keeps
from tests.advisor.people import AsUser, People, text_of
from tests.advisor.seen import unknown_system, words_of

shared = keeps("address_lock_storm")

FIGURES = re.compile(r'<dl class="figures">(.*?)</dl>', re.DOTALL)


def page(user: object, system: System, as_user: AsUser) -> str:
    return text_of(as_user(user), reverse("system", args=[system.pk]))  # type: ignore[arg-type]


def head_of(page: str) -> str:
    found = FIGURES.search(page)
    assert found
    return found[1]


def taken(system: System, **ago: float) -> None:
    assert system.latest is not None
    Capture.objects.filter(pk=system.latest.capture_id).update(taken=timezone.now() - timedelta(**ago))


def test_the_worst_findings_figure_comes_first_and_leads_to_its_page(
    people: People, storm: System, as_user: AsUser
) -> None:
    worst = TrackedFinding.objects.order_by("-severity", "number")[0]
    head = head_of(page(people.colleague, storm, as_user))
    first = head.split("</div>")[0]
    assert worst.metric in first
    assert f'<a href="{reverse("finding", args=[worst.pk])}">{worst.value:g} {worst.unit}</a>' in first
    assert f"limit {worst.limit:g} {worst.unit}" in first
    assert "critical" in first
    assert "Last capture" in head.split("</div>")[1]


def test_an_accepted_one_comes_after_those_that_are_open_and_is_said_to_be(
    people: People, storm: System, as_user: AsUser
) -> None:
    rows = list(TrackedFinding.objects.order_by("-severity", "number"))
    states.accept(people.owner, [rows[0].pk], date(2999, 1, 31), "known")
    assert reverse("finding", args=[rows[1].pk]) in head_of(page(people.colleague, storm, as_user)).split("</div>")[0]
    states.accept(people.owner, [row.pk for row in rows], date(2999, 1, 31), "known")
    first = head_of(page(people.colleague, storm, as_user)).split("</div>")[0]
    assert "Worst finding, accepted" in first
    assert reverse("finding", args=[rows[0].pk]) in first


def test_a_finding_without_a_figure_is_named(people: People, storm: System, as_user: AsUser) -> None:
    row = followed()
    TrackedFinding.objects.exclude(pk=row.pk).update(presence="gone")
    TrackedFinding.objects.filter(pk=row.pk).update(value=None)
    first = head_of(page(people.colleague, storm, as_user)).split("</div>")[0]
    assert row.title in first
    assert "None" not in first


@pytest.mark.parametrize(
    ("expected", "ago", "said"),
    [
        (None, {"hours": 47}, ""),
        (
            None,
            {"hours": 49},
            "older than 2 days: this project&#39;s figure, as nobody said how often one is expected",
        ),
        (24, {"hours": 23}, ""),
        (24, {"hours": 25}, "one is expected every 24 h, as somebody said under Captures"),
        (400, {"hours": 300}, ""),
    ],
)
def test_the_age_stands_out_where_it_is_over_the_expectation_or_two_days_with_whose_figure_that_is(
    people: People, storm: System, as_user: AsUser, expected: int | None, ago: dict[str, float], said: str
) -> None:
    System.objects.filter(pk=storm.pk).update(expected_hours=expected)
    taken(storm, **ago)
    head = head_of(page(people.colleague, storm, as_user))
    assert (">old</b>" in head) == bool(said)
    assert said in head


def test_what_is_empty_is_folded_away_and_what_is_not_stands_open(
    people: People, storm: System, as_user: AsUser
) -> None:
    def folded(system: System) -> set[str]:
        text = page(people.colleague, system, as_user)
        assert text.count("<details") == text.count("</details>")
        return set(re.findall(r'<details class="empty"><summary><h2 id="(\w+)">', text))

    assert folded(unknown_system(people)) == {"figures", "findings", "settings", "schedules", "notes", "journal"}
    assert folded(storm) == {"schedules", "notes", "journal"}
    as_user(people.owner).post(reverse("system-note", args=[storm.pk]), {"text": "ask Mats"})
    assert folded(storm) == {"schedules"}, "the journal has the note"
    assert "Add a note" in page(people.owner, storm, as_user).split('id="notes"')[1].split("</section>")[0]
    unknown = System.objects.get(name="PROD1")
    assert '<details class="empty"><summary><h2 id="notes">' not in page(people.owner, unknown, as_user)


def test_the_answer_of_the_newest_audit_and_its_plan_stand_above_the_figures(
    people: People, storm: System, as_user: AsUser
) -> None:
    assert storm.latest is not None
    text = page(people.colleague, storm, as_user)
    above = words_of(text.partition('<h2 id="figures">')[0])
    answer = storm.latest.summary["verdict"]
    assert answer[1:] in above
    assert f'href="{reverse("audit", args=[storm.latest.pk])}#plan"' in text
    steps = len(storm.latest.plan["steps"])
    assert f"Plan: {steps} step" in above
    rows = list(TrackedFinding.objects.order_by("-severity", "number"))
    states.accept(people.owner, [rows[0].pk], date(2999, 1, 31), "known")
    assert "1 accepted" in words_of(page(people.colleague, storm, as_user).partition('<h2 id="figures">')[0])


def test_the_figures_of_one_capture_alone_are_folded(people: People, storm: System, as_user: AsUser) -> None:
    text = page(people.colleague, storm, as_user)
    figures = text.partition('<h2 id="figures">')[2].partition('<h2 id="findings">')[0]
    assert re.search(r"<details><summary>\d+ figures? of this one capture", figures)


def test_the_change_that_was_judged_last_leads_to_its_proof(people: People, storm: System, as_user: AsUser) -> None:
    assert "Last change" not in page(people.colleague, storm, as_user)
    row = TrackedFinding.objects.order_by("number")[0]
    for state, came in (("proven", "it got better"), ("no-effect", "it had no effect"), ("worse", "it got worse")):
        TrackedFinding.objects.filter(pk=row.pk).update(state=state, proof={"state": state, "why": "seen"})
        text = page(people.colleague, storm, as_user)
        assert f"Last change: {came} ({row.title})" in words_of(text)
        assert f'href="{reverse("finding", args=[row.pk])}#proof"' in text


@pytest.mark.usefixtures("nothing_brought")
def test_what_no_setting_does_is_no_step_of_the_plan(
    people: People, bring: Callable[..., Upload], as_user: AsUser
) -> None:
    """As the page of the audit counts them: the head of a chain of blocked tasks asks for a look, not for a change."""
    bring("row_held_by_a_client_that_thinks")
    (system,) = System.objects.all()
    assert system.latest is not None
    assert system.latest.summary["do"]
    assert not system.latest.plan["steps"]
    assert "Plan:" not in page(people.colleague, system, as_user)
