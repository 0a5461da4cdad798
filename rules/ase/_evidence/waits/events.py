"""Wait events of SAP ASE by number: what a task waits for, and which events are no wait of work.

Keyed by number alone: names change between releases, and class 9 (internal system event) mixes idle daemons with
latches and the caches of the log. Sources and grades: knowledge/ase-waits-caches.md, 1.2 to 1.4.
"""

LOCKS = frozenset((150, 481, 493, 494, 495, 499, 500, 501, 700, 701))
"""Row, page, table, address and partition locks, of this node and of others; the 16.0 sample read uses 150 alone."""
LATCHES = frozenset((41,))
RUN_QUEUE = frozenset((214, 215))
"""Ready to run and waiting for an engine."""
NETWORK = frozenset((250, 251))
"""A client that thinks, or is slow to take its rows."""
IDLE = frozenset(
    (
        *(19, 57, 60, 61, 66, 104, 169, 178, 179, 221, 222, 247, 260, 261, 262, 263, 307, 308, 497, 578, 645, 646),
        *(779, 780, 861, 913),
        *range(285, 291),
        *range(677, 698),
        *range(728, 732),
        *range(888, 891),
        *range(892, 896),
        *range(904, 911),
        *range(914, 928),
    )
)
"""Daemons and helpers with nothing to do."""
HOOKS = frozenset(
    (*range(11, 19), 45, 64, 213, *range(235, 247), 269, 270, 273, 274, 275, 278, 281, 651, 652, 653, 778)
)
"""Tests, recovery and the ending of tasks: never spoken of."""


def at_work(event: int) -> bool:
    """Whether a task that waits for this event has work to do."""
    return event not in IDLE and event not in HOOKS and event not in NETWORK
