"""RMU/SHOW SYSTEM, RMU/SHOW USERS, RMU/DUMP/USERS: which databases of Oracle Rdb are open where, by how many users.

Sample::

    Oracle Rdb V7.2-501 on node BARRA  3-FEB-2021 09:14:22.07
        - monitor started  1-FEB-2021 02:00:11.40 (uptime 2 07:14:10)
    database DISK$LEDGER:[LEDGER]LEDGER.RDB;1
      - first opened  1-FEB-2021 05:58:03.12 (elapsed 2 03:16:18)
      * database is opened by an operator
      - current after-image journal file is DISK$AIJ:[LEDGER.JOURNALS]LEDGER_
             JOURNAL_04.AIJ;1
      - 84 active database users

Each database has an indent of its own, bullets are `-` or `*`, and a file name is broken at column 80 without a blank,
its rest indented deeper (rdb-formats.md 6 [V]). SHOW is of one node alone: a file may hold the displays of several.

RMU/DUMP/USERS lists the users of all nodes (`Active user with process ID …`). Its layout is recalled [R], so what is
counted there is tentative; it names no node.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from collectors.facts.base import ABSENT, Reading
from collectors.facts.rdb import DatabaseUse
from collectors.kit import NotThisReport, Report, report
from collectors.layouts.vms import MOMENT, moment

PID = "[0-9A-F]{8}"
START = re.compile(
    r"^\s{0,8}Oracle Rdb [VXT][0-9][\w.-]{0,15} on node [A-Z0-9_$]{1,15}\b"
    rf"|^\s{{0,8}}Active user with process ID {PID}\s*$",
    re.IGNORECASE,
)
HEADING = re.compile(
    r"\s{0,8}Oracle Rdb (?P<release>[VXT][0-9][\w.-]{0,15}) on node (?P<node>[A-Z0-9_$]{1,15})"
    rf"(?:::)?(?:\s{{1,40}}(?P<at>{MOMENT}))?\s*$",
    re.IGNORECASE,
)
DATABASE = re.compile(r"\s{0,20}database (?P<root>\S.{0,254})$", re.IGNORECASE)
BULLET = re.compile(r"\s{0,40}[-*] (?P<text>\S.{0,400})$")
STARTED = re.compile(rf"monitor started\s{{1,3}}(?P<at>{MOMENT})", re.IGNORECASE)
OPENED = re.compile(rf"first opened\s{{1,3}}(?P<at>{MOMENT})", re.IGNORECASE)
BY_OPERATOR = re.compile(r"database is opened by an operator\b", re.IGNORECASE)
USERS = re.compile(r"(?P<count>[0-9,]{1,9}|no) active database users?\b", re.IGNORECASE)
NO_DATABASE = re.compile(r"(?:there are )?no databases? (?:is |are )?(?:open|accessed|active)", re.IGNORECASE)
SILENT = re.compile(
    rf"monitor log filename|current after-image journal file|{PID}(?::[0-9*]{{1,5}})?\s|image\s"
    r"|.{0,40}\bserver(?: process)? is (?:active|not active|inactive|enabled|disabled)\b|restricted access|monitor\s"
    r"|after-image (?:journaling|backup)\b|global buffer|row cache|shared memory|access restricted",
    re.IGNORECASE,
)
"""Members that are known and say nothing of who uses a database."""
DUMPED = re.compile(rf"\s{{0,8}}Active user with process ID (?P<pid>{PID})\s*$", re.IGNORECASE)
OF_USER = re.compile(
    r"\s{1,20}(?:Stream ID is|Monitor ID is|Transaction|Recovery journal|Read|Last|No transaction|Snapshot|Current|"
    r"Process name|User name|Image)\b.{0,200}$",
    re.IGNORECASE,
)
NAMED = re.compile(r"\*\s{0,20}Database: {1,4}(?P<root>\S.{0,254})$", re.IGNORECASE)
BANNER = re.compile(
    rf"\*\s{{0,8}}Oracle Rdb (?P<release>[VXT][0-9][\w.-]{{0,15}})(?:\s{{1,60}}(?P<at>{MOMENT}))?\s*$", re.IGNORECASE
)
STARS = re.compile(r"\*[\s*-]*$|\*\s{0,8}Dump of Database (?:users|header)\b.{0,60}$", re.IGNORECASE)
MOST = 2_000
"""Databases kept of one file; a node has some dozens (this project's figure)."""
REMEDY = "repeat RMU/SHOW SYSTEM and bring all of it"
TENTATIVE = "the layout of RMU/DUMP/USERS is recalled: hold the number of users against the listing"


@dataclass
class _Node:
    """What one heading says."""

    release: str | None = None
    name: str | None = None
    at: datetime | None = None
    started: datetime | None = None


@dataclass
class _Use:
    """One database below a heading."""

    node: _Node
    root: str
    first: int
    last: int
    opened: datetime | None = None
    by_operator: bool = False
    users: Reading = ABSENT


@dataclass
class _List:
    """The users that RMU/DUMP/USERS lists of one database."""

    root: str | None
    banner: re.Match[str] | None
    lines: list[int] = field(default_factory=list)


@dataclass
class _Walk:
    """What the lines said so far."""

    report: Report
    node: _Node = field(default_factory=_Node)
    uses: list[_Use] = field(default_factory=list)
    open: _Use | None = None
    empty: list[int] = field(default_factory=list)
    """Headings below which no database stands."""
    none_open: bool = False
    """Whether a display says that no database is open."""
    lists: list["_List"] = field(default_factory=list)
    """Of RMU/DUMP/USERS, one per database."""
    root: str | None = None
    banner: re.Match[str] | None = None
    left_out: int = 0


@report(starts=START, provides=(DatabaseUse,))
def read(report: Report) -> Iterator[DatabaseUse]:
    """Yield one fact per database and node; of RMU/DUMP/USERS one per database."""
    walk = _Walk(report)
    _above(walk)
    index = 0
    while index < len(report.lines):
        index += _take(walk, index)
    if not (walk.uses or walk.empty or walk.lists or walk.none_open):
        raise NotThisReport
    for use in walk.uses:
        yield _fact(report, use)
    if walk.left_out:
        report.problem(f"{walk.left_out:,} more databases were left out: no node has so many, see the file")
    for at in walk.empty:
        report.problem(f"no database below the heading: none is open there, or it was cut off; {REMEDY}", at)
    if walk.lists:
        report.tentative(TENTATIVE)
    yield from (_listed(report, one) for one in walk.lists)


def _above(walk: _Walk) -> None:
    """RMU/DUMP/USERS names its database in stars above its first user."""
    for back, line in enumerate(reversed(walk.report.before), 1):
        named, banner = NAMED.match(line), BANNER.match(line)
        if not (named or banner or STARS.match(line) or not line.strip()):
            return
        walk.root = named["root"].strip() if named else walk.root
        walk.banner = banner or walk.banner
        if line.strip():
            walk.report.above = back


def _take(walk: _Walk, index: int) -> int:
    """Take what begins on this line; gives how many lines it took."""
    line = walk.report.lines[index].rstrip()
    taken = 1
    if found := HEADING.match(line):
        walk.node = _Node(found["release"].upper(), found["node"].upper(), moment(found["at"] or ""))
        walk.open = None
        walk.empty.append(index)
    elif found := DATABASE.match(line):
        root, taken = _joined(walk.report, index, found["root"].rstrip())
        _open(walk, index, index + taken - 1, root)
    elif found := DUMPED.match(line):
        if not walk.lists or (walk.lists[-1].root, walk.lists[-1].banner) != (walk.root, walk.banner):
            walk.lists.append(_List(walk.root, walk.banner))
        walk.lists[-1].lines.append(index)
    elif found := BANNER.match(line):
        walk.banner = found
    elif found := NAMED.match(line):
        walk.root = found["root"].strip()
    elif bullet := BULLET.match(line):
        text, taken = _joined(walk.report, index, bullet["text"].rstrip())
        if not _member(walk, text):
            return 1
        if walk.open:
            walk.open.last = index + taken - 1
    elif not STARS.match(line) and not (walk.lists and OF_USER.match(line)):
        return 1
    walk.report.claim(index, index + taken - 1)
    return taken


def _open(walk: _Walk, first: int, last: int, root: str) -> None:
    walk.open = _Use(walk.node, root, first, last)
    if walk.empty and walk.empty[-1] < first:
        walk.empty.pop()
    if len(walk.uses) < MOST:
        walk.uses.append(walk.open)
    else:
        walk.left_out += 1


def _joined(report: Report, index: int, text: str) -> tuple[str, int]:
    """A text with the rest of a file name that was broken off, and the lines it took.

    What was broken off stands on the next line, deeper and without a bullet, and ends the name: `.AIJ;1`.
    """
    taken = 1
    indent = len(report.lines[index]) - len(report.lines[index].lstrip())
    if not (re.search(r"[\[:.]", text) and index + 1 < len(report.lines)):
        return text, taken
    line = report.lines[index + 1].rstrip()
    rest = line.strip()
    if len(line) - len(line.lstrip()) > indent and not BULLET.match(line) and " " not in rest and rest:
        return text + rest, 2
    return text, taken


def _member(walk: _Walk, text: str) -> bool:
    """Take one member; `False` for one that is not known."""
    use = walk.open
    if found := STARTED.match(text):
        walk.node.started = moment(found["at"])
    elif NO_DATABASE.match(text) and walk.empty:
        walk.none_open = True
        walk.report.problem(f"no database is open on {walk.node.name}", walk.empty.pop())
    elif use and (found := OPENED.match(text)):
        use.opened = moment(found["at"])
    elif use and BY_OPERATOR.match(text):
        use.by_operator = True
    elif use and (found := USERS.match(text)):
        use.users = 0.0 if found["count"].lower() == "no" else float(found["count"].replace(",", ""))
    else:
        return SILENT.match(text) is not None
    return True


def _listed(report: Report, one: _List) -> DatabaseUse:
    banner = one.banner
    return DatabaseUse(
        source=report.source(one.lines[0], one.lines[-1]),
        database=one.root,
        release=banner["release"].upper() if banner else None,
        at=moment(banner["at"] or "") if banner else None,
        active_users=float(len(one.lines)),
        cluster_wide=True,
    )


def _fact(report: Report, use: _Use) -> DatabaseUse:
    if use.users is ABSENT:
        report.problem(f"no number of users below {use.root[:120]}: cut off there, {REMEDY}", use.first)
    whole = use.users is not ABSENT
    return DatabaseUse(
        source=report.source(use.first, use.last),
        database=use.root,
        node=use.node.name,
        release=use.node.release,
        at=use.node.at,
        monitor_started=use.node.started,
        opened=use.opened,
        opened_by_operator=True if use.by_operator else (False if whole else None),
        active_users=use.users,
    )
