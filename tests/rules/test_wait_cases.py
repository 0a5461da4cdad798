"""The planted cases of waits and statements beside the project (skipped where they are not there)."""

from pathlib import Path

import pytest

from advisor.audits.services.auditing import run_audit
from advisor.uploads.services.reading import read_exports
from rules.finding import Finding

CASES = Path(__file__).resolve().parents[3] / "shared" / "cases"


def findings(case: str) -> dict[str, Finding]:
    if not (CASES / case).is_dir():
        pytest.skip(f"no ../shared/cases/{case} here")
    inputs = read_exports([str(CASES / case)], None)  # type: ignore[arg-type]  # no standard input here
    return {ranked.rule: ranked.finding for audit in run_audit(inputs, {}, None) for ranked in audit.findings}


def test_row_locks_are_found_with_their_table_and_nothing_is_changed() -> None:
    found = findings("ase_logical")
    assert "ase/latch_contended" not in found
    one = found["ase/lock_waits_high"]
    assert one.severity.label == "warning"
    assert "atlas..posting" in one.title
    assert "Exclusive Row 80,008" in one.says
    assert not one.changes


def test_latches_are_found_and_the_table_is_only_a_candidate() -> None:
    found = findings("ase_latch")
    assert "ase/lock_waits_high" not in found
    one = found["ase/latch_contended"]
    assert one.severity.label == "warning"
    assert "No column is known to count latches by table" in one.says
    assert not one.changes


def test_the_statement_that_scans_is_named() -> None:
    one = findings("ase_stmt")["ase/table_scans_relink_cache"]
    assert '"select * from balance" (SSQLID 123456789): 26 executions, 61,341,696 logical reads' in one.says
