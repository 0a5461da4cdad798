"""Nothing is counted: statistics are disabled, and all screens show zero.

Finds: a header that says statistics are disabled, and lock screens on which every figure is zero although users are
attached or transactions end.

Why it matters: screens full of zeros look like a database without contention. It is one that was not measured, and no
rule that needs the statistics can say anything.

What to do: enable statistics (the logical name RDM$BIND_STATS_ENABLE, or the attribute of the database), wait for the
busiest hour and write the screens twice.

When to ignore it: where nobody was attached while the screens were written: then zero is the truth. What statistics
cost is in no source that was found; where somebody switched them off on purpose, ask why first.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts
from collectors.facts.rdb import Database, LogicalName, StatisticRow
from rules.changes.quoting import Unquotable, comment, rdb_file
from rules.changes.rdb_database import key_of
from rules.engine import rule
from rules.finding import Change, Clean, Effect, Evidence, Finding, Outcome, Severity, Unknown, Untrusted
from rules.rdb._evidence.counted import COUNTED_FACTS
from rules.rdb._evidence.databases import OneDatabase, databases
from rules.rdb._evidence.prerequisites import place_of
from rules.rdb._evidence.prestarted import deassign, logical
from rules.rdb._evidence.statistics import (
    Statistics,
    attached,
    statistics_of,
    working,
)

LINKS = ("https://docs.oracle.com/cd/F25597_01/document/products/rdb/720/E06177-01/rmu_rshowstat.htm",)

NAME = "RDM$BIND_STATS_ENABLE"
WHEN = (
    "when SHOW LOGICAL RDM$BIND_STATS_ENABLE shows that no logical name is the reason, and HELP ALTER DATABASE in SQL "
    "has the clause, which is recalled"
)
FIRST = 1.0
"""More than any other finding of a database weighs, of which none is weighed: what is tuned is measured first."""
COSTS = "What counting costs is in no source: measure before and after."


@dataclass(frozen=True)
class Limits:
    """There is nothing to judge by: something is counted or it is not."""


@rule(needs=(), uses=(*COUNTED_FACTS, LogicalName), links=LINKS, limits=Limits, sample=None)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge each database."""
    found = databases(facts, (StatisticRow,))
    if not found:
        yield Unknown.of(Database, StatisticRow)
    for one in found:
        yield from _judge(facts, one)


def _judge(facts: Facts, one: OneDatabase) -> Iterator[Outcome]:
    enabled, counted = one.read("statistics_enabled"), statistics_of(facts, one)
    if damaged := next((each.damaged[0] for each in counted if each.damaged), ""):
        yield Untrusted(f"{one.subject}: {damaged}")
        return
    zero = [each for each in counted if each.all_zero]
    proof = next(((each, said) for each in zero if (said := working(each, one))), None)
    off = enabled is not None and not enabled.value
    screens = [each for each in counted if any(kind for kind, _ in each.rates)]
    if off and len(zero) < len(screens):
        yield Untrusted(
            f"{one.subject}: the header says that statistics are disabled, yet its screens count: they are of "
            "different times, or RDM$BIND_STATS_ENABLE overrides it"
        )
        return
    if off or proof:
        yield _finding(facts, one, off, proof)
        return
    if screens and len(zero) < len(screens):
        yield Clean(f"{one.subject}: its lock statistics are counted")
    elif screens and all(attached(each, one) == 0 for each in zero):
        why = f"{one.subject}: every lock counter is zero, and nobody was attached"
        if enabled is not None:
            yield Clean(f"{why}; the header says that statistics are enabled")
        else:
            yield Unknown.without("whether statistics are counted", Database.COLLECTED_BY, why)
    elif screens:
        why = f"{one.subject}: every lock counter is zero; whether anybody was attached is not in the export"
        yield Unknown.without("whether there were users", "RMU/SHOW USERS ! and the root file, on the same node", why)
    elif enabled is not None:
        yield Clean(f"{one.subject}: the header says that statistics are enabled")
    else:
        yield Unknown.without("whether statistics are counted", Database.COLLECTED_BY, one.subject)


def _finding(facts: Facts, one: OneDatabase, off: bool, proof: tuple[Statistics, str] | None) -> Finding:
    evidence, header = [], one.read("statistics_enabled")
    if header is not None:
        evidence.append(Evidence("statistics", "disabled" if off else "enabled", "", header.source))
    if proof is not None:
        rate = next(rate for (kind, _), rate in proof[0].rates.items() if kind)
        evidence.append(Evidence("lock operations", 0.0, "/s", rate.source))
        done = proof[0].transactions
        if done and done.per_second:
            evidence.append(Evidence("transactions", round(done.per_second, 1), "/s", done.source))
        evidence += [
            Evidence(f"users on {use.node}", use.users, "users", use.source) for use in one.sightings if use.users
        ]
    if name := _switched_off(facts, one):
        evidence.append(Evidence(NAME, "0", "", name.source))
    said = "The header says that statistics are disabled" if off else "Every figure of the lock screens is zero"
    although = f", although {proof[1]}" if proof and not off else ""
    return Finding(
        subject=one.subject,
        severity=Severity.ADVICE,
        title="statistics are not counted: zeros on the screens mean nothing",
        seen=f"{said}{although}.",
        because="No lock statistics of this database can be judged: zeros only look like a lack of contention.",
        do=f"{_first(facts, one)} Then wait for the busiest hour and write the screens again, twice.",
        evidence=tuple(evidence),
        changes=(_enable(facts, one),),
        weight=FIRST,
    )


def _switched_off(facts: Facts, one: OneDatabase) -> LogicalName | None:
    """The logical name, where it alone switches statistics off for the node or a group: the header has them enabled."""
    found = logical(facts, NAME)
    return found if found and found.value == "0" and one.is_on("statistics_enabled") else None


def _first(facts: Facts, one: OneDatabase) -> str:
    """What has to be done before anything is counted."""
    if name := _switched_off(facts, one):
        return (
            f"{deassign(name)} ({NAME} is 0 in {comment(name.table or '', 31)}), take its line out of the procedure "
            "that defines it, and let the processes attach again."
        )
    if one.is_on("statistics_enabled"):
        return "The header has them enabled, so look at the logical name RDM$BIND_STATS_ENABLE."
    return "Ask why they are off, and enable them (RDM$BIND_STATS_ENABLE, or the attribute of the database)."


def _enable(facts: Facts, one: OneDatabase) -> Change:
    """A template: the attribute's clause is in no source that was read."""
    on = one.is_on("statistics_enabled")
    if name := _switched_off(facts, one):
        return Change(
            key=key_of("statistics", place_of(facts, one)),
            target=NAME,
            old=name.value,
            new=f"not defined ({deassign(name)})",
            apply=(
                f"$! see where it is defined:  SHOW LOGICAL/FULL {NAME}",
                f"$!   {deassign(name)}",
                "$! take its line out of the procedure that defines it, then let the processes attach again",
            ),
            undo=("$! if it was taken away: define it again as SHOW LOGICAL/FULL showed it (0)",),
            takes_effect=Effect.ADVICE,
            cautions=(COSTS,),
        )
    lines = (
        "$! see what is defined:  SHOW LOGICAL RDM$BIND_STATS_ENABLE",
        "$! it decides for the processes that see it, and is read when they attach"
        + ("; the attribute of the database is set already" if on else "; the attribute of the database:"),
    )
    try:
        root = rdb_file(one.root or "")
    except Unquotable:
        root = "<root file>"
    attribute = (
        "$!   HELP ALTER DATABASE in SQL, STATISTICS COLLECTION (recalled, found in no source)",
        f"$!   ALTER DATABASE FILENAME '{root}' STATISTICS COLLECTION IS ENABLED;",
    )
    return Change(
        key=key_of("statistics", place_of(facts, one)),
        target="RDM$BIND_STATS_ENABLE" if on else "statistics collection",
        old="DISABLED" if one.is_on("statistics_enabled") is False else None,
        new="ENABLED",
        apply=lines if on else (*lines, *attribute),
        undo=("$! back to what SHOW LOGICAL and RMU/DUMP/HEADER showed before",),
        takes_effect=Effect.ADVICE,
        condition="" if on else WHEN,
        cautions=(COSTS,),
    )
