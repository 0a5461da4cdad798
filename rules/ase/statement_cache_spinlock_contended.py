"""The spinlock of the statement cache is contended.

Finds: `SSQLCACHE_SPIN` (16.0: several of them, `SSQLCACHE_SPIN[i]`) with 10 % of its grabs waiting, or with a tenth of
all spins and enough of them to take an engine's time.

Why it matters: each statement sent as text is looked for in the statement cache, and kept there, under this spinlock.
Statements that differ only in their literals are all different to it: each is put in and pushes another out.

What to do: where statements are thrown out, a larger `statement cache size` (dynamic; it comes on top of the procedure
cache, and memory that was given is kept until a restart); fewer different statements with `enable literal autoparam`
and `streamlined dynamic SQL` where they are off, or parameters in the program; keep single sessions that send very many
different statements out of it (`set statement_cache off`). No official page about this spinlock was read: the advice is
what practitioners infer. Literal autoparam is scripted where few statements are found again (the vendor's remedy for
statements that do not repeat); for a larger cache a first step is named. What is set already is not advised.

When to ignore it: when the engines are not busy, or where nothing is thrown out and the same statements are found again
and again. sp_sysmon prints nothing of this spinlock.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import ceil

from collectors.facts import Facts, known
from collectors.facts.ase import MonSpinlockActivity, MonStatementCache, ProcedureCacheActivity
from rules.ase._evidence.server import (
    ENGINE_FACTS,
    interval_first,
    setting_of,
    subject_of,
)
from rules.ase._evidence.spinlocks.figures import Figure, figure_of
from rules.ase._evidence.spinlocks.monitored import STATEMENT_CACHE
from rules.ase._evidence.spinlocks.named import Advice, Dear, quiet_of, speak
from rules.changes.ase_config import configure, waiting_number
from rules.engine import limit, percent, rule
from rules.finding import Change, Evidence, MissingInput, Outcome, Unknown, joined

LINKS = ("https://wiki.scn.sap.com/wiki/display/SYBASE/Spinlocks+and+CPU+usage+in+SAP+ASE",)
INFERRED = "No official page about this spinlock was read: practitioners infer what is advised"
LITERALS, STREAMLINED = "enable literal autoparam", "streamlined dynamic SQL"
SIZE, SPINLOCKS = "statement cache size", "number of cached stmt spinlock"
DIFFER = "statements that differ in literals alone are different ones to it"
PROGRAM = "parameters in the program"
KEEP_OUT = "sessions that send very many of them can be kept out (set statement_cache off)"
PLANS = (
    "Statements that differ in literals share a plan from then on: try it with the application's own statements first, "
    "and see that none of them got slower."
)
REMOVALS = MissingInput("statements thrown out of the statement cache", MonStatementCache.COLLECTED_BY)


@dataclass(frozen=True)
class Limits(Dear):
    """From which figures on the rule speaks, and what it asks for."""

    hit_percent: float = percent(25.0, "practice: fewer hits in the statement cache are an alarm (DbxTune)")
    growth_percent: float = limit(25.0, "this project: a first step, to be measured", low=1, high=100, unit="%")


@rule(
    needs=(),
    uses=(*ENGINE_FACTS, MonSpinlockActivity, MonStatementCache, ProcedureCacheActivity),
    links=LINKS,
    limits=Limits,
)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge the one spinlock, or all of the array together."""
    figure = figure_of(facts, STATEMENT_CACHE, STATEMENT_CACHE, "statement cache", sysmon=False)
    if not isinstance(figure, Figure):
        yield figure
        return
    quiet = quiet_of(facts, limits, figure)
    if quiet:
        yield quiet
        return
    thrown = _thrown_out(facts)
    hits = _found(facts)
    settings = [one for name in (SIZE, LITERALS, STREAMLINED, SPINLOCKS) if (one := setting_of(facts, name))]
    now = {one.name: one.run_number for one in settings if one.run_number is not None}
    proof = [Evidence(one.name, now[one.name], "", one.source) for one in settings if one.name in now]
    because, larger = [], ""
    if thrown and known(thrown.value) and thrown.value > 0:
        because = [f"{thrown.value:,.0f} statements were thrown out of the cache"]
        larger = _larger(limits, now.get(SIZE))
    elif thrown:
        because = ["No statement was thrown out, so a larger statement cache is not indicated"]
    if hits and known(hits.value):
        because.append(f"{hits.value:.3g} % of the searches found their statement")
    if SIZE in now:
        because.append(f"{SIZE} is {now[SIZE]:,.0f} now")
    if LITERALS in now:
        because.append(f"{LITERALS} is on already, so more than literals differs" if now[LITERALS] else DIFFER)
    values = f"; which values {SPINLOCKS} takes, {now[SPINLOCKS]:,.0f} now, no source says" if SPINLOCKS in now else ""
    advice = Advice(
        because=f"{'; '.join(because)}." if because else "",
        do=joined(larger, _fewer(now)),
        unknown=f"{INFERRED}{values}.",
        evidence=(*([thrown] if thrown else []), *([hits] if hits else []), *proof),
        changes=tuple(_changes(facts, limits, hits)),
    )
    yield speak(facts, limits, figure, subject=subject_of(facts), advice=advice)
    if thrown is None:
        yield Unknown((REMOVALS,))


def _larger(limits: Limits, pages: float | None) -> str:
    """A first step up, in pages and megabytes where the size is known."""
    if not pages:
        return f"Raise {SIZE} (dynamic; comes on top of the procedure cache, and stays until a restart)."
    more = ceil(pages * limits.growth_percent / 100)
    return (
        f"Raise {SIZE} from {pages:,.0f} to {pages + more:,.0f} pages first ({more * 2 / 1024:,.1f} MB more on top of "
        "the procedure cache; dynamic, but kept until a restart)."
    )


def _found(facts: Facts) -> Evidence | None:
    """Share of the searches that found their statement, between two snapshots; `None` where it was not counted."""
    rows = [row for row in interval_first(facts, MonStatementCache) if row.of_interval and row.believed]
    for row in reversed(rows):
        if known(row.searches) and known(row.hits) and 0 <= row.hits <= row.searches and row.searches:
            share = round(100.0 * row.hits / row.searches, 1)
            return Evidence("searches of the statement cache that found theirs", share, "%", row.source)
    return None


def _changes(facts: Facts, limits: Limits, hits: Evidence | None) -> Iterator[Change]:
    """Literal autoparam, where statements hardly repeat and it is off."""
    setting = setting_of(facts, LITERALS)
    if setting is None or setting.run_number != 0 or waiting_number(setting) == 1 or hits is None:
        return
    if isinstance(hits.value, float) and hits.value < limits.hit_percent:
        yield configure(LITERALS, 0, 1, cautions=(PLANS,))


def _fewer(now: Mapping[str, float]) -> str:
    """How statements become fewer different ones, by what is not set already. `now`: settings in force."""
    ways = [] if LITERALS in now else [f"{LITERALS} (sp_configure shows whether it is on)"]
    ways += [f"{name} (dynamic, off now)" for name in (LITERALS, STREAMLINED) if now.get(name) == 0]
    return f"Send fewer different statements: {' or '.join([*ways, PROGRAM])}; {KEEP_OUT}."


def _thrown_out(facts: Facts) -> Evidence | None:
    """Statements thrown out, by two snapshots, else by sp_sysmon; `None` where nothing counts them."""
    rows = [row for row in interval_first(facts, MonStatementCache) if row.of_interval and row.believed]
    for row in reversed(rows):
        if known(row.removals):
            return Evidence("statements thrown out", row.removals, "", row.source)
    sample = facts.latest(ProcedureCacheActivity)
    if sample and known(sample.statements_dropped):
        return Evidence("statements thrown out", sample.statements_dropped, "", sample.source)
    return None
