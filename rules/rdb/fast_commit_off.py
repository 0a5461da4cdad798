"""Every commit waits until its pages are on the disk.

Finds: fast commit disabled where transactions write data pages synchronously, and many of them.

Why it matters: without fast commit a process writes all pages it changed to the disk before its commit ends, and holds
their locks until then. With it, pages stay in the buffer pool until a checkpoint (Oracle Rdb SQL Reference Manual).
Fast commit is also a prerequisite of row caches, page transfer via memory and commit to journal.

What to do: enable it after after-image journaling, with the database closed and after a full backup, and set a
checkpoint interval by how long a recovery may take.

When to ignore it: where recovery after a failure has to be short: all work since the last checkpoint is then done again
from the journal. It helps changes of data only, not of definitions, and nothing where little is written.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts
from collectors.facts.rdb import Database, StatisticRow
from rules.engine import limit, rule
from rules.finding import Clean, Evidence, Expectation, Finding, MissingInput, Outcome, Severity, Unknown
from rules.rdb._evidence.counted import (
    COUNTED_FACTS,
    caveats,
    counted,
    of_each_node,
    quiet,
    rounded,
    shown,
    waits_matter,
)
from rules.rdb._evidence.databases import OneDatabase, Read, databases
from rules.rdb._evidence.limits import least
from rules.rdb._evidence.prerequisites import (
    changes_to,
    evidence_of,
    listed,
    steps_to,
    unmet,
    unsure,
)
from rules.rdb._evidence.statistics import LEAST_COUNTED, Rate, Statistics

LINKS = (
    "https://uprrp2.uprrp.edu/conan/sys$common/syshlp/SQL$HELP72.HLB?key=ALTER~DATABASE~Arguments~FAST_COMMIT",
    "https://docs.oracle.com/cd/F25597_01/document/products/rdb/720/E06178-01/sql_p060.htm",
)
EACH = "synchronous data writes per transaction"


@dataclass(frozen=True)
class Limits:
    """From where on the writes at commit matter. No vendor names a figure."""

    writes_per_transaction: float = limit(
        1.0, "this project: most transactions wait for a write; no vendor names a limit", unit="synchronous data writes"
    )
    writes_per_second: float = least(20.0, "synchronous data writes/s")
    stalled_per_second: float = limit(
        1.0,
        "this project: fewer lock requests that wait get a note alone; no vendor names a limit",
        unit="stalled locks/s",
    )


@rule(needs=(Database,), uses=COUNTED_FACTS, links=LINKS, limits=Limits, sample=LEAST_COUNTED)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge each database."""
    for one in databases(facts):
        yield from _judge(facts, one, limits)


def _judge(facts: Facts, one: OneDatabase, limits: Limits) -> Iterator[Outcome]:
    fast = one.read("fast_commit")
    if fast is None:
        yield Unknown.without("fast commit", Database.COLLECTED_BY, f"{one.subject}: not in the export")
        return
    if fast.value:
        yield Clean(f"{one.subject}: fast commit is enabled{one.read_apart}")
        return
    found, refused = counted(facts, one)
    read = of_each_node(found, _commits)
    if not read and refused:
        yield refused
        return
    if not read:
        bring = MissingInput("synchronous data writes and transactions (Summary IO)", StatisticRow.COLLECTED_BY)
        yield Unknown((bring,), f"{one.subject}: fast commit is disabled, the default")
        return
    (writes, done), of = max(read, key=lambda pair: pair[0][0].per_second)
    each_writes = writes.per_second / done.per_second if done.per_second else 0.0
    figures = f"{rounded(writes.per_second)} synchronous data writes/s, {rounded(each_writes)} for each transaction"
    if each_writes < limits.writes_per_transaction or writes.per_second < limits.writes_per_second:
        yield quiet(
            f"{one.subject}: fast commit is disabled, but only {figures} (limits {limits.writes_per_second:g}/s and "
            f"{limits.writes_per_transaction:g})",
            of,
        )
        return
    yield _finding(facts, one, limits, fast, (writes, done, each_writes, figures), of)
    if lacking := unsure(steps_to("fast_commit", facts, one)):
        yield Unknown(tuple(lacking))


def _commits(each: Statistics) -> tuple[Rate, Rate] | None:
    """Synchronous data writes and transactions, where both were counted."""
    writes, done = each.rate("synch data writes"), each.transactions
    return (writes, done) if writes and done else None


def _finding(
    facts: Facts, one: OneDatabase, limits: Limits, fast: Read, found: tuple[Rate, Rate, float, str], of: Statistics
) -> Finding:
    writes, done, each_writes, figures = found
    stalled = of.rate("requests stalled", "total")
    waits = waits_matter(of, stalled.per_second if stalled else None, limits.stalled_per_second)
    missing = unmet(steps_to("fast_commit", facts, one))
    if waits:
        do = (
            (f"First {listed(missing)}, which needs a journal file on a disk of its own; then s" if missing else "S")
            + "et FAST COMMIT from DISABLED to ENABLED with the database closed and after a full backup. Choose the "
            "checkpoint interval by how long a recovery may take."
        )
    else:
        do = "Nothing is set here: hardly a lock was seen to wait, or none was measured."
    return Finding(
        subject=one.subject,
        severity=Severity.ADVICE if waits else Severity.NOTE,
        title=f"commits wait for {each_writes:.1f} page writes each",
        seen=f"{figures}, and fast commit is disabled.",
        because=(
            "Without fast commit each commit writes its pages first, and keeps their locks meanwhile. Fast commit "
            "leaves them to the next checkpoint; in return a recovery has to do again all work since then."
        ),
        do=do,
        unknown=caveats(one, of),
        evidence=(
            Evidence("fast commit", "disabled", "", fast.source),
            *shown("synchronous data writes", writes, limits.writes_per_second),
            Evidence(EACH, round(each_writes, 2), "", writes.source, limits.writes_per_transaction),
            *shown("transactions", done),
            *shown("stalled locks", stalled, limits.stalled_per_second),
            *evidence_of(missing),
        ),
        changes=changes_to("fast_commit", facts, one, "DISABLED", "ENABLED") if waits else (),
        expects=(Expectation(EACH, round(each_writes, 2), "lower", "heuristic"),),
    )
