"""What rules about locks and load must leave unsaid: figures that the export does not carry."""

from typing import Any

from collectors.facts import Facts
from rules.engine import judge_one, rules
from rules.finding import Finding, Unknown
from tests.facts_yml import build

SERVED = dict.fromkeys(("convert_local", "convert_incoming", "convert_outgoing"), 0.0)
SERVED |= dict.fromkeys(("deq_local", "deq_incoming", "deq_outgoing"), 0.0)


def found(rule_id: str, *items: dict[str, dict[str, Any]]) -> Finding:
    (one,) = [one for one in rules() if one.id == rule_id]
    verdict = judge_one(one, Facts(tuple(build(item) for item in items)), {})
    (finding,) = verdict.findings
    return finding


def series(*points: dict[str, float], **fields: Any) -> dict[str, dict[str, Any]]:
    base = {"title": "box", "load_name": "processes", "rate_name": "lock_operations_per_second", "product": "openvms"}
    return {"scaling.LoadSeries": {**base, "points": list(points), **fields}}


def metrics(finding: Finding) -> list[str]:
    return [evidence.metric for evidence in finding.evidence]


PAST_PEAK = "openvms/concurrency_past_peak"


def test_a_time_per_operation_needs_a_run_at_load_one_and_a_rate_per_second() -> None:
    falls = ({"load": 2.0, "rate": 400.0}, {"load": 4.0, "rate": 500.0}, {"load": 8.0, "rate": 300.0})
    assert "µs" not in found(PAST_PEAK, series(*falls)).says
    one = ({**falls[0], "load": 1.0}, *falls[1:])
    assert "2,500 µs" in found(PAST_PEAK, series(*one)).says
    assert "µs" not in found(PAST_PEAK, series(*one, rate_name="throughput")).says


def test_no_time_is_made_of_a_run_that_did_nothing() -> None:
    falls = ({"load": 1.0, "rate": 0.0}, {"load": 2.0, "rate": 500.0}, {"load": 3.0, "rate": 300.0})
    assert "µs" not in found(PAST_PEAK, series(*falls)).says


def test_a_share_of_busy_time_needs_all_of_the_large_modes_on_both_sides() -> None:
    whole = {"mp_synch_percent": 40.0, "kernel_percent": 50.0, "user_percent": 10.0}
    rows = [{"load": 1.0, "rate": 100.0}, {"load": 2.0, "rate": 190.0, **whole}, {"load": 3.0, "rate": 120.0, **whole}]
    assert "40 % of the busy time at the peak" in found(PAST_PEAK, series(*rows)).says
    for row in (1, 2):
        for mode in ("kernel_percent", "user_percent"):
            cut = [dict(each) for each in rows]
            del cut[row][mode]
            assert "busy time" not in found(PAST_PEAK, series(*cut)).says
            cut[row][mode] = -1.0
            assert "busy time" not in found(PAST_PEAK, series(*cut)).says


def test_without_monitor_columns_there_is_no_cost() -> None:
    rows = ({"load": 1.0, "rate": 100.0}, {"load": 2.0, "rate": 190.0}, {"load": 3.0, "rate": 120.0})
    assert found(PAST_PEAK, series(*rows)).cost is None


def test_directory_lookups_are_named_only_where_they_were_read() -> None:
    rates: dict[str, Any] = {"statistic": "mean", "enq_local": 900.0, "enq_incoming": 0.0, "enq_outgoing": 900.0}
    fact = {"openvms.DistributedLockRates": {**rates, **SERVED}}
    finding = found("openvms/locks_mastered_remotely", fact)
    assert "directory" not in finding.says
    assert not any("directory" in metric for metric in metrics(finding))


def test_a_small_table_far_below_the_limit_of_proof_explains_others_and_a_large_one_does_not() -> None:
    level = {"openvms.LockDatabase": {"statistic": "peak", "resources": 1e6}}
    for buckets, explains in ((1024.0, True), (65_536.0, False)):
        table = {"openvms.SysgenParameter": {"name": "RESHASHTBL", "current": buckets}}
        finding = found("openvms/resource_hash_table_undersized", table, level)
        assert bool(finding.explains) is explains
        cautions = " ".join(finding.changes[0].cautions)
        assert "unproven" in cautions
        assert finding.changes[0].memory_mb == (2_097_152 - buckets) * 8 / 2**20
    small = {"openvms.LockDatabase": {"statistic": "peak", "resources": 50_000.0}}
    table = {"openvms.SysgenParameter": {"name": "RESHASHTBL", "current": 64.0}}
    finding = found("openvms/resource_hash_table_undersized", table, small)
    assert finding.changes[0].new == 65_536
    assert "unproven" not in " ".join(finding.changes[0].cautions)


def test_the_two_missing_halves_are_named_both_with_the_exact_command() -> None:
    (one,) = [one for one in rules() if one.id == "openvms/resource_hash_table_undersized"]
    outcomes = list(one.check(Facts().narrowed(one.uses), one.limits()))
    brings = [lack.command for outcome in outcomes if isinstance(outcome, Unknown) for lack in outcome.missing]
    t4 = "a T4 composite CSV of a busy day (T4$SYS:T4$CONFIG.COM collects it), or MONITOR LOCK"
    assert brings == ["MCR SYSGEN SHOW RESHASHTBL", t4]
