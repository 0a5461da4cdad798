"""Deadlocks are found again and again.

Finds: deadlocks that MONITOR LOCK or T4 counts as found, by the hour, on average over the capture.

Why it matters: of each deadlock the system chooses a victim and does not grant its request (CA Performance Management
for OpenVMS, on lock counts). Its program gets an error and has to do its work again, or its user has to.

What to do: find the programs that lock the same things in different orders, or read with a shared lock and then convert
it while others do the same. For Rdb, RMU/SHOW STATISTICS counts deadlocks by type of lock, and rdb/deadlocks_hidden
says more. DEADLOCK_WAIT decides how soon they are found and not how many there are.

When to ignore it: where the program expects them and repeats its work by itself, and nobody waits.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts, known
from collectors.facts.openvms import LockRates
from rules.engine import limit, rule
from rules.finding import Clean, Evidence, Expectation, Finding, Outcome, Severity, Unknown
from rules.laws.rounding import plain
from rules.openvms._evidence.deadlock_wait import COLLECTED_BY, STATISTICS, unreal
from rules.openvms._evidence.node import NODE_FACTS, in_prose, subject_of

LINKS = ("https://wiki.vmssoftware.com/DEADLOCK_WAIT",)
HOUR = 3600.0


@dataclass(frozen=True)
class Limits:
    """From how many on somebody is hurt."""

    per_hour: float = limit(
        60.0, "this project: one a minute; a real two-node day without trouble had none", unit="deadlocks an hour"
    )


@rule(needs=(LockRates,), uses=NODE_FACTS, links=LINKS, limits=Limits)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge the deadlocks that were found."""
    listed = [one for name in STATISTICS if (one := facts.latest(LockRates, statistic=name))]
    rates = next((one for one in listed if known(one.deadlock_find_per_second)), None)
    finds = rates.deadlock_find_per_second if rates else None
    if rates is None or finds is None or not known(finds):
        yield Unknown((COLLECTED_BY,))
        return
    if wrong := unreal(rates):
        yield wrong
        return
    an_hour, searches = finds * HOUR, rates.deadlock_search_per_second
    said = f"{in_prose(an_hour)} deadlocks an hour are found ({plain(finds, 3)}/s)"
    if an_hour < limits.per_hour:
        yield Clean(f"{said}, limit {limits.per_hour:g}", (rates.source,))
        return
    of = f", in {100 * min(1.0, finds / searches):.0f} % of the searches" if known(searches) and searches > 0 else ""
    yield Finding(
        subject=subject_of(facts),
        severity=Severity.ADVICE,
        title=f"{in_prose(an_hour)} deadlocks an hour",
        seen=f"{said}{of}.",
        because="Of each the system refuses one request, and its program or user has to do the work again.",
        do=(
            "Find programs that lock the same things in different orders, or read with a shared lock and convert it "
            "while others do (inference); for Rdb, RMU/SHOW STATISTICS counts deadlocks by type of lock. DEADLOCK_WAIT "
            "decides how soon they are found, not how many there are."
        ),
        unknown="Which programs are in them is not counted: look for SS$_DEADLOCK in their logs.",
        evidence=(Evidence("deadlocks found", finds, "/s", rates.source, round(limits.per_hour / HOUR, 4)),),
        expects=(Expectation("deadlocks found (an hour)", round(an_hour, 1), "lower", "heuristic"),),
    )
