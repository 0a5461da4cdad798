"""SHOW SYSTEM: a node, how long it is up, and its processes.

Sample::

    OpenVMS V8.4  on node ORKNEY    3-FEB-2021 09:14:22.07   Uptime  12 03:04:05
      Pid    Process Name    State  Pri      I/O       CPU       Page flts  Pages
    20200401 SWAPPER         HIB     16        0   0 00:00:09.24         0      0
    2020041A LCKMGR_SERVER   CUR  3  63        7  11 20:15:42.10        83    112
    20200455 BATCH 12 NIGHT  COM      4   918234   0 02:11:09.77   1203345  20512  B
    20200460 FTP_1           LEF      6      107   0 00:00:00.16      2117    662  N

`LCKMGR_SERVER` as `CUR n` at priority 63: the lock manager has CPU n to itself; as `HIB` it was started and is off
(openvms-formats.md d.9). It becomes no `KernelService`: rules take one as a sign that SHOW FASTPATH was read, and would
believe that no device prefers that CPU.

Traps: a name may hold blanks and look like a state, so it is cut by its column, 15 wide; on a multiprocessor a running
process has the number of its CPU behind `CUR`, one figure more. `SHOW SYSTEM/CLUSTER` prints one heading a node,
`/FULL` the machine below the heading and the UIC below each process, `/NOPROCESS` the heading alone. Narrow terminals
break the rows [R, VAX V7.3]. Below it DBAs ask F$GETSYI for the machine's name, which SHOW SYSTEM alone does not print.
"""

import re
from collections.abc import Iterator, Sequence

from collectors.facts.base import ABSENT, Reading
from collectors.facts.openvms import Node, Process
from collectors.layouts.vms import MOMENT, NODE, moment, seconds
from collectors.registry import NotThisReport, Report, reading, report

MACHINE = re.compile(
    r"\s{0,8}(?:\$ ?)?(?:WRITE|SAY)\b.{0,20}?(?:\bF\$GETSYI\(\"(?P<arch>ARCH_NAME)\"\)[,\" ]{1,12})?"
    r"\bF\$GETSYI\(\"HW_NAME\"\)\s{0,8}",
    re.IGNORECASE,
)
"""`$ WRITE SYS$OUTPUT F$GETSYI("HW_NAME")`: the next line is the machine, behind its architecture if asked."""
SPAN = r"[0-9]{1,5} {1,3}[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,7})?"
"""Days are always printed: a row that lost a figure must not pass for a whole one."""
TITLE = (
    r"\s{0,20}(?:(?:VSI|HPE?|Compaq|Digital|DEC) )?(?:OpenVMS|VAX/VMS)(?: [\w()/-]{1,16}){0,2}? {1,4}"
    rf"(?P<version>[VXTEF][0-9]{{1,2}}\.[0-9][\w.-]{{0,12}}) {{1,8}}on node {{1,8}}(?P<node>{NODE})(?:::)?"
)
COLUMNS = r"\s{0,20}Pid\s{1,20}Process Name\s{1,20}State\s{1,8}Pri\s{1,20}I/O\s{1,20}CPU\b"
START = re.compile(
    rf"^{re.sub(r'[?]P<[a-z]+>', '?:', TITLE)}\s{{1,20}}[0-9]{{1,2}}-[A-Z]{{3}}-[0-9]{{4}}\b|^{COLUMNS}", re.IGNORECASE
)
HEADING = re.compile(
    rf"{TITLE}(?:\s+(?P<at>{MOMENT})(?:\s+Uptime\s+(?P<uptime>{SPAN}))?)?\s*(?P<rest>.{{0,80}})", re.IGNORECASE
)
HEADS = re.compile(COLUMNS, re.IGNORECASE)
PID = re.compile(r"\s{0,8}(?P<pid>[0-9A-F]{8}) (?=\s{0,8}\S)")
STATES = r"(?:HIB|LEF|COM|SUSP)O?|CUR|CEF|PFW|FPG|COLPG|MWAIT|MUTEX|RW[A-Z0-9]{2,3}"
FIGURE = r"(?:[0-9]{1,15}|\*{1,15})"
TAIL = (
    rf"(?:CUR\s+(?P<cpu>[0-9]{{1,4}})(?=\s+[0-9]{{1,2}}\s+{FIGURE}\s+[0-9]{{1,5}}\s)|(?P<state>[A-Z][A-Z0-9_]{{1,7}}))"
    rf"\s+(?P<priority>[0-9]{{1,2}}|\*{{1,3}})\s+(?:(?P<io>{FIGURE})\s+(?P<used>{SPAN}|\*[*: .]{{1,16}})"
    rf"\s+(?P<faults>{FIGURE})\s+(?P<pages>{FIGURE})|-+ ?swapped out ?-+)\s*(?P<kind>[A-Z])?\s*"
)
ROW = re.compile(TAIL)
LOOSE_ROW = re.compile(rf"(?P<name>\S.{{0,14}}?)\s+(?=(?:{STATES})\s){TAIL}")
"""For pastes that lost their blanks: then only a known state tells where the name ends."""
UIC = re.compile(r"\s+\[[^\[\]]{1,40}\](?:\s+[0-9.]{1,12}\s?[KMGT]?b(?:ytes)?)?\s*", re.IGNORECASE)
PIECE = re.compile(r"\s{0,80}(?=\S)[0-9]{0,9}(?:\s{1,12}[0-9]{1,9})?\s{0,4}[A-Z]?\s*")
"""The end of a row that a narrow terminal broke off."""
NAME_AT, NAME_END = 9, 24
EDGES = (35, 44, 60, 70)
"""Where priority, I/O, CPU and page faults end, where figures fill their columns and touch [R]."""
LONGEST = 240
MOST_APART = 3
"""So many lines a row and its broken-off end are apart at most."""


@report(starts=START, provides=(Node, Process))
def read(report: Report) -> Iterator[Node | Process]:
    """Yield each node with its processes."""
    if len(report.lines) == 1 and HEADS.match(report.lines[0]):
        raise NotThisReport
    node: str | None = None
    table, rows, heading = False, 0, 0
    headed = False
    damaged: list[int] = []
    index = 0
    while index < len(report.lines):
        line = report.lines[index].expandtabs()[:LONGEST]
        taken = 1
        if HEADING.match(line):
            _tell_empty(report, heading, rows, headed=headed)
            found, taken = _node(report, index)
            node, table, rows, heading, headed = found.name, True, 0, index, False
            yield found
        elif HEADS.match(line):
            table = headed = True
            report.claim(index)
            if not re.search(r"Pages\s*$", line, re.IGNORECASE) and _is_short(report.lines, index + 1):
                report.claim(index + 1)
                taken = 2
        elif PID.match(line):
            found_row, taken = _row(report.lines, index)
            if found_row:
                table = True  # an operator's message may have come between the rows
                rows += 1
                report.claim(index, index + taken - 1)
                yield _process(report, index, taken, found_row, node)
            elif table:
                damaged.append(index)
        elif table and UIC.fullmatch(line):
            report.claim(index)
        elif node and (asked := MACHINE.fullmatch(line)):
            if machine := _machine(report, index, node, arch=bool(asked["arch"])):
                yield machine
                report.claim(index, index + 1)
                taken = 2
            table = False
        elif line.strip():
            table = False
        index += taken
    _tell_empty(report, heading, rows + len(damaged), headed=headed)
    if damaged:
        what = f"{len(damaged)} rows are" if len(damaged) > 1 else "a row is"
        remedy = "SET TERMINAL/WIDTH=132 and repeat SHOW SYSTEM"
        report.problem(f"{what} cut or damaged, not read (the first is here): {remedy}", damaged[0])


def _tell_empty(report: Report, heading: int, rows: int, *, headed: bool) -> None:
    """Tell of column headings without a process. Without them it is SHOW SYSTEM/NOPROCESS: whole as it is."""
    if headed and not rows:
        report.problem("no process below the heading: cut off, repeat SHOW SYSTEM", heading)


def _is_short(lines: Sequence[str], index: int) -> bool:
    """Whether a line can be the broken-off end of the column headings."""
    return index < len(lines) and 0 < len(lines[index].strip()) <= 12 and not PID.match(lines[index])


def _node(report: Report, index: int) -> tuple[Node, int]:
    """Read the heading, with what a narrow terminal broke off it; gives the node and how many lines it took."""
    text, taken = report.lines[index].expandtabs()[:LONGEST], 1
    found = HEADING.match(text)
    if index + 1 < len(report.lines) and found and not found["uptime"]:
        following = report.lines[index + 1].expandtabs()[:LONGEST]
        for joint in ("", " "):
            joined = HEADING.match(text.rstrip() + joint + following)
            if joined and joined["uptime"] and not joined["rest"].strip() and not PID.match(following):
                found, taken = joined, 2
                break
    if not found:
        raise AssertionError("only called where it matches")
    if not found["uptime"]:
        report.problem("the heading breaks off before the uptime: repeat SHOW SYSTEM", index)
    hardware = None
    machine, below = index + taken, index + taken + 1
    if below < len(report.lines) and HEADS.match(report.lines[below]) and not PID.match(report.lines[machine]):
        hardware = " ".join(report.lines[machine][:80].split()) or None
        taken += 1
    report.claim(index, index + taken - 1)
    node = Node(
        source=report.source(index, index + taken - 1),
        name=found["node"].upper(),
        hardware=hardware,
        version=found["version"].upper(),
        at=moment(found["at"] or ""),
        uptime_seconds=seconds(found["uptime"]),
    )
    return node, taken


def _machine(report: Report, index: int, node: str, *, arch: bool) -> Node | None:
    """The machine of the node whose heading stands above, by the answer to F$GETSYI."""
    answer = report.lines[index + 1][:LONGEST].strip() if index + 1 < len(report.lines) else ""
    hardware = answer.partition(" ")[2].strip() if arch else answer
    if not hardware or answer[0] in "$%":
        return None
    return Node(source=report.source(index, index + 1), name=node, hardware=" ".join(hardware.split()))


def _row(lines: Sequence[str], index: int) -> tuple[tuple[str, str, re.Match[str]] | None, int]:
    """Read one process: its PID, its name, its figures; and how many lines it took."""
    line = lines[index].expandtabs()[:LONGEST].rstrip()  # a mail may pad the lines it breaks, or put blank ones between
    at = index + 1
    while at < len(lines) and at - index < MOST_APART and not lines[at].strip():
        at += 1
    after = lines[at].expandtabs()[:LONGEST] if at < len(lines) else ""
    if after.strip() and PIECE.fullmatch(after):
        for joint in ("", " "):
            if found := _cut(line + joint + after):
                return found, at + 1 - index
    return _cut(line), 1


def _cut(line: str) -> tuple[str, str, re.Match[str]] | None:
    """Cut a row by its columns; where the blanks are lost, by its state."""
    pid = PID.match(line)
    if not pid:
        return None
    at_place = pid.start("pid") == 0 and line[NAME_END : NAME_END + 1] == " " and line[NAME_AT:NAME_END].strip()
    if at_place:
        name = line[NAME_AT:NAME_END].strip()
        found = ROW.fullmatch(line[NAME_END:].strip()) or ROW.fullmatch(_parted(line)[NAME_END:].strip())
        if found:
            return pid["pid"], name, found
    found = LOOSE_ROW.fullmatch(line[pid.end() :].strip())
    return (pid["pid"], found["name"].strip(), found) if found else None


def _parted(line: str) -> str:
    """Put a blank between figures that fill their columns and touch."""
    for edge in reversed(EDGES):
        if len(line[edge - 1 : edge + 1].replace(" ", "")) == 2:
            line = f"{line[:edge]} {line[edge:]}"
    return line


def _process(report: Report, index: int, taken: int, row: tuple[str, str, re.Match[str]], node: str | None) -> Process:
    pid, name, found = row
    return Process(
        source=report.source(index, index + taken - 1),
        pid=pid,
        name=name,
        state=found["state"] or "CUR",
        cpu=int(found["cpu"]) if found["cpu"] else None,
        priority=_figure(found["priority"]),
        io=_figure(found["io"]),
        cpu_seconds=_figure(found["used"]) if (found["used"] or "").startswith("*") else seconds(found["used"]),
        page_faults=_figure(found["faults"]),
        pages=_figure(found["pages"]),
        kind=found["kind"],
        node=node,
    )


def _figure(text: str | None) -> Reading:
    return ABSENT if text is None else reading(text[:1] * 3 if text.startswith("*") else text)
