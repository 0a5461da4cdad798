"""One gate for length: a moment is a note without changes, whatever rule speaks."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from collectors.facts import Fact, Facts, Source
from collectors.facts.ase import CacheActivity, ConfigParameter, SysmonSample, SysmonSection
from collectors.facts.openvms import MonitorSample, T4File
from collectors.facts.rdb import StatisticsWindow
from rules.cut import whole_alone
from rules.engine import Rule, judge_one, rules
from rules.finding import Change, Clean, Effect, Evidence, Finding, Outcome, Severity, Verdict
from rules.sample import LEAST, LeastSample, samples_of

CHANGE = Change("ase.config:lock address spinlock ratio", "ratio", 100.0, 5.0, ("set",), ("back",), Effect.RESTART)
A, B = Source("a.txt", 1, 1), Source("b.txt", 1, 1)
DAY = LeastSample(600.0, 30, "this project: for the test")


@dataclass(frozen=True)
class Limits:
    pass


def said(*facts: Fact, sample: LeastSample | None = LEAST, at: tuple[tuple[Source, float | None], ...]) -> Finding:
    def check(_: Facts, __: Any) -> Iterator[Outcome]:
        evidence = tuple(Evidence("figure", 50.0, "%", source, limit) for source, limit in at)
        yield Finding("S", Severity.CRITICAL, "title", "Says.", evidence, changes=(CHANGE,))

    (finding,) = judge_one(Rule("ase/made_up", "T.", (), (), (), Limits, check, sample), Facts(facts), {}).findings
    return finding


@pytest.mark.parametrize(
    "short",
    [
        SysmonSample(seconds=5.0, source=A),
        T4File(rows=3, interval_seconds=1.0, source=A),
        MonitorSample(kind="display", seconds=6.0, source=A),
    ],
)
def test_a_moment_is_a_note_without_changes_that_says_what_to_collect(short: Fact) -> None:
    finding = said(short, at=((A, 10.0),))
    assert finding.severity is Severity.NOTE
    assert not finding.changes
    assert f"Collect a longer sample: {type(short).COLLECTED_BY}" in finding.says


def test_a_screen_that_averages_over_an_unknown_time_is_advice_with_its_changes() -> None:
    screen = MonitorSample(kind="display", samples_at_least=4, source=A)
    finding = said(screen, at=((A, 10.0),), sample=DAY)
    assert finding.severity is Severity.ADVICE
    assert finding.changes
    assert "averages over an unknown number of samples, 4 or more by its figures" in finding.says


def test_what_is_long_enough_or_without_a_time_is_left_as_it_is() -> None:
    for facts in ((SysmonSample(seconds=30.0, source=A),), (SysmonSample(source=A),), ()):
        finding = said(*facts, at=((A, 10.0),))
        assert finding.severity is Severity.CRITICAL
        assert finding.changes


def test_too_few_samples_count_as_too_short() -> None:
    few = T4File(rows=29, interval_seconds=60.0, source=A)
    assert "29 samples (at least 30" in said(few, sample=DAY, at=((A, 10.0),)).says
    assert said(few, at=((A, 10.0),)).severity is Severity.CRITICAL


def test_the_figure_that_was_held_against_a_limit_counts_and_not_the_one_beside_it() -> None:
    short = SysmonSample(seconds=5.0, source=A)
    setting = ConfigParameter(name="x", source=B)
    assert said(short, setting, at=((B, 10.0), (A, None))).severity is Severity.CRITICAL
    assert said(short, setting, at=((B, None), (A, 10.0))).severity is Severity.NOTE


def test_a_long_sample_of_the_same_file_bears_the_finding() -> None:
    both = SysmonSample(seconds=5.0, source=A), SysmonSample(seconds=600.0, source=A)
    assert said(*both, at=((A, 10.0),)).severity is Severity.CRITICAL


def test_the_screen_that_a_figure_stands_on_counts_and_not_a_longer_one_of_its_file() -> None:
    long = StatisticsWindow(screen="Summary IO", elapsed_seconds=7_200.0, source=Source("f", 1, 20))
    short = StatisticsWindow(screen="Locking (page locks)", elapsed_seconds=20.0, source=Source("f", 21, 40))
    assert said(long, short, at=((Source("f", 30, 30), 10.0),)).severity is Severity.NOTE
    assert said(long, short, at=((Source("f", 12, 12), 10.0),)).severity is Severity.CRITICAL


def test_a_rule_of_settings_alone_is_not_asked_how_long_was_measured() -> None:
    assert said(SysmonSample(seconds=5.0, source=A), sample=None, at=((A, 10.0),)).severity is Severity.CRITICAL


def test_every_origin_of_a_least_sample_is_named() -> None:
    for one in rules():
        least = one.sample(one.limits()) if callable(one.sample) else one.sample
        assert least is None or least.origin.startswith(("vendor", "practice", "this project")), one.id


def test_a_site_sets_what_a_rule_needs_by_its_limits() -> None:
    (one,) = [one for one in rules() if one.id == "openvms/lock_manager_needs_own_cpu"]
    assert callable(one.sample)
    assert one.sample(one.limits()) == LeastSample(600.0, 30, "this project: no minimum is published")
    assert one.sample(one.limits(least_samples=60)).samples == 60


def test_the_interval_of_two_snapshots_is_a_sample() -> None:
    from collectors.facts.ase import MonSpinlockActivity

    row = MonSpinlockActivity(name="x", over="interval", seconds=2.0, certificate="ok", source=A)
    assert [one.seconds for one in samples_of(Facts((row,)))] == [2.0]


def verdict_of(*facts: Fact, measured: tuple[Source, ...] = (A,)) -> Verdict:
    def check(_: Facts, __: Any) -> Iterator[Outcome]:
        yield Clean("3 % spin, limit 10 %", measured)

    return judge_one(Rule("ase/made_up", "T.", (), (), (), Limits, check, LEAST), Facts(facts), {})


@pytest.mark.parametrize("kind", [T4File, MonitorSample])
def test_samples_of_a_quarter_of_an_hour_call_nothing_in_order(kind: type[Fact]) -> None:
    given = {"rows": 96} if kind is T4File else {"kind": "recording", "samples": 96, "seconds": 86_400.0}
    coarse = kind(source=A, interval_seconds=900.0, **given)  # type: ignore[call-arg]
    verdict = verdict_of(coarse)
    assert verdict.verdict == "unknown"
    assert "samples of 900 s, which hide shorter peaks" in verdict.why
    assert verdict.missing[0].fact.startswith("samples of a minute or less")


def test_samples_of_a_minute_do_and_so_do_long_ones_beside_them() -> None:
    minutes = T4File(source=A, rows=600, interval_seconds=60.0)
    assert verdict_of(minutes).verdict == "clean"
    assert verdict_of(minutes, T4File(source=A, rows=96, interval_seconds=900.0)).verdict == "clean"


def test_an_hour_of_monitor_without_samples_of_its_own_is_no_series_of_long_ones() -> None:
    assert verdict_of(MonitorSample(source=A, kind="summary", seconds=3600.0)).verdict == "clean"


def test_settings_are_in_order_whatever_the_samples() -> None:
    assert verdict_of(T4File(source=A, rows=96, interval_seconds=900.0), measured=()).verdict == "clean"


def test_of_a_report_that_is_cut_the_last_figures_alone_are_in_doubt() -> None:
    read = [Source("a.txt", *lines) for lines in ((1, 9), (10, 30), (12, 14), (20, 24))]
    sample = SysmonSample(source=read[0], seconds=600.0, complete=False)
    section = SysmonSection(source=read[1], title="Data Cache Management")
    caches = [CacheActivity(source=read[2], name="default data cache"), CacheActivity(source=read[3], name="orders")]
    facts = Facts((sample, section, *caches))
    above, last = (
        Finding(one.name, Severity.WARNING, "title", "Says.", (Evidence("figure", 50.0, "%", one.source),))
        for one in caches
    )
    assert whole_alone(above, facts) is above
    assert whole_alone(last, facts).severity is Severity.ADVICE
