"""Several captures of one server: what decides comes first, what was set in between is named, the peak comes first."""

import datetime as dt
from dataclasses import replace

from collectors.facts import Capture, Fact, Facts, Interval, Source, System
from collectors.facts.ase import NamedCache, SysmonSample
from rules.audit import Audit, audit, peak_first
from rules.changes.ase_config import configure
from rules.changes.ase_engines import fewer_threads
from rules.finding import Finding, Severity
from rules.in_time import in_reading_order, with_changed_settings
from rules.plan import make_plan
from rules.ranking import Ranked

LOCK = "ase/lock_hash_spinlock_contended"


def capture(day: int | None, partitions: float = 1.0, folder: str = "", name: str = "LARCH") -> Audit:
    end = dt.datetime(2026, 5, day, 10) if day else None  # noqa: DTZ001 - exports have no zone
    facts: list[Fact] = [
        SysmonSample(source=Source(f"{folder}sysmon.txt", 1, 9), end=end, seconds=600.0),
        NamedCache(name="default data cache", run_partitions=partitions, config_partitions=partitions),
    ]
    return audit(Capture(System(name, "ase"), Interval(None, end, 600.0), Facts(tuple(facts))))


def test_the_newest_capture_of_a_server_comes_first_and_others_keep_their_places() -> None:
    given = [capture(4), capture(9, name="BIRCH"), capture(None), capture(18)]
    ends = [(one.capture.system.name, one.capture.interval.end) for one in in_reading_order(given)]
    assert [(name, end and end.day) for name, end in ends] == [
        ("LARCH", 18),
        ("BIRCH", 9),
        ("LARCH", 4),
        ("LARCH", None),
    ]


def test_a_worse_finding_of_an_older_capture_comes_before_a_quiet_one_with_the_same_settings() -> None:
    chains = Ranked(LOCK, Finding(subject="LARCH", severity=Severity.ADVICE, title="t", seen="s", evidence=()))
    noted = Ranked(LOCK, replace(chains.finding, severity=Severity.NOTE))
    idle, busy, earlier = capture(18), replace(capture(9), findings=(chains,)), replace(capture(4), findings=(chains,))

    def days(*given: Audit) -> list[int]:
        return [end.day for one in in_reading_order(given) if (end := one.capture.interval.end)]

    assert days(earlier, busy, idle) == [9, 18, 4]
    assert days(replace(busy, findings=(noted,)), idle) == [18, 9]
    assert days(busy, replace(idle, findings=(chains,))) == [18, 9]
    assert days(busy, capture(18, 8.0)) == [18, 9]  # it may be what the setting did


def test_a_database_that_is_only_named_stands_behind_what_was_measured() -> None:
    barn, loft = System("BARN", "rdb"), System("LOFT", "rdb")
    named = replace(capture(None), capture=Capture(barn, Interval(), Facts(())), findings=())
    measured = replace(capture(4), capture=Capture(loft, capture(4).capture.interval, Facts(())))
    assert in_reading_order([named, measured]) == [measured, named]
    worth = Finding(subject="BARN", severity=Severity.ADVICE, title="t", seen="s", evidence=())
    told = replace(named, findings=(Ranked("rdb/fast_commit_off", worth),))
    assert in_reading_order([told, measured]) == [told, measured]


def test_what_was_set_since_the_capture_before_is_named_with_the_command_that_compares_them() -> None:
    now, then = in_reading_order(with_changed_settings([capture(4, 2.0, "then/"), capture(18, 8.0, "since then/")]))
    assert now.summary.verdict.endswith(
        "; set since the capture of 2026-05-04 10:00: cache default data cache: partitions 2 → 8, and lockwright "
        "compare --before then --after 'since then' tells what that did."
    )
    assert "compare" not in then.summary.verdict
    (now, _) = in_reading_order(with_changed_settings([capture(4, 2.0), capture(18, 8.0)]))
    assert "--before FILES OF THEN --after FILES OF NOW" in now.summary.verdict


def test_nothing_is_said_where_nothing_was_set() -> None:
    assert not [one for one in with_changed_settings([capture(4), capture(18)]) if "compare" in one.summary.verdict]


def test_what_too_many_engines_explain_waits_for_fewer_of_them() -> None:
    found = Finding(subject="LARCH", severity=Severity.WARNING, title="t", seen="s", evidence=())
    ratio, threads = configure("lock spinlock ratio", 85, 20), fewer_threads("syb_default_pool", 32, 16)
    lock = Ranked(LOCK, replace(found, changes=(ratio,)))
    peak = Ranked("ase/engines_past_peak", replace(found, changes=(threads,)), (f"{LOCK}:LARCH",))

    def plan(*findings: Ranked) -> list[str]:
        changes = [change for one in peak_first(findings) for change in one.finding.changes]
        return [key for step in make_plan(changes).steps for key in step.change_keys]

    assert plan(peak, lock) == [threads.key]
    assert plan(Ranked(peak.rule, peak.finding), lock) == [threads.key, ratio.key]
    assert plan(replace(peak, finding=found), lock) == [ratio.key]
