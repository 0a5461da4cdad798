"""FCX326 LOCKACT: how often requests for CP's spin locks had to spin, over the whole interval.

Sample::

    FCX326      CPU 3906  SER 0B7F2  Interval 09:00:00 - 10:00:00    Perf. Monitor

                  <--------------------- Spin Lock Collision Activity --------------------------->
                  <----- Combined -------->  <------ Exclusive ------>  <-------- Shared -------->
                  Colls AvgSpin  Spin  CADs  Colls AvgSpin  Spin  CADs   Colls AvgSpin  Spin  CADs
    LockName       /sec    usec %Busy  /sec   /sec    usec %Busy  /sec    /sec    usec %Busy  /sec
    SRMSLOCK      812.4   3.105  .252  96.0  640.1   3.402  .218  80.2   172.3   2.001  .034  15.8

The report that APAR VM65988 names. Its layout was not seen: it is taken to be that of LOCKLOG without the end times
[R, zvm-unix-scalability.md a2], tentative unless the figures prove it: collisions × microseconds × 1e-4 = per cent.
"""

from collections.abc import Iterator

from collectors.facts.zvm import PerfkitPage, SpinLock
from collectors.layouts.perfkit import PageStream, start
from collectors.layouts.spin_locks import read_locks
from collectors.registry import Report, stream


@stream(starts=start("FCX326"), provides=(PerfkitPage, SpinLock))
class LockActivity(PageStream):
    """One page."""

    def facts(self, report: Report) -> Iterator[PerfkitPage | SpinLock]:
        """Yield the page and its locks."""
        yield from read_locks(report)
