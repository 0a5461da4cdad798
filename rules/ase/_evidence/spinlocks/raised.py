"""A spinlock ratio that is the lever for most of the spins, whatever the share of grabs that waited.

The limits in per cent are for ratios as installed: of one spinlock in place of many, a small share of very many grabs
can still be most of what a server spins. Then the ratio's own rule speaks, and no rule of unexplained spins: where the
ratio was raised above its default, and where it is dynamic, so that trying the published step costs no restart and is
taken back at once. A static one at its default is left to the limit in per cent.
"""

from collections.abc import Mapping

from collectors.facts import Facts
from rules.ase._evidence.server import setting_of
from rules.ase._evidence.spinlocks.monitored import (
    ADDRESS,
    INDEX,
    INDEX_HASH,
    OBJECT,
    PAGE_ROW,
    PARTITION,
    TABLE,
    USER_LOG_CACHE,
    Spinlock,
)
from rules.ase._evidence.spinlocks.names import plain_name
from rules.ase._evidence.spinlocks.spin_severity import spin_bound
from rules.changes.ase_config import PARAMETERS

PARAMETER_OF: Mapping[str, str] = {
    ADDRESS: "lock address spinlock ratio",
    PAGE_ROW: "lock spinlock ratio",
    TABLE: "lock table spinlock ratio",
    OBJECT: "open object spinlock ratio",
    INDEX: "open index spinlock ratio",
    INDEX_HASH: "open index hash spinlock ratio",
    PARTITION: "partition spinlock ratio",
    USER_LOG_CACHE: "user log cache spinlock ratio",
}
"""The parameter that spreads a spinlock, by the name of the spinlock."""


def raised_ratio(facts: Facts, lock: Spinlock | None) -> bool:
    """Whether it has most of the spins of busy engines, and its ratio is above the vendor's default or dynamic."""
    parameter = PARAMETER_OF.get(plain_name(lock.name)) if lock else None
    setting = setting_of(facts, parameter) if parameter else None
    now, known = setting.run_number if setting else None, PARAMETERS[parameter] if parameter else None
    if now is None or known is None or known.default is None or (now <= known.default and known.static):
        return False
    bound = spin_bound(facts, lock)
    return bound is not None and bound.dominates
