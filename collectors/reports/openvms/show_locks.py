"""SDA SHOW LOCK/SUMMARY and SHOW RESOURCE/SUMMARY: the lock manager's own figures; SHOW LOCK is only counted.

What is known of it is one heading (the figures and labels below are made up)::

    SDA> SHOW LOCK/SUMMARY
    Total number of locks:                   84120
    Total number of resources:               13350

    Lock Remaster Counters:
    Tree moved to another node                 411
    Tree moved to this node                    402

`Lock Remaster Counters:` exists from V7.2 on (openvms-formats.md d.3 [S]); everything else of the summaries was found
nowhere. So every line of labels and figures is kept as it is printed, under the heading above it, and the reading is
tentative. A figure padded with zeros to 8 or 16 digits is hexadecimal, as SDA prints those. Only where a label says
plainly that it counts all locks or all resources does it become a level of the lock database as well.

SHOW LOCK/BRIEF prints a line for each lock (`collectors.layouts.lock_brief`): counted by the name of their
root, and by what their own names begin with.

SHOW LOCK prints a block of some ten lines for each lock (`Lock id: …  PID: …`, layout of VAX [R, an example of the
manual]): a million locks would be a million facts, so blocks are counted, by their kind of copy, and nothing is kept.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from collectors.facts.base import Reading, known
from collectors.facts.openvms import ListedKind, ListedLocks, ListedQueue, LockDatabase, LockSummaryItem
from collectors.layouts import sda
from collectors.layouts.lock_brief import HEADING as BRIEF
from collectors.layouts.lock_brief import BriefListing
from collectors.layouts.sda_figures import heading_of, pairs
from collectors.layouts.tables import is_dashes
from collectors.registry import NotThisReport, Report, report

START = re.compile(
    r"^\s{0,40}Lock Remaster Counters\s*:?\s*$"
    r"|^\s{0,8}SDA ?> {0,4}(?i:SHO?W? +(?:LOCK?S?|RESO)[A-Z]*)"
    r"|^\s{0,8}Lock id: +[0-9A-F]{8}\s+PID: +[0-9A-F]{8}\b"
    r"|^\s{0,12}LKB Address\s{1,20}Lock ?id\s{1,12}Parent ?Id\s{1,12}PID\b"
)
BLOCK = re.compile(r"\s{0,8}Lock id: +[0-9A-F]{8}\b")
IN_BLOCK = re.compile(
    r"\s{0,8}(?:Par\. id:|LKB:|RSB:|Priority:|Flags:|Resource:|Length\b|Status:|"
    r"(?:Granted|Converting|Waiting)\b.{0,60}\bat\b|"
    r"(?:Kernel|Exec(?:utive)?|Super(?:visor)?|User) mode\b|(?:User|System|Group) ?[0-9]{0,6},|"
    r"(?:Local|Process|Master) copy\b|(?:[0-9A-F]{8} ){1,4}.{0,80}|[0-9A-F]{2}(?: [0-9A-F]{2}){0,15}\b.{0,40})"
)
COPY = re.compile(r"\b(?P<which>Local|Process|Master) copy\b")
LEVELS = {
    "locks": re.compile(r"(?:total|current)?(?: ?number of)?(?: ?active)? ?locks(?: in use)?", re.IGNORECASE),
    "resources": re.compile(r"(?:total|current)?(?: ?number of)?(?: ?active)? ?resources(?: in use)?", re.IGNORECASE),
}
"""Labels that plainly count all of them: `Total number of locks`, `Number of resources`."""
MOST_ITEMS = 500
MOST_NAMES = 100
"""Names of SHOW LOCK/BRIEF that become facts, those with most locks (this project)."""
MOST_HOLDERS = 5
MOST_KINDS = 5
"""Beginnings of names that become facts, those with most locks (this project)."""
LISTED, BRIEF_LISTED = "SHOW LOCK", "SHOW LOCK/BRIEF"


@report(starts=START, provides=(LockSummaryItem, LockDatabase, ListedLocks, ListedQueue, ListedKind))
def read(report: Report) -> Iterator[LockSummaryItem | LockDatabase | ListedLocks | ListedQueue | ListedKind]:
    """Yield each figure of the summaries, the levels among them, how many locks were listed, and of which names."""
    found = _Found(report)
    yield from _brief(report, found)
    if not found.items and not found.blocks:
        if found.brief.rows:
            return
        if not found.echoed:
            raise NotThisReport
        report.problem("no figure was found below it: repeat SHOW LOCK/SUMMARY", 0)
        return
    if found.left:
        what = f"{len(found.left):,} lines of figures after the first {MOST_ITEMS} were not read"
        report.problem(f"{what}: upload each SHOW command in a file of its own", found.left[0])
    if found.items:
        report.tentative("of SHOW LOCK/SUMMARY only one heading is known; labels and figures are kept as printed")
    for index, group, label, value in found.items:
        yield LockSummaryItem(source=report.source(index), group=group, label=label, value=value)
    yield from _levels(report, found)
    if found.blocks:
        where = report.source(found.blocks[0], found.blocks[-1])
        many = float(len(found.blocks))
        yield LockSummaryItem(source=where, group=LISTED, label="locks listed", value=many)
        for which, count in sorted(found.copies.items()):
            yield LockSummaryItem(source=where, group=LISTED, label=f"locks listed: {which} copy", value=float(count))


def _brief(report: Report, found: "_Found") -> Iterator[LockSummaryItem | ListedLocks | ListedQueue | ListedKind]:
    """The locks of SHOW LOCK/BRIEF by the names of their roots."""
    rows = found.brief.rows
    if not rows:
        return
    if found.brief.left:
        what = f"{found.brief.left:,} locks after the first {len(rows):,} are not counted"
        report.problem(f"{what}: list WAITING or CONVERT alone", rows[-1][0])
    node = sda.node_in(report.before) or sda.node_in(report.lines[: rows[0][0]])
    where = report.source(rows[0][0], rows[-1][0])
    yield LockSummaryItem(source=where, group=BRIEF_LISTED, label="locks listed", value=float(len(rows)))
    for one in found.brief.names()[:MOST_NAMES]:
        yield ListedLocks(
            source=report.source(one.first, one.last),
            node=node,
            text=one.text,
            locks=one.locks,
            below=one.below,
            buckets=one.buckets,
            records=one.records,
            waiting=one.waiting,
            converting=one.converting,
        )
    for kind in found.brief.kinds()[:MOST_KINDS]:
        pid, most = kind.of.most_common(1)[0]
        yield ListedKind(
            source=report.source(kind.first, kind.last),
            node=node,
            prefix=kind.prefix,
            mode=kind.mode,
            locks=kind.locks,
            listed=len(rows),
            processes=len(kind.of),
            pid=pid,
            pid_locks=most,
        )
    for queue in found.brief.queues()[:MOST_NAMES]:
        yield ListedQueue(
            source=report.source(queue.first, queue.last),
            node=node,
            root=queue.root,
            text=queue.text,
            waiting=queue.waiting,
            converting=queue.converting,
            holding=len(queue.holders),
            holders=tuple(queue.holders[:MOST_HOLDERS]),
        )


def _levels(report: Report, found: "_Found") -> Iterator[LockDatabase]:
    """The numbers of all locks and all resources, where labels say so plainly and only once each."""
    for name, pattern in LEVELS.items():
        told = [(index, value) for index, _, label, value in found.items if pattern.fullmatch(label) and known(value)]
        if len({value for _, value in told}) == 1:
            index, value = told[0]
            level = LockDatabase(source=report.source(index), statistic="current")
            yield replace(level, locks=value) if name == "locks" else replace(level, resources=value)


class _Found:
    """What one walk over the lines found; claims the lines understood."""

    def __init__(self, report: Report) -> None:
        self.items: list[tuple[int, str, str, Reading]] = []
        self.blocks: list[int] = []
        self.copies: Counter[str] = Counter()
        self.brief = BriefListing()
        self.left: list[int] = []
        """Lines with figures beyond the most that are kept."""
        self.echoed = False
        group, default, outside = "", "SHOW LOCK/SUMMARY", False
        for index, line in enumerate(report.lines):
            if (command := sda.command_of(line)) is not None:
                resources = sda.is_command(command, "SH", "RES")
                outside = not resources and not sda.is_command(command, "SH", "LOC")
                self.echoed = self.echoed or not outside
                group, default = "", "SHOW RESOURCE/SUMMARY" if resources else "SHOW LOCK/SUMMARY"
                continue
            elif outside:
                continue
            elif BRIEF.match(line) or (len(line) <= 250 and self.brief.takes(index, line)):
                pass
            elif BLOCK.match(line):
                self.blocks.append(index)
            elif self.blocks and IN_BLOCK.match(line):
                self._copy(line)
            elif figures := pairs(line):
                if len(self.items) >= MOST_ITEMS:
                    self.left.append(index)
                    continue
                self.items += [(index, group or default, label, value) for label, value in figures]
            elif heading := heading_of(line):
                group = heading
            elif not is_dashes(line):
                continue
            report.claim(index)

    def _copy(self, line: str) -> None:
        if copy := COPY.search(line[:250]):
            self.copies[copy["which"]] += 1
