"""Cases beside the project that an earlier version judged wrongly (skipped where they are not there)."""

from pathlib import Path

import pytest

from advisor.audits.services.auditing import run_audit
from advisor.uploads.services.reading import read_exports
from rules.audit import Audit
from rules.finding import Change, Finding, Severity

CASES = Path(__file__).parents[2] / "shared" / "cases"


def audited(name: str) -> Audit:
    folder = CASES / name
    if not folder.is_dir():
        pytest.skip(f"no ../shared/cases/{name} here")
    paths = [str(path) for path in sorted(folder.iterdir())]
    (audit,) = run_audit(read_exports(paths, None), {})  # type: ignore[arg-type]  # no standard input here
    assert not [one for one in audit.verdicts if one.verdict == "broken"]
    return audit


def finding(audit: Audit, rule: str) -> Finding:
    (found,) = [one.finding for one in audit.findings if one.rule == rule]
    return found


def changes(audit: Audit) -> list[Change]:
    return [change for one in audit.findings for change in one.finding.changes]


def test_three_seconds_dedicate_no_cpu() -> None:
    audit = audited("vms_two_seconds")
    assert finding(audit, "openvms/lock_manager_needs_own_cpu").severity is Severity.NOTE
    assert not changes(audit)


def test_a_virtual_machine_gets_no_lock_manager_of_its_own() -> None:
    audit = audited("vms_x86_without_version")
    (verdict,) = [one for one in audit.verdicts if one.rule == "openvms/lock_manager_needs_own_cpu"]
    assert (verdict.verdict, "VMware" in verdict.why) == ("not-applicable", True)
    assert "LCKMGR_MODE" not in {change.target for change in changes(audit)}


def test_the_value_of_the_next_boot_is_no_all_clear() -> None:
    found = finding(audited("vms_current_and_active"), "openvms/resource_hash_table_undersized")
    assert "64 buckets" in found.title
    assert "pending" in found.says
    assert not found.changes


def test_a_device_on_the_lock_managers_cpu_is_found() -> None:
    found = finding(audited("vms_fast_path_on_lock_manager_cpu"), "openvms/lock_manager_cpu_shared")
    assert (found.severity, "EWA0" in found.title) == (Severity.WARNING, True)


def test_the_co_thread_of_the_chosen_cpu_is_stopped_and_no_other() -> None:
    audit = audited("vms_cothread_left_running")
    assert {change.target for change in changes(audit)} == {"LCKMGR_CPUID", "LCKMGR_MODE", "CPU 15"}
    assert [step.change_keys for step in audit.plan.steps] == [
        ("openvms.sysgen:KELSO:LCKMGR_CPUID", "openvms.sysgen:KELSO:LCKMGR_MODE"),
        ("openvms.cpu:KELSO:15",),
    ]
    expects = {
        one.metric: (one.before, one.after) for one in finding(audit, "openvms/lock_manager_needs_own_cpu").expects
    }
    assert expects["CPUs left for all other work"] == (16.0, 14.0)


def test_show_system_without_processes_is_whole() -> None:
    folder = CASES / "show_system_noprocess"
    if not folder.is_dir():
        pytest.skip("no ../shared/cases/show_system_noprocess here")
    inputs = read_exports([str(path) for path in folder.iterdir()], None)  # type: ignore[arg-type]  # no standard input here
    assert not [problem for one in inputs for problem in one.problems]
