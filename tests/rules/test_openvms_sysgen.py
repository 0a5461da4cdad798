"""System parameters of OpenVMS: ranges, what is written where, and that the way back is whole."""

import pytest

from rules.changes.openvms_sysgen import PARAMETERS, UNSHOWN, advise_parameter, set_cpus, set_parameter
from rules.changes.out_of_range import OutOfRange
from rules.finding import Change, Effect
from rules.plan import make_plan

HOSTILE = ('x"; drop table y --', "A\n$ DELETE SYS$SYSTEM:*.*;*", "N]", "N" * 300, "NODE\u202eA", "'F$PID()'", "A B")


def executed(lines: tuple[str, ...]) -> list[str]:
    """What DCL and SYSGEN would run: comments left out."""
    return [line for line in lines if not line.startswith("$!")]


def reshashtbl(old: float | None = 2048, new: float = 16384) -> Change:
    return set_parameter("RESHASHTBL", old, new, dynamic=False, minimum=True)


def test_a_table_that_autogen_computes_gets_a_floor_and_a_reboot() -> None:
    change = reshashtbl()
    run = executed(change.apply)
    assert change.takes_effect is Effect.REBOOT
    assert run[0] == "$ MCR SYSGEN SHOW RESHASHTBL"
    assert "MCR SYSGEN SHOW RESHASHTBL" in change.apply[-1]
    assert '$ WRITE LOCKWRIGHT "MIN_RESHASHTBL = 16384 ! Lockwright, was 2048"' in run
    assert not any('"RESHASHTBL =' in line for line in run)


def test_the_report_is_read_before_anything_is_set_and_nothing_executable_reboots() -> None:
    apply = reshashtbl().script
    review = apply.index("$ TYPE SYS$SYSTEM:AGEN$PARAMS.REPORT")
    (reboot,) = [number for number, line in enumerate(apply) if "@SYS$UPDATE:AUTOGEN GETDATA REBOOT" in line]
    assert review < reboot
    (tried,) = [line for line in executed(apply) if "AUTOGEN" in line]
    assert tried == "$ @SYS$UPDATE:AUTOGEN SAVPARAMS TESTFILES CHECK_FEEDBACK"
    for line in executed(apply) + executed(reshashtbl().way_back):
        assert "REBOOT" not in line
        assert "SHUTDOWN" not in line


def test_undo_of_a_reboot_parameter_takes_exactly_the_written_line_out_and_sets_the_old_value() -> None:
    change = reshashtbl()
    (written,) = [line.split('"')[1] for line in change.apply if line.startswith("$ WRITE")]
    (removed,) = [line.split('"')[1] for line in change.undo if line.startswith("$ SEARCH/MATCH=NOR")]
    assert written.startswith(removed)
    assert executed(change.undo)[4:9] == ["$ MCR SYSGEN", "USE CURRENT", "SET RESHASHTBL 2048", "WRITE CURRENT", "EXIT"]
    assert any("USE SYS$SYSTEM:LOCKWRIGHT_BEFORE.PAR" in line for line in change.way_back)
    assert "WRITE SYS$SYSTEM:LOCKWRIGHT_BEFORE.PAR" in executed(change.script)


@pytest.mark.parametrize("change", [reshashtbl(), set_parameter("LCKMGR_MODE", 0, 6, dynamic=True)])
def test_the_line_is_taken_out_into_another_file_which_is_looked_at_before_it_takes_its_place(change: Change) -> None:
    run = executed(change.undo)
    (search,) = [line for line in run if line.startswith("$ SEARCH/MATCH=NOR")]
    assert "/OUTPUT=SYS$SYSTEM:MODPARAMS.NEW SYS$SYSTEM:MODPARAMS.DAT " in search
    assert run[run.index(search) + 1 :][:2] == [
        "$ TYPE SYS$SYSTEM:MODPARAMS.NEW",
        "$ RENAME SYS$SYSTEM:MODPARAMS.NEW SYS$SYSTEM:MODPARAMS.DAT",
    ]


def test_a_plan_of_two_parameters_has_one_autogen_one_saved_file_and_one_reboot() -> None:
    lines = reshashtbl(), set_parameter("LOCKIDTBL", 4_000, 60_000, dynamic=False, minimum=True)
    (step,) = make_plan(lines).steps
    assert step.apply.count("WRITE SYS$SYSTEM:LOCKWRIGHT_BEFORE.PAR") == 1
    assert step.apply.count("AUTOGEN SAVPARAMS") == step.apply.count("AUTOGEN GETDATA REBOOT") == 1
    first, last = (step.apply.index(f'"{name} = ') for name in ("MIN_RESHASHTBL", "MIN_LOCKIDTBL"))
    assert step.apply.index("LOCKWRIGHT_BEFORE.PAR") < first < last < step.apply.index("AUTOGEN SAVPARAMS")
    assert step.undo.count("SHUTDOWN") == step.undo.count("USE SYS$SYSTEM:LOCKWRIGHT_BEFORE.PAR") == 1
    assert step.undo.index("SET RESHASHTBL 2048") < step.undo.index("SHUTDOWN")


def test_nothing_pasted_stops_at_a_page() -> None:
    for change in (reshashtbl(), set_parameter("LCKMGR_MODE", 0, 6, dynamic=True)):
        assert not any("/PAGE" in line for line in executed((*change.script, *change.way_back)))


def test_advice_runs_nothing_and_keeps_to_the_same_ranges() -> None:
    for change in (
        advise_parameter("LOCKIDTBL", 4_000, 60_000, when="with the next reboot", node="ORKNEY"),
        advise_parameter("LCKMGR_MODE", None, 6, when="later"),
        advise_parameter("LCKMGR_MODE", None, 6, when="later", node=HOSTILE[1]),
    ):
        assert change.takes_effect is Effect.ADVICE
        assert not executed((*change.script, *change.way_back))
    assert advise_parameter("LCKMGR_MODE", 0, 6, when="later", node="A").key == "openvms.sysgen:A:LCKMGR_MODE"
    for name, old, new in (("LCKMGR_MODE", 0, 33), ("LOCKIDTBL", 60_000, 4_000), ("LCKMGR_MODE", 6, 6), ("X", 1, 2)):
        with pytest.raises(OutOfRange):
            advise_parameter(name, old, new, when="later")


def test_what_makes_a_dynamic_parameter_last_waits_for_a_person() -> None:
    change = set_parameter("LCKMGR_MODE", 0, 6, dynamic=True)
    measured = next(at for at, line in enumerate(change.apply) if "MEASURE FIRST" in line)
    assert not executed(change.apply[measured:]), "pasted or run with @, nothing of it happens unmeasured"
    freed = tuple(line.removeprefix("$!") for line in change.apply[measured + 1 :])
    assert executed(freed)[1:5] == ["USE CURRENT", "SET LCKMGR_MODE 6", "WRITE CURRENT", "EXIT"]
    assert '$ WRITE LOCKWRIGHT "LCKMGR_MODE = 6 ! Lockwright, was 0"' in freed
    assert executed(change.undo), "the way back of what was sent is open"
    back = set_parameter("LCKMGR_MODE", 0, 6, dynamic=True, pending=0).undo
    assert "WRITE CURRENT" in back, "where CURRENT was shown, for both halves"


def test_a_dynamic_parameter_is_set_now_and_made_to_last() -> None:
    change = set_parameter("LCKMGR_MODE", 0, 6, dynamic=True)
    run = executed(change.apply)
    assert change.takes_effect is Effect.ONLINE
    both = ["$ MCR SYSGEN", "USE ACTIVE", "SHOW LCKMGR_MODE", "USE CURRENT", "SHOW LCKMGR_MODE", "EXIT"]
    assert run[: len(both)] == both, "they may differ: both are shown before either is written"
    assert run[len(both) :][:5] == [
        "$ MCR SYSGEN",
        "USE ACTIVE",
        "SET LCKMGR_MODE 6",
        "WRITE ACTIVE",
        "EXIT",
    ]
    assert '$!$ WRITE LOCKWRIGHT "LCKMGR_MODE = 6 ! Lockwright, was 0"' in change.apply
    assert not any("AUTOGEN" in line for line in run)
    undone = executed(change.undo)
    assert undone[1:4] == ["USE ACTIVE", "SET LCKMGR_MODE 0", "WRITE ACTIVE"]
    assert "WRITE CURRENT" not in undone, "no export shows that CURRENT was 0, too"
    freed = [line.removeprefix("$!") for line in change.undo]
    at = freed.index("USE CURRENT")
    assert freed[at : at + 3] == ["USE CURRENT", "SET LCKMGR_MODE 0", "WRITE CURRENT"]
    assert any('"LCKMGR_MODE = 6 ! Lockwright"' in line for line in undone)
    active, current = (
        f"$! {name}: what the {which} SHOW gave" for name, which in (("ACTIVE", "first"), ("CURRENT", "second"))
    )
    assert change.undo[0].startswith(active)
    assert change.undo[change.undo.index("$!USE CURRENT") - 3].startswith(current)


def test_minus_one_is_a_legal_old_value_of_pe1() -> None:
    change = set_parameter("PE1", -1, 1, dynamic=True)
    assert "SET PE1 1" in change.apply
    assert "SET PE1 -1" in change.undo


def test_where_the_old_value_was_not_shown_the_undo_asks_for_it() -> None:
    undo = reshashtbl(None).undo
    assert "SET RESHASHTBL <the value shown before the change>" in undo
    assert not any("None" in line or "nan" in line for line in (*undo, *reshashtbl(None).apply))


@pytest.mark.parametrize(
    ("name", "new", "dynamic"),
    [
        ("RESHASHTBL", 0, False),
        ("RESHASHTBL", 33_554_432, False),
        ("RESHASHTBL", 48_000, False),
        ("LOCKIDTBL", 1_791, False),
        ("LOCKIDTBL", 16_776_960, False),
        ("LCKMGR_MODE", -1, True),
        ("LCKMGR_MODE", 33, True),
        ("LCKMGR_CPUID", 32, True),
        ("LOCKDIRWT", 256, False),
        ("LOCKRMWT", 11, True),
        ("PE1", -2, True),
        ("LOCKRMWT", 2.5, True),
        ("LOCKRMWT", float("nan"), True),
    ],
)
def test_a_value_outside_the_range_is_never_printed(name: str, new: float, dynamic: bool) -> None:
    with pytest.raises(OutOfRange):
        set_parameter(name, None, new, dynamic=dynamic, minimum=not dynamic)


@pytest.mark.parametrize("name", sorted(PARAMETERS))
def test_both_ends_of_each_range_are_taken(name: str) -> None:
    known = PARAMETERS[name]
    for new in (known.low, known.high):
        assert set_parameter(name, None, new, dynamic=known.dynamic, minimum=known.computed).new == new


def test_a_bare_value_for_what_autogen_computes_is_refused() -> None:
    with pytest.raises(OutOfRange, match="MIN_RESHASHTBL"):
        set_parameter("RESHASHTBL", 2048, 16384, dynamic=False)


def test_a_floor_is_not_asked_to_lower() -> None:
    with pytest.raises(OutOfRange, match="never lowers"):
        set_parameter("LOCKIDTBL", 100_000, 50_000, dynamic=False, minimum=True)


def test_a_value_already_in_force_is_no_change() -> None:
    with pytest.raises(OutOfRange, match="already"):
        set_parameter("LCKMGR_MODE", 6, 6, dynamic=True)


@pytest.mark.parametrize(("name", "dynamic"), [("RESHASHTBL", True), ("LCKMGR_MODE", False)])
def test_write_active_is_for_dynamic_parameters_alone(name: str, dynamic: bool) -> None:
    with pytest.raises(OutOfRange, match="dynamic"):
        set_parameter(name, None, 8, dynamic=dynamic, minimum=True)


def test_an_unknown_parameter_is_refused() -> None:
    with pytest.raises(OutOfRange, match="known"):
        set_parameter("SMP_SPINWAIT", 100_000, 200_000, dynamic=True)


def test_a_node_is_named_in_the_script_and_in_the_key() -> None:
    change = set_parameter("LOCKDIRWT", 1, 10, dynamic=False, node="pandor::")
    assert change.key == "openvms.sysgen:PANDOR:LOCKDIRWT"
    assert "PANDOR" in change.apply[0]


@pytest.mark.parametrize("node", HOSTILE)
def test_a_hostile_node_name_reaches_no_line(node: str) -> None:
    change = set_parameter("LOCKDIRWT", 1, 10, dynamic=False, node=node)
    assert change.takes_effect is Effect.ADVICE
    assert not executed(change.apply)
    assert not executed(change.undo)
    for text in (*change.apply, *change.undo, *change.cautions, change.key):
        assert node not in text
        assert "\n" not in text


def test_two_parameters_share_one_reboot_and_are_undone_in_reverse() -> None:
    first, second = reshashtbl(), set_parameter("LOCKIDTBL", 4_000, 60_000, dynamic=False, minimum=True)
    (step,) = make_plan([first, second]).steps
    assert step.apply.index("MIN_RESHASHTBL") < step.apply.index("MIN_LOCKIDTBL")
    assert step.undo.index("SET LOCKIDTBL 4000") < step.undo.index("SET RESHASHTBL 2048")


def test_every_line_is_dcl_sysgen_or_a_comment_of_dcl() -> None:
    for change in (reshashtbl(), set_parameter("LCKMGR_MODE", 0, 6, dynamic=True)):
        for line in (*change.script, *change.way_back):
            assert line.startswith("$") or line.split()[0] in ("USE", "SET", "SHOW", "WRITE", "EXIT")
            assert len(line) < 128


def test_the_ranges_are_those_of_the_sources() -> None:
    assert {known.name: (known.low, known.high, known.dynamic) for known in PARAMETERS.values()} == {
        "RESHASHTBL": (1, 16_777_216, False),
        "LOCKIDTBL": (1_792, 16_776_959, False),
        "LOCKDIRWT": (0, 255, False),
        "GBLPAGFIL": (128, 2_147_483_647, True),
        "NPAGEDYN": (163_840, 2_147_483_647, False),
        "NPAGEVIR": (163_840, 68_719_476_736, False),
        "WSMAX": (1_024, 134_217_728, False),
        "FAST_PATH": (0, 1, False),
        "FAST_PATH_PORTS": (0, 4_294_967_295, False),
        "LOCKRMWT": (0, 10, True),
        "DEADLOCK_WAIT": (0, 2_147_483_647, True),
        "LCKMGR_MODE": (0, 32, True),
        "LCKMGR_CPUID": (0, 31, True),
        "PE1": (-1, 2_147_483_647, True),
        "IO_PREFER_CPUS": (-1, 4_294_967_295, True),
        "CLUSTER_CREDITS": (10, 128, False),
    }


def test_a_list_of_cpus_names_its_node_and_the_way_back() -> None:
    made = set_cpus("IO_PRCPU_BITMAP", None, "1-7", node="BRENT")
    assert made.takes_effect is Effect.ONLINE
    assert "SET IO_PRCPU_BITMAP 1-7" in made.apply
    assert f"SET IO_PRCPU_BITMAP {UNSHOWN}" in made.undo
    hostile = set_cpus("IO_PRCPU_BITMAP", None, "1-7", node="A\n$ DELETE *.*;*")
    assert hostile.takes_effect is Effect.ADVICE
    assert all(line.startswith("$!") for line in (*hostile.apply, *hostile.undo))


def test_three_buckets_are_no_power_of_two() -> None:
    with pytest.raises(OutOfRange, match="power of two"):
        reshashtbl(None, 3)


def test_cautions_tell_a_reboot_from_a_value_that_a_reboot_would_lose() -> None:
    static, dynamic = reshashtbl(), set_parameter("LOCKRMWT", 5, 0, dynamic=True, cautions=("Before V8.3 alone.",))
    assert any("needs a reboot" in caution for caution in static.cautions)
    assert any("lost at a reboot" in caution for caution in dynamic.cautions)
    assert not any("needs a reboot" in caution for caution in dynamic.cautions)
    assert dynamic.cautions[0] == "Before V8.3 alone."
    assert (static.memory_mb, dynamic.memory_mb) == (0.0, 0.0)


def test_a_floor_is_checked_as_a_floor_and_an_exact_value_as_one() -> None:
    assert any("RESHASHTBL is at least 16384" in line for line in reshashtbl().apply)
    exact = set_parameter("LOCKDIRWT", 1, 10, dynamic=False)
    assert any("LOCKDIRWT is 10:" in line for line in exact.apply)
    assert '$ WRITE LOCKWRIGHT "LOCKDIRWT = 10 ! Lockwright, was 1"' in exact.apply


def test_the_first_line_says_what_the_export_showed_or_to_note_it() -> None:
    assert "the export showed 2048" in reshashtbl().apply[0]
    assert "note it" in reshashtbl(None).apply[0]


def test_by_hand_still_says_which_line_and_which_way_back() -> None:
    change = set_parameter("RESHASHTBL", 2048, 16384, dynamic=False, minimum=True, node="A\nB")
    assert change.apply == ("$! apply by hand: MIN_RESHASHTBL = 16384 in MODPARAMS.DAT of that node",)
    assert change.undo == ("$! by hand: back to 2048",)
    exact = set_parameter("LOCKDIRWT", None, 10, dynamic=False, node="A\nB")
    assert "MIN_" not in exact.apply[0]
    assert exact.undo == ("$! by hand: back to <the value shown before the change>",)


def test_dynamic_is_said_the_right_way_round() -> None:
    with pytest.raises(OutOfRange, match="RESHASHTBL is not dynamic"):
        set_parameter("RESHASHTBL", None, 8, dynamic=True, minimum=True)
    with pytest.raises(OutOfRange, match="LCKMGR_MODE is dynamic"):
        set_parameter("LCKMGR_MODE", None, 8, dynamic=False)


def test_the_undo_of_current_goes_back_to_the_value_that_current_had() -> None:
    change = set_parameter("LCKMGR_MODE", 6, 8, dynamic=True, pending=3)
    undo = "\n".join(change.undo)
    assert "USE ACTIVE\nSET LCKMGR_MODE 6\nWRITE ACTIVE" in undo
    assert "USE CURRENT\nSET LCKMGR_MODE 3\nWRITE CURRENT" in undo
    unknown = "\n".join(set_parameter("LCKMGR_MODE", 6, 8, dynamic=True).undo)
    assert "$!USE CURRENT\n$!SET LCKMGR_MODE 6\n" in unknown


@pytest.mark.parametrize("pending", [200.0, -1.0, 2.5, float("inf")])
def test_a_value_of_current_that_the_parameter_does_not_take_is_never_written(pending: float) -> None:
    undo = "\n".join(set_parameter("LCKMGR_MODE", 6, 8, dynamic=True, pending=pending).undo)
    assert f"USE CURRENT\nSET LCKMGR_MODE {UNSHOWN}\n" in undo


def test_a_dynamic_value_that_current_has_already_is_written_to_active_alone() -> None:
    change = set_parameter("LCKMGR_MODE", 0, 6, dynamic=True, pending=6)
    script, back = "\n".join(change.script), "\n".join(change.way_back)
    assert "USE ACTIVE\nSET LCKMGR_MODE 6\nWRITE ACTIVE" in script
    assert "USE ACTIVE\nSET LCKMGR_MODE 0\nWRITE ACTIVE" in back
    assert "WRITE CURRENT" not in script + back, "it has that value, and the way back leaves it what it was"
    assert "OPEN/APPEND" not in script, "AUTOGEN's file is looked at, not changed"
    assert "RENAME" not in back
    assert not [caution for caution in change.cautions if "lost at a reboot" in caution]


def test_a_template_asks_for_no_line_that_current_has_already() -> None:
    apply = "\n".join(advise_parameter("LCKMGR_MODE", 0, 6, when="only then", pending=6).apply)
    assert "WRITE ACTIVE" in apply
    assert "MODPARAMS" not in apply
    assert "MODPARAMS" in "\n".join(advise_parameter("LCKMGR_MODE", 0, 6, when="only then", pending=8).apply)


def test_a_template_says_that_its_parameter_takes_a_reboot_where_it_does() -> None:
    weight = advise_parameter("LOCKDIRWT", 1, 3, when="only as a trial", node="ORKNEY")
    assert weight.condition == "only as a trial; not dynamic: it takes a reboot of that node"
    assert "$!   @SYS$UPDATE:AUTOGEN GETDATA REBOOT CHECK_FEEDBACK" in weight.script
    assert all(line.startswith("$!") for line in weight.script)
    dynamic = advise_parameter("LCKMGR_MODE", 0, 6, when="only as a trial", node="ORKNEY")
    assert dynamic.condition == "only as a trial"
    assert "AUTOGEN" not in " ".join(dynamic.script)
