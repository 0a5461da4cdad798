"""Every CPU as a place for the dedicated lock manager, with the reason for or against it."""

from collectors.facts import Fact, Facts
from collectors.facts.openvms import Cpu, FastpathDevice, KernelService, Node, ProcessorModes
from rules.openvms._evidence.cpu_layout import Layout
from rules.openvms._evidence.placement import cost_of, placement_of

PAIRS = {0: 4, 1: 5, 2: 6, 3: 7}
"""Four cores of two co-threads; the pair is what SHOW CPU/FULL says."""


def cpus(*stopped: int) -> list[Fact]:
    both = {**PAIRS, **{sibling: cpu for cpu, sibling in PAIRS.items()}}
    return [
        Cpu(number=cpu, cothread=both[cpu], full=True, primary=cpu == 0, state="STOPPED" if cpu in stopped else "RUN")
        for cpu in sorted(both)
    ]


def device(name: str, cpu: int) -> Fact:
    return FastpathDevice(device=name, cpu=cpu)


def layout(*facts: Fact) -> Layout:
    return Layout(Facts((Node(name="ORKNEY", active_cpus=8.0), *facts)))


TCPIP = KernelService(service="OpenVMS TCP/IP", cpu=7)


def test_one_core_is_free_and_each_other_cpu_has_its_reason() -> None:
    placed = placement_of(layout(*cpus(), device("EWA0", 1), device("PEA0", 0), TCPIP))
    assert placed.chosen == 2
    assert placed.answer.startswith("CPU 2 suits it")
    assert {seat.cpu: seat.against for seat in placed.seats} == {
        0: "it is the primary",
        1: "fast path of EWA0",
        2: None,
        3: "its co-thread CPU 7: OpenVMS TCP/IP runs there",
        4: "its co-thread CPU 0: it is the primary",
        5: "its co-thread CPU 1: fast path of EWA0",
        6: None,
        7: "OpenVMS TCP/IP runs there",
    }
    assert "CPU 6: as good, but of a higher number" in placed.others


def test_a_stopped_co_thread_makes_the_better_seat() -> None:
    placed = placement_of(layout(*cpus(3), device("EWA0", 1)))
    assert placed.chosen == 7
    assert "CPU 3: it is stopped" in placed.others


def test_where_none_is_free_the_answer_names_the_fewest_devices_to_move() -> None:
    busy = [device("EWA0", 1), device("EWB0", 5), device("FGA0", 6), device("PKA0", 0), TCPIP]
    placed = placement_of(layout(*cpus(), *busy))
    assert placed.chosen is None
    assert placed.answer.startswith("None is free: move FGA0 off the core of CPU 2 first (CPU 0:")
    move = placed.first_to_move
    assert move is not None
    assert (move.cpu, move.sibling, move.movable) == (2, 6, ("FGA0",))
    both = next(seat for seat in placed.seats if seat.cpu == 1)
    assert both.movable == ("EWA0", "EWB0")


def test_nothing_is_to_be_moved_where_only_the_primary_and_tcp_ip_are_in_the_way() -> None:
    pair = [Cpu(number=0, full=True, primary=True), Cpu(number=7, full=True, primary=False)]
    placed = placement_of(Layout(Facts((*pair, TCPIP))))
    assert placed.answer == "None is free (CPU 0: it is the primary; CPU 7: OpenVMS TCP/IP runs there)."


def test_a_cpu_whose_display_was_not_brought_is_not_taken_and_the_reason_says_so() -> None:
    seats = placement_of(layout(device("EWA0", 1))).seats
    assert {seat.cpu: seat.unread for seat in seats if seat.cpu in (1, 2)} == {1: False, 2: True}
    assert seats[2].against == "its full display was not collected"


def test_a_device_name_that_could_break_a_line_is_made_harmless() -> None:
    placed = placement_of(layout(*cpus(), device("EW\nA0", 2)))
    assert "\n" not in placed.answer


def test_what_it_costs_is_said_of_this_machine() -> None:
    idle = ProcessorModes(statistic="mean", idle_percent=310.0, cpus=8.0)
    said, evidence = cost_of(layout(*cpus(), idle, device("EWA0", 1)))
    assert said == (
        "It costs one core of 4, 25 % of the machine, with its co-thread stopped; more than one CPU is idle on average "
        "(310 % of one CPU)."
    )
    assert [one.value for one in evidence] == [310.0]
    assert cost_of(layout(device("EWA0", 1)))[0] == "It costs one CPU of 8, 12 % of the machine."
    assert cost_of(Layout(Facts(())))[0] == "It costs one CPU."
    tight = ProcessorModes(statistic="mean", idle_percent=40.0, cpus=8.0)
    assert "less than one CPU is idle on average: work will wait (40 % of one CPU)" in cost_of(layout(tight))[0]
