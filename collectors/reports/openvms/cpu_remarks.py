r"""Remarks of people that a CPU was stopped on purpose and is to stay so.

Samples::

    %%%%%%%%%%%  14-MAR-2024 08:02:11.90  %%%%%%%%%%%
    Message from user SYSTEM on ORKNEY
    CPU 6,7 stopped for the licence audit, leave them stopped please

    ! 2-FEB-2023 CPUs 12-15 given back (iCAP), STOP/CPU 12,13,14,15 in SYSTARTUP_VMS.COM

Prose has no layout, so one line is a remark where it names CPUs by number and says that they stay stopped, were given
back, or were stopped for a reason that stands for more than a test (a licence, iCAP, a fault). A line with a condition
in it (`if`, `unless`, `may be`) or that starts a CPU says nothing of what holds. Who wrote it, and when, is taken from
the operator's message (OPCOM) that the line is the text of.
"""

import re
from collections.abc import Iterator

from collectors.facts.openvms import CpuRemark
from collectors.layouts.vms import MOMENT, NODE, first_moment
from collectors.registry import Report, report

NUMBERS = r"[0-9]{1,4}(?:\s{0,2}(?:,|-|&|\band\b|\bto\b)\s{0,2}[0-9]{1,4}(?![0-9]|-[A-Z]))*"
CPUS = rf"(?:STOP/CPU(?:/[A-Z_]{{1,20}})?|\bCPUs?)\s{{0,2}}#?\s?({NUMBERS})"
STAYS = (
    r"\b(?:le(?:ave|ft)|keep|kept|stays?|remains?)\b.{0,30}\b(?:stopped|switched off|out|off)\b"
    r"|\b(?:do not|don't|never|must not|not to) (?:be )?(?:re)?start(?:ed)?\b|\b(?:given|handed|gave) back\b"
)
STOPPED = r"STOP/CPU|\bstopped\b|\bswitched off\b|\btaken out\b|\bdeactivated\b"
REASON = r"\blicen[cs](?:e|es|ing)\b|\biCAP\b|\binstant capacity\b|\bon purpose\b|\bdefective\b|\bfaulty\b|\bbroken\b"
CONDITION = (
    r"\b(?:if|unless|where|whether|once|when|may(?!-)|might|can|could|should|would)\b|\bSTART/CPU|\bstarted again\b|\?"
)
"""`2-MAY-2025` is a date; `$!   - ` is a reason among several of a script of Lockwright, where one is to decide."""
START = re.compile(
    rf"^(?!\$!   - )(?=.{{0,300}}?{CPUS})"
    rf"(?:(?=.{{0,300}}?(?:{STAYS}))|(?=.{{0,300}}?(?:{STOPPED}))(?=.{{0,300}}?(?:{REASON})))"
    rf"(?!.{{0,400}}?(?:{CONDITION}))",
    re.IGNORECASE,
)
NAMED = re.compile(CPUS, re.IGNORECASE)
MARK = re.compile(r"[\s$!#*-]{0,20}")
"""What makes a line a comment, without its text."""
FROM = re.compile(rf"Message from user (?P<user>[^\s]{{1,32}}) on (?P<node>{NODE})\s*$", re.IGNORECASE)
OPCOM = re.compile(rf"%{{5,20}}\s{{1,4}}OPCOM\s{{1,4}}{MOMENT}|%{{5,20}}\s{{1,4}}{MOMENT}", re.IGNORECASE)
LONGEST = 200


@report(starts=START, provides=(CpuRemark,))
def read(report: Report) -> Iterator[CpuRemark]:
    """Yield each remark with who wrote it, where the line above says so."""
    for index, _ in report.every(START):
        line = report.lines[index]
        over = [one.strip() for one in report.over(index, 2)]
        by = FROM.match(over[-1]) if over else None
        head = over[0] if by and len(over) > 1 and OPCOM.match(over[0]) else ""
        lines = (by is not None) + bool(head)
        if index >= lines:
            report.claim(index - lines, index)
        else:
            report.above = max(report.above, lines - index)
        yield CpuRemark(
            source=report.source(index),
            cpus=tuple(sorted({cpu for named in NAMED.finditer(line) for cpu in _numbers(named[1])})),
            text=line[MARK.match(line).end() :].strip()[:LONGEST],  # type: ignore[union-attr]  # it matches any line
            by=by["user"] if by else None,
            at=first_moment(head or line),
            node=by["node"].upper() if by else None,
        )


def _numbers(text: str) -> Iterator[int]:
    """Each number of a list with ranges: `10,11`, `12-15`, `4 to 7 and 9`; of a range turned round its ends alone."""
    for first, last in re.findall(r"([0-9]+)(?:\s*(?:-|to)\s*([0-9]+))?", text, re.IGNORECASE):
        ends = (int(first), int(last or first))
        yield from range(ends[0], ends[1] + 1) if ends[0] <= ends[1] else ends
