"""Statements are hardly ever found again in the statement cache.

Finds: fewer than a quarter of the searches of the statement cache finding their statement, at a rate that counts, by
two snapshots of `monStatementCache`, else by sp_sysmon. Where more are found, but fewer than nine of ten: a cache that
throws out as many statements as it takes in.

Why it matters: a statement that is not found is compiled, which takes time of an engine, and pushes another one out.
Statements that differ in nothing but their literals are different ones to the cache: no size of it holds them all.
Where statements do repeat and each that is taken in pushes out another, the cache is too small for them: few hits and
many statements dropped say so (vendor).

What to do: the vendor's remedy for statements that do not repeat is `enable literal autoparam` (dynamic), before a
larger cache; else parameters in the program, and keeping sessions that send very many different statements out of the
cache. What the compilations cost `monSysExecutionTime` of 16.0 alone tells, of two snapshots: its share of the engines'
time is said, and decides nothing. It is scripted, as advice, only where literal autoparam is known
to be off and either a thousand statements a second are compiled, or engines are busy and the cached statements that are
listed prove that they differ in literals alone.
Of a cache too small, literal autoparam first where it is off; where it is on, a larger `statement cache size`: dynamic,
it comes on top of the procedure cache, and memory that was given is kept until a restart. How large no source says: so
large that a statement stays ten seconds, twice to ten times what it is, as a first step of this project.

How loud it is: advice where it is scripted, and of a full cache where a thousand statements a second are thrown out,
each after a compilation; else a note.

When to ignore it: where few statements are sent as text, or long reports of which none is like another: a compilation
is nothing beside their run. A contended spinlock of that cache is ase/statement_cache_spinlock_contended's.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import ceil

from collectors.facts import Facts, known
from collectors.facts.ase import MonStatementCache, MonSysExecutionTime, ProcedureCacheActivity
from rules.ase._evidence.caches.memory import MEMORY_FACTS, free_evidence, too_little
from rules.ase._evidence.server import ENGINE_FACTS, busy_of, interval_first, offers, setting_of, subject_of, unknown_of
from rules.ase._evidence.statement_cache import (
    HIT_ORIGIN,
    HIT_PERCENT,
    LITERALS,
    SIZE,
    STATEMENT_FACTS,
    Copies,
    Searches,
    Turnover,
    copies_of,
    fewer,
    literal_autoparam,
    searches_of,
    thrown_out,
    turnover_of,
)
from rules.changes.ase_config import configure, more_memory, waiting_number
from rules.engine import limit, percent, rule
from rules.finding import Change, Clean, Evidence, Finding, Outcome, Risk, Severity, Unknown, joined

LINKS = (
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc31644.1600/doc/html/san1371158532363.html",
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc31644.1600/doc/html/san1371158530441.html",
)
COMPILED = (
    "Each that is not found is compiled; statements that differ in literals alone are different ones to the cache, so "
    "no size of it holds them all."
)
ON = "Each that is not found is compiled; literal autoparam is on already, so more than literals differs."
UNKNOWN = "No export that was read says what the compilations cost{0}."
COMPILATION = 3
"""`OperationID` of compilation; a script that prints names alone calls it as the server does, `Compilation`."""
FULL = (
    "Each that is not found is compiled and pushes out another before it is asked for again. Few hits with many "
    "statements dropped mean a cache too small (vendor)."
)
STAY_SECONDS, LEAST_TIMES, MOST_TIMES, STEP_PAGES = 10.0, 2.0, 10.0, 1024
"""This project: how long a statement is to stay, how many times the size a first step is, and what it is rounded to."""
STEP = (
    f"A first step (this project's): so large that a statement stays {STAY_SECONDS:g} seconds, where that is known, "
    f"{LEAST_TIMES:g} to {MOST_TIMES:g} times what it is; compare the hits of the same hour."
)
KEPT = "On top of the procedure cache; what was given is not given back until a restart."
RISK = Risk("medium", "takes effect at once; its memory comes back with a restart only")
BY_TABLE = ": monSysExecutionTime has the time of compilation beside that of execution"


@dataclass(frozen=True)
class Limits:
    """From which share of hits on, and from which rate."""

    hit_percent: float = percent(HIT_PERCENT, HIT_ORIGIN)
    per_second: float = limit(100.0, "this project: fewer compilations are nothing to an engine", unit="/s")
    full_hit_percent: float = percent(90.0, "this project: nine of ten statements found are enough")
    full_percent: float = percent(
        90.0, "this project: a cache that throws out nine for ten that it takes in is full", low=1
    )
    loud_per_second: float = limit(1000.0, "this project: with fewer statements thrown out it is a note", unit="/s")
    busy_percent: float = percent(70.0, "this project: engines with more time left lose nothing that is missed")
    alike_percent: float = percent(
        25.0, "this project: a statement that a quarter of the listed ones are, but for literals, is a habit", low=1
    )


@rule(needs=(), uses=(*STATEMENT_FACTS, MonSysExecutionTime, *MEMORY_FACTS, *ENGINE_FACTS), links=LINKS, limits=Limits)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Hold the statements that were found against all that were looked for."""
    searches = searches_of(facts)
    if searches is None:
        yield Unknown.of(MonStatementCache, ProcedureCacheActivity)
        return
    rate = searches.per_second
    said = f"{searches.percent:.1f} % of {searches.count:,.0f} searches of the statement cache found their statement"
    turned = turnover_of(facts)
    full = turned and turned.percent >= limits.full_percent and turned.per_second >= limits.per_second
    if turned and full and rate is not None and limits.hit_percent <= searches.percent < limits.full_hit_percent:
        yield _too_small(facts, limits, searches, turned, f"{said}, {rate:,.0f} searches a second")
        return
    if rate is None and searches.percent < limits.full_hit_percent:
        yield unknown_of(facts, MonStatementCache, why=f"{said}; how many a second needs snapshots with their times")
        return
    if rate is None or searches.percent >= limits.hit_percent or rate < limits.per_second:
        each = f", {rate:,.1f} a second" if rate is not None else ""
        yield Clean(f"{said}{each} (limits {limits.hit_percent:g} % and {limits.per_second:g} a second)")
        return
    thrown, setting = thrown_out(facts), setting_of(facts, LITERALS)
    on = setting.run_number if setting else None
    changes, alike = _sure(facts, limits, rate * (1 - searches.percent / 100))
    cost = _compiling(facts)
    took = f"; compilations took {cost.value:.0f} % of the engines' time" if cost else ""
    out = f", and {thrown.value:,.0f} were thrown out" if thrown and known(thrown.value) and thrown.value > 0 else ""
    yield Finding(
        subject=subject_of(facts),
        severity=Severity.ADVICE if changes else Severity.NOTE,
        title=f"{100 - searches.percent:.0f} % of the searches of the statement cache find nothing: "
        "statements hardly repeat",
        seen=joined(
            f"{said}, {rate:,.0f} searches a second{out}{took}.",
            f"{alike.says}." if alike else "",
        ),
        because=ON if on else COMPILED,
        do=fewer(facts),
        changes=changes,
        unknown=_unknown(facts, cost),
        evidence=(
            searches.evidence(limits.hit_percent),
            Evidence("searches of the statement cache", round(rate, 1), "/s", searches.source, limits.per_second),
            *([thrown] if thrown else ()),
            *([cost] if cost else ()),
            *([Evidence(LITERALS, on, "", setting.source)] if setting and on is not None else ()),
            *([Evidence("listed statements alike but for literals", alike.number, "", alike.source)] if alike else ()),
        ),
    )


def _compiling(facts: Facts) -> Evidence | None:
    """What part of the engines' time went into compilations between two snapshots; `None` where that was not read."""
    rows = [one for one in interval_first(facts, MonSysExecutionTime) if one.of_interval and one.believed]
    times = [(row, row.microseconds) for row in rows if known(row.microseconds) and row.microseconds >= 0]
    whole = sum(time for _, time in times)
    own = [
        (row, time) for row, time in times if row.operation == COMPILATION or (row.name or "").lower() == "compilation"
    ]
    if not own or not whole or len(own) == len(times):
        return None
    share = round(100 * sum(time for _, time in own) / whole, 1)
    return Evidence("engines' time for compilations", share, "%", own[0][0].source, computed="from all operations")


def _unknown(facts: Facts, cost: Evidence | None) -> str:
    """What of the cost is not known, as a sentence; empty where it was read."""
    return "" if cost else UNKNOWN.format(BY_TABLE if offers(facts, "monSysExecutionTime") else "")


def _sure(facts: Facts, limits: Limits, compiled: float) -> tuple[tuple[Change, ...], Copies | None]:
    """Literal autoparam as a change where it is sure to spare what is felt, with what proves it.

    `compiled`: statements a second.
    """
    changes, alike, (_, busy) = tuple(literal_autoparam(facts)), copies_of(facts), busy_of(facts)
    if alike and 100 * alike.number < limits.alike_percent * alike.listed:
        alike = None
    felt = compiled >= limits.loud_per_second or (alike and busy is not None and busy >= limits.busy_percent)
    return (changes, alike) if changes and felt else ((), None)


def _too_small(facts: Facts, limits: Limits, searches: Searches, turned: Turnover, said: str) -> Finding:
    """A cache that is full of statements that repeat."""
    setting, literals = setting_of(facts, SIZE), setting_of(facts, LITERALS)
    off = literals is None or literals.run_number != 1
    size = setting.run_number if setting and waiting_number(setting) is None else None
    stays = turned.stays_seconds
    long = f", so one stays {stays:,.1f} seconds" if stays is not None and turned.held is not None else ""
    new = _pages(size, stays) if size else None
    mb, takes = more_memory(setting, size, new) if size and new else (0.0, "")
    short = too_little(facts, SIZE, mb) if mb else ""
    to = f" from {size:,.0f} to {new:,.0f} pages of 2 KB" if size and new else ""
    change = None
    if size and new:
        change = replace(configure(SIZE, size, new, cautions=(STEP, KEPT, takes), memory_mb=mb), risk=RISK)
    raised = f'Raise {SIZE}{to}: sp_configure "{SIZE}", {f"{new:.0f}" if new else "<pages>"} (dynamic).'
    first = f"Try {LITERALS} first, which makes fewer different statements (dynamic; sp_configure shows it). "
    return Finding(
        subject=subject_of(facts),
        severity=Severity.ADVICE if turned.per_second >= limits.loud_per_second else Severity.NOTE,
        title=f"The statement cache is too small: {turned.per_second:,.0f} statements a second are thrown out, "
        f"{searches.percent:.0f} % are found again",
        seen=f"{said}. {turned.inserted:,.0f} were taken in and {turned.removed:,.0f} thrown out"
        + (f"; it holds {turned.held:,.0f}{long}." if turned.held else "."),
        because=FULL,
        do=joined(f"{first}Then r{raised[1:]}" if off else raised, short),
        unknown=_unknown(facts, _compiling(facts)),
        evidence=(
            searches.evidence(limits.full_hit_percent),
            Evidence("statements thrown out", round(turned.per_second, 1), "/s", turned.source, limits.per_second),
            Evidence("thrown out of those taken in", round(turned.percent, 1), "%", turned.source, limits.full_percent),
            *([Evidence(SIZE, size, "pages", setting.source)] if setting and size else ()),
            *([Evidence(LITERALS, 1.0, "", literals.source)] if literals and not off else ()),
            *(free_evidence(facts) if short else ()),
        ),
        changes=(change,) if change and not off and not short else (),
    )


def _pages(size: float, stays: float | None) -> float:
    """The first step up, in pages of 2 KB, by how many seconds a statement stays now."""
    times = min(MOST_TIMES, max(LEAST_TIMES, STAY_SECONDS / stays if stays else LEAST_TIMES))
    return ceil(size * times / STEP_PAGES) * STEP_PAGES
