"""Spinlock arithmetic of SAP ASE: how many spinlocks guard a hash table at a given ratio.

Source: Configuration parameters, ASE 16.0, "lock address spinlock ratio" (1031 buckets: ratio 100 gives 11 spinlocks,
ten of 100 buckets and one of 31), restated in "ASE 16 & Managing VLDB's with VLH", Jeff Tallman 2014 (ratio 5 gives
207).
"""

import math

ADDRESS_LOCK_BUCKETS = 1031
TABLE_LOCK_BUCKETS = 101


def spinlocks(buckets: float, ratio: float) -> int:
    """Number of spinlocks over `buckets` at `ratio` buckets each: the ratio rounded up, never under 1.

    Raises `ValueError` for a ratio or bucket count under 1.
    """
    if ratio < 1 or buckets < 1:
        raise ValueError("ratio and buckets are at least 1")
    return max(1, math.ceil(buckets / ratio))


SECONDS_PER_SPIN = 100e-9
"""At most: no source gives the time of one turn of the waiting loop, and none of today's processors needs more."""


def engine_time_percent(spins_per_second: float, engines: float) -> float:
    """Share of the time of `engines` that so many spins can take at most, per cent, at 100 ns a turn.

    Raises `ValueError` for less than one engine.
    """
    if engines < 1:
        raise ValueError("there is at least one engine")
    return 100.0 * SECONDS_PER_SPIN * spins_per_second / engines


def most_contended_evenly(engines: float, number: float) -> float:
    """The most contention, per cent, that grabs spread evenly over `number` spinlocks can show.

    Arithmetic: while one engine grabs, each of the others holds or waits for one spinlock at most, so at most
    `engines` - 1 of them are taken, and an evenly chosen one is taken with a probability of (engines - 1) / number. The
    figure is reached only by engines that do nothing else. Raises `ValueError` for less than one engine or spinlock.
    """
    if engines < 1 or number < 1:
        raise ValueError("there is at least one engine and one spinlock")
    return min(100.0, 100.0 * (engines - 1) / number)


def contention_after(contention: float, before: float, after: float) -> float:
    """Expected contention, per cent, once `before` spinlocks have become `after`.

    In inverse proportion: the vendor expects x / n of a cache cut into n partitions (Performance and Tuning: Basics
    12.5.1), and this project takes the same of a ratio. True where the grabs spread evenly over what is guarded; where
    all sessions want one bucket or one object it stays as it is. Raises `ValueError` for less than one spinlock.
    """
    if before < 1 or after < 1:
        raise ValueError("there is at least one spinlock")
    return contention * before / after
