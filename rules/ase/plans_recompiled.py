"""Procedures are compiled again and again while they run.

Finds: a tenth or more of the procedure requests that had a plan made anew, a hundred a second or more, with the reasons
that sp_sysmon counts from 15.7 on (Recompilation Reasons).

Why it matters: a plan is made to be used many times. Each that is made anew takes the time of an engine and memory of
the procedure cache; no larger cache keeps it, as it was not thrown out but did not fit its tables any more.

What to do: stop what makes the reason that is counted most. For a schema change: look for procedures that create, index
or alter a table, a temporary one too, which the plans of others (or their own, compiled before) use. Create temporary
tables with their indexes first, and fill and read them in a procedure that is called after that.

When to ignore it: during a change of the schema or statistics, which has all plans made anew once. What a reason stands
for, this rule takes from its name; how long the compilations took, sp_sysmon does not print.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts, known
from collectors.facts.ase import ProcedureCacheActivity, Recompilations, SysmonSample
from rules.ase._evidence.server import ENGINE_FACTS, engines_of, subject_of
from rules.ase._evidence.times import without_head
from rules.engine import limit, percent, rule
from rules.finding import Clean, Evidence, Finding, Outcome, Severity, Unknown

LINKS = (
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc32300.1550/html/sqlug/CHDHEBFH.htm",
    "https://blog.tectoro.com/2015/10/27/sybase-15-deferred-compilation/",
)
MAKES = {
    "Schema Change": "Find the procedures that create, index or alter a table while they run: have temporary tables "
    "created with their indexes first, and used in a procedure that is called after that.",
    "Index Change": "Find what creates or drops indexes while procedures run, and create them once, before.",
    "Temporary Table Missing": "Find the procedures that use a temporary table which another one, or the session, "
    "creates: let it exist before they are called, and create and use it in one procedure.",
    "Table Missing": "Find what drops and creates tables anew while procedures run: truncate them instead.",
    "Isolation Level Change": "Find the procedures that sessions of different isolation levels share, and let those "
    "sessions run at one level.",
}
"""What to look for, by the names of the reasons [I]; of others only their names are said."""
OTHER = "Find what makes this reason, by its name, while procedures run."
NO_SIZE = "A larger procedure cache does not help."
BECAUSE = (
    "Each plan that is made anew takes the time of an engine and memory of the procedure cache. It was not thrown out, "
    "but did not fit its tables any more."
)
WHICH = (
    "Which procedures is not in the export: monSysStatement counts PlansAltered for each ProcedureID. What compiling "
    "costs sp_sysmon does not print."
)


@dataclass(frozen=True)
class Limits:
    """From which share and rate of recompilations on, and when they are dear."""

    share_percent: float = percent(10.0, "this project: nine of ten plans used as they are, as of the statement cache")
    per_second: float = limit(100.0, "this project: fewer compilations are nothing to an engine", unit="/s")
    busy_percent: float = percent(85.0, "practice: CPU of 85 % (Rukav's sp_sysmon hints)")


@rule(needs=(), uses=(*ENGINE_FACTS, ProcedureCacheActivity, Recompilations, SysmonSample), links=LINKS, limits=Limits)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Hold the recompilations against the requests."""
    one = facts.latest(ProcedureCacheActivity)
    if one is None or not known(one.requests) or not known(one.recompilations):
        yield Unknown.of(ProcedureCacheActivity)
        return
    again, requests = one.recompilations, one.requests
    sample = next((row for row in facts.every(SysmonSample) if row.source.file == one.source.file), None)
    rate = again / sample.seconds if sample and sample.seconds else None
    share = 100.0 * again / requests if requests > 0 else 0.0
    said = f"{again:,.0f} recompilations for {requests:,.0f} procedure requests"
    if rate is None and share >= limits.share_percent:
        yield without_head(said)
        return
    if rate is None or share < limits.share_percent or rate < limits.per_second:
        yield Clean(f"{said} (limits {limits.share_percent:g} % and {limits.per_second:g} a second)")
        return
    reasons = [row for row in facts.every(Recompilations) if not row.phase and known(row.count) and row.count > 0]
    reasons = [row for row in reasons if row.source.file == one.source.file]
    most = max(reasons, key=lambda row: row.count if known(row.count) else 0.0, default=None)
    why = f" because of {most.reason.lower()}" if most else ""
    engines = engines_of(facts)
    busy = engines.busy_percent
    warns = busy is not None and busy >= limits.busy_percent
    yield Finding(
        subject="recompilations",
        severity=Severity.WARNING if warns else Severity.ADVICE,
        title=f"{subject_of(facts)}: plans of procedures are compiled anew {rate:,.0f} times a second{why}",
        seen=f"{said}, {share:.0f} %, {rate:,.0f} a second."
        + (f" {most.count:,.0f} of them for the reason {most.reason}." if most else ""),
        because=BECAUSE,
        do=f"{MAKES.get(most.reason, OTHER) if most else OTHER} {NO_SIZE}",
        unknown=WHICH,
        evidence=(
            Evidence(
                "recompilations for each 100 procedure requests",
                round(share, 1),
                "%",
                one.source,
                limits.share_percent,
                "as recompilations of requests",
            ),
            Evidence(
                "recompilations", round(rate, 1), "/s", one.source, limits.per_second, "by the seconds of the sample"
            ),
            *(
                Evidence(f"recompilations, {row.reason}", row.count, "", row.source)
                for row in reasons
                if known(row.count)
            ),
            *(
                (Evidence("mean engine busy", round(busy, 1), "%", engines.source, limits.busy_percent),)
                if busy is not None
                else ()
            ),
        ),
        share=share,
        explains=("ase/procedure_cache_spinlock_contended",),
    )
