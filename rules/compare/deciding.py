"""Which figures decide, of each product, most expensive first: the first that both sides have."""

from collectors.facts.openvms import DedicatedLockManager
from rules.compare.sides import ENGINE_CPU, NODE_CPU, Side
from rules.compare.work import Work
from rules.openvms._evidence.cpu_layout import Layout

STALLS = ("rdb.requests_stalled:", "rdb.promotions_stalled:", "rdb.lock_operations:")
ORDER = {
    "ase": (ENGINE_CPU, "ase.spins"),
    "openvms": (NODE_CPU, "openvms.mp_synch", *STALLS),
    "rdb": (NODE_CPU, *STALLS),
}
"""Product → keys, or beginnings of keys. Of runs of a test those decide that say so themselves."""
POLLING = ("openvms.mp_synch", "openvms.enqueues_waited", *STALLS)
"""Where the lock manager has a CPU of its own on both sides: that CPU polls, busy with work or without. Busy CPUs
per lock operation would say that each operation became more expensive in a quieter hour and cheaper in a busier one."""
PLACED = (NODE_CPU, *STALLS)
"""Where it got that CPU or gave it back: callers that spun in MP synchronization then wait in kernel mode, so less of
the former alone shows no success. What all CPUs take for one lock operation does: the CPU that polls is part of it."""


SPUN = ("ase.spins",)
"""Where no transactions were counted: a cheaper plan takes fewer searches, and each of them may then cost more CPU."""


def order_for(product: str, before: Side, after: Side, work: Work | None = None) -> tuple[str, ...]:
    """The keys that may decide, per unit of this work."""
    if work is not None and work.unit.proxy:
        return SPUN
    if product == "openvms" and polls(before) != polls(after):
        return PLACED
    if product == "openvms" and polls(before):
        return POLLING
    return ORDER.get(product, ())


def polls(side: Side) -> bool:
    """Whether a CPU is dedicated to the lock manager, in any of its captures."""
    return any(
        any(one.on for one in capture.facts.every(DedicatedLockManager))
        or Layout(capture.facts).lock_manager is not None
        for capture in side.captures
    )
