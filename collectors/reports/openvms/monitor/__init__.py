"""MONITOR screens, tables and summaries

Sample::

                                OpenVMS Monitor Utility
                              LOCK MANAGEMENT STATISTICS
                                    on node ORKNEY
                                 3-FEB-2021 09:14:22.07

                                           CUR        AVE        MIN        MAX

        New ENQ Rate                   1210.33    1105.20     640.00    1890.66
        Converted ENQ Rate             2044.00    1980.11    1104.33    3010.00

A captured session has many such screens; of one class and node the averages of the last screen count, the current
figures of all screens are averaged, and neither is kept screen by screen. `/SUMMARY` prints one table for each class
below `From:` and `To:`; of several files it prints one column for each node (`Node:`, `From:`, `To:`), then row sum,
average, minimum and maximum: facts are made of each node, never of the sum. MODES, STATES, SYSTEM, CLUSTER and the
processes are bar graphs unless asked for with /ALL: a blank figure is 0, a bar may be missing.

Grades (openvms-formats.md a): the frame is real, titles and the labels of LOCK, MODES and SYSTEM are stated by sources,
the other screens are recalled. So each is proved by its own arithmetic, or read as tentative: average and current lie
within minimum and maximum; the modes make 100 % for each CPU; LOCK is local + incoming + outgoing of DLOCK; the row sum
is the sum of the columns.

Traps: the title of LOCK is part of that of DLOCK; DLOCK prints `New ENQ Rate` only before `(Local)`; on a cluster a
remote lock is counted on both nodes; other programs imitate these screens with labels of their own; pButtons wraps
them in HTML (`id=monitor` to `</pre>`); a terminal's log without its cursor movements has no lines any more.
"""

import re
from collections.abc import Sequence
from html import unescape

from collectors.facts import Fact
from collectors.facts.openvms import (
    AlignmentFaults,
    CpuModes,
    DistributedLockRates,
    LockDatabase,
    LockRates,
    MonitorItem,
    MonitorSample,
    Node,
    ProcessorModes,
    RemasterRates,
    SystemRates,
)
from collectors.leftovers import Leftovers
from collectors.registry import Outcome, starting, stream
from collectors.reports.openvms.monitor import lines as monitor
from collectors.reports.openvms.monitor.facts import facts_of, node_of
from collectors.reports.openvms.monitor.frame import Frame
from collectors.reports.openvms.monitor.session import Session

MARKUP = re.compile(r"</?(?:pre|p|b|div|span|br|h[1-6]|a|font)\b[^<>]{0,200}>", re.IGNORECASE)
END_OF_SECTION = re.compile(r"</pre>", re.IGNORECASE)
MOST_LINES = 10_000
"""Lines of one screen; a table of disks has one for each disk."""
STRANGE_LINES = 40
"""So many lines in a row that are none of MONITOR's: the screen above them is over."""
MOST_FOREIGN = 2_000
"""So many, and the report is over."""

PROVIDES = (
    MonitorSample,
    MonitorItem,
    Node,
    ProcessorModes,
    CpuModes,
    LockRates,
    LockDatabase,
    DistributedLockRates,
    RemasterRates,
    SystemRates,
    AlignmentFaults,
)


@stream(starts=monitor.START, provides=PROVIDES)
class Monitor:
    """All screens of one file. Keeps the screen at hand and, for each line of each class, its sums."""

    def __init__(self, file: str, above: Sequence[str]) -> None:
        """Begin; nothing above the first screen matters."""
        self.file = file
        self.session = Session()
        self.frame: Frame | None = None
        self.before: Frame | None = None
        self.loose = Leftovers()
        self.strange = self.foreign = 0
        self.html = self.done = False

    def feed(self, first: int, lines: Sequence[str]) -> int:
        """Take lines up to where another report begins, or the section of a pButtons file ends."""
        if self.done:
            return 0
        for offset, line in enumerate(lines):
            if not line or line.isspace():
                continue
            if not self._line(first + offset, line):
                return offset
            if self.done:
                return offset + 1
        return len(lines)

    def _line(self, number: int, line: str) -> bool:
        """Take one line; false if another report begins with it."""
        if "<" in line:
            if monitor.START_OF_SECTION.search(line):
                self.html = True
                return True
            self.done = END_OF_SECTION.search(line) is not None
            line = MARKUP.sub(" ", line)
            if not line.strip():
                return True
        if self.html and "&" in line:
            line = "".join(sign if sign.isprintable() else " " for sign in unescape(line))
        if len(line) > monitor.LONGEST:
            return self._strange(number, line)
        if monitor.PROMPT.match(line):
            return self._strange(number, line)
        heading = monitor.pieces(line)
        if self.frame and len(self.frame.lines) > MOST_LINES:
            self._finish()
        if heading is not None and self._begins(heading):
            self._finish()
            self.frame = self._new(number, heading)
        elif self.frame and (name := self.frame.other_file(line)):
            self._finish()
            self.frame = self._new(number, ())
            self.frame.class_name, self.frame.headed = name, True
        if self.frame and self.frame.take(number, line, heading):
            if self.frame.guessed and _another(line):
                self.frame.give_back()
                return False
            self.strange = self.foreign = 0
            return True
        return self._strange(number, line, kept=self.frame is not None)

    def _begins(self, heading: Sequence[re.Match[str]]) -> bool:
        """Whether these pieces of a heading open a screen of their own."""
        now = self.frame
        utility = any(piece["utility"] for piece in heading)
        if now is None:
            return utility or any(piece["title"] for piece in heading)
        if utility:
            return bool(now.headed or now.class_name or now.rows)
        return bool(now.rows or now.columns) and any(piece["title"] or piece["other"] for piece in heading)

    def _new(self, number: int, heading: Sequence[re.Match[str]]) -> Frame:
        """A screen; one without MONITOR's name above it was cut from the same paste as the screen before."""
        frame, before = Frame(number), self.before
        if before and not any(piece["utility"] for piece in heading):
            frame.node, frame.time, frame.kind = before.node, before.time, before.kind
            frame.start, frame.end, frame.nodes = before.start, before.end, list(before.nodes)
        return frame

    def _strange(self, number: int, line: str, *, kept: bool = False) -> bool:
        """A line that is none of MONITOR's: it waits with its screen, or is left over."""
        self.foreign += 1
        if _another(line) or self.foreign > MOST_FOREIGN:
            if self.frame and kept:
                self.frame.give_back()
            self.done = False
            return False
        if monitor.GLUED.match(line):
            what = "a screen on one line: a terminal's log lost its cursor movements"
            self.session.problems.add(f"{what}. Upload the file of MONITOR/NODISPLAY/SUMMARY=file", number)
        if not kept:
            self.loose.add(number, line)
        self.strange += 1
        if self.strange > STRANGE_LINES:
            self._finish()
        return True

    def _finish(self) -> None:
        """The screen is complete: sum it up, and hand over its lines that were not understood."""
        frame, self.frame, self.strange = self.frame, None, 0
        if frame is None:
            return
        good = self.session.add(frame)
        for number, line, understood in frame.lines:
            if not (good and understood):
                self.loose.add(number, line)
        frame.lines = []
        self.before = frame if good else self.before

    def close(self) -> Outcome:
        """Hand over the facts."""
        self._finish()
        told = self.session.told()
        facts: list[Fact] = []
        named = {output.node: output for output in told if output.node}
        facts += [node_of(self.file, output) for output in named.values()]
        for output in told:
            facts += facts_of(self.file, output)
        problems = [*self.session.problems.said(), *self.session.lacking(told), *self.session.tentative(told)]
        if self.loose.dropped:
            problems.append(f"{self.loose.dropped:,} more lines were not understood")
        return Outcome(facts, self.loose.runs, problems)


def _another(line: str) -> bool:
    """Whether another kind of report begins with this line; one at a prompt, too."""
    return any(kind.starts is not monitor.START for kind in starting(line))
