"""The day of a capture: the curves, the findings marked on them, the same figures as a table; nothing made up."""

import re
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

import pytest

from advisor.audits.models import Audit
from advisor.charts.curves import Bound, Mark
from advisor.openvms.services.annotations import PICTURES, annotations_of
from advisor.openvms.services.day import day_view
from advisor.openvms.services.time_series import (
    Day,
    days_of,
    means_of,
    remote_share,
)
from advisor.uploads.models import Upload
from collectors.facts import ABSENT, OVERFLOW, Fact, Facts, Reading, Source
from collectors.facts.openvms import Curve, LockRates, SysgenParameter
from rules.finding import Evidence
from tests.advisor.ase.servers import audited
from tests.advisor.charts.pictures import by_class, plot, texts
from tests.advisor.people import AsUser, People, text_of

FILE = "day.csv"
START = datetime(2026, 3, 2, 8, 0)  # noqa: DTZ001 - exports have no zone


def curve(
    name: str, *means: Reading, peaks: Sequence[Reading] = (), unit: str = "/s", step: float = 300.0, file: str = FILE
) -> Curve:
    """One curve of steps of five minutes."""
    return Curve(
        source=Source(file, 5, 99),
        name=name,
        unit=unit,
        start=START,
        step_seconds=step,
        means=means,
        peaks=tuple(peaks) or means,
    )


def the_day(*curves: Fact) -> Day:
    (found,) = days_of(Facts(curves))
    return found


def test_the_remote_share_is_of_all_operations_and_a_gap_where_it_is_not_known_or_nothing_was_locked() -> None:
    day = the_day(
        curve("local", 60.0, 0.0, ABSENT, 10.0, 5.0, 10.0),
        curve("incoming", 30.0, 0.0, 5.0, OVERFLOW, 0.0, -0.5),
        curve("outgoing", 10.0, 0.0, 5.0, 5.0, 0.0, 1.0),
    )
    assert remote_share(day) == [40.0, None, None, None, 0.0, None]
    assert remote_share(the_day(curve("local", 1.0), curve("incoming", 1.0))) == []


def test_means_are_of_the_hours_of_the_clock_and_a_share_is_that_of_the_means() -> None:
    hours = [100.0] * 12 + [ABSENT] * 12 + [40.0] * 24
    day = the_day(
        curve("local", *hours), curve("incoming", *([50.0] * 48)), curve("outgoing", *([50.0] * 24), *([0.0] * 24))
    )
    table = means_of(day)
    assert table.every_seconds == 3600
    assert [at.hour for at, _ in table.rows] == [8, 9, 10, 11]
    assert [row[0] for _, row in table.rows] == [100.0, None, 40.0, 40.0]
    assert [row[-1] for _, row in table.rows] == [
        50.0,
        None,
        pytest.approx(100 * 50 / 90),
        pytest.approx(100 * 50 / 90),
    ]
    assert means_of(the_day(curve("local", 1.0, 2.0))).every_seconds == 600


def test_a_day_that_no_calendar_holds_is_left_out() -> None:
    far = Curve(name="local", unit="/s", start=datetime.max, step_seconds=9e9, means=(1.0, 2.0), peaks=(1.0, 2.0))  # noqa: DTZ901
    assert days_of(Facts((far,))) == []


def test_each_export_is_a_day_of_its_own_and_the_latest_comes_first() -> None:
    later = Curve(
        source=Source("b.csv", 1, 2),
        name="local",
        unit="/s",
        start=START + timedelta(days=1),
        step_seconds=60.0,
        means=(1.0,),
        peaks=(1.0,),
    )
    assert [day.file for day in days_of(Facts((curve("local", 1.0), later, curve("incoming", 1.0))))] == ["b.csv", FILE]


@pytest.fixture
def audit(people: People) -> Audit:
    return audited(people, [], "ORKNEY", "openvms")


def told(audit: Audit, *evidence: Evidence) -> None:
    """One finding with this evidence."""
    audit.findings.create(
        system=audit.system,
        number=audit.findings.count(),
        key="openvms/x:ORKNEY",
        rule="openvms/x",
        subject="ORKNEY",
        severity=3,
        title=f"finding {audit.findings.count()}",
        data={
            "severity": "warning",
            "evidence": [
                {
                    "metric": one.metric,
                    "value": one.value,
                    "unit": one.unit,
                    "limit": one.limit,
                    "file": one.source.file,
                    "lines": [one.source.first, one.source.last],
                }
                for one in evidence
            ],
        },
    )


SYNCH = curve("mp synch", 100.0, 300.0, 200.0, peaks=(150.0, 420.0, 210.0), unit="% of one CPU")
LOCKS = curve("lock operations", 900.0, 5000.0, 800.0, peaks=(950.0, 7000.5, 900.0))


def test_a_finding_of_one_sample_is_marked_at_its_time_and_its_limit_is_a_line(audit: Audit) -> None:
    moment = START + timedelta(minutes=7)
    rates = LockRates(source=Source(FILE, 12, 12), statistic="at mp synch peak", time=moment)
    told(
        audit,
        Evidence("MP synch (p95)", 400.0, "% of one CPU", Source(FILE, 5, 99), 200.0),
        Evidence("lock operations (at mp synch peak)", 6500.0, "/s", Source(FILE, 12, 12), 5000.0),
    )
    day = the_day(SYNCH, LOCKS)
    found = annotations_of(audit, Facts((rates, SYNCH, LOCKS)), day, PICTURES)
    assert found.marks == {"locks": [Mark(1, day.middle(1), 6500.0)]}
    assert found.bounds == {"modes": [Bound("limit", 200.0, (1,))], "locks": [Bound("limit", 5000.0, (1,))]}
    (one,) = found.noted
    assert one.lines == [
        "Processor modes: MP synch (p95) 400 % of one CPU, limit 200",
        "Lock operations: lock operations (at mp synch peak) 6,500 /s, in the sample of 2026-03-02 08:07:00, "
        "limit 5,000",
    ]


def test_the_same_line_of_another_file_and_a_moment_outside_the_day_are_no_place(audit: Audit) -> None:
    late = START + timedelta(days=3)
    rates = [
        LockRates(source=Source("other.csv", 12, 12), statistic="at lock peak", time=START),
        LockRates(source=Source(FILE, 13, 13), statistic="at lock peak", time=late),
    ]
    for source in (Source("other.csv", 12, 12), Source(FILE, 13, 13)):
        told(
            audit,
            Evidence("lock operations (at lock peak)", 6500.0, "/s", source),
            Evidence("file opens", 3.0, "/s", source),
        )
    found = annotations_of(audit, Facts((*rates, LOCKS)), the_day(LOCKS), PICTURES)
    assert not found.marks
    assert [title for _, title in found.others] == ["finding 0", "finding 1"]


def test_a_moment_whose_figure_no_curve_has_stands_above_its_time(audit: Audit) -> None:
    rates = LockRates(source=Source(FILE, 12, 12), statistic="at lock peak", time=START)
    told(audit, Evidence("blocking ASTs", 70.0, "/s", Source(FILE, 12, 12)))
    day = the_day(LOCKS)
    assert annotations_of(audit, Facts((rates, LOCKS)), day, PICTURES).marks == {
        "locks": [Mark(1, day.middle(0), None)]
    }


def test_the_highest_sample_is_marked_where_it_is_and_a_mean_that_happens_to_equal_it_is_not(audit: Audit) -> None:
    tables = curve("resources", 10.0, 30.0, 20.0, peaks=(11.0, 44.0, 21.0), unit="resources")
    told(audit, Evidence("resources at the peak", 44.0, "resources", Source(FILE, 6, 8)))
    told(audit, Evidence("lock operations (mean)", 7000.5, "/s", Source(FILE, 5, 99)))
    day = the_day(tables, LOCKS)
    found = annotations_of(audit, Facts((tables, LOCKS)), day, PICTURES)
    assert found.marks == {"tables": [Mark(1, day.middle(1), 44.0)]}
    assert [number for number, _ in found.others] == [1]


def test_two_findings_with_one_limit_share_its_line(audit: Audit) -> None:
    for _ in range(2):
        told(audit, Evidence("MP synch (p95)", 400.0, "% of one CPU", Source(FILE, 5, 99), 200.0))
    found = annotations_of(audit, Facts((SYNCH,)), the_day(SYNCH), PICTURES)
    assert found.bounds == {"modes": [Bound("limit", 200.0, (1, 2))]}


def test_buckets_are_a_line_over_the_resources_where_sysgen_was_brought(audit: Audit) -> None:
    tables = curve("resources", 10_000.0, 40_000.0, unit="resources")
    listed = SysgenParameter(name="RESHASHTBL", current=32_768.0)
    view = day_view(audit, Facts((tables, listed)), "")
    assert view is not None
    (one,) = view.drawn
    assert "RESHASHTBL 32,768" in texts(plot(one.picture))
    without = day_view(audit, Facts((tables,)), "7")
    assert without is not None
    assert not by_class(plot(without.drawn[0].picture), "c-limit")


def test_a_lock_manager_that_never_had_a_cpu_is_said_and_not_drawn(audit: Audit) -> None:
    idle = curve("dedicated cpu busy", 0.0, 0.0, unit="%")
    view = day_view(audit, Facts((LOCKS, idle)), "")
    assert view is not None
    assert [one.key for one in view.drawn] == ["locks"]
    assert dict(view.lacking)["CPU of the lock manager"] == "0 in every step: no CPU worked for it alone"
    assert dict(view.lacking)["Remote share"] == "local, incoming, outgoing: not in this export"


def test_the_day_of_a_lock_bound_node_has_its_findings_on_the_curves(
    people: People, bring: Callable[..., Upload], as_user: AsUser
) -> None:
    bring("lock_bound_node")
    found = Audit.objects.get()
    page = text_of(as_user(people.colleague), f"/audits/{found.pk}/day/")
    assert page.count("<figure") == 4
    assert "CPU of the lock manager not drawn: 0 in every step" in page
    assert ">RESHASHTBL 8,192</text>" in page
    for finding in found.findings.all():
        assert f'href="/audits/{found.pk}/#f{finding.number}"' in page
    synch = found.findings.get(rule="openvms/lock_manager_needs_own_cpu")
    number = re.search(
        rf'<li><b>(\d+)</b> <span class="tag critical">critical</span> <a href="[^"]*#f{synch.number}"', page
    )
    assert number
    assert f">{number[1]}</text>" in page, "its number stands in the pictures"
    assert "resources at the peak" in page
    assert "Means in figures" in page


def test_a_quiet_day_has_curves_and_nothing_marked(
    people: People, bring: Callable[..., Upload], as_user: AsUser
) -> None:
    bring("quiet_two_node_day")
    page = text_of(as_user(people.colleague), f"/audits/{Audit.objects.get().pk}/day/")
    assert page.count("<figure") >= 4
    assert "This audit has no findings to mark." in page
    assert 'r="7.5"' not in page, "no mark in any picture"


def test_a_capture_without_curves_says_what_to_bring(
    people: People, bring: Callable[..., Upload], as_user: AsUser
) -> None:
    bring("lock_manager_on_a_busy_core")
    page = text_of(as_user(people.colleague), f"/audits/{Audit.objects.latest('pk').pk}/day/")
    assert "T4 composite CSV of a busy day" in page
    assert "<figure" not in page
