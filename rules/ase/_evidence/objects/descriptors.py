"""What the rules about object, index and partition descriptors of SAP ASE have in common.

A descriptor stands in memory for an open object, index or partition. `number of open …` says how many there are, a
spinlock ratio how many of them one spinlock guards.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from collectors.facts import Fact, Facts, known
from collectors.facts.ase import MetadataCache, MetadataSpinlock, MonOpenObjectActivity, MonSpinlockActivity
from rules.ase._evidence.objects.hot import hottest
from rules.ase._evidence.server import ENGINE_FACTS, server_of, setting_of
from rules.ase._evidence.spinlocks.figures import Figure
from rules.ase._evidence.spinlocks.gates import BUSY_ORIGIN, BUSY_PERCENT, METADATA_GRABS, METADATA_PERCENT
from rules.ase._evidence.spinlocks.ratio import Ratio, Thresholds, judge_ratio
from rules.ase._evidence.spinlocks.survey import metadata_figure
from rules.engine import limit, percent
from rules.finding import NotApplicable, Outcome, Severity, Unknown
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
    f"This server is 16.0 or later, and of these spinlocks the source document says that 16.0 replaced them by "
    f"lock-free structures ({TALLMAN}); yet they are counted here."
)
"""Said of a descriptor spinlock on a release whose descriptors are called lock-free."""
MOST_TABLES, LEAST_PERCENT = 5, 5.0
"""This project: as in ase/object_manager_spinlock_contended."""
USED_MOST = "Which tables those are is not in the export: monOpenObjectActivity (Operations) between two snapshots."
NOT_BOUND = (
    "Fewer temporary tables and procedures made on the fly, and fewer short statements on these tables, are the way; "
    "dbcc tune(des_bind) is named by SAP's wiki for the Object Manager's spinlock alone, so no script is given for it "
    "here (ase/object_manager_spinlock_contended judges that spinlock)."
)


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
}


@dataclass(frozen=True)
class DescriptorLimits:
    """From which figures on the rule of a descriptor spinlock speaks, and which ratio it asks for."""

    contention_percent: float = percent(METADATA_PERCENT, "vendor: lower the ratio above 3 % (sp_sysmon guide)")
    critical_percent: float = percent(10.0, f"practice: 10 % starts the search ({TALLMAN})")
    grabs_per_second: float = limit(
        METADATA_GRABS,
        "this project: with fewer grabs the per cent is of almost nothing; sp_sysmon counts none",
        unit="grabs/s",
    )
    busy_percent: float = percent(BUSY_PERCENT, BUSY_ORIGIN)
    target_ratio: int = limit(10, f"practice: 5 or 10 at 64 engines ({TALLMAN})", low=1, high=100)


@dataclass(frozen=True)
class Descriptors:
    """One metadata spinlock figure and its ratio."""

    spinlock: str
    """As sp_sysmon prints it before `Spinlock Contention`."""
    kind: str
    label: str
    ratio: str
    steps: Sequence[int]
    counted: bool = True
    """Whether one descriptor is what the ratio counts."""
    since: tuple[int, int] | None = None
    """The release that brought it, where older ones are still met."""
    lock_free: str = ""
    """What 16.0 did about it, as a sentence."""
    replaced: bool = False
    """Whether the source document calls it lock-free from 16.0 on."""
    note: str = ""
    base: Severity = Severity.WARNING
    """How loud a figure below the critical one is."""


def judge_descriptors(facts: Facts, limits: DescriptorLimits, one: Descriptors) -> Iterator[Outcome]:
    """Judge one metadata spinlock."""
    figure = metadata_figure(facts, one.spinlock, one.label)
    server = server_of(facts)
    if not isinstance(figure, Figure):
        if isinstance(figure, Unknown) and one.since and server and server.before(*one.since):
            yield NotApplicable(f"{one.spinlock} spinlocks came with {one.since[0]}.{one.since[1]}")
        else:
            yield figure
        return
    cache = cache_of(facts, one.kind)
    old = bool(server and server.before(16))
    number = KINDS[one.kind].number
    new = bool(server and server.before(16) is False)
    setting = setting_of(facts, one.ratio)
    now = setting.run_number if setting else None
    lowest = now is not None and now <= min(one.steps)
    parts = (one.note, _reuse(cache), one.lock_free if old else "", _tables(facts) if lowest else "")
    yield from judge_ratio(
        facts,
        Thresholds(
            limits.contention_percent,
            limits.critical_percent,
            limits.busy_percent,
            limits.grabs_per_second,
            above=True,
            base=one.base,
        ),
        Ratio(
            figure=figure,
            parameter=one.ratio,
            steps=one.steps,
            guarded=_how_many(facts, cache, number) if one.counted else None,
            guarded_bring=f'sp_configure "{number}"' if one.counted else "",
            cure=" ".join(part for part in parts if part),
            spins_needed=ON_16 if one.replaced and new else "",
        ),
    )


def _tables(facts: Facts) -> str:
    """The tables with the most operations, where no ratio is left to lower: only less use of them helps."""
    found = hottest(facts, MOST_TABLES, LEAST_PERCENT)
    named = f" {found.says}" if found else f" {USED_MOST}"
    return f"What is left is fewer uses of the same descriptors.{named} {NOT_BOUND}"


def cache_of(facts: Facts, kind: str) -> MetadataCache | None:
    """The descriptors of one kind, as last read."""
    return next((one for one in reversed(facts.every(MetadataCache)) if one.kind == kind), None)


def falling(target: float, *steps: int) -> list[int]:
    """The target, then those of the further steps that lie below it."""
    return [int(target), *(step for step in steps if step < target)]


def _how_many(facts: Facts, cache: MetadataCache | None, number: str) -> float | None:
    """Descriptors there are, as the report counts them, else as configured."""
    if cache and cache.configured:
        return cache.configured
    setting = setting_of(facts, number)
    return setting.run_number if setting else None


def _reuse(cache: MetadataCache | None) -> str:
    """Say that descriptors are also being reused, which is to be cured first."""
    if cache is None or not known(cache.reuse_succeeded) or cache.reuse_succeeded <= 0:
        return ""
    return f"{cache.reuse_succeeded:.0f} reuses of descriptors are counted too: see ase/descriptors_reused first."
