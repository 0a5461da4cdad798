"""LCKQUE.COM of KP_LOCKTOOLS: the lock resources that processes wait for, node by node.

As the procedure writes it (its source is known [S]; the names are made up)::

    Time: 10:14

    -----  ORKNEY:  -----

    'RMS$.......DATA        ' 2020202020202020415441440002000002D1EF24534D52
        RMS lock tree for file [184815,2,0] on volume DATA
        File specification: DISK$DATA:[SHOP]ORDERS.DAT;12
     '!...' 00000421
       RMS bucket lock, on bucket starting at VBN 1057
      Convert queue: 0, Wait queue: 7

Parents come before the resource that is waited for, and the number of blanks before a name is its depth. Two blanks
right below a file of RMS are read as one where the next line, or the one behind its queues, says that it is a bucket or
a record, and right below a volume of the file system where it says that it is a file: those are never deeper, and the
file or volume is all that tells them (knowledge 1.3: the depth is a count of blanks). A parent may have a line of
queues too, with words in place of figures. The line with the file's name is read behind the queues, too. `Time:` has no
date; the procedure shows the file and ends with a line of `=` around `All done.`, which the file itself has not. A node
without queues is not named. The same resource may be listed by its master and by a node that waits [I], so figures of
several nodes are never added.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from collectors.facts.base import ABSENT, Reading
from collectors.facts.openvms import LockQueue, LockQueues
from collectors.layouts.figures import reading
from collectors.layouts.lock_names import DECODED, FAILED, FILE, name_of, own_order
from collectors.registry import NotThisReport, Report, report

START = re.compile(
    r"^Gathering lock queues from all cluster nodes|^-----  [A-Z0-9$_]{1,15} {0,14}:  -----\s*$"
    r"|^Time: [0-9]{2}:[0-9]{2}\s*$"
)
HEAD = re.compile(r"Gathering lock queues from all cluster nodes")
CLOCK = re.compile(r"Time: (?P<clock>[0-9]{2}:[0-9]{2})\s*$")
NODE = re.compile(r"-----  (?P<node>[A-Z0-9$_]{1,15}) {0,14}:  -----\s*$")
NAME = re.compile(r"(?P<depth> {0,63})'(?P<text>.{1,32})' (?P<digits>(?:[0-9A-F]{2}){1,32})\s*$")
IN_FILE = re.compile(
    r"\s{1,64}(?:RMS (?:bucket lock, on bucket|record lock, on RFA)|Files-11 File Serialization lock) "
)
QUEUES = re.compile(
    r"\s{0,64}Convert queue: {0,12}(?P<converting>\(?[A-Za-z0-9]{1,12}), "
    r"Wait queue: {0,12}(?P<waiting>[A-Za-z0-9:)]{1,12})\s*$"
)
STEPS = re.compile(r"Post-processing data\.\.\.\s*$")
DONE = re.compile(r"={3,60} {1,3}All done\. {1,3}={3,60}\s*$")
MOST = 500
"""Queues of a report that become facts (this project)."""
OWN_FILE = re.compile(r"LCKQUE", re.IGNORECASE)


@dataclass
class _Run:
    """One report."""

    first: int
    last: int
    clock: str | None = None
    nodes: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    queues: list[LockQueue] = field(default_factory=list)
    count: int = 0
    shown: bool = False
    """Whether it is what the procedure shows, which has an end."""
    done: bool = False
    left_out: bool = False
    """Whether a resource of it could not be read."""


@report(starts=START, provides=(LockQueues, LockQueue))
def read(report: Report) -> Iterator[LockQueues | LockQueue]:
    """Yield what each report covers and the queues in it."""
    walk = _Walk(report)
    for index, line in enumerate(report.lines):
        if len(line) <= 400 and walk.takes(index, line):
            report.claim(index)
    runs = [run for run in walk.runs if run.count or run.failed or run.shown or OWN_FILE.search(report.file)]
    if not runs:
        raise NotThisReport
    for run in runs:
        number = report.source(run.first).first
        if run.shown and not run.done:
            report.problem("its end (All done.) is missing: queues may be missing, too; upload it whole", run.last)
        if run.count > len(run.queues):
            report.problem(f"{run.count - len(run.queues):,} queues after the first {MOST} are counted alone", run.last)
        yield LockQueues(
            source=report.source(run.first, run.last),
            report=number,
            clock=run.clock,
            nodes=tuple(dict.fromkeys(run.nodes)),
            failed=tuple(dict.fromkeys(run.failed)),
            queues=run.count,
            whole=(run.done or not run.shown) and not run.left_out,
        )
        for queue in run.queues:
            yield LockQueue(
                source=queue.source,
                node=queue.node,
                report=number,
                path=queue.path,
                converting=queue.converting,
                waiting=queue.waiting,
                file=queue.file,
            )


class _Walk:
    """Goes over the lines once."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self.runs: list[_Run] = []
        self.node: str | None = None
        self.path: list[bytes] = []
        self.file: str | None = None
        self.at = 0
        self.is_part = False
        """Whether the name read last is a part of a file that stands two blanks to the right of it."""
        self.behind = -1
        """The last line of queues that was taken."""

    def takes(self, index: int, line: str) -> bool:
        """Take one line; returns whether it is understood."""
        if HEAD.match(line):
            self._begin(index).shown = True
        elif clock := CLOCK.match(line):
            run = self.runs[-1] if self.runs and self.runs[-1].clock is None else self._begin(index)
            run.clock = clock["clock"]
        elif node := NODE.match(line):
            self._run(index).nodes.append(node["node"])
            self.node, self.path, self.file = node["node"], [], None
        elif failed := FAILED.match(line):
            self._run(index).failed.append(failed["node"])
        elif DONE.match(line) and self.runs:
            self.runs[-1].done = True
        elif STEPS.match(line) and self.runs:
            pass
        elif self.node is None:
            return False
        elif found := NAME.match(line):
            return self._name(index, found)
        elif found := QUEUES.match(line):
            self._queues(index, found)
        elif found := FILE.match(line):
            self._file(index, found["file"].rstrip() if found["file"] else None)
        else:
            return bool(DECODED.match(line)) or not line.strip()
        if self.runs:
            self.runs[-1].last = index
        return True

    def _begin(self, index: int) -> _Run:
        self.runs.append(_Run(index, index))
        self.node, self.path, self.file = None, [], None
        return self.runs[-1]

    def _run(self, index: int) -> _Run:
        return self.runs[-1] if self.runs else self._begin(index)

    def _name(self, index: int, found: re.Match[str]) -> bool:
        name, depth = name_of(found["digits"], found["text"]), len(found["depth"])
        is_part = (len(self.path) == 1 or (len(self.path) == 2 and self.is_part)) and self.path[0].startswith(
            (b"RMS$", b"F11B$v")
        )
        self.is_part = depth == 2 and is_part and self._is_in_file(index)
        depth -= self.is_part
        if name is None or depth > len(self.path):
            self.report.problem("a resource without its parents, or with a name that is cut: left out", index)
            self._run(index).left_out = True
            self.path = []
            return True
        if depth == 0:
            self.file = None
        self.path = [*self.path[:depth], name]
        self.at = index
        return True

    def _is_in_file(self, index: int) -> bool:
        """Whether what was decoded of this name, before or behind its line of queues, is a part of a file."""
        below = self.report.lines[index + 1 : index + 3]
        return bool(below and (IN_FILE.match(below[0]) or (QUEUES.match(below[0]) and any(map(IN_FILE.match, below)))))

    def _file(self, index: int, name: str | None) -> None:
        """The file of what is below; right behind a line of queues that of the resource above it."""
        self.file = name or self.file
        run = self.runs[-1] if self.runs else None
        if run and run.queues and run.last == index - 1 and self.behind == run.last and run.queues[-1].file is None:
            run.queues[-1] = replace(run.queues[-1], file=name)

    def _queues(self, index: int, found: re.Match[str]) -> None:
        converting, waiting = _number(found["converting"]), _number(found["waiting"])
        if not self.path or (converting is ABSENT and waiting is ABSENT):
            return  # a parent's line
        run = self._run(index)
        run.count += 1
        if len(run.queues) < MOST:
            self.behind = index
            run.queues.append(
                LockQueue(
                    source=self.report.source(self.at, index),
                    node=self.node,
                    path=tuple(own_order(one) for one in self.path),
                    converting=converting,
                    waiting=waiting,
                    file=self.file,
                )
            )


def _number(text: str) -> Reading:
    return reading(text) if text.isdigit() else ABSENT
