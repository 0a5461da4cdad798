"""The spinlocks of the index hash tables are contended.

Finds: index hash spinlock contention above 3 %, with more than one engine and engines at work. The vendor gives no
figure for this spinlock; 3 % is its figure for the descriptors behind the hash tables.

Why it matters: the index descriptors of a table are found through a hash table. Engines that look for an index while
another engine holds the spinlock of that hash table wait for it spinning.

What to do: lower `open index hash spinlock ratio` from 100 to 10, or to 5 at once where 10 is not expected to suffice.
It takes effect at once. Look at the index descriptors first (ase/index_descriptor_spinlock_contended): the two are
often seen together. On 16.0 and later nothing is changed before an interval of monSpinlockActivity shows that it spins.

When to ignore it: nearly always. The vendor says that this parameter rarely needs a change; below 10 % the rule speaks
softly for that reason.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts
from rules.ase._evidence.objects.descriptors import USES, DescriptorLimits, Descriptors, judge_descriptors
from rules.ase._evidence.spinlocks.gates import METADATA_PERCENT
from rules.engine import percent, rule
from rules.finding import Outcome, Severity

LINKS = (
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc31654.1600/doc/html/san1360629139096.html",
    "https://blogs.sap.com/2014/07/16/ase-16-managing-vldb-s-with-vlh-very-large-hardware/",
)


@dataclass(frozen=True)
class Limits(DescriptorLimits):
    """`DescriptorLimits`, but for the contention, of which the vendor gives no figure here."""

    contention_percent: float = percent(
        METADATA_PERCENT, "this project: the vendor's 3 % for descriptors; for the hash it gives no figure"
    )


@rule(needs=(), uses=USES, links=LINKS, limits=Limits)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge the spinlocks over the hash tables of index descriptors."""
    yield from judge_descriptors(
        facts,
        limits,
        Descriptors(
            spinlock="Index Hash",
            kind="index",
            label="index hash",
            ratio="open index hash spinlock ratio",
            because="The vendor gives no figure for this spinlock and says that its ratio rarely needs a change.",
            lock_free="16.0 made the descriptors behind the hash tables lock-free",
            counted=False,
            base=Severity.ADVICE,
        ),
    )
