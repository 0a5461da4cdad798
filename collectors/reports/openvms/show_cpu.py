"""SHOW CPU: the processors of a node, whether they run, and which two share a core.

Sample::

    System: ORKNEY, HP rx6600  (1.59GHz/12.0MB)

    CPU 3    State: RUN                CPUDB: 8F21C480     Handle: 00005D70
             Owner: 000004C8         Current: 000004C8     Partition 0 (ORKNEY)
            ChgCnt:         1          State: Present, Reassignable
             Cothd:         1
           Process: LCKMGR_SERVER        PID: 2020041A

A full display without a `Cothd` line: the CPU shares its core with no other. In a brief display or a summary the
line is never there and says nothing; so `full` is set only where the place of `Cothd`, between `ChgCnt` and
`Process`, was passed. `Process: * None *`: idle.

Of headings alone (a DBA cut the rest off) the machine of each node is read.

Traps: the second `State:`, beside `ChgCnt`, tells of the slot (Present, Primary, Reassignable) and not whether the CPU
runs; captures of a narrow terminal break lines between any two labels (openvms-formats.md d.6 [R]). Alpha adds the
sections Capabilities, Slot Context, Bindings, Fastpath and Features [R, a public capture of an ES40]. The brief display
and the summary (`Active CPUs:`, `CPU ownership sets:`) are recalled from the manual [M]: read tolerantly.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from collectors.facts.base import ABSENT, Reading
from collectors.facts.openvms import Cpu, Node
from collectors.layouts.known_lines import known_lines
from collectors.registry import NotThisReport, Report, report

NODE = r"[A-Z0-9_$]{1,15}"
MACHINE = r"(?:VAX|Alpha|HP|HPE|Compaq|Digital|DEC|Integrity|rx[0-9]|BL[0-9])"
START = re.compile(
    rf"^\s{{0,8}}System: {{1,3}}{NODE}, \S"
    rf"|^{NODE}, [Aa]n? .{{0,40}}\b{MACHINE}"
    r"|^\s*CPU +[0-9]{1,4}\s+(?i:State):\s*[A-Za-z]"
    r"|^\s*CPU +[0-9]{1,4} is in (?:the )?[A-Z]{2,12} state\b"
    r"|^\s*Multiprocessing is (?:EN|DIS)ABLED\b"
    r"|^\s*CPU ownership sets:"
)
COMMAND = re.compile(r"\s*(?:\S{1,32} ?>|\$) *sho?w? +cpu\b(?P<rest>.*)", re.IGNORECASE)
SYSTEM = re.compile(rf"\s{{0,8}}System: {{1,3}}(?P<node>{NODE}), (?P<hardware>\S.*)")
"""The capability line `System:  QUORUM RUN` has no comma."""
NODE_A = re.compile(rf"(?P<node>{NODE}), [Aa]n? (?P<hardware>.{{0,40}}\b{MACHINE}.*)")
BLOCK = re.compile(
    r"\s*CPU +(?P<cpu>[0-9]{1,4})\s+(?i:State):\s*(?P<state>[A-Za-z][A-Za-z_ -]{0,20}?)(?=\s\s|\s*$|\s+CPUDB)"
)
IN_STATE = re.compile(r"\s*CPU +(?P<cpu>[0-9]{1,4}) is in (?:the )?(?P<state>[A-Z]{2,12}) state\b")
PRIMARY = re.compile(r"\s*primary cpu\s*=\s*(?P<cpu>[0-9]{1,4})\b", re.IGNORECASE)
SET = re.compile(
    r"(?P<name>Active|Configured?|Potential|Autostart|Powered Down|Not Present|Hard Excluded|Failover|Available)"
    r"(?: (?:CPUs?|set))?(?:[:=]| [:=])?\s+(?P<cpus>None|[0-9][0-9 ,-]*)$",
    re.IGNORECASE,
)
PROCESS = re.compile(r"\s*(?:Current )?Process:(?P<rest>.*)")
PID = re.compile(r"\bPID ?[:=]\s*(?P<pid>[0-9A-Fa-f]{8})\b")
LABEL = re.compile(r"\b(?P<label>Owner|Current|ChgCnt|State|Cothd|CPUDB|Handle|PID)\s?:", re.IGNORECASE)
SECTION = re.compile(
    r"\s*(?P<name>Capabilities(?: of this CPU)?|Bindings|Fastpath|Features|Default \w+ Capabilities):\s*$"
)
RAD = re.compile(r"\s*System:\s.*?\bRAD([0-9]{1,3})\b")
CAPABILITIES = ("capabilities", "capabilities of this cpu")
ASIDE = ("hard excluded", "powered down", "not present", "failover")
"""Sets whose CPUs are not there, or somebody set them aside (openvms-formats.md d.6 [M])."""
TO_START = {"potential": "not in the potential set", "autostart": "no autostart"}
"""Sets that a CPU is in which is to run in this instance: what it means where it is not."""
NO_AUTOSTART = re.compile(r"\s*Autostart\s+-\s+Disabled\b", re.IGNORECASE)
DEVICE = re.compile(r"\s*(?P<device>(?:\$[0-9]{1,5}\$)?[A-Z]{2,4}[0-9]{1,5}):?\s*$")
UNDERSTOOD = re.compile(
    r"""
      [A-Z][A-Za-z ]{2,24}=.*                                  # SMP execlet = 3 : Enabled : Streamlined.
    | (?:System|User):[A-Za-z0-9_ ]*                           # capabilities
    | (?:Multiprocessing\ is|Minimum\ multiprocessing\ revision|Revision\ levels:).*
    | (?:Streamlined|Full.checking|Uniprocessing)\ synchronization\ image\ loaded.*
    | CPU\ (?:ownership|state)\ sets:.* | Processes\ which\ can\ only\ execute\ on\ this\ CPU:.*
    | Partition\ [0-9]+.* | \([A-Z0-9_$]{1,15}\)               # wrapped from the line above
    | (?:[A-Z]{3,8}\ *-\ *)?[A-Z][A-Za-z ]{2,20}\.{1,20}:.*    # CPU  -  State..........: RC, PA
    | (?:Slot\ Context|Max\ Shared\ CPUs):.*
    | [*\ -]*(?i:none)[*\ -]*
    | .{1,32}\bPID\ ?=\ ?[0-9A-F]{8}\ +Reason\b.*              # bindings
    | (?:Autostart|Fastpath)\ +-\ .*                           # features
    | (?:(?:PRIMARY|QUORUM|RUN|VECTOR|RAD[0-9]{1,3})\s*)+
    """,
    re.VERBOSE,
)


@dataclass
class _Block:
    """One CPU's lines, from index `first` to `last`."""

    number: int
    state: str
    first: int
    last: int
    brief: bool
    node: str | None
    cothread: Reading = ABSENT
    cothread_told: bool = False
    changes_told: bool = False
    process: str | None = None
    pid: str | None = None
    slot: str = ""
    devices: list[str] = field(default_factory=list)
    rad: int | None = None
    autostart: bool = True

    @property
    def full(self) -> bool:
        """Whether a missing `Cothd` would mean something."""
        return not self.brief and (self.cothread_told or (self.changes_told and self.process is not None))


@dataclass
class _Display:
    """What one SHOW CPU command printed; `first` to `last` are the lines above its CPUs."""

    first: int = 0
    last: int = 0
    node: str | None = None
    hardware: str | None = None
    primary: int | None = None
    sets: dict[str, frozenset[int]] = field(default_factory=dict)
    blocks: list[_Block] = field(default_factory=list)

    @property
    def machine(self) -> bool:
        """Whether the heading names a machine that is known as one: then it says something without any CPU below it."""
        return bool(self.hardware and re.match(MACHINE, self.hardware))

    @property
    def counted(self) -> bool:
        """Whether its sets are numbers of CPUs (`Active CPUs: 8`), not lists of their names (inferred).

        A node whose only CPU is number 8 would name it as its primary, or in a list of those that are configured.
        """
        lone = all(len(cpus) <= 1 for cpus in self.sets.values())
        return lone and not self.blocks and self.primary is None and self.sets.get("active", {0}) != {0}

    @property
    def active_cpus(self) -> Reading:
        """How many are active, by the set of them; absent where it is not there."""
        active = self.sets.get("active")
        return ABSENT if not active else float(max(active) if self.counted else len(active))


@report(starts=START, provides=(Cpu, Node))
def read(report: Report) -> Iterator[Cpu | Node]:
    """Yield the node and its processors, for each display in turn."""
    displays = _displays(report)
    alone = all(not text.strip() or _line(text).head or _line(text).command is not None for text in report.lines)
    if not any(display.blocks or display.sets.get("active") or (alone and display.machine) for display in displays):
        raise NotThisReport
    nodes: dict[tuple[str, str | None, Reading], None] = {}
    for display in displays:
        if display.node and (display.blocks or display.sets or (alone and display.machine)):
            count = display.active_cpus
            if (display.node, display.hardware, count) not in nodes:
                where = report.source(display.first, display.last)
                yield Node(source=where, name=display.node, hardware=display.hardware, active_cpus=count)
            nodes[display.node, display.hardware, count] = None
        for block in display.blocks:
            yield _cpu(report, display, block)
        yield from _inactive(report, display, displays)


def _cpu(report: Report, display: _Display, block: _Block) -> Cpu:
    if block.changes_told and not block.full and not block.brief:
        what = f"CPU {block.number} breaks off before the place of Cothd, so a co-thread cannot be ruled out"
        report.problem(f"{what}: repeat SHOW CPU/FULL", block.first)
    primary: bool | None = None
    if display.primary is not None:
        primary = display.primary == block.number
    elif "PRIMARY" in block.slot.upper():
        primary = True
    elif block.slot and block.full:
        primary = False
    return Cpu(
        source=report.source(block.first, block.last),
        number=block.number,
        state=block.state,
        cothread=block.cothread,
        full=block.full,
        process=block.process or None,
        pid=block.pid,
        primary=primary,
        node=block.node,
        fastpath=tuple(block.devices),
        rad=block.rad,
        excluded=_excluded(display, block),
    )


def _excluded(display: _Display, block: _Block) -> str:
    """Why a CPU is not simply started, by the sets above it or its own features; empty where nothing says so."""
    told = [name for name in ASIDE if block.number in display.sets.get(name, ())]
    told += [why for name, why in TO_START.items() if display.sets.get(name) and block.number not in display.sets[name]]
    return next(iter(told), "" if block.autostart else TO_START["autostart"])


def _inactive(report: Report, display: _Display, displays: Sequence[_Display]) -> Iterator[Cpu]:
    """Configured CPUs that a summary lists outside its active set and of which no display of the node says more."""
    active, configured = display.sets.get("active"), display.sets.get("configured")
    if not active or not configured or display.counted:
        return
    told = {block.number for other in displays if other.node == display.node for block in other.blocks}
    left = sorted(configured - active - told)
    where = report.source(display.first, display.last)
    for number in left:
        primary = None if display.primary is None else display.primary == number
        yield Cpu(source=where, number=number, state="INACTIVE", primary=primary, node=display.node)
    if left:
        listed = ", ".join(map(str, left))
        what = f"tentative: CPU {listed} configured and not in the active set, taken as stopped"
        report.problem(f"{what}; SHOW CPU/FULL says it for certain", display.first)


@dataclass(frozen=True)
class _Line:
    """What one line says by itself."""

    command: str | None = None
    """What follows a typed SHOW CPU."""
    head: tuple[str, str] | None = None
    """Node and hardware."""
    block: tuple[int, str] | None = None
    """Number and state of a CPU, whose lines begin here."""
    section: str | None = None
    device: str | None = None
    process: tuple[str, str | None] | None = None
    """Name and PID."""
    labels: tuple[tuple[str, str], ...] = ()
    """What stands behind each label."""
    primary: int | None = None
    cpus: tuple[str, frozenset[int]] | None = None
    """A set of CPUs with its name."""
    rad: int | None = None
    no_autostart: bool = False
    understood: bool = False
    blank: bool = False


@known_lines
def _line(line: str) -> _Line:
    text = line.strip()
    if command := COMMAND.match(line):
        return _Line(command=command["rest"].lower())
    if head := SYSTEM.match(line) or NODE_A.match(line):
        return _Line(head=(head["node"], " ".join(head["hardware"].split())))
    if block := BLOCK.match(line) or IN_STATE.match(line):
        return _Line(block=(int(block["cpu"]), block["state"].strip().upper()))
    if section := SECTION.match(line):
        return _Line(section=section["name"].lower())
    device, primary, rad = DEVICE.match(line), PRIMARY.match(line), RAD.match(line)
    return _Line(
        device=device["device"] if device else None,
        process=_process(line),
        labels=_labels(line),
        primary=int(primary["cpu"]) if primary else None,
        cpus=None if primary else _set(text),
        rad=int(rad[1]) if rad else None,
        no_autostart=bool(NO_AUTOSTART.match(line)),
        understood=bool(UNDERSTOOD.fullmatch(text)),
        blank=not text,
    )


def _displays(report: Report) -> list[_Display]:
    """Walk over the lines once and claim those understood."""
    now, done, section = _Display(), list[_Display](), ""
    commands = [found["rest"] for line in report.before if (found := COMMAND.match(line))]
    brief = "/b" in commands[-1].lower() if commands else False
    for index, text in enumerate(report.lines):
        line = _line(text)
        if line.command is not None or line.head:
            if now.blocks or now.sets or now.node:
                done.append(now)
            now, section = _Display(first=index, last=index), ""
            if line.command is not None:
                brief = "/b" in line.command
            elif line.head:
                now.node, now.hardware = line.head
        elif line.block:
            now.blocks.append(_Block(*line.block, index, index, brief, now.node))
            section = ""
        elif line.section is not None:
            section = line.section
        elif now.blocks and section == "fastpath" and line.device:
            now.blocks[-1].devices.append(line.device)
        elif now.blocks and line.no_autostart:
            now.blocks[-1].autostart = False
        elif now.blocks and line.rad is not None and section in CAPABILITIES:
            now.blocks[-1].rad = line.rad
        elif not (_inside(now.blocks[-1], line) if now.blocks else _above(now, line)) and not line.understood:
            section = section if line.blank else ""
            continue
        report.claim(index)
        if now.blocks:
            now.blocks[-1].last = index
        else:
            now.last = index
    return [*done, now]


def _above(now: _Display, line: _Line) -> bool:
    """Take a line above the first CPU: the primary and the sets."""
    if line.primary is not None:
        now.primary = line.primary
        return True
    if line.cpus:
        name, numbers = line.cpus
        now.sets.setdefault("configured" if name.startswith("conf") else name, numbers)
    return line.cpus is not None


def _set(text: str) -> tuple[str, frozenset[int]] | None:
    found = SET.match(text)
    numbers = _numbers(found["cpus"]) if found else None
    return (found["name"].lower(), numbers) if found and numbers is not None else None


def _numbers(text: str) -> frozenset[int] | None:
    """Read `0 1 2`, `00,01`, `0-3,8` or `None`; `None` for what is none of these."""
    numbers: set[int] = set()
    for piece in [] if text.lower() == "none" else text.replace(",", " ").split():
        match = re.fullmatch(r"([0-9]{1,4})(?:-([0-9]{1,4}))?", piece)
        if not match or int(match[2] or match[1]) < int(match[1]):
            return None
        numbers.update(range(int(match[1]), int(match[2] or match[1]) + 1))
    return frozenset(numbers)


def _process(line: str) -> tuple[str, str | None] | None:
    found = PROCESS.match(line)
    if not found:
        return None
    pid = PID.search(found["rest"])
    name = (found["rest"][: pid.start()] if pid else found["rest"]).strip()
    return "" if name.strip("* ").lower() == "none" else name, pid["pid"].upper() if pid else None


def _labels(line: str) -> tuple[tuple[str, str], ...]:
    """What stands behind each label, up to the next; of a PID only one that is whole."""
    found = list(LABEL.finditer(line))
    ends = [*(label.start() for label in found[1:]), len(line)]
    return tuple(
        (label["label"].lower(), line[label.end() : end].strip())
        if label["label"].lower() != "pid" or PID.match(line, label.start())
        else ("", "")
        for label, end in zip(found, ends, strict=False)
    )


def _inside(block: _Block, line: _Line) -> bool:
    """Take a line below `CPU n`: the process, or any of the labels."""
    if line.process:
        if block.process is None:
            block.process, block.pid = line.process
        return True
    for label, value in line.labels:
        if label == "cothd":
            number = re.match(r"[0-9]{1,4}(?![0-9])", value)
            block.cothread_told, block.cothread = True, float(number[0]) if number else ABSENT
        elif label == "chgcnt":
            block.changes_told = True
        elif label == "state":
            block.slot = value
        elif label == "pid" and block.pid is None:
            block.pid = value[:8].upper()
    return bool(line.labels)
