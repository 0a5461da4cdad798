"""The spinlock of a data cache is contended.

Finds: a data cache whose spinlock contention is over the limit, with real searches, more than one engine and
engines at work.

Why it matters: each partition of a cache has one spinlock, and every search takes it. Engines that wait for it spin
and burn the CPU other work needs. sp_sysmon prints one figure for the whole cache, the waits of all partitions over
the grabs of all: one hot partition hides behind the cool ones, so the real figure of the worst is higher.

What to do: cut the cache into more partitions with `cache_partition`, a power of two; practitioners see the contention
about halved by each doubling. The rule goes as far as the engines, rounded up to a power of two; no source says that
more would not help, since two engines can still meet in one partition. Partitions that are configured and would be
fewer after the next restart are taken back. Each pool must keep 512 KB and 256 logical pages in every partition. Where
no more partitions are possible, or one hot page or table is the cause, bind the hot objects to named caches of their
own.

When to ignore it: when the engines are not busy. Where cache hits per second grow together with the CPU, scans are the
cause (see ase/table_scans_relink_cache): each page scanned is one relinkage, and better SQL or an index cures that,
partitions do not. Partitions also do little for one hot page, which always lies in one of them.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts, known
from collectors.facts.ase import CacheActivity, CachePool, ConfigParameter, EngineBusy, NamedCache, Server, SysmonSample
from rules.finding import Clean, Evidence, Finding, Outcome, Severity, Unknown, Untrusted
from rules.judging.cache_figures import doubt, latest_caches, named_of, per_second, seconds_of
from rules.judging.cache_partitions import Advice, advise
from rules.judging.spinlock_gates import BUSY_ORIGIN, BUSY_PERCENT, CACHE_PERCENT, CACHE_SEARCHES, CRITICAL_ORIGIN
from rules.judging.spinlock_ratio import SWITCHES, busy_of, refused
from rules.kit import limit, rule

LINKS = (
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc31644.1600/doc/html/san1371158554520.html",
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc36273.1600/doc/html/san1393051979352.html",
)
HIDES = "One figure stands for all its partitions, so the hottest may be far worse."
DECIDES = (
    "sp_sysmon prints no grabs and no spins: monSpinlockActivity has them (15.7 ESD#2 and later; from SP100 on for "
    f"each partition); {SWITCHES}."
)
SCANS = "If cache hits per second rise together with the CPU, look for table scans first: partitions do not cure those."


@dataclass(frozen=True)
class Limits:
    """From which figures on the rule speaks."""

    contention_percent: float = limit(
        CACHE_PERCENT,
        "vendor: over 10 % more partitions or named caches (System Administration Guide 2)",
        high=100,
        unit="%",
    )
    critical_percent: float = limit(30.0, CRITICAL_ORIGIN, high=100, unit="%")
    searches_per_second: float = limit(
        CACHE_SEARCHES, "this project: below this the per cent is of almost nothing", unit="searches/s"
    )
    busy_percent: float = limit(BUSY_PERCENT, BUSY_ORIGIN, high=100, unit="%")


@rule(
    needs=(CacheActivity,),
    uses=(NamedCache, CachePool, EngineBusy, ConfigParameter, Server, SysmonSample),
    links=LINKS,
    limits=Limits,
)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge every data cache."""
    for cache in latest_caches(facts):
        contention = cache.contention_percent
        quiet = refused(facts, cache.name, contention, limits.contention_percent, busy_percent=limits.busy_percent)
        searches = per_second(cache.searches_per_second, cache.searches, seconds_of(facts))
        if quiet or not known(contention):
            yield quiet or Unknown.of(CacheActivity)
        elif doubt(cache):
            yield Untrusted(doubt(cache) or "")
        elif searches is not None and searches < limits.searches_per_second:
            rate = f"only {searches:g} searches per second (limit {limits.searches_per_second:g})"
            yield Clean(f"{cache.name} {contention:g} % contended, but {rate}")
        else:
            named = named_of(facts, cache.name)
            advice = advise(facts, cache.name, named, contention, limits.contention_percent)
            yield _finding(facts, limits, cache, named, contention, searches, advice)
            if advice.missing:
                yield Unknown(advice.missing)


def _finding(
    facts: Facts,
    limits: Limits,
    cache: CacheActivity,
    named: NamedCache | None,
    contention: float,
    searches: float | None,
    advice: Advice,
) -> Finding:
    engines, busy = busy_of(facts)
    evidence = [
        Evidence("cache spinlock contention", contention, "%", cache.source, limits.contention_percent),
    ]
    if searches is not None:
        evidence.append(Evidence("cache searches", searches, "/s", cache.source, limits.searches_per_second))
    if named and known(named.run_partitions):
        evidence.append(Evidence("cache partitions in force", named.run_partitions, "", named.source))
    says = f"{contention:g} % of the grabs of this cache's spinlocks had to wait"
    says += f" on {engines} engines" if engines else ""
    says += f" that are {busy:.0f} % busy on average." if busy is not None else "."
    hides = () if named and named.run_partitions == 1 else (HIDES,)
    return Finding(
        subject=cache.name,
        severity=Severity.CRITICAL if engines and contention >= limits.critical_percent else Severity.WARNING,
        title=f"{cache.name}: spinlock {contention:g} % contended",
        says=" ".join((says, *hides, advice.says, DECIDES, SCANS)),
        evidence=tuple(evidence),
        explains=("ase/engines_not_the_answer",),
        changes=(advice.change,) if advice.change else (),
        expects=advice.expects,
    )
