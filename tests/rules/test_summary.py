"""The summary: what a DBA reads first says nothing that the account, the findings and the plan do not."""

import re
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from advisor.audits.report.data import audit_data, no_all_clear
from advisor.audits.report.render import render
from advisor.audits.services.excerpts import add_excerpts
from collectors.facts import NOWHERE, Facts
from collectors.facts.ase import MonSpinlockActivity, Snapshot, SysmonSample
from rules.account import MEAN, PROCESSORS, WAITING_TASKS, Account, Amount, Loss, Open
from rules.changes.openvms_sysgen import advise_parameter, set_parameter
from rules.changes.rdb_database import Place, alter
from rules.engine import judge_one, rules_of
from rules.finding import Effect, Finding, MissingInput, Severity, Verdict, capitalized, enumerated, within
from rules.plan import Plan, make_plan
from rules.ranking import Ranked
from rules.resets import (
    AGAIN,
    CLEARED,
    ONE_ALONE,
    RESET,
    RESTARTED,
    SAMPLE_WRAPPED,
    SHORTER,
    WRAPPED,
    one_alone,
)
from rules.summary import MOST_COLLECT, MOST_DO, summarized, way_back
from tests.stories import HERE, STORIES, audits_of, inputs_of

LONGEST_TEXT = 120
"""Lines of the text of one story, as the step asks."""
OF_EACH_NODE = 11
"""More for each node of a cluster whose lock trees are to move: it stands in the table of today and
afterwards, and in that of the choices."""


def verdict_of(story: str) -> str:
    return audits_of(HERE / story)[0].summary.verdict


@pytest.mark.parametrize("story", STORIES, ids=[story.name for story in STORIES])
def test_what_is_to_be_done_stands_in_the_plan_in_its_order(story: Path) -> None:
    for audit in audits_of(story):
        made = [one.step for one in audit.summary.do if one.step is not None and one.when != "investigate"]
        assert made == sorted(made)
        assert len(audit.summary.do) <= MOST_DO
        assert len(audit.summary.collect) <= MOST_COLLECT
        keys = {one.key for one in audit.findings}
        targets = {change.target for one in audit.findings for change in one.finding.changes}
        for one in audit.summary.do:
            assert one.finding in keys
            if one.step is None:
                assert one.title == next(found.finding.do for found in audit.findings if found.key == one.finding)
            else:
                assert audit.plan.steps[one.step - 1].when == one.when
                assert one.target in targets
        assert audit.summary.verdict.endswith(".")
        assert "\n" not in audit.summary.verdict


@pytest.mark.parametrize("story", STORIES, ids=[story.name for story in STORIES])
def test_the_text_of_an_audit_is_short(story: Path) -> None:
    data = audit_data(inputs_of(story), audits_of(story))
    add_excerpts(data)
    moving = [one for one in data["clusters"] if one["placement"] and one["placement"]["decided"] == "moves"]
    longest = LONGEST_TEXT + OF_EACH_NODE * sum(len(one["captures"]) for one in moving)
    assert len(render("audit", data, "txt").splitlines()) <= longest
    assert len(render("audit_full", data, "txt").splitlines()) > len(data["captures"])


@pytest.mark.parametrize("form", ["txt", "html"])
def test_nodes_of_a_cluster_open_with_what_they_lose_together_and_collect_once(form: str) -> None:
    text = render("audit", audit_data([], audits_of(HERE / "emulator_masters_the_trees")), form)
    together = text.index("Cluster of BARRA, ORKNEY, SKYE")
    assert together < text.index("BARRA: OpenVMS" if form == "txt" else 'data-running="BARRA"')
    assert "Where 9 CPUs go" in text[together:]
    if form == "txt":
        assert text.count("What to collect next") == 1


def test_a_loss_opens_with_what_is_to_be_fixed_first() -> None:
    said = verdict_of("lock_bound_node")
    assert said.startswith(
        "3.75 of 12 CPUs (31 %) are lost in MP synchronization (spinlock wait); first to fix: 22.7 res"
    )


def test_a_symptom_is_not_told_as_the_cause_of_itself() -> None:
    assert verdict_of("rdb_screens_of_another_hour") == (
        "2.64 of 8 CPUs (33 %) are lost in MP synchronization (spinlock wait)."
    )


def test_a_loss_of_which_only_a_range_is_known_is_told_with_both_ends() -> None:
    """No source says whether the page's per cent is of one processor or the mean of ten."""
    assert verdict_of("spinning_for_timers").startswith(
        "0.2 to 2 of 10 CPUs (2 to 20 %) are lost in spinning for SRMSLOCK"
    )


def test_figures_of_before_the_last_start_change_nothing_and_say_so_first() -> None:
    (audit,) = audits_of(HERE / "address_lock_storm_before_restart")
    assert audit.summary.verdict.startswith("Change nothing: the figures are of before the last start")
    assert not audit.summary.do


def test_what_no_setting_mends_is_to_be_done_all_the_same() -> None:
    (audit,) = audits_of(HERE / "row_held_by_a_client_that_thinks")
    assert not audit.plan.steps
    asked = [one.finding for one in audit.summary.do]
    assert asked == ["ase/blocked_chain:BIRCH4", "ase/lock_waits_high:BIRCH4"]
    assert "SPID 118" in audit.summary.verdict


def test_a_step_of_some_risk_says_which() -> None:
    (audit,) = audits_of(HERE / "lock_bound_with_threads")
    assert any(one.risk.startswith("medium: takes a CPU from other work") for one in audit.summary.do if one.step == 1)
    assert audit.summary.do[2].effect.startswith("CPUs left for all other work: 14 → 12"), (
        "of all three changes together"
    )


def test_a_loss_without_a_cause_says_so_and_asks_for_a_trace() -> None:
    lewis = next(
        one for one in audits_of(HERE / "rdb_on_two_nodes_unpartitioned") if one.capture.system.name == "LEWIS"
    )
    assert lewis.summary.verdict.endswith("cause not shown.")
    assert lewis.summary.collect[0].command.startswith("a spinlock trace")


@pytest.mark.parametrize(("rule", "ends"), [("spinning_unexplained", "not shown."), ("other", "; also: 2.4 are lost.")])
def test_a_loss_without_a_cause_is_told_once(rule: str, ends: str) -> None:
    found = Ranked(f"openvms/{rule}", Finding("A", Severity.CRITICAL, "2.4 are lost", "seen", do="trace", evidence=()))
    account = Account(PROCESSORS, MEAN, 10.0, 7.0, (), Open(Amount.exactly(2.4), "MP synchronization", "a trace"), None)
    assert summarized((found,), (), Plan(), (account,)).verdict.endswith(ends)


def test_waiting_tasks_open_it_where_one_in_ten_waits_for_one_thing() -> None:
    assert verdict_of("row_held_by_a_client_that_thinks").startswith(
        "Of 16.7 tasks that run or wait, 10.4 wait for locks, most for hall..seat; look at once: "
    )


def test_where_nothing_is_measured_it_says_what_is_not_known() -> None:
    said = verdict_of("address_lock_storm")
    assert said.startswith("3 critical, 1 warning, 2 advice; first: ")
    assert "not measured" in said
    assert "22.3 of 24 engines" in said
    assert "at most" not in said, "so many are busy"
    said = verdict_of("vlh_2_descriptors")
    assert (
        "what it costs is not measured: at most 16 of 64 engines are spinning, if a spin lasts 100 ns at most" in said
    )


def test_commands_do_not_stand_in_the_headline() -> None:
    said = verdict_of("untrusted_without_times")
    assert "the two snapshots have no times, so neither their distance nor a restart between them is known" in said
    assert "select" not in said


@pytest.mark.parametrize(
    ("judged", "open_", "says"),
    [
        (20, 10, "Nothing to do: "),
        (13, 12, "Nothing to do so far: "),
        (12, 13, "Nothing to do so far: "),
        (10, 15, "Nothing to do so far: "),
        (10, 16, "Not known yet: "),
    ],
)
def test_one_rule_more_or_less_does_not_turn_a_quiet_system_into_an_unknown_one(
    judged: int, open_: int, says: str
) -> None:
    verdicts = [Verdict(f"openvms/a{at}", "clean", "") for at in range(judged)]
    verdicts += [Verdict(f"openvms/b{at}", "unknown", "") for at in range(open_)]
    said = summarized((), verdicts, Plan(), ()).verdict
    assert said.startswith(says)
    assert str(open_) in said


def test_rules_that_want_exports_which_were_not_collected_do_not_make_a_quiet_system_an_unknown_one() -> None:
    lack = (MissingInput("lock rates", "MONITOR LOCK"),)
    verdicts = [Verdict("openvms/a", "clean", "")]
    verdicts += [Verdict(f"openvms/b{at}", "unknown", "", lack) for at in range(24)]
    assert summarized((), verdicts, Plan(), ()).verdict == (
        "Nothing found so far: no finding above a note; 1 rule judged what was collected, 24 more need other exports; "
        "see what to collect."
    )
    note = Ranked("openvms/a", Finding("A", Severity.NOTE, "one file has 96 %", "", ()))
    assert (
        "no finding above a note (first: one file has 96 %); 1 rule judged"
        in summarized((note,), verdicts, Plan(), ()).verdict
    )
    for others in ("untrusted", "broken", "unknown"):  # what was collected could not be judged
        doubted = [*verdicts, *(Verdict(f"openvms/c{at}", others, "") for at in range(2))]
        assert summarized((), doubted, Plan(), ()).verdict.startswith("Not known yet: 26 of 27 rules")
    assert summarized((), verdicts[1:], Plan(), ()).verdict.startswith("Not known yet: 24 of 24 rules")
    assert summarized((), verdicts, Plan(), (), why_open=ONE_ALONE).verdict.endswith(f"could not judge: {ONE_ALONE}.")


@pytest.mark.parametrize(
    ("doubted", "says"), [(4, "Nothing to do: "), (6, "Not known yet: 6 of 26 rules could not judge")]
)
def test_figures_that_many_rules_doubt_for_one_reason_are_not_called_nothing_to_do(doubted: int, says: str) -> None:
    verdicts = [Verdict(f"ase/a{at}", "clean", "") for at in range(20)]
    verdicts += [Verdict(f"ase/b{at}", "untrusted", "monSysWaits: the counters were cleared") for at in range(doubted)]
    said = summarized((), verdicts, Plan(), ()).verdict
    assert said.startswith(says)
    assert ("the counters were cleared; collect again" in said) == (doubted == 6)


@pytest.mark.parametrize(
    ("why", "says"),
    [
        (
            f"default data cache: -312.4 %: {WRAPPED}; tempdb_cache 0.2 % contended, limit 10 %",
            "Not known yet: 5 of 43",
        ),
        ("default data cache: printed as asterisks", "Nothing to do: "),  # one damaged line of a whole report
    ],
)
def test_one_wrapped_counter_says_that_the_whole_sample_was_too_long(why: str, says: str) -> None:
    verdicts = [Verdict(f"ase/a{at}", "clean", "") for at in range(38)]
    verdicts += [Verdict("ase/b", "unknown", "", (MissingInput("log", "an error log"),))]
    verdicts += [Verdict(f"ase/c{at}", "untrusted", why, (SHORTER,)) for at in range(4)]
    summary = summarized((), verdicts, Plan(), ())
    assert summary.verdict.startswith(says)
    assert summary.verdict.endswith(f": {SAMPLE_WRAPPED}.") == (WRAPPED in why)
    assert summary.collect[0].command == SHORTER.command


def test_the_line_of_a_template_says_what_has_to_come_first() -> None:
    """Whoever reads the line alone must not take it for a step."""
    mode = advise_parameter("LCKMGR_MODE", 0.0, 6, when="only when a spinlock trace blames LCKMGR")
    nodes = alter("cluster_nodes", Place("DISK$A:[X]Y.RDB"), 16, 1)
    step = set_parameter("LCKMGR_MODE", 0.0, 6, dynamic=True)
    told = []
    for change in (mode, nodes, step):
        ranked = (Ranked("openvms/lock_manager_idle", Finding("A", Severity.ADVICE, "", "", (), changes=(change,))),)
        told.append(summarized(ranked, (), make_plan((change,)), ()).do[0].title)
    assert told == [
        "LCKMGR_MODE 0 → 6, only when a spinlock trace blames LCKMGR",
        "NUMBER OF CLUSTER NODES 16 → 1, only when RMU/SHOW SYSTEM on every node of the cluster shows it open on one "
        "alone, and it is known that no other has to open it after a failure: ALTER DATABASE FILENAME "
        "'DISK$A:[X]Y.RDB' NUMBER OF CLUSTER NODES 1",
        "LCKMGR_MODE 0 → 6",
    ]


def test_the_line_of_a_step_says_its_condition_too() -> None:
    change = replace(set_parameter("RESHASHTBL", 64.0, 128, dynamic=False, minimum=True), condition="once A is out")
    ranked = (Ranked("openvms/a", Finding("A", Severity.ADVICE, "", "", (), changes=(change,))),)
    (one,) = summarized(ranked, (), make_plan((change,)), ()).do
    assert (one.when, one.title) == ("reboot", "RESHASHTBL 64 → 128, only once A is out")


@pytest.mark.parametrize("comes_after", [True, False])
def test_a_template_that_a_step_comes_after_stands_before_it(comes_after: bool) -> None:
    first = advise_parameter("LCKMGR_MODE", 0.0, 6, when="only when a spinlock trace blames LCKMGR")
    step = set_parameter("RESHASHTBL", 64.0, 128, dynamic=False, minimum=True)
    step = replace(step, after=(first.key,) if comes_after else ())
    ranked = (Ranked("openvms/a", Finding("A", Severity.ADVICE, "", "", (), changes=(first, step))),)
    told = [one.target for one in summarized(ranked, (), make_plan((first, step)), ()).do]
    assert told == (["LCKMGR_MODE", "RESHASHTBL"] if comes_after else ["RESHASHTBL", "LCKMGR_MODE"])


def test_words_that_only_point_to_the_finding_that_causes_them_are_not_repeated() -> None:
    """As long as the cause is more than a note: what a note says nobody reads first. Its words stand before theirs."""
    symptom = Ranked("rdb/b", Finding("B", Severity.WARNING, "", "", (), do="Of 9 that wait 8 wait for it: see rdb/a."))
    other = Ranked("rdb/c", Finding("C", Severity.WARNING, "", "", (), do="See who holds the lock."))
    for severity, told in ((Severity.ADVICE, ["Do A.", other.finding.do]), (Severity.NOTE, None)):
        cause = Ranked("rdb/a", Finding("A", severity, "", "", (), do="Do A."), (symptom.key, other.key))
        said = [one.title for one in summarized((cause, symptom, other), (), Plan(), ()).do]
        assert said == (told or [symptom.finding.do, other.finding.do])


def test_what_crosses_a_cluster_is_not_told_in_words_beside_the_step_that_ends_it() -> None:
    """Not where that step is only to be decided, nor for another rule, whose words may be more than it."""
    done = set_parameter("RESHASHTBL", 64.0, 128, dynamic=False, minimum=True)
    open_ = advise_parameter("LCKMGR_MODE", 0.0, 6, when="only when a spinlock trace blames LCKMGR")
    for change, rule, words in (
        (done, "openvms/locks_mastered_remotely", False),
        (open_, "openvms/locks_mastered_remotely", True),
        (done, "openvms/c", True),
    ):
        crossing = Ranked(rule, Finding("B", Severity.ADVICE, "", "", (), do="Run the work on one node."))
        cause = Ranked("rdb/a", Finding("A", Severity.ADVICE, "", "", (), changes=(change,)), explains=(crossing.key,))
        said = [one.title for one in summarized((cause, crossing), (), make_plan((change,)), ()).do]
        assert ("Run the work on one node." in said) is words


def test_a_change_that_is_only_to_be_decided_does_not_stand_for_what_a_warning_asks_for() -> None:
    """A change that is made does: it is the warning's own step."""
    decide = advise_parameter("LCKMGR_MODE", 0.0, 6, when="only when a spinlock trace blames LCKMGR")
    make = set_parameter("LCKMGR_MODE", 0.0, 6, dynamic=True)
    for change, told in ((decide, ["Do A.", "LCKMGR_MODE 0 → 6"]), (make, ["LCKMGR_MODE 0 → 6"])):
        effect = Ranked("openvms/b", Finding("B", Severity.WARNING, "", "", (), changes=(change,)))
        cause = Ranked("rdb/a", Finding("A", Severity.WARNING, "", "", (), do="Do A."), (effect.key,))
        said = [
            one.title.partition(", only")[0] for one in summarized((cause, effect), (), make_plan((change,)), ()).do
        ]
        assert said == told


def test_what_a_note_would_change_some_day_is_no_line_of_the_plan() -> None:
    template = advise_parameter("RESHASHTBL", 16384.0, 32768, when="with the next reboot that happens anyway")
    for severity, lines in ((Severity.NOTE, 0), (Severity.ADVICE, 1)):
        found = Finding("SAT1", severity, "Long chains", "", (), changes=(template,))
        ranked = (Ranked("openvms/resource_hash_table_undersized", found),)
        assert len(summarized(ranked, (), make_plan((template,)), ()).do) == lines


def test_what_rests_on_too_few_reports_is_named_and_collected_again() -> None:
    """And a note that rests on enough of them is no word of the verdict."""
    command = "a report of LOCK_ACTV.COM"
    lacks = (MissingInput("lock requests", command),)
    verdicts = [Verdict("openvms/lock_tree_dominates", "fired", "", lacks), Verdict("openvms/a", "clean", "")]
    found = Finding("(5,1,0) on WORK", Severity.NOTE, "The RMS file (5,1,0) on WORK has 61 %", "", (), once=True)
    summary = summarized((Ranked("openvms/lock_tree_dominates", found),), verdicts, Plan(), ())
    assert summary.verdict.startswith("The RMS file (5,1,0) on WORK has 61 %, by too few reports: collect again; ")
    assert summary.collect[0].command == command
    most = [*verdicts, *(Verdict(f"openvms/{letter}", "unknown", "", lacks) for letter in "bcdefghijklm")]
    alone = summarized((Ranked("openvms/lock_tree_dominates", found),), most, Plan(), ()).verdict
    assert alone.startswith("The RMS file (5,1,0) on WORK has 61 %, by too few reports: ")
    assert "12 could not" in alone
    enough = (Ranked("openvms/lock_tree_dominates", replace(found, once=False)),)
    assert summarized(enough, verdicts, Plan(), ()).verdict.startswith("Nothing to do: ")


def test_a_name_keeps_its_capitals_within_a_sentence() -> None:
    assert within("On average 3 CPUs spin") == "on average 3 CPUs spin"
    for whole in ("IOLOCK8: 2 CPUs spin", "F11B$v locks", "5.1 of 8 CPUs", "EWA0 is full", ""):
        assert within(whole) == whole


def test_a_clause_that_begins_a_sentence_keeps_the_capitals_of_names() -> None:
    assert [capitalized(one) for one in ("on CPU 3 of IOLOCK8", "EWA0", "")] == ["On CPU 3 of IOLOCK8", "EWA0", ""]


def test_names_are_enumerated_with_and_before_the_last() -> None:
    assert [enumerated(["A", "B", "C"][:many]) for many in range(4)] == ["", "A", "A and B", "A, B and C"]


@pytest.mark.parametrize(
    ("waiting", "to", "open_", "says"),
    [
        (
            3.4,
            None,
            3,
            "Nothing found so far: no finding above a note, yet on average 3.4 processes wait for locks of X; ",
        ),
        (0.4, None, 3, "Nothing to do: "),  # nobody waits most of the time
        (3.4, "rdb/page_locks_dominate:X", 3, "Nothing to do: "),  # a note tells of them
        (3.4, None, 0, "Nothing to do: "),  # no rule is left that could tell why
    ],
)
def test_where_processes_wait_for_what_no_rule_could_tell_it_is_not_said_that_there_is_nothing_to_do(
    waiting: float, to: str | None, open_: int, says: str
) -> None:
    lacks = (MissingInput("locks by type", "a write of the screens"),)
    verdicts = [Verdict(f"rdb/{letter}", "clean", "") for letter in "abcdefgh"]
    verdicts += [Verdict(f"rdb/{letter}", "unknown", "", lacks) for letter in "xyz"[:open_]]
    loss = Loss(to, "locks of X", Amount(waiting, waiting, waiting), NOWHERE)
    account = Account(WAITING_TASKS, MEAN, None, None, (loss,), None, None)
    assert summarized((), verdicts, Plan(), (account,)).verdict.startswith(says)


def test_what_was_not_measured_is_the_verdict_where_most_rules_cannot_judge_and_no_word_of_it_else() -> None:
    found = Ranked(
        "ase/monitoring_switched_off", Finding("S", Severity.NOTE, "Not measured: monLocks", "", (), blind=True)
    )
    lacks = (MissingInput("waits", "monSysWaits"),)
    fired, clean = Verdict(found.rule, "fired", ""), [Verdict(f"ase/{name}", "clean", "") for name in "abcdefgh"]
    blind = [fired, *(Verdict(f"ase/{name}", "unknown", "", lacks) for name in "abcdefgh")]
    assert summarized((found,), blind, Plan(), ()).verdict.startswith("Not measured: monLocks: set the switches")
    assert summarized((found,), [fired, *clean], Plan(), ()).verdict.startswith("Nothing to do: ")


@pytest.mark.parametrize("story", ["healthy_ledger_server", "healthy_monitored_server", "healthy_rdb_node"])
def test_a_healthy_system_has_nothing_to_do(story: str) -> None:
    (audit, *_) = audits_of(HERE / story)
    assert audit.summary.verdict.startswith("Nothing to do: ")
    assert not audit.summary.do


def test_a_system_of_which_most_is_not_judged_is_not_called_healthy() -> None:
    for name in ("untrusted_restarted", "untrusted_counters_cleared"):
        counts = re.match(r"Not known yet: (\d+) of (\d+) rules could not judge", verdict_of(name))
        assert counts
        assert int(counts[1]) > 0.9 * int(counts[2])


def test_a_template_that_names_no_table_is_no_step() -> None:
    (audit,) = audits_of(HERE / "address_lock_storm")
    keys = {key for step in audit.plan.steps for key in step.change_keys}
    assert audit.plan.templates == (
        "ase.table:template:allpages to datapages",
        "ase.table:template:datapages to datarows",
    )
    assert keys.isdisjoint(audit.plan.templates)
    offered = {change.key for one in audit.findings for change in one.finding.changes}
    assert set(audit.plan.templates) <= offered, "a note of its finding all the same"


def test_what_waits_for_a_step_is_its_alternative() -> None:
    (audit,) = audits_of(HERE / "vlh_1_address_locks")
    (step,) = audit.plan.steps
    assert (step.when, step.risk.level) == ("restart", "medium")
    assert step.alternatives == ("ase.table:rating.dbo.batch_step:lock scheme",)


def test_what_must_be_looked_at_at_once_comes_before_what_takes_a_project() -> None:
    (audit,) = audits_of(HERE / "row_held_by_a_client_that_thinks")
    assert audit.summary.verdict.endswith(
        'look at once: SPID 118 blocks 8 tasks, the longest for 127 s ("desk3", "SeatPlan"; idle in its transaction).'
    )
    first, second = audit.summary.do[:2]
    assert (first.finding, first.when) == ("ase/blocked_chain:BIRCH4", "now")
    assert second.finding == "ase/lock_waits_high:BIRCH4"


def test_what_the_host_withholds_is_said_behind_the_queue_that_it_makes() -> None:
    def said(explains: tuple[str, ...]) -> str:
        finding = Finding("B", Severity.CRITICAL, "The host withholds", seen="s.", because="b.", do="d.", evidence=())
        queue = replace(finding, severity=Severity.ADVICE, title="3.5 tasks queue for each of 8 engines")
        host = "ase/host_takes_processor:B"
        lost = (Loss(host, "an engine", Amount.exactly(6.8), NOWHERE, host),)
        account = Account(WAITING_TASKS, MEAN, 10.0, None, lost, None, None)
        ranked = (Ranked("ase/host_takes_processor", finding, explains), Ranked("ase/run_queue_long", queue))
        return summarized(ranked, (), Plan(), (account,)).verdict

    waits = "Of 10.0 tasks that run or wait, 6.8 wait for an engine"
    assert said(("ase/run_queue_long:B",)) == f"{waits}; first to fix: The host withholds."
    assert "first to fix" not in said(())


def test_what_must_be_looked_at_at_once_is_said_where_it_is_the_cause_of_the_loss_too() -> None:
    def found(rule: str, title: str, explains: tuple[str, ...] = ()) -> Ranked:
        urgent = bool(explains)
        finding = Finding("B", Severity.CRITICAL, title, seen="s.", because="b.", do="d.", evidence=(), urgent=urgent)
        return Ranked(rule, finding, explains)

    chain, waits = found("ase/blocked_chain", "SPID 7 blocks 9 tasks", ("r:B",)), found("r", "6.8 tasks wait")
    lost = (Loss("ase/blocked_chain:B", "locks", Amount.exactly(6.8), NOWHERE, "r:B"),)
    account = Account(WAITING_TASKS, MEAN, 10.0, None, lost, None, None)
    said = summarized((chain, waits), (), Plan(), (account,)).verdict
    assert said == "Of 10.0 tasks that run or wait, 6.8 wait for locks; look at once: SPID 7 blocks 9 tasks."


@pytest.mark.parametrize(
    ("first", "says"),
    [
        ("readers wait", "2 warning; first: readers wait; look at once: BATCH_7 holds up 4 processes."),
        ("", "1 warning; first: BATCH_7 holds up 4 processes."),
    ],
)
def test_what_must_be_looked_at_at_once_is_told_behind_what_causes_it(first: str, says: str) -> None:
    held = Finding("B", Severity.WARNING, "BATCH_7 holds up 4 processes", "s.", (), do="Let it end.", urgent=True)
    cause = Ranked("r", Finding("A", Severity.WARNING, first, "s.", (), do="d."), ("h:B",))
    said = summarized(((cause,) if first else ()) + (Ranked("h", held),), (), Plan(), ())
    assert said.verdict == says
    assert said.do[0].title == "Let it end."


@pytest.mark.parametrize(
    ("lost", "opens"), [(0.5, "1 advice; first: one file; 0.50 of 8 CPUs"), (1.5, "1.50 of 8 CPUs")]
)
def test_a_small_loss_without_a_cause_stands_behind_a_finding(lost: float, opens: str) -> None:
    found = Ranked("r", Finding("A", Severity.ADVICE, "one file", "seen", do="do this", evidence=()))
    noted = Ranked("s", Finding("B", Severity.NOTE, "MP synch", "seen", evidence=()))
    unexplained = Open(Amount.exactly(lost), "MP synchronization", "a trace")
    account = Account(PROCESSORS, MEAN, 8.0, 2.0, (), unexplained, None)
    assert summarized((found, noted), (), Plan(), (account,)).verdict.startswith(opens)
    assert summarized((noted,), (), Plan(), (account,)).verdict.startswith(f"{lost:.2f} of 8 CPUs")


@pytest.mark.parametrize(
    ("unexplained", "opens"),
    [(0.45, "1 warning; first: A is master; 0.75 of 24 CPUs"), (0.15, "0.75 of 24 CPUs (3 %)")],
)
def test_what_causes_a_part_of_a_small_loss_is_told_first_where_most_of_it_has_no_cause(
    unexplained: float, opens: str
) -> None:
    found = Ranked("r", Finding("A", Severity.WARNING, "A is master", "seen", do="do this", evidence=()))
    lost = (Loss(found.key, "MP synchronization on A", Amount.exactly(0.75 - unexplained), NOWHERE),)
    account = Account(
        PROCESSORS, MEAN, 24.0, 12.0, lost, Open(Amount.exactly(unexplained), "MP synchronization", "a trace"), None
    )
    assert summarized((found,), (), Plan(), (account,)).verdict.startswith(opens)


def test_a_hole_is_said_where_nothing_was_found() -> None:
    hole = Finding("A", Severity.NOTE, "94 of 360 samples are missing", "seen", evidence=(), again=True)
    found = (Ranked("openvms/samples_missing", hole),)
    verdict = Verdict("openvms/samples_missing", "fired", "", missing=(MissingInput("the hole", "a T4 CSV"),))
    clean = Verdict("r", "clean", "")
    summary = summarized(found, (verdict, clean), Plan(), ())
    assert summary.verdict.startswith("Nothing found in what was measured, but 94 of 360 samples are missing: of that")
    assert summary.collect[0].command == "a T4 CSV"
    loss = Account(PROCESSORS, MEAN, 8.0, 2.0, (), Open(Amount.exactly(0.5), "MP synch", "a trace"), None)
    said = summarized(found, (verdict, clean), Plan(), (loss,)).verdict
    assert "94 of 360 samples are missing: collect again; no finding above a note." in said


def test_it_is_said_why_figures_that_are_there_are_not_believed() -> None:
    said = verdict_of("untrusted_restarted")
    assert "the server was restarted between the snapshots; collect again" in said


def test_a_loss_of_several_things_names_them() -> None:
    assert "are lost in spinning for SRMSLOCK and spinning for HCPTRQLK" in verdict_of("spinning_for_timers")


def test_each_change_has_its_own_risk() -> None:
    (audit,) = audits_of(HERE / "vlh_4_hot_tables")
    risks = {one.finding + one.target: one.risk for one in audit.summary.do}
    caches = [risk for target, risk in risks.items() if "new cache" in target]
    bindings = [risk for target, risk in risks.items() if "cache binding" in target]
    assert (set(caches), {one.partition(":")[0] for one in bindings}) == ({""}, {"medium"})


def test_what_two_findings_ask_for_in_the_same_words_is_told_once() -> None:
    def asks(subject: str, do: str) -> Ranked:
        return Ranked("openvms/r", Finding(subject, Severity.WARNING, "t", seen="s.", because="b.", do=do, evidence=()))

    findings = (asks("KIWI", "Run it on one node."), asks("PLUM", "Run it on one node."), asks("FIG", "Measure."))
    told = [one.title for one in summarized(findings, (), Plan(), ()).do]
    assert told == ["Run it on one node.", "Measure."]


@pytest.mark.parametrize(
    ("effect", "undo", "says"),
    [
        (Effect.ONLINE, ('sp_configure "x", 5',), "back to 8, at once"),
        (
            Effect.ONLINE,
            ('sp_cacheconfig "c", "8M"', "-- a smaller size is static: restart the server"),
            "back to 8, next restart",
        ),
        (Effect.OFFLINE, ("-- restart the server",), "back to 8, an outage again"),
    ],
)
def test_a_way_back_takes_effect_when_its_own_script_says(effect: Effect, undo: tuple[str, ...], says: str) -> None:
    assert way_back(effect, undo, 8.0) == says


LONG_AGO, BETWEEN = datetime(2026, 8, 28, 11, 17), datetime(2026, 9, 9, 15, 35)  # noqa: DTZ001 - the server's own clock


@pytest.mark.parametrize(
    ("booted", "cleared", "said"),
    [
        (BETWEEN, BETWEEN, RESTARTED),
        (LONG_AGO, BETWEEN, CLEARED),
        (LONG_AGO, LONG_AGO, RESET),  # a counter fell, and no date says why
    ],
)
def test_it_is_told_whether_the_server_was_restarted_or_its_counters_were_cleared(
    booted: datetime, cleared: datetime, said: str
) -> None:
    before, after = datetime(2026, 9, 9, 15, 30), datetime(2026, 9, 9, 15, 40)  # noqa: DTZ001 - the server's own clock
    taken = Snapshot(number=2, previous=before, taken=after, booted=booted, counters_cleared=cleared)
    facts = Facts(
        (
            taken,
            MonSpinlockActivity(name="Sched Q", over="interval", certificate="reset", seconds=600.0),
        )
    )
    (rule,) = [one for one in rules_of("ase") if one.id == "ase/spinlock_dear"]
    verdict = judge_one(rule, facts, {})
    assert (verdict.verdict, said in verdict.why, verdict.missing) == ("untrusted", True, (AGAIN,))
    summary = summarized((), [replace(verdict, rule=f"ase/{n}") for n in range(3)], Plan(), ())
    assert said in summary.verdict
    assert [one.command for one in summary.collect] == [AGAIN.command]


def test_one_snapshot_alone_is_no_server_in_order() -> None:
    taken = Snapshot(number=1, taken=BETWEEN)
    assert (one_alone(Facts((taken,))), one_alone(Facts(()))) == (ONE_ALONE, "")
    assert one_alone(Facts((taken, SysmonSample(seconds=60.0)))) == ""
    assert one_alone(Facts((replace(taken, previous=taken.taken),))) == ""
    verdicts = [Verdict(f"ase/{n}", "unknown" if n < 5 else "clean", "") for n in range(10)]
    assert summarized((), verdicts, Plan(), (), why_open=ONE_ALONE).verdict == (
        "Not known yet: 5 of 10 rules could not judge: one snapshot has totals since the start only; collect a second."
    )
    assert "Nothing to do so far" in summarized((), verdicts, Plan(), ()).verdict


def test_what_settles_nothing_is_not_asked_for() -> None:
    for story in STORIES:
        for audit in audits_of(story):
            assert [one.command for one in audit.summary.collect if not one.settles] == []


@pytest.mark.parametrize(
    ("kept", "says"),
    [(6.0, "A maintenance window: 6.0 of 10.0 tasks are dump, load, dbcc; capture a working hour: "), (1.5, "Nothing")],
)
def test_a_window_of_dumps_is_no_hour_of_users(kept: float, says: str) -> None:
    lost = (
        Loss(None, "maintenance (dump, load, dbcc)", Amount.exactly(kept), NOWHERE),
        Loss(None, "physical reads", Amount.exactly(2.0), NOWHERE),
    )
    account = Account(WAITING_TASKS, MEAN, 10.0, None, lost, None, None)
    verdicts = [Verdict(f"ase/{n}", "clean", "") for n in range(10)]
    assert summarized((), verdicts, Plan(), (account,)).verdict.startswith(says)


@pytest.mark.parametrize(
    ("inputs", "begins"),
    [
        ([("a.txt", "ase/sp_sysmon", 0), ("b.txt", "ase/version", 0)], "Nothing to do: no finding above a note"),
        (
            [("a.txt", "ase/sp_sysmon", 2), ("a.txt", "ase/version", 1), ("b.txt", "ase/version", 0)],
            "Nothing found in what was understood (3 places in 1 file could not be read): no finding above a note",
        ),
        (
            [
                ("a.txt", "ase/sp_sysmon", 0),
                ("ddl.txt", None, 3),
            ],  # of a refused file its places are no places of its own
            "Nothing found in what was understood (1 whole file could not be read): no finding above a note",
        ),
        (
            [("a.txt", "ase/sp_sysmon", 1), ("b.txt", "ase/version", 1), ("c.txt", None, 0), ("d.txt", None, 1)],
            "Nothing found in what was understood (2 places in 2 files and 2 whole files could not be read): no ",
        ),
    ],
)
def test_a_verdict_is_no_all_clear_where_files_could_not_be_read(
    inputs: list[tuple[str, str | None, int]], begins: str
) -> None:
    read: list[dict[str, Any]] = [
        {"file": name, "report": report, "leftovers": [{}] * places} for name, report, places in inputs
    ]
    clear = {"verdict": "Nothing to do: no finding above a note; 9 rules judged."}
    found = no_all_clear(clear, read)
    assert found["verdict"].startswith(begins)
    assert no_all_clear(found, read) == found
    loud = {"verdict": "1 warning; first: X."}
    assert no_all_clear(loud, read) == loud
