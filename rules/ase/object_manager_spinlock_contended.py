"""The one spinlock of the object manager is contended.

Finds: the Object Manager spinlock (`Resource->rdesmgr_spin`) with 10 % of its grabs waiting, or with a tenth of all
spins and enough of them to take an engine's time, on more than one engine.

Why it matters: one single spinlock stands before the chains of all object descriptors. Each statement that begins or
ends with a table keeps or gives back its descriptor under it. No ratio spreads it.

What to do: first give the server enough descriptors, where any were reused (ase/descriptors_reused). Then keep the
descriptors of the hottest tables bound with `dbcc tune(des_bind, …)`: the tables with the most operations are named,
and the script comes with its undo. The binding is lost at each restart and must be made again after it. Fewer
temporary tables and procedures made on the fly help as well.

When to ignore it: when the engines are not busy. dbcc tune is for those who tested it before: the SAP wiki names it, no
manual does. A monitor that asks for lock waits of all objects every few seconds raises this spinlock itself.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from collectors.facts import Facts, known
from collectors.facts.ase import (
    MetadataCache,
    MetadataSpinlock,
    MonOpenObjectActivity,
    MonSpinlockActivity,
    ResourceUsage,
)
from rules.ase._evidence.objects.hot import bindings, hottest
from rules.ase._evidence.server import ENGINE_FACTS, busy_of, subject_of
from rules.ase._evidence.spinlocks.figures import Figure
from rules.ase._evidence.spinlocks.named import Advice, Dear, quiet_of, speak
from rules.ase._evidence.spinlocks.survey import metadata_figure
from rules.changes.ase_descriptor import bindable
from rules.engine import limit, percent, rule
from rules.finding import Evidence, Outcome, Severity, Unknown, joined

LINKS = (
    "https://wiki.scn.sap.com/wiki/display/SYBASE/Spinlocks+and+CPU+usage+in+SAP+ASE",
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc00842.1570/html/spsysmon/spsysmon174.htm",
)
NO_RATIO = "One spinlock guards the chains of all object descriptors, so no ratio spreads it."
FEWER = "Fewer temporary tables and procedures made on the fly reduce it."
BIND = (
    "Bind the descriptors that the script names with dbcc tune(des_bind), after a test on another server: it takes "
    "effect at once, and each restart loses it."
)
BY_HAND = (
    "Where the engines were busy then, bind their descriptors, after a test on another server, with dbcc "
    'tune(des_bind, dbid, "table"), the number by `select db_id("{database}")`; the undo is the same with des_unbind, '
    "and each restart loses it."
)
NOT_NOW = (
    "Nothing is bound on these counts: bind what two snapshots at the busiest hour show, with dbcc tune(des_bind, "
    'dbid, "table"), which lasts until the restart or des_unbind.'
)


@dataclass(frozen=True)
class Limits(Dear):
    """From which figures on the rule speaks, and how many tables it names."""

    most_objects: int = limit(5, "this project: a few tables make most of the operations", low=1, high=50)
    object_percent: float = percent(5.0, "this project: a table with less of all operations reduces nothing", low=0.1)


@rule(
    needs=(),
    uses=(*ENGINE_FACTS, MetadataSpinlock, MonSpinlockActivity, MetadataCache, ResourceUsage, MonOpenObjectActivity),
    links=LINKS,
    limits=Limits,
)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge the one spinlock, then look for the tables behind it."""
    figure = metadata_figure(facts, "Object Manager", "the Object Manager spinlock")
    if not isinstance(figure, Figure):
        yield figure
        return
    quiet = quiet_of(facts, limits, figure)
    if quiet:
        yield quiet
        return
    short = _reused(facts)
    found = hottest(facts, limits.most_objects, limits.object_percent)
    advice = Advice(NO_RATIO, FEWER, evidence=tuple(short))
    if short:
        first = "Object descriptors are being reused: first raise number of open objects, then measure again."
        advice = replace(advice, do=first)
    elif found:
        sure = found.of_interval and not (figure.since_boot or figure.short)
        changes = bindings(found) if sure and busy_of(facts)[0] else ()
        own = next((one.database for one in found.tables if bindable(one.database, one.table)), None)
        by_hand = BY_HAND.format(database=own) if own else FEWER
        how = BIND if changes else by_hand if sure else NOT_NOW
        advice = replace(advice, do=joined(found.says, how), evidence=found.evidence, changes=changes)
    base = Severity.WARNING if figure.lock else Severity.ADVICE
    yield speak(facts, limits, figure, subject=subject_of(facts), advice=advice, base=base)
    if not short and not found:
        yield Unknown.of(MonOpenObjectActivity)


def _reused(facts: Facts) -> list[Evidence]:
    """Proof that object descriptors are taken from one another; nothing where none says so."""
    found = []
    cache = next((one for one in reversed(facts.every(MetadataCache)) if one.kind == "object"), None)
    if cache and known(cache.reuse_succeeded) and cache.reuse_succeeded > 0:
        found.append(Evidence("object descriptors reused", cache.reuse_succeeded, "", cache.source, 0.0))
    usage = next((one for one in reversed(facts.every(ResourceUsage)) if one.name == "number of open objects"), None)
    if usage and known(usage.reused) and usage.reused > 0:
        found.append(Evidence("number of open objects, reused", usage.reused, "", usage.source, 0.0))
    elif usage and usage.was_reused:
        found.append(Evidence("number of open objects, reused", "yes", "", usage.source))
    return found
