"""All spinlock figures that sp_sysmon prints, for the rules that ask whether any of them is contended."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from collectors.facts import ABSENT, Facts, Reading, Source, known
from collectors.facts.ase import CacheActivity, LockHashtable, MetadataSpinlock
from rules.finding import Outcome, Untrusted
from rules.judging.spinlock_ratio import refused


@dataclass(frozen=True)
class Figure:
    """One spinlock figure."""

    label: str
    family: str
    """`lock`, `metadata` or `cache`."""
    contention: Reading
    per_second: Reading
    """Uses per second; `ABSENT` where the report has none, or none that can be believed."""
    source: Source


@dataclass(frozen=True)
class Survey:
    """What was seen: figures over their limit with enough activity, and figures that cannot be believed."""

    hot: tuple[Figure, ...]
    untrusted: tuple[Untrusted, ...]
    seen: int


def lock_figures(facts: Facts) -> list[Figure]:
    """The three lock hash tables. Lookups of the table locks are not used: 16.0 prints 0 whatever happens."""
    return [
        Figure(
            f"{one.table} lock hash table",
            "lock",
            one.contention_percent,
            ABSENT if one.table == "table" else one.lookups_per_second,
            one.source,
        )
        for one in _latest(facts.every(LockHashtable), lambda one: one.table)
    ]


def metadata_figures(facts: Facts) -> list[Figure]:
    """The metadata spinlocks."""
    return [
        Figure(f"{one.name} metadata", "metadata", one.contention_percent, ABSENT, one.source)
        for one in _latest(facts.every(MetadataSpinlock), lambda one: one.name)
    ]


def cache_figures(facts: Facts) -> list[Figure]:
    """The data caches."""
    return [
        Figure(f"cache {one.name}", "cache", one.contention_percent, one.searches_per_second, one.source)
        for one in _latest(facts.every(CacheActivity), lambda one: one.name)
    ]


def survey(facts: Facts, figures: Iterable[Figure], limits: dict[str, float], per_second: float) -> Survey:
    """Hold each figure against the limit of its family; the vendor's for metadata is "more than"."""
    hot, untrusted, seen = [], [], 0
    for figure in figures:
        above = figure.family == "metadata"
        quiet: Outcome | None = refused(facts, figure.label, figure.contention, limits[figure.family], above=above)
        seen += known(figure.contention)
        if isinstance(quiet, Untrusted):
            untrusted.append(quiet)
        elif quiet is None and not (known(figure.per_second) and figure.per_second < per_second):
            hot.append(figure)
    return Survey(tuple(hot), tuple(untrusted), seen)


T = TypeVar("T")


def _latest(found: Iterable[T], name: Callable[[T], str]) -> list[T]:
    """Of two listings of the same thing the later one counts."""
    return list({name(one): one for one in found}.values())
