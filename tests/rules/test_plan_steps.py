"""Changes that take effect alike but are to be measured one by one are steps of their own."""

from dataclasses import replace

from rules.finding import Change, Effect
from rules.plan import make_plan


def change(key: str, *after: str, effect: Effect = Effect.ONLINE) -> Change:
    return Change(key, key, 0, 1, (f"do {key}",), (f"undo {key}",), effect, after=after)


def steps(*changes: Change) -> list[tuple[str, ...]]:
    return [step.change_keys for step in make_plan(changes).steps]


def test_what_comes_after_another_is_a_later_step() -> None:
    assert steps(change("stop", "mode"), change("cpuid"), change("mode")) == [("cpuid", "mode"), ("stop",)]
    assert steps(change("third", "second"), change("second", "first"), change("first")) == [
        ("first",),
        ("second",),
        ("third",),
    ]


def test_what_comes_after_something_that_is_not_in_the_plan_waits_for_nothing() -> None:
    assert steps(change("stop", "mode")) == [("stop",)]


def test_an_order_over_effects_is_that_of_the_effects() -> None:
    assert steps(change("now", "boot"), change("boot", effect=Effect.REBOOT)) == [("now",), ("boot",)]


def test_a_circle_is_one_step() -> None:
    assert steps(change("one", "two"), change("two", "one")) == [("one", "two")]


def test_the_same_change_asked_for_twice_keeps_what_it_comes_after() -> None:
    assert steps(change("stop"), change("stop", "mode"), change("mode")) == [("mode",), ("stop",)]


def test_what_has_nothing_to_run_comes_last() -> None:
    template = change("template", effect=Effect.ADVICE)
    assert steps(template, change("ratio", effect=Effect.RESTART)) == [("ratio",), ("template",)]


def test_a_step_by_hand_comes_after_what_it_needs() -> None:
    hand = replace(change("bind", effect=Effect.ADVICE), needs=("create",))
    assert steps(hand, change("create")) == [("create",), ("bind",)]


def test_a_step_by_hand_comes_before_what_needs_it() -> None:
    hand = replace(change("bind", effect=Effect.ADVICE), needs=("create",))
    assert steps(hand, change("create"), replace(change("watch"), needs=("bind",)), change("other")) == [
        ("create", "other"),
        ("bind",),
        ("watch",),
    ]
