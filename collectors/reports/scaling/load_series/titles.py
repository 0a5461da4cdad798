"""The line above a table that says which machine it is of: its name, its processors, their clock."""

import re
from dataclasses import dataclass

MOST = 140
"""Characters of a title: a longer line is prose."""
CLOCK = r"[0-9] ?[MG]Hz"
CLOCKS = re.compile(r"(?<![0-9.])([0-9]{1,5}(?:\.[0-9]{1,3})?) ?([MG])Hz", re.IGNORECASE)
CORES = re.compile(r"(?<![0-9.])([0-9]{1,4})[ -](cores?|cpus?|processors?)(?![a-z])", re.IGNORECASE)
AT_END = re.compile(r"\S.{0,120}[ )]- [0-9]{1,4} (?:cores?|cpus?|processors?)", re.IGNORECASE)
NODE = re.compile(r"[#!\s]{0,20}(?i:node):? {1,8}(?P<node>[A-Z][A-Z0-9]{1,5})\b(?:\s*$|\s*[,;:].{0,200})")
NODE_WITHIN = re.compile(r"(?:^|[,;] ?)(?i:node):? (?P<node>[A-Z][A-Z0-9]{1,5})(?=[,;]|$)")
"""The same within the title itself, between its commas."""
MHZ = {"M": 1, "G": 1000}
CLOCK_RANGE = (1.0, 20_000.0)
"""MHz of a processor (this project)."""


@dataclass(frozen=True)
class Title:
    """What a table is of."""

    text: str
    cores: int | None = None
    clock_mhz: float | None = None
    node: str | None = None
    """The node of OpenVMS, within the title or by a line of its own below it."""


def title_of(line: str) -> Title | None:
    """Read a title, as a line of its own or as a comment; `None` for a line that gives neither processors nor clock.

    Two different clocks are of two machines, so none is taken.
    """
    text = " ".join(line.strip(' \t#/!"').split())
    if not text or len(text) > MOST:
        return None
    cores = _cores(text)
    clocks = {round(float(found[1]) * MHZ[found[2].upper()], 3) for found in CLOCKS.finditer(text)}
    clocks = {clock for clock in clocks if CLOCK_RANGE[0] <= clock <= CLOCK_RANGE[1]}
    if not clocks and not AT_END.fullmatch(text):
        return None
    return Title(
        text,
        cores.pop() if len(cores) == 1 else None,
        clocks.pop() if len(clocks) == 1 else None,
        found["node"] if (found := NODE_WITHIN.search(text)) else None,
    )


def column_title(cell: str) -> Title | None:
    """What the column of one of several machines is of: a title, or a name with the number of its processors."""
    text = " ".join(cell.strip(' \t#/!"').split())
    cores = _cores(text)
    if (found := title_of(cell)) or not cores or len(text) > MOST:
        return found
    return Title(text, cores.pop() if len(cores) == 1 else None)


def _cores(text: str) -> set[int]:
    """The processors that a title counts: of `8 cores, 16 CPUs` the cores, whose threads are the CPUs."""
    counted = [(int(found[1]), found[2].lower().startswith("core")) for found in CORES.finditer(text)]
    return {number for number, core in counted if core} or {number for number, _ in counted}
