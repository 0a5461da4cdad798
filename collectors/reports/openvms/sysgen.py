"""System parameters as SYSGEN SHOW, SYSMAN PARAMETERS SHOW and SYSBOOT SHOW list them.

Sample::

    SYSGEN> SHOW LCKMGR_MODE
    Parameters in use: Active
    Parameter Name            Current    Default     Min.     Max.     Unit  Dynamic
    --------------            -------    -------    -------  -------   ----  -------
    LCKMGR_MODE                     6          0         0       255 CPUs        D
    LOCKIDTBL                   96000       3840      1792  16776959 Entries
    SCSNODE                  "ORKNEY"    "    "    "    "     "ZZZZ" Ascii
    SMP_SPINWAIT               100000     100000         12147483647 10 usec.    D

Of several nodes in one file each session (from `$ MCR SYSGEN` to EXIT) is of the node that its SCSNODE names, else of
that which a DBA wrote above it as a word or comment of one word (`! ORKNEY`, `ORKNEY>`), or at the prompt of SYSGEN
(`SYSGEN> ! ORKNEY, VMS V8.4-2L1, active`: then its release is read, too), or which the prompt of DCL names
(`ORKNEY$ MCR SYSGEN`), or after the word node in a comment that goes on with its machine and release
(`! node ORKNEY, HP rx6600, OpenVMS V8.4`). Where the call was cut off (`--- ORKNEY ---` above `SYSGEN> USE ACTIVE`),
the word is put on the rows below it and names their node where another export has one that is called so.

A parameter that is not listed was not asked for; nothing follows from it. No `D`: the change needs a reboot.
Maximum `-1`: no limit. Strings are blank padded; an empty one reads as the empty text. A set of CPUs (IO_PRCPU_BITMAP)
stands in brackets, `(0-7,9)`, or without, and reads as its text (recalled [M]); that it is a list is documented, so one
number is a CPU and no mask.

The column `Current` is the work area's value, whatever was last USEd. `USE ACTIVE` is what runs, `USE CURRENT` what the
next boot takes, `USE file` a parameter file. A line `USE ...`, SYSMAN's `Parameters in use: ...` or its message
`%SYSMAN-I-USEACTNOD, a USE ACTIVE has been defaulted` tells; without one the values are taken as the active ones, with
which SYSGEN and SYSMAN begin. `SET name value` changes the work area alone until `WRITE ACTIVE` (dynamic parameters) or
`WRITE CURRENT` (openvms-rdb-more.md 4 [V]).

Traps (openvms-formats.md d.7 [R]): the columns lie elsewhere on VAX and on Alpha, and neighbours touch
(`02147483647` is Min 0, Max 2147483647). The values are right-aligned in fields of ten characters, so a run of digits
that is too long is cut from its right end; the dash line says where the values end and the unit begins, since a unit
may begin with a digit (`10 usec.`), hold blanks, be cut to ten characters, or be empty. SYSMAN names the node in a line
of its own; `internal value` lines repeat a value in pages (recalled [M]). `/HEX` listings read as numbers.
"""

import enum
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from itertools import product

from collectors.facts.base import ABSENT, Reading, known
from collectors.facts.openvms import ClusterNode, Node, SysgenParameter
from collectors.layouts.known_lines import MOST, known_lines
from collectors.registry import NotThisReport, Report, report

ABOVE = 4
"""Lines above the first listing among which its node is named: the call of SYSGEN, USE and SHOW stand between."""
MOST_HEADINGS = 16
"""Headings below which rows are remembered."""
HEADING = re.compile(r"\s*Parameter\s+Name\s+Current\s+Default\s+Min\S*\s+Max", re.IGNORECASE)
START = re.compile(
    r"^\s*Parameter\s+Name\s+Current\s+Default\s+Min|^\s*(?:Node \S{1,32}:\s+)?Parameters in use\s*:"
    r"|^\s*Startup command file\s*=|^%SYSMAN-I-USEACT|^SYSMAN>\s{1,9}SET\s{1,9}ENV"
)
IN_USE = re.compile(
    r"\s*(?:Node (?P<node>[A-Z0-9_$]{1,15})\s*:\s*)?Parameters in use\s*:\s*(?P<what>\S{0,255})", re.IGNORECASE
)
TYPED = r"\s*(?P<prompt>SYS(?:GEN|MAN|BOOT)>\s*)?(?:PARAM[A-Z]{0,6}\s+)?"
USE = re.compile(rf"{TYPED}USE\s+(?P<what>[^\s!]{{1,255}})\s*(?:!.*)?$", re.IGNORECASE)
SET = re.compile(
    rf"{TYPED}SET\s+(?P<name>[A-Z][A-Z0-9_$]{{1,30}})(?:\s+|\s*=\s*)(?P<value>[-\"%0-9]\S{{0,60}})\s*(?:!.*)?$",
    re.IGNORECASE,
)
WRITE = re.compile(rf"{TYPED}WRITE\s+(?P<where>[^\s!]{{1,255}})\s*(?:!.*)?$", re.IGNORECASE)
LEFT = re.compile(r"\s*(?:\$ *\S|SYS(?:GEN|MAN|BOOT)>\s*EXIT\b)", re.IGNORECASE)
"""A command of DCL, or the end of the utility: whatever was USEd is over."""
DEFAULTED = re.compile(r"\bUSE (?P<what>ACTIVE|CURRENT|DEFAULT)\b", re.IGNORECASE)
SETS = ("active", "current", "default")
NOT_WRITTEN = "work area"
LEAST_LETTERS = 3
"""A shorter word after USE is not taken for one of the three: what is not known to run is not judged as running."""
NODE = re.compile(r"\s*Node (?P<node>[A-Z0-9_$]{1,15})\s*:\s*$", re.IGNORECASE)
SAYS = re.compile(r"\s*[%-](?:SYSMAN|SYSGEN|SYSBOOT|SMI)-(?P<severity>[SIWEF])-[A-Z0-9_]{1,15}, *.*")
CLUSTERWIDE = re.compile(r"\s*Clusterwide on local cluster\b", re.IGNORECASE)
"""What SYSMAN says of SET ENVIRONMENT/CLUSTER: the nodes that answer are members of one cluster."""
ON_NODE = re.compile(r"\bon node (?P<node>[A-Z0-9_$]{1,15})\b", re.IGNORECASE)
PROMPT = re.compile(r"\s*(?:\$ *)?(?:MCR +)?SYS(?:GEN|BOOT)\b", re.IGNORECASE)
CALLED = re.compile(
    r"\s*(?:\$ *)?[!*=#-]{0,72} *(?P<word>(?i:(?:on )?node):? +)?(?P<noted>[A-Z][A-Z0-9]{1,5})[>$:]?"
    r"(?: *[!*=#-]{1,72})?\s*$"
    r"|\s*SYS(?:GEN|MAN|BOOT)>\s*! *(?=node |[^,:]{2,6}[,:] |[^ ,]{2,6} (?:Open)?VMS )(?P<spoken>node +)?"
    r"(?P<said>[A-Z][A-Z0-9]{1,5})"
    r"(?:,? +(?:Open)?VMS +(?P<release>V[0-9][0-9A-Z.-]{2,9})\b.{0,60}|[,:] +(?i:active|current)\b.{0,60})?\s*$"
    r"|\s*(?:\$ *)?! *(?i:(?:on )?node):? +(?P<headed>[A-Z][A-Z0-9]{1,5})(?=[,;:(]| \(|  )[,;: ]{0,4}"
    r"(?P<model>(?:AlphaServer|HP|hp|Compaq|COMPAQ|Digital|DIGITAL|VAX)[^,;]{1,60})?"
    r"(?:[^V]{0,80}\b(?:Open)?VMS +(?P<runs>V[0-9][0-9A-Z.-]{2,9})\b)?.{0,80}$"
    r"|\s*(?P<asked>[A-Z][A-Z0-9]{1,5})[$>]\s*(?:(?i:MCR)\s+|(?i:RUN\s+SYS\$SYSTEM:))(?i:SYS(?:GEN|MAN))\b"
    r"|\s*(?:\$ *)?(?i:SET\s+PROMPT)\s*=\s*\"?(?P<set>[A-Z][A-Z0-9]{1,5})(?:::)?[>$:]? *\"?\s*$"
)
"""A node's name, of six characters at most, above a session, in its prompt, or set as that."""
CALL = re.compile(r"\s*\$ *(?:MCR|RUN)\s.*SYS(?:GEN|MAN)\b", re.IGNORECASE)
"""What stands below such a name: a word above anything else is none."""
CUT = re.compile(rf"\s*SYS(?:GEN|MAN)>\s*(?:USE|SHO?W?|PARAM)|{HEADING.pattern}|{IN_USE.pattern}", re.IGNORECASE)
"""What stands there where the call was cut off: then a name counts where another export has a node of that name."""
WHOSE = re.compile(r"!.*\b(active|current)\b", re.IGNORECASE)
"""In a comment of SYSGEN above a listing: whose values they are."""
OTHER = re.compile(
    r"\s*(?:Startup command file\s*=.*|internal value\b.*|Clusterwide on local cluster\b.*|Individual nodes?: .*"
    r"|Username\s+\S{1,32}\s+will be used on nonlocal nodes\s*)",
    re.IGNORECASE,
)
"""The last three are what SYSMAN says of its environment."""
DASHES = re.compile(r"\s*-{3,}(?:\s+-{3,}){4,6}\s*$")
ROW = re.compile(r"\s*(?P<name>[A-Z][A-Z0-9_$]{1,30})\s+(?=[-\"(0-9%A-F])")
TOKEN = re.compile(r'"[^"]*"|%?[^\s"%]+|%')
DECIMAL = re.compile(r"-?[0-9]{1,40}")
HEX = re.compile(r"(?:%X|0[Xx])(?P<digits>[0-9A-Fa-f]{1,16})")
BARE_HEX = re.compile(r"[0-9A-F]{8}(?:[0-9A-F]{8})?")
VALUE = re.compile(rf'"[^"]*"|\([0-9,-]{{0,60}}\)|{HEX.pattern}|{DECIMAL.pattern}(?:-[0-9]{{1,20}})?')
TOUCHING = re.compile(r"(?P<left>-?[0-9]{1,20})(?P<right>-[0-9]{1,20})|(?P<zero>0)(?P<rest>[0-9]{1,20})")
SET_OF_CPUS = "_BITMAP"
"""How parameters end whose values are lists of CPUs (wiki.vmssoftware.com/IO_PRCPU_BITMAP, SMP_CPU_BITMAP)."""
CPUS = re.compile(r"[0-9]{1,4}(?:-[0-9]{1,4})?(?:,[0-9]{1,4}(?:-[0-9]{1,4})?){0,64}")
WIDTH = 10
"""Characters of a value's field."""
COLUMNS = ("current", "default", "minimum", "maximum")
LONGEST_UNIT = 12
LARGEST = 2.0**64

Value = Reading | str


@dataclass(frozen=True, eq=False)
class _Row:
    """One parameter: the values that were found, by column, and what stands right of them."""

    name: str
    values: dict[str, Value]
    unit: str | None
    dynamic: bool


@dataclass
class _WorkArea:
    """Which values a listing shows: where the work area came from, and what was changed in it since."""

    came_from: str | None = None
    """`active`, `current`, `default` or the name of a file; `None`: no line says so."""
    changed: set[str] = field(default_factory=set)
    """Parameters SET and written nowhere."""
    written: set[str] = field(default_factory=set)
    """`active`, `current`: where the whole work area was written to."""

    def take(self, line: "_Line") -> bool:
        """Follow one line that may have been typed; whether it was one of these commands."""
        verb, what = line.typed
        if verb in ("LEFT", "USE"):
            self.use(what)
        elif what and verb == "SET":
            self.changed.add(what)
        elif what and verb == "WRITE":
            self.written.add(what)
        return verb not in ("LEFT", "")

    def use(self, what: str | None) -> None:
        """Begin with other values."""
        self.came_from, self.changed, self.written = what, set(), set()

    def shows(self, name: str, *, dynamic: bool) -> str | None:
        """Whose value a row shows."""
        if dynamic and "active" in self.written:
            return "active"
        if name in self.changed:
            return "current" if "current" in self.written else NOT_WRITTEN
        return self.came_from


def _set_of(word: str) -> str:
    """`ACT` and `ACTIVE` are `active`; any other word is the name of a file."""
    small = word.lower()
    return next((one for one in SETS if len(small) >= LEAST_LETTERS and one.startswith(small)), word)


def _typed(line: str) -> tuple[str, str | None]:
    """The command that was typed on a line and what it is of; an empty one where it is none of these."""
    if LEFT.match(line):
        return "LEFT", None
    if found := USE.match(line):
        what = _set_of(found["what"])
        meant = found["prompt"] or what in SETS or found["what"].upper().endswith(".PAR")
        return ("USE", what) if meant else ("", None)
    if found := SET.match(line):
        return "SET", found["name"].upper()
    if found := WRITE.match(line):
        return "WRITE", _set_of(found["where"])
    return "", None


class _Is(enum.Enum):
    """What a line is, whatever stands above it."""

    HEADING = enum.auto()
    DASHES = enum.auto()
    NAMED = enum.auto()
    SAYS = enum.auto()
    PROMPT = enum.auto()
    OTHER = enum.auto()
    BLANK = enum.auto()
    UNKNOWN = enum.auto()


@dataclass(frozen=True)
class _Line:
    """A line, with what it says of the listing below it."""

    kind: _Is
    text: str
    edges: tuple[int, ...] = ()
    node: str | None = None
    came_from: str | None = None
    """Where the work area came from."""
    failed: bool = False
    typed: tuple[str, str | None] = ("", None)
    """The command on it."""


@known_lines
def _line(raw: str) -> _Line:
    line = raw.expandtabs()
    return replace(_told(line), typed=_typed(line))


def _told(line: str) -> _Line:
    if HEADING.match(line):
        return _Line(_Is.HEADING, line)
    if DASHES.match(line):
        return _Line(_Is.DASHES, line, edges=_edges(line))
    if found := IN_USE.match(line) or NODE.match(line):
        what = found.groupdict().get("what")
        return _Line(_Is.NAMED, line, node=found["node"], came_from=_set_of(what) if what else None)
    if found := SAYS.match(line):
        on_node, defaulted = ON_NODE.search(line), DEFAULTED.search(line)
        came_from = _set_of(defaulted["what"]) if defaulted else None
        failed = found["severity"] in "WEF"
        return _Line(_Is.SAYS, line, node=on_node["node"] if on_node else None, came_from=came_from, failed=failed)
    if PROMPT.match(line):
        return _Line(_Is.PROMPT, line)
    if OTHER.match(line):
        return _Line(_Is.OTHER, line)
    return _Line(_Is.UNKNOWN if line.strip() else _Is.BLANK, line)


@report(starts=START, provides=(SysgenParameter, Node, ClusterNode))
def read(report: Report) -> Iterator[SysgenParameter | Node | ClusterNode]:
    """Yield each parameter, and the node where SYSMAN or SCSNODE names it; the cluster's, where it is clusterwide."""
    if not any(_line(line).kind is _Is.HEADING for line in report.lines):
        raise NotThisReport
    node, nodes = _node_above(report), list[str]()
    area, sessions = _area_above(report), _Sessions()
    report.above = sessions.above(report.before, report.lines[0])
    edges: tuple[int, ...] = ()
    headed = inside = False
    heading, dashes, named, says, prompt, other, blank, _ = _Is
    for index, raw in enumerate(report.lines):
        line = _line(raw)
        if line.typed[0] == "LEFT":
            sessions.end()
        if sessions.called(raw, report.below(index)):
            report.claim(index)
            if (whose := WHOSE.search(raw)) or sessions.cut:
                area.use(whose[1].lower() if whose else None)
        if line.kind is heading:
            headed = inside = True
            edges = ()
        elif line.kind is dashes:
            if not inside:
                continue
            edges = line.edges
        elif line.kind in (named, says):
            if line.kind is named:
                inside = False
            node = line.node.upper() if line.node else node
            if line.came_from:
                area.use(line.came_from)
            if line.failed:
                report.problem(f"{line.text.strip()[:120]}: this listing is not complete", index)
        elif headed and line.kind is not blank and (row := _rows(edges, strict=not inside)(line.text)):
            for fact in _facts(report, index, row, node, nodes, area):
                if isinstance(fact, Node):
                    yield fact
                else:
                    sessions.add(fact)
        elif area.take(line):
            inside = False
            node = None if line.kind is prompt else node
        elif line.kind is not other:
            inside = inside and line.kind is blank
            node = None if line.kind is prompt else node
            continue
        report.claim(index)
    yield from sessions.parameters()
    if len(nodes) > 1 and any(map(CLUSTERWIDE.match, (*report.before, *report.lines))):
        for own, member in product(nodes, nodes):
            yield ClusterNode(source=report.source(0, len(report.lines) - 1), node=own, name=member)


@dataclass
class _Sessions:
    """The parameters of each run of SYSGEN: a file of several nodes has one after the other, each with its SCSNODE."""

    rows: list[tuple[int, SysgenParameter]] = field(default_factory=list)
    names: dict[int, str] = field(default_factory=dict)
    notes: list[tuple[int, str]] = field(default_factory=list)
    """Names above sessions: by the first of the rows that follow."""
    releases: dict[str, str] = field(default_factory=dict)
    """Of OpenVMS, by node."""
    models: dict[str, str] = field(default_factory=dict)
    """The machines, by node."""
    sure: bool = False
    """Whether a prompt or the word `node` has one: another word alone may be anything, so it takes two that differ.

    The one prompt that was set may be anything, too: it is put on its rows, and counts where another export names it.
    """
    prompts: set[str] = field(default_factory=set)
    """Names that were set as prompt."""
    cut: set[str] = field(default_factory=set)
    """Words above sessions whose call was cut off: as those, put on their rows, and no node by themselves."""
    number: int = 0

    def above(self, lines: Sequence[str], below: str) -> int:
        """Look for a name in the last lines above the listing; returns how many lines up it stands, or none."""
        for up, line in enumerate(lines[: -1 - ABOVE : -1], 1):
            if self.called(line, [below]):
                return up
            below = line if line.strip() else below
        return 0

    def called(self, line: str, below: Iterable[str]) -> bool:
        """Whether it names the node of the session that the next line that is not blank, of those `below`, begins."""
        if not (found := CALLED.match(line)):
            return False
        follows = next(filter(str.strip, below), "")
        above, called = found["noted"] or found["headed"], CALL.match(follows)
        if (above and not called and not CUT.match(follows)) or (found["said"] and not HEADING.match(follows)):
            return False
        if above and not called:
            self.cut.add(above)
            self.notes.append((len(self.rows), above))
            return True
        name = found["noted"] or found["headed"] or found["said"] or found["asked"] or found["set"]
        self.sure = self.sure or any(found[one] for one in ("asked", "word", "headed", "spoken", "release"))
        self.notes.append((len(self.rows), name))
        self.prompts |= {found["set"]} - {None}
        if release := found["release"] or found["runs"]:
            self.releases[name] = release
        if found["model"]:
            self.models[name] = found["model"].strip()
        return True

    def add(self, row: SysgenParameter) -> None:
        """Take one; another SCSNODE than that of the session begins the next one."""
        if row.name == "SCSNODE" and isinstance(row.current, str) and row.current:
            if self.names.get(self.number, row.current) != row.current:
                self.end()
            self.names[self.number] = row.current
        self.rows.append((self.number, row))

    def end(self) -> None:
        """The utility was left."""
        self.number += 1

    def parameters(self) -> Iterator[SysgenParameter | Node]:
        """All of them; where sessions name several nodes, each with that of its session, and a node named above one."""
        several = len(set(self.names.values())) > 1
        sure = self.sure or len({name for _, name in self.notes} - self.cut) > 1
        noted = not self.names and (sure or self.prompts or self.cut)
        for at, (number, row) in enumerate(self.rows):
            name = self.names.get(number) if several else None
            if noted:
                name = next((name for first, name in reversed(self.notes) if first <= at), None)
                name = name if sure or name in self.prompts | self.cut else None
                if sure and name and name not in self.cut and (at, name) in self.notes:
                    release, model = self.releases.get(name), self.models.get(name)
                    yield Node(source=row.source, name=name, version=release, hardware=model)
            yield replace(row, node=name) if name and row.node is None else row


def _node_above(report: Report) -> str | None:
    """The node in the last message of SYSMAN above the listing."""
    for line in reversed(report.before):
        if PROMPT.match(line):
            return None
        if SAYS.match(line) and (found := ON_NODE.search(line)):
            return found["node"].upper()
    return None


def _area_above(report: Report) -> _WorkArea:
    """The work area as the lines above the listing left it."""
    area = _WorkArea()
    for above in report.before:
        line = _line(above)
        if CALLED.match(above) and (whose := WHOSE.search(above)):
            area.use(whose[1].lower())
        if not area.take(line) and line.kind is _Is.SAYS and line.came_from:
            area.use(line.came_from)
    return area


def _facts(
    report: Report, index: int, row: _Row, node: str | None, nodes: list[str], area: _WorkArea
) -> Iterator[SysgenParameter | Node]:
    where = report.source(index)
    name = row.values.get("current") if row.name == "SCSNODE" else node
    if isinstance(name, str) and re.fullmatch(r"[A-Z0-9_$]{1,15}", name) and name not in nodes:
        nodes.append(name)
        yield Node(source=where, name=name)
    if len(row.values) < len(COLUMNS):
        missing = [column for column in COLUMNS if column not in row.values]
        listed = ", ".join(missing)
        report.problem(f"{row.name}: no value for {listed}, the row was cut: SET TERMINAL/WIDTH=132 and repeat", index)
    yield _parameter(row, node, area.shows(row.name, dynamic=row.dynamic)).placed(where)


@lru_cache(maxsize=MOST)
def _parameter(row: _Row, node: str | None, in_use: str | None) -> SysgenParameter:
    return SysgenParameter(
        name=row.name,
        current=row.values.get("current", ABSENT),
        default=row.values.get("default", ABSENT),
        minimum=row.values.get("minimum", ABSENT),
        maximum=row.values.get("maximum", ABSENT),
        unit=row.unit,
        dynamic=row.dynamic,
        node=node,
        in_use=in_use,
    )


def _edges(line: str) -> tuple[int, ...]:
    """Where the four values end (one past the last character), by the dashes; nothing for collapsed white space."""
    groups = [(found.start(), found.end()) for found in re.finditer(r"-+", line)]
    if "  " not in line.strip() or len(groups) < 5:
        return ()
    return tuple(end for _, end in groups[1:5])


@lru_cache(maxsize=MOST_HEADINGS)
def _rows(edges: tuple[int, ...], *, strict: bool) -> Callable[[str], _Row | None]:
    """What reads the rows below one heading."""
    return known_lines(partial(_row, edges=edges, strict=strict))


def _row(line: str, edges: tuple[int, ...], *, strict: bool) -> _Row | None:
    """Read one row, or `None`; `strict` wants four values and a unit, as nothing else says that it is a row."""
    found = ROW.match(line)
    if not found:
        return None
    tokens = list(TOKEN.finditer(line, found.end()))
    aligned = bool(edges) and "  " in line[found.end("name") :].rstrip() and not _pushed(tokens, edges)
    limit = edges[-1] if aligned else len(line)
    within = [token for token in tokens[:9] if token.start() < limit]
    words, used = _sets(within) if found["name"].endswith(SET_OF_CPUS) else _words(within)
    values = [_value(text) for text, _ in words]
    if len(values) > len(COLUMNS) or not values or any(known(value) and abs(value) > LARGEST for value in values):
        return None
    rest = line[tokens[used].start() :].split() if used < len(tokens) else []
    dynamic = bool(rest) and rest[-1] == "D"
    unit = " ".join(rest[:-1] if dynamic else rest)
    if len(unit) > LONGEST_UNIT or (strict and (len(values) < len(COLUMNS) or not unit)):
        return None
    ends = [end for _, end in words]
    named = dict(zip(COLUMNS, values, strict=False))
    if aligned and len(values) < len(COLUMNS):
        named = _by_edge(values, ends, edges)
    elif aligned and not rest and ends[-1] < edges[-1] - 1:
        del named["maximum"]  # it ends before its column does: digits are missing
    return _Row(found["name"], named, unit or None, dynamic)


def _pushed(tokens: list[re.Match[str]], edges: Sequence[int]) -> bool:
    """Whether a negative number of full length has pushed what follows it out of its columns."""
    wide = [token for token in tokens if DECIMAL.fullmatch(token[0]) and len(token[0]) > WIDTH and token[0][0] == "-"]
    return any(token.start() < edge < token.end() - 1 for token in wide for edge in edges)


def _by_edge(values: list[Value], ends: list[int], edges: Sequence[int]) -> dict[str, Value]:
    """Give each value the column whose right edge is nearest: a row with fewer than four."""
    named: dict[str, Value] = {}
    for value, end in zip(values, ends, strict=True):
        column = min(range(len(COLUMNS)), key=lambda at: abs(edges[at] - end))
        named.setdefault(COLUMNS[column], value)
    return named


def _sets(tokens: list[re.Match[str]]) -> tuple[list[tuple[str, int]], int]:
    """The same of a parameter whose value and default are sets of CPUs: each in brackets, whether it stood in them."""
    words: list[tuple[str, int]] = []
    for token in tokens[: len(COLUMNS)]:
        if CPUS.fullmatch(token[0]) and (len(words) < len(COLUMNS) // 2 or not token[0].isdecimal()):
            words.append((f"({token[0]})", token.end()))
        elif VALUE.fullmatch(token[0]):
            words.append((token[0], token.end()))
        else:
            break
    return words, len(words)


def _words(tokens: list[re.Match[str]]) -> tuple[list[tuple[str, int]], int]:
    """The values at the beginning of the tokens, each with where it ends, and how many tokens they took."""
    bare = [token[0] for token in tokens[:4] if BARE_HEX.fullmatch(token[0])]
    if len(bare) == len(COLUMNS) and len(set(map(len, bare))) == 1 and any(not _plain(text) for text in bare):
        return [(f"%X{token[0]}", token.end()) for token in tokens[:4]], len(COLUMNS)
    words: list[tuple[str, int]] = []
    used = 0
    for token in tokens:
        if len(words) >= len(COLUMNS) or not VALUE.fullmatch(token[0]):
            break
        touching = TOUCHING.fullmatch(token[0])
        parts = [part for part in touching.groups() if part is not None] if touching else [token[0]]
        words += [(part, token.end() - len(parts[-1]) * (part is not parts[-1])) for part in parts]
        used += 1
    while words and len(words) < len(COLUMNS):
        at = max(range(len(words)), key=lambda at: len(words[at][0]) if DECIMAL.fullmatch(words[at][0]) else 0)
        text, end = words[at]
        if not DECIMAL.fullmatch(text) or len(text.lstrip("-")) <= WIDTH:
            break
        words[at : at + 1] = [(text[:-WIDTH], end - WIDTH), (text[-WIDTH:], end)]
    return words, used


def _value(text: str) -> Value:
    if text.startswith(('"', "(")):
        return text[1:-1].strip()
    found = HEX.fullmatch(text)
    return _from_hex(found["digits"]) if found else float(text)


def _plain(word: str) -> bool:
    """Whether this may as well be a decimal number: no letters, no leading zero."""
    return word.isdigit() and (word[0] != "0" or word == "0")


def _from_hex(digits: str) -> float:
    """All bits set is how -1 looks in hexadecimal, so it stays -1: no limit."""
    return -1.0 if len(digits) in (8, 16) and set(digits.upper()) == {"F"} else float(int(digits, 16))
