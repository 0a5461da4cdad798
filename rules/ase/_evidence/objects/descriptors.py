"""What the rules about object, index and partition descriptors of SAP ASE have in common.

A descriptor stands in memory for an open object, index or partition. `number of open …` says how many there are, a
spinlock ratio how many of them one spinlock guards.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Fact, Facts, known
from collectors.facts.ase import MetadataCache, MetadataSpinlock, MonOpenObjectActivity, MonSpinlockActivity
from rules.ase._evidence.objects.hot import hottest
from rules.ase._evidence.server import ENGINE_FACTS, server_of, setting_of
from rules.ase._evidence.spinlocks.figures import Figure
from rules.ase._evidence.spinlocks.gates import METADATA_GRABS, METADATA_PERCENT
from rules.ase._evidence.spinlocks.ratio import Ratio, RatioLimits, falling, judge_ratio
from rules.ase._evidence.spinlocks.survey import metadata_figure
from rules.engine import limit, percent
from rules.finding import NotApplicable, Outcome, Severity, Unknown, joined
from rules.sources import TALLMAN

USES: tuple[type[Fact], ...] = (
    *ENGINE_FACTS,
    MetadataSpinlock,
    MonSpinlockActivity,
    MetadataCache,
    MonOpenObjectActivity,
)
"""What `judge_descriptors` looks at."""
ON_16 = (
    f"16.0 or later is said to have lock-free structures in place of these spinlocks ({TALLMAN}), yet they are counted "
    "here."
)
"""Said of a descriptor spinlock on a release whose descriptors are called lock-free."""
MOST_TABLES, LEAST_PERCENT = 5, 5.0
"""This project: as in ase/object_manager_spinlock_contended."""
USED_MOST = "Which tables those are monOpenObjectActivity shows (Operations, between two snapshots)."
FEWER_USES = (
    "What is left is fewer uses of the same descriptors: fewer temporary tables and procedures made on the fly, fewer "
    "short statements on the tables used most (dbcc tune(des_bind) is for the Object Manager's spinlock alone)."
)
"""SAP's wiki names des_bind for that spinlock and for no other: ase/object_manager_spinlock_contended judges it."""


@dataclass(frozen=True)
class Kind:
    """One kind of descriptor."""

    plural: str
    """As `sp_countmetadata` and `sp_monitorconfig` take it."""
    number: str
    """The parameter that says how many there are."""


KINDS = {
    "object": Kind("open objects", "number of open objects"),
    "index": Kind("open indexes", "number of open indexes"),
    "partition": Kind("open partitions", "number of open partitions"),
    "database": Kind("open databases", "number of open databases"),
}


@dataclass(frozen=True)
class DescriptorLimits(RatioLimits):
    """From which figures on the rule of a descriptor spinlock speaks, and which ratio it asks for."""

    contention_percent: float = percent(METADATA_PERCENT, "vendor: lower the ratio above 3 % (sp_sysmon guide)")
    critical_percent: float = percent(10.0, f"practice: 10 % starts the search ({TALLMAN})")
    grabs_per_second: float = limit(
        METADATA_GRABS,
        "this project: with fewer grabs the per cent is of almost nothing; sp_sysmon counts none",
        unit="grabs/s",
    )
    target_ratio: int = limit(10, f"practice: 5 or 10 at 64 engines ({TALLMAN})", low=1, high=100)


@dataclass(frozen=True)
class Descriptors:
    """One metadata spinlock and its ratio."""

    spinlock: str
    """As sp_sysmon prints it before `Spinlock Contention`."""
    kind: str
    label: str
    ratio: str
    because: str
    """What takes it, as a sentence."""
    counted: bool = True
    """Whether one descriptor is what the ratio counts."""
    since: tuple[int, int] | None = None
    """The release that brought it, where older ones are still met."""
    lock_free: str = "16.0 made much of what these spinlocks guard lock-free"
    """What 16.0 did about it, as a clause, for a server before it."""
    replaced: bool = True
    """Whether the source document calls it lock-free from 16.0 on."""
    base: Severity = Severity.WARNING
    """How loud a figure below the critical one is."""


def judge_descriptors(facts: Facts, limits: DescriptorLimits, one: Descriptors) -> Iterator[Outcome]:
    """Judge one metadata spinlock."""
    figure: Figure | Outcome = metadata_figure(facts, one.spinlock, one.label)
    server = server_of(facts)
    if isinstance(figure, Unknown) and one.since and server and server.before(*one.since):
        figure = NotApplicable(f"{one.spinlock} spinlocks came with {one.since[0]}.{one.since[1]}")
    cache, number = cache_of(facts, one.kind), KINDS[one.kind].number
    reused = _reuse(cache)
    new = not server.before(16) if server and server.before(16) is not None else None
    yield from judge_ratio(
        facts,
        limits,
        figure,
        Ratio(
            parameter=one.ratio,
            steps=falling(limits.target_ratio, one.ratio),
            because=f"{one.because.rstrip('.')}; {one.lock_free}." if new is False else one.because,
            guarded=_how_many(facts, cache, number) if one.counted else None,
            guards="descriptors",
            guarded_bring=f'sp_configure "{number}"' if one.counted else "",
            per_second=limits.grabs_per_second,
            above=True,
            base=one.base,
            ahead=reused,
            left=lambda facts: joined(FEWER_USES, "" if reused else _tables(facts)),
            spins_needed=ON_16 if one.replaced and new else "",
        ),
    )


def _tables(facts: Facts) -> str:
    """The tables with the most operations, where no ratio is left to lower: only less use of them helps."""
    found = hottest(facts, MOST_TABLES, LEAST_PERCENT)
    return found.says if found else USED_MOST


def cache_of(facts: Facts, kind: str) -> MetadataCache | None:
    """The descriptors of one kind, as last read."""
    return next((one for one in reversed(facts.every(MetadataCache)) if one.kind == kind), None)


def _how_many(facts: Facts, cache: MetadataCache | None, number: str) -> float | None:
    """Descriptors there are, as the report counts them, else as configured."""
    if cache and cache.configured:
        return cache.configured
    setting = setting_of(facts, number)
    return setting.run_number if setting else None


def _reuse(cache: MetadataCache | None) -> str:
    """Say that descriptors are also being reused, which comes first."""
    if cache is None or not known(cache.reuse_succeeded) or cache.reuse_succeeded <= 0:
        return ""
    return f"{cache.reuse_succeeded:.0f} reuses of descriptors are counted too: see ase/descriptors_reused first."
