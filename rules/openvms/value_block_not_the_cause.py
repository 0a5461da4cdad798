"""Value blocks of locks are suspected, and cost next to nothing.

Finds: a display that names lock value blocks, which draws the eye to them: value-block lines of SDA's lock summary, or
Rdb's `invalid lock block` with a count above 0, on a node that locks much. It says "do not", and nothing else.

Why it matters: using a value block at all took 1 % of the highest lock rate of a BL870c, one of 64 bytes instead of 16
another 0.5 % (JCC Consulting's slides on the OpenVMS lock manager, 2014), both about what runs differ by themselves. A
search for a slow lock manager that begins there loses its time.

What to do: leave value blocks as they are and look at where the locks are served, at MP synchronization, at the
resource hash table and at how many operations there are. A value block that is not valid tells that a process which
held a lock for writing ended without writing it back: look for processes that died, not for lock performance.

When to ignore it: when nobody suspects value blocks, or when invalid ones come in numbers while nothing dies.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts, Reading, Source, known
from collectors.facts.openvms import LockRates, LockSummaryItem
from collectors.facts.rdb import StatisticRow
from rules.engine import limit, rule
from rules.finding import Clean, Evidence, Finding, NotApplicable, Outcome, Severity, Unknown, Untrusted, joined
from rules.openvms._evidence.cluster import as_read, unreal
from rules.openvms._evidence.node import NODE_FACTS, busiest_operations, subject_of
from rules.openvms._evidence.own_runs import with_and_without
from rules.sources import JCC

LINKS = ("https://www.digiater.nl/openvms/doc/alpha-v8.3/83final/4527/4527pro_045.html",)
ITEM = "invalid lock block"
COSTS = (
    "Using a value block took 1 % of the highest lock rate of a BL870c, one of 64 bytes instead of 16 another 0.5 % "
    f"({JCC})"
)


@dataclass(frozen=True)
class Limits:
    """From where on anybody looks for a cause."""

    operations_per_second: float = limit(
        500.0,
        "this project: with fewer lock operations nobody looks for what slows them down",
        unit="lock operations/s",
    )


@rule(needs=(), uses=(*NODE_FACTS, LockSummaryItem, StatisticRow), links=LINKS, limits=Limits)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Look for displays that name value blocks."""
    named = list(_named(facts))
    if not named:
        yield NotApplicable(f"nothing in the export names value blocks. {COSTS}")
        return
    for label, value, _ in named:
        if unreal(value):
            yield Untrusted(f"{label}: {as_read(value)} is no count")
            return
    read = [(label, value, source) for label, value, source in named if known(value)]
    if not read:
        yield Unknown.without(f"count of {named[0][0]}", StatisticRow.COLLECTED_BY, f"{named[0][0]}: no figure")
        return
    label, value, source = max(read, key=lambda one: one[1])
    if value == 0:
        yield Clean(f"{label}: 0. {COSTS}")
        return
    rate = busiest_operations(facts.every(LockRates))
    if rate is not None and rate < limits.operations_per_second:
        yield Clean(f"{label}: {value:,.0f}, at {rate:,.0f} lock operations/s (limit {limits.operations_per_second:g})")
        return
    invalid = (
        "A count here tells that a process which held a lock for writing ended without writing its value block back: "
        "look for processes that died."
        if ITEM in label
        else ""
    )
    own = with_and_without(facts, "lvb_bytes")
    costs = f"{COSTS}: within what runs differ by themselves."
    if own and own.loses:
        yield Clean(f"{label}: {value:,.0f}; in a test on this node value blocks cost more than noise: {own.said}")
        return
    if own:
        costs = (
            f"In a test on this node a value block changed the highest lock rate by {own.percent:+.1f} %: within what "
            "runs differ by themselves."
        )
    yield Finding(
        subject=subject_of(facts),
        severity=Severity.NOTE,
        title="Value blocks are not what makes locks slow",
        seen=f"The export names value blocks ({label}: {value:,.0f}).",
        because=costs,
        do=joined(
            "Do not look for the cause there; look at where locks are served, at MP synchronization, at the resource "
            "hash table and at the number of lock operations.",
            invalid,
        ),
        evidence=(Evidence(label, value, "", source), *(own.proof if own else ())),
    )


def _named(facts: Facts) -> Iterator[tuple[str, Reading, Source]]:
    for item in facts.every(LockSummaryItem):
        words = item.label.lower()
        if "value block" in words or "valblk" in words.split():
            yield item.label, item.value, item.source
    for row in facts.every(StatisticRow):
        if row.item == ITEM:
            value = row.count if row.count is not None and known(row.count) else row.mean_per_second
            yield ITEM, row.count if unreal(row.count) else value, row.source
