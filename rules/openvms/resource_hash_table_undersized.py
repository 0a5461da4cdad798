"""The resource hash table has fewer buckets than there are resources.

Finds: RESHASHTBL against the number of resources. Names fall into buckets at random, so resources ÷ buckets is the mean
chain length; over 1 the table is undersized. The system rounds RESHASHTBL up to a power of two.

Why it matters: every name in a chain is compared in turn while the lock database is held, which costs processor time
that no display attributes to it. A table that is far too small takes a large part of the lock throughput (JCC
Consulting's slides on the OpenVMS lock manager, 2014, a chart without figures).

What to do: write MIN_RESHASHTBL into MODPARAMS.DAT with the next power of two above the resources, run AUTOGEN, reboot.
A table that is too large costs memory alone: eight bytes a bucket, as recalled and not confirmed by a source. Never
above 16,777,216. The description of 1993 (VAXcluster Principles) has a hash of 16 bits, so whether more than 65,536
buckets help is unproven: nothing is promised of them, and where there are so many already a longer table is asked for
only when chains are far too long. Measure before and after.

When to ignore it: on a node that does next to no locking, or where the peak of resources comes from one rare job. JCC
Consulting (slides on the OpenVMS lock manager, 2014) found no gain from a table larger than needed.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts, Source
from collectors.facts.openvms import LockRates, Node, SpinlockTrace, SpinlockTraceRun
from rules.changes.openvms_sysgen import PARAMETERS, set_parameter
from rules.finding import Clean, Evidence, Expectation, Finding, Outcome, Severity
from rules.judging.openvms.node import READS, USE, busiest_operations, level_of, node_name, parameter_of, subject_of
from rules.judging.openvms.spinlocks import LCKMGR, waited_for
from rules.judging.sources import JCC
from rules.kit import limit, rule
from rules.laws.hashing import BUCKET_BYTES, PROVEN, mean_chain, next_power_of_two, share_colliding

LINKS = ("https://wiki.vmssoftware.com/LOCKIDTBL",)
NAME = "RESHASHTBL"
RANGE = PARAMETERS[NAME]
EXPLAINS = ("openvms/spinlock_hot:LCKMGR", "openvms/lock_manager_needs_own_cpu", "openvms/concurrency_past_peak")
CHAIN = "mean chain at the peak"


@dataclass(frozen=True)
class Limits:
    """When the table is too small, and how large a one is asked for."""

    mean_chain: float = limit(
        1.0, "practice, as recalled: one bucket per resource", low=0.1, high=100, unit="resources per bucket"
    )
    far_chain: float = limit(4.0, f"this project: from here on 'significantly undersized' (no figure in {JCC})", low=1)
    growth: float = limit(1.2, "this project: room for a fifth more resources than the peak", low=1, high=4)
    operations_per_second: float = limit(
        100.0, "this project: below this, long chains cost next to nothing", unit="lock operations/s"
    )


@rule(needs=(), uses=(*READS, SpinlockTrace, SpinlockTraceRun), links=LINKS, limits=Limits)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Hold the buckets against the resources."""
    setting, level = parameter_of(facts, NAME, RANGE.low, RANGE.high), level_of(facts, "resources")
    if not isinstance(setting, tuple) or not isinstance(level, tuple):
        yield from (outcome for outcome in (setting, level) if not isinstance(outcome, tuple))
        return
    (value, fact), (peak, mean, source) = setting, level
    buckets = next_power_of_two(value)
    chain, usual = mean_chain(peak, buckets), mean_chain(mean if mean is not None else peak, buckets)
    figures = f"{peak:,.0f} resources at most in {buckets:,} buckets (RESHASHTBL {value:.0f}): mean chain {chain:.2f}"
    if chain <= limits.mean_chain:
        yield Clean(f"{figures}, limit {limits.mean_chain:g}")
        return
    rate = busiest_operations(facts.every(LockRates))
    if rate is not None and rate < limits.operations_per_second:
        yield Clean(f"{figures}, but only {rate:,.0f} lock operations/s (limit {limits.operations_per_second:,.0f})")
        return
    new = min(next_power_of_two(peak * limits.growth), RANGE.high)
    if new <= buckets:
        yield Clean(f"{figures}; the table is as large as it may be, {buckets:,} buckets: only fewer locks help")
        return
    far = usual >= limits.far_chain
    if buckets >= PROVEN and not far:
        yield _large_already(facts, figures, chain, limits, (Evidence(NAME, value, "entries", fact.source), source))
        return
    sure = max(buckets, min(new, PROVEN))
    full, memory = mean_chain(peak, new), (new - buckets) * BUCKET_BYTES / 2**20
    after, shared, shared_after = mean_chain(peak, sure), *(100 * share_colliding(peak, s) for s in (buckets, sure))
    loud = far and buckets < PROVEN
    certain = (
        Expectation(CHAIN, round(chain, 2), round(after, 2), "arithmetic"),
        Expectation("names that share a bucket (%)", round(shared), round(shared_after), "arithmetic"),
    )
    full_chain = (round(chain, 2), round(full, 2), "heuristic")
    unproven = (
        f"Whether more than {PROVEN:,} buckets help is unproven: the published description of the hash has 16 bits. "
        "Measure lock operations per second and kernel time under the same load before and after."
    )
    if new <= PROVEN:
        to = f"{after:.2f} if names spread evenly"
    else:
        sure_to = f"{after:.2f} if {sure:,} buckets are used, to " if sure > buckets else ""
        to = f"{sure_to}{full:.2f} only if all {new:,} are used and names spread evenly"
    says = (
        f"{figures}, and {shared:.0f} % of the names share their bucket with another. Every lookup compares names "
        f"along the chain, processor time that no display shows. RESHASHTBL {new} would bring the chain to {to}, and "
        f"take about {memory:.2f} MB more (estimate: {BUCKET_BYTES} bytes a bucket, as recalled). A table that is too "
        "large costs only memory. "
    )
    says += (
        unproven if new > PROVEN else "Gains beyond one bucket per resource were not found, so no more is asked for."
    )
    heat = waited_for(facts)
    spins = loud and not any(one.active_cpus == 1 for one in facts.every(Node))  # one CPU waits for no other
    if spins:
        says += " It may contribute to MP synchronisation: " + (
            "a spinlock trace decides."
            if heat is None
            else f"in the spinlock trace CPUs wait for {heat.name} most"
            + (", which is held while a chain is searched." if heat.name == LCKMGR else ", not for the lock manager.")
        )
    yield Finding(
        subject=subject_of(facts),
        severity=Severity.WARNING if loud else Severity.ADVICE,
        title=f"{chain:.1f} resources per bucket of the resource hash table ({buckets:,} buckets)",
        says=says,
        evidence=(
            Evidence(NAME, value, "entries", fact.source),
            Evidence("resources at the peak", peak, "resources", source),
            Evidence(CHAIN, round(chain, 3), "resources per bucket", source, limits.mean_chain),
            Evidence("names that share a bucket", round(shared, 1), "%", source),
        ),
        explains=EXPLAINS if spins and (heat is None or heat.name == LCKMGR) else (),
        changes=(
            set_parameter(
                NAME,
                value,
                new,
                dynamic=False,
                minimum=True,
                cautions=(USE, *((unproven,) if new > PROVEN else ())),
                memory_mb=memory,
                node=node_name(facts),
            ),
        ),
        expects=(
            *(() if sure == buckets else certain),
            *((Expectation(f"mean chain, if all {new:,} buckets are used", *full_chain),) if new > PROVEN else ()),
        ),
    )


def _large_already(facts: Facts, figures: str, chain: float, limits: Limits, found: tuple[Evidence, Source]) -> Finding:
    setting, source = found
    return Finding(
        subject=subject_of(facts),
        severity=Severity.NOTE,
        title=f"{chain:.1f} resources per bucket at the peak, with {PROVEN:,} buckets or more already",
        says=(
            f"{figures}. Whether more than {PROVEN:,} buckets help is unproven: the published description of the hash "
            "has 16 bits. So no larger table is asked for at this length."
        ),
        evidence=(
            setting,
            Evidence(CHAIN, round(chain, 3), "resources per bucket", source, limits.mean_chain),
        ),
    )
