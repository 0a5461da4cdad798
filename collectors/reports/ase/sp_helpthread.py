"""Thread pools of the threaded kernel (`sp_helpthread`, 15.7 on).

As isql prints it; the layout is recalled, and the columns are known by their names::

     Name              Type                 Size IdleTimeout Description
     ----------------- -------------------- ---- ----------- ---------------------------------
     syb_blocking_pool Run To Completion       8           0 A pool for calls that block
     syb_default_pool  Engine (Multiplexed)    6         100 The pool of query sessions

Size is the number of threads, of an engine pool that of its engines; IdleTimeout is in microseconds, -1 where the
engines never yield (vendor, alter thread pool).
"""

import re
from collections.abc import Iterator

from collectors.facts.ase import ThreadPool
from collectors.layouts.figures import reading
from collectors.registry import Report, report
from collectors.tables import Listing, columns

HEADING = re.compile(r"\bName\W{1,300}Type\W{1,300}Size\W{1,300}Idle_?Timeout\b", re.IGNORECASE)
POOLS = Listing(
    heading=HEADING,
    row=columns(
        ThreadPool,
        name=(str, "Name"),
        type=(str, "Type"),
        threads=(reading, "Size"),
        idle_microseconds=(reading, "IdleTimeout"),
    ),
    stop=re.compile(rf"\W{{0,40}}(?:{HEADING.pattern})|\s*(?:sp_\w+\b|go\s*$)", re.IGNORECASE),
    remedy="export it again in full (isql -w 1000)",
)


@report(starts=HEADING, provides=(ThreadPool,))
def read(report: Report) -> Iterator[ThreadPool]:
    """Yield one fact per pool."""
    report.tentative("the columns of sp_helpthread are recalled: known by their names alone")
    yield from POOLS.read(report)
