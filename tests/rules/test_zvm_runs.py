"""Table 1 of "Scheduler Lock Improvement" (z/VM 4.4.0 performance report): every figure, ratio and conclusion."""

import dataclasses
from typing import Any

import pytest

from collectors.facts import OVERFLOW, Facts, Source, number_or
from collectors.facts.zvm import PerformanceRun
from rules.engine import judge_one, rules
from rules.zvm._evidence.runs import (
    conclusion,
    cost_of,
    doubt,
    metrics,
    pairs,
    spun_msec,
    spun_percent,
    spun_share,
)
from tests.rules.zvm_published import FIELDS, PUBLISHED, RATIOS


def run(name: str, **fields: Any) -> PerformanceRun:
    release, processors, figures = PUBLISHED[name]
    read: dict[str, Any] = {
        "run": name,
        "release": release,
        "processors": float(processors),
        **dict(zip(FIELDS, figures, strict=True)),
    }
    return PerformanceRun(**(read | fields))


TABLE = [run(name) for name in PUBLISHED]


def test_each_run_of_4_4_0_is_held_against_that_of_4_3_0_on_as_many_processors() -> None:
    assert [(pair.base.run, pair.run.run, pair.processors) for pair in pairs(TABLE)] == [
        ("43UPP3", "44UPP3", 3),
        ("43UPP9", "44UPP9", 9),
        ("43S1UP16", "44S1UP16", 16),
    ]
    assert [pair.doubt for pair in pairs(TABLE)] == ["", "", ""]


@pytest.mark.parametrize("field", FIELDS)
def test_every_printed_ratio_is_that_of_the_printed_values(field: str) -> None:
    for pair in pairs(TABLE):
        found = getattr(pair.run, field) / getattr(pair.base, field)
        assert f"{found:.3f}" == f"{RATIOS[pair.run.run][FIELDS.index(field)]:.3f}", pair.run.run


def test_metrics_give_the_printed_values_and_ratios_and_the_time_of_cp_decides() -> None:
    for pair in pairs(TABLE):
        found = {one.key: one for one in metrics(pair)}
        assert [one.key for one in found.values() if one.decides] == ["cp_msec_per_tx"]
        assert set(FIELDS) <= set(found)
        for name, ratio in zip(FIELDS, RATIOS[pair.run.run], strict=True):
            one = found[name]
            assert (one.before, one.after) == (getattr(pair.base, name), getattr(pair.run, name))
            assert round(one.after / one.before, 3) == ratio
        ways = {one.key: one.better for one in found.values()}
        assert ways["cp_msec_per_tx"] == ways["spin_msec_per_tx"] == "low"
        assert ways["transactions_per_second"] == "high"
        assert ways["system_util_percent"] is None, "of elapsed time: it rises with the work done"


def test_spinning_costs_the_known_milliseconds_of_cp_time_per_transaction() -> None:
    for name, spun, share in (("43UPP9", "8.30", 36), ("44UPP9", "0.18", 6), ("43S1UP16", "27.73", 51)):
        assert (f"{spun_msec(run(name)):.2f}", round(spun_share(run(name)) or 0)) == (spun, share)
    assert (f"{spun_msec(run('44S1UP16')):.1f}", round(spun_share(run("44S1UP16")) or 0)) == ("15.3", 32)
    for one in TABLE:
        assert spun_msec(one) == pytest.approx(one.spin_msec_per_tx)
        assert spun_share(one) == pytest.approx(one.spin_share_of_cp_percent)


def test_the_conclusions_are_those_of_the_report() -> None:
    three, nine, sixteen = (conclusion(pair) for pair in pairs(TABLE))
    assert three == (
        "3 processors, 43UPP3 → 44UPP3: no gain in CP time per transaction (3.231 → 3.133 ms, -3 %; runs repeat within "
        "5 %); although requests spin 54.5 % less often and 62.7 % less time is spent spinning; "
        "spinning 0.15 of 3.23 → 0.05 of 3.13 CP ms; CP locks were no problem before, either: 5 % of CP's time"
    )
    assert nine == (
        "9 processors, 43UPP9 → 44UPP9: a large gain: CP takes less time per transaction (23.113 → 3.034 ms, -87 %); "
        "transactions per second × 3.702; spinning 8.30 of 23.1 → 0.18 of 3.03 CP ms"
    )
    assert sixteen == (
        "16 processors, 43S1UP16 → 44S1UP16: better: CP takes less time per transaction (54.142 → 47.014 ms, -13 %); "
        "transactions per second × 1.079; spinning 27.7 of 54.1 → 15.3 of 47.0 CP ms; "
        "still bound by CP locks: 32 % of CP's time is spent spinning"
    )


def test_a_pair_names_what_came_between_its_releases_and_nothing_later() -> None:
    (one,) = [one for one in rules() if one.id == "zvm/scheduler_lock_contended"]
    for release, later in (("4.4.0", False), ("5.3.0", True)):
        pair = Facts((run("43UPP9"), run("44UPP9", release=release)))
        (finding,) = judge_one(one, pair, {}).findings
        assert "4.4.0: timer requests left the scheduler lock" in finding.says
        assert ("5.3.0: the scheduler lock can be held shared" in finding.says) is later
        assert "6.4.0" not in finding.says


def test_what_spins_most_often_does_not_lose_most_time() -> None:
    by_rate = max(TABLE, key=lambda one: number_or(one.spin_rate, 0))
    by_time = max(TABLE, key=lambda one: number_or(one.spin_percent, 0))
    assert (by_rate.run, by_time.run) == ("43UPP9", "43S1UP16")
    cost = cost_of(by_time)
    assert cost is not None
    assert [round(value, 2) for value in (cost.low, cost.processors, cost.high)] == [6.76, 6.89, 7.03]


def test_printed_ratios_name_the_base_and_without_them_it_is_the_oldest_release() -> None:
    names = ("43UPP9", "44UPP9")
    old, new = (run(name) for name in names)
    newest = run("44UPP9", run="50UPP9", release="5.0.0")
    assert [(p.base.run, p.run.run) for p in pairs([newest, new, old])] == [("43UPP9", "50UPP9"), ("43UPP9", names[1])]
    bases = [dataclasses.replace(new, base="44UPP9"), dataclasses.replace(old, base="44UPP9")]
    assert [(pair.base.run, pair.run.run) for pair in pairs(bases)] == [("44UPP9", "43UPP9")]
    assert pairs([dataclasses.replace(new, base="41UPP9"), old]) == (), "its base is not in the table"


def test_runs_that_are_no_before_and_after_are_not_paired() -> None:
    old, new = run("43UPP9"), run("44UPP9")
    assert pairs([old, dataclasses.replace(new, processors=10.0)]) == ()
    assert pairs([old, dataclasses.replace(new, release="4.3.0")]) == ()
    assert pairs([old, dataclasses.replace(new, release=None)]) == ()
    assert pairs([old, dataclasses.replace(new, title="Linux Guest Crypto")]) == ()
    assert pairs([old, dataclasses.replace(new, source=Source("other.txt", 1, 9))]) == ()
    assert pairs([dataclasses.replace(one, source=Source(file, 1, 9)) for file in "ab" for one in (old, new)]) == pairs(
        [dataclasses.replace(one, source=Source("a", 1, 9)) for one in (old, new)]
    ), "the same table twice counts once"


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"wrong": ("rate × time is not per cent",)}, "rate × time is not per cent"),
        ({"spin_percent": 24.782, "spin_time_usec": 24.90}, "10047 spins/s of 24.9 µs are 25.017 % and not 24.782 %"),
        ({"cp_msec_per_tx": 5.101, "emul_msec_per_tx": 20.113}, "5.101 and 20.113 ms per transaction are not 28.213"),
        ({"processors": 0.0}, "0 processors are none"),
        ({"spin_rate": OVERFLOW}, "spin rate printed as asterisks"),
        ({"cp_msec_per_tx": -1.0}, "cp msec per tx -1 is none"),
        ({"transactions_per_second": 27.011}, "ms spent spinning are more than all of CP's 23.113 ms"),
        ({"spin_percent": 240.9, "spin_rate": 97207.0}, "240.9 % of the time is more than there is"),
    ],
)
def test_a_run_whose_figures_contradict_each_other_is_not_believed(fields: dict[str, Any], why: str) -> None:
    broken = run("43UPP9", **fields)
    assert why in doubt(broken)
    (pair,) = pairs([broken, run("44UPP9", processors=broken.processors)])
    assert "nothing can be concluded, for run 43UPP9" in conclusion(pair)


def test_a_share_that_is_not_printed_is_computed_and_what_cannot_be_is_left_out() -> None:
    bare = PerformanceRun(run="1", release="4.3.0", processors=9.0, spin_rate=10047.0, spin_time_usec=24.782)
    assert spun_percent(bare) == pytest.approx(24.9, abs=0.005)
    assert (spun_msec(bare), spun_share(bare)) == (None, None)
    (pair,) = pairs([bare, dataclasses.replace(bare, run="2", release="4.4.0")])
    assert [one.key for one in metrics(pair)] == ["spin_rate", "spin_time_usec", "spin_percent"]
    assert "not in the table, so nothing is concluded" in conclusion(pair)
    assert spun_msec(run("43UPP9", transactions_per_second=0.0)) is None


def test_more_cp_time_is_worse_and_figures_across_the_redesign_are_not_compared() -> None:
    old, new = run("44UPP9", release="6.3.0"), run("43UPP9", release="7.1.0")
    (pair,) = pairs([old, new])
    assert "worse: CP takes more time per transaction (3.034 → 23.113 ms, +662 %)" in conclusion(pair)
    assert "before and after VM65988 are not comparable" in conclusion(pair)
    (known,) = pairs([old, run("43UPP9", release="6.3.1")])
    assert "comparable" not in conclusion(known)
