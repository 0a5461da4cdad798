"""The spinlocks of the procedure cache are contended.

Finds: `Resource->rproccache_spin` or `Resource->rprocmgr_spin` with 10 % of their grabs waiting, or with a tenth of all
spins and enough of them to take an engine's time.

Why it matters: memory for plans comes from the procedure cache under one spinlock. Engines that keep a reserve of their
own (the engine local cache) take it less often; recompilations, large plans and a small cache take it more.

What to do: in this order: a larger `procedure cache size` where procedures are read in or thrown out and most of it is
in use, so large that the most that was used is 80 % of it (practice; scripted where that is known and the memory is
free); `max online engines` no higher than the engines
in use, because the engines' own reserve is divided by it (scripted where half of them or fewer are); a larger `engine
local cache percent` and, from 15.7 SP100 on, `enable large chunk elc`; fewer recompilations; a release from 15.7 ESD#4
on. Which of them helps is the experience of practitioners, and the static ones go into one restart; a larger engine
local cache is scripted where `monProcELC` (16.0 SP03 PL08 on) counted that the engines found theirs empty, and on
releases before that, which count nothing, in a smaller step. Beside a lower `max online engines`, which makes each
reserve twice as large or more, it waits for the figures after that.

When to ignore it: when the engines are not busy, or in the minutes after a restart while all plans are made anew.
sp_sysmon prints nothing of these spinlocks.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts, known
from collectors.facts.ase import (
    MonProcedureCache,
    MonProcELC,
    MonSpinlockActivity,
    ProcedureCacheActivity,
    ResourceUsage,
)
from collectors.facts.ase.introduced import TABLES
from rules.ase._evidence.caches.memory import MEMORY_FACTS
from rules.ase._evidence.procedure_cache import (
    SIZE,
    USED_ORIGIN,
    USED_PERCENT,
    WHICH,
    enlarged,
    indicated,
    larger,
    most_used,
    not_indicated,
    now_of,
    usage_of,
)
from rules.ase._evidence.server import (
    ENGINE_FACTS,
    busy_of,
    interval_first,
    level_reached,
    offers,
    setting_of,
)
from rules.ase._evidence.spinlocks.figures import Figure, figure_of
from rules.ase._evidence.spinlocks.local_cache import local_caches
from rules.ase._evidence.spinlocks.monitored import PROCEDURE_CACHE, PROCEDURE_MANAGER
from rules.ase._evidence.spinlocks.named import Advice, Dear, quiet_of, speak
from rules.ase._evidence.spinlocks.statements_first import statements_first
from rules.ase._evidence.statement_cache import STATEMENT_FACTS
from rules.changes.ase_config import configure, waiting_number
from rules.engine import percent, rule
from rules.finding import Change, Evidence, Finding, MissingInput, Outcome, Severity, Unknown, capitalized, joined

LINKS = (
    "https://wiki.scn.sap.com/wiki/display/SYBASE/Spinlocks+and+CPU+usage+in+SAP+ASE",
    "https://blogs.sap.com/2016/10/27/ase-procedure-cache-engine-local-cache-elc/",
    "https://blogs.sap.com/2020/04/01/configuring-ase-procedure-cache-engine-local-cache-and-the-global-procedure-cache-pool/",
    "https://blogs.sap.com/2013/11/27/sybase-150-spinlock-contention-in-procedue-cache/",
)
LOCAL, ENGINES, LARGE, ALLOCATION = (
    "engine local cache percent",
    "max online engines",
    "enable large chunk elc",
    "large allocation auto tune",
)
AT_STARTUP = "number of engines at startup"
MANY = 2.0
"""This project: where half of them or fewer may ever come, the reserve of each engine at least doubles."""
NO_MORE = (
    "No more engines can come online after that, in any thread pool, without another restart: keep those of the year's "
    "busiest day in mind."
)
DIVIDES = f"That {SIZE} times {LOCAL} is divided by it is experience (a blog of SAP's, 2020), no manual says so."
MOST_LOCAL = 80.0
"""Vendor: the most that is advised of engine local cache percent (Configuration parameters 16.0)."""
NEXT_LOCAL = 50.0
"""Vendor: the default of engine local cache percent from 16.0 on; the step where nothing counts what it takes."""
NOT_COUNTED = (
    f"Before {TABLES['monProcELC']} nothing counts how often a reserve is empty: "
    "hold the spinlock against today's after."
)
SECOND = f"{LOCAL} up to {MOST_LOCAL:g}, the most advised, in a later one if it stays contended"
SHARED = (
    "What the engines keep for themselves is missing from the pool of all: look at procedures thrown out{}, before and "
    "after. The least that was seen to run is the value in the undo."
)
EMPTY = ", and at Empty of monProcELC"
STATEMENTS_FIRST = (
    "Nothing here yet: each statement that the statement cache keeps or throws out takes this spinlock as well. Have "
    "its literals replaced first (ase/statement_cache_spinlock_contended), and measure."
)
COUNTS = MissingInput(
    "procedures read in or thrown out, and recompilations", 'sp_sysmon "00:10:00" -- at the busiest hour'
)


@dataclass(frozen=True)
class Limits(Dear):
    """From which figures on the rule speaks, and what it asks for."""

    used_percent: float = percent(USED_PERCENT, USED_ORIGIN, low=50)


@rule(
    needs=(),
    uses=(
        *ENGINE_FACTS,
        MonSpinlockActivity,
        MonProcedureCache,
        MonProcELC,
        ProcedureCacheActivity,
        ResourceUsage,
        *(*MEMORY_FACTS, *STATEMENT_FACTS),
    ),
    links=LINKS,
    limits=Limits,
)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge the two spinlocks, each by itself."""
    outcomes = [_judged(facts, limits, name) for name in (PROCEDURE_CACHE, PROCEDURE_MANAGER)]
    yield from [one for one in outcomes if not isinstance(one, Unknown)] or outcomes[:1]
    if any(isinstance(one, Finding) for one in outcomes) and not _counted(facts):
        yield Unknown((COUNTS,))


def _judged(facts: Facts, limits: Limits, name: str) -> Outcome:
    figure = figure_of(facts, name, name, "procedure cache", sysmon=False)
    if not isinstance(figure, Figure):
        return figure
    quiet = quiet_of(facts, limits, figure)
    if quiet:
        return quiet
    advice = _advice(facts, limits, name)
    if name == PROCEDURE_CACHE and statements_first(facts, limits):
        advice = Advice(advice.because, STATEMENTS_FIRST, "", advice.evidence)
    return speak(facts, limits, figure, subject=name, advice=advice, base=Severity.WARNING)


def _advice(facts: Facts, limits: Limits, name: str) -> Advice:
    """What may help, the size of the cache first, then what each needs a test of its own."""
    size, others = _size(facts, limits), [*_reserve(facts, name), *_newer(facts)]
    first = size.advice
    because = "; ".join(one.because for one in (first, *others) if one.because)
    then = "; ".join(one.do for one in others if one.do)
    again = _recompiled(facts)
    cause = f"; find the cause of {again.value:,.0f} recompilations" if again else ""
    return Advice(
        f"{capitalized(because)}." if because else "",
        _in_order(f"{first.do}{cause}.", then, leads=size.leads),
        first.unknown,
        (*first.evidence, *((again,) if again else ()), *(item for one in others for item in one.evidence)),
        tuple(change for one in (first, *others) for change in one.changes),
    )


@dataclass(frozen=True)
class Size:
    """What is said of the size of the cache."""

    advice: Advice
    leads: bool = True
    """Whether a larger one may help, so that it comes before all else."""


def _in_order(size: str, then: str, *, leads: bool) -> str:
    """What to do first and after it: a size that is large enough stands last."""
    if not then:
        return size
    if not leads:
        return joined(f"In a restart, and measured after it: {then}.", size)
    return joined(size, f"Then, in a restart, and measured after it: {then}.")


def _size(facts: Facts, limits: Limits) -> Size:
    """Whether the cache is too small, as far as the export counts it."""
    counted: list[tuple[str, float, Evidence]] = []
    rows = [row for row in interval_first(facts, MonProcedureCache) if row.of_interval and row.believed]
    for row in rows[-1:]:
        if known(row.loads):
            counted.append(("read in", row.loads, Evidence("procedures read in", row.loads, "", row.source)))
    sample = facts.latest(ProcedureCacheActivity)
    if sample and not counted and known(sample.reads_from_disk):
        read = sample.reads_from_disk
        counted.append(("read in", read, Evidence("procedures read in", read, "", sample.source)))
    if sample and known(sample.removals):
        out = sample.removals
        counted.append(("thrown out", out, Evidence("procedures thrown out", out, "", sample.source)))
    full = _full(facts)
    if full:
        counted.append(full)
    busy = [one for one in counted if one[1] > 0]
    if busy:
        said = " and ".join(f"{count:,.0f} {word}" for word, count, _ in busy)
        proof = (*(one for _, _, one in busy), *most_used(facts))
        do = larger(facts, limits.used_percent)
        change, short = enlarged(facts, limits.used_percent)
        changes = (change,) if change and not short else ()
        advice = Advice(f"Procedures: {said}", do, "" if most_used(facts) else WHICH, proof, changes)
        return Size(advice, indicated(facts, limits.used_percent))
    if counted:
        return Size(Advice("No procedure was read in or thrown out", not_indicated()), leads=False)
    now = now_of(facts)
    return Size(
        Advice(
            do=f"Raise {SIZE}{now and f' ({now})'} only where procedures are read in or thrown out",
            unknown="How many procedures are read in, thrown out and recompiled is not in the export.",
        )
    )


def _recompiled(facts: Facts) -> Evidence | None:
    """Recompilations, each of which takes memory; `None` where none are counted."""
    sample = facts.latest(ProcedureCacheActivity)
    if sample and known(sample.recompilations) and sample.recompilations > 0:
        return Evidence("recompilations", sample.recompilations, "", sample.source)
    return None


def _counted(facts: Facts) -> bool:
    """Whether any export tells if the cache is too small."""
    rows = [row for row in interval_first(facts, MonProcedureCache) if row.of_interval and row.believed]
    return any(known(row.loads) for row in rows) or bool(facts.latest(ProcedureCacheActivity)) or bool(usage_of(facts))


def _full(facts: Facts) -> tuple[str, float, Evidence] | None:
    """What sp_monitorconfig counts as reused in the procedure cache; `None` where it counts nothing."""
    usage = usage_of(facts)
    if usage is None or not known(usage.reused) or usage.reused < 0:
        return None
    return (
        "reused by sp_monitorconfig",
        usage.reused,
        Evidence("procedure cache reused", usage.reused, "", usage.source),
    )


def _reserve(facts: Facts, name: str) -> Iterator[Advice]:
    """What each engine has for itself: cache size times share, divided by the engines that may come.

    Only the pool's own spinlock, `Resource->rproccache_spin`, is taken because a reserve was empty.
    """
    counted = local_caches(facts) if name == PROCEDURE_CACHE else None
    if counted:
        yield Advice(counted.says, evidence=tuple(counted.evidence))
    size, local, most = (setting_of(facts, name) for name in (SIZE, LOCAL, ENGINES))
    online, _ = busy_of(facts)
    may = most.run_number if most else None
    first: tuple[Change, ...] = ()
    if most and may and online and may > online:
        needed = _needed(facts, online)
        fewer = may >= MANY * needed and name == PROCEDURE_CACHE and not (counted and not counted.empty)
        waiting = waiting_number(most)
        if fewer and (waiting is None or waiting > needed):
            first = (configure(ENGINES, may, needed, cautions=(NO_MORE, DIVIDES), configured=waiting),)
        yield Advice(
            f"{ENGINES} is {may:.0f}, and {online} run, which divides their reserve",
            f"{ENGINES} from {may:.0f} to {needed}" if fewer else f"{ENGINES} no higher than the engines in use",
            evidence=(Evidence(ENGINES, may, "", most.source, float(online)),),
            changes=first,
        )
    share = local.run_number if local else None
    pages = size.run_number if size else None
    if local and size and share is not None and pages and may:
        by_step = name == PROCEDURE_CACHE and not offers(facts, "monProcELC")
        target = NEXT_LOCAL if by_step and share < NEXT_LOCAL else MOST_LOCAL
        most_advised, do = _of_local(share)
        changes: tuple[Change, ...] = ()
        waiting = waiting_number(local)
        if counted and not counted.empty and share < MOST_LOCAL:
            do = ""  # nobody found it empty: a larger one changes nothing
        elif share < MOST_LOCAL and (waiting is None or waiting <= share):
            if first:  # both at once would take the most out of the pool of all for one cause
                do = SECOND
            elif counted or by_step:
                cautions = (NOT_COUNTED, SHARED.format("")) if by_step else (SHARED.format(EMPTY),)
                changes = (configure(LOCAL, share, target, cautions=cautions, configured=waiting),)
                do = f"{LOCAL} from {share:g} to {target:g} ({MOST_LOCAL:g} is the most advised)" if by_step else do
        yield Advice(
            f"each engine keeps about {pages * share / 100.0 / may:,.0f} pages at {LOCAL} {share:g}{most_advised}",
            do,
            evidence=(Evidence(LOCAL, share, "%", local.source), Evidence(SIZE, pages, "pages", size.source)),
            changes=changes,
        )
    tuned = setting_of(facts, ALLOCATION)
    if tuned and tuned.run_number is not None:
        yield Advice(
            do=f"{ALLOCATION}, {tuned.run_number:.0f} now, named by practitioners",
            evidence=(Evidence(ALLOCATION, tuned.run_number, "", tuned.source),),
        )
    large = setting_of(facts, LARGE)
    if large and large.run_number == 0:
        yield Advice(
            do=f"{LARGE} on (15.7 SP100)",
            evidence=(Evidence(LARGE, 0, "", large.source),),
        )


def _needed(facts: Facts, online: int) -> int:
    """As many engines as are online, start, or were online at some time by sp_monitorconfig."""
    start = setting_of(facts, AT_STARTUP)
    rows = [one.max_used for one in facts.every(ResourceUsage) if one.name.lower() == ENGINES]
    used = [int(one) for one in rows if known(one)]
    return max(online, int(start.run_number or 0) if start else 0, *used)


def _of_local(share: float) -> tuple[str, str]:
    """The share of the engines' own reserve against the most that is advised, and what to do about it."""
    if share == MOST_LOCAL:
        return ", the most that is advised", ""
    if share < MOST_LOCAL:
        return "", f"{LOCAL} up to {MOST_LOCAL:g}, the most advised"
    return (
        f", more than the {MOST_LOCAL:g} that are advised at most",
        f"{LOCAL} down to {MOST_LOCAL:g}, as all share the rest",
    )


def _newer(facts: Facts) -> Iterator[Advice]:
    if level_reached(facts, "15.7 ESD#4") is False:
        yield Advice(do="15.7 ESD#4 or later, which takes it less")
