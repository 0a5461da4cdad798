"""The table of SDA's SHOW LOCK/BRIEF: one line for each lock, ranked by nothing.

Known is one real line of an Alpha system, in a comment of a program's source [S]; a waiting lock has a requested mode
(RQ) and may have none granted (GR). Locks are counted by the name of their root, which is found by the lock ids of
their parents as far as the listing has them; nothing else is kept of a listing that may have a million lines.
"""

import re
from dataclasses import dataclass, field

HEADING = re.compile(r"\s{0,12}LKB Address\s{1,20}Lock ?id\s{1,12}Parent ?Id\s{1,12}PID\b", re.IGNORECASE)
MODE = r"(?:NL|CR|CW|PR|PW|EX)"
ADDRESS = r"[0-9A-F]{8}(?:\.?[0-9A-F]{8})?"
LINE = re.compile(
    rf"\s{{0,4}}{ADDRESS} {{1,4}}(?P<id>[0-9A-F]{{8}}) {{1,4}}(?P<parent>[0-9A-F]{{8}}) {{1,4}}[0-9A-F]{{8}}"
    rf" {{1,4}}{ADDRESS} {{1,12}}[0-9A-F]{{1,10}} {{1,8}}(?:{MODE} {{1,6}}){{0,2}}"
    rf"(?P<queue>Granted|Convert(?:ing)?|Waiting) {{1,6}}{ADDRESS} (?P<name>.{{0,31}}?)"
    r"(?: {1,12}(?:Kern|Exec|Supr?|User)[a-z]{0,6})?\s*$",
    re.IGNORECASE,
)
NOBODY = "00000000"
MOST_LOCKS = 1_000_000
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
    waiting: int = 0
    converting: int = 0


@dataclass
class BriefListing:
    """What was counted; lines are indices."""

    rows: list[tuple[int, str, str, str, str]] = field(default_factory=list)
    """Line, lock id, parent's id, queue, name."""
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
            self.rows.append((index, found["id"].upper(), found["parent"].upper(), found["queue"].lower(), name))
        return True

    def names(self) -> list[Name]:
        """By the name of the root, those with most locks first."""
        parents = {lock: (parent, name) for _, lock, parent, _, name in self.rows}
        found: dict[str, Name] = {}
        for index, lock, parent, queue, _ in self.rows:
            text = _root(lock, parents)
            one = found.setdefault(text, Name(text, index, index))
            one.first, one.last = min(one.first, index), max(one.last, index)
            one.locks += 1
            one.below += parent != NOBODY
            one.waiting += queue == "waiting"
            one.converting += queue.startswith("convert")
        return sorted(found.values(), key=lambda one: (-one.locks, one.text))


def _root(lock: str, parents: dict[str, tuple[str, str]]) -> str:
    """The name of the topmost lock above this one that the listing has."""
    parent, name = parents[lock]
    for _ in range(DEEPEST):
        if parent == NOBODY or parent not in parents:
            break
        parent, name = parents[parent]
    return name
