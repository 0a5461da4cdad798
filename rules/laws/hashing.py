"""Random hashing: how long chains get and how many names share a bucket.

With n names thrown at random into m buckets the load is λ = n/m, which is the mean chain length over all buckets, and
the number in a bucket follows Poisson(λ).
"""

import math


def mean_chain(names: float, buckets: float) -> float:
    """Mean number of names per bucket, λ. Raises `ValueError` for less than one bucket."""
    if buckets < 1:
        raise ValueError("a hash table has at least one bucket")
    return names / buckets


def share_colliding(names: float, buckets: float) -> float:
    """Share of names (0 to 1) that have at least one other name in their bucket: 1 − e^(−λ)."""
    return 1.0 - math.exp(-mean_chain(names, buckets))


def mean_probes(names: float, buckets: float) -> float:
    """Mean comparisons to find a name that is there: itself and half of the others in its chain, 1 + λ/2."""
    return 1.0 + mean_chain(names, buckets) / 2.0


def next_power_of_two(value: float) -> int:
    """The smallest power of two not below `value`; 1 for anything up to 1."""
    return 1 << max(0, math.ceil(value) - 1).bit_length()
