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

from collections.abc import Iterator
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
from rules.ase._evidence.spinlocks.named import Dear, quiet_of, speak
from rules.engine import rule
from rules.finding import Evidence, MissingInput, Outcome, Unknown

LINKS = ("https://wiki.scn.sap.com/wiki/display/SYBASE/Spinlocks+and+CPU+usage+in+SAP+ASE",)
INFERRED = "No official page about this spinlock was read: what follows is what practitioners infer."
LITERALS, STREAMLINED = "enable literal autoparam", "streamlined dynamic SQL"
SIZE, SPINLOCKS = "statement cache size", "number of cached stmt spinlock"
PROGRAM = "parameters in the program"
OUT = "Single sessions that send very many different ones can be kept out of it (set statement_cache off)."
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
    size, proof = _shown(facts, SIZE)
    larger = size
    if thrown and known(thrown.value) and thrown.value > 0:
        larger = (
            f"{thrown.value:,.0f} statements were thrown out: a larger {SIZE} keeps them (dynamic; it comes on top of "
            f"the procedure cache, and no memory is given back before a restart). {size}"
        )
    elif thrown:
        larger = f"No statement was thrown out, so a larger statement cache is not indicated. {size}"
    proof = [*([thrown] if thrown else []), *proof]
    said = [INFERRED, larger]
    for says, shown in (_fewer(facts), _spinlocks(facts)):
        said.append(says)
        proof += shown
    yield speak(facts, limits, figure, subject=subject_of(facts), advice=said, evidence=proof)
    if thrown is None:
        yield Unknown((REMOVALS,))


def _shown(facts: Facts, name: str) -> tuple[str, list[Evidence]]:
    """A setting in force as a sentence, and its line; nothing where it was not read."""
    setting = setting_of(facts, name)
    running = setting.run_number if setting else None
    if setting is None or running is None:
        return "", []
    return f"{name} is {running:,.0f} now.", [Evidence(name, running, "", setting.source)]


def _fewer(facts: Facts) -> tuple[str, list[Evidence]]:
    """How statements become fewer different ones, by what is not set already."""
    found = [(name, setting_of(facts, name)) for name in (LITERALS, STREAMLINED)]
    proof = [
        Evidence(name, one.run_number, "", one.source) for name, one in found if one and one.run_number is not None
    ]
    (literals, streamlined) = (one.run_number if one else None for _, one in found)
    if literals is None:
        ways = f"{PROGRAM}, or {LITERALS} (sp_configure shows whether it is on)."
    elif literals == 0:
        ways = f"{LITERALS} is off (dynamic): on, statements that differ in literals alone are one; or {PROGRAM}."
    else:
        ways = f"{LITERALS} is on already, so what differs still is more than literals: {PROGRAM}."
    ways += f" {STREAMLINED} is off (dynamic)." if streamlined == 0 else ""
    return f"Fewer different statements: {ways} {OUT}", proof


def _spinlocks(facts: Facts) -> tuple[str, list[Evidence]]:
    """Into how many spinlocks the cache is cut, where this release lists that; no source has its range."""
    says, proof = _shown(facts, SPINLOCKS)
    return (f"{says} No source says which values it takes, so none is named here." if says else ""), proof


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
