"""Rows of counters that only rise: as one snapshot shows them, or what was counted between two.

A monitoring table of SAP ASE holds totals. One snapshot gives totals since the server started, or since somebody
cleared them. Two give the same fact once more, with the differences in place of the totals and a certificate that says
whether they can be believed. A row never mixes the two.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeGuard

from collectors.facts.base import Fact, Source
from collectors.facts.columns import TableRow

Width = Literal["int", "bigint"]
"""`int`: 32 bits, printed signed or unsigned, wraps at 2^31 or 2^32. `bigint`: does not wrap in practice."""

Certificate = str
"""`ok`; `wrapped` (once, provable); `reset` (server started anew, counters cleared, or they fell); `other instance`;
`ambiguous` (may have wrapped more than once, or rows that cannot be told apart)."""

BELIEVED = ("ok", "wrapped")


@dataclass(frozen=True, kw_only=True)
class Counted(TableRow):
    """One row of a table of counters. Facts of such tables are this and `Fact`."""

    __slots__ = ()

    KEY: ClassVar[tuple[str, ...]] = ()
    """The fields that make a row the same row in another snapshot."""
    COUNTERS: ClassVar[Mapping[str, Width]] = {}
    """The fields that are totals; everything else is a state, and the later snapshot's counts."""

    over: str = "since boot"
    """`since boot`: totals of one snapshot. `interval`: what was counted between two."""
    seconds: float | None = None
    """Between the two snapshots; of a single one, since the server started or the counters were cleared. `None`
    where the export has no times: then there are no rates."""
    seconds_low: float | None = None
    """The least and the most seconds it can be, where both times were printed to the minute; else `None`. `seconds`
    is then given only where it is off by a tenth at most."""
    seconds_high: float | None = None
    certificate: str | None = None
    """See `Certificate`; `None` for a single snapshot. Counters that are not `BELIEVED` are `ABSENT`."""
    earlier: Source | None = None
    """Where the row stands in the earlier snapshot."""

    @property
    def of_interval(self) -> bool:
        """Whether these are differences of two snapshots, and not totals."""
        return self.shared("over") == "interval"

    @property
    def believed(self) -> bool:
        """Whether the counters may be judged by: totals as they stand, differences with a good certificate."""
        return self.certificate is None or self.certificate in BELIEVED


def is_total(fact: Fact) -> TypeGuard[Counted]:
    """Whether this is a row of totals, to be subtracted from a later one: neither a state nor a difference."""
    return isinstance(fact, Counted) and not fact.of_interval
