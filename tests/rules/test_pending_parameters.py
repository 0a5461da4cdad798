"""A value that waits for the next boot is put right in CURRENT and MODPARAMS.DAT, and nothing is booted for it."""

import pytest

from rules.changes.openvms_sysgen import keep_parameter, set_parameter
from rules.changes.out_of_range import OutOfRange
from rules.finding import Effect


def executed(lines: tuple[str, ...]) -> list[str]:
    return [line for line in lines if not line.startswith("$!")]


def test_current_is_written_and_what_runs_is_left_alone() -> None:
    change = keep_parameter("RESHASHTBL", 512, 65536, node="UNST")
    run = executed(change.script)
    assert run[run.index("USE CURRENT", 5) : run.index("USE CURRENT", 5) + 3] == [
        "USE CURRENT",
        "SET RESHASHTBL 65536",
        "WRITE CURRENT",
    ]
    assert '$ WRITE LOCKWRIGHT "MIN_RESHASHTBL = 65536 ! Lockwright, was 512 in CURRENT"' in run
    assert not [line for line in (*change.script, *change.way_back) if "ACTIVE" in line]
    assert not [line for line in (*run, *executed(change.way_back)) if "AUTOGEN" in line or "REBOOT" in line]
    assert "SET RESHASHTBL 512" in executed(change.way_back)
    assert change.takes_effect is Effect.ONLINE


def test_a_template_runs_nothing() -> None:
    change = keep_parameter("LCKMGR_MODE", 0, 6, when="only if it is meant", node="UNST")
    assert executed((*change.script, *change.way_back)) == []
    assert "USE CURRENT, SET LCKMGR_MODE 6, WRITE CURRENT" in " ".join(change.apply)
    assert change.takes_effect is Effect.ADVICE


def test_a_pending_value_outside_the_range_is_never_written_back() -> None:
    change = keep_parameter("LCKMGR_CPUID", 4_000_000, 5)
    assert not [line for line in (*change.script, *change.way_back) if "4000000" in line]
    assert "SET LCKMGR_CPUID <the value shown before the change>" in change.way_back


def test_a_value_outside_the_range_is_refused() -> None:
    with pytest.raises(OutOfRange):
        keep_parameter("LCKMGR_CPUID", 5, 40)


def test_a_name_that_could_hide_a_command_makes_no_script() -> None:
    change = keep_parameter("LCKMGR_MODE", 0, 6, node='X"\n$ DELETE *.*;*')
    assert executed(change.script) == []


def test_a_reboot_that_was_prepared_is_the_start_and_the_way_back() -> None:
    change = set_parameter("RESHASHTBL", 4096, 262144, dynamic=False, minimum=True, pending=16384)
    assert '$ WRITE LOCKWRIGHT "MIN_RESHASHTBL = 262144 ! Lockwright, was 16384 in CURRENT"' in change.script
    assert "16384 in CURRENT, which the next boot takes" in change.script[5]
    assert "SET RESHASHTBL 16384" in change.way_back
    assert "SET RESHASHTBL 4096" not in change.way_back
