"""One screen or one table of MONITOR, from its heading to the next: what it says, line by line."""

import re
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from collectors.facts.base import Reading, known
from collectors.layouts.vms import moment
from collectors.reports.openvms.monitor import classes, graphs, lines, multi

Kind = Literal["display", "summary", "multi-file summary"]
TABLE = ("current", "mean", "minimum", "maximum")
MOST_ROWS = 2_000
"""Lines of figures of one screen: a DISK table has one for each disk."""
LONGEST_COMMENT = 60
OF_FILE = re.compile(
    r"\s{0,60}(?:\((?:[A-Z][a-z]{1,10}|[0-9]{1,5})\)\s{1,8})?(?:File:\s{1,8})?(?P<name>[A-Z0-9$_.-]{1,80}:[\[<][^\s;]{1,200};[0-9]{1,5})\s*$",
    re.I,
)
"""The line of MONITOR RMS that names the file: `(Index)  DISK$USER:[DATA]ORDERS.DAT;12`, or `(0) File: ` before it."""
STREAMS = re.compile(r"\s{0,60}Active Streams:\s{1,20}(?P<streams>[0-9]{1,9})(?:\s*$|\s{1,80}(?:CUR|AVE)\b)")
NOT_AVAILABLE = re.compile(r"compatibility mode\s+not available$", re.IGNORECASE)


@dataclass
class Row:
    """One line of figures. `cells`: by statistic, or, in a multi-file summary, by the number of the node's column."""

    line: int
    label: str
    cells: dict[str, Reading]
    partner: str | None = None
    rest: tuple[Reading, ...] = ()
    """Of a multi-file summary: row sum, average, minimum, maximum."""


@dataclass
class Frame:
    """What is known of the screen so far. `take` says of each line whether it was understood."""

    first: int
    headed: bool = False
    """Whether MONITOR's name stands above it."""
    last: int = 0
    kind: Kind = "display"
    class_name: str | None = None
    node: str | None = None
    node_line: int = 0
    time: datetime | None = None
    start: datetime | None = None
    end: datetime | None = None
    comment: str | None = None
    statistic: str = "current"
    cpu: int | None = None
    cpus: int | None = None
    columns: tuple[str, ...] = ()
    bars: bool = False
    streams: tuple[int, float] | None = None
    """Of MONITOR RMS: the line that says how many streams have the file open, and how many."""
    item: str = ""
    stem: str = ""
    nodes: list[multi.Column] = field(default_factory=list)
    waiting: tuple[str, list[str]] | None = None
    """Dates of a multi-file summary whose times stand on the line below."""
    quarters: list[tuple[int, str]] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    bad_rows: list[tuple[int, str]] = field(default_factory=list)
    unlike: int = 0
    """Lines of figures whose label this class does not have."""
    lines: list[tuple[int, str, bool]] = field(default_factory=list)
    guessed: bool = False
    """Whether nothing but its place says that the last line belongs to this screen."""

    def give_back(self) -> None:
        """The last line belongs to another report: forget it."""
        number, _, _ = self.lines.pop()
        self.rows = [row for row in self.rows if row.line != number]

    def other_file(self, line: str) -> str | None:
        """The class of MONITOR RMS that goes on with this line, where figures of a file were read: of another one."""
        name = self.class_name or ""
        if not (self.rows and name.startswith("RMS ") and OF_FILE.match(line)):
            return None
        return name.rpartition(" ")[0] if ":" in name else name

    def take(self, number: int, line: str, heading: list[re.Match[str]] | None) -> bool:
        """Take one line, not blank; `heading` is what it says if it belongs to a heading."""
        node, columns = self.node, len(self.nodes)
        understood = self._take(number, line, heading)
        if understood:
            self.last = number
        if self.node != node or len(self.nodes) != columns:
            self.node_line = number
        self.lines.append((number, line, understood))
        return understood

    def _take(self, number: int, line: str, heading: list[re.Match[str]] | None) -> bool:
        self.guessed = False
        if heading is not None and not (self.nodes and multi.HEAD.match(line)):
            if self.rows and any(piece["stamp"] or piece["node"] or piece["node_said"] for piece in heading):
                return False  # what stands below the figures is of something else
            for piece in heading:
                self._piece(piece)
            return True
        if line.lstrip().startswith(lines.MESSAGES):
            return True
        if self.class_name is None:
            return False
        if self.kind == "multi-file summary" or (not self.rows and multi.HEAD.match(line)):
            return self._multi(number, line)
        if self.class_name.startswith("RMS ") and (said := STREAMS.match(line)):
            self.streams = number, float(said["streams"])
            if line.rstrip().endswith(said["streams"]):
                return True
        if not self.rows or "AVE" in line:
            found = lines.COLUMNS.match(line)
            if found:
                return self._columns(found)
        if self.columns:
            return self._table_row(number, line)
        return self._bar(number, line) or self._is_comment(line)

    def _piece(self, piece: re.Match[str]) -> None:
        """Learn one thing the heading says."""
        said = piece.groupdict()
        if piece["utility"]:
            self.headed = True
        elif piece["title"] and self.class_name is None:
            self.class_name = classes.TITLES[piece["title"]]
        elif piece["other"] and self.class_name is None and self.headed:
            self.class_name = re.sub(r" (?:STATISTICS|PROCESSES)$", "", piece["other"])
        elif node := said["node"] or said["node_said"]:
            self.node = node.upper()
        elif statistic := said["statistic"] or said["statistic_said"]:
            self.statistic = multi.STATISTICS[statistic]
        elif piece["multi"]:
            self.kind = "multi-file summary"
        elif piece["summary"]:
            self._is_summary()
        elif piece["start"] or piece["end"]:
            self._is_summary()
            self.start = moment(piece["start"]) or self.start
            self.end = moment(piece["end"]) or self.end
        elif piece["stamp"]:
            self.time = moment(piece["stamp"]) or self.time
        elif piece["cpus"]:
            self.cpus = int(piece["cpus"])
        elif piece["cpu"] and self.class_name == "MODES":
            self.cpu = int(piece["cpu"])
        elif (piece["axis"] or piece["ruler"]) and not self.columns:
            self.bars = True

    def _is_summary(self) -> None:
        if self.kind == "display":
            self.kind = "summary"

    def _is_comment(self, line: str) -> bool:
        """Whether this is the one line of comment that a playback has in its heading, below node or time."""
        text = line.strip()
        name = self.class_name or ""
        if not self.rows and name.startswith("RMS ") and ":" not in name and (found := OF_FILE.match(line)):
            self.class_name = f"{name} {found['name']}"  # each file is counted for itself
            return True
        if self.rows or self.bars or self.comment or not self.headed or self.node is None:
            return False
        if len(text) > LONGEST_COMMENT or "%" in text or not line.startswith("    "):
            return False
        self.comment, self.guessed = text, True
        return True

    def _columns(self, found: re.Match[str]) -> bool:
        """The heading of a table; what stands left of it is the item that the lines below are about."""
        self.columns = TABLE if found["current"] else TABLE[1:]
        item = " ".join((found["item"] or "").split())
        if told := lines.pieces(item):
            for piece in told:
                self._piece(piece)
            item = ""
        self.item = item
        return True

    def _table_row(self, number: int, line: str) -> bool:
        found = lines.figures_of(line, len(self.columns), len(self.columns))
        if found is None or not found.label:
            return NOT_AVAILABLE.match(line.strip()) is not None and self.class_name in ("MODES", "SYSTEM")
        cells = {name: lines.number(text) for name, text in zip(self.columns, found.figures, strict=True)}
        low, high = cells["minimum"], cells["maximum"]
        if known(low) and known(high) and low > high:
            self.bad_rows.append((number, found.label))
            return False
        return self._keep(number, found.label, cells)

    def _keep(self, number: int, label: str, cells: dict[str, Reading], rest: tuple[Reading, ...] = ()) -> bool:
        """Keep one line of figures under its whole label, if the class has such a line."""
        if len(self.rows) >= MOST_ROWS:
            return False
        label = self._whole_label(label)
        if self.class_name in classes.PER_PARTNER and self.item:
            self.rows.append(Row(number, self.item, cells, label, rest))
            return True
        if classes.key(label) not in classes.KNOWN.get(self.class_name or "", {classes.key(label)}):
            self.unlike += 1
            return False
        self.rows.append(Row(number, label, cells, None, rest))
        return True

    def _whole_label(self, label: str) -> str:
        """Put the stem before `(Incoming)`; remember the stem of `New ENQ Rate (Local)`."""
        if label.startswith("("):
            return f"{self.stem} {label}"
        self.stem = label.partition("(")[0].strip()
        return label

    def _bar(self, number: int, line: str) -> bool:
        """A line of a bar graph, or of the screens of SYSTEM and CLUSTER that are made of four graphs."""
        name = self.class_name or ""
        if name == "PROCESSES":
            return self._listed(number, line)
        if name.startswith("PROCESSES"):
            one = graphs.process_of(line)
            return one is not None and self._keep_bars(number, [one])
        if name == "CLUSTER" and (self.quarters or graphs.quarters_of(line) or not self.columns):
            return self._cluster(number, line)
        if name == "SYSTEM" and (boxes := graphs.boxes_of(line)):
            return self._keep_bars(number, boxes)
        if name == "SYSTEM" and graphs.is_frame_of_box(line):
            return True
        one = graphs.bar_of(line, classes.KNOWN.get(name, frozenset()))
        if one is None or (not self.bars and name not in classes.KNOWN):
            return False
        self.guessed = name not in classes.KNOWN
        return self._keep_bars(number, [one])

    def _keep_bars(self, number: int, bars: list[graphs.Bar]) -> bool:
        kept = [self._keep(number, bar.label, {self.statistic: lines.number(bar.value)}) for bar in bars]
        return all(kept)

    def _listed(self, number: int, line: str) -> bool:
        """A line of MONITOR PROCESSES."""
        label = graphs.listed_process(line)
        if label is not None:
            return self._keep(number, label, {})
        return line.split()[:2] == ["PID", "STATE"]

    def _cluster(self, number: int, line: str) -> bool:
        """The screen of MONITOR CLUSTER: two graphs side by side, nodes or disks below each title."""
        if titles := graphs.quarters_of(line):
            self.quarters = titles
            return True
        if set(line.split()) <= graphs.WORDS_OF_CLUSTER:
            return True
        if not self.quarters:
            return False
        bars = graphs.bars_of_quarters(line, self.quarters)
        for bar in bars or ():
            self.rows.append(Row(number, bar.label, {self.statistic: lines.number(bar.value)}, bar.partner))
        self.guessed = True
        return bars is not None

    def _multi(self, number: int, line: str) -> bool:
        """A line of a multi-file summary: one column for each node, then sum, average, minimum, maximum."""
        if self.waiting and multi.CLOCKS.match(line):
            what, dates = self.waiting
            self.waiting = None
            multi.set_times(
                self.nodes, what, [f"{date} {clock}" for date, clock in zip(dates, line.split(), strict=False)]
            )
            return True
        if (head := multi.HEAD.match(line)) and not self.rows:
            return self._head(head["what"], head["rest"])
        if multi.ROW_WORDS.match(line):
            return True
        if not self.nodes:
            return self._is_comment(line)
        count = len(self.nodes)
        row = lines.figures_of(line, count, count + 4)
        if row is None and self.class_name in classes.PER_PARTNER and len(line) < 60:
            self.item = " ".join(line.split())  # such a class has one table for each item
            self.guessed = True
            return True
        if row is None or not row.label or len(row.figures) not in (count, count + 4):
            return False
        figures = [lines.number(text) for text in row.figures]
        cells = {str(at): figure for at, figure in enumerate(figures[:count])}
        return self._keep(number, row.label, cells, tuple(figures[count:]))

    def _head(self, what: str, rest: str) -> bool:
        """`Node:`, `From:` and `To:` of a multi-file summary; the times may stand on the line below their dates."""
        if what == "Node":
            found = multi.nodes_of(rest)
            if found:
                self.kind, self.nodes = "multi-file summary", found
            return found is not None
        dates, stamps = multi.DATES.findall(rest), multi.STAMPS.findall(rest)
        self.waiting = None
        if len(stamps) == len(dates) == len(self.nodes):
            multi.set_times(self.nodes, what, stamps)
        elif len(dates) == len(self.nodes):
            self.waiting = (what, dates)
        return bool(dates)
