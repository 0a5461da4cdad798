"""RMU/DUMP/HEADER: the attributes of an Oracle Rdb database, its storage areas and its row caches.

Sample::

    *  Oracle Rdb V7.2-501                                     3-FEB-2021 09:14:22.07
    *  Dump of Database header
    *      Database: DISK$LEDGER:[LEDGER]LEDGER.RDB;1
    Database Parameters:
        Root filename is "DISK$LEDGER:[LEDGER]LEDGER.RDB;1"
        Maximum user count is 2032
        Maximum node count is 41
        Locking...
          - Carry-over lock optimization is enabled
        Row Caches...
          - Active row cache count is 0
          - WARNING: Maximum node count is 4 instead of 1

Titles end in `...`, members may begin with `- `, values are English sentences (rdb-formats.md 5 [V] for Row Caches).
Their spelling elsewhere is recalled [R], so they are known by the words that carry the meaning; a sentence that is not
known stays a leftover. A dump of V7.3-300 prints `Adjustable record locking is enabled` with fan-out factors below it,
and no line of a lock timeout (openvms-rdb-more.md 2.1 [R]). Excerpts of one section, with dots around them, are read
too.

Traps: the node count that is printed is max(nodes, users ÷ 50), so 41 above may mean 4 ([V]); what is configured stands
in `WARNING: Maximum node count is 4 instead of 1`. How a storage area and a row cache are laid out is recalled: their
facts are tentative. `enabled` within the section of an area says nothing of the database.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from collectors.facts.rdb import Database, RowCache, StorageArea
from collectors.layouts.vms import MOMENT, moment
from collectors.registry import NotThisReport, Report, report
from collectors.reports.rdb.dump_header import sentences
from collectors.reports.rdb.dump_header.sentences import Value, said

SECTIONS = "Row Caches|AIJ Journaling|After-Image Journaling|Fast Commit|Locking|Buffers|Storage Areas"
START = re.compile(
    r"^[*\s]{0,20}Dump of Database header\s*$"
    r"|^\s{0,20}(?:- )?Root filename is \""
    r"|^\s{0,20}(?:- )?Oracle Rdb structure level is [0-9]"
    rf"|^\s{{0,20}}(?:- )?(?:{SECTIONS})\.\.\.\s*$"
    r"|^\s{0,20}(?:- )?(?:WARNING: )?(?:Maximum (?:user|node)|(?:Active|Reserved) row cache) count is [0-9]",
    re.IGNORECASE,
)
DUMP = re.compile(r"[*\s]{0,20}Dump of Database header\s*$", re.IGNORECASE)
BANNER = re.compile(
    rf"[*\s]{{0,20}}Oracle Rdb (?P<release>[VXT][0-9][\w.-]{{1,15}})(?:\s{{1,60}}(?P<at>{MOMENT}))?\s*$", re.IGNORECASE
)
NAMED = re.compile(r"\*\s{0,20}Database: {1,4}(?P<root>\S.{0,254})$", re.IGNORECASE)
ROOT = re.compile(r"\s{0,20}(?:- )?Root filename is \"(?P<root>[^\"]{1,255})\"?", re.IGNORECASE)
TITLE = re.compile(r"\s{0,20}(?:- )?(?P<title>[A-Za-z][A-Za-z ,/-]{2,60})\.\.\.\s*$")
OF_DATABASE = re.compile(SECTIONS, re.IGNORECASE)
AREA = re.compile(r"\s{0,20}(?:- )?Storage area \"?(?P<name>[A-Za-z][\w$]{0,60})\"?[:.]{0,3}\s*$", re.IGNORECASE)
CACHE = re.compile(r"\s{0,20}(?:- )?(?:Row )?Cache \"(?P<name>[^\"]{1,60})\"[:.]{0,3}\s*$", re.IGNORECASE)
SNAPSHOT_AREA = re.compile(r"\s{0,20}(?:- )?Snapshot area\b.{0,100}$", re.IGNORECASE)
MEMBER = re.compile(r"\s{0,30}(?:-\s{1,3})?(?P<warning>WARNING: {0,3})?(?P<text>\S.{0,300})", re.IGNORECASE)
FRAME = re.compile(r"[*\s]*$|\s*\.\s*$|\s{0,20}Database Parameters:\s*$", re.IGNORECASE)
"""Rules of stars, the dots that stand for what was cut out, and the heading above all."""
MOST_AREAS = 2_000
"""Storage areas and row caches kept of one header; a database has some hundreds at most (this project's figure)."""
MOST_WARNINGS = 100
TENTATIVE = "the layout of storage areas and row caches is recalled: hold what is said of them against the listing"


@dataclass
class _Part:
    """One storage area or row cache."""

    kind: str
    name: str
    first: int
    last: int
    values: dict[str, Value] = field(default_factory=dict)


@dataclass
class _Dump:
    """The header of one database."""

    first: int
    last: int
    release: str | None = None
    at: datetime | None = None
    root: str | None = None
    called: str | None = None
    values: dict[str, Value] = field(default_factory=dict)
    fanouts: int = 0
    warnings: list[str] = field(default_factory=list)
    parts: list[_Part] = field(default_factory=list)
    left_out: int = 0

    @property
    def empty(self) -> bool:
        return not (self.values or self.parts or self.warnings)


@report(starts=START, provides=(Database, StorageArea, RowCache))
def read(report: Report) -> Iterator[Database | StorageArea | RowCache]:
    """Yield one `Database` per header, then its storage areas and row caches."""
    dumps = [dump for dump in _Walk(report).dumps() if not dump.empty]
    if not dumps:
        raise NotThisReport
    for dump in dumps:
        yield _database(report, dump)
    if any(dump.parts for dump in dumps):
        report.tentative(TENTATIVE)
    for dump in dumps:
        for part in dump.parts:
            yield _part(report, dump, part)
        if dump.left_out:
            says = (
                f"{dump.left_out:,} more storage areas and row caches were left out: a header with so many is damaged"
            )
            report.problem(says, dump.first)


def _database(report: Report, dump: _Dump) -> Database:
    values: dict[str, Any] = dict(dump.values)
    if values.pop("row_level_locking", None) is not None:
        values.setdefault("page_level_locking", not dump.values["row_level_locking"])
    if dump.fanouts:
        values["adjustable_locking_count"] = float(dump.fanouts)
    return Database(
        source=report.source(dump.first, dump.last),
        database=dump.root,
        called=dump.called,
        release=dump.release,
        at=dump.at,
        warnings=tuple(dump.warnings),
        **values,
    )


def _part(report: Report, dump: _Dump, part: _Part) -> StorageArea | RowCache:
    source = report.source(part.first, part.last)
    values: dict[str, Any] = dict(part.values)
    if part.kind == "cache":
        return RowCache(source=source, database=dump.root, name=part.name, **values)
    rows = values.pop("row_level_locking", None)
    if rows is not None:
        values.setdefault("page_level_locking", not rows)
    return StorageArea(source=source, database=dump.root, name=part.name, **values)


class _Walk:
    """Goes over the lines once and claims those understood."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self.now = _Dump(0, 0)
        self.done: list[_Dump] = []
        self.title = ""
        self.part: _Part | None = None
        self.elsewhere = False
        """Whether the lines are of something whose sentences say nothing of the database: a snapshot area."""
        self.edge = 0
        """How deep the heading of the part or of what is elsewhere stands: titles deeper than that are its own."""
        self.pending: re.Match[str] | None = None

    def dumps(self) -> list[_Dump]:
        """Walk over all lines."""
        self._above()
        for index, line in enumerate(self.report.lines):
            if self._line(index, line.rstrip()):
                self.report.claim(index)
        return [*self.done, self.now]

    def _above(self) -> None:
        """The banner, and the dots of an excerpt, stand above the first line that is known for sure."""
        for back, line in enumerate(reversed(self.report.before), 1):
            banner = BANNER.match(line)
            if not banner and not FRAME.match(line):
                return
            if banner:
                self._take_banner(banner)
            if line.strip():
                self.report.above = back

    def _take_banner(self, banner: re.Match[str]) -> None:
        self.now.release = banner["release"]
        self.now.at = moment(banner["at"]) if banner["at"] else None

    def _line(self, index: int, line: str) -> bool:
        if FRAME.match(line):
            return True
        if banner := BANNER.match(line):
            self.pending = banner
            return True
        if DUMP.match(line):
            if not self.now.empty:
                self._next(index)
            if self.pending:
                self._take_banner(self.pending)
            self.pending = None
            return True
        if found := NAMED.match(line) or ROOT.match(line):
            return self._root(index, found["root"].strip(), of_banner=found.re is NAMED)
        if found := AREA.match(line):
            return self._new_part("area", found["name"], index, line)
        if found := CACHE.match(line):
            return self._new_part("cache", found["name"].strip(), index, line)
        if SNAPSHOT_AREA.match(line):
            self.part, self.elsewhere, self.edge = None, True, _indent(line)
            return True
        if found := TITLE.match(line):
            self.title = found["title"].lower()
            if OF_DATABASE.fullmatch(found["title"]) and _indent(line) <= self.edge:
                self.part, self.elsewhere = None, False
            return True
        return self._member(index, line)

    def _next(self, index: int) -> None:
        self.done.append(self.now)
        self.now, self.part, self.title, self.elsewhere = _Dump(index, index), None, "", False

    def _root(self, index: int, root: str, *, of_banner: bool) -> bool:
        if self.now.root and self.now.root.upper() != root.upper():
            if not self.now.empty:
                self._next(index)
            elif not of_banner:  # the banner has the name of the command, which may be a logical one
                self.now.called, self.now.root = self.now.root, root
        self.now.root = self.now.root or root
        self.now.last = max(self.now.last, index)
        return True

    def _new_part(self, kind: str, name: str, index: int, line: str) -> bool:
        self.part, self.title, self.elsewhere = _Part(kind, name, index, index), "", False
        self.edge = _indent(line)
        if len(self.now.parts) < MOST_AREAS:
            self.now.parts.append(self.part)
        else:
            self.now.left_out += 1
        return True

    def _member(self, index: int, line: str) -> bool:
        found = MEMBER.match(line)
        if not found or self.elsewhere:
            return False
        text = found["text"].rstrip()
        if found["warning"]:
            return self._warning(index, text)
        if sentences.SILENT.match(text):
            return True
        if self.part:
            kinds = sentences.AREA if self.part.kind == "area" else sentences.CACHE
            taken = self._set(self.part.values, text, kinds, index)
            if taken:
                self.part.last = index
            return taken
        taken = self._of_database(index, text)
        if taken:
            self.now.last = index
        return taken

    def _of_database(self, index: int, text: str) -> bool:
        values = self.now.values
        if sentences.FANOUT.search(text):
            self.now.fanouts += 1
            return True
        if (single := sentences.single_instance(text)) is not None:
            values.setdefault("single_instance", single)
        elif sentences.NO_TIMEOUT.search(text):
            values.setdefault("lock_timeout_seconds", 0.0)
        else:
            more = sentences.IN_SECTION.get(self.title, ())
            return self._set(values, text, (*sentences.DATABASE, sentences.ROW_LEVEL, *more), index)
        return True

    def _warning(self, index: int, text: str) -> bool:
        """A warning names a prerequisite that is not met; it says of the database what a sentence would."""
        if len(self.now.warnings) < MOST_WARNINGS and text not in self.now.warnings:
            self.now.warnings.append(text)
        elif text not in self.now.warnings:
            self.report.problem(
                f"only the first {MOST_WARNINGS} warnings are kept: a header with so many is damaged", index
            )
        self.now.last = index
        if found := sentences.NODES_WARNED.search(text):
            self.now.values.setdefault("nodes_warned", float(found["value"]))
        else:
            self._set(self.now.values, text, sentences.DATABASE, index)
        return True

    def _set(self, values: dict[str, Value], text: str, kinds: tuple[sentences.Sentence, ...], index: int) -> bool:
        for name, value in said(text, kinds):
            if values.setdefault(name, value) != value:
                says = f"`{text[:100]}` contradicts what stands above it: the first one counts, upload a whole header"
                self.report.problem(says, index)
            return True
        return False


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
