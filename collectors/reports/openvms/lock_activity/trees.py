"""The report of LOCK_ACTV.COM: a block for each tree."""

import re
from datetime import datetime

from collectors.facts.base import OVERFLOW, Reading, known
from collectors.layouts import vms
from collectors.layouts.lock_names import DECODED, FAILED, FILE, NODE_LONGEST, TIME, name_of
from collectors.registry import Report
from collectors.reports.openvms.lock_activity.runs import Run, Tree

HEAD = re.compile(r"Gathering lock rates from all cluster nodes")
TOTAL = re.compile(r"\s{1,12}Total:(?P<total>[ 0-9]{0,12}[0-9]|\*{7})\s*$")
NAME = re.compile(r"(?P<digits>(?:[0-9A-F]{2}){1,32}) (?P<text>.{1,32})$")
NODE = re.compile(
    rf" {{7}}(?P<master>[* ])(?P<node>[A-Z0-9$_][A-Z0-9$_ ]{{{NODE_LONGEST - 1}}})"
    r"(?P<rate>[ 0-9]{6}[0-9]|\*{7})\s*$"
)
"""By column: 7 blanks, the mark, 6 characters of name, 7 of figure."""
NODE_LOOSE = re.compile(r"\s{0,12}(?P<master>\*?) ?(?P<node>[A-Z0-9$_]{1,6})\s{1,12}(?P<rate>[0-9]{1,7})\s*$")
"""Where blanks were lost on the way, and name and figure do not touch."""
STEPS = re.compile(
    r"\s{0,4}(?:Preprocessing data\.\.\.|Sorting by .{1,60}\.\.\.|Summarizing lock activity .{0,40}\.\.\.)\s*$"
)
FOOT = re.compile(r"\s{0,12}\* Lock Master Node for the resource\s*$")
GENERATING = re.compile(r"\s{0,4}Generating report\.\.\.\s*$")
DONE = re.compile(r"\s{0,4}All done\.\s*$")


def read_reports(report: Report) -> list[Run]:
    """Each report of these lines; claims what it understands."""
    walk = _Walk(report)
    for index, line in enumerate(report.lines):
        if len(line) <= 250 and walk.takes(index, line):
            report.claim(index)
    walk.end_tree()
    runs = [run for run in walk.runs if run.trees or run.failed or run.whole]
    for run in runs:
        if not run.trees:
            report.problem("no lock tree is listed below it: run LOCK_ACTV.COM again", run.first)
        elif not run.whole:
            report.problem("its end (All done.) is missing: trees may be missing, too; upload it whole", run.last)
    return [run for run in runs if run.trees or run.failed]


class _Walk:
    """Goes over the lines once."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self.runs: list[Run] = []
        self.named: tuple[int, bytes] | None = None
        """A name whose total is still to come."""
        self.tree: Tree | None = None
        above = list(report.before)[-4:]
        self._above(above)
        self.time = next((at for line in reversed(above) if (at := _time(line))), None)
        self.gathering = False

    def _above(self, above: list[str]) -> None:
        """The name that stands above a total with which these lines begin, and the time above the head."""
        for back, line in enumerate(reversed(above), 1):
            if found := NAME.match(line):
                name = name_of(found["digits"], found["text"])
                self.named = (0, name) if name else None
                self.report.above = back if name else 0
                return
            if _time(line):
                self.report.above = back
            elif line.strip() and not DECODED.match(line):
                return

    def takes(self, index: int, line: str) -> bool:
        """Take one line; returns whether it is understood."""
        if HEAD.search(line):
            self.end_tree()
            self.runs.append(Run(index, index, self.time, whole=False))
            self.gathering = True
        elif at := _time(line):
            self.time = at
            if self.gathering and self.runs:
                self.runs[-1].at = at
        elif STEPS.match(line) or GENERATING.match(line):
            self.gathering = False
        elif FOOT.match(line):
            self.end_tree()
        elif DONE.match(line):
            self.end_tree()
            if not self.runs:
                return False
            self.runs[-1].last, self.runs[-1].whole = index, True
            self.time = None
        elif failed := FAILED.match(line):
            self._run(index).failed.append(failed["node"])
        else:
            return self._of_tree(index, line)
        return True

    def _of_tree(self, index: int, line: str) -> bool:
        if found := NAME.match(line):
            self.end_tree()
            name = name_of(found["digits"], found["text"])
            self.named = (index, name) if name else None
            return name is not None
        if found := TOTAL.match(line):
            if self.named is None and not self.runs:
                return False  # some other report's total
            if self.named is None:
                self.report.problem("a total without the name of its resource: upload the report whole", index)
                self.end_tree()
                return True
            first, name = self.named
            self.named = None
            self.tree = Tree(name, first, index, _figure(found["total"]))
            return True
        found = NODE.match(line) or NODE_LOOSE.match(line)
        if found and self.tree is not None:
            node = found["node"].strip()
            self.tree.rates[node] = _figure(found["rate"])
            self.tree.master = node if found["master"] == "*" else self.tree.master
            self.tree.last = index
            return True
        return bool((self.named or self.tree) and (DECODED.match(line) or FILE.match(line)))

    def end_tree(self) -> None:
        """Keep the tree that was read, where it is whole."""
        if self.named is not None:
            self.report.problem("a resource without its total: the report was cut here", self.named[0])
        tree, self.named, self.tree = self.tree, None, None
        if tree is None:
            return
        run = self._run(tree.first)
        run.last = tree.last
        if not tree.rates:
            self.report.problem("a total without its nodes: the report was cut here; tree left out", tree.first)
        elif not _adds_up(tree):
            self.report.problem(
                "the total is not the sum of its nodes: the tree is left out; upload it whole", tree.first
            )
        else:
            run.trees.append(tree)

    def _run(self, index: int) -> Run:
        if not self.runs:
            self.runs.append(Run(index, index, self.time, whole=False))
        return self.runs[-1]


def _adds_up(tree: Tree) -> bool:
    """Whether total and nodes agree to their rounding, half a request each; not told where one overflowed."""
    figures = [rate for rate in tree.rates.values() if known(rate)]
    if not known(tree.total) or len(figures) < len(tree.rates):
        return True
    return abs(sum(figures) - tree.total) <= 0.5 * (len(figures) + 1)


def _figure(text: str) -> Reading:
    return OVERFLOW if "*" in text else float(text.replace(" ", ""))


def _time(line: str) -> datetime | None:
    found = TIME.fullmatch(line[:60])
    return vms.moment(found["at"]) if found else None
