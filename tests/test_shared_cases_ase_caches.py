"""What must come out of the cases about data caches beside the project (skipped where they are not there)."""

from typing import Any

import pytest

from advisor.audits.report.data import audit_data
from advisor.audits.services.auditing import run_audit
from advisor.uploads.services.reading import read_exports
from tests.conftest import REAL

CASES = REAL.parent / "cases"
pytestmark = pytest.mark.skipif(not CASES.is_dir(), reason="no ../shared/cases here")


def capture_of(case: str) -> dict[str, Any]:
    inputs = read_exports([str(CASES / case)], None)  # type: ignore[arg-type]  # no standard input here
    (capture,) = audit_data(inputs, run_audit(inputs, {}, None))["captures"]
    assert not [one for one in capture["verdicts"] if one["verdict"] == "broken"]
    found: dict[str, Any] = capture
    return found


def findings(capture: dict[str, Any], rule: str) -> list[dict[str, Any]]:
    return [one for one in capture["findings"] if one["rule"] == rule]


def script(capture: dict[str, Any]) -> str:
    return "\n".join(step["apply"] for step in capture["plan"]["steps"])


def test_one_partition_becomes_as_many_as_are_enough_in_one_restart() -> None:
    assert 'sp_cacheconfig "default data cache", "cache_partition=8"' in script(capture_of("ase_cache_one_partition"))


def test_cas_waits_judge_the_lockless_cache() -> None:
    (finding,) = findings(capture_of("ase_lockless"), "ase/data_cache_spinlock_contended")
    assert finding["subject"] == "orders_cache"
    assert "CAS grabs" in finding["title"]
    assert not finding["changes"]


def test_a_type_that_is_not_known_gets_no_script() -> None:
    capture = capture_of("ase_rowstorage")
    (finding,) = findings(capture, "ase/data_cache_spinlock_contended")
    assert "type that is not known" in finding["says"]
    assert not capture["plan"]["steps"]


def test_lockless_is_named_where_enable_mem_scale_is_on() -> None:
    (finding,) = findings(capture_of("ase_memscale"), "ase/data_cache_spinlock_contended")
    assert "lockless data cache is the alternative" in finding["says"]


def test_a_cache_of_tempdb_without_contention_stays_as_it_is() -> None:
    capture = capture_of("ase_tempdb_strict")
    assert not findings(capture, "ase/cache_suits_relaxed_strategy")
    assert "relaxed" not in script(capture)


def test_tempdb_leaves_the_contended_cache_and_no_binding_is_asked_for_again() -> None:
    capture = capture_of("ase_tempdb_tables")
    (finding,) = findings(capture, "ase/tempdb_in_shared_cache")
    assert "45 %" in finding["title"]
    assert 'sp_bindcache "tempdb_cache", tempdb' in script(capture)
    assert "sp_helpcache" not in {lack["bring"] for one in capture["verdicts"] for lack in one["missing"]}


def test_without_free_memory_the_named_caches_are_carved_out_of_the_default_data_cache() -> None:
    capture = capture_of("ase_vlh4_nofree")
    steps = capture["plan"]["steps"]
    assert [step["takes_effect"] for step in steps] == ["restart", "online"]
    assert not capture["plan"]["conflicts"]
    assert 'sp_cacheconfig "default data cache", "' in steps[0]["apply"]
    assert "sp_unbindcache" in steps[1]["undo"]
    assert '"32K"' in steps[1]["apply"]
    (finding,) = findings(capture, "ase/hot_table_in_default_cache")
    assert "Shrink default data cache" in finding["says"]
    (size,) = [change for change in finding["changes"] if change["key"].endswith(":size")]
    assert any("not less than" in caution for caution in size["cautions"])
