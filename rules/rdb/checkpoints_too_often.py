"""Checkpoints come so often that fast commit saves nothing.

Finds: a checkpoint interval in blocks of the journal that the work of all processes writes within a few seconds, by the
header and the screen AIJ Statistics; with how many transactions end in a checkpoint, and why, by Checkpoint Statistics.

Why it matters: with fast commit pages stay in the buffers until a checkpoint. Each process makes one at its next
commit, once all processes together have written so many blocks; then it writes all pages that it changed, and the root
file, as without fast commit.

What to do: have the interval be what is written in a minute or so, by how long a recovery may take.

When to ignore it: where recovery has to be that short, or where transactions are as long as the interval.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts
from collectors.facts.rdb import Database, StatisticRow
from rules.changes.rdb_database import alter
from rules.engine import limit, percent, rule
from rules.finding import Clean, Evidence, Expectation, Finding, MissingInput, NotApplicable, Outcome, Severity, Unknown
from rules.rdb._evidence.counted import COUNTED_FACTS, counted, rounded, shown
from rules.rdb._evidence.databases import OneDatabase, Read, databases
from rules.rdb._evidence.prerequisites import place_of
from rules.rdb._evidence.screens import Lines, screens
from rules.rdb._evidence.statistics import LEAST_COUNTED

LINKS = (
    "https://uprrp2.uprrp.edu/conan/sys$common/syshlp/SQL$HELP72.HLB?key=ALTER~DATABASE~Arguments~FAST_COMMIT",
    "https://docs.oracle.com/cd/F25597_01/document/products/rdb/720/E06178-01/sql_p060.htm",
)
OF_JOURNAL = re.compile(r"\bAIJ Statistics\b", re.IGNORECASE)
OF_CHECKPOINTS = re.compile(r"\bCheckpoint Statistics\b", re.IGNORECASE)
BLOCKS, CHECKPOINTS, GROWTH, ENDED = "blocks written", "checkpoints", "aij growth", "transactions"
BRING = MissingInput(
    "how fast the journal grows (blocks written)",
    "a write (key W) of the RMU/SHOW STATISTICS screens AIJ Statistics and Checkpoint Statistics, after minutes of "
    "typical load",
)
APART, STEP = 60.0, 1_000
"""This project: seconds between two checkpoints that an interval is proposed for, and blocks it is rounded up to."""
WRITTEN = 0.5
"""This project: synchronous data writes for each transaction; with fewer, hardly one ends in a checkpoint."""
SMALL = 10_000.0
"""This project: blocks; a larger interval passes within seconds only where the journal grows by megabytes a second."""
BECAUSE = (
    "After so many blocks each process writes all its changed pages and the root file at its next commit, as without "
    "fast commit."
)


@dataclass(frozen=True)
class Limits:
    """From where on checkpoints are too many. No vendor names a figure."""

    seconds: float = limit(5.0, "this project: within so few seconds a process changes few pages twice", unit="s")
    per_transaction: float = percent(
        10.0, "this project: one transaction in ten ends in a checkpoint", low=0.1, of="transactions"
    )
    per_second: float = limit(
        5.0, "this project: fewer write little, whatever their share", unit="checkpoints/s or transactions/s"
    )


@rule(needs=(Database,), uses=(*COUNTED_FACTS, StatisticRow), links=LINKS, limits=Limits, sample=LEAST_COUNTED)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge each database."""
    for one in databases(facts):
        yield from _judge(facts, one, limits)


def _judge(facts: Facts, one: OneDatabase, limits: Limits) -> Iterator[Outcome]:
    interval = one.read("checkpoint_blocks")
    blocks = one.figure("checkpoint_blocks") or 0.0
    if not one.is_on("fast_commit") or interval is None or blocks <= 0:
        yield NotApplicable(f"{one.subject}: no fast commit with a checkpoint interval in blocks is in the export")
        return
    journals = [each for each in screens(facts, one, OF_JOURNAL) if each.total(BLOCKS)]
    if not journals:
        yield _without_journal(facts, one, blocks)
        return
    journal = max(journals, key=lambda each: each.total(BLOCKS) or 0.0)
    rate = journal.total(BLOCKS) or 0.0
    made = next((each for each in screens(facts, one, OF_CHECKPOINTS) if each.node == journal.node), None)
    count, ended = (made.total(CHECKPOINTS), made.total(ENDED)) if made else (None, None)
    figures = f"{one.subject}: the journal grows by {rounded(rate)} blocks/s, an interval of {blocks:,.0f} blocks is "
    figures += f"{rounded(blocks / rate)} s"
    if blocks / rate >= limits.seconds:
        yield Clean(f"{figures} (limit {limits.seconds:g} s)")
    elif count is None or not ended:
        yield Unknown((BRING,), figures)
    elif count < limits.per_second or 100 * count < limits.per_transaction * ended:
        yield Clean(
            f"{figures}, but {rounded(count)} checkpoints/s for {rounded(ended)} transactions/s (limits "
            f"{limits.per_second:g}/s and {limits.per_transaction:g} %)"
        )
    elif made:
        yield _finding(facts, one, limits, interval, blocks, (journal, made))


def _without_journal(facts: Facts, one: OneDatabase, blocks: float) -> Outcome:
    """Ask for the screens where the interval is small, or transactions write data pages; else nothing points to it."""
    said = f"{one.subject}: the checkpoint interval is {blocks:,.0f} blocks"
    read = [(put, each.transactions) for each in counted(facts, one)[0] if (put := each.rate("synch data writes"))]
    shares = [put.per_second / done.per_second for put, done in read if done and done.per_second]
    if shares and max(shares) < WRITTEN:
        few = f"{rounded(max(shares))} data pages are written for each transaction"
        return Clean(f"{said}, and {few} (limit {WRITTEN:g})")
    if not shares and blocks >= SMALL:
        return NotApplicable(f"{said}, and nothing in the export points to many checkpoints")
    return Unknown((BRING,), said)


def _finding(
    facts: Facts, one: OneDatabase, limits: Limits, interval: Read, blocks: float, found: tuple[Lines, Lines]
) -> Finding:
    journal, made = found
    rate, count, ended = journal.total(BLOCKS) or 0.0, made.total(CHECKPOINTS) or 0.0, made.total(ENDED) or 0.0
    share, growth = min(100.0, 100 * count / ended), made.total(GROWTH)
    new = math.ceil(rate * APART / STEP) * STEP
    seconds = one.figure("checkpoint_seconds")
    writes = next((put for each in counted(facts, one)[0] if (put := each.rate("synch data writes"))), None)
    return Finding(
        subject=one.subject,
        severity=Severity.ADVICE,
        title=f"checkpoint interval of {blocks:,.0f} blocks: {share:.0f} % of the transactions end in a checkpoint",
        seen=f"{rounded(count)} checkpoints/s for {rounded(ended)} transactions/s ({made.over})"
        + (f", {rounded(growth)}/s of them for the growth of the journal" if growth else "")
        + f". It grows by {rounded(rate)} blocks/s, so {blocks:,.0f} blocks are written in {rounded(blocks / rate)} s.",
        because=BECAUSE,
        do=f"Set CHECKPOINT INTERVAL from {blocks:,.0f} to {new:,} BLOCKS, {APART:g} s of this growth, if a recovery "
        "may do so much again; half or five times of it for a shorter or longer one. Leave fast commit on.",
        unknown=f"A checkpoint also comes every {seconds:,.0f} s by the header." if seconds else "",
        evidence=(
            Evidence("checkpoint interval", blocks, "blocks", interval.source),
            Evidence("growth of the journal", round(rate, 1), "blocks/s", journal.source(BLOCKS)),
            Evidence(
                "time in which the journal grows by the interval",
                round(blocks / rate, 2),
                "s",
                journal.source(BLOCKS),
                limits.seconds,
            ),
            Evidence("checkpoints", round(count, 1), "/s", made.source(CHECKPOINTS), limits.per_second),
            Evidence(
                "transactions that end in one", round(share, 1), "%", made.source(CHECKPOINTS), limits.per_transaction
            ),
            *shown("synchronous data writes", writes),
        ),
        changes=(alter("checkpoint_interval", place_of(facts, one), blocks, new),) if new > blocks else (),
        expects=(Expectation("checkpoints (/s)", round(count, 1), "lower", "heuristic"),),
    )
