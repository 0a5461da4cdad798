"""Random hashing: how long chains get and how many names share a bucket.

With n names thrown at random into m buckets the load is λ = n/m, which is the mean chain length over all buckets, and
the number in a bucket follows Poisson(λ).
"""

import math

PROVEN = 65_536
"""Buckets of OpenVMS's resource hash table that the published description (VAXcluster Principles, 1993) can fill: its
hash has 16 bits. Whether more help is unproven."""
BUCKET_BYTES = 8
"""Memory of a bucket of the resource hash table, as recalled and not confirmed by a source."""
LOCK_ID_BYTES = 4
"""Memory of an entry of the lock ID table (wiki.vmssoftware.com/LOCKIDTBL)."""
LONGEST_FROM = 10_000.0
"""Of a mean chain above this the longest one is not worked out: it is as long as the mean, nearly."""


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


def compared_in_vain(per_second: float, names: float, buckets: float) -> float:
    """Names compared per second beyond the ones that are found, where so many are looked for."""
    return per_second * (mean_probes(names, buckets) - 1)


def next_power_of_two(value: float) -> int:
    """The smallest power of two not below `value`; 1 for anything up to 1."""
    return 1 << max(0, math.ceil(value) - 1).bit_length()


def buckets_for_chain(buckets: float, chain: float, under: float) -> int:
    """The smallest power of two above `buckets` whose mean chain is under `under`, with as many names as now.

    Raises `ValueError` for less than one bucket, or a chain length to stay under that is not above 0.
    """
    if under <= 0:
        raise ValueError("a chain cannot be shorter than nothing")
    new, names = next_power_of_two(buckets + 1), chain * buckets
    while mean_chain(names, new) >= under:
        new *= 2
    return new


def longest_chain(names: float, buckets: int) -> float | None:
    """Expected length of the longest of all chains; `None` above a mean of 10,000.

    By the same law: each bucket holds Poisson(λ) names and is taken as independent of the others, so the chance that
    none is longer than k is F(k) ** buckets. It says what luck alone does, nothing of names that hash alike.
    """
    mean = mean_chain(names, buckets)
    if names <= 0 or mean > LONGEST_FROM:
        return None if names > 0 else 0.0
    spread = 12 * math.sqrt(mean) + 40
    low, high = max(0, math.floor(mean - spread)), math.ceil(mean + spread)
    beyond, expected = 0.0, 0.0
    for length in range(high, low, -1):
        beyond += math.exp(length * math.log(mean) - mean - math.lgamma(length + 1))
        # the chance that the longest chain is `length` or more
        expected += 1.0 if beyond >= 1.0 else -math.expm1(buckets * math.log1p(-beyond))
    return min(names, low + expected)
