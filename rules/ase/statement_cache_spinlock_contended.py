"""The spinlock of the statement cache is contended.

Finds: `SSQLCACHE_SPIN` (16.0: several of them, `SSQLCACHE_SPIN[i]`) with 10 % of its grabs waiting, or with a tenth of
all spins and enough of them to take an engine's time.

Why it matters: each statement sent as text is looked for in the statement cache, and kept there, under this spinlock.
Statements that differ only in their literals are all different to it: each is put in and pushes another out.

What to do: where statements are thrown out, a larger `statement cache size` (dynamic; it comes on top of the procedure
cache, and memory that was given is kept until a restart); fewer different statements with `enable literal autoparam`
and `streamlined dynamic SQL` where they are off, or parameters in the program; keep single sessions that send very many
different statements out of it (`set statement_cache off`). No official page about this spinlock was read: the advice is
what practitioners infer, so it is words and no script. What is set already is not advised.

When to ignore it: when the engines are not busy, or where nothing is thrown out and the same statements are found again
and again. sp_sysmon prints nothing of this spinlock.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

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
from rules.engine import rule
from rules.finding import Evidence, MissingInput, Outcome, Unknown, joined

LINKS = ("https://wiki.scn.sap.com/wiki/display/SYBASE/Spinlocks+and+CPU+usage+in+SAP+ASE",)
INFERRED = "No official page about this spinlock was read: practitioners infer what is advised"
LITERALS, STREAMLINED = "enable literal autoparam", "streamlined dynamic SQL"
SIZE, SPINLOCKS = "statement cache size", "number of cached stmt spinlock"
DIFFER = "statements that differ in literals alone are different ones to it"
PROGRAM = "parameters in the program"
KEEP_OUT = "sessions that send very many of them can be kept out (set statement_cache off)"
REMOVALS = MissingInput("statements thrown out of the statement cache", MonStatementCache.COLLECTED_BY)


@dataclass(frozen=True)
class Limits(Dear):
    """From which figures on the rule speaks."""


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
    settings = [one for name in (SIZE, LITERALS, STREAMLINED, SPINLOCKS) if (one := setting_of(facts, name))]
    now = {one.name: one.run_number for one in settings if one.run_number is not None}
    proof = [Evidence(one.name, now[one.name], "", one.source) for one in settings if one.name in now]
    because, larger = [], ""
    if thrown and known(thrown.value) and thrown.value > 0:
        because = [f"{thrown.value:,.0f} statements were thrown out of the cache"]
        larger = f"Raise {SIZE} (dynamic; comes on top of the procedure cache, and stays until a restart)."
    elif thrown:
        because = ["No statement was thrown out, so a larger statement cache is not indicated"]
    if SIZE in now:
        because.append(f"{SIZE} is {now[SIZE]:,.0f} now")
    if LITERALS in now:
        because.append(f"{LITERALS} is on already, so more than literals differs" if now[LITERALS] else DIFFER)
    values = f"; which values {SPINLOCKS} takes, {now[SPINLOCKS]:,.0f} now, no source says" if SPINLOCKS in now else ""
    advice = Advice(
        because=f"{'; '.join(because)}." if because else "",
        do=joined(larger, _fewer(now)),
        unknown=f"{INFERRED}{values}.",
        evidence=(*([thrown] if thrown else []), *proof),
    )
    yield speak(facts, limits, figure, subject=subject_of(facts), advice=advice)
    if thrown is None:
        yield Unknown((REMOVALS,))


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
