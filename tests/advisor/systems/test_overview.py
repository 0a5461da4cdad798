"""The first page: every system with its worst finding, and what changed since the last visit."""

import io
import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, DjangoCaptureOnCommitCallbacks

from advisor.accounts.models import User
from advisor.audits.models import Audit, Capture
from advisor.audits.services.limits import set_limit
from advisor.systems.models import System
from advisor.systems.services import overview
from advisor.uploads.models import Upload
from advisor.uploads.services.uploads import Brought, ingest
from tests.advisor.keeping import keeps
from tests.advisor.people import STORIES, AsUser, People, text_of

pytestmark = pytest.mark.postgres

shared = keeps("address_lock_storm")


def test_a_system_stands_with_its_worst_finding_and_what_was_not_judged(
    people: People, storm: System, as_user: AsUser
) -> None:
    page = text_of(as_user(people.colleague), "/")
    assert storm.latest is not None
    assert "CLAIMS1" in page
    assert storm.latest.headline in page
    assert f"/audits/{storm.latest.pk}/#f{storm.latest.headline_number}" in page
    assert storm.latest.worst == 4


def test_nothing_found_is_counted_apart_where_not_all_was_judged(
    people: People, storm: System, as_user: AsUser
) -> None:
    Audit.objects.update(worst=0, unjudged=["ase/some_rule"])
    page = text_of(as_user(people.colleague), "/")
    assert "1 system: 1 with nothing found, not all judged" in page
    assert "without a finding" not in page
    Audit.objects.update(unjudged=[])
    page = text_of(as_user(people.colleague), "/")
    assert "1 system: 1 without a finding" in page
    assert "not all judged" not in page


def test_a_stranger_sees_nothing_of_it(people: People, storm: System, as_user: AsUser) -> None:
    page = text_of(as_user(people.stranger), "/")
    assert "CLAIMS1" not in page
    assert "No systems yet" in page


def test_an_administrator_sees_every_team(people: People, storm: System, as_user: AsUser) -> None:
    assert "CLAIMS1" in text_of(as_user(people.administrator), "/")


def test_search_looks_at_names_and_findings(
    people: People, storm: System, bring: Callable[..., Upload], as_user: AsUser
) -> None:
    bring("quiet_two_node_day")
    olga = as_user(people.owner)
    assert "CLAIMS1" in text_of(olga, "/?q=object+descriptor")
    assert "TROMSO" not in text_of(olga, "/?q=claims1")
    assert "No system fits" in text_of(olga, "/?q=nowhere")
    assert "TROMSO" not in text_of(olga, "/?severity=warning")
    assert "TROMSO" in text_of(olga, "/?product=openvms")


def test_a_query_of_the_filter_gets_the_table_alone(people: People, storm: System, as_user: AsUser) -> None:
    answer = as_user(people.owner).get("/?q=claims", headers={"HX-Request": "true"})
    assert "<html" not in answer.content.decode()
    assert "CLAIMS1" in answer.content.decode()


def test_a_row_asks_for_nothing_by_itself(people: People, storm: System, as_user: AsUser) -> None:
    def asked(rows: int) -> int:
        come_back_after(people.owner, 2)
        with CaptureQueriesContext(connection) as queries:
            assert text_of(as_user(people.owner), "/").count("<tr data-row>") == rows
        return len(queries)

    assert storm.latest is not None
    come_back_after(people.owner, 2)
    as_user(people.owner).get("/")
    shown_with(storm, 1, findings_digest={})
    alone = asked(1)
    capture = storm.latest.capture
    for number in range(5):
        other = System.objects.create(team=storm.team, product="ase", name=f"OTHER{number}", key=f"OTHER{number}")
        capture.pk, capture.system = None, other
        capture.save()
        other.latest = Audit.objects.create(system=other, capture=capture, shown=timezone.now(), worst=3, headline="h")
        other.save()
        shown_with(other, 1)
    assert asked(6) == alone


def come_back_after(user: User, hours: int) -> None:
    """This person's last visit ended so long ago."""
    User.objects.filter(pk=user.pk).update(visited=timezone.now() - timedelta(hours=hours))


def shown_with(system: System, hours_ago: int, **columns: object) -> Audit:
    """An audit that the system was shown with from then on."""
    assert system.latest is not None
    fields = {"rules_version": "0", "shown": timezone.now() - timedelta(hours=hours_ago), **columns}
    return Audit.objects.create(system=system, capture=system.latest.capture, **fields)


def test_what_changed_since_the_last_visit_is_said(people: People, storm: System, as_user: AsUser) -> None:
    System.objects.update(created=timezone.now() - timedelta(days=9))
    shown_with(storm, 9, findings_digest={"ase/descriptors_reused:CLAIMS1": 2}, worst=2)
    come_back_after(people.owner, 5)
    olga = as_user(people.owner)
    many = len(storm.latest.findings_digest)  # type: ignore[union-attr]
    assert f"{many} new, 1 gone" in text_of(olga, "/")
    assert f"{many} new, 1 gone" in text_of(olga, "/?only=changed"), "a second look within the visit still says so"
    assert "1 gone" not in text_of(as_user(people.mate), "/"), "a first visit has nothing to compare with"


def test_a_look_is_written_down_once_a_minute(people: People) -> None:
    now = timezone.now()
    for seconds, queries in ((0, 1), (59, 0), (60, 1), (60, 0)):
        with CaptureQueriesContext(connection) as asked:
            assert overview.begin_visit(people.owner, now + timedelta(seconds=seconds)) is None
        assert len(asked) == queries
    assert overview.begin_visit(people.owner, now + timedelta(minutes=32)) == now + timedelta(seconds=60)


def test_a_system_first_seen_since_then_is_new(people: People, storm: System, as_user: AsUser) -> None:
    come_back_after(people.owner, 5)
    assert "new system" in text_of(as_user(people.owner), "/")


def test_an_audit_of_an_old_capture_is_no_change(people: People, storm: System, as_user: AsUser) -> None:
    System.objects.update(created=timezone.now() - timedelta(days=9))
    Audit.objects.update(shown=timezone.now() - timedelta(hours=9))
    shown_with(storm, 1, shown=None, findings_digest={})
    come_back_after(people.owner, 5)
    assert "no new audit" in text_of(as_user(people.owner), "/")


def test_another_limit_is_no_cure(
    people: People,
    storm: System,
    as_user: AsUser,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    System.objects.update(created=timezone.now() - timedelta(days=9))
    Audit.objects.update(shown=timezone.now() - timedelta(hours=9))
    come_back_after(people.owner, 5)
    with django_capture_on_commit_callbacks(execute=True):
        limit = "ase/address_lock_spinlock_contended.contention_percent"
        set_limit(limit, 90, people.owner, system=storm)
    page = text_of(as_user(people.owner), "/")
    assert "1 by another limit" in page
    assert "gone" not in page


def test_a_listing_without_a_time_does_not_hide_what_the_figures_show(
    people: People,
    storm: System,
    as_user: AsUser,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    config = (STORIES / "healthy_ledger_server" / "config.txt").read_bytes()
    with django_capture_on_commit_callbacks(execute=True):
        ingest([Brought("c.txt", io.BytesIO(config))], people.team, people.owner, system_name="CLAIMS1")
    before = storm.latest
    storm.refresh_from_db()
    assert storm.captures.count() == 2
    assert storm.latest == before
    assert storm.latest.worst == 4  # type: ignore[union-attr]
    assert len(storm.trend) == 1


@pytest.mark.usefixtures("nothing_brought")
def test_silence_of_rules_that_could_not_judge_is_not_health(
    people: People,
    as_user: AsUser,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    config = (STORIES / "healthy_ledger_server" / "config.txt").read_bytes()
    with django_capture_on_commit_callbacks(execute=True):
        ingest([Brought("c.txt", io.BytesIO(config))], people.team, people.owner, system_name="ONLYCONF")
    olga = as_user(people.owner)
    audit = Audit.objects.get()
    said = f"nothing found; {len(audit.unjudged)} of {audit.rules_run} rules could not judge"
    assert len(audit.unjudged) > 10
    for address in (
        "/",
        f"/audits/{audit.pk}/",
        f"/systems/{audit.system_id}/",
        f"/uploads/{Upload.objects.get().pk}/",
    ):
        page = text_of(olga, address)
        assert said in page, address
        assert "no findings" not in page.lower(), address


def test_a_system_without_its_expected_capture_is_overdue(people: People, storm: System, as_user: AsUser) -> None:
    System.objects.update(expected_hours=1)
    assert "overdue</span>" not in text_of(as_user(people.owner), "/"), "it was collected just now"
    Upload.objects.update(at=timezone.now() - timedelta(hours=2))
    page = text_of(as_user(people.owner), "/?only=overdue")
    assert "CLAIMS1" in page
    assert "overdue</span>" in page


def test_findings_are_compared_by_key_and_severity() -> None:
    before = Audit(findings_digest={"a": 2, "b": 2, "c": 3, "d": 1, "q/x:1": 3})
    after = Audit(findings_digest={"a": 3, "b": 1, "d": 1, "e": 4}, unjudged=["q/x"])
    found = overview.difference(before, after)
    assert (found.new, found.worse, found.better, found.gone, found.still) == (["e"], ["a"], ["b"], ["c"], ["d"])
    assert found.not_judged == ["q/x:1"], "what could not be judged has not gone"
    assert str(found) == "1 new, 1 worse, 1 better, 1 gone, 1 no longer judged"
    assert not overview.difference(before, before)


def test_a_difference_under_other_limits_says_nothing_of_the_server() -> None:
    before = Audit(findings_digest={"r/a:1": 2, "r/b:1": 2}, limits={})
    after = Audit(findings_digest={}, limits={"r/a.percent": 90.0})
    found = overview.difference(before, after)
    assert (found.limits, found.gone) == (["r/a:1"], ["r/b:1"])


def test_more_systems_take_no_more_queries(
    people: People, storm: System, as_user: AsUser, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(30):
        System.objects.create(
            team=people.team, product="ase", name=f"S{number}", key=f"S{number}", latest=storm.latest, trend=storm.trend
        )
    User.objects.filter(pk=people.owner.pk).update(visited=timezone.now() - timedelta(days=2))
    olga = as_user(people.owner)
    with django_assert_max_num_queries(19):  # five for findings: navigation, what stands open, states, since yesterday
        text_of(olga, "/")


# --- capacity lost ---------------------------------------------------------------------------------------------------


def row_of(page: str, name: str) -> str:
    """The row of a system in the table."""
    (found,) = [row for row in page.split("<tr data-row>")[1:] if f"<b>{name}</b>" in row]
    return found


def names_in(page: str) -> list[str]:
    """The systems in the order of the table."""
    return re.findall(r'<a href="/systems/\d+/"><b>([^<]*)</b>', page)


def test_a_row_says_what_share_of_the_capacity_is_lost_and_draws_it(
    people: People, bring: Callable[..., Upload], as_user: AsUser
) -> None:
    bring("two_nodes_slow_master")
    row = row_of(text_of(as_user(people.owner), "/"), "SKYE")
    assert "<b>19 %</b>" in row
    assert "0.38 of 2 CPUs" in row
    title = "Where 2 CPUs go, on average: 0.93 work; 0.38 MP synchronization (spinlock wait) (finding 1); 0.69 idle"
    assert f'aria-label="{title}"' in row
    assert [row.count(f'class="c-{kind}"') for kind in ("work", "lost", "idle")] == [1, 1, 1]


def test_nothing_lost_is_a_figure_and_not_measured_is_none(people: People, storm: System, as_user: AsUser) -> None:
    olga = as_user(people.owner)
    Audit.objects.update(processors_lost=None)
    row = row_of(text_of(olga, "/"), "CLAIMS1")
    assert "not measured" in row
    assert "0.00" not in row
    Audit.objects.update(processors_lost=0.0, capacity=8.0)
    row = row_of(text_of(olga, "/"), "CLAIMS1")
    assert "<b>0 %</b>" in row
    assert "0.00 of 8 engines" in row
    assert "not measured" not in row
    Audit.objects.update(processors_lost=4.8, capacity=None)
    row = row_of(text_of(olga, "/"), "CLAIMS1")
    assert "4.80 engines" in row
    assert "%</b>" not in row


def test_tasks_that_wait_are_told_where_they_were_counted(people: People, storm: System, as_user: AsUser) -> None:
    Audit.objects.update(waiting_tasks=None)
    assert "tasks wait" not in text_of(as_user(people.owner), "/")
    Audit.objects.update(waiting_tasks=2.64)
    assert "2.6 tasks wait" in row_of(text_of(as_user(people.owner), "/"), "CLAIMS1")


def test_the_fleet_is_the_sum_of_what_is_measured(
    people: People, storm: System, bring: Callable[..., Upload], as_user: AsUser
) -> None:
    bring("two_nodes_slow_master")
    Audit.objects.filter(system=storm).update(processors_lost=None)
    total = sum(one.processors_lost or 0.0 for one in Audit.objects.all())
    assert f"{total:.2f} of 10 processors lost (5 %) on 2 systems; on 1 not measured" in text_of(
        as_user(people.owner), "/"
    )
    assert "processors lost" not in text_of(as_user(people.stranger), "/"), "of systems that one sees"
    Audit.objects.update(capacity=None)
    assert "Capacity lost: not measured on any system" in text_of(as_user(people.owner), "/")


def test_most_capacity_lost_stands_first_then_the_worst_finding(people: People, storm: System, as_user: AsUser) -> None:
    storm.delete()

    def made(name: str, worst: int, lost: float | None, capacity: float | None) -> None:
        system = System.objects.create(team=people.team, product="ase", name=name, key=name)
        capture = Capture.objects.create(system=system, taken=timezone.now())
        system.latest = Audit.objects.create(
            system=system, capture=capture, worst=worst, processors_lost=lost, capacity=capacity
        )
        system.save()

    made("LARGE", 3, 8.0, 100.0)
    made("SMALL", 3, 1.0, 4.0)
    made("GRAVE", 4, None, None)
    made("TRIFLE", 2, 0.1, 10.0)
    made("QUIET", 0, 0.0, 10.0)
    made("KNOWN", 2, 0.2, 10.0)
    order = names_in(text_of(as_user(people.owner), "/"))
    assert order == ["SMALL", "LARGE", "GRAVE", "KNOWN", "TRIFLE", "QUIET"]


def test_the_trend_is_that_of_the_account(people: People, bring: Callable[..., Upload]) -> None:
    bring("two_nodes_slow_master")
    skye = System.objects.select_related("latest").get(name="SKYE")
    assert skye.latest is not None
    lost = skye.latest.account[0]["lost"][0]["amount"]
    assert [point[1] for point in skye.trend] == [pytest.approx(lost)]


def test_a_list_reads_no_account(people: People, storm: System, as_user: AsUser) -> None:
    with CaptureQueriesContext(connection) as queries:
        text_of(as_user(people.owner), "/")
    of_audits = [one["sql"] for one in queries if "audits_audit" in one["sql"]]
    assert any('"bar"' in sql for sql in of_audits)
    for column in ("account", "summary", "cluster", "plan", "verdicts"):
        assert not [sql for sql in of_audits if f'"audits_audit"."{column}"' in sql], column


def test_a_hostile_label_in_an_account_stays_text(people: People, storm: System, as_user: AsUser) -> None:
    label = '"><script>alert(1)</script>'
    bar = {"parts": [["work", "work", 4.0, ""], ["lost", label, 4.0, label]]}
    Audit.objects.update(capacity=8.0, processors_lost=4.0, bar=bar)
    for address in ("/", f"/systems/{storm.pk}/"):
        page = text_of(as_user(people.owner), address)
        assert "<script>alert" not in page
        assert "alert(1)" in page


def test_what_is_not_measured_has_no_bar(people: People, storm: System, as_user: AsUser) -> None:
    bar = {"parts": [["work", "work", 4.0, ""], ["undivided", "wait or work", 4.0, ""]]}
    for lost, bars in ((None, 0), (1.0, 1)):
        Audit.objects.update(capacity=8.0, processors_lost=lost, bar=bar)
        for address in ("/", f"/systems/{storm.pk}/"):
            assert text_of(as_user(people.owner), address).count('class="c-undivided"') == bars


def test_the_page_of_a_system_has_the_same_figure_at_its_head(
    people: People, bring: Callable[..., Upload], as_user: AsUser
) -> None:
    bring("two_nodes_slow_master")
    page = text_of(as_user(people.owner), f"/systems/{System.objects.get(name='SKYE').pk}/")
    assert "<dt>Capacity lost, on average</dt>" in page
    assert "0.38 of 2 CPUs" in page
    assert 'class="c-lost"' in page
