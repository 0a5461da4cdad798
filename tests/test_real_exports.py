"""What must come out of the real exports beside the project (skipped where they are not there)."""

import json
from pathlib import Path
from typing import Any

import pytest

from advisor.audits.report.data import audit_data
from advisor.audits.services.auditing import run_audit
from advisor.uploads.services.reading import read_exports


def audited(*paths: Path, name: str | None = None) -> dict[str, Any]:
    inputs = read_exports([str(path) for path in paths], None)  # type: ignore[arg-type]  # no standard input here
    data = audit_data(inputs, run_audit(inputs, {}, name))
    found: dict[str, Any] = json.loads(json.dumps(data, allow_nan=False))
    assert not [v for c in found["captures"] for v in c["verdicts"] if v["verdict"] == "broken"]
    return found


def verdicts(capture: dict[str, Any]) -> dict[str, str]:
    return {verdict["rule"]: verdict["verdict"] for verdict in capture["verdicts"]}


def fired(capture: dict[str, Any]) -> set[str]:
    return {rule for rule, verdict in verdicts(capture).items() if verdict == "fired"}


def test_the_bl870c_shares_the_core_of_its_lock_manager(real_exports: Path) -> None:
    folder = real_exports / "openvms"
    (capture,) = audited(folder / "show_fastpath.txt", folder / "show_cpu_6_full.txt")["captures"]
    (finding,) = capture["findings"]
    assert finding["rule"] == "openvms/lock_manager_cpu_shared"
    said = finding["title"] + finding["says"]
    assert all(name in said for name in ("EWC0", "CPU 2", "CPU 6"))
    assert "STOP/CPU 2" in "\n".join(finding["changes"][0]["apply"])
    assert "START/CPU 2" in "\n".join(finding["changes"][0]["undo"])


def test_the_load_table_peaks_at_two_processes_and_fits_only_capped_at_its_cores(real_exports: Path) -> None:
    (capture,) = audited(real_exports / "scaling" / "jcc_bl870c_lock_rate.txt")["captures"]
    says = " ".join(finding["says"] for finding in capture["findings"])
    assert "2 processes with 490,000 operations per second" in says
    evidence = [one["value"] for finding in capture["findings"] for one in finding["evidence"]]
    assert 490_199 in evidence
    assert "2.69 µs" in says
    (model,) = capture["models"]
    first = model["first_law"]
    assert first["why_not"].startswith("poor fit: R² 0.748")
    assert (round(first["alpha"], 4), round(first["beta"], 4)) == (0.3726, 0.1546)
    assert (model["law"], model["cap"], model["usable"], round(model["r2"], 3)) == ("usl-capped", 4, True, 0.993)
    assert (round(model["peak_load"], 2), model["harm_from"], model["clock_mhz"]) == (1.88, 2, 1590)


def test_the_raytracer_has_the_published_coefficients_and_no_peak(real_exports: Path) -> None:
    (capture,) = audited(real_exports / "scaling" / "usl_raytracer.csv")["captures"]
    (model,) = capture["models"]
    assert round(model["alpha"], 6) == 0.057771
    assert model["beta"] == pytest.approx(0, abs=1e-6)
    assert model["peak_load"] is None
    assert not fired(capture)


def test_the_idle_16_0_report_gives_the_descriptors_and_no_contention(real_exports: Path) -> None:
    (capture,) = audited(real_exports / "ase" / "sp_sysmon_16.0_sp02_idle.txt")["captures"]
    assert fired(capture) == {"ase/descriptors_reused"}
    (finding,) = capture["findings"]
    assert "499 of 500" in finding["says"]
    assert {round(e["value"]) for e in finding["evidence"]} >= {499, 500, 4702}
    assert capture["system"] == {
        "name": "GORAN_UB3_DS",
        "product": "ase",
        "version": "16.0 SP02 PL02/EBF 25320 SMP/P/x86_64/Enterprise Linux/ase160sp02plx/2492/64-bit/FBO/"
        "Sat Nov 21 04:05:39 2015",
        "platform": None,
        "processors": 1,
    }
    assert capture["interval"]["seconds"] == 120.0


def test_the_15_0_3_report_gives_no_spinlock_finding(real_exports: Path) -> None:
    data = audited(real_exports / "ase" / "sp_sysmon_15.0.3_12_engines.txt")
    (capture,) = data["captures"]
    assert not fired(capture)
    assert capture["system"]["processors"] == 12
    assert not data["inputs"][0]["leftovers"]


def test_the_rx3600_day_gives_no_lock_manager_advice_and_asks_for_the_hash_table(real_exports: Path) -> None:
    files = [real_exports / "openvms" / name for name in ("t4_composite_first_200_rows.csv", "t4_scs.csv")]
    (capture,) = audited(*files)["captures"]
    assert fired(capture) <= {"openvms/resource_hash_table_undersized"}
    (table,) = [v for v in capture["verdicts"] if v["rule"] == "openvms/resource_hash_table_undersized"]
    assert table["verdict"] == "unknown"
    assert any("SYSGEN SHOW RESHASHTBL" in lack["bring"] for lack in table["missing"])


def test_the_same_day_beside_all_other_openvms_exports_has_no_finding_and_nothing_to_do(real_exports: Path) -> None:
    captures = audited(real_exports / "openvms")["captures"]
    (capture,) = [one for one in captures if (one["interval"]["start"] or "").startswith("2015-11-19")]
    said = verdicts(capture)
    assert not capture["findings"]
    assert {said[f"openvms/{name}"] for name in ("locks_mastered_remotely", "lock_manager_needs_own_cpu")} == {"clean"}
    assert said["openvms/concurrency_past_peak"] == said["openvms/lock_master_on_slow_node"] == "clean"


def test_a_table_with_split_digits_is_refused(real_exports: Path) -> None:
    data = audited(real_exports / "unix" / "unix_apue3_fig20_8_ocr.txt")
    assert not data["captures"]


def test_the_parameter_that_waits_for_a_restart_is_named(real_exports: Path) -> None:
    (capture,) = audited(real_exports / "ase" / "sp_configure_pending_restart.txt")["captures"]
    assert "ase/change_pending_restart" in fired(capture)


@pytest.mark.parametrize("folder", ["ase", "openvms", "rdb", "scaling", "unix", "zvm"])
def test_a_whole_folder_is_read_without_a_broken_rule_and_systems_stay_apart(real_exports: Path, folder: str) -> None:
    data = audited(real_exports / folder)
    names = [(capture["system"]["name"], capture["interval"]["start"]) for capture in data["captures"]]
    assert len(names) == len(set(names))
    if folder == "ase":
        assert {"GORAN_UB3_DS", "Test", "ASE157"} <= {name for name, _ in names}
