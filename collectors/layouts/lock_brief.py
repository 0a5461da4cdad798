"""The table of SDA's SHOW LOCK/BRIEF: one line for each lock, ranked by nothing.

Known is one real line of an Alpha system, in a comment of a program's source [S]; a waiting lock has a requested mode
(RQ) and may have none granted (GR). Locks are counted by the name of their root, which is found by the lock ids of
their parents as far as the listing has them. Of a resource that somebody waits for, who holds it is kept as well;
nothing else is of a listing that may have a million lines.
"""

import re
import sys
from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

HEADING = re.compile(r"\s{0,12}LKB Address\s{1,20}Lock ?id\s{1,12}Parent ?Id\s{1,12}PID\b", re.IGNORECASE)
MODE = r"(?:NL|CR|CW|PR|PW|EX)"
ADDRESS = r"[0-9A-F]{8}(?:\.?[0-9A-F]{8})?"
LINE = re.compile(
    rf"\s{{0,4}}{ADDRESS} {{1,4}}(?P<id>[0-9A-F]{{8}}) {{1,4}}(?P<parent>[0-9A-F]{{8}}) {{1,4}}(?P<pid>[0-9A-F]{{8}})"
    rf" {{1,4}}{ADDRESS} {{1,12}}[0-9A-F]{{1,10}} {{1,8}}(?P<modes>(?:{MODE} {{1,6}}){{0,2}})"
    rf"(?P<queue>Granted|Convert(?:ing)?|Waiting) {{1,6}}(?P<resource>{ADDRESS}) (?P<name>.{{0,31}}?)"
    r"(?: {1,12}(?:Kern|Exec|Supr?|User)[a-z]{0,6})?\s*$",
    re.IGNORECASE,
)
PREFIX = re.compile(r"[A-Za-z][A-Za-z$]{0,29}[_$]|[A-Za-z]{3,30}(?=[0-9])")
"""What names of a kind have in common: `SESS_` of `SESS_4711`, `JOB` of `JOB4711` (this project)."""
NOBODY = "00000000"
MOST_LOCKS = 1_000_000
BUCKET, RECORD = 4, 8
"""Bytes of the names below a file of RMS: a bucket by its block, a record by its address (openvms-rdb-more, 1.5)."""
DEEPEST = 32
"""Steps from a lock to its root that are followed: the manager allows 128 levels, real names have a few."""


@dataclass
class Name:
    """The locks of one root's name."""

    text: str
    first: int
    last: int
    locks: int = 0
    below: int = 0
    buckets: int = 0
    records: int = 0
    waiting: int = 0
    converting: int = 0


@dataclass
class Queue:
    """The locks of one resource that somebody waits for. `root` is the name of its root, `text` its own."""

    root: str
    text: str
    first: int
    last: int
    waiting: int = 0
    converting: int = 0
    holders: list[tuple[str, str]] = field(default_factory=list)
    """Process and mode of those that hold it in another mode than NL, in which nobody is in anybody's way."""


@dataclass
class Kind:
    """The listed locks whose names begin alike and that are granted in one mode."""

    prefix: str
    mode: str
    first: int
    last: int
    locks: int = 0
    of: Counter[str] = field(default_factory=Counter)
    """Locks by process."""


class Row(NamedTuple):
    """One line of the listing by its index, and what it says of a lock."""

    line: int
    lock: str
    parent: str
    queue: str
    name: str
    pid: str
    modes: str
    """`EX` of a granted lock, `EX PR` of one that is to be converted: requested, then granted."""
    resource: str


@dataclass
class BriefListing:
    """What was counted; lines are indices."""

    rows: list[Row] = field(default_factory=list)
    left: int = 0
    """Locks beyond the most that are counted."""

    def takes(self, index: int, line: str) -> bool:
        """Count one line; returns whether it is one of the table."""
        found = LINE.match(line)
        if found is None:
            return False
        if len(self.rows) >= MOST_LOCKS:
            self.left += 1
        else:
            name = found["name"].rstrip()
            lock, parent, queue = found["id"].upper(), found["parent"].upper(), sys.intern(found["queue"].lower())
            modes = sys.intern(" ".join(found["modes"].upper().split()))
            self.rows.append(Row(index, lock, parent, queue, name, found["pid"].upper(), modes, found["resource"]))
        return True

    def names(self) -> list[Name]:
        """By the name of the root, those with most locks first."""
        parents = self._parents()
        found: dict[str, Name] = {}
        for index, lock, parent, queue, name, *_ in self.rows:
            text = _root(lock, parents)
            one = found.setdefault(text, Name(text, index, index))
            one.first, one.last = min(one.first, index), max(one.last, index)
            one.locks += 1
            one.below += parent != NOBODY
            one.buckets += parent != NOBODY and len(name) == BUCKET
            one.records += parent != NOBODY and len(name) == RECORD
            one.waiting += queue == "waiting"
            one.converting += queue.startswith("convert")
        return sorted(found.values(), key=lambda one: (-one.locks, one.text))

    def kinds(self) -> list[Kind]:
        """By the letters that names of several begin with, most locks first; what no process has is of none."""
        found: dict[tuple[str, str], Kind] = {}
        for row in self.rows:
            begins = PREFIX.match(row.name)
            if row.queue != "granted" or row.pid == NOBODY or not begins:
                continue
            one = found.setdefault((begins[0], row.modes), Kind(begins[0], row.modes, row.line, row.line))
            one.last = row.line
            one.locks += 1
            one.of[row.pid] += 1
        several = [one for one in found.values() if one.locks > 1]
        return sorted(several, key=lambda one: (-one.locks, one.prefix, one.mode))

    def queues(self) -> list[Queue]:
        """Each resource that somebody waits for, that with most waiters first."""
        waited = {row.resource for row in self.rows if row.queue != "granted"}
        parents = self._parents() if waited else {}
        found: dict[str, Queue] = {}
        for row in self.rows:
            if row.resource not in waited:
                continue
            new = Queue(_root(row.lock, parents), row.name, row.line, row.line)
            one = found.setdefault(row.resource, new)
            one.first, one.last = min(one.first, row.line), max(one.last, row.line)
            one.waiting += row.queue == "waiting"
            one.converting += row.queue.startswith("convert")
            granted = row.modes.rpartition(" ")[2] if row.queue != "waiting" else ""
            if granted not in ("", "NL"):
                one.holders.append((row.pid, granted))
        return sorted(found.values(), key=lambda one: (-one.waiting - one.converting, one.text))

    def _parents(self) -> dict[str, tuple[str, str]]:
        return {row.lock: (row.parent, row.name) for row in self.rows}


def _root(lock: str, parents: dict[str, tuple[str, str]]) -> str:
    """The name of the topmost lock above this one that the listing has."""
    parent, name = parents[lock]
    for _ in range(DEEPEST):
        if parent == NOBODY or parent not in parents:
            break
        parent, name = parents[parent]
    return name
