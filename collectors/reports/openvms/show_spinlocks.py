"""SDA SHOW SPINLOCKS: who holds which spinlock at one moment, and who waits.

Sample::

    System static spinlock structures
    ---------------------------------
    LCKMGR                   Address         : 801C2A40
    Owner CPU ID    : 03     IPL             : 08
    Ownership Depth : 0001   Rank            : 13
    CPUs Waiting    : 0002   Index           : 33
    Timeout interval  0002DC60

    System dynamic spinlock structures
    ----------------------------------
    ORKNEY$PKA               Address         : 8063B720
    Owner CPU ID    : None   DIPL            : 14

All numbers are hexadecimal, the time-out is in units of 10 ms (openvms-formats.md d.2 [R, an example of the manual]).
Device locks print DIPL where others print IPL; dynamic ones have no index. An ownership depth of all ones is -1: held
by nobody [M]. It is the state of one moment and no measure of contention: that is a trace (SPL).

Recalled only, and then tentative: labels without colons (Alpha), lines `Acquire Count`, `Spin Count`, `Wait Count` of
/COUNTS (Alpha and Integrity, only with full-checking multiprocessing [S]), and the table of /BRIEF and /COUNTS, one
line a spinlock, which is told by the words of its heading.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from collectors.facts.base import ABSENT, Reading
from collectors.facts.openvms import SpinlockState
from collectors.layouts import sda
from collectors.layouts.tables import is_dashes
from collectors.registry import NotThisReport, Report, report

START = re.compile(
    r"^\s{0,60}System (?:static|dynamic) spin ?lock structures\b"
    r"|^\s{0,8}SDA ?> {0,4}(?i:SHO?W? +SPIN)[A-Za-z]*"
    r"|^\s{0,8}[A-Z][A-Z0-9_$]{1,30}\s+(?-i:Address)\s{0,40}:?\s{1,40}(?:[0-9A-F]{8}\.?)?[0-9A-F]{8}\s*$"
)
SECTION = re.compile(r"\s{0,60}System (?P<which>static|dynamic) spin ?lock structures\b", re.IGNORECASE)
NAME = re.compile(
    r"\s{0,8}(?P<name>[A-Z][A-Z0-9_$]{1,30}|Unknown)\s+Address\s*(?P<colon>:?)\s+(?:[0-9A-F]{8}\.?)?[0-9A-F]{8}\s*$"
)
LABELS = {
    "owner cpu id": "owner_cpu",
    "ipl": "ipl",
    "dipl": "ipl",
    "ownership depth": "depth",
    "rank": "rank",
    "cpus waiting": "cpus_waiting",
    "index": "index",
    "timeout interval": "timeout_seconds",
    "acquire count": "acquire_count",
    "acquires": "acquire_count",
    "spin count": "spin_count",
    "spins": "spin_count",
    "wait count": "wait_count",
    "waits": "wait_count",
}
"""Label → field of `SpinlockState`."""
COUNTS = ("acquire_count", "spin_count", "wait_count")
LABEL = re.compile(
    r"\b(?P<label>Owner CPU ID|D?IPL|Ownership Depth|Rank|CPUs Waiting|Index|Timeout Interval|Acquire Count|Acquires"
    r"|Spin Count|Spins|Wait Count|Waits)\s*(?P<colon>:?)\s*(?P<value>None|(?:[0-9A-F]{8}\.)?[0-9A-F]{1,16})(?!\w)",
    re.IGNORECASE,
)
REST = re.compile(r"\s*(?:\.\s*|No spinlocks currently owned by .{0,40}|Share Array\s+\S{1,20}\s*)$", re.IGNORECASE)
"""An ellipsis of a manual, and what says that there is nothing."""
BRIEF = {
    "spinlock": "name",
    "spin": "spin_count",
    "name": "name",
    "device": "name",
    "ipl": "ipl",
    "rank": "rank",
    "index": "index",
    "depth": "depth",
    "cpu": "owner_cpu",
    "owner": "owner_cpu",
    "waiting": "cpus_waiting",
    "acquire": "acquire_count",
    "acquires": "acquire_count",
    "spins": "spin_count",
    "wait": "wait_count",
    "waits": "wait_count",
    "address": "",
    "count": "+",
    "counts": "+",
    "id": "+",
    "ownership": "+",
    "cpus": "+",
}
"""Words of a heading of one-line listings: a field, an empty one for what is not kept, + for a part of another."""
ONES = ("FFFFFFFF", "FFFFFFFFFFFFFFFF")
MOST = 20_000


@dataclass
class _Block:
    """One spinlock's lines."""

    name: str
    dynamic: bool
    first: int
    last: int
    proven: bool
    """Whether its labels have their colons, as in the manual's example."""
    figures: dict[str, Reading] = field(default_factory=dict)
    owner: int | None = None


@report(starts=START, provides=(SpinlockState,))
def read(report: Report) -> Iterator[SpinlockState]:
    """Yield the spinlocks in their order."""
    blocks, echoed = _blocks(report)
    if not blocks:
        if not echoed:
            raise NotThisReport
        report.problem("no spinlock is listed below it: repeat SHOW SPINLOCKS", 0)
        return
    if not all(block.proven for block in blocks):
        report.tentative("this layout of SHOW SPINLOCKS is recalled; only the one with colons is documented")
    for block in blocks:
        state = SpinlockState(
            source=report.source(block.first, block.last),
            spinlock=block.name,
            dynamic=block.dynamic,
            owner_cpu=block.owner,
        )
        yield replace(state, **block.figures)  # type: ignore[arg-type]  # its keys are figures' names


def _blocks(report: Report) -> tuple[list[_Block], bool]:
    """Walk over the lines once and claim those understood; says too whether the command was echoed."""
    blocks: list[_Block] = []
    columns: list[str] = []
    dynamic, inside, outside, echoed = False, False, False, False
    for index, line in enumerate(report.lines):
        if (command := sda.command_of(line)) is not None:
            outside = not sda.is_command(command, "SH", "SPIN")
            echoed = echoed or not outside
            inside, columns = False, []
            dynamic = dynamic and not outside
            if outside:
                continue
        elif outside or len(line) > 250:
            continue
        elif section := SECTION.match(line):
            dynamic, inside, columns = section["which"].lower() == "dynamic", False, []
        elif found := NAME.match(line):
            inside = len(blocks) < MOST
            if not inside:
                continue
            blocks.append(_Block(found["name"], dynamic, index, index, bool(found["colon"])))
        elif inside and _inside(report, index, blocks[-1]):
            blocks[-1].last = index
        elif heading := _columns(line):
            columns, inside = heading, False
        elif columns and len(blocks) < MOST and (row := _row(line, columns, dynamic, index)):
            blocks.append(row)
        elif not is_dashes(line) and not REST.match(line):
            continue
        report.claim(index)
    return blocks, echoed


def _inside(report: Report, index: int, block: _Block) -> bool:
    """Take the labels of a line below a spinlock's name."""
    found = list(LABEL.finditer(report.lines[index]))
    for one in found:
        name, value = LABELS[one["label"].lower()], one["value"]
        if name == "owner_cpu":
            owner = sda.hexadecimal(value)
            block.owner = int(owner) if isinstance(owner, float) and owner < 4096 else None
        elif name not in block.figures:
            block.figures[name] = _figure(name, value)
        bare = not one["colon"] and name != "timeout_seconds"  # the manual's example has none there
        block.proven &= not bare and name not in COUNTS
    if found and "Timeout" in report.lines[index] and "timeout_seconds" not in block.figures:
        report.problem("the time-out was cut: repeat SHOW SPINLOCKS", index)
    return bool(found)


def _figure(name: str, value: str) -> Reading:
    if name == "depth" and value.upper() in ONES:
        return -1.0
    number = sda.hexadecimal(value)
    return number * 0.01 if name == "timeout_seconds" and isinstance(number, float) else number


def _columns(line: str) -> list[str]:
    """The fields of a one-line listing's heading, in order; empty for any other line."""
    words = re.split(r"[\s/]+", line.strip().lower())
    if not {"rank", "ipl"} <= set(words) and not {"spin", "wait", "acquire"} <= set(words):
        return []
    if any(word not in BRIEF for word in words):
        return []
    fields = [BRIEF[word] for word in words if BRIEF[word] != "+"]
    fields = [one for at, one in enumerate(fields) if at == 0 or one != fields[at - 1]]
    return fields if fields.count("name") == 1 and len(set(fields)) == len(fields) else []


def _row(line: str, columns: list[str], dynamic: bool, index: int) -> _Block | None:
    """One line of a one-line listing, where it has a value for each column."""
    tokens = line.split()
    if len(tokens) != len(columns):
        return None
    cells = dict(zip(columns, tokens, strict=True))
    name = cells.pop("name")
    owner = cells.pop("owner_cpu", "None")
    number: Reading = ABSENT
    if not re.fullmatch(r"[A-Z][A-Z0-9_$]{1,30}|Unknown", name):
        return None
    if owner.lower() != "none" and (number := sda.hexadecimal(owner)) is ABSENT:
        return None
    figures = {one: _figure(one, text) for one, text in cells.items() if one}
    if ABSENT in figures.values():
        return None
    held = int(number) if isinstance(number, float) and number < 4096 else None
    return _Block(name, dynamic, index, index, False, figures, held)
