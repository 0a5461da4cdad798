"""The spinlocks of the object descriptors are contended.

Finds: object descriptor spinlock contention above the vendor's 3 %, with more than one engine and engines at work.

Why it matters: before 16.0 every change of a counter in the descriptor of an open object takes the spinlock of that
descriptor, and with the default ratio the same spinlock stands before 99 others. Different users with different tables
then wait for each other. Jeff Tallman ("ASE 16 & Managing VLDB's with VLH", 2014) saw 30-40 % as soon as the address
locks no longer hid it.

What to do: lower `open object spinlock ratio` from 100 to 10, or to 5 at once where 10 is not expected to be enough. It
takes effect at once. Where descriptors are also being reused (ase/descriptors_reused), give the server enough of them
first. On 16.0 and later these spinlocks should not matter: there nothing is changed before an interval of
monSpinlockActivity shows that they spin.

When to ignore it: when the engines are not busy, or during the minutes in which many objects are opened for the first
time. Lowering the ratio does not help where all sessions use one and the same object.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts
from rules.ase._evidence.objects.descriptors import USES, DescriptorLimits, Descriptors, judge_descriptors
from rules.engine import rule
from rules.finding import Outcome

LINKS = (
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc31654.1600/doc/html/san1360629139846.html",
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc00842.1570/html/spsysmon/spsysmon174.htm",
    "https://blogs.sap.com/2014/07/16/ase-16-managing-vldb-s-with-vlh-very-large-hardware/",
)


@dataclass(frozen=True)
class Limits(DescriptorLimits):
    """`DescriptorLimits`: above 3 % (vendor), critical from 10 % on, a ratio of 10 first (practice)."""


@rule(needs=(), uses=USES, links=LINKS, limits=Limits)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge the spinlocks over all object descriptors."""
    yield from judge_descriptors(
        facts,
        limits,
        Descriptors(
            spinlock="Object",
            kind="object",
            label="object descriptor",
            ratio="open object spinlock ratio",
            because="Each change of a counter of an open object takes the spinlock of its descriptor, which guards "
            "others as well.",
        ),
    )
