"""What a change to data-only locking is watched by on SAP ASE: latches, and the locks that rows take instead of pages.

A table that leaves allpages takes latches on its index pages in place of address locks, and one that comes to datarows
a lock for each row. So every conversion that is advised shows the figures of before, to hold those of afterwards
against.
"""

from collections.abc import Iterator

from collectors.facts import Fact, Facts, known
from collectors.facts.ase import LockHashtable, MonSysWaits, TaskSwitches
from rules.ase._evidence.objects.resources import LOCKS
from rules.ase._evidence.waits.events import LATCHES
from rules.ase._evidence.waits.promotion import PROMOTION_FACTS, free_locks, thresholds_of
from rules.ase._evidence.waits.tasks import WAIT_FACTS, Waited, waited_for
from rules.finding import Evidence

WATCH_FACTS: tuple[type[Fact], ...] = (TaskSwitches, MonSysWaits, *WAIT_FACTS, *PROMOTION_FACTS)
CAUSE = "Latch Contention"
LONG_MS = 20.0
"""This project: more than twice the 8.8 ms that a wait for a latch took in a published run that was healthy."""
CHAIN = 5.0
"""Vendor: raise lock hashtable size above an average chain of 4 or 5 locks at peak."""


def chains_behind(facts: Facts) -> LockHashtable | None:
    """Long lock hash chains where single waits for latches are long, which the vendor explains by them; else `None`."""
    table, waited = facts.latest(LockHashtable, table="page and row"), waited_for(facts, "latches", LATCHES)
    if table is None or not known(table.chain_length) or table.chain_length <= CHAIN:
        return None
    if not isinstance(waited, Waited) or waited.unsure or (waited.mean_milliseconds or 0.0) < LONG_MS:
        return None
    return table


def latches_before(facts: Facts) -> Iterator[Evidence]:
    """How many wait for latches before the conversion, by whatever was collected."""
    switches = facts.latest(TaskSwitches, cause=CAUSE)
    if switches and known(switches.percent) and 0 <= switches.percent <= 100:
        metric = "latch contention before, to be watched afterwards"
        yield Evidence(metric, switches.percent, "% of task switches", switches.source)
    waited = waited_for(facts, "latches", LATCHES)
    if isinstance(waited, Waited) and not waited.unsure and waited.source.file:  # else no row counts them: not a 0
        metric = "tasks waiting for latches before, to be watched afterwards"
        yield Evidence(metric, round(waited.tasks, 2), "tasks", waited.source)


def row_locks_caution(facts: Facts) -> str:
    """How many scans find their row locks after a conversion to datarows, as a sentence; empty where it is not known.

    A scan takes up to `row lock promotion HWM` row locks before it tries for a table lock.
    """
    thresholds, free = thresholds_of(facts, "row"), free_locks(facts)
    if thresholds is None or free is None or thresholds.hwm < 1:
        return ""
    return (
        f"With datarows a scan may hold {thresholds.hwm:,} row locks before it tries for a table lock (row lock "
        f"promotion HWM); {free:,.0f} locks were free at most use, enough for {free // thresholds.hwm:,.0f} such scans "
        f"at once. If more run at once, raise {LOCKS} first."
    )
