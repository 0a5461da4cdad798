"""A database is opened and closed by its users, time and again.

Finds: three or more listings of a node, within ten minutes, in each of which the database was opened anew seconds
before, and not by an operator (RMU/OPEN).

Why it matters: without RMU/OPEN the first user who attaches bears the cost of opening the database, the last who
detaches that of closing it (help on RMU Open), and its global buffers and row caches are empty each time. Where users
are programs of seconds, as those that a web server starts for a page, each page bears both.

What to do: open it with RMU/OPEN on that node, and do so in its startup, behind the start of Rdb's monitor: it then
stays open until RMU/CLOSE, whatever its open mode is, and users attach as before. OPEN IS MANUAL adds only that nobody
can attach before that. Programs that stay attached spare the attaching, too.

When to ignore it: while nobody works but a test or a job that attaches again and again, and where the database has to
be closed between two users, as for a backup that needs it closed.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from collectors.facts import Facts
from collectors.facts.rdb import DatabaseUse
from rules.changes.quoting import Unquotable, comment, rdb_file
from rules.engine import limit, rule
from rules.finding import (
    Clean,
    Evidence,
    Expectation,
    Finding,
    MissingInput,
    NotApplicable,
    Outcome,
    Severity,
    Unknown,
    joined,
)
from rules.rdb._evidence.databases import DATABASE_FACTS, OneDatabase, databases

LINKS = ("https://uprrp2.uprrp.edu/help?key=RMU72~Open~Description&title=VMS+Help",)
AGAIN = MissingInput(
    "whether it is opened again and again", "RMU/SHOW SYSTEM ! three times within some minutes while users work"
)
SPAN = timedelta(minutes=10)
"""This project: listings further apart may each have met a user after a pause."""
NOT_SHOWN = (
    "How long opening and closing take, and whether anything needs it closed between two users, as a backup may, is "
    "not in the export."
)


@dataclass(frozen=True)
class Limits:
    """How often it is opened."""

    openings: float = limit(
        3.0, "this project: three listings that each meet another opening are no accident", low=2, unit="openings"
    )
    age_seconds: float = limit(
        60.0, "this project: a database that was opened longer ago was in use for a while", low=1, unit="seconds"
    )


@rule(needs=(), uses=DATABASE_FACTS, links=LINKS, limits=Limits, sample=None)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge each database on each node."""
    found = databases(facts)
    if not found:
        yield NotApplicable("no listing shows when a database was opened")
    for one in found:
        nodes: dict[str, list[DatabaseUse]] = {}
        for use in one.uses:
            if use.at and use.opened and not use.cluster_wide:
                nodes.setdefault((use.node or "").upper(), []).append(use)
        if not nodes:
            yield NotApplicable(f"{one.subject}: no listing shows when it was opened")
        for listed in nodes.values():
            yield _judge(one, listed, limits)


def _judge(one: OneDatabase, listed: list[DatabaseUse], limits: Limits) -> Outcome:
    young = [use for use in listed if not use.opened_by_operator and (_age(use) or 0.0) <= limits.age_seconds]
    if len(young) < len(listed):
        return Clean(f"{one.subject} stays open on {_node(listed[-1])}")
    near = [use for use in young if use.at and young[-1].at and young[-1].at - use.at <= SPAN]
    openings = {use.opened for use in near}
    if len(openings) < limits.openings:
        return Unknown(
            (AGAIN,), f"{one.subject} was opened {_age(young[-1]):,.0f} s before it was listed on {_node(young[-1])}"
        )
    return _finding(one, near, len(openings), limits)


def _age(use: DatabaseUse) -> float | None:
    """How long it had been open, in seconds; a listing may round that time."""
    return max(0.0, (use.at - use.opened).total_seconds()) if use.at and use.opened else None


def _node(use: DatabaseUse) -> str:
    return comment(use.node or "the node", 15)


def _finding(one: OneDatabase, near: list[DatabaseUse], openings: int, limits: Limits) -> Finding:
    node, last = _node(near[-1]), near[-1]
    oldest = max(_age(use) or 0.0 for use in near)
    span = (last.at - near[0].at).total_seconds() if last.at and near[0].at else 0.0
    mode = one.read("open_mode")
    by = f"; its open mode is {comment(str(mode.value), 12)}" if mode else ""
    buffers = " Its global buffers begin empty each time." if one.is_on("global_buffers") else ""
    try:
        command = f"RMU/OPEN {rdb_file(one.root)}" if one.root else "RMU/OPEN of it"
    except Unquotable:
        command = "RMU/OPEN of it"
    return Finding(
        subject=one.subject,
        severity=Severity.ADVICE,
        title=f"{one.subject} is opened and closed again and again on {node}: users bear the cost",
        seen=f"{len(near)} listings within {span:,.0f} s show {openings} openings of it on {node}, each {oldest:,.0f} "
        f"s old at most, and none by an operator{by}.",
        because="The first user who attaches bears the cost of opening it, the last who detaches that of closing it."
        + buffers,
        do=joined(
            f"On {node}: {command}, now and in the startup behind the start of Rdb's monitor; it then stays open until "
            "RMU/CLOSE, and users attach as before.",
            "Programs that stay attached spare the attaching, too; OPEN IS MANUAL is not needed for it.",
        ),
        unknown=NOT_SHOWN,
        evidence=(
            Evidence("openings", float(openings), "", last.source, limits.openings, "as their number"),
            Evidence(
                "time since the last opening", round(oldest, 1), "s", last.source, limits.age_seconds, "from two times"
            ),
            *((Evidence("open mode", str(mode.value), "", mode.source),) if mode else ()),
        ),
        expects=(Expectation("openings in three listings", float(openings), "1", "heuristic"),),
    )
