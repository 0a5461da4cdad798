"""What runs on which CPU: read and never computed, and what stands against a stop."""

import pytest

from collectors.facts import Fact, Facts
from collectors.facts.openvms import Cpu, FastpathDevice, KernelService, Node, ProcessorModes, SysgenParameter
from rules.changes.openvms_cpu import NeverStop
from rules.finding import NotApplicable, Untrusted
from rules.openvms._evidence.cpu_layout import Layout, Pair, no_dedicated
from rules.openvms._evidence.placement import placement_of
from rules.plan import make_plan

MANAGER = KernelService(service="OpenVMS Lock Manager", cpu=6)
TCPIP = KernelService(service="OpenVMS TCP/IP", cpu=4)


def layout(*facts: Fact) -> Layout:
    return Layout(Facts(facts))


def full(number: int, sibling: int | None = None, **fields: object) -> Cpu:
    given: dict[str, object] = {"state": "RUN", "full": True}
    if sibling is not None:
        given["cothread"] = float(sibling)
    return Cpu(number=number, **(given | fields))  # type: ignore[arg-type]


def test_a_pair_is_read_from_either_side_and_never_from_the_numbers() -> None:
    one = layout(full(6, 2), full(3))
    assert one.pair(6) == Pair(6, 2, full(6).source)
    assert one.pair(2) == Pair(2, 6, full(6).source)
    assert one.pair(3) == Pair(3, None, full(3).source)
    assert one.pair(7) is None


@pytest.mark.parametrize(
    "cpus", [(full(6, 2), full(2, 5)), (full(6, 2), full(2)), (full(1, 2), full(3, 2)), (full(6, 6),)]
)
def test_displays_that_contradict_each_other_are_not_believed(cpus: tuple[Cpu, ...]) -> None:
    found = [layout(*cpus).pair(number) for number in (2, 6)]
    assert any(isinstance(pair, Untrusted) for pair in found)


def test_a_full_display_without_cothd_does_not_outweigh_one_that_names_it() -> None:
    assert isinstance(layout(full(6), full(2, 6)).pair(6), Untrusted)


def test_the_newer_state_of_a_cpu_counts() -> None:
    assert layout(full(2, 6), Cpu(number=2, state="STOPPED")).runs(2) is False


def test_a_brief_display_does_not_rule_a_co_thread_out() -> None:
    assert layout(Cpu(number=6, state="RUN")).pair(6) is None


def test_the_newer_listing_of_a_device_counts() -> None:
    moved = layout(FastpathDevice(device="EWC0", cpu=2), FastpathDevice(device="EWC0", cpu=5))
    assert [device.device for device in moved.devices_on(5)] == ["EWC0"]
    assert moved.devices_on(2) == []


def test_a_device_that_only_the_full_display_lists_counts_too() -> None:
    assert [device.device for device in layout(full(2, fastpath=("PGA0",))).devices_on(2)] == ["PGA0"]


def test_show_fastpath_outweighs_the_list_in_the_full_display() -> None:
    moved = layout(full(2, fastpath=("PGA0",)), FastpathDevice(device="PGA0", cpu=3))
    assert moved.devices_on(2) == []


@pytest.mark.parametrize(
    ("facts", "cpu", "primary"),
    [
        ((FastpathDevice(device="PKA0", cpu=0), full(2)), 0, True),
        ((FastpathDevice(device="PKA0", cpu=0), full(2)), 2, False),
        ((full(2), full(6)), 2, True),
        ((full(2), full(6)), 0, True),
        ((full(2), full(6)), 6, False),
        ((full(0, primary=False), full(1, primary=True)), 0, False),
        ((full(0, primary=False), full(1, primary=True)), 1, True),
        ((full(2, primary=False), full(6)), 2, False),
        ((), 3, False),
        ((), 0, True),
        ((Node(name="A", active_cpus=2.0), full(0, primary=False), full(1, primary=False)), 0, True),
        ((Node(name="A", active_cpus=2.0), full(0, primary=False), full(1, primary=False)), 1, False),
        ((Node(name="A", active_cpus=3.0), full(1, primary=False), full(2, primary=False)), 1, False),
    ],
)
def test_what_is_not_ruled_out_as_primary_counts_as_it(facts: tuple[Fact, ...], cpu: int, primary: bool) -> None:
    assert layout(*facts).may_be_primary(cpu) is primary


def test_a_state_that_was_not_read_is_not_guessed() -> None:
    one = layout(Cpu(number=1, state="STOPPED"), Cpu(number=2), FastpathDevice(device="EWA0", cpu=3), TCPIP)
    assert [one.runs(cpu) for cpu in (1, 2, 3, 4, 5)] == [False, None, True, True, None]


@pytest.mark.parametrize(("cpu", "why"), [(0, "primary"), (4, "TCP/IP runs"), (6, "Lock Manager runs")])
def test_what_must_not_be_stopped_is_not(cpu: int, why: str) -> None:
    one = layout(FastpathDevice(device="PKA0", cpu=0), TCPIP, MANAGER)
    with pytest.raises(NeverStop, match=why):
        one.stop(cpu)


def test_the_cpu_of_the_lock_managers_process_must_not_be_stopped_either() -> None:
    assert layout(full(0), full(6, process="LCKMGR_SERVER")).why_not_stop(6) == "the lock manager runs on CPU 6"


@pytest.mark.parametrize(
    ("mode", "active", "lowered"),
    [(8.0, 8.0, 7.0), (7.0, 8.0, None), (6.0, 8.0, None), (40.0, 40.0, 32.0), (0.0, 8.0, None)],
)
def test_a_stop_never_turns_the_dedicated_lock_manager_off(mode: float, active: float, lowered: float | None) -> None:
    settings = SysgenParameter(name="LCKMGR_MODE", current=mode), Node(name="PANDOR", active_cpus=active)
    changes = layout(MANAGER, *settings, FastpathDevice(device="PKA0", cpu=0)).stop(2)
    assert [change.target for change in changes] == (["LCKMGR_MODE"] if lowered else []) + ["CPU 2"]
    if lowered:
        assert changes[0].new == lowered


def test_without_a_dedicated_lock_manager_a_stop_leaves_its_parameter_alone() -> None:
    settings = SysgenParameter(name="LCKMGR_MODE", current=8.0), Node(name="PANDOR", active_cpus=8.0)
    assert [change.target for change in layout(*settings, FastpathDevice(device="PKA0", cpu=0)).stop(2)] == ["CPU 2"]


def test_the_parameter_goes_down_before_the_stop_and_up_after_the_start() -> None:
    facts = (MANAGER, SysgenParameter(name="LCKMGR_MODE", current=8.0), Node(name="PANDOR", active_cpus=8.0))
    (step,) = make_plan(layout(*facts, FastpathDevice(device="PKA0", cpu=0)).stop(2)).steps
    assert step.apply.index("SET LCKMGR_MODE 7") < step.apply.index("$ STOP/CPU 2")
    assert step.undo.index("$ START/CPU 2") < step.undo.index("SET LCKMGR_MODE 8")


def test_a_stop_leaves_the_plan_together_with_the_lower_parameter_that_it_needs() -> None:
    facts = (MANAGER, SysgenParameter(name="LCKMGR_MODE", current=8.0), Node(name="PANDOR", active_cpus=8.0))
    one = layout(*facts, FastpathDevice(device="PKA0", cpu=0))
    lowered, stop = one.stop(2)
    assert stop.needs == (lowered.key,)
    plan = make_plan([one.set("LCKMGR_MODE", 0), lowered, stop])
    assert not plan.steps
    assert {conflict.change_keys for conflict in plan.conflicts} == {(lowered.key,), (stop.key, lowered.key)}


def test_a_stop_without_a_lower_parameter_needs_nothing() -> None:
    (stop,) = layout(FastpathDevice(device="PKA0", cpu=0)).stop(2)
    assert not stop.needs


def test_unused_cpus_and_the_default_choice_come_from_show_fastpath() -> None:
    node = Node(name="A", active_cpus=4.0)
    one = layout(node, FastpathDevice(device="EWA0", cpu=1), TCPIP)
    assert (one.unused, one.default_choice) == ([2, 3], 1)
    assert layout(node).unused == [], "without SHOW FASTPATH nothing is known to be free"
    assert layout(node, full(0, primary=False), full(1, primary=True)).default_choice == 0
    assert layout(node, Cpu(number=1, state="STOPPED")).default_choice == 2


def test_a_parameter_of_two_nodes_with_different_values_is_of_neither() -> None:
    both = [SysgenParameter(name="LCKMGR_MODE", current=mode, node=node) for mode, node in ((8.0, "A"), (6.0, "B"))]
    assert layout(*both).setting("LCKMGR_MODE") is None
    assert layout(*both, Node(name="B")).setting("LCKMGR_MODE") == 6.0


def test_of_two_counts_of_active_cpus_the_smaller_one_counts() -> None:
    assert layout(Node(name="A", active_cpus=8.0), ProcessorModes(statistic="mean", cpus=7.0)).active == 7


def test_cores_are_counted_only_when_every_cpu_was_read() -> None:
    node = Node(name="A", active_cpus=4.0)
    assert layout(node, full(0, 2), full(1, 3), full(2, 0), full(3, 1)).cores == 2
    assert layout(node, full(0, 2), full(1, 3), full(2, 0)).cores is None
    assert layout(Node(name="A", active_cpus=2.0), full(0), full(1)).cores == 2


def test_a_core_of_its_own_is_better_than_one_with_a_stopped_and_that_than_one_with_a_running_co_thread() -> None:
    device = FastpathDevice(device="PKA0", cpu=0)
    shared, stopped, single = (full(1, 5), full(5, 1)), (full(2, 6), Cpu(number=6, state="STOPPED")), (full(3),)
    assert placement_of(layout(device, *shared)).chosen == 1
    assert placement_of(layout(device, *shared, *stopped)).chosen == 2
    assert placement_of(layout(device, *shared, *stopped, *single)).chosen == 3
    assert placement_of(layout(device, *single), without=frozenset({3})).chosen is None


def test_a_core_with_a_device_the_primary_or_tcpip_is_never_offered_to_the_lock_manager() -> None:
    assert placement_of(layout(full(0), full(1), FastpathDevice(device="EWA0", cpu=1))).chosen is None
    assert placement_of(layout(full(0), full(3, 4), full(4, 3), TCPIP)).chosen is None
    assert placement_of(layout(full(0), full(1))).chosen is None, "without SHOW FASTPATH nothing is known to be free"
    assert placement_of(layout(full(0), full(40), FastpathDevice(device="EWA0", cpu=1))).chosen is None, (
        "above LCKMGR_CPUID"
    )


@pytest.mark.parametrize("version", ["V7.2", "V7.2-1", "V9.2-2"])
def test_releases_without_a_dedicated_lock_manager(version: str) -> None:
    assert isinstance(no_dedicated(layout(Node(name="A", version=version))), NotApplicable)


@pytest.mark.parametrize("version", ["V7.3", "V7.3-2", "V8.4", "V8.4-2L1", None, "X", "E8.2"])
def test_releases_with_one_or_not_known(version: str | None) -> None:
    assert no_dedicated(layout(Node(name="A", version=version))) is None


def test_a_vax_has_none() -> None:
    assert isinstance(no_dedicated(layout(Node(name="A", hardware="VAX 7000-640", version="V7.3"))), NotApplicable)


@pytest.mark.parametrize(("value", "read"), [(-1.0, None), (0.0, 0.0), (1024.0, 1024.0), (1025.0, None)])
def test_a_setting_beyond_the_most_cpus_there_are_is_not_believed(value: float, read: float | None) -> None:
    assert layout(SysgenParameter(name="LCKMGR_MODE", current=value)).setting("LCKMGR_MODE") == read
