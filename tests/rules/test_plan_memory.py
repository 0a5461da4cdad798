"""The plan never spends more memory than is free."""

from dataclasses import replace

from collectors.facts import Capture, Facts, Interval, System
from collectors.facts.ase import ConfigParameter, MemoryHeadroom, ResourceUsage
from rules.audit import Audit, audit
from rules.changes.ase_binding import bind
from rules.changes.ase_cache import cache_key, create_cache
from rules.finding import Change, Effect
from rules.plan import make_plan

FIRST, SECOND = create_cache("one", 100, overhead_mb=7), create_cache("two", 100, overhead_mb=7)


def test_changes_that_fit_together_are_all_made() -> None:
    plan = make_plan([FIRST, SECOND], 214.0)
    assert not plan.conflicts
    assert plan.steps[0].change_keys == (FIRST.key, SECOND.key)


def test_what_no_longer_fits_is_left_out_and_told_with_the_figures() -> None:
    plan = make_plan([FIRST, SECOND], 213.0)
    (conflict,) = plan.conflicts
    assert plan.steps[0].change_keys == (FIRST.key,)
    assert conflict.change_keys == (SECOND.key,)
    assert "takes 107.0 MB, and 106.0 of 213.0 MB are left" in conflict.why


def test_a_smaller_change_after_one_that_does_not_fit_may_still_fit() -> None:
    small = create_cache("small", 10)
    assert make_plan([FIRST, SECOND, small], 120.0).steps[0].change_keys == (FIRST.key, small.key)


def test_a_binding_leaves_with_its_cache() -> None:
    bound = bind("two", "sales", "dbo", "orders", needs=(cache_key("two", "create"),))
    plan = make_plan([FIRST, SECOND, bound], 110.0)
    assert plan.steps[0].change_keys == (FIRST.key,)
    assert [conflict.change_keys[0] for conflict in plan.conflicts] == [SECOND.key, bound.key]


def test_memory_that_is_not_known_is_not_checked() -> None:
    assert len(make_plan([FIRST, SECOND]).steps[0].change_keys) == 2


def test_a_static_change_takes_memory_too_since_sp_configure_refuses_what_max_memory_does_not_hold() -> None:
    later = replace(SECOND, takes_effect=Effect.RESTART)
    (conflict,) = make_plan([FIRST, later], 110.0).conflicts
    assert conflict.change_keys == (SECOND.key,)
    assert not make_plan([FIRST, later], 214.0).conflicts
    assert not make_plan([FIRST, replace(SECOND, takes_effect=Effect.REBOOT)], 110.0).conflicts


ROOM = Change("room", "room", 500.0, 300.0, ("a",), ("b",), Effect.RESTART, memory_mb=-200.0)


def test_what_a_change_gives_back_is_there_for_those_that_need_it_in_a_step_after_it() -> None:
    carved = replace(FIRST, needs=(ROOM.key,))
    bound = bind("one", "sales", "dbo", "orders", needs=(FIRST.key,))
    plan = make_plan([carved, bound, ROOM], 10.0)
    assert not plan.conflicts
    assert [step.takes_effect for step in plan.steps] == [Effect.RESTART, Effect.ONLINE]
    assert plan.steps[1].change_keys == (FIRST.key, bound.key)


def test_what_needs_no_restart_comes_before_it_as_ever() -> None:
    carved = replace(FIRST, needs=(ROOM.key,))
    plan = make_plan([carved, ROOM, create_cache("small", 5)], 10.0)
    assert [step.takes_effect for step in plan.steps] == [Effect.ONLINE, Effect.RESTART, Effect.ONLINE]
    assert plan.steps[0].change_keys == (cache_key("small", "create"),)


def test_what_is_given_back_is_no_ones_else_and_spent_once() -> None:
    carved = [replace(one, needs=(ROOM.key,)) for one in (FIRST, SECOND)]
    (conflict,) = make_plan([*carved, ROOM], 13.0).conflicts
    assert conflict.change_keys == (SECOND.key,)
    assert "takes 107.0 MB, and 106.0 of 213.0 MB are left" in conflict.why
    assert not make_plan([*carved, ROOM], 14.0).conflicts
    (other,) = make_plan([carved[0], SECOND, ROOM], 100.0).conflicts
    assert other.change_keys == (SECOND.key,)


def test_room_is_not_made_for_what_is_left_out() -> None:
    large = replace(create_cache("large", 900), needs=(ROOM.key,))
    plan = make_plan([large, ROOM], 10.0)
    assert not plan.steps
    assert [conflict.change_keys[0] for conflict in plan.conflicts] == [large.key, ROOM.key]
    assert "only makes room" in plan.conflicts[1].why


def test_memory_given_back_for_its_own_sake_stays() -> None:
    assert make_plan([ROOM], 10.0).steps[0].change_keys == (ROOM.key,)


def test_changes_that_need_each_other_end() -> None:
    one, two = replace(ROOM, needs=("two",)), replace(ROOM, key="two", needs=("room",), takes_effect=Effect.ONLINE)
    assert len(make_plan([one, two]).steps) == 2


def run_out(free_kb: float) -> Audit:
    """All locks and all connections in use: 60 MB for as many locks again, 25 MB for a quarter more connections."""
    facts = (
        ResourceUsage(name="number of locks", free=0.0, active=400_000.0, max_used=400_000.0),
        ConfigParameter(
            name="number of locks", config_value=4e5, run_value=4e5, memory_used_kb=61_440.0, kind="dynamic"
        ),
        ResourceUsage(name="number of user connection", free=0.0, active=1000.0, max_used=1000.0),
        ConfigParameter(
            name="number of user connections", config_value=1e3, run_value=1e3, memory_used_kb=102_400.0, kind="dynamic"
        ),
        MemoryHeadroom(available_kb=free_kb),
    )
    return audit(Capture(System("PORT", "ase"), Interval(), Facts(facts)))


def test_two_resources_that_ran_out_are_raised_only_as_far_as_the_free_memory_takes_both() -> None:
    both = {"ase.config:number of locks", "ase.config:number of user connections"}
    for free_mb, planned in ((85, both), (70, {"ase.config:number of locks"})):
        said = run_out(free_mb * 1024.0)
        listed = {change.key for ranked in said.findings for change in ranked.finding.changes}
        assert listed == {key for step in said.plan.steps for key in step.change_keys} == planned
    (left,) = (one.finding.says for one in said.findings if one.finding.subject == "user connections")
    assert "takes 25.0 MB, and 10.0 of 70.0 MB are left: raise max memory by 15.0 MB first" in left
