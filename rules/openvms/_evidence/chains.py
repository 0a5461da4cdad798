"""The chains of the resource hash table: how long they are, and what searching them costs.

A lock operation finds its resource by the name's bucket and compares the names of the chain in it one by one while the
lock database is held. What that costs is operations × comparisons: a chain of 20 on a quiet node costs nothing that
can be measured. How long one comparison takes is published nowhere.
"""

from dataclasses import dataclass

from collectors.facts import Facts, Source, known
from collectors.facts.openvms import LockRates, ProcessorModes, SysgenParameter
from rules.changes.openvms_sysgen import PARAMETERS
from rules.finding import Outcome
from rules.laws.hashing import PROVEN, compared_in_vain, mean_chain, next_power_of_two
from rules.openvms._evidence.node import NODE_FACTS, busiest_operations, level_of, parameter_of

NAME = "RESHASHTBL"
RANGE = PARAMETERS[NAME]
CHAIN_FACTS = (*NODE_FACTS, ProcessorModes)
"""What a rule that uses this module has to declare."""
COMPARISON_USEC = 0.5
"""This project: microseconds of one comparison, taken generously (a fetch or two from main memory)."""
ENOUGH_CHAIN = 1.0
"""Practice, as recalled: one bucket per resource."""
GROWTH = 1.2
"""This project: room for a fifth more resources, or locks, than the peak."""
FAR_CHAIN = 4.0
"""This project: from here on a table is far too small."""
LITTLE_COMPARED, MUCH_COMPARED = 20_000.0, 200_000.0
"""Comparisons per second beyond the one that finds the name: a hundredth and a tenth of one CPU."""


def wanted_buckets(resources: float, growth: float = GROWTH) -> int:
    """RESHASHTBL for so many resources: the next power of two with this much room, as far as it may be.

    For the room alone it is not taken beyond what is proven to be used: a bucket for each resource is there already.
    """
    return PROVEN if _proven_do(resources, growth) else min(next_power_of_two(resources * growth), RANGE.high)


def as_wanted(resources: float, growth: float = GROWTH) -> str:
    """The same in words, as every rule that names a size says how it comes about."""
    if _proven_do(resources, growth):
        return f"a bucket for each of the {resources:,.0f} resources; more than {PROVEN:,} are unproven"
    return f"{growth:g} × the {resources:,.0f} resources, up to the next power of two"


def _proven_do(resources: float, growth: float) -> bool:
    """Whether the most buckets that are proven hold one resource each at most, and the room would take twice them."""
    return next_power_of_two(resources * growth) > PROVEN and mean_chain(resources, PROVEN) <= ENOUGH_CHAIN


@dataclass(frozen=True)
class Chain:
    """The table that runs, held against the resources."""

    value: float
    """RESHASHTBL, as it runs."""
    setting: SysgenParameter
    buckets: int
    peak: float
    """The most resources that were read."""
    usual: float
    """Mean chain length by the sustained level, else by the peak."""
    source: Source
    """Where the resources stand."""
    operations: float | None
    """The highest rate of lock operations that was read, per second."""
    operations_source: Source | None
    lasting: float | None
    """The rate that lasts: the 95th percentile, else the mean, else the highest."""
    system: float | None
    """Interrupt, kernel mode and MP synch together, per cent of one CPU at most: searching a chain is done in these, so
    it costs no more. `None` where they were not read."""

    @property
    def length(self) -> float:
        """Mean chain length at the peak."""
        return mean_chain(self.peak, self.buckets)

    @property
    def compared(self) -> float | None:
        """Names compared per second beyond the ones that are found, at the highest rate; `None` without one."""
        return None if self.operations is None else compared_in_vain(self.operations, self.usual, 1)

    @property
    def compared_lasting(self) -> float | None:
        """The same at the rate that lasts."""
        return None if self.lasting is None else compared_in_vain(self.lasting, self.usual, 1)

    def paid(self, compared: float | None) -> float | None:
        """So many comparisons per second, but no more than the time measured for them has room for."""
        if compared is None or self.system is None:
            return compared
        return min(compared, self.system * 1e4 / COMPARISON_USEC)

    @property
    def explains_spinning(self) -> bool:
        """Whether it costs so much under the lock manager's spinlock that it comes before any other remedy."""
        lasting = self.paid(self.compared_lasting)
        much = lasting is not None and lasting >= MUCH_COMPARED
        return much and self.usual >= FAR_CHAIN and self.buckets < PROVEN


def chain_of(facts: Facts) -> Chain | tuple[Outcome, ...]:
    """The chains, or the outcomes where parameter or level are not there."""
    setting, level = parameter_of(facts, NAME, RANGE.low, RANGE.high), level_of(facts, "resources")
    if not isinstance(setting, tuple) or not isinstance(level, tuple):
        return tuple(outcome for outcome in (setting, level) if not isinstance(outcome, tuple))
    (value, fact), (peak, mean, source) = setting, level
    buckets = next_power_of_two(value)
    rates = facts.every(LockRates)
    highest = busiest_operations(rates)
    read_in = next((one.source for one in rates if one.operations_per_second == highest), None) if highest else None
    usual = mean_chain(mean if mean is not None else peak, buckets)
    return Chain(value, fact, buckets, peak, usual, source, highest, read_in, _lasting(facts, highest), _system(facts))


def _system(facts: Facts) -> float | None:
    """The highest of any statistic but MONITOR's extremes, which are each mode's own; `None` where one is missing."""
    found = []
    for one in facts.every(ProcessorModes):
        modes = [one.interrupt_percent, one.kernel_percent, one.mp_synch_percent]
        read = [value for value in modes if known(value) and value >= 0]
        if len(read) == len(modes) and one.statistic not in ("minimum", "maximum"):
            found.append(sum(read))
    return max(found, default=None)


def _lasting(facts: Facts, highest: float | None) -> float | None:
    for statistic in ("p95", "mean"):
        found = facts.latest(LockRates, statistic=statistic)
        if found and found.operations_per_second is not None and found.operations_per_second >= 0:
            return found.operations_per_second
    return highest
