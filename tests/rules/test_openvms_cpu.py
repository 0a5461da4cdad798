"""STOP/CPU and START/CPU: what is never stopped, how names are written, and that the undo undoes."""

import pytest

from rules.changes.openvms_cpu import RULER, NeverStop, place_by_hand, stop_cpu
from rules.finding import Change, Effect

HOSTILE = (
    'x"; drop table y --',
    "EWC0\n$ DELETE SYS$SYSTEM:*.*;*",
    "EWC0'F$GETSYI(\"VERSION\")'",
    "EW]C0",
    "A" * 300,
    "EWC0\u202e",
    "",
)


def stopped(cpu: int = 2, **fields: object) -> Change:
    given: dict[str, object] = {"primary": False, "services": (), "devices": ("EWC0",)}
    return stop_cpu(cpu, **(given | fields))  # type: ignore[arg-type]


def commands(lines: tuple[str, ...]) -> list[str]:
    return [line for line in lines if not line.startswith("$!")]


def test_one_cpu_is_stopped_after_a_look_and_checked_afterwards() -> None:
    change = stopped()
    assert commands(change.script) == [
        "$ SHOW CPU",
        "$ SHOW CPU 2/FULL",
        "$ SHOW FASTPATH",
        "$ MCR SYSGEN SHOW LCKMGR_MODE",
        "$ SHOW CPU 2/FULL",
        "$ SHOW FASTPATH",
    ], "nothing but looks: the stop waits for a person"
    assert change.takes_effect is Effect.ONLINE
    decision, stop = (change.apply.index(line) for line in (RULER, "$!$ STOP/CPU 2"))
    assert decision < stop
    assert change.apply[stop - 1] == RULER
    assert any("DECIDE HERE" in line and "$ " not in line for line in change.apply[decision:stop])


def test_the_undo_starts_exactly_what_was_stopped_and_takes_the_boot_line_out() -> None:
    change = stopped(13)
    assert [line for line in change.apply if line.startswith("$!$")] == ["$!$ STOP/CPU 13"]
    assert commands(change.undo)[0] == "$ START/CPU 13"
    assert "$!   $ STOP/CPU 13" in change.apply
    assert any("out of SYS$MANAGER:SYSTARTUP_VMS.COM" in line for line in change.undo)
    assert any("EWC0: before the change on CPU 13" in line for line in change.undo)


def test_moved_devices_are_named_and_their_absence_is_not_mentioned() -> None:
    assert any("EWC0, PKA0 had its fast path" in line for line in stopped(devices=("EWC0:", "PKA0")).script)
    without = stopped(devices=())
    assert not any("fast path leaves" in caution for caution in without.cautions)
    assert not any("had its fast path" in line for line in without.script)


def test_no_check_of_the_system_is_overridden_and_nothing_recalled_is_a_command() -> None:
    lines = (*stopped().script, *stopped().undo, *place_by_hand("EWC0", 2).apply, *place_by_hand("EWC0", 2).undo)
    assert not any(word in line for line in lines for word in ("OVERRIDE", "PREFERRED_CPUS", "COTHREADS"))


@pytest.mark.parametrize(
    ("v7", "words", "never"),
    [
        (True, "IO_PREFER_CPUS (of V7.3", "bit in IO_PRCPU_BITMAP"),
        (False, "bit in IO_PRCPU_BITMAP keeps", "IO_PREFER_CPUS"),
        (None, "IO_PRCPU_BITMAP (on V7.3 IO_PREFER_CPUS)", "of V7.3;"),
    ],
)
def test_the_mask_of_fast_path_is_called_as_the_release_does(v7: bool | None, words: str, never: str) -> None:
    cautions = " ".join(place_by_hand("EWC0", 2, v7=v7).cautions)
    assert words in cautions
    assert never not in cautions


@pytest.mark.parametrize("cpu", [-1, 1024, True])
def test_a_number_that_is_no_cpu_is_never_printed(cpu: int) -> None:
    with pytest.raises(NeverStop):
        stopped(cpu)


def test_the_primary_and_a_cpu_with_a_service_are_never_stopped() -> None:
    with pytest.raises(NeverStop, match="primary"):
        stopped(primary=True)
    with pytest.raises(NeverStop, match="TCP/IP runs there"):
        stopped(services=("OpenVMS TCP/IP",))


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_device_or_node_makes_a_change_by_hand_without_that_name(name: str) -> None:
    for change in (stopped(devices=(name,)), stopped(devices=(), node=name), place_by_hand(name, 2)):
        assert change.takes_effect is Effect.ADVICE
        text = "\n".join((change.key, change.target, *change.script, *change.way_back, *change.cautions))
        assert not name or name not in text
        assert all(line.startswith(("$! by hand", "$ SHOW ")) for line in (*change.apply, *change.undo))


def test_a_node_is_named_in_the_script_and_in_the_key() -> None:
    change = stopped(node="PANDOR")
    assert change.key == "openvms.cpu:PANDOR:2"
    assert "on node PANDOR" in change.script[0]


def test_every_line_of_a_script_is_dcl() -> None:
    for line in (*stopped(node="PANDOR").script, *stopped(node="PANDOR").undo):
        assert line.startswith("$")
        assert len(line) < 128
