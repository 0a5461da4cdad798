"""RMU/SHOW LOCKS: who owns, blocks or waits for which resource of Oracle Rdb, on one node, at one moment.

Sample::

    ================================================================================
    SHOW LOCKS/MODE=BLOCKING Information
    ================================================================================
    Resource: page 811
              ProcessID Process Name   Lock ID   System ID  Requested Granted
    Waiting:  20600B1A  NIGHT RUN 2    6100B33C   00010004   PW       NL
    Blocker:  20600A07  PAYROLL_07     3A04C1D2   00010004   EX       EX

A process name may have blanks, so a row is known by the PID at its left and by two hexadecimal numbers and two lock
modes at its right. `Granted` is NL where nothing was ever granted (rdb-formats.md 4 [V]).

The layout is recalled [R]; what proves it is the rows themselves: where each block with a waiting process has a
blocker whose mode is incompatible with a wanted one, by the vendor's table, the reading is not tentative. The others of
a block may want what the blocker would allow: they stand behind the one that cannot have it, in its queue (vendor: a
requesting process can appear to be waiting for other requestors).

`%RMU-I-NOLOCKSOUT`: no locks with these qualifiers; with partitioned lock trees a root file as a parameter hides those
of areas, pages and records. Locks such as `termination` sit in conflict for ever by design: they are read, and
`HeldLock.by_design` tells them.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from collectors.facts.base import Fact, Source
from collectors.facts.rdb import HeldLock, NoLocksShown
from collectors.leftovers import Leftovers
from collectors.registry import Outcome, starting, stream

MODES = ("NL", "CR", "CW", "PR", "PW", "EX")
COMPATIBLE = {
    "NL": MODES,
    "CR": ("NL", "CR", "CW", "PR", "PW"),
    "CW": ("NL", "CR", "CW"),
    "PR": ("NL", "CR", "PR"),
    "PW": ("NL", "CR"),
    "EX": ("NL",),
}
"""Of a requested mode, the granted ones that do not hold it up (vendor: RMU Reference Manual, Show Locks)."""
MODE = "(?:NL|CR|CW|PR|PW|EX)"
ROLES = "Owner|Blocker|Waiting|Requestor"
START = re.compile(
    r"^\s{0,8}SHOW LOCKS(?:/\S{1,60})? Information\s*$"
    r"|%RMU-I-NOLOCKSOUT,"
    rf"|^\s{{0,8}}(?:{ROLES}):\s{{1,8}}[0-9A-F]{{8}}\s.{{0,60}}\s[0-9A-F]{{8}}\s+[0-9A-F]{{8}}\s+{MODE}\s+{MODE}\s*$",
    re.IGNORECASE,
)
TITLE = re.compile(r"\s{0,8}SHOW LOCKS(?P<what>/\S{1,60})? Information\s*$", re.IGNORECASE)
NONE = re.compile(r"\s{0,20}%RMU-I-NOLOCKSOUT,", re.IGNORECASE)
RESOURCE = re.compile(r"\s{0,8}Resource(?: Name)?: {0,4}(?P<resource>\S.{0,120}?)\s*$", re.IGNORECASE)
ROW = re.compile(rf"\s{{0,8}}(?P<role>{ROLES}):\s{{0,8}}(?P<rest>[0-9A-F]{{8}}\s.*)", re.IGNORECASE)
HEX = re.compile(r"[0-9A-F]{8}", re.IGNORECASE)
FRAME = re.compile(r"[=\s-]*$|\s{0,20}Process ?ID\s+Process Name\b.{0,80}$|\s{0,12}qualifiers\.\s*$", re.IGNORECASE)
COMMAND = re.compile(r"\s{0,8}\S{0,32}[$>]\s{0,4}RMU/SHO?W?(?:/|\s)LOCK\w{0,2}(?P<rest>.{0,300})", re.IGNORECASE)
ROOT = re.compile(r"\s(?P<root>[^\s/!\"]{1,255})")
PARTITIONED = re.compile(r"lock (?:tree )?partitioning", re.IGNORECASE)
DISPLAYS = ("BLOCKING", "CULPRIT", "WAITING")
MOST = 20_000
"""Rows kept as facts of one listing (this project's figure): a whole node may hold millions of locks."""
MOST_UNKNOWN = 50
"""Lines in a row that are none of a listing's: then it is over."""
BROKEN = "not a PID, two hexadecimal numbers and two lock modes: the row was cut, export it 132 characters wide"
TENTATIVE = "tentative: the layout of RMU/SHOW LOCKS is recalled and no blocked process in it proves the reading"


@dataclass(frozen=True)
class _Row:
    """One line of a block."""

    number: int
    block: int
    display: str | None
    database: str | None
    resource: str
    role: str
    pid: str
    process: str | None
    lock: str
    system: str
    below: int
    requested: str
    granted: str


@stream(starts=START, provides=(HeldLock, NoLocksShown))
class ShowLocks:
    """Takes the lines of one listing; fed, because a whole node's locks are many."""

    def __init__(self, file: str, before: Sequence[str]) -> None:
        """Look above for the command and for the resource of a block that was pasted without its title."""
        self.file = file
        self.rows: list[_Row] = []
        self.none: list[tuple[int, str | None]] = []
        self.rest = Leftovers()
        self.problems: list[str] = []
        self.left_out = self.block = self.unknown = self.above = self.title = 0
        self.display: str | None = None
        self.database: str | None = None
        self.resource: str | None = None
        self.partitioned = False
        for back, line in enumerate(reversed(before), 1):
            if self.resource is None and self.above == back - 1 and (FRAME.match(line) or RESOURCE.match(line)):
                self.above = back
                found = RESOURCE.match(line)
                self.resource = found["resource"] if found else None
            if command := COMMAND.match(line):
                self._command(command)
                break

    def feed(self, first: int, lines: Sequence[str]) -> int:
        """Take lines until another report begins or nothing more of a listing comes."""
        for index, line in enumerate(lines):
            if self._line(first + index, line):
                self.unknown = 0
                continue
            if any(kind.id != "rdb/show_locks" for kind in starting(line)) or self.unknown >= MOST_UNKNOWN:
                return index
            self.unknown += 1
            self.rest.add(first + index, line)
        return len(lines)

    def _line(self, number: int, line: str) -> bool:
        line = line[:400].expandtabs().rstrip()
        if found := TITLE.match(line):
            what = (found["what"] or "").upper()
            self.display = next((one for one in DISPLAYS if one in what), "LOCKS")
            self.resource, self.title = None, number
        elif found := ROW.match(line):
            self._row(number, found)
        elif found := RESOURCE.match(line):
            self.resource = found["resource"]
            self.block += 1
        elif NONE.match(line):
            self.none.append((number, self.database))
        elif PARTITIONED.search(line):
            self.partitioned = True
        elif found := COMMAND.match(line):
            self._command(found)
        else:
            return FRAME.match(line) is not None
        return True

    def _command(self, found: re.Match[str]) -> None:
        root = ROOT.search(found["rest"].partition("!")[0])
        self.database = root["root"] if root else None

    def _row(self, number: int, found: re.Match[str]) -> None:
        cells = found["rest"].rsplit(None, 4)
        modes = [cell.upper() for cell in cells[-2:]]
        if len(cells) != 5 or not all(map(HEX.fullmatch, cells[1:3])) or not set(modes) <= set(MODES):
            self.problems.append(f"line {number}: {BROKEN}")
            return
        if self.resource is None:
            self.problems.append(
                f"line {number}: no `Resource:` above it, so it was not read: upload the whole listing"
            )
            return
        if len(self.rows) >= MOST:
            self.left_out += 1
            return
        pid, process = cells[0][:8].upper(), cells[0][8:].rstrip(" .").lstrip() or None
        self.rows.append(
            _Row(
                number=number,
                block=self.block,
                display=self.display,
                database=self.database,
                resource=self.resource,
                role=found["role"].lower(),
                pid=pid,
                process=process,
                lock=cells[1].upper(),
                system=cells[2].upper(),
                below=number - self.title if self.title else 0,
                requested=modes[0],
                granted=modes[1],
            )
        )

    def close(self) -> Outcome:
        """Hand over what was read."""
        tentative = bool(self.rows) and not _proven(self.rows)
        problems = _bounded(self.problems)
        if tentative:
            problems.append(TENTATIVE)
        if self.left_out:
            remedy = "ask for less: RMU/SHOW LOCKS/MODE=CULPRIT"
            problems.append(f"only the first {MOST:,} rows were kept, {self.left_out:,} more were left out: {remedy}")
        facts: list[Fact] = [self._held(row, tentative=tentative) for row in self.rows]
        facts += [
            NoLocksShown(source=Source(self.file, number, number), database=root, partitioning_warned=self.partitioned)
            for number, root in self.none
        ]
        return Outcome(facts, self.rest.runs, problems, self.above if facts else 0)

    def _held(self, row: _Row, *, tentative: bool) -> HeldLock:
        return HeldLock(
            source=Source(self.file, row.number, row.number, tentative),
            database=row.database,
            resource=row.resource,
            role=row.role,
            pid=row.pid,
            process=row.process,
            lock_id=row.lock,
            system=row.system,
            requested=row.requested,
            granted=row.granted,
            display=row.display,
            below_title=row.below,
        )


@dataclass
class _Block:
    """The modes of one resource."""

    waiting: list[str] = field(default_factory=list)
    blocking: list[str] = field(default_factory=list)


def _proven(rows: Sequence[_Row]) -> bool:
    """Whether in each block with a blocker one who waits is held up by a mode of it; there must be such a block."""
    blocks: dict[int, _Block] = {}
    for row in rows:
        block = blocks.setdefault(row.block, _Block())
        if row.role in ("waiting", "requestor"):
            block.waiting.append(row.requested)
        elif row.role == "blocker":
            block.blocking += [row.granted, row.requested]  # one that waits itself, before the other, blocks too
    both = [block for block in blocks.values() if block.waiting and block.blocking]
    return bool(both) and all(
        any(mode not in COMPATIBLE[wanted] for mode in block.blocking for wanted in block.waiting) for block in both
    )


def _bounded(problems: list[str], most: int = 20) -> list[str]:
    if len(problems) <= most:
        return list(problems)
    return [*problems[:most], f"{len(problems) - most:,} more rows were not read for the same reasons"]
