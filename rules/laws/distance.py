"""How far apart two nodes are, counted in local locks: a signal in glass takes its time, whatever the nodes can do.

JCC Consulting's slides on the OpenVMS lock manager (2014) do this arithmetic for 15 metres and 25 kilometres. One of
their figures is a misprint: for 25 km they print 1.25·10⁻³ s one way, where 25,000 m ÷ 2·10⁸ m/s = 1.25·10⁻⁴ s. Their
own "factor of 92" is that of 1.25·10⁻⁴ s; with the figure as printed it would be 928.
"""

from rules.laws.mastering import BL870C_OPERATIONS

VACUUM = 299_792_458.0
"""Metres per second."""
GLASS = 2e8
"""Metres per second: light in a fibre, refractive index about 1.5."""
LOCAL_MICROSECONDS = 1e6 / BL870C_OPERATIONS
"""A local lock of one process on a BL870c, 2.69 µs: the slides' measure of distance."""


def one_way_seconds(metres: float, speed: float = GLASS) -> float:
    """Seconds a signal takes over this distance. Raises `ValueError` for a negative distance or no speed."""
    if metres < 0 or speed <= 0:
        raise ValueError("a distance of 0 or more and a speed above 0")
    return metres / speed


def round_trip_locks(metres: float, local_microseconds: float = LOCAL_MICROSECONDS, speed: float = GLASS) -> float:
    """How many local locks fit into the round trip of a signal, switches and software not counted.

    Raises `ValueError` as above, and for a local lock that takes no time.
    """
    if local_microseconds <= 0:
        raise ValueError("a local lock takes time")
    return 2e6 * one_way_seconds(metres, speed) / local_microseconds


def farthest_metres(microseconds: float, speed: float = GLASS) -> float:
    """The distance that this much time for a round trip corresponds to if all of it is propagation.

    An upper bound: switches, adapters and the software of both nodes have their part of the time. Raises `ValueError`
    for a negative time.
    """
    if microseconds < 0:
        raise ValueError("a round trip takes no negative time")
    return microseconds / 2e6 * speed
