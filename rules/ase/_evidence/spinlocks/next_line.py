"""The spinlock that is likely to come up once the contention for the dominating one is reduced, with its lever.

"Who were hiding suddenly popped up": at one site the descriptors' spinlocks had 30 to 40 % as soon as the address
locks' was reduced ("ASE 16 & Managing VLDB's with VLH", Jeff Tallman 2014). ase/spinlock_next_in_line tells the same
where the second one can cost time now; here it is the sentence of the first one's own finding, whatever it costs.
"""

from collectors.facts import Facts
from rules.ase._evidence.objects.descriptors import DescriptorLimits
from rules.ase._evidence.server import setting_of
from rules.ase._evidence.spinlocks.gates import CACHE_SEARCHES, LOCK_PERCENT, METADATA_PERCENT
from rules.ase._evidence.spinlocks.monitored import (
    INDEX,
    INDEX_HASH,
    OBJECT,
    OF_METADATA,
    Spinlock,
    share_in_words,
    spinlocks_by_name,
)
from rules.ase._evidence.spinlocks.names import plain_name
from rules.ase._evidence.spinlocks.raised import PARAMETER_OF
from rules.ase._evidence.spinlocks.spin_severity import spin_bound
from rules.changes.ase_config import PARAMETERS

TARGET = dict.fromkeys((OBJECT, INDEX, INDEX_HASH), DescriptorLimits.target_ratio)
"""The ratio to name, where the rule of the spinlock has one that needs no look at anything else."""


def next_in_line(facts: Facts, first: Spinlock | None) -> str:
    """The next one by its spins over its own limit, as a sentence; empty where `first` has not most of them.

    Only one that has a parameter of its own is told: of another there is nothing to do.
    """
    bound = spin_bound(facts, first)
    if first is None or bound is None or not bound.most or not first.of_interval:
        return ""
    for one in sorted(spinlocks_by_name(facts).values(), key=lambda lock: -lock.spins):
        name = plain_name(one.name)
        metadata = name in OF_METADATA.values()
        above = (one.percent or 0.0) > (METADATA_PERCENT if metadata else LOCK_PERCENT)
        used = (one.rate(one.grabs) or 0.0) >= CACHE_SEARCHES
        if one is not first and name in PARAMETER_OF and one.of_interval and above and used:
            return _lever(facts, one, PARAMETER_OF[name], TARGET.get(name))
    return ""


def _lever(facts: Facts, lock: Spinlock, parameter: str, target: int | None) -> str:
    """What it is and what reduces its contention, with the way back."""
    setting, static = setting_of(facts, parameter), PARAMETERS[parameter].static
    now = setting.run_number if setting else None
    if now is not None and now <= (target or 1):
        return ""
    says = f"{lock.name} ({share_in_words(lock.percent or 0.0)} % contended) is likely to come next"
    back = f"back: {now:g}" if now is not None else "note the value before"
    when = "static" if static else "dynamic"
    how = f'`sp_configure "{parameter}", {target}`' if target else f"a lower {parameter}"
    return f"{says}: if it rises after this, {how} ({when}; {back})."
