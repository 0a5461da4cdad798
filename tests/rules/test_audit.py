"""Findings in order, causes before symptoms, changes as one plan."""

from dataclasses import replace
from typing import Any

from rules.ase.host_takes_processor import SYMPTOMS
from rules.audit import HOST, as_loud_as_explained, as_planned, host_first
from rules.changes.ase_config import configure
from rules.engine import rules
from rules.finding import Change, Cost, Effect, Finding, Severity
from rules.plan import make_plan
from rules.ranking import Ranked, linked


def found(rule: str, severity: Severity, cost: float | None = None, explains: tuple[str, ...] = ()) -> Ranked:
    money = Cost(cost, cost, cost) if cost is not None else None
    return Ranked(rule, Finding("S", severity, rule, "", (), cost=money, explains=explains))


def order(*ranked: Ranked) -> list[str]:
    return [one.rule for one in linked(list(ranked))]


def test_the_dearest_comes_first_then_the_loudest() -> None:
    a, b, c = found("a", Severity.NOTE, 2.0), found("b", Severity.CRITICAL), found("c", Severity.WARNING, 0.5)
    assert order(b, c, a) == ["a", "c", "b"]


def spun(rule: str, severity: Severity, spins: float | None, share: float | None, cost: float | None = None) -> Ranked:
    one = found(rule, severity, cost)
    return replace(one, finding=replace(one.finding, weight=spins, share=share))


def test_spinlocks_stand_by_spins_and_by_their_share_only_without_spins() -> None:
    many, few = spun("many", Severity.WARNING, 9e7, 2.0), spun("few", Severity.WARNING, 200.0, 40.0)
    high, low = spun("a_low", Severity.WARNING, None, 12.0), spun("z_high", Severity.WARNING, None, 30.0)
    assert order(few, high, low, many) == ["many", "few", "z_high", "a_low"]


def test_cost_and_severity_come_before_spins() -> None:
    loud, dear = spun("loud", Severity.CRITICAL, 1.0, None), found("dear", Severity.NOTE, 0.1)
    assert order(spun("many", Severity.WARNING, 9e9, None), loud, dear) == ["dear", "loud", "many"]


def test_a_symptom_comes_after_what_explains_it_however_dear() -> None:
    symptom = found("symptom", Severity.CRITICAL, 4.0)
    root = found("root", Severity.WARNING, None, explains=("symptom",))
    ranked = linked([symptom, root])
    assert [one.rule for one in ranked] == ["root", "symptom"]
    assert ranked[0].explains == ("symptom:S",)


def test_a_note_is_the_cause_of_another_note_and_of_nothing_graver() -> None:
    note = found("root", Severity.NOTE, None, explains=("symptom",))
    grave, slight = found("symptom", Severity.WARNING, 4.0), found("symptom", Severity.NOTE)
    assert [(one.rule, one.explains) for one in linked([grave, note])] == [("symptom", ()), ("root", ())]
    assert [(one.rule, one.explains) for one in linked([slight, note])] == [("root", ("symptom:S",)), ("symptom", ())]


def test_a_root_cause_is_as_loud_as_what_it_explains_and_what_lies_between_is_not() -> None:
    root = found("rdb/root", Severity.ADVICE, explains=("rdb/between",))
    root = replace(root, finding=replace(root.finding, subject="S on ORKNEY"))
    between = found("rdb/between", Severity.ADVICE, explains=("rdb/symptom",))
    ranked = as_loud_as_explained(linked([found("rdb/symptom", Severity.CRITICAL), between, root]))
    assert [(one.rule, one.finding.severity.name) for one in ranked] == [
        ("rdb/root", "WARNING"),
        ("rdb/between", "ADVICE"),
        ("rdb/symptom", "CRITICAL"),
    ]

    def root_of(product: str) -> Severity:
        cause = found(f"{product}/root", Severity.ADVICE, explains=(f"{product}/symptom",))
        return as_loud_as_explained(linked([cause, found(f"{product}/symptom", Severity.WARNING)]))[0].finding.severity

    assert root_of("ase") is Severity.WARNING
    assert root_of("openvms") is Severity.WARNING
    assert root_of("zvm") is Severity.ADVICE


def test_an_explanation_of_a_rule_that_did_not_fire_is_left_out() -> None:
    assert linked([found("root", Severity.WARNING, explains=("silent",))])[0].explains == ()


def test_an_explanation_of_one_object_leaves_the_others_of_that_rule_alone() -> None:
    lock, memory = (
        replace(one, finding=replace(one.finding, subject=f"SKYE spinlock {name}"))
        for one, name in ((found("hot", Severity.WARNING, 3.0), "LCKMGR"), (found("hot", Severity.WARNING, 2.0), "MMG"))
    )
    root = found("root", Severity.ADVICE, None, explains=("hot:LCKMGR",))
    ranked = linked([lock, memory, root])
    assert [one.key for one in ranked] == ["root:S", "hot:SKYE spinlock LCKMGR", "hot:SKYE spinlock MMG"]
    assert ranked[0].explains == ("hot:SKYE spinlock LCKMGR",)


def test_a_cause_within_a_database_explains_nothing_of_another_one() -> None:
    def of(rule: str, database: str, *explains: str) -> Ranked:
        one = found(rule, Severity.ADVICE, explains=explains)
        return replace(one, finding=replace(one.finding, subject=database))

    own, other, freeze = "DISK$A:[DB]PAYROLL", "DISK$A:[DB]STOCK", "DISK$A:[DB]PAYROLL freeze"
    waits = [of("rdb/lock_stalls_long", subject) for subject in (own, other, freeze, "[DB]PAYROLL")]
    for rule in ("blocking_asts_high", "deadlocks_hidden", "root_file_locks_hot", "snapshots_block_readers"):
        root = of(f"rdb/{rule}", own, "rdb/lock_stalls_long")
        (cause,) = (one for one in linked([*waits, root]) if one.explains)
        assert cause.explains == (f"rdb/lock_stalls_long:{own}",)
    assert not any(one.explains for one in linked([*waits[1:], of("rdb/root", own, "rdb/lock_stalls_long")]))
    many = of("rdb/database_open_on_many_nodes", own, "openvms/locks_mastered_remotely")
    (cause, _) = linked([many, of("openvms/locks_mastered_remotely", "SKYE")])
    assert cause.explains == ("openvms/locks_mastered_remotely:SKYE",), "a node's finding is of no database"


def test_a_circle_of_explanations_still_ends() -> None:
    a = found("a", Severity.WARNING, 1.0, explains=("b",))
    b = found("b", Severity.WARNING, 2.0, explains=("a",))
    assert sorted(order(a, b)) == ["a", "b"]


def test_one_restart_takes_all_static_changes() -> None:
    plan = make_plan(
        [
            configure("lock address spinlock ratio", 100, 5),
            configure("number of open objects", 500, 900),
            configure("lock table spinlock ratio", 20, 10),
        ]
    )
    assert [(step.takes_effect, len(step.change_keys)) for step in plan.steps] == [
        (Effect.ONLINE, 1),
        (Effect.RESTART, 2),
    ]
    assert 'sp_configure "lock address spinlock ratio", 5' in plan.steps[1].apply
    undo = plan.steps[1].undo
    assert undo.index("lock table") < undo.index("lock address"), "undone in the opposite order"


def test_the_same_change_asked_for_twice_is_made_once() -> None:
    change = configure("number of open objects", 500, 900)
    plan = make_plan([change, change])
    assert plan.steps[0].change_keys == (change.key,)
    assert not plan.conflicts


def test_a_change_asked_for_twice_keeps_the_cautions_of_both_and_is_outlined_where_one_only_outlines_it() -> None:
    run = Change("k", "X", 1, 2, ("$ SET X",), ("$ SET Y",), Effect.OFFLINE, cautions=("A.", "B."), needs=("n",))
    outline = replace(run, apply=("$! X",), takes_effect=Effect.ADVICE, cautions=("B.", "C."), needs=())
    needed = Change("n", "N", 1, 2, ("$ SET N",), ("$ SET M",), Effect.ONLINE)
    for asked in ((run, outline), (outline, run)):
        first, second = make_plan([needed, *asked]).steps
        assert (second.takes_effect, second.change_keys) == (Effect.ADVICE, ("k",))
        assert "$ SET X" not in first.apply + second.apply
        assert [f"caution: {letter}." in second.apply for letter in "ABC"] == [True] * 3
    (only,) = make_plan([run, replace(run, cautions=("C.",), needs=())]).conflicts
    assert only.change_keys == ("k", "n")


def test_two_values_for_one_setting_are_a_conflict_and_neither_is_scripted() -> None:
    plan = make_plan([configure("number of open objects", 500, 900), configure("number of open objects", 500, 1200)])
    assert not plan.steps
    assert "900 and 1,200" in plan.conflicts[0].why


def test_a_conflict_says_why_each_value_is_asked_for() -> None:
    asked = [configure("number of open objects", 500, 900), configure("number of open objects", 500, 1200)]
    reasons = {(one.key, one.new): f"reason of {one.new:g}" for one in asked}
    assert make_plan(asked, reasons=reasons).conflicts[0].why == (
        "number of open objects: asked to become 900 (reason of 900) and 1,200 (reason of 1200)"
    )


def test_online_comes_first_and_what_has_nothing_to_run_last() -> None:
    def change(effect: Effect) -> Change:
        return Change(effect.value, "t", 1, 2, ("a",), ("u",), effect)

    plan = make_plan([change(effect) for effect in (Effect.ADVICE, Effect.REBOOT, Effect.RESTART, Effect.ONLINE)])
    assert [step.takes_effect.value for step in plan.steps] == ["online", "restart", "reboot", "advice"]


def test_a_script_carries_its_cautions_as_comments() -> None:
    change = Change(
        "ase.config:x", "x", 1, 2, ("go",), ("go",), Effect.ONLINE, cautions=("Only at night.\ndrop table y",)
    )
    assert make_plan([change]).steps[0].apply == "-- caution: Only at night.?drop table y\ngo"
    assert make_plan([replace(change, key="openvms.x:y")]).steps[0].apply.startswith("$! caution: Only")


def plain(key: str, new: int = 2, **more: Any) -> Change:
    return Change(key, key, 1, new, (f"do {key}",), (f"undo {key}",), Effect.REBOOT, **more)


def test_what_a_batch_shares_stands_in_it_once() -> None:
    shared: dict[str, Any] = {"opening": ("keep",), "closing": ("autogen",), "undo_closing": ("reboot",)}
    (step,) = make_plan([plain("a", **shared), plain("b", **shared)]).steps
    assert step.apply.split("\n") == ["keep", "do a", "do b", "autogen"]
    assert step.undo.split("\n") == ["undo b", "undo a", "reboot"]
    assert plain("a", **shared).script == ("keep", "do a", "autogen")


def test_a_change_leaves_the_plan_with_the_one_it_needs() -> None:
    plan = make_plan(
        [plain("mode", 0), plain("mode", 7), plain("stop", needs=("mode",)), plain("after", needs=("stop",))]
    )
    assert not plan.steps
    assert [conflict.change_keys[0] for conflict in plan.conflicts] == ["mode", "stop", "after"]


def test_a_change_yields_to_another_that_makes_it_pointless() -> None:
    plan = make_plan([plain("restart for x", yields_to=("x",)), plain("x")])
    assert [step.change_keys for step in plan.steps] == [("x",)]
    assert make_plan([plain("restart for x", yields_to=("x",))]).steps


def test_a_change_comes_before_those_it_names_whatever_they_ask_for() -> None:
    """A table is converted before the restart for the ratio; what is not in the plan holds up nothing."""
    table = replace(plain("table", before=("ratio", "not there")), takes_effect=Effect.OFFLINE)
    plan = make_plan([plain("ratio"), table, plain("another")])
    assert [step.change_keys for step in plan.steps] == [("another",), ("table",), ("ratio",)]


def test_a_change_does_not_yield_to_one_that_is_left_out() -> None:
    """Bindings that no memory is left for do not spare the restart."""
    bind, large = plain("bind", needs=("create",)), replace(plain("create", memory_mb=9), takes_effect=Effect.ONLINE)
    cut = plain("cut", yields_to=("bind",))
    assert [step.change_keys for step in make_plan([cut, large, bind], 8).steps] == [("cut",)]
    assert [step.change_keys for step in make_plan([cut, large, bind], 10).steps] == [("create",), ("bind",)]


def test_a_finding_lists_no_change_that_the_plan_leaves_out() -> None:
    """The table waits for the ratio, and what no memory is left for for nothing: both findings say so."""
    table = plain("table", yields_to=("ratio",))
    large = replace(plain("cache", memory_mb=9), takes_effect=Effect.ONLINE)
    asked = {"ratio": (plain("ratio"),), "tables": (table,), "cache": (large, plain("other"))}
    ranked = [
        replace(one, finding=replace(one.finding, seen="It waits.", changes=asked[one.rule]))
        for one in (found(rule, Severity.WARNING) for rule in asked)
    ]
    plan = make_plan([change for changes in asked.values() for change in changes], 8)
    after = {one.rule: one.finding for one in as_planned(ranked, plan)}
    listed = {change.key for finding in after.values() for change in finding.changes}
    assert listed == {key for step in plan.steps for key in step.change_keys} == {"ratio", "other"}
    assert after["ratio"].says == "It waits."
    assert after["tables"].seen == "It waits."
    assert after["tables"].do == "Not now: table: first ratio, then measure."
    assert "takes 9.0 MB" in after["cache"].do


def test_what_the_plan_only_outlines_no_finding_offers_as_a_script() -> None:
    """One rule closes the database for a setting, another waits with the same one for a person's decision."""
    script = replace(plain("nodes"), takes_effect=Effect.OFFLINE, apply=("run it",), cautions=("failover",))
    waits = replace(plain("nodes"), takes_effect=Effect.ADVICE, apply=("-- decide first",))
    ranked = [
        replace(one, finding=replace(one.finding, changes=(change,)))
        for one, change in ((found("a", Severity.ADVICE), script), (found("b", Severity.ADVICE), waits))
    ]
    first, second = (one.finding.changes[0] for one in as_planned(ranked, make_plan([script, waits])))
    assert first.takes_effect is second.takes_effect is Effect.ADVICE
    assert first.apply == second.apply == ("-- decide first",)
    assert first.cautions == ("failover",)
    assert as_planned(ranked[:1], make_plan([script]))[0].finding.changes == (script,)


def test_two_values_for_one_setting_stay_in_their_findings_for_a_person_to_choose() -> None:
    one = replace(found("a", Severity.NOTE), finding=replace(found("a", Severity.NOTE).finding, changes=(plain("x"),)))
    plan = make_plan([plain("x"), replace(plain("x"), new=9)])
    assert not plan.steps
    assert as_planned([one], plan) == [one]


def starved(host: Severity) -> dict[str, Finding]:
    """Two spinlocks with a ratio each, a table that only serves one of them, and locks that run out; by rule."""
    symptom = "ase/lock_hash_spinlock_contended"
    serves = found("ase/lock_hash_chains_long", Severity.ADVICE, explains=(symptom,))
    given = [
        (found(HOST, host, 3.0, explains=SYMPTOMS), ()),
        (found(symptom, Severity.WARNING), (configure("lock spinlock ratio", 85, 20),)),
        (
            found("ase/index_hash_spinlock_contended", Severity.ADVICE),
            (configure("open index hash spinlock ratio", 9, 5),),
        ),
        (serves, (configure("lock hashtable size", 2048, 8192),)),
        (found("ase/resource_used_up", Severity.WARNING), (configure("number of locks", 5000, 9000),)),
    ]
    told = [replace(one, finding=replace(one.finding, seen="It is so.", changes=changes)) for one, changes in given]
    return {one.rule: one.finding for one in host_first(linked(told))}


def test_while_the_host_withholds_processors_no_spinlock_is_tuned() -> None:
    after = starved(Severity.WARNING)
    changing = {rule for rule, finding in after.items() if finding.changes}
    assert changing == {"ase/resource_used_up"}
    assert after["ase/lock_hash_spinlock_contended"].do.startswith("Not yet: the host gives the engines less")
    held = after["ase/lock_hash_chains_long"]
    assert held.do.endswith("until then no script is given for it."), "no word on what would be done"
    assert after["ase/resource_used_up"].says == "It is so."


def test_a_note_on_the_host_holds_nothing_back() -> None:
    assert sum(bool(finding.changes) for finding in starved(Severity.NOTE).values()) == 4


def test_every_symptom_of_a_starved_host_is_a_rule() -> None:
    ids = {one.id for one in rules()}
    assert set(SYMPTOMS) <= ids
    assert {one for one in ids if one.startswith("ase/") and one.endswith("_spinlock_contended")} <= set(SYMPTOMS)
