"""FCX265 LOCKLOG: how often requests for CP's spin locks had to spin, by time.

Sample::

    FCX265      CPU 3906  SER 0B7F2  Interval 09:00:00 - 10:00:00    Perf. Monitor

                           <--------------------- Spin Lock Collision Activity --------------------------->
                           <----- Combined -------->  <------ Exclusive ------>  <-------- Shared -------->
      Interval             Colls AvgSpin  Spin  CADs  Colls AvgSpin  Spin  CADs   Colls AvgSpin  Spin  CADs
      End Time LockName     /sec    usec %Busy  /sec   /sec    usec %Busy  /sec    /sec    usec %Busy  /sec
      >>Mean>> SRMSLOCK    812.4   3.105  .252  96.0  640.1   3.402  .218  80.2   172.3   2.001  .034  15.8
      >>Mean>> >>Total>    840.9   3.071  .258  97.3  661.0   3.366  .222  81.1   179.9   1.990  .036  16.2

The layout of z/VM 7.3 is the vendor's own [V, zvm-unix-scalability.md a1]; that of older releases is recalled [R] and
tentative, unless the figures prove it. How the rows are read and checked: `collectors.layouts.spin_locks`.
"""

from collections.abc import Iterator

from collectors.facts.zvm import PerfkitPage, SpinLock
from collectors.layouts.perfkit import PageStream, start
from collectors.layouts.spin_locks import read_locks
from collectors.registry import Report, stream


@stream(starts=start("FCX265"), provides=(PerfkitPage, SpinLock))
class LockLog(PageStream):
    """One page of the log."""

    def facts(self, report: Report) -> Iterator[PerfkitPage | SpinLock]:
        """Yield the page and its locks."""
        yield from read_locks(report)
