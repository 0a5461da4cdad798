"""What the engines of SAP ASE keep of the procedure cache for themselves, and how often they found it empty.

`monProcELC` (16.0 SP03 PL08 on): each engine has four local caches, by the size of their chunks. Where one is empty the
engine takes memory from the pool of all engines, under `Resource->rproccache_spin`. No limit for that is published: the
figure is shown, and advice comes of it only where that spinlock is contended.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from collectors.facts import Facts, Source, known
from collectors.facts.ase import MonProcELC
from rules.ase._evidence.server import interval_first
from rules.finding import Evidence


@dataclass(frozen=True)
class LocalCaches:
    """All local caches of the engines over an interval."""

    allocations: float
    empty: float
    engines: int
    source: Source

    @property
    def percent(self) -> float:
        """How often one was found empty, of the allocations; more than 100 where some failed several times."""
        return 100.0 * self.empty / self.allocations if self.allocations else 0.0

    @property
    def says(self) -> str:
        """The figure as a clause."""
        return (
            f"{self.engines} engines found their own reserve empty {self.empty:,.0f} times in {self.allocations:,.0f} "
            f"allocations ({self.percent:.3g} %; no limit is published)"
        )

    @property
    def evidence(self) -> Sequence[Evidence]:
        """The same as figures."""
        return (
            Evidence("allocations from the engines' local caches", self.allocations, "", self.source),
            Evidence("local caches found empty", self.empty, "", self.source),
            Evidence("the same of the allocations", round(self.percent, 2), "%", self.source, None, "from these lines"),
        )


def local_caches(facts: Facts) -> LocalCaches | None:
    """The sum of what was counted between two snapshots; `None` where nothing that can be believed was."""
    rows = [row for row in interval_first(facts, MonProcELC) if row.of_interval and row.believed]
    counted = [row for row in rows if known(row.allocations) and known(row.empty)]
    allocations = sum(row.allocations for row in counted if known(row.allocations))
    if not counted or not allocations:
        return None
    return LocalCaches(
        allocations,
        sum(row.empty for row in counted if known(row.empty)),
        len({(row.instance, row.engine) for row in counted}),
        counted[0].source,
    )
