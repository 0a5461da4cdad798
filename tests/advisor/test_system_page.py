"""The system page tells what was seen of a system, to those of its team, and takes what a DBA says of it."""

import csv
import io
import json
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, DjangoCaptureOnCommitCallbacks

from advisor.models import Audit, Capture, Finding, JournalEntry, LimitSetting, Note, SettingsSnapshot, System, User
from advisor.services import history
from advisor.services.settings_history import MOST_SNAPSHOTS, settings_over_time
from advisor.version import rules_version
from tests.advisor.people import People

AsUser = Callable[[User], Client]
LIMIT = "ase/address_lock_spinlock_contended.contention_percent"
START = datetime(2026, 1, 1, tzinfo=UTC)
CONTENDED, LOUD = "ase/address_lock_spinlock_contended:PROD1", "ase/engines_not_the_answer:PROD1"


@pytest.fixture
def system(people: People) -> System:
    """A system of the owner's team that nothing is known of yet."""
    return System.objects.create(team=people.team, product="ase", name="PROD1", key="PROD1")


def see(
    system: System,
    hour: int,
    digest: dict[str, int] | None = None,
    *,
    figures: dict[str, float] | None = None,
    settings: Mapping[str, str | float] | None = None,
    verdict: str = "clean",
    rules: str = "",
) -> Audit:
    """A capture of the system at that hour, audited: what was found, and the verdict of the rule if nothing was."""
    digest = digest or {}
    held = None
    if settings is not None:
        held = SettingsSnapshot.objects.get_or_create(
            system=system, digest=json.dumps(settings)[:64], defaults={"values": settings}
        )[0]
    capture = Capture.objects.create(
        system=system,
        taken=START + timedelta(hours=hour),
        interval={"end": (START + timedelta(hours=hour)).replace(tzinfo=None).isoformat()},
        seconds=600,
        files=["sysmon.txt"],
        figures=[[key, f"label of {key}", "%", value, "low"] for key, value in (figures or {}).items()],
        settings=held,
    )
    fired = {key.split(":")[0] for key in digest}
    verdicts = [{"rule": rule, "verdict": "fired", "why": "", "missing": []} for rule in fired]
    for rule in {CONTENDED.split(":")[0], LOUD.split(":")[0]} - fired:
        verdicts.append({"rule": rule, "verdict": verdict, "why": "", "missing": []})
    audit = Audit.objects.create(
        capture=capture,
        system=system,
        rules_version=rules or rules_version(),
        worst=max(digest.values(), default=0),
        headline="the worst of them" if digest else "",
        findings_digest=digest,
        verdicts=verdicts,
    )
    Finding.objects.bulk_create(
        Finding(
            audit=audit,
            system=system,
            number=n,
            key=key,
            rule=key.split(":")[0],
            subject=key.split(":")[1],
            severity=level,
            title=f"title of {key.split(':')[0]} at {hour}",
            data={},
        )
        for n, (key, level) in enumerate(digest.items())
    )
    Capture.objects.filter(pk=capture.pk).update(audit=audit)
    System.objects.filter(pk=system.pk).update(latest=audit)
    system.refresh_from_db()
    return audit


def text_of(client: Client, system: System, query: str = "") -> str:
    answer = client.get(reverse("system", args=[system.pk]) + query)
    assert answer.status_code == 200
    return answer.content.decode()


def words_of(html: str) -> str:
    """What a reader sees of a page, without its tags."""
    return " ".join(re.sub(r"<[^>]*>", " ", html).split())


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
    assert page.count("<svg") == 1, "one figure alone is no course"
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
    assert text_of(client, system).count("<svg") == 12
    assert "1 to 12 of 15 figures" in words_of(text_of(client, system))
    assert text_of(client, system, "?charts=2").count("<svg") == 3


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


# Findings over time


def at(hours: int) -> str:
    return f"{START + timedelta(hours=hours):%Y-%m-%d %H:%M}"


def test_a_finding_that_stands_tells_since_when_and_how_often(system: System) -> None:
    see(system, 0)
    see(system, 1, {CONTENDED: 3})
    see(system, 2, verdict="unknown")
    see(system, 3, {CONTENDED: 4})
    see(system, 4, {CONTENDED: 2})
    (row,) = history.findings(history.recent(system)).rows
    assert row.states == ("not found", 3, "not judged", 4, 2)
    assert (row.stands, row.gone, row.worst, row.times, row.judged) == (True, None, 4, 3, 4)
    assert (row.since.when, row.last.when) == (at(1), at(4))
    assert row.title == "title of ase/address_lock_spinlock_contended at 4"


def test_a_finding_that_was_looked_for_and_not_found_is_gone_since_that_capture(system: System) -> None:
    for hour, digest in enumerate(({CONTENDED: 3}, {}, {CONTENDED: 2}, {}, {})):
        see(system, hour, digest)
    (row,) = history.findings(history.recent(system)).rows
    assert not row.stands
    assert row.gone is not None
    assert (row.since.when, row.last.when, row.gone.when) == (at(2), at(2), at(3))


@pytest.mark.parametrize("verdict", ["unknown", "untrusted", "broken"])
def test_a_finding_nobody_could_judge_again_is_not_gone(
    people: People, as_user: AsUser, system: System, verdict: str
) -> None:
    see(system, 0, {CONTENDED: 3})
    see(system, 1, verdict=verdict)
    (row,) = history.findings(history.recent(system)).rows
    assert row.stands
    assert "not judged in the newest capture" in words_of(text_of(as_user(people.colleague), system))


def test_a_finding_about_one_object_is_gone_though_its_rule_fires_at_another(system: System) -> None:
    other = CONTENDED.replace("PROD1", "PROD2")
    see(system, 0, {CONTENDED: 3})
    see(system, 1, {other: 3})
    rows = {row.subject: row for row in history.findings(history.recent(system)).rows}
    assert rows["PROD1"].gone is not None
    assert rows["PROD2"].stands


def test_what_stands_comes_before_what_is_gone(people: People, as_user: AsUser, system: System) -> None:
    see(system, 0, {LOUD: 4})
    see(system, 1, {CONTENDED: 1})
    assert [row.key for row in history.findings(history.recent(system)).rows] == [CONTENDED, LOUD]
    words = words_of(text_of(as_user(people.colleague), system))
    assert f"gone in {at(1)} {at(0)} or earlier" not in words  # these are all captures: nothing is earlier
    assert f"gone in {at(1)}" in words


def test_a_finding_older_than_the_captures_looked_at_stands_since_then_or_earlier(
    people: People, as_user: AsUser, system: System
) -> None:
    for hour in range(history.MOST_AUDITS + 1):
        see(system, hour, {CONTENDED: 3})
    assert f"{at(1)} or earlier" in words_of(text_of(as_user(people.colleague), system))


# Settings over time


def changes(system: System) -> list[tuple[str, object, object]]:
    return [(one.name, one.old, one.new) for one in settings_over_time(history.recent(system)).changes]


def test_a_changed_setting_tells_from_what_to_what_and_between_which_captures(system: System) -> None:
    see(system, 0, settings={"ratio": 100.0, "other": 1.0})
    see(system, 1, settings={"ratio": 100.0, "other": 1.0})
    see(system, 2, settings={"ratio": 5.0, "other": 1.0})
    (one,) = settings_over_time(history.recent(system)).changes
    assert (one.name, one.old, one.new, one.before.when, one.at.when) == ("ratio", 100.0, 5.0, at(1), at(2))


def test_a_setting_that_a_capture_does_not_hold_has_not_changed(system: System) -> None:
    see(system, 0, settings={"ratio": 100.0})
    see(system, 1, settings={"other": 1.0})
    see(system, 2)
    see(system, 3, settings={"ratio": 100.0})
    assert changes(system) == []
    see(system, 4, settings={"other": 2.0})
    see(system, 5, settings={"ratio": 5.0})
    assert changes(system) == [("ratio", 100.0, 5.0), ("other", 1.0, 2.0)]
    assert settings_over_time(history.recent(system)).current["other"][1].when == at(4)


def test_a_setting_printed_as_asterisks_has_not_changed(system: System) -> None:
    see(system, 0, settings={"ratio": 100.0})
    see(system, 1, settings={"ratio": "printed as asterisks: too wide for its column"})
    see(system, 2, settings={"ratio": 100.0})
    assert changes(system) == []


def test_what_waits_for_a_restart_is_a_change_of_what_is_configured(system: System) -> None:
    see(system, 0, settings={"ratio": 100.0})
    see(system, 1, settings={"ratio": 100.0, "ratio (configured)": 5.0})
    see(system, 2, settings={"ratio": 5.0})
    see(system, 3, settings={"ratio": 5.0, "ratio (configured)": 9.0})
    assert changes(system) == [
        ("ratio (configured)", 5.0, 9.0),
        ("ratio", 100.0, 5.0),
        ("ratio (configured)", 100.0, 5.0),
    ]


def test_what_waits_is_forgotten_once_a_list_has_the_setting_and_nothing_waits(system: System) -> None:
    waits = {"ratio": 100.0, "ratio (configured)": 5.0}
    for hour, settings in enumerate(({"ratio": 100.0}, waits, {"ratio": 100.0})):
        see(system, hour, settings=settings)
    assert list(settings_over_time(history.recent(system)).current) == ["ratio"]
    see(system, 3, settings=waits)
    assert changes(system) == [("ratio (configured)", 100.0, 5.0)] * 2


def test_only_so_many_lists_of_settings_are_compared_and_the_page_says_so(
    people: People, as_user: AsUser, system: System
) -> None:
    for hour in range(MOST_SNAPSHOTS + 5):
        see(system, hour, settings={"ratio": float(hour)})
    course = settings_over_time(history.recent(system))
    assert (course.lists, course.complete, len(course.changes)) == (MOST_SNAPSHOTS, False, MOST_SNAPSHOTS - 1)
    assert course.changes[0].new == MOST_SNAPSHOTS + 4
    assert "older ones are not compared" in words_of(text_of(as_user(people.colleague), system))


def test_the_settings_can_be_filtered(people: People, as_user: AsUser, system: System) -> None:
    see(system, 0, settings={"lock address spinlock ratio": 100.0, "max memory": 5.0})
    words = words_of(text_of(as_user(people.colleague), system, "?setting=SPINLOCK+lock"))
    assert "lock address spinlock ratio" in words
    assert "max memory" not in words


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


# What a DBA says of it


def test_a_limit_is_set_for_the_system_and_its_newest_capture_is_audited_by_it(
    people: People,
    as_user: AsUser,
    storm: System,
    storm_audit: Audit,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    data = {"name": LIMIT, "value": "99.5", "why": "it has always been so"}
    client = as_user(people.mate)
    with django_capture_on_commit_callbacks(execute=True):
        answer = client.post(reverse("system-limit", args=[storm.pk]), data, follow=True)
    words = words_of(answer.content.decode())
    assert f"{LIMIT} is 99.5 now. The newest capture is being audited again" in words
    assert "99.5 % by mats" in words
    assert "it has always been so" in words
    storm.refresh_from_db()
    assert storm.latest is not None
    assert storm.latest != storm_audit
    assert storm.latest.limits == {LIMIT: 99.5}
    assert any(LIMIT.rpartition(".")[0] in key for key in storm_audit.findings_digest)
    assert not any(LIMIT.rpartition(".")[0] in key for key in storm.latest.findings_digest)
    with django_capture_on_commit_callbacks(execute=True):
        client.post(reverse("system-limit", args=[storm.pk]), {"take_back": LIMIT})
    assert not LimitSetting.objects.exists()
    storm.refresh_from_db()
    assert storm.latest.limits == {}
    assert list(JournalEntry.objects.filter(system=storm).values_list("action", flat=True))[:2] == [
        "limit taken back",
        "limit set",
    ]


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        (LIMIT, "101", "outside 0 to 100"),
        (LIMIT, "nan", "Enter a number."),
        (LIMIT, "inf", "Enter a number."),
        (LIMIT, "", "This field is required."),
        ("ase/no_such_rule.x", "1", "None of these rules has such a limit."),
        ("openvms/lock_manager_idle.few_cpus", "3", "None of these rules has such a limit."),
        ("scaling/throughput_retrograde.least_loads", "7.5", "This limit is a whole number."),
    ],
)
def test_a_limit_that_cannot_be_is_an_error_of_the_form_and_what_was_typed_stays(
    people: People, as_user: AsUser, storm: System, name: str, value: str, said: str
) -> None:
    data = {"name": name, "value": value, "why": "because of that"}
    answer = as_user(people.owner).post(reverse("system-limit", args=[storm.pk]), data)
    assert answer.status_code == 400
    page = answer.content.decode()
    assert said in words_of(page)
    assert 'value="because of that"' in page
    assert not LimitSetting.objects.exists()


def test_the_site_s_limit_stands_beside_the_system_s_own_which_counts(
    people: People, as_user: AsUser, system: System
) -> None:
    LimitSetting.objects.create(name=LIMIT, value=20, by=people.administrator, why="all of them")
    LimitSetting.objects.create(name="openvms/lock_manager_idle.busy_percent", value=9)
    words = words_of(text_of(as_user(people.owner), system))
    assert "10 % 20 % by adam" in words
    assert "(the system's own counts)" not in words.replace("&#39;", "'")
    assert "9 % by" not in words
    LimitSetting.objects.create(system=system, name=LIMIT, value=30, by=people.owner)
    words = words_of(text_of(as_user(people.owner), system)).replace("&#39;", "'")
    assert "20 % (the system's own counts) by adam" in words
    assert "30 % by olga" in words


def test_a_limit_that_no_rule_has_any_more_can_still_be_taken_back(
    people: People, as_user: AsUser, system: System
) -> None:
    LimitSetting.objects.create(system=system, name="ase/gone.x", value=1)
    client = as_user(people.owner)
    assert "it does nothing" in words_of(text_of(client, system))
    client.post(reverse("system-limit", args=[system.pk]), {"take_back": "ase/gone.x"})
    assert not LimitSetting.objects.exists()


def test_a_note_is_kept_as_it_was_typed(people: People, as_user: AsUser, system: System) -> None:
    client = as_user(people.mate)
    client.post(reverse("system-note", args=[system.pk]), {"text": "first <b>line</b>\r\nsecond line\r\n"})
    note = Note.objects.get()
    assert (note.text, note.by) == ("first <b>line</b>\nsecond line", people.mate)
    assert '<pre class="wrap">first &lt;b&gt;line&lt;/b&gt;\nsecond line</pre>' in text_of(client, system)
    assert JournalEntry.objects.get(system=system).action == "note added"


@pytest.mark.parametrize("text", ["", "   ", "x" * 4001, "a\x00b"])
def test_a_note_that_is_empty_too_long_or_no_text_is_not_taken(
    people: People, as_user: AsUser, system: System, text: str
) -> None:
    answer = as_user(people.mate).post(reverse("system-note", args=[system.pk]), {"text": text})
    assert answer.status_code == 400
    assert 'id="text-error"' in answer.content.decode()
    assert not Note.objects.exists()


def test_what_is_expected_is_set_changed_and_taken_away(people: People, as_user: AsUser, system: System) -> None:
    client = as_user(people.owner)
    for typed, kept in (("24", 24), ("", None)):
        client.post(reverse("system-expected", args=[system.pk]), {"hours": typed})
        assert System.objects.get().expected_hours == kept
    for typed in ("0", "-1", "9000", "soon"):
        answer = client.post(reverse("system-expected", args=[system.pk]), {"hours": typed})
        assert answer.status_code == 400
        assert 'id="hours-error"' in answer.content.decode()
    assert System.objects.get().expected_hours is None
    assert JournalEntry.objects.filter(system=system, action="capture expected").count() == 2


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
    with django_assert_max_num_queries(18):
        page = text_of(client, system)
    assert "1 to 25 of 250" in words_of(page)
    assert "the newest 200 of 250" in words_of(page)
