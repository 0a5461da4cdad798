"""There are too few object, index, partition or database descriptors.

Finds: as many descriptors in use as are configured, now or at any time since the server started, or descriptors that
had to be taken away from one object to serve another. Of databases, which may all be open on purpose, only reuses: as
many as there are descriptors, or fewer beside more databases than these.

Why it matters: an object whose descriptor was taken is looked up again in the system tables of its database, which
costs searches in the data cache and the metadata spinlocks; where no descriptor can be taken at all, the task gets an
error. A server that reuses descriptors all day shows it as contention of these spinlocks.

What to do: raise `number of open objects`, `number of open indexes` or `number of open partitions`. The need above the
limit is hidden, because reuse serves it. No more can have lacked than were reused, so that many are added at once: at
least a quarter of what there is, at most as many again, rounded up to a hundred. `sp_countmetadata`, run at a quiet
time, shows how many the databases hold; the vendor adds 5 % for temporary tables, and where it was collected that
number is taken instead of a share of what there is. Then `sp_monitorconfig` shows whether reuse has stopped. Where the
memory that is free does not take that many, `max memory` comes first.

When to ignore it: where the count only comes from one job that walks over all objects (dbcc, an upgrade, a scripted
statistics run). sp_sysmon does not say whether the reuses are of the sample or since the start of the server; two
reports show whether the count grows.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil

from collectors.facts import OVERFLOW, Facts, known, number_or
from collectors.facts.ase import MetadataCache, MetadataCount, ResourceUsage
from rules.ase._evidence.caches.memory import MEMORY_FACTS, free_evidence, too_little
from rules.ase._evidence.objects.descriptors import KINDS, cache_of
from rules.ase._evidence.server import (
    ENGINE_FACTS,
    busy_of,
    server_of,
    setting_of,
)
from rules.ase._evidence.spinlocks.gates import BUSY_PERCENT
from rules.changes.ase_config import configure, more_memory, waiting_number
from rules.engine import limit, percent, rule
from rules.finding import (
    Change,
    Clean,
    Evidence,
    Expectation,
    Finding,
    Outcome,
    Severity,
    Unknown,
    Untrusted,
)

LINKS = (
    "https://infocenter.sybase.com/help/topic/com.sybase.dc31654_1251/html/sag/X29304.htm",
    "https://infocenter.sybase.com/help/topic/com.sybase.dc36273_1251/html/sprocs/X22555.htm",
)
EXPLAINS = {
    "object": ("ase/object_descriptor_spinlock_contended", "ase/object_manager_spinlock_contended"),
    "index": ("ase/index_descriptor_spinlock_contended", "ase/index_hash_spinlock_contended"),
    "partition": ("ase/partition_descriptor_spinlock_contended",),
    "database": (),
}

TAKEN = (
    "An object whose descriptor was taken is looked up again in the system tables, under the metadata spinlocks; where "
    "none can be taken, the task gets an error."
)
OF_DATABASE = (
    "A database whose descriptor was taken is opened anew when it is used next; where none can be taken, the task gets "
    "an error."
)
ROUNDED = 100
"""This project: descriptors of objects, indexes and partitions are set by the hundred."""
MAY_LACK = ("partition", "database")
"""Kinds that not every release or report counts: nobody is asked for them alone."""


@dataclass(frozen=True)
class Limits:
    """When the descriptors count as used up, and by how much to raise them."""

    full_percent: float = percent(98.0, "this project: two in a hundred free is none free", low=50)
    growth_percent: float = limit(
        25.0, "this project: the need above the limit is hidden; a first step", low=1, high=400, unit="%"
    )
    most_growth_percent: float = limit(
        100.0, "this project: past twice as many a person counts first (sp_countmetadata)", low=1, high=400, unit="%"
    )
    temporary_percent: float = percent(5.0, "vendor: 5 % above the objects there are")
    reuses_per_descriptor: float = limit(
        1.0, "this project: a warning once each descriptor was taken away once, on average", unit="reuses"
    )
    busy_percent: float = percent(BUSY_PERCENT, "this project: on engines idler than this it is advice")


@rule(
    needs=(),
    uses=(MetadataCache, MetadataCount, ResourceUsage, *ENGINE_FACTS, *MEMORY_FACTS),
    links=LINKS,
    limits=Limits,
)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge each of the four kinds, by sp_sysmon, else by sp_monitorconfig."""
    server = server_of(facts)
    for kind in KINDS:
        cache, usage = cache_of(facts, kind), _usage_of(facts, kind)
        if cache is not None:
            yield from _judge(facts, limits, cache)
        elif usage is not None:
            yield from _judge(facts, limits, _as_printed(kind, usage), said_reused=usage.was_reused is True)
        elif kind not in MAY_LACK or (kind == "partition" and server and server.before(15) is False):
            yield Unknown.of(MetadataCache, ResourceUsage)


def _usage_of(facts: Facts, kind: str) -> ResourceUsage | None:
    """The line of sp_monitorconfig; it cuts names at 25 characters."""
    name = KINDS[kind].number[:25]
    return next((one for one in reversed(facts.every(ResourceUsage)) if one.name.lower() == name), None)


def _as_printed(kind: str, usage: ResourceUsage) -> MetadataCache:
    """The same figures as sp_sysmon has them; failed reuses are not among them."""
    return MetadataCache(
        source=usage.source,
        kind=kind,
        active=usage.active,
        free=usage.free,
        max_used=usage.max_used,
        reuse_succeeded=usage.reused,
    )


def _judge(facts: Facts, limits: Limits, cache: MetadataCache, *, said_reused: bool = False) -> Iterator[Outcome]:
    plural = KINDS[cache.kind].plural
    figures = (cache.active, cache.free, cache.max_used, cache.reuse_succeeded, cache.reuse_failed)
    if OVERFLOW in figures or any(known(figure) and figure < 0 for figure in figures):
        yield Untrusted(f"{plural}: a figure is below zero or printed as asterisks")
        return
    there = cache.configured
    if not there or not known(cache.active):
        yield Unknown.of(MetadataCache)
        return
    reused, failed = number_or(cache.reuse_succeeded, 0), number_or(cache.reuse_failed, 0)
    most = max(number_or(cache.max_used, 0), cache.active)
    said = f"{plural}: {cache.active:.0f} of {there:.0f} in use, at most {most:.0f}, {reused:.0f} reused"
    full = cache.active >= there * limits.full_percent / 100 or most >= there
    uncounted = said_reused and not reused
    full = full and cache.kind != "database"
    few = cache.kind != "database" or _too_few_for_databases(facts, limits, there, reused, failed, said_reused)
    if not few or not (full or reused or failed or uncounted):
        yield Clean(said)
        return
    _, busy = busy_of(facts)
    idle = busy is not None and busy < limits.busy_percent
    loud = failed > 0 or (reused >= there * limits.reuses_per_descriptor and not idle)
    newer = _newer_setting(facts, cache.kind, there)
    changes, expects, advice = ((), (), newer) if newer else _more(facts, limits, cache, there, most, uncounted)
    what = f"{most:.0f} were in use, {there:.0f} are there"
    short = "Too few descriptors" if reused or failed or uncounted else "All descriptors in use"
    short = short if reused or failed or uncounted or most >= there else f"Nearly {short.lower()}"
    if reused or failed:
        what = f"{reused:.0f} reuses are counted" + (f", {failed:.0f} failed" if failed else "")
    elif uncounted:
        what = "some were reused, sp_monitorconfig says; it counts them from 15.0 on"
    use_most, peak_most = (there * limits.full_percent / 100, there) if full else (None, None)
    evidence = [
        *([Evidence(f"{plural} reused, by sp_monitorconfig", "Yes", "", cache.source)] if uncounted else []),
        Evidence(f"{plural} in use", cache.active, "", cache.source, use_most),
        Evidence(f"{plural} there are", there, "", cache.source),
        Evidence(f"{plural} in use at most since the start", most, "", cache.source, peak_most),
    ]
    if not uncounted:
        evidence.append(Evidence(f"reuses of {plural}", reused, "", cache.source, 0.0))
    if known(cache.reuse_failed):
        evidence.append(Evidence(f"failed reuses of {plural}", failed, "", cache.source, 0.0))
    if not changes and not newer:
        evidence += free_evidence(facts)
    taken = f"{reused:,.0f} were taken from one {cache.kind} to serve another"
    taken = "some were reused, which is not counted" if uncounted else taken
    taken += f", {failed:,.0f} could not be taken" if known(cache.reuse_failed) and not uncounted else ""
    used = f"{cache.active:,.0f} of {there:,.0f} descriptors are in use, at most {most:,.0f} since the start"
    yield Finding(
        subject=plural,
        severity=Severity.NOTE if newer else Severity.WARNING if loud else Severity.ADVICE,
        title=f"{short} for {plural}: {what}",
        seen=f"{used}; {taken}.",
        because=OF_DATABASE if cache.kind == "database" else TAKEN,
        do=advice,
        evidence=tuple(evidence),
        explains=EXPLAINS[cache.kind],
        changes=changes,
        expects=expects,
    )


def _too_few_for_databases(
    facts: Facts, limits: Limits, there: float, reused: float, failed: float, said_reused: bool
) -> bool:
    """Whether descriptors of databases are short, and not only all in use or taken from a database that was dropped."""
    counted = facts.latest(MetadataCount, kind="database")
    more = counted is not None and counted.count > there
    return failed > 0 or reused >= there * limits.reuses_per_descriptor or (more and (reused > 0 or said_reused))


def _newer_setting(facts: Facts, kind: str, there: float) -> str:
    """Say that the setting is newer than the report, where more descriptors run by now."""
    setting = setting_of(facts, KINDS[kind].number)
    running = setting.run_number if setting else None
    if running is None or running <= there:
        return ""
    return (
        f"Collect a new report: {KINDS[kind].number} is {running:,.0f} by now, so this one is older than the setting."
    )


def _more(
    facts: Facts, limits: Limits, cache: MetadataCache, there: float, most: float, said_reused: bool
) -> tuple[tuple[Change, ...], tuple[Expectation, ...], str]:
    """A computed number, as a first step."""
    kind = KINDS[cache.kind]
    setting = setting_of(facts, kind.number)
    taken = number_or(cache.reuse_succeeded, 0) + number_or(cache.reuse_failed, 0)
    counted = facts.latest(MetadataCount, kind=cache.kind)
    need = counted.count * (1 + limits.temporary_percent / 100) if counted else 0.0
    raised = max(
        there * (1 + limits.growth_percent / 100),
        most * (1 + limits.temporary_percent / 100),
        min(there + taken, there * (1 + limits.most_growth_percent / 100)),
    )
    whole = 1 if cache.kind == "database" else ROUNDED
    new = ceil((need if need > there else raised) / whole) * whole
    enough = new >= there + taken
    wanted = waiting_number(setting)
    if wanted is not None and wanted > there:
        return (
            (),
            (),
            f"{kind.number} is set to {wanted:,.0f}, but that does not run: see the error log, and max memory.",
        )
    memory_mb, caution = more_memory(setting, there, new)
    look = (
        f"-- how many there are in the databases (at a quiet time), and how many were used: a better figure than {new}",
        f'sp_countmetadata "{kind.plural}"',
        "go",
        f'sp_monitorconfig "{kind.plural}"',
        "go",
    )
    if short := too_little(facts, kind.number, memory_mb):
        return (), (), f"Raise {kind.number} from {there:,.0f} to {new:,}, but only after max memory. {short}"
    every = _DATABASES if cache.kind == "database" else _COUNTED
    cautions = (every if need > there else _ENOUGH if enough and taken else _FIRST_STEP, caution)
    step = "enough for every reuse that was counted" if enough and taken else "a first step"
    gives = "; sp_countmetadata gives the need"
    if counted and need > there:
        held = "databases there are" if cache.kind == "database" else "that the databases hold"
        step, gives = f"the {counted.count:,.0f} {held} and {limits.temporary_percent:g} % more", ""
    change = configure(kind.number, there, new, cautions=cautions, memory_mb=memory_mb, look=look, configured=wanted)
    reused = "some" if said_reused and not taken else number_or(cache.reuse_succeeded, 0)
    expected = Expectation(f"reuses of {kind.plural}", reused, "no growth", "published")
    if not taken and not said_reused:
        percent = (round(100 * most / there, 1), round(100 * most / new, 1))
        expected = Expectation(f"{kind.plural} in use at most, % of those there are", *percent, "arithmetic")
    return (
        (change,),
        (expected,),
        f"Raise {kind.number} from {there:,.0f} to {new:,}, {step}, in force at once{gives}.",
    )


_FIRST_STEP = "A first step: reuse hides how many are needed. Look again after a day; reuse must have stopped."
_COUNTED = (
    "So many descriptors hold every one there is, and 5 % for temporary tables (the vendor's rule); fewer may do, as "
    "not all are in use at once. Look again after a day; reuse must have stopped."
)
_DATABASES = "So many hold every database there is, and some more. Look again after a day; reuse must have stopped."
_ENOUGH = "As many more as were reused: no more can have lacked then. Look again after a day; reuse must have stopped."
