"""MODPARAMS.DAT: what AUTOGEN is told of system parameters, line by line.

Sample::

    ! SYS$SYSTEM:MODPARAMS.DAT of ORKNEY
    SCSNODE = "ORKNEY"
    MIN_LOCKIDTBL = 200000
    RESHASHTBL = 4096             ! from the old machine
    ADD_GBLPAGES = 50000
    AGEN$INCLUDE_PARAMS SYS$COMMON:[SYSEXE]CLUSTER_PARAMS.DAT

`NAME = value` fixes a value, `MIN_`, `MAX_` and `ADD_` leave it to AUTOGEN within bounds (OpenVMS System Manager's
Manual, AUTOGEN). A file is an intention: what runs only SYSGEN shows. A line behind `!` is a comment. Files that it
includes have lines of their own; what they say is not in it, which is told.
"""

import re
from collections.abc import Iterator

from collectors.facts.base import ABSENT, Fact, Reading
from collectors.facts.openvms import ModparamsLine, Node
from collectors.layouts.vms import NODE
from collectors.registry import Report, reading, report

KNOWN = (
    r"RESHASHTBL|LOCKIDTBL|LOCKDIRWT|LOCKRMWT|DEADLOCK_WAIT|LCKMGR_(?:MODE|CPUID)|PE[1-6]|FAST_PATH(?:_PORTS)?"
    r"|IO_(?:PREFER_CPUS|PRCPU_BITMAP)|CLUSTER_CREDITS|SCS(?:NODE|SYSTEMID)|GBL(?:PAGES|PAGFIL|SECTIONS)|VAXCLUSTER"
    r"|(?:EXPECTED_)?VOTES|NPAGE(?:DYN|VIR)|PAGEDYN|MAXPROCESSCNT|BALSETCNT|CHANNELCNT|WSMAX|MULTIPROCESSING"
    r"|SMP_CPU(?:S|_BITMAP)|ALLOCLASS|ACP_[A-Z]{3,12}"
)
"""Parameters by which the file is told from other text with an equals sign."""
PREFIX = r"(?P<prefix>MIN_|MAX_|ADD_)?"
VALUE = r'(?P<value>"[^"!]{0,64}"|-?[0-9][0-9,]{0,20}|%X[0-9A-F]{1,16}|[0-9][0-9,-]{0,64})'
END = r"\s*(?:!.*)?$"
START = re.compile(rf"^\s{{0,8}}(?:MIN_|MAX_|ADD_)?(?:{KNOWN})\s{{0,16}}=\s{{0,16}}(?:[\"%0-9-])", re.IGNORECASE)
LINE = re.compile(
    rf"\s{{0,8}}{PREFIX}(?P<name>[A-Z][A-Z0-9_$]{{1,30}})\s{{0,16}}=\s{{0,16}}{VALUE}{END}", re.IGNORECASE
)
INCLUDED = re.compile(r"\s{0,8}AGEN\$INCLUDE_PARAMS\b", re.IGNORECASE)
COMMENT = re.compile(r"\s*!")


@report(starts=START, provides=(ModparamsLine, Node))
def read(report: Report) -> Iterator[Fact]:
    """Yield each line that tells AUTOGEN of a parameter."""
    while report.above < len(report.before) and COMMENT.match(report.before[-1 - report.above]):
        report.above += 1
    found = list(report.every(LINE))
    names = {match["value"].strip('"').upper() for _, match in found if match["name"].upper() == "SCSNODE"}
    node = names.pop() if len(names) == 1 else None
    node = node if node and re.fullmatch(NODE, node) else None
    if node:
        yield Node(source=report.source(found[0][0], found[-1][0]), name=node)
    for index, match in found:
        yield ModparamsLine(
            source=report.source(index),
            node=node,
            name=match["name"].upper(),
            prefix=(match["prefix"] or "").upper(),
            value=_number(match["value"]),
        )
    for _ in report.every(COMMENT):
        continue
    for index, _ in report.every(INCLUDED):
        report.problem("another file is included, and its lines are not here: upload that file, too", index)


def _number(text: str) -> Reading:
    if text[:2].upper() == "%X":
        return float(int(text[2:], 16))
    return reading(text) if not text.startswith('"') else ABSENT
