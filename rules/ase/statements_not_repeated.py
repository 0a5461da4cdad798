"""Statements are hardly ever found again in the statement cache.

Finds: fewer than a quarter of the searches of the statement cache finding their statement, at a rate that counts, by
two snapshots of `monStatementCache`, else by sp_sysmon.

Why it matters: a statement that is not found is compiled, which takes time of an engine, and pushes another one out.
Statements that differ in nothing but their literals are different ones to the cache: no size of it holds them all.

What to do: the vendor's remedy for statements that do not repeat is `enable literal autoparam` (dynamic), before a
larger cache; else parameters in the program, and keeping sessions that send very many different statements out of the
cache. What the compilations cost is in no export that is read here, so it is a note and scripts nothing:
`monSysExecutionTime` of 16.0 has the time of compilation, to be held against that of execution.

When to ignore it: where few statements are sent as text, or long reports of which none is like another: a compilation
is nothing beside their run. A contended spinlock of that cache is ase/statement_cache_spinlock_contended's.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts, known
from collectors.facts.ase import MonStatementCache, ProcedureCacheActivity
from rules.ase._evidence.server import offers, setting_of, subject_of
from rules.ase._evidence.statement_cache import (
    HIT_ORIGIN,
    HIT_PERCENT,
    LITERALS,
    STATEMENT_FACTS,
    fewer,
    searches_of,
    thrown_out,
)
from rules.engine import limit, percent, rule
from rules.finding import Clean, Evidence, Finding, Outcome, Severity, Unknown

LINKS = ("https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc31644.1600/doc/html/san1371158532363.html",)
COMPILED = (
    "Each that is not found is compiled; statements that differ in literals alone are different ones to the cache, so "
    "no size of it holds them all."
)
ON = "Each that is not found is compiled; literal autoparam is on already, so more than literals differs."
UNKNOWN = "What the compilations cost is not in these exports{0}."
BY_TABLE = ": monSysExecutionTime has the time of compilation beside that of execution"


@dataclass(frozen=True)
class Limits:
    """From which share of hits on, and from which rate."""

    hit_percent: float = percent(HIT_PERCENT, HIT_ORIGIN)
    per_second: float = limit(100.0, "this project: fewer compilations are nothing to an engine", unit="/s")


@rule(needs=(), uses=STATEMENT_FACTS, links=LINKS, limits=Limits)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Hold the statements that were found against all that were looked for."""
    searches = searches_of(facts)
    if searches is None:
        yield Unknown.of(MonStatementCache, ProcedureCacheActivity)
        return
    rate = searches.per_second
    said = f"{searches.percent:.1f} % of {searches.count:,.0f} searches of the statement cache found their statement"
    if searches.percent >= limits.hit_percent or rate is None or rate < limits.per_second:
        each = f", {rate:,.1f} a second" if rate is not None else ""
        yield Clean(f"{said}{each} (limits {limits.hit_percent:g} % and {limits.per_second:g} a second)")
        return
    thrown, setting = thrown_out(facts), setting_of(facts, LITERALS)
    on = setting.run_number if setting else None
    out = f", and {thrown.value:,.0f} were thrown out" if thrown and known(thrown.value) and thrown.value > 0 else ""
    yield Finding(
        subject=subject_of(facts),
        severity=Severity.NOTE,
        title=f"{100 - searches.percent:.0f} % of the searches of the statement cache find nothing: "
        "statements hardly repeat",
        seen=f"{said}, {rate:,.0f} searches a second{out}.",
        because=ON if on else COMPILED,
        do=fewer(facts),
        unknown=UNKNOWN.format(BY_TABLE if offers(facts, "monSysExecutionTime") else ""),
        evidence=(
            searches.evidence(limits.hit_percent),
            Evidence("searches of the statement cache", round(rate, 1), "/s", searches.source, limits.per_second),
            *([thrown] if thrown else ()),
            *([Evidence(LITERALS, on, "", setting.source)] if setting and on is not None else ()),
        ),
    )
