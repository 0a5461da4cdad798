"""The spinlock of the statement cache is contended.

Finds: `SSQLCACHE_SPIN` (16.0: several of them, `SSQLCACHE_SPIN[i]`) with 10 % of its grabs waiting, or with a tenth of
all spins and enough of them to take an engine's time.

Why it matters: each statement sent as text is looked for in the statement cache, and kept there, under this spinlock.
Statements that differ only in their literals are all different to it: each is put in and pushes another out.

What to do: where few statements are found again, `enable literal autoparam` first (the vendor's remedy for statements
that do not repeat: no size would hold them). Else, where they are thrown out, a larger `statement cache size` (dynamic;
it comes on top of the procedure cache, and memory that was given is kept until a restart); fewer different statements
with literal autoparam and `streamlined dynamic SQL` where they are off, or parameters in the program; keep single
sessions that send very many different statements out of it (`set statement_cache off`). No official page about this
spinlock was read: the advice is what practitioners infer. Literal autoparam is scripted, for a larger cache a first
step is named. What is set already is not advised.

When to ignore it: when the engines are not busy, or where nothing is thrown out and the same statements are found again
and again. sp_sysmon prints nothing of this spinlock.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import ceil

from collectors.facts import Facts, known
from collectors.facts.ase import MonSpinlockActivity, MonStatementCache
from rules.ase._evidence.objects.statements import shown
from rules.ase._evidence.server import ENGINE_FACTS, setting_of, subject_of
from rules.ase._evidence.spinlocks.figures import Figure, figure_of
from rules.ase._evidence.spinlocks.monitored import PROCEDURE_CACHE, STATEMENT_CACHE
from rules.ase._evidence.spinlocks.named import Advice, Dear, quiet_of, speak
from rules.ase._evidence.spinlocks.statements_first import statements_first
from rules.ase._evidence.statement_cache import (
    HIT_ORIGIN,
    HIT_PERCENT,
    LITERALS,
    SIZE,
    STATEMENT_FACTS,
    STREAMLINED,
    TEXT,
    Copies,
    copies_of,
    fewer,
    literal_autoparam,
    searches_of,
    thrown_out,
)
from rules.engine import limit, percent, rule
from rules.finding import Evidence, MissingInput, Outcome, Unknown, joined

LINKS = ("https://wiki.scn.sap.com/wiki/display/SYBASE/Spinlocks+and+CPU+usage+in+SAP+ASE",)
INFERRED = "No official page about this spinlock was read: practitioners infer what is advised"
SPINLOCKS = "number of cached stmt spinlock"
AFTER_THAT = f"Leave {SIZE} for after that: while statements hardly repeat, no larger one would hold them."
DIFFER = "statements that differ in literals alone are different ones to it"
REMOVALS = MissingInput("statements thrown out of the statement cache", MonStatementCache.COLLECTED_BY)


@dataclass(frozen=True)
class Limits(Dear):
    """From which figures on the rule speaks, and what it asks for."""

    hit_percent: float = percent(HIT_PERCENT, HIT_ORIGIN)
    growth_percent: float = limit(25.0, "this project: a first step, to be measured", low=1, high=100, unit="%")


@rule(
    needs=(),
    uses=(*ENGINE_FACTS, *STATEMENT_FACTS, MonSpinlockActivity),
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
    thrown, searches = thrown_out(facts), searches_of(facts)
    new = searches is not None and searches.percent < limits.hit_percent
    literals = tuple(literal_autoparam(facts)) if new else ()
    settings = [one for name in (SIZE, LITERALS, STREAMLINED, SPINLOCKS) if (one := setting_of(facts, name))]
    now = {one.name: one.run_number for one in settings if one.run_number is not None}
    proof = [Evidence(one.name, now[one.name], "", one.source) for one in settings if one.name in now]
    copies = copies_of(facts)
    differ = copies.says if copies else DIFFER
    because, larger = [], ""
    if thrown and known(thrown.value) and thrown.value > 0:
        because = [f"{thrown.value:,.0f} statements were thrown out of the cache"]
        larger = "" if literals else _larger(limits, now.get(SIZE))
    elif thrown:
        because = ["No statement was thrown out, so a larger statement cache is not indicated"]
    if searches:
        because.append(f"{searches.percent:.3g} % of the searches found their statement")
    if SIZE in now:
        because.append(f"{SIZE} is {now[SIZE]:,.0f} now")
    if LITERALS in now:
        because.append(f"{LITERALS} is on already, so more than literals differs" if now[LITERALS] else differ)
    values = f"; which values {SPINLOCKS} takes, {now[SPINLOCKS]:,.0f} now, no source says" if SPINLOCKS in now else ""
    advice = Advice(
        because=f"{'; '.join(because)}." if because else "",
        do=joined(larger, fewer(facts), AFTER_THAT if literals else ""),
        unknown=f"{INFERRED}{values}.",
        evidence=(
            *([thrown] if thrown else []),
            *([searches.evidence()] if searches else []),
            *_copies(copies),
            *proof,
        ),
        changes=literals,
    )
    said = speak(facts, limits, figure, subject=subject_of(facts), advice=advice)
    if said.changes and statements_first(facts, limits):
        said = replace(said, explains=(*said.explains, f"ase/procedure_cache_spinlock_contended:{PROCEDURE_CACHE}"))
    yield said
    if thrown is None:
        yield Unknown((REMOVALS,))


def _copies(copies: Copies | None) -> Iterator[Evidence]:
    """How many of the statements are copies of one."""
    if copies:
        yield Evidence(f"statements like {shown(copies.text, TEXT)}", copies.number, "", copies.source)


def _larger(limits: Limits, pages: float | None) -> str:
    """A first step up, in pages and megabytes where the size is known."""
    if not pages:
        return f"Raise {SIZE} (dynamic; comes on top of the procedure cache, and stays until a restart)."
    more = ceil(pages * limits.growth_percent / 100)
    return (
        f"Raise {SIZE} from {pages:,.0f} to {pages + more:,.0f} pages first ({more * 2 / 1024:,.1f} MB more on top of "
        "the procedure cache; dynamic, but kept until a restart)."
    )
