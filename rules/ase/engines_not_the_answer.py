"""More engines would only spin more.

Finds: busy engines while one or more spinlocks are contended: lock hash tables, metadata, data caches, or any other
that monSpinlockActivity counted.

Why it matters: sp_sysmon counts a spinning engine as busy, so a server that waits for its own spinlocks looks short of
processors. Each engine added then spins as well, and all of them get less done. Jeff Tallman ("ASE 16 & Managing VLDB's
with VLH", 2014) saw more than 50 % contention and response times growing exponentially beyond 24 engines.

What to do: do not add engines now. Fix the spinlocks named here, the most expensive first, and measure
again under the same load: if the engines are still busy and the spinlocks quiet, more engines may be right.

When to ignore it: when a figure comes from a minute of its own, such as a batch that runs alone. The vendor's case for
more engines is engines over 90 % busy all the time with quiet spinlocks; then this rule says so and finds nothing. A
high figure of a spinlock that is hardly used is no finding, but it is named, and then no engine is recommended either.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts, known
from collectors.facts.ase import CacheActivity, EngineBusy, LockHashtable, MetadataSpinlock, MonEngine
from collectors.facts.ase import MonSpinlockActivity as Spins
from collectors.facts.scaling import LoadSeries
from rules.ase._evidence.server import (
    ENGINE_FACTS,
    Engines,
    engines_of,
    not_shown,
    one_engine,
    subject_of,
    unknown_of,
)
from rules.ase._evidence.spinlocks.figures import Figure
from rules.ase._evidence.spinlocks.gates import (
    LOCK_PERCENT,
    METADATA_PERCENT,
    SPINS_ORIGIN,
    SPINS_PER_ENGINE,
)
from rules.ase._evidence.spinlocks.monitored import dearest, say_doubt
from rules.ase._evidence.spinlocks.spin_severity import little_of
from rules.ase._evidence.spinlocks.survey import (
    CACHE_FACTS,
    LOCK_FACTS,
    Survey,
    all_figures,
    survey,
)
from rules.engine import limit, percent, rule
from rules.finding import Clean, Evidence, Finding, Outcome, Severity, Unknown, Untrusted, joined
from rules.sources import TALLMAN

LINKS = (
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc31644.1600/doc/html/san1371158567770.html",
    "https://wiki.scn.sap.com/wiki/display/SYBASE/Spinlocks+and+CPU+usage+in+SAP+ASE",
    "https://blogs.sap.com/2014/07/16/ase-16-managing-vldb-s-with-vlh-very-large-hardware/",
)

NAMED = 6
"""Spinlocks the sentence names; the evidence names them all."""
ADDING = "adding one may be right"
PROVIDED = "if the host has a processor more and gives those of now their time (ase/host_takes_processor)"


@dataclass(frozen=True)
class Limits:
    """What is busy, and what is contended."""

    busy_percent: float = percent(85.0, "practice: CPU of 85 % (Rukav's sp_sysmon hints)")
    add_engines_percent: float = percent(90.0, "vendor: add engines only if they are busier than this all the time")
    contention_percent: float = percent(LOCK_PERCENT, f"practice: 10 % starts the search ({TALLMAN})", low=0.1)
    metadata_percent: float = percent(METADATA_PERCENT, "vendor: above 3 % (sp_sysmon guide)", low=0.1)
    uses_per_second: float = limit(
        1000.0, "this project: fewer lookups or searches cannot keep an engine busy", unit="/s"
    )
    spins_percent: float = percent(
        3.0, "this project: of engines that spin less at most, an engine more would hardly spin", low=0.1
    )
    spins_per_engine: float = limit(SPINS_PER_ENGINE, SPINS_ORIGIN, unit="spins/s")


@rule(
    needs=(),
    uses=(*ENGINE_FACTS, *LOCK_FACTS, *CACHE_FACTS, MetadataSpinlock, LoadSeries),
    links=LINKS,
    limits=Limits,
)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Hold the engines' work against what the spinlocks say."""
    engines = engines_of(facts)
    busy = engines.busy_percent
    alone = one_engine(facts)
    if alone:
        yield alone
        return
    if busy is None or engines.number is None:
        doubtful = [row.certificate for row in facts.every(MonEngine) if not row.believed]
        yield Untrusted(f"monEngine: {say_doubt(doubtful)}") if doubtful else Unknown.of(EngineBusy, MonEngine)
        return
    said = f"{engines.number} engines {busy:.0f} % busy on average"
    if busy < limits.busy_percent:
        yield Clean(f"{said}, limit {limits.busy_percent:g} %")
        return
    figures = all_figures(facts)
    families = {one.family for one in figures if isinstance(one, Figure)}
    percents = dict.fromkeys(families, limits.contention_percent) | {"metadata": limits.metadata_percent}
    seen = survey(facts, figures, percents, dict.fromkeys(families, limits.uses_per_second), limits.busy_percent)
    yield from seen.untrusted
    little = little_of(facts, seen.hot, limits.spins_percent)
    if seen.hot:
        yield _finding(facts, seen, engines, busy, percents, limits, little)
    elif not seen.untrusted and not seen.seen:
        yield unknown_of(facts, LockHashtable, MetadataSpinlock, CacheActivity, Spins)
    elif not seen.untrusted:
        yield Clean(f"{said}, {_quiet(facts, limits, seen, engines, busy)}")


def _finding(
    facts: Facts,
    seen: Survey,
    engines: Engines,
    busy: float,
    percents: dict[str, float],
    limits: Limits,
    little: float | None,
) -> Finding:
    hot = seen.by_spins
    listed = ", ".join(f"{one.label} {one.contention:.3g} %" for one in hot[:NAMED] if known(one.contention))
    spins = [one.lock for one in hot if one.lock]
    more = f" and {len(hot) - NAMED} more" if len(hot) > NAMED else ""
    most = f"{spins[0].name} spins most: {spins[0].spins / 1e6:,.0f} million times {spins[0].when}." if spins else ""
    shows = "" if not_shown(facts, Spins) else ", two snapshots of monSpinlockActivity would show them"
    return Finding(
        subject=subject_of(facts),
        severity=Severity.ADVICE,
        title=f"Do not add engines: {busy:.0f} % busy, but with contended spinlocks",
        seen=joined(
            f"{engines.number} engines are {busy:.0f} % busy on average, and "
            + ("part of that is spinning" if little is None else f"at most {little:.1f} % of their time is spinning")
            + f": {listed}{more} of the grabs had to wait.",
            most,
        ),
        because="An engine that spins counts as busy but does no work, and one engine more would spin for the same "
        "spinlocks too."
        if little is None
        else "What spins today is little, but each engine more asks for the same contended spinlocks too.",
        do="Add no engine: fix the spinlocks first, then measure again under the same load.",
        unknown="" if spins else f"How much of this is spinning is not known: sp_sysmon counts no spins{shows}.",
        evidence=(
            Evidence("mean engine busy", round(busy, 1), "%", engines.source, limits.busy_percent),
            *(
                Evidence(f"{one.label} spinlock contention", one.contention, "%", one.source, percents[one.family])
                for one in hot
                if known(one.contention)
            ),
            *(Evidence(f"{one.name} spins", one.spins, "", one.source) for one in spins),
        ),
        weight=max((one.spins for one in spins), default=None),
        share=max((one.share for one in hot if one.share is not None), default=None),
    )


def _quiet(facts: Facts, limits: Limits, seen: Survey, engines: Engines, busy: float) -> str:
    """What no figure in use reaches; and an engine more only where nothing spins much."""
    high = limits.contention_percent
    if seen.faint:
        listed = ", ".join(f"{one.label} {one.contention:g} %, but {why}" for one, why in seen.faint).replace(
            f" (limit {limits.uses_per_second:g})", ""
        )
        return f"and of {seen.seen} spinlock figures none that is in use is contended: {listed}"
    quiet = f"and none of {seen.seen} spinlock figures reaches {high:g} % (metadata: {limits.metadata_percent:g} %)"
    dear = dearest(facts)
    rate = dear.per_engine(engines.number) if dear else None
    if dear and rate is not None and rate >= limits.spins_per_engine:
        return f"{quiet}, yet {dear.name} spins {rate:,.0f} times a second on each engine: one more would spin too"
    if busy <= limits.add_engines_percent:
        return quiet
    measured = any(one.load_name.lower().startswith("engine") for one in facts.every(LoadSeries))
    if measured:
        return f"{quiet}; whether one more is right shows the load series (ase/engines_past_peak)"
    return f"{quiet}: where that lasts and tasks queue for engines, {ADDING} {PROVIDED}"
