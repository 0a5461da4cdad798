"""The nodes of a cluster for each choice of a master, and what they spend in MP synch and kernel mode then."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import pytest

from collectors.facts import Fact, Source
from collectors.facts.openvms import ClusterMember, Node, ProcessorModes, SpinlockTrace, SpinlockTraceRun
from collectors.facts.scaling import LoadPoint, LoadSeries
from rules.cluster import clusters_of
from rules.openvms._evidence.after_move import in_range
from rules.openvms._evidence.decision import Decision, Kind, Line, bring
from rules.openvms._evidence.settled import Told
from rules.openvms._evidence.side_by_side import shown as shown_to_a_reader
from rules.openvms._evidence.spins_after import OWN_CPU, SAME, UNTRACED
from tests.collectors.test_growth import calls_of
from tests.rules.test_decision import FAST, SLOW, audited, capture_of, node, three, times


def modes(name: str, synch: float, kernel: float = 80.0) -> ProcessorModes:
    return ProcessorModes(
        source=Source(f"{name}.csv", 5, 9), statistic="mean", cpus=8.0, mp_synch_percent=synch, kernel_percent=kernel
    )


def trace(share_of_lckmgr: float, spun: float) -> tuple[Fact, ...]:
    """A trace of a minute that spins so much (per cent of one CPU) for LCKMGR, and the rest for MMG."""
    source = Source("spl.txt", 3, 9)
    parts = {"LCKMGR": share_of_lckmgr * spun, "MMG": (1 - share_of_lckmgr) * spun}
    return (
        SpinlockTraceRun(source=source, command="SPL SHOW TRACE/SUMMARY", seconds=60.0),
        *(
            SpinlockTrace(
                source=source, spinlock=name, command="SPL SHOW TRACE/SUMMARY", spin_percent=spin, hold_percent=20.0
            )
            for name, spin in parts.items()
        ),
    )


def shown(members: Sequence[ClusterMember], *of_all: Fact, **of_node: Sequence[Fact]) -> Decision:
    (cluster,) = clusters_of(audited(members, *of_all, **of_node))
    return cluster.decision


def line_of(found: Decision, name: str) -> Line:
    return next(one for one in found.lines if one.node == name)


def test_each_choice_is_by_the_same_arithmetic_as_the_decision() -> None:
    found = shown(three(), *times(FAST=2.0, SLOW=5.0, THIRD=5.0))
    assert [(one.master, one.which) for one in found.choices] == [
        ("FAST", "best"),
        ("SLOW", "today"),
        ("THIRD", "runner-up"),
    ]
    best, today, _ = found.choices
    assert {one.node: one.after for one in found.lines} == dict(best.rates)
    assert {one.node: one.today for one in found.lines} == dict(today.rates)
    assert today.crossing == (13000.0, 13000.0)
    assert best.crossing == found.crossing_after == (4000.0, 5000.0)
    # FAST's 9,000 at 2 µs, THIRD's 4,000 at 150 µs; none or all of the 1,000 of SLOW at 150 µs; today its own at 5 µs
    assert best.waiting == pytest.approx((0.618, 0.768))
    assert today.waiting == pytest.approx((1.95, 1.955))


def test_a_choice_adds_up_to_what_is_done_whoever_is_master() -> None:
    found = shown(three())
    assert found.choices[0].waiting is None, "without LOCKTIME nothing tells how long a lock takes"
    total = 2000.0 + 9000.0 + 1000.0 + 500.0 + 4000.0
    for choice in found.choices:
        low = sum(one.local[0] for one in choice.rates.values() if one.local) + choice.crossing[1]
        high = sum(one.local[1] for one in choice.rates.values() if one.local) + choice.crossing[0]
        assert low == pytest.approx(total)
        assert high == pytest.approx(total)


def test_nodes_that_share_the_work_are_not_held_against_each_other() -> None:
    equal = [node(name, 4000.0, 600.0, 600.0, hardware=FAST) for name in ("A", "B", "C")]
    assert not shown(equal).choices


def test_where_nothing_decides_the_one_that_asks_most_is_shown_and_not_called_best() -> None:
    members = [replace(one, hardware=None) for one in three()]
    found = shown(members)
    assert found.kind is Kind.OPEN
    assert [(one.master, one.which) for one in found.choices] == [
        ("FAST", "asks most"),
        ("SLOW", "today"),
        ("THIRD", "runner-up"),
    ]


def test_a_missing_node_gives_no_choice() -> None:
    members = [replace(one, complete=False) for one in three()[:2]]
    assert not shown(members).choices


def test_spinning_is_bounded_by_the_share_of_the_trace_and_by_the_operations() -> None:
    """SLOW does 14,000/s today and 0 to 2,000 afterwards; FAST 11,000/s today and 15,000 to 16,000."""
    found = shown(
        three(),
        SLOW=[modes("SLOW", 280.0), *trace(0.75, 280.0)],
        FAST=[modes("FAST", 40.0, kernel=110.0), *trace(0.5, 40.0)],
        THIRD=[modes("THIRD", 5.0)],
    )
    slow, fast, third = (line_of(found, name).spent for name in ("SLOW", "FAST", "THIRD"))
    assert slow is not None
    assert fast is not None
    assert third is not None
    assert slow.synch == pytest.approx((70.0, 70.0 + 210.0 * 2000 / 14000))
    assert slow.basis.startswith("75 % of its MP synch spins for LCKMGR")
    assert slow.kernel == pytest.approx((0.0, 80.0)), "none of it may be for locks, or all"
    assert fast.synch is not None
    assert fast.synch[0] == pytest.approx(20.0 + 20.0 * 15000 / 11000)
    assert fast.synch[1] is None, "nothing measured tells how much more it may be"
    assert fast.kernel == pytest.approx((110.0, 110.0 * 16000 / 11000))
    assert (third.synch, third.basis) == ((5.0, 5.0), SAME)
    assert not any("spinlock trace" in one.command for one in bring(found))


def test_without_a_trace_a_node_spins_at_most_as_today_with_fewer_locks_and_at_least_with_more() -> None:
    found = shown(three(), SLOW=[modes("SLOW", 280.0)], FAST=[modes("FAST", 40.0)])
    slow, fast = line_of(found, "SLOW").spent, line_of(found, "FAST").spent
    assert slow is not None
    assert fast is not None
    assert (slow.synch, slow.basis) == ((0.0, 280.0), UNTRACED)
    assert fast.synch == (40.0, None)
    traced = next(one.command for one in bring(found) if "spinlock trace" in one.command)
    assert traced.endswith("! on FAST")


def test_of_a_lock_manager_with_its_own_cpu_neither_is_computed() -> None:
    found = shown(three(dedicated=True), SLOW=[modes("SLOW", 30.0)])
    spent = line_of(found, "SLOW").spent
    assert spent is not None
    assert (spent.synch, spent.kernel, spent.basis) == (None, None, OWN_CPU)
    assert any(one.command == f"{ProcessorModes.COLLECTED_BY} ! on SLOW, after that step" for one in bring(found))


def test_a_node_without_modes_is_not_computed_and_its_command_is_named() -> None:
    found = shown(three(), SLOW=[modes("SLOW", 280.0)])
    fast = line_of(found, "FAST").spent
    assert fast is not None
    assert (fast.synch, fast.kernel, fast.kernel_today) == (None, None, None)
    assert "a T4 composite CSV of FAST, of the same day" in [one.command for one in bring(found)]


def test_a_test_of_the_very_node_tells_the_most_and_what_an_operation_costs() -> None:
    """5,000 to 30,000/s in the laboratory; 16,000/s are reached with two processes, at 60 % MP synch."""
    rows = [(1, 10000.0, 0.0, 20.0), (2, 18000.0, 60.0, 40.0), (3, 25000.0, 150.0, 60.0), (4, 22000.0, 260.0, 60.0)]
    points = tuple(
        LoadPoint(load=load, rate=rate, others=(("mp_synch_percent", synch), ("kernel_percent", kernel)), line=at)
        for at, (load, rate, synch, kernel) in enumerate(rows, 2)
    )
    test = LoadSeries(
        source=Source("locklab.csv", 1, 6),
        title="locklab FAST",
        load_name="processes",
        rate_name="lock_operations_per_second",
        points=points,
        product="openvms",
        setup=(("node", "FAST"), ("nodes", "1")),
    )
    named = Node(source=Source("FAST.csv", 1, 1), name="FAST")
    found = shown(three(), FAST=[named, modes("FAST", 40.0, kernel=110.0), test])
    fast = line_of(found, "FAST").spent
    assert fast is not None
    assert fast.synch == pytest.approx((40.0, 40.0 + 60.0))
    # 4,000 to 5,000 operations more at 20 µs of kernel time each, within 110 × 15/11 and 110 × 16/11
    assert fast.kernel == pytest.approx((118.0, 120.0))
    assert "so much MP synch" in fast.basis


def test_a_range_of_one_figure_is_printed_as_one() -> None:
    assert (in_range((1.04, 1.0)), in_range((0.0, 7.51))) == (1.0, "0 to 7.5")


def test_twice_the_nodes_take_twice_the_work() -> None:
    def told(many: int) -> dict[str, Told]:
        others = [node(f"N{at:03}", 100.0, 0.0, 200.0, hardware=FAST) for at in range(many)]
        members = [node("MASTER", 100.0, 200.0 * many, 0.0, hardware=SLOW), *others]
        return {one.name: Told(capture_of(members, one.name), ()) for one in members}

    few, many = (calls_of(partial(shown_to_a_reader, told(of))) for of in (50, 100))
    assert many < 2.5 * few
