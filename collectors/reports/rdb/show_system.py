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
its rest indented deeper (rdb-formats.md 6 [V]). SHOW is of one node alone: a file may hold the displays of several. A
database without users has no line of users, and a node that says `no databases are open` is a fact as good as one that
has some: that it is open nowhere else is known from such nodes alone. How that line is worded is not known, so any
sentence of that kind counts.

RMU/SHOW USERS with a root file has, in Rdb 7.0, no heading and so no node (openvms-rdb-more.md 2.2 [V])::

    database DISK1:[USER]MF_PERSONNEL.RDB;1
        - First opened 24-MAY-1996 08:41:29.71
        - 3 active database users
        - 24404893:1 - RDMLS - non-utility, RDBVMS - active user
            - image DSA1:[SYS4.SYSCOMMON.][SYSEXE]RDMALS70.EXE;811

Servers of Rdb itself are counted among the users. Each user is a fact of its own, by which other displays are told who
a PID is.

A node that is in no cluster answers SHOW CLUSTER by a message, which counts where it stands beside the display of one
node alone. Its wording is not known, so any message of SHOW that says so counts::

    %SHOW-CLUSTER-I-NOTMEM, this node is not a cluster member

RMU/DUMP/USERS lists the users of all nodes (`Active user with process ID …`). Its layout is recalled [R], so what is
counted there is tentative; it names no node.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from collectors.facts.base import ABSENT, Reading
from collectors.facts.rdb import AttachedProcess, DatabaseUse, NodeDatabases
from collectors.layouts.vms import MOMENT, moment
from collectors.registry import NotThisReport, Report, report

PID = "[0-9A-F]{8}"
START = re.compile(
    r"^\s{0,8}Oracle Rdb [VXT][0-9][\w.-]{0,15} on node [A-Z0-9_$]{1,15}\b"
    rf"|^\s{{0,8}}Active user with process ID {PID}\s*$"
    rf"|^\s{{0,40}}[-*] First opened {MOMENT}",
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
OPENED_FIRST = re.compile(rf"\s{{0,40}}[-*] First opened {MOMENT}", re.IGNORECASE)
BY_OPERATOR = re.compile(r"database is opened by an operator\b", re.IGNORECASE)
USERS = re.compile(r"(?P<count>[0-9,]{1,9}|no) active database users?\b", re.IGNORECASE)
NO_DATABASE = re.compile(
    r"\s{0,40}(?:[-*] |%RMU-[A-Z]-[A-Z]{1,15}, )?(?:there (?:are|is) )?no (?:Oracle )?(?:Rdb )?databases?\b.{0,40}"
    r"\b(?:open|opened|accessed|active|in use)\b",
    re.IGNORECASE,
)
NO_MEMBER = re.compile(
    r"\s{0,8}%SHOW[A-Z-]{0,20}-[IWEF]-[A-Z]{1,15},.{0,60}\bnot (?:currently )?(?:a |an )?(?:member of (?:a |the )?)?"
    r"(?:VMS|OpenVMS )?cluster\b",
    re.IGNORECASE,
)
COMMAND = re.compile(r"\bRMU\s?/\s?SHOW?\s{0,3}/?(?P<what>SYS|US)(?:TEM|ERS?)?\b", re.IGNORECASE)
SERVER = re.compile(
    r"image\s(?:name\s)?(?:is\s)?\"?\S{0,255}(?:\bRDM(?:ABS|ALS|DBR|LCS|LRS|RCS|[A-Z$_]{0,12}SERVER)[0-9]{0,4}"
    r"|\bSYSEXE[\]>]RDM[A-Z$_]{2,20}[0-9]{2,4})\.EXE\b",
    re.IGNORECASE,
)
"""A process of Rdb's own: writer or backup of the journal, recovery, row cache, servers of a hot standby.

The names are those of the logical names of their logs, RDM$BIND_ABS_LOG_FILE and the like (RMU Reference Manual, Show
Logical_Names). Of other images those in SYS$SYSTEM with Rdb's facility name and a release: no program of a user is.
"""
SERVER_ACTIVE = re.compile(r".{0,40}\bserver\"?(?: process)?\"? is active\b", re.IGNORECASE)
"""RMU/SHOW SYSTEM lists no users, but names the servers that it counts among them."""
LOG_SERVER = re.compile(r"\bAIJ Log Server\b|\bRDMALS[0-9]{0,4}\.EXE\b", re.IGNORECASE)
USER = re.compile(
    rf"(?P<pid>{PID}):(?:[0-9]{{1,5}}|\*\*)\s{{1,3}}-\s{{1,3}}(?P<process>\S.{{0,40}}?)(?:\s-\s(?:non-)?utility)?,\s{{1,3}}"
    r"(?P<user>[^\s,]{1,31})\s-\s",
    re.IGNORECASE,
)
IMAGE = re.compile(r"image\s(?:name\s)?(?:is\s)?\"?(?P<image>[^\s\"]{1,255})", re.IGNORECASE)
SILENT = re.compile(
    rf"monitor log filename|current after-image journal file|{PID}(?::[0-9*]{{1,5}})?\s|image\s"
    r"|.{0,40}\bserver(?: process)?\W? is (?:active|not active|inactive|enabled|disabled)\b|restricted access|monitor\s"
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
MONITOR = re.compile(r"\s{1,20}Monitor ID is (?P<id>[0-9]{1,5})\s*$", re.IGNORECASE)
NAMED = re.compile(r"\*\s{0,20}Database: {1,4}(?P<root>\S.{0,254})$", re.IGNORECASE)
BANNER = re.compile(
    rf"\*\s{{0,8}}Oracle Rdb (?P<release>[VXT][0-9][\w.-]{{0,15}})(?:\s{{1,60}}(?P<at>{MOMENT}))?\s*$", re.IGNORECASE
)
STARS = re.compile(r"\*[\s*-]*$|\*\s{0,8}Dump of Database (?:users|header)\b.{0,60}$", re.IGNORECASE)
MOST = 2_000
"""Databases kept of one file; a node has some dozens (this project's figure)."""
MOST_PROCESSES = 5_000
"""Processes kept of one file; a database has 2,032 users at most, some nodes many databases (this project's figure)."""
REMEDY = "repeat RMU/SHOW SYSTEM and upload all of it"
TENTATIVE = "the layout of RMU/DUMP/USERS is recalled: hold the number of users against the listing"


@dataclass
class _Node:
    """What one heading says."""

    release: str | None = None
    name: str | None = None
    at: datetime | None = None
    started: datetime | None = None
    first: int = 0
    """The line of the heading."""
    of_system: bool = False
    """Whether the command above it is RMU/SHOW SYSTEM, which lists all databases of the node."""
    none_open: int | None = None
    """The line that says that no database is open."""
    uses: list["_Use"] = field(default_factory=list)
    in_no_cluster: bool = False


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
    servers: int = 0
    """Listed as users."""
    servers_active: int = 0
    """Named as active, whether they are listed or not."""
    log_server: bool = False
    members: int = 0
    broken_off: bool = False
    """Whether its last line ends within brackets."""
    processes: list["_Process"] = field(default_factory=list)

    @property
    def without_servers(self) -> bool:
        """Whether its users are listed, all that were counted, and none is a server by name, though one is active."""
        names = [one.process.upper() for one in self.processes]
        return bool(names) and self.users == len(names) and not any(name.startswith("RDM") for name in names)

    @property
    def whole(self) -> bool:
        """Whether it was read to its end, as far as the lines tell."""
        return self.members > 0 and not self.broken_off


@dataclass
class _Process:
    """One user that is listed."""

    pid: str
    process: str
    user: str
    first: int
    last: int
    image: str | None = None


@dataclass
class _List:
    """The users that RMU/DUMP/USERS lists of one database."""

    root: str | None
    banner: re.Match[str] | None
    lines: list[int] = field(default_factory=list)
    servers: int = 0
    monitors: set[float] = field(default_factory=set)


@dataclass
class _Walk:
    """What the lines said so far."""

    report: Report
    node: _Node = field(default_factory=_Node)
    uses: list[_Use] = field(default_factory=list)
    open: _Use | None = None
    nodes: list[_Node] = field(default_factory=list)
    """One per heading."""
    of_system: bool = False
    """Whether the last command seen is RMU/SHOW SYSTEM."""
    lists: list["_List"] = field(default_factory=list)
    """Of RMU/DUMP/USERS, one per database."""
    root: str | None = None
    banner: re.Match[str] | None = None
    left_out: int = 0
    processes: int = 0
    """Kept of all databases."""
    in_no_cluster: bool = False
    """Whether a message says that the node is in no cluster; it does not name it."""


@report(starts=START, provides=(DatabaseUse, NodeDatabases, AttachedProcess))
def read(report: Report) -> Iterator[DatabaseUse | NodeDatabases | AttachedProcess]:
    """Yield one fact per database and node, user and node; of RMU/DUMP/USERS one per database."""
    walk = _Walk(report)
    _above(walk)
    index = 0
    while index < len(report.lines):
        index += _take(walk, index)
    if not (walk.uses or walk.nodes or walk.lists):
        raise NotThisReport
    without_servers = any(use.without_servers for use in walk.uses)
    for use in walk.uses:
        yield _fact(report, use, without_servers)
        yield from _attached(report, use)
    if walk.left_out:
        report.problem(f"{walk.left_out:,} more databases were left out: no node has so many, see the file")
    if len(walk.nodes) == 1:
        walk.nodes[0].in_no_cluster = walk.in_no_cluster
    for node in walk.nodes:
        if not node.uses and node.none_open is None:
            why = f"no database below the heading: none is open there, or it was cut off; {REMEDY}"
            report.problem(why, node.first)
        else:
            yield _of_node(report, node)
    if walk.lists:
        report.tentative(TENTATIVE)
    yield from (_listed(report, one) for one in walk.lists)


def _above(walk: _Walk) -> None:
    """RMU/DUMP/USERS names its database in stars above its first user, RMU/SHOW USERS on the line before."""
    before = walk.report.before
    commands = [found for line in before if (found := COMMAND.search(line))]
    walk.of_system = bool(commands) and commands[-1]["what"].upper() == "SYS"
    for back, line in enumerate(reversed(before), 1):
        if NO_MEMBER.match(line):
            walk.in_no_cluster, walk.report.above = True, back
            break
    if OPENED_FIRST.match(walk.report.lines[0]):
        _database_above(walk)
        return
    for back, line in enumerate(reversed(before), 1):
        named, banner = NAMED.match(line), BANNER.match(line)
        if not (named or banner or STARS.match(line) or not line.strip()):
            return
        walk.root = named["root"].strip() if named else walk.root
        walk.banner = banner or walk.banner
        if line.strip():
            walk.report.above = max(walk.report.above, back)


def _database_above(walk: _Walk) -> None:
    """Open the database that is named above the first line, in one line or broken into two."""
    lines = list(walk.report.before)
    for back in (1, 2):
        if len(lines) < back:
            return
        if found := DATABASE.match(lines[-back].rstrip()):
            rest = lines[-1].strip() if back == 2 else ""
            if " " not in rest:
                _open(walk, -back, -1, found["root"].rstrip() + rest)
                walk.report.above = max(walk.report.above, back)
            return


def _take(walk: _Walk, index: int) -> int:
    """Take what begins on this line; gives how many lines it took."""
    line = walk.report.lines[index].rstrip()
    taken = 1
    if found := HEADING.match(line):
        at = moment(found["at"] or "")
        walk.node = _Node(found["release"].upper(), found["node"].upper(), at, first=index, of_system=walk.of_system)
        walk.open = None
        walk.nodes.append(walk.node)
    elif NO_DATABASE.match(line) and walk.node.name and not walk.node.uses:
        walk.node.none_open = index
    elif found := DATABASE.match(line):
        root, taken = _joined(walk.report, index, found["root"].rstrip())
        _open(walk, index, index + taken - 1, root)
    elif found := DUMPED.match(line):
        if not walk.lists or (walk.lists[-1].root, walk.lists[-1].banner) != (walk.root, walk.banner):
            walk.lists.append(_List(walk.root, walk.banner))
        walk.lists[-1].lines.append(index)
    elif walk.lists and (found := MONITOR.match(line)):
        walk.lists[-1].monitors.add(float(found["id"]))
    elif found := BANNER.match(line):
        walk.banner = found
    elif found := NAMED.match(line):
        walk.root = found["root"].strip()
    elif bullet := BULLET.match(line):
        text, taken = _joined(walk.report, index, bullet["text"].rstrip())
        if not _member(walk, text):
            return 1
        _process(walk, text, index, index + taken - 1)
        if walk.open:
            walk.open.last = index + taken - 1
            walk.open.members += 1
            walk.open.broken_off = text.count("(") > text.count(")")
    elif NO_MEMBER.match(line):
        walk.in_no_cluster = True
    elif found := COMMAND.search(line):
        walk.of_system = found["what"].upper() == "SYS"
    elif walk.lists and OF_USER.match(line):
        walk.lists[-1].servers += SERVER.search(line) is not None
    elif not STARS.match(line):
        return 1
    walk.report.claim(index, index + taken - 1)
    return taken


def _open(walk: _Walk, first: int, last: int, root: str) -> None:
    walk.open = _Use(walk.node, root, first, last)
    walk.node.uses.append(walk.open)
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
    if use and LOG_SERVER.search(text) and (SERVER.match(text) or SERVER_ACTIVE.match(text)):
        use.log_server = True
    if found := STARTED.match(text):
        walk.node.started = moment(found["at"])
    elif use and (found := OPENED.match(text)):
        use.opened = moment(found["at"])
    elif use and BY_OPERATOR.match(text):
        use.by_operator = True
    elif use and (found := USERS.match(text)):
        use.users = 0.0 if found["count"].lower() == "no" else float(found["count"].replace(",", ""))
    elif use and SERVER.match(text):
        use.servers += 1
    elif use and SERVER_ACTIVE.match(text):
        use.servers_active += 1
    else:
        return SILENT.match(text) is not None
    return True


def _process(walk: _Walk, text: str, first: int, last: int) -> None:
    """Keep a user, or the image of the one above."""
    use = walk.open
    if use is None:
        return
    if (found := USER.match(text)) and walk.processes < MOST_PROCESSES:
        walk.processes += 1
        use.processes.append(_Process(found["pid"].upper(), found["process"], found["user"], first, last))
    elif (found := IMAGE.match(text)) and use.processes and use.processes[-1].image is None:
        use.processes[-1].image, use.processes[-1].last = found["image"], last


def _attached(report: Report, use: _Use) -> Iterator[AttachedProcess]:
    for one in use.processes:
        yield AttachedProcess(
            source=report.source(one.first, one.last),
            database=use.root,
            node=use.node.name,
            pid=one.pid,
            process=one.process,
            user=one.user,
            image=one.image,
        )


def _listed(report: Report, one: _List) -> DatabaseUse:
    banner = one.banner
    return DatabaseUse(
        source=report.source(one.lines[0], one.lines[-1]),
        database=one.root,
        release=banner["release"].upper() if banner else None,
        at=moment(banner["at"] or "") if banner else None,
        active_users=float(len(one.lines)),
        servers=one.servers,
        cluster_wide=True,
        monitors=tuple(sorted(one.monitors)),
    )


def _of_node(report: Report, node: _Node) -> NodeDatabases:
    """What a node has open; all of it where it has none, several, or was asked for all."""
    last = node.uses[-1].last if node.uses else node.none_open
    every = node.none_open is not None or node.of_system or len(node.uses) > 1
    return NodeDatabases(
        source=report.source(node.first, last),
        node=node.name or "",
        at=node.at,
        databases=tuple(use.root for use in node.uses),
        complete=every and all(use.whole for use in node.uses),
        in_no_cluster=node.in_no_cluster,
    )


def _fact(report: Report, use: _Use, without_servers: bool) -> DatabaseUse:
    """`without_servers`: one list of the file shows that its counts are of users alone."""
    if not use.whole:
        report.problem(f"no number of users below {use.root[:120]}: cut off there, {REMEDY}", use.first)
    told = use.users is not ABSENT or (use.whole and use.members > 1)
    return DatabaseUse(
        source=report.source(use.first, use.last),
        database=use.root,
        node=use.node.name,
        release=use.node.release,
        at=use.node.at,
        monitor_started=use.node.started,
        opened=use.opened,
        opened_by_operator=True if use.by_operator else (False if told else None),
        active_users=use.users,
        servers=max(use.servers, 0 if without_servers else use.servers_active),
        servers_listed=use.servers,
        log_server=use.log_server,
    )
