"""Logs of RMU/SHOW STATISTICS: lock timeouts, deadlocks, stalls, and the pages that processes read

Sample::

    RMU Show Statistics utility: Lock Timeout Log
    Database: DISK$PAY:[DB]PAYROLL.RDB;1
    14-MAR-2023 22:00:00.00
    2040A21D:1 23:59:46.14 - waiting for record 51:1123:4 (EX)
    2040A233:** 00:00:02.90 - waiting for page 5:751 (PR) [3 missed]

The first three lines name the utility, the database and the time of creation; what else they say is not known, so the
kind is read from them, else from the name of the file. A dbkey log has a fourth one, and then a line per process with
the last page of data, snapshot, SPAM, AIP and ABM::

    2040A21D:1   51:1123:4   12:88   51:1   1:4   1:9

Traps (rdb-formats.md 2): an event has a time of day and no date, so a time that falls back is the next day; a log is
written as often as the screen is refreshed and keeps the last event of each process, so the true count is the lines
plus what is `missed`; the resource is named and never who held it. All pages of a dbkey line are printed, also those
that did not change: a page counts where it is another than in the line before of that process. The stall log, with the
length of the stall and the lock id, is recalled: its reading is tentative. Stalls are waits for I/O as well.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from collectors.facts import Fact
from collectors.facts.base import Source
from collectors.facts.rdb import EventLog, WaitGroup
from collectors.layouts.rmu import PROCESS, WAIT_LINE, reason_and_mode, resource_of
from collectors.layouts.vms import first_moment, span
from collectors.leftovers import Leftovers
from collectors.registry import Outcome, name_of, starting, stream
from collectors.reports.rdb.wait_logs.waits import DAY, Clock, Groups

TITLE = r"^[\s!*-]{0,9}(?:Oracle Rdb\b.{0,40}\s)?RMU[ /]Show Statistics?\b(?!\s{0,9}/).{0,80}\b(?:log|utility)\b"
START = re.compile(f"{TITLE}|{WAIT_LINE}")
HEADS = re.compile(TITLE, re.IGNORECASE)
OWN = re.compile(f"{TITLE}|{WAIT_LINE}", re.IGNORECASE)
FILES = re.compile(r"(?:time-?_?out|dead_?lock|stall|dbkey)[^.]{0,40}\.log\b", re.IGNORECASE)
KINDS = (
    ("lock timeout", re.compile(r"time-?_?out", re.IGNORECASE)),
    ("deadlock", re.compile(r"dead[-_ ]?lock", re.IGNORECASE)),
    ("dbkey", re.compile(r"db-?key", re.IGNORECASE)),
    ("stall", re.compile(r"stall", re.IGNORECASE)),
)
EVENT = re.compile(
    rf"\s{{0,9}}{PROCESS}\s+(?P<hour>[0-9]{{2}}):(?P<minute>[0-9]{{2}}):(?P<second>[0-9]{{2}}\.[0-9]{{2}})\s+"
    r"(?:(?P<length>(?:[0-9]{1,4} )?[0-9]{1,4}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,2})?)\s+)?"
    r"(?:[A-Z]\s+)?(?:-\s+)?(?P<text>\S.*)"
)
MISSED = re.compile(r"\s*\[(?P<missed>[0-9]{1,9}) missed\]\s*$", re.IGNORECASE)
LOCK_ID = re.compile(r"\s+(?P<lock>[0-9A-F]{8})\s*$")
LATE_LENGTH = re.compile(r"\s+(?P<length>(?:[0-9]{1,4} )?[0-9]{1,4}:[0-9]{2}:[0-9]{2}\.[0-9]{1,2})\s*$")
DBKEYS = re.compile(rf"\s{{0,9}}{PROCESS}((?:\s+-?[0-9]{{1,9}}:[0-9]{{1,10}}(?::-?[0-9]{{1,6}})?){{5}})\s*$")
PAGES = ("page", "snapshot page", "spam page", "aip page", "abm page")
"""Columns of the dbkey log behind the process."""
ROOT = re.compile(r"(?P<root>[^\s\"']{1,200}\.RDB(?:;[0-9]{1,5})?)(?=[\s\"'.,]|$)", re.IGNORECASE)
NAMED = re.compile(r"\bdatabase:?\s{1,9}[\"']?(?P<root>[^\s\"']{1,200})", re.IGNORECASE)
NODE = re.compile(r"\bnode:?\s{1,3}(?P<node>[A-Z0-9_$]{1,15})\b", re.IGNORECASE)
LINES_OF_HEAD = 4
MOST_HEAD = 12
"""Lines before the first event; the log has three or four."""
MOST_ODD = 20
"""So many lines in a row that are no events: the log is over (this project)."""
MOST_TEXTS = 20_000
"""Reasons remembered: a log names few resources many times."""
MOST_PROCESSES = 4096
HALF_DAY = DAY / 2

Parsed = tuple[str, str, str | None, int, float | None, bool]
"""Kind of resource, resource, mode, missed, length, whether there is a lock id."""


@stream(starts=START, provides=(EventLog, WaitGroup), rank=1, files=FILES)
class WaitLog:
    """One log; keeps its head, its groups, and the last pages of each process."""

    def __init__(self, file: str, above: Sequence[str]) -> None:
        """Begin; `above` may hold the head of a log whose first line is not known here."""
        self.file = file
        self.above = _joined(above)
        self.head: list[tuple[int, str]] = []
        self.start = self.odd = 0
        self.clock, self.groups = Clock(), Groups()
        self.texts: dict[str, Parsed] = {}
        self.pages: dict[str, list[str]] = {}
        self.lines = self.missed = self.first_line = self.last_line = self.measured = 0
        self.locks = self.dbkeys = False
        self.span: list[float] = []
        self.loose = Leftovers()

    def feed(self, first: int, lines: Sequence[str]) -> int:
        """Take lines up to where another report or log begins."""
        self.start = self.start or first
        for offset, line in enumerate(lines):
            number = first + offset
            if self._event(number, line) or self._dbkeys(number, line) or not line.strip():
                continue
            if (self.lines and HEADS.match(line)) or not self._other(number, line):
                return offset
        return len(lines)

    def _other(self, number: int, line: str) -> bool:
        """Take a line that is no event: of the head, or damage."""
        if number > self.start and not OWN.match(line) and starting(line):
            return False
        if not self.lines and (HEADS.match(line) or not OWN.match(line)):
            if len(self.head) >= MOST_HEAD:
                return False
            self.head.append((number, line[:400]))
            return True
        if self.odd >= MOST_ODD:
            return False
        self.odd += 1
        self.loose.add(number, line)
        return True

    def _event(self, number: int, line: str) -> bool:
        found = EVENT.match(line)
        if found is None:
            return False
        clock = int(found["hour"]) * 3600 + int(found["minute"]) * 60 + float(found["second"])
        if clock >= DAY:
            return False
        text = found["text"][:400]
        if "[" in text and "]" not in text:
            return False  # cut within the number of missed events
        parsed = self.texts.get(text)
        if parsed is None:
            if len(self.texts) >= MOST_TEXTS:
                self.texts.clear()
            parsed = self.texts[text] = _parse(text)
        kind, resource, mode, missed, length, lock = parsed
        if found["length"]:
            length = span(found["length"])
        at = self.clock.read(clock)
        group = self.groups.add((kind, resource, mode), number, found["pid"], missed=missed, length=length)
        group.first = at if group.first is None else min(group.first, at)
        group.last = at if group.last is None else max(group.last, at)
        self.span = [min(self.span[0], at), max(self.span[1], at)] if self.span else [at, at]
        self.missed += missed
        self.measured += length is not None
        self.locks = self.locks or lock
        self._count(number)
        return True

    def _dbkeys(self, number: int, line: str) -> bool:
        found = DBKEYS.match(line)
        if found is None:
            return False
        who = f"{found['pid']}:{found['stream']}"
        now = found[4].split()
        before = self.pages.get(who, [])
        if len(self.pages) >= MOST_PROCESSES and not before:
            self.pages.clear()
        self.pages[who] = now
        for at, (kind, dbkey) in enumerate(zip(PAGES, now, strict=True)):
            if (not before or before[at] != dbkey) and not set(dbkey) <= set("0:"):
                page = ":".join(dbkey.split(":")[:2])
                self.groups.add((kind, page, None), number, found["pid"])
        self.dbkeys = True
        self._count(number)
        return True

    def _count(self, number: int) -> None:
        self.lines += 1
        self.odd = 0
        self.first_line = self.first_line or number
        self.last_line = number

    def close(self) -> Outcome:
        """Hand over the log and its groups."""
        text = [line for _, line in self.head] or self.above
        created = next((at for line in text if (at := first_moment(line))), None)
        named = ROOT.search("\n".join(text)) or NAMED.search("\n".join(text))
        kind = self._kind(text)
        if not self.lines and not (kind and created and named and HEADS.match(text[0]) and len(text) <= LINES_OF_HEAD):
            for number, line in self.head:
                self.loose.add(number, line)
            return Outcome([], self.loose.runs, [])
        if kind is None:
            why = "the head names neither lock timeouts, deadlocks nor stalls: name the file for it (TIMEOUT.LOG)"
            return Outcome([], self.loose.runs, [f"line {self.first_line}: events of a log, but not of which: {why}"])
        for number, line in self.head[LINES_OF_HEAD:]:
            self.loose.add(number, line)
        node = NODE.search("\n".join(text))
        facts = self._facts(kind, created, named["root"] if named else None, node["node"].upper() if node else None)
        above = len(self.above) if not self.head and (created or named) else 0
        return Outcome(facts, self.loose.runs, list(self._problems(kind, created)), above=above)

    def _problems(self, kind: str, created: datetime | None) -> Iterator[str]:
        if kind == "stall":
            yield "tentative: the layout of the stall log is recalled, and nothing in it proves the reading"
        if created is None and kind != "dbkey":
            yield "no date above the events, so their times have none: upload the log with its head"
        if self.groups.given_up:
            many = f"{self.groups.left_out:,} resources were left out"
            yield f"{many}, and the counts of those that came rarely are too low: upload a log of the busy hour alone"
        if self.loose.dropped:
            yield f"{self.loose.dropped:,} more lines were not understood"

    def _facts(self, kind: str, created: datetime | None, database: str | None, node: str | None) -> list[Fact]:
        unsure = kind == "stall"
        day = self._first_day(created)
        start, end = (day + timedelta(seconds=at) for at in self.span) if day and self.span else (None, None)
        log = EventLog(
            source=Source(self.file, self.head[0][0] if self.head else self.first_line, self._last(), unsure),
            database=database,
            node=node,
            kind=kind,
            created=created,
            start=start,
            end=end,
            logged=self.lines,
            missed=self.missed,
            midnights=self.clock.days,
            resources_left_out=self.groups.left_out,
        )
        return [log, *self.groups.facts(self.file, kind, database, node, day, unsure=unsure)]

    def _last(self) -> int:
        return max(self.last_line, *(number for number, _ in self.head)) if self.head else self.last_line

    def _first_day(self, created: datetime | None) -> datetime | None:
        """The midnight before the first event: of the next day where the log was created late and began early."""
        if created is None or not self.span:
            return None
        midnight = created.replace(hour=0, minute=0, second=0, microsecond=0)
        later = (created - midnight).total_seconds() - self.span[0] > HALF_DAY
        return midnight + timedelta(days=1) if later else midnight

    def _kind(self, head: Sequence[str]) -> str | None:
        """Which log: by its lines, by its head, by the name of the file."""
        if self.dbkeys:
            return "dbkey"
        if self.locks or self.measured:  # lock ids and lengths are in no other log (vendor: RMU help)
            return "stall"
        name = name_of(self.file)
        for text in ("\n".join(line for line in head if not ROOT.search(line)), name):
            found = [kind for kind, pattern in KINDS if kind != "dbkey" and pattern.search(text)]
            if found:
                return found[0]
        return None


def _joined(above: Sequence[str]) -> list[str]:
    """The lines directly above, up to a blank one: the head of a log whose first line is not known here."""
    found: list[str] = []
    for line in reversed(above[-LINES_OF_HEAD:]):
        if not line.strip():
            break
        found.insert(0, line[:400])
    return found


def _parse(text: str) -> Parsed:
    """What an event says behind its time."""
    missed = MISSED.search(text)
    if missed:
        text = text[: missed.start()]
    late = LATE_LENGTH.search(text)
    if late:
        text = text[: late.start()]
    lock = LOCK_ID.search(text)
    if lock:
        text = text[: lock.start()]
        if not late and (late := LATE_LENGTH.search(text)):
            text = text[: late.start()]
    reason, mode = reason_and_mode(text)
    length = span(late["length"]) if late else None
    return (*resource_of(reason), mode, int(missed["missed"]) if missed else 0, length, lock is not None)
