"""SHOW FASTPATH: which CPU completes the I/O of which port, and where TCP/IP and the lock manager run.

Sample::

    Fast Path preferred CPUs on ORKNEY 03-FEB-2021 09:14:22.07HP rx6600  (1.59GHz/12.0MB) with 4 active CPUs
    Device:           Fastpath CPU:
    EWA0                      2
    PKA0                      0
    OpenVMS TCP/IP is currently running on CPU 1
    OpenVMS Lock Manager is currently running on CPU 3

No Lock Manager line: no CPU is dedicated to the lock manager. No TCP/IP line: its packet processing engine is off.
A port that is not listed is not a fast-path port.

Lines of DCL below it that place a port by hand, as `SEARCH SYS$MANAGER:SYSTARTUP_VMS.COM PREFERRED` shows them
(`$ SET DEVICE/PREFERRED_CPUS=0 EWA0:`, recalled [M]), are kept with their port; a comment places none.

Traps (openvms-formats.md d.6 [R]): the time and the hardware name touch, so the time is found by its hundredths of a
second; captures of a narrow terminal break the heading into several lines and put blank lines between the rows.
"""

import re
from collections.abc import Iterator
from datetime import datetime

from collectors.facts.base import ABSENT
from collectors.facts.openvms import FastpathDevice, KernelService, Node
from collectors.registry import NotThisReport, Report, report

START = re.compile(r"Fast ?Path preferred CPUs on\b", re.IGNORECASE)
HEADING = re.compile(
    r"(?P<node>[A-Z0-9_$-]{1,32})(?:::)? +"
    r"(?:(?P<date>[0-9]{1,2}-[A-Z]{3}-[0-9]{4}) *(?P<time>[0-9]{1,2}:[0-9]{2}:[0-9]{2}\.[0-9]{2}) *)?"
    r"(?P<rest>.*)",
    re.IGNORECASE,
)
ACTIVE = re.compile(r"\bwith ([0-9]{1,4}) active CPUs?\b", re.IGNORECASE)
COLUMNS = re.compile(r"\s*Device:?\s+Fast ?path CPU:?\s*$", re.IGNORECASE)
NAME = r"_?(?P<device>(?:\$[0-9]{1,5}\$|[A-Z0-9_]{1,15}\$)?[A-Z]{2,4}[0-9]{1,5}):?"
DEVICE = re.compile(rf"\s*{NAME}\s+(?P<cpu>[0-9]{{1,4}})\s*$")
CUT_ROW = re.compile(rf"\s*{NAME}\s*$")
SERVICE = re.compile(
    r"\s*(?P<service>OpenVMS [A-Z/ ]{2,40}?) is (?:currently )?running on CPU (?P<cpu>[0-9]{1,4})\b", re.I
)
IDLE_SERVICE = re.compile(r"\s*OpenVMS [A-Z/ ]{2,40} is (?:currently )?not (?:currently )?running\b", re.I)
PLACED = re.compile(
    rf"\s*\$\s*SET\s+DEV(?:I(?:CE?)?)?\s*/PREF[A-Z_]{{0,12}}=\(?(?P<cpu>[0-9]{{1,4}})\)?\s+{NAME}\s*(?:!.*)?$",
    re.IGNORECASE,
)
"""One CPU: of several the port has not been given one."""
MOST_HEADING_LINES = 8
"""With the blank lines that a capture puts between wrapped pieces."""


@report(starts=START, provides=(Node, FastpathDevice, KernelService))
def read(report: Report) -> Iterator[Node | FastpathDevice | KernelService]:
    """Yield the node, its ports and its services, for each display in turn."""
    node: str | None = None
    nodes: list[str] = []
    lines = filter(None, map(PLACED.match, report.lines))
    placed = {line["device"].upper(): int(line["cpu"]) for line in lines}
    index, heading, rows, facts, inside = 0, 0, 0, 0, False
    while index < len(report.lines):
        line = report.lines[index]
        if START.search(line):
            if index:
                _tell_empty(report, heading, rows)
            heading, rows, inside = index, 0, True
            found, index = _heading(report, index)
            node = found.name if found else None
            if found:
                nodes.append(found.name)
                yield found
            continue
        if match := SERVICE.match(line):
            report.claim(index)
            rows += 1
            name = " ".join(match["service"].split())
            yield KernelService(source=report.source(index), service=name, cpu=int(match["cpu"]), node=node)
        elif IDLE_SERVICE.match(line):
            report.claim(index)
            rows += 1
        elif COLUMNS.match(line):
            report.claim(index)
            inside = True
        elif inside and (match := DEVICE.match(line)):
            report.claim(index)
            rows += 1
            name, where = match["device"], report.source(index)
            by_hand = placed.get(name.upper())
            yield FastpathDevice(source=where, device=name, cpu=int(match["cpu"]), node=node, placed_on=by_hand)
        elif PLACED.match(line):
            report.claim(index)
        elif inside and (match := CUT_ROW.match(line)):
            report.claim(index)
            report.problem(f"{match['device']} has no CPU: the row was cut, repeat SHOW FASTPATH", index)
        elif line.strip():
            inside = False
        index += 1
        facts += rows
    if not nodes and not facts:
        raise NotThisReport
    _tell_empty(report, heading, rows)


def _tell_empty(report: Report, heading: int, rows: int) -> None:
    """Say so where a heading has nothing below it."""
    if not rows:
        report.problem("no device and no service below the heading: cut off, repeat SHOW FASTPATH", heading)


def _heading(report: Report, start: int) -> tuple[Node | None, int]:
    """Put the wrapped heading together; gives the node and the index of the line after it."""
    match = START.search(report.lines[start])
    parts = [report.lines[start][match.end() if match else 0 :]]
    end = start
    for index in range(start + 1, min(start + MOST_HEADING_LINES, len(report.lines))):
        line = report.lines[index]
        if ACTIVE.search(" ".join(parts)) or START.search(line) or _is_row(line):
            break
        if line.strip():
            parts.append(line)
            end = index
    text = " ".join(" ".join(parts).split())
    heading = HEADING.match(text)
    active = ACTIVE.search(text)
    if not heading or not (active or heading["date"]):
        report.problem("the heading is damaged: it names no node. Repeat SHOW FASTPATH", start)
        return None, start + 1
    if not active:  # then nothing says where the heading ends: take the first line alone
        end = start
        heading = HEADING.match(" ".join(parts[0].split())) or heading
    report.claim(start, end)
    rest = heading["rest"]
    hardware = (ACTIVE.split(rest)[0] if active else rest).strip()
    node = Node(
        source=report.source(start, end),
        name=heading["node"].upper(),
        hardware=hardware or None,
        active_cpus=float(active[1]) if active else ABSENT,
        at=_moment(heading["date"], heading["time"]),
    )
    return node, end + 1


def _is_row(line: str) -> bool:
    return any(pattern.match(line) for pattern in (COLUMNS, DEVICE, SERVICE, IDLE_SERVICE))


def _moment(date: str | None, time: str | None) -> datetime | None:
    if not date or not time:
        return None
    try:
        return datetime.strptime(f"{date} {time}", "%d-%b-%Y %H:%M:%S.%f")  # noqa: DTZ007  # the export has no zone
    except ValueError:
        return None
