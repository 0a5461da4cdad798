"""Causes and effects on different nodes of one cluster are linked, and only there."""

from dataclasses import replace
from datetime import datetime

from collectors.facts import Capture, Facts, Interval, System
from collectors.facts.openvms import ClusterMember
from rules.audit import Audit
from rules.finding import Finding, Severity
from rules.openvms._evidence.cluster_links import Key, links_across
from tests.stories import HERE, audits_of

REMOTE, SLOW = "openvms/locks_mastered_remotely", "openvms/lock_master_on_slow_node"


def linked(audits: list[Audit]) -> dict[Key, tuple[Key, ...]]:
    return links_across([(one.capture, [(r.rule, r.finding) for r in one.findings]) for one in audits])


def named(audits: list[Audit]) -> set[tuple[str, str]]:
    found = linked(audits)
    return {(cause[1], effect[1]) for cause, effects in found.items() for effect in effects}


def test_the_slow_master_explains_what_the_fast_node_waits_for() -> None:
    assert (f"{SLOW}:SKYE", f"{REMOTE}:ORKNEY") in named(audits_of(HERE / "two_nodes_slow_master"))


def test_a_database_open_on_both_nodes_explains_the_other_nodes_locks() -> None:
    found = named(audits_of(HERE / "rdb_on_two_nodes_unpartitioned"))
    assert {effect for cause, effect in found if cause.startswith("rdb/")} == {f"{REMOTE}:BARRA"}


def told(rule: str, subject: str, *explains: str) -> tuple[str, Finding]:
    return rule, Finding(subject, Severity.ADVICE, "", "", (), explains=explains)


def node(name: str, *others: str, incoming: float = 0.0, outgoing: float = 0.0) -> Capture:
    own = ClusterMember(
        name=name, own=True, local_per_second=10.0, incoming_per_second=incoming, outgoing_per_second=outgoing
    )
    facts = Facts((own, *(ClusterMember(name=other) for other in others)))
    return Capture(System(name, "openvms"), Interval(), facts)


def test_nodes_of_different_clusters_or_times_have_nothing_to_do_with_each_other() -> None:
    master, asks = node("A", "B", incoming=900.0), node("C", "D", outgoing=900.0)
    assert not links_across([(master, [told(SLOW, "A")]), (asks, [told(REMOTE, "C")])])
    alone = Capture(System("C", "openvms"), Interval(), Facts())
    assert not links_across([(master, [told(SLOW, "A")]), (alone, [told(REMOTE, "C")])])


def test_a_weight_comes_before_what_is_said_of_a_database_on_another_node() -> None:
    opened = "rdb/database_open_on_many_nodes"
    master, asks = node("A", "B", incoming=900.0), node("B", "A", outgoing=900.0)
    of_it = [told(opened, "D:[P]PAY.RDB", REMOTE)]
    assert links_across([(master, [told(SLOW, "A", REMOTE, opened)]), (asks, of_it)]) == {
        (0, f"{SLOW}:A"): ((1, f"{opened}:D:[P]PAY.RDB"),)
    }
    assert not links_across(
        [(master, [told(SLOW, "A", REMOTE)]), (asks, of_it)]
    )  # of a slow node nothing is said of it


def test_who_asks_explains_what_the_master_spins_for() -> None:
    master, asks = node("A", "B", incoming=900.0), node("B", "A", outgoing=900.0)
    found = links_across([(master, [told("openvms/spinning_unexplained", "A")]), (asks, [told(REMOTE, "B")])])
    assert found == {(1, f"{REMOTE}:B"): ((0, "openvms/spinning_unexplained:A"),)}


def test_a_node_that_serves_little_spins_for_itself() -> None:
    master, asks = node("A", "B", incoming=5.0), node("B", "A", outgoing=5.0)
    assert not links_across([(master, [told("openvms/spinning_unexplained", "A")]), (asks, [told(REMOTE, "B")])])


def test_remastering_switched_off_concerns_others_only_on_a_slow_master() -> None:
    master, asks = node("A", "B", incoming=900.0), node("B", "A", outgoing=900.0)
    rule = "openvms/remastering_switched_off"
    assert not links_across([(master, [told(rule, "A")]), (asks, [told(REMOTE, "B")])])
    assert links_across([(master, [told(rule, "A", SLOW)]), (asks, [told(REMOTE, "B")])])


def test_a_node_that_is_named_but_names_another_cluster_is_of_that_one() -> None:
    master, asks = node("A", "C", incoming=900.0), node("B", "A", outgoing=900.0)
    assert not links_across([(master, [told(SLOW, "A")]), (asks, [told(REMOTE, "B")])])


def test_a_node_that_the_other_does_not_name_is_none_of_its_cluster() -> None:
    names_it, names_none = node("A", "B", incoming=900.0), node("B", "C", outgoing=900.0)
    assert not links_across([(names_it, [told(SLOW, "A")]), (names_none, [told(REMOTE, "B")])])
    asks, named_by_it = node("A", "B", outgoing=900.0), node("B", "C", incoming=900.0)
    assert not links_across([(asks, [told(REMOTE, "A")]), (named_by_it, [told(SLOW, "B")])])


def test_nodes_of_one_cluster_on_different_days_have_nothing_to_do_with_each_other() -> None:
    def of_day(one: Capture, day: int) -> Capture:
        start = datetime(2026, 3, day, 8, 0)  # noqa: DTZ001 - exports have no zone
        return replace(one, facts=Facts(tuple(replace(m, start=start) for m in one.facts.every(ClusterMember))))

    master, asks = node("A", "B", incoming=900.0), node("B", "A", outgoing=900.0)
    told_of = ([told(SLOW, "A")], [told(REMOTE, "B")])
    assert links_across([(of_day(master, 2), told_of[0]), (of_day(asks, 2), told_of[1])])
    assert not links_across([(of_day(master, 2), told_of[0]), (of_day(asks, 3), told_of[1])])
