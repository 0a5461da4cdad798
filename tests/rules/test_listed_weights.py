"""A node of which nothing but its parameters was collected: its weight counts, and what is missing is of it by name."""

from datetime import UTC, datetime

from collectors.cluster import with_members
from collectors.facts import Capture, Facts, Interval, Source, System
from collectors.facts.openvms import ClusterMember, ClusterNode, DistributedLockRates, SysgenParameter
from rules.openvms._evidence.mastership import Move, move_to

DAY = Interval(datetime(2026, 3, 2, 9, tzinfo=UTC), datetime(2026, 3, 2, 17, tzinfo=UTC))
NODES = ("EIGG", "SKYE", "RHUM")


def weight(node: str, value: float) -> SysgenParameter:
    return SysgenParameter(source=Source(f"{node}.txt", 4, 4), name="LOCKDIRWT", current=value, in_use="active")


def moved(listed: float | None) -> Move:
    """Mastership to SKYE, of two nodes with rates and RHUM without, whose weight is listed or not."""
    at = Source("cluster.txt", 1, 9)
    cluster = [ClusterNode(source=at, name=name, software="VMS V8.4", status="MEMBER") for name in NODES]
    rates = {"EIGG": (0.0, 800.0), "SKYE": (800.0, 0.0)}
    captures = [
        Capture(
            System(name, "openvms"),
            DAY,
            Facts(
                (
                    *cluster,
                    weight(name, 1.0),
                    DistributedLockRates(
                        source=Source(f"{name}.csv", 2, 9),
                        statistic="mean",
                        enq_outgoing=outgoing,
                        enq_incoming=incoming,
                        enq_local=100.0,
                    ),
                )
            ),
        )
        for name, (outgoing, incoming) in rates.items()
    ]
    if listed is not None:
        captures.append(Capture(System("RHUM", "openvms"), Interval(), Facts((weight("RHUM", listed),))))
    facts = with_members(captures)[0].facts
    return move_to(facts, facts.every(ClusterMember), "SKYE")


def test_the_weight_of_a_node_without_rates_is_not_asked_for() -> None:
    move = moved(3.0)
    assert not move.missing
    assert [(change.target, change.old, change.new) for change in move.changes] == [("LOCKDIRWT", 1.0, 5.0)]
    assert "RHUM.txt" in {one.source.file for one in move.evidence}


def test_without_its_listing_it_is_asked_for_by_name() -> None:
    move = moved(None)
    assert [one.fact for one in move.missing] == ["LOCKDIRWT of RHUM"]
    assert move.missing[0].command == "MCR SYSGEN SHOW LOCKDIRWT ! on RHUM"
