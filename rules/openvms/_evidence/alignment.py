"""Alignment faults per second: which of the rates read is judged, and which spinlock they pass through.

On Integrity the system resolves each in software; only one CPU at a time does so, under the spinlock of memory
management, as Hein van den Heuvel says in HPE's forum ("Is this too many alignment faults?", 2010), and the OpenVMS
Technical Journal, volume 9, names spinlock contention among what they cost. So MMG is hot for page faults, for
alignment faults, or for both, and its own trace does not say for which.
"""

from collectors.facts import Facts, Reading, known
from collectors.facts.openvms import AlignmentFaults, Node, SystemRates
from rules.openvms._evidence.monitor_classes import CLASS_FACTS, Mean, page_faults
from rules.openvms._evidence.releases import machine_of

ALIGNMENT_FACTS = (*CLASS_FACTS, AlignmentFaults, Node, SystemRates)
"""What a rule that uses this module has to declare."""
MODES = ("kernel", "exec", "super", "user")
STATISTICS = ("mean", "current", "p95", "maximum")
"""The first one that was read is judged: what lasts before what was so once."""
MANY = 5_000.0
"""This project: no threshold is published; a real day with 144 a second was harmless, this is 35 times that."""


def rates_of(facts: Facts) -> AlignmentFaults | None:
    """The rates to judge; `None` where none were brought."""
    return next((one for name in STATISTICS if (one := facts.latest(AlignmentFaults, statistic=name))), None)


def by_mode(rates: AlignmentFaults) -> dict[str, Reading]:
    """Rate of each mode, as read."""
    return {mode: getattr(rates, f"{mode}_per_second") for mode in MODES}


def total_of(rates: AlignmentFaults) -> float:
    """Faults per second of all modes, as printed, else of those that were read."""
    printed = rates.total_per_second
    return printed if known(printed) else sum(value for value in by_mode(rates).values() if known(value))


def many_under_mmg(facts: Facts) -> Mean | None:
    """Alignment faults that are many, and more than the page faults where these were read, on what may be Integrity.

    `None` otherwise: few of them are no reason for a hot MMG, and Alpha resolves them in PALcode, without a spinlock.
    Only a mean is held against the mean of page faults, and against the spinning of a capture.
    """
    rates, pages = facts.latest(AlignmentFaults, statistic="mean"), page_faults(facts)
    if rates is None or machine_of(facts).no_integrity:
        return None
    total = total_of(rates)
    negative = any(known(one) and one < 0 for one in by_mode(rates).values())
    if negative or total < MANY or (pages and pages.value >= total):
        return None
    return Mean(total, rates.source)
