"""The plan never spends more memory than is free."""

from dataclasses import replace

from rules.changes.ase_binding import bind
from rules.changes.ase_cache import cache_key, create_cache
from rules.finding import Effect
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
