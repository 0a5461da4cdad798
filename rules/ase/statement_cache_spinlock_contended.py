"""The spinlock of the statement cache is contended.

Finds: `SSQLCACHE_SPIN` (16.0: several of them, `SSQLCACHE_SPIN[i]`) with 10 % of its grabs waiting, or with a tenth of
all spins and enough of them to take an engine's time.

Why it matters: each statement sent as text is looked for in the statement cache, and kept there, under this spinlock.
Statements that differ only in their literals are all different to it: each is put in and pushes another out.

What to do: where statements are thrown out, a larger `statement cache size`; fewer different statements with `enable
literal autoparam`, or parameters in the program; keep single sessions that send very many different statements out of
it (`set statement_cache off`). No official page about this spinlock was read: the advice is what practitioners infer,
so it is words and no script.

When to ignore it: when the engines are not busy, or where nothing is thrown out and the same statements are found again
and again. sp_sysmon prints nothing of this spinlock.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts, known
from collectors.facts.ase import MonSpinlockActivity, MonStatementCache, ProcedureCacheActivity
from rules.finding import Evidence, Outcome
from rules.judging.server import ENGINE_FACTS, interval_first, setting_of, subject_of
from rules.judging.spinlocks.figures import Figure, figure_of
from rules.judging.spinlocks.monitored import STATEMENT_CACHE
from rules.judging.spinlocks.named import Dear, quiet_of, speak
from rules.kit import rule

LINKS = ("https://wiki.scn.sap.com/wiki/display/SYBASE/Spinlocks+and+CPU+usage+in+SAP+ASE",)
INFERRED = "No official page about this spinlock was read: what follows is what practitioners infer."
LITERALS = "enable literal autoparam"


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
    larger = ""
    if thrown and known(thrown.value) and thrown.value > 0:
        larger = f"{thrown.value:,.0f} statements were thrown out: a larger statement cache size keeps them."
    elif thrown:
        larger = "No statement was thrown out, so a larger statement cache is not indicated."
    setting = setting_of(facts, LITERALS)
    off = setting is not None and setting.run_number == 0
    fewer = f"Fewer different statements: {LITERALS}" + (" is off." if off else ", or parameters in the program.")
    proof = [thrown] if thrown else []
    proof += [Evidence(LITERALS, 0, "", setting.source)] if setting and off else []
    yield speak(facts, limits, figure, subject=subject_of(facts), advice=(INFERRED, larger, fewer), evidence=proof)


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
