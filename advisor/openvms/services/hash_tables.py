"""What a resource hash table of a size does, and a lock ID table: figures by the law of random hashing."""

import math
from dataclasses import dataclass

from rules.laws.hashing import (
    BUCKET_BYTES,
    LOCK_ID_BYTES,
    PROVEN,
    longest_chain,
    mean_chain,
    next_power_of_two,
    share_colliding,
)

SMALLEST, LARGEST = 1_024, 16_777_216
"""Buckets of the first and the last doubling that is shown."""


@dataclass(frozen=True)
class Levels:
    """How many names there are: at the peak, at the peak with growth, and on average where known."""

    peak: float
    grown: float
    mean: float | None = None


@dataclass(frozen=True)
class Table:
    """A resource hash table of one size. Chains are resources per bucket."""

    buckets: int
    chain: float
    """Mean at the peak with growth."""
    chain_at_peak: float
    chain_at_mean: float | None
    sharing: float
    """Names that share their bucket with another at the peak with growth, per cent."""
    longest: float | None
    """Expected longest chain at the peak with growth; `None` where it is not worked out."""
    memory_mb: float
    """Estimate: eight bytes a bucket, as recalled."""

    @property
    def proven(self) -> bool:
        """Whether so many buckets are known to be used."""
        return self.buckets <= PROVEN


@dataclass(frozen=True)
class LockIds:
    """A lock ID table of one size against the locks at the peak with growth."""

    entries: int
    share: float | None
    """Entries, per cent of the locks; `None` without locks."""
    extensions: int
    """How often it is extended after a boot until it holds them all."""
    memory_mb: float
    """Estimate: four bytes an entry."""


def table_of(entries: float, levels: Levels) -> Table:
    """A table of RESHASHTBL `entries`, rounded up to a power of two as the system does."""
    buckets = next_power_of_two(entries)
    return Table(
        buckets=buckets,
        chain=mean_chain(levels.grown, buckets),
        chain_at_peak=mean_chain(levels.peak, buckets),
        chain_at_mean=None if levels.mean is None else mean_chain(levels.mean, buckets),
        sharing=100 * share_colliding(levels.grown, buckets),
        longest=longest_chain(levels.grown, buckets),
        memory_mb=buckets * BUCKET_BYTES / 2**20,
    )


def doublings(levels: Levels) -> list[Table]:
    """Every power of two from 1,024 to 16,777,216."""
    first, last = SMALLEST.bit_length() - 1, LARGEST.bit_length() - 1
    return [table_of(2**power, levels) for power in range(first, last + 1)]


def lock_ids_of(entries: int, locks: float) -> LockIds:
    """A table of LOCKIDTBL `entries` (1 or more); it grows by as many whenever it is full."""
    return LockIds(
        entries=entries,
        share=100 * entries / locks if locks else None,
        extensions=max(0, math.ceil((locks - entries) / entries)),
        memory_mb=entries * LOCK_ID_BYTES / 2**20,
    )
