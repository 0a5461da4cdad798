"""All spinlock figures that sp_sysmon prints, for the rules that ask whether any of them is contended."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from collectors.facts import ABSENT, Facts, Reading, Source, known
from collectors.facts.ase import CacheActivity, LockHashtable, MetadataSpinlock
from rules.finding import Outcome, Untrusted
from rules.judging.spinlock_gates import lock_uses
from rules.judging.spinlock_ratio import refused


@dataclass(frozen=True)
class Figure:
    """One spinlock figure."""

    label: str
    family: str
    """`address`, `page and row`, `table`, `metadata` or `cache`: by it the limits are looked up."""
    contention: Reading
    per_second: Reading
    """Uses per second; `ABSENT` where the report has none, or none that can be believed."""
    source: Source
    uses: str = "uses"
    """What `per_second` counts."""


@dataclass(frozen=True)
class Survey:
    """What was seen, and which figures cannot be believed."""

    hot: tuple[Figure, ...]
    """Over their limit, with enough activity."""
    faint: tuple[Figure, ...]
    """Over their limit, but used too seldom to matter."""
    untrusted: tuple[Untrusted, ...]
    seen: int


def lock_figures(facts: Facts) -> list[Figure]:
    """The three lock hash tables."""
    figures = []
    for one in _latest(facts.every(LockHashtable), lambda one: one.table):
        rate, uses, _ = lock_uses(facts, one)
        figures.append(
            Figure(f"{one.table} lock hash table", one.table, one.contention_percent, rate, one.source, uses)
        )
    return figures


def metadata_figures(facts: Facts) -> list[Figure]:
    """The metadata spinlocks."""
    return [
        Figure(f"{one.name} metadata", "metadata", one.contention_percent, ABSENT, one.source)
        for one in _latest(facts.every(MetadataSpinlock), lambda one: one.name)
    ]


def cache_figures(facts: Facts) -> list[Figure]:
    """The data caches."""
    return [
        Figure(f"cache {one.name}", "cache", one.contention_percent, one.searches_per_second, one.source, "searches")
        for one in _latest(facts.every(CacheActivity), lambda one: one.name)
    ]


def survey(
    facts: Facts,
    figures: Iterable[Figure],
    percents: Mapping[str, float],
    per_second: Mapping[str, float],
    busy_percent: float,
) -> Survey:
    """Hold each figure against the limits of its family; the vendor's for metadata is "more than"."""
    hot, faint, untrusted, seen = [], [], [], 0
    for figure in figures:
        quiet: Outcome | None = refused(
            facts,
            figure.label,
            figure.contention,
            percents[figure.family],
            above=figure.family == "metadata",
            busy_percent=busy_percent,
        )
        seen += known(figure.contention)
        if isinstance(quiet, Untrusted):
            untrusted.append(quiet)
        elif quiet is None and known(figure.per_second) and figure.per_second < per_second[figure.family]:
            faint.append(figure)
        elif quiet is None:
            hot.append(figure)
    return Survey(tuple(hot), tuple(faint), tuple(untrusted), seen)


T = TypeVar("T")


def _latest(found: Iterable[T], name: Callable[[T], str]) -> list[T]:
    """Of two listings of the same thing the later one counts."""
    return list({name(one): one for one in found}.values())
