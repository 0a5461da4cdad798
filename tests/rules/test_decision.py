"""One decision over the nodes of a cluster: who is master, where the lock manager's CPU belongs, whose work follows.

Over 600 lines: every case is made of the same cluster and differs in one thing.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial

import pytest

from collectors.facts import ABSENT, Capture, Fact, Facts, Interval, Reading, Source, System
from collectors.facts.openvms import (
    ClusterMember,
    ClusterNode,
    DedicatedLockManager,
    LockActivity,
    LockDatabase,
    LockLatency,
    SysgenParameter,
)
from rules.audit import Audit, audit, linked_across
from rules.cluster import clusters_of
from rules.finding import Effect
from rules.openvms._evidence.decision import Decision, Kind, Rates, bring, decide
from rules.openvms._evidence.mastership import works_more
from rules.openvms._evidence.room import room_of
from tests.collectors.test_growth import calls_of
from tests.stories import HERE, audits_of

FAST, SLOW = "HP BL870c (1.59GHz/9.0MB)", "HP rx4640 (1.10 GHz/4.0MB)"
BEGIN = datetime(2026, 9, 22, 10, 0)  # noqa: DTZ001 - exports have no zone


def node(name: str, local: float, into: float, out: float, **more: object) -> ClusterMember:
    """A node with its lock operations per second; by default of V8.4 with all weights 1, in a complete cluster."""
    fields: dict[str, object] = {
        "version": "V8.4",
        "lock_directory_weight": 1.0,
        "pe1": 0.0,
        "complete": True,
        "cpus": 8.0,
        "busy_percent": 30.0,
        "start": BEGIN,
        "end": BEGIN + timedelta(hours=1),
        **more,
    }
    return ClusterMember(
        source=Source(f"{name}.csv", 5, 9),
        name=name,
        local_per_second=local,
        incoming_per_second=into,
        outgoing_per_second=out,
        **fields,  # type: ignore[arg-type]
    )


def lock(asks: str, master: str, microseconds: float) -> LockLatency:
    return LockLatency(source=Source("locktime.csv", 2, 2), from_node=asks, master=master, microseconds=microseconds)


def three(**of_master: object) -> list[ClusterMember]:
    """A slow master, a fast node that asks it for most, and a third."""
    return [
        node("FAST", 2000.0, 0.0, 9000.0, hardware=FAST),
        node("SLOW", 1000.0, 13000.0, 0.0, hardware=SLOW, own=True, **of_master),
        node("THIRD", 500.0, 0.0, 4000.0, hardware=SLOW),
    ]


def decided(*facts: Fact) -> Decision:
    return decide(Facts(facts))


def capture_of(members: Sequence[ClusterMember], own: str, *more: Fact) -> Capture:
    """The capture of one of the members, as `collectors.cluster` makes it."""
    of_all = tuple(replace(one, own=one.name == own) for one in members)
    return Capture(System(own, "openvms"), Interval(BEGIN, BEGIN + timedelta(hours=1)), Facts((*of_all, *more)))


def audited(members: Sequence[ClusterMember], *of_all: Fact, **of_node: Sequence[Fact]) -> list[Audit]:
    return linked_across([audit(capture_of(members, one.name, *of_all, *of_node.get(one.name, ()))) for one in members])


def test_the_fastest_node_is_to_be_master_and_what_it_asked_for_is_local_then() -> None:
    found = decided(*three())
    assert (found.kind, found.master, found.target, found.home) == (Kind.MOVES, "SLOW", "FAST", "FAST")
    today = {one.node: one.today for one in found.lines}
    after = {one.node: one.after for one in found.lines}
    assert today["SLOW"] == Rates((1000.0, 1000.0), (0.0, 0.0), (13000.0, 13000.0))
    assert after["FAST"] == Rates((11000.0, 11000.0), (0.0, 0.0), (4000.0, 5000.0)), "SLOW's own may be in the trees"
    assert after["SLOW"] == Rates((0.0, 1000.0), (0.0, 1000.0), (0.0, 0.0))
    assert after["THIRD"] == today["THIRD"]


def test_what_each_node_does_afterwards_adds_up_to_what_it_does_today() -> None:
    """Each operation once: local and outgoing; what is asked for is what is served."""
    for members in (
        three(),
        [node("A", 900.0, 8000.0, 200.0, hardware=SLOW), node("B", 50.0, 200.0, 8000.0, hardware=FAST)],
    ):
        found = decided(*(replace(one, own=one is members[0]) for one in members))
        assert found.kind is Kind.MOVES
        own = {one.name: one.local_per_second + one.outgoing_per_second for one in members}  # type: ignore[operator]
        for line in found.lines:
            assert line.after is not None
            assert line.after.local is not None
            assert line.after.outgoing is not None
            if line.node != found.master:
                assert line.after.local[0] + line.after.outgoing[1] == pytest.approx(own[line.node])
            else:
                assert line.after.local[1] + line.after.outgoing[0] == pytest.approx(own[line.node])
        asked = sum(line.after.outgoing[0] for line in found.lines if line.after and line.after.outgoing)
        served = sum(line.after.incoming[0] for line in found.lines if line.after and line.after.incoming)
        assert asked == pytest.approx(served)


def test_equal_nodes_that_share_the_work_are_told_nothing() -> None:
    equal = [node(name, 4000.0, 600.0, 600.0, hardware=FAST) for name in ("A", "B", "C")]
    equal[0] = replace(equal[0], own=True)
    found = decided(*equal)
    assert found.kind is Kind.EVEN
    assert (found.lock_manager, found.work, found.lock_manager_changes) == ("", "", ())
    audits = audited(equal)
    assert not any(one.plan.steps for one in audits)
    (cluster,) = clusters_of(audits)
    assert not cluster.plan.steps
    assert not cluster.summary.do


def test_equal_nodes_of_which_one_masters_nearly_all_keep_it() -> None:
    members = [
        node("A", 5000.0, 6000.0, 0.0, hardware=FAST, own=True),
        node("B", 3000.0, 0.0, 3000.0, hardware=FAST),
        node("C", 3000.0, 0.0, 3000.0, hardware=FAST),
    ]
    found = decided(*members)
    assert (found.kind, found.home) == (Kind.STAYS, "A")
    assert found.move is None
    assert all(one.after is None for one in found.lines)
    assert "The work of B is the next to run on A" in found.work


def test_of_two_equal_nodes_that_serve_each_other_nobody_is_the_master() -> None:
    members = [
        node("A", 4700.0, 1900.0, 1880.0, hardware=FAST, own=True),
        node("B", 4600.0, 1880.0, 1900.0, hardware=FAST),
    ]
    found = decided(*members)
    assert (found.kind, found.home, found.work, found.lock_manager) == (Kind.EVEN, None, "", "")
    assert "mastership is spread over the nodes, as A serves 1,900 lock operations/s for others" in found.says
    assert "asks them for 1,880/s" in found.says
    assert "stays the lock master" not in found.says
    mostly = [node("A", 4700.0, 1900.0, 900.0, hardware=FAST, own=True), node("B", 4600.0, 900.0, 1900.0)]
    assert decided(*mostly).kind is not Kind.EVEN, "A serves twice what it asks for"


def test_nobody_is_asked_to_move_the_users_of_a_satellite_nor_work_for_which_there_is_no_room() -> None:
    master = node("A", 5000.0, 6000.0, 0.0, hardware=FAST, own=True)
    satellite = node("B", 3000.0, 0.0, 3000.0, hardware=FAST, lock_directory_weight=0.0)
    other = node("C", 3000.0, 0.0, 3000.0, hardware=FAST)
    assert decided(master, satellite, replace(other, lock_directory_weight=0.0)).work == ""
    assert "The work of C is the next to run on A" in decided(master, satellite, other).work
    assert decided(replace(master, busy_percent=90.0), satellite, other).work == ""


@pytest.mark.parametrize(
    ("pe1", "says", "missing"),
    [
        (100.0, "PE1 = 100 on A keeps all but small trees (as recalled) there", False),
        (-1.0, "PE1 = -1 on A keeps every tree there", False),
        (0.0, "What keeps them on A is open: PE1 is 0 there", True),
        (ABSENT, "What keeps them on A is open, as its PE1 is not in the exports", True),
    ],
)
def test_trees_in_which_an_equal_node_works_more_are_not_left_as_today(pe1: Reading, says: str, missing: bool) -> None:
    members = [
        node("A", 3000.0, 18000.0, 400.0, hardware=FAST, own=True, pe1=pe1),
        node("B", 4000.0, 400.0, 18000.0, hardware=FAST),
    ]
    found = decided(*members)
    assert (found.kind, found.master, found.target, found.home) == (Kind.KEPT, "A", "B", None)
    assert "The trees belong to B, not to A." in found.says
    assert says in found.says
    assert ".." not in found.says
    assert bool(found.missing) is missing
    assert not found.work
    assert decided(members[0], replace(members[1], hardware=SLOW)).kind is Kind.STAYS, "a slower node gets no tree"
    assert decided(replace(members[0], local_per_second=18000.0), members[1]).kind is Kind.STAYS


def test_where_who_asks_whom_is_not_counted_no_figure_of_it_is_printed() -> None:
    """Four nodes that serve as much as they ask for: any of them may ask the first for nothing, or for all it asks."""
    spread = [node(name, 7800.0, 5800.0, 5800.0, hardware=FAST) for name in ("A", "B", "C", "D")]
    said = works_more(spread, "A", "B")
    assert "who asks whom is not in the exports" in said
    assert "0/s" not in said.replace("7,800", "")
    assert "stay" not in said
    alone = [node("A", 7800.0, 5800.0, 0.0), node("B", 9000.0, 0.0, 5800.0), node("C", 9000.0, 0.0, 0.0)]
    assert "B asks it for 5,800/s" in works_more(alone, "A", "B"), "nobody else serves anything: that is known"


def test_unknown_releases_give_no_script_and_the_command() -> None:
    members = [replace(one, version=None) for one in three()]
    found = decided(*members)
    assert found.kind is Kind.MOVES
    assert found.move is not None
    assert not found.move.changes
    assert "SHOW CLUSTER" in [one.command for one in bring(found)]
    assert not found.lock_manager_changes


def test_releases_on_both_sides_of_83_give_no_script() -> None:
    members = three()
    members[2] = replace(members[2], version="V7.3-2")
    found = decided(*members)
    assert found.move is not None
    assert [(one.key, one.new, one.takes_effect) for one in found.move.changes] == [
        ("openvms.sysgen:FAST:LOCKDIRWT", 3.0, Effect.ADVICE)
    ]
    assert all(line.startswith("$!") for one in found.move.changes for line in (*one.apply, *one.undo))
    assert "LOCKRMWT" in found.says
    assert not found.lock_manager_changes, "what waits for a trial asks for no CPU"


def test_an_emulator_that_others_work_more_on_waits_for_a_locktime_run() -> None:
    """Nothing tells how fast an emulator is: what its weight has to be is a template, and no node is preferred."""
    members = [
        node("REAL", 1900.0, 300.0, 13000.0, hardware="HP rx2800 i4 (2.53GHz/32.0MB)"),
        node("VIRT", 1900.0, 13000.0, 300.0, hardware="Stromasys Charon-AXP AlphaServer ES40", own=True),
    ]
    found = decided(*members)
    assert (found.kind, found.target, found.home) == (Kind.OPEN, "REAL", None)
    assert "VIRT is an emulator by its name, and REAL, which is none, works more in the trees" in found.says
    assert found.move is not None
    (change,) = found.move.changes
    assert (change.key, change.new, change.takes_effect) == ("openvms.sysgen:REAL:LOCKDIRWT", 3.0, Effect.ADVICE)
    assert "once a LOCKTIME run has shown that REAL is not slower than VIRT" in change.apply[0]
    assert not any(one.plan.steps and one.plan.steps[0].runs for one in audited(members))
    less = [replace(members[0], local_per_second=20000.0), replace(members[1], local_per_second=14000.0)]
    assert decided(*less).move is None, "the emulator itself works most in its trees"


@pytest.mark.parametrize(
    ("machine", "title", "effect"),
    [
        ("Stromasys Charon-AXP AlphaServer ES40", "VIRT, an emulator, is master by its weight", Effect.REBOOT),
        ("AlphaServer ES40", "", Effect.ADVICE),
    ],
)
def test_the_weight_of_an_emulator_that_draws_the_trees_of_others_waits_for_no_locktime_run(
    machine: str, title: str, effect: Effect
) -> None:
    """A machine whose name emulators borrow is not known to be one: there the run comes first."""
    members = [
        node("REAL", 1900.0, 300.0, 13000.0, hardware="HP rx2800 i4 (2.53GHz/32.0MB)"),
        node("VIRT", 1900.0, 13000.0, 300.0, hardware=machine, own=True, lock_directory_weight=3.0),
    ]
    found = decided(*members)
    assert (found.kind, found.target) == (Kind.MOVES, "REAL")
    assert found.move is not None
    (change,) = found.move.changes
    assert (change.key, change.old, change.new) == ("openvms.sysgen:VIRT:LOCKDIRWT", 3.0, 1.0)
    assert (change.takes_effect, found.move.title.startswith(title or "no")) == (effect, bool(title))
    if title:
        (cluster,) = clusters_of(audited(members))
        assert [one.change_keys for one in cluster.plan.steps] == [(change.key,)]


def test_an_emulator_brought_down_to_0_leaves_the_choice_to_raise_the_node_that_works_more() -> None:
    """At 0 everywhere it may still win a tree; the other node is not booted for that alone, and no machine is it."""
    members = [
        node("REAL", 1900.0, 300.0, 13000.0, hardware="HP rx2800 i4 (2.53GHz/32.0MB)", lock_directory_weight=0.0),
        node("VIRT", 1900.0, 13000.0, 300.0, hardware="CHARON-AXP", own=True, lock_directory_weight=2.0),
    ]
    move = decided(*members).move
    assert move is not None
    lowered, raised = move.changes
    assert (lowered.key, lowered.new, lowered.takes_effect) == ("openvms.sysgen:VIRT:LOCKDIRWT", 0.0, Effect.REBOOT)
    assert (raised.key, raised.new, raised.takes_effect) == ("openvms.sysgen:REAL:LOCKDIRWT", 1.0, Effect.ADVICE)
    assert raised.risk is not None
    assert "the node is rebooted" in raised.risk.why
    plain = decided(members[0], replace(members[1], hardware="AlphaServer ES40")).move
    assert plain is not None
    assert [one.key for one in plain.changes] == ["openvms.sysgen:VIRT:LOCKDIRWT"]


@pytest.mark.parametrize(
    ("out", "into", "kind"), [(0.9, 0.8, Kind.EVEN), (0.9, 0.2, Kind.STAYS), (0.1, 0.1, Kind.STAYS)]
)
def test_a_node_whose_trees_leave_and_come_back_all_the_time_does_not_stay_the_master(
    out: float, into: float, kind: Kind
) -> None:
    """What leaves in one direction finds its node, and a few moves a minute are the usual life of a cluster."""
    members = [
        node("ELM", 9000.0, 6000.0, 900.0, hardware=FAST, own=True, moved_out_per_second=out, moved_in_per_second=into),
        node("OAK", 2200.0, 900.0, 6000.0, hardware=FAST),
    ]
    found = decided(*members)
    assert (found.kind, found.home) == (kind, "ELM" if kind is Kind.STAYS else None)
    assert ("0.9 lock trees/s leave ELM and 0.8/s come" in found.says) == (kind is Kind.EVEN)


def test_a_limit_on_moving_that_keeps_the_trees_from_an_equal_node_is_a_step_with_its_way_back() -> None:
    members = [
        node("ELM", 3300.0, 18800.0, 400.0, hardware=FAST, own=True, pe1=100.0),
        node("OAK", 4200.0, 400.0, 18800.0, hardware=FAST),
    ]
    audits = audited(members, ELM=[listed("PE1", 100.0)], OAK=[listed("PE1", 0.0)])
    (cluster,) = clusters_of(audits)
    (step,) = cluster.plan.steps
    assert (step.node, step.takes_effect, step.change_keys) == ("ELM", Effect.ONLINE, ("openvms.sysgen:ELM:PE1",))
    assert "SET PE1 0" in step.apply
    assert "SET PE1 100" in step.undo
    healthy = [replace(members[0], local_per_second=30000.0), members[1]]
    assert not clusters_of(audited(healthy, ELM=[listed("PE1", 100.0)], OAK=[listed("PE1", 0.0)]))[0].plan.steps
    slower = [members[0], replace(members[1], hardware=SLOW)]
    assert not clusters_of(audited(slower, ELM=[listed("PE1", 100.0)], OAK=[listed("PE1", 0.0)]))[0].plan.steps
    full = [members[0], replace(members[1], busy_percent=90.0)]
    held = clusters_of(audited(full, ELM=[listed("PE1", 100.0)], OAK=[listed("PE1", 0.0)]))[0].plan.steps
    assert not any(one.runs for one in held), "no room there: a template that waits for it"


def test_equal_nodes_far_apart_are_told_to_part_the_work_and_not_to_move_the_trees() -> None:
    members = [
        node("CORK", 4100.0, 5200.0, 500.0, hardware=FAST, own=True),
        node("DUBLIN", 3800.0, 500.0, 5200.0, hardware=FAST),
    ]
    far = [lock(one, two, 3.1 if one == two else 2840.0) for one in ("CORK", "DUBLIN") for two in ("CORK", "DUBLIN")]
    assert decided(*members).kind is Kind.KEPT
    found = decided(*members, *far)
    assert found.kind is Kind.EVEN
    assert "2,840 µs, 916 times a local one" in found.says
    assert "each tree at one site" in found.says
    much = [replace(members[0], local_per_second=500.0), members[1]]
    assert decided(*much, *far).kind is Kind.KEPT, "hardly anything would wait any more: the move is worth it"


@pytest.mark.parametrize(
    ("busy", "of_master", "cpus", "waits"),
    [(76.0, 95.0, 4.0, False), (76.0, 85.0, 4.0, True), (92.0, 95.0, 16.0, True), (85.0, 95.0, 1.0, True)],
)
def test_a_busy_node_need_not_wait_for_free_cpus_where_the_master_has_even_fewer(
    busy: float, of_master: float, cpus: float, waits: bool
) -> None:
    members = [
        node("ROOM", 3000.0, 0.0, 9000.0, busy_percent=busy, cpus=cpus),
        node("FULL", 900.0, 9000.0, 0.0, busy_percent=of_master, cpus=2.0),
    ]
    found = room_of(members, "ROOM", comes_from=("FULL",), by="weight")
    assert bool(found.when) is waits
    assert (f"the CPUs of FULL were {of_master:.0f} % busy" in found.brief) is not waits
    assert not room_of(members, "ROOM", by="weight").relieves, "of a master that nobody names nothing is known"


def listed(name: str, value: float) -> SysgenParameter:
    """One line of a listing of what runs."""
    return SysgenParameter(source=Source("sysgen.lis", 7, 7), name=name, current=value)


def tables(**of_all: Reading) -> dict[str, object]:
    return {"hash_table": 4096.0, "lock_id_table": 20000.0, "resources": 4000.0, "locks": 15000.0, **of_all}


def test_the_lock_tables_of_the_new_master_hold_what_comes_in_the_one_boot_that_makes_it_master() -> None:
    fast, slow, third = three()
    members = [replace(fast, **tables()), replace(slow, **tables(resources=40000.0, locks=60000.0)), third]  # type: ignore[arg-type]
    audits = audited(members)
    (cluster,) = clusters_of(audits)
    boots = [one for one in cluster.plan.steps if one.takes_effect is Effect.REBOOT]
    assert [(one.node, one.change_keys) for one in boots] == [
        ("FAST", tuple(f"openvms.sysgen:FAST:{name}" for name in ("LOCKDIRWT", "RESHASHTBL", "LOCKIDTBL")))
    ]
    # (4,000 + 40,000) × 1.2 = 52,800 resources, 75,000 × 1.2 = 90,000 locks
    assert "MIN_RESHASHTBL = 65536" in boots[0].apply
    assert "MIN_LOCKIDTBL = 90000" in boots[0].apply
    assert boots[0].apply.count("AUTOGEN GETDATA REBOOT") == 1
    assert "at most 44,000 resources are on FAST then" in cluster.decision.tables


@pytest.mark.parametrize(
    ("of_new", "of_old", "says"),
    [
        (tables(hash_table=65536.0), tables(resources=40000.0), "Its lock tables hold the trees"),
        (tables(hash_table=65536.0), tables(resources=90000.0), "RESHASHTBL stays"),
        (tables(pending_hash_table=131072.0), tables(resources=40000.0), "is pending on FAST and enough"),
        (tables(), tables(resources=ABSENT), ""),
        (tables(hash_table=ABSENT), tables(resources=40000.0), ""),
    ],
)
def test_no_larger_table_is_asked_for_where_it_is_enough_unproven_pending_or_not_known(
    of_new: dict[str, object], of_old: dict[str, object], says: str
) -> None:
    fast, slow, third = three()
    enough = {"lock_id_table": 1_000_000.0}
    found = decided(replace(fast, **{**of_new, **enough}), replace(slow, **of_old), third)  # type: ignore[arg-type]
    assert says in found.tables
    assert found.move is not None
    assert [one.target for one in found.move.changes] == ["LOCKDIRWT"]
    told = [one.command for one in bring(found)]
    assert ("MCR SYSGEN SHOW RESHASHTBL ! on FAST" in told) is (of_new["hash_table"] is ABSENT)
    assert any(one.endswith("or MONITOR LOCK ! on SLOW") for one in told) is (of_old["resources"] is ABSENT)


def test_where_no_boot_makes_it_master_its_tables_ask_for_none_on_their_own() -> None:
    """LOCKRMWT is dynamic before V8.3."""
    members = [
        replace(one, version="V7.3-2", lock_remaster_weight=5.0, **tables(resources=40000.0))  # type: ignore[arg-type]
        for one in three()
    ]
    found = decided(*members)
    assert found.move is not None
    assert [(one.target, one.takes_effect) for one in found.move.changes] == [
        ("LOCKRMWT", Effect.ONLINE),
        ("RESHASHTBL", Effect.ADVICE),
    ]
    assert "with the next reboot of that node that happens anyway" in found.tables
    assert "with the same boot" not in found.move.do


@pytest.mark.parametrize(("resources", "steps"), [(3000.0, 1), (16000.0, 2)])
def test_a_table_a_little_short_asks_for_no_step_where_no_boot_takes_it_along(resources: float, steps: int) -> None:
    members = [
        replace(one, version="V7.3-2", lock_remaster_weight=5.0, **tables(resources=resources))  # type: ignore[arg-type]
        for one in three()
    ]
    found = decided(*members)
    assert found.move is not None
    assert len(found.move.changes) == steps
    assert ("names/s are compared in vain" in found.tables) is (steps == 1)


def test_a_larger_table_that_the_new_master_needs_for_itself_is_asked_for_once() -> None:
    fast, slow, third = three()
    own = {"hash_table": 4096.0, "resources": 30000.0}
    levels = LockDatabase(source=Source("FAST.csv", 2, 9), statistic="mean", resources=30000.0, locks=90000.0)
    members = [replace(fast, **own), replace(slow, resources=40000.0), third]  # type: ignore[arg-type]
    audits = audited(members, FAST=[listed("RESHASHTBL", 4096.0), levels])
    alone = audit(audits[0].capture)
    keys = [key for step in alone.plan.steps for key in step.change_keys]
    assert [key for key in keys if key.endswith("RESHASHTBL")]
    (cluster,) = clusters_of(audits)
    assert not cluster.plan.conflicts
    (boot,) = [one for one in cluster.plan.steps if one.takes_effect is Effect.REBOOT]
    assert boot.apply.count("MIN_RESHASHTBL = ") == 1
    assert "MIN_RESHASHTBL = 131072" in boot.apply  # 70,000 × 1.2, not 30,000 × 1.2


def test_a_node_without_exports_is_named_with_its_command() -> None:
    members = [replace(one, complete=False) for one in three()[:2]]
    third = ClusterNode(source=Source("show_cluster.txt", 9, 9), name="THIRD", status="MEMBER")
    found = decided(*members, third)
    assert found.kind is Kind.OPEN
    assert [one.command for one in bring(found)] == [
        "a T4 composite CSV of THIRD, of the same day, or MONITOR DLOCK ! on THIRD",
        *(f"a T4 composite CSV of {name}, of the same day" for name in ("FAST", "SLOW", "THIRD")),
    ]
    line = next(one for one in found.lines if one.node == "THIRD")
    assert (line.brought, line.today, line.after) == (False, Rates(), None)


def test_a_node_whose_counters_failed_leaves_it_open() -> None:
    """LOCK_ACTV could not collect there, and its T4 has no columns of lock operations."""
    members = three()
    failed = ClusterMember(source=Source("", 0, 0), name="THIRD", version="V8.4", start=BEGIN, end=BEGIN)
    activity = LockActivity(source=Source("lockactv.rpt", 1, 9), nodes=("FAST", "SLOW"), failed=("THIRD",))
    found = decided(*(replace(one, complete=None) for one in members[:2]), failed, activity)
    assert found.kind is Kind.OPEN
    assert "how many locks of THIRD are served where" in found.why
    assert any(one.command.endswith("MONITOR DLOCK ! on THIRD") for one in bring(found))
    assert {one.node for one in found.lines if one.today.all is None} == {"THIRD"}


def test_pe1_of_the_master_comes_before_any_weight_and_the_reboot_after_it() -> None:
    audits = audited(three(pe1=4096.0))
    (cluster,) = clusters_of(audits)
    told = [(step.node, step.takes_effect, step.change_keys) for step in cluster.plan.steps]
    assert told == [
        ("SLOW", Effect.ONLINE, ("openvms.sysgen:SLOW:PE1",)),
        ("FAST", Effect.REBOOT, ("openvms.sysgen:FAST:LOCKDIRWT",)),
    ]
    assert cluster.titles == (("PE1 on SLOW 4,096 → 0",), ("LOCKDIRWT on FAST 1 → 3",))


def test_pe1_minus_one_on_another_node_than_the_master_does_not_hold_the_trees() -> None:
    members = three()
    members[2] = replace(members[2], pe1=-1.0)
    found = decided(*members)
    assert found.kind is Kind.MOVES
    assert found.move is not None
    assert [change.key for change in found.move.changes] == ["openvms.sysgen:FAST:LOCKDIRWT"]


def times(**local: float) -> list[LockLatency]:
    """A LOCKTIME matrix of three nodes: local as given, 150 µs between them."""
    return [lock(one, two, local[one] if one == two else 150.0) for one in local for two in local]


def test_a_faster_node_far_from_those_who_ask_does_not_get_the_trees() -> None:
    """FAST is alone at its site: what the others ask for would take ten times as long."""
    near = times(FAST=2.0, SLOW=5.0, THIRD=5.0)
    assert decided(*three(), *near).kind is Kind.MOVES
    members = [
        node("FAST", 2000.0, 0.0, 2000.0, hardware=FAST),
        node("SLOW", 100.0, 13000.0, 0.0, hardware=SLOW, own=True),
        node("THIRD", 500.0, 0.0, 11000.0, hardware=SLOW),
    ]
    far = [
        replace(one, microseconds=1500.0)
        if "FAST" in (one.from_node, one.master) and one.from_node != one.master
        else one
        for one in near
    ]
    found = decided(*members, *far)
    assert found.kind is Kind.STAYS
    # 2,000/s of FAST at 2 µs and 11,000/s of THIRD at 1,500 µs; today at 1,500 and 150 µs
    assert "would wait longer for it: 16.5 lock requests under way at a time at the least, 4.65 today" in found.why


def test_locks_of_one_cpu_more_ask_for_a_lock_manager_where_the_trees_go_and_there_alone() -> None:
    members = [
        node("FAST", 2000.0, 0.0, 60000.0, hardware=FAST, lock_manager_mode=0.0),
        node("SLOW", 1000.0, 60000.0, 0.0, hardware=SLOW, own=True, dedicated=True, lock_manager_mode=6.0),
    ]
    found = decided(*members)
    assert "belongs on FAST and on no other node: once FAST is master, where MP synch" in found.lock_manager
    told = [(one.key, one.old, one.new, one.takes_effect) for one in found.lock_manager_changes]
    assert told == [
        ("openvms.sysgen:FAST:LCKMGR_MODE", 0.0, 6, Effect.ADVICE),
        ("openvms.sysgen:SLOW:LCKMGR_MODE", 6.0, 0, Effect.ADVICE),
    ]
    assert all(one.after == ("openvms.sysgen:FAST:LOCKDIRWT",) for one in found.lock_manager_changes)
    few = [replace(one, cpus=4.0) for one in members]
    assert "of 4 CPUs none is spared" in decided(*few).lock_manager
    untold = [replace(one, cpus=node("X", 0, 0, 0).lock_manager_mode) for one in members]
    assert "SHOW CPU ! on FAST" in [one.command for one in decided(*untold).missing]


def test_where_the_trees_are_already_a_lock_manager_waits_for_nothing() -> None:
    found = decided(
        node("FAST", 2000.0, 60000.0, 0.0, hardware=FAST, lock_manager_mode=0.0),
        node("SLOW", 1000.0, 0.0, 60000.0, hardware=SLOW, own=True),
    )
    assert found.kind is Kind.STAYS
    assert "belongs on FAST and on no other node: there, where MP synch" in found.lock_manager


@pytest.mark.parametrize("machine", [{"hardware": "VMware, Inc. VMware7,1"}, {"version": "V9.2-2"}])
def test_of_an_x86_64_machine_nothing_is_said_of_a_cpu_for_the_lock_manager(machine: dict[str, str]) -> None:
    members = [
        node("FAST", 2000.0, 0.0, 60000.0, lock_manager_mode=0.0, **machine),
        node("SLOW", 1000.0, 60000.0, 0.0, hardware=SLOW, own=True, dedicated=True, lock_manager_mode=6.0),
    ]
    times = [
        lock("FAST", "FAST", 2.0),
        lock("SLOW", "SLOW", 4.0),
        lock("FAST", "SLOW", 50.0),
        lock("SLOW", "FAST", 50.0),
    ]
    found = decided(*members, *times)
    assert (found.kind, found.home) == (Kind.MOVES, "FAST")
    assert "documented for Alpha and Integrity alone: of FAST nothing is said of it" in found.lock_manager
    assert [one.key for one in found.lock_manager_changes] == ["openvms.sysgen:SLOW:LCKMGR_MODE"]


def test_a_cpu_that_the_new_master_may_need_is_not_taken_from_it_meanwhile() -> None:
    idle = DedicatedLockManager(
        source=Source("FAST.csv", 5, 500), statistic="mean", busy_percent=1.0, requests_per_second=90.0
    )
    members = three()
    alone = audit(capture_of(members[:1], "FAST", idle))
    rule = "openvms/lock_manager_idle"
    told = next(one for one in alone.verdicts if one.rule == rule)
    together = audited(members, FAST=[idle])[0]
    settled = next(one for one in together.verdicts if one.rule == rule)
    assert told.verdict == settled.verdict
    for one in settled.findings:
        assert not one.changes
        assert one.do.startswith("Not now: the cluster's plan makes FAST the master")


def test_the_story_has_one_plan_and_no_node_contradicts_it() -> None:
    """Judged alone LEWIS would take a CPU for its lock manager; the cluster makes HARRIS the master instead."""
    audits = audits_of(HERE / "three_nodes_one_decision")
    (cluster,) = clusters_of(audits)
    assert (cluster.decision.master, cluster.decision.target) == ("LEWIS", "HARRIS")
    lewis = next(one for one in audits if one.capture.system.name == "LEWIS")
    alone = audit(lewis.capture)
    assert any(key.endswith(":LCKMGR_MODE") for step in alone.plan.steps if step.runs for key in step.change_keys)
    for one in audits:
        running = [key for step in one.plan.steps if step.runs for key in step.change_keys]
        assert not [key for key in running if "LCKMGR" in key]
    assert [(step.node, step.when) for step in cluster.plan.steps] == [
        ("HARRIS", "reboot"),
        ("UIST", "reboot"),
        ("HARRIS", "investigate"),
    ]
    said = [one.finding for one in cluster.summary.do if not one.step]
    assert not said, "no finding that points to this plan is told beside it, and no note"
    for step in cluster.plan.steps[:2]:
        assert step.apply.count("one node at a time") == 1
        assert step.apply.splitlines()[0] == f"$! ===== FOR NODE {step.node}: log in on {step.node} first ====="


def test_the_old_master_is_booted_last() -> None:
    """So its trees go to the new one when it leaves, and not to a third."""
    audits = audits_of(HERE / "three_nodes_one_decision")
    places = {one.capture.system.name: at for at, one in enumerate(audits)}
    (grown,) = [r.finding.changes[0] for r in audits[places["UIST"]].findings if r.finding.changes]
    lewis = audits[places["LEWIS"]]
    first = lewis.findings[0]
    slow = replace(first, finding=replace(first.finding, changes=(*first.finding.changes, replace(grown, node=""))))
    audits[places["LEWIS"]] = replace(lewis, findings=(slow, *lewis.findings[1:]))
    (cluster,) = clusters_of(audits)
    assert [step.node for step in cluster.plan.steps if step.when == "reboot"] == ["HARRIS", "UIST", "LEWIS"]


@pytest.mark.parametrize("machine", [FAST, None], ids=["one machine", "machines not known"])
def test_twice_the_nodes_take_twice_the_work(machine: str | None) -> None:
    def large(many: int) -> list[ClusterMember]:
        others = [node(f"N{at:03}", 100.0, 0.0, 200.0, hardware=machine) for at in range(many)]
        return [node("MASTER", 100.0, 200.0 * many, 0.0, hardware=SLOW if machine else None, own=True), *others]

    few, many = (calls_of(partial(decide, Facts(tuple(large(of))))) for of in (50, 100))
    assert many < 2.5 * few


def test_the_audits_of_twice_the_nodes_take_four_times_the_work_for_four_times_the_facts() -> None:
    """Every capture tells of every node: looking at each pair, and at all nodes for each, would take eight times."""

    def large(many: int) -> list[Audit]:
        others = [node(f"N{at:03}", 100.0, 0.0, 200.0, hardware=FAST) for at in range(many)]
        members = [node("MASTER", 100.0, 200.0 * many, 0.0, hardware=SLOW), *others]
        return [audit(capture_of(members, one.name)) for one in members]

    few, many = (calls_of(partial(linked_across, large(of))) for of in (15, 30))
    assert many < 5 * few
