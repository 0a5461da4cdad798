"""LOCK_ACTV.COM of KP_LOCKTOOLS: lock requests per second in each lock tree of a cluster, node by node.

As the procedure writes it (its source is known [S]; the figures are made up)::

      12-MAY-2026 10:14:05
    Gathering lock rates from all cluster nodes...
      12-MAY-2026 10:14:19
    Preprocessing data...
    Generating report...

    2020202041544144...24534D52 RMS$.......DATA
        RMS lock tree for file [184815,2,0] on volume DATA
            Total:   4312
           *ORKNEY   3120
            SKYE     1192

           * Lock Master Node for the resource

      12-MAY-2026 10:14:31
    All done.

Names and figures are in columns and may touch: `Total:` and a node's name (6 characters) are followed by 7 columns, so
they are cut by column; the digits of a resource's name have its last byte first. Both the total and each node's figure
are rounded, so they add up to within half a request for each. A node whose collection failed is in no figure. The
records of LCKACT.EXE, from which the procedure makes its report, are read as well (`CSID: 00010023`, then a line for
each tree, then `Done.`): figures of those are 8 times requests per second.
"""

import re
from collections.abc import Iterator

from collectors.facts.openvms import LockActivity, LockTree
from collectors.registry import NotThisReport, Report, report
from collectors.reports.openvms.lock_activity.records import read_records
from collectors.reports.openvms.lock_activity.trees import read_reports

START = re.compile(
    r"^Gathering lock rates from all cluster nodes|^ {8}Total:(?:[ 0-9]{6}[0-9]|\*{7})\s*$|^CSID: [0-9A-F]{8}\s*$"
)


@report(starts=START, provides=(LockActivity, LockTree))
def read(report: Report) -> Iterator[LockActivity | LockTree]:
    """Yield what each report covers and its busiest trees."""
    found = [*read_reports(report), *read_records(report)]
    if not found and not report.problems:
        raise NotThisReport
    for run in found:
        yield from run.facts(report)
