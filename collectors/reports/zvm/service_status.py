"""SERVICE CP STATUS of one APAR: whether that service is applied to z/VM's CP.

Sample (recalled, with a number of our own)::

    service cp status vm60001
    VMFSRV2760I SERVICE processing started
    VMFSRV1227I VM60001 is not received or applied to CP (6VMCPR40%CP)
    VMFSRV2760I SERVICE processing completed successfully

    VMFSRV1226I CP (6VMCPR40%CP) APAR VM60001 (PTF UM30001) status:
    VMFSRV1226I    RECEIVED    03/02/26 10:14:07
    VMFSRV1226I    APPLIED     03/02/26 10:15:31

What is received only is not applied.
"""

import re
from collections.abc import Iterator

from collectors.facts.zvm import ServiceStatus
from collectors.registry import NotThisReport, Report, report

APAR = r"(?P<apar>[A-Z]{2}[0-9]{5})"
NEITHER = re.compile(
    rf"\s{{0,8}}VMFSRV1227I\s{{1,4}}{APAR}\s{{1,4}}is not received or applied to\s{{1,4}}(?P<of>[A-Z0-9]{{1,8}})\b",
    re.IGNORECASE,
)
STATUS = re.compile(
    rf"\s{{0,8}}VMFSRV1226I\s{{1,4}}(?P<of>[A-Z0-9]{{1,8}})\s{{1,4}}\([^()]{{1,30}}\)\s{{1,4}}APAR\s{{1,4}}{APAR}\b",
    re.IGNORECASE,
)
APPLIED = re.compile(r"\s{0,8}VMFSRV1226I\s{1,12}(?P<state>RECEIVED|APPLIED|BUILT|PUT2PROD)\b", re.IGNORECASE)
FRAME = re.compile(r"\s{0,8}(?:VMFSRV2760I\b|Ready[;(]|service\s{1,4}[A-Z0-9]{1,8}\s{1,4}status\b)", re.IGNORECASE)


@report(starts=re.compile(r"^\s{0,8}VMFSRV(?:2760|122[67])I\b", re.IGNORECASE), provides=(ServiceStatus,))
def read(report: Report) -> Iterator[ServiceStatus]:
    """Yield each APAR that is asked for, with whether it is applied."""
    if report.before and FRAME.match(report.before[-1]):
        report.above = 1
    found: dict[str, tuple[int, int, str, bool]] = {}
    last = ""
    for index, line in enumerate(report.lines):
        if neither := NEITHER.match(line):
            found[neither["apar"].upper()] = (index, index, neither["of"].upper(), False)
        elif status := STATUS.match(line):
            last = status["apar"].upper()
            found[last] = (index, index, status["of"].upper(), False)
        elif (state := APPLIED.match(line)) and last:
            first, _, of, applied = found[last]
            found[last] = (first, index, of, applied or state["state"].upper() != "RECEIVED")
        elif not FRAME.match(line):
            continue
        report.claim(index)
    if not found:
        raise NotThisReport
    for apar, (first, end, of, applied) in found.items():
        yield ServiceStatus(source=report.source(first, end), apar=apar, component=of, applied=applied)
