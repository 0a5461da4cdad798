"""sp_sysmon: the server's own performance report.

Sample::

    ===============================================================================
          Sybase Adaptive Server Enterprise System Performance Report
    ===============================================================================

    Server Version:        Adaptive Server Enterprise/15.7/EBF 22779 SMP SP122 /P/x
    Sampling Started at:   Mar 02, 2021 09:00:00
    Sampling Ended at:     Mar 02, 2021 09:10:00
    Sample Interval:       00:10:00
    Sample Mode:           No Clear
    Server Name:           PROD1
    ===============================================================================

    Lock Management
    ---------------

      Lock Summary                    per sec      per xact       count  % of total
      -------------------------  ------------  ------------  ----------  ----------
      Total Lock Requests             120.0          40.0       72000       n/a
      Avg Lock Contention               0.5           0.2         300       0.4 %

    =============================== End of Report =================================

Counts are of the sample, per cent as printed: above 100 and below 0 are possible (two counters, one wrapped).

What absence means: a section that is not there was not asked for, or the report was cut; nothing is known of it. A
group whose total is printed as zero leaves its rows out: those are zero. `n/a` is no figure; asterisks are a figure
too wide for its column. No End of Report line: cut, or a piece of a report.

One input is one report. A report ends with its End of Report line, where another one begins (its title, or a section
that was there already), or where another kind of export begins. Knowledge: ase-formats.md section 1.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from collectors.facts.ase.server import Server
from collectors.facts.ase.sysmon import (
    CacheActivity,
    EngineBusy,
    LockHashtable,
    LockRequests,
    LockSummary,
    MetadataCache,
    MetadataSpinlock,
    RowsChanged,
    SysmonAdvice,
    SysmonSample,
    SysmonSection,
    TaskSwitches,
    ThreadBusy,
)
from collectors.facts.ase.sysmon_detail import (
    CachePoolActivity,
    ControllerActivity,
    DelayedIO,
    DeviceActivity,
    LargestLogCache,
    LockEvents,
    LogWrites,
    PacketsSent,
    PageFaults,
    ProcedureCacheActivity,
    Recompilations,
    RowsAffected,
    RunnableTasks,
    SemaphoreRequests,
    UserLogCacheFlushes,
    WorkerRequests,
)
from collectors.registry import Outcome, starting, stream
from collectors.reports.ase.sp_sysmon.items import BLANK, HEADS, RULE, Head, Item, Mark, Nothing, Row, Table
from collectors.reports.ase.sp_sysmon.lines import END, LONGEST_SHAPE, TITLES, items_of
from collectors.reports.ase.sp_sysmon.report import SysmonReport

ID = "ase/sp_sysmon"
LAST_WORDS = "End of Report"
ALONE = sorted(TITLES - {"Task Management", "ESP Management", "Procedure Cache Management", "Memory Management"})
"""Titles that stand on a line of their own; the other four always have column headings beside them."""
STARTS = re.compile(
    r"Adaptive Server Enterprise System Performance Report"
    r"|^\s*Server Version:\s+Adaptive Server Enterprise/"
    r"|\bper sec +per xact +count\b"
    r"|^\s*Engine Busy Utilization\s+CPU Busy"
    r"|^\s*Engine Utilization \(Tick %\)"
    rf"|^\s*(?:{'|'.join(re.escape(title) for title in ALONE)})\s*$"
)
PREFIX = re.compile(
    r"^\s*Msg 0, Level [0-9]{1,2}(?:, State [0-9]{1,3})?:? ?"
    r"|^\s*Server '[^']{1,80}'(?:, Procedure '[^']{1,80}')?, Line [0-9]{1,6}:\s*$"
)
"""JDBC and ODBC tools may put this before every line: the report is printed, not selected (ase-formats.md 1.1)."""
FIRST_PIECE, LARGEST_PIECE = 120, 1920
"""Lines looked at in one go: few at first, because what only begins like a report soon ends."""
NEAR = 8
"""Lines below a title within which its section begins."""
MOST_ABOVE = 3
"""Headings without columns that may stand above a piece: `Device:` and a path, or a cache."""
MOST_LINES, MOST_CHARACTERS = 200_000, 30_000_000
"""Of one report; the longest known ones, with hundreds of devices, have a few thousand lines."""


@stream(
    starts=STARTS,
    provides=(
        Server, SysmonSample, SysmonSection, EngineBusy, ThreadBusy, RunnableTasks, TaskSwitches, RowsChanged,
        RowsAffected, SemaphoreRequests, UserLogCacheFlushes, LargestLogCache, LogWrites, MetadataCache,
        MetadataSpinlock, LockSummary, LockHashtable, LockRequests, LockEvents, CacheActivity, CachePoolActivity,
        ProcedureCacheActivity, DelayedIO, DeviceActivity, SysmonAdvice, ControllerActivity, Recompilations, PageFaults,
        PacketsSent, WorkerRequests,
    ),
)  # fmt: skip
class SpSysmon:
    """One report, collected line by line and read when it has ended."""

    def __init__(self, file: str, above: Sequence[str]) -> None:
        """Start with nothing; above a piece of a report may stand which cache or device it speaks of."""
        self.report = SysmonReport(file, 0)
        self.above = list(above[-MOST_ABOVE:])
        self.understood = 0
        self.size = 0
        self.piece = FIRST_PIECE
        self.sections: set[str] = set()
        self.ended = False

    def feed(self, first: int, lines: Sequence[str]) -> int:
        """Take lines up to the end of the report."""
        if not self.report.lines:
            self._begin(first, lines)
        taken = 0
        while taken < len(lines) and not self.ended:
            taken += self._take(*_piece(lines[taken : taken + self.piece]))
            self.piece = min(4 * self.piece, LARGEST_PIECE)
        return taken

    def _begin(self, first: int, lines: Sequence[str]) -> None:
        """Take the headings above a piece that begins below them, and the rule above a title."""
        above, text = _cleaned(self.above, "\n".join(self.above))
        items = items_of(text) if above else []
        start = items_of(lines[0])[0] if lines else BLANK
        headings = 0
        if start is HEADS or isinstance(start, Table):
            while headings < len(items) and _is_heading(items[-1 - headings]):
                headings += 1
        self.understood = headings
        while self.understood < len(items) and isinstance(items[-1 - self.understood], Nothing):
            self.understood += 1
        self.report.first = first - headings
        self.report.lines = above[len(above) - headings :]
        self.report.items = items[len(items) - headings :]

    def _take(self, block: list[str], text: str) -> int:
        """Take some lines, or those of them that belong to this report."""
        report, before = self.report, len(self.report.lines)
        items = items_of(text)
        taken = len(block)
        if not before and not _is_report(items):
            taken, self.ended, items, block = 1, True, items[:1], block[:1]
        for at in [at for at, item in enumerate(items) if item.notable]:
            item = items[at]
            if isinstance(item, Row):
                report.strays[item.stray] += 1
            elif isinstance(item, Mark):
                if self._begins_another(item) and before + at:
                    taken, self.ended = at, True
                    break
                if item.what == "end":
                    taken, self.ended, report.complete = at + 1, True, True
                    break
                report.marks.append(before + at)
            elif before + at and not (isinstance(item, Head) and item.ours) and _of_another_kind(block[at]):
                taken, self.ended = at, True
                break
            elif isinstance(item, Head) and not item.indent:
                report.marks.append(before + at)
        self.size += len(text)
        if before + taken > MOST_LINES or self.size > MOST_CHARACTERS:
            taken, self.ended = min(taken, MOST_LINES - before), True
            report.complete, report.too_long = False, True
            report.marks = [at for at in report.marks if at < before + taken]
        report.lines += block if taken == len(block) else block[:taken]
        report.items += items if taken == len(block) else items[:taken]
        return taken

    def _begins_another(self, mark: Mark) -> bool:
        """Whether this line is the beginning of the next report: its header, or a section we had."""
        if mark.what == "section":
            again = mark.name in self.sections
            self.sections.add(mark.name)
            return again
        return mark.what == "title" or (mark.name == "Server Version" and bool(self.sections))

    def close(self) -> Outcome:
        """Read the report."""
        outcome = self.report.outcome()
        if outcome.facts:
            outcome.above = self.understood
        return outcome


def _is_heading(item: Item) -> bool:
    return isinstance(item, Head) and item.ours


def _is_report(items: Sequence[Item]) -> bool:
    """Whether a section's title is followed by what belongs there: its underline, headings or rows."""
    if not isinstance(items[0], Mark) or items[0].what != "section":
        return True
    below = [item for item in items[1:NEAR] if item is not BLANK]
    return not below or any(item in (RULE, HEADS) or isinstance(item, Table | Row) for item in below)


def _piece(lines: Sequence[str]) -> tuple[list[str], str]:
    """Lines up to the end of the report, if it is among them, as lines and as text."""
    text = "\n".join(lines)
    end = text.find(LAST_WORDS)
    while end >= 0:
        at = text.count("\n", 0, end)
        if END.fullmatch(" ".join(lines[at].split())):
            lines = lines[: at + 1]
            text = "\n".join(lines)
            break
        end = text.find(LAST_WORDS, end + 1)
    return _cleaned(lines, text)


def _cleaned(lines: Sequence[str], text: str) -> tuple[list[str], str]:
    """The lines, and the same as text, without what a tool put before each and with plain blanks."""
    block = list(lines)
    if "Msg 0, Level" in text or not text.isascii():
        block = [PREFIX.sub("", line.replace("\u00a0", " ")) for line in block]
        text = "\n".join(block)
    return block, text


def _of_another_kind(line: str) -> bool:
    """Whether an export of another kind begins with this line, which we do not understand."""
    return _asked(line) if len(line) <= LONGEST_SHAPE else _asked.__wrapped__(line)


@lru_cache(maxsize=4096)
def _asked(line: str) -> bool:
    kinds = starting(line)
    return bool(kinds) and all(kind.id != ID for kind in kinds)
