"""Changes that take effect alike but are to be measured one by one are steps of their own."""

from dataclasses import replace

from rules.audit import elsewhere
from rules.changes.openvms_sysgen import set_parameter
from rules.finding import Change, Effect, Finding, Severity
from rules.plan import make_plan
from rules.ranking import Ranked


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


def test_a_step_is_for_one_node() -> None:
    """Weights of two nodes take effect at a reboot each: the script of one is not pasted on the other."""
    raised = set_parameter("LOCKDIRWT", 0, 4, dynamic=False, node="TYREE")
    lowered = set_parameter("LOCKDIRWT", 5, 2, dynamic=False, node="SANDAY")
    plan = make_plan([raised, lowered])
    assert [step.node for step in plan.steps] == ["TYREE", "SANDAY"]
    assert [step.apply.count("WRITE SYS$SYSTEM:LOCKWRIGHT_BEFORE.PAR") for step in plan.steps] == [1, 1]


def test_what_is_for_another_node_says_so_first() -> None:
    """Before any line that runs, and in the change line; what is for the own node stays as it was."""
    changes = tuple(set_parameter("LOCKDIRWT", 0, 4, dynamic=False, node=node) for node in ("TYREE", "SANDAY"))
    found = Finding("SANDAY", Severity.ADVICE, "", "", (), changes=changes)
    (told,) = elsewhere([Ranked("openvms/lock_master_on_slow_node", found)], "sanday")
    there, here = told.finding.changes
    assert there.target == "LOCKDIRWT on TYREE"
    assert here.target == "LOCKDIRWT"
    assert "FOR NODE TYREE, NOT FOR sanday" in there.script[0]
    assert "FOR NODE TYREE" in there.way_back[0]
    assert here.script == changes[1].script
    assert here.way_back == changes[1].way_back


def test_what_needs_a_restart_first_is_not_made_now() -> None:
    """A cache in the memory that a restart frees: its script runs at once, but after that restart."""
    shrink = change("shrink", effect=Effect.RESTART)
    plan = make_plan([replace(change("create"), needs=("shrink",)), shrink, change("other")])
    assert [(one.change_keys, one.when, one.after) for one in plan.steps] == [
        (("other",), "now", None),
        (("shrink",), "restart", None),
        (("create",), "restart", 2),
    ]


def test_what_is_done_right_after_a_restart_asks_for_none_of_its_own() -> None:
    """A binding of tempdb stands behind what the same restart brings, also where its cache waits for that restart."""
    bound = replace(change("bind", effect=Effect.RESTART), apply=(), closing=("bound",), needs=("create",))
    static = change("static", effect=Effect.RESTART)
    (made, restart) = make_plan([bound, static, change("create")]).steps
    assert (made.change_keys, restart.change_keys) == (("create",), ("static", "bind"))
    assert restart.apply.splitlines()[-1] == "bound"
    later = make_plan([bound, static, replace(change("create"), needs=("static",))])
    assert [(one.change_keys, one.when, one.after) for one in later.steps] == [
        (("static",), "restart", None),
        (("create",), "restart", 1),
        (("bind",), "restart", 2),
    ]


def test_what_a_critical_finding_asks_for_comes_before_what_could_be_done_at_once() -> None:
    def change(key: str, effect: Effect, *needs: str) -> Change:
        return Change(key, key, 1, 2, ("x",), ("y",), effect, needs=needs)

    minor, ratio = change("minor", Effect.ONLINE), change("ratio", Effect.RESTART)
    room, bound = change("room", Effect.ONLINE), change("bound", Effect.RESTART, "room")

    def keys(*changes: Change, graver: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
        return [step.change_keys for step in make_plan(changes, graver=graver).steps]

    assert keys(minor, ratio) == [("minor",), ("ratio",)]
    assert keys(minor, ratio, graver=("ratio",)) == [("ratio",), ("minor",)]
    assert keys(room, bound, graver=("bound",)) == [("room",), ("bound",)]
