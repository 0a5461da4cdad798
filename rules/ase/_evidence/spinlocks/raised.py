"""A spinlock ratio that is the lever for most of the spins, whatever the share of grabs that waited.

The limits in per cent are for ratios as installed: of one spinlock in place of many, a small share of very many grabs
can still be most of what a server spins. Then the ratio's own rule speaks, and no rule of unexplained spins: where the
ratio was raised above its default, and where it is dynamic, so that trying the published step costs no restart and is
taken back at once. A static one at its default is left to the limit in per cent, but for one that is near it: where the
spins are measured and can have taken a tenth of the time of busy engines, half of the limit is enough.
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


NEAR_PERCENT = 5.0
"""Practice: SolarWinds DPA warns of a spinlock from 5 % on; spins that are known rank before any share (SAP wiki)."""


def is_lever(facts: Facts, lock: Spinlock | None) -> bool:
    """Whether its ratio is to be lowered for its spins, whatever the share.

    Of busy engines: most of the spins, and a ratio above the vendor's default or dynamic; or spins that cost, a share
    near the limit, and a ratio that was never lowered.
    """
    parameter = PARAMETER_OF.get(plain_name(lock.name)) if lock else None
    setting = setting_of(facts, parameter) if parameter else None
    now, known = setting.run_number if setting else None, PARAMETERS[parameter] if parameter else None
    if lock is None or now is None or known is None or known.default is None:
        return False
    bound = spin_bound(facts, lock)
    if bound is None or not bound.costly:
        return False
    if bound.most and (now > known.default or not known.static):
        return True
    return now >= known.default and (lock.percent or 0.0) >= NEAR_PERCENT
