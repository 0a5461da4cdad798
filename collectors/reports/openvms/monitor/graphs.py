"""Bar graphs of MONITOR: a label, a figure that is left out where it is 0, and a bar that may be missing.

SYSTEM and CLUSTER without /ALL are made of four graphs each; their layout is recalled (openvms-formats.md a.1 [M]).
That of the processes with the highest rate is real [R].
"""

import re
from typing import NamedTuple

from collectors.reports.openvms.monitor.classes import key

BAR = re.compile(
    r"(?:\s+(?P<value>[0-9]{1,9}(?:\.[0-9]{1,2})?|\*{2,12}))?\s*\|?(?P<bar>\s*(?P<mark>[^\s|0-9(])(?P=mark)*)?[\s|+]*$"
)
BAR_LABEL = re.compile(r"[\s|]{0,12}(?P<label>[A-Z(%$_](?:[^\s|]|\s(?! )){1,40})")
PROCESS = re.compile(r"\s{0,4}(?P<pid>[0-9A-F]{8})\s{1,3}(?P<name>\S.{0,14}?)(?=\s{2,}|\s*$)")
PROCESS_ROW = re.compile(
    r"\s{0,4}(?P<pid>[0-9A-F]{8})\s+[A-Z]{2,6}\s*[0-9]{0,3}\s+[0-9]{1,2}\s+(?P<name>\S.{0,14}?)\s+[0-9]+/?\s*[0-9]*\s+"
    r"[0-9]+\s+[0-9]+\s+(?:[0-9]+ )?[0-9]{1,3}:[0-9]{2}:[0-9]{2}"
)
BOXED = re.compile(
    r"(?P<label>CPU Busy|Page Fault Rate|Page Read I/O Rate|Free List Size|Mod(?:ified)? List Size|Direct I/O Rate|"
    r"Buffered I/O Rate|Process Count)\s*\((?P<value>[0-9]{1,12}(?:\.[0-9]+)?|\*{2,12})\)"
    r"|\b(?P<state>LEFO?|HIBO?|COMO?|PFW|MWAIT|Other|Total):\s*(?P<count>[0-9]{1,6}|\*{2,6})(?![0-9])"
)
TOP_OF = re.compile(r"Cur Top:")
NAME = re.compile(r"[\s|]{0,40}(?P<label>(?=[$_]{0,19}[A-Z0-9])[A-Z0-9$_]{1,20}:?)(?=\s|$)")
QUARTERS = re.compile(r"CPU Busy|%\s?Memory In Use|I/O Operation Rate|(?:Tot(?:al)? )?ENQ/DEQ Rate")
"""What the four quarters of the CLUSTER screen are about."""

WORDS_OF_CLUSTER = {"CPU", "MEMORY", "DISK", "LOCK", "|"}
FRAME_OF_BOX = re.compile(r"CPU|MEMORY|I/O|[0-9]{1,7}[KM]?|(.)\1*")


class Bar(NamedTuple):
    """One bar: its label, and its figure as printed, `None` where it was left out."""

    label: str
    value: str | None
    partner: str | None = None


def bar_of(line: str, labels: frozenset[str] = frozenset()) -> Bar | None:
    """Read a label and its bar; `None` for any other line.

    One of `labels` is also found where a mail or a forum left single blanks between label, figure and bar.
    """
    found = BAR_LABEL.match(line)
    bar = BAR.match(line, found.end()) if found else None
    if found and bar and (not labels or key(found["label"]) in labels):
        return Bar(found["label"], bar["value"])
    text = " ".join(line.split())
    for label in sorted(labels, key=len, reverse=True):
        if text.lower().startswith(label) and (squeezed := BAR.match(text, len(label))):
            return Bar(text[: len(label)], squeezed["value"])
    return Bar(found["label"], bar["value"]) if found and bar else None


def process_of(line: str) -> Bar | None:
    """Read one of the processes with the highest rate: its number and name are the label."""
    found = PROCESS.match(line)
    bar = BAR.match(line, found.end()) if found else None
    return Bar(f"{found['pid']} {found['name']}", bar["value"]) if found and bar else None


def listed_process(line: str) -> str | None:
    """Read number and name of one line of MONITOR PROCESSES."""
    found = PROCESS_ROW.match(line)
    return f"{found['pid']} {found['name']}" if found else None


def boxes_of(line: str) -> list[Bar]:
    """Read what the screen of SYSTEM says in one line: `+ CPU Busy (46) -+`, `LEF:  27`."""
    return [Bar(one["label"] or one["state"], one["value"] or one["count"]) for one in BOXED.finditer(line)]


def is_frame_of_box(line: str) -> bool:
    """Whether a line of the screen of SYSTEM has nothing but a scale, a bar or a border: `CPU 0 +-----+ 100`."""
    if line.strip() == "Process States" or TOP_OF.search(line):
        return True
    return all(FRAME_OF_BOX.fullmatch(token) for token in re.split(r"[\s|+-]+", line) if token)


def quarters_of(line: str) -> list[tuple[int, str]]:
    """Which titles of the screen of CLUSTER a line has, and at which column."""
    return [(one.start(), " ".join(one[0].split())) for one in QUARTERS.finditer(line)]


def bars_of_quarters(line: str, quarters: list[tuple[int, str]]) -> list[Bar] | None:
    """Read the bars that stand side by side below those titles; `None` if one of them is none."""
    found, begin = list[Bar](), 0
    ends = [max(0, at - 1) for at, _ in quarters[1:]] + [len(line)]
    for (_, title), end in zip(quarters, ends, strict=True):
        part, begin = line[begin:end], end
        if not part.strip(" |+-"):
            continue
        name = NAME.match(part)
        bar = BAR.match(part, name.end()) if name else None
        if not name or not bar:
            return None
        found.append(Bar(title, bar["value"], name["label"].rstrip(":")))
    return found
