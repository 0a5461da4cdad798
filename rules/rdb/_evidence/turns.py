"""A lock that another process holds in each listing of RMU/SHOW LOCKS."""

from collections.abc import Mapping

from collectors.facts.rdb import AttachedProcess
from rules.changes.quoting import comment
from rules.finding import Evidence, Expectation, Finding, Severity
from rules.rdb._evidence.databases import OneDatabase
from rules.rdb._evidence.listings import group_of
from rules.rdb._evidence.waits import Queue, Waits, held_by, holds_up, of_turns


def turns(
    one: OneDatabase,
    waits: Waits,
    attached: Mapping[str, AttachedProcess],
    worst: Queue,
    least: int,
    severity: Severity,
) -> Finding:
    """A lock that another process holds in each listing, and others wait for every time: the program is to blame."""
    what, waiting = comment(worst.holder.resource, 100), worst.behind
    return Finding(
        subject=f"{one.subject} {comment(what.partition(' (of ')[0].partition(' (storage')[0], 60)}",
        severity=severity if waiting >= least else Severity.NOTE,
        title=holds_up(worst),
        seen=(
            f"{group_of(worst.in_turn)} hold {what} in turn, in {worst.listings} listings, and up to {waiting} wait "
            "for it at a time."
        ),
        because="Another process holds it each time, so the queue moves: no one holder is to blame, the place is.",
        do=of_turns(worst, waits.held, attached),
        unknown="How long each of them holds it no listing tells.",
        evidence=(
            Evidence(f"processes that wait for {what}", waiting, "", worst.holder.source, least),
            *(Evidence(held_by([lock]), lock.granted or "", "", lock.source) for lock in worst.in_turn[:3]),
        ),
        expects=(Expectation(f"processes that wait for {what}", waiting, "fewer", "heuristic"),),
    )
