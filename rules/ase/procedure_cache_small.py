"""The procedure cache is full and reads again what it threw out.

Finds: a tenth of the procedure requests or more that had to read the procedure from its database (sp_sysmon, or two
snapshots of monProcedureCache), often enough to matter, while others were thrown out, or all of the cache was in use by
`sp_monitorconfig`.

Why it matters: a procedure that is not in the cache is read from sysprocedures and optimized before it runs (vendor:
procedure reads from disk are to be kept few). A cache that is full is no fault by itself, as plans stay until their
memory is asked for; reading what was thrown out a minute before is.

What to do: raise `procedure cache size`, which is dynamic, so far that the most that was in use is four fifths of it;
where all of it was in use the need is hidden, and twice the size is a first step. Then list it again under the same
load. The memory has to be free below `max memory`.

When to ignore it: in the minutes after a start or a change of statistics, when all plans are made anew. Where the most
that was in use leaves a fifth of the cache free, its size is not the cause: procedures that are created, dropped or
marked for recompilation are read again whatever the size.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts, Source, known
from collectors.facts.ase import MonProcedureCache, ProcedureCacheActivity, ResourceUsage, Server, SysmonSample
from rules.ase._evidence.caches.memory import MEMORY_FACTS, free_evidence, free_memory
from rules.ase._evidence.procedure_cache import (
    SIZE,
    USED_ORIGIN,
    USED_PERCENT,
    WHICH,
    enlarged,
    most_used,
    usage_of,
    used_share,
)
from rules.ase._evidence.server import interval_first, setting_of, subject_of
from rules.engine import limit, percent, rule
from rules.finding import Clean, Evidence, Finding, MissingInput, Outcome, Severity, Unknown, joined

LINKS = (
    "https://infocenter.sybase.com/help/topic/com.sybase.dc20020_1251/html/databases/X51406.htm",
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc31644.1600/doc/html/san1371158530441.html",
)
BECAUSE = (
    "A procedure that is not in the cache is read from sysprocedures and optimized before it runs. The cache threw "
    "them out for lack of memory, or has none left."
)
USAGE = MissingInput("how much of the procedure cache is in use", f'sp_monitorconfig "{SIZE}"')
AGAIN = (
    f'sp_monitorconfig "{SIZE}" and sp_sysmon at the same hour show whether the reads have stopped; else double again.'
)


@dataclass(frozen=True)
class Limits:
    """From which share and rate of reads on, and how much of the cache may be in use."""

    read_percent: float = percent(
        10.0, "this project: nine of ten procedures found, as is asked of the statement cache"
    )
    per_second: float = limit(10.0, "this project: fewer reads and plans are nothing to an engine", unit="/s")
    used_percent: float = percent(USED_PERCENT, USED_ORIGIN, low=50)


@dataclass(frozen=True)
class Reads:
    """What was asked of the procedure cache in an interval."""

    requests: float
    read: float
    removed: float | None
    """`None` where they are not counted."""
    seconds: float | None
    source: Source

    @property
    def percent(self) -> float:
        """Requests that had to read, per cent."""
        return 100.0 * self.read / self.requests


@rule(
    needs=(),
    uses=(ProcedureCacheActivity, MonProcedureCache, SysmonSample, ResourceUsage, Server, *MEMORY_FACTS),
    links=LINKS,
    limits=Limits,
)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Hold the reads against the requests, then ask whether the size is to blame."""
    reads = _reads(facts)
    if reads is None:
        yield Unknown.of(ProcedureCacheActivity, MonProcedureCache)
        return
    rate = reads.read / reads.seconds if reads.seconds else None
    said = f"{reads.read:,.0f} of {reads.requests:,.0f} procedure requests read from disk, {reads.percent:.1f} %"
    if reads.percent < limits.read_percent or (rate is not None and rate < limits.per_second):
        yield Clean(f"{said} (limits {limits.read_percent:g} % and {limits.per_second:g} a second)")
        return
    share = used_share(facts)
    if share is not None and share < limits.used_percent:
        yield Clean(f"{said}, but at most {share:.0f} % of the procedure cache was in use: its size is not the cause")
    elif share is None and reads.removed is None:
        yield Unknown((USAGE,), said)
    elif share is None and not reads.removed:
        yield Clean(f"{said}, and none was thrown out: they were read for the first time")
    else:
        yield _finding(facts, limits, reads, rate, share)
        if share is None:
            yield Unknown((USAGE,))


def _reads(facts: Facts) -> Reads | None:
    """By sp_sysmon, which counts removals too, else between two snapshots; `None` without requests."""
    one = facts.latest(ProcedureCacheActivity)
    if one and known(one.requests) and known(one.reads_from_disk) and 0 <= one.reads_from_disk <= one.requests > 0:
        sample = next((row for row in facts.every(SysmonSample) if row.source.file == one.source.file), None)
        removed = one.removals if known(one.removals) and one.removals >= 0 else None
        return Reads(one.requests, one.reads_from_disk, removed, sample.seconds if sample else None, one.source)
    rows = [row for row in interval_first(facts, MonProcedureCache) if row.of_interval and row.believed]
    for row in reversed(rows):
        if known(row.requests) and known(row.loads) and 0 <= row.loads <= row.requests > 0:
            return Reads(row.requests, row.loads, None, row.seconds, row.source)
    return None


def _finding(facts: Facts, limits: Limits, reads: Reads, rate: float | None, share: float | None) -> Finding:
    each = f", {rate:,.0f} a second" if rate is not None else ""
    out = f"; {reads.removed:,.0f} were thrown out" if reads.removed else ""
    usage = usage_of(facts)
    again = usage.reused if usage and known(usage.reused) and usage.reused > 0 else None
    change, short = enlarged(facts, limits.used_percent)
    now = setting_of(facts, SIZE)
    size = now.run_number if now else None
    to = f"from {size:,.0f} to {change.new:,} pages of 2 KB" if change and size else ""
    if change and short:
        do, then = f"Raise {SIZE} {to}, but only after max memory.", short
    elif change:
        do, then = f"Raise {SIZE} {to}, in force at once.", AGAIN
    else:
        do, then = f"Raise {SIZE} (dynamic) as far as the memory allows; twice is a first step.", WHICH
    free = free_memory(facts)
    return Finding(
        subject=SIZE,
        severity=Severity.WARNING if share is not None and reads.removed != 0 else Severity.ADVICE,
        title=f"{subject_of(facts)}: {SIZE} is too small: {reads.percent:.0f} % of the requests read from disk",
        seen=joined(
            f"{reads.read:,.0f} of {reads.requests:,.0f} procedure requests read from disk ({reads.percent:.1f} %)"
            f"{each}{out}.",
            f"At most {share:.0f} % of the procedure cache was in use{f', reused {again:,.0f} times' if again else ''}."
            if share is not None
            else "",
        ),
        because=BECAUSE,
        do=joined(do, then),
        unknown=""
        if free
        else 'Whether the memory is free below max memory is not in the export: sp_configure "memory" shows it.',
        evidence=(
            Evidence(
                "procedure requests that read from disk",
                round(reads.percent, 1),
                "%",
                reads.source,
                limits.read_percent,
                "as reads of requests",
            ),
            *(
                (
                    Evidence(
                        "procedures read from disk",
                        round(rate, 1),
                        "/s",
                        reads.source,
                        limits.per_second,
                        "by the seconds of the interval",
                    ),
                )
                if rate is not None
                else ()
            ),
            *((Evidence("procedures thrown out", reads.removed, "", reads.source),) if reads.removed else ()),
            *most_used(facts),
            *((Evidence("procedure cache reused", again, "", usage.source),) if usage and again else ()),
            *(free_evidence(facts) if short else ()),
        ),
        changes=(change,) if change and not short else (),
        share=reads.percent,
        explains=("ase/procedure_cache_spinlock_contended",),
    )
