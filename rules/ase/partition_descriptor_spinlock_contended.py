"""The spinlocks of the partition descriptors are contended.

Finds: partition descriptor spinlock contention above 3 %, with more than one engine and engines at work. The vendor
gives no figure for this spinlock; 3 % is its figure for object and index descriptors.

Why it matters: a partition descriptor holds, among other things, the last page of its partition, so sessions that
insert into tables need it all the time. Since 15.0 every table has at least one partition.

What to do: lower `partition spinlock ratio` from 10 to 5, or to 1 where 5 is not expected to be enough. Where partition
descriptors are also being reused (ase/descriptors_reused), give the server enough of them first.

When to ignore it: the vendor says that a lower value may have little impact and that the default is right for most
servers; below 10 % the rule speaks softly for that reason. It cannot help where all sessions use one partition: more
partitions of the hot table would.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts
from rules.ase._evidence.objects.descriptors import USES, DescriptorLimits, Descriptors, judge_descriptors
from rules.ase._evidence.spinlocks.gates import METADATA_PERCENT
from rules.engine import limit, percent, rule
from rules.finding import Outcome, Severity

LINKS = (
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc31654.1600/doc/html/san1360629143518.html",
    "https://blogs.sap.com/2014/07/16/ase-16-managing-vldb-s-with-vlh-very-large-hardware/",
)


@dataclass(frozen=True)
class Limits(DescriptorLimits):
    """`DescriptorLimits`, but for the contention, of which the vendor gives no figure here, and the ratio."""

    contention_percent: float = percent(
        METADATA_PERCENT, "this project: the vendor's 3 % for other descriptors; here it gives no figure"
    )
    target_ratio: int = limit(5, "this project: half of the default of 10, then 1", low=1, high=10)


@rule(
    needs=(),
    uses=USES,
    links=LINKS,
    limits=Limits,
    releases="SAP ASE 15.0 or later: partition spinlocks came with it",
)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge the spinlocks over all partition descriptors."""
    yield from judge_descriptors(
        facts,
        limits,
        Descriptors(
            spinlock="Partition",
            kind="partition",
            label="partition descriptor",
            ratio="partition spinlock ratio",
            because="The vendor gives no figure for this spinlock and says that a lower ratio may have little impact.",
            since=(15, 0),
            lock_free="16.0 made object and index descriptors lock-free, of partitions the source says nothing",
            replaced=False,
            base=Severity.ADVICE,
        ),
    )
