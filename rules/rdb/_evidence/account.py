"""How many processes of a database waited for locks, by the screens of RMU/SHOW STATISTICS.

Stall time per second ÷ 100 is the number of processes that waited at any moment, as each waits for one lock at a time.
What the processors of the node do these screens do not tell, so there is no capacity to hold it against.
"""

from collections.abc import Iterator

from collectors.facts import Facts
from collectors.facts.rdb import EventLog, HeldLock, StatisticRow, WaitGroup
from rules.account import MEAN, WAITING_TASKS, Amount, Measured, Pool
from rules.rdb._evidence.counted import counted, mean_stall, mostly_idle, of_each_node, one_type
from rules.rdb._evidence.databases import databases
from rules.rdb._evidence.root_file import printed

CAUSE = "rdb/lock_stalls_long"
"""What it finds is this very time; which locks cause it is for that finding to say."""


def measured(facts: Facts) -> tuple[Measured, ...]:
    """One account of all databases of the capture; none where no screen counts stalls."""
    pools = tuple(_pools(facts))
    return (Measured(WAITING_TASKS, MEAN, None, None, pools),) if pools else ()


def _pools(facts: Facts) -> Iterator[Pool]:
    for one in databases(facts, (StatisticRow, WaitGroup, EventLog, HeldLock)):
        found, _ = counted(facts, one)
        for mean, each in of_each_node(found, lambda each: mean_stall(each) or one_type(each)):
            kind = mostly_idle(mean) or (printed(mean.lock_type) if mean.lock_type != "total" else "")
            where = f" on {each.node}" if each.node else ""
            yield Pool(
                what=f"{f'{kind} locks' if kind else 'locks'} of {one.subject}{where}",
                amount=Amount.exactly(mean.waiting),
                source=mean.source,
                causes=(f"{CAUSE}:{one.subject}",),
            )
