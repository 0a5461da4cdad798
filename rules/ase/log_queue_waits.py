"""Tasks wait for the queue of log blocks of 16.0 (PLCBLOCK).

Finds: tasks that wait under the events 704, 705, 880, 900 and 902 of monSysWaits, whose texts name a PLCBLOCK, as an
average number over the interval and as a share of the tasks that wait or run.

Why it matters: with `user log cache queue size` above 0, 16.0 cuts a user log cache into blocks of a page and queues
them for the log (vendor: New Features 16.0, made for datarows tables that many update). A task that has to wait there
waits for the log, as at the log semaphore before.

What to do: where two snapshots of monProcessActivity show which program commits most, and how little each time, it
comes first: fewer commits. What else reduces these waits is in no source that was read. By the design it is what
reduces the work on the log: fewer and larger transactions, a larger user log cache where it is flushed because it is
full or its blocks ran out (ten times a second or more, then it stands first, with the value of the first step that
`ase/user_log_cache_flushes` would take), a faster log device. That is inference, so nothing is scripted.

How loud it is: as other waits, by the tasks that wait, for that they do is measured, whatever reduces it; advice at
most where fewer wait than engines are online, as of one load.

When to ignore it: a published TPC-C run on 16.0 SP04 had nine tasks there, 5 % of those that waited, and ran well.
sp_sysmon's row `PLCBLOCK flush` counts switches and no time, and no text describes it: nothing is judged by it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from collectors.facts import Facts
from collectors.facts.ase import MonOpenDatabases
from rules.ase._evidence.log.cache_size import SETTING, SIZE_FACTS, larger
from rules.ase._evidence.log.committers import committers
from rules.ase._evidence.log.flushes import NO_BLOCK, Flushes, flushes_of
from rules.ase._evidence.log.levers import LEVER_FACTS, LogLimits, levers, of_log, whose_evidence
from rules.ase._evidence.log.mixed import mixed_evidence, mixed_logs
from rules.ase._evidence.server import setting_of, subject_of
from rules.ase._evidence.waits.events import LOG_BLOCKS
from rules.ase._evidence.waits.verdict import TooLong, WaitLimits, judge_waits, unless_few
from rules.engine import limit, rule
from rules.finding import Evidence, Finding, Outcome, Unknown, joined

LINKS = ("https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc00641.1600/doc/html/mas1371753995745.html",)
WHAT, QUEUE = "the queue of log blocks (PLCBLOCK)", "user log cache queue size"
BECAUSE = "By its design a task in that queue waits for the end of the log, as others do at the log semaphore."
NO_FREE = (
    "{0:,.0f} flushes of user log caches ({1:.1f} %) were {2}: by that name the blocks of a cache ran out, of which a "
    "larger user log cache size (static) gives more, as this project infers; no source says how much."
)
INFERRED = f"inferred from the flushes {NO_BLOCK}"
LARGER = f"a larger user log cache size (static; {INFERRED})"
LARGER_BY = f'a larger user log cache size (`sp_configure "{SETTING}", {{1:.0f}}`, from {{0:.0f}}; static; {INFERRED})'
UNKNOWN = (
    "What reduces these waits is in no source that was read, and no text describes PLCBLOCK: that it is what reduces "
    "the work on the log is this project's inference from the design."
)


@dataclass(frozen=True)
class Limits(LogLimits, WaitLimits):
    """`WaitLimits` and `LogLimits`, and from when on the blocks of user log caches run out often."""

    flushes_per_second: float = limit(
        10.0, "this project: as in ase/log_flushed_early; fewer are no load on the log", unit="flushes/s"
    )


@rule(needs=(), uses=(*LEVER_FACTS, *SIZE_FACTS), links=LINKS, limits=Limits)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge by the time that tasks waited; sp_sysmon has none."""
    unsure, found = Unknown.of(MonOpenDatabases).missing, partial(_finding, facts, limits)
    yield from judge_waits(facts, limits, found, what=WHAT, events=LOG_BLOCKS, when_unsure=unsure)


def _finding(facts: Facts, limits: Limits, waits: TooLong) -> Iterator[Outcome]:
    queue = setting_of(facts, QUEUE)
    size = queue.run_number if queue else None
    said, many, evidence = _no_free_block(facts, limits)
    most = committers(facts)
    yield Finding(
        subject=subject_of(facts),
        severity=unless_few(facts, waits),
        title=f"{waits.title}{of_log(facts)}{f'; most commits by {most.program.name}' if most else ''}",
        seen=waits.seen,
        because=joined(BECAUSE, said),
        do=levers(facts, limits, before=_larger(facts) if many else ""),
        unknown=UNKNOWN,
        evidence=(
            *waits.evidence,
            *whose_evidence(facts),
            *mixed_evidence(mixed_logs(facts)),
            *((Evidence(QUEUE, size, "", queue.source),) if queue and size is not None else ()),
            *evidence,
        ),
        explains=("ase/log_semaphore_contended",),
    )


def _larger(facts: Facts) -> str:
    """A larger user log cache, with the first step of `ase/user_log_cache_flushes` where the size is listed."""
    step = larger(facts).change
    if step is None or isinstance(step.old, str) or isinstance(step.new, str):
        return LARGER
    return LARGER_BY.format(step.old, step.new)


def _no_free_block(facts: Facts, limits: Limits) -> tuple[str, bool, tuple[Evidence, ...]]:
    """That no block of user log caches was free at some flushes, as a sentence, and whether often; else empty."""
    flushes = flushes_of(facts)
    rows = flushes.by(NO_BLOCK) if isinstance(flushes, Flushes) else ()
    if not isinstance(flushes, Flushes) or not flushes.count(rows):
        return "", False, ()
    said = NO_FREE.format(flushes.count(rows), flushes.percent(rows), NO_BLOCK)
    rate = flushes.rate(rows)
    many = rate is not None and rate >= limits.flushes_per_second
    return said, many, (Evidence(f"flushes {NO_BLOCK}", flushes.count(rows), "", rows[0].source),)
