"""SHOW CLUSTER: the nodes of a cluster as one of them sees them.

Sample::

    View of Cluster from system ID 1043  node: ORKNEY            3-FEB-2021 09:14:22
    +-------------------------------+------------------+
    |            SYSTEMS            |     MEMBERS      |
    +--------+----------------------+---------+--------+
    |  NODE  |  HW_TYPE  | SOFTWARE |  STATUS | DIR_WT |
    +--------+-----------+----------+---------+--------+
    | ORKNEY | HP rx6600 | VMS V8.4 | MEMBER  |      2 |
    | SKYE   | AlphaSer  | VMS V8.3 | MEMBER  |      0 |
    +--------+-----------+----------+---------+--------+

By default there are NODE, SOFTWARE and STATUS [R, public captures of VAX V7.3]; a user may ADD fields in any order, so
columns are told by their heading words. `DIR_WT` is the node's weight as directory of locks (LOCKDIRWT) [S, help of the
utility]. Cells are as wide as their field and may be cut. A node with several circuits has lines without its name.

The frame is `+--+`, the line drawing of Unicode, or that of a terminal: then `q` and `x` stand for `-` and `|` once the
escape sequences are gone. Tentative where the bars of the rows do not stand below those of the heading, or where there
is no STATUS. The display says what the nodes run, not since when: it has no rates.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from collectors.facts.base import ABSENT, Reading
from collectors.facts.openvms import ClusterNode, Node
from collectors.layouts.vms import MOMENT, NODE, moment
from collectors.registry import NotThisReport, Report, reading, report

START = re.compile(r"^\s*View of Cluster from system ID\s{1,8}[0-9]{1,20}\s{1,8}node:\s{0,4}[A-Z0-9_$]", re.IGNORECASE)
TITLE = re.compile(
    rf"\s*View of Cluster from system ID\s+[0-9]{{1,20}}\s+node:\s*(?P<node>{NODE})(?![A-Z0-9_$])"
    rf"(?::{{0,2}}\s+(?P<at>{MOMENT}))?",
    re.IGNORECASE,
)
DRAWN = str.maketrans("│┃║¦─━═┌┐└┘├┤┬┴┼╔╗╚╝╠╣╦╩╬", "||||---" + "+" * 18)
"""Line drawing of Unicode → the signs of a plain terminal."""
VT_RULE = re.compile(r"\s*[lmtjkuvwnqx]*q{3}[lmtjkuvwnqx]*\s*")
"""A rule in the line drawing of a VT100 whose escape sequences are gone."""
RULE = re.compile(r"\s*[-+|=]*-{3}[-+|=]*\s*")
NAME = re.compile(NODE, re.IGNORECASE)
STATUS = re.compile(r"(?:BRK_)?(?:MEMBER|MEM|NEW|NON|REM|REMOVED)|", re.IGNORECASE)
WEIGHTS = ("DIR_WT", "LOCKDIRWT", "LCKDIRWT")
OTHERS = frozenset({"CL_EXP", "CL_QUORUM", "CL_VOTES", "CL_MEMBERS", "FORMED", "LAST_TRANSITION", "LPORT_NAME"})
"""Fields of boxes that tell nothing of single nodes."""
CLASSES = frozenset(
    ("SYSTEMS", "MEMBERS", "CIRCUITS", "CLUSTER", "CONNECTIONS", "COUNTERS", "CREDITS", "ERRORS", "LOCAL_PORTS")
)
LONGEST = 512
"""Characters: SHOW CLUSTER prints at most 511 in a line."""


@dataclass
class _View:
    """One screen: whose, of when, and its rows so far."""

    node: str
    title: int
    at: str
    columns: list[str] = field(default_factory=list)
    bars: list[int] = field(default_factory=list)
    other: bool = False
    """Whether the box at hand tells of the cluster as a whole, or of no node at all."""
    strict: bool = True
    rows: list[tuple[int, dict[str, str]]] = field(default_factory=list)
    corners: set[int] = field(default_factory=set)
    """Where the rules of a VT100 have their corners: an `x` there is a bar."""


@report(starts=START, provides=(ClusterNode, Node))
def read(report: Report) -> Iterator[ClusterNode | Node]:
    """Yield the node that looked, and the nodes that it saw."""
    views = _views(report)
    if not views:
        raise NotThisReport
    if not all(view.strict and all("STATUS" in cells for _, cells in view.rows) for view in views):
        report.tentative(
            "SHOW CLUSTER without its STATUS or with a frame that does not hold: upload it as it was printed"
        )
    for view in views:
        if not view.rows:
            report.problem("no node below the heading: cut off, repeat SHOW CLUSTER", view.title)
        at = moment(view.at)
        yield Node(source=report.source(view.title), name=view.node, at=at)
        for index, cells in view.rows:
            yield ClusterNode(
                source=report.source(index),
                node=view.node,
                name=cells["NODE"].upper(),
                hardware=cells.get("HW_TYPE") or None,
                software=cells.get("SOFTWARE") or None,
                status=cells.get("STATUS", "").upper() or None,
                at=at,
                lock_directory_weight=_weight(cells),
            )


def _weight(cells: dict[str, str]) -> Reading:
    return next((reading(cells[name]) for name in WEIGHTS if name in cells), ABSENT)


def _views(report: Report) -> list[_View]:
    """Walk over the lines once and claim those understood."""
    views: list[_View] = []
    for index, raw in enumerate(report.lines):
        line = raw.expandtabs()[:LONGEST].translate(DRAWN)
        if found := TITLE.match(line):
            views.append(_View(found["node"].upper(), index, found["at"] or ""))
        elif not views:
            continue
        elif VT_RULE.fullmatch(line):
            views[-1].corners |= {at for at, sign in enumerate(line) if sign not in "q "}
        elif not RULE.fullmatch(line) and not _line(report, views[-1], index, line):
            continue
        report.claim(index)
    return views


def _line(report: Report, view: _View, index: int, line: str) -> bool:
    """Take one line of a box; says whether it was understood."""
    if view.corners:
        line = "".join("|" if at in view.corners and sign == "x" else sign for at, sign in enumerate(line))
    text = line.strip()
    if not (text.startswith("|") and "|" in text[1:]):
        return False
    cells = [cell.strip() for cell in text.strip("|").split("|")] if text.endswith("|") else []
    words = {word for cell in cells for word in cell.upper().split()}
    if words and words <= CLASSES:
        return True
    if "NODE" in words and len(words) == len(cells) > 1:
        view.columns, view.bars, view.other = [cell.upper() for cell in cells], _bars(line), False
        return True
    if words & OTHERS:
        view.other = True
    if view.other:
        return True
    if not view.columns:
        return False
    return _row(report, view, index, cells, _bars(line))


def _row(report: Report, view: _View, index: int, cells: list[str], bars: list[int]) -> bool:
    if len(cells) != len(view.columns):
        report.problem("the row does not have the columns of its heading, left out: repeat SHOW CLUSTER", index)
        return False
    named = dict(zip(view.columns, cells, strict=True))
    if not named["NODE"]:
        return True  # one more circuit or connection of the node above
    if not NAME.fullmatch(named["NODE"]) or not STATUS.fullmatch(named.get("STATUS", "")):
        report.problem("the row names no node or no status that there is, left out: repeat SHOW CLUSTER", index)
        return False
    view.strict = view.strict and bars == view.bars
    view.rows.append((index, named))
    return True


def _bars(line: str) -> list[int]:
    return [at for at, sign in enumerate(line) if sign == "|"]
