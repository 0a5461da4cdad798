"""The spinlocks of the index descriptors are contended.

Finds: index descriptor spinlock contention above the vendor's 3 %, with more than one engine and engines at work.

Why it matters: the descriptor of an open index holds where its pages are, how often it is in use, and the counters that
monOpenObjectActivity shows. Before 16.0 each change of these takes the spinlock of the descriptor, which with the
default ratio guards 99 others as well; Jeff Tallman ("ASE 16 & Managing VLDB's with VLH", 2014) saw 30-40 % at 64
engines.

What to do: lower `open index spinlock ratio` from 100 to 10, or to 5 at once where 10 is not expected to be enough. It
takes effect at once. Where index descriptors are also being reused (ase/descriptors_reused), give the server enough of
them first. On 16.0 and later these spinlocks should not matter: there nothing is changed before an interval of
monSpinlockActivity shows that they spin.

When to ignore it: when the engines are not busy, or during the minutes in which many tables are opened for the first
time. Lowering the ratio does not help where all sessions use one and the same index.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts
from rules.ase._evidence.objects.descriptors import USES, DescriptorLimits, Descriptors, judge_descriptors
from rules.engine import rule
from rules.finding import Outcome

LINKS = (
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc31654.1600/doc/html/san1360629139456.html",
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc00842.1570/html/spsysmon/spsysmon174.htm",
    "https://blogs.sap.com/2014/07/16/ase-16-managing-vldb-s-with-vlh-very-large-hardware/",
)


@dataclass(frozen=True)
class Limits(DescriptorLimits):
    """`DescriptorLimits`: above 3 % (vendor), critical from 10 % on, a ratio of 10 first (practice)."""


@rule(needs=(), uses=USES, links=LINKS, limits=Limits)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge the spinlocks over all index descriptors."""
    yield from judge_descriptors(
        facts,
        limits,
        Descriptors(
            spinlock="Index",
            kind="index",
            label="index descriptor",
            ratio="open index spinlock ratio",
            because="Each change in the descriptor of an open index takes its spinlock, which guards others as well.",
        ),
    )
