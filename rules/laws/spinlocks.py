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
